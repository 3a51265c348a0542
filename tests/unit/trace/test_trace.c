// SPDX-License-Identifier: BSD-2-Clause
/* The recorder and the text form of its records. variants: tsan */
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"

static const struct trace_at nowhere;

/*
 * The test runner asks which events real code emitted; what these tests emit by
 * hand must not count.
 */
static struct trace *test_trace_create(const struct trace_config *cfg)
{
	struct trace *t;

	unsetenv("FAULTLINE_EVENT_COUNTS");
	t = trace_create(cfg);
	EXPECT(t != NULL);
	return t;
}

static void test_trace_destroy(void *t)
{
	trace_destroy(t);
}

static struct trace *test_trace_lockstep(uint32_t records, FILE *out)
{
	struct trace_config cfg = { .ring_records = records, .out = out };

	return test_trace_create(&cfg);
}

static void free_it(void *p)
{
	free(p);
}

/* The text of one record, in buf. */
static void text_of(const struct trace_record *r, char *buf, size_t n)
{
	FILE *f = fmemopen(buf, n, "w");

	trace_record_text(f, r);
	fclose(f);
}

static uint64_t test_trace_mix(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state ^ *state >> 29;
}

/* A record of event ev, as the text can hold it: some values extreme. */
static struct trace_record some_record(int ev, uint64_t *state)
{
	static const uint64_t special[] = { 0, 1, UINT64_MAX, 1ull << 63,
					    INT64_MAX, (uint64_t)-EFAULT };
	struct trace_record r = { .event = (uint16_t)ev };
	int i;

	r.seq = (test_trace_mix(state) & 0xffffffffffff) | 1;
	r.cause = test_trace_mix(state) % r.seq;
	r.time_ns = test_trace_mix(state);
	r.board = (uint8_t)test_trace_mix(state);
	r.xfer = (uint32_t)test_trace_mix(state);
	r.block = (uint32_t)test_trace_mix(state);
	r.attempt = (uint32_t)test_trace_mix(state);
	for (i = 0; i < TRACE_ARGS && *trace_events[ev].arg[i]; i++)
		r.arg[i] = test_trace_mix(state) & 1 ? test_trace_mix(state) :
			   special[test_trace_mix(state) % 6];
	return r;
}

TEST("every event reads back from its text as it was written")
{
	uint64_t state = test_seed();
	struct trace_record r, back;
	char line[512];
	int ev, round;

	for (ev = 0; ev < EV_COUNT; ev++) {
		for (round = 0; round < 50; round++) {
			r = some_record(ev, &state);
			text_of(&r, line, sizeof(line));
			STEP("%s", line);
			EXPECT_EQ(trace_record_parse(line, &back, NULL), 0);
			EXPECT_MEM(&back, &r, sizeof(r));
		}
	}
}

TEST("a record of a thread keeps its ring and wall time in the text")
{
	struct trace_record r = { .seq = 3ull << 48 | 7, .cause = 2ull << 48 | 9,
				  .wall_ns = 1234, .event = EV_IRQ_RAISE,
				  .board = 1, .arg = { 5 } };
	struct trace_record back;
	char line[512];

	text_of(&r, line, sizeof(line));
	EXPECT_STR(line, "3:7<2:9 +1234 1.KERNEL IRQ_RAISE 0.0.0 line=5\n");
	EXPECT_EQ(trace_record_parse(line, &back, NULL), 0);
	EXPECT_MEM(&back, &r, sizeof(r));
}

TEST("addresses print in hexadecimal, an errno as a negative number")
{
	struct trace_record r = { .seq = 12, .cause = 11, .time_ns = 38000,
				  .event = EV_MM_FAULT, .xfer = 1, .block = 2,
				  .attempt = 3,
				  .arg = { 4, 0x7f00dead0000, 1,
					   (uint64_t)-EFAULT } };
	char line[512];

	text_of(&r, line, sizeof(line));
	EXPECT_STR(line, "12<11 38000 0.KERNEL MM_FAULT 1.2.3 pid=4 "
			 "va=0x7f00dead0000 write=1 result=-14\n");
}

