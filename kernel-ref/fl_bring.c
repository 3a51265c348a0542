// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages for the card's own tables: the kernel is asked for all that a request needs, and
 * then the card's table is changed once. The order is that of fl_tables_nic.c.
 *
 * Where pages are is looked up right after each part was brought in, with the mmap lock
 * held, as a walk of the SMMU would. What has changed since is found out under nic.lock,
 * and then all of it is done again.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fl_tables.h"
#include "fl_trace.h"

/* How often a page may leave between coming in and being loaded. */
#define FL_BRING_TRIES	8

int fl_bring_begin(struct fl_bring *b, u32 xfer)
{
	memset(b, 0, sizeof(*b));
	b->xfer = xfer;
	b->entry = kvmalloc_array(FL_BRING_PAGES, sizeof(*b->entry),
				  GFP_KERNEL_ACCOUNT);
	return b->entry ? 0 : -ENOMEM;
}

void fl_bring_end(struct fl_bring *b)
{
	kvfree(b->entry);
	b->entry = NULL;
}

/* What other pieces have need not come twice. */
static struct fl_range fl_bring_rest(const struct fl_bring *b, u64 id,
				     struct fl_range r)
{
	const struct fl_bring_piece *p;

	for (p = b->piece; p < b->piece + b->n; p++) {
		if (p->id != id || r.start >= p->r.end || r.end <= p->r.start)
			continue;
		if (r.start >= p->r.start)
			r.start = min(r.end, p->r.end);
		else
			r.end = p->r.start;
	}
	return r;
}

u64 fl_bring_add(struct fl_bring *b, const struct fl_nic_reach *reach,
		 struct fl_range r, bool write, enum fl_bring_how how)
{
	u64 room = (u64)(FL_BRING_PAGES - b->pages) << FL_PAGE_SHIFT;
	struct fl_bring_piece *p = &b->piece[b->n];

	r.start = max(r.start, reach->r.start) & ~(u64)(FL_PAGE_SIZE - 1);
	r.end = min(r.end, reach->r.end);
	r.end = (r.end + FL_PAGE_SIZE - 1) & ~(u64)(FL_PAGE_SIZE - 1);
	r = fl_bring_rest(b, reach->id, r);
	if (r.start >= r.end || !room || b->n == FL_BRING_PIECES)
		return 0;
	r.end = min(r.end, r.start + room);
	*p = (struct fl_bring_piece){
		.id = reach->id,
		.r = r,
		.write = write,
		.writes = reach->writes,
		.pinned = reach->pinned,
		.how = how,
		.first = b->pages,
	};
	b->n++;
	b->pages += (r.end - r.start) >> FL_PAGE_SHIFT;
	return r.end - r.start;
}

/* ---- asking and looking ---- */

struct fl_bring_fill {
	struct fl_populated t;
	const struct fl_bring_piece *piece;
	u64 *entry;
};

static u64 fl_bring_look(struct fl_ctx *ctx, const struct fl_bring_piece *p, u64 va)
{
	phys_addr_t pa;

	/* More than was asked for, if it is there: else the next write misses again. */
	if (p->writes && fl_process_frame(ctx, va, true, &pa) == FL_GRANTED)
		return pa | FL_XP_VALID | FL_XP_WRITE;
	if (!p->write && fl_process_frame(ctx, va, false, &pa) == FL_GRANTED)
		return pa | FL_XP_VALID;
	return 0;
}

/* As fl_tables_ops.fill: r is pages of the kernel, and the mmap lock is held. */
static int fl_bring_part(struct fl_ctx *ctx, struct fl_range r, bool write,
			 struct fl_populated *t)
{
	struct fl_bring_fill *f = container_of(t, struct fl_bring_fill, t);
	const struct fl_bring_piece *p = f->piece;
	int ret = 0;
	u64 va;

	if (p->how != FL_BRING_PRESENT)
		ret = fl_populate_locked(ctx, r, write, t);
	t->end = r.end;
	r.start = max(r.start, p->r.start);
	r.end = min(r.end, p->r.end);
	for (va = r.start; !ret && va < r.end; va += FL_PAGE_SIZE)
		f->entry[(va - p->r.start) >> FL_PAGE_SHIFT] =
			fl_bring_look(ctx, p, va);
	return ret;
}

static int fl_bring_parts(struct fl_ctx *ctx, const struct fl_bring_piece *p)
{
	u64 va = p->r.start;
	int ret = 0;

	while (!ret && va < p->r.end) {
		ret = fl_nic_part_make(ctx, p->id, va);
		va = (va | (FL_NIC_PART_BYTES - 1)) + 1;
	}
	return ret;
}

/* What is only a guess is not tried again: it may be what pushes the others out. */
static void fl_bring_drop_guesses(struct fl_bring *b)
{
	u32 i;

	for (i = 0; i < b->n; i++)
		b->piece[i].done |= b->piece[i].how == FL_BRING_GUESS;
}

/* One piece, as far as nic.lock is not needed. */
static int fl_bring_populate(struct fl_ctx *ctx, struct fl_bring *b,
			     struct fl_bring_piece *p)
{
	struct fl_bring_fill f = { .piece = p, .entry = b->entry + p->first };
	u64 pages = (p->r.end - p->r.start) >> FL_PAGE_SHIFT;
	int ret;

