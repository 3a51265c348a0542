// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queue pairs of datagrams in the firmware: their states and key, what can be posted, and
 * receives that have their packets before the oldest is over.
 */
#include "rig/fw_unit.h"

#define QKEY 0xBEEF0001u

static struct ud_bench {
	struct unit *u;
	struct unit_side p;
	unsigned int posted;	/* how often the unit heard of receives */
} b;

static void bench_posted(void *arg, uint16_t qp)
{
	(void)arg;
	EXPECT_EQ(qp, FW_QP_PLACE(b.p.s.qp));
	b.posted++;
}

static uint32_t bench_modify(uint32_t flags, uint64_t a, uint64_t peer, uint64_t psn,
			     uint64_t qkey)
{
	return CMD(b.u->r, QP_MODIFY, .slot = 1, .object = b.p.s.qp,
		   .flags = flags | FL_MOD_STATE, .a = a, .b = peer, .c = psn, .d = qkey);
}

static void bench_create(void)
{
	struct rig_slot *s = &b.p.s;

	memset(&b, 0, sizeof(b));
	b.u = unit_rig();
	b.u->ops.posted = bench_posted;
	b.u->r->datagrams = &b.u->ops;
	unit_restart(b.u);
	rig_slot(b.u->r, s, 1);
	s->sq_pa = UNIT_SQ(1);
	s->tail = 0;
	b.p.rq_pa = UNIT_RQ(1);
	b.p.rq_size = 16;
	EXPECT_EQ(CMD(b.u->r, QP_CREATE, .slot = 1, .a = s->sq_pa, .b = s->sq_size,
		      .c = s->cq, .d = s->pd, .flags = FL_QP_UD), FL_ST_OK);
	s->qp = (uint32_t)b.u->r->result;
}

static void bench_ready(void)
{
	bench_create();
	EXPECT_EQ(CMD(b.u->r, RQ_ATTACH, .slot = 1, .object = b.p.s.qp, .a = b.p.rq_pa,
		      .b = b.p.rq_size, .c = b.p.s.cq), FL_ST_OK);
	EXPECT_EQ(bench_modify(FL_MOD_QKEY, FL_STATE_INIT, 0, 0, QKEY), FL_ST_OK);
	EXPECT_EQ(bench_modify(FL_MOD_PEER | FL_MOD_MTU, FL_STATE_RTR | 3u << 8,
			       UNIT_RTR_B, 0, 0), FL_ST_OK);
	EXPECT_EQ(bench_modify(FL_MOD_SQ_PSN, FL_STATE_RTS, 0, 0x123, 0), FL_ST_OK);
}

static struct fw_pair *bench_pair(void)
{
	return &b.u->qp[FW_QP_PLACE(b.p.s.qp)].pair;
}

