/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_nic.h - the card's own tables of translations, and what it misses there.
 *
 *	fl_xp.c		registers of the page XP
 *	fl_tables_nic.c	what is in the card's table, and what has to go
 *	fl_tables_shadow.c	the same, filled when pages come
 *	fl_bring.c	bringing pages in and loading them
 *	fl_odp.c	reports of missing pages
 *	fl_divert.c	the system buffer, and copying out of it
 *	fl_advise.c	pages that a program asks for beforehand
 *	fl_ring.c	datagrams that missed theirs
 *
 * Locks: fl_nic.lock (inside everything that may sleep, and inside the kernel's own locks
 * of page tables, where the notifier runs): regions, what is loaded; fl_xp.lock and
 * ctx->bank_lock inside it. fl_nic.copying: outside of all of these and of the mmap lock, and
 * never inside ctx->lock. fl_xp.ring_lock: inside ctx->lock.
 */
#ifndef FL_NIC_H
#define FL_NIC_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "faultline/plan.h"

struct fl_advise;
struct fl_fault_rec;
struct fl_backup;
struct fl_ctx;
struct fl_dev;
struct fl_mr;
struct fl_nic_part;

/* Of a card. */
struct fl_odp;
struct fl_ring;
struct fl_xp {
	spinlock_t lock;	/* registers TAB_*, and the list */
	u32 objects;		/* tables that it has, a power of two; 0: none */
	u64 *list;		/* what a LOAD reads */
	dma_addr_t list_dma;
	struct fl_odp *odp;	/* NULL: no table */
	bool nv;		/* NetVM's transport is there */
	struct mutex div_lock;	/* getting it */
	u8 *div;		/* the system buffer; NULL: there is none yet */
	dma_addr_t div_dma;
	struct mutex ring_lock;	/* who makes it, or ends it */
	u32 ring_users;		/* queue pairs that need it; ring_lock */
	struct fl_ring *ring;	/* NULL: nobody has needed it yet; irq_lock */
};

/* Of a process. */
struct fl_nic {
	spinlock_t lock;		/* what says "lock", and what is loaded */
	struct list_head regions;	/* that have begun; lock */
	u64 ids;			/* of regions; lock */
	bool closed;			/* nothing is loaded any more; lock */
	struct work_struct trim;
	struct list_head advice;	/* that nobody waits for; lock */
	unsigned int advising;		/* so many; lock */
	struct work_struct advise;
	struct mutex copying;	/* a datagram, into memory of the process */
	atomic64_t loaded, zapped, raced, advised;
};

/* Part of a region; fl_nic.lock. */
struct fl_carded {
	struct list_head list;	/* of fl_nic.regions */
	u64 id;			/* never used again, unlike its key */
	u64 changes;		/* how often pages of it were taken away */
	u32 object;		/* number of its table */
	bool ending;		/* nothing is loaded any more */
	bool gone;		/* a part may have become empty */
	struct fl_nic_part ***part;	/* what is loaded, by 512 GB and by GB */
};

/* ---- fl_xp.c: all that knows the registers; none sleeps but the first two ---- */

/* *objects: how many tables the card has, a power of two; 0: it has none. */
int fl_xp_start(struct fl_dev *dev, u32 *objects);
void fl_xp_stop(struct fl_dev *dev);
/* Reports go to this ring from now on; entries 0: to none. */
void fl_xp_ring(struct fl_dev *dev, dma_addr_t ring, u32 entries);
/* So many have been taken. */
void fl_xp_taken(struct fl_dev *dev, u32 cons);

#define FL_XP_LIST	2048u	/* entries of the list of a LOAD */

/*
 * Pages from `page` on; an entry of 0 is left out. -ENOSPC: the table is full; -EIO; -ENODEV:
 * the card is gone.
 */
