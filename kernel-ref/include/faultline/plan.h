/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan.h - how much to bring in at a fault: what a plan is asked, what it answers,
 * and what it may remember. A plan is one function. The driver's own are in
 * kernel-ref/fl_plan.c; a program for "faultline contest" is another one, and needs
 * no header but this. All addresses are of the process and in bytes; ranges begin
 * and end with pages of the card, [start, end).
 *
 * An answer need not make sense. The driver cuts it to the region and to what one
 * fault may bring, and adds the page without which the card cannot go on. So a plan
 * can waste, and cannot break anything.
 */
#ifndef FAULTLINE_PLAN_H
#define FAULTLINE_PLAN_H

#include "faultline/types.h"

#define FL_PLAN_PAGE	4096u
#define FL_PLAN_AHEAD	8u	/* ranges of a guess */
#define FL_PLAN_WORDS	64u
#define FL_PLAN_NUMBER	256u	/* resolve=around:N goes up to this */

struct fl_range {		/* of the card's pages, [start, end) */
	__u64 start, end;
};

/* What is asked. Ranges are never empty, but for rest. */
struct fl_plan_fault {
	struct fl_range block;	/* has to be there before the card goes on */
	struct fl_range first;	/* its first page that is missing */
	struct fl_range rest;	/* of the transfer behind it; may be empty */
	struct fl_range region;	/* that is registered */
	__u32 write;		/* the card writes there */
	__u32 number;		/* of resolve=around:N; else 0 */
};

/* The answer; empty before the plan is called. */
struct fl_plan_bring {
	/*
	 * In before the card goes on. Of the block, and the fault fails if it cannot
	 * be had; around it, and only as far as memory is free.
	 */
	struct fl_range now;
	/* A guess: in after that, in this order, while memory is free. */
	struct fl_range ahead[FL_PLAN_AHEAD];
	__u32 count;
	__u32 rest;		/* not 0: and the rest of the transfer */
};

/* One for each region and direction; the driver forgets it after 7 others. */
struct fl_plan_state {
	__u64 word[FL_PLAN_WORDS];	/* all 0 at first */
};

#ifdef __cplusplus
extern "C"
#endif
/* The one function of a program for the contest. */
void plan(const struct fl_plan_fault *fault, struct fl_plan_state *state,
	  struct fl_plan_bring *bring);

/*
 * A plan that comes with the board (platform data of the device), for
 * FL_IOC_RESOLVE_OWN. A lock is held: it must not sleep.
 */
struct fl_plan_own {
	void (*plan)(void *arg, const struct fl_plan_fault *fault,
		     struct fl_plan_state *state, struct fl_plan_bring *bring);
	void *arg;
};

#endif
