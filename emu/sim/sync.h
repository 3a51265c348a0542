/* SPDX-License-Identifier: BSD-2-Clause */
/* sync.h - mutex, wait queue and spin lock, for both modes (sim.h). */
#ifndef FL_SYNC_H
#define FL_SYNC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_thread;

struct sim_waiter;
struct sim_mutex {
	atomic_flag guard;
	bool taken;
	struct sim_waiter *waiters;	    /* first come, first served */
	_Atomic(struct sim_thread *) owner; /* for assertions */
};
void sim_mutex_init(struct sim_mutex *m);
void sim_mutex_lock(struct sim_mutex *m);
bool sim_mutex_trylock(struct sim_mutex *m);
void sim_mutex_unlock(struct sim_mutex *m);

struct sim_waitq {
	atomic_flag guard;
	struct sim_waiter *first;
};
void sim_waitq_init(struct sim_waitq *q);
/*
 * Wait until cond(arg) is true: checks, enqueues, checks again, parks, repeats.
 * The wakers change what cond looks at and then call sim_wake. False:
 * timeout_ns were over (0: no limit).
 */
bool sim_wait(struct sim_waitq *q, bool (*cond)(void *arg), void *arg,
	      uint64_t timeout_ns);
void sim_wake(struct sim_waitq *q,
	      uint64_t delay_ns); /* all; from anywhere, also a step */

/*
 * A short lock between any threads and steps; spins, then yields the CPU. Never
 * held over a park.
 */
struct sim_spin {
	atomic_flag flag;
};
void sim_spin_wait(struct sim_spin *s); /* it is taken: wait until it is ours */
static inline void sim_spin_lock(struct sim_spin *s)
{
	if (atomic_flag_test_and_set_explicit(&s->flag, memory_order_acquire))
		sim_spin_wait(s);
}
static inline void sim_spin_unlock(struct sim_spin *s)
{
	atomic_flag_clear_explicit(&s->flag, memory_order_release);
}

#endif
