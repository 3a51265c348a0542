// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/* The budget of frames, the clock, swap, and what happens when all is used up.
 */
#include "rig/host.h"

/* Page i of m gets a value of its own; or is it still there? */
static void reclaim_put(struct rig *r, unsigned int p, uint8_t *m, uint64_t i)
{
	uint64_t v = (uint64_t)p << 32 | i;

	EXPECT_EQ(mm_copy(rig_mm(r, p), va_of(m) + i * PAGE, &v, 8, true), 0);
}

static void expect_page(struct rig *r, unsigned int p, uint8_t *m, uint64_t i)
{
	uint64_t v = 0;

	EXPECT_EQ(mm_copy(rig_mm(r, p), va_of(m) + i * PAGE, &v, 8, false), 0);
	EXPECT_EQ(v, (uint64_t)p << 32 | i);
}

TEST("a working set larger than the budget is kept whole by swapping")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	uint8_t *m = rig_map(r, 0, 30);
	uint64_t i;

	for (i = 0; i < 30; i++) {
		reclaim_put(r, 0, m, i);
		rig_check(r);
	}
	EXPECT_EQ(rig_stats(r).frames_free, 0);
	EXPECT_GE(rig_stats(r).evictions, 22);
	for (i = 0; i < 30; i++)
		expect_page(r, 0, m, i);
	rig_check(r);
}

TEST("two processes share one budget and keep what is theirs")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 10, 64);
	uint8_t *a = rig_map(r, 0, 16), *b;
	uint64_t i, j, both;

	rig_process(r, 1);
	b = rig_map(r, 1, 16);
	for (i = 0; i < 16; i++) {
		reclaim_put(r, 0, a, i);
		reclaim_put(r, 1, b, i);
		for (both = 0, j = 0; j < 16; j++)
			both += mm_resident(rig_mm(r, 0), va_of(a) + j * PAGE) +
				mm_resident(rig_mm(r, 1), va_of(b) + j * PAGE);
		EXPECT_LE(both, 10);
		rig_check(r);
	}
	for (i = 0; i < 16; i++) {
		expect_page(r, 0, a, i);
		expect_page(r, 1, b, i);
	}
}

TEST("the clock takes the page that was not used since the last turn")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 64);
	uint8_t *m = rig_map(r, 0, 5);
	struct host_mm *mm = rig_mm(r, 0);
	uint64_t i;

	for (i = 0; i < 4; i++)
		reclaim_put(r, 0, m, i);
	EXPECT_EQ(host_madvise(r->p[0], m, 4 * PAGE, HOST_COLD), 0);
	STEP("use all but page 2, then ask for one more");
	for (i = 0; i < 4; i++)
		if (i != 2)
			expect_page(r, 0, m, i);
	reclaim_put(r, 0, m, 4);
	EXPECT(!mm_resident(mm, va_of(m) + 2 * PAGE));
	EXPECT(mm_resident(mm, va_of(m)));
	EXPECT(mm_resident(mm, va_of(m) + 3 * PAGE));
	EXPECT_GE(rig_stats(r).ages, 4);
	expect_page(r, 0, m, 2);
	rig_check(r);
}

TEST("over many used pages the clock clears a bounded number of flags")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 1000, 0);
	uint8_t *m = rig_map(r, 0, 1001);
	uint64_t i;

	for (i = 0; i < 1000; i++)
		reclaim_put(r, 0, m, i);
	EXPECT_EQ(rig_stats(r).ages, 0);
	reclaim_put(r, 0, m, 1000);
	EXPECT_EQ(rig_stats(r).ages, 64);
	EXPECT_EQ(rig_stats(r).evictions, 1);
	EXPECT(!mm_resident(rig_mm(r, 0), va_of(m)));
	rig_check(r);
}

