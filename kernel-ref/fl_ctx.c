// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device file: a process opens it, asks, maps and goes away.
 */
#include <linux/build_bug.h>
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "fl_access.h"
#include "fl_dev.h"

/* ---- life of a struct fl_ctx ---- */

struct fl_ctx *fl_ctx_get(struct fl_dev *dev, unsigned int slot, u64 id)
{
	struct fl_ctx *ctx;
	unsigned long flags;

	spin_lock_irqsave(&dev->irq_lock, flags);
	ctx = dev->slot[slot];
	if (ctx && ctx->id == id)
		kref_get(&ctx->ref);
	else
		ctx = NULL;
	spin_unlock_irqrestore(&dev->irq_lock, flags);
	return ctx;
}

static void fl_ctx_free(struct kref *ref)
{
	struct fl_ctx *ctx = container_of(ref, struct fl_ctx, ref);

	fl_map_free(ctx);
	mmdrop(ctx->mm);
	fl_dev_put(ctx->dev);
	kfree(ctx);
}

void fl_ctx_put(struct fl_ctx *ctx)
{
	kref_put(&ctx->ref, fl_ctx_free);
}

static struct fl_ctx *fl_ctx_new(struct fl_dev *dev, struct file *file)
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
	ctx->notifier.ops = &fl_notifier_ops;
	ctx->fault_mode = dev->fault_mode;
	ctx->resolve = dev->resolve;
	ctx->next_offset = PAGE_SIZE;	/* after the doorbell page */
	mutex_init(&ctx->lock);
	mutex_init(&ctx->queue_lock);
	spin_lock_init(&ctx->list_lock);
	spin_lock_init(&ctx->bank_lock);
	INIT_LIST_HEAD(&ctx->pds);
	INIT_LIST_HEAD(&ctx->mrs);
	INIT_LIST_HEAD(&ctx->cqs);
	INIT_LIST_HEAD(&ctx->qps);
	INIT_LIST_HEAD(&ctx->queues);
	INIT_WORK(&ctx->stall_work, fl_stall_work);
	fl_ahead_init(ctx);
	init_waitqueue_head(&ctx->wait);
	return ctx;
}

static void fl_slot_set(struct fl_dev *dev, unsigned int slot,
			struct fl_ctx *ctx)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->irq_lock, flags);
	dev->slot[slot] = ctx;
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

/* What a file may hold is limited (fl_dev.h), and so are the files. */
static bool fl_slot_allowed(struct fl_dev *dev, struct mm_struct *mm)
{
	unsigned int i, n = 0;

	for (i = 0; i < FL_SLOTS; i++)
		if (dev->slot[i] && dev->slot[i]->mm == mm)
			n++;
	return n < FL_FILES_MAX || capable(CAP_SYS_RESOURCE);
}

/* Put the process on the card; dev->lock is held. */
static int fl_ctx_start(struct fl_ctx *ctx)
{
	struct fl_fw_cmd cmd = { .opcode = FL_CMD_SLOT_OPEN };
	struct fl_dev *dev = ctx->dev;
	int ret;

	if (dev->gone || fl_card_dead(dev))
		return -ENODEV;
	if (!fl_slot_allowed(dev, ctx->mm))
		return -EDQUOT;
	ret = fl_slot_find(dev);
	if (ret < 0)
		return ret;
	ctx->slot = ret;
	if (fl_window(dev))
		fl_window_doorbell_reset(fl_window(dev), ctx->slot);
	ctx->id = ++dev->opened;
	ctx->stream = dev->stream_base + ctx->slot +
		      FL_SLOTS * dev->slot_turn[ctx->slot];
	ret = fl_bank_prepare(ctx);
	if (ret)
		return ret;
	cmd.a = ctx->stream;
	ret = fl_cmd(ctx, &cmd, NULL);
	if (ret)
		goto err_bank;
	ret = mmu_notifier_register(&ctx->notifier, ctx->mm);
	if (ret)
		goto err_slot;
	/* An owner first: the bank may fault as soon as it is on. */
	fl_slot_set(dev, ctx->slot, ctx);
	fl_bank_on(ctx);
	return 0;

err_slot:
	fl_cmd_object(ctx, FL_CMD_SLOT_CLOSE, 0);
err_bank:
	fl_bank_unprepare(ctx);
	return ret;
}

