/* SPDX-License-Identifier: BSD-2-Clause */
/* uidgid.h - there is one namespace of users. */
#ifndef SHIM_LINUX_UIDGID_H
#define SHIM_LINUX_UIDGID_H

#include <linux/types.h>

typedef struct {
	u32 val;
} kuid_t;

static inline bool uid_eq(kuid_t a, kuid_t b)
{
	return a.val == b.val;
}

#endif
