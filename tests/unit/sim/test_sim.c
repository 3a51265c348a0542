// SPDX-License-Identifier: BSD-2-Clause
/*
 * The scheduler: virtual time, turns, wake-ups, locks, actors.
 * variants: posix
 */
#include <string.h>

#include "harness.h"
#include "os/os.h"
#include "sim/rng.h"
#include "sim/sim.h"
#include "sim/sync.h"

static struct sim *sim_make(enum sim_mode mode, uint64_t seed)
{
	const struct sim_config cfg = { .mode = mode, .seed = seed };
	struct sim *sim = sim_create(&cfg);

	EXPECT(sim);
	return sim;
}

static void sim_finish(struct sim *sim)
{
	sim_stop(sim);
	sim_destroy(sim);
}

/* ---- time ---- */

struct log {
	char text[4096];
	uint64_t end_ns;
};

struct runner {
	struct log *log;
	char letter;
	uint64_t step_ns;
	int steps;
};

static void run_steps(void *arg)
{
	struct runner *r = arg;
	int i;

	for (i = 0; i < r->steps; i++) {
		sim_spend(r->step_ns);
		strncat(r->log->text, &r->letter, 1);
	}
	r->log->end_ns = sim_now(sim_self());
}

static void sim_interleave(uint64_t seed, struct log *log)
{
	struct sim *sim = sim_make(SIM_LOCKSTEP, seed);
	struct runner a = { log, 'a', 100, 20 }, b = { log, 'b', 100, 20 };

	memset(log, 0, sizeof(*log));
	sim_thread_start(sim, "a", false, run_steps, &a);
	sim_thread_start(sim, "b", false, run_steps, &b);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	sim_finish(sim);
}

TEST("virtual time is what the threads spent, not what they waited for their turn")
{
	static struct log log;

	sim_interleave(1, &log);
	EXPECT_EQ(log.end_ns, 2000);
	EXPECT_EQ(strlen(log.text), 40);
}

TEST("the same seed gives the same interleaving, other seeds give others")
{
	static struct log a, b;
	unsigned int seed, different = 0;

	sim_interleave(7, &a);
	sim_interleave(7, &b);
	EXPECT_STR(a.text, b.text);
	for (seed = 8; seed < 16; seed++) {
		sim_interleave(seed, &b);
		different += strcmp(a.text, b.text) != 0;
	}
	EXPECT_GE(different, 7);
}

TEST("spending with nobody else waiting needs no hand-over")
{
	static struct log log;
	struct sim *sim = sim_make(SIM_LOCKSTEP, 1);
	struct runner r = { &log, 'x', 5, 1000 };

	memset(&log, 0, sizeof(log));
	sim_thread_start(sim, "x", false, run_steps, &r);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	EXPECT_EQ(sim_now(sim), 5000);
	EXPECT_EQ(sim_events(sim), 1);
	sim_finish(sim);
}

/* ---- park ---- */

struct pair {
	struct sim_thread *sleeper;
	uint64_t woke_ns;
	bool by_unpark;
};

static void sim_sleeps(void *arg)
{
	struct pair *p = arg;

	sim_park();
	p->woke_ns = sim_now(sim_self());
}

static void sim_wakes(void *arg)
{
	struct pair *p = arg;

	sim_spend(300);
	sim_unpark(p->sleeper, 50);
}

TEST("an unparked thread runs after the delay that the waker gave")
{
	struct sim *sim = sim_make(SIM_LOCKSTEP, 3);
	struct pair p = { 0 };

	p.sleeper = sim_thread_start(sim, "sleeper", false, sim_sleeps, &p);
	sim_thread_start(sim, "waker", false, sim_wakes, &p);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	EXPECT_EQ(p.woke_ns, 350);
	sim_finish(sim);
}

static void early_token(void *arg)
{
	struct pair *p = arg;

	sim_unpark(sim_thread_self(), 0);
	sim_park();
	p->woke_ns = sim_now(sim_self());
	p->by_unpark = sim_park_timeout(40);
}

TEST("an unpark that comes first is remembered, and a timed park ends by itself")
{
	struct sim *sim = sim_make(SIM_LOCKSTEP, 3);
	struct pair p = { .by_unpark = true };

	sim_thread_start(sim, "t", false, early_token, &p);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	EXPECT_EQ(p.woke_ns, 0);
	EXPECT(!p.by_unpark);
	EXPECT_EQ(sim_now(sim), 40);
	sim_finish(sim);
}