TEST("wall time does not reach the text of a lockstep record")
{
	struct trace_record a = { .seq = 1, .event = EV_SMMU_SYNC }, b = a;
	char one[512], two[512];

	b.wall_ns = 99;
	text_of(&a, one, sizeof(one));
	text_of(&b, two, sizeof(two));
	EXPECT_STR(two, one);
}

TEST("a mistake in a line is found at its column")
{
	static const struct {
		const char *line;
		int column;
	} bad[] = {
		{ "", 1 },
		{ "x", 1 },
		{ "#faultline-trace 1", 1 },
		{ "0<0 1 0.SMMU SMMU_SYNC 0.0.0 bank=1", 1 },
		{ "1", 2 },
		{ "1>0 1 0.SMMU SMMU_SYNC 0.0.0 bank=1", 2 },
		{ "1<y 1 0.SMMU SMMU_SYNC 0.0.0 bank=1", 3 },
		{ "1<0  1 0.SMMU SMMU_SYNC 0.0.0 bank=1", 5 },
		{ "1<0 +1 0.SMMU SMMU_SYNC 0.0.0 bank=1", 5 },
		{ "1:1<0 1 0.SMMU SMMU_SYNC 0.0.0 bank=1", 7 },
		{ "0:1<0 +1 0.SMMU SMMU_SYNC 0.0.0 bank=1", 1 },
		{ "65536:1<0 +1 0.SMMU SMMU_SYNC 0.0.0 bank=1", 1 },
		{ "281474976710656<0 1 0.SMMU SMMU_SYNC 0.0.0 bank=1", 1 },
		{ "1<0 18446744073709551616 0.SMMU SMMU_SYNC 0.0.0 bank=1", 5 },
		{ "1<0 01 0.SMMU SMMU_SYNC 0.0.0 bank=1", 5 },
		{ "1<0 1 256.SMMU SMMU_SYNC 0.0.0 bank=1", 7 },
		{ "1<0 1 0-SMMU SMMU_SYNC 0.0.0 bank=1", 8 },
		{ "1<0 1 0.ENGINE SMMU_SYNC 0.0.0 bank=1", 9 },
		{ "1<0 1 0.SMM SMMU_SYNC 0.0.0 bank=1", 9 },
		{ "1<0 1 0.SMMU SMMU_SINK 0.0.0 bank=1", 14 },
		{ "1<0 1 0.SMMU", 13 },
		{ "1<0 1 0.SMMU SMMU_SYNC 0.0 bank=1", 27 },
		{ "1<0 1 0.SMMU SMMU_SYNC 4294967296.0.0 bank=1", 24 },
		{ "1<0 1 0.SMMU SMMU_SYNC 0.0.0", 29 },
		{ "1<0 1 0.SMMU SMMU_SYNC 0.0.0 bunk=1", 30 },
		{ "1<0 1 0.SMMU SMMU_SYNC 0.0.0 bank=", 35 },
		{ "1<0 1 0.SMMU SMMU_SYNC 0.0.0 bank=0x1", 36 },
		{ "1<0 1 0.SMMU SMMU_SYNC 0.0.0 bank=-0", 36 },
		{ "1<0 1 0.SMMU SMMU_SYNC 0.0.0 bank=9223372036854775808", 35 },
		{ "1<0 1 0.SMMU SMMU_SYNC 0.0.0 bank=1 va=0x0", 36 },
		{ "1<0 1 0.SMMU SMMU_SYNC 0.0.0 bank=1\n\n", 37 },
		{ "1<0 1 0.SMMU SMMU_TERMINATED 0.0.0 bank=1 va=12", 46 },
		{ "1<0 1 0.SMMU SMMU_TERMINATED 0.0.0 bank=1 va=0xG", 48 },
		{ "1<0 1 0.SMMU SMMU_TERMINATED 0.0.0 bank=1 va=0xA", 48 },
		{ "1<0 1 0.SMMU SMMU_TERMINATED 0.0.0 va=0x1 bank=1", 36 },
	};
	struct trace_record r;
	int column;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("parse \"%s\"", bad[i].line);
		column = 0;
		EXPECT_EQ(trace_record_parse(bad[i].line, &r, &column), -EINVAL);
		EXPECT_EQ(column, bad[i].column);
	}
}

