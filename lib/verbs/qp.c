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
	pthread_mutex_destroy(&q->ex.qp_base.mutex);
	pthread_cond_destroy(&q->ex.qp_base.cond);
	free(q->build.work);
	free(q);
}

static int qp_check(const struct ibv_qp_init_attr_ex *init)
{
	const struct ibv_qp_cap *cap = &init->cap;

	if (init->qp_type != IBV_QPT_RC)
		return EOPNOTSUPP;
	if (init->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD |
					  IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	if (!(init->comp_mask & IBV_QP_INIT_ATTR_PD) || !init->send_cq ||
	    !init->recv_cq || !cap->max_send_wr)
		return EINVAL;
	if (cap->max_send_sge > V_SEND_SEGMENTS || cap->max_inline_data || init->srq)
		return EINVAL;
	return 0;
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

struct ibv_qp *v_create_qp_ex(struct ibv_context *c, struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp *qp;
	struct v_qp *q;
	struct fl_address at;
	int error = qp_check(init);

	if (error)
		return v_null(error);
	q = calloc(1, sizeof(*q));
	if (!q)
		return v_null(ENOMEM);
	pthread_mutex_init(&q->send_lock, NULL);
	pthread_mutex_init(&q->ex.qp_base.mutex, NULL);
	pthread_cond_init(&q->ex.qp_base.cond, NULL);
	if (init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		error = v_build_init(q, init->send_ops_flags);
	qp_lock(init->send_cq, init->recv_cq);
	if (!error)
		error = fl_create_qp(v_pd(init->pd)->pd, v_cq(init->send_cq)->cq,
				     init->cap.max_send_wr, &q->qp);
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
	init->cap.max_send_sge = V_SEND_SEGMENTS;
	init->cap.max_inline_data = 0;
	q->cap = init->cap;
	qp = &q->ex.qp_base;
	qp->context = c;
	qp->qp_context = init->qp_context;
	qp->pd = init->pd;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->qp_num = at.qpn;
	qp->state = IBV_QPS_RESET;
	qp->qp_type = init->qp_type;
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
	if (!error)
		qp_free(q);
	return v_error(error);
}

/* ---- states ---- */

struct qp_move {
	enum ibv_qp_state from, to;
	int needs, allows;	/* IBV_QP_*, of an rc pair, beside IBV_QP_STATE */
};

#define NO_MORE		IBV_QP_CUR_STATE
static const struct qp_move moves[] = {
#define MOVE(from, to, needs, allows) { IBV_QPS_##from, IBV_QPS_##to, needs, allows },
#include "verbs/states.def"
};

static const struct qp_move *qp_move(enum ibv_qp_state from, enum ibv_qp_state to)
{
	size_t i;

	for (i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if (moves[i].from == from && moves[i].to == to)
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

static int qp_connect(struct v_qp *q)
{
	struct fl_address peer = {
		.node = q->attr.ah_attr.dlid - 1u,
		.qpn = q->attr.dest_qp_num,
	};

	if (!q->attr.ah_attr.dlid)
		return -EINVAL;
	return fl_connect(q->qp, &peer);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	struct v_qp *q = v_qp(qp);
	enum ibv_qp_state to = mask & IBV_QP_STATE ? a->qp_state : qp->state;
	const struct qp_move *m = qp_move(qp->state, to);
	int extra = mask & ~IBV_QP_STATE, error = 0;

	if (mask & IBV_QP_CUR_STATE && a->cur_qp_state != qp->state)
		return EINVAL;
	if (!m || (m->needs & ~extra) || (extra & ~(m->needs | m->allows)))
		return EINVAL;
	if ((mask & IBV_QP_PORT && a->port_num != V_PORT) ||
	    (mask & IBV_QP_PKEY_INDEX && a->pkey_index) ||
	    (mask & IBV_QP_PATH_MTU && (a->path_mtu < IBV_MTU_256 || a->path_mtu > V_MTU)))
		return EINVAL;
	qp_keep(q, a, mask);
	if (to == IBV_QPS_RTR && qp->state == IBV_QPS_INIT)
		error = qp_connect(q);
	if (!error)
		qp->state = to;
	return v_error(error);
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask,
		 struct ibv_qp_init_attr *init)
{
	struct v_qp *q = v_qp(qp);

	(void)mask;	/* all of it is at hand */
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
