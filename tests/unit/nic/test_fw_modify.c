// SPDX-License-Identifier: BSD-2-Clause
/* States of a queue pair whose requests a packet unit carries. */
#include "rig/fw_unit.h"

enum { RESET, INIT, RTR, RTS, SQD, SQE, ERR };	/* as libibverbs numbers them */

/* InfiniBand 11.2.5.2: from (row) to (column) RESET INIT RTR RTS SQD SQE ERROR. */
static const char legal[7][8] = {
	[RESET] = "yyn" "nnnn",
	[INIT]  = "yyy" "nnny",
	[RTR]   = "ynn" "ynny",
	[RTS]   = "ynn" "yyny",
	[SQD]   = "ynn" "yyny",
	[ERR]   = "ynn" "nnny",
};

struct bench {
	struct unit *u;
	struct unit_side p;
};

static void bench_make(struct bench *b)
{
	*b = (struct bench){ 0 };
	b->u = unit_rig();
	rig_slot(b->u->r, &b->p.s, 1);
	b->p.s.sq_pa = UNIT_SQ(1);
	b->p.rq_pa = UNIT_RQ(1);
	b->p.rq_size = 16;
	unit_qp(b->u, &b->p, 0);
}

static uint32_t bench_rts(struct bench *b)
{
	return unit_modify(b->u, 1, b->p.s.qp, UNIT_RTS_FLAGS, UNIT_RTS_A, 0,
			   UNIT_RTS_C);
}

static uint32_t bench_state(struct bench *b)
{
	EXPECT_EQ(unit_modify(b->u, 1, b->p.s.qp, 0, 0, 0, 0), FL_ST_OK);
	return (uint32_t)b->u->r->result & 0xFF;
}

/* By the shortest way from RESET. */
static void bench_go(struct bench *b, int state)
{
	EXPECT_EQ(unit_to(b->u, &b->p.s, FL_STATE_RESET), FL_ST_OK);
	if (state != RESET)
		EXPECT_EQ(unit_to(b->u, &b->p.s, FL_STATE_INIT), FL_ST_OK);
	if (state == ERR)
		EXPECT_EQ(unit_to(b->u, &b->p.s, FL_STATE_ERROR), FL_ST_OK);
	if (state == RTR || state == RTS || state == SQD)
		EXPECT_EQ(unit_to(b->u, &b->p.s, FL_STATE_RTR), FL_ST_OK);
	if (state == RTS || state == SQD)
		EXPECT_EQ(bench_rts(b), FL_ST_OK);
	if (state == SQD)
		EXPECT_EQ(unit_to(b->u, &b->p.s, FL_STATE_SQD), FL_ST_OK);
	EXPECT_EQ(bench_state(b), (uint32_t)state);
}

static uint32_t bench_try(struct bench *b, int from, int to)
{
	if (to == RTS && from == RTR)
		return bench_rts(b);
	return unit_to(b->u, &b->p.s, (uint32_t)to);
}

TEST("the numbers of the states are those of libibverbs")
{
	EXPECT_EQ(FL_STATE_RESET, RESET);
	EXPECT_EQ(FL_STATE_INIT, INIT);
	EXPECT_EQ(FL_STATE_RTR, RTR);
	EXPECT_EQ(FL_STATE_RTS, RTS);
	EXPECT_EQ(FL_STATE_SQD, SQD);
	EXPECT_EQ(FL_STATE_SQE, SQE);
	EXPECT_EQ(FL_STATE_ERROR, ERR);
}

TEST("each legal way is open, each other one is refused and changes nothing")
{
	struct bench b;
	int from, to, refused = 0;

	bench_make(&b);
	for (from = RESET; from <= ERR; from++) {
		for (to = RESET; from != SQE && to <= ERR + 1; to++) {
			bool may = to <= ERR && legal[from][to] == 'y';
			uint32_t status;

			STEP("from %d to %d", from, to);
			bench_go(&b, from);
			status = bench_try(&b, from, to);
			EXPECT_EQ(status, may ? FL_ST_OK : FL_ST_BAD_ARGUMENT);
			EXPECT_EQ(bench_state(&b), (uint32_t)(may ? to : from));
			refused += !may;
		}
	}
	EXPECT_EQ(refused, 29);
}

