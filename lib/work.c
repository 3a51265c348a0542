// SPDX-License-Identifier: BSD-2-Clause
/*
 * Posting. No system call, no lock, no allocation: one entry in memory that the
 * card reads, one doorbell. (But for the system "prefault", whose point is the call
 * beforehand.)
 */
#include <errno.h>
#include <string.h>

#include "bounce.h"

static int work_ring(struct fl_qp *qp, uint16_t tail)
{
	struct fl_device *dev = qp->pd->dev;

	lib_entry_before_doorbell();
	if (dev->snoop)
		return lib_publish(dev,
				   &dev->snoop->sq[qp->number % FL_SNOOP_QUEUES],
				   tail);
	return lib_doorbell(dev, NIC_DB_SQ,
			    (qp->number << NIC_DB_SQ_QPN_SHIFT &
			     NIC_DB_SQ_QPN_MASK) |
			    (uint32_t)tail << NIC_DB_SQ_TAIL_SHIFT);
}

int lib_post_entry(struct fl_qp *qp, const struct fl_wqe *e)
{
	return lib_post_entries(qp, e, NULL, 0);
}

int lib_post_entries(struct fl_qp *qp, const struct fl_wqe *e,
		     const struct fl_wqe_more *more, unsigned int n)
{
	_Static_assert(sizeof(*e) == sizeof(*more), "entries of one queue");
	struct fl_device *dev = qp->pd->dev;
	const struct fl_sys *sys = dev->sys;
	uint32_t posted, done;
	unsigned int i;

	posted = atomic_load_explicit(&qp->posted, memory_order_relaxed);
	/*
	 * Acquire pairs with the release of `done` in cq.c: the card was done
	 * with the entry before its completion was seen there, so overwriting
	 * the entry here comes after.
	 */
	done = atomic_load_explicit(&qp->done, memory_order_acquire);
	if (posted - done + n >= qp->entries)
		return -EAGAIN;
	qp->queue[posted & (qp->entries - 1)] = *e;
	for (i = 0; i < n; i++)
		memcpy(&qp->queue[(posted + 1 + i) & (qp->entries - 1)],
		       &more[i], sizeof(more[i]));
	if (sys->spend)
		sys->spend(dev->fd, FL_SYS_POST);
	if (sys->trace) {
		sys->trace(dev->fd, FL_SYS_EV_POST, e->xfer, qp->number,
			   e->opcode, e->local_va, e->length);
		sys->trace(dev->fd, dev->snoop ? FL_SYS_EV_PUBLISH :
						 FL_SYS_EV_DOORBELL,
			   e->xfer, qp->number, (uint16_t)posted, 0, 0);
	}
	/* Before the doorbell: its completion may be polled at once. */
	atomic_store_explicit(&qp->posted, posted + 1 + n,
			      memory_order_release);
	return work_ring(qp, (uint16_t)(posted + 1 + n));
}

/*
 * This side's pages; those of the other side are its own process's to bring in. It is a
 * guess, since they may leave again: what is wrong with the request the card says.
 */
static void work_prefault(struct fl_device *dev, const struct fl_work *w)
{
	struct fl_prefetch p = {
		.size = sizeof(p),
		.key = w->lkey,
		.addr = (uintptr_t)w->local,
		.length = w->bytes,
		.flags = w->opcode == FL_READ ? FL_PREFETCH_WRITE : 0,
	};

	lib_ioctl(dev, FL_IOC_PREFETCH, &p);
}

int lib_post_work(struct fl_qp *qp, const struct fl_work *w)
{
	struct fl_wqe e;
	uint32_t posted;

	posted = atomic_load_explicit(&qp->posted, memory_order_relaxed);
	/* Relaxed: only to number no transfer that will not be posted. */
	if (posted - atomic_load_explicit(&qp->done, memory_order_relaxed) >=
	    qp->entries)
		return -EAGAIN;
	if (qp->pd->dev->prefault)
		work_prefault(qp->pd->dev, w);
	e = (struct fl_wqe){
		.opcode = w->opcode == FL_WRITE ? FL_OP_WRITE : FL_OP_READ,
		.flags = (w->unsignaled ? 0 : FL_WQE_SIGNALED) |
			 (w->fence ? FL_WQE_FENCE : 0),
		.index = (uint16_t)posted,
		.length = w->bytes,
		.local_va = (uintptr_t)w->local,
		.remote_va = w->remote,
		.lkey = w->lkey,
		.rkey = w->rkey,
		.wr_id = w->wr_id,
		.xfer = lib_xfer_number(qp->pd->dev, qp->number, posted),
	};
	return lib_post_entry(qp, &e);
}

