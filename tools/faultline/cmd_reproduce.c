// SPDX-License-Identifier: BSD-2-Clause
/* faultline reproduce: published figures beside what the model says. */
#include <stdio.h>
#include <string.h>

#include "tools/faultline/options.h"
#include "tools/faultline/reproduce.h"

enum { OWN_SENSITIVITY, OWN_CSV };

static const char *const marks[] = { [MARK_F] = "F", [MARK_C] = "C",
				     [MARK_P] = "P", [MARK_Q] = "Q" };

/* published may not be exceeded; nobody has said what it was. */
static bool is_bound(const struct reproduce_figure *f)
{
	return *f->unit == '<';
}

static void put_value(double value, const char *unit)
{
	if (strchr(unit, '%'))
		printf("%9.1f %-6s", value, strchr(unit, '%'));
	else if (!*unit)
		printf("%9s       ", value ? "yes" : "no");
	else if (!strcmp(unit, "MB/s"))
		printf("%9.1f %-6s", value, unit);
	else if (!strcmp(unit, "Gb/s"))
		printf("%9.1f %-6s", value, unit);
	else if (!strcmp(unit, "x"))
		printf("%9.2f %-6s", value, unit);
	else
		printf("%9.0f %-6s", value, unit);
}

static void put_line(const struct reproduce_figure *f, double model)
{
	bool alone = f->mark == MARK_P && !f->published;	/* nobody has measured it */

	printf("%-50s", f->title);
	if (alone)
		printf("%9s       ", "-");
	else if (is_bound(f))
		printf("%3s%6.1f %-6s", "<=", f->published, "%");
	else
		put_value(f->published, f->unit);
	put_value(model, f->unit);
	if (is_bound(f))
		printf("%9s", model <= f->published ? "holds" : "missed");
	else if (*f->unit && !alone)
		printf("%+7.1f %%", (model / f->published - 1) * 100);
	else
		printf("%9s", "");
	printf("  %s  %s%s\n", marks[f->mark], f->source,
	       reproduce_broken(f, model) ? "  BROKEN" : "");
}

/* 0; 1: something failed, or a figure that may not miss does. */
static int put_experiment(int e)
{
	const struct reproduce_figure *f;
	double model;
	int i, bad = 0;

	printf("%s: %s\n", reproduce_names[e], reproduce_texts[e]);
	printf("%-50s%-16s%-16s%9s  mark, source\n", "", "published", "model",
	       "off by");
	for (i = 0; i < reproduce_count; i++) {
		f = &reproduce_figures[i];
		if ((int)f->experiment != e)
			continue;
		if (reproduce_measure(f, &model))
			return 1;
		put_line(f, model);
		bad |= reproduce_broken(f, model);
		fflush(stdout);
	}
	putchar('\n');
	return bad;
}

static int csv_experiment(int e)
{
	const struct reproduce_figure *f;
	double model;
	int i, bad = 0;

	for (i = 0; i < reproduce_count; i++) {
		f = &reproduce_figures[i];
		if ((int)f->experiment != e)
			continue;
		if (reproduce_measure(f, &model))
			return 1;
		printf("%s,\"%s\",%s,%g,%g,%s,\"%s\"\n", reproduce_names[e],
		       f->title, f->unit, f->published, model, marks[f->mark],
		       f->source);
		bad |= reproduce_broken(f, model);
	}
	return bad;
}

static int name_of(const struct command *c, const struct options *o, int *e)
{
	char right[100] = "";
	int i;

	*e = EXPERIMENTS;
	if (!o->count)
		return 0;
	for (i = 0; i < EXPERIMENTS; i++) {
		if (!strcmp(reproduce_names[i], o->args[0]))
			*e = i;
		snprintf(right + strlen(right), sizeof(right) - strlen(right),
			 "%s%s", i ? ", " : "one of: ", reproduce_names[i]);
	}
	return *e < EXPERIMENTS ? 0 :
				  options_wrong(c, "NAME", o->args[0], right);
}

static int cmd_reproduce_run(const struct command *c, int argc, char **argv)
{
	struct options o;
	int err = options_parse(c, argc, argv, &o), only, e, bad = 0;

	if (err)
		return err == 1 ? 0 : err;
	err = name_of(c, &o, &only);
	if (err)
		return err;
	if (o.own[OWN_SENSITIVITY] && only != EXPERIMENT_QFDB)
		return options_wrong(c, "--sensitivity", o.count ? o.args[0] : "",
				     "qfdb: the others have no assumed value "
				     "that moves them");
	if (o.own[OWN_CSV])
		puts("experiment,figure,unit,published,model,mark,source");
	for (e = 0; e < EXPERIMENTS; e++)
		if (only == EXPERIMENTS || only == e)
			bad |= o.own[OWN_CSV] ? csv_experiment(e) :
						put_experiment(e);
	if (o.own[OWN_SENSITIVITY])
		bad |= sensitivity_print();
	return bad;
}

const struct command command_reproduce = {
	.name = "reproduce",
	.arguments = "[NAME]",
	.text = "published figures, and what the model says of them\n"
		"Marks: F the model is fitted to it; C follows from that by "
		"arithmetic; P predicted; Q only\n"
		"an order can be compared. A prediction that misses is a "
		"finding, and no failure; the exit\n"
		"status is 1 when one of the others is off.",
	.common = 0,
	.least = 0,
	.most = 1,
	.own = { [OWN_SENSITIVITY] = { "--sensitivity", NULL,
			"qfdb: move each value that is assumed within its "
			"bounds (a minute)" },
		 [OWN_CSV] = { "--csv", NULL, "as CSV" } },
	.run = cmd_reproduce_run,
};
