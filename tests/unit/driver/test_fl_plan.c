// SPDX-License-Identifier: BSD-2-Clause
/*
 * The plans by themselves: faults in a row, and what each brings in. Ranges were
 * written down by hand, as "now 10-14 ahead 17-18 20-21": pages, the last one not
 * included. Then what holds whatever a plan says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "faultline/uapi.h"
#include "harness.h"
#include "kernel-ref/fl_plan.h"
#include "sim/rng.h"
#include "sim/sim.h"

#define PAGE	((uint64_t)FL_PLAN_PAGE)
#define FIRST	1000u		/* pages of the region */
#define LAST	3000u

static struct fl_range range_pages(uint64_t from, uint64_t to)
{
	return (struct fl_range){ from * PAGE, to * PAGE };
}

static struct fl_plan_fault fault_at(uint64_t page, uint64_t n)
{
	return (struct fl_plan_fault){
		.block = range_pages(FIRST + page, FIRST + page + n),
		.first = range_pages(FIRST + page, FIRST + page + 1),
		.region = range_pages(FIRST, LAST),
		.write = 1,
	};
}

static size_t put_range(char *to, size_t room, const struct fl_range *r)
{
	return (size_t)snprintf(to, room, " %" PRId64 "-%" PRId64,
				(int64_t)(r->start / PAGE) - FIRST,
				(int64_t)(r->end / PAGE) - FIRST);
}

static const char *bring_text(const struct fl_plan_bring *b)
{
	static char text[400];
	size_t n = (size_t)snprintf(text, sizeof(text), "now");
	uint32_t i;

	n += put_range(text + n, sizeof(text) - n, &b->now);
	for (i = 0; i < b->count; i++) {
		if (!i)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      " ahead");
		n += put_range(text + n, sizeof(text) - n, &b->ahead[i]);
	}
	if (b->rest)
		snprintf(text + n, sizeof(text) - n, " rest");
	return text;
}

static struct fl_plan_state state;

static void plan_begins(void)
{
	memset(&state, 0, sizeof(state));
}

static void plan_fault(uint32_t resolve, const struct fl_plan_fault *f,
		       const char *want)
{
	struct fl_plan_bring b = { .count = 0 };

	STEP("resolve %u: a fault at page %" PRIu64, resolve,
	     (uint64_t)f->block.start / PAGE - FIRST);
	fl_plan_ask(resolve, f, &state, &b);
	fl_plan_clamp(f, &b);
	EXPECT_STR(bring_text(&b), want);
}

struct step {
	unsigned int page, n;
	const char *want;
};

static void plan_steps(uint32_t resolve, const struct step *s, size_t n)
{
	struct fl_plan_fault f;
	size_t i;

	plan_begins();
	for (i = 0; i < n; i++) {
		f = fault_at(s[i].page, s[i].n);
		plan_fault(resolve, &f, s[i].want);
	}
}

#define STEPS(resolve, steps) \
	plan_steps(resolve, steps, sizeof(steps) / sizeof(steps[0]))

TEST("page: the first missing page; block: all of it; transfer: and the rest")
{
	struct fl_plan_fault f = fault_at(8, 4);

	plan_begins();
	f.first = range_pages(FIRST + 10, FIRST + 11);
	f.rest = range_pages(FIRST + 12, FIRST + 20);
	plan_fault(FL_IOC_RESOLVE_PAGE, &f, "now 10-11");
	plan_fault(FL_IOC_RESOLVE_BLOCK, &f, "now 8-12");
	plan_fault(FL_IOC_RESOLVE_TRANSFER, &f, "now 8-12 rest");
}

TEST("around: as many pages on either side, as far as the region goes")
{
	struct fl_plan_fault f = fault_at(8, 4);

	plan_begins();
	f.number = 1;
	plan_fault(FL_IOC_RESOLVE_AROUND, &f, "now 7-13");
	f.number = 256;
	plan_fault(FL_IOC_RESOLVE_AROUND, &f, "now 0-268");
	f = fault_at(1999, 1);
	f.number = 4;
	plan_fault(FL_IOC_RESOLVE_AROUND, &f, "now 1995-2000");
	STEP("a region at the very beginning of memory");
	f = fault_at(0, 1);
	f.block = f.first = range_pages(0, 1);
	f.region = range_pages(0, 3000);
	f.number = 8;
	plan_fault(FL_IOC_RESOLVE_AROUND, &f, "now -1000--991");
}

