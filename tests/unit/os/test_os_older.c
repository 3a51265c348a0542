// SPDX-License-Identifier: BSD-2-Clause
/*
 * A kernel that is older, or that a container has less of: a system call fails as it does
 * there (by a filter, in a child), and the system layer does the same by other means, or says
 * that it cannot.
 */
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "rig/os.h"

#define NO_SECCOMP	99	/* exit status: this machine has no filters */
#define ANY		(~0u)

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS	83
#endif

/* From now on call number nr, where its argument arg has all of bits, fails with error. */
static void call_fails(unsigned int nr, unsigned int arg, unsigned int bits, int error)
{
	const unsigned int at = arg == ANY ? 0 : arg;
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 (unsigned int)offsetof(struct seccomp_data, args) + 8 * at),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, arg == ANY ? 0 : bits),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arg == ANY ? 0 : bits, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &p))
		_exit(NO_SECCOMP);
}

static void older_try(void (*fn)(void))
{
	int status = in_child(fn);

	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SECCOMP)
		test_skip("no filters of system calls here");
	EXPECT_EXIT(status, 0);
}

static void no_close_range(void)
{
	int first, last;

	call_fails(SYS_close_range, ANY, 0, ENOSYS);
	first = dup(0);
	last = fcntl(0, F_DUPFD, 200);
	CHILD_WANT(first >= 0 && last >= 200);
	os_close_from(first);
	CHILD_WANT(fcntl(first, F_GETFD) < 0 && errno == EBADF);
	CHILD_WANT(fcntl(last, F_GETFD) < 0 && errno == EBADF);
	CHILD_WANT(fcntl(0, F_GETFD) >= 0);
}

TEST("without close_range() descriptors are closed one by one")
{
	older_try(no_close_range);
}

static void no_affinity(void)
{
	call_fails(SYS_sched_getaffinity, ANY, 0, EINVAL);
	CHILD_WANT(os_cpus() >= 1);
}

TEST("a machine with more CPUs than a set holds has some")
{
	older_try(no_affinity);
}

static void no_memory_calls(void)
{
	static uint8_t from[3 * 4096 + 77], to[sizeof(from)];
	uint8_t *hole = os_rig_pages(2, PROT_READ | PROT_WRITE);
	unsigned int i;

	call_fails(SYS_process_vm_readv, ANY, 0, EPERM);
	for (i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + i / 300);
	CHILD_WANT(!os_copy_from(to, from, sizeof(from)));
	CHILD_WANT(!memcmp(to, from, sizeof(from)));
	memset(to, 0, sizeof(to));
	CHILD_WANT(!os_copy_from(to, from, sizeof(from)));
	CHILD_WANT(!memcmp(to, from, sizeof(from)));
	CHILD_WANT(!os_copy_from(to, from, 0));
	/* What cannot be reached is an error here too, from either side. */
	CHILD_WANT(!munmap(hole + os_page_bytes(), os_page_bytes()));
	CHILD_WANT(os_copy_from(to, hole + os_page_bytes(), 8) == -EFAULT);
	CHILD_WANT(os_copy_from(hole + os_page_bytes(), from, 8) == -EFAULT);
	CHILD_WANT(os_copy_from(to, hole + os_page_bytes() - 100, 200));
}

TEST("where copying between processes is forbidden a pipe copies, and still cannot fault")
{
	older_try(no_memory_calls);
}

/* Newer machines have pipe2() alone. */
#ifndef SYS_pipe
#define SYS_pipe SYS_pipe2
#endif

static void no_pipe(void)
{
	char c = 0;

	call_fails(SYS_process_vm_readv, ANY, 0, EPERM);
	call_fails(SYS_pipe, ANY, 0, EMFILE);
	call_fails(SYS_pipe2, ANY, 0, EMFILE);
	CHILD_WANT(os_copy_from(&c, "x", 1) == -EMFILE);
	CHILD_WANT(!c);
}

TEST("and where there is no pipe either it says so")
{
	older_try(no_pipe);
}

static void no_tmpfile(void)
{
	char c = 0;
	int fd;

	call_fails(SYS_openat, 2, O_TMPFILE & ~O_DIRECTORY, EISDIR);
	fd = os_file_unnamed(NULL);
	CHILD_WANT(fd >= 0);
	CHILD_WANT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CHILD_WANT(pwrite(fd, "x", 1, 0) == 1 && pread(fd, &c, 1, 0) == 1 && c == 'x');
	CHILD_WANT(os_file_unnamed("/nowhere/at/all") == -ENOENT);
}

static void no_tmpfile_here(void)
{
	static char far[5000];

	call_fails(SYS_openat, 2, O_TMPFILE & ~O_DIRECTORY, EACCES);
	CHILD_WANT(os_file_unnamed(NULL) == -EACCES);
	memset(far, 'x', sizeof(far) - 1);
	CHILD_WANT(os_file_unnamed(far) == -ENAMETOOLONG);
	setenv("TMPDIR", "", 1);
	CHILD_WANT(os_file_unnamed(NULL) == -EACCES);
}

