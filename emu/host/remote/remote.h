/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remote.h - processes that live in another program. The small kernel has their address
 * spaces, tables and frames as it has those of its own; what is different is where the CPU
 * is (struct mm_ops of host/cpu.h), and all of that is here. emu/serve is the other half: it
 * brings the calls and faults of such a process and carries what the kernel tells its CPU.
 *
 * An annex of the core: without it there are processes in this program, and no others.
 *
 * Files: remote.c (begin, faults, waiting and dying), revoke.c (the CPU's view), calls.c
 * (calls that change memory), imported.c (memory that the process had before), source.c
 * (files that it has opened).
 */
#ifndef FL_HOST_REMOTE_H
#define FL_HOST_REMOTE_H

#include "host/host.h"

/* ---- its life ---- */

/*
 * Its CPU side: what this kernel would tell its MMU. Both are called with the
 * address space's lock held, for pages anywhere in its address space.
 */
struct host_cpu_ops {
	/*
	 * Pages from va may be used with prot (HOST_READ, HOST_WRITE) and are
	 * frames of its bank, HOST_PAGE bytes each, from number frame on. Need
	 * not have happened when it returns, but happens in order. Never fails:
	 * what stays closed faults again.
	 */
	void (*open)(void *arg, uint64_t va, uint64_t npages, uint64_t frame,
		     int prot);
	/*
	 * Nobody uses the pages when it returns 0. -ETIME: the process did not
	 * answer in time, so some may still be open; it will close them when
	 * it comes to it. Must soon return when the process dies. Covers no
	 * page that lies outside every mapping, nor one that is moving (see
	 * host_import).
	 */
	int (*close)(void *arg, uint64_t va, uint64_t npages);
};
/*
 * arena: where it has HOST_ARENA_BYTES of addresses for host_mmap; a multiple of
 * 2 MB, not 0, below 2^47 (-EINVAL). arg must live until host_process_exit() has
 * returned. -EAGAIN: too many processes.
 */
struct host_process *
host_process_attach(struct host_kernel *k, const char *name, uint64_t arena,
		    const struct host_cpu_ops *ops, void *arg, int *error);
/*
 * What it may map: frames from offset 0 on, then memory of its queues. The
 * descriptor is the kernel's; whoever has a copy keeps no contents beyond the
 * end of the process.
 */
struct host_bank {
	int fd;
	const void *mem;	/* the kernel's own view of it */
	uint64_t bytes, queue_offset;
	uint64_t frames;	/* of HOST_PAGE bytes */
};
void host_process_bank(struct host_process *p, struct host_bank *b);
/* Where in the bank memory lies that host_mmap_fd() gave; ~0: not there. */
uint64_t host_bank_offset(struct host_process *p, const void *mem);
/*
 * A page fault of its CPU, at any va. write: 1, 0, -1: unknown. 0, -EFAULT,
 * -ENOMEM. After 0 the access is to be tried again, once what was opened is open.
 */
int host_process_fault(struct host_process *p, uint64_t va, int write);
/*
 * The same for a thread that must not wait: a page of zeros, or one that is there.
 * -EAGAIN: it would wait (a lock, a frame, contents from swap or a file), it will
 * fail, or write is -1; nothing has happened: ask host_process_fault().
 */
int host_process_fault_try(struct host_process *p, uint64_t va, int write);
/*
 * It has died: who sleeps in a call of it wakes up (-EINTR), and no later call
 * sleeps for long. Its threads must come back before host_process_exit().
 */
void host_process_kill(struct host_process *p);

/* ---- memory that it had before it came ---- */

/*
 * Memory of its own, outside the arena: npages from va become a mapping with
 * pages in frame[], present and pinned, which the process fills and then uses
 * in place of its own. -EEXIST: some of it is a mapping already; -EINVAL;
 * -ENOMEM: frames, its limits. Then host_imported() lets them be evicted (keep:
 * they stay for ever); neighbours with the same rights become one mapping.
 *
 * Until then the pages are moving: the process sees to its view of them by
 * itself, a fault on one returns 0 and opens nothing, and they can be neither
 * changed (-EBUSY) nor closed. After it the kernel takes them for open. An
 * import that cannot be done ends with host_returned() in place of
 * host_imported(). -EINVAL of both: not all of the pages are moving.
 *
 * untouched: a bit for each page (64 at most) that the process has never touched. It
 * needs no frame and no copy: HOST_NO_FRAME stands in frame[], and after
 * host_imported() it is absent, as new memory is, and becomes zeros when it is
 * touched. It cannot be kept (-EINVAL of host_imported()). Its tables are made at
 * once, and count. While it moves the card cannot have it (-EFAULT).
 */
#define HOST_NO_FRAME (~0u)
int host_import(struct host_process *p, uint64_t va, uint64_t npages, int prot,
		uint64_t untouched, uint32_t *frame);
int host_imported(struct host_process *p, uint64_t va, uint64_t npages,
		  bool keep);
/*
 * The way back: the pages of an imported range are made present and pinned, so
 * that the process can copy them, but for those that are absent zeros still or
 * again, which have no frame (HOST_NO_FRAME); they are moving again, and the kernel takes
 * them for closed. host_returned() then forgets mapping and pages, without a
 * word to the process; host_imported() takes the release back. -EINVAL: not
 * imported; -EBUSY: they are moving, or the driver has pinned some, so that the card
 * could change bytes after they were copied; -ENOMEM: no frame; -EFAULT: not to be
 * read from swap. On error nothing has changed.
 */
int host_return(struct host_process *p, uint64_t va, uint64_t npages,
		uint32_t *frame);
int host_returned(struct host_process *p, uint64_t va, uint64_t npages);
/*
 * 1: the page at va is imported and absent, and comes as zeros: nobody has touched it
 * so far, or it was forgotten. 0: not so; -EINVAL: it can be no such page.
 */
int host_untouched(struct host_process *p, uint64_t va);

/* ---- its calls ---- */

/*
 * As munmap, remap, mprotect and madvise of host.h, which would return -EAGAIN where the
 * process closes its pages slowly: then others have the lock in between. mprotect and
 * madvise take imported memory too. -EBUSY: it does not close them in time, or has them in
 * hand (host_import, host_imported); -EINTR: it has been killed.
 */
int host_process_munmap(struct host_process *p, void *addr, uint64_t len);
int host_process_remap(struct host_process *p, void *addr, uint64_t len, int prot);
int host_process_mprotect(struct host_process *p, void *addr, uint64_t len, int prot);
int host_process_madvise(struct host_process *p, void *addr, uint64_t len,
			 enum host_advice a);

/* ---- files that it has opened ---- */

/* A file that is not this program's, and may answer late, or never. */
struct host_file_ops {
	/*
	 * HOST_PAGE bytes at offset, zeros behind its end. No lock is held, and
	 * it may wait. 0, -EFAULT: all is behind its end, -EIO.
	 */
	int (*read)(void *arg, uint64_t offset, void *page);
	/*
	 * The last mapping of it has gone, or it could not be mapped. A lock is
	 * held: it must not wait.
	 */
	void (*put)(void *arg);
};
/*
 * host_mmap with such a file, which has file_bytes now. -EINVAL: it ends before,
 * -EMFILE: there are too many.
 */
void *host_mmap_source(struct host_process *p, uint64_t len, int prot,
		       const struct host_file_ops *ops, void *arg,
		       uint64_t file_bytes, uint64_t offset, int *error);

#endif
