/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sys.h - the system calls that libfaultline makes, as a table. There are three:
 * Linux's own (sys_linux.c); the small kernel's in an application thread of the
 * emulator, which sets the table of its thread with fl_sys_set(); and that of a
 * process that reaches a board in another process ("emu:NAME", attach/). A
 * device keeps the table it was opened with. Negative errno everywhere.
 *
 * fd: what open() gave. Calls that have an address instead find out from it.
 */
#ifndef FL_SYS_H
#define FL_SYS_H

#include <stddef.h>
#include <stdint.h>

/* What trace() is told; the emulator maps these to its own event numbers. */
enum fl_sys_event {
	FL_SYS_EV_POST = 0,	/* a0 qp, a1 opcode, a2 local va, a3 bytes */
	FL_SYS_EV_DOORBELL = 1,	/* a0 qp, a1 index of the entry */
	FL_SYS_EV_COMPLETE = 2,	/* a0 qp, a1 status, a2 bytes, a3 its requests under way */
	/* As DOORBELL, where that is memory: no mmio_write32() follows. */
	FL_SYS_EV_PUBLISH = 3,
	/* a0 key, a1 va, a2 bytes, a3 why (pincache.c); traced where there is no ring */
	FL_SYS_EV_CACHE_HIT = 4,
	FL_SYS_EV_CACHE_MISS = 5,	/* a0 FL_LOCAL_WRITE and its like */
	FL_SYS_EV_CACHE_EVICT = 6,
	FL_SYS_EV_REDO = 7,	/* a0 qp, a1 opcode, a2 remote va, a3 bytes */
};

/* What spend() is told. */
enum fl_sys_work {
	FL_SYS_POST = 0,	/* one work request was written */
	FL_SYS_POLL = 1,	/* one look at a completion queue, or at a counter */
	FL_SYS_HANDLER = 2,	/* a handler is about to be called */
	FL_SYS_QUEUE = 3,	/* a wait queue has woken its thread */
	FL_SYS_SEMAPHORE = 4,	/* a unit of a semaphore was taken */
};

struct fl_sys {
	int (*open)(const char *name);	/* NULL: the first card */
	int (*close)(int fd);
	int (*ioctl)(int fd, unsigned int cmd, void *arg);
	void *(*mmap)(int fd, size_t bytes, uint64_t offset, int *error);
	int (*munmap)(void *addr, size_t bytes);
	/* A doorbell: on a board a volatile store. */
	/* -ENODEV: the card is gone, -EPERM: as relax; nobody hears of it. */
	int (*mmio_write32)(volatile void *addr, uint32_t value);
	void *(*alloc)(int fd, size_t bytes, int *error);
	/* -ENODATA: the file is empty; -EINVAL: not a regular file. */
	void *(*map_file)(int fd, const char *path, size_t *bytes,
			  int *error);
	int (*free)(void *addr, size_t bytes);
	/* Memory as alloc() gives it, in place of what is mapped there. */
	int (*remap)(void *addr, size_t bytes);
	/* advice: enum fl_advice; prot: FL_PROT_* */
	int (*advise)(void *addr, size_t bytes, int advice);
	int (*protect)(void *addr, size_t bytes, int prot);

	/* Those below may be NULL. */

	/*
	 * A polling loop found nothing: let the card work (emulator), pause
	 * (board). 0; -ENODEV: the card is gone; -EPERM: it was opened before
	 * a fork, by the parent.
	 */
	int (*relax)(int fd);
	/* Time that the library itself uses (emulator): enum fl_sys_work. */
	void (*spend)(int fd, int what);
	/* Trace hook: enum fl_sys_event. Returns a sequence number. */
	uint64_t (*trace)(int fd, unsigned int event, uint32_t xfer,
			  uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
	/*
	 * Number for a new transfer, unique on the fabric (for traces). NULL:
	 * made of node, queue pair and entry.
	 */
	uint32_t (*new_xfer)(void);
	/*
	 * Clock for time-outs, from any start. NULL: a wake-up for nothing
	 * starts the time-out of fl_wait() anew.
	 */
	uint64_t (*now_ns)(void);
	/*
	 * Memory that becomes part of a region, access: FL_LOCAL_WRITE and its
	 * like; and is no longer. Counted. import may refuse; release has the
	 * same range and no answer that could help anybody.
	 */
	int (*import)(int fd, void *addr, size_t bytes, unsigned int access);
	void (*release)(int fd, void *addr, size_t bytes);
	/*
	 * fl_prefault(). NULL: the system pages in by itself, so that only what
	 * is not mapped must be told.
	 */
	int (*prefault)(int fd, void *addr, size_t bytes, int for_write);
	/*
	 * Does the process still have all of this, of a region? -EFAULT: it has unmapped some.
	 * NULL: the system's calls see that by themselves.
	 */
	int (*mapped)(int fd, const void *addr, size_t bytes);
	/*
	 * A thread of the library's in the calling process, and waiting until it has ended.
	 * Both or none: then nobody is called back.
	 */
	int (*thread)(void (*fn)(void *arg), void *arg, void **thread);
	void (*thread_join)(void *thread);
};

/* The two with POSIX threads (sys_thread.c). */
int fl_sys_thread(void (*fn)(void *arg), void *arg, void **thread);
void fl_sys_thread_join(void *thread);

/* Table of the calling thread from now on; NULL: the default. */
void fl_sys_set(const struct fl_sys *sys);
const struct fl_sys *fl_sys_get(void);
/* Where the table and the error of fl_open() are, of the calling thread. */
void *fl_sys_local(size_t *bytes);
/* Of the calling thread, else the one that name asks for; NULL: this program has none. */
const struct fl_sys *fl_sys_for(const char *name);
extern const struct fl_sys fl_sys_linux;
extern const struct fl_sys fl_sys_attach;	/* attach/table.c */
int fl_sys_linux_folder(char *path, size_t bytes);

/*
 * The ways to a card that a program has (ways.c). One that has boards of its own, and reaches
 * them by fl_sys_set() alone, may define both with none, and then the rest is not linked.
 */
struct fl_way {
	const char *prefix;	/* of names that it opens; "": all that are left, and none */
	const struct fl_sys *sys;
	/* Where cards are files. 0 or negative errno. */
	int (*folder)(char *path, size_t bytes);
	const char *head, *tail;	/* of such a file's name; NULL: "" */
	const char *listed;		/* what stands before the rest for fl_open() */
};
extern const struct fl_way *const fl_ways;	/* the last has no table */

/* Doorbells that are messages: calls around a table (sys_window.h). NULL: there are none. */
struct fl_doorbell_way {
	void (*wrap)(struct fl_sys *to, const struct fl_sys *sys);
	void (*open)(int fd, volatile void *page);
	void (*close)(int fd);
};
extern const struct fl_doorbell_way *const fl_way_window;

/* What fl_open_error() will say, in the thread: as printf. */
void fl_open_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
