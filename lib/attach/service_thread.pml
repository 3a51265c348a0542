// SPDX-License-Identifier: BSD-2-Clause
/*
 * service_thread.pml - calls to the board (call.c), jobs of the service thread (service_thread.c, import.c, move.c), views
 * (view.c) and a fork (fork.c), while the board may end or be killed at any moment. A
 * model for Spin, checked exhaustively by `make models`.
 *
 * What must hold: every thread that asks gets an answer or hears that the board is gone.
 *
 * Who naps looks again by itself, so a nap is a wait for anything that the thread looks
 * at. What only the socket tells (hup) is seen by the service thread alone: in its poll(), which
 * also reads wakeups, and in attach_listen().
 *
 * bug UNHEARD: the service thread does not listen while it waits for an answer itself
 * bug PEEK: it listens with recv(MSG_PEEK), which sees unread wakeups and not the end
 * bug FLAG_FIRST: a fork takes the flag of the views before the job that needs it
 */
mtype = { FREE_SLOT, TAKEN, ASKED, ANSWERED };
/* struct attach_call: one slot, so that there are more askers than slots. */
mtype state = FREE_SLOT;
bit views;			/* what must be in place when it is answered */
bit view_head, view_done;
bool view_lock;			/* a lock */
bool job_taken;			/* a lock */
byte job_state;			/* 0 none, 1 asked, 2 done */
bool alive = true;		/* the board's own word, in memory */
bool hup, wakeup;			/* of the socket: its end; unread bytes */
bool error;
byte living = 3;		/* threads of the program */

#define attach_error	(error || !alive)
#define views_wait	(view_head != view_done)

#ifdef UNHEARD
#define listens		false
#else
#ifdef PEEK
#define listens		(is_service && hup && !wakeup)
#else
#define listens		(is_service && hup)
#endif
#endif

inline attach_views()
{
	if
	:: atomic { !view_lock -> view_done = view_head }	/* with the lock */
	:: view_lock		/* another thread is at it */
	fi
}

/* One nap: until something is there that the loop around it looks at. */
inline nap(also)
{
	if
	:: also
	:: attach_error -> error = true
	:: views_wait && !view_lock -> attach_views()
	:: listens -> error = true		/* attach_listen() */
	fi
}

inline attach_call()
{
	/* call_take() */
	do
	:: error -> break
	:: else ->
		if
		:: atomic { state == FREE_SLOT -> state = TAKEN };
			break
		:: state != FREE_SLOT -> nap(state == FREE_SLOT)
		fi
	od;
	if
	:: error
	:: else ->
		state = ASKED;
		/* service_await() */
		do
		:: state == ANSWERED || error -> break
		:: else -> nap(state == ANSWERED)
		od;
		do
		:: error || view_done >= views -> break
		:: else -> nap(view_done >= views)
		od;
		if
		:: error		/* the slot is of no more use to anybody */
		:: else -> state = FREE_SLOT
		fi
	fi
}

inline attach_views_lock()
{
	atomic { !view_lock -> view_lock = true }
}

active proctype service()
{
	bool is_service = true;

	do
	:: job_state == 1 ->			/* attach_job_do() */
		attach_views_lock();		/* run_close() */
		view_lock = false;
		attach_call();			/* IMPORT */
		attach_views_lock();		/* run_fill() */
		view_lock = false;
		attach_call();			/* IMPORTED */
		job_state = 2
	:: job_state != 1 && views_wait && !error && !view_lock -> attach_views()
	:: job_state != 1 && !error && (hup || wakeup || !alive) ->	/* poll() */
		wakeup = false;
		error = hup || !alive
	:: job_state != 1 && !living -> break	/* attach_service_end() */
	od
}

inline attach_job_lock()
{
	atomic { !job_taken -> job_taken = true }
}

inline attach_job_locked()
{
	job_state = 1;
	job_state == 2;
	job_state = 0
}

/* fl_reg_mr() of memory of the program's own. */
active proctype reg_mr()
{
	bool is_service;

	attach_job_lock();
	attach_job_locked();
	job_taken = false;
	attach_call();
	living--
}

/* Any system call, or a page fault. */
active proctype call()
{
	bool is_service;

	attach_call();
	living--
}

active proctype fork()
{
	attach_job_lock();			/* fork_prepare() */
#ifdef FLAG_FIRST
	attach_views_lock();
	attach_job_locked();
#else
	attach_job_locked();			/* JOB_STACK_OUT */
	attach_views_lock();
#endif
	view_lock = false;			/* fork_parent() */
	attach_job_locked();			/* JOB_STACK_BACK */
	job_taken = false;
	living--
}

/* It answers; an answer may hang on a view; it sends a wakeup now and then. */
active proctype board()
{
end:	do
	:: !hup && state == ASKED ->
		if
		:: view_head < 1 -> view_head++
		:: skip
		fi;
		if
		:: wakeup = true
		:: skip
		fi;
		atomic {
			if
			:: !hup ->
				views = view_head;
				state = ANSWERED
			:: hup
			fi
		}
	od
}

/* In order, by a signal, or never. */
active proctype board_ends()
{
	if
	:: alive = false; hup = true
	:: hup = true
	:: skip
	fi
}

ltl ends { <> (living == 0) }
