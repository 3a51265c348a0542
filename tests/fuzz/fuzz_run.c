// SPDX-License-Identifier: BSD-2-Clause
/*
 * Scenarios that are accepted and small are run in lockstep, twice with the same seed. Their
 * own expectations may fail. What holds for every testbed may not: the invariants, the oracle of
 * all bytes, coming to rest. Both runs take the same events and time.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tools/scenario/runner.h"

const char fuzz_name[] = "run";

#define STATEMENTS	60
#define PAGES_MOST	192u		/* of all buffers */
#define RUNS_MOST	200u		/* statements, with what is repeated */
#define TIME_MOST	100000000ull	/* of a sleep, ns */
#define BOARDS_MOST	4

static bool small_buffer(const struct statement *st, uint64_t *pages)
{
	/* buffer NAME in PROCESS SIZE: a file may have any size */
	*pages += st->arg[3].number / 4096 + 1;
	return st->arg[3].set && !statement_option(st, "file") &&
	       st->arg[3].number <= PAGES_MOST * 4096ull;
}

/* Would it end soon, and can it do without what this machine may not have? */
static bool is_small(const struct scenario *s)
{
	uint64_t pages = 0, runs = 0, times = 1;
	const struct statement *st;
	int i;

	if (s->count > STATEMENTS || s->names[NAME_BOARD] > BOARDS_MOST)
		return false;
	for (i = 0; i < s->count; i++) {
		st = &s->st[i];
		if (st->verb == V_REPEAT && !st->arg[0].number)
			continue;
		if (st->verb == V_REPEAT)
			times *= st->arg[0].number;
		if (st->verb == V_END && s->st[st->other].arg[0].number)
			times /= s->st[st->other].arg[0].number;
		runs += times;
		if (runs > RUNS_MOST || times > RUNS_MOST)
			return false;
		if (st->verb == V_BUFFER && !small_buffer(st, &pages))
			return false;
		if (st->verb == V_SLEEP && st->arg[0].number > TIME_MOST)
			return false;
		/*
		 * Values of the profile may be anything; registers may leave the
		 * card unable to do what is asked; an application that finds no
		 * memory for its own page ends as it would anywhere: by a signal.
		 */
		if (st->verb == V_SET || st->verb == V_PROFILE ||
		    st->verb == V_POKE || st->verb == V_STARVE ||
		    statement_option(st, "frames") ||
		    statement_option(st, "swap"))
			return false;
	}
	return pages <= PAGES_MOST;
}

static void run_once(const struct scenario *s, struct runner_report *report)
{
	struct testbed_config cfg = { .mode = SIM_LOCKSTEP, .seed = 1,
				    .trace_records = 1u << 16 };
	char *text, *problem;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	int status;

	FUZZ_EXPECT(f, "there is memory for the transcript");
	status = scenario_run(s, &cfg, f, false, report);
	fclose(f);
	FUZZ_EXPECT(status >= 0 && status <= 2, "status %d", status);
	/* A line's own expectation has a line and a column before it. */
	problem = strstr(text, "a.fl: FAILED: ");
	FUZZ_EXPECT(!problem, "%.400s", problem ? problem : "");
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	FILE *errors = fopen("/dev/null", "w");
	struct runner_report first, second;
	struct scenario *s;

	FUZZ_EXPECT(errors, "there is /dev/null");
	s = scenario_parse("a.fl", text, errors);
	if (s && is_small(s)) {
		run_once(s, &first);
		run_once(s, &second);
		FUZZ_EXPECT(first.time_ns == second.time_ns &&
			    first.events == second.events,
			    "%llu events in %llu ns, then %llu in %llu",
			    (unsigned long long)first.events,
			    (unsigned long long)first.time_ns,
			    (unsigned long long)second.events,
			    (unsigned long long)second.time_ns);
	}
	scenario_free(s);
	fclose(errors);
	free(text);
	return 0;
}
