// SPDX-License-Identifier: BSD-2-Clause
/*
 * A memory cgroup that is too small for the transfer, with swap and without; and
 * what the driver's faults charge to it.
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "swap.h"

#define BYTES		(16 * RIG_BLOCK)
#define GROUP		"/sys/fs/cgroup/faultline"
#define GROUP_MAX	(2u << 20)
#define GROUP_BYTES	(6u << 20)

static enum fl_system group_system;
static enum fl_resolve group_resolve;

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
	rig_open(group_system, group_resolve);
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
	group_system = system;
	group_resolve = FL_RESOLVE_BLOCK;
	EXPECT_EQ(rig_wait(rig_fork(group_child)), 0);
}

TEST_MODES(group_ahead, "touching ahead, a transfer three times as large as its "
	   "memory cgroup")
{
	swap_begin();
	group_begin();
	group_system = system;
	group_resolve = FL_RESOLVE_TRANSFER;
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
	rig_open(group_system, FL_RESOLVE_BLOCK);
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
	group_system = system;
	EXPECT_EQ(rig_wait(rig_fork(tables_child)), 0);
}

/* A source that fits, written to ever more memory that does not. */
static void starved_child(void)
{
	const size_t part = 1u << 20;
	uint8_t *src, *dst;
	size_t at;

	EXPECT_EQ(rig_put(GROUP "/cgroup.procs", "0"), 0);
	rig_open(group_system, group_resolve);
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

static void group_is_starved(enum fl_system system,
			     enum fl_resolve resolve)
{
	unsigned int tries;

	group_begin();
	group_system = system;
	group_resolve = resolve;
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
	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 38);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 38);
	rig_finish();
}

TEST_MODES(group_starved,
	   "without swap the group's own process is ended, and the card goes on")
{
	group_is_starved(system, FL_RESOLVE_BLOCK);
}

TEST_MODES(group_starved_ahead, "touching ahead, without swap: the group's own "
	   "process is ended")
{
	group_is_starved(system, FL_RESOLVE_TRANSFER);
}

/* ---- which pages are in use ---- */

static void pin_also(struct rig_side *s)
{
	struct fl_mr *pinned;

	EXPECT_EQ(fl_reg_mr(s->pd, s->mem, BYTES, FL_REMOTE_WRITE | FL_PINNED,
			    &pinned), 0);
}

/*
 * Reclaim looks at the access flags of pages that it cannot have, too: nothing
 * of the transfer goes, so each fault is of a flag that was taken away and of an
 * entry of the TLB that went with it. Both sides hold fewer pages than the TLB.
 */
static void aged_child(void)
{
	struct fl_fault_counters c = { 0 };
	unsigned int tries;

	EXPECT_EQ(rig_put(GROUP "/cgroup.procs", "0"), 0);
	rig_open(group_system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 40);
	pin_also(&rig.src);
	pin_also(&rig.dst);
	rig_write(0, BYTES);
	for (tries = 0; tries < 1000 && !c.faults; tries++) {
		/* What it could have is not much: -EAGAIN. */
		rig_put(GROUP "/memory.reclaim", "65536");
		rig_mark();
		rig_write(0, BYTES);
		c = rig_since(&rig.dst);
	}
	STEP("%u times, %" PRIu64 " faults", tries, c.faults);
	EXPECT_GE(c.faults, 1);
	EXPECT_EQ(c.pages_in, 0);
	EXPECT_EQ(c.spurious, 0);
	EXPECT_EQ(c.failed, 0);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 40);
	rig_finish();
}

TEST_MODES(group_aged, "reclaim takes access flags away: the device's next access "
	   "sets them again")
{
	/* Before 6.13 the other algorithm asks no notifier; 6.1 has it off. */
	rig_put("/sys/kernel/mm/lru_gen/enabled", "n");
	swap_begin();
	group_begin();
	group_system = system;
	EXPECT_EQ(rig_wait(rig_fork(aged_child)), 0);
}
