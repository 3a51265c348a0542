// SPDX-License-Identifier: BSD-2-Clause
/* Completion queues. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "faultline/entries.h"
#include "verbs.h"

static void cq_free(struct v_cq *q)
{
	pthread_mutex_destroy(&q->ibv.mutex);
	pthread_cond_destroy(&q->ibv.cond);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

static struct v_cq *cq_new(struct ibv_context *c, int entries, void *cq_context,
			   struct ibv_comp_channel *channel, int vector)
{
	struct v_cq *q;
	int error;

	if (entries < 1 || vector)
		return v_null(EINVAL);
	q = calloc(1, sizeof(*q));
	if (!q)
		return v_null(ENOMEM);
	pthread_mutex_init(&q->lock, NULL);
	pthread_mutex_init(&q->ibv.mutex, NULL);
	pthread_cond_init(&q->ibv.cond, NULL);
	error = fl_create_cq(v_context(c)->dev, (unsigned int)entries, &q->cq);
	if (error) {
		cq_free(q);
		return v_null(error);
	}
	q->ibv.context = c;
	q->ibv.channel = channel;
	q->ibv.cq_context = cq_context;
	q->ibv.cqe = entries;
	error = channel ? v_event_begin(q) : 0;
	if (error) {
		fl_destroy_cq(q->cq);
		cq_free(q);
		return v_null(error);
	}
	v_source_add(v_context(c), &q->source, &q->ibv, q->cq, 0);
	return q;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *c, int entries, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct v_cq *q = cq_new(c, entries, cq_context, channel, vector);

	return q ? &q->ibv : NULL;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct v_cq *q = v_cq(cq);
	int error;

	/* It would be refused, and its thread would be gone. */
	if (q->users)
		return EBUSY;
	if (cq->channel)
		v_event_end(q);
	v_source_del(&q->source, &cq->mutex, &cq->cond, &cq->async_events_completed);
	error = fl_destroy_cq(q->cq);
	cq_free(q);
	return v_error(error);
}

/* ---- taking completions ---- */

static enum ibv_wc_status cq_status(int status)
{
	switch (status) {
	case FL_ST_OK:
		return IBV_WC_SUCCESS;
	case FL_ST_BAD_LENGTH:
	case FL_ST_LENGTH:
		return IBV_WC_LOC_LEN_ERR;
	case FL_ST_LOCAL_KEY:
	case FL_ST_LOCAL_RANGE:
	case FL_ST_LOCAL_RIGHTS:
	case FL_ST_LOCAL_FAULT:
		return IBV_WC_LOC_PROT_ERR;
	case FL_ST_FLUSHED:
	case FL_ST_KILLED:
		return IBV_WC_WR_FLUSH_ERR;
	case FL_ST_REMOTE_ACCESS:
		return IBV_WC_REM_ACCESS_ERR;
	case FL_ST_REMOTE_FAULT:
		return IBV_WC_REM_OP_ERR;
	case FL_ST_REMOTE_INVALID:
		return IBV_WC_REM_INV_REQ_ERR;
	case FL_ST_RNR_TRIES:
		return IBV_WC_RNR_RETRY_EXC_ERR;
	case FL_ST_NO_ANSWER:
	case FL_ST_REMOTE_QP:
		return IBV_WC_RETRY_EXC_ERR;
	case FL_ST_BAD_OPCODE:
	case FL_ST_BAD_ENTRY:
	case FL_ST_NOT_CONNECTED:
		return IBV_WC_LOC_QP_OP_ERR;
	}
	return IBV_WC_GENERAL_ERR;
}

static enum ibv_wc_opcode cq_opcode(enum fl_opcode opcode)
{
	switch (opcode) {
	case FL_WRITE:
		return IBV_WC_RDMA_WRITE;
	case FL_READ:
		return IBV_WC_RDMA_READ;
	case FL_SEND:
		return IBV_WC_SEND;
	case FL_FETCH_ADD:
		return IBV_WC_FETCH_ADD;
	case FL_CMP_SWAP:
		return IBV_WC_COMP_SWAP;
	case FL_RECV:
	case FL_RECV_IMM:
		break;
	case FL_RECV_WRITE_IMM:
		return IBV_WC_RECV_RDMA_WITH_IMM;
	}
	return IBV_WC_RECV;
}

