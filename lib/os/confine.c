// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that is not trusted: what it may use up, and on Linux what it may ask
 * the kernel for (a seccomp filter) and which files it may see (Landlock). All of
 * it is done in the child between fork() and exec(), so it holds before the
 * program's first instruction, its constructors included.
 */
#include "os/os.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTORS 65536

static int limit(int what, uint64_t value)
{
	struct rlimit r = { (rlim_t)value, (rlim_t)value };

	return setrlimit(what, &r) ? -errno : 0;
}

static int limits(const struct os_confine *c)
{
	struct rlimit cpu = { c->cpu_s, c->cpu_s + 1 };
	int err = 0;

	/* The first second too many is a SIGXCPU, the next one a SIGKILL. */
	if (setrlimit(RLIMIT_CPU, &cpu))
		err = -errno;
	if (!err && c->memory_bytes)
		err = limit(RLIMIT_AS, c->memory_bytes);
	if (!err)
		err = limit(RLIMIT_FSIZE, c->file_bytes);
	if (!err)
		err = limit(RLIMIT_NOFILE, 16);
	if (!err)
		err = limit(RLIMIT_CORE, 0);
	return err;
}

/* The folder has two links of its own, and one for each thread. */
unsigned int os_threads(pid_t pid)
{
	char path[48];
	struct stat s;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	return stat(path, &s) || s.st_nlink < 2 ? 0 :
	       (unsigned int)s.st_nlink - 2;
}

#if defined(__linux__) && defined(_GNU_SOURCE) && \
	(defined(__x86_64__) || defined(__aarch64__)) && \
	__has_include(<linux/landlock.h>)
#include <dirent.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define MY_ARCH AUDIT_ARCH_X86_64
#else
#define MY_ARCH AUDIT_ARCH_AARCH64
#endif

#define DATA(member) offsetof(struct seccomp_data, member)
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE(error) ANSWER(SECCOMP_RET_ERRNO | (error))
#define WHEN(value, skip_if_not) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip_if_not)

/* What is refused whatever it is asked with. */
static const int refused[] = {
	SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_ptrace,
	SYS_process_vm_readv, SYS_process_vm_writev, SYS_kill, SYS_tkill,
	SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open,
	SYS_pidfd_send_signal, SYS_unshare, SYS_setns, SYS_mount, SYS_umount2,
	SYS_chroot, SYS_reboot, SYS_init_module, SYS_finit_module, SYS_bpf,
	SYS_perf_event_open, SYS_keyctl, SYS_add_key, SYS_shmget, SYS_msgget,
	SYS_semget, SYS_setpriority, SYS_sched_setaffinity,
	SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr,
	SYS_ioprio_set, SYS_userfaultfd, SYS_io_uring_setup, SYS_setsid,
	SYS_setpgid,
	/* What a name of a file is enough for, which Landlock's first version lets. */
	SYS_truncate, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat,
	SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
	SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_mq_open,
	SYS_mq_unlink,
	/* Files on their way in a message are nobody's, and no limit counts them. */
	SYS_sendmsg, SYS_sendmmsg,
#ifdef SYS_fchmodat2
	SYS_fchmodat2,
#endif
#ifdef __x86_64__
	SYS_fork, SYS_vfork, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime,
	SYS_utimes, SYS_futimesat,
#endif
};

#define REFUSED (sizeof(refused) / sizeof(refused[0]))

/*
 * What is refused with this argument. A descriptor can send its owner any signal,
 * and anybody can be made that; a program that hides from its judge's looks, or
 * outlives it, has no judge.
 */
static const struct {
	int call;
	unsigned int arg, value;
} refused_with[] = {
	{ SYS_fcntl, 1, F_SETOWN }, { SYS_fcntl, 1, F_SETOWN_EX },
	{ SYS_fcntl, 1, F_SETSIG }, { SYS_ioctl, 1, FIOSETOWN },
	{ SYS_ioctl, 1, SIOCSPGRP }, { SYS_prctl, 0, PR_SET_DUMPABLE },
	{ SYS_prctl, 0, PR_SET_PDEATHSIG },
};

#define REFUSED_WITH (sizeof(refused_with) / sizeof(refused_with[0]))

