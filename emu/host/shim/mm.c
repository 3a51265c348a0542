// SPDX-License-Identifier: BSD-2-Clause
/* mm.c - address spaces, faults, pins and notifiers, on host.h. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/highmem.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "shim_internal.h"
#include "trace/event.h"

/* ---- life ---- */

static struct signal_struct no_signal;

struct mm_struct *shim_mm_create(struct shim *shim, struct host_mm *host)
{
	struct mm_struct *mm = calloc(1, sizeof(*mm));
	struct shim_mark mark;

	if (!mm)
		return NULL;
	mark = shim_call_begin(&shim->rules, SHIM_IN_TASK);
	shim_lock_init(&mm->mmap_rules, SHIM_MMAP, SHIM_MMAP_NAME);
	shim_call_end(&mark);
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
	if (!mm_get_live(mm->host))
		return false;
	shim_users_get(mm);
	return true;
}

void shim_mmput(struct mm_struct *mm, bool async, const char *where)
{
	if (!async)
		shim_sleeps("mmput()", where);
	/* The process cannot end while it is in a call. */
	shim_users_put(mm, current->mm == mm, async, where);
	mm_put_live(mm->host);
}

/* ---- how much there is ---- */

struct mem_cgroup *get_mem_cgroup_from_mm(struct mm_struct *mm)
{
	struct page_counter *c = &mm->memcg.memory;
	uint64_t most;

	WRITE_ONCE(c->usage, shim_frames(mm->host, &most));
	WRITE_ONCE(c->max, most);
	WRITE_ONCE(c->high, most);
	shim_here()->memcg_refs++;
	return &mm->memcg;
}

void mem_cgroup_put(struct mem_cgroup *m)
{
	shim_here()->memcg_refs--;
}

struct mem_cgroup *set_active_memcg(struct mem_cgroup *m)
{
	const void *before = shim_here()->memcg;

	shim_here()->memcg = m;
	return (struct mem_cgroup *)(uintptr_t)before;
}

long si_mem_available(void)
{
	struct host_stats st;

	host_stats(shim_cpu()->shim->k, &st);
	return (long)st.frames_free;
}

static bool is_first_table(struct shim *shim, phys_addr_t pa)
{
	struct mm_struct *mm = current->mm;

	return (mm && virt_to_phys(mm->pgd) == pa) || shim_is_table(shim, pa);
}

