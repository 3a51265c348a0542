// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device file: a process opens it, asks, maps and goes away.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "fl_access.h"
#include "fl_tables.h"

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
	q->system = ctx->system;
	q->derived = ctx->derived;
	q->row = ctx->row;
	q->resolve = ctx->resolve;
	q->quirks = ctx->quirks;
	q->ring_slots = ctx->ring.slots;
	q->ring_bits = ctx->ring.bits;
	q->doorbell = ctx->snoop.on ? FL_DOORBELL_SNOOP :
		      fl_window(dev) ? FL_DOORBELL_WINDOW : FL_DOORBELL_STORE;
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

/* What a policy says of the backup ring; 0: nothing. */
static bool fl_ring_said_well(const struct fl_policy *p, const struct fl_system_row *row)
{
	if (!p->ring_slots && !p->ring_bits)
		return true;
	return row->rw == FL_VERDICT_DIVERT && p->ring_bits <= FL_BACKUP_BITS_MAX &&
	       (!p->ring_slots ||
		(p->ring_slots >= 2 && p->ring_slots <= FL_BACKUP_SLOTS_MAX &&
		 is_power_of_2(p->ring_slots)));
}

static int fl_ioc_policy(struct fl_ctx *ctx, void *arg)
{
	static const struct fl_system_row none;
	struct fl_policy *p = arg;
	struct fl_system_row row;
	bool snoops = ctx->snoop.on;
	u32 quirks = ctx->quirks, bits = ctx->ring.bits;
	int ret;

	if (p->system >= FL_SYSTEMS || p->derived > 1 ||
	    p->quirks & ~(u32)FL_QUIRKS_ALL ||
	    !fl_plan_known(ctx->dev, p->resolve, p->number))
		return -EINVAL;
	/* Without `derived` these bytes are reserved. */
	if (!p->derived && memcmp(&p->row, &none, sizeof(none)))
		return -EINVAL;
	row = p->derived ? p->row : *fl_system_row(p->system);
	if (!fl_row_allowed(&row) || !fl_ring_said_well(p, &row) ||
	    (p->quirks && row.transport != FL_TRANSPORT_RC))
		return -EINVAL;
	if (fl_in_flight(ctx) ||
	    (row.transport != ctx->row.transport && ctx->nqp))
		return -EBUSY;
	ret = fl_snoop_set(ctx, fl_row_snoops(&row));
	if (ret)
		return ret;
	ret = fl_row_tell_card(ctx, &row, p->quirks, p->ring_bits);
	if (ret)
		goto err_snoop;
	ret = fl_tables_change(ctx, &row);
	if (ret)
		goto err_card;
	ctx->system = p->system;
	ctx->ring.slots = p->ring_slots;
	ctx->row = row;
	WRITE_ONCE(ctx->aborting, fl_row_aborts(&row));
	ctx->derived = p->derived;
	fl_plan_set(ctx, p->resolve, p->number);
	fl_bank_set_holds(ctx, fl_row_holds(&row));
	return 0;
err_card:
	fl_row_tell_card(ctx, &ctx->row, quirks, bits);
err_snoop:
	fl_snoop_set(ctx, snoops);
	return ret;
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

static int fl_ioc_modify_qp(struct fl_ctx *ctx, void *arg)
{
	return fl_qp_modify(ctx, arg);
}

static int fl_ioc_create_srq(struct fl_ctx *ctx, void *arg)
{
	return fl_srq_create(ctx, arg);
}

static int fl_ioc_destroy_srq(struct fl_ctx *ctx, void *arg)
{
	return fl_srq_destroy(ctx, ((struct fl_destroy *)arg)->object);
}

static int fl_ioc_limit_srq(struct fl_ctx *ctx, void *arg)
{
	return fl_srq_limit(ctx, arg);
}

static int fl_ioc_create_counter(struct fl_ctx *ctx, void *arg)
{
	return fl_count_create(ctx, arg);
}

static int fl_ioc_destroy_counter(struct fl_ctx *ctx, void *arg)
{
	return fl_count_destroy(ctx, ((struct fl_destroy *)arg)->object);
}

static int fl_ioc_wait_counter(struct fl_ctx *ctx, void *arg)
{
	return fl_count_wait(ctx, arg);
}

static int fl_ioc_next_event(struct fl_ctx *ctx, void *arg)
{
	return fl_event_wait(ctx, arg);
}

static int fl_ioc_connect_qp(struct fl_ctx *ctx, void *arg)
{
	return fl_qp_connect(ctx, arg);
}

static int fl_ioc_resume_qp(struct fl_ctx *ctx, void *arg)
{
	return fl_qp_resume(ctx, ((struct fl_resume_qp *)arg)->qp);
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
	c->pinned_pages = atomic64_read(&ctx->pinned);
	c->stalls = atomic64_read(&ctx->stalls);
	c->lost_syncs = atomic64_read(&ctx->lost_syncs);
	c->loaded = atomic64_read(&ctx->nic.loaded);
	c->zapped = atomic64_read(&ctx->nic.zapped);
	c->raced = atomic64_read(&ctx->nic.raced);
	c->advised = atomic64_read(&ctx->nic.advised);
	return 0;
}

static int fl_ioc_snoop(struct fl_ctx *ctx, void *arg)
{
	struct fl_snoop_call *c = arg;

	return c->reserved ? -EINVAL : fl_snoop_wake(ctx);
}

static int fl_ioc_bounce(struct fl_ctx *ctx, void *arg)
{
	return fl_sink_bounce(ctx, arg);
}

static int fl_ioc_dma_copy(struct fl_ctx *ctx, void *arg)
{
	return fl_psdma_copy(ctx, arg);
}

static int fl_ioc_advise(struct fl_ctx *ctx, void *arg)
{
	return fl_mr_advise(ctx, arg);
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
	struct fl_snoop_call snoop;
	struct fl_resume_qp resume_qp;
	struct fl_bounce bounce;
	struct fl_dma_copy dma_copy;
	struct fl_advise advise;
	struct fl_modify_qp modify_qp;
	struct fl_create_srq create_srq;
	struct fl_limit_srq limit_srq;
	struct fl_create_counter create_counter;
	struct fl_wait_counter wait_counter;
	struct fl_next_event next_event;
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
	FL_CALL(SNOOP, fl_ioc_snoop),
	FL_CALL(RESUME_QP, fl_ioc_resume_qp),
	FL_CALL(BOUNCE, fl_ioc_bounce),
	FL_CALL(DMA_COPY, fl_ioc_dma_copy),
	FL_CALL(ADVISE, fl_ioc_advise),
	FL_CALL(MODIFY_QP, fl_ioc_modify_qp),
	FL_CALL(CREATE_SRQ, fl_ioc_create_srq),
	FL_CALL(DESTROY_SRQ, fl_ioc_destroy_srq),
	FL_CALL(LIMIT_SRQ, fl_ioc_limit_srq),
	FL_CALL(NEXT_EVENT, fl_ioc_next_event),
	FL_CALL(CREATE_COUNTER, fl_ioc_create_counter),
	FL_CALL(DESTROY_COUNTER, fl_ioc_destroy_counter),
	FL_CALL(WAIT_COUNTER, fl_ioc_wait_counter),
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

static long fl_file_ioctl(struct file *file, unsigned int cmd,
			  unsigned long uarg)
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
	/* A file that was cut off may ask why. */
	if (fl_ctx_over(ctx) &&
	    !(READ_ONCE(ctx->lost) && c->call == fl_ioc_counters))
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

static int fl_file_open(struct inode *inode, struct file *file)
{
	struct fl_dev *dev = container_of(inode->i_cdev, struct fl_dev, cdev);
	struct fl_ctx *ctx;
	int ret;

	if (!current->mm)
		return -EINVAL;
	ctx = fl_ctx_new(dev, file);
	if (!ctx)
		return -ENOMEM;
	ret = fl_ctx_start(ctx);
	if (ret) {
		fl_ctx_put(ctx);
		return ret;
	}
	file->private_data = ctx;
	return 0;
}

static int fl_file_release(struct inode *inode, struct file *file)
{
	fl_ctx_close(file->private_data);
	return 0;
}

static __poll_t fl_file_poll(struct file *file, poll_table *table)
{
	struct fl_ctx *ctx = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &ctx->wait, table);
	mutex_lock(&ctx->lock);
	if (fl_ctx_over(ctx))
		mask = EPOLLERR | EPOLLHUP;
	else
		mask = (fl_cq_any_event(ctx) ? EPOLLIN | EPOLLRDNORM : 0) |
		       (fl_event_any(ctx) ? EPOLLPRI : 0);
	mutex_unlock(&ctx->lock);
	return mask;
}

const struct file_operations fl_fops = {
	.owner = THIS_MODULE,
	.open = fl_file_open,
	.release = fl_file_release,
	.unlocked_ioctl = fl_file_ioctl,
	/* Structures are the same for a 32-bit program (uapi.h). */
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = fl_mmap,
	.poll = fl_file_poll,
};