TEST("double: the window grows while faults follow each other")
{
	static const struct step s[] = {
		{ 10, 1, "now 10-11" },
		{ 11, 1, "now 11-12 ahead 12-13" },
		/* The window was used up: the next fault is behind it. */
		{ 13, 1, "now 13-14 ahead 14-16" },
		{ 16, 1, "now 16-17 ahead 17-21" },
		/* In the middle of it: the worker was not there yet. */
		{ 18, 1, "now 18-19 ahead 19-27" },
		{ 27, 1, "now 27-28 ahead 28-44" },
		{ 44, 1, "now 44-45 ahead 45-77" },
		{ 77, 1, "now 77-78 ahead 78-142" },
		/* No further than 64 pages. */
		{ 142, 1, "now 142-143 ahead 143-207" },
	};

	STEPS(FL_IOC_RESOLVE_DOUBLE, s);
}

TEST("a fault is where the first page is missing, not where the block begins")
{
	struct fl_plan_fault f = fault_at(8, 4);

	plan_begins();
	plan_fault(FL_IOC_RESOLVE_DOUBLE, &f, "now 8-12");
	/* Page 11 came with the block before. */
	f = fault_at(11, 3);
	f.first = range_pages(FIRST + 12, FIRST + 13);
	plan_fault(FL_IOC_RESOLVE_DOUBLE, &f, "now 11-14 ahead 14-16");
}

TEST("double: it is halved by each fault that is elsewhere, down to nothing")
{
	static const struct step s[] = {
		{ 0, 4, "now 0-4" },
		{ 4, 4, "now 4-8 ahead 8-12" },
		{ 12, 4, "now 12-16 ahead 16-24" },
		{ 500, 4, "now 500-504 ahead 504-508" },
		{ 100, 4, "now 100-104 ahead 104-106" },
		{ 90, 4, "now 90-94 ahead 94-95" },
		{ 70, 4, "now 70-74" },
		{ 60, 4, "now 60-64" },
	};

	STEPS(FL_IOC_RESOLVE_DOUBLE, s);
}

TEST("stride: the same distance twice is one; the guesses double with each hit")
{
	static const struct step s[] = {
		{ 0, 1, "now 0-1" },
		{ 3, 1, "now 3-4" },
		{ 6, 1, "now 6-7 ahead 9-10 12-13" },
		/* 9 and 12 came in time. */
		{ 15, 1, "now 15-16 ahead 18-19 21-22 24-25 27-28" },
		/* 18 was not there yet. */
		{ 18, 1, "now 18-19 ahead 21-22 24-25 27-28 30-31 33-34 36-37 "
			 "39-40 42-43" },
		{ 45, 1, "now 45-46 ahead 48-49 51-52 54-55 57-58 60-61 63-64 "
			 "66-67 69-70" },
		{ 46, 1, "now 46-47" },
		{ 100, 1, "now 100-101" },
	};

	STEPS(FL_IOC_RESOLVE_STRIDE, s);
}

TEST("stride: backwards too, and not beyond the region")
{
	static const struct step s[] = {
		{ 20, 2, "now 20-22" },
		{ 14, 2, "now 14-16" },
		{ 8, 2, "now 8-10 ahead 2-4" },
		/* The same page again is no distance. */
		{ 8, 2, "now 8-10 ahead 2-4" },
	};

	STEPS(FL_IOC_RESOLVE_STRIDE, s);
}

TEST("majority: the distance that most of the recent ones had, and no other")
{
	static const struct step s[] = {
		{ 0, 1, "now 0-1" },
		{ 10, 1, "now 10-11" },
		{ 20, 1, "now 20-21" },
		{ 500, 1, "now 500-501" },
		/* Distances 10 10 480 10: three of four. */
		{ 510, 1, "now 510-511 ahead 520-521 530-531" },
		/* 520 and 530 came: 540 is three steps on. */
		{ 540, 1, "now 540-541 ahead 550-551 560-561 570-571 580-581" },
		/* One that is strange: 10 still has three of the last four. */
		{ 900, 1, "now 900-901 ahead 910-911 920-921 930-931 940-941 "
			  "950-951 960-961 970-971 980-981" },
		/* Two of the last four, so eight are asked: 10 has six of these. */
		{ 300, 1, "now 300-301 ahead 310-311 320-321 330-331 340-341 "
			  "350-351 360-361 370-371 380-381" },
	};

	STEPS(FL_IOC_RESOLVE_MAJORITY, s);
}

