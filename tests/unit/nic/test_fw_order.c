// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order at the responder: what comes in of a peer's queue pair is carried out in
 * the order in which it was posted there.
 */
#include "nic/fw_internal.h"
#include "rig/fw_order.h"

#define TURNS	(1u << 24)

TEST("a WRITE waits in its context until the requests before it have landed")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&w, 2, .behind = 2)), RIG_HELD);
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&w, 1, .behind = 1)), RIG_HELD);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 0)), FL_ST_OK);
	EXPECT_EQ(r->traced[EV_FW_HOLD], 2);
	EXPECT_EQ(order_told(r, 1, 0), RIG_HELD);
	STEP("accepted is not landed; each lets the next one go");
	order_land(r, 0);
	EXPECT_EQ(order_told(r, 1, 0), FL_ST_OK);
	EXPECT_EQ(order_told(r, 2, 0), RIG_HELD);
	order_land(r, 1);
	EXPECT_EQ(order_told(r, 2, 0), FL_ST_OK);
	STEP("the stream comes with the late verdict, too");
	EXPECT_EQ(r->rxc[2].verdict >> NIC_RXC_VERDICT_STREAM_SHIFT, 0x201);
	EXPECT_EQ(r->rxc[2].verdict >> NIC_RXC_VERDICT_SERIAL_SHIFT & 0xFF,
		  0x5A);
}

TEST("all blocks of a request must land, in whatever order they come")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 9, WRITE_OF(&w, 1, .behind = 1)), RIG_HELD);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&w, 0, .block = 3, .of = 3)),
		  FL_ST_OK);
	order_land(r, 2);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 0, .block = 1, .of = 3)),
		  FL_ST_OK);
	order_land(r, 0);
	EXPECT_EQ(order_told(r, 9, 0), RIG_HELD);
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&w, 0, .block = 2, .of = 3)),
		  FL_ST_OK);
	EXPECT_EQ(order_told(r, 9, 0), RIG_HELD);
	order_land(r, 1);
	EXPECT_EQ(order_told(r, 9, 0), FL_ST_OK);
}

TEST("what the sender says has ended moves the turn on")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 0, .of = 4)), FL_ST_OK);
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&w, 7, .behind = 7)), RIG_HELD);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&w, 8, .behind = 2)), RIG_HELD);
	EXPECT_EQ(order_told(r, 1, 0), RIG_HELD);
	STEP("request 7 is the oldest now");
	EXPECT_EQ(order_offer(r, 3, WRITE_OF(&w, 9, .behind = 2)), RIG_HELD);
	EXPECT_EQ(order_told(r, 1, 0), FL_ST_OK);
	STEP("an older word moves nothing back");
	EXPECT_EQ(order_offer(r, 4, WRITE_OF(&w, 10, .behind = 9)), RIG_HELD);
	STEP("a request that is over gets nothing, and counts for nothing");
	EXPECT_EQ(order_offer(r, 5, WRITE_OF(&w, 6)), FL_ST_REMOTE_QP);
	EXPECT_EQ(order_offer(r, 5, READ_OF(&w, 6)), FL_ST_STALE);
	order_land(r, 0);
	EXPECT_EQ(order_told(r, 2, 0), RIG_HELD);
	order_land(r, 1);
	EXPECT_EQ(order_told(r, 2, 0), FL_ST_OK);
	EXPECT_EQ(order_told(r, 3, 0), RIG_HELD);
}

/*
 * The order is judged after the sender and what it asks for. Otherwise a packet that
 * is refused would make the next one of the peer's late.
 */
