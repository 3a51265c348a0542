// SPDX-License-Identifier: BSD-2-Clause
/*
 * maplock.c - the mmap lock of an address space: who looks at mappings for longer
 * than a moment (the driver) keeps them as they are; and its users, which the end
 * of the address space waits for.
 *
 * Linux: mmap_lock and mm_users. Here the end waits, there the last user runs it.
 */
#include <stdlib.h>

#include "host/internal.h"
#include "os/os.h"
#include "sim/sim.h"

/* So long does the board run at a time while somebody outside waits. */
#define TURN_NS 10000

static bool try_read(void *arg)
{
	struct host_maplock *l = arg;
	bool got;

	sim_spin_lock(&l->guard);
	/* As Linux has it: a writer that waits comes first. */
	got = !l->writer && !l->writers;
	l->readers += got;
	sim_spin_unlock(&l->guard);
	return got;
}

static bool try_write(void *arg)
{
	struct host_maplock *l = arg;
	bool got;

	sim_spin_lock(&l->guard);
	got = !l->writer && !l->readers;
	if (got)
		l->writer = true;
	sim_spin_unlock(&l->guard);
	return got;
}

/* cond(arg) has taken what it asks for. Set-up and tear-down are no threads. */
static void maplock_wait_for(struct host_mm *mm, bool (*cond)(void *arg),
			     void *arg)
{
	struct sim *sim = mm->k->sim;
	uint64_t turn_ns = TURN_NS, before_ns;

	while (!cond(arg)) {
		if (sim_thread_self() && !sim_stopping()) {
			if (sim_wait(&mm->mmap_lock.wait, cond, arg, 0))
				return;
		} else if (sim_thread_self() || sim_mode(sim) == SIM_THREADS) {
			sim_yield();
		} else {
			before_ns = sim_now(sim);
			sim_run(sim, turn_ns, 0);
			/* Time stands still when nothing is due within a turn. */
			turn_ns = sim_now(sim) == before_ns ? 2 * turn_ns : TURN_NS;
		}
	}
}

void mm_maps_read(struct host_mm *mm)
{
	maplock_wait_for(mm, try_read, &mm->mmap_lock);
}

void mm_maps_write(struct host_mm *mm)
{
	struct host_maplock *l = &mm->mmap_lock;

	if (try_write(l))
		return;
	sim_spin_lock(&l->guard);
	l->writers++;
	sim_spin_unlock(&l->guard);
	maplock_wait_for(mm, try_write, l);
	sim_spin_lock(&l->guard);
	l->writers--;
	sim_spin_unlock(&l->guard);
}

void mm_maps_end(struct host_mm *mm)
{
	struct host_maplock *l = &mm->mmap_lock;
	bool last;

	sim_spin_lock(&l->guard);
	assert(l->writer || l->readers);
	if (l->writer)
		l->writer = false;
	else
		l->readers--;
	last = !l->readers;
	sim_spin_unlock(&l->guard);
	if (last)
		sim_wake(&l->wait, 0);
}

/* ---- references, and users ---- */

void mm_get(struct host_mm *mm)
{
	atomic_fetch_add(&mm->refs, 1);
}

void mm_put(struct host_mm *mm)
{
	if (atomic_fetch_sub(&mm->refs, 1) != 1)
		return;
	note_forget(mm);
	free(mm->map);
	os_room_end(mm->frame, mm->frames, sizeof(*mm->frame));
	free(mm->taken);
	free(mm);
}

bool mm_get_live(struct host_mm *mm)
{
	unsigned int n = atomic_load(&mm->users);

	do
		if (!n)
			return false;
	while (!atomic_compare_exchange_weak(&mm->users, &n, n + 1));
	mm_get(mm);
	return true;
}

void mm_put_live(struct host_mm *mm)
{
	if (atomic_fetch_sub(&mm->users, 1) == 1)
		sim_wake(&mm->mmap_lock.wait, 0);
	mm_put(mm);
}

static bool no_users(void *arg)
{
	struct host_mm *mm = arg;

	return !atomic_load(&mm->users);
}

void mm_users_end(struct host_mm *mm)
{
	atomic_fetch_sub(&mm->users, 1);
	maplock_wait_for(mm, no_users, mm);
}
