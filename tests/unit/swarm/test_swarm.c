// SPDX-License-Identifier: BSD-2-Clause
/*
 * Swarm test: from a seed a whole testbed (boards, links, processes, threads,
 * connections, sizes, memory that is tight or not, a wire that loses, damages,
 * doubles and delays), and a random load on it, judged by the oracle. Each
 * seed turns whole kinds of trouble off and others far up.
 *
 * What must hold: each request completes once and in order; after success every
 * byte is in place, and no byte changes that nobody may change; what fails has a
 * reason; when all is done everything comes to rest; the invariants of the testbed
 * after each event; and the same seed gives the same trace.
 *
 * variants: tsan
 *
 * A failing seed says how to repeat it. For a long run, in this directory's
 * parent's parent, with as many seeds as wanted:
 *
 *	SWARM_SEEDS=5000 build/plain/tests/test_swarm --seed 1 lockstep
 *	SWARM_SEEDS=300 build/tsan/tests/test_swarm --seed 1 threads
 *
 * SWARM_TRACE=FILE writes the trace of the last testbed as text.
 */
#include <signal.h>
#include <unistd.h>

#include "fabric/fabric.h"
#include "faultline/system_rows.h"
#include "rig/plan_nonsense.h"
#include "rig/swarm_plan.h"
#include "rig/swarm_seed.h"
#include "rig/swarm_work.h"

/* Under a thread sanitizer it is the testbeds in threads that are of interest. */
#ifdef __SANITIZE_THREAD__
#define SEEDS_LOCKSTEP	1
#define SEEDS_THREADS	4
#define SEEDS_SOME	2
#define SEEDS_TWICE	1
#elif defined __SANITIZE_ADDRESS__
#define SEEDS_LOCKSTEP	6
#define SEEDS_THREADS	4
#define SEEDS_SOME	4
#define SEEDS_TWICE	1
#else
#define SEEDS_LOCKSTEP	24
#define SEEDS_THREADS	8
#define SEEDS_SOME	8
#define SEEDS_TWICE	3
#endif
#define REST_NS		10000000000ull
#define GRAVES		65536

/* ---- building ---- */

static void make_slots(struct swarm *s, struct side *d)
{
	unsigned int i, n = s->p.slots;
	uint32_t at, half;

	half = (n * s->p.slot_bytes + 64 + PAGE - 1) & ~(uint32_t)(PAGE - 1);
	d->bytes = 2ull * half;
	for (i = 0; i < n; i++) {
		at = i * s->p.slot_bytes + (uint32_t)rng_below(&s->rng, 8);
		d->mine[i].at = at;
		d->theirs[i].at = half + i * s->p.slot_bytes;
		d->mine[i].bytes = d->theirs[i].bytes = s->p.slot_bytes - 8;
	}
	d->area = oracle_area(s->oracle, d->proc->name, d->bytes);
	d->pair = oracle_pair(s->oracle, d->proc->name, swarm_order(s));
}

static void make_conn(struct swarm *s, struct proc *p, struct proc *q)
{
	struct conn *c = &s->conn[s->conns++];
	struct proc *both[2] = { p, q };
	unsigned int i;

	atomic_store(&c->epoch, 1);
	for (i = 0; i < 2; i++) {
		c->side[i].conn = c;
		c->side[i].i = i;
		c->side[i].proc = both[i];
		c->side[i].thread = (unsigned int)rng_below(&s->rng,
							    both[i]->threads);
		c->side[i].pinned = !s->p.frames && !rng_below(&s->rng, 4);
		make_slots(s, &c->side[i]);
	}
}

/* Any that does not contradict itself. */
static void draw_row(struct swarm *s, struct fl_system_row *row)
{
	unsigned char *cell = (unsigned char *)row;
	unsigned int c;

	do {
		for (c = 0; c < FL_COLUMNS; c++)
			cell[c] = (unsigned char)rng_below(&s->rng,
						fl_system_rules.values[c]);
		/* Both ends have these, or none: DRAW_SINKS. */
	} while (row->tables == FL_TABLES_SINK ||
		 row->transport != FL_TRANSPORT_BLOCK ||
		 fl_row_judge(cell, &fl_system_rules).wrong != FL_ROW_RIGHT);
}

static struct proc *make_proc(struct swarm *s, bool guest)
{
	static const enum fl_system tables[] = {
		FL_SYSTEM_PART, FL_SYSTEM_STALL, FL_SYSTEM_INSERTED, FL_SYSTEM_PULP,
	};
	static const enum fl_system packets[] = {
		FL_SYSTEM_NPF, FL_SYSTEM_ODP2, FL_SYSTEM_RXE, FL_SYSTEM_DROPRC,
	};
	struct proc *p = &s->proc[s->procs];
	unsigned int i;
	char stream[32];