/*
 * No new calls, no new faults, and no access that is held: a channel that waits
 * for RESUME could not be stopped. This takes as long as the page that a worker
 * waits for, and where that comes from is the process's own choice (a file of
 * its own FUSE server); so whoever can calls it without dev->lock, which all
 * need to open and to close. Once or more; the others wait for the first.
 */
static void fl_ctx_silence(struct fl_ctx *ctx)
{
	unsigned long flags;

	mutex_lock(&ctx->lock);
	if (ctx->dead)
		goto out;
	WRITE_ONCE(ctx->dead, true);
	wake_up_all(&ctx->wait);
	spin_lock_irqsave(&ctx->bank_lock, flags);
	ctx->quiet = true;
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	fl_bank_set_mode(ctx, FL_MODE_TERMINATE);
	cancel_work_sync(&ctx->stall_work);
	fl_stall_end(ctx);
	fl_ahead_end(ctx);
out:
	mutex_unlock(&ctx->lock);
}

void fl_ctx_quiesce(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	int ret;

	fl_ctx_silence(ctx);
	if (dev->slot[ctx->slot] != ctx)
		return;

	/*
	 * Kills blocks in flight; then no queue of the slot is written. A card
	 * that is gone writes none either, unless it is only silent.
	 */
	ret = fl_cmd_object(ctx, FL_CMD_SLOT_CLOSE, 0);
	if (ret == -ENODEV && !fl_card_silent(dev))
		ret = 0;
	if (ret && ret != -ENODEV)
		dev_err(dev->dev, "slot %u does not close: %d\n", ctx->slot,
			ret);
	/* Tables that may go when the notifier has gone are not walked. */
	fl_bank_block(ctx);
	mmu_notifier_unregister(&ctx->notifier, ctx->mm);
	fl_bank_off(ctx);
	fl_bank_unprepare(ctx);
	if (dev->gone)
		fl_map_end(ctx);

	mutex_lock(&ctx->lock);
	fl_mr_free_all(ctx);
	fl_queue_free_all(ctx, !ret);
	fl_pd_free_all(ctx);
	mutex_unlock(&ctx->lock);

	fl_slot_set(dev, ctx->slot, NULL);
	dev->slot_turn[ctx->slot]++;
	dev->slot_turn[ctx->slot] %= FL_STREAM_TURNS;
}

/* ---- calls; ctx->lock is held, the argument is the kernel's copy ---- */

static int fl_ioc_query(struct fl_ctx *ctx, void *arg)
{
	struct fl_dev *dev = ctx->dev;
	struct fl_query *q = arg;

	q->abi = FL_ABI_VERSION;
	q->node = dev->node;
	q->slot = ctx->slot;
	q->block_bytes = dev->block_bytes;
	q->max_qp = min_t(u32, dev->max_qp, FL_QPS_MAX);
	q->max_cq = min_t(u32, dev->max_cq, FL_CQS_MAX);
	q->max_mr = dev->max_mr;
	q->max_queue = FL_QUEUE_MAX;
	q->fault_mode = ctx->fault_mode;
	q->resolve = ctx->resolve;
	q->doorbell = fl_window(dev) ? FL_DOORBELL_WINDOW : FL_DOORBELL_STORE;
	return 0;
}

/* Does a context of the engine carry a block of this process? */
static bool fl_in_flight(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	unsigned int i;
	u32 base, qp;

	for (i = 0; i < dev->contexts[0]; i++) {
		base = NIC_CTX_BASE(i);
		if (fl_nic_read(dev, base + NIC_CTX_STATE) &
			    NIC_CTX_STATE_STATE_MASK &&
		    fl_nic_read(dev, base + NIC_CTX_STREAM) == ctx->stream)
			return true;
	}
	for (i = 0; i < dev->contexts[1]; i++) {
		base = NIC_RXC_BASE(i);
		qp = fl_nic_read(dev, base + NIC_RXC_SRC) >>
		     NIC_RXC_SRC_QPN_SHIFT;
		if (fl_nic_read(dev, base + NIC_RXC_STATE) &
			    NIC_RXC_STATE_STATE_MASK &&
		    fl_qp_find(ctx, qp))
			return true;
	}
	return false;
}

