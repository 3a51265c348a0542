// SPDX-License-Identifier: BSD-2-Clause
/*
 * mm.c - an address space: its life, the calls that change its mappings, and
 * the notifiers that hear of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/internal.h"

/* ---- life ---- */

struct host_mm *mm_create(struct host_kernel *k, uint32_t pid, uint16_t asid,
			  uint8_t *arena, int *error)
{
	struct host_mm *mm = calloc(1, sizeof(*mm));

	*error = -ENOMEM;
	if (!mm)
		return NULL;
	mm->k = k;
	mm->pid = pid;
	mm->asid = asid;
	mm->bank = -1;
	atomic_init(&mm->refs, 1);
	atomic_init(&mm->live, true);
	sim_mutex_init(&mm->lock);
	*error = frames_attach(mm);
	if (!*error)
		*error = pt_create(mm);
	if (!*error)
		*error = cpu_create(mm, arena);
	if (!*error)
		return mm;
	pt_destroy(mm);
	frames_detach(mm);
	mm_put(mm);
	return NULL;
}

void mm_get(struct host_mm *mm)
{
	atomic_fetch_add(&mm->refs, 1);
}

bool mm_get_live(struct host_mm *mm)
{
	if (!atomic_load(&mm->live))
		return false;
	mm_get(mm);
	return true;
}

void mm_put(struct host_mm *mm)
{
	if (atomic_fetch_sub(&mm->refs, 1) != 1)
		return;
	free(mm->map);
	free(mm->frame);
	free(mm->taken);
	free(mm);
}

/* Pins that the driver has forgotten: seen, said, and given back. */
static void drop_pins(struct host_mm *mm)
{
	uint64_t i, n = 0;

	for (i = 0; i < mm->frames; i++)
		if (mm->frame[i].mm == mm && mm->frame[i].pins) {
			mm->frame[i].pins = 0;
			n++;
		}
	if (!n)
		return;
	fprintf(stderr, "faultline: process %u ended with %llu pages pinned\n",
		mm->pid, (unsigned long long)n);
	host_event(mm->k, EV_SIM_VIOLATION, 5, 0, 0, 0);
}

/*
 * Files are closed by now. Notifiers are released first, while the tables are
 * whole, so that the SMMU forgets them; then pages, then tables. Who comes
 * later (mm_fault of a worker) finds no mapping.
 */
void mm_exit(struct host_mm *mm)
{
	struct mm_notifier *n, *next;

	atomic_store(&mm->live, false);
	sim_mutex_lock(&mm->lock);
	n = mm->notifiers;
	mm->notifiers = NULL;
	sim_mutex_unlock(&mm->lock);
	for (; n; n = next) {
		next = n->next;
		n->release(n, mm);
	}
	sim_mutex_lock(&mm->lock);
	drop_pins(mm);
	mm_zap(mm, (uintptr_t)mm->arena, ARENA_PAGES);
	map_remove(mm, 0, UINT64_MAX);
	pt_destroy(mm);
	cpu_destroy(mm);
	frames_detach(mm);
	sim_mutex_unlock(&mm->lock);
}

/* ---- notifiers ---- */

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

