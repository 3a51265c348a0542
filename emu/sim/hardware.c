// SPDX-License-Identifier: BSD-2-Clause
/*
 * hardware.c - the scheduler's own threads on the wall clock: those that run hardware
 * (SIM_DEDICATED), one for each CPU but one, and the clock that rings alarms.
 */
#include <assert.h>
#include <time.h>

#include "sim/sim_internal.h"

#define IDLE_SPINS 2000		/* empty rounds before yielding */
#define CLOCK_TICK_NS 500000	/* resolution of alarms */
#define CLOCK_IDLE_TICKS 20	/* without one, and the clock's thread sleeps */

static void *dedicated_main(void *arg)
{
	struct sim_hardware *h = arg;
	struct os_poller poller = { 0 };
	struct sim_domain *d;
	unsigned int idle = 0;

	offers_begin(h);
	threads_stay(true);
	while (!atomic_load(&h->sim->hardware_stop)) {
		idle++;
		for (d = atomic_load_explicit(&h->first, memory_order_acquire);
		     d; d = d->served_next)
			if (atomic_load(&d->wanted)) {
				threads_run_wanted(d);
				idle = 0;
			}
		grace_thread_quiet();
		offers_look(h);
		if (idle > IDLE_SPINS) {
			threads_stay(false);
			os_poller_yield(&poller);
			threads_stay(true);
		}
	}
	threads_stay(false);
	offers_end(h);
	return NULL;
}

/* Threads that run hardware: they come with the domains, up to one a CPU but one. */
static unsigned int hardware_most(void)
{
	unsigned int cpus = os_cpus();

	if (cpus <= 2)
		return 1;
	return cpus - 1 > HARDWARE_MAX ? HARDWARE_MAX : cpus - 1;
}

void hardware_serve(struct sim_domain *d)
{
	struct sim *sim = d->sim;
	unsigned int most = hardware_most();
	struct sim_hardware *h;

	if (sim->cfg.drive != SIM_DEDICATED)
		return;
	h = &sim->hardware[sim->served++ % most];
	d->served_next = atomic_load(&h->first);
	/* Pairs with the acquire in dedicated_main(). */
	atomic_store_explicit(&h->first, d, memory_order_release);
	if (h->sim)
		return;
	h->sim = sim;
	if (pthread_create(&h->pthread, NULL, dedicated_main, h))
		assert(!"no thread for a board");
}

static bool any_alarm(struct sim *sim)
{
	struct sim_domain *d;
	bool any = false;

	pthread_mutex_lock(&sim->list_lock);
	for (d = sim->domains; d && !any; d = d->next)
		any = atomic_load(&d->alarm_ns) != SIM_IDLE;
	pthread_mutex_unlock(&sim->list_lock);
	return any;
}

/*
 * Alarms must ring also when no software enters the board. While one is set, and for some time
 * after the last one, this thread looks every half millisecond; else it sleeps until the next
 * is set. That would not do at once: an alarm is set for each block that is sent, and usually
 * taken back when the answer comes, and whoever sets one wakes this thread if it sleeps.
 */
static void *clock_main(void *arg)
{
	const struct timespec tick = { .tv_nsec = CLOCK_TICK_NS };
	unsigned int idle = CLOCK_IDLE_TICKS;
	struct sim *sim = arg;
	struct sim_domain *d;

	while (!atomic_load(&sim->hardware_stop)) {
		if (any_alarm(sim)) {
			idle = 0;
		} else if (++idle > CLOCK_IDLE_TICKS) {
			atomic_store(&sim->clock_asleep, true);
			if (!any_alarm(sim) &&
			    !atomic_load(&sim->hardware_stop))
				os_wakeup_take(&sim->clock_wakeup, 0);
			atomic_store(&sim->clock_asleep, false);
			idle = 0;
		}
		nanosleep(&tick, NULL);
		pthread_mutex_lock(&sim->list_lock);
		for (d = sim->domains; d; d = d->next) {
			if (threads_now(sim) < atomic_load(&d->alarm_ns))
				continue;
			atomic_fetch_or(&d->wanted, WANTED_ALARM);
			if (threads_inline(sim))
				threads_run_wanted(d);
		}
		pthread_mutex_unlock(&sim->list_lock);
	}
	return NULL;
}

int hardware_start(struct sim *sim)
{
	return -pthread_create(&sim->clock, NULL, clock_main, sim);
}

void hardware_stop(struct sim *sim)
{
	unsigned int i;

	if (atomic_exchange(&sim->hardware_stop, true))
		return;
	os_wakeup_post(&sim->clock_wakeup);
	pthread_join(sim->clock, NULL);
	for (i = 0; i < HARDWARE_MAX; i++)
		if (sim->hardware[i].sim)
			pthread_join(sim->hardware[i].pthread, NULL);
}
