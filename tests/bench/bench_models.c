// SPDX-License-Identifier: BSD-2-Clause
/*
 * The models by themselves, one thread: a TLB hit, a walk of four levels, a
 * trace record; in ns and in instructions.
 */
#include "bench.h"

#include "bench_pair.h"
#include "smmu/smmu.h"
#include "trace/trace.h"

#define PAGES		UINT64_C(4096)	/* eight times what the TLB holds */
#define HOT_PAGES	UINT64_C(64)

static const struct pair_config models = { SIM_THREADS, SIM_INLINE, 0,
					   PAGES * 4096 };

struct lookups {
	struct pair *pair;
	uint64_t n, pages, at;
};

static void look_up(struct lookups *l, uint64_t n)
{
	struct smmu *s = board_smmu(l->pair->n[0].board);
	struct smmu_access a = { .stream = BOARD_STREAM(0) };

	while (n--) {
		a.va = PAIR_VA + l->at * 4096;
		l->at = (l->at + 1) % l->pages;
		if (smmu_translate(s, &a) != SMMU_OK)
			bench_broken("a translation failed");
	}
}

static double look_up_window(void *arg)
{
	struct lookups *l = arg;
	uint64_t t = bench_now_ns();

	look_up(l, l->n);
	return (double)(bench_now_ns() - t) / (double)l->n;
}

struct records {
	struct trace *trace;
	uint64_t n;
};

static void models_emit(struct trace *t, uint64_t n)
{
	struct trace_at at = { .board = 1, .xfer = 2, .block = 3 };
	uint64_t i;

	for (i = 0; i < n; i++)
		at.cause = trace_emit(t, EV_SMMU_HIT, &at, 1, i, 3, 0);
}

static double emit_window(void *arg)
{
	struct records *r = arg;
	uint64_t t = bench_now_ns();

	models_emit(r->trace, r->n);
	return (double)(bench_now_ns() - t) / (double)r->n;
}

static void models_instructions(const char *figure, const char *name,
				double target)
{
	double n = bench_count(name);
	struct bench_spread s = { n, n, n, 1 };

	if (n < 0)
		s.windows = 0;
	bench_row(&(struct bench_row){ figure, "instr.", s, NULL, "",
		target > 0 ? BENCH_AT_MOST : BENCH_RECORD, target,
		n < 0 ? "valgrind is not here" : "cachegrind, trace on" });
}

static void models_figures(struct pair *p, void *arg)
{
	struct lookups hit = { p, 1000, HOT_PAGES, 0 };
	struct lookups miss = { p, 200, PAGES, 0 };
	struct records rec = { p->trace, 1000 };
	struct bench_job job = { .window = look_up_window, .arg = &hit,
				 .trace = p->trace };
	struct bench_result r;

	(void)arg;
	bench_measure(&job, &r);
	bench_row(&(struct bench_row){ "TLB hit", "ns", r.ns,
		bench_trace_text(&r), "", BENCH_RECORD, 0, "" });
	job.arg = &miss;
	bench_measure(&job, &r);
	bench_row(&(struct bench_row){ "table walk, 4 levels", "ns", r.ns,
		bench_trace_text(&r), "", BENCH_RECORD, 0, "" });
	job = (struct bench_job){ .window = emit_window, .arg = &rec };
	bench_measure(&job, &r);
	bench_row(&(struct bench_row){ "trace record", "ns", r.ns, NULL, "",
		BENCH_RECORD, 0, "" });
	trace_enable(p->trace, false);
	bench_measure(&job, &r);
	trace_enable(p->trace, true);
	bench_row(&(struct bench_row){ "trace record, counted only", "ns",
		r.ns, NULL, "", BENCH_RECORD, 0, "" });
}

void bench_models(void)
{
	bench_title("Models, one thread");
	pair_run(&models, models_figures, NULL);
	models_instructions("TLB hit", "hit", 0);
	models_instructions("table walk, 4 levels", "walk", 0);
	models_instructions("trace record", "record", 0);
	models_instructions("8 B write, post to completion, inline", "write8",
			    1200);
	models_instructions("  through engine and wire", "write8-long", 0);
	models_instructions("64 KB write, inline", "write64k", 0);
	models_instructions("  through engine and wire, cells of 4096",
			    "write64k-long", 0);
}

/* ---- the same for cachegrind ---- */

static void count_hits(struct pair *p, void *n)
{
	struct lookups l = { p, 0, HOT_PAGES, 0 };

	look_up(&l, HOT_PAGES);		/* fills the TLB */
	look_up(&l, *(uint64_t *)n);
}

static void count_walks(struct pair *p, void *n)
{
	struct lookups l = { p, 0, PAGES, 0 };

	look_up(&l, *(uint64_t *)n);
}

static void count_records(struct pair *p, void *n)
{
	models_emit(p->trace, *(uint64_t *)n);
}

/* A WRITE of 8 bytes to a page that the SMMU knows. */
static void count_packed(struct pair *p, void *n)
{
	const struct trace_page page = { 0 };
	struct trace_write w = {
		.same = { .board = 1, .cell_log2 = 12, .block_log2 = 14 },
		.xfer = 2, .block = 1, .from_va = PAIR_VA, .to_va = PAIR_VA, .len = 8,
		.begins = true, .ends = true, .blocks = 1, .cells = 1, .bursts = { 1, 1 },
		.pages = { 1, 1 }, .page = { &page, &page },
	};
	uint64_t i;

	for (i = 0; i < *(uint64_t *)n; i++)
		w.cause = trace_emit_write(p->trace, &w);
}

void bench_count_packed(uint64_t n)
{
	pair_run(&models, count_packed, &n);
}

void bench_count_hits(uint64_t n)
{
	pair_run(&models, count_hits, &n);
}

void bench_count_walks(uint64_t n)
{
	pair_run(&models, count_walks, &n);
}

void bench_count_records(uint64_t n)
{
	pair_run(&models, count_records, &n);
}
