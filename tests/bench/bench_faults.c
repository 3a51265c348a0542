// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages that are not there, in threads mode: touched by the CPU and by the device, taken
 * away, registered. The yardstick is the bare pair of this very run: SIGSEGV,
 * and an mprotect of one page in its handler (bench_bare.c).
 */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>

#include "bench_pair.h"
#include "bench_stage.h"
#include "faultline/smmu_regs.h"

#define PAGE	4096u
#define PAGES	16u
#define IN_A_ROW 8u	/* requests or registrations of a window */
#define FAULTS	32u	/* and faults: whoever waits for the thread shares its CPU for the first */

/* ---- the yardsticks ---- */

/* A sleeping thread is woken and wakes the one that woke it. */
struct wakes {
	sem_t there, back;
	bool stop;
};

static void *faults_woken(void *arg)
{
	struct wakes *w = arg;

	for (;;) {
		while (sem_wait(&w->there))
			;
		if (w->stop)
			return NULL;
		sem_post(&w->back);
	}
}

static double wakes_window(void *arg)
{
	struct wakes *w = arg;
	uint64_t t = bench_now_ns();
	int i;

	for (i = 0; i < 4; i++) {
		sem_post(&w->there);
		while (sem_wait(&w->back))
			;
	}
	return (double)(bench_now_ns() - t) / 4;
}

/* ns there and back; apart: the sleeper may not use the CPU of the waker. */
static struct bench_spread faults_wake(bool apart)
{
	struct wakes w = { .stop = false };
	struct bench_job job = { .window = wakes_window, .arg = &w };
	struct bench_result r;
	cpu_set_t all, one;
	pthread_t t;

	sem_init(&w.there, 0, 0);
	sem_init(&w.back, 0, 0);
	if (sched_getaffinity(0, sizeof(all), &all) ||
	    pthread_create(&t, NULL, faults_woken, &w))
		bench_broken("no thread");
	if (apart && CPU_COUNT(&all) > 1) {
		CPU_ZERO(&one);
		CPU_SET((size_t)sched_getcpu(), &one);
		sched_setaffinity(0, sizeof(one), &one);
		CPU_XOR(&one, &one, &all);
		pthread_setaffinity_np(t, sizeof(one), &one);
	}
	bench_measure(&job, &r);
	sched_setaffinity(0, sizeof(all), &all);
	w.stop = true;
	sem_post(&w.there);
	pthread_join(t, NULL);
	sem_destroy(&w.there);
	sem_destroy(&w.back);
	return bench_scale(&r.ns, 1e-3);
}

/* The rows of the yardsticks. Returns ns: two wakes to another CPU, a pair. */
static double faults_yardsticks(void)
{
	struct bench_job job = { .window = bench_bare_pair };
	struct bench_result r;
	struct bench_spread near, apart;

	bench_measure(&job, &r);
	bench_row(&(struct bench_row){ "bare: SIGSEGV + mprotect of one page",
		"us", bench_scale(&r.ns, 1e-3), NULL, "", BENCH_RECORD, 0,
		"the yardstick: a pair" });
	near = faults_wake(false);
	bench_row(&(struct bench_row){ "bare: waking a sleeper, and back", "us",
		near, NULL, "", BENCH_RECORD, 0, "" });
	apart = faults_wake(true);
	bench_row(&(struct bench_row){ "bare: the same, on another CPU", "us",
		apart, NULL, "", BENCH_RECORD, 0, "the yardstick: two wakes" });
	return apart.median * 1e3 + r.ns.median;
}

/* ---- faults ---- */

struct fault {
	struct stage *stage;
	int side;		/* whose page is away; 2: both */
	uint32_t pages;
	double ns;
};

static int do_touch(struct rpc_app *a, void *arg)
{
	struct fault *f = arg;
	volatile uint8_t *mem = f->stage->buffer[0]->mem;
	uint64_t t = bench_now_ns();
	uint32_t i;

	(void)a;
	for (i = 0; i < f->pages; i++)
		mem[i * PAGE] = 0;	/* as the testbed knows it */
	f->ns = (double)(bench_now_ns() - t) / f->pages;
	return 0;
}

static void take_away(void *arg)
{
	struct fault *f = arg;

	if (f->side != 1)
		stage_evict(f->stage, 0, 0, f->pages * PAGE);
	if (f->side != 0)
		stage_evict(f->stage, 1, 0, f->pages * PAGE);
}

static double touch_window(void *arg)
{
	struct fault *f = arg;

	stage_in(f->stage, 0, do_touch, f);
	return f->ns;
}

static double device_window(void *arg)
{
	struct fault *f = arg;

	return stage_write_pages(f->stage, f->pages);
}

