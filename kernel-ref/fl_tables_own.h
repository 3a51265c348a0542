/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_tables_own.h - tables that the driver keeps itself, for the files that enter pages.
 * own->lock is held in all calls but those of beginning and end.
 */
#ifndef FL_TABLES_OWN_H
#define FL_TABLES_OWN_H

#include <linux/bits.h>

#include "fl_tables.h"

#define FL_OWN_ENTRIES	(FL_PAGE_SIZE / sizeof(u64))
/* Hardware does not look at it: the frame is not pinned, and a notifier takes it out. */
#define FL_OWN_FOLLOWED	BIT_ULL(55)

struct fl_own_table {
	u64 *entry;		/* what the SMMU reads */
	dma_addr_t dma;
	unsigned int used;	/* entries that are valid */
	/* Of each: the table below; in a last one, the page that ondemand pinned. */
	void **behind;
	struct fl_own_table *next;	/* of those that have become empty */
};

/* ---- beginning and end ---- */

void fl_own_init(struct fl_own *own, struct fl_ctx *ctx);
/* An empty table, which becomes ctx->root; -ENOMEM. */
int fl_own_bind(struct fl_own *own);
/* No bank walks them. Pages that stand behind the last entries are given back. */
void fl_own_unbind(struct fl_own *own);

/* ---- entries ---- */

/* The last table on the way to va. NULL: there is none; make: there is no memory. */
struct fl_own_table *fl_own_last(struct fl_own *own, u64 va, bool make);
/* Which entry of the last table is that of va. */
unsigned int fl_own_index(u64 va);
u64 fl_own_desc(phys_addr_t pa, bool write);
/* A descriptor, or 0; what it names is ready before it is seen. */
void fl_own_set(struct fl_own_table *t, unsigned int i, u64 desc);
/*
 * For a moment, or another one: whoever does this does not need own->lock, but keeps the
 * table from being freed.
 */
void fl_own_replace(struct fl_own_table *t, unsigned int i, u64 desc);
/* The physical address that a region has pinned for va; false: it does not cover it. */
bool fl_own_pinned(const struct fl_mr *mr, u64 va, phys_addr_t *pa);
/* Do the two name different frames? */
bool fl_own_differ(u64 a, u64 b);
enum fl_found fl_own_look(struct fl_own *own, u64 va, bool write);
/*
 * Entries of r have gone or changed (stale): when this returns no access of the card uses
 * what they said, and tables that are empty are free.
 */
void fl_own_forget(struct fl_own *own, struct fl_range r, bool stale);

#endif
