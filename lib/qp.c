// SPDX-License-Identifier: BSD-2-Clause
/* Queue pairs: making, connecting and ending them; work.c posts to them. */
#include <errno.h>
#include <stdlib.h>

#include "bounce.h"

/* Entries of the send queue for so many requests, each of its longest. */
static unsigned int qp_send_entries(const struct fl_qp_init *init)
{
	unsigned int more = init->segments > 1 ? (init->segments + 2) / 3 : 0;
	unsigned int data = (init->inline_bytes + 47) / 48;

	return init->entries * (1 + (more > data ? more : data));
}

static int qp_judge(const struct fl_pd *pd, const struct fl_qp_init *init)
{
	const struct fl_device *dev = pd->dev;
	const struct fl_cq *recv = init->recv_cq ? init->recv_cq : init->send_cq;
	bool receives = init->recv_cq || init->recv_entries || init->srq;
	bool extra = receives || init->segments > 1 || init->inline_bytes;

	if (!init->send_cq || init->send_cq->dev != dev || recv->dev != dev)
		return -EINVAL;
	if (!init->entries || init->entries > dev->attr.max_queue ||
	    init->segments > FL_SEND_SEGMENTS ||
	    init->inline_bytes > FL_INLINE_BYTES ||
	    qp_send_entries(init) > dev->attr.max_queue ||
	    init->recv_entries > dev->attr.max_queue)
		return -EINVAL;
	if (init->type == FL_QPT_BLOCK)
		return extra ? -EINVAL : 0;
	if (init->type == FL_QPT_NV && receives)
		return -EINVAL;
	if (init->type != FL_QPT_RC && init->type != FL_QPT_UD && init->type != FL_QPT_NV)
		return -EINVAL;
	/* Datagrams are announced in the order of one ring. */
	if (init->srq && init->type == FL_QPT_UD)
		return -EINVAL;
	if (init->srq && (init->recv_entries || init->srq->pd != pd))
		return -EINVAL;
	/* Bytes that vanish are found by blocks alone; a snooped page has no receives. */
	return dev->sinks || dev->snoop ? -EOPNOTSUPP : 0;
}

/* Map what the driver has made, and make it known. */
static int qp_begin(struct fl_qp *q, const struct fl_qp_init *init,
		    const struct fl_create_qp *c, unsigned int entries)
{
	struct fl_device *dev = q->pd->dev;
	int error = -EPROTO;

	if (c->qp >> 24)	/* as CTX.SRC has it */
		return error;
	q->queue = lib_map_queue(dev, entries, c->entries, sizeof(*q->queue),
				 c->mmap_offset, c->mmap_bytes, &error);
	if (!q->queue)
		return error;
	error = dev->sinks ? bounce_qp_make(q) : 0;
	if (!error && init->recv_entries)
		error = lib_rq_map(dev, &q->rq, init->recv_entries,
				   c->recv_entries, c->recv_mmap_offset,
				   c->recv_mmap_bytes);
	if (error) {
		dev->sys->munmap(q->queue, q->map_bytes);
		return error;
	}
	lib_cq_add(q->cq, &q->as_sender, q);
	if (q->recv_cq && q->recv_cq != q->cq)
		lib_cq_add(q->recv_cq, &q->as_receiver, q);
	if (q->srq) {
		lib_lock(dev);
		q->srq->qps++;
		lib_unlock(dev);
	}
	return 0;
}