TEST("what is refused moves the order of the queue pair not at all")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;
	uint32_t i;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 5)), FL_ST_OK);
	for (i = 0; i < 4; i++) {
		STEP("a stranger's, far ahead, %s, of %s place",
		     i % 2 ? "READ" : "WRITE", i / 2 ? "the same" : "another");
		x = i % 2 ? READ_OF(&w, 1000) : WRITE_OF(&w, 1000);
		x.from += i / 2 ? 256 : 1;
		EXPECT_EQ(order_offer(r, 1, x), FL_ST_REMOTE_QP);
		STEP("the peer's own, with a wrong key");
		x.from -= i / 2 ? 256 : 1;
		x.rkey ^= 1;
		EXPECT_EQ(order_offer(r, 1, x), FL_ST_REMOTE_ACCESS);
	}
	STEP("another node's queue pair of the same number");
	x = WRITE_OF(&w, 1000);
	x.src++;
	EXPECT_EQ(order_offer(r, 1, x), FL_ST_REMOTE_QP);
	STEP("the peer's requests go on where they were");
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&w, 6, .behind = 1)), RIG_HELD);
	order_land(r, 0);
	EXPECT_EQ(order_told(r, 2, 0), FL_ST_OK);
}

TEST("the numbers of requests go round")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, TURNS - 3)), FL_ST_OK);
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(order_offer(r, i + 1, WRITE_OF(&w,
				(TURNS - 2 + i) % TURNS, .behind = 1)),
			  RIG_HELD);
		order_land(r, i);
		EXPECT_EQ(order_told(r, i + 1, 0), FL_ST_OK);
	}
	STEP("also by the sender's word alone");
	EXPECT_EQ(order_offer(r, 10, WRITE_OF(&w, TURNS / 2)), FL_ST_OK);
	EXPECT_EQ(order_offer(r, 11, WRITE_OF(&w, TURNS - 1)), FL_ST_OK);
	EXPECT_EQ(order_offer(r, 12, WRITE_OF(&w, 5, .behind = 5)), RIG_HELD);
	EXPECT_EQ(order_offer(r, 13, WRITE_OF(&w, 6, .behind = 1)), RIG_HELD);
	EXPECT_EQ(order_told(r, 12, 0), FL_ST_OK);
}

TEST("who takes the place of the peer's queue pair does not get its connection")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;
	uint32_t uses;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 500)), FL_ST_OK);
	order_land(r, 0);
	for (uses = 1; uses < 1u << 16; uses = uses * 3 + 1) {
		STEP("the place was used %u times before", uses);
		x = WRITE_OF(&w, 501);
		x.from += uses << 8;
		EXPECT_EQ(order_offer(r, 1, x), FL_ST_REMOTE_QP);
		EXPECT_EQ(r->seen, FL_ST_SEEN_STRANGER);
		x.op = WOP_READ_REQ;
		EXPECT_EQ(order_offer(r, 1, x), FL_ST_REMOTE_QP);
		x.from |= NIC_CTX_SRC_RELAXED;
		EXPECT_EQ(order_offer(r, 1, x), FL_ST_REMOTE_QP);
	}
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&w, 501)), FL_ST_OK);
}

TEST("what is meant for a queue pair that is gone does not reach who has its place")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;
	uint32_t old, i;

	rig_slot(r, &w, 1);
	old = w.qp;
	x = WRITE_OF(&w, 0);
	for (i = 0; i < FW_QPS; i++) {
		EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w.qp),
			  FL_ST_OK);
		w.qp = rig_qp(r, &w, w.sq_pa, 64);
	}
	EXPECT_EQ(w.qp, old + 256);
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_REMOTE_QP);
	EXPECT_EQ(r->seen, FL_ST_SEEN_NO_QP);
	STEP("neither do doorbells and commands of its owner's");
	EXPECT_EQ(rig_write(r, NIC_DB_BASE(1) + NIC_DB_SQ,
			    old | 1u << NIC_DB_SQ_TAIL_SHIFT), -22);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = old),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 1, .object = old),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 0)), FL_ST_OK);
}

TEST("half of the receive contexts hold at most, and only what came first")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;
	uint32_t i;

	rig_slot(r, &w, 1);
	x = WRITE_OF(&w, 1, .behind = 1);
	x.word++;
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_WAIT);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(order_offer(r, i, WRITE_OF(&w, 1 + i,
						     .behind = 1 + i)),
			  RIG_HELD);
	EXPECT_EQ(order_offer(r, 16, WRITE_OF(&w, 17, .behind = 17)),
		  FL_ST_WAIT);
	STEP("whose turn it is finds room, and makes room");
	EXPECT_EQ(order_offer(r, 17, WRITE_OF(&w, 0)), FL_ST_OK);
	order_land(r, 17);
	EXPECT_EQ(order_told(r, 0, 1), FL_ST_OK);
	EXPECT_EQ(order_offer(r, 18, WRITE_OF(&w, 18, .behind = 17)),
		  RIG_HELD);
	EXPECT_EQ(order_offer(r, 19, WRITE_OF(&w, 19, .behind = 18)),
		  FL_ST_WAIT);
}

