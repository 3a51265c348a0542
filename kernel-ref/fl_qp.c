// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs: making, connecting, changing and ending them.
 */
#include <linux/errno.h>
#include <linux/slab.h>

#include "fl_dev.h"

#define FL_QP_PACKETS	(FL_QP_RC | FL_QP_UD | FL_QP_NV)

/* What the process's row has its requests travel by. */
static u32 fl_qp_wanted(const struct fl_ctx *ctx)
{
	switch (ctx->row.transport) {
	case FL_TRANSPORT_RC:
		return FL_QP_RC;
	case FL_TRANSPORT_UD:
		return FL_QP_UD;
	case FL_TRANSPORT_NV:
		return FL_QP_NV;
	default:
		return 0;
	}
}

/*
 * Else all that it posts would miss pages, in tables that it does not have. Those of reliable
 * connections are good for datagrams, too: what finds no page is lost, as any datagram may be.
 */
static bool fl_qp_fits(const struct fl_ctx *ctx, u32 kind)
{
	u32 wanted = fl_qp_wanted(ctx);

	return kind == wanted || (kind == FL_QP_UD && wanted == FL_QP_RC);
}

/* May it be made so? The entries of its own receive queue (0: none), or negative errno. */
static int fl_qp_judge(struct fl_ctx *ctx, const struct fl_create_qp *a)
{
	u32 kind = a->flags & FL_QP_PACKETS;
	u32 recv = fl_queue_entries(a->recv_entries);
	/* With receives, and a queue for their completions. */
	bool packets = kind & (FL_QP_RC | FL_QP_UD);

	if (a->flags & ~(FL_QP_RELAXED | FL_QP_PACKETS) || a->reserved ||
	    (kind & (kind - 1)))
		return -EINVAL;
	/* Datagrams are announced in order, which has to be one queue pair's. */
	if (kind == FL_QP_UD && a->srq)
		return -EINVAL;
	if (!packets && (a->recv_cq || a->recv_entries || a->srq))
		return -EINVAL;
	if (a->recv_entries && (a->srq || !recv))
		return -EINVAL;
	/* A page that the driver reads has no place for receives (snoop.h). */
	if (kind && ctx->snoop.on)
		return -EOPNOTSUPP;
	if (!fl_pd_find(ctx, a->pd) || !fl_cq_find(ctx, a->cq))
		return -ENOENT;
	if (packets && !fl_cq_find(ctx, a->recv_cq))
		return -ENOENT;
	if (a->srq && !fl_srq_known(ctx, a->srq - 1))
		return -ENOENT;
	if (!fl_qp_fits(ctx, kind))
		return -EOPNOTSUPP;
	if (ctx->nqp >= FL_QPS_MAX)
		return -ENOSPC;
	return recv;
}

static int fl_qp_memory(struct fl_ctx *ctx, struct fl_qp *qp, u32 entries,
			u32 recv)
{
	qp->queue = fl_queue_new(ctx, entries * sizeof(struct fl_wqe));
	if (IS_ERR(qp->queue))
		return PTR_ERR(qp->queue);
	if (!recv)
		return 0;
	qp->recv = fl_queue_new(ctx, recv * sizeof(struct fl_rqe));
	if (!IS_ERR(qp->recv))
		return 0;
	fl_queue_put(ctx, qp->queue);
	return PTR_ERR(qp->recv);
}

static void fl_qp_memory_put(struct fl_ctx *ctx, struct fl_qp *qp)
{
	fl_queue_put(ctx, qp->queue);
	if (qp->recv)
		fl_queue_put(ctx, qp->recv);
}

static int fl_qp_attach(struct fl_ctx *ctx, struct fl_qp *qp,
			const struct fl_create_qp *a, u32 recv)
{
	struct fl_fw_cmd cmd = {
		.opcode = FL_CMD_RQ_ATTACH,
		.object = qp->number,
		.a = qp->recv ? qp->recv->dma : 0,
		.b = recv,
		.c = a->recv_cq,
		.d = a->srq,
	};

	return fl_cmd(ctx, &cmd, NULL);
}

static int fl_qp_start(struct fl_ctx *ctx, struct fl_qp *qp,
		       const struct fl_create_qp *a, u32 entries, u32 recv)
{
	struct fl_fw_cmd cmd = {
		.opcode = FL_CMD_QP_CREATE,
		.flags = a->flags,
		.a = qp->queue->dma,
		.b = entries,
		.c = a->cq,
		.d = a->pd,
	};
	u64 number;
	int ret;

	ret = fl_cmd(ctx, &cmd, &number);
	/* All else makes sense: the card has no such unit. */
	if (ret == -EINVAL && a->flags & FL_QP_PACKETS)
		return -EOPNOTSUPP;
	if (ret)
		return ret;
	qp->number = number;
	qp->entries = entries;
	if (a->flags & (FL_QP_RC | FL_QP_UD)) {
		ret = fl_qp_attach(ctx, qp, a, recv);
		/* If it cannot be undone, the firmware has the memory still. */
		if (ret && fl_cmd_object(ctx, FL_CMD_QP_DESTROY, number))
			return -EIO;
		if (ret)
			return ret;
	}
	qp->ctx = ctx;
	fl_event_qp(ctx, qp->number, qp);
	list_add_tail(&qp->list, &ctx->qps);
	ctx->nqp++;
	fl_snoop_qp(ctx, qp);
	return 0;
}

static int fl_qp_ring(struct fl_ctx *ctx, struct fl_qp *qp)
{
	int ret;

	if (ctx->row.rw != FL_VERDICT_DIVERT)
		return 0;
	ret = fl_ring_need(ctx->dev, ctx->ring.slots);
	qp->rings = !ret;
	return ret;
}

