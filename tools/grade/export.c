// SPDX-License-Identifier: BSD-2-Clause
/*
 * One record, told in the forms that others read. Of a hidden test its points are
 * told, never what it did.
 */
#include "tools/confine/confine.h"
#include "tools/grade/grade.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "os/os.h"

/* Each line of text, with something before it. */
static void export_lines(FILE *f, const char *before, const char *text)
{
	size_t n;

	while (text && *text) {
		n = strcspn(text, "\n");
		fprintf(f, "%s%.*s\n", before, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void export_walls(FILE *f, const char *whom, unsigned int held)
{
	fprintf(f, "the %s was kept from: %s%s%susing too much\n", whom,
		held & CONFINED_CALLS ? "network, other processes, " : "",
		held & CONFINED_FILES ? "files, " : "",
		held & CONFINED_NAMES ? "their names, " : "");
}

#define TOLD	3

/* The first failures in full; a wrong step explains the ones after it. */
static void export_text(const struct grade *g, FILE *f)
{
	unsigned int i, max, got = grade_score(g, &max), hidden = 0;
	unsigned int hidden_max = 0, absent = 0, told = 0, untold = 0;
	const char *group = "", *first = "";

	fprintf(f, "lab %s, %s, seed %" PRIu64 "\n", g->lab, g->name, g->seed);
	if (!g->built) {
		fprintf(f, "\ndid-not-build: no test was run; the compiler's "
			"words are in build.log\nscore %u of %u\n", got, max);
		return;
	}
	for (i = 0; i < g->tests; i++) {
		const struct grade_test *t = &g->test[i];

		if (strcmp(group, t->group)) {
			group = t->group;
			fprintf(f, "\n%s\n", group);
		}
		hidden += t->hidden;
		hidden_max += t->hidden ? t->points : 0;
		absent += t->verdict == V_ABSENT;
		fprintf(f, "  %3u of %-3u %-14s %s%s%s\n", t->got, t->points,
			verdict_names[t->verdict], t->name,
			t->says[0] && !t->hidden ? ": " : "",
			t->hidden ? "" : t->says);
		if (t->hidden || !t->text)
			continue;
		if (told++ < TOLD)
			export_lines(f, "      ", t->text);
		else if (!untold++)
			first = t->name;
	}
	if (untold)
		fprintf(f, "\n%u more can tell what was done: make grade LAB=%s"
			" ONLY=%s\n", untold, g->lab, first);
	fprintf(f, "\nscore %u of %u", got, max);
	if (hidden)
		fprintf(f, "; %u tests are hidden, %u points%s", hidden,
			hidden_max, absent ? ", not here and not counted yet" : "");
	fputc('\n', f);
	export_walls(f, "program", g->confined);
	if (!g->compiled_said)
		return;
	export_walls(f, "compiler", g->compiled);
	if (!(g->compiled & CONFINED_FILES))
		fprintf(f, "this system keeps a compiler from no file (that takes "
			"Linux 5.13 with Landlock, see\n/sys/kernel/security/lsm):"
			" grade others' work in a container with nothing to read\n");
}

/* Documentation/dev-tools/ktap.rst of Linux. */
static void export_ktap(const struct grade *g, FILE *f)
{
	unsigned int i;

	fprintf(f, "KTAP version 1\n1..%u\n", g->tests);
	for (i = 0; i < g->tests; i++) {
		const struct grade_test *t = &g->test[i];

		if (!t->hidden)
			export_lines(f, "# ", t->text);
		fprintf(f, "%s %u %s", t->verdict == V_PASS ||
			t->verdict == V_ABSENT ? "ok" : "not ok", i + 1,
			t->name);
		if (t->verdict == V_ABSENT)
			fprintf(f, " # SKIP hidden");
		else if (t->verdict != V_PASS)
			fprintf(f, " # %s", verdict_names[t->verdict]);
		fputc('\n', f);
	}
}

/* A JSON string. */
static void json_quote(FILE *f, const char *s)
{
	fputc('"', f);
	for (; s && *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", f);
		else if ((unsigned char)*s < ' ' || *s == 127)
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

/* Gradescope, "Autograder specifications", Output Format. */
static void export_gradescope(const struct grade *g, FILE *f)
{
	unsigned int i, max, got = grade_score(g, &max);
	uint64_t ms = 0;

	for (i = 0; i < g->tests; i++)
		ms += g->test[i].ms;
	fprintf(f, "{\n  \"score\": %u,\n  \"execution_time\": %" PRIu64 ",\n"
		"  \"stdout_visibility\": \"%s\",\n  \"output\": ", got,
		(ms + 999) / 1000, g->built ? "hidden" : "visible");
	json_quote(f, g->built ? "seed and limits: see README.adoc of the lab" :
				 "it did not build: the compiler's words are below");
	fprintf(f, ",\n  \"extra_data\": {\"lab\": \"%s\", \"seed\": %" PRIu64
		"},\n  \"tests\": [", g->lab, g->seed);
	for (i = 0; i < g->tests; i++) {
		const struct grade_test *t = &g->test[i];
		const char *says = t->text ? t->text :
					     verdict_names[t->verdict];

		fprintf(f, "%s\n    {\"name\": ", i ? "," : "");
		json_quote(f, t->name);
		fprintf(f, ", \"score\": %u, \"max_score\": %u, \"status\": "
			"\"%s\", \"visibility\": \"%s\",\n     \"tags\": [",
			t->got, t->points,
			t->verdict == V_PASS ? "passed" : "failed",
			t->hidden ? "after_published" : "visible");
		json_quote(f, t->group);
		fprintf(f, "], \"output\": ");
		json_quote(f, t->hidden ? verdict_names[t->verdict] : says);
		fputc('}', f);
	}
	fprintf(f, "\n  ]\n}\n");
}

/*
 * A spreadsheet takes what begins with one of =+-@ for a formula. An apostrophe before it
 * makes it text; before an apostrophe, too, so that no two names become the same. Some
 * spreadsheets also part lines at semicolons and the like, so after these as well.
 */
static void put_cell(FILE *f, const char *s)
{
	bool begins = true;

	fputc('"', f);
	for (; *s; s++) {
		if (begins && strchr("=+-@'", *s))
			fputc('\'', f);
		begins = strchr(";,|: \"\t", *s) && (begins || *s != ' ');
		if (*s == '"')
			fputc('"', f);
		fputc((unsigned char)*s < ' ' ? '?' : *s, f);
	}
	fputc('"', f);
}

static void export_csv(const struct grade *g, FILE *f)
{
	unsigned int i, max, got = grade_score(g, &max);

	fprintf(f, "lab,name,seed,score,max");
	for (i = 0; i < g->tests; i++)
		fprintf(f, ",%s", g->test[i].name);
	fprintf(f, "\n%s,", g->lab);
	put_cell(f, g->name);
	fprintf(f, ",%" PRIu64 ",%u,%u", g->seed, got, max);
	for (i = 0; i < g->tests; i++)
		fprintf(f, ",%u", g->test[i].got);
	fputc('\n', f);
}

int grade_export(const struct grade *g, const char *form, FILE *f)
{
	static const struct {
		const char *form;
		void (*put)(const struct grade *g, FILE *f);
	} forms[] = {
		{ "text", export_text }, { "ktap", export_ktap },
		{ "gradescope", export_gradescope }, { "csv", export_csv },
	};
	unsigned int i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (!strcmp(forms[i].form, form)) {
			forms[i].put(g, f);
			return 0;
		}
	return -EINVAL;
}
