// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of what the card has missed in its own tables.
 *
 * A report names the access that missed, by key and address, and often more: the request
 * that it belongs to, or how much the card would like to have around it. The page that was
 * missed must come, or the report is answered with an error. All else is advice: a request
 * is read from the queue, where the process may have changed it, so what it names is looked
 * up in the process's regions, and what is not there is left out.
 *
 * All that one report brings in enters the card's table with one change, and then the
 * report's token says that the card may go on. A token that is no longer alive changes
 * nothing there: the queue pair has ended, or its process has.
 */
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/interrupt.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fl_access.h"
#include "fl_plan.h"
#include "fl_tables.h"
#include "fl_trace.h"

/* As many as there can be tokens: four of each queue pair. */
#define FL_ODP_EVENTS	1024u
#define FL_ODP_RING	1024u	/* records; regs.def, FQ_SIZE */
/* Of one request (transport.h, FW_SEGMENTS_MAX), and of an entry. */
#define FL_ODP_SEGMENTS	12u
#define FL_ODP_PER_ENTRY 3u

struct fl_odp_event {
	struct work_struct work;
	struct list_head list;	/* that are free; irq_lock */
	struct fl_dev *dev;
	u64 owner;		/* id of the struct fl_ctx on the slot then */
	struct fl_fault_rec rec;
};

struct fl_odp {
	struct fl_fault_rec *ring;
	dma_addr_t dma;
	u32 cons;
	struct list_head free;	/* all below: irq_lock */
	bool starved;		/* reports wait in the ring for an event */
	struct fl_odp_event event[FL_ODP_EVENTS];
};

/* What one report is about, while it is resolved. */
struct fl_odp_need {
	const struct fl_fault_rec *rec;
	struct fl_nic_reach reach;
	struct fl_range r;	/* of the card's pages: without them it cannot go on */
	struct fl_bring bring;
};

/* ---- requests ---- */

struct fl_odp_request {
	u32 n;
	bool write;
	struct fl_odp_segment {
		u64 va;
		u32 bytes, key;
	} segment[FL_ODP_SEGMENTS];
};

static_assert(offsetof(struct fl_wqe_more, va1) - offsetof(struct fl_wqe_more, va0) ==
	      sizeof(struct fl_odp_segment));

/* The i-th of those in e; the process may be writing: each member is read once. */
static struct fl_odp_segment fl_odp_segment(const struct fl_wqe_more *e, u32 i)
{
	const struct fl_odp_segment *s = (const void *)&e->va0;

	return (struct fl_odp_segment){
		.va = READ_ONCE(s[i].va),
		.bytes = READ_ONCE(s[i].bytes),
		.key = READ_ONCE(s[i].key),
	};
}

/* They stand in the entries that continue the request. */
static void fl_odp_list(const struct fl_qp *qp, u16 index, u64 count,
			struct fl_odp_request *q)
{
	const struct fl_wqe_more *queue = qp->queue->cpu, *e;
	u32 i;

	if (count > FL_ODP_SEGMENTS)
		return;
	for (i = 0; i < count; i++) {
		e = queue + ((index + 1 + i / FL_ODP_PER_ENTRY) & (qp->entries - 1));
		if (READ_ONCE(e->opcode) != FL_OP_SEGMENTS)
			return;
		q->segment[q->n++] = fl_odp_segment(e, i % FL_ODP_PER_ENTRY);
	}
}

static void fl_odp_copy(const struct fl_qp *qp, u16 index, struct fl_odp_request *q)
{
	const struct fl_wqe *e = qp->queue->cpu;
	u8 opcode, flags;
	u64 va;

	if (!e)
		return;
	e += index & (qp->entries - 1);
	opcode = READ_ONCE(e->opcode);
	flags = READ_ONCE(e->flags);
	va = READ_ONCE(e->local_va);
	q->write = opcode != FL_OP_WRITE && opcode != FL_OP_SEND;
	if (flags & FL_WQE_INLINE)
		return;
	if (flags & FL_WQE_LIST) {
		fl_odp_list(qp, index, va, q);
		return;
	}
	q->segment[q->n++] = (struct fl_odp_segment){
		.va = va,
		.bytes = READ_ONCE(e->length),
		.key = READ_ONCE(e->lkey),
	};
}

