/* SPDX-License-Identifier: BSD-2-Clause */
/* types.h - the kernel's names for types, and what all files need. */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Kernel callbacks have parameters that not every driver uses. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef u64 phys_addr_t;
typedef u64 dma_addr_t;
typedef unsigned int gfp_t;

#define __iomem
#define __user
#define fallthrough __attribute__((fallthrough))

/*
 * Acquire rather than relaxed: the barriers that follow a READ_ONCE in a driver
 * are then barriers for the compiler only, which thread sanitizers understand.
 */
#define noinline __attribute__((__noinline__))
#define __no_kcsan __attribute__((no_sanitize("thread")))
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELEASE)

#define container_of(ptr, type, member)                                       \
	((type *)((char *)(ptr) - offsetof(type, member)))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#include <linux/atomic.h>

#endif
