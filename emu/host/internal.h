/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * internal.h - what the files of emu/host share, and who may touch which member.
 *
 * Locks, outermost first: host_kernel.lock, host_process.lock (files),
 * host_mm.mmap_lock (mappings), host_mm.lock (mappings, tables, CPU side,
 * notifiers), then one of the spin locks (frames, kernel pages, swap slots). The
 * lock of a second mm is only ever tried, never waited for (reclaim.c), so two
 * processes that evict each other's pages cannot deadlock.
 */
#ifndef FL_HOST_INTERNAL_H
#define FL_HOST_INTERNAL_H

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "faultline/pte.h"
#include "host/counts.h"
#include "host/cpu.h"
#include "host/process.h"
#include "sim/sim.h"
#include "sim/timing.h"

#define ARENA_PAGES	(HOST_ARENA_BYTES / HOST_PAGE)
/* The end of an arena holds maps of device registers, not memory. */
#define ARENA_DEVICE_BYTES 0x1000000ull
#define ARENA_MEMORY_BYTES (HOST_ARENA_BYTES - ARENA_DEVICE_BYTES)

#define KERNEL_BANK_BYTES 0x10000000ull	/* tables and DMA memory, sparse */
/*
 * Behind the frames of each process's bank: memory of its queues, twice what
 * the driver lets it have, so that fragments do no harm.
 */
#define QUEUE_AREA_BYTES 0x1000000ull
#define QUEUE_AREA_PAGES (QUEUE_AREA_BYTES / HOST_PAGE)
/* No process can use up the pages that the others need for their tables. */
#define PROCESS_TABLES	(KERNEL_BANK_BYTES / DRAM_PAGE / HOST_PROCESSES)
#define PROCESS_MAPS	65530u		/* as Linux has it */
#define PROCESS_SOURCES	32u		/* files that are mapped */
#define NO_SLOT		UINT32_MAX
#define NO_LIMIT	UINT64_MAX

/* ---- frames ---- */

enum frame_state {
	FRAME_FREE,
	FRAME_BUSY,	/* being filled or written out; no entry points to it */
	FRAME_MAPPED,	/* an entry of its owner points to it; on the clock */
	FRAME_ORPHAN,	/* pinned; its entry has gone (pin.c) */
};

/* What has changed since the checker looked, and how it counted it then. */
struct frame_note {
	struct host_mm *mm;		/* whose bank it is of */
	struct host_frame *next;
	bool listed, taken, mapped, orphan;
};

/*
 * One frame of a process's bank, as large as a page: HOST_FRAMES of the device's.
 * mm, state and the clock's links change under the frames lock *and* its owner's
 * mm lock; the rest under the mm lock alone. While it is BUSY for a page that
 * comes in (page_in.c), only the thread that brings the page uses its memory.
 */
struct host_frame {
	struct host_mm *mm;		/* owner; NULL: free */
	uint64_t va;			/* page that it holds, or (orphan) held */
	struct host_frame *next, *prev;	/* clock of the whole board */
	uint32_t pins;			/* changed with held, by frame_keep() */
	uint32_t slot;			/* swap slot with the same bytes */
	uint8_t state;
	uint8_t held;			/* HELD_*: it stays */
	bool dirty;			/* differs from slot, file or zeros */
	bool brought;			/* the driver did, for the card (mm lock) */
	struct frame_note note;		/* check.c */
};

enum {
	HELD_MOVING = 1, /* the process itself moves the page in or out (remote/) */
	HELD_KEPT = 2,	/* for as long as the process lives */
};

void frame_keep(struct host_frame *f, uint32_t pins, unsigned int held);
static inline bool frame_stays(const struct host_frame *f)
{
	return f->pins || f->held;
}

/* ---- mappings ---- */

/*
 * A file that backs mappings of one mm; counted by them, under the mm lock. Whoever opened
 * it has it in a structure of its own: this program (swap.c), or one elsewhere (remote/).
 */
