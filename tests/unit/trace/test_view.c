// SPDX-License-Identifier: BSD-2-Clause
/* Views of a trace: loading with its errors, and what the pictures say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faultline/fsm.h"
#include "harness.h"
#include "nic/wire.h"
#include "tools/view/view.h"
#include "trace/trace.h"

static struct trace_record rec[64];
static struct view_trace t;
static char out[131072], said[4096];

static void test_view_begin(void)
{
	memset(rec, 0, sizeof(rec));
	t = (struct view_trace){ .r = rec };
}

static struct trace_record *test_view_add(enum trace_event ev, int board,
					  uint32_t block, uint32_t attempt,
					  uint64_t a0, uint64_t a1, uint64_t a2,
					  uint64_t a3)
{
	struct trace_record *r = &rec[t.n++];

	*r = (struct trace_record){ .seq = t.n, .time_ns = 100 * t.n,
				    .event = ev, .board = (uint8_t)board,
				    .xfer = 5, .block = block,
				    .attempt = attempt,
				    .arg = { a0, a1, a2, a3 } };
	return r;
}

/* A one-block WRITE whose destination faults. */
static void test_view_story(void)
{
	test_view_begin();
	test_view_add(EV_LIB_POST, 0, 0, 0, 1, 1, 0x1000, 4096);
	test_view_add(EV_FW_BLOCK, 0, 1, 0, 0, 0x1000, 4096, 1);
	test_view_add(EV_WIRE_SEND, 0, 1, 0, WOP_WRITE, 1, 1088, 0);
	test_view_add(EV_WIRE_SEND, 0, 1, 0, WOP_WRITE, 1, 1088, 1024);
	test_view_add(EV_SMMU_LEVEL, 1, 1, 0, 0, 0x800001000, 253, 0x800002003);
	test_view_add(EV_SMMU_LEVEL, 1, 1, 0, 3, 0x800002000, 7, 0);
	test_view_add(EV_SMMU_FAULT, 1, 1, 0, 2, 0x7000, 0x402, 0x13);
	test_view_add(EV_ENG_FAULT, 1, 1, 0, 4, 1, 0x7000, 1);
	test_view_add(EV_WIRE_SEND, 1, 1, 0, WOP_REFUSED, 0, 36, 0);
	test_view_add(EV_DRV_WORK, 1, 0, 0, 4, 1, 0x7000, 4096)->xfer = 0;
	test_view_add(EV_MM_PAGE_IN, 1, 0, 0, 1, 0x7000, 0x800100000, 0)->xfer =
		0;
	test_view_add(EV_DRV_READY, 1, 0, 0, 4, 1, 0, 0)->xfer = 0;
	test_view_add(EV_DRV_READY, 1, 0, 0, 9, 1, 0, 0)->xfer = 0;
	test_view_add(EV_FW_BLOCK, 0, 2, 0, 0, 0x2000, 4096, 1);
	test_view_add(EV_TX_STATE, 0, 1, 0, 0, FL_TX_FLYING, FL_TX_EV_REFUSED,
		      FL_TX_DSTFAULT);
	test_view_add(EV_FW_COMPLETE, 0, 0, 0, 1, 0, 4096, 0);
}

static void test_view_draw(int (*fn)(FILE *f))
{
	FILE *f;

	memset(out, 0, sizeof(out));
	f = fmemopen(out, sizeof(out), "w");
	EXPECT_EQ(fn(f), 0);
	fclose(f);
	EXPECT(strstr(out, "digraph") != NULL);
}

static int test_view_sequence(FILE *f)
{
	return view_sequence(f, &t, 0, 0);
}

static int test_view_states(FILE *f)
{
	return view_states(f, &t, -1);
}

static int test_view_walk(FILE *f)
{
	return view_walk(f, &t, 0, 1);
}

static unsigned int test_view_times(const char *what)
{
	const char *p = out;
	unsigned int n = 0;

	while ((p = strstr(p, what)) != NULL) {
		p++;
		n++;
	}
	return n;
}

TEST("the sequence folds packets and other blocks, and counts them")
{
	test_view_story();
	test_view_draw(test_view_sequence);
	EXPECT_EQ(test_view_times("WRITE: 2 packets"), 1);
	EXPECT_EQ(test_view_times("... 1 more block of this transfer"), 1);
	EXPECT_EQ(test_view_times("FAULT at 0x7000"), 1);
	EXPECT_EQ(test_view_times("kernel: 1 page in (zeros)"), 1);
}

