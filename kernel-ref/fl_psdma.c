// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies by the DMA engine of the processing system: the kernel has inserted the mappings
 * (fl_tables_inserted.c), and an engine that is no part of the card moves the data.
 *
 * There are as many context banks as slots, so the channel has none of its own: for the
 * time of a copy its stream leads to the bank of the process that asked, whose tables are
 * the driver's own and have the pages of its regions and no other. At all other times its
 * stream matches no group, and any access of it is a global fault.
 *
 * Pages are pinned as long as they are entered. A region that ends in the middle takes its
 * entries out first, so that the channel meets a fault and not somebody else's page.
 *
 * A channel copies for one process at a time, a piece for each in turn: nobody waits for
 * more than a piece of each of the others, whatever they copy.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/iopoll.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "faultline/psdma_regs.h"
#include "faultline/system.h"
#include "fl_access.h"
#include "fl_dev.h"
#include "fl_trace.h"

#define FL_PSDMA_PIECE		BIT(20)
#define FL_PSDMA_STOP_US	1000000	/* as FL_SYNC_TIMEOUT_US */
#define FL_PSDMA_BUSY		2	/* STATUS.STATE */
#define FL_PSDMA_ERRORS		(PSDMA_CH_ISR_AXI_RD_DATA | \
				 PSDMA_CH_ISR_AXI_WR_DATA)

struct fl_psdma_turn {
	struct list_head list;	/* of fl_psdma.turns */
};

static u32 fl_psdma_read(struct fl_psdma *p, u32 off)
{
	return readl(p->regs + off);
}

static void fl_psdma_write(struct fl_psdma *p, u32 off, u32 value)
{
	writel(value, p->regs + off);
}

/* ---- the channel; whoever has the turn ---- */

static irqreturn_t fl_irq_psdma(int irq, void *arg)
{
	struct fl_psdma *p = arg;
	unsigned long flags;
	u32 isr;

	spin_lock_irqsave(&p->lock, flags);
	isr = fl_psdma_read(p, PSDMA_CH_ISR);
	fl_psdma_write(p, PSDMA_CH_ISR, isr);
	WRITE_ONCE(p->isr, p->isr | isr);
	spin_unlock_irqrestore(&p->lock, flags);
	if (!isr)
		return IRQ_NONE;
	wake_up_all(&p->wait);
	return IRQ_HANDLED;
}

/* With the first copy: a card whose processes have none leaves the engine alone. */
static int fl_psdma_ready(struct fl_psdma *p)
{
	int ret;

	if (p->stuck)
		return -EIO;
	if (p->started)
		return 0;
	fl_psdma_write(p, PSDMA_CH_IDS, PSDMA_CH_IMR_RESET);
	ret = request_irq(p->irq, fl_irq_psdma, 0, "faultline-psdma", p);
	p->started = !ret;
	return ret;
}

static void fl_psdma_side(struct fl_psdma *p, u32 word0, u64 va, u32 bytes)
{
	fl_psdma_write(p, word0, lower_32_bits(va));
	fl_psdma_write(p, word0 + 4, upper_32_bits(va));
	fl_psdma_write(p, word0 + 8, bytes);
	fl_psdma_write(p, word0 + 12, PSDMA_CH_SRC_DSCR_WORD3_COHRNT);
}

static void fl_psdma_go(struct fl_psdma *p, u64 src, u64 dst, u32 bytes)
{
	unsigned long flags;

	spin_lock_irqsave(&p->lock, flags);
	fl_psdma_write(p, PSDMA_CH_ISR, ~0u);
	WRITE_ONCE(p->isr, 0);
	spin_unlock_irqrestore(&p->lock, flags);
	fl_psdma_side(p, PSDMA_CH_SRC_DSCR_WORD0, src, bytes);
	fl_psdma_side(p, PSDMA_CH_DST_DSCR_WORD0, dst, bytes);
	fl_psdma_write(p, PSDMA_CH_TOTAL_BYTE, 0);
	fl_psdma_write(p, PSDMA_CH_IEN,
		       PSDMA_CH_ISR_DMA_DONE | FL_PSDMA_ERRORS);
	fl_psdma_write(p, PSDMA_CH_CTRL2, PSDMA_CH_CTRL2_EN);
}

/* When it returns 0 the channel accesses nothing any more. */
static int fl_psdma_stop(struct fl_dev *dev)
{
	struct fl_psdma *p = &dev->psdma;
	u32 status;
	int ret;

	fl_psdma_write(p, PSDMA_CH_CTRL2, 0);
	ret = read_poll_timeout_atomic(fl_psdma_read, status,
				       (status &
					PSDMA_CH_STATUS_STATE_MASK) !=
					       FL_PSDMA_BUSY,
				       1, FL_PSDMA_STOP_US, false, p,
				       PSDMA_CH_STATUS);
	fl_psdma_write(p, PSDMA_CH_IDS, PSDMA_CH_IMR_RESET);
	if (!ret)
		return 0;
	p->stuck = true;
	dev_err(dev->dev, "the DMA channel does not stop; it is not used any more\n");
	return -EIO;
}

/* Of a piece that ended by itself. */
static u32 fl_psdma_status(u32 isr)
{
	if (isr & PSDMA_CH_ISR_AXI_RD_DATA)
		return FL_DMA_SOURCE;
	return isr & PSDMA_CH_ISR_AXI_WR_DATA ? FL_DMA_DESTINATION : FL_DMA_OK;
}