int fl_xp_load(struct fl_dev *dev, u32 object, u64 page, const u64 *entry, u32 count);
int fl_xp_zap(struct fl_dev *dev, u32 object, u64 page, u64 count);
int fl_xp_zap_all(struct fl_dev *dev, u32 object);
/* No access of the card uses what was zapped before. */
int fl_xp_sync(struct fl_dev *dev);
void fl_xp_resume(struct fl_dev *dev, u32 token, u32 code);
/* The system buffer is there; slots 0: it is not. */
void fl_xp_divert(struct fl_dev *dev, dma_addr_t base, u32 slots);
void fl_xp_copied(struct fl_dev *dev, u32 slot, u32 code);
/* Datagrams go there from now on, so many of a queue pair at a time; slots 0: nowhere. */
void fl_xp_backup(struct fl_dev *dev, dma_addr_t ring, u32 slots, u32 bits);
/* Descriptors that have been taken, and that ever had a page. */
void fl_xp_backup_taken(struct fl_dev *dev, u32 cons);
void fl_xp_backup_given(struct fl_dev *dev, u32 given);
/* It is where it belongs; or, by the code, never will be. */
void fl_xp_resolved(struct fl_dev *dev, const struct fl_backup *d, u32 code);

/* ---- fl_tables_nic.c ---- */

/* What is loaded is noted for 1 GB at a time, as mlx5 has children of implicit regions. */
#define FL_NIC_PART_SHIFT	30
#define FL_NIC_PART_BYTES	BIT_ULL(FL_NIC_PART_SHIFT)

void fl_nic_init(struct fl_ctx *ctx);
/* The firmware is about to let go of it: its table becomes empty, and stays so. */
void fl_nic_region_end(struct fl_ctx *ctx, struct fl_mr *mr);
/* All of them, once and for all. Does not sleep. */
void fl_nic_close(struct fl_ctx *ctx);
/* After that, and after fl_advise_end(): no worker is at it any more. */
void fl_nic_end(struct fl_ctx *ctx);
/*
 * Nothing is copied any more, after this, for what had ended before. ctx->lock is not
 * held.
 */
void fl_nic_settle(struct fl_ctx *ctx);

/* What of a region may be brought in. */
struct fl_nic_reach {
	u64 id;
	u32 key, pd;
	struct fl_range r;	/* bytes */
	bool writes, pinned;
};

/* Its key is known. ctx->lock is held; *reach: all of it. */
void fl_nic_region_begin(struct fl_ctx *ctx, struct fl_mr *mr,
			 struct fl_nic_reach *reach);
/* -ENOENT: no such region; -EFAULT: it does not hold all of this; -EACCES. */
int fl_nic_reach(struct fl_ctx *ctx, u32 key, u64 va, u64 len, bool write,
		 struct fl_nic_reach *reach);

/* How often pages of the region were taken away. -ENOENT: it has ended. */
int fl_nic_changes(struct fl_ctx *ctx, u64 id, u64 *changes);
/* A place to note which pages are loaded. May sleep. */
int fl_nic_part_make(struct fl_ctx *ctx, u64 id, u64 va);

struct fl_nic_load {
	u64 id;
	u64 changes;		/* as they were before the pages were looked for */
	u64 va;
	u32 count;
	u32 xfer;
	u32 need;		/* so many of the first the card must have */
	u64 *entry;		/* 0: was not found */
};

/* As fl_tables_ops; fl_tables_shadow.c has them, too. */
int fl_nic_region_add(struct fl_ctx *ctx, struct fl_mr *mr, struct fl_range r,
		      bool pinned);
void fl_nic_region_del(struct fl_ctx *ctx, struct fl_mr *mr);
void fl_nic_invalidate(struct fl_ctx *ctx, struct fl_range r, bool leaf);
/* Pages [first, first + n) of l, within one part. -EAGAIN: that was not made. nic.lock. */
int fl_nic_load_part(struct fl_ctx *ctx, struct fl_carded *c,
		     const struct fl_nic_load *l, u32 first, u32 n);

/* ---- fl_tables_shadow.c ---- */

/* A region has begun: what of it is there the card finds from now on. */
int fl_shadow_begin(struct fl_ctx *ctx, const struct fl_nic_reach *reach);

