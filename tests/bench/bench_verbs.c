// SPDX-License-Identifier: BSD-2-Clause
/*
 * perftest as it comes from Debian, on two boards: ib_send_lat and ib_write_bw, with
 * regions that are pinned and with regions on demand, and the other programs that move
 * data between two processes. A run of the one and a run of the other are neighbours.
 * Most of these programs poll and never give the CPU away, and when others want it too a
 * run is mostly waiting; but what others do can only make a run longer. So the shortest
 * run of each round counts (of the divisor: of all rounds), and the table shows the median
 * of the rounds, lowest and highest. The median of all pairs of neighbours stands beside
 * it: on a machine that has nothing else to do both say nearly the same.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_peer.h"
#include "tools/harness/board_process.h"

#define ROUND_MS	2000
#define RUNS		3	/* of each, after a round's pairs */
#define TRIES		3	/* of a run that gives no figure */
#define BUSY		2	/* rounds that differ so: not alone */

/* Two programs, one after the other. */
struct verbs_pair {
	const char *program;
	enum peer ours, other;
	enum peer_figure kind;
	uint32_t bytes;
	unsigned int round;
	/* ns, the shortest run of each round; 0: none. */
	double ours_ns[BENCH_ROUNDS], other_ns[BENCH_ROUNDS];
};

/* A machine with much else to do may let a run take too long. */
static double verbs_run(const struct verbs_pair *v, enum peer p, double *best_ns)
{
	double ns = 0;
	int i;

	for (i = 0; i < TRIES && ns <= 0; i++)
		ns = peer_run(p, v->kind, v->bytes);
	if (ns > 0 && (*best_ns <= 0 || ns < *best_ns))
		*best_ns = ns;
	return ns;
}

static double ours_window(void *arg)
{
	struct verbs_pair *v = arg;
	double ns = verbs_run(v, v->ours, &v->ours_ns[v->round]);

	if (ns <= 0)
		bench_broken("%s on boards gave no figure, %d times (does "
			     "tests/cmd/verbs.sh pass?)", v->program, TRIES);
	return ns;
}

static double other_window(void *arg)
{
	struct verbs_pair *v = arg;

	return verbs_run(v, v->other, &v->other_ns[v->round]);
}

static void verbs_end_round(void *arg, unsigned int round)
{
	struct verbs_pair *v = arg;
	int i;

	for (i = 0; i < RUNS; i++) {
		ours_window(v);
		other_window(v);
	}
	if (round + 1 < BENCH_ROUNDS)
		v->round = round + 1;
}

/* False: a round of the other's has no figure. */
static bool verbs_pairs(struct verbs_pair *v, struct bench_result *r)
{
	struct bench_job job = { .window = ours_window, .yard = other_window,
				 .arg = v, .after_round = verbs_end_round,
				 .round_ms = ROUND_MS };
	int i;

	v->round = 0;
	for (i = 0; i < BENCH_ROUNDS; i++)
		v->ours_ns[i] = v->other_ns[i] = 0;
	bench_measure(&job, r);
	for (i = 0; i < BENCH_ROUNDS; i++)
		if (v->other_ns[i] <= 0)
			return false;
	return true;
}

/* ns: of each round, or NULL. */
static void verbs_row(const struct verbs_pair *v, const char *figure,
		      const double *ns, const char *note, bool peer)
{
	struct bench_spread s = { 0 };
	bool stream = v->kind == PEER_STREAM;
	char best[40] = "";

	if (ns) {
		bench_rounds(ns, &s);
		snprintf(best, sizeof(best), stream ? "best %.2f GB/s" :
			 "best %.0f ns", stream ? v->bytes / s.low : s.low);
	}
	(peer ? bench_row_of_peer : bench_row)(&(struct bench_row){
		figure, stream ? "GB/s" : "ns",
		stream ? bench_inverse(&s, v->bytes) : s, NULL, best,
		BENCH_RECORD, 0, note });
}

static double verbs_shortest(const double ns[BENCH_ROUNDS])
{
	struct bench_spread s;

	bench_rounds(ns, &s);
	return s.low;
}

static bool verbs_busy(const double ns[BENCH_ROUNDS])
{
	struct bench_spread s;

	bench_rounds(ns, &s);
	return s.high > BUSY * s.low;
}

