// SPDX-License-Identifier: BSD-2-Clause
#include "tools/faultline/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/scenario/words.h"

_Static_assert(FL_SYSTEMS <= COMPARE_ROWS, "a line for each system");

/* What a row of the table of systems says of itself. */
static const struct {
	enum fl_resolve brings;
	const char *home;
} rows[FL_SYSTEMS] = {
#define SYSTEM(name, tables, before, transport, ir, iw, rr, rw, tells, brings,	\
	       home, text)							\
	[FL_SYSTEM_##name] = { FL_RESOLVE_##brings, home },
#include "faultline/system.def"
};

static void compare_add(struct compare *x, enum fl_system system)
{
	struct compare_row *row = &x->row[x->rows++];

	memset(row, 0, sizeof(*row));
	row->name = options_system_name(system);
	row->system = system;
	row->resolve = x->cfg.resolve_given ? x->cfg.resolve :
					      rows[system].brings;
	row->resolve_number = x->cfg.resolve_number;
	row->profile = strcmp(x->profile, "home") ? x->profile : rows[system].home;
}

static int compare_find(const struct command *c, struct compare *x,
			const char *word)
{
	const char *names[FL_SYSTEMS + 1], *near;
	char right[400];
	size_t at = 0;
	unsigned int i;

	for (i = 0; i < FL_SYSTEMS; i++) {
		names[i] = options_system_name((enum fl_system)i);
		if (strcmp(names[i], word))
			continue;
		if (!work_goes(&x->work, (enum fl_system)i))
			return options_wrong(c, "--systems", word,
					     "a system that has what the work needs "
					     "(datagrams have no WRITE and no READ; a "
					     "stream is of datagrams)");
		compare_add(x, (enum fl_system)i);
		return 0;
	}
	names[FL_SYSTEMS] = NULL;
	near = word_nearest(word, names);
	for (i = 0; i < FL_SYSTEMS && at < sizeof(right); i++)
		at += (size_t)snprintf(right + at, sizeof(right) - at, "%s%s",
				       i ? ", " : "", names[i]);
	if (near && at < sizeof(right))
		snprintf(right + at, sizeof(right) - at, " (did you mean '%s'?)",
			 near);
	return options_wrong(c, "--systems", word, right);
}

int compare_choose(const struct command *c, struct compare *x, const char *list)
{
	const char *at = list;
	unsigned int i, k;
	char word[64];
	size_t n;
	int err;

	for (i = 0; i < FL_SYSTEMS && !list; i++)
		if (work_goes(&x->work, (enum fl_system)i))
			compare_add(x, (enum fl_system)i);
	while (at && *at) {
		n = strcspn(at, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(n < 63 ? n : 63), at);
		for (k = 0; k < x->rows; k++)
			if (!strcmp(x->row[k].name, word))
				return options_wrong(c, "--systems", list,
						     "each system once");
		err = compare_find(c, x, word);
		if (err)
			return err;
		at += n + (at[n] == ',');
	}
	return x->rows ? 0 : compare_find(c, x, "");
}

/* ---- measuring ---- */

void compare_run(const struct compare *x, const struct compare_row *row,
		 enum work_hazard h, uint64_t seed, uint64_t plain_ns, FILE *trace,
		 struct work_result *r)
{
	struct work_run run = { .work = &x->work, .cfg = x->cfg, .hazard = h,
				.plain_ns = h == WORK_DIES ? plain_ns : 0 };

	run.cfg.seed = seed;
	run.cfg.system = row->system;
	run.cfg.resolve = row->resolve;
	run.cfg.resolve_number = row->resolve_number;
	run.cfg.profile = row->profile;
	run.cfg.trace = trace;
	/* Nobody reads the ring. */
	run.cfg.trace_records = 4096;
	work_run(&run, r);
}

static int compare_total(const void *a, const void *b)
{
	const struct work_result *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->total_ns < y->total_ns ? -1 : x->total_ns > y->total_ns;
}

