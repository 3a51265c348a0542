// SPDX-License-Identifier: BSD-2-Clause
/*
 * Work requests that are built call by call (ibv_wr_post(3)): between wr_start and
 * wr_complete they are collected, and posted then, or not at all.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

#define BUILD_ROOM	16

static struct v_qp *build_qp(struct ibv_qp_ex *ex)
{
	return (struct v_qp *)ex;
}

/* The request that the calls since the last one of these are about; NULL: it was in error. */
static struct fl_work *build_now(struct v_qp *q)
{
	return q->build.n && !q->build.error ? &q->build.work[q->build.n - 1] : NULL;
}

/* And what it points to. */
static struct v_data *build_data(struct v_qp *q)
{
	return &q->build.data[q->build.n - 1];
}

static int build_grow(struct v_build *b, unsigned int room)
{
	struct fl_work *work = realloc(b->work, room * sizeof(*work));
	struct v_data *data;

	if (!work)
		return ENOMEM;
	b->work = work;
	data = realloc(b->data, room * sizeof(*data));
	if (!data)
		return ENOMEM;
	b->data = data;
	b->room = room;
	return 0;
}

static void build_add(struct ibv_qp_ex *ex, struct fl_work w)
{
	struct v_qp *q = build_qp(ex);
	struct v_build *b = &q->build;

	if (b->n == b->room && !b->error)
		b->error = build_grow(b, 2 * b->room);
	if (b->error)
		return;
	w.wr_id = ex->wr_id;
	w.unsignaled = !q->sig_all && !(ex->wr_flags & IBV_SEND_SIGNALED);
	w.fence = !!(ex->wr_flags & IBV_SEND_FENCE);
	w.solicited = !!(ex->wr_flags & IBV_SEND_SOLICITED);
	b->work[b->n++] = w;
}

static void build_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote)
{
	build_add(ex, (struct fl_work){ .opcode = FL_WRITE, .rkey = rkey,
					.remote = remote });
}

static void build_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote,
			    __be32 imm)
{
	build_add(ex, (struct fl_work){ .opcode = FL_WRITE, .rkey = rkey,
					.remote = remote, .with_imm = 1,
					.imm = be32toh(imm) });
}

static void build_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote)
{
	build_add(ex, (struct fl_work){ .opcode = FL_READ, .rkey = rkey,
					.remote = remote });
}

static void build_send(struct ibv_qp_ex *ex)
{
	build_add(ex, (struct fl_work){ .opcode = FL_SEND });
}

static void build_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	build_add(ex, (struct fl_work){ .opcode = FL_SEND, .with_imm = 1,
					.imm = be32toh(imm) });
}

static void build_swap(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote,
		       uint64_t compare, uint64_t swap)
{
	build_add(ex, (struct fl_work){ .opcode = FL_CMP_SWAP, .rkey = rkey,
					.remote = remote, .compare = compare,
					.swap = swap });
}

static void build_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote,
			    uint64_t add)
{
	build_add(ex, (struct fl_work){ .opcode = FL_FETCH_ADD, .rkey = rkey,
					.remote = remote, .swap = add });
}

static void build_whom(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct v_qp *q = build_qp(ex);
	struct fl_work *w = build_now(q);

	if (w)
		v_whom(q, ah, qpn, qkey, &build_data(q)->to, w);
}

/* ---- its data ---- */

static void build_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
		      uint32_t bytes)
{
	struct fl_work *w = build_now(build_qp(ex));

	if (!w)
		return;
	w->local = (void *)(uintptr_t)addr;
	w->lkey = lkey;
	w->bytes = bytes;
}

static void build_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct v_qp *q = build_qp(ex);
	struct fl_work *w = build_now(q);

	if (n > q->cap.max_send_sge)
		q->build.error = EINVAL;
	else if (n == 1)
		build_sge(ex, list[0].lkey, list[0].addr, list[0].length);
	else if (n && w) {
		v_segments(build_data(q)->segment, list, (int)n);
		w->segments = (unsigned int)n;	/* list: when it is posted */
	}
}

