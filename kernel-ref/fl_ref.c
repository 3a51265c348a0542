// SPDX-License-Identifier: GPL-2.0-only
/*
 * References: to a card, and to a process on it. Both may be held when the card has lost
 * its driver; what is left then is memory.
 */
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "fl_dev.h"

void fl_dev_get(struct fl_dev *dev)
{
	get_device(&dev->entry);
}

void fl_dev_put(struct fl_dev *dev)
{
	put_device(&dev->entry);
}

/* The process on a slot, with a reference, or NULL. */
struct fl_ctx *fl_ctx_on(struct fl_dev *dev, unsigned int slot)
{
	struct fl_ctx *ctx;
	unsigned long flags;

	spin_lock_irqsave(&dev->irq_lock, flags);
	ctx = dev->slot[slot];
	if (ctx)
		kref_get(&ctx->ref);
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	return ctx;
}

struct fl_ctx *fl_ctx_get(struct fl_dev *dev, unsigned int slot, u64 id)
{
	struct fl_ctx *ctx = fl_ctx_on(dev, slot);

	if (!ctx || ctx->id == id)
		return ctx;
	fl_ctx_put(ctx);
	return NULL;
}

static void fl_ctx_free(struct kref *ref)
{
	struct fl_ctx *ctx = container_of(ref, struct fl_ctx, ref);

	fl_map_free(ctx);
	mmdrop(ctx->mm);
	fl_dev_put(ctx->dev);
	kfree(ctx);
}

void fl_ctx_put(struct fl_ctx *ctx)
{
	kref_put(&ctx->ref, fl_ctx_free);
}

void fl_wake_all(struct fl_dev *dev)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&dev->irq_lock, flags);
	for (i = 0; i < FL_SLOTS; i++)
		if (dev->slot[i])
			wake_up_all(&dev->slot[i]->wait);
	spin_unlock_irqrestore(&dev->irq_lock, flags);
}

void fl_ctx_owner_gone(struct fl_ctx *ctx)
{
	/* What ends it already waits for the notifier that calls this. */
	if (READ_ONCE(ctx->draining))
		return;
	kref_get(&ctx->ref);
	if (!queue_work(ctx->dev->wq, &ctx->end_work))
		fl_ctx_put(ctx);
}
