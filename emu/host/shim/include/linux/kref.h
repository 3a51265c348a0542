/* SPDX-License-Identifier: BSD-2-Clause */
/* kref.h - reference counts. */
#ifndef SHIM_LINUX_KREF_H
#define SHIM_LINUX_KREF_H

#include <linux/types.h>

struct kref {
	int refcount;
};

static inline void kref_init(struct kref *k)
{
	k->refcount = 1;
}

static inline void kref_get(struct kref *k)
{
	__atomic_fetch_add(&k->refcount, 1, __ATOMIC_RELAXED);
}

/* Release and acquire: who frees sees what all others did before. */
static inline int kref_put(struct kref *k, void (*release)(struct kref *k))
{
	if (__atomic_fetch_sub(&k->refcount, 1, __ATOMIC_ACQ_REL) != 1)
		return 0;
	release(k);
	return 1;
}

#endif
