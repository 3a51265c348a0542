// SPDX-License-Identifier: BSD-2-Clause
/* Wait queues and counting semaphores over event counters, as NetVM has them. */
#include <errno.h>

#include "lib_internal.h"

/* What the operation itself costs, beside the counter. */
static void sync_spend(struct fl_counter *c, int what)
{
	const struct fl_sys *sys = c->dev->sys;

	if (sys->spend)
		sys->spend(c->dev->fd, what);
}

int fl_wait_queue_wait(struct fl_wait_queue *q, int busy, uint64_t timeout_ns)
{
	int error;

	if (!q || !q->counter)
		return -EINVAL;
	error = fl_counter_wait(q->counter, q->seen + 1, busy, timeout_ns);
	/* All that has risen meanwhile is one wake-up. */
	if (error)
		return error;
	q->seen = fl_counter_read(q->counter);
	sync_spend(q->counter, FL_SYS_QUEUE);
	return 0;
}

int fl_semaphore_try(struct fl_semaphore *s)
{
	uint32_t taken;

	if (!s || !s->counter)
		return -EINVAL;
	taken = __atomic_load_n(&s->taken, __ATOMIC_RELAXED);
	do {
		if (fl_counter_read(s->counter) == taken)
			return -EAGAIN;
	} while (!__atomic_compare_exchange_n(&s->taken, &taken, taken + 1, true,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	sync_spend(s->counter, FL_SYS_SEMAPHORE);
	return 0;
}

int fl_semaphore_take(struct fl_semaphore *s, int busy, uint64_t timeout_ns)
{
	uint32_t taken;
	int error;

	while ((error = fl_semaphore_try(s)) == -EAGAIN) {
		taken = __atomic_load_n(&s->taken, __ATOMIC_RELAXED);
		error = fl_counter_wait(s->counter, taken + 1, busy, timeout_ns);
		if (error)
			return error;
	}
	return error;
}
