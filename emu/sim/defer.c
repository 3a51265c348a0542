// SPDX-License-Identifier: BSD-2-Clause
/*
 * defer.c - interrupts and their work on the thread that has run the hardware (sim.h). To
 * hand a fault to another thread and back costs several times what the fault itself does.
 */
#include <assert.h>

#include "sim/sim_internal.h"

#define DEFERRED_MAX 16

static _Thread_local struct {
	bool open;
	enum sim_defers most;
	unsigned int count;
	struct {
		void (*fn)(void *arg);
		void *arg;
	} call[DEFERRED_MAX];
} deferred;

enum sim_deferred sim_defer(enum sim_defers kind, void (*fn)(void *arg), void *arg)
{
	unsigned int i;

	if (!deferred.open || kind > deferred.most)
		return SIM_NOT_DEFERRED;
	for (i = 0; i < deferred.count; i++)
		if (deferred.call[i].fn == fn && deferred.call[i].arg == arg)
			return SIM_DEFERRED_BEFORE;
	if (deferred.count == DEFERRED_MAX)
		return SIM_NOT_DEFERRED;
	deferred.call[i].fn = fn;
	deferred.call[i].arg = arg;
	deferred.count++;
	return SIM_DEFERRED;
}

void sim_defers_begin(const struct sim *sim, enum sim_defers most)
{
	assert(!deferred.open && !deferred.count);
	deferred.open = sim_mode(sim) == SIM_THREADS;
	deferred.most = most;
}

void sim_defers_end(void)
{
	void (*fn)(void *arg);
	void *arg;
	unsigned int i;

	/* Oldest first; one that is under way may be deferred anew. */
	while (deferred.count) {
		fn = deferred.call[0].fn;
		arg = deferred.call[0].arg;
		deferred.count--;
		for (i = 0; i < deferred.count; i++)
			deferred.call[i] = deferred.call[i + 1];
		fn(arg);
	}
	deferred.open = false;
}
