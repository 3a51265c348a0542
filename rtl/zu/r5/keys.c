// SPDX-License-Identifier: BSD-2-Clause
/*
 * Numbers for the keys of regions. Whoever guesses a key may use a region of another process, so
 * nobody may foresee them, and the chip has no source of random numbers that an R5 can read.
 *
 * Here they come from the moments at which the driver's writes arrive, to a cycle of the R5's
 * clock: CPUs, programmable logic and R5 have clocks of their own, and caches and DRAM lie between.
 * How much of that is by chance was not measured (assumed: more than 3 bits a write). They are
 * stirred into the key of ChaCha20 (RFC 8439, 2.3), and each draw makes a new key and one number,
 * so that earlier numbers cannot be found from what is here later.
 */
#include "r5.h"

#define KEYS_WRITES	48	/* before the first key; a driver's first region comes later */
#define KEYS_ROUNDS	10	/* double rounds */

static struct {
	uint32_t key[8];
	uint32_t draws;
	uint32_t writes;
} keys;

void r5_keys_stir(uint32_t cycles)
{
	keys.key[keys.writes++ % 8] ^= cycles;
	if (keys.writes == 2 * KEYS_WRITES)
		keys.writes = KEYS_WRITES;
}

static uint32_t keys_rotate(uint32_t x, unsigned int n)
{
	return x << n | x >> (32 - n);
}

static void keys_quarter(uint32_t *x, unsigned int a, unsigned int b, unsigned int c,
			 unsigned int d)
{
	x[a] += x[b];
	x[d] = keys_rotate(x[d] ^ x[a], 16);
	x[c] += x[d];
	x[b] = keys_rotate(x[b] ^ x[c], 12);
	x[a] += x[b];
	x[d] = keys_rotate(x[d] ^ x[a], 8);
	x[c] += x[d];
	x[b] = keys_rotate(x[b] ^ x[c], 7);
}

int r5_keys_draw(uint32_t *value)
{
	static const uint32_t constant[4] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };
	uint32_t x[16] = { 0 };
	unsigned int i;

	if (keys.writes < KEYS_WRITES)
		return -1;
	for (i = 0; i < 4; i++)
		x[i] = constant[i];
	for (i = 0; i < 8; i++)
		x[4 + i] = keys.key[i];
	x[12] = keys.draws++;
	x[13] = r5_cycles();
	for (i = 0; i < KEYS_ROUNDS; i++) {
		keys_quarter(x, 0, 4, 8, 12);
		keys_quarter(x, 1, 5, 9, 13);
		keys_quarter(x, 2, 6, 10, 14);
		keys_quarter(x, 3, 7, 11, 15);
		keys_quarter(x, 0, 5, 10, 15);
		keys_quarter(x, 1, 6, 11, 12);
		keys_quarter(x, 2, 7, 8, 13);
		keys_quarter(x, 3, 4, 9, 14);
	}
	/* Without the final sum the rounds could be undone. */
	*value = x[12] + keys.draws;
	for (i = 0; i < 8; i++)
		keys.key[i] += x[4 + i];
	return 0;
}
