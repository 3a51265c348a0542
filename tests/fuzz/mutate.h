/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mutate.h - new inputs out of known ones, the same ones from the same seed on any machine:
 * what libFuzzer tries depends on the paths that it sees, and so, where there are threads,
 * on how fast each of them was.
 */
#ifndef FL_FUZZ_MUTATE_H
#define FL_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct mutate_bytes {
	uint8_t *at;
	size_t size;
};

struct mutate {
	struct mutate_bytes *known, *word;
	size_t knowns, words;
	size_t longest;			/* bytes of a new input */
};

/* Take over bytes from malloc(). 0 or -ENOMEM */
int mutate_add_known(struct mutate *m, uint8_t *at, size_t size);
/* The words of a file, one a line, in quotation marks (a dictionary of libFuzzer). 0 or -errno */
int mutate_read_words(struct mutate *m, const char *path);

/* New input `number` of this seed; there is one known input at least. free() or NULL */
uint8_t *mutate_make(const struct mutate *m, uint64_t seed, uint64_t number, size_t *size);

void mutate_free(struct mutate *m);

#endif
