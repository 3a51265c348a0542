// SPDX-License-Identifier: BSD-2-Clause
/*
 * The oracle by itself: sequences that some execution in order gives, which it must
 * let pass, and for each kind of breach one that none gives, which it must see.
 */
#include "rig/oracle.h"

/* ---- one request ---- */

TEST("an area holds what was stored, and nothing else")
{
	rig_start();
	rig_good(rig_look(t, 0, BYTES, 0x10));
	rig_breach(rig_look(t, 100, 1, 0x11), "byte 100 of t is 0x11");
}

TEST("a WRITE under way may be seen or not, byte by byte")
{
	rig_start();
	rig_post("w", q1, a, t, 0, 100);
	rig_good(rig_look(t, 0, 100, 0x10));
	rig_good(rig_look(t, 0, 50, 0xa0));
	rig_good(rig_look(t, 50, 50, 0x10));
	rig_good(rig_look(t, 0, 100, 0xa0));
	rig_breach(rig_look(t, 0, 100, 0xb0), "what w brought");
}

TEST("a WRITE that succeeded is there")
{
	rig_start();
	rig_finish(rig_post("w", q1, a, t, 0, 100));
	rig_good(rig_look(t, 0, 100, 0xa0));
	rig_breach(rig_look(t, 0, 100, 0x10), "byte 0 of t is 0x10");
}

TEST("a WRITE that succeeded but did not land is seen at its last byte too")
{
	rig_start();
	rig_finish(rig_post("w", q1, a, t, 0, 100));
	rig_good(rig_look(t, 0, 99, 0xa0));
	rig_breach(rig_look(t, 99, 1, 0x10), "byte 99 of t");
}

TEST("a byte beside the target must not change, in front or behind")
{
	rig_start();
	rig_finish(rig_post("w", q1, a, t, 100, 100));
	rig_good(rig_look(t, 0, 100, 0x10));
	rig_good(rig_look(t, 200, BYTES - 200, 0x10));
	rig_breach(rig_look(t, 200, 1, 0xa0), "byte 200 of t is 0xa0");
}

TEST("a byte in front of the target must not change")
{
	rig_start();
	rig_finish(rig_post("w", q1, a, t, 100, 100));
	rig_breach(rig_look(t, 99, 1, 0xa0), "byte 99 of t is 0xa0");
}

TEST("a buffer that nobody wrote to must not change")
{
	rig_start();
	rig_finish(rig_post("w", q1, a, t, 0, BYTES));
	rig_good(rig_look(a, 0, BYTES, 0xa0));
	rig_breach(rig_look(b, 0, BYTES, 0xa0), "byte 0 of b");
}

TEST("what was seen after a WRITE had ended stays")
{
	rig_start();
	rig_finish(rig_post("w1", q1, a, t, 0, 100));
	rig_good(rig_look(t, 0, 100, 0xa0));
	rig_breach(rig_look(t, 0, 100, 0x10), "byte 0 of t");
}

/* ---- two on a queue pair ---- */

TEST("of two WRITEs of a queue pair the second's bytes end on top")
{
	rig_start();
	uint64_t w1 = rig_post("w1", q1, a, t, 0, 100);
	uint64_t w2 = rig_post("w2", q1, b, t, 50, 100);

	rig_finish(w1);
	rig_finish(w2);
	rig_good(rig_look(t, 0, 50, 0xa0));
	rig_good(rig_look(t, 50, 100, 0xb0));
	rig_good(rig_look(t, 150, 10, 0x10));
}

TEST("older bytes on top of newer ones are a breach")
{
	rig_start();
	uint64_t w1 = rig_post("w1", q1, a, t, 0, 100);
	uint64_t w2 = rig_post("w2", q1, b, t, 0, 100);

	rig_finish(w1);
	rig_finish(w2);
	rig_breach(rig_look(t, 40, 1, 0xa0), "byte 40 of t is 0xa0");
}

TEST("of two WRITEs of a relaxed queue pair either may end on top")
{
	rig_start();
	uint64_t w1 = rig_post("w1", loose, a, t, 0, 100);
	uint64_t w2 = rig_post("w2", loose, b, t, 0, 100);

	rig_finish(w1);
	rig_finish(w2);
	rig_good(rig_look(t, 0, 50, 0xa0));
	rig_good(rig_look(t, 50, 50, 0xb0));
	rig_breach(rig_look(t, 0, 50, 0xb0), "byte 0 of t");
}

TEST("a relaxed WRITE that was posted after a completion comes after it")
{
	rig_start();
	rig_finish(rig_post("w1", loose, a, t, 0, 100));
	rig_finish(rig_post("w2", loose, b, t, 0, 100));
	rig_breach(rig_look(t, 0, 100, 0xa0), "byte 0 of t");
}

