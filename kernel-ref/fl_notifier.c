// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel does to the page tables of a process, told to the SMMU.
 *
 * Called with the page tables changed and before the pages are used for
 * something else; when a call returns, no access of the card uses an old
 * translation. Nothing here may sleep.
 */
#include <linux/mmu_notifier.h>

#include "fl_compat.h"
#include "fl_tables.h"

static void fl_notifier_invalidate(struct mmu_notifier *mn,
				   struct mm_struct *mm, unsigned long start,
				   unsigned long end)
{
	struct fl_ctx *ctx = container_of(mn, struct fl_ctx, notifier);
	struct fl_range r = { .start = start, .end = end };

	/* tag::invalidate-3[] */
	/* All levels: the caller may have freed tables, and does not say. */
	if (start < end)
		READ_ONCE(ctx->tables)->invalidate(ctx, r, false);
	/* end::invalidate-3[] */
}

/*
 * The kernel has taken access flags away, to see which pages are in use. The
 * flags are in the tables that the card walks, so it has none of its own to
 * tell of: 0. But what is in the TLB is used without the table, and the kernel
 * would take a page for idle that only the card uses. Without the entry the
 * next access faults, and the fault sets the flag. This holds for clear_young
 * too, which need not invalidate elsewhere. test_young is left out: the kernel
 * has just looked at the flag itself.
 */
static int fl_notifier_aged(struct mmu_notifier *mn, struct mm_struct *mm,
			    unsigned long start, unsigned long end)
{
	struct fl_ctx *ctx = container_of(mn, struct fl_ctx, notifier);
	struct fl_range r = { .start = start, .end = end };

	READ_ONCE(ctx->tables)->invalidate(ctx, r, true);
	return 0;
}

/* The address space ends; its tables are freed when this returns. */
static void fl_notifier_release(struct mmu_notifier *mn, struct mm_struct *mm)
{
	struct fl_ctx *ctx = container_of(mn, struct fl_ctx, notifier);

	/* tag::invalidate-5[] */
	fl_bank_block(ctx);
	/* end::invalidate-5[] */
	fl_nic_close(ctx);
	fl_ctx_owner_gone(ctx);
}

#ifdef SHIM_NOTIFIER_MAPPED
/*
 * A page has come, or may be written. Linux has no such call: there a shadow of the tables
 * gets what is missing at the first redirect.
 */
static void fl_notifier_mapped(struct mmu_notifier *mn, struct mm_struct *mm,
			       unsigned long start, unsigned long end)
{
	struct fl_ctx *ctx = container_of(mn, struct fl_ctx, notifier);
	const struct fl_tables_ops *tables = READ_ONCE(ctx->tables);
	struct fl_range r = { .start = start, .end = end };

	if (tables->mapped)
		tables->mapped(ctx, r);
}

static bool fl_notifier_hears(struct mmu_notifier *mn)
{
	struct fl_ctx *ctx = container_of(mn, struct fl_ctx, notifier);

	return READ_ONCE(ctx->tables)->mapped;
}
#endif

const struct mmu_notifier_ops fl_notifier_ops = {
	.release = fl_notifier_release,
	.fl_notifier_op_invalidate = fl_notifier_invalidate,
	.clear_flush_young = fl_notifier_aged,
	.clear_young = fl_notifier_aged,
#ifdef SHIM_NOTIFIER_MAPPED
	.mapped = fl_notifier_mapped,
	.hears = fl_notifier_hears,
#endif
};
