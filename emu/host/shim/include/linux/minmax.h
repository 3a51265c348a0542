/* SPDX-License-Identifier: BSD-2-Clause */
/* minmax.h */
#ifndef SHIM_LINUX_MINMAX_H
#define SHIM_LINUX_MINMAX_H

#define min_t(type, a, b)                                                     \
	({                                                                    \
		type min_a_ = (a), min_b_ = (b);                              \
		min_a_ < min_b_ ? min_a_ : min_b_;                            \
	})
#define max_t(type, a, b)                                                     \
	({                                                                    \
		type max_a_ = (a), max_b_ = (b);                              \
		max_a_ > max_b_ ? max_a_ : max_b_;                            \
	})
#define min(a, b) min_t(__typeof__(a), a, b)
#define max(a, b) max_t(__typeof__(a), a, b)
#define min3(a, b, c)                                                         \
	({                                                                    \
		__typeof__(a) min3_ab_ = min(a, b), min3_c_ = (c);            \
		min3_ab_ < min3_c_ ? min3_ab_ : min3_c_;                      \
	})
#define clamp_t(type, v, lo, hi)                                              \
	({                                                                    \
		type clamp_ = (v), clamp_lo_ = (lo), clamp_hi_ = (hi);        \
		clamp_ < clamp_lo_ ? clamp_lo_ :                              \
		clamp_ > clamp_hi_ ? clamp_hi_ : clamp_;                      \
	})

#endif