struct host_source {
	/* Zeros behind its end; 0, -EFAULT beyond that page, -EIO. No lock held; it may wait. */
	int (*read)(struct host_source *f, uint64_t offset, void *page);
	void (*free)(struct host_source *f);	/* lock held: it must not wait */
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

/* A page on its way in, of the thread that brings it; guarded by mm's lock. */
struct host_fill {
	uint64_t va;
	struct host_frame *frame;
	uint64_t old;			/* entry that it had: nothing, or swap */
	struct host_source *file;	/* counted; NULL: zeros, or swap */
	uint64_t offset;		/* in file */
	bool gone;			/* dropped meanwhile: bytes of nothing */
	struct host_fill *next;
};

struct host_maplock {			/* maplock.c */
	struct sim_spin guard;
	unsigned int readers, writers;	/* writers that wait */
	bool writer;
	struct sim_waitq wait;
};

struct host_mm {
	struct host_kernel *k;
	atomic_uint refs;		/* keeps this structure */
	atomic_uint users;		/* mm_get_live(), and the process */
	atomic_bool live;		/* false from the beginning of exit */
	struct host_maplock mmap_lock;	/* changing mappings takes lock as well */
	const struct mm_ops *ops;
	uint32_t pid;
	uint16_t asid;
	struct sim_mutex lock;		/* guards all that follows */
	uint64_t root;			/* level 0 table */
	_Atomic uint64_t leaf;		/* the level 3 table that was used last (pgtable.c) */
	uint64_t tables;		/* pages of them */
	struct mm_notifier *notifiers;
	struct host_fill *fills;	/* pages on their way in */
	atomic_uint_fast64_t fills_ended;	/* so many; changes under lock */
	struct sim_waitq fills_wait;
	struct host_map *map;		/* sorted, disjoint */
	unsigned int maps, map_room;
	unsigned int sources;		/* files behind them, open here */
	/* its bank */
	int bank;
	uint64_t bank_pa;
	uint8_t *bank_mem;		/* the kernel's own view of it */
	int bank_fd;
	uint64_t frames;
	struct host_frame *frame;
	/* Changed under the frames lock too. */
	uint64_t *taken;		/* a bit for each frame */
	uint64_t used;
	uint64_t orphans;		/* of these; no entry leads to them */
	struct host_mm *ended_next;	/* of those that ended with orphans */
	uint64_t counted, counted_orphans;	/* the two, by check.c */
	uint64_t hand;			/* of the clock over its own frames */
	uint64_t slots;			/* of swap that it has */
	/* CPU side (cpu.c) */
	uint64_t arena;			/* an address where its CPU is */
	uint64_t device_base;		/* of maps of registers; there, or a number */
	struct cpu_node *cpu;
};

/*
 * Memory of queues in a process's bank. It outlives its process when the card
 * does not let go of it: then the bank stays, and is nobody else's.
 */
struct host_area {
	uint64_t pa, pages;		/* pages in use */
	uint64_t taken[QUEUE_AREA_PAGES / 64];
	bool orphan;			/* its process has ended */
	bool forget;			/* mm_ops.shares_bank */
};

/* ---- the kernel ---- */

struct host_irq {
	void (*fn)(void *arg);
	void *arg;
	bool masked;			/* storm: nobody serves it */
};

struct host_swap {
	int fd;
	uint8_t *mem;			/* all of it; NULL: it is a file */
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
	struct sim_waitq device_idle;	/* the last call has ended */
	atomic_uint xfers;

	struct sim_spin frames_lock;
	uint64_t frames_total, frames_used, frames_peak, tag;
	uint64_t frames_orphaned;	/* of those in use */
	struct host_mm *ended;	/* processes that have, and left orphans */
	atomic_ullong frames_staying;	/* pinned or held: frame_keep() */
	uint64_t process_pages, process_slots;	/* most for one process */
	uint64_t check_credit;		/* check.c, and so are the five below */
	struct sim_watch *watch;	/* NULL: nobody looks at what changes */
	struct host_frame *noted;
	bool areas_noted;
	uint64_t counted, counted_mapped, counted_orphans;	/* frames */
	struct host_frame *hand;	/* of the clock; NULL: it is empty */
	uint64_t clock_frames;
	uint64_t fail_frames;		/* injection: so many more fail */
	int kbank;
	uint64_t kbank_pa;
	uint8_t *kbank_mem;
	struct sim_spin kpages_lock;	/* the three below */
	uint64_t *kpages_taken, kpages_used, kpages_hint;
	struct card_tables *card_tables;
	atomic_ullong table_pages, dma_pages;
	struct sim_mutex banks_lock;	/* banks come and go */
	struct sim_spin areas_lock;	/* the three below */
	struct host_area *area[DRAM_BANKS];	/* by bank */
	uint64_t area_pages, orphans;

