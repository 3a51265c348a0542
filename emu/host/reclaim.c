// SPDX-License-Identifier: BSD-2-Clause
/*
 * reclaim.c - taking pages away. A clock over all frames of the board: a page
 * that was used since the hand's last visit loses its access flag and gets a
 * second chance; one that was not goes out.
 *
 * Order of every eviction (break before make): the CPU's view is closed, the
 * entries are cleared, the notifiers invalidate and synchronise, the contents
 * are written, and only then is the frame somebody else's.
 */
#include "host/internal.h"

/*
 * After so many flags cleared in one call without a page that can go, the first
 * of them goes, if it was not used meanwhile: a full turn over a large memory
 * that is all in use would cost an invalidation for each page of it.
 */
#define AGE_MAX 64
#define BATCH	64	/* pages that one invalidation covers */

/* ---- a run of pages ---- */

/* Close the CPU's view of the pages with an access flag, and clear the flags.
 */
uint64_t age_range(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	uint64_t end = va + npages * HOST_PAGE, n = 0, first = 0, last = 0, d;

	cpu_revoke(mm, va, npages);
	for (va = pt_next(mm, va, end); va < end;
	     va = pt_next(mm, va + HOST_PAGE, end)) {
		d = pt_get(mm, va);
		if (!pte_resident(d) || !(d & PTE_AF))
			continue;
		pt_set(mm, va, d & ~PTE_AF);
		host_event(mm->k, EV_MM_AGE, mm->pid, va, 0, 0);
		if (!n++)
			first = va;
		last = va;
	}
	host_count(&mm->k->count.ages, n);
	if (n)
		mm_invalidate(mm, first, (last - first) / HOST_PAGE + 1);
	return n;
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
static int choose(struct host_mm *mm, uint64_t va, unsigned int n,
		  struct victim *v)
{
	struct host_frame *f;
	unsigned int i;
	int err = 0;

	for (i = 0; i < n; i++) {
		v[i].frame = NULL;
		v[i].desc = pt_get(mm, va + i * HOST_PAGE);
		if (!pte_resident(v[i].desc))
			continue;
		f = frame_at(mm, v[i].desc & PTE_ADDR);
		assert(f && f->mm == mm && f->va == va + i * HOST_PAGE);
		if (f->pins)
			continue;
		v[i].write = f->dirty;
		if (f->dirty) {
			assert(f->slot == NO_SLOT);
			f->slot = swap_get(&mm->k->swap);
			if (f->slot == NO_SLOT) {
				err = -ENOSPC;
				continue;
			}
		}
		v[i].frame = f;
	}
	return err;
}

/*
 * The entries are gone and nobody looks any more: store, and give the frame
 * back.
 */
static int let_go(struct host_mm *mm, struct victim *v)
{
	struct host_frame *f = v->frame;
	struct host_kernel *k = mm->k;
	uint64_t va = f->va;

	if (v->write) {
		host_spend(k, T_MM_WRITEBACK);
		if (swap_write(&k->swap, f->slot, frame_mem(f))) {
			swap_put(&k->swap, f->slot);
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
	return 0;
}

static int evict_batch(struct host_mm *mm, uint64_t va, unsigned int n)
{
	struct victim v[BATCH];
	unsigned int i, first = n, last = 0;
	int err = choose(mm, va, n, v), r;

	for (i = 0; i < n; i++)
		if (v[i].frame) {
			first = first < i ? first : i;
			last = i;
		}
	if (first == n)
		return err;
	cpu_revoke(mm, va + first * HOST_PAGE, last - first + 1);
	for (i = first; i <= last; i++)
		if (v[i].frame) {
			frame_unmap(v[i].frame);
			pt_set(mm, va + i * HOST_PAGE, 0);
		}
	mm_invalidate(mm, va + first * HOST_PAGE, last - first + 1);
	for (i = first; i <= last; i++)
		if (v[i].frame) {
			r = let_go(mm, &v[i]);
			err = r ? r : err;
		}
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
	}
	return err;
}

/* ---- the clock ---- */

enum look {
	LOOK_EVICTED,
	LOOK_AGED,
	LOOK_KEPT,	/* pinned, no swap, or it went elsewhere meanwhile */
	LOOK_LOCKED,	/* its owner's lock is taken */
};

static enum look look_at(struct host_mm *owner, struct host_frame *f)
{
	struct host_kernel *k = owner->k;
	bool same;

	/* Its owner's lock is held: from here on it stays what it is. */
	sim_spin_lock(&k->frames_lock);
	same = f->mm == owner && f->state == FRAME_MAPPED;
	sim_spin_unlock(&k->frames_lock);
	if (!same || f->pins)
		return LOOK_KEPT;
	if (pt_get(owner, f->va) & PTE_AF) {
		age_range(owner, f->va, 1);
		return LOOK_AGED;
	}
	return evict_range(owner, f->va, 1) ? LOOK_KEPT : LOOK_EVICTED;
}

/* The frame under the hand, with a reference on its owner; the hand moves on.
 */
static struct host_frame *advance(struct host_kernel *k,
				  struct host_mm **owner)
{
	struct host_frame *f;

	sim_spin_lock(&k->frames_lock);
	f = k->hand;
	if (f) {
		k->hand = f->next;
		*owner = f->mm;
		mm_get(*owner);
	}
	sim_spin_unlock(&k->frames_lock);
	return f;
}

/* Put the hand back to f if that is still on the clock. */
static void rewind_to(struct host_kernel *k, struct host_frame *f)
{
	sim_spin_lock(&k->frames_lock);
	if (f->state == FRAME_MAPPED)
		k->hand = f;
	sim_spin_unlock(&k->frames_lock);
}

int reclaim_one(struct host_kernel *k, struct host_mm *held)
{
	struct host_frame *f, *first = NULL;
	struct host_mm *owner, *first_owner = NULL;
	uint64_t steps, aged = 0;
	bool locked = false;
	enum look l = LOOK_KEPT;

	sim_spin_lock(&k->frames_lock);
	steps = 2 * k->clock_frames + AGE_MAX;
	sim_spin_unlock(&k->frames_lock);
	for (; steps && l != LOOK_EVICTED; steps--) {
		f = advance(k, &owner);
		if (!f)
			break;
		l = LOOK_LOCKED;
		/* Never wait for a second mm: its holder may wait for ours. */
		if (owner == held || sim_mutex_trylock(&owner->lock)) {
			l = look_at(owner, f);
			if (owner != held)
				sim_mutex_unlock(&owner->lock);
		}
		locked |= l == LOOK_LOCKED;
		if (l == LOOK_AGED && !aged++) {
			first = f;
			first_owner = owner;	/* the reference goes along */
			continue;
		}
		if (l == LOOK_AGED && aged == AGE_MAX)
			rewind_to(k, first);
		mm_put(owner);
	}
	if (first_owner)
		mm_put(first_owner);
	if (l == LOOK_EVICTED)
		return 0;
	return locked ? -EAGAIN : -ENOMEM;
}

int reclaim_wait(struct host_kernel *k)
{
	struct host_mm *owner;
	int err = -ENOMEM;

	if (!advance(k, &owner))
		return err;
	sim_mutex_lock(&owner->lock);
	/* Meanwhile it may have ended; then it has nothing that could go. */
	if (atomic_load(&owner->live))
		err = reclaim_one(k, owner);
	sim_mutex_unlock(&owner->lock);
	mm_put(owner);
	return err;
}
