// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rings of records.
 *
 * A ring has one writer at a time. In lockstep each part of the run has a ring (trace_turn),
 * in threads mode each thread that claimed one with its first event. The rings of threads
 * lie in one mapping that the system fills on first touch, so that a claim costs no call.
 *
 * When the text of every record is wanted, it is written in lockstep as soon as a ring is
 * full (order.h). Threads must be merged first, so their full rings go to a spill file
 * in binary and become text in trace_destroy().
 */
#include "trace/trace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "trace/order.h"
#include "trace/packed_put.h"
#include "trace/spill.h"

#define RINGS		TRACE_RINGS_MAX
#define DEFAULT_RECORDS	65536

struct trace {
	/* Touched by every event. */
	const struct trace_turn *lockstep;	/* whose turn it is; NULL in threads mode */
	struct trace_turn last_turn;
	atomic_bool on;
	uint32_t records;		/* of one ring, a power of two */
	bool spills;			/* full rings are kept */

	FILE *out;
	struct trace_order *order;	/* lockstep with out; else NULL */
	struct trace_spill spill;	/* threads with out; else its fd is -1 */
	uint64_t start_ns;
	_Atomic uint64_t lost;		/* records without ring or disk */
	_Atomic uint32_t claimed;	/* rings in use; may run past RINGS */
	_Atomic uint64_t homeless[EV_COUNT]; /* events without ring */
	struct packed_sums homeless_sums;
	struct trace_record *memory;	/* of the rings of threads, or NULL */
	struct trace_ring ring[RINGS];
};

/*
 * Which ring this thread writes to. A trace is known by its address and its
 * start: an address may come again, the two together do not.
 */
static _Thread_local struct {
	const struct trace *trace;
	uint64_t start_ns;
	struct trace_ring *ring;
} mine;

static uint32_t round_up(uint32_t n)
{
	uint32_t p = 1;

	assert(n <= 1u << 30);
	while (p < n)
		p <<= 1;
	return p;
}

static uint32_t rings_used(const struct trace *t)
{
	uint32_t n = atomic_load_explicit(&t->claimed, memory_order_acquire);

	return n < RINGS ? n : RINGS;
}

static void ring_init(struct trace *t, uint32_t i, uint32_t number,
		      struct trace_record *record)
{
	struct trace_ring *r = &t->ring[i];

	r->record = record;
	r->mask = t->records - 1;
	r->number = number;
	r->base = (uint64_t)number << RING_SHIFT;
}

int trace_ring_add(struct trace *t)
{
	uint32_t i = atomic_load_explicit(&t->claimed, memory_order_relaxed);
	struct trace_record *record;

	assert(!t->memory);
	record = i < RINGS ? os_room(t->records, sizeof(*record)) : NULL;
	if (!record)
		return -ENOMEM;
	ring_init(t, i, i, record);
	atomic_store_explicit(&t->claimed, i + 1, memory_order_release);
	return (int)i;
}

static bool lockstep_init(struct trace *t)
{
	if (t->out)
		t->order = calloc(1, sizeof(*t->order));
	if (t->out && !t->order)
		return false;
	if (trace_ring_add(t) < 0)
		return false;
	t->lockstep = &t->last_turn;
	return true;
}

static bool threads_init(struct trace *t)
{
	uint32_t i;

	t->memory = os_room((uint64_t)RINGS * t->records, sizeof(struct trace_record));
	if (!t->memory)
		return false;
	/* Their numbers count from 1: 0 is the first of lockstep. */
	for (i = 0; i < RINGS; i++)
		ring_init(t, i, i + 1, t->memory + (size_t)i * t->records);
	if (t->out)
		t->spill.fd = os_file_unnamed(NULL);
	return !t->out || t->spill.fd >= 0;
}

static void trace_free(struct trace *t)
{
	uint32_t i;

	if (t->spill.fd >= 0)
		close(t->spill.fd);
	for (i = 0; !t->memory && i < rings_used(t); i++)
		os_room_end(t->ring[i].record, t->records, sizeof(struct trace_record));
	os_room_end(t->memory, (uint64_t)RINGS * t->records, sizeof(struct trace_record));
	if (t->order)
		order_end(t->order);
	free(t->order);
	os_room_end(t, 1, sizeof(*t));
}

struct trace *trace_create(const struct trace_config *cfg)
{
	/* All 0, and few of the rings are ever touched. */
	struct trace *t = os_room(1, sizeof(*t));

	if (!t)
		return NULL;
	t->records = round_up(cfg->ring_records ? cfg->ring_records :
						  DEFAULT_RECORDS);
	t->out = cfg->out;
	t->spills = cfg->out != NULL;
	t->spill = (struct trace_spill){ .fd = -1, .records = t->records, .end = UINT64_MAX };
	t->start_ns = os_now_ns();
	atomic_init(&t->on, true);
	if (!(cfg->threads ? threads_init(t) : lockstep_init(t))) {
		trace_free(t);
		return NULL;
	}
	if (t->out)
		trace_header_text(t->out);
	/* Of another trace. */
	trace_last_restore((struct trace_last){ 0 });
	return t;
}