TEST("a file system without nameless files has one whose name goes at once")
{
	older_try(no_tmpfile);
	older_try(no_tmpfile_here);
}

static void no_memory_files(void)
{
	call_fails(SYS_memfd_create, ANY, 0, ENOSYS);
	CHILD_WANT(os_memory_create("older", 4096) == -ENOSYS);
}

static void no_room(void)
{
	int before = dup(0);

	CHILD_WANT(before >= 0);
	close(before);
	call_fails(SYS_ftruncate, ANY, 0, ENOSPC);
	CHILD_WANT(os_memory_create("older", 4096) == -ENOSPC);
	/* Nothing of it is left open. */
	CHILD_WANT(dup(0) == before);
}

static void no_seals(void)
{
	call_fails(SYS_fcntl, 1, F_ADD_SEALS, EPERM);
	CHILD_WANT(os_memory_create("older", 4096) == -EPERM);
}

TEST("shared memory that cannot be made, sized or sealed is an error")
{
	older_try(no_memory_files);
	older_try(no_room);
	older_try(no_seals);
}

static void map_none(void *arg, const struct os_map *m)
{
	(void)m;
	*(int *)arg += 1;
}

static void no_proc(void)
{
	uint8_t *p = os_rig_pages(1, PROT_READ | PROT_WRITE);
	uint64_t untouched, pages;
	struct os_map m;
	int n = 0;

	call_fails(SYS_openat, 2, O_CLOEXEC, ENOENT);
	CHILD_WANT(os_map_each((uintptr_t)p, (uintptr_t)p, map_none, &n) == -ENOTSUP);
	CHILD_WANT(!n && !os_map_find(p, &m));
	CHILD_WANT(os_pages_untouched(p, 1, &untouched) == -ENOTSUP);
	CHILD_WANT(os_pages_present(p, os_page_bytes(), &pages) == -ENOTSUP);
}

static void no_pagemap(void)
{
	uint8_t *p = os_rig_pages(1, PROT_READ | PROT_WRITE);
	uint64_t untouched, pages;

	call_fails(SYS_pread64, ANY, 0, EPERM);
	CHILD_WANT(os_pages_untouched(p, 1, &untouched) == -ENOTSUP);
	CHILD_WANT(os_pages_present(p, os_page_bytes(), &pages) == -ENOTSUP);
}

TEST("without /proc, or with a part of it, mappings and pages are not known, and that is said")
{
	older_try(no_proc);
	older_try(no_pagemap);
}

static int older_pair[2];

static void peer_is_us(void)
{
	struct pollfd p;
	int fd = os_peer_process(older_pair[0]);

	CHILD_WANT(fd >= 0);
	/* Nobody has ended: it is a process, and a live one. */
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	CHILD_WANT(poll(&p, 1, 0) == 0);
}

static void no_peer_fd(void)
{
	call_fails(SYS_getsockopt, 2, SO_PEERPIDFD, ENOPROTOOPT);
	peer_is_us();
}

static void no_pidfd(void)
{
	call_fails(SYS_getsockopt, 2, SO_PEERPIDFD, ENOPROTOOPT);
	call_fails(SYS_pidfd_open, ANY, 0, ENOSYS);
	CHILD_WANT(os_peer_process(older_pair[0]) == -ENOTSUP);
}

static void gone_pidfd(void)
{
	call_fails(SYS_getsockopt, 2, SO_PEERPIDFD, ENOPROTOOPT);
	call_fails(SYS_pidfd_open, ANY, 0, ESRCH);
	CHILD_WANT(os_peer_process(older_pair[0]) == -ESRCH);
	call_fails(SYS_getsockopt, ANY, 0, ENOTSOCK);
	CHILD_WANT(os_peer_process(older_pair[0]) == -ENOTSOCK);
}

static void no_pass_rights(void)
{
	call_fails(SYS_setsockopt, 2, SO_PASSRIGHTS, ENOPROTOOPT);
	CHILD_WANT(os_take_fds(older_pair[0], false) == -ENOTSUP);
	CHILD_WANT(os_take_fds(-1, false) < 0);
}

TEST("who is at the other end of a socket is known, or that it cannot be known")
{
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, older_pair), 0);
	older_try(peer_is_us);
	older_try(no_peer_fd);
	older_try(no_pidfd);
	older_try(gone_pidfd);
	older_try(no_pass_rights);
	close(older_pair[0]);
	close(older_pair[1]);
}

static void no_random(void)
{
	uint8_t b[16];

	call_fails(SYS_getrandom, ANY, 0, ENOSYS);
	CHILD_WANT(os_random(b, sizeof(b)) == -ENOSYS);
	CHILD_WANT(!os_random(b, 0));
}

TEST("random numbers that are not there are an error, and not zeros")
{
	older_try(no_random);
}
