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
};

int mmu_notifier_register(struct mmu_notifier *mn, struct mm_struct *mm);
/* Calls release if the address space has not ended. */
void mmu_notifier_unregister(struct mmu_notifier *mn, struct mm_struct *mm);

#endif
