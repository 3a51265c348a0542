// SPDX-License-Identifier: BSD-2-Clause
/* coroutine.c - stacks, and the switch from one to another. */
#include "os/coroutine.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "os/os.h"

#ifdef OS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef OS_TSAN
#include <sanitizer/tsan_interface.h>
/* Between the fiber's change and the stack's no function may begin or end. */
#define UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define UNWATCHED
#endif

/* As much as a thread of the system gets; only what is touched takes memory. */
#define STACK_BYTES ((size_t)8 << 20)

/* The coroutine that leaves, and the one that goes on; set before each switch. */
static _Thread_local struct os_coroutine *going, *coming;

/* ---- sanitizers ---- */

#if defined(OS_ASAN)
/* Of what functions that are left by longjmp() have had below the last one. */
#define LEFT_BYTES ((size_t)256 << 10)

static void sanitizer_create(struct os_coroutine *c)
{
	/* What only a coroutine that never ends points to is no leak. */
	__lsan_register_root_region(c->bottom, c->room);
}

static void sanitizer_destroy(struct os_coroutine *c)
{
	const char *bottom = c->bottom, *top = bottom + c->room, *low = bottom;

	__lsan_unregister_root_region(c->bottom, c->room);
#ifndef COROUTINE_UCONTEXT
	/* Marks of all 8 MB are 1 MB. For whoever has the room next, those of frames do. */
	if ((const char *)c->sp - bottom > (ptrdiff_t)LEFT_BYTES)
		low = (const char *)c->sp - LEFT_BYTES;
#endif
	__asan_unpoison_memory_region(low, (size_t)(top - low));
}

static inline UNWATCHED __attribute__((always_inline)) void
sanitizer_switch(struct os_coroutine *from, struct os_coroutine *to)
{
	__sanitizer_start_switch_fiber(&from->frames, to->bottom, to->room);
}

/* On the new stack. Of a thread's own stack this is how its place becomes known. */
static void sanitizer_arrive(struct os_coroutine *from, struct os_coroutine *to)
{
	const void *bottom;
	size_t room;

	__sanitizer_finish_switch_fiber(to->frames, &bottom, &room);
	if (!from->stack) {
		from->bottom = bottom;
		from->room = room;
	}
}
#elif defined(OS_TSAN)
static void sanitizer_create(struct os_coroutine *c)
{
	c->fiber = __tsan_create_fiber(0);
}

static void sanitizer_destroy(struct os_coroutine *c)
{
	__tsan_destroy_fiber(c->fiber);
}

static inline UNWATCHED __attribute__((always_inline)) void
sanitizer_switch(struct os_coroutine *from, struct os_coroutine *to)
{
	if (!from->fiber)
		from->fiber = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(to->fiber, 0);
}

static void sanitizer_arrive(struct os_coroutine *from, struct os_coroutine *to)
{
	(void)from, (void)to;
}
#else
static void sanitizer_create(struct os_coroutine *c)
{
	(void)c;
}

static void sanitizer_destroy(struct os_coroutine *c)
{
	(void)c;
}

static inline UNWATCHED __attribute__((always_inline)) void
sanitizer_switch(struct os_coroutine *from, struct os_coroutine *to)
{
	(void)from, (void)to;
}

static void sanitizer_arrive(struct os_coroutine *from, struct os_coroutine *to)
{
	(void)from, (void)to;
}
#endif

/* ---- the switch ---- */

/* The first frame of a coroutine. */
static void coroutine_begin(void)
{
	struct os_coroutine *self = coming;

	sanitizer_arrive(going, self);
	self->fn(self->arg);
	assert(!"a coroutine does not return");
}

#ifdef COROUTINE_UCONTEXT
static UNWATCHED __attribute__((noinline)) void
stack_switch(struct os_coroutine *from, struct os_coroutine *to)
{
	swapcontext(&from->context, &to->context);
}

static void stack_prepare(struct os_coroutine *c)
{
	getcontext(&c->context);
	c->context.uc_stack.ss_sp = c->stack;
	c->context.uc_stack.ss_size = c->bytes;
	makecontext(&c->context, coroutine_begin, 0);
}
#else
/*
 * The compiler saves what is named as changed; frame pointer, and on x86-64 rbx, it may keep for
 * itself, so they are saved here. What goes on lies on the stack: where to jump to, above it
 * these registers. Below the stack pointer of x86-64 are 128 bytes that functions use unasked.
 */
