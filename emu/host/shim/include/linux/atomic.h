/* SPDX-License-Identifier: BSD-2-Clause */
/* atomic.h - counters. */
#ifndef SHIM_LINUX_ATOMIC_H
#define SHIM_LINUX_ATOMIC_H

#include <linux/types.h>

typedef struct {
	s64 counter;
} atomic64_t;

static inline void atomic64_add(s64 n, atomic64_t *a)
{
	__atomic_fetch_add(&a->counter, n, __ATOMIC_SEQ_CST);
}

static inline s64 atomic64_add_return(s64 n, atomic64_t *a)
{
	return __atomic_add_fetch(&a->counter, n, __ATOMIC_SEQ_CST);
}

static inline void atomic64_sub(s64 n, atomic64_t *a)
{
	atomic64_add(-n, a);
}

static inline void atomic64_inc(atomic64_t *a)
{
	atomic64_add(1, a);
}

static inline u64 atomic64_read(const atomic64_t *a)
{
	return (u64)__atomic_load_n(&a->counter, __ATOMIC_SEQ_CST);
}

#endif
