// SPDX-License-Identifier: BSD-2-Clause
/* The table: on the screen as it grows, in a file, and kept for its other forms. */
#include "bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_AIM	10.0	/* %, of anything measured */

static struct {
	FILE *file;
	unsigned int met, missed;
	unsigned int traced, cheap;	/* figures; trace under TRACE_AIM */
	double worst_percent;
	const char *group;
	char title[100], part[100];	/* part: what heads the rows that follow */
	struct bench_kept *kept;
	unsigned int rows, parent;
	bool peer;	/* of the row under way */
} table = { .group = "" };

static void table_put_row(const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
	if (table.file) {
		fputs(text, table.file);
		fflush(table.file);
	}
}

static void table_line(const char *figure, const char *unit, const char *median,
		       const char *range, const char *trace, const char *target,
		       const char *met, const char *yardstick)
{
	char text[400];

	snprintf(text, sizeof(text), "%-44s %-9s %8s %17s %7s %10s %-4s %s\n",
		 figure, unit, median, range, trace, target, met, yardstick);
	table_put_row(text);
}

int bench_table_begin(const char *path)
{
	if (path) {
		table.file = fopen(path, "w");
		if (!table.file)
			return -errno;
	}
	table_line("figure", "unit", "median", "min..max", "trace", "target",
		   "met", "yardstick; note");
	return 0;
}

void bench_group(const char *name)
{
	table.group = name;
}

void bench_title(const char *text)
{
	snprintf(table.title, sizeof(table.title), "%s", text);
	table.part[0] = 0;
	table_put_row("\n");
	table_put_row(text);
	table_put_row("\n");
}

void bench_say(const char *fmt, ...)
{
	char text[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (*text && text[strlen(text) - 1] == ':')
		snprintf(table.part, sizeof(table.part), ", %.*s",
			 (int)strlen(text) - 1, text);
	table_put_row("  ");
	table_put_row(text);
	table_put_row("\n");
}

static const char *table_number(char *to, size_t room, double v)
{
	snprintf(to, room, v >= 1000 ? "%.0f" : v >= 100 ? "%.1f" :
			   v >= 1 ? "%.2f" : "%.3f", v);
	return to;
}

static bool table_meets(const struct bench_row *row)
{
	return row->want == BENCH_AT_LEAST ? row->value.median >= row->target :
					     row->value.median <= row->target;
}

static char *table_copy(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
static char *table_copy(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		bench_broken("no memory");
	va_end(ap);
	return text;
}

static void table_keep(const struct bench_row *row, const char *note)
{
	bool sub = row->figure[0] == ' ' && table.rows;
	const char *name = row->figure + strspn(row->figure, " ");
	struct bench_kept *k;

	table.kept = realloc(table.kept, (table.rows + 1) * sizeof(*k));
	if (!table.kept)
		bench_broken("no memory");
	if (!sub)
		table.parent = table.rows;
	k = &table.kept[table.rows++];
	*k = (struct bench_kept){
		.group = table_copy("%s", table.group),
		.title = table_copy("%s%s", table.title, table.part),
		.name = table_copy("%s", name), .unit = table_copy("%s", row->unit),
		.note = table_copy("%s", note), .value = row->value,
		.want = row->want, .target = row->target, .peer = table.peer,
		.met = table_meets(row), .parent = table.parent,
	};
	k->figure = sub ? table_copy("%s: %s", table.kept[table.parent].name, name) :
			  table_copy("%s", name);
}

const struct bench_kept *bench_kept(unsigned int *n)
{
	*n = table.rows;
	return table.kept;
}

void bench_row(const struct bench_row *row)
{
	char median[32] = "-", low[32], high[32], range[70] = "-", target[40];
	char note[200];
	const char *met = "-";

	if (row->value.windows) {
		table_number(median, sizeof(median), row->value.median);
		table_number(low, sizeof(low), row->value.low);
		table_number(high, sizeof(high), row->value.high);
		snprintf(range, sizeof(range), "%s..%s", low, high);
	}
	strcpy(target, "-");
	if (row->want != BENCH_RECORD) {
		strcpy(target, row->want == BENCH_AT_LEAST ? ">= " : "<= ");
		table_number(target + 3, sizeof(target) - 3, row->target);
		if (row->value.windows) {
			met = table_meets(row) ? "yes" : "NO";
			table.met += table_meets(row);
			table.missed += !table_meets(row);
		}
	}
	snprintf(note, sizeof(note), "%s%s%s", row->yardstick,
		 *row->yardstick && *row->note ? "; " : "", row->note);
	table_keep(row, note);
	table_line(row->figure, row->unit, median, range,
		   row->trace ? row->trace : "-", target, met, note);
}

void bench_row_of_peer(const struct bench_row *row)
{
	table.peer = true;
	bench_row(row);
	table.peer = false;
}

void bench_table_end(void)
{
	table_put_row("\n");
	bench_say("targets met: %u, missed: %u", table.met, table.missed);
	if (table.traced)
		bench_say("tracing: under %.0f %% in %u of %u figures, %.1f %% "
			  "at worst", TRACE_AIM, table.cheap, table.traced,
			  table.worst_percent);
	if (table.file)
		fclose(table.file);
	table.file = NULL;
}

const char *bench_trace_text(const struct bench_result *r)
{
	static char text[8][16];
	static unsigned int next;
	char *t = text[next++ % 8];

	if (!r->traced)
		return NULL;
	table.traced++;
	table.cheap += r->trace_percent < TRACE_AIM;
	if (r->trace_percent > table.worst_percent)
		table.worst_percent = r->trace_percent;
	snprintf(t, sizeof(text[0]), "%+.1f%%", r->trace_percent);
	return t;
}

void bench_broken(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "bench: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}
