// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order at the requester: what its blocks say, and what it does when the peer
 * wants one of them later.
 */
#include "rig/fw_order.h"

#define LONG	(3 * RIG_BLOCK)
#define FLY(r, n) do {							\
	rig_fly(r, n);							\
	rig_run(r);							\
} while (0)

/* Contexts in the order of their GO. */
static uint32_t parked_nth(const struct rig *r, uint32_t n)
{
	EXPECT_LE(r->started, n + 16);
	EXPECT_LE(n + 1, r->started);
	return r->order[n % 16];
}

static void parked_finish(struct rig *r, uint32_t n, uint32_t status)
{
	rig_end(r, n, status);
	rig_run(r);
}

static void parked_pass(struct rig *r, uint64_t ns)
{
	r->now += ns;
	rig_run(r);
}

TEST("a block says its request, what is before it, and who sends it")
{
	struct rig *r = rig_create(16);
	struct rig_slot w;
	uint32_t i, old;

	rig_slot(r, &w, 1);
	for (i = 0; i < 3; i++)
		order_post(r, &w, FL_OP_WRITE, 2 * RIG_BLOCK, 0);
	EXPECT_EQ(r->started, 6);
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(r->ctx[parked_nth(r, i)].ref, (i / 2) << 8 | i / 2);
		EXPECT_EQ(r->ctx[parked_nth(r, i)].src, w.qp);
	}
	STEP("the first is over: those that are sent now say so");
	parked_finish(r, parked_nth(r, 0), FL_ST_OK);
	parked_finish(r, parked_nth(r, 1), FL_ST_OK);
	order_post(r, &w, FL_OP_READ, 8, 0);
	EXPECT_EQ(r->ctx[parked_nth(r, 6)].ref, 3 << 8 | 2);
	STEP("and a queue pair of the same place has another number");
	rig_drain(r);
	old = w.qp;
	for (i = 0; i < FW_QPS; i++) {
		EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w.qp),
			  FL_ST_OK);
		w.qp = rig_qp(r, &w, w.sq_pa, 64);
	}
	w.tail = 0;
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	EXPECT_EQ(r->ctx[parked_nth(r, 7)].ref, 0);
	EXPECT_EQ(r->ctx[parked_nth(r, 7)].src, w.qp);
	EXPECT_EQ(w.qp, old + 256);
}

TEST("a peer without room is asked again, later each time, and no try is counted")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i, n;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	n = parked_nth(r, 0);
	for (i = 0; i < 40; i++) {
		uint64_t wait = RIG_BUSY << (i < 5 ? i : 5);

		order_put_off(r, n, FL_ST_BUSY);
		EXPECT_LE(r->alarm, r->now + wait);
		parked_pass(r, wait - 1);
		EXPECT_EQ(r->ctx[n].state, FL_TX_DSTFAULT);
		parked_pass(r, 1);
		EXPECT_EQ(r->ctx[n].state, FL_TX_READY);
		EXPECT_EQ(r->ctx[n].attempt, i + 1);
	}
	EXPECT_EQ(r->traced[EV_FW_AGAIN], 40);
	EXPECT_EQ(r->traced[EV_FW_TIMEOUT], 0);
	STEP("a page that is missing is another matter: then there was room");
	FLY(r, n);
	r->ctx[n].status = 0;
	rig_refuse(r, n);
	rig_run(r);
	parked_pass(r, RIG_FAULT_TIMEOUT - 1);
	EXPECT_EQ(r->ctx[n].state, FL_TX_DSTFAULT);
	parked_pass(r, 1);
	order_put_off(r, n, FL_ST_BUSY);
	parked_pass(r, RIG_BUSY);
	STEP("silence counts as ever");
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(rig_busy(r), 1);
		FLY(r, n);
		parked_pass(r, RIG_TIMEOUT);
	}
	rig_expect_cqe(r, &w, 0, FL_ST_NO_ANSWER);
}