TEST("the peer's first packet is an event in RTR, and in no other state")
{
	struct bench b;
	uint16_t n;

	bench_make(&b);
	n = (uint16_t)FW_QP_PLACE(b.p.s.qp);
	bench_go(&b, RTR);
	b.u->fw.heard(b.u->fw.ctx, n, 0);
	unit_run(b.u);
	rig_expect_event(b.u->r, FL_EV_QP_HEARD, b.p.s.qp, 0);
	bench_go(&b, RTS);
	b.u->fw.heard(b.u->fw.ctx, n, 0);
	unit_run(b.u);
	EXPECT(!rig_event(b.u->r));
}

TEST("a pair in SQD says once that what had begun has ended")
{
	struct bench b;

	bench_make(&b);
	bench_go(&b, RTS);
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	EXPECT_EQ(unit_to(b.u, &b.p.s, FL_STATE_SQD), FL_ST_OK);
	unit_run(b.u);
	EXPECT(!rig_event(b.u->r));
	unit_end(b.u, b.p.s.qp, FL_ST_OK);
	EXPECT(!rig_event(b.u->r));
	unit_end(b.u, b.p.s.qp, FL_ST_OK);
	rig_expect_event(b.u->r, FL_EV_SQ_DRAINED, b.p.s.qp, 0);
	STEP("what is posted meanwhile does not begin");
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	EXPECT(!rig_event(b.u->r));
	STEP("the next time anew, at once if nothing is under way");
	bench_go(&b, SQD);
	unit_run(b.u);
	rig_expect_event(b.u->r, FL_EV_SQ_DRAINED, b.p.s.qp, 0);
	EXPECT(!rig_event(b.u->r));
}

TEST("the unit hears of the pair from RTR on, with all of its attributes")
{
	const struct fw_pair *p;
	const struct unit_qp *q;
	struct bench b;

	bench_make(&b);
	q = &b.u->qp[FW_QP_PLACE(b.p.s.qp)];
	p = &q->pair;
	bench_go(&b, INIT);
	EXPECT(!q->open && !q->opens);
	bench_go(&b, RTR);
	EXPECT(q->open && q->opens == 1 && !p->sends);
	EXPECT_EQ(p->qpn, b.p.s.qp);
	EXPECT_EQ(p->slot, 1);
	EXPECT_EQ(p->node, RIG_NODE);
	EXPECT_EQ(p->peer_qp, RIG_PEER_QP);
	EXPECT_EQ(p->rq_psn, 0x123456);
	EXPECT_EQ(p->mtu, 1024);
	EXPECT_EQ(p->rnr_code, 12);
	EXPECT_EQ(p->dest_rd_atomic, 1);
	EXPECT_EQ(bench_rts(&b), FL_ST_OK);
	EXPECT(q->open && q->opens == 2 && p->sends);
	EXPECT_EQ(p->sq_psn, 0xABCDEF);
	EXPECT_EQ(p->rq_psn, 0x123456);
	EXPECT_EQ(p->retries, 7);
	EXPECT_EQ(p->rnr_tries, 6);
	EXPECT_EQ(p->timeout, 14);
	EXPECT_EQ(p->rd_atomic, 2);
	STEP("an attribute that may change while it sends");
	EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, FL_MOD_RNR_CODE, 31u << 16, 0,
			      0), FL_ST_OK);
	EXPECT_EQ(p->rnr_code, 31);
	EXPECT_EQ(p->retries, 7);
	EXPECT_EQ(unit_to(b.u, &b.p.s, FL_STATE_RESET), FL_ST_OK);
	EXPECT(!q->open && q->closes == 1);
}

TEST("each size of packet is its power of two")
{
	struct bench b;
	unsigned int n;

	bench_make(&b);
	for (n = 0; n <= 6; n++) {
		uint64_t a = FL_STATE_RTR | n << 8 | 1ull << 56;

		bench_go(&b, INIT);
		EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, UNIT_RTR_FLAGS, a,
				      UNIT_RTR_B, 0),
			  n >= 1 && n <= 5 ? FL_ST_OK : FL_ST_BAD_ARGUMENT);
		if (n >= 1 && n <= 5)
			EXPECT_EQ(b.u->qp[FW_QP_PLACE(b.p.s.qp)].pair.mtu,
				  128u << n);
	}
}

