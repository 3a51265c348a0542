// SPDX-License-Identifier: BSD-2-Clause
/*
 * revoke.c - the CPU's view of a process elsewhere: opening tells its CPU, closing waits for
 * an answer. One that does not answer in time is slow for a while, and others leave its
 * pages alone; one that is dead has no view.
 */
#include "host/internal.h"
#include "host/remote/remote_mm.h"
#include "sim/sim.h"

bool remote_killed(const struct host_mm *mm)
{
	return atomic_load_explicit(&to_remote(mm)->killed, memory_order_acquire);
}

bool remote_slow(const struct host_mm *mm)
{
	uint64_t until_ns = atomic_load_explicit(&to_remote(mm)->slow_until_ns,
						 memory_order_relaxed);

	return until_ns && !remote_killed(mm) && sim_now(mm->k->sim) < until_ns;
}

int remote_open(struct host_mm *mm, struct cpu_leaf *leaf, uint64_t va, uint64_t n,
		uint64_t frame, int prot)
{
	struct remote_mm *r = to_remote(mm);

	(void)leaf;
	if (!remote_killed(mm))
		r->cpu->open(r->arg, va, n, frame, prot);
	return 0;
}

static int remote_close(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	struct remote_mm *r = to_remote(mm);

	if (remote_killed(mm) || !r->cpu->close(r->arg, va, npages))
		return 0;
	/* It may have died meanwhile. */
	if (remote_killed(mm))
		return 0;
	atomic_store_explicit(&r->slow_until_ns, sim_now(mm->k->sim) + SLOW_NS,
			      memory_order_relaxed);
	return -EBUSY;
}

/* May what lies between two open pages be closed with them? */
static bool revoke_joins(struct host_mm *mm, uint64_t last, uint64_t next)
{
	if (next - last > REMOTE_RUN * HOST_PAGE)
		return false;
	for (last += HOST_PAGE; last < next; last += HOST_PAGE)
		/* Around imported memory lies what is not the board's. */
		if (!map_find(mm, last) || cpu_moving(mm, pt_get(mm, last)))
			return false;
	return true;
}

/*
 * In runs, because each is a conversation. Runs that were closed before one is
 * refused are closed: their pages fault and are opened again. -EAGAIN: it took so
 * long that others should have the lock before the rest.
 */
int remote_revoke(struct host_mm *mm, uint64_t va, uint64_t end)
{
	uint64_t start_ns = sim_now(mm->k->sim), first, last, next;
	int err;

	first = va = cpu_next(mm, va, end);
	for (; va < end; va = next) {
		if (va != first && sim_now(mm->k->sim) - start_ns >= SLOW_NS)
			return -EAGAIN;
		last = va;
		while ((next = cpu_next(mm, last + HOST_PAGE, end)) < end &&
		       revoke_joins(mm, last, next))
			last = next;
		err = remote_close(mm, va, (last - va) / HOST_PAGE + 1);
		if (err)
			return err;
		cpu_shut(mm, va, last + HOST_PAGE);
	}
	return 0;
}
