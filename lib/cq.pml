// SPDX-License-Identifier: BSD-2-Clause
/*
 * cq.pml - arm, look, sleep: how a thread waits for a completion, from the library
 * (cq.c) through doorbells and firmware (fw_cq.c, fw_event.c) to the driver
 * (fl_cq.c). A model for Spin, checked exhaustively by `make models`.
 *
 * What must hold: each completion is taken or fl_wait() reports an error, at whatever
 * moments completions come, limits of time are over, polls ask the driver, the queue
 * breaks and the card goes.
 *
 * Left out: the counter that decides when a poll asks (any poll that may ask can),
 * CQ_CONS (the queue always has room, but it may break), and all numbers of events
 * and wake-ups, of which only "since the last look" counts.
 *
 * bug SECOND_LOOK_ASKS: the look between arming and sleeping asks the driver
 * bug ARM_COMPARES_NOTHING: arming ignores what came before the card saw the doorbell
 * bug LOOK_BEFORE_SEQ: the driver looks, and only then notes the count of wake-ups
 * bug END_WAKES_NOBODY: the card goes, and those who sleep are not woken
 */
#define COMPLETIONS	2
#define LIMITS		1	/* waits that may end by their limit of time */

chan cq_arm = [2] of { byte };	/* doorbells: how many entries were taken */
byte prod;			/* entries that the card has written */
bool armed, broken;		/* firmware: struct fw_cq */
bool pending, overflow_pending;	/* firmware: one bit for each kind of event */
bool event, overflow, gone;	/* driver: struct fl_cq; event: events != seen */
bool seq_moved;			/* its wait queue was woken since seq was noted */
byte taken, limits;		/* library */
bool error;

/* ---- driver ---- */

#define fl_cq_news	(gone || overflow || event)

/* FL_IOC_WAIT_CQ takes the event, or says what is wrong; both under irq_lock. */
inline fl_cq_news_take()
{
	d_step {
		if
		:: gone || overflow -> error = true
		:: else -> event = false
		fi
	}
}

inline wake_up_all()
{
	seq_moved = true
}

inline fl_cq_wait(limited)
{
	do
#ifdef LOOK_BEFORE_SEQ
	:: fl_cq_news -> break
	:: !fl_cq_news -> seq_moved = false;
#else
	:: seq_moved = false;
	   if
	   :: fl_cq_news -> break
	   :: else
	   fi;
#endif
	   if
	   :: seq_moved
	   :: limited -> timed_out = true; break
	   fi
	od;
	if
	:: timed_out
	:: else -> fl_cq_news_take()
	fi
}

/* ---- library ---- */

inline cq_look(may_ask)
{
	got = false;
	if
	:: taken < prod ->
		taken++;
		got = true
	:: else ->
		if
		:: may_ask && fl_cq_news -> fl_cq_news_take()	/* cq_ask() */
		:: skip
		fi
	fi
}

active proctype fl_wait()
{
	bool got, limited, timed_out;

	do
	:: taken == COMPLETIONS || error -> break
	:: else ->
		limited = false;
		timed_out = false;
		if
		:: limits < LIMITS -> limits++; limited = true
		:: skip
		fi;
		cq_look(true);
		do
		:: got || error || timed_out -> break
		:: else ->
			if		/* cq_tell() */
			:: cq_arm!taken
			:: gone
			fi;
#ifdef SECOND_LOOK_ASKS
			cq_look(true);
#else
			cq_look(false);
#endif
			if
			:: got || error -> break
			:: else
			fi;
			fl_cq_wait(limited);
			/* What came is worth more than why the sleep ended. */
			if
			:: taken < prod -> cq_look(true); error = false
			:: else
			fi
		od
	od
}

/* ---- firmware: one thing at a time, until the card goes ---- */

active proctype firmware()
{
	byte cons;

end:	do
	:: prod < COMPLETIONS && !broken && !gone ->		/* fw_cq_push() */
		prod++;
		if
		:: armed -> armed = false; pending = true
		:: else
		fi
	:: atomic { !gone && nempty(cq_arm) ->		/* fw_cq_arm() */
		cq_arm?cons;
		if
		:: broken -> overflow_pending = true
#ifndef ARM_COMPARES_NOTHING
		:: !broken && prod != cons -> pending = true
		:: !broken && prod == cons -> armed = true
#else
		:: !broken -> armed = true
#endif
		fi }
	od
}

/* fw_event_step() and the driver's fl_irq_event(). */
active proctype fl_eq_one()
{
end:	do
	:: overflow_pending -> overflow_pending = false; overflow = true;
		wake_up_all()
	:: pending -> pending = false; event = true; wake_up_all()
	od
}

/* The queue breaks, and the card is taken away; or neither ever happens. */
active proctype cq_break()
{
	if
	:: d_step { broken = true; armed = false; overflow_pending = true }
	:: skip
	fi
}

active proctype fl_remove()
{
	if
	:: gone = true;
#ifndef END_WAKES_NOBODY
		wake_up_all()
#endif
	:: skip
	fi
}

ltl ends { <> (taken == COMPLETIONS || error) }
