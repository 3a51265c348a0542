// SPDX-License-Identifier: BSD-2-Clause
// variants: tsan pages
/*
 * A process that lives elsewhere and the driver: its queues lie in its own bank,
 * and its death ends what it sleeps in.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "host/remote/remote.h"
#include "rig/driver.h"

#define ARENA	0x100000000000ull

static void open_nothing(void *arg, uint64_t va, uint64_t npages,
			 uint64_t frame, int prot)
{
	(void)arg;
	(void)va;
	(void)npages;
	(void)frame;
	(void)prot;
}

static int close_nothing(void *arg, uint64_t va, uint64_t npages)
{
	(void)arg;
	(void)va;
	(void)npages;
	return 0;
}

static const struct host_cpu_ops ops = { open_nothing, close_nothing };

/* An attached process on board 0 and its side of the card. */
struct far {
	struct rig *r;
	struct rig_node n;
	atomic_int going;	/* it is about to sleep */
	long first, later;
};

static struct far *far_start(struct rig *r)
{
	struct far *f = calloc(1, sizeof(*f));
	int err;

	f->r = r;
	f->n = r->n[0];
	f->n.buffer = NULL;
	f->n.process = host_process_attach(r->n[0].kernel, "far", ARENA, &ops,
					   NULL, &err);
	EXPECT(f->n.process);
	return f;
}

static void far_run(struct far *f, void (*fn)(void *arg))
{
	sim_thread_join(sim_thread_start(f->r->sim, "far", false, fn, f));
}

static struct host_stats driver_stats(struct rig *r)
{
	struct host_stats st;

	host_stats(r->n[0].kernel, &st);
	return st;
}

/* Set-up without the buffer: its pages have no view here. */
static void far_queues(void *arg)
{
	struct far *f = arg;
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = RIG_QUEUE };
	int err;

	host_act_for(f->n.process);
	rig_open(&f->n);
	EXPECT_EQ(rig_ioctl(&f->n, FL_IOC_CREATE_CQ, &cq), 0);
	f->n.cq = cq.cq;
	f->n.cq_bytes = cq.mmap_bytes;
	f->n.cqe = host_mmap_fd(f->n.process, f->n.fd, cq.mmap_bytes,
				cq.mmap_offset, &err);
	f->n.doorbell = host_mmap_fd(f->n.process, f->n.fd, RIG_PAGE,
				     FL_MMAP_DOORBELL, &err);
	EXPECT(f->n.cqe && f->n.doorbell);
	host_act_for(NULL);
}

static void far_leave(void *arg)
{
	struct far *f = arg;

	EXPECT_EQ(host_munmap_fd(f->n.process, f->n.cqe, f->n.cq_bytes), 0);
	EXPECT_EQ(host_munmap_fd(f->n.process, f->n.doorbell, RIG_PAGE), 0);
	EXPECT_EQ(host_close(f->n.process, f->n.fd), 0);
}

static void driver_banks(struct rig *r)
{
	struct far *f[2];
	struct host_bank b[2];
	uint64_t at[2];
	uint8_t *view;
	int i;

	for (i = 0; i < 2; i++) {
		f[i] = far_start(r);
		host_process_bank(f[i]->n.process, &b[i]);
		far_run(f[i], far_queues);
		at[i] = host_bank_offset(f[i]->n.process, f[i]->n.cqe);
		EXPECT_GE(at[i], b[i].queue_offset);
		EXPECT_LE(at[i], b[i].bytes - f[i]->n.cq_bytes);
		EXPECT_EQ(host_bank_offset(f[i]->n.process,
					   f[i]->n.doorbell), ~0ull);
	}
	EXPECT_EQ(driver_stats(r).queue_pages, 2);
	EXPECT_EQ(host_bank_offset(f[0]->n.process, f[1]->n.cqe), ~0ull);
	STEP("what the card writes there the process sees in its bank");
	view = mmap(NULL, b[0].bytes, PROT_READ, MAP_SHARED, b[0].fd, 0);
	EXPECT(view != MAP_FAILED);
	f[0]->n.cqe[3].wr_id = 4711;
	EXPECT_EQ(((struct fl_cqe *)(void *)(view + at[0]))[3].wr_id, 4711);
	munmap(view, b[0].bytes);
	STEP("one leaves in order, one just ends");
	far_run(f[0], far_leave);
	EXPECT_EQ(driver_stats(r).queue_pages, 1);
	for (i = 0; i < 2; i++) {
		host_process_kill(f[i]->n.process);
		host_process_exit(f[i]->n.process);
		free(f[i]);
	}
	EXPECT_EQ(driver_stats(r).queue_pages, 0);
	EXPECT_EQ(driver_stats(r).banks_kept, 0);
	EXPECT(!host_check(r->n[0].kernel, true));
}