/* Returns ns. */
static struct bench_spread row_times(const char *figure,
				     const struct bench_job *job,
				     enum bench_want want, double target,
				     const char *note)
{
	struct bench_result r;
	char yard[80];

	bench_measure(job, &r);
	snprintf(yard, sizeof(yard), "%.1f us, pair %.2f us",
		 r.ns.median / 1e3, r.yard.median / 1e3);
	bench_row(&(struct bench_row){ figure, "pairs", r.times,
		bench_trace_text(&r), yard, want, target, note });
	return r.ns;
}

/* sources: host-measured: a service that spins 2 pairs, one that sleeps 1.3 x the wakes. */
static void row_fault(const char *figure, const struct bench_job *job,
		      double wakes_ns)
{
	struct bench_spread ns = row_times(figure, job, BENCH_AT_MOST, 2,
					   "limit of a service that spins");

	bench_row(&(struct bench_row){ "  the same", "x bare",
		bench_scale(&ns, 1 / wakes_ns), NULL, "two wakes and the pair",
		BENCH_AT_MOST, 1.3, "limit of a service that sleeps" });
}

/* In a row, as the pairs of the yardstick are; or one, after all that a window begins with. */
static void device_side(struct fault *f, struct bench_job *job, int side,
			const char *figure, double wakes_ns)
{
	f->side = side;
	f->pages = FAULTS;
	if (side == 2)
		row_times(figure, job, BENCH_RECORD, 0, "");
	else
		row_fault(figure, job, wakes_ns);
	f->pages = 1;
	row_times("  one by itself", job, BENCH_RECORD, 0, "caches are cold");
}

static void device_faults(struct fault *f, struct bench_job *job,
			  double wakes_ns)
{
	job->window = device_window;
	job->prepare = NULL;
	f->pages = FAULTS;
	row_times("8 B write, both pages there", job, BENCH_RECORD, 0, "");
	job->prepare = take_away;
	device_side(f, job, 1, "8 B write, destination absent", wakes_ns);
	device_side(f, job, 0, "8 B write, source absent", wakes_ns);
	device_side(f, job, 2, "8 B write, both absent", wakes_ns);
}

static int do_prefetch(struct rpc_app *a, void *arg)
{
	struct fault *f = arg;
	struct testbed_buffer *b = f->stage->buffer[0];
	uint64_t t = bench_now_ns();
	uint32_t i;
	int err = 0;

	for (i = 0; i < f->pages && !err; i += PAGES)
		err = fl_prefetch(a->mr[b->number], b->mem + i * PAGE, PAGES * PAGE, 1);
	f->ns = (double)(bench_now_ns() - t) * PAGES / f->pages;
	return err;
}

static double prefetch_window(void *arg)
{
	struct fault *f = arg;

	stage_in(f->stage, 0, do_prefetch, f);
	return f->ns;
}

static void bring_back(void *arg)
{
	struct fault *f = arg;

	stage_touch(f->stage, 0, 0, f->pages * PAGE, false);
}

static int evict_once(struct rpc_app *a, struct fault *f)
{
	struct testbed_buffer *b = f->stage->buffer[0];
	volatile uint8_t *mem = b->mem;
	uint64_t t;
	uint32_t i;
	int err;

	for (i = 0; i < f->pages; i++)
		(void)mem[i * PAGE];
	t = bench_now_ns();
	err = fl_advise(a->dev, b->mem, f->pages * PAGE, FL_PAGEOUT);
	f->ns = (double)(bench_now_ns() - t);
	return err;
}

/* Without a peer that runs: after the first time, who waits for this thread is asleep. */
static int do_evict(struct rpc_app *a, void *arg)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < BENCH_REVOKES && !err; i++)
		err = evict_once(a, arg);
	return err;
}

static double evict_window(void *arg)
{
	struct fault *f = arg;

	stage_in(f->stage, 0, do_evict, f);
	return f->ns;
}

static void faults_evictions(struct fault *f, const struct bench_job *like)
{
	struct bench_job job = { .window = evict_window, .arg = f, .trace = like->trace };

	bench_beside_revoke(&job, &f->pages,
			    testbed_cfg(f->stage->testbed)->drive == SIM_DEDICATED);
}

/* ---- registration ---- */

static int do_register(struct rpc_app *a, void *arg)
{
	struct fault *f = arg;
	struct testbed_buffer *b = f->stage->buffer[0];
	unsigned int access = FL_LOCAL_WRITE | (f->side ? FL_PINNED : 0);
	uint64_t t = bench_now_ns();
	struct fl_mr *mr[IN_A_ROW];
	uint32_t i;
	int err = 0;

	for (i = 0; i < IN_A_ROW && !err; i++)
		err = fl_reg_mr(a->pd[0], b->mem, f->pages * PAGE, access, &mr[i]);
	f->ns = (double)(bench_now_ns() - t) / IN_A_ROW;
	for (i = 0; i < IN_A_ROW && !err; i++)
		err = fl_dereg_mr(mr[i]);
	return err;
}

