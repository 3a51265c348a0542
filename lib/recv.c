// SPDX-License-Identifier: BSD-2-Clause
/*
 * Receive queues. The posting thread writes entries; the card copies one when a message
 * begins, and its completion says that the entry, and all before it, may be written anew.
 */
#include <errno.h>

#include "lib_internal.h"

int lib_rq_map(struct fl_device *dev, struct lib_rq *rq, uint32_t wish,
	       uint32_t entries, uint64_t offset, uint64_t bytes)
{
	int error = 0;

	rq->queue = lib_map_queue(dev, wish, entries, sizeof(*rq->queue),
				  offset, bytes, &error);
	rq->entries = entries;
	rq->map_bytes = (size_t)bytes;
	return rq->queue ? 0 : error;
}

/* The card knows no empty segment, so they are left out. */
static int recv_entry(const struct fl_receive *r, struct fl_rqe *e)
{
	struct fl_segment s[FL_RECV_SEGMENTS] = { { 0 } };
	uint64_t sum = 0, va;
	unsigned int i, n = 0;

	if (r->segments > FL_RECV_SEGMENTS || (r->segments && !r->list))
		return -EINVAL;
	for (i = 0; i < r->segments; i++) {
		if (!r->list[i].bytes)
			continue;
		va = (uintptr_t)r->list[i].addr;
		if (va + (r->list[i].bytes - 1) < va)
			return -EINVAL;
		sum += r->list[i].bytes;
		s[n++] = r->list[i];
	}
	/* InfiniBand 9.7.2 */
	if (sum > 1ull << 31)
		return -EINVAL;
	*e = (struct fl_rqe){
		.wr_id = r->wr_id, .count = (uint8_t)n,
		.va0 = (uintptr_t)s[0].addr, .bytes0 = s[0].bytes, .key0 = s[0].key,
		.va1 = (uintptr_t)s[1].addr, .bytes1 = s[1].bytes, .key1 = s[1].key,
		.va2 = (uintptr_t)s[2].addr, .bytes2 = s[2].bytes, .key2 = s[2].key,
	};
	return 0;
}

int lib_rq_post(struct fl_device *dev, struct lib_rq *rq,
		const struct fl_receive *r, uint32_t *tail)
{
	uint32_t posted, done;
	struct fl_rqe e;
	int error;

	if (!rq->queue)
		return -EINVAL;
	error = recv_entry(r, &e);
	if (error)
		return error;
	posted = atomic_load_explicit(&rq->posted, memory_order_relaxed);
	/*
	 * Acquire pairs with the release in lib_rq_account(): the card was done with the
	 * entry before its completion was seen there.
	 */
	done = atomic_load_explicit(&rq->done, memory_order_acquire);
	if (posted - done >= rq->entries)
		return -EAGAIN;
	e.index = (uint16_t)posted;
	e.xfer = lib_xfer_number(dev, 0, posted);
	rq->queue[posted & (rq->entries - 1)] = e;
	/* Before the doorbell: its completion may be polled at once. */
	atomic_store_explicit(&rq->posted, posted + 1, memory_order_release);
	*tail = posted + 1;
	lib_entry_before_doorbell();
	return 0;
}

bool lib_rq_account(struct lib_rq *rq, uint16_t index, bool shared)
{
	uint32_t done = atomic_load_explicit(&rq->done, memory_order_relaxed);
	uint32_t posted, ahead;

	do {
		/* Pairs with the release in lib_rq_post(). */
		posted = atomic_load_explicit(&rq->posted, memory_order_acquire);
		ahead = (uint16_t)(index - (uint16_t)done);
		/*
		 * Messages of other queue pairs may end earlier though they have taken
		 * later entries; what is known by them need not be said again.
		 */
		if (ahead >= posted - done)
			return shared;
	} while (!atomic_compare_exchange_weak_explicit(&rq->done, &done,
							done + ahead + 1,
							memory_order_release,
							memory_order_relaxed));
	return true;
}

int fl_post_recv(struct fl_qp *qp, const struct fl_receive *r)
{
	uint32_t tail;
	int error;

	if (!qp || !r || qp->attr.state == FL_RESET)
		return -EINVAL;
	error = lib_rq_post(qp->pd->dev, &qp->rq, r, &tail);
	if (error)
		return error;
	return lib_doorbell(qp->pd->dev, NIC_DB_RQ,
			    (qp->number << NIC_DB_RQ_QPN_SHIFT &
			     NIC_DB_RQ_QPN_MASK) |
			    (uint32_t)(uint16_t)tail << NIC_DB_RQ_TAIL_SHIFT);
}