TEST("a READ that the peer has no room for stays open for its answer")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_READ, 8, 0);
	order_put_off(r, parked_nth(r, 0), FL_ST_BUSY);
	EXPECT_EQ(r->ctx[parked_nth(r, 0)].state, FL_TX_FLYING);
	EXPECT_EQ(r->alarm, r->now + RIG_BUSY);
	parked_pass(r, RIG_BUSY);
	EXPECT_EQ(r->ctx[parked_nth(r, 0)].state, FL_TX_READY);
	EXPECT_EQ(r->ctx[parked_nth(r, 0)].attempt, 1);
	order_put_off(r, parked_nth(r, 0), FL_ST_BUSY);
	parked_finish(r, parked_nth(r, 0), FL_ST_OK);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	EXPECT_EQ(r->alarm, FW_NEVER);
}

TEST("a block whose turn has not come goes out anew when its request is the oldest")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n, gen;
	struct fl_cqe e;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	n = parked_nth(r, 1);
	gen = r->ctx[n].gen;
	FLY(r, parked_nth(r, 0));
	order_put_off(r, n, FL_ST_WAIT);
	EXPECT_EQ(r->ctx[n].state, FL_TX_DSTFAULT);
	parked_pass(r, RIG_TIMEOUT - 1);
	EXPECT_EQ(r->ctx[n].state, FL_TX_DSTFAULT);
	parked_finish(r, parked_nth(r, 0), FL_ST_OK);
	EXPECT_EQ(r->started, 3);
	EXPECT_EQ(parked_nth(r, 2), n);
	EXPECT_EQ(r->ctx[n].ref, 1 << 8);
	EXPECT_EQ(r->ctx[n].gen, gen + 1);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	EXPECT(!rig_poll(r, &w, &e));
	parked_finish(r, n, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_OK);
	EXPECT(!rig_poll(r, &w, &e));
	EXPECT(fw_idle(r->fw));
}

TEST("what is of the oldest request already goes out anew at once")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	FLY(r, parked_nth(r, 1));
	parked_finish(r, parked_nth(r, 0), FL_ST_OK);
	order_put_off(r, parked_nth(r, 1), FL_ST_WAIT);
	EXPECT_EQ(r->started, 3);
	EXPECT_EQ(r->ctx[parked_nth(r, 2)].ref, 1 << 8);
	STEP("who says it then keeps another order than ours: as if it were busy");
	order_put_off(r, parked_nth(r, 2), FL_ST_WAIT);
	EXPECT_EQ(r->started, 3);
	EXPECT_EQ(r->alarm, r->now + RIG_BUSY);
}

TEST("a block that is parked asks by itself after a long time")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	for (i = 0; i < 20; i++) {
		order_put_off(r, parked_nth(r, 1), FL_ST_WAIT);
		parked_pass(r, RIG_FAULT_TIMEOUT);
		EXPECT_EQ(r->ctx[parked_nth(r, 1)].state, FL_TX_READY);
		EXPECT_EQ(r->ctx[parked_nth(r, 1)].attempt, i + 1);
	}
	EXPECT_EQ(r->traced[EV_FW_TIMEOUT], 0);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_OK);
}

/*
 * Three requests; the second and third are parked. `started`: the first has
 * ended, and the second is killed to be started anew, but its note is not read.
 */
static void park_two(struct rig *r, struct rig_slot *w, bool started)
{
	uint32_t i;

	rig_restart(r);
	rig_slot(r, w, 1);
	for (i = 0; i < 3; i++)
		order_post(r, w, FL_OP_WRITE, 8, 0);
	FLY(r, parked_nth(r, 0));
	order_put_off(r, parked_nth(r, 1), FL_ST_WAIT);
	order_put_off(r, parked_nth(r, 2), FL_ST_WAIT);
	if (!started)
		return;
	rig_end(r, parked_nth(r, 0), FL_ST_OK);
	do
		fw_step(r->fw, r->now, r->costs);
	while (r->ctx[parked_nth(r, 1)].state == FL_TX_DSTFAULT);
	EXPECT_EQ(r->ctx[parked_nth(r, 1)].state, FL_TX_DONE);
	EXPECT_EQ(r->started, 3);
}

