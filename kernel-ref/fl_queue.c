// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues that card and process share, and the card's events for the driver.
 *
 * Queue memory is the driver's: always there, at one physical address, mapped
 * into the process. It lives until the firmware has let go of it and its last
 * mapping has ended; but no longer than the card has a driver.
 */
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "fl_access.h"
#include "fl_dev.h"

/* ---- memory ---- */

struct fl_queue *fl_queue_new(struct fl_ctx *ctx, size_t bytes)
{
	struct fl_queue *q;

	bytes = PAGE_ALIGN(bytes);
	if (ctx->queue_bytes + bytes > FL_QUEUE_BYTES_MAX)
		return ERR_PTR(-ENOMEM);
	q = kzalloc(sizeof(*q), GFP_KERNEL_ACCOUNT);
	if (!q)
		return ERR_PTR(-ENOMEM);
	kref_init(&q->ref);
	q->bytes = bytes;
	q->cpu = dma_alloc_coherent(ctx->dev->dev, bytes, &q->dma,
				    GFP_KERNEL_ACCOUNT);
	if (!q->cpu) {
		kfree(q);
		return ERR_PTR(-ENOMEM);
	}
	q->ctx = ctx;
	/* An offset is never used twice, so an old one finds nothing. */
	q->offset = ctx->next_offset;
	ctx->next_offset += bytes;
	ctx->queue_bytes += bytes;
	mutex_lock(&ctx->queue_lock);
	list_add_tail(&q->list, &ctx->queues);
	mutex_unlock(&ctx->queue_lock);
	return q;
}

/* The memory alone, once; queue_lock is held. */
static void fl_queue_drop(struct fl_queue *q)
{
	if (q->cpu)
		dma_free_coherent(q->ctx->dev->dev, q->bytes, q->cpu, q->dma);
	q->cpu = NULL;
}

static void fl_queue_free(struct kref *ref)
{
	struct fl_queue *q = container_of(ref, struct fl_queue, ref);
	struct fl_ctx *ctx = q->ctx;

	mutex_lock(&ctx->queue_lock);
	list_del(&q->list);
	fl_queue_drop(q);
	mutex_unlock(&ctx->queue_lock);
	kfree(q);
}

/* The object is gone; mappings may keep the memory. */
void fl_queue_put(struct fl_ctx *ctx, struct fl_queue *q)
{
	mutex_lock(&ctx->queue_lock);
	q->ended = true;
	mutex_unlock(&ctx->queue_lock);
	ctx->queue_bytes -= q->bytes;
	kref_put(&q->ref, fl_queue_free);
}

static void fl_queue_vm_open(struct vm_area_struct *vma)
{
	struct fl_queue *q = vma->vm_private_data;

	kref_get(&q->ref);
}

static void fl_queue_vm_close(struct vm_area_struct *vma)
{
	struct fl_queue *q = vma->vm_private_data;

	kref_put(&q->ref, fl_queue_free);
}

static const struct vm_operations_struct fl_queue_vm_ops = {
	.open = fl_queue_vm_open,
	.close = fl_queue_vm_close,
	.fault = fl_map_fault,
};

int fl_queue_mmap(struct fl_ctx *ctx, struct vm_area_struct *vma, u64 offset)
{
	struct fl_queue *q, *found = NULL;
	int ret;

	mutex_lock(&ctx->queue_lock);
	list_for_each_entry(q, &ctx->queues, list)
		if (q->offset == offset && !q->ended) {
			kref_get(&q->ref);
			found = q;
			break;
		}
	mutex_unlock(&ctx->queue_lock);
	if (!found)
		return -ENOENT;
	ret = -EINVAL;
	if (vma->vm_end - vma->vm_start != found->bytes)
		goto err;
	/* dma_mmap_coherent() takes it for an offset into the memory. */
	vma->vm_pgoff = 0;
	ret = dma_mmap_coherent(ctx->dev->dev, vma, found->cpu, found->dma,
				found->bytes);
	vma->vm_pgoff = offset >> PAGE_SHIFT;
	if (ret)
		goto err;
	vma->vm_private_data = found;
	vma->vm_ops = &fl_queue_vm_ops;
	return 0;

err:
	kref_put(&found->ref, fl_queue_free);
	return ret;
}

u32 fl_queue_entries(u32 wish)
{
	if (!wish || wish > FL_QUEUE_MAX)
		return 0;
	return wish < 2 ? 2 : roundup_pow_of_two(wish);
}

/* ---- completion queues ---- */

struct fl_cq *fl_cq_find(struct fl_ctx *ctx, u32 number)
{
	struct fl_cq *cq;

	list_for_each_entry(cq, &ctx->cqs, list)
		if (cq->number == number)
			return cq;
	return NULL;
}

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

/* A queue whose object has not been ended one by one. */
static struct fl_queue *fl_queue_left(struct fl_ctx *ctx)
{
	struct fl_queue *q, *found = NULL;

	mutex_lock(&ctx->queue_lock);
	list_for_each_entry(q, &ctx->queues, list)
		if (!q->ended) {
			found = q;
			break;
		}
	mutex_unlock(&ctx->queue_lock);
	return found;
}

