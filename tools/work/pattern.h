/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pattern.h - where the requests of a workload go: the patterns that plans for bringing
 * pages in are measured on. A pattern is a list of accesses to one region, the same for
 * the same seed.
 */
#ifndef FL_PATTERN_H
#define FL_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

enum pattern {
	PATTERN_FORWARD, PATTERN_BACKWARD, PATTERN_STRIDE, PATTERN_COLUMN,
	PATTERN_RANDOM, PATTERN_LOG,
	PATTERNS
};

#define PATTERN_BYTES	(4u << 20)	/* of the region */
#define PATTERN_MOST	32768u		/* bytes of one access at most */

struct pattern_access {
	uint32_t at, bytes;
	bool read;
};

/* "forward", ..., and a sentence; NULL at the end of the names. */
extern const char *const pattern_names[PATTERNS + 1];
extern const char *const pattern_texts[PATTERNS];

/* How many accesses it has; a is room for PATTERN_ACCESSES. */
#define PATTERN_ACCESSES	256u
unsigned int pattern_make(enum pattern p, uint64_t seed,
			  struct pattern_access *a);
/* Pages that are accessed, each counted once. */
unsigned int pattern_pages(const struct pattern_access *a, unsigned int n);

#endif
