/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults.h - what the driver (drive.c) and the library that is preloaded (inject.c)
 * share: a file that both have mapped. The driver says which call is to fail, and how;
 * the library counts the calls that the tree's own code makes, by place, and makes one
 * of them fail. It is shared by all processes of a command, so the counting goes
 * on over a fork. Programs that are not the tree's (dot, sh) are left alone.
 */
#ifndef FL_FAULTS_H
#define FL_FAULTS_H

#include <stdatomic.h>
#include <stdint.h>

#define FAULTS_ENV	"FAULTLINE_FAULTS"	/* path of the file */
#define FAULTS_SITES	4096u

/* Kinds of call. The first two are those that the manuals say may come back early. */
#define FAULTS_CLASSES(X) \
	X(READ, "read", EIO) \
	X(WRITE, "write", EIO) \
	X(MEMORY, "memory", ENOMEM) \
	X(MAP, "map", ENOMEM) \
	X(THREAD, "thread", EAGAIN) \
	X(PROCESS, "process", EAGAIN) \
	X(DESCRIPTOR, "descriptor", EMFILE) \
	X(NAME, "name", EACCES) \
	X(CLOSE, "close", EIO) \
	X(PRINT, "print", ENOSPC)

#define X(id, name, error) FAULTS_##id,
enum faults_class { FAULTS_CLASSES(X) FAULTS_COUNT };
#undef X

/* What happens to the call that is chosen. */
enum faults_how {
	FAULTS_NOTHING,		/* count alone */
	FAULTS_FAIL,		/* it fails with error */
	FAULTS_SHORT,		/* it does half of what was asked: READ, WRITE */
	FAULTS_SIGNAL,		/* signal comes before it */
};

struct faults_site {
	_Atomic uint64_t key;	/* address in the program and class; 0: free */
	_Atomic uint64_t calls;
};

struct faults {
	char program[512];	/* the tree's, as /proc/self/exe names it */
	int32_t how, class, error, signal;
	int32_t target;		/* of the signal, as kill() takes it: 0 is the group */
	uint64_t site;		/* only calls there; 0: all of the class */
	uint64_t nth;		/* which of them, from 1 */
	_Atomic uint64_t seen;	/* calls of that kind so far */
	_Atomic uint32_t hit;	/* the call was made */
	_Atomic uint64_t calls[FAULTS_COUNT];
	struct faults_site at[FAULTS_SITES];
};

static inline uint64_t faults_key(uint64_t offset, int class)
{
	return offset << 4 | (uint64_t)class | 1ull << 63;
}

static inline int faults_key_class(uint64_t key)
{
	return (int)(key & 15);
}

static inline uint64_t faults_key_offset(uint64_t key)
{
	return (key & ~(1ull << 63)) >> 4;
}

#endif
