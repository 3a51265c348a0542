// SPDX-License-Identifier: BSD-2-Clause
/*
 * thread.c - application threads. Each has two halves, as a thread of a real
 * system has a user and a kernel stack: the user half runs the program, the
 * kernel half sleeps until the user half touches a page that is not there, and may do all
 * that a kernel thread may.
 *
 * Where time is real the signal handler of the user half tries the fault first: it waits for
 * nothing and allocates nothing, and only what then cannot be done is for the kernel half.
 * It may use the kernel's locks, since nothing that touches an arena holds one of these.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/internal.h"
#include "lib/sys.h"
#include "sim/sim.h"
#include "trace/trace.h"

/*
 * Threads mode: how often to look before sleeping, then how often to look and
 * let others run. A wake-up on another CPU costs ten times a fault (service
 * spins 6 us, yields 8 us, sleeps 58 to 122 us; sources: host-measured). An answer
 * comes soon, so the user half waits long; the next fault may never come.
 */
#define SPINS		50
#define ANSWER_YIELDS	200
#define IDLE_YIELDS	20

enum { IDLE, ASKED, ANSWERED, ENDED };

struct host_thread {
	struct host_process *process;
	struct sim_thread *user, *kernel;
	const struct fl_sys *sys;
	void (*fn)(void *arg);
	void *arg;
	bool spins;
	/* The kernel half may begin when the process is gone. */
	atomic_ullong *account;
	/* The request: written by the user half, answered by the kernel half.
	 */
	atomic_int state;
	atomic_bool waking;	/* the kernel half still uses `user` */
	uint64_t va;
	int write;		/* -1: unknown */
	int error;
};

/* Which application thread this is; NULL in kernel threads and outside. */
static _Thread_local struct host_thread *self;
/* Whose calls this kernel thread makes (host_act_for). */
static _Thread_local struct host_process *acting;

void *thread_local_self(size_t *bytes)
{
	*bytes = sizeof(self);
	return &self;
}

void *thread_local_acting(size_t *bytes)
{
	*bytes = sizeof(acting);
	return &acting;
}

struct host_process *host_current(void)
{
	return self ? self->process : acting;
}

void host_act_for(struct host_process *p)
{
	assert(!self);
	acting = p;
}

bool thread_in_arena(uint64_t va)
{
	uint64_t base;

	if (!self)
		return false;
	base = self->process->mm->arena;
	return va >= base && va - base < ARENA_MEMORY_BYTES;
}

/*
 * Wait until the state is not `while_state`; both halves, also in a signal
 * handler.
 */
static int wait_change(struct host_thread *t, int while_state)
{
	int yields = while_state == ASKED ? ANSWER_YIELDS : IDLE_YIELDS;
	int i, s;

	for (i = 0;; i++) {
		s = atomic_load_explicit(&t->state, memory_order_acquire);
		if (s != while_state)
			return s;
		if (!t->spins || i >= SPINS + yields)
			sim_park();
		else if (i >= SPINS)
			sim_yield();
	}
}

/* As a CPU that takes its own fault; what the program recorded stays its last record. */
static int fault_here(struct host_thread *t, uint64_t va, bool write)
{
	struct trace_last recorded = trace_last_save();
	struct trace_at saved = *host_trace_at();
	int r;

	trace_tick(t->process->k->trace);
	*host_trace_at() = (struct trace_at){ 0 };
	r = mm_fault_cpu_try(t->process->mm, va, write);
	*host_trace_at() = saved;
	trace_last_restore(recorded);
	return r;
}

int thread_fault(uint64_t va, int write)
{
	struct host_thread *t = self;
	int r;

	if (t->spins && write >= 0) {
		r = fault_here(t, va, write);
		if (r != -EAGAIN)
			return r;
	}
	t->va = va;
	t->write = write;
	/* Release: pairs with the acquire in wait_change. */
	atomic_store_explicit(&t->state, ASKED, memory_order_release);
	sim_unpark(t->kernel, 0);
	wait_change(t, ASKED);
	atomic_store_explicit(&t->state, IDLE, memory_order_relaxed);
	return t->error;
}

bool thread_wants_write(struct host_mm *mm, uint64_t va, int write)
{
	int prot;

	if (write >= 0)
		return write;
	sim_mutex_lock(&mm->lock);
	prot = cpu_prot(mm, va);
	sim_mutex_unlock(&mm->lock);
	return prot & HOST_READ;
}

static void kernel_half(void *arg)
{
	struct host_thread *t = arg;
	int s, idle = IDLE;

	sim_charge(t->account);
	while ((s = wait_change(t, idle)) != ENDED) {
		idle = s;
		if (s != ASKED)
			continue;
		t->error = mm_fault_cpu(t->process->mm, t->va,
					thread_wants_write(t->process->mm,
							   t->va, t->write));
		atomic_store_explicit(&t->waking, true, memory_order_relaxed);
		atomic_store_explicit(&t->state, ANSWERED,
				      memory_order_release);
		sim_unpark(t->user, 0);
		/* Release: pairs with the look in user_half. */
		atomic_store_explicit(&t->waking, false, memory_order_release);
		idle = ANSWERED;
	}
	free(t);
}

static void user_half(void *arg)
{
	struct host_thread *t = arg;
	struct sim_thread *kernel = t->kernel;

	t->user = sim_thread_self();
	self = t;
	fl_sys_set(t->sys);
	/* The first record allocates, and it must not be made in the handler. */
	if (t->spins)
		trace_tick(t->process->k->trace);
	t->fn(t->arg);
	fl_sys_set(NULL);
	self = NULL;
	atomic_fetch_sub(&t->process->threads, 1);
	/* The answer may come before the wake-up, and we be gone before that.
	 */
	while (atomic_load_explicit(&t->waking, memory_order_acquire))
		sim_yield();
	/* From here on t belongs to the kernel half, which frees it. */
	atomic_store_explicit(&t->state, ENDED, memory_order_release);
	sim_unpark(kernel, 0);
}

/* The user half of it never came. */
static void thread_give_up(struct host_thread *t, struct sim_thread *kernel)
{
	atomic_fetch_sub(&t->process->threads, 1);
	if (!kernel) {
		free(t);
		return;
	}
	atomic_store_explicit(&t->state, ENDED, memory_order_release);
	sim_unpark(kernel, 0);
}

struct sim_thread *thread_start(struct host_process *p, const char *name,
				const struct fl_sys *sys, void (*fn)(void *arg), void *arg)
{
	struct host_thread *t = calloc(1, sizeof(*t));
	struct sim_thread *user = NULL, *kernel;
	struct sim_domain *d = board_domain(p->k->board);
	char half[48];

	if (!t)
		return NULL;
	t->process = p;
	t->sys = sys;
	t->fn = fn;
	t->arg = arg;
	t->spins = sim_mode(p->k->sim) == SIM_THREADS;
	t->account = &p->k->count.cpu_calls;
	atomic_init(&t->state, IDLE);
	atomic_fetch_add(&p->threads, 1);
	snprintf(half, sizeof(half), "%s/kernel", name);
	t->kernel = kernel = sim_thread_start_on(d, half, true, kernel_half, t);
	if (kernel)
		user = sim_thread_start_on(d, name, false, user_half, t);
	if (!user)
		thread_give_up(t, kernel);
	return user;
}
