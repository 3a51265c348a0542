/* SPDX-License-Identifier: GPL-2.0-only */
/* fl_snoop.h - requests that the driver reads before the card does: fl_snoop.c. */
#ifndef FL_SNOOP_H
#define FL_SNOOP_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct fl_cq;
struct fl_ctx;
struct fl_qp;
struct fl_queue;
struct vm_area_struct;

struct fl_snoop {
	struct work_struct work;
	struct fl_queue *page;	/* NULL: never asked for; ctx->lock */
	bool on;		/* it is the doorbell page; WRITE_ONCE under lock */
};

/* All but fl_snoop_end() with ctx->lock. */
void fl_snoop_init(struct fl_ctx *ctx);
/*
 * The doorbell page is the kernel's from now on, or the card's. -EBUSY: there are
 * queues; -EOPNOTSUPP: the page is too small for this card.
 */
int fl_snoop_set(struct fl_ctx *ctx, bool on);
/* Words of a new queue: nothing has been published there. */
void fl_snoop_qp(struct fl_ctx *ctx, struct fl_qp *qp);
void fl_snoop_cq(struct fl_ctx *ctx, struct fl_cq *cq);
int fl_snoop_wake(struct fl_ctx *ctx);
int fl_snoop_mmap(struct fl_ctx *ctx, struct vm_area_struct *vma);
/* The worker does nothing any more; ctx->dead is set. */
void fl_snoop_end(struct fl_ctx *ctx);
void fl_snoop_free(struct fl_ctx *ctx);

#endif
