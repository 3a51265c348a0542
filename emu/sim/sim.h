/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim.h - time and who runs next.
 *
 * Two ways to run one code. Lockstep: one event at a time in virtual nanoseconds; software
 * threads are coroutines of the thread that called sim_run(). Ties are broken by random numbers
 * of the seed, a stream for each board, so that the same code and seed give the same trace,
 * byte for byte, and that of a board does not depend on boards that it has nothing to do with.
 * Threads: every software thread is an ordinary pthread, each board's hardware runs under its
 * device lock, on a thread of its own or inline in whoever posts or polls; time is the wall
 * clock.
 *
 * Only this module knows which mode is on. Hardware is actors: step functions
 * that say when they want to run again. Software uses threads, park/unpark,
 * mutexes and wait queues.
 *
 * Files: sim.c (front door), heap.c (event queue), lockstep.c, threads.c, defer.c (work for
 * the thread that runs hardware); a coroutine is emu/os/coroutine.h. Beside it, with headers of
 * their own: sync.c (mutex, wait queue on top of park), grace.c (grace periods), rng.c,
 * timing.c (profiles); watch.h is of lockstep.c.
 */
#ifndef FL_SIM_H
#define FL_SIM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/mode.h"

struct sim;
struct sim_thread;
struct trace;

struct sim_config {
	enum sim_mode mode;
	enum sim_drive drive;
	uint64_t seed;
	uint32_t jitter_ns; /* lockstep: each wake-up of a software thread up to
			       this much later */
	struct trace *trace;	/* outlives the sim; may be NULL */
};

struct sim *sim_create(const struct sim_config *cfg); /* NULL: no memory */
/* Every thread must have ended (sim_run returned); frees. */
void sim_destroy(struct sim *sim);

enum sim_mode sim_mode(const struct sim *sim);
/* ns since the start: virtual in lockstep, wall in threads. */
uint64_t sim_now(const struct sim *sim);
/* Events executed so far (lockstep). */
uint64_t sim_events(const struct sim *sim);

uint64_t sim_seed(const struct sim *sim); /* for streams of rng.h */

/* ---- hardware ---- */

/* What belongs to one board and is never run by two threads at once. */
struct sim_domain;
struct sim_domain *sim_domain_create(struct sim *sim, const char *name);

#define SIM_IDLE UINT64_MAX

struct sim_node { /* private to sim: a place in the event queue */
	uint64_t due_ns, tie;
	uint32_t slot; /* index in the heap, NOT_QUEUED outside */
	bool is_thread;
};

/*
 * A step function does one piece of work at time now and returns after how many
 * ns it wants to run again (threads mode: at once), or SIM_IDLE. It may kick
 * itself or others. It must not block.
 */
struct sim_actor {
	struct sim_node node;
	const char *name;
	uint64_t (*step)(void *arg, uint64_t now_ns);
	void *arg;
	struct sim_domain *domain;
	uint64_t busy_ns;  /* not before: the last step is still going on */
	uint64_t alarm_ns; /* SIM_IDLE: none */
	uint32_t bit;	   /* threads mode: its place in the domain's masks */
};
void sim_actor_init(struct sim_domain *d, struct sim_actor *a, const char *name,
		    uint64_t (*step)(void *arg, uint64_t now_ns), void *arg);
/*
 * Run it soon: lockstep: at the present time, but not before the ns that its
 * last step asked for are over. The caller holds the domain.
 */
void sim_kick(struct sim_actor *a);
/*
 * Run it at when_ns at the latest (both modes); it may run earlier for nothing.
 * Takes the place of the alarm set before; SIM_IDLE: none.
 */
void sim_alarm(struct sim_actor *a, uint64_t when_ns);
/*
 * Lockstep, also for an actor of another domain: an alarm with a tie of the caller's, for what
 * comes from several domains. Of one time, whoever has the smaller tie runs first.
 */
void sim_alarm_tied(struct sim_actor *a, uint64_t when_ns, uint64_t tie);

/*
 * Software enters a board's hardware (register access, doorbell). In threads
 * mode takes the device lock, and leaving runs (inline) or wakes (dedicated)
 * what was kicked. Not recursive. Never call anything that blocks in between.
 */