static void build_inline_list(struct ibv_qp_ex *ex, size_t n,
			      const struct ibv_data_buf *list)
{
	struct v_qp *q = build_qp(ex);
	struct fl_work *w = build_now(q);
	size_t i, at = 0;

	for (i = 0; w && i < n; i++) {
		if (list[i].length > q->cap.max_inline_data - at) {
			q->build.error = EINVAL;
			return;
		}
		memcpy(build_data(q)->bytes + at, list[i].addr, list[i].length);
		at += list[i].length;
	}
	if (!w)
		return;
	w->inlined = 1;
	w->bytes = (uint32_t)at;		/* local: when it is posted */
}

static void build_inline(struct ibv_qp_ex *ex, void *addr, size_t bytes)
{
	struct ibv_data_buf one = { addr, bytes };

	build_inline_list(ex, 1, &one);
}

/* ---- all of them ---- */

static void build_start(struct ibv_qp_ex *ex)
{
	struct v_qp *q = build_qp(ex);

	pthread_mutex_lock(&q->send_lock);
	q->build.n = 0;
	q->build.error = 0;
}

static int build_post(struct v_qp *q)
{
	struct v_build *b = &q->build;
	unsigned int i;

	/* Since they were built they may have moved, to where there was more room. */
	for (i = 0; i < b->n; i++) {
		if (b->work[i].segments)
			b->work[i].list = b->data[i].segment;
		if (b->work[i].inlined)
			b->work[i].local = b->data[i].bytes;
		if (b->work[i].to)
			b->work[i].to = &b->data[i].to;
	}
	return v_error(fl_post_list(q->qp, b->work, b->n));
}

static int build_complete(struct ibv_qp_ex *ex)
{
	struct v_qp *q = build_qp(ex);
	int error = q->build.error;

	if (!error && ex->qp_base.state < IBV_QPS_RTS)
		error = EINVAL;
	if (!error)
		error = build_post(q);
	pthread_mutex_unlock(&q->send_lock);
	return error == EAGAIN ? ENOMEM : error;
}

static void build_abort(struct ibv_qp_ex *ex)
{
	pthread_mutex_unlock(&build_qp(ex)->send_lock);
}

#define BUILD_BLOCKS (IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ)
#define BUILD_PACKETS (BUILD_BLOCKS | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
		       IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | \
		       IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
		       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

#define BUILD_DATAGRAMS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)

int v_build_init(struct v_qp *q, enum fl_qp_type type, uint64_t send_ops)
{
	uint64_t has = type == FL_QPT_BLOCK ? BUILD_BLOCKS :
		       type == FL_QPT_UD ? BUILD_DATAGRAMS : BUILD_PACKETS;

	if (send_ops & ~has)
		return EOPNOTSUPP;
	if (build_grow(&q->build, BUILD_ROOM))
		return ENOMEM;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE)
		q->ex.wr_rdma_write = build_write;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		q->ex.wr_rdma_write_imm = build_write_imm;
	if (send_ops & IBV_QP_EX_WITH_RDMA_READ)
		q->ex.wr_rdma_read = build_read;
	if (send_ops & IBV_QP_EX_WITH_SEND)
		q->ex.wr_send = build_send;
	if (send_ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		q->ex.wr_send_imm = build_send_imm;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		q->ex.wr_atomic_cmp_swp = build_swap;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		q->ex.wr_atomic_fetch_add = build_fetch_add;
	if (type == FL_QPT_UD)
		q->ex.wr_set_ud_addr = build_whom;
	q->ex.wr_set_sge = build_sge;
	q->ex.wr_set_sge_list = build_sge_list;
	q->ex.wr_set_inline_data = build_inline;
	q->ex.wr_set_inline_data_list = build_inline_list;
	q->ex.wr_start = build_start;
	q->ex.wr_complete = build_complete;
	q->ex.wr_abort = build_abort;
	return 0;
}
