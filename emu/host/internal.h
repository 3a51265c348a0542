/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * internal.h - what the files of emu/host share: the kernel, an address space,
 * a frame, and who may touch which of their members.
 *
 * Locks, outermost first: host_process.lock (files), host_mm.lock (mappings,
 * tables, CPU side, notifiers), then one of the spin locks (frames, kernel
 * pages, swap slots). The lock of a second mm is only ever tried, never waited
 * for (reclaim.c), so two processes that evict each other's pages cannot
 * deadlock.
 */
#ifndef FL_HOST_INTERNAL_H
#define FL_HOST_INTERNAL_H

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "host/host.h"

#define PAGE_SHIFT	12
#define ARENA_PAGES	(HOST_ARENA_BYTES / HOST_PAGE)
/* The end of an arena holds windows of device registers, not memory. */
#define ARENA_WINDOW_BYTES 0x1000000ull
#define ARENA_MEMORY_BYTES (HOST_ARENA_BYTES - ARENA_WINDOW_BYTES)

#define KERNEL_BANK_BYTES 0x10000000ull	/* tables and DMA memory, sparse */
#define PROCESS_FILES	64
#define PROCESS_WINDOWS	256
#define DEVICES		8
#define NO_SLOT		UINT32_MAX

/* ---- frames ---- */

enum frame_state {
	FRAME_FREE,
	FRAME_BUSY,	/* being filled or written out; no entry points to it */
	FRAME_MAPPED,	/* an entry of its owner points to it; on the clock */
};

/*
 * One frame of a process's bank. mm, state and the clock's links change under
 * the frames lock *and* its owner's mm lock; the rest under the mm lock alone.
 */
struct host_frame {
	struct host_mm *mm;		/* owner; NULL: free */
	uint64_t va;			/* page that it holds */
	struct host_frame *next, *prev;	/* clock of the whole board */
	uint32_t pins;
	uint32_t slot;			/* swap slot with the same bytes */
	uint8_t state;
	bool dirty;			/* differs from slot, file or zeros */
};

/* ---- mappings ---- */

/* A file that backs mappings of one mm; counted by them, under the mm lock. */
struct host_source {
	int fd;
	uint64_t bytes;
	unsigned int maps;
};

struct host_map {
	uint64_t start, end;		/* page aligned, end not included */
	uint64_t offset;		/* in the file, of start */
	struct host_source *file;	/* NULL: demand-zero */
	int prot;			/* HOST_WRITE implies HOST_READ */
};

/* ---- an address space ---- */

struct host_mm {
	struct host_kernel *k;
	atomic_uint refs;		/* keeps this structure */
	atomic_bool live;		/* false from the beginning of exit */
	uint32_t pid;
	uint16_t asid;
	struct sim_mutex lock;		/* guards all that follows */
	uint64_t root;			/* level 0 table */
	struct mm_notifier *notifiers;
	struct host_map *map;		/* sorted, disjoint */
	unsigned int maps, map_room;
	/* its bank */
	int bank;
	uint64_t bank_pa;
	uint8_t *bank_mem;		/* the kernel's own view of it */
	int bank_fd;
	uint64_t frames;
	struct host_frame *frame;
	uint64_t *taken;		/* a bit for each frame; frames lock */
	/* CPU side (segv.c) */
	uint8_t *arena;
	uint32_t *cpu;			/* a word for each page of the arena */
	uint64_t *cpu_blocks; /* linear views that exist, a bit each */
};

/* ---- processes ---- */

struct host_open_file;

struct host_window {
	struct host_open_file *file;	/* the window is a user of it */
	uint8_t *addr;
	void *mem;			/* NULL: registers, at mmio_pa */
	uint64_t bytes, mmio_pa;	/* mmio_pa 0: plain memory */
	atomic_bool used;		/* release: the rest is valid */
};

struct host_open_file {
	struct host_file file;		/* what the driver sees */
	struct host_device *dev;
	/* Calls under way, windows, and the descriptor. */
	unsigned int users;
};

struct host_process {
	struct host_kernel *k;
	struct host_mm *mm;
	uint32_t pid;
	unsigned int slot;
	char name[32];
	struct sim_mutex lock;		/* files and windows */
	struct host_open_file *file[PROCESS_FILES];
	struct host_window window[PROCESS_WINDOWS];
	atomic_uint threads;
};

struct host_device {
	char name[32];
	const struct host_device_ops *ops;	/* NULL: gone */
	void *dev;
};

/* ---- the kernel ---- */

struct host_counts {
	atomic_ullong faults_minor, faults_major, faults_failed, page_ins,
		evictions, swap_ins, swap_outs, ages, pins, invalidations,
		cpu_faults;
};

struct host_irq {
	void (*fn)(void *arg);
	void *arg;
	bool masked;			/* storm: nobody serves it */
};

struct host_swap {
	int fd;
	struct sim_spin lock;		/* taken, used, hint */
	uint64_t *taken;
	uint64_t slots, used, hint;
	atomic_bool fail_writes;	/* tests */
};

