// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages in swap, and a memory cgroup that is too small for the transfer.
 *
 * Swap brings in neighbours too (read-ahead, /proc/sys/vm/page-cluster), but only
 * into its cache: page tables change where a fault asks for it, so the driver's
 * counters stay exact.
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "swap.h"

#define BYTES	(16 * RIG_BLOCK)
#define PAGES	(BYTES / RIG_PAGE)
#define BLOCKS	(BYTES / RIG_BLOCK)

TEST_MODES(source_out, "a source in swap is read back and sent")
{
	struct fl_fault_counters c;
	int64_t ins;

	swap_begin();
	rig_open(policy, FL_TOUCH_BLOCK);
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
	rig_open(policy, FL_TOUCH_BLOCK);
	rig_buffers_for(BYTES, 31);
	rig_fill(rig.dst.mem, BYTES, 32);
	swap_out(rig.dst.mem, BYTES);
	EXPECT_GE(rig_since(&rig.dst).invalidations, 1);
	rig_mark();
	rig_write(at, bytes);
	/*
	 * Four blocks on 13 pages; the fourth lies in the last page of the third,
	 * which may be there by then.
	 */
	c = rig_since(&rig.dst);
	EXPECT_GE(c.faults_destination, 3);
	EXPECT_LE(c.faults_destination, 4);
	/* Blocks share three pages, which two workers may both find absent. */
	EXPECT_GE(c.pages_in, 13);
	EXPECT_LE(c.pages_in, 13 + 3);
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
	rig_open(policy, FL_TOUCH_BLOCK);
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
	rig_open(policy, FL_TOUCH_PAGE);
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

/* ---- memory cgroup ---- */

#define GROUP		"/sys/fs/cgroup/faultline"
#define GROUP_MAX	(8u << 20)
#define GROUP_BYTES	(24u << 20)

static enum fl_fault_policy group_policy;
static enum fl_touch group_touch;

static void group_end(void *arg)
{
	(void)arg;
	rmdir(GROUP);
}

static void group_begin(void)
{
	char max[32];

	mkdir("/sys/fs/cgroup", 0755);
	if (mount("none", "/sys/fs/cgroup", "cgroup2", 0, NULL))
		EXPECT_EQ(errno, EBUSY);
	EXPECT_EQ(rig_put("/sys/fs/cgroup/cgroup.subtree_control", "+memory"),
		  0);
	rmdir(GROUP);
	EXPECT_EQ(mkdir(GROUP, 0755), 0);
	test_cleanup(group_end, NULL);
	snprintf(max, sizeof(max), "%u", GROUP_MAX);
	EXPECT_EQ(rig_put(GROUP "/memory.max", max), 0);
}

static void group_child(void)
{
	int64_t at_most = 0, now;

	EXPECT_EQ(rig_put(GROUP "/cgroup.procs", "0"), 0);
	rig_open(group_policy, group_touch);
	rig_buffers_for(GROUP_BYTES, 36);
	rig_mark();
	rig_post(0, GROUP_BYTES);
	while (!rig_look()) {
		now = rig_number(GROUP "/memory.current", "");
		at_most = now > at_most ? now : at_most;
	}
	EXPECT_EQ(rig_status(), 0);
	STEP("at most %" PRId64 " bytes in the group", at_most);
	/*
	 * A processor charges 64 pages at a time, and reclaim itself may go over
	 * the limit; no more than that, or the driver's faults would not count.
	 */
	EXPECT_LE(at_most, GROUP_MAX + 4 * 64 * RIG_PAGE);
	EXPECT_PATTERN(rig.dst.mem, GROUP_BYTES, 36);
	/*
	 * Nothing was there before, and some of it may have gone out and come in
	 * again while its block was under way.
	 */
	EXPECT_GE(rig_since(&rig.dst).pages_in, GROUP_BYTES / RIG_PAGE);
	EXPECT_GE(rig_since(&rig.dst).invalidations, 1);
	EXPECT_GE(rig_number(GROUP "/memory.events", "max"), 1);
	EXPECT_EQ(rig_number(GROUP "/memory.events", "oom_kill"), 0);
	EXPECT_GE(rig_number(GROUP "/memory.swap.current", ""),
		  GROUP_BYTES - GROUP_MAX);
	rig_finish();
}

TEST_MODES(group_limit,
	   "a transfer three times as large as its memory cgroup may be")
{
	swap_begin();
	group_begin();
	group_policy = policy;
	group_touch = FL_TOUCH_BLOCK;
	EXPECT_EQ(rig_wait(rig_fork(group_child)), 0);
}

TEST_MODES(group_ahead, "touching ahead, a transfer three times as large as its "
	   "memory cgroup")
{
	swap_begin();
	group_begin();
	group_policy = policy;
	group_touch = FL_TOUCH_TRANSFER;
	EXPECT_EQ(rig_wait(rig_fork(group_child)), 0);
}

#define FAR_PAGES	64u	/* each with a page table of its own */

/* Statistics of a group are added up now and then. */
static bool tables_charged(int64_t before)
{
	unsigned int tries;

	for (tries = 0; tries < 1000; tries++) {
		if (rig_number(GROUP "/memory.stat", "pagetables") - before >=
		    (int64_t)(FAR_PAGES * RIG_PAGE))
			return true;
		usleep(10000);
	}
	return false;
}

static void tables_child(void)
{
	const size_t bytes = (size_t)FAR_PAGES * RIG_HUGE;
	uint8_t *src, *dst;
	int64_t before;
	size_t at;

	EXPECT_EQ(rig_put(GROUP "/cgroup.procs", "0"), 0);
	rig_open(group_policy, FL_TOUCH_BLOCK);
	src = rig_buffer(RIG_PAGE);
	rig_fill(src, RIG_PAGE, 39);
	dst = rig_buffer_at(bytes, RIG_HUGE, false);
	before = rig_number(GROUP "/memory.stat", "pagetables");
	EXPECT_GE(before, 0);
	for (at = 0; at < bytes; at += RIG_HUGE) {
		rig_regions(src, RIG_PAGE, dst + at, RIG_PAGE);
		rig_write(0, RIG_PAGE);
		EXPECT_EQ(rig_since(&rig.dst).faults, 1);
	}
	EXPECT(tables_charged(before));
	rig_finish();
}

TEST_MODES(group_tables,
	   "page tables that the driver's faults need are charged to the group")
{
	group_begin();
	group_policy = policy;
	EXPECT_EQ(rig_wait(rig_fork(tables_child)), 0);
}

/* A source that fits, written to ever more memory that does not. */
static void starved_child(void)
{
	const size_t part = 1u << 20;
	uint8_t *src, *dst;
	size_t at;

	EXPECT_EQ(rig_put(GROUP "/cgroup.procs", "0"), 0);
	rig_open(group_policy, group_touch);
	src = rig_buffer(part);
	dst = rig_buffer(GROUP_BYTES);
	rig_fill(src, part, 37);
	for (at = 0; at < GROUP_BYTES; at += part) {
		rig_regions(src, part, dst + at, part);
		rig_write(0, part);
	}
	STEP("the kernel should have ended this process by now");
	EXPECT_LE(at, GROUP_MAX);
}

static void starved(enum fl_fault_policy policy, enum fl_touch touch)
{
	unsigned int tries;

	group_begin();
	group_policy = policy;
	group_touch = touch;
	EXPECT_EQ(rig_wait(rig_fork(starved_child)), -SIGKILL);
	/* Whom it found dying already needed no second victim. */
	EXPECT_EQ(rig_number(GROUP "/memory.events", "oom_kill"), 1);
	STEP("memory of the dead is given back, and no worker fills it again");
	for (tries = 0; tries < 1000; tries++) {
		if (rig_number(GROUP "/memory.current", "") < GROUP_MAX / 8)
			break;
		usleep(10000);
	}
	EXPECT_LE(tries, 999);
	STEP("another process is not disturbed");
	rig_open(policy, FL_TOUCH_BLOCK);
	rig_buffers_for(BYTES, 38);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 38);
	rig_finish();
}

TEST_MODES(group_starved,
	   "without swap the group's own process is ended, and the card goes on")
{
	starved(policy, FL_TOUCH_BLOCK);
}

TEST_MODES(group_starved_ahead, "touching ahead, without swap: the group's own "
	   "process is ended")
{
	starved(policy, FL_TOUCH_TRANSFER);
}