/* The card may still write there: better lost than overwritten. */
static void fl_queue_lose_all(struct fl_ctx *ctx)
{
	struct fl_queue *q;

	mutex_lock(&ctx->queue_lock);
	list_for_each_entry(q, &ctx->queues, list)
		if (!q->ended)
			q->cpu = NULL;
	mutex_unlock(&ctx->queue_lock);
}

void fl_queue_free_all(struct fl_ctx *ctx, bool fw_let_go)
{
	struct fl_cq *cq, *nextcq;
	struct fl_queue *q;

	fl_qp_end_all(ctx);
	fl_srq_end_all(ctx);
	fl_count_end_all(ctx);
	list_for_each_entry_safe(cq, nextcq, &ctx->cqs, list)
		fl_cq_end(ctx, cq);
	if (!fw_let_go)
		fl_queue_lose_all(ctx);
	while ((q = fl_queue_left(ctx)))
		fl_queue_put(ctx, q);
}

void fl_queue_drop_mapped(struct fl_ctx *ctx)
{
	struct fl_queue *q;

	mutex_lock(&ctx->queue_lock);
	list_for_each_entry(q, &ctx->queues, list)
		fl_queue_drop(q);
	mutex_unlock(&ctx->queue_lock);
}

/* ---- the event queue ---- */

int fl_eq_start(struct fl_dev *dev)
{
	dev->eq = dma_alloc_coherent(dev->dev,
				     FL_EQ_ENTRIES * sizeof(*dev->eq),
				     &dev->eq_dma, GFP_KERNEL);
	if (!dev->eq)
		return -ENOMEM;
	fl_nic_write64(dev, NIC_FW_BASE + NIC_FW_EQ_BASE, dev->eq_dma);
	fl_nic_write(dev, NIC_FW_BASE + NIC_FW_EQ_SIZE, FL_EQ_ENTRIES);
	return 0;
}

void fl_eq_clear(struct fl_dev *dev)
{
	fl_nic_write(dev, NIC_FW_BASE + NIC_FW_EQ_SIZE, 0);
	fl_nic_write64(dev, NIC_FW_BASE + NIC_FW_EQ_BASE, 0);
	/* Waits for the writes before it. */
	fl_nic_read(dev, NIC_FW_BASE + NIC_FW_EQ_SIZE);
}

/*
 * All slots are closed, and the firmware has nothing left to tell. One that
 * does not answer has not read that either, and may write when it wakes up.
 */
void fl_eq_stop(struct fl_dev *dev)
{
	fl_eq_clear(dev);
	if (fl_card_dead(dev) ? fl_card_silent(dev) : dev->fw_dead) {
		dev_warn(dev->dev, "the event queue stays with the firmware\n");
		return;
	}
	dma_free_coherent(dev->dev, FL_EQ_ENTRIES * sizeof(*dev->eq), dev->eq,
			  dev->eq_dma);
}

static void fl_eq_one(struct fl_dev *dev, const struct fl_eqe *e)
{
	unsigned long flags;
	struct fl_cq *cq;

	if (e->type == FL_EV_QP_ERROR) {
		dev_dbg(dev->dev, "queue pair %u: status %u\n", e->object,
			e->data);
	} else if (e->type < FL_EV_CQ || e->type > FL_EV_COUNTER) {
		dev_err_ratelimited(dev->dev, "unknown event %u\n", e->type);
		return;
	}
	spin_lock_irqsave(&dev->irq_lock, flags);
	if (e->type == FL_EV_COUNTER)
		fl_count_note(dev, e->object);
	else if (e->type != FL_EV_CQ)
		fl_event_note(dev, e);
	cq = (e->type == FL_EV_CQ || e->type == FL_EV_CQ_OVERFLOW) &&
	     e->object < dev->max_cq ? dev->cq[e->object] : NULL;
	if (cq) {
		if (e->type == FL_EV_CQ_OVERFLOW)
			cq->overflow = true;
		else
			cq->events++;
		wake_up_all(&cq->ctx->wait);
	}
	spin_unlock_irqrestore(&dev->irq_lock, flags);
}

irqreturn_t fl_irq_event(int irq, void *arg)
{
	struct fl_dev *dev = arg;
	irqreturn_t ret = IRQ_NONE;
	struct fl_eqe e, *next;
	u32 phase;

	for (;;) {
		next = &dev->eq[dev->eq_cons % FL_EQ_ENTRIES];
		phase = 1 + dev->eq_cons / FL_EQ_ENTRIES;
		if (READ_ONCE(next->phase) != phase)
			break;
		/* Pairs with the firmware's write of phase after the rest. */
		dma_rmb();
		e = *next;
		dev->eq_cons++;
		fl_eq_one(dev, &e);
		ret = IRQ_HANDLED;
	}
	if (ret == IRQ_HANDLED)
		fl_nic_write(dev, NIC_FW_BASE + NIC_FW_EQ_CONS, dev->eq_cons);
	if (fl_odp_irq(dev))
		ret = IRQ_HANDLED;
	if (fl_ring_irq(dev))
		ret = IRQ_HANDLED;
	return ret;
}
