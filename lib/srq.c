// SPDX-License-Identifier: BSD-2-Clause
/* Receive queues that queue pairs of a domain share. */
#include <errno.h>
#include <stdlib.h>

#include "lib_internal.h"

int fl_create_srq(struct fl_pd *pd, unsigned int entries, struct fl_srq **srq)
{
	struct fl_create_srq c = { .size = sizeof(c), .entries = entries };
	struct fl_device *dev;
	struct fl_srq *s;
	int error;

	if (!pd || !srq || !entries || entries > pd->dev->attr.max_queue)
		return -EINVAL;
	dev = pd->dev;
	s = aligned_alloc(_Alignof(struct fl_srq), sizeof(*s));
	if (!s)
		return -ENOMEM;
	c.pd = pd->number;
	error = lib_ioctl(dev, FL_IOC_CREATE_SRQ, &c);
	if (error)
		goto free;
	*s = (struct fl_srq){ .pd = pd, .number = c.srq };
	error = -EPROTO;
	if (c.srq > NIC_DB_SRQ_SRQN_MASK >> NIC_DB_SRQ_SRQN_SHIFT)
		goto destroy;
	error = lib_rq_map(dev, &s->rq, entries, c.entries, c.mmap_offset,
			   c.mmap_bytes);
	if (error)
		goto destroy;
	lib_link_add(dev, &pd->srqs, &s->link);
	*srq = s;
	return 0;
destroy:
	lib_destroy(dev, FL_IOC_DESTROY_SRQ, c.srq);
free:
	free(s);
	return error;
}

static int srq_forget(struct fl_srq *srq)
{
	struct fl_device *dev = srq->pd->dev;
	int error;

	lib_link_del(dev, &srq->link);
	error = dev->sys->munmap(srq->rq.queue, srq->rq.map_bytes);
	free(srq);
	return error;
}

int lib_srq_free(struct fl_srq *srq)
{
	int error = lib_destroy(srq->pd->dev, FL_IOC_DESTROY_SRQ, srq->number);
	int next = srq_forget(srq);

	return error ? error : next;
}

int fl_destroy_srq(struct fl_srq *srq)
{
	int error;

	if (!srq)
		return -EINVAL;
	if (srq->qps)
		return -EBUSY;
	error = lib_destroy(srq->pd->dev, FL_IOC_DESTROY_SRQ, srq->number);
	return error ? error : srq_forget(srq);
}

int fl_post_srq_recv(struct fl_srq *srq, const struct fl_receive *r)
{
	uint32_t tail;
	int error;

	if (!srq || !r)
		return -EINVAL;
	error = lib_rq_post(srq->pd->dev, &srq->rq, r, &tail);
	if (error)
		return error;
	return lib_doorbell(srq->pd->dev, NIC_DB_SRQ,
			    srq->number << NIC_DB_SRQ_SRQN_SHIFT |
			    (uint32_t)(uint16_t)tail << NIC_DB_SRQ_TAIL_SHIFT);
}

int fl_limit_srq(struct fl_srq *srq, unsigned int limit)
{
	struct fl_limit_srq l = { .size = sizeof(l), .limit = limit };

	if (!srq || limit > srq->rq.entries)
		return -EINVAL;
	l.srq = srq->number;
	return lib_ioctl(srq->pd->dev, FL_IOC_LIMIT_SRQ, &l);
}
