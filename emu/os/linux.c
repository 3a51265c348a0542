// SPDX-License-Identifier: BSD-2-Clause
/* linux.c - what os_emu.h asks for, as Linux has it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"
#include "os/os_emu.h"

/* ---- the machine ---- */

const char *os_system(void)
{
	return "linux";
}

unsigned int os_cpus(void)
{
	cpu_set_t mine;
	long n;

	if (!sched_getaffinity(0, sizeof(mine), &mine))
		return (unsigned int)CPU_COUNT(&mine);
	/* More than a cpu_set_t holds. */
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned int)n : 1;
}

void os_stay_here(void)
{
	int cpu = sched_getcpu();
	cpu_set_t here;

	CPU_ZERO(&here);
	/* Nothing in it, if that is not known: then it is refused. */
	CPU_SET((unsigned int)cpu, &here);
	sched_setaffinity(0, sizeof(here), &here);
}

void os_leave_cpu(void)
{
	cpu_set_t mine, others;

	if (sched_getaffinity(0, sizeof(mine), &mine))
		return;
	others = mine;
	CPU_CLR((unsigned int)sched_getcpu(), &others);
	/* If there is no other one, this is refused. */
	if (!sched_setaffinity(0, sizeof(others), &others))
		sched_setaffinity(0, sizeof(mine), &mine);
}

bool os_cpu_idle(void)
{
	int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	unsigned int running = 0;
	char text[64] = "";

	if (fd < 0)
		return false;
	/* Behind three averages: who wants to run, a stroke, all threads. */
	if (read(fd, text, sizeof(text) - 1) > 0)
		sscanf(text, "%*f %*f %*f %u/", &running);
	close(fd);
	return running && running <= os_cpus();
}

int os_program(char *path, size_t path_bytes)
{
	static const char self[] = "/proc/self/exe";

	if (path_bytes < sizeof(self))
		return -ENAMETOOLONG;
	memcpy(path, self, sizeof(self));
	return 0;
}

void os_end_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

bool os_close_range(int first)
{
	return !syscall(SYS_close_range, first, ~0u, 0);
}

/* ---- memory ---- */

#define FIXED (F_SEAL_SHRINK | F_SEAL_GROW)

int os_memory_create(const char *name, uint64_t bytes)
{
	int fd, err;

	if (!bytes || bytes > INT64_MAX)
		return -EINVAL;
	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)bytes) &&
	    !fcntl(fd, F_ADD_SEALS, FIXED | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

bool os_memory_fixed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & FIXED) == FIXED;
}

int os_memory_forget(int fd, uint64_t offset, uint64_t bytes)
{
	return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 (off_t)offset, (off_t)bytes) ? -errno : 0;
}

/* Linux, Documentation/admin-guide/mm/pagemap.rst: 8 bytes a page. */
#define PAGEMAP_PRESENT (1ull << 63)

int os_pages_present(const void *addr, uint64_t bytes, uint64_t *pages)
{
	uint64_t page = os_page_bytes(), at = (uintptr_t)addr / page, end, i;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry[512];
	ssize_t n = 0;

	if (fd < 0)
		return -ENOTSUP;
	*pages = 0;
	end = bytes ? ((uintptr_t)addr + bytes - 1) / page + 1 : at;
	while (at < end) {
		n = (ssize_t)(end - at < 512 ? end - at : 512);
		n = pread(fd, entry, (size_t)n * 8, (off_t)(at * 8));
		if (n < 8)
			break;
		for (i = 0; i < (uint64_t)n / 8; i++)
			*pages += !!(entry[i] & PAGEMAP_PRESENT);
		at += (uint64_t)n / 8;
	}
	close(fd);
	return at < end ? -ENOTSUP : 0;
}

/* ---- sleeping ---- */

/* ns 0: no limit */
static void wakeup_sleep(struct os_wakeup *b, uint32_t count, uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000u),
			       .tv_nsec = (long)(ns % 1000000000u) };

	syscall(SYS_futex, &b->count, FUTEX_WAIT_PRIVATE, count, ns ? &ts : NULL, NULL,
		0);
}

/*
 * count holds the posts, and in its top bit that somebody sleeps: one word, so
 * that who posts learns with the same step whether he must wake, and touches the
 * wakeup no more. (Waking an address looks at nothing there.)
 */
#define ASLEEP 0x80000000u

int os_wakeup_init(struct os_wakeup *b)
{
	atomic_init(&b->count, 0);
	return 0;
}

void os_wakeup_destroy(struct os_wakeup *b)
{
	(void)b;
}

void os_wakeup_post(struct os_wakeup *b)
{
	if (atomic_fetch_add(&b->count, 1) & ASLEEP)
		syscall(SYS_futex, &b->count, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
			0);
}

bool os_wakeup_take(struct os_wakeup *b, uint64_t ns)
{
	uint64_t end_ns = ns ? os_now_ns() + ns : 0, now_ns;
	uint32_t v = atomic_load(&b->count);

	for (;;) {
		if (v & ~ASLEEP) {
			if (atomic_compare_exchange_weak(&b->count, &v,
							 (v & ~ASLEEP) - 1))
				return true;
			continue;
		}
		if (!v && !atomic_compare_exchange_weak(&b->count, &v, ASLEEP))
			continue;
		now_ns = ns ? os_now_ns() : 0;
		v = ASLEEP;
		if (ns && now_ns >= end_ns) {
			if (atomic_compare_exchange_weak(&b->count, &v, 0))
				return false;
			continue;
		}
		wakeup_sleep(b, ASLEEP, ns ? end_ns - now_ns : 0);
		v = atomic_load(&b->count);
	}
}

/* ---- interrupts between programs ---- */

int os_interrupt_create(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int os_interrupt_raise(int fd)
{
	const uint64_t one = 1;

	/* -EAGAIN: it stands at its largest, so it is raised. */
	if (write(fd, &one, sizeof(one)) == sizeof(one) || errno == EAGAIN)
		return 0;
	return -errno;
}

int os_interrupt_take(int fd)
{
	uint64_t raised;

	return read(fd, &raised, sizeof(raised)) == sizeof(raised) ? 0 : -errno;
}

/* ---- sockets ---- */

/* Younger than the headers of Debian 12. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77		/* Linux 6.5 */
#endif
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83	/* Linux 6.16 */
#endif

int os_peer_process(int fd)
{
	struct ucred who;
	socklen_t bytes = sizeof(int);
	int process;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &bytes))
		return process;
	if (errno != ENOPROTOOPT)
		return -errno;
	bytes = sizeof(who);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return -errno;
	/* If it ended just now, the number may be another's: then that one counts. */
	process = (int)syscall(SYS_pidfd_open, who.pid, 0);
	if (process < 0)
		return errno == ENOSYS ? -ENOTSUP : -errno;
	return process;
}

int os_take_fds(int fd, bool take)
{
	int yes = take;

	if (setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &yes, sizeof(yes)))
		return errno == ENOPROTOOPT ? -ENOTSUP : -errno;
	return 0;
}