/* What the caller asks for is known to make sense. */
static int qp_create(struct fl_pd *pd, const struct fl_qp_init *init,
		     uint32_t flags, struct fl_qp **qp)
{
	bool ud = init->type == FL_QPT_UD, nv = init->type == FL_QPT_NV;
	bool rc = ud || nv || init->type == FL_QPT_RC;
	unsigned int entries = qp_send_entries(init);
	struct fl_create_qp c = {
		.size = sizeof(c), .entries = entries,
		.flags = flags | (ud ? FL_QP_UD : nv ? FL_QP_NV : rc ? FL_QP_RC : 0),
		.pd = pd->number,
		.cq = init->send_cq->number, .recv_entries = init->recv_entries,
	};
	struct fl_device *dev = pd->dev;
	struct fl_qp *q;
	int error;

	/* What one request needs of the card at a time (bounce.c). */
	if (dev->sinks && entries < STEP_WORK)
		c.entries = STEP_WORK;
	q = aligned_alloc(_Alignof(struct fl_qp), sizeof(*q));
	if (!q)
		return -ENOMEM;
	*q = (struct fl_qp){
		.pd = pd, .cq = init->send_cq, .rc = rc, .ud = ud, .nv = nv,
		.srq = init->srq,
		.segments = init->segments ? init->segments : 1,
		.inline_bytes = init->inline_bytes,
	};
	if (rc) {
		q->recv_cq = init->recv_cq ? init->recv_cq : q->cq;
		c.recv_cq = nv ? 0 : q->recv_cq->number;
	}
	if (init->srq)
		c.srq = init->srq->number + 1;
	error = lib_ioctl(dev, FL_IOC_CREATE_QP, &c);
	if (error)
		goto free;
	q->number = c.qp;
	q->entries = c.entries;
	q->map_bytes = (size_t)c.mmap_bytes;
	error = qp_begin(q, init, &c, entries);
	if (error)
		goto destroy;
	lib_link_add(dev, &pd->qps, &q->link);
	*qp = q;
	return 0;
destroy:
	lib_destroy(dev, FL_IOC_DESTROY_QP, c.qp);
free:
	free(q);
	return error;
}

int fl_create_qp_ex(struct fl_pd *pd, const struct fl_qp_init *init,
		    struct fl_qp **qp)
{
	int error;

	if (!pd || !init || !qp)
		return -EINVAL;
	error = qp_judge(pd, init);
	return error ? error : qp_create(pd, init, 0, qp);
}

/* Of the transport that the system of the process has. */
static int qp_create_plain(struct fl_pd *pd, struct fl_cq *cq,
			   unsigned int entries, uint32_t flags,
			   struct fl_qp **qp)
{
	struct fl_qp_init init = { .send_cq = cq, .entries = entries };
	int error;

	if (!pd || !qp)
		return -EINVAL;
	if (pd->dev->transport == FL_TRANSPORT_RC)
		init.type = FL_QPT_RC;
	if (pd->dev->transport == FL_TRANSPORT_UD)
		init.type = FL_QPT_UD;
	if (pd->dev->transport == FL_TRANSPORT_NV)
		init.type = FL_QPT_NV;
	if (init.type != FL_QPT_BLOCK && flags)
		return -EOPNOTSUPP;
	error = qp_judge(pd, &init);
	return error ? error : qp_create(pd, &init, flags, qp);
}

int fl_create_qp(struct fl_pd *pd, struct fl_cq *cq, unsigned int entries,
		 struct fl_qp **qp)
{
	return qp_create_plain(pd, cq, entries, 0, qp);
}

int fl_create_qp_relaxed(struct fl_pd *pd, struct fl_cq *cq,
			 unsigned int entries, struct fl_qp **qp)
{
	return qp_create_plain(pd, cq, entries, FL_QP_RELAXED, qp);
}

static int qp_forget(struct fl_qp *qp)
{
	struct fl_device *dev = qp->pd->dev;
	int error, next = 0;

	lib_cq_del(qp->cq, &qp->as_sender);
	if (qp->recv_cq && qp->recv_cq != qp->cq)
		lib_cq_del(qp->recv_cq, &qp->as_receiver);
	if (qp->srq) {
		lib_lock(dev);
		qp->srq->qps--;
		lib_unlock(dev);
	}
	lib_link_del(dev, &qp->link);
	error = dev->sys->munmap(qp->queue, qp->map_bytes);
	if (qp->rq.queue)
		next = dev->sys->munmap(qp->rq.queue, qp->rq.map_bytes);
	bounce_qp_free(qp);
	free(qp);
	return error ? error : next;
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
	error = lib_ioctl(qp->pd->dev, FL_IOC_CONNECT_QP, &c);
	if (error)
		return error;
	qp->peer = true;
	if (qp->rc)
		qp->attr = (struct fl_qp_attr){ .state = FL_RTS,
						.node = peer->node,
						.peer_qp = peer->qpn };
	return 0;
}
