// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the compiler calls by itself (Run-time ABI for the Arm Architecture, 4.2 and 4.3.4).
 * Compiled so that it does not take these loops for such calls.
 */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if (!(((uintptr_t)t | (uintptr_t)f) & 3))
		for (; len >= 4; len -= 4, t += 4, f += 4)
			*(uint32_t *)t = *(const uint32_t *)f;
	while (len--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int value, size_t len)
{
	uint8_t *t = to;

	if (!((uintptr_t)t & 3))
		for (; len >= 4; len -= 4, t += 4)
			*(uint32_t *)t = (uint8_t)value * 0x01010101u;
	while (len--)
		*t++ = (uint8_t)value;
	return to;
}

int memcmp(const void *one, const void *other, size_t len)
{
	const uint8_t *a = one, *b = other;

	for (; len; len--, a++, b++)
		if (*a != *b)
			return *a - *b;
	return 0;
}

void __aeabi_memcpy(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
}

void __aeabi_memcpy4(void *to, const void *from, size_t len)
	__attribute__((alias("__aeabi_memcpy")));
void __aeabi_memcpy8(void *to, const void *from, size_t len)
	__attribute__((alias("__aeabi_memcpy")));

void __aeabi_memclr(void *to, size_t len)
{
	memset(to, 0, len);
}

void __aeabi_memclr4(void *to, size_t len) __attribute__((alias("__aeabi_memclr")));
void __aeabi_memclr8(void *to, size_t len) __attribute__((alias("__aeabi_memclr")));

/* For __aeabi_uldivmod (start.S). A divisor of 0 gives what one of 1 gives. */
uint64_t r5_divide(uint64_t n, uint64_t by, uint64_t *rest)
{
	uint64_t quotient = 0;
	unsigned int i = 0;

	if (!by)
		by = 1;
	while (by <= n >> 1 && !(by >> 63)) {
		by <<= 1;
		i++;
	}
	do {
		quotient <<= 1;
		if (n >= by) {
			n -= by;
			quotient |= 1;
		}
		by >>= 1;
	} while (i--);
	*rest = n;
	return quotient;
}
