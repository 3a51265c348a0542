/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_sink.h - tables that are whole, so that the card never misses a page, and what comes of
 * it: fl_tables_sink.c keeps the tables and the words, fl_sink.c carries out calls.
 *
 * Locks: sink.serving (inside ctx->lock, outside the mmap lock): no region ends, so that its
 * pages can be used; sink.lock (inside fl_own.lock; bank_lock inside it): regions, entries,
 * words.
 */
#ifndef FL_SINK_H
#define FL_SINK_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct fl_bounce;
struct fl_ctx;
struct fl_mr;

struct fl_sink {
	spinlock_t lock;		/* what says "lock", entries, words */
	u64 changes;			/* how often pages were taken away; lock */
	struct list_head regions;	/* newest first; lock */
	unsigned int rings;		/* WRITE_ONCE under lock */
	void *poison;			/* the page where absent ones lead; fl_own.lock */
	dma_addr_t poison_dma;
	struct mutex serving;		/* no region ends */
	struct work_struct work;
};

/* Part of a region; zeros: it was registered without any of this. */
struct fl_sunk {
	struct list_head list;	/* of fl_sink.regions */
	u64 at;			/* address of its words; 0: it has none */
	bool ring;
	u32 served;		/* ring: the last call; serving */
	struct fl_mr *words;	/* region that holds them; NULL: none */
	unsigned int users;	/* regions whose words are here; lock */
	u32 *version;		/* the words, as the process cannot change them; lock */
};

/* fl_region.c: while sink.serving is held it does not go. NULL: none. */
struct fl_mr *fl_mr_of_key(struct fl_ctx *ctx, u32 key);

/* fl_sink.c */
void fl_sink_init(struct fl_ctx *ctx);
/* The card wrote where no page is: there may be a call. Does not sleep. */
void fl_sink_bell(struct fl_ctx *ctx);
/* ctx->lock is held, and given back meanwhile. */
int fl_sink_bounce(struct fl_ctx *ctx, const struct fl_bounce *a);
/* No call is carried out any more; ctx->dead is set. */
void fl_sink_end(struct fl_ctx *ctx);

#endif
