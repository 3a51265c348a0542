// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page XP: the card's own table of translations, and the word that ends a wait.
 *
 * A notifier runs where nobody may sleep, so this is registers and no command: an order
 * is written, and its end is read again and again, as the SMMU's TLBSYNC is.
 */
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/iopoll.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "fl_access.h"
#include "fl_dev.h"

#define FL_XP_TIMEOUT_US	100000

static int fl_xp_error(u32 code)
{
	switch (code) {
	case FL_ST_OK:
		return 0;
	case FL_ST_NO_ROOM:
		return -ENOSPC;
	}
	return -EIO;
}

static u32 fl_xp_read(struct fl_dev *dev, u32 off)
{
	return fl_nic_read(dev, NIC_XP_BASE + off);
}

static void fl_xp_write(struct fl_dev *dev, u32 off, u32 value)
{
	fl_nic_write(dev, NIC_XP_BASE + off, value);
}

/* xp.lock is held. */
static int fl_xp_go(struct fl_dev *dev, u32 object, u32 op)
{
	u32 status;
	int ret;

	fl_xp_write(dev, NIC_XP_TAB_OBJECT, object);
	fl_xp_write(dev, NIC_XP_TAB_GO, op);
	ret = read_poll_timeout_atomic(fl_xp_read, status,
				       status == FL_GONE ||
				       !(status & NIC_XP_TAB_STATUS_BUSY),
				       1, FL_XP_TIMEOUT_US, false, dev,
				       NIC_XP_TAB_STATUS);
	if (ret)
		return -EIO;
	if (status == FL_GONE)
		return -ENODEV;
	return fl_xp_error((status & NIC_XP_TAB_STATUS_CODE_MASK) >>
			   NIC_XP_TAB_STATUS_CODE_SHIFT);
}

int fl_xp_load(struct fl_dev *dev, u32 object, u64 page, const u64 *entry, u32 count)
{
	struct fl_xp *xp = &dev->xp;
	int ret;

	spin_lock(&xp->lock);
	memcpy(xp->list, entry, count * sizeof(*entry));
	/* Writes of registers come after those to the list (writel). */
	fl_nic_write64(dev, NIC_XP_BASE + NIC_XP_TAB_FIRST, page);
	fl_xp_write(dev, NIC_XP_TAB_COUNT, count);
	fl_nic_write64(dev, NIC_XP_BASE + NIC_XP_TAB_LIST_PA, xp->list_dma);
	ret = fl_xp_go(dev, object, NIC_XP_TAB_GO_LOAD);
	spin_unlock(&xp->lock);
	return ret;
}

int fl_xp_zap(struct fl_dev *dev, u32 object, u64 page, u64 count)
{
	int ret;

	spin_lock(&dev->xp.lock);
	fl_nic_write64(dev, NIC_XP_BASE + NIC_XP_TAB_FIRST, page);
	fl_xp_write(dev, NIC_XP_TAB_COUNT, count);
	ret = fl_xp_go(dev, object, NIC_XP_TAB_GO_ZAP);
	spin_unlock(&dev->xp.lock);
	return ret;
}

int fl_xp_zap_all(struct fl_dev *dev, u32 object)
{
	int ret;

	spin_lock(&dev->xp.lock);
	ret = fl_xp_go(dev, object, NIC_XP_TAB_GO_ZAP_ALL);
	spin_unlock(&dev->xp.lock);
	return ret;
}

int fl_xp_sync(struct fl_dev *dev)
{
	u32 active;
	int ret;

	/* One at a time: each order begins the wait of all anew. */
	spin_lock(&dev->xp.lock);
	fl_xp_write(dev, NIC_XP_TAB_SYNC, 1);
	ret = read_poll_timeout_atomic(fl_xp_read, active,
				       active == FL_GONE ||
				       !(active & NIC_XP_TAB_ACTIVE_ACTIVE), 1,
				       FL_XP_TIMEOUT_US, false, dev,
				       NIC_XP_TAB_ACTIVE);
	spin_unlock(&dev->xp.lock);
	return ret;
}

void fl_xp_resume(struct fl_dev *dev, u32 token, u32 code)
{
	fl_xp_write(dev, NIC_XP_RESUME,
		    (token & NIC_XP_RESUME_TOKEN_MASK) |
			    code << NIC_XP_RESUME_CODE_SHIFT);
}