/* One piece, by whoever has the turn. */
static int fl_psdma_piece(struct fl_ctx *ctx, struct fl_dma_copy *a)
{
	struct fl_psdma *p = &ctx->dev->psdma;
	u32 bytes = min_t(u64, a->length - a->done, FL_PSDMA_PIECE);
	int ret, stopped;

	ret = fl_psdma_ready(p);
	if (!ret)
		ret = fl_bank_lend(ctx);
	if (ret)
		return ret;
	fl_psdma_go(p, a->src + a->done, a->dst + a->done, bytes);
	ret = wait_event_interruptible(p->wait, READ_ONCE(p->isr) ||
				       fl_ctx_over(ctx));
	stopped = fl_psdma_stop(ctx->dev);
	fl_bank_take_back(ctx);
	if (stopped)
		return stopped;
	a->done += fl_psdma_read(p, PSDMA_CH_TOTAL_BYTE);
	if (fl_ctx_over(ctx))
		return -ENODEV;
	if (ret)
		return -EINTR;
	a->status = fl_psdma_status(READ_ONCE(p->isr));
	return 0;
}

/* ---- turns ---- */

static bool fl_psdma_is_first(struct fl_psdma *p, struct fl_psdma_turn *t)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&p->lock, flags);
	first = list_first_entry(&p->turns, struct fl_psdma_turn, list) == t;
	spin_unlock_irqrestore(&p->lock, flags);
	return first;
}

/* Wait for the channel, and copy a piece. */
static int fl_psdma_turn(struct fl_ctx *ctx, struct fl_dma_copy *a)
{
	struct fl_psdma *p = &ctx->dev->psdma;
	struct fl_psdma_turn t;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&p->lock, flags);
	list_add_tail(&t.list, &p->turns);
	spin_unlock_irqrestore(&p->lock, flags);
	ret = wait_event_interruptible(p->wait, fl_psdma_is_first(p, &t) ||
				       fl_ctx_over(ctx));
	if (ret)
		ret = -EINTR;
	else if (fl_ctx_over(ctx))
		ret = -ENODEV;
	else
		ret = fl_psdma_piece(ctx, a);
	spin_lock_irqsave(&p->lock, flags);
	list_del(&t.list);
	spin_unlock_irqrestore(&p->lock, flags);
	wake_up_all(&p->wait);
	return ret;
}

/* ---- the call ---- */

static int fl_psdma_check(struct fl_ctx *ctx, const struct fl_dma_copy *a)
{
	struct fl_dev *dev = ctx->dev;
	struct fl_range r;
	int ret;

	if (a->flags || a->reserved ||
	    !fl_range_make(a->src, a->length, &r) ||
	    !fl_range_make(a->dst, a->length, &r))
		return -EINVAL;
	if (!dev->psdma.regs) {
		dev_err_ratelimited(dev->dev,
				    "no DMA engine: registers and interrupt are missing\n");
		return -EOPNOTSUPP;
	}
	if (ctx->row.tables != FL_TABLES_INSERTED)
		return -EPERM;
	/* Longer than any region of pinned pages. */
	if (a->length >> PAGE_SHIFT > FL_PIN_PAGES_MAX)
		return -EFAULT;
	ret = fl_mr_find(ctx, a->src, a->length, false, &r);
	return ret ? ret : fl_mr_find(ctx, a->dst, a->length, true, &r);
}

int fl_psdma_copy(struct fl_ctx *ctx, struct fl_dma_copy *a)
{
	int ret = fl_psdma_check(ctx, a);

	if (ret)
		return ret;
	if (ctx->copying)
		return -EBUSY;
	a->done = 0;
	a->status = FL_DMA_OK;
	WRITE_ONCE(ctx->copying, true);
	/* The tables stay those that they are; regions may end. */
	ctx->nmr_moving++;
	mutex_unlock(&ctx->lock);
	while (!ret && a->status == FL_DMA_OK && a->done < a->length)
		ret = fl_psdma_turn(ctx, a);
	trace_fl_dma_copy(ctx->dev, a->src, a->dst, a->done,
			  ret ? ret : (int)a->status);
	mutex_lock(&ctx->lock);
	ctx->nmr_moving--;
	WRITE_ONCE(ctx->copying, false);
	wake_up_all(&ctx->dev->psdma.wait);
	return ret;
}

void fl_psdma_end(struct fl_ctx *ctx)
{
	struct fl_psdma *p = &ctx->dev->psdma;

	if (!READ_ONCE(ctx->copying))
		return;
	wake_up_all(&p->wait);
	wait_event(p->wait, !READ_ONCE(ctx->copying));
}

void fl_psdma_wake(struct fl_dev *dev)
{
	wake_up_all(&dev->psdma.wait);
}

void fl_psdma_init(struct fl_dev *dev, void __iomem *regs, int irq)
{
	struct fl_psdma *p = &dev->psdma;

	p->regs = regs;
	p->irq = irq;
	spin_lock_init(&p->lock);
	INIT_LIST_HEAD(&p->turns);
	init_waitqueue_head(&p->wait);
}

void fl_psdma_exit(struct fl_dev *dev)
{
	if (dev->psdma.started)
		free_irq(dev->psdma.irq, &dev->psdma);
}
