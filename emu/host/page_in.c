// SPDX-License-Identifier: BSD-2-Clause
/*
 * page_in.c - bringing one page in.
 *
 * As on Linux, faults on different pages of one address space go side by side: its
 * lock is let go while a page's bytes come from a disk, from a file, or are made
 * zeros. The page is on the list of fills meanwhile, and a second fault on it waits
 * for the first. What happens to the page in that time is seen when the lock is held
 * again: if it was unmapped or thrown away (fill_cancel()) or has lost the right that
 * is needed, its frame goes back and the fault begins again.
 *
 * What stays serial in one address space, because the lock is held: finding a frame
 * when there is none, with the writing of the page that has to go; its invalidation;
 * and all changes of mappings.
 */
#include "host/internal.h"
#include "os/os.h"
#include "sim/sim.h"

/* The simulation ends, and nobody waits any more. */
#define STOPPING_NS 1000u

enum { FROM_ZEROS, FROM_FILE, FROM_SWAP };

/* ---- pages on their way ---- */

bool fill_find(const struct host_mm *mm, uint64_t va)
{
	const struct host_fill *f;

	for (f = mm->fills; f; f = f->next)
		if (f->va == va && !f->gone)
			return true;
	return false;
}

void fill_cancel(struct host_mm *mm, uint64_t va, uint64_t end)
{
	struct host_fill *f;

	for (f = mm->fills; f; f = f->next)
		if (f->va >= va && f->va < end) {
			f->gone = true;
			frame_note(mm, f->frame);
		}
}

struct ended {
	const struct host_mm *mm;
	uint64_t before;
};

static bool one_ended(void *arg)
{
	const struct ended *e = arg;

	return atomic_load(&e->mm->fills_ended) != e->before;
}

void fill_wait(struct host_mm *mm)
{
	struct ended e = { mm, atomic_load(&mm->fills_ended) };
	struct sim_thread *self = sim_thread_self();

	sim_mutex_unlock(&mm->lock);
	if (!self) {
		/* Outside lockstep others run: as sim_mutex_lock() there. */
		assert(sim_mode(mm->k->sim) == SIM_THREADS);
		os_yield();
	} else if (!sim_wait(&mm->fills_wait, one_ended, &e, 0)) {
		sim_sleep(STOPPING_NS);
	}
	sim_mutex_lock(&mm->lock);
}

static void fill_begin(struct host_mm *mm, struct host_fill *f)
{
	if (f->file)
		f->file->maps++;
	f->next = mm->fills;
	mm->fills = f;
	frame_note(mm, f->frame);
}

static void fill_end(struct host_mm *mm, struct host_fill *f)
{
	struct host_fill **p;

	for (p = &mm->fills; *p != f; p = &(*p)->next)
		;
	*p = f->next;
	if (f->file)
		source_put(mm, f->file);
	atomic_fetch_add(&mm->fills_ended, 1);
	sim_wake(&mm->fills_wait, 0);
}

/* ---- one page ---- */

static int fill_from(const struct host_fill *f)
{
	if (f->old & PTE_SWAP)
		return FROM_SWAP;
	return f->file ? FROM_FILE : FROM_ZEROS;
}

/* No lock held. */
static int fill_read(struct host_kernel *k, const struct host_fill *f,
		     void *mem)
{
	int from = fill_from(f);

	if (from == FROM_ZEROS)
		host_spend(k, T_MM_MINOR);
	else
		host_wait_storage(k, T_MM_MAJOR);
	if (from == FROM_SWAP)
		return swap_read(&k->swap, pte_slot(f->old), mem);
	if (from == FROM_FILE)
		return f->file->read(f->file, f->offset, mem);
	memset(mem, 0, HOST_PAGE);
	return 0;
}

/* f, which is BUSY and holds the bytes, becomes va's page. */
static void page_map(struct host_mm *mm, struct host_map *m, uint64_t va,
		     bool write, struct host_frame *f, int from)
{
	struct host_kernel *k = mm->k;
	uint64_t old = pt_get(mm, va);

	f->dirty = write;
	/* Clean, the copy in swap stays good and need not be written again. */
	if (from == FROM_SWAP && write)
		slot_put(mm, pte_slot(old));
	else if (from == FROM_SWAP)
		f->slot = pte_slot(old);
	/*
	 * No invalidation: entries that are not valid are in no TLB
	 * (sources: smmu-tlb). The release in pt_set puts the bytes before the
	 * entry.
	 */
	pt_set(mm, va, pte_make(frame_pa(f), m->prot, write));
	frame_map(f);
	host_count(&k->count.page_ins, 1);
	host_count(&k->count.swap_ins, from == FROM_SWAP);
	host_event(k, EV_MM_PAGE_IN, mm->pid, va, frame_pa(f),
		   (uint64_t)from);
	mm_mapped(mm, va);
}

static int page_in_kind(int from)
{
	return from == FROM_ZEROS ? PAGE_IN_MINOR : PAGE_IN_MAJOR;
}

bool page_in_waits(const struct host_mm *mm, const struct host_map *m, uint64_t d)
{
	if (d & PTE_SWAP)
		return !mm->k->swap.mem || sim_mode(mm->k->sim) == SIM_LOCKSTEP;
	return m->file;
}

int page_in_now(struct host_mm *mm, struct host_map *m, uint64_t va, bool write,
		struct host_frame *f)
{
	struct host_fill fill = { .va = va, .frame = f, .old = pt_get(mm, va) };
	int from = fill_from(&fill), err = fill_read(mm->k, &fill, frame_mem(f));

	assert(!err && from != FROM_FILE);
	page_map(mm, m, va, write, f, from);
	return page_in_kind(from);
}

/* The bytes come, without the lock. 0, -EFAULT, PAGE_IN_LOOK: for nothing. */
static int page_fill(struct host_mm *mm, struct host_fill *f, int need)
{
	struct host_map *m;
	void *mem = frame_mem(f->frame);
	int err;

	fill_begin(mm, f);
	sim_mutex_unlock(&mm->lock);
	err = fill_read(mm->k, f, mem);
	sim_mutex_lock(&mm->lock);
	fill_end(mm, f);
	m = map_find(mm, f->va);
	if (f->gone || !m || (m->prot & need) != need)
		return PAGE_IN_LOOK;
	assert(pt_get(mm, f->va) == f->old);
	return err ? -EFAULT : 0;
}

int page_in(struct host_mm *mm, struct host_map *m, uint64_t va, int need)
{
	struct host_fill fill = { .va = va };
	int err, from;

	if (fill_find(mm, va)) {
		fill_wait(mm);
		return PAGE_IN_LOOK;
	}
	/* mm_exit() waits for those that have begun. */
	if (!atomic_load(&mm->live))
		return -EFAULT;
	err = pt_prepare(mm, va);
	if (!err)
		err = frame_get(mm, va, &fill.frame);
	if (err)
		return err;
	fill.old = pt_get(mm, va);
	if (m->file && !(fill.old & PTE_SWAP)) {
		fill.file = m->file;
		fill.offset = m->offset + (va - m->start);
	}
	from = fill_from(&fill);
	err = page_fill(mm, &fill, need);
	if (err) {
		frame_put(fill.frame);
		return err;
	}
	page_map(mm, map_find(mm, va), va, need & HOST_WRITE, fill.frame,
		 from);
	return page_in_kind(from);
}
