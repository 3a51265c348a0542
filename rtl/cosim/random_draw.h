/* SPDX-License-Identifier: BSD-2-Clause */
/* random_draw.h - numbers of a random run: splitmix64 of one seed. */
#ifndef FL_RTL_RANDOM_DRAW_H
#define FL_RTL_RANDOM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

extern uint64_t random_state;

static inline uint64_t random_u64(void)
{
	uint64_t z = random_state += 0x9E3779B97F4A7C15ull;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}

static inline unsigned int random_below(unsigned int n)
{
	return (unsigned int)(random_u64() >> 32) % n;
}

static inline bool one_in(unsigned int n)
{
	return !random_below(n);
}

static inline uint32_t least_of(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Anywhere, but often so that a page ends within it, or with it; seldom at the end of
 * all addresses.
 */
static inline uint64_t some_place(uint64_t from, uint32_t len)
{
	uint64_t at = from + random_below(1u << 20);

	if (one_in(300))
		return 0ull - random_below(8192);
	return one_in(3) ? (at | 0xFFF) + 1 - random_below(len + 1) : at;
}

/* Of a few, so that some are the same; and with every bit that there is. */
static inline uint32_t some_stream(void)
{
	return one_in(4) ? random_below(0x8000) : random_below(16);
}

#endif
