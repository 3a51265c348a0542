/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_across.h - two applications and the boards between them, each in a process
 * of its own: this program is one application, a child the other, `faultline
 * board` a third. Both use the library as anybody would. Each has memory of the
 * board's that is a region; this one writes into the other's.
 */
#ifndef FL_BENCH_ACROSS_H
#define FL_BENCH_ACROSS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/faultline.h"
#include "tools/harness/board_process.h"

#define ACROSS_QUEUE 64u	/* requests under way, at most */

struct across {
	struct board_process board;
	struct child child;
	bool other;		/* this is the child */
	int line;			/* to the other application */
	uint64_t bytes;			/* of each memory */
	/* of this application */
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_qp *qp;
	struct fl_mr *mr;
	uint8_t *mem;
	/* of the other one */
	uint64_t peer_va;
	uint32_t peer_key;
};

/*
 * Start all three, all pages resident, run body, end them. The caller has no other
 * thread. bytes: a multiple of 4096.
 */
void across_run(uint64_t bytes, void (*body)(struct across *x, void *arg),
		void *arg);

/* Write len bytes at from to the other's memory at to. */
void across_post(struct across *x, uint64_t from, uint64_t to, uint32_t len);
/* The oldest completion, polling; a bad status ends the program. */
void across_take(struct across *x);

/* What the other application does when told; returns when it has. */
enum across_order {
	ACROSS_EVICT = 1,	/* at, len: of its own memory */
	ACROSS_TOUCH,		/* at, len: writes to each page */
	ACROSS_SUM,		/* at, len: *answer is their sum */
};
void across_tell(struct across *x, enum across_order o, uint64_t at,
		 uint64_t len, uint64_t *answer);
/*
 * Writes of 8 bytes to and fro, n times each way: whoever sees one in his memory
 * sends the next. ns one way.
 */
double across_ping(struct across *x, uint32_t n);
/* A call of the library that may not fail here. */
void across_good(int error, const char *what);

#endif
