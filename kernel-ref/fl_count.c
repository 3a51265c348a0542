// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event counters: words that the card counts in, memory of the driver's, mapped into the
 * process. A program that would rather not poll its word arms the counter and sleeps here.
 */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "fl_access.h"
#include "fl_dev.h"

static struct fl_counter *fl_count_find(struct fl_ctx *ctx, u32 number)
{
	struct fl_counter *c;

	list_for_each_entry(c, &ctx->counters, list)
		if (c->number == number)
			return c;
	return NULL;
}

static void fl_count_free(struct kref *ref)
{
	kfree(container_of(ref, struct fl_counter, ref));
}

static int fl_count_start(struct fl_ctx *ctx, struct fl_counter *c)
{
	struct fl_fw_cmd cmd = {
		.opcode = FL_CMD_COUNTER_CREATE,
		.a = c->queue->dma,
	};
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;
	u64 number;
	int ret;

	ret = fl_cmd(ctx, &cmd, &number);
	if (ret == -EINVAL)
		return -EOPNOTSUPP;
	if (ret)
		return ret;
	if (WARN_ON(!number || number > FL_CARD_COUNTERS))
		return -EIO;
	c->number = number;
	spin_lock_irqsave(&dev->irq_lock, flags);
	dev->counter[number - 1] = c;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	list_add_tail(&c->list, &ctx->counters);
	ctx->ncounter++;
	return 0;
}

int fl_count_create(struct fl_ctx *ctx, struct fl_create_counter *a)
{
	struct fl_counter *c;
	int ret;

	/* An older card does not know the command. */
	if (!ctx->dev->xp.nv)
		return -EOPNOTSUPP;
	if (ctx->ncounter >= FL_COUNTERS_MAX)
		return -ENOSPC;
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		return -ENOMEM;
	kref_init(&c->ref);
	c->ctx = ctx;
	c->queue = fl_queue_new(ctx, sizeof(struct fl_count));
	if (IS_ERR(c->queue)) {
		ret = PTR_ERR(c->queue);
		goto err_free;
	}
	ret = fl_count_start(ctx, c);
	if (ret)
		goto err_queue;
	a->counter = c->number;
	a->mmap_offset = c->queue->offset;
	a->mmap_bytes = c->queue->bytes;
	return 0;

err_queue:
	/* After a silent firmware nobody knows who owns the memory: keep it. */
	if (ret != -EIO)
		fl_queue_put(ctx, c->queue);
err_free:
	kfree(c);
	return ret;
}

/* Take it out of the table and wake who sleeps on it. */
static void fl_count_end(struct fl_ctx *ctx, struct fl_counter *c)
{
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;

	spin_lock_irqsave(&dev->irq_lock, flags);
	dev->counter[c->number - 1] = NULL;
	c->gone = true;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	wake_up_all(&ctx->wait);
	list_del(&c->list);
	ctx->ncounter--;
	kref_put(&c->ref, fl_count_free);
}

int fl_count_destroy(struct fl_ctx *ctx, u32 number)
{
	struct fl_counter *c = fl_count_find(ctx, number);
	struct fl_queue *q;
	int ret;

	if (!c)
		return -ENOENT;
	ret = fl_cmd_object(ctx, FL_CMD_COUNTER_DESTROY, number);
	if (ret)
		return ret;
	q = c->queue;
	fl_count_end(ctx, c);
	fl_queue_put(ctx, q);
	return 0;
}

void fl_count_end_all(struct fl_ctx *ctx)
{
	struct fl_counter *c, *next;

	list_for_each_entry_safe(c, next, &ctx->counters, list)
		fl_count_end(ctx, c);
}

void fl_count_note(struct fl_dev *dev, u32 number)
{
	struct fl_counter *c;

	if (!number || number > FL_CARD_COUNTERS)
		return;
	c = dev->counter[array_index_nospec(number - 1, FL_CARD_COUNTERS)];
	if (!c)
		return;
	c->events++;
	wake_up_all(&c->ctx->wait);
}

/* Is there something to tell? 1 an event, negative errno, 0 no. */
static int fl_count_news(struct fl_counter *c, bool take)
{
	struct fl_dev *dev = c->ctx->dev;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&dev->irq_lock, flags);
	if (fl_ctx_over(c->ctx))
		ret = -ENODEV;
	else if (c->gone)
		ret = -ENOENT;
	else if (c->events != c->seen)
		ret = 1;
	if (ret == 1 && take)
		c->seen = c->events;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	return ret;
}

/* ctx->lock is held; it is given back while sleeping. */
int fl_count_wait(struct fl_ctx *ctx, const struct fl_wait_counter *a)
{
	struct fl_counter *c = fl_count_find(ctx, a->counter);
	u64 limit_ns = min_t(u64, a->timeout_ns, KTIME_MAX);
	int ret;

	if (!c)
		return -ENOENT;
	kref_get(&c->ref);
	mutex_unlock(&ctx->lock);
	if (limit_ns)
		ret = wait_event_interruptible_hrtimeout(ctx->wait,
							 fl_count_news(c, false),
							 ns_to_ktime(limit_ns));
	else
		ret = wait_event_interruptible(ctx->wait, fl_count_news(c, false));
	if (!ret)
		ret = fl_count_news(c, true);
	else
		ret = ret == -ETIME ? -ETIMEDOUT : -EINTR;
	mutex_lock(&ctx->lock);
	kref_put(&c->ref, fl_count_free);
	return min(ret, 0);
}
