// SPDX-License-Identifier: BSD-2-Clause
/* The text view: chosen records, with their meaning when wished. */
#include "tools/view/view.h"
#include "trace/trace.h"

void view_text(FILE *f, const struct view_trace *t,
	       const struct view_filter *filter, bool told)
{
	const struct trace_record *r;
	size_t i;

	trace_header_text(f);
	for (i = 0; i < t->n; i++) {
		r = &t->r[i];
		if ((filter->board >= 0 && r->board != filter->board) ||
		    (filter->xfer && r->xfer != filter->xfer) ||
		    (filter->block && r->block != filter->block) ||
		    (filter->event >= 0 && r->event != filter->event))
			continue;
		trace_record_text(f, r);
		if (told)
			fprintf(f, "#\t%s\n", trace_events[r->event].text);
	}
	if (t->lost)
		fprintf(f, "#lost %llu\n", (unsigned long long)t->lost);
}
