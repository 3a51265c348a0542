// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device faults: two top halves and a worker.
 *
 * A refused access shows up twice. The SMMU's bank describes it (one fault a
 * bank; later ones only set MULTI), and the engine queues a report for the
 * block, which cannot get lost: the block's context waits for READY. So the
 * report drives the repair, and the bank is read to be cleared, to learn about
 * faults that no page cures, and, when it holds the access, to answer it
 * (fl_stall.c).
 */
#include <linux/errno.h>
#include <linux/interrupt.h>

#include "faultline/errata.h"
#include "faultline/smmu_fsr.h"
#include "fl_access.h"
#include "fl_dev.h"
#include "fl_trace.h"

#define FL_BANK_GLOBAL	0xffu	/* in traces */

static void fl_fault_global(struct fl_dev *dev, u32 gfsr)
{
	dev_err_ratelimited(dev->dev,
			    "SMMU global fault 0x%x: stream 0x%x va 0x%llx\n",
			    gfsr,
			    fl_smmu_read(dev, SMMU_GR0_GFSYNR1) &
				    SMMU_GR0_GFSYNR1_STREAMID_MASK,
			    fl_smmu_read64(dev, SMMU_GR0_GFAR));
	fl_smmu_write(dev, SMMU_GR0_GFSR, gfsr);
	trace_fl_spurious(dev, FL_BANK_GLOBAL, gfsr);
}

/* The bank holds an access of nobody: end it. */
static void fl_fault_nobody(struct fl_dev *dev, unsigned int bank, u32 fsr)
{
	if (fsr & SMMU_CB_FSR_SS)
		fl_cb_write(dev, bank, SMMU_CB_RESUME, SMMU_CB_RESUME_TNR);
	trace_fl_spurious(dev, bank, fsr);
}

/*
 * Bank lock is held, FSR has been cleared. sources: smmu-faults: SS alone keeps the
 * line up until RESUME, which the worker writes much later; so the bank's
 * interrupt goes off until then.
 */
static void fl_fault_stalled(struct fl_ctx *ctx, u64 far, u32 fsynr0)
{
	/* tag::driver-9[] */
	ctx->sctlr &= ~SMMU_CB_SCTLR_CFIE;
	fl_cb_write(ctx->dev, ctx->slot, SMMU_CB_SCTLR, ctx->sctlr);
	ctx->stalled.far = far;
	ctx->stalled.fsynr0 = fsynr0;
	if (ctx->draining)
		return;		/* fl_stall_end() will answer */
	/* end::driver-9[] */
	atomic64_inc(&ctx->faults);
	atomic64_inc(fsynr0 & SMMU_CB_FSYNR0_WNR ? &ctx->faults_dst :
						   &ctx->faults_src);
	queue_work(ctx->dev->wq, &ctx->stall_work);
}

/* Does the bank say anything? ctx as below. */
static bool fl_fault_due(u32 fsr, const struct fl_ctx *ctx)
{
	/* tag::driver-7[] */
	if (fsr & SMMU_FSR_FAULTS)
		return true;
	/* SS alone, with the interrupt off: a worker is at it. */
	return fsr & SMMU_CB_FSR_SS &&
	       (!ctx || ctx->sctlr & SMMU_CB_SCTLR_CFIE);
	/* end::driver-7[] */
}

/* ctx: whose bank it is, with its bank_lock held; or NULL */
static bool fl_fault_read(struct fl_dev *dev, unsigned int bank,
			  struct fl_ctx *ctx)
{
	u32 fsr = fl_cb_read(dev, bank, SMMU_CB_FSR), fsynr0, who;
	u64 far;

	if (!fl_fault_due(fsr, ctx))
		return false;
	/* tag::driver-8[] */
	/* All that describes the fault, before clearing frees the latch. */
	far = fl_cb_read64(dev, bank, SMMU_CB_FAR);
	fsynr0 = fl_cb_read(dev, bank, SMMU_CB_FSYNR0);
	who = fl_smmu_read(dev, SMMU_GR1_BASE + SMMU_GR1_CBFRSYNRA(bank)) &
	      SMMU_GR1_CBFRSYNRA_STREAMID_MASK;
	fl_cb_write(dev, bank, SMMU_CB_FSR, fsr);
	/* end::driver-8[] */
	trace_fl_irq_smmu(dev, bank, fsr, far, fsynr0);
	if (!ctx || ctx->stream != who) {
		fl_fault_nobody(dev, bank, fsr);
		return true;
	}
	/* MULTI does not tell what else there was: it may have been a bell. */
	fl_sink_bell(ctx);
	if (fsr & SMMU_FSR_HARD) {
		ctx->hard.valid = true;
		ctx->hard.page = far & ~(u64)(FL_PAGE_SIZE - 1);
	}
	if (fsr & SMMU_CB_FSR_SS && ctx->sctlr & SMMU_CB_SCTLR_CFIE)
		fl_fault_stalled(ctx, far, fsynr0);
	return true;
}