TEST("INIT takes the Q_Key, RTR peer and MTU, RTS its first PSN, and nothing of acknowledgements")
{
	bench_create();
	EXPECT_EQ(bench_modify(0, FL_STATE_INIT, 0, 0, 0), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(bench_modify(0, FL_STATE_INIT, 0, 0, QKEY), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(bench_modify(FL_MOD_QKEY, FL_STATE_INIT, 0, 0, 1ull << 32),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(bench_modify(FL_MOD_QKEY, FL_STATE_INIT, 0, 0, QKEY), FL_ST_OK);
	EXPECT_EQ(bench_modify(FL_MOD_PEER, FL_STATE_RTR, UNIT_RTR_B, 0, 0),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(bench_modify(FL_MOD_PEER | FL_MOD_MTU | FL_MOD_RNR_CODE,
			       FL_STATE_RTR | 3u << 8 | 12u << 16, UNIT_RTR_B, 0, 0),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(bench_modify(FL_MOD_PEER | FL_MOD_MTU, FL_STATE_RTR | 3u << 8,
			       UNIT_RTR_B, 0, 0), FL_ST_OK);
	EXPECT_EQ(bench_pair()->qkey, QKEY);
	EXPECT_EQ(bench_pair()->mtu, 1024);
	EXPECT(!bench_pair()->sends);
	EXPECT_EQ(bench_modify(0, FL_STATE_RTS, 0, 0, 0), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(bench_modify(FL_MOD_SQ_PSN | FL_MOD_TIMEOUT, FL_STATE_RTS | 14ull << 40, 0,
			       0x123, 0), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(bench_modify(FL_MOD_SQ_PSN, FL_STATE_RTS, 0, 0x123, 0), FL_ST_OK);
	EXPECT_EQ(bench_pair()->sq_psn, 0x123);
	EXPECT(bench_pair()->sends);
	STEP("and another key, at any time");
	EXPECT_EQ(bench_modify(FL_MOD_QKEY, FL_STATE_RTS, 0, 0, 7), FL_ST_OK);
	EXPECT_EQ(bench_pair()->qkey, 7);
	EXPECT_EQ(bench_modify(0, FL_STATE_SQD, 0, 0, 0), FL_ST_OK);
	EXPECT_EQ(bench_modify(FL_MOD_QKEY, FL_STATE_SQD, 0, 0, 8), FL_ST_OK);
	EXPECT_EQ(bench_modify(FL_MOD_RETRIES, FL_STATE_SQD | 3ull << 24, 0, 0, 0),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(bench_modify(0, FL_STATE_ERROR, 0, 0, 0), FL_ST_OK);
	EXPECT_EQ(bench_modify(0, FL_STATE_RESET, 0, 0, 0), FL_ST_OK);
}

TEST("QP_CONNECT gives the usual Q_Key, or leaves that of INIT")
{
	bench_create();
	EXPECT_EQ(CMD(b.u->r, QP_CONNECT, .slot = 1, .object = b.p.s.qp, .a = RIG_NODE,
		      .b = RIG_PEER_QP), FL_ST_OK);
	EXPECT_EQ(bench_pair()->qkey, 0x11111111);
	bench_create();
	EXPECT_EQ(bench_modify(FL_MOD_QKEY, FL_STATE_INIT, 0, 0, QKEY), FL_ST_OK);
	EXPECT_EQ(CMD(b.u->r, QP_CONNECT, .slot = 1, .object = b.p.s.qp, .a = RIG_NODE,
		      .b = RIG_PEER_QP), FL_ST_OK);
	EXPECT_EQ(bench_pair()->qkey, QKEY);
}

TEST("a Q_Key is of datagrams, and a shared receive queue is not")
{
	uint32_t srq;

	bench_create();
	EXPECT_EQ(CMD(b.u->r, SRQ_CREATE, .slot = 1, .a = UNIT_SRQ(1), .b = 16,
		      .c = b.p.s.pd), FL_ST_OK);
	srq = (uint32_t)b.u->r->result;
	EXPECT_EQ(CMD(b.u->r, RQ_ATTACH, .slot = 1, .object = b.p.s.qp, .c = b.p.s.cq,
		      .d = srq + 1), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(b.u->r, QP_CREATE, .slot = 1, .a = UNIT_SQ(1), .b = 4, .c = b.p.s.cq,
		      .d = b.p.s.pd, .flags = FL_QP_RC), FL_ST_OK);
	b.p.s.qp = (uint32_t)b.u->r->result;
	EXPECT_EQ(bench_modify(FL_MOD_QKEY, FL_STATE_INIT, 0, 0, QKEY), FL_ST_BAD_ARGUMENT);
}

static uint8_t wqe_status(struct fl_wqe w)
{
	struct fl_cqe e;

	bench_ready();
	w.index = b.p.s.tail;
	rig_put(b.u->r, &b.p.s, &w);
	EXPECT_EQ(rig_ring(b.u->r, &b.p.s), 0);
	unit_run(b.u);
	if (b.u->qp[FW_QP_PLACE(b.p.s.qp)].posts)
		return FL_ST_OK;
	e = unit_cqe(b.u, &b.p);
	return e.status;
}

TEST("SEND alone, of one packet: all else is a bad entry")
{
	struct fl_wqe w;

	bench_ready();
	w = rig_wqe(&b.p.s, 1024);
	w.remote_va = w.rkey = 0;
	w.opcode = FL_OP_SEND;
	EXPECT_EQ(wqe_status(w), FL_ST_OK);
	w.length = 1025;
	EXPECT_EQ(wqe_status(w), FL_ST_BAD_LENGTH);
	w.length = 8;
	w.opcode = FL_OP_WRITE;
	EXPECT_EQ(wqe_status(w), FL_ST_BAD_OPCODE);
	w.opcode = FL_OP_FETCH_ADD;
	EXPECT_EQ(wqe_status(w), FL_ST_BAD_OPCODE);
}

TEST("a request may say to whom it goes, and then may not say anything else there")
{
	struct fl_wqe w;

	bench_ready();
	w = rig_wqe(&b.p.s, 64);
	w.opcode = FL_OP_SEND;
	w.flags |= FL_WQE_TO;
	w.remote_va = 0xABCDEF00 | (FW_NODES - 1);
	w.rkey = QKEY;
	EXPECT_EQ(wqe_status(w), FL_ST_OK);
	EXPECT_EQ(b.u->work[0].remote_va, 0xABCDEF00 | (FW_NODES - 1));
	EXPECT_EQ(b.u->work[0].rkey, QKEY);
	STEP("a node that the card cannot send to, and bits that are none");
	w.remote_va = 0xABCDEF00 | FW_NODES;
	EXPECT_EQ(wqe_status(w), FL_ST_BAD_ENTRY);
	w.remote_va = 1ull << 32;
	EXPECT_EQ(wqe_status(w), FL_ST_BAD_ENTRY);
	STEP("without the flag both are 0");
	w.flags &= (uint8_t)~FL_WQE_TO;
	w.remote_va = 0;
	EXPECT_EQ(wqe_status(w), FL_ST_BAD_ENTRY);
}

TEST("a queue pair without a peer is ready all the same, for requests that say to whom")
{
	struct fl_wqe w;
	struct fl_cqe e;

	bench_create();
	EXPECT_EQ(CMD(b.u->r, RQ_ATTACH, .slot = 1, .object = b.p.s.qp, .a = b.p.rq_pa,
		      .b = b.p.rq_size, .c = b.p.s.cq), FL_ST_OK);
	EXPECT_EQ(bench_modify(FL_MOD_QKEY, FL_STATE_INIT, 0, 0, QKEY), FL_ST_OK);
	EXPECT_EQ(bench_modify(FL_MOD_MTU, FL_STATE_RTR | 3u << 8, 0, 0, 0), FL_ST_OK);
	EXPECT_EQ(bench_modify(FL_MOD_SQ_PSN, FL_STATE_RTS, 0, 0x123, 0), FL_ST_OK);
	EXPECT(!bench_pair()->peer);
	w = rig_wqe(&b.p.s, 64);
	w.opcode = FL_OP_SEND;
	w.flags |= FL_WQE_TO;
	w.remote_va = 0x500 | RIG_NODE;
	w.index = b.p.s.tail;
	rig_put(b.u->r, &b.p.s, &w);
	EXPECT_EQ(rig_ring(b.u->r, &b.p.s), 0);
	unit_run(b.u);
	EXPECT_EQ(b.u->qp[FW_QP_PLACE(b.p.s.qp)].posts, 1);
	unit_end(b.u, b.p.s.qp, FL_ST_OK);
	EXPECT_EQ(unit_cqe(b.u, &b.p).status, FL_ST_OK);
	STEP("to nobody: it ends, and the queue pair with it");
	w.flags &= (uint8_t)~FL_WQE_TO;
	w.remote_va = w.rkey = 0;
	w.index = b.p.s.tail;
	rig_put(b.u->r, &b.p.s, &w);
	EXPECT_EQ(rig_ring(b.u->r, &b.p.s), 0);
	unit_run(b.u);
	e = unit_cqe(b.u, &b.p);
	EXPECT_EQ(e.status, FL_ST_NOT_CONNECTED);
}

TEST("receives are looked at ahead, and end in order; their completions say who sent")
{
	uint16_t n, i;
	struct fw_recv r[4];
	struct fl_cqe e;
	uint8_t wrong;

	bench_ready();
	n = FW_QP_PLACE(b.p.s.qp);
	EXPECT(!b.u->fw.recv_ahead(b.u->fw.ctx, n, 0, &r[0], &wrong));
	for (i = 0; i < 4; i++)
		unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 100u + i));
	EXPECT_EQ(b.posted, 4);
	for (i = 4; i--; ) {
		EXPECT(b.u->fw.recv_ahead(b.u->fw.ctx, n, i, &r[i], &wrong));
		EXPECT_EQ(wrong, FL_ST_OK);
		EXPECT_EQ(r[i].index, i);
		EXPECT_EQ(r[i].length, 100 + i);
	}
	EXPECT(!b.u->fw.recv_ahead(b.u->fw.ctx, n, 4, &r[0], &wrong));
	/* What the process writes there now changes nothing. */
	memset(b.u->r->mem + b.p.rq_pa, 0xFF, 256);
	for (i = 0; i < 3; i++) {
		unit_arrive(b.u, b.p.s.qp, &r[i], (struct fw_arrival){
			.opcode = FL_OP_RECV_IMM, .length = 9, .imm = 77u + i,
			.from_qp = 0x123456, .from_node = 0x2A,
			.status = i == 1 ? FL_ST_LENGTH : FL_ST_OK });
		e = unit_cqe(b.u, &b.p);
		EXPECT_EQ(e.index, i);
		EXPECT_EQ(e.wr_id, 5000 + i);
		EXPECT_EQ(e.xfer, 0x2A123456);
		EXPECT_EQ(e.resends, 77 + i);
		EXPECT_EQ(e.status, i == 1 ? FL_ST_LENGTH : FL_ST_OK);
	}
	/* An error of one receive is not the queue pair's. */
	EXPECT(b.u->qp[n].open);
	STEP("and what is left is flushed");
	EXPECT_EQ(bench_modify(0, FL_STATE_ERROR, 0, 0, 0), FL_ST_OK);
	unit_run(b.u);
	e = unit_cqe(b.u, &b.p);
	EXPECT_EQ(e.status, FL_ST_FLUSHED);
	EXPECT_EQ(e.index, 3);
	EXPECT_EQ(e.xfer, 0);
	unit_expect_none(b.u, &b.p);
}

TEST("an entry that makes no sense is seen when it is looked at")
{
	struct fl_rqe e;
	struct fw_recv r;
	uint8_t wrong;

	bench_ready();
	e = unit_rqe(&b.p, 100);
	e.flags = 1;
	unit_post_recv(b.u, &b.p, e);
	e = unit_rqe(&b.p, 100);
	e.key0 ^= 0x80000000u;
	unit_post_recv(b.u, &b.p, e);
	EXPECT(b.u->fw.recv_ahead(b.u->fw.ctx, FW_QP_PLACE(b.p.s.qp), 0, &r, &wrong));
	EXPECT_EQ(wrong, FL_ST_BAD_ENTRY);
	EXPECT(b.u->fw.recv_ahead(b.u->fw.ctx, FW_QP_PLACE(b.p.s.qp), 1, &r, &wrong));
	EXPECT_EQ(wrong, FL_ST_LOCAL_KEY);
}
