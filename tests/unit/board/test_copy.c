// SPDX-License-Identifier: BSD-2-Clause
/* Copying between far memories: all bytes, and no other. */
#include <string.h>

#include "board/copy.h"
#include "harness.h"
#include "sim/rng.h"

#define ROOM	(96u * 1024)

static uint8_t from[ROOM], to[ROOM], want[ROOM], untouched[ROOM];

TEST("whatever the length, and wherever the two begin in a line or a page")
{
	struct rng r;
	unsigned int round, i;

	rng_init(&r, test_seed(), "copy");
	for (i = 0; i < ROOM; i++)
		from[i] = (uint8_t)rng_next(&r);
	/* The first try is slow, so another one is quicker. */
	copy_far(untouched, from, ROOM);
	EXPECT_MEM(untouched, from, ROOM);
	for (round = 0; round < 400; round++) {
		uint32_t n = (uint32_t)rng_below(&r, round % 2 ? 200 : 80000);
		uint32_t a = (uint32_t)rng_below(&r, 8192), b = (uint32_t)rng_below(&r, 8192);

		memset(to, 0xee, sizeof(to));
		memset(want, 0xee, sizeof(want));
		memcpy(want + b, from + a, n);
		copy_far(to + b, from + a, n);
		EXPECT_MEM(to, want, sizeof(to));
	}
}
