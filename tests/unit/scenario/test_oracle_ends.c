// SPDX-License-Identifier: BSD-2-Clause
/* The oracle by itself: stores of the CPU, requests that fail, completions, length. */
#include "rig/oracle.h"

/* ---- the CPU ---- */

TEST("a source that the CPU changes goes out old or new")
{
	rig_start();
	uint64_t w = rig_post("w", q1, a, t, 0, 100);

	rig_fill(a, 0xaa);
	rig_finish(w);
	rig_good(rig_look(t, 0, 10, 0xa0));
	rig_good(rig_look(t, 10, 10, 0xaa));
	rig_breach(rig_look(t, 20, 10, 0x10), "byte 20 of t");
}

TEST("a source that the CPU changes afterwards does not")
{
	rig_start();
	rig_finish(rig_post("w", q1, a, t, 0, 100));
	rig_fill(a, 0xaa);
	rig_breach(rig_look(t, 0, 10, 0xaa), "byte 0 of t is 0xaa");
}

TEST("a store while a WRITE is under way may stay or be written over")
{
	rig_start();
	uint64_t w = rig_post("w", q1, a, t, 0, 100);

	rig_fill(t, 0x20);
	rig_finish(w);
	rig_good(rig_look(t, 0, 10, 0x20));
	rig_good(rig_look(t, 10, 10, 0xa0));
	rig_breach(rig_look(t, 20, 10, 0x10), "byte 20 of t is 0x10");
}

TEST("a load and store while a WRITE is under way may undo it, but no other")
{
	rig_start();
	rig_finish(rig_post("w1", q1, a, t, 0, 200));
	uint64_t w = rig_post("w2", q1, b, t, 0, 100);

	oracle_touch(o, t, 0, BYTES);
	rig_finish(w);
	rig_good(rig_look(t, 0, 50, 0xa0));
	rig_good(rig_look(t, 50, 50, 0xb0));
	rig_breach(rig_look(t, 100, 1, 0x10), "byte 100 of t");
}

TEST("what nobody can say may be anything, until somebody looks")
{
	rig_start();
	oracle_forget(o, t, 0, 100);
	rig_good(rig_look(t, 0, 50, 0x77));
	rig_good(rig_look(t, 50, 50, 0x78));
	rig_breach(rig_look(t, 0, 50, 0x78), "byte 0 of t is 0x78");
}

/* ---- failures ---- */

TEST("a request that failed may have written any of its bytes, and no others")
{
	rig_start();
	oracle_complete(o, rig_post("w", q1, a, t, 0, 100), ORACLE_REFUSED);
	rig_good(rig_look(t, 0, 10, 0xa0));
	rig_good(rig_look(t, 10, 90, 0x10));
	rig_breach(rig_look(t, 100, 1, 0xa0), "byte 100 of t is 0xa0");
}

TEST("a request that failed may go on writing until all is at rest")
{
	rig_start();
	oracle_complete(o, rig_post("w", q1, a, t, 0, 100), ORACLE_LOST);
	rig_fill(t, 0x20);
	rig_good(rig_look(t, 0, 10, 0x20));
	rig_good(rig_look(t, 0, 10, 0xa0));
	oracle_rest(o);
	rig_good(rig_look(t, 0, 100, 0x20));
	rig_breach(rig_look(t, 0, 10, 0xa0), "byte 0 of t is 0xa0");
}

TEST("what was flushed behind a request that was refused has not landed")
{
	rig_start();
	uint64_t w1 = rig_post("w1", q1, a, t, 0, 100);
	uint64_t w2 = rig_post("w2", q1, b, t, 200, 100);

	oracle_complete(o, w1, ORACLE_REFUSED);
	oracle_complete(o, w2, ORACLE_LOST);
	rig_good(rig_look(t, 0, 100, 0xa0));
	rig_breach(rig_look(t, 200, 1, 0xb0), "byte 200 of t is 0xb0");
}

TEST("what is seen behind a request cannot be, when that one is refused")
{
	rig_start();
	uint64_t w1 = rig_post("w1", q1, a, t, 0, 100);

	rig_post("w2", q1, b, t, 200, 100);
	rig_good(rig_look(t, 0, 100, 0xa0));
	rig_good(rig_look(t, 200, 1, 0xb0));
	oracle_complete(o, w1, ORACLE_REFUSED);
	rig_breach(false, "w1 was refused");
}

