// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rings of lockstep: what each part of a run records is the same, and so is the trace,
 * whichever part got on first. What is expected comes from a plan: who records what when,
 * and because of what.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/trace.h"

#define PARTS	5
#define TIMES	40
#define TURNS	(PARTS * TIMES * 2)
#define RECORDS	(TURNS * 3)
#define LARGE	4096

/* Records first to first + count - 1 of the plan, by one part at one time. */
struct plan_turn {
	uint32_t part, first, count;
	uint64_t time_ns, place;
};

static struct trace_turn turn;	/* whose it is in the trace */

struct plan {
	struct plan_turn turn[TURNS];	/* by time; of one time, by part */
	uint32_t turns, records;
	uint32_t cause[RECORDS];	/* 1 + the record that caused it; 0: none */
	uint32_t by[RECORDS];		/* part */
	uint64_t time_ns[RECORDS];
	uint64_t seq[RECORDS];		/* in the run under way */
	uint64_t random;
};

static uint32_t plan_draw(struct plan *p, uint32_t n)
{
	p->random = p->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(p->random >> 33) % n;
}

/* None, one of its part, or one that another part has recorded at an earlier time. */
static uint32_t plan_cause(struct plan *p, uint32_t part, uint64_t time_ns)
{
	uint32_t c;

	if (!p->records || !plan_draw(p, 3))
		return 0;
	c = plan_draw(p, 2) ? plan_draw(p, p->records) :
			      p->records - 1 - plan_draw(p, p->records < 20 ? p->records : 20);
	return p->by[c] == part || p->time_ns[c] < time_ns ? c + 1 : 0;
}

static void plan_make(struct plan *p, uint64_t seed)
{
	uint32_t time, part, more, i;
	struct plan_turn *t;

	memset(p, 0, sizeof(*p));
	p->random = seed;
	for (time = 0; time < TIMES; time++)
		for (part = 0; part < PARTS; part++)
			for (more = plan_draw(p, 3); more; more--) {
				t = &p->turn[p->turns++];
				*t = (struct plan_turn){ part, p->records, plan_draw(p, 4),
						    time * 10, plan_draw(p, 8) };
				for (i = 0; i < t->count; i++, p->records++) {
					p->cause[p->records] = plan_cause(p, part, t->time_ns);
					p->by[p->records] = part;
					p->time_ns[p->records] = t->time_ns;
				}
			}
}

static struct trace *order_trace(uint32_t records, FILE *out)
{
	struct trace_config cfg = { .ring_records = records, .out = out };
	struct trace *t;
	uint32_t i;

	/* What these tests record by hand must not count. */
	unsetenv("FAULTLINE_EVENT_COUNTS");
	t = trace_create(&cfg);
	EXPECT(t);
	for (i = 1; i < PARTS; i++)
		EXPECT_EQ(trace_ring_add(t), i);
	trace_follow(t, &turn);
	return t;
}

static void turn_run(struct plan *p, const struct plan_turn *u, struct trace *t)
{
	struct trace_at at = { 0 };
	uint32_t i;

	turn = (struct trace_turn){ u->time_ns, u->place, u->part };
	for (i = u->first; i < u->first + u->count; i++) {
		at.board = (uint8_t)u->part;
		at.cause = p->cause[i] ? p->seq[p->cause[i] - 1] : 0;
		p->seq[i] = trace_emit(t, EV_APP_NOTE, &at, i, 0, 0, 0);
	}
}

/* Is all that has caused it recorded? */
static bool turn_is_ready(const struct plan *p, const struct plan_turn *u)
{
	uint32_t i;

	for (i = u->first; i < u->first + u->count; i++)
		if (p->cause[i] && p->cause[i] - 1 < u->first && !p->seq[p->cause[i] - 1])
			return false;
	return true;
}

/* Which part records first. */
enum manner { BY_PART, BACKWARDS, AHEAD, MANNERS };

/* Each part as far as it comes, the last one first. */
static void plan_run_ahead(struct plan *p, struct trace *t)
{
	bool done[TURNS] = { false };
	uint32_t part, i, left = p->turns;

	while (left)
		for (part = PARTS; part--;)
			for (i = 0; i < p->turns; i++) {
				if (done[i] || p->turn[i].part != part)
					continue;
				if (!turn_is_ready(p, &p->turn[i]))
					break;
				turn_run(p, &p->turn[i], t);
				done[i] = true;
				left--;
			}
}

/* At each time the last part first; each one's turns in their order. */
static void plan_run_backwards(struct plan *p, struct trace *t)
{
	uint32_t time, part, i;

	for (time = 0; time < TIMES; time++)
		for (part = PARTS; part--;)
			for (i = 0; i < p->turns; i++)
				if (p->turn[i].part == part && p->turn[i].time_ns == time * 10)
					turn_run(p, &p->turn[i], t);
}

static void plan_run(struct plan *p, enum manner manner, struct trace *t)
{
	uint32_t i;

	memset(p->seq, 0, sizeof(p->seq));
	if (manner == AHEAD)
		plan_run_ahead(p, t);
	else if (manner == BACKWARDS)
		plan_run_backwards(p, t);
	for (i = 0; manner == BY_PART && i < p->turns; i++)
		turn_run(p, &p->turn[i], t);
}

static char *plan_text(struct plan *p, enum manner manner, uint32_t records)
{
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);
	struct trace *t = order_trace(records, out);

	plan_run(p, manner, t);
	trace_destroy(t);
	fclose(out);
	return text;
}

/* The records of a text, which is as before. */
static uint32_t text_records(char *text, struct trace_record *r)
{
	char *end = strchr(text, '\n');
	uint32_t n = 0;

	EXPECT(!strncmp(text, "#faultline-trace 1\n", 19));
	while (*(text = end + 1)) {
		EXPECT_LE(n + 1, RECORDS);
		end = strchr(text, '\n');
		*end = 0;
		EXPECT_EQ(trace_record_parse(text, &r[n++], NULL), 0);
		*end = '\n';
	}
	return n;
}