int fl_qp_create(struct fl_ctx *ctx, struct fl_create_qp *a)
{
	u32 entries = fl_queue_entries(a->entries);
	int recv = fl_qp_judge(ctx, a), ret;
	struct fl_qp *qp;

	if (!entries)
		return -EINVAL;
	if (recv < 0)
		return recv;
	qp = kzalloc(sizeof(*qp), GFP_KERNEL_ACCOUNT);
	if (!qp)
		return -ENOMEM;
	ret = fl_qp_ring(ctx, qp);
	if (!ret)
		ret = fl_qp_memory(ctx, qp, entries, recv);
	if (ret)
		goto err_free;
	ret = fl_qp_start(ctx, qp, a, entries, recv);
	if (ret)
		goto err_queue;
	a->entries = entries;
	a->qp = qp->number;
	a->mmap_offset = qp->queue->offset;
	a->mmap_bytes = qp->queue->bytes;
	a->recv_entries = recv;
	if (qp->recv) {
		a->recv_mmap_offset = qp->recv->offset;
		a->recv_mmap_bytes = qp->recv->bytes;
	}
	return 0;

err_queue:
	if (ret != -EIO)
		fl_qp_memory_put(ctx, qp);
err_free:
	if (qp->rings)
		fl_ring_unneed(ctx->dev);
	kfree(qp);
	return ret;
}

int fl_qp_connect(struct fl_ctx *ctx, const struct fl_connect_qp *a)
{
	struct fl_fw_cmd cmd = {
		.opcode = FL_CMD_QP_CONNECT,
		.object = a->qp,
		.a = a->node,
		.b = a->peer_qp,
	};
	int ret;

	/* wire.def, BTH: queue pair numbers have 24 bits */
	if (a->peer_qp >> 24)
		return -EINVAL;
	if (!fl_qp_find(ctx, a->qp))
		return -ENOENT;
	ret = fl_cmd(ctx, &cmd, NULL);
	if (ret == -EBUSY)
		return -EISCONN;
	return ret == -EINVAL ? -EHOSTUNREACH : ret;
}

/* entries.def, FL_MOD_*: members of a; each must fit into its bits. */
static bool fl_qp_pack(const struct fl_modify_qp *a, u64 *word)
{
	const u32 v[] = { a->state, a->mtu, a->rnr_code, a->retries,
			  a->rnr_tries, a->timeout, a->rd_atomic,
			  a->dest_rd_atomic };
	unsigned int i;

	*word = 0;
	for (i = 0; i < ARRAY_SIZE(v); i++) {
		if (v[i] >> 8)
			return false;
		*word |= (u64)v[i] << 8 * i;
	}
	return !(a->node >> 8) && !(a->peer_qp >> 24) && !(a->sq_psn >> 24) &&
	       !(a->rq_psn >> 24) && !(a->access >> 8);
}

/* Of datagrams: what the driver holds for it is nobody's any more. ctx->lock is held. */
static void fl_qp_forget(struct fl_ctx *ctx, u32 number)
{
	if (ctx->row.transport != FL_TRANSPORT_UD)
		return;
	fl_ring_forget(ctx->dev, number);
	mutex_unlock(&ctx->lock);
	fl_nic_settle(ctx);
	mutex_lock(&ctx->lock);
}

int fl_qp_modify(struct fl_ctx *ctx, struct fl_modify_qp *a)
{
	struct fl_fw_cmd cmd = {
		.opcode = FL_CMD_QP_MODIFY,
		.object = a->qp,
		.flags = a->mask,
		.b = a->node | (u64)a->peer_qp << 8,
		.c = a->sq_psn | (u64)a->rq_psn << 32,
		.d = a->qkey | (u64)a->access << 32,
	};
	bool ends = a->mask & FL_MOD_STATE &&
		    (a->state == FL_STATE_RESET || a->state == FL_STATE_ERROR);
	u64 was, word;
	int ret;

	if (a->draining || !fl_qp_pack(a, &word))
		return -EINVAL;
	if (!fl_qp_find(ctx, a->qp))
		return -ENOENT;
	cmd.a = word;
	ret = fl_cmd(ctx, &cmd, &was);
	if (ret)
		return ret;
	a->state = was & 0xFF;
	a->draining = was >> 8 & 1;
	if (ends)
		fl_qp_forget(ctx, a->qp);
	return 0;
}

int fl_qp_resume(struct fl_ctx *ctx, u32 number)
{
	if (!fl_qp_find(ctx, number))
		return -ENOENT;
	return fl_cmd_object(ctx, FL_CMD_QP_RESUME, number);
}

static void fl_qp_end(struct fl_ctx *ctx, struct fl_qp *qp)
{
	fl_event_qp(ctx, qp->number, NULL);
	list_del(&qp->list);
	ctx->nqp--;
	kfree(qp);
}

int fl_qp_destroy(struct fl_ctx *ctx, u32 number)
{
	struct fl_qp *qp = fl_qp_find(ctx, number);
	bool rings;
	int ret;

	if (!qp)
		return -ENOENT;
	ret = fl_cmd_object(ctx, FL_CMD_QP_DESTROY, number);
	if (ret)
		return ret;
	rings = qp->rings;
	fl_qp_memory_put(ctx, qp);
	fl_qp_end(ctx, qp);
	fl_qp_forget(ctx, number);
	/* Now nothing is copied for it. */
	if (rings)
		fl_ring_unneed(ctx->dev);
	return 0;
}

void fl_qp_end_all(struct fl_ctx *ctx)
{
	struct fl_qp *qp, *next;

	list_for_each_entry_safe(qp, next, &ctx->qps, list) {
		/* Nothing is copied where no region is left (fl_nic_region_del). */
		if (qp->rings)
			fl_ring_unneed(ctx->dev);
		fl_qp_end(ctx, qp);
	}
}
