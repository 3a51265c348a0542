// SPDX-License-Identifier: BSD-2-Clause
/* Bytes of one packet to or from memory: bursts that end at page and segment borders. */
#include "nic/transport/rc_internal.h"

#include <string.h>

#include "trace/event.h"

void rc_move_local(struct rc_mover *m, struct rc_pair *q, const struct fw_segment *s,
		   unsigned int n, uint64_t at, uint32_t len)
{
	*m = (struct rc_mover){
		.qp = q, .segment = s, .segments = (uint8_t)n, .at = at, .left = len,
	};
}

void rc_move_remote(struct rc_mover *m, struct rc_pair *q, uint64_t va, uint32_t rkey,
		    uint64_t at, uint32_t len)
{
	*m = (struct rc_mover){ .qp = q, .segments = 1, .at = at, .left = len };
	/* at counts from va; the segment is as long as this packet needs. */
	m->own = (struct fw_segment){ .va = va + at, .bytes = len, .key = rkey };
	m->at = 0;
}

uint8_t rc_reach(struct rc *rc, const struct rc_pair *q, uint8_t right, uint32_t key,
		 uint64_t va, uint64_t bytes)
{
	struct fw_wanted w = {
		.qp = q->place, .key = key, .right = right, .va = va, .bytes = bytes,
	};
	uint32_t object;

	return rc->env.fw.reach(rc->env.fw.ctx, &w, &object);
}

/* The segment that the next byte lies in, and how much of it is left. */
static const struct fw_segment *mover_segment(const struct rc_mover *m, unsigned int *number,
					      uint32_t *rest)
{
	const struct fw_segment *s = m->segment ? m->segment : &m->own;
	uint64_t off = m->at;
	unsigned int i;

	for (i = 0; i < m->segments; i++) {
		if (off < s[i].bytes) {
			*number = i;
			*rest = s[i].bytes - (uint32_t)off;
			return &s[i];
		}
		off -= s[i].bytes;
	}
	return NULL;
}

static bool mover_reaches(struct rc *rc, struct rc_mover *m, const struct fw_segment *s,
			  unsigned int number, uint32_t part)
{
	struct fw_wanted w = {
		.qp = m->qp->place, .key = s->key, .right = m->right,
		.va = m->va, .bytes = part,
	};

	if (m->reached == number + 1)
		return true;
	m->denied = rc->env.fw.reach(rc->env.fw.ctx, &w, &m->object);
	if (m->denied != FL_ST_OK)
		return false;
	m->reached = (uint8_t)(number + 1);
	return true;
}

static enum rc_moved mover_begin(struct rc *rc, struct rc_mover *m, uint64_t *delay_ns)
{
	const struct fw_segment *s;
	unsigned int number = 0;
	uint32_t part = 0, page;

	s = mover_segment(m, &number, &part);
	if (!s) {	/* the firmware's sum was wrong */
		m->denied = FL_ST_SEEN_RANGE;
		return RC_DENIED;
	}
	m->va = s->va + (s->bytes - part);
	m->rest = part;
	m->key = s->key;
	if (part > m->left)
		part = m->left;
	if (!mover_reaches(rc, m, s, number, part))
		return RC_DENIED;
	page = RC_PAGE - (uint32_t)(m->va % RC_PAGE);
	m->burst = (struct dma_burst){
		.write = m->write, .channel = m->channel, .va = m->va,
		.len = part < page ? part : page, .now_ns = rc->now_ns,
		.cause = m->cause, .xfer = m->xfer, .object = m->object,
		.block = m->bursts,
	};
	switch (rc->env.burst_begin(rc->env.ctx, &m->burst)) {
	case DMA_OK:
		m->open = true;
		*delay_ns = m->burst.delay_ns;
		return RC_MOVING;
	case DMA_SLVERR:
		return RC_MISSED;
	default:
		m->broken = true;
		m->status = FL_ST_BUS_ERROR;
		return RC_BROKEN;
	}
}

static enum dma_status mover_move(struct rc *rc, struct rc_mover *m)
{
	const struct rc_packet *p = m->atomic;

	if (!p)
		return rc->env.burst_end(rc->env.ctx, &m->burst, m->buf);
	return rc->env.burst_atomic(rc->env.ctx, &m->burst, p->opcode == WOP_RC_CMP_SWAP,
				    p->compare, p->swap, &m->original);
}

void rc_move_end(struct rc *rc, struct rc_mover *m)
{
	if (!m->open)
		return;
	m->open = false;
	if (mover_move(rc, m) != DMA_OK) {
		m->broken = true;
		m->status = FL_ST_BUS_ERROR;
		return;
	}
	m->cause = rc_note(rc, EV_RC_BURST, m->xfer, m->burst.event ? m->burst.event : m->cause,
			   m->qp, m->write, m->burst.va, m->burst.len);
	m->bursts++;
	m->buf += m->burst.len;
	m->at += m->burst.len;
	m->left -= m->burst.len;
}

enum rc_moved rc_move_step(struct rc *rc, struct rc_mover *m, uint64_t *delay_ns)
{
	*delay_ns = 0;
	if (m->open) {
		rc_move_end(rc, m);
		if (m->broken)
			return RC_BROKEN;
		return m->left ? RC_MOVING : RC_MOVED;
	}
	if (m->broken)
		return RC_BROKEN;
	return m->left ? mover_begin(rc, m, delay_ns) : RC_MOVED;
}
