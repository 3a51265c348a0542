// SPDX-License-Identifier: BSD-2-Clause
/* What the engine lets go: frames that it had borrowed, and packets that it drops. */
#include "nic/engine_internal.h"

void engine_let_go(struct c_engine *e, uint32_t *cells,
		   struct wire_frame *const frame[BORROW_MAX])
{
	struct wire_frame *gone[BORROW_MAX];
	unsigned int n = 0;

	for (; *cells; *cells &= *cells - 1)
		gone[n++] = frame[lowest_bit(*cells)];
	if (n)
		e->env.frames_put(e->env.wire, gone, n);
}

struct trace_at rx_packet_at(const struct c_engine *e,
				 const struct wire_frame *f)
{
	return (struct trace_at){ .board = e->cfg.board, .cause = f->cause };
}

void rx_bad(struct c_engine *e, const struct wire_frame *f, enum wire_error why)
{
	struct trace_at at = rx_packet_at(e, f);

	e->stats.bad_packets++;
	engine_emit(e, EV_RX_BAD_PACKET, &at, why, f->len, 0, 0);
}

void rx_stale(struct c_engine *e, const struct wire_frame *f, unsigned int ctx,
	      unsigned int gen, unsigned int attempt)
{
	struct trace_at at = rx_packet_at(e, f);

	e->stats.stale++;
	engine_emit(e, EV_RX_STALE, &at, f->from, ctx, gen, attempt);
}
