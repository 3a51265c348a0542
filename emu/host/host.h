/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.h - a small kernel for one board: processes with real ARMv8 tables in
 * DRAM, frames, residency, page-in, eviction, interrupts, and the device files
 * of the driver.
 *
 * The reference driver (kernel-ref/) runs on it through emu/host/shim, which
 * offers just the Linux API that the driver uses. Application threads run as
 * threads of this process; a page that is not there is PROT_NONE for them, and
 * touching it raises SIGSEGV. Processes that live elsewhere are an annex
 * (remote/remote.h), which brings their faults and calls.
 *
 * What the driver needs of a process's memory is mm.h.
 *
 * Files: kernel.c (object, counters), event.c (events, time), irq.c (interrupts),
 * process.c (processes), thread.c (application threads and their kernel halves),
 * file.c (device files), sys.c (the library's system calls), mm.c (address space,
 * system calls on it), notifier.c (who hears of it), maplock.c (mmap lock, users),
 * mmap.c (new mappings), map.c (list of them), fault.c and page_in.c (page-in,
 * copies), pin.c (pins), pgtable.c (descriptors), frames.c (allocator, tags),
 * reclaim.c (clock), evict.c (taking pages away), swap.c (swap and file pages),
 * kpages.c (tables and DMA memory), card_tables.c (tables of the card), queues.c
 * (queues in a process's bank), cpu.c (what the CPU may do), arena.c (CPUs in this
 * program), look.c (what memory holds), note.c (what changes), check.c (what must add
 * up).
 */
#ifndef FL_HOST_H
#define FL_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/board.h"
#include "board/dram.h"
#include "host/page.h"

struct sim_thread;
struct sim_waitq;
struct trace_at;

#define HOST_FRAMES	(HOST_PAGE / DRAM_PAGE)
#define HOST_PAGES	(65536ul / HOST_FRAMES)	/* 256 MB, when nobody says */
#define HOST_PROCESSES	24	/* of one kernel; more than context banks */

struct host_kernel;
struct host_process;
struct host_mm;

/* Pages are of HOST_PAGE bytes, here and in all of this file. */
struct host_config {
	struct board *board;
	uint64_t resident_pages;	/* frames for user pages; 0: HOST_PAGES */
	uint64_t swap_pages;		/* 0: HOST_PAGES */
	/* Of these, what one process may have at a time; 0: all. */
	uint64_t process_pages, process_swap_pages;
	const char *swap_dir;		/* of its file; NULL: memory */
};

/*
 * NULL + *error; -ENOTSUP: the host's pages are larger than HOST_PAGE (said on
 * standard error, with what to do).
 */
struct host_kernel *host_create(const struct host_config *cfg, int *error);
/* After sim_stop; all processes must be gone. */
void host_destroy(struct host_kernel *k);
struct board *host_board(struct host_kernel *k);

/* ---- processes and their threads ---- */

/*
 * A process is an address space with a fixed range of addresses (its arena) inside this
 * program, the same in every run: process i of board b has its arena at HOST_ARENA_BASE +
 * (b * HOST_PROCESSES + i) * HOST_ARENA_BYTES. There is room for HOST_ARENA_BOARDS; those of
 * other boards are at HOST_ARENA_MORE. Name: for traces and errors.
 */
#define HOST_ARENA_BASE	 0x7e9000000000ull
#define HOST_ARENA_BOARDS 8u
#define HOST_ARENA_MORE	 0x600000000000ull
#define HOST_ARENA_BYTES 0x80000000ull		/* 2 GB of addresses */
struct host_process *host_process_create(struct host_kernel *k,
					 const char *name, int *error);
/*
 * exit: closes files, unmaps, gives everything back. Its threads must have
 * ended.
 */
