// SPDX-License-Identifier: BSD-2-Clause
/*
 * The system calls of a confined program, as a list of what is allowed. A call that is
 * not on the list is refused, also one that is younger than this file: the list is
 * compared with the call's number, and the kernel's headers name only what it allows.
 *
 * EPERM is the answer to a call that this file could have allowed, ENOSYS to younger
 * ones, so that a C library takes the older way. A call through another entry of
 * the processor (int 0x80 on x86-64) ends the program.
 */
#include "tools/confine/confine.h"

#include <errno.h>
#include <unistd.h>

#if CONFINES
#include <assert.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define MY_ARCH AUDIT_ARCH_X86_64
#else
#define MY_ARCH AUDIT_ARCH_AARCH64
#endif

#define YOUNGEST	450	/* the last call of Linux 6.1, same on both */
#define X32		0x40000000
/* CLONE_NEW*: another view of files, network, users, ... */
#define NEW_SPACES	0x7e020000u
#define CODE_MAX	768

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* It computes, has threads, and talks over the descriptors that it was given. */
static const short computing[] = {
	SYS_read, SYS_write, SYS_futex, SYS_sched_yield, SYS_rt_sigprocmask,
	SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk,
	SYS_mincore, SYS_msync, SYS_membarrier, SYS_memfd_create,
	SYS_ftruncate, SYS_fallocate, SYS_readv, SYS_writev, SYS_pread64,
	SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_lseek, SYS_close,
	SYS_close_range, SYS_fstat, SYS_dup, SYS_dup3, SYS_pipe2,
	SYS_eventfd2, SYS_ppoll, SYS_pselect6, SYS_epoll_create1,
	SYS_epoll_ctl, SYS_epoll_pwait, SYS_set_tid_address,
	SYS_set_robust_list, SYS_rseq, SYS_gettid, SYS_getpid, SYS_getppid,
	SYS_exit, SYS_exit_group, SYS_sched_getaffinity, SYS_sched_getparam,
	SYS_sched_getscheduler, SYS_sched_get_priority_max,
	SYS_sched_get_priority_min, SYS_nanosleep, SYS_clock_nanosleep,
	SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_times,
	SYS_getrusage, SYS_getcpu, SYS_rt_sigaction, SYS_rt_sigreturn,
	SYS_rt_sigpending, SYS_rt_sigtimedwait, SYS_rt_sigsuspend,
	SYS_sigaltstack, SYS_restart_syscall, SYS_uname, SYS_getuid,
	SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrandom, SYS_getrlimit,
	SYS_sysinfo,
#ifdef __x86_64__
	SYS_arch_prctl, SYS_pause, SYS_time, SYS_poll, SYS_select, SYS_pipe,
	SYS_dup2, SYS_epoll_wait,
#endif
};

/* What a loader has to know of the libraries that it opens. */
static const short loading[] = { SYS_newfstatat };

/* Files by their names, which Landlock judges, and programs of its own. */
static const short tooling[] = {
	SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2,
	SYS_readlinkat, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_mkdirat,
	SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_getdents64, SYS_umask,
	SYS_statfs, SYS_fstatfs, SYS_flock, SYS_fsync, SYS_fdatasync,
	SYS_fadvise64, SYS_copy_file_range, SYS_sendfile, SYS_execve,
	SYS_wait4, SYS_waitid, SYS_getpgid, SYS_getgroups, SYS_getresuid,
	SYS_getresgid,
#ifdef __x86_64__
	SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir,
	SYS_rmdir, SYS_unlink, SYS_rename, SYS_fork, SYS_vfork, SYS_getpgrp,
	SYS_getdents,
#endif
};

static const short fcntls[] = {
	F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC,
	F_ADD_SEALS, F_GET_SEALS,
};

/* The three arguments of execve() that the kernel does not look at. */
static uint64_t secret[3];

struct code {
	struct sock_filter line[CODE_MAX];
	unsigned int n;
};

static void code_put(struct code *c, unsigned int op, uint32_t k, uint8_t yes,
		     uint8_t no)
{
	assert(c->n < CODE_MAX);
	c->line[c->n++] = (struct sock_filter){ (uint16_t)op, yes, no, k };
}

static void code_load(struct code *c, size_t at)
{
	code_put(c, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0);
}

static void load_call(struct code *c)
{
	code_load(c, offsetof(struct seccomp_data, nr));
}

static void load_arg(struct code *c, unsigned int arg, bool high)
{
	code_load(c, offsetof(struct seccomp_data, args) + 8 * arg + 4 * high);
}

static void code_answer(struct code *c, uint32_t what)
{
	code_put(c, BPF_RET | BPF_K, what, 0, 0);
}

/* What is loaded is value: go on; else skip so many lines. */
static void code_when(struct code *c, uint32_t value, unsigned int skip)
{
	code_put(c, BPF_JMP | BPF_JEQ | BPF_K, value, 0, (uint8_t)skip);
}