/* ---- fl_tables_nic.c again ---- */

/* nic.lock is held. -EAGAIN: pages were taken away meanwhile; -ENOENT; as fl_xp_load(). */
int fl_nic_load(struct fl_ctx *ctx, const struct fl_nic_load *l);

/* ---- fl_bring.c ---- */

enum fl_bring_how {
	FL_BRING_NEED,		/* it fails if one of them cannot be had */
	FL_BRING_GUESS,		/* while memory is free */
	FL_BRING_PRESENT,	/* only what is there anyway */
};

struct fl_bring_piece {
	u64 id, changes;
	struct fl_range r;	/* of the card's pages */
	bool write, writes;	/* the card wants to; the region lets it */
	bool pinned, done;
	enum fl_bring_how how;
	u32 first;		/* in entry[] */
};

#define FL_BRING_PIECES	16
#define FL_BRING_PAGES	FL_XP_LIST
struct fl_bring {
	u32 n, pages;
	u32 xfer;
	struct fl_bring_piece piece[FL_BRING_PIECES];
	u64 *entry;
};

int fl_bring_begin(struct fl_bring *b, u32 xfer);
void fl_bring_end(struct fl_bring *b);
/* Part of a region: as much of it as there is room for, which is returned; bytes. */
u64 fl_bring_add(struct fl_bring *b, const struct fl_nic_reach *reach,
		 struct fl_range r, bool write, enum fl_bring_how how);
/*
 * All pieces are brought in, and then the card's table is changed once. Caller holds the
 * address space. -EAGAIN: pages leave faster than they come; as fl_populate().
 */
int fl_bring(struct fl_ctx *ctx, struct fl_bring *b);
/*
 * A range of a region, however long; the address space is held, unless the region is pinned.
 * As fl_bring().
 */
int fl_bring_all(struct fl_ctx *ctx, const struct fl_nic_reach *reach,
		 struct fl_range r, bool write, enum fl_bring_how how);

/* ---- fl_odp.c ---- */

int fl_odp_start(struct fl_dev *dev);
/* The card writes no more reports. */
void fl_odp_clear(struct fl_dev *dev);
void fl_odp_stop(struct fl_dev *dev);
/* Part of the event line's top half. */
bool fl_odp_irq(struct fl_dev *dev);

/* ---- fl_divert.c ---- */

void fl_divert_init(struct fl_dev *dev);
/* The first process with a shadow has the card get its buffer. May sleep. */
int fl_divert_start(struct fl_dev *dev);
void fl_divert_stop(struct fl_dev *dev);
/* What a record DIVERT is about goes to where it belongs. The address space is held. */
int fl_divert_copy(struct fl_ctx *ctx, const struct fl_fault_rec *rec);
/* ---- fl_ring.c ---- */

void fl_ring_init(struct fl_dev *dev);
/*
 * A queue pair whose row diverts begins: there is a backup ring until it ends. slots: of the
 * ring; 0: as many as it has, or FL_RING_SLOTS. -EBUSY: others use one that has not so many;
 * -ENOMEM
 */
int fl_ring_need(struct fl_dev *dev, u32 slots);
/* It has ended, and nothing is copied for it: whoever ends the ring waits for copies. */
void fl_ring_unneed(struct fl_dev *dev);
/* The card is off. */
void fl_ring_stop(struct fl_dev *dev);
/* Part of the event line's top half. */
bool fl_ring_irq(struct fl_dev *dev);
/* The queue pair has ended: after fl_nic_settle() nothing is copied for it any more. */
void fl_ring_forget(struct fl_dev *dev, u32 qp);

/* ---- fl_advise.c ---- */

void fl_advise_init(struct fl_ctx *ctx);
/* No worker is at it any more; fl_nic_close() was here, and ctx->dead is set. */
void fl_advise_end(struct fl_ctx *ctx);
/* ctx->lock is held, and given back meanwhile. */
int fl_mr_advise(struct fl_ctx *ctx, const struct fl_advise *a);

#endif
