// SPDX-License-Identifier: BSD-2-Clause
/*
 * posix.c - the system layer of os.h with what POSIX.1-2008 has, and where that
 * says nothing, with what macOS and the BSDs have. Slower than linux.c, and what it
 * cannot promise os.h says.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

#include "os/os_internal.h"

#define LOOKS		100		/* os_word_wait: before it naps */
#define NAP_MS		1

#if !defined(MAP_ANONYMOUS) && defined(MAP_ANON)
#define MAP_ANONYMOUS	MAP_ANON
#endif
#ifndef MAP_NORESERVE
#define MAP_NORESERVE	0
#endif
#if defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || \
	defined(__OpenBSD__) || defined(__DragonFly__)
#define HAS_GETPEEREID	1
#endif

/* ---- the machine ---- */

int os_random(void *buf, size_t n)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC), error = 0;
	uint8_t *to = buf;
	ssize_t got;

	if (fd < 0)
		return -errno;
	while (n && !error) {
		got = read(fd, to, n);
		if (got > 0) {
			to += got;
			n -= (size_t)got;
		} else if (!got || errno != EINTR) {
			error = got ? -errno : -EIO;
		}
	}
	close(fd);
	return error;
}

bool os_fenced(void)
{
	return false;
}

bool os_fence_all(void)
{
	return false;
}

/* ---- address space ---- */

/* Private zeros; POSIX before 2024 has them from this file only. */
static void *map_zeros(void *at, uint64_t bytes, int prot, int flags)
{
#if defined(MAP_ANONYMOUS)
	return mmap(at, (size_t)bytes, prot,
		    flags | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
#else
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC), err;
	void *mem;

	if (fd < 0)
		return MAP_FAILED;
	mem = mmap(at, (size_t)bytes, prot, flags | MAP_PRIVATE | MAP_NORESERVE,
		   fd, 0);
	err = errno;
	close(fd);
	errno = err;
	return mem;
#endif
}

void *os_reserve(void *wish, uint64_t bytes, int *error)
{
	void *at = map_zeros(wish, bytes, PROT_NONE, 0);

	*error = at == MAP_FAILED ? -errno : 0;
	return at == MAP_FAILED ? NULL : at;
}

int os_view(void *at, uint64_t bytes, int prot, int fd, uint64_t offset)
{
	void *got;

	if (!os_whole_pages(at, bytes, offset))
		return -EINVAL;
	got = fd < 0 ? map_zeros(at, bytes, prot, MAP_FIXED) :
		       mmap(at, (size_t)bytes, prot, MAP_FIXED | MAP_SHARED,
			    fd, (off_t)offset);
	return got == MAP_FAILED ? -errno : 0;
}

/* All of it, to a file. */
static int file_write_all(int fd, const char *from, uint64_t bytes)
{
	uint64_t at = 0;
	ssize_t n;

	for (; at < bytes; at += (uint64_t)n) {
		n = pwrite(fd, from + at,
			   bytes - at < 1u << 30 ? (size_t)(bytes - at) :
						   1u << 30, (off_t)at);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n ? -errno : -ENOSPC;
	}
	return 0;
}

int os_file_nameless(const char *dir)
{
	(void)dir;
	return -ENOTSUP;
}

/*
 * A private view of a file that nobody else has: macOS gives no private view of
 * a shared-memory object.
 */
int os_replace(void *at, const void *from, uint64_t bytes, int prot)
{
	int fd = os_file_unnamed(NULL), err;

	if (fd < 0)
		return fd;
	err = file_write_all(fd, from, bytes);
	if (!err && mmap(at, (size_t)bytes, prot, MAP_FIXED | MAP_PRIVATE, fd,
			 0) == MAP_FAILED)
		err = -errno;
	close(fd);
	return err;
}

bool os_map_find(const void *addr, struct os_map *m)
{
	(void)addr;
	(void)m;
	return false;
}

int os_map_each(uintptr_t start, uintptr_t last,
		void (*fn)(void *arg, const struct os_map *m), void *arg)
{
	(void)start;
	(void)last;
	(void)fn;
	(void)arg;
	return -ENOTSUP;
}

bool os_map_shared(const void *addr)
{
	(void)addr;
	return true;
}

int os_pages_untouched(const void *addr, unsigned int n, uint64_t *untouched)
{
	(void)addr;
	(void)n;
	(void)untouched;
	return -ENOTSUP;
}

bool os_map_closed(const void *addr)
{
	(void)addr;
	return true;
}

bool os_stack(uintptr_t *start, uintptr_t *end)
{
#if defined(__APPLE__)
	/* It gives the high end. */
	*end = (uintptr_t)pthread_get_stackaddr_np(pthread_self());
	*start = *end - pthread_get_stacksize_np(pthread_self());
	return true;
#else
	(void)start;
	(void)end;
	return false;
#endif
}

/* ---- copies ---- */

int os_copy_direct(void *to, const void *from, size_t n)
{
	(void)to;
	(void)from;
	(void)n;
	return -ENOSYS;
}

/* ---- sleeping ---- */

void os_word_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
	uint64_t end_ns = ns ? os_now_ns() + ns : UINT64_MAX;
	unsigned int looks = 0;

	while (atomic_load(word) == value && os_now_ns() < end_ns)
		if (looks++ < LOOKS)
			os_yield();
		else
			poll(NULL, 0, NAP_MS);
}

void os_nap(void)
{
	static const struct timespec nap = { .tv_nsec = 100000 };
	int was, error = errno;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
	nanosleep(&nap, NULL);
	pthread_setcancelstate(was, NULL);
	if (errno != error)
		errno = error;
}

void os_word_wake(_Atomic uint32_t *word)
{
	(void)word;	/* whoever waits looks again soon */
}

/* ---- sockets, faults ---- */

int os_peer(int fd, uid_t *uid)
{
#if defined(HAS_GETPEEREID)
	gid_t gid;

	return getpeereid(fd, uid, &gid) ? -errno : 0;
#else
	(void)fd;
	(void)uid;
	return -ENOTSUP;
#endif
}

int os_fault_is_write(const void *ucontext)
{
#if defined(__APPLE__) && defined(__x86_64__)
	/* Page-fault error code: bit 1 is W/R. */
	const ucontext_t *uc = ucontext;

	return uc->uc_mcontext->__es.__err >> 1 & 1;
#elif defined(__APPLE__) && defined(__aarch64__)
	/* ISS.WnR of a data abort */
	const ucontext_t *uc = ucontext;

	return uc->uc_mcontext->__es.__esr >> 6 & 1;
#else
	(void)ucontext;
	return -1;
#endif
}

bool os_fault_is_copy(const void *ucontext)
{
	(void)ucontext;
	return false;
}

int os_copy_watched(void *to, const void *from, size_t n)
{
	(void)to;
	(void)from;
	(void)n;
	return -ENOTSUP;
}