static void code_refuse(struct code *c, int call, int error)
{
	code_when(c, (uint32_t)call, 1);
	code_answer(c, SECCOMP_RET_ERRNO | (uint32_t)error);
}

static void allow_all(struct code *c, const short *call, size_t n)
{
	for (; n; n--, call++) {
		code_when(c, (uint32_t)*call, 1);
		code_answer(c, SECCOMP_RET_ALLOW);
	}
}

/* Only when these bits of an argument, of which 32 count, have this value. */
static void allow_with(struct code *c, int call, unsigned int arg, uint32_t bits,
		       uint32_t value)
{
	code_when(c, (uint32_t)call, 5);
	load_arg(c, arg, false);
	code_put(c, BPF_ALU | BPF_AND | BPF_K, bits, 0, 0);
	code_when(c, value, 1);
	code_answer(c, SECCOMP_RET_ALLOW);
	load_call(c);
}

/* Once the program runs, nobody in it knows the secret any more. */
static void allow_exec_with_secret(struct code *c)
{
	unsigned int i;

	code_when(c, SYS_execve, 2 * 2 * COUNT(secret) + 2);
	for (i = 0; i < 2 * COUNT(secret); i++) {
		load_arg(c, 3 + i / 2, i % 2);
		code_when(c, (uint32_t)(secret[i / 2] >> 32 * (i % 2)),
			  2 * (2 * COUNT(secret) - 1 - i) + 1);
	}
	code_answer(c, SECCOMP_RET_ALLOW);
	load_call(c);
}

static void code_begin(struct code *c)
{
	code_load(c, offsetof(struct seccomp_data, arch));
	code_put(c, BPF_JMP | BPF_JEQ | BPF_K, MY_ARCH, 1, 0);
	code_answer(c, SECCOMP_RET_KILL_PROCESS);
	load_call(c);
	/* The x32 numbers of x86-64 are others for the same calls. */
	code_put(c, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
	code_answer(c, SECCOMP_RET_ERRNO | ENOSYS);
}

static void code_end(struct code *c)
{
	/* Its flags are in memory; the C library then takes clone(). */
	code_refuse(c, SYS_clone3, ENOSYS);
	/* Nothing is a terminal. */
	code_refuse(c, SYS_ioctl, ENOTTY);
	code_put(c, BPF_JMP | BPF_JGT | BPF_K, YOUNGEST, 0, 1);
	code_answer(c, SECCOMP_RET_ERRNO | ENOSYS);
	code_answer(c, SECCOMP_RET_ERRNO | EPERM);
}

int confine_calls(const struct confine *conf)
{
	static struct code c;
	struct sock_fprog prog;
	unsigned int i;

	c.n = 0;
	code_begin(&c);
	allow_all(&c, computing, COUNT(computing));
	for (i = 0; i < COUNT(fcntls); i++)
		allow_with(&c, SYS_fcntl, 1, ~0u, (uint32_t)fcntls[i]);
	allow_with(&c, SYS_prctl, 0, ~0u, PR_SET_NAME);
	allow_with(&c, SYS_prctl, 0, ~0u, PR_GET_NAME);
	/* One's own limits, and those can only go down. */
	allow_with(&c, SYS_prlimit64, 0, ~0u, 0);
	if (conf->kind == CONFINE_TOOLS) {
		allow_all(&c, tooling, COUNT(tooling));
		allow_with(&c, SYS_clone, 0, NEW_SPACES, 0);
	} else {
		/* abort() is allowed, to end others is not. */
		allow_with(&c, SYS_tgkill, 0, ~0u, (uint32_t)getpid());
		allow_with(&c, SYS_clone, 0, CLONE_THREAD | NEW_SPACES,
			   CLONE_THREAD);
		if (syscall(SYS_getrandom, secret, sizeof(secret), 0) !=
		    sizeof(secret))
			return -EIO;
		allow_exec_with_secret(&c);
	}
	if (conf->kind == CONFINE_LOADED)
		allow_all(&c, loading, COUNT(loading));
	if (conf->kind != CONFINE_ALONE)
		allow_with(&c, SYS_openat, 2, O_PATH, 0);
	code_end(&c);
	prog = (struct sock_fprog){ (unsigned short)c.n, c.line };
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) ? -errno : 0;
}

int confine_exec(const char *program, char *const argv[], char *const env[])
{
	syscall(SYS_execve, program, argv, env, secret[0], secret[1],
		secret[2]);
	return -errno;
}
#else
int confine_calls(const struct confine *conf)
{
	(void)conf;
	return -ENOSYS;
}

int confine_exec(const char *program, char *const argv[], char *const env[])
{
	execve(program, argv, env);
	return -errno;
}
#endif