/* How bad it is for the application; of equals the slower one is worse. */
static int outcome_rank(const struct work_result *r)
{
	static const int bad[] = {
		[WORK_NOT_HERE] = 0, [WORK_TOO_SMALL] = 0, [WORK_OK] = 1,
		[WORK_NO_START] = 2, [WORK_ERROR] = 3, [WORK_HANG] = 4,
		[WORK_WRONG] = 5, [WORK_BROKEN] = 6,
	};

	return bad[r->end];
}

static void compare_worse(struct work_result *worst, const struct work_result *r,
			  bool first)
{
	if (first || outcome_rank(r) > outcome_rank(worst) ||
	    (outcome_rank(r) == outcome_rank(worst) && r->total_ns > worst->total_ns))
		*worst = *r;
}

static int compare_complain(const struct command *c, const struct compare_row *row,
			    enum work_hazard h, const struct work_result *r)
{
	if (r->end != WORK_BROKEN)
		return 0;
	fprintf(stderr, "faultline %s: %s, %s: %s\n", c->name, row->name,
		work_hazard_names[h], r->problem);
	return 1;
}

static int compare_row_measure(const struct command *c, const struct compare *x,
			       struct compare_row *row)
{
	struct work_result plain[COMPARE_SEEDS], r;
	uint64_t i;
	int h, bad;

	for (i = 0; i < x->seeds; i++)
		compare_run(x, row, WORK_PLAIN, x->cfg.seed + i, 0, NULL,
			    &plain[i]);
	for (h = WORK_PLAIN + 1; h < WORK_HAZARDS && x->hazards; h++)
		for (i = 0; i < x->seeds; i++) {
			compare_run(x, row, (enum work_hazard)h, x->cfg.seed + i,
				    plain[i].transfer_ns, NULL, &r);
			compare_worse(&row->hazard[h], &r, !i);
		}
	qsort(plain, x->seeds, sizeof(*plain), compare_total);
	row->r = plain[x->seeds / 2];
	row->least_ns = plain[0].total_ns;
	row->most_ns = plain[x->seeds - 1].total_ns;
	bad = compare_complain(c, row, WORK_PLAIN, &plain[x->seeds - 1]);
	for (h = WORK_PLAIN + 1; h < WORK_HAZARDS && x->hazards; h++)
		bad |= compare_complain(c, row, (enum work_hazard)h,
					&row->hazard[h]);
	return bad;
}

int compare_measure(const struct command *c, struct compare *x)
{
	unsigned int i;
	int bad = 0;

	for (i = 0; i < x->rows; i++)
		bad |= compare_row_measure(c, x, &x->row[i]);
	return bad;
}

/* ---- cells ---- */

bool compare_has_figures(const struct compare_row *row)
{
	return row->r.end == WORK_OK;
}

double compare_slower(const struct compare_row *row, enum work_hazard h)
{
	const struct work_result *r = &row->hazard[h];

	if (r->end != WORK_OK || !compare_has_figures(row))
		return 0;
	if (h == WORK_REMAP)
		return (double)r->round_ns[1] / (double)r->round_ns[0];
	return (double)r->total_ns / (double)row->r.total_ns;
}

static const char *cell_error(const struct work_result *r)
{
	return r->status ? word_status_name(r->status) : word_errno_name(r->error);
}

void compare_cell(const struct compare_row *row, enum work_hazard h,
		  char cell[COMPARE_CELL])
{
	const struct work_result *r = h == WORK_PLAIN ? &row->r : &row->hazard[h];
	double slower = h == WORK_PLAIN ? 1 : compare_slower(row, h);
	static const char *const words[] = {
		[WORK_OK] = "ok", [WORK_NO_START] = "no start",
		[WORK_WRONG] = "WRONG DATA", [WORK_HANG] = "HANG",
		[WORK_TOO_SMALL] = "-", [WORK_NOT_HERE] = "not here",
		[WORK_BROKEN] = "BROKEN", [WORK_ERROR] = "error"
	};

	if (r->end == WORK_ERROR)
		snprintf(cell, COMPARE_CELL, "error %s", cell_error(r));
	else if (r->end == WORK_OK && slower >= 1.05)
		snprintf(cell, COMPARE_CELL, slower < 100 ? "x%.1f" : "x%.0f", slower);
	else
		snprintf(cell, COMPARE_CELL, "%s", words[r->end]);
}
