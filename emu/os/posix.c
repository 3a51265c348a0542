// SPDX-License-Identifier: BSD-2-Clause
/* posix.c - what os_emu.h asks for, with what POSIX.1-2008, macOS and the BSDs have. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

#include "os/os.h"
#include "os/os_emu.h"

/* ---- the machine ---- */

const char *os_system(void)
{
	return "posix";
}

unsigned int os_cpus(void)
{
#if defined(_SC_NPROCESSORS_ONLN)
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned int)n : 1;
#else
	return 1;
#endif
}

void os_stay_here(void)
{
}

void os_leave_cpu(void)
{
}

bool os_cpu_idle(void)
{
	return false;
}

int os_program(char *path, size_t path_bytes)
{
#if defined(__APPLE__)
	uint32_t room = (uint32_t)path_bytes;

	return _NSGetExecutablePath(path, &room) ? -ENAMETOOLONG : 0;
#else
	(void)path;
	(void)path_bytes;
	return -ENOTSUP;
#endif
}

void os_end_with_parent(void)
{
}

bool os_close_range(int first)
{
	(void)first;
	return false;
}

/* ---- memory ---- */

/* A shared-memory object that has lost its name at once. */
static int shm_unnamed(void)
{
	static atomic_uint count;
	char name[32];
	int fd, tries;

	/* Short: macOS takes 30 characters. O_EXCL: nobody else's is opened. */
	for (tries = 0; tries < 100; tries++) {
		snprintf(name, sizeof(name), "/faultline-%08lx%08lx",
			 (unsigned long)(os_now_ns() & 0xffffffff),
			 ((unsigned long)getpid() * 0x9e3779b1ul +
			  atomic_fetch_add(&count, 1)) & 0xffffffff);
		fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd >= 0) {
			shm_unlink(name);
			return fd;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int os_memory_create(const char *name, uint64_t bytes)
{
	int fd, err;

	(void)name;
	if (!bytes || bytes > INT64_MAX)
		return -EINVAL;
	fd = shm_unnamed();
	if (fd < 0)
		return fd;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (!ftruncate(fd, (off_t)bytes))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

bool os_memory_fixed(int fd)
{
	(void)fd;
	return false;
}

int os_memory_forget(int fd, uint64_t offset, uint64_t bytes)
{
	(void)fd;
	(void)offset;
	return bytes ? -ENOTSUP : -EINVAL;
}

int os_pages_present(const void *addr, uint64_t bytes, uint64_t *pages)
{
	(void)addr;
	(void)bytes;
	(void)pages;
	return -ENOTSUP;
}

/* ---- sleeping ---- */

int os_wakeup_init(struct os_wakeup *b)
{
	int err;

	if (pipe(b->pipe))
		return -errno;
	err = os_set_nonblocking(b->pipe[0]);
	if (!err)
		err = os_set_nonblocking(b->pipe[1]);
	if (err)
		os_wakeup_destroy(b);
	return err;
}

void os_wakeup_destroy(struct os_wakeup *b)
{
	close(b->pipe[0]);
	close(b->pipe[1]);
}

void os_wakeup_post(struct os_wakeup *b)
{
	/* A full pipe: there is enough to take. */
	while (write(b->pipe[1], "", 1) < 0 && errno == EINTR)
		;
}

bool os_wakeup_take(struct os_wakeup *b, uint64_t ns)
{
	struct pollfd look = { .fd = b->pipe[0], .events = POLLIN };
	uint64_t end_ns = ns ? os_now_ns() + ns : 0, now_ns, left_ms;
	char byte;

	while (read(b->pipe[0], &byte, 1) != 1) {
		now_ns = ns ? os_now_ns() : 0;
		if (ns && now_ns >= end_ns)
			return false;
		/* Rounded up, so that it does not look again and again. */
		left_ms = ns ? (end_ns - now_ns + 999999) / 1000000 : 0;
		if (left_ms > 1000)
			left_ms = 1000;
		poll(&look, 1, ns ? (int)left_ms : -1);
	}
	return true;
}

/* ---- interrupts between programs: there is nothing like it ---- */

int os_interrupt_create(void)
{
	return -ENOSYS;
}

int os_interrupt_raise(int fd)
{
	(void)fd;
	return -ENOSYS;
}

int os_interrupt_take(int fd)
{
	(void)fd;
	return -ENOSYS;
}

/* ---- sockets ---- */

int os_peer_process(int fd)
{
	(void)fd;
	return -ENOTSUP;
}

int os_take_fds(int fd, bool take)
{
	(void)fd;
	(void)take;
	return -ENOTSUP;
}
