// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that a program asks for before the card misses them (ibv_advise_mr).
 *
 * With FLUSH the call returns when the card has them, or says why not. Without it the call
 * only looks whether it makes sense, and a worker does the rest; nobody hears whether that
 * came to an end, as it is advice. What cannot be had then is missed like any other page.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "faultline/system.h"
#include "fl_tables.h"

/* Requests of one process that wait for a worker; more are done at once. */
#define FL_ADVISE_WAITING	16u

struct fl_advised {
	struct list_head list;	/* fl_nic.advice */
	struct fl_ctx *ctx;
	struct fl_nic_reach reach;
	struct fl_range r;	/* bytes */
	bool write;
	u32 advice;
};

/* Where the SMMU walks tables of the process or of the driver. */
static int fl_advise_fill(struct fl_ctx *ctx, const struct fl_advised *d)
{
	struct fl_fault_request request = { .write = d->write };
	struct fl_populated t = { 0 };
	struct fl_range r;
	int ret;

	/* What is there anyway the card finds. */
	if (d->advice == FL_ADVISE_NO_FAULT)
		return 0;
	if (!fl_range_make(d->r.start, d->r.end - d->r.start, &r))
		return -EFAULT;
	ret = fl_populate(ctx, r, d->write, false, &t);
	fl_populated_forget(ctx, &t, &request);
	return ret;
}

/* Where the card has its own. */
static int fl_advise_load(struct fl_ctx *ctx, const struct fl_advised *d)
{
	u64 pages = ((d->r.end - 1) >> FL_PAGE_SHIFT) - (d->r.start >> FL_PAGE_SHIFT) + 1;
	int ret;

	/* What is pinned has been loaded. */
	if (d->reach.pinned)
		return 0;
	ret = fl_bring_all(ctx, &d->reach, d->r, d->write,
			   d->advice == FL_ADVISE_NO_FAULT ? FL_BRING_PRESENT :
							     FL_BRING_NEED);
	if (!ret)
		atomic64_add(pages, &ctx->nic.advised);
	return ret;
}

static int fl_advise_do(const struct fl_advised *d)
{
	struct fl_ctx *ctx = d->ctx;
	int ret;

	if (!mmget_not_zero(ctx->mm))
		return -EFAULT;
	ret = d->reach.id ? fl_advise_load(ctx, d) : fl_advise_fill(ctx, d);
	/* fl_request_resolve() says why not mmput(). */
	mmput_async(ctx->mm);
	/* A page that may not be had so is, for who asks, not mapped. */
	return ret == -EACCES ? -EFAULT : ret;
}

/* The oldest that waits, or NULL. */
static struct fl_advised *fl_advise_take(struct fl_ctx *ctx)
{
	struct fl_advised *d = NULL;

	spin_lock(&ctx->nic.lock);
	if (!list_empty(&ctx->nic.advice)) {
		d = list_first_entry(&ctx->nic.advice, struct fl_advised, list);
		list_del(&d->list);
		ctx->nic.advising--;
	}
	spin_unlock(&ctx->nic.lock);
	return d;
}

static void fl_advise_work(struct work_struct *work)
{
	struct fl_ctx *ctx = container_of(work, struct fl_ctx, nic.advise);
	struct fl_advised *d;

	while ((d = fl_advise_take(ctx))) {
		if (!READ_ONCE(ctx->dead))
			fl_advise_do(d);
		kfree(d);
	}
}

/* False: there are too many, and this one is done at once. */
static bool fl_advise_later(struct fl_advised *d)
{
	struct fl_ctx *ctx = d->ctx;
	bool yes;

	spin_lock(&ctx->nic.lock);
	yes = ctx->nic.advising < FL_ADVISE_WAITING && !ctx->nic.closed;
	if (yes) {
		ctx->nic.advising++;
		list_add_tail(&d->list, &ctx->nic.advice);
	}
	spin_unlock(&ctx->nic.lock);
	if (yes)
		queue_work(ctx->dev->wq, &ctx->nic.advise);
	return yes;
}

void fl_advise_init(struct fl_ctx *ctx)
{
	INIT_LIST_HEAD(&ctx->nic.advice);
	INIT_WORK(&ctx->nic.advise, fl_advise_work);
}

void fl_advise_end(struct fl_ctx *ctx)
{
	struct fl_advised *d;

	cancel_work_sync(&ctx->nic.advise);
	while ((d = fl_advise_take(ctx)))
		kfree(d);
}

/* ctx->lock is held. */
static int fl_advise_check(struct fl_ctx *ctx, const struct fl_advise *a,
			   struct fl_advised *d)
{
	struct fl_range r;
	struct fl_mr *mr;

	if (a->advice > FL_ADVISE_NO_FAULT || a->flags & ~FL_ADVISE_FLUSH ||
	    a->reserved || !fl_range_make(a->addr, a->length, &r) ||
	    !fl_pd_find(ctx, a->pd))
		return -EINVAL;
	mr = fl_mr_of_key(ctx, a->key);
	if (!mr)
		return -ENOENT;
	d->write = a->advice == FL_ADVISE_PREFETCH_WRITE;
	if (mr->pd != a->pd || (d->write && !fl_mr_writes(mr)))
		return -EPERM;
	if (a->addr < mr->addr || a->length > mr->length ||
	    a->addr - mr->addr > mr->length - a->length)
		return -EFAULT;
	d->r = (struct fl_range){ a->addr, a->addr + a->length };
	if (!fl_tables_carded(ctx->tables))
		return 0;
	return fl_nic_reach(ctx, a->key, a->addr, a->length, d->write, &d->reach);
}

int fl_mr_advise(struct fl_ctx *ctx, const struct fl_advise *a)
{
	struct fl_advised *d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!d)
		return -ENOMEM;
	d->ctx = ctx;
	d->advice = a->advice;
	ret = fl_advise_check(ctx, a, d);
	if (!ret && !(a->flags & FL_ADVISE_FLUSH) && fl_advise_later(d))
		return 0;
	/* Nobody waits for pages with ctx->lock held. */
	if (!ret) {
		mutex_unlock(&ctx->lock);
		ret = fl_advise_do(d);
		mutex_lock(&ctx->lock);
	}
	kfree(d);
	return ret;
}