TEST("what is held for half of its sender's patience is to come again")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 1, .behind = 1)), RIG_HELD);
	EXPECT_EQ(r->alarm, r->now + RIG_TIMEOUT / 2);
	r->now += RIG_TIMEOUT / 2 - 1;
	rig_run(r);
	EXPECT_EQ(order_told(r, 0, 0), RIG_HELD);
	r->now++;
	rig_run(r);
	EXPECT_EQ(order_told(r, 0, 0), FL_ST_WAIT);
	EXPECT_EQ(r->alarm, FW_NEVER);
}

/* What becomes of a held WRITE and of a READ behind it. */
static void two_behind(struct rig *r, struct rig_slot *w)
{
	rig_slot(r, w, 1);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(w, 1, .behind = 1)), RIG_HELD);
	EXPECT_EQ(order_offer(r, 1, READ_OF(w, 2, .behind = 2)), FL_ST_OK);
	EXPECT_EQ(r->started, 0);
}

TEST("a queue pair that goes takes what it holds with it")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		rig_restart(r);
		two_behind(r, &w);
		if (i)
			EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 1), FL_ST_OK);
		else
			EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1,
				      .object = w.qp), FL_ST_OK);
		EXPECT_EQ(order_told(r, 0, 0), FL_ST_REMOTE_QP);
		EXPECT(fw_idle(r->fw));
		r->now = r->alarm;
		rig_run(r);
		EXPECT_EQ(r->alarm, FW_NEVER);
		EXPECT_EQ(r->rxc[0].verdicts, 1);
	}
}

TEST("a queue pair in error lets go of what it holds in time")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	two_behind(r, &w);
	w.tail = 1000;
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	r->now += RIG_TIMEOUT / 2;
	rig_run(r);
	EXPECT_EQ(order_told(r, 0, 0), FL_ST_REMOTE_QP);
	r->now += 5 * RIG_FAULT_TIMEOUT;
	rig_run(r);
	EXPECT(fw_idle(r->fw));
	EXPECT_EQ(r->alarm, FW_NEVER);
}

TEST("a region that goes is missed when the turn comes")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t key;

	rig_slot(r, &w, 1);
	key = w.key;
	w.key = rig_mr(r, 1, w.pd, RIG_VA, RIG_BYTES, 7);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 1, .behind = 1)), RIG_HELD);
	EXPECT_EQ(order_offer(r, 1, READ_OF(&w, 1, .behind = 1)), FL_ST_OK);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key), FL_ST_OK);
	EXPECT_EQ(order_told(r, 0, 0), RIG_HELD);
	w.key = key;
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&w, 0)), FL_ST_OK);
	order_land(r, 2);
	EXPECT_EQ(order_told(r, 0, 0), FL_ST_REMOTE_ACCESS);
	EXPECT_EQ(r->started, 0);
	EXPECT(fw_idle(r->fw));
}

TEST("a queue pair that was made anew begins with what it is told first")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 900)), FL_ST_OK);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w.qp), FL_ST_OK);
	for (i = 0; i < FW_QPS; i++) {
		w.qp = rig_qp(r, &w, w.sq_pa, 64);
		if (i < FW_QPS - 1)
			EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1,
				      .object = w.qp), FL_ST_OK);
	}
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&w, 4, .behind = 1)),
		  RIG_HELD);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&w, 3)), FL_ST_OK);
	STEP("what the former one had accepted does not count");
	order_land(r, 0);
	EXPECT_EQ(order_told(r, 1, 0), RIG_HELD);
	order_land(r, 2);
	EXPECT_EQ(order_told(r, 1, 0), FL_ST_OK);
}

