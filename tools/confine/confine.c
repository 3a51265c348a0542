// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that is not trusted: what it may use up, and on Linux what it may ask
 * the kernel for (confine_calls.c) and which files it may use (Landlock). All of it
 * is done in the child between fork() and exec(), so it holds before the program's
 * first instruction, its constructors included.
 */
#include "tools/confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTORS 65536
#define TOOLS_FILES 256
#define TOOLS_PROCESSES 4096

static int confine_limit(int what, uint64_t value)
{
	struct rlimit r = { (rlim_t)value, (rlim_t)value };

	return setrlimit(what, &r) ? -errno : 0;
}

/* Of the user, all together: whoever has fewer already keeps that. */
static int limit_processes(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NPROC, &r))
		return -errno;
	return r.rlim_max < TOOLS_PROCESSES ? 0 :
	       confine_limit(RLIMIT_NPROC, TOOLS_PROCESSES);
}

static int confine_limits(const struct confine *c)
{
	struct rlimit cpu = { c->cpu_s, c->cpu_s + 1 };
	int err = 0;

	/* The first second too many is a SIGXCPU, the next one a SIGKILL. */
	if (setrlimit(RLIMIT_CPU, &cpu))
		err = -errno;
	if (!err && c->memory_bytes)
		err = confine_limit(RLIMIT_AS, c->memory_bytes);
	if (!err)
		err = confine_limit(RLIMIT_FSIZE, c->file_bytes);
	if (!err)
		err = confine_limit(RLIMIT_NOFILE, c->kind == CONFINE_TOOLS ?
					   TOOLS_FILES : 16);
	if (!err && c->kind == CONFINE_TOOLS)
		err = limit_processes();
	if (!err)
		err = confine_limit(RLIMIT_CORE, 0);
	return err;
}

/* The folder has two links of its own, and one for each thread. */
unsigned int confine_threads(pid_t pid)
{
	char path[48];
	struct stat s;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	return stat(path, &s) || s.st_nlink < 2 ? 0 :
	       (unsigned int)s.st_nlink - 2;
}

#if CONFINES
#include <dirent.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Kinds of access, by their bits: the headers may be older than the kernel. */
#define FS_EXECUTE	(1u << 0)
#define FS_WRITE_FILE	(1u << 1)
#define FS_READ_FILE	(1u << 2)
#define FS_READ_DIR	(1u << 3)
#define FS_REMOVE_DIR	(1u << 4)
#define FS_REMOVE_FILE	(1u << 5)
#define FS_MAKE_DIR	(1u << 7)
#define FS_MAKE_REG	(1u << 8)
#define FS_TRUNCATE	(1u << 14)
/* What a rule for a file, and none for a folder, can hold. */
#define FS_OF_FILE	(FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE)

/* struct landlock_ruleset_attr as it is from version 6 on. */
struct ruleset {
	uint64_t fs, net, scoped;
};

/*
 * Version by version there is more that can be refused: renaming into another folder,
 * truncating, TCP, ioctl() of devices, abstract sockets and signals.
 */
static struct ruleset all_of(long version, size_t *size)
{
	struct ruleset r = { .fs = 0x1fff };

	*size = 8;
	if (version >= 2)
		r.fs |= 1u << 13;
	if (version >= 3)
		r.fs |= FS_TRUNCATE;
	if (version >= 4) {
		r.net = 3;
		*size = 16;
	}
	if (version >= 5)
		r.fs |= 1u << 15;
	if (version >= 6) {
		r.scoped = 3;
		*size = 24;
	}
	return r;
}

static void confine_allow(int rules, uint64_t known, const struct confine_path *p)
{
	struct landlock_path_beneath_attr rule = {
		.parent_fd = open(p->path, O_PATH | O_CLOEXEC),
	};
	struct stat s;

	if (p->may & CONFINE_MAY_READ)
		rule.allowed_access |= FS_READ_FILE | FS_EXECUTE;
	if (p->may & CONFINE_MAY_LIST)
		rule.allowed_access |= FS_READ_DIR;
	if (p->may & CONFINE_MAY_WRITE)
		rule.allowed_access |= FS_WRITE_FILE | FS_TRUNCATE |
				       FS_MAKE_REG | FS_MAKE_DIR |
				       FS_REMOVE_FILE | FS_REMOVE_DIR;
	rule.allowed_access &= known;
	/* What is not there needs no permission. */
	if (rule.parent_fd < 0)
		return;
	if (!fstat(rule.parent_fd, &s) && !S_ISDIR(s.st_mode))
		rule.allowed_access &= FS_OF_FILE;
	if (rule.allowed_access)
		syscall(SYS_landlock_add_rule, rules,
			LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
}

/* The libraries that a program is linked with, and what finds them. */
static const struct confine_path libraries[] = {
	{ "/lib", CONFINE_MAY_READ | CONFINE_MAY_LIST },
	{ "/lib64", CONFINE_MAY_READ | CONFINE_MAY_LIST },
	{ "/usr/lib", CONFINE_MAY_READ | CONFINE_MAY_LIST },
	{ "/usr/lib64", CONFINE_MAY_READ | CONFINE_MAY_LIST },
	{ "/usr/local/lib", CONFINE_MAY_READ | CONFINE_MAY_LIST },
	{ "/etc/ld.so.cache", CONFINE_MAY_READ },
};

static int confine_files(const struct confine *c)
{
	const struct confine_path program = { c->program, CONFINE_MAY_READ };
	struct ruleset attr;
	unsigned int i;
	int rules, err = 0;
	size_t size;
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);

	if (version < 1)
		return version ? -errno : -ENOSYS;
	attr = all_of(version, &size);
	rules = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (rules < 0)
		return -errno;
	confine_allow(rules, attr.fs, &program);
	if (c->kind != CONFINE_ALONE)
		for (i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
			confine_allow(rules, attr.fs, &libraries[i]);
	for (i = 0; i < c->paths; i++)
		confine_allow(rules, attr.fs, &c->path[i]);
	if (syscall(SYS_landlock_restrict_self, rules, 0))
		err = -errno;
	close(rules);
	return err;
}

/* Of root's rights one is left: to find the program in folders of other users. */
static int confine_rights(void)
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

static unsigned int system_confines(const struct confine *c)
{
	unsigned int held = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || confine_rights())
		return 0;
	if (!confine_files(c))
		held |= CONFINED_FILES;
	if (!confine_calls(c))
		held |= CONFINED_CALLS;
	/* A program that may open files learns at least which ones exist. */
	if (held & CONFINED_CALLS && c->kind == CONFINE_ALONE)
		held |= CONFINED_NAMES;
	return held;
}

void confine_private(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

uint64_t confine_nameless_bytes(pid_t pid)
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
#else
static unsigned int system_confines(const struct confine *c)
{
	(void)c;
	return 0;
}

void confine_private(void)
{
}

uint64_t confine_nameless_bytes(pid_t pid)
{
	(void)pid;
	return 0;
}
#endif

int confine_self(const struct confine *c)
{
	int err = confine_limits(c);

	return err ? err : (int)system_confines(c);
}
