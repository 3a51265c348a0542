// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages that are not there, or that the device may not write yet: untouched, the
 * zero page, clean, and thrown away. The kernel's part is exact, so the counters
 * are: one fault a block, or a page, and each page brought in once.
 */
#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)
#define PAGES	(BYTES / RIG_PAGE)
#define BLOCKS	(BYTES / RIG_BLOCK)

/* What n resolved faults of one side look like; pages: what came in. */
static void expect_side(struct rig_side *s, uint64_t faults, uint64_t pages)
{
	struct fl_fault_counters c = rig_settled(s, faults);
	bool source = s == &rig.src;

	EXPECT_EQ(c.faults, faults);
	EXPECT_EQ(source ? c.faults_source : c.faults_destination, faults);
	EXPECT_EQ(source ? c.faults_destination : c.faults_source, 0);
	EXPECT_EQ(c.resolves, faults);
	EXPECT_EQ(c.pages_in, pages);
	EXPECT_EQ(c.failed, 0);
}

/* Accesses that were held: all of them, or none. */
static void expect_stalls(enum fl_system system, struct rig_side *s)
{
	struct fl_fault_counters c = rig_since(s);

	/* Each is counted before its access goes on. */
	EXPECT_EQ(c.stalls, system == FL_SYSTEM_STALL ? c.faults : 0);
	EXPECT_EQ(c.spurious, 0);
}

TEST_MODES(destination_blocks,
	   "an untouched destination: one fault a block, every page in once")
{
	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 1);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 1);
	expect_side(&rig.src, 0, 0);
	expect_side(&rig.dst, BLOCKS, PAGES);
	expect_stalls(system, &rig.dst);
	rig_finish();
}

TEST_MODES(destination_pages,
	   "an untouched destination, one page a fault: a fault for every page")
{
	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(BYTES, 2);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 2);
	expect_side(&rig.src, 0, 0);
	expect_side(&rig.dst, PAGES, PAGES);
	expect_stalls(system, &rig.dst);
	rig_finish();
}

/*
 * A block that is under way when the first fault is answered may have met its
 * own, so there may be more than one fault, but not more than blocks; no page
 * comes in twice.
 */
TEST_MODES(destination_transfer,
	   "an untouched destination, all of the transfer at the first fault")
{
	struct fl_fault_counters c;

	rig_open(system, FL_RESOLVE_TRANSFER);
	rig_buffers_for(BYTES, 3);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 3);
	c = rig_since(&rig.dst);
	EXPECT_GE(c.faults, 1);
	EXPECT_LE(c.faults, BLOCKS);
	EXPECT_EQ(c.failed, 0);
	EXPECT_GE(c.pages_in, PAGES);
	/* Two workers may both find a page absent before one brings it in. */
	EXPECT_LE(c.pages_in, PAGES + (c.faults - 1) * PAGES);
	EXPECT_EQ(rig_pages(rig.dst.mem, BYTES, RIG_PRESENT), PAGES);
	rig_finish();
}

TEST_MODES(source_blocks, "an untouched source is sent as zeros")
{
	uint8_t *src, *dst;

	rig_open(system, FL_RESOLVE_BLOCK);
	src = rig_buffer(BYTES);
	dst = rig_buffer(BYTES);
	rig_fill(dst, BYTES, 4);
	rig_regions(src, BYTES, dst, BYTES);
	rig_write(0, BYTES);
	EXPECT(rig_zero(dst, BYTES));
	expect_side(&rig.src, BLOCKS, PAGES);
	expect_side(&rig.dst, 0, 0);
	expect_stalls(system, &rig.src);
	rig_finish();
}

TEST_MODES(both_sides, "neither side is there: each has its own faults")
{
	uint8_t *src, *dst;

	rig_open(system, FL_RESOLVE_BLOCK);
	src = rig_buffer(BYTES);
	dst = rig_buffer(BYTES);
	rig_regions(src, BYTES, dst, BYTES);
	rig_write(0, BYTES);
	EXPECT(rig_zero(dst, BYTES));
	expect_side(&rig.src, BLOCKS, PAGES);
	expect_side(&rig.dst, BLOCKS, PAGES);
	rig_finish();
}

