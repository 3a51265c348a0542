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

/* The row's run once more: the same seed, so the same run. */
static int folder_trace(const struct command *c, const struct compare *x,
			const struct compare_row *row, const char *dir)
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
		err = pictures_put(&t, dir, row->name, r.count.faults != 0);
	view_free(&t);
	return err != 0;
}

int compare_folder(const struct command *c, const struct compare *x, const char *dir)
{
	int err = folder_put(c, x, dir, "table.txt", folder_text);
	unsigned int i;

	if (!err)
		err = folder_put(c, x, dir, "table.csv", compare_csv);
	if (!err)
		err = folder_put(c, x, dir, "compare.svg", folder_picture);
	for (i = 0; i < x->rows && !err; i++)
		if (compare_has_figures(&x->row[i]) &&
		    x->row[i].r.asked_bytes <= TRACE_BYTES_MOST)
			err = folder_trace(c, x, &x->row[i], dir);
	return err;
}
