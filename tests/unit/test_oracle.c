// SPDX-License-Identifier: BSD-2-Clause
/*
 * The oracle by itself: sequences that some execution in order gives, which it must
 * let pass, and for each kind of breach one that none gives, which it must see.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "tools/scenario/oracle.h"

#define BYTES	4096

/* Two sources and a target on either side; bytes of each are all alike. */
static struct oracle *o;
static uint32_t a, b, t, back, q1, q2, loose;
static uint8_t found[BYTES];

static void end(void *arg)
{
	(void)arg;
	oracle_destroy(o);
}

static void fill(uint32_t area, uint8_t value)
{
	memset(found, value, BYTES);
	oracle_store(o, area, 0, found, BYTES);
}

static void start(void)
{
	o = oracle_create();
	test_cleanup(end, NULL);
	a = oracle_area(o, "a", BYTES);
	b = oracle_area(o, "b", BYTES);
	t = oracle_area(o, "t", BYTES);
	back = oracle_area(o, "back", BYTES);
	q1 = oracle_pair(o, "q1", false);
	q2 = oracle_pair(o, "q2", false);
	loose = oracle_pair(o, "loose", true);
	fill(a, 0xa0);
	fill(b, 0xb0);
	fill(t, 0x10);
}

static uint64_t post(const char *name, uint32_t pair, uint32_t from,
		     uint32_t to, uint64_t at, uint64_t n)
{
	struct oracle_work w = { .name = name, .pair = pair, .from = from,
				 .to = to, .from_at = at, .to_at = at,
				 .bytes = n };

	STEP("%s: WRITE of %d bytes at %d", name, (int)n, (int)at);
	return oracle_post(o, &w);
}

static uint64_t fetch(const char *name, uint32_t pair, uint32_t from,
		      uint32_t to, uint64_t at, uint64_t n)
{
	struct oracle_work w = { .name = name, .pair = pair, .from = from,
				 .to = to, .from_at = at, .to_at = at,
				 .bytes = n, .read = true };

	STEP("%s: READ of %d bytes at %d", name, (int)n, (int)at);
	return oracle_post(o, &w);
}

static void finish(uint64_t number)
{
	oracle_complete(o, number, ORACLE_OK);
}

/* All of the range has this value. */
static bool look(uint32_t area, uint64_t at, uint64_t n, uint8_t value)
{
	memset(found, value, BYTES);
	return oracle_look(o, area, at, found, n);
}

static void good(bool held)
{
	test_expect(held && !oracle_problem(o), __FILE__, __LINE__,
		    "it passes: %s", oracle_problem(o) ? oracle_problem(o) :
							  "");
}

static void breach(bool held, const char *words)
{
	test_expect(!held && oracle_problem(o), __FILE__, __LINE__,
		    "a breach is seen");
	test_expect(strstr(oracle_problem(o), words), __FILE__, __LINE__,
		    "\"%s\" says \"%s\"", oracle_problem(o), words);
}

/* ---- one request ---- */

TEST("an area holds what was stored, and nothing else")
{
	start();
	good(look(t, 0, BYTES, 0x10));
	breach(look(t, 100, 1, 0x11), "byte 100 of t is 0x11");
}

TEST("a WRITE under way may be seen or not, byte by byte")
{
	start();
	post("w", q1, a, t, 0, 100);
	good(look(t, 0, 100, 0x10));
	good(look(t, 0, 50, 0xa0));
	good(look(t, 50, 50, 0x10));
	good(look(t, 0, 100, 0xa0));
	breach(look(t, 0, 100, 0xb0), "what w brought");
}

TEST("a WRITE that succeeded is there")
{
	start();
	finish(post("w", q1, a, t, 0, 100));
	good(look(t, 0, 100, 0xa0));
	breach(look(t, 0, 100, 0x10), "byte 0 of t is 0x10");
}

TEST("a WRITE that succeeded but did not land is seen at its last byte too")
{
	start();
	finish(post("w", q1, a, t, 0, 100));
	good(look(t, 0, 99, 0xa0));
	breach(look(t, 99, 1, 0x10), "byte 99 of t");
}

TEST("a byte beside the target must not change, in front or behind")
{
	start();
	finish(post("w", q1, a, t, 100, 100));
	good(look(t, 0, 100, 0x10));
	good(look(t, 200, BYTES - 200, 0x10));
	breach(look(t, 200, 1, 0xa0), "byte 200 of t is 0xa0");
}

