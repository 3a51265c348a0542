// SPDX-License-Identifier: BSD-2-Clause
/* Queue pairs: making, connecting and ending them; work.c posts to them. */
#include <errno.h>
#include <stdlib.h>

#include "bounce.h"

static int qp_create(struct fl_pd *pd, struct fl_cq *cq, unsigned int entries,
		     uint32_t flags, struct fl_qp **qp)
{
	struct fl_create_qp c = {
		.size = sizeof(c), .entries = entries, .flags = flags,
	};
	struct fl_device *dev;
	struct fl_qp *q;
	int error;

	if (!pd || !cq || !qp || pd->dev != cq->dev || !entries ||
	    entries > pd->dev->attr.max_queue)
		return -EINVAL;
	dev = pd->dev;
	/* What one request needs of the card at a time (bounce.c). */
	if (dev->sinks && entries < STEP_WORK)
		c.entries = STEP_WORK;
	q = aligned_alloc(_Alignof(struct fl_qp), sizeof(*q));
	if (!q)
		return -ENOMEM;
	c.pd = pd->number;
	c.cq = cq->number;
	error = lib_ioctl(dev, FL_IOC_CREATE_QP, &c);
	if (error)
		goto free;
	*q = (struct fl_qp){
		.pd = pd,
		.cq = cq,
		.number = c.qp,
		.entries = c.entries,
		.map_bytes = (size_t)c.mmap_bytes,
	};
	error = -EPROTO;
	if (c.qp >> 24)	/* as CTX.SRC has it */
		goto destroy;
	q->queue = lib_map_queue(dev, entries, c.entries, sizeof(*q->queue),
				 c.mmap_offset, c.mmap_bytes, &error);
	if (!q->queue)
		goto destroy;
	error = dev->sinks ? bounce_qp_make(q) : 0;
	if (error) {
		dev->sys->munmap(q->queue, q->map_bytes);
		goto destroy;
	}
	lib_cq_add(cq, q);
	lib_link_add(dev, &pd->qps, &q->link);
	*qp = q;
	return 0;
destroy:
	lib_destroy(dev, FL_IOC_DESTROY_QP, c.qp);
free:
	free(q);
	return error;
}

int fl_create_qp(struct fl_pd *pd, struct fl_cq *cq, unsigned int entries,
		 struct fl_qp **qp)
{
	return qp_create(pd, cq, entries, 0, qp);
}

int fl_create_qp_relaxed(struct fl_pd *pd, struct fl_cq *cq,
			 unsigned int entries, struct fl_qp **qp)
{
	return qp_create(pd, cq, entries, FL_QP_RELAXED, qp);
}

static int qp_forget(struct fl_qp *qp)
{
	struct fl_device *dev = qp->pd->dev;
	int error;

	lib_cq_del(qp->cq, qp);
	lib_link_del(dev, &qp->link);
	error = dev->sys->munmap(qp->queue, qp->map_bytes);
	bounce_qp_free(qp);
	free(qp);
	return error;
}

int lib_qp_free(struct fl_qp *qp)
{
	int error = lib_destroy(qp->pd->dev, FL_IOC_DESTROY_QP, qp->number);
	int next = qp_forget(qp);

	return error ? error : next;
}

int fl_destroy_qp(struct fl_qp *qp)
{
	int error;

	if (!qp)
		return -EINVAL;
	error = lib_destroy(qp->pd->dev, FL_IOC_DESTROY_QP, qp->number);
	return error ? error : qp_forget(qp);
}

int fl_qp_address(struct fl_qp *qp, struct fl_address *a)
{
	if (!qp || !a)
		return -EINVAL;
	*a = (struct fl_address){ .node = qp->pd->dev->attr.node,
				  .qpn = qp->number };
	if (qp->bounce)
		bounce_address(qp, a);
	return 0;
}

int fl_resume(struct fl_qp *qp)
{
	struct fl_resume_qp r = { .size = sizeof(r) };

	if (!qp)
		return -EINVAL;
	r.qp = qp->number;
	return lib_ioctl(qp->pd->dev, FL_IOC_RESUME_QP, &r);
}

int fl_connect(struct fl_qp *qp, const struct fl_address *peer)
{
	struct fl_connect_qp c = { .size = sizeof(c) };

	int error;

	if (!qp || !peer)
		return -EINVAL;
	error = bounce_connect(qp, peer);
	if (error)
		return error;
	c.qp = qp->number;
	c.node = peer->node;
	c.peer_qp = peer->qpn;
	return lib_ioctl(qp->pd->dev, FL_IOC_CONNECT_QP, &c);
}
