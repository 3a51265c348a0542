// SPDX-License-Identifier: BSD-2-Clause
/* What one process may take, and what it cannot do to the others. */
#include "rig/driver.h"

#define LIMIT_PAGES	48u

/* Processes without capabilities, that may pin LIMIT_PAGES. */
static void as_plain_user(void (*body)(struct rig *r))
{
	struct host_driver_params p = {
		.resolve = FL_IOC_RESOLVE_BLOCK,
		.plain_user = true,
		.memlock_bytes = LIMIT_PAGES * RIG_PAGE,
	};

	rig_run_with(SIM_LOCKSTEP, &p, body, NULL);
}

static uint32_t rights_pin(struct rig_node *n, uint32_t page, uint32_t pages,
			   int want)
{
	return rig_reg_mr(n, n->buffer + page * RIG_PAGE,
			  (uint64_t)pages * RIG_PAGE, RIG_ALL, FL_MR_PINNED,
			  want);
}

static void rights_memlock(struct rig *r)
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
	rights_pin(n, 0, LIMIT_PAGES + 1, -EDQUOT);
	EXPECT_EQ(rig_counters(n).pinned_pages, 0);
	STEP("two files of a process count together");
	d.object = rights_pin(n, 0, LIMIT_PAGES - 8, 0);
	rights_pin(&second, LIMIT_PAGES - 8, 9, -EDQUOT);
	rights_pin(&second, LIMIT_PAGES - 8, 8, 0);
	rights_pin(n, 0, 1, -EDQUOT);
	EXPECT_EQ(rig_counters(n).pinned_pages, LIMIT_PAGES - 8);
	EXPECT_EQ(rig_counters(&second).pinned_pages, 8);
	STEP("what fails for another reason is not counted");
	rights_pin(n, 0, 1, -EDQUOT);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &d), 0);
	host_inject_no_frames(n->kernel, 1000000);
	rights_pin(n, LIMIT_PAGES + 4, 4, -ENOMEM);
	host_inject_no_frames(n->kernel, 0);
	EXPECT_EQ(rig_counters(n).pinned_pages, 0);
	STEP("what was given back can be had again, by the other file too");
	rights_pin(&second, 0, LIMIT_PAGES - 8, 0);
	STEP("closing gives back");
	EXPECT_EQ(host_close(second.process, second.fd), 0);
	rights_pin(n, 0, LIMIT_PAGES, 0);
}

TEST("a plain user pins no more than RLIMIT_MEMLOCK, with all files together")
{
	as_plain_user(rights_memlock);
}

static void rights_files(struct rig *r)
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
	as_plain_user(rights_files);
}

/* Processes of a user until one may not open; how many there were. */
static int users_files(struct rig *r, struct host_process **p, uint32_t uid)
{
	char name[32];
	int i, err, fd;

	for (i = 0;; i++) {
		snprintf(name, sizeof(name), "u%u-%d", uid, i);
		p[i] = host_process_create(r->n[0].kernel, name, &err);
		EXPECT(p[i]);
		host_process_set_uid(p[i], uid);
		fd = host_open(p[i], "faultline0");
		if (fd < 0)
			break;
	}
	EXPECT_EQ(fd, -EDQUOT);
	host_process_exit(p[i]);
	return i;
}

static void rights_users(struct rig *r)
{
	struct host_process *p[2][17];
	int n, i;

	STEP("a user has as many processes as he likes, but not all slots");
	n = users_files(r, p[0], 1000);
	EXPECT_EQ(n, 8);
	STEP("another one finds as many");
	EXPECT_EQ(users_files(r, p[1], 1001), 8);
	STEP("what one of them gives back his other processes can have");
	EXPECT_EQ(host_open(p[0][0], "faultline0"), -EDQUOT);
	host_process_exit(p[0][1]);
	EXPECT_GE(host_open(p[0][0], "faultline0"), 0);
	EXPECT_EQ(host_open(p[0][2], "faultline0"), -EDQUOT);
	for (i = 0; i < n; i++) {
		if (i != 1)
			host_process_exit(p[0][i]);
		host_process_exit(p[1][i]);
	}
}

TEST("a plain user's processes have half of the slots at most, together")
{
	as_plain_user(rights_users);
}

/* ---- what takes long ---- */

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

	rig_pair(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_BLOCK, 0);
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

#define PIN_NS	1000000u	/* a page */
#define PAGES	(RIG_BYTES / RIG_PAGE)

static void slow_unpin(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct closing c = { .r = r };
	struct host_process *other;
	struct sim_thread *t;
	uint64_t start;
	int err;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, FL_MR_PINNED);
	r->timing.v[T_MM_UNPIN] = PIN_NS;
	other = host_process_create(b->kernel, "other", &err);
	EXPECT(other);
	start = sim_now(r->sim);
	t = host_thread_start(b->process, "close", close_it, &c);
	sim_sleep(2 * PIN_NS);
	STEP("another process opens while many pages are given back");
	EXPECT_GE(host_open(other, "faultline0"), 0);
	EXPECT(!c.done_ns);
	EXPECT_LE(sim_now(r->sim) - start, 4 * PIN_NS);
	sim_thread_join(t);
	EXPECT_GE(c.done_ns - start, PAGES * PIN_NS);
	r->timing.v[T_MM_UNPIN] = 0;
	host_process_exit(other);
}

