// SPDX-License-Identifier: BSD-2-Clause
/*
 * make bench: what things cost on this machine, beside what was aimed at.
 *
 *	bench [-o FILE] [GROUP ...]	groups: boards processes verbs models lockstep
 *				writes testbed faults seeds
 *				with -o also FILE as .csv and .svg (bench_chart.c)
 *	bench --count NAME N		for cachegrind: do one thing N times
 *	bench --counts FILE [NAME ...]	instructions beside those on record (bench_counts.c)
 *	bench --counts FILE --record	put them on record
 *	BENCH_SEEDS=N			group seeds: so many instead of 1000
 *
 * Time decides nothing here: the exit status is 0 unless something is broken.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/streams.h"

static const struct {
	const char *name;
	void (*run)(void);
} groups[] = {
	/* The order of these is that of bench.h. */
	{ "boards", bench_boards },
	{ "processes", bench_processes },
	{ "verbs", bench_verbs },
	{ "models", bench_models },
	{ "lockstep", bench_lockstep },
	{ "writes", bench_writes },
	{ "testbed", bench_testbed },
	{ "faults", bench_faults },
	{ "seeds", bench_seeds },
};

#define GROUPS	(sizeof(groups) / sizeof(groups[0]))

static bool main_wanted(const char *name, char **names, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return !n;
}

static bool main_known(const char *name)
{
	unsigned int i;

	for (i = 0; i < GROUPS; i++)
		if (!strcmp(groups[i].name, name))
			return true;
	return false;
}

static void main_group(unsigned int g)
{
	bench_group(groups[g].name);
	groups[g].run();
}

/* The table's other forms stand beside it. */
static void main_forms(const char *path)
{
	static const struct {
		const char *end, *what;
		int (*write)(const char *path);
	} forms[] = {
		{ "csv", "figures", bench_csv }, { "svg", "picture", bench_svg },
	};
	const char *dot = strrchr(path, '.');
	int stem = dot && !strchr(dot, '/') ? (int)(dot - path) : (int)strlen(path);
	char name[4096];
	unsigned int i;
	int err;

	printf("  table: %s\n", path);
	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%.*s.%s", stem, path, forms[i].end);
		err = forms[i].write(name);
		if (err)
			bench_broken("%s: %s", name, strerror(-err));
		printf("  %s: %s\n", forms[i].what, name);
	}
}

int main(int argc, char **argv)
{
	const char *path = NULL;
	int first = 1, i, err;
	bool record;
	unsigned int g;

	streams_begin();
	bench_count_self(argv[0]);
	if (argc == 4 && !strcmp(argv[1], "--count")) {
		err = bench_count_run(argv[2], strtoull(argv[3], NULL, 0));
		if (err)
			fprintf(stderr, "bench: nothing is called %s\n",
				argv[2]);
		return err ? 2 : 0;
	}
	if (argc > 2 && !strcmp(argv[1], "--counts")) {
		record = argc == 4 && !strcmp(argv[3], "--record");
		return bench_counts(argv[2], record, argv + 3,
				    record ? 0 : argc - 3);
	}
	if (argc > 2 && !strcmp(argv[1], "-o")) {
		path = argv[2];
		first = 3;
	}
	for (i = first; i < argc; i++)
		if (!main_known(argv[i])) {
			fprintf(stderr, "bench: no group %s; there are:",
				argv[i]);
			for (g = 0; g < GROUPS; g++)
				fprintf(stderr, " %s", groups[g].name);
			fprintf(stderr, "\n");
			return 2;
		}
	err = bench_table_begin(path);
	if (err) {
		fprintf(stderr, "bench: %s: %s\n", path, strerror(-err));
		return 2;
	}
	for (g = 0; g < GROUPS; g++)
		if (main_wanted(groups[g].name, argv + first, argc - first))
			main_group(g);
	bench_table_end();
	if (path)
		main_forms(path);
	bench_bounce_end();
	return streams_end("bench", 0);
}
