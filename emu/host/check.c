// SPDX-License-Identifier: BSD-2-Clause
/*
 * check.c - what must add up (sources: rules, 4 and 5): frames, owners, tags,
 * pins, swap slots, tables, and the CPU's view against the tables. In lockstep
 * it holds at every step; in threads mode while nothing runs.
 */
#include "host/card_tables.h"
#include "host/internal.h"

#define FRAMES_EVERY_STEP 512
#define FRAMES_A_STEP	32
/* host_check_changed(): a look at everything comes after so many at least. */
#define CHANGES_A_LOOK	4096

#define ORPHANS_DIFFER \
	"frames without a mapping and those that the board counts differ"

struct tally {
	uint64_t frames, mapped, orphans, slots;
};

/* What the device's pages of a frame must have in common. */
static const char *check_parts(struct host_mm *mm, struct host_frame *f)
{
	uint64_t pa = frame_pa(f), tag = dram_tag(mm->k->dram, pa), i;

	if (!tag)
		return "a frame in use has tag 0";
	for (i = 1; i < HOST_FRAMES; i++)
		if (dram_tag(mm->k->dram, pa + i * DRAM_PAGE) != tag)
			return "parts of a frame have different tags";
	return NULL;
}

/*
 * Eviction takes a slot before the process has closed the page, and holds the lock
 * while it waits for that.
 */
static bool has_copy_too_soon(const struct host_frame *f)
{
	return f->dirty && f->slot != NO_SLOT && f->state == FRAME_MAPPED;
}

static bool marked_orphan(const struct host_frame *f)
{
	return dram_tag(f->mm->k->dram, frame_pa(f)) & DRAM_TAG_ORPHAN;
}

/* Does its entry still name it, so that hardware finds it, or found it before? */
static bool has_entry(const struct host_frame *f, uint64_t bits)
{
	uint64_t d = f->mm->root ? pt_get(f->mm, f->va) : 0;

	return pte_resident(d) && (d & PTE_ADDR) == frame_pa(f) &&
	       (!bits || (d & bits));
}

/*
 * An orphan that has just lost its mapping: the invalidation is under way, with the
 * lock held. Only after it the entry goes and the tag says what it is.
 */
static bool is_losing(const struct host_frame *f)
{
	return f->state == FRAME_ORPHAN &&
	       (!marked_orphan(f) || has_entry(f, 0));
}

static const char *check_orphan(const struct host_frame *f, struct tally *t)
{
	t->orphans++;
	if (!f->pins)
		return "a frame without a mapping is not pinned, and not free";
	if (f->held)
		return "a frame without a mapping is held by its process";
	if (has_entry(f, PTE_VALID))
		return "a valid entry leads to a frame that lost its mapping";
	if (is_losing(f) && !f->mm->lock.taken)
		return "a frame has lost its mapping by half";
	return NULL;
}

static const char *check_frame(struct host_mm *mm, struct host_frame *f,
			       struct tally *t)
{
	const char *bad;
	uint64_t d;

	bad = check_parts(mm, f);
	if (bad)
		return bad;
	t->frames++;
	t->slots += f->slot != NO_SLOT;
	if (has_copy_too_soon(f) && !mm->lock.taken)
		return "a dirty page has a copy in swap that passes for good";
	if (f->state == FRAME_BUSY)
		return frame_stays(f) ? "a page that comes or goes is pinned" :
					NULL;
	if (f->state == FRAME_ORPHAN)
		return check_orphan(f, t);
	if (!mm->root)
		return "a process has ended, and its frame is still mapped";
	if (marked_orphan(f))
		return "a mapped frame passes for one without a mapping";
	t->mapped++;
	d = pt_get(mm, f->va);
	if (!pte_resident(d) || (d & PTE_ADDR) != frame_pa(f))
		return "a mapped frame has no entry that points to it";
	if (!(d & PTE_RDONLY) && (d & PTE_VALID) && !f->dirty)
		return "a clean page may be written without a fault";
	return NULL;
}