TEST("an attribute that a way needs may not be missing, and no other may be there")
{
	struct bench b;
	uint32_t flag;

	bench_make(&b);
	for (flag = FL_MOD_MTU; flag <= FL_MOD_RQ_PSN; flag <<= 1) {
		uint32_t rtr = UNIT_RTR_FLAGS ^ flag, rts = UNIT_RTS_FLAGS ^ flag;
		bool may = !(UNIT_RTS_FLAGS & flag) && flag == FL_MOD_RNR_CODE;

		STEP("flag %u", flag);
		bench_go(&b, INIT);
		/* Attributes without their flag must be 0, those with it may be. */
		EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, rtr,
				      FL_STATE_RTR | 1u << 8 | 1ull << 48 |
				      1ull << 56, RIG_NODE, 0),
			  FL_ST_BAD_ARGUMENT);
		EXPECT_EQ(bench_state(&b), INIT);
		bench_go(&b, RTR);
		EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, rts, UNIT_RTS_A,
				      0, 0),
			  may ? FL_ST_OK : FL_ST_BAD_ARGUMENT);
		EXPECT_EQ(bench_state(&b), may ? RTS : RTR);
		bench_go(&b, RTS);
		EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, FL_MOD_STATE | flag,
				      FL_STATE_ERROR, 0, 0),
			  FL_ST_BAD_ARGUMENT);
		EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, FL_MOD_STATE | flag,
				      FL_STATE_RESET, 0, 0),
			  FL_ST_BAD_ARGUMENT);
		EXPECT_EQ(bench_state(&b), RTS);
	}
}

static uint32_t bench_access(struct bench *b, uint32_t flags, uint32_t state, uint64_t access)
{
	return CMD(b->u->r, QP_MODIFY, .slot = 1, .object = b->p.s.qp,
		   .flags = FL_MOD_ACCESS | flags, .a = state, .d = access << 32);
}

TEST("what the peer may do is given to the unit; all of it until then, and after a reset")
{
	const struct fw_pair *p;
	struct bench b;

	bench_make(&b);
	p = &b.u->qp[FW_QP_PLACE(b.p.s.qp)].pair;
	bench_go(&b, RTS);
	EXPECT_EQ(p->denied, 0);
	EXPECT_EQ(bench_access(&b, 0, 0, FL_ACC_REMOTE_READ), FL_ST_OK);
	EXPECT_EQ(p->denied, FL_ACC_REMOTE_WRITE | FL_ACC_REMOTE_ATOMIC);
	EXPECT_EQ(bench_access(&b, 0, 0, FL_ACC_LOCAL_WRITE), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(bench_access(&b, 0, 0, 16), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(b.u->r, QP_MODIFY, .slot = 1, .object = b.p.s.qp,
		      .flags = FL_MOD_RNR_CODE, .d = 2ull << 32), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(p->denied, FL_ACC_REMOTE_WRITE | FL_ACC_REMOTE_ATOMIC);
	bench_go(&b, RTS);
	EXPECT_EQ(p->denied, 0);
	STEP("given to INIT it stays");
	bench_go(&b, RESET);
	EXPECT_EQ(bench_access(&b, FL_MOD_STATE, FL_STATE_INIT, 0), FL_ST_OK);
	EXPECT_EQ(unit_to(b.u, &b.p.s, FL_STATE_RTR), FL_ST_OK);
	EXPECT_EQ(p->denied, FL_ACC_REMOTE_WRITE | FL_ACC_REMOTE_READ | FL_ACC_REMOTE_ATOMIC);
	EXPECT_EQ(bench_access(&b, FL_MOD_STATE, FL_STATE_ERROR, 0), FL_ST_BAD_ARGUMENT);
}

TEST("values that no attribute has are refused")
{
	static const struct {
		uint32_t flags;
		uint64_t a, b, c;
	} bad[] = {
		{ FL_MOD_STATE, 7, 0, 0 }, { FL_MOD_STATE, 255, 0, 0 },
		{ FL_MOD_RNR_CODE, 32u << 16, 0, 0 },
		{ 0, 1u << 16, 0, 0 }, { 0, FL_STATE_RTS, 0, 0 },
		{ FL_MOD_RNR_CODE, 1u << 8, 0, 0 },
		{ FL_MOD_RNR_CODE, 0, 1, 0 }, { FL_MOD_RNR_CODE, 0, 0, 1 },
		{ FL_MOD_RNR_CODE, 0, 0, 1ull << 32 },
		{ FL_MOD_RNR_CODE, 0, 1ull << 32, 0 },
		{ 1u << 11, 0, 0, 0 }, { 1u << 31, 0, 0, 0 },
	};
	/* Bits 24 and up of either PSN; a node, a queue pair, that cannot be. */
	static const uint64_t peers[] = { FW_NODES, 255, 1ull << 32, 1ull << 63 };
	struct bench b;
	size_t i;

	bench_make(&b);
	bench_go(&b, RTS);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("row %zu", i);
		EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, bad[i].flags, bad[i].a,
				      bad[i].b, bad[i].c), FL_ST_BAD_ARGUMENT);
	}
	bench_go(&b, INIT);
	for (i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
		EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, UNIT_RTR_FLAGS,
				      UNIT_RTR_A, peers[i], 0),
			  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, UNIT_RTR_FLAGS, UNIT_RTR_A,
			      UNIT_RTR_B, 1ull << 56), FL_ST_BAD_ARGUMENT);
	bench_go(&b, RTR);
	EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, UNIT_RTS_FLAGS, UNIT_RTS_A,
			      0, 1u << 24), FL_ST_BAD_ARGUMENT);
	for (i = 0; i < 4; i++) {
		/* One too many of tries, tries without a receive, time-out, READs. */
		static const uint64_t over[] = { 8ull << 24, 8ull << 32,
						 32ull << 40, 17ull << 48 };

		EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, UNIT_RTS_FLAGS,
				      UNIT_RTS_A | over[i], 0, 0),
			  FL_ST_BAD_ARGUMENT);
	}
	EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, UNIT_RTS_FLAGS, FL_STATE_RTS,
			      0, 0), FL_ST_BAD_ARGUMENT);	/* no READ at all */
	EXPECT_EQ(bench_state(&b), RTR);
}