void sim_enter(struct sim_domain *d);
void sim_leave(struct sim_domain *d);
/*
 * Software that has entered carries out there what hardware would: from the first to the
 * second, which leaves the domain as well, it is as in a step (grace periods, one time).
 * Threads mode.
 */
void sim_step_begin(struct sim_domain *d);
void sim_step_end(struct sim_domain *d);
/* Threads mode: whoever is in the domain now has left it when this returns. */
void sim_pass(struct sim_domain *d);
/*
 * Threads mode, in a step, or where no other domain is entered any more when this one is
 * left: enter the domain of another board too, if it is free. Leaving it in a step runs
 * nothing of it yet.
 */
bool sim_try_enter(struct sim_domain *d);
void sim_try_leave(struct sim_domain *d);
/* Does whoever rings a doorbell run the hardware? */
bool sim_is_inline(const struct sim *sim);
/* Let hardware work (polling loops call this). Lockstep: nothing. */
void sim_pump(struct sim_domain *d);
/*
 * Threads: until sim_batch_end() the hardware that this thread runs is one batch. It has one
 * time, and grace periods wait for its end; so the thread must not wait meanwhile.
 */
void sim_batch_begin(struct sim *sim);
void sim_batch_end(struct sim *sim);
/*
 * Threads, inline: who runs hardware stops after so many steps, calls left(arg) and
 * goes on with its own work. Then somebody has to call sim_pump_all() for as long as
 * it says that there is more. When all domains have been made. 0 steps: no limit, as
 * it is at first; when it returns, left is not called any more.
 */
void sim_turns(struct sim *sim, unsigned int steps, void (*left)(void *arg),
	       void *arg);
bool sim_pump_all(struct sim *sim);
/*
 * Run an actor of another domain: something was put into its input. Threads,
 * inline: after the calling step. Never waits; if that domain's lock is taken
 * the holder will see the kick.
 */
void sim_kick_remote(struct sim_actor *a);

/*
 * Threads mode: work that hardware has made, for the thread that ran the hardware: a CPU
 * takes an interrupt when it leaves what it was about. sim_defer() is for who must not do the
 * work right now, since it holds a domain: fn(arg) is called in sim_defers_end(). What is
 * deferred already is not deferred twice. SIM_NOT_DEFERRED: this thread takes no work (of this
 * kind), so another must be woken. Between sim_defers_begin() and sim_defers_end() it
 * does; the two do not nest, and fn may defer more, but of work no more than `works` in all
 * (0: no limit). Lockstep: nothing is deferred.
 */
enum sim_defers {
	SIM_DEFER_IRQ,	/* handlers, which do not sleep */
	SIM_DEFER_WORK,	/* what may sleep */
};
enum sim_deferred { SIM_NOT_DEFERRED, SIM_DEFERRED, SIM_DEFERRED_BEFORE };
enum sim_deferred sim_defer(enum sim_defers kind, void (*fn)(void *arg), void *arg);
void sim_defers_begin(const struct sim *sim, enum sim_defers most, unsigned int works);
void sim_defers_end(void);
/* Does the calling thread take work now? fn asks, since it may have changed (below). */
bool sim_takes_work(void);

/*
 * SIM_DEDICATED: the thread that runs the hardware is no CPU and takes no interrupts, but one
 * that polls can be interrupted. The next one that polls while it takes interrupts calls
 * fn(arg) in its sim_defers_end(). If none has come after a while, nobody(arg) is called by
 * the hardware's thread: after SIM_OFFER_POLLED_NS, or SIM_OFFER_NS where nobody has taken the
 * last ones, and while a thread does what it has taken, after SIM_OFFER_BUSY_NS. What has been
 * offered and not been taken is not offered twice. False: the calling thread is not the
 * hardware's, or has offered something else.
 */
#define SIM_OFFER_NS		5000u
#define SIM_OFFER_POLLED_NS	25000u
#define SIM_OFFER_BUSY_NS	50000u
struct sim_offer {
	void (*fn)(void *arg);
	void (*nobody)(void *arg);
	void *arg;
};
bool sim_offer(const struct sim_offer *o);

/*
 * A thread that others count on may do work that waits if another takes its place then:
 * before it waits for somebody (for a mutex or in a wait queue, parked or asleep; who waits
 * in another way calls sim_will_wait()), or when it has called sim_worked() WORKED_MOST times,
 * fn(arg) is called, once. NULL: no longer.
 */