TEST("relaxed blocks keep no order, and count for none")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 1, .behind = 1)), RIG_HELD);
	x = WRITE_OF(&w, 9, .behind = 9);
	x.from |= NIC_CTX_SRC_RELAXED;
	EXPECT_EQ(order_offer(r, 1, x), FL_ST_OK);
	order_land(r, 1);
	x = WRITE_OF(&w, 0);
	x.from |= NIC_CTX_SRC_RELAXED;
	EXPECT_EQ(order_offer(r, 2, x), FL_ST_OK);
	order_land(r, 2);
	EXPECT_EQ(order_told(r, 0, 0), RIG_HELD);
	x = READ_OF(&w, 30, .behind = 30);
	x.from |= NIC_CTX_SRC_RELAXED;
	EXPECT_EQ(order_offer(r, 2, x), FL_ST_OK);
	EXPECT_EQ(r->started, 1);
}

TEST("only the queue pair that it is connected to may ask")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	x = WRITE_OF(&w, 0);
	x.from ^= 1;
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_REMOTE_QP);
	x.op = WOP_READ_REQ;
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_REMOTE_QP);
	STEP("and others' words move nothing");
	x = WRITE_OF(&w, 50);
	x.from ^= 1;
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_REMOTE_QP);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 0)), FL_ST_OK);
}

TEST("a READ does not begin before its turn")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	x = READ_OF(&w, 1, .behind = 1, .of = 2);
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_OK);
	x.word++;
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_WAIT);
	EXPECT_EQ(order_offer(r, 1, READ_OF(&w, 1, .behind = 1, .block = 2,
					    .of = 2)), FL_ST_OK);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&w, 2, .behind = 2)), RIG_HELD);
	EXPECT_EQ(order_offer(r, 3, READ_OF(&w, 3, .behind = 3)), FL_ST_OK);
	EXPECT_EQ(r->started, 0);
	EXPECT_EQ(order_offer(r, 4, WRITE_OF(&w, 0)), FL_ST_OK);
	EXPECT_EQ(r->started, 0);
	order_land(r, 4);
	EXPECT_EQ(r->started, 2);
	STEP("each of its blocks must be with the peer");
	rig_end(r, r->order[1], FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(order_told(r, 2, 0), RIG_HELD);
	rig_end(r, r->order[0], FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(order_told(r, 2, 0), FL_ST_OK);
	EXPECT_EQ(r->started, 2);
	order_land(r, 2);
	EXPECT_EQ(r->started, 3);
	rig_drain(r);
	EXPECT(fw_idle(r->fw));
}

TEST("an answer that did not arrive for certain does not count")
{
	static const uint32_t status[] = {
		FL_ST_NO_ANSWER, FL_ST_STALE, FL_ST_LOCAL_FAULT, FL_ST_BUS_ERROR
	};
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	for (i = 0; i < 4; i++) {
		rig_restart(r);
		rig_slot(r, &w, 1);
		EXPECT_EQ(order_offer(r, 0, READ_OF(&w, 0)), FL_ST_OK);
		EXPECT_EQ(order_offer(r, 1, WRITE_OF(&w, 1, .behind = 1)),
			  RIG_HELD);
		rig_fly(r, r->order[0]);
		rig_end(r, r->order[0], status[i]);
		rig_run(r);
		EXPECT_EQ(order_told(r, 1, 0), RIG_HELD);
		STEP("the sender knows better");
		EXPECT_EQ(order_offer(r, 2, WRITE_OF(&w, 2, .behind = 1)),
			  RIG_HELD);
		EXPECT_EQ(order_told(r, 1, 0), FL_ST_OK);
	}
}

TEST("a READ that nobody asks for again is dropped before its turn")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	x = READ_OF(&w, 1, .behind = 1);
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_OK);
	EXPECT_EQ(r->alarm, r->now + 5 * RIG_FAULT_TIMEOUT);
	r->now += 4 * RIG_FAULT_TIMEOUT;
	x.word++;
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_WAIT);
	r->now += 5 * RIG_FAULT_TIMEOUT - 1;
	rig_run(r);
	EXPECT(!fw_idle(r->fw));
	r->now++;
	rig_run(r);
	EXPECT(fw_idle(r->fw));
	EXPECT_EQ(r->alarm, FW_NEVER);
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&w, 0)), FL_ST_OK);
	order_land(r, 1);
	EXPECT_EQ(r->started, 0);
}

