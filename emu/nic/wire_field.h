/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_field.h - header fields in the bytes of a packet: put and get; for what encodes and
 * decodes packets (wire.c, transport/rc_wire.c).
 */
#ifndef FL_WIRE_FIELD_H
#define FL_WIRE_FIELD_H

#include <assert.h>
#include <endian.h>
#include <stdint.h>
#include <string.h>

#define WIRE_PKEY	0xFFFF	/* the default partition, InfiniBand 10.9.2 */

/*
 * Whole bytes, most significant first. The usual widths are one store or load
 * each, which compilers do not find by themselves.
 */
static inline void put_bytes(uint8_t *p, unsigned int width, uint64_t value)
{
	uint64_t v64 = htobe64(value);
	uint32_t v32 = htobe32((uint32_t)value);
	uint16_t v16 = htobe16((uint16_t)value);

	if (width == 64)
		memcpy(p, &v64, 8);
	else if (width == 32)
		memcpy(p, &v32, 4);
	else if (width == 16)
		memcpy(p, &v16, 2);
	else
		for (; width; width -= 8)
			*p++ = (uint8_t)(value >> (width - 8));
}

static inline uint64_t get_bytes(const uint8_t *p, unsigned int width)
{
	uint64_t value = 0;
	uint32_t v32;
	uint16_t v16;

	if (width == 64) {
		memcpy(&value, p, 8);
		return be64toh(value);
	}
	if (width == 32) {
		memcpy(&v32, p, 4);
		return be32toh(v32);
	}
	if (width == 16) {
		memcpy(&v16, p, 2);
		return be16toh(v16);
	}
	for (; width; width -= 8)
		value = value << 8 | *p++;
	return value;
}

/*
 * One field; the three numbers come from wire.def. A field is whole bytes or
 * lies inside one byte.
 */
static inline void field_put(uint8_t *h, unsigned int byte, unsigned int bit,
			     unsigned int width, uint64_t value)
{
	unsigned int low;

	if (bit == 7 && width % 8 == 0) {
		put_bytes(h + byte, width, value);
		return;
	}
	assert(width <= bit + 1);
	low = bit + 1 - width;
	h[byte] &= (uint8_t)~(((1u << width) - 1) << low);
	h[byte] |= (uint8_t)(value << low);
}

static inline uint64_t field_get(const uint8_t *h, unsigned int byte,
				 unsigned int bit, unsigned int width)
{
	if (bit == 7 && width % 8 == 0)
		return get_bytes(h + byte, width);
	assert(width <= bit + 1);
	return (h[byte] >> (bit + 1 - width)) & ((1u << width) - 1);
}

#endif