/*
 * The first event of this thread in this trace, or the first after it wrote to
 * another trace. A thread is known by the address of its thread-local variable,
 * which a later thread may inherit: the ring's head, stored with release by the
 * one and loaded with acquire by the other, orders the two.
 */
static __attribute__((noinline)) struct trace_ring *ring_find(struct trace *t)
{
	uint32_t i, n = atomic_load_explicit(&t->claimed, memory_order_acquire);
	struct trace_ring *r = NULL;
	uintptr_t self = (uintptr_t)&mine;

	for (i = 0; i < n && i < RINGS; i++) {
		r = &t->ring[i];
		if (atomic_load_explicit(&r->owner,
					 memory_order_relaxed) == self)
			break;
	}
	if (i >= n || i >= RINGS) {
		if (n >= RINGS)
			return NULL;
		i = atomic_fetch_add(&t->claimed, 1);
		if (i >= RINGS)
			return NULL;
		r = &t->ring[i];
		atomic_store_explicit(&r->owner, self, memory_order_relaxed);
	}
	atomic_load_explicit(&r->head, memory_order_acquire);
	mine.trace = t;
	mine.start_ns = t->start_ns;
	mine.ring = r;
	r->wall_ns = os_now_ns() - t->start_ns;
	return r;
}

/* Places do not go back, so that all records of a ring are in the order of the merge. */
static inline struct trace_ring *ring_of_turn(struct trace *t)
{
	const struct trace_turn *turn = t->lockstep;
	struct trace_ring *r = &t->ring[turn->ring];

	if (r->time_ns != turn->time_ns || r->wall_ns < turn->place)
		r->wall_ns = turn->place;
	r->time_ns = turn->time_ns;
	return r;
}

static inline struct trace_ring *ring_known(struct trace *t)
{
	if (t->lockstep)
		return ring_of_turn(t);
	if (mine.trace == t && mine.start_ns == t->start_ns)
		return mine.ring;
	return NULL;
}

static inline struct trace_ring *ring_mine(struct trace *t)
{
	struct trace_ring *r = ring_known(t);

	return r ? r : ring_find(t);
}

static void ring_flush(struct trace *t, struct trace_ring *r, uint64_t head)
{
	if (t->lockstep) {
		order_stream(t->order, t->ring, rings_used(t), t->lockstep->time_ns, t->out);
		return;
	}
	atomic_fetch_add(&t->lost, spill_ring(&t->spill, r));
	r->flushed = head;
}

/* What this thread recorded last: of any unit, and of software. */
static _Thread_local struct trace_last last;

static const bool of_software[EV_COUNT] = {
#define EVENT(name, unit, a0, a1, a2, a3, text) \
	[EV_##name] = UNIT_##unit <= UNIT_KERNEL,
#include "events.def"
};

uint64_t trace_last(void)
{
	return last.any;
}

uint64_t trace_last_software(void)
{
	return last.software;
}

struct trace_last trace_last_save(void)
{
	return last;
}

void trace_last_restore(struct trace_last saved)
{
	last = saved;
}

/* Of the last of so many records more. One writer: as for the counts. */
static uint64_t ring_number(struct trace_ring *r, uint32_t more)
{
	uint64_t n = atomic_load_explicit(&r->records, memory_order_relaxed);

	atomic_store_explicit(&r->records, n + more, memory_order_relaxed);
	return n + more;
}

static inline void count_more(struct trace_ring *r, enum trace_event ev)
{
	/* One writer: a plain add would do, but others read while it runs. */
	uint64_t n = atomic_load_explicit(&r->count[ev], memory_order_relaxed);

	atomic_store_explicit(&r->count[ev], n + 1, memory_order_relaxed);
}

/* No ring yet, none at all, or one that is full. */
static __attribute__((noinline)) uint64_t
emit_slow(struct trace *t, enum trace_event ev, const struct trace_at *at,
	  uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct trace_ring *r = ring_mine(t);
	uint64_t head;

	if (!r) {
		atomic_fetch_add(&t->homeless[ev], 1);
		atomic_fetch_add(&t->lost, 1);
		return 0;
	}
	head = atomic_load_explicit(&r->head, memory_order_relaxed);
	if (t->spills && head - r->flushed > r->mask)
		ring_flush(t, r, head);
	return trace_emit(t, ev, at, a0, a1, a2, a3);
}

uint64_t trace_emit(struct trace *t, enum trace_event ev,
		    const struct trace_at *at, uint64_t a0, uint64_t a1,
		    uint64_t a2, uint64_t a3)
{
	struct trace_record *rec;
	struct trace_ring *r;
	uint64_t head;

	if (!t)
		return 0;
	assert((unsigned int)ev < EV_COUNT);
	r = ring_known(t);
	if (__builtin_expect(!r, 0))
		return emit_slow(t, ev, at, a0, a1, a2, a3);
	head = atomic_load_explicit(&r->head, memory_order_relaxed);
	if (__builtin_expect(t->spills && head - r->flushed > r->mask, 0))
		return emit_slow(t, ev, at, a0, a1, a2, a3);
	count_more(r, ev);
	if (!atomic_load_explicit(&t->on, memory_order_relaxed))
		return 0;
	rec = &r->record[head & r->mask];
	rec->seq = r->base | ring_number(r, 1);
	rec->cause = at->cause;
	rec->time_ns = r->time_ns;
	rec->wall_ns = r->wall_ns;
	rec->event = (uint16_t)ev;
	rec->board = at->board;
	rec->pad = 0;
	rec->xfer = at->xfer;
	rec->block = at->block;
	rec->attempt = at->attempt;
	rec->arg[0] = a0;
	rec->arg[1] = a1;
	rec->arg[2] = a2;
	rec->arg[3] = a3;
	/* Pairs with the acquire in ring_find() and in merge_begin(). */
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	last.any = rec->seq;
	if (of_software[ev])
		last.software = last.any;
	return last.any;
}

/* Places of a ring, one after the other, where the spill will not cut them apart. */
static inline uint64_t ring_places(struct trace *t, struct trace_ring *r, uint32_t n)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (!t->spills || head - r->flushed + n <= (uint64_t)r->mask + 1)
		return head;
	for (; head - r->flushed <= r->mask; head++)
		r->record[head & r->mask].seq = 0;
	ring_flush(t, r, head);
	return head;
}

