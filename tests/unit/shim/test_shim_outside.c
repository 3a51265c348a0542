// SPDX-License-Identifier: BSD-2-Clause
/*
 * A caller outside of all threads of the scheduler, as a program is that has just built its
 * boards: what it waits for happens while it waits, in lockstep and with real threads.
 *
 * variants: tsan
 */
#include "rig/shim.h"

#define HELD_NS	200000u

/* What a thread of the board does meanwhile. */
static struct inside {
	struct mutex mutex;
	spinlock_t spin;
	wait_queue_head_t wait;
	bool took, has, woke;	/* took: it has had the mutex, and perhaps has it no more */
	struct shim *shim;
} inside;

static void inside_holds(void *arg)
{
	struct shim_cpu c = shim_enter(inside.shim, NULL, SHIM_IN_TASK);

	(void)arg;
	mutex_lock(&inside.mutex);
	__atomic_store_n(&inside.has, true, __ATOMIC_RELEASE);
	__atomic_store_n(&inside.took, true, __ATOMIC_RELEASE);
	sim_sleep(HELD_NS);
	__atomic_store_n(&inside.has, false, __ATOMIC_RELEASE);
	mutex_unlock(&inside.mutex);
	shim_leave(&c);
}

static void inside_wakes(void *arg)
{
	struct shim_cpu c = shim_enter(inside.shim, NULL, SHIM_IN_TASK);

	(void)arg;
	sim_sleep(HELD_NS);
	__atomic_store_n(&inside.woke, true, __ATOMIC_RELEASE);
	wake_up_all(&inside.wait);
	shim_leave(&c);
}

static struct sim_thread *inside_start(struct rig *r, void (*fn)(void *arg))
{
	struct sim_thread *t = sim_thread_start_on(board_domain(r->n[0].board), "inside", false,
						   fn, NULL);

	EXPECT(t);
	return t;
}

static void outside_nothing(struct rig *r)
{
	(void)r;
}

static void outside_waits(struct rig *r)
{
	struct shim_cpu c;
	struct sim_thread *t;

	inside = (struct inside){ .shim = shim_find(r->n[0].kernel) };
	c = shim_enter(inside.shim, NULL, SHIM_IN_TASK);
	mutex_init(&inside.mutex);
	spin_lock_init(&inside.spin);
	init_waitqueue_head(&inside.wait);
	STEP("a lock that a thread holds");
	t = inside_start(r, inside_holds);
	while (!__atomic_load_n(&inside.took, __ATOMIC_ACQUIRE))
		shim_turn();
	mutex_lock(&inside.mutex);
	EXPECT(!__atomic_load_n(&inside.has, __ATOMIC_ACQUIRE));
	mutex_unlock(&inside.mutex);
	sim_thread_join(t);
	STEP("one that nobody holds");
	spin_lock(&inside.spin);
	spin_unlock(&inside.spin);
	STEP("what a thread will do");
	t = inside_start(r, inside_wakes);
	EXPECT_EQ(wait_event_interruptible(inside.wait, __atomic_load_n(&inside.woke,
								       __ATOMIC_ACQUIRE)), 0);
	sim_thread_join(t);
	STEP("what nobody will do, for so long and no longer");
	EXPECT_EQ(wait_event_interruptible_hrtimeout(inside.wait, false, HELD_NS), -ETIME);
	shim_leave(&c);
}

TEST("who is outside of all threads waits for locks, for events and for time")
{
	struct host_driver_params p = { 0 };

	rig_run_with(SIM_LOCKSTEP, &p, outside_nothing, outside_waits);
	rig_run_with(SIM_THREADS, &p, outside_nothing, outside_waits);
}

static void outside_pair(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], RIG_BYTES, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_BYTES);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
}

/* The notifier is called where the pages go. */
static void outside_takes(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t before = rig_counters(b).invalidations;

	STEP("pages that the card has used go, and the SMMU has forgotten them");
	EXPECT_EQ(host_madvise(b->process, b->buffer, RIG_BYTES / 2, HOST_PAGEOUT), 0);
	EXPECT_GE(rig_counters(b).invalidations, before + 1);
	EXPECT_EQ(rig_counters(b).lost_syncs, 0);
	STEP("the SMMU does not say that it has: the wait has an end");
	board_inject(b->board, BOARD_NO_SYNC);
	EXPECT_EQ(host_madvise(b->process, b->buffer + RIG_BYTES / 2, RIG_PAGE, HOST_PAGEOUT), 0);
	board_inject(b->board, 0);
	EXPECT_EQ(rig_counters(b).lost_syncs, 1);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_CUT_OFF), 1);
}

TEST("memory that goes from outside of all threads is out of the card's reach")
{
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };

	rig_run_with(SIM_LOCKSTEP, &p, outside_pair, outside_takes);
	rig_run_with(SIM_THREADS, &p, outside_pair, outside_takes);
}
