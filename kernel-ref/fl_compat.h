/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_compat.h - where Linux 6.1 and 6.12 differ, and nothing else of the driver
 * need know: the one file that asks which kernel this is.
 */
#ifndef FL_COMPAT_H
#define FL_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

/* mmap lock held; as pin_user_pages_remote() */
static inline long fl_pin_pages_as(struct mm_struct *mm, u64 va,
				   unsigned long npages, unsigned int flags,
				   struct page **pages)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	return pin_user_pages_remote(mm, va, npages, flags, pages, NULL);
#else
	return pin_user_pages_remote(mm, va, npages, flags, pages, NULL, NULL);
#endif
}

/*
 * Pin for a long time what the process has there, and will have there when it
 * writes. Before 6.2 reading alone pins the page of zeros, or the file's page
 * below a private mapping, and the next store of the CPU puts another page in
 * its place: so it is pinned as if for writing, which makes the process's own
 * page now (as ib_umem_get() did). Where a mapping is shared and read-only that
 * is refused, and not needed: nothing is copied there.
 */
static inline long fl_pin_pages(struct mm_struct *mm, u64 va,
				unsigned long npages, bool write,
				struct page **pages)
{
	unsigned int flags = FOLL_LONGTERM | (write ? FOLL_WRITE : 0);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	long n;

	if (!write) {
		n = fl_pin_pages_as(mm, va, npages,
				    flags | FOLL_WRITE | FOLL_FORCE, pages);
		if (n != -EFAULT)
			return n;
	}
#endif
	return fl_pin_pages_as(mm, va, npages, flags, pages);
}

/* A mapping that is being made; nobody else sees it yet. */
static inline void fl_vma_flags_set(struct vm_area_struct *vma,
				    unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/* struct mmu_notifier_ops: who is told before pages are used otherwise */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define fl_notifier_op_invalidate	arch_invalidate_secondary_tlbs
#else
#define fl_notifier_op_invalidate	invalidate_range
#endif

/* struct platform_driver: the callback that returns nothing */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define fl_platform_op_remove		remove
#else
#define fl_platform_op_remove		remove_new
#endif

#endif
