/* SPDX-License-Identifier: BSD-2-Clause */
/* copy.h - copying from memory to memory where neither side is in a cache. */
#ifndef FL_BOARD_COPY_H
#define FL_BOARD_COPY_H

#include <stdint.h>

#define COPY_FAR_BYTES 16384u	/* it pays from here on */

/*
 * As memcpy(), for data that comes from far memory and goes there. What the caller stores
 * afterwards is not seen before it.
 */
void copy_far(uint8_t *to, const uint8_t *from, uint32_t bytes);

#endif
