// SPDX-License-Identifier: BSD-2-Clause
/*
 * mm.c - an address space: its life, and the calls that change its mappings (but for
 * new ones: mmap.c).
 */
#include <stdlib.h>

#include "host/internal.h"

/* ---- life ---- */

struct host_mm *mm_create(struct host_kernel *k, uint32_t pid, uint16_t asid,
			  const struct mm_ops *ops, int *error)
{
	struct host_mm *mm = calloc(1, ops->bytes);

	*error = -ENOMEM;
	if (!mm)
		return NULL;
	mm->k = k;
	mm->pid = pid;
	mm->asid = asid;
	mm->ops = ops;
	mm->bank = -1;
	atomic_init(&mm->refs, 1);
	atomic_init(&mm->users, 1);
	atomic_init(&mm->live, true);
	sim_waitq_init(&mm->mmap_lock.wait);
	sim_mutex_init(&mm->lock);
	sim_waitq_init(&mm->fills_wait);
	*error = frames_attach(mm);
	if (!*error)
		*error = pt_create(mm);
	if (!*error)
		*error = cpu_create(mm);
	if (!*error)
		return mm;
	pt_destroy(mm);
	frames_detach(mm);
	mm_put(mm);
	return NULL;
}

/*
 * Files are closed by now. Notifiers are released first, while the tables are
 * whole, so that the SMMU forgets them; then pages, then tables. A later
 * mm_fault() of a worker finds no mapping. No thread is left that could
 * use the CPU's view, or it is that of a process which is on its own now: in
 * its bank are its own pages alone. So nothing is closed, and nobody asked. What the
 * driver still has pinned stays, and the bank with it (pin.c).
 */
void mm_exit(struct host_mm *mm)
{
	struct mm_notifier *n, *next;

	mm_users_end(mm);
	atomic_store(&mm->live, false);
	sim_mutex_lock(&mm->lock);
	n = mm->notifiers;
	mm->notifiers = NULL;
	sim_mutex_unlock(&mm->lock);
	for (; n; n = next) {
		next = n->next;
		n->release(n, mm);
	}
	mm_maps_write(mm);
	sim_mutex_lock(&mm->lock);
	/* Frames that are being filled are part of the bank; no new ones begin. */
	fill_cancel(mm, 0, UINT64_MAX);
	while (mm->fills)
		fill_wait(mm);
	if (mm->ops->exit)
		mm->ops->exit(mm);
	cpu_destroy(mm);
	mm_drop(mm, 0, (1ull << HOST_VA_BITS) / HOST_PAGE);
	map_remove(mm, 0, UINT64_MAX);
	pt_destroy(mm);
	pins_outlive(mm);
	sim_mutex_unlock(&mm->lock);
	mm_maps_end(mm);
}

/* ---- what is there ---- */

int mm_lookup(struct host_mm *mm, uint64_t va, uint64_t *start, uint64_t *end,
	      int *prot)
{
	struct host_map *m;

	sim_mutex_lock(&mm->lock);
	m = map_find(mm, va);
	if (m) {
		*start = m->start;
		*end = m->end;
		*prot = m->prot;
	}
	sim_mutex_unlock(&mm->lock);
	return m ? 0 : -EFAULT;
}

bool mm_resident(struct host_mm *mm, uint64_t va)
{
	return pte_resident(pt_get(mm, va & ~(HOST_PAGE - 1)));
}

uint16_t mm_asid(const struct host_mm *mm)
{
	return mm->asid;
}

/* ---- pages of a range go for good ---- */

/* Take the resident ones from the tables; the notifiers hear of them. */
static void break_entries(struct host_mm *mm, uint64_t va, uint64_t end)
{
	uint64_t d, first = 0, last = 0;
	unsigned int resident = 0;
	struct host_frame *f;

	for (va = pt_next(mm, va, end); va < end;
	     va = pt_next(mm, va + HOST_PAGE, end)) {
		d = pt_get(mm, va);
		if (!pte_resident(d))
			continue;
		f = frame_at(mm, d & PTE_ADDR);
		assert(f->mm == mm && f->va == va && !f->held);
		if (f->pins)
			frame_orphan(f);
		else
			frame_unmap(f);
		/* Broken for hardware; the address stays until the frame goes.
		 */
		pt_set(mm, va, (d & ~PTE_TYPE) | PTE_NONE);
		if (!resident++)
			first = va;
		last = va;
	}
	if (resident)
		mm_invalidate(mm, first, (last - first) / HOST_PAGE + 1);
}

