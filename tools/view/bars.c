// SPDX-License-Identifier: BSD-2-Clause
#include "tools/view/bars.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tools/view/view.h"

#define LEFT	24.0		/* of the names */
#define NAMES	112.0		/* their width at least */
#define LETTER	8.2		/* of one letter of them */
#define TOP	132.0		/* of the first row */
#define ROW	38.0		/* height of one */
#define PANEL	196.0		/* width of one, and of the bars in it */
#define BARS	118.0
#define GAP	16.0
#define CELL	124.0
#define LOG_FROM 30.0		/* so many times, and the scale is logarithmic */
#define FONT	"font-family=\"Helvetica, Arial, sans-serif\""
#define LIGHT	"#8FC1E3"	/* of VIEW_GOOD */

static void put_text(FILE *f, double x, double y, int size_px, const char *style,
		     const char *text)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" %s>", x, y, size_px,
		style);
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '&')
			fputs("&amp;", f);
		else
			fputc(*text, f);
	}
	fputs("</text>\n", f);
}

static void put_box(FILE *f, double x, double y, double w, double h,
		    const char *colour)
{
	/* Some readers complain of one that is not to be seen. */
	if (!(w > 0))
		return;
	fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
		"fill=\"%s\"/>\n", x, y, w, h, colour);
}

/* ---- one panel ---- */

struct scale {
	double least, most;	/* least: 0 unless logarithmic */
};

static void scale_add(struct scale *s, double value)
{
	if (value > s->most)
		s->most = value;
	if (value > 0 && (!(s->least > 0) || value < s->least))
		s->least = value;
}

static struct scale scale_of(const struct bars_panel *p, unsigned int rows)
{
	struct scale s = { 0, 0 };
	unsigned int i;

	for (i = 0; i < rows; i++) {
		if (p->bar[i].none)
			continue;
		scale_add(&s, p->bar[i].value);
		if (p->names[1])
			scale_add(&s, p->bar[i].second);
	}
	if (s.most <= s.least * LOG_FROM)
		s.least = 0;
	else
		s.least = pow(10, floor(log10(s.least) - 0.1));
	return s;
}

static double scale_width(const struct scale *s, double value)
{
	if (value <= s->least || s->most <= 0)
		return 0;
	if (!(s->least > 0))
		return BARS * value / s->most;
	return BARS * log(value / s->least) / log(s->most / s->least);
}

static void put_decades(FILE *f, const struct scale *s, double x, unsigned int rows)
{
	double at;

	for (at = s->least * 10; s->least > 0 && at <= s->most; at *= 10)
		fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
			"stroke=\"#DDDDDD\"/>\n", x + scale_width(s, at), TOP - 6,
			x + scale_width(s, at), TOP + rows * ROW - 4);
}

static void put_bar(FILE *f, const struct bars_panel *p, const struct scale *s,
		    const struct bars_bar *bar, double x, double y)
{
	double w = scale_width(s, bar->value), v;

	if (bar->none) {
		put_text(f, x + 4, y + 19, 13, "fill=\"" VIEW_GREY "\"", "-");
		return;
	}
	if (!p->names[1]) {
		put_box(f, x, y + 5, w, 18, VIEW_GOOD);
	} else {
		v = scale_width(s, bar->second);
		put_box(f, x, y + 2, w, 12, LIGHT);
		put_box(f, x, y + 14, v, 12, VIEW_GOOD);
		w = w > v ? w : v;
	}
	put_text(f, x + w + 5, y + 19, 13, "fill=\"" VIEW_DARK "\"", bar->label);
}

