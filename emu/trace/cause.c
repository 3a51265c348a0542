// SPDX-License-Identifier: BSD-2-Clause
/* cause.c - causes of what a card's firmware does. */
#include "trace/cause.h"

uint64_t cause_emit(struct causes *c, enum trace_event ev, struct trace_at at,
		    uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	at.board = c->board;
	if (ev == EV_FW_COMPLETE && c->engine.released)
		at.cause = c->engine.released;
	if (ev == EV_FW_WQE && !at.cause)
		at.cause = c->doorbell[a0 % CAUSE_QPS];
	c->firmware = trace_emit(c->trace, ev, &at, a0, a1, a2, a3);
	c->engine.write = c->firmware;
	if (ev == EV_FW_COMPLETE)
		atomic_store_explicit(&c->completion[at.xfer % CAUSE_XFERS],
				      c->firmware, memory_order_relaxed);
	return c->firmware;
}

uint64_t cause_emit_write(struct causes *c, struct trace_write *w)
{
	uint64_t event;

	if (w->begins)
		w->cause = c->doorbell[w->same.sender % CAUSE_QPS];
	event = trace_emit_write(c->trace, w);
	if (!w->begins && !w->ends)
		return event;
	c->firmware = w->ends ? w->last : w->first;
	c->engine.write = c->firmware;
	if (w->ends)
		atomic_store_explicit(&c->completion[w->xfer % CAUSE_XFERS],
				      w->last, memory_order_relaxed);
	return event;
}

uint64_t cause_completion(struct causes *c, uint32_t xfer)
{
	return atomic_load_explicit(&c->completion[xfer % CAUSE_XFERS],
				    memory_order_relaxed);
}
