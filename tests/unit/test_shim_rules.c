// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a driver must not do to its kernel: the emulator's Linux API names the rule,
 * the function and the lock, and ends the program. variants: tsan
 */
#include "test_shim_rig.h"

/* ---- locks ---- */

BREAKS(handler_takes_it, "irq-unsafe-lock", "t.spin")
{
	struct shim_mark m;

	spin_lock(&t.spin);
	spin_unlock(&t.spin);
	m = shim_call_begin(&t.shim->rules, SHIM_IN_HANDLER);
	spin_lock(&t.spin);
	spin_unlock(&t.spin);
	shim_call_end(&m);
}

BREAKS(handler_took_it, "irq-unsafe-lock", "t.spin")
{
	struct shim_mark m = shim_call_begin(&t.shim->rules, SHIM_IN_HANDLER);

	spin_lock(&t.spin);
	spin_unlock(&t.spin);
	shim_call_end(&m);
	spin_lock(&t.spin);
}

BREAKS(irqs_on_too_early, "irq-unsafe-lock", "t.spin")
{
	struct shim_mark m = shim_call_begin(&t.shim->rules, SHIM_IN_HANDLER);

	spin_lock(&t.spin);
	spin_unlock(&t.spin);
	shim_call_end(&m);
	local_irq_save(t.flags);
	spin_lock(&t.spin);
	local_irq_restore(t.flags);
}

BREAKS(waits_for_unsafe, "irq-inversion", "t.other")
{
	struct shim_mark m = shim_call_begin(&t.shim->rules, SHIM_IN_HANDLER);

	spin_lock(&t.spin);
	spin_unlock(&t.spin);
	shim_call_end(&m);
	spin_lock(&t.other);
	spin_unlock(&t.other);
	spin_lock_irqsave(&t.spin, t.flags);
	spin_lock(&t.other);
}

BREAKS(order_of_two, "lock-order", "t.one inside t.two")
{
	mutex_lock(&t.one);
	mutex_lock(&t.two);
	mutex_unlock(&t.two);
	mutex_unlock(&t.one);
	mutex_lock(&t.two);
	mutex_lock(&t.one);
}

BREAKS(order_of_three, "lock-order", "t.one inside mmap_lock")
{
	mutex_lock(&t.one);
	mutex_lock(&t.two);
	mutex_unlock(&t.one);
	mmap_read_lock(t.mm);
	mutex_unlock(&t.two);
	mutex_lock(&t.one);
}

BREAKS(copies_under_mmap_lock, "recursive-lock", "mmap_lock")
{
	mmap_read_lock(t.mm);
	copy_from_user(&t.flags, &t.va, 1);
}

BREAKS(cancels_what_waits, "lock-order", "t.work")
{
	shim_event_begin(SHIM_EVENT, t.work.name);
	takes_one(&t.work);
	shim_event_end();
	mutex_lock(&t.one);
	cancel_work_sync(&t.work);
}

BREAKS(cancels_itself, "recursive-lock", "t.work")
{
	shim_event_begin(SHIM_EVENT, t.work.name);
	cancel_work_sync(&t.work);
}

BREAKS(mutex_twice, "recursive-lock", "t.one")
{
	mutex_lock(&t.one);
	mutex_lock(&t.one);
}

BREAKS(spin_twice, "recursive-lock", "t.spin")
{
	spin_lock(&t.spin);
	spin_lock(&t.spin);
}

BREAKS(gives_back_twice, "unlock-not-held", "t.one")
{
	mutex_lock(&t.one);
	mutex_unlock(&t.one);
	mutex_unlock(&t.one);
}