TEST("what the unit cannot do is refused, and the state stays")
{
	struct bench b;

	bench_make(&b);
	bench_go(&b, INIT);
	b.u->open_status = FL_ST_NO_ROOM;
	EXPECT_EQ(unit_to(b.u, &b.p.s, FL_STATE_RTR), FL_ST_NO_ROOM);
	EXPECT_EQ(CMD(b.u->r, QP_CONNECT, .slot = 1, .object = b.p.s.qp,
		      .a = RIG_NODE, .b = 1), FL_ST_NO_ROOM);
	EXPECT_EQ(bench_state(&b), INIT);
	b.u->open_status = FL_ST_OK;
	EXPECT_EQ(unit_to(b.u, &b.p.s, FL_STATE_RTR), FL_ST_OK);
}

TEST("QP_CONNECT brings it from RESET or INIT to RTS, and from nowhere else")
{
	static const struct fw_pair own = {
		.mtu = 4096, .rnr_code = 1, .retries = 2, .rnr_tries = 3,
		.timeout = 4, .rd_atomic = 5, .dest_rd_atomic = 6,
	};
	const struct fw_pair *p;
	struct bench b;
	int from;

	bench_make(&b);
	p = &b.u->qp[FW_QP_PLACE(b.p.s.qp)].pair;
	for (from = RESET; from <= ERR; from++) {
		bool may = from == RESET || from == INIT;

		if (from == SQE)
			continue;
		bench_go(&b, from);
		EXPECT_EQ(CMD(b.u->r, QP_CONNECT, .slot = 1,
			      .object = b.p.s.qp, .a = 2, .b = 0xABC),
			  may ? FL_ST_OK : FL_ST_BUSY);
		EXPECT_EQ(bench_state(&b), (uint32_t)(may ? RTS : from));
	}
	bench_go(&b, RESET);
	EXPECT_EQ(CMD(b.u->r, QP_CONNECT, .slot = 1, .object = b.p.s.qp,
		      .a = 2, .b = 0xABC), FL_ST_OK);
	EXPECT(p->sends && p->node == 2 && p->peer_qp == 0xABC);
	EXPECT(!p->sq_psn && !p->rq_psn && p->mtu == 1024 && p->retries == 7);
	STEP("a card with values of its own");
	b.u->r->cfg.connect = own;
	rig_restart(b.u->r);
	rig_slot(b.u->r, &b.p.s, 1);
	unit_qp(b.u, &b.p, 0);
	p = &b.u->qp[FW_QP_PLACE(b.p.s.qp)].pair;
	EXPECT_EQ(CMD(b.u->r, QP_CONNECT, .slot = 1, .object = b.p.s.qp,
		      .a = 2, .b = 0xABC), FL_ST_OK);
	EXPECT(p->mtu == 4096 && p->rnr_code == 1 && p->retries == 2 &&
	       p->rnr_tries == 3 && p->timeout == 4 && p->rd_atomic == 5 &&
	       p->dest_rd_atomic == 6);
}

