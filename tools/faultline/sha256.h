/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sha256.h - SHA-256 (FIPS 180-4). Its own 100 lines instead of a library, so that
 * `make` needs nothing but a compiler, make and liburcu; here it compares, it protects nothing.
 */
#ifndef FL_SHA256_H
#define FL_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t h[8];
	uint64_t bytes;
	uint8_t block[64];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
/* 64 hexadecimal digits and a 0. */
void sha256_end(struct sha256 *s, char text[65]);

#endif