TEST("queues of a process lie in its own bank and go with it")
{
	rig_run(driver_banks);
}

/* ---- death ---- */

static void far_sleep(void *arg)
{
	struct far *f = arg;
	struct fl_wait_cq w = { .size = sizeof(w), .cq = f->n.cq };

	host_act_for(f->n.process);
	atomic_store(&f->going, 1);
	f->first = rig_ioctl(&f->n, FL_IOC_WAIT_CQ, &w);
	f->later = rig_ioctl(&f->n, FL_IOC_WAIT_CQ, &w);
	host_act_for(NULL);
}

static void far_poll(void *arg)
{
	struct far *f = arg;

	host_act_for(f->n.process);
	atomic_store(&f->going, 1);
	f->first = host_poll(f->n.process, f->n.fd, 0);
	f->later = host_poll(f->n.process, f->n.fd, 0);
	host_act_for(NULL);
}

static void kill_in(struct rig *r, void (*sleeps)(void *arg))
{
	struct far *f = far_start(r);
	struct sim_thread *t;

	far_run(f, far_queues);
	t = sim_thread_start(r->sim, "sleeper", false, sleeps, f);
	while (!atomic_load(&f->going))
		sim_sleep(1000);
	sim_sleep(100000);
	STEP("nothing ever completes, and the process dies");
	host_process_kill(f->n.process);
	sim_thread_join(t);
	EXPECT_EQ(f->first, -EINTR);
	EXPECT_EQ(f->later, -EINTR);
	host_process_exit(f->n.process);
	free(f);
	EXPECT(!host_check(r->n[0].kernel, true));
}

static void killed_wait(struct rig *r)
{
	kill_in(r, far_sleep);
}

static void killed_poll(struct rig *r)
{
	kill_in(r, far_poll);
}

TEST("a thread that waits for a completion wakes when its process is killed")
{
	rig_run(killed_wait);
}

TEST("the same in threads mode")
{
	rig_run_with(SIM_THREADS, NULL, killed_wait, NULL);
}

TEST("a thread that polls its file wakes when its process is killed")
{
	rig_run(killed_poll);
}

/* A time limit is kept, with and without a killer. */
static void driver_limit(void *arg)
{
	struct far *f = arg;
	struct fl_wait_cq w = { .size = sizeof(w), .cq = f->n.cq,
				.timeout_ns = 50000 };

	host_act_for(f->n.process);
	f->first = rig_ioctl(&f->n, FL_IOC_WAIT_CQ, &w);
	f->later = host_poll(f->n.process, f->n.fd, 50000);
	host_act_for(NULL);
}

static void driver_limits(struct rig *r)
{
	struct far *f = far_start(r);

	far_run(f, far_queues);
	far_run(f, driver_limit);
	EXPECT_EQ(f->first, -ETIMEDOUT);
	EXPECT_EQ(f->later, -ETIMEDOUT);
	host_process_exit(f->n.process);
	free(f);
}

TEST("a limit of a wait is kept for a process that lives elsewhere")
{
	rig_run(driver_limits);
}

/* ---- work for somebody who is dead ---- */

#define MANY	4096u	/* pages */

static void work_for_dead(void *arg)
{
	struct far *f = arg;
	struct host_process *p = f->n.process;
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct fl_reg_mr mr = { .size = sizeof(mr), .length = MANY * RIG_PAGE };
	struct fl_prefetch pf = { .size = sizeof(pf), .length = mr.length };
	void *mem;
	int err;

	host_act_for(p);
	mem = host_mmap(p, mr.length, HOST_READ | HOST_WRITE, NULL, 0, &err);
	EXPECT(mem != NULL);
	EXPECT_EQ(rig_ioctl(&f->n, FL_IOC_ALLOC_PD, &pd), 0);
	mr.addr = pf.addr = (uintptr_t)mem;
	mr.pd = pd.pd;
	EXPECT_EQ(rig_ioctl(&f->n, FL_IOC_REG_MR, &mr), 0);
	pf.key = mr.key;
	host_process_kill(p);
	f->first = rig_ioctl(&f->n, FL_IOC_PREFETCH, &pf);
	f->later = host_madvise(p, mem, mr.length, HOST_WILLNEED);
	host_act_for(NULL);
}

static void no_work(struct rig *r)
{
	struct far *f = far_start(r);
	uint64_t before = driver_stats(r).page_ins;

	far_run(f, far_queues);
	far_run(f, work_for_dead);
	EXPECT_EQ(f->first, -EINTR);
	EXPECT_EQ(f->later, -EINTR);
	EXPECT_LE(driver_stats(r).page_ins - before, MANY / 8);
	host_process_exit(f->n.process);
	free(f);
}

TEST("what a killed process has begun ends soon")
{
	rig_run(no_work);
}
