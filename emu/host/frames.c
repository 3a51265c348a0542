// SPDX-License-Identifier: BSD-2-Clause
/*
 * frames.c - who has which frame. Each process has a bank of its own, so that
 * it can map no other's memory; how many frames all of them may hold together
 * is the board's budget. A bank has as many frames as the budget, so whoever
 * may have one more finds one in his bank.
 *
 * A frame is free, or BUSY (on its way in or out), or MAPPED (one entry points to it),
 * or an ORPHAN: pinned, while its page has been unmapped or thrown away. An orphan
 * counts as used until the last pin goes.
 *
 * The tag of a frame (of each device page in it) changes whenever it goes to
 * somebody else or back: a device that still uses an old translation is caught
 * by it.
 */
#include <stdlib.h>

#include "host/internal.h"
#include "os/os.h"
#include "os/os_emu.h"

int frames_attach(struct host_mm *mm)
{
	uint64_t n = mm->k->frames_total, i;
	struct dram_bank *b;
	int err;

	mm->frames = n;
	mm->frame = os_room(n, sizeof(*mm->frame));
	mm->taken = calloc((n + 63) / 64, sizeof(*mm->taken));
	if (!mm->frame || !mm->taken)
		return -ENOMEM;
	/* What the last word has too much counts as taken. */
	for (i = n; i % 64; i++)
		mm->taken[i / 64] |= 1ull << i % 64;
	sim_mutex_lock(&mm->k->banks_lock);
	mm->bank = dram_bank_add(mm->k->dram, "process",
				 n * HOST_PAGE + QUEUE_AREA_BYTES);
	sim_mutex_unlock(&mm->k->banks_lock);
	if (mm->bank < 0)
		return mm->bank;
	b = dram_bank(mm->k->dram, mm->bank);
	mm->bank_pa = b->base;
	mm->bank_mem = b->mem;
	mm->bank_fd = b->fd;
	err = area_create(mm->k, mm->bank, b->base + n * HOST_PAGE,
			  mm->ops->shares_bank);
	if (err) {
		sim_mutex_lock(&mm->k->banks_lock);
		dram_bank_remove(mm->k->dram, mm->bank);
		sim_mutex_unlock(&mm->k->banks_lock);
		mm->bank = -1;
	}
	return err;
}

void frames_detach(struct host_mm *mm)
{
	if (mm->bank < 0)
		return;
	/* A process that has mapped the bank may keep it, but not what was in it. */
	if (mm->ops->shares_bank)
		os_memory_forget(mm->bank_fd, 0, mm->frames * HOST_PAGE);
	area_orphan(mm->k, mm->bank);
	mm->bank = -1;
}

uint64_t frame_pa(const struct host_frame *f)
{
	return f->mm->bank_pa + (uint64_t)(f - f->mm->frame) * HOST_PAGE;
}

void *frame_mem(const struct host_frame *f)
{
	return f->mm->bank_mem + (uint64_t)(f - f->mm->frame) * HOST_PAGE;
}

struct host_frame *frame_at(struct host_mm *mm, uint64_t pa)
{
	uint64_t i = (pa - mm->bank_pa) / HOST_PAGE;

	return pa >= mm->bank_pa && i < mm->frames ? &mm->frame[i] : NULL;
}

/* Under the mm lock; those that stay are counted for host_stats(), which has none. */
void frame_keep(struct host_frame *f, uint32_t pins, unsigned int held)
{
	struct host_counts *c = &f->mm->k->count;
	bool before = frame_stays(f);

	if (pins && !f->pins)
		host_peak(&c->pinned_peak, atomic_fetch_add(&c->pinned, 1) + 1);
	else if (!pins && f->pins)
		atomic_fetch_sub(&c->pinned, 1);
	f->pins = pins;
	f->held = (uint8_t)held;
	frame_note(f->mm, f);
	if (frame_stays(f) && !before)
		atomic_fetch_add(&f->mm->k->frames_staying, 1);
	else if (before && !frame_stays(f))
		atomic_fetch_sub(&f->mm->k->frames_staying, 1);
}

