// SPDX-License-Identifier: BSD-2-Clause
/* States and attributes of a reliable connection. */
#include <errno.h>

#include "lib_internal.h"

_Static_assert((int)FL_RESET == (int)FL_STATE_RESET &&
	       (int)FL_INIT == (int)FL_STATE_INIT &&
	       (int)FL_RTR == (int)FL_STATE_RTR &&
	       (int)FL_RTS == (int)FL_STATE_RTS &&
	       (int)FL_SQD == (int)FL_STATE_SQD &&
	       (int)FL_SQE == (int)FL_STATE_SQE &&
	       (int)FL_ERROR == (int)FL_STATE_ERROR,
	       "faultline.h and entries.def");
_Static_assert((int)FL_ATTR_STATE == (int)FL_MOD_STATE &&
	       (int)FL_ATTR_MTU == (int)FL_MOD_MTU &&
	       (int)FL_ATTR_RNR_CODE == (int)FL_MOD_RNR_CODE &&
	       (int)FL_ATTR_RETRIES == (int)FL_MOD_RETRIES &&
	       (int)FL_ATTR_RNR_TRIES == (int)FL_MOD_RNR_TRIES &&
	       (int)FL_ATTR_TIMEOUT == (int)FL_MOD_TIMEOUT &&
	       (int)FL_ATTR_RD_ATOMIC == (int)FL_MOD_RD_ATOMIC &&
	       (int)FL_ATTR_DEST_RD_ATOMIC == (int)FL_MOD_DEST_RD_ATOMIC &&
	       (int)FL_ATTR_PEER == (int)FL_MOD_PEER &&
	       (int)FL_ATTR_SQ_PSN == (int)FL_MOD_SQ_PSN &&
	       (int)FL_ATTR_RQ_PSN == (int)FL_MOD_RQ_PSN &&
	       (int)FL_ATTR_QKEY == (int)FL_MOD_QKEY &&
	       (int)FL_ATTR_ACCESS == (int)FL_MOD_ACCESS,
	       "faultline.h and entries.def");

/* As the card has it: 1 to 5; 0: there is no such size. */
static uint32_t mtu_code(unsigned int bytes)
{
	uint32_t n;

	for (n = 1; n <= 5; n++)
		if (bytes == 128u << n)
			return n;
	return 0;
}

static void attr_take(struct fl_qp_attr *to, const struct fl_qp_attr *from,
		      unsigned int mask)
{
	if (mask & FL_ATTR_STATE)
		to->state = from->state;
	if (mask & FL_ATTR_MTU)
		to->mtu = from->mtu;
	if (mask & FL_ATTR_RNR_CODE)
		to->rnr_code = from->rnr_code;
	if (mask & FL_ATTR_RETRIES)
		to->retries = from->retries;
	if (mask & FL_ATTR_RNR_TRIES)
		to->rnr_tries = from->rnr_tries;
	if (mask & FL_ATTR_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & FL_ATTR_RD_ATOMIC)
		to->rd_atomic = from->rd_atomic;
	if (mask & FL_ATTR_DEST_RD_ATOMIC)
		to->dest_rd_atomic = from->dest_rd_atomic;
	if (mask & FL_ATTR_PEER) {
		to->node = from->node;
		to->peer_qp = from->peer_qp;
	}
	if (mask & FL_ATTR_SQ_PSN)
		to->sq_psn = from->sq_psn;
	if (mask & FL_ATTR_RQ_PSN)
		to->rq_psn = from->rq_psn;
	if (mask & FL_ATTR_QKEY)
		to->qkey = from->qkey;
	if (mask & FL_ATTR_ACCESS)
		to->access = from->access;
}

/* The card counts from 0 again; completions of before are nobody's. */
static void qp_begin_again(struct fl_qp *qp)
{
	qp->attr = (struct fl_qp_attr){ .state = FL_RESET };
	qp->peer = false;
	lib_cq_born(qp->cq, &qp->as_sender);
	if (qp->recv_cq != qp->cq)
		lib_cq_born(qp->recv_cq, &qp->as_receiver);
	atomic_store_explicit(&qp->posted, 0, memory_order_relaxed);
	atomic_store_explicit(&qp->done, 0, memory_order_relaxed);
	atomic_store_explicit(&qp->rq.posted, 0, memory_order_relaxed);
	atomic_store_explicit(&qp->rq.done, 0, memory_order_relaxed);
}

int fl_modify_qp(struct fl_qp *qp, const struct fl_qp_attr *attr,
		 unsigned int mask)
{
	struct fl_modify_qp m = { .size = sizeof(m), .mask = mask };
	struct fl_qp_attr a = { 0 };
	int error;

	if (!qp || !attr || !mask || mask >= 2 * FL_ATTR_ACCESS || !qp->rc || qp->nv)
		return -EINVAL;
	attr_take(&a, attr, mask);
	m.qp = qp->number;
	m.state = (uint32_t)a.state;
	m.mtu = mtu_code(a.mtu);
	m.rnr_code = a.rnr_code;
	m.retries = a.retries;
	m.rnr_tries = a.rnr_tries;
	m.timeout = a.timeout;
	m.rd_atomic = a.rd_atomic;
	m.dest_rd_atomic = a.dest_rd_atomic;
	m.node = a.node;
	m.peer_qp = a.peer_qp;
	m.sq_psn = a.sq_psn;
	m.rq_psn = a.rq_psn;
	m.qkey = a.qkey;
	m.access = a.access;
	error = lib_ioctl(qp->pd->dev, FL_IOC_MODIFY_QP, &m);
	if (error)
		return error;
	attr_take(&qp->attr, attr, mask);
	qp->peer |= mask & FL_ATTR_PEER;
	if (mask & FL_ATTR_STATE && attr->state == FL_RESET)
		qp_begin_again(qp);
	return 0;
}

int fl_query_qp(struct fl_qp *qp, struct fl_qp_attr *attr)
{
	struct fl_modify_qp m = { .size = sizeof(m) };
	int error;

	if (!qp || !attr)
		return -EINVAL;
	m.qp = qp->number;
	error = lib_ioctl(qp->pd->dev, FL_IOC_MODIFY_QP, &m);
	if (error)
		return error;
	*attr = qp->attr;
	attr->state = (enum fl_state)m.state;
	attr->draining = (int)m.draining;
	return 0;
}
