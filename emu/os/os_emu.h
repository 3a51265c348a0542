/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * os_emu.h - what boards, and programs that run them, ask of the operating system beyond what
 * the library does (lib/os/os.h); linux.c and posix.c are its two versions, common.c is of
 * both. coroutine.h has a header of its own.
 *
 * Calls marked AS may be made from a signal handler. All return 0 or a negative
 * errno unless they say otherwise.
 */
#ifndef FL_OS_EMU_H
#define FL_OS_EMU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- the machine ---- */

/* Which version this is, for reports: "linux" or "posix". */
const char *os_system(void);
unsigned int os_cpus(void);		/* that this process may use; at least 1 */
/*
 * The calling thread, and what it starts from now on, stays on the CPU that it is on, where that
 * can be (Linux): for processes that take turns, since to wake one on another CPU takes several
 * times as long (sources: host-measured).
 */
void os_stay_here(void);
/*
 * The calling thread goes to another CPU that it may use, where that can be (Linux); where it
 * runs from then on is up to the system. It takes some 25 us (source: host-measured).
 */
void os_leave_cpu(void);
/*
 * Another thread than this one wants its CPU: do as many as there are CPUs, or fewer, want to run
 * in all? Then one has nothing to do. False, too, where that is not known.
 */
bool os_cpu_idle(void);

/*
 * A thread that polls for another one, all zero at first. The system may wake the two on one CPU
 * while the next has nothing to do, and leaves them there for some ten milliseconds; each
 * look in vain then costs two changes of thread.
 */
struct os_poller {
	unsigned int shared;		/* yields in a row that somebody made use of */
	uint64_t left_ns;		/* when it was to leave last */
};

/*
 * Yield; after many in a row that were shared, leave, if another CPU is idle. True: this one was
 * (os_yield_shared()).
 */
bool os_poller_yield(struct os_poller *p);
/* Its rule, for each yield: is it time to leave? Not within two milliseconds of the last time. */
bool os_poller_leaves(struct os_poller *p, bool shared, uint64_t now_ns);
/* A path that opens the program's own file. -ENOTSUP, -ENAMETOOLONG. */
int os_program(char *path, size_t path_bytes);
/* Close all descriptors from first on, whoever left them open. */
void os_close_from(int first);
/* For common.c: in one call. False: the system has none. */
bool os_close_range(int first);
/* This process ends when the one that started it ends, where that can be (Linux). */
void os_end_with_parent(void);

/* ---- memory that several processes map ---- */

/*
 * A new object of that many zero bytes, sparse, without a name that others
 * could open; name is for /proc alone. A file descriptor (close-on-exec), or
 * negative errno; -EINVAL: no bytes. Where the system can (Linux), its size can
 * never be changed again by anybody who gets the descriptor.
 */
int os_memory_create(const char *name, uint64_t bytes);
/* Is the size of the object fixed for all who have it? */
bool os_memory_fixed(int fd);
/*
 * Give a range back to the system: zeros from then on, for all who have it
 * mapped. -ENOTSUP: the system cannot, all stays as it is. -EINVAL: no bytes.
 */
int os_memory_forget(int fd, uint64_t offset, uint64_t bytes);
/*
 * How many of the pages that hold [addr, addr + bytes) are in memory and in this
 * process's page table. -ENOTSUP: the system does not say.
 */
int os_pages_present(const void *addr, uint64_t bytes, uint64_t *pages);

/* ---- sleeping ---- */

/*
 * One thread of this process sleeps, others wake it, as with a semaphore. A post does not
 * touch the wakeup once it can be taken, so the thread that takes the last one may destroy
 * it. At most some thousand posts may wait to be taken; more may be
 * forgotten (POSIX).
 */
struct os_wakeup {
	_Atomic uint32_t count;		/* Linux: posts; top bit: asleep */
	int pipe[2];			/* POSIX: a byte for each post */
};
/* POSIX version: -EMFILE, -ENFILE. */
int os_wakeup_init(struct os_wakeup *b);
void os_wakeup_destroy(struct os_wakeup *b);
void os_wakeup_post(struct os_wakeup *b);			/* AS */
/* AS. Take one; false: ns (0: no limit) were over before there was one. */
bool os_wakeup_take(struct os_wakeup *b, uint64_t ns);

/* ---- sockets ---- */

/*
 * A descriptor of the process at the other end, the one that connected; it becomes
 * readable (poll) when that process ends, whoever else has its socket. -ENOTSUP,
 * -ESRCH: it has ended.
 */
int os_peer_process(int fd);
/*
 * May descriptors be sent to a Unix socket, or to those that connect to it? They may
 * at first. -ENOTSUP: the system does not ask (Linux does from 6.16 on).
 */
int os_take_fds(int fd, bool take);
/*
 * As os_receive(), of a socket that does not block, and from which no descriptor may come
 * into this process. -EBADMSG: one comes with the next bytes; nothing was taken.
 */
ssize_t os_receive_bytes(int fd, void *buf, size_t n);

/* ---- interrupts between programs ---- */

/*
 * A descriptor by which who has it is interrupted, and which can be passed to
 * another program; several raises before a take count as one. It becomes
 * readable (poll), and blocks nobody. Linux: an eventfd, which is what QEMU wants.
 * The descriptor (close-on-exec), or negative errno; POSIX version: -ENOSYS, all
 * three.
 */
int os_interrupt_create(void);
int os_interrupt_raise(int fd);		/* AS */
int os_interrupt_take(int fd);		/* AS; 0, or -EAGAIN: none was raised */

#endif
