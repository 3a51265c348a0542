// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pins of the small kernel: they belong to frames, so that what is pinned can lose
 * its mapping, as on Linux.
 * variants: posix pages
 */
#include "rig/host.h"

#define FRAMES	64

static struct rig *pin_rig(void)
{
	return rig_start(SIM_LOCKSTEP, test_seed(), FRAMES, 64);
}

/* A byte in the middle of the page at va, through the process. */
static void pin_put(struct rig *r, uint64_t va, uint8_t v)
{
	EXPECT_EQ(mm_copy(rig_mm(r, 0), va + 100, &v, 1, true), 0);
}

static uint8_t pin_get(struct rig *r, uint64_t va)
{
	uint8_t v = 0xee;

	EXPECT_EQ(mm_copy(rig_mm(r, 0), va + 100, &v, 1, false), 0);
	return v;
}

/* The same byte as the device sees it, which has the frame and not the page. */
static uint8_t *pin_byte(struct rig *r, const struct host_frame *f)
{
	return dram_at(r->k->dram, frame_pa(f) + 100, 1);
}

static bool is_marked(struct rig *r, const struct host_frame *f)
{
	return dram_tag(r->k->dram, frame_pa(f)) & DRAM_TAG_ORPHAN;
}

/* ---- what is pinned and mapped ---- */

TEST("the most that was resident, and pinned, at a time is remembered")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 8);
	struct host_mm *mm = rig_mm(r, 0);
	struct host_frame *f[3], *again[3];
	uint64_t i;

	EXPECT_EQ(rig_stats(r).pinned_peak, 0);
	EXPECT_EQ(mm_pin(mm, va_of(m), 3, true, f), 3);
	STEP("a second pin of the same frame is no other frame");
	EXPECT_EQ(mm_pin(mm, va_of(m), 3, true, again), 3);
	EXPECT_EQ(rig_stats(r).pinned_peak, 3);
	mm_unpin(f, 3, true);
	mm_unpin(again, 2, true);
	EXPECT_EQ(mm_pin(mm, va_of(m) + 4 * PAGE, 1, true, f), 1);
	EXPECT_EQ(rig_stats(r).pinned_peak, 3);
	EXPECT_EQ(rig_stats(r).resident_peak, 4);
	mm_unpin(f, 1, true);
	mm_unpin(again + 2, 1, true);
	EXPECT_EQ(host_madvise(r->p[0], m, 8 * PAGE, HOST_PAGEOUT), 0);
	for (i = 4; i < 7; i++)
		EXPECT_GE(mm_fault(mm, va_of(m) + i * PAGE, HOST_FAULT_WRITE), 0);
	EXPECT_EQ(rig_stats(r).pinned_peak, 3);
	EXPECT_EQ(rig_stats(r).resident_peak, 4);
	EXPECT_GE(mm_fault(mm, va_of(m), HOST_FAULT_WRITE), 0);
	EXPECT_GE(mm_fault(mm, va_of(m) + PAGE, HOST_FAULT_WRITE), 0);
	EXPECT_EQ(rig_stats(r).resident_peak, 5);
	rig_check(r);
}

