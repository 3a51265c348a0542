// SPDX-License-Identifier: BSD-2-Clause
/*
 * arrivals.c - what completions say (ibv_poll_cq(3)): of each operation at both ends, with
 * receives of the queue pair's own and with shared ones, and of requests that failed.
 */
#include "rig.h"

/* A field that does not count has been left as ibv_poll_cq() found fit. */
static void wc_expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_opcode opcode,
		      const struct ibv_qp *qp)
{
	struct ibv_wc wc = cq_next(cq);

	check_that(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status), wc.wr_id);
	check_that(wc.wr_id == wr_id, "wr_id", wc.wr_id);
	check_that(wc.opcode == opcode, "opcode", wc.opcode);
	check_that(wc.qp_num == qp->qp_num, "qp_num", wc.qp_num);
	check_that(!wc.wc_flags, "wc_flags", wc.wc_flags);
}

static void wc_expect_recv(struct end *e, uint64_t wr_id, enum ibv_wc_opcode opcode,
			   uint32_t bytes, int imm)
{
	struct ibv_wc wc = cq_next(e->recv);

	check_that(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status), wc.wr_id);
	check_that(wc.wr_id == wr_id, "wr_id", wc.wr_id);
	check_that(wc.opcode == opcode, "opcode", wc.opcode);
	check_that(wc.opcode & IBV_WC_RECV, "a receive has this bit", wc.opcode);
	check_that(wc.byte_len == bytes, "byte_len", wc.byte_len);
	check_that(wc.qp_num == e->qp->qp_num, "qp_num", wc.qp_num);
	check_that(wc.wc_flags == (imm ? IBV_WC_WITH_IMM : 0), "wc_flags", wc.wc_flags);
	/* As end_post() has it, in the same order of bytes. */
	check_that(!imm || wc.imm_data == 0x12345678, "imm_data", wc.imm_data);
}

static void recv_post(struct end *e, struct ibv_srq *srq, uint64_t wr_id)
{
	check_error(srq ? rig_post_srq(srq, wr_id, 4096) : end_post_recv(e, wr_id, 4096), 0);
}

static void all_kinds(struct end *a, struct end *b, struct ibv_srq *srq)
{
	static const struct {
		enum ibv_wr_opcode asked;
		enum ibv_wc_opcode sent, came;
		int recv, imm;
	} kinds[] = {
		{ IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, 1, 0 },
		{ IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV, 1, 1 },
		{ IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, 0, 0, 0 },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
		  IBV_WC_RECV_RDMA_WITH_IMM, 1, 1 },
		{ IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, 0, 0, 0 },
	};
	static const uint32_t bytes[] = { 0, 1, 1024, 3000 };
	uint64_t id = 100;
	size_t i, k;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (k = 0; k < sizeof(bytes) / sizeof(bytes[0]); k++, id++) {
			if (kinds[i].recv)
				recv_post(b, srq, id + 1000);
			check_error(end_post(a, kinds[i].asked, id, bytes[k], mr->rkey), 0);
			wc_expect(a->send, id, kinds[i].sent, a->qp);
			if (kinds[i].recv)
				wc_expect_recv(b, id + 1000, kinds[i].came, bytes[k],
					       kinds[i].imm);
		}
}

static void atomics_complete(struct end *a)
{
	struct ibv_sge sge = rig_sge(0, 8);
	struct ibv_send_wr *bad, wr = {
		.wr_id = 7, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { (uintptr_t)mem + RIG_BYTES / 2, 5, 0, mr->rkey },
	};

	check_error(ibv_post_send(a->qp, &wr, &bad), 0);
	wc_expect(a->send, 7, IBV_WC_FETCH_ADD, a->qp);
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	check_error(ibv_post_send(a->qp, &wr, &bad), 0);
	wc_expect(a->send, 7, IBV_WC_COMP_SWAP, a->qp);
}

