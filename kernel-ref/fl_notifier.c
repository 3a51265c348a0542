// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel does to the page tables of a process, told to the SMMU.
 *
 * Called with the page tables changed and before the pages are used for
 * something else; when a call returns, no access of the card uses an old
 * translation. Nothing here may sleep.
 */
#include <linux/mmu_notifier.h>
#include <linux/version.h>

#include "fl_access.h"
#include "fl_dev.h"
#include "fl_trace.h"

/*
 * Each page costs a register write; from here on it is cheaper to drop what
 * the process has in the TLB (512 entries) and let it be walked again.
 */
#define FL_TLBI_PAGES_MAX	64

static void fl_notifier_invalidate(struct mmu_notifier *mn,
				   struct mm_struct *mm, unsigned long start,
				   unsigned long end)
{
	struct fl_ctx *ctx = container_of(mn, struct fl_ctx, notifier);
	u64 asid = (u64)ctx->asid << SMMU_CB_TLBIVA_ASID_SHIFT;
	struct fl_dev *dev = ctx->dev;
	u64 page, first = start >> FL_PAGE_SHIFT;
	u64 last = ((u64)end - 1) >> FL_PAGE_SHIFT;
	unsigned long flags;
	int ret;

	if (start >= end)
		return;
	spin_lock_irqsave(&ctx->bank_lock, flags);
	/*
	 * All levels, not TLBIVAL: the caller may have freed page tables, and
	 * does not say. The register write is ordered after the stores to the
	 * tables (writel), as the walker must see them.
	 */
	if (last - first < FL_TLBI_PAGES_MAX)
		for (page = first; page <= last; page++)
			fl_cb_write64(dev, ctx->slot, SMMU_CB_TLBIVA,
				      asid | (page & SMMU_CB_TLBIVA_VPN_MASK));
	else
		fl_cb_write(dev, ctx->slot, SMMU_CB_TLBIASID, ctx->asid);
	ret = fl_bank_sync(ctx);
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	if (ret)
		dev_err_ratelimited(dev->dev, "bank %u: no TLB sync\n",
				    ctx->slot);
	atomic64_inc(&ctx->invalidations);
	trace_fl_invalidate(ctx->slot, first << FL_PAGE_SHIFT,
			    last - first + 1);
}

/* The address space ends; its tables are freed when this returns. */
static void fl_notifier_release(struct mmu_notifier *mn, struct mm_struct *mm)
{
	struct fl_ctx *ctx = container_of(mn, struct fl_ctx, notifier);

	fl_bank_block(ctx);
}

const struct mmu_notifier_ops fl_notifier_ops = {
	.release = fl_notifier_release,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	.arch_invalidate_secondary_tlbs = fl_notifier_invalidate,
#else
	.invalidate_range = fl_notifier_invalidate,
#endif
};
