// SPDX-License-Identifier: BSD-2-Clause
/* What compare leaves in a folder: the table in three forms, and each row's trace. */
#include <errno.h>
#include <string.h>

#include "tools/faultline/compare.h"
#include "tools/faultline/pictures.h"

/* Of larger works no trace is kept: a megabyte is some megabytes of text. */
#define TRACE_BYTES_MOST	(8ull << 20)

static int folder_say(const struct command *c, const char *path)
{
	fprintf(stderr, "faultline %s: cannot write %s: %s\n", c->name, path,
		strerror(errno));
	return 1;
}

static void folder_text(FILE *f, const struct compare *x)
{
	compare_print(f, x);
	compare_sentences(f, x);
}

static void folder_picture(FILE *f, const struct compare *x)
{
	if (compare_svg(f, x) == -ENOMEM)
		fputs("no memory for the picture\n", stderr);
}

static int folder_put(const struct command *c, const struct compare *x,
		      const char *dir, const char *name,
		      void (*put)(FILE *f, const struct compare *x))
{
	char path[600];
	FILE *f;
	bool bad;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		return folder_say(c, path);
	put(f, x);
	bad = ferror(f);
	bad |= fclose(f) != 0;
	return bad ? folder_say(c, path) : 0;
}

/* The row's run once more: the same seed, so the same run. *missing: as pictures_put(). */
static int folder_trace(const struct command *c, const struct compare *x,
			const struct compare_row *row, const char *dir,
			unsigned int *missing)
{
	struct view_trace t = { 0 };
	struct work_result r;
	char path[600];
	FILE *f;
	bool bad;
	int err;

	snprintf(path, sizeof(path), "%s/%s.trace", dir, row->name);
	f = fopen(path, "w");
	if (!f)
		return folder_say(c, path);
	compare_run(x, row, WORK_PLAIN, x->cfg.seed, 0, f, &r);
	bad = ferror(f);
	bad |= fclose(f) != 0;
	if (bad)
		return folder_say(c, path);
	err = view_load(path, &t, stderr);
	if (!err)
		err = pictures_put(&t, dir, row->name, r.count.faults != 0, missing);
	view_free(&t);
	return err != 0;
}

/* Which rows have no picture of a kind, and why. */
static void folder_say_missing(const struct compare *x, const unsigned int *missing)
{
	static const struct {
		unsigned int bit;
		const char *text, *why;
	} kind[] = {
		{ PICTURE_NO_STATES, "states",
		  "packets go through no context of the engine" },
		{ PICTURE_NO_WALK, "a walk",
		  "its pages were missed in a table of the card's, and on no walk of the SMMU" },
	};
	unsigned int i, k, n;

	for (k = 0; k < 2; k++) {
		for (i = 0, n = 0; i < x->rows; i++)
			if (missing[i] & kind[k].bit)
				printf("%s%s", n++ ? ", " : "", x->row[i].name);
		if (n)
			printf(": no picture of %s, since %s\n", kind[k].text, kind[k].why);
	}
}

int compare_folder(const struct command *c, const struct compare *x, const char *dir)
{
	unsigned int missing[COMPARE_ROWS] = { 0 };
	int err = folder_put(c, x, dir, "table.txt", folder_text);
	unsigned int i;

	if (!err)
		err = folder_put(c, x, dir, "table.csv", compare_csv);
	if (!err)
		err = folder_put(c, x, dir, "compare.svg", folder_picture);
	for (i = 0; i < x->rows && !err; i++)
		if (compare_has_figures(&x->row[i]) &&
		    x->row[i].r.asked_bytes <= TRACE_BYTES_MOST)
			err = folder_trace(c, x, &x->row[i], dir, &missing[i]);
	if (err)
		return err;
	printf("\nTable, picture and traces are in %s/\n", dir);
	folder_say_missing(x, missing);
	return 0;
}
