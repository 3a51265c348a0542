/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork_server.h - processes for a program that has threads and so must not fork: a
 * child that is forked before there are any forks the others when it is asked to.
 * Each of them serves a line (child.h) and ends with it.
 *
 * When the program ends, however it does, so do the fork server and all its children.
 *
 * Whoever has no thread yet forks by itself (child_start()): boards (board_process.h) are
 * ready before the program has threads, and processes of a scenario come in the midst of it.
 */
#ifndef FL_FORK_SERVER_H
#define FL_FORK_SERVER_H

#include <stdint.h>

#include "tools/harness/child.h"

struct fork_server {
	struct child child;
	/* In the processes. */
	void (*serve)(int line);
	uint64_t seed;
};

/*
 * Each process will call serve() with its end of the line. The caller has no other thread.
 * 0 or negative errno. Where memory of each process lies comes from the seed and from how
 * many there were before it.
 */
int fork_server_start(struct fork_server *n, uint64_t seed,
		      void (*serve)(int line));
/* A new process, and our end of its line. One thread at a time. */
int fork_server_fork(struct fork_server *n, pid_t *pid, int *line);
/*
 * Wait for the end of a process, with kill: by force. *status: its exit status,
 * or -signal. The socket is closed.
 */
int fork_server_reap(struct fork_server *n, pid_t pid, int line, int kill,
		     int *status);
/* Ends it and all that are left. */
void fork_server_end(struct fork_server *n);

#endif
