// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a board takes: memory of the command with one board and with 64, in a row of links,
 * without a process on any. First of all groups: what the system says of a child begins with
 * what its parent had.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "bench_peer.h"

#define BOARDS	64

static FILE *boards_file(unsigned int n)
{
	FILE *f = tmpfile();
	unsigned int i;

	if (!f)
		bench_broken("no file for a scenario");
	for (i = 0; i < n; i++)
		fprintf(f, "board n%u\n", i);
	for (i = 1; i < n; i++)
		fprintf(f, "link n%u n%u\n", i - 1, i);
	fflush(f);
	return f;
}

/* The most that it had in memory. */
static double boards_mb(const char *mode, unsigned int n)
{
	FILE *f = boards_file(n);
	char name[40];
	const char *arg[] = { peer_faultline(), "run", "--mode", mode, name, NULL };
	struct rusage usage;

	snprintf(name, sizeof(name), "/dev/fd/%d", fileno(f));
	bench_child(arg, &usage);
	fclose(f);
	return (double)usage.ru_maxrss / 1024;
}

static void boards_row(const char *mode)
{
	double each[BENCH_ROUNDS], one = 0, all = 0;
	struct bench_spread s;
	char figure[60], yard[80];
	unsigned int i;

	for (i = 0; i < BENCH_ROUNDS; i++) {
		one = boards_mb(mode, 1);
		all = boards_mb(mode, BOARDS);
		each[i] = (all - one) / (BOARDS - 1);
	}
	bench_rounds(each, &s);
	snprintf(figure, sizeof(figure), "memory of each of %d boards, %s", BOARDS,
		 mode);
	snprintf(yard, sizeof(yard), "1 board %.1f MB, %d boards %.0f MB", one,
		 BOARDS, all);
	bench_row(&(struct bench_row){ figure, "MB", s, NULL, yard, BENCH_AT_MOST,
		1.5, "" });
}

void bench_boards(void)
{
	bench_title("Boards without processes");
	if (access(peer_faultline(), X_OK)) {
		bench_say("no figures: %s is missing (from the root of the tree: "
			  "make bench)", peer_faultline());
		return;
	}
	boards_row("lockstep");
	boards_row("threads");
}
