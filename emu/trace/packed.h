/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packed.h - blocks of the resident step in a ring (private to emu/trace).
 *
 * The step has moved blocks for which nothing unusual happened, so one entry says all that
 * the records of the long way would: a head (struct trace_moved), then words with the pages.
 * Usually they are all blocks of a request, and then the entry stands for the request and its
 * completion as well. Whoever reads a ring gets those records, with sequence numbers and
 * causes of their own. An entry takes several places of the ring; those behind its head have
 * 0 for a sequence number, which no record has, and so has a place that is left free.
 */
#ifndef FL_TRACE_PACKED_H
#define FL_TRACE_PACKED_H

#include "trace/trace.h"

#define PACKED_EVENT	EV_COUNT	/* in place of an event */

/* The same for struct trace_posted: one place. */
#define PACKED_POSTED	(EV_COUNT + 1)

/* Of a word with the address of a page that was hit: how many more lie behind it. */
#define PACKED_MORE_SHIFT	56
#define PACKED_MORE(word)	((word) >> PACKED_MORE_SHIFT & TRACE_PAGE_MORE)

#define PACKED_PLACE_WORDS 9

struct packed_place {
	uint64_t none;		/* 0 */
	uint64_t word[PACKED_PLACE_WORDS];
} __attribute__((may_alias));

#define PACKED_WORDS_MAX	(2 * 6 * TRACE_WRITE_PAGES)
#define PACKED_ROOM							       \
	((PACKED_WORDS_MAX + PACKED_PLACE_WORDS - 1) / PACKED_PLACE_WORDS *    \
	 PACKED_PLACE_WORDS)

/* Of struct trace_posted. */
static inline uint32_t posted_records(const struct trace_posted *p)
{
	return p->took ? 3 : 2;
}
void posted_expand(const struct trace_posted *p, struct trace_record *out);

/* How many of what an entry stands for; hits are the bursts that needed no walk. */
struct packed_sum {
	uint32_t requests, completions, blocks, cells, bursts[2], walks, levels, cached;
	uint32_t words;		/* that its pages take */
};

/* What the head and its words stand for. */
uint32_t packed_count_records(const struct trace_moved *h, const uint64_t *word);
/* As many records. */
void packed_expand(const struct trace_moved *h, const uint64_t *word,
		   struct trace_record *out);

/* All entries of a ring together. */
struct packed_sums {
	_Atomic uint64_t requests, completions, blocks, cells, bursts[2], walks, levels,
			 cached;
};
/* How many records of this event. */
uint64_t packed_count(const struct packed_sums *sums, unsigned int ev);

#endif