TEST("what was flushed behind a request whose answer was lost may have landed")
{
	rig_start();
	uint64_t w1 = rig_post("w1", q1, a, t, 0, 100);
	uint64_t w2 = rig_post("w2", q1, b, t, 200, 100);

	oracle_complete(o, w1, ORACLE_LOST);
	oracle_complete(o, w2, ORACLE_LOST);
	rig_good(rig_look(t, 200, 50, 0xb0));
	rig_good(rig_look(t, 250, 50, 0x10));
	rig_breach(rig_look(t, 300, 1, 0xb0), "byte 300 of t");
}

TEST("what was flushed on a relaxed queue pair may have landed")
{
	rig_start();
	uint64_t w1 = rig_post("w1", loose, a, t, 0, 100);
	uint64_t w2 = rig_post("w2", loose, b, t, 200, 100);

	oracle_complete(o, w1, ORACLE_REFUSED);
	oracle_complete(o, w2, ORACLE_LOST);
	rig_good(rig_look(t, 200, 50, 0xb0));
}

TEST("success behind a refusal is a breach")
{
	rig_start();
	uint64_t w1 = rig_post("w1", q1, a, t, 0, 100);
	uint64_t w2 = rig_post("w2", q1, b, t, 200, 100);

	oracle_complete(o, w1, ORACLE_REFUSED);
	rig_finish(w2);
	rig_breach(false, "w2 succeeded on q1 behind");
}

TEST("a request that the library refused writes nothing")
{
	rig_start();
	oracle_complete(o, rig_post("w", q1, a, t, 0, 100), ORACLE_UNPOSTED);
	rig_finish(rig_post("w2", q1, a, t, 200, 100));
	rig_breach(rig_look(t, 0, 1, 0xa0), "byte 0 of t is 0xa0");
}

TEST("what was under way on a queue pair that is gone may have landed")
{
	rig_start();
	rig_post("w1", q1, a, t, 0, 100);
	rig_post("w2", q1, b, t, 0, 100);
	oracle_pair_end(o, q1);
	oracle_rest(o);
	rig_good(rig_look(t, 0, 50, 0xa0));
	rig_good(rig_look(t, 50, 50, 0xb0));
	rig_good(rig_look(t, 100, 50, 0x10));
	rig_breach(rig_look(t, 0, 50, 0xb0), "byte 0 of t");
}

TEST("a region that was closed is not written any more")
{
	rig_start();
	rig_post("w", q1, a, t, 0, 100);
	memset(found, 0x10, BYTES);
	rig_good(oracle_close(o, t, 0, found, BYTES));
	rig_breach(rig_look(t, 0, 1, 0xa0), "byte 0 of t is 0xa0");
}

/* ---- completions ---- */

TEST("completions out of order are a breach")
{
	rig_start();
	rig_post("w1", q1, a, t, 0, 100);
	rig_finish(rig_post("w2", q1, b, t, 0, 100));
	rig_breach(false, "w2 completed out of order on q1");
}

TEST("a second completion is a breach")
{
	rig_start();
	uint64_t w = rig_post("w1", q1, a, t, 0, 100);

	rig_finish(w);
	rig_finish(w);
	rig_breach(false, "not in flight");
}

/* ---- size ---- */

