// SPDX-License-Identifier: BSD-2-Clause
/*
 * Interrupts of hardware on a thread of its own: who polls takes them, and if nobody does,
 * the hardware's thread has another woken. None is lost, and none comes twice.
 * variants: posix tsan
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "harness.h"
#include "os/os_emu.h"
#include "sim/sim.h"

static struct offered {
	struct sim *sim;
	struct sim_domain *domain;
	struct sim_actor actor;
	struct sim_offer offer, other;
	pthread_t poller;
	bool twice;			/* offer it again, and then the other one */
	atomic_uint offers, refused;
	atomic_bool high;		/* there is one, and it was not served */
	atomic_uint taken;		/* by the poller, which was offered it, */
	atomic_uint deferred;		/* or has run the hardware itself */
	atomic_uint woken, others, low;
	bool again;			/* it was asked for another one */
	atomic_uint steps;
} it;

/* Interrupts are levels: who is called looks, and may find it low. */
static void offered_serve(void *arg, atomic_uint *count)
{
	EXPECT(arg == &it);
	atomic_fetch_add(atomic_exchange(&it.high, false) ? count : &it.low, 1);
}

static void serve_taken(void *arg)
{
	EXPECT(pthread_equal(pthread_self(), it.poller));
	offered_serve(arg, &it.taken);
}

/* The poller helps where hardware has no CPU. */
static void serve_deferred(void *arg)
{
	EXPECT(pthread_equal(pthread_self(), it.poller));
	offered_serve(arg, &it.deferred);
}

static void serve_woken(void *arg)
{
	offered_serve(arg, &it.woken);
}

static void serve_other(void *arg)
{
	(void)arg;
	atomic_fetch_add(&it.others, 1);
}

static bool offered_once(const struct sim_offer *o)
{
	bool offered = sim_offer(o);

	atomic_fetch_add(offered ? &it.offers : &it.refused, 1);
	return offered;
}

static uint64_t offered_step(void *arg, uint64_t now_ns)
{
	(void)arg;
	(void)now_ns;
	atomic_store(&it.high, true);
	if (!sim_defer(SIM_DEFER_IRQ, serve_deferred, &it) && !offered_once(&it.offer))
		serve_woken(&it);
	if (it.twice) {
		offered_once(&it.offer);
		offered_once(&it.other);
	}
	atomic_fetch_add(&it.steps, 1);
	return SIM_IDLE;
}

static void offered_end(void *arg)
{
	(void)arg;
	sim_stop(it.sim);
	sim_destroy(it.sim);
	memset(&it, 0, sizeof(it));
}

static void offered_make(enum sim_drive drive)
{
	const struct sim_config cfg = { .mode = SIM_THREADS, .drive = drive };

	it.sim = sim_create(&cfg);
	EXPECT(it.sim);
	test_cleanup(offered_end, NULL);
	it.poller = pthread_self();
	it.offer = (struct sim_offer){ serve_taken, serve_woken, &it };
	it.other = (struct sim_offer){ serve_other, serve_other, &it };
	it.domain = sim_domain_create(it.sim, "board");
	sim_actor_init(it.domain, &it.actor, "actor", offered_step, NULL);
}

static void offered_kick(void)
{
	sim_enter(it.domain);
	sim_kick(&it.actor);
	sim_leave(it.domain);
}

static void offered_poll(bool interrupts)
{
	if (interrupts)
		sim_defers_begin(it.sim, SIM_DEFER_IRQ, 0);
	sim_pump(it.domain);
	if (interrupts)
		sim_defers_end();
}

static unsigned int count_served(void)
{
	return atomic_load(&it.taken) + atomic_load(&it.deferred) + atomic_load(&it.woken);
}

TEST("a thread that polls takes what hardware offers, each offer once")
{
	unsigned int n;

	offered_make(SIM_DEDICATED);
	/* How often the poller is in time depends on the machine; with one CPU, perhaps never. */
	for (n = 1; n <= 500 || (!atomic_load(&it.taken) && os_cpus() > 1); n++) {
		offered_kick();
		while (count_served() < n)
			offered_poll(true);
		EXPECT_EQ(count_served(), n);
		EXPECT_EQ(atomic_load(&it.low), 0);
	}
	EXPECT_EQ(atomic_load(&it.offers) + atomic_load(&it.deferred), n - 1);
}