void host_process_exit(struct host_process *p);
const char *host_process_name(const struct host_process *p);
uint32_t host_process_pid(const struct host_process *p);
/* Whose it is: the driver's limits go by that. Of a new one: 0. */
void host_process_set_uid(struct host_process *p, uint32_t uid);
uint32_t host_process_uid(const struct host_process *p);
struct host_kernel *host_process_kernel(struct host_process *p);
struct host_mm *host_process_mm(struct host_process *p);
/*
 * Address space of the process with that name, embedded or elsewhere, with a
 * reference (mm_put); NULL: there is none. From any thread of the scheduler; once
 * it is NULL, all that the process had has been given back.
 */
struct host_mm *host_find_mm(struct host_kernel *k, const char *name);

/*
 * An application thread of p: sets host_current() and the library's system-call
 * table.
 */
struct sim_thread *host_thread_start(struct host_process *p, const char *name,
				     void (*fn)(void *arg), void *arg);
/* Process of the calling thread; NULL in a kernel thread or outside. */
struct host_process *host_current(void);
/*
 * The calling thread of the scheduler acts for p from now on (NULL: for nobody):
 * host_current(), the kernel's half of a thread that is elsewhere.
 */
void host_act_for(struct host_process *p);

/* ---- system calls (of host_current(), or of p) ---- */

enum { HOST_READ = 1, HOST_WRITE = 2 };
/*
 * Map len bytes (rounded up), demand-zero, or the file at path from offset on
 * (private). NULL + *error.
 */
void *host_mmap(struct host_process *p, uint64_t len, int prot,
		const char *path, uint64_t offset, int *error);
/*
 * While the calling thread waits for a file of another program (remote/): fn(arg, true),
 * fn(arg, false). For threads that others count on.
 */
void host_on_wait(void (*fn)(void *arg, bool waits), void *arg);
/*
 * Whole pages of [addr, addr + len); addr must be page aligned (-EINVAL).
 * munmap allows holes; what is pinned goes like the rest, and its frames stay with
 * the driver (mm_pin). remap is munmap and then mmap of zeros at the same place, in
 * one step: mmap with MAP_FIXED. mprotect refuses holes (-ENOMEM) and keeps what is
 * resident; HOST_WRITE includes reading.
 */
int host_munmap(struct host_process *p, void *addr, uint64_t len);
int host_remap(struct host_process *p, void *addr, uint64_t len, int prot);
int host_mprotect(struct host_process *p, void *addr, uint64_t len, int prot);
/* The first three are the library's, with its numbers (enum fl_advice). */
enum host_advice {
	HOST_PAGEOUT,	/* evict now */
	HOST_DONTNEED,	/* drop: zeros (or the file) next time */
	HOST_WILLNEED,	/* page in (for reading) */
	HOST_POPULATE,	/* page in for writing */
	HOST_COLD,	/* clear access flags */
};
/*
 * -ENOMEM: the range has holes, or no frame. PAGEOUT leaves pinned pages where
 * they are; -ENOSPC, -EIO: some dirty page had to stay (swap is full, cannot be
 * written). DONTNEED takes pinned pages like the rest: the next access finds zeros in
 * another frame.
 */
int host_madvise(struct host_process *p, void *addr, uint64_t len,
		 enum host_advice a);

/*
 * Device files. Negative errno. A file lives until its number is closed and
 * what was mapped of it is unmapped, as on Linux.
 */
/* name NULL: the first device there is */
int host_open(struct host_process *p, const char *name);
int host_close(struct host_process *p, int fd);
long host_ioctl(struct host_process *p, int fd, unsigned int cmd, void *arg);
/* mmap of a device file: memory or registers, as the driver's mmap says. */
void *host_mmap_fd(struct host_process *p, int fd, uint64_t len,
		   uint64_t offset, int *error);
int host_munmap_fd(struct host_process *p, void *addr, uint64_t len);
/*
 * Block until the file is readable (driver's poll); 0, -ETIMEDOUT. timeout_ns
 * 0: no limit.
 */
int host_poll(struct host_process *p, int fd, uint64_t timeout_ns);
/*
 * Store to a mapped device register (doorbell): on a board a plain volatile
 * store, here a call, because nobody would see the store. Where there is no
 * register it ends the program; the second says false instead, and is for several stores to
 * one register (board_ring()).
 */