TEST("majority: nothing where there is none")
{
	static const struct step s[] = {
		{ 0, 1, "now 0-1" },
		{ 7, 1, "now 7-8" },
		{ 9, 1, "now 9-10" },
		{ 100, 1, "now 100-101" },
		{ 102, 1, "now 102-103" },
		{ 50, 1, "now 50-51" },
		{ 52, 1, "now 52-53" },
	};

	STEPS(FL_IOC_RESOLVE_MAJORITY, s);
}

TEST("history: what came after two such distances comes after them again")
{
	static const struct step s[] = {
		{ 0, 1, "now 0-1" },
		{ 1, 1, "now 1-2" },
		{ 3, 1, "now 3-4" },
		{ 10, 1, "now 10-11" },
		{ 11, 1, "now 11-12" },
		/*
		 * Distances 1 2 7 1 2: after (1, 2) came 7, after (2, 7) came 1,
		 * after (7, 1) came 2, and so on round.
		 */
		{ 13, 1, "now 13-14 ahead 20-21 21-22 23-24 30-31 31-32 33-34 "
			 "40-41 41-42" },
		/* All were used: the ninth is where the way goes on. */
		{ 43, 1, "now 43-44 ahead 50-51 51-52 53-54 60-61 61-62 63-64 "
			 "70-71 71-72" },
		/* 50 was late; the way goes on from there. */
		{ 50, 1, "now 50-51 ahead 51-52 53-54 60-61 61-62 63-64 70-71 "
			 "71-72 73-74" },
		/* Elsewhere: nothing is known of that. */
		{ 700, 1, "now 700-701" },
	};

	STEPS(FL_IOC_RESOLVE_HISTORY, s);
}

/* ---- whatever a plan says ---- */

static void clamp_gives(struct fl_plan_fault *f, struct fl_range now,
			struct fl_range ahead, const char *want)
{
	struct fl_plan_bring b = { .now = now, .ahead = { ahead }, .count = 1 };

	STEP("now %#" PRIx64 " to %#" PRIx64 ", ahead %#" PRIx64 " to %#" PRIx64,
	     (uint64_t)now.start, (uint64_t)now.end, (uint64_t)ahead.start,
	     (uint64_t)ahead.end);
	fl_plan_clamp(f, &b);
	EXPECT_STR(bring_text(&b), want);
}

TEST("now has the page that is missing, lies in the region, and is not too long")
{
	struct fl_range none = { 0, 0 }, all = { 0, UINT64_MAX };
	struct fl_plan_fault f = fault_at(8, 4);

	f.first = range_pages(FIRST + 9, FIRST + 10);
	clamp_gives(&f, none, none, "now 9-10");
	clamp_gives(&f, range_pages(FIRST + 12, FIRST + 8), none, "now 9-10");
	clamp_gives(&f, range_pages(FIRST + 100, FIRST + 200), none, "now 9-10");
	clamp_gives(&f, range_pages(FIRST + 10, FIRST + 12), none, "now 9-10");
	clamp_gives(&f, range_pages(0, FIRST), none, "now 9-10");
	clamp_gives(&f, range_pages(LAST, LAST + 9), none, "now 9-10");
	clamp_gives(&f, (struct fl_range){ UINT64_MAX, 1 }, none, "now 9-10");
	STEP("512 pages on either side of it");
	clamp_gives(&f, all, none, "now 0-521");
	f = fault_at(1000, 1);
	clamp_gives(&f, all, none, "now 488-1512");
	STEP("parts of pages become pages");
	clamp_gives(&f, (struct fl_range){ (FIRST + 1000) * PAGE + 1,
					   (FIRST + 1000) * PAGE + 2 }, none,
		    "now 1000-1001");
}

