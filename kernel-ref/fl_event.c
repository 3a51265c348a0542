// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that a process may want to hear of: a queue pair has failed or has heard its peer, a
 * completion queue was full, a shared receive queue runs low. Completions have their own way
 * (fl_cq.c).
 */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/wait.h>

#include "fl_access.h"
#include "fl_dev.h"

/* entries.def, QP_CREATE: the place of a queue pair is in the lowest bits. */
#define FL_QP_PLACE(number) ((number) & 0xFF)

static struct fl_ctx *fl_event_owner(struct fl_dev *dev, const struct fl_eqe *e)
{
	struct fl_qp *qp;

	switch (e->type) {
	case FL_EV_QP_ERROR:
	case FL_EV_LAST_RECV:
	case FL_EV_QP_HEARD:
	case FL_EV_SQ_DRAINED:
		qp = dev->qp[FL_QP_PLACE(e->object)];
		/* One that is gone may have had the place before. */
		return qp && qp->number == e->object ? qp->ctx : NULL;
	case FL_EV_CQ_OVERFLOW:
		return e->object < dev->max_cq && dev->cq[e->object] ?
			       dev->cq[e->object]->ctx : NULL;
	case FL_EV_SRQ_LIMIT:
		return e->object < FL_CARD_SRQS && dev->srq[e->object] ?
			       dev->srq[e->object]->ctx : NULL;
	}
	return NULL;
}

void fl_event_note(struct fl_dev *dev, const struct fl_eqe *e)
{
	struct fl_ctx *ctx = fl_event_owner(dev, e);
	struct fl_events *q;

	if (!ctx)
		return;
	q = &ctx->news;
	/* A reader that falls behind loses the oldest event. */
	if (q->end - q->first == FL_EVENTS_MAX)
		q->first++;
	q->e[q->end++ % FL_EVENTS_MAX] = *e;
	wake_up_all(&ctx->wait);
}

void fl_event_qp(struct fl_ctx *ctx, u32 number, struct fl_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&ctx->dev->irq_lock, flags);
	ctx->dev->qp[FL_QP_PLACE(number)] = qp;
	spin_unlock_irqrestore(&ctx->dev->irq_lock, flags);
}

void fl_event_srq(struct fl_ctx *ctx, u32 number, struct fl_srq *srq)
{
	unsigned long flags;

	spin_lock_irqsave(&ctx->dev->irq_lock, flags);
	ctx->dev->srq[number] = srq;
	spin_unlock_irqrestore(&ctx->dev->irq_lock, flags);
}

void fl_event_forget(struct fl_ctx *ctx, u32 type, u32 number)
{
	struct fl_events *q = &ctx->news;
	struct fl_eqe *e;
	unsigned long flags;
	u32 from, to;

	spin_lock_irqsave(&ctx->dev->irq_lock, flags);
	for (from = to = q->first; from != q->end; from++) {
		e = &q->e[from % FL_EVENTS_MAX];
		if (e->type != type || e->object != number)
			q->e[to++ % FL_EVENTS_MAX] = *e;
	}
	q->end = to;
	spin_unlock_irqrestore(&ctx->dev->irq_lock, flags);
}

/* 1: the oldest event is in *e (NULL: it stays); negative errno; 0: there is none. */
static int fl_event_take(struct fl_ctx *ctx, struct fl_eqe *e)
{
	struct fl_events *q = &ctx->news;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&ctx->dev->irq_lock, flags);
	if (fl_ctx_over(ctx)) {
		ret = -ENODEV;
	} else if (q->first != q->end) {
		ret = 1;
		if (e)
			*e = q->e[q->first++ % FL_EVENTS_MAX];
	}
	spin_unlock_irqrestore(&ctx->dev->irq_lock, flags);
	return ret;
}

bool fl_event_any(struct fl_ctx *ctx)
{
	return fl_event_take(ctx, NULL) == 1;
}

int fl_event_wait(struct fl_ctx *ctx, struct fl_next_event *a)
{
	u64 limit_ns = min_t(u64, a->timeout_ns, KTIME_MAX);
	struct fl_eqe e = { 0 };
	int ret;

	if (a->type || a->object || a->data)
		return -EINVAL;
	mutex_unlock(&ctx->lock);
	do {
		if (limit_ns)
			ret = wait_event_interruptible_hrtimeout(ctx->wait,
								 fl_event_take(ctx, NULL),
								 ns_to_ktime(limit_ns));
		else
			ret = wait_event_interruptible(ctx->wait,
						       fl_event_take(ctx, NULL));
		/* Another thread may take it meanwhile. */
		if (!ret)
			ret = fl_event_take(ctx, &e) ?: -EAGAIN;
		else
			ret = ret == -ETIME ? -ETIMEDOUT : -EINTR;
	} while (ret == -EAGAIN);
	mutex_lock(&ctx->lock);
	a->type = e.type;
	a->object = e.object;
	a->data = e.data;
	return min(ret, 0);
}