TEST("a pinned page is not evicted, and keeps its frame until it is unpinned")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 4);
	struct host_mm *mm = rig_mm(r, 0);
	struct host_frame *f[2];

	EXPECT_EQ(mm_pin(mm, va_of(m) + PAGE, 2, true, f), 2);
	EXPECT_EQ(rig_stats(r).frames_pinned, 2);
	EXPECT_EQ(host_translate(mm, va_of(m) + PAGE), frame_pa(f[0]));
	EXPECT_EQ(host_madvise(r->p[0], m, 4 * PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(host_translate(mm, va_of(m) + 2 * PAGE), frame_pa(f[1]));
	mm_unpin(f, 2, true);
	EXPECT_EQ(rig_stats(r).frames_pinned, 0);
	EXPECT_EQ(host_madvise(r->p[0], m, 4 * PAGE, HOST_PAGEOUT), 0);
	EXPECT(!mm_resident(mm, va_of(m) + PAGE));
	rig_check(r);
}

TEST("a pin that meets an unmapped page says how far it came")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 2);
	struct host_mm *mm = rig_mm(r, 0);
	struct host_frame *f[3];

	EXPECT_EQ(mm_pin(mm, va_of(m), 3, false, f), 2);
	mm_unpin(f, 2, false);
	EXPECT_EQ(mm_pin(mm, va_of(m) + 2 * PAGE, 1, false, f), -EFAULT);
	EXPECT_EQ(mm_pin(mm, va_of(m) + 1, 1, false, f), -EINVAL);
	EXPECT_EQ(mm_pin(mm, va_of(m), 0, false, f), -EINVAL);
	EXPECT_EQ(host_mprotect(r->p[0], m, PAGE, HOST_READ), 0);
	EXPECT_EQ(mm_pin(mm, va_of(m), 1, true, f), -EFAULT);
	mm_unpin(f, 0, false);
	rig_check(r);
}

TEST("unpinning as dirty makes a clean page worth swapping")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 1);
	struct host_frame *f;

	EXPECT_EQ(mm_pin(rig_mm(r, 0), va_of(m), 1, false, &f), 1);
	mm_unpin(&f, 1, true);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(rig_stats(r).swap_outs, 1);
	rig_check(r);
}

TEST("rights of a pinned page change, and it stays where it is")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 2);
	struct host_mm *mm = rig_mm(r, 0);
	struct host_frame *f;
	struct heard h = HEARD;

	EXPECT_EQ(mm_pin(mm, va_of(m), 1, true, &f), 1);
	EXPECT_EQ(mm_notifier_register(mm, &h.n), 0);
	EXPECT_EQ(host_mprotect(r->p[0], m, 2 * PAGE, 0), 0);
	EXPECT_EQ(h.calls, 1);
	EXPECT(!is_marked(r, f));
	EXPECT_EQ(mm_fault(mm, va_of(m), 0), -EFAULT);
	EXPECT_EQ(host_mprotect(r->p[0], m, 2 * PAGE, RW), 0);
	EXPECT_EQ(mm_fault(mm, va_of(m), HOST_FAULT_WRITE), 0);
	EXPECT_EQ(host_translate(mm, va_of(m)), frame_pa(f));
	EXPECT_EQ(trace_count(r->trace, EV_MM_ORPHAN), 0);
	mm_unpin(&f, 1, true);
	mm_notifier_unregister(mm, &h.n);
	rig_check(r);
}

/* ---- orphans ---- */