TEST("in SQD nothing begins, and what had begun ends; RTS goes on in order")
{
	struct bench b;
	struct unit_qp *q;

	bench_make(&b);
	q = &b.u->qp[FW_QP_PLACE(b.p.s.qp)];
	bench_go(&b, RTS);
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	EXPECT_EQ(q->posts, 1);
	EXPECT_EQ(unit_to(b.u, &b.p.s, FL_STATE_SQD), FL_ST_OK);
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 20));
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 30));
	EXPECT_EQ(q->posts, 1);
	EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, 0, 0, 0, 0), FL_ST_OK);
	EXPECT_EQ(b.u->r->result, 1u << 8 | SQD);	/* one is under way */
	unit_end(b.u, b.p.s.qp, FL_ST_OK);
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_WRITE, FL_ST_OK);
	EXPECT_EQ(unit_modify(b.u, 1, b.p.s.qp, 0, 0, 0, 0), FL_ST_OK);
	EXPECT_EQ(b.u->r->result, SQD);
	EXPECT_EQ(q->posts, 1);
	EXPECT_EQ(unit_to(b.u, &b.p.s, FL_STATE_RTS), FL_ST_OK);
	unit_run(b.u);
	EXPECT_EQ(q->posts, 3);
	unit_end(b.u, b.p.s.qp, FL_ST_OK);
	unit_end(b.u, b.p.s.qp, FL_ST_OK);
	UNIT_EXPECT_CQE(b.u, &b.p, 1, FL_OP_WRITE, FL_ST_OK);
	UNIT_EXPECT_CQE(b.u, &b.p, 2, FL_OP_WRITE, FL_ST_OK);
	EXPECT(fw_idle(b.u->r->fw));
}

TEST("ERROR flushes sends and receives once each, and makes no event")
{
	struct bench b;
	uint16_t i;

	bench_make(&b);
	bench_go(&b, RTS);
	for (i = 0; i < 3; i++)
		rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	for (i = 0; i < 4; i++)
		unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 100));
	EXPECT_EQ(unit_to(b.u, &b.p.s, FL_STATE_ERROR), FL_ST_OK);
	unit_run(b.u);
	EXPECT(!b.u->qp[FW_QP_PLACE(b.p.s.qp)].open);
	for (i = 0; i < 3; i++)
		UNIT_EXPECT_CQE(b.u, &b.p, i, FL_OP_WRITE, FL_ST_FLUSHED);
	for (i = 0; i < 4; i++)
		UNIT_EXPECT_CQE(b.u, &b.p, i, FL_OP_RECV, FL_ST_FLUSHED);
	unit_expect_none(b.u, &b.p);
	EXPECT(!rig_event(b.u->r));
	STEP("what is posted now is flushed, too");
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 100));
	UNIT_EXPECT_CQE(b.u, &b.p, 3, FL_OP_WRITE, FL_ST_FLUSHED);
	UNIT_EXPECT_CQE(b.u, &b.p, 4, FL_OP_RECV, FL_ST_FLUSHED);
	EXPECT(fw_idle(b.u->r->fw));
}

