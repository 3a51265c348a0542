// SPDX-License-Identifier: BSD-2-Clause
/* Scenarios that run: what fills differ in, what a size may be left out of, what is said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "tools/scenario/ast.h"
#include "tools/scenario/runner.h"

#define SETUP                                                          \
	"board a\nboard b\nlink a b\nprocess p on a\nprocess q on b\n"

static char said[16384];

/* Status of the command: 0 passed, 1 failed, 2 it was refused before it ran. */
static int run(const char *text)
{
	struct world_config cfg = { .seed = test_seed(),
				    .touch = FL_TOUCH_BLOCK };
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

static void says(const char *right)
{
	test_expect(strstr(said, right) != NULL, __FILE__, __LINE__,
		    "the output says '%s': %s", right, said);
}

static uint64_t fill_word(enum world_fill fill, uint64_t seed, uint64_t at)
{
	uint64_t word = 0;
	int i;

	for (i = 0; i < 8; i++)
		word |= (uint64_t)world_fill_byte(fill, seed, at + (uint64_t)i)
			<< i * 8;
	return word;
}

TEST("fills with different seeds differ in every word")
{
	static const uint64_t seed[] = { 0, 1, 2, 3, 7, 8, 255, 256, 257, 1000,
					 UINT32_MAX, UINT64_MAX };
	enum world_fill fill;
	uint64_t at, n = sizeof(seed) / sizeof(*seed), i, k, same = 0;

	for (fill = WORLD_RANDOM; fill <= WORLD_PATTERN; fill++)
		for (i = 0; i < n; i++)
			for (k = 0; k < i; k++)
				for (at = 0; at < 16384; at += 8)
					same += fill_word(fill, seed[i], at) ==
						fill_word(fill, seed[k], at);
	EXPECT_EQ(same, 0);
	for (at = 0; at < 16384; at += 8)
		same += fill_word(WORLD_RANDOM, 1, at) ==
			fill_word(WORLD_PATTERN, 1, at);
	EXPECT_EQ(same, 0);
}

TEST("patterns of small seeds differ in every byte")
{
	uint64_t i, k, at, same = 0;

	for (i = 1; i < 32; i++)
		for (k = 1; k < i; k++)
			for (at = 0; at < 4096; at++)
				same += world_fill_byte(WORLD_PATTERN, i, at) ==
					world_fill_byte(WORLD_PATTERN, k, at);
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
		word[i] = fill_word(WORLD_PATTERN, 1, i * 8);
	qsort(word, WORDS, sizeof(*word), by_value);
	for (i = 1; i < WORDS; i++)
		same += word[i] == word[i - 1];
	free(word);
	EXPECT_EQ(same, 0);
}

TEST("a pattern of one seed is not that of another in a scenario")
{
	EXPECT_EQ(run(SETUP "buffer x in p 8K fill=pattern seed=5\n"
		      "expect data x = pattern seed=5\n"), 0);
	EXPECT_EQ(run(SETUP "buffer x in p 8K fill=pattern seed=5\n"
		      "expect data x = pattern seed=6\n"), 1);
	says("8192 of 8192 bytes differ");
	EXPECT_EQ(run(SETUP "buffer x in p 8K fill=pattern seed=5\n"
		      "expect data x = pattern\n"), 1);
	EXPECT_EQ(run(SETUP "buffer x in p 8K fill=pattern seed=5\n"
		      "buffer y in p 8K fill=pattern seed=6\n"
		      "expect data x = y\n"), 1);
}