static int filter(void)
{
	struct sock_filter code[2 * REFUSED + 5 * REFUSED_WITH + 32];
	struct sock_fprog prog = { 0, code };
	unsigned int n = 0, i;

#define PUT(...) (code[n++] = (struct sock_filter)__VA_ARGS__)
	PUT(LOAD(DATA(arch)));
	PUT(WHEN(MY_ARCH, 1));
	PUT(BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
	PUT(ANSWER(SECCOMP_RET_KILL_PROCESS));
	PUT(LOAD(DATA(nr)));
	/* The x32 numbers of x86-64 are others for the same calls. */
	PUT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
	PUT(REFUSE(ENOSYS));
	for (i = 0; i < REFUSED; i++) {
		PUT(WHEN((unsigned int)refused[i], 1));
		PUT(REFUSE(EPERM));
	}
	for (i = 0; i < REFUSED_WITH; i++) {
		PUT(WHEN((unsigned int)refused_with[i].call, 4));
		PUT(LOAD(DATA(args) + 8 * refused_with[i].arg));
		PUT(WHEN(refused_with[i].value, 1));
		PUT(REFUSE(EPERM));
		PUT(LOAD(DATA(nr)));
	}
	/* Its flags are in memory; the C library then takes clone. */
	PUT(WHEN(SYS_clone3, 1));
	PUT(REFUSE(ENOSYS));
	/* Threads, but no processes. */
	PUT(WHEN(SYS_clone, 3));
	PUT(LOAD(DATA(args[0])));
	PUT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
	PUT(REFUSE(EPERM));
	PUT(LOAD(DATA(nr)));
	/* abort() is allowed, to end others is not. */
	PUT(WHEN(SYS_tgkill, 4));
	PUT(LOAD(DATA(args[0])));
	PUT(WHEN((unsigned int)getpid(), 1));
	PUT(ANSWER(SECCOMP_RET_ALLOW));
	PUT(REFUSE(EPERM));
	/* One's own limits, and those can only go down. */
	PUT(WHEN(SYS_prlimit64, 4));
	PUT(LOAD(DATA(args[0])));
	PUT(WHEN(0, 1));
	PUT(ANSWER(SECCOMP_RET_ALLOW));
	PUT(REFUSE(EPERM));
	PUT(ANSWER(SECCOMP_RET_ALLOW));
#undef PUT
	assert(n <= sizeof(code) / sizeof(code[0]));
	prog.len = (unsigned short)n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) ? -errno : 0;
}

static void allow(int rules, const char *path, bool folder)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE |
				  LANDLOCK_ACCESS_FS_EXECUTE |
				  (folder ? LANDLOCK_ACCESS_FS_READ_DIR : 0),
		.parent_fd = open(path, O_PATH | O_CLOEXEC),
	};

	/* What is not there needs no permission. */
	if (rule.parent_fd < 0)
		return;
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule,
		0);
	close(rule.parent_fd);
}

/* Nothing but the program and the libraries it is linked with. */
static int files(const char *program)
{
	/* The thirteen kinds of access of Landlock's first version. */
	struct landlock_ruleset_attr attr = { .handled_access_fs = 0x1fff };
	int rules, err = 0;

	rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr),
			     0);
	if (rules < 0)
		return -errno;
	allow(rules, program, false);
	allow(rules, "/lib", true);
	allow(rules, "/lib64", true);
	allow(rules, "/usr/lib", true);
	allow(rules, "/usr/lib64", true);
	allow(rules, "/usr/local/lib", true);
	allow(rules, "/etc/ld.so.cache", false);
	if (syscall(SYS_landlock_restrict_self, rules, 0))
		err = -errno;
	close(rules);
	return err;
}

/* Of root's rights one is left: to find the program in folders of other users. */
static int rights(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct set[2];

	if (syscall(SYS_capget, &head, set))
		return -errno;
	set[0].permitted &= 1u << CAP_DAC_OVERRIDE;
	set[0].effective &= 1u << CAP_DAC_OVERRIDE;
	set[1].permitted = set[1].effective = 0;
	set[0].inheritable = set[1].inheritable = 0;
	return syscall(SYS_capset, &head, set) ? -errno : 0;
}

static unsigned int system_confines(const char *program)
{
	unsigned int held = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || rights())
		return 0;
	if (!files(program))
		held |= OS_CONFINED_FILES;
	if (!filter())
		held |= OS_CONFINED_CALLS;
	return held;
}

void os_private(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

void os_end_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

uint64_t os_nameless_bytes(pid_t pid)
{
	char path[48];
	struct dirent *d;
	struct stat s;
	uint64_t bytes = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((d = readdir(dir)))
		if (!fstatat(dirfd(dir), d->d_name, &s, 0) &&
		    S_ISREG(s.st_mode) && !s.st_nlink)
			bytes += (uint64_t)s.st_blocks * 512;
	closedir(dir);
	return bytes;
}

static bool system_closes(int first)
{
	return !syscall(SYS_close_range, first, ~0u, 0);
}
#else
static unsigned int system_confines(const char *program)
{
	(void)program;
	return 0;
}

void os_private(void)
{
}

void os_end_with_parent(void)
{
}

uint64_t os_nameless_bytes(pid_t pid)
{
	(void)pid;
	return 0;
}

static bool system_closes(int first)
{
	(void)first;
	return false;
}
#endif

void os_close_from(int first)
{
	long end = sysconf(_SC_OPEN_MAX);
	int fd;

	if (system_closes(first))
		return;
	/* Where there is no limit, who opens that many knows of them. */
	end = end < 0 || end > DESCRIPTORS ? DESCRIPTORS : end;
	for (fd = first; fd < end; fd++)
		close(fd);
}

int os_confine(const struct os_confine *c)
{
	int err = limits(c);

	return err ? err : (int)system_confines(c->program);
}
