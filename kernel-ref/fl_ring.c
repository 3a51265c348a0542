// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backup ring: pages of the driver for datagrams that found no page of their receive, or
 * no receive (NPF, ASPLOS 2017, section 5).
 *
 * The top half takes what the card has written, and gives its descriptor another page at once,
 * so that the card goes on. A work item brings in the pages of the receive, loads the card's
 * table, copies, and gives the bit back; the card announces the receives in order. It may
 * sleep, which the top half may not. A datagram whose receive has not been posted waits until
 * the card says that it has.
 *
 * Where a receive is the card has said, which has copied and checked it; here it is looked up
 * in the process's regions once more. copying is held from that look until the bytes are there,
 * so that what ends a region, or a queue pair, and then takes copying once, knows that nothing
 * is copied there any more. Where the card ends a queue pair by itself, a copy that has begun
 * may come to its end after the program has heard of it.
 */
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/highmem.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fl_access.h"
#include "fl_compat.h"
#include "fl_tables.h"
#include "fl_trace.h"

/* Unless the first queue pair says something else; regs.def, BAK_SLOTS. */
#define FL_RING_SLOTS	256u
#define FL_RING_PAGES	2u	/* for each slot: in descriptors, and held */
#define FL_RING_BYTES	4096u	/* of a page: the largest MTU */
#define FL_RING_SEGMENTS 3u

struct fl_ring_packet {
	struct work_struct work;
	struct list_head list;	/* of free, waiting or copied; irq_lock */
	struct fl_ring *ring;
	void *cpu;
	dma_addr_t dma;
	u64 owner;		/* id of the struct fl_ctx on the slot then */
	bool over;		/* its queue pair has ended; irq_lock */
	struct fl_backup d;
};

struct fl_ring {
	struct fl_dev *dev;
	u32 slots, packets;
	struct fl_backup *desc;
	dma_addr_t dma;
	u32 cons, given;	/* all below: irq_lock */
	struct list_head free, waiting, copied;
	struct fl_ring_packet **in;	/* of each slot: whose page it has; NULL: none */
	struct fl_ring_packet *packet;
};

/* ---- copying; copying is held, and the address space is kept ---- */

struct fl_ring_segment {
	u64 va;
	u32 bytes, key;
};

static struct fl_ring_segment fl_ring_segment(const struct fl_backup *d, u32 i)
{
	const struct fl_ring_segment s[FL_RING_SEGMENTS] = {
		{ d->va0, d->bytes0, d->key0 },
		{ d->va1, d->bytes1, d->key1 },
		{ d->va2, d->bytes2, d->key2 },
	};

	return s[i];
}

/* All pages that the packet needs, with one change of the card's table. */
static int fl_ring_bring(struct fl_ctx *ctx, const struct fl_backup *d)
{
	struct fl_nic_reach reach;
	struct fl_ring_segment s;
	struct fl_bring b;
	u32 i, left = d->len;
	struct fl_range r;
	int ret;

	ret = fl_bring_begin(&b, d->xfer);
	for (i = 0; !ret && left && i < min_t(u32, d->segments, FL_RING_SEGMENTS); i++) {
		s = fl_ring_segment(d, i);
		s.bytes = min(s.bytes, left);
		left -= s.bytes;
		ret = fl_nic_reach(ctx, s.key, s.va, s.bytes, true, &reach);
		if (!ret && !fl_range_make(s.va, s.bytes, &r))
			ret = -EFAULT;
		/* Less where segments share a page; and there is room for all of a packet. */
		if (!ret)
			fl_bring_add(&b, &reach, r, true, FL_BRING_NEED);
	}
	if (!ret && left)
		ret = -EFAULT;
	if (!ret && b.n)
		ret = fl_bring(ctx, &b);
	fl_bring_end(&b);
	/* They leave faster than they come: the next packet misses them again. */
	return ret == -EAGAIN ? 0 : ret;
}

/* Within one page. */
static int fl_ring_copy_part(struct fl_ctx *ctx, u64 va, const void *from, u32 n)
{
	struct page *page;
	long got;

	mmap_read_lock(ctx->mm);
	got = fl_pin_pages(ctx->mm, va & PAGE_MASK, 1, true, &page);
	mmap_read_unlock(ctx->mm);
	if (got != 1)
		return got < 0 ? got : -EFAULT;
	memcpy_to_page(page, va & ~PAGE_MASK, from, n);
	unpin_user_pages_dirty_lock(&page, 1, true);
	return 0;
}

