/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - boards behind windows, each with a guest in C, and QEMU's part
 * of it: connecting, memory.
 */
#ifndef FL_RIG_WINDOW_H
#define FL_RIG_WINDOW_H

#include "fabric/fabric.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "rig/window_guest.h"
#include "trace/trace.h"

#define RIG_BOARDS	3

struct rig {
	char dir[64];
	bool folders;		/* a folder for each guest (faultline vm) */
	struct sim *sim;
	struct trace *trace;
	struct timing_profile timing;
	struct fabric *fabric;
	struct board *board[RIG_BOARDS];
	struct window *window[RIG_BOARDS];
	struct rig_guest guest[RIG_BOARDS];
	atomic_uint changes;
};

extern struct rig rig;

static inline bool rig_on_linux(void)
{
	return !strcmp(os_system(), "linux");
}

const char *rig_path(unsigned int i, const char *what);

/* ---- what stands still ---- */

struct window_stats rig_stats(unsigned int i);

/* ---- a guest: QEMU's part ---- */

int rig_dial(unsigned int i);

/* A message of 8 bytes; *fd: what came with it, or -1. False: hung up. */
bool rig_hear(int sock, int64_t *number, int *fd);

void rig_ram(struct rig_guest *g, unsigned int i);

/*
 * As QEMU does: first the card, then the memory. A window counts its guest after it has
 * told it everything; whoever looks at the window's counters afterwards sees this guest.
 */
struct rig_guest *rig_connect(unsigned int i);

void rig_forget(struct rig_guest *g);
void rig_hang_up(unsigned int i);

/* Both ends of a pair, each guest's board has its number as node. */
void rig_pair(unsigned int i, unsigned int k);

/* Write all pages from i to k and compare. */
void rig_transfer(unsigned int i, unsigned int k, uint64_t seed);

/* ---- boards ---- */

void rig_open_window(unsigned int i);

/* Boards 0 to n - 1, each linked with each; no windows yet. */
void rig_boards(unsigned int n, uint64_t timeout_ns);

void rig_end(void);

/* n boards with a guest each, which has a process. */
void rig_start(unsigned int n, uint64_t timeout_ns);

#define RIG_LONG	1000000000ull	/* a time-out that never strikes */
#define RIG_SHORT	100000000ull	/* one that does, but not under load */

#endif
