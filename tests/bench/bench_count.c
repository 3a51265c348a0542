// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instructions, counted by cachegrind. (Callgrind follows calls and handlers too, and gives
 * up where threads of lockstep wait in handlers that do not end in turn.) The program runs
 * itself twice, for few and for many operations; the difference leaves out all that happens
 * once.
 */
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct bench_path bench_paths[BENCH_PATHS] = {
	{ "hit", bench_count_hits, 1000, 51000, "SMMU: TLB hit" },
	{ "walk", bench_count_walks, 1000, 21000, "SMMU: table walk, 4 levels" },
	{ "record", bench_count_records, 1000, 101000, "trace record" },
	{ "packed", bench_count_packed, 1000, 21000,
	  "trace entry of a resident 8 B WRITE" },
	{ "write8", bench_count_write8, 100, 2100,
	  "8 B WRITE, post to completion, resident step" },
	{ "write8-long", bench_count_write8_long, 100, 2100,
	  "8 B WRITE, through engine and wire" },
	{ "write64k", bench_count_write64k, 10, 210,
	  "64 KB WRITE, resident step" },
	{ "write64k-cold", bench_count_write64k_cold, 10, 210,
	  "64 KB WRITE, resident step, pages that the TLB does not have" },
	{ "write64k-long", bench_count_write64k_long, 10, 210,
	  "64 KB WRITE, through engine and wire, cells of 4096" },
	{ "library8", bench_count_library8, 100, 2100,
	  "8 B WRITE, posted and polled by the library" },
	{ "fault", bench_count_fault, 50, 450,
	  "8 B WRITE, destination evicted before: eviction and fault" },
	{ "evict64", bench_count_evict, 20, 220,
	  "64 pages prefetched and evicted" },
	{ "checked16k", bench_count_checked, 10, 110,
	  "16 KB WRITE in lockstep, checked after each event" },
	{ "send8", bench_count_send8, 160, 1600,
	  "8 B SEND in packets, lockstep, not checked" },
};

static char self[4096];

void bench_count_self(const char *argv0)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		snprintf(self, sizeof(self), "%s", argv0);
}

static const struct bench_path *count_path(const char *name)
{
	unsigned int i;

	for (i = 0; i < BENCH_PATHS; i++)
		if (!strcmp(bench_paths[i].name, name))
			return &bench_paths[i];
	return NULL;
}

int bench_count_run(const char *name, uint64_t n)
{
	const struct bench_path *p = count_path(name);

	if (!p)
		return -EINVAL;
	p->run(n);
	return 0;
}

/*
 * Under valgrind a handler that repairs an access finds registers as they are only when
 * that is asked for, and `rep movsb` goes on one byte off: memcpy must do without it. What
 * else the C library chooses by the processor is that of every x86-64, so that counts do
 * not depend on the machine.
 */
#define TUNED								      \
	"GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000:"	      \
	"glibc.cpu.x86_rep_stosb_threshold=1000000000:"			      \
	"glibc.cpu.x86_non_temporal_threshold=1000000000:"		      \
	"glibc.cpu.hwcaps=-AVX2,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM,-SSSE3 "
#define EXACT	"--vex-iropt-register-updates=allregs-at-mem-access "

/* "I refs: 1,234" */
static double count_refs(const char *line)
{
	const char *at = strstr(line, "refs:");
	double n = 0;

	if (!at)
		return -1;
	for (at += strlen("refs:"); *at; at++)
		if (*at >= '0' && *at <= '9')
			n = n * 10 + (*at - '0');
	return n;
}

/* Threads that spin need the fair scheduler (or valgrind runs only those). */
static double count_collected(const char *program, const char *name)
{
	char command[5000], line[400];
	double count = -1;
	FILE *f;

	snprintf(command, sizeof(command),
		 TUNED "valgrind --tool=cachegrind --cache-sim=no --fair-sched=yes "
		 EXACT "--cachegrind-out-file=/dev/null %s 2>&1", program);
	f = popen(command, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (count_refs(line) >= 0)
			count = count_refs(line);
	if (pclose(f))
		bench_broken("counting %s under cachegrind failed", name);
	return count;
}

bool bench_count_can(void)
{
	return !system("valgrind --version >/dev/null 2>&1");
}

double bench_count_program(const char *program)
{
	double n;

	if (!bench_count_can())
		return -1;
	n = count_collected(program, program);
	if (n < 0)
		bench_broken("cachegrind counted nothing for %s", program);
	return n;
}

static double count_self(const char *name, uint64_t n)
{
	char program[4400];

	snprintf(program, sizeof(program), "'%s' --count %s %" PRIu64, self,
		 name, n);
	return count_collected(program, name);
}

double bench_count(const char *name)
{
	const struct bench_path *p = count_path(name);
	double few, many;

	if (!bench_count_can())
		return -1;
	few = count_self(name, p->few);
	many = count_self(name, p->many);
	if (few < 0 || many < few)
		bench_broken("cachegrind counted nothing for %s", name);
	return (many - few) / (double)(p->many - p->few);
}
