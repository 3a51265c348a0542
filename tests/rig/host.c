// SPDX-License-Identifier: BSD-2-Clause
#include "rig/host.h"

static void rig_end(void *arg)
{
	struct rig *r = arg;
	unsigned int i;

	sim_stop(r->sim);
	for (i = 0; i < HOST_PROCESSES; i++)
		if (r->p[i])
			host_process_exit(r->p[i]);
	host_destroy(r->k);
	board_destroy(r->board);
	fabric_destroy(r->fabric);
	sim_destroy(r->sim);
	trace_destroy(r->trace);
	timing_free(&r->timing);
	free(r);
}

struct rig *rig_start_limits(enum sim_mode mode, uint64_t seed, uint64_t pages,
			     uint64_t swap, uint64_t own_pages,
			     uint64_t own_swap)
{
	struct trace_config tc = { .ring_records = 4096,
				   .threads = mode == SIM_THREADS };
	struct rig *r = calloc(1, sizeof(*r));
	struct sim_config sc = { .mode = mode, .seed = seed };
	struct fabric_config fc = { 0 };
	struct board_config bc = { .name = "a", .id = 1 };
	struct host_config hc = { .resident_pages = pages, .swap_pages = swap,
				  .process_pages = own_pages,
				  .process_swap_pages = own_swap };
	int error;

	timing_defaults(&r->timing);
	sc.trace = fc.trace = bc.trace = r->trace = trace_create(&tc);
	fc.sim = bc.sim = r->sim = sim_create(&sc);
	fc.timing = bc.timing = &r->timing;
	bc.fabric = r->fabric = fabric_create(&fc);
	r->board = hc.board = board_create(&bc, &error);
	if (!r->board)
		abort();
	r->k = host_create(&hc, &error);
	if (!r->k)
		abort();
	r->p[0] = host_process_create(r->k, "p0", &error);
	if (!r->p[0])
		abort();
	test_cleanup(rig_end, r);
	STEP("a board with %" PRIu64 " frames and %" PRIu64
	     " swap pages (0: default), %s", pages, swap,
	     mode == SIM_THREADS ? "threads" : "lockstep");
	return r;
}

struct host_process *rig_process(struct rig *r, unsigned int i)
{
	int error;

	if (!r->p[i])
		r->p[i] = host_process_create(r->k, "p", &error);
	EXPECT(r->p[i] != NULL);
	return r->p[i];
}

void rig_thread(struct rig *r, unsigned int i, void (*fn)(void *arg), void *arg)
{
	r->thread[r->threads] = host_thread_start(r->p[i], "app", fn, arg);
	EXPECT(r->thread[r->threads++] != NULL);
}

void rig_run(struct rig *r)
{
	enum sim_result result = sim_run(r->sim, 0, 0);

	EXPECT_EQ(result, SIM_FINISHED);
	while (r->threads)
		sim_thread_join(r->thread[--r->threads]);
	if (atomic_load(&r->failed))
		EXPECT_STR(atomic_load(&r->failed), "(nothing)");
	EXPECT_STR(host_check(r->k, true) ? host_check(r->k, true) : "good",
		   "good");
}

void rig_check(struct rig *r)
{
	const char *bad = host_check(r->k, true);

	EXPECT_STR(bad ? bad : "good", "good");
}

uint8_t *rig_map(struct rig *r, unsigned int i, uint64_t pages)
{
	int error;
	uint8_t *m = host_mmap(r->p[i], pages * PAGE, RW, NULL, 0, &error);

	EXPECT_EQ(error, 0);
	EXPECT(m != NULL);
	return m;
}

struct host_stats rig_stats(struct rig *r)
{
	struct host_stats st;

	host_stats(r->k, &st);
	return st;
}

const char *rig_file(char path[128], uint64_t bytes)
{
	static unsigned int files;
	uint64_t i;
	FILE *f;

	test_path(path, 128, "file.%u", files++);
	f = fopen(path, "w");
	EXPECT(f);
	for (i = 0; i < bytes; i++)
		fputc((int)((i * 7 + i / PAGE) & 0xff), f);
	fclose(f);
	return path;
}

void heard_invalidate(struct mm_notifier *n, struct host_mm *mm, uint64_t start,
		      uint64_t end)
{
	struct heard *h = (struct heard *)n;

	h->calls++;
	h->start = start;
	h->end = end;
	h->valid = host_translate(mm, start) != 0;
	if (h->watch_pa)
		h->tag = dram_tag(mm->k->dram, h->watch_pa);
}

void heard_release(struct mm_notifier *n, struct host_mm *mm)
{
	(void)mm;
	((struct heard *)n)->releases++;
}
