// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables in the card: one for each region, loaded page by page when the card has missed one.
 *
 * The kernel changes the process's tables as it likes, and the card's know nothing of it.
 * So what has been loaded goes when the kernel takes a page away, and before it uses the
 * page otherwise. The order, on which all depends:
 *
 *	a page comes:	read the region's count of changes; ask the kernel for the page, which
 *			may sleep; look where it is; lock; has the count changed? then once
 *			more; load; unlock
 *	a page goes:	lock; count; zap; wait for accesses that are under way; unlock;
 *			only then does the kernel go on
 *
 * A page that went between the look and the lock has raised the count, and one that goes
 * after the load finds it loaded. So no access of the card uses a translation after the
 * notifier's call for its page has returned.
 *
 * Other drivers hold a mutex while they load (mlx5). This notifier runs under the lock of a
 * page table (fl_compat.h), so it is a spinlock here, and the card takes its orders from
 * registers (fl_xp.c).
 *
 * What is pinned was loaded when it was registered, and no notifier takes it away: as on
 * other cards the frame stays the region's, whatever the process maps there.
 */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fl_tables_own.h"
#include "fl_trace.h"

#define FL_NIC_LEAF_SHIFT	39
#define FL_NIC_FANOUT		512u

struct fl_nic_part {
	u64 first;		/* number of its first page */
	u32 pages, loaded;
	u64 word[];		/* a bit for each page that may be in the card's table */
};

static struct fl_mr *fl_nic_mr(struct fl_carded *c)
{
	return container_of(c, struct fl_mr, carded);
}

/* All below, down to the operations, with nic.lock. */

static struct fl_carded *fl_nic_by_id(struct fl_ctx *ctx, u64 id)
{
	struct fl_carded *c;

	list_for_each_entry(c, &ctx->nic.regions, list)
		if (c->id == id && !c->ending)
			return c;
	return NULL;
}

/* The card does not answer: what it may still do with old translations nobody knows. */
static void fl_nic_lost(struct fl_ctx *ctx)
{
	fl_bank_cut(ctx);
	atomic64_inc(&ctx->lost_syncs);
	dev_err_ratelimited(ctx->dev->dev,
			    "slot %u: the card's table does not answer; the process is cut off\n",
			    ctx->slot);
	trace_fl_cut_off(ctx->dev, ctx->slot, ctx->asid);
}

/* ---- what is loaded ---- */

static struct fl_nic_part **fl_nic_place(const struct fl_carded *c, u64 va)
{
	struct fl_nic_part **leaf = NULL;

	if (c->part)
		leaf = c->part[va >> FL_NIC_LEAF_SHIFT & (FL_NIC_FANOUT - 1)];
	return leaf ? &leaf[va >> FL_NIC_PART_SHIFT & (FL_NIC_FANOUT - 1)] : NULL;
}

static struct fl_nic_part *fl_nic_part(const struct fl_carded *c, u64 va)
{
	struct fl_nic_part **place = fl_nic_place(c, va);

	return place ? *place : NULL;
}

static void fl_nic_note(struct fl_nic_part *p, u64 page)
{
	u64 i = page - p->first, bit = 1ull << (i & 63);

	if (p->word[i >> 6] & bit)
		return;
	p->word[i >> 6] |= bit;
	p->loaded++;
}

/* Pages [from, to) of it are not loaded any more; *run is what holds all that were. */
static u32 fl_nic_forget(struct fl_nic_part *p, u64 from, u64 to,
			 struct fl_range *run)
{
	u64 i = max(from, p->first) - p->first;
	u64 end = min(to, p->first + p->pages) - p->first, bit;
	u32 n = 0;

	while (i < end) {
		if (!p->word[i >> 6]) {
			i = (i | 63) + 1;
			continue;
		}
		bit = 1ull << (i & 63);
		if (p->word[i >> 6] & bit) {
			p->word[i >> 6] &= ~bit;
			if (!n++)
				run->start = p->first + i;
			run->end = p->first + i + 1;
		}
		i++;
	}
	p->loaded -= n;
	return n;
}