void sim_before_wait(void (*fn)(void *arg), void *arg);
void sim_will_wait(void);
/* A piece of work of about a microsecond is done. */
void sim_worked(void);
#define WORKED_MOST	32u

/*
 * What the calling thread has deferred and not done yet, for another, which gives it to itself
 * after its sim_defers_begin(). The first takes no work from now on.
 */
#define SIM_DEFERS_MAX	16u
struct sim_deferred_calls {
	unsigned int count;
	struct {
		void (*fn)(void *arg);
		void *arg;
	} call[SIM_DEFERS_MAX];
};
void sim_defers_take(struct sim_deferred_calls *to);
void sim_defers_give(struct sim_deferred_calls *from);	/* empties it */

/* ---- software threads ---- */

/*
 * daemon: sim_run does not wait for it (kernel threads). Starts when sim_run
 * runs, or at once. NULL: the system has no more threads, or no memory.
 */
struct sim_thread *sim_thread_start(struct sim *sim, const char *name,
				    bool daemon, void (*fn)(void *arg),
				    void *arg);
/* The same, of software that runs on the board of d. */
struct sim_thread *sim_thread_start_on(struct sim_domain *d, const char *name,
				       bool daemon, void (*fn)(void *arg), void *arg);
/*
 * Wait for its end and free it. From a sim thread, or from outside after
 * sim_run.
 */
void sim_thread_join(struct sim_thread *t);
struct sim_thread *sim_thread_self(void); /* NULL outside */
struct sim *sim_self(void);		  /* of the calling thread, or NULL */

enum sim_result {
	SIM_FINISHED, /* every thread that is not a daemon has ended */
	SIM_DEADLOCK, /* lockstep: none of them can ever run again */
	SIM_LIMIT,    /* lockstep: max_ns is over */
};
/*
 * From outside: run until all threads that are not daemons have ended; in
 * lockstep then go on until hardware is idle or drain_ns have passed. max_ns 0:
 * no limit. Daemons stay parked.
 */
enum sim_result sim_run(struct sim *sim, uint64_t max_ns, uint64_t drain_ns);
/* Lockstep, from outside: what is due within ns happens, and then this time has passed. */
void sim_let_pass(struct sim *sim, uint64_t ns);
/* Lockstep: call fn after every event (checker). */
void sim_set_check(struct sim *sim, void (*fn)(void *arg), void *arg);
/*
 * Name of a thread that cannot run (after SIM_DEADLOCK), or NULL; i counts
 * them.
 */
const char *sim_stuck(struct sim *sim, unsigned int i);
/*
 * End of all daemons: each one's sim_stopping() becomes true and its park
 * returns. Waits for them, and for the threads that run hardware; from then on
 * only the caller does.
 */
void sim_stop(struct sim *sim);
bool sim_stopping(void);

/*
 * Lockstep's software threads share a thread of the system, and so its thread-local
 * variables. So a module that has some adds them: at() says where they are in the thread
 * that calls it, and how many bytes. Each software thread has its own from then on, at first
 * zeros. errno needs nothing. Adding the same twice changes nothing. Threads mode: nothing.
 */
void sim_local_add(struct sim *sim, void *(*at)(size_t *bytes));

/* The calling thread has used ns of CPU time. Threads mode: nothing. */
void sim_spend(uint64_t ns);
/*
 * What the calling thread spends from now on is added to this account as well; NULL:
 * to none. Returns the account before. Waiting and sleeping are not spending.
 */
atomic_ullong *sim_charge(atomic_ullong *account);
/* Sleep. Threads mode: really (ns at least). */
void sim_sleep(uint64_t ns);
/* Let others run. */
void sim_yield(void);

/*
 * park blocks the calling thread until somebody unparks it; an unpark that
 * comes first is remembered (one), also while the thread sleeps in a mutex, a
 * wait queue or sim_sleep(): none of these takes it. Both are async-signal-safe: no
 * mutex, no allocation. park may also return for no reason; callers loop. delay_ns
 * (lockstep): how much later it runs.
 */
void sim_park(void);
void sim_unpark(struct sim_thread *t, uint64_t delay_ns);
/* As park, at most ns; true when unparked, false when the time was over. */
bool sim_park_timeout(uint64_t ns);

#endif
