// SPDX-License-Identifier: BSD-2-Clause
/*
 * grace.c - grace periods: when has every device access ended that may still use
 * an old translation?
 *
 * Threads mode: a pthread that runs hardware is online in the QSBR flavour of liburcu
 * from the first step of a batch to the last, or stays online and says between two batches
 * that it uses nothing (threads_stay); and no batch ends within an access. So an access is
 * a read-side section that costs next to nothing, and waiting is synchronize_rcu.
 * Lockstep: an access lasts from one event to a later one and may change threads in
 * between, so each channel counts: odd while an access is under way.
 */
#include <assert.h>
#include <stdlib.h>

#include <urcu-qsbr.h>

#include "sim/sim_internal.h"

struct sim_grace {
	struct sim *sim;
	uint64_t count[SIM_CHANNELS];	/* lockstep: odd: an access is under way */
	uint64_t waited[SIM_CHANNELS];	/* what it was at sim_grace_start */
	bool open[SIM_CHANNELS];	/* lockstep, checked: one access at a time on each */
};

/* Threads: registered once, unregistered at the pthread's end. */
static _Thread_local unsigned int online_depth;
static pthread_key_t reader_key;
static pthread_once_t reader_once = PTHREAD_ONCE_INIT;

static void reader_end(void *registered)
{
	(void)registered;
	urcu_qsbr_unregister_thread();
}

static void grace_make_key(void)
{
	if (pthread_key_create(&reader_key, reader_end))
		abort();
}

/* tag::invalidate-11[] */
void grace_thread_online(void)
{
	if (online_depth++)
		return;		/* one board's step runs another board */
	pthread_once(&reader_once, grace_make_key);
	if (!pthread_getspecific(reader_key)) {
		urcu_qsbr_register_thread();
		pthread_setspecific(reader_key, &reader_key);
	} else {
		urcu_qsbr_thread_online();
	}
}

void grace_thread_offline(void)
{
	if (!--online_depth)
		urcu_qsbr_thread_offline();
}
/* end::invalidate-11[] */

void grace_thread_quiet(void)
{
	urcu_qsbr_quiescent_state();
}

struct sim_grace *sim_grace_create(struct sim *sim)
{
	struct sim_grace *g = calloc(1, sizeof(*g));

	if (g)
		g->sim = sim;
	return g;
}

void sim_grace_destroy(struct sim_grace *g)
{
	free(g);
}

/* Lockstep: an access begins or ends; whom to wait for; have those ended? */
/* tag::invalidate-10[] */
static void grace_count(struct sim_grace *g, unsigned int channel)
{
	g->count[channel]++;
}

static void grace_remember(struct sim_grace *g)
{
	unsigned int i;

	for (i = 0; i < SIM_CHANNELS; i++)
		g->waited[i] = g->count[i];
}

static bool grace_over(const struct sim_grace *g)
{
	unsigned int i;

	for (i = 0; i < SIM_CHANNELS; i++)
		if (g->waited[i] % 2 && g->waited[i] == g->count[i])
			return false;
	return true;
}
/* end::invalidate-10[] */

/* Threads: until everyone who was online has been offline. */
static void grace_wait(void)
{
	/* tag::invalidate-12[] */
	urcu_qsbr_synchronize_rcu();
	/* end::invalidate-12[] */
}

void sim_grace_enter(struct sim_grace *g, unsigned int channel)
{
	assert(channel < SIM_CHANNELS);
	if (sim_mode(g->sim) == SIM_LOCKSTEP) {
		assert(!g->open[channel]);
		g->open[channel] = true;
		grace_count(g, channel);
	} else {
		threads_access(channel, true);
	}
}

void sim_grace_exit(struct sim_grace *g, unsigned int channel)
{
	if (sim_mode(g->sim) == SIM_LOCKSTEP) {
		g->open[channel] = false;
		grace_count(g, channel);
		return;
	}
	threads_access(channel, false);
	/* liburcu's barriers */
	os_tsan_release(g);
}

void sim_grace_start(struct sim_grace *g)
{
	if (sim_mode(g->sim) == SIM_LOCKSTEP)
		grace_remember(g);
}

bool sim_grace_done(struct sim_grace *g)
{
	if (sim_mode(g->sim) == SIM_LOCKSTEP)
		return grace_over(g);
	grace_wait();
	os_tsan_acquire(g);
	return true;
}