TEST("who gives back many pages does not keep those waiting who open")
{
	rig_run(slow_unpin);
}

struct pinning {
	struct rig_node *n;
	struct sim *sim;
	uint64_t done_ns;
	int want;
	uint32_t key;
};

static void pin_it(void *arg)
{
	struct pinning *p = arg;

	p->key = rights_pin(p->n, 0, PAGES, p->want);
	p->done_ns = sim_now(p->sim);
}

static void unpin_it(void *arg)
{
	struct pinning *p = arg;
	struct fl_destroy d = { .size = sizeof(d), .object = p->key };

	EXPECT_EQ(rig_ioctl(p->n, FL_IOC_DEREG_MR, &d), 0);
	p->done_ns = sim_now(p->sim);
}

/* The process's other calls go on while fn does something about its pages. */
static void while_pinning(struct rig *r, struct pinning *p, void (*fn)(void *))
{
	struct fl_wait_cq w = { .size = sizeof(w), .cq = p->n->cq,
				.timeout_ns = 1 };
	uint64_t start = sim_now(r->sim);
	struct sim_thread *t;

	p->done_ns = 0;
	t = host_thread_start(p->n->process, "pin", fn, p);
	sim_sleep(2 * PIN_NS);
	EXPECT_EQ(rig_ioctl(p->n, FL_IOC_WAIT_CQ, &w), -ETIMEDOUT);
	EXPECT_EQ(host_poll(p->n->process, p->n->fd, 1), -ETIMEDOUT);
	EXPECT(!p->done_ns);
	EXPECT_LE(sim_now(r->sim) - start, 4 * PIN_NS);
	sim_thread_join(t);
	EXPECT_GE(p->done_ns - start, PAGES * PIN_NS);
}

static void slow_pin(struct rig *r)
{
	struct pinning p = { .n = &r->n[1], .sim = r->sim };

	rig_open(p.n);
	rig_set_up(p.n, 0);
	r->timing.v[T_MM_PIN] = PIN_NS;
	r->timing.v[T_MM_UNPIN] = PIN_NS;
	STEP("many pages are pinned");
	while_pinning(r, &p, pin_it);
	EXPECT_EQ(rig_counters(p.n).pinned_pages, PAGES);
	STEP("and given back");
	while_pinning(r, &p, unpin_it);
	r->timing.v[T_MM_UNPIN] = 0;
	EXPECT_EQ(rig_counters(p.n).pinned_pages, 0);
}

TEST("pinning many pages does not keep the process's other threads waiting")
{
	rig_run(slow_pin);
}

static void gone_meanwhile(struct rig *r)
{
	struct pinning p = { .n = &r->n[1], .sim = r->sim, .want = -ENOENT };
	struct fl_destroy d = { .size = sizeof(d) };
	struct host_stats st;
	struct sim_thread *t;

	rig_open(p.n);
	rig_set_up(p.n, 0);
	r->timing.v[T_MM_PIN] = PIN_NS;
	STEP("the domain goes while pages are pinned for a region of it");
	t = host_thread_start(p.n->process, "pin", pin_it, &p);
	sim_sleep(2 * PIN_NS);
	d.object = p.n->key;
	EXPECT_EQ(rig_ioctl(p.n, FL_IOC_DEREG_MR, &d), 0);
	d.object = p.n->qp;
	EXPECT_EQ(rig_ioctl(p.n, FL_IOC_DESTROY_QP, &d), 0);
	d.object = p.n->pd;
	EXPECT_EQ(rig_ioctl(p.n, FL_IOC_DEALLOC_PD, &d), 0);
	EXPECT(!p.done_ns);
	sim_thread_join(t);
	EXPECT_EQ(rig_counters(p.n).pinned_pages, 0);
	host_stats(p.n->kernel, &st);
	EXPECT_EQ(st.frames_pinned, 0);
	STEP("the card goes");
	rig_close(p.n);
	rig_open(p.n);
	rig_set_up(p.n, 0);
	p.want = -ENODEV;
	p.done_ns = 0;
	t = host_thread_start(p.n->process, "pin", pin_it, &p);
	sim_sleep(2 * PIN_NS);
	host_driver_shutdown(p.n->kernel);
	EXPECT(!p.done_ns);
	sim_thread_join(t);
	host_stats(p.n->kernel, &st);
	EXPECT_EQ(st.frames_pinned, 0);
}

TEST("what goes while pages are pinned for it leaves nothing pinned")
{
	rig_run(gone_meanwhile);
}
