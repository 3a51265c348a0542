// SPDX-License-Identifier: BSD-2-Clause
/* Work that hardware makes, for the thread that ran the hardware. */
#include "harness.h"
#include "sim/sim.h"

static unsigned int done[64], count, depth;

static struct sim *sim_made;

static void free_sim(void *arg)
{
	(void)arg;
	sim_stop(sim_made);
	sim_destroy(sim_made);
	sim_made = NULL;
}

static const struct sim *sim_of(enum sim_mode mode)
{
	const struct sim_config cfg = { .mode = mode };

	if (!sim_made) {
		sim_made = sim_create(&cfg);
		EXPECT(sim_made);
		test_cleanup(free_sim, NULL);
	}
	return sim_made;
}

static const struct sim *sim_threads(void)
{
	return sim_of(SIM_THREADS);
}

static void do_it(void *arg)
{
	EXPECT(count < 64);
	done[count++] = *(unsigned int *)arg;
}

/* Defers two more, and itself once. */
static void do_more(void *arg)
{
	static unsigned int two = 2, three = 3;

	do_it(arg);
	if (depth++)
		return;
	EXPECT_EQ(sim_defer(SIM_DEFER_WORK, do_it, &two), SIM_DEFERRED);
	EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, do_it, &three), SIM_DEFERRED);
	EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, do_more, arg), SIM_DEFERRED);
}

TEST("who takes no work is told, so that another can be woken")
{
	unsigned int one = 1;

	count = 0;
	EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, do_it, &one), SIM_NOT_DEFERRED);
	STEP("handlers alone: what may sleep is for another thread");
	sim_defers_begin(sim_threads(), SIM_DEFER_IRQ);
	EXPECT_EQ(sim_defer(SIM_DEFER_WORK, do_it, &one), SIM_NOT_DEFERRED);
	EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, do_it, &one), SIM_DEFERRED);
	EXPECT_EQ(count, 0);
	sim_defers_end();
	EXPECT_EQ(count, 1);
	EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, do_it, &one), SIM_NOT_DEFERRED);
}

TEST("in lockstep nothing is deferred: an event is one thing at one time")
{
	unsigned int one = 1;

	sim_defers_begin(sim_of(SIM_LOCKSTEP), SIM_DEFER_WORK);
	EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, do_it, &one), SIM_NOT_DEFERRED);
	sim_defers_end();
}

TEST("what is deferred is done once, in its order, and so is what it defers")
{
	static const unsigned int want[] = { 7, 1, 2, 3, 1 };
	unsigned int one = 1, seven = 7, i;

	count = depth = 0;
	sim_defers_begin(sim_threads(), SIM_DEFER_WORK);
	EXPECT_EQ(sim_defer(SIM_DEFER_WORK, do_it, &seven), SIM_DEFERRED);
	EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, do_more, &one), SIM_DEFERRED);
	EXPECT_EQ(sim_defer(SIM_DEFER_WORK, do_it, &seven), SIM_DEFERRED_BEFORE);
	sim_defers_end();
	EXPECT_EQ(count, 5);
	for (i = 0; i < 5; i++)
		EXPECT_EQ(done[i], want[i]);
}

TEST("there is an end to what one thread takes")
{
	unsigned int number[64], i, taken = 0;

	count = 0;
	sim_defers_begin(sim_threads(), SIM_DEFER_WORK);
	for (i = 0; i < 64; i++) {
		number[i] = i;
		taken += sim_defer(SIM_DEFER_WORK, do_it, &number[i]) ==
			 SIM_DEFERRED;
	}
	sim_defers_end();
	EXPECT(taken >= 1 && taken < 64);
	EXPECT_EQ(count, taken);
	for (i = 0; i < taken; i++)
		EXPECT_EQ(done[i], i);
}
