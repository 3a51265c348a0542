// SPDX-License-Identifier: BSD-2-Clause
/* Work requests as lists (ibv_post_send(3)). */
#include <errno.h>

#include "verbs.h"

static int post_convert(const struct v_qp *q, const struct ibv_send_wr *wr,
			struct fl_work *w)
{
	*w = (struct fl_work){
		.wr_id = wr->wr_id,
		.remote = wr->wr.rdma.remote_addr,
		.rkey = wr->wr.rdma.rkey,
		.unsignaled = !q->sig_all && !(wr->send_flags & IBV_SEND_SIGNALED),
		.fence = wr->send_flags & IBV_SEND_FENCE,
	};
	if (wr->num_sge < 0 || wr->num_sge > (int)q->cap.max_send_sge)
		return EINVAL;
	if (wr->send_flags & ~(unsigned int)(IBV_SEND_SIGNALED | IBV_SEND_FENCE))
		return EINVAL;
	if (wr->num_sge) {
		w->local = (void *)(uintptr_t)wr->sg_list[0].addr;
		w->bytes = wr->sg_list[0].length;
		w->lkey = wr->sg_list[0].lkey;
	}
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
		w->opcode = FL_WRITE;
		return 0;
	case IBV_WR_RDMA_READ:
		w->opcode = FL_READ;
		return 0;
	default:
		return EINVAL;
	}
}

int v_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct v_qp *q = v_qp(qp);
	struct fl_work w;
	int error = 0;

	if (qp->state < IBV_QPS_RTS)
		error = EINVAL;
	pthread_mutex_lock(&q->send_lock);
	for (; wr && !error; wr = error ? wr : wr->next) {
		error = post_convert(q, wr, &w);
		if (!error)
			error = v_error(fl_post(q->qp, &w));
	}
	pthread_mutex_unlock(&q->send_lock);
	if (error)
		*bad = wr;
	/* A full queue (ibv_post_send(3)). */
	return error == EAGAIN ? ENOMEM : error;
}

int v_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	*bad = wr;
	return EOPNOTSUPP;
}