/* How many times as long, or as much bandwidth. */
static void verbs_quotient(const struct verbs_pair *v,
			   const struct bench_result *r, const char *figure)
{
	static const char *const what[] = { [PEER_LATENCY] = "medians",
		[PEER_AVERAGE] = "averages", [PEER_STREAM] = "bandwidth" };
	const bool stream = v->kind == PEER_STREAM;
	const double other_ns = verbs_shortest(v->other_ns);
	double times[BENCH_ROUNDS];
	struct bench_spread s;
	char note[120];
	int i;

	for (i = 0; i < BENCH_ROUNDS; i++)
		times[i] = stream ? other_ns / v->ours_ns[i] :
				    v->ours_ns[i] / other_ns;
	bench_rounds(times, &s);
	snprintf(note, sizeof(note), "%s; %u pairs: %.3g%s", what[v->kind],
		 r->times.windows,
		 stream ? r->of_yard.median : r->times.median,
		 verbs_busy(v->ours_ns) || verbs_busy(v->other_ns) ?
		 "; busy machine: rounds differ" : "");
	bench_row(&(struct bench_row){ figure, "times", s, NULL, "",
		BENCH_RECORD, 0, note });
}

static void verbs_peer(struct verbs_pair *v)
{
	const char *missing = peer_missing(v->other);
	struct bench_result r;
	char name[60], note[80];

	snprintf(name, sizeof(name), "  %s", peer_name(v->other));
	if (missing) {
		snprintf(note, sizeof(note), "missing: package %s", missing);
		verbs_row(v, name, NULL, note, true);
	} else if (!verbs_pairs(v, &r)) {
		verbs_row(v, name, NULL, "gave no figure", true);
	} else {
		verbs_row(v, name, v->other_ns, "", true);
		snprintf(name, sizeof(name), "  %s pinned, of it", v->program);
		verbs_quotient(v, &r, name);
	}
}

static void verbs_figures(const char *program, enum peer_figure kind,
			  uint32_t bytes, const char *size)
{
	struct verbs_pair v = { .program = program, .ours = PEER_ON_DEMAND,
				.other = PEER_PINNED, .kind = kind,
				.bytes = bytes };
	struct bench_result r;
	char name[60];
	enum peer p;

	if (!verbs_pairs(&v, &r))
		bench_broken("%s on boards gave no figure in a round", program);
	snprintf(name, sizeof(name), "%s, %s, pinned", program, size);
	verbs_row(&v, name, v.other_ns, "", false);
	snprintf(name, sizeof(name), "%s, %s, on demand", program, size);
	verbs_row(&v, name, v.ours_ns, "each page is missed once",
		  false);
	verbs_quotient(&v, &r, "  on demand, of pinned");
	v.ours = PEER_PINNED;
	for (p = 0; p < PEERS; p++) {
		v.other = p;
		/* fi_pingpong says no more. */
		v.kind = kind == PEER_LATENCY && p == PEER_LIBFABRIC ?
			 PEER_AVERAGE : kind;
		verbs_peer(&v);
	}
}

/* Says what is missing. */
static bool verbs_can(void)
{
	const char *missing = peer_missing(PEER_PINNED);
	char command[600], line[400] = "";
	FILE *f;
	int status;

	if (missing) {
		bench_say("no figures: ib_send_lat is missing (package %s)",
			  missing);
		return false;
	}
	snprintf(command, sizeof(command), "'%s' with -- true 2>&1",
		 peer_faultline());
	f = popen(command, "r");
	if (f && fgets(line, sizeof(line), f))
		line[strcspn(line, "\n")] = 0;
	status = f ? pclose(f) : -1;
	if (status)
		bench_say("no figures: %s", line);
	return !status;
}

/* While this program has one thread. */
void bench_verbs(void)
{
	static const char *const names[] = { "a", "b", NULL };
	struct board_process boards;
	const char *dir = getenv("FAULTLINE_DIR");
	char *before = dir ? strdup(dir) : NULL;

	bench_title("Programs of rdma-core on two boards, and others: perftest");
	if (verbs_can()) {
		if (board_process_folder(&boards, names) ||
		    setenv("FAULTLINE_DIR", boards.folder.path, 1) ||
		    board_process_start(&boards, NULL))
			bench_broken("the boards do not start");
		verbs_figures("ib_send_lat", PEER_LATENCY, 8, "8 B");
		verbs_figures("ib_write_bw", PEER_STREAM, 1 << 16, "64 KB");
		if (board_process_end(&boards, NULL, 0))
			bench_broken("the boards ended with an error");
		board_process_clean(&boards);
	}
	if (before)
		setenv("FAULTLINE_DIR", before, 1);
	else
		unsetenv("FAULTLINE_DIR");
	free(before);
}
