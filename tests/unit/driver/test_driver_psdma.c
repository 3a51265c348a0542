// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies by the DMA engine of the processing system, through the driver: whose pages it
 * reaches, who has it, and what is left when somebody goes.
 *
 * variants: tsan
 */
#include "rig/tables.h"

#include "faultline/psdma_regs.h"
#include "sim/sim.h"

#define HALF	(RIG_BYTES / 2)

static long copy_ask(struct rig_node *n, uint64_t src, uint64_t dst, uint64_t len,
		 struct fl_dma_copy *out)
{
	struct fl_dma_copy c = { .size = sizeof(c),
				 .src = (uintptr_t)n->buffer + src,
				 .dst = (uintptr_t)n->buffer + dst,
				 .length = len };
	long ret = rig_ioctl(n, FL_IOC_DMA_COPY, &c);

	if (out)
		*out = c;
	return ret;
}

static void copy_ready(struct rig_node *n)
{
	rig_open(n);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_INSERTED), 0);
	rig_set_up(n, 0);
}

/* Does the second half have what the first one has? */
static bool half_same(struct rig_node *n, uint64_t from, uint64_t len)
{
	uint8_t *b = malloc(2 * len);
	bool same;

	EXPECT_EQ(mm_copy(host_process_mm(n->process),
			  (uintptr_t)n->buffer + from, b, len, false), 0);
	EXPECT_EQ(mm_copy(host_process_mm(n->process),
			  (uintptr_t)n->buffer + HALF + from, b + len, len,
			  false), 0);
	same = !memcmp(b, b + len, len);
	free(b);
	return same;
}

/* The channel reaches nobody. */
static void at_rest(struct rig_node *n)
{
	uint64_t v;

	EXPECT_EQ(rig_smmu(n, SMMU_GR0_SMR(16)), 0);
	EXPECT_EQ(board_read(n->board, BUS_PSDMA_BASE + PSDMA_CH_STATUS, 4, &v),
		  0);
	EXPECT(v != 2);
	EXPECT(!board_irq_level(n->board, IRQ_PSDMA));
}

/* ---- what is refused ---- */

static void copy_refused(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_dma_copy c = { .size = sizeof(c) };
	uint32_t ro;

	rig_open(n);
	rig_set_up(n, 0);
	STEP("row part: nothing is inserted");
	EXPECT_EQ(copy_ask(n, 0, HALF, 4096, NULL), -EPERM);
	tables_dereg(n, n->key);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_INSERTED), 0);
	STEP("no region");
	EXPECT_EQ(copy_ask(n, 0, HALF, 4096, NULL), -EFAULT);
	ro = tables_reg(n, 0, 4, false);
	n->key = tables_reg(n, 8, 4, true);
	STEP("lengths and ranges");
	EXPECT_EQ(copy_ask(n, 0, 8 * RIG_PAGE, 0, NULL), -EINVAL);
	EXPECT_EQ(copy_ask(n, 0, 8 * RIG_PAGE, 4 * RIG_PAGE + 1, NULL), -EFAULT);
	EXPECT_EQ(copy_ask(n, 1, 8 * RIG_PAGE, 4 * RIG_PAGE, NULL), -EFAULT);
	EXPECT_EQ(copy_ask(n, 0, 8 * RIG_PAGE + 1, 4 * RIG_PAGE, NULL), -EFAULT);
	EXPECT_EQ(copy_ask(n, 0, 8 * RIG_PAGE, 1ull << 32, NULL), -EFAULT);
	EXPECT_EQ(copy_ask(n, 0, 8 * RIG_PAGE, (1ull << 32) + 64, NULL), -EFAULT);
	EXPECT_EQ(copy_ask(n, 0, 8 * RIG_PAGE, ~0ull, NULL), -EINVAL);
	EXPECT_EQ(copy_ask(n, -(uintptr_t)n->buffer - 16, 8 * RIG_PAGE, 32, NULL),
		  -EINVAL);
	STEP("a destination that is only to be read");
	EXPECT_EQ(copy_ask(n, 8 * RIG_PAGE, 0, 64, NULL), -EACCES);
	STEP("flags, reserved members, another size");
	c.src = c.dst = (uintptr_t)n->buffer + 8 * RIG_PAGE;
	c.length = 8;
	c.flags = 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DMA_COPY, &c), -EINVAL);
	c.flags = 0;
	c.reserved = 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DMA_COPY, &c), -EINVAL);
	EXPECT_EQ(trace_count(r->trace, EV_PSDMA_START), 0);
	STEP("what may be, is");
	EXPECT_EQ(copy_ask(n, 0, 8 * RIG_PAGE, 4 * RIG_PAGE, &c), 0);
	EXPECT_EQ(c.status, FL_DMA_OK);
	EXPECT_EQ(c.done, 4 * RIG_PAGE);
	at_rest(n);
	tables_dereg(n, ro);
	rig_close(n);
}

