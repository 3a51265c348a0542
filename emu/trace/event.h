/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.h - what is recorded in a trace, and how. Each event is declared once in events.def;
 * the recorder and its records are trace.h.
 */
#ifndef FL_TRACE_EVENT_H
#define FL_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct trace;

enum trace_unit {
	UNIT_APP,
	UNIT_LIB,
	UNIT_DRIVER,
	UNIT_KERNEL,
	UNIT_SMMU,
	UNIT_FW,
	UNIT_ENGINE,
	UNIT_WIRE,
	UNIT_SIM,
	UNIT_COUNT
};

enum trace_event {
#define EVENT(name, unit, a0, a1, a2, a3, text) EV_##name,
#include "trace/events.def"
	EV_COUNT
};

/* What an event belongs to. Copied by value; all zero is allowed. */
struct trace_at {
	uint8_t board;
	uint32_t xfer, block, attempt;
	uint64_t cause;
};

/* Record one event, return its sequence number (0 when t is NULL). */
uint64_t trace_emit(struct trace *t, enum trace_event ev,
		    const struct trace_at *at, uint64_t a0, uint64_t a1,
		    uint64_t a2, uint64_t a3);

/*
 * Blocks of a WRITE that went from memory to memory in the resident step. They are kept in
 * one entry, with the request and its completion, and are for everybody who reads or counts
 * the records that the long way leaves. side 0 is the sender, 1 the receiver.
 */
#define TRACE_WRITE_PAGES 17
#define TRACE_PAGE_MORE	31	/* trace_page.more at most; a mask */

/*
 * A walk of the SMMU that found its page: what it read, from the first level on. Pages that
 * follow one another may have the same, but for its last descriptor.
 */
struct trace_walk {
	uint64_t table;		/* of the first level that was read, 64-byte aligned */
	uint64_t desc[4];	/* in order */
	uint8_t first, levels;
	bool cached;		/* the walk cache knew that table */
};

struct trace_page {
	uint64_t pa;			/* of its first byte that is moved */
	/*
	 * NULL: it was a hit. The walk of the page before it: the same but for the address in
	 * the last descriptor.
	 */
	const struct trace_walk *walk;
	uint32_t more;			/* hits behind it in memory, which are not listed */
};

/* What is said of them, as a ring keeps it: as long as a record. side: as above. */
struct trace_moved {
	uint64_t seq;		/* of its first record */
	uint64_t cause;
	uint64_t va[2];
	uint16_t event;
	uint8_t board, peer;	/* the sender's, and the node of the receiver */
	uint32_t xfer;
	uint32_t block;		/* the first */
	uint32_t len;		/* at most 1 MB */
	uint64_t wall_ns;
	uint32_t qpn;		/* the receiver's queue pair */
	uint32_t sender;	/* the sender's */
	uint32_t bytes;		/* of the whole request */
	uint16_t index;		/* its */
	uint8_t ctx, rxc, bank[2];
	uint8_t cell_log2, block_log2;
	/*
	 * begins: the entry stands for the request's FW_WQE as well, which cause has led to;
	 * ends: for its FW_COMPLETE, with status 0.
	 */
	bool begins, ends;
	uint16_t words;
} __attribute__((may_alias));

/*
 * The recorder copies `same` as a whole, and then what follows one by one. A load that takes
 * several stores of a moment ago at once has to wait for them; so what is written for each
 * request stands outside, and in another order than there.
 */
struct trace_write {
	struct trace_moved same; /* board, peer, qpn, sender, ctx, cell_log2, block_log2 */
	uint64_t from_va;	/* va[0] */
	uint32_t xfer, len;
	uint64_t to_va;		/* va[1] */
	uint32_t block, bytes;
	uint64_t cause;
	uint8_t from_bank, rxc;
	uint16_t index;
	uint8_t to_bank;
	bool ends, begins;
	bool walks;		/* not all pages were hits (else .walk means nothing) */
	uint32_t blocks, cells, bursts[2];	/* that it stands for, len being cut into them */
	uint32_t pages[2];	/* that are listed */
	const struct trace_page *page[2];
	/* out: numbers of the first and the last record that the entry stands for, or 0 */
	uint64_t first, last;
};

/* Threads mode. The sequence number of the end of the last block, or 0. */
uint64_t trace_emit_write(struct trace *t, struct trace_write *w);

/*
 * A doorbell of a library that tells what it posts: LIB_POST, which leads to LIB_DOORBELL, and
 * before them, with took, the LIB_COMPLETE of what it has taken from a completion queue. Kept
 * in one entry, which is as long as a record.
 */
struct trace_posted {
	uint64_t seq;		/* of the first record; the recorder's */
	uint64_t end;		/* the cause of LIB_COMPLETE */
	uint64_t wall_ns;	/* the recorder's */
	uint64_t va;
	uint16_t event;		/* the recorder's */
	uint8_t board;
	bool took;
	uint32_t xfer;
	uint64_t qp, op, len;
	uint32_t took_xfer, took_qp, took_bytes;
	uint16_t index;
	uint8_t took_status;
} __attribute__((may_alias));

/* The sequence number of LIB_DOORBELL, or 0. */
uint64_t trace_emit_posted(struct trace *t, const struct trace_posted *p);

/*
 * What the calling thread recorded last, of any unit or of software only: the
 * cause of what it does now where no better one is known (a line that goes up,
 * a register that is written).
 */
uint64_t trace_last(void);
uint64_t trace_last_software(void);
/* Around what the thread does for others. */
struct trace_last {
	uint64_t any, software;
};
struct trace_last trace_last_save(void);
void trace_last_restore(struct trace_last saved);
/* As if it had recorded this event last, which was recorded earlier, or by another thread. */
static inline void trace_last_is(uint64_t event)
{
	struct trace_last last = trace_last_save();

	last.any = event;
	trace_last_restore(last);
}

#endif
