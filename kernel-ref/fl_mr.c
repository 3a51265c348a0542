// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions: what a process lets the card reach, on demand or pinned.
 *
 * A region is a promise about addresses, not about pages: one that is not
 * pinned may cover what is not there, or not even mapped yet.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "faultline/bounce.h"
#include "faultline/system.h"
#include "fl_access.h"
#include "fl_tables.h"
#include "fl_trace.h"

#define FL_ACC_ALL	(FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE | \
			 FL_ACC_REMOTE_READ | FL_ACC_REMOTE_ATOMIC)

/*
 * Does what is mapped in the range allow it? Holes are an error for pinning
 * only. Rights may change later; the fault worker looks again.
 */
static int fl_mr_check(struct mm_struct *mm, struct fl_range r, bool write,
		       bool whole)
{
	struct vm_area_struct *vma;
	int ret = 0;
	u64 va;

	mmap_read_lock(mm);
	for (va = r.start; va < r.end; va = vma->vm_end) {
		vma = find_vma(mm, va);
		if (!vma || vma->vm_start >= r.end) {
			ret = whole ? -EFAULT : 0;
			break;
		}
		if (whole && vma->vm_start > va) {
			ret = -EFAULT;
			break;
		}
		if (write && !(vma->vm_flags & VM_WRITE)) {
			ret = -EACCES;
			break;
		}
	}
	mmap_read_unlock(mm);
	return ret;
}

static int fl_mr_create(struct fl_ctx *ctx, struct fl_mr *mr)
{
	struct fl_fw_cmd cmd = {
		.opcode = FL_CMD_MR_CREATE,
		.flags = mr->access,
		.a = mr->addr,
		.b = mr->length,
		.c = mr->pd,
	};
	unsigned long flags;
	u64 key;
	int ret;

	ret = fl_cmd(ctx, &cmd, &key);
	if (ret)
		return ret;
	mr->key = key;
	spin_lock_irqsave(&ctx->list_lock, flags);
	list_add_tail(&mr->list, &ctx->mrs);
	spin_unlock_irqrestore(&ctx->list_lock, flags);
	ctx->nmr++;
	trace_fl_mr(ctx->dev, mr->key, mr->addr, mr->length, mr->pages);
	return 0;
}

/* Is there room for one more, and a domain for it? ctx->lock is held. */
static int fl_mr_room(struct fl_ctx *ctx, u32 pd)
{
	if (!fl_pd_find(ctx, pd))
		return -ENOENT;
	return ctx->nmr < ctx->dev->max_mr ? 0 : -ENOSPC;
}

/* ctx->lock is not held. */
static int fl_mr_prepare(struct fl_ctx *ctx, struct fl_mr *mr,
			 struct fl_range r, bool pinned)
{
	int ret;

	/* Before it is looked at: that takes as long as there are mappings. */
	if (pinned && (r.end - r.start) >> PAGE_SHIFT > FL_PIN_PAGES_MAX)
		return -EDQUOT;
	/* An implicit region is all that there is, and all that will be. */
	ret = mr->implicit ? 0 : fl_mr_check(ctx->mm, r, fl_mr_writes(mr), pinned);
	return ret ? ret : ctx->tables->region_add(ctx, mr, r, pinned);
}

/*
 * ctx->lock is given back meanwhile: what was true before may not be now, but for the
 * tables, which do not change while a region begins or ends.
 */
static int fl_mr_make(struct fl_ctx *ctx, struct fl_mr *mr, struct fl_range r,
		      bool pinned)
{
	int ret;

	ctx->nmr_moving++;
	mutex_unlock(&ctx->lock);
	ret = fl_mr_prepare(ctx, mr, r, pinned);
	mutex_lock(&ctx->lock);
	ctx->nmr_moving--;
	if (ret)
		return ret;
	if (fl_ctx_over(ctx))
		ret = -ENODEV;
	else
		ret = fl_mr_room(ctx, mr->pd);
	if (!ret)
		ret = fl_mr_create(ctx, mr);
	if (ret)
		ctx->tables->region_del(ctx, mr);
	return ret;
}

