// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables in which every page of a region has an entry, always: a page that the process has
 * leads to its frame, and one that is absent leads to a page of a fixed pattern. The card
 * misses nothing, and nobody is told of anything. What was written to an absent page has
 * vanished, and who wrote it must find out from the region's words (bounce.h).
 *
 * One descriptor serves reads and writes. Were the page behind it writable, what one peer
 * writes there could be read by another, or be sent on by the process itself. So it is
 * read-only, and the bank ignores writes that are refused (SCTLR.CFRE = 0, fl_bank.c).
 *
 * Nothing is pinned. The kernel tells when a page goes, and then the entry leads to
 * the pattern before the frame is used otherwise. It does not tell when a page comes: that
 * happens when software asks for it (fill). The order, on which all depends:
 *
 *	a page goes:	word odd; entry empty; TLB; entry to the pattern
 *	a page comes:	entry empty; TLB; entry to the frame; word even
 */
#include <linux/dmapool.h>
#include <linux/errno.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/pgtable-hwdef.h>

#include "faultline/bounce.h"
#include "fl_tables_own.h"

/* Not a valid descriptor, and no text. */
#define FL_SINK_PATTERN		0xa6
/* How often a page may leave between coming in and being entered. */
#define FL_SINK_TRIES		8

/* ---- words; sink.lock is held ---- */

static struct fl_range fl_sink_range(const struct fl_mr *mr)
{
	struct fl_range r = { mr->addr, mr->addr + mr->length };

	return fl_range_pages(r);
}

/* Words begin with the card's page that holds the first byte. */
static u64 fl_sink_first(const struct fl_mr *mr)
{
	return mr->addr & ~(u64)(FL_PAGE_SIZE - 1);
}

static u64 fl_sink_count(const struct fl_mr *mr)
{
	return (mr->addr + mr->length - fl_sink_first(mr) + FL_PAGE_SIZE - 1) >>
	       FL_PAGE_SHIFT;
}

/* The card reads words at any time. */
static noinline __no_kcsan void fl_sink_store(const struct fl_mr *mr, u64 i)
{
	const struct fl_mr *words = mr->sunk.words;
	u64 at = mr->sunk.at + i * sizeof(u32) - (words->addr & PAGE_MASK);
	void *page = kmap_local_page(words->pages[at >> PAGE_SHIFT]);

	WRITE_ONCE(*(u32 *)(page + (at & ~PAGE_MASK)), mr->sunk.version[i]);
	kunmap_local(page);
}

/* The word of va becomes even (there), or odd, if it is not. */
static void fl_sink_tell(const struct fl_mr *mr, u64 va, bool there)
{
	u64 first = fl_sink_first(mr), i = (va - first) >> FL_PAGE_SHIFT;
	u32 *version = mr->sunk.version;

	if (!version || va < first || i >= fl_sink_count(mr))
		return;
	if (there != (version[i] & 1))
		return;
	version[i]++;
	if (!version[i])
		version[i] = 2;
	fl_sink_store(mr, i);
}

/* Does an entry let the card do there all that the region allows? */
static bool fl_sink_serves(const struct fl_mr *mr, u64 desc)
{
	return !fl_mr_writes(mr) || !(desc & PTE_RDONLY);
}

static void fl_sink_tell_all(struct fl_ctx *ctx, u64 va, u64 desc)
{
	struct fl_mr *mr;

	list_for_each_entry(mr, &ctx->sink.regions, sunk.list)
		fl_sink_tell(mr, va, desc && fl_sink_serves(mr, desc));
}

/* ---- entries; sink.lock is held ---- */

static u64 fl_sink_absent(struct fl_ctx *ctx)
{
	return fl_own_desc(ctx->sink.poison_dma, false);
}

static bool fl_sink_leads(struct fl_ctx *ctx, u64 desc)
{
	return desc && desc != fl_sink_absent(ctx);
}

/* The newest of the regions that have pinned va, or 0; and is a bell there? */
static u64 fl_sink_pinned(struct fl_ctx *ctx, u64 va)
{
	struct fl_mr *mr;
	phys_addr_t pa;

	list_for_each_entry(mr, &ctx->sink.regions, sunk.list) {
		if (!fl_own_pinned(mr, va, &pa))
			continue;
		if (mr->sunk.ring && va == mr->addr + FL_RING_BELL)
			return fl_sink_absent(ctx);
		return fl_own_desc(pa, fl_mr_writes(mr));
	}
	return 0;
}

