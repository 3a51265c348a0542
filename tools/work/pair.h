/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pair.h - the set-up of everything that is measured with two boards: process p on board
 * a and process q on board b, one link between them. What they have of buffers,
 * regions and connections is the job's.
 */
#ifndef FL_PAIR_H
#define FL_PAIR_H

#include "tools/scenario/testbed.h"

struct pair {
	struct testbed *w;
	struct testbed_board *a, *b;
	struct testbed_process *p, *q;
};

/* A plan of a process: its name and its number. */
struct pair_plan {
	enum fl_resolve resolve;
	uint32_t number;	/* of around:N; else 0 */
};

/* The boards, the link and the processes, with cfg's system. 0 or negative errno. */
int pair_make(struct pair *x, struct testbed *w,
	      const struct testbed_board_config board[2],
	      const struct pair_plan plan[2]);

/*
 * A testbed for script alone. 0; 1 and a sentence in problem: the testbed could not be
 * made, or found something wrong; -EDEADLK, with a sentence too: threads that can never
 * end still use arg.
 */
int pair_run(const struct testbed_config *cfg,
	     void (*script)(struct testbed *w, void *arg), void *arg,
	     char *problem, size_t problem_bytes);

#endif
