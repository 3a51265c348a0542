// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instructions, counted by callgrind. The program runs itself twice, for few and
 * for many operations; the difference leaves out all that happens once.
 */
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	void (*run)(uint64_t n);
} counts[] = {
	{ "hit", bench_count_hits },
	{ "walk", bench_count_walks },
	{ "record", bench_count_records },
	{ "write8", bench_count_write8 },
	{ "write64k", bench_count_write64k },
};

static char self[4096];

void bench_count_self(const char *argv0)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		snprintf(self, sizeof(self), "%s", argv0);
}

int bench_count_run(const char *name, uint64_t n)
{
	unsigned int i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (!strcmp(counts[i].name, name)) {
			counts[i].run(n);
			return 0;
		}
	return -EINVAL;
}

/* Threads that spin need the fair scheduler (or valgrind runs only those). */
static double count_collected(const char *name, uint64_t n)
{
	char command[5000], line[400];
	double count = -1;
	FILE *f;

	snprintf(command, sizeof(command),
		 "valgrind --tool=callgrind --fair-sched=yes "
		 "--callgrind-out-file=/dev/null '%s' --count %s %" PRIu64
		 " 2>&1", self, name, n);
	f = popen(command, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "Collected : ");

		if (at)
			count = strtod(at + strlen("Collected : "), NULL);
	}
	if (pclose(f))
		bench_broken("counting %s under callgrind failed", name);
	return count;
}

double bench_count(const char *name, uint64_t few, uint64_t many)
{
	double a, b;

	if (system("valgrind --version >/dev/null 2>&1"))
		return -1;
	a = count_collected(name, few);
	b = count_collected(name, many);
	if (a < 0 || b < a)
		bench_broken("callgrind counted nothing for %s", name);
	return (b - a) / (double)(many - few);
}
