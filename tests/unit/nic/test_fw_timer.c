// SPDX-License-Identifier: BSD-2-Clause
/* Timers: silence, refusals, and the alarm that the firmware asks for. */
#include "rig/fw.h"

/* One request of one block, in flight. Returns its context. */
static uint32_t one_flying(struct rig *r, struct rig_slot *w, uint8_t opcode)
{
	struct fl_wqe e;

	rig_slot(r, w, 1);
	e = rig_wqe(w, 100);
	e.opcode = opcode;
	rig_post(r, w, e);
	EXPECT_EQ(r->alarm, FW_NEVER);
	rig_fly(r, r->order[0]);
	rig_run(r);
	EXPECT_EQ(r->alarm, r->now + RIG_TIMEOUT);
	return r->order[0];
}

static void timer_after(struct rig *r, uint64_t ns)
{
	r->now += ns;
	rig_run(r);
}

TEST("a block that nobody answers is sent again, and given up after the last try")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n = one_flying(r, &w, FL_OP_WRITE), i;

	for (i = 1; i <= 3; i++) {
		STEP("try %u", i);
		timer_after(r, RIG_TIMEOUT - 1);
		EXPECT_EQ(r->ctx[n].state, FL_TX_FLYING);
		timer_after(r, 1);
		EXPECT_EQ(r->ctx[n].state, FL_TX_READY);
		EXPECT_EQ(r->ctx[n].attempt, i);
		EXPECT_EQ(r->traced[EV_FW_TIMEOUT], i);
		STEP("no timer runs while the data path has it");
		EXPECT_EQ(r->alarm, FW_NEVER);
		timer_after(r, 100 * RIG_TIMEOUT);
		EXPECT_EQ(r->ctx[n].attempt, i);
		rig_fly(r, n);
		rig_run(r);
	}
	timer_after(r, RIG_TIMEOUT);
	rig_expect_cqe(r, &w, 0, FL_ST_NO_ANSWER);
	rig_expect_event(r, FL_EV_QP_ERROR, w.qp, FL_ST_NO_ANSWER);
	EXPECT_EQ(rig_busy(r), 0);
	EXPECT_EQ(r->alarm, FW_NEVER);
}

TEST("a READY that no REFUSED came before is an answer: the count of tries begins again")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n = one_flying(r, &w, FL_OP_WRITE), i;

	for (i = 1; i <= 10; i++) {
		STEP("time-out %u", i);
		timer_after(r, RIG_TIMEOUT);
		EXPECT_EQ(r->ctx[n].state, FL_TX_READY);
		rig_fly(r, n);
		/* Now and then both notes are read only when READY has come. */
		if (i % 2)
			rig_run(r);
		STEP("READY: the block goes out once more");
		r->ctx[n].state = FL_TX_READY;
		r->ctx[n].attempt++;
		rig_fly(r, n);
		rig_run(r);
	}
	EXPECT_EQ(r->traced[EV_FW_TIMEOUT], 10);
	STEP("a peer that is silent is given up as ever");
	for (i = 1; i <= 3; i++) {
		timer_after(r, RIG_TIMEOUT);
		EXPECT_EQ(r->ctx[n].state, FL_TX_READY);
		rig_fly(r, n);
		rig_run(r);
	}
	timer_after(r, RIG_TIMEOUT);
	rig_expect_cqe(r, &w, 0, FL_ST_NO_ANSWER);
}

TEST("an answer stops the timer")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n = one_flying(r, &w, FL_OP_WRITE);

	rig_end(r, n, FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(r->alarm, FW_NEVER);
	timer_after(r, 10 * RIG_TIMEOUT);
	EXPECT_EQ(r->traced[EV_FW_TIMEOUT], 0);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("a refusal starts the long timer, and the count of tries begins again")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n = one_flying(r, &w, FL_OP_WRITE), i;

	for (i = 0; i < 5; i++) {
		uint32_t k;

		STEP("refusal %u", i + 1);
		/* The time-out after the refusal before was the first. */
		for (k = 0; k < 2; k++) {
			timer_after(r, RIG_TIMEOUT);
			rig_fly(r, n);
			rig_run(r);
		}
		rig_refuse(r, n);
		rig_run(r);
		timer_after(r, RIG_FAULT_TIMEOUT - 1);
		EXPECT_EQ(r->ctx[n].state, FL_TX_DSTFAULT);
		STEP("READY was lost: the block goes again without it");
		timer_after(r, 1);
		EXPECT_EQ(r->ctx[n].state, FL_TX_READY);
		rig_fly(r, n);
		rig_run(r);
	}
	STEP("one refusal too many");
	rig_refuse(r, n);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_REFUSED_TOO_OFTEN);
}