BREAKS(gives_back_another, "unlock-not-held", "t.two")
{
	mutex_lock(&t.one);
	mutex_unlock(&t.two);
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

BREAKS(keeps_lock, "lock-left", "t.one")
{
	struct shim_mark m = shim_call_begin(&t.shim->rules, SHIM_IN_TASK);

	mutex_lock(&t.one);
	shim_call_end(&m);
}

BREAKS(irqs_stay_off, "irq-flags", "interrupts off")
{
	struct shim_mark m = shim_call_begin(&t.shim->rules, SHIM_IN_TASK);

	spin_lock_irqsave(&t.spin, t.flags);
	spin_unlock(&t.spin);
	shim_call_end(&m);
}

BREAKS(irqs_were_on, "irq-flags", "on already")
{
	local_irq_save(t.flags);
	local_irq_restore(t.flags);
	local_irq_restore(t.flags);
}

BREAKS(strange_flags, "irq-flags", "nothing was saved in")
{
	local_irq_save(t.flags);
	local_irq_restore(0);
}

BREAKS(on_in_handler, "irq-flags", "in a handler")
{
	local_irq_save(t.flags);
	shim_call_begin(&t.shim->rules, SHIM_IN_HANDLER);
	local_irq_restore(t.flags);
}

/* ---- RCU, counts, lists, memory ---- */

BREAKS(reads_bare, "rcu", "rcu_dereference(t.mm->owner)")
{
	(void)rcu_dereference(t.mm->owner);
}

BREAKS(leaves_rcu, "rcu", "without")
{
	rcu_read_unlock();
}

BREAKS(stays_in_rcu, "rcu", "returns inside")
{
	struct shim_mark m = shim_call_begin(&t.shim->rules, SHIM_IN_TASK);

	rcu_read_lock();
	shim_call_end(&m);
}

static void rules_gone(struct kref *ref)
{
}

BREAKS(get_of_none, "kref", "none left")
{
	kref_put(&t.ref, rules_gone);
	kref_get(&t.ref);
}

BREAKS(put_of_none, "kref", "more than")
{
	kref_put(&t.ref, rules_gone);
	kref_put(&t.ref, rules_gone);
}

BREAKS(list_twice, "list", "in none")
{
	list_add_tail(&t.item, &t.list);
	list_del(&t.item);
	list_del(&t.item);
}

BREAKS(list_broken, "list", "broken")
{
	t.list.prev = &t.item;
	list_add_tail(&t.item, &t.list);
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
	INIT_WORK(&w->work, takes_one);
	queue_work(t.wq, &w->work);
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

	EXPECT_EQ(mmu_notifier_register(n, t.mm), 0);
	kfree(n);
}

BREAKS(leaves_things, "left-behind", "interrupt handler")
{
	/* The driver of the rig is there. */
	shim_left_behind(t.shim);
}

/* ---- address spaces ---- */

BREAKS(finds_bare, "mmap-lock", "find_vma()")
{
	find_vma(t.mm, t.va);
}

BREAKS(looks_up_bare, "mmap-lock", "vma_lookup()")
{
	vma_lookup(t.mm, t.va);
}

BREAKS(pins_bare, "mmap-lock", "pin_user_pages_remote()")
{
	pin_user_pages_remote(t.mm, t.va, 1, 0, t.page, NULL);
}

BREAKS(stale_read, "stale-vma", "stale_read() gave")
{
	const struct vm_area_struct *vma;

	mmap_read_lock(t.mm);
	vma = vma_lookup(t.mm, t.va);
	mmap_read_unlock(t.mm);
	t.va = READ_ONCE(vma->vm_end);
}

BREAKS(stale_fault, "stale-vma", "another time")
{
	struct vm_area_struct copy;

	mmap_read_lock(t.mm);
	copy = *vma_lookup(t.mm, t.va);
	mmap_read_unlock(t.mm);
	mmap_read_lock(t.mm);
	handle_mm_fault(&copy, t.va, 0, NULL);
}

static struct vm_area_struct *looked_up(void)
{
	mmap_read_lock(t.mm);
	return vma_lookup(t.mm, t.va);
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
	handle_mm_fault(vma, t.va, FAULT_FLAG_WRITE, NULL);
}

BREAKS(fault_unkept, "mm-users", "mmget_not_zero() is missing")
{
	shim_cpu()->task = NULL;
	handle_mm_fault(looked_up(), t.va, 0, NULL);
}

BREAKS(fault_unpaid, "memcg", "nobody's account")
{
	shim_cpu()->task = NULL;
	EXPECT(mmget_not_zero(t.mm));
	handle_mm_fault(looked_up(), t.va, 0, NULL);
}

BREAKS(keeps_users, "mm-users", "never")
{
	struct shim_mark m = shim_call_begin(&t.shim->rules, SHIM_IN_TASK);

	EXPECT(mmget_not_zero(t.mm));
	shim_call_end(&m);
}

BREAKS(puts_too_much, "mm-users", "without the mmget_not_zero()")
{
	mmput_async(t.mm);
}

BREAKS(puts_in_worker, "mmput-may-exit", "mmput_async()")
{
	shim_cpu()->task = NULL;
	EXPECT(mmget_not_zero(t.mm));
	mmput(t.mm);
}

BREAKS(keeps_account, "memcg", "still allocates")
{
	struct shim_mark m = shim_call_begin(&t.shim->rules, SHIM_IN_TASK);

	get_mem_cgroup_from_mm(t.mm);
	shim_call_end(&m);
}

BREAKS(walks_with_irqs_on, "table-walk", "interrupts on")
{
	phys_to_virt(virt_to_phys(t.mm->pgd) + 4096);
}

/* ---- and nothing of it when all is right ---- */

static void rules_heard(struct mmu_notifier *mn, struct mm_struct *mm,
			unsigned long start, unsigned long end)
{
	unsigned long flags;

	spin_lock_irqsave(&t.spin, flags);
	spin_unlock_irqrestore(&t.spin, flags);
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
	mutex_lock(&t.one);
	mutex_lock(&t.two);
	mutex_unlock(&t.one);		/* in any order */
	mutex_unlock(&t.two);
	n->ops = &ops;
	EXPECT_EQ(mmu_notifier_register(n, t.mm), 0);
	vma = looked_up();
	EXPECT(vma && t.va >= vma->vm_start && t.va < vma->vm_end);
	EXPECT(find_vma(t.mm, t.va) == vma);
	EXPECT(!(handle_mm_fault(vma, t.va, FAULT_FLAG_WRITE, NULL) &
		 VM_FAULT_ERROR));
	/* Somebody takes the page away while the lock is held. */
	shim_evict(t.mm->host, t.va);
	mmap_read_unlock(t.mm);
	mmu_notifier_unregister(n, t.mm);
	kfree(n);
	m = shim_call_begin(&t.shim->rules, SHIM_IN_HANDLER);
	spin_lock(&t.spin);
	kfree(kzalloc(8, GFP_ATOMIC));
	spin_unlock(&t.spin);
	shim_call_end(&m);
	spin_lock_irqsave(&t.spin, t.flags);
	spin_unlock_irqrestore(&t.spin, t.flags);
	EXPECT(mmget_not_zero(t.mm));
	mmput(t.mm);
}

TEST("a driver that breaks a rule is stopped, and the rule is named")
{
	rig_run(all_cases);
}

static void all_right(struct rig *r)
{
	struct shim_cpu before;

	thing_make(r);
	before = shim_enter(t.shim, &t.task, SHIM_IN_TASK);
	thing_init();
	rules_right();
	destroy_workqueue(t.wq);
	shim_leave(&before);
	mmdrop(t.mm);
}

TEST("a driver that keeps the rules hears of none")
{
	struct host_driver_params p = { 0 };

	rig_run(all_right);
	rig_run_with(SIM_THREADS, &p, all_right, NULL);
}