/* READ: what comes back is written where it was asked for. */
TEST_MODES(read_into, "a read into untouched memory: the reader has the faults")
{
	struct fl_fault_counters c;

	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 11);
	rig_fill(rig.dst.mem, BYTES, 12);
	EXPECT_EQ(madvise(rig.src.mem, BYTES, MADV_DONTNEED), 0);
	STEP("now with the other rights");
	EXPECT_EQ(fl_dereg_mr(rig.src.mr), 0);
	EXPECT_EQ(fl_dereg_mr(rig.dst.mr), 0);
	EXPECT_EQ(fl_reg_mr(rig.src.pd, rig.src.mem, BYTES, FL_LOCAL_WRITE,
			    &rig.src.mr), 0);
	EXPECT_EQ(fl_reg_mr(rig.dst.pd, rig.dst.mem, BYTES, FL_REMOTE_READ,
			    &rig.dst.mr), 0);
	rig_mark();
	rig.taken = false;
	EXPECT_EQ(fl_post_read(rig.src.qp, ++rig.posted, rig.src.mr,
			       rig.src.mem, BYTES, (uintptr_t)rig.dst.mem,
			       fl_mr_key(rig.dst.mr)), 0);
	EXPECT_EQ(rig_status(), 0);
	EXPECT_PATTERN(rig.src.mem, BYTES, 12);
	c = rig_since(&rig.src);
	EXPECT_EQ(c.faults, BLOCKS);
	EXPECT_EQ(c.faults_destination, BLOCKS);
	EXPECT_EQ(c.pages_in, PAGES);
	EXPECT_EQ(rig_since(&rig.dst).faults, 0);
	rig_finish();
}

/* The right to write was missing, and no page came in; but the fault was no mistake. */
static void expect_rights(void)
{
	struct fl_fault_counters c = rig_since(&rig.dst);

	expect_side(&rig.dst, BLOCKS, 0);
	EXPECT_EQ(c.spurious, 0);
}

TEST_MODES(zero_page,
	   "the zero page is there to read; to write it is a permission fault")
{
	uint64_t zero;
	uint8_t *dst;

	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 5);
	dst = rig.dst.mem;
	STEP("the CPU reads the destination first");
	EXPECT(rig_zero(dst, BYTES));
	zero = rig_pagemap(dst) & RIG_FRAME;
	EXPECT_EQ(rig_pagemap(dst + RIG_PAGE) & RIG_FRAME, zero);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(dst, BYTES, 5);
	expect_rights();
	EXPECT_NE(rig_pagemap(dst) & RIG_FRAME, zero);
	STEP("once more: now it may be written");
	rig_mark();
	rig_write(0, BYTES);
	expect_side(&rig.dst, 0, 0);
	rig_finish();
}

/* The device itself reads the zero page, and then writes there. */
TEST_MODES(zero_page_of_device, "a page that the device read first is written")
{
	uint8_t *a, *b;

	rig_open(system, FL_RESOLVE_BLOCK);
	a = rig_buffer(BYTES);
	b = rig_buffer(BYTES);
	rig_fill(b, BYTES, 6);
	STEP("a is the source");
	rig_regions(a, BYTES, b, BYTES);
	rig_write(0, BYTES);
	EXPECT(rig_zero(b, BYTES));
	expect_side(&rig.src, BLOCKS, PAGES);
	STEP("a is the destination");
	rig_fill(b, BYTES, 7);
	rig_regions(b, BYTES, a, BYTES);
	rig_write(0, BYTES);
	EXPECT_PATTERN(a, BYTES, 7);
	expect_rights();
	rig_finish();
}

TEST_MODES(thrown_away, "after MADV_DONTNEED nothing of the old frames is used")
{
	uint8_t *other;

	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 8);
	rig_write(0, BYTES);
	STEP("throw the destination away; its frames become someone else's");
	EXPECT_EQ(madvise(rig.dst.mem, BYTES, MADV_DONTNEED), 0);
	EXPECT_GE(rig_since(&rig.dst).invalidations, 1);
	other = rig_buffer(BYTES);
	rig_fill(other, BYTES, 9);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 8);
	EXPECT_PATTERN(other, BYTES, 9);
	expect_side(&rig.dst, BLOCKS, PAGES);
	STEP("throw the source away: zeros are sent");
	EXPECT_EQ(madvise(rig.src.mem, BYTES, MADV_DONTNEED), 0);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT(rig_zero(rig.dst.mem, BYTES));
	expect_side(&rig.src, BLOCKS, PAGES);
	expect_side(&rig.dst, 0, 0);
	rig_finish();
}

