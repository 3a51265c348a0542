// SPDX-License-Identifier: BSD-2-Clause
/*
 * The driver's own logic, from outside: which pages a range has, what touching
 * brings in, which right it asks for, what a policy means, where ahead ends. Stock
 * kernels have no KUnit (CONFIG_KUNIT is not set); but each of these decisions
 * shows in the counters and in /proc/self/pagemap, page by page.
 */
#include <sys/ioctl.h>

#include "faultline/uapi.h"
#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)
#define PAGES	(BYTES / RIG_PAGE)
#define BLOCKS	(BYTES / RIG_BLOCK)
#ifndef MADV_COLD
#define MADV_COLD	20	/* Linux 5.4 */
#endif

/* A destination without a page in it, and nothing counted. */
static void logic_fresh(void)
{
	EXPECT_EQ(madvise(rig.dst.mem, BYTES, MADV_DONTNEED), 0);
	rig_mark();
}

/* ---- ranges: fl_range_make(), fl_populate() ---- */

static const struct {
	size_t at, bytes;
	unsigned int first, pages;
} ranges[] = {
	{ 0, 1, 0, 1 },
	{ 0, 4096, 0, 1 },
	{ 4095, 1, 0, 1 },
	{ 4095, 2, 0, 2 },
	{ 1, 4096, 0, 2 },
	{ 4096, 4096, 1, 1 },
	{ 4096, 4097, 1, 2 },
	{ 8191, 4098, 1, 3 },
	{ BYTES - 1, 1, PAGES - 1, 1 },
	{ 0, BYTES, 0, PAGES },
	{ 12345, 34567, 3, 9 },
};
#define RANGES (sizeof(ranges) / sizeof(ranges[0]))

TEST("a range of bytes is the pages that hold it: these and no others come in")
{
	struct fl_fault_counters c;
	unsigned int i;

	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 160);
	for (i = 0; i < RANGES; i++) {
		logic_fresh();
		STEP("%zu bytes at %zu", ranges[i].bytes, ranges[i].at);
		EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem + ranges[i].at,
				      ranges[i].bytes, 1), 0);
		c = rig_since(&rig.dst);
		EXPECT_EQ(c.pages_in, ranges[i].pages);
		EXPECT_EQ(c.resolves, 1);
		EXPECT_EQ(c.faults, 0);
		EXPECT_EQ(rig_pages(rig.dst.mem, BYTES, RIG_PRESENT),
			  ranges[i].pages);
		EXPECT_EQ(rig_pages(rig.dst.mem + ranges[i].first * RIG_PAGE,
				    ranges[i].pages * RIG_PAGE, RIG_PRESENT),
			  ranges[i].pages);
	}
	rig_finish();
}

TEST("touching counts what was not there, and does not touch it twice")
{
	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 161);
	rig.dst.mem[5 * RIG_PAGE] = 1;
	rig.dst.mem[9 * RIG_PAGE] = 1;
	rig_mark();
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem, BYTES, 1), 0);
	EXPECT_EQ(rig_since(&rig.dst).pages_in, PAGES - 2);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem, BYTES, 1), 0);
	EXPECT_EQ(rig_since(&rig.dst).pages_in, PAGES - 2);
	EXPECT_EQ(rig_since(&rig.dst).resolves, 2);
	EXPECT_EQ(rig.dst.mem[5 * RIG_PAGE], 1);
	rig_write(0, BYTES);
	EXPECT_EQ(rig_since(&rig.dst).faults, 0);
	rig_finish();
}

TEST("touched for reading is the zero page; for writing it is a page of its own")
{
	uint64_t zero;

	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 162);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem, BYTES, 0), 0);
	EXPECT_EQ(rig_since(&rig.dst).pages_in, PAGES);
	zero = rig_pagemap(rig.dst.mem) & RIG_FRAME;
	EXPECT_EQ(rig_pagemap(rig.dst.mem + RIG_PAGE) & RIG_FRAME, zero);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem, BYTES, 1), 0);
	EXPECT_EQ(rig_since(&rig.dst).pages_in, PAGES);
	EXPECT_NE(rig_pagemap(rig.dst.mem) & RIG_FRAME, zero);
	EXPECT_NE(rig_pagemap(rig.dst.mem) & RIG_FRAME,
		  rig_pagemap(rig.dst.mem + RIG_PAGE) & RIG_FRAME);
	rig_finish();
}

/* 256 KB are touched with the mmap lock held; then it is given back. */
TEST("touching goes on over its own pieces of 256 KB")
{
	const size_t bytes = 3u << 20;

	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(bytes, 163);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem + 100, bytes - 200, 1),
		  0);
	EXPECT_EQ(rig_since(&rig.dst).pages_in, bytes / RIG_PAGE);
	EXPECT_EQ(rig_pages(rig.dst.mem, bytes, RIG_PRESENT), bytes / RIG_PAGE);
	rig_finish();
}

