/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork_server.h - processes for a program that has threads and so must not fork: a
 * child that is forked before there are any forks the others when it is asked to.
 * Each of them takes commands (rpc.h) from a socket and ends with it.
 *
 * When the program ends, however it does, so do the fork server and all its children.
 */
#ifndef FL_NURSERY_H
#define FL_NURSERY_H

#include <stdint.h>
#include <sys/types.h>

struct fork_server {
	pid_t pid;		/* 0: none */
	int line;
};

/*
 * The caller has no other thread. 0 or negative errno. Where memory of each process
 * lies comes from the seed and from how many there were before it.
 */
int fork_server_start(struct fork_server *n, uint64_t seed);
/* A new process, and the socket that it takes commands from. One thread at a time. */
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
