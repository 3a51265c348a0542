// SPDX-License-Identifier: BSD-2-Clause
/*
 * wakeup.c - one thread waits, others wake it; who wakes may be a signal handler.
 *
 * Sleeping and waking cost ten times what a look does, and more when the two are on
 * different CPUs (sources: host-measured), so the waiter looks for a while, lets others run for
 * a while, and only then sleeps. Only who sleeps is woken with a system call.
 */
#include "sim/sim_internal.h"

#define LOOKS	50
#define YIELDS	20

enum { QUIET, RUNG, ASLEEP };

int wakeup_init(struct sim_wakeup *b)
{
	atomic_init(&b->state, QUIET);
	return os_wakeup_init(&b->sleep);
}

void wakeup_destroy(struct sim_wakeup *b)
{
	os_wakeup_destroy(&b->sleep);
}

void wakeup_post(struct sim_wakeup *b)
{
	if (atomic_exchange(&b->state, RUNG) == ASLEEP)
		os_wakeup_post(&b->sleep);
}

bool wakeup_posted(struct sim_wakeup *b)
{
	int rung = RUNG;

	return atomic_load_explicit(&b->state, memory_order_relaxed) == RUNG &&
	       atomic_compare_exchange_strong(&b->state, &rung, QUIET);
}

static bool sleep_until_posted(struct sim_wakeup *b, uint64_t timeout_ns)
{
	int state = QUIET;

	if (atomic_compare_exchange_strong(&b->state, &state, ASLEEP)) {
		if (!os_wakeup_take(&b->sleep, timeout_ns)) {
			state = ASLEEP;
			if (atomic_compare_exchange_strong(&b->state, &state,
							   QUIET))
				return false;
			/* It is being rung this moment. */
			os_wakeup_take(&b->sleep, 0);
		}
	}
	atomic_exchange(&b->state, QUIET);
	return true;
}

bool wakeup_wait(struct sim_wakeup *b, uint64_t timeout_ns)
{
	int i;

	/* A short time is over before there was much to wait for. */
	for (i = timeout_ns ? LOOKS : 0; i < LOOKS + YIELDS; i++) {
		if (wakeup_posted(b))
			return true;
		if (i >= LOOKS)
			os_yield();
	}
	return sleep_until_posted(b, timeout_ns);
}
