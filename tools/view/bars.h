/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bars.h - a table as a picture for a slide: rows with a few panels of bars beside each
 * other, and cells in colours. Plain SVG, the same for the same figures.
 */
#ifndef FL_BARS_H
#define FL_BARS_H

#include <stdbool.h>
#include <stdio.h>

#define BARS_ROWS	32u
#define BARS_PANELS	5u
#define BARS_COLUMNS	8u

struct bars_bar {
	double value, second;	/* second: of a panel with two bars a row */
	char label[24];
	bool none;		/* no such figure */
};

struct bars_panel {
	const char *title;
	const char *names[2];	/* of both bars; names[1] NULL: one a row */
	struct bars_bar bar[BARS_ROWS];
};

enum bars_mood { BARS_GOOD, BARS_SO_SO, BARS_WEAK, BARS_BAD, BARS_NEUTRAL };

struct bars_cell {
	char text[40];
	enum bars_mood mood;
};

struct bars {
	const char *title, *subtitle;
	unsigned int rows, panels, columns;
	const char *row[BARS_ROWS];
	struct bars_panel panel[BARS_PANELS];
	const char *columns_title;
	const char *column[BARS_COLUMNS];
	struct bars_cell cell[BARS_ROWS][BARS_COLUMNS];
};

/*
 * A panel whose largest value is more than 30 times its smallest is drawn on a
 * logarithmic scale, and says so. 0, or -EIO.
 */
int bars_svg(FILE *f, const struct bars *b);

#endif