TEST("cutting a line short or changing a byte never reads as another length")
{
	uint64_t state = test_seed();
	struct trace_record r, back;
	char line[512], again[512];
	size_t n, i;
	int ev;

	for (ev = 0; ev < EV_COUNT; ev++) {
		r = some_record(ev, &state);
		text_of(&r, line, sizeof(line));
		n = strlen(line);
		for (i = 0; i < 200; i++) {
			line[test_trace_mix(&state) % n] =
				(char)(test_trace_mix(&state) % 127 + 1);
			if (trace_record_parse(line, &back, NULL))
				continue;
			/* What is accepted is exactly what would be written. */
			text_of(&back, again, sizeof(again));
			if (strchr(line, '\n'))
				EXPECT_STR(line, again);
			else
				EXPECT(!strncmp(line, again, n - 1));
		}
	}
}

TEST("a record keeps its cause, its place, its time and its arguments")
{
	const struct trace_at at = { .board = 2, .xfer = 3, .block = 4,
				     .attempt = 5 };
	struct trace_at effect = at;
	struct trace *t = test_trace_lockstep(16, NULL);
	struct trace_turn turn = { .time_ns = 100 };
	struct trace_record r[3];
	uint64_t first, second;

	test_cleanup(test_trace_destroy, t);
	trace_follow(t, &turn);
	first = trace_emit(t, EV_ENG_FAULT, &at, 1, 0, 0x4000, 6);
	turn.time_ns = 250;
	effect.cause = first;
	second = trace_emit(t, EV_DRV_WORK, &effect, 9, 8, 7, 6);
	EXPECT_NE(first, 0);
	EXPECT_EQ(second, first + 1);
	EXPECT_EQ(trace_snapshot(t, r, 3), 2);
	EXPECT_EQ(r[0].seq, first);
	EXPECT_EQ(r[0].cause, 0);
	EXPECT_EQ(r[0].time_ns, 100);
	EXPECT_EQ(r[0].arg[2], 0x4000);
	EXPECT_EQ(r[1].cause, first);
	EXPECT_EQ(r[1].time_ns, 250);
	EXPECT_EQ(r[1].event, EV_DRV_WORK);
	EXPECT_EQ(r[1].board, 2);
	EXPECT_EQ(r[1].xfer, 3);
	EXPECT_EQ(r[1].block, 4);
	EXPECT_EQ(r[1].attempt, 5);
	EXPECT_EQ(r[1].arg[0], 9);
	EXPECT_EQ(r[1].arg[3], 6);
}

TEST("a ring that wraps keeps the newest records, oldest first")
{
	struct trace *t = test_trace_lockstep(5, NULL);
	struct trace_record r[32];
	int i;

	test_cleanup(test_trace_destroy, t);
	EXPECT_EQ(trace_snapshot(t, r, 32), 0);
	for (i = 1; i <= 27; i++)
		trace_emit(t, EV_APP_NOTE, &nowhere, (uint64_t)i, 0, 0, 0);
	STEP("5 records were asked for, 8 is the next power of two");
	EXPECT_EQ(trace_snapshot(t, r, 32), 8);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(r[i].arg[0], 20 + i);
	EXPECT_EQ(trace_snapshot(t, r, 3), 3);
	EXPECT_EQ(r[0].arg[0], 25);
	EXPECT_EQ(r[2].arg[0], 27);
	EXPECT_EQ(trace_snapshot(t, r, 0), 0);
}

