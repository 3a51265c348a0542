// SPDX-License-Identifier: BSD-2-Clause
/* What one trace record costs; --instructions N: only emit N, for callgrind. */
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void emit(struct trace *t, uint64_t n)
{
	struct trace_at at = { .board = 1, .xfer = 2, .block = 3 };
	uint64_t i;

	for (i = 0; i < n; i++)
		at.cause = trace_emit(t, EV_SMMU_HIT, &at, 1, i, 3, 0);
}

/* The best of five: the others were disturbed. */
static double ns_each(struct trace *t, uint64_t n)
{
	double best = 1e9, s;
	int i;

	for (i = 0; i < 5; i++) {
		s = now_s();
		emit(t, n);
		s = now_s() - s;
		if (s < best)
			best = s;
	}
	return best * 1e9 / (double)n;
}

int main(int argc, char **argv)
{
	struct trace_config cfg = { .threads = false };
	const uint64_t n = 4000000;
	struct trace *t = trace_create(&cfg);

	if (argc == 3 && !strcmp(argv[1], "--instructions")) {
		emit(t, strtoull(argv[2], NULL, 0));
		trace_destroy(t);
		return 0;
	}
	printf("trace record, lockstep: %.1f ns\n", ns_each(t, n));
	trace_enable(t, false);
	printf("trace record, counted only: %.1f ns\n", ns_each(t, n));
	printf("no recorder: %.1f ns\n", ns_each(NULL, n));
	trace_destroy(t);
	cfg.threads = true;
	t = trace_create(&cfg);
	printf("trace record, threads: %.1f ns\n", ns_each(t, n));
	trace_destroy(t);
	cfg.threads = false;
	cfg.out = fopen("/dev/null", "w");
	if (!cfg.out)
		return 1;
	t = trace_create(&cfg);
	printf("trace record, written as text: %.1f ns\n", ns_each(t, n / 8));
	trace_destroy(t);
	fclose(cfg.out);
	return 0;
}