TEST("a byte in front of the target must not change")
{
	start();
	finish(post("w", q1, a, t, 100, 100));
	breach(look(t, 99, 1, 0xa0), "byte 99 of t is 0xa0");
}

TEST("a buffer that nobody wrote to must not change")
{
	start();
	finish(post("w", q1, a, t, 0, BYTES));
	good(look(a, 0, BYTES, 0xa0));
	breach(look(b, 0, BYTES, 0xa0), "byte 0 of b");
}

TEST("what was seen after a WRITE had ended stays")
{
	start();
	finish(post("w1", q1, a, t, 0, 100));
	good(look(t, 0, 100, 0xa0));
	breach(look(t, 0, 100, 0x10), "byte 0 of t");
}

/* ---- two on a queue pair ---- */

TEST("of two WRITEs of a queue pair the second's bytes end on top")
{
	start();
	uint64_t w1 = post("w1", q1, a, t, 0, 100);
	uint64_t w2 = post("w2", q1, b, t, 50, 100);

	finish(w1);
	finish(w2);
	good(look(t, 0, 50, 0xa0));
	good(look(t, 50, 100, 0xb0));
	good(look(t, 150, 10, 0x10));
}

TEST("older bytes on top of newer ones are a breach")
{
	start();
	uint64_t w1 = post("w1", q1, a, t, 0, 100);
	uint64_t w2 = post("w2", q1, b, t, 0, 100);

	finish(w1);
	finish(w2);
	breach(look(t, 40, 1, 0xa0), "byte 40 of t is 0xa0");
}

TEST("of two WRITEs of a relaxed queue pair either may end on top")
{
	start();
	uint64_t w1 = post("w1", loose, a, t, 0, 100);
	uint64_t w2 = post("w2", loose, b, t, 0, 100);

	finish(w1);
	finish(w2);
	good(look(t, 0, 50, 0xa0));
	good(look(t, 50, 50, 0xb0));
	breach(look(t, 0, 50, 0xb0), "byte 0 of t");
}

TEST("a relaxed WRITE that was posted after a completion comes after it")
{
	start();
	finish(post("w1", loose, a, t, 0, 100));
	finish(post("w2", loose, b, t, 0, 100));
	breach(look(t, 0, 100, 0xa0), "byte 0 of t");
}

TEST("of two queue pairs either WRITE may end on top, mixed byte by byte")
{
	start();
	uint64_t w1 = post("w1", q1, a, t, 0, 100);
	uint64_t w2 = post("w2", q2, b, t, 0, 100);

	finish(w2);
	finish(w1);
	found[0] = 0xa0;
	found[1] = 0xb0;
	found[2] = 0xa0;
	good(oracle_look(o, t, 0, found, 3));
	breach(look(t, 3, 1, 0x10), "byte 3 of t");
}

TEST("a WRITE posted after another queue pair's completion comes after it")
{
	start();
	finish(post("w1", q1, a, t, 0, 100));
	finish(post("w2", q2, b, t, 0, 100));
	breach(look(t, 0, 100, 0xa0), "byte 0 of t is 0xa0");
}

TEST("the older of a queue pair's WRITEs cannot be on top of another's either")
{
	start();
	uint64_t w1 = post("w1", q1, a, t, 0, 100), w2, w3;

	fill(back, 0xc0);
	w2 = post("w2", q1, b, t, 0, 100);
	w3 = post("w3", q2, back, t, 0, 100);
	finish(w1);
	finish(w2);
	finish(w3);
	good(look(t, 0, 10, 0xb0));
	good(look(t, 10, 10, 0xc0));
	breach(look(t, 20, 10, 0xa0), "byte 20 of t is 0xa0");
}

/* ---- the flag ---- */

TEST("a flag may be seen once the data posted before it is there")
{
	start();
	post("data", q1, a, t, 0, 1000);
	post("flag", q1, b, t, 2000, 8);
	good(look(t, 0, 1000, 0xa0));
	good(look(t, 2000, 8, 0xb0));
	good(look(t, 0, 1000, 0xa0));
}

TEST("a flag that is seen before its data is a breach")
{
	start();
	post("data", q1, a, t, 0, 1000);
	post("flag", q1, b, t, 2000, 8);
	good(look(t, 0, 1000, 0x10));
	good(look(t, 2000, 8, 0xb0));
	breach(look(t, 0, 1000, 0x10), "byte 0 of t is 0x10");
}

