// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests of system npr as the program sees them: posted, and complete when all bytes are
 * in place, in order. What the card does for them in between is the affair of bounce.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "bounce.h"

static void cq_lock(struct fl_cq *cq)
{
	const struct fl_sys *sys = cq->dev->sys;

	/* Whoever has it may be copying: let it. */
	while (atomic_flag_test_and_set_explicit(&cq->busy, memory_order_acquire))
		if (sys->relax)
			sys->relax(cq->dev->fd);
}

static void cq_unlock(struct fl_cq *cq)
{
	atomic_flag_clear_explicit(&cq->busy, memory_order_release);
}

int bounce_post(struct fl_qp *qp, const struct fl_work *w)
{
	struct lib_bounce *b = qp->bounce;
	int error = -EAGAIN;

	cq_lock(qp->cq);
	if (b->posted - b->taken < b->entries) {
		*request_at(b, b->posted++) = (struct bounce_request){ .w = *w };
		bounce_run(qp);
		error = 0;
	}
	cq_unlock(qp->cq);
	return error;
}

uint32_t bounce_room(const struct fl_qp *qp)
{
	const struct lib_bounce *b = qp->bounce;
	uint32_t room;

	cq_lock(qp->cq);
	room = b->entries - (uint32_t)(b->posted - b->taken);
	cq_unlock(qp->cq);
	return room;
}

/* A request that has ended, in the order of posting; false: none. */
static bool bounce_reap(struct fl_qp *qp, struct fl_completion *c)
{
	struct lib_bounce *b = qp->bounce;
	struct bounce_request *r;

	while (b->taken != b->ended) {
		r = request_at(b, b->taken++);
		if (r->w.unsignaled && !r->status)
			continue;
		*c = (struct fl_completion){
			.wr_id = r->w.wr_id,
			.status = r->status,
			.opcode = r->w.opcode,
			.bytes = r->w.bytes,
			.qpn = qp->number,
			.resends = r->resends,
			.xfer = r->xfer,
		};
		return true;
	}
	return false;
}

int bounce_poll(struct fl_cq *cq, struct fl_completion *c, int n)
{
	struct fl_completion one;
	struct lib_cq_user *u;
	int got = 0, r;
	uint32_t i;

	cq_lock(cq);
	while ((r = lib_cq_take(cq, &one)) > 0)
		bounce_event(lib_cq_find_qp(cq, one.qpn), &one);
	for (i = 0; i < LIB_CQ_BUCKETS; i++)
		for (u = cq->bucket[i]; u; u = u->same_bucket)
			while (got < n && bounce_reap(u->qp, &c[got]))
				got++;
	cq_unlock(cq);
	return got ? got : r;
}

int bounce_qp_make(struct fl_qp *qp)
{
	struct lib_bounce *b = calloc(1, sizeof(*b));
	int error = b ? 0 : -ENOMEM;

	if (error)
		return error;
	b->entries = qp->entries;
	b->request = calloc(b->entries, sizeof(*b->request));
	qp->bounce = b;
	error = b->request ? bounce_pd_make(qp->pd) : -ENOMEM;
	if (!error)
		error = bounce_memory_make(&b->ring, qp->pd, FL_RING_BYTES,
					   FL_ACC_REMOTE_WRITE | FL_ACC_REMOTE_READ,
					   FL_MR_RING);
	if (!error)
		error = bounce_memory_make(&b->scratch, qp->pd, SCRATCH_BYTES, 0,
					   0);
	if (error)
		bounce_qp_free(qp);
	return error;
}

void bounce_qp_free(struct fl_qp *qp)
{
	struct lib_bounce *b = qp->bounce;
	uint32_t i;

	if (!b)
		return;
	bounce_memory_free(&b->ring);
	bounce_memory_free(&b->scratch);
	for (i = 0; i < BOUNCE_LIST; i++)
		free(b->seen[i]);
	free(b->request);
	free(b);
	qp->bounce = NULL;
}

void bounce_address(const struct fl_qp *qp, struct fl_address *a)
{
	a->ring = (uintptr_t)qp->bounce->ring.mem;
	a->ring_key = qp->bounce->ring.key;
	a->list = (uintptr_t)qp->pd->sink->list.mem;
	a->list_key = qp->pd->sink->list.key;
}

int bounce_connect(struct fl_qp *qp, const struct fl_address *peer)
{
	/* What one end loses only the other can notice: both do it, or none. */
	if (!peer->ring_key != !qp->bounce)
		return -EOPNOTSUPP;
	if (qp->bounce)
		qp->bounce->peer = *peer;
	return 0;
}
