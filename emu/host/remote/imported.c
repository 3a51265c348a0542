// SPDX-License-Identifier: BSD-2-Clause
/*
 * imported.c - memory that a process elsewhere had before it came (its heap, say)
 * becomes memory of the board, where it is, and goes back.
 *
 * In both directions there is a time when the process copies and changes its
 * view by itself: the page is moving. It stays in its frame then, the table of
 * the CPU's view has no entry for it, a fault on it opens nothing and is to be
 * tried again, and no other call changes it.
 *
 * A page that was never touched has no contents to copy. It moves without a frame:
 * PTE_AWAY stands in its entry meanwhile, so that nobody brings it in.
 */
#include "host/internal.h"
#include "host/remote/remote_mm.h"

static int check_import(const struct host_mm *mm, uint64_t va, uint64_t npages)
{
	uint64_t end;

	if (!mm->ops->end || !va || va % HOST_PAGE || !npages ||
	    npages > REMOTE_END / HOST_PAGE ||
	    va > REMOTE_END - npages * HOST_PAGE)
		return -EINVAL;
	end = va + npages * HOST_PAGE;
	return end > mm->arena && va < mm->arena + HOST_ARENA_BYTES ? -EINVAL :
								      0;
}

static bool is_away(struct host_mm *mm, uint64_t va)
{
	return pte_away(pt_get(mm, va));
}

static struct host_frame *frame_of(struct host_mm *mm, uint64_t va)
{
	uint64_t d = pt_get(mm, va);

	return pte_resident(d) ? frame_at(mm, d & PTE_ADDR) : NULL;
}

/* ---- what the process has in hand; lock held ---- */

static bool any_busy(struct host_mm *mm, uint64_t va, uint64_t end, bool pins,
		     uint8_t held)
{
	struct host_frame *f;
	uint64_t d;

	for (va = pt_next(mm, va, end); va < end;
	     va = pt_next(mm, va + HOST_PAGE, end)) {
		d = pt_get(mm, va);
		f = pte_resident(d) ? frame_at(mm, d & PTE_ADDR) : NULL;
		if ((held & HELD_MOVING) && pte_away(d))
			return true;
		if (f && ((pins && f->pins) || (f->held & held)))
			return true;
	}
	return false;
}

/* What is kept may get other rights; what moves the process has open as it was. */
int imported_may_change(struct host_mm *mm, uint64_t va, uint64_t end, bool go)
{
	uint8_t held = go ? HELD_KEPT | HELD_MOVING : HELD_MOVING;

	return any_busy(mm, va, end, false, held) ? -EBUSY : 0;
}

/* What the process itself has held it needs no more. */
void imported_exit(struct host_mm *mm)
{
	struct host_frame *f;

	for (f = frame_taken(mm, 0); f; f = frame_taken(mm, f - mm->frame + 1))
		if (f->held)
			frame_keep(f, f->pins, 0);
}

/* ---- pages that move; lock held but for imported_hold() ---- */

static int hold_locked(struct host_mm *mm, uint64_t va, uint32_t *frame)
{
	struct host_frame *f;
	int err;

	if (is_away(mm, va))
		return -EBUSY;
	/* First the page: it has tables, and of these there are only so many. */
	err = fault_bring(mm, va);
	if (err >= 0)
		err = cpu_expect(mm, va);
	if (err < 0)
		return err;
	f = frame_of(mm, va);
	if (f->held & HELD_MOVING)
		return -EBUSY;
	frame_keep(f, f->pins, f->held | HELD_MOVING);
	*frame = (uint32_t)(f - mm->frame);
	return 0;
}

/* Zeros that nobody has ever asked for: no frame, no slot, and none on its way. */
static bool is_untouched(struct host_mm *mm, uint64_t va)
{
	struct host_map *m = map_find(mm, va);

	return m && !m->file && !pt_get(mm, va) && !fill_find(mm, va);
}

