// SPDX-License-Identifier: BSD-2-Clause
/* What a packet unit and the firmware tell each other: requests, failures, ends, rights. */
#include "rig/fw_bench.h"

TEST("a bad request lets those before it end well, and those behind it are flushed")
{
	struct bench b = { 0 };
	struct fl_wqe e;

	bench_make(&b);
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	e = rig_wqe(&b.p.s, 10);
	e.lkey = 0;
	rig_post(b.u->r, &b.p.s, e);
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	EXPECT_EQ(bench_qp(&b)->posts, 2);
	EXPECT(bench_qp(&b)->open);
	unit_expect_none(b.u, &b.p);
	unit_end(b.u, b.p.s.qp, FL_ST_OK);
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_WRITE, FL_ST_OK);
	EXPECT(bench_qp(&b)->open);
	unit_end(b.u, b.p.s.qp, FL_ST_OK);
	UNIT_EXPECT_CQE(b.u, &b.p, 1, FL_OP_WRITE, FL_ST_OK);
	UNIT_EXPECT_CQE(b.u, &b.p, 2, FL_OP_WRITE, FL_ST_LOCAL_KEY);
	UNIT_EXPECT_CQE(b.u, &b.p, 3, FL_OP_WRITE, FL_ST_FLUSHED);
	unit_expect_none(b.u, &b.p);
	EXPECT(!bench_qp(&b)->open);
	EXPECT_EQ(bench_qp(&b)->closes, 1);
}

TEST("each failure that a unit reports ends the connection once, and flushes the rest")
{
	static const uint8_t status[] = {
		FL_ST_REMOTE_ACCESS, FL_ST_REMOTE_FAULT, FL_ST_REMOTE_INVALID,
		FL_ST_RNR_TRIES, FL_ST_NO_ANSWER, FL_ST_LOCAL_FAULT,
		FL_ST_BUS_ERROR, FL_ST_FAULT_FAST, FL_ST_LOCAL_KEY,
	};
	struct bench b = { 0 };
	uint32_t k, i;

	for (k = 0; k < sizeof(status); k++) {

		bench_make(&b);
		for (i = 0; i < 40; i++) {
			struct fl_wqe e = rig_wqe(&b.p.s, 10 + i);

			/* What fails is told also if it was not to be signalled. */
			e.flags = 0;
			rig_put(b.u->r, &b.p.s, &e);
		}
		bench_ring(&b);
		EXPECT_EQ(bench_qp(&b)->posts, FW_QP_WRS);
		unit_end(b.u, b.p.s.qp, FL_ST_OK);
		unit_end(b.u, b.p.s.qp, status[k]);
		UNIT_EXPECT_CQE(b.u, &b.p, 1, FL_OP_WRITE, status[k]);
		for (i = 2; i < 40; i++)
			UNIT_EXPECT_CQE(b.u, &b.p, (uint16_t)i, FL_OP_WRITE,
					FL_ST_FLUSHED);
		unit_expect_none(b.u, &b.p);
		EXPECT_EQ(bench_qp(&b)->closes, 1);
		rig_expect_event(b.u->r, FL_EV_QP_ERROR, b.p.s.qp, status[k]);
		EXPECT(!rig_event(b.u->r));
		EXPECT(fw_idle(b.u->r->fw));
	}
}

TEST("what the responder meets ends the connection, too")
{
	struct bench b = { 0 };

	bench_make(&b);
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 10));
	b.u->fw.pair_error(b.u->fw.ctx, (uint16_t)FW_QP_PLACE(b.p.s.qp),
			   FL_ST_REMOTE_INVALID, 0);
	unit_run(b.u);
	EXPECT_EQ(bench_qp(&b)->closes, 1);
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_WRITE, FL_ST_FLUSHED);
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_RECV, FL_ST_FLUSHED);
	rig_expect_event(b.u->r, FL_EV_QP_ERROR, b.p.s.qp,
			 FL_ST_REMOTE_INVALID | FL_ENDED_UNTOLD);
	EXPECT(fw_idle(b.u->r->fw));
}

