// SPDX-License-Identifier: BSD-2-Clause
/*
 * Beside libfabric's shared memory: a window of ours, a run of fabric_write, in turn. Two CPUs
 * are near each other or far apart, and move; so how far is measured before and after each
 * pair, and there is a row for either, and one for all pairs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_peer.h"

#define PAIRS		24
#define WINDOWS		101	/* of ours, each time: their median, as fabric_write does it */

enum { NEAR, FAR, ALL, PLACES };

struct shm {
	double times[PLACES][PAIRS], ours[PLACES][PAIRS], other[PLACES][PAIRS];
	unsigned int n[PLACES];
	bool pingpong;		/* there is but fi_pingpong */
};

static double shm_other(const struct shm *s, uint32_t bytes, unsigned int depth)
{
	return s->pingpong ? peer_run(PEER_LIBFABRIC, PEER_LATENCY, bytes) :
			     peer_fabric_write(bytes, depth);
}

static double shm_ours(const struct bench_job *job)
{
	double ns[WINDOWS];
	unsigned int i;

	for (i = 0; i < WINDOWS; i++)
		ns[i] = job->window(job->arg);
	return bench_median(ns, WINDOWS);
}

static void shm_add(struct shm *s, unsigned int place, double ours, double other,
		    bool rate)
{
	unsigned int i = s->n[place]++;

	s->times[place][i] = rate ? other / ours : ours / other;
	s->ours[place][i] = ours;
	s->other[place][i] = other;
}

static void shm_pair(struct shm *s, const struct bench_job *job, uint32_t bytes,
		     unsigned int depth)
{
	double before = bench_bounce_ns(), ours = shm_ours(job);
	double other = shm_other(s, bytes, depth), after = bench_bounce_ns();

	if (other <= 0)
		return;
	shm_add(s, ALL, ours, other, depth > 1);
	if (before <= 0 || after <= 0 ||
	    (before < BENCH_NEAR_NS) != (after < BENCH_NEAR_NS))
		return;
	shm_add(s, before < BENCH_NEAR_NS ? NEAR : FAR, ours, other, depth > 1);
}

static void shm_row(struct shm *s, unsigned int place, bool rate,
		    enum bench_want want, double target)
{
	static const char *const figure[] = {
		[NEAR] = "  of libfabric shm, CPUs near",
		[FAR] = "  of libfabric shm, CPUs far",
		[ALL] = "  of libfabric shm, wherever they were",
	};
	unsigned int n = s->n[place];
	struct bench_spread v = { .windows = n };
	char yard[100] = "", note[80] = "";

	if (n) {
		v.median = bench_median(s->times[place], n);	/* sorts */
		v.low = s->times[place][0];
		v.high = s->times[place][n - 1];
		snprintf(yard, sizeof(yard), "%.0f ns, libfabric %.0f ns; %u pairs",
			 bench_median(s->ours[place], n),
			 bench_median(s->other[place], n), n);
		snprintf(note, sizeof(note), "%s", s->pingpong ? "fi_pingpong" :
			 rate ? "fi_write, as many under way" : "fi_write, one way");
	} else {
		snprintf(note, sizeof(note), s->n[ALL] ? "no pair while they were" :
			 "no figure: package libfabric-dev");
	}
	bench_row(&(struct bench_row){ figure[place], "times", v, NULL, yard, want,
		target, note });
}

void bench_beside_shm(const struct bench_job *job, uint32_t bytes,
		      unsigned int depth, enum bench_want want, double target)
{
	struct shm *s = calloc(1, sizeof(*s));
	unsigned int i;

	if (!s)
		bench_broken("no memory");
	s->pingpong = depth == 1 && !peer_fabric_write(bytes, depth) &&
		      !peer_missing(PEER_LIBFABRIC);
	for (i = 0; i < PAIRS && (s->pingpong || peer_fabric_write_is_here()); i++)
		shm_pair(s, job, bytes, depth);
	for (i = 0; i < PLACES; i++)
		shm_row(s, i, depth > 1, want, target);
	bench_bounce_end();
	free(s);
}
