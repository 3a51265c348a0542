// SPDX-License-Identifier: BSD-2-Clause
/*
 * A block, burst by burst. A burst ends at the latest at a 4 KB border of the
 * address, so that it meets one page, hence at most one fault. After a refusal
 * the rest of the block is tried all the same: one report then names every page
 * that is missing.
 */
#include "nic/engine_internal.h"

void burst_start(struct burst_iter *w, unsigned int channel, uint16_t stream,
		 uint64_t va, uint32_t len, uint8_t *buf)
{
	assert(w->phase == BURST_NONE && len);
	/* What is not set here, burst_begin() and the port set for each burst. */
	w->phase = BURST_NEXT;
	w->offset = 0;
	w->map = 0;
	w->fault_event = 0;
	w->b.channel = (uint8_t)channel;
	w->b.write = channel == CH_WRITE;
	w->b.stream = stream;
	w->va = va;
	w->len = len;
	w->buf = buf;
}

/* The i-th page that the block touches. */
static unsigned int burst_page(const struct burst_iter *w)
{
	uint64_t first = w->va / ENGINE_PAGE;

	return (unsigned int)((w->va + w->offset) / ENGINE_PAGE - first);
}

static enum dma_status burst_begin(struct c_engine *e, struct burst_iter *w, uint64_t now_ns,
				   const struct trace_at *at, uint64_t cause)
{
	struct dma_burst *b = &w->b;
	uint32_t room;

	b->va = w->va + w->offset;
	room = ENGINE_PAGE - (uint32_t)(b->va % ENGINE_PAGE);
	b->len = w->len - w->offset < room ? w->len - w->offset : room;
	b->now_ns = now_ns;
	b->cause = cause;
	b->xfer = at->xfer;
	b->block = at->block;
	b->attempt = at->attempt;
	w->direct = NULL;
	b->pa = 0;
	b->delay_ns = 0;
	b->event = 0;
	return e->env.burst_begin(e->env.ctx, b);
}

static uint8_t *burst_bytes(struct burst_iter *w)
{
	return w->direct ? w->direct : w->buf + w->offset;
}

/* The burst has ended with w->status; go on to the next one. */
static enum burst_result burst_finish(struct c_engine *e, struct burst_iter *w,
				      struct trace_at *at, unsigned int index,
				      uint64_t *event)
{
	struct dma_burst *b = &w->b;

	if (w->status == DMA_OK) {
		w->status = e->env.burst_end(e->env.ctx, b, burst_bytes(w));
		assert(w->status == DMA_OK || w->status == DMA_DECERR);
	}
	if (w->status == DMA_OK) {
		at->cause = b->event ? b->event : b->cause;
		*event = engine_emit(e,
				    b->write ? EV_RX_BURST : EV_TX_BURST,
				    at, index, b->va, b->len, b->pa);
	} else if (w->status == DMA_SLVERR) {
		w->map |= 1u << burst_page(w);
		if (!w->fault_event)
			w->fault_event = b->event ? b->event : b->cause;
	} else {
		if (b->event)
			*event = b->event;
		w->phase = BURST_NONE;
		return BURST_BUS_ERROR;
	}
	w->offset += b->len;
	w->phase = BURST_NEXT;
	if (w->offset < w->len)
		return BURST_MORE;
	w->phase = BURST_NONE;
	if (w->map && w->fault_event)
		*event = w->fault_event;
	return w->map ? BURST_REFUSED : BURST_GOOD;
}

enum burst_result burst_step(struct c_engine *e, struct burst_iter *w,
			     uint64_t now_ns,
			     struct trace_at *at, unsigned int index,
			     uint64_t *event, uint64_t *delay_ns)
{
	assert(w->phase != BURST_NONE);
	*delay_ns = 0;
	if (w->phase == BURST_OPEN)
		return burst_finish(e, w, at, index, event);
	if (w->phase == BURST_NEXT) {
		w->status = burst_begin(e, w, now_ns, at, *event);
		if (w->status != DMA_STALLED) {
			w->phase = BURST_OPEN;
			*delay_ns = w->b.delay_ns;
			return BURST_MORE;
		}
		w->phase = BURST_HELD;
	}
	*delay_ns = engine_sleep(e, w->b.channel);
	return BURST_MORE;
}

void burst_abandon(struct c_engine *e, struct burst_iter *w)
{
	if (w->phase == BURST_OPEN && w->status == DMA_OK)
		e->env.burst_end(e->env.ctx, &w->b, burst_bytes(w));
	w->phase = BURST_NONE;
}

void c_burst_resume(struct engine *engine, unsigned int channel, bool terminate)
{
	struct c_engine *e = c_engine(engine);
	struct burst_iter *w;

	assert(channel < CHANNELS);
	w = &e->ch[channel].iter;
	if (w->phase != BURST_HELD)
		return;
	/* Terminated: as if begin had answered DMA_SLVERR. */
	w->phase = terminate ? BURST_OPEN : BURST_NEXT;
	w->status = DMA_SLVERR;
	engine_kick(e, channel);
}
