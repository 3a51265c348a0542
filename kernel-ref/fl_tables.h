/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_tables.h - who translates what a process has the card do.
 *
 * The SMMU walks whatever table its bank has been given: the process's own, which the
 * kernel keeps (fl_tables_process.c), or others, which this driver keeps
 * (fl_tables_own.c). Packet units have the card's own tables, which this driver loads
 * (fl_tables_nic.c). A row of system.def says which. Everything else of the driver asks
 * here, and does not know.
 *
 * All of it that can run on a process's own behalf is called with ctx->lock held, or with
 * what is said there; fill and invalidate come at any time, also when the process is
 * leaving the card, or is about to get other tables.
 */
#ifndef FL_TABLES_H
#define FL_TABLES_H

#include "fl_dev.h"

struct fl_tables_ops {
	bool carded;	/* the card has them itself */
	bool whole;	/* and all that is resident is in them */
	/* Make them: nothing is in them but what the process has. 0: ctx->root is set. */
	int (*bind)(struct fl_ctx *ctx);
	/* No bank walks them any more, and no region is left. What they have goes. */
	void (*unbind)(struct fl_ctx *ctx);
	/*
	 * A region begins. r: its pages; pinned: they are to be there now, and stay. As
	 * long as there are pages, so ctx->lock is not held.
	 */
	int (*region_add)(struct fl_ctx *ctx, struct fl_mr *mr,
			  struct fl_range r, bool pinned);
	/* It ends, or has not begun: no access to it is under way, and no key names it. */
	void (*region_del)(struct fl_ctx *ctx, struct fl_mr *mr);
	/*
	 * Make the card find the pages of r, as fl_populate() says. The mmap lock is
	 * held for reading; r is pages of the kernel.
	 */
	int (*fill)(struct fl_ctx *ctx, struct fl_range r, bool write,
		    struct fl_populated *t);
	/*
	 * The kernel has changed pages of r, and uses them otherwise when this returns.
	 * leaf: no table has gone, and no page either: an access flag. Does not sleep.
	 */
	void (*invalidate)(struct fl_ctx *ctx, struct fl_range r, bool leaf);
	/* Pages of r have come, or may be written now. Does not sleep; NULL: it is all the same. */
	void (*mapped)(struct fl_ctx *ctx, struct fl_range r);
};

extern const struct fl_tables_ops fl_tables_process, fl_tables_inserted,
	fl_tables_ondemand, fl_tables_sink, fl_tables_nic, fl_tables_shadow;

/* fl_walk.c: what a walk of the process's own tables would find now. The mmap lock is held. */
enum fl_found fl_process_look(struct fl_ctx *ctx, u64 va, bool write);
/* The same; *pa: of the page, if it is granted. */
enum fl_found fl_process_frame(struct fl_ctx *ctx, u64 va, bool write,
			       phys_addr_t *pa);

static inline bool fl_tables_carded(const struct fl_tables_ops *tables)
{
	return tables->carded;
}

/* Of a row. */
const struct fl_tables_ops *fl_tables_of(const struct fl_system_row *row);
/*
 * The process is not in flight: it goes on with the tables of this row. -EBUSY: it has
 * regions, which are entered in others; -EIO; or as bind().
 */
int fl_tables_change(struct fl_ctx *ctx, const struct fl_system_row *row);

#endif