TEST("touching stops at a hole and at a missing right, and says which it was")
{
	uint8_t *hole;

	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 164);
	hole = rig.dst.mem + 8 * RIG_PAGE;
	EXPECT_EQ(mprotect(hole, RIG_PAGE, PROT_READ), 0);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem, BYTES, 1), -EACCES);
	EXPECT_EQ(rig_since(&rig.dst).pages_in, 8);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem, BYTES, 0), 0);
	EXPECT_EQ(rig_since(&rig.dst).pages_in, PAGES);
	logic_fresh();
	EXPECT_EQ(mprotect(hole, RIG_PAGE, PROT_NONE), 0);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem, BYTES, 0), -EACCES);
	logic_fresh();
	EXPECT_EQ(munmap(hole, RIG_PAGE), 0);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem, BYTES, 1), -EFAULT);
	EXPECT_EQ(rig_since(&rig.dst).pages_in, 8);
	STEP("behind the hole");
	EXPECT_EQ(fl_prefetch(rig.dst.mr, hole + RIG_PAGE, RIG_PAGE, 1), 0);
	EXPECT(mmap(hole, RIG_PAGE, PROT_READ | PROT_WRITE, MAP_FIXED |
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == hole);
	rig_finish();
}

TEST("a prefetch stays in its region, and asks for the region's rights")
{
	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 165);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem + BYTES - 1, 2, 1),
		  -EINVAL);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem - 1, 2, 1), -EINVAL);
	EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem, BYTES + 1, 1), -EINVAL);
	EXPECT_EQ(fl_prefetch(rig.src.mr, rig.src.mem, 1, 1), -EACCES);
	EXPECT_EQ(rig_since(&rig.dst).resolves, 0);
	rig_finish();
}

/* ---- which pages a fault asks for ---- */

TEST_MODES(missing_pages, "one page a fault: the missing ones, each by itself")
{
	struct fl_fault_counters c;
	unsigned int i;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(BYTES, 166);
	/* Of each block, page 0 and 2 are there, then page 1 and 3. */
	for (i = 0; i < PAGES; i++)
		if (i % 2 == i / 4 % 2)
			rig.dst.mem[i * RIG_PAGE] = 1;
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 166);
	c = rig_since(&rig.dst);
	EXPECT_EQ(c.faults, PAGES / 2);
	EXPECT_EQ(c.pages_in, PAGES / 2);
	EXPECT_EQ(c.spurious, 0);
	rig_finish();
}

TEST_MODES(one_missing, "a block with one page missing: one fault, one page")
{
	struct fl_fault_counters c;

	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 167);
	memset(rig.dst.mem, 1, BYTES);
	EXPECT_EQ(madvise(rig.dst.mem + 6 * RIG_PAGE, RIG_PAGE, MADV_DONTNEED),
		  0);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 167);
	c = rig_since(&rig.dst);
	EXPECT_EQ(c.faults, 1);
	EXPECT_EQ(c.pages_in, 1);
	rig_finish();
}

TEST_MODES(ahead_ends, "touching ahead ends where the transfer ends")
{
	rig_open(system, FL_RESOLVE_TRANSFER);
	rig_buffers_for(BYTES, 168);
	rig_write(RIG_BLOCK, BYTES / 2);
	EXPECT_EQ(rig_pages(rig.dst.mem, BYTES, RIG_PRESENT), PAGES / 2);
	EXPECT_EQ(rig_pages(rig.dst.mem + RIG_BLOCK, BYTES / 2, RIG_PRESENT),
		  PAGES / 2);
	EXPECT_GE(rig_settled(&rig.dst, 2).resolves, 2);
	rig_finish();
}

TEST_MODES(ahead_hole, "a hole far ahead does not hurt what comes before it")
{
	uint8_t *hole;

	rig_open(system, FL_RESOLVE_TRANSFER);
	rig_buffers_for(BYTES, 169);
	hole = rig.dst.mem + BYTES / 2;
	EXPECT_EQ(munmap(hole, RIG_PAGE), 0);
	rig_post(0, BYTES);
	EXPECT_EQ(rig_status(), RIG_REMOTE_FAULT);
	/*
	 * Once, too, when a held access that no page can cure is ended, and then
	 * reported by the engine like one that was refused.
	 */
	EXPECT_EQ(rig_since(&rig.dst).failed, 1);
	EXPECT(mmap(hole, RIG_PAGE, PROT_READ | PROT_WRITE, MAP_FIXED |
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == hole);
	rig_connect();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 169);
	rig_finish();
}

/* ---- policy ---- */

