// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of the driver's own: the card finds what was entered here, and nothing else.
 *
 * The SMMU walks them with the ASID of the process and addresses of the process, as it
 * walks the process's own. But the kernel does not know of them. So each entry names a
 * frame that the driver has pinned, and a notifier has nothing to tell: what the process
 * does with its mappings changes nothing here, until the entry goes and the pin with it.
 * A process that unmaps such a page, and maps another one there, shares no memory with
 * the card any more.
 *
 * An entry goes in this order: descriptor, TLB and walk cache, tables that have become
 * empty, pin. A descriptor that comes to name another frame is empty in between (Arm ARM
 * D8, break before make).
 *
 * Pages are entered by fl_tables_inserted.c and fl_tables_ondemand.c.
 */
#include <linux/dmapool.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <asm/memory.h>
#include <asm/pgtable-hwdef.h>

#include "fl_tables_own.h"

#define FL_OWN_BITS	9
#define FL_OWN_PA	GENMASK_ULL(47, 12)
/* Never executed; of one ASID; and nobody else sets the access flag. */
#define FL_OWN_PAGE	(PTE_VALID | PTE_TABLE_BIT | PTE_USER | PTE_SHARED | \
			 PTE_AF | PTE_NG | PTE_PXN | PTE_UXN |		     \
			 PTE_ATTRINDX(MT_NORMAL))

static unsigned int fl_own_shift(struct fl_own *own)
{
	/* As fl_process_look(): the first table may be used in part. */
	unsigned int bits = 64 - own->ctx->t0sz - FL_PAGE_SHIFT;

	return FL_PAGE_SHIFT + (bits - 1) / FL_OWN_BITS * FL_OWN_BITS;
}

static unsigned int fl_own_index_at(u64 va, unsigned int shift)
{
	return va >> shift & (FL_OWN_ENTRIES - 1);
}

unsigned int fl_own_index(u64 va)
{
	return fl_own_index_at(va, FL_PAGE_SHIFT);
}

/* ---- tables ---- */

static void fl_own_table_free(struct fl_own *own, struct fl_own_table *t)
{
	if (t->entry)
		dma_pool_free(own->pool, t->entry, t->dma);
	kfree(t->behind);
	kfree(t);
}

static struct fl_own_table *fl_own_table_new(struct fl_own *own)
{
	struct fl_own_table *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (!t)
		return NULL;
	t->entry = dma_pool_zalloc(own->pool, GFP_KERNEL, &t->dma);
	t->behind = kcalloc(FL_OWN_ENTRIES, sizeof(*t->behind),
			    GFP_KERNEL_ACCOUNT);
	if (t->entry && t->behind)
		return t;
	fl_own_table_free(own, t);
	return NULL;
}

void fl_own_set(struct fl_own_table *t, unsigned int i, u64 desc)
{
	t->used += !!desc - !!t->entry[i];
	/* Before a descriptor the table that it names. */
	dma_wmb();
	WRITE_ONCE(t->entry[i], desc);
}

void fl_own_replace(struct fl_own_table *t, unsigned int i, u64 desc)
{
	dma_wmb();
	WRITE_ONCE(t->entry[i], desc);
}

bool fl_own_pinned(const struct fl_mr *mr, u64 va, phys_addr_t *pa)
{
	struct fl_range r = { mr->addr, mr->addr + mr->length };

	r = fl_range_pages(r);
	if (!mr->pages || va < r.start || va >= r.end)
		return false;
	*pa = page_to_phys(mr->pages[(va - r.start) >> PAGE_SHIFT]) +
	      (va & (PAGE_SIZE - 1));
	return true;
}

struct fl_own_table *fl_own_last(struct fl_own *own, u64 va, bool make)
{
	struct fl_own_table *t = own->root, *below;
	unsigned int shift, i;

	for (shift = fl_own_shift(own); t && shift > FL_PAGE_SHIFT;
	     shift -= FL_OWN_BITS, t = below) {
		i = fl_own_index_at(va, shift);
		below = t->behind[i];
		if (below || !make)
			continue;
		below = fl_own_table_new(own);
		if (!below)
			return NULL;
		t->behind[i] = below;
		fl_own_set(t, i, below->dma | PTE_VALID | PTE_TABLE_BIT);
	}
	return t;
}