static double register_window(void *arg)
{
	struct fault *f = arg;

	stage_in(f->stage, 0, do_register, f);
	return f->ns;
}

static void faults_registrations(struct fault *f, const struct bench_job *like)
{
	struct bench_job job = { .window = register_window, .arg = f,
				 .prepare = bring_back, .yard = bench_bare_mlock,
				 .trace = like->trace };
	struct bench_result r;
	char yard[80];

	f->pages = 256;
	f->side = 0;
	bench_measure(&job, &r);
	bench_row(&(struct bench_row){ "register 1 MB, on demand", "us",
		bench_scale(&r.ns, 1e-3), bench_trace_text(&r), "",
		BENCH_AT_MOST, 2, "constant" });
	f->side = 1;
	bench_measure(&job, &r);
	snprintf(yard, sizeof(yard), "%.0f us, mlock %.0f us",
		 r.ns.median / 1e3, r.yard.median / 1e3);
	bench_row(&(struct bench_row){ "register 1 MB, pinned, pages there",
		"mlocks", r.times, bench_trace_text(&r), yard, BENCH_AT_MOST,
		1.2, "" });
}

static void faults_run(struct stage *s, void *arg)
{
	struct fault f = { .stage = s, .pages = FAULTS };
	struct bench_job job = { .yard = bench_bare_pair, .prepare = take_away,
				 .arg = &f, .trace = testbed_trace(s->testbed) };

	bench_say(testbed_cfg(s->testbed)->drive == SIM_DEDICATED ?
		  "hardware on threads of its own:" : "hardware inline:");
	job.window = touch_window;
	row_fault("evicted page touched by the CPU", &job, *(double *)arg);
	device_faults(&f, &job, *(double *)arg);
	f.side = 0;
	f.pages = IN_A_ROW / 2 * PAGES;
	job.window = prefetch_window;
	job.yard = bench_bare_sixteen;
	row_times("16 evicted pages in one request", &job, BENCH_AT_MOST, 1.5,
		  "pair: SIGSEGV + mprotect of 16");
	faults_evictions(&f, &job);
	faults_registrations(&f, &job);
}

/* ---- invalidation by itself: registers of the SMMU ---- */

static double invalidate_window(void *arg)
{
	struct pair *p = arg;
	struct board *b = p->n[0].board;
	const uint64_t bank = BUS_SMMU_BASE + SMMU_CB_BASE(PAIR_BANK);
	uint64_t t = bench_now_ns(), status;
	int i, err = 0;

	for (i = 0; i < 16; i++) {
		err |= board_write(b, bank + SMMU_CB_TLBIVA, 8,
				   PAIR_VA >> 12 |
				   (uint64_t)PAIR_ASID << 48);
		err |= board_write(b, bank + SMMU_CB_TLBSYNC, 4, 0);
		do {
			err |= board_read(b, bank + SMMU_CB_TLBSTATUS, 4,
					  &status);
		} while (status & SMMU_CB_TLBSTATUS_SACTIVE);
	}
	if (err)
		return -1;
	return (double)(bench_now_ns() - t) / 16;
}

static void faults_invalidate(struct pair *p, void *arg)
{
	struct bench_job job = { .window = invalidate_window, .arg = p,
				 .trace = p->trace };
	struct bench_result r;

	(void)arg;
	bench_measure(&job, &r);
	bench_row(&(struct bench_row){
		p->cfg.drive == SIM_INLINE ? "TLBI and sync, inline" :
		"TLBI and sync, dedicated", "us", bench_scale(&r.ns, 1e-3),
		bench_trace_text(&r), "grace period 0.14 (nobody) to 1.5 us",
		BENCH_AT_MOST, 5, "never a membarrier" });
}

void bench_faults(void)
{
	struct pair_config pc = { SIM_THREADS, SIM_INLINE, 0, 1 << 20 };
	struct stage_config sc = { .mode = SIM_THREADS, .bytes = 2 << 20 };
	double wakes_ns;

	bench_title("Pages that are not there (threads)");
	wakes_ns = faults_yardsticks();
	pair_run(&pc, faults_invalidate, NULL);
	pc.drive = SIM_DEDICATED;
	pair_run(&pc, faults_invalidate, NULL);
	stage_run(&sc, faults_run, &wakes_ns);
	sc.drive = SIM_DEDICATED;
	stage_run(&sc, faults_run, &wakes_ns);
}
