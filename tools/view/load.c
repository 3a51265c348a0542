// SPDX-License-Identifier: BSD-2-Clause
/* Reading a trace file, and the text view of it. */
#include "tools/view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

static const char first_line[] = "#faultline-trace 1\n";

static int add_record(struct view_trace *t, size_t *room,
		      const struct trace_record *rec)
{
	struct trace_record *more;

	if (t->n == *room) {
		*room = *room ? 2 * *room : 1024;
		more = realloc(t->r, *room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->r = more;
	}
	t->r[t->n++] = *rec;
	return 0;
}

static int bad_line(const char *path, int line, int column, const char *text,
		    FILE *errors)
{
	size_t at = (size_t)column - 1, len = strlen(text);
	const char *here = at < len ? text + at : "";
	int n = (int)strcspn(here, " \n");

	fprintf(errors,
		"%s:%d:%d: '%.*s' stands here; wanted: seq<cause time "
		"board.UNIT EVENT xfer.block.attempt name=value ..., as "
		"`faultline trace` prints it\n",
		path, line, column, n < 60 ? n : 60, here);
	return -EINVAL;
}

static int load_lines(FILE *f, const char *path, struct view_trace *t,
		      FILE *errors)
{
	struct trace_record rec;
	unsigned long long lost;
	int line = 1, column, err = 0;
	size_t room = 0;
	char text[1024];

	if (!fgets(text, sizeof(text), f) || strcmp(text, first_line)) {
		if (ferror(f))
			return -errno;
		fprintf(errors,
			"%s:1:1: this is not a trace; wanted: the line "
			"'%.*s'\n",
			path, (int)sizeof(first_line) - 2, first_line);
		return -EINVAL;
	}
	while (!err && fgets(text, sizeof(text), f)) {
		line++;
		if (sscanf(text, "#lost %llu", &lost) == 1)
			t->lost += lost;
		if (text[0] == '#' || text[0] == '\n')
			continue;
		if (trace_record_parse(text, &rec, &column))
			err = bad_line(path, line, column, text, errors);
		else
			err = add_record(t, &room, &rec);
	}
	return err ? err : ferror(f) ? -EIO : 0;
}

int view_load(const char *path, struct view_trace *t, FILE *errors)
{
	FILE *f = fopen(path, "r");
	int err = f ? 0 : -errno;

	memset(t, 0, sizeof(*t));
	if (f) {
		errno = EIO;
		err = load_lines(f, path, t, errors);
		fclose(f);
	}
	if (err && err != -EINVAL)
		fprintf(errors, "%s: cannot read this trace: %s\n", path,
			strerror(-err));
	if (err)
		view_free(t);
	return err;
}

void view_free(struct view_trace *t)
{
	free(t->r);
	memset(t, 0, sizeof(*t));
}

/* How far back the cause of a record of another thread may stand. */
#define CAUSE_REACH 8192

static const struct trace_record *find_cause(const struct trace_record *r,
					     size_t i)
{
	uint64_t back = r[i].seq - r[i].cause;
	size_t k, reach = i < CAUSE_REACH ? i : CAUSE_REACH;

	if (!r[i].cause)
		return NULL;
	/* Lockstep: one ring, so that the distance is the difference. */
	if (back <= i && r[i - back].seq == r[i].cause)
		return &r[i - back];
	for (k = 1; k <= reach; k++)
		if (r[i - k].seq == r[i].cause)
			return &r[i - k];
	return NULL;
}

void view_inherit(struct trace_record *r, size_t n)
{
	const struct trace_record *cause;
	size_t i;

	for (i = 0; i < n; i++) {
		if (r[i].xfer || trace_events[r[i].event].unit != UNIT_WIRE)
			continue;
		cause = find_cause(r, i);
		if (!cause)
			continue;
		r[i].xfer = cause->xfer;
		r[i].block = cause->block;
		r[i].attempt = cause->attempt;
	}
}
