// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bus of a card in an emulator: register accesses as messages, one after
 * the other, through memory that both sides have (faultline/window.h).
 *
 * Reads and writes come from top halves, from notifiers and from under
 * spinlocks, so everything here spins, with interrupts off, and with a limit.
 */
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/jump_label.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/timekeeping.h>

#include "fl_access.h"
#include "fl_dev.h"
#include "fl_window.h"

/*
 * An emulator that shares a busy machine may be late; shorter than what the
 * kernel's own watchdogs allow with interrupts off.
 */
#define FL_WINDOW_PATIENCE_NS	(10ull * NSEC_PER_SEC)
/* How often to see that it still is there. */
#define FL_WINDOW_BEAT_NS	NSEC_PER_SEC

DEFINE_STATIC_KEY_FALSE(fl_windows);

static struct fl_window_head __iomem *fl_window_head(struct fl_window *w)
{
	return w->base;
}

static struct fl_window_doorbell __iomem *
fl_window_doorbell(struct fl_window *w, unsigned int slot)
{
	return w->base + FL_WINDOW_DOORBELL_OFFSET(slot);
}

bool fl_window_ended(struct fl_window *w)
{
	struct fl_window_head __iomem *head = fl_window_head(w);

	return !readl(&head->alive) || readl(&head->instance) != w->instance;
}

/* What they sleep for will not come; what finds out may hold any spinlock. */
static void fl_window_died(struct work_struct *work)
{
	struct fl_window *w = container_of(work, struct fl_window, died);
	struct fl_dev *card = READ_ONCE(w->card);

	if (card)
		fl_wake_all(card);
}

/* A polling process looks there, and at nothing else; the lock is held. */
static void fl_window_tell_pollers(struct fl_window *w)
{
	unsigned int i;

	for (i = 0; i < FL_SLOTS; i++)
		writel(0, &fl_window_doorbell(w, i)->alive);
}

static void fl_window_die(struct fl_window *w, const char *why)
{
	WRITE_ONCE(w->dead, true);
	fl_window_tell_pollers(w);
	schedule_work(&w->died);
	dev_err(w->dev, "the card is gone: %s\n", why);
}

/*
 * Until *at has come to value: to be equal (an answer), or to be less than
 * room behind it (a place in the ring). False: the card is dead.
 */
static bool fl_window_wait(struct fl_window *w, const u32 __iomem *at,
			   u32 value, u32 room)
{
	u64 end = ktime_get_mono_fast_ns() + FL_WINDOW_PATIENCE_NS;

	for (;;) {
		if (value - readl(at) < room)
			return true;
		if (fl_window_ended(w)) {
			fl_window_die(w, "its emulator has ended");
			return false;
		}
		if (ktime_get_mono_fast_ns() > end) {
			fl_window_die(w, "its emulator does not answer");
			return false;
		}
		cpu_relax();
	}
}

static void fl_window_ring(struct fl_window *w)
{
	/*
	 * Between our entry and the look at the flag. Pairs with the emulator's
	 * barrier between setting the flag and its last look at the rings: one
	 * of us sees what the other wrote. The read is the same for QEMU, which
	 * may leave the barrier out (window.h).
	 */
	mb();
	readl(w->bell + FL_WINDOW_ORDER);
	if (readl(&fl_window_head(w)->asleep))
		writel(FL_WINDOW_PEER << 16 | FL_WINDOW_LOOK,
		       w->bell + FL_WINDOW_BELL);
}

/* Post one entry; the lock is held. */
static bool fl_window_post(struct fl_window *w, const struct fl_window_entry *e)
{
	struct fl_window_head __iomem *head = fl_window_head(w);
	struct fl_window_entry __iomem *to;
	unsigned int i;

	if (w->dead ||
	    !fl_window_wait(w, &head->head, w->tail, FL_WINDOW_RING))
		return false;
	to = w->base + FL_WINDOW_RING_OFFSET;
	to += w->tail % FL_WINDOW_RING;
	writew_relaxed(e->kind, &to->kind);
	writew_relaxed(e->size, &to->size);
	writel_relaxed(e->addr, &to->addr);
	writel_relaxed(e->xfer, &to->xfer);
	writel_relaxed(e->block, &to->block);
	for (i = 0; i < ARRAY_SIZE(e->arg); i++)
		writeq_relaxed(e->arg[i], &to->arg[i]);
	/*
	 * Not relaxed: after the rest of the entry, and after all that was
	 * written to memory before (page tables, queues), as on a real bus.
	 */
	writel(++w->tail, &to->seq);
	fl_window_ring(w);
	return true;
}

u64 fl_window_read(struct fl_window *w, u32 addr, u16 size)
{
	const struct fl_window_entry e = {
		.kind = FL_WINDOW_READ,
		.size = size,
		.addr = addr,
	};
	struct fl_window_head __iomem *head = fl_window_head(w);
	unsigned long flags;
	u64 value = ~0ull;

	raw_spin_lock_irqsave(&w->lock, flags);
	if (fl_window_post(w, &e) &&
	    fl_window_wait(w, &head->answer_seq, w->tail, 1)) {
		if (!readl(&head->answer_error))
			value = readq(&head->answer);
		else
			dev_err_ratelimited(w->dev, "read of 0x%x: error %d\n",
					    addr,
					    (int)readl(&head->answer_error));
	}
	raw_spin_unlock_irqrestore(&w->lock, flags);
	return size == sizeof(u32) ? (u32)value : value;
}

void fl_window_write(struct fl_window *w, u32 addr, u16 size, u64 value)
{
	const struct fl_window_entry e = {
		.kind = FL_WINDOW_WRITE,
		.size = size,
		.addr = addr,
		.arg = { value },
	};
	unsigned long flags;

	raw_spin_lock_irqsave(&w->lock, flags);
	fl_window_post(w, &e);
	raw_spin_unlock_irqrestore(&w->lock, flags);
}

