// SPDX-License-Identifier: BSD-2-Clause
/* What threads spend of virtual time, and on whose account. */
#include "harness.h"
#include "sim/sim.h"

struct charged {
	atomic_ullong a, b;
	uint64_t end_ns;
	bool nested;
};

static void sim_charged(void *arg)
{
	struct charged *c = arg;

	sim_spend(1);
	c->nested = !sim_charge(&c->a);
	sim_spend(10);
	sim_sleep(100);
	c->nested &= sim_charge(&c->b) == &c->a;
	sim_spend(1000);
	c->nested &= sim_charge(&c->a) == &c->b;
	sim_park_timeout(10000);
	sim_spend(20);
	c->nested &= sim_charge(NULL) == &c->a;
	sim_spend(2);
	c->end_ns = sim_now(sim_self());
}

/* Another thread that spends meanwhile, on no account. */
static void sim_spends(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 20; i++)
		sim_spend(77);
}

TEST("what a thread spends goes to its account, what it sleeps to none")
{
	const struct sim_config cfg = { .mode = SIM_LOCKSTEP, .seed = test_seed() };
	struct sim *sim = sim_create(&cfg);
	struct charged c = { .nested = false };

	sim_thread_start(sim, "charged", false, sim_charged, &c);
	sim_thread_start(sim, "other", false, sim_spends, NULL);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	EXPECT(c.nested);
	EXPECT_EQ(atomic_load(&c.a), 30);
	EXPECT_EQ(atomic_load(&c.b), 1000);
	EXPECT_EQ(c.end_ns, 1 + 10 + 100 + 1000 + 10000 + 20 + 2);
	EXPECT(!sim_charge(&c.a));
	sim_spend(5);
	EXPECT_EQ(atomic_load(&c.a), 30);
	sim_stop(sim);
	sim_destroy(sim);
}
