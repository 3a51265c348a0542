/* SPDX-License-Identifier: BSD-2-Clause */
/* mmu_notifier.h - callbacks may not sleep. */
#ifndef SHIM_LINUX_MMU_NOTIFIER_H
#define SHIM_LINUX_MMU_NOTIFIER_H

#include <linux/mm.h>

struct mmu_notifier;
struct mmu_notifier_ops {
	void (*release)(struct mmu_notifier *mn, struct mm_struct *mm);
	void (*arch_invalidate_secondary_tlbs)(struct mmu_notifier *mn,
					       struct mm_struct *mm,
					       unsigned long start,
					       unsigned long end);
	int (*clear_flush_young)(struct mmu_notifier *mn, struct mm_struct *mm,
				 unsigned long start, unsigned long end);
	/* Not in Linux (host/mm.h, struct mm_notifier). */
#define SHIM_NOTIFIER_MAPPED
	void (*mapped)(struct mmu_notifier *mn, struct mm_struct *mm,
		       unsigned long start, unsigned long end);
	/* Would mapped() do anything now? */
	bool (*hears)(struct mmu_notifier *mn);
	/* Nobody calls it: what ages here asks for the other one. */
	int (*clear_young)(struct mmu_notifier *mn, struct mm_struct *mm,
			   unsigned long start, unsigned long end);
};

struct mmu_notifier {
	const struct mmu_notifier_ops *ops;
	/* private to the shim */
	struct mm_struct *mm;
	struct shim *shim;
	struct mm_notifier host;
	bool released;
	struct mmu_notifier *next;	/* of all that are registered */
};

/* Takes the mmap lock. */
int shim_notifier_register(struct mmu_notifier *mn, struct mm_struct *mm,
			   const char *where);
#define mmu_notifier_register(mn, mm)                                         \
	shim_notifier_register(mn, mm, __func__)
/*
 * Calls release if the address space has not ended; waits for callbacks that are
 * under way.
 */
void shim_notifier_unregister(struct mmu_notifier *mn, struct mm_struct *mm,
			      const char *where);
#define mmu_notifier_unregister(mn, mm)                                       \
	shim_notifier_unregister(mn, mm, __func__)

#endif
