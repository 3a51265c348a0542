// SPDX-License-Identifier: BSD-2-Clause
/*
 * inject.c - preloaded into a program of the tree: its calls of the C library are counted
 * by class and place, and one of them fails (faults.h). Only calls from the program itself
 * count: what the C library calls for its own use goes through untouched.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/faults/faults.h"

#define HERE __builtin_return_address(0)
/* glibc's flag of a stream that has failed. */
#define STREAM_FAILED 0x20

static struct faults *shared;
static uintptr_t base, text, text_end;

static int find_text(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	const ElfW(Phdr) *p = info->dlpi_phdr;
	int i;

	(void)bytes;
	(void)arg;
	base = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X))
			continue;
		text = base + p[i].p_vaddr;
		text_end = text + p[i].p_memsz;
	}
	return 1;	/* the program itself is the first */
}

__attribute__((constructor)) static void inject_begin(void)
{
	const char *path = getenv(FAULTS_ENV);
	char self[sizeof(shared->program)];
	struct faults *f;
	ssize_t n;
	int fd;

	if (!path)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	f = (struct faults *)syscall(SYS_mmap, NULL, sizeof(*f),
				     PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	syscall(SYS_close, fd);
	if (f == MAP_FAILED)
		return;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n < 0 ? 0 : n] = 0;
	if (strcmp(self, f->program))
		return;
	dl_iterate_phdr(find_text, NULL);
	shared = f;
}

static void count_site(uint64_t key)
{
	uint64_t i = key * 0x9e3779b97f4a7c15ull >> 32, n, none;
	struct faults_site *s;

	for (n = 0; n < FAULTS_SITES; n++) {
		s = &shared->at[(i + n) % FAULTS_SITES];
		none = 0;
		if (s->key == key ||
		    atomic_compare_exchange_strong(&s->key, &none, key) ||
		    none == key) {
			s->calls++;
			return;
		}
	}
}

/* Is this the call? Then what is to happen to it, else FAULTS_NOTHING. */
static enum faults_how inject_chosen(enum faults_class class, void *from)
{
	struct faults *f = shared;
	uint64_t key;
	int saved = errno;

	if (!f || (uintptr_t)from < text || (uintptr_t)from >= text_end)
		return FAULTS_NOTHING;
	key = faults_key((uintptr_t)from - base, (int)class);
	f->calls[class]++;
	if (!f->how) {
		count_site(key);
		return FAULTS_NOTHING;
	}
	if (f->site ? f->site != key : f->class != (int)class)
		return FAULTS_NOTHING;
	if (++f->seen != f->nth)
		return FAULTS_NOTHING;
	f->hit = 1;
	if (f->how == FAULTS_SIGNAL) {
		syscall(SYS_kill, f->target, f->signal);
		errno = saved;
		return FAULTS_NOTHING;
	}
	return (enum faults_how)f->how;
}

static bool inject_fails(enum faults_class class, void *from)
{
	if (inject_chosen(class, from) != FAULTS_FAIL)
		return false;
	errno = shared->error;
	return true;
}

#define REAL(name) ((__typeof__(&name))inject_real(#name, &real_##name))

static void *inject_real(const char *name, void **found)
{
	if (!*found)
		*found = dlsym(RTLD_NEXT, name);
	return *found;
}

