// SPDX-License-Identifier: BSD-2-Clause
/* The merge of rings, see merge.h. */
#include "trace/merge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint64_t find_chunk(const struct trace_merge *m, uint32_t number,
			   uint64_t from)
{
	size_t records = (size_t)m->at[0].ring->mask + 1;

	while (from < m->chunks && m->spill[from * (records + 1)].seq != number)
		from++;
	return from;
}

static uint64_t count_chunks(const struct trace_merge *m, uint32_t number)
{
	uint64_t n = 0, c;

	for (c = find_chunk(m, number, 0); c < m->chunks;
	     c = find_chunk(m, number, c + 1))
		n++;
	return n;
}

static const struct trace_record *record_at(const struct trace_merge *m,
					    uint32_t i)
{
	const struct trace_ring *r = m->at[i].ring;
	uint64_t next = m->at[i].next;
	size_t records = (size_t)r->mask + 1;

	if (m->spill && next < r->flushed)
		return m->spill + m->at[i].chunk * (records + 1) + 1 +
		       (next & r->mask);
	return &r->record[next & r->mask];
}

/* On to the next place. */
static void place_pass(struct trace_merge *m, uint32_t i)
{
	const struct trace_ring *r = m->at[i].ring;

	m->at[i].next++;
	if (m->spill && !(m->at[i].next & r->mask))
		m->at[i].chunk = find_chunk(m, r->number, m->at[i].chunk + 1);
}

/* The next place holds a packed entry. False: no memory. */
static bool place_unpack(struct trace_merge *m, uint32_t i)
{
	uint64_t word[PACKED_ROOM];
	struct packed_place place;
	struct trace_moved h;
	uint32_t n;

	memcpy(&h, record_at(m, i), sizeof(h));
	place_pass(m, i);
	for (n = 0; n < h.words; n += PACKED_PLACE_WORDS) {
		memcpy(&place, record_at(m, i), sizeof(place));
		memcpy(word + n, place.word, sizeof(place.word));
		place_pass(m, i);
	}
	n = packed_count_records(&h, word);
	free(m->at[i].packed);
	m->at[i].packed = calloc(n, sizeof(*m->at[i].packed));
	if (!m->at[i].packed)
		return false;
	packed_expand(&h, word, m->at[i].packed);
	m->at[i].packed_count = n;
	m->at[i].in_packed = 0;
	m->at[i].now = m->at[i].packed;
	return true;
}

/* Find the next record of a ring. */
static void ring_look(struct trace_merge *m, uint32_t i)
{
	if (m->at[i].in_packed + 1 < m->at[i].packed_count) {
		m->at[i].now = &m->at[i].packed[++m->at[i].in_packed];
		return;
	}
	m->at[i].packed_count = 0;
	while (m->at[i].next != m->at[i].end) {
		m->at[i].now = record_at(m, i);
		if (m->at[i].now->event == PACKED_EVENT && m->at[i].now->seq) {
			/* Without memory for them they are left out. */
			if (place_unpack(m, i))
				return;
		} else if (m->at[i].now->seq) {
			place_pass(m, i);
			return;
		} else {
			place_pass(m, i);	/* left free, or its head is gone */
		}
	}
	m->at[i].now = NULL;
}

static uint64_t number_of(uint64_t seq)
{
	return seq & ((1ull << 48) - 1);
}

void merge_begin(struct trace_merge *m, const struct trace_ring *ring,
		 uint32_t rings, const struct trace_record *spill,
		 uint64_t chunks)
{
	uint64_t head, size;
	uint32_t i;

	assert(rings <= TRACE_RINGS_MAX);
	memset(m, 0, sizeof(*m));
	m->spill = spill;
	m->chunks = chunks;
	m->rings = rings;
	for (i = 0; i < rings; i++) {
		m->at[i].ring = &ring[i];
		head = atomic_load_explicit(&ring[i].head,
					    memory_order_acquire);
		size = (uint64_t)ring[i].mask + 1;
		m->at[i].end = head;
		m->at[i].last = atomic_load_explicit(&ring[i].records,
						     memory_order_relaxed);
		if (spill) {
			/* Only whole rings are spilled, from the first on. */
			assert(count_chunks(m, ring[i].number) * size ==
			       ring[i].flushed);
			m->at[i].chunk = find_chunk(m, ring[i].number, 0);
		} else {
			m->at[i].next = head > size ? head - size : 0;
		}
		ring_look(m, i);
		if (m->at[i].now)
			m->left += m->at[i].last + 1 -
				   number_of(m->at[i].now->seq);
	}
}

/* Is the cause of rec still to come? */
static bool must_wait(const struct trace_merge *m,
		      const struct trace_record *rec)
{
	uint32_t number = (uint32_t)(rec->cause >> 48), first;
	uint64_t n = number_of(rec->cause), i;

	if (!rec->cause)
		return false;
	first = m->at[0].ring->number;
	if (number < first || number - first >= m->rings)
		return false;
	i = number - first;
	return m->at[i].now && n >= number_of(m->at[i].now->seq) &&
	       n <= m->at[i].last;
}

const struct trace_record *merge_next(struct trace_merge *m)
{
	const struct trace_record *rec, *best = NULL, *late = NULL;
	uint32_t i, best_at = 0, late_at = 0;

	if (m->given)
		ring_look(m, m->given - 1);
	m->given = 0;
	for (i = 0; i < m->rings; i++) {
		rec = m->at[i].now;
		if (!rec)
			continue;
		if (must_wait(m, rec)) {
			if (!late || rec->wall_ns < late->wall_ns) {
				late = rec;
				late_at = i;
			}
		} else if (!best || rec->wall_ns < best->wall_ns) {
			best = rec;
			best_at = i;
		}
	}
	if (!best) {
		/* A cause that names itself or a circle: damaged, not stuck. */
		best = late;
		best_at = late_at;
	}
	if (!best)
		return NULL;
	m->given = best_at + 1;
	m->left--;
	return best;
}

void merge_end(struct trace_merge *m)
{
	uint32_t i;

	for (i = 0; i < m->rings; i++)
		free(m->at[i].packed);
}
