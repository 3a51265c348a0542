/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * types.h - the fixed-width types that the contract's headers use, in a kernel,
 * in a Linux program, on another system and in freestanding firmware alike.
 */
#ifndef FAULTLINE_TYPES_H
#define FAULTLINE_TYPES_H

#if defined(__KERNEL__) || defined(__linux__)
#include <linux/types.h>
#else
#include <stdint.h>
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef int64_t __s64;
#endif

#endif
