// SPDX-License-Identifier: BSD-2-Clause
/*
 * One transfer as a sequence: lanes stand at fixed places, time runs down, one row an
 * event, so that nothing can cross. What is long is folded and counted.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/scenario/words.h"
#include "tools/view/rows.h"

#define LANE_PT		118	/* distance of lanes, points */
#define ROW_PT		25
#define ROWS_MAX	56	/* more do not fit a screen: the middle is folded */

static const char *const lane_names[LANES] = {
	"application", "library", "driver\\nand kernel", "SMMU",
	"card\\n(firmware, engine)", "wire", "card\\n(engine, firmware)",
	"SMMU", "driver\\nand kernel"
};

static const char *tone_color(enum tone t)
{
	switch (t) {
	case TONE_FAULT: return VIEW_FAULT;
	case TONE_REPAIR: return VIEW_REPAIR;
	case TONE_TROUBLE: return VIEW_DARK;
	default: return VIEW_GOOD;
	}
}

static void put_lanes(FILE *f, const struct rows *rows, size_t shown)
{
	int i, bottom = -(int)(shown + 1) * ROW_PT;

	for (i = 0; i < LANES; i++) {
		fprintf(f,
			"\ttop%d [pos=\"%d,%d!\" shape=box "
			"style=\"filled,rounded\" fillcolor=\"#EEEEEE\" "
			"color=\"#EEEEEE\" fontname=\"Helvetica-Bold\" "
			"label=\"%s\" width=1.45 height=0.5];\n",
			i, i * LANE_PT, 14, lane_names[i]);
		fprintf(f,
			"\tend%d [pos=\"%d,%d!\" shape=point width=0.01 "
			"color=\"" VIEW_GREY "\"];\n",
			i, i * LANE_PT, bottom);
		fprintf(f,
			"\ttop%d -> end%d [arrowhead=none style=dotted "
			"color=\"" VIEW_GREY "\"];\n",
			i, i);
	}
	fprintf(f,
		"\tside_a [pos=\"%d,52!\" shape=plaintext fontsize=13 "
		"label=\"board %u (posts)\"];\n",
		2 * LANE_PT, rows->home);
	fprintf(f,
		"\tside_b [pos=\"%d,52!\" shape=plaintext fontsize=13 "
		"label=\"peer\"];\n",
		7 * LANE_PT);
}

static void put_time(FILE *f, size_t i, int y, uint64_t ns)
{
	fprintf(f,
		"\ttime%zu [pos=\"%d,%d!\" shape=plaintext fontcolor=\""
		VIEW_DARK "\" fontname=\"Courier\" label=\"%llu.%03llu "
		"us\"];\n",
		i, -LANE_PT + 10, y, (unsigned long long)(ns / 1000),
		(unsigned long long)(ns % 1000));
}

static void put_row(FILE *f, size_t i, int y, const struct row *row,
		    uint64_t start_ns)
{
	const char *color = tone_color(row->tone);
	bool bold = row->tone == TONE_FAULT;
	char label[80];
	int a = row->from * LANE_PT, b = row->to * LANE_PT;

	row_label(row, label, sizeof(label));
	put_time(f, i, y, row->time_ns - start_ns);
	if (row->from == row->to) {
		fprintf(f,
			"\tnote%zu [pos=\"%d,%d!\" shape=box style=filled "
			"fillcolor=white color=\"%s\" fontcolor=\"%s\" "
			"penwidth=%s height=0.2 margin=\"0.05,0.01\" "
			"label=\"%s\"];\n",
			i, a, y, color, color, bold ? "2" : "1", label);
		return;
	}
	fprintf(f,
		"\tl%zu [pos=\"%d,%d!\" shape=point width=0.04 "
		"color=\"%s\"];\n\tr%zu [pos=\"%d,%d!\" shape=point "
		"width=0.04 color=\"%s\"];\n\tl%zu -> r%zu [color=\"%s\" "
		"penwidth=%s arrowsize=0.7];\n",
		i, a, y - 5, color, i, b, y - 5, color, i, i, color,
		bold ? "2.5" : "1.3");
	fprintf(f,
		"\ttext%zu [pos=\"%d,%d!\" shape=plaintext style=filled "
		"fillcolor=\"#FFFFFF\" height=0.1 margin=\"0.02,0\" "
		"fontcolor=\"%s\" fontname=\"%s\" label=\"%s\"];\n",
		i, (a + b) / 2, y + 4, color,
		bold ? "Helvetica-Bold" : "Helvetica", label);
}

