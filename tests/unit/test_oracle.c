// SPDX-License-Identifier: BSD-2-Clause
/*
 * The oracle by itself: sequences that some execution in order gives, which it must
 * let pass, and for each kind of breach one that none gives, which it must see.
 */
#include "test_oracle_rig.h"

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

/* ---- fences ---- */

static uint64_t post_fenced(uint32_t from, uint64_t at, uint64_t n)
{
	struct oracle_work w = { .name = "fenced", .pair = loose,
				 .from = from, .to = t, .from_at = at,
				 .to_at = at, .bytes = n, .fence = true };

	return oracle_post(o, &w);
}

TEST("a fenced WRITE of a relaxed queue pair ends on top")
{
	start();
	uint64_t w1 = post("w1", loose, a, t, 0, 100);
	uint64_t w2 = post_fenced(b, 0, 100);

	finish(w1);
	finish(w2);
	good(look(t, 0, 50, 0xb0));
	breach(look(t, 50, 50, 0xa0), "byte 50 of t is 0xa0");
}

TEST("a fenced flag that is seen before its data is a breach")
{
	start();
	post("data", loose, a, t, 0, 1000);
	post_fenced(b, 2000, 8);
	good(look(t, 2000, 8, 0xb0));
	breach(look(t, 0, 1000, 0x10), "byte 0 of t is 0x10");
}