static bool fl_sink_covered(struct fl_ctx *ctx, u64 va)
{
	struct fl_range r;
	struct fl_mr *mr;

	list_for_each_entry(mr, &ctx->sink.regions, sunk.list) {
		r = fl_sink_range(mr);
		if (va >= r.start && va < r.end)
			return true;
	}
	return false;
}

/* Must the card be able to write there? */
static bool fl_sink_writes(struct fl_ctx *ctx, u64 va)
{
	struct fl_range r;
	struct fl_mr *mr;

	list_for_each_entry(mr, &ctx->sink.regions, sunk.list) {
		r = fl_sink_range(mr);
		if (va >= r.start && va < r.end && fl_mr_writes(mr))
			return true;
	}
	return false;
}

/* Whoever has va loses it; false: nobody has, or it is pinned. */
static bool fl_sink_leave(struct fl_ctx *ctx, u64 va)
{
	struct fl_own_table *t = fl_own_last(&ctx->sunk, va, false);
	unsigned int i = fl_own_index(va);

	if (!t || !fl_sink_leads(ctx, t->entry[i]) || fl_sink_pinned(ctx, va))
		return false;
	fl_sink_tell_all(ctx, va, 0);
	fl_own_replace(t, i, 0);
	return true;
}

static void fl_sink_enter(struct fl_ctx *ctx, u64 va, u64 desc)
{
	struct fl_range r = { va, va + FL_PAGE_SIZE };
	struct fl_own_table *t = fl_own_last(&ctx->sunk, va, false);
	unsigned int i = fl_own_index(va);

	if (!t || !t->entry[i] || fl_sink_pinned(ctx, va))
		return;
	if (t->entry[i] != desc) {
		fl_sink_leave(ctx, va);
		fl_own_replace(t, i, 0);
		fl_bank_invalidate(ctx, r, true, 0, 0);
		fl_own_replace(t, i, desc);
	}
	/* An access that finds the word even finds the entry. */
	dma_wmb();
	fl_sink_tell_all(ctx, va, desc);
}

/* ---- what goes ---- */

static void fl_sink_invalidate(struct fl_ctx *ctx, struct fl_range r, bool leaf)
{
	struct fl_range part, gone = { ~0ull, 0 };
	struct fl_sink *sink = &ctx->sink;
	struct fl_own_table *t;
	unsigned long flags;
	struct fl_mr *mr;
	u64 va;

	spin_lock_irqsave(&sink->lock, flags);
	sink->changes++;
	list_for_each_entry(mr, &sink->regions, sunk.list) {
		part = fl_sink_range(mr);
		part.start = max(part.start, r.start & PAGE_MASK);
		part.end = min(part.end, r.end);
		for (va = part.start; va < part.end; va += FL_PAGE_SIZE) {
			if (!fl_sink_leave(ctx, va))
				continue;
			gone.start = min(gone.start, va);
			gone.end = max(gone.end, va + FL_PAGE_SIZE);
		}
	}
	if (gone.start < gone.end)
		fl_bank_invalidate(ctx, gone, true, 0, 0);
	for (va = gone.start; va < gone.end; va += FL_PAGE_SIZE) {
		t = fl_own_last(&ctx->sunk, va, false);
		if (t && !t->entry[fl_own_index(va)] && fl_sink_covered(ctx, va))
			fl_own_replace(t, fl_own_index(va), fl_sink_absent(ctx));
	}
	spin_unlock_irqrestore(&sink->lock, flags);
}

/* ---- what comes ---- */

static u64 fl_sink_changes(struct fl_ctx *ctx, u64 va, bool *write)
{
	unsigned long flags;
	u64 changes;

	spin_lock_irqsave(&ctx->sink.lock, flags);
	changes = ctx->sink.changes;
	*write |= fl_sink_writes(ctx, va);
	spin_unlock_irqrestore(&ctx->sink.lock, flags);
	return changes;
}

/* False: the kernel has taken pages away meanwhile, and this may be one of them. */
static bool fl_sink_enter_found(struct fl_ctx *ctx, u64 va, u64 changes,
				u64 desc)
{
	unsigned long flags;
	bool same;

	spin_lock_irqsave(&ctx->sink.lock, flags);
	same = changes == ctx->sink.changes;
	if (same)
		fl_sink_enter(ctx, va, desc);
	spin_unlock_irqrestore(&ctx->sink.lock, flags);
	return same;
}