TEST("an earlier request that fails ends those that are parked, each once")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct fl_cqe e;

	park_two(r, &w, false);
	parked_finish(r, parked_nth(r, 0), FL_ST_REMOTE_ACCESS);
	rig_expect_cqe(r, &w, 0, FL_ST_REMOTE_ACCESS);
	rig_expect_cqe(r, &w, 1, FL_ST_FLUSHED);
	rig_expect_cqe(r, &w, 2, FL_ST_FLUSHED);
	EXPECT(!rig_poll(r, &w, &e));
	EXPECT(fw_idle(r->fw));
	EXPECT_EQ(r->alarm, FW_NEVER);
	EXPECT_EQ(r->started, 3);
}

/* What may meet a block that is killed to be started anew. */
static uint32_t parked_meet(struct rig *r, struct rig_slot *w, uint32_t what)
{
	switch (what) {
	case 0:		/* the sender has lost count */
		w->tail = 1000;
		EXPECT_EQ(rig_ring(r, w), 0);
		rig_run(r);
		return FL_ST_FLUSHED;
	case 1:
		EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w->qp),
			  FL_ST_OK);
		return FL_ST_KILLED;
	case 2:
		EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w->key),
			  FL_ST_BUSY);
		return FL_ST_OK;
	case 3:
		EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 1), FL_ST_OK);
		return 0x100;
	}
	rig_run(r);
	return FL_ST_OK;
}

TEST("a block on its way to be started anew ends once, whatever meets it")
{
	struct rig *r = rig_create(8);
	uint32_t what, status, i;
	struct rig_slot w;
	struct fl_cqe e;

	for (what = 0; what < 10; what++) {
		STEP("%u", what);
		park_two(r, &w, what < 5);
		status = parked_meet(r, &w, what % 5);
		rig_drain(r);
		for (i = 0; i < 3 && status < 0x100; i++)
			rig_expect_cqe(r, &w, (uint16_t)i,
				       what < 5 && !i ? FL_ST_OK :
				       (uint8_t)status);
		EXPECT(status == 0x100 || !rig_poll(r, &w, &e));
		EXPECT(fw_idle(r->fw));
		EXPECT_EQ(r->alarm, FW_NEVER);
	}
}

TEST("a block that ended as it was to be started anew is not started")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	park_two(r, &w, false);
	rig_end(r, parked_nth(r, 1), FL_ST_REMOTE_FAULT);	/* not read yet */
	rig_end(r, parked_nth(r, 0), FL_ST_OK);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_REMOTE_FAULT);
	rig_expect_cqe(r, &w, 2, FL_ST_FLUSHED);
	EXPECT_EQ(r->started, 3);
	EXPECT(fw_idle(r->fw));
}

TEST("a request that failed as a block of it was to be started anew is over")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	order_post(r, &w, FL_OP_WRITE, 2 * RIG_BLOCK, 0);
	FLY(r, parked_nth(r, 2));
	order_put_off(r, parked_nth(r, 1), FL_ST_WAIT);
	rig_end(r, parked_nth(r, 0), FL_ST_OK);
	rig_end(r, parked_nth(r, 2), FL_ST_BUS_ERROR);
	rig_run(r);
	EXPECT_EQ(r->started, 3);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_BUS_ERROR);
	EXPECT(fw_idle(r->fw));
}

TEST("a peer that says that it is at it gets the long timer, for a WRITE as well")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	for (i = 0; i < 20; i++) {
		FLY(r, parked_nth(r, 0));
		rig_note_ctx(r, FL_NOTE_TX_WAITING, parked_nth(r, 0));
		rig_run(r);
		parked_pass(r, RIG_FAULT_TIMEOUT - 1);
		EXPECT_EQ(r->ctx[parked_nth(r, 0)].state, FL_TX_FLYING);
		parked_pass(r, 1);
		EXPECT_EQ(rig_busy(r), 1);
	}
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("a WRITE behind a READ waits for its end; a READ waits for none")
{
	struct rig *r = rig_create(16);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	order_post(r, &w, FL_OP_READ, 2 * RIG_BLOCK, 0);
	order_post(r, &w, FL_OP_READ, 8, 0);
	order_post(r, &w, FL_OP_WRITE, LONG, 0);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	EXPECT_EQ(r->started, 4);
	parked_finish(r, parked_nth(r, 1), FL_ST_OK);
	parked_finish(r, parked_nth(r, 3), FL_ST_OK);
	EXPECT_EQ(r->started, 4);
	parked_finish(r, parked_nth(r, 2), FL_ST_OK);
	STEP("the first WRITE is not waited for");
	EXPECT_EQ(r->started, 8);
	EXPECT_EQ(r->ctx[parked_nth(r, 4)].ref, 3 << 8 | 3);
	rig_drain(r);
	EXPECT(fw_idle(r->fw));
}