/* Of a failed one these count, and no other: wr_id, status, vendor_err and qp_num. */
static void wc_expect_failed(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status,
			     const struct ibv_qp *qp)
{
	struct ibv_wc wc = cq_next(cq);

	check_that(wc.status == status, ibv_wc_status_str(wc.status), wc.wr_id);
	check_that(wc.wr_id == wr_id, "wr_id", wc.wr_id);
	check_that(wc.qp_num == qp->qp_num, "qp_num", wc.qp_num);
	check_that(wc.vendor_err && wc.vendor_err != 0xEEEEEEEE, "vendor_err", wc.vendor_err);
}

static void failures_complete(struct end *a, struct end *b)
{
	struct ibv_sge sge = rig_sge(0, 100);
	struct ibv_send_wr *bad, wr = { .wr_id = 9, .sg_list = &sge, .num_sge = 1,
					.opcode = IBV_WR_SEND };
	uint64_t i;

	/* One that was not to be signalled, among others; and what the other end has. */
	ends_make(a, b);
	for (i = 0; i < 3; i++)
		check_error(end_post_recv(b, 50 + i, 100), 0);
	check_error(end_post(a, IBV_WR_SEND, 8, 10, 0), 0);
	sge.lkey ^= 0x8000;
	check_error(ibv_post_send(a->qp, &wr, &bad), 0);
	check_error(end_post(a, IBV_WR_SEND, 10, 10, 0), 0);
	wc_expect(a->send, 8, IBV_WC_SEND, a->qp);
	wc_expect_failed(a->send, 9, IBV_WC_LOC_PROT_ERR, a->qp);
	wc_expect_failed(a->send, 10, IBV_WC_WR_FLUSH_ERR, a->qp);
	wc_expect_recv(b, 50, IBV_WC_RECV, 10, 0);
	check_error(end_modify(b, IBV_QPS_ERR), 0);
	wc_expect_failed(b->recv, 51, IBV_WC_WR_FLUSH_ERR, b->qp);
	wc_expect_failed(b->recv, 52, IBV_WC_WR_FLUSH_ERR, b->qp);
	/* What is posted to a pair in error is flushed as well. */
	check_error(end_post(a, IBV_WR_SEND, 11, 10, 0), 0);
	wc_expect_failed(a->send, 11, IBV_WC_WR_FLUSH_ERR, a->qp);
	check_error(end_post_recv(b, 53, 100), 0);
	wc_expect_failed(b->recv, 53, IBV_WC_WR_FLUSH_ERR, b->qp);
	check_error(ibv_destroy_qp(a->qp), 0);
	check_error(ibv_destroy_qp(b->qp), 0);

	/* A receive that leads to what is no region. */
	ends_make(a, b);
	sge.addr = (uintptr_t)mem;
	check_error(ibv_post_recv(b->qp, &(struct ibv_recv_wr){ .wr_id = 60, .sg_list = &sge,
				  .num_sge = 1 }, &(struct ibv_recv_wr *){ NULL }), 0);
	check_error(end_post(a, IBV_WR_SEND, 12, 10, 0), 0);
	wc_expect_failed(b->recv, 60, IBV_WC_LOC_PROT_ERR, b->qp);
	wc_expect_failed(a->send, 12, IBV_WC_REM_OP_ERR, a->qp);
	check_error(ibv_destroy_qp(a->qp), 0);
	check_error(ibv_destroy_qp(b->qp), 0);
}

int main(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct end a = { 0 }, b = { 0 }, c = { 0 };
	struct ibv_srq *srq;

	rig_open();
	ends_make(&a, &b);
	all_kinds(&a, &b, NULL);
	atomics_complete(&a);
	check_error(ibv_destroy_qp(a.qp), 0);
	srq = ibv_create_srq(pd, &init);
	check_that(srq, "shared receive queue", errno);
	end_make(&a, NULL, 16);
	end_make(&c, srq, 16);
	ends_connect(&a, &c);
	all_kinds(&a, &c, srq);
	check_error(ibv_destroy_qp(a.qp), 0);
	failures_complete(&a, &b);
	printf("completions say what they must\n");
	return 0;
}
