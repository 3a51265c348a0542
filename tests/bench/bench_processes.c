// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes between two ordinary processes through boards in a third, everything
 * resident; side by side with what others have for moving data between two
 * processes, and with one thread's memcpy. After each round of windows the others
 * have their turn. Their latencies are of messages to and fro.
 */
#include "bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_across.h"
#include "bench_live.h"
#include "bench_peer.h"

#define BYTES	(UINT64_C(64) << 20)	/* more than the last cache */
#define RUNS	3			/* of a peer, after each round */
#define BUSY	2			/* rounds that differ so: not alone */

struct figure {
	struct across *x;
	uint8_t *copy;			/* of memcpy: as much again */
	const char *name;
	uint32_t bytes, depth, per_window;
	uint64_t span, at;		/* how far the place wanders, where */
	enum peer_figure kind;
	double peer_ns[PEERS][BENCH_ROUNDS];
};

/* ---- windows ---- */

static double write_window(void *arg)
{
	struct figure *f = arg;
	uint64_t t = bench_now_ns(), at;
	uint32_t i;

	for (i = 0; i < f->per_window; i++) {
		if (i >= f->depth)
			across_take(f->x);
		at = bench_wander(&f->at, f->bytes, f->span);
		across_post(f->x, at, at, f->bytes);
	}
	for (i = 0; i < f->depth; i++)
		across_take(f->x);
	return (double)(bench_now_ns() - t) / f->per_window;
}

static double ping_window(void *arg)
{
	struct figure *f = arg;

	return across_ping(f->x, f->per_window);
}

static double copy_window(void *arg)
{
	struct figure *f = arg;
	uint64_t t = bench_now_ns(), at;
	uint32_t i;

	for (i = 0; i < f->per_window; i++) {
		at = bench_wander(&f->at, f->bytes, f->span);
		memcpy(f->copy + at, f->x->mem + at, f->bytes);
		__asm__ volatile("" : : : "memory");
	}
	return (double)(bench_now_ns() - t) / f->per_window;
}

/*
 * What a peer says is an average with all in it that others did to the CPUs, so
 * its best run of these counts.
 */
static void peers_turn(void *arg, unsigned int round)
{
	struct figure *f = arg;
	enum peer p;
	double ns;
	int i;

	for (p = 0; p < PEERS; p++)
		for (i = 0; i < RUNS && !peer_missing(p); i++) {
			ns = peer_run(p, f->kind, f->bytes);
			if (ns > 0 && (f->peer_ns[p][round] <= 0 ||
				       ns < f->peer_ns[p][round]))
				f->peer_ns[p][round] = ns;
		}
}

/* ---- rows ---- */

static bool processes_stream(const struct figure *f)
{
	return f->kind == PEER_STREAM && f->bytes > 8;
}

/* Bytes at a time are told as latency or rate, more as bandwidth. */
static void row_value(const struct figure *f, const char *name,
		      const struct bench_spread *ns, const char *yardstick,
		      const char *note, bool peer)
{
	struct bench_spread s = *ns;
	const char *unit = "ns";

	if (processes_stream(f)) {
		s = bench_inverse(ns, f->bytes);
		unit = "GB/s";
	} else if (f->kind == PEER_STREAM) {
		s = bench_inverse(ns, 1e3);
		unit = "Mops/s";
	}
	(peer ? bench_row_of_peer : bench_row)(&(struct bench_row){ name, unit,
		s, NULL, yardstick, BENCH_RECORD, 0, note });
}

/* Of the rounds in which the peer gave a figure; windows 0: none. */
static struct bench_spread peer_ns(const struct figure *f, enum peer p)
{
	struct bench_spread s = { 0 };
	double v[BENCH_ROUNDS];
	int i;

	for (i = 0; i < BENCH_ROUNDS; i++)
		if (f->peer_ns[p][i] > 0)
			v[s.windows++] = f->peer_ns[p][i];
	if (!s.windows)
		return s;
	s.median = bench_median(v, s.windows);	/* sorts */
	s.low = v[0];
	s.high = v[s.windows - 1];
	return s;
}

static void row_peer(const struct figure *f, enum peer p)
{
	struct bench_spread s = peer_ns(f, p);
	const char *missing = peer_missing(p);
	char name[60], note[80] = "";

	snprintf(name, sizeof(name), "  %s", peer_name(p));
	if (missing)
		snprintf(note, sizeof(note), "missing: package %s", missing);
	else if (!s.windows)
		snprintf(note, sizeof(note), "gave no figure");
	row_value(f, name, &s, "", note, true);
}

/*
 * The shortest of all runs of the better of these peers; 0: no figure. What others
 * do to the CPUs can only make them longer. *busy: they did much.
 */
static double best_ns(const struct figure *f, enum peer from, enum peer to,
		      bool *busy)
{
	struct bench_spread s;
	double ns = 0;
	enum peer p;

	for (p = from; p <= to; p++) {
		s = peer_ns(f, p);
		if (!s.windows || (ns > 0 && s.low >= ns))
			continue;
		ns = s.low;
		*busy = s.high > BUSY * s.low;
	}
	return ns;
}

static void row_aim(const struct figure *f, const struct bench_result *r,
		    enum peer from, enum peer to, const char *what)
{
	bool busy = false, latency = f->kind == PEER_LATENCY;
	double peer = best_ns(f, from, to, &busy), times[BENCH_ROUNDS];
	struct bench_spread s = { 0 };
	const bool aim = latency || f->bytes >= 1 << 16;
	char yard[100] = "";
	int i;

