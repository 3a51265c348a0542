// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared pages: WRITEs and READs of several queue pairs meet in the same bytes of two
 * pages, while these leave, change their rights and get another key, and while queue pairs are
 * destroyed at either end, in the middle of it all, and made again in the same place. The
 * driver has slow storage and a slow way to the card, so that its answers come when
 * whoever needed them has gone.
 *
 * A naive model (rig/page_model.h) says which bytes may be there. And whatever could be carried
 * out for as long as it was under way has to be; what could not be at any moment of it must fail.
 *
 * variants: tsan
 *
 * A failing seed says how to repeat it. A longer run, with as many seeds as wanted:
 *	SWARM_SEEDS=2000 build/plain/tests/test_page_swarm --seed 1 lockstep
 *	SWARM_SEEDS=200 build/tsan/tests/test_page_swarm --seed 1 threads
 *	SWARM_SEEDS=50 build/plain/tests/test_page_swarm --seed 1 processes
 * SWARM_VERBOSE: a line for each seed. SWARM_TRACE=FILE, with "twice": the trace of the first.
 */
#include <errno.h>
#include <stdlib.h>

#include "faultline/device.h"
#include "harness.h"
#include "rig/page_lane.h"
#include "rig/swarm_seed.h"

#ifdef __SANITIZE_THREAD__
#define SEEDS_LOCKSTEP	2
#define SEEDS_THREADS	4
#define SEEDS_PROCESSES	2
#define SEEDS_TWICE	1
#elif defined __SANITIZE_ADDRESS__
#define SEEDS_LOCKSTEP	16
#define SEEDS_THREADS	6
#define SEEDS_PROCESSES	3
#define SEEDS_TWICE	1
#else
#define SEEDS_LOCKSTEP	150
#define SEEDS_THREADS	20
#define SEEDS_PROCESSES	12
#define SEEDS_TWICE	3
#endif
#define ROUNDS		4
#define ACTS		60
#define PATIENCE_NS	20000000000ull
#define RIGHTS		(FL_REMOTE_WRITE | FL_REMOTE_READ)

/* ---- trouble ---- */

static int pages_leave(struct rpc_app *a, void *arg)
{
	bool far = stage->side;
	uint64_t pages = far ? MODEL_PAGES : LOCAL_BYTES / HOST_PAGE;
	uint64_t first = page_draw(pages), n = 1 + page_draw(pages - first);

	(void)arg;
	return fl_advise(a->dev, stage->mem[far] + first * HOST_PAGE, n * HOST_PAGE, FL_PAGEOUT);
}

/* Of the far memory. */
static unsigned int page_number(const void *page)
{
	return (unsigned int)(((const uint8_t *)page - stage->mem[1]) / HOST_PAGE);
}

static void *page_at(unsigned int number)
{
	return stage->mem[1] + number * HOST_PAGE;
}

/* This page has all rights, or some page has some. */
static int page_protect(struct rpc_app *a, void *arg)
{
	unsigned int page = (unsigned int)page_draw(MODEL_PAGES);
	static const int prot[] = { FL_PROT_READ | FL_PROT_WRITE, FL_PROT_READ, 0 };
	int to = arg || page_draw(2) ? prot[0] : prot[page_draw(3)];

	if (arg)
		page = page_number(arg);
	model_protect(&stage->m, page, to);
	return fl_protect(a->dev, stage->mem[1] + page * HOST_PAGE, HOST_PAGE, to);
}

static int pages_fetch(struct rpc_app *a, void *arg)
{
	(void)a;
	(void)arg;
	return fl_prefetch(stage->mr[1], stage->mem[1], MODEL_BYTES, (int)page_draw(2));
}

static int region_make(struct rpc_app *a, void *arg)
{
	int err = fl_reg_mr(a->pd[0], stage->mem[1], MODEL_BYTES, RIGHTS, &stage->mr[1]);

	(void)arg;
	if (!err)
		model_key(&stage->m, fl_mr_key(stage->mr[1]));
	return err;
}

