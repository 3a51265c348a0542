// SPDX-License-Identifier: BSD-2-Clause
/*
 * datagrams.c - queue pairs of datagrams (ibv_create_ah(3), ibv_post_send(3)): whom a request
 * names, what its receive says of who sent it, the place of a header in front of the data, keys,
 * and what they do not have.
 */
#include "rig.h"

#define QKEY	0x1234u
#define HEADER	40u
#define AT	(RIG_BYTES / 4)		/* receives */
#define SHARED	0x80000000u

static struct ibv_ah *self;

static void bytes_fill(void)
{
	unsigned int i;

	for (i = 0; i < RIG_BYTES; i++)
		mem[i] = i < AT ? (unsigned char)(i * 31 + 7) : 0xCC;
}

/* Ready to send, with a key. */
static void mail_make(struct end *e, uint32_t qkey)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey };
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_UD, .cap = { 16, 16, 2, 3, 64 }, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM,
	};

	e->send = rig_cq(64);
	e->recv = rig_cq(64);
	init.send_cq = e->send;
	init.recv_cq = e->recv;
	e->qp = ibv_create_qp_ex(ctx, &init);
	check_that(e->qp, "queue pair", errno);
	check_error(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				  IBV_QP_PORT), EINVAL);
	check_error(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				  IBV_QP_PORT | IBV_QP_QKEY), 0);
	check_error(end_modify(e, IBV_QPS_RTR), 0);
	attr.qp_state = IBV_QPS_RTS;
	check_error(end_modify(e, IBV_QPS_RTS), EINVAL);
	check_error(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static int mail_send(struct end *e, const struct end *to, uint32_t qkey, uint32_t bytes,
		     enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = rig_sge(100, bytes);
	struct ibv_send_wr *bad, wr = {
		.wr_id = 5, .sg_list = &sge, .num_sge = !!bytes, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = 0x12345678,
		.wr.ud = { self, to->qp->qp_num, qkey },
	};

	return ibv_post_send(e->qp, &wr, &bad);
}

static void mail_sent(struct end *e, const struct end *to, uint32_t qkey, uint32_t bytes)
{
	check_error(mail_send(e, to, qkey, bytes, IBV_WR_SEND), 0);
	cq_expect(e->send, 5, IBV_WC_SUCCESS);
}

/* In its receive at AT, behind what was there. */
static struct ibv_wc mail_expect(struct end *e, const struct end *from, uint64_t wr_id,
				 uint32_t bytes)
{
	struct ibv_wc wc = cq_next(e->recv);
	unsigned int i;

	check_that(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status), wc.wr_id);
	check_that(wc.wr_id == wr_id, "wr_id", wc.wr_id);
	check_that(wc.opcode == IBV_WC_RECV, "opcode", wc.opcode);
	check_that(wc.byte_len == HEADER + bytes, "byte_len", wc.byte_len);
	check_that(wc.qp_num == e->qp->qp_num, "qp_num", wc.qp_num);
	check_that(wc.src_qp == from->qp->qp_num, "src_qp", wc.src_qp);
	check_that(wc.slid == lid && !wc.sl && !wc.dlid_path_bits, "slid", wc.slid);
	check_that(!(wc.wc_flags & IBV_WC_GRH), "wc_flags", wc.wc_flags);
	for (i = 0; i < HEADER; i++)
		check_that(mem[AT + i] == 0xCC, "a byte before the data", i);
	check_that(!memcmp(mem + AT + HEADER, mem + 100, bytes), "other bytes", bytes);
	check_that(mem[AT + HEADER + bytes] == 0xCC, "a byte behind the data", bytes);
	memset(mem + AT, 0xCC, RIG_BYTES - AT);
	return wc;
}

/* ---- handles ---- */