struct host_kernel {
	struct board *board;
	struct sim *sim;
	struct dram *dram;
	struct trace *trace;
	const struct timing_profile *timing;
	uint8_t id;

	struct sim_mutex lock;		/* processes, devices */
	struct host_process *process[HOST_PROCESSES];
	uint32_t pids;
	uint32_t asid;			/* last one given */
	struct host_device device[DEVICES];
	atomic_uint xfers;

	struct sim_spin frames_lock;
	uint64_t frames_total, frames_used, tag;
	uint64_t check_credit;		/* check.c */
	struct host_frame *hand;	/* of the clock; NULL: it is empty */
	uint64_t clock_frames;
	uint64_t fail_frames;		/* injection: so many more fail */

	int kbank;
	uint64_t kbank_pa;
	struct sim_spin kpages_lock;	/* the three below */
	uint64_t *kpages_taken;
	uint64_t kpages_used, kpages_hint;
	atomic_ullong table_pages, dma_pages;

	struct host_swap swap;

	struct sim_thread *irq_thread;
	struct sim_mutex irq_lock;	/* irq[] and a handler that runs */
	struct host_irq irq[IRQ_LINES];
	atomic_uint irq_level;		/* a bit for each line */
	atomic_uint_fast64_t irq_event[IRQ_LINES]; /* trace: when it went up */
	atomic_bool irq_panic;

	struct host_counts count;
};

/* ---- kernel.c: time, events, kernel pages ---- */
void host_spend(struct host_kernel *k, enum timing what);
uint64_t host_event(struct host_kernel *k, enum trace_event ev, uint64_t a0,
		    uint64_t a1, uint64_t a2, uint64_t a3);
static inline void host_count(atomic_ullong *n, uint64_t by)
{
	atomic_fetch_add_explicit(n, by, memory_order_relaxed);
}

/* ---- irq.c ---- */
int host_irq_start(struct host_kernel *k);
void host_irq_stop(struct host_kernel *k);

/* ---- kpages.c: pages of the kernel's own bank, zeroed ---- */
int kpages_create(struct host_kernel *k);
void kpages_destroy(struct host_kernel *k);
/* npages in a row; physical address, or 0 when there are none. */
uint64_t kpages_get(struct host_kernel *k, uint64_t npages);
void kpages_put(struct host_kernel *k, uint64_t pa, uint64_t npages);

/* ---- pgtable.c: descriptors (exanest.md 3.6) ---- */
#define PTE_VALID	(1ull << 0)
#define PTE_TYPE	3ull		/* table at levels 0-2, page at 3 */
#define PTE_USER	(1ull << 6)	/* AP[1] */
#define PTE_RDONLY	(1ull << 7)	/* AP[2] */
#define PTE_SH_INNER	(3ull << 8)
#define PTE_AF		(1ull << 10)
#define PTE_NG		(1ull << 11)
#define PTE_ADDR	0x0000fffffffff000ull
#define PTE_DBM		(1ull << 51)	/* software: may write */
#define PTE_PXN		(1ull << 53)
#define PTE_UXN		(1ull << 54)
#define PTE_DIRTY	(1ull << 55)	/* software */
/* Software, with bits 1:0 clear: resident, but no access is allowed. */
#define PTE_NONE	(1ull << 58)
/* Software, with bits 1:0 clear: bits 47:12 are a swap slot. */
#define PTE_SWAP	(1ull << 57)

static inline bool pte_resident(uint64_t d)
{
	return d & (PTE_VALID | PTE_NONE);
}

/* Does hardware let a process read (or write) through d? */
static inline bool pte_allows(uint64_t d, bool write)
{
	return (d & PTE_VALID) && (d & PTE_AF) && !(write && (d & PTE_RDONLY));
}

uint64_t pte_make(uint64_t pa, int prot, bool dirty);
uint64_t pte_swap(uint32_t slot);
uint32_t pte_slot(uint64_t d);
int pt_create(struct host_mm *mm);
void pt_destroy(struct host_mm *mm);
/* Make the tables above va; 0 or -ENOMEM. After that pt_set cannot fail. */
int pt_prepare(struct host_mm *mm, uint64_t va);
uint64_t pt_get(const struct host_mm *mm, uint64_t va);
void pt_set(struct host_mm *mm, uint64_t va, uint64_t desc);
/* First page in [va, end) whose descriptor is not 0; end when there is none. */
uint64_t pt_next(const struct host_mm *mm, uint64_t va, uint64_t end);

/* ---- frames.c (the caller holds mm's lock) ---- */
int frames_attach(struct host_mm *mm);	/* adds the bank */
void frames_detach(struct host_mm *mm);	/* all frames must be free */
/*
 * A frame for va, BUSY, with a new tag; takes a page away from somebody when
 * none is free. 0, -ENOMEM, or -EAGAIN: only others' locks were in the way.
 */
