// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a process on the card: how it gets a slot, and how it leaves.
 *
 * It leaves when its file is closed, when its address space ends (a child that
 * inherited the file can do nothing with it, and shall keep nothing), or when
 * the card loses its driver, whichever comes first. That takes as long as the
 * firmware, the notifiers and the pinned pages need, so it is done under the
 * lock of this one process; and so is opening, which needs the process's mmap
 * lock. dev->lock is held for as long as it takes to look at a table: nobody who
 * opens the card waits for another process.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "fl_access.h"
#include "fl_tables_own.h"

/* ---- the object ---- */

static void fl_ctx_end_work(struct work_struct *work);

struct fl_ctx *fl_ctx_new(struct fl_dev *dev, struct file *file)
{
	struct fl_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);

	if (!ctx)
		return NULL;
	if (fl_map_prepare(ctx)) {
		kfree(ctx);
		return NULL;
	}
	ctx->mapping = file->f_mapping;
	kref_init(&ctx->ref);
	fl_dev_get(dev);
	ctx->dev = dev;
	ctx->mm = current->mm;
	mmgrab(ctx->mm);
	ctx->uid = current_uid();
	ctx->notifier.ops = &fl_notifier_ops;
	ctx->system = dev->system;
	ctx->row = *fl_system_row(dev->system);
	ctx->aborting = fl_row_aborts(&ctx->row);
	ctx->tables = fl_tables_of(&ctx->row);
	fl_pin_init(ctx);
	ctx->next_offset = PAGE_SIZE;	/* after the doorbell page */
	mutex_init(&ctx->life);
	mutex_init(&ctx->lock);
	mutex_init(&ctx->queue_lock);
	spin_lock_init(&ctx->list_lock);
	spin_lock_init(&ctx->bank_lock);
	INIT_LIST_HEAD(&ctx->list);
	INIT_LIST_HEAD(&ctx->pds);
	INIT_LIST_HEAD(&ctx->mrs);
	INIT_LIST_HEAD(&ctx->cqs);
	INIT_LIST_HEAD(&ctx->qps);
	INIT_LIST_HEAD(&ctx->srqs);
	INIT_LIST_HEAD(&ctx->counters);
	INIT_LIST_HEAD(&ctx->queues);
	INIT_WORK(&ctx->stall_work, fl_stall_work);
	fl_ahead_init(ctx);
	fl_snoop_init(ctx);
	fl_own_init(&ctx->inserted, ctx);
	fl_own_init(&ctx->ondemand, ctx);
	fl_own_init(&ctx->sunk, ctx);
	fl_own_init(&ctx->carded, ctx);
	fl_own_init(&ctx->shadowed, ctx);
	fl_nic_init(ctx);
	fl_advise_init(ctx);
	fl_sink_init(ctx);
	fl_plan_init(ctx);
	fl_plan_set(ctx, dev->resolve, dev->resolve_number);
	INIT_WORK(&ctx->end_work, fl_ctx_end_work);
	init_waitqueue_head(&ctx->wait);
	return ctx;
}

/* ---- slots; dev->lock is held ---- */

static void fl_slot_set(struct fl_dev *dev, unsigned int slot,
			struct fl_ctx *ctx)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->irq_lock, flags);
	WRITE_ONCE(dev->slot[slot], ctx);
	spin_unlock_irqrestore(&dev->irq_lock, flags);
}

/* The free slot that was given back longest ago; -EBUSY: none. */
static int fl_slot_find(struct fl_dev *dev)
{
	unsigned int i, slot;

	for (i = 0; i < FL_SLOTS; i++) {
		slot = (dev->next_slot + i) % FL_SLOTS;
		if (!dev->slot[slot]) {
			dev->next_slot = slot + 1;
			return slot;
		}
	}
	return -EBUSY;
}

/*
 * What a file may hold is limited (fl_dev.h), and so are the files: those of a
 * process, and those of a user, who has as many processes as he likes.
 */
static bool fl_slot_allowed(struct fl_dev *dev, const struct fl_ctx *ctx)
{
	unsigned int i, process = 0, user = 0;

	for (i = 0; i < FL_SLOTS; i++) {
		if (!dev->slot[i])
			continue;
		process += dev->slot[i]->mm == ctx->mm;
		user += uid_eq(dev->slot[i]->uid, ctx->uid);
	}
	return (process < FL_FILES_MAX && user < FL_USER_FILES_MAX) ||
	       capable(CAP_SYS_RESOURCE);
}

