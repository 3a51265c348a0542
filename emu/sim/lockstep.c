// SPDX-License-Identifier: BSD-2-Clause
/*
 * lockstep.c - one event at a time in virtual time.
 *
 * The thread that called sim_run is the scheduler: it takes the earliest event, and
 * runs a hardware step itself or switches to a software thread, which is a coroutine.
 * All of them are one thread of the system, so there is no lock here, and a thread that
 * blocks in the system stops them all. A thread that waits does the scheduler's next work
 * itself: it runs the hardware that is due, and switches straight to the thread that is due,
 * which may be itself. So a thread that polls never changes stacks. Only a thread that is
 * perhaps in a signal handler, where little is allowed, goes back to the scheduler.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_internal.h"
#include "sim/watch.h"
#include "trace/trace.h"

#define STOP_EVENTS 50000000	/* more than any thread needs to come to its end */

/* ---- the queue ---- */

int lockstep_partition_init(struct sim *sim, struct sim_partition *p, uint32_t places)
{
	int ring;

	/* Its number among all that there are. */
	p->key = rng_hash(sim->cfg.seed, sim->heap.promised, 0);
	p->node.slot = NOT_QUEUED;
	if (heap_reserve(&sim->heap, 1))
		return -ENOMEM;
	if (heap_reserve(&p->heap, places))
		goto no_memory;
	/* What is on no board has the ring that is there from the start. */
	ring = sim->trace && p != &sim->common ? trace_ring_add(sim->trace) : 0;
	p->ring = (uint32_t)ring;
	if (ring >= 0)
		return 0;
	heap_free(&p->heap);
no_memory:
	heap_unreserve(&sim->heap, 1);
	return -ENOMEM;
}

/* The tie of what the partition whose event runs queues now. */
static uint64_t next_tie(struct sim *sim)
{
	return rng_of(sim->here->key, sim->here->ties++);
}

/* Where p, which does not run, stands among others: by its earliest event. */
static void partition_place(struct sim *sim, struct sim_partition *p)
{
	const struct sim_node *first = heap_first(&p->heap);

	if (!first)
		heap_remove(&sim->heap, &p->node);
	else
		heap_set(&sim->heap, &p->node, first->due_ns, first->tie);
}

/* The partition with the earliest event of all; NULL: there is none. */
static struct sim_partition *partition_first(struct sim *sim)
{
	struct sim_node *other = heap_first(&sim->heap), *own = heap_first(&sim->here->heap);

	if (other && (!own || heap_is_before(other->due_ns, other->tie, own)))
		return (struct sim_partition *)other;
	return own ? sim->here : NULL;
}

static uint64_t queue_due(const struct sim *sim)
{
	uint64_t own_ns = heap_due(&sim->here->heap), other_ns = heap_due(&sim->heap);

	return own_ns < other_ns ? own_ns : other_ns;
}

static void queue_node(struct sim *sim, struct sim_partition *p, struct sim_node *n,
		       uint64_t due_ns, uint64_t tie)
{
	heap_set(&p->heap, n, due_ns, tie);
	if (p != sim->here)
		partition_place(sim, p);
}

static void queue_thread(struct sim_thread *t, uint64_t due_ns, uint64_t tie)
{
	queue_node(t->sim, t->partition, &t->node, due_ns, tie);
}

/*
 * An event of the partition that runs, or work outside of runs. The trace can tell the order
 * of what happens at one time from the ties, but for the partition of no board: it may act on
 * all the others, so what comes after it is of another epoch.
 */
static void set_now(struct sim *sim, uint64_t now_ns, uint64_t tie)
{
	assert(now_ns >= sim->now_ns);
	sim->now_ns = sim->turn.time_ns = now_ns;
	sim->turn.place = (uint64_t)sim->epoch << 32 | tie >> 32;
}

/* From here on p runs. The one that runs is not in the queue of partitions. */
static void partition_enter(struct sim *sim, struct sim_partition *p)
{
	if (p == sim->here)
		return;
	partition_place(sim, sim->here);
	heap_remove(&sim->heap, &p->node);
	if (p == &sim->common || sim->here == &sim->common)
		sim->epoch++;
	sim->here = p;
	sim->turn.ring = p->ring;
}

/* The work of events is over, and that of whoever runs them goes on. */
static void partition_leave(struct sim *sim)
{
	partition_enter(sim, &sim->common);
	set_now(sim, sim->now_ns, 0);
}

/* ---- actors ---- */