/*
 * One bank. irq_lock is taken, so that the process cannot leave its slot. What the
 * bank says and whether a worker is at it must be of one moment: the worker
 * writes RESUME and turns CFIE on under the same lock, and an old SS with a new
 * CFIE would be taken for another stalled access.
 */
static bool fl_fault_bank(struct fl_dev *dev, unsigned int bank)
{
	struct fl_ctx *ctx;
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&dev->irq_lock, flags);
	ctx = dev->slot[bank];
	if (ctx) {
		spin_lock(&ctx->bank_lock);
		found = fl_fault_read(dev, bank, ctx);
		spin_unlock(&ctx->bank_lock);
	} else {
		found = fl_fault_read(dev, bank, NULL);
	}
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	return found;
}

/*
 * All banks and the global part share one line. Reading a
 * register takes as long as many instructions, so the banks of processes are read first, and
 * all of them only if none of these has anything to say.
 */
irqreturn_t fl_irq_smmu(int irq, void *arg)
{
	struct fl_dev *dev = arg;
	irqreturn_t ret = IRQ_NONE;
	bool all = false;
	unsigned int i;
	u32 gfsr;

	gfsr = fl_smmu_read(dev, SMMU_GR0_GFSR);
	if (gfsr == FL_GONE)
		return IRQ_NONE;
	if (gfsr) {
		fl_fault_global(dev, gfsr);
		ret = IRQ_HANDLED;
	}
	do {
		for (i = 0; i < SMMU_CB_COUNT; i++)
			if ((all || READ_ONCE(dev->slot[i])) &&
			    fl_fault_bank(dev, i))
				ret = IRQ_HANDLED;
		all = !all;
	} while (all && ret == IRQ_NONE);
	return ret;
}

/* ---- the engine's reports ---- */

static u32 fl_ref_index(u32 ref)
{
	return (ref & NIC_ENG_FLT_REF_INDEX_MASK) >>
	       NIC_ENG_FLT_REF_INDEX_SHIFT;
}

static u32 fl_ref_side(u32 ref)
{
	return !!(ref & NIC_ENG_FLT_REF_SIDE);
}

/* What READY is to be told for this report. */
static u32 fl_fault_answer(u32 ref, u32 code)
{
	/* tag::driver-5[] */
	/* regs.def: index, side and serial stand where FLT_REF has them. */
	u32 same = NIC_ENG_READY_INDEX_MASK | NIC_ENG_READY_SIDE |
		   NIC_ENG_READY_SERIAL_MASK;

	return (ref & same) | code << NIC_ENG_READY_CODE_SHIFT;
	/* end::driver-5[] */
}

static void fl_fault_ready(struct fl_dev *dev, const struct fl_fault_event *ev,
			   u32 code)
{
	/* Before the write: what happens next is its effect. */
	trace_fl_ready(dev, fl_ref_index(ev->ref), fl_ref_side(ev->ref), code,
		       ev->xfer, ev->block);
	fl_nic_write(dev, NIC_ENG_READY,
		     fl_errata_ready(fl_fault_answer(ev->ref, code)));
}

/* The status that the transport gives its user. */
static u32 fl_fault_code(u32 ref)
{
	return fl_ref_side(ref) ? FL_ST_REMOTE_FAULT : FL_ST_LOCAL_FAULT;
}

void fl_fault_refused(struct fl_ctx *ctx, u32 side, u32 index, u32 xfer,
		      u32 block)
{
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;

	if (index >= FL_CONTEXTS)
		return;
	spin_lock_irqsave(&dev->irq_lock, flags);
	dev->work[side][index].refused = (struct fl_refused){
		.owner = ctx->id,
		.xfer = xfer,
		.block = block,
	};
	spin_unlock_irqrestore(&dev->irq_lock, flags);
}

