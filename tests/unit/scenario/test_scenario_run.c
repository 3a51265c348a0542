// SPDX-License-Identifier: BSD-2-Clause
/* Scenarios that run: what fills differ in, what a size may be left out of, what is said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "tools/scenario/ast.h"
#include "tools/scenario/runner.h"
#include "tools/scenario/testbed.h"

#define SETUP                                                          \
	"board a\nboard b\nlink a b\nprocess p on a\nprocess q on b\n"

static char said[16384];

/* Status of the command: 0 passed, 1 failed, 2 it was refused before it ran. */
static int run_text(const char *text)
{
	struct testbed_config cfg = { .seed = test_seed(),
				    .resolve = FL_RESOLVE_BLOCK };
	struct runner_report report;
	struct scenario *s;
	int status = 2;
	FILE *f;

	STEP("run: %s", text);
	memset(said, 0, sizeof(said));
	f = fmemopen(said, sizeof(said), "w");
	s = scenario_parse("x.fl", text, f);
	if (s)
		status = scenario_run(s, &cfg, f, false, &report);
	fclose(f);
	scenario_free(s);
	STEP("status %d; said: %s", status, said);
	return status;
}

static void run_says(const char *right)
{
	test_expect(strstr(said, right) != NULL, __FILE__, __LINE__,
		    "the output says '%s': %s", right, said);
}

static uint64_t fill_word(enum testbed_fill fill, uint64_t seed, uint64_t at)
{
	uint64_t word = 0;
	int i;

	for (i = 0; i < 8; i++)
		word |= (uint64_t)testbed_fill_byte(fill, seed,
						    at + (uint64_t)i)
			<< i * 8;
	return word;
}

TEST("fills with different seeds differ in every word")
{
	static const uint64_t seed[] = { 0, 1, 2, 3, 7, 8, 255, 256, 257, 1000,
					 UINT32_MAX, UINT64_MAX };
	enum testbed_fill fill;
	uint64_t at, n = sizeof(seed) / sizeof(*seed), i, k, same = 0;

	for (fill = TESTBED_RANDOM; fill <= TESTBED_PATTERN; fill++)
		for (i = 0; i < n; i++)
			for (k = 0; k < i; k++)
				for (at = 0; at < 16384; at += 8)
					same += fill_word(fill, seed[i], at) ==
						fill_word(fill, seed[k], at);
	EXPECT_EQ(same, 0);
	for (at = 0; at < 16384; at += 8)
		same += fill_word(TESTBED_RANDOM, 1, at) ==
			fill_word(TESTBED_PATTERN, 1, at);
	EXPECT_EQ(same, 0);
}

