/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * confine.h - programs that are not trusted: what a student hands in, a plan that is
 * contested, and the compiler that reads them. confine.c has limits and files,
 * confine_calls.c which calls of the kernel they get. All return 0 or a negative errno
 * unless they say otherwise.
 */
#ifndef FL_CONFINE_H
#define FL_CONFINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Each kind may do what is listed in confine_calls.c, and nothing else. */
enum confine_kind {
	CONFINE_LOADED,	/* it computes; a loader opens its libraries first */
	CONFINE_ALONE,	/* it computes, and is linked statically */
	CONFINE_TOOLS,	/* a compiler: it starts programs, and has files */
};

/* With a file, or with what is in a folder and in those below it. */
#define CONFINE_MAY_READ	1	/* and run it */
#define CONFINE_MAY_LIST	2	/* learn the names in it */
#define CONFINE_MAY_WRITE	4	/* also make and remove plain files and folders */
struct confine_path {
	const char *path;	/* not there: that is no error */
	unsigned int may;
};

struct confine {
	enum confine_kind kind;
	const char *program;	/* the file that exec() will be given */
	unsigned int cpu_s;	/* seconds of CPU: then SIGXCPU, one later SIGKILL */
	uint64_t memory_bytes;	/* of address space; 0: no limit */
	uint64_t file_bytes;	/* the longest file that it may write */
	const struct confine_path *path;	/* what it may use besides its program */
	unsigned int paths;
};
/* What holds besides the limits, which always do. */
#define CONFINED_CALLS 1	/* no network, no other process to touch */
#define CONFINED_FILES 2	/* none but those it may use */
#define CONFINED_NAMES 4	/* nor does it learn which ones exist */
/*
 * For the child of a fork(), just before confine_exec(): CONFINED_* that this
 * system could do (Linux on x86-64 and arm64; others: 0), or negative errno. It cannot
 * be undone, and holds for what the program starts.
 */
int confine_self(const struct confine *c);
/* The only execve() that a program that computes gets. Negative errno: it failed. */
int confine_exec(const char *program, char *const argv[], char *const env[]);
/* How many threads a process has now; 0: unknown (not Linux), or no such process. */
unsigned int confine_threads(pid_t pid);
/*
 * What the files without a name take, in memory or on disk, that a process has open;
 * 0: unknown (not Linux), or no such process.
 */
uint64_t confine_nameless_bytes(pid_t pid);
/* No process of the same user may look into this one's memory, where that can be. */
void confine_private(void);

/* Can this system confine a program, beyond its limits? */
#if defined(__linux__) && defined(_GNU_SOURCE) && \
	(defined(__x86_64__) || defined(__aarch64__)) && \
	__has_include(<linux/landlock.h>)
#define CONFINES 1
#else
#define CONFINES 0
#endif

/* For confine.c: what it may ask the kernel for. 0 or negative errno. */
int confine_calls(const struct confine *conf);

#endif