TEST("a flag seen before the last byte of its data is a breach")
{
	start();
	post("data", q1, a, t, 0, 1000);
	post("flag", q1, b, t, 2000, 8);
	good(look(t, 2007, 1, 0xb0));
	good(look(t, 0, 999, 0xa0));
	breach(look(t, 999, 1, 0x10), "byte 999 of t");
}

TEST("data and flag found at one moment are judged by looking twice")
{
	start();
	post("data", q1, a, t, 0, 1000);
	post("flag", q1, b, t, 2000, 8);
	memset(found, 0x10, BYTES);
	memset(found + 2000, 0xb0, 8);
	good(oracle_look(o, t, 0, found, BYTES));
	breach(oracle_look(o, t, 0, found, BYTES), "byte 0 of t is 0x10");
}

TEST("a flag of a relaxed queue pair says nothing of the data before it")
{
	start();
	post("data", loose, a, t, 0, 1000);
	post("flag", loose, b, t, 2000, 8);
	good(look(t, 2000, 8, 0xb0));
	good(look(t, 0, 1000, 0x10));
}

TEST("a flag of another queue pair says nothing of the data")
{
	start();
	post("data", q1, a, t, 0, 1000);
	post("flag", q2, b, t, 2000, 8);
	good(look(t, 2000, 8, 0xb0));
	good(look(t, 0, 1000, 0x10));
}

TEST("a flag whose bytes were there already says nothing")
{
	start();
	post("data", q1, a, t, 0, 1000);
	fill(b, 0x10);
	post("flag", q1, b, t, 2000, 8);
	good(look(t, 2000, 8, 0x10));
	good(look(t, 0, 1000, 0x10));
}

TEST("a flag that a READ brought in says that the data is there")
{
	start();
	post("data", q1, a, t, 0, 1000);
	post("flag", q1, b, t, 2000, 8);
	finish(fetch("r", q2, t, back, 2000, 8));
	good(look(back, 2000, 8, 0xb0));
	breach(look(t, 0, 1000, 0x10), "byte 0 of t is 0x10");
}

/* ---- READ ---- */

TEST("a READ sees the WRITEs before it")
{
	start();
	uint64_t w = post("w", q1, a, t, 0, 100);
	uint64_t r = fetch("r", q1, t, back, 0, 200);

	finish(w);
	finish(r);
	good(look(back, 0, 100, 0xa0));
	good(look(back, 100, 100, 0x10));
}

TEST("a READ that returns bytes from before a WRITE is a breach")
{
	start();
	uint64_t w = post("w", q1, a, t, 0, 100);
	uint64_t r = fetch("r", q1, t, back, 0, 200);

	finish(w);
	finish(r);
	breach(look(back, 0, 100, 0x10), "byte 0 of back is 0x10");
}

TEST("a READ does not see the WRITEs behind it")
{
	start();
	uint64_t r = fetch("r", q1, t, back, 0, 100);
	uint64_t w = post("w", q1, a, t, 0, 100);

	finish(r);
	finish(w);
	good(look(t, 0, 100, 0xa0));
	good(look(back, 0, 10, 0x10));
	breach(look(back, 10, 10, 0xa0), "byte 10 of back is 0xa0");
}

TEST("a relaxed READ may see a WRITE behind it, or miss one before it")
{
	start();
	fill(back, 0);
	post("w1", loose, a, t, 0, 100);
	uint64_t r = fetch("r", loose, t, back, 0, 200);
	post("w2", loose, b, t, 100, 100);
	good(look(back, 0, 100, 0x10));
	good(look(back, 100, 100, 0xb0));
	(void)r;
}

TEST("a READ of another queue pair sees old or new bytes, but no others")
{
	start();
	post("w", q1, a, t, 0, 100);
	finish(fetch("r", q2, t, back, 0, 100));
	good(look(back, 0, 50, 0x10));
	good(look(back, 50, 20, 0xa0));
	breach(look(back, 70, 1, 0xb0), "byte 70 of back");
}

TEST("a READ that returns what another's completion has replaced is a breach")
{
	start();
	finish(post("w", q2, a, t, 0, 100));
	finish(fetch("r", q1, t, back, 0, 100));
	breach(look(back, 0, 100, 0x10), "byte 0 of back");
}