static int fl_ioc_policy(struct fl_ctx *ctx, void *arg)
{
	struct fl_policy *p = arg;

	if (p->fault_mode > FL_MODE_STALL || p->resolve > FL_RESOLVE_TRANSFER ||
	    p->reserved)
		return -EINVAL;
	if (fl_in_flight(ctx))
		return -EBUSY;
	WRITE_ONCE(ctx->fault_mode, p->fault_mode);
	WRITE_ONCE(ctx->resolve, p->resolve);
	fl_bank_set_mode(ctx, p->fault_mode);
	return 0;
}

static int fl_ioc_alloc_pd(struct fl_ctx *ctx, void *arg)
{
	return fl_pd_alloc(ctx, arg);
}

static int fl_ioc_dealloc_pd(struct fl_ctx *ctx, void *arg)
{
	return fl_pd_dealloc(ctx, ((struct fl_destroy *)arg)->object);
}

static int fl_ioc_reg_mr(struct fl_ctx *ctx, void *arg)
{
	return fl_mr_reg(ctx, arg);
}

static int fl_ioc_dereg_mr(struct fl_ctx *ctx, void *arg)
{
	return fl_mr_dereg(ctx, ((struct fl_destroy *)arg)->object);
}

static int fl_ioc_create_cq(struct fl_ctx *ctx, void *arg)
{
	return fl_cq_create(ctx, arg);
}

static int fl_ioc_destroy_cq(struct fl_ctx *ctx, void *arg)
{
	return fl_cq_destroy(ctx, ((struct fl_destroy *)arg)->object);
}

static int fl_ioc_create_qp(struct fl_ctx *ctx, void *arg)
{
	return fl_qp_create(ctx, arg);
}

static int fl_ioc_connect_qp(struct fl_ctx *ctx, void *arg)
{
	return fl_qp_connect(ctx, arg);
}

static int fl_ioc_destroy_qp(struct fl_ctx *ctx, void *arg)
{
	return fl_qp_destroy(ctx, ((struct fl_destroy *)arg)->object);
}

static int fl_ioc_prefetch(struct fl_ctx *ctx, void *arg)
{
	return fl_mr_prefetch(ctx, arg);
}

static int fl_ioc_wait_cq(struct fl_ctx *ctx, void *arg)
{
	return fl_cq_wait(ctx, arg);
}

static int fl_ioc_counters(struct fl_ctx *ctx, void *arg)
{
	struct fl_counters *c = arg;

	if (c->reserved)
		return -EINVAL;
	c->faults = atomic64_read(&ctx->faults);
	c->faults_src = atomic64_read(&ctx->faults_src);
	c->faults_dst = atomic64_read(&ctx->faults_dst);
	c->pages_in = atomic64_read(&ctx->pages_in);
	c->resolves = atomic64_read(&ctx->resolves);
	c->failed = atomic64_read(&ctx->failed);
	c->spurious = atomic64_read(&ctx->spurious);
	c->invalidations = atomic64_read(&ctx->invalidations);
	c->pinned_pages = ctx->pinned;
	c->stalls = atomic64_read(&ctx->stalls);
	return 0;
}

/* Of every call: the largest says how much a call may copy. */
union fl_arg {
	struct fl_query query;
	struct fl_policy policy;
	struct fl_alloc_pd alloc_pd;
	struct fl_destroy destroy;
	struct fl_reg_mr reg_mr;
	struct fl_create_cq create_cq;
	struct fl_create_qp create_qp;
	struct fl_connect_qp connect_qp;
	struct fl_prefetch prefetch;
	struct fl_wait_cq wait_cq;
	struct fl_counters counters;
};

struct fl_call {
	unsigned int cmd;
	int (*call)(struct fl_ctx *ctx, void *arg);
};

