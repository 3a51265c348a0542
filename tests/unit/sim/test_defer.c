// SPDX-License-Identifier: BSD-2-Clause
/* Work that hardware makes, for the thread that ran the hardware. */
#include "harness.h"
#include "sim/sim.h"
#include "sim/sync.h"

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
	sim_defers_begin(sim_threads(), SIM_DEFER_IRQ, 0);
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

	sim_defers_begin(sim_of(SIM_LOCKSTEP), SIM_DEFER_WORK, 0);
	EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, do_it, &one), SIM_NOT_DEFERRED);
	sim_defers_end();
}

TEST("what is deferred is done once, in its order, and so is what it defers")
{
	static const unsigned int want[] = { 7, 1, 2, 3, 1 };
	unsigned int one = 1, seven = 7, i;

	count = depth = 0;
	sim_defers_begin(sim_threads(), SIM_DEFER_WORK, 0);
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
	sim_defers_begin(sim_threads(), SIM_DEFER_WORK, 0);
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

TEST("who may take so much work takes no more, but interrupts")
{
	unsigned int number[4] = { 0, 1, 2, 3 }, i;

	count = 0;
	sim_defers_begin(sim_threads(), SIM_DEFER_WORK, 2);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(sim_defer(SIM_DEFER_WORK, do_it, &number[i]),
			  i < 2 ? SIM_DEFERRED : SIM_NOT_DEFERRED);
	EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, do_it, &number[2]), SIM_DEFERRED);
	sim_defers_end();
	EXPECT_EQ(count, 3);
	EXPECT_EQ(done[2], 2);
}

/* ---- before a thread waits ---- */

static struct sim_deferred_calls taken;

/* As who hands over its place. */
static void give_up(void *arg)
{
	do_it(arg);
	EXPECT(sim_takes_work());
	sim_defers_take(&taken);
	EXPECT(!sim_takes_work());
}

/* Defers what stays behind it, then waits twice. */
static void do_and_wait(void *arg)
{
	static unsigned int four = 4;

	EXPECT_EQ(sim_defer(SIM_DEFER_WORK, do_it, &four), SIM_DEFERRED);
	sim_will_wait();
	sim_will_wait();
	EXPECT_EQ(sim_defer(SIM_DEFER_WORK, do_it, &four), SIM_NOT_DEFERRED);
	EXPECT_EQ(sim_defer(SIM_DEFER_IRQ, do_it, &four), SIM_NOT_DEFERRED);
	do_it(arg);
}

TEST("before it waits a thread hands over what it has not done, once")
{
	unsigned int one = 1, five = 5;

	count = 0;
	sim_defers_begin(sim_threads(), SIM_DEFER_WORK, 0);
	EXPECT_EQ(sim_defer(SIM_DEFER_WORK, do_and_wait, &five), SIM_DEFERRED);
	sim_before_wait(give_up, &one);
	sim_defers_end();
	sim_before_wait(NULL, NULL);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(done[0], 1);
	EXPECT_EQ(done[1], 5);
	STEP("another does that");
	EXPECT_EQ(taken.count, 1);
	sim_defers_begin(sim_threads(), SIM_DEFER_IRQ, 0);
	sim_defers_give(&taken);
	EXPECT_EQ(taken.count, 0);
	sim_defers_end();
	EXPECT_EQ(count, 3);
	EXPECT_EQ(done[2], 4);
}

TEST("much work counts as waiting; who has nobody to hand over to goes on")
{
	unsigned int one = 1, i;

	count = 0;
	sim_defers_begin(sim_threads(), SIM_DEFER_WORK, 0);
	sim_before_wait(give_up, &one);
	for (i = 1; i < WORKED_MOST; i++)
		sim_worked();
	EXPECT_EQ(count, 0);
	sim_worked();
	EXPECT_EQ(count, 1);
	for (i = 0; i < 2 * WORKED_MOST; i++)
		sim_worked();
	sim_will_wait();
	sim_defers_end();
	EXPECT_EQ(count, 1);
	sim_before_wait(give_up, &one);
	sim_before_wait(NULL, NULL);
	sim_will_wait();
	EXPECT_EQ(count, 1);
}

/* ---- all the ways to wait ---- */

struct waiter {
	struct sim_mutex mutex;
	struct sim_waitq q;
	atomic_uint step, waits;
	void (*wait)(struct waiter *w);
};

static void count_wait(void *arg)
{
	atomic_fetch_add(&((struct waiter *)arg)->waits, 1);
}

static bool is_step(void *arg)
{
	return atomic_load(&((struct waiter *)arg)->step) == 2;
}

static void wait_mutex(struct waiter *w)
{
	sim_mutex_lock(&w->mutex);
	sim_mutex_unlock(&w->mutex);
}

static void wait_queue(struct waiter *w)
{
	sim_wait(&w->q, is_step, w, 0);
}

static void wait_sleep(struct waiter *w)
{
	(void)w;
	sim_sleep(1);
}

static void wait_park(struct waiter *w)
{
	(void)w;
	sim_park_timeout(1000);
}

static void waiter_main(void *arg)
{
	struct waiter *w = arg;

	while (!atomic_load(&w->step))
		sim_yield();
	sim_before_wait(count_wait, w);
	w->wait(w);
	w->wait(w);
	sim_before_wait(NULL, NULL);
	atomic_store(&w->step, 3);
}

/* The other holds the mutex until it has seen that the first is about to wait. */
static void holder_main(void *arg)
{
	struct waiter *w = arg;

	sim_mutex_lock(&w->mutex);
	atomic_store(&w->step, 1);
	while (!atomic_load(&w->waits))
		sim_yield();
	if (w->wait == wait_queue)
		atomic_store(&w->step, 2);
	sim_mutex_unlock(&w->mutex);
	sim_wake(&w->q, 0);
}

TEST("each way to wait is said before, and once: mutex, queue, sleep, park")
{
	static void (*const ways[])(struct waiter *w) = { wait_mutex, wait_queue,
							  wait_sleep, wait_park };
	struct sim_thread *t[2];
	struct sim *sim = (struct sim *)sim_threads();
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct waiter w = { .wait = ways[i] };

		sim_mutex_init(&w.mutex);
		sim_waitq_init(&w.q);
		t[0] = sim_thread_start(sim, "waits", false, waiter_main, &w);
		t[1] = sim_thread_start(sim, "holds", false, holder_main, &w);
		EXPECT(t[0] && t[1]);
		sim_thread_join(t[0]);
		sim_thread_join(t[1]);
		EXPECT_EQ(atomic_load(&w.step), 3);
		EXPECT_EQ(atomic_load(&w.waits), 1);
	}
}
