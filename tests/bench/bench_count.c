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

/*
 * Under valgrind a handler that repairs an access finds registers as they are only when
 * that is asked for, and `rep movsb` goes on one byte off: memcpy must do without it.
 */
#define TUNED	"GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000 "
#define EXACT	"--vex-iropt-register-updates=allregs-at-mem-access "

/*
 * faults: the program repairs accesses of its own. Threads that spin need the fair scheduler
 * (or valgrind runs only those).
 */
static double count_collected(const char *program, const char *name, bool faults)
{
	char command[5000], line[400];
	double count = -1;
	FILE *f;

	snprintf(command, sizeof(command),
		 "%svalgrind --tool=callgrind --fair-sched=yes "
		 "--callgrind-out-file=/dev/null %s%s 2>&1",
		 faults ? TUNED : "", faults ? EXACT : "", program);
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

static bool count_can(void)
{
	return !system("valgrind --version >/dev/null 2>&1");
}

double bench_count_program(const char *program)
{
	double n;

	if (!count_can())
		return -1;
	n = count_collected(program, program, true);
	if (n < 0)
		bench_broken("callgrind counted nothing for %s", program);
	return n;
}

static double count_self(const char *name, uint64_t n)
{
	char program[4400];

	snprintf(program, sizeof(program), "'%s' --count %s %" PRIu64, self,
		 name, n);
	return count_collected(program, name, false);
}

double bench_count(const char *name, uint64_t few, uint64_t many)
{
	double a, b;

	if (!count_can())
		return -1;
	a = count_self(name, few);
	b = count_self(name, many);
	if (a < 0 || b < a)
		bench_broken("callgrind counted nothing for %s", name);
	return (b - a) / (double)(many - few);
}
