// SPDX-License-Identifier: BSD-2-Clause
#include "rig/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct fail_plan {
	unsigned int before, times;
	int error;
	bool answers;
	long answer;
};

static _Thread_local struct fail_plan plan[FAIL_CALLS];
static _Thread_local unsigned int failed;
static _Thread_local const char *text_path, *text;

static void fail_forget(void *arg)
{
	(void)arg;
	fail_end();
}

static void fail_plan(enum fail_call call, struct fail_plan p)
{
#ifndef __linux__
	test_skip("no calls can be made to fail here: not Linux's linker");
#endif
	test_cleanup(fail_forget, NULL);
	plan[call] = p;
	failed = 0;
}

void fail_at(enum fail_call call, unsigned int nth, unsigned int times, int error)
{
	fail_plan(call, (struct fail_plan){ nth - 1, times, error, false, 0 });
}

void fail_answer(enum fail_call call, unsigned int nth, unsigned int times, long answer)
{
	fail_plan(call, (struct fail_plan){ nth - 1, times, 0, true, answer });
}

unsigned int fail_end(void)
{
	memset(plan, 0, sizeof(plan));
	text_path = NULL;
	return failed;
}

void fail_text(const char *path, const char *bytes)
{
#ifndef __linux__
	test_skip("no file can be put in another's place here: not Linux's linker");
#endif
	test_cleanup(fail_forget, NULL);
	text_path = path;
	text = bytes;
}

int fail_child(void (*fn)(void *arg), void *arg, char *said, unsigned long bytes)
{
	int status, out[2];
	unsigned long n = 0;
	ssize_t got;
	pid_t pid;

	fflush(NULL);
	EXPECT_EQ(pipe(out), 0);
	pid = fork();
	if (!pid) {
		dup2(out[1], 2);
		fn(arg);
		_exit(0);
	}
	close(out[1]);
	while (n < bytes - 1 && (got = read(out[0], said + n, bytes - 1 - n)) > 0)
		n += (unsigned long)got;
	said[n] = 0;
	close(out[0]);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

#ifdef __linux__

static bool call_fails(enum fail_call call)
{
	struct fail_plan *p = &plan[call];

	if (p->before) {
		p->before--;
		return false;
	}
	if (!p->times)
		return false;
	p->times--;
	failed++;
	errno = p->error;
	return true;
}

/* What a call returns that has failed, or done nothing. */
static long fail_result(enum fail_call call)
{
	return plan[call].answers ? plan[call].answer : -1;
}

static void *fail_pointer(enum fail_call call)
{
	return plan[call].answers ? (void *)plan[call].answer : MAP_FAILED;
}

#define WRAP(call, type, name, params, args, bad)                             \
	type __real_##name params;                                            \
	type __wrap_##name params;                                            \
	type __wrap_##name params                                             \
	{                                                                     \
		return call_fails(call) ? bad : __real_##name args;           \
	}

WRAP(FAIL_MEMORY, void *, malloc, (size_t n), (n), NULL)
WRAP(FAIL_MEMORY, void *, calloc, (size_t n, size_t size), (n, size), NULL)
WRAP(FAIL_MEMORY, void *, realloc, (void *p, size_t n), (p, n), NULL)
WRAP(FAIL_MEMORY, void *, aligned_alloc, (size_t a, size_t n), (a, n), NULL)
WRAP(FAIL_MAP, void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t off),
     (at, n, prot, flags, fd, off), fail_pointer(FAIL_MAP))
WRAP(FAIL_PROTECT, int, mprotect, (void *at, size_t n, int prot), (at, n, prot), -1)
WRAP(FAIL_THREAD, int, pthread_create, (pthread_t *t, const pthread_attr_t *attr,
     void *(*fn)(void *), void *arg), (t, attr, fn, arg), plan[FAIL_THREAD].error)
WRAP(FAIL_THREAD, int, pthread_attr_getstack, (const pthread_attr_t *attr, void **low,
     size_t *n), (attr, low, n), plan[FAIL_THREAD].error)
WRAP(FAIL_THREAD, int, pthread_getattr_np, (pthread_t t, pthread_attr_t *attr), (t, attr),
     plan[FAIL_THREAD].error)
WRAP(FAIL_ATFORK, int, pthread_atfork, (void (*a)(void), void (*b)(void), void (*c)(void)),
     (a, b, c), plan[FAIL_ATFORK].error)
WRAP(FAIL_SIGACTION, int, sigaction, (int sig, const struct sigaction *now,
     struct sigaction *was), (sig, now, was), -1)
WRAP(FAIL_READ, ssize_t, read, (int fd, void *buf, size_t n), (fd, buf, n), fail_result(FAIL_READ))
WRAP(FAIL_READ, ssize_t, pread, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at),
     fail_result(FAIL_READ))
WRAP(FAIL_READ, ssize_t, getrandom, (void *buf, size_t n, unsigned int flags),
     (buf, n, flags), fail_result(FAIL_READ))
WRAP(FAIL_WRITE, ssize_t, pwrite, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at),
     fail_result(FAIL_WRITE))
WRAP(FAIL_WRITE, int, ftruncate, (int fd, off_t n), (fd, n), -1)
WRAP(FAIL_RECVMSG, ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags),
     fail_result(FAIL_RECVMSG))
WRAP(FAIL_SYSCONF, long, sysconf, (int name), (name), fail_result(FAIL_SYSCONF))
WRAP(FAIL_COPY, ssize_t, process_vm_readv, (pid_t pid, const struct iovec *to,
     unsigned long n, const struct iovec *from, unsigned long m, unsigned long flags),
     (pid, to, n, from, m, flags), fail_result(FAIL_COPY))

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list ap;
	int i;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
#ifdef SYS_mmap
	if (number == SYS_mmap && call_fails(FAIL_MAP))
		return -1;
#endif
	if (number == SYS_mremap && call_fails(FAIL_MAP))
		return -1;
#ifdef SYS_close_range
	if (number == SYS_close_range && call_fails(FAIL_CLOSE_RANGE))
		return -1;
#endif
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* A file that is the text, at its beginning. */
static int open_text(void)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	EXPECT(fd >= 0);
	EXPECT_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	text_path = NULL;
	return fd;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	bool moded = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (moded)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (call_fails(FAIL_OPEN))
		return -1;
	if (text_path && !strcmp(path, text_path))
		return open_text();
	return __real_open(path, flags, mode);
}

#endif
