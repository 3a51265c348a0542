// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues that card and process share.
 *
 * Queue memory is the driver's: always there, at one physical address, mapped
 * into the process. It lives until the firmware has let go of it and its last
 * mapping has ended; but no longer than the card has a driver.
 */
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/fs.h>
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

/* ---- objects that have queues, by number; ctx->lock is held ---- */

struct fl_cq *fl_cq_find(struct fl_ctx *ctx, u32 number)
{
	struct fl_cq *cq;

	list_for_each_entry(cq, &ctx->cqs, list)
		if (cq->number == number)
			return cq;
	return NULL;
}

struct fl_qp *fl_qp_find(struct fl_ctx *ctx, u32 number)
{
	struct fl_qp *qp;

	list_for_each_entry(qp, &ctx->qps, list)
		if (qp->number == number)
			return qp;
	return NULL;
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

void fl_queue_end_all(struct fl_ctx *ctx, bool fw_let_go)
{
	struct fl_queue *q;

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
