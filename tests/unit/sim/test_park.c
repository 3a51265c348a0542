// SPDX-License-Identifier: BSD-2-Clause
/*
 * Park and unpark between real threads: no wake-up is lost, whether it meets a
 * thread that looks, one that sleeps, one whose time is just over, or one that
 * waits for something else meanwhile (a lock, a condition that takes one, a time).
 * variants: tsan posix
 */
#include "harness.h"
#include "sim/sim.h"
#include "sim/sync.h"

#define ROUNDS 3000

struct pair {
	struct sim_thread *asleep;
	atomic_uint asked, answered;
	uint64_t timeout_ns;		/* of the one that parks; 0: none */
	unsigned int pause;		/* of the one that wakes: sleeps so often */
	unsigned int early;		/* parks that ended for nothing */
};

static void park_answers(void *arg)
{
	struct pair *p = arg;
	unsigned int i;

	for (i = 1; i <= ROUNDS; i++) {
		while (atomic_load(&p->asked) != i) {
			if (!p->timeout_ns)
				sim_park();
			else if (!sim_park_timeout(p->timeout_ns))
				p->early++;
		}
		atomic_store(&p->answered, i);
	}
}

static void park_asks(void *arg)
{
	struct pair *p = arg;
	unsigned int i;

	for (i = 1; i <= ROUNDS; i++) {
		/* Now and then long enough for the other one to be asleep. */
		if (p->pause && i % p->pause == 0)
			sim_sleep(100000);
		atomic_store(&p->asked, i);
		sim_unpark(p->asleep, 0);
		while (atomic_load(&p->answered) != i)
			sim_yield();
	}
}

static unsigned int park_play(enum sim_mode mode, uint64_t timeout_ns,
			      unsigned int pause)
{
	const struct sim_config cfg = { .mode = mode, .seed = 1 };
	struct pair p = { .timeout_ns = timeout_ns, .pause = pause };
	struct sim *sim = sim_create(&cfg);

	p.asleep = sim_thread_start(sim, "answers", false, park_answers, &p);
	sim_thread_start(sim, "asks", false, park_asks, &p);
	EXPECT_EQ(sim_run(sim, 240000000000ull, 0), SIM_FINISHED);
	EXPECT_EQ(atomic_load(&p.answered), ROUNDS);
	sim_stop(sim);
	sim_destroy(sim);
	return p.early;
}

TEST("a thread that is asked all the time misses no question")
{
	park_play(SIM_THREADS, 0, 0);
}

TEST("a thread that has gone to sleep is woken")
{
	park_play(SIM_THREADS, 0, 7);
}

TEST("a question that meets the end of a timeout is not lost")
{
	EXPECT(park_play(SIM_THREADS, 30000, 5) > 0);
}

TEST("in lockstep the same program sees the same, with and without a timeout")
{
	EXPECT_EQ(park_play(SIM_LOCKSTEP, 0, 7), 0);
	EXPECT_EQ(park_play(SIM_LOCKSTEP, 30000, 5),
		  park_play(SIM_LOCKSTEP, 30000, 5));
}

/* ---- waits inside waits ---- */

struct nested {
	struct sim_thread *sleeper;
	struct sim_mutex mutex;
	struct sim_waitq queue;
	atomic_bool stop_here;	/* the condition takes the mutex once it has looked */
	atomic_bool held, asleep, value;
	unsigned int woken;
};

static bool has_waiter(struct sim_mutex *m)
{
	bool yes;

	while (atomic_flag_test_and_set(&m->guard))
		sim_yield();
	yes = m->waiters;
	atomic_flag_clear(&m->guard);
	return yes;
}

/* Holds the mutex until the sleeper waits for it, and wakes it for another reason. */
static void park_holds(void *arg)
{
	struct nested *n = arg;

	sim_mutex_lock(&n->mutex);
	atomic_store(&n->held, true);
	while (!has_waiter(&n->mutex))
		sim_yield();
	sim_sleep(1000);	/* so that it is in the sleep of its wait */
	if (n->sleeper)
		sim_unpark(n->sleeper, 0);
	atomic_store(&n->value, true);
	sim_wake(&n->queue, 0);
	sim_sleep(1000);
	sim_mutex_unlock(&n->mutex);
}

static void parks_after_lock(void *arg)
{
	struct nested *n = arg;

	while (!atomic_load(&n->held))
		sim_yield();
	sim_mutex_lock(&n->mutex);
	sim_mutex_unlock(&n->mutex);
	/* As a thread that looked before it took the lock. */
	sim_park();
	n->woken++;
}

/* Looks, and only then waits for a lock: what it answers is old by then. */
static bool looks_then_locks(void *arg)
{
	struct nested *n = arg;
	bool value = atomic_load(&n->value);

	/* The first look is before sim_wait() is in the queue. */
	if (!atomic_exchange(&n->stop_here, true))
		return value;
	sim_mutex_lock(&n->mutex);
	sim_mutex_unlock(&n->mutex);
	return value;
}

static void waits_with_lock(void *arg)
{
	struct nested *n = arg;

	while (!atomic_load(&n->held))
		sim_yield();
	if (sim_wait(&n->queue, looks_then_locks, n, 0))
		n->woken++;
}

static void parks_after_sleep(void *arg)
{
	struct nested *n = arg;

	atomic_store(&n->asleep, true);
	sim_sleep(300000);
	sim_park();
	n->woken++;
}

static void unparks_sleeper(void *arg)
{
	struct nested *n = arg;

	while (!atomic_load(&n->asleep))
		sim_yield();
	sim_unpark(n->sleeper, 0);
}

/* Not fewer than the sleeper could be woken by: a run that stands still ends here. */
static void park_nest(enum sim_mode mode, void (*sleeper)(void *arg),
		      void (*other)(void *arg), bool unpark)
{
	const struct sim_config cfg = { .mode = mode, .seed = test_seed() };
	unsigned int i, rounds = mode == SIM_LOCKSTEP ? 1 : 200;
	struct sim_thread *t;

	for (i = 0; i < rounds; i++) {
		struct sim *sim = sim_create(&cfg);
		struct nested n = { 0 };

		sim_mutex_init(&n.mutex);
		sim_waitq_init(&n.queue);
		t = sim_thread_start(sim, "sleeper", false, sleeper, &n);
		n.sleeper = unpark ? t : NULL;
		sim_thread_start(sim, "other", false, other, &n);
		EXPECT_EQ(sim_run(sim, 60000000000ull, 0), SIM_FINISHED);
		EXPECT_EQ(n.woken, 1);
		sim_stop(sim);
		sim_destroy(sim);
	}
}

TEST("an unpark that meets a thread in a mutex is kept for its park, in lockstep")
{
	park_nest(SIM_LOCKSTEP, parks_after_lock, park_holds, true);
}

TEST("an unpark that meets a thread in a mutex is kept for its park, in threads")
{
	park_nest(SIM_THREADS, parks_after_lock, park_holds, true);
}

TEST("a wake that meets a condition in a mutex is kept for its wait, in lockstep")
{
	park_nest(SIM_LOCKSTEP, waits_with_lock, park_holds, false);
}

TEST("a wake that meets a condition in a mutex is kept for its wait, in threads")
{
	park_nest(SIM_THREADS, waits_with_lock, park_holds, false);
}

TEST("an unpark that meets a thread in its sleep is kept for its park, in both modes")
{
	park_nest(SIM_LOCKSTEP, parks_after_sleep, unparks_sleeper, true);
	park_nest(SIM_THREADS, parks_after_sleep, unparks_sleeper, true);
}
