// SPDX-License-Identifier: BSD-2-Clause
/*
 * window.c - life of a window, and its thread, which looks at what the guest writes
 * as long as there is something; else it sleeps, and says so, so that who writes
 * rings. It runs the board's hardware itself: a register write runs what that has
 * made ready before it returns.
 *
 * window.pml is a model of its sleep.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "window/window_internal.h"
#include "board/dram.h"
#include "sim/sim.h"

#define SOCKETS_EVERY	256u	/* rounds between two looks at the sockets */
/*
 * Empty rounds before it sleeps, some microseconds: as long as a driver takes from
 * one read to the next. More of them, or yielding, take the CPU that the guest
 * waits for: on two busy CPUs a read then took ten times as long.
 */
#define SPINS		50u

/* ---- guests come and go ---- */

static void window_changed(struct window *w, bool present)
{
	atomic_store(&w->count.present, present);
	if (w->cfg.changed)
		w->cfg.changed(w->cfg.arg);
}

static void guest_begin(struct window *w)
{
	ivshmem_accept(w);
	if (w->guest.sock < 0)
		return;
	window_count(&w->count.guests);
	window_changed(w, true);
}

/*
 * As when a card loses its power: whatever was under way is gone, its peers hear
 * nothing more, and only then is the memory given back that it worked on.
 */
static void guest_end(struct window *w)
{
	struct guest *g = &w->guest;
	unsigned int open = board_open_slots(w->cfg.board);
	int i;

	/* Whoever switches a machine off in order lets its processes end first. */
	if (open && !atomic_load(&w->stop))
		fprintf(stderr, "faultline: board %s: the guest has gone while "
			"%u of its processes had the card open\n",
			board_name(w->cfg.board), open);
	line_disconnect(w);
	board_reset(w->cfg.board);
	if (g->bank >= 0) {
		dram_bank_remove(board_dram(w->cfg.board), g->bank);
		sigbus_remove(&g->cut);
	}
	for (i = 0; i < NIC_DB_COUNT; i++)
		((struct fl_window_doorbell *)(g->bar +
			FL_WINDOW_DOORBELL_OFFSET(i)))->alive = 0;
	/* Release: who sees it need not wait for anything more. */
	__atomic_store_n(&g->head->alive, 0, __ATOMIC_RELEASE);
	line_all(g);
	ivshmem_close(g);
	window_changed(w, false);
}

/* ---- the thread ---- */

/* What the sockets have; wait for it when timeout_ms says so. */
static void window_look_at_sockets(struct window *w, int timeout_ms)
{
	struct pollfd fd[] = {
		{ .fd = w->wake[0], .events = POLLIN },
		{ .fd = w->listener, .events = POLLIN },
		/* -1 is nobody's. */
		{ .fd = w->guest.sock, .events = POLLIN },
		{ .fd = w->guest.bell, .events = POLLIN },
	};

	if (poll(fd, 4, timeout_ms) <= 0)
		return;
	if (fd[3].revents)
		os_interrupt_take(w->guest.bell);
	if (fd[2].revents && !ivshmem_read(w))
		guest_end(w);
	if (fd[1].revents && w->guest.sock >= 0)
		ivshmem_accept(w);
	else if (fd[1].revents)
		guest_begin(w);
}

static int look_at_rings(struct window *w)
{
	int n;

	if (w->guest.sock < 0)
		return 0;
	n = ring_take(w);
	if (atomic_load_explicit(&w->guest.cut, memory_order_relaxed)) {
		fprintf(stderr, "faultline: board %s: the guest's memory %s has "
			"become smaller, or its file system is full; the guest "
			"is cut off\n", board_name(w->cfg.board), w->cfg.ram);
		n = -1;
	}
	if (n < 0)
		guest_end(w);
	return n;
}

static void window_sleep_until_called(struct window *w)
{
	if (w->guest.sock < 0) {
		window_look_at_sockets(w, -1);
		return;
	}
	ring_say_asleep(&w->guest, 1);
	/* An entry that was written just before is found by this look. */
	if (!look_at_rings(w)) {
		window_count(&w->count.sleeps);
		window_look_at_sockets(w, -1);
	}
	if (w->guest.sock >= 0)
		ring_say_asleep(&w->guest, 0);
}