TEST("the sequence takes the driver's ready register of this block only")
{
	test_view_story();
	test_view_draw(test_view_sequence);
	EXPECT_EQ(test_view_times("ready register"), 1);
}

TEST("only faults have the fault's colour")
{
	test_view_story();
	test_view_draw(test_view_sequence);
	EXPECT(test_view_times(VIEW_FAULT) > 0);
	test_view_begin();
	test_view_add(EV_LIB_POST, 0, 0, 0, 1, 1, 0x1000, 4096);
	test_view_add(EV_WIRE_SEND, 0, 1, 0, WOP_WRITE, 1, 1088, 0);
	test_view_draw(test_view_sequence);
	EXPECT_EQ(test_view_times(VIEW_FAULT), 0);
}

TEST("a trace without the transfer is said to have none")
{
	FILE *f = fmemopen(out, sizeof(out), "w");

	test_view_story();
	EXPECT(view_sequence(f, &t, 77, 0) < 0);
	EXPECT(view_walk(f, &t, 0, 2) < 0);
	test_view_begin();
	EXPECT(view_sequence(f, &t, 0, 0) < 0);
	EXPECT(view_states(f, &t, -1) < 0);
	fclose(f);
}

TEST("the state picture counts what was taken and greys the rest")
{
	test_view_story();
	test_view_draw(test_view_states);
	EXPECT_EQ(test_view_times("REFUSED x 1"), 1);
	EXPECT_EQ(test_view_times("1 transition of"), 1);
	EXPECT(test_view_times("PEER_READY x") == 0);
	EXPECT(test_view_times("PEER_READY") >= 1);
}

TEST("a walk that the walk cache shortened does not begin at TTBR0")
{
	test_view_story();
	test_view_draw(test_view_walk);
	EXPECT_EQ(test_view_times("TTBR0 of"), 1);
	EXPECT_EQ(test_view_times("walk cache of"), 0);
	test_view_begin();
	test_view_add(EV_SMMU_LEVEL, 1, 1, 0, 2, 0x800001000, 1, 0x800002003);
	test_view_add(EV_SMMU_MULTI, 1, 1, 0, 2, 0x6000, 2, 0);
	test_view_add(EV_SMMU_WALK_CACHE, 1, 1, 0, 2, 0x7000, 3, 0x800002000);
	test_view_add(EV_SMMU_LEVEL, 1, 1, 0, 3, 0x800002000, 7, 0);
	test_view_add(EV_SMMU_FAULT, 1, 1, 0, 2, 0x7000, 0x402, 0x13);
	test_view_draw(test_view_walk);
	EXPECT_EQ(test_view_times("TTBR0 of"), 0);
	EXPECT_EQ(test_view_times("walk cache of"), 1);
	EXPECT_EQ(test_view_times("level 3"), 1);
	EXPECT_EQ(test_view_times("level 2"), 0);
}

TEST("the walk shows each level and why it ended")
{
	test_view_story();
	test_view_draw(test_view_walk);
	EXPECT_EQ(test_view_times("level 0"), 1);
	EXPECT_EQ(test_view_times("level 3"), 1);
	EXPECT_EQ(test_view_times("0: not valid"), 1);
	EXPECT_EQ(test_view_times("3: table"), 1);
	EXPECT_EQ(test_view_times("translation fault"), 1);
	EXPECT_EQ(test_view_times("FAULT on a write"), 1);
}

/* Write text to a file and load it. */
static int test_view_load(const char *text)
{
	struct view_trace got;
	char path[128];
	FILE *f;
	int err;

	test_path(path, sizeof(path), "view");
	f = fopen(path, "w");
	EXPECT(f);
	EXPECT(fputs(text, f) >= 0);
	fclose(f);
	memset(said, 0, sizeof(said));
	f = fmemopen(said, sizeof(said), "w");
	err = view_load(path, &got, f);
	fclose(f);
	if (!err) {
		err = (int)got.n;
		view_free(&got);
	}
	return err;
}

