/* SPDX-License-Identifier: BSD-2-Clause */
/* bitops.h */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#include <linux/bits.h>

/* Lowest bit that is set; word must not be 0. */
static inline unsigned long __ffs(unsigned long word)
{
	return (unsigned long)__builtin_ctzl(word);
}

#endif