/* No entry is left, and the notifiers have heard of it. */
static void drop_frame(struct host_frame *f)
{
	if (f->slot != NO_SLOT)
		slot_put(f->mm, f->slot);
	f->slot = NO_SLOT;
	if (f->state == FRAME_ORPHAN)
		frame_orphaned(f);
	else
		frame_put(f);
}

void mm_drop(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	uint64_t end = va + npages * HOST_PAGE, d;

	fill_cancel(mm, va, end);
	break_entries(mm, va, end);
	for (va = pt_next(mm, va, end); va < end;
	     va = pt_next(mm, va + HOST_PAGE, end)) {
		d = pt_get(mm, va);
		pt_set(mm, va, 0);
		if (d & PTE_SWAP)
			slot_put(mm, pte_slot(d));
		if (!pte_resident(d))
			continue;
		drop_frame(frame_at(mm, d & PTE_ADDR));
	}
}

int mm_zap(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	int err = cpu_revoke(mm, va, npages);

	if (!err)
		mm_drop(mm, va, npages);
	return err;
}

/* What the process itself has in hand cannot go, or change, under its hands. */
static int mm_may_change(struct host_mm *mm, uint64_t va, uint64_t end, bool go)
{
	return mm->ops->may_change ? mm->ops->may_change(mm, va, end, go) : 0;
}

/* ---- system calls ---- */

int prot_normal(int prot)
{
	/* As on every CPU with pages: what may be written may be read. */
	return prot & HOST_WRITE ? HOST_READ | HOST_WRITE : prot;
}

bool prot_bad(int prot)
{
	return prot & ~(HOST_READ | HOST_WRITE);
}

static bool mm_in_arena(const struct host_mm *mm, uint64_t va, uint64_t len)
{
	return va >= mm->arena && va - mm->arena <= ARENA_MEMORY_BYTES - len;
}

int check_range(struct host_mm *mm, const void *addr, uint64_t *len,
		bool anywhere)
{
	uint64_t va = (uintptr_t)addr;

	if (va % HOST_PAGE || !*len || *len > 1ull << HOST_VA_BITS)
		return -EINVAL;
	*len = (*len + HOST_PAGE - 1) & ~(HOST_PAGE - 1);
	if (*len <= ARENA_MEMORY_BYTES && mm_in_arena(mm, va, *len))
		return 0;
	return anywhere && *len <= mm->ops->end && va <= mm->ops->end - *len ? 0 : -EINVAL;
}

int unmap_locked(struct host_mm *mm, uint64_t va, uint64_t len)
{
	int err;

	err = mm_may_change(mm, va, va + len, true);
	if (!err)
		err = map_split(mm, va, va + len);
	if (!err)
		err = mm_zap(mm, va, len / HOST_PAGE);
	if (err)
		return err;
	map_remove(mm, va, va + len);
	host_event(mm->k, EV_MM_UNMAP, mm->pid, va, len / HOST_PAGE, 0);
	return 0;
}

int host_munmap(struct host_process *p, void *addr, uint64_t len)
{
	struct host_mm *mm = p->mm;
	uint64_t va = (uintptr_t)addr;
	int err = check_range(mm, addr, &len, false);

	host_spend(p->k, T_CPU_SYSCALL);
	if (err)
		return err;
	mm_maps_write(mm);
	sim_mutex_lock(&mm->lock);
	err = unmap_locked(mm, va, len);
	sim_mutex_unlock(&mm->lock);
	mm_maps_end(mm);
	return err;
}