TEST("a thread that nobody can wake is a deadlock, and is named")
{
	struct sim *sim = sim_make(SIM_LOCKSTEP, 3);
	struct pair p = { 0 };

	sim_thread_start(sim, "lonely", false, sim_sleeps, &p);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_DEADLOCK);
	EXPECT_STR(sim_stuck(sim, 0), "lonely");
	EXPECT(!sim_stuck(sim, 1));
	sim_finish(sim);
}

static void sleeps_long(void *arg)
{
	(void)arg;
	sim_sleep(1000000);
}

TEST("a run stops at its limit of virtual time")
{
	struct sim *sim = sim_make(SIM_LOCKSTEP, 3);

	sim_thread_start(sim, "slow", false, sleeps_long, NULL);
	EXPECT_EQ(sim_run(sim, 1000, 0), SIM_LIMIT);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	sim_finish(sim);
}

TEST("time passes for who is outside, whether or not something is due")
{
	struct sim *sim = sim_make(SIM_LOCKSTEP, 3);

	sim_let_pass(sim, 500);
	EXPECT_EQ(sim_now(sim), 500);
	sim_thread_start(sim, "slow", false, sleeps_long, NULL);
	sim_let_pass(sim, 999999);
	EXPECT(sim_stuck(sim, 0));
	sim_let_pass(sim, 1);
	EXPECT(!sim_stuck(sim, 0));
	EXPECT_EQ(sim_now(sim), 1000500);
	sim_finish(sim);
}

static void sleeps_often(void *arg)
{
	int i;

	(void)arg;
	/* The clock may pass the end between two looks at it. */
	for (i = 0; i < 20000; i++)
		sim_sleep(1 + (uint64_t)i % 200);
}

TEST("a short sleep in threads mode ends, however late the thread looks at the clock")
{
	struct sim *sim = sim_make(SIM_THREADS, 1);

	sim_thread_start(sim, "sleeper", false, sleeps_often, NULL);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	sim_finish(sim);
}

/* ---- locks, both modes ---- */

struct counter {
	struct sim_mutex mutex;
	struct sim_waitq queue;
	long value, goal;
	uint64_t inside;
};

static void sim_count(void *arg)
{
	struct counter *c = arg;
	int i;

	for (i = 0; i < 2000; i++) {
		sim_mutex_lock(&c->mutex);
		EXPECT_EQ(c->inside++, 0);
		if (i % 64 == 0)
			sim_spend(7);
		c->value++;
		c->inside--;
		sim_mutex_unlock(&c->mutex);
		sim_spend(3);
	}
	sim_wake(&c->queue, 0);
}

static bool sim_reached(void *arg)
{
	struct counter *c = arg;
	bool yes;

	sim_mutex_lock(&c->mutex);
	yes = c->value == c->goal;
	sim_mutex_unlock(&c->mutex);
	return yes;
}

static void sim_waits(void *arg)
{
	struct counter *c = arg;

	EXPECT(sim_wait(&c->queue, sim_reached, c, 0));
}

static void sim_locks(enum sim_mode mode)
{
	struct sim *sim = sim_make(mode, test_seed());
	struct counter c = { .goal = 8000 };
	int i;

	sim_mutex_init(&c.mutex);
	sim_waitq_init(&c.queue);
	sim_thread_start(sim, "waiter", false, sim_waits, &c);
	for (i = 0; i < 4; i++)
		sim_thread_start(sim, "counter", false, sim_count, &c);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	EXPECT_EQ(c.value, 8000);
	sim_finish(sim);
}

TEST("a mutex lets one thread in at a time and a wait queue loses no wake, in lockstep")
{
	sim_locks(SIM_LOCKSTEP);
}

TEST("a mutex lets one thread in at a time and a wait queue loses no wake, in threads")
{
	sim_locks(SIM_THREADS);
}

static bool sim_never(void *arg)
{
	(void)arg;
	return false;
}

static void waits_in_vain(void *arg)
{
	struct counter *c = arg;

	c->inside = sim_wait(&c->queue, sim_never, c, 5000);
	c->value = (long)sim_now(sim_self());
}

