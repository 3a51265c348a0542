// SPDX-License-Identifier: BSD-2-Clause
/*
 * reclaim.c - whose page goes. A clock over all frames of the board: a page
 * that was used since the hand's last visit loses its access flag and gets a
 * second chance; one that was not goes out (evict.c). A process that is at its
 * own limit has a clock over its own frames.
 */
#include "host/internal.h"

/*
 * After so many flags cleared in one call without a page that can go, the first
 * of them goes, if it was not used meanwhile: a full turn over a large memory
 * that is all in use would cost an invalidation for each page of it.
 */
#define AGE_MAX 64
/* ---- the clock ---- */

enum look {
	LOOK_EVICTED,
	LOOK_AGED,
	LOOK_KEPT,	/* pinned, no swap, or it went elsewhere meanwhile */
	LOOK_LOCKED,	/* its owner's lock is taken */
	LOOK_SLOW,	/* its owner does not close it */
};

static int age_around(struct host_mm *owner, uint64_t va)
{
	uint64_t n = owner->ops->age_pages;

	return age_range(owner, va & ~(n * HOST_PAGE - 1), n, false);
}

static enum look reclaim_look_at(struct host_mm *owner, struct host_frame *f)
{
	struct host_kernel *k = owner->k;
	bool same;
	int err;

	/* Its owner's lock is held: from here on it stays what it is. */
	sim_spin_lock(&k->frames_lock);
	same = f->mm == owner && f->state == FRAME_MAPPED;
	sim_spin_unlock(&k->frames_lock);
	if (!same || frame_stays(f))
		return LOOK_KEPT;
	if (mm_slow(owner))
		return LOOK_SLOW;
	if (pt_get(owner, f->va) & PTE_AF)
		return age_around(owner, f->va) ? LOOK_SLOW : LOOK_AGED;
	err = evict_range(owner, f->va, 1);
	if (err == -EBUSY)
		return LOOK_SLOW;
	return err ? LOOK_KEPT : LOOK_EVICTED;
}

/* The frame under the hand, with a reference on its owner; the hand moves on.
 */
static struct host_frame *reclaim_advance(struct host_kernel *k,
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

/*
 * Never wait for a second mm: its holder may wait for ours. A slow one is not
 * even asked.
 */
static enum look try_one(struct host_mm *owner, struct host_mm *held,
			 struct host_frame *f)
{
	enum look l;

	if (owner == held)
		return reclaim_look_at(owner, f);
	if (mm_slow(owner))
		return LOOK_SLOW;
	if (!sim_mutex_trylock(&owner->lock))
		return LOOK_LOCKED;
	l = reclaim_look_at(owner, f);
	sim_mutex_unlock(&owner->lock);
	return l;
}

/* What stood in the way, when nothing could go. */
static int reclaim_blame(bool locked, bool slow)
{
	if (locked)
		return -EAGAIN;
	return slow ? -EBUSY : -ENOMEM;
}

/*
 * Frames that are on no clock, since somebody fills them or gives them back. Orphans
 * are on none either, but may stay away for as long as the driver likes.
 */
static bool in_transit(struct host_kernel *k)
{
	bool some;

	sim_spin_lock(&k->frames_lock);
	some = k->frames_used > k->clock_frames + k->frames_orphaned;
	sim_spin_unlock(&k->frames_lock);
	return some;
}

int reclaim_one(struct host_kernel *k, struct host_mm *held)
{
	struct host_frame *f, *first = NULL;
	struct host_mm *owner, *first_owner = NULL;
	uint64_t steps, aged = 0;
	bool locked = false, slow = false;
	enum look l = LOOK_KEPT;

	sim_spin_lock(&k->frames_lock);
	steps = 2 * k->clock_frames + AGE_MAX;
	sim_spin_unlock(&k->frames_lock);
	for (; steps && l != LOOK_EVICTED; steps--) {
		f = reclaim_advance(k, &owner);
		if (!f)
			break;
		l = try_one(owner, held, f);
		locked |= l == LOOK_LOCKED;
		slow |= l == LOOK_SLOW;
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
	return l == LOOK_EVICTED ? 0 :
	       reclaim_blame(locked || in_transit(k), slow);
}

/* The next frame that mm has, in the order of the bank. */
static struct host_frame *own_next(struct host_mm *mm)
{
	uint64_t i = mm->hand, n;

	/* The last word's surplus counts as taken, and is nobody's. */
	for (n = 0; n < 2 * mm->frames; n++, i = (i + 1) % mm->frames) {
		if (!(i % 64) && i + 64 <= mm->frames && !mm->taken[i / 64]) {
			i += 63;
			continue;
		}
		if (mm->taken[i / 64] >> i % 64 & 1)
			break;
	}
	mm->hand = (i + 1) % mm->frames;
	return &mm->frame[i];
}

int reclaim_own(struct host_mm *mm)
{
	uint64_t steps = 2 * mm->used + AGE_MAX, aged = 0, first = 0;
	bool slow = false;
	struct host_frame *f;
	enum look l;

	for (; mm->used && steps; steps--) {
		f = own_next(mm);
		l = reclaim_look_at(mm, f);
		if (l == LOOK_EVICTED)
			return 0;
		slow |= l == LOOK_SLOW;
		if (l == LOOK_AGED && !aged++)
			first = (uint64_t)(f - mm->frame);
		if (l == LOOK_AGED && aged == AGE_MAX)
			mm->hand = first;
	}
	return reclaim_blame(mm->fills, slow);
}

int reclaim_wait(struct host_kernel *k)
{
	struct host_mm *owner;
	int err = -ENOMEM;

	if (!reclaim_advance(k, &owner))
		return err;
	if (mm_slow(owner)) {
		mm_put(owner);
		return -EBUSY;
	}
	sim_mutex_lock(&owner->lock);
	/* Meanwhile it may have ended; then it has nothing that could go. */
	if (atomic_load(&owner->live))
		err = reclaim_one(k, owner);
	sim_mutex_unlock(&owner->lock);
	mm_put(owner);
	return err;
}

/* ---- a frame, from wherever it can be had ---- */

static bool frame_fail_injected(struct host_kernel *k)
{
	bool fail;

	sim_spin_lock(&k->frames_lock);
	fail = k->fail_frames;
	k->fail_frames -= fail;
	sim_spin_unlock(&k->frames_lock);
	return fail;
}

int frame_get(struct host_mm *mm, uint64_t va, struct host_frame **out)
{
	int err = frame_fail_injected(mm->k) ? -ENOMEM : 0;

	while (!err) {
		if (frames_full(mm))
			err = reclaim_own(mm);
		else if ((*out = frame_take(mm, va)))
			break;
		else
			err = reclaim_one(mm->k, mm);
	}
	if (err == -EBUSY)
		err = -EAGAIN;
	if (err == -ENOMEM)
		host_event(mm->k, EV_MM_NO_FRAME, mm->pid, va, 0, 0);
	return err;
}
