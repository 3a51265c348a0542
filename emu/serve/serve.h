/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve.h - boards for other processes: a listener (Unix socket) for each board, and
 * one thread, the I/O thread, that takes in what attached processes post and ask
 * (lib/attach/attach.h). Their system calls and page faults run in kernel
 * threads here; memory is shared, and nothing that a process writes is trusted.
 *
 * Files: serve.c (listeners,
		   life), listener.c (connecting), io_thread.c (the thread that
 * looks), client.c (one process: its life and its views), post.c (its doorbells),
 * syscall.c (its calls), sigbus.c (its memory, where its size is not fixed), keeper.c and
 * keep.c (its files, in processes of their own).
 */
#ifndef FL_SERVE_H
#define FL_SERVE_H

#include "host/host.h"

struct serve;

struct serve_config {
	struct sim *sim;
	/*
	 * How long a process may leave a command to close pages undone while
	 * others wait for the memory; then it is cut off. 0: 5000 ms.
	 */
	uint32_t patience_ms;
	bool others;		/* admit processes of other users */
};

#define SERVE_CLIENTS	24u	/* attached to one board at a time */
#define SERVE_WAITING	16u	/* connected, but HELLO has not come */
#define SERVE_HELLO_MS	2000u	/* so long has it for that */
#define SERVE_FILES	8u	/* descriptors that wait for MAP_FILE, a process */
/* Open here for each process at most, those of its calls and threads too. */
#define SERVE_FDS	256u

/* Threads mode only. NULL + *error. */
struct serve *serve_create(const struct serve_config *cfg, int *error);
/*
 * Open a listener for k's board at path (attach_path). -EADDRINUSE: a board with
 * this name is running; a socket that a dead board has left is taken over.
 */
int serve_open(struct serve *s, struct host_kernel *k, const char *path);
/* Cut everybody off, close the listeners, wait until all is given back. */
void serve_close(struct serve *s);
/* After serve_close(): free. */
void serve_destroy(struct serve *s);

struct serve_stats {
	uint64_t attached, refused, posts, calls, faults, cut_off, sleeps,
		handed_over;	/* the I/O thread's place, by one that had to wait */
};
void serve_stats(struct serve *s, struct serve_stats *st);

#endif
