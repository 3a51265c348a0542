// SPDX-License-Identifier: BSD-2-Clause
/*
 * threads.c - everything at once, on the wall clock.
 *
 * A board's hardware is a domain with a device lock. A thread that enters it runs, on
 * leaving, what has become ready (SIM_INLINE), or a thread of the scheduler's does
 * (SIM_DEDICATED, hardware.c). `wanted` is set before the lock is tried, and
 * looked at again after it was given up, so that a kick that meets a taken lock is
 * never lost: either the holder sees it or the kicker gets the lock.
 */
#include <assert.h>
#include <time.h>

#include "sim/sim_internal.h"
#include "trace/trace.h"

#define SPINS_BEFORE_YIELD 200
#define PUMPS_BEFORE_HELP 2000	/* SIM_DEDICATED */

uint64_t threads_now(const struct sim *sim)
{
	return os_now_ns() - sim->start_ns;
}

/* ---- the device lock ---- */

static inline bool domain_trylock(struct sim_domain *d)
{
	unsigned int lock = atomic_load_explicit(&d->lock, memory_order_relaxed);

	return !(lock & DOMAIN_TAKEN) &&
	       atomic_compare_exchange_strong(&d->lock, &lock, lock + DOMAIN_TAKEN);
}

static void domain_lock(struct sim_domain *d)
{
	unsigned int spins = 0;

	while (!domain_trylock(d))
		if (++spins > SPINS_BEFORE_YIELD)
			os_yield();
}

static inline void domain_unlock(struct sim_domain *d)
{
	/* seq_cst: the look at `wanted` that follows must not pass it. */
	atomic_store(&d->lock, DOMAIN_TAKEN +
		     atomic_load_explicit(&d->lock, memory_order_relaxed));
}

/*
 * Whoever takes the lock after this has read it (and written what it was) sees all that
 * happened before. Whoever has it leaves it with another number.
 */
void threads_pass(struct sim_domain *d)
{
	unsigned int lock = atomic_fetch_add(&d->lock, 0), spins = 0;

	while (lock & DOMAIN_TAKEN && atomic_load(&d->lock) == lock)
		if (++spins > SPINS_BEFORE_YIELD)
			os_yield();
}

/*
 * One step may run another board, on the same stack: it is one batch of work.
 * Boards that a step has called run when it is over, so that they find all that
 * it sent.
 */
#define LATER_MAX 8
static _Thread_local struct {
	bool stays;			/* a reader of grace periods between batches, too */
	unsigned int depth, later_count, steps;
	uint64_t now_ns;
	struct sim_domain *domain;	/* whose actors run */
	struct sim_domain *later[LATER_MAX];
} batch;

static void batch_begin(struct sim *sim)
{
	uint64_t now_ns;

	if (batch.depth++)
		return;
	now_ns = os_now_ns();
	batch.now_ns = now_ns - sim->start_ns;
	if (sim->trace)
		trace_tick_at(sim->trace, now_ns);
	if (!batch.stays)
		grace_thread_online();
}

static void batch_end(void)
{
	if (--batch.depth)
		return;
	if (batch.stays)
		grace_thread_quiet();
	else
		grace_thread_offline();
}

void threads_stay(bool stay)
{
	batch.stays = stay;
	if (stay)
		grace_thread_online();
	else
		grace_thread_offline();
}

static void run_later(void);

void threads_batch_begin(struct sim *sim)
{
	batch_begin(sim);
}

void threads_batch_end(void)
{
	run_later();
	batch_end();
}

/*
 * A batch has one time, from its start; one that started later may have run this board
 * meanwhile. To the board time never goes back: what it waits for would never come.
 */
static void domain_time(struct sim_domain *d)
{
	if (d->now_ns < batch.now_ns)
		d->now_ns = batch.now_ns;
}

static void ring_alarms(struct sim_domain *d, uint64_t now_ns)
{
	uint64_t next = SIM_IDLE;
	struct sim_actor *a;
	uint32_t i;

	if (now_ns < atomic_load_explicit(&d->alarm_ns, memory_order_relaxed))
		return;
	for (i = 0; i < d->actors; i++) {
		a = d->actor[i];
		if (a->alarm_ns <= now_ns) {
			a->alarm_ns = SIM_IDLE;
			d->ready |= a->bit;
		} else if (a->alarm_ns < next) {
			next = a->alarm_ns;
		}
	}
	atomic_store(&d->alarm_ns, next);
}

/*
 * Lock held: who wants to run? The exchange orders: what was put into an input
 * before the call is seen by the step that follows, and a later call is seen
 * later.
 */
static uint32_t take_ready(struct sim_domain *d)
{
	uint32_t ready = d->ready;

	d->ready = 0;
	if (atomic_load_explicit(&d->wanted, memory_order_relaxed))
		ready |= atomic_exchange(&d->wanted, 0);
	return ready & ~WANTED_ALARM;
}

static bool turn_over(const struct sim *sim)
{
	unsigned int most = atomic_load_explicit(&sim->turn_steps,
						 memory_order_acquire);

	return ++batch.steps >= most && most;
}

