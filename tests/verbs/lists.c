// SPDX-License-Identifier: BSD-2-Clause
/*
 * lists.c - lists of work requests (ibv_post_send(3), ibv_post_recv(3), ibv_post_srq_recv(3)):
 * when one is bad or finds no room, all before it have been posted, it is what *bad_wr points
 * to, and nothing behind it is posted. Of requests that are built call by call (ibv_wr_post(3))
 * all are posted, or none.
 */
#include "rig.h"

#define LIST	200	/* more than any queue here holds */

static struct ibv_sge sge[4];
static struct ibv_send_wr send_wr[LIST];
static struct ibv_recv_wr recv_wr[LIST];

/* Requests 0 to n - 1, each of 10 bytes. */
static void lists_make(int n)
{
	int i;

	for (i = 0; i < 4; i++)
		sge[i] = rig_sge((uint32_t)i * 16, 10);
	for (i = 0; i < n; i++) {
		send_wr[i] = (struct ibv_send_wr){
			.wr_id = (uint64_t)i, .sg_list = sge, .num_sge = 1,
			.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
			.next = i + 1 < n ? &send_wr[i + 1] : NULL,
		};
		recv_wr[i] = (struct ibv_recv_wr){
			.wr_id = (uint64_t)i, .sg_list = sge, .num_sge = 1,
			.next = i + 1 < n ? &recv_wr[i + 1] : NULL,
		};
	}
}

/* Where bad has stopped: the index of the one that was not posted. */
static int send_post(struct end *e, int error)
{
	struct ibv_send_wr *bad = NULL;

	check_error(ibv_post_send(e->qp, send_wr, &bad), error);
	check_that(bad >= send_wr && bad < send_wr + LIST, "bad_wr", 0);
	return (int)(bad - send_wr);
}

static int recv_post(struct end *e, struct ibv_srq *srq, int error)
{
	struct ibv_recv_wr *bad = NULL;

	if (srq)
		check_error(ibv_post_srq_recv(srq, recv_wr, &bad), error);
	else
		check_error(ibv_post_recv(e->qp, recv_wr, &bad), error);
	check_that(bad >= recv_wr && bad < recv_wr + LIST, "bad_wr", 0);
	return (int)(bad - recv_wr);
}

/* Requests 0 to n - 1 of a arrive at b, and that is all. */
static void send_arrives(struct end *a, struct end *b, int n)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < n; i++) {
		cq_expect(a->send, (uint64_t)i, IBV_WC_SUCCESS);
		cq_expect(b->recv, (uint64_t)i, IBV_WC_SUCCESS);
	}
	/* They are carried out in order: nothing came before this one. */
	check_error(end_post(a, IBV_WR_RDMA_WRITE, 9999, 10, mr->rkey), 0);
	cq_expect(a->send, 9999, IBV_WC_SUCCESS);
	check_that(!ibv_poll_cq(b->recv, 1, &wc), "one that was not posted arrives", wc.wr_id);
}

/* What is wrong with entry 3 of the lists, kind after kind; false: there are no more. */
static int send_spoil(int kind)
{
	struct ibv_send_wr *w = &send_wr[3];

	lists_make(6);
	switch (kind) {
	case 0:
		w->opcode = (enum ibv_wr_opcode)99;
		break;
	case 1:
		w->num_sge = 3;		/* than the pair has */
		break;
	case 2:
		w->send_flags |= 1u << 20;
		break;
	case 3:
		w->send_flags |= IBV_SEND_INLINE;
		sge[3].length = 65;
		w->sg_list = &sge[3];
		break;
	case 4:
		w->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;	/* of 10 bytes */
		break;
	case 5:
		w->num_sge = -1;
		break;
	}
	return kind < 6;
}

static void list_bad(struct end *a, struct end *b)
{
	int kind;

	for (kind = 0; send_spoil(kind); kind++) {
		check_that(send_post(a, EINVAL) == 3, "the bad one is another", kind);
		lists_make(3);
		check_error(ibv_post_recv(b->qp, recv_wr, &(struct ibv_recv_wr *){ NULL }), 0);
		send_arrives(a, b, 3);
	}
	for (kind = 0; kind < 2; kind++) {
		lists_make(6);
		recv_wr[3].num_sge = kind ? -1 : 3;
		check_that(recv_post(b, NULL, EINVAL) == 3, "the bad one is another", kind);
		lists_make(3);
		check_error(ibv_post_send(a->qp, send_wr, &(struct ibv_send_wr *){ NULL }), 0);
		send_arrives(a, b, 3);
	}
}