TEST("a READ that fails leaves no WRITE waiting for it")
{
	struct rig *r = rig_create(16);
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_READ, 100 * RIG_BLOCK, 0);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	parked_finish(r, parked_nth(r, 1), FL_ST_REMOTE_FAULT);
	for (i = 0; i < 2; i++)
		rig_expect_cqe(r, &w, (uint16_t)i,
			       i ? FL_ST_FLUSHED : FL_ST_REMOTE_FAULT);
	EXPECT(fw_idle(r->fw));
}

TEST("a fence waits for everything before it")
{
	struct rig *r = rig_create(16);
	struct rig_slot w;
	uint32_t op;

	for (op = FL_OP_WRITE; op <= FL_OP_READ; op++) {
		rig_restart(r);
		rig_slot(r, &w, 1);
		order_post(r, &w, op, 8, FL_WQE_FENCE);
		order_post(r, &w, FL_OP_READ, LONG, 0);
		order_post(r, &w, op, LONG, FL_WQE_FENCE);
		order_post(r, &w, FL_OP_READ, 8, 0);
		EXPECT_EQ(r->started, 4);
		parked_finish(r, parked_nth(r, 1), FL_ST_OK);
		parked_finish(r, parked_nth(r, 2), FL_ST_OK);
		parked_finish(r, parked_nth(r, 3), FL_ST_OK);
		EXPECT_EQ(r->started, 4);
		parked_finish(r, parked_nth(r, 0), FL_ST_OK);
		EXPECT_EQ(r->started, 8);
		rig_drain(r);
		EXPECT(fw_idle(r->fw));
	}
}

TEST("a relaxed queue pair waits for nothing but a fence, and says so")
{
	struct rig *r = rig_create(16);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = w.sq_pa, .b = w.sq_size,
		      .c = w.cq, .d = w.pd, .flags = 2), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = w.sq_pa, .b = w.sq_size,
		      .c = w.cq, .d = w.pd, .flags = FL_QP_RELAXED), FL_ST_OK);
	w.qp = (uint32_t)r->result;
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 1, .object = w.qp, .a = RIG_NODE,
		      .b = RIG_PEER_QP), FL_ST_OK);
	order_post(r, &w, FL_OP_READ, 8, 0);
	order_post(r, &w, FL_OP_WRITE, 8, 0);
	order_post(r, &w, FL_OP_WRITE, 8, FL_WQE_FENCE);
	EXPECT_EQ(r->started, 2);
	EXPECT(r->ctx[parked_nth(r, 1)].src & NIC_CTX_SRC_RELAXED);
	rig_drain(r);
	EXPECT_EQ(r->started, 3);
	EXPECT(fw_idle(r->fw));
}

TEST("a READ that has become the oldest tells so when its peer only waits")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n;

	rig_slot(r, &w, 1);
	order_post(r, &w, FL_OP_READ, 8, 0);
	order_post(r, &w, FL_OP_READ, 8, 0);
	n = parked_nth(r, 1);
	FLY(r, n);
	STEP("it is not the oldest yet: it asks again as it is");
	parked_pass(r, RIG_TIMEOUT);
	EXPECT_EQ(r->ctx[n].attempt, 1);
	FLY(r, n);
	parked_finish(r, parked_nth(r, 0), FL_ST_OK);
	rig_note_ctx(r, FL_NOTE_TX_WAITING, n);
	rig_run(r);
	parked_pass(r, RIG_FAULT_TIMEOUT);
	EXPECT_EQ(r->started, 3);
	EXPECT_EQ(parked_nth(r, 2), n);
	EXPECT_EQ(r->ctx[n].ref, 1 << 8);
	STEP("once is enough");
	FLY(r, n);
	parked_pass(r, RIG_TIMEOUT);
	EXPECT_EQ(r->started, 3);
	EXPECT_EQ(r->ctx[n].attempt, 1);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_OK);
	EXPECT(fw_idle(r->fw));
}
