/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_internal.h - what the files of emu/sim share. */
#ifndef FL_SIM_INTERNAL_H
#define FL_SIM_INTERNAL_H

#include <signal.h>

#include "os/coroutine.h"
#include "os/os.h"
#include "os/os_emu.h"
#include "sim/grace.h"
#include "sim/rng.h"
#include "sim/sim.h"
#include "trace/trace.h"

#define NOT_QUEUED UINT32_MAX

struct sim_heap {
	struct sim_node **node;
	uint32_t count, room;
	uint32_t promised;	/* nodes that may be queued at the same time */
};

void heap_free(struct sim_heap *h);
/* Room for n more nodes, so that to queue them cannot fail. 0 or -ENOMEM. */
int heap_reserve(struct sim_heap *h, uint32_t n);
void heap_unreserve(struct sim_heap *h, uint32_t n);
/* Put n at due_ns, or move it there when it is queued already. */
void heap_set(struct sim_heap *h, struct sim_node *n, uint64_t due_ns,
	      uint64_t tie);
void heap_remove(struct sim_heap *h, struct sim_node *n);
struct sim_node *heap_pop(struct sim_heap *h);
static inline struct sim_node *heap_first(const struct sim_heap *h)
{
	return h->count ? h->node[0] : NULL;
}
static inline uint64_t heap_due(const struct sim_heap *h)
{
	return h->count ? h->node[0]->due_ns : SIM_IDLE;
}

/* Before it in the queue? */
static inline bool heap_is_before(uint64_t due_ns, uint64_t tie, const struct sim_node *n)
{
	return due_ns != n->due_ns ? due_ns < n->due_ns : tie < n->tie;
}

/*
 * Lockstep: what shares a clock's order: a board's hardware and the software on it, or all
 * software that is on no board. The tie of an event is a hash of the seed, of the partition
 * that queues it, and of how many that one has drawn before, and an event that is queued
 * twice keeps the earlier place. So the order of a partition's events follows from its own
 * history and from what others send to it, and not from what happens elsewhere at the same
 * time.
 */
struct sim_partition {
	struct sim_node node;	/* its earliest event, in the queue of partitions */
	struct sim_heap heap;
	uint64_t key, ties;	/* of its random numbers, and how many it has drawn */
	uint32_t ring;		/* of the trace */
};

/* wakeup.c */
struct sim_wakeup {
	atomic_int state;
	struct os_wakeup sleep;
};
int wakeup_init(struct sim_wakeup *b);
void wakeup_destroy(struct sim_wakeup *b);
/* Wake the waiter, or let its next wait return at once. Async-signal-safe. */
void wakeup_post(struct sim_wakeup *b);
/* Was it rung? Takes the ring. */
bool wakeup_posted(struct sim_wakeup *b);
/* Only one thread waits. 0: no limit. False: the time was over. */
bool wakeup_wait(struct sim_wakeup *b, uint64_t timeout_ns);

enum thread_state {
	THREAD_QUEUED,
	THREAD_RUNNING,
	THREAD_PARKED,			/* in sim_park() */
	THREAD_WAITING,			/* in sim_thread_wait() */
	THREAD_DONE,
};

#define LOCALS_MAX	16
#define LOCALS_BYTES	2048

/* Lockstep: the variables of a software thread while another runs (sim_local_add). */
struct sim_locals {
	_Alignas(16) char bytes[LOCALS_BYTES];
};

struct sim_thread {
	struct sim_node node;
	struct sim *sim;
	struct sim_partition *partition;
	struct sim_thread *next;	/* all threads of the sim */
	char name[32];
	bool daemon;
	void (*fn)(void *arg);
	void *arg;
	/* threads */
	pthread_t pthread;
	struct sim_wakeup wakeup;	/* look again */
	/* lockstep */
	struct os_coroutine coroutine;
	struct sim_locals locals;
	enum thread_state state;
	atomic_bool token;		/* a sim_unpark() that no sim_park() has taken */
	bool unparked;			/* lockstep: it was woken, and is queued */
	atomic_ullong *account;		/* sim_charge() */
	atomic_bool ended;
};

