// SPDX-License-Identifier: BSD-2-Clause
#include "tools/work/pair.h"

#include <errno.h>
#include <stdio.h>

static int pair_process(struct pair *x, const char *name,
			struct testbed_board *b, const struct pair_plan *plan,
			struct testbed_process **out)
{
	return testbed_process_add(x->w, name, b, testbed_cfg(x->w)->system,
				   plan->resolve, out);
}

static int pair_number(struct testbed_process *p, const struct pair_plan *plan)
{
	return plan->resolve != FL_RESOLVE_AROUND ? 0 :
	       testbed_resolve(p, plan->resolve, plan->number);
}

static int pair_board_near(struct pair *x,
			   const struct testbed_board_config *board)
{
	int err = testbed_board_add(x->w, "b", board, &x->b);

	return err ? err : testbed_link_add(x->w, x->a, x->b);
}

int pair_make(struct pair *x, struct testbed *w,
	      const struct testbed_board_config board[2],
	      const struct pair_plan plan[2])
{
	int err;

	x->w = w;
	err = testbed_board_add(w, "a", &board[0], &x->a);
	if (!err && testbed_cfg(w)->far)
		err = testbed_board_far(w, "b", &x->b);
	else if (!err)
		err = pair_board_near(x, &board[1]);
	if (!err)
		err = pair_process(x, "p", x->a, &plan[0], &x->p);
	if (!err)
		err = pair_process(x, "q", x->b, &plan[1], &x->q);
	if (!err)
		err = pair_number(x->p, &plan[0]);
	if (!err)
		err = pair_number(x->q, &plan[1]);
	return err;
}

int pair_run(const struct testbed_config *cfg,
	     void (*script)(struct testbed *w, void *arg), void *arg,
	     char *problem, size_t problem_bytes)
{
	struct testbed *w = testbed_create(cfg, problem, problem_bytes);
	int err;

	if (!w)
		return 1;
	problem[0] = 0;
	err = testbed_run(w, script, arg);
	if (err && testbed_problem(w))
		snprintf(problem, problem_bytes, "%s", testbed_problem(w));
	testbed_destroy(w);
	return err == -EDEADLK ? err : err != 0;
}
