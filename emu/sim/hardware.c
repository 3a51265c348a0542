// SPDX-License-Identifier: BSD-2-Clause
/*
 * hardware.c - the scheduler's own threads on the wall clock: those that run hardware
 * (SIM_DEDICATED), one for each CPU but one, and the clock that rings alarms.
 */
#include <assert.h>
#include <time.h>

#include "sim/sim_internal.h"

#define IDLE_SPINS 2000		/* empty rounds before yielding */
#define UNWANTED_MANY 4		/* offers in a row that nobody took: it seems that nobody polls */
#define CLOCK_TICK_NS 500000	/* resolution of alarms */
#define CLOCK_IDLE_TICKS 20	/* without one, and the clock's thread sleeps */

/* Whose thread this is. */
static _Thread_local struct sim_hardware *hardware_self;

bool sim_offer(const struct sim_offer *o)
{
	struct sim_hardware *h = hardware_self;
	const struct sim_offer *before = NULL;

	if (!h)
		return false;
	/*
	 * seq_cst: what o is about was said before. If this one is still there, whoever takes it
	 * does so later than that.
	 */
	if (!atomic_compare_exchange_strong(&h->offer, &before, o))
		return before == o;
	h->offer_ns = os_now_ns();
	atomic_fetch_add(&h->sim->offers, 1);
	return true;
}

static const struct sim_offer *offer_take(struct sim_hardware *h)
{
	const struct sim_offer *o = atomic_exchange(&h->offer, NULL);

	if (o)
		atomic_fetch_sub(&h->sim->offers, 1);
	return o;
}

bool hardware_offers(struct sim *sim)
{
	const struct sim_offer *o;
	bool taken = false;
	unsigned int i;

	if (!atomic_load_explicit(&sim->offers, memory_order_relaxed) || !sim_takes_irqs())
		return false;
	for (i = 0; i < HARDWARE_MAX; i++) {
		o = offer_take(&sim->hardware[i]);
		if (!o)
			continue;
		taken = true;
		atomic_store_explicit(&sim->hardware[i].unwanted, 0, memory_order_relaxed);
		if (sim_defer(SIM_DEFER_IRQ, o->fn, o->arg) == SIM_NOT_DEFERRED)
			o->nobody(o->arg);
	}
	return taken;
}

static void offer_end(struct sim_hardware *h)
{
	const struct sim_offer *o = offer_take(h);

	if (!o)
		return;
	atomic_fetch_add_explicit(&h->unwanted, 1, memory_order_relaxed);
	o->nobody(o->arg);
}

/* Nobody polls, or who has is about something else, or interrupted and not at its end. */
static bool offer_is_late(struct sim_hardware *h)
{
	uint64_t most_ns = SIM_OFFER_POLLED_NS;

	if (!atomic_load_explicit(&h->offer, memory_order_relaxed))
		return false;
	if (atomic_load_explicit(&h->sim->interrupted, memory_order_relaxed))
		most_ns = SIM_OFFER_BUSY_NS;
	else if (atomic_load_explicit(&h->unwanted, memory_order_relaxed) >= UNWANTED_MANY)
		most_ns = SIM_OFFER_NS;
	return os_now_ns() - h->offer_ns > most_ns;
}

static void *dedicated_main(void *arg)
{
	struct sim_hardware *h = arg;
	struct sim_domain *d;
	unsigned int idle = 0;

	hardware_self = h;
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
		if (offer_is_late(h))
			offer_end(h);
		if (idle > IDLE_SPINS) {
			threads_stay(false);
			os_yield();
			threads_stay(true);
		}
	}
	threads_stay(false);
	offer_end(h);
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