static void list_full(struct end *a, struct end *b, struct ibv_srq *srq)
{
	int n, k, i;

	lists_make(LIST);
	n = recv_post(b, srq, ENOMEM);
	check_that(n >= 16, "the queue holds fewer than it was made for", n);
	/* Nothing was polled, so there is no more room. */
	check_that(recv_post(b, srq, ENOMEM) == 0, "a full queue takes one", n);
	k = send_post(a, ENOMEM);
	check_that(k >= 16, "the queue holds fewer than it was made for", k);
	check_that(send_post(a, ENOMEM) == 0, "a full queue takes one", k);
	/* As many of either: each that arrives makes room for one. */
	for (i = 0; i < n || i < k; i++) {
		if (i >= k)
			check_error(end_post(a, IBV_WR_SEND, (uint64_t)i, 10, 0), 0);
		cq_expect(a->send, (uint64_t)i, IBV_WC_SUCCESS);
		cq_expect(b->recv, (uint64_t)i, IBV_WC_SUCCESS);
		if (i + n < k)
			check_error(srq ? rig_post_srq(srq, (uint64_t)(i + n), 10) :
					  end_post_recv(b, (uint64_t)(i + n), 10), 0);
	}
	send_arrives(a, b, 0);
}

static void wrong_state(void)
{
	struct end e = { 0 }, peer = { 0 };

	end_make(&e, NULL, 16);
	end_make(&peer, NULL, 16);
	lists_make(2);
	check_that(send_post(&e, EINVAL) == 0, "a send in INIT", 0);
	end_receives(&e, &peer);
	check_that(send_post(&e, EINVAL) == 0, "a send in RTR", 0);
	check_error(end_modify(&e, IBV_QPS_RESET), 0);
	check_that(recv_post(&e, NULL, EINVAL) == 0, "a receive in RESET", 0);
	check_error(ibv_destroy_qp(e.qp), 0);
	check_error(ibv_destroy_qp(peer.qp), 0);
}

/* ---- built call by call ---- */

static void build_some(struct ibv_qp_ex *ex, int n)
{
	int i;

	ibv_wr_start(ex);
	for (i = 0; i < n; i++) {
		ex->wr_id = (uint64_t)i;
		ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, sge[0].lkey, sge[0].addr, sge[0].length);
	}
}

static void list_built(struct end *b)
{
	struct end a = { .send = rig_cq(256), .recv = rig_cq(64) };
	struct ibv_qp_init_attr_ex init = {
		.send_cq = a.send, .recv_cq = a.recv, .qp_type = IBV_QPT_RC, .pd = pd,
		.cap = { 16, 16, 2, 2, 64 }, .send_ops_flags = IBV_QP_EX_WITH_SEND |
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_RDMA_WRITE,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_ex *ex;

	a.qp = ibv_create_qp_ex(ctx, &init);
	check_that(a.qp, "queue pair", errno);
	check_error(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
	ex = ibv_qp_to_qp_ex(a.qp);
	end_make(b, NULL, 16);
	ends_connect(&a, b);
	lists_make(3);
	check_error(ibv_post_recv(b->qp, recv_wr, &(struct ibv_recv_wr *){ NULL }), 0);
	build_some(ex, LIST);
	check_error(ibv_wr_complete(ex), ENOMEM);
	/* An atomic of 10 bytes is the last one. */
	build_some(ex, 3);
	ibv_wr_atomic_fetch_add(ex, mr->rkey, (uintptr_t)mem, 1);
	ibv_wr_set_sge(ex, sge[0].lkey, sge[0].addr, 10);
	check_error(ibv_wr_complete(ex), EINVAL);
	build_some(ex, 3);
	ibv_wr_abort(ex);
	build_some(ex, 3);
	check_error(ibv_wr_complete(ex), 0);
	send_arrives(&a, b, 3);
	check_error(ibv_destroy_qp(a.qp), 0);
	check_error(ibv_destroy_qp(b->qp), 0);
}

int main(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct end a = { 0 }, b = { 0 };
	struct ibv_srq *srq;

	rig_open();
	a.send = rig_cq(256);
	b.recv = rig_cq(256);
	wrong_state();
	ends_make(&a, &b);
	list_bad(&a, &b);
	list_full(&a, &b, NULL);
	check_error(ibv_destroy_qp(a.qp), 0);
	check_error(ibv_destroy_qp(b.qp), 0);
	srq = ibv_create_srq(pd, &init);
	check_that(srq, "shared receive queue", errno);
	lists_make(6);
	recv_wr[3].num_sge = 2;		/* than the queue has */
	check_that(recv_post(NULL, srq, EINVAL) == 3, "the bad one is another", 0);
	check_error(ibv_destroy_srq(srq), 0);
	srq = ibv_create_srq(pd, &init);
	end_make(&a, NULL, 16);
	end_make(&b, srq, 16);
	ends_connect(&a, &b);
	list_full(&a, &b, srq);
	check_error(ibv_destroy_qp(a.qp), 0);
	check_error(ibv_destroy_qp(b.qp), 0);
	list_built(&b);
	printf("lists are posted up to the bad one\n");
	return 0;
}