/* frames lock held */
static uint64_t frame_pick(struct host_mm *mm, uint64_t want)
{
	uint64_t words = (mm->frames + 63) / 64, i, w;

	if (!(mm->taken[want / 64] >> want % 64 & 1))
		return want;
	for (i = 0; i < words; i++) {
		w = (want / 64 + i) % words;
		if (~mm->taken[w])
			return w * 64 +
			       (uint64_t)__builtin_ctzll(~mm->taken[w]);
	}
	assert(!"a bank has as many frames as the budget");
	return 0;
}

/* frames lock held */
static void change_tag(struct host_frame *f)
{
	struct host_kernel *k = f->mm->k;
	uint64_t i;

	k->tag++;
	for (i = 0; i < HOST_FRAMES; i++)
		dram_tag_set(k->dram, frame_pa(f) + i * DRAM_PAGE, k->tag);
}

/* frames lock held. It is the same generation, so that what was pinned is not stale. */
static void mark_tag(struct host_frame *f)
{
	struct dram *d = f->mm->k->dram;
	uint64_t tag = dram_tag(d, frame_pa(f)) | DRAM_TAG_ORPHAN, i;

	for (i = 0; i < HOST_FRAMES; i++)
		dram_tag_set(d, frame_pa(f) + i * DRAM_PAGE, tag);
}

/* mm->used changes under mm's lock as well. */
bool frames_full(const struct host_mm *mm)
{
	return mm->used >= mm->k->process_pages;
}

struct host_frame *frame_take(struct host_mm *mm, uint64_t va)
{
	struct host_kernel *k = mm->k;
	struct host_frame *f = NULL;
	uint64_t i;

	sim_spin_lock(&k->frames_lock);
	if (k->frames_used < k->frames_total) {
		/*
		 * Neighbouring pages get neighbouring frames, so that the CPU's
		 * linear view of the bank fits and opening a page is one
		 * mprotect.
		 */
		i = frame_pick(mm, (va - mm->arena) / HOST_PAGE % mm->frames);
		mm->taken[i / 64] |= 1ull << i % 64;
		mm->used++;
		if (++k->frames_used > k->frames_peak)
			k->frames_peak = k->frames_used;
		f = &mm->frame[i];
		assert(f->state == FRAME_FREE && !f->pins);
		*f = (struct host_frame){ .mm = mm, .va = va,
					  .slot = NO_SLOT,
					  .state = FRAME_BUSY,
					  .note = f->note };
		frame_note(mm, f);
		change_tag(f);
	}
	sim_spin_unlock(&k->frames_lock);
	return f;
}

int frame_try(struct host_mm *mm, uint64_t va, struct host_frame **out)
{
	struct host_kernel *k = mm->k;
	bool fail;

	/* One that is to fail fails in frame_get(), and is counted there. */
	sim_spin_lock(&k->frames_lock);
	fail = k->fail_frames;
	sim_spin_unlock(&k->frames_lock);
	*out = fail || frames_full(mm) ? NULL : frame_take(mm, va);
	return *out ? 0 : -EAGAIN;
}

/* By the card, any part of it, since the page came. */
static bool frame_used(const struct host_frame *f)
{
	uint64_t i;

	for (i = 0; i < HOST_FRAMES; i++)
		if (dram_used(f->mm->k->dram, frame_pa(f) + i * DRAM_PAGE))
			return true;
	return false;
}

void frame_brought(struct host_frame *f)
{
	f->brought = true;
	host_count(&f->mm->k->count.brought, 1);
}

static uint64_t frames_unused(struct host_mm *mm)
{
	struct host_frame *f;
	uint64_t n = 0;

	sim_mutex_lock(&mm->lock);
	for (f = frame_taken(mm, 0); f; f = frame_taken(mm, f - mm->frame + 1))
		n += f->brought && !frame_used(f);
	sim_mutex_unlock(&mm->lock);
	return n;
}

