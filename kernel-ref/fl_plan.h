/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_plan.h - the driver's plans for how much to bring in at a fault, and what holds
 * whatever a plan says. The words of a plan's state and its answer are those of
 * faultline/plan.h. Nothing here sleeps, allocates or locks.
 */
#ifndef FL_PLAN_H
#define FL_PLAN_H

#include "faultline/plan.h"

/* Of what lies around the block, before the card goes on. */
#define FL_PLAN_NOW_BYTES	(4u << 20)
/* One fault takes memory for this much ahead, no more. */
#define FL_PLAN_AHEAD_BYTES	(16u << 20)

/* resolve: enum fl_ioc_resolve, one of the driver's own. */
void fl_plan_ask(__u32 resolve, const struct fl_plan_fault *fault,
		 struct fl_plan_state *state, struct fl_plan_bring *bring);
/*
 * Whatever bring was: now is in the region, has the first missing page and is not
 * too long; what is ahead is in the region too, is not part of now, and is not too
 * much; no range is empty.
 */
void fl_plan_clamp(const struct fl_plan_fault *fault,
		   struct fl_plan_bring *bring);

#endif