TEST("munmap takes the mapping at once, and the frame with the last pin")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 4);
	struct host_mm *mm = rig_mm(r, 0);
	struct host_frame *f[3], *again;
	struct heard h = HEARD;
	uint64_t tag;

	pin_put(r, va_of(m) + PAGE, 11);
	EXPECT_EQ(mm_pin(mm, va_of(m), 3, true, f), 3);
	EXPECT_EQ(mm_pin(mm, va_of(m) + PAGE, 1, true, &again), 1);
	EXPECT_EQ(again, f[1]);
	h.watch_pa = frame_pa(f[1]);
	tag = dram_tag(r->k->dram, h.watch_pa);
	EXPECT_EQ(mm_notifier_register(mm, &h.n), 0);
	EXPECT_EQ(host_munmap(r->p[0], m + PAGE, 3 * PAGE), 0);
	STEP("the entries were broken, and only then the frames were orphans");
	EXPECT_EQ(h.calls, 1);
	EXPECT(!h.valid);
	EXPECT_EQ(h.tag, tag);
	EXPECT(!mm_resident(mm, va_of(m) + PAGE));
	EXPECT_EQ(mm_fault(mm, va_of(m) + PAGE, 0), -EFAULT);
	EXPECT_EQ(trace_count(r->trace, EV_MM_ORPHAN), 2);
	EXPECT(is_marked(r, f[1]) && is_marked(r, f[2]) && !is_marked(r, f[0]));
	EXPECT_EQ(dram_tag(r->k->dram, h.watch_pa), tag | DRAM_TAG_ORPHAN);
	EXPECT_EQ(*pin_byte(r, f[1]), 11);
	EXPECT_EQ(rig_stats(r).frames_pinned, 3);
	EXPECT_EQ(rig_stats(r).frames_free, FRAMES - 3);
	rig_check(r);
	STEP("one of two pins");
	mm_unpin(&f[1], 1, true);
	EXPECT_EQ(rig_stats(r).frames_pinned, 3);
	EXPECT_EQ(dram_tag(r->k->dram, h.watch_pa), tag | DRAM_TAG_ORPHAN);
	rig_check(r);
	STEP("the other, and the one of the other page");
	mm_unpin(&again, 1, true);
	EXPECT_NE(dram_tag(r->k->dram, h.watch_pa) & ~DRAM_TAG_ORPHAN, tag);
	EXPECT(!(dram_tag(r->k->dram, h.watch_pa) & DRAM_TAG_ORPHAN));
	mm_unpin(&f[2], 1, false);
	EXPECT_EQ(rig_stats(r).frames_pinned, 1);
	EXPECT_EQ(rig_stats(r).frames_free, FRAMES - 1);
	mm_unpin(&f[0], 1, false);
	EXPECT_EQ(rig_stats(r).frames_free, FRAMES - 1);
	mm_notifier_unregister(mm, &h.n);
	rig_check(r);
}

TEST("what is mapped in place of pinned memory has another frame and other bytes")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 3);
	struct host_mm *mm = rig_mm(r, 0);
	struct host_frame *old, *new;

	pin_put(r, va_of(m) + PAGE, 1);
	EXPECT_EQ(mm_pin(mm, va_of(m) + PAGE, 1, true, &old), 1);
	EXPECT_EQ(host_remap(r->p[0], m + PAGE, PAGE, RW), 0);
	EXPECT_EQ(pin_get(r, va_of(m) + PAGE), 0);
	EXPECT_EQ(mm_pin(mm, va_of(m) + PAGE, 1, true, &new), 1);
	EXPECT_NE(frame_pa(new), frame_pa(old));
	STEP("the device writes to the old one: the process sees nothing of it");
	*pin_byte(r, old) = 77;
	EXPECT_EQ(pin_get(r, va_of(m) + PAGE), 0);
	pin_put(r, va_of(m) + PAGE, 2);
	EXPECT_EQ(*pin_byte(r, old), 77);
	EXPECT_EQ(*pin_byte(r, new), 2);
	STEP("pins of one address, given back in any order, each to its frame");
	mm_unpin(&new, 1, true);
	EXPECT_EQ(rig_stats(r).frames_free, FRAMES - 2);
	EXPECT_EQ(pin_get(r, va_of(m) + PAGE), 2);
	mm_unpin(&old, 1, true);
	EXPECT_EQ(rig_stats(r).frames_free, FRAMES - 1);
	EXPECT_EQ(pin_get(r, va_of(m) + PAGE), 2);
	rig_check(r);
}

TEST("DONTNEED of pinned pages: zeros come next, in another frame")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 2);
	struct host_mm *mm = rig_mm(r, 0);
	struct host_frame *f;

	pin_put(r, va_of(m), 5);
	EXPECT_EQ(mm_pin(mm, va_of(m), 1, true, &f), 1);
	EXPECT_EQ(host_madvise(r->p[0], m, 2 * PAGE, HOST_DONTNEED), 0);
	EXPECT_EQ(trace_count(r->trace, EV_MM_ORPHAN), 1);
	EXPECT_EQ(pin_get(r, va_of(m)), 0);
	EXPECT_EQ(*pin_byte(r, f), 5);
	EXPECT_NE(host_translate(mm, va_of(m)), frame_pa(f));
	STEP("a second time there is nothing that is pinned");
	EXPECT_EQ(host_madvise(r->p[0], m, 2 * PAGE, HOST_DONTNEED), 0);
	EXPECT_EQ(trace_count(r->trace, EV_MM_ORPHAN), 1);
	mm_unpin(&f, 1, true);
	EXPECT_EQ(rig_stats(r).frames_free, FRAMES);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	rig_check(r);
}