static void fl_odp_read(struct fl_ctx *ctx, const struct fl_fault_rec *rec,
			struct fl_odp_request *q)
{
	struct fl_qp *qp;

	mutex_lock(&ctx->lock);
	qp = fl_qp_find(ctx, rec->qp);
	if (qp && !rec->side)
		fl_odp_copy(qp, rec->index, q);
	mutex_unlock(&ctx->lock);
}

/* What the request touches from the byte on that the card has missed. */
static void fl_odp_add_request(struct fl_ctx *ctx, struct fl_odp_need *need)
{
	const struct fl_fault_rec *rec = need->rec;
	struct fl_odp_request q = { 0 };
	struct fl_nic_reach reach;
	struct fl_odp_segment s;
	bool from = false;
	struct fl_range r;
	u32 i;

	fl_odp_read(ctx, rec, &q);
	for (i = 0; i < q.n; i++) {
		s = q.segment[i];
		if (!from && (s.key != rec->key || rec->va < s.va ||
			      rec->va - s.va >= s.bytes))
			continue;
		r.start = from ? s.va : rec->va + rec->len;
		r.end = s.va + s.bytes;
		from = true;
		if (r.start >= r.end ||
		    fl_nic_reach(ctx, s.key, r.start, r.end - r.start, q.write,
				 &reach))
			continue;
		fl_bring_add(&need->bring, &reach, r, q.write, FL_BRING_GUESS);
	}
}

/* ---- how much ---- */

static void fl_odp_add(struct fl_odp_need *need, u64 start, u64 end)
{
	struct fl_range r = { start, end };

	if (start < end)
		fl_bring_add(&need->bring, &need->reach, r, need->rec->write,
			     FL_BRING_GUESS);
}

/* The plan of the process, as for blocks (fl_populate.c). */
static void fl_odp_add_plan(struct fl_ctx *ctx, struct fl_odp_need *need)
{
	const struct fl_fault_rec *rec = need->rec;
	struct fl_plan_fault fault = { .block = need->r, .write = rec->write };
	struct fl_plan_bring bring;
	u64 end = rec->va + rec->len, left;
	u32 i;

	fault.first.start = need->r.start;
	fault.first.end = need->r.start + FL_PAGE_SIZE;
	if (!fl_range_make(need->reach.r.start,
			   need->reach.r.end - need->reach.r.start, &fault.region))
		return;
	left = min(rec->left, need->reach.r.end - end);
	fault.rest.start = need->r.end;
	fault.rest.end = max((end + left + FL_PAGE_SIZE - 1) &
				     ~(u64)(FL_PAGE_SIZE - 1), need->r.end);
	fl_plan_make(ctx, &fault, &bring);
	/* Of what the packet needs only the first page, with resolve=page. */
	need->bring.piece[0].r.end = min(need->r.end, bring.now.end);
	fl_odp_add(need, bring.now.start, need->r.start);
	fl_odp_add(need, need->r.end, bring.now.end);
	for (i = 0; i < bring.count; i++)
		fl_odp_add(need, bring.ahead[i].start, bring.ahead[i].end);
	if (!bring.rest)
		return;
	if (rec->kind == FL_FAULT_WQE)
		fl_odp_add_request(ctx, need);
	else
		fl_odp_add(need, fault.rest.start, fault.rest.end);
}

/* Before and after the page that was missed, as the card would have it. */
static void fl_odp_add_around(struct fl_odp_need *need)
{
	u64 before = (u64)need->rec->before << FL_PAGE_SHIFT;
	u64 after = (u64)need->rec->after << FL_PAGE_SHIFT;
	struct fl_range r = need->r;

	fl_odp_add(need, r.start - min(before, r.start), r.start);
	fl_odp_add(need, r.end, r.end + after);
}

