// SPDX-License-Identifier: BSD-2-Clause
/*
 * Swarm of attached processes: the library's and the boards' side of lib/attach and
 * emu/serve in one program and in lockstep (rig/attach_stage.h), so that each seed is
 * another order of their steps, and the same seed always the same. Parties write from one
 * of their two attachments to the other and read back (rig/attach_party.h), through boards
 * that are short of memory. They stop for a while, lose a connection in the middle of a
 * call, or the boards end without a word.
 *
 * What must hold: nobody stands still; whoever has lost nothing gets no error, and its
 * bytes are those of the arrays; when all have gone, the boards hold nothing; and the same
 * seed gives the same trace.
 *
 *	SWARM_SEEDS=500 build/plain/tests/test_attach_swarm --seed 1 keep
 */
#include "rig/attach_party.h"
#include "rig/swarm_seed.h"

#include "serve/serve.h"
#include "tools/scenario/testbed.h"

#define SEEDS		12
#define SEEDS_TWICE	2
#define PATIENCE_MS	10
/* Shorter than that nobody is cut off for it: CLOSE_WAIT_NS and the patience. */
#define SHORT_STOP_NS	8000000ull
#define LONG_STOP_NS	100000000ull
#define TESTBED_NS	10000000000ull
#define NAP_NS		100000ull

/* ---- one testbed ---- */

static void make_plan(struct swarm *s)
{
	unsigned int trouble = (unsigned int)rng_below(&s->rng, 8), i;
	struct pair *p;
	uint64_t turns;

	s->pairs = 1 + (unsigned int)rng_below(&s->rng, PAIRS);
	for (i = 0; i < s->pairs; i++) {
		p = &s->pair[i];
		p->swarm = s;
		p->doing = "nothing yet";
		p->party.cut_fd = -1;
		p->party.slow = stage_slow();
		snprintf(p->party.name, sizeof(p->party.name), "pair %u", i);
		rng_init(&p->rng, s->seed, p->party.name);
		p->ops = 5 + (unsigned int)rng_below(&s->rng, 25);
	}
	p = &s->pair[rng_below(&s->rng, s->pairs)];
	stage.aimed = rng_below(&s->rng, 2);
	turns = 1 + rng_below(&s->rng, stage.aimed ? 100 : 3000);
	if (trouble <= 1)
		stage.die_in = turns;
	else if (trouble <= 3)
		p->party.cut_in = turns;
	else if (trouble <= 5)
		p->party.stop_in = turns;
	p->long_stop = rng_below(&s->rng, 2);
	p->party.stop_ns = p->long_stop ? LONG_STOP_NS :
					  1 + rng_below(&s->rng, SHORT_STOP_NS);
}

static void open_listeners(struct swarm *s, struct serve *serve)
{
	struct testbed_board_config bc = {
		/* A buffer has 16 pages; those that move stay for a while. */
		.frames = 22 + 18 * (s->pairs - 1) +
			  rng_below(&s->rng, 40 * s->pairs),
		.swap_pages = 4096,
	};
	struct testbed_board *b[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		EXPECT_EQ(testbed_board_add(s->w, i ? "b" : "a", &bc, &b[i]), 0);
		if (i)
			EXPECT_EQ(testbed_link_add(s->w, b[0], b[1]), 0);
		EXPECT_EQ(serve_open(serve, b[i]->kernel, s->listener[i]), 0);
	}
}

static void stands_still(struct swarm *s)
{
	unsigned int i;

	for (i = 0; i < s->pairs; i++)
		if (!s->pair[i].ended)
			printf("# %s stands still in: %s\n",
			       s->pair[i].party.name, s->pair[i].doing);
	fflush(stdout);
	abort();
}

static void await_pairs(struct swarm *s)
{
	uint64_t end_ns = stage_now_ns() + TESTBED_NS;
	unsigned int i;

	for (i = 0; i < s->pairs; i++) {
		while (!s->pair[i].ended && stage_now_ns() < end_ns)
			sim_sleep(NAP_NS);
		if (!s->pair[i].ended)
			stands_still(s);
		sim_thread_join(s->pair[i].thread);
	}
}

