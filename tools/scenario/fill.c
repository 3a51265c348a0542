// SPDX-License-Identifier: BSD-2-Clause
/* What buffers are filled with, wherever the process is. */
#include "tools/scenario/world.h"

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint8_t world_fill_byte(enum world_fill fill, uint64_t seed, uint64_t i)
{
	switch (fill) {
	case WORLD_RANDOM:
		return (uint8_t)(mix(seed * 0x100000001b3ull + i / 8) >>
				 i % 8 * 8);
	case WORLD_PATTERN:	/* its own offset, so that misplaced bytes show */
		return (uint8_t)(i % 4096 / 8 * 7 + i / 4096 + i % 8);
	default:
		return 0;
	}
}