TEST("a unit may end a request before post() returns")
{
	struct bench b = { 0 };
	uint16_t i;

	bench_make(&b);
	b.u->at_once = true;
	for (i = 0; i < 100; i++) {
		rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
		UNIT_EXPECT_CQE(b.u, &b.p, i, FL_OP_WRITE, FL_ST_OK);
	}
	EXPECT(fw_idle(b.u->r->fw));
}

TEST("what a unit's calls cost the firmware, the next step pays")
{
	uint32_t costs[FW_COSTS] = { 0 };
	struct bench b = { 0 };

	bench_make(&b);
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	b.u->fw.work_done(b.u->fw.ctx, (uint16_t)FW_QP_PLACE(b.p.s.qp), 0,
			  FL_ST_OK, 0, 0);
	fw_step(b.u->r->fw, b.u->r->now, costs);
	EXPECT_EQ(costs[FW_COST_CQE], 1);
	memset(costs, 0, sizeof(costs));
	fw_step(b.u->r->fw, b.u->r->now, costs);
	EXPECT_EQ(costs[FW_COST_CQE], 0);
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_WRITE, FL_ST_OK);
}

TEST("destroying it takes it from the unit, and ends what is under way as KILLED")
{
	struct bench b = { 0 };
	uint16_t i;

	bench_make(&b);
	for (i = 0; i < 40; i++) {
		struct fl_wqe e = rig_wqe(&b.p.s, 10);

		rig_put(b.u->r, &b.p.s, &e);
	}
	bench_ring(&b);
	EXPECT_EQ(CMD(b.u->r, QP_DESTROY, .slot = 1, .object = b.p.s.qp),
		  FL_ST_OK);
	EXPECT(!bench_qp(&b)->open);
	for (i = 0; i < 40; i++)
		UNIT_EXPECT_CQE(b.u, &b.p, i, FL_OP_WRITE, FL_ST_KILLED);
	unit_expect_none(b.u, &b.p);
	STEP("and so does the end of the process, without a word");
	bench_make(&b);
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 10));
	EXPECT_EQ(CMD(b.u->r, SLOT_CLOSE, .slot = 1), FL_ST_OK);
	EXPECT(!bench_qp(&b)->open);
	EXPECT_EQ(bench_qp(&b)->closes, 1);
	EXPECT(fw_idle(b.u->r->fw));
}

TEST("a completion queue that overflows ends all that complete there")
{
	struct unit_side two;
	struct bench b = { 0 };
	struct fl_fw_cmd c;
	uint32_t small;

	bench_make(&b);
	two = b.p;
	EXPECT_EQ(CMD(b.u->r, CQ_CREATE, .slot = 1, .a = 0x8000, .b = 2),
		  FL_ST_OK);
	small = (uint32_t)b.u->r->result;
	c = (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE, .slot = 1,
				.a = UNIT_SRQ(1), .b = 8, .c = two.s.cq,
				.d = two.s.pd, .flags = FL_QP_RC };
	EXPECT_EQ(rig_cmd(b.u->r, c), FL_ST_OK);
	two.s.qp = (uint32_t)b.u->r->result;
	two.rq_pa = 0xA000;
	two.rq_tail = 0;
	EXPECT_EQ(CMD(b.u->r, RQ_ATTACH, .slot = 1, .object = two.s.qp,
		      .a = two.rq_pa, .b = 16, .c = small), FL_ST_OK);
	EXPECT_EQ(CMD(b.u->r, QP_CONNECT, .slot = 1, .object = two.s.qp,
		      .a = 2, .b = 3), FL_ST_OK);
	while (two.rq_tail < 4) {
		struct fw_recv r;
		uint8_t wrong;

		unit_post_recv(b.u, &two, unit_rqe(&two, 10));
		EXPECT_EQ(b.u->qp[FW_QP_PLACE(two.s.qp)].open,
			  two.rq_tail < 4);
		if (two.rq_tail == 4)
			break;
		EXPECT(unit_take(b.u, two.s.qp, &r, &wrong));
		unit_arrive(b.u, two.s.qp, &r, (struct fw_arrival){
			    .opcode = FL_OP_RECV, .length = 5 });
	}
	rig_expect_event(b.u->r, FL_EV_CQ_OVERFLOW, small, 0);
	rig_expect_event(b.u->r, FL_EV_QP_ERROR, two.s.qp,
			 FL_ST_NO_ROOM | FL_ENDED_UNTOLD);
	EXPECT(bench_qp(&b)->open);	/* it completes elsewhere */
	EXPECT(fw_idle(b.u->r->fw));
}

