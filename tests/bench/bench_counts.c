// SPDX-License-Identifier: BSD-2-Clause
/*
 * make bench-counts: the instructions of each path of bench_count.c, beside those on record
 * (counts.txt). One that has grown by more than 3 % makes it fail; one that has shrunk by as
 * much wants the file renewed, or it could grow again and nobody would know.
 *
 * Another compiler, C library, processor or set of options makes other code, so the file says
 * what its counts are of, and only the same is compared.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "bench.h"

#define PERCENT		3.0	/* how much more is too much */
#define TRIES		3u
#define SKIPPED		77	/* exit status, see tests/run */
#define BUILT		"built "

#ifndef BENCH_FLAGS		/* of the compiler; from the Makefile */
#define BENCH_FLAGS	""
#endif

static double recorded[BENCH_PATHS];	/* 0: not in the file */

static const char *counts_built(void)
{
	static char text[200];
	struct utsname u;

	if (uname(&u))
		strcpy(u.machine, "unknown");
	snprintf(text, sizeof(text), "%s %s, %s %s, %s, %s",
#ifdef __clang__
		 "clang", __clang_version__,
#else
		 "gcc", __VERSION__,
#endif
#ifdef __GLIBC__
		 "glibc", gnu_get_libc_version(),
#else
		 "another", "libc",
#endif
		 u.machine, BENCH_FLAGS);
	return text;
}

static void counts_read_line(const char *path, unsigned int n, char *line)
{
	char name[32], more;
	double count;
	unsigned int i;

	if (sscanf(line, "%31s %lf %c", name, &count, &more) != 2 || count < 1)
		bench_broken("%s:%u: not a path and its instructions: %s", path, n,
			     line);
	for (i = 0; i < BENCH_PATHS; i++)
		if (!strcmp(bench_paths[i].name, name)) {
			recorded[i] = count;
			return;
		}
	bench_broken("%s:%u: no path is called %s (make bench-counts RECORD=yes "
		     "writes the file anew)", path, n, name);
}

/* False: of another compiler, which has been said. */
static bool counts_read(const char *path)
{
	const char *built = counts_built();
	char line[300];
	unsigned int n = 0;
	bool same = false, built_line = false;
	FILE *f = fopen(path, "r");

	if (!f)
		bench_broken("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		n++;
		line[strcspn(line, "\n")] = 0;
		if (!*line || *line == '#')
			continue;
		if (strncmp(line, BUILT, strlen(BUILT))) {
			counts_read_line(path, n, line);
			continue;
		}
		built_line = true;
		same = !strcmp(line + strlen(BUILT), built);
		if (same)
			continue;
		printf("SKIP: %s has counts of %s; this is %s\n", path,
		       line + strlen(BUILT), built);
		break;
	}
	fclose(f);
	if (!built_line)
		bench_broken("%s does not say what it was counted with (make "
			     "bench-counts RECORD=yes)", path);
	return same;
}

static double counts_lowest(const struct bench_path *p, unsigned int tries,
			    double until)
{
	double low = 0, n;

	/* Threads may meet in an unusual way, and then there is more to do. */
	while (tries-- && (low <= 0 || low > until)) {
		n = bench_count(p->name);
		if (low <= 0 || n < low)
			low = n;
	}
	return low;
}

static int counts_record(const char *path)
{
	const struct bench_path *p;
	double n[BENCH_PATHS];
	FILE *f;
	unsigned int i;

	for (i = 0; i < BENCH_PATHS; i++) {
		p = &bench_paths[i];
		n[i] = round(counts_lowest(p, TRIES, 0));
		printf("%-16s %8.0f  %s\n", p->name, n[i], p->text);
	}
	f = fopen(path, "w");
	if (!f)
		bench_broken("%s: %s", path, strerror(errno));
	fprintf(f, "# SPDX-License-Identifier: BSD-2-Clause\n"
		"# Instructions of one operation of each path, without what happens once.\n"
		"# make bench-counts compares; make bench-counts RECORD=yes writes this.\n"
		BUILT "%s\n", counts_built());
	for (i = 0; i < BENCH_PATHS; i++)
		fprintf(f, "%-16s %8.0f\n", bench_paths[i].name, n[i]);
	if (fclose(f))
		bench_broken("%s: %s", path, strerror(errno));
	return 0;
}

static int counts_compare(const struct bench_path *p, double was,
			  unsigned int *shrunk)
{
	double now, more;

	if (was <= 0) {
		printf("%-16s %8s  not on record (make bench-counts RECORD=yes)\n",
		       p->name, "-");
		return 1;
	}
	now = round(counts_lowest(p, TRIES, was * (1 + PERCENT / 100)));
	more = (now / was - 1) * 100;
	*shrunk += more < -PERCENT;
	printf("%-16s %8.0f %8.0f %+7.1f %% %-6s  %s\n", p->name, was, now, more,
	       more > PERCENT ? "GROWN" : more < -PERCENT ? "shrunk" : "", p->text);
	return more > PERCENT;
}

/* A name that is none would leave a path out in silence. */
static void counts_names(char **names, int n)
{
	char known[256] = "";
	unsigned int i;
	int j;

	for (i = 0; i < BENCH_PATHS; i++) {
		strcat(known, " ");
		strcat(known, bench_paths[i].name);
	}
	for (j = 0; j < n; j++) {
		for (i = 0; i < BENCH_PATHS && strcmp(bench_paths[i].name, names[j]); i++)
			;
		if (i == BENCH_PATHS)
			bench_broken("no path is called %s; there are, with spaces between them:%s",
				     names[j], known);
	}
}

static bool counts_wanted(const char *name, char **names, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return !n;
}

int bench_counts(const char *path, bool record, char **names, int n)
{
	unsigned int i, grown = 0, shrunk = 0, looked = 0;

	/* What is counted is the usual check, of what has changed. */
	unsetenv("FAULTLINE_CHECKS");
	if (!bench_count_can()) {
		printf("SKIP: valgrind is missing (make install-deps)\n");
		return SKIPPED;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	counts_names(names, n);
	if (record)
		return counts_record(path);
	if (!counts_read(path))
		return SKIPPED;
	printf("%-16s %8s %8s %9s\n", "path", "recorded", "now", "more");
	for (i = 0; i < BENCH_PATHS; i++) {
		if (!counts_wanted(bench_paths[i].name, names, n))
			continue;
		looked++;
		grown += (unsigned int)counts_compare(&bench_paths[i],
						      recorded[i], &shrunk);
	}
	if (shrunk)
		printf("%u of %u shrunk by more than %.0f %%: make bench-counts "
		       "RECORD=yes, so that they stay so\n", shrunk, looked, PERCENT);
	if (grown)
		printf("%u of %u grown by more than %.0f %%, or not on record; if "
		       "that has to be: make bench-counts RECORD=yes\n", grown,
		       looked, PERCENT);
	else
		printf("none of %u has grown by more than %.0f %%\n", looked, PERCENT);
	return grown > 0;
}
