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
/* The number that belongs to these three, whoever asks and when. */
uint64_t rng_hash(uint64_t seed, uint64_t a, uint64_t b);
/* 0 <= result < n, n > 0 */
uint64_t rng_below(struct rng *r, uint64_t n);

#endif
