// SPDX-License-Identifier: BSD-2-Clause
#include "tools/faultline/plans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/scenario/words.h"

/* All that the driver has; around with a few pages and with many. */
#define ALL_PLANS \
	"page,block,transfer,around:4,around:32,double,stride,majority,history"

/* The next word of a list with commas; false: none is left. */
static bool plans_next(const char **list, char *word, size_t room)
{
	size_t n = strcspn(*list, ",");

	if (!**list)
		return false;
	snprintf(word, room, "%.*s", (int)n, *list);
	*list += n + ((*list)[n] == ',');
	return true;
}

static int plans_add(const struct command *c, struct plans *p,
		     const char *word)
{
	struct plans_row *row = &p->row[p->rows];
	char room[WORD_ROOM];
	const char *right;
	int resolve;

	if (p->rows == PLANS_MOST - 1)
		return options_wrong(c, "--plans", word, "at most 15 plans");
	right = word_resolve(word, &resolve, &row->number, room);
	if (right)
		return options_wrong(c, "--plans", word, right);
	word_resolve_name(resolve, row->number, row->name);
	row->resolve = (enum fl_resolve)resolve;
	p->rows++;
	return 0;
}

static int plans_choose(const struct command *c, struct plans *p,
			const char *list)
{
	char word[64], right[120];
	const char *near;
	int i;

	while (plans_next(&list, word, sizeof(word))) {
		for (i = 0; i < PATTERNS; i++)
			if (!strcmp(word, pattern_names[i]))
				break;
		if (i < PATTERNS) {
			p->pattern[i] = true;
			continue;
		}
		near = word_nearest(word, pattern_names);
		snprintf(right, sizeof(right), "forward, backward, stride, "
			 "column, random or log%s%s%s",
			 near ? " (did you mean '" : "", near ? near : "",
			 near ? "'?)" : "");
		return options_wrong(c, "--patterns", word, right);
	}
	return 0;
}

int plans_begin(const struct command *c, const struct options *o,
		const char *list, struct plans *p)
{
	static const char every[] = "forward,backward,stride,column,random,log";
	const char *patterns = o->own[PLANS_PATTERNS];
	char word[64];
	int err;

	memset(p, 0, sizeof(*p));
	p->run.cfg = o->cfg;
	/* Nobody reads the trace. */
	p->run.cfg.trace_records = 4096;
	p->run.frames = PLAN_FRAMES;
	p->run.depth = PLAN_DEPTH;
	err = plans_choose(c, p, patterns ? patterns : every);
	if (!err)
		err = options_number(o, c, PLANS_FRAMES, 64, 1u << 20,
				     &p->run.frames);
	if (!err)
		err = options_number(o, c, PLANS_DEPTH, 1, 64, &p->run.depth);
	if (!list)
		list = ALL_PLANS;
	while (!err && plans_next(&list, word, sizeof(word)))
		err = plans_add(c, p, word);
	if (!err && !p->rows)
		err = options_wrong(c, "--plans", "", ALL_PLANS);
	return err;
}

int plans_measure(const struct command *c, struct plans *p, unsigned int row)
{
	struct plans_row *r = &p->row[row];
	int i;

	p->run.cfg.resolve = r->resolve;
	p->run.cfg.resolve_number = r->number;
	for (i = 0; i < PATTERNS; i++) {
		p->run.pattern = (enum pattern)i;
		if (!p->pattern[i] || !plan_run(&p->run, &r->r[i]))
			continue;
		fprintf(stderr, "faultline %s: %s on %s: %s\n", c->name,
			r->name, pattern_names[i], r->r[i].problem);
		return 1;
	}
	return 0;
}

/* ---- what comes out ---- */

/* The row that the others are compared with: page, or else the first. */
static const struct plans_row *plans_base(const struct plans *p)
{
	unsigned int i;

	for (i = 0; i < p->rows; i++)
		if (p->row[i].resolve == FL_RESOLVE_PAGE)
			return &p->row[i];
	return &p->row[0];
}

static void print_pattern(const struct plans *p, int i)
{
	static struct pattern_access a[PATTERN_ACCESSES];
	const struct plan_result *base = &plans_base(p)->r[i], *r;
	unsigned int n = pattern_make((enum pattern)i, p->run.cfg.seed, a), k;

	printf("\n%s: %s; %u pages\n", pattern_names[i], pattern_texts[i],
	       pattern_pages(a, n));
	printf("  %-12s %7s %8s %9s %7s %10s %12s\n", "plan", "faults",
	       "avoided", "pages in", "unused", "evictions", "time");
	for (k = 0; k < p->rows; k++) {
		r = &p->row[k].r[i];
		printf("  %-12s %7llu %8lld %9llu %7llu %10llu %9.1f us\n",
		       p->row[k].name, (unsigned long long)r->faults,
		       (long long)(base->faults - r->faults),
		       (unsigned long long)r->pages_in,
		       (unsigned long long)r->unused,
		       (unsigned long long)r->evictions,
		       (double)r->time_ns / 1e3);
	}
}

void plans_print(const struct plans *p)
{
	int i;

	printf("profile %s, seed %llu, %llu frames, %llu requests under way; "
	       "virtual time\n",
	       p->run.cfg.profile ? p->run.cfg.profile : "ideal",
	       (unsigned long long)p->run.cfg.seed,
	       (unsigned long long)p->run.frames,
	       (unsigned long long)p->run.depth);
	for (i = 0; i < PATTERNS; i++)
		if (p->pattern[i])
			print_pattern(p, i);
}

static void csv_row(FILE *f, const struct plans *p, int i,
		    const struct plans_row *row)
{
	const struct plan_result *r = &row->r[i];

	fprintf(f, "%s,%s,%llu,%lld,%llu,%llu,%llu,%llu\n", pattern_names[i],
		row->name, (unsigned long long)r->faults,
		(long long)(plans_base(p)->r[i].faults - r->faults),
		(unsigned long long)r->pages_in, (unsigned long long)r->unused,
		(unsigned long long)r->evictions,
		(unsigned long long)r->time_ns);
}

int plans_write_csv(const struct command *c, const struct plans *p,
		    const char *path)
{
	FILE *f = fopen(path, "w");
	unsigned int k;
	bool bad = !f;
	int i;

	if (f) {
		fputs("pattern,plan,faults,avoided,pages_in,unused,evictions,"
		      "time_ns\n", f);
		for (i = 0; i < PATTERNS; i++)
			for (k = 0; p->pattern[i] && k < p->rows; k++)
				csv_row(f, p, i, &p->row[k]);
		bad = ferror(f);
		bad |= fclose(f) != 0;
	}
	if (bad)
		fprintf(stderr, "faultline %s: cannot write %s: %s\n", c->name,
			path, strerror(errno));
	return bad;
}
