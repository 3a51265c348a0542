// SPDX-License-Identifier: BSD-2-Clause
/* common.c - what is the same on every system: machine, clock, sockets, files. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#if defined(__GLIBC__) && defined(__linux__)
#if __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#define HAS_RSEQ
#endif
#endif

#include "os/os_internal.h"

#define THREAD_BYTES	2560u	/* of a thread's control block, at most */

/* A system takes so many descriptors with one message, at most. */
#define MOST_FDS 253

#ifndef MSG_CMSG_CLOEXEC
#define MSG_CMSG_CLOEXEC 0
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* ---- the machine ---- */

size_t os_page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

uint64_t os_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Of its library; a program without it has none, wherever we were compiled. */
void __tsan_init(void) __attribute__((weak));

bool os_tsan(void)
{
	return __tsan_init != NULL;
}

void os_yield(void)
{
	sched_yield();
}

/*
 * A yield that nobody makes use of is a system call and a look at who else would run. What a call
 * takes differs tenfold between machines (a host that emulates page tables: a microsecond).
 */
#define YIELD_CALLS	2u
#define YIELD_NS	600u
#define STRANGER_NS	100000u	/* longer: to a program that does not wait for us */

bool os_yield_was_shared(uint64_t call_ns, uint64_t yield_ns)
{
	return yield_ns > YIELD_CALLS * call_ns + YIELD_NS && yield_ns < STRANGER_NS;
}

/* The shortest of some: what else ran meanwhile made the others longer. */
static uint64_t call_ns(void)
{
	uint64_t least_ns = UINT64_MAX, start_ns, ns;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		start_ns = os_now_ns();
		getppid();
		ns = os_now_ns() - start_ns;
		least_ns = ns < least_ns ? ns : least_ns;
	}
	return least_ns;
}

bool os_yield_shared(void)
{
	static _Atomic uint64_t known_ns;
	uint64_t start_ns, least_ns = atomic_load_explicit(&known_ns, memory_order_relaxed);

	if (!least_ns) {
		least_ns = call_ns() + 1;
		atomic_store_explicit(&known_ns, least_ns, memory_order_relaxed);
	}
	start_ns = os_now_ns();
	os_yield();
	return os_yield_was_shared(least_ns, os_now_ns() - start_ns);
}

void os_thread_ranges(struct os_range r[OS_THREAD_RANGES])
{
	r[0].start = (uintptr_t)pthread_self();
	r[0].end = r[0].start + THREAD_BYTES;
#ifdef HAS_RSEQ
	/* Of 32 bytes or more, whatever of them is used; 0: it is switched off. */
	if (__rseq_size) {
		r[1].start = (uintptr_t)__builtin_thread_pointer() +
			     (uintptr_t)__rseq_offset;
		r[1].end = r[1].start + (__rseq_size > 32 ? __rseq_size : 32);
	}
#endif
}

void os_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

/* It loads a library of its own into each program. */
bool os_valgrind(void)
{
	const char *loaded = getenv("LD_PRELOAD");

	return loaded && strstr(loaded, "vgpreload_");
}

void os_say(const char *text)
{
	size_t n = strlen(text);
	ssize_t done;

	for (; n; n -= (size_t)done, text += done) {
		done = write(STDERR_FILENO, text, n);
		if (done < 0 && errno == EINTR)
			done = 0;
		else if (done <= 0)
			return;
	}
}

/* ---- memory and files ---- */

bool os_whole_pages(const void *at, uint64_t bytes, uint64_t offset)
{
	return !(((uintptr_t)at | bytes | offset) & (os_page_bytes() - 1));
}

int os_protect(void *at, uint64_t bytes, int prot)
{
	if (!os_whole_pages(at, bytes, 0))
		return -EINVAL;
	return mprotect(at, (size_t)bytes, prot) ? -errno : 0;
}

