// SPDX-License-Identifier: BSD-2-Clause
/* What compare prints in columns: for people, and for a spreadsheet. */
#include <stdio.h>
#include <string.h>

#include "tools/faultline/compare.h"
#include "tools/faultline/job.h"
#include "tools/scenario/words.h"

/* ---- for people ---- */

/* A column: two lines of head, and a cell of a row. */
struct column {
	const char *above, *below;
	int width;
	void (*put)(const struct work_result *r, char cell[32]);
	bool operations;	/* only where there is more than one */
};

static void put_total(const struct work_result *r, char cell[32])
{
	job_time(r->total_ns, cell);
}

static void put_transfer(const struct work_result *r, char cell[32])
{
	job_time(r->transfer_ns, cell);
}

static void put_p50(const struct work_result *r, char cell[32])
{
	job_time(r->p50_ns, cell);
}

static void put_p99(const struct work_result *r, char cell[32])
{
	job_time(r->p99_ns, cell);
}

static void put_kernel(const struct work_result *r, char cell[32])
{
	job_time(counts_kernel_ns(&r->count), cell);
}

double compare_waste(const struct work_result *r)
{
	return 100.0 * ((double)r->count.payload_bytes - (double)r->asked_bytes) /
	       (double)r->asked_bytes;
}

static void put_waste(const struct work_result *r, char cell[32])
{
	snprintf(cell, 32, "%.0f%%", compare_waste(r));
}

static void put_goodput(const struct work_result *r, char cell[32])
{
	snprintf(cell, 32, "%.0f", r->total_ns ? (double)r->asked_bytes * 1e3 /
					       (double)r->total_ns : 0);
}

static void put_irqs(const struct work_result *r, char cell[32])
{
	uint64_t n = 0;
	int line;

	for (line = 0; line < IRQ_LINES; line++)
		n += r->count.irqs[line];
	snprintf(cell, 32, "%llu", (unsigned long long)n);
}

#define PUT(name)							\
	static void put_##name(const struct work_result *r, char cell[32])	\
	{								\
		snprintf(cell, 32, "%llu",				\
			 (unsigned long long)r->count.name);		\
	}
PUT(faults)
PUT(pages_in)
PUT(pinned_peak)
PUT(wire_bytes)
PUT(refused)
PUT(resent)
PUT(dropped)
PUT(copied_bytes)
#undef PUT

static const struct column columns[] = {
	{ "time with", "set-up", 11, put_total, false },
	{ "transfer", "alone", 11, put_transfer, false },
	{ "operation", "p50", 11, put_p50, true },
	{ "operation", "p99", 11, put_p99, true },
	{ "goodput", "MB/s", 7, put_goodput, false },
	{ "", "faults", 6, put_faults, false },
	{ "pages", "in", 6, put_pages_in, false },
	{ "pinned", "at most", 7, put_pinned_peak, false },
	{ "bytes on", "the wire", 8, put_wire_bytes, false },
	{ "of it", "waste", 5, put_waste, false },
	{ "", "refused", 7, put_refused, false },
	{ "", "resent", 6, put_resent, false },
	{ "answers", "dropped", 7, put_dropped, false },
	{ "inter-", "rupts", 6, put_irqs, false },
	{ "kernel's", "CPU time", 11, put_kernel, false },
	{ "bytes", "copied", 6, put_copied_bytes, false },
};
#define COLUMNS	(sizeof(columns) / sizeof(columns[0]))

static const char *row_title(const struct compare_row *row)
{
	return row->title ? row->title : row->name;
}

/* Of the first column. */
static int title_width(const struct compare *x)
{
	size_t most = strlen("system");
	unsigned int i;

	for (i = 0; i < x->rows; i++)
		if (strlen(row_title(&x->row[i])) > most)
			most = strlen(row_title(&x->row[i]));
	return (int)most;
}

static bool column_wanted(const struct compare *x, const struct column *c)
{
	return !c->operations || x->work.kind >= WORK_PATTERNS || x->work.count > 1;
}

static void put_heads(FILE *f, const struct compare *x)
{
	int width = title_width(x);
	size_t i;

	fprintf(f, "%-*s", width, "");
	for (i = 0; i < COLUMNS; i++)
		if (column_wanted(x, &columns[i]))
			fprintf(f, " %*s", columns[i].width, columns[i].above);
	fprintf(f, "\n%-*s", width, x->row[0].title ? "" : "system");
	for (i = 0; i < COLUMNS; i++)
		if (column_wanted(x, &columns[i]))
			fprintf(f, " %*s", columns[i].width, columns[i].below);
	fputc('\n', f);
}

static void put_row(FILE *f, const struct compare *x, const struct compare_row *row)
{
	char cell[COMPARE_CELL];
	size_t i;

	fprintf(f, "%-*s", title_width(x), row_title(row));
	if (!compare_has_figures(row)) {
		compare_cell(row, WORK_PLAIN, cell);
		fprintf(f, " %s\n", cell);
		return;
	}
	for (i = 0; i < COLUMNS; i++) {
		if (!column_wanted(x, &columns[i]))
			continue;
		columns[i].put(&row->r, cell);
		fprintf(f, " %*s", columns[i].width, cell);
	}
	fputc('\n', f);
}