uint64_t host_pages_unused(struct host_kernel *k)
{
	uint64_t n = atomic_load(&k->count.unused);
	int i;

	sim_mutex_lock(&k->lock);
	for (i = 0; i < HOST_PROCESSES; i++)
		if (k->process[i] && k->process[i]->mm)
			n += frames_unused(k->process[i]->mm);
	sim_mutex_unlock(&k->lock);
	return n;
}

void frame_put(struct host_frame *f)
{
	struct host_mm *mm = f->mm;
	struct host_kernel *k = mm->k;
	uint64_t i = (uint64_t)(f - mm->frame);

	assert((f->state == FRAME_BUSY || f->state == FRAME_ORPHAN) &&
	       !frame_stays(f) && f->slot == NO_SLOT);
	if (f->brought && !frame_used(f))
		host_count(&k->count.unused, 1);
	f->brought = false;
	sim_spin_lock(&k->frames_lock);
	frame_note(mm, f);
	if (f->state == FRAME_ORPHAN) {
		mm->orphans--;
		k->frames_orphaned--;
	}
	change_tag(f);
	mm->taken[i / 64] &= ~(1ull << i % 64);
	mm->used--;
	k->frames_used--;
	f->state = FRAME_FREE;
	f->mm = NULL;
	sim_spin_unlock(&k->frames_lock);
}

void frame_map(struct host_frame *f)
{
	struct host_kernel *k = f->mm->k;

	sim_spin_lock(&k->frames_lock);
	assert(f->state == FRAME_BUSY);
	frame_note(f->mm, f);
	f->state = FRAME_MAPPED;
	/* Behind the hand: it is the last one that the clock comes to. */
	if (k->hand) {
		f->next = k->hand;
		f->prev = k->hand->prev;
		f->prev->next = f->next->prev = f;
	} else {
		k->hand = f->next = f->prev = f;
	}
	k->clock_frames++;
	sim_spin_unlock(&k->frames_lock);
}

/* frames lock held */
static void leave_clock(struct host_frame *f, enum frame_state state)
{
	struct host_kernel *k = f->mm->k;

	assert(f->state == FRAME_MAPPED);
	frame_note(f->mm, f);
	f->state = (uint8_t)state;
	if (k->hand == f)
		k->hand = f->next == f ? NULL : f->next;
	f->prev->next = f->next;
	f->next->prev = f->prev;
	f->next = f->prev = NULL;
	k->clock_frames--;
}

void frame_unmap(struct host_frame *f)
{
	struct host_kernel *k = f->mm->k;

	sim_spin_lock(&k->frames_lock);
	leave_clock(f, FRAME_BUSY);
	sim_spin_unlock(&k->frames_lock);
}

void frame_orphan(struct host_frame *f)
{
	struct host_mm *mm = f->mm;

	assert(f->pins && !f->held);
	sim_spin_lock(&mm->k->frames_lock);
	leave_clock(f, FRAME_ORPHAN);
	mm->orphans++;
	mm->k->frames_orphaned++;
	sim_spin_unlock(&mm->k->frames_lock);
}

void frame_orphaned(struct host_frame *f)
{
	struct host_kernel *k = f->mm->k;

	assert(f->state == FRAME_ORPHAN && f->slot == NO_SLOT);
	frame_note(f->mm, f);
	sim_spin_lock(&k->frames_lock);
	mark_tag(f);
	sim_spin_unlock(&k->frames_lock);
	host_event(k, EV_MM_ORPHAN, f->mm->pid, f->va, frame_pa(f), f->pins);
}

/* The copy in swap, if there is one, is no longer what the page holds. */
void frame_dirty(struct host_frame *f)
{
	frame_note(f->mm, f);
	f->dirty = true;
	if (f->slot != NO_SLOT)
		slot_put(f->mm, f->slot);
	f->slot = NO_SLOT;
}

void host_inject_no_frames(struct host_kernel *k, uint64_t n)
{
	sim_spin_lock(&k->frames_lock);
	k->fail_frames = n;
	sim_spin_unlock(&k->frames_lock);
}
