// SPDX-License-Identifier: BSD-2-Clause
/*
 * evict.c - taking a run of pages away, or their access flags.
 *
 * Order of every eviction (break before make): the CPU's view is closed, the
 * entries are cleared, the notifiers invalidate and synchronise, the contents
 * are written, and only then is the frame somebody else's. When the CPU's view
 * cannot be closed in time nothing of it happens.
 */
#include "host/internal.h"

#define BATCH	64	/* pages that one invalidation covers */

/* Close the CPU's view of the pages with an access flag, and clear the flags.
 */
int age_range(struct host_mm *mm, uint64_t va, uint64_t npages, bool pinned)
{
	/* tag::invalidate-6[] */
	uint64_t end = va + npages * HOST_PAGE, n = 0, first = 0, last = 0, d;
	struct host_frame *f;
	int err = cpu_revoke(mm, va, npages);

	if (err)
		return err;
	for (va = pt_next(mm, va, end); va < end;
	     va = pt_next(mm, va + HOST_PAGE, end)) {
		d = pt_get(mm, va);
		if (!pte_resident(d) || !(d & PTE_AF))
			continue;
		f = frame_at(mm, d & PTE_ADDR);
		if (f->held || (!pinned && f->pins))
			continue;
		pt_set(mm, va, d & ~PTE_AF);
		host_event(mm->k, EV_MM_AGE, mm->pid, va, 0, 0);
		if (!n++)
			first = va;
		last = va;
	}
	host_count(&mm->k->count.ages, n);
	if (n)
		mm_aged(mm, first, (last - first) / HOST_PAGE + 1);
	return 0;
	/* end::invalidate-6[] */
}

struct victim {
	struct host_frame *frame;
	uint64_t desc;
	bool write;	/* its contents must go to f->slot */
};

/*
 * What goes of this run? Dirty pages get their swap slot now: a page for which
 * there is none is not touched.
 */
static int evict_choose(struct host_mm *mm, uint64_t va, unsigned int n,
			struct victim *v)
{
	struct host_frame *f;
	unsigned int i;
	int err = 0;

	/* tag::invalidate-7[] */
	for (i = 0; i < n; i++) {
		v[i].frame = NULL;
		v[i].desc = pt_get(mm, va + i * HOST_PAGE);
		if (!pte_resident(v[i].desc))
			continue;
		f = frame_at(mm, v[i].desc & PTE_ADDR);
		assert(f && f->mm == mm && f->va == va + i * HOST_PAGE);
		if (frame_stays(f))
			continue;
		v[i].write = f->dirty;
		if (f->dirty) {
			assert(f->slot == NO_SLOT);
			f->slot = slot_get(mm);
			if (f->slot == NO_SLOT) {
				err = -ENOSPC;
				continue;
			}
		}
		v[i].frame = f;
	}
	/* end::invalidate-7[] */
	return err;
}

/*
 * The entries are gone and nobody looks any more: store, and give the frame
 * back.
 */
static int evict_let_go(struct host_mm *mm, struct victim *v)
{
	struct host_frame *f = v->frame;
	struct host_kernel *k = mm->k;
	uint64_t va = f->va;

	/* tag::invalidate-9[] */
	if (v->write) {
		host_wait_storage(k, T_MM_WRITEBACK);
		if (swap_write(&k->swap, f->slot, frame_mem(f))) {
			slot_put(mm, f->slot);
			f->slot = NO_SLOT;
			pt_set(mm, va, v->desc);
			frame_map(f);
			return -EIO;
		}
		host_count(&k->count.swap_outs, 1);
	}
	/* Clean: as it was before it came (zeros, file, the copy in swap). */
	pt_set(mm, va, f->slot == NO_SLOT ? 0 : pte_swap(f->slot));
	f->slot = NO_SLOT;	/* the entry owns it now */
	host_count(&k->count.evictions, 1);
	host_event(k, EV_MM_EVICT, mm->pid, va, frame_pa(f), v->write ? 2 : 0);
	frame_put(f);
	/* end::invalidate-9[] */
	return 0;
}

/* They stay, and need no place in swap. */
static void evict_spare(struct host_mm *mm, struct victim *v, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (v[i].frame && v[i].write) {
			slot_put(mm, v[i].frame->slot);
			v[i].frame->slot = NO_SLOT;
		}
}

/* What may go: evict_choose() and its like change frames whose entries stay for now. */
static void note_run(struct host_mm *mm, uint64_t va, unsigned int n)
{
	unsigned int i;
	uint64_t d;

	for (i = 0; mm->k->watch && i < n; i++) {
		d = pt_get(mm, va + i * HOST_PAGE);
		if (pte_resident(d))
			frame_note(mm, frame_at(mm, d & PTE_ADDR));
	}
}

static int evict_batch(struct host_mm *mm, uint64_t va, unsigned int n)
{
	struct victim v[BATCH];
	unsigned int i, first = n, last = 0;
	int err, r;

	note_run(mm, va, n);
	err = evict_choose(mm, va, n, v);
	for (i = 0; i < n; i++)
		if (v[i].frame) {
			first = first < i ? first : i;
			last = i;
		}
	if (first == n)
		return err;
	/* tag::invalidate-8[] */
	r = cpu_revoke(mm, va + first * HOST_PAGE, last - first + 1);
	if (r) {
		evict_spare(mm, v, n);
		return r;
	}
	for (i = first; i <= last; i++)
		if (v[i].frame) {
			frame_unmap(v[i].frame);
			pt_set(mm, va + i * HOST_PAGE, 0);
		}
	mm_invalidate(mm, va + first * HOST_PAGE, last - first + 1);
	for (i = first; i <= last; i++)
		if (v[i].frame) {
			r = evict_let_go(mm, &v[i]);
			err = r ? r : err;
		}
	/* end::invalidate-8[] */
	return err;
}

int evict_range(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	uint64_t end = va + npages * HOST_PAGE, n;
	int err = 0, r;

	for (va = pt_next(mm, va, end); va < end;
	     va = pt_next(mm, va + n * HOST_PAGE, end)) {
		n = (end - va) / HOST_PAGE;
		if (n > BATCH)
			n = BATCH;
		r = evict_batch(mm, va, (unsigned int)n);
		err = r ? r : err;
		/* A process that did not answer now will not the next time. */
		if (r == -EBUSY || r == -EAGAIN)
			break;
	}
	return err;
}
