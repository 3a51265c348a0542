// SPDX-License-Identifier: BSD-2-Clause
/*
 * window.pml - the sleep of a window's thread (window.c, ring.c, ivshmem.c) beside
 * guests that come, speak and go as they like. A model for Spin, checked
 * exhaustively by `make models`.
 *
 * What must hold: every entry of a guest is done, or the guest is cut off; no entry of
 * a driver is done before the guest's memory is mapped, and a driver whose memory cannot be
 * mapped is cut off; everybody who dials is accepted or turned away; the end of the
 * window ends its thread.
 *
 * Each guest has memory of its own (said, done, asleep, bell: arrays). It may be killed
 * between its steps, but not while it waits, so that a wait without an end shows. poll()
 * reports levels, not edges. Two sources stand for the driver's ring and the doorbell
 * pages, one empty look for the SPINS before a sleep, and a look at the sockets may come
 * in every round (SOCKETS_EVERY).
 *
 * Left out: answers (an answer comes before done), rings that are full (a place is waited
 * for by polling), interrupts towards the guest, and memory that is weaker than
 * sequential: on both sides what is written before a look is seq_cst.
 *
 * Two cases: RINGS, one guest with a driver and a process; DIALS, two guests.
 *
 * mode RINGS
 * mode DIALS
 *
 * bug TWO_LOOKS (RINGS): one look decides about the memory, and a later one what is done
 * bug LOOK_BEFORE_ASLEEP (RINGS): the window looks once more, and then says that it sleeps
 * bug PAGES_UNSAID (RINGS): it says so in the head alone, not in the doorbell pages
 * bug GUEST_LOOKS_FIRST (RINGS): a guest looks whether the window sleeps, and then writes
 * bug BELL_TAKEN_LATE (RINGS): the bell is taken between the last look and the sleep
 * bug HANG_UP_UNHEARD (DIALS): a window that sleeps does not poll its guest's socket
 * bug END_WAKES_NOBODY (DIALS): the window ends, and a thread that sleeps is not woken
 */
#ifdef RINGS
#define GUESTS	1
#define ENTRIES	2	/* of a driver */
#else
#define GUESTS	2
#define ENTRIES	1
#endif
#define NOBODY	GUESTS

chan listener = [GUESTS] of { byte };
bool accepted[GUESTS], closed[GUESTS];	/* the window's end of a socket */
bool gone[GUESTS];			/* the guest's end */
bool bad_memory[GUESTS], bell[GUESTS];
byte said[GUESTS], done[GUESTS];	/* the driver's ring */
bool asleep[GUESTS];
bool page_said[GUESTS], page_done[GUESTS];	/* a doorbell page */
bool page_asleep[GUESTS];
bool stop, wake;			/* struct window; wake: its pipe hung up */
bool ended;				/* the thread, and the listener */
byte living = 3;	/* guest and process, or two guests; window_destroy() */

/* ---- the window's thread ---- */

/* Neither side has it any longer, so what stood there makes no more states. */
inline memory_free(i)
{
	if
	:: closed[i] && gone[i] ->
		said[i] = 0;
		done[i] = 0;
		bell[i] = false;
		asleep[i] = false;
		bad_memory[i] = false;
		accepted[i] = false
	:: else
	fi
}

inline guest_end()
{
	d_step {
		closed[guest] = true;
		memory_free(guest);
		guest = NOBODY;
		mapped = false
	}
}

inline look_at_rings()
{
	some = false;
	if
	:: guest != NOBODY && !mapped && said[guest] > done[guest] ->
		if		/* window_map_ram() */
		:: bad_memory[guest] -> guest_end(); some = true
		:: else -> mapped = true
		fi
	:: else
	fi;
	do
#ifdef TWO_LOOKS
	:: guest != NOBODY && said[guest] > done[guest] ->
#else
	:: guest != NOBODY && mapped && said[guest] > done[guest] ->
#endif
		assert(mapped);
		done[guest]++;
		some = true
	:: else -> break
	od;
#ifdef RINGS
	if
	:: guest != NOBODY && page_said[guest] && !page_done[guest] ->
		page_done[guest] = true;
		some = true
	:: else
	fi
#endif
}

inline ring_say_asleep(value)
{
#if defined(RINGS) && !defined(PAGES_UNSAID)
	page_asleep[guest] = value;
#endif
	asleep[guest] = value
}

#ifdef HANG_UP_UNHEARD
#define socket_ready	false
#else
#define socket_ready	(guest != NOBODY && gone[guest])
#endif
#define bell_ready	(guest != NOBODY && bell[guest])
#define listener_ready	nempty(listener)

