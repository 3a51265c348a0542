// SPDX-License-Identifier: GPL-2.0-only
/* Pages of a region that stay, and how many of them a process may have. */
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "fl_compat.h"
#include "fl_dev.h"
#include "fl_tables.h"

#define FL_PIN_CHUNK	512	/* pages with the mmap lock held */

static long fl_pin(struct mm_struct *mm, u64 va, unsigned long npages,
		   bool write, struct page **pages)
{
	long n;

	mmap_read_lock(mm);
	n = fl_pin_pages(mm, va, npages, write, pages);
	mmap_read_unlock(mm);
	return n;
}

/* What the process that has opened the file may pin; called by it. */
static u64 fl_pin_limit(struct fl_ctx *ctx)
{
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	WRITE_ONCE(ctx->pin_limit, limit);
	return limit;
}

void fl_pin_init(struct fl_ctx *ctx)
{
	fl_pin_limit(ctx);
	ctx->pin_free = capable(CAP_IPC_LOCK);
}

/* A worker has limits and rights of its own: those that the process had last hold. */
static bool fl_pin_allowed(struct fl_ctx *ctx, u64 pinned)
{
	if (current->mm != ctx->mm)
		return pinned <= READ_ONCE(ctx->pin_limit) || ctx->pin_free;
	return pinned <= fl_pin_limit(ctx) || capable(CAP_IPC_LOCK);
}

/*
 * Count first and look then: a process has other files, and other drivers, that
 * pin for it at the same time.
 */
int fl_pin_reserve(struct fl_ctx *ctx, u64 npages)
{
	u64 file, all;

	if (npages > FL_PIN_PAGES_MAX)
		return -EDQUOT;
	file = atomic64_add_return(npages, &ctx->pinned);
	all = atomic64_add_return(npages, &ctx->mm->pinned_vm);
	if (file <= FL_PIN_PAGES_MAX && fl_pin_allowed(ctx, all))
		return 0;
	fl_pin_give_back(ctx, npages);
	return -EDQUOT;
}

void fl_pin_give_back(struct fl_ctx *ctx, u64 npages)
{
	atomic64_sub(npages, &ctx->mm->pinned_vm);
	atomic64_sub(npages, &ctx->pinned);
}

/* So many have been pinned; they were all reserved. */
static void fl_mr_give_back(struct fl_ctx *ctx, struct fl_mr *mr,
			    unsigned long done)
{
	unpin_user_pages_dirty_lock(mr->pages, done, fl_mr_writes(mr));
	kvfree(mr->pages);
	mr->pages = NULL;
	fl_pin_give_back(ctx, mr->npages);
}

static int fl_mr_pin_all(struct fl_ctx *ctx, struct fl_mr *mr,
			 struct fl_range r, unsigned long *done)
{
	bool write = fl_mr_writes(mr);
	long n;

	while (*done < mr->npages) {
		n = fl_pin(ctx->mm, r.start + (u64)*done * PAGE_SIZE,
			   min(mr->npages - *done, (unsigned long)FL_PIN_CHUNK),
			   write, mr->pages + *done);
		if (n <= 0)
			return n ? n : -EFAULT;
		*done += n;
		cond_resched();
	}
	return 0;
}

/* This takes as long as there are pages. */
int fl_mr_pin(struct fl_ctx *ctx, struct fl_mr *mr, struct fl_range r)
{
	unsigned long done = 0;
	int ret;

	r = fl_range_pages(r);
	mr->npages = (r.end - r.start) >> PAGE_SHIFT;
	ret = fl_pin_reserve(ctx, mr->npages);
	if (ret)
		return ret;
	mr->pages = kvmalloc_array(mr->npages, sizeof(*mr->pages),
				   GFP_KERNEL_ACCOUNT);
	if (!mr->pages) {
		fl_pin_give_back(ctx, mr->npages);
		return -ENOMEM;
	}
	ret = fl_mr_pin_all(ctx, mr, r, &done);
	if (ret)
		fl_mr_give_back(ctx, mr, done);
	return ret;
}

void fl_mr_unpin(struct fl_ctx *ctx, struct fl_mr *mr)
{
	if (mr->pages)
		fl_mr_give_back(ctx, mr, mr->npages);
}
