/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * os.h - all that the library asks of the operating system beyond C11 and the part of POSIX
 * that every system has. Two versions of it: linux.c, and posix.c for the rest (make OS=posix
 * builds that one on Linux too); common.c (the machine, sockets, files) is the same in both,
 * and so are segv.c (the handler of SIGSEGV and SIGBUS) and copy.c (copies that cannot fault).
 * What boards ask for besides is emu/os, what confines programs that are not trusted
 * tools/confine. No other file of lib/, emu/ or tools/ may use what is listed in
 * tests/check-style under "os".
 *
 * Calls marked AS may be made from a signal handler. All return 0 or a negative
 * errno unless they say otherwise.
 */
#ifndef FL_OS_H
#define FL_OS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Built for a sanitizer, which has some addresses to itself and must be told some things. */
#if defined(__SANITIZE_THREAD__)
#define OS_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define OS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OS_TSAN 1
#elif __has_feature(address_sanitizer)
#define OS_ASAN 1
#endif
#endif

/* It does not see barriers that are no atomic access: say in words what they order. */
#ifdef OS_TSAN
void __tsan_acquire(void *p);
void __tsan_release(void *p);
#define os_tsan_acquire(p) __tsan_acquire(p)
#define os_tsan_release(p) __tsan_release(p)
#else
#define os_tsan_acquire(p) ((void)(p))
#define os_tsan_release(p) ((void)(p))
#endif

/* ---- the machine ---- */

size_t os_page_bytes(void);		/* AS; of the host's own pages */
uint64_t os_now_ns(void);		/* AS; a clock that never goes back */
/* Bytes that nobody can foresee, from the system. */
int os_random(void *buf, size_t n);
void os_yield(void);			/* AS */
/*
 * AS; yield, and tell whether that gave this CPU to another thread, for not longer than one takes
 * that only looks and yields, too.
 */
bool os_yield_shared(void);
/* AS; in a loop that polls: tell the CPU, nothing else. */
void os_pause(void);
/* AS; it will be written soon: fetch the line, away from others who have read it. */
static inline void os_want_line(void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}
/*
 * For two processes where one stores and then loads all the time, and the other does so once in
 * a while: only the other one runs fences, for both. os_fenced() says that this process may be
 * fenced by another's os_fence_all(), after which each of its running threads has gone
 * through a full fence. False: the system has no such thing, or forbids it.
 */
bool os_fenced(void);
bool os_fence_all(void);
/*
 * AS; sleep for some 0.1 ms, in a loop that looks for what nobody wakes it for. It
 * does not set errno, and no thread is cancelled in it.
 */
void os_nap(void);
/* Is this program run by valgrind? Then views must not begin closed. */
bool os_valgrind(void);
/* Is it one of ThreadSanitizer's? Then it has few places for memory. */
bool os_tsan(void);
/* ---- files ---- */

/*
 * A file on disk without a name, in dir, or with NULL in $TMPDIR or /tmp: a
 * descriptor (close-on-exec), or negative errno.
 */
int os_file_unnamed(const char *dir);

/*
 * ---- address space; prot: PROT_* ----
 *
 * os_view and os_protect take whole pages of the host, and nothing else (-EINVAL).
 */

/*
 * Addresses that nobody may touch: at wish if that is free there, else
 * anywhere. NULL + *error. munmap() gives them back.
 */
void *os_reserve(void *wish, uint64_t bytes, int *error);
/*
 * AS. In place of what is there now, in one step: a view of the object (shared), or
 * with fd -1 private memory of zeros. Sanitizers do not take it for a write
 * to the range, as they do mmap().
 */
int os_view(void *at, uint64_t bytes, int prot, int fd, uint64_t offset);
int os_protect(void *at, uint64_t bytes, int prot);	/* AS */
/*
 * Room for n things of each bytes, all of them 0, of which few may ever be touched: until then
 * a page costs nothing. The last one ends before a page that nobody may touch, as closely as
 * 64 bytes allow. NULL: there is no room. os_room_end() wants the same numbers; it takes NULL.
 */
void *os_room(uint64_t n, size_t each);
void os_room_end(void *room, uint64_t n, size_t each);
/*
 * In place of what is there now, in one step: private memory with the contents
 * of from (bytes of them, readable; from is not freed, and may be at itself).
 * Whoever reads there meanwhile finds the old or the new, never nothing; what is
 * written there meanwhile is lost.
 */
int os_replace(void *at, const void *from, uint64_t bytes, int prot);

/*
 * What is mapped at addr; false: nothing, or the system does not say. Linux: no
 * memory is asked for, so that nothing moves under the question. Other huge
 * pages than anonymous ones are told from the rest only when they are mapped.
 */
enum os_map_kind {
	OS_MAP_PRIVATE,		/* anonymous or a private view of a file */
	OS_MAP_SHARED,		/* others may see it */
	OS_MAP_STACK,		/* of the main thread */
	OS_MAP_SPECIAL,		/* device, vdso, huge pages of hugetlbfs */
};
struct os_map {
	uintptr_t start, end;
	int prot;
	enum os_map_kind kind;
	uint64_t device, inode;	/* of the file, as fstat() says; 0: there is none */
};
bool os_map_find(const void *addr, struct os_map *m);
/*
 * All that is mapped between start and last, in order of addresses, to fn. -ENOTSUP: the
 * system does not say.
 */
int os_map_each(uintptr_t start, uintptr_t last,
		void (*fn)(void *arg, const struct os_map *m), void *arg);
