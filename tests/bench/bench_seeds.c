// SPDX-License-Identifier: BSD-2-Clause
/*
 * What seeds cost that look for faults in packets: random testbeds of the order swarm, and one
 * scenario of npf. CPU seconds of 1,000 seeds, so that what others do to the machine changes
 * less. Each round has a third of the seeds, both kinds in turn; the table shows the rounds,
 * scaled to 1,000. Instructions of the first seeds do not change with the machine at all.
 */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench_peer.h"

#define SEEDS		1000u
#define MOST_SEEDS	1000000u
#define COUNTED		4u	/* seeds of the swarm under cachegrind, of SEEDS */
#define SCENARIO	"tests/scenario/system_npf.fl"

static const char *seeds_swarm(void)
{
	const char *program = getenv("BENCH_SWARM");

	return program ? program : "build/plain/tests/test_order_swarm";
}

static unsigned int seeds_wanted(void)
{
	const char *text = getenv("BENCH_SEEDS");
	unsigned long n;
	char *end;

	if (!text)
		return SEEDS;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n < BENCH_ROUNDS ||
	    n > MOST_SEEDS)
		bench_broken("BENCH_SEEDS=%s: not a number from %d to %u", text,
			     BENCH_ROUNDS, MOST_SEEDS);
	return (unsigned int)n;
}

static double time_s(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

/* CPU seconds of a program and of its children; it may not fail. arg: NULL at the end. */
static double seeds_run(const char *const *arg)
{
	struct rusage usage;

	bench_child(arg, &usage);
	return time_s(&usage.ru_utime) + time_s(&usage.ru_stime);
}

static double swarm_s(unsigned int first, unsigned int n)
{
	char seed[16], seeds[16];
	const char *arg[] = { seeds_swarm(), "--seed", seed, "packets", NULL };

	snprintf(seed, sizeof(seed), "%u", first);
	snprintf(seeds, sizeof(seeds), "%u", n);
	setenv("SWARM_SEEDS", seeds, 1);
	return seeds_run(arg);
}

static double scenario_s(unsigned int first, unsigned int n)
{
	char seed[16];
	const char *arg[] = { peer_faultline(), "run", "--seed", seed, SCENARIO,
			      NULL };
	double s = 0;
	unsigned int i;

	for (i = first; i < first + n; i++) {
		snprintf(seed, sizeof(seed), "%u", i);
		s += seeds_run(arg);
	}
	return s;
}

static void seeds_row(const char *figure, const double s[BENCH_ROUNDS],
		      unsigned int seeds, const char *note)
{
	struct bench_spread spread;
	char text[100];

	bench_rounds(s, &spread);
	snprintf(text, sizeof(text), "seeds 1 to %u; %s", seeds, note);
	bench_row(&(struct bench_row){ figure, "CPU s", spread, NULL, "",
		BENCH_RECORD, 0, text });
}

static void seeds_instructions(const char *figure, double n, unsigned int seeds)
{
	double each = n / seeds * 1e-6;
	struct bench_spread s = { each, each, each, n < 0 ? 0 : 1 };
	char text[60];

	snprintf(text, sizeof(text), "cachegrind, trace on; seeds 1 to %u", seeds);
	bench_row(&(struct bench_row){ figure, "Minstr.", s, NULL, "",
		BENCH_RECORD, 0, n < 0 ? "valgrind is not here" : text });
}

static void seeds_count(unsigned int seeds)
{
	unsigned int counted = seeds * COUNTED / SEEDS;
	char program[600], text[16];

	if (!counted)
		counted = 1;
	if (counted > COUNTED)
		counted = COUNTED;
	snprintf(text, sizeof(text), "%u", counted);
	setenv("SWARM_SEEDS", text, 1);
	snprintf(program, sizeof(program), "'%s' --seed 1 packets", seeds_swarm());
	seeds_instructions("  one seed", bench_count_program(program), counted);
}

void bench_seeds(void)
{
	const char *const need[] = { seeds_swarm(), peer_faultline(), SCENARIO };
	const unsigned int seeds = seeds_wanted();
	double swarm[BENCH_ROUNDS], scenario[BENCH_ROUNDS];
	unsigned int i, first = 1, n;
	char program[600];

	bench_title("1,000 seeds in packets, lockstep");
	for (i = 0; i < sizeof(need) / sizeof(need[0]); i++)
		if (access(need[i], R_OK)) {
			bench_say("no figures: %s is missing (from the root of "
				  "the tree: make bench)", need[i]);
			return;
		}
	for (i = 0; i < BENCH_ROUNDS; i++) {
		n = seeds * (i + 1) / BENCH_ROUNDS + 1 - first;
		swarm[i] = swarm_s(first, n) * SEEDS / n;
		scenario[i] = scenario_s(first, n) * SEEDS / n;
		first += n;
	}
	seeds_row("order swarm, part packets, 1,000 seeds", swarm, seeds,
		  "random testbeds, an oracle");
	seeds_count(seeds);
	seeds_row("scenario system_npf, 1,000 seeds", scenario, seeds,
		  "a process for each");
	snprintf(program, sizeof(program), "'%s' run " SCENARIO,
		 peer_faultline());
	seeds_instructions("  one seed", bench_count_program(program), 1);
	unsetenv("SWARM_SEEDS");
}
