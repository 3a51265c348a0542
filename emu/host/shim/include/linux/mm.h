/* SPDX-License-Identifier: BSD-2-Clause */
/* mm.h - address spaces: a thin coat over host/mm.h. */
#ifndef SHIM_LINUX_MM_H
#define SHIM_LINUX_MM_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <shim/shim.h>

#include "host/mm.h"

/*
 * As an arm64 kernel with pages of that size has it; but the tables have a granule
 * of 4 KB whatever that size is (host/pgtable.c).
 */
#define CONFIG_ARM64_4K_PAGES 1
#define PAGE_SHIFT	HOST_PAGE_SHIFT
#define PAGE_SIZE	(1ul << PAGE_SHIFT)
#define PAGE_MASK	(~(PAGE_SIZE - 1))
#define PAGE_ALIGN(n)	(((n) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))

struct page_counter {
	unsigned long usage, max, high;		/* pages */
};

struct mem_cgroup {
	struct page_counter memory;
};

struct mm_struct {
	struct host_mm *host;
	void *pgd;		/* physical address of the first table */
	atomic64_t pinned_vm;
	int count;
	struct task_struct *owner, self;
	struct mem_cgroup memcg;
	struct shim_lock mmap_rules;
};

/* Addresses of the kernel are physical ones. */
static inline phys_addr_t virt_to_phys(const void *p)
{
	return (phys_addr_t)(uintptr_t)p;
}

/*
 * ... but for memory that it reads: a table of the process. All but the first may
 * be freed while interrupts are on (Linux: as a fast GUP).
 */
void *shim_phys_to_virt(phys_addr_t pa, const char *where);
#define phys_to_virt(pa) shim_phys_to_virt(pa, __func__)

/* ---- mappings ---- */

#define VM_READ		1ul
#define VM_WRITE	2ul
#define VM_SHARED	8ul
/* Mappings of a device; find_vma() tells of a process's memory alone. */
#define VM_PFNMAP	0x400ul
#define VM_IO		0x4000ul
/* The small kernel has no fork(). */
#define VM_DONTCOPY	0x20000ul
#define VM_MIXEDMAP	0x10000000ul

struct vm_area_struct;
struct vm_fault;
typedef unsigned int vm_fault_t;
struct vm_operations_struct {
	void (*open)(struct vm_area_struct *vma);
	void (*close)(struct vm_area_struct *vma);
	/* Never called: what was taken away is what a process still has. */
	vm_fault_t (*fault)(struct vm_fault *vmf);
};

typedef unsigned long pgprot_t;
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	struct mm_struct *vm_mm;
	pgprot_t vm_page_prot;
	const struct vm_operations_struct *vm_ops;
	void *vm_private_data;
	struct file *vm_file;
	/* what a driver's mmap gave */
	void *shim_mem;
	phys_addr_t shim_mmio_pa;
};

static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

#define pgprot_noncached(prot) (prot)
int vm_iomap_memory(struct vm_area_struct *vma, phys_addr_t start,
		    unsigned long bytes);

/*
 * Registers alone: a store goes nowhere then. Memory of the card stays where a
 * process has it, until it unmaps (dma_free_coherent()).
 */
struct address_space;
void unmap_mapping_range(struct address_space *mapping, u64 begin, u64 length,
			 int even_cows);
#define unmap_mapping_range(...) SHIM_SLEEPS(unmap_mapping_range, __VA_ARGS__)

/* While it is held, nobody changes the mappings (host: mm_maps_read()). */
void shim_mmap_lock(struct mm_struct *mm, bool write, const char *where);
void shim_mmap_unlock(struct mm_struct *mm, bool write, const char *where);
#define mmap_read_lock(mm) shim_mmap_lock(mm, false, __func__)
#define mmap_read_unlock(mm) shim_mmap_unlock(mm, false, __func__)
/* It must be: for a look at mappings, tables or pages. */
void shim_mmap_assert(struct mm_struct *mm, const char *call,
		      const char *where);

/*
 * They are there until the mmap lock is given back. From then on nobody can touch
 * them (vma.c).
 */
struct vm_area_struct *shim_vma_lookup(struct mm_struct *mm, unsigned long va,
				       const char *where);
#define vma_lookup(mm, va) shim_vma_lookup(mm, va, __func__)
/* The first one that ends after va. */
struct vm_area_struct *shim_find_vma(struct mm_struct *mm, unsigned long va,
				     const char *where);
#define find_vma(mm, va) shim_find_vma(mm, va, __func__)

/* ---- faults and pins ---- */

#define VM_FAULT_OOM	 1u
#define VM_FAULT_SIGSEGV 2u
#define VM_FAULT_MAJOR	 4u
#define VM_FAULT_ERROR	 (VM_FAULT_OOM | VM_FAULT_SIGSEGV)
#define FAULT_FLAG_WRITE  1u
#define FAULT_FLAG_REMOTE 4u
vm_fault_t shim_mm_fault(struct vm_area_struct *vma, unsigned long va,
			 unsigned int flags, const char *where);
#define handle_mm_fault(vma, va, flags, regs)                                 \
	((void)(regs), shim_mm_fault(vma, va, flags, __func__))
/* What must be so when the driver asks for a page (page_rules.c). */
void shim_fault_rules(const struct vm_area_struct *vma, unsigned long va,
		      bool write, const char *where);
/* mm is the caller's own, or it keeps it (mmget). */
void shim_kept_rules(struct mm_struct *mm, const char *call,
		     const char *where);

/* Names a frame, and not where it is mapped: it may outlive its mapping. */
struct page {
	struct host_frame *frame;
};
/* Of memory of the kernel: for comparing alone. */
static inline struct page *virt_to_page(const void *p)
{
	return (struct page *)(uintptr_t)p;
}

phys_addr_t page_to_phys(const struct page *page);

static inline void get_page(struct page *page)
{
}

/* For vm_operations_struct.fault, which tests alone call. */
struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long address;
	struct page *page;
};
#define VM_FAULT_SIGBUS	VM_FAULT_SIGSEGV
#define VM_FAULT_NOPAGE	0x100u
#define PHYS_PFN(pa)	((pa) >> PAGE_SHIFT)
#define vm_get_page_prot(flags) (flags)
static inline vm_fault_t vmf_insert_pfn_prot(struct vm_area_struct *vma,
					     unsigned long va,
					     unsigned long pfn, pgprot_t prot)
{
	vma->shim_mmio_pa = (phys_addr_t)pfn << PAGE_SHIFT;
	return VM_FAULT_NOPAGE;
}

#define FOLL_WRITE	1u
#define FOLL_LONGTERM	4u
long shim_pin_pages(struct mm_struct *mm, unsigned long va, unsigned long n,
		    unsigned int flags, struct page **pages,
		    const char *where);
#define pin_user_pages_remote(mm, va, n, flags, pages, locked)                \
	((void)(locked), shim_pin_pages(mm, va, n, flags, pages, __func__))
void unpin_user_pages_dirty_lock(struct page **pages, unsigned long n,
				 bool dirty);
#define unpin_user_pages_dirty_lock(...)                                      \
	SHIM_SLEEPS(unpin_user_pages_dirty_lock, __VA_ARGS__)

#endif
