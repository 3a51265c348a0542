// SPDX-License-Identifier: BSD-2-Clause
/*
 * Grace periods: an invalidation waits for accesses that are under way, for no others.
 * variants: posix tsan
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include <urcu-qsbr.h>

#include "rig/fail.h"
#include "sim/sim_internal.h"

static struct sim *grace_make(enum sim_mode mode)
{
	const struct sim_config cfg = { .mode = mode, .seed = 1 };
	struct sim *sim = sim_create(&cfg);

	EXPECT(sim);
	return sim;
}

static void grace_finish(struct sim *sim)
{
	sim_stop(sim);
	sim_destroy(sim);
}

TEST("in lockstep a grace period lasts until the accesses that were under way have ended")
{
	struct sim *sim = grace_make(SIM_LOCKSTEP);
	struct sim_grace *g = sim_grace_create(sim);

	STEP("nothing under way");
	sim_grace_start(g);
	EXPECT(sim_grace_done(g));
	STEP("an access on channel 1");
	sim_grace_enter(g, 1);
	sim_grace_start(g);
	EXPECT(!sim_grace_done(g));
	STEP("a later access on channel 0 does not matter");
	sim_grace_enter(g, 0);
	sim_grace_exit(g, 1);
	EXPECT(sim_grace_done(g));
	STEP("nor does the next one on channel 1");
	sim_grace_enter(g, 1);
	EXPECT(sim_grace_done(g));
	sim_grace_destroy(g);
	grace_finish(sim);
}

TEST("a board without memory for its grace periods has none")
{
	struct sim *sim = grace_make(SIM_LOCKSTEP);

	fail_at(FAIL_MEMORY, 1, 1, ENOMEM);
	EXPECT(!sim_grace_create(sim));
	EXPECT_EQ(fail_end(), 1);
	grace_finish(sim);
}

TEST("a thread is waited for from the first of its steps within steps to the end of the last")
{
	unsigned int round;

	/* The first time it is registered, then it is known. */
	for (round = 0; round < 2; round++) {
		grace_thread_online();
		EXPECT(urcu_qsbr_read_ongoing());
		grace_thread_online();
		EXPECT(urcu_qsbr_read_ongoing());
		grace_thread_offline();
		EXPECT(urcu_qsbr_read_ongoing());
		grace_thread_offline();
		EXPECT(!urcu_qsbr_read_ongoing());
	}
}

/*
 * Two channels of a board that always have an access under way, each half a round behind
 * the other: one step begins it, the next one ends it.
 */
struct accesses {
	struct sim_domain *domain;
	struct sim_grace *grace;
	struct accessor {
		struct accesses *of;
		struct sim_actor actor;
		unsigned int channel, steps;
		bool open;
	} by[2];
	unsigned int left, left_open;
};

static uint64_t access_step(void *arg, uint64_t now_ns)
{
	struct accessor *a = arg;

	a->open = !a->open;
	if (a->open)
		sim_grace_enter(a->of->grace, a->channel);
	else
		sim_grace_exit(a->of->grace, a->channel);
	return ++a->steps < 1000 || a->open ? now_ns : SIM_IDLE;
}

/* Whoever invalidates a translation now would be told that nobody uses it. */
static void access_left(void *arg)
{
	struct accesses *m = arg;

	m->left++;
	sim_grace_start(m->grace);
	if (sim_grace_done(m->grace))
		m->left_open += m->by[0].open || m->by[1].open;
}

static void no_access_outlives_a_turn(unsigned int steps, unsigned int behind)
{
	struct sim *sim = grace_make(SIM_THREADS);
	struct accesses m = { .domain = sim_domain_create(sim, "board"),
			      .grace = sim_grace_create(sim) };
	unsigned int i;

	STEP("turns of %u steps, channel 1 begins %u later", steps, behind);
	for (i = 0; i < 2; i++) {
		m.by[i] = (struct accessor){ .of = &m, .channel = i };
		sim_actor_init(m.domain, &m.by[i].actor, "channel", access_step,
			       &m.by[i]);
	}
	sim_turns(sim, steps, access_left, &m);
	for (i = 0; i < 2; i++) {
		sim_enter(m.domain);
		sim_kick(&m.by[i].actor);
		sim_leave(m.domain);
		while (i < behind && sim_pump_all(sim))
			;
	}
	while (sim_pump_all(sim))
		;
	EXPECT(m.left > 0);
	EXPECT_EQ(m.left_open, 0);
	EXPECT_GE(m.by[0].steps, 1000);
	EXPECT_GE(m.by[1].steps, 1000);
	sim_turns(sim, 0, NULL, NULL);
	sim_grace_destroy(m.grace);
	grace_finish(sim);
}

TEST("a turn does not end within an access, for which nobody would wait")
{
	unsigned int steps;

	for (steps = 1; steps <= 7; steps++) {
		no_access_outlives_a_turn(steps, 0);
		no_access_outlives_a_turn(steps, 1);
	}
}

struct passing {
	struct sim_domain *domain;
	atomic_bool passed;
	unsigned int written;	/* by who is in the domain */
	unsigned int seen;	/* of that, by who has passed it */
};

static void *domain_passes(void *arg)
{
	struct passing *p = arg;

	sim_pass(p->domain);
	p->seen = p->written;
	atomic_store(&p->passed, true);
	return NULL;
}

/* The thread sanitizer would see if it came back too early. */
TEST("who passes a domain waits for who is in it, and not for who comes after")
{
	struct sim *sim = grace_make(SIM_THREADS);
	struct passing p = { .domain = sim_domain_create(sim, "board") };
	pthread_t thread;

	sim_pass(p.domain);
	sim_enter(p.domain);
	EXPECT_EQ(pthread_create(&thread, NULL, domain_passes, &p), 0);
	p.written = 2;
	EXPECT(!atomic_load(&p.passed));
	sim_leave(p.domain);
	do {
		sim_enter(p.domain);
		sim_leave(p.domain);
	} while (!atomic_load(&p.passed));
	EXPECT_EQ(pthread_join(thread, NULL), 0);
	EXPECT_EQ(p.seen, 2);
	grace_finish(sim);
}
