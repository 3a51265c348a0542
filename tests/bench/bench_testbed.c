// SPDX-License-Identifier: BSD-2-Clause
/*
 * The same writes through library, driver and kernel, as an application sees
 * them; and what the invariants cost in lockstep.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "bench_stage.h"

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
static int do_copy(struct testbed_process *p, void *arg)
{
	struct work *w = arg;
	uint8_t *mem = w->stage->buffer[0]->mem;
	uint64_t t = bench_now_ns();
	uint32_t i;

	(void)p;
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

static double event_window(void *arg)
{
	struct work *w = arg;
	struct sim *sim = testbed_sim(w->stage->testbed);
	uint64_t e = sim_events(sim);
	double ns = stage_write(w->stage, 0, w->bytes, 1);

	w->events = sim_events(sim) - e;
	return ns / (double)w->events;
}

static void testbed_events(struct stage *s, void *arg)
{
	struct work w = { .stage = s, .bytes = MB };
	struct bench_job job = { .window = event_window, .arg = &w,
				 .trace = testbed_trace(s->testbed),
				 .round_ms = 700 };
	struct bench_result r;
	char note[80];

	bench_measure(&job, &r);
	snprintf(note, sizeof(note), "%llu events each, polling",
		 (unsigned long long)w.events);
	bench_row(&(struct bench_row){ arg ?
		"lockstep, 1 MB write, invariants checked" :
		"lockstep, 1 MB write, not checked", "Mevent/s",
		bench_inverse(&r.ns, 1e3), bench_trace_text(&r), "",
		BENCH_RECORD, 0, note });
}

void bench_testbed(void)
{
	struct stage_config cfg = { .mode = SIM_THREADS, .drive = SIM_INLINE,
				    .bytes = 2 * MB };
	bool checks = true;

	bench_title("Writes as an application sees them: library, driver, "
		    "kernel");
	stage_run(&cfg, testbed_writes, NULL);
	cfg.drive = SIM_DEDICATED;
	stage_run(&cfg, testbed_writes, NULL);
	cfg.mode = SIM_LOCKSTEP;
	stage_run(&cfg, testbed_events, NULL);
	cfg.checks = true;
	stage_run(&cfg, testbed_events, &checks);
}
