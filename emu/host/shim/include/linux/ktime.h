/* SPDX-License-Identifier: BSD-2-Clause */
/* ktime.h */
#ifndef SHIM_LINUX_KTIME_H
#define SHIM_LINUX_KTIME_H

#include <linux/types.h>

typedef s64 ktime_t;
#define KTIME_MAX INT64_MAX

static inline ktime_t ns_to_ktime(u64 ns)
{
	return (ktime_t)ns;
}

#endif
