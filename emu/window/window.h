/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - a board whose software is a guest in QEMU.
 *
 * The guest sees the card as QEMU's ivshmem device: memory that it shares with us
 * (faultline/window.h says what stands where), interrupts in both directions, and
 * its own memory, a file that is the board's DRAM. One thread for each window takes
 * in what the guest writes and runs the board. Nothing that the guest writes is
 * trusted: each entry is copied once, then checked, and what makes no sense is
 * dropped and counted.
 *
 * Files: window.c (life, the thread), ivshmem.c (the socket, QEMU's protocol), ring.c
 * (entries: registers, notes), line.c (interrupts towards the guest).
 */
#ifndef FL_EMU_WINDOW_H
#define FL_EMU_WINDOW_H

#include "board/board.h"

/* Where QEMU's machine "virt" has its memory. */
#define WINDOW_RAM_BASE 0x40000000ull

struct window;

struct window_config {
	struct board *board;	/* with no other software; threads mode */
	const char *socket;	/* where QEMU connects (-chardev socket) */
	/*
	 * The guest's memory (memory-backend-file, share=on). Looked at when the
	 * guest's driver says its first word: then QEMU has made it.
	 */
	const char *ram;
	uint64_t ram_base;	/* 0: WINDOW_RAM_BASE */
	/* A guest has come or gone; called in the window's thread. Or NULL. */
	void (*changed)(void *arg);
	void *arg;
};

/*
 * Listens when this returns. NULL + *error: -ENOSYS the system has no interrupts
 * between programs, -ENOTSUP not threads mode, -EADDRINUSE somebody serves
 * this socket, -EEXIST what is there is no socket, -ENAMETOOLONG, others as of
 * bind(). A socket that a dead server left is taken over.
 */
struct window *window_create(const struct window_config *cfg, int *error);
/* Tell the guest, hang up, wait for the thread, free. The board stays. */
void window_destroy(struct window *w);

struct window_stats {
	uint64_t guests;	/* that ever came */
	bool present;		/* one is there now */
	uint64_t writes, reads, notes;	/* of the driver's ring */
	uint64_t doorbells;	/* of all processes, notes included */
	uint64_t interrupts;	/* sent to the guest */
	uint64_t refused;	/* registers that the card refused */
	uint64_t bad;		/* entries that make no sense, dropped */
	uint64_t sleeps;
};
void window_stats(struct window *w, struct window_stats *st);

#endif
