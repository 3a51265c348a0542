// SPDX-License-Identifier: BSD-2-Clause
/*
 * sync.c - mutex and wait queue, for both modes.
 *
 * The guard is a spin lock over a few instructions; a waiter stands on its
 * thread's stack until it is woken or has taken itself out. Its flag says that it
 * was woken; the wake itself may be taken by another wait of the same thread
 * (a condition that takes a lock), so each wait looks at its flag before it sleeps.
 * park.pml is a model of this and of park.
 */
#include <assert.h>

#include "sim/sim_internal.h"
#include "sim/sync.h"

#define SPINS_BEFORE_YIELD 100
#define TRIES_BEFORE_SLEEP 200	/* threads mode: a wake costs more than this */
#define TRIES_OF_PORT	10	/* and after so many it is waiting (sim_will_wait()) */

struct sim_waiter {
	struct sim_thread *thread;
	struct sim_waiter *next;
	atomic_bool woken;	/* of a mutex: and it is ours */
	bool queued;
};

static __attribute__((noinline)) void guard_wait(atomic_flag *f)
{
	unsigned int spins = 0;

	while (atomic_flag_test_and_set_explicit(f, memory_order_acquire))
		if (++spins > SPINS_BEFORE_YIELD)
			os_yield();
}

static inline void guard_lock(atomic_flag *f)
{
	if (atomic_flag_test_and_set_explicit(f, memory_order_acquire))
		guard_wait(f);
}

static void guard_unlock(atomic_flag *f)
{
	atomic_flag_clear_explicit(f, memory_order_release);
}

/* Acquire pairs with the release of who wakes: what it did before is seen. */
static bool is_woken(struct sim_waiter *w)
{
	return atomic_load_explicit(&w->woken, memory_order_acquire);
}

void sim_spin_wait(struct sim_spin *s)
{
	guard_wait(&s->flag);
}

void sim_mutex_init(struct sim_mutex *m)
{
	*m = (struct sim_mutex){ .guard = ATOMIC_FLAG_INIT };
}

/* Under the guard. Relaxed, since nobody concludes anything from it but a mistake. */
static void mutex_owned_by(struct sim_mutex *m, struct sim_thread *owner)
{
	atomic_store_explicit(&m->owner, owner, memory_order_relaxed);
}

bool sim_mutex_trylock(struct sim_mutex *m)
{
	bool got;

	guard_lock(&m->guard);
	got = !m->taken;
	if (got) {
		m->taken = true;
		mutex_owned_by(m, sim_self_thread);
	}
	guard_unlock(&m->guard);
	return got;
}

/*
 * Set-up and tear-down cannot park. In lockstep nobody runs meanwhile, so the owner
 * would never let go: a mistake of the caller. In threads mode a daemon holds it for a moment.
 */
static void lock_from_outside(struct sim_mutex *m)
{
	struct sim_thread *owner;

	while (!sim_mutex_trylock(m)) {
		owner = atomic_load(&m->owner);
		assert(!owner || sim_mode(owner->sim) == SIM_THREADS);
		os_yield();
	}
}

/* Somebody has it. */
static __attribute__((noinline)) void mutex_lock_wait(struct sim_mutex *m)
{
	struct sim_waiter w = { .thread = sim_self_thread };
	struct sim_waiter **p;
	int tries = 0;

	if (!w.thread) {
		lock_from_outside(m);
		return;
	}
	assert(atomic_load(&m->owner) != w.thread);
	if (sim_mode(w.thread->sim) == SIM_THREADS)
		while (tries++ < TRIES_BEFORE_SLEEP) {
			if (sim_mutex_trylock(m))
				return;
			if (tries == TRIES_OF_PORT)
				sim_will_wait();
			os_yield();
		}
	guard_lock(&m->guard);
	if (!m->taken) {
		m->taken = true;
		mutex_owned_by(m, w.thread);
		guard_unlock(&m->guard);
		return;
	}
	for (p = &m->waiters; *p; p = &(*p)->next)
		;
	*p = &w;		/* last: first come, first served */
	guard_unlock(&m->guard);
	while (!is_woken(&w))
		sim_thread_wait(0);
}

void sim_mutex_lock(struct sim_mutex *m)
{
	if (!sim_mutex_trylock(m))
		mutex_lock_wait(m);
}

/* Under the guard. Nobody can barge in. */
static __attribute__((noinline)) void mutex_hand_over(struct sim_mutex *m,
						      struct sim_waiter *w)
{
	struct sim_thread *next = w->thread;

	m->waiters = w->next;
	mutex_owned_by(m, next);
	atomic_store_explicit(&w->woken, true, memory_order_release);
	/*
	 * From here on w may be gone. Its thread is not: it has to unlock before it can
	 * end, and so needs the guard.
	 */
	sim_thread_wake(next, 0);
}

void sim_mutex_unlock(struct sim_mutex *m)
{
	guard_lock(&m->guard);
	assert(m->taken);
	if (m->waiters) {
		mutex_hand_over(m, m->waiters);
	} else {
		m->taken = false;
		mutex_owned_by(m, NULL);
	}
	guard_unlock(&m->guard);
}

void sim_waitq_init(struct sim_waitq *q)
{
	*q = (struct sim_waitq){ .guard = ATOMIC_FLAG_INIT };
}

static void waitq_add(struct sim_waitq *q, struct sim_waiter *w)
{
	struct sim_waiter **p;

	guard_lock(&q->guard);
	for (p = &q->first; *p; p = &(*p)->next)
		;
	w->next = NULL;
	w->queued = true;
	atomic_store_explicit(&w->woken, false, memory_order_relaxed);
	*p = w;
	guard_unlock(&q->guard);
}

static void waitq_remove(struct sim_waitq *q, struct sim_waiter *w)
{
	struct sim_waiter **p;

	guard_lock(&q->guard);
	if (w->queued) {
		for (p = &q->first; *p != w; p = &(*p)->next)
			;
		*p = w->next;
		w->queued = false;
	}
	guard_unlock(&q->guard);
}

bool sim_wait(struct sim_waitq *q, bool (*cond)(void *arg), void *arg,
	      uint64_t timeout_ns)
{
	struct sim_waiter w = { .thread = sim_self_thread };
	uint64_t now_ns, end_ns = SIM_IDLE;
	bool yes;

	if (cond(arg))
		return true;
	assert(w.thread);
	if (timeout_ns)
		end_ns = sim_now(w.thread->sim) + timeout_ns;
	for (;;) {
		waitq_add(q, &w);
		/* Again: a wake between the look and the add found nobody. */
		yes = cond(arg);
		now_ns = sim_now(w.thread->sim);
		if (!yes && !is_woken(&w) && now_ns < end_ns &&
		    !sim_stopping()) {
			sim_will_wait();
			sim_thread_wait(end_ns == SIM_IDLE ? 0 :
							     end_ns - now_ns);
			yes = cond(arg);
		}
		waitq_remove(q, &w);
		if (yes || now_ns >= end_ns || sim_stopping())
			return yes;
	}
}

void sim_wake(struct sim_waitq *q, uint64_t delay_ns)
{
	struct sim_waiter *w;

	guard_lock(&q->guard);
	while ((w = q->first)) {
		q->first = w->next;
		w->queued = false;
		atomic_store_explicit(&w->woken, true, memory_order_release);
		/* Under the guard: the waiter cannot leave before. */
		sim_thread_wake(w->thread, delay_ns);
	}
	guard_unlock(&q->guard);
}
