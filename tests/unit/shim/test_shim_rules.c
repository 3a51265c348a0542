// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a driver must not do to its kernel: the emulator's Linux API names the rule,
 * the function and the lock, and ends the program. variants: tsan
 */
#include <linux/dmapool.h>

#include "rig/shim.h"

/* ---- locks ---- */

BREAKS(handler_takes_it, "irq-unsafe-lock", "thing.spin")
{
	struct shim_mark m;

	spin_lock(&thing.spin);
	spin_unlock(&thing.spin);
	m = shim_call_begin(&thing.shim->rules, SHIM_IN_HANDLER);
	spin_lock(&thing.spin);
	spin_unlock(&thing.spin);
	shim_call_end(&m);
}

BREAKS(handler_took_it, "irq-unsafe-lock", "thing.spin")
{
	struct shim_mark m = shim_call_begin(&thing.shim->rules, SHIM_IN_HANDLER);

	spin_lock(&thing.spin);
	spin_unlock(&thing.spin);
	shim_call_end(&m);
	spin_lock(&thing.spin);
}

BREAKS(irqs_on_too_early, "irq-unsafe-lock", "thing.spin")
{
	struct shim_mark m = shim_call_begin(&thing.shim->rules, SHIM_IN_HANDLER);

	spin_lock(&thing.spin);
	spin_unlock(&thing.spin);
	shim_call_end(&m);
	local_irq_save(thing.flags);
	spin_lock(&thing.spin);
	local_irq_restore(thing.flags);
}

BREAKS(waits_for_unsafe, "irq-inversion", "thing.other")
{
	struct shim_mark m = shim_call_begin(&thing.shim->rules, SHIM_IN_HANDLER);

	spin_lock(&thing.spin);
	spin_unlock(&thing.spin);
	shim_call_end(&m);
	spin_lock(&thing.other);
	spin_unlock(&thing.other);
	spin_lock_irqsave(&thing.spin, thing.flags);
	spin_lock(&thing.other);
}

BREAKS(order_of_two, "lock-order", "thing.one inside thing.two")
{
	mutex_lock(&thing.one);
	mutex_lock(&thing.two);
	mutex_unlock(&thing.two);
	mutex_unlock(&thing.one);
	mutex_lock(&thing.two);
	mutex_lock(&thing.one);
}

BREAKS(order_of_three, "lock-order", "thing.one inside mmap_lock")
{
	mutex_lock(&thing.one);
	mutex_lock(&thing.two);
	mutex_unlock(&thing.one);
	mmap_read_lock(thing.mm);
	mutex_unlock(&thing.two);
	mutex_lock(&thing.one);
}

BREAKS(copies_under_mmap_lock, "recursive-lock", "mmap_lock")
{
	mmap_read_lock(thing.mm);
	copy_from_user(&thing.flags, &thing.va, 1);
}

BREAKS(cancels_what_waits, "lock-order", "thing.work")
{
	shim_event_begin(SHIM_EVENT, thing.work.name);
	thing_takes_one(&thing.work);
	shim_event_end();
	mutex_lock(&thing.one);
	cancel_work_sync(&thing.work);
}

BREAKS(cancels_itself, "recursive-lock", "thing.work")
{
	shim_event_begin(SHIM_EVENT, thing.work.name);
	cancel_work_sync(&thing.work);
}

BREAKS(mutex_twice, "recursive-lock", "thing.one")
{
	mutex_lock(&thing.one);
	mutex_lock(&thing.one);
}

BREAKS(spin_twice, "recursive-lock", "thing.spin")
{
	spin_lock(&thing.spin);
	spin_lock(&thing.spin);
}

BREAKS(gives_back_twice, "unlock-not-held", "thing.one")
{
	mutex_lock(&thing.one);
	mutex_unlock(&thing.one);
	mutex_unlock(&thing.one);
}

BREAKS(gives_back_another, "unlock-not-held", "thing.two")
{
	mutex_lock(&thing.one);
	mutex_unlock(&thing.two);
}

BREAKS(never_made, "uninitialised-lock", "lock")
{
	static struct mutex m;

	mutex_lock(&m);
}