static int region_end(struct rpc_app *a, void *arg)
{
	(void)a;
	(void)arg;
	model_key(&stage->m, 0);
	return fl_dereg_mr(stage->mr[1]);
}

static bool page_permits(unsigned int page, int prot)
{
	return stage->m.step[stage->m.now].prot[1][page] & prot;
}

/* The CPU looks at this page; or at some page, or stores to it. */
static int page_touch(struct rpc_app *a, void *arg)
{
	unsigned int page = (unsigned int)page_draw(MODEL_PAGES), deed;
	uint32_t at = page * HOST_PAGE, i, n;
	uint8_t found[HOST_PAGE];

	(void)a;
	if (arg)
		page = page_number(arg), at = page * HOST_PAGE;
	if (!arg && page_draw(2) && page_permits(page, FL_PROT_WRITE)) {
		i = (uint32_t)page_draw(HOST_PAGE);
		n = 1 + (uint32_t)page_draw(HOST_PAGE - i);
		deed = model_store(&stage->m, at + i, n);
		for (n += i; i < n; i++)
			stage->mem[1][at + i] = model_byte(deed, at + i);
	} else if (page_permits(page, FL_PROT_READ)) {
		model_step(&stage->m);
		for (i = 0; i < HOST_PAGE; i++)
			found[i] = ((volatile uint8_t *)stage->mem[1])[at + i];
		i = model_wrong(&stage->m, NULL, at, HOST_PAGE, found);
		test_expect(i == HOST_PAGE, __FILE__, __LINE__,
			    "byte %u of the pages is what no request could have left", at + i);
	}
	return 0;
}

static void pages_permit(void)
{
	unsigned int page;

	for (page = 0; page < MODEL_PAGES; page++)
		stage_in(1, page_protect, page_at(page));
}

/* A request that is refused in this moment may find the page there before the refusal arrives. */
static void page_blink(struct lane *l)
{
	if (page_draw(2))
		stage_in(0, deed_post, l);
	sim_sleep(1 + page_draw(20000));
	pages_permit();
	stage_in(1, pages_fetch, NULL);
	if (page_draw(2))
		sim_sleep(1 + page_draw(100000));
	if (page_draw(2))
		stage_in(1, pages_leave, NULL);
	if (page_draw(2))
		stage_in(0, deed_post, l);
}

static void page_act(void)
{
	struct lane *l = &stage->lane[page_draw(LANES)];
	unsigned int n = (unsigned int)page_draw(24), i;

	if (n == 22 || (l->failed && page_draw(2))) {
		lane_renew(l);
	} else if (n < 10) {
		for (i = (unsigned int)page_draw(4) + 1; i; i--)
			stage_in(0, deed_post, l);
	} else if (n < 12) {
		deeds_collect(page_draw(2) ? 0 : 1 + page_draw(100000));
	} else if (n < 15) {
		sim_sleep(1 + page_draw(page_draw(3) ? 5000 : 200000));
	} else if (n < 18) {
		stage_in(n != 15, pages_leave, NULL);
	} else if (n < 20) {
		stage_in(1, page_protect, NULL);
		if (page_draw(4))
			page_blink(l);
	} else if (n == 20) {
		stage_in(1, page_touch, NULL);
	} else if (n == 21) {
		stage_in(1, region_end, NULL);
		lane_pause();
		/* No region may say more than its pages. */
		pages_permit();
		stage_in(1, region_make, NULL);
	}
}

/* ---- a testbed ---- */

