// SPDX-License-Identifier: BSD-2-Clause
/* What one process may take, and what it cannot do to the others. */
#include "test_driver_rig.h"

#define LIMIT_PAGES	48u

/* Processes without capabilities, that may pin LIMIT_PAGES. */
static void as_plain_user(void (*body)(struct rig *r))
{
	struct host_driver_params p = {
		.resolve = FL_RESOLVE_BLOCK,
		.plain_user = true,
		.memlock_bytes = LIMIT_PAGES * RIG_PAGE,
	};

	rig_run_with(SIM_LOCKSTEP, &p, body, NULL);
}

static uint32_t pin(struct rig_node *n, uint32_t page, uint32_t pages, int want)
{
	return rig_reg_mr(n, n->buffer + page * RIG_PAGE,
			  (uint64_t)pages * RIG_PAGE, RIG_ALL, FL_MR_PINNED,
			  want);
}

static void memlock(struct rig *r)
{
	struct rig_node *n = &r->n[0], second = *n;
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct fl_destroy d = { .size = sizeof(d) };

	rig_open(n);
	rig_set_up(n, 0);
	second.buffer = n->buffer;
	rig_open(&second);
	EXPECT_EQ(rig_ioctl(&second, FL_IOC_ALLOC_PD, &pd), 0);
	second.pd = pd.pd;
	STEP("one page too many");
	pin(n, 0, LIMIT_PAGES + 1, -EDQUOT);
	EXPECT_EQ(rig_counters(n).pinned_pages, 0);
	STEP("two files of a process count together");
	d.object = pin(n, 0, LIMIT_PAGES - 8, 0);
	pin(&second, LIMIT_PAGES - 8, 9, -EDQUOT);
	pin(&second, LIMIT_PAGES - 8, 8, 0);
	pin(n, 0, 1, -EDQUOT);
	EXPECT_EQ(rig_counters(n).pinned_pages, LIMIT_PAGES - 8);
	EXPECT_EQ(rig_counters(&second).pinned_pages, 8);
	STEP("what fails for another reason is not counted");
	pin(n, 0, 1, -EDQUOT);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &d), 0);
	host_inject_no_frames(n->kernel, 1000000);
	pin(n, LIMIT_PAGES + 4, 4, -ENOMEM);
	host_inject_no_frames(n->kernel, 0);
	EXPECT_EQ(rig_counters(n).pinned_pages, 0);
	STEP("what was given back can be had again, by the other file too");
	pin(&second, 0, LIMIT_PAGES - 8, 0);
	STEP("closing gives back");
	EXPECT_EQ(host_close(second.process, second.fd), 0);
	pin(n, 0, LIMIT_PAGES, 0);
}

TEST("a plain user pins no more than RLIMIT_MEMLOCK, with all files together")
{
	as_plain_user(memlock);
}

static void files(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct host_process *other;
	int fd[2], err;

	fd[0] = host_open(n->process, "faultline0");
	fd[1] = host_open(n->process, "faultline0");
	EXPECT_GE(fd[0], 0);
	EXPECT_GE(fd[1], 0);
	EXPECT_EQ(host_open(n->process, "faultline0"), -EDQUOT);
	STEP("another process has a limit of its own");
	other = host_process_create(n->kernel, "other", &err);
	EXPECT(other);
	EXPECT_GE(host_open(other, "faultline0"), 0);
	host_process_exit(other);
	STEP("closing one makes room");
	EXPECT_EQ(host_close(n->process, fd[0]), 0);
	EXPECT_GE(host_open(n->process, "faultline0"), 0);
	EXPECT_EQ(host_open(n->process, "faultline0"), -EDQUOT);
}

TEST("a plain user's process has two files at most")
{
	as_plain_user(files);
}

/* ---- a page that takes long ---- */

#define SLOW_NS		50000000u	/* longer than all the rest together */
#define LEN		(16u * 1024)

struct closing {
	struct rig *r;
	uint64_t done_ns;
};

static void close_it(void *arg)
{
	struct closing *c = arg;

	rig_close(&c->r->n[1]);
	c->done_ns = sim_now(c->r->sim);
}

/* Until a worker has begun with the access that node b's bank holds. */
static void wait_work(struct rig *r)
{
	int tries = 0;

	do {
		sim_sleep(1000);
		EXPECT(tries++ < 10000);
	} while (!trace_count(r->trace, EV_DRV_WORK));
	sim_sleep(10000);
	EXPECT(rig_smmu(&r->n[1], SMMU_CB_BASE(0) + SMMU_CB_FSR) &
	       SMMU_CB_FSR_SS);
}

static void slow_page(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct closing c = { .r = r };
	struct host_process *other;
	struct sim_thread *t;
	uint64_t start, opened;
	int err;

	rig_pair(r, FL_MODE_STALL, FL_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_fill(b, LEN, 2);
	EXPECT_EQ(host_madvise(b->process, b->buffer, RIG_BYTES, HOST_PAGEOUT),
		  0);
	r->timing.v[T_MM_MAJOR] = SLOW_NS;
	STEP("a worker waits for a page of b, and b closes");
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	wait_work(r);
	start = sim_now(r->sim);
	t = host_thread_start(b->process, "close", close_it, &c);
	sim_sleep(100000);
	STEP("another process opens meanwhile");
	other = host_process_create(b->kernel, "other", &err);
	EXPECT(other);
	EXPECT_GE(host_open(other, "faultline0"), 0);
	opened = sim_now(r->sim);
	EXPECT(!c.done_ns);
	EXPECT(opened - start < SLOW_NS / 10);
	sim_thread_join(t);
	STEP("and the page did take long");
	EXPECT(c.done_ns - start > SLOW_NS / 2);
	host_process_exit(other);
	rig_open(b);
}

TEST("who closes while a page takes long does not keep the others waiting")
{
	rig_run(slow_page);
}