/* The slot is the process's from now on; the card knows nothing of it yet. */
static int fl_slot_take(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	int ret;

	mutex_lock(&dev->lock);
	if (dev->gone || fl_card_dead(dev))
		ret = -ENODEV;
	else if (!fl_slot_allowed(dev, ctx))
		ret = -EDQUOT;
	else
		ret = fl_slot_find(dev);
	if (ret >= 0) {
		ctx->slot = ret;
		ctx->id = ++dev->opened;
		ctx->stream = dev->stream_base + ctx->slot +
			      FL_SLOTS * dev->slot_turn[ctx->slot];
		fl_slot_set(dev, ctx->slot, ctx);
		list_add_tail(&ctx->list, &dev->files);
	}
	mutex_unlock(&dev->lock);
	return min(ret, 0);
}

static void fl_slot_give_back(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;

	mutex_lock(&dev->lock);
	fl_slot_set(dev, ctx->slot, NULL);
	dev->slot_turn[ctx->slot]++;
	dev->slot_turn[ctx->slot] %= FL_STREAM_TURNS;
	mutex_unlock(&dev->lock);
}

/* ---- the beginning ---- */

/* ctx->life is held, and the slot is its own. */
static int fl_ctx_bind(struct fl_ctx *ctx)
{
	struct fl_fw_cmd cmd = { .opcode = FL_CMD_SLOT_OPEN, .a = ctx->stream };
	struct fl_dev *dev = ctx->dev;
	int ret;

	if (fl_window(dev))
		fl_window_doorbell_reset(fl_window(dev), ctx->slot);
	ret = fl_bank_prepare(ctx);
	if (ret)
		return ret;
	ret = ctx->tables->bind(ctx);
	if (ret)
		goto err_bank;
	ret = fl_cmd(ctx, &cmd, NULL);
	if (ret)
		goto err_tables;
	ret = fl_row_tell_card(ctx, &ctx->row, ctx->quirks, ctx->ring.bits);
	if (ret)
		goto err_close;
	ret = fl_snoop_set(ctx, fl_row_snoops(&ctx->row));
	if (ret)
		goto err_close;
	ret = mmu_notifier_register(&ctx->notifier, ctx->mm);
	if (ret)
		goto err_close;
	/* The slot has its owner: the bank may fault as soon as it is on. */
	ret = fl_bank_on(ctx);
	if (ret)
		goto err_notifier;
	return 0;

err_notifier:
	WRITE_ONCE(ctx->draining, true);
	mmu_notifier_unregister(&ctx->notifier, ctx->mm);
	fl_bank_off(ctx);
err_close:
	fl_snoop_free(ctx);
	fl_cmd_object(ctx, FL_CMD_SLOT_CLOSE, 0);
err_tables:
	ctx->tables->unbind(ctx);
err_bank:
	fl_bank_unprepare(ctx);
	return ret;
}

static void fl_ctx_forget(struct fl_ctx *ctx)
{
	mutex_lock(&ctx->dev->lock);
	list_del_init(&ctx->list);
	mutex_unlock(&ctx->dev->lock);
}

int fl_ctx_start(struct fl_ctx *ctx)
{
	int ret;

	/* What takes the card away waits until there is something to end. */
	mutex_lock(&ctx->life);
	ret = fl_slot_take(ctx);
	if (!ret) {
		ret = fl_ctx_bind(ctx);
		if (ret) {
			ctx->ended = true;
			fl_slot_give_back(ctx);
			fl_ctx_forget(ctx);
		}
	}
	mutex_unlock(&ctx->life);
	return ret;
}

/* ---- the end ---- */

/*
 * No new calls, no new faults, and no access that is held: a channel that waits
 * for RESUME could not be stopped. This takes as long as the page that a worker
 * waits for, and where that comes from is the process's own choice (a file of
 * its own FUSE server).
 */
static void fl_ctx_silence(struct fl_ctx *ctx)
{
	unsigned long flags;

	/* A call that is under way comes to its end; the next one sees it. */
	mutex_lock(&ctx->lock);
	WRITE_ONCE(ctx->dead, true);
	mutex_unlock(&ctx->lock);
	wake_up_all(&ctx->wait);
	/* First: they take the mmap lock again and again. */
	fl_ahead_end(ctx);
	fl_snoop_end(ctx);
	fl_psdma_end(ctx);
	fl_sink_end(ctx);
	fl_nic_close(ctx);
	fl_advise_end(ctx);
	fl_nic_end(ctx);
	spin_lock_irqsave(&ctx->bank_lock, flags);
	WRITE_ONCE(ctx->draining, true);
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	fl_bank_set_holds(ctx, false);
	cancel_work_sync(&ctx->stall_work);
	fl_stall_end(ctx);
}