static int pages_open(struct rpc_app *a, void *arg)
{
	bool far = stage->side;
	size_t bytes = far ? MODEL_BYTES : LOCAL_BYTES;
	unsigned int i, deed;
	int err;

	(void)arg;
	err = fl_create_cq(a->dev, 2 * SLOTS, &stage->cq[far]);
	stage->mem[far] = fl_alloc(a->dev, bytes);
	if (err || !stage->mem[far])
		return err ? err : -errno;
	if (!far)
		return fl_reg_mr(a->pd[0], stage->mem[0], bytes, FL_LOCAL_WRITE, &stage->mr[0]);
	deed = model_store(&stage->m, 0, MODEL_BYTES);
	for (i = 0; i < MODEL_BYTES; i++)
		stage->mem[1][i] = model_byte(deed, i);
	return region_make(a, NULL);
}

/* Of a process; the driver gives it no more. */
#define QPS_MAX	64

static int places_fill(struct rpc_app *a, void *arg)
{
	unsigned int n = stage->places;
	struct fl_qp *qp;
	int err = 0;

	(void)arg;
	while (!err && n--)
		err = fl_create_qp(a->pd[0], a->cq, 2, &qp);
	return err;
}

/* All places but those of the lanes: who makes a queue pair gets what the last one had. */
static void board_fill(struct testbed *w, struct testbed_board *b, struct testbed_process *own)
{
	unsigned int left = DEV_QPS - LANES;
	struct testbed_process *p = own;

	while (left) {
		stage->places = p == own ? QPS_MAX - LANES : left < QPS_MAX ? left : QPS_MAX;
		EXPECT_EQ(testbed_in(p, places_fill, NULL), 0);
		left -= stage->places;
		if (left)
			EXPECT_EQ(testbed_process_add(w, "filler", b, stage->system,
						      FL_RESOLVE_PAGE, &p), 0);
	}
}

static void page_build(struct testbed *w)
{
	/* Those that pin nothing, and give up no request over a page that takes its time. */
	static const enum fl_system system[] = {
		FL_SYSTEM_NPF, FL_SYSTEM_ODP2, FL_SYSTEM_RXE, FL_SYSTEM_DROPRC, FL_SYSTEM_NETVM,
		FL_SYSTEM_PART, FL_SYSTEM_STALL, FL_SYSTEM_PREFAULT, FL_SYSTEM_IOGUARD,
		FL_SYSTEM_ABORT,
	};
	const struct testbed_board_config cfg = { 0 };
	struct testbed_board *board[2];
	unsigned int i;

	stage->system = system[page_draw(sizeof(system) / sizeof(system[0]))];
	for (i = 0; i < 2; i++)
		EXPECT_EQ(testbed_board_add(w, i ? "b" : "a", &cfg, &board[i]), 0);
	EXPECT_EQ(testbed_link_add(w, board[0], board[1]), 0);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(testbed_process_add(w, i ? "q" : "p", board[i], stage->system,
					      (enum fl_resolve)page_draw(3), &stage->p[i]), 0);
		stage_in(i, pages_open, NULL);
	}
	for (i = 0; i < 2; i++)
		board_fill(w, board[i], stage->p[i]);
	for (i = 0; i < LANES; i++)
		lane_start(&stage->lane[i]);
}

static void page_script(struct testbed *w, void *arg)
{
	unsigned int round, i, page;
	uint64_t end_ns;

	(void)arg;
	page_build(w);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < ACTS; i++)
			page_act();
		pages_permit();
		end_ns = sim_now(testbed_sim(w)) + PATIENCE_NS;
		for (i = 0; i < LANES; i++)
			while (stage->lane[i].flying) {
				EXPECT_GE(end_ns, sim_now(testbed_sim(w)));
				deeds_collect(PATIENCE_NS);
			}
		for (page = 0; page < MODEL_PAGES; page++)
			stage_in(1, page_touch, page_at(page));
		for (i = 0; i < LANES; i++)
			if (stage->lane[i].failed)
				lane_renew(&stage->lane[i]);
	}
}

