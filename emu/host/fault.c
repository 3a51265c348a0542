// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault.c - bringing pages in, for the CPU and for the driver; copies.
 *
 * The lock of an address space is held while its tables are looked at and changed,
 * and let go while a page's bytes come (page_in.c).
 *
 * A read of untouched memory gets a private frame of zeros, mapped clean
 * (read-only with DBM). Linux would map one shared page of zeros and copy at
 * the first write; here there is no shared page, and the first write is a
 * permission fault that only sets dirty.
 */
#include "host/internal.h"
#include "sim/sim.h"

/* All that stands in the way is somebody else's lock: try again after so long.
 */
#define CONTENDED_NS	1000u
#define CONTENDED_TRIES 10000u
/* A process does not close its pages: until it does, or is cut off. */
#define SLOW_TRY_NS	1000000

/* Beside PAGE_IN_*: the page was there. */
enum { FAULT_THERE = PAGE_IN_LOOK + 1 };

/* Lock held, va is resident: aged, clean, or somebody was faster. */
static int fault_touch(struct host_mm *mm, struct host_map *m, uint64_t va,
		       uint64_t d, bool write)
{
	struct host_frame *f = frame_at(mm, d & PTE_ADDR);
	uint64_t new;

	assert(f && f->mm == mm && f->va == va);
	if (write)
		frame_dirty(f);
	/*
	 * No notifier is called: rights only grow, so an old entry in a TLB
	 * lets nothing through that should not be. Whoever meets one drops it
	 * (sources: smmu-tlb), as Linux has it.
	 */
	new = pte_make(d & PTE_ADDR, m->prot, f->dirty);
	pt_set(mm, va, new);
	if (new != d)
		mm_mapped(mm, va);
	return FAULT_THERE;
}

int fault_spend(struct host_kernel *k, int r)
{
	if (r != FAULT_THERE)
		return r;
	host_spend(k, T_MM_PRESENT);
	return 0;
}

/*
 * The lock is let go while a page comes in. After that it may be unmapped, or have
 * other rights, or be another page: so all is looked at again.
 */
int fault_locked(struct host_mm *mm, uint64_t va, bool write)
{
	int need = write ? HOST_WRITE : HOST_READ, r;
	struct host_map *m;
	uint64_t d;

	do {
		m = map_find(mm, va);
		if (!m || !(m->prot & need))
			return -EFAULT;
		d = pt_get(mm, va);
		if (pte_resident(d))
			return fault_touch(mm, m, va, d, write);
		if (pte_away(d))
			return -ESTALE;
		r = page_in(mm, m, va, need);
	} while (r == PAGE_IN_LOOK);
	return r;
}

int fault_bring(struct host_mm *mm, uint64_t va)
{
	struct host_map *m;
	int r;

	do {
		m = map_find(mm, va);
		if (!m)
			return -EFAULT;
		if (pte_resident(pt_get(mm, va)))
			return 0;
		r = page_in(mm, m, va, 0);
	} while (r == PAGE_IN_LOOK);
	return r;
}

/*
 * Nearly always it is over at once. But who holds it may be kept from running
 * for as long as a busy machine likes: half a second in all.
 */
static uint64_t patience_ns(unsigned int tries)
{
	unsigned int doubled = tries / 1000;

	return CONTENDED_NS << (doubled < 7 ? doubled : 7);
}

/*
 * Wait in line for what another process holds, and do not try now and then: the lock of
 * a process with many faulting threads is hardly ever free. A process at its own limit
 * gains nothing from the pages of others.
 */
bool fault_again(struct host_mm *mm, int err, unsigned int *tries)
{
	bool own, fills;
	int r;

	if (err != -EAGAIN || ++*tries >= CONTENDED_TRIES || mm_killed(mm))
		return false;
	sim_mutex_lock(&mm->lock);
	own = frames_full(mm);
	fills = mm->fills;
	/* Its own, on their way in, cannot go before they are there. */
	if (fills)
		fill_wait(mm);
	sim_mutex_unlock(&mm->lock);
	if (fills)
		return true;
	r = own ? -EBUSY : reclaim_wait(mm->k);
	if (r && sim_thread_self())
		sim_sleep(r == -EBUSY ? SLOW_TRY_NS : patience_ns(*tries));
	return true;
}

static int fault_report(struct host_mm *mm, uint64_t va, bool write, int r)
{
	struct host_counts *c = &mm->k->count;

	if (r == -EAGAIN) {
		host_event(mm->k, EV_MM_NO_FRAME, mm->pid, va, 0, 0);
		r = -ENOMEM;
	}
	host_count(r < 0 ? &c->faults_failed :
		   r ? &c->faults_major : &c->faults_minor, 1);
	host_event(mm->k, EV_MM_FAULT, mm->pid, va, write,
		   (uint64_t)(int64_t)r);
	return r;
}

/* For its own CPU, for the card, or for a system call of the process. */
enum fault_who { FOR_CPU, FOR_CARD, FOR_CALL };

static int fault_handle(struct host_mm *mm, uint64_t va, bool write,
			enum fault_who who)
{
	unsigned int tries = 0;
	int r, err;

	va &= ~(HOST_PAGE - 1);
	host_spend(mm->k, T_MM_LOOKUP);
	do {
		sim_mutex_lock(&mm->lock);
		r = fault_locked(mm, va, write);
		if (who == FOR_CARD && r >= 0 && r != FAULT_THERE)
			frame_brought(frame_at(mm, pt_get(mm, va) & PTE_ADDR));
		err = who == FOR_CPU && r >= 0 ? cpu_grant(mm, va) : 0;
		sim_mutex_unlock(&mm->lock);
		if (err)
			r = err;
	} while (fault_again(mm, r, &tries));
	/* Its process moves it: the CPU is to try again, for others it is gone. */
	if (r == -ESTALE && who == FOR_CPU)
		return r;
	if (r == -ESTALE)
		r = -EFAULT;
	return fault_report(mm, va, write, fault_spend(mm->k, r));
}

