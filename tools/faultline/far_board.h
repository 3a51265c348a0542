/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * far_board.h - the second board of a job in a process of its own (`faultline board b`),
 * joined by UDP with the testbed that has the first.
 */
#ifndef FL_FAR_BOARD_H
#define FL_FAR_BOARD_H

#include "tools/faultline/job.h"
#include "tools/harness/board_process.h"
#include "tools/scenario/testbed_config.h"

struct far_board {
	struct board_process process;
	struct testbed_far far;		/* for testbed_config.far */
	char trace[FOLDER_PATH + 8];
	char link[2][64];		/* its own, and the testbed's */
};

/*
 * Start it with so many frames. The caller has no other thread. 0, or 1 with a sentence in
 * r->problem; then nothing is left of it.
 */
int far_board_start(struct far_board *b, const struct job *j, uint64_t frames,
		    struct job_result *r);
/* It ends, and what it counted is added to r; nothing is left of it. */
void far_board_end(struct far_board *b, struct job_result *r);

#endif