TEST("what makes no sense, or is not the process's to copy, is refused before it begins")
{
	rig_run(copy_refused);
}

static void no_engine(struct rig *r)
{
	copy_ready(&r->n[0]);
	EXPECT_EQ(copy_ask(&r->n[0], 0, HALF, 4096, NULL), -EOPNOTSUPP);
	rig_close(&r->n[0]);
}

TEST("a board whose description has no such engine says so")
{
	struct host_driver_params p = { .no_psdma = true };

	rig_run_with(SIM_LOCKSTEP, &p, no_engine, NULL);
}

/* ---- whose tables are walked ---- */

static void own_tables(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint64_t *d;
	struct fl_dma_copy c;

	copy_ready(n);
	rig_fill(n, HALF, 3);
	EXPECT(tables_own(n));
	EXPECT_EQ(copy_ask(n, 0, HALF, HALF, NULL), 0);
	EXPECT(half_same(n, 0, HALF));
	EXPECT_EQ(trace_count(r->trace, EV_PSDMA_DONE), 1);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_DMA_COPY), 1);
	STEP("an entry is lost: the copy ends there, though the process has the page");
	d = tables_entry(n, (uintptr_t)n->buffer + HALF + 5 * RIG_PAGE);
	*d = 0;
	EXPECT_EQ(board_write(n->board, BUS_SMMU_BASE + SMMU_GR0_TLBIALLNSNH, 4,
			      0), 0);
	EXPECT_EQ(copy_ask(n, 0, HALF, HALF, &c), 0);
	EXPECT_EQ(c.status, FL_DMA_DESTINATION);
	EXPECT_EQ(c.done, 5 * RIG_PAGE);
	EXPECT_EQ(copy_ask(n, HALF, 0, HALF, &c), 0);
	EXPECT_EQ(c.status, FL_DMA_SOURCE);
	EXPECT_EQ(c.done, 5 * RIG_PAGE);
	EXPECT_EQ(trace_count(r->trace, EV_PSDMA_ERROR), 2);
	at_rest(n);
	STEP("what lies before it can be copied");
	EXPECT_EQ(copy_ask(n, HALF, 0, 5 * RIG_PAGE, &c), 0);
	EXPECT_EQ(c.status, FL_DMA_OK);
	rig_close(n);
	EXPECT_EQ(tables_stats(n).frames_pinned, 0);
}

TEST("an access behind a lost entry is a status that names side and place")
{
	rig_run(own_tables);
}

/* ---- two processes, and what happens meanwhile ---- */

static struct {
	struct rig_node *n;
	struct rig_node other;
	long ret[2];
	uint32_t status[2];
	atomic_int ended;
} two;

static void two_copy(struct rig_node *n, int i)
{
	struct fl_dma_copy c = { 0 };

	two.ret[i] = copy_ask(n, 0, HALF, HALF, &c);
	two.status[i] = c.status;
	atomic_fetch_add(&two.ended, 1);
}

static void two_first(void *arg)
{
	(void)arg;
	two_copy(two.n, 0);
}

static void two_second(void *arg)
{
	(void)arg;
	two_copy(&two.other, 1);
}

/* A second process beside the first one of board a, and both copy. */
static void two_start(struct rig *r, struct sim_thread *t[2])
{
	int err;

	memset(&two, 0, sizeof(two));
	two.n = &r->n[0];
	two.other = (struct rig_node){ .board = two.n->board,
				       .kernel = two.n->kernel };
	two.other.process = host_process_create(two.n->kernel, "other", &err);
	EXPECT(two.other.process);
	copy_ready(two.n);
	copy_ready(&two.other);
	rig_fill(two.n, HALF, 1);
	rig_fill(&two.other, HALF, 77);
	t[0] = host_thread_start(two.n->process, "first", two_first, NULL);
	t[1] = host_thread_start(two.other.process, "second", two_second, NULL);
}

static void two_at_once(struct rig *r)
{
	struct sim_thread *t[2];

	two_start(r, t);
	while (atomic_load(&two.ended) < 2)
		sim_sleep(1000);
	sim_thread_join(t[0]);
	sim_thread_join(t[1]);
	EXPECT_EQ(two.ret[0], 0);
	EXPECT_EQ(two.ret[1], 0);
	EXPECT(half_same(two.n, 0, HALF));
	EXPECT(half_same(&two.other, 0, HALF));
	at_rest(two.n);
	rig_close(two.n);
	rig_close(&two.other);
	host_process_exit(two.other.process);
	EXPECT_EQ(tables_stats(two.n).frames_pinned, 0);
}