static void handles_check(void)
{
	struct ibv_ah_attr good = { .dlid = lid, .port_num = 1 }, a = good;
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct ibv_ah *ah;

	a.is_global = 1;
	check_null(ibv_create_ah(pd, &a), EOPNOTSUPP);
	a = good;
	a.dlid = 0;
	check_null(ibv_create_ah(pd, &a), EINVAL);
	a.dlid = 257;
	check_null(ibv_create_ah(pd, &a), EINVAL);
	a = good;
	a.port_num = 2;
	check_null(ibv_create_ah(pd, &a), EINVAL);
	check_that(other, "domain", errno);
	ah = ibv_create_ah(other, &good);
	check_that(ah && ah->context == ctx && ah->pd == other, "address handle", errno);
	check_error(ibv_dealloc_pd(other), EBUSY);
	check_error(ibv_destroy_ah(ah), 0);
	check_error(ibv_dealloc_pd(other), 0);
	self = ibv_create_ah(pd, &good);
	check_that(self, "address handle", errno);
}

/* ---- mail ---- */

static void lengths_send(struct end *a, struct end *b)
{
	static const uint32_t bytes[] = { 0, 1, 64, 1000, 4096 };
	struct ibv_wc wc;
	size_t i;

	for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		check_error(end_post_recv(b, 100 + i, HEADER + 4096), 0);
		mail_sent(a, b, QKEY + 1, bytes[i]);
		mail_expect(b, a, 100 + i, bytes[i]);
	}
	check_error(end_post_recv(b, 7, HEADER), 0);
	check_error(mail_send(a, b, QKEY + 1, 0, IBV_WR_SEND_WITH_IMM), 0);
	cq_expect(a->send, 5, IBV_WC_SUCCESS);
	wc = mail_expect(b, a, 7, 0);
	check_that(wc.wc_flags == IBV_WC_WITH_IMM && wc.imm_data == 0x12345678, "imm_data",
		   wc.imm_data);
	/* To itself, and to who has written. */
	check_error(end_post_recv(a, 8, HEADER + 100), 0);
	mail_sent(a, a, QKEY, 10);
	mail_expect(a, a, 8, 10);
}

static void mail_answer(struct end *a, struct end *b)
{
	struct ibv_ah *ah, *before = self;
	struct ibv_wc wc;

	check_error(end_post_recv(b, 9, HEADER + 100), 0);
	mail_sent(a, b, QKEY + 1, 20);
	wc = mail_expect(b, a, 9, 20);
	ah = ibv_create_ah_from_wc(pd, &wc, NULL, 1);
	check_that(ah, "address handle from a completion", errno);
	check_error(end_post_recv(a, 10, HEADER + 100), 0);
	self = ah;
	mail_sent(b, a, QKEY, 30);
	self = before;
	mail_expect(a, b, 10, 30);
	check_error(ibv_destroy_ah(ah), 0);
}

/* The place of the header may end within a segment, or with one. */
static void receive_pieces(struct end *a, struct end *b)
{
	struct ibv_sge s[3] = { rig_sge(AT, 15), rig_sge(AT + 15, 25), rig_sge(AT + 40, 100) };
	struct ibv_recv_wr *bad, wr = { .wr_id = 11, .sg_list = s, .num_sge = 3 };

	check_error(ibv_post_recv(b->qp, &wr, &bad), 0);
	mail_sent(a, b, QKEY + 1, 60);
	mail_expect(b, a, 11, 60);
	s[1] = rig_sge(AT + 15, 50);
	s[2] = rig_sge(AT + 65, 100);
	check_error(ibv_post_recv(b->qp, &wr, &bad), 0);
	mail_sent(a, b, QKEY + 1, 60);
	mail_expect(b, a, 11, 60);
	check_error(end_post_recv(b, 12, HEADER - 1), EINVAL);
}

