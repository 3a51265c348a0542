/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coroutine.h - stacks that take turns on one thread of the system.
 *
 * A switch saves the registers that a function must keep, and no mask of signals; it makes no
 * system call. It is a few instructions for x86-64 and aarch64, and swapcontext() elsewhere. A
 * stack has a page below it that nobody may touch. Debuggers unwind a coroutine that runs up to
 * coroutine_begin(); the sanitizers hear of each switch.
 */
#ifndef FL_OS_COROUTINE_H
#define FL_OS_COROUTINE_H

#include <stdbool.h>
#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#define COROUTINE_UCONTEXT
#endif
#ifdef COROUTINE_UCONTEXT
#include <ucontext.h>
#endif

struct os_coroutine {
	void *sp;		/* while it does not run */
	char *stack;		/* NULL: the stack of the thread itself */
	size_t bytes;		/* with the page below */
	void (*fn)(void *arg);
	void *arg;
	/* For sanitizers: stack and kept frames (ASan), fiber (TSan). */
	const void *bottom;
	size_t room;
	void *frames, *fiber;
#ifdef COROUTINE_UCONTEXT
	ucontext_t context;
#endif
};

/* fn starts with the first switch to it, and must not return. 0 or -ENOMEM. */
int os_coroutine_create(struct os_coroutine *c, void (*fn)(void *arg), void *arg);
/* It does not run, and never will again. One whose stack is the thread's needs no call. */
void os_coroutine_destroy(struct os_coroutine *c);
/*
 * Returns when somebody switches back to from, which runs now. The first coroutine of a
 * thread is a struct of zeros.
 */
void os_coroutine_switch(struct os_coroutine *from, struct os_coroutine *to);
/* Is p on its stack? */
bool os_coroutine_holds(const struct os_coroutine *c, const void *p);

#endif
