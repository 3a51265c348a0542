// SPDX-License-Identifier: BSD-2-Clause
/* Windows, medians and rounds. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/trace.h"

#define ROUND_MS	300
/* Two bounces that differ by more: the CPUs moved during the window. */
#define MOVED		1.6
#define RING		65536	/* records; trace.h, the default */

/* One series of numbers over all rounds. */
struct series {
	double v[BENCH_ROUNDS * BENCH_WINDOWS];
	unsigned int n, round_start;
	double round[BENCH_ROUNDS];
	unsigned int rounds;
};

struct windows {
	struct series ns, yard, of_yard, times, bounces, bounce, trace;
	unsigned int dropped;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t bench_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t bench_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int measure_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *v, unsigned int n)
{
	if (!n)
		return 0;
	qsort(v, n, sizeof(*v), measure_compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void measure_add(struct series *s, double v)
{
	if (s->n < sizeof(s->v) / sizeof(s->v[0]))
		s->v[s->n++] = v;
}

static void end_round(struct series *s)
{
	double copy[BENCH_WINDOWS];
	unsigned int n = s->n - s->round_start;

	if (!n)
		return;
	memcpy(copy, s->v + s->round_start, n * sizeof(*copy));
	s->round[s->rounds++] = bench_median(copy, n);
	s->round_start = s->n;
}

static void measure_spread(struct series *s, struct bench_spread *out)
{
	unsigned int i;

	*out = (struct bench_spread){ .windows = s->n };
	if (!s->n)
		return;
	out->median = bench_median(s->v, s->n);
	out->low = out->high = s->round[0];
	for (i = 1; i < s->rounds; i++) {
		if (s->round[i] < out->low)
			out->low = s->round[i];
		if (s->round[i] > out->high)
			out->high = s->round[i];
	}
}

void bench_rounds(const double value[BENCH_ROUNDS], struct bench_spread *s)
{
	double v[BENCH_ROUNDS];

	memcpy(v, value, sizeof(v));
	s->median = bench_median(v, BENCH_ROUNDS);
	s->low = v[0];
	s->high = v[BENCH_ROUNDS - 1];
	s->windows = BENCH_ROUNDS;
}

struct bench_spread bench_scale(const struct bench_spread *s, double by)
{
	return (struct bench_spread){ s->median * by, s->low * by,
				      s->high * by, s->windows };
}

struct bench_spread bench_inverse(const struct bench_spread *s, double by)
{
	if (!s->windows)
		return *s;
	return (struct bench_spread){ by / s->median, by / s->high, by / s->low,
				      s->windows };
}

static double measure_one(const struct bench_job *job, bool on)
{
	double ns;

	if (job->trace)
		trace_enable(job->trace, on);
	if (job->prepare)
		job->prepare(job->arg);
	ns = job->window(job->arg);
	if (ns < 0)
		bench_broken("a window of a figure failed");
	return ns;
}

/* A window with trace, one without, one of the yardstick. */
static void measure_windows(const struct bench_job *job, struct windows *w,
			    unsigned int turn)
{
	double on, off = 0, yard = 0, before = 0, after = 0;

	if (job->bounce)
		before = bench_bounce_ns();
	if (job->trace && turn % 2)
		off = measure_one(job, false);
	on = measure_one(job, true);
	if (job->bounce)
		after = bench_bounce_ns();
	if (job->trace && !(turn % 2))
		off = measure_one(job, false);
	if (job->trace)
		trace_enable(job->trace, true);
	if (job->yard)
		yard = job->yard(job->arg);
	if (before > 0 && after > 0 &&
	    (before > MOVED * after || after > MOVED * before)) {
		w->dropped++;
		return;
	}
	measure_add(&w->ns, on);
	if (off > 0)
		measure_add(&w->trace, on / off);
	if (yard > 0) {
		measure_add(&w->yard, yard);
		measure_add(&w->of_yard, yard / on);
		measure_add(&w->times, on / yard);
	}
	if (before > 0 && after > 0) {
		measure_add(&w->bounce, (before + after) / 2);
		measure_add(&w->bounces, on * 2 / (before + after));
	}
}

static void round_of(const struct bench_job *job, struct windows *w)
{
	unsigned int ms = job->round_ms ? job->round_ms : ROUND_MS, i;
	uint64_t end_ns = bench_now_ns() + ms * UINT64_C(1000000);

	for (i = 0; i < BENCH_WINDOWS; i++) {
		measure_windows(job, w, i);
		if (bench_now_ns() >= end_ns)
			break;
	}
	end_round(&w->ns);
	end_round(&w->yard);
	end_round(&w->of_yard);
	end_round(&w->times);
	end_round(&w->bounces);
	end_round(&w->bounce);
}

/* Once round this thread's ring: the first lap is the system's first touch. */
static void warm_trace(struct trace *t)
{
	struct trace_at at = { 0 };
	int i;

	for (i = 0; t && i < RING; i++)
		trace_emit(t, EV_APP_NOTE, &at, 0, 0, 0, 0);
}

void bench_measure(const struct bench_job *job, struct bench_result *r)
{
	struct windows *w = calloc(1, sizeof(*w));
	int i;

	if (!w)
		bench_broken("no memory");
	memset(r, 0, sizeof(*r));
	warm_trace(job->trace);
	/* Once for nothing: caches, first touches, lazy binding. */
	measure_one(job, true);
	if (job->yard)
		job->yard(job->arg);
	for (i = 0; i < BENCH_ROUNDS; i++) {
		round_of(job, w);
		if (job->after_round)
			job->after_round(job->arg, (unsigned int)i);
	}
	/* A round may have lost all its windows. */
	for (i = 0; i < (int)w->ns.rounds; i++)
		r->round_ns[i] = w->ns.round[i];
	measure_spread(&w->ns, &r->ns);
	measure_spread(&w->yard, &r->yard);
	measure_spread(&w->of_yard, &r->of_yard);
	measure_spread(&w->times, &r->times);
	measure_spread(&w->bounces, &r->bounces);
	measure_spread(&w->bounce, &r->bounce);
	r->traced = w->trace.n;
	if (r->traced)
		r->trace_percent =
			(bench_median(w->trace.v, w->trace.n) - 1) * 100;
	r->dropped = w->dropped;
	free(w);
}

uint64_t bench_wander(uint64_t *at, uint32_t bytes, uint64_t span)
{
	uint64_t place = *at;

	*at += bytes;
	if (*at + bytes > span)
		*at = 0;
	return place;
}