/* Which of the fields count if it has failed, ibv_poll_cq(3) says. */
static void cq_convert(const struct fl_completion *f, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc){
		.wr_id = f->wr_id,
		.status = cq_status(f->status),
		.opcode = cq_opcode(f->opcode),
		.vendor_err = (uint32_t)f->status,
		.byte_len = f->bytes,
		.imm_data = htobe32(f->imm),
		.wc_flags = f->opcode == FL_RECV_IMM || f->opcode == FL_RECV_WRITE_IMM ?
				    IBV_WC_WITH_IMM : 0,
		.qp_num = f->qpn,
	};
	if (f->datagram) {
		wc->byte_len += V_GRH;
		wc->src_qp = f->src_qp;
		wc->slid = (uint16_t)(f->src_node + 1);
	}
}

int v_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct fl_completion some[V_POLL];
	struct v_cq *q = v_cq(cq);
	int got = 0, i, now;

	pthread_mutex_lock(&q->lock);
	do {
		now = fl_poll(q->cq, some, n - got < V_POLL ? n - got : V_POLL);
		for (i = 0; i < now; i++)
			cq_convert(&some[i], &wc[got++]);
	} while (now == V_POLL && got < n);
	pthread_mutex_unlock(&q->lock);
	return got ? got : now;
}

/* ---- one at a time (ibv_create_cq_ex(3)) ---- */

static int ex_next(struct ibv_cq_ex *ex)
{
	struct v_cq *q = (struct v_cq *)ex;
	struct fl_completion f;
	int got = fl_poll(q->cq, &f, 1);

	if (got < 1)
		return got ? v_error(got) : ENOENT;
	cq_convert(&f, &q->now);
	ex->wr_id = q->now.wr_id;
	ex->status = q->now.status;
	return 0;
}

static int ex_start(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct v_cq *q = (struct v_cq *)ex;
	int error;

	if (attr->comp_mask)
		return EINVAL;
	pthread_mutex_lock(&q->lock);
	error = ex_next(ex);
	if (error)
		pthread_mutex_unlock(&q->lock);
	return error;
}

static void ex_end(struct ibv_cq_ex *ex)
{
	pthread_mutex_unlock(&((struct v_cq *)ex)->lock);
}

static enum ibv_wc_opcode ex_opcode(struct ibv_cq_ex *ex)
{
	return ((struct v_cq *)ex)->now.opcode;
}

static uint32_t ex_vendor_err(struct ibv_cq_ex *ex)
{
	return ((struct v_cq *)ex)->now.vendor_err;
}

static uint32_t ex_byte_len(struct ibv_cq_ex *ex)
{
	return ((struct v_cq *)ex)->now.byte_len;
}

static __be32 ex_imm_data(struct ibv_cq_ex *ex)
{
	return ((struct v_cq *)ex)->now.imm_data;
}

static uint32_t ex_qp_num(struct ibv_cq_ex *ex)
{
	return ((struct v_cq *)ex)->now.qp_num;
}

static uint32_t ex_src_qp(struct ibv_cq_ex *ex)
{
	return ((struct v_cq *)ex)->now.src_qp;
}

static unsigned int ex_wc_flags(struct ibv_cq_ex *ex)
{
	return ((struct v_cq *)ex)->now.wc_flags;
}

static uint32_t ex_slid(struct ibv_cq_ex *ex)
{
	return ((struct v_cq *)ex)->now.slid;
}

static uint8_t ex_sl(struct ibv_cq_ex *ex)
{
	return ((struct v_cq *)ex)->now.sl;
}

static uint8_t ex_path_bits(struct ibv_cq_ex *ex)
{
	return ((struct v_cq *)ex)->now.dlid_path_bits;
}

#define EX_KNOWN IBV_WC_STANDARD_FLAGS

struct ibv_cq_ex *v_create_cq_ex(struct ibv_context *c, struct ibv_cq_init_attr_ex *init)
{
	struct v_cq *q;

	if (init->wc_flags & ~(uint64_t)EX_KNOWN ||
	    init->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS ||
	    (init->comp_mask && init->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		return v_null(EOPNOTSUPP);
	q = cq_new(c, (int)init->cqe, init->cq_context, init->channel,
		   (int)init->comp_vector);
	if (!q)
		return NULL;
	q->ex.start_poll = ex_start;
	q->ex.next_poll = ex_next;
	q->ex.end_poll = ex_end;
	q->ex.read_opcode = ex_opcode;
	q->ex.read_vendor_err = ex_vendor_err;
	q->ex.read_byte_len = ex_byte_len;
	q->ex.read_imm_data = ex_imm_data;
	q->ex.read_qp_num = ex_qp_num;
	q->ex.read_src_qp = ex_src_qp;
	q->ex.read_wc_flags = ex_wc_flags;
	q->ex.read_slid = ex_slid;
	q->ex.read_sl = ex_sl;
	q->ex.read_dlid_path_bits = ex_path_bits;
	return &q->ex;
}
