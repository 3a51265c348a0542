// SPDX-License-Identifier: BSD-2-Clause
/*
 * Transparent huge pages: a block of 2 MB in the tables is one entry for the
 * SMMU. Made by the device's own fault, collapsed and split under the transfer.
 */
#include "rig.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25	/* Linux 6.1 */
#endif
#define BYTES	(2u * RIG_HUGE)
#define PAGES	(BYTES / RIG_PAGE)
#define BLOCKS	(BYTES / RIG_BLOCK)

/* Bytes of huge pages in the mapping that mem is the begin of (proc(5), smaps). */
static uint64_t huge_bytes(const void *mem)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	uint64_t from, to, kb, sum = 0;
	bool inside = false;
	char line[512];

	EXPECT(f != NULL);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2)
			inside = from < (uintptr_t)mem + BYTES &&
				 to > (uintptr_t)mem;
		else if (inside && sscanf(line, "AnonHugePages: %" SCNu64 " kB",
					  &kb) == 1)
			sum += kb << 10;
	}
	fclose(f);
	return sum;
}

static void huge_buffers_for(uint64_t seed)
{
	uint8_t *src = rig_buffer(BYTES);
	uint8_t *dst = rig_buffer_at(BYTES, RIG_HUGE, true);

	/* Huge pages want memory in one piece. */
	EXPECT_EQ(rig_put("/proc/sys/vm/compact_memory", "1"), 0);
	rig_fill(src, BYTES, seed);
	rig_regions(src, BYTES, dst, BYTES);
}

TEST_MODES(made_by_fault, "a device fault brings in a huge page")
{
	struct fl_fault_counters c;

	rig_open(system, FL_RESOLVE_PAGE);
	huge_buffers_for(90);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 90);
	EXPECT_EQ(huge_bytes(rig.dst.mem), BYTES);
	c = rig_since(&rig.dst);
	/*
	 * One fault would do for each of the two; blocks that were under way
	 * have met their own. None of them brought in anything more.
	 */
	EXPECT_GE(c.faults, 2);
	EXPECT_LE(c.faults, 2 * 16);
	EXPECT_GE(c.pages_in, 2);
	EXPECT_LE(c.pages_in, c.faults);
	EXPECT_EQ(c.failed, 0);
	STEP("again: it is all there");
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_EQ(rig_since(&rig.dst).faults, 0);
	rig_finish();
}

TEST_MODES(huge_source, "a huge page is the source, and is given back")
{
	uint8_t *src, *dst;

	rig_open(system, FL_RESOLVE_BLOCK);
	EXPECT_EQ(rig_put("/proc/sys/vm/compact_memory", "1"), 0);
	src = rig_buffer_at(BYTES, RIG_HUGE, true);
	dst = rig_buffer(BYTES);
	rig_fill(src, BYTES, 91);
	memset(dst, 0, BYTES);
	EXPECT_EQ(huge_bytes(src), BYTES);
	rig_regions(src, BYTES, dst, BYTES);
	rig_write(0, BYTES);
	EXPECT_PATTERN(dst, BYTES, 91);
	EXPECT_EQ(rig_since(&rig.src).faults, 0);
	STEP("the source is thrown away, and its frames are used");
	EXPECT_EQ(madvise(src, BYTES, MADV_DONTNEED), 0);
	rig_fill(rig_buffer(BYTES), BYTES, 92);
	rig_write(0, BYTES);
	EXPECT(rig_zero(dst, BYTES));
	rig_finish();
}

/*
 * The destination is one huge page after the other and resident; the source is
 * not there and makes the transfer slow, one fault a block, which says how far it
 * is. What is to be sent is therefore zeros, over a pattern.
 */
