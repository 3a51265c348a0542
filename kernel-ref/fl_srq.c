// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared receive queues: any of a process's queue pairs may take receives from one.
 */
#include <linux/errno.h>
#include <linux/slab.h>

#include "fl_dev.h"

static struct fl_srq *fl_srq_find(struct fl_ctx *ctx, u32 number)
{
	struct fl_srq *srq;

	list_for_each_entry(srq, &ctx->srqs, list)
		if (srq->number == number)
			return srq;
	return NULL;
}

bool fl_srq_known(struct fl_ctx *ctx, u32 number)
{
	return fl_srq_find(ctx, number);
}

static int fl_srq_start(struct fl_ctx *ctx, struct fl_srq *srq, u32 pd,
			u32 entries)
{
	struct fl_fw_cmd cmd = {
		.opcode = FL_CMD_SRQ_CREATE,
		.a = srq->queue->dma,
		.b = entries,
		.c = pd,
	};
	u64 number;
	int ret;

	ret = fl_cmd(ctx, &cmd, &number);
	if (ret)
		return ret;
	if (WARN_ON(number >= FL_CARD_SRQS))
		return -EIO;
	srq->number = number;
	srq->ctx = ctx;
	fl_event_srq(ctx, srq->number, srq);
	list_add_tail(&srq->list, &ctx->srqs);
	ctx->nsrq++;
	return 0;
}

int fl_srq_create(struct fl_ctx *ctx, struct fl_create_srq *a)
{
	u32 entries = fl_queue_entries(a->entries);
	struct fl_srq *srq;
	int ret;

	if (!entries)
		return -EINVAL;
	if (ctx->snoop.on)
		return -EOPNOTSUPP;
	if (!fl_pd_find(ctx, a->pd))
		return -ENOENT;
	if (ctx->nsrq >= FL_SRQS_MAX)
		return -ENOSPC;
	srq = kzalloc(sizeof(*srq), GFP_KERNEL_ACCOUNT);
	if (!srq)
		return -ENOMEM;
	srq->queue = fl_queue_new(ctx, entries * sizeof(struct fl_rqe));
	if (IS_ERR(srq->queue)) {
		ret = PTR_ERR(srq->queue);
		goto err_free;
	}
	ret = fl_srq_start(ctx, srq, a->pd, entries);
	if (ret)
		goto err_queue;
	a->entries = entries;
	a->srq = srq->number;
	a->mmap_offset = srq->queue->offset;
	a->mmap_bytes = srq->queue->bytes;
	return 0;

err_queue:
	/* After a silent firmware nobody knows who owns the memory: keep it. */
	if (ret != -EIO)
		fl_queue_put(ctx, srq->queue);
err_free:
	kfree(srq);
	return ret;
}

static void fl_srq_end(struct fl_ctx *ctx, struct fl_srq *srq)
{
	fl_event_srq(ctx, srq->number, NULL);
	fl_event_forget(ctx, FL_EV_SRQ_LIMIT, srq->number);
	list_del(&srq->list);
	ctx->nsrq--;
	kfree(srq);
}

int fl_srq_destroy(struct fl_ctx *ctx, u32 number)
{
	struct fl_srq *srq = fl_srq_find(ctx, number);
	struct fl_queue *q;
	int ret;

	if (!srq)
		return -ENOENT;
	ret = fl_cmd_object(ctx, FL_CMD_SRQ_DESTROY, number);
	if (ret)
		return ret;
	q = srq->queue;
	fl_srq_end(ctx, srq);
	fl_queue_put(ctx, q);
	return 0;
}

int fl_srq_limit(struct fl_ctx *ctx, const struct fl_limit_srq *a)
{
	struct fl_fw_cmd cmd = {
		.opcode = FL_CMD_SRQ_LIMIT,
		.object = a->srq,
		.a = a->limit,
	};

	if (a->reserved)
		return -EINVAL;
	if (!fl_srq_find(ctx, a->srq))
		return -ENOENT;
	return fl_cmd(ctx, &cmd, NULL);
}

void fl_srq_end_all(struct fl_ctx *ctx)
{
	struct fl_srq *srq, *next;

	list_for_each_entry_safe(srq, next, &ctx->srqs, list)
		fl_srq_end(ctx, srq);
}