TEST("of two queue pairs either WRITE may end on top, mixed byte by byte")
{
	rig_start();
	uint64_t w1 = rig_post("w1", q1, a, t, 0, 100);
	uint64_t w2 = rig_post("w2", q2, b, t, 0, 100);

	rig_finish(w2);
	rig_finish(w1);
	found[0] = 0xa0;
	found[1] = 0xb0;
	found[2] = 0xa0;
	rig_good(oracle_look(o, t, 0, found, 3));
	rig_breach(rig_look(t, 3, 1, 0x10), "byte 3 of t");
}

TEST("a WRITE posted after another queue pair's completion comes after it")
{
	rig_start();
	rig_finish(rig_post("w1", q1, a, t, 0, 100));
	rig_finish(rig_post("w2", q2, b, t, 0, 100));
	rig_breach(rig_look(t, 0, 100, 0xa0), "byte 0 of t is 0xa0");
}

TEST("the older of a queue pair's WRITEs cannot be on top of another's either")
{
	rig_start();
	uint64_t w1 = rig_post("w1", q1, a, t, 0, 100), w2, w3;

	rig_fill(back, 0xc0);
	w2 = rig_post("w2", q1, b, t, 0, 100);
	w3 = rig_post("w3", q2, back, t, 0, 100);
	rig_finish(w1);
	rig_finish(w2);
	rig_finish(w3);
	rig_good(rig_look(t, 0, 10, 0xb0));
	rig_good(rig_look(t, 10, 10, 0xc0));
	rig_breach(rig_look(t, 20, 10, 0xa0), "byte 20 of t is 0xa0");
}

/* ---- the flag ---- */

TEST("a flag may be seen once the data posted before it is there")
{
	rig_start();
	rig_post("data", q1, a, t, 0, 1000);
	rig_post("flag", q1, b, t, 2000, 8);
	rig_good(rig_look(t, 0, 1000, 0xa0));
	rig_good(rig_look(t, 2000, 8, 0xb0));
	rig_good(rig_look(t, 0, 1000, 0xa0));
}

TEST("a flag that is seen before its data is a breach")
{
	rig_start();
	rig_post("data", q1, a, t, 0, 1000);
	rig_post("flag", q1, b, t, 2000, 8);
	rig_good(rig_look(t, 0, 1000, 0x10));
	rig_good(rig_look(t, 2000, 8, 0xb0));
	rig_breach(rig_look(t, 0, 1000, 0x10), "byte 0 of t is 0x10");
}

TEST("a flag seen before the last byte of its data is a breach")
{
	rig_start();
	rig_post("data", q1, a, t, 0, 1000);
	rig_post("flag", q1, b, t, 2000, 8);
	rig_good(rig_look(t, 2007, 1, 0xb0));
	rig_good(rig_look(t, 0, 999, 0xa0));
	rig_breach(rig_look(t, 999, 1, 0x10), "byte 999 of t");
}

TEST("data and flag found at one moment are judged by looking twice")
{
	rig_start();
	rig_post("data", q1, a, t, 0, 1000);
	rig_post("flag", q1, b, t, 2000, 8);
	memset(found, 0x10, BYTES);
	memset(found + 2000, 0xb0, 8);
	rig_good(oracle_look(o, t, 0, found, BYTES));
	rig_breach(oracle_look(o, t, 0, found, BYTES), "byte 0 of t is 0x10");
}

TEST("a flag of a relaxed queue pair says nothing of the data before it")
{
	rig_start();
	rig_post("data", loose, a, t, 0, 1000);
	rig_post("flag", loose, b, t, 2000, 8);
	rig_good(rig_look(t, 2000, 8, 0xb0));
	rig_good(rig_look(t, 0, 1000, 0x10));
}

TEST("a flag of another queue pair says nothing of the data")
{
	rig_start();
	rig_post("data", q1, a, t, 0, 1000);
	rig_post("flag", q2, b, t, 2000, 8);
	rig_good(rig_look(t, 2000, 8, 0xb0));
	rig_good(rig_look(t, 0, 1000, 0x10));
}

TEST("a flag whose bytes were there already says nothing")
{
	rig_start();
	rig_post("data", q1, a, t, 0, 1000);
	rig_fill(b, 0x10);
	rig_post("flag", q1, b, t, 2000, 8);
	rig_good(rig_look(t, 2000, 8, 0x10));
	rig_good(rig_look(t, 0, 1000, 0x10));
}

