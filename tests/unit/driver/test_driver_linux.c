// SPDX-License-Identifier: BSD-2-Clause
/*
 * What Linux asks of the driver, and the small kernel never does: the driver's entry points
 * are called here as Linux calls them.
 */
#include "kernel-ref/fl_owner.h"
#include "rig/inside.h"

#include <linux/memcontrol.h>
#include <linux/pm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#define LEN	(16u * RIG_PAGE)

static void linux_open(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], RIG_BYTES, 1);
	rig_fill(&r->n[1], RIG_BYTES, 2);
}

/* ---- the notifier ---- */

static void linux_range(struct inside *in, unsigned long start, unsigned long end)
{
	fl_notifier_ops.arch_invalidate_secondary_tlbs(&in->ctx->notifier, in->ctx->mm, start,
						       end);
}

static void linux_empty_range(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	unsigned long va;
	struct inside in;
	s64 before;

	linux_open(r);
	va = (uintptr_t)n->buffer;
	inside_enter(&in, n, SHIM_IN_CALLBACK);
	before = atomic64_read(&in.ctx->invalidations);
	STEP("nothing is in it: the TLB keeps what it has");
	linux_range(&in, va, va);
	linux_range(&in, va + RIG_PAGE, va);
	EXPECT_EQ(atomic64_read(&in.ctx->invalidations), before);
	STEP("a page is");
	linux_range(&in, va, va + RIG_PAGE);
	EXPECT_EQ(atomic64_read(&in.ctx->invalidations), before + 1);
	STEP("tables of the process itself need not hear of pages that come");
	EXPECT(!fl_notifier_ops.hears(&in.ctx->notifier));
	fl_notifier_ops.mapped(&in.ctx->notifier, in.ctx->mm, va, va + RIG_PAGE);
	EXPECT_EQ(atomic64_read(&in.ctx->nic.loaded), 0);
	inside_leave(&in);
}

TEST("an empty range of the notifier changes nothing")
{
	rig_run(linux_empty_range);
}

/* ---- a fault on a mapping that was taken away ---- */

static void linux_fault(struct rig *r)
{
	struct fl_queue queue = { .doorbell = false }, bell = { .doorbell = true };
	struct file file = { .private_data = NULL };
	struct vm_area_struct vma = { .vm_file = &file };
	struct vm_fault vmf = { .vma = &vma };
	struct rig_node *n = &r->n[1];
	struct inside in;
	void **dummy;

	linux_open(r);
	inside_enter(&in, n, SHIM_IN_TASK);
	file.private_data = in.ctx;
	dummy = in.ctx->dummy;
	STEP("the card is there: whatever the process has touched is no page of it");
	EXPECT_EQ(fl_map_fault(&vmf), VM_FAULT_SIGBUS);
	EXPECT(!vmf.page);
	inside_leave(&in);
	STEP("it goes: a doorbell page where a doorbell was, zeros where a queue was");
	host_driver_shutdown(n->kernel);
	inside_enter(&in, n, SHIM_IN_TASK);
	EXPECT_EQ(fl_map_fault(&vmf), VM_FAULT_NOPAGE);
	EXPECT_EQ(vma.shim_mmio_pa >> PAGE_SHIFT,
		  PHYS_PFN(virt_to_phys(dummy[FL_DUMMY_DOORBELL])));
	vma.vm_private_data = &queue;
	vma.vm_flags = VM_MIXEDMAP;
	EXPECT_EQ(fl_map_fault(&vmf), 0);
	EXPECT(vmf.page == virt_to_page(dummy[FL_DUMMY_QUEUE]));
	STEP("the page of a snooped queue is a doorbell for the program");
	vma.vm_private_data = &bell;
	EXPECT_EQ(fl_map_fault(&vmf), 0);
	EXPECT(vmf.page == virt_to_page(dummy[FL_DUMMY_DOORBELL]));
	inside_leave(&in);
}

TEST("a mapping of a card that went leads to a page of the process's own")
{
	rig_run(linux_fault);
}

/* ---- mappings that are refused ---- */

static void linux_mmap(struct rig *r)
{
	struct file file = { .private_data = NULL };
	struct vm_area_struct vma = { .vm_end = RIG_PAGE, .vm_file = &file,
				      .vm_flags = VM_READ | VM_WRITE | VM_SHARED };
	struct rig_node *n = &r->n[1];
	struct mm_struct child = { .count = 1 };
	struct inside in;

	linux_open(r);
	inside_enter(&in, n, SHIM_IN_TASK);
	file.private_data = in.ctx;
	STEP("a child that has inherited the file");
	in.task.mm = &child;
	EXPECT_EQ(fl_mmap(&file, &vma), -EPERM);
	in.task.mm = in.ctx->mm;
	STEP("a private mapping");
	vma.vm_flags &= ~VM_SHARED;
	EXPECT_EQ(fl_mmap(&file, &vma), -EINVAL);
	vma.vm_flags |= VM_SHARED;
	EXPECT_EQ(vma.shim_mmio_pa, 0);
	STEP("more than the page of its doorbell");
	vma.vm_end = 2 * PAGE_SIZE;
	EXPECT_EQ(fl_mmap(&file, &vma), -EINVAL);
	STEP("the page, and no child will have it");
	vma.vm_end = PAGE_SIZE;
	EXPECT_EQ(fl_mmap(&file, &vma), 0);
	EXPECT_EQ(vma.shim_mmio_pa, in.dev->nic_pa + NIC_DB_BASE(in.ctx->slot));
	EXPECT(vma.vm_flags & VM_DONTCOPY);
	inside_leave(&in);
}