void mm_invalidate(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	struct mm_notifier *n;

	host_spend(mm->k, T_MM_INVALIDATE);
	host_count(&mm->k->count.invalidations, 1);
	for (n = mm->notifiers; n; n = n->next)
		n->invalidate(n, mm, va, va + npages * HOST_PAGE);
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

void mm_zap(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	uint64_t end = va + npages * HOST_PAGE, at, d, first = 0, last = 0;
	struct host_frame *f;
	unsigned int resident = 0;

	cpu_revoke(mm, va, npages);
	for (at = pt_next(mm, va, end); at < end;
	     at = pt_next(mm, at + HOST_PAGE, end)) {
		d = pt_get(mm, at);
		if (!pte_resident(d))
			continue;
		f = frame_at(mm, d & PTE_ADDR);
		assert(f->mm == mm && f->va == at && !f->pins);
		frame_unmap(f);
		/* Broken for hardware; the address stays until the frame goes.
		 */
		pt_set(mm, at, (d & ~PTE_TYPE) | PTE_NONE);
		if (!resident++)
			first = at;
		last = at;
	}
	if (resident)
		mm_invalidate(mm, first, (last - first) / HOST_PAGE + 1);
	for (at = pt_next(mm, va, end); at < end;
	     at = pt_next(mm, at + HOST_PAGE, end)) {
		d = pt_get(mm, at);
		pt_set(mm, at, 0);
		if (!pte_resident(d)) {
			swap_put(&mm->k->swap, pte_slot(d));
			continue;
		}
		f = frame_at(mm, d & PTE_ADDR);
		if (f->slot != NO_SLOT)
			swap_put(&mm->k->swap, f->slot);
		f->slot = NO_SLOT;
		frame_put(f);
	}
}

static bool any_pinned(struct host_mm *mm, uint64_t va, uint64_t end)
{
	uint64_t d;

	for (va = pt_next(mm, va, end); va < end;
	     va = pt_next(mm, va + HOST_PAGE, end)) {
		d = pt_get(mm, va);
		if (pte_resident(d) && frame_at(mm, d & PTE_ADDR)->pins)
			return true;
	}
	return false;
}

/* ---- system calls ---- */

static int normal_prot(int prot)
{
	/* As on every CPU with pages: what may be written may be read. */
	return prot & HOST_WRITE ? HOST_READ | HOST_WRITE : prot;
}

static bool bad_prot(int prot)
{
	return prot & ~(HOST_READ | HOST_WRITE);
}

/*
 * A range of addresses: aligned, not empty, inside the arena. Length is rounded
 * up.
 */
static int check_range(struct host_mm *mm, const void *addr, uint64_t *len)
{
	uint64_t va = (uintptr_t)addr, base = (uintptr_t)mm->arena;

	if (va % HOST_PAGE || !*len || *len > ARENA_MEMORY_BYTES)
		return -EINVAL;
	*len = (*len + HOST_PAGE - 1) & ~(HOST_PAGE - 1);
	if (va < base || va - base > ARENA_MEMORY_BYTES - *len)
		return -EINVAL;
	return 0;
}

void *host_mmap(struct host_process *p, uint64_t len, int prot,
		const char *path, uint64_t offset, int *error)
{
	struct host_map m = { .prot = normal_prot(prot) };
	struct host_mm *mm = p->mm;

	host_spend(p->k, T_CPU_SYSCALL);
	*error = -EINVAL;
	if (!len || bad_prot(prot) || offset % HOST_PAGE)
		return NULL;
	*error = -ENOMEM;
	if (len > ARENA_MEMORY_BYTES)
		return NULL;
	len = (len + HOST_PAGE - 1) & ~(HOST_PAGE - 1);
	if (path) {
		m.file = source_open(path, error);
		if (!m.file)
			return NULL;
		m.offset = offset;
		m.file->maps = 1;
	}
	sim_mutex_lock(&mm->lock);
	*error = map_room(mm, 1);
	m.start = *error ? 0 : map_gap(mm, len);
	if (!*error && !m.start)
		*error = -ENOMEM;
	if (!*error) {
		m.end = m.start + len;
		map_insert(mm, &m);
	}
	if (m.file)
		source_put(m.file);	/* the list has its own count */
	sim_mutex_unlock(&mm->lock);
	return *error ? NULL : (void *)(uintptr_t)m.start;
}

int host_munmap(struct host_process *p, void *addr, uint64_t len)
{
	uint64_t va = (uintptr_t)addr, at, end;
	struct host_mm *mm = p->mm;
	struct host_map *m;
	int err = check_range(mm, addr, &len);

	host_spend(p->k, T_CPU_SYSCALL);
	if (err)
		return err;
	end = va + len;
	sim_mutex_lock(&mm->lock);
	/* Holes are allowed, as Linux has it; cut mapping by mapping. */
	err = map_room(mm, 2);
	if (!err && any_pinned(mm, va, end))
		err = -EBUSY;
	for (at = va; !err && at < end; at += HOST_PAGE) {
		m = map_find(mm, at);
		if (!m)
			continue;
		at = m->end < end ? m->end : end;
		err = map_cut(mm, m->start < va ? va : m->start, at);
		at -= HOST_PAGE;
	}
	if (!err) {
		mm_zap(mm, va, len / HOST_PAGE);
		map_remove(mm, va, end);
		host_event(p->k, EV_MM_UNMAP, mm->pid, va, len / HOST_PAGE, 0);
	}
	sim_mutex_unlock(&mm->lock);
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
	if (less)
		mm_invalidate(mm, first, (last - first) / HOST_PAGE + 1);
}

int host_mprotect(struct host_process *p, void *addr, uint64_t len, int prot)
{
	uint64_t va = (uintptr_t)addr, at;
	struct host_mm *mm = p->mm;
	int err = check_range(mm, addr, &len);
	struct host_map *m;

	host_spend(p->k, T_CPU_SYSCALL);
	if (err || bad_prot(prot))
		return -EINVAL;
	prot = normal_prot(prot);
	sim_mutex_lock(&mm->lock);
	err = map_cut(mm, va, va + len);
	if (!err) {
		for (at = va; at < va + len; at = m->end) {
			m = map_find(mm, at);
			m->prot = prot;
		}
		map_merge(mm);
		cpu_revoke(mm, va, len / HOST_PAGE);
		protect_pages(mm, va, va + len, prot);
		host_event(p->k, EV_MM_PROTECT, mm->pid, va, len / HOST_PAGE,
			   (uint64_t)prot);
	}
	sim_mutex_unlock(&mm->lock);
	return err;
}

static bool all_mapped(struct host_mm *mm, uint64_t va, uint64_t end)
{
	struct host_map *m;

	for (; va < end; va = m->end) {
		m = map_find(mm, va);
		if (!m)
			return false;
	}
	return true;
}

static int advise_locked(struct host_mm *mm, uint64_t va, uint64_t npages,
			 enum host_advice a)
{
	if (!all_mapped(mm, va, va + npages * HOST_PAGE))
		return -ENOMEM;
	switch (a) {
	case HOST_DONTNEED:
		if (any_pinned(mm, va, va + npages * HOST_PAGE))
			return -EBUSY;
		mm_zap(mm, va, npages);
		return 0;
	case HOST_PAGEOUT:
		return evict_range(mm, va, npages);
	case HOST_COLD:
		age_range(mm, va, npages);
		return 0;
	default:
		return 0;
	}
}

int host_madvise(struct host_process *p, void *addr, uint64_t len,
		 enum host_advice a)
{
	uint64_t va = (uintptr_t)addr, end;
	struct host_mm *mm = p->mm;
	int err = check_range(mm, addr, &len);

	host_spend(p->k, T_CPU_SYSCALL);
	if (err || (unsigned int)a > HOST_COLD)
		return -EINVAL;
	sim_mutex_lock(&mm->lock);
	err = advise_locked(mm, va, len / HOST_PAGE, a);
	sim_mutex_unlock(&mm->lock);
	if (err || (a != HOST_WILLNEED && a != HOST_POPULATE))
		return err;
	for (end = va + len; va < end && err >= 0; va += HOST_PAGE)
		err = mm_fault(mm, va,
			       a == HOST_POPULATE ? HOST_FAULT_WRITE : 0);
	return err < 0 ? err : 0;
}
