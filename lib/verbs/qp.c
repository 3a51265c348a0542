// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queue pairs, and the states that they go through: RESET, INIT, RTR, RTS, ERR. Which
 * attributes a transition needs, and which it allows, states.def says (ibv_modify_qp(3)).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

/* ---- making and ending ---- */

static void qp_free(struct v_qp *q)
{
	pthread_mutex_destroy(&q->send_lock);
	pthread_mutex_destroy(&q->recv_lock);
	pthread_mutex_destroy(&q->ex.qp_base.mutex);
	pthread_cond_destroy(&q->ex.qp_base.cond);
	free(q->build.work);
	free(q->build.data);
	free(q);
}

static int qp_check(const struct v_context *v, const struct ibv_qp_init_attr_ex *init)
{
	const struct ibv_qp_cap *cap = &init->cap;

	if (init->qp_type == IBV_QPT_UD ? !v->packets :
	    init->qp_type != IBV_QPT_RC || (v->packets && !v->connections))
		return EOPNOTSUPP;
	if (init->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD |
					  IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	if (!(init->comp_mask & IBV_QP_INIT_ATTR_PD) || !init->send_cq ||
	    !init->recv_cq)
		return EINVAL;
	if (cap->max_send_wr > v_max_wr(v) || cap->max_recv_wr > v_max_wr(v))
		return EINVAL;
	if (cap->max_send_sge > (v->packets ? FL_SEND_SEGMENTS : 1) ||
	    cap->max_recv_sge > FL_RECV_SEGMENTS ||
	    cap->max_inline_data > (v->packets ? FL_INLINE_BYTES : 0))
		return EINVAL;
	if (init->srq && (!v->packets || init->qp_type == IBV_QPT_UD))
		return EOPNOTSUPP;
	return 0;
}

static enum fl_qp_type qp_type(const struct v_context *v, enum ibv_qp_type type)
{
	if (type == IBV_QPT_UD)
		return FL_QPT_UD;
	return v->packets ? FL_QPT_RC : FL_QPT_BLOCK;
}

/* Making and ending one work on its completion queues' lists; the lower address first. */
static void qp_lock(struct ibv_cq *a, struct ibv_cq *b)
{
	struct ibv_cq *first = a < b ? a : b;

	pthread_mutex_lock(&v_cq(first)->lock);
	if (a != b)
		pthread_mutex_lock(&v_cq(first == a ? b : a)->lock);
}

static void qp_unlock(struct ibv_cq *a, struct ibv_cq *b)
{
	pthread_mutex_unlock(&v_cq(a)->lock);
	if (a != b)
		pthread_mutex_unlock(&v_cq(b)->lock);
}

static int qp_make(struct v_qp *q, struct ibv_context *c,
		   const struct ibv_qp_init_attr_ex *init)
{
	struct fl_qp_init i = {
		.type = qp_type(v_context(c), init->qp_type),
		.send_cq = v_cq(init->send_cq)->cq,
		/* One that only receives has a queue all the same. */
		.entries = init->cap.max_send_wr ? init->cap.max_send_wr : 1,
	};

	/* With blocks there is nothing to receive. */
	if (i.type != FL_QPT_BLOCK) {
		i.recv_cq = v_cq(init->recv_cq)->cq;
		i.recv_entries = init->srq ? 0 : init->cap.max_recv_wr;
		i.srq = init->srq ? v_srq(init->srq)->srq : NULL;
		i.segments = init->cap.max_send_sge;
		i.inline_bytes = init->cap.max_inline_data;
	}
	return fl_create_qp_ex(v_pd(init->pd)->pd, &i, &q->qp);
}

struct ibv_qp *v_create_qp_ex(struct ibv_context *c, struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp *qp;
	struct v_qp *q;
	struct fl_address at;
	int error = qp_check(v_context(c), init);

	if (error)
		return v_null(error);
	q = calloc(1, sizeof(*q));
	if (!q)
		return v_null(ENOMEM);
	pthread_mutex_init(&q->send_lock, NULL);
	pthread_mutex_init(&q->recv_lock, NULL);
	pthread_mutex_init(&q->ex.qp_base.mutex, NULL);
	pthread_cond_init(&q->ex.qp_base.cond, NULL);
	if (init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		error = v_build_init(q, qp_type(v_context(c), init->qp_type),
				     init->send_ops_flags);
	qp_lock(init->send_cq, init->recv_cq);
	if (!error)
		error = qp_make(q, c, init);
	if (!error) {
		v_cq(init->send_cq)->users++;
		v_cq(init->recv_cq)->users++;
	}
	qp_unlock(init->send_cq, init->recv_cq);
	if (error) {
		qp_free(q);
		return v_null(error);
	}
	fl_qp_address(q->qp, &at);
	q->sig_all = init->sq_sig_all;
	q->cap = init->cap;
	qp = &q->ex.qp_base;
	qp->context = c;
	qp->qp_context = init->qp_context;
	qp->pd = init->pd;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->srq = init->srq;
	qp->qp_num = at.qpn;
	qp->state = IBV_QPS_RESET;
	qp->qp_type = init->qp_type;
	v_source_add(v_context(c), &q->source, qp, q->qp, at.qpn);
	return qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = init->qp_context, .send_cq = init->send_cq,
		.recv_cq = init->recv_cq, .srq = init->srq, .cap = init->cap,
		.qp_type = init->qp_type, .sq_sig_all = init->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
	};
	struct ibv_qp *qp = v_create_qp_ex(pd->context, &ex);

	if (qp)
		init->cap = ex.cap;
	return qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return v_qp(qp)->ex.wr_start ? &v_qp(qp)->ex : NULL;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct v_qp *q = v_qp(qp);
	int error;

	qp_lock(qp->send_cq, qp->recv_cq);
	error = fl_destroy_qp(q->qp);
	if (!error) {
		v_cq(qp->send_cq)->users--;
		v_cq(qp->recv_cq)->users--;
	}
	qp_unlock(qp->send_cq, qp->recv_cq);
	if (error)
		return v_error(error);
	v_source_del(&q->source, &qp->mutex, &qp->cond, &qp->events_completed);
	qp_free(q);
	return 0;
}

/* ---- states ---- */

struct qp_move {
	enum ibv_qp_type type;
	enum ibv_qp_state from, to;
	int needs, allows;	/* IBV_QP_*, beside IBV_QP_STATE */
};

#define NO_MORE		IBV_QP_CUR_STATE
static const struct qp_move moves[] = {
#define MOVE(type, from, to, needs, allows) \
	{ IBV_QPT_##type, IBV_QPS_##from, IBV_QPS_##to, needs, allows },
#include "verbs/states.def"
};

static const struct qp_move *qp_move(const struct ibv_qp *qp, enum ibv_qp_state to)
{
	size_t i;

	for (i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if (moves[i].type == qp->qp_type && moves[i].from == qp->state &&
		    moves[i].to == to)
			return &moves[i];
	return NULL;
}

static void qp_keep(struct v_qp *q, const struct ibv_qp_attr *a, int mask)
{
#define KEEP(bit, member)                                                     \
	do {                                                                  \
		if (mask & IBV_QP_##bit)                                      \
			q->attr.member = a->member;                           \
	} while (0)
	KEEP(ACCESS_FLAGS, qp_access_flags);
	KEEP(PKEY_INDEX, pkey_index);
	KEEP(PORT, port_num);
	KEEP(QKEY, qkey);
	KEEP(AV, ah_attr);
	KEEP(PATH_MTU, path_mtu);
	KEEP(TIMEOUT, timeout);
	KEEP(RETRY_CNT, retry_cnt);
	KEEP(RNR_RETRY, rnr_retry);
	KEEP(RQ_PSN, rq_psn);
	KEEP(MAX_QP_RD_ATOMIC, max_rd_atomic);
	KEEP(MIN_RNR_TIMER, min_rnr_timer);
	KEEP(SQ_PSN, sq_psn);
	KEEP(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	KEEP(DEST_QPN, dest_qp_num);
#undef KEEP
}

/* By blocks: there is a peer, or there is none. */
static int qp_connect(struct v_qp *q)
{
	struct fl_address peer = {
		.node = q->attr.ah_attr.dlid - 1u,
		.qpn = q->attr.dest_qp_num,
	};

	return fl_connect(q->qp, &peer);
}

/* 0 of what is on the way is as good as 1: nothing is. */
static unsigned int at_least_one(uint8_t n)
{
	return n ? n : 1;
}

static int qp_change(struct v_qp *q, enum ibv_qp_state to, int mask)
{
	static const struct { int ibv; unsigned int fl; } bits[] = {
		{ IBV_QP_STATE, FL_ATTR_STATE }, { IBV_QP_PATH_MTU, FL_ATTR_MTU },
		{ IBV_QP_MIN_RNR_TIMER, FL_ATTR_RNR_CODE },
		{ IBV_QP_RETRY_CNT, FL_ATTR_RETRIES },
		{ IBV_QP_RNR_RETRY, FL_ATTR_RNR_TRIES },
		{ IBV_QP_TIMEOUT, FL_ATTR_TIMEOUT },
		{ IBV_QP_MAX_QP_RD_ATOMIC, FL_ATTR_RD_ATOMIC },
		{ IBV_QP_MAX_DEST_RD_ATOMIC, FL_ATTR_DEST_RD_ATOMIC },
		{ IBV_QP_DEST_QPN, FL_ATTR_PEER },
		{ IBV_QP_SQ_PSN, FL_ATTR_SQ_PSN }, { IBV_QP_RQ_PSN, FL_ATTR_RQ_PSN },
		{ IBV_QP_QKEY, FL_ATTR_QKEY },
		{ IBV_QP_ACCESS_FLAGS, FL_ATTR_ACCESS },
	};
	static const enum fl_state state[] = {
		[IBV_QPS_RESET] = FL_RESET, [IBV_QPS_INIT] = FL_INIT,
		[IBV_QPS_RTR] = FL_RTR, [IBV_QPS_RTS] = FL_RTS,
		[IBV_QPS_SQD] = FL_SQD, [IBV_QPS_ERR] = FL_ERROR,
	};
	struct fl_qp_attr a = {
		.state = state[to],
		.mtu = 128u << q->attr.path_mtu,
		.rnr_code = q->attr.min_rnr_timer, .retries = q->attr.retry_cnt,
		.rnr_tries = q->attr.rnr_retry, .timeout = q->attr.timeout,
		.rd_atomic = at_least_one(q->attr.max_rd_atomic),
		.dest_rd_atomic = at_least_one(q->attr.max_dest_rd_atomic),
		.node = q->attr.ah_attr.dlid - 1u, .peer_qp = q->attr.dest_qp_num,
		.sq_psn = q->attr.sq_psn, .rq_psn = q->attr.rq_psn,
		.qkey = q->attr.qkey,
		.access = v_remote_rights(q->attr.qp_access_flags),
	};
	unsigned int fl = 0;
	size_t i;

	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (mask & bits[i].ibv)
			fl |= bits[i].fl;
	/* A datagram's size is the port's to say. */
	if (q->ex.qp_base.qp_type == IBV_QPT_UD && to == IBV_QPS_RTR) {
		fl |= FL_ATTR_MTU;
		a.mtu = 128u << V_MTU;
	}
	return fl ? fl_modify_qp(q->qp, &a, fl) : 0;
}

/* What the card has no part in, or what is the same for all. */
static bool qp_attr_bad(const struct ibv_qp_attr *a, int mask)
{
	return (mask & IBV_QP_PORT && a->port_num != V_PORT) ||
	       (mask & IBV_QP_PKEY_INDEX && a->pkey_index) ||
	       (mask & IBV_QP_PATH_MTU &&
		(a->path_mtu < IBV_MTU_256 || a->path_mtu > V_MTU)) ||
	       (mask & IBV_QP_AV && !a->ah_attr.dlid);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	struct v_qp *q = v_qp(qp);
	enum ibv_qp_state to = mask & IBV_QP_STATE ? a->qp_state : qp->state;
	const struct qp_move *m = qp_move(qp, to);
	int extra = mask & ~IBV_QP_STATE, error = 0;
	struct ibv_qp_attr before = q->attr;

	if (mask & IBV_QP_CUR_STATE && a->cur_qp_state != qp->state)
		return EINVAL;
	if (!m || (m->needs & ~extra) || (extra & ~(m->needs | m->allows)))
		return EINVAL;
	if (qp_attr_bad(a, mask))
		return EINVAL;
	qp_keep(q, a, mask);
	/* The event may be there before the call returns. */
	if (to == IBV_QPS_SQD)
		atomic_store(&q->tell_drained, mask & IBV_QP_EN_SQD_ASYNC_NOTIFY &&
					       a->en_sqd_async_notify);
	if (v_context(qp->context)->packets)
		error = qp_change(q, to, mask);
	else if (to == IBV_QPS_RTR && qp->state == IBV_QPS_INIT)
		error = qp_connect(q);
	if (error)
		q->attr = before;
	else
		qp->state = to;
	return v_error(error);
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask,
		 struct ibv_qp_init_attr *init)
{
	struct v_qp *q = v_qp(qp);
	struct fl_qp_attr now;

	(void)mask;	/* all of it is at hand */
	/* It may have failed by itself. */
	if (!fl_query_qp(q->qp, &now) && now.state == FL_ERROR)
		qp->state = IBV_QPS_ERR;
	*a = q->attr;
	a->qp_state = a->cur_qp_state = qp->state;
	a->cap = q->cap;
	*init = (struct ibv_qp_init_attr){
		.qp_context = qp->qp_context, .send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq, .srq = qp->srq, .cap = q->cap,
		.qp_type = qp->qp_type, .sq_sig_all = q->sig_all,
	};
	return 0;
}

/* Nothing is promised of the order in which the bytes of a message get to memory. */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags)
{
	(void)qp, (void)opcode, (void)flags;
	return 0;
}