	p->s = s;
	snprintf(p->name, sizeof(p->name), "%c%u", guest ? 'g' : 'p',
		 s->procs++);
	p->board = s->board[rng_below(&s->rng, s->p.boards)];
	/* As below: only then another draw. */
	if (s->p.draw == DRAW_ABORTS && rng_below(&s->rng, 3))
		p->system = FL_SYSTEM_ABORT;
	else
		p->system = rng_below(&s->rng, 4) ? FL_SYSTEM_PART :
						    FL_SYSTEM_STALL;
	if (s->p.draw == DRAW_TABLES)
		p->system = tables[rng_below(&s->rng, 4)];
	if (s->p.draw == DRAW_SINKS)
		p->system = FL_SYSTEM_NPR;
	/* By the clock each page that droprc drops is a fifth of a second. */
	if (in_packets(s))
		p->system = packets[rng_below(&s->rng,
					      s->p.mode == SIM_LOCKSTEP ? 4 : 3)];
	if (s->p.draw == DRAW_ROWS)
		draw_row(s, &p->row);
	else
		p->row = fl_system_rows[p->system];
	s->p.stalls |= p->row.rw == FL_VERDICT_HOLD;
	s->p.silent |= p->row.rr == FL_VERDICT_DROP ||
		       p->row.rw == FL_VERDICT_DROP;
	s->p.aborts |= p->row.ir == FL_VERDICT_ABORT ||
		       p->row.rr == FL_VERDICT_ABORT ||
		       p->row.rw == FL_VERDICT_ABORT;
	/* Without a draw: the rest of the testbed is that of the seed. */
	if (p->system == FL_SYSTEM_PART && s->p.draw == DRAW_SNOOPS && s->procs % 3)
		p->system = FL_SYSTEM_IOGUARD;
	/* Without other plans a seed is what it was before these (tests/data/seeds). */
	p->resolve = (enum fl_resolve)rng_below(&s->rng, s->p.draw == DRAW_PLANS ?
						FL_RESOLVE_OWN + 1 : 3);
	if (p->resolve == FL_RESOLVE_AROUND)
		p->resolve_number = 1 + (uint32_t)rng_below(&s->rng, 256);
	p->threads = guest ? 1 : 1 + (unsigned int)rng_below(&s->rng,
							     THREADS_MAX);
	p->guest = guest;
	if (!guest)
		s->crew += p->threads;
	for (i = 0; i < p->threads; i++) {
		p->thread[i].proc = p;
		p->thread[i].i = i;
		p->thread[i].ops = s->p.ops;
		snprintf(stream, sizeof(stream), "%s/%u", p->name, i);
		rng_init(&p->thread[i].rng, s->p.seed, stream);
	}
	return p;
}

static void build_boards(struct swarm *s)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	struct testbed_board_config bc = {
		.frames = s->p.frames, .contexts = s->p.contexts,
		.rx_contexts = s->p.rx_contexts,
		.block_bytes = s->p.block_bytes,
		.tlb_entries = s->p.tlb_entries,
		/* Walks are many where the TLB is small. */
		.walk_cache_entries = s->p.tlb_entries < 32 ? 16 : 0,
	};
	unsigned int i, to;

	for (i = 0; i < s->p.boards; i++) {
		EXPECT_EQ(testbed_board_add(s->w, names[i], &bc, &s->board[i]),
			  0);
		/* A tree, and now and then a link more. */
		for (to = 0; to < i; to++)
			if (to == i - 1 || !rng_below(&s->rng, 3))
				EXPECT_EQ(testbed_link_add(s->w, s->board[to],
							   s->board[i]), 0);
	}
}

static void swarm_build(struct swarm *s)
{
	unsigned int i, procs = s->p.procs, n;

	build_boards(s);
	for (i = 0; i < procs; i++)
		make_proc(s, false);
	for (i = 0; i < s->p.conns; i++) {
		n = (unsigned int)rng_below(&s->rng, procs);
		make_conn(s, &s->proc[n], &s->proc[rng_below(&s->rng, procs)]);
	}
	for (i = 0; i < s->p.guests; i++) {
		make_proc(s, true);
		make_conn(s, &s->proc[procs + i], &s->proc[procs + i]);
	}
}

/* ---- running ---- */

