// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading requests before the card does (snoop.h), as IOGuard and VIO do.
 *
 * What is read is advice. The process may change an entry once it is published, and a
 * page may leave again before the card comes to it: the firmware judges each entry when
 * it fetches it, and a page that is missing then is a fault like any other. Pages at the
 * other end of a request belong to another process, on another machine, and stay as they
 * are.
 */
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>

#include "faultline/snoop.h"
#include "fl_access.h"
#include "fl_tables.h"
#include "fl_trace.h"

/* Of one request: the rest would push out what it has just brought in. */
#define FL_SNOOP_BRING_BYTES	SZ_4M
/* Requests at a time; then other work gets the worker. */
#define FL_SNOOP_ROUND		64

static_assert(sizeof(struct fl_snoop_page) <= FL_SNOOP_BYTES);

/* One published entry, copied once. */
struct fl_snooped {
	u32 qp;
	u64 queue;		/* its offset, which no other queue ever has */
	u16 tail;		/* to be rung when its pages are there */
	bool read;		/* what is below can be believed for now */
	bool write;		/* by the card, on this side */
	u64 va;
	u32 len, xfer;
};

/* ---- pages ---- */

/* The first run of pages from r->start on that the card may not use yet. */
static bool fl_snoop_missing(struct fl_ctx *ctx, struct fl_range *r, u64 end,
			     bool write)
{
	u64 va;

	mmap_read_lock(ctx->mm);
	for (va = r->start; va < end; va += FL_PAGE_SIZE)
		if (fl_process_look(ctx, va, write) != FL_GRANTED)
			break;
	r->start = va;
	for (; va < end; va += FL_PAGE_SIZE)
		if (fl_process_look(ctx, va, write) == FL_GRANTED)
			break;
	r->end = va;
	mmap_read_unlock(ctx->mm);
	return r->start < r->end;
}

/* The kernel is asked only for what is missing: that look is the fast path. */
static int fl_snoop_bring(struct fl_ctx *ctx, struct fl_range r,
			  struct fl_fault_request *request, u64 *pages)
{
	struct fl_range part = r;
	struct fl_populated t;
	int ret = 0;

	while (!ret && fl_snoop_missing(ctx, &part, r.end, request->write)) {
		t = (struct fl_populated){ 0 };
		*pages += (part.end - part.start) >> FL_PAGE_SHIFT;
		ret = fl_request_range(ctx, request, part, false, &t);
		fl_populated_forget(ctx, &t, request);
		part.start = part.end;
	}
	return ret;
}

static void fl_snoop_present(struct fl_ctx *ctx, const struct fl_snooped *s)
{
	struct fl_fault_request request = { .write = s->write, .xfer = s->xfer };
	u32 len = min_t(u32, s->len, FL_SNOOP_BRING_BYTES);
	struct fl_range r, region;
	u64 pages = 0;
	int ret;

	/* What is wrong with a request the card says, and not this. */
	ret = fl_mr_find(ctx, s->va, len, s->write, &region);
	if (!ret && !fl_range_make(s->va, len, &r))
		ret = -EINVAL;
	if (!ret && !mmget_not_zero(ctx->mm)) {
		ret = -ESRCH;
	} else if (!ret) {
		ret = fl_snoop_bring(ctx, r, &request, &pages);
		/* fl_request_resolve() says why not mmput(). */
		mmput_async(ctx->mm);
	}
	trace_fl_snoop(ctx->dev, s->qp, s->va, pages, ret, s->xfer, 0);
}

/* ---- the page; ctx->lock is held ---- */

static struct fl_snoop_page *fl_snoop_page(struct fl_ctx *ctx)
{
	return ctx->snoop.page->cpu;
}

static void fl_snoop_ring(struct fl_ctx *ctx, u32 reg, u32 number, u32 count)
{
	/*
	 * The process wrote the entry, then the word; this thread saw the word. With
	 * this the card sees the entry too, if the process kept that order.
	 */
	mb();
	fl_nic_write(ctx->dev, NIC_DB_BASE(ctx->slot) + reg,
		     (number & NIC_DB_SQ_QPN_MASK) |
			     count << NIC_DB_SQ_TAIL_SHIFT);
}

static bool fl_snoop_cqs(struct fl_ctx *ctx)
{
	struct fl_snoop_page *page = fl_snoop_page(ctx);
	struct fl_cq *cq;
	bool any = false;
	u32 word;

	list_for_each_entry(cq, &ctx->cqs, list) {
		word = READ_ONCE(page->cq[cq->number % FL_SNOOP_QUEUES]);
		if (word == cq->snooped)
			continue;
		fl_snoop_ring(ctx,
			      (u16)(word ^ cq->snooped) ? NIC_DB_CQ_ARM :
							  NIC_DB_CQ_CONS,
			      cq->number, word >> 16);
		cq->snooped = word;
		any = true;
	}
	return any;
}

static void fl_snoop_copy(const struct fl_qp *qp, struct fl_snooped *s)
{
	u32 entries = qp->entries;
	const struct fl_wqe *e = qp->queue->cpu;

	e += qp->snooped & (entries - 1);
	/* The process may be writing: each member is read once. */
	s->read = true;
	s->write = READ_ONCE(e->opcode) == FL_OP_READ;
	s->va = READ_ONCE(e->local_va);
	s->len = READ_ONCE(e->length);
	s->xfer = READ_ONCE(e->xfer);
}