/*
 * irq_lock is held. A stalled access was counted when it was stalled, and if it was
 * refused in the end there is a report as of any other. The mode does not tell
 * these apart: it may have changed since.
 */
static bool fl_fault_counted(struct fl_fault_work *work, struct fl_ctx *ctx,
			     const struct fl_fault_event *ev)
{
	struct fl_refused r = work->refused;

	if (r.owner != ctx->id || r.xfer != ev->xfer || r.block != ev->block)
		return false;
	work->refused.owner = 0;
	return true;
}

static void fl_fault_count(struct fl_ctx *ctx, u32 ref)
{
	atomic64_inc(&ctx->faults);
	atomic64_inc(fl_ref_side(ref) ? &ctx->faults_dst : &ctx->faults_src);
}

/* Take the head of the fault queue; false: it is empty. */
static bool fl_fault_take(struct fl_dev *dev, struct fl_fault_event *ev,
			  u32 *stream)
{
	/* tag::driver-1[] */
	ev->ref = fl_nic_read(dev, NIC_ENG_FLT_REF);
	if (!(ev->ref & NIC_ENG_FLT_REF_VALID))
		return false;
	*stream = fl_nic_read(dev, NIC_ENG_FLT_STREAM);
	ev->va = fl_nic_read64(dev, NIC_ENG_FLT_VA);
	ev->len = fl_errata_len(fl_nic_read(dev, NIC_ENG_FLT_LEN));
	ev->map = fl_nic_read(dev, NIC_ENG_FLT_MAP);
	ev->left = fl_nic_read64(dev, NIC_ENG_FLT_LEFT);
	ev->xfer = fl_nic_read(dev, NIC_ENG_FLT_XFER);
	ev->block = fl_nic_read(dev, NIC_ENG_FLT_BLOCK);
	fl_nic_write(dev, NIC_ENG_FLT_POP, fl_errata_pop());
	/* end::driver-1[] */
	trace_fl_irq_fault(dev, fl_ref_index(ev->ref), fl_ref_side(ev->ref),
			   ev->va, ev->map, ev->xfer, ev->block);
	return true;
}

/*
 * The process that the stream belongs to now, or NULL; irq_lock is held. Streams
 * take turns on a slot (FL_STREAM_TURNS), so that an access of its last owner is
 * not taken for one of the next.
 */
static struct fl_ctx *fl_fault_owner(struct fl_dev *dev,
				     struct fl_fault_event *ev, u32 stream)
{
	/* tag::driver-2[] */
	struct fl_ctx *ctx;

	if (stream < dev->stream_base)
		return NULL;
	ev->slot = (stream - dev->stream_base) % FL_SLOTS;
	ctx = dev->slot[ev->slot];
	return ctx && ctx->stream == stream ? ctx : NULL;
	/* end::driver-2[] */
}

static bool fl_fault_stuck(const struct fl_ctx *ctx,
			   const struct fl_fault_event *ev)
{
	return ev->va < ctx->stuck.end && ev->va + ev->len > ctx->stuck.start;
}

/*
 * System abort: is the block answered before a worker has seen to its pages? Not where
 * they could not be had the last time: then the worker answers, and says why. irq_lock is
 * held.
 */
static void fl_fault_judge(const struct fl_ctx *ctx, struct fl_fault_event *ev)
{
	bool aborts = fl_ref_side(ev->ref) && READ_ONCE(ctx->aborting);

	ev->stuck = aborts && fl_fault_stuck(ctx, ev);
	ev->answered = aborts && !ev->stuck;
}

/*
 * Pages that were to come behind an answer could not be had, or have been had now. Until
 * then all such blocks are remembered, in one range: the next attempt of a request of many
 * may bring another of them first, whose answer would end it before the true reason does.
 */
static void fl_fault_behind(struct fl_dev *dev, const struct fl_fault_event *ev,
			    bool failed)
{
	struct fl_range r = { ev->va, ev->va + ev->len };
	struct fl_ctx *ctx;
	unsigned long flags;

	spin_lock_irqsave(&dev->irq_lock, flags);
	ctx = dev->slot[ev->slot];
	if (ctx && ctx->id == ev->owner) {
		if (ctx->stuck.end) {
			r.start = min(r.start, ctx->stuck.start);
			r.end = max(r.end, ctx->stuck.end);
		}
		ctx->stuck = failed ? r : (struct fl_range){ 0 };
	}
	spin_unlock_irqrestore(&dev->irq_lock, flags);
}