static int fl_odp_bring(struct fl_ctx *ctx, struct fl_odp_need *need)
{
	const struct fl_fault_rec *rec = need->rec;
	struct fl_bring *b = &need->bring;
	int ret;

	ret = fl_nic_reach(ctx, rec->key, rec->va, rec->len, rec->write,
			   &need->reach);
	if (ret)
		return ret;
	if (!fl_range_make(rec->va, rec->len, &need->r))
		return -EFAULT;
	ret = fl_bring_begin(b, rec->xfer);
	if (ret)
		return ret;
	/* First: the others get what room is left. */
	if (fl_bring_add(b, &need->reach, need->r, rec->write, FL_BRING_NEED) !=
	    need->r.end - need->r.start)
		ret = -EFAULT;
	if (!ret && ctx->resolve != FL_IOC_RESOLVE_PAGE &&
	    rec->kind == FL_FAULT_MEMORY)
		fl_odp_add_around(need);
	if (!ret)
		fl_odp_add_plan(ctx, need);
	if (!ret)
		ret = fl_bring(ctx, b);
	fl_bring_end(b);
	return ret;
}

/* ---- one report ---- */

static int fl_odp_resolve(struct fl_dev *dev, struct fl_odp_event *e)
{
	struct fl_odp_need *need;
	struct fl_ctx *ctx;
	int ret = -ESRCH;

	/* 0: the slot was nobody's, or there is no such slot. */
	ctx = e->owner ? fl_ctx_get(dev, e->rec.slot, e->owner) : NULL;
	if (!ctx)
		return ret;
	need = kzalloc(sizeof(*need), GFP_KERNEL);
	if (!need) {
		ret = -ENOMEM;
	} else if (!READ_ONCE(ctx->dead) && mmget_not_zero(ctx->mm)) {
		need->rec = &e->rec;
		ret = fl_odp_bring(ctx, need);
		/* The copy holds the page itself, should it have left again. */
		if (e->rec.kind == FL_FAULT_DIVERT && (!ret || ret == -EAGAIN))
			ret = fl_divert_copy(ctx, &e->rec);
		/* fl_request_resolve() says why not mmput(). */
		mmput_async(ctx->mm);
	}
	kfree(need);
	if (ret && ret != -EAGAIN)
		atomic64_inc(&ctx->failed);
	fl_ctx_put(ctx);
	return ret;
}

/* Pages that leave faster than they come: the card misses them again, and reports that. */
static u32 fl_odp_code(const struct fl_fault_rec *rec, int ret)
{
	if (!ret || ret == -EAGAIN)
		return 0;
	return rec->side ? FL_ST_REMOTE_FAULT : FL_ST_LOCAL_FAULT;
}

static void fl_odp_enable(struct fl_dev *dev)
{
	fl_nic_write(dev, NIC_FW_BASE + NIC_FW_IRQ_ENABLE,
		     NIC_FW_IRQ_ENABLE_EVENT | NIC_FW_IRQ_ENABLE_FAULT);
}

static void fl_odp_free(struct fl_dev *dev, struct fl_odp_event *e)
{
	struct fl_odp *odp = dev->xp.odp;
	unsigned long flags;

	spin_lock_irqsave(&dev->irq_lock, flags);
	list_add_tail(&e->list, &odp->free);
	if (odp->starved && !READ_ONCE(dev->gone)) {
		odp->starved = false;
		fl_odp_enable(dev);
	}
	spin_unlock_irqrestore(&dev->irq_lock, flags);
}

static void fl_odp_work(struct work_struct *work)
{
	struct fl_odp_event *e = container_of(work, struct fl_odp_event, work);
	const struct fl_fault_rec *rec = &e->rec;
	struct fl_dev *dev = e->dev;
	u32 code;

	trace_fl_work(dev, rec->qp, rec->side, rec->va, rec->len, rec->xfer, 0);
	code = fl_odp_code(rec, fl_odp_resolve(dev, e));
	if (rec->kind == FL_FAULT_DIVERT) {
		trace_fl_token(dev, rec->token, code, rec->va, rec->xfer, 0);
		fl_xp_copied(dev, rec->token, code);
	} else if (rec->kind != FL_FAULT_MEMORY || rec->last) {
		/* Before the write: what happens next is its effect. */
		trace_fl_token(dev, rec->token, code, rec->va, rec->xfer, 0);
		fl_xp_resume(dev, rec->token, code);
	}
	fl_odp_free(dev, e);
}

