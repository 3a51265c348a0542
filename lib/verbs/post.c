// SPDX-License-Identifier: BSD-2-Clause
/* Work requests and receives as lists (ibv_post_send(3), ibv_post_recv(3)). */
#include <endian.h>
#include <errno.h>

#include "verbs.h"

void v_segments(struct fl_segment *to, const struct ibv_sge *from, int n)
{
	int i;

	for (i = 0; i < n; i++)
		to[i] = (struct fl_segment){ (void *)(uintptr_t)from[i].addr,
					     from[i].length, from[i].lkey };
}

static int post_opcode(const struct ibv_send_wr *wr, struct fl_work *w)
{
	w->remote = wr->wr.rdma.remote_addr;
	w->rkey = wr->wr.rdma.rkey;
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		w->with_imm = 1;
		w->imm = be32toh(wr->imm_data);
		/* fall through */
	case IBV_WR_RDMA_WRITE:
		w->opcode = FL_WRITE;
		return 0;
	case IBV_WR_RDMA_READ:
		w->opcode = FL_READ;
		return 0;
	case IBV_WR_SEND_WITH_IMM:
		w->with_imm = 1;
		w->imm = be32toh(wr->imm_data);
		/* fall through */
	case IBV_WR_SEND:
		w->opcode = FL_SEND;
		w->remote = w->rkey = 0;
		return 0;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		w->compare = wr->wr.atomic.compare_add;
		w->swap = wr->wr.atomic.swap;
		w->opcode = FL_CMP_SWAP;
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		w->swap = wr->wr.atomic.compare_add;
		w->opcode = FL_FETCH_ADD;
		break;
	default:
		return EINVAL;
	}
	w->remote = wr->wr.atomic.remote_addr;
	w->rkey = wr->wr.atomic.rkey;
	return 0;
}

#define FLAGS_KNOWN (IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED | IBV_SEND_INLINE)

/* to and segment: for what it points to. */
static int post_convert(const struct v_qp *q, const struct ibv_send_wr *wr,
			struct fl_work *w, struct fl_segment *segment, struct fl_address *to)
{
	int error;


	*w = (struct fl_work){
		.wr_id = wr->wr_id,
		.unsignaled = !q->sig_all && !(wr->send_flags & IBV_SEND_SIGNALED),
		.fence = !!(wr->send_flags & IBV_SEND_FENCE),
		.solicited = !!(wr->send_flags & IBV_SEND_SOLICITED),
		.inlined = !!(wr->send_flags & IBV_SEND_INLINE),
	};
	if (wr->num_sge < 0 || wr->num_sge > (int)q->cap.max_send_sge ||
	    wr->send_flags & ~(unsigned int)FLAGS_KNOWN)
		return EINVAL;
	if (wr->num_sge == 1) {
		w->local = (void *)(uintptr_t)wr->sg_list[0].addr;
		w->bytes = wr->sg_list[0].length;
		w->lkey = wr->sg_list[0].lkey;
	} else if (wr->num_sge) {
		v_segments(segment, wr->sg_list, wr->num_sge);
		w->list = segment;
		w->segments = (unsigned int)wr->num_sge;
	}
	error = post_opcode(wr, w);
	if (!error && q->ex.qp_base.qp_type == IBV_QPT_UD) {
		/* What stands there is an address, where others have a range. */
		w->remote = w->rkey = 0;
		v_whom(q, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey, to, w);
	}
	return error;
}

int v_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct v_qp *q = v_qp(qp);
	struct fl_segment segment[FL_SEND_SEGMENTS];
	struct fl_address to;
	struct fl_work w;
	int error = 0;

	if (qp->state < IBV_QPS_RTS)
		error = EINVAL;
	pthread_mutex_lock(&q->send_lock);
	for (; wr && !error; wr = error ? wr : wr->next) {
		error = post_convert(q, wr, &w, segment, &to);
		if (!error)
			error = v_error(fl_post(q->qp, &w));
	}
	pthread_mutex_unlock(&q->send_lock);
	if (error)
		*bad = wr;
	/* A full queue (ibv_post_send(3)). */
	return error == EAGAIN ? ENOMEM : error;
}

/* ---- receives ---- */

/* sges: at most, as the queue was made. */
static int recv_convert(const struct ibv_recv_wr *wr, uint32_t sges,
			struct fl_segment *segment, struct fl_receive *r)
{
	if (wr->num_sge < 0 || wr->num_sge > (int)sges)
		return EINVAL;
	v_segments(segment, wr->sg_list, wr->num_sge);
	*r = (struct fl_receive){ .wr_id = wr->wr_id, .list = segment,
				  .segments = (unsigned int)wr->num_sge };
	return 0;
}

/* A datagram lies behind the header's place, whose bytes stay as they are. */
static int recv_skip(struct fl_segment *segment, struct fl_receive *r)
{
	uint32_t skip = V_GRH, n;
	unsigned int i;

	for (i = 0; i < r->segments && skip; i++, skip -= n) {
		n = segment[i].bytes < skip ? segment[i].bytes : skip;
		segment[i].addr = (char *)segment[i].addr + n;
		segment[i].bytes -= n;
	}
	return skip ? EINVAL : 0;
}

int v_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fl_segment segment[FL_RECV_SEGMENTS];
	struct v_qp *q = v_qp(qp);
	struct fl_receive r;
	int error = 0;

	pthread_mutex_lock(&q->recv_lock);
	for (; wr && !error; wr = error ? wr : wr->next) {
		error = recv_convert(wr, q->cap.max_recv_sge, segment, &r);
		if (!error && qp->qp_type == IBV_QPT_UD)
			error = recv_skip(segment, &r);
		if (!error)
			error = v_error(fl_post_recv(q->qp, &r));
	}
	pthread_mutex_unlock(&q->recv_lock);
	if (error)
		*bad = wr;
	return error == EAGAIN ? ENOMEM : error;
}

int v_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fl_segment segment[FL_RECV_SEGMENTS];
	struct v_srq *s = v_srq(srq);
	struct fl_receive r;
	int error = 0;

	pthread_mutex_lock(&s->lock);
	for (; wr && !error; wr = error ? wr : wr->next) {
		error = recv_convert(wr, s->attr.max_sge, segment, &r);
		if (!error)
			error = v_error(fl_post_srq_recv(s->srq, &r));
	}
	pthread_mutex_unlock(&s->lock);
	if (error)
		*bad = wr;
	return error == EAGAIN ? ENOMEM : error;
}