void host_mmio_write32(struct host_process *p, volatile void *addr,
		       uint32_t value);
bool host_mmio_try_ring(struct host_process *p, volatile void *addr,
			const struct board_bell *bell, unsigned int n);
/* What processes have of registers leads nowhere from now on: stores are lost. */
void host_unmap_mmio(struct host_kernel *k);

/* ---- kernel services for the shim ---- */

/* The kernel has copied so many bytes: counted, and the time that takes. */
void host_copied(struct host_kernel *k, uint64_t bytes);
/*
 * Handler of a line: runs in the kernel's interrupt thread, must not sleep. 0
 * or -EBUSY.
 */
int host_request_irq(struct host_kernel *k, enum irq_line line,
		     void (*fn)(void *arg), void *arg);
void host_free_irq(struct host_kernel *k, enum irq_line line);
/* One with a handler is high, or a handler is running. */
bool host_irq_pending(struct host_kernel *k);
/*
 * Physically contiguous, zeroed kernel memory in DRAM that the NIC can reach.
 * NULL: none.
 */
void *host_dma_alloc(struct host_kernel *k, uint64_t bytes, uint64_t *pa);
void host_dma_free(struct host_kernel *k, void *mem, uint64_t bytes,
		   uint64_t pa);
/* The same in the bank of mm's process, which maps it; host_dma_free() it. */
void *mm_dma_alloc(struct host_mm *mm, uint64_t bytes, uint64_t *pa);
/* A page of the kernel's for a table that the card's SMMU walks (card_tables.h). */
void *host_table_alloc(struct host_kernel *k, uint64_t *pa);
void host_table_free(struct host_kernel *k, void *mem, uint64_t pa);
/* A device file: the shim registers its operations. */
struct host_file;
struct host_device_ops {
	int (*open)(void *dev, struct host_process *p, struct host_file *f);
	void (*release)(void *dev, struct host_file *f);
	long (*ioctl)(void *dev, struct host_file *f, unsigned int cmd,
		      unsigned long arg);
	/* Gives the memory, or for registers the physical address. */
	int (*mmap)(void *dev, struct host_file *f, uint64_t len,
		    uint64_t offset, void **mem, uint64_t *mmio_pa);
	/* A mapping has ended: what mmap was asked for and gave. Or NULL. */
	void (*munmap)(void *dev, struct host_file *f, uint64_t len, void *mem,
		       uint64_t mmio_pa);
	bool (*readable)(void *dev, struct host_file *f);
	struct sim_waitq *(*waitq)(void *dev, struct host_file *f);
};
struct host_file {
	struct host_process *process;
	void *private_data;
};
int host_device_add(struct host_kernel *k, const char *name,
		    const struct host_device_ops *ops, void *dev);
/* New calls hear -ENODEV; those that are under way go on. */
void host_device_remove(struct host_kernel *k, const char *name);
/* Waits until no call on a device that was removed is under way. */
void host_device_drain(struct host_kernel *k);

/* ---- what the checker and reports read ---- */
struct host_stats {
	uint64_t faults_minor, faults_major, faults_failed, page_ins, evictions,
		swap_ins, swap_outs, ages, pins, invalidations, cpu_faults,
		frames_total, frames_free,
		/* Pinned, with or without a mapping, or held by their process. */
		frames_pinned, swap_used,
		/*
		 * Pages of queues; banks of processes that have ended, where
		 * the card has not let go of a queue, or the driver of a page.
		 */
		queue_pages, banks_kept,
		/* Of page_ins: by the driver, for the card. */
		pages_brought,
		/* By the kernel, between its memory and a process's. */
		bytes_copied,
		/* Frames of processes, and those of them with a pin: the most at a time. */
		resident_peak, pinned_peak,
		/* Runs of each line's handler. */
		irqs[IRQ_LINES],
		/*
		 * Lockstep: CPU time of handlers, of the driver's workers, and of
		 * processes in the kernel (their calls and page faults). Waiting for
		 * storage, a lock or the card is none.
		 */
		cpu_irq_ns, cpu_work_ns, cpu_calls_ns;
};
void host_stats(struct host_kernel *k, struct host_stats *st);
/* For sim_charge(): the driver's workers. */
atomic_ullong *host_work_account(struct host_kernel *k);
/*
 * Of the pages that the driver has brought in: those that the card never used
 * before they went, or has not used so far. Looks at every frame; the caller holds
 * no lock.
 */
