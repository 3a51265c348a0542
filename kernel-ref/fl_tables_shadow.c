// SPDX-License-Identifier: GPL-2.0-only
/*
 * A shadow of the process's tables in the card (NetVM). It is the card's own table of
 * fl_tables_nic.c, with entries of each region and the rights of that. What differs is when
 * a page comes there: not when the card has missed it, but when a region begins, all that is
 * present; and when the kernel maps a page. So the card misses what the process misses.
 *
 * Linux does not report the pages it maps. There the card learns of a page once data for it
 * have been redirected.
 */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>

#include "fl_tables.h"
#include "fl_tables_own.h"

int fl_shadow_begin(struct fl_ctx *ctx, const struct fl_nic_reach *reach)
{
	int ret;

	if (!mmget_not_zero(ctx->mm))
		return -EFAULT;
	ret = fl_bring_all(ctx, reach, reach->r, false, FL_BRING_PRESENT);
	mmput(ctx->mm);
	return ret;
}

static int fl_shadow_bind(struct fl_ctx *ctx)
{
	int ret = ctx->dev->xp.objects ? fl_own_bind(&ctx->shadowed) : -EOPNOTSUPP;

	if (ret)
		return ret;
	ret = fl_divert_start(ctx->dev);
	if (ret)
		fl_own_unbind(&ctx->shadowed);
	return ret;
}

static void fl_shadow_unbind(struct fl_ctx *ctx)
{
	fl_own_unbind(&ctx->shadowed);
}

/* A page that has come, or has more rights; nic.lock is held. */
static void fl_shadow_load(struct fl_ctx *ctx, struct fl_carded *c,
			   const struct fl_mr *mr, u64 va)
{
	struct fl_nic_load l = { .va = va, .count = 1 };
	phys_addr_t pa;
	u64 entry = 0;

	if (fl_mr_writes(mr) &&
	    fl_process_frame(ctx, va, true, &pa) == FL_GRANTED)
		entry = pa | FL_XP_VALID | FL_XP_WRITE;
	else if (fl_process_frame(ctx, va, false, &pa) == FL_GRANTED)
		entry = pa | FL_XP_VALID;
	if (!entry)
		return;
	l.entry = &entry;
	/* What cannot be loaded is missed, and redirected. */
	fl_nic_load_part(ctx, c, &l, 0, 1);
}

/* The kernel holds the lock of its tables, so nothing of r can go meanwhile. */
static void fl_shadow_mapped(struct fl_ctx *ctx, struct fl_range r)
{
	struct fl_carded *c;
	struct fl_mr *mr;
	u64 va, end;

	spin_lock(&ctx->nic.lock);
	list_for_each_entry(c, &ctx->nic.regions, list) {
		mr = container_of(c, struct fl_mr, carded);
		if (ctx->nic.closed || c->ending || mr->pages)
			continue;
		va = max(r.start, mr->addr & ~(u64)(FL_PAGE_SIZE - 1));
		end = min(r.end, mr->addr + mr->length);
		for (; va < end; va += FL_PAGE_SIZE)
			fl_shadow_load(ctx, c, mr, va);
	}
	spin_unlock(&ctx->nic.lock);
}

const struct fl_tables_ops fl_tables_shadow = {
	.carded = true,
	.whole = true,
	.bind = fl_shadow_bind,
	.unbind = fl_shadow_unbind,
	.region_add = fl_nic_region_add,
	.region_del = fl_nic_region_del,
	.fill = fl_populate_locked,
	.invalidate = fl_nic_invalidate,
	.mapped = fl_shadow_mapped,
};
