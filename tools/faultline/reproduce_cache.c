// SPDX-License-Identifier: BSD-2-Clause
/*
 * reproduce_cache.c - messages between two processes that register before each of them, at
 * a share of hits. The bound is that of one message, so that a buffer is found if and only
 * if the message before was from it.
 */
#include "tools/faultline/reproduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/scenario/runner.h"

#define MESSAGE		65536.0
#define PAGES		16
#define ROUNDS		6	/* and those that are not counted, see below */
#define ROUNDS_BEFORE	2
#define TEXT		4000

static const struct {
	const char *buffers;	/* of the messages of a round */
	const char *sets;
} cases[CACHE_CASES] = {
	[CACHE_HITS] = { "A", "" },
	[CACHE_MISSES] = { "AB", "" },
	[CACHE_QUARTER] = { "AABC", "" },
	[CACHE_HALF] = { "AABB", "" },
	[CACHE_MOST] = { "AAAABBBB", "" },
	[CACHE_OLD_HITS] = { "A", "set engine.mem_mbps = 4220\n" },
	[CACHE_OLD_MISSES] = { "AB", "set engine.mem_mbps = 4220\n"
				     "set mm.pin = 15480\nset mm.unpin = 15480\n" },
};

static void cache_text(int of, int rounds, char text[TEXT])
{
	const char *b;
	int n;

	n = snprintf(text, TEXT,
		     "profile pm\n%spolicy pincache cache=64K\n"
		     "board a\nboard b\nlink a b\nprocess p on a\nprocess q on b\n",
		     cases[of].sets);
	for (b = "ABC"; *b; b++)
		n += snprintf(text + n, TEXT - (size_t)n,
			      "buffer s%c in p 64K fill=random\n"
			      "buffer d%c in q 64K warm\n", *b, *b);
	n += snprintf(text + n, TEXT - (size_t)n, "connect p q as c\nrepeat %d\n",
		      rounds);
	for (b = cases[of].buffers; *b; b++)
		n += snprintf(text + n, TEXT - (size_t)n,
			      "region s%c\nregion d%c\npost w: write c s%c -> d%c\n"
			      "wait w by=polling\nexpect status w ok\n"
			      "deregister s%c\nderegister d%c\n",
			      *b, *b, *b, *b, *b, *b);
	snprintf(text + n, TEXT - (size_t)n, "end\n");
}

static int cache_run(int of, int rounds, uint64_t *time_ns)
{
	struct testbed_config cfg = { .seed = 1, .no_checks = true,
				      .trace_records = 4096 };
	struct runner_report report = { 0 };
	struct scenario *s;
	char text[TEXT];
	int err = 1;

	cache_text(of, rounds, text);
	s = scenario_parse("reproduce", text, stderr);
	if (s)
		err = scenario_run(s, &cfg, stderr, false, &report);
	scenario_free(s);
	*time_ns = report.time_ns;
	return err != 0;
}

_Static_assert(CACHE_HITS + 1 == CACHE_MISSES &&
	       CACHE_OLD_HITS + 1 == CACHE_OLD_MISSES, "reproduce_cache_page()");

/* What more rounds take more: begin and end of the run are in neither. */
static int cache_message_ns(int of, double *ns)
{
	size_t messages = ROUNDS * strlen(cases[of].buffers);
	uint64_t some, more;

	if (cache_run(of, ROUNDS_BEFORE, &some) ||
	    cache_run(of, ROUNDS_BEFORE + ROUNDS, &more))
		return 1;
	*ns = (double)(more - some) / (double)messages;
	return 0;
}

int reproduce_cache(int of, double *model)
{
	double ns;

	if (cache_message_ns(of, &ns))
		return 1;
	*model = MESSAGE * 1e3 / ns;
	return 0;
}

/* hits: CACHE_HITS or CACHE_OLD_HITS; their misses stand behind them. */
int reproduce_cache_page(int hits, double *model)
{
	double hit, miss;

	if (cache_message_ns(hits, &hit) || cache_message_ns(hits + 1, &miss))
		return 1;
	*model = (miss - hit) / PAGES;
	return 0;
}