TEST("an orphan that came from swap gives its place there back")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 1);
	struct host_frame *f;

	pin_put(r, va_of(m), 9);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(rig_stats(r).swap_used, 1);
	EXPECT_EQ(mm_pin(rig_mm(r, 0), va_of(m), 1, false, &f), 1);
	EXPECT_EQ(rig_stats(r).swap_used, 1);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_DONTNEED), 0);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	EXPECT_EQ(*pin_byte(r, f), 9);
	rig_check(r);
	mm_unpin(&f, 1, true);
	rig_check(r);
}

TEST("a clean page of a file comes from the file again, pinned or not")
{
	struct rig *r = pin_rig();
	struct host_frame *f;
	char path[128];
	uint8_t *m;
	int err;

	m = host_mmap(r->p[0], 2 * PAGE, RW, rig_file(path, 2 * PAGE), 0, &err);
	EXPECT(m);
	EXPECT_EQ(mm_pin(rig_mm(r, 0), va_of(m), 1, false, &f), 1);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_DONTNEED), 0);
	*pin_byte(r, f) = 1;
	EXPECT_EQ(pin_get(r, va_of(m)), 100 * 7 & 0xff);
	EXPECT_NE(host_translate(rig_mm(r, 0), va_of(m)), frame_pa(f));
	EXPECT_EQ(host_munmap(r->p[0], m, 2 * PAGE), 0);
	EXPECT_EQ(*pin_byte(r, f), 1);
	mm_unpin(&f, 1, true);
	EXPECT_EQ(rig_stats(r).frames_free, FRAMES);
	rig_check(r);
}

/* ---- memory that is short ---- */

TEST("orphans are never taken, and count until they are unpinned")
{
	struct rig *r = rig_start_limits(SIM_LOCKSTEP, 1, 8, 64, 0, 0);
	uint8_t *m = rig_map(r, 0, 8), *n = rig_map(r, 0, 8);
	struct host_mm *mm = rig_mm(r, 0);
	struct host_frame *f[8];
	unsigned int i;

	EXPECT_EQ(mm_pin(mm, va_of(m), 6, true, f), 6);
	EXPECT_EQ(host_munmap(r->p[0], m, 8 * PAGE), 0);
	STEP("two frames for eight pages");
	for (i = 0; i < 8; i++)
		pin_put(r, va_of(n) + i * PAGE, (uint8_t)(i + 1));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(pin_get(r, va_of(n) + i * PAGE), i + 1);
	rig_check(r);
	STEP("none at all: a fault says so at once, and nobody waits for a driver");
	EXPECT_EQ(mm_pin(mm, va_of(n), 2, true, f + 6), 2);
	EXPECT_EQ(host_munmap(r->p[0], n, 2 * PAGE), 0);
	EXPECT_EQ(rig_stats(r).frames_free, 0);
	EXPECT_EQ(rig_stats(r).frames_pinned, 8);
	EXPECT_EQ(mm_fault(mm, va_of(n) + 2 * PAGE, 0), -ENOMEM);
	rig_check(r);
	mm_unpin(f + 3, 1, false);
	EXPECT_EQ(mm_fault(mm, va_of(n) + 2 * PAGE, 0), 1);
	mm_unpin(f, 3, false);
	mm_unpin(f + 4, 4, false);
	EXPECT_EQ(rig_stats(r).frames_free, 7);
	rig_check(r);
}