BREAKS(frees_its_lock, "lock-freed", "m->m")
{
	struct box { int other; struct mutex m; } *m;

	m = kzalloc(sizeof(*m), GFP_KERNEL);
	mutex_init(&m->m);
	mutex_lock(&m->m);
	kfree(m);
}

BREAKS(keeps_lock, "lock-left", "thing.one")
{
	struct shim_mark m = shim_call_begin(&thing.shim->rules, SHIM_IN_TASK);

	mutex_lock(&thing.one);
	shim_call_end(&m);
}

BREAKS(irqs_stay_off, "irq-flags", "interrupts off")
{
	struct shim_mark m = shim_call_begin(&thing.shim->rules, SHIM_IN_TASK);

	spin_lock_irqsave(&thing.spin, thing.flags);
	spin_unlock(&thing.spin);
	shim_call_end(&m);
}

BREAKS(irqs_were_on, "irq-flags", "on already")
{
	local_irq_save(thing.flags);
	local_irq_restore(thing.flags);
	local_irq_restore(thing.flags);
}

BREAKS(strange_flags, "irq-flags", "nothing was saved in")
{
	local_irq_save(thing.flags);
	local_irq_restore(0);
}

BREAKS(on_in_handler, "irq-flags", "in a handler")
{
	local_irq_save(thing.flags);
	shim_call_begin(&thing.shim->rules, SHIM_IN_HANDLER);
	local_irq_restore(thing.flags);
}

/* ---- RCU, counts, lists, memory ---- */

BREAKS(reads_bare, "rcu", "rcu_dereference(thing.mm->owner)")
{
	(void)rcu_dereference(thing.mm->owner);
}

BREAKS(leaves_rcu, "rcu", "without")
{
	rcu_read_unlock();
}

BREAKS(stays_in_rcu, "rcu", "returns inside")
{
	struct shim_mark m = shim_call_begin(&thing.shim->rules, SHIM_IN_TASK);

	rcu_read_lock();
	shim_call_end(&m);
}

static void rules_gone(struct kref *ref)
{
}

BREAKS(get_of_none, "kref", "none left")
{
	kref_put(&thing.ref, rules_gone);
	kref_get(&thing.ref);
}

BREAKS(put_of_none, "kref", "more than")
{
	kref_put(&thing.ref, rules_gone);
	kref_put(&thing.ref, rules_gone);
}

BREAKS(list_twice, "list", "in none")
{
	list_add_tail(&thing.item, &thing.list);
	list_del(&thing.item);
	list_del(&thing.item);
}

BREAKS(list_broken, "list", "broken")
{
	thing.list.prev = &thing.item;
	list_add_tail(&thing.item, &thing.list);
}

BREAKS(wrong_free, "free", "wants kvfree()")
{
	kfree(kvmalloc_array(8, 8, GFP_KERNEL));
}

BREAKS(frees_what_is_none, "free", "no such memory")
{
	static char mem[64];

	kfree(mem + 32);
}

BREAKS(frees_work, "freed-in-use", "w->work")
{
	struct box { int other; struct work_struct work; } *w;

	w = kzalloc(sizeof(*w), GFP_KERNEL);
	INIT_WORK(&w->work, thing_takes_one);
	queue_work(thing.wq, &w->work);
	kfree(w);
}

static irqreturn_t rules_handler(int irq, void *arg)
{
	return IRQ_NONE;
}

BREAKS(frees_argument, "freed-in-use", "interrupt handler")
{
	void *p = kzalloc(8, GFP_KERNEL);

	free_irq(IRQ_LINES - 1, NULL);
	EXPECT_EQ(request_irq(IRQ_LINES - 1, rules_handler, 0, "", p), 0);
	kfree(p);
}

BREAKS(frees_notifier, "freed-in-use", "notifier")
{
	struct mmu_notifier *n = kzalloc(sizeof(*n), GFP_KERNEL);

	EXPECT_EQ(mmu_notifier_register(n, thing.mm), 0);
	kfree(n);
}

BREAKS(leaves_things, "left-behind", "interrupt handler")
{
	/* The driver of the rig is there. */
	shim_left_behind(thing.shim);
}

