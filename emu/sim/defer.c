// SPDX-License-Identifier: BSD-2-Clause
/*
 * defer.c - interrupts and their work on the thread that has run the hardware (sim.h). To
 * hand a fault to another thread and back costs several times what the fault itself does.
 */
#include <assert.h>

#include "sim/sim_internal.h"

static _Thread_local struct {
	bool open;
	enum sim_defers most;
	unsigned int works, works_most;	/* works_most 0: no limit */
	struct sim *offered;		/* there it has taken an offer; or NULL */
	struct sim_deferred_calls left;
	/* sim_before_wait(); NULL: nothing is to be done */
	void (*before)(void *arg);
	void *arg;
	unsigned int worked;
} deferred;

bool sim_takes_irqs(void)
{
	return deferred.open;
}

bool sim_takes_work(void)
{
	return deferred.open && deferred.most >= SIM_DEFER_WORK;
}

enum sim_deferred sim_defer(enum sim_defers kind, void (*fn)(void *arg), void *arg)
{
	struct sim_deferred_calls *left = &deferred.left;
	unsigned int i;

	if (!deferred.open || kind > deferred.most)
		return SIM_NOT_DEFERRED;
	for (i = 0; i < left->count; i++)
		if (left->call[i].fn == fn && left->call[i].arg == arg)
			return SIM_DEFERRED_BEFORE;
	if (left->count == SIM_DEFERS_MAX)
		return SIM_NOT_DEFERRED;
	if (kind == SIM_DEFER_WORK && deferred.works_most &&
	    deferred.works++ >= deferred.works_most)
		return SIM_NOT_DEFERRED;
	left->call[i].fn = fn;
	left->call[i].arg = arg;
	left->count++;
	return SIM_DEFERRED;
}

void sim_defers_begin(const struct sim *sim, enum sim_defers most, unsigned int works)
{
	assert(!deferred.open && !deferred.left.count);
	deferred.open = sim_mode(sim) == SIM_THREADS;
	deferred.most = most;
	deferred.works = 0;
	deferred.works_most = works;
}

void defers_offered(struct sim *sim)
{
	if (!hardware_offers(sim) || deferred.offered)
		return;
	deferred.offered = sim;
	atomic_fetch_add(&sim->interrupted, 1);
}

/* Another interrupt may have come meanwhile. */
static bool defers_go_on(void)
{
	if (deferred.left.count || !deferred.offered)
		return deferred.left.count;
	if (hardware_offers(deferred.offered))
		return true;
	atomic_fetch_sub(&deferred.offered->interrupted, 1);
	deferred.offered = NULL;
	return false;
}

void sim_defers_end(void)
{
	struct sim_deferred_calls *left = &deferred.left;
	void (*fn)(void *arg);
	void *arg;
	unsigned int i;

	/* Oldest first; one that is under way may be deferred anew. */
	while (defers_go_on()) {
		if (!left->count)
			continue;
		fn = left->call[0].fn;
		arg = left->call[0].arg;
		left->count--;
		for (i = 0; i < left->count; i++)
			left->call[i] = left->call[i + 1];
		fn(arg);
	}
	deferred.open = false;
}

void sim_defers_take(struct sim_deferred_calls *to)
{
	*to = deferred.left;
	deferred.left.count = 0;
	deferred.open = false;
}

void sim_defers_give(struct sim_deferred_calls *from)
{
	assert(deferred.open && !deferred.left.count);
	deferred.left = *from;
	from->count = 0;
}

void sim_before_wait(void (*fn)(void *arg), void *arg)
{
	deferred.before = fn;
	deferred.arg = arg;
	deferred.worked = 0;
}

void sim_will_wait(void)
{
	void (*fn)(void *arg) = deferred.before;

	if (!fn)
		return;
	deferred.before = NULL;
	fn(deferred.arg);
}

void sim_worked(void)
{
	if (deferred.before && ++deferred.worked >= WORKED_MOST)
		sim_will_wait();
}
