// SPDX-License-Identifier: BSD-2-Clause
/*
 * The same writes through library, driver and kernel, as an application sees
 * them; and what the invariants cost in lockstep.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_stage.h"
#include "sim/sim.h"

#define MB	(1u << 20)

struct work {
	struct stage *stage;
	uint32_t bytes, times;
	int half;		/* of the source's buffer: where a copy goes */
	uint64_t events;
	double ns;
};

static double write_window(void *arg)
{
	struct work *w = arg;

	return stage_write(w->stage, 0, w->bytes, w->times);
}

/* In the process itself: nobody else may touch its pages. */
static int do_copy(struct rpc_app *a, void *arg)
{
	struct work *w = arg;
	uint8_t *mem = w->stage->buffer[0]->mem;
	uint64_t t = bench_now_ns();
	uint32_t i;

	(void)a;
	for (i = 0; i < w->times; i++) {
		memcpy(mem + w->stage->bytes / 2, mem, w->bytes);
		__asm__ volatile("" : : : "memory");
	}
	w->ns = (double)(bench_now_ns() - t) / w->times;
	return 0;
}

static double copy_window(void *arg)
{
	struct work *w = arg;

	stage_in(w->stage, 0, do_copy, w);
	return w->ns;
}

static void testbed_writes(struct stage *s, void *arg)
{
	bool own = testbed_cfg(s->testbed)->drive == SIM_DEDICATED;
	struct work w = { .stage = s, .bytes = 8, .times = 64 };
	struct bench_job job = { .window = write_window, .arg = &w,
				 .trace = testbed_trace(s->testbed) };
	struct bench_result r;
	char yard[80];

	(void)arg;
	stage_write(s, 0, 8, 10000);	/* once round the rings of the trace */
	bench_measure(&job, &r);
	bench_row(&(struct bench_row){
		own ? "8 B write, library, dedicated" :
		      "8 B write, library, inline", "ns", r.ns,
		bench_trace_text(&r), "libfabric shm 620 (near) to 1740 (far)",
		own ? BENCH_RECORD : BENCH_AT_MOST, 700,
		own ? "" : "limit: when the CPUs are far" });
	if (!own)
		bench_beside_shm(&job, 8, 1, BENCH_AT_MOST, 1);
	w.bytes = MB;
	w.times = 1;
	job.yard = copy_window;
	bench_measure(&job, &r);
	snprintf(yard, sizeof(yard), "memcpy %.1f GB/s, write %.2f GB/s",
		 w.bytes / r.yard.median, w.bytes / r.ns.median);
	bench_row(&(struct bench_row){
		own ? "1 MB write, library, hot, dedicated" :
		      "1 MB write, library, hot, inline", "of memcpy",
		r.of_yard, bench_trace_text(&r), yard, BENCH_RECORD, 0, "" });
}

/* ---- what the invariants cost ---- */

struct checked {
	const char *figure;
	int boards;
	bool checks, all, faults;
	double target;		/* Mevent/s; 0: none */
};

static double event_window(void *arg)
{
	struct work *w = arg;
	struct sim *sim = testbed_sim(w->stage->testbed);
	uint64_t e = sim_events(sim);

	stage_write(w->stage, 0, w->bytes, 1);
	w->events = sim_events(sim) - e;
	return w->stage->cpu_ns / (double)w->events;
}

static void event_prepare(void *arg)
{
	struct work *w = arg;

	stage_evict(w->stage, 1, 0, w->bytes);
}

static void testbed_events(struct stage *s, void *arg)
{
	const struct checked *c = arg;
	struct work w = { .stage = s, .bytes = MB };
	struct bench_job job = { .window = event_window, .arg = &w,
				 .prepare = c->faults ? event_prepare : NULL,
				 .trace = testbed_trace(s->testbed),
				 .round_ms = 700 };
	struct bench_result r;
	char note[80];

	bench_measure(&job, &r);
	snprintf(note, sizeof(note), "of CPU; %llu events each, polling",
		 (unsigned long long)w.events);
	bench_row(&(struct bench_row){ c->figure, "Mevent/s",
		bench_inverse(&r.ns, 1e3), bench_trace_text(&r), "",
		c->target > 0 ? BENCH_AT_LEAST : BENCH_RECORD, c->target, note });
}

/* The same per event for two boards and for sixteen: what did not change is not looked at. */
static void testbed_checks(void)
{
	static const struct checked rows[] = {
		{ "lockstep, 2 boards, not checked", 2, false, false, false, 0 },
		{ "lockstep, 2 boards, checked", 2, true, false, false, 1 },
		{ "lockstep, 4 boards, checked", 4, true, false, false, 1 },
		{ "lockstep, 8 boards, checked", 8, true, false, false, 1 },
		{ "lockstep, 16 boards, checked", 16, true, false, false, 1 },
		{ "lockstep, 16 boards, not checked", 16, false, false, false, 0 },
		{ "lockstep, 2 boards, 256 faults, not checked", 2, false, false, true, 0 },
		{ "lockstep, 2 boards, 256 faults, checked", 2, true, false, true, 0 },
		{ "lockstep, 2 boards, all checked each time", 2, true, true, false, 0 },
	};
	unsigned int i;

	bench_title("What the invariants cost: 1 MB from one board to each of the "
		    "others");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct checked row = rows[i];
		struct stage_config cfg = {
			.mode = SIM_LOCKSTEP, .drive = SIM_DEDICATED,
			.bytes = 2 * MB, .boards = row.boards,
			.checks = row.checks,
		};

		if (row.all)
			setenv("FAULTLINE_CHECKS", "all", 1);
		else
			unsetenv("FAULTLINE_CHECKS");
		stage_run(&cfg, testbed_events, &row);
	}
	unsetenv("FAULTLINE_CHECKS");
}

void bench_testbed(void)
{
	struct stage_config cfg = { .mode = SIM_THREADS, .drive = SIM_INLINE,
				    .bytes = 2 * MB };

	bench_title("Writes as an application sees them: library, driver, "
		    "kernel");
	stage_run(&cfg, testbed_writes, NULL);
	cfg.drive = SIM_DEDICATED;
	stage_run(&cfg, testbed_writes, NULL);
	testbed_checks();
}
