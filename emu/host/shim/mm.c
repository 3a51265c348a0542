// SPDX-License-Identifier: BSD-2-Clause
/* mm.c - address spaces, faults, pins and notifiers, on host.h. */
#include <assert.h>
#include <stdlib.h>

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "shim_internal.h"

/* ---- life ---- */

static struct signal_struct no_signal;

struct mm_struct *shim_mm_create(struct host_mm *host)
{
	struct mm_struct *mm = calloc(1, sizeof(*mm));

	if (!mm)
		return NULL;
	mm_get(host);
	mm->host = host;
	mm->pgd = (void *)(uintptr_t)mm_table_pa(host);
	mm->count = 1;
	mm->self.mm = mm;
	mm->self.signal = &no_signal;
	mm->owner = &mm->self;
	return mm;
}

void mmgrab(struct mm_struct *mm)
{
	__atomic_fetch_add(&mm->count, 1, __ATOMIC_RELAXED);
}

void mmdrop(struct mm_struct *mm)
{
	if (__atomic_fetch_sub(&mm->count, 1, __ATOMIC_ACQ_REL) != 1)
		return;
	mm_put(mm->host);
	free(mm);
}

bool mmget_not_zero(struct mm_struct *mm)
{
	return mm_get_live(mm->host);
}

void mmput(struct mm_struct *mm)
{
	shim_might_sleep();
	mm_put(mm->host);
}

void mmput_async(struct mm_struct *mm)
{
	mm_put(mm->host);
}

/* ---- how much there is ---- */

struct mem_cgroup *get_mem_cgroup_from_mm(struct mm_struct *mm)
{
	struct page_counter *c = &mm->memcg.memory;
	uint64_t most;

	WRITE_ONCE(c->usage, shim_frames(mm->host, &most));
	WRITE_ONCE(c->max, most);
	WRITE_ONCE(c->high, most);
	return &mm->memcg;
}

long si_mem_available(void)
{
	struct host_stats st;

	host_stats(shim_cpu()->shim->k, &st);
	return (long)st.frames_free;
}

void *phys_to_virt(phys_addr_t pa)
{
	void *p = dram_at(board_dram(shim_cpu()->shim->board), pa, 8);

	assert(p);
	return p;
}

/* ---- rights ---- */

bool capable(int cap)
{
	return !shim_cpu()->shim->params.plain_user;
}

kuid_t current_uid(void)
{
	return current->uid;
}

unsigned long rlimit(unsigned int which)
{
	const struct host_driver_params *p = &shim_cpu()->shim->params;

	assert(which == RLIMIT_MEMLOCK);
	return p->plain_user ? p->memlock_bytes : ~0ul;
}

/* ---- mappings ---- */

void mmap_read_lock(struct mm_struct *mm)
{
	shim_might_sleep();
	shim_cpu()->mmap_locks++;
}

void mmap_read_unlock(struct mm_struct *mm)
{
	assert(shim_cpu()->mmap_locks);
	shim_cpu()->mmap_locks--;
}

struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long va)
{
	static _Thread_local struct vm_area_struct vma;
	uint64_t start, end;
	int prot;

	if (!shim_find_map(mm->host, va, &start, &end, &prot))
		return NULL;
	vma = (struct vm_area_struct){
		.vm_start = start,
		.vm_end = end,
		.vm_flags = (prot & HOST_READ ? VM_READ : 0) |
			    (prot & HOST_WRITE ? VM_WRITE : 0),
		.vm_mm = mm,
	};
	return &vma;
}

struct vm_area_struct *vma_lookup(struct mm_struct *mm, unsigned long va)
{
	struct vm_area_struct *vma = find_vma(mm, va);

	return vma && vma->vm_start <= va ? vma : NULL;
}

/* ---- faults and pins ---- */

