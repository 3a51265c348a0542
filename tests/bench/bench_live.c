// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages that are not there in ordinary processes: touched by the CPU and by the
 * device, taken away, registered. The yardsticks are the bare primitives, in this
 * process and in this run.
 */
#include "bench_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "bench_across.h"

#define PAGE	4096u
#define MB	(1u << 20)
#define PAGES	16u	/* of a request to bring pages in */
#define IN_A_ROW 8u	/* faults, requests or registrations of a window */
#define LARGE	((size_t)64 * MB)

struct live {
	struct across *x;
	uint32_t pages;
	enum fl_advice away;	/* how pages of this process go */
	bool here, there;	/* of a device fault: source, destination */
	unsigned int access;
	uint8_t *mem;		/* to be registered */
	uint32_t row;		/* as many times in a row */
	double dereg_ns;
};

/* ---- windows ---- */

static void take_away(void *arg)
{
	struct live *l = arg;

	across_good(fl_advise(l->x->dev, l->x->mem, l->pages * PAGE, l->away),
		    "fl_advise");
}

static double touch_window(void *arg)
{
	struct live *l = arg;
	volatile uint8_t *mem = l->x->mem;
	uint64_t t = bench_now_ns();
	uint32_t i;

	for (i = 0; i < l->pages; i++)
		mem[i * PAGE] = (uint8_t)i;
	return (double)(bench_now_ns() - t) / l->pages;
}

static void take_ends_away(void *arg)
{
	struct live *l = arg;

	if (l->here)
		take_away(l);
	if (l->there)
		across_tell(l->x, ACROSS_EVICT, 0, l->pages * PAGE, NULL);
}

static double device_window(void *arg)
{
	struct live *l = arg;
	uint64_t t = bench_now_ns();
	uint32_t i;

	for (i = 0; i < l->pages; i++) {
		across_post(l->x, i * PAGE, i * PAGE, 8);
		across_take(l->x);
	}
	return (double)(bench_now_ns() - t) / l->pages;
}

static double prefetch_window(void *arg)
{
	struct live *l = arg;
	uint64_t t = bench_now_ns();
	uint32_t i;

	for (i = 0; i < l->pages; i += PAGES)
		across_good(fl_prefetch(l->x->mr, l->x->mem + i * PAGE, PAGES * PAGE, 1),
			    "fl_prefetch");
	return (double)(bench_now_ns() - t) * PAGES / l->pages;
}

/* Present, and open for this process. */
static void bring_back(void *arg)
{
	struct live *l = arg;
	volatile uint8_t *mem = l->x->mem;
	uint32_t i;

	for (i = 0; i < l->pages; i++)
		(void)mem[i * PAGE];
}

static double evict_window(void *arg)
{
	struct live *l = arg;
	uint64_t t = bench_now_ns();

	take_away(l);
	return (double)(bench_now_ns() - t);
}

static double call_window(void *arg)
{
	struct live *l = arg;
	struct fl_fault_counters c;
	uint64_t t = bench_now_ns();

	across_good(fl_query_counters(l->x->dev, &c), "fl_query_counters");
	return (double)(bench_now_ns() - t);
}

static double register_window(void *arg)
{
	struct live *l = arg;
	struct fl_mr *mr[IN_A_ROW];
	uint64_t t = bench_now_ns(), done;
	uint32_t i;

	for (i = 0; i < l->row; i++)
		across_good(fl_reg_mr(l->x->pd, l->mem, MB, l->access, &mr[i]),
			    "fl_reg_mr");
	done = bench_now_ns();
	for (i = 0; i < l->row; i++)
		across_good(fl_dereg_mr(mr[i]), "fl_dereg_mr");
	l->dereg_ns = (double)(bench_now_ns() - done) / l->row;
	return (double)(done - t) / l->row;
}

/* Fresh memory each time; what else it costs (mmap, the touching) is not measured. */
static double register_fresh(struct live *l, bool touched)
{
	uint8_t *mem = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fl_mr *mr;
	uint64_t t;

	if (mem == MAP_FAILED)
		bench_broken("no memory");
	if (touched)
		memset(mem, 1, LARGE);
	t = bench_now_ns();
	across_good(fl_reg_mr(l->x->pd, mem, LARGE, FL_LOCAL_WRITE, &mr),
		    "fl_reg_mr");
	t = bench_now_ns() - t;
	across_good(fl_dereg_mr(mr), "fl_dereg_mr");
	munmap(mem, LARGE);
	return (double)t;
}

static double untouched_window(void *arg)
{
	return register_fresh(arg, false);
}

static double touched_window(void *arg)
{
	return register_fresh(arg, true);
}

static double deregister_window(void *arg)
{
	struct live *l = arg;

	return register_window(l) < 0 ? -1 : l->dereg_ns;
}

/* ---- rows ---- */

static void row_pairs(const char *figure, const struct bench_job *job,
		      enum bench_want want, double target, const char *note)
{
	struct bench_result r;
	char yard[80];

	bench_measure(job, &r);
	snprintf(yard, sizeof(yard), "%.1f us, pair %.2f us",
		 r.ns.median / 1e3, r.yard.median / 1e3);
	bench_row(&(struct bench_row){ figure, "pairs", r.times, NULL, yard,
		want, target, note });
}