/* What is left of a driver that had nothing else. */
static struct shim left = { .pdev.dev.ref.refcount = 1 };

static void left_alone(void)
{
	shim_enter(&left, NULL, SHIM_IN_TASK);
	shim_left_behind(&left);
}

BREAKS(leaves_handler, "left-behind", "behind: an interrupt handler\n")
{
	left.irq[0].handler = rules_handler;
	left_alone();
}

BREAKS(leaves_queue, "left-behind", "behind: a work queue\n")
{
	left.wqs = thing.wq;
	left_alone();
}

BREAKS(leaves_notifier, "left-behind", "behind: a notifier\n")
{
	static struct mmu_notifier n;

	left.notifiers = &n;
	left_alone();
}

BREAKS(leaves_file, "left-behind", "behind: a device file\n")
{
	static struct cdev c;

	left.cdev = &c;
	left_alone();
}

BREAKS(leaves_number, "left-behind", "behind: a device number\n")
{
	left.numbers = 1;
	left_alone();
}

BREAKS(leaves_reference, "left-behind", "behind: a reference on its device\n")
{
	left.pdev.dev.ref.refcount = 2;
	left_alone();
}

BREAKS(frees_device, "freed-in-use", "a device that is registered")
{
	struct cdev *c = kzalloc(sizeof(*c), GFP_KERNEL);

	thing.shim->cdev = c;
	kfree(c);
}

BREAKS(ends_pool_in_use, "freed-in-use", "1 pages of it in use")
{
	struct dma_pool *pool = dma_pool_create("rules", &thing.shim->pdev.dev, 4096, 4096, 0);
	dma_addr_t dma;

	EXPECT(dma_pool_alloc(pool, GFP_KERNEL, &dma));
	dma_pool_destroy(pool);
}

BREAKS(frees_to_pool_twice, "free", "free already")
{
	struct dma_pool *pool = dma_pool_create("rules", &thing.shim->pdev.dev, 4096, 4096, 0);
	dma_addr_t dma;
	void *mem = dma_pool_alloc(pool, GFP_KERNEL, &dma);

	dma_pool_free(pool, mem, dma);
	dma_pool_free(pool, mem, dma);
}

/* ---- address spaces ---- */

BREAKS(finds_bare, "mmap-lock", "find_vma()")
{
	find_vma(thing.mm, thing.va);
}

BREAKS(looks_up_bare, "mmap-lock", "vma_lookup()")
{
	vma_lookup(thing.mm, thing.va);
}

BREAKS(pins_bare, "mmap-lock", "pin_user_pages_remote()")
{
	pin_user_pages_remote(thing.mm, thing.va, 1, 0, thing.page, NULL);
}

BREAKS(stale_read, "stale-vma", "stale_read() gave")
{
	const struct vm_area_struct *vma;

	mmap_read_lock(thing.mm);
	vma = vma_lookup(thing.mm, thing.va);
	mmap_read_unlock(thing.mm);
	thing.va = READ_ONCE(vma->vm_end);
}

BREAKS(stale_fault, "stale-vma", "another time")
{
	struct vm_area_struct copy;

	mmap_read_lock(thing.mm);
	copy = *vma_lookup(thing.mm, thing.va);
	mmap_read_unlock(thing.mm);
	mmap_read_lock(thing.mm);
	handle_mm_fault(&copy, thing.va, 0, NULL);
}

static struct vm_area_struct *looked_up(void)
{
	mmap_read_lock(thing.mm);
	return vma_lookup(thing.mm, thing.va);
}

BREAKS(fault_outside, "mapping", "not in the mapping")
{
	struct vm_area_struct *vma = looked_up();

	handle_mm_fault(vma, vma->vm_end, 0, NULL);
}

BREAKS(fault_without_right, "mapping", "without that right")
{
	struct vm_area_struct *vma = looked_up();

	vma->vm_flags = VM_READ;
	handle_mm_fault(vma, thing.va, FAULT_FLAG_WRITE, NULL);
}

BREAKS(fault_unkept, "mm-users", "mmget_not_zero() is missing")
{
	shim_cpu()->task = NULL;
	handle_mm_fault(looked_up(), thing.va, 0, NULL);
}

