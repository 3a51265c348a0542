// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process's own page tables: the card finds what the CPU finds.
 *
 * The kernel enters pages and takes them away, for the CPU and the card at once. So
 * there is nothing to enter here, and what goes must go from the SMMU's TLB before it is
 * used otherwise. A pin keeps a frame, and not its entry.
 */
#include <linux/mm.h>

#include "fl_tables.h"

static int fl_process_bind(struct fl_ctx *ctx)
{
	ctx->root = virt_to_phys(ctx->mm->pgd);
	return 0;
}

static void fl_process_unbind(struct fl_ctx *ctx)
{
}

static int fl_process_region_add(struct fl_ctx *ctx, struct fl_mr *mr,
				 struct fl_range r, bool pinned)
{
	int ret;

	if (!pinned)
		return 0;
	ret = fl_mr_pin(ctx, mr, r);
	/* What the TLB knows of another region there may say read-only. */
	if (!ret && fl_mr_writes(mr))
		fl_bank_invalidate(ctx, fl_range_pages(r), true, 0, 0);
	return ret;
}

static void fl_process_region_del(struct fl_ctx *ctx, struct fl_mr *mr)
{
	fl_mr_unpin(ctx, mr);
}

static void fl_process_invalidate(struct fl_ctx *ctx, struct fl_range r,
				  bool leaf)
{
	fl_bank_invalidate(ctx, r, leaf, 0, 0);
}

const struct fl_tables_ops fl_tables_process = {
	.bind = fl_process_bind,
	.unbind = fl_process_unbind,
	.region_add = fl_process_region_add,
	.region_del = fl_process_region_del,
	.fill = fl_populate_locked,
	.invalidate = fl_process_invalidate,
};