static void swarm_start(struct swarm *s, struct proc *p)
{
	unsigned int i;
	char name[32];
	int err;

	p->host = host_process_create(p->board->kernel, p->name, &err);
	if (!p->host) {
		swarm_problem(s, "no process %s: %d", p->name, err);
		return;
	}
	p->mm = host_process_mm(p->host);
	mm_get(p->mm);
	atomic_fetch_add(&s->busy, p->threads);
	for (i = 0; i < p->threads; i++) {
		snprintf(name, sizeof(name), "%s/%u", p->name, i);
		p->thread[i].sim = host_thread_start(p->host, name,
						     thread_main,
						     &p->thread[i]);
	}
}

static bool swarm_over(const struct proc *p)
{
	unsigned int i;

	for (i = 0; i < p->threads; i++)
		if (!atomic_load(&p->thread[i].ended))
			return false;
	return true;
}

static void model_end(struct swarm *s, struct side *d)
{
	sim_spin_lock(&s->model);
	oracle_pair_end(s->oracle, d->pair);
	sim_spin_unlock(&s->model);
}

/* Its files close with all that was in flight. */
static void swarm_bury(struct swarm *s, struct proc *p)
{
	static void *grave[GRAVES] __attribute__((used));
	static unsigned int graves;
	unsigned int i;

	for (i = 0; i < p->threads; i++)
		sim_thread_join(p->thread[i].sim);
	atomic_store(&p->dying, true);
	host_process_exit(p->host);
	p->host = NULL;
	for (i = 0; i < 2 * s->conns; i++)
		if (s->conn[i / 2].side[i % 2].proc == p)
			model_end(s, &s->conn[i / 2].side[i % 2]);
	/* As memory of a process that died; not lost, so that no tool minds. */
	if (p->dev)
		grave[graves++ % GRAVES] = p->dev;
}

static void swarm_inject(struct swarm *s, bool on)
{
	const unsigned int *c = s->p.chaos;
	struct fabric_inject i = { 0 };
	unsigned int from = (unsigned int)rng_below(&s->rng, s->p.boards);

	if (on && rng_below(&s->rng, 3)) {
		i.loss_ppm = c[C_LOSS];
		i.duplicate_ppm = c[C_DUPLICATE];
		i.damage_ppm = c[C_DAMAGE];
		i.late_ppm = c[C_LATE];
		i.late_ns = 1 + rng_below(&s->rng, 300000);
	}
	if (on) {
		fabric_inject(testbed_fabric(s->w), (uint8_t)from, 0xff, &i);
		return;
	}
	for (from = 0; from < s->p.boards; from++)
		fabric_inject(testbed_fabric(s->w), (uint8_t)from, 0xff, &i);
}

static bool at_rest(struct swarm *s)
{
	bool idle = fabric_idle(testbed_fabric(s->w));
	unsigned int i;

	for (i = 0; i < s->p.boards; i++) {
		board_pump(s->board[i]->board);
		idle &= !board_busy(s->board[i]->board);
	}
	return idle;
}

static void come_to_rest(struct swarm *s)
{
	uint64_t end = now_ns(s) + REST_NS;
	unsigned int i;

	while (!at_rest(s) && !atomic_load(&s->bad)) {
		sim_sleep(NAP_NS);
		if (now_ns(s) < end)
			continue;
		for (i = 0; i < s->p.boards; i++)
			if (board_busy(s->board[i]->board))
				swarm_problem(s, "the %s of board %u never "
					      "rests",
					      board_busy(s->board[i]->board),
					      i);
		swarm_problem(s, "a packet is on the wire for ever");
	}
}

/* Nothing is under way: all bytes, also those that no request is for. */
static void look_at_all(struct swarm *s)
{
	struct side *d;
	unsigned int i;

	sim_spin_lock(&s->model);
	oracle_rest(s->oracle);
	sim_spin_unlock(&s->model);
	for (i = 0; i < 2 * s->conns; i++) {
		d = &s->conn[i / 2].side[i % 2];
		if (!d->proc->host || !d->mem || is_dying(d->proc))
			continue;
		if (!swarm_model_look(d, 0, d->bytes))
			atomic_fetch_add(&s->verified, 1);
		swarm_model_judge(d, "at the end");
	}
}

/* Processes that died are buried at once; guests come one after the other. */
static void look_after(struct swarm *s)
{
	struct proc *p, *guest = NULL;
	unsigned int i;

	for (i = 0; i < s->procs; i++) {
		p = &s->proc[i];
		if (p->host && (p->guest || is_dying(p)) && swarm_over(p))
			swarm_bury(s, p);
		else if (p->guest && !guest && !p->started)
			guest = p;
		else if (p->guest && p->host)
			return;
	}
	if (!guest || rng_below(&s->rng, 4))
		return;
	guest->started = true;
	swarm_start(s, guest);
}

