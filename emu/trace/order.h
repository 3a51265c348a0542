/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.h - lockstep: the records of all rings in one order (private to emu/trace).
 *
 * The numbers of a ring follow from what its part of the run has done, whatever others do
 * at the same time. Readers are given all records together, numbered from 1, so that the
 * cause of a record is before it and has the smaller number.
 */
#ifndef FL_TRACE_ORDER_H
#define FL_TRACE_ORDER_H

#include "trace/merge.h"

struct trace_order {
	uint64_t given;		/* the number of the last record */
	struct {
		uint64_t first;		/* of the ring's numbers: this one is number[0] */
		uint64_t *number;	/* as readers know it; 0: not yet, or never */
		uint64_t room;
	} ring[TRACE_RINGS_MAX];
	uint64_t unknown;	/* numbers that there was no memory for */
	struct trace_merge merge;
};

/* All 0 is an order that nothing was given of yet. */
void order_end(struct trace_order *o);
/*
 * Write as text what is older than until_ns and was not flushed; what is left in a ring that
 * is full of one time, too.
 */
void order_stream(struct trace_order *o, struct trace_ring *ring, uint32_t rings,
		  uint64_t until_ns, FILE *out);
/* As trace_snapshot(), of as many records of the newest as there are no gaps between. */
uint32_t order_snapshot(const struct trace_ring *ring, uint32_t rings,
			struct trace_record *out, uint32_t n);

#endif