int mm_fault(struct host_mm *mm, uint64_t va, unsigned int flags)
{
	sim_worked();
	return fault_handle(mm, va, flags & HOST_FAULT_WRITE,
			    flags & HOST_FAULT_CARD ? FOR_CARD : FOR_CALL);
}

/*
 * The page may be there already and only the CPU's view be closed (the driver
 * brought it in, or a neighbour's protection changed). That is an artefact of
 * emulating a page table with mprotect: a real CPU would have walked the table
 * and gone on. So it costs no virtual time and is no event.
 */
int mm_fault_cpu(struct host_mm *mm, uint64_t va, bool write)
{
	struct trace_at *at = host_trace_at(), saved = *at;
	uint64_t d;
	int r = 0;

	va &= ~(HOST_PAGE - 1);
	sim_mutex_lock(&mm->lock);
	d = pt_get(mm, va);
	if (pte_allows(d, write) || pte_away(d)) {
		r = pte_away(d) ? 0 : cpu_grant(mm, va);
		sim_mutex_unlock(&mm->lock);
		return r;
	}
	sim_mutex_unlock(&mm->lock);
	at->cause = host_event(mm->k, EV_CPU_FAULT, mm->pid, va, write, 0);
	host_count(&mm->k->count.cpu_faults, 1);
	host_spend(mm->k, T_CPU_SIGNAL);
	r = fault_handle(mm, va, write, FOR_CPU);
	if (r >= 0)
		host_event(mm->k, EV_CPU_MAPPED, mm->pid, va,
			   host_translate(mm, va), write);
	*at = saved;
	return r < 0 && r != -ESTALE ? r : 0;
}

/*
 * Lock held. All that could wait is looked at before anything happens: then
 * whoever may wait begins anew, and there is one fault in the trace.
 */
static int try_locked(struct host_mm *mm, uint64_t va, bool write)
{
	struct trace_at *at = host_trace_at(), saved = *at;
	struct host_map *m = map_find(mm, va);
	struct host_frame *f = NULL;
	uint64_t d = pt_get(mm, va);
	int r, err;

	if (mm->ops->ready && !mm->ops->ready(mm, va))
		return -EAGAIN;
	if (pte_allows(d, write))
		return cpu_grant(mm, va);
	if (pte_away(d))
		return 0;
	if (!m || !(m->prot & (write ? HOST_WRITE : HOST_READ)))
		return -EAGAIN;
	if (!pte_resident(d) && (page_in_waits(mm, m, d) || fill_find(mm, va) ||
				 pt_prepare(mm, va) || frame_try(mm, va, &f)))
		return -EAGAIN;
	at->cause = host_event(mm->k, EV_CPU_FAULT, mm->pid, va, write, 0);
	host_count(&mm->k->count.cpu_faults, 1);
	host_spend(mm->k, T_CPU_SIGNAL);
	host_spend(mm->k, T_MM_LOOKUP);
	r = f ? page_in_now(mm, m, va, write, f) :
		fault_spend(mm->k, fault_touch(mm, m, va, d, write));
	err = cpu_grant(mm, va);
	r = fault_report(mm, va, write, err ? err : r);
	if (r >= 0)
		host_event(mm->k, EV_CPU_MAPPED, mm->pid, va,
			   host_translate(mm, va), write);
	*at = saved;
	return r < 0 ? r : 0;
}

int mm_fault_cpu_try(struct host_mm *mm, uint64_t va, bool write)
{
	int r;

	if (!sim_mutex_trylock(&mm->lock))
		return -EAGAIN;
	r = try_locked(mm, va & ~(HOST_PAGE - 1), write);
	sim_mutex_unlock(&mm->lock);
	return r;
}

/* ---- copies ---- */

static int copy_part(struct host_mm *mm, uint64_t va, void *buf, uint64_t len,
		     bool to_user)
{
	uint64_t page = va & ~(HOST_PAGE - 1), d;
	unsigned int tries = 0;
	uint8_t *mem;
	int r;

	do {
		sim_mutex_lock(&mm->lock);
		d = pt_get(mm, page);
		r = pte_allows(d, to_user) ? 0 :
					     fault_locked(mm, page, to_user);
		if (r >= 0) {
			d = pt_get(mm, page) & PTE_ADDR;
			mem = frame_mem(frame_at(mm, d)) + (va - page);
			if (to_user)
				memcpy(mem, buf, len);
			else
				memcpy(buf, mem, len);
		}
		sim_mutex_unlock(&mm->lock);
	} while (fault_again(mm, r, &tries));
	fault_spend(mm->k, r);
	return r < 0 ? -EFAULT : 0;
}

void host_copied(struct host_kernel *k, uint64_t bytes)
{
	host_count(&k->count.copied, bytes);
	sim_spend(timing_transfer_ns(bytes, k->timing->v[T_CPU_COPY_MBPS]));
}

int mm_copy(struct host_mm *mm, uint64_t va, void *buf, uint64_t len,
	    bool to_user)
{
	uint64_t n, done;
	int err;

	if (va + len < va)
		return -EFAULT;
	for (done = 0; done < len; done += n) {
		n = HOST_PAGE - (va + done) % HOST_PAGE;
		if (n > len - done)
			n = len - done;
		err = copy_part(mm, va + done, (uint8_t *)buf + done, n,
				to_user);
		if (err)
			return err;
	}
	host_copied(mm->k, len);
	return 0;
}