/* ---- the top half ---- */

/* irq_lock is held. */
static struct fl_odp_event *fl_odp_take(struct fl_odp *odp)
{
	struct fl_fault_rec *next = &odp->ring[odp->cons % FL_ODP_RING];
	struct fl_odp_event *e;

	if (READ_ONCE(next->phase) != 1 + odp->cons / FL_ODP_RING)
		return NULL;
	if (list_empty(&odp->free)) {
		odp->starved = true;
		return NULL;
	}
	e = list_first_entry(&odp->free, struct fl_odp_event, list);
	list_del(&e->list);
	/* Pairs with the card's write of phase after the rest. */
	dma_rmb();
	e->rec = *next;
	odp->cons++;
	return e;
}

/* irq_lock is held. */
static void fl_odp_queue(struct fl_dev *dev, struct fl_odp_event *e)
{
	struct fl_ctx *ctx = NULL;

	if (e->rec.slot < FL_SLOTS)
		ctx = dev->slot[array_index_nospec(e->rec.slot, FL_SLOTS)];
	e->owner = 0;
	if (ctx) {
		e->owner = ctx->id;
		atomic64_inc(&ctx->faults);
		atomic64_inc(e->rec.write ? &ctx->faults_dst : &ctx->faults_src);
	}
	trace_fl_irq_odp(dev, e->rec.kind, e->rec.qp, e->rec.va, e->rec.token,
			 e->rec.xfer, 0);
	queue_work(dev->wq, &e->work);
}

bool fl_odp_irq(struct fl_dev *dev)
{
	struct fl_odp *odp = dev->xp.odp;
	struct fl_odp_event *e;
	unsigned long flags;
	bool some = false;

	if (!odp)
		return false;
	spin_lock_irqsave(&dev->irq_lock, flags);
	while ((e = fl_odp_take(odp))) {
		fl_odp_queue(dev, e);
		some = true;
	}
	if (some)
		fl_xp_taken(dev, odp->cons);
	/* The line is a level: while it stays up the interrupt would be raised again and again. */
	if (odp->starved) {
		fl_nic_write(dev, NIC_FW_BASE + NIC_FW_IRQ_ENABLE,
			     NIC_FW_IRQ_ENABLE_EVENT);
		some = true;
	}
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	return some;
}

/* ---- beginning and end ---- */

int fl_odp_start(struct fl_dev *dev)
{
	struct fl_odp *odp;
	u32 i;

	if (!dev->xp.objects)
		return 0;
	odp = kvmalloc_array(1, sizeof(*odp), GFP_KERNEL);
	if (!odp)
		return -ENOMEM;
	memset(odp, 0, sizeof(*odp));
	INIT_LIST_HEAD(&odp->free);
	for (i = 0; i < FL_ODP_EVENTS; i++) {
		odp->event[i].dev = dev;
		INIT_WORK(&odp->event[i].work, fl_odp_work);
		list_add_tail(&odp->event[i].list, &odp->free);
	}
	odp->ring = dma_alloc_coherent(dev->dev, FL_ODP_RING * sizeof(*odp->ring),
				       &odp->dma, GFP_KERNEL);
	if (!odp->ring) {
		kvfree(odp);
		return -ENOMEM;
	}
	dev->xp.odp = odp;
	fl_xp_ring(dev, odp->dma, FL_ODP_RING);
	return 0;
}

void fl_odp_clear(struct fl_dev *dev)
{
	if (dev->xp.odp)
		fl_xp_ring(dev, 0, 0);
}

void fl_odp_stop(struct fl_dev *dev)
{
	struct fl_odp *odp = dev->xp.odp;

	if (!odp)
		return;
	fl_odp_clear(dev);
	dev->xp.odp = NULL;
	/* A card that is only silent may write when it wakes up. */
	if (fl_card_dead(dev) && fl_card_silent(dev))
		dev_warn(dev->dev, "the reports' ring stays with the card\n");
	else
		dma_free_coherent(dev->dev, FL_ODP_RING * sizeof(*odp->ring),
				  odp->ring, odp->dma);
	kvfree(odp);
}
