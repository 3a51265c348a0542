// SPDX-License-Identifier: BSD-2-Clause
/* What a trace has of a kind, for who asks for one that is not there. */
#include <stdlib.h>

#include "tools/view/view.h"
#include "trace/trace.h"

#define RUNS_MAX 8	/* told; then "..." */

/* The record's value; false: it has none. */
static bool value_of(const struct trace_record *r, enum view_kind kind,
		     uint32_t xfer, uint32_t *value)
{
	if (xfer && r->xfer != xfer)
		return false;
	switch (kind) {
	case VIEW_BOARD:
		*value = r->board;
		return true;
	case VIEW_XFER:
		*value = r->xfer;
		return r->xfer != 0;
	default:
		*value = r->block;
		return r->block != 0;
	}
}

bool view_has(const struct view_trace *t, enum view_kind kind, uint32_t xfer,
	      uint32_t value)
{
	uint32_t v;
	size_t i;

	for (i = 0; i < t->n; i++)
		if (value_of(&t->r[i], kind, xfer, &v) && v == value)
			return true;
	return false;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorted, each once. */
static size_t have_collect(const struct view_trace *t, enum view_kind kind,
			   uint32_t xfer, uint32_t *v)
{
	size_t i, n = 0, kept = 0;

	for (i = 0; i < t->n; i++)
		if (value_of(&t->r[i], kind, xfer, &v[n]))
			n++;
	qsort(v, n, sizeof(*v), by_value);
	for (i = 0; i < n; i++)
		if (!i || v[i] != v[i - 1])
			v[kept++] = v[i];
	return kept;
}

void view_say(FILE *f, const struct view_trace *t, enum view_kind kind,
	      uint32_t xfer)
{
	uint32_t *v = malloc((t->n + 1) * sizeof(*v));
	size_t n = v ? have_collect(t, kind, xfer, v) : 0, i, end, runs = 0;

	fputs(n == 0 ? "there is none" : n == 1 ? "there is only " :
						  "there are ", f);
	for (i = 0; i < n; i = end) {
		for (end = i + 1; end < n && v[end] == v[end - 1] + 1; end++)
			;
		if (i)
			fputs(", ", f);
		if (runs++ == RUNS_MAX) {
			fputs("...", f);
			break;
		}
		fprintf(f, "%u", v[i]);
		if (end - i > 1)
			fprintf(f, "%s%u", end - i > 2 ? " to " : " and ",
				v[end - 1]);
	}
	free(v);
}

unsigned int view_faults(const struct view_trace *t, uint32_t xfer)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < t->n; i++)
		n += t->r[i].event == EV_SMMU_FAULT &&
		     (!xfer || t->r[i].xfer == xfer);
	return n;
}