static void page_run(uint64_t seed, enum sim_mode mode, bool processes, struct digest *d)
{
	const char *word = processes ? "processes" :
			   mode == SIM_LOCKSTEP ? "lockstep" : "threads";
	char major[40], resume[40], again[40], error[300];
	/* 4 ms: what is dropped comes again in the time of a test. */
	const char *sets[] = { major, resume, again, "rc.timeout=10", NULL };
	struct testbed_config cfg = {
		.mode = mode, .processes = processes, .seed = seed, .sets = sets,
		.trace = digest_file(d),
		.trace_records = mode == SIM_LOCKSTEP ? 1u << 16 : 0,
	};
	struct testbed *w;

	stage_make();
	rng_init(&stage->rng, seed, "page");
	model_begin(&stage->m);
	cfg.jitter_ns = page_draw(2) ? 1 + (uint32_t)page_draw(5000) : 0;
	snprintf(major, sizeof(major), "mm.major=%u", 10000u << page_draw(8));
	snprintf(resume, sizeof(resume), "nic.resume=%u", 1000u << page_draw(9));
	/* A sender that was told to wait tries again before the driver's answer, or after it. */
	snprintf(again, sizeof(again), "rc.rnr_code=%u", 1 + (unsigned int)page_draw(15));
	STEP("repeat with --seed %llu %s", (unsigned long long)seed, word);
	seed_begin(seed, mode, word);
	w = testbed_create(&cfg, error, sizeof(error));
	test_expect(w, __FILE__, __LINE__, "a testbed: %s", error);
	test_expect(!testbed_run(w, page_script, NULL), __FILE__, __LINE__, "%s",
		    testbed_problem(w));
	testbed_destroy(w);
	if (cfg.trace)
		fclose(cfg.trace);
	seed_end(mode);
	if (getenv("SWARM_VERBOSE"))
		printf("# seed %llu, system %d: %u ok, %u failed, %u connections anew, %u in the "
		       "same place\n", (unsigned long long)seed, stage->system, stage->ok,
		       stage->failed, stage->renewed, stage->again);
}

static void page_runs(unsigned int usual, enum sim_mode mode, bool processes)
{
	unsigned int n = seed_count(usual), i, ok = 0, failed = 0, again = 0;

	for (i = 0; i < n; i++) {
		page_run(test_seed() + i, mode, processes, NULL);
		ok += stage->ok;
		failed += stage->failed;
		again += stage->again;
	}
	/* One seed alone may be a quiet one. */
	if (n <= 3)
		return;
	EXPECT_GE(ok, 20 * n);
	EXPECT_GE(failed, n);
	EXPECT_GE(again, n);
}

TEST("two pages that everybody writes to, in lockstep")
{
	page_runs(SEEDS_LOCKSTEP, SIM_LOCKSTEP, false);
}

TEST("two pages that everybody writes to, in threads")
{
	page_runs(SEEDS_THREADS, SIM_THREADS, false);
}

TEST("two pages that everybody writes to, in processes")
{
	page_runs(SEEDS_PROCESSES, SIM_THREADS, true);
}

static void page_twice(uint64_t seed, struct digest *d)
{
	page_run(seed, SIM_LOCKSTEP, false, d);
}

TEST("the same seed gives the same trace: twice")
{
	seeds_twice(SEEDS_TWICE, page_twice);
}

/* ---- the model itself ---- */

static struct page_model known;

static unsigned int known_post(unsigned int pair, uint32_t at, uint32_t bytes, bool read)
{
	const struct deed d = { .pair = pair, .read = read, .at = at, .bytes = bytes, .key = 7 };

	return model_post(&known, &d);
}

/* Bytes from `at` on that these deeds have left, each as many as it says. */
static uint32_t known_wrong(const struct deed *reader, unsigned int a, uint32_t bytes_a,
			    unsigned int b, uint32_t bytes_b)
{
	uint8_t found[64];
	uint32_t i;

	for (i = 0; i < bytes_a + bytes_b; i++)
		found[i] = model_byte(i < bytes_a ? a : b, i);
	return model_wrong(&known, reader, 0, bytes_a + bytes_b, found);
}

