// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages in swap, before a transfer and while it runs.
 *
 * Swap brings in neighbours too (read-ahead, /proc/sys/vm/page-cluster), but only
 * into its cache: page tables change where a fault asks for it, so the driver's
 * counters stay exact.
 */
#include "swap.h"

#define BYTES	(16 * RIG_BLOCK)
#define PAGES	(BYTES / RIG_PAGE)
#define BLOCKS	(BYTES / RIG_BLOCK)

TEST_MODES(source_out, "a source in swap is read back and sent")
{
	struct fl_fault_counters c;
	int64_t ins;

	swap_begin();
	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 30);
	memset(rig.dst.mem, 0, BYTES);
	ins = swap_ins();
	swap_out(rig.src.mem, BYTES);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 30);
	c = rig_since(&rig.src);
	EXPECT_EQ(c.faults_source, BLOCKS);
	EXPECT_EQ(c.pages_in, PAGES);
	EXPECT_EQ(c.failed, 0);
	/* What was still on its way to the disk needs no reading. */
	EXPECT_GE(swap_ins(), ins);
	EXPECT_EQ(rig_since(&rig.dst).faults, 0);
	EXPECT_EQ(rig_pages(rig.src.mem, BYTES, RIG_PRESENT), PAGES);
	rig_finish();
}

TEST_MODES(destination_out,
	   "a destination in swap: bytes beside the write come back as they were")
{
	const size_t at = RIG_BLOCK + 1000, bytes = 3 * RIG_BLOCK + 104;
	struct fl_fault_counters c;

	swap_begin();
	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 31);
	rig_fill(rig.dst.mem, BYTES, 32);
	swap_out(rig.dst.mem, BYTES);
	EXPECT_GE(rig_since(&rig.dst).invalidations, 1);
	rig_mark();
	rig_write(at, bytes);
	/*
	 * Four blocks on 13 pages; the fourth lies in the last page of the third,
	 * which may be there by then. Blocks share three pages, which two workers
	 * may both find absent. The second one then finds a page of the swap cache
	 * that another holds, and copies it (do_wp_page of mm/memory.c): meanwhile
	 * it is not there, and a block that is sent again may fault once more.
	 */
	c = rig_since(&rig.dst);
	EXPECT_GE(c.faults_destination, 3);
	EXPECT_LE(c.faults_destination, 4 + 3);
	EXPECT_GE(c.pages_in, 13);
	EXPECT_LE(c.pages_in, 13 + 3 + 3);
	EXPECT_EQ(c.failed, 0);
	EXPECT_EQ(rig_pages(rig.dst.mem, BYTES, RIG_PRESENT), 13);
	EXPECT_EQ(rig_same(rig.dst.mem + at, bytes, 31, at / 8), bytes);
	EXPECT_EQ(rig_same(rig.dst.mem, at, 32, 0), at);
	EXPECT_EQ(rig_same(rig.dst.mem + at + bytes, BYTES - at - bytes, 32,
			   (at + bytes) / 8), BYTES - at - bytes);
	rig_finish();
}

/* Read back, a page is clean and the swap slot is still good. */
TEST_MODES(clean_page, "a clean page of swap is written: a permission fault")
{
	struct fl_fault_counters c;
	volatile uint8_t *dst;
	size_t i;

	swap_begin();
	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 33);
	rig_fill(rig.dst.mem, BYTES, 34);
	swap_out(rig.dst.mem, BYTES);
	STEP("the CPU reads it");
	dst = rig.dst.mem;
	for (i = 0; i < BYTES; i += RIG_PAGE)
		EXPECT_EQ(dst[i], rig_word(34, i / 8) & 0xff);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 33);
	c = rig_since(&rig.dst);
	EXPECT_EQ(c.pages_in, 0);
	EXPECT_EQ(c.faults, BLOCKS);
	EXPECT_EQ(c.failed, 0);
	STEP("what the device wrote is what comes back from swap");
	swap_out(rig.dst.mem, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 33);
	rig_finish();
}

TEST_MODES(out_in_flight,
	   "pages go out to swap while the transfer runs, and nothing is lost")
{
	const size_t bytes = 1u << 20, some = 8 * RIG_PAGE;
	const uint64_t pages = bytes / RIG_PAGE;
	unsigned int tries, rounds = 0;
	int64_t outs;

	swap_begin();
	outs = rig_number("/proc/vmstat", "pswpout");
	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(bytes, 35);
	for (tries = 0; tries < RIG_TRIES && rounds < 3; tries++) {
		EXPECT_EQ(madvise(rig.dst.mem, bytes, MADV_DONTNEED), 0);
		rig_mark();
		rig_post(0, bytes);
		rounds = 0;
		while (rounds < 3 &&
		       rig_under_way(&rig.dst, rounds * 32 + 8) &&
		       rig_middle(&rig.dst, pages)) {
			/* What is there already, and what will be sent. */
			madvise(rig.dst.mem, some, MADV_PAGEOUT);
			madvise(rig.src.mem + bytes / 2 + rounds * some, some,
				MADV_PAGEOUT);
			rounds += rig_middle(&rig.dst, pages);
		}
		EXPECT_EQ(rig_status(), 0);
		EXPECT_PATTERN(rig.dst.mem, bytes, 35);
		EXPECT_PATTERN(rig.src.mem, bytes, 35);
	}
	outs = rig_number("/proc/vmstat", "pswpout") - outs;
	STEP("%" PRId64 " pages went out, %u times in the middle", outs, rounds);
	EXPECT_GE(rounds, 3);
	EXPECT_GE(outs, 3);
	rig_finish();
}