static void slow_transfer(uint64_t seed, void (*act)(void))
{
	unsigned int tries;

	for (tries = 0; tries < RIG_TRIES; tries++) {
		/* Mapped again: an act that came too late may have unmapped some. */
		EXPECT(mmap(rig.dst.mem, BYTES, PROT_READ | PROT_WRITE,
			    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		       rig.dst.mem);
		EXPECT_EQ(madvise(rig.dst.mem, BYTES, MADV_HUGEPAGE), 0);
		rig_connect();
		EXPECT_EQ(rig_put("/proc/sys/vm/compact_memory", "1"), 0);
		rig_fill(rig.dst.mem, BYTES, seed);
		/* Where others hold pages that do not move there is no huge one. */
		if (huge_bytes(rig.dst.mem) != BYTES)
			continue;
		EXPECT_EQ(madvise(rig.src.mem, BYTES, MADV_DONTNEED), 0);
		rig_mark();
		rig_post(0, BYTES);
		if (!rig_under_way(&rig.src, 8))
			continue;
		act();
		if (rig_middle(&rig.src, BLOCKS / 2))
			return;
		rig_status();
	}
	EXPECT(tries < RIG_TRIES);
}

static void act_split_drop(void)
{
	/* One page of each: the huge page is split, the page goes. */
	EXPECT_EQ(madvise(rig.dst.mem + RIG_HUGE - RIG_PAGE, RIG_PAGE,
			  MADV_DONTNEED), 0);
	EXPECT_EQ(madvise(rig.dst.mem + BYTES - RIG_PAGE, RIG_PAGE,
			  MADV_DONTNEED), 0);
	EXPECT_EQ(huge_bytes(rig.dst.mem), 0);
}

TEST_MODES(split_middle, "huge pages are split in the middle of a transfer")
{
	rig_open(system, FL_RESOLVE_BLOCK);
	huge_buffers_for(93);
	slow_transfer(93, act_split_drop);
	EXPECT_EQ(rig_status(), 0);
	EXPECT(rig_zero(rig.dst.mem, BYTES));
	EXPECT_GE(rig_since(&rig.dst).invalidations, 1);
	/*
	 * The two pages that went, for blocks that came after; and while a huge page
	 * is split, none of it is there (__split_huge_pmd_locked of mm/huge_memory.c
	 * invalidates it first): one block at each of the two may have come then.
	 */
	EXPECT_LE(rig_since(&rig.dst).pages_in, 2 + 2 * RIG_BLOCK / RIG_PAGE);
	EXPECT_GE(rig_since(&rig.dst).pages_in, 1);
	EXPECT_EQ(rig_since(&rig.dst).failed, 0);
	rig_finish();
}

static void act_split_unmap(void)
{
	EXPECT_EQ(munmap(rig.dst.mem + BYTES - RIG_HUGE / 2, RIG_HUGE / 2), 0);
}

TEST_MODES(unmap_half, "half of a huge page is unmapped in the middle: an error, "
	   "and the rest is right")
{
	uint8_t *other;
	uint64_t *w;
	size_t i;

	rig_open(system, FL_RESOLVE_BLOCK);
	huge_buffers_for(94);
	slow_transfer(94, act_split_unmap);
	other = rig_buffer(RIG_HUGE);
	rig_fill(other, RIG_HUGE, 95);
	EXPECT_EQ(rig_status(), RIG_REMOTE_FAULT);
	w = (uint64_t *)rig.dst.mem;
	for (i = 0; i < (BYTES - RIG_HUGE / 2) / 8; i++)
		EXPECT(!w[i] || w[i] == rig_word(94, i));
	EXPECT_PATTERN(other, RIG_HUGE, 95);
	rig_finish();
}

static void act_collapse(void)
{
	EXPECT_EQ(madvise(rig.dst.mem, BYTES, MADV_COLLAPSE), 0);
	EXPECT_EQ(huge_bytes(rig.dst.mem), BYTES);
}

/* The device writes into small pages while the kernel copies them together. */
TEST_MODES(collapse_middle,
	   "small pages are collapsed in the middle of a transfer")
{
	unsigned int tries;
	bool middle = false;

	rig_open(system, FL_RESOLVE_BLOCK);
	huge_buffers_for(96);
	for (tries = 0; tries < RIG_TRIES && !middle; tries++) {
		STEP("the destination is there, in small pages");
		EXPECT_EQ(madvise(rig.dst.mem, BYTES, MADV_DONTNEED), 0);
		EXPECT_EQ(madvise(rig.dst.mem, BYTES, MADV_NOHUGEPAGE), 0);
		rig_fill(rig.dst.mem, BYTES, 97);
		EXPECT_EQ(huge_bytes(rig.dst.mem), 0);
		EXPECT_EQ(madvise(rig.dst.mem, BYTES, MADV_HUGEPAGE), 0);
		EXPECT_EQ(madvise(rig.src.mem, BYTES, MADV_DONTNEED), 0);
		rig_mark();
		rig_post(0, BYTES);
		if (!rig_under_way(&rig.src, 8))
			continue;
		act_collapse();
		middle = rig_middle(&rig.src, BLOCKS);
		EXPECT_EQ(rig_status(), 0);
		EXPECT(rig_zero(rig.dst.mem, BYTES));
	}
	EXPECT(middle);
	EXPECT_GE(rig_since(&rig.dst).invalidations, 2);
	EXPECT_EQ(rig_since(&rig.dst).failed, 0);
	rig_finish();
}