vm_fault_t handle_mm_fault(struct vm_area_struct *vma, unsigned long va,
			   unsigned int flags, void *regs)
{
	int ret;

	shim_might_sleep();
	assert(shim_cpu()->mmap_locks);
	ret = mm_fault(vma->vm_mm->host, va,
		       flags & FAULT_FLAG_WRITE ? HOST_FAULT_WRITE : 0);
	if (ret == -ENOMEM)
		return VM_FAULT_OOM;
	if (ret < 0)
		return VM_FAULT_SIGSEGV;
	return ret ? VM_FAULT_MAJOR : 0;
}

long pin_user_pages_remote(struct mm_struct *mm, unsigned long va,
			   unsigned long n, unsigned int flags,
			   struct page **pages, int *locked)
{
	long pinned, i;

	shim_might_sleep();
	if (shim_refused())
		return -ENOMEM;
	pinned = mm_pin(mm->host, va, n, flags & FOLL_WRITE, NULL);
	for (i = 0; i < pinned; i++) {
		pages[i] = malloc(sizeof(*pages[i]));
		assert(pages[i]);
		*pages[i] = (struct page){ mm, va + (u64)i * PAGE_SIZE };
	}
	return pinned;
}

void unpin_user_pages_dirty_lock(struct page **pages, unsigned long n,
				 bool dirty)
{
	unsigned long i;

	shim_might_sleep();
	/* One call pins a range, so the pages follow each other. */
	if (n)
		mm_unpin(pages[0]->mm->host, pages[0]->va, n, dirty);
	for (i = 0; i < n; i++) {
		assert(!i || pages[i]->va == pages[0]->va + i * PAGE_SIZE);
		if (i)
			free(pages[i]);
	}
	if (n)
		free(pages[0]);
}

bool fatal_signal_pending(struct task_struct *t)
{
	return t->mm && mm_killed(t->mm->host);
}

/* ---- notifiers ---- */

static void invalidate(struct mm_notifier *n, struct host_mm *host,
		       uint64_t start, uint64_t end)
{
	struct mmu_notifier *mn = container_of(n, struct mmu_notifier, host);
	struct trace_at saved = *host_trace_at();
	struct shim_cpu before = shim_enter(mn->shim, NULL, true);

	shim_cpu()->cause = saved.cause;
	mn->ops->arch_invalidate_secondary_tlbs(mn, mn->mm, start, end);
	shim_leave(&before);
	*host_trace_at() = saved;
}

/* Linux calls it for each page, or each block of 2 MB; a range is the same. */
static void age(struct mm_notifier *n, struct host_mm *host, uint64_t start,
		uint64_t end)
{
	struct mmu_notifier *mn = container_of(n, struct mmu_notifier, host);
	struct trace_at saved = *host_trace_at();
	struct shim_cpu before = shim_enter(mn->shim, NULL, true);

	shim_cpu()->cause = saved.cause;
	if (mn->ops->clear_flush_young)
		mn->ops->clear_flush_young(mn, mn->mm, start, end);
	shim_leave(&before);
	*host_trace_at() = saved;
}

static void release(struct mm_notifier *n, struct host_mm *host)
{
	struct mmu_notifier *mn = container_of(n, struct mmu_notifier, host);
	struct shim_cpu before = shim_enter(mn->shim, NULL, false);

	mn->released = true;
	mn->ops->release(mn, mn->mm);
	shim_leave(&before);
}

int mmu_notifier_register(struct mmu_notifier *mn, struct mm_struct *mm)
{
	int ret;

	shim_might_sleep();
	if (shim_refused())
		return -ENOMEM;
	mn->mm = mm;
	mn->shim = shim_cpu()->shim;
	mn->released = false;
	mn->host = (struct mm_notifier){ .invalidate = invalidate, .age = age,
					 .release = release };
	mmgrab(mm);
	ret = mm_notifier_register(mm->host, &mn->host);
	if (ret)
		mmdrop(mm);
	return ret;
}

void mmu_notifier_unregister(struct mmu_notifier *mn, struct mm_struct *mm)
{
	shim_might_sleep();
	mm_notifier_unregister(mm->host, &mn->host);
	if (!mn->released)
		release(&mn->host, mm->host);
	mmdrop(mm);
}
