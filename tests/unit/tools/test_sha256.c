// SPDX-License-Identifier: BSD-2-Clause
/* SHA-256: the examples that NIST publishes with FIPS 180-4, and data that comes in pieces. */
#include "tools/faultline/sha256.h"

#include <string.h>

#include "sim/rng.h"
#include "sim/sim.h"
#include "harness.h"

/* A message that never repeats within a block. */
static void message_fill(uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(7 * i + i / 256);
}

/* From `first` on in pieces of `piece` bytes. */
static void sha256_pieces(const void *data, size_t n, size_t first, size_t piece, char text[65])
{
	const uint8_t *p = data;
	struct sha256 s;
	size_t at, now;

	sha256_begin(&s);
	sha256_add(&s, p, first);
	for (at = first; at < n; at += now) {
		now = n - at < piece ? n - at : piece;
		sha256_add(&s, p + at, now);
	}
	sha256_end(&s, text);
}

static void sha256_whole(const void *data, size_t n, char text[65])
{
	sha256_pieces(data, n, n, 1, text);
}

TEST("the published examples have their published digests")
{
	static const struct {
		const char *message, *digest;
	} e[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb924"
		      "27ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223"
			 "b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
		  "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
	};
	unsigned int i;
	char text[65];

	for (i = 0; i < sizeof(e) / sizeof(e[0]); i++) {
		STEP("the example of %zu bytes", strlen(e[i].message));
		sha256_whole(e[i].message, strlen(e[i].message), text);
		EXPECT_STR(text, e[i].digest);
	}
}

TEST("a million times the letter a, in pieces of each size, is the last example")
{
	static const size_t size[] = { 1, 63, 64, 65, 997, 4096, 250000 };
	static char a[1000000];
	unsigned int i;
	char text[65];

	memset(a, 'a', sizeof(a));
	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		STEP("pieces of %zu bytes", size[i]);
		sha256_pieces(a, sizeof(a), 0, size[i], text);
		EXPECT_STR(text, "cdc76e5c9914fb9281a1c7e284d73e67"
				 "f1809a48a497200e046d39ccc7112cd0");
	}
}

/*
 * Each number of bytes in the last block and the one before, so each padding. What is expected
 * is what Python's hashlib says of the same digests, one behind the other.
 */
TEST("messages of 0 to 299 bytes have the digests of another implementation")
{
	struct sha256 all;
	uint8_t m[300];
	char text[65];
	size_t n;

	message_fill(m, sizeof(m));
	sha256_begin(&all);
	for (n = 0; n < sizeof(m); n++) {
		sha256_whole(m, n, text);
		sha256_add(&all, text, 64);
	}
	sha256_end(&all, text);
	EXPECT_STR(text, "ec92362ff775864bf17831679bf2e908fe87d87a376a2382cb03841dbc935229");
}

TEST("wherever a message is split, its digest is the same")
{
	size_t n, first, piece;
	char text[65], whole[65];
	uint8_t m[260];

	message_fill(m, sizeof(m));
	for (n = 190; n < 260; n += 23) {
		sha256_whole(m, n, whole);
		STEP("%zu bytes: %s", n, whole);
		for (first = 0; first <= n; first++)
			for (piece = 1; piece <= 131; piece += 13) {
				sha256_pieces(m, n, first, piece, text);
				EXPECT_STR(text, whole);
			}
	}
}

TEST("pieces of random sizes, from odd addresses and some of them empty, change nothing")
{
	static uint8_t m[20000];
	char text[65], whole[65];
	unsigned int i;
	struct sha256 s;
	struct rng r;
	size_t at, now;

	message_fill(m, sizeof(m));
	sha256_whole(m, sizeof(m), whole);
	rng_init(&r, test_seed(), "pieces");
	for (i = 0; i < 50; i++) {
		sha256_begin(&s);
		for (at = 0; at < sizeof(m); at += now) {
			now = rng_below(&r, rng_below(&r, 4) ? 150 : 3000);
			if (now > sizeof(m) - at)
				now = sizeof(m) - at;
			sha256_add(&s, now ? m + at : NULL, now);
		}
		sha256_end(&s, text);
		EXPECT_STR(text, whole);
	}
}
