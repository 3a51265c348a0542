// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes between two boards in threads mode, everything resident: against a
 * memcpy of the same buffers by one thread, and short ones against the time
 * that a cache line takes from one CPU to the other.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "bench_pair.h"
#include "board/copy.h"
#include "fabric/fabric.h"

#define COLD_BYTES	(UINT64_C(64) << 20)	/* more than the last cache */
#define DEPTH		32
#define AIM		0.85	/* of memcpy */

struct writes {
	struct pair *pair;
	uint32_t bytes, per_window;
	uint64_t span, at;	/* how far the place wanders, where it is */
};

static double write_window(void *arg)
{
	struct writes *w = arg;
	uint64_t t = bench_now_ns(), at;
	uint32_t i;

	for (i = 0; i < w->per_window; i++) {
		at = bench_wander(&w->at, w->bytes, w->span);
		pair_post(w->pair, at, at, w->bytes);
		pair_take(w->pair);
	}
	return (double)(bench_now_ns() - t) / w->per_window;
}

static double copy_window(void *arg)
{
	struct writes *w = arg;
	uint64_t t = bench_now_ns(), at;
	uint32_t i;

	for (i = 0; i < w->per_window; i++) {
		at = bench_wander(&w->at, w->bytes, w->span);
		memcpy(w->pair->n[1].data + at, w->pair->n[0].data + at,
		       w->bytes);
		__asm__ volatile("" : : : "memory");
	}
	return (double)(bench_now_ns() - t) / w->per_window;
}

static double deep_window(void *arg)
{
	struct writes *w = arg;
	const uint32_t windows = 4;
	uint64_t t = bench_now_ns();
	uint32_t i;

	for (i = 0; i < windows * DEPTH; i++) {
		if (i >= DEPTH)
			pair_take(w->pair);
		pair_post(w->pair, i % DEPTH * 64, i % DEPTH * 64, w->bytes);
	}
	for (i = 0; i < DEPTH; i++)
		pair_take(w->pair);
	return (double)(bench_now_ns() - t) / (windows * DEPTH);
}

static void writes_check(struct pair *p, uint64_t bytes)
{
	if (memcmp(p->n[0].data, p->n[1].data, bytes))
		bench_broken("what was written is not what arrived");
}

static void writes_fraction(struct pair *p, const char *size, uint32_t bytes,
			    bool cold, double target, const char *note)
{
	struct writes w = { .pair = p, .bytes = bytes,
			    .per_window = bytes >= 1 << 20 ? 1 :
					  bytes >= 1 << 16 ? 16 : 32,
			    .span = cold ? p->cfg.data_bytes : bytes };
	struct bench_job job = { .window = write_window, .yard = copy_window,
				 .arg = &w, .trace = p->trace };
	struct bench_result r;
	char figure[64], yard[80];

	memset(p->n[1].data, 0x22, bytes);
	write_window(&w);
	writes_check(p, bytes);
	bench_measure(&job, &r);
	snprintf(figure, sizeof(figure), "%s write, %s, %s, cells of %u", size,
		 cold ? "cold" : "hot", p->cfg.drive == SIM_INLINE ?
		 "inline" : "dedicated",
		 (unsigned int)p->timing.v[T_LINK_CELL]);
	snprintf(yard, sizeof(yard), "memcpy %.1f GB/s, write %.2f GB/s",
		 bytes / r.yard.median, bytes / r.ns.median);
	bench_row(&(struct bench_row){ figure, "of memcpy", r.of_yard,
		bench_trace_text(&r), yard,
		target > 0 ? BENCH_AT_LEAST : BENCH_RECORD, target, note });
}

/* sources: host-measured, targets: 85 % of memcpy, in cache and out of it. */
static void writes_big(struct pair *p, void *arg)
{
	bool mtu = p->timing.v[T_LINK_CELL] == 4096;

	(void)arg;
	writes_fraction(p, "1 MB", 1 << 20, true, AIM, "");
	writes_fraction(p, "64 KB", 1 << 16, true, AIM, "");
	if (!mtu)
		return;
	writes_fraction(p, "1 MB", 1 << 20, false, AIM, "");
	writes_fraction(p, "64 KB", 1 << 16, false, AIM, "");
	writes_fraction(p, "4 KB", 1 << 12, false, 0, "");
}

