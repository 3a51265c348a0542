/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * child.h - a process that this program forks, and the line between the two: boards
 * (board_process.h), processes of a scenario (fork_server.h), programs that are run. This is
 * the one place of tools/ that forks for them, waits for them and says how they ended. (The
 * grader forks by itself: a subject has a session and walls of its own, and ends by force.)
 *
 * The line is a stream socket. The other end of it closes when this program ends, however it
 * does, so a child that reads the line ends as well. One that becomes another program says
 * os_end_with_parent() first.
 */
#ifndef FL_CHILD_H
#define FL_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;	/* 0: none */
	int line;	/* our end, closed on exec; -1: none */
};

/*
 * Fork, and run fn there with the child's end of the line; what it returns is the exit
 * status. What stands in stdio's buffers is written before. In the child SIGSEGV and SIGBUS
 * are the system's again: a sanitizer's own handlers would turn a crash into an exit. The
 * caller has no other thread (fork_server.h is for one that has). 0 or negative errno.
 */
int child_start(struct child *c, int (*fn)(int line, void *arg), void *arg);
/* Close our end of the line. */
void child_hang_up(struct child *c);
/*
 * Wait for its end, after signal sig if that is not 0: its exit status, or -signal; 0 if
 * there is none (any more).
 */
int child_end(struct child *c, int sig);
/* Has it ended by itself? Then *status is as of child_end(). */
bool child_ended(struct child *c, int *status);
/* A status in words: "status 1", "signal 11 (Segmentation fault)". */
#define CHILD_WORDS 64
const char *child_words(int status, char words[CHILD_WORDS]);

#endif