TEST("patterns of small seeds differ in every byte")
{
	uint64_t i, k, at, same = 0;

	for (i = 1; i < 32; i++)
		for (k = 1; k < i; k++)
			for (at = 0; at < 4096; at++)
				same += testbed_fill_byte(TESTBED_PATTERN, i,
							  at) ==
					testbed_fill_byte(TESTBED_PATTERN, k,
							  at);
	EXPECT_EQ(same, 0);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

TEST("no two words of a pattern are the same, so that misplaced ones show")
{
	enum { WORDS = 1 << 17 };
	uint64_t *word = malloc(WORDS * sizeof(*word)), i, same = 0;

	EXPECT(word != NULL);
	for (i = 0; i < WORDS; i++)
		word[i] = fill_word(TESTBED_PATTERN, 1, i * 8);
	qsort(word, WORDS, sizeof(*word), by_value);
	for (i = 1; i < WORDS; i++)
		same += word[i] == word[i - 1];
	free(word);
	EXPECT_EQ(same, 0);
}

TEST("a pattern of one seed is not that of another in a scenario")
{
	EXPECT_EQ(run_text(SETUP "buffer x in p 8K fill=pattern seed=5\n"
			   "expect data x = pattern seed=5\n"), 0);
	EXPECT_EQ(run_text(SETUP "buffer x in p 8K fill=pattern seed=5\n"
			   "expect data x = pattern seed=6\n"), 1);
	run_says("8192 of 8192 bytes differ");
	EXPECT_EQ(run_text(SETUP "buffer x in p 8K fill=pattern seed=5\n"
			   "expect data x = pattern\n"), 1);
	EXPECT_EQ(run_text(SETUP "buffer x in p 8K fill=pattern seed=5\n"
			   "buffer y in p 8K fill=pattern seed=6\n"
			   "expect data x = y\n"), 1);
}

#define BUFFERS                                                        \
	SETUP "buffer s in p 256K fill=random\n"                       \
	"buffer d in q 512K fill=pattern\nregion s\nregion d\n"        \
	"connect p q as c\n"

TEST("a post without a size goes up to the shorter end behind from and at")
{
	EXPECT_EQ(run_text(BUFFERS "post w: write c s -> d at=256K\nwait w\n"
			   "expect status w ok\nexpect bytes w == 256K\n"
			   "expect data d 256K..512K = s\n"
			   "expect data d 0..256K = pattern\n"), 0);
	EXPECT_EQ(run_text(BUFFERS "post w: write c s -> d at=128K\nwait w\n"
			   "expect bytes w == 256K\n"), 0);
	EXPECT_EQ(run_text(BUFFERS "post w: write c s -> d at=384K\nwait w\n"
			   "expect bytes w == 128K\n"), 0);
	EXPECT_EQ(run_text(BUFFERS "post w: write c s -> d from=100K\nwait w\n"
			   "expect bytes w == 156K\n"), 0);
	EXPECT_EQ(run_text(BUFFERS "post w: read c s <- d from=255K at=511K+1\n"
			   "wait w\nexpect bytes w == 1023\n"), 0);
}

TEST("a post without a size from an end on is refused, and says which")
{
	EXPECT_EQ(run_text(BUFFERS "post w: write c s -> d from=256K\n"), 1);
	run_says("x.fl:11:1: FAILED");
	run_says("from=262144 leaves nothing of s, which has 262144 bytes");
	EXPECT_EQ(run_text(BUFFERS "post w: read c s <- d at=1M\n"), 1);
	run_says("at=1048576 leaves nothing of d, which has 524288 bytes");
	EXPECT_EQ(run_text(BUFFERS "post w: write c s -> d from=256K fails ERANGE\n"),
		  0);
}

TEST("a range beyond its buffer says how large that is")
{
	EXPECT_EQ(run_text(BUFFERS "expect data s 300K.. = random\n"), 1);
	run_says("nothing to compare: buffer s has only 262144 bytes");
	EXPECT_EQ(run_text(BUFFERS "expect data d 0..8K = s 252K..\n"), 1);
	run_says("the right side has only 4096 of 8192 bytes");
	EXPECT_EQ(run_text(BUFFERS "expect resident s 0..300K\n"), 1);
	run_says("no such pages: buffer s has only 262144 bytes");
}

TEST("a work request that failed is told where no line asks for it")
{
	EXPECT_EQ(run_text(BUFFERS "post w: write c s -> d 256K at=384K\nwait w\n"),
		  0);
	run_says("x.fl:11:1: note: w ended as remote-access, and no line expects a "
		 "status of it");
	EXPECT_EQ(run_text(BUFFERS "post w: write c s -> d 0\n"), 0);
	run_says("note: w ended as EINVAL");
	EXPECT_EQ(run_text(BUFFERS "post w: write c s -> d 256K at=384K\nwait w\n"
			   "expect status w remote-access\n"), 0);
	EXPECT(strstr(said, "note:") == NULL);
	EXPECT_EQ(run_text(BUFFERS "post w: write c s -> d 0 fails EINVAL\n"),
		  0);
	EXPECT(strstr(said, "note:") == NULL);
}

TEST("an error that a statement ends with is explained")
{
	EXPECT_EQ(run_text(SETUP "link a a\n"), 1);
	run_says("got:      ENOENT: a link joins two different boards");
	EXPECT_EQ(run_text(SETUP "link a b\n"), 1);
	run_says("EEXIST: these boards have a link already");
	EXPECT_EQ(run_text("board z block=3\n"), 1);
	run_says("EINVAL: no card has such contexts or blocks");
	EXPECT_EQ(run_text(SETUP "connect p q as c depth=60000\n"), 1);
	run_says("EINVAL: no queue has this depth");
	EXPECT_EQ(run_text(SETUP "exit p\nexit p\n"), 1);
	run_says("ESRCH: its process has ended");
	EXPECT_EQ(run_text(SETUP "buffer x in p 999G\n"), 1);
	run_says("ENOMEM: there is no room for so much memory");
	EXPECT_EQ(run_text(SETUP "poke a nic 3 = 1\n"), 1);
	run_says("EINVAL: offset and value");
}