TEST("a trace file is read, and a mistake has file, line and column")
{
	EXPECT_EQ(test_view_load("#faultline-trace 1\n"
				 "1<0 5 0.APP APP_NOTE 0.0.0 a=1 b=2\n\n#lost 3\n"), 1);
	EXPECT(test_view_load("#faultline-trace 1\n1<0 5 0.APP APP_NOTE 0.0.0 a=1 b=x\n")
	       < 0);
	EXPECT(strstr(said, ":2:") != NULL);
	EXPECT(strstr(said, "wanted:") != NULL);
	EXPECT(test_view_load("something else\n") < 0);
	EXPECT(strstr(said, ":1:1:") != NULL);
	EXPECT(test_view_load("") < 0);
	EXPECT(test_view_load("#faultline-trace 1\n1<0 5 0.APP APP_NOTE") < 0);
}

TEST("text can be filtered by board, transfer and event")
{
	struct view_filter filter = { 1, 0, 0, EV_SMMU_FAULT };
	FILE *f;

	test_view_story();
	memset(out, 0, sizeof(out));
	f = fmemopen(out, sizeof(out), "w");
	view_text(f, &t, &filter, false);
	fclose(f);
	EXPECT_EQ(test_view_times("SMMU_FAULT"), 1);
	EXPECT_EQ(test_view_times("\n"), 2);
	filter = (struct view_filter){ 0, 5, 0, -1 };
	memset(out, 0, sizeof(out));
	f = fmemopen(out, sizeof(out), "w");
	view_text(f, &t, &filter, true);
	fclose(f);
	EXPECT_EQ(test_view_times("SMMU_FAULT"), 0);
	EXPECT_EQ(test_view_times("LIB_POST"), 1);
	EXPECT_EQ(test_view_times(trace_events[EV_LIB_POST].text), 1);
}

static void test_view_say(enum view_kind kind, uint32_t xfer)
{
	FILE *f;

	memset(said, 0, sizeof(said));
	f = fmemopen(said, sizeof(said), "w");
	view_say(f, &t, kind, xfer);
	fclose(f);
}

TEST("what a trace has is told as numbers and ranges")
{
	static const uint32_t block[] = { 9, 3, 1, 2, 3, 7, 8, 12 };
	size_t i;

	test_view_begin();
	test_view_say(VIEW_XFER, 0);
	EXPECT_STR(said, "there is none");
	for (i = 0; i < sizeof(block) / sizeof(*block); i++)
		test_view_add(EV_ENG_FAULT, 1, block[i], 0, 0, 0, 0, 0);
	test_view_say(VIEW_BLOCK, 0);
	EXPECT_STR(said, "there are 1 to 3, 7 to 9, 12");
	test_view_say(VIEW_BLOCK, 5);
	EXPECT_STR(said, "there are 1 to 3, 7 to 9, 12");
	test_view_say(VIEW_BLOCK, 6);
	EXPECT_STR(said, "there is none");
	test_view_say(VIEW_XFER, 0);
	EXPECT_STR(said, "there is only 5");
	test_view_add(EV_ENG_FAULT, 0, 1, 0, 0, 0, 0, 0);
	test_view_say(VIEW_BOARD, 0);
	EXPECT_STR(said, "there are 0 and 1");
	for (i = 0; i < 20; i++)
		test_view_add(EV_ENG_FAULT, 0, (uint32_t)(100 + 2 * i), 0, 0, 0,
			      0, 0);
	test_view_say(VIEW_BLOCK, 0);
	EXPECT_STR(said, "there are 1 to 3, 7 to 9, 12, 100, 102, 104, 106, "
		   "108, ...");
	EXPECT(view_has(&t, VIEW_BLOCK, 5, 102));
	EXPECT(!view_has(&t, VIEW_BLOCK, 5, 103));
	EXPECT(!view_has(&t, VIEW_BLOCK, 4, 102));
}

TEST("text can be filtered by block")
{
	struct view_filter filter = { -1, 0, 2, -1 };
	FILE *f;

	test_view_story();
	memset(out, 0, sizeof(out));
	f = fmemopen(out, sizeof(out), "w");
	view_text(f, &t, &filter, false);
	fclose(f);
	EXPECT_EQ(test_view_times("\n"), 2);
	EXPECT_EQ(test_view_times("FW_BLOCK"), 1);
}