/* What of r the region has loaded goes; the number of pages, or negative errno. */
static long fl_nic_zap(struct fl_ctx *ctx, struct fl_carded *c, struct fl_range r)
{
	u64 va, next, from, to;
	struct fl_nic_part *p;
	struct fl_range run;
	long n = 0;
	u32 some;
	int ret;

	for (va = r.start; va < r.end; va = next) {
		next = (va | (FL_NIC_PART_BYTES - 1)) + 1;
		p = fl_nic_part(c, va);
		if (!p) {
			/* Whole leaves are skipped: an implicit region is long. */
			if (!fl_nic_place(c, va))
				next = (va | ((1ull << FL_NIC_LEAF_SHIFT) - 1)) + 1;
			continue;
		}
		from = va >> FL_PAGE_SHIFT;
		to = (min(r.end, next) + FL_PAGE_SIZE - 1) >> FL_PAGE_SHIFT;
		some = p->loaded ? fl_nic_forget(p, from, to, &run) : 0;
		if (!some)
			continue;
		c->gone |= !p->loaded;
		ret = fl_xp_zap(ctx->dev, c->object, run.start, run.end - run.start);
		if (ret)
			return ret;
		n += some;
	}
	return n;
}

static struct fl_range fl_nic_range(struct fl_carded *c)
{
	const struct fl_mr *mr = fl_nic_mr(c);

	return (struct fl_range){ mr->addr & ~(u64)(FL_PAGE_SIZE - 1),
				  mr->addr + mr->length };
}

void fl_nic_invalidate(struct fl_ctx *ctx, struct fl_range r, bool leaf)
{
	struct fl_nic *nic = &ctx->nic;
	bool trim = false;
	struct fl_carded *c;
	long n = 0, zapped;
	struct fl_range part;

	/* An access flag was taken away, and these tables have none. */
	if (leaf)
		return;
	spin_lock(&nic->lock);
	list_for_each_entry(c, &nic->regions, list) {
		part = fl_nic_range(c);
		part.start = max(part.start, r.start);
		part.end = min(part.end, r.end);
		if (part.start >= part.end || fl_nic_mr(c)->pages)
			continue;
		c->changes++;
		zapped = fl_nic_zap(ctx, c, part);
		trim |= c->gone;
		n = zapped < 0 || n < 0 ? -EIO : n + zapped;
	}
	if (n < 0 || (n > 0 && fl_xp_sync(ctx->dev)))
		fl_nic_lost(ctx);
	/* A shadow keeps its places: pages come back there without a place being made. */
	if (trim && !nic->closed && !READ_ONCE(ctx->tables)->whole)
		queue_work(ctx->dev->wq, &nic->trim);
	spin_unlock(&nic->lock);
	if (n <= 0)
		return;
	atomic64_add(n, &nic->zapped);
	atomic64_inc(&ctx->invalidations);
	trace_fl_invalidate(ctx->dev, ctx->slot, r.start,
			    (r.end - r.start) >> FL_PAGE_SHIFT, 0, 0);
}

/* ---- loading ---- */

/* Pages within one part. */
int fl_nic_load_part(struct fl_ctx *ctx, struct fl_carded *c,
		     const struct fl_nic_load *l, u32 first, u32 n)
{
	u64 va = l->va + ((u64)first << FL_PAGE_SHIFT);
	struct fl_nic_part *p = fl_nic_part(c, va);
	u32 i, some = 0;
	int ret;

	if (!p)
		return -EAGAIN;	/* it was empty, and freed */
	/* Before it is there: what is noted is zapped. */
	for (i = 0; i < n; i++) {
		if (!l->entry[first + i])
			continue;
		fl_nic_note(p, (va >> FL_PAGE_SHIFT) + i);
		some++;
	}
	if (!some)
		return 0;
	ret = fl_xp_load(ctx->dev, c->object, va >> FL_PAGE_SHIFT,
			 l->entry + first, n);
	if (!ret)
		atomic64_add(some, &ctx->nic.loaded);
	trace_fl_load(ctx->dev, c->object, va, some, ret, l->xfer, 0);
	return ret;
}

