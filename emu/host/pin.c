// SPDX-License-Identifier: BSD-2-Clause
/*
 * pin.c - frames that the driver keeps for a device.
 *
 * As on Linux a pin belongs to a frame and not to an address. What is pinned is never
 * evicted. But its process may unmap the page, throw its contents away, or end: the
 * mapping goes at once, with its invalidation, and the frame stays as an orphan. A
 * device with a translation of its own goes on reading and writing it, and what is
 * mapped at that address next has another frame. With its last pin an orphan is free.
 */
#include <stdio.h>

#include "host/internal.h"
#include "sim/sim.h"

/* So many pages that are there take about a microsecond: sim_worked(). */
#define PAGES_A_WORK	16u

static int pin_page(struct host_mm *mm, uint64_t va, bool write,
		    struct host_frame **out)
{
	unsigned int tries = 0;
	struct host_frame *f;
	int r;

	do {
		sim_mutex_lock(&mm->lock);
		r = fault_locked(mm, va, write);
		if (r >= 0) {
			f = frame_at(mm, pt_get(mm, va) & PTE_ADDR);
			frame_keep(f, f->pins + 1, f->held);
			/* Its owner may end first: the frame is part of it. */
			mm_get(mm);
			*out = f;
		}
		sim_mutex_unlock(&mm->lock);
	} while (fault_again(mm, r, &tries));
	if (r == -EAGAIN)
		r = -ENOMEM;
	if (r == -ESTALE)
		r = -EFAULT;
	if (r < 0)
		return r;
	fault_spend(mm->k, r);
	host_spend(mm->k, T_MM_PIN);
	host_count(&mm->k->count.pins, 1);
	return 0;
}

long mm_pin(struct host_mm *mm, uint64_t va, uint64_t npages, bool write,
	    struct host_frame **frame)
{
	uint64_t i;
	int err = 0;

	if (va % HOST_PAGE || !npages)
		return -EINVAL;
	host_spend(mm->k, T_MM_LOOKUP);
	for (i = 0; i < npages && !err; i++) {
		if (i % PAGES_A_WORK == 0)
			sim_worked();
		err = pin_page(mm, va + i * HOST_PAGE, write, &frame[i]);
	}
	if (err)
		i--;
	if (i)
		host_event(mm->k, EV_MM_PIN, mm->pid, va, i, 0);
	/* As Linux: what was pinned, and the error only when nothing was. */
	return i ? (long)i : err;
}

/* The process has ended, and this was the last frame of it that was pinned. */
static void bank_close(struct host_mm *mm)
{
	struct host_mm **p;

	sim_spin_lock(&mm->k->frames_lock);
	for (p = &mm->k->ended; *p != mm; p = &(*p)->ended_next)
		;
	*p = mm->ended_next;
	sim_spin_unlock(&mm->k->frames_lock);
	frames_detach(mm);
}

/* Lock held. */
static void unpin_page(struct host_frame *f, bool dirty)
{
	struct host_mm *mm = f->mm;
	uint64_t d;

	assert(f->pins);
	frame_keep(f, f->pins - 1, f->held);
	if (f->state == FRAME_ORPHAN) {
		if (f->pins)
			return;
		frame_put(f);
		if (!mm->root && !mm->orphans)
			bank_close(mm);
		return;
	}
	d = pt_get(mm, f->va);
	assert(pte_resident(d) && (d & PTE_ADDR) == frame_pa(f));
	if (dirty && (d & PTE_DBM) && !f->dirty) {
		frame_dirty(f);
		pt_set(mm, f->va, d | PTE_DIRTY);
	}
}

void mm_unpin(struct host_frame *const *frame, uint64_t npages, bool dirty)
{
	struct host_kernel *k;
	uint64_t i, va;
	uint32_t pid;

	if (!npages)
		return;
	k = frame[0]->mm->k;
	pid = frame[0]->mm->pid;
	va = frame[0]->va;
	for (i = 0; i < npages; i++) {
		/* Pinned, it stays whose it is. */
		struct host_mm *mm = frame[i]->mm;

		if (i % PAGES_A_WORK == 0)
			sim_worked();
		host_spend(k, T_MM_UNPIN);
		sim_mutex_lock(&mm->lock);
		unpin_page(frame[i], dirty);
		sim_mutex_unlock(&mm->lock);
		mm_put(mm);
	}
	host_event(k, EV_MM_UNPIN, pid, va, npages, 0);
}

void pins_outlive(struct host_mm *mm)
{
	if (!mm->orphans) {
		frames_detach(mm);
		return;
	}
	sim_spin_lock(&mm->k->frames_lock);
	mm->ended_next = mm->k->ended;
	mm->k->ended = mm;
	sim_spin_unlock(&mm->k->frames_lock);
}

void pins_forgotten(struct host_kernel *k)
{
	struct host_frame *f;
	struct host_mm *mm;
	uint64_t i, n = 0;

	while ((mm = k->ended)) {
		mm_get(mm);
		for (i = 0; i < mm->frames; i++) {
			f = &mm->frame[i];
			n += f->pins != 0;
			while (f->pins)
				mm_unpin(&f, 1, false);
		}
		/* The last one took it off the list. */
		assert(k->ended != mm);
		mm_put(mm);
	}
	if (!n)
		return;
	fprintf(stderr, "faultline: board %s ended with %llu pages pinned\n",
		board_name(k->board), (unsigned long long)n);
	host_event(k, EV_SIM_VIOLATION, 5, 0, 0, 0);
}