/* One that has another key is lost, and so is one that is too long: the next one comes. */
static void keys_check(struct end *a, struct end *b)
{
	struct ibv_qp_attr attr = { .qkey = QKEY + 2 };
	struct ibv_qp_init_attr init;

	check_error(end_post_recv(b, 13, HEADER + 50), 0);
	mail_sent(a, b, QKEY, 10);
	mail_sent(a, b, QKEY + 1, 51);
	/* The high bit: the sender's own. */
	mail_sent(a, b, SHARED | (QKEY + 1), 11);
	check_error(ibv_modify_qp(b->qp, &attr, IBV_QP_QKEY), 0);
	check_error(ibv_query_qp(b->qp, &attr, IBV_QP_QKEY, &init), 0);
	check_that(attr.qkey == QKEY + 2 && init.qp_type == IBV_QPT_UD, "qkey", attr.qkey);
	mail_sent(a, b, QKEY + 1, 12);
	attr.qkey = QKEY;
	check_error(ibv_modify_qp(b->qp, &attr, IBV_QP_QKEY), 0);
	mail_sent(a, b, SHARED, 13);
	mail_expect(b, a, 13, 13);
}

/* Call by call, and taken so. */
static void build_send(struct end *a, struct end *b)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(a->qp);

	check_error(end_post_recv(b, 14, HEADER + 100), 0);
	ibv_wr_start(ex);
	ex->wr_id = 5;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, self, b->qp->qp_num, QKEY);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)mem + 100, 70);
	check_error(ibv_wr_complete(ex), 0);
	cq_expect(a->send, 5, IBV_WC_SUCCESS);
	mail_expect(b, a, 14, 70);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, self, 1u << 24, QKEY);
	ibv_wr_set_inline_data(ex, mem, 10);
	check_error(ibv_wr_complete(ex), EINVAL);
}

/* ---- what there is not ---- */

static void refused_check(struct end *a, struct end *b)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_UD, .cap = { 16, 16, 1, 1, 0 }, .pd = pd,
		.send_cq = a->send, .recv_cq = a->recv,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
	};
	struct ibv_qp_attr attr = { .path_mtu = IBV_MTU_256 };

	check_null(ibv_create_qp_ex(ctx, &init), EOPNOTSUPP);
	check_error(mail_send(a, b, QKEY, 4097, IBV_WR_SEND), EINVAL);
	check_error(mail_send(a, b, QKEY, 8, IBV_WR_RDMA_WRITE), EINVAL);
	check_error(mail_send(a, b, QKEY, 8, IBV_WR_ATOMIC_FETCH_AND_ADD), EINVAL);
	check_error(ibv_modify_qp(a->qp, &attr, IBV_QP_PATH_MTU), EINVAL);
	check_that(!ibv_poll_cq(a->recv, 1, &(struct ibv_wc){ 0 }), "a completion is left", 0);
	check_that(!ibv_poll_cq(b->recv, 1, &(struct ibv_wc){ 0 }), "a completion is left", 0);
}

/* With an argument: on a system that has datagrams alone. */
int main(int argc, char **argv)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_qp_init_attr rc = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct end a = { 0 }, b = { 0 };
	struct ibv_qp *qp;

	(void)argv;
	rig_open();
	bytes_fill();
	handles_check();
	mail_make(&a, QKEY);
	mail_make(&b, QKEY + 1);
	lengths_send(&a, &b);
	mail_answer(&a, &b);
	receive_pieces(&a, &b);
	keys_check(&a, &b);
	build_send(&a, &b);
	refused_check(&a, &b);
	rc.send_cq = rc.recv_cq = a.send;
	if (argc > 1) {
		check_null(ibv_create_qp(pd, &rc), EOPNOTSUPP);
		check_null(ibv_create_srq(pd, &srq), EOPNOTSUPP);
	} else {
		qp = ibv_create_qp(pd, &rc);
		check_that(qp, "a reliable connection beside them", errno);
		check_error(ibv_destroy_qp(qp), 0);
		rc.qp_type = IBV_QPT_UD;
		rc.srq = ibv_create_srq(pd, &srq);
		check_null(ibv_create_qp(pd, &rc), EOPNOTSUPP);
		check_error(ibv_destroy_srq(rc.srq), 0);
	}
	check_error(ibv_destroy_ah(self), 0);
	check_error(ibv_destroy_qp(a.qp), 0);
	check_error(ibv_destroy_qp(b.qp), 0);
	printf("datagrams go where their handles say\n");
	return 0;
}