static void window_main(void *arg)
{
	unsigned int idle = 0, rounds = 0;
	struct window *w = arg;

	while (!atomic_load(&w->stop)) {
		idle = look_at_rings(w) ? 0 : idle + 1;
		if (++rounds % SOCKETS_EVERY == 0)
			window_look_at_sockets(w, 0);
		if (idle > SPINS || w->guest.sock < 0) {
			window_sleep_until_called(w);
			idle = 0;
		} else if (idle) {
			os_pause();
		}
	}
	if (w->guest.sock >= 0)
		guest_end(w);
}

/* ---- life ---- */

static void window_close_all(struct window *w)
{
	if (w->guarded)
		sigbus_end();
	if (w->listener >= 0) {
		close(w->listener);
		if (unlink(w->cfg.socket))
			fprintf(stderr, "faultline: %s is left: %s\n",
				w->cfg.socket, strerror(errno));
	}
	if (w->wake[0] >= 0)
		close(w->wake[0]);
	if (w->wake[1] >= 0)
		close(w->wake[1]);
	free((char *)w->cfg.socket);
	free((char *)w->cfg.ram);
	free(w);
}

static int window_make(struct window *w)
{
	int err = os_interrupt_create();

	if (err < 0)
		return err;
	close(err);	/* only whether there is such a thing */
	if (!w->cfg.socket || !w->cfg.ram)
		return -ENOMEM;
	if (sim_mode(board_sim(w->cfg.board)) != SIM_THREADS)
		return -ENOTSUP;
	if (pipe(w->wake)) {
		w->wake[0] = w->wake[1] = -1;
		return -errno;
	}
	err = sigbus_begin();
	w->guarded = !err;
	err = err ? err : os_set_nonblocking(w->wake[0]);
	err = err ? err : os_set_nonblocking(w->wake[1]);
	return err ? err : ivshmem_listen(w->cfg.socket, &w->listener);
}

struct window *window_create(const struct window_config *cfg, int *error)
{
	struct window *w = calloc(1, sizeof(*w));
	unsigned int i;

	*error = -ENOMEM;
	if (!w)
		return NULL;
	w->cfg = *cfg;
	w->cfg.socket = strdup(cfg->socket);
	w->cfg.ram = strdup(cfg->ram);
	if (!w->cfg.ram_base)
		w->cfg.ram_base = WINDOW_RAM_BASE;
	w->listener = w->wake[0] = w->wake[1] = -1;
	w->guest.sock = w->guest.memory = w->guest.bell = -1;
	for (i = 0; i < FL_WINDOW_VECTORS; i++)
		w->guest.vector[i] = -1;
	*error = window_make(w);
	if (!*error) {
		w->thread = sim_thread_start(board_sim(cfg->board), "window",
					     true, window_main, w);
		*error = w->thread ? 0 : -ENOMEM;
	}
	if (!*error)
		return w;
	window_close_all(w);
	return NULL;
}

void window_destroy(struct window *w)
{
	atomic_store(&w->stop, true);
	/* This wakes the thread: poll() reports the hang-up each time. */
	close(w->wake[1]);
	w->wake[1] = -1;
	sim_thread_join(w->thread);
	window_close_all(w);
}

void window_stats(struct window *w, struct window_stats *st)
{
	*st = (struct window_stats){
		.guests = atomic_load(&w->count.guests),
		.present = atomic_load(&w->count.present),
		.writes = atomic_load(&w->count.writes),
		.reads = atomic_load(&w->count.reads),
		.notes = atomic_load(&w->count.notes),
		.doorbells = atomic_load(&w->count.doorbells),
		.interrupts = atomic_load(&w->count.interrupts),
		.refused = atomic_load(&w->count.refused),
		.bad = atomic_load(&w->count.bad),
		.sleeps = atomic_load(&w->count.sleeps),
	};
}
