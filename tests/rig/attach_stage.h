/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach_stage.h - boards and the processes that attach to them, in one program and
 * in lockstep: library, listeners, port, kernel halves and keepers are the real ones, and
 * so are sockets and shared memory, but who runs next, and when, comes from the seed.
 *
 * A *party* is what would be a process with the library: its threads and its attachments.
 * It can be stopped for a while, and an attachment's socket can be cut in the middle
 * of a call; the boards can end without a word.
 *
 * In lockstep one thread runs at a time, so nothing here is locked.
 */
#ifndef FL_RIG_ATTACH_STAGE_H
#define FL_RIG_ATTACH_STAGE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/sim.h"
#include "lib/attach/internal.h"

#define STAGE
#include "sim/rng.h"
#include "rig/attach_turn.h"

struct stage_party {
	char name[16];
	unsigned int inside;	/* so many threads of it are in calls of the library */
	/* Of its turns inside the library from now on, the one that ...; 0: none */
	uint64_t cut_in, stop_in;
	int cut_fd;		/* an attachment's: its socket is cut; -1: none yet */
	uint64_t stop_ns;	/* so long it stops */
	unsigned int slow;	/* turns in the library take so many times as long */
	bool was_cut, was_stopped;
	uint64_t stopped_until_ns;
	unsigned int pauses;
};

struct stage_waiter {
	const _Atomic uint32_t *word;
	bool woken;
	struct sim_thread *party;	/* NULL: of the boards */
	struct stage_waiter *next;
};

struct stage {
	struct rng rng;
	uint64_t die_in;	/* turns of all parties; 0: the boards stay */
	bool aimed;		/* turns count only while an agent moves memory */
	bool boards_dead;
	atomic_uint touching;	/* threads that touch memory: nothing happens now */
	unsigned int pauses, slow;	/* of the boards' threads */
	uint64_t turns;
	struct stage_waiter *waiters;
};
extern struct stage stage;

extern _Thread_local struct stage_party *stage_me;

/* What each thread has for itself, of the stage and of the library. */
void stage_locals(struct sim *sim);

/* One of two is quick. */
static inline unsigned int stage_slow(void)
{
	return 1u << (rng_below(&stage.rng, 2) * rng_below(&stage.rng, 6));
}

void stage_begin(uint64_t seed);
uint64_t stage_now_ns(void);

/* ---- what goes wrong ---- */

/* The calling thread gives way. A thread of a party may be in a handler. */
void stage_rest(uint64_t ns);

#endif
