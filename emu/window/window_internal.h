/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window_internal.h - what the files of emu/window share.
 *
 * All belongs to the window's thread but what is marked. The lines are changed by
 * whoever runs the board, between line_connect() and line_disconnect().
 */
#ifndef FL_WINDOW_INTERNAL_H
#define FL_WINDOW_INTERNAL_H

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "faultline/regs.h"
#include "faultline/window.h"
#include "os/os.h"
#include "os/os_emu.h"
#include "serve/sigbus.h"
#include "trace/trace.h"
#include "window/window.h"

#define CAUSES 256u	/* transfers whose last step is remembered, modulo */

/* A writer of entries: the driver (slot -1), or a process by its doorbell page. */
struct source {
	int slot;
	struct fl_window_entry *entry;
	uint32_t entries;
	uint32_t head;		/* ours; the guest only sees a copy */
	uint32_t *head_shown;
	uint32_t *asleep_shown;
	struct trace_last last;	/* what it did before, for the trace */
};

/* The driver's last step for a block of a transfer. */
struct cause {
	uint32_t xfer, block;
	uint64_t event;
};

struct guest {
	int sock;			/* -1: no guest */
	int memory, bell, vector[FL_WINDOW_VECTORS];
	uint8_t *bar;
	struct fl_window_head *head;
	int bank;			/* of its memory; -1: not mapped yet */
	atomic_bool cut;		/* its memory is not what it was (sigbus.h) */
	struct source driver, slot[NIC_DB_COUNT];
	struct cause cause[CAUSES];
	/* The board's threads as well. */
	atomic_uint levels;
	_Atomic uint64_t raised[FL_WINDOW_VECTORS];	/* trace: IRQ_RAISE */
};

struct window {
	struct window_config cfg;
	struct sim_thread *thread;
	int listener;
	int wake[2];			/* one end closed: look at stop */
	atomic_bool stop;
	bool guarded;			/* sigbus_begin() was called */
	struct guest guest;
	struct {
		atomic_ullong guests, writes, reads, notes, doorbells,
			interrupts, refused, bad, sleeps;
		atomic_bool present;
	} count;
};

/* Release: pairs with window_stats(); what was counted has been done. */
static inline void window_count(atomic_ullong *n)
{
	atomic_fetch_add_explicit(n, 1, memory_order_release);
}

/* ram.c */
/* The guest's memory becomes DRAM, if it is not yet; else said why not. */
int window_map_ram(struct window *w);

/* ivshmem.c */
int ivshmem_listen(const char *path, int *listener);
/* Somebody connects: the guest, or if there is one, nobody we want. */
void ivshmem_accept(struct window *w);
/* Something came from QEMU; false: it has hung up. */
bool ivshmem_read(struct window *w);
/* The sources of a guest are ready, the board's lines are not yet connected. */
void ivshmem_close(struct guest *g);

/* ring.c: how many entries were done; -1: the guest must go */
int ring_take(struct window *w);
void ring_begin(struct guest *g);
/* seq_cst: pairs with the guest's look at it after it wrote. */
void ring_say_asleep(struct guest *g, uint32_t asleep);

/* line.c */
void line_connect(struct window *w);
void line_disconnect(struct window *w);
/* The driver wrote registers of these units (bits of enum fl_window_vector). */
void line_again(struct window *w, unsigned int units);
/* All of them: there is something to see. */
void line_all(struct guest *g);

#endif