/* The next entry that the card does not know of, of any queue pair in turn. */
static bool fl_snoop_take(struct fl_ctx *ctx, struct fl_snooped *s)
{
	struct fl_snoop_page *page = fl_snoop_page(ctx);
	struct fl_qp *qp;
	u16 tail;

	list_for_each_entry(qp, &ctx->qps, list) {
		tail = READ_ONCE(page->sq[qp->number % FL_SNOOP_QUEUES]);
		if (tail == qp->snooped)
			continue;
		*s = (struct fl_snooped){
			.qp = qp->number,
			.queue = qp->queue->offset,
			.tail = tail,
		};
		/* Else it has lost count, and the card says so (fw_qp.c). */
		if ((u16)(tail - qp->snooped) <= qp->entries) {
			s->tail = qp->snooped + 1;
			fl_snoop_copy(qp, s);
		}
		list_del(&qp->list);
		list_add_tail(&qp->list, &ctx->qps);
		return true;
	}
	return false;
}

/* Unless the queue pair has gone meanwhile. */
static void fl_snoop_publish(struct fl_ctx *ctx, const struct fl_snooped *s)
{
	struct fl_qp *qp = fl_qp_find(ctx, s->qp);

	if (!qp || qp->queue->offset != s->queue)
		return;
	qp->snooped = s->tail;
	fl_snoop_ring(ctx, NIC_DB_SQ, s->qp, s->tail);
}

/* ---- the worker ---- */

/* One request, or what completion queues have to say; false: nothing is new. */
static bool fl_snoop_step(struct fl_ctx *ctx)
{
	struct fl_snooped s;
	bool some, found;

	mutex_lock(&ctx->lock);
	found = false;
	some = !fl_ctx_over(ctx) && ctx->snoop.on;
	if (some) {
		some = fl_snoop_cqs(ctx);
		found = fl_snoop_take(ctx, &s);
	}
	mutex_unlock(&ctx->lock);
	if (!found)
		return some;
	/* Nobody waits for pages with ctx->lock held. */
	if (s.read)
		fl_snoop_present(ctx, &s);
	mutex_lock(&ctx->lock);
	if (!fl_ctx_over(ctx))
		fl_snoop_publish(ctx, &s);
	mutex_unlock(&ctx->lock);
	return true;
}

static void fl_snoop_work(struct work_struct *work)
{
	struct fl_ctx *ctx = container_of(work, struct fl_ctx, snoop.work);
	struct fl_snoop_page *page = fl_snoop_page(ctx);
	unsigned int left = FL_SNOOP_ROUND;

	WRITE_ONCE(page->asleep, 0);
	while (left) {
		if (fl_snoop_step(ctx)) {
			left--;
			continue;
		}
		WRITE_ONCE(page->asleep, 1);
		/* Pairs with the process's, between its word and its look at asleep. */
		mb();
		if (!fl_snoop_step(ctx))
			return;
		left--;
		WRITE_ONCE(page->asleep, 0);
	}
	mutex_lock(&ctx->lock);
	if (!ctx->dead)
		queue_work(ctx->dev->wq, work);
	mutex_unlock(&ctx->lock);
}

/* ---- beginning and end ---- */

void fl_snoop_init(struct fl_ctx *ctx)
{
	INIT_WORK(&ctx->snoop.work, fl_snoop_work);
}

int fl_snoop_set(struct fl_ctx *ctx, bool on)
{
	struct fl_queue *page;

	if (on == ctx->snoop.on)
		return 0;
	/* They would be rung in two places, and nobody knew in which order. */
	if (ctx->nqp || ctx->ncq)
		return -EBUSY;
	if (on && (ctx->dev->max_qp > FL_SNOOP_QUEUES ||
		   ctx->dev->max_cq > FL_SNOOP_QUEUES))
		return -EOPNOTSUPP;
	if (on && !ctx->snoop.page) {
		page = fl_queue_new(ctx, FL_SNOOP_BYTES);
		if (IS_ERR(page))
			return PTR_ERR(page);
		page->doorbell = true;
		ctx->snoop.page = page;
	}
	/* alive: whoever still has the page mapped sees that it is out of use. */
	WRITE_ONCE(fl_snoop_page(ctx)->asleep, on);
	WRITE_ONCE(fl_snoop_page(ctx)->alive, on);
	WRITE_ONCE(ctx->snoop.on, on);
	return 0;
}

void fl_snoop_qp(struct fl_ctx *ctx, struct fl_qp *qp)
{
	if (ctx->snoop.on)
		WRITE_ONCE(fl_snoop_page(ctx)->sq[qp->number % FL_SNOOP_QUEUES],
			   0);
}

void fl_snoop_cq(struct fl_ctx *ctx, struct fl_cq *cq)
{
	if (ctx->snoop.on)
		WRITE_ONCE(fl_snoop_page(ctx)->cq[cq->number % FL_SNOOP_QUEUES],
			   0);
}

int fl_snoop_wake(struct fl_ctx *ctx)
{
	if (!ctx->snoop.on)
		return -EINVAL;
	/* It is as good as awake: what comes next need not call. */
	WRITE_ONCE(fl_snoop_page(ctx)->asleep, 0);
	queue_work(ctx->dev->wq, &ctx->snoop.work);
	return 0;
}

int fl_snoop_mmap(struct fl_ctx *ctx, struct vm_area_struct *vma)
{
	return fl_queue_mmap(ctx, vma, ctx->snoop.page->offset);
}

void fl_snoop_end(struct fl_ctx *ctx)
{
	cancel_work_sync(&ctx->snoop.work);
}

void fl_snoop_free(struct fl_ctx *ctx)
{
	if (!ctx->snoop.page)
		return;
	WRITE_ONCE(fl_snoop_page(ctx)->alive, 0);
	WRITE_ONCE(ctx->snoop.on, false);
	/* The card never had it, so it goes whatever the firmware has let go of. */
	fl_queue_put(ctx, ctx->snoop.page);
	ctx->snoop.page = NULL;
}
