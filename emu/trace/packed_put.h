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

#define PACKED_PAGE	4096u
/* Records of a block, beside its cells and bursts: see put_block() in packed.c. */
#define PACKED_BLOCK_RECORDS 12

/* ---- sums ---- */

static inline void packed_sum_blocks(const struct trace_moved *m, struct packed_sum *sum)
{
	uint32_t in[2] = { m->va[0] % PACKED_PAGE, m->va[1] % PACKED_PAGE };
	unsigned int side;

	sum->blocks = (m->len + (1u << m->block_log2) - 1) >> m->block_log2;
	sum->cells = (m->len + (1u << m->cell_log2) - 1) >> m->cell_log2;
	sum->walks = sum->levels = sum->cached = 0;
	for (side = 0; side < 2; side++)
		/* A block that ends within a page leaves two bursts there. */
		sum->bursts[side] = (in[side] + m->len + PACKED_PAGE - 1) / PACKED_PAGE +
				    (in[side] ? sum->blocks - 1 : 0);
}

/* packed.c: those of pages that were walked to, and the words of these. */
void packed_sum_walks(const struct trace_write *w, struct packed_sum *sum);

static inline void packed_sum(const struct trace_write *w, struct packed_sum *sum)
{
	packed_sum_blocks(&w->m, sum);
	sum->words = w->pages[0] + w->pages[1];
	if (w->walks)
		packed_sum_walks(w, sum);
	sum->requests = w->m.begins;
	sum->completions = w->m.ends;
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
			packed_word(to, p->pa);
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
	*h = w->m;
	h->event = PACKED_EVENT;
	h->words = (uint16_t)words;
	packed_put_words(w, &to);
	return h;
}

#endif
