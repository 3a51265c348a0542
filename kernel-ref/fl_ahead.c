// SPDX-License-Identifier: GPL-2.0-only
/*
 * Touching ahead: pages beyond the blocks that have faulted, as a plan has it.
 *
 * The block itself is answered by the worker of its fault as soon as its own
 * pages are there. What lies beyond comes here, to a work item of its own, since
 * the next fault of the same context must not wait for it. There is one for each
 * process. So the first blocks of a transfer, which are all on their way when
 * the first one faults, do not have the same rest walked by a worker each.
 */
#include <linux/minmax.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "fl_dev.h"

/* One request. Between two of them blocks that have faulted get the worker. */
#define FL_AHEAD_PART	SZ_64K

/*
 * Does r belong to a? Blocks of a transfer arrive in order, so what lies before
 * a block that has faulted has arrived or has faulted too: the walk goes on
 * behind it. Any other guess stays as it is, and grows.
 */
static bool fl_ahead_join(struct fl_ahead_range *a,
			  const struct fl_ahead_range *b)
{
	if (a->request.write != b->request.write || a->onwards != b->onwards ||
	    b->r.start > a->r.end || b->r.end < a->r.start)
		return false;
	a->r.start = a->onwards ? max(a->r.start, b->r.start) :
				  min(a->r.start, b->r.start);
	a->r.end = max(a->r.end, b->r.end);
	return true;
}

/* The lock is held. When there is no room: it was a guess. */
static void fl_ahead_keep(struct fl_ahead *a,
			  const struct fl_ahead_range *b)
{
	unsigned int i;

	if (a->walking && fl_ahead_join(&a->now, b))
		return;
	for (i = 0; i < a->n; i++)
		if (fl_ahead_join(&a->range[i], b))
			return;
	if (a->n + a->walking < FL_AHEAD_RANGES)
		a->range[a->n++] = *b;
}

void fl_ahead_add(struct fl_ctx *ctx, const struct fl_fault_request *request,
		  struct fl_range r, bool onwards)
{
	struct fl_ahead_range b = { r, onwards, *request };
	struct fl_ahead *a = &ctx->ahead;

	spin_lock(&a->lock);
	if (!a->closed) {
		fl_ahead_keep(a, &b);
		queue_work(ctx->dev->wq, &a->work);
	}
	spin_unlock(&a->lock);
}

/* The next part of what was put off for longest; false: nothing is left. */
static bool fl_ahead_take(struct fl_ahead *a, struct fl_ahead_range *part)
{
	unsigned int i;
	bool some;

	spin_lock(&a->lock);
	some = a->n && !a->closed;
	a->walking = some;
	if (some) {
		a->now = a->range[0];
		a->n--;
		for (i = 0; i < a->n; i++)
			a->range[i] = a->range[i + 1];
		*part = a->now;
		part->r.end = min(part->r.end, part->r.start + FL_AHEAD_PART);
		a->now.r.start = part->r.end;
	}
	spin_unlock(&a->lock);
	return some;
}

/* The part is done; more: and what comes after it is worth asking for. */
static void fl_ahead_done(struct fl_ctx *ctx, bool more)
{
	struct fl_ahead *a = &ctx->ahead;

	spin_lock(&a->lock);
	a->walking = false;
	if (more && a->now.r.start < a->now.r.end)
		a->range[a->n++] = a->now;
	if (a->n && !a->closed)
		queue_work(ctx->dev->wq, &a->work);
	spin_unlock(&a->lock);
}

static void fl_ahead_work(struct work_struct *work)
{
	struct fl_ctx *ctx = container_of(work, struct fl_ctx, ahead.work);
	struct fl_populated t = { 0 };
	struct fl_ahead_range part;
	bool more = false;

	if (!fl_ahead_take(&ctx->ahead, &part))
		return;
	if (mmget_not_zero(ctx->mm)) {
		more = !fl_request_range(ctx, &part.request, part.r, true,
					 &t) &&
		       t.end >= part.r.end;
		/* fl_request_resolve() says why not mmput(). */
		mmput_async(ctx->mm);
	}
	fl_ahead_done(ctx, more);
}

void fl_ahead_init(struct fl_ctx *ctx)
{
	spin_lock_init(&ctx->ahead.lock);
	INIT_WORK(&ctx->ahead.work, fl_ahead_work);
}

void fl_ahead_end(struct fl_ctx *ctx)
{
	spin_lock(&ctx->ahead.lock);
	ctx->ahead.closed = true;
	spin_unlock(&ctx->ahead.lock);
	cancel_work_sync(&ctx->ahead.work);
}