static inline __attribute__((always_inline)) uint64_t
packed_put(struct trace *t, struct trace_ring *r, struct trace_write *w,
	   const struct packed_sum *sum)
{
	uint32_t places = packed_places(sum->words), records = packed_records(sum);
	struct trace_moved *h;
	uint64_t head;

	/* A ring that is shorter than one entry is no ring for this. */
	if (places > r->mask + 1) {
		atomic_fetch_add(&t->lost, records);
		return 0;
	}
	head = ring_places(t, r, places);
	w->last = r->base | ring_number(r, records);
	w->first = w->last - records + 1;
	h = packed_make(w, sum->words, r->record, r->mask, head);
	h->seq = w->first;
	h->wall_ns = r->wall_ns;
	/* Release: as in trace_emit(). */
	atomic_store_explicit(&r->head, head + places, memory_order_release);
	last.any = w->last;
	/* The last block is DONE, and then its context is free again. */
	return w->last - w->ends - 1;
}

/*
 * Twice: where nothing was walked to, all sums stay in registers. The fields of w were stored just
 * now, and a copy of several at once would wait for that.
 */
static inline __attribute__((always_inline)) uint64_t
emit_write(struct trace *t, struct trace_write *w, bool walks)
{
	struct packed_sum sum;
	struct trace_ring *r;

	w->first = w->last = 0;
	if (!t)
		return 0;
	packed_sum(w, walks, &sum);
	assert(!t->lockstep && w->pages[0] <= TRACE_WRITE_PAGES &&
	       w->pages[1] <= TRACE_WRITE_PAGES);
	r = ring_mine(t);
	if (!r) {
		packed_add(&t->homeless_sums, &sum);
		atomic_fetch_add(&t->lost, 1);
		return 0;
	}
	packed_add(&r->sums, &sum);
	return atomic_load_explicit(&t->on, memory_order_relaxed) ?
	       packed_put(t, r, w, &sum) : 0;
}

uint64_t trace_emit_write(struct trace *t, struct trace_write *w)
{
	return w->walks ? emit_write(t, w, true) : emit_write(t, w, false);
}

/* In lockstep, where each has a time. */
static uint64_t emit_posted_each(struct trace *t, const struct trace_posted *p)
{
	struct trace_at at = { .board = p->board, .xfer = p->took_xfer, .cause = p->end };

	if (p->took)
		trace_emit(t, EV_LIB_COMPLETE, &at, p->took_qp, p->took_status, p->took_bytes, 0);
	at.xfer = p->xfer;
	at.cause = 0;
	at.cause = trace_emit(t, EV_LIB_POST, &at, p->qp, p->op, p->va, p->len);
	return trace_emit(t, EV_LIB_DOORBELL, &at, p->qp, p->index, 0, 0);
}

