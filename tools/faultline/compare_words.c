// SPDX-License-Identifier: BSD-2-Clause
/* What compare says of its table: every name and figure below is looked up in it. */
#include <stdio.h>

#include "tools/faultline/compare.h"
#include "tools/faultline/job.h"
#include "tools/scenario/words.h"

static uint64_t figure_total(const struct compare_row *row)
{
	return row->r.total_ns;
}

static uint64_t figure_transfer(const struct compare_row *row)
{
	return row->r.transfer_ns;
}

static uint64_t figure_set_up(const struct compare_row *row)
{
	return row->r.total_ns - row->r.transfer_ns;
}

static uint64_t figure_wire(const struct compare_row *row)
{
	return row->r.count.wire_bytes;
}

static uint64_t figure_pinned(const struct compare_row *row)
{
	return row->r.count.pinned_peak;
}

/* The row with the least or the most of something; NULL: none has figures. */
static const struct compare_row *
extreme(const struct compare *x, uint64_t (*figure)(const struct compare_row *row),
	bool most)
{
	const struct compare_row *best = NULL, *row;
	unsigned int i;

	for (i = 0; i < x->rows; i++) {
		row = &x->row[i];
		if (!compare_has_figures(row))
			continue;
		if (!best || (most ? figure(row) > figure(best) :
				     figure(row) < figure(best)))
			best = row;
	}
	return best;
}

static double count_times(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static void say_times(FILE *f, const struct compare *x)
{
	const struct compare_row *quick = extreme(x, figure_total, false);
	const struct compare_row *slow = extreme(x, figure_total, true);
	const struct compare_row *alone = extreme(x, figure_transfer, false);
	const struct compare_row *set_up = extreme(x, figure_set_up, true);
	char a[32], b[32];

	if (quick == slow)
		fprintf(f, "1. With set-up, %s takes %s.\n", quick->name,
			job_time(quick->r.total_ns, a));
	else
		fprintf(f, "1. With set-up, %s is the quickest (%s) and %s the slowest "
			"(%s, %.2f times as long).\n", quick->name,
			job_time(quick->r.total_ns, a), slow->name,
			job_time(slow->r.total_ns, b),
			count_times(slow->r.total_ns, quick->r.total_ns));
	fprintf(f, "2. The transfer alone is quickest with %s (%s). Set-up costs most with "
		"%s: %s, %.0f %% of its time.\n", alone->name,
		job_time(alone->r.transfer_ns, a), set_up->name,
		job_time(figure_set_up(set_up), b),
		100 * count_times(figure_set_up(set_up), set_up->r.total_ns));
}

static void say_wire(FILE *f, const struct compare *x)
{
	const struct compare_row *most = extreme(x, figure_wire, true);
	const struct compare_row *least = extreme(x, figure_wire, false);

	if (most->r.count.wire_bytes == least->r.count.wire_bytes)
		fprintf(f, "3. All put the same number of bytes on the wire: %llu.\n",
			(unsigned long long)least->r.count.wire_bytes);
	else
		fprintf(f, "3. %s puts the most bytes on the wire, %.2f times as many as "
			"%s. Beside what was asked for, %.0f %% of that went in vain.\n",
			most->name,
			count_times(most->r.count.wire_bytes, least->r.count.wire_bytes),
			least->name, compare_waste(&most->r));
}

static void say_pinned(FILE *f, const struct compare *x)
{
	const struct compare_row *most = extreme(x, figure_pinned, true);

	if (most->r.count.pinned_peak)
		fprintf(f, "4. %s pins the most, %llu page%s at a time.\n", most->name,
			(unsigned long long)most->r.count.pinned_peak,
			word_plural(most->r.count.pinned_peak));
	else
		fprintf(f, "4. None of them pins a page.\n");
}

/* "part (x13.9)", or without how much slower it was. */
static void say_row(char *text, size_t room, const struct compare_row *row,
		    enum work_hazard h)
{
	char cell[COMPARE_CELL];

	compare_cell(row, h, cell);
	if (row->hazard[h].end == WORK_OK && cell[0] == 'x')
		snprintf(text, room, "%s (%s)", row->name, cell);
	else
		snprintf(text, room, "%s", row->name);
}

/* "a, b and c" of the rows that end so; how many. */
static unsigned int list_ends(const struct compare *x, enum work_hazard h,
			      enum work_end end, char *list, size_t room)
{
	unsigned int n = 0, said = 0, i;
	char word[80];
	size_t at = 0;

	for (i = 0; i < x->rows; i++)
		n += x->row[i].hazard[h].end == end;
	for (i = 0; i < x->rows && at < room; i++) {
		if (x->row[i].hazard[h].end != end)
			continue;
		say_row(word, sizeof(word), &x->row[i], h);
		at += (size_t)snprintf(list + at, room - at, "%s%s",
				       !said ? "" : said + 1 == n ? " and " : ", ",
				       word);
		said++;
	}
	return n;
}

static void say_end(FILE *f, const struct compare *x, enum work_hazard h)
{
	static const struct {
		enum work_end end;
		const char *text;
	} said[] = {
		{ WORK_WRONG, "it leaves wrong data" },
		{ WORK_HANG, "it never ends" },
		{ WORK_NO_START, "it does not start" },
		{ WORK_ERROR, "it ends with an error" },
		{ WORK_OK, "it goes through" },
	};
	char list[1000];
	unsigned int i, n;

	fprintf(f, "   %s:", work_hazard_names[h]);
	for (i = 0, n = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		if (!list_ends(x, h, said[i].end, list, sizeof(list)))
			continue;
		fprintf(f, "%s %s with %s", n++ ? ";" : "", said[i].text, list);
	}
	if (n)
		fputs(".\n", f);
	else
		fprintf(f, " %s.\n", work_lacks(&x->work, h) ? work_lacks(&x->work, h) :
								"it is too small for that");
}

static void say_hazards(FILE *f, const struct compare *x)
{
	int h;

	fprintf(f, "%sWhat becomes of the work when something gets in its "
		"way:\n", x->rows > 1 ? "5. " : "");
	for (h = WORK_PLAIN + 1; h < WORK_HAZARDS; h++)
		say_end(f, x, (enum work_hazard)h);
}

void compare_sentences(FILE *f, const struct compare *x)
{
	if (!extreme(x, figure_total, false))
		return;
	fputc('\n', f);
	if (x->rows > 1) {
		say_times(f, x);
		say_wire(f, x);
		say_pinned(f, x);
	}
	if (x->hazards)
		say_hazards(f, x);
}