uint64_t host_pages_unused(struct host_kernel *k);
/*
 * NULL, or a sentence that says which count does not add up (frames, owners,
 * tables).
 */
const char *host_check(struct host_kernel *k, bool thorough);
/*
 * Lockstep: from now on (there are no processes yet) w is noted when something of
 * the kernel changes, and host_check_changed() looks at what has changed since it
 * was called last, and now and then at everything; its answers are those of
 * host_check(k, false).
 */
void host_watch(struct host_kernel *k, struct sim_watch *w);
const char *host_check_changed(struct host_kernel *k);
/*
 * Physical address of va right now without side effects; 0: not present. For
 * the walk picture.
 */
uint64_t host_translate(struct host_mm *mm, uint64_t va);
/* Fault injection: the next n frame allocations fail. */
void host_inject_no_frames(struct host_kernel *k, uint64_t n);
/* Fault injection: writes to the swap file fail while on. */
void host_inject_swap_errors(struct host_kernel *k, bool on);
/*
 * Fault injection: of what drivers ask their kernels for from now on (memory, an
 * interrupt, a notifier and so on) the n-th is refused, once; 0: nothing. Returns
 * what was left of the n before: 0 when it was refused.
 */
unsigned int host_inject_driver_error(unsigned int n);
/*
 * Fault injection: of the pages that drivers ask for at faults from now on the n-th
 * is taken away again, as by another CPU, before the driver hears that it is there.
 * Returns what was left of the n before.
 */
unsigned int host_inject_reclaim(unsigned int n);

/*
 * What the kernel's events of the calling thread belong to: who acts for a
 * transfer (the driver's worker) sets transfer, block and cause here and clears
 * them after. The board is filled in by the kernel.
 */
extern _Thread_local struct trace_at host_this_trace;

static inline struct trace_at *host_trace_at(void)
{
	return &host_this_trace;
}

/*
 * A CPU access that cannot be repaired (not mapped, not allowed, no frame) ends
 * the program as on any system. fn hears of it first, in the thread that did it
 * and inside the signal handler; when it returns true it has changed something
 * and the access is tried again. NULL: nobody. One for the program, as signal
 * handlers are.
 */
void host_segv_hook(bool (*fn)(struct host_process *p, uint64_t va, bool write,
			       int error));

/*
 * Start the reference driver on this kernel's board (probe): /dev/faultline0.
 * Implemented by the shim.
 */
struct fl_plan_own;
struct host_driver_params {
	int system;		/* of a new process: enum fl_system */
	int resolve;		/* enum fl_ioc_resolve */
	uint32_t resolve_number;	/* of around:N; else 0 */
	const struct fl_plan_own *plan;	/* FL_IOC_RESOLVE_OWN, or NULL */
	/* Processes have no capabilities, and may pin so many bytes at most. */
	bool plain_user;
	uint64_t memlock_bytes;
	uint32_t queue_bits;	/* property faultline,queue-bits; 0: there is none */
	bool no_psdma;		/* the device tree does not give it the DMA engine */
};
int host_driver_probe(struct host_kernel *k,
		      const struct host_driver_params *p);
/* The machine stops while processes are at work; only removing comes later. */
void host_driver_shutdown(struct host_kernel *k);
void host_driver_remove(struct host_kernel *k);
/* It has an interrupt to take, or work to do: it may still write to a process's memory. */
bool host_driver_busy(struct host_kernel *k);

#endif