TEST("what a READ brought is written on by a WRITE behind it")
{
	start();
	uint64_t r = fetch("r", q1, t, a, 0, 100);
	uint64_t w = post("w", q1, a, back, 0, 100);

	finish(r);
	finish(w);
	good(look(back, 0, 50, 0x10));
	breach(look(back, 50, 50, 0xa0), "byte 50 of back is 0xa0");
}

TEST("that a WRITE behind a READ is seen says that the READ has ended")
{
	start();
	fetch("r", q1, t, back, 0, 100);
	post("w", q1, a, t, 200, 100);
	good(look(t, 200, 1, 0xa0));
	breach(look(back, 0, 1, 0x00), "byte 0 of back is 0x00");
}

/* ---- the CPU ---- */

TEST("a source that the CPU changes goes out old or new")
{
	start();
	uint64_t w = post("w", q1, a, t, 0, 100);

	fill(a, 0xaa);
	finish(w);
	good(look(t, 0, 10, 0xa0));
	good(look(t, 10, 10, 0xaa));
	breach(look(t, 20, 10, 0x10), "byte 20 of t");
}

TEST("a source that the CPU changes afterwards does not")
{
	start();
	finish(post("w", q1, a, t, 0, 100));
	fill(a, 0xaa);
	breach(look(t, 0, 10, 0xaa), "byte 0 of t is 0xaa");
}

TEST("a store while a WRITE is under way may stay or be written over")
{
	start();
	uint64_t w = post("w", q1, a, t, 0, 100);

	fill(t, 0x20);
	finish(w);
	good(look(t, 0, 10, 0x20));
	good(look(t, 10, 10, 0xa0));
	breach(look(t, 20, 10, 0x10), "byte 20 of t is 0x10");
}

TEST("a load and store while a WRITE is under way may undo it, but no other")
{
	start();
	finish(post("w1", q1, a, t, 0, 200));
	uint64_t w = post("w2", q1, b, t, 0, 100);

	oracle_touch(o, t, 0, BYTES);
	finish(w);
	good(look(t, 0, 50, 0xa0));
	good(look(t, 50, 50, 0xb0));
	breach(look(t, 100, 1, 0x10), "byte 100 of t");
}

TEST("what nobody can say may be anything, until somebody looks")
{
	start();
	oracle_forget(o, t, 0, 100);
	good(look(t, 0, 50, 0x77));
	good(look(t, 50, 50, 0x78));
	breach(look(t, 0, 50, 0x78), "byte 0 of t is 0x78");
}

/* ---- failures ---- */

TEST("a request that failed may have written any of its bytes, and no others")
{
	start();
	oracle_complete(o, post("w", q1, a, t, 0, 100), ORACLE_REFUSED);
	good(look(t, 0, 10, 0xa0));
	good(look(t, 10, 90, 0x10));
	breach(look(t, 100, 1, 0xa0), "byte 100 of t is 0xa0");
}

TEST("a request that failed may go on writing until all is at rest")
{
	start();
	oracle_complete(o, post("w", q1, a, t, 0, 100), ORACLE_LOST);
	fill(t, 0x20);
	good(look(t, 0, 10, 0x20));
	good(look(t, 0, 10, 0xa0));
	oracle_rest(o);
	good(look(t, 0, 100, 0x20));
	breach(look(t, 0, 10, 0xa0), "byte 0 of t is 0xa0");
}

TEST("what was flushed behind a request that was refused has not landed")
{
	start();
	uint64_t w1 = post("w1", q1, a, t, 0, 100);
	uint64_t w2 = post("w2", q1, b, t, 200, 100);

	oracle_complete(o, w1, ORACLE_REFUSED);
	oracle_complete(o, w2, ORACLE_LOST);
	good(look(t, 0, 100, 0xa0));
	breach(look(t, 200, 1, 0xb0), "byte 200 of t is 0xb0");
}

TEST("what is seen behind a request cannot be, when that one is refused")
{
	start();
	uint64_t w1 = post("w1", q1, a, t, 0, 100);

	post("w2", q1, b, t, 200, 100);
	good(look(t, 0, 100, 0xa0));
	good(look(t, 200, 1, 0xb0));
	oracle_complete(o, w1, ORACLE_REFUSED);
	breach(false, "w1 was refused");
}

