// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system buffer (NetVM): the card puts there what it has no page for, in slots of 4 KB.
 * The buffer is the driver's, so it is always present; one copy brings the data to where they
 * belong, when the page has come. Writing COPIED frees the slot, and gives the credit back.
 */
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/mutex.h>

#include "fl_access.h"
#include "fl_compat.h"
#include "fl_tables.h"
#include "fl_trace.h"

#define FL_DIVERT_SLOTS	256u
#define FL_DIVERT_SLOT	4096u	/* regs.def, DIV_SLOTS */

void fl_divert_init(struct fl_dev *dev)
{
	mutex_init(&dev->xp.div_lock);
}

int fl_divert_start(struct fl_dev *dev)
{
	struct fl_xp *xp = &dev->xp;
	int ret = 0;

	if (!xp->nv)
		return 0;
	mutex_lock(&xp->div_lock);
	if (!xp->div) {
		xp->div = dma_alloc_coherent(dev->dev, FL_DIVERT_SLOTS * FL_DIVERT_SLOT,
					     &xp->div_dma, GFP_KERNEL);
		if (xp->div)
			fl_xp_divert(dev, xp->div_dma, FL_DIVERT_SLOTS);
		else
			ret = -ENOMEM;
	}
	mutex_unlock(&xp->div_lock);
	return ret;
}

void fl_divert_stop(struct fl_dev *dev)
{
	struct fl_xp *xp = &dev->xp;

	if (!xp->div)
		return;
	/* The card redirects nothing any more. */
	fl_xp_divert(dev, 0, 0);
	/* A card that is only silent may write when it wakes up. */
	if (fl_card_dead(dev) && fl_card_silent(dev))
		dev_warn(dev->dev, "the system buffer stays with the card\n");
	else
		dma_free_coherent(dev->dev, FL_DIVERT_SLOTS * FL_DIVERT_SLOT, xp->div,
				  xp->div_dma);
	xp->div = NULL;
}

/* The page is held for as long as the copy takes, as the card would hold it. */
int fl_divert_copy(struct fl_ctx *ctx, const struct fl_fault_rec *rec)
{
	u32 off = rec->va & ~PAGE_MASK;
	struct page *page;
	long got;

	if (!ctx->dev->xp.div || rec->token >= FL_DIVERT_SLOTS ||
	    rec->len > FL_DIVERT_SLOT || off + rec->len > PAGE_SIZE)
		return -EIO;
	mmap_read_lock(ctx->mm);
	got = fl_pin_pages(ctx->mm, rec->va & PAGE_MASK, 1, true, &page);
	mmap_read_unlock(ctx->mm);
	if (got != 1)
		return got < 0 ? got : -EFAULT;
	memcpy_to_page(page, off, ctx->dev->xp.div + rec->token * FL_DIVERT_SLOT,
		       rec->len);
	unpin_user_pages_dirty_lock(&page, 1, true);
	trace_fl_copy(ctx->dev, rec->qp, rec->va, rec->len, 0, rec->xfer, 0);
	return 0;
}
