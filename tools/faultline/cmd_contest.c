// SPDX-License-Identifier: BSD-2-Clause
/* faultline contest PLAN.c: a plan from a file, beside those of the driver. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "tools/confine/confine.h"
#include "tools/faultline/plan_program.h"
#include "tools/faultline/plans.h"

enum { OWN_TREE = PLANS_OWN };

/* The file's name without folders and .c. */
static void contest_name(const char *path, char *name, size_t room)
{
	const char *slash = strrchr(path, '/');
	size_t n;

	path = slash ? slash + 1 : path;
	n = strlen(path);
	if (n > 2 && !strcmp(path + n - 2, ".c"))
		n -= 2;
	snprintf(name, room, "%.*s", n < 12 ? (int)n : 12, path);
}

static int contest_pattern(const struct command *c, struct plans *p,
			   struct plan_program *program, int i)
{
	struct plans_row *row = &p->row[p->rows];
	int err = plan_program_start(program);

	if (err) {
		fprintf(stderr, "faultline contest: cannot start %s: %s\n",
			program->source, strerror(-err));
		return 1;
	}
	p->run.pattern = (enum pattern)i;
	err = plan_run(&p->run, &row->r[i]);
	plan_program_stop(program);
	if (program->problem[0])
		fprintf(stderr, "faultline %s: %s, pattern %s: %s\n", c->name,
			program->source, pattern_names[i], program->problem);
	else if (err)
		fprintf(stderr, "faultline %s: %s, pattern %s: %s\n", c->name,
			program->source, pattern_names[i], row->r[i].problem);
	return err || program->problem[0];
}

/* The row behind those of the driver; a new process for each pattern. */
static int contest_own(const struct command *c, struct plans *p,
		       struct plan_program *program)
{
	struct plans_row *row = &p->row[p->rows];
	int i, err = 0;

	contest_name(program->source, row->name, sizeof(row->name));
	row->resolve = FL_RESOLVE_OWN;
	p->run.cfg.plan = &program->own;
	p->run.cfg.resolve = FL_RESOLVE_OWN;
	p->run.cfg.resolve_number = 0;
	for (i = 0; i < PATTERNS && !err; i++)
		if (p->pattern[i])
			err = contest_pattern(c, p, program, i);
	p->rows += !err;
	return err;
}

/* ---- points ---- */

static uint64_t contest_total(const struct plans *p, unsigned int row)
{
	uint64_t ns = 0;
	int i;

	for (i = 0; i < PATTERNS; i++)
		ns += p->pattern[i] ? p->row[row].r[i].time_ns : 0;
	return ns;
}

/* The driver's quickest plan for a pattern. */
static const struct plans_row *contest_best(const struct plans *p, int i)
{
	const struct plans_row *best = &p->row[0];
	unsigned int k;

	for (k = 1; k + 1 < p->rows; k++)
		if (p->row[k].r[i].time_ns < best->r[i].time_ns)
			best = &p->row[k];
	return best;
}

static void contest_points(const struct plans *p)
{
	unsigned int own = p->rows - 1, k, place = 1, n = 0;
	const struct plans_row *best;
	uint64_t points, sum = 0;
	int i;

	printf("\npoints of %s (100: as quick as the driver's quickest plan for "
	       "the pattern)\n", p->row[own].name);
	for (i = 0; i < PATTERNS; i++) {
		if (!p->pattern[i])
			continue;
		best = contest_best(p, i);
		points = 100 * best->r[i].time_ns / p->row[own].r[i].time_ns;
		printf("  %-10s %4llu   (%s)\n", pattern_names[i],
		       (unsigned long long)points, best->name);
		sum += points;
		n++;
	}
	for (k = 0; k < own; k++)
		place += contest_total(p, k) < contest_total(p, own);
	printf("  %-10s %4llu   place %u of %u by the time of all patterns\n",
	       "mean", (unsigned long long)(sum / n), place, p->rows);
}

static int contest_run(const struct command *c, const struct options *o,
		       struct plans *p, struct plan_program *program)
{
	unsigned int i;
	int err = contest_own(c, p, program);

	/* Its own first: a mistake shows at once. The table has it last. */
	for (i = 0; !err && i + 1 < p->rows; i++)
		err = plans_measure(c, p, i);
	if (err)
		return err;
	if (!(program->held & CONFINED_FILES) ||
	    !(program->held & CONFINED_CALLS))
		fprintf(stderr, "faultline contest: this system cannot keep the "
			"program from files or network\n");
	plans_print(p);
	contest_points(p);
	return o->own[PLANS_CSV] ? plans_write_csv(c, p, o->own[PLANS_CSV]) : 0;
}

static int cmd_contest_run(const struct command *c, int argc, char **argv)
{
	struct plan_program *program = calloc(1, sizeof(*program));
	struct plans *p = malloc(sizeof(*p));
	struct options o;
	int err = options_parse(c, argc, argv, &o);

	if (!err && (!program || !p)) {
		fprintf(stderr, "faultline contest: no memory\n");
		err = 2;
	}
	if (!err)
		err = plans_begin(c, &o, NULL, p);
	if (!err)
		err = plan_program_build(program, o.args[0], o.own[OWN_TREE] ?
					 o.own[OWN_TREE] : ".");
	if (!err) {
		err = contest_run(c, &o, p, program);
		plan_program_free(program);
	} else if (err == 1 && !o.count) {
		err = 0;	/* --help */
	}
	free(p);
	free(program);
	return err;
}

const struct command command_contest = {
	.name = "contest",
	.arguments = "PLAN.c",
	.text = "a plan from a C file, measured beside those of the driver\n"
		"The file has one function, plan(), and includes "
		"faultline/plan.h, which says what\n"
		"it is asked and what it answers; tools/contest/example.c is "
		"one to begin with. It is\n"
		"compiled, and runs in a process of its own. Exit status 0: it "
		"was measured.",
	.common = OPT_SEED | OPT_PROFILE | OPT_SET,
	.least = 1,
	.most = 1,
	.own = {
		PLANS_OPTIONS,
		{ "--tree", "FOLDER", "with the sources of Faultline (default: "
		  "this one)" },
	},
	.run = cmd_contest_run,
};