/* Neither begins nor ends on a page; the bytes around it stay. */
TEST_MODES(unaligned, "a write that fits no page leaves its neighbours alone")
{
	/* The last 2859 bytes of page 3, and on to byte 1792 of page 8. */
	const size_t at = 3 * RIG_PAGE + 1237, bytes = 5 * RIG_PAGE + 555;
	uint8_t *dst, *zeros;

	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 10);
	dst = rig.dst.mem;
	zeros = calloc(1, BYTES);
	EXPECT(zeros != NULL);
	rig_write(at, bytes);
	/* Its two blocks share a page, which two workers may both find absent. */
	EXPECT_GE(rig_since(&rig.dst).pages_in, 6);
	EXPECT_LE(rig_since(&rig.dst).pages_in, 6 + 1);
	EXPECT_MEM(dst + at, rig.src.mem + at, bytes);
	EXPECT_MEM(dst, zeros, at);
	EXPECT_MEM(dst + at + bytes, zeros, BYTES - at - bytes);
	free(zeros);
	rig_finish();
}

/* ---- pinned to be read ---- */

/*
 * Pin a mapping that the device only reads, have the CPU write it, and see that
 * the pages are those that were pinned.
 */
static void pinned_to_read(uint8_t *src, uint64_t seed)
{
	uint64_t frame[PAGES];
	unsigned int i;

	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig.src.mem = src;
	rig.dst.mem = rig_buffer(BYTES);
	EXPECT_EQ(fl_reg_mr(rig.src.pd, src, BYTES, FL_PINNED, &rig.src.mr), 0);
	EXPECT_EQ(fl_reg_mr(rig.dst.pd, rig.dst.mem, BYTES, FL_REMOTE_WRITE,
			    &rig.dst.mr), 0);
	for (i = 0; i < PAGES; i++)
		frame[i] = rig_pagemap(src + i * RIG_PAGE) & RIG_FRAME;
	STEP("the CPU writes what is pinned");
	rig_fill(src, BYTES, seed);
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(rig_pagemap(src + i * RIG_PAGE) & RIG_FRAME,
			  frame[i]);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, seed);
	expect_side(&rig.src, 0, 0);
	rig_finish();
}

TEST("untouched memory that is pinned to be read: its pages, not the page of zeros")
{
	rig_begin();
	pinned_to_read(rig_buffer(BYTES), 15);
}

/* A file of one pattern, in memory. */
static uint8_t *map_pattern(int prot, int flags, uint64_t seed)
{
	int fd = memfd_create("pattern", MFD_CLOEXEC);
	uint8_t *mem;

	EXPECT_GE(fd, 0);
	EXPECT_EQ(ftruncate(fd, BYTES), 0);
	mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT((void *)mem != MAP_FAILED);
	rig_fill(mem, BYTES, seed);
	munmap(mem, BYTES);
	mem = mmap(NULL, BYTES, prot, flags, fd, 0);
	EXPECT((void *)mem != MAP_FAILED);
	close(fd);
	return mem;
}

TEST("a private file that is pinned to be read: the process's pages, not the file's")
{
	uint8_t *mem = map_pattern(PROT_READ | PROT_WRITE, MAP_PRIVATE, 16);

	pinned_to_read(mem, 17);
	munmap(mem, BYTES);
}

TEST("a shared file that may only be read can be pinned, too")
{
	uint8_t *mem = map_pattern(PROT_READ, MAP_SHARED, 18);

	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig.src.mem = mem;
	rig.dst.mem = rig_buffer(BYTES);
	EXPECT_EQ(fl_reg_mr(rig.src.pd, mem, BYTES, FL_PINNED, &rig.src.mr), 0);
	EXPECT_EQ(fl_reg_mr(rig.dst.pd, rig.dst.mem, BYTES, FL_REMOTE_WRITE,
			    &rig.dst.mr), 0);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 18);
	expect_side(&rig.src, 0, 0);
	rig_finish();
	munmap(mem, BYTES);
}