TEST("RESET forgets what was posted, and counting begins anew")
{
	struct fw_recv r;
	struct bench b;
	uint8_t wrong;

	bench_make(&b);
	bench_go(&b, RTS);
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 100));
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 100));
	EXPECT(unit_take(b.u, b.p.s.qp, &r, &wrong));
	EXPECT_EQ(unit_to(b.u, &b.p.s, FL_STATE_RESET), FL_ST_OK);
	unit_run(b.u);
	unit_expect_none(b.u, &b.p);
	EXPECT(fw_idle(b.u->r->fw));
	STEP("nothing can be posted there");
	EXPECT_EQ(rig_ring(b.u->r, &b.p.s), -22);
	EXPECT_EQ(unit_ring_recv(b.u, &b.p), -22);
	b.p.s.tail = b.p.rq_tail = 0;
	bench_go(&b, RTS);
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 50));
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 20));
	EXPECT(unit_take(b.u, b.p.s.qp, &r, &wrong));
	EXPECT_EQ(r.index, 0);
	EXPECT_EQ(r.length, 50);
	unit_end(b.u, b.p.s.qp, FL_ST_OK);
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_WRITE, FL_ST_OK);
}

TEST("receives are posted from INIT on; sends before RTS end the pair")
{
	struct bench b;

	bench_make(&b);
	bench_go(&b, INIT);
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 100));
	bench_go(&b, RTR);
	b.p.rq_tail = 0;
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 100));
	unit_expect_none(b.u, &b.p);
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_WRITE, FL_ST_NOT_CONNECTED);
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_RECV, FL_ST_FLUSHED);
	EXPECT_EQ(bench_state(&b), ERR);
	rig_expect_event(b.u->r, FL_EV_QP_ERROR, b.p.s.qp, FL_ST_NOT_CONNECTED);
}

TEST("queue pairs of another process, and those of the engine, are not to be changed")
{
	struct rig_slot other;
	struct bench b;

	bench_make(&b);
	rig_slot(b.u->r, &other, 2);
	EXPECT_EQ(unit_modify(b.u, 2, b.p.s.qp, FL_MOD_STATE, INIT, 0, 0),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(unit_modify(b.u, 2, b.p.s.qp, 0, 0, 0, 0), FL_ST_NO_OBJECT);
	EXPECT_EQ(unit_modify(b.u, 1, 0xFFFFFF, 0, 0, 0, 0), FL_ST_NO_OBJECT);
	EXPECT_EQ(unit_modify(b.u, 2, other.qp, FL_MOD_STATE, RESET, 0, 0),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(unit_modify(b.u, 2, other.qp, FL_MOD_STATE, ERR, 0, 0),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(unit_modify(b.u, 2, other.qp, 0, 0, 0, 0), FL_ST_OK);
	EXPECT_EQ(b.u->r->result, RTS);
}

TEST("a card without the unit refuses such queue pairs, as it does odd flags")
{
	static const uint32_t flags[] = { FL_QP_RC, FL_QP_UD,
					  FL_QP_RC | FL_QP_RELAXED, FL_QP_RC | FL_QP_NV,
					  FL_QP_RC | FL_QP_UD, 1u << 31 };
	struct rig *r = rig_create(8);
	struct rig_slot s;
	struct unit *u;
	size_t i;

	rig_slot(r, &s, 1);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = 0x8000, .b = 4,
			      .c = s.cq, .d = s.pd, .flags = flags[i]),
			  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_ROW, .slot = 1, .flags = 1), FL_ST_BAD_ARGUMENT);
	u = unit_rig();
	rig_slot(u->r, &s, 1);
	for (i = 2; i < sizeof(flags) / sizeof(flags[0]); i++)
		EXPECT_EQ(CMD(u->r, QP_CREATE, .slot = 1, .a = 0x8000, .b = 4,
			      .c = s.cq, .d = s.pd, .flags = flags[i]),
			  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(u->r, SLOT_ROW, .slot = 1, .flags = 0xA4321, .a = 5),
		  FL_ST_OK);
	EXPECT_EQ(u->row, 0xA4321);
	EXPECT_EQ(u->quirks, 5);
	EXPECT_EQ(u->bits, 0);
	EXPECT_EQ(CMD(u->r, SLOT_ROW, .slot = 1, .flags = 0x4321, .a = 8),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(u->r, SLOT_ROW, .slot = 1, .flags = 0x4321, .b = 257),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(u->quirks, 5);
	EXPECT_EQ(CMD(u->r, SLOT_ROW, .slot = 1, .flags = 0x4321, .b = 256),
		  FL_ST_OK);
	EXPECT_EQ(u->bits, 256);
	EXPECT_EQ(CMD(u->r, SLOT_ROW, .slot = 1, .flags = 1u << 20),
		  FL_ST_BAD_ARGUMENT);
}