static void expect_plan(const struct plan *p, char *text)
{
	static struct trace_record r[RECORDS];
	uint32_t i, n = text_records(text, r), part, next[PARTS] = { 0 };
	uint64_t id;

	EXPECT_EQ(n, p->records);
	for (i = 0; i < n; i++) {
		id = r[i].arg[0];
		part = r[i].board;
		EXPECT_EQ(r[i].seq, i + 1);
		EXPECT_EQ(part, p->by[id]);
		EXPECT_EQ(r[i].time_ns, p->time_ns[id]);
		EXPECT(!i || r[i].time_ns >= r[i - 1].time_ns);
		EXPECT(r[i].cause < r[i].seq);
		EXPECT_EQ(r[i].cause ? r[r[i].cause - 1].arg[0] + 1 : 0, p->cause[id]);
		/* What a part has recorded is in the part's order, and nothing is missing. */
		while (p->by[next[part]] != part)
			next[part]++;
		EXPECT_EQ(next[part]++, id);
	}
}

TEST("the trace is what each part has done, whichever got on first, byte for byte")
{
	static struct plan p;
	enum manner manner;
	char *first, *again;
	uint64_t seed;

	for (seed = 1; seed <= 20; seed++) {
		STEP("seed %d", (int)seed);
		plan_make(&p, seed);
		first = plan_text(&p, BY_PART, LARGE);
		expect_plan(&p, first);
		for (manner = BACKWARDS; manner < MANNERS; manner++) {
			again = plan_text(&p, manner, LARGE);
			EXPECT_STR(again, first);
			free(again);
		}
		STEP("rings that are written again and again");
		for (manner = BY_PART; manner <= BACKWARDS; manner++) {
			again = plan_text(&p, manner, 8);
			EXPECT_STR(again, first);
			free(again);
		}
		free(first);
	}
}

TEST("of what is left in rings that wrap, a snapshot has the end of the trace, without gaps")
{
	static struct trace_record all[RECORDS], r[RECORDS], is;
	uint32_t n, i, k, room;
	static struct plan p;
	struct trace *t;
	uint64_t seed;
	char *text;

	for (seed = 1; seed <= 20; seed++) {
		STEP("seed %d", (int)seed);
		plan_make(&p, seed);
		text = plan_text(&p, BY_PART, LARGE);
		k = text_records(text, all);
		free(text);
		for (room = 16; room <= LARGE; room *= 4) {
			t = order_trace(room, NULL);
			plan_run(&p, BY_PART, t);
			n = trace_snapshot(t, r, RECORDS);
			EXPECT(room < LARGE ? n >= 16 : n == k);
			EXPECT(room > 16 || n < k);
			for (i = 0; i < n; i++) {
				is = all[k - n + i];
				if (is.cause <= k - n)
					is.cause = 0;	/* it is lost */
				EXPECT_MEM(&r[i], &is, sizeof(is));
			}
			EXPECT_EQ(trace_snapshot(t, r, 7), 7);
			EXPECT_EQ(r[6].seq, k);
			trace_destroy(t);
		}
	}
}

TEST("more records of one time than a ring holds are all written")
{
	size_t bytes;
	char *text;
	static struct trace_record r[RECORDS];
	FILE *out = open_memstream(&text, &bytes);
	struct trace *t = order_trace(8, out);
	struct trace_at at = { 0 };
	uint32_t i;

	for (i = 0; i < 100; i++) {
		turn = (struct trace_turn){ 50, 100 - i, i % 3 };
		at.cause = trace_emit(t, EV_APP_NOTE, &at, i, 0, 0, 0);
	}
	trace_destroy(t);
	fclose(out);
	EXPECT_EQ(text_records(text, r), 100);
	for (i = 0; i < 100; i++) {
		EXPECT_EQ(r[i].arg[0], i);
		EXPECT_EQ(r[i].cause, i);
	}
	free(text);
}

TEST("of one time, the smaller place is first, and a cause before all")
{
	struct trace *t = order_trace(8, NULL);
	struct trace_at at = { 0 };
	struct trace_record r[4];

	turn = (struct trace_turn){ 50, 7, 1 };
	at.cause = trace_emit(t, EV_APP_NOTE, &at, 2, 0, 0, 0);
	turn = (struct trace_turn){ 50, 3, 2 };
	trace_emit(t, EV_APP_NOTE, &at, 3, 0, 0, 0);
	at.cause = 0;
	turn = (struct trace_turn){ 50, 6, 3 };
	trace_emit(t, EV_APP_NOTE, &at, 1, 0, 0, 0);
	turn = (struct trace_turn){ 40, 9, 4 };
	trace_emit(t, EV_APP_NOTE, &at, 0, 0, 0, 0);
	EXPECT_EQ(trace_snapshot(t, r, 4), 4);
	EXPECT_EQ(r[0].arg[0], 0);
	EXPECT_EQ(r[1].arg[0], 1);
	EXPECT_EQ(r[2].arg[0], 2);
	EXPECT_EQ(r[3].arg[0], 3);
	EXPECT_EQ(r[3].cause, 3);
	trace_destroy(t);
}

TEST("so many rings there are, and no more")
{
	struct trace_config cfg = { .ring_records = 16 };
	struct trace *t = trace_create(&cfg);
	int i;

	EXPECT(t);
	for (i = 1; i < 256; i++)
		EXPECT_EQ(trace_ring_add(t), i);
	EXPECT_EQ(trace_ring_add(t), -ENOMEM);
	trace_destroy(t);
}
