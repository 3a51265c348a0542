// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rows of the table once more: as comma-separated values, and as a picture. In the
 * picture rows of one unit stand together, as bars on a logarithmic scale; a mark shows
 * where the target is, and a peer has another colour than we.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

/* ---- comma-separated values ---- */

static void csv_text(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

static void csv_row(FILE *f, const struct bench_kept *k)
{
	csv_text(f, k->group);
	fputc(',', f);
	csv_text(f, k->figure);
	fputc(',', f);
	csv_text(f, k->unit);
	if (k->value.windows)
		fprintf(f, ",%.6g,%.6g,%.6g,", k->value.median, k->value.low,
			k->value.high);
	else
		fprintf(f, ",,,,");
	if (k->want != BENCH_RECORD)
		fprintf(f, "%s %.6g", k->want == BENCH_AT_LEAST ? ">=" : "<=",
			k->target);
	fprintf(f, ",%s,", k->want == BENCH_RECORD || !k->value.windows ? "" :
			   k->met ? "yes" : "no");
	csv_text(f, k->note);
	fputc('\n', f);
}

int bench_csv(const char *path)
{
	const struct bench_kept *k;
	FILE *f = fopen(path, "w");
	unsigned int i, n;

	if (!f)
		return -errno;
	k = bench_kept(&n);
	fprintf(f, "group,figure,unit,median,min,max,target,met,note\n");
	for (i = 0; i < n; i++)
		csv_row(f, &k[i]);
	return fclose(f) ? -errno : 0;
}

/* ---- the picture ---- */

#define WIDTH	1180
#define LEFT	520	/* where bars begin */
#define ACROSS	460	/* of the longest bar */
#define LINE	17
#define TOP	64

struct chart {
	FILE *f;
	int y;
	double low, decades;	/* log10 of where the scale begins; its length */
};

static void chart_escape(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", f);
		else if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '>')
			fputs("&gt;", f);
		else
			fputc(*text, f);
	}
}

static void chart_text(const struct chart *c, int x, const char *class,
		       const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void chart_text(const struct chart *c, int x, const char *class,
		       const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(c->f, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, c->y, class);
	chart_escape(c->f, text);
	fprintf(c->f, "</text>\n");
}

static double chart_x(const struct chart *c, double v)
{
	double at = v > 0 ? (log10(v) - c->low) / c->decades : 0;

	return LEFT + ACROSS * (at < 0 ? 0 : at > 1 ? 1 : at);
}

static void chart_line(const struct chart *c, const char *class, double x,
		       int from, int to)
{
	fprintf(c->f, "<line class=\"%s\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" "
		"y2=\"%d\"/>\n", class, x, from, x, to);
}

static void range_widen(double v, double *low, double *high)
{
	if (v <= 0)
		return;
	if (*low <= 0 || v < *low)
		*low = v;
	if (v > *high)
		*high = v;
}

/* The scale of all rows of the unit: whole decades. */
static void chart_scale(struct chart *c, const struct bench_kept *k, unsigned int n,
			const char *unit)
{
	double low = 0, high = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (strcmp(k[i].unit, unit))
			continue;
		if (k[i].value.windows) {
			range_widen(k[i].value.low, &low, &high);
			range_widen(k[i].value.high, &low, &high);
		}
		if (k[i].want != BENCH_RECORD)
			range_widen(k[i].target, &low, &high);
	}
	c->low = low > 0 ? floor(log10(low) - 0.05) : 0;
	c->decades = high > 0 ? ceil(log10(high) + 0.05) - c->low : 1;
	if (c->decades < 1)
		c->decades = 1;
}

static void chart_axis(struct chart *c, unsigned int rows)
{
	int i, bottom = c->y + (int)rows * LINE + 4;

	for (i = 0; i <= (int)c->decades; i++) {
		double v = pow(10, c->low + i);

		chart_line(c, "grid", chart_x(c, v), c->y + 4, bottom);
		chart_text(c, (int)chart_x(c, v), "tick", "%g", v);
	}
}

static const char *number_text(double v)
{
	static char text[4][24];
	static unsigned int next;
	char *t = text[next++ % 4];

	snprintf(t, sizeof(text[0]), v >= 100 ? "%.0f" : v >= 1 ? "%.2f" : "%.3f", v);
	return t;
}