static int fl_ring_copy(struct fl_ctx *ctx, const struct fl_ring_packet *p)
{
	u32 i, done = 0, at, n;
	struct fl_ring_segment s;
	int ret = 0;

	for (i = 0; i < FL_RING_SEGMENTS && done < p->d.len; i++) {
		s = fl_ring_segment(&p->d, i);
		s.bytes = min(s.bytes, p->d.len - done);
		for (at = 0; !ret && at < s.bytes; at += n) {
			n = min_t(u64, s.bytes - at,
				  PAGE_SIZE - ((s.va + at) & ~PAGE_MASK));
			ret = fl_ring_copy_part(ctx, s.va + at, p->cpu + done + at, n);
		}
		done += s.bytes;
	}
	trace_fl_copy(ctx->dev, p->d.qp, p->d.va0, p->d.len, ret, p->d.xfer, 0);
	return ret;
}

static bool fl_ring_is_over(struct fl_ring_packet *p)
{
	struct fl_dev *dev = p->ring->dev;
	unsigned long flags;
	bool over;

	spin_lock_irqsave(&dev->irq_lock, flags);
	over = p->over;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	return over;
}

static void fl_ring_resolve(struct fl_ctx *ctx, struct fl_ring_packet *p)
{
	const struct fl_backup *d = &p->d;
	u32 code = d->status;
	int ret = 0;

	mutex_lock(&ctx->nic.copying);
	if (!READ_ONCE(ctx->dead) && !fl_ring_is_over(p)) {
		if (!code)
			ret = fl_ring_bring(ctx, d);
		if (!code && !ret)
			ret = fl_ring_copy(ctx, p);
		if (ret) {
			atomic64_inc(&ctx->failed);
			code = FL_ST_LOCAL_FAULT;
		}
		fl_xp_resolved(ctx->dev, d, code);
	}
	mutex_unlock(&ctx->nic.copying);
}

/* ---- pages ---- */

/* irq_lock is held: descriptors that have been taken get pages, as far as there are. */
static void fl_ring_give(struct fl_dev *dev, struct fl_ring *ring)
{
	struct fl_ring_packet *p;
	u32 given = ring->given, slot;

	/* The card has it no more (fl_ring_end). */
	if (ring != dev->xp.ring)
		return;
	for (; ring->given != ring->cons + ring->slots; ring->given++) {
		slot = ring->given % ring->slots;
		if (!ring->in[slot]) {
			if (list_empty(&ring->free))
				break;
			p = list_first_entry(&ring->free, struct fl_ring_packet, list);
			list_del_init(&p->list);
			ring->in[slot] = p;
			WRITE_ONCE(ring->desc[slot].buffer, p->dma);
		}
	}
	/* The register is written after the descriptors (writel). */
	if (given != ring->given && !READ_ONCE(dev->gone))
		fl_xp_backup_given(dev, ring->given);
}

/* irq_lock is held. */
static void fl_ring_free(struct fl_ring *ring, struct fl_ring_packet *p)
{
	list_del(&p->list);
	list_add_tail(&p->list, &ring->free);
}

static void fl_ring_work(struct work_struct *work)
{
	struct fl_ring_packet *p = container_of(work, struct fl_ring_packet, work);
	struct fl_ring *ring = p->ring;
	struct fl_dev *dev = ring->dev;
	struct fl_ctx *ctx;
	unsigned long flags;

	/* 0: the slot was nobody's, or there is no such slot. */
	ctx = p->owner ? fl_ctx_get(dev, p->d.slot, p->owner) : NULL;
	if (ctx) {
		if (mmget_not_zero(ctx->mm)) {
			fl_ring_resolve(ctx, p);
			/* fl_request_resolve() says why not mmput(). */
			mmput_async(ctx->mm);
		}
		fl_ctx_put(ctx);
	}
	spin_lock_irqsave(&dev->irq_lock, flags);
	fl_ring_free(ring, p);
	fl_ring_give(dev, ring);
	spin_unlock_irqrestore(&dev->irq_lock, flags);
}

/* ---- the top half; irq_lock is held ---- */

static void fl_ring_copy_soon(struct fl_ring *ring, struct fl_ring_packet *p)
{
	list_del(&p->list);
	list_add_tail(&p->list, &ring->copied);
	queue_work(ring->dev->wq, &p->work);
}