TEST("two processes copy at the same time, and each has its own bytes")
{
	rig_run(two_at_once);
}

TEST("and so they do in threads")
{
	struct host_driver_params p = { 0 };

	rig_run_with(SIM_THREADS, &p, two_at_once, NULL);
}

static uint64_t moment;
static unsigned int cut_short;	/* copies that ended with a status */

/* The first one copies or waits: its region goes, its row is to change, pages leave. */
static void two_meanwhile(struct rig *r)
{
	struct sim_thread *t[2];
	uint64_t pinned;

	two_start(r, t);
	sim_sleep(moment);
	EXPECT_EQ(tables_policy(two.n, FL_SYSTEM_PART),
		  -EBUSY);
	EXPECT_EQ(host_madvise(two.n->process, two.n->buffer, RIG_BYTES,
			       HOST_PAGEOUT), 0);
	pinned = tables_stats(two.n).frames_pinned;
	EXPECT_EQ(pinned, 2 * RIG_BYTES / RIG_PAGE);
	tables_dereg(two.n, two.n->key);
	EXPECT_EQ(tables_stats(two.n).frames_pinned, pinned / 2);
	while (atomic_load(&two.ended) < 2)
		sim_sleep(1000);
	sim_thread_join(t[0]);
	sim_thread_join(t[1]);
	EXPECT_EQ(two.ret[0], 0);
	cut_short += two.status[0] != FL_DMA_OK;
	EXPECT_EQ(two.status[1], FL_DMA_OK);
	EXPECT_EQ(two.ret[1], 0);
	EXPECT(half_same(&two.other, 0, HALF));
	at_rest(two.n);
	EXPECT_EQ(tables_policy(two.n, FL_SYSTEM_PART), 0);
	rig_close(two.n);
	rig_close(&two.other);
	host_process_exit(two.other.process);
	EXPECT(!host_check(two.n->kernel, true));
}

TEST("a region that ends in the middle ends the copy, and nobody else's")
{
	cut_short = 0;
	for (moment = 1; moment < 200000; moment += 1 + moment / 2)
		rig_run(two_meanwhile);
	EXPECT_GE(cut_short, 1);
}

/* Another thread of the second one closes its file while that copies, or waits. */
static void two_close(struct rig *r)
{
	struct sim_thread *t[2];

	two_start(r, t);
	sim_sleep(moment);
	rig_close(&two.other);
	while (atomic_load(&two.ended) < 2)
		sim_sleep(1000);
	sim_thread_join(t[0]);
	sim_thread_join(t[1]);
	EXPECT_EQ(two.ret[0], 0);
	EXPECT_EQ(two.status[0], FL_DMA_OK);
	EXPECT(half_same(two.n, 0, HALF));
	STEP("the call had the file still, and came to its end");
	EXPECT_EQ(two.ret[1], 0);
	EXPECT_EQ(tables_stats(two.n).frames_pinned, RIG_BYTES / RIG_PAGE);
	at_rest(two.n);
	host_process_exit(two.other.process);
	EXPECT(!host_check(two.n->kernel, true));
	STEP("the channel is the next one's");
	EXPECT_EQ(copy_ask(two.n, 0, HALF, HALF, NULL), 0);
	rig_close(two.n);
	EXPECT_EQ(tables_stats(two.n).frames_pinned, 0);
}

TEST("a file that is closed in the middle of a copy leaves the card after it")
{
	for (moment = 1; moment < 200000; moment += 1 + moment / 2)
		rig_run(two_close);
}

/* ---- the end of the driver, with copies under way ---- */

static struct sim_thread *removed_thread[2];

static void removed_used(struct rig *r)
{
	two_start(r, removed_thread);
	sim_sleep(moment);
	host_driver_remove(two.n->kernel);
	two.n->removed = true;
	while (atomic_load(&two.ended) < 2)
		sim_sleep(1000);
	sim_thread_join(removed_thread[0]);
	sim_thread_join(removed_thread[1]);
	EXPECT(two.ret[0] == -ENODEV || !two.ret[0]);
	EXPECT(two.ret[1] == -ENODEV || !two.ret[1]);
	cut_short += two.ret[0] == -ENODEV;
	EXPECT_EQ(tables_stats(two.n).frames_pinned, 0);
	at_rest(two.n);
	host_process_exit(two.other.process);
	EXPECT(!host_check(two.n->kernel, true));
}

TEST("the driver goes in the middle of copies: the channel stops before the pages go")
{
	struct host_driver_params p = { 0 };

	cut_short = 0;
	for (moment = 1; moment < 200000; moment += 1 + moment / 2)
		rig_run_with(SIM_LOCKSTEP, &p, removed_used, NULL);
	EXPECT_GE(cut_short, 1);
}
