// SPDX-License-Identifier: BSD-2-Clause
/*
 * Paths through library, driver and kernel, for cachegrind: one operation n times, with two
 * boards. What happens before the first of them, and after the last, is left out by the
 * difference (bench_count.c).
 */
#include "bench.h"
#include "bench_stage.h"

#define PAGE 4096u

struct path {
	uint64_t n;
	void (*once)(struct stage *s);
};

static void paths_body(struct stage *s, void *arg)
{
	const struct path *p = arg;
	uint64_t i;

	stage_write(s, 0, 8, 1);
	for (i = 0; i < p->n; i++)
		p->once(s);
}

static void paths_run(const struct stage_config *cfg, uint64_t n,
		      void (*once)(struct stage *s))
{
	struct path p = { n, once };

	stage_run(cfg, paths_body, &p);
}

static void library_body(struct stage *s, void *n)
{
	stage_write(s, 0, 8, (uint32_t)*(uint64_t *)n);
}

void bench_count_library8(uint64_t n)
{
	const struct stage_config cfg = { .mode = SIM_THREADS, .drive = SIM_INLINE,
					  .bytes = 16 * PAGE };

	stage_run(&cfg, library_body, &n);
}

/* So many in a row: taking them away, and handing over to who does it, costs little then. */
#define IN_A_ROW 16u

static void fault_sixteen(struct stage *s)
{
	stage_evict(s, 1, 0, IN_A_ROW * PAGE);
	stage_write_pages(s, IN_A_ROW);
}

void bench_count_fault(uint64_t n)
{
	const struct stage_config cfg = { .mode = SIM_THREADS, .drive = SIM_INLINE,
					  .bytes = 16 * PAGE };

	paths_run(&cfg, n / IN_A_ROW, fault_sixteen);
}

static int do_prefetch(struct rpc_app *a, void *arg)
{
	struct stage *s = arg;
	struct testbed_buffer *b = s->buffer[0];

	return fl_prefetch(a->mr[b->number], b->mem, 64 * PAGE, 0);
}

static void evict_all(struct stage *s)
{
	stage_in(s, 0, do_prefetch, s);
	stage_evict(s, 0, 0, 64 * PAGE);
}

void bench_count_evict(uint64_t n)
{
	const struct stage_config cfg = { .mode = SIM_THREADS, .drive = SIM_INLINE,
					  .bytes = 64 * PAGE };

	paths_run(&cfg, n, evict_all);
}

static void checked_once(struct stage *s)
{
	stage_write(s, 0, 4 * PAGE, 1);
}

void bench_count_checked(uint64_t n)
{
	const struct stage_config cfg = { .mode = SIM_LOCKSTEP, .bytes = 16 * PAGE,
					  .checks = true };

	paths_run(&cfg, n, checked_once);
}

static void send_body(struct stage *s, void *n)
{
	stage_send(s, (uint32_t)*(uint64_t *)n);
}

void bench_count_send8(uint64_t n)
{
	const struct stage_config cfg = { .mode = SIM_LOCKSTEP, .bytes = 16 * PAGE,
					  .system = FL_SYSTEM_NPF };

	stage_run(&cfg, send_body, &n);
}
