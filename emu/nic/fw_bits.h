/* SPDX-License-Identifier: BSD-2-Clause */
/* fw_bits.h - a set of small numbers, in which the next member is found without a search. */
#ifndef FL_FW_BITS_H
#define FL_FW_BITS_H

#include <stdbool.h>
#include <stdint.h>

#define FW_BITS_MAX	256

struct fw_bits {
	uint32_t words;		/* bit i: word[i] is not 0 */
	uint32_t word[FW_BITS_MAX / 32];
};

static inline void fw_bits_set(struct fw_bits *b, unsigned int n)
{
	b->word[n / 32] |= 1u << n % 32;
	b->words |= 1u << n / 32;
}

static inline void fw_bits_clear(struct fw_bits *b, unsigned int n)
{
	b->word[n / 32] &= ~(1u << n % 32);
	if (!b->word[n / 32])
		b->words &= ~(1u << n / 32);
}

static inline bool fw_bits_has(const struct fw_bits *b, unsigned int n)
{
	return b->word[n / 32] >> n % 32 & 1;
}

static inline void fw_bits_put(struct fw_bits *b, unsigned int n, bool on)
{
	if (on == fw_bits_has(b, n))
		return;
	if (on)
		fw_bits_set(b, n);
	else
		fw_bits_clear(b, n);
}

/* The member after `after`, round the end; the set must not be empty. */
static inline unsigned int fw_bits_next(const struct fw_bits *b,
					unsigned int after)
{
	unsigned int n = (after + 1) % FW_BITS_MAX, w = n / 32;
	uint32_t rest = b->word[w] & ~0u << n % 32;

	if (!rest) {
		uint32_t later = b->words & ~1u << w;

		w = (unsigned int)__builtin_ctz(later ? later : b->words);
		rest = b->word[w];
	}
	return w * 32 + (unsigned int)__builtin_ctz(rest);
}

#endif
