// SPDX-License-Identifier: BSD-2-Clause
/*
 * System pincache on whole boards: requests at random, each registered at both ends and
 * given back, while memory that no request uses is replaced. The testbed's oracle knows
 * all bytes. At each step the cache keeps its bound, and the driver has pinned just what
 * the cache says; with a hook the card never meets a frame that its process has lost.
 *
 * variants: tsan
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/system_rows.h"
#include "harness.h"
#include "host/host.h"
#include "sim/rng.h"
#include "tools/scenario/testbed.h"
#include "trace/trace.h"

#define STEPS		100
#define UNDER_WAY	4
#define BUFFERS		3	/* of a process */
#define PAGES		8u	/* of a buffer */
#define BYTES		(PAGES * HOST_PAGE)
#define MOST		(5u * HOST_PAGE)	/* of a request */
#define BOUND		(12u * HOST_PAGE)
#define WAIT_NS		20000000000ull

struct stage {
	struct testbed *w;
	struct rng rng;
	struct rpc_cache cache;
	struct testbed_process *process[2];
	struct testbed_buffer *buffer[2][BUFFERS];
	struct testbed_connection *conn;
	struct testbed_work work[STEPS];
	unsigned int posted, done;
	bool over;			/* the queue pair has failed */
	uint64_t hits, misses, evictions, dropped, orphans, replaced, refused;
	int error;
	char why[200];
};

static void stage_good(struct stage *s, int err, const char *what)
{
	if (!err || s->error)
		return;
	s->error = err;
	snprintf(s->why, sizeof(s->why), "%s: %d %s", what, err,
		 testbed_why(s->w));
}

static void stage_build(struct stage *s)
{
	static const char *const names[2][BUFFERS] = { { "p0", "p1", "p2" },
						       { "q0", "q1", "q2" } };
	struct testbed_system system = testbed_row(FL_SYSTEM_PINCACHE);
	const struct testbed_joining join = { .depth = 16 };
	const struct testbed_board_config cfg = { 0 };
	struct testbed_board *b[2];
	int i, k;

	system.cache = s->cache;
	for (i = 0; i < 2; i++)
		stage_good(s, testbed_board_add(s->w, i ? "b" : "a", &cfg, &b[i]),
			   "board");
	if (!s->error)
		stage_good(s, testbed_link_add(s->w, b[0], b[1]), "link");
	for (i = 0; i < 2 && !s->error; i++)
		stage_good(s, testbed_process_add_as(s->w, i ? "q" : "p", b[i],
						     &system, FL_RESOLVE_BLOCK,
						     &s->process[i]), "process");
	for (i = 0; i < 2; i++)
		for (k = 0; k < BUFFERS && !s->error; k++) {
			stage_good(s, testbed_buffer_add(s->process[i], names[i][k],
							 BYTES, NULL,
							 &s->buffer[i][k]), "buffer");
			stage_good(s, testbed_buffer_fill(s->buffer[i][k],
							  TESTBED_RANDOM,
							  1 + (uint64_t)k), "fill");
		}
	if (!s->error)
		stage_good(s, testbed_connect(s->process[0], s->process[1], "c",
					      &join, &s->conn), "connect");
}

static uint64_t stage_place(struct stage *s, const struct testbed_buffer *b,
			    uint32_t bytes)
{
	uint64_t room = (BYTES - bytes) / HOST_PAGE;

	/* Often the same places, so that something is found. */
	if (rng_below(&s->rng, 4))
		return (uintptr_t)b->mem + rng_below(&s->rng, room + 1) * HOST_PAGE;
	return (uintptr_t)b->mem + rng_below(&s->rng, BYTES - bytes + 1);
}

static void stage_wait(struct stage *s)
{
	struct testbed_work *k = &s->work[s->done++];

	stage_good(s, testbed_wait(s->w, k, WAIT_NS, TESTBED_BOTH), "wait");
	/*
	 * Without a hook the entry of a page may change over to another frame while a
	 * request uses it by the key of a region that has the lost one.
	 */
	s->over = k->status && s->cache.hook == RPC_HOOK_NO;
	if (!s->error && k->status && !s->over)
		stage_good(s, -EPROTO, fl_status_string(k->status));
}

static void stage_post(struct stage *s)
{
	int side = (int)rng_below(&s->rng, 2), err;
	struct testbed_work *k = &s->work[s->posted];
	struct testbed_buffer *l = s->buffer[side][rng_below(&s->rng, BUFFERS)];
	struct testbed_buffer *r = s->buffer[!side][rng_below(&s->rng, BUFFERS)];

	*k = (struct testbed_work){ .name = "w", .conn = s->conn, .side = side,
				    .local = l, .remote = r };
	k->opcode = rng_below(&s->rng, 3) ? FL_WRITE : FL_READ;
	k->bytes = rng_below(&s->rng, 3) ? 2 * HOST_PAGE :
		   1 + (uint32_t)rng_below(&s->rng, MOST);
	k->local_va = stage_place(s, l, k->bytes);
	k->remote_va = stage_place(s, r, k->bytes);
	err = testbed_post_leased(s->w, k);
	if (!err)
		s->posted++;
	/* What is under way may fill the bound, and nothing else may. */
	if (err == -EDQUOT && s->posted > s->done)
		s->refused++;
	else
		stage_good(s, err, "post");
}