/* May it have words, or be a ring? The driver writes where the card may. */
static bool fl_mr_sunk_allowed(struct fl_ctx *ctx, const struct fl_reg_mr *a,
			       bool pinned)
{
	bool ring = a->flags & FL_MR_RING;

	if (!a->words && !ring)
		return true;
	if (ctx->row.tables != FL_TABLES_SINK)
		return false;
	return !ring || (pinned && !a->words && a->addr % PAGE_SIZE == 0 &&
			 a->length == FL_RING_BYTES && a->access & FL_ACC_WRITES);
}

static bool fl_mr_implicit(const struct fl_reg_mr *a)
{
	return !a->addr && a->length == FL_MR_ALL;
}

/* The pages of the region, if there can be one. */
static bool fl_mr_range(struct fl_ctx *ctx, const struct fl_reg_mr *a, bool pinned,
			struct fl_range *r)
{
	u64 end = 1ull << (64 - ctx->t0sz);

	if (fl_mr_implicit(a)) {
		*r = (struct fl_range){ 0, end };
		return ctx->row.tables == FL_TABLES_NIC && !pinned;
	}
	return fl_range_make(a->addr, a->length, r) && r->end <= end;
}

/* Into the card's own tables, as much of it as is to be there from the beginning. */
static int fl_mr_load(struct fl_ctx *ctx, struct fl_mr *mr)
{
	struct fl_nic_reach reach;
	int ret;

	if (!fl_tables_carded(ctx->tables))
		return 0;
	fl_nic_region_begin(ctx, mr, &reach);
	if (!reach.pinned && !ctx->tables->whole)
		return 0;
	ctx->nmr_moving++;
	mutex_unlock(&ctx->lock);
	/* What is pinned is loaded now: the card never misses it. */
	ret = reach.pinned ? fl_bring_all(ctx, &reach, reach.r, false, FL_BRING_NEED) :
			     fl_shadow_begin(ctx, &reach);
	mutex_lock(&ctx->lock);
	ctx->nmr_moving--;
	return ret;
}

int fl_mr_reg(struct fl_ctx *ctx, struct fl_reg_mr *a)
{
	bool pinned = a->flags & FL_MR_PINNED ||
		      ctx->row.before == FL_BEFORE_PIN ||
		      ctx->row.before == FL_BEFORE_CACHE;
	struct fl_range r;
	struct fl_mr *mr;
	int ret;

	if (a->access & ~FL_ACC_ALL ||
	    a->flags & ~(FL_MR_PINNED | FL_MR_RING) || a->reserved ||
	    !fl_mr_range(ctx, a, pinned, &r))
		return -EINVAL;
	if (!fl_mr_sunk_allowed(ctx, a, pinned))
		return -EINVAL;
	ret = fl_mr_room(ctx, a->pd);
	if (ret)
		return ret;
	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return -ENOMEM;
	INIT_LIST_HEAD(&mr->entered);
	INIT_LIST_HEAD(&mr->carded.list);
	mr->access = a->access;
	mr->implicit = fl_mr_implicit(a);
	mr->addr = a->addr;
	mr->length = mr->implicit ? r.end : a->length;
	mr->pd = a->pd;
	mr->sunk.at = a->words;
	mr->sunk.ring = a->flags & FL_MR_RING;
	INIT_LIST_HEAD(&mr->sunk.list);
	ret = fl_mr_make(ctx, mr, r, pinned);
	if (ret) {
		kfree(mr);
		return ret;
	}
	a->key = mr->key;
	ret = fl_mr_load(ctx, mr);
	/* With the lock given back, it may have gone already. */
	if (ret)
		fl_mr_dereg(ctx, a->key);
	return ret;
}