/* A datagram: its page is the driver's now. */
static void fl_ring_packet(struct fl_dev *dev, struct fl_ring *ring, u32 slot,
			   const struct fl_backup *d)
{
	struct fl_ring_packet *p = ring->in[slot];
	struct fl_ctx *ctx = NULL;

	if (!p || d->len > FL_RING_BYTES)
		return;
	ring->in[slot] = NULL;
	if (d->slot < FL_SLOTS)
		ctx = dev->slot[array_index_nospec(d->slot, FL_SLOTS)];
	p->d = *d;
	p->d.status = 0;
	p->over = false;
	p->owner = 0;
	if (ctx) {
		p->owner = ctx->id;
		atomic64_inc(&ctx->faults);
		atomic64_inc(&ctx->faults_dst);
	}
	if (d->posted)
		fl_ring_copy_soon(ring, p);
	else
		list_add_tail(&p->list, &ring->waiting);
}

/* The receive of one that waits. */
static void fl_ring_receive(struct fl_ring *ring, const struct fl_backup *d)
{
	struct fl_ring_packet *p;
	u32 len;

	list_for_each_entry(p, &ring->waiting, list) {
		if (p->d.qp != d->qp || p->d.bit != d->bit || p->d.serial != d->serial)
			continue;
		len = p->d.len;
		p->d = *d;
		p->d.len = len;
		fl_ring_copy_soon(ring, p);
		return;
	}
}

static void fl_ring_over(struct fl_ring *ring, u32 qp)
{
	struct fl_ring_packet *p, *next;

	list_for_each_entry_safe(p, next, &ring->waiting, list)
		if (p->d.qp == qp)
			fl_ring_free(ring, p);
	list_for_each_entry(p, &ring->copied, list)
		if (p->d.qp == qp)
			p->over = true;
}

static bool fl_ring_take(struct fl_dev *dev, struct fl_ring *ring)
{
	u32 slot = ring->cons % ring->slots;
	struct fl_backup *next = &ring->desc[slot], d;

	if (READ_ONCE(next->phase) != 1 + ring->cons / ring->slots)
		return false;
	/* Pairs with the card's write of phase after the rest. */
	dma_rmb();
	d = *next;
	ring->cons++;
	trace_fl_irq_ring(dev, d.kind, d.qp, d.index, d.bit, d.xfer, 0);
	switch (d.kind) {
	case FL_BACKUP_PACKET:
		fl_ring_packet(dev, ring, slot, &d);
		break;
	case FL_BACKUP_RECEIVE:
		fl_ring_receive(ring, &d);
		break;
	case FL_BACKUP_OVER:
		fl_ring_over(ring, d.qp);
		break;
	}
	return true;
}

bool fl_ring_irq(struct fl_dev *dev)
{
	struct fl_ring *ring;
	unsigned long flags;
	bool some = false;

	spin_lock_irqsave(&dev->irq_lock, flags);
	ring = dev->xp.ring;
	while (ring && fl_ring_take(dev, ring))
		some = true;
	if (some) {
		fl_xp_backup_taken(dev, ring->cons);
		fl_ring_give(dev, ring);
	}
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	return some;
}

/* ---- queue pairs and regions that end ---- */

void fl_ring_forget(struct fl_dev *dev, u32 qp)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->irq_lock, flags);
	if (dev->xp.ring) {
		fl_ring_over(dev->xp.ring, qp);
		fl_ring_give(dev, dev->xp.ring);
	}
	spin_unlock_irqrestore(&dev->irq_lock, flags);
}

/* ---- beginning and end ---- */

static void fl_ring_put(struct fl_dev *dev, struct fl_ring *ring)
{
	u32 i;

	for (i = 0; ring->packet && i < ring->packets; i++)
		if (ring->packet[i].cpu)
			dma_free_coherent(dev->dev, FL_RING_BYTES, ring->packet[i].cpu,
					  ring->packet[i].dma);
	if (ring->desc)
		dma_free_coherent(dev->dev, ring->slots * sizeof(*ring->desc),
				  ring->desc, ring->dma);
	kvfree(ring->packet);
	kvfree(ring->in);
	kfree(ring);
}