static void put_panel(FILE *f, const struct bars *b, unsigned int i, double x)
{
	const struct bars_panel *p = &b->panel[i];
	struct scale s = scale_of(p, b->rows);
	char title[100];
	unsigned int k;

	snprintf(title, sizeof(title), "%s%s", p->title,
		 s.least > 0 ? " (log)" : "");
	put_text(f, x, 96, 14, "font-weight=\"bold\" fill=\"" VIEW_DARK "\"", title);
	if (p->names[1]) {
		put_box(f, x, 106, 9, 9, LIGHT);
		put_text(f, x + 13, 115, 11, "fill=\"" VIEW_DARK "\"", p->names[0]);
		put_box(f, x + 83, 106, 9, 9, VIEW_GOOD);
		put_text(f, x + 96, 115, 11, "fill=\"" VIEW_DARK "\"", p->names[1]);
	}
	put_decades(f, &s, x, b->rows);
	for (k = 0; k < b->rows; k++)
		put_bar(f, p, &s, &p->bar[k], x, TOP + k * ROW);
	fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
		"stroke=\"" VIEW_GREY "\"/>\n", x, TOP - 6, x, TOP + b->rows * ROW - 4);
}

/* ---- cells ---- */

static void put_cells(FILE *f, const struct bars *b, double x)
{
	static const char *const fill[] = { [BARS_GOOD] = "#D9EFE8",
					    [BARS_SO_SO] = "#FBF1D6",
					    [BARS_WEAK] = "#F5C896",
					    [BARS_BAD] = VIEW_FAULT,
					    [BARS_NEUTRAL] = "#EEEEEE" };
	const struct bars_cell *c;
	unsigned int i, k;
	double y;

	put_text(f, x, 96, 14, "font-weight=\"bold\" fill=\"" VIEW_DARK "\"",
		 b->columns_title);
	for (k = 0; k < b->columns; k++)
		put_text(f, x + k * CELL + 4, 115, 12, "fill=\"" VIEW_DARK "\"",
			 b->column[k]);
	for (i = 0; i < b->rows; i++) {
		for (k = 0; k < b->columns; k++) {
			c = &b->cell[i][k];
			y = TOP + i * ROW;
			put_box(f, x + k * CELL, y, CELL - 4, 28, fill[c->mood]);
			put_text(f, x + k * CELL + 6, y + 18, 12,
				 c->mood == BARS_BAD ?
				 "font-weight=\"bold\" fill=\"white\"" :
				 "fill=\"" VIEW_DARK "\"", c->text);
		}
	}
}

/* Where the first panel begins. */
static double names_end(const struct bars *b)
{
	double most = NAMES, width;
	unsigned int i;

	for (i = 0; i < b->rows; i++) {
		width = LETTER * (double)strlen(b->row[i]) + GAP;
		most = width > most ? width : most;
	}
	return LEFT + most;
}

int bars_svg(FILE *f, const struct bars *b)
{
	double panels = names_end(b), cells, width, height;
	unsigned int i;

	cells = panels + b->panels * (PANEL + GAP);
	width = cells + b->columns * CELL + LEFT - (b->columns ? 4 : GAP);
	height = TOP + b->rows * ROW + 16;
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		"height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" " FONT ">\n", width, height,
		width, height);
	put_box(f, 0, 0, width, height, "white");
	put_text(f, LEFT, 40, 24, "font-weight=\"bold\" fill=\"" VIEW_DARK "\"",
		 b->title);
	put_text(f, LEFT, 63, 13, "fill=\"#606060\"", b->subtitle);
	for (i = 0; i < b->rows; i++) {
		if (i % 2 == 0)
			put_box(f, LEFT - 8, TOP + i * ROW - 5, width - 2 * LEFT + 16,
				ROW, "#F6F6F6");
		put_text(f, LEFT, TOP + i * ROW + 19, 15,
			 "font-weight=\"bold\" fill=\"" VIEW_DARK "\"", b->row[i]);
	}
	for (i = 0; i < b->panels; i++)
		put_panel(f, b, i, panels + i * (PANEL + GAP));
	if (b->columns)
		put_cells(f, b, cells);
	fputs("</svg>\n", f);
	return ferror(f) ? -EIO : 0;
}