TEST("if nobody polls, the hardware's thread has another woken")
{
	unsigned int n;

	offered_make(SIM_DEDICATED);
	for (n = 1; n <= 50; n++) {
		offered_kick();
		while (count_served() < n)
			sched_yield();
	}
	EXPECT_EQ(atomic_load(&it.taken), 0);
	EXPECT_EQ(atomic_load(&it.woken), 50);
}

TEST("who takes no interrupts takes none that are offered")
{
	unsigned int n;

	offered_make(SIM_DEDICATED);
	for (n = 1; n <= 50; n++) {
		offered_kick();
		while (count_served() < n)
			offered_poll(false);
	}
	EXPECT_EQ(atomic_load(&it.taken), 0);
}

TEST("what is offered already is not offered twice, and another one is refused")
{
	offered_make(SIM_DEDICATED);
	it.twice = true;
	offered_kick();
	while (!count_served())
		sched_yield();
	sim_stop(it.sim);
	EXPECT_EQ(count_served(), 1);
	EXPECT_EQ(atomic_load(&it.offers), 2);
	EXPECT_EQ(atomic_load(&it.refused), 1);
	EXPECT_EQ(atomic_load(&it.others), 0);
}

/* All that was asked for has been offered or not, and was served. */
static void offered_settle(unsigned int steps)
{
	while (atomic_load(&it.steps) < steps || atomic_load(&it.high))
		offered_poll(true);
}

/* Hardware is asked for the next one while this one is served, and then has offered it. */
static void serve_slowly(void *arg)
{
	unsigned int steps = atomic_load(&it.steps);

	serve_taken(arg);
	if (it.again)
		return;
	it.again = true;
	offered_kick();
	while (atomic_load(&it.steps) == steps)
		sim_yield();
}

TEST("an interrupt that comes while one is served is served behind it")
{
	unsigned int n, steps;

	offered_make(SIM_DEDICATED);
	it.offer.fn = serve_slowly;
	for (n = steps = 0; n < 300; n++) {
		it.again = false;
		offered_kick();
		offered_settle(steps + 1);
		steps += 1 + it.again;
		offered_settle(steps);
		EXPECT_EQ(atomic_load(&it.steps), steps);
		EXPECT_EQ(count_served(), steps);
	}
}

TEST("a thread that polls more than once takes what it is offered each time")
{
	unsigned int n, steps;

	offered_make(SIM_DEDICATED);
	for (n = steps = 0; n < 300; n++) {
		sim_defers_begin(it.sim, SIM_DEFER_IRQ, 0);
		offered_kick();
		for (steps++; atomic_load(&it.steps) < steps;)
			sim_pump(it.domain);
		sim_pump(it.domain);
		offered_kick();
		for (steps++; atomic_load(&it.steps) < steps;)
			sim_pump(it.domain);
		sim_defers_end();
		offered_settle(steps);
	}
}

TEST("a thread that has too much to do has another woken for what it is offered")
{
	static struct sim_offer many[SIM_DEFERS_MAX];
	unsigned int n, i;

	offered_make(SIM_DEDICATED);
	for (n = 1; n <= 300; n++) {
		sim_defers_begin(it.sim, SIM_DEFER_IRQ, 0);
		for (i = 0; i < SIM_DEFERS_MAX; i++)
			EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, serve_other, &many[i]), SIM_DEFERRED);
		offered_kick();
		while (atomic_load(&it.steps) < n || atomic_load(&it.high))
			sim_pump(it.domain);
		sim_defers_end();
		EXPECT_EQ(atomic_load(&it.others), n * SIM_DEFERS_MAX);
	}
	EXPECT_EQ(atomic_load(&it.woken), 300);
}

TEST("what is offered when the hardware stops has another woken")
{
	offered_make(SIM_DEDICATED);
	offered_kick();
	while (!atomic_load(&it.offers))
		sched_yield();
	sim_stop(it.sim);
	EXPECT_EQ(count_served(), 1);
}

TEST("nobody but hardware on a thread of its own offers anything")
{
	offered_make(SIM_INLINE);
	EXPECT(!sim_offer(&it.offer));
	offered_kick();
	EXPECT_EQ(atomic_load(&it.woken), 1);
	EXPECT_EQ(atomic_load(&it.refused), 1);
	EXPECT_EQ(atomic_load(&it.offers), 0);
}