/* Give the report to a worker; false: no such process (any more). */
static bool fl_fault_queue(struct fl_dev *dev, struct fl_fault_event *ev,
			   u32 stream)
{
	u32 index = fl_ref_index(ev->ref), side = fl_ref_side(ev->ref);
	struct fl_fault_work *work;
	struct fl_ctx *ctx;
	unsigned long flags;

	if (index >= FL_CONTEXTS)
		return false;
	work = &dev->work[side][index];
	spin_lock_irqsave(&dev->irq_lock, flags);
	ctx = fl_fault_owner(dev, ev, stream);
	if (ctx) {
		ev->counted = fl_fault_counted(work, ctx, ev);
		fl_fault_judge(ctx, ev);
		/* tag::driver-3[] */
		ev->owner = ctx->id;
		work->event = *ev;
		work->waiting = true;
		/* end::driver-3[] */
		if (!ev->counted)
			fl_fault_count(ctx, ev->ref);
		queue_work(dev->wq, &work->work);
	}
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	return ctx;
}

irqreturn_t fl_irq_fault(int irq, void *arg)
{
	struct fl_fault_event ev = { 0 };
	struct fl_dev *dev = arg;
	irqreturn_t ret = IRQ_NONE;
	unsigned int i;
	u32 stream;

	/* The book quotes this: tag::reports[] */
	/* Not for ever: the line is a level and will call again. */
	for (i = 0; i < FL_SIDES * FL_CONTEXTS; i++) {
		if (!fl_fault_take(dev, &ev, &stream))
			break;
		ret = IRQ_HANDLED;
		if (fl_fault_queue(dev, &ev, stream)) {
			if (ev.answered)
				fl_fault_ready(dev, &ev, FL_ST_FAULT_FAST);
			continue;
		}
		trace_fl_spurious(dev, FL_BANK_GLOBAL, 0);
		fl_fault_ready(dev, &ev, fl_fault_code(ev.ref));
	}
	/* end::reports[] */
	return ret;
}

static int fl_fault_resolve(struct fl_dev *dev,
			    const struct fl_fault_event *ev)
{
	struct fl_fault_request request = {
		.va = ev->va,
		.len = ev->len,
		.left = ev->left,
		.map = ev->map,
		.write = ev->ref & NIC_ENG_FLT_REF_WRITE,
		.xfer = ev->xfer,
		.block = ev->block,
	};
	struct fl_ctx *ctx;
	int ret;

	/* tag::driver-6[] */
	ctx = fl_ctx_get(dev, ev->slot, ev->owner);
	if (!ctx)
		return -ESRCH;
	ret = fl_request_resolve(ctx, &request);
	/* A stalled access that was refused in the end failed then. */
	if (ret && !ev->counted)
		atomic64_inc(&ctx->failed);
	fl_ctx_put(ctx);
	/* end::driver-6[] */
	return ret;
}

static void fl_fault_work(struct work_struct *work)
{
	struct fl_fault_work *w =
		container_of(work, struct fl_fault_work, work);
	struct fl_dev *dev = w->dev;
	struct fl_fault_event ev;
	unsigned long flags;
	bool waiting;
	int ret;

	/* tag::driver-4[] */
	spin_lock_irqsave(&dev->irq_lock, flags);
	ev = w->event;
	waiting = w->waiting;
	w->waiting = false;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	if (!waiting)
		return;
	/* end::driver-4[] */
	trace_fl_work(dev, fl_ref_index(ev.ref), fl_ref_side(ev.ref), ev.va,
		      ev.len, ev.xfer, ev.block);
	ret = fl_fault_resolve(dev, &ev);
	if (ev.stuck || (ev.answered && ret))
		fl_fault_behind(dev, &ev, ret);
	if (!ev.answered)
		fl_fault_ready(dev, &ev, ret ? fl_fault_code(ev.ref) : 0);
}

void fl_fault_init(struct fl_dev *dev)
{
	unsigned int side, i;

	for (side = 0; side < FL_SIDES; side++)
		for (i = 0; i < FL_CONTEXTS; i++) {
			dev->work[side][i].dev = dev;
			INIT_WORK(&dev->work[side][i].work, fl_fault_work);
		}
}