u64 fl_own_desc(phys_addr_t pa, bool write)
{
	return (pa & FL_OWN_PA) | FL_OWN_PAGE | (write ? 0 : PTE_RDONLY);
}

bool fl_own_differ(u64 a, u64 b)
{
	return (a ^ b) & FL_OWN_PA;
}

enum fl_found fl_own_look(struct fl_own *own, u64 va, bool write)
{
	struct fl_own_table *t = fl_own_last(own, va, false);
	u64 d = t ? t->entry[fl_own_index(va)] : 0;

	if (!d)
		return FL_ABSENT;
	return write && d & PTE_RDONLY ? FL_REFUSED : FL_GRANTED;
}

/* Tables below t that have become empty are taken out of r, onto a list. */
static void fl_own_prune(struct fl_own_table *t, unsigned int shift,
			 struct fl_range r, struct fl_own_table **gone)
{
	struct fl_own_table *below;
	struct fl_range part;
	unsigned int i;

	if (shift == FL_PAGE_SHIFT)
		return;
	for (part = r; part.start < r.end; part.start = part.end) {
		part.end = min(r.end, ((part.start >> shift) + 1) << shift);
		i = fl_own_index_at(part.start, shift);
		below = t->behind[i];
		if (!below)
			continue;
		fl_own_prune(below, shift - FL_OWN_BITS, part, gone);
		if (below->used)
			continue;
		fl_own_set(t, i, 0);
		t->behind[i] = NULL;
		below->next = *gone;
		*gone = below;
	}
}

void fl_own_forget(struct fl_own *own, struct fl_range r, bool stale)
{
	struct fl_own_table *gone = NULL, *t;

	fl_own_prune(own->root, fl_own_shift(own), r, &gone);
	if (stale || gone)
		fl_bank_invalidate(own->ctx, r, !gone, 0, 0);
	while ((t = gone)) {
		gone = t->next;
		fl_own_table_free(own, t);
	}
}

/* A table and what is below, and the pages that stand behind the last entries. */
static void fl_own_free(struct fl_own *own, struct fl_own_table *t,
			unsigned int shift)
{
	struct page *page;
	unsigned int i;
	bool write;

	for (i = 0; i < FL_OWN_ENTRIES; i++) {
		if (!t->behind[i])
			continue;
		write = !(t->entry[i] & PTE_RDONLY);
		/* As always: no entry without a table or a pin, though nobody walks it. */
		fl_own_set(t, i, 0);
		if (shift > FL_PAGE_SHIFT) {
			fl_own_free(own, t->behind[i], shift - FL_OWN_BITS);
			continue;
		}
		page = t->behind[i];
		unpin_user_pages_dirty_lock(&page, 1, write);
		fl_pin_give_back(own->ctx, 1);
	}
	fl_own_table_free(own, t);
}

/* ---- beginning and end ---- */

void fl_own_init(struct fl_own *own, struct fl_ctx *ctx)
{
	own->ctx = ctx;
	mutex_init(&own->lock);
	INIT_LIST_HEAD(&own->regions);
}

int fl_own_bind(struct fl_own *own)
{
	struct fl_ctx *ctx = own->ctx;
	int ret = 0;

	mutex_lock(&own->lock);
	own->pool = dma_pool_create("faultline-tables", ctx->dev->dev,
				    FL_PAGE_SIZE, FL_PAGE_SIZE, 0);
	if (own->pool)
		own->root = fl_own_table_new(own);
	if (own->root) {
		ctx->root = own->root->dma;
	} else {
		dma_pool_destroy(own->pool);
		own->pool = NULL;
		ret = -ENOMEM;
	}
	mutex_unlock(&own->lock);
	return ret;
}

void fl_own_unbind(struct fl_own *own)
{
	mutex_lock(&own->lock);
	/* A region that is just being registered finds no tables then. */
	while (!list_empty(&own->regions))
		list_del_init(own->regions.next);
	if (own->root)
		fl_own_free(own, own->root, fl_own_shift(own));
	own->root = NULL;
	dma_pool_destroy(own->pool);
	own->pool = NULL;
	mutex_unlock(&own->lock);
}
