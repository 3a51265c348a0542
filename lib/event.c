// SPDX-License-Identifier: BSD-2-Clause
/* What happened to a process's objects, beside completions. */
#include <errno.h>

#include "lib_internal.h"

static struct fl_cq *event_cq(struct fl_device *dev, uint32_t number)
{
	struct lib_link *l;

	for (l = dev->cqs; l; l = l->next)
		if (((struct fl_cq *)l)->number == number)
			return (struct fl_cq *)l;
	return NULL;
}

static struct fl_qp *event_qp(struct fl_device *dev, uint32_t number)
{
	struct lib_link *pd, *l;

	for (pd = dev->pds; pd; pd = pd->next)
		for (l = ((struct fl_pd *)pd)->qps; l; l = l->next)
			if (((struct fl_qp *)l)->number == number)
				return (struct fl_qp *)l;
	return NULL;
}

static struct fl_srq *event_srq(struct fl_device *dev, uint32_t number)
{
	struct lib_link *pd, *l;

	for (pd = dev->pds; pd; pd = pd->next)
		for (l = ((struct fl_pd *)pd)->srqs; l; l = l->next)
			if (((struct fl_srq *)l)->number == number)
				return (struct fl_srq *)l;
	return NULL;
}

/* False: its object is gone, and so nobody wants it. */
static bool event_fill(struct fl_device *dev, const struct fl_next_event *n,
		       struct fl_event *e)
{
	*e = (struct fl_event){ 0 };
	lib_lock(dev);
	switch (n->type) {
	case FL_EV_QP_ERROR:
		e->type = FL_EVENT_QP_ERROR;
		e->qp = event_qp(dev, n->object);
		e->status = (int)(n->data & 0xFF);
		e->untold = !!(n->data & FL_ENDED_UNTOLD);
		break;
	case FL_EV_LAST_RECV:
	case FL_EV_QP_HEARD:
	case FL_EV_SQ_DRAINED:
		e->type = n->type == FL_EV_LAST_RECV ? FL_EVENT_LAST_RECV :
			  n->type == FL_EV_QP_HEARD ? FL_EVENT_QP_HEARD :
						      FL_EVENT_SQ_DRAINED;
		e->qp = event_qp(dev, n->object);
		break;
	case FL_EV_CQ_OVERFLOW:
		e->type = FL_EVENT_CQ_OVERFLOW;
		e->cq = event_cq(dev, n->object);
		break;
	case FL_EV_SRQ_LIMIT:
		e->type = FL_EVENT_SRQ_LIMIT;
		e->srq = event_srq(dev, n->object);
		break;
	}
	lib_unlock(dev);
	e->qpn = e->qp ? n->object : 0;
	return e->qp || e->cq || e->srq;
}

int fl_next_event(struct fl_device *dev, struct fl_event *event,
		  uint64_t timeout_ns)
{
	struct fl_next_event n;
	struct fl_event e;
	int error;

	if (!dev || !event)
		return -EINVAL;
	do {
		n = (struct fl_next_event){ .size = sizeof(n),
					    .timeout_ns = timeout_ns };
		error = lib_ioctl(dev, FL_IOC_NEXT_EVENT, &n);
		if (error)
			return error;
	} while (!event_fill(dev, &n, &e));
	*event = e;
	return 0;
}
