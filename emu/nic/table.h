/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h - the card's own table of translations.
 *
 * Packet units do not go through the SMMU's walks: the driver loads pages into this table,
 * and zaps them when the kernel takes them away. An object is whatever has a set of
 * translations of its own: a region (number: its key's place in the firmware's table), or
 * a whole process (TABLE_PROCESS + slot). It is sparse, by object and page.
 *
 * Each entry remembers the tag that the frame had when it was loaded, so that a zap that
 * was forgotten is seen when the entry is used (STALE_ACCESS), as in the TLB.
 */
#ifndef FL_TABLE_H
#define FL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define TABLE_PROCESS	0x10000u	/* object of slot n: TABLE_PROCESS + n */
#define TABLE_PAGES	(1ull << 52)	/* page numbers are smaller */

struct table;

struct table_entry {
	uint64_t pa;		/* of the page */
	uint64_t tag;		/* of its frame, when it was loaded */
	bool write;		/* the card may write there */
};

struct table *table_create(void);
void table_destroy(struct table *t);
void table_clear(struct table *t);
/* Is there such an object? All calls below are about one that there is. */
bool table_object(uint32_t object);
/* page: va >> 12. Takes the place of what was there. false: there is no room. */
bool table_load(struct table *t, uint32_t object, uint64_t page, const struct table_entry *e);
/* Returns how many were there. */
uint64_t table_zap(struct table *t, uint32_t object, uint64_t page, uint64_t count);
uint64_t table_zap_all(struct table *t, uint32_t object);
bool table_find(const struct table *t, uint32_t object, uint64_t page, struct table_entry *e);
uint64_t table_entries(const struct table *t);
/*
 * For injected faults: a mark on a page that is there, which only a zap takes away as well.
 * Returns whether it was marked before.
 */
bool table_mark(struct table *t, uint32_t object, uint64_t page, bool mark);
/* NULL, or a sentence that says what does not add up. */
const char *table_check(const struct table *t);

#endif
