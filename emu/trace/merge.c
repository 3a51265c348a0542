// SPDX-License-Identifier: BSD-2-Clause
/* The merge of rings, see merge.h. */
#include "trace/merge.h"

#include <assert.h>
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
		if (spill) {
			/* Only whole rings are spilled, from the first on. */
			assert(count_chunks(m, ring[i].number) * size ==
			       ring[i].flushed);
			m->at[i].chunk = find_chunk(m, ring[i].number, 0);
		} else {
			m->at[i].next = head > size ? head - size : 0;
		}
		m->left += m->at[i].end - m->at[i].next;
	}
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

/* Is the cause of rec still to come? */
static bool must_wait(const struct trace_merge *m,
		      const struct trace_record *rec)
{
	uint32_t number = (uint32_t)(rec->cause >> 48), first;
	uint64_t n = rec->cause & ((1ull << 48) - 1), i;

	if (!rec->cause)
		return false;
	first = m->at[0].ring->number;
	if (number < first || number - first >= m->rings)
		return false;
	i = number - first;
	return n > m->at[i].next && n <= m->at[i].end;
}

const struct trace_record *merge_next(struct trace_merge *m)
{
	const struct trace_record *rec, *best = NULL, *late = NULL;
	uint32_t i, best_at = 0, late_at = 0;

	for (i = 0; i < m->rings; i++) {
		if (m->at[i].next == m->at[i].end)
			continue;
		rec = record_at(m, i);
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
	m->at[best_at].next++;
	m->left--;
	if (m->spill && !(m->at[best_at].next & m->at[best_at].ring->mask))
		m->at[best_at].chunk =
			find_chunk(m, m->at[best_at].ring->number,
				   m->at[best_at].chunk + 1);
	return best;
}
