// SPDX-License-Identifier: BSD-2-Clause
/* The sequence picture as text: the same rows, a line each. */
#include "tools/scenario/words.h"
#include "tools/view/rows.h"

static const char *const lane_names[LANES] = {
	"application", "library", "driver", "SMMU", "card", "wire",
	"peer's card", "peer's SMMU", "peer's driver"
};

/* What stands in colour in the picture. */
static char tone_mark(enum tone t)
{
	switch (t) {
	case TONE_FAULT: return '!';
	case TONE_REPAIR: return '+';
	case TONE_TROUBLE: return '?';
	default: return ' ';
	}
}

int view_story(FILE *f, const struct view_trace *t, uint32_t xfer,
	       uint32_t block)
{
	const struct row *row;
	struct rows rows;
	uint64_t ns;
	char label[80], title[80];
	size_t i;
	int err = rows_make(&rows, t, xfer, block);

	if (err)
		return err;
	rows_title(&rows, title, sizeof(title));
	fprintf(f, "%s; microseconds; !: fault, +: repair\n", title);
	for (i = 0; i < rows.n; i++) {
		row = &rows.row[i];
		ns = row->time_ns - rows.row[0].time_ns;
		row_label(row, label, sizeof(label));
		fprintf(f, "%5llu.%03llu %c %-13s %s %-13s  %s\n",
			(unsigned long long)(ns / 1000),
			(unsigned long long)(ns % 1000), tone_mark(row->tone),
			lane_names[row->from],
			row->from == row->to ? "  " : "->",
			row->from == row->to ? "" : lane_names[row->to], label);
	}
	if (rows.others.blocks)
		fprintf(f, "%u other block%s: %u refused, %u sent again\n",
			rows.others.blocks, word_plural(rows.others.blocks),
			rows.others.refused, rows.others.resent);
	rows_free(&rows);
	return 0;
}