TEST("a block that waits for a page of its own board has no timer")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 100));
	rig_fault(r, r->order[0]);
	rig_run(r);
	EXPECT_EQ(r->alarm, FW_NEVER);
	timer_after(r, 1000 * RIG_FAULT_TIMEOUT);
	EXPECT_EQ(r->ctx[r->order[0]].state, FL_TX_SRCFAULT);
	STEP("the driver gives up");
	rig_end(r, r->order[0], FL_ST_LOCAL_FAULT);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_LOCAL_FAULT);
}

TEST("a block whose own pages leave again each time is given up")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n, i;

	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 100));
	n = r->order[0];
	for (i = 0; i < 5; i++) {
		STEP("fault %u, and the driver brings the pages in", i + 1);
		rig_fault(r, n);
		rig_run(r);
		EXPECT_EQ(r->ctx[n].state, FL_TX_SRCFAULT);
		r->ctx[n].state = FL_TX_READY;
	}
	STEP("one fault too many");
	rig_fault(r, n);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_REFUSED_TOO_OFTEN);
}

TEST("a READ that was told to wait gets the long timer each time")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n = one_flying(r, &w, FL_OP_READ), i;

	for (i = 0; i < 20; i++) {
		rig_note_ctx(r, FL_NOTE_TX_WAITING, n);
		rig_run(r);
		timer_after(r, RIG_FAULT_TIMEOUT - 1);
		EXPECT_EQ(r->ctx[n].state, FL_TX_FLYING);
		timer_after(r, 1);
		EXPECT_EQ(r->ctx[n].state, FL_TX_READY);
		rig_fly(r, n);
		rig_run(r);
	}
	rig_end(r, n, FL_ST_OK);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("a timer that runs out as the answer comes does not disturb it")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n = one_flying(r, &w, FL_OP_WRITE);

	STEP("the context is done, its note is not there yet");
	r->ctx[n].state = FL_TX_DONE;
	timer_after(r, RIG_TIMEOUT);
	EXPECT_EQ(r->traced[EV_FW_TIMEOUT], 0);
	rig_note_ctx(r, FL_NOTE_TX_DONE, n);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("a block that is done when it is to be killed ends with its request")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n = one_flying(r, &w, FL_OP_WRITE);

	r->ctx[n].state = FL_TX_DONE;
	w.tail = 500;
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_note_ctx(r, FL_NOTE_TX_DONE, n);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_FLUSHED);
	EXPECT_EQ(rig_busy(r), 0);
}

TEST("the alarm is never later than the earliest deadline, of many")
{
	struct rig *r = rig_create(16);
	uint64_t seed = test_seed() + 4, due[16] = { 0 };
	struct rig_slot w;
	uint32_t i, n, rung = 0;

	r->cfg.tries = 1000000;
	rig_restart(r);
	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 3000 * RIG_BLOCK));
	for (i = 0; i < 20000; i++) {
		uint64_t first = FW_NEVER;

		n = rig_random(&seed) % 16;
		if (r->ctx[n].state == FL_TX_READY) {
			rig_fly(r, n);
			due[n] = r->now + RIG_TIMEOUT;
		} else if (r->ctx[n].state == FL_TX_FLYING &&
			   rig_random(&seed) % 4 == 0) {
			rig_end(r, n, FL_ST_OK);
		}
		rig_run(r);
		for (n = 0; n < 16; n++) {
			if (r->ctx[n].state != FL_TX_FLYING)
				continue;
			EXPECT(due[n] > r->now);
			first = due[n] < first ? due[n] : first;
		}
		EXPECT(r->alarm <= first);
		if (r->alarm != FW_NEVER && rig_random(&seed) % 2) {
			r->now = r->alarm;
			rung++;
		} else {
			r->now += rig_random(&seed) % 100;
		}
		rig_run(r);
	}
	EXPECT_GE(rung, 1000);
	EXPECT_GE(r->traced[EV_FW_TIMEOUT], 1000);
}

TEST("a deadline beyond the end of time is still a deadline")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	r->now = FW_NEVER - 10;
	rig_post(r, &w, rig_wqe(&w, 100));
	rig_fly(r, r->order[0]);
	rig_run(r);
	EXPECT_EQ(r->alarm, FW_NEVER - 1);
	rig_end(r, r->order[0], FL_ST_OK);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

static struct rig_rxc half_a_block(const struct rig_slot *w)
{
	return (struct rig_rxc){
		.state = FL_RX_COLLECT, .src = RIG_NODE | w->qp << 8,
		.op = WOP_WRITE, .va = RIG_VA, .len = 4096, .rkey = w->key,
		.word = 4u << 24 | 0x1234u << 8 | 1, .from = RIG_PEER_QP,
	};
}

TEST("a block that lacks cells is given up when its sender must have done so")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	x = half_a_block(&w);
	EXPECT_EQ(rig_open(r, 3, &x), FL_ST_OK);
	STEP("the sender may still send it again");
	r->now += (uint64_t)r->cfg.tries * RIG_TIMEOUT;
	rig_run(r);
	EXPECT_EQ(r->rxc[3].verdicts, 1);
	STEP("its tries are over");
	r->now = r->alarm;
	rig_run(r);
	EXPECT_EQ(r->rxc[3].verdicts, 2);
	EXPECT_EQ(r->rxc[3].verdict & NIC_RXC_VERDICT_CODE_MASK,
		  FL_ST_NO_ANSWER);
	EXPECT_EQ(r->alarm, FW_NEVER);
}

