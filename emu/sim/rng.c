// SPDX-License-Identifier: BSD-2-Clause
/*
 * rng.c - xoroshiro128+ (Blackman, Vigna 2018), seeded by splitmix64 from the
 * seed of the run and the name of the stream, so that one user's draws do not
 * shift another's.
 */
#include "sim/rng.h"

static uint64_t rng_splitmix(uint64_t *x)
{
	uint64_t z = rng_of(*x, 0);

	*x += RNG_GOLDEN;
	return z;
}

void rng_init(struct rng *r, uint64_t seed, const char *stream)
{
	uint64_t h = 0xcbf29ce484222325ull;	/* FNV-1a of the name */

	while (*stream)
		h = (h ^ (unsigned char)*stream++) * 0x100000001b3ull;
	h ^= rng_splitmix(&seed);
	r->s[0] = rng_splitmix(&h);
	r->s[1] = rng_splitmix(&h) | 1;		/* never all zero */
}

static uint64_t rng_rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t rng_next(struct rng *r)
{
	uint64_t a = r->s[0], b = r->s[1], sum = a + b;

	b ^= a;
	r->s[0] = rng_rotl(a, 24) ^ b ^ b << 16;
	r->s[1] = rng_rotl(b, 37);
	return sum;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;

	do
		x = rng_next(r);
	while (x >= limit);	/* no bias towards small numbers */
	return x % n;
}