TEST("a doorbell is mapped by who has opened the file, shared, and whole")
{
	rig_run(linux_mmap);
}

/* ---- an address space that ends before its file ---- */

static void linux_ended(struct rig *r)
{
	struct fl_nic_reach reach = { .r = { 0, RIG_PAGE } };
	struct rig_node other = { .kernel = r->n[1].kernel, .board = r->n[1].board };
	struct inside in;
	int err;

	other.process = host_process_create(other.kernel, "other", &err);
	EXPECT(other.process);
	rig_open(&other);
	inside_enter(&in, &other, SHIM_IN_TASK);
	kref_get(&in.ctx->ref);
	inside_leave(&in);
	host_process_exit(other.process);
	STEP("what is left of the process is a number of objects, and no memory");
	in.task.mm = NULL;
	in.before = shim_enter(in.shim, &in.task, SHIM_IN_TASK);
	EXPECT(READ_ONCE(in.ctx->dead));
	EXPECT_EQ(fl_shadow_begin(in.ctx, &reach), -EFAULT);
	fl_map_end(in.ctx);
	EXPECT_EQ(in.ctx->ref.refcount, 1);
	fl_ctx_put(in.ctx);
	inside_leave(&in);
	EXPECT(!host_check(other.kernel, true));
}

TEST("nothing is brought in for an address space that has ended")
{
	rig_run(linux_ended);
}

static bool linux_bound(struct rig_node *n)
{
	return rig_smmu(n, SMMU_GR0_SMR(0)) & SMMU_GR0_SMR_VALID;
}

static void linux_owner_gone(struct rig *r)
{
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct rig_node *n = &r->n[1];
	struct inside in;
	int refs;

	linux_open(r);
	STEP("the owner's memory ends, and so does its copy in a child: one worker is enough");
	inside_enter(&in, n, SHIM_IN_CALLBACK);
	refs = in.ctx->ref.refcount;
	fl_ctx_owner_gone(in.ctx);
	EXPECT_EQ(in.ctx->ref.refcount, refs + 1);
	fl_ctx_owner_gone(in.ctx);
	EXPECT_EQ(in.ctx->ref.refcount, refs + 1);
	inside_leave(&in);
	while (linux_bound(n))
		sim_sleep(10000);
	sim_sleep(1000000);
	STEP("it has left the card, and the file is of no use");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), -ENODEV);
	EXPECT_EQ(in.ctx->ref.refcount, refs);
	STEP("who is leaving already is not told once more");
	inside_enter(&in, n, SHIM_IN_CALLBACK);
	in.ctx = in.dev->slot[0];
	EXPECT(!in.ctx);
	inside_leave(&in);
	rig_close(n);
}

TEST("a process whose memory ends leaves the card while its file is still open")
{
	rig_run(linux_owner_gone);
}

/* The worker that would end it has not begun when the last file is closed. */
static void linux_closed_first(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct inside in;
	uint64_t unbinds;

	linux_open(r);
	unbinds = trace_count(r->trace, EV_DRV_UNBIND);
	r->timing.v[T_IRQ_WORK] = 10000000000ull;
	inside_enter(&in, n, SHIM_IN_CALLBACK);
	fl_ctx_owner_gone(in.ctx);
	inside_leave(&in);
	EXPECT(linux_bound(n));
	rig_close(n);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_UNBIND), unbinds + 1);
	r->timing.v[T_IRQ_WORK] = 0;
	STEP("and nobody does it a second time");
	sim_sleep(20000000000ull);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_UNBIND), unbinds + 1);
	rig_open(n);
}

TEST("a file that is closed before that has left once")
{
	rig_run(linux_closed_first);
}

static void linux_reference(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct inside in;
	int refs;

	linux_open(r);
	inside_enter(&in, n, SHIM_IN_TASK);
	refs = in.ctx->ref.refcount;
	EXPECT(fl_ctx_get(in.dev, 0, in.ctx->id) == in.ctx);
	EXPECT_EQ(in.ctx->ref.refcount, refs + 1);
	fl_ctx_put(in.ctx);
	STEP("the slot is another process's by now");
	EXPECT(!fl_ctx_get(in.dev, 0, in.ctx->id + 1));
	EXPECT_EQ(in.ctx->ref.refcount, refs);
	STEP("or nobody's");
	EXPECT(!fl_ctx_get(in.dev, 1, in.ctx->id));
	STEP("it drains: what ends it waits for who would tell");
	in.ctx->draining = true;
	fl_ctx_owner_gone(in.ctx);
	EXPECT_EQ(in.ctx->ref.refcount, refs);
	in.ctx->draining = false;
	inside_leave(&in);
}