static bool guests_left(struct swarm *s)
{
	unsigned int i;

	for (i = 0; i < s->procs; i++)
		if (s->proc[i].guest && !s->proc[i].started)
			return true;
	return false;
}

static void swarm_script(struct testbed *w, void *arg)
{
	struct swarm *s = arg;
	unsigned int i;

	s->w = w;
	swarm_build(s);
	for (i = 0; i < s->procs; i++)
		if (!s->proc[i].guest)
			swarm_start(s, &s->proc[i]);
	while ((atomic_load(&s->busy) || guests_left(s)) &&
	       !atomic_load(&s->bad)) {
		swarm_inject(s, true);
		sim_sleep(1 + rng_below(&s->rng, 20 * NAP_NS));
		look_after(s);
	}
	swarm_inject(s, false);
	come_to_rest(s);
	look_at_all(s);
	atomic_store(&s->stage, END);
	for (i = 0; i < s->procs; i++) {
		if (!s->proc[i].host)
			continue;
		while (!swarm_over(&s->proc[i]))
			sim_sleep(NAP_NS);
		swarm_bury(s, &s->proc[i]);
	}
	/* References last: until now somebody could have looked. */
	for (i = 0; i < s->procs; i++)
		if (s->proc[i].mm)
			mm_put(s->proc[i].mm);
}

/* ---- one testbed ---- */

static void run_testbed(struct swarm *s, struct digest *d)
{
	struct plan *p = &s->p;
	char text[10][64], error[200];
	const char *sets[11] = { 0 };
	struct testbed_config cfg = {
		.mode = p->mode, .seed = p->seed, .sets = sets,
		.plan = p->draw == DRAW_PLANS ? &nonsense_own : NULL,
		.trace_records = p->mode == SIM_LOCKSTEP ? 1u << 16 : 0,
	};
	int i, err;

	rng_init(&s->rng, p->seed, "director");
	if (rng_below(&s->rng, 2))
		cfg.jitter_ns = 1 + (uint32_t)rng_below(&s->rng, 5000);
	if (rng_below(&s->rng, 4) == 0)
		cfg.profile = "qfdb";
	cfg.drive = rng_below(&s->rng, 3) ? SIM_INLINE : SIM_DEDICATED;
	for (i = 0; i < 10; i++) {
		sets[i] = random_set(&s->rng, p, i, text[i]);
		if (!sets[i])
			break;
	}
	cfg.trace = digest_file(d);
	s->w = testbed_create(&cfg, error, sizeof(error));
	test_expect(s->w, __FILE__, __LINE__, "a testbed: %s", error);
	err = testbed_run(s->w, swarm_script, s);
	if (err && testbed_problem(s->w))
		swarm_problem(s, "%s", testbed_problem(s->w));
	testbed_destroy(s->w);
	if (cfg.trace)
		fclose(cfg.trace);
}

static void run_seed(uint64_t seed, enum sim_mode mode, enum draw draw,
		     struct digest *d, struct swarm *total)
{
	const char *word = mode == SIM_LOCKSTEP ? "lockstep" : "threads";
	/* A part of the name of the test that draws so. */
	const char *const part[] = {
		[DRAW_USUAL] = word, [DRAW_PLANS] = "nonsense",
		[DRAW_ABORTS] = "aborts", [DRAW_TABLES] = "tables",
		[DRAW_ROWS] = "row",
		[DRAW_SINKS] = "sinks", [DRAW_PACKETS] = "packets",
		[DRAW_SNOOPS] = mode == SIM_LOCKSTEP ? "first" :
						       "early",
	};
	struct swarm *s = calloc(1, sizeof(*s));
	char problem[sizeof(s->problem)];

