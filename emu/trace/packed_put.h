/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packed_put.h - how the recorder makes an entry of packed.h (private to emu/trace). It is
 * inline, since each request of the resident step makes one; usually all its pages were hits.
 */
#ifndef FL_TRACE_PACKED_PUT_H
#define FL_TRACE_PACKED_PUT_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

#include "trace/packed.h"

/* Records of a block, beside its cells and bursts: see put_block() in packed.c. */
#define PACKED_BLOCK_RECORDS 12

/* ---- sums ---- */

/* packed.c: those of pages that were walked to, and the words of these. */
void packed_sum_walks(const struct trace_write *w, struct packed_sum *sum);

static inline void packed_sum(const struct trace_write *w, bool walks,
			      struct packed_sum *sum)
{
	sum->blocks = w->blocks;
	sum->cells = w->cells;
	sum->bursts[0] = w->bursts[0];
	sum->bursts[1] = w->bursts[1];
	sum->walks = sum->levels = sum->cached = 0;
	sum->words = w->pages[0] + w->pages[1];
	if (walks)
		packed_sum_walks(w, sum);
	sum->requests = w->begins;
	sum->completions = w->ends;
}

/* Records in all. */
static inline uint32_t packed_records(const struct packed_sum *sum)
{
	return sum->requests + sum->completions + sum->blocks * PACKED_BLOCK_RECORDS +
	       2 * (sum->cells + sum->bursts[0] + sum->bursts[1]) + sum->levels +
	       sum->cached;
}

static inline void packed_more(_Atomic uint64_t *sum, uint32_t more)
{
	/* One writer: a plain add would do, but others read while it runs. */
	atomic_store_explicit(sum, atomic_load_explicit(sum,
			      memory_order_relaxed) + more, memory_order_relaxed);
}

static inline void packed_add(struct packed_sums *sums, const struct packed_sum *sum)
{
	packed_more(&sums->requests, sum->requests);
	packed_more(&sums->completions, sum->completions);
	packed_more(&sums->blocks, sum->blocks);
	packed_more(&sums->cells, sum->cells);
	packed_more(&sums->bursts[0], sum->bursts[0]);
	packed_more(&sums->bursts[1], sum->bursts[1]);
	if (!sum->walks)
		return;
	packed_more(&sums->walks, sum->walks);
	packed_more(&sums->levels, sum->levels);
	packed_more(&sums->cached, sum->cached);
}

/* ---- into places of a ring ---- */

/* Places of a ring with so many words. */
static inline uint32_t packed_places(uint32_t words)
{
	return 1 + (words + PACKED_PLACE_WORDS - 1) / PACKED_PLACE_WORDS;
}

struct packed_words {
	struct trace_record *ring;
	uint64_t at;		/* place */
	uint32_t mask, left;	/* words that the place has room for */
	uint64_t *next;
};

static inline void packed_word(struct packed_words *w, uint64_t value)
{
	if (!w->left) {
		struct packed_place *p = (void *)&w->ring[++w->at & w->mask];

		p->none = 0;
		w->next = p->word;
		w->left = PACKED_PLACE_WORDS;
	}
	w->left--;
	*w->next++ = value;
}

/* packed.c: the words, where not all pages were hits. */
void packed_put_walks(const struct trace_write *w, struct packed_words *to);

static inline uint64_t packed_hit(const struct trace_page *p)
{
	return p->pa | (uint64_t)p->more << PACKED_MORE_SHIFT;
}

static inline void packed_put_words(const struct trace_write *w, struct packed_words *to)
{
	const struct trace_page *p, *end;
	unsigned int side;

	if (w->walks) {
		packed_put_walks(w, to);
		return;
	}
	for (side = 0; side < 2; side++)
		for (p = w->page[side], end = p + w->pages[side]; p < end; p++)
			packed_word(to, packed_hit(p));
}

/* The same where one word of each side says it all, as it usually does. */
static inline void packed_put_two(const struct trace_write *w, struct packed_place *p)
{
	p->none = 0;
	p->word[0] = packed_hit(w->page[0]);
	p->word[1] = packed_hit(w->page[1]);
}

/* Into these places of a ring of mask + 1, but for seq and wall_ns of the head. */
static inline struct trace_moved *packed_make(const struct trace_write *w, uint32_t words,
					      struct trace_record *ring, uint32_t mask,
					      uint64_t at)
{
	struct trace_moved *h = (void *)&ring[at & mask];
	struct packed_words to = { .ring = ring, .at = at, .mask = mask };

	static_assert(sizeof(*h) == sizeof(struct trace_record) &&
		      sizeof(struct packed_place) == sizeof(*h) &&
		      offsetof(struct trace_moved, event) ==
		      offsetof(struct trace_record, event), "a place");
	*h = w->same;
	h->cause = w->cause;
	h->va[0] = w->from_va;
	h->va[1] = w->to_va;
	h->event = PACKED_EVENT;
	h->xfer = w->xfer;
	h->block = w->block;
	h->len = w->len;
	h->bytes = w->bytes;
	h->index = w->index;
	h->rxc = w->rxc;
	h->bank[0] = w->from_bank;
	h->bank[1] = w->to_bank;
	h->begins = w->begins;
	h->ends = w->ends;
	h->words = (uint16_t)words;
	if ((w->pages[0] == 1) & (w->pages[1] == 1) & !w->walks)
		packed_put_two(w, (void *)&ring[(at + 1) & mask]);
	else
		packed_put_words(w, &to);
	return h;
}

/* One by one: see struct trace_write. */
static inline void posted_make(struct trace_posted *e, const struct trace_posted *p)
{
	static_assert(sizeof(*e) <= sizeof(struct trace_record) &&
		      offsetof(struct trace_posted, event) ==
		      offsetof(struct trace_record, event), "a place");
	e->end = p->end;
	e->va = p->va;
	e->event = PACKED_POSTED;
	e->board = p->board;
	e->took = p->took;
	e->xfer = p->xfer;
	e->qp = p->qp;
	e->op = p->op;
	e->len = p->len;
	e->took_xfer = p->took_xfer;
	e->took_qp = p->took_qp;
	e->took_bytes = p->took_bytes;
	e->index = p->index;
	e->took_status = p->took_status;
}

#endif