/* By number; direction and size of this version stand in cmd. */
#define FL_CALL(name, fn)						\
	[_IOC_NR(FL_IOC_##name)] = {					\
		FL_IOC_##name + BUILD_BUG_ON_ZERO(			\
			_IOC_SIZE(FL_IOC_##name) > sizeof(union fl_arg)), \
		fn							\
	}
static const struct fl_call fl_calls[] = {
	FL_CALL(QUERY, fl_ioc_query),
	FL_CALL(POLICY, fl_ioc_policy),
	FL_CALL(ALLOC_PD, fl_ioc_alloc_pd),
	FL_CALL(DEALLOC_PD, fl_ioc_dealloc_pd),
	FL_CALL(REG_MR, fl_ioc_reg_mr),
	FL_CALL(DEREG_MR, fl_ioc_dereg_mr),
	FL_CALL(CREATE_CQ, fl_ioc_create_cq),
	FL_CALL(DESTROY_CQ, fl_ioc_destroy_cq),
	FL_CALL(CREATE_QP, fl_ioc_create_qp),
	FL_CALL(CONNECT_QP, fl_ioc_connect_qp),
	FL_CALL(DESTROY_QP, fl_ioc_destroy_qp),
	FL_CALL(PREFETCH, fl_ioc_prefetch),
	FL_CALL(WAIT_CQ, fl_ioc_wait_cq),
	FL_CALL(COUNTERS, fl_ioc_counters),
};

/* The size in the command may be another version's; the rest must fit. */
static const struct fl_call *fl_call_find(unsigned int cmd)
{
	unsigned int nr = _IOC_NR(cmd);
	const struct fl_call *c;

	if (nr >= ARRAY_SIZE(fl_calls))
		return NULL;
	c = &fl_calls[array_index_nospec(nr, ARRAY_SIZE(fl_calls))];
	if (!c->call || _IOC_TYPE(cmd) != _IOC_TYPE(c->cmd) ||
	    _IOC_DIR(cmd) != _IOC_DIR(c->cmd))
		return NULL;
	return c;
}

static long fl_ioctl(struct file *file, unsigned int cmd, unsigned long uarg)
{
	struct fl_ctx *ctx = file->private_data;
	const struct fl_call *c = fl_call_find(cmd);
	void __user *user = (void __user *)uarg;
	union fl_arg arg;
	size_t ksize;
	u32 usize;
	int ret;

	if (!c)
		return -ENOTTY;
	/* A child that inherited the file is not the process on the card. */
	if (current->mm != ctx->mm)
		return -EPERM;
	ksize = _IOC_SIZE(c->cmd);
	if (copy_from_user(&usize, user, sizeof(usize)))
		return -EFAULT;
	/* Every call has at least one member after the size. */
	if (usize < 2 * sizeof(u32) || usize > PAGE_SIZE)
		return -EINVAL;
	ret = copy_struct_from_user(&arg, ksize, user, usize);
	if (ret)
		return ret;
	mutex_lock(&ctx->lock);
	if (fl_ctx_over(ctx))
		ret = -ENODEV;
	else
		ret = c->call(ctx, &arg);
	mutex_unlock(&ctx->lock);
	/* A fault on the way out leaves an object that closing frees. */
	if (!ret && _IOC_DIR(cmd) & _IOC_READ &&
	    copy_to_user(user, &arg, min_t(size_t, ksize, usize)))
		return -EFAULT;
	return ret;
}

/* ---- file ---- */

static int fl_open(struct inode *inode, struct file *file)
{
	struct miscdevice *misc = file->private_data;
	struct fl_dev *dev = container_of(misc, struct fl_dev, misc);
	struct fl_ctx *ctx;
	int ret;

	if (!current->mm)
		return -EINVAL;
	ctx = fl_ctx_new(dev, file);
	if (!ctx)
		return -ENOMEM;
	mutex_lock(&dev->lock);
	ret = fl_ctx_start(ctx);
	mutex_unlock(&dev->lock);
	if (ret) {
		fl_ctx_put(ctx);
		return ret;
	}
	file->private_data = ctx;
	return 0;
}

static int fl_release(struct inode *inode, struct file *file)
{
	struct fl_ctx *ctx = file->private_data;
	struct fl_dev *dev = ctx->dev;

	fl_ctx_silence(ctx);
	mutex_lock(&dev->lock);
	fl_ctx_quiesce(ctx);
	mutex_unlock(&dev->lock);
	fl_ctx_put(ctx);
	return 0;
}

static __poll_t fl_poll(struct file *file, poll_table *table)
{
	struct fl_ctx *ctx = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &ctx->wait, table);
	mutex_lock(&ctx->lock);
	if (fl_ctx_over(ctx))
		mask = EPOLLERR | EPOLLHUP;
	else if (fl_cq_any_event(ctx))
		mask = EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&ctx->lock);
	return mask;
}

const struct file_operations fl_fops = {
	.owner = THIS_MODULE,
	.open = fl_open,
	.release = fl_release,
	.unlocked_ioctl = fl_ioctl,
	/* Structures are the same for a 32-bit program (uapi.h). */
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = fl_mmap,
	.poll = fl_poll,
};