TEST("a frame that goes to someone else has another tag")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 1, 8);
	uint8_t *m = rig_map(r, 0, 2);
	uint64_t pa, first, second;

	reclaim_put(r, 0, m, 0);
	pa = host_translate(rig_mm(r, 0), va_of(m));
	first = dram_tag(r->k->dram, pa);
	reclaim_put(r, 0, m, 1);
	EXPECT_EQ(host_translate(rig_mm(r, 0), va_of(m) + PAGE), pa);
	second = dram_tag(r->k->dram, pa);
	EXPECT_NE(first, second);
	EXPECT_NE(second, 0);
	expect_page(r, 0, m, 0);
	EXPECT_NE(dram_tag(r->k->dram, pa), second);
}

TEST("neighbouring pages get neighbouring frames")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 8);
	uint8_t *m = rig_map(r, 0, 8);
	uint64_t i;

	for (i = 8; i-- > 0;)
		reclaim_put(r, 0, m, i);
	for (i = 1; i < 8; i++)
		EXPECT_EQ(host_translate(rig_mm(r, 0), va_of(m) + i * PAGE),
			  host_translate(rig_mm(r, 0), va_of(m)) + i * PAGE);
}

TEST("when every frame is pinned a fault says so and the board lives on")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 64);
	uint8_t *m = rig_map(r, 0, 6);
	struct host_mm *mm = rig_mm(r, 0);
	struct host_frame *pinned[6];

	EXPECT_EQ(mm_pin(mm, va_of(m), 6, true, pinned), 4);
	EXPECT_EQ(mm_fault(mm, va_of(m) + 5 * PAGE, 0), -ENOMEM);
	EXPECT_GE(trace_count(r->trace, EV_MM_NO_FRAME), 1);
	EXPECT_EQ(mm_copy(mm, va_of(m) + 5 * PAGE, &m, 1, false), -EFAULT);
	EXPECT_EQ(mm_pin(mm, va_of(m) + 4 * PAGE, 1, true, pinned + 4),
		  -ENOMEM);
	rig_check(r);
	mm_unpin(pinned, 4, true);
	EXPECT_EQ(mm_fault(mm, va_of(m) + 5 * PAGE, 0), 0);
	rig_check(r);
}

TEST("with swap full dirty pages stay, and clean ones still go")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 2);
	uint8_t *m = rig_map(r, 0, 10);
	struct host_mm *mm = rig_mm(r, 0);
	uint64_t i;

	STEP("4 frames and 2 slots hold 6 dirty pages, and no more");
	for (i = 0; i < 6; i++)
		reclaim_put(r, 0, m, i);
	EXPECT_EQ(mm_fault(mm, va_of(m) + 6 * PAGE, HOST_FAULT_WRITE),
		  -ENOMEM);
	EXPECT_EQ(mm_fault(mm, va_of(m) + 6 * PAGE, 0), -ENOMEM);
	EXPECT_EQ(host_madvise(r->p[0], m, 6 * PAGE, HOST_PAGEOUT), -ENOSPC);
	EXPECT_EQ(rig_stats(r).swap_used, 2);
	rig_check(r);
	STEP("forget one: the frame is good for clean pages one after another");
	EXPECT_EQ(host_madvise(r->p[0], m + 5 * PAGE, PAGE, HOST_DONTNEED), 0);
	for (i = 6; i < 10; i++)
		EXPECT_EQ(mm_fault(mm, va_of(m) + i * PAGE, 0), 0);
	rig_check(r);
	for (i = 0; i < 5; i++)
		expect_page(r, 0, m, i);
	rig_check(r);
}

TEST("a swap file that cannot be written loses no page")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 64);
	uint8_t *m = rig_map(r, 0, 6);
	uint64_t i;

	for (i = 0; i < 4; i++)
		reclaim_put(r, 0, m, i);
	host_inject_swap_errors(r->k, true);
	EXPECT_EQ(host_madvise(r->p[0], m, 4 * PAGE, HOST_PAGEOUT), -EIO);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m) + 4 * PAGE, 0), -ENOMEM);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	rig_check(r);
	for (i = 0; i < 4; i++)
		expect_page(r, 0, m, i);
	host_inject_swap_errors(r->k, false);
	reclaim_put(r, 0, m, 4);
	rig_check(r);
}