static void actor_run(struct sim_domain *d, struct sim_actor *a)
{
	d->running = a;
	d->ready &= ~a->bit;
	if (a->step(a->arg, d->now_ns) != SIM_IDLE)
		d->ready |= a->bit;
	if (batch.later_count)
		run_later();
}

void threads_access(unsigned int channel, bool begins)
{
	struct sim_domain *d = batch.domain;

	if (d)
		d->access[channel] = begins ? d->running : NULL;
}

static struct sim_actor *access_open(const struct sim_domain *d)
{
	unsigned int i;

	for (i = 0; i < SIM_CHANNELS; i++)
		if (d->access[i])
			return d->access[i];
	return NULL;
}

/*
 * Lock held: run actors until none is ready, each in its turn; those that were
 * made last, the wires, go first: what has come in counts before a timer does.
 * False: there may be more, but not for this thread: unlock, then leave_rest().
 * Either way no access is open, since a grace period waits only for who is online.
 */
static bool domain_drain(struct sim_domain *d)
{
	struct sim_domain *outer = batch.domain;
	struct sim_actor *a;
	uint32_t ready;
	bool over = false;

	batch_begin(d->sim);
	if (!outer)
		batch.steps = 0;
	batch.domain = d;
	domain_time(d);
	ring_alarms(d, d->now_ns);
	while (!over && (ready = take_ready(d)))
		for (; ready && !over; ready &= ~a->bit) {
			a = d->actor[31 - __builtin_clz(ready)];
			actor_run(d, a);
			over = turn_over(d->sim);
			if (over)
				d->ready |= ready & ~a->bit;
		}
	if (over) {
		while ((a = access_open(d)))
			actor_run(d, a);
		atomic_fetch_add(&d->sim->leaving, 1);
		atomic_fetch_or(&d->wanted, d->ready);
		d->ready = 0;
	}
	batch.domain = outer;
	batch_end();
	return !over;
}

/* Unlocked: a kick that met the lock is seen here, as in threads_run_wanted(). */
static void leave_rest(struct sim_domain *d)
{
	if (atomic_load(&d->wanted))
		d->sim->left(d->sim->left_arg);
	atomic_fetch_sub(&d->sim->leaving, 1);
}

static __attribute__((noinline)) void run_wanted(struct sim_domain *d)
{
	bool more = true;

	while (more && atomic_load(&d->wanted) && domain_trylock(d)) {
		more = domain_drain(d);
		domain_unlock(d);
	}
	if (!more)
		leave_rest(d);
}

void threads_run_wanted(struct sim_domain *d)
{
	if (atomic_load(&d->wanted))
		run_wanted(d);
}

static void run_later(void)
{
	while (batch.later_count)
		threads_run_wanted(batch.later[--batch.later_count]);
}

/* Run it if it is wanted, when the step that is under way is over. */
static void run_after(struct sim_domain *d)
{
	unsigned int i;

	if (!batch.depth || batch.later_count == LATER_MAX) {
		threads_run_wanted(d);
		return;
	}
	for (i = 0; i < batch.later_count; i++)
		if (batch.later[i] == d)
			return;
	batch.later[batch.later_count++] = d;
}

/* After the board's own thread has ended, software runs the hardware. */
bool threads_inline(const struct sim *sim)
{
	return sim->cfg.drive == SIM_INLINE ||
	       atomic_load_explicit(&sim->hardware_stop, memory_order_relaxed);
}

void threads_enter(struct sim_domain *d)
{
	domain_lock(d);
}

/* There is something to run. */
static __attribute__((noinline)) void leave_ready(struct sim_domain *d)
{
	bool in_line = threads_inline(d->sim), more = true;

	if (in_line) {
		more = domain_drain(d);
	} else if (d->ready) {
		atomic_fetch_or(&d->wanted, d->ready);
		d->ready = 0;
	}
	domain_unlock(d);
	if (!more)
		leave_rest(d);
	else if (in_line)
		threads_run_wanted(d);
}

static inline void domain_leave(struct sim_domain *d)
{
	if (d->ready || atomic_load(&d->wanted)) {
		leave_ready(d);
		return;
	}
	domain_unlock(d);
	if (atomic_load(&d->wanted) && threads_inline(d->sim))
		run_wanted(d);
}

void threads_leave(struct sim_domain *d)
{
	domain_leave(d);
}

void threads_step_begin(struct sim_domain *d)
{
	batch_begin(d->sim);
	domain_time(d);
}

void threads_step_end(struct sim_domain *d)
{
	domain_leave(d);
	run_later();
	batch_end();
}

bool threads_try_enter(struct sim_domain *d)
{
	return domain_trylock(d);
}

/* A thread that wanted it meanwhile met the lock: as in threads_run_wanted(), but later. */
void threads_try_leave(struct sim_domain *d)
{
	domain_unlock(d);
	if (atomic_load(&d->wanted) && threads_inline(d->sim))
		run_after(d);
}

/*
 * SIM_DEDICATED: who has polled in vain for long does not wait until the scheduler of
 * the system gives the hardware's thread a CPU, since it may be this one.
 */