TEST("a wait with a limit ends at the limit")
{
	struct sim *sim = sim_make(SIM_LOCKSTEP, 1);
	struct counter c = { .inside = 1 };

	sim_waitq_init(&c.queue);
	sim_thread_start(sim, "w", false, waits_in_vain, &c);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	EXPECT_EQ(c.inside, 0);
	EXPECT_EQ(c.value, 5000);
	sim_finish(sim);
}

/* ---- actors ---- */

struct device {
	struct sim_actor actor;
	int runs, work;
	uint64_t last_ns, cost_ns;
};

static uint64_t device_step(void *arg, uint64_t now_ns)
{
	struct device *d = arg;

	d->runs++;
	d->last_ns = now_ns;
	if (!d->work)
		return SIM_IDLE;
	d->work--;
	return d->cost_ns;
}

static void sim_kicks(void *arg)
{
	struct device *d = arg;

	sim_spend(10);
	d->work = 2;
	sim_kick(&d->actor);
	sim_spend(20);		/* the device is busy from 10 to 210 */
	sim_kick(&d->actor);
	sim_spend(1000);
}

TEST("a kick does not bring a busy device forward")
{
	struct sim *sim = sim_make(SIM_LOCKSTEP, 1);
	struct device d = { .cost_ns = 100 };
	struct sim_domain *dom = sim_domain_create(sim, "dom");

	sim_actor_init(dom, &d.actor, "device", device_step, &d);
	sim_thread_start(sim, "kicker", false, sim_kicks, &d);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	EXPECT_EQ(d.runs, 3);
	EXPECT_EQ(d.last_ns, 210);
	sim_finish(sim);
}

static void sets_alarm(void *arg)
{
	struct device *d = arg;

	sim_alarm(&d->actor, 500);
	sim_alarm(&d->actor, 700);
	sim_spend(1000);
}

TEST("an alarm rings at the time that was asked for last, however early it runs for nothing")
{
	struct sim *sim = sim_make(SIM_LOCKSTEP, 1);
	struct device d = { 0 };
	struct sim_domain *dom = sim_domain_create(sim, "dom");

	sim_actor_init(dom, &d.actor, "device", device_step, &d);
	sim_thread_start(sim, "t", false, sets_alarm, &d);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	EXPECT_EQ(d.runs, 2);
	EXPECT_EQ(d.last_ns, 700);
	sim_finish(sim);
}

struct machine {
	struct device d;
	struct sim_domain *domain;
	atomic_long todo, done;
};

static uint64_t machine_step(void *arg, uint64_t now_ns)
{
	struct machine *m = arg;

	(void)now_ns;
	if (!atomic_load(&m->todo))
		return SIM_IDLE;
	atomic_fetch_sub(&m->todo, 1);
	m->d.runs++;		/* not atomic: only ever under the device lock */
	atomic_fetch_add(&m->done, 1);
	return 0;
}

static void sim_feeds(void *arg)
{
	struct machine *m = arg;
	int i;

	for (i = 0; i < 5000; i++) {
		atomic_fetch_add(&m->todo, 1);
		sim_enter(m->domain);
		sim_kick(&m->d.actor);
		sim_leave(m->domain);
	}
}

static void no_kick_is_lost(enum sim_drive drive)
{
	const struct sim_config cfg = { .mode = SIM_THREADS, .drive = drive,
					.seed = 1 };
	struct sim *sim = sim_create(&cfg);
	struct machine m = { 0 };
	uint64_t end_ns;

	m.domain = sim_domain_create(sim, "dom");
	sim_actor_init(m.domain, &m.d.actor, "machine", machine_step, &m);
	sim_thread_start(sim, "f1", false, sim_feeds, &m);
	sim_thread_start(sim, "f2", false, sim_feeds, &m);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	end_ns = os_now_ns() + TEST_PATIENCE_NS;
	while (atomic_load(&m.done) < 10000 && os_now_ns() < end_ns)
		sim_pump(m.domain);
	EXPECT_EQ(atomic_load(&m.done), 10000);
	EXPECT_EQ(m.d.runs, 10000);
	sim_finish(sim);
}

TEST("hardware that runs inline loses no kick when two threads enter it")
{
	no_kick_is_lost(SIM_INLINE);
}