uint64_t trace_emit_posted(struct trace *t, const struct trace_posted *p)
{
	struct trace_posted *e;
	struct trace_ring *r;
	uint64_t head;

	if (!t)
		return 0;
	if (t->lockstep)
		return emit_posted_each(t, p);
	r = ring_mine(t);
	if (!r) {
		atomic_fetch_add(&t->homeless[EV_LIB_COMPLETE], p->took);
		atomic_fetch_add(&t->homeless[EV_LIB_POST], 1);
		atomic_fetch_add(&t->homeless[EV_LIB_DOORBELL], 1);
		atomic_fetch_add(&t->lost, posted_records(p));
		return 0;
	}
	if (p->took)
		count_more(r, EV_LIB_COMPLETE);
	count_more(r, EV_LIB_POST);
	count_more(r, EV_LIB_DOORBELL);
	if (!atomic_load_explicit(&t->on, memory_order_relaxed))
		return 0;
	head = ring_places(t, r, 1);
	e = (void *)&r->record[head & r->mask];
	posted_make(e, p);
	e->wall_ns = r->wall_ns;
	last.any = last.software = r->base | ring_number(r, posted_records(p));
	e->seq = last.any - posted_records(p) + 1;
	/* Release: as in trace_emit(). */
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	return last.any;
}

void trace_follow(struct trace *t, const struct trace_turn *turn)
{
	if (!t || !t->lockstep)
		return;
	t->last_turn = *t->lockstep;
	t->lockstep = turn ? turn : &t->last_turn;
}

void trace_tick_at(struct trace *t, uint64_t monotonic_ns)
{
	struct trace_ring *r = t && !t->lockstep ? ring_mine(t) : NULL;

	if (r)
		r->wall_ns = monotonic_ns - t->start_ns;
}

void trace_tick(struct trace *t)
{
	trace_tick_at(t, os_now_ns());
}

uint64_t trace_count(const struct trace *t, enum trace_event ev)
{
	uint64_t sum;
	uint32_t i;

	assert((unsigned int)ev < EV_COUNT);
	if (!t)
		return 0;
	sum = atomic_load_explicit(&t->homeless[ev], memory_order_relaxed) +
	      packed_count(&t->homeless_sums, ev);
	for (i = 0; i < rings_used(t); i++)
		sum += atomic_load_explicit(&t->ring[i].count[ev],
					    memory_order_relaxed) +
		       packed_count(&t->ring[i].sums, ev);
	return sum;
}

void trace_enable(struct trace *t, bool on)
{
	if (t)
		atomic_store_explicit(&t->on, on, memory_order_relaxed);
}

uint32_t trace_snapshot(const struct trace *t, struct trace_record *out,
			uint32_t n)
{
	const struct trace_record *rec;
	struct trace_merge m;
	uint64_t skip;
	uint32_t got = 0;

	if (!t)
		return 0;
	if (t->lockstep)
		return order_snapshot(t->ring, rings_used(t), out, n);
	merge_begin(&m, t->ring, rings_used(t), NULL, 0);
	skip = m.left > n ? m.left - n : 0;
	while ((rec = merge_next(&m)) != NULL) {
		if (skip)
			skip--;
		else if (got < n)
			out[got++] = *rec;
	}
	merge_end(&m);
	return got;
}

/*
 * For the test runner: which events did this process emit? One write with
 * O_APPEND, so that lines of processes that end together do not mix.
 */
static void append_counts(const struct trace *t)
{
	const char *path = getenv("FAULTLINE_EVENT_COUNTS");
	size_t room = EV_COUNT * 64, len = 0;
	uint64_t n;
	char *text;
	int ev, fd;

	if (!path || !*path)
		return;
	text = malloc(room);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	for (ev = 0; text && ev < EV_COUNT; ev++) {
		n = trace_count(t, (enum trace_event)ev);
		if (!n)
			continue;
		len += (size_t)snprintf(text + len, room - len, "%s %llu\n",
					trace_events[ev].name,
					(unsigned long long)n);
		assert(len < room);
	}
	if (fd < 0 || !text || write(fd, text, len) != (ssize_t)len)
		fprintf(stderr, "cannot append event counts to %s\n", path);
	free(text);
	if (fd >= 0)
		close(fd);
}

void trace_destroy(struct trace *t)
{
	uint64_t lost;

	if (!t)
		return;
	if (t->order) {
		order_stream(t->order, t->ring, rings_used(t), UINT64_MAX, t->out);
		atomic_fetch_add(&t->lost, t->order->unknown);
	} else if (t->out) {
		atomic_fetch_add(&t->lost,
				 spill_write(&t->spill, t->ring, rings_used(t), t->out));
	}
	lost = atomic_load(&t->lost);
	if (t->out && lost)
		fprintf(t->out, "#lost %llu\n", (unsigned long long)lost);
	if (t->out)
		fflush(t->out);
	append_counts(t);
	trace_free(t);
}
