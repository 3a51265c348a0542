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
/* On a busy machine a yield costs others' whole turns: then it is not done so often. */
#define LONG_NS	100000
#define SLEEPS	300

enum { QUIET, RUNG, ASLEEP };

int wakeup_init(struct sim_wakeup *b)
{
	atomic_init(&b->state, QUIET);
	b->sleeps = 0;
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

/* Let others run once. Did they take long? Then there are more than those of this run. */
static bool yield_is_long(void)
{
	uint64_t start_ns = os_now_ns();

	os_yield();
	return os_now_ns() - start_ns > LONG_NS;
}

void wakeup_wait_baton(struct sim_wakeup *b)
{
	int i;

	for (i = 0; i < LOOKS + YIELDS; i++) {
		if (wakeup_posted(b))
			return;
		if (i < LOOKS)
			continue;
		if (b->sleeps)
			break;
		if (yield_is_long())
			b->sleeps = SLEEPS;
	}
	if (b->sleeps)
		b->sleeps--;
	sleep_until_posted(b, 0);
}