void fl_window_note(struct fl_window *w, const struct fl_window_note *note)
{
	struct fl_window_entry e = {
		.kind = FL_WINDOW_NOTE,
		.addr = note->event,
		.xfer = note->xfer,
		.block = note->block,
	};
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(note->arg); i++)
		e.arg[i] = note->arg[i];
	raw_spin_lock_irqsave(&w->lock, flags);
	fl_window_post(w, &e);
	raw_spin_unlock_irqrestore(&w->lock, flags);
}

/*
 * An emulator that was killed says nothing, and while processes only poll or
 * sleep nobody asks it. So a read goes out now and then that nobody waits for:
 * by the next time it should be done.
 */
static void fl_window_beat(struct work_struct *work)
{
	const struct fl_window_entry e = {
		.kind = FL_WINDOW_READ,
		.size = sizeof(u32),
		.addr = FL_WINDOW_NIC + NIC_FW_BASE + NIC_FW_ID,
	};
	struct fl_window *w =
		container_of(to_delayed_work(work), struct fl_window, beat);
	unsigned long flags;
	u32 done;

	raw_spin_lock_irqsave(&w->lock, flags);
	done = readl(&fl_window_head(w)->head);
	if (w->dead) {
		/* It may have been slow, and put right what a page says. */
		fl_window_tell_pollers(w);
	} else if ((s32)(done - w->beat_seq) < 0) {
		if (++w->beats_late >= FL_WINDOW_PATIENCE_NS / FL_WINDOW_BEAT_NS)
			fl_window_die(w, "its emulator does not answer");
	} else if (w->tail - done < FL_WINDOW_RING) {
		w->beats_late = 0;
		fl_window_post(w, &e);
		w->beat_seq = w->tail;
	}
	raw_spin_unlock_irqrestore(&w->lock, flags);
	fl_window_watch(w);
}

void fl_window_watch(struct fl_window *w)
{
	schedule_delayed_work(&w->beat, nsecs_to_jiffies(FL_WINDOW_BEAT_NS));
}

/* The last writes have arrived when it returns. */
static void fl_window_flush(struct fl_window *w)
{
	fl_window_read(w, FL_WINDOW_NIC + NIC_FW_BASE + NIC_FW_ID, sizeof(u32));
}

/*
 * A process that was killed between taking an index and writing its entry left
 * a hole, and perhaps entries behind it; the emulator would wait there for
 * ever. Without their numbers the entries are none; after the flush it is not
 * at work on one; and from then on head stands still.
 */
void fl_window_doorbell_reset(struct fl_window *w, unsigned int slot)
{
	struct fl_window_doorbell __iomem *d = fl_window_doorbell(w, slot);
	unsigned int i;

	for (i = 0; i < FL_WINDOW_BELLS; i++)
		writel(0, &d->entry[i].seq);
	fl_window_flush(w);
	writel(readl(&d->head), &d->tail);
}

int fl_window_doorbell_mmap(struct fl_window *w, unsigned int slot,
			    struct vm_area_struct *vma)
{
	phys_addr_t page = w->base_pa + FL_WINDOW_DOORBELL_OFFSET(slot);
	unsigned long at = vma->vm_start;
	int ret;

	if (vma->vm_end - at != 2 * FL_WINDOW_PAGE)
		return -EINVAL;
	/* Memory, on which a process may use atomics, but nobody's cache. */
	ret = io_remap_pfn_range(vma, at, PHYS_PFN(page), FL_WINDOW_PAGE,
				 pgprot_writecombine(vma->vm_page_prot));
	if (ret)
		return ret;
	return io_remap_pfn_range(vma, at + FL_WINDOW_PAGE,
				  PHYS_PFN(w->bell_pa), FL_WINDOW_PAGE,
				  pgprot_noncached(vma->vm_page_prot));
}

int fl_window_start(struct fl_window *w)
{
	struct fl_window_head __iomem *head = fl_window_head(w);
	u32 magic = readl(&head->magic), version = readl(&head->version);

	BUILD_BUG_ON(sizeof(struct fl_window_head) > FL_WINDOW_PAGE);
	BUILD_BUG_ON(sizeof(struct fl_window_doorbell) > FL_WINDOW_PAGE);
	BUILD_BUG_ON(FL_WINDOW_PAGE != PAGE_SIZE);
	if (magic != FL_WINDOW_MAGIC) {
		dev_err(w->dev, "magic 0x%x in BAR 2; Faultline's is 0x%x\n",
			magic, FL_WINDOW_MAGIC);
		return -ENODEV;
	}
	if (version != FL_WINDOW_VERSION ||
	    readl(&head->bytes) != FL_WINDOW_BYTES ||
	    readl(&head->entries) != FL_WINDOW_RING) {
		dev_err(w->dev,
			"window of version %u, ring of %u; wanted: %u, %u\n",
			version, readl(&head->entries), FL_WINDOW_VERSION,
			FL_WINDOW_RING);
		return -ENODEV;
	}
	w->instance = readl(&head->instance);
	if (fl_window_ended(w)) {
		dev_err(w->dev, "its emulator has ended\n");
		return -ENODEV;
	}
	raw_spin_lock_init(&w->lock);
	INIT_WORK(&w->died, fl_window_died);
	INIT_DELAYED_WORK(&w->beat, fl_window_beat);
	/* Where the last driver left it: it flushed. */
	w->tail = readl(&head->head);
	w->beat_seq = w->tail;
	return 0;
}

void fl_window_stop(struct fl_window *w)
{
	cancel_delayed_work_sync(&w->beat);
	fl_window_flush(w);
	cancel_work_sync(&w->died);
}