static void put_fold(FILE *f, const char *name, int y, const char *text)
{
	fprintf(f,
		"\t%s [pos=\"%d,%d!\" shape=box style=\"filled,dashed\" "
		"fillcolor=\"#F7F7F7\" color=\"" VIEW_GREY "\" height=0.22 "
		"margin=\"0.1,0.02\" label=\"%s\"];\n",
		name, 5 * LANE_PT, y, text);
}

static void others_text(const struct rows *rows, char *text, size_t bytes)
{
	snprintf(text, bytes,
		 "... %u more block%s of this transfer: %u refused, %u sent "
		 "again",
		 rows->others.blocks, word_plural(rows->others.blocks),
		 rows->others.refused, rows->others.resent);
}

/* The completion comes after the other blocks. */
static size_t fold_before(const struct rows *rows)
{
	size_t i;

	for (i = 0; i < rows->n; i++)
		if (rows->row[i].rec.event == EV_FW_COMPLETE)
			return i;
	return rows->n;
}

int view_sequence(FILE *f, const struct view_trace *t, uint32_t xfer,
		  uint32_t block)
{
	struct rows rows;
	size_t i, skip_from, skip_to, at, fold;
	int y = 0, err = rows_make(&rows, t, xfer, block);
	uint64_t start_ns;
	char text[160], title[80];

	if (err)
		return err;
	rows_title(&rows, title, sizeof(title));
	start_ns = rows.n ? rows.row[0].time_ns : 0;
	skip_from = skip_to = rows.n;
	if (rows.n > ROWS_MAX) {
		skip_from = ROWS_MAX * 2 / 3;
		skip_to = rows.n - ROWS_MAX / 3;
	}
	fold = rows.others.blocks ? fold_before(&rows) : rows.n + 1;
	fprintf(f,
		"// %s; render with: dot -Tsvg\ndigraph sequence {\n"
		"\tgraph [layout=neato "
		"inputscale=72 splines=line outputorder=edgesfirst "
		"bgcolor=white pad=0.2 label=\"%s; "
		"times from its beginning at %llu.%03llu us\" "
		"labelloc=t fontname=\"Helvetica-Bold\" fontsize=15];\n\tnode "
		"[fontname=\"Helvetica\" fontsize=10];\n\tedge "
		"[fontname=\"Helvetica\" fontsize=10];\n",
		title, title, (unsigned long long)(start_ns / 1000),
		(unsigned long long)(start_ns % 1000));
	for (i = 0, at = 0; i < rows.n; i++) {
		if (i == skip_from) {
			y = -(int)++at * ROW_PT;
			snprintf(text, sizeof(text), "... %zu more step%s",
				 skip_to - skip_from,
				 word_plural(skip_to - skip_from));
			put_fold(f, "fold_rows", y, text);
		}
		if (i == fold) {
			y = -(int)++at * ROW_PT;
			others_text(&rows, text, sizeof(text));
			put_fold(f, "fold_blocks", y, text);
		}
		if (i >= skip_from && i < skip_to)
			continue;
		y = -(int)++at * ROW_PT;
		put_row(f, i, y, &rows.row[i], start_ns);
	}
	if (fold == rows.n) {
		others_text(&rows, text, sizeof(text));
		put_fold(f, "fold_blocks", -(int)++at * ROW_PT, text);
	}
	put_lanes(f, &rows, at);
	fputs("}\n", f);
	rows_free(&rows);
	return 0;
}
