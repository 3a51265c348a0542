// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bytes of one fragment, burst by burst. A burst lies within a page, and for as long as it
 * runs the page's entry in the card's table is in use: that is NetVM's short lock, for which
 * whoever zaps the entry waits.
 */
#include "nic/transport/nv_internal.h"
#include "trace/event.h"

/* The segment that the next byte lies in, and how much of it is left. */
static const struct fw_segment *mover_segment(const struct nv_mover *m, unsigned int *number,
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

static bool mover_reaches(struct nv *nv, struct nv_mover *m, unsigned int number,
			  uint32_t part)
{
	struct fw_wanted w = {
		.qp = m->qp->place, .key = m->key, .right = m->right,
		.va = m->va, .bytes = part,
	};

	if (m->reached == number + 1)
		return true;
	m->denied = nv->env.fw.reach(nv->env.fw.ctx, &w, &m->object);
	if (m->denied != FL_ST_OK)
		return false;
	m->reached = (uint8_t)(number + 1);
	return true;
}

static enum nv_moved mover_begin(struct nv *nv, struct nv_mover *m, uint64_t *delay_ns)
{
	const struct fw_segment *s;
	unsigned int number = 0;
	uint32_t part = 0, page;

	s = mover_segment(m, &number, &part);
	if (!s) {	/* the firmware's sum was wrong */
		m->denied = FL_ST_SEEN_RANGE;
		return NV_DENIED;
	}
	m->va = s->va + (s->bytes - part);
	m->rest = part;
	m->key = s->key;
	if (part > m->left)
		part = m->left;
	if (!mover_reaches(nv, m, number, part))
		return NV_DENIED;
	page = NV_PAGE - (uint32_t)(m->va % NV_PAGE);
	m->burst = (struct dma_burst){
		.write = m->write, .channel = m->channel, .va = m->va,
		.len = part < page ? part : page, .now_ns = nv->now_ns,
		.cause = m->cause, .xfer = m->xfer, .object = m->object,
		.block = m->bursts,
	};
	switch (nv->env.burst_begin(nv->env.ctx, &m->burst)) {
	case DMA_OK:
		m->open = true;
		*delay_ns = m->burst.delay_ns;
		return NV_MOVING;
	case DMA_SLVERR:
		return NV_MISSED;
	default:
		return NV_BROKEN;
	}
}

enum nv_moved nv_move_end(struct nv *nv, struct nv_mover *m)
{
	if (!m->open)
		return m->left ? NV_MOVING : NV_MOVED;
	m->open = false;
	if (nv->env.burst_end(nv->env.ctx, &m->burst, m->buf) != DMA_OK)
		return NV_BROKEN;
	m->cause = nv_note(nv, EV_RC_BURST, m->xfer, m->burst.event ? m->burst.event : m->cause,
			   m->qp, m->write, m->burst.va, m->burst.len);
	m->bursts++;
	m->buf += m->burst.len;
	m->at += m->burst.len;
	m->left -= m->burst.len;
	return m->left ? NV_MOVING : NV_MOVED;
}

enum nv_moved nv_move_step(struct nv *nv, struct nv_mover *m, uint64_t *delay_ns)
{
	*delay_ns = 0;
	if (m->open)
		return nv_move_end(nv, m);
	return m->left ? mover_begin(nv, m, delay_ns) : NV_MOVED;
}
