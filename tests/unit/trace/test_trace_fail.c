// SPDX-License-Identifier: BSD-2-Clause
/* A recorder that gets no memory: it is not there, or says what it has lost. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig/fail.h"
#include "sim/sim.h"
#include "trace/trace.h"

#define EVENTS	6000

/* Fails at the first such call, at the second, and so on, until there are no more. */
static void create_without(const struct trace_config *cfg, enum fail_call call)
{
	struct trace *t = NULL;
	unsigned int n;

	for (n = 1; !t; n++) {
		fail_at(call, n, 1, ENOMEM);
		t = trace_create(cfg);
		EXPECT_EQ(fail_end(), t ? 0 : 1);
	}
	/* It has made such calls, or none of them would have failed. */
	EXPECT(n > 2);
	trace_destroy(t);
}

TEST("without memory there is no recorder")
{
	struct trace_config cfg = { .ring_records = 64 };
	size_t bytes;
	char *text;

	unsetenv("FAULTLINE_EVENT_COUNTS");
	STEP("lockstep");
	create_without(&cfg, FAIL_MAP);
	STEP("threads");
	cfg.threads = true;
	create_without(&cfg, FAIL_MAP);
	STEP("lockstep, with text");
	cfg.threads = false;
	cfg.out = open_memstream(&text, &bytes);
	create_without(&cfg, FAIL_MEMORY);
	create_without(&cfg, FAIL_MAP);
	fclose(cfg.out);
	free(text);
}

/* Rings 0 and 1 in turn, each record caused by the one before it. */
static void record_some(struct trace *t)
{
	struct trace_turn turn = { 0 };
	struct trace_at at = { 0 };
	int i;

	trace_follow(t, &turn);
	for (i = 0; i < EVENTS; i++) {
		turn.time_ns = (uint64_t)i;
		turn.ring = (uint32_t)i % 2;
		at.cause = trace_emit(t, EV_APP_NOTE, &at, (uint64_t)i, 0, 0, 0);
	}
	trace_follow(t, NULL);
}

TEST("a ring that there is no memory for is refused, and the others go on")
{
	static struct trace_record r[EVENTS];
	struct trace_config cfg = { .ring_records = EVENTS };
	struct trace *t = trace_create(&cfg);

	unsetenv("FAULTLINE_EVENT_COUNTS");
	EXPECT(t);
	fail_at(FAIL_MAP, 1, 1, ENOMEM);
	EXPECT_EQ(trace_ring_add(t), -ENOMEM);
	EXPECT_EQ(fail_end(), 1);
	EXPECT_EQ(trace_ring_add(t), 1);
	record_some(t);
	fail_at(FAIL_MEMORY, 1, 1, ENOMEM);
	EXPECT_EQ(trace_snapshot(t, r, EVENTS), 0);
	EXPECT_EQ(fail_end(), 1);
	EXPECT_EQ(trace_snapshot(t, r, EVENTS), EVENTS);
	EXPECT_EQ(r[EVENTS - 1].cause, EVENTS - 1);
	trace_destroy(t);
}

TEST("numbers that there is no memory for are said to be lost, and all records are there")
{
	struct trace_config cfg = { .ring_records = EVENTS };
	unsigned int lines = 0, unknown = 0, lost = 0;
	char *text, *line, *save = NULL;
	struct trace_record r;
	struct trace *t;
	size_t bytes;

	unsetenv("FAULTLINE_EVENT_COUNTS");
	cfg.out = open_memstream(&text, &bytes);
	t = trace_create(&cfg);
	EXPECT(t);
	EXPECT_EQ(trace_ring_add(t), 1);
	record_some(t);
	/* What is kept of numbers may grow once in each ring. */
	fail_at(FAIL_MAP, 3, 2 * EVENTS, ENOMEM);
	trace_destroy(t);
	fail_end();
	fclose(cfg.out);
	line = strtok_r(text, "\n", &save);
	EXPECT_STR(line, "#faultline-trace 1");
	while ((line = strtok_r(NULL, "\n", &save))) {
		if (sscanf(line, "#lost %u", &lost) == 1)
			continue;
		EXPECT_EQ(trace_record_parse(line, &r, NULL), 0);
		EXPECT_EQ(r.seq, ++lines);
		EXPECT(!r.cause || r.cause == r.seq - 1);
		unknown += !r.cause;
	}
	EXPECT_EQ(lines, EVENTS);
	/* The first has no cause, and nobody asks for the number of the last. */
	EXPECT(lost);
	EXPECT_EQ(unknown, lost);
	free(text);
}