/* The tables are made now: later, when it is touched, is too late to say no. */
static int hold_untouched(struct host_mm *mm, uint64_t va, uint32_t *frame)
{
	int err = pt_prepare(mm, va);

	if (!err)
		err = cpu_expect(mm, va);
	if (err)
		return err;
	pt_set(mm, va, PTE_AWAY);
	*frame = HOST_NO_FRAME;
	return 0;
}

static void let_move_on(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	struct host_frame *f;

	for (; npages; npages--, va += HOST_PAGE) {
		f = frame_of(mm, va);
		if (f)
			frame_keep(f, f->pins, f->held & ~HELD_MOVING);
		else if (is_away(mm, va))
			pt_set(mm, va, 0);
	}
}

/* All or none. untouched: those that need no frame if nobody has touched them. */
static int imported_hold(struct host_mm *mm, uint64_t va, uint64_t npages,
			 uint64_t untouched, uint32_t *frame)
{
	uint64_t at;
	unsigned int tries;
	uint64_t i;
	int err = 0;

	for (i = 0; i < npages && !err; i++) {
		tries = 0;
		do {
			at = va + i * HOST_PAGE;
			sim_mutex_lock(&mm->lock);
			if (untouched >> i % 64 & 1 && is_untouched(mm, at))
				err = hold_untouched(mm, at, &frame[i]);
			else
				err = hold_locked(mm, at, &frame[i]);
			sim_mutex_unlock(&mm->lock);
		} while (fault_again(mm, err, &tries));
	}
	if (err) {
		sim_mutex_lock(&mm->lock);
		let_move_on(mm, va, i - 1);
		sim_mutex_unlock(&mm->lock);
	}
	return err == -EAGAIN ? -ENOMEM : err;
}

static bool all_moving(struct host_mm *mm, uint64_t va, uint64_t end)
{
	struct host_frame *f;

	for (; va < end; va += HOST_PAGE) {
		f = frame_of(mm, va);
		if (f ? !(f->held & HELD_MOVING) : !is_away(mm, va))
			return false;
	}
	return true;
}

/* Mapping and pages go; the process's view of them has gone already. */
static int imported_forget(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	uint64_t end = va + npages * HOST_PAGE, at;
	struct host_frame *f;
	int err;

	if (any_busy(mm, va, end, true, 0))
		return -EBUSY;
	err = map_split(mm, va, end);
	if (err)
		return err;
	for (at = va; at < end; at += HOST_PAGE) {
		f = frame_of(mm, at);
		if (f)
			frame_keep(f, f->pins, 0);
	}
	cpu_shut(mm, va, va + npages * HOST_PAGE);
	mm_drop(mm, va, npages);
	map_remove(mm, va, end);
	host_event(mm->k, EV_MM_UNMAP, mm->pid, va, npages, 0);
	return 0;
}

/* ---- in ---- */

static int import_map(struct host_mm *mm, uint64_t va, uint64_t npages,
		      int prot)
{
	struct host_map m = { .start = va, .prot = prot,
			      .end = va + npages * HOST_PAGE };
	struct host_map *next;
	int err = 0;

	mm_maps_write(mm);
	sim_mutex_lock(&mm->lock);
	next = map_behind(mm, va);
	if (next && next->start < m.end)
		err = -EEXIST;
	if (!err)
		err = map_room(mm, 1);
	if (!err)
		map_insert(mm, &m);
	sim_mutex_unlock(&mm->lock);
	mm_maps_end(mm);
	return err;
}

int host_import(struct host_process *p, uint64_t va, uint64_t npages, int prot,
		uint64_t untouched, uint32_t *frame)
{
	struct host_mm *mm = p->mm;
	int err = check_import(mm, va, npages);

	host_spend(p->k, T_CPU_SYSCALL);
	if (err || prot_bad(prot) || !prot || (untouched && npages > 64))
		return -EINVAL;
	err = import_map(mm, va, npages, prot_normal(prot));
	if (err)
		return err;
	err = imported_hold(mm, va, npages, untouched, frame);
	if (!err)
		return 0;
	mm_maps_write(mm);
	sim_mutex_lock(&mm->lock);
	/* Pinned meanwhile, it stays: a mapping like others. */
	imported_forget(mm, va, npages);
	sim_mutex_unlock(&mm->lock);
	mm_maps_end(mm);
	return err;
}

