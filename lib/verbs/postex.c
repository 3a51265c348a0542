// SPDX-License-Identifier: BSD-2-Clause
/*
 * Work requests that are built call by call (ibv_wr_post(3)): between wr_start and
 * wr_complete they are collected, and posted then, or not at all.
 */
#include <errno.h>
#include <stdlib.h>

#include "verbs.h"

#define BUILD_ROOM	16

static struct v_qp *build_qp(struct ibv_qp_ex *ex)
{
	return (struct v_qp *)ex;
}

/* The request that the calls since the last one of these are about. */
static struct fl_work *build_now(struct v_qp *q)
{
	static struct fl_work nowhere;

	return q->build.n && !q->build.error ? &q->build.work[q->build.n - 1] : &nowhere;
}

static void build_add(struct ibv_qp_ex *ex, struct fl_work w)
{
	struct v_qp *q = build_qp(ex);
	struct v_build *b = &q->build;
	struct fl_work *more;

	if (b->n == b->room && !b->error) {
		more = realloc(b->work, 2 * b->room * sizeof(*more));
		if (!more) {
			b->error = ENOMEM;
			return;
		}
		b->work = more;
		b->room *= 2;
	}
	if (b->error)
		return;
	w.wr_id = ex->wr_id;
	w.unsignaled = !q->sig_all && !(ex->wr_flags & IBV_SEND_SIGNALED);
	w.fence = ex->wr_flags & IBV_SEND_FENCE;
	b->work[b->n++] = w;
}

static void build_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote)
{
	build_add(ex, (struct fl_work){ .opcode = FL_WRITE, .rkey = rkey,
					.remote = remote });
}

static void build_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote)
{
	build_add(ex, (struct fl_work){ .opcode = FL_READ, .rkey = rkey,
					.remote = remote });
}

static void build_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
		      uint32_t bytes)
{
	struct fl_work *w = build_now(build_qp(ex));

	w->local = (void *)(uintptr_t)addr;
	w->lkey = lkey;
	w->bytes = bytes;
}

static void build_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct v_qp *q = build_qp(ex);

	if (n > q->cap.max_send_sge)
		q->build.error = EINVAL;
	else if (n)
		build_sge(ex, list[0].lkey, list[0].addr, list[0].length);
}

static void build_start(struct ibv_qp_ex *ex)
{
	struct v_qp *q = build_qp(ex);

	pthread_mutex_lock(&q->send_lock);
	q->build.n = 0;
	q->build.error = 0;
}

static int build_complete(struct ibv_qp_ex *ex)
{
	struct v_qp *q = build_qp(ex);
	int error = q->build.error;
	unsigned int i;

	if (!error && ex->qp_base.state < IBV_QPS_RTS)
		error = EINVAL;
	for (i = 0; i < q->build.n && !error; i++)
		error = v_error(fl_post(q->qp, &q->build.work[i]));
	pthread_mutex_unlock(&q->send_lock);
	return error == EAGAIN ? ENOMEM : error;
}

static void build_abort(struct ibv_qp_ex *ex)
{
	pthread_mutex_unlock(&build_qp(ex)->send_lock);
}

#define BUILD_KNOWN (IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ)

int v_build_init(struct v_qp *q, uint64_t send_ops)
{
	if (send_ops & ~(uint64_t)BUILD_KNOWN)
		return EOPNOTSUPP;
	q->build.work = calloc(BUILD_ROOM, sizeof(*q->build.work));
	if (!q->build.work)
		return ENOMEM;
	q->build.room = BUILD_ROOM;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE)
		q->ex.wr_rdma_write = build_write;
	if (send_ops & IBV_QP_EX_WITH_RDMA_READ)
		q->ex.wr_rdma_read = build_read;
	q->ex.wr_set_sge = build_sge;
	q->ex.wr_set_sge_list = build_sge_list;
	q->ex.wr_start = build_start;
	q->ex.wr_complete = build_complete;
	q->ex.wr_abort = build_abort;
	return 0;
}