#define ACTORS_MAX	31
#define WANTED_ALARM	(1u << ACTORS_MAX)	/* an alarm is due */
#define DOMAIN_TAKEN	1u			/* of its lock */

struct sim_domain {
	struct sim *sim;
	struct sim_domain *next;
	char name[32];
	struct sim_actor *actor[ACTORS_MAX];
	uint32_t actors;
	struct sim_watch *watch;	/* lockstep; NULL: nobody looks */
	struct sim_partition partition;
	/* threads mode */
	atomic_uint lock;		/* rises by one when it is taken, and when it is left */
	uint32_t ready;			/* lock held: actors that want to run */
	uint64_t now_ns;		/* lock held: time of the last step */
	atomic_uint wanted;		/* the same, said without the lock */
	atomic_uint_fast64_t alarm_ns;	/* earliest, SIM_IDLE: none */
	struct sim_domain *served_next;	/* SIM_DEDICATED: of the same thread */
	struct sim_actor *running;	/* lock held: in its step, or the last that was */
	/* Lock held, by channel: in whose step the access began that is under way. */
	struct sim_actor *access[SIM_CHANNELS];
};

#define HARDWARE_MAX 16

/* SIM_DEDICATED: a thread that runs hardware, and the domains that it serves. */
struct sim_hardware {
	struct sim *sim;		/* NULL: not started */
	pthread_t pthread;
	_Atomic(struct sim_domain *) first;
	_Atomic(const struct sim_offer *) offer;	/* that nobody has taken; or NULL */
	uint64_t offer_ns;		/* since when */
	atomic_uint unwanted;		/* so many in a row nobody has taken */
};

struct sim {
	struct sim_config cfg;
	struct trace *trace;
	struct sim_thread *threads;
	_Atomic(struct sim_domain *) domains;	/* threads that run hardware look on */
	void (*check)(void *arg);
	void *check_arg;
	struct sim_watch *noted;	/* lockstep */
	atomic_bool stopping;
	/* lockstep */
	uint64_t now_ns, end_ns, events;
	struct sim_heap heap;		/* of partitions */
	struct sim_partition common;	/* of software that is on no board */
	struct sim_partition *here;	/* whose event runs; outside of runs, common */
	uint32_t epoch;			/* changes when common comes, and when it goes */
	struct trace_turn turn;		/* for the trace: time, place and ring of what runs */
	struct sim_thread *current;	/* runs; NULL: the scheduler */
	struct sim_thread *ended;	/* just now; the scheduler frees its stack */
	bool on_signal_stack;		/* the thread that has just begun to wait is */
	stack_t signal_stack;		/* put back at the end of a run; 0 bytes: nothing to do */
	struct os_coroutine scheduler;	/* whoever called sim_run() */
	/* Variables that each thread has for itself, and whose they hold now; NULL: outside. */
	void *(*local[LOCALS_MAX])(size_t *bytes);
	unsigned int locals;
	struct sim_thread *holder;
	struct sim_locals outside;
	sigset_t mask;			/* of signals, outside of handlers */
	int cancel;			/* pthread_setcancelstate(), the same */
	/* threads */
	uint64_t start_ns;
	pthread_mutex_t list_lock;	/* threads list */
	atomic_int living;		/* threads that are not daemons */
	struct os_wakeup all_ended;
	pthread_t clock;		/* rings alarms */
	struct os_wakeup clock_wakeup;
	atomic_bool clock_asleep, hardware_stop;
	struct sim_hardware hardware[HARDWARE_MAX];
	unsigned int served;		/* domains that have a thread */
	atomic_uint offers;		/* of these threads */
	atomic_uint interrupted;	/* threads that have taken one */
	atomic_uint turn_steps;		/* sim_turns(); 0: no limit */
	atomic_uint leaving;		/* threads that will call left */
	void (*left)(void *arg);
	void *left_arg;
};

extern _Thread_local struct sim_thread *sim_self_thread;