/* Events emitted by one and the same code, text in *text. */
static void write_story(uint32_t records, char **text, size_t *n)
{
	FILE *f = open_memstream(text, n);
	struct trace *t = test_trace_lockstep(records, f);
	struct trace_at at = { .xfer = 1 };
	struct trace_turn turn = { 0 };
	int i;

	trace_follow(t, &turn);
	for (i = 0; i < 1000; i++) {
		turn.time_ns = (uint64_t)i * 10;
		trace_tick(t);
		at.cause = trace_emit(t, (enum trace_event)(i % EV_COUNT), &at,
				      (uint64_t)i, 2, 3, 4);
	}
	trace_destroy(t);
	fclose(f);
}

TEST("the text holds every record whatever the size of the ring, byte for byte")
{
	char *small = NULL, *large = NULL, *line, *save = NULL;
	size_t small_n, large_n, lines = 0;
	struct trace_record r;

	write_story(1, &small, &small_n);
	test_cleanup(free_it, small);
	write_story(4096, &large, &large_n);
	test_cleanup(free_it, large);
	EXPECT_EQ(small_n, large_n);
	EXPECT_MEM(small, large, large_n);
	line = strtok_r(small, "\n", &save);
	EXPECT_STR(line, "#faultline-trace 1");
	while ((line = strtok_r(NULL, "\n", &save)) != NULL) {
		EXPECT_EQ(trace_record_parse(line, &r, NULL), 0);
		EXPECT_EQ(r.seq, ++lines);
		EXPECT_EQ(r.cause, lines - 1);
	}
	EXPECT_EQ(lines, 1000);
}

TEST("a recorder that is off counts and records nothing")
{
	struct trace *t = test_trace_lockstep(16, NULL);
	struct trace_record r[4];

	test_cleanup(test_trace_destroy, t);
	EXPECT_EQ(trace_emit(t, EV_SMMU_HIT, &nowhere, 1, 2, 3, 0), 1);
	trace_enable(t, false);
	EXPECT_EQ(trace_emit(t, EV_SMMU_HIT, &nowhere, 1, 2, 3, 0), 0);
	trace_enable(t, true);
	EXPECT_EQ(trace_emit(t, EV_SMMU_HIT, &nowhere, 4, 2, 3, 0), 2);
	EXPECT_EQ(trace_count(t, EV_SMMU_HIT), 3);
	EXPECT_EQ(trace_count(t, EV_SMMU_WALK), 0);
	EXPECT_EQ(trace_snapshot(t, r, 4), 2);
	EXPECT_EQ(r[1].arg[0], 4);
}

TEST("no recorder at all is allowed everywhere")
{
	struct trace_record r;

	EXPECT_EQ(trace_emit(NULL, EV_SMMU_HIT, &nowhere, 0, 0, 0, 0), 0);
	EXPECT_EQ(trace_count(NULL, EV_SMMU_HIT), 0);
	EXPECT_EQ(trace_snapshot(NULL, &r, 1), 0);
	trace_follow(NULL, NULL);
	trace_tick(NULL);
	trace_enable(NULL, false);
	trace_destroy(NULL);
}

TEST("counts are appended to the file that the environment names")
{
	char path[128], text[128];
	const struct trace_config cfg = { .ring_records = 4 };
	int fd, i;
	struct trace *t;
	ssize_t n;

	test_path(path, sizeof(path), "counts");
	fd = open(path, O_RDWR | O_CREAT, 0600);
	EXPECT(fd >= 0);
	for (i = 0; i < 2; i++) {
		t = test_trace_create(&cfg);
		trace_emit(t, EV_SMMU_SYNC, &nowhere, 0, 0, 0, 0);
		trace_emit(t, EV_APP_NOTE, &nowhere, 0, 0, 0, 0);
		trace_emit(t, EV_SMMU_SYNC, &nowhere, 0, 0, 0, 0);
		setenv("FAULTLINE_EVENT_COUNTS", path, 1);
		trace_destroy(t);
	}
	unsetenv("FAULTLINE_EVENT_COUNTS");
	n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	EXPECT(n > 0);
	text[n] = 0;
	EXPECT_STR(text, "APP_NOTE 1\nSMMU_SYNC 2\n"
			 "APP_NOTE 1\nSMMU_SYNC 2\n");
}