/* The mmap lock is held. */
static int fl_sink_fill_page(struct fl_ctx *ctx, u64 va, bool write,
			     struct fl_populated *t)
{
	struct fl_range page = fl_range_pages((struct fl_range){ va, va + 1 });
	struct fl_populated one;
	phys_addr_t pa;
	unsigned int i;
	u64 changes;
	int ret;

	for (i = 0; i < FL_SINK_TRIES; i++) {
		changes = fl_sink_changes(ctx, va, &write);
		one = (struct fl_populated){ 0 };
		ret = fl_populate_locked(ctx, page, write, &one);
		if (ret)
			return ret;
		t->pages_in += one.pages_in;
		if (fl_process_frame(ctx, va, write, &pa) != FL_GRANTED)
			continue;
		if (fl_sink_enter_found(ctx, va, changes,
					fl_own_desc(pa, write) | FL_OWN_FOLLOWED))
			return 0;
	}
	return -EAGAIN;
}

static int fl_sink_fill(struct fl_ctx *ctx, struct fl_range r, bool write,
			struct fl_populated *t)
{
	int ret;
	u64 va;

	for (va = r.start; va < r.end; va += FL_PAGE_SIZE) {
		ret = fl_sink_fill_page(ctx, va, write, t);
		if (ret)
			return ret;
		t->end = va + FL_PAGE_SIZE;
	}
	return 0;
}

/* ---- beginning and end ---- */

static int fl_sink_bind(struct fl_ctx *ctx)
{
	struct fl_own *own = &ctx->sunk;
	int ret = fl_own_bind(own);

	if (ret)
		return ret;
	mutex_lock(&own->lock);
	ctx->sink.poison = dma_pool_alloc(own->pool, GFP_KERNEL,
					  &ctx->sink.poison_dma);
	if (ctx->sink.poison)
		memset(ctx->sink.poison, FL_SINK_PATTERN, FL_PAGE_SIZE);
	mutex_unlock(&own->lock);
	if (ctx->sink.poison)
		return 0;
	fl_own_unbind(own);
	return -ENOMEM;
}

static void fl_sink_unbind(struct fl_ctx *ctx)
{
	struct fl_own *own = &ctx->sunk;

	mutex_lock(&own->lock);
	dma_pool_free(own->pool, ctx->sink.poison, ctx->sink.poison_dma);
	ctx->sink.poison = NULL;
	mutex_unlock(&own->lock);
	fl_own_unbind(own);
}

/* sink.lock is held: the region that has what mr says of its words. */
static struct fl_mr *fl_sink_words(struct fl_ctx *ctx, const struct fl_mr *mr)
{
	u64 at = mr->sunk.at, bytes = fl_sink_count(mr) * sizeof(u32);
	struct fl_mr *w;

	list_for_each_entry(w, &ctx->sink.regions, sunk.list)
		if (w->pages && !w->sunk.ring && fl_mr_writes(w) &&
		    at >= w->addr && bytes <= w->length &&
		    at - w->addr <= w->length - bytes)
			return w;
	return NULL;
}

/* sink.lock is held. */
static int fl_sink_words_find(struct fl_ctx *ctx, struct fl_mr *mr)
{
	u64 i;

	mr->sunk.words = fl_sink_words(ctx, mr);
	if (!mr->sunk.words)
		return -ENOENT;
	mr->sunk.words->sunk.users++;
	for (i = 0; i < fl_sink_count(mr); i++) {
		mr->sunk.version[i] = 1;
		fl_sink_store(mr, i);
	}
	return 0;
}

/* What the entry of va is to be, now that a region has come or gone. */
static u64 fl_sink_wanted(struct fl_ctx *ctx, u64 va, u64 have)
{
	u64 pinned = fl_sink_pinned(ctx, va);

	if (pinned || !fl_sink_covered(ctx, va))
		return pinned;
	return have & FL_OWN_FOLLOWED ? have : fl_sink_absent(ctx);
}