/*
 * sim.c: sleep and wake as locks, wait queues and sim_sleep() need it. They leave
 * the token of sim_unpark() alone, since a thread that expects one may have to wait
 * for a lock first. So nothing is remembered here: whoever wakes sets a flag before,
 * and whoever sleeps looks at its flag before it sleeps. The sleep may end for no
 * reason. 0: no limit.
 */
void sim_thread_wait(uint64_t timeout_ns);
void sim_thread_wake(struct sim_thread *t, uint64_t delay_ns);

/* lockstep.c */
/* places: of its actors. 0 or -ENOMEM. */
int lockstep_partition_init(struct sim *sim, struct sim_partition *p, uint32_t places);
void lockstep_kick(struct sim_actor *a);
void lockstep_alarm(struct sim_actor *a);
void lockstep_alarm_tied(struct sim_actor *a, uint64_t tie);
int lockstep_start(struct sim_thread *t);
void lockstep_local(struct sim *sim, void *(*at)(size_t *bytes));
enum sim_result lockstep_run(struct sim *sim, uint64_t max_ns,
			     uint64_t drain_ns);
void lockstep_let_pass(struct sim *sim, uint64_t ns);
void lockstep_stop(struct sim *sim);
void lockstep_spend(struct sim_thread *t, uint64_t ns);
bool lockstep_park(struct sim_thread *t, uint64_t timeout_ns);
void lockstep_unpark(struct sim_thread *t, uint64_t delay_ns);
void lockstep_wait(struct sim_thread *t, uint64_t timeout_ns);
void lockstep_wake(struct sim_thread *t, uint64_t delay_ns);

/* defer.c: h has this thread, and looks whether its offer was taken; no more offers. */
void offers_begin(struct sim_hardware *h);
void offers_look(struct sim_hardware *h);
void offers_end(struct sim_hardware *h);
/* The calling thread polls. */
void offers_polled(struct sim *sim);

/* threads.c */
int threads_create(struct sim *sim);
void threads_destroy(struct sim *sim);
void *threads_main(void *thread);
void threads_kick(struct sim_actor *a);
void threads_kick_remote(struct sim_actor *a);
void threads_alarm(struct sim_actor *a);
/* Run it if it is wanted and nobody else does. Does software run the hardware? */
void threads_run_wanted(struct sim_domain *d);
bool threads_inline(const struct sim *sim);
/*
 * The calling thread only runs hardware: it stays a reader of grace periods, and says after
 * each batch that it uses nothing, since to come and go each time costs two fences. When it
 * finds nothing to run it says so, too (grace_thread_quiet), and before it waits it goes.
 */
void threads_stay(bool stay);
void threads_batch_begin(struct sim *sim);
void threads_batch_end(void);
void threads_enter(struct sim_domain *d);
void threads_leave(struct sim_domain *d);
void threads_step_begin(struct sim_domain *d);
void threads_step_end(struct sim_domain *d);
void threads_pass(struct sim_domain *d);
bool threads_try_enter(struct sim_domain *d);
void threads_try_leave(struct sim_domain *d);
void threads_pump(struct sim_domain *d);
bool threads_pump_all(struct sim *sim);
void threads_turns(struct sim *sim, unsigned int steps, void (*left)(void *arg),
		   void *arg);
enum sim_result threads_run(struct sim *sim, uint64_t max_ns);
void threads_stop(struct sim *sim);
bool threads_park(struct sim_thread *t, uint64_t timeout_ns);
void threads_unpark(struct sim_thread *t);
bool threads_wait(struct sim_thread *t, uint64_t timeout_ns);
void threads_wake(struct sim_thread *t);
uint64_t threads_now(const struct sim *sim);
/* In an actor's step: an access begins or ends (sim_grace_enter, sim_grace_exit). */
void threads_access(unsigned int channel, bool begins);

/* hardware.c */
int hardware_start(struct sim *sim);
void hardware_serve(struct sim_domain *d);
void hardware_stop(struct sim *sim);

/*
 * grace.c: the calling pthread runs hardware from here to there (threads mode); between two
 * drains, in none of them.
 */
void grace_thread_online(void);
void grace_thread_quiet(void);
void grace_thread_offline(void);

#endif
