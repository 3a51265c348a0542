// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registering a region pins its pages and enters them into tables of the driver's own; the
 * end of the region takes them out. The card finds these pages and no other: a fault is
 * an error that nobody cures.
 *
 * There is one entry for an address, and there may be several regions. Where they
 * overlap, the newest one counts, and a page that has had its frame replaced meanwhile
 * (munmap, mmap) is the new one for all of them.
 */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>

#include "fl_tables_own.h"

static int fl_inserted_bind(struct fl_ctx *ctx)
{
	return fl_own_bind(&ctx->inserted);
}

static void fl_inserted_unbind(struct fl_ctx *ctx)
{
	fl_own_unbind(&ctx->inserted);
}

static struct fl_range fl_inserted_range(const struct fl_mr *mr)
{
	struct fl_range r = { mr->addr, mr->addr + mr->length };

	return fl_range_pages(r);
}

/*
 * What the entry of va should be: the frame of the newest region there, and to be written
 * if one of those that have the same frame allows it.
 */
static u64 fl_inserted_wanted(struct fl_own *own, u64 va)
{
	bool some = false, write = false;
	phys_addr_t frame = 0, pa;
	struct fl_mr *mr;

	list_for_each_entry(mr, &own->regions, entered) {
		if (!fl_own_pinned(mr, va, &pa))
			continue;
		if (!some) {
			some = true;
			frame = pa;
		}
		write |= pa == frame && fl_mr_writes(mr);
	}
	return some ? fl_own_desc(frame, write) : 0;
}

/*
 * One way over r. stale: the TLB may know what has changed; again: what has other frames
 * now was only taken out.
 */
static int fl_inserted_pass(struct fl_own *own, struct fl_range r, bool *stale,
			    bool *again)
{
	struct fl_own_table *t;
	u64 va, want, have;
	unsigned int i;

	for (va = r.start; va < r.end; va += FL_PAGE_SIZE) {
		want = fl_inserted_wanted(own, va);
		t = fl_own_last(own, va, want);
		if (!t && want)
			return -ENOMEM;
		i = fl_own_index(va);
		have = t ? t->entry[i] : 0;
		if (want == have)
			continue;
		if (have && want && fl_own_differ(want, have)) {
			*again = true;
			want = 0;
		}
		if (have)
			*stale = true;
		fl_own_set(t, i, want);
	}
	return 0;
}

/* The entries of r are to be as the regions are. -ENOMEM: some are missing. */
static int fl_inserted_update(struct fl_own *own, struct fl_range r)
{
	bool stale = false, again = false;
	int ret;

	ret = fl_inserted_pass(own, r, &stale, &again);
	if (!ret && again) {
		fl_bank_invalidate(own->ctx, r, true, 0, 0);
		stale = false;
		ret = fl_inserted_pass(own, r, &stale, &again);
	}
	fl_own_forget(own, r, stale);
	return ret;
}

static int fl_inserted_enter(struct fl_own *own, struct fl_mr *mr)
{
	int ret = -ENODEV;

	mutex_lock(&own->lock);
	if (own->root) {
		list_add(&mr->entered, &own->regions);
		ret = fl_inserted_update(own, fl_inserted_range(mr));
	}
	mutex_unlock(&own->lock);
	return ret;
}

static void fl_inserted_region_del(struct fl_ctx *ctx, struct fl_mr *mr)
{
	struct fl_own *own = &ctx->inserted;

	mutex_lock(&own->lock);
	if (!list_empty(&mr->entered)) {
		list_del_init(&mr->entered);
		/* Needs no memory: what is entered now has its table. */
		fl_inserted_update(own, fl_inserted_range(mr));
	}
	mutex_unlock(&own->lock);
	fl_mr_unpin(ctx, mr);
}

static int fl_inserted_region_add(struct fl_ctx *ctx, struct fl_mr *mr,
				  struct fl_range r, bool pinned)
{
	int ret;

	ret = fl_mr_pin(ctx, mr, r);
	if (ret)
		return ret;
	ret = fl_inserted_enter(&ctx->inserted, mr);
	if (ret)
		fl_inserted_region_del(ctx, mr);
	return ret;
}

/* What was registered is there, and what was not will not come. */
static int fl_inserted_fill(struct fl_ctx *ctx, struct fl_range r, bool write,
			    struct fl_populated *t)
{
	struct fl_own *own = &ctx->inserted;
	enum fl_found found = FL_GRANTED;
	u64 va;

	mutex_lock(&own->lock);
	for (va = r.start; va < r.end && found == FL_GRANTED; va += PAGE_SIZE) {
		found = fl_own_look(own, va, write);
		if (found == FL_GRANTED)
			fl_populated_one(t, va, found);
	}
	mutex_unlock(&own->lock);
	return found == FL_GRANTED ? 0 : -EFAULT;
}

/* Nothing to tell: what is entered is pinned. */
static void fl_inserted_invalidate(struct fl_ctx *ctx, struct fl_range r,
				   bool leaf)
{
}

const struct fl_tables_ops fl_tables_inserted = {
	.bind = fl_inserted_bind,
	.unbind = fl_inserted_unbind,
	.region_add = fl_inserted_region_add,
	.region_del = fl_inserted_region_del,
	.fill = fl_inserted_fill,
	.invalidate = fl_inserted_invalidate,
};
