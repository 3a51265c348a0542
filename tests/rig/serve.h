/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve.h - boards in a process of their own, a pair of well-behaved
 * processes that write, read back and compare all the time, and a client of the
 * raw protocol that may do what it likes.
 *
 * The test program itself has one thread: everything else is forked from it.
 */
#ifndef FL_RIG_SERVE_H
#define FL_RIG_SERVE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "faultline.h"
#include "host/host.h"
#include "harness.h"
#include "lib/attach/attach.h"
#include "lib/os/os.h"
#include "tools/harness/board_process.h"

#define RIG_PAGE	((uint32_t)HOST_PAGE)
#define RIG_ARENA	0x7d0000000000ull
#define RIG_LIMIT_S	120	/* of one forked process */
#ifdef __SANITIZE_THREAD__
#define RIG_TSAN	1
#else
#define RIG_TSAN	0
#endif

/* ---- boards ---- */

extern struct board_process rig_boards;
extern char rig_said[4000];

/* Boards a and b with these options of `faultline board`. */
void rig_start(const char *const *options);

bool rig_boards_live(void);

/*
 * They end in order, which means that their own check found every frame, page of
 * swap, table and queue in its place; and that nobody holds anything.
 */
void rig_end(void);

/* Fork; the child runs fn and ends with what it returns. */
pid_t rig_fork(int (*fn)(void *arg), void *arg);

/* Exit status, or -signal. */
int rig_wait(pid_t pid);

/* ---- a process that behaves: device, domain, queues, one region ---- */

struct rig_app {
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_qp *qp;
	struct fl_mr *mr;
	uint8_t *mem;
	size_t bytes;
};

struct rig_address {
	struct fl_address qp;
	uint64_t va;
	uint32_t rkey;
};

#define RIG_TRY(call)							       \
	do {								       \
		int err_ = (call);					       \
		if (err_ < 0) {						       \
			fprintf(stderr, "%d: %s: %s %s\n", (int)getpid(),      \
				#call, fl_strerror(err_), fl_open_error());    \
			return err_;					       \
		}							       \
	} while (0)

int rig_app_open(struct rig_app *a, unsigned int board, size_t bytes);
int rig_app_address(struct rig_app *a, struct rig_address *at);

/* Exactly n bytes, or -EPIPE. */
int rig_read(int fd, void *buf, size_t n);

/*
 * Tell and hear addresses over a socket, and connect; then wait until the other
 * has done so, since a queue pair that is not connected refuses what comes.
 */
int rig_app_connect(struct rig_app *a, int sock, struct rig_address *peer);

/* One request and its completion; the status, or negative errno. */
int rig_app_do(struct rig_app *a, const struct fl_work *w);

uint32_t rig_random(uint32_t *state);

/* ---- the pair ---- */

struct rig_pair {
	pid_t pid[2];
	int stop[2];		/* write ends: closed, they end */
	_Atomic uint32_t *rounds;	/* shared: so many were done */
	/*
	 * Shared: all that there is to know of both, valid once rounds is not 0. For
	 * those who try what they can do with it.
	 */
	struct rig_address *at;
};

void rig_pair_start(struct rig_pair *p);

/* They have done at least so many rounds, and end well. */
void rig_pair_end(struct rig_pair *p, uint32_t least);

/* In a process of its own; what it returned. */
static inline int rig_app_run(int (*fn)(void *arg), void *arg)
{
	return rig_wait(rig_fork(fn, arg));
}

/* A device connected with itself, and memory of so many bytes. */
int rig_app_loop(struct rig_app *a, size_t bytes);

#endif
