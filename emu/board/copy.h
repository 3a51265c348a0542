/* SPDX-License-Identifier: BSD-2-Clause */
/* copy.h - copying from memory to memory where neither side is in a cache. */
#ifndef FL_BOARD_COPY_H
#define FL_BOARD_COPY_H

#include <stdatomic.h>
#include <stdint.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#define COPY_FAR_BYTES 16384u	/* it pays from here on */

/*
 * Before data of another request is stored; bytes: as much as that, or less. Whoever polls memory
 * sees requests arrive in their order: on a processor that keeps no order of stores by itself
 * (Arm), too. And of much data memcpy() may store past the caches, in no order with earlier stores.
 */
static inline void copy_after(uint32_t bytes)
{
#ifdef __SSE2__
	if (bytes >= COPY_FAR_BYTES)
		_mm_sfence();
#else
	(void)bytes;
#endif
	atomic_thread_fence(memory_order_release);
}

/*
 * As memcpy(), for data that comes from far memory and goes there. What the caller has
 * stored before is seen before it, and what it stores afterwards, after it.
 */
void copy_far(uint8_t *to, const uint8_t *from, uint32_t bytes);
/* Without tries, which way is the faster one: for who counts instructions. Before the first. */
void copy_far_one_way(void);

#endif
