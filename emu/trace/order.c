// SPDX-License-Identifier: BSD-2-Clause
/* The common order of lockstep, see order.h. */
#include "trace/order.h"

#include <stdlib.h>
#include <string.h>

#include "os/os.h"

#define ROOM_FIRST	1024

void order_end(struct trace_order *o)
{
	uint32_t i;

	for (i = 0; i < TRACE_RINGS_MAX; i++)
		os_room_end(o->ring[i].number, o->ring[i].room, sizeof(uint64_t));
}

/* Signal handlers record, too, and may have interrupted malloc(): so rooms of the system. */
static bool order_grow(struct trace_order *o, uint32_t i, uint64_t at)
{
	uint64_t room = o->ring[i].room ? o->ring[i].room : ROOM_FIRST, *more;

	while (room <= at)
		room *= 2;
	more = os_room(room, sizeof(*more));
	if (!more)
		return false;
	if (o->ring[i].room)
		memcpy(more, o->ring[i].number, o->ring[i].room * sizeof(*more));
	os_room_end(o->ring[i].number, o->ring[i].room, sizeof(*more));
	o->ring[i].number = more;
	o->ring[i].room = room;
	return true;
}

/* What readers call it, or 0. */
static uint64_t order_number(const struct trace_order *o, uint64_t seq)
{
	uint64_t n = seq_number(seq);
	uint32_t i = seq_ring(seq);

	if (!seq || i >= TRACE_RINGS_MAX || n < o->ring[i].first ||
	    n - o->ring[i].first >= o->ring[i].room)
		return 0;
	return o->ring[i].number[n - o->ring[i].first];
}

/* *rec, which is next, as readers are to see it. */
static struct trace_record order_give(struct trace_order *o, const struct trace_record *rec)
{
	struct trace_record out = *rec;
	uint32_t i = seq_ring(rec->seq);
	uint64_t at = seq_number(rec->seq) - o->ring[i].first;

	out.seq = ++o->given;
	out.cause = order_number(o, rec->cause);
	out.wall_ns = 0;
	if (at < o->ring[i].room || order_grow(o, i, at))
		o->ring[i].number[at] = out.seq;
	else
		o->unknown++;
	return out;
}

static uint32_t order_write(struct trace_order *o, struct trace_ring *ring, uint32_t rings,
			    uint64_t until_ns, FILE *out)
{
	const struct trace_record *rec;
	struct trace_record as_read;
	uint32_t i, n = 0;

	merge_begin_rest(&o->merge, ring, rings, until_ns);
	for (; (rec = merge_next(&o->merge)) != NULL; n++) {
		as_read = order_give(o, rec);
		trace_record_text(out, &as_read);
	}
	for (i = 0; i < rings; i++)
		ring[i].flushed = merge_place(&o->merge, i);
	merge_end(&o->merge);
	return n;
}

void order_stream(struct trace_order *o, struct trace_ring *ring, uint32_t rings,
		  uint64_t until_ns, FILE *out)
{
	uint32_t i;

	order_write(o, ring, rings, until_ns, out);
	for (i = 0; i < rings; i++)
		if (atomic_load_explicit(&ring[i].head, memory_order_relaxed) -
		    ring[i].flushed > ring[i].mask)
			order_write(o, ring, rings, UINT64_MAX, out);
}

/*
 * Of what the rings still have, how many records come before one was lost: a ring that has
 * overwritten some begins with the record behind them. *total: how many there are.
 */
static uint64_t order_gaps(struct trace_order *o, const struct trace_ring *ring, uint32_t rings,
			   uint64_t *total)
{
	const struct trace_record *rec;
	uint64_t gaps = 0;
	uint32_t i;

	*total = 0;
	merge_begin(&o->merge, ring, rings, NULL, 0);
	for (i = 0; i < rings; i++)
		if (o->merge.at[i].now)
			o->ring[i].first = seq_number(o->merge.at[i].now->seq);
	while ((rec = merge_next(&o->merge)) != NULL) {
		i = seq_ring(rec->seq);
		if (o->ring[i].first > 1 && seq_number(rec->seq) == o->ring[i].first)
			gaps = *total;
		++*total;
	}
	merge_end(&o->merge);
	return gaps;
}

uint32_t order_snapshot(const struct trace_ring *ring, uint32_t rings,
			struct trace_record *out, uint32_t n)
{
	struct trace_order *o = calloc(1, sizeof(*o));
	const struct trace_record *rec;
	uint64_t total, gaps, at, all = 0;
	struct trace_record as_read;
	uint32_t i, got = 0;

	if (!o)
		return 0;
	for (i = 0; i < rings; i++)
		all += atomic_load_explicit(&ring[i].records, memory_order_relaxed);
	gaps = order_gaps(o, ring, rings, &total);
	merge_begin(&o->merge, ring, rings, NULL, 0);
	for (at = 0; (rec = merge_next(&o->merge)) != NULL; at++) {
		o->given = all - total + at;
		if (at < gaps)
			continue;
		as_read = order_give(o, rec);
		if (total - at <= n)
			out[got++] = as_read;
	}
	merge_end(&o->merge);
	order_end(o);
	free(o);
	return got;
}