int os_file_unnamed(const char *dir)
{
	char path[4096];
	int fd, n;

	if (!dir)
		dir = getenv("TMPDIR");
	if (!dir || !*dir)
		dir = "/tmp";
	n = snprintf(path, sizeof(path), "%s/faultline-XXXXXX", dir);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = os_file_nameless(dir);
	if (fd != -ENOTSUP)
		return fd;
	/* A process that is killed here leaves an empty file. */
	fd = mkstemp(path);
	if (fd < 0)
		return -errno;
	unlink(path);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

/* ---- address space ---- */

#define ROOM_ALIGN 64

/* Whole pages for that many bytes. */
static uint64_t room_pages(uint64_t bytes)
{
	return (bytes + os_page_bytes() - 1) & ~(uint64_t)(os_page_bytes() - 1);
}

/* Before the first one, so that the last one ends where the pages do. */
static uint64_t room_before(uint64_t bytes)
{
	return (room_pages(bytes) - bytes) & ~(uint64_t)(ROOM_ALIGN - 1);
}

void *os_room(uint64_t n, size_t each)
{
	uint64_t bytes = n * each, pages = room_pages(bytes);
	char *at;
	int err;

	if (!bytes || bytes / each != n || pages < bytes)
		return NULL;
	at = os_reserve(NULL, pages + os_page_bytes(), &err);
	if (!at)
		return NULL;
	if (!os_protect(at, pages, PROT_READ | PROT_WRITE))
		return at + room_before(bytes);
	munmap(at, pages + os_page_bytes());
	return NULL;
}

void os_room_end(void *room, uint64_t n, size_t each)
{
	uint64_t bytes = n * each;

	if (room)
		munmap((char *)room - room_before(bytes),
		       room_pages(bytes) + os_page_bytes());
}

/* ---- sockets ---- */

int os_set_nonblocking(int fd)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return -errno;
	return 0;
}

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int) * MOST_FDS)];
};

ssize_t os_send(int fd, const void *buf, size_t n, const int *fds, int nfds)
{
	struct iovec iov = { (void *)buf, n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	size_t bytes = sizeof(int) * (size_t)nfds;
	union control control;
	struct cmsghdr *c;
	ssize_t done;

	if (nfds < 0 || nfds > OS_SEND_FDS)
		return -EINVAL;
#ifdef SO_NOSIGPIPE
	setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &(int){ 1 }, sizeof(int));
#endif
	if (nfds) {
		memset(&control, 0, CMSG_SPACE(sizeof(int) * OS_SEND_FDS));
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(bytes);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(c), fds, bytes);
	}
	do {
		done = sendmsg(fd, &m, MSG_NOSIGNAL);
	} while (done < 0 && errno == EINTR);
	return done < 0 ? -errno : done;
}

void os_drop(int fd)
{
	const struct linger none = { .l_onoff = 0 };

	/* What is no socket refuses it, and has nothing of the kind. */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}

/* Those of one control message; how many there are now. */
static int take_fds(struct cmsghdr *c, int *fds, int got, int room)
{
	size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int), i;
	int fd;

	for (i = 0; i < n; i++) {
		memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
		if (got == room) {
			os_drop(fd);
			continue;
		}
		if (!MSG_CMSG_CLOEXEC)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
		fds[got++] = fd;
	}
	return got;
}

ssize_t os_receive(int fd, void *buf, size_t n, int *fds, int *nfds)
{
	struct iovec iov = { buf, n };
	union control control;
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int room = nfds ? *nfds : 0, got = 0;
	struct cmsghdr *c;
	ssize_t done;

	if (nfds)
		*nfds = 0;
	do {
		done = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	} while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			got = take_fds(c, fds, got, room);
	if (nfds)
		*nfds = got;
	return done;
}

/* For the rest of what has begun; an interruption begins the time anew. */
static bool fd_ready(int fd, short events, int limit_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n;

	do {
		n = poll(&p, 1, limit_ms);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

int os_send_all(int fd, const void *buf, size_t n, const int *fds, int nfds,
		int rest_ms)
{
	size_t sent = 0;
	ssize_t done;

	while (sent < n) {
		done = os_send(fd, (const char *)buf + sent, n - sent, fds,
			       nfds);
		if (done == -EAGAIN && sent) {
			if (!fd_ready(fd, POLLOUT, rest_ms))
				return -ETIMEDOUT;
			continue;
		}
		if (done < 0)
			return (int)done;
		sent += (size_t)done;
		nfds = 0;
	}
	return 0;
}

int os_receive_all(int fd, void *buf, size_t n, int *fds, int *nfds,
		   int rest_ms)
{
	size_t got = 0;
	ssize_t done;

	while (got < n) {
		done = os_receive(fd, (char *)buf + got, n - got,
				  got ? NULL : fds, got ? NULL : nfds);
		if (done == -EAGAIN && got) {
			if (!fd_ready(fd, POLLIN, rest_ms))
				return -ETIMEDOUT;
			continue;
		}
		if (done <= 0)
			return done ? (int)done : -EPIPE;
		got += (size_t)done;
	}
	return 0;
}