BREAKS(fault_unpaid, "memcg", "nobody's account")
{
	shim_cpu()->task = NULL;
	EXPECT(mmget_not_zero(thing.mm));
	handle_mm_fault(looked_up(), thing.va, 0, NULL);
}

BREAKS(keeps_users, "mm-users", "never")
{
	struct shim_mark m = shim_call_begin(&thing.shim->rules, SHIM_IN_TASK);

	EXPECT(mmget_not_zero(thing.mm));
	shim_call_end(&m);
}

BREAKS(puts_too_much, "mm-users", "without the mmget_not_zero()")
{
	mmput_async(thing.mm);
}

BREAKS(puts_in_worker, "mmput-may-exit", "mmput_async()")
{
	shim_cpu()->task = NULL;
	EXPECT(mmget_not_zero(thing.mm));
	mmput(thing.mm);
}

BREAKS(keeps_account, "memcg", "still allocates")
{
	struct shim_mark m = shim_call_begin(&thing.shim->rules, SHIM_IN_TASK);

	get_mem_cgroup_from_mm(thing.mm);
	shim_call_end(&m);
}

BREAKS(walks_with_irqs_on, "table-walk", "interrupts on")
{
	phys_to_virt(virt_to_phys(thing.mm->pgd) + 4096);
}

/* ---- and nothing of it when all is right ---- */

static void rules_heard(struct mmu_notifier *mn, struct mm_struct *mm,
			unsigned long start, unsigned long end)
{
	unsigned long flags;

	spin_lock_irqsave(&thing.spin, flags);
	spin_unlock_irqrestore(&thing.spin, flags);
}

static void rules_ended(struct mmu_notifier *mn, struct mm_struct *mm)
{
}

static void rules_right(void)
{
	static const struct mmu_notifier_ops ops = {
		.release = rules_ended,
		.arch_invalidate_secondary_tlbs = rules_heard,
	};
	struct mmu_notifier *n = kzalloc(sizeof(*n), GFP_KERNEL);
	struct vm_area_struct *vma;
	struct shim_mark m;

	kfree(kzalloc(8, GFP_ATOMIC));
	kvfree(kcalloc(1, 8, GFP_KERNEL));
	mutex_lock(&thing.one);
	mutex_lock(&thing.two);
	mutex_unlock(&thing.one);		/* in any order */
	mutex_unlock(&thing.two);
	n->ops = &ops;
	EXPECT_EQ(mmu_notifier_register(n, thing.mm), 0);
	vma = looked_up();
	EXPECT(vma && thing.va >= vma->vm_start && thing.va < vma->vm_end);
	EXPECT(find_vma(thing.mm, thing.va) == vma);
	EXPECT(!(handle_mm_fault(vma, thing.va, FAULT_FLAG_WRITE, NULL) &
		 VM_FAULT_ERROR));
	/* Somebody takes the page away while the lock is held. */
	shim_evict(thing.mm->host, thing.va);
	mmap_read_unlock(thing.mm);
	mmu_notifier_unregister(n, thing.mm);
	kfree(n);
	m = shim_call_begin(&thing.shim->rules, SHIM_IN_HANDLER);
	spin_lock(&thing.spin);
	kfree(kzalloc(8, GFP_ATOMIC));
	spin_unlock(&thing.spin);
	shim_call_end(&m);
	spin_lock_irqsave(&thing.spin, thing.flags);
	spin_unlock_irqrestore(&thing.spin, thing.flags);
	EXPECT(mmget_not_zero(thing.mm));
	mmput(thing.mm);
}

TEST("a driver that breaks a rule is stopped, and the rule is named")
{
	rig_run(rule_cases_run);
}

static void all_right(struct rig *r)
{
	struct shim_cpu before;

	thing_make(r);
	before = shim_enter(thing.shim, &thing.task, SHIM_IN_TASK);
	thing_init();
	rules_right();
	destroy_workqueue(thing.wq);
	shim_leave(&before);
	mmdrop(thing.mm);
}

TEST("a driver that keeps the rules hears of none")
{
	struct host_driver_params p = { 0 };

	rig_run(all_right);
	rig_run_with(SIM_THREADS, &p, all_right, NULL);
}
