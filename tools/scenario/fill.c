// SPDX-License-Identifier: BSD-2-Clause
/* What buffers are filled with, wherever the process is. */
#include "tools/scenario/testbed.h"

static uint64_t fill_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/*
 * Each word of a pattern is the number of its place, times an odd constant, so that no
 * two are the same and misplaced bytes show. Another seed changes every word; of seeds
 * below 256, every byte.
 */
static uint64_t fill_pattern(uint64_t seed, uint64_t word)
{
	return (word + 1) * 0x9e3779b97f4a7c15ull ^
	       seed * 0x0101010101010101ull;
}

uint8_t testbed_fill_byte(enum testbed_fill fill, uint64_t seed, uint64_t i)
{
	switch (fill) {
	case TESTBED_RANDOM:
		return (uint8_t)(fill_mix(seed * 0x100000001b3ull + i / 8) >>
				 i % 8 * 8);
	case TESTBED_PATTERN:
		return (uint8_t)(fill_pattern(seed, i / 8) >> i % 8 * 8);
	default:
		return 0;
	}
}