/* What goes to standard error when a trace ends that has one event. */
static void counts_said(const char *path, char *said, size_t bytes)
{
	const struct trace_config cfg = { .ring_records = 4 };
	struct trace *t = test_trace_create(&cfg);
	FILE *out = tmpfile();
	int before = dup(2);
	size_t n;

	EXPECT(out && before >= 0);
	trace_emit(t, EV_APP_NOTE, &nowhere, 0, 0, 0, 0);
	fflush(stderr);
	dup2(fileno(out), 2);
	setenv("FAULTLINE_EVENT_COUNTS", path, 1);
	trace_destroy(t);
	unsetenv("FAULTLINE_EVENT_COUNTS");
	fflush(stderr);
	dup2(before, 2);
	close(before);
	rewind(out);
	n = fread(said, 1, bytes - 1, out);
	said[n] = 0;
	fclose(out);
}

TEST("counts that go nowhere are said to, and no name is no file")
{
	char said[200];

	counts_said("", said, sizeof(said));
	EXPECT_STR(said, "");
	counts_said("/nowhere/counts", said, sizeof(said));
	EXPECT_STR(said, "cannot append event counts to /nowhere/counts\n");
	if (!access("/dev/full", W_OK)) {
		counts_said("/dev/full", said, sizeof(said));
		EXPECT_STR(said, "cannot append event counts to /dev/full\n");
	}
}

#define THREADS	4
#define EACH	3000

struct relay {
	struct trace *t;
	_Atomic uint64_t last;	/* seq of the newest record of anyone */
};

struct runner {
	struct relay *relay;
	uint64_t number;
};

/* Each record's cause is the newest that this thread could see of the others. */
static void *run_thread(void *arg)
{
	struct runner *me = arg;
	struct trace *t = me->relay->t;
	struct trace_at at = { .board = (uint8_t)me->number };
	uint64_t i;

	for (i = 0; i < EACH; i++) {
		if (i % 64 == 0)
			trace_tick(t);
		at.cause = atomic_load(&me->relay->last);
		atomic_store(&me->relay->last,
			     trace_emit(t, EV_APP_NOTE, &at, i, 0, 0, 0));
	}
	return NULL;
}