TEST("an injected lack of frames is a defined error and then over")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 64);
	uint8_t *m = rig_map(r, 0, 1);

	host_inject_no_frames(r->k, 2);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), -ENOMEM);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_POPULATE), -ENOMEM);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_POPULATE), 0);
	rig_check(r);
}

TEST("without memory for tables a fault fails and nothing is lost")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 64);
	uint64_t left, pa, none;
	uint8_t *m = rig_map(r, 0, 1);
	void *all;

	left = KERNEL_BANK_BYTES / DRAM_PAGE - r->k->kpages_used;
	all = host_dma_alloc(r->k, left * DRAM_PAGE, &pa);
	EXPECT(all != NULL);
	EXPECT(!host_dma_alloc(r->k, DRAM_PAGE, &none));
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), -ENOMEM);
	EXPECT_EQ(rig_stats(r).frames_free, 4);
	rig_check(r);
	host_dma_free(r->k, all, left * DRAM_PAGE, pa);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), 0);
	rig_check(r);
}

TEST("an interrupted table build is found again and not built twice")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 64);
	uint8_t *m = rig_map(r, 0, 1);
	unsigned long long tables;

	host_inject_no_frames(r->k, 1);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), -ENOMEM);
	tables = atomic_load(&r->k->table_pages);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), 0);
	EXPECT_EQ(atomic_load(&r->k->table_pages), tables);
}

/* ---- two processes that evict each other, at once ---- */

struct fighter {
	struct rig *r;
	unsigned int p;
	uint8_t *m;
};

static void reclaim_fight(void *arg)
{
	struct fighter *f = arg;
	uint64_t i, round, v;

	for (round = 0; round < 6; round++)
		for (i = 0; i < 12; i++) {
			v = round << 8 | i;
			WANT(f->r, !mm_copy(rig_mm(f->r, f->p), va_of(f->m) +
					    i * PAGE, &v, 8, true));
			v = 0;
			WANT(f->r, !mm_copy(rig_mm(f->r, f->p), va_of(f->m) +
					    i * PAGE, &v, 8, false));
			WANT(f->r, v == (round << 8 | i));
		}
}

static void fight_in(enum sim_mode mode, uint64_t seed)
{
	struct rig *r = rig_start(mode, seed, 6, 64);
	struct fighter f[2] = { { r, 0, NULL }, { r, 1, NULL } };

	rig_process(r, 1);
	f[0].m = rig_map(r, 0, 12);
	f[1].m = rig_map(r, 1, 12);
	rig_thread(r, 0, reclaim_fight, &f[0]);
	rig_thread(r, 1, reclaim_fight, &f[1]);
	rig_run(r);
	EXPECT_GE(rig_stats(r).evictions, 18);
}

TEST("two processes that evict each other's pages both get on (lockstep)")
{
	fight_in(SIM_LOCKSTEP, test_seed());
}

TEST("two processes that evict each other's pages both get on (threads)")
{
	fight_in(SIM_THREADS, test_seed());
}

/* Many threads that fault hold their process's lock nearly always. */
static void reclaim_hog(void *arg)
{
	struct fighter *f = arg;
	uint64_t i;

	for (i = 0; i < 600; i++)
		WANT(f->r, mm_fault(rig_mm(f->r, 0), va_of(f->m) +
				    (i * 7 + f->p) % 40 * PAGE,
				    HOST_FAULT_WRITE) >= 0);
}

static void reclaim_modest(void *arg)
{
	struct fighter *f = arg;
	uint64_t i;

	for (i = 0; i < 12; i++) {
		sim_sleep(400000);
		WANT(f->r, mm_fault(rig_mm(f->r, 1), va_of(f->m) + i * PAGE,
				    HOST_FAULT_WRITE) >= 0);
	}
}