/* What poll() reports is of one moment, and handled when it may be old. */
inline sockets_report()
{
	on_socket = socket_ready;
	on_bell = bell_ready;
	on_listener = listener_ready
}

inline ivshmem_accept()
{
	listener?who;
	if
	:: d_step { guest != NOBODY ->		/* turned away */
		closed[who] = true;
		memory_free(who)
		}
	:: d_step { else ->
		guest = who;
		accepted[who] = true
		}
	fi;
	who = 0
}

inline sockets_handle()
{
	if
	:: on_bell -> d_step { bell[guest] = false; on_bell = false }
	:: else
	fi;
	if
	:: on_socket -> on_socket = false; guest_end()
	:: else
	fi;
	if
	:: on_listener -> on_listener = false; ivshmem_accept()
	:: else
	fi
}

active proctype window_main()
{
	byte guest = NOBODY, who;
	bool mapped, some, idle, sleeps, on_socket, on_bell, on_listener;

	do
	:: stop -> break
	:: else ->
		look_at_rings();
		if
		:: d_step { sockets_report() };	/* without waiting */
			sockets_handle()
		:: skip
		fi;
		if
		:: guest != NOBODY && (some || !idle) ->
			atomic { idle = !some; some = false }
		:: else ->
			/* window_sleep_until_called() */
			atomic { idle = false; sleeps = true; some = false };
			if
			:: guest != NOBODY ->
#ifdef LOOK_BEFORE_ASLEEP
				look_at_rings();
				if
				:: guest != NOBODY -> ring_say_asleep(true)
				:: else
				fi;
#else
				ring_say_asleep(true);
				look_at_rings();
#endif
#ifdef BELL_TAKEN_LATE
				if
				:: guest != NOBODY -> bell[guest] = false
				:: else
				fi;
#endif
				atomic { sleeps = !some; some = false }
			:: else
			fi;
			if
			:: sleeps ->
end:				d_step {
					socket_ready || bell_ready ||
					listener_ready || wake;
					sockets_report();
					sleeps = false
				};
				sockets_handle()
			:: else
			fi;
			if
			:: guest != NOBODY -> ring_say_asleep(false)
			:: else
			fi
		fi
	od;
	if
	:: guest != NOBODY -> guest_end()
	:: else
	fi;
	ended = true
}

/* ---- guests ---- */

#define cut_off(i)	(closed[i] || ended)

/* An entry of the driver, or of a process in its page. */
#ifdef GUEST_LOOKS_FIRST
#define guest_write(i, entry, sees_asleep) look = sees_asleep; entry
#else
#define guest_write(i, entry, sees_asleep) entry; look = sees_asleep
#endif

inline guest_ring(i)
{
	if
	:: look -> bell[i] = true
	:: else
	fi
}

inline guest_await(i)
{
	(done[i] == said[i] && !bad_memory[i]) || cut_off(i)
}

proctype guest(byte i)
{
	bool look, alone;

	if
	:: bad_memory[i] = true
	:: skip
	fi;
	if
	:: i > 0 -> cut_off(i - 1); alone = true	/* its place is free */
	:: skip
	fi;
	listener!i;
	/* It is killed, or turned away, or begins. */
	if
	:: skip
	:: cut_off(i) -> assert(!alone || accepted[i] || ended)
	:: accepted[i] ->
		do
		:: said[i] < ENTRIES ->
			guest_write(i, said[i]++, asleep[i]);
			guest_ring(i);
			if
			:: guest_await(i)
			:: skip
			fi
		:: said[i] > 0 ->
			guest_await(i);
#ifdef RINGS
			page_done[i] || cut_off(i);
#endif
			break
		:: skip -> break		/* killed */
		od
	fi;
	atomic {
		gone[i] = true;
		memory_free(i);
		look = false;
		living--
	}
}

/* The driver has given it a page; it ends with its guest at the latest. */
proctype process(byte i)
{
	bool look;

	if
	:: done[i] > 0 ->
		guest_write(i, page_said[i] = true, page_asleep[i]);
		guest_ring(i);
		page_done[i] || gone[i] || cut_off(i)
	:: gone[i] || cut_off(i)
	fi;
	living--
}

/* ---- the end of the window, or none ---- */

active proctype window_destroy()
{
	if
	:: stop = true;
#ifndef END_WAKES_NOBODY
		wake = true;
#endif
		ended
	:: skip
	fi;
	living--
}

init
{
	atomic {
		run guest(0);
#ifdef RINGS
		run process(0)
#else
		run guest(1)
#endif
	}
}

ltl ends { <> (living == 0) }