TEST("the model knows which bytes no order would leave")
{
	unsigned int cpu, a, b, other, read;

	model_begin(&known);
	cpu = model_store(&known, 0, MODEL_BYTES);
	a = known_post(0, 0, 16, false);
	b = known_post(0, 8, 8, false);
	STEP("while both are under way, any of the three");
	EXPECT_EQ(known_wrong(NULL, cpu, 16, cpu, 0), 16);
	EXPECT_EQ(known_wrong(NULL, a, 16, cpu, 0), 16);
	EXPECT_EQ(known_wrong(NULL, cpu, 8, b, 8), 16);
	STEP("when they are over, the last of a queue pair");
	model_end(&known, a, true);
	model_end(&known, b, true);
	EXPECT_EQ(known_wrong(NULL, a, 8, b, 8), 16);
	EXPECT_EQ(known_wrong(NULL, a, 16, cpu, 0), 8);
	EXPECT_EQ(known_wrong(NULL, cpu, 8, b, 8), 0);
	STEP("of another queue pair before or behind; also one that failed, until it rests");
	other = known_post(1, 0, 16, false);
	b = known_post(2, 0, 16, false);
	model_end(&known, b, true);
	EXPECT_EQ(known_wrong(NULL, b, 16, cpu, 0), 16);
	EXPECT_EQ(known_wrong(NULL, other, 16, cpu, 0), 16);
	EXPECT_EQ(known_wrong(NULL, a, 16, cpu, 0), 0);
	model_end(&known, other, false);
	a = known_post(2, 0, 16, false);
	model_end(&known, a, true);
	EXPECT_EQ(known_wrong(NULL, other, 16, cpu, 0), 16);
	model_settle(&known, 1);
	a = known_post(2, 0, 16, false);
	model_end(&known, a, true);
	EXPECT_EQ(known_wrong(NULL, other, 16, cpu, 0), 0);
	STEP("a READ has what was before it, or what came meanwhile");
	read = known_post(3, 0, 16, true);
	b = known_post(2, 0, 16, false);
	model_end(&known, b, true);
	model_end(&known, read, true);
	EXPECT_EQ(known_wrong(&known.deed[read], a, 8, b, 8), 16);
	EXPECT_EQ(known_wrong(NULL, a, 8, b, 8), 0);
}

TEST("the model knows what must be carried out, and what must be refused")
{
	unsigned int early, late, across;

	model_begin(&known);
	model_key(&known, 7);
	early = known_post(0, 0, 8, false);
	across = known_post(0, HOST_PAGE - 4, 8, true);
	model_protect(&known, 1, FL_PROT_READ);
	model_end(&known, early, true);
	model_end(&known, across, true);
	STEP("another page's rights, or rights that a READ does not need, are no reason");
	EXPECT(model_allowed(&known, &known.deed[early]));
	EXPECT(!model_refusable(&known, &known.deed[early]));
	EXPECT(!model_refusable(&known, &known.deed[across]));
	STEP("a moment without is a reason, and no must");
	early = known_post(0, 0, 8, false);
	model_protect(&known, 0, 0);
	late = known_post(0, 0, 8, false);
	model_end(&known, early, true);
	model_end(&known, late, false);
	EXPECT(model_allowed(&known, &known.deed[early]));
	EXPECT(model_refusable(&known, &known.deed[early]));
	EXPECT(!model_allowed(&known, &known.deed[late]));
	EXPECT(model_pair_refusable(&known, 0));
	EXPECT(!model_pair_refusable(&known, 1));
	STEP("so with the key");
	model_protect(&known, 0, FL_PROT_READ | FL_PROT_WRITE);
	model_key(&known, 0);
	late = known_post(1, 0, 8, false);
	model_key(&known, 8);
	model_end(&known, late, false);
	EXPECT(!model_allowed(&known, &known.deed[late]));
	EXPECT(model_refusable(&known, &known.deed[late]));
}