/* Other memory at the same place, of what no request uses. */
static void stage_replace(struct stage *s)
{
	struct testbed_buffer *b = s->buffer[rng_below(&s->rng, 2)]
					    [rng_below(&s->rng, BUFFERS)];
	uint64_t page = rng_below(&s->rng, PAGES);
	uint64_t len = (1 + rng_below(&s->rng, PAGES - page)) * HOST_PAGE;

	if (b->leases)
		return;
	s->replaced++;
	if (rng_below(&s->rng, 2))
		stage_good(s, testbed_buffer_remap(b, page * HOST_PAGE, len),
			   "remap");
	else
		stage_good(s, testbed_buffer_advise(b, page * HOST_PAGE, len,
						    FL_DONTNEED), "forget");
	stage_good(s, testbed_buffer_store(b, page * HOST_PAGE, len,
					   1 + s->replaced), "store");
}

static void stage_look(struct stage *s)
{
	struct fl_fault_counters c;
	struct fl_cache_counters k;
	int i;

	for (i = 0; i < 2 && !s->error; i++) {
		stage_good(s, testbed_cache(s->process[i], &k), "cache");
		stage_good(s, testbed_counters(s->process[i], &c), "counters");
		if (k.bytes > BOUND || k.most_bytes > BOUND)
			stage_good(s, -EOVERFLOW, "the bound");
		if (c.pinned_pages * HOST_PAGE != k.bytes)
			stage_good(s, -EPROTO, "the driver has pinned something else");
		if (c.faults && s->cache.hook == RPC_HOOK_YES)
			stage_good(s, -EFAULT, "a fault");
	}
}

static void stage_script(struct testbed *w, void *arg)
{
	struct fl_cache_counters k;
	struct stage *s = arg;
	unsigned int i;

	s->w = w;
	stage_build(s);
	for (i = 0; i < STEPS && !s->error && !s->over; i++) {
		if (!rng_below(&s->rng, 5))
			stage_replace(s);
		else if (s->posted - s->done < UNDER_WAY && rng_below(&s->rng, 3))
			stage_post(s);
		else if (s->posted > s->done)
			stage_wait(s);
		stage_look(s);
	}
	while (s->posted > s->done && !s->error && !s->over)
		stage_wait(s);
	for (i = 0; i < 2 && !s->error; i++) {
		stage_good(s, testbed_cache(s->process[i], &k), "cache");
		s->hits += k.hits;
		s->misses += k.misses;
		s->evictions += k.evictions;
		s->dropped += k.dropped;
	}
	s->orphans = trace_count(testbed_trace(w), EV_ORPHAN_ACCESS);
	if (testbed_cfg(w)->processes || s->error)
		return;
	if (trace_count(testbed_trace(w), EV_LIB_CACHE_HIT) != s->hits ||
	    trace_count(testbed_trace(w), EV_LIB_CACHE_MISS) != s->misses ||
	    trace_count(testbed_trace(w), EV_LIB_CACHE_EVICT) !=
	    s->evictions + s->dropped)
		stage_good(s, -EPROTO, "the trace says something else");
}

static void stage_run(uint64_t seed, enum sim_mode mode, bool processes,
		      uint32_t hook, struct stage *total)
{
	const struct testbed_config cfg = { .mode = mode, .processes = processes,
					    .seed = seed };
	static struct stage s;
	char error[300], problem[400] = "";
	struct testbed *w;
	int err;

	memset(&s, 0, sizeof(s));
	s.cache = (struct rpc_cache){ BOUND, hook };
	rng_init(&s.rng, seed, "pincache");
	w = testbed_create(&cfg, error, sizeof(error));
	EXPECT(w);
	err = testbed_run(w, stage_script, &s);
	if (testbed_problem(w))
		snprintf(problem, sizeof(problem), "%s", testbed_problem(w));
	testbed_destroy(w);
	test_expect(!s.error, __FILE__, __LINE__, "seed %llu: %s",
		    (unsigned long long)seed, s.why);
	test_expect(!err && !problem[0], __FILE__, __LINE__, "seed %llu: %s",
		    (unsigned long long)seed, problem);
	total->hits += s.hits;
	total->evictions += s.evictions;
	total->dropped += s.dropped;
	total->orphans += s.orphans;
	total->replaced += s.replaced;
	total->refused += s.refused;
}

static void stage_seeds(unsigned int seeds, enum sim_mode mode, bool processes)
{
	struct stage *total = calloc(1, sizeof(*total));
	struct stage t;
	unsigned int i;

	EXPECT(total);
	for (i = 0; i < seeds; i++)
		stage_run(test_seed() + i, mode, processes, RPC_HOOK_YES, total);
	t = *total;
	free(total);
	EXPECT_EQ(t.orphans, 0);
	EXPECT_GE(t.hits, seeds);
	EXPECT_GE(t.evictions, seeds);
	EXPECT_GE(t.dropped, seeds);
	EXPECT_GE(t.refused, 1);
}

TEST("a cache that hears of unmapping never leads the card to lost memory")
{
	stage_seeds(test_rounds(25), SIM_LOCKSTEP, false);
}

TEST("nor does it with threads")
{
	stage_seeds(4, SIM_THREADS, false);
}

TEST("nor does it in processes")
{
	stage_seeds(4, SIM_THREADS, true);
}

/* One seed in ten shows it. */
TEST("one that does not hear of it does, with the same steps")
{
	struct stage *total = calloc(1, sizeof(*total));
	uint64_t orphans, dropped;
	unsigned int i;

	EXPECT(total);
	for (i = 0; i < 400 && !total->orphans; i++)
		stage_run(test_seed() + i, SIM_LOCKSTEP, false, RPC_HOOK_NO, total);
	orphans = total->orphans;
	dropped = total->dropped;
	free(total);
	EXPECT_GE(orphans, 1);
	EXPECT_EQ(dropped, 0);
}
