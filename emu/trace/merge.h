/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge.h - records of several rings in one order (private to emu/trace).
 *
 * Order: virtual time, then wall time (or what stands there in lockstep), then ring; but no
 * record comes before its cause while that cause is still to come, since threads read the
 * clock only now and then. The records of one ring keep their order.
 */
#ifndef FL_TRACE_MERGE_H
#define FL_TRACE_MERGE_H

#include <stdatomic.h>

#include "trace/packed.h"
#include "trace/trace.h"

#define TRACE_RINGS_MAX	256

struct trace_ring {
	_Atomic uint64_t head;		/* places written since the start */
	_Atomic uint64_t records;	/* the same in records (packed.h), before head */
	uint64_t time_ns, wall_ns;	/* for the following records */
	uint64_t base;			/* ring number in place in a seq */
	uint64_t flushed;		/* those before it are kept elsewhere */
	struct trace_record *record;
	uint32_t mask;
	uint32_t number;
	_Atomic uintptr_t owner;	/* thread; threads mode only */
	_Atomic uint64_t count[EV_COUNT];
	struct packed_sums sums;
} __attribute__((aligned(64)));

struct trace_merge {
	uint64_t left;			/* records still to come */
	uint64_t until_ns;		/* those of this virtual time stay; UINT64_MAX: none */
	const struct trace_record *spill;
	uint64_t chunks;		/* in spill: 1 + records each */
	uint32_t rings;
	uint32_t given;			/* 1 + ring of the last record; 0: none */
	uint64_t time_ns, wall_ns;	/* its */
	bool alone;			/* all the others have later ones */
	struct {
		const struct trace_ring *ring;
		uint64_t next, end;	/* place in the ring */
		uint64_t last;		/* number of its last record */
		uint64_t chunk;		/* of the spill, that next lies in */
		/* The next record: in its place, or one of a packed entry's. */
		const struct trace_record *now;	/* NULL: there is none */
		struct trace_record *packed;
		uint32_t in_packed, packed_count;
	} at[TRACE_RINGS_MAX];
};

/*
 * With spill (chunks of a record whose seq is the ring number, then that full ring) every record
 * since the start comes, but for the last full rings of a thread that are not there; else what
 * the rings still hold.
 */
void merge_begin(struct trace_merge *m, const struct trace_ring *ring,
		 uint32_t rings, const struct trace_record *spill,
		 uint64_t chunks);
/* Those that were not flushed, up to a virtual time that is still going on. */
void merge_begin_rest(struct trace_merge *m, const struct trace_ring *ring, uint32_t rings,
		      uint64_t until_ns);
/* The next record, valid until the next call; NULL at the end. */
const struct trace_record *merge_next(struct trace_merge *m);
/* After the end: the place of ring i where the first record is that stays. */
uint64_t merge_place(const struct trace_merge *m, uint32_t i);
void merge_end(struct trace_merge *m);

/* The ring in a sequence number, and the number there. */
#define RING_SHIFT	48
#define SEQ_NUMBERS	((1ull << RING_SHIFT) - 1)
static inline uint32_t seq_ring(uint64_t seq)
{
	return (uint32_t)(seq >> RING_SHIFT);
}

static inline uint64_t seq_number(uint64_t seq)
{
	return seq & SEQ_NUMBERS;
}

#endif
