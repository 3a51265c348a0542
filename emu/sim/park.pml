// SPDX-License-Identifier: BSD-2-Clause
/*
 * park.pml - park and unpark, the mutex and the wait queue (sync.c), in both modes
 * (threads.c with wakeup.c, lockstep.c), with one wait inside another: the thread
 * that serves interrupts (emu/host/irq.c) parks, and its handlers take a mutex; the
 * condition of a wait queue takes the same mutex. A model for Spin, checked
 * exhaustively by `make models`.
 *
 * What must hold: every interrupt is served, every thread that waits for the mutex, for
 * the condition or for a time gets on, and no thread is woken after its end.
 *
 * Sections under a guard are one step each. In lockstep a function is one step until it
 * sleeps, since no other thread runs.
 *
 * Two cases: INTERRUPTS, the thread that parks; CONDITION, the one in the queue.
 *
 * mode THREADS,INTERRUPTS
 * mode THREADS,CONDITION
 * mode LOCKSTEP,INTERRUPTS
 * mode LOCKSTEP,CONDITION
 *
 * bug LOCK_TAKES_TOKEN (THREADS,INTERRUPTS): a wait for a mutex takes the token of park
 * bug LOCK_TAKES_TOKEN (LOCKSTEP,INTERRUPTS): the same
 * bug NO_FLAG (THREADS,CONDITION): a wait in a queue does not look whether it was woken
 * bug NO_FLAG (LOCKSTEP,CONDITION): the same
 * bug RING_AFTER_GUARD (THREADS,INTERRUPTS): the guard is free before the owner is woken
 */
#define IRQ	0	/* irq_main() */
#define USER	1	/* takes the mutex, sleeps for a time, and ends */
#define WAITER	2	/* sim_wait() with a condition that takes the mutex */
#define THREADS_ALL 3
#define RAISES	1

bool token[THREADS_ALL];	/* struct sim_thread */
bool woken[THREADS_ALL];	/* struct sim_waiter of what the thread waits for */
bool ended[THREADS_ALL];

#ifdef LOCKSTEP
#define BATON atomic
#else
#define BATON
#endif

/* ---- sleep and wake ---- */

#ifdef LOCKSTEP

mtype = { RUNNING, PARKED, WAITING };
mtype state[THREADS_ALL] = RUNNING;
bool unparked[THREADS_ALL];

inline lockstep_sleep(t, how, limited)
{
	d_step { state[t] = how; unparked[t] = false };
	if
	:: unparked[t]
	:: limited		/* the time is over */
	fi;
	state[t] = RUNNING
}

inline sim_thread_wake(t)	/* lockstep_wake() */
{
	d_step {
		assert(!ended[t]);
		if
		:: state[t] == WAITING -> unparked[t] = true
#ifdef LOCK_TAKES_TOKEN
		:: state[t] == RUNNING -> token[t] = true
#endif
		:: else
		fi
	}
}

inline sim_unpark(t)
{
	d_step {
		if
		:: state[t] == PARKED && !unparked[t] -> unparked[t] = true
#ifdef LOCK_TAKES_TOKEN
		:: state[t] == WAITING && !unparked[t] -> unparked[t] = true
#endif
		:: else -> token[t] = true
		fi
	}
}

inline sim_thread_wait(t, limited)
{
#ifdef LOCK_TAKES_TOKEN
	if
	:: token[t] -> token[t] = false
	:: else -> lockstep_sleep(t, WAITING, limited)
	fi
#else
	lockstep_sleep(t, WAITING, limited)
#endif
}

inline sim_park(t)
{
	BATON {
		if
		:: token[t] -> token[t] = false
		:: else -> lockstep_sleep(t, PARKED, false)
		fi
	}
}

#else /* THREADS: a wakeup that all waits of a thread share */

mtype = { QUIET, RUNG, ASLEEP };
mtype wakeup[THREADS_ALL] = QUIET;
byte posts[THREADS_ALL];	/* os_wakeup */

inline wakeup_post(t)
{
	d_step {		/* the exchange, and the post that follows from it */
		assert(!ended[t]);
		if
		:: wakeup[t] == ASLEEP -> posts[t]++
		:: else
		fi;
		wakeup[t] = RUNG
	}
}

inline wakeup_wait(t, limited)
{
	if
	:: d_step { wakeup[t] == RUNG -> wakeup[t] = QUIET }
	:: d_step { wakeup[t] == QUIET -> wakeup[t] = ASLEEP };
		if
		:: d_step { posts[t] > 0 -> posts[t]-- }; wakeup[t] = QUIET
		:: limited ->	/* the time is over */
			if
			:: d_step { wakeup[t] == ASLEEP -> wakeup[t] = QUIET }
			:: d_step { wakeup[t] == RUNG && posts[t] > 0 ->
				    posts[t]-- }; wakeup[t] = QUIET
			fi
		fi
	fi
}

