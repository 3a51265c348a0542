/* SPDX-License-Identifier: BSD-2-Clause */
/* bits.h */
#ifndef SHIM_LINUX_BITS_H
#define SHIM_LINUX_BITS_H

#define BIT(n) (1ul << (n))
#define BIT_ULL(n) (1ull << (n))
#define GENMASK_ULL(high, low)                                                \
	((~0ull << (low)) & (~0ull >> (63 - (high))))

static inline unsigned int lower_32_bits(unsigned long v)
{
	return (unsigned int)v;
}

static inline unsigned int upper_32_bits(unsigned long v)
{
	return (unsigned int)(v >> 32);
}

#endif