TEST("a part of a run without memory for its ring is refused, and the next one is not")
{
	struct trace_config cfg = { .ring_records = 64 };
	struct sim_config sc = { .mode = SIM_LOCKSTEP };
	struct sim *sim;

	unsetenv("FAULTLINE_EVENT_COUNTS");
	sc.trace = trace_create(&cfg);
	sim = sim_create(&sc);
	EXPECT(sim);
	fail_at(FAIL_MAP, 1, 1, ENOMEM);
	EXPECT(!sim_domain_create(sim, "board"));
	EXPECT_EQ(fail_end(), 1);
	EXPECT(sim_domain_create(sim, "board"));
	sim_stop(sim);
	sim_destroy(sim);
	trace_destroy(sc.trace);
}

/* ---- threads: full rings are kept in a file ---- */

#define RING	64u
#define RINGS	5u	/* that become full, and one that does not */
#define MORE	10u

static struct {
	FILE *out;
	char *text;
	size_t bytes;
	struct trace *t;
} kept;

/* Records whose first number counts from 1. */
static void kept_begin(void)
{
	struct trace_config cfg = { .ring_records = RING, .threads = true };

	unsetenv("FAULTLINE_EVENT_COUNTS");
	kept.out = cfg.out = open_memstream(&kept.text, &kept.bytes);
	kept.t = trace_create(&cfg);
	EXPECT(kept.t);
}

static void kept_record(void)
{
	struct trace_at at = { 0 };
	uint64_t i;

	for (i = 1; i <= RING * RINGS + MORE; i++)
		trace_emit(kept.t, EV_APP_NOTE, &at, i, 0, 0, 0);
}

/* What is there is in order, and what is not is said to be lost. */
static void kept_end(unsigned int failures, uint64_t lost)
{
	uint64_t before = 0, lines = 0, said = 0;
	struct trace_record r;
	char *line, *save = NULL;

	trace_destroy(kept.t);
	EXPECT_EQ(fail_end(), failures);
	fclose(kept.out);
	line = strtok_r(kept.text, "\n", &save);
	EXPECT_STR(line, "#faultline-trace 1");
	while ((line = strtok_r(NULL, "\n", &save))) {
		if (sscanf(line, "#lost %" SCNu64, &said) == 1)
			continue;
		EXPECT_EQ(trace_record_parse(line, &r, NULL), 0);
		EXPECT_GE(r.arg[0], before + 1);
		before = r.arg[0];
		lines++;
	}
	EXPECT_EQ(before, RING * RINGS + MORE);
	EXPECT_EQ(said, lost);
	EXPECT_EQ(lines, RING * RINGS + MORE - lost);
	free(kept.text);
}

TEST("from a full ring on that the disk has no room for all are said to be lost")
{
	unsigned int nth;

	STEP("a signal came");
	kept_begin();
	fail_at(FAIL_WRITE, 2, 1, EINTR);
	kept_record();
	kept_end(1, 0);
	for (nth = 1; nth <= 2 * RINGS; nth++) {
		STEP("write %u", nth);
		kept_begin();
		fail_at(FAIL_WRITE, nth, 1, ENOSPC);
		kept_record();
		kept_end(1, RING * (RINGS - (nth - 1) / 2));
	}
}

/* Entries of two records, some of three, beside records of a place each. */
static uint64_t kept_record_posted(void)
{
	struct trace_posted p = { .qp = 1, .op = 1, .len = 8 };
	struct trace_at at = { 0 };
	uint64_t i, n = 0;

	for (i = 0; i < RING * RINGS; i++) {
		p.index = (uint16_t)i;
		p.took = i % 3 == 0;
		trace_emit_posted(kept.t, &p);
		n += 2 + p.took;
		if (i % 5 == 0) {
			trace_emit(kept.t, EV_APP_NOTE, &at, i, 0, 0, 0);
			n++;
		}
	}
	return n;
}

TEST("of entries that hold several records each is counted, also where they are lost")
{
	uint64_t all, lines, said;
	unsigned int nth;
	char *line, *save;

	for (nth = 1; nth <= 4; nth++) {
		STEP("write %u", nth);
		kept_begin();
		fail_at(FAIL_WRITE, nth, 1, ENOSPC);
		all = kept_record_posted();
		trace_destroy(kept.t);
		EXPECT_EQ(fail_end(), 1);
		fclose(kept.out);
		lines = said = 0;
		line = strtok_r(kept.text, "\n", &save);
		for (; line; line = strtok_r(NULL, "\n", &save))
			if (sscanf(line, "#lost %" SCNu64, &said) != 1)
				lines += line[0] != '#';
		EXPECT_GE(said, RING);
		EXPECT_EQ(lines + said, all);
		free(kept.text);
	}
}

TEST("a file of full rings that cannot be read again is said to be lost")
{
	kept_begin();
	kept_record();
	fail_at(FAIL_WRITE, 1, 1, EIO);
	kept_end(1, RINGS * RING);
	kept_begin();
	kept_record();
	fail_at(FAIL_MAP, 1, 1, ENOMEM);
	kept_end(1, RINGS * RING);
}