static const char *check_frames(struct host_mm *mm, struct tally *t)
{
	uint64_t before = t->frames, orphans = t->orphans;
	const char *bad = NULL;
	struct host_frame *f;

	for (f = frame_taken(mm, 0); !bad && f; f = frame_taken(mm, f - mm->frame + 1))
		bad = f->mm != mm ? "a taken frame has no owner" : check_frame(mm, f, t);
	if (!bad && t->frames - before != mm->used)
		bad = "frames with an owner and frames on its account differ";
	if (!bad && t->orphans - orphans != mm->orphans)
		bad = "frames without a mapping are miscounted";
	return bad;
}

/* Every entry of the tables, from the tables' side. */
static const char *check_tables(struct host_mm *mm, struct tally *t)
{
	uint64_t va = 0, end = 1ull << HOST_VA_BITS, d;
	struct host_frame *f;

	for (va = pt_next(mm, va, end); va < end;
	     va = pt_next(mm, va + HOST_PAGE, end)) {
		d = pt_get(mm, va);
		if (!map_find(mm, va))
			return "an entry lies outside every mapping";
		if (!pt_whole(mm, va))
			return "descriptors of one page differ";
		if (!pte_resident(d)) {
			if (!(d & PTE_SWAP) && d != PTE_AWAY)
				return "an entry is neither page nor slot";
			t->slots += d != PTE_AWAY;
			continue;
		}
		f = frame_at(mm, d & PTE_ADDR);
		if (!f || f->mm != mm)
			return "an entry points to a frame of someone else";
		if (f->va != va)
			return "an entry points to a frame of another page";
		if ((d & PTE_VALID) && f->state != FRAME_MAPPED)
			return "an entry is valid while its frame is not ready";
	}
	return NULL;
}

/* What is on its way in is nowhere yet, and comes once. */
static const char *check_fills(struct host_mm *mm)
{
	struct host_fill *f, *other;

	for (f = mm->fills; f; f = f->next) {
		if (f->frame->state != FRAME_BUSY || f->frame->va != f->va)
			return "a page that comes in has a frame of another";
		if (!f->gone && pte_resident(pt_get(mm, f->va)))
			return "a page that comes in is there";
		for (other = f->next; other; other = other->next)
			if (other->va == f->va && !f->gone && !other->gone)
				return "a page is brought in twice";
	}
	return NULL;
}

static const char *check_view(struct host_mm *mm, uint64_t va)
{
	int prot = cpu_prot(mm, va);
	uint64_t d;

	if (!prot)
		return NULL;
	d = pt_get(mm, va);
	if (!pte_allows(d, prot & HOST_WRITE))
		return "the CPU may use a page that the tables forbid";
	if (frame_at(mm, d & PTE_ADDR) != &mm->frame[cpu_frame(mm, va) - 1])
		return "the CPU reaches another frame than the device";
	return NULL;
}

/* The CPU may do less than the tables say, never more. */
static const char *check_cpu(struct host_mm *mm)
{
	uint64_t va, end = 1ull << HOST_VA_BITS;
	const char *bad = NULL;

	for (va = cpu_next(mm, 0, end); !bad && va < end;
	     va = cpu_next(mm, va + HOST_PAGE, end))
		bad = check_view(mm, va);
	return bad;
}

static const char *check_kernel(struct host_kernel *k, bool areas)
{
	if (k->frames_used > k->frames_total)
		return "more frames are in use than the board has";
	if (k->kpages_used != atomic_load(&k->table_pages) +
				      atomic_load(&k->dma_pages))
		return "kernel pages in use are neither tables nor DMA memory";
	if (k->swap.used > k->swap.slots)
		return "more swap slots are in use than there are";
	if (areas && k->area_pages != areas_count(k))
		return "pages of queues in use and pages counted differ";
	if (atomic_load(&k->irq_panic))
		return "an interrupt line stayed high and was masked";
	return card_tables_check(k);
}