TEST("what was flushed behind a request whose answer was lost may have landed")
{
	start();
	uint64_t w1 = post("w1", q1, a, t, 0, 100);
	uint64_t w2 = post("w2", q1, b, t, 200, 100);

	oracle_complete(o, w1, ORACLE_LOST);
	oracle_complete(o, w2, ORACLE_LOST);
	good(look(t, 200, 50, 0xb0));
	good(look(t, 250, 50, 0x10));
	breach(look(t, 300, 1, 0xb0), "byte 300 of t");
}

TEST("what was flushed on a relaxed queue pair may have landed")
{
	start();
	uint64_t w1 = post("w1", loose, a, t, 0, 100);
	uint64_t w2 = post("w2", loose, b, t, 200, 100);

	oracle_complete(o, w1, ORACLE_REFUSED);
	oracle_complete(o, w2, ORACLE_LOST);
	good(look(t, 200, 50, 0xb0));
}

TEST("success behind a refusal is a breach")
{
	start();
	uint64_t w1 = post("w1", q1, a, t, 0, 100);
	uint64_t w2 = post("w2", q1, b, t, 200, 100);

	oracle_complete(o, w1, ORACLE_REFUSED);
	finish(w2);
	breach(false, "w2 succeeded on q1 behind");
}

TEST("a request that the library refused writes nothing")
{
	start();
	oracle_complete(o, post("w", q1, a, t, 0, 100), ORACLE_UNPOSTED);
	finish(post("w2", q1, a, t, 200, 100));
	breach(look(t, 0, 1, 0xa0), "byte 0 of t is 0xa0");
}

TEST("what was under way on a queue pair that is gone may have landed")
{
	start();
	post("w1", q1, a, t, 0, 100);
	post("w2", q1, b, t, 0, 100);
	oracle_pair_end(o, q1);
	oracle_rest(o);
	good(look(t, 0, 50, 0xa0));
	good(look(t, 50, 50, 0xb0));
	good(look(t, 100, 50, 0x10));
	breach(look(t, 0, 50, 0xb0), "byte 0 of t");
}

TEST("a region that was closed is not written any more")
{
	start();
	post("w", q1, a, t, 0, 100);
	memset(found, 0x10, BYTES);
	good(oracle_close(o, t, 0, found, BYTES));
	breach(look(t, 0, 1, 0xa0), "byte 0 of t is 0xa0");
}

/* ---- completions ---- */

TEST("completions out of order are a breach")
{
	start();
	post("w1", q1, a, t, 0, 100);
	finish(post("w2", q1, b, t, 0, 100));
	breach(false, "w2 completed out of order on q1");
}

TEST("a second completion is a breach")
{
	start();
	uint64_t w = post("w1", q1, a, t, 0, 100);

	finish(w);
	finish(w);
	breach(false, "not in flight");
}

/* ---- size ---- */

/* xorshift, so that each round's bytes are others. */
static uint32_t next(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

TEST("ten thousand requests in order pass, and one byte of them does not")
{
	uint8_t is[2][BYTES];
	uint32_t x = 1, area[2], i, from, to, n, s, k;

	start();
	area[0] = a;
	area[1] = t;
	memset(is[0], 0xa0, BYTES);
	memset(is[1], 0x10, BYTES);
	for (i = 0; i < 10000; i++) {
		n = 1 + next(&x) % 300;
		from = next(&x) % (BYTES - n);
		to = next(&x) % (BYTES - n);
		s = next(&x) % 2;
		if (next(&x) % 4 == 0) {
			for (k = 0; k < n; k++)
				is[s][to + k] = (uint8_t)next(&x);
			oracle_store(o, area[s], to, is[s] + to, n);
			continue;
		}
		struct oracle_work w = { .name = "w", .pair = q1,
					 .read = s, .from = area[s],
					 .to = area[1 - s], .from_at = from,
					 .to_at = to, .bytes = n };

		memcpy(is[1 - s] + to, is[s] + from, n);
		finish(oracle_post(o, &w));
		if (i % 100 == 0)
			good(oracle_look(o, area[1 - s], 0, is[1 - s],
					 BYTES));
	}
	good(oracle_look(o, a, 0, is[0], BYTES));
	good(oracle_look(o, t, 0, is[1], BYTES));
	is[1][1234] ^= 1;
	breach(oracle_look(o, t, 0, is[1], BYTES), "byte 1234 of t");
}