TEST("a process is found on its slot by its own number alone")
{
	rig_run(linux_reference);
}

/* ---- the owner of the memory ---- */

static void linux_owner(struct rig *r)
{
	struct signal_struct exits = { .flags = SIGNAL_GROUP_EXIT };
	struct signal_struct *before;
	struct task_struct *owner;
	struct inside in;

	linux_open(r);
	inside_enter(&in, &r->n[1], SHIM_IN_TASK);
	owner = in.ctx->mm->owner;
	EXPECT(!fl_owner_dying(in.ctx->mm));
	STEP("the whole process exits, and no signal is pending any more");
	before = owner->signal;
	owner->signal = &exits;
	EXPECT(fl_owner_dying(in.ctx->mm));
	owner->signal = before;
	STEP("the task has gone, and nobody else owns the memory");
	in.ctx->mm->owner = NULL;
	EXPECT(fl_owner_dying(in.ctx->mm));
	in.ctx->mm->owner = owner;
	EXPECT(!fl_owner_dying(in.ctx->mm));
	inside_leave(&in);
}

TEST("a process that is being killed, or has no task any more, is dying")
{
	rig_run(linux_owner);
}

#define FRAMES	40u

static void linux_room(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct inside in;
	u64 room;

	rig_open(n);
	rig_set_up(n, 0);
	inside_enter(&in, n, SHIM_IN_TASK);
	room = fl_owner_room(in.ctx->mm);
	EXPECT_GE(room, PAGE_SIZE);
	EXPECT_LE(room, FRAMES * PAGE_SIZE);
	inside_leave(&in);
	STEP("it has all that it may have");
	rig_fill(n, RIG_BYTES, 1);
	inside_enter(&in, n, SHIM_IN_TASK);
	EXPECT_EQ(fl_owner_room(in.ctx->mm), 0);
	inside_leave(&in);
}

TEST("a process has as much room as its limit leaves, and none at the limit")
{
	struct host_driver_params p = { .system = FL_SYSTEM_PART };

	rig_run_in(FRAMES, SIM_LOCKSTEP, &p, linux_room, NULL);
}

/* ---- a machine that sleeps ---- */

static void linux_resume(struct inside *in)
{
	EXPECT_EQ(fl_platform_driver.driver.pm->resume(&in->shim->pdev.dev), 0);
}

static void linux_sleeps(struct rig *r)
{
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct rig_node *n = &r->n[1];
	struct inside in;

	linux_open(r);
	STEP("the SMMU is the driver's: what was open goes on");
	inside_enter(&in, n, SHIM_IN_TASK);
	linux_resume(&in);
	inside_leave(&in);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), 0);
	STEP("it is lent, and its owner has reset it: what was open has lost the card");
	inside_enter(&in, n, SHIM_IN_TASK);
	in.dev->lent = (const struct arm_smmu_reserved *)&pd;
	linux_resume(&in);
	EXPECT(READ_ONCE(in.ctx->lost));
	STEP("once: who has lost it is not counted again, nor is who has no bank");
	EXPECT_EQ(fl_life_cut_banks(in.dev), 1);
	in.dev->lent = NULL;
	inside_leave(&in);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), -ENODEV);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_REMOTE_FAULT);
	STEP("the next one has it again");
	rig_close(n);
	inside_enter(&in, n, SHIM_IN_TASK);
	in.dev->lent = (const struct arm_smmu_reserved *)&pd;
	linux_resume(&in);
	in.dev->lent = NULL;
	inside_leave(&in);
	rig_open(n);
	rig_set_up(n, 0);
}

TEST("after a sleep a file goes on, or hears that it has lost the card")
{
	rig_run(linux_sleeps);
}

/* ---- a device tree that lacks something ---- */

/* A second device, beside the one of the board. */
static int linux_probe(struct inside *in, unsigned int line, unsigned int refuse)
{
	struct shim second = { .board = in->shim->board, .pdev = in->shim->pdev };
	unsigned int i;
	int ret;

	second.pdev.dev.shim = &second;
	second.pdev.irq[line] = -ENXIO;
	host_inject_driver_error(refuse);
	ret = fl_platform_driver.probe(&second.pdev);
	host_inject_driver_error(0);
	for (i = 0; i < 3; i++)
		shim_io_map_destroy(second.io_map[i]);
	return ret;
}

static void linux_resources(struct rig *r)
{
	struct inside in;
	unsigned int i;

	linux_open(r);
	inside_enter(&in, &r->n[1], SHIM_IN_TASK);
	STEP("an interrupt: of the SMMU, of faults, of events, of the DMA channel");
	for (i = 0; i < 4; i++)
		EXPECT_EQ(linux_probe(&in, i, 0), -ENXIO);
	STEP("registers: of the SMMU, of the card, of the DMA channel");
	for (i = 1; i <= 3; i++)
		EXPECT_EQ(linux_probe(&in, 3, i), -ENOMEM);
	inside_leave(&in);
	STEP("the card that is there does not mind");
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
}

TEST("a device without one of its registers or interrupts is not begun with")
{
	rig_run(linux_resources);
}
