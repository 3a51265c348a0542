// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the card could not do, done with the CPU (bounce.h): bytes go between pinned memory
 * and a region, whose pages come in for it as for any access of the process, and are
 * entered in the card's tables.
 *
 * It stands for the software at the other end of a two-sided transfer. A card with SEND
 * would wake a thread of the process; here a write to the bell, which the SMMU refuses and
 * the card takes for done, raises the interrupt, and the driver's worker is that thread. A
 * call is of somebody on the wire, so it is copied once and judged like any request: by
 * key, protection domain, range and rights.
 *
 * A call that has begun when its queue pair fails comes to its end, after the program may
 * have heard of the failure. What ends a region takes serving once: from then on nothing
 * is copied there.
 */
#include <linux/errno.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "faultline/bounce.h"
#include "fl_access.h"
#include "fl_compat.h"
#include "fl_tables.h"
#include "fl_trace.h"

/* ---- copying; sink.serving is held, and the address space is kept ---- */

/* Within one page of a pinned region. */
static void fl_sink_move(const struct fl_mr *buffer, u64 at, void *bytes, u32 n,
			 bool out)
{
	u64 off = at - (buffer->addr & PAGE_MASK);
	struct page *page = buffer->pages[off >> PAGE_SHIFT];

	if (out)
		memcpy_from_page(bytes, page, off & ~PAGE_MASK, n);
	else
		memcpy_to_page(page, off & ~PAGE_MASK, bytes, n);
}

/* Within one page of each. */
static int fl_sink_copy_part(struct fl_ctx *ctx, u64 va, u32 n, bool in,
			     const struct fl_mr *buffer, u64 at)
{
	struct page *page;
	void *memory;
	long got;

	mmap_read_lock(ctx->mm);
	if (fl_process_look(ctx, va, in) == FL_ABSENT)
		atomic64_inc(&ctx->pages_in);
	got = fl_pin_pages(ctx->mm, va & PAGE_MASK, 1, in, &page);
	mmap_read_unlock(ctx->mm);
	if (got != 1)
		return got < 0 ? got : -EFAULT;
	memory = kmap_local_page(page);
	fl_sink_move(buffer, at, memory + (va & ~PAGE_MASK), n, in);
	kunmap_local(memory);
	unpin_user_pages_dirty_lock(&page, 1, in);
	return 0;
}

static int fl_sink_copy(struct fl_ctx *ctx, u64 va, u32 bytes, bool in,
			const struct fl_mr *buffer, u64 at)
{
	struct fl_populated t = { 0 };
	u32 done, n;
	int ret = 0;

	for (done = 0; !ret && done < bytes; done += n) {
		n = min3((u64)bytes - done,
			 PAGE_SIZE - ((va + done) & ~PAGE_MASK),
			 PAGE_SIZE - ((at + done) & ~PAGE_MASK));
		ret = fl_sink_copy_part(ctx, va + done, n, in, buffer, at + done);
	}
	/* The card finds them from now on; if it does not, there will be another call. */
	if (!ret)
		fl_populate(ctx, (struct fl_range){ va, va + bytes }, false, false,
			    &t);
	atomic64_inc(&ctx->resolves);
	trace_fl_resolve(ctx->dev, va, (bytes + FL_PAGE_SIZE - 1) >> FL_PAGE_SHIFT,
			 in, ret, 0, 0);
	return ret;
}

static bool fl_sink_inside(const struct fl_mr *mr, u64 va, u32 bytes)
{
	return va >= mr->addr && bytes <= mr->length &&
	       va - mr->addr <= mr->length - bytes;
}

int fl_sink_bounce(struct fl_ctx *ctx, const struct fl_bounce *a)
{
	bool in = a->flags & FL_BOUNCE_IN;
	struct fl_mr *mr, *buffer;
	int ret = -ENOENT;

	if (a->flags & ~FL_BOUNCE_IN || a->reserved || !a->bytes ||
	    a->bytes > FL_BOUNCE_BYTES || ctx->row.tables != FL_TABLES_SINK)
		return -EINVAL;
	if (!mmget_not_zero(ctx->mm))
		return -EFAULT;
	mutex_unlock(&ctx->lock);
	mutex_lock(&ctx->sink.serving);
	mr = fl_mr_of_key(ctx, a->key);
	buffer = fl_mr_of_key(ctx, a->buffer_key);
	if (mr && buffer && buffer->pages && (in || fl_mr_writes(buffer)) &&
	    fl_sink_inside(mr, a->addr, a->bytes) &&
	    fl_sink_inside(buffer, a->buffer, a->bytes))
		ret = fl_sink_copy(ctx, a->addr, a->bytes, in, buffer, a->buffer);
	mutex_unlock(&ctx->sink.serving);
	mmput(ctx->mm);
	mutex_lock(&ctx->lock);
	return ret;
}

