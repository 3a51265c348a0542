// SPDX-License-Identifier: BSD-2-Clause
/*
 * event.c - what the kernel says of the calling thread: its events, the time that it
 * spends, and that it waits for another program.
 */
#include "host/internal.h"
#include "sim/sim.h"

_Thread_local struct trace_at host_this_trace;
static _Thread_local struct {
	void (*fn)(void *arg, bool waits);
	void *arg;
} on_wait;

void host_on_wait(void (*fn)(void *arg, bool waits), void *arg)
{
	on_wait.fn = fn;
	on_wait.arg = arg;
}

void host_waits(bool waits)
{
	if (waits)
		sim_will_wait();
	if (on_wait.fn)
		on_wait.fn(on_wait.arg, waits);
}

uint64_t host_event(struct host_kernel *k, enum trace_event ev, uint64_t a0,
		    uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct trace_at at = host_this_trace;

	at.board = k->id;
	return trace_emit(k->trace, ev, &at, a0, a1, a2, a3);
}

void host_spend(struct host_kernel *k, enum timing what)
{
	sim_spend(k->timing->v[what]);
}

void host_wait_storage(struct host_kernel *k, enum timing what)
{
	atomic_ullong *account = sim_charge(NULL);

	sim_spend(k->timing->v[what]);
	sim_charge(account);
}

void *host_waits_local(size_t *bytes)
{
	*bytes = sizeof(on_wait);
	return &on_wait;
}
