// SPDX-License-Identifier: BSD-2-Clause
/*
 * Park and unpark between real threads: no wake-up is lost, whether it meets a
 * thread that looks, one that sleeps, or one whose time is just over.
 * variants: tsan posix
 */
#include "harness.h"
#include "sim/sim.h"

#define ROUNDS 3000

struct pair {
	struct sim_thread *asleep;
	atomic_uint asked, answered;
	uint64_t timeout_ns;		/* of the one that parks; 0: none */
	unsigned int pause;		/* of the one that wakes: sleeps so often */
	unsigned int early;		/* parks that ended for nothing */
};

static void answers(void *arg)
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

static void asks(void *arg)
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

static unsigned int play(enum sim_mode mode, uint64_t timeout_ns,
			 unsigned int pause)
{
	const struct sim_config cfg = { .mode = mode, .seed = 1 };
	struct pair p = { .timeout_ns = timeout_ns, .pause = pause };
	struct sim *sim = sim_create(&cfg);

	p.asleep = sim_thread_start(sim, "answers", false, answers, &p);
	sim_thread_start(sim, "asks", false, asks, &p);
	EXPECT_EQ(sim_run(sim, 240000000000ull, 0), SIM_FINISHED);
	EXPECT_EQ(atomic_load(&p.answered), ROUNDS);
	sim_stop(sim);
	sim_destroy(sim);
	return p.early;
}

TEST("a thread that is asked all the time misses no question")
{
	play(SIM_THREADS, 0, 0);
}

TEST("a thread that has gone to sleep is woken")
{
	play(SIM_THREADS, 0, 7);
}

TEST("a question that meets the end of a timeout is not lost")
{
	EXPECT(play(SIM_THREADS, 30000, 5) > 0);
}

TEST("in lockstep the same program sees the same, with and without a timeout")
{
	EXPECT_EQ(play(SIM_LOCKSTEP, 0, 7), 0);
	EXPECT_EQ(play(SIM_LOCKSTEP, 30000, 5),
		  play(SIM_LOCKSTEP, 30000, 5));
}
