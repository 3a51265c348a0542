/* SPDX-License-Identifier: BSD-2-Clause */
/* runner_internal.h - shared by runner.c, run_act.c, run_work.c and run_expect.c. */
#ifndef FL_RUNNER_INTERNAL_H
#define FL_RUNNER_INTERNAL_H

#include "fabric/fabric.h"
#include "tools/scenario/runner.h"
#include "tools/scenario/testbed.h"

#define RUN_NAMES 512

struct run {
	const struct scenario *s;
	struct testbed *w;
	FILE *out;
	bool verbose;
	struct testbed_system system;
	enum fl_resolve resolve;
	uint32_t resolve_number;
	struct testbed_board *board[RUN_NAMES];
	struct testbed_process *process[RUN_NAMES];
	struct testbed_buffer *buffer[RUN_NAMES];
	struct testbed_connection *conn[RUN_NAMES];
	struct testbed_counter *counter[RUN_NAMES];	/* NULL: it was not made */
	struct testbed_counter counters[RUN_NAMES];
	struct testbed_work work[RUN_NAMES];
	struct fabric_inject inject[16][16];
	uint32_t left[64];		/* rounds of the repeats that are open */
	char **transcript;
	size_t lines, room;
	struct runner_report *report;
	char doing[512];		/* the statement, for a program that has to end */
	char got[300];			/* filled in by a failed expectation */
};

/* One more line of the transcript, indented under its statement. */
void run_note(struct run *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* 0 or negative errno. */
int run_act(struct run *r, const struct statement *st);
/* run_work.c: connect; post, send, receive, atomic. */
int run_connect(struct run *r, const struct statement *st);
int run_post(struct run *r, const struct statement *st);

enum held { HELD, NOT_HELD, NOT_CHECKED };
/* got says what was found, for all three. */
enum held run_expect(struct run *r, const struct statement *st);
int run_print(struct run *r, const struct statement *st);

#endif