/* The CPU has written it, or will without being seen: it is dirty. */
static void imported_settle(struct host_mm *mm, uint64_t va, bool keep)
{
	struct host_map *m = map_find(mm, va);
	struct host_frame *f = frame_of(mm, va);

	if (!f) {
		pt_set(mm, va, 0);
		return;
	}
	frame_dirty(f);
	frame_keep(f, f->pins, keep ? HELD_KEPT : 0);
	pt_set(mm, va, pte_make(frame_pa(f), m->prot, true));
	cpu_opened(mm, va);
}

int host_imported(struct host_process *p, uint64_t va, uint64_t npages,
		  bool keep)
{
	uint64_t end = va + npages * HOST_PAGE, at;
	struct host_mm *mm = p->mm;
	int err = check_import(mm, va, npages);

	host_spend(p->k, T_CPU_SYSCALL);
	if (err)
		return err;
	mm_maps_write(mm);
	sim_mutex_lock(&mm->lock);
	if (!all_moving(mm, va, end))
		err = -EINVAL;
	/* What is never to be absent has to be there. */
	for (at = va; keep && !err && at < end; at += HOST_PAGE)
		err = is_away(mm, at) ? -EINVAL : 0;
	for (at = va; !err && at < end; at += HOST_PAGE)
		imported_settle(mm, at, keep);
	if (!err)
		map_merge(mm);
	sim_mutex_unlock(&mm->lock);
	mm_maps_end(mm);
	return err;
}

/* ---- out ---- */

/* Is all of it imported memory that can go? Lock held. */
static int check_return(struct host_mm *mm, uint64_t va, uint64_t end)
{
	if (!map_covers(mm, va, end))
		return -EINVAL;
	if (any_busy(mm, va, end, true, HELD_MOVING))
		return -EBUSY;
	return 0;
}

int host_return(struct host_process *p, uint64_t va, uint64_t npages,
		uint32_t *frame)
{
	struct host_mm *mm = p->mm;
	int err = check_import(mm, va, npages);

	host_spend(p->k, T_CPU_SYSCALL);
	if (err)
		return err;
	sim_mutex_lock(&mm->lock);
	err = check_return(mm, va, va + npages * HOST_PAGE);
	sim_mutex_unlock(&mm->lock);
	if (!err)
		err = imported_hold(mm, va, npages, ~0ull, frame);
	if (err)
		return err;
	/* From here on the process closes and opens them by itself. */
	sim_mutex_lock(&mm->lock);
	cpu_shut(mm, va, va + npages * HOST_PAGE);
	sim_mutex_unlock(&mm->lock);
	return 0;
}

int host_returned(struct host_process *p, uint64_t va, uint64_t npages)
{
	struct host_mm *mm = p->mm;
	int err = check_import(mm, va, npages);

	host_spend(p->k, T_CPU_SYSCALL);
	if (err)
		return err;
	mm_maps_write(mm);
	sim_mutex_lock(&mm->lock);
	err = all_moving(mm, va, va + npages * HOST_PAGE) ?
		      imported_forget(mm, va, npages) : -EINVAL;
	sim_mutex_unlock(&mm->lock);
	mm_maps_end(mm);
	return err;
}

int host_untouched(struct host_process *p, uint64_t va)
{
	struct host_mm *mm = p->mm;
	int r = check_import(mm, va, 1);

	if (r)
		return r;
	sim_mutex_lock(&mm->lock);
	r = is_untouched(mm, va) || is_away(mm, va);
	sim_mutex_unlock(&mm->lock);
	return r;
}
