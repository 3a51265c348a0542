// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stall mode: the SMMU holds the access, the card's channel waits with it, and
 * RESUME lets it go on or ends it. There is no report of the engine then; what
 * is around the access comes from the data path's status registers.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/minmax.h>

#include "faultline/smmu_fsr.h"
#include "fl_access.h"
#include "fl_dev.h"
#include "fl_trace.h"

#define FL_RESUME_TRIES	16

/* regs.def: the read and the write channel have the same registers. */
struct fl_channel {
	u32 status, va, left, xfer_left;
};

static const struct fl_channel fl_channels[FL_SIDES] = {
	{ NIC_ENG_RD_STATUS, NIC_ENG_RD_VA, NIC_ENG_RD_LEFT,
	  NIC_ENG_RD_XFER_LEFT },
	{ NIC_ENG_WR_STATUS, NIC_ENG_WR_VA, NIC_ENG_WR_LEFT,
	  NIC_ENG_WR_XFER_LEFT },
};

/* Transfer and block numbers of a context, for traces. */
static void fl_stall_names(struct fl_dev *dev, u32 side, u32 index,
			   struct fl_fault_request *request)
{
	if (index >= dev->contexts[side])
		return;
	if (side) {
		request->xfer = fl_nic_read(dev, NIC_RXC_BASE(index) +
						      NIC_RXC_XFER);
		request->block = fl_nic_read(dev, NIC_RXC_BASE(index) +
						       NIC_RXC_BLOCK);
	} else {
		request->xfer = fl_nic_read(dev, NIC_CTX_BASE(index) +
						      NIC_CTX_XFER);
		request->block = fl_nic_read(dev, NIC_CTX_BASE(index) +
						       NIC_CTX_BLOCK);
	}
}

/*
 * What the stalled access needs. The channel stands still until RESUME, so its
 * registers are those of the access; unless it was another channel's.
 */
static u32 fl_stall_need(struct fl_ctx *ctx, const struct fl_stalled *stalled,
			 struct fl_fault_request *request)
{
	u32 side = stalled->fsynr0 & SMMU_CB_FSYNR0_WNR ? 1 : 0;
	const struct fl_channel *ch = &fl_channels[side];
	struct fl_dev *dev = ctx->dev;
	u32 status, index;
	u64 va;

	*request = (struct fl_fault_request){
		.va = stalled->far,
		.len = 1,
		.map = 1,
		.write = side,
	};
	/* tag::driver-22[] */
	status = fl_nic_read(dev, ch->status);
	va = fl_nic_read64(dev, ch->va);
	index = (status & NIC_ENG_RD_STATUS_INDEX_MASK) >>
		NIC_ENG_RD_STATUS_INDEX_SHIFT;
	if (!(status & NIC_ENG_RD_STATUS_STALLED) || va != stalled->far)
		return index;
	request->len = clamp_t(u32, fl_nic_read(dev, ch->left), 1,
			       dev->block_bytes);
	request->left = fl_nic_read64(dev, ch->xfer_left);
	/* end::driver-22[] */
	fl_stall_names(dev, side, index, request);
	return index;
}

/*
 * sources: smmu-faults, the order of MMU-500: FSR first, then RESUME, which is
 * ignored while a fault bit is set. An access of another channel may set
 * MULTI between the two: look, and try again.
 */
static void fl_stall_answer(struct fl_ctx *ctx, bool terminate)
{
	u32 value = terminate ? SMMU_CB_RESUME_TNR : 0, fsr;
	struct fl_dev *dev = ctx->dev;
	unsigned int tries = 0;

	/* First: the WRITE may end, and its process may look, while this goes on. */
	atomic64_inc(&ctx->stalls);
	/* tag::driver-23[] */
	do {
		fl_cb_write(dev, ctx->slot, SMMU_CB_FSR, SMMU_FSR_CLEAR);
		fl_cb_write(dev, ctx->slot, SMMU_CB_RESUME, value);
		fsr = fl_cb_read(dev, ctx->slot, SMMU_CB_FSR);
		/* SS with a kind of fault: the next one, for the top half. */
	} while (fsr & SMMU_CB_FSR_SS && !(fsr & SMMU_FSR_KINDS) &&
		 ++tries < FL_RESUME_TRIES);
	/* end::driver-23[] */
}

/* Cut off meanwhile, the access has been ended; no other one is stalled. */
static bool fl_stall_over(struct fl_ctx *ctx,
			  const struct fl_fault_request *request,
			  u32 index, int ret)
{
	if (ret)
		fl_fault_refused(ctx, request->write, index, request->xfer,
				 request->block);
	return READ_ONCE(ctx->lost);
}

void fl_stall_work(struct work_struct *work)
{
	struct fl_ctx *ctx = container_of(work, struct fl_ctx, stall_work);
	struct fl_dev *dev = ctx->dev;
	struct fl_fault_request request;
	struct fl_stalled stalled;
	unsigned long flags;
	u32 index;
	int ret;

	spin_lock_irqsave(&ctx->bank_lock, flags);
	stalled = ctx->stalled;
	spin_unlock_irqrestore(&ctx->bank_lock, flags);

	index = fl_stall_need(ctx, &stalled, &request);
	trace_fl_work(dev, index, request.write, request.va, request.len,
		      request.xfer, request.block);
	/* Sleeps; the notifier can run meanwhile: the access has no page. */
	ret = fl_request_resolve(ctx, &request);
	if (ret)
		atomic64_inc(&ctx->failed);
	if (fl_stall_over(ctx, &request, index, ret))
		return;
	/* Before the write: what happens next is its effect. */
	trace_fl_resume(dev, ctx->slot, ret, request.va, request.xfer,
			request.block);
	/* tag::driver-24[] */
	spin_lock_irqsave(&ctx->bank_lock, flags);
	fl_stall_answer(ctx, ret);
	ctx->sctlr |= SMMU_CB_SCTLR_CFIE;
	fl_cb_write(dev, ctx->slot, SMMU_CB_SCTLR, ctx->sctlr);
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	/* end::driver-24[] */
}

void fl_stall_cut(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	u32 fsr = fl_cb_read(dev, ctx->slot, SMMU_CB_FSR);

	if (fsr == FL_GONE || !(fsr & SMMU_CB_FSR_SS))
		return;
	trace_fl_resume(dev, ctx->slot, true, ctx->stalled.far, 0, 0);
	fl_stall_answer(ctx, true);
}

void fl_stall_end(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;

	spin_lock_irqsave(&ctx->bank_lock, flags);
	fl_stall_cut(ctx);
	ctx->sctlr |= SMMU_CB_SCTLR_CFIE;
	fl_cb_write(dev, ctx->slot, SMMU_CB_SCTLR, ctx->sctlr);
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
}
