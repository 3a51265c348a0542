/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_stuck.h - a hostile process that has something stuck in the boards'
 * process, and what must be true meanwhile: a pair of others makes rounds, a
 * new connection is let in, SIGTERM ends the boards, and nothing is left of them.
 *
 * What is judged is the order in which things happen. The limits of time are far
 * beyond anything that a busy machine needs.
 */
#ifndef FL_RIG_SERVE_STUCK_H
#define FL_RIG_SERVE_STUCK_H

#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>

#include "rig/fuse.h"
#include "rig/serve_raw.h"

#define STUCK_LIMIT_MS	60000

struct stuck {
	int ready[2];		/* the hostile process writes a byte: it is done */
	int arrived[2];		/* a request came that is never answered */
	struct fuse_test fuse;
	pid_t pid;
};

/* Shared with the children: what they started and the test has to end. */
extern struct stuck *stuck;

/* ---- sockets that take an hour to close ---- */

/* One that has such a socket in its queue, which is in another's queue, ... */
int stuck_nested(unsigned int depth);

/* Close it, in a thread: if it was refused, this is its last place, and waits. */
void stuck_close(int fd);

/* ---- the hostile process and those beside it ---- */

void stuck_is_ready(void);

/* A byte; 0, or -1: none came in STUCK_LIMIT_MS. */
int stuck_hear(int fd);

void stuck_clean(void *arg);
void stuck_create(void);

/* The pair makes so many more rounds, however long that takes. */
bool stuck_pair_goes_on(struct rig_pair *p, uint32_t rounds);

/* Entries of a folder of the boards' process: fd, task. */
unsigned int stuck_entries(const char *what);

#define STUCK_FAMILY 64u

/* Processes that pid has started, and those that they have; how many there are. */
unsigned int stuck_children(pid_t pid, pid_t *child, unsigned int n);

/* SIGTERM while it is all stuck: the boards end, and nothing of them is left. */
void stuck_end(void);

/* fn is the hostile process: it ends with stuck_is_ready(), or returns why not. */
void stuck_fork(struct rig_pair *p, int (*fn)(void *arg));

void stuck_begin(struct rig_pair *p, int (*fn)(void *arg),
		 const char *const *options);
void stuck_beside(struct rig_pair *p);
void stuck_test(int (*fn)(void *arg), const char *const *options);

#endif