/* ctx->life is held. */
static void fl_ctx_leave(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	int ret;

	fl_ctx_silence(ctx);
	/*
	 * Kills blocks in flight; then no queue of the slot is written. A card
	 * that is gone writes none either, unless it is only silent; -ENOENT:
	 * fl_life_cut() was here before.
	 */
	ret = fl_cmd_object(ctx, FL_CMD_SLOT_CLOSE, 0);
	if (ret == -ENOENT || (ret == -ENODEV && !fl_card_silent(dev)))
		ret = 0;
	if (ret && ret != -ENODEV)
		dev_err(dev->dev, "slot %u does not close: %d\n", ctx->slot,
			ret);
	/* Tables that may go when the notifier has gone are not walked. */
	fl_bank_block(ctx);
	mmu_notifier_unregister(&ctx->notifier, ctx->mm);
	fl_bank_off(ctx);
	fl_bank_unprepare(ctx);

	mutex_lock(&ctx->lock);
	fl_mr_free_all(ctx);
	fl_snoop_free(ctx);
	ctx->tables->unbind(ctx);
	fl_qp_end_all(ctx);
	fl_srq_end_all(ctx);
	fl_count_end_all(ctx);
	fl_cq_end_all(ctx);
	fl_queue_end_all(ctx, !ret);
	fl_pd_free_all(ctx);
	mutex_unlock(&ctx->lock);
	fl_slot_give_back(ctx);
}

/* Take the process off the card. Once or more; the others wait for the first. */
static void fl_ctx_end(struct fl_ctx *ctx)
{
	mutex_lock(&ctx->life);
	if (!ctx->ended)
		fl_ctx_leave(ctx);
	ctx->ended = true;
	/* A device that loses its driver must not have memory any more. */
	if (READ_ONCE(ctx->dev->gone) && !ctx->closed) {
		fl_map_end(ctx);
		fl_queue_drop_mapped(ctx);
	}
	mutex_unlock(&ctx->life);
}

static void fl_ctx_end_work(struct work_struct *work)
{
	struct fl_ctx *ctx = container_of(work, struct fl_ctx, end_work);

	fl_ctx_end(ctx);
	fl_ctx_put(ctx);
}

void fl_ctx_close(struct fl_ctx *ctx)
{
	fl_ctx_end(ctx);
	/* It would find nothing to do. */
	if (cancel_work_sync(&ctx->end_work))
		fl_ctx_put(ctx);
	/* What takes the card away may have found it; ctx->mapping may go. */
	mutex_lock(&ctx->life);
	ctx->closed = true;
	mutex_unlock(&ctx->life);
	fl_ctx_forget(ctx);
	fl_ctx_put(ctx);
}

/* One of the files that are open, with a reference; it is not found again. */
static struct fl_ctx *fl_ctx_next(struct fl_dev *dev)
{
	struct fl_ctx *ctx = NULL;

	mutex_lock(&dev->lock);
	if (!list_empty(&dev->files)) {
		ctx = list_first_entry(&dev->files, struct fl_ctx, list);
		list_del_init(&ctx->list);
		kref_get(&ctx->ref);
	}
	mutex_unlock(&dev->lock);
	return ctx;
}

/* From now on nobody gets a slot, and all calls answer -ENODEV. */
static void fl_life_over(struct fl_dev *dev)
{
	mutex_lock(&dev->lock);
	WRITE_ONCE(dev->gone, true);
	mutex_unlock(&dev->lock);
	fl_wake_all(dev);
	fl_psdma_wake(dev);
}

void fl_life_end(struct fl_dev *dev)
{
	struct fl_ctx *ctx;

	fl_life_over(dev);
	while ((ctx = fl_ctx_next(dev))) {
		fl_ctx_end(ctx);
		fl_ctx_put(ctx);
	}
}

unsigned int fl_life_cut_banks(struct fl_dev *dev)
{
	struct fl_ctx *ctx;
	unsigned int i, n = 0;

	for (i = 0; i < FL_SLOTS; i++) {
		ctx = fl_ctx_on(dev, i);
		if (!ctx)
			continue;
		if (READ_ONCE(ctx->sctlr)) {
			fl_bank_cut(ctx);
			n++;
		}
		fl_ctx_put(ctx);
	}
	return n;
}

void fl_life_cut(struct fl_dev *dev)
{
	struct fl_ctx *ctx;
	unsigned int i;

	fl_life_over(dev);
	for (i = 0; i < FL_SLOTS; i++) {
		ctx = fl_ctx_on(dev, i);
		if (!ctx)
			continue;
		fl_bank_cut(ctx);
		fl_nic_close(ctx);
		/* The queues are written by address, past the SMMU. */
		fl_cmd_object(ctx, FL_CMD_SLOT_CLOSE, 0);
		fl_ctx_put(ctx);
	}
}
