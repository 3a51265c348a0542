// SPDX-License-Identifier: BSD-2-Clause
/* Bytes of one datagram to or from memory: bursts that end at page and segment borders. */
#include "nic/transport/ud_internal.h"
#include "trace/event.h"

/* The segment that the next byte lies in, and where in it. */
static const struct fw_segment *mover_segment(const struct ud_mover *m, unsigned int *number,
					      uint32_t *off)
{
	unsigned int i;

	*off = m->at;
	for (i = 0; i < m->segments; i++) {
		if (*off < m->segment[i].bytes) {
			*number = i;
			return &m->segment[i];
		}
		*off -= m->segment[i].bytes;
	}
	return NULL;
}

static bool mover_reaches(struct ud *ud, struct ud_mover *m, const struct fw_segment *s,
			  unsigned int number)
{
	struct fw_wanted w = {
		.qp = m->qp, .key = s->key, .va = s->va, .bytes = s->bytes,
		.right = m->write ? FL_ACC_LOCAL_WRITE : 0,
	};

	if (m->reached == number + 1)
		return true;
	m->denied = ud->env.fw.reach(ud->env.fw.ctx, &w, &m->object);
	if (m->denied != FL_ST_OK)
		return false;
	m->reached = (uint8_t)(number + 1);
	return true;
}

static enum ud_moved mover_begin(struct ud *ud, struct ud_mover *m, uint64_t *delay_ns)
{
	const struct fw_segment *s;
	unsigned int number = 0;
	uint32_t off, part, page;

	s = mover_segment(m, &number, &off);
	if (!s) {	/* the firmware's sum was wrong */
		m->denied = FL_ST_SEEN_RANGE;
		return UD_DENIED;
	}
	if (!mover_reaches(ud, m, s, number))
		return UD_DENIED;
	m->va = s->va + off;
	m->key = s->key;
	part = s->bytes - off < m->left ? s->bytes - off : m->left;
	page = UD_PAGE - (uint32_t)(m->va % UD_PAGE);
	m->burst = (struct dma_burst){
		.write = m->write, .channel = UD_CHANNEL(m->channel), .va = m->va,
		.len = part < page ? part : page, .now_ns = ud->now_ns,
		.cause = m->cause, .xfer = m->xfer, .object = m->object,
		.block = m->bursts,
	};
	switch (ud->env.burst_begin(ud->env.ctx, &m->burst)) {
	case DMA_OK:
		m->open = true;
		*delay_ns = m->burst.delay_ns;
		return UD_MOVING;
	case DMA_SLVERR:
		return UD_MISSED;
	default:
		m->broken = true;
		return UD_BROKEN;
	}
}

void ud_move_end(struct ud *ud, struct ud_mover *m)
{
	struct ud_pair *q = &ud->pair[m->qp];

	if (!m->open)
		return;
	m->open = false;
	if (ud->env.burst_end(ud->env.ctx, &m->burst, m->buf) != DMA_OK) {
		m->broken = true;
		return;
	}
	m->cause = ud_note(ud, EV_RC_BURST, m->xfer,
			   m->burst.event ? m->burst.event : m->cause, q, m->write,
			   m->burst.va, m->burst.len);
	m->bursts++;
	m->buf += m->burst.len;
	m->at += m->burst.len;
	m->left -= m->burst.len;
}

enum ud_moved ud_move_step(struct ud *ud, struct ud_mover *m, uint64_t *delay_ns)
{
	*delay_ns = 0;
	if (m->open) {
		ud_move_end(ud, m);
		if (m->broken)
			return UD_BROKEN;
		return m->left ? UD_MOVING : UD_MOVED;
	}
	if (m->broken)
		return UD_BROKEN;
	return m->left ? mover_begin(ud, m, delay_ns) : UD_MOVED;
}