/*
 * Looking at every frame after every event would take longer than the run when there are
 * thousands; then a look that costs n frames comes every n / FRAMES_A_STEP events.
 */
static bool frames_are_due(struct host_kernel *k)
{
	if (k->frames_used <= FRAMES_EVERY_STEP)
		return true;
	k->check_credit += FRAMES_A_STEP;
	if (k->check_credit < k->frames_used)
		return false;
	k->check_credit = 0;
	return true;
}

static const char *check_now(struct host_kernel *k, bool thorough)
{
	const char *bad = check_kernel(k, true);
	struct tally t = { 0 };
	struct host_mm *mm;
	uint64_t slots;
	unsigned int i;

	for (i = 0; !bad && i < HOST_PROCESSES; i++) {
		mm = k->process[i] ? k->process[i]->mm : NULL;
		if (!mm || !mm->root)
			continue;
		slots = t.slots;
		bad = check_frames(mm, &t);
		if (!bad)
			bad = check_fills(mm);
		if (!bad && thorough)
			bad = check_tables(mm, &t);
		if (!bad && thorough && t.slots - slots != mm->slots)
			bad = "swap slots of a process are miscounted";
		if (!bad && thorough && mm->cpu)
			bad = check_cpu(mm);
	}
	for (mm = k->ended; !bad && mm; mm = mm->ended_next)
		bad = check_frames(mm, &t);
	if (bad)
		return bad;
	if (t.frames != k->frames_used)
		return "frames in use and frames with an owner differ";
	if (t.mapped != k->clock_frames)
		return "frames that are mapped and frames on the clock differ";
	if (t.orphans != k->frames_orphaned)
		return ORPHANS_DIFFER;
	if (thorough && t.slots != k->swap.used)
		return "swap slots in use and slots that somebody names differ";
	return NULL;
}

const char *host_check(struct host_kernel *k, bool thorough)
{
	return thorough || frames_are_due(k) ? check_now(k, thorough) :
					       check_kernel(k, true);
}

/* ---- what has changed ---- */

static const char *check_noted(struct host_frame *f)
{
	struct host_mm *mm = f->note.mm;
	struct tally t = { 0 };
	const char *bad = NULL;

	if (!mm->root && !mm->orphans)
		return NULL;
	if (f->note.taken)
		bad = f->mm != mm ? "a taken frame has no owner" :
				    check_frame(mm, f, &t);
	if (!bad && mm->counted != mm->used)
		bad = "frames with an owner and frames on its account differ";
	if (!bad && mm->counted_orphans != mm->orphans)
		bad = "frames without a mapping are miscounted";
	return bad ? bad : check_fills(mm);
}

/* Those that are passed over while a lock is held stay on the list. */
static const char *check_all_noted(struct host_kernel *k)
{
	struct host_frame *f = k->noted, *next;
	const char *bad = NULL;

	k->noted = NULL;
	for (; f; f = next) {
		next = f->note.next;
		f->note.listed = false;
		bad = bad ? bad : check_noted(f);
		if (has_copy_too_soon(f) || is_losing(f))
			frame_note(f->note.mm, f);
	}
	return bad;
}

const char *host_check_changed(struct host_kernel *k)
{
	const char *bad = check_kernel(k, k->areas_noted), *whole;

	k->areas_noted = false;
	note_count_all(k);
	if (!bad)
		bad = check_all_noted(k);
	if (!bad && k->counted != k->frames_used)
		bad = "frames in use and frames with an owner differ";
	if (!bad && k->counted_mapped != k->clock_frames)
		bad = "frames that are mapped and frames on the clock differ";
	if (!bad && k->counted_orphans != k->frames_orphaned)
		bad = ORPHANS_DIFFER;
	k->check_credit++;
	if (!bad && k->check_credit < CHANGES_A_LOOK +
				      k->frames_used / FRAMES_A_STEP)
		return NULL;
	/* With more than one thing wrong, the one that this finds first is said. */
	k->check_credit = 0;
	whole = check_now(k, false);
	return whole ? whole : bad;
}
