// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues, and who sleeps until there is something in one. */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "fl_access.h"
#include "fl_dev.h"

static void fl_cq_free(struct kref *ref)
{
	kfree(container_of(ref, struct fl_cq, ref));
}

static int fl_cq_start(struct fl_ctx *ctx, struct fl_cq *cq, u32 entries)
{
	struct fl_fw_cmd cmd = {
		.opcode = FL_CMD_CQ_CREATE,
		.a = cq->queue->dma,
		.b = entries,
	};
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;
	u64 number;
	int ret;

	ret = fl_cmd(ctx, &cmd, &number);
	if (ret)
		return ret;
	if (WARN_ON(number >= dev->max_cq))
		return -EIO;
	cq->number = number;
	spin_lock_irqsave(&dev->irq_lock, flags);
	dev->cq[number] = cq;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	list_add_tail(&cq->list, &ctx->cqs);
	ctx->ncq++;
	fl_snoop_cq(ctx, cq);
	return 0;
}

int fl_cq_create(struct fl_ctx *ctx, struct fl_create_cq *a)
{
	u32 entries = fl_queue_entries(a->entries);
	struct fl_cq *cq;
	int ret;

	if (!entries || a->reserved)
		return -EINVAL;
	if (ctx->ncq >= FL_CQS_MAX)
		return -ENOSPC;
	cq = kzalloc(sizeof(*cq), GFP_KERNEL_ACCOUNT);
	if (!cq)
		return -ENOMEM;
	kref_init(&cq->ref);
	cq->ctx = ctx;
	cq->queue = fl_queue_new(ctx, entries * sizeof(struct fl_cqe));
	if (IS_ERR(cq->queue)) {
		ret = PTR_ERR(cq->queue);
		goto err_free;
	}
	ret = fl_cq_start(ctx, cq, entries);
	if (ret)
		goto err_queue;
	a->entries = entries;
	a->cq = cq->number;
	a->mmap_offset = cq->queue->offset;
	a->mmap_bytes = cq->queue->bytes;
	return 0;

err_queue:
	/* After a silent firmware nobody knows who owns the memory: keep it. */
	if (ret != -EIO)
		fl_queue_put(ctx, cq->queue);
err_free:
	kfree(cq);
	return ret;
}

/* Take it out of the tables and wake who sleeps on it. */
static void fl_cq_end(struct fl_ctx *ctx, struct fl_cq *cq)
{
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;

	spin_lock_irqsave(&dev->irq_lock, flags);
	dev->cq[cq->number] = NULL;
	cq->gone = true;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	fl_event_forget(ctx, FL_EV_CQ_OVERFLOW, cq->number);
	wake_up_all(&ctx->wait);
	list_del(&cq->list);
	ctx->ncq--;
	kref_put(&cq->ref, fl_cq_free);
}

int fl_cq_destroy(struct fl_ctx *ctx, u32 number)
{
	struct fl_cq *cq = fl_cq_find(ctx, number);
	struct fl_queue *q;
	int ret;

	if (!cq)
		return -ENOENT;
	ret = fl_cmd_object(ctx, FL_CMD_CQ_DESTROY, number);
	if (ret)
		return ret;
	q = cq->queue;
	fl_cq_end(ctx, cq);
	fl_queue_put(ctx, q);
	return 0;
}

/* Is there something to tell? 1 an event, negative errno, 0 no. */
static int fl_cq_news(struct fl_cq *cq, bool take)
{
	struct fl_dev *dev = cq->ctx->dev;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&dev->irq_lock, flags);
	if (fl_ctx_over(cq->ctx))
		ret = -ENODEV;
	else if (cq->gone)
		ret = -ENOENT;
	else if (cq->overflow)
		ret = -EIO;
	else if (cq->events != cq->seen)
		ret = 1;
	if (ret == 1 && take)
		cq->seen = cq->events;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	return ret;
}

/* ctx->lock is held; it is given back while sleeping. */
int fl_cq_wait(struct fl_ctx *ctx, const struct fl_wait_cq *a)
{
	struct fl_cq *cq = fl_cq_find(ctx, a->cq);
	u64 limit_ns = min_t(u64, a->timeout_ns, KTIME_MAX);
	int ret;

	if (!cq)
		return -ENOENT;
	kref_get(&cq->ref);
	mutex_unlock(&ctx->lock);
	if (limit_ns)
		ret = wait_event_interruptible_hrtimeout(ctx->wait,
							 fl_cq_news(cq, false),
							 ns_to_ktime(limit_ns));
	else
		ret = wait_event_interruptible(ctx->wait,
					       fl_cq_news(cq, false));
	if (!ret)
		ret = fl_cq_news(cq, true);
	else
		ret = ret == -ETIME ? -ETIMEDOUT : -EINTR;
	mutex_lock(&ctx->lock);
	kref_put(&cq->ref, fl_cq_free);
	return min(ret, 0);
}

bool fl_cq_any_event(struct fl_ctx *ctx)
{
	struct fl_cq *cq;

	list_for_each_entry(cq, &ctx->cqs, list)
		if (fl_cq_news(cq, false))
			return true;
	return false;
}

void fl_cq_end_all(struct fl_ctx *ctx)
{
	struct fl_cq *cq, *next;

	list_for_each_entry_safe(cq, next, &ctx->cqs, list)
		fl_cq_end(ctx, cq);
}