TEST("rights and ranges are asked for as the unit needs them")
{
	static const struct {
		int64_t va;
		uint64_t bytes;
		uint8_t right, seen;
	} asked[] = {
		{ 0, 1, 0, FL_ST_OK }, { 0, RIG_BYTES, 0, FL_ST_OK },
		{ 0, 1, FL_ACC_REMOTE_WRITE, FL_ST_OK },
		{ 0, 1, FL_ACC_REMOTE_ATOMIC, FL_ST_SEEN_RIGHTS },
		{ -1, 1, 0, FL_ST_SEEN_RANGE },
		{ 0, RIG_BYTES + 1, 0, FL_ST_SEEN_RANGE },
		{ RIG_BYTES, 1, FL_ACC_REMOTE_READ, FL_ST_SEEN_RANGE },
		{ 5, UINT64_MAX, 0, FL_ST_SEEN_RANGE },
		/* Nothing at all: the address may be any. */
		{ -77, 0, FL_ACC_REMOTE_WRITE, FL_ST_OK },
		{ -77, 0, FL_ACC_REMOTE_ATOMIC, FL_ST_SEEN_RIGHTS },
	};
	struct fw_wanted w;
	struct fw_stats st;
	struct unit_side other;
	uint32_t object;
	struct bench b = { 0 };
	size_t i;

	bench_make(&b);
	w.qp = (uint16_t)FW_QP_PLACE(b.p.s.qp);
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		STEP("question %zu", i);
		w.key = b.p.s.key;
		w.right = asked[i].right;
		w.va = RIG_VA + (uint64_t)asked[i].va;
		w.bytes = asked[i].bytes;
		EXPECT_EQ(b.u->fw.reach(b.u->fw.ctx, &w, &object),
			  asked[i].seen);
		if (!asked[i].seen)
			EXPECT_EQ(object, b.p.s.key % FW_MRS);
	}
	fw_stats(b.u->r->fw, &st);
	EXPECT_EQ(st.rx_checks, 5);
	EXPECT_EQ(st.rx_refused, 3);
	STEP("keys of nobody, of another process, of a region that has ended");
	unit_side(b.u, &other, 2);
	w.va = RIG_VA;
	w.bytes = 1;
	w.right = 0;
	w.key = b.p.s.key ^ 1u << 12;
	EXPECT_EQ(b.u->fw.reach(b.u->fw.ctx, &w, &object), FL_ST_SEEN_KEY);
	w.key = other.s.key;
	EXPECT_EQ(b.u->fw.reach(b.u->fw.ctx, &w, &object), FL_ST_SEEN_KEY);
	w.bytes = 0;
	EXPECT_EQ(b.u->fw.reach(b.u->fw.ctx, &w, &object), FL_ST_SEEN_KEY);
	w.key = b.p.s.key;
	EXPECT_EQ(CMD(b.u->r, MR_DESTROY, .slot = 1, .object = b.p.s.key),
		  FL_ST_OK);
	EXPECT_EQ(b.u->stopped, b.p.s.key);
	EXPECT_EQ(b.u->fw.reach(b.u->fw.ctx, &w, &object), FL_ST_SEEN_KEY);
}

TEST("a block that names a packet unit's queue pair is refused")
{
	struct rig_rxc x = { .state = FL_RX_CHECK, .op = WOP_WRITE, .len = 64,
			     .va = RIG_VA, .from = RIG_PEER_QP };
	struct bench b = { 0 };

	bench_make(&b);
	x.rkey = b.p.s.key;
	x.src = RIG_NODE << NIC_RXC_SRC_NODE_SHIFT |
		b.p.s.qp << NIC_RXC_SRC_QPN_SHIFT;
	EXPECT_EQ(rig_open(b.u->r, 0, &x), FL_ST_REMOTE_QP);
	EXPECT_EQ(b.u->r->seen, FL_ST_SEEN_NO_QP);
}