void fl_xp_backup(struct fl_dev *dev, dma_addr_t ring, u32 slots, u32 bits)
{
	/* Stopped first: its base may not change under it. */
	fl_xp_write(dev, NIC_XP_BAK_SLOTS, 0);
	fl_nic_write64(dev, NIC_XP_BASE + NIC_XP_BAK_BASE, ring);
	fl_xp_write(dev, NIC_XP_BAK_BITS, bits);
	if (slots)
		fl_xp_write(dev, NIC_XP_BAK_SLOTS, slots);
	/* Waits for the writes before it. */
	fl_xp_read(dev, NIC_XP_BAK_SLOTS);
}

void fl_xp_backup_taken(struct fl_dev *dev, u32 cons)
{
	fl_xp_write(dev, NIC_XP_BAK_CONS, cons);
}

void fl_xp_backup_given(struct fl_dev *dev, u32 given)
{
	fl_xp_write(dev, NIC_XP_BAK_GIVEN, given);
}

void fl_xp_resolved(struct fl_dev *dev, const struct fl_backup *d, u32 code)
{
	fl_xp_write(dev, NIC_XP_RESOLVED,
		    (d->qp << NIC_XP_RESOLVED_RING_SHIFT & NIC_XP_RESOLVED_RING_MASK) |
			    (u32)d->bit << NIC_XP_RESOLVED_BIT_SHIFT |
			    (u32)d->serial << NIC_XP_RESOLVED_SERIAL_SHIFT |
			    code << NIC_XP_RESOLVED_CODE_SHIFT);
}

void fl_xp_divert(struct fl_dev *dev, dma_addr_t base, u32 slots)
{
	/* None first: its base may not change under it. */
	fl_xp_write(dev, NIC_XP_DIV_SLOTS, 0);
	fl_nic_write64(dev, NIC_XP_BASE + NIC_XP_DIV_BASE, base);
	if (slots)
		fl_xp_write(dev, NIC_XP_DIV_SLOTS, slots);
	/* Waits for the writes before it. */
	fl_xp_read(dev, NIC_XP_DIV_SLOTS);
}

void fl_xp_copied(struct fl_dev *dev, u32 slot, u32 code)
{
	fl_xp_write(dev, NIC_XP_COPIED,
		    (slot & NIC_XP_COPIED_SLOT_MASK) | code << NIC_XP_COPIED_CODE_SHIFT);
}

void fl_xp_ring(struct fl_dev *dev, dma_addr_t ring, u32 entries)
{
	/* Stopped first: its base may not change under it. */
	fl_xp_write(dev, NIC_XP_FQ_SIZE, 0);
	fl_nic_write64(dev, NIC_XP_BASE + NIC_XP_FQ_BASE, ring);
	if (entries)
		fl_xp_write(dev, NIC_XP_FQ_SIZE, entries);
	/* Waits for the writes before it. */
	fl_xp_read(dev, NIC_XP_FQ_SIZE);
}

void fl_xp_taken(struct fl_dev *dev, u32 cons)
{
	fl_xp_write(dev, NIC_XP_FQ_CONS, cons);
}

int fl_xp_start(struct fl_dev *dev, u32 *objects)
{
	u32 features = fl_nic_read(dev, NIC_FW_BASE + NIC_FW_FEATURES), mrs;
	struct fl_xp *xp = &dev->xp;

	spin_lock_init(&xp->lock);
	*objects = 0;
	/* A card that is older answers with ones, or with zeros. */
	if (features == FL_GONE || !(features & NIC_FW_FEATURES_TABLE))
		return 0;
	xp->list = dma_alloc_coherent(dev->dev, FL_XP_LIST * sizeof(*xp->list),
				      &xp->list_dma, GFP_KERNEL);
	if (!xp->list)
		return -ENOMEM;
	mrs = fl_nic_read(dev, NIC_FW_BASE + NIC_FW_LIMITS1) &
	      NIC_FW_LIMITS1_MRS_MASK;
	*objects = roundup_pow_of_two(mrs);
	xp->nv = features & NIC_FW_FEATURES_NV;
	return 0;
}

void fl_xp_stop(struct fl_dev *dev)
{
	struct fl_xp *xp = &dev->xp;

	if (!xp->list)
		return;
	dma_free_coherent(dev->dev, FL_XP_LIST * sizeof(*xp->list), xp->list,
			  xp->list_dma);
	xp->list = NULL;
}
