/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plans.h - what "plans" and "contest" share: plans by their words, and the table of
 * plans and patterns.
 */
#ifndef FL_PLANS_H
#define FL_PLANS_H

#include "tools/faultline/options.h"
#include "tools/scenario/words.h"
#include "tools/work/plan_run.h"

#define PLANS_MOST	16u

struct plans_row {
	char name[WORD_ROOM];
	enum fl_resolve resolve;
	uint32_t number;
	struct plan_result r[PATTERNS];
};

struct plans {
	struct plan_run run;	/* of all; pattern and plan change */
	struct plans_row row[PLANS_MOST];
	unsigned int rows;
	bool pattern[PATTERNS];	/* which are wanted */
};

/* Options of both commands; they come first. */
enum { PLANS_PATTERNS, PLANS_FRAMES, PLANS_DEPTH, PLANS_CSV, PLANS_OWN };
#define PLANS_OPTIONS							\
	{ "--patterns", "LIST", "of forward,backward,stride,column,random,log " \
	  "(default: all)" },						\
	{ "--frames", "N", "of the board whose pages are missing (default 512)" }, \
	{ "--depth", "N", "requests that are under way at a time (default 4)" }, \
	{ "--csv", "FILE", "the table once more, for a spreadsheet" }

/* Options and the driver's plans; list: of plans, or NULL: all. 0 or 2. */
int plans_begin(const struct command *c, const struct options *o,
		const char *list, struct plans *p);
/* One row: each pattern that is wanted. 0 or 1 after a message. */
int plans_measure(const struct command *c, struct plans *p, unsigned int row);
void plans_print(const struct plans *p);
/* 0, or 1 after a message. */
int plans_write_csv(const struct command *c, const struct plans *p,
		    const char *path);

#endif