TEST("a block whose sender goes on trying is not given up")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	x = half_a_block(&w);
	EXPECT_EQ(rig_open(r, 3, &x), FL_ST_OK);
	STEP("a newer attempt has come meanwhile");
	r->rxc[3].word++;
	r->now = r->alarm;
	rig_run(r);
	EXPECT_EQ(r->rxc[3].verdicts, 1);
	STEP("then none any more");
	EXPECT_EQ(r->alarm, r->now + (r->cfg.tries + 2) * (uint64_t)RIG_TIMEOUT);
	r->now = r->alarm;
	rig_run(r);
	EXPECT_EQ(r->rxc[3].verdicts, 2);
	EXPECT_EQ(r->alarm, FW_NEVER);
}

static struct rig_rxc half_for(const struct rig_slot *w, uint32_t qp)
{
	struct rig_rxc x = half_a_block(w);

	x.src = RIG_NODE | qp << 8;
	return x;
}

static void expect_killed(struct rig *r, uint32_t n)
{
	EXPECT_EQ(r->rxc[n].verdicts, 2);
	EXPECT_EQ(r->rxc[n].verdict & NIC_RXC_VERDICT_CODE_MASK, FL_ST_KILLED);
	EXPECT_EQ(r->rxc[n].verdict >> NIC_RXC_VERDICT_SERIAL_SHIFT & 0xFF,
		  0x5A);
	r->rxc[n].state = FL_RX_FREE;
}

/* A slot with two queue pairs and half a block for each; one of another slot. */
static uint32_t three_halves(struct rig *r, struct rig_slot *w,
			     struct rig_slot *other)
{
	struct rig_rxc x;
	uint32_t qp;

	rig_slot(r, w, 1);
	rig_slot(r, other, 2);
	qp = rig_qp(r, w, 0x130000, 64);
	x = half_for(w, w->qp);
	EXPECT_EQ(rig_open(r, 3, &x), FL_ST_OK);
	x = half_for(w, qp);
	EXPECT_EQ(rig_open(r, 4, &x), FL_ST_OK);
	x = half_for(other, other->qp);
	EXPECT_EQ(rig_open(r, 5, &x), FL_ST_OK);
	return qp;
}

TEST("closing a slot gives up the blocks that come in for it, and no other")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, other;

	three_halves(r, &w, &other);
	EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 1), FL_ST_OK);
	expect_killed(r, 3);
	expect_killed(r, 4);
	EXPECT_EQ(r->rxc[5].verdicts, 1);
	EXPECT_NE(r->alarm, FW_NEVER);
	STEP("the last one: no timer is left");
	EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 2), FL_ST_OK);
	expect_killed(r, 5);
	EXPECT_EQ(r->alarm, FW_NEVER);
}

TEST("destroying a queue pair gives up the blocks that come in for it alone")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, other;
	uint32_t qp = three_halves(r, &w, &other);

	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = qp), FL_ST_OK);
	expect_killed(r, 4);
	EXPECT_EQ(r->rxc[3].verdicts, 1);
	EXPECT_EQ(r->rxc[5].verdicts, 1);
}

TEST("closing a slot stops what is being written and leaves what waits for a page")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, other;

	three_halves(r, &w, &other);
	r->rxc[3].state = FL_RX_WRITE;
	r->rxc[4].state = FL_RX_FAULT;
	EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 1), FL_ST_OK);
	expect_killed(r, 3);
	EXPECT_EQ(r->rxc[4].verdicts, 1);
	EXPECT_EQ(r->rxc[5].verdicts, 1);
}

TEST("a region that goes stops the blocks that come in for it, however small")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	x = half_a_block(&w);
	EXPECT_EQ(rig_open(r, 3, &x), FL_ST_OK);
	x.len = 8;
	x.state = FL_RX_WRITE;
	EXPECT_EQ(rig_open(r, 4, &x), FL_ST_OK);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key), FL_ST_OK);
	expect_killed(r, 3);
	expect_killed(r, 4);
	EXPECT_EQ(r->alarm, FW_NEVER);
}

TEST("a block that has landed, or made room for another, is left alone")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	x = half_a_block(&w);
	EXPECT_EQ(rig_open(r, 3, &x), FL_ST_OK);
	EXPECT_EQ(rig_open(r, 4, &x), FL_ST_OK);
	r->rxc[3].state = FL_RX_FREE;
	r->rxc[4].word++;
	r->now = r->alarm;
	rig_run(r);
	EXPECT_EQ(r->rxc[3].verdicts, 1);
	EXPECT_EQ(r->rxc[4].verdicts, 1);
}