static void cpu_faults(struct live *l)
{
	struct bench_job job = { .window = touch_window, .yard =
				 bench_bare_pair, .prepare = take_away,
				 .arg = l };

	l->pages = IN_A_ROW;
	l->away = FL_DONTNEED;
	row_pairs("untouched page written by the CPU", &job, BENCH_AT_MOST, 2,
		  "limit of a service that spins");
	l->away = FL_PAGEOUT;
	row_pairs("evicted page written by the CPU", &job, BENCH_AT_MOST, 2,
		  "the same; comes from swap");
}

/* In a row, as the pairs of the yardstick are; or one, after all that a window begins with. */
static void device_side(struct live *l, struct bench_job *job, bool here, bool there,
			const char *figure)
{
	const bool both = here && there;

	l->here = here;
	l->there = there;
	l->pages = IN_A_ROW;
	row_pairs(figure, job, both ? BENCH_RECORD : BENCH_AT_MOST, 2,
		  both ? "" : "limit of a service that spins");
	l->pages = 1;
	row_pairs("  one by itself", job, BENCH_RECORD, 0, "caches are cold");
}

static void device_faults(struct live *l)
{
	struct bench_job job = { .window = device_window, .yard =
				 bench_bare_pair, .arg = l };

	l->pages = IN_A_ROW;
	row_pairs("8 B write, both pages there", &job, BENCH_RECORD, 0, "");
	job.prepare = take_ends_away;
	device_side(l, &job, false, true, "8 B write, destination absent");
	device_side(l, &job, true, false, "8 B write, source absent");
	device_side(l, &job, true, true, "8 B write, both absent");
	l->pages = IN_A_ROW / 2 * PAGES;
	job.window = prefetch_window;
	job.yard = bench_bare_sixteen;
	job.prepare = take_away;
	row_pairs("16 evicted pages in one request", &job, BENCH_AT_MOST, 1.5,
		  "pair: SIGSEGV + mprotect of 16");
}

static void live_evictions(struct live *l)
{
	struct bench_job job = { .window = evict_window, .arg = l,
				 .prepare = bring_back };

	l->away = FL_PAGEOUT;
	bench_beside_revoke(&job, &l->pages, false);
}

static void row_register(struct live *l, const char *figure,
			 double (*window)(void *arg), enum bench_want want,
			 double target)
{
	struct bench_job job = { .window = window, .arg = l,
				 .yard = bench_bare_mlock };
	struct bench_result r;
	char yard[80];

	bench_measure(&job, &r);
	snprintf(yard, sizeof(yard), "%.0f us, mlock %.0f us",
		 r.ns.median / 1e3, r.yard.median / 1e3);
	bench_row(&(struct bench_row){ figure, "mlocks", r.times, NULL, yard,
		want, target, "" });
}

static void live_registrations(struct live *l)
{
	struct bench_job job = { .window = call_window, .arg = l };
	struct bench_result r;
	uint8_t *own = aligned_alloc(PAGE, MB);

	if (!own)
		bench_broken("no memory");
	memset(own, 1, MB);
	bench_measure(&job, &r);
	bench_row(&(struct bench_row){ "a call that does next to nothing",
		"us", bench_scale(&r.ns, 1e-3), NULL, "", BENCH_RECORD, 0,
		"fl_query_counters" });
	l->pages = MB / PAGE;
	bring_back(l);
	l->mem = l->x->mem;
	l->access = FL_LOCAL_WRITE;
	l->row = IN_A_ROW;
	job.window = register_window;
	bench_measure(&job, &r);
	bench_row(&(struct bench_row){ "register 1 MB, on demand", "us",
		bench_scale(&r.ns, 1e-3), NULL, "", BENCH_AT_MOST, 2,
		"constant" });
	l->access = FL_LOCAL_WRITE | FL_PINNED;
	row_register(l, "register 1 MB, pinned, pages there", register_window,
		     BENCH_AT_MOST, 1.2);
	l->mem = own;
	l->row = 1;	/* the first moves its pages */
	l->access = FL_LOCAL_WRITE;
	row_register(l, "register 1 MB of malloc, on demand", register_window,
		     BENCH_RECORD, 0);
	row_register(l, "  the way back", deregister_window, BENCH_RECORD, 0);
	l->access = FL_LOCAL_WRITE | FL_PINNED;
	row_register(l, "register 1 MB of malloc, pinned", register_window,
		     BENCH_RECORD, 0);
	free(own);
}

/* What `ibv_reg_mr` with IBV_ACCESS_ON_DEMAND asks for, too. */
static void live_untouched(struct live *l)
{
	struct bench_job job = { .window = untouched_window,
				 .yard = touched_window, .arg = l };
	struct bench_result r;
	char yard[80];

	bench_measure(&job, &r);
	snprintf(yard, sizeof(yard), "%.0f us, touched %.0f us",
		 r.ns.median / 1e3, r.yard.median / 1e3);
	bench_row(&(struct bench_row){ "register 64 MB that nobody has touched",
		"times", r.times, NULL, yard, BENCH_AT_MOST, 0.5,
		"no page is moved; pages that are there, are" });
}

void bench_live(struct across *x, void *unused)
{
	struct live l = { .x = x };
	struct bench_job job = { .window = bench_bare_pair };
	struct bench_result r;

	(void)unused;
	bench_measure(&job, &r);
	bench_row(&(struct bench_row){ "bare: SIGSEGV + mprotect of one page",
		"us", bench_scale(&r.ns, 1e-3), NULL, "", BENCH_RECORD, 0,
		"the yardstick: a pair" });
	cpu_faults(&l);
	device_faults(&l);
	live_evictions(&l);
	live_registrations(&l);
	live_untouched(&l);
}
