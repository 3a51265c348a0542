// SPDX-License-Identifier: BSD-2-Clause
/* faultline plans: every plan on every pattern, in a table. */
#include <stdlib.h>

#include "tools/faultline/plans.h"

static int cmd_plans_run(const struct command *c, int argc, char **argv)
{
	struct options o;
	struct plans *p;
	unsigned int i;
	int err = options_parse(c, argc, argv, &o);

	if (err)
		return err == 1 ? 0 : err;
	p = malloc(sizeof(*p));
	if (!p) {
		fprintf(stderr, "faultline plans: no memory\n");
		return 1;
	}
	err = plans_begin(c, &o, o.own[PLANS_OWN], p);
	for (i = 0; !err && i < p->rows; i++)
		err = plans_measure(c, p, i);
	if (!err)
		plans_print(p);
	if (!err && o.own[PLANS_CSV])
		err = plans_write_csv(c, p, o.own[PLANS_CSV]);
	free(p);
	return err;
}

const struct command command_plans = {
	.name = "plans",
	.arguments = "",
	.text = "how much to bring in at a fault: each plan on each pattern\n"
		"A process writes to pages of another one that are not there. "
		"Counted are the\n"
		"faults, those that a plan has avoided (beside page), the pages "
		"that were brought\n"
		"in, those of them that the card never used, evictions, and the "
		"time from the\n"
		"first post to the last completion.",
	.common = OPT_SEED | OPT_PROFILE | OPT_SET,
	.own = {
		PLANS_OPTIONS,
		{ "--plans", "LIST", "of page,block,transfer,around:N,double,"
		  "stride,majority,history (default: all)" },
	},
	.run = cmd_plans_run,
};
