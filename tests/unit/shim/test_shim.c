// SPDX-License-Identifier: BSD-2-Clause
/*
 * The Linux API of the emulator, as far as a driver's behaviour does not show
 * it. variants: tsan
 */
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "board/board_internal.h"
#include "host/shim/shim_internal.h"
#include "rig/driver.h"

#define UNBOUND WQ_UNBOUND

struct work {
	struct work_struct w;
	unsigned int runs, at_once, most;
	uint64_t ns;
};

static void shim_item(struct work_struct *work)
{
	struct work *w = container_of(work, struct work, w);
	unsigned int now = __atomic_add_fetch(&w->at_once, 1, __ATOMIC_SEQ_CST);

	if (now > w->most)
		w->most = now;
	sim_sleep(w->ns);
	w->runs++;
	__atomic_sub_fetch(&w->at_once, 1, __ATOMIC_SEQ_CST);
}

static void side_by_side(struct rig *r)
{
	struct shim_cpu c = shim_enter(shim_find(r->n[0].kernel), NULL, SHIM_IN_TASK);
	struct workqueue_struct *wq = alloc_workqueue("test", UNBOUND, 0);
	struct work w[6] = { 0 };
	uint64_t before = sim_now(r->sim);
	int i;

	for (i = 0; i < 6; i++) {
		INIT_WORK(&w[i].w, shim_item);
		w[i].ns = 100000;
		EXPECT(queue_work(wq, &w[i].w));
		/* With real threads a worker may have taken it by now. */
		if (sim_mode(r->sim) != SIM_LOCKSTEP)
			continue;
		STEP("queued already: not twice");
		EXPECT(!queue_work(wq, &w[i].w));
	}
	destroy_workqueue(wq);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(w[i].runs, 1);
	if (sim_mode(r->sim) == SIM_LOCKSTEP)
		EXPECT_LE(sim_now(r->sim), before + 2 * 100000);
	shim_leave(&c);
}

TEST("items of a queue run side by side, each once")
{
	struct host_driver_params p = { 0 };

	rig_run(side_by_side);
	rig_run_with(SIM_THREADS, &p, side_by_side, NULL);
}

static void shim_again(struct rig *r)
{
	struct shim_cpu c = shim_enter(shim_find(r->n[0].kernel), NULL, SHIM_IN_TASK);
	struct workqueue_struct *wq = alloc_workqueue("test", UNBOUND, 0);
	struct work w = { .ns = 50000 };

	INIT_WORK(&w.w, shim_item);
	EXPECT(queue_work(wq, &w.w));
	sim_sleep(20000);
	STEP("queued while it runs: runs again, and never twice at once");
	EXPECT(queue_work(wq, &w.w));
	EXPECT(!queue_work(wq, &w.w));
	sim_sleep(200000);
	EXPECT_EQ(w.runs, 2);
	EXPECT_EQ(w.most, 1);
	STEP("cancel waits for one that runs, takes back one that waits");
	EXPECT(queue_work(wq, &w.w));
	sim_sleep(20000);
	EXPECT(!cancel_work_sync(&w.w));
	EXPECT_EQ(w.runs, 3);
	EXPECT(queue_work(wq, &w.w));
	EXPECT(cancel_work_sync(&w.w));
	sim_sleep(200000);
	EXPECT_EQ(w.runs, 3);
	destroy_workqueue(wq);
	shim_leave(&c);
}

TEST("an item may be queued while it runs, and cancelled at any time")
{
	rig_run(shim_again);
}

static void shim_busy(struct rig *r)
{
	struct host_kernel *k = r->n[0].kernel;
	struct shim_cpu c = shim_enter(shim_find(k), NULL, SHIM_IN_TASK);
	struct workqueue_struct *one = alloc_workqueue("one", UNBOUND, 0);
	struct workqueue_struct *two = alloc_workqueue("two", UNBOUND, 0);
	struct work w = { .ns = 50000 };

	INIT_WORK(&w.w, shim_item);
	EXPECT(!host_driver_busy(k));
	STEP("while it waits, and while it runs");
	EXPECT(queue_work(one, &w.w));
	EXPECT(host_driver_busy(k));
	sim_sleep(20000);
	EXPECT(host_driver_busy(k));
	EXPECT_EQ(w.runs, 0);
	sim_sleep(200000);
	EXPECT_EQ(w.runs, 1);
	EXPECT(!host_driver_busy(k));
	STEP("in any queue; and no more when it was taken back");
	EXPECT(queue_work(two, &w.w));
	EXPECT(host_driver_busy(k));
	EXPECT(cancel_work_sync(&w.w));
	EXPECT(!host_driver_busy(k));
	STEP("while an interrupt has not been taken");
	irq_set(r->n[0].board, IRQ_NIC_EVENT, true);
	EXPECT(host_driver_busy(k));
	irq_set(r->n[0].board, IRQ_NIC_EVENT, false);
	destroy_workqueue(one);
	destroy_workqueue(two);
	shim_leave(&c);
	EXPECT(!host_driver_busy(k));
}

TEST("a driver is busy while it has an interrupt to take or work to do")
{
	rig_run(shim_busy);
}

static void shim_copies(struct rig *r)
{
	struct shim_cpu c = shim_enter(shim_find(r->n[0].kernel), NULL, SHIM_IN_TASK);
	unsigned char from[8] = { 1, 2, 3, 4, 0, 0, 0, 9 }, to[8];

	STEP("shorter: the rest is zero");
	memset(to, 0xff, sizeof(to));
	EXPECT_EQ(copy_struct_from_user(to, 8, from, 4), 0);
	EXPECT_MEM(to, "\1\2\3\4\0\0\0\0", 8);
	STEP("longer: only zeros");
	EXPECT_EQ(copy_struct_from_user(to, 4, from, 7), 0);
	EXPECT_EQ(copy_struct_from_user(to, 4, from, 8), -E2BIG);
	EXPECT_EQ(copy_struct_from_user(to, 8, (void *)8, 8), -EFAULT);
	shim_leave(&c);
}

TEST("structures are copied from programs of any version")
{
	rig_run(shim_copies);
}

static void queue_again(struct rig *r)
{
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = 32768 };
	struct fl_destroy d = { .size = sizeof(d) };
	struct rig_node *n = &r->n[0];
	int i, err;
	void *p;

	rig_open(n);
	STEP("more than there is in all: 300 times 1 MB");
	for (i = 0; i < 300; i++) {
		EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_CQ, &cq), 0);
		p = host_mmap_fd(n->process, n->fd, cq.mmap_bytes,
				 cq.mmap_offset, &err);
		EXPECT(p);
		d.object = cq.cq;
		EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_CQ, &d), 0);
		*(volatile uint32_t *)p = 1;	/* it is there until unmapped */
		EXPECT_EQ(host_munmap_fd(n->process, p, cq.mmap_bytes), 0);
	}
}

TEST("memory of a queue that is gone is free once it is unmapped")
{
	rig_run(queue_again);
}

static void shim_quiet(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
}

static void shim_twice(struct rig *r)
{
	int i;

	for (i = 0; i < 3; i++) {
		STEP("remove and probe, time %d", i);
		host_driver_remove(r->n[0].kernel);
		EXPECT_EQ(host_driver_probe(r->n[0].kernel, NULL), 0);
	}
	host_driver_remove(r->n[0].kernel);
	r->n[0].removed = true;
}

TEST("a driver is started and ended many times on one board")
{
	struct host_driver_params p = { 0 };

	rig_run_with(SIM_LOCKSTEP, &p, shim_quiet, shim_twice);
	rig_run_with(SIM_THREADS, &p, shim_quiet, shim_twice);
}
