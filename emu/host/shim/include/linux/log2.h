/* SPDX-License-Identifier: BSD-2-Clause */
/* log2.h */
#ifndef SHIM_LINUX_LOG2_H
#define SHIM_LINUX_LOG2_H

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	unsigned long p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

#endif