/* ---- calls of peers ---- */

/* The card may be writing it just now. */
static noinline __no_kcsan u32 fl_sink_number(const struct fl_mr *ring)
{
	void *page = kmap_local_page(ring->pages[FL_RING_NUMBER >> PAGE_SHIFT]);
	u32 number;

	number = READ_ONCE(*(u32 *)(page + (FL_RING_NUMBER & ~PAGE_MASK)));
	kunmap_local(page);
	return number;
}

static u32 fl_sink_judge(struct fl_ctx *ctx, const struct fl_mr *ring,
			 const struct fl_ring_call *c)
{
	u32 right = c->write ? FL_ACC_REMOTE_WRITE : FL_ACC_REMOTE_READ;
	struct fl_mr *mr = fl_mr_of_key(ctx, c->key);

	if (!mr || mr->pd != ring->pd || !(mr->access & right) || !c->bytes ||
	    c->bytes > FL_BOUNCE_BYTES || !fl_sink_inside(mr, c->addr, c->bytes))
		return FL_ST_REMOTE_ACCESS;
	return FL_ST_OK;
}

static void fl_sink_serve(struct fl_ctx *ctx, struct fl_mr *ring, u32 number)
{
	struct fl_ring_answer answer = { .number = number };
	struct fl_ring_call call;

	ring->sunk.served = number;
	/* The card wrote the call, and then the number. */
	dma_rmb();
	fl_sink_move(ring, ring->addr + FL_RING_CALL, &call, sizeof(call), true);
	answer.status = fl_sink_judge(ctx, ring, &call);
	if (!answer.status &&
	    fl_sink_copy(ctx, call.addr, call.bytes, call.write, ring,
			 ring->addr + FL_RING_DATA))
		answer.status = FL_ST_REMOTE_FAULT;
	/* A reader of the number sees what was done before it. */
	dma_wmb();
	fl_sink_move(ring, ring->addr + FL_RING_ANSWER, &answer, sizeof(answer),
		     false);
}

/* A ring with a call that nobody has answered; sink.serving keeps it. */
static struct fl_mr *fl_sink_next(struct fl_ctx *ctx, u32 *number)
{
	struct fl_mr *mr, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&ctx->sink.lock, flags);
	list_for_each_entry(mr, &ctx->sink.regions, sunk.list) {
		if (!mr->sunk.ring)
			continue;
		*number = fl_sink_number(mr);
		if (*number == mr->sunk.served)
			continue;
		found = mr;
		break;
	}
	spin_unlock_irqrestore(&ctx->sink.lock, flags);
	return found;
}

static void fl_sink_work(struct work_struct *work)
{
	struct fl_ctx *ctx = container_of(work, struct fl_ctx, sink.work);
	struct fl_mr *ring;
	u32 number;

	if (!mmget_not_zero(ctx->mm))
		return;
	mutex_lock(&ctx->sink.serving);
	while (!READ_ONCE(ctx->dead) && (ring = fl_sink_next(ctx, &number)))
		fl_sink_serve(ctx, ring, number);
	mutex_unlock(&ctx->sink.serving);
	/* fl_request_resolve() says why not mmput(). */
	mmput_async(ctx->mm);
}

void fl_sink_bell(struct fl_ctx *ctx)
{
	if (READ_ONCE(ctx->sink.rings))
		queue_work(ctx->dev->wq, &ctx->sink.work);
}

void fl_sink_init(struct fl_ctx *ctx)
{
	spin_lock_init(&ctx->sink.lock);
	INIT_LIST_HEAD(&ctx->sink.regions);
	mutex_init(&ctx->sink.serving);
	INIT_WORK(&ctx->sink.work, fl_sink_work);
}

void fl_sink_end(struct fl_ctx *ctx)
{
	cancel_work_sync(&ctx->sink.work);
}