static void attach_swarm_script(struct testbed *w, void *swarm)
{
	struct swarm *s = swarm;
	struct serve_config cfg = { .sim = testbed_sim(w),
				    .patience_ms = PATIENCE_MS };
	struct serve *serve;
	unsigned int i;
	int err;

	s->w = w;
	stage_locals(cfg.sim);
	serve = serve_create(&cfg, &err);
	EXPECT(serve);
	open_listeners(s, serve);
	for (i = 0; i < s->pairs; i++)
		s->pair[i].thread = sim_thread_start(cfg.sim,
						     s->pair[i].party.name, false,
						     pair_main, &s->pair[i]);
	await_pairs(s);
	/* They have ended for the parties; here they are to end in order. */
	stage.boards_dead = false;
	stage.die_in = 0;
	serve_close(serve);
	serve_destroy(serve);
}

static void attach_swarm_prepare(struct swarm *s)
{
	char bytes[BYTES];
	unsigned int i;
	FILE *f;

	test_path(s->listener[0], sizeof(s->listener[0]), "a.sock");
	test_path(s->listener[1], sizeof(s->listener[1]), "b.sock");
	test_path(s->file, sizeof(s->file), "file");
	memset(bytes, 0x5a, sizeof(bytes));
	f = fopen(s->file, "w");
	EXPECT(f && fwrite(bytes, 1, BYTES, f) == BYTES && !fclose(f));
	for (i = 0; i < 2 * s->pairs; i++) {
		s->pair[i / 2].side[i % 2].shadow = calloc(1, BYTES);
		EXPECT(s->pair[i / 2].side[i % 2].shadow);
	}
}

static void run_seed(uint64_t seed, struct digest *d, struct swarm *total)
{
	struct swarm *s = calloc(1, sizeof(*s));
	struct testbed_config cfg = { .mode = SIM_LOCKSTEP, .seed = seed,
				    .trace_records = 1u << 14 };
	char error[200] = "", said[300];
	unsigned int i;
	int err;

	EXPECT(s);
	s->seed = seed;
	rng_init(&s->rng, seed, "plan");
	stage_begin(seed);
	make_plan(s);
	attach_swarm_prepare(s);
	cfg.jitter_ns = (uint32_t)rng_below(&s->rng, 3000);
	cfg.trace = digest_file(d);
	seed_begin(seed, SIM_LOCKSTEP, "");
	s->w = testbed_create(&cfg, error, sizeof(error));
	test_expect(s->w, __FILE__, __LINE__, "a testbed: %s", error);
	err = testbed_run(s->w, attach_swarm_script, s);
	snprintf(said, sizeof(said), "%s", s->problem[0] ? s->problem :
		 err && testbed_problem(s->w) ? testbed_problem(s->w) : "");
	testbed_destroy(s->w);
	seed_end(SIM_LOCKSTEP);
	if (cfg.trace)
		fclose(cfg.trace);
	if (getenv("SWARM_VERBOSE"))
		printf("# seed %llu: %u pairs, %u compared, %u errors, %llu turns\n",
		       (unsigned long long)seed, s->pairs, s->compared, s->errors,
		       (unsigned long long)stage.turns);
	if (total)
		total->compared += s->compared;
	for (i = 0; i < 2 * s->pairs; i++)
		free(s->pair[i / 2].side[i % 2].shadow);
	free(s);
	STEP("repeat with --seed %llu", (unsigned long long)seed);
	test_expect(!said[0], __FILE__, __LINE__, "seed %llu: %s",
		    (unsigned long long)seed, said);
}

TEST("attached pairs keep every byte, whoever stops, is cut off, or ends")
{
	struct swarm total = { 0 };
	unsigned int i, n = seed_count(SEEDS);

	for (i = 0; i < n; i++)
		run_seed(test_seed() + i, NULL, &total);
	if (n > 4)
		EXPECT_GE(total.compared, 2 * n);
}

static void run_traced(uint64_t seed, struct digest *d)
{
	run_seed(seed, d, NULL);
}

TEST("a testbed with attached pairs gives the same trace twice for the same seed")
{
	seeds_twice(SEEDS_TWICE, run_traced);
}