/* What only packets have. */
static bool work_needs_rc(const struct fl_work *w)
{
	return w->list || w->segments || w->inlined || w->with_imm || w->imm ||
	       w->solicited || w->compare || w->swap || w->notify || w->to || w->qkey;
}

/* Entries of the queue that it takes, or why it makes no sense. */
static int work_judge(const struct fl_qp *qp, const struct fl_work *w)
{
	if (qp->rc)
		return lib_judge_rc(qp, w);
	if (!w->bytes || work_needs_rc(w) ||
	    (w->opcode != FL_WRITE && w->opcode != FL_READ))
		return -EINVAL;
	if ((uint64_t)(uintptr_t)w->local + (w->bytes - 1) <
	    (uint64_t)(uintptr_t)w->local ||
	    w->remote + (w->bytes - 1) < w->remote)
		return -EINVAL;
	return 1;
}

static int work_put(struct fl_qp *qp, const struct fl_work *w)
{
	if (qp->rc)
		return lib_post_rc(qp, w);
	return qp->bounce ? bounce_post(qp, w) : lib_post_work(qp, w);
}

int fl_post(struct fl_qp *qp, const struct fl_work *w)
{
	int entries;

	if (!qp || !w)
		return -EINVAL;
	entries = work_judge(qp, w);
	return entries < 0 ? entries : work_put(qp, w);
}

/* The card, or what else takes them, only makes more room meanwhile. */
static bool work_fits(const struct fl_qp *qp, uint64_t entries)
{
	uint32_t posted, done;

	if (qp->bounce)
		return bounce_room(qp) >= entries;
	posted = atomic_load_explicit(&qp->posted, memory_order_relaxed);
	done = atomic_load_explicit(&qp->done, memory_order_relaxed);
	return qp->entries - (posted - done) >= entries;
}

int fl_post_list(struct fl_qp *qp, const struct fl_work *w, unsigned int n)
{
	uint64_t sum = 0;
	unsigned int i;
	int entries, error = 0;

	if (!qp || (n && !w))
		return -EINVAL;
	for (i = 0; i < n; i++) {
		entries = work_judge(qp, &w[i]);
		if (entries < 0)
			return entries;
		sum += (unsigned int)entries;
	}
	if (!work_fits(qp, sum))
		return -EAGAIN;
	for (i = 0; i < n && !error; i++)
		error = work_put(qp, &w[i]);
	return error;
}

static int work_post(struct fl_qp *qp, enum fl_opcode opcode, uint64_t wr_id,
		     struct fl_mr *mr, void *local, uint32_t bytes,
		     uint64_t remote, uint32_t rkey)
{
	struct fl_work w = {
		.wr_id = wr_id,
		.opcode = opcode,
		.local = local,
		.remote = remote,
		.rkey = rkey,
		.bytes = bytes,
	};

	if (!mr)
		return -EINVAL;
	w.lkey = mr->key;
	return fl_post(qp, &w);
}

int fl_post_write(struct fl_qp *qp, uint64_t wr_id, struct fl_mr *mr,
		  void *local, uint32_t bytes, uint64_t remote, uint32_t rkey)
{
	return work_post(qp, FL_WRITE, wr_id, mr, local, bytes, remote, rkey);
}

int fl_post_read(struct fl_qp *qp, uint64_t wr_id, struct fl_mr *mr,
		 void *local, uint32_t bytes, uint64_t remote, uint32_t rkey)
{
	return work_post(qp, FL_READ, wr_id, mr, local, bytes, remote, rkey);
}
