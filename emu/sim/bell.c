// SPDX-License-Identifier: BSD-2-Clause
/*
 * bell.c - one thread waits, others wake it; who wakes may be a signal handler.
 *
 * Sleeping and waking cost ten times what a look does, and more when the two are on
 * different CPUs (limits.md 2), so the waiter looks for a while, lets others run for
 * a while, and only then sleeps. Only who sleeps is woken with a system call.
 */
#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "sim/sim_internal.h"

#define LOOKS	50
#define YIELDS	20

enum { QUIET, RUNG, ASLEEP };

void bell_init(struct sim_bell *b)
{
	atomic_init(&b->state, QUIET);
	sem_init(&b->sem, 0, 0);
}

void bell_destroy(struct sim_bell *b)
{
	sem_destroy(&b->sem);
}

void bell_ring(struct sim_bell *b)
{
	if (atomic_exchange(&b->state, RUNG) == ASLEEP)
		sem_post(&b->sem);
}

bool bell_rung(struct sim_bell *b)
{
	int rung = RUNG;

	return atomic_load_explicit(&b->state, memory_order_relaxed) == RUNG &&
	       atomic_compare_exchange_strong(&b->state, &rung, QUIET);
}

static struct timespec realtime_after(uint64_t ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += (time_t)(ns / 1000000000ull);
	ts.tv_nsec += (long)(ns % 1000000000ull);
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

bool sem_wait_ns(sem_t *s, uint64_t ns)
{
	struct timespec end;

	if (!ns) {
		while (sem_wait(s))
			assert(errno == EINTR);
		return true;
	}
	end = realtime_after(ns);
	while (sem_timedwait(s, &end))
		if (errno == ETIMEDOUT)
			return false;
	return true;
}

bool bell_wait(struct sim_bell *b, uint64_t timeout_ns)
{
	int i, state;

	/* A short time is over before there was much to wait for. */
	for (i = timeout_ns ? LOOKS : 0; i < LOOKS + YIELDS; i++) {
		if (bell_rung(b))
			return true;
		if (i >= LOOKS)
			sched_yield();
	}
	state = QUIET;
	if (atomic_compare_exchange_strong(&b->state, &state, ASLEEP)) {
		if (!sem_wait_ns(&b->sem, timeout_ns)) {
			state = ASLEEP;
			if (atomic_compare_exchange_strong(&b->state, &state,
							   QUIET))
				return false;
			/* It is being rung this moment. */
			sem_wait_ns(&b->sem, 0);
		}
	}
	atomic_exchange(&b->state, QUIET);
	return true;
}
