/* SPDX-License-Identifier: BSD-2-Clause */
/* rng.h - random numbers: one stream for each user, all from the seed. */
#ifndef FL_RNG_H
#define FL_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[2];
};
void rng_init(struct rng *r, uint64_t seed, const char *stream);
uint64_t rng_next(struct rng *r);
#define RNG_GOLDEN 0x9e3779b97f4a7c15ull

/* The number that belongs to these, whoever asks and when. */
static inline uint64_t rng_of(uint64_t key, uint64_t n)
{
	uint64_t z = key + (n + 1) * RNG_GOLDEN;	/* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}
static inline uint64_t rng_hash(uint64_t seed, uint64_t a, uint64_t b)
{
	return rng_of(rng_of(seed, a), b);
}
/* 0 <= result < n, n > 0 */
uint64_t rng_below(struct rng *r, uint64_t n);

#endif
