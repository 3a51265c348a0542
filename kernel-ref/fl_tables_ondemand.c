// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page is pinned, and entered into tables of the driver's own, when the card misses it.
 * There it stays for as long as the process is on the card. The driver of PULP's HERO
 * platform does so on the same chip: one fault a page in all its life, and memory that
 * only grows.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <asm/pgtable-hwdef.h>

#include "fl_compat.h"
#include "fl_tables_own.h"

/* Entries of one page of the kernel's. */
#define FL_ONDEMAND_ENTRIES	(PAGE_SIZE / FL_PAGE_SIZE)

static int fl_ondemand_bind(struct fl_ctx *ctx)
{
	return fl_own_bind(&ctx->ondemand);
}

static void fl_ondemand_unbind(struct fl_ctx *ctx)
{
	fl_own_unbind(&ctx->ondemand);
}

/* The kernel's page at va is aligned, so its entries lie in one table. */
static void fl_ondemand_set(struct fl_own_table *t, u64 va, u64 desc)
{
	unsigned int first = fl_own_index(va), i;

	for (i = 0; i < FL_ONDEMAND_ENTRIES; i++)
		fl_own_set(t, first + i, desc ? desc + i * FL_PAGE_SIZE : 0);
}

/*
 * own->lock is held: enter the page that is pinned now. *page becomes the one whose pin
 * is not needed (any more), or NULL.
 */
static int fl_ondemand_enter(struct fl_own *own, u64 va, bool write,
			     struct page **page)
{
	u64 desc = fl_own_desc(page_to_phys(*page), write), have;
	struct fl_own_table *t = fl_own_last(own, va, true);
	struct fl_range r = { va, va + PAGE_SIZE };
	unsigned int i = fl_own_index(va);
	struct page *old;

	if (!t) {
		/* Tables on the way to it, which are empty. */
		fl_own_forget(own, r, false);
		return -ENOMEM;
	}
	old = t->behind[i];
	have = t->entry[i];
	/* Another worker was faster, and has entered no less than this. */
	if (old && !(have & PTE_RDONLY))
		return 0;
	if (old && fl_own_differ(have, desc)) {
		fl_ondemand_set(t, va, 0);
		fl_bank_invalidate(own->ctx, r, true, 0, 0);
	}
	fl_ondemand_set(t, va, desc);
	/* What the TLB knows of it may say read-only. */
	if (old)
		fl_bank_invalidate(own->ctx, r, true, 0, 0);
	t->behind[i] = *page;
	*page = old;
	return 0;
}

/* Pin a page and enter it. The mmap lock is held; -EDQUOT: it may not have more. */
static int fl_ondemand_page(struct fl_ctx *ctx, u64 va, bool write)
{
	struct fl_own *own = &ctx->ondemand;
	struct page *page;
	int ret;
	long n;

	ret = fl_pin_reserve(ctx, 1);
	if (ret) {
		dev_err_ratelimited(ctx->dev->dev,
				    "bank %u: a page is missing, and the process may pin no more\n",
				    ctx->slot);
		return ret;
	}
	n = fl_pin_pages(ctx->mm, va, 1, write, &page);
	if (n != 1) {
		fl_pin_give_back(ctx, 1);
		return n < 0 ? n : -EFAULT;
	}
	mutex_lock(&own->lock);
	ret = own->root ? fl_ondemand_enter(own, va, write, &page) : -ESRCH;
	mutex_unlock(&own->lock);
	if (page) {
		unpin_user_pages_dirty_lock(&page, 1, write);
		fl_pin_give_back(ctx, 1);
	}
	return ret;
}

static enum fl_found fl_ondemand_look(struct fl_own *own, u64 va, bool write)
{
	enum fl_found found;

	mutex_lock(&own->lock);
	found = fl_own_look(own, va, write);
	mutex_unlock(&own->lock);
	return found;
}

static int fl_ondemand_fill(struct fl_ctx *ctx, struct fl_range r, bool write,
			    struct fl_populated *t)
{
	struct vm_area_struct *vma = NULL;
	enum fl_found found;
	u64 va, before;
	int ret;

	for (va = r.start; va < r.end; va += PAGE_SIZE) {
		if (!vma || va >= vma->vm_end)
			vma = vma_lookup(ctx->mm, va);
		ret = fl_populate_allowed(ctx->mm, vma, write);
		if (ret)
			return ret;
		found = fl_ondemand_look(&ctx->ondemand, va, write);
		/* It stays, so at once for all that the process may do with it. */
		if (found != FL_GRANTED)
			ret = fl_ondemand_page(ctx, va,
					       vma->vm_flags & VM_WRITE);
		if (ret)
			return ret;
		before = t->pages_in;
		fl_populated_one(t, va, found);
		atomic64_add(t->pages_in - before, &ctx->pages_in);
	}
	return 0;
}

/* Pinned beforehand is missed beforehand: it is the tables that keep the pages. */
static int fl_ondemand_region_add(struct fl_ctx *ctx, struct fl_mr *mr,
				  struct fl_range r, bool pinned)
{
	struct fl_populated t = { 0 };

	return pinned ? fl_populate(ctx, r, fl_mr_writes(mr), false, &t) : 0;
}

static void fl_ondemand_region_del(struct fl_ctx *ctx, struct fl_mr *mr)
{
}

/* Nothing to tell: what is entered is pinned. */
static void fl_ondemand_invalidate(struct fl_ctx *ctx, struct fl_range r,
				   bool leaf)
{
}

const struct fl_tables_ops fl_tables_ondemand = {
	.bind = fl_ondemand_bind,
	.unbind = fl_ondemand_unbind,
	.region_add = fl_ondemand_region_add,
	.region_del = fl_ondemand_region_del,
	.fill = fl_ondemand_fill,
	.invalidate = fl_ondemand_invalidate,
};
