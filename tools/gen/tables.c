// SPDX-License-Identifier: BSD-2-Clause
/* Sources that only the book needs as tables: trace events, timing. */
#include "gen.h"

#include <string.h>

static const struct {
	const char *name, *unit, *arg[4], *text;
} events[] = {
#define EVENT(name, unit, a0, a1, a2, a3, text)				      \
	{ #name, #unit, { a0, a1, a2, a3 }, text },
#include "trace/events.def"
};

static const struct {
	const char *name, *key, *unit;
	unsigned long long ideal;
	const char *text;
} timings[] = {
#define TIMING(name, key, unit, ideal, text) { #name, key, unit, ideal, text },
#include "sim/timing.def"
};

void gen_events(void)
{
	static const char source[] = "emu/trace/events.def";
	FILE *f = gen_open(GEN_BOOK, "events", source);
	size_t i, j;

	fputs("\n.Trace events\n[cols=\"5,2,5,8\",options=\"header\"]\n|===\n"
	      "|Event |Unit |Arguments |Meaning\n", f);
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		for (j = 0; j < i; j++)
			if (!strcmp(events[i].name, events[j].name))
				gen_bad(source, "%s is there twice",
					events[i].name);
		fprintf(f, "\n|%s\n|%s\n|", events[i].name, events[i].unit);
		for (j = 0; j < 4 && *events[i].arg[j]; j++)
			fprintf(f, "%s%s", j ? ", " : "", events[i].arg[j]);
		for (; j < 4; j++)
			if (*events[i].arg[j])
				gen_bad(source, "%s: an argument after \"\"",
					events[i].name);
		fputc('\n', f);
		gen_cell(f, events[i].text);
	}
	fputs("|===\n", f);
	gen_close(f, GEN_BOOK);
}

void gen_timing(void)
{
	static const char source[] = "emu/sim/timing.def";
	FILE *f = gen_open(GEN_BOOK, "timing", source);
	size_t i, j;

	fputs("\n.Timing parameters\n[cols=\"3,2,2,8\",options=\"header\"]\n"
	      "|===\n|Key |Unit |Default |Meaning\n", f);
	for (i = 0; i < sizeof(timings) / sizeof(timings[0]); i++) {
		for (j = 0; j < i; j++)
			if (!strcmp(timings[i].key, timings[j].key) ||
			    !strcmp(timings[i].name, timings[j].name))
				gen_bad(source, "%s is there twice",
					timings[i].key);
		fprintf(f, "\n|`%s`\n|%s\n|%llu\n", timings[i].key,
			timings[i].unit, timings[i].ideal);
		gen_cell(f, timings[i].text);
	}
	fputs("|===\n", f);
	gen_close(f, GEN_BOOK);
}