TEST("orphans stay on the account of their process, which has a limit")
{
	struct rig *r = rig_start_limits(SIM_LOCKSTEP, 1, 32, 64, 4, 0);
	uint8_t *m = rig_map(r, 0, 4), *n = rig_map(r, 0, 4);
	struct host_mm *mm = rig_mm(r, 0);
	struct host_frame *f[4];

	EXPECT_EQ(mm_pin(mm, va_of(m), 4, true, f), 4);
	EXPECT_EQ(host_madvise(r->p[0], m, 4 * PAGE, HOST_DONTNEED), 0);
	EXPECT_EQ(mm_fault(mm, va_of(n), 0), -ENOMEM);
	EXPECT_EQ(rig_stats(r).frames_free, 28);
	mm_unpin(f, 1, false);
	EXPECT_EQ(mm_fault(mm, va_of(n), 0), 0);
	mm_unpin(f + 1, 3, false);
	rig_check(r);
}

/* ---- the end ---- */

TEST("frames that are pinned outlive their process, and its bank with them")
{
	struct rig *r = pin_rig();
	struct host_frame *f[3], *other;
	uint8_t *m;

	rig_process(r, 1);
	m = rig_map(r, 1, 3);
	EXPECT_EQ(mm_pin(rig_mm(r, 1), va_of(m), 3, true, f), 3);
	EXPECT_EQ(host_munmap(r->p[1], m, PAGE), 0);
	*pin_byte(r, f[2]) = 3;
	host_process_exit(r->p[1]);
	r->p[1] = NULL;
	EXPECT_EQ(rig_stats(r).frames_free, FRAMES - 3);
	EXPECT_EQ(rig_stats(r).frames_pinned, 3);
	EXPECT_EQ(rig_stats(r).banks_kept, 1);
	EXPECT_EQ(trace_count(r->trace, EV_MM_ORPHAN), 3);
	EXPECT_EQ(atomic_load(&r->k->table_pages), r->p[0]->mm->tables);
	rig_check(r);
	STEP("another process comes, and has other memory");
	m = (rig_process(r, 1), rig_map(r, 1, 3));
	EXPECT_EQ(mm_pin(rig_mm(r, 1), va_of(m), 1, true, &other), 1);
	*pin_byte(r, other) = 4;
	EXPECT_EQ(*pin_byte(r, f[2]), 3);
	STEP("given back in one call with the other's");
	mm_unpin(f, 2, true);
	rig_check(r);
	f[0] = other;
	f[1] = f[2];
	mm_unpin(f, 2, true);
	EXPECT_EQ(rig_stats(r).frames_free, FRAMES - 1);
	EXPECT_EQ(rig_stats(r).frames_pinned, 0);
	EXPECT_EQ(rig_stats(r).banks_kept, 0);
	EXPECT_EQ(trace_count(r->trace, EV_SIM_VIOLATION), 0);
	rig_check(r);
}

TEST("pages that are pinned when the kernel ends are said, and given back")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 3);
	struct host_frame *f[3];

	EXPECT_EQ(mm_pin(rig_mm(r, 0), va_of(m), 3, true, f), 3);
	EXPECT_EQ(mm_pin(rig_mm(r, 0), va_of(m), 2, true, f), 2);
	sim_stop(r->sim);
	host_process_exit(r->p[0]);
	r->p[0] = NULL;
	EXPECT_EQ(trace_count(r->trace, EV_SIM_VIOLATION), 0);
	host_destroy(r->k);
	r->k = NULL;
	EXPECT_EQ(trace_count(r->trace, EV_SIM_VIOLATION), 1);
}

/* ---- a mapping at a place ---- */