/* No blanks behind the last one. */
static void put_word(FILE *f, enum work_hazard h, const char *word)
{
	if (h == WORK_HAZARDS - 1)
		fprintf(f, " %s\n", word);
	else
		fprintf(f, " %-20s", word);
}

static void put_hazards(FILE *f, const struct compare *x)
{
	char cell[COMPARE_CELL];
	int width = title_width(x), h;
	unsigned int i;

	fprintf(f, "\n%-*s", width, "system");
	for (h = WORK_PLAIN + 1; h < WORK_HAZARDS; h++)
		put_word(f, (enum work_hazard)h, work_hazard_names[h]);
	for (i = 0; i < x->rows; i++) {
		fprintf(f, "%-*s", width, row_title(&x->row[i]));
		for (h = WORK_PLAIN + 1; h < WORK_HAZARDS; h++) {
			compare_cell(&x->row[i], (enum work_hazard)h, cell);
			put_word(f, (enum work_hazard)h, cell);
		}
	}
	fputc('\n', f);
	for (h = WORK_PLAIN + 1; h < WORK_HAZARDS; h++)
		fprintf(f, "%-10s %s\n", work_hazard_names[h], work_hazard_texts[h]);
}

void compare_table(FILE *f, const struct compare *x)
{
	unsigned int i;

	put_heads(f, x);
	for (i = 0; i < x->rows; i++)
		put_row(f, x, &x->row[i]);
	if (x->hazards)
		put_hazards(f, x);
}

void compare_print(FILE *f, const struct compare *x)
{
	bool home = !strcmp(x->profile, "home");

	fprintf(f, "%s; profile %s, seed%s %llu", x->title,
		home ? "of each system's home" : x->profile,
		x->seeds > 1 ? "s" : "", (unsigned long long)x->cfg.seed);
	if (x->seeds > 1)
		fprintf(f, " to %llu (medians)",
			(unsigned long long)(x->cfg.seed + x->seeds - 1));
	fprintf(f, "; virtual time\n\n");
	compare_table(f, x);
}

/* ---- for a spreadsheet ---- */

static const struct {
	const char *name;
	size_t at;
} figures[] = {
#define FIGURE(name) { #name, offsetof(struct work_result, name) }
#define COUNT(name) { #name, offsetof(struct work_result, count.name) }
	FIGURE(total_ns), FIGURE(transfer_ns), FIGURE(p50_ns), FIGURE(p99_ns),
	FIGURE(ops), FIGURE(asked_bytes), COUNT(faults), COUNT(pages_in),
	COUNT(pinned_peak), COUNT(resident_peak), COUNT(wire_bytes),
	COUNT(payload_bytes), COUNT(refused), COUNT(resent), COUNT(dropped),
	{ "irqs_smmu", offsetof(struct work_result, count.irqs[IRQ_SMMU]) },
	{ "irqs_fault", offsetof(struct work_result, count.irqs[IRQ_NIC_FAULT]) },
	{ "irqs_event", offsetof(struct work_result, count.irqs[IRQ_NIC_EVENT]) },
	COUNT(cpu_irq_ns), COUNT(cpu_work_ns), COUNT(cpu_calls_ns),
	COUNT(copied_bytes),
};
#define FIGURES	(sizeof(figures) / sizeof(figures[0]))

static void csv_row(FILE *f, const struct compare *x, const struct compare_row *row)
{
	char cell[COMPARE_CELL];
	size_t i;
	int h;

	compare_cell(row, WORK_PLAIN, cell);
	fprintf(f, "%s,%s,%s,%llu,%llu", row->name, row->profile, cell,
		(unsigned long long)row->least_ns, (unsigned long long)row->most_ns);
	for (i = 0; i < FIGURES; i++)
		fprintf(f, ",%llu", (unsigned long long)*(const uint64_t *)
			(const void *)((const char *)&row->r + figures[i].at));
	for (h = WORK_PLAIN + 1; h < WORK_HAZARDS && x->hazards; h++) {
		compare_cell(row, (enum work_hazard)h, cell);
		fprintf(f, ",%s", cell);
	}
	fputc('\n', f);
}

void compare_csv(FILE *f, const struct compare *x)
{
	unsigned int k;
	size_t i;
	int h;

	fputs("system,profile,end,least_ns,most_ns", f);
	for (i = 0; i < FIGURES; i++)
		fprintf(f, ",%s", figures[i].name);
	for (h = WORK_PLAIN + 1; h < WORK_HAZARDS && x->hazards; h++)
		fprintf(f, ",%s", work_hazard_names[h]);
	fputc('\n', f);
	for (k = 0; k < x->rows; k++)
		csv_row(f, x, &x->row[k]);
}