#ifdef __x86_64__
static UNWATCHED __attribute__((noinline)) void
stack_switch(struct os_coroutine *from, struct os_coroutine *to)
{
	void **save = &from->sp;
	void *sp = to->sp;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "push %%rbp\n\t"
			 "push %%rbx\n\t"
			 "lea 1f(%%rip), %%rax\n\t"
			 "push %%rax\n\t"
			 "mov %%rsp, (%0)\n\t"
			 "mov %1, %%rsp\n\t"
			 "pop %%rax\n\t"
			 "jmp *%%rax\n"
			 "1:\n\t"
			 "pop %%rbx\n\t"
			 "pop %%rbp\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : "+D"(save), "+S"(sp)
			 :
			 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12",
			   "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",
			   "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15", "cc", "memory");
}

/* As after a call from nowhere: a return address of 0 on a stack that was aligned. */
static void stack_prepare(struct os_coroutine *c)
{
	void **top = (void **)(c->stack + c->bytes) - 4;

	top[0] = (void *)coroutine_begin;
	top[1] = NULL;
	c->sp = top;
}
#else /* __aarch64__ */
static UNWATCHED __attribute__((noinline)) void
stack_switch(struct os_coroutine *from, struct os_coroutine *to)
{
	register void **save __asm__("x0") = &from->sp;
	register void *sp __asm__("x1") = to->sp;

	/* x18 is the system's. ret, since a plain jump may have to land on a mark. */
	__asm__ volatile("adr x9, 1f\n\t"
			 "stp x29, x30, [sp, #-32]!\n\t"
			 "stp x9, x19, [sp, #16]\n\t"
			 "mov x10, sp\n\t"
			 "str x10, [x0]\n\t"
			 "mov sp, x1\n\t"
			 "ldp x29, x30, [sp]\n\t"
			 "ldp x9, x19, [sp, #16]\n\t"
			 "add sp, sp, #32\n\t"
			 "ret x9\n"
			 "1:"
			 : "+r"(save), "+r"(sp)
			 :
			 : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",
			   "x10", "x11", "x12", "x13", "x14", "x15", "x16",
			   "x17", "x20", "x21", "x22", "x23", "x24", "x25",
			   "x26", "x27", "x28", "v0", "v1", "v2", "v3", "v4",
			   "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",
			   "v13", "v14", "v15", "v16", "v17", "v18", "v19",
			   "v20", "v21", "v22", "v23", "v24", "v25", "v26",
			   "v27", "v28", "v29", "v30", "v31", "cc", "memory");
}

static void stack_prepare(struct os_coroutine *c)
{
	void **top = (void **)(c->stack + c->bytes) - 4;

	memset(top, 0, 4 * sizeof(*top));
	top[2] = (void *)coroutine_begin;
	c->sp = top;
}
#endif
#endif

UNWATCHED void os_coroutine_switch(struct os_coroutine *from, struct os_coroutine *to)
{
	int saved = errno;

	going = from;
	coming = to;
	sanitizer_switch(from, to);
	stack_switch(from, to);
	sanitizer_arrive(going, from);
	errno = saved;
}

int os_coroutine_create(struct os_coroutine *c, void (*fn)(void *arg), void *arg)
{
	size_t page = os_page_bytes();
	int err;

	memset(c, 0, sizeof(*c));
	c->fn = fn;
	c->arg = arg;
	c->bytes = STACK_BYTES + page;
	c->stack = os_reserve(NULL, c->bytes, &err);
	if (!c->stack)
		return -ENOMEM;
	c->bottom = c->stack + page;
	c->room = STACK_BYTES;
	if (os_protect(c->stack + page, STACK_BYTES, PROT_READ | PROT_WRITE)) {
		munmap(c->stack, c->bytes);
		return -ENOMEM;
	}
#ifdef MADV_NOHUGEPAGE
	/* Of most stacks one page is used. */
	madvise(c->stack + page, STACK_BYTES, MADV_NOHUGEPAGE);
#endif
	sanitizer_create(c);
	stack_prepare(c);
	return 0;
}

void os_coroutine_destroy(struct os_coroutine *c)
{
	if (!c->stack)
		return;
	sanitizer_destroy(c);
	munmap(c->stack, c->bytes);
	c->stack = NULL;
}

bool os_coroutine_holds(const struct os_coroutine *c, const void *p)
{
	return c->stack && (uintptr_t)p - (uintptr_t)c->stack < c->bytes;
}