int frame_get(struct host_mm *mm, uint64_t va, struct host_frame **out);
void frame_put(struct host_frame *f);	/* BUSY to FREE, with a new tag */
void frame_map(struct host_frame *f);	/* BUSY to MAPPED */
void frame_unmap(struct host_frame *f);	/* MAPPED to BUSY */
uint64_t frame_pa(const struct host_frame *f);
void *frame_mem(const struct host_frame *f);
struct host_frame *frame_at(struct host_mm *mm, uint64_t pa);
void frame_dirty(struct host_frame *f);

/* ---- reclaim.c (mm's lock held) ---- */
int reclaim_one(struct host_kernel *k, struct host_mm *held);
/*
 * No lock held: wait for the owner of the frame under the hand and take one
 * from it. 0, -EAGAIN, -ENOMEM.
 */
int reclaim_wait(struct host_kernel *k);
/*
 * Take away those of n pages from va on that are resident and not pinned. 0, or
 * -ENOSPC (swap is full) or -EIO when some dirty page had to stay.
 */
int evict_range(struct host_mm *mm, uint64_t va, uint64_t npages);
/* Clear the access flags of a range; number of pages that lost theirs. */
uint64_t age_range(struct host_mm *mm, uint64_t va, uint64_t npages);

/* ---- swap.c ---- */
int swap_create(struct host_swap *s, uint64_t slots, const char *dir);
void swap_destroy(struct host_swap *s);
uint32_t swap_get(struct host_swap *s);	/* NO_SLOT: full */
void swap_put(struct host_swap *s, uint32_t slot);
int swap_read(struct host_swap *s, uint32_t slot, void *page);
int swap_write(struct host_swap *s, uint32_t slot, const void *page);
struct host_source *source_open(const char *path, int *error);
void source_put(struct host_source *f);
/*
 * A page of the file, the rest of its last one zeros; 0, -EFAULT beyond the
 * end, -EIO.
 */
int source_read(struct host_source *f, uint64_t offset, void *page);

/* ---- map.c: the list of mappings (mm's lock held) ---- */
struct host_map *map_find(struct host_mm *mm, uint64_t va);
/*
 * Make all of [start, end) mapped with boundaries at both ends; -ENOMEM when it
 * has holes.
 */
int map_cut(struct host_mm *mm, uint64_t start, uint64_t end);
int map_room(struct host_mm *mm, unsigned int n);
/* First gap of that many bytes; 0: none. */
uint64_t map_gap(struct host_mm *mm, uint64_t bytes);
void map_insert(struct host_mm *mm, const struct host_map *m);
void map_remove(struct host_mm *mm, uint64_t start, uint64_t end);
void map_merge(struct host_mm *mm);

/* ---- mm.c, fault.c ---- */
struct host_mm *mm_create(struct host_kernel *k, uint32_t pid, uint16_t asid,
			  uint8_t *arena, int *error);
void mm_exit(struct host_mm *mm);
/* Tell every notifier that the entries of the range have changed. Lock held. */
void mm_invalidate(struct host_mm *mm, uint64_t va, uint64_t npages);
/* Drop pages and swap entries; none may be pinned. Lock held. */
void mm_zap(struct host_mm *mm, uint64_t va, uint64_t npages);
/* A CPU fault: mm_fault, then the page is opened for the CPU. */
int mm_fault_cpu(struct host_mm *mm, uint64_t va, bool write);

/* ---- segv.c: the CPU side (mm's lock held, but for the first three) ---- */
int segv_install(void);
void segv_uninstall(void);
int cpu_create(struct host_mm *mm, uint8_t *arena);
void cpu_destroy(struct host_mm *mm);
uint8_t *cpu_reserve(struct host_kernel *k, unsigned int slot, int *error);
int cpu_grant(struct host_mm *mm, uint64_t va);
void cpu_revoke(struct host_mm *mm, uint64_t va, uint64_t npages);
/* What the CPU may do with the page now (HOST_READ, HOST_WRITE). */
int cpu_prot(const struct host_mm *mm, uint64_t va);
/* First page from va on that is open; *end (of the arena) when there is none.
 */
uint64_t cpu_next(const struct host_mm *mm, uint64_t va, uint64_t *end);
/* Which frame it would reach, counted from 1; 0: none. */
uint32_t cpu_frame(const struct host_mm *mm, uint64_t va);

/* ---- thread.c ---- */
/* Is va in the arena of the calling thread's process? Async-signal-safe. */
bool thread_in_arena(uint64_t va);
/*
 * The kernel half of the calling thread faults va in. write: 1, 0, or -1 for
 * unknown. Async-signal-safe. 0, -EFAULT, -ENOMEM.
 */
int thread_fault(uint64_t va, int write);
struct host_process *thread_process(void);

/* ---- file.c, sys.c ---- */
void host_files_close(struct host_process *p);
struct fl_sys;
extern const struct fl_sys host_sys;

#endif
