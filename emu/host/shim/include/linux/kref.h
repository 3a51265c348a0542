/* SPDX-License-Identifier: BSD-2-Clause */
/* kref.h - reference counts. */
#ifndef SHIM_LINUX_KREF_H
#define SHIM_LINUX_KREF_H

#include <linux/types.h>
#include <shim/rules.h>

struct kref {
	int refcount;
};

static inline void kref_init(struct kref *k)
{
	k->refcount = 1;
}

static inline void shim_kref_get(struct kref *k, const char *where)
{
	if (__atomic_fetch_add(&k->refcount, 1, __ATOMIC_RELAXED) < 1)
		shim_breach("kref", where,
			    "takes a reference on what has none left");
}

/* Release and acquire: who frees sees what all others did before. */
static inline int shim_kref_put(struct kref *k,
				void (*release)(struct kref *k),
				const char *where)
{
	int was = __atomic_fetch_sub(&k->refcount, 1, __ATOMIC_ACQ_REL);

	if (was < 1)
		shim_breach("kref", where, "gives back a reference more than "
			    "there were");
	if (was != 1)
		return 0;
	release(k);
	return 1;
}

#define kref_get(k) shim_kref_get(k, __func__)
#define kref_put(k, release) shim_kref_put(k, release, __func__)

#endif