void *shim_phys_to_virt(phys_addr_t pa, const char *where)
{
	struct shim *shim = shim_cpu()->shim;
	void *p = dram_at(shim->dram, pa, 8);

	if (!shim_here()->irqs_off && !is_first_table(shim, pa))
		shim_breach("table-walk", where, "walks page tables with "
			    "interrupts on: the next table may be freed");
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

void shim_mmap_lock(struct mm_struct *mm, bool write, const char *where)
{
	shim_sleeps(write ? "mmap_write_lock()" : "mmap_read_lock()", where);
	if (!shim_lock_take(&mm->mmap_rules, where))
		return;
	if (write)
		mm_maps_write(mm->host);
	else
		mm_maps_read(mm->host);
}

void shim_mmap_unlock(struct mm_struct *mm, bool write, const char *where)
{
	if (!shim_lock_give(&mm->mmap_rules, where))
		return;
	shim_vmas_close(where);
	mm_maps_end(mm->host);
}

static struct vm_area_struct *vma_at(struct mm_struct *mm, unsigned long va,
				     const char *where)
{
	struct vm_area_struct vma = { .vm_mm = mm };
	uint64_t start, end;
	int prot;

	if (!shim_find_map(mm->host, va, &start, &end, &prot))
		return NULL;
	vma.vm_start = start;
	vma.vm_end = end;
	vma.vm_flags = (prot & HOST_READ ? VM_READ : 0) |
		       (prot & HOST_WRITE ? VM_WRITE : 0);
	return shim_vma_new(&vma, where);
}

struct vm_area_struct *shim_find_vma(struct mm_struct *mm, unsigned long va,
				     const char *where)
{
	shim_mmap_assert(mm, "find_vma()", where);
	return vma_at(mm, va, where);
}

struct vm_area_struct *shim_vma_lookup(struct mm_struct *mm, unsigned long va,
				       const char *where)
{
	struct vm_area_struct *vma;

	shim_mmap_assert(mm, "vma_lookup()", where);
	vma = vma_at(mm, va, where);
	return vma && vma->vm_start <= va ? vma : NULL;
}

/* ---- faults and pins ---- */

/* Reclaim has the page again, and on another CPU, before the driver goes on. */
static atomic_uint reclaim;

unsigned int host_inject_reclaim(unsigned int n)
{
	return atomic_exchange(&reclaim, n);
}

static void reclaim_overlap(struct host_mm *mm, unsigned long va)
{
	unsigned int left = atomic_load(&reclaim);

	while (left && !atomic_compare_exchange_weak(&reclaim, &left, left - 1))
		;
	if (left == 1)
		shim_evict(mm, va & PAGE_MASK);
}

vm_fault_t shim_mm_fault(struct vm_area_struct *vma, unsigned long va,
			 unsigned int flags, const char *where)
{
	bool write = flags & FAULT_FLAG_WRITE;
	int ret;

	shim_fault_rules(vma, va, write, where);
	if (!shim_vma_mine(vma))
		shim_breach("stale-vma", where, "calls handle_mm_fault() with "
			    "a mapping of another time the mmap lock was held");
	ret = mm_fault(vma->vm_mm->host, va,
		       HOST_FAULT_CARD | (write ? HOST_FAULT_WRITE : 0));
	if (ret >= 0)
		reclaim_overlap(vma->vm_mm->host, va);
	if (ret == -ENOMEM)
		return VM_FAULT_OOM;
	if (ret < 0)
		return VM_FAULT_SIGSEGV;
	return ret ? VM_FAULT_MAJOR : 0;
}

phys_addr_t page_to_phys(const struct page *page)
{
	return shim_frame_pa(page->frame);
}

void *kmap_local_page(const struct page *page)
{
	void *p = dram_at(board_dram(shim_cpu()->shim->board),
			  shim_frame_pa(page->frame), PAGE_SIZE);

	assert(p);
	return p;
}

/*
 * The card may be at the same bytes, as with all memory of a process: there a sanitizer does
 * not see the CPU's side either.
 */
static noinline __no_kcsan void
page_copy(uint8_t *to, const uint8_t *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		((volatile uint8_t *)to)[i] = ((const volatile uint8_t *)from)[i];
	host_copied(shim_cpu()->shim->k, n);
}

void memcpy_from_page(void *to, const struct page *page, size_t offset, size_t n)
{
	page_copy(to, kmap_local_page(page) + offset, n);
}

void memcpy_to_page(const struct page *page, size_t offset, const void *from,
		    size_t n)
{
	page_copy(kmap_local_page(page) + offset, from, n);
}

#define UNPIN_BATCH	512

long shim_pin_pages(struct mm_struct *mm, unsigned long va, unsigned long n,
		    unsigned int flags, struct page **pages,
		    const char *where)
{
	struct host_frame **frame;
	long pinned = 0, room = 0, i;

	shim_sleeps("pin_user_pages_remote()", where);
	shim_mmap_assert(mm, "pin_user_pages_remote()", where);
	shim_kept_rules(mm, "pin_user_pages_remote()", where);
	if (shim_refused())
		return -ENOMEM;
	frame = calloc(n, sizeof(*frame));
	/* Fewer than were asked for would be an answer, but one that takes other time. */
	while (room < (long)n && (pages[room] = malloc(sizeof(**pages))))
		room++;
	pinned = frame && room == (long)n ?
			 mm_pin(mm->host, va, n, flags & FOLL_WRITE, frame) :
			 -ENOMEM;
	for (i = 0; i < room; i++) {
		if (i < pinned)
			pages[i]->frame = frame[i];
		else
			free(pages[i]);
	}
	free(frame);
	return pinned;
}

void (unpin_user_pages_dirty_lock)(struct page **pages, unsigned long n,
				   bool dirty)
{
	struct host_frame *frame[UNPIN_BATCH];
	unsigned long i, batch;

	for (; n; n -= batch, pages += batch) {
		batch = n < UNPIN_BATCH ? n : UNPIN_BATCH;
		for (i = 0; i < batch; i++) {
			frame[i] = pages[i]->frame;
			free(pages[i]);
		}
		mm_unpin(frame, batch, dirty);
	}
}

bool fatal_signal_pending(struct task_struct *t)
{
	return t->mm && mm_killed(t->mm->host);
}

/* ---- notifiers ---- */

/* Waiting for a callback is waiting for what it locks. */
#define CALLBACK	"a notifier's callback"

static void notifier_invalidate(struct mm_notifier *n, struct host_mm *host,
				uint64_t start, uint64_t end)
{
	struct mmu_notifier *mn = container_of(n, struct mmu_notifier, host);
	struct trace_at saved = *host_trace_at();
	struct shim_cpu before = shim_enter(mn->shim, NULL, SHIM_IN_CALLBACK);

	shim_cpu()->cause = saved.cause;
	shim_event_begin(SHIM_EVENT, CALLBACK);
	shim_event_begin(SHIM_SPIN, "the page-table lock");
	mn->ops->arch_invalidate_secondary_tlbs(mn, mn->mm, start, end);
	shim_event_end();
	shim_event_end();
	shim_leave(&before);
	*host_trace_at() = saved;
}

/* Linux calls it for each page, or each block of 2 MB; a range is the same. */
static void notifier_age(struct mm_notifier *n, struct host_mm *host,
			 uint64_t start, uint64_t end)
{
	struct mmu_notifier *mn = container_of(n, struct mmu_notifier, host);
	struct trace_at saved = *host_trace_at();
	struct shim_cpu before = shim_enter(mn->shim, NULL, SHIM_IN_CALLBACK);

	shim_cpu()->cause = saved.cause;
	if (mn->ops->clear_flush_young)
		mn->ops->clear_flush_young(mn, mn->mm, start, end);
	shim_leave(&before);
	*host_trace_at() = saved;
}

static void notifier_mapped(struct mm_notifier *n, struct host_mm *host,
			    uint64_t start, uint64_t end)
{
	struct mmu_notifier *mn = container_of(n, struct mmu_notifier, host);
	struct trace_at saved = *host_trace_at();
	struct shim_cpu before;

	if (!mn->ops->mapped)
		return;
	before = shim_enter(mn->shim, NULL, SHIM_IN_CALLBACK);
	shim_cpu()->cause = saved.cause;
	mn->ops->mapped(mn, mn->mm, start, end);
	shim_leave(&before);
	*host_trace_at() = saved;
}

static bool notifier_hears(struct mm_notifier *n)
{
	struct mmu_notifier *mn = container_of(n, struct mmu_notifier, host);

	return mn->ops->hears && mn->ops->hears(mn);
}

static void notifier_release(struct mm_notifier *n, struct host_mm *host)
{
	struct mmu_notifier *mn = container_of(n, struct mmu_notifier, host);
	struct shim_cpu before = shim_enter(mn->shim, NULL, SHIM_IN_TASK);

	mn->released = true;
	shim_event_begin(SHIM_EVENT, CALLBACK);
	mn->ops->release(mn, mn->mm);
	shim_event_end();
	shim_leave(&before);
}

/* on: it joins the driver's list, else it goes. */
static void notifier_enlist(struct mmu_notifier *mn, bool on)
{
	struct mmu_notifier **p;

	sim_spin_lock(&mn->shim->lock);
	for (p = &mn->shim->notifiers; *p && *p != mn; p = &(*p)->next)
		;
	*p = on ? mn : mn->next;
	sim_spin_unlock(&mn->shim->lock);
}

int shim_notifier_register(struct mmu_notifier *mn, struct mm_struct *mm,
			   const char *where)
{
	int ret;

	shim_sleeps("mmu_notifier_register()", where);
	shim_event_wait(SHIM_MMAP, SHIM_MMAP_NAME, where);
	if (shim_refused())
		return -ENOMEM;
	mn->mm = mm;
	mn->shim = shim_cpu()->shim;
	mn->released = false;
	mn->next = NULL;
	mn->host = (struct mm_notifier){ .invalidate = notifier_invalidate,
		.age = notifier_age, .mapped = notifier_mapped,
		.hears = notifier_hears, .release = notifier_release };
	mmgrab(mm);
	ret = mm_notifier_register(mm->host, &mn->host);
	if (ret)
		mmdrop(mm);
	else
		notifier_enlist(mn, true);
	return ret;
}

void shim_notifier_unregister(struct mmu_notifier *mn, struct mm_struct *mm,
			      const char *where)
{
	shim_sleeps("mmu_notifier_unregister()", where);
	shim_event_wait(SHIM_EVENT, CALLBACK, where);
	mm_notifier_unregister(mm->host, &mn->host);
	if (!mn->released)
		notifier_release(&mn->host, mm->host);
	notifier_enlist(mn, false);
	mmdrop(mm);
}
