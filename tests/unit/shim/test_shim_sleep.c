// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a driver must not sleep: the emulator's Linux API refuses each of its calls
 * that may. variants: tsan
 */
#include "rig/shim.h"

/* ---- sleeping ---- */

static bool sleep_never(void)
{
	return false;
}

#define SLEEPS(fn, what, call)                                                \
	BREAKS(fn, "sleep-in-atomic", what)                                   \
	{                                                                     \
		spin_lock_irqsave(&thing.spin, thing.flags);                          \
		call;                                                         \
	}

SLEEPS(sleep_mutex, "mutex_lock()", mutex_lock(&thing.one))
SLEEPS(sleep_kzalloc, "kzalloc(", (void)kzalloc(8, GFP_KERNEL))
SLEEPS(sleep_kcalloc, "kcalloc(", (void)kcalloc(8, 8, GFP_KERNEL))
SLEEPS(sleep_kvmalloc, "kvmalloc_array()",
       (void)kvmalloc_array(8, 8, GFP_KERNEL))
SLEEPS(sleep_page, "get_zeroed_page(", (void)get_zeroed_page(GFP_KERNEL))
SLEEPS(sleep_kvfree, "kvfree()", kvfree(NULL))
SLEEPS(sleep_copy_from, "copy_from_user()", copy_from_user(&thing, &thing, 1))
SLEEPS(sleep_copy_to, "copy_to_user()", copy_to_user(&thing, &thing, 1))
SLEEPS(sleep_copy_struct, "copy_struct_from_user()",
       copy_struct_from_user(&thing, 1, &thing, 1))
SLEEPS(sleep_wait, "wait_event_interruptible()",
       wait_event_interruptible(thing.wait, true))
BREAKS(sleep_poll, "sleep-in-atomic", "read_poll_timeout()")
{
	bool val;

	spin_lock_irqsave(&thing.spin, thing.flags);
	(void)read_poll_timeout(sleep_never, val, val, 1, 1, false);
}

SLEEPS(sleep_alloc_wq, "alloc_workqueue()",
       (void)alloc_workqueue("w", WQ_UNBOUND, 0))
SLEEPS(sleep_destroy_wq, "destroy_workqueue()", destroy_workqueue(NULL))
SLEEPS(sleep_cancel, "cancel_work_sync()", cancel_work_sync(&thing.work))
SLEEPS(sleep_mmap_lock, "mmap_read_lock()", mmap_read_lock(thing.mm))
SLEEPS(sleep_pin, "pin_user_pages_remote()",
       pin_user_pages_remote(thing.mm, thing.va, 1, 0, thing.page, NULL))
SLEEPS(sleep_unpin, "unpin_user_pages_dirty_lock()",
       unpin_user_pages_dirty_lock(thing.page, 0, true))
SLEEPS(sleep_register, "mmu_notifier_register()",
       mmu_notifier_register((struct mmu_notifier *)NULL, thing.mm))
SLEEPS(sleep_unregister, "mmu_notifier_unregister()",
       mmu_notifier_unregister((struct mmu_notifier *)NULL, thing.mm))
SLEEPS(sleep_request_irq, "request_irq()", request_irq(9, NULL, 0, "", NULL))
SLEEPS(sleep_free_irq, "free_irq()", free_irq(0, NULL))
SLEEPS(sleep_dma_alloc, "dma_alloc_coherent()",
       dma_alloc_coherent(NULL, 8, NULL, GFP_KERNEL))
SLEEPS(sleep_dma_free, "dma_free_coherent()",
       dma_free_coherent(NULL, 8, NULL, 0))
SLEEPS(sleep_dma_mmap, "dma_mmap_coherent()",
       dma_mmap_coherent(NULL, NULL, NULL, 0, 0))
SLEEPS(sleep_unmap, "unmap_mapping_range()", unmap_mapping_range(NULL, 0, 0, 1))
SLEEPS(sleep_cdev, "cdev_device_add()", cdev_device_add(NULL, NULL))
SLEEPS(sleep_cdev_del, "cdev_device_del()", cdev_device_del(NULL, NULL))
SLEEPS(sleep_number, "alloc_chrdev_region()",
       alloc_chrdev_region(NULL, 0, 1, NULL))
SLEEPS(sleep_number_back, "unregister_chrdev_region()",
       unregister_chrdev_region(0, 1))
SLEEPS(sleep_mmput, "mmput()", mmput(thing.mm))
SLEEPS(sleep_resched, "cond_resched()", cond_resched())

BREAKS(sleep_irqs_off, "sleep-in-atomic", "with interrupts off")
{
	local_irq_save(thing.flags);
	mutex_lock(&thing.one);
}

BREAKS(sleep_in_handler, "sleep-in-atomic", "in an interrupt handler")
{
	shim_call_begin(&thing.shim->rules, SHIM_IN_HANDLER);
	mutex_lock(&thing.one);
}

BREAKS(sleep_in_callback, "sleep-in-atomic", "in a notifier's callback")
{
	shim_call_begin(&thing.shim->rules, SHIM_IN_CALLBACK);
	mutex_lock(&thing.one);
}

BREAKS(sleep_in_rcu, "sleep-in-atomic", "rcu_read_lock()")
{
	rcu_read_lock();
	mutex_lock(&thing.one);
}

BREAKS(no_gfp, "gfp", "flags 0x0")
{
	(void)kzalloc(8, 0);
}

TEST("a driver that may sleep where it must not is stopped")
{
	rig_run(rule_cases_run);
}