/* Nobody finds it any more. */
static void fl_mr_remove(struct fl_ctx *ctx, struct fl_mr *mr)
{
	unsigned long flags;

	spin_lock_irqsave(&ctx->list_lock, flags);
	list_del(&mr->list);
	spin_unlock_irqrestore(&ctx->list_lock, flags);
	ctx->nmr--;
}

/* The firmware has let go: no access to its pages is under way. */
static void fl_mr_free(struct fl_ctx *ctx, struct fl_mr *mr)
{
	trace_fl_mr_gone(ctx->dev, mr->key);
	kfree(mr);
}

int fl_mr_dereg(struct fl_ctx *ctx, u32 key)
{
	struct fl_mr *mr = fl_mr_by_key(ctx, key);
	int ret;

	if (!mr)
		return -ENOENT;
	if (READ_ONCE(mr->sunk.users))
		return -EBUSY;
	fl_nic_region_end(ctx, mr);
	ret = fl_cmd_object(ctx, FL_CMD_MR_DESTROY, key);
	if (ret) {
		fl_mr_load(ctx, mr);
		return ret;
	}
	fl_mr_remove(ctx, mr);
	/* As long as there are pages, too. */
	ctx->nmr_moving++;
	mutex_unlock(&ctx->lock);
	ctx->tables->region_del(ctx, mr);
	mutex_lock(&ctx->lock);
	ctx->nmr_moving--;
	fl_mr_free(ctx, mr);
	return 0;
}

void fl_mr_free_all(struct fl_ctx *ctx)
{
	struct fl_mr *mr;

	/* The newest first: words of a region are in an older one. */
	while (!list_empty(&ctx->mrs)) {
		mr = list_last_entry(&ctx->mrs, struct fl_mr, list);
		fl_mr_remove(ctx, mr);
		ctx->tables->region_del(ctx, mr);
		fl_mr_free(ctx, mr);
	}
}

/*
 * ctx->lock is held, and given back while the kernel is asked: that takes as long
 * as there are pages, and needs nothing but the address space. Should the region
 * go meanwhile, pages that were promised come in all the same.
 */
int fl_mr_prefetch(struct fl_ctx *ctx, const struct fl_prefetch *a)
{
	bool write = a->flags & FL_PREFETCH_WRITE;
	struct fl_fault_request request = { .write = write };
	struct fl_populated t = { 0 };
	bool carded = fl_tables_carded(ctx->tables);
	struct fl_nic_reach reach;
	struct fl_range r;
	struct fl_mr *mr;
	int ret = 0;

	if (a->flags & ~FL_PREFETCH_WRITE || a->reserved ||
	    !fl_range_make(a->addr, a->length, &r))
		return -EINVAL;
	mr = fl_mr_by_key(ctx, a->key);
	if (!mr)
		return -ENOENT;
	if (a->addr < mr->addr || a->length > mr->length ||
	    a->addr - mr->addr > mr->length - a->length)
		return -EINVAL;
	if (write && !(fl_mr_writes(mr)))
		return -EACCES;
	if (carded)
		ret = fl_nic_reach(ctx, a->key, a->addr, a->length, write, &reach);
	if (ret)
		return ret;
	if (!mmget_not_zero(ctx->mm))
		return -EFAULT;
	mutex_unlock(&ctx->lock);
	if (carded)
		ret = reach.pinned ? 0 : fl_bring_all(ctx, &reach, r, write,
						      FL_BRING_NEED);
	else
		ret = fl_populate(ctx, r, write, false, &t);
	fl_populated_forget(ctx, &t, &request);
	mmput(ctx->mm);
	mutex_lock(&ctx->lock);
	if (carded)
		return ret;
	atomic64_inc(&ctx->resolves);
	trace_fl_resolve(ctx->dev, r.start, (r.end - r.start) >> FL_PAGE_SHIFT,
			 write, ret, 0, 0);
	return ret;
}