/*
 * Earliest of kick and alarm, but not before the last step is over. Callers draw the tie
 * before it is known whether this is the earliest: how many are drawn must not depend on what
 * others have queued.
 */
static void queue_actor(struct sim_actor *a, uint64_t due_ns, uint64_t tie)
{
	struct sim_domain *d = a->domain;

	if (due_ns < a->busy_ns)
		due_ns = a->busy_ns;
	if (a->node.slot == NOT_QUEUED || heap_is_before(due_ns, tie, &a->node))
		queue_node(d->sim, &d->partition, &a->node, due_ns, tie);
}

/* The step takes until then: a kick that came meanwhile must not bring the next forward. */
static void actor_is_busy(struct sim_actor *a, uint64_t until_ns)
{
	struct sim_domain *d = a->domain;

	a->busy_ns = until_ns;
	if (a->node.slot != NOT_QUEUED && a->node.due_ns < until_ns)
		queue_node(d->sim, &d->partition, &a->node, until_ns, a->node.tie);
	queue_actor(a, until_ns, next_tie(d->sim));
}

void lockstep_kick(struct sim_actor *a)
{
	struct sim *sim = a->domain->sim;

	queue_actor(a, sim->now_ns, next_tie(sim));
}

void lockstep_alarm_tied(struct sim_actor *a, uint64_t tie)
{
	uint64_t now_ns = a->domain->sim->now_ns;

	queue_actor(a, a->alarm_ns > now_ns ? a->alarm_ns : now_ns, tie);
}

void lockstep_alarm(struct sim_actor *a)
{
	lockstep_alarm_tied(a, next_tie(a->domain->sim));
}

static void lockstep_step(struct sim *sim, struct sim_actor *a)
{
	uint64_t delay_ns;

	if (a->alarm_ns <= sim->now_ns)
		a->alarm_ns = SIM_IDLE;
	if (a->domain->watch)
		sim_note(sim, a->domain->watch);
	/* Whatever ran before is not the cause of what this step does. */
	trace_last_restore((struct trace_last){ 0 });
	delay_ns = a->step(a->arg, sim->now_ns);
	if (delay_ns != SIM_IDLE)
		actor_is_busy(a, sim->now_ns + delay_ns);
	else if (a->alarm_ns != SIM_IDLE)
		lockstep_alarm(a);
}

/* ---- variables of threads ---- */

void lockstep_local(struct sim *sim, void *(*at)(size_t *bytes))
{
	unsigned int i;

	for (i = 0; i < sim->locals; i++)
		if (sim->local[i] == at)
			return;
	assert(i < LOCALS_MAX);
	sim->local[sim->locals++] = at;
}

/* From here on the variables are t's; NULL: those of who is outside. */
static void locals_change(struct sim *sim, struct sim_thread *t)
{
	struct sim_locals *old, *new;
	size_t bytes, at = 0;
	unsigned int i;
	void *place;

	if (sim->holder == t)
		return;
	old = sim->holder ? &sim->holder->locals : &sim->outside;
	new = t ? &t->locals : &sim->outside;
	for (i = 0; i < sim->locals; i++) {
		place = sim->local[i](&bytes);
		assert(at + bytes <= LOCALS_BYTES);
		memcpy(old->bytes + at, place, bytes);
		memcpy(place, new->bytes + at, bytes);
		at += bytes;
	}
	sim->holder = t;
}

/* ---- threads ---- */

/* The thread that runs now, on its stack. */
static void thread_arrive(struct sim_thread *t)
{
	t->sim->current = t;
	t->state = THREAD_RUNNING;
	sim_self_thread = t;
}

/* NULL: the scheduler. Its place in the trace each has for itself. */
static void thread_switch(struct sim *sim, struct sim_thread *from,
			  struct sim_thread *to)
{
	struct trace_last last = trace_last_save();

	if (to)
		locals_change(sim, to);
	os_coroutine_switch(from ? &from->coroutine : &sim->scheduler,
			    to ? &to->coroutine : &sim->scheduler);
	trace_last_restore(last);
}

static void lockstep_main(void *thread)
{
	struct sim_thread *t = thread;
	struct sim *sim = t->sim;

	thread_arrive(t);
	trace_last_restore((struct trace_last){ 0 });
	t->fn(t->arg);
	t->state = THREAD_DONE;
	if (!t->daemon)
		atomic_fetch_sub(&sim->living, 1);
	atomic_store(&t->ended, true);
	sim->ended = t;
	thread_switch(sim, t, NULL);
}

