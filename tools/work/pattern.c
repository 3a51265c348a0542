// SPDX-License-Identifier: BSD-2-Clause
#include "tools/work/pattern.h"

#include <string.h>

#include "sim/rng.h"
#include "sim/sim.h"

#define PAGE	4096u
#define PAGES	(PATTERN_BYTES / PAGE)
#define STEP	3u		/* pages of a stride */
#define ROW	16u		/* tiles of a page in a row of the matrix */
#define ROWS	(PAGES / ROW)
#define RECORD_LEAST	200u
#define RECORD_MOST	8000u

const char *const pattern_names[PATTERNS + 1] = {
	"forward", "backward", "stride", "column", "random", "log", NULL
};

const char *const pattern_texts[PATTERNS] = {
	"32 writes of 32 KB, one behind the other",
	"32 writes of 32 KB, one before the other",
	"256 writes of a page, to every third page",
	"256 writes of a page, down the columns of a matrix with rows of 16 pages",
	"256 writes of a page, anywhere",
	"192 records of 200 to 8000 bytes in a row, and 64 reads of old pages",
};

static unsigned int pattern_sequence(struct pattern_access *a, bool back)
{
	unsigned int i, n = 32;

	for (i = 0; i < n; i++) {
		a[i].bytes = 32768;
		a[i].at = back ? PATTERN_BYTES - (i + 1) * 32768 : i * 32768;
	}
	return n;
}

static unsigned int pattern_each_page(enum pattern p, struct rng *r,
				      struct pattern_access *a)
{
	unsigned int i, page = 0;

	for (i = 0; i < PATTERN_ACCESSES; i++) {
		if (p == PATTERN_STRIDE)
			page = i * STEP;
		else if (p == PATTERN_COLUMN)
			page = i % ROWS * ROW + i / ROWS;
		else
			page = (unsigned int)rng_below(r, PAGES);
		a[i].at = page * PAGE;
		a[i].bytes = PAGE;
	}
	return PATTERN_ACCESSES;
}

/* The tail begins in the middle of the region; what lies before it is old. */
static unsigned int pattern_log(struct rng *r, struct pattern_access *a)
{
	uint32_t tail = PATTERN_BYTES / 2;
	unsigned int i;

	for (i = 0; i < PATTERN_ACCESSES; i++) {
		a[i].read = i % 4 == 3;
		if (a[i].read) {
			a[i].at = (uint32_t)rng_below(r, PAGES / 2) * PAGE;
			a[i].bytes = PAGE;
			continue;
		}
		a[i].at = tail;
		a[i].bytes = RECORD_LEAST +
			     (uint32_t)rng_below(r, RECORD_MOST - RECORD_LEAST);
		tail += a[i].bytes;
	}
	return PATTERN_ACCESSES;
}

unsigned int pattern_make(enum pattern p, uint64_t seed,
			  struct pattern_access *a)
{
	struct rng r;

	rng_init(&r, seed, pattern_names[p]);
	memset(a, 0, PATTERN_ACCESSES * sizeof(*a));
	if (p == PATTERN_FORWARD || p == PATTERN_BACKWARD)
		return pattern_sequence(a, p == PATTERN_BACKWARD);
	if (p == PATTERN_LOG)
		return pattern_log(&r, a);
	return pattern_each_page(p, &r, a);
}

unsigned int pattern_pages(const struct pattern_access *a, unsigned int n)
{
	bool seen[PAGES] = { false };
	unsigned int i, page, count = 0;

	for (i = 0; i < n; i++)
		for (page = a[i].at / PAGE;
		     page <= (a[i].at + a[i].bytes - 1) / PAGE; page++) {
			count += !seen[page];
			seen[page] = true;
		}
	return count;
}