static void policy_is(int fd, uint32_t mode, uint32_t resolve)
{
	struct fl_query q = { .size = sizeof(q) };

	EXPECT_EQ(ioctl(fd, FL_IOC_QUERY, &q), 0);
	EXPECT_EQ(q.abi, FL_ABI_VERSION);
	EXPECT_EQ(q.block_bytes, RIG_BLOCK);
	EXPECT_EQ(q.system, mode);
	EXPECT_EQ(q.resolve, resolve);
}

TEST("a process begins with terminate and touch ahead by block; what it sets is its "
     "own")
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_STALL,
			       .resolve = FL_IOC_RESOLVE_PAGE };
	int a = open("/dev/faultline0", O_RDWR | O_CLOEXEC);
	int b = open("/dev/faultline0", O_RDWR | O_CLOEXEC);
	struct fl_policy bad;

	EXPECT_GE(a, 0);
	EXPECT_GE(b, 0);
	policy_is(a, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	EXPECT_EQ(ioctl(a, FL_IOC_POLICY, &p), 0);
	policy_is(a, FL_SYSTEM_STALL, FL_IOC_RESOLVE_PAGE);
	policy_is(b, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bad = p;
	bad.system = FL_SYSTEMS;
	EXPECT_EQ(ioctl(a, FL_IOC_POLICY, &bad), -1);
	EXPECT_EQ(errno, EINVAL);
	bad = p;
	bad.resolve = FL_IOC_RESOLVE_OWN;
	EXPECT_EQ(ioctl(a, FL_IOC_POLICY, &bad), -1);
	bad = p;
	bad.number = 1;
	EXPECT_EQ(ioctl(a, FL_IOC_POLICY, &bad), -1);
	policy_is(a, FL_SYSTEM_STALL, FL_IOC_RESOLVE_PAGE);
	close(a);
	close(b);
}

TEST_MODES(busy, "the system cannot change while a transfer is in flight")
{
	const size_t bytes = 1u << 20;
	unsigned int tries;
	int error = 0;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(bytes, 170);
	for (tries = 0; tries < RIG_TRIES && error != -EBUSY; tries++) {
		EXPECT_EQ(madvise(rig.dst.mem, bytes, MADV_DONTNEED), 0);
		rig_mark();
		rig_post(0, bytes);
		if (rig_under_way(&rig.dst, 16))
			error = fl_set_policy(rig.src.dev, system,
					      FL_RESOLVE_PAGE);
		EXPECT(!error || error == -EBUSY);
		EXPECT_EQ(rig_status(), 0);
		EXPECT_PATTERN(rig.dst.mem, bytes, 170);
	}
	EXPECT_EQ(error, -EBUSY);
	EXPECT_EQ(fl_set_policy(rig.src.dev, system, FL_RESOLVE_PAGE), 0);
	rig_finish();
}

/*
 * But a pin is no promise that there are no faults: whoever looks which pages are
 * used takes the access flag away, and this SMMU cannot set it (sources: smmu-ptes).
 */
TEST("pages that are pinned stay where they are; their access flag may go")
{
	struct fl_fault_counters c;
	uint64_t frame[PAGES];
	unsigned int i;

	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 171);
	EXPECT_EQ(fl_dereg_mr(rig.dst.mr), 0);
	EXPECT_EQ(fl_reg_mr(rig.dst.pd, rig.dst.mem, BYTES, FL_REMOTE_WRITE |
			    FL_PINNED, &rig.dst.mr), 0);
	EXPECT_EQ(rig_counters(&rig.dst).pinned_pages, PAGES);
	for (i = 0; i < PAGES; i++)
		frame[i] = rig_pagemap(rig.dst.mem + i * RIG_PAGE) & RIG_FRAME;
	madvise(rig.dst.mem, BYTES, MADV_PAGEOUT);
	EXPECT_EQ(rig_put("/proc/sys/vm/compact_memory", "1"), 0);
	/*
	 * Later kernels page out without asking for the flag (6.9). And a page that
	 * another CPU has not put on a list yet is passed over: compaction has them
	 * all put there.
	 */
	EXPECT_EQ(madvise(rig.dst.mem, BYTES, MADV_COLD), 0);
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(rig_pagemap(rig.dst.mem + i * RIG_PAGE) & RIG_FRAME,
			  frame[i]);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 171);
	c = rig_since(&rig.dst);
	EXPECT_EQ(c.faults, BLOCKS);
	EXPECT_EQ(c.spurious, 0);
	EXPECT_EQ(c.pages_in, 0);
	STEP("again: young");
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_EQ(rig_since(&rig.dst).faults, 0);
	STEP("given back");
	EXPECT_EQ(fl_dereg_mr(rig.dst.mr), 0);
	rig.dst.mr = NULL;
	EXPECT_EQ(rig_counters(&rig.dst).pinned_pages, 0);
	rig_finish();
}