static void threads_help(struct sim *sim)
{
	struct sim_domain *d;
	bool taken = false;
	unsigned int i;

	for (i = 0; i < HARDWARE_MAX; i++) {
		d = atomic_load_explicit(&sim->hardware[i].first,
					 memory_order_acquire);
		for (; d; d = d->served_next) {
			threads_run_wanted(d);
			taken |= atomic_load_explicit(&d->lock, memory_order_relaxed) &
				 DOMAIN_TAKEN;
		}
	}
	if (taken)
		os_yield();
}

void threads_pump(struct sim_domain *d)
{
	static _Thread_local unsigned int pumps;

	if (threads_inline(d->sim)) {
		threads_run_wanted(d);
		return;
	}
	offers_polled(d->sim);
	if (++pumps % PUMPS_BEFORE_HELP == 0)
		threads_help(d->sim);
}

void threads_turns(struct sim *sim, unsigned int steps, void (*left)(void *arg),
		   void *arg)
{
	struct sim_domain *d;

	if (steps) {
		sim->left = left;
		sim->left_arg = arg;
	}
	/* Release: pairs with turn_over(). */
	atomic_store_explicit(&sim->turn_steps, steps, memory_order_release);
	/* A thread that still counts by the old number holds a domain, or is leaving. */
	for (d = sim->domains; !steps && d; d = d->next) {
		domain_lock(d);
		domain_unlock(d);
		threads_run_wanted(d);
	}
	while (!steps && atomic_load(&sim->leaving))
		os_yield();
}

bool threads_pump_all(struct sim *sim)
{
	struct sim_domain *d;
	bool more = false;

	for (d = sim->domains; d; d = d->next) {
		threads_pump(d);
		more |= atomic_load(&d->wanted) != 0;
	}
	return more;
}

/* The caller holds the domain: on leaving, or after this step, it is seen. */
void threads_kick(struct sim_actor *a)
{
	a->domain->ready |= a->bit;
}

void threads_kick_remote(struct sim_actor *a)
{
	/*
	 * Release: pairs with take_ready(). seq_cst: the try for the lock that
	 * follows must not pass it.
	 */
	atomic_fetch_or(&a->domain->wanted, a->bit);
	if (threads_inline(a->domain->sim))
		run_after(a->domain);
}

void threads_alarm(struct sim_actor *a)
{
	struct sim_domain *d = a->domain;
	struct sim *sim = d->sim;

	if (a->alarm_ns >= atomic_load(&d->alarm_ns))
		return;
	atomic_store(&d->alarm_ns, a->alarm_ns);
	if (atomic_exchange(&sim->clock_asleep, false))
		os_wakeup_post(&sim->clock_wakeup);
}

int threads_create(struct sim *sim)
{
	sim->start_ns = os_now_ns();
	return hardware_start(sim);
}

/* ---- software threads ---- */

void *threads_main(void *thread)
{
	struct sim_thread *t = thread;
	struct sim *sim = t->sim;

	sim_self_thread = t;
	t->fn(t->arg);
	atomic_store(&t->ended, true);
	if (!t->daemon && atomic_fetch_sub(&sim->living, 1) == 1)
		os_wakeup_post(&sim->all_ended);
	return NULL;
}

enum sim_result threads_run(struct sim *sim, uint64_t max_ns)
{
	while (atomic_load(&sim->living))
		if (!os_wakeup_take(&sim->all_ended, max_ns))
			return SIM_LIMIT;
	return SIM_FINISHED;
}

void threads_destroy(struct sim *sim)
{
	hardware_stop(sim);
}

void threads_stop(struct sim *sim)
{
	struct sim_thread *t;
	bool more;

	do {
		more = false;
		pthread_mutex_lock(&sim->list_lock);
		for (t = sim->threads; t; t = t->next) {
			if (atomic_load(&t->ended))
				continue;
			more = true;
			threads_unpark(t);
		}
		pthread_mutex_unlock(&sim->list_lock);
		if (more)
			nanosleep(&(struct timespec){ .tv_nsec = 200000 },
				  NULL);
	} while (more);
	hardware_stop(sim);
}

/*
 * The wakeup only says that the thread should look again, and whoever waits for whatever
 * may take it; what must not be lost is a flag: the token here, sync.c has its own.
 */
bool threads_park(struct sim_thread *t, uint64_t timeout_ns)
{
	bool rung;

	if (atomic_exchange(&t->token, false)) {
		wakeup_posted(&t->wakeup);
		return true;
	}
	rung = threads_wait(t, timeout_ns);
	return atomic_exchange(&t->token, false) || rung;
}

void threads_unpark(struct sim_thread *t)
{
	atomic_store(&t->token, true);
	wakeup_post(&t->wakeup);
}

bool threads_wait(struct sim_thread *t, uint64_t timeout_ns)
{
	if (!atomic_load(&t->sim->stopping))
		return wakeup_wait(&t->wakeup, timeout_ns);
	os_yield();
	wakeup_posted(&t->wakeup);
	return true;
}

void threads_wake(struct sim_thread *t)
{
	wakeup_post(&t->wakeup);
}
