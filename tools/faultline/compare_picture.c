// SPDX-License-Identifier: BSD-2-Clause
/* The table of compare as a picture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/faultline/compare.h"
#include "tools/view/bars.h"

_Static_assert(COMPARE_ROWS <= BARS_ROWS, "the picture has a line for each row");

static void label_time(double ns, char label[24])
{
	if (ns >= 1e6)
		snprintf(label, 24, "%.2f ms", ns / 1e6);
	else
		snprintf(label, 24, ns >= 1e5 ? "%.0f us" : "%.1f us", ns / 1e3);
}

static void label_bytes(double bytes, char label[24])
{
	if (bytes >= 1048576)
		snprintf(label, 24, "%.2f MB", bytes / 1048576);
	else if (bytes >= 1024)
		snprintf(label, 24, "%.1f KB", bytes / 1024);
	else
		snprintf(label, 24, "%.0f B", bytes);
}

static void label_count(double n, char label[24])
{
	snprintf(label, 24, "%.0f", n);
}

enum { PANEL_TIME, PANEL_KERNEL, PANEL_WIRE, PANEL_PINNED, PANELS };

static const struct {
	const char *title, *names[2];
	void (*label)(double value, char label[24]);
} panels[PANELS] = {
	[PANEL_TIME] = { "time", { "with set-up", "transfer alone" }, label_time },
	[PANEL_KERNEL] = { "kernel CPU time", { NULL, NULL }, label_time },
	[PANEL_WIRE] = { "on the wire", { NULL, NULL }, label_bytes },
	[PANEL_PINNED] = { "pages pinned", { NULL, NULL }, label_count },
};

static void picture_bar(struct bars_bar *bar, int panel, const struct work_result *r)
{
	const struct work_counts *c = &r->count;
	const double values[PANELS] = {
		[PANEL_TIME] = (double)r->total_ns,
		[PANEL_KERNEL] = (double)counts_kernel_ns(c),
		[PANEL_WIRE] = (double)c->wire_bytes,
		[PANEL_PINNED] = (double)c->pinned_peak,
	};

	bar->value = values[panel];
	bar->second = panel == PANEL_TIME ? (double)r->transfer_ns : 0;
	panels[panel].label(bar->value, bar->label);
}

/* Where a peer died, or a right was taken away, an error is the right answer. */
static enum bars_mood picture_mood(const struct compare_row *row, enum work_hazard h)
{
	bool refused = h == WORK_DIES || h == WORK_RIGHTS;
	static const enum bars_mood moods[] = {
		[WORK_OK] = BARS_GOOD, [WORK_NO_START] = BARS_WEAK,
		[WORK_ERROR] = BARS_WEAK, [WORK_WRONG] = BARS_BAD,
		[WORK_HANG] = BARS_BAD, [WORK_BROKEN] = BARS_BAD,
		[WORK_TOO_SMALL] = BARS_NEUTRAL, [WORK_NOT_HERE] = BARS_NEUTRAL,
	};

	if (compare_slower(row, h) >= 1.05)
		return BARS_SO_SO;
	if (refused && moods[row->hazard[h].end] == BARS_WEAK)
		return BARS_GOOD;
	return moods[row->hazard[h].end];
}

static void picture_row(struct bars *b, const struct compare *x, unsigned int i)
{
	const struct compare_row *row = &x->row[i];
	struct bars_cell *cell;
	char text[COMPARE_CELL];
	unsigned int k;

	b->row[i] = row->title ? row->title : row->name;
	for (k = 0; k < PANELS; k++) {
		b->panel[k].bar[i].none = !compare_has_figures(row);
		if (compare_has_figures(row))
			picture_bar(&b->panel[k].bar[i], (int)k, &row->r);
	}
	for (k = 0; k < b->columns; k++) {
		cell = &b->cell[i][k];
		compare_cell(row, (enum work_hazard)(k + 1), text);
		snprintf(cell->text, sizeof(cell->text), "%s", text);
		cell->mood = picture_mood(row, (enum work_hazard)(k + 1));
	}
}

int compare_svg(FILE *f, const struct compare *x)
{
	struct bars *b = calloc(1, sizeof(*b));
	unsigned int i;
	int err;

	if (!b)
		return -ENOMEM;
	b->title = x->title;
	b->subtitle = x->subtitle;
	b->rows = x->rows;
	b->panels = PANELS;
	for (i = 0; i < PANELS; i++) {
		b->panel[i].title = panels[i].title;
		b->panel[i].names[0] = panels[i].names[0];
		b->panel[i].names[1] = panels[i].names[1];
	}
	b->columns = x->hazards ? WORK_HAZARDS - 1 : 0;
	b->columns_title = "what becomes of it when this gets in the way";
	for (i = 0; i < b->columns; i++)
		b->column[i] = work_hazard_names[i + 1];
	for (i = 0; i < x->rows; i++)
		picture_row(b, x, i);
	err = bars_svg(f, b);
	free(b);
	return err;
}