	for (i = 0; i < BENCH_ROUNDS && peer > 0 && r->round_ns[i] > 0; i++)
		times[i] = latency ? r->round_ns[i] / peer :
				     peer / r->round_ns[i];
	if (i == BENCH_ROUNDS) {
		bench_rounds(times, &s);
		if (processes_stream(f))
			snprintf(yard, sizeof(yard), "%.2f GB/s, peer's best "
				 "%.2f GB/s", f->bytes / r->ns.median,
				 f->bytes / peer);
		else
			snprintf(yard, sizeof(yard), "%.0f ns, peer's best "
				 "%.0f ns", r->ns.median, peer);
	}
	bench_row(&(struct bench_row){ what, "times", s, NULL, yard,
		!aim ? BENCH_RECORD : latency ? BENCH_AT_MOST :
		BENCH_AT_LEAST, latency ? 2 : 1,
		!s.windows ? "no peer to compare with" :
		busy ? "busy machine: the peer's rounds differ" : "" });
}

static void processes_show(struct figure *f, const struct bench_job *job)
{
	struct bench_result r;
	char yard[60] = "";
	enum peer p;

	memset(f->peer_ns, 0, sizeof(f->peer_ns));
	bench_measure(job, &r);
	if (r.yard.windows)
		snprintf(yard, sizeof(yard), "memcpy %.1f GB/s, %.2f of it",
			 f->bytes / r.yard.median, r.of_yard.median);
	row_value(f, f->name, &r.ns, yard, "", false);
	if (!job->after_round)
		return;
	for (p = 0; p < PEERS; p++)
		row_peer(f, p);
	row_aim(f, &r, PEER_LIBFABRIC, PEER_UCX_TAG,
		"  of the better peer with queues");
	row_aim(f, &r, PEER_UCX_PUT, PEER_UCX_PUT,
		"  of plain stores (UCX put)");
}

/* What was written has arrived; the other application says so. */
static void processes_check(struct across *x, uint32_t bytes)
{
	uint64_t there = 0, here = 0, i;

	for (i = 0; i < bytes; i++)
		x->mem[i] = (uint8_t)(i * 7 + bytes);
	for (i = 0; i < bytes; i++)
		here += x->mem[i] * (i + 1);
	across_post(x, 0, 0, bytes);
	across_take(x);
	across_tell(x, ACROSS_SUM, 0, bytes, &there);
	if (here != there)
		bench_broken("what was written is not what arrived");
}

static void processes_small(struct figure *f)
{
	struct bench_job job = { .window = write_window, .arg = f,
				 .after_round = peers_turn };

	f->bytes = 8;
	f->span = 4096;
	f->kind = PEER_LATENCY;
	f->depth = 1;
	f->per_window = 20000;
	write_window(f);	/* once round the rings of the trace */
	f->per_window = 32;
	f->name = "8 B write, post to polled completion";
	processes_show(f, &job);
	bench_beside_shm(&job, 8, 1, BENCH_RECORD, 0);
	f->name = "8 B write to and fro, seen in memory, 1 way";
	job.window = ping_window;
	processes_show(f, &job);
	job.window = write_window;
	f->kind = PEER_STREAM;
	f->depth = 32;
	f->per_window = 256;
	f->name = "8 B writes, 32 under way";
	processes_show(f, &job);
	bench_beside_shm(&job, 8, f->depth, BENCH_AT_LEAST, 4);
}

static void processes_large(struct figure *f)
{
	static const struct {
		const char *hot, *cold;
		uint32_t bytes, depth, per_window;
	} size[] = {
		{ "4 KB writes, in cache", "4 KB writes, out of cache",
		  4096, 8, 64 },
		{ "64 KB writes, in cache", "64 KB writes, out of cache",
		  1 << 16, 4, 16 },
		{ "1 MB writes, in cache", "1 MB writes, out of cache",
		  1 << 20, 2, 4 },
	};
	struct bench_job job = { .window = write_window, .yard = copy_window,
				 .arg = f };
	unsigned int i;

	f->kind = PEER_STREAM;
	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		f->bytes = size[i].bytes;
		f->depth = size[i].depth;
		f->per_window = size[i].per_window;
		processes_check(f->x, f->bytes);
		f->name = size[i].hot;
		f->at = 0;
		f->span = f->bytes;
		/* The peers use the same buffers again and again, too. */
		job.after_round = peers_turn;
		processes_show(f, &job);
		f->name = size[i].cold;
		f->span = f->x->bytes;
		job.after_round = NULL;
		processes_show(f, &job);
	}
}

static void processes_writes(struct across *x, void *arg)
{
	struct figure f = { .x = x, .copy = malloc(x->bytes) };

	(void)arg;
	if (!f.copy)
		bench_broken("no memory");
	memset(f.copy, 0x33, x->bytes);
	processes_small(&f);
	processes_large(&f);
	free(f.copy);
}

void bench_processes(void)
{
	bench_title("Two applications and the boards, each a process: writes, "
		    "all resident");
	across_run(BYTES, processes_writes, NULL);
	bench_title("The same: pages that are not there");
	across_run(UINT64_C(4) << 20, bench_live, NULL);
}