/*
 * Do others see what is written to the page at addr? False: not so, or there is
 * none. True also where the system does not say. Quick; may run in a handler.
 */
bool os_map_shared(const void *addr);
/*
 * Of n (1 to 64) pages of the system from addr on, which are whole pages of private
 * memory that is no file's: the i-th bit says that nobody has ever touched the i-th one,
 * so that it is zeros. A page in swap was touched, and so was all of a huge page. What
 * others may touch at any time holds only for as long as it is closed. -ENOTSUP: the
 * system does not say.
 */
int os_pages_untouched(const void *addr, unsigned int n, uint64_t *untouched);
/*
 * Is something mapped at addr that may not be read? True also where the system does not
 * say. Quick; may run in a handler.
 */
bool os_map_closed(const void *addr);
/* Stack of the calling thread; false: the system does not say. */
bool os_stack(uintptr_t *start, uintptr_t *end);

struct os_range {
	uintptr_t start, end;
};
/*
 * What the thread library and the kernel write of the calling thread by themselves
 * while it runs: its control block (where glibc, musl and macOS let pthread_t point),
 * and the area for restartable sequences (rseq(2)), which glibc has elsewhere from
 * 2.41 on: the kernel kills who has no memory there when it is preempted. Those
 * that are not there stay as they were.
 */
#define OS_THREAD_RANGES 2
void os_thread_ranges(struct os_range r[OS_THREAD_RANGES]);

/* ---- copies that cannot fault (copy.c) ---- */

/*
 * n bytes from memory of this process that need not be readable to memory that need not be
 * writable. -EFAULT: not all of it could be reached; part may have been copied. Never raises a
 * signal.
 */
int os_copy_from(void *to, const void *from, size_t n);
/*
 * The same for a user of the handler (os_fault_add()), mostly without a system call: the handler
 * ends a copy that faults, if no handler above it ends the program.
 */
int os_copy_caught(void *to, const void *from, size_t n);

/* ---- sleeping ---- */

/*
 * A word that others change, in this process or, in shared memory, in another.
 * Sleep while *word is value, at most ns (0: no limit); may return early for no
 * reason. A change is followed by os_word_wake. AS, both. POSIX version: short
 * naps between looks.
 */
void os_word_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns);
void os_word_wake(_Atomic uint32_t *word);		/* all who sleep */

/* ---- sockets ---- */

/* The process at the other end of a Unix socket. -ENOTSUP. */
int os_peer(int fd, uid_t *uid);
/* fd never blocks, and exec() closes it. 0 or negative errno. AS. */
int os_set_nonblocking(int fd);
/*
 * As send() and recv(), with at most OS_SEND_FDS descriptors: bytes, 0 from
 * os_receive: the other end is closed, or negative errno (-EAGAIN of a socket
 * that does not block). An interrupted call is made again; nobody gets a
 * SIGPIPE (-EPIPE). AS, both.
 */
#define OS_SEND_FDS 3
ssize_t os_send(int fd, const void *buf, size_t n, const int *fds, int nfds);
/*
 * *nfds: room in fds, then how many came; NULL: no room. Descriptors that have
 * no room are closed, the others are close-on-exec.
 */
ssize_t os_receive(int fd, void *buf, size_t n, int *fds, int *nfds);
/*
 * All n bytes, which a stream may take or give in parts; descriptors belong to the first.
 * 0; -EAGAIN: not one byte yet, of a socket that does not block; -ETIMEDOUT: a part, and
 * the rest not within rest_ms (-1: no limit); another negative errno (-EPIPE: the other
 * end is closed, in the middle too). AS, both.
 */
int os_send_all(int fd, const void *buf, size_t n, const int *fds, int nfds,
		int rest_ms);
int os_receive_all(int fd, void *buf, size_t n, int *fds, int *nfds,
		   int rest_ms);
/*
 * Close a descriptor that came from another process. Of a socket whose end is to
 * take an hour nobody waits for that; but the same socket in the queue of another
 * one, and the file of a file system that does not answer, do keep the caller.
 */
void os_drop(int fd);

/* ---- faults of the CPU (segv.c) ---- */

/*
 * One handler of SIGSEGV and SIGBUS for the whole program, with at most
 * OS_FAULT_USERS users, asked in turn. What none of them takes goes to whoever had
 * the signal before, and at last to the system, which ends the program at the
 * true address.
 *
 * fix is called in the thread that made the access and in the handler: atomics,
 * AS calls of this file, nothing else; all signals that can wait are blocked
 * meanwhile, errno is kept. A fault of fix itself is passed on. write: 1, 0, or
 * -1: the machine does not say. True: try the access again.
 *
 * When another handler is set later and passes signals on to this one, those that no fix
 * takes go to the handler from before the first add.
 */
#define OS_FAULT_USERS 4
typedef bool (*os_fault_fix)(uintptr_t addr, int write);
/* Counted: as many calls of remove as of add. -EBUSY: too many users. */
int os_fault_add(os_fault_fix fix);
void os_fault_remove(os_fault_fix fix);	/* after this it may still be running */
/* Where it has variables of the calling thread: no fix can bring these. */
void os_fault_variables(uintptr_t *start, uintptr_t *end);
/* AS; does this thread run a fix? Then the signals that can wait are blocked. */
bool os_fault_fixes(void);
/* AS; for a message from a handler: to standard error, no stdio. */
void os_say(const char *text);

#endif
