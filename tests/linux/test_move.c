// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames that change under a page: migrated, compacted, merged (KSM). Addresses
 * and bytes stay; the device has to notice.
 *
 * A guest has one memory node (the card's DRAM is one file), so move_pages(2) has
 * nowhere to move to. Taking a frame out of use (MADV_SOFT_OFFLINE) migrates its
 * page all the same, and surely; compaction does it to whole areas.
 */
#include "rig.h"

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif
#define LARGE	(1u << 20)
#define BYTES	(16 * RIG_BLOCK)
#define PAGES	(BYTES / RIG_PAGE)
#define BLOCKS	(BYTES / RIG_BLOCK)
#define FRAMES	4	/* taken out of use in a test: they are lost for good */

static int64_t move_migrated(void)
{
	return rig_number("/proc/vmstat", "pgmigrate_success");
}

/* Move the page at mem to another frame. */
static void move_migrate(uint8_t *mem)
{
	uint64_t frame = rig_pagemap(mem) & RIG_FRAME;

	/* A page that the kernel still has in hand (EBUSY) is tried again. */
	while (madvise(mem, RIG_PAGE, MADV_SOFT_OFFLINE))
		EXPECT(errno == EBUSY || errno == EIO);
	EXPECT_NE(rig_pagemap(mem) & RIG_FRAME, frame);
}

TEST_MODES(migrate_before, "pages that moved to other frames are found there")
{
	struct fl_fault_counters c;
	unsigned int i;

	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 100);
	rig_write(0, BYTES);
	rig_mark();
	for (i = 0; i < FRAMES; i++) {
		move_migrate(rig.src.mem + i * 4 * RIG_BLOCK);
		move_migrate(rig.dst.mem + i * 4 * RIG_BLOCK);
	}
	EXPECT_GE(rig_since(&rig.src).invalidations, FRAMES);
	EXPECT_GE(rig_since(&rig.dst).invalidations, FRAMES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 100);
	rig_fill(rig.src.mem, BYTES, 101);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 101);
	/* Moved, written and present: at most a fault for what was clean. */
	c = rig_since(&rig.dst);
	EXPECT_EQ(c.pages_in, 0);
	EXPECT_LE(c.faults, FRAMES);
	EXPECT_EQ(c.failed, 0);
	rig_finish();
}

TEST_MODES(migrate_middle, "pages move to other frames in the middle of a transfer")
{
	const uint64_t pages = LARGE / RIG_PAGE;
	unsigned int tries, i, n = 0;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 102);
	for (tries = 0; tries < RIG_TRIES && n < FRAMES; tries++) {
		EXPECT_EQ(madvise(rig.dst.mem, LARGE, MADV_DONTNEED), 0);
		rig_mark();
		rig_post(0, LARGE);
		for (i = n = 0; i < FRAMES; i++) {
			if (!rig_under_way(&rig.dst, 16 + 40 * i))
				break;
			/* The source that is being read, and the begin. */
			move_migrate(rig.src.mem + LARGE / 2 + i * RIG_PAGE);
			move_migrate(rig.dst.mem + i * RIG_PAGE);
			n += rig_middle(&rig.dst, pages);
		}
		EXPECT_EQ(rig_status(), 0);
		EXPECT_PATTERN(rig.dst.mem, LARGE, 102);
		EXPECT_PATTERN(rig.src.mem, LARGE, 102);
	}
	EXPECT_EQ(n, FRAMES);
	EXPECT_GE(rig_since(&rig.src).invalidations, FRAMES);
	EXPECT_EQ(rig_since(&rig.dst).failed, 0);
	rig_finish();
}

/* Every other page of a large area is free: plenty to compact. */
static void make_holes(uint8_t *mem, size_t bytes)
{
	size_t at;

	for (at = 0; at < bytes; at += 2 * RIG_PAGE)
		EXPECT_EQ(madvise(mem + at, RIG_PAGE, MADV_DONTNEED), 0);
}

static void holes_are_right(const uint8_t *mem, size_t bytes)
{
	size_t at;

	for (at = RIG_PAGE; at < bytes; at += 2 * RIG_PAGE)
		EXPECT_EQ(rig_same(mem + at, RIG_PAGE, 103, at / 8), RIG_PAGE);
}

TEST_MODES(compaction, "memory is compacted in the middle of a transfer")
{
	const uint64_t pages = LARGE / RIG_PAGE;
	const size_t holes = 16u << 20;
	uint8_t *area[2], *mem;
	unsigned int tries, n = 0;
	int64_t before;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 104);
	area[0] = rig_buffer(holes);
	area[1] = rig_buffer(holes);
	before = move_migrated();
	for (tries = 0; tries < RIG_TRIES && (!n || move_migrated() == before);
	     tries++) {
		/*
		 * Compaction moves pages up into what is free there, if anything
		 * is: of two areas one lies above the other.
		 */
		rig_fill(area[0], holes, 103);
		rig_fill(area[1], holes, 103);
		mem = area[tries % 2];
		EXPECT_EQ(madvise(area[!(tries % 2)], holes, MADV_DONTNEED), 0);
		make_holes(mem, holes);
		EXPECT_EQ(madvise(rig.dst.mem, LARGE, MADV_DONTNEED), 0);
		rig_mark();
		rig_post(0, LARGE);
		while (rig_under_way(&rig.dst, 16) && !rig_look() &&
		       rig_middle(&rig.dst, pages)) {
			/* It begins in the middle; a slow kernel ends it after. */
			EXPECT_EQ(rig_put("/proc/sys/vm/compact_memory", "1"),
				  0);
			n++;
		}
		EXPECT_EQ(rig_status(), 0);
		EXPECT_PATTERN(rig.dst.mem, LARGE, 104);
		EXPECT_PATTERN(rig.src.mem, LARGE, 104);
		holes_are_right(mem, holes);
	}
	STEP("compacted %u times, %" PRId64 " pages moved", n,
	     move_migrated() - before);
	EXPECT_GE(n, 1);
	EXPECT_GE(move_migrated() - before, 1);
	EXPECT_EQ(rig_since(&rig.dst).failed, 0);
	rig_finish();
}