/* One way over r: what has changed goes, or (enter) what is empty is filled. */
static bool fl_sink_pass(struct fl_ctx *ctx, struct fl_range r, bool enter)
{
	struct fl_own_table *t;
	u64 va, have, want;
	bool some = false;
	unsigned int i;

	for (va = r.start; va < r.end; va += FL_PAGE_SIZE) {
		t = fl_own_last(&ctx->sunk, va, false);
		if (!t)
			continue;
		i = fl_own_index(va);
		have = t->entry[i];
		want = fl_sink_wanted(ctx, va, have);
		if (want == have || !have != enter)
			continue;
		some = true;
		if (!enter)
			fl_sink_tell_all(ctx, va, 0);
		fl_own_set(t, i, enter ? want : 0);
		if (!enter || !fl_sink_leads(ctx, want))
			continue;
		dma_wmb();
		fl_sink_tell_all(ctx, va, want);
	}
	return some;
}

/* own->lock and sink.lock are held. */
static void fl_sink_update(struct fl_ctx *ctx, struct fl_range r)
{
	if (fl_sink_pass(ctx, r, false))
		fl_bank_invalidate(ctx, r, true, 0, 0);
	fl_sink_pass(ctx, r, true);
}

/* own->lock is held. */
static int fl_sink_region_enter(struct fl_ctx *ctx, struct fl_mr *mr)
{
	struct fl_range r = fl_sink_range(mr);
	unsigned long flags;
	int ret = 0;
	u64 va;

	for (va = r.start; va < r.end; va += FL_PAGE_SIZE)
		if (!fl_own_last(&ctx->sunk, va, true))
			return -ENOMEM;
	spin_lock_irqsave(&ctx->sink.lock, flags);
	if (mr->sunk.version)
		ret = fl_sink_words_find(ctx, mr);
	if (!ret) {
		list_add(&mr->sunk.list, &ctx->sink.regions);
		WRITE_ONCE(ctx->sink.rings, ctx->sink.rings + mr->sunk.ring);
		fl_sink_update(ctx, r);
	}
	spin_unlock_irqrestore(&ctx->sink.lock, flags);
	return ret;
}

static void fl_sink_region_del(struct fl_ctx *ctx, struct fl_mr *mr)
{
	struct fl_range r = fl_sink_range(mr);
	struct fl_own *own = &ctx->sunk;
	unsigned long flags;

	/* Whoever carries out a call for it comes to an end. */
	mutex_lock(&ctx->sink.serving);
	mutex_lock(&own->lock);
	spin_lock_irqsave(&ctx->sink.lock, flags);
	if (!list_empty(&mr->sunk.list)) {
		list_del_init(&mr->sunk.list);
		WRITE_ONCE(ctx->sink.rings, ctx->sink.rings - mr->sunk.ring);
		if (mr->sunk.words)
			mr->sunk.words->sunk.users--;
		fl_sink_update(ctx, r);
	}
	spin_unlock_irqrestore(&ctx->sink.lock, flags);
	/* Tables that are empty. */
	if (own->root)
		fl_own_forget(own, r, false);
	mutex_unlock(&own->lock);
	mutex_unlock(&ctx->sink.serving);
	kvfree(mr->sunk.version);
	mr->sunk.version = NULL;
	fl_mr_unpin(ctx, mr);
}

static int fl_sink_region_add(struct fl_ctx *ctx, struct fl_mr *mr,
			      struct fl_range r, bool pinned)
{
	struct fl_own *own = &ctx->sunk;
	int ret = 0;

	if (mr->sunk.at) {
		if (mr->sunk.at % sizeof(u32) ||
		    mr->sunk.at + fl_sink_count(mr) * sizeof(u32) < mr->sunk.at)
			return -EINVAL;
		mr->sunk.version = kvmalloc_array(fl_sink_count(mr), sizeof(u32),
						  GFP_KERNEL_ACCOUNT);
		if (!mr->sunk.version)
			return -ENOMEM;
	}
	if (pinned)
		ret = fl_mr_pin(ctx, mr, r);
	if (!ret) {
		mutex_lock(&own->lock);
		ret = own->root ? fl_sink_region_enter(ctx, mr) : -ENODEV;
		mutex_unlock(&own->lock);
	}
	if (ret)
		fl_sink_region_del(ctx, mr);
	return ret;
}

const struct fl_tables_ops fl_tables_sink = {
	.bind = fl_sink_bind,
	.unbind = fl_sink_unbind,
	.region_add = fl_sink_region_add,
	.region_del = fl_sink_region_del,
	.fill = fl_sink_fill,
	.invalidate = fl_sink_invalidate,
};