/* Where the region's pinned pages are. */
static void fl_nic_look_pinned(const struct fl_mr *mr, const struct fl_nic_load *l)
{
	phys_addr_t pa;
	u32 i;

	for (i = 0; i < l->count; i++) {
		l->entry[i] = 0;
		if (fl_own_pinned(mr, l->va + ((u64)i << FL_PAGE_SHIFT), &pa))
			l->entry[i] = pa | FL_XP_VALID |
				      (fl_mr_writes(mr) ? FL_XP_WRITE : 0);
	}
}

/* Is one missing that the card must have? */
static bool fl_nic_holes(const struct fl_nic_load *l)
{
	u32 i;

	for (i = 0; i < l->need; i++)
		if (!l->entry[i])
			return true;
	return false;
}

int fl_nic_load(struct fl_ctx *ctx, const struct fl_nic_load *l)
{
	struct fl_carded *c = fl_nic_by_id(ctx, l->id);
	u64 va, left;
	u32 i, n;
	int ret;

	if (!c || ctx->nic.closed)
		return -ENOENT;
	if (fl_nic_mr(c)->pages)
		fl_nic_look_pinned(fl_nic_mr(c), l);
	else if (c->changes != l->changes)
		return -EAGAIN;
	if (fl_nic_holes(l))
		return -EAGAIN;
	for (i = 0; i < l->count; i += n) {
		va = l->va + ((u64)i << FL_PAGE_SHIFT);
		left = FL_NIC_PART_BYTES - (va & (FL_NIC_PART_BYTES - 1));
		n = min_t(u64, l->count - i, left >> FL_PAGE_SHIFT);
		ret = fl_nic_load_part(ctx, c, l, i, n);
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- nic.lock is not held, here and below ---- */

int fl_nic_changes(struct fl_ctx *ctx, u64 id, u64 *changes)
{
	struct fl_carded *c;

	spin_lock(&ctx->nic.lock);
	c = fl_nic_by_id(ctx, id);
	if (c)
		*changes = c->changes;
	spin_unlock(&ctx->nic.lock);
	return c ? 0 : -ENOENT;
}

int fl_nic_reach(struct fl_ctx *ctx, u32 key, u64 va, u64 len, bool write,
		 struct fl_nic_reach *reach)
{
	const struct fl_mr *mr;
	struct fl_carded *c;
	int ret = -ENOENT;

	spin_lock(&ctx->nic.lock);
	list_for_each_entry(c, &ctx->nic.regions, list) {
		mr = fl_nic_mr(c);
		if (mr->key != key || c->ending)
			continue;
		ret = -EFAULT;
		if (va < mr->addr || len > mr->length ||
		    va - mr->addr > mr->length - len)
			break;
		ret = write && !fl_mr_writes(mr) ? -EACCES : 0;
		reach->id = c->id;
		reach->key = key;
		reach->pd = mr->pd;
		reach->r = (struct fl_range){ mr->addr, mr->addr + mr->length };
		reach->writes = fl_mr_writes(mr);
		reach->pinned = mr->pages;
		break;
	}
	spin_unlock(&ctx->nic.lock);
	return ret;
}

/* Takes what it puts in its place out of *leaf and *part. */
static int fl_nic_part_put(struct fl_ctx *ctx, u64 id, u64 va,
			   struct fl_nic_part ***leaf, struct fl_nic_part **part)
{
	struct fl_carded *c = fl_nic_by_id(ctx, id);
	struct fl_nic_part ***at, **place;

	if (!c || ctx->nic.closed)
		return -ENOENT;
	at = &c->part[va >> FL_NIC_LEAF_SHIFT & (FL_NIC_FANOUT - 1)];
	if (!*at) {
		*at = *leaf;
		*leaf = NULL;
	}
	place = fl_nic_place(c, va);
	if (!*place) {
		*place = *part;
		*part = NULL;
	}
	return 0;
}

/* The pages of the region in the part of va. */
static int fl_nic_part_range(struct fl_ctx *ctx, u64 id, u64 va, struct fl_range *r)
{
	u64 start = va & ~(FL_NIC_PART_BYTES - 1);
	struct fl_carded *c;
	int ret = -ENOENT;

	spin_lock(&ctx->nic.lock);
	c = fl_nic_by_id(ctx, id);
	if (c) {
		*r = fl_nic_range(c);
		r->start = max(r->start, start);
		r->end = min(r->end, start + FL_NIC_PART_BYTES);
		ret = fl_nic_part(c, va) ? 1 : 0;
	}
	spin_unlock(&ctx->nic.lock);
	return ret;
}

int fl_nic_part_make(struct fl_ctx *ctx, u64 id, u64 va)
{
	struct fl_nic_part **leaf, *part;
	struct fl_range r;
	size_t bytes;
	u64 pages;
	int ret;

	ret = fl_nic_part_range(ctx, id, va, &r);
	if (ret)
		return min(ret, 0);
	pages = (r.end - r.start + FL_PAGE_SIZE - 1) >> FL_PAGE_SHIFT;
	leaf = kcalloc(FL_NIC_FANOUT, sizeof(*leaf), GFP_KERNEL_ACCOUNT);
	bytes = sizeof(*part) + (pages + 63) / 64 * sizeof(part->word[0]);
	part = kvmalloc_array(1, bytes, GFP_KERNEL_ACCOUNT);
	if (leaf && part) {
		memset(part, 0, bytes);
		part->first = r.start >> FL_PAGE_SHIFT;
		part->pages = pages;
		spin_lock(&ctx->nic.lock);
		ret = fl_nic_part_put(ctx, id, va, &leaf, &part);
		spin_unlock(&ctx->nic.lock);
	} else {
		ret = -ENOMEM;
	}
	kfree(leaf);
	kvfree(part);
	return ret;
}

/* ---- parts that are empty ---- */

/* One of them, which nobody finds any more; nic.lock is held. */
static struct fl_nic_part *fl_nic_part_take(struct fl_carded *c, bool empty)
{
	struct fl_nic_part **leaf, *p;
	u32 i, k;

	for (i = 0; c->part && i < FL_NIC_FANOUT; i++) {
		leaf = c->part[i];
		for (k = 0; leaf && k < FL_NIC_FANOUT; k++) {
			p = leaf[k];
			if (!p || (empty && p->loaded))
				continue;
			leaf[k] = NULL;
			return p;
		}
	}
	return NULL;
}

static struct fl_nic_part *fl_nic_part_empty(struct fl_ctx *ctx)
{
	struct fl_nic_part *p = NULL;
	struct fl_carded *c;

	spin_lock(&ctx->nic.lock);
	list_for_each_entry(c, &ctx->nic.regions, list) {
		if (!c->gone)
			continue;
		p = fl_nic_part_take(c, true);
		if (p)
			break;
		c->gone = false;
	}
	spin_unlock(&ctx->nic.lock);
	return p;
}

static void fl_nic_trim(struct work_struct *work)
{
	struct fl_ctx *ctx = container_of(work, struct fl_ctx, nic.trim);
	struct fl_nic_part *p;

	while ((p = fl_nic_part_empty(ctx)))
		kvfree(p);
}

/* ---- beginning and end ---- */

void fl_nic_init(struct fl_ctx *ctx)
{
	spin_lock_init(&ctx->nic.lock);
	mutex_init(&ctx->nic.copying);
	INIT_LIST_HEAD(&ctx->nic.regions);
	INIT_WORK(&ctx->nic.trim, fl_nic_trim);
}

/* The SMMU walks nothing: what the packet units do does not come there. */
static int fl_nic_bind(struct fl_ctx *ctx)
{
	return ctx->dev->xp.objects ? fl_own_bind(&ctx->carded) : -EOPNOTSUPP;
}

static void fl_nic_unbind(struct fl_ctx *ctx)
{
	fl_own_unbind(&ctx->carded);
}

int fl_nic_region_add(struct fl_ctx *ctx, struct fl_mr *mr, struct fl_range r,
		      bool pinned)
{
	mr->carded.part = kcalloc(FL_NIC_FANOUT, sizeof(*mr->carded.part),
				  GFP_KERNEL_ACCOUNT);
	if (!mr->carded.part)
		return -ENOMEM;
	if (!pinned)
		return 0;
	return fl_mr_pin(ctx, mr, r);
}

/* nic.lock is held. */
static void fl_nic_empty(struct fl_ctx *ctx, struct fl_carded *c)
{
	if (c->ending)
		return;
	c->ending = true;
	if (fl_xp_zap_all(ctx->dev, c->object) || fl_xp_sync(ctx->dev))
		fl_nic_lost(ctx);
}

/*
 * While the firmware still has the region: its number, and with it the table, may be
 * another one's as soon as it has not.
 */
void fl_nic_region_end(struct fl_ctx *ctx, struct fl_mr *mr)
{
	if (!fl_tables_carded(ctx->tables))
		return;
	spin_lock(&ctx->nic.lock);
	fl_nic_empty(ctx, &mr->carded);
	spin_unlock(&ctx->nic.lock);
}

void fl_nic_settle(struct fl_ctx *ctx)
{
	mutex_lock(&ctx->nic.copying);
	mutex_unlock(&ctx->nic.copying);
}

void fl_nic_region_del(struct fl_ctx *ctx, struct fl_mr *mr)
{
	struct fl_carded *c = &mr->carded;
	struct fl_nic_part *p;
	u32 i;

	spin_lock(&ctx->nic.lock);
	list_del_init(&c->list);
	spin_unlock(&ctx->nic.lock);
	fl_nic_settle(ctx);
	while ((p = fl_nic_part_take(c, false)))
		kvfree(p);
	for (i = 0; c->part && i < FL_NIC_FANOUT; i++)
		kfree(c->part[i]);
	kfree(c->part);
	c->part = NULL;
	fl_mr_unpin(ctx, mr);
}

void fl_nic_region_begin(struct fl_ctx *ctx, struct fl_mr *mr,
			 struct fl_nic_reach *reach)
{
	struct fl_carded *c = &mr->carded;

	spin_lock(&ctx->nic.lock);
	c->ending = false;
	c->object = mr->key & (ctx->dev->xp.objects - 1);
	if (!c->id) {
		c->id = ++ctx->nic.ids;
		list_add_tail(&c->list, &ctx->nic.regions);
	}
	*reach = (struct fl_nic_reach){
		.id = c->id,
		.key = mr->key,
		.pd = mr->pd,
		.r = { mr->addr, mr->addr + mr->length },
		.writes = fl_mr_writes(mr),
		.pinned = mr->pages,
	};
	spin_unlock(&ctx->nic.lock);
}

void fl_nic_close(struct fl_ctx *ctx)
{
	struct fl_carded *c;

	spin_lock(&ctx->nic.lock);
	ctx->nic.closed = true;
	list_for_each_entry(c, &ctx->nic.regions, list)
		fl_nic_empty(ctx, c);
	spin_unlock(&ctx->nic.lock);
}

void fl_nic_end(struct fl_ctx *ctx)
{
	cancel_work_sync(&ctx->nic.trim);
}

const struct fl_tables_ops fl_tables_nic = {
	.carded = true,
	.bind = fl_nic_bind,
	.unbind = fl_nic_unbind,
	.region_add = fl_nic_region_add,
	.region_del = fl_nic_region_del,
	.fill = fl_populate_locked,
	.invalidate = fl_nic_invalidate,
};