static void run_threads(struct trace *t)
{
	struct relay relay = { .t = t };
	struct runner runner[THREADS];
	pthread_t thread[THREADS];
	uint64_t i;

	for (i = 0; i < THREADS; i++) {
		runner[i] = (struct runner){ &relay, i };
		EXPECT(!pthread_create(&thread[i], NULL, run_thread,
				       &runner[i]));
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* Every record of every thread once, in order, none before its cause. */
static void check_thread_text(char *text)
{
	uint64_t next[THREADS] = { 0 }, done[129] = { 0 }, total = 0;
	char *line, *save = NULL;
	struct trace_record r;
	int column = 0;

	line = strtok_r(text, "\n", &save);
	EXPECT_STR(line, "#faultline-trace 1");
	while ((line = strtok_r(NULL, "\n", &save)) != NULL) {
		if (trace_record_parse(line, &r, &column))
			EXPECT_STR(line, "a record");
		EXPECT(r.board < THREADS);
		EXPECT_EQ(r.arg[0], next[r.board]);
		next[r.board]++;
		if (r.cause)
			EXPECT_LE(r.cause & 0xffffffffffff,
				  done[r.cause >> 48]);
		EXPECT_EQ(r.seq & 0xffffffffffff, done[r.seq >> 48] + 1);
		done[r.seq >> 48]++;
		total++;
	}
	EXPECT_EQ(total, THREADS * EACH);
}

TEST("threads record side by side and merge so that no effect precedes its cause")
{
	struct trace_config cfg = { .ring_records = 8192, .threads = true };
	struct trace_record *r = calloc(THREADS * EACH, sizeof(*r));
	struct trace *t = test_trace_create(&cfg);

	test_cleanup(test_trace_destroy, t);
	test_cleanup(free_it, r);
	run_threads(t);
	EXPECT_EQ(trace_count(t, EV_APP_NOTE), THREADS * EACH);
	EXPECT_EQ(trace_snapshot(t, r, THREADS * EACH), THREADS * EACH);
	EXPECT_EQ(r[0].time_ns, 0);
	EXPECT_NE(r[0].seq >> 48, 0);
}

TEST("rings of threads that overflow are kept for the text, small or large")
{
	static const uint32_t sizes[] = { 1, 64, 8192 };
	struct trace_config cfg = { .threads = true };
	struct trace *t;
	char *text;
	size_t n, i;

	for (i = 0; i < 3; i++) {
		STEP("rings of %u records", sizes[i]);
		text = NULL;
		cfg.ring_records = sizes[i];
		cfg.out = open_memstream(&text, &n);
		t = test_trace_create(&cfg);
		run_threads(t);
		trace_destroy(t);
		fclose(cfg.out);
		test_cleanup(free_it, text);
		check_thread_text(text);
	}
}

static void *run_short(void *arg)
{
	trace_emit(arg, EV_APP_NOTE, &nowhere, 1, 0, 0, 0);
	return NULL;
}

TEST("many threads one after the other share what rings there are")
{
	struct trace_config cfg = { .ring_records = 512, .threads = true };
	struct trace *t = test_trace_create(&cfg);
	struct trace_record r[512];
	pthread_t thread;
	uint32_t i, n;

	test_cleanup(test_trace_destroy, t);
	for (i = 0; i < 300; i++) {
		EXPECT(!pthread_create(&thread, NULL, run_short, t));
		pthread_join(thread, NULL);
	}
	EXPECT_EQ(trace_count(t, EV_APP_NOTE), 300);
	n = trace_snapshot(t, r, 512);
	EXPECT_EQ(n, 300);
}

TEST("two recorders used in turn by one thread do not mix")
{
	struct trace_config cfg = { .ring_records = 64, .threads = true };
	struct trace *a = test_trace_create(&cfg), *b = test_trace_create(&cfg);
	struct trace_record r[64];
	int i;

	test_cleanup(test_trace_destroy, a);
	test_cleanup(test_trace_destroy, b);
	for (i = 0; i < 10; i++) {
		trace_emit(a, EV_APP_NOTE, &nowhere, 1, 0, 0, 0);
		trace_emit(b, EV_APP_NOTE, &nowhere, 2, 0, 0, 0);
		trace_emit(b, EV_APP_NOTE, &nowhere, 2, 0, 0, 0);
	}
	EXPECT_EQ(trace_snapshot(a, r, 64), 10);
	EXPECT_EQ(r[9].arg[0], 1);
	EXPECT_EQ(r[9].seq, (1ull << 48) + 10);
	EXPECT_EQ(trace_snapshot(b, r, 64), 20);
	EXPECT_EQ(r[19].arg[0], 2);
}

TEST("each event of the list has a unit, a meaning and arguments without gaps")
{
	int ev, i;

	for (ev = 0; ev < EV_COUNT; ev++) {
		STEP("%s", trace_events[ev].name);
		EXPECT(trace_events[ev].unit < UNIT_COUNT);
		EXPECT(trace_unit_names[trace_events[ev].unit] != NULL);
		EXPECT(strlen(trace_events[ev].text) > 8);
		for (i = 1; i < TRACE_ARGS; i++)
			EXPECT(*trace_events[ev].arg[i - 1] ||
			       !*trace_events[ev].arg[i]);
	}
}