static void chart_value(const struct chart *c, const struct bench_kept *k)
{
	double end = LEFT;
	char more[60] = "";

	if (k->value.windows) {
		end = chart_x(c, k->value.median);
		fprintf(c->f, "<rect class=\"%s\" x=\"%d\" y=\"%d\" "
			"width=\"%.1f\" height=\"%d\"><title>",
			k->peer ? "peer" : "ours", LEFT, c->y - LINE + 6,
			end - LEFT, LINE - 5);
		chart_escape(c->f, k->note);
		fprintf(c->f, "</title></rect>\n<line class=\"range\" x1=\"%.1f\" "
			"y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n",
			chart_x(c, k->value.low), c->y - LINE / 2 + 3,
			chart_x(c, k->value.high), c->y - LINE / 2 + 3);
	}
	if (k->want != BENCH_RECORD) {
		chart_line(c, !k->value.windows ? "open" : k->met ? "met" : "missed",
			   chart_x(c, k->target), c->y - LINE + 4, c->y + 3);
		snprintf(more, sizeof(more), "; %s %s%s",
			 k->want == BENCH_AT_LEAST ? "at least" : "at most",
			 number_text(k->target), !k->value.windows ? "" :
			 k->met ? ": met" : ": MISSED");
	}
	chart_text(c, LEFT + ACROSS + 10, "value", "%s%s", k->value.windows ?
		   number_text(k->value.median) : "not measured", more);
}

static void chart_unit(struct chart *c, const struct bench_kept *k, unsigned int n,
		       const char *unit)
{
	const struct bench_kept *last = NULL;
	unsigned int i, lines = 0;

	for (i = 0; i < n; i++) {
		if (strcmp(k[i].unit, unit))
			continue;
		lines += 1 + (!last || strcmp(last->title, k[i].title));
		last = &k[i];
	}
	c->y += 2 * LINE;
	chart_text(c, 10, "unit", "%s", unit);
	chart_scale(c, k, n, unit);
	chart_axis(c, lines);
	for (i = 0, last = NULL; i < n; i++) {
		if (strcmp(k[i].unit, unit))
			continue;
		c->y += LINE;
		if (!last || strcmp(last->title, k[i].title)) {
			chart_text(c, 10, "title", "%s", k[i].title);
			c->y += LINE;
		}
		if (last && last->parent == k[i].parent && k[i].parent != i)
			chart_text(c, 40, "figure", "%s", k[i].name);
		else
			chart_text(c, 22, "figure", "%s", k[i].figure);
		chart_value(c, &k[i]);
		last = &k[i];
	}
}

static void chart_legend(struct chart *c)
{
	static const struct {
		const char *class, *text;
		int at;
	} item[] = {
		{ "ours", "Faultline, median", 10 },
		{ "peer", "others", 180 },
	};
	static const struct {
		const char *class, *text;
		int at;
	} mark[] = {
		{ "met", "target, met", 280 }, { "missed", "target, missed", 400 },
		{ "open", "target, not measured", 540 },
	};
	unsigned int i;

	c->y = 22;
	chart_text(c, 10, "unit", "What things cost (make bench): bars on a "
		   "logarithmic scale; thin lines from the lowest to the highest "
		   "round");
	c->y = 44;
	for (i = 0; i < 2; i++) {
		fprintf(c->f, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"24\" "
			"height=\"12\"/>\n", item[i].class, item[i].at, c->y - 10);
		chart_text(c, item[i].at + 30, "figure", "%s", item[i].text);
	}
	for (i = 0; i < 3; i++) {
		chart_line(c, mark[i].class, mark[i].at, c->y - 12, c->y + 3);
		chart_text(c, mark[i].at + 8, "figure", "%s", mark[i].text);
	}
	c->y = TOP - LINE;
}

static int chart_height(const struct bench_kept *k, unsigned int n)
{
	unsigned int lines = 4 + n, i, j;

	/* At most a title for each row, and a heading for each unit. */
	for (i = 0; i < n; i++) {
		for (j = 0; j < i && strcmp(k[j].unit, k[i].unit); j++)
			;
		lines += j == i ? 2 : 0;
		for (j = i; j && strcmp(k[j - 1].unit, k[i].unit); j--)
			;
		lines += !j || strcmp(k[j - 1].title, k[i].title);
	}
	return TOP + (int)lines * LINE;
}

int bench_svg(const char *path)
{
	const struct bench_kept *k;
	struct chart c = { .f = fopen(path, "w") };
	unsigned int i, j, n;

	if (!c.f)
		return -errno;
	k = bench_kept(&n);
	fprintf(c.f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\">\n<style>\n"
		"text { font-family: sans-serif; font-size: 12px; fill: #222; }\n"
		".unit { font-weight: bold; font-size: 14px; }\n"
		".title { font-style: italic; fill: #666; }\n"
		".tick { font-size: 10px; fill: #666; text-anchor: middle; }\n"
		".ours { fill: #4878a8; }\n.peer { fill: #c8a060; }\n"
		".grid { stroke: #ddd; }\n.range { stroke: #222; }\n"
		".met { stroke: #208020; stroke-width: 3; }\n"
		".missed { stroke: #c02020; stroke-width: 3; }\n"
		".open { stroke: #888; stroke-width: 3; }\n</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", WIDTH,
		chart_height(k, n));
	chart_legend(&c);
	for (i = 0; i < n; i++) {
		for (j = 0; j < i && strcmp(k[j].unit, k[i].unit); j++)
			;
		if (j == i)
			chart_unit(&c, k, n, k[i].unit);
	}
	fprintf(c.f, "</svg>\n");
	return fclose(c.f) ? -errno : 0;
}
