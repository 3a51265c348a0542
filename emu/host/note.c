// SPDX-License-Identifier: BSD-2-Clause
/*
 * note.c - what has changed since the checker looked (check.c): whoever changes a frame, its
 * entry or a count says so. Without a watch nobody looks, and nothing is noted.
 */
#include "host/internal.h"
#include "sim/watch.h"

void host_watch(struct host_kernel *k, struct sim_watch *w)
{
	assert(!k->frames_used);
	k->watch = w;
	k->areas_noted = true;
}

void kernel_note(struct host_kernel *k)
{
	if (k->watch)
		sim_note(k->sim, k->watch);
}

void frame_note(struct host_mm *mm, struct host_frame *f)
{
	struct host_kernel *k = mm->k;

	if (!k->watch)
		return;
	sim_note(k->sim, k->watch);
	if (f->note.listed)
		return;
	f->note.listed = true;
	f->note.mm = mm;
	f->note.next = k->noted;
	k->noted = f;
}

/* How many there are, from those that have changed. */
static void note_count(struct host_frame *f)
{
	struct host_mm *mm = f->note.mm;
	uint64_t i = (uint64_t)(f - mm->frame);
	bool taken = mm->taken[i / 64] >> i % 64 & 1;
	bool mapped = taken && f->state == FRAME_MAPPED;
	bool orphan = taken && f->state == FRAME_ORPHAN;

	mm->counted += taken - f->note.taken;
	mm->k->counted += taken - f->note.taken;
	mm->k->counted_mapped += mapped - f->note.mapped;
	mm->counted_orphans += orphan - f->note.orphan;
	mm->k->counted_orphans += orphan - f->note.orphan;
	f->note.taken = taken;
	f->note.mapped = mapped;
	f->note.orphan = orphan;
}

void note_count_all(struct host_kernel *k)
{
	struct host_frame *f;

	for (f = k->noted; f; f = f->note.next)
		note_count(f);
}

void note_forget(struct host_mm *mm)
{
	struct host_kernel *k = mm->k;
	struct host_frame **p = &k->noted, *f;

	if (!k->watch || !mm->taken)
		return;
	note_count_all(k);
	while (*p)
		if ((*p)->note.mm == mm)
			*p = (*p)->note.next;
		else
			p = &(*p)->note.next;
	/* None is left, or somebody will hear of it. */
	for (f = frame_taken(mm, 0); f; f = frame_taken(mm, f - mm->frame + 1)) {
		k->counted_mapped -= f->note.mapped;
		k->counted_orphans -= f->note.orphan;
	}
	k->counted -= mm->counted;
}