TEST("ahead lies in the region, outside of now, and is not too much")
{
	struct fl_plan_fault f = fault_at(8, 4);
	struct fl_range now = f.block, all = { 0, UINT64_MAX };
	struct fl_plan_bring b = { .now = f.block, .count = UINT32_MAX };

	clamp_gives(&f, now, range_pages(FIRST + 12, FIRST + 12), "now 8-12");
	clamp_gives(&f, now, range_pages(FIRST + 20, FIRST + 12), "now 8-12");
	clamp_gives(&f, now, range_pages(FIRST + 9, FIRST + 11), "now 8-12");
	clamp_gives(&f, now, range_pages(FIRST + 9, FIRST + 14), "now 8-12 ahead 12-14");
	clamp_gives(&f, now, range_pages(FIRST + 4, FIRST + 14), "now 8-12 ahead 4-8");
	clamp_gives(&f, now, range_pages(LAST - 2, LAST + 2), "now 8-12 ahead 1998-2000");
	clamp_gives(&f, now, range_pages(FIRST - 9, FIRST), "now 8-12");
	clamp_gives(&f, now, all, "now 8-12 ahead 0-8");
	STEP("a count that is too large; a region of 16 GB");
	f.region = range_pages(FIRST, FIRST + 4 * 1024 * 1024);
	b.ahead[0] = range_pages(FIRST + 12, FIRST + 4000);
	b.ahead[1] = range_pages(FIRST + 5000, FIRST + 50000);
	b.ahead[7] = range_pages(FIRST + 2, FIRST + 3);
	fl_plan_clamp(&f, &b);
	EXPECT_STR(bring_text(&b), "now 8-12 ahead 12-4000 5000-5108");
}

/* The same word of the state, the answer and the fault: anything at all. */
static uint64_t nonsense_word(struct rng *r, const struct fl_plan_fault *f)
{
	switch (rng_below(r, 5)) {
	case 0: return 0;
	case 1: return UINT64_MAX - rng_below(r, 5000);
	case 2: return f->region.start + rng_below(r, 4000 * PAGE);
	case 3: return f->block.end - rng_below(r, 20 * PAGE);
	default: return rng_below(r, UINT64_MAX);
	}
}

static void bring_is_sound(const struct fl_plan_fault *f,
			   const struct fl_plan_bring *b)
{
	uint64_t ahead = 0;
	uint32_t i;

	EXPECT_LE(b->now.start, f->first.start);
	EXPECT_GE(b->now.end, f->first.end);
	EXPECT_GE(b->now.start, f->region.start);
	EXPECT_LE(b->now.end, f->region.end);
	EXPECT_LE(b->now.end - b->now.start, FL_PLAN_NOW_BYTES);
	EXPECT_EQ((b->now.start | b->now.end) % PAGE, 0);
	EXPECT_LE(b->count, FL_PLAN_AHEAD);
	for (i = 0; i < b->count; i++) {
		EXPECT_GE(b->ahead[i].start, f->region.start);
		EXPECT_LE(b->ahead[i].end, f->region.end);
		EXPECT(b->ahead[i].start < b->ahead[i].end);
		EXPECT((b->ahead[i].end <= b->now.start) ||
		       (b->ahead[i].start >= b->now.end));
		EXPECT_EQ((b->ahead[i].start | b->ahead[i].end) % PAGE, 0);
		ahead += b->ahead[i].end - b->ahead[i].start;
	}
	EXPECT_LE(ahead, FL_PLAN_AHEAD_BYTES);
}

TEST("nonsense is cut to what makes sense, 100000 times")
{
	struct fl_plan_bring b;
	struct fl_plan_fault f;
	struct rng r;
	uint64_t *word = (uint64_t *)&b;
	unsigned int i, k;

	rng_init(&r, test_seed(), "nonsense");
	for (i = 0; i < 100000; i++) {
		f = fault_at(rng_below(&r, 1990), 1 + rng_below(&r, 4));
		f.first = range_pages(f.block.end / PAGE - 1, f.block.end / PAGE);
		for (k = 0; k < sizeof(b) / sizeof(*word); k++)
			word[k] = nonsense_word(&r, &f);
		fl_plan_clamp(&f, &b);
		bring_is_sound(&f, &b);
	}
}

TEST("each plan answers faults anywhere with ranges that make sense")
{
	struct fl_plan_bring b;
	struct fl_plan_fault f;
	uint32_t resolve;
	struct rng r;
	unsigned int i;

	rng_init(&r, test_seed(), "anywhere");
	for (resolve = 0; resolve < FL_IOC_RESOLVE_OWN; resolve++) {
		STEP("resolve %u", resolve);
		plan_begins();
		for (i = 0; i < 5000; i++) {
			f = fault_at(rng_below(&r, i % 2 ? 1990 : 12),
				     1 + rng_below(&r, 4));
			f.number = resolve == FL_IOC_RESOLVE_AROUND ? 99 : 0;
			memset(&b, 0, sizeof(b));
			fl_plan_ask(resolve, &f, &state, &b);
			EXPECT_LE(b.count, FL_PLAN_AHEAD);
			fl_plan_clamp(&f, &b);
			bring_is_sound(&f, &b);
		}
	}
}