inline sim_thread_wake(t)
{
	wakeup_post(t)
}

inline sim_thread_wait(t, limited)
{
	wakeup_wait(t, limited)
}

inline sim_unpark(t)
{
#ifndef LOCK_TAKES_TOKEN
	token[t] = true;
#endif
	wakeup_post(t)
}

inline sim_park(t)		/* threads_park() */
{
	if
	:: d_step { token[t] -> token[t] = false }; wakeup_posted(t)
	:: !token[t] -> wakeup_wait(t, false); token[t] = false
	fi
}

inline wakeup_posted(t)
{
	d_step {
		if
		:: wakeup[t] == RUNG -> wakeup[t] = QUIET
		:: else
		fi
	}
}

#endif

/* ---- the mutex: m ---- */

bool guard, taken;
chan waiters = [THREADS_ALL] of { byte };
#define NOBODY	THREADS_ALL
byte next[THREADS_ALL];		/* a variable of sim_mutex_unlock() */

inline sim_mutex_lock(t)
{
	BATON {
		atomic {
			!guard;
			if
			:: !taken -> taken = true; woken[t] = true
			:: else -> woken[t] = false; waiters!t
			fi
		};
		do
		:: woken[t] -> break
		:: else -> sim_thread_wait(t, false)
		od
	}
}

inline sim_mutex_unlock(t)
{
	atomic {
		!guard;
		assert(taken);
		if
		:: waiters?next[t] -> woken[next[t]] = true; guard = true
		:: empty(waiters) -> taken = false; next[t] = NOBODY
		fi
	}
	if
	:: next[t] == NOBODY
	:: else ->
#ifdef RING_AFTER_GUARD
		guard = false;
		sim_thread_wake(next[t]);
#else
		sim_thread_wake(next[t]);
		guard = false;
#endif
		next[t] = NOBODY
	fi
}

/* ---- the wait queue: one waiter at most ---- */

bool queued, queue_woken, value;

/* A condition that looks, and only then waits for the mutex. */
inline condition(t)
{
	yes = value;
	sim_mutex_lock(t);
	sim_mutex_unlock(t)
}

proctype sim_wait()
{
	bool yes, limited;

	/* With a limit once; who gets no answer then asks again without. */
	if
	:: limited = true
	:: limited = false
	fi;
	do
	:: atomic { queued = true; queue_woken = false };	/* waitq_add() */
		condition(WAITER);
		BATON {
			if
			:: yes -> break
#ifndef NO_FLAG
			:: !yes && queue_woken
			:: !yes && !queue_woken ->
#else
			:: else ->
#endif
				sim_thread_wait(WAITER, limited)
			fi
		};
		queued = false;					/* waitq_remove() */
		limited = false
	od;
	queued = false;
	ended[WAITER] = true
}

proctype sim_wake()
{
	value = true;
	atomic {
		if
		:: queued ->
			queued = false;
			queue_woken = true;
			/* Under the guard: the waiter cannot leave before. */
			sim_thread_wake(WAITER)
		:: else
		fi
	}
}

/* ---- interrupts ---- */

bool high[2], stopping;
byte raised;

inline line_changed(line)
{
	high[line] = true;
	raised++;
	sim_unpark(IRQ)
}

inline serve(line)
{
	if
	:: high[line] ->
		sim_mutex_lock(IRQ);
		high[line] = false;
		sim_mutex_unlock(IRQ)
	:: else
	fi
}

proctype irq_main()
{
	do
	:: stopping -> break
	:: else ->
		serve(0);
		serve(1);
		sim_park(IRQ)
	od
}

proctype device(bit line)
{
	byte n;

	for (n : 1 .. RAISES) {
		!high[line];
		line_changed(line)
	}
}

proctype user()
{
	sim_thread_wait(USER, true);	/* sim_sleep() */
	sim_mutex_lock(USER);
	sim_mutex_unlock(USER);
	ended[USER] = true
}

#ifdef INTERRUPTS
#define all_well (raised == 2 * RAISES && !high[0] && !high[1] && ended[USER])
#else
#define all_well (ended[WAITER] && ended[USER])
#endif

init {
	atomic {
		next[IRQ] = NOBODY; next[USER] = NOBODY; next[WAITER] = NOBODY;
		run user();
#ifdef INTERRUPTS
		run irq_main(); run device(0); run device(1)
#else
		run sim_wait(); run sim_wake()
#endif
	};
	/* When nothing moves any more. */
	timeout;
	assert(all_well);
	stopping = true;		/* sim_stop() */
	sim_unpark(IRQ)
}

ltl ends { <> all_well }