static void writes_latency(struct pair *p)
{
	bool own = p->cfg.drive == SIM_DEDICATED;
	struct writes w = { .pair = p, .bytes = 8, .per_window = 32,
			    .span = 4096 };
	struct bench_job job = { .window = write_window, .arg = &w,
				 .trace = p->trace, .bounce = true };
	struct bench_result r;
	char yard[80];

	bench_measure(&job, &r);
	if (r.bounce.windows)
		snprintf(yard, sizeof(yard), "a bounce: %.0f ns",
			 r.bounce.median);
	else
		strcpy(yard, "no bounce: the other CPU was busy");
	bench_row(&(struct bench_row){
		own ? "8 B write, post to completion, dedicated" :
		      "8 B write, post to completion, inline",
		"ns", r.ns, bench_trace_text(&r), yard, BENCH_RECORD, 0, "" });
	bench_row(&(struct bench_row){ "  the same", "bounces", r.bounces,
		NULL, "floor of two threads: 2.3", own ? BENCH_AT_MOST :
		BENCH_RECORD, 7, own ? "limit: 3 x floor" : "" });
}

static void writes_deep(struct pair *p)
{
	struct writes w = { .pair = p, .bytes = 8 };
	struct bench_job job = { .window = deep_window, .arg = &w,
				 .trace = p->trace, .bounce = true };
	struct bench_result r;
	bool own = p->cfg.drive == SIM_DEDICATED, near;

	bench_measure(&job, &r);
	near = r.bounce.windows && r.bounce.median < BENCH_NEAR_NS;
	bench_row(&(struct bench_row){
		own ? "8 B writes, 32 under way, dedicated" :
		      "8 B writes, 32 under way, inline",
		"ns/op", r.ns, bench_trace_text(&r), "floor: 0.23 bounces",
		BENCH_AT_MOST, near ? 120 : 250, near ? "CPUs near: 120 ns" :
		r.bounce.windows ? "CPUs far: 4 M/s" :
				   "as if far: 4 M/s; the other CPU was busy" });
}

static void writes_small(struct pair *p, void *arg)
{
	struct writes w = { .pair = p, .bytes = 8, .per_window = 20000,
			    .span = 4096 };

	(void)arg;
	write_window(&w);	/* once round the rings of the trace */
	writes_latency(p);
	writes_deep(p);
}

void bench_writes(void)
{
	static const struct pair_config cfg[] = {
		{ SIM_THREADS, SIM_INLINE, 0, COLD_BYTES },
		{ SIM_THREADS, SIM_INLINE, 4096, COLD_BYTES },
		{ SIM_THREADS, SIM_DEDICATED, 4096, COLD_BYTES },
	};
	unsigned int i;

	bench_title("Writes between two boards, all resident, no kernel "
		    "(threads)");
	for (i = 0; i < sizeof(cfg) / sizeof(cfg[0]); i++) {
		struct pair_config c = cfg[i];

		pair_run(&c, writes_big, NULL);
		if (!c.cell_bytes)
			continue;
		c.data_bytes = 2 << 20;
		pair_run(&c, writes_small, NULL);
	}
}

/* ---- the same for cachegrind ---- */

struct counted {
	struct writes w;
	bool long_way;
};

static void count_writes(struct pair *p, void *arg)
{
	/* A rule that does nothing; but where there is one, each block goes the long way. */
	static const struct fabric_inject nothing;
	struct counted *c = arg;

	if (c->long_way &&
	    (fabric_inject(p->fabric, 0, 1, &nothing) ||
	     fabric_inject(p->fabric, 1, 0, &nothing)))
		bench_broken("no rule for the link");
	c->w.pair = p;
	write_window(&c->w);
	if (!board_resident_bytes(p->n[0].board) != c->long_way)
		bench_broken("the writes have gone another way");
}

/* Each at its own place of span bytes. */
static void writes_count(uint32_t bytes, uint64_t span, uint64_t n, bool long_way)
{
	const struct pair_config cfg = { SIM_THREADS, SIM_INLINE, 4096,
					 span > 2 << 20 ? span : 2 << 20 };
	struct counted c = {
		.w = { .bytes = bytes, .per_window = (uint32_t)n,
		       .span = span },
		.long_way = long_way,
	};

	pair_run(&cfg, count_writes, &c);
}

void bench_count_write8(uint64_t n)
{
	writes_count(8, 8, n, false);
}

void bench_count_write8_long(uint64_t n)
{
	writes_count(8, 8, n, true);
}

void bench_count_write64k(uint64_t n)
{
	writes_count(1 << 16, 1 << 16, n, false);
}

void bench_count_write64k_long(uint64_t n)
{
	writes_count(1 << 16, 1 << 16, n, true);
}

/* Pages that neither TLB nor walk cache has, if they ever had them. */
void bench_count_write64k_cold(uint64_t n)
{
	copy_far_one_way();
	writes_count(1 << 16, COLD_BYTES, n, false);
}