/* Rights of resident pages of the range, after the mappings have got theirs. */
static void protect_pages(struct host_mm *mm, uint64_t va, uint64_t end,
			  int prot)
{
	uint64_t at, d, first = 0, last = 0, new;
	unsigned int less = 0;
	struct host_frame *f;

	for (at = pt_next(mm, va, end); at < end;
	     at = pt_next(mm, at + HOST_PAGE, end)) {
		d = pt_get(mm, at);
		if (!pte_resident(d))
			continue;
		f = frame_at(mm, d & PTE_ADDR);
		new = pte_make(d & PTE_ADDR, prot, f->dirty);
		if (!(d & PTE_AF))
			new &= ~PTE_AF;
		if (new == d)
			continue;
		pt_set(mm, at, new);
		/* Old entries of a TLB must go in both directions. */
		if (d & PTE_VALID) {
			if (!less++)
				first = at;
			last = at;
		}
	}
	if (!less)
		return;
	mm_invalidate(mm, first, (last - first) / HOST_PAGE + 1);
	/* They are there still, with other rights. */
	for (at = pt_next(mm, first, last + 1); at <= last;
	     at = pt_next(mm, at + HOST_PAGE, last + 1))
		if (pte_resident(pt_get(mm, at)))
			mm_mapped(mm, at);
}

static int protect_locked(struct host_mm *mm, uint64_t va, uint64_t end,
			  int prot)
{
	struct host_map *m;
	uint64_t at;
	int err = map_cut(mm, va, end);

	if (err)
		return err;
	err = cpu_revoke(mm, va, (end - va) / HOST_PAGE);
	for (at = va; !err && at < end; at = m->end) {
		m = map_find(mm, at);
		m->prot = prot;
	}
	map_merge(mm);
	if (!err)
		protect_pages(mm, va, end, prot);
	return err;
}

static int protect_range(struct host_mm *mm, uint64_t va, uint64_t len, int prot)
{
	int err;

	mm_maps_write(mm);
	sim_mutex_lock(&mm->lock);
	err = mm_may_change(mm, va, va + len, false);
	if (!err)
		err = protect_locked(mm, va, va + len, prot);
	if (!err)
		host_event(mm->k, EV_MM_PROTECT, mm->pid, va, len / HOST_PAGE,
			   (uint64_t)prot);
	sim_mutex_unlock(&mm->lock);
	mm_maps_end(mm);
	return err;
}

int host_mprotect(struct host_process *p, void *addr, uint64_t len, int prot)
{
	uint64_t va = (uintptr_t)addr;
	struct host_mm *mm = p->mm;
	int err = check_range(mm, addr, &len, true);

	host_spend(p->k, T_CPU_SYSCALL);
	if (err || prot_bad(prot))
		return -EINVAL;
	return protect_range(mm, va, len, prot_normal(prot));
}

int advise_check(struct host_mm *mm, uint64_t va, uint64_t end,
		 enum host_advice a)
{
	if (!map_covers(mm, va, end))
		return -ENOMEM;
	return a == HOST_DONTNEED ? mm_may_change(mm, va, end, true) : 0;
}

static int advise_range(struct host_mm *mm, uint64_t va, uint64_t npages,
			enum host_advice a)
{
	int err;

	sim_mutex_lock(&mm->lock);
	err = advise_check(mm, va, va + npages * HOST_PAGE, a);
	if (!err && a == HOST_DONTNEED)
		err = mm_zap(mm, va, npages);
	else if (!err && a == HOST_PAGEOUT)
		err = evict_range(mm, va, npages);
	else if (!err && a == HOST_COLD)
		err = age_range(mm, va, npages, true);
	sim_mutex_unlock(&mm->lock);
	return err;
}

static int mm_bring(struct host_mm *mm, uint64_t va, uint64_t end,
		    unsigned int flags)
{
	int err = 0;

	for (; va < end && err >= 0; va += HOST_PAGE)
		err = mm_killed(mm) ? -EINTR : mm_fault(mm, va, flags);
	return err < 0 ? err : 0;
}

int host_madvise(struct host_process *p, void *addr, uint64_t len,
		 enum host_advice a)
{
	uint64_t va = (uintptr_t)addr;
	struct host_mm *mm = p->mm;
	int err = check_range(mm, addr, &len, true);

	host_spend(p->k, T_CPU_SYSCALL);
	if (err || (unsigned int)a > HOST_COLD)
		return -EINVAL;
	err = advise_range(mm, va, len / HOST_PAGE, a);
	if (!err && (a == HOST_WILLNEED || a == HOST_POPULATE))
		err = mm_bring(mm, va, va + len,
			       a == HOST_POPULATE ? HOST_FAULT_WRITE : 0);
	return err;
}
