// SPDX-License-Identifier: BSD-2-Clause
/*
 * A plan to begin with: faultline contest tools/contest/example.c
 *
 * It brings in the block, and when this fault lies right behind the last one, or
 * right before it, as much again in that direction. What it knows of the last fault
 * is in the state, which is of this region and direction alone.
 */
#include "faultline/plan.h"

enum { SEEN, LAST_START, LAST_END };

void plan(const struct fl_plan_fault *fault, struct fl_plan_state *state,
	  struct fl_plan_bring *bring)
{
	__u64 start = fault->first.start, end = fault->block.end;
	__u64 bytes = end - start;

	bring->now = fault->block;
	if (state->word[SEEN] && start == state->word[LAST_END]) {
		bring->ahead[bring->count++] =
			(struct fl_range){ end, end + bytes };
		end += bytes;
	} else if (state->word[SEEN] && end == state->word[LAST_START]) {
		bring->ahead[bring->count++] =
			(struct fl_range){ start - bytes, start };
		start -= bytes;
	}
	state->word[SEEN] = 1;
	state->word[LAST_START] = start;
	state->word[LAST_END] = end;
}
