// SPDX-License-Identifier: BSD-2-Clause
#include "rig.h"

struct ibv_context *ctx;
struct ibv_pd *pd;
struct ibv_mr *mr;	/* of mem, with all rights */
unsigned char *mem;
uint16_t lid;

void rig_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	check_that(list && list[0], "device", errno);
	ctx = ibv_open_device(list[0]);
	check_that(ctx && !ibv_query_port(ctx, 1, &port), "port", errno);
	lid = port.lid;
	pd = ibv_alloc_pd(ctx);
	mem = mmap(NULL, RIG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	check_that(pd && mem != MAP_FAILED, "memory", errno);
	mr = ibv_reg_mr(pd, mem, RIG_BYTES, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC);
	check_that(mr, "region", errno);
	ibv_free_device_list(list);
}

struct ibv_cq *rig_cq(int entries)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, entries, NULL, NULL, 0);

	check_that(cq, "completion queue", errno);
	return cq;
}

void end_make(struct end *e, struct ibv_srq *srq, int max_wr)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct ibv_qp_init_attr init = {
		.srq = srq, .qp_type = IBV_QPT_RC,
		.cap = { (uint32_t)max_wr, srq ? 0 : (uint32_t)max_wr, 2, 2, 64 },
	};

	if (!e->send)
		e->send = rig_cq(64);
	if (!e->recv)
		e->recv = rig_cq(64);
	init.send_cq = e->send;
	init.recv_cq = e->recv;
	e->qp = ibv_create_qp(pd, &init);
	check_that(e->qp, "queue pair", errno);
	check_error(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
}

void end_receives(struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = e->mtu ? e->mtu : IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num, .rq_psn = 77, .max_dest_rd_atomic = 4,
		.min_rnr_timer = 1, .ah_attr = { .dlid = lid, .port_num = 1 },
	};

	check_error(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), 0);
}

void end_sends(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = e->rnr_tries ? e->rnr_tries : 7, .sq_psn = 77,
		.max_rd_atomic = 4,
	};

	check_error(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
				  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				  IBV_QP_MAX_QP_RD_ATOMIC), 0);
}

void ends_connect(struct end *a, struct end *b)
{
	end_receives(a, b);
	end_receives(b, a);
	end_sends(a);
	end_sends(b);
}

void ends_make(struct end *a, struct end *b)
{
	end_make(a, NULL, 16);
	end_make(b, NULL, 16);
	ends_connect(a, b);
}

int end_modify(struct end *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
}

int end_post(struct end *e, enum ibv_wr_opcode opcode, uint64_t wr_id,
	     uint32_t bytes, uint32_t rkey)
{
	struct ibv_sge sge = rig_sge(0, bytes);
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = !!bytes, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = 0x12345678,
		.wr.rdma = { (uintptr_t)mem + RIG_BYTES / 2, rkey },
	};

	return ibv_post_send(e->qp, &wr, &bad);
}

int end_post_recv(struct end *e, uint64_t wr_id, uint32_t bytes)
{
	struct ibv_sge sge = rig_sge(RIG_BYTES / 4, bytes);
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = !!bytes,
	};

	return ibv_post_recv(e->qp, &wr, &bad);
}

int rig_post_srq(struct ibv_srq *srq, uint64_t wr_id, uint32_t bytes)
{
	struct ibv_sge sge = rig_sge(RIG_BYTES / 4, bytes);
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = !!bytes,
	};

	return ibv_post_srq_recv(srq, &wr, &bad);
}

struct ibv_wc cq_next(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	memset(&wc, 0xEE, sizeof(wc));
	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	check_that(n == 1, "ibv_poll_cq", n);
	return wc;
}

void cq_expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc = cq_next(cq);

	check_that(wc.status == status, ibv_wc_status_str(wc.status), wc.wr_id);
	check_that(wc.wr_id == wr_id, "another request's completion", wc.wr_id);
}