#define WRAP(class, type, name, params, args, bad) \
	static void *real_##name; \
	type name params; \
	type name params \
	{ \
		if (inject_fails(FAULTS_##class, HERE)) \
			return bad; \
		return REAL(name) args; \
	}

/* ---- memory: glibc has its own names for these, and dlsym() itself may want some ---- */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	return inject_fails(FAULTS_MEMORY, HERE) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return inject_fails(FAULTS_MEMORY, HERE) ? NULL :
	       __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return inject_fails(FAULTS_MEMORY, HERE) ? NULL : __libc_realloc(p, n);
}

WRAP(MEMORY, char *, strdup, (const char *s), (s), NULL)
WRAP(MEMORY, char *, strndup, (const char *s, size_t n), (s, n), NULL)
WRAP(MEMORY, void *, aligned_alloc, (size_t a, size_t n), (a, n), NULL)
WRAP(MEMORY, int, posix_memalign, (void **p, size_t a, size_t n), (p, a, n),
     shared->error)
WRAP(MEMORY, FILE *, open_memstream, (char **p, size_t *n), (p, n), NULL)
WRAP(MEMORY, int, vasprintf, (char **p, const char *fmt, va_list ap),
     (p, fmt, ap), -1)
WRAP(MEMORY, int, pthread_atfork, (void (*a)(void), void (*b)(void),
     void (*c)(void)), (a, b, c), shared->error)

int asprintf(char **p, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (inject_fails(FAULTS_MEMORY, HERE))
		return -1;
	va_start(ap, fmt);
	n = vasprintf(p, fmt, ap);
	va_end(ap);
	return n;
}

/* ---- mappings ---- */

WRAP(MAP, void *, mmap, (void *at, size_t n, int prot, int flags, int fd,
     off_t off), (at, n, prot, flags, fd, off), MAP_FAILED)
WRAP(MAP, int, mprotect, (void *at, size_t n, int prot), (at, n, prot), -1)
WRAP(MAP, int, memfd_create, (const char *name, unsigned int flags),
     (name, flags), -1)
WRAP(MAP, int, shm_open, (const char *name, int flags, mode_t mode),
     (name, flags, mode), -1)
WRAP(MAP, int, ftruncate, (int fd, off_t n), (fd, n), -1)
WRAP(MAP, int, fallocate, (int fd, int mode, off_t at, off_t n),
     (fd, mode, at, n), -1)

long syscall(long number, ...)
{
	static void *real_syscall;
	long a[6];
	va_list ap;
	int i;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if ((number == SYS_mmap || number == SYS_mremap ||
	     number == SYS_mprotect) && inject_fails(FAULTS_MAP, HERE))
		return -1;
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- threads, processes ---- */

WRAP(THREAD, int, pthread_create, (pthread_t *t, const pthread_attr_t *attr,
     void *(*fn)(void *), void *arg), (t, attr, fn, arg), shared->error)
WRAP(PROCESS, pid_t, fork, (void), (), -1)
WRAP(PROCESS, int, posix_spawn, (pid_t *pid, const char *path,
     const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attr,
     char *const argv[], char *const envp[]),
     (pid, path, files, attr, argv, envp), shared->error)
WRAP(PROCESS, int, posix_spawnp, (pid_t *pid, const char *path,
     const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attr,
     char *const argv[], char *const envp[]),
     (pid, path, files, attr, argv, envp), shared->error)

/* ---- descriptors ---- */

WRAP(DESCRIPTOR, int, pipe, (int fd[2]), (fd), -1)
WRAP(DESCRIPTOR, int, pipe2, (int fd[2], int flags), (fd, flags), -1)
WRAP(DESCRIPTOR, int, socket, (int a, int b, int c), (a, b, c), -1)
WRAP(DESCRIPTOR, int, socketpair, (int a, int b, int c, int fd[2]),
     (a, b, c, fd), -1)
WRAP(DESCRIPTOR, int, dup, (int fd), (fd), -1)
WRAP(DESCRIPTOR, int, dup2, (int fd, int to), (fd, to), -1)
WRAP(DESCRIPTOR, int, accept, (int fd, struct sockaddr *a, socklen_t *n),
     (fd, a, n), -1)
WRAP(DESCRIPTOR, int, accept4, (int fd, struct sockaddr *a, socklen_t *n,
     int flags), (fd, a, n, flags), -1)
WRAP(DESCRIPTOR, int, eventfd, (unsigned int n, int flags), (n, flags), -1)
WRAP(DESCRIPTOR, FILE *, fopen, (const char *path, const char *mode),
     (path, mode), NULL)
WRAP(DESCRIPTOR, FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
WRAP(DESCRIPTOR, DIR *, opendir, (const char *path), (path), NULL)
WRAP(DESCRIPTOR, DIR *, fdopendir, (int fd), (fd), NULL)

static bool wants_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

int open(const char *path, int flags, ...)
{
	static void *real_open;
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (wants_mode(flags))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (inject_fails(FAULTS_DESCRIPTOR, HERE))
		return -1;
	return REAL(open)(path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
	static void *real_fcntl;
	va_list ap;
	void *arg;

	va_start(ap, command);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (inject_fails(FAULTS_DESCRIPTOR, HERE))
		return -1;
	return REAL(fcntl)(fd, command, arg);
}

/* ---- names ---- */

WRAP(NAME, int, bind, (int fd, const struct sockaddr *a, socklen_t n),
     (fd, a, n), -1)
WRAP(NAME, int, listen, (int fd, int n), (fd, n), -1)
WRAP(NAME, int, connect, (int fd, const struct sockaddr *a, socklen_t n),
     (fd, a, n), -1)
WRAP(NAME, int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
WRAP(NAME, char *, mkdtemp, (char *path), (path), NULL)
WRAP(NAME, int, mkstemp, (char *path), (path), -1)
WRAP(NAME, int, unlink, (const char *path), (path), -1)
WRAP(NAME, int, rmdir, (const char *path), (path), -1)
WRAP(NAME, int, rename, (const char *a, const char *b), (a, b), -1)
WRAP(NAME, int, stat, (const char *path, struct stat *st), (path, st), -1)
WRAP(NAME, int, lstat, (const char *path, struct stat *st), (path, st), -1)
WRAP(NAME, int, fstat, (int fd, struct stat *st), (fd, st), -1)
WRAP(NAME, int, flock, (int fd, int how), (fd, how), -1)
WRAP(NAME, int, setsockopt, (int fd, int a, int b, const void *p, socklen_t n),
     (fd, a, b, p, n), -1)

/* ---- bytes: these may come back early, too ---- */

#define WRAP_IO(class, name, params, args, n) \
	static void *real_##name; \
	ssize_t name params \
	{ \
		enum faults_how how = inject_chosen(FAULTS_##class, HERE); \
		if (how == FAULTS_FAIL) { \
			errno = shared->error; \
			return -1; \
		} \
		if (how == FAULTS_SHORT && n > 1) \
			n /= 2; \
		return REAL(name) args; \
	}

WRAP_IO(READ, read, (int fd, void *p, size_t n), (fd, p, n), n)
WRAP_IO(READ, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), n)
WRAP_IO(READ, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags), n)
WRAP_IO(WRITE, write, (int fd, const void *p, size_t n), (fd, p, n), n)
WRAP_IO(WRITE, pwrite, (int fd, const void *p, size_t n, off_t at),
	(fd, p, n, at), n)
WRAP_IO(WRITE, send, (int fd, const void *p, size_t n, int flags),
	(fd, p, n, flags), n)

/* A message in one piece: half of its first part, and so all of it. */
static ssize_t send_half(int fd, const struct msghdr *m, int flags,
			 ssize_t (*real_send)(int, const struct msghdr *, int))
{
	struct iovec part = *m->msg_iov;
	struct msghdr half = *m;

	part.iov_len = part.iov_len > 1 ? part.iov_len / 2 : part.iov_len;
	half.msg_iov = &part;
	half.msg_iovlen = 1;
	return real_send(fd, &half, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	static void *real_sendmsg;
	enum faults_how how = inject_chosen(FAULTS_WRITE, HERE);

	if (how == FAULTS_FAIL) {
		errno = shared->error;
		return -1;
	}
	if (how == FAULTS_SHORT && m->msg_iovlen)
		return send_half(fd, m, flags, REAL(sendmsg));
	return REAL(sendmsg)(fd, m, flags);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	static void *real_recvmsg;
	enum faults_how how = inject_chosen(FAULTS_READ, HERE);
	size_t n = m->msg_iovlen ? m->msg_iov->iov_len : 0;
	ssize_t got;

	if (how == FAULTS_FAIL) {
		errno = shared->error;
		return -1;
	}
	if (how == FAULTS_SHORT && n > 1)
		m->msg_iov->iov_len = n / 2;
	got = REAL(recvmsg)(fd, m, flags);
	if (m->msg_iovlen)
		m->msg_iov->iov_len = n;
	return got;
}

WRAP(READ, int, poll, (struct pollfd *p, nfds_t n, int ms), (p, n, ms), -1)
WRAP(READ, pid_t, waitpid, (pid_t pid, int *status, int flags),
     (pid, status, flags), -1)
WRAP(WRITE, int, fsync, (int fd), (fd), -1)

/* What fails to close is closed all the same, as Linux has it. */
int close(int fd)
{
	static void *real_close;
	bool bad = inject_fails(FAULTS_CLOSE, HERE);
	int r = REAL(close)(fd);

	if (bad)
		errno = shared->error;
	return bad ? -1 : r;
}

int fclose(FILE *f)
{
	static void *real_fclose;
	bool bad = inject_fails(FAULTS_CLOSE, HERE);
	int r = REAL(fclose)(f);

	if (bad)
		errno = shared->error;
	return bad ? EOF : r;
}

/* ---- what is printed; standard error is the last resort, and works ---- */

static bool cannot_print(FILE *f, void *from)
{
	if (f == stderr || !inject_fails(FAULTS_PRINT, from))
		return false;
	f->_flags |= STREAM_FAILED;
	return true;
}

#define WRAP_PRINT(name, params, args, f) \
	static void *real_##name; \
	int name params \
	{ \
		if (cannot_print(f, HERE)) \
			return EOF; \
		return REAL(name) args; \
	}

WRAP_PRINT(fputs, (const char *s, FILE *f), (s, f), f)
WRAP_PRINT(fputc, (int c, FILE *f), (c, f), f)
WRAP_PRINT(putc, (int c, FILE *f), (c, f), f)
WRAP_PRINT(puts, (const char *s), (s), stdout)
WRAP_PRINT(putchar, (int c), (c), stdout)
WRAP_PRINT(vfprintf, (FILE *f, const char *fmt, va_list ap), (f, fmt, ap), f)
WRAP_PRINT(fflush, (FILE *f), (f), f ? f : stdout)

size_t fwrite(const void *p, size_t size, size_t n, FILE *f)
{
	static void *real_fwrite;

	return cannot_print(f, HERE) ? 0 : REAL(fwrite)(p, size, n, f);
}

int fprintf(FILE *f, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (cannot_print(f, HERE))
		return -1;
	va_start(ap, fmt);
	n = vfprintf(f, fmt, ap);
	va_end(ap);
	return n;
}

int printf(const char *fmt, ...)
{
	va_list ap;
	int n;

	if (cannot_print(stdout, HERE))
		return -1;
	va_start(ap, fmt);
	n = vfprintf(stdout, fmt, ap);
	va_end(ap);
	return n;
}
