// SPDX-License-Identifier: BSD-2-Clause
/*
 * fork() and copy on write, in both directions: the device writes for one of two
 * processes that share frames, or a CPU does while the device reads.
 */
#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)
#define PAGES	(BYTES / RIG_PAGE)
#define BLOCKS	(BYTES / RIG_BLOCK)
#define LARGE	(1u << 20)

static struct rig_shared *shared;
static uint8_t *memory;
static enum fl_system child_system;

/* The child's copy is what it was, also after the parent's transfer. */
static void child_watches(void)
{
	EXPECT_PATTERN(memory, BYTES, 50);
	shared->stage = 1;
	rig_await(shared, 2);
	EXPECT_PATTERN(memory, BYTES, 50);
	STEP("the child writes, which is nobody else's business");
	rig_fill(memory, BYTES, 52);
	EXPECT_PATTERN(memory, BYTES, 52);
}

TEST_MODES(parent_transfers,
	   "the device writes for the parent: the child keeps what it had")
{
	struct fl_fault_counters c;
	pid_t child;

	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 51);
	memory = rig.dst.mem;
	rig_fill(memory, BYTES, 50);
	rig_write(0, BYTES);
	rig_fill(memory, BYTES, 50);
	shared = rig_share();
	rig_mark();
	child = rig_fork(child_watches);
	rig_await(shared, 1);
	STEP("fork took the right to write, and said so");
	EXPECT_GE(rig_since(&rig.dst).invalidations, 1);
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(memory, BYTES, 51);
	c = rig_since(&rig.dst);
	EXPECT_EQ(c.faults, BLOCKS);
	EXPECT_EQ(c.pages_in, 0);
	EXPECT_EQ(c.failed, 0);
	shared->stage = 2;
	EXPECT_EQ(rig_wait(child), 0);
	EXPECT_PATTERN(memory, BYTES, 51);
	rig_finish();
}

/* The child opens the card for itself, and transfers in its own copy. */
static void child_transfers(void)
{
	uint8_t *src;

	rig_open(child_system, FL_RESOLVE_BLOCK);
	src = rig_buffer(BYTES);
	rig_fill(src, BYTES, 54);
	rig_regions(src, BYTES, memory, BYTES);
	rig_write(0, BYTES);
	EXPECT_PATTERN(memory, BYTES, 54);
	EXPECT_EQ(rig_since(&rig.dst).faults, BLOCKS);
	shared->stage = 1;
	rig_await(shared, 2);
	EXPECT_PATTERN(memory, BYTES, 54);
	rig_finish();
}

TEST_MODES(child_of_card,
	   "the device writes for the child: the parent keeps what it had")
{
	pid_t child;

	rig_begin();
	memory = rig_buffer(BYTES);
	rig_fill(memory, BYTES, 53);
	shared = rig_share();
	child_system = system;
	child = rig_fork(child_transfers);
	rig_await(shared, 1);
	EXPECT_PATTERN(memory, BYTES, 53);
	rig_fill(memory, BYTES, 55);
	shared->stage = 2;
	EXPECT_EQ(rig_wait(child), 0);
	EXPECT_PATTERN(memory, BYTES, 55);
	rig_guards();
}

/* A moment of the parent, kept: it does not change any more. */
static void child_keeps(void)
{
	uint8_t *copy = malloc(LARGE);

	EXPECT(copy != NULL);
	memcpy(copy, memory, LARGE);
	EXPECT_EQ(rig_same_or_zero(copy, LARGE, 56, 0), LARGE);
	shared->stage++;
	rig_await(shared, 100);
	EXPECT_EQ(memcmp(copy, memory, LARGE), 0);
	rig_fill(memory, LARGE, 57);
	free(copy);
}

TEST_MODES(fork_in_flight,
	   "fork in the middle of a transfer: each child keeps its moment")
{
	const uint64_t pages = LARGE / RIG_PAGE;
	unsigned int tries, i, n = 0;
	pid_t child[2];

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 56);
	memory = rig.dst.mem;
	shared = rig_share();
	for (tries = 0; tries < RIG_TRIES && n < 2; tries++) {
		EXPECT_EQ(madvise(memory, LARGE, MADV_DONTNEED), 0);
		shared->stage = 0;
		rig_mark();
		rig_post(0, LARGE);
		for (i = n = 0; i < 2; i++) {
			rig_under_way(&rig.dst, 16 + 80 * i);
			child[i] = rig_fork(child_keeps);
			EXPECT_GE(child[i], 0);
			n += rig_middle(&rig.dst, pages);
		}
		EXPECT_EQ(rig_status(), 0);
		EXPECT_PATTERN(memory, LARGE, 56);
		rig_await(shared, 2);
		shared->stage = 100;
		for (i = 0; i < 2; i++)
			EXPECT_EQ(rig_wait(child[i]), 0);
		/* The children wrote all over their copies. */
		EXPECT_PATTERN(memory, LARGE, 56);
	}
	EXPECT_EQ(n, 2);
	EXPECT_EQ(rig_since(&rig.dst).failed, 0);
	rig_finish();
}