/* Of what it could get, fl_ring_put() gives back all. */
static bool fl_ring_fill(struct fl_dev *dev, struct fl_ring *ring)
{
	struct fl_ring_packet *p;
	u32 i;

	ring->in = kvmalloc_array(ring->slots, sizeof(*ring->in), GFP_KERNEL);
	ring->packet = kvmalloc_array(ring->packets, sizeof(*ring->packet), GFP_KERNEL);
	if (ring->packet)
		memset(ring->packet, 0, ring->packets * sizeof(*ring->packet));
	ring->desc = dma_alloc_coherent(dev->dev, ring->slots * sizeof(*ring->desc),
					&ring->dma, GFP_KERNEL);
	if (!ring->in || !ring->packet || !ring->desc)
		return false;
	for (i = 0; i < ring->packets; i++) {
		p = &ring->packet[i];
		p->ring = ring;
		INIT_WORK(&p->work, fl_ring_work);
		p->cpu = dma_alloc_coherent(dev->dev, FL_RING_BYTES, &p->dma,
					    GFP_KERNEL);
		if (!p->cpu)
			return false;
		list_add_tail(&p->list, &ring->free);
	}
	return true;
}

static struct fl_ring *fl_ring_new(struct fl_dev *dev, u32 slots)
{
	struct fl_ring *ring = kzalloc(sizeof(*ring), GFP_KERNEL);

	if (!ring)
		return NULL;
	ring->dev = dev;
	ring->slots = slots;
	ring->packets = FL_RING_PAGES * slots;
	INIT_LIST_HEAD(&ring->free);
	INIT_LIST_HEAD(&ring->waiting);
	INIT_LIST_HEAD(&ring->copied);
	if (fl_ring_fill(dev, ring))
		return ring;
	fl_ring_put(dev, ring);
	return NULL;
}

/* Each descriptor has a page before the card knows of them. */
static void fl_ring_begin(struct fl_dev *dev, struct fl_ring *ring)
{
	unsigned long flags;
	u32 i;

	for (i = 0; i < ring->slots; i++) {
		ring->in[i] = &ring->packet[i];
		list_del_init(&ring->packet[i].list);
		ring->desc[i].buffer = ring->packet[i].dma;
	}
	ring->given = ring->slots;
	spin_lock_irqsave(&dev->irq_lock, flags);
	dev->xp.ring = ring;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	fl_xp_backup(dev, ring->dma, ring->slots, FL_BACKUP_BITS_MAX);
}

static void fl_ring_drop(struct fl_dev *dev, struct fl_ring *ring)
{
	/* A card that is only silent may write when it wakes up. */
	if (fl_card_dead(dev) && fl_card_silent(dev))
		dev_warn(dev->dev, "the backup ring stays with the card\n");
	else
		fl_ring_put(dev, ring);
}

/* No queue pair needs it, so that no work copies; ring_lock is held. */
static void fl_ring_end(struct fl_dev *dev)
{
	struct fl_ring *ring = dev->xp.ring;
	unsigned long flags;
	u32 i;

	fl_xp_backup(dev, 0, 0, 0);
	spin_lock_irqsave(&dev->irq_lock, flags);
	dev->xp.ring = NULL;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	for (i = 0; i < ring->packets; i++)
		cancel_work_sync(&ring->packet[i].work);
	fl_ring_drop(dev, ring);
}

/* ring_lock is held. */
static int fl_ring_have(struct fl_dev *dev, u32 slots)
{
	struct fl_ring *ring = dev->xp.ring;

	if (ring && (!slots || slots == ring->slots))
		return 0;
	if (ring && dev->xp.ring_users)
		return -EBUSY;
	if (ring)
		fl_ring_end(dev);
	ring = fl_ring_new(dev, slots ? slots : FL_RING_SLOTS);
	if (!ring)
		return -ENOMEM;
	fl_ring_begin(dev, ring);
	return 0;
}

int fl_ring_need(struct fl_dev *dev, u32 slots)
{
	int ret;

	mutex_lock(&dev->xp.ring_lock);
	ret = fl_ring_have(dev, slots);
	if (!ret)
		dev->xp.ring_users++;
	mutex_unlock(&dev->xp.ring_lock);
	return ret;
}

void fl_ring_unneed(struct fl_dev *dev)
{
	mutex_lock(&dev->xp.ring_lock);
	dev->xp.ring_users--;
	mutex_unlock(&dev->xp.ring_lock);
}

void fl_ring_init(struct fl_dev *dev)
{
	mutex_init(&dev->xp.ring_lock);
}

void fl_ring_stop(struct fl_dev *dev)
{
	struct fl_ring *ring = dev->xp.ring;

	if (!ring)
		return;
	fl_xp_backup(dev, 0, 0, 0);
	dev->xp.ring = NULL;
	fl_ring_drop(dev, ring);
}