int lockstep_start(struct sim_thread *t)
{
	int err = os_coroutine_create(&t->coroutine, lockstep_main, t);

	if (err)
		return err;
	t->state = THREAD_QUEUED;
	queue_thread(t, t->sim->now_ns, next_tie(t->sim));
	return 0;
}

/*
 * For a thread that may be in a signal handler: let others go on until it is queued and
 * due. While the handler has signals blocked and its thread safe from being cancelled,
 * theirs must not be.
 */
static void lockstep_give_back(struct sim_thread *t)
{
	struct sim *sim = t->sim;
	sigset_t mask = sim->mask;
	int cancel;

	assert(sim->current == t);
	sim->on_signal_stack = !os_coroutine_holds(&t->coroutine, &mask);
	pthread_sigmask(SIG_SETMASK, &sim->mask, &mask);
	pthread_setcancelstate(sim->cancel, &cancel);
	thread_switch(sim, t, NULL);
	thread_arrive(t);
	pthread_setcancelstate(cancel, NULL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* The earliest event, when it is one of this run. */
static struct sim_node *next_event(struct sim *sim)
{
	struct sim_partition *p;
	struct sim_node *n;

	p = partition_first(sim);
	if (!p || heap_due(&p->heap) > sim->end_ns)
		return NULL;
	partition_enter(sim, p);
	n = heap_pop(&p->heap);
	set_now(sim, n->due_ns, n->tie);
	sim->events++;
	return n;
}

/*
 * Let others go on, and do the scheduler's work: run hardware until a thread is due. What
 * hardware does is not this thread's doing, so it must not be seen to be.
 */
static void lockstep_pass_on(struct sim_thread *t)
{
	struct trace_last last = trace_last_save();
	struct sim *sim = t->sim;
	struct sim_node *n;

	assert(sim->current == t);
	sim->current = NULL;
	sim_self_thread = NULL;
	do {
		if (sim->check)
			sim->check(sim->check_arg);
		n = next_event(sim);
		if (n && !n->is_thread)
			lockstep_step(sim, (struct sim_actor *)n);
	} while (n && !n->is_thread);
	if (n != &t->node)
		thread_switch(sim, t, (struct sim_thread *)n);
	trace_last_restore(last);
	thread_arrive(t);
}

static void wait_turn(struct sim_thread *t, bool in_signal)
{
	if (in_signal || atomic_load(&t->sim->stopping))
		lockstep_give_back(t);
	else
		lockstep_pass_on(t);
}

static uint64_t lockstep_jitter(struct sim *sim)
{
	if (!sim->cfg.jitter_ns)
		return 0;
	return next_tie(sim) % (sim->cfg.jitter_ns + 1ull);
}

void lockstep_spend(struct sim_thread *t, uint64_t ns)
{
	struct sim *sim = t->sim;
	uint64_t due_ns = sim->now_ns + ns;

	if (queue_due(sim) > due_ns && due_ns <= sim->end_ns) {
		/* Nobody else has anything to do until then: no hand-over. */
		set_now(sim, due_ns, next_tie(sim));
		return;
	}
	t->state = THREAD_QUEUED;
	queue_thread(t, due_ns, next_tie(sim));
	wait_turn(t, false);
}

/* how: THREAD_PARKED, which may be in a signal handler, or THREAD_WAITING. */
static bool lockstep_sleep(struct sim_thread *t, enum thread_state how,
			   uint64_t timeout_ns)
{
	if (atomic_load(&t->sim->stopping)) {
		/* End of the run: callers loop, and must see others act. */
		lockstep_spend(t, 1000);
		return false;
	}
	t->state = how;
	t->unparked = false;
	if (timeout_ns)
		queue_thread(t, t->sim->now_ns + timeout_ns, next_tie(t->sim));
	wait_turn(t, how == THREAD_PARKED);
	return t->unparked;
}

/* False: it does not sleep in this manner, or was woken already. */
static bool lockstep_rouse(struct sim_thread *t, enum thread_state how,
			   uint64_t delay_ns)
{
	struct sim *sim = t->sim;
	uint64_t due_ns = sim->now_ns + delay_ns + lockstep_jitter(sim),
		 tie = next_tie(sim);

	if (t->state != how || t->unparked)
		return false;
	t->unparked = true;
	queue_thread(t, due_ns, tie);
	return true;
}

bool lockstep_park(struct sim_thread *t, uint64_t timeout_ns)
{
	return atomic_exchange(&t->token, false) ||
	       lockstep_sleep(t, THREAD_PARKED, timeout_ns);
}

void lockstep_unpark(struct sim_thread *t, uint64_t delay_ns)
{
	if (!lockstep_rouse(t, THREAD_PARKED, delay_ns))
		atomic_store(&t->token, true);
}

void lockstep_wait(struct sim_thread *t, uint64_t timeout_ns)
{
	lockstep_sleep(t, THREAD_WAITING, timeout_ns);
}

void lockstep_wake(struct sim_thread *t, uint64_t delay_ns)
{
	lockstep_rouse(t, THREAD_WAITING, delay_ns);
}

/* ---- the scheduler ---- */

/*
 * An application that sets up a stack for signals sets up that of all threads here. If one
 * waits on it now, the others must not use it. They take signals on their own stacks until
 * that one's handler returns, when the system sets it up again.
 */
static void leave_signal_stack(struct sim *sim)
{
	const stack_t none = { .ss_flags = SS_DISABLE };

	sigaltstack(&none, &sim->signal_stack);
	sim->on_signal_stack = false;
}

/* Returns when a thread gives back or ends, or nothing is due in this run. */
static void run_thread(struct sim *sim, struct sim_thread *t)
{
	thread_switch(sim, NULL, t);
	sim->current = NULL;
	sim_self_thread = NULL;
	if (sim->on_signal_stack)
		leave_signal_stack(sim);
	if (sim->ended) {
		locals_change(sim, NULL);
		os_coroutine_destroy(&sim->ended->coroutine);
		sim->ended = NULL;
	}
}

static void one_event(struct sim *sim)
{
	struct sim_node *n = next_event(sim);

	if (n->is_thread)
		run_thread(sim, (struct sim_thread *)n);
	else
		lockstep_step(sim, (struct sim_actor *)n);
	if (sim->check)
		sim->check(sim->check_arg);
}

static enum sim_result run_events(struct sim *sim, uint64_t max_ns,
				  uint64_t drain_ns)
{
	uint64_t due_ns;

	sim->end_ns = max_ns ? sim->now_ns + max_ns : SIM_IDLE;
	while (atomic_load(&sim->living)) {
		due_ns = queue_due(sim);
		if (due_ns == SIM_IDLE)
			return SIM_DEADLOCK;
		if (due_ns > sim->end_ns)
			return SIM_LIMIT;
		one_event(sim);
	}
	sim->end_ns = sim->now_ns + drain_ns;
	while (queue_due(sim) <= sim->end_ns)
		one_event(sim);
	return SIM_FINISHED;
}

static void run_begins(struct sim *sim)
{
	pthread_sigmask(SIG_SETMASK, NULL, &sim->mask);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &sim->cancel);
	pthread_setcancelstate(sim->cancel, NULL);
}

static void run_ends(struct sim *sim)
{
	partition_leave(sim);
	locals_change(sim, NULL);
	if (sim->signal_stack.ss_size)
		sigaltstack(&sim->signal_stack, NULL);
	sim->signal_stack.ss_size = 0;
}

enum sim_result lockstep_run(struct sim *sim, uint64_t max_ns,
			     uint64_t drain_ns)
{
	enum sim_result r;

	run_begins(sim);
	r = run_events(sim, max_ns, drain_ns);
	run_ends(sim);
	return r;
}

void lockstep_let_pass(struct sim *sim, uint64_t ns)
{
	uint64_t end_ns = sim->now_ns + ns;

	run_begins(sim);
	sim->end_ns = end_ns;
	while (queue_due(sim) <= end_ns)
		one_event(sim);
	run_ends(sim);
	if (sim->now_ns < end_ns)
		set_now(sim, end_ns, 0);
}

static bool all_done(struct sim *sim)
{
	struct sim_thread *t;

	for (t = sim->threads; t; t = t->next)
		if (t->state != THREAD_DONE)
			return false;
	return true;
}

void lockstep_stop(struct sim *sim)
{
	struct sim_thread *t;
	uint64_t end;

	sim->check = NULL;
	sim->end_ns = SIM_IDLE;
	for (t = sim->threads; t; t = t->next)
		if (!lockstep_rouse(t, THREAD_PARKED, 0))
			lockstep_rouse(t, THREAD_WAITING, 0);
	end = sim->events + STOP_EVENTS;
	while (!all_done(sim) && queue_due(sim) != SIM_IDLE && sim->events < end)
		one_event(sim);
	partition_leave(sim);
	locals_change(sim, NULL);
	if (all_done(sim))
		return;
	for (t = sim->threads; t; t = t->next)
		if (t->state != THREAD_DONE)
			fprintf(stderr, "faultline: thread %s does not end\n",
				t->name);
	abort();
}