	ret = fl_bring_parts(ctx, p);
	/* Before anything is looked at. */
	if (!ret)
		ret = fl_nic_changes(ctx, p->id, &p->changes);
	if (ret || p->pinned)
		return ret;
	memset(f.entry, 0, pages * sizeof(*f.entry));
	ret = fl_populate_with(ctx, p->r, p->write, p->how == FL_BRING_GUESS,
			       fl_bring_part, &f.t);
	if (p->how == FL_BRING_PRESENT)
		return ret;
	atomic64_inc(&ctx->resolves);
	trace_fl_resolve(ctx->dev, p->r.start, pages, p->write, ret, b->xfer, 0);
	return ret;
}

/* ---- loading ---- */

static u32 fl_bring_pages(const struct fl_bring_piece *p)
{
	return (p->r.end - p->r.start) >> FL_PAGE_SHIFT;
}

/* Does the next piece go on where p ends, in the region and in the list? */
static bool fl_bring_joins(const struct fl_bring_piece *p,
			   const struct fl_bring_piece *next)
{
	return !next->done && next->id == p->id && next->changes == p->changes &&
	       next->how != FL_BRING_NEED && next->r.start == p->r.end &&
	       next->first == p->first + fl_bring_pages(p);
}

/*
 * nic.lock is held. Pieces from i on that are one range, with one change; *n: how many.
 * -EAGAIN: not yet.
 */
static int fl_bring_load(struct fl_ctx *ctx, struct fl_bring *b, u32 i, u32 *n)
{
	struct fl_bring_piece *p = &b->piece[i];
	struct fl_nic_load l = {
		.id = p->id,
		.changes = p->changes,
		.va = p->r.start,
		.need = p->how == FL_BRING_NEED ? fl_bring_pages(p) : 0,
		.xfer = b->xfer,
		.entry = b->entry + p->first,
	};
	u32 k;
	int ret;

	for (*n = 1; i + *n < b->n && fl_bring_joins(p + *n - 1, p + *n); ++*n)
		;
	for (k = 0; k < *n; k++)
		l.count += fl_bring_pages(p + k);
	ret = fl_nic_load(ctx, &l);
	for (k = 0; k < *n; k++)
		p[k].done = ret != -EAGAIN;
	return ret;
}

/* The one change of the card's table. -EAGAIN: some pieces are left. */
static int fl_bring_load_all(struct fl_ctx *ctx, struct fl_bring *b)
{
	int ret = 0, one;
	u32 i, n;

	spin_lock(&ctx->nic.lock);
	for (i = 0; i < b->n; i += n) {
		n = 1;
		one = b->piece[i].done ? 0 : fl_bring_load(ctx, b, i, &n);
		/* A guess that fails is none of the card's business. */
		if (one == -EAGAIN || (one && b->piece[i].how == FL_BRING_NEED))
			ret = !ret || ret == -EAGAIN ? one : ret;
	}
	spin_unlock(&ctx->nic.lock);
	return ret;
}

static int fl_bring_populate_all(struct fl_ctx *ctx, struct fl_bring *b)
{
	struct fl_bring_piece *p;
	int ret;

	for (p = b->piece; p < b->piece + b->n; p++) {
		ret = p->done ? 0 : fl_bring_populate(ctx, b, p);
		if (ret && p->how == FL_BRING_NEED)
			return ret;
		p->done |= ret != 0;
	}
	return 0;
}

static bool fl_bring_needs(const struct fl_bring *b)
{
	u32 i;

	for (i = 0; i < b->n; i++)
		if (!b->piece[i].done && b->piece[i].how == FL_BRING_NEED)
			return true;
	return false;
}

int fl_bring(struct fl_ctx *ctx, struct fl_bring *b)
{
	unsigned int i;
	int ret;

	for (i = 0; i < FL_BRING_TRIES; i++) {
		ret = fl_bring_populate_all(ctx, b);
		if (!ret)
			ret = fl_bring_load_all(ctx, b);
		if (ret != -EAGAIN)
			return ret;
		atomic64_inc(&ctx->nic.raced);
		fl_bring_drop_guesses(b);
	}
	return fl_bring_needs(b) ? -EAGAIN : 0;
}

int fl_bring_all(struct fl_ctx *ctx, const struct fl_nic_reach *reach,
		 struct fl_range r, bool write, enum fl_bring_how how)
{
	struct fl_bring *b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);
	int ret = 0;

	if (!b)
		return -ENOMEM;
	r.start &= ~(u64)(FL_PAGE_SIZE - 1);
	while (!ret && r.start < r.end) {
		ret = fl_bring_begin(b, 0);
		if (ret)
			break;
		r.start += fl_bring_add(b, reach, r, write, how);
		ret = fl_bring(ctx, b);
		/* They leave as fast as they come: whoever wants them will miss them. */
		if (ret == -EAGAIN)
			ret = 0;
		fl_bring_end(b);
	}
	kfree(b);
	return ret;
}
