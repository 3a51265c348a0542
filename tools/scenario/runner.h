/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runner.h - runs a scenario in a testbed and says whether every expectation held.
 *
 * What is done is kept as a numbered transcript, which is printed when something fails
 * (or at once, with verbose).
 */
#ifndef FL_SCENARIO_RUNNER_H
#define FL_SCENARIO_RUNNER_H

#include "tools/scenario/ast.h"
#include "tools/scenario/testbed_config.h"

struct runner_report {
	unsigned int statements, expectations, failures;
	uint64_t time_ns, events;
};

/*
 * cfg: what the command line said; its *_given members win over the scenario's own
 * profile and policy. 0: every expectation held; 1: not; 2: the testbed could not be made.
 */
int scenario_run(const struct scenario *s, const struct testbed_config *cfg,
		 FILE *out, bool verbose, struct runner_report *report);

#endif