/* ---- pages of the same contents, merged into one (CONFIG_KSM) ---- */

#define KSM	"/sys/kernel/mm/ksm/"

static void ksm_end(void *arg)
{
	(void)arg;
	rig_put(KSM "run", "2");	/* part all that was merged */
	rig_put(KSM "run", "0");
}

/*
 * Merge the pages of both halves, which hold the same. The daemon needs rounds,
 * of which it says when they end; 100 are far more than it takes.
 */
static void ksm_merge(uint8_t *mem, size_t bytes)
{
	int64_t rounds = rig_number(KSM "full_scans", "");
	unsigned int i;
	size_t at;

	EXPECT_EQ(madvise(mem, bytes, MADV_MERGEABLE), 0);
	EXPECT_EQ(rig_put(KSM "pages_to_scan", "4096"), 0);
	EXPECT_EQ(rig_put(KSM "sleep_millisecs", "1"), 0);
	test_cleanup(ksm_end, NULL);
	EXPECT_EQ(rig_put(KSM "run", "1"), 0);
	for (i = 0; i < 100000; i++) {
		if (rig_number(KSM "pages_sharing", "") >=
		    (int64_t)(bytes / 2 / RIG_PAGE) ||
		    rig_number(KSM "full_scans", "") > rounds + 100)
			break;
		usleep(1000);
	}
	EXPECT_EQ(rig_put(KSM "run", "0"), 0);
	STEP("merged after %" PRId64 " rounds",
	     rig_number(KSM "full_scans", "") - rounds);
	for (at = 0; at < bytes / 2; at += RIG_PAGE)
		EXPECT_EQ(rig_pagemap(mem + at) & RIG_FRAME,
			  rig_pagemap(mem + bytes / 2 + at) & RIG_FRAME);
}

TEST_MODES(merged, "merged pages are sent, and parted when the device writes")
{
	struct fl_fault_counters c;
	uint8_t *src, *twins, *dst;

	rig_open(system, FL_RESOLVE_BLOCK);
	src = rig_buffer(BYTES);
	twins = rig_buffer(2 * BYTES);
	dst = rig_buffer(BYTES);
	rig_fill(src, BYTES, 105);
	rig_fill(twins, BYTES, 106);
	rig_fill(twins + BYTES, BYTES, 106);
	memset(dst, 0, BYTES);
	ksm_merge(twins, 2 * BYTES);
	STEP("one of the twins is the source");
	rig_regions(twins, BYTES, dst, BYTES);
	rig_write(0, BYTES);
	EXPECT_PATTERN(dst, BYTES, 106);
	EXPECT_EQ(rig_since(&rig.src).faults, 0);
	STEP("one of the twins is the destination");
	rig_regions(src, BYTES, twins + BYTES, BYTES);
	rig_write(0, BYTES);
	EXPECT_PATTERN(twins + BYTES, BYTES, 105);
	EXPECT_PATTERN(twins, BYTES, 106);
	c = rig_since(&rig.dst);
	EXPECT_EQ(c.faults, BLOCKS);
	EXPECT_EQ(c.pages_in, 0);
	EXPECT_EQ(c.failed, 0);
	rig_finish();
}

TEST_MODES(merge_middle, "pages are merged while the device writes one of them")
{
	const uint64_t pages = LARGE / RIG_PAGE;
	unsigned int tries, n = 0;
	uint8_t *src, *dst;

	rig_open(system, FL_RESOLVE_PAGE);
	src = rig_buffer(LARGE);
	dst = rig_buffer(LARGE);
	rig_regions(src, LARGE, dst, LARGE);
	EXPECT_EQ(madvise(dst, LARGE, MADV_MERGEABLE), 0);
	EXPECT_EQ(rig_put(KSM "pages_to_scan", "65536"), 0);
	EXPECT_EQ(rig_put(KSM "sleep_millisecs", "1"), 0);
	test_cleanup(ksm_end, NULL);
	for (tries = 0; tries < RIG_TRIES && !n; tries++) {
		STEP("all pages of the destination hold the same");
		memset(dst, 7, LARGE);
		EXPECT_EQ(madvise(src, LARGE, MADV_DONTNEED), 0);
		EXPECT_EQ(rig_put(KSM "run", "1"), 0);
		rig_mark();
		rig_post(0, LARGE);
		while (rig_under_way(&rig.src, 8) && !rig_look() &&
		       rig_middle(&rig.src, pages)) {
			n += rig_number(KSM "pages_sharing", "") > 0 &&
			     rig_middle(&rig.src, pages);
			usleep(100);
		}
		EXPECT_EQ(rig_status(), 0);
		EXPECT(rig_zero(dst, LARGE));
		EXPECT_EQ(rig_put(KSM "run", "0"), 0);
	}
	EXPECT_GE(n, 1);
	EXPECT_EQ(rig_since(&rig.dst).failed, 0);
	rig_finish();
}