/* Writes its copy of the source while the device reads the parent's. */
static void child_scribbles(void)
{
	uint64_t seed;

	rig_fill(memory, BYTES, 60);
	shared->stage = 1;
	for (seed = 61; shared->stage < 100; seed++)
		rig_fill(memory, BYTES, seed);
}

TEST_MODES(source_shared,
	   "the child writes its copy of the source while the device reads")
{
	unsigned int i;
	pid_t child;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(BYTES, 58);
	memory = rig.src.mem;
	shared = rig_share();
	child = rig_fork(child_scribbles);
	rig_await(shared, 1);
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(madvise(rig.dst.mem, BYTES, MADV_DONTNEED), 0);
		rig_mark();
		rig_write(0, BYTES);
		EXPECT_PATTERN(rig.dst.mem, BYTES, 58);
		EXPECT_EQ(rig_since(&rig.dst).faults, PAGES);
	}
	shared->stage = 100;
	EXPECT_EQ(rig_wait(child), 0);
	EXPECT_PATTERN(memory, BYTES, 58);
	rig_finish();
}

static void child_tries(void)
{
	struct fl_fault_counters c;
	struct fl_pd *pd;

	/* Before rig_fork() forgot them for us, these were the parent's. */
	EXPECT_EQ(fl_query_counters((struct fl_device *)memory, &c), -EPERM);
	EXPECT_EQ(fl_alloc_pd((struct fl_device *)memory, &pd), -EPERM);
}

TEST("what a child inherits of the card is of no use to it")
{
	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	memory = (void *)rig.dst.dev;
	EXPECT_EQ(rig_wait(rig_fork(child_tries)), 0);
	rig_buffers_for(BYTES, 59);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 59);
	rig_finish();
}

/* ---- two processes that are no relatives of the transfer's memory ---- */

static void child_receives(void)
{
	struct fl_address peer;

	rig_begin();
	rig_side_open(&rig.dst, child_system, FL_RESOLVE_PAGE);
	EXPECT_EQ(fl_create_qp(rig.dst.pd, rig.dst.cq, 64, &rig.dst.qp), 0);
	rig.dst.mem = rig_buffer(LARGE);
	EXPECT_EQ(fl_reg_mr(rig.dst.pd, rig.dst.mem, LARGE, FL_REMOTE_WRITE,
			    &rig.dst.mr), 0);
	peer = shared->qp;
	EXPECT_EQ(fl_connect(rig.dst.qp, &peer), 0);
	EXPECT_EQ(fl_qp_address(rig.dst.qp, &shared->qp), 0);
	shared->va = (uintptr_t)rig.dst.mem;
	shared->rkey = fl_mr_key(rig.dst.mr);
	shared->stage = 1;
	rig_await(shared, 2);
	EXPECT_PATTERN(rig.dst.mem, LARGE, 61);
	EXPECT_EQ(rig_counters(&rig.dst).faults, LARGE / RIG_PAGE);
	rig_guards();
	EXPECT_EQ(fl_close(rig.dst.dev), 0);
}

TEST_MODES(two_processes,
	   "a process writes into the untouched memory of another one")
{
	struct fl_completion c;
	struct fl_address peer;
	pid_t child;

	rig_begin();
	rig_side_open(&rig.src, system, FL_RESOLVE_BLOCK);
	EXPECT_EQ(fl_create_qp(rig.src.pd, rig.src.cq, 64, &rig.src.qp), 0);
	rig.src.mem = rig_buffer(LARGE);
	rig_fill(rig.src.mem, LARGE, 61);
	EXPECT_EQ(fl_reg_mr(rig.src.pd, rig.src.mem, LARGE, 0, &rig.src.mr), 0);
	shared = rig_share();
	EXPECT_EQ(fl_qp_address(rig.src.qp, &shared->qp), 0);
	child_system = system;
	child = rig_fork(child_receives);
	rig_await(shared, 1);
	peer = shared->qp;
	EXPECT_EQ(fl_connect(rig.src.qp, &peer), 0);
	EXPECT_EQ(fl_post_write(rig.src.qp, 1, rig.src.mr, rig.src.mem, LARGE,
				shared->va, shared->rkey), 0);
	EXPECT_EQ(fl_wait(rig.src.cq, &c, 1, RIG_WAIT_NS), 1);
	EXPECT_EQ(c.status, 0);
	shared->stage = 2;
	EXPECT_EQ(rig_wait(child), 0);
	EXPECT_EQ(rig_counters(&rig.src).faults, 0);
	rig_guards();
}
