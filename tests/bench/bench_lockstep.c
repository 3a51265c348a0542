// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lockstep: events a second of wall time, two boards, no kernel. The application
 * sleeps between looks at its queue, so that nearly all events are steps of
 * hardware; what a change from one software thread to another costs is a row of
 * its own.
 */
#include "bench.h"

#include <stdio.h>

#include "bench_pair.h"

#define LOOK_NS		100000
#define CHANGES		200

struct run {
	struct pair *pair;
	uint32_t bytes;
	uint64_t events;	/* of the last window */
	bool stop;
};

static double send_window(void *arg)
{
	struct run *r = arg;
	uint64_t t = bench_now_ns(), e = sim_events(r->pair->sim);

	pair_post(r->pair, 0, 0, r->bytes);
	pair_take_asleep(r->pair, LOOK_NS);
	r->events = sim_events(r->pair->sim) - e;
	return (double)(bench_now_ns() - t) / (double)r->events;
}

static void lockstep_rate(struct pair *p, const char *figure, uint32_t bytes,
			  unsigned int round_ms)
{
	struct run run = { .pair = p, .bytes = bytes };
	struct bench_job job = { .window = send_window, .arg = &run,
				 .trace = p->trace, .round_ms = round_ms };
	struct bench_result r;
	char note[80];

	bench_measure(&job, &r);
	snprintf(note, sizeof(note), "%llu events each",
		 (unsigned long long)run.events);
	bench_row(&(struct bench_row){ figure, "Mevent/s",
		bench_inverse(&r.ns, 1e3), bench_trace_text(&r), "",
		BENCH_RECORD, 0, note });
}

/* A second software thread that is always due at the same time. */
static void lockstep_other(void *arg)
{
	struct run *r = arg;

	while (!r->stop)
		sim_sleep(1);
}

static double change_window(void *arg)
{
	struct run *r = arg;
	uint64_t t = bench_now_ns(), e = sim_events(r->pair->sim);
	int i;

	for (i = 0; i < CHANGES; i++)
		sim_sleep(1);
	return (double)(bench_now_ns() - t) /
	       (double)(sim_events(r->pair->sim) - e);
}

static void lockstep_figures(struct pair *p, void *arg)
{
	struct run run = { .pair = p };
	struct bench_job job = { .window = change_window, .arg = &run };
	struct bench_result r;
	struct sim_thread *t;

	(void)arg;
	lockstep_rate(p, "1 MB write", 1 << 20, 600);
	lockstep_rate(p, "64 MB write", 64 << 20, 1500);
	t = sim_thread_start(p->sim, "other", false, lockstep_other, &run);
	bench_measure(&job, &r);
	run.stop = true;
	sim_thread_join(t);
	bench_row(&(struct bench_row){ "change of the software thread", "us",
		bench_scale(&r.ns, 1e-3), NULL, "", BENCH_RECORD, 0, "" });
}

void bench_lockstep(void)
{
	const struct pair_config cfg = { SIM_LOCKSTEP, SIM_INLINE, 0,
					 64 << 20 };

	bench_title("Lockstep, two boards, no kernel");
	pair_run(&cfg, lockstep_figures, NULL);
}
