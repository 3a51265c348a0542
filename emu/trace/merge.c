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

/* The next place was of a full ring, and that is not in the spill. */
static bool place_is_lost(const struct trace_merge *m, uint32_t i)
{
	return m->spill && m->at[i].next < m->at[i].ring->flushed && m->at[i].chunk == m->chunks;
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

/* For the records of an entry, the first of which is the next one. False: no memory. */
static bool records_room(struct trace_merge *m, uint32_t i, uint32_t n)
{
	free(m->at[i].packed);
	m->at[i].packed = calloc(n, sizeof(*m->at[i].packed));
	if (!m->at[i].packed)
		return false;
	m->at[i].packed_count = n;
	m->at[i].in_packed = 0;
	m->at[i].now = m->at[i].packed;
	return true;
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
	if (!records_room(m, i, packed_count_records(&h, word)))
		return false;
	packed_expand(&h, word, m->at[i].packed);
	return true;
}

/* The same for one of a library that has posted. */
static bool place_unpack_posted(struct trace_merge *m, uint32_t i)
{
	struct trace_posted p;

	memcpy(&p, record_at(m, i), sizeof(p));
	place_pass(m, i);
	if (!records_room(m, i, posted_records(&p)))
		return false;
	posted_expand(&p, m->at[i].packed);
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
		if (place_is_lost(m, i)) {
			m->at[i].next += (uint64_t)m->at[i].ring->mask + 1;
			continue;
		}
		m->at[i].now = record_at(m, i);
		if (m->at[i].now->event == PACKED_EVENT && m->at[i].now->seq) {
			/* Without memory for them they are left out. */
			if (place_unpack(m, i))
				return;
		} else if (m->at[i].now->event == PACKED_POSTED && m->at[i].now->seq) {
			if (place_unpack_posted(m, i))
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

static void ring_begin(struct trace_merge *m, uint32_t i, uint64_t head, uint64_t next)
{
	const struct trace_ring *r = m->at[i].ring;

	m->at[i].next = next;
	m->at[i].end = head;
	m->at[i].last = atomic_load_explicit(&r->records, memory_order_relaxed);
	ring_look(m, i);
	if (m->at[i].now)
		m->left += m->at[i].last + 1 - seq_number(m->at[i].now->seq);
}

static void merge_init(struct trace_merge *m, const struct trace_ring *ring,
		       uint32_t rings)
{
	uint32_t i;

	assert(rings <= TRACE_RINGS_MAX);
	memset(m, 0, sizeof(*m));
	m->rings = rings;
	m->until_ns = UINT64_MAX;
	for (i = 0; i < rings; i++)
		m->at[i].ring = &ring[i];
}

void merge_begin(struct trace_merge *m, const struct trace_ring *ring,
		 uint32_t rings, const struct trace_record *spill,
		 uint64_t chunks)
{
	uint64_t head, size;
	uint32_t i;

	merge_init(m, ring, rings);
	m->spill = spill;
	m->chunks = chunks;
	for (i = 0; i < rings; i++) {
		head = atomic_load_explicit(&ring[i].head,
					    memory_order_acquire);
		size = (uint64_t)ring[i].mask + 1;
		if (spill)
			m->at[i].chunk = find_chunk(m, ring[i].number, 0);
		ring_begin(m, i, head, spill || head < size ? 0 : head - size);
	}
}

void merge_begin_rest(struct trace_merge *m, const struct trace_ring *ring, uint32_t rings,
		      uint64_t until_ns)
{
	uint32_t i;

	merge_init(m, ring, rings);
	m->until_ns = until_ns;
	for (i = 0; i < rings; i++)
		ring_begin(m, i, atomic_load_explicit(&ring[i].head, memory_order_relaxed),
			   ring[i].flushed);
}

uint64_t merge_place(const struct trace_merge *m, uint32_t i)
{
	return m->at[i].now ? m->at[i].next - 1 : m->at[i].next;
}

/* Is the cause of rec still to come? */
static bool must_wait(const struct trace_merge *m,
		      const struct trace_record *rec)
{
	uint32_t number = seq_ring(rec->cause), first;
	uint64_t n = seq_number(rec->cause), i;

	if (!rec->cause)
		return false;
	first = m->at[0].ring->number;
	if (number < first || number - first >= m->rings)
		return false;
	i = number - first;
	return m->at[i].now && n >= seq_number(m->at[i].now->seq) &&
	       n <= m->at[i].last;
}

static bool is_before(const struct trace_record *a, const struct trace_record *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->wall_ns < b->wall_ns;
}

/* The ring that gave the last record goes on with what it did then: no need to look at others. */
static bool goes_on(const struct trace_merge *m, uint32_t i)
{
	const struct trace_record *rec = m->at[i].now;

	return m->alone && rec && rec->time_ns == m->time_ns && rec->wall_ns == m->wall_ns &&
	       !must_wait(m, rec);
}

/* The ring whose record is next, or rings. */
static uint32_t ring_first(struct trace_merge *m)
{
	uint32_t i, best = m->rings, late = m->rings, *to;

	for (i = 0; i < m->rings; i++) {
		if (!m->at[i].now)
			continue;
		to = must_wait(m, m->at[i].now) ? &late : &best;
		if (*to == m->rings || is_before(m->at[i].now, m->at[*to].now))
			*to = i;
	}
	/* A cause that names itself or a circle: damaged, not stuck. */
	if (best == m->rings)
		best = late;
	m->alone = true;
	for (i = 0; i < m->rings; i++)
		if (m->at[i].now && i != best && !is_before(m->at[best].now, m->at[i].now))
			m->alone = false;
	return best;
}

const struct trace_record *merge_next(struct trace_merge *m)
{
	const struct trace_record *rec;
	uint32_t i = m->rings;

	if (m->given) {
		ring_look(m, m->given - 1);
		if (goes_on(m, m->given - 1))
			i = m->given - 1;
	}
	m->given = 0;
	if (i == m->rings)
		i = ring_first(m);
	if (i == m->rings || m->at[i].now->time_ns >= m->until_ns)
		return NULL;
	rec = m->at[i].now;
	m->given = i + 1;
	m->time_ns = rec->time_ns;
	m->wall_ns = rec->wall_ns;
	m->left--;
	return rec;
}

void merge_end(struct trace_merge *m)
{
	uint32_t i;

	for (i = 0; i < m->rings; i++)
		free(m->at[i].packed);
}
