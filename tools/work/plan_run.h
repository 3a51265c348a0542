/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_run.h - one pattern under one plan, in lockstep: process p on board a works on a
 * region of process q on board b, none of whose pages is there at first. What is counted
 * is what happens on b.
 */
#ifndef FL_PLAN_RUN_H
#define FL_PLAN_RUN_H

#include "tools/scenario/testbed_config.h"
#include "tools/work/pattern.h"

#define PLAN_FRAMES	512u	/* of b, usually: half of the region */
#define PLAN_DEPTH	4u	/* requests under way */

struct plan_run {
	/* Its plan and number are those of resolve. */
	struct testbed_config cfg;
	enum pattern pattern;
	uint64_t frames, depth;
};

struct plan_result {
	uint64_t faults, pages_in, unused, evictions;
	uint64_t time_ns;	/* first post to last completion */
	char problem[300];
};

/* 0, or 1 and a sentence in problem. */
int plan_run(const struct plan_run *p, struct plan_result *r);

#endif