/* xorshift, so that each round's bytes are others. */
static uint32_t ends_next(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

TEST("a request that goes nowhere yet writes where it is said later, and not beyond")
{
	uint64_t w1, w2;

	rig_start();
	w1 = rig_post("w1", q1, a, ORACLE_NOWHERE, 0, 300);
	w2 = rig_post("w2", q1, b, t, 100, 100);
	oracle_target(o, w1, t, 100, 50);
	rig_finish(w1);
	rig_finish(w2);
	memset(found, 0x10, BYTES);
	memset(found + 100, 0xb0, 100);
	rig_good(oracle_look(o, t, 0, found, BYTES));
	STEP("the second was posted later, so the first cannot be seen any more");
	found[100] = 0xa0;
	rig_breach(oracle_look(o, t, 0, found, BYTES), "byte 100 of t");
}

TEST("what has failed before it was given a place writes nothing there")
{
	uint64_t w;

	rig_start();
	w = rig_post("w", q1, a, ORACLE_NOWHERE, 0, 300);
	oracle_complete(o, w, ORACLE_LOST);
	oracle_target(o, w, t, 0, 300);
	memset(found, 0x10, BYTES);
	rig_good(oracle_look(o, t, 0, found, BYTES));
	found[7] = 0xa0;
	rig_breach(oracle_look(o, t, 0, found, BYTES), "byte 7 of t");
}

TEST("ten thousand requests in order pass, and one byte of them does not")
{
	uint8_t is[2][BYTES];
	uint32_t x = 1, area[2], i, from, to, n, s, k;

	rig_start();
	area[0] = a;
	area[1] = t;
	memset(is[0], 0xa0, BYTES);
	memset(is[1], 0x10, BYTES);
	for (i = 0; i < 10000; i++) {
		n = 1 + ends_next(&x) % 300;
		from = ends_next(&x) % (BYTES - n);
		to = ends_next(&x) % (BYTES - n);
		s = ends_next(&x) % 2;
		if (ends_next(&x) % 4 == 0) {
			for (k = 0; k < n; k++)
				is[s][to + k] = (uint8_t)ends_next(&x);
			oracle_store(o, area[s], to, is[s] + to, n);
			continue;
		}
		struct oracle_work w = { .name = "w", .pair = q1,
					 .read = s, .from = area[s],
					 .to = area[1 - s], .from_at = from,
					 .to_at = to, .bytes = n };

		memcpy(is[1 - s] + to, is[s] + from, n);
		rig_finish(oracle_post(o, &w));
		if (i % 100 == 0)
			rig_good(oracle_look(o, area[1 - s], 0, is[1 - s],
					     BYTES));
	}
	rig_good(oracle_look(o, a, 0, is[0], BYTES));
	rig_good(oracle_look(o, t, 0, is[1], BYTES));
	is[1][1234] ^= 1;
	rig_breach(oracle_look(o, t, 0, is[1], BYTES), "byte 1234 of t");
}

/* ---- fragments that come in any order ---- */

TEST("a WRITE in fragments may be seen before an earlier one, but lies on it where they meet")
{
	rig_start();
	uint32_t f = oracle_pair(o, "f", ORACLE_FRAGMENTS);
	uint64_t w1 = rig_post("w1", f, a, t, 0, 100), w2 = rig_post("w2", f, b, t, 50, 150);

	rig_good(rig_look(t, 100, 100, 0xb0));
	rig_good(rig_look(t, 0, 50, 0x10));
	rig_finish(w1);
	rig_finish(w2);
	rig_good(rig_look(t, 0, 50, 0xa0));
	rig_good(rig_look(t, 50, 50, 0xb0));
	rig_breach(rig_look(t, 50, 50, 0xa0), "byte 50 of t is 0xa0");
}

TEST("a WRITE in fragments may have landed though one before it was refused")
{
	rig_start();
	uint32_t f = oracle_pair(o, "f", ORACLE_FRAGMENTS);
	uint64_t w1 = rig_post("w1", f, a, t, 0, 100), w2 = rig_post("w2", f, b, t, 200, 100);

	oracle_complete(o, w1, ORACLE_REFUSED);
	oracle_complete(o, w2, ORACLE_LOST);
	rig_good(rig_look(t, 200, 50, 0xb0));
	rig_good(rig_look(t, 250, 50, 0x10));
	rig_breach(rig_look(t, 300, 1, 0xb0), "byte 300 of t is 0xb0");
}

/* A fragment that was lost is made anew, of what is in memory then. */
TEST("a WRITE in fragments may bring what a later one has left at its source, but for a fence")
{
	rig_start();
	uint32_t f = oracle_pair(o, "f", ORACLE_FRAGMENTS);
	uint64_t w1 = rig_post("w1", f, a, t, 0, 100), w2 = rig_post("w2", f, b, a, 50, 50);
	struct oracle_work fenced = { .name = "w3", .pair = f, .fence = true, .from = t,
				      .to = a, .from_at = 1000, .to_at = 0, .bytes = 50 };
	uint64_t w3 = oracle_post(o, &fenced);

	rig_finish(w1);
	rig_finish(w2);
	rig_finish(w3);
	rig_good(rig_look(t, 50, 25, 0xb0));
	rig_good(rig_look(t, 75, 25, 0xa0));
	rig_good(rig_look(t, 0, 25, 0xa0));
	rig_breach(rig_look(t, 25, 25, 0x10), "byte 25 of t is 0x10");
}
