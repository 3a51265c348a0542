/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cause.h - what led to what on one card, where its parts do not say so themselves: a
 * register that is written does not tell why, a completion not which block was the last.
 * For the trace alone; nothing else may depend on it.
 *
 * One hook at each seam: the board says who writes registers next (cause_software(),
 * cause_firmware()) and that a doorbell rang (cause_doorbell()); the engine takes the cause
 * of a write from .write and puts the end of a block that is released into .released; the
 * firmware's records are made by cause_emit(). The card's lock is held, except for
 * cause_completion() and what is about requests that the driver reads.
 */
#ifndef FL_CAUSE_H
#define FL_CAUSE_H

#include <stdatomic.h>

#include "trace/event.h"

/* So many queue pairs and transfers are told apart (modulo). */
#define CAUSE_QPS	256
#define CAUSE_XFERS	1024

/* What the engine sees of it. All numbers here are of records; 0: unknown. */
struct engine_cause {
	uint64_t write;		/* causes the register writes that follow */
	uint64_t released;	/* what happened last to the block that was released */
};

struct causes {
	struct trace *trace;
	uint8_t board;
	struct engine_cause engine;
	uint64_t firmware;	/* its last record */
	uint64_t doorbell[CAUSE_QPS];
	atomic_uint_fast64_t completion[CAUSE_XFERS];
	atomic_uint_fast64_t published[CAUSE_XFERS];
};

/* The engine's registers are written by software, for what it recorded last. */
static inline void cause_software(struct causes *c)
{
	c->engine.write = trace_last_software();
}

/* A step of the firmware, or an access to its pages. */
static inline void cause_firmware(struct causes *c)
{
	c->engine.write = c->firmware;
	c->engine.released = 0;
}

/* Software rang for requests of queue pair qp, and told so in that record. */
static inline void cause_doorbell(struct causes *c, uint32_t qp, uint64_t record)
{
	c->doorbell[qp % CAUSE_QPS] = record;
}

/* The card was reset. */
static inline void cause_reset(struct causes *c)
{
	c->firmware = c->engine.released = 0;
}

/* A record of the firmware's: as trace_emit(), and knows its cause where at has none. */
uint64_t cause_emit(struct causes *c, enum trace_event ev, struct trace_at at,
		    uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);

/* The same for the firmware's records in an entry of the resident step. */
uint64_t cause_emit_write(struct causes *c, struct trace_write *w);

/* The completion that a transfer's last request got. Any thread. */
uint64_t cause_completion(struct causes *c, uint32_t xfer);

/* Software has just said that a request is there for the driver to read. Any thread. */
static inline void cause_publish(struct causes *c, uint32_t xfer)
{
	atomic_store_explicit(&c->published[xfer % CAUSE_XFERS],
			      trace_last_software(), memory_order_relaxed);
}

static inline uint64_t cause_published(struct causes *c, uint32_t xfer)
{
	return atomic_load_explicit(&c->published[xfer % CAUSE_XFERS],
				    memory_order_relaxed);
}

#endif
