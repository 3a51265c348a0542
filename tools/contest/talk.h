/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk.h - what goes between "faultline contest" and the program with the plan: one
 * question, one answer. Both are of one machine.
 */
#ifndef FL_CONTEST_TALK_H
#define FL_CONTEST_TALK_H

#include "faultline/plan.h"

#define CONTEST_LINE	3	/* descriptor of the program, both ways */

struct contest_question {
	struct fl_plan_fault fault;
	struct fl_plan_state state;
};

struct contest_answer {
	struct fl_plan_state state;
	struct fl_plan_bring bring;
};

#endif