TEST("who has one thread gets a frame from who has many")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, test_seed(), 6, 64);
	struct fighter f[5];
	unsigned int i;

	rig_process(r, 1);
	for (i = 0; i < 5; i++)
		f[i] = (struct fighter){ r, i, i ? f[0].m : rig_map(r, 0, 40) };
	f[4].m = rig_map(r, 1, 12);
	for (i = 0; i < 4; i++)
		rig_thread(r, 0, reclaim_hog, &f[i]);
	rig_thread(r, 1, reclaim_modest, &f[4]);
	rig_run(r);
}

/* ---- memory that somebody is just giving back ---- */

static void reclaim_slowly(struct mm_notifier *n, struct host_mm *mm,
			   uint64_t start, uint64_t end)
{
	(void)n, (void)mm, (void)start, (void)end;
	sim_sleep(200000000);
}

static void gives_back(void *arg)
{
	struct fighter *f = arg;

	WANT(f->r, !host_madvise(f->r->p[0], f->m, 6 * PAGE, HOST_PAGEOUT));
}

static void wants_one(void *arg)
{
	struct fighter *f = arg;

	sim_sleep(1000);
	WANT(f->r, mm_fault(rig_mm(f->r, 1), va_of(f->m), HOST_FAULT_WRITE) >=
		   0);
}

TEST("frames that are all on their way out are waited for, also for long")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, test_seed(), 6, 64);
	struct mm_notifier slow = { .invalidate = reclaim_slowly,
		.age = reclaim_slowly };
	struct fighter f[2] = { { r, 0, NULL }, { r, 1, NULL } };

	rig_process(r, 1);
	f[0].m = rig_map(r, 0, 6);
	f[1].m = rig_map(r, 1, 1);
	EXPECT_EQ(host_madvise(r->p[0], f[0].m, 6 * PAGE, HOST_POPULATE), 0);
	EXPECT_EQ(mm_notifier_register(rig_mm(r, 0), &slow), 0);
	rig_thread(r, 0, gives_back, &f[0]);
	rig_thread(r, 1, wants_one, &f[1]);
	rig_run(r);
	mm_notifier_unregister(rig_mm(r, 0), &slow);
}

/* Frames that are taken, as they are walked: each once, of this process, in their order. */
static uint64_t count_taken(struct host_mm *mm)
{
	struct host_frame *f, *before = NULL;
	uint64_t n = 0;

	for (f = frame_taken(mm, 0); f; f = frame_taken(mm, f - mm->frame + 1)) {
		EXPECT(!before || f > before);
		EXPECT(f < mm->frame + mm->frames && f->mm == mm);
		before = f;
		n++;
	}
	return n;
}

static void expect_taken(unsigned int budget)
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, budget, 512);
	uint64_t i, x, resident, seed = test_seed();
	unsigned int p, step;
	uint8_t *m[2];

	rig_process(r, 1);
	for (p = 0; p < 2; p++)
		m[p] = rig_map(r, p, 100);
	for (step = 0; step < 400; step++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		x = seed >> 24;
		p = x >> 8 & 1;
		i = (x >> 16) % 100;
		if (x % 8)
			reclaim_put(r, p, m[p], i);
		else
			EXPECT_EQ(host_madvise(r->p[p], m[p] + i * PAGE, PAGE, HOST_PAGEOUT), 0);
		for (p = 0; p < 2 && step % 16 == 0; p++) {
			for (resident = i = 0; i < 100; i++)
				resident += mm_resident(rig_mm(r, p), va_of(m[p]) + i * PAGE);
			EXPECT_EQ(count_taken(rig_mm(r, p)), resident);
		}
	}
}

TEST("one frame for two processes: it is taken by the one whose page is resident")
{
	expect_taken(1);
}

TEST("the frames that are taken are those of resident pages: less than a word of bits")
{
	expect_taken(63);
}

TEST("the same, a word of bits")
{
	expect_taken(64);
}

TEST("the same, a word and two bits")
{
	expect_taken(66);
}