	struct host_swap swap;

	struct sim_thread *irq_thread;
	struct sim_offer irq_offer;
	struct sim_mutex irq_lock;	/* irq[] and a handler that runs */
	struct host_irq irq[IRQ_LINES];
	atomic_uint irq_level;		/* a bit for each line */
	atomic_uint_fast64_t irq_event[IRQ_LINES]; /* trace: when it went up */
	atomic_bool irq_panic;

	struct host_counts count;
};

/* ---- note.c ---- */
/* It changes, or its entry does. In any order, but before others may run. */
void frame_note(struct host_mm *mm, struct host_frame *f);
void kernel_note(struct host_kernel *k);
/* Its frames are about to be freed. */
void note_forget(struct host_mm *mm);
/* For the checker: count all that has changed; whatever it wants to see again, it notes. */
void note_count_all(struct host_kernel *k);

/* Pages of 4096 bytes become the kernel's own: their tag is always the same. */
static inline void kernel_tag(struct host_kernel *k, uint64_t pa, uint64_t npages)
{
	uint64_t i;

	sim_spin_lock(&k->frames_lock);	/* dram_tag_set() is for one at a time */
	for (i = 0; i < npages; i++)
		dram_tag_set(k->dram, pa + i * DRAM_PAGE, 1);
	sim_spin_unlock(&k->frames_lock);
}

/* ---- event.c ---- */
/* The calling thread begins (or ends) to wait for another program: host_on_wait(). */
void host_waits(bool waits);
void *host_waits_local(size_t *bytes);	/* sim_local_add() */
void host_spend(struct host_kernel *k, enum timing what);
/* The same of storage: the thread waits for it, and does not work. */
void host_wait_storage(struct host_kernel *k, enum timing what);
uint64_t host_event(struct host_kernel *k, enum trace_event ev, uint64_t a0,
		    uint64_t a1, uint64_t a2, uint64_t a3);
static inline void host_count(atomic_ullong *n, uint64_t by)
{
	atomic_fetch_add_explicit(n, by, memory_order_relaxed);
}

/* ---- irq.c ---- */
int host_irq_start(struct host_kernel *k);
void host_irq_stop(struct host_kernel *k);

/* ---- kpages.c: device pages of the kernel's own bank, zeroed ---- */
int kpages_create(struct host_kernel *k);
void kpages_destroy(struct host_kernel *k);
/* npages in a row; physical address, or 0 when there are none. */
uint64_t kpages_get(struct host_kernel *k, uint64_t npages);
void kpages_put(struct host_kernel *k, uint64_t pa, uint64_t npages);

/* ---- queues.c: memory of queues in the banks of processes ---- */
int area_create(struct host_kernel *k, int bank, uint64_t pa, bool forget);
/*
 * The process has ended: its bank goes now, or with the last memory in it. No
 * area: the bank goes.
 */
void area_orphan(struct host_kernel *k, int bank);
/* Give memory back; false: it lies in no area. */
bool area_put(struct host_kernel *k, uint64_t pa, uint64_t npages);
/* The end of the kernel: those that the card has kept. */
void areas_destroy(struct host_kernel *k);
/* Do the counts add up? Pages in use by the bits. */
uint64_t areas_count(struct host_kernel *k);

/*
 * ---- pgtable.c: descriptors (sources: smmu-ptes) ----
 *
 * A page has HOST_FRAMES descriptors, which say the same but for the address: all
 * of it comes, goes, ages and becomes dirty together. So the first one speaks for
 * all, and addresses and numbers here are those of pages.
 */
static inline bool pte_resident(uint64_t d)
{
	return d & (PTE_VALID | PTE_NONE);
}

static inline bool pte_away(uint64_t d)
{
	return d == PTE_AWAY;
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
uint64_t pt_get(struct host_mm *mm, uint64_t va);
/* desc: of the first, for all of the page. */
void pt_set(struct host_mm *mm, uint64_t va, uint64_t desc);
/* Do all descriptors of a page that has some say the same? */
bool pt_whole(struct host_mm *mm, uint64_t va);
/* First page in [va, end) whose descriptor is not 0; end when there is none. */
uint64_t pt_next(struct host_mm *mm, uint64_t va, uint64_t end);

/* ---- frames.c (the caller holds mm's lock) ---- */
int frames_attach(struct host_mm *mm);	/* adds the bank */
void frames_detach(struct host_mm *mm);	/* all frames must be free */
/* A frame for va, BUSY, with a new tag; NULL: none is free. */
struct host_frame *frame_take(struct host_mm *mm, uint64_t va);
/* The same, for one that cannot wait: 0 or -EAGAIN. */
int frame_try(struct host_mm *mm, uint64_t va, struct host_frame **out);
/* BUSY, or ORPHAN without a pin, to FREE, with a new tag. */
void frame_put(struct host_frame *f);
void frame_map(struct host_frame *f);	/* BUSY to MAPPED */
void frame_unmap(struct host_frame *f);	/* MAPPED to BUSY */
/* MAPPED to ORPHAN: its entry is broken. */
void frame_orphan(struct host_frame *f);
/* No entry is left, and the notifiers have invalidated: the board hears, in the tag. */
void frame_orphaned(struct host_frame *f);
void *frame_mem(const struct host_frame *f);
struct host_frame *frame_at(struct host_mm *mm, uint64_t pa);
void frame_dirty(struct host_frame *f);
void frame_brought(struct host_frame *f);	/* by the driver, for the card */

/* At its limit? Then only a page of its own makes room for another. */
bool frames_full(const struct host_mm *mm);
/* The first of those that are taken, from that one of mm's frames on; NULL: none. */
static inline struct host_frame *frame_taken(const struct host_mm *mm, uint64_t from)
{
	uint64_t words = (mm->frames + 63) / 64, w = from / 64;
	uint64_t bits = w < words ? mm->taken[w] & ~0ull << from % 64 : 0;

	while (!bits && ++w < words)
		bits = mm->taken[w];
	from = bits ? w * 64 + (uint64_t)__builtin_ctzll(bits) : mm->frames;
	return from < mm->frames ? &mm->frame[from] : NULL;
}

/* ---- reclaim.c, evict.c (mm's lock held) ---- */
/*
 * As frame_take(); takes a page away from somebody when
 * none is free. 0, -ENOMEM, or -EAGAIN: only others' locks were in the way, or
 * processes that are slow.
 */
int frame_get(struct host_mm *mm, uint64_t va, struct host_frame **out);
/* -EAGAIN: others' locks were in the way; -EBUSY: slow processes; -ENOMEM. */
int reclaim_one(struct host_kernel *k, struct host_mm *held);
/* A page of its own. */
int reclaim_own(struct host_mm *mm);
/*
 * No lock held: wait for the owner of the frame under the hand and take one
 * from it. 0, -EAGAIN, -ENOMEM, -EBUSY.
 */
int reclaim_wait(struct host_kernel *k);
/*
 * Take away those of n pages from va on that are resident and not pinned. 0, or
 * -ENOSPC (swap is full) or -EIO when some dirty page had to stay; -EBUSY,
 * -EAGAIN: as cpu_revoke(), the CPU still has some of them.
 */
int evict_range(struct host_mm *mm, uint64_t va, uint64_t npages);
/*
 * Clear the access flags of a range; only of pages that are not pinned, if
 * pinned is false. 0, or as cpu_revoke(): the CPU still has some.
 */
int age_range(struct host_mm *mm, uint64_t va, uint64_t npages, bool pinned);

/* ---- swap.c ---- */
int swap_create(struct host_swap *s, uint64_t slots, const char *dir);
void swap_destroy(struct host_swap *s);
uint32_t swap_get(struct host_swap *s);	/* NO_SLOT: full */
void swap_put(struct host_swap *s, uint32_t slot);
/* A swap slot on the account of mm; NO_SLOT: none, or too many. */
uint32_t slot_get(struct host_mm *mm);
void slot_put(struct host_mm *mm, uint32_t slot);
int swap_read(struct host_swap *s, uint32_t slot, void *page);
int swap_write(struct host_swap *s, uint32_t slot, const void *page);
struct host_source *source_open(const char *path, int *error);
void source_put(struct host_mm *mm, struct host_source *f);	/* lock held */

/* ---- map.c: the list of mappings (mm's lock held) ---- */
struct host_map *map_find(struct host_mm *mm, uint64_t va);
bool map_covers(struct host_mm *mm, uint64_t start, uint64_t end); /* no hole */
/*
 * Make all of [start, end) mapped with boundaries at both ends; -ENOMEM when it
 * has holes.
 */
int map_cut(struct host_mm *mm, uint64_t start, uint64_t end);
/* The same, and holes do not matter. */
int map_split(struct host_mm *mm, uint64_t start, uint64_t end);
/* The first mapping that ends behind va; NULL: none. */
struct host_map *map_behind(struct host_mm *mm, uint64_t va);
/* Room for n more; -ENOMEM: no memory, or more than PROCESS_MAPS. */
int map_room(struct host_mm *mm, unsigned int n);
uint64_t map_gap(struct host_mm *mm, uint64_t bytes); /* the first; 0: none */
void map_insert(struct host_mm *mm, const struct host_map *m);
void map_remove(struct host_mm *mm, uint64_t start, uint64_t end);
void map_merge(struct host_mm *mm);

/* ---- mmap.c ---- */
int check_map(uint64_t *len, int prot, uint64_t offset);
/* A process has so many files, and each is counted before it is there: 0 or -EMFILE. */
int file_count(struct host_mm *mm);
/* f is there, with one user; or not. */
struct host_source *file_counted(struct host_mm *mm, struct host_source *f);
/* The first gap becomes m, len bytes long, with m's file; its address, or NULL. */
void *map_somewhere(struct host_mm *mm, struct host_map *m, uint64_t len, int *error);

/* ---- mm.c, fault.c ---- */
/* Of an embedded process, ops is &arena_ops. */
struct host_mm *mm_create(struct host_kernel *k, uint32_t pid, uint16_t asid,
			  const struct mm_ops *ops, int *error);
void mm_exit(struct host_mm *mm);
/* The process itself is no user any more: wait until nobody is. */
void mm_users_end(struct host_mm *mm);
/* Tell every notifier: access flags have gone; entries changed. Lock held. */
void mm_aged(struct host_mm *mm, uint64_t va, uint64_t npages);
void mm_mapped(struct host_mm *mm, uint64_t va); /* has come, or has more rights */
bool mm_mapped_heard(const struct host_mm *mm); /* by a driver */
void mm_invalidate(struct host_mm *mm, uint64_t va, uint64_t npages);
/*
 * Drop pages and swap entries; none may be held. What is pinned loses its mapping
 * like the rest, and its frame becomes an orphan. Lock held. mm_drop: no view is
 * open. -EBUSY: the CPU still has some; nothing has changed.
 */
int mm_zap(struct host_mm *mm, uint64_t va, uint64_t npages);
void mm_drop(struct host_mm *mm, uint64_t va, uint64_t npages);
/*
 * munmap: pages and mappings of the range go, holes are allowed. Lock and mmap lock
 * (for writing) held. Errors as of mm_zap(), -ENOMEM; -EBUSY also: pages are held.
 */
int unmap_locked(struct host_mm *mm, uint64_t va, uint64_t len);
/* Can this be done to the range? 0, -ENOMEM: it has holes, -EBUSY. Lock held. */
int advise_check(struct host_mm *mm, uint64_t va, uint64_t end, enum host_advice a);
/*
 * A range of addresses: aligned, not empty, inside the arena, or (anywhere) of memory
 * that a process elsewhere may have given. Length is rounded up. 0 or -EINVAL.
 */
int check_range(struct host_mm *mm, const void *addr, uint64_t *len,
		bool anywhere);
/* What may be asked of mm's rights, and what it means. */
bool prot_bad(int prot);
int prot_normal(int prot);
/* A CPU fault: mm_fault, then the page is opened for the CPU. */
int mm_fault_cpu(struct host_mm *mm, uint64_t va, bool write);
/* The same without waiting for anything; -EAGAIN: it would, nothing happened. */
int mm_fault_cpu_try(struct host_mm *mm, uint64_t va, bool write);
/*
 * Page of va present. 0 minor, 1 major, -EFAULT, -ENOMEM, -EAGAIN. The lock is held
 * before and after; meanwhile it may have been let go, so that nothing that was
 * looked up before holds.
 */
int fault_bring(struct host_mm *mm, uint64_t va);	/* whatever its rights */
/* The page of va present, and allowed for this access; the rest as fault_bring(). */
int fault_locked(struct host_mm *mm, uint64_t va, bool write);
/* After that, without the lock: the time that it took, of any result. */
int fault_spend(struct host_kernel *k, int r);
/*
 * After -EAGAIN, without the lock: wait a little and say whether to try again,
 * which *tries counts.
 */
bool fault_again(struct host_mm *mm, int err, unsigned int *tries);

/* ---- pin.c ---- */
/* mm has lost all else (lock held): its bank goes now, or with its last pin. */
void pins_outlive(struct host_mm *mm);
/* The kernel ends: what is still pinned is said, and given back. */
void pins_forgotten(struct host_kernel *k);

/* ---- page_in.c (mm's lock held) ---- */
enum {
	PAGE_IN_MINOR,
	PAGE_IN_MAJOR,
	PAGE_IN_LOOK,	/* things have changed: begin again, with map_find() */
};

/*
 * Bring in va, which m holds and which has no frame; the lock is let go meanwhile.
 * need: HOST_READ or HOST_WRITE, which m must still give at the end; 0: nothing.
 * PAGE_IN_*, -EFAULT, -ENOMEM, -EAGAIN.
 */
int page_in(struct host_mm *mm, struct host_map *m, uint64_t va, int need);
/* Would the page whose entry is d be waited for? In lockstep swap is a disk. */
bool page_in_waits(const struct host_mm *mm, const struct host_map *m, uint64_t d);
/* If not: at once, into a frame that is BUSY. The lock is kept. PAGE_IN_MINOR, _MAJOR. */
int page_in_now(struct host_mm *mm, struct host_map *m, uint64_t va, bool write,
		struct host_frame *f);
bool fill_find(const struct host_mm *mm, uint64_t va);	/* is it on its way in? */
/* The pages of a range are dropped: those on their way find no place. */
void fill_cancel(struct host_mm *mm, uint64_t va, uint64_t end);
/* Wait until one of those on their way is there; the lock is let go meanwhile. */
void fill_wait(struct host_mm *mm);

/* ---- thread.c ---- */
struct fl_sys;
/* host_thread_start() (sys.c), with the library's system calls. */
struct sim_thread *thread_start(struct host_process *p, const char *name,
				const struct fl_sys *sys, void (*fn)(void *arg), void *arg);
/* Is va in the arena of the calling thread's process? Async-signal-safe. */
bool thread_in_arena(uint64_t va);
/* What each software thread has of its own (sim_local_add). */
void *thread_local_self(size_t *bytes), *thread_local_acting(size_t *bytes);
/*
 * The kernel half of the calling thread faults va in. write: 1, 0, or -1 for
 * unknown. Async-signal-safe. 0, -EFAULT, -ENOMEM.
 */
int thread_fault(uint64_t va, int write);
/* Where the machine does not say: did a page that may be read fault for a write? Locks mm. */
bool thread_wants_write(struct host_mm *mm, uint64_t va, int write);

/* ---- process.c ---- */
struct host_process *process_new(struct host_kernel *k, const char *name,
				 uint16_t *asid, int *error);
void process_free(struct host_process *p);
/* From now on others may find it. */
void process_publish(struct host_process *p, struct host_mm *mm);

/* ---- file.c ---- */
void host_files_close(struct host_process *p);

#endif