TEST("a flag that a READ brought in says that the data is there")
{
	rig_start();
	rig_post("data", q1, a, t, 0, 1000);
	rig_post("flag", q1, b, t, 2000, 8);
	rig_finish(rig_fetch("r", q2, t, back, 2000, 8));
	rig_good(rig_look(back, 2000, 8, 0xb0));
	rig_breach(rig_look(t, 0, 1000, 0x10), "byte 0 of t is 0x10");
}

/* ---- READ ---- */

TEST("a READ sees the WRITEs before it")
{
	rig_start();
	uint64_t w = rig_post("w", q1, a, t, 0, 100);
	uint64_t r = rig_fetch("r", q1, t, back, 0, 200);

	rig_finish(w);
	rig_finish(r);
	rig_good(rig_look(back, 0, 100, 0xa0));
	rig_good(rig_look(back, 100, 100, 0x10));
}

TEST("a READ that returns bytes from before a WRITE is a breach")
{
	rig_start();
	uint64_t w = rig_post("w", q1, a, t, 0, 100);
	uint64_t r = rig_fetch("r", q1, t, back, 0, 200);

	rig_finish(w);
	rig_finish(r);
	rig_breach(rig_look(back, 0, 100, 0x10), "byte 0 of back is 0x10");
}

TEST("a READ does not see the WRITEs behind it")
{
	rig_start();
	uint64_t r = rig_fetch("r", q1, t, back, 0, 100);
	uint64_t w = rig_post("w", q1, a, t, 0, 100);

	rig_finish(r);
	rig_finish(w);
	rig_good(rig_look(t, 0, 100, 0xa0));
	rig_good(rig_look(back, 0, 10, 0x10));
	rig_breach(rig_look(back, 10, 10, 0xa0), "byte 10 of back is 0xa0");
}

TEST("a relaxed READ may see a WRITE behind it, or miss one before it")
{
	rig_start();
	rig_fill(back, 0);
	rig_post("w1", loose, a, t, 0, 100);
	uint64_t r = rig_fetch("r", loose, t, back, 0, 200);
	rig_post("w2", loose, b, t, 100, 100);
	rig_good(rig_look(back, 0, 100, 0x10));
	rig_good(rig_look(back, 100, 100, 0xb0));
	(void)r;
}

TEST("a READ of another queue pair sees old or new bytes, but no others")
{
	rig_start();
	rig_post("w", q1, a, t, 0, 100);
	rig_finish(rig_fetch("r", q2, t, back, 0, 100));
	rig_good(rig_look(back, 0, 50, 0x10));
	rig_good(rig_look(back, 50, 20, 0xa0));
	rig_breach(rig_look(back, 70, 1, 0xb0), "byte 70 of back");
}

TEST("a READ that returns what another's completion has replaced is a breach")
{
	rig_start();
	rig_finish(rig_post("w", q2, a, t, 0, 100));
	rig_finish(rig_fetch("r", q1, t, back, 0, 100));
	rig_breach(rig_look(back, 0, 100, 0x10), "byte 0 of back");
}

TEST("what a READ brought is written on by a WRITE behind it")
{
	rig_start();
	uint64_t r = rig_fetch("r", q1, t, a, 0, 100);
	uint64_t w = rig_post("w", q1, a, back, 0, 100);

	rig_finish(r);
	rig_finish(w);
	rig_good(rig_look(back, 0, 50, 0x10));
	rig_breach(rig_look(back, 50, 50, 0xa0), "byte 50 of back is 0xa0");
}

TEST("that a WRITE behind a READ is seen says that the READ has ended")
{
	rig_start();
	rig_fetch("r", q1, t, back, 0, 100);
	rig_post("w", q1, a, t, 200, 100);
	rig_good(rig_look(t, 200, 1, 0xa0));
	rig_breach(rig_look(back, 0, 1, 0x00), "byte 0 of back is 0x00");
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
	rig_start();
	uint64_t w1 = rig_post("w1", loose, a, t, 0, 100);
	uint64_t w2 = post_fenced(b, 0, 100);

	rig_finish(w1);
	rig_finish(w2);
	rig_good(rig_look(t, 0, 50, 0xb0));
	rig_breach(rig_look(t, 50, 50, 0xa0), "byte 50 of t is 0xa0");
}

TEST("a fenced flag that is seen before its data is a breach")
{
	rig_start();
	rig_post("data", loose, a, t, 0, 1000);
	post_fenced(b, 2000, 8);
	rig_good(rig_look(t, 2000, 8, 0xb0));
	rig_breach(rig_look(t, 0, 1000, 0x10), "byte 0 of t is 0x10");
}