	EXPECT(s);
	if (!s)
		return;
	s->p = make_plan(seed, mode);
	s->p.draw = draw;
	/* What is pinned has to fit. */
	if (draw == DRAW_TABLES || draw >= DRAW_ROWS)
		s->p.frames = 0;
	s->oracle = oracle_create();
	EXPECT(s->oracle);
	seed_begin(seed, mode, word);
	run_testbed(s, d);
	seed_end(mode);
	if (getenv("SWARM_VERBOSE"))
		show_plan(&s->p);
	if (getenv("SWARM_VERBOSE"))
		printf("# %s seed %llu: %lu ok, %lu failed, %lu resumed, %lu "
		       "resets, %lu revoked, %u killed, %lu slots compared\n", word,
		       (unsigned long long)seed, atomic_load(&s->ok),
		       atomic_load(&s->failed), atomic_load(&s->resumed),
		       atomic_load(&s->resets),
		       atomic_load(&s->revokes), atomic_load(&s->kills),
		       atomic_load(&s->verified));
	if (total)
		total->verified += atomic_load(&s->verified);
	if (total)
		total->resumed += atomic_load(&s->resumed);
	snprintf(problem, sizeof(problem), "%s", s->problem);
	oracle_destroy(s->oracle);
	free(s);
	STEP("repeat with --seed %llu %s", (unsigned long long)seed,
	     part[draw]);
	test_expect(!problem[0], __FILE__, __LINE__, "seed %llu: %s",
		    (unsigned long long)seed, problem);
}

TEST("random testbeds in lockstep keep every byte and every promise")
{
	struct swarm total = { 0 };
	unsigned int i, n = seed_count(SEEDS_LOCKSTEP);

	for (i = 0; i < n; i++)
		run_seed(test_seed() + i, SIM_LOCKSTEP, DRAW_USUAL, NULL, &total);
	if (n > 4)
		EXPECT_GE(total.verified, 8 * n);
}

static void swarm_draw(unsigned int usual, enum sim_mode mode, enum draw draw)
{
	unsigned int i, n = seed_count(usual);

	for (i = 0; i < n; i++)
		run_seed(test_seed() + i, mode, draw, NULL, NULL);
}

TEST("random testbeds with any plan, or nonsense, keep every byte and every promise")
{
	swarm_draw(SEEDS_SOME, SIM_LOCKSTEP, DRAW_PLANS);
}

TEST("random testbeds whose requests are read first keep every byte and every promise")
{
	swarm_draw(SEEDS_SOME, SIM_LOCKSTEP, DRAW_SNOOPS);
}

TEST("random testbeds whose requests are read early, by real workers, keep every byte too")
{
	swarm_draw(SEEDS_SOME, SIM_THREADS, DRAW_SNOOPS);
}

TEST("random testbeds whose requests end at once, aborts, keep every byte and every promise")
{
	struct swarm total = { 0 };
	unsigned int i, n = seed_count(SEEDS_SOME);

	for (i = 0; i < n; i++)
		run_seed(test_seed() + i, SIM_LOCKSTEP, DRAW_ABORTS, NULL, &total);
	if (n > 4)
		EXPECT_GE(total.resumed, n);
}

static void swarm_tables(enum sim_mode mode, enum draw draw)
{
	struct swarm total = { 0 };
	unsigned int i, n = seed_count(SEEDS_SOME);

	for (i = 0; i < n; i++)
		run_seed(test_seed() + i, mode, draw, NULL, &total);
	if (n > 4)
		EXPECT_GE(total.verified, 4 * n);
}

TEST("random testbeds in which each process has any row keep every byte and every promise")
{
	swarm_draw(SEEDS_SOME, SIM_LOCKSTEP, DRAW_ROWS);
}

TEST("random testbeds with tables that drivers keep themselves do so, too")
{
	swarm_tables(SIM_LOCKSTEP, DRAW_TABLES);
}

TEST("random testbeds that speak packets keep every byte, also by the clock")
{
	swarm_tables(SIM_LOCKSTEP, DRAW_PACKETS);
	swarm_tables(SIM_THREADS, DRAW_PACKETS);
}

TEST("random testbeds whose bytes vanish, sinks, find them, also by the clock")
{
	swarm_tables(SIM_LOCKSTEP, DRAW_SINKS);
	swarm_tables(SIM_THREADS, DRAW_SINKS);
}

TEST("random testbeds with tables that drivers keep themselves do so by the clock")
{
	swarm_tables(SIM_THREADS, DRAW_TABLES);
}

TEST("random testbeds in threads keep every byte and every promise")
{
	struct swarm total = { 0 };
	unsigned int i, n = seed_count(SEEDS_THREADS);

	for (i = 0; i < n; i++)
		run_seed(test_seed() + i, SIM_THREADS, DRAW_USUAL, NULL, &total);
	if (n > 4)
		EXPECT_GE(total.verified, 8 * n);
}

static void run_traced(uint64_t seed, struct digest *d)
{
	run_seed(seed, SIM_LOCKSTEP, DRAW_PLANS, d, NULL);
}

TEST("a random testbed gives the same trace twice for the same seed")
{
	seeds_twice(SEEDS_TWICE, run_traced);
}
