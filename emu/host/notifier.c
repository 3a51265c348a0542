// SPDX-License-Identifier: BSD-2-Clause
/*
 * notifier.c - whoever wants to hear what becomes of an address space (the driver, for
 * translations that the card has), and what it hears. As Linux's mmu notifiers.
 */
#include "host/internal.h"

int mm_notifier_register(struct host_mm *mm, struct mm_notifier *n)
{
	int err = -ESRCH;

	sim_mutex_lock(&mm->lock);
	if (atomic_load(&mm->live)) {
		n->next = mm->notifiers;
		mm->notifiers = n;
		err = 0;
	}
	sim_mutex_unlock(&mm->lock);
	return err;
}

void mm_notifier_unregister(struct host_mm *mm, struct mm_notifier *n)
{
	struct mm_notifier **p;

	sim_mutex_lock(&mm->lock);
	for (p = &mm->notifiers; *p; p = &(*p)->next)
		if (*p == n) {
			*p = n->next;
			break;
		}
	sim_mutex_unlock(&mm->lock);
}

void mm_aged(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	struct mm_notifier *n;

	host_spend(mm->k, T_MM_INVALIDATE);
	host_count(&mm->k->count.invalidations, 1);
	for (n = mm->notifiers; n; n = n->next)
		n->age(n, mm, va, va + npages * HOST_PAGE);
}

void mm_invalidate(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	struct mm_notifier *n;

	host_spend(mm->k, T_MM_INVALIDATE);
	host_count(&mm->k->count.invalidations, 1);
	for (n = mm->notifiers; n; n = n->next)
		n->invalidate(n, mm, va, va + npages * HOST_PAGE);
}

void mm_mapped(struct host_mm *mm, uint64_t va)
{
	struct mm_notifier *n;

	for (n = mm->notifiers; n; n = n->next)
		if (n->mapped)
			n->mapped(n, mm, va, va + HOST_PAGE);
}

bool mm_mapped_heard(const struct host_mm *mm)
{
	struct mm_notifier *n;

	for (n = mm->notifiers; n; n = n->next)
		if (n->hears && n->hears(n))
			return true;
	return false;
}