TEST("READs whose turn has not come leave room for those whose turn it is")
{
	struct rig *r = rig_create(4);
	uint32_t node, i, k, jobs = 0;
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	for (node = 4; node < 10; node++) {
		w.qp = 0;
		EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = 0x20000, .b = 2,
			      .c = w.cq, .d = w.pd), FL_ST_OK);
		w.qp = (uint32_t)r->result;
		EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 1, .object = w.qp,
			      .a = node, .b = RIG_PEER_QP), FL_ST_OK);
		for (i = 0; i < 16; i++) {
			x = READ_OF(&w, 1 + i, .behind = 1 + i);
			x.src = node | w.qp << 8;
			x.word = i << 24;
			k = order_offer(r, 0, x);
			EXPECT(k == FL_ST_OK || k == FL_ST_WAIT);
			jobs += k == FL_ST_OK;
		}
	}
	EXPECT_EQ(jobs, FW_READ_JOBS / 2);
	EXPECT_EQ(r->started, 0);
	STEP("the one that the last of them waits for");
	x = READ_OF(&w, 0);
	x.src = (node - 1) | w.qp << 8;
	x.word = 1u << 8;
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_OK);
	EXPECT_EQ(r->started, 1);
}

TEST("a held context that carries another block by now leaves the alarm right")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 1, .behind = 1)), RIG_HELD);
	STEP("its sender begins anew; the note of that is on the way");
	r->rxc[0].ref = 0;
	r->now += RIG_TIMEOUT / 2;
	rig_run(r);
	EXPECT_NE(r->alarm, FW_NEVER);
	r->now = r->alarm;
	rig_run(r);
	EXPECT_EQ(r->alarm, FW_NEVER);
}

TEST("a held context whose sender gave the block up is judged for the next one alone")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 1, .behind = 1)), RIG_HELD);
	STEP("the next block is there, but not its note");
	x = READ_OF(&w, 0);
	r->rxc[0] = x;
	r->now += RIG_TIMEOUT / 2;
	rig_run(r);
	EXPECT_EQ(r->rxc[0].verdicts, 0);
	EXPECT_EQ(r->alarm, FW_NEVER);
	EXPECT_EQ(order_offer(r, 0, x), FL_ST_OK);
	EXPECT_EQ(r->started, 1);
}

TEST("the checker sees what waits and would not be woken")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct fw_ctx *c;
	struct fw *fw;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_READ, 8, 0);
	order_post(r, &w, FL_OP_READ, 8, 0);
	order_put_off(r, r->order[1], FL_ST_WAIT);
	EXPECT_EQ(order_offer(r, 0, WRITE_OF(&w, 1, .behind = 1)), RIG_HELD);
	EXPECT_EQ(order_offer(r, 1, READ_OF(&w, 2, .behind = 2)), FL_ST_OK);
	fw = r->fw;
	c = &fw->ctx[r->order[1]];
	EXPECT(!fw_check(fw));
	WRONG(r, c->again, true,
	      "a context is to start anew and was not ended");
	WRONG(r, c->waiting, false, "a block is parked and does not wait");
	WRONG(r, c->wr, 0, "a block is parked and its turn has come");
	WRONG(r, fw->rx_accepted, 1,
	      "a held context is accepted, or has no timer");
	WRONG(r, fw->rx_timed, 0,
	      "a held context is accepted, or has no timer");
	WRONG(r, fw->rx_contexts, 0, "too many contexts are held");
	WRONG(r, fw->rx[0].qp, 9,
	      "a context is held for a queue pair that is gone");
	WRONG(r, fw->rx[0].turn.number, 0,
	      "a context is held and its turn has come");
	WRONG(r, fw->qp[w.qp].reads, 1,
	      "a queue pair counts READs that it does not have");
	WRONG(r, fw->job[0].deadline_ns, 0,
	      "the alarm is later than a READ's deadline");
	fw->rx_elder.there = true;
	WRONG(r, fw->rx_elder.until_ns, RIG_FAULT_TIMEOUT + 1,
	      "others wait for a block longer than its sender");
}
