/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fail.h - calls of the C library that fail. A program that reads this header is linked so
 * that its own calls (not the C library's) come here first (tests.mk: --wrap). What a thread
 * has said here holds for its own calls alone, and for a child that it forks.
 */
#ifndef FL_RIG_FAIL_H
#define FL_RIG_FAIL_H

#include "harness.h"

enum fail_call {
	FAIL_MEMORY,	/* malloc, calloc, realloc, aligned_alloc */
	FAIL_MAP,	/* mmap, also as a bare system call; mremap */
	FAIL_PROTECT,	/* mprotect */
	FAIL_THREAD,	/* pthread_create, pthread_attr_getstack, pthread_getattr_np */
	FAIL_ATFORK,	/* pthread_atfork */
	FAIL_SIGACTION,
	FAIL_OPEN,
	FAIL_READ,	/* read, pread, getrandom */
	FAIL_WRITE,	/* pwrite, ftruncate */
	FAIL_RECVMSG,
	FAIL_SYSCONF,
	FAIL_COPY,	/* process_vm_readv */
	FAIL_CLOSE_RANGE, /* as a bare system call */
	FAIL_CALLS
};

/*
 * The nth such call from now (1: the next) fails with error, and `times` calls in all, one
 * after the other. Several kinds of calls may be due to fail. All of it ends with the test.
 */
void fail_at(enum fail_call call, unsigned int nth, unsigned int times, int error);

/* Likewise, but what is not called returns this. */
void fail_answer(enum fail_call call, unsigned int nth, unsigned int times, long answer);

/* Nothing fails any more. How many calls have failed since the last fail_at()? */
unsigned int fail_end(void);

/* The next open() that finds path gets these bytes to read in its place. */
void fail_text(const char *path, const char *bytes);

/* fn in a program of its own; what it says on standard error. Its wait status. */
int fail_child(void (*fn)(void *arg), void *arg, char *said, unsigned long bytes);

#endif