TEST("remap covers holes, cuts what it meets, and gives zeros with its rights")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 6);
	uint64_t start, end;
	int prot;

	pin_put(r, va_of(m), 1);
	pin_put(r, va_of(m) + 5 * PAGE, 5);
	EXPECT_EQ(host_munmap(r->p[0], m + 2 * PAGE, PAGE), 0);
	EXPECT_EQ(host_remap(r->p[0], m + PAGE, 4 * PAGE - 1, HOST_READ), 0);
	EXPECT_EQ(mm_lookup(rig_mm(r, 0), va_of(m) + 2 * PAGE, &start, &end,
			    &prot), 0);
	EXPECT_EQ(start, va_of(m) + PAGE);
	EXPECT_EQ(end, va_of(m) + 5 * PAGE);
	EXPECT_EQ(prot, HOST_READ);
	EXPECT_EQ(pin_get(r, va_of(m)), 1);
	EXPECT_EQ(pin_get(r, va_of(m) + 4 * PAGE), 0);
	EXPECT_EQ(pin_get(r, va_of(m) + 5 * PAGE), 5);
	STEP("with the same rights as its neighbours it is one with them");
	EXPECT_EQ(host_remap(r->p[0], m + PAGE, 4 * PAGE, RW), 0);
	EXPECT_EQ(mm_lookup(rig_mm(r, 0), va_of(m), &start, &end, &prot), 0);
	EXPECT_EQ(end, va_of(m) + 6 * PAGE);
	rig_check(r);
}

TEST("remap of a range that makes no sense changes nothing")
{
	struct rig *r = pin_rig();
	uint8_t *m = rig_map(r, 0, 2);

	pin_put(r, va_of(m), 1);
	EXPECT_EQ(host_remap(r->p[0], m + 1, PAGE, RW), -EINVAL);
	EXPECT_EQ(host_remap(r->p[0], m, 0, RW), -EINVAL);
	EXPECT_EQ(host_remap(r->p[0], m, PAGE, 64), -EINVAL);
	EXPECT_EQ(host_remap(r->p[0], m - (1ull << 40), PAGE, RW), -EINVAL);
	EXPECT_EQ(host_remap(r->p[0], m, UINT64_MAX, RW), -EINVAL);
	EXPECT_EQ(pin_get(r, va_of(m)), 1);
	rig_check(r);
}

/* ---- threads ---- */

#define ROUNDS	400

struct race {
	struct rig *r;
	uint8_t *m;
	uint64_t wrong;
};

static void race_unmap(void *arg)
{
	struct race *x = arg;
	uint64_t i, v;

	for (i = 0; i < ROUNDS; i++) {
		v = i + 1;
		WANT(x->r, !mm_copy(rig_mm(x->r, 0), va_of(x->m), &v, 8, true));
		if (i % 2)
			WANT(x->r, !host_remap(x->r->p[0], x->m, PAGE, RW));
		else
			WANT(x->r, !host_madvise(x->r->p[0], x->m, PAGE,
						 HOST_DONTNEED));
		WANT(x->r, !mm_copy(rig_mm(x->r, 0), va_of(x->m), &v, 8,
				    false));
		WANT(x->r, v == 0);
	}
}

static void race_pin(void *arg)
{
	struct race *x = arg;
	struct host_frame *f[2];
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		WANT(x->r, mm_pin(rig_mm(x->r, 0), va_of(x->m), 2, false, f) ==
			   2);
		sim_yield();
		mm_unpin(f, 2, false);
	}
}

static void race_in(enum sim_mode mode)
{
	struct race x = { .r = rig_start(mode, test_seed(), FRAMES, 64) };

	x.m = rig_map(x.r, 0, 2);
	rig_thread(x.r, 0, race_unmap, &x);
	rig_thread(x.r, 0, race_pin, &x);
	rig_thread(x.r, 0, race_pin, &x);
	rig_run(x.r);
	EXPECT_EQ(rig_stats(x.r).frames_pinned, 0);
	EXPECT_EQ(host_munmap(x.r->p[0], x.m, 2 * PAGE), 0);
	EXPECT_EQ(rig_stats(x.r).frames_free, FRAMES);
	rig_check(x.r);
}

TEST("pinning and unmapping at the same time lose no frame, lockstep")
{
	race_in(SIM_LOCKSTEP);
}

TEST("pinning and unmapping at the same time lose no frame, threads")
{
	race_in(SIM_THREADS);
}