TEST("hardware on a thread of its own loses no kick when two threads enter it")
{
	no_kick_is_lost(SIM_DEDICATED);
}

/* ---- a board's time ---- */

struct two_boards {
	struct sim_domain *domain[2];
	struct sim_actor actor[2];
	atomic_bool begun, overtaken;
	uint64_t last_ns;
	unsigned int runs, back;
};

/* Runs the other board in its own batch, after that has been run by another thread. */
static uint64_t slow_step(void *arg, uint64_t now_ns)
{
	struct two_boards *t = arg;

	(void)now_ns;
	if (atomic_exchange(&t->begun, true))
		return SIM_IDLE;
	while (!atomic_load(&t->overtaken))
		sched_yield();
	sim_kick_remote(&t->actor[1]);
	return SIM_IDLE;
}

static uint64_t time_step(void *arg, uint64_t now_ns)
{
	struct two_boards *t = arg;

	t->runs++;
	t->back += now_ns < t->last_ns;
	t->last_ns = now_ns;
	return SIM_IDLE;
}

static void board_kick(struct two_boards *t, unsigned int i)
{
	sim_enter(t->domain[i]);
	sim_kick(&t->actor[i]);
	sim_leave(t->domain[i]);
}

static void runs_first(void *arg)
{
	board_kick(arg, 0);
}

static void runs_second(void *arg)
{
	struct two_boards *t = arg;
	uint64_t begun_ns;

	while (!atomic_load(&t->begun))
		sched_yield();
	begun_ns = os_now_ns();
	while (os_now_ns() == begun_ns)
		;
	board_kick(t, 1);
	atomic_store(&t->overtaken, true);
}

TEST("the time of a board never goes back, whichever thread runs it")
{
	struct sim *sim = sim_make(SIM_THREADS, 1);
	struct two_boards t = { 0 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		t.domain[i] = sim_domain_create(sim, i ? "second" : "first");
		sim_actor_init(t.domain[i], &t.actor[i], "board", i ? time_step : slow_step,
			       &t);
	}
	sim_thread_start(sim, "first", false, runs_first, &t);
	sim_thread_start(sim, "second", false, runs_second, &t);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	EXPECT_EQ(t.runs, 2);
	EXPECT_EQ(t.back, 0);
	sim_finish(sim);
}

TEST("an alarm rings in threads mode although nobody enters the board")
{
	struct sim *sim = sim_make(SIM_THREADS, 1);
	struct machine m = { .todo = 1 };
	uint64_t end_ns = os_now_ns() + TEST_PATIENCE_NS;

	m.domain = sim_domain_create(sim, "dom");
	sim_actor_init(m.domain, &m.d.actor, "machine", machine_step, &m);
	sim_enter(m.domain);
	sim_alarm(&m.d.actor, sim_now(sim) + 2000000);
	sim_leave(m.domain);
	while (!atomic_load(&m.done) && os_now_ns() < end_ns)
		sched_yield();
	EXPECT_EQ(atomic_load(&m.done), 1);
	sim_finish(sim);
}

/* ---- random numbers ---- */

TEST("random streams differ by name and by seed, and are without bias at the edges")
{
	struct rng a, b, c;
	uint64_t x;
	int i, low = 0;

	rng_init(&a, 1, "one");
	rng_init(&b, 1, "two");
	rng_init(&c, 2, "one");
	x = rng_next(&a);
	EXPECT_NE(x, rng_next(&b));
	EXPECT_NE(x, rng_next(&c));
	for (i = 0; i < 10000; i++) {
		x = rng_below(&a, 3);
		EXPECT(x < 3);
		low += x == 0;
	}
	EXPECT(low > 3000 && low < 3700);
}

TEST("a number below one that is no power of two is drawn again, rather than wrapped")
{
	const uint64_t below = (1ull << 63) + 1;
	struct rng raw, drawn;
	unsigned int i, again = 0;
	uint64_t x;

	rng_init(&raw, test_seed(), "below");
	rng_init(&drawn, test_seed(), "below");
	for (i = 0; i < 64; i++) {
		/* Nearly every second number is too large. */
		while ((x = rng_next(&raw)) >= below)
			again++;
		EXPECT(rng_below(&drawn, below) == x);
	}
	EXPECT_GE(again, 10);
}
