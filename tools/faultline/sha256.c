// SPDX-License-Identifier: BSD-2-Clause
/* FIPS 180-4, sections 4.1.2, 4.2.2, 5 and 6.2. */
#include "tools/faultline/sha256.h"

#include <stdio.h>
#include <string.h>

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static inline uint32_t sha256_ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* Word i of the schedule (6.2.2, step 1), from 16 on. */
static inline uint32_t sha256_word(const uint32_t w[64], unsigned int i)
{
	uint32_t two = w[i - 2], fifteen = w[i - 15];

	return (sha256_ror(two, 17) ^ sha256_ror(two, 19) ^ two >> 10) + w[i - 7] +
	       (sha256_ror(fifteen, 7) ^ sha256_ror(fifteen, 18) ^ fifteen >> 3) + w[i - 16];
}

/*
 * 6.2.2, step 3. What are a, b, ... h in round i stands in v from -i on: nothing moves. With
 * a constant for i, all of v is in registers.
 */
static inline void sha256_round(uint32_t v[8], unsigned int i, uint32_t kw)
{
	uint32_t a = v[-i % 8], b = v[(1 - i) % 8], c = v[(2 - i) % 8];
	uint32_t e = v[(4 - i) % 8], f = v[(5 - i) % 8], g = v[(6 - i) % 8];
	uint32_t *d = &v[(3 - i) % 8], *h = &v[(7 - i) % 8];

	/* Ch and Maj, each with one operation less than as they are written. */
	*h += (sha256_ror(e, 6) ^ sha256_ror(e, 11) ^ sha256_ror(e, 25)) +
	      (g ^ (e & (f ^ g))) + kw;
	*d += *h;
	*h += (sha256_ror(a, 2) ^ sha256_ror(a, 13) ^ sha256_ror(a, 22)) +
	      ((a & b) | (c & (a | b)));
}

static void sha256_blocks(uint32_t h[8], const uint8_t *p, size_t blocks)
{
	uint32_t v[8], w[64];
	unsigned int i;

	for (; blocks; blocks--, p += 64) {
		for (i = 0; i < 16; i++)
			w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
			       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
		for (; i < 64; i++)
			w[i] = sha256_word(w, i);
		memcpy(v, h, sizeof(v));
		for (i = 0; i < 64; i += 8) {
			sha256_round(v, 0, k[i] + w[i]);
			sha256_round(v, 1, k[i + 1] + w[i + 1]);
			sha256_round(v, 2, k[i + 2] + w[i + 2]);
			sha256_round(v, 3, k[i + 3] + w[i + 3]);
			sha256_round(v, 4, k[i + 4] + w[i + 4]);
			sha256_round(v, 5, k[i + 5] + w[i + 5]);
			sha256_round(v, 6, k[i + 6] + w[i + 6]);
			sha256_round(v, 7, k[i + 7] + w[i + 7]);
		}
		for (i = 0; i < 8; i++)
			h[i] += v[i];
	}
}

void sha256_begin(struct sha256 *s)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
					   0xa54ff53a, 0x510e527f, 0x9b05688c,
					   0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->h, start, sizeof(s->h));
	s->bytes = 0;
}

void sha256_add(struct sha256 *s, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t have = s->bytes % 64, take;

	s->bytes += n;
	if (have && n) {
		take = 64 - have < n ? 64 - have : n;
		memcpy(s->block + have, p, take);
		if (have + take < 64)
			return;
		sha256_blocks(s->h, s->block, 1);
		p += take;
		n -= take;
	}
	sha256_blocks(s->h, p, n / 64);
	if (n % 64)
		memcpy(s->block, p + n / 64 * 64, n % 64);
}

void sha256_end(struct sha256 *s, char text[65])
{
	static const uint8_t pad[72] = { 0x80 };
	uint64_t bits = s->bytes * 8;
	uint8_t length[8];
	int i;

	for (i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(s, pad, 1 + (119 - s->bytes % 64) % 64);
	sha256_add(s, length, 8);
	for (i = 0; i < 8; i++)
		snprintf(text + 8 * i, 9, "%08x", s->h[i]);
}
