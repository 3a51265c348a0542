// SPDX-License-Identifier: BSD-2-Clause
/*
 * Progress where memory is short: blocks whose pages drive each other out go one
 * at a time, and none of them stops the others for good.
 */
#include "nic/fw_internal.h"
#include "rig/fw_order.h"

/* The same block again and again: its pages leave before it has landed. */
static struct rig_rxc make_elder(struct rig *r, const struct rig_slot *w)
{
	struct rig_rxc x = WRITE_OF(w, 0);
	uint32_t i;

	for (i = 0; i < 25; i++) {
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
		x.word++;
	}
	return x;
}

TEST("a block that does not get through is left alone with memory until it has")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0, .of = 9)), FL_ST_OK);
	x = make_elder(r, &w);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&v, 0, .block = 2, .of = 9)),
		  FL_ST_BUSY);
	EXPECT_EQ(order_offer(r, 3, READ_OF(&v, 0)), FL_ST_OK);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	STEP("another one that lands is not it");
	order_land(r, 1);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&v, 0, .block = 2, .of = 9)),
		  FL_ST_BUSY);
	order_land(r, 0);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&v, 0, .block = 2, .of = 9)),
		  FL_ST_OK);
}

TEST("a block that is not heard of any more is not waited for")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	x = make_elder(r, &w);
	r->now += RIG_FAULT_TIMEOUT - 1;
	rig_run(r);
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0)), FL_ST_BUSY);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	r->now += RIG_FAULT_TIMEOUT - 1;
	rig_run(r);
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0)), FL_ST_BUSY);
	r->now++;
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0)), FL_ST_OK);
}

TEST("a block is waited for as long as its pages are brought in")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	x = make_elder(r, &w);
	r->rxc[0].state = FL_RX_FAULT;
	r->now += 5 * RIG_FAULT_TIMEOUT;
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0)), FL_ST_BUSY);
	STEP("they are there: it must be heard of again");
	r->rxc[0].state = FL_RX_FREE;
	r->now += RIG_FAULT_TIMEOUT - 1;
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0)), FL_ST_BUSY);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	STEP("others that lack pages are not it");
	r->rxc[0].state = FL_RX_FAULT;
	r->rxc[0].word += 0x100;
	r->rxc[2] = x;
	r->rxc[2].state = FL_RX_FAULT;
	r->rxc[2].src ^= 1;
	r->rxc[3] = x;
	r->rxc[3].state = FL_RX_WRITE;
	r->now += RIG_FAULT_TIMEOUT;
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0)), FL_ST_OK);
}

TEST("a block that does not get through alone either lets others go between")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;
	struct rig_rxc x, other;
	uint32_t i, let = 0;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	x = make_elder(r, &w);
	for (i = 0; i < 300; i++) {
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
		x.word = (x.word & ~0xFFu) | ((x.word + 1) & 0xFF);
		other = WRITE_OF(&v, 0, .of = 9);
		other.word = (x.word ^ 1u << 24) + (i << 8);
		other.word &= ~0xFFu;
		let += order_offer(r, 1, other) == FL_ST_OK;
	}
	STEP("others: %u of 300", let);
	EXPECT_GE(let, 75);
	EXPECT_LE(let, 150);
}

/* ---- the same for blocks whose own pages leave: those that go out ---- */

/* A page of its source is missing, and comes: a whole round. */
static void elder_miss(struct rig *r, uint32_t n)
{
	rig_fault(r, n);
	rig_run(r);
	if (r->ctx[n].state == FL_TX_SRCFAULT)
		r->ctx[n].state = FL_TX_READY;
}

/* Three blocks of one request; context 0 has met 24 missing pages. */
static struct rig *elder_rig(struct rig_slot *w)
{
	struct rig *r = rig_create(8);
	uint32_t i;

	r->cfg.refusals = 1000;
	r->cfg.waiting_share = 8;
	rig_restart(r);
	rig_slot(r, w, 1);
	rig_post(r, w, rig_wqe(w, 3 * RIG_BLOCK));
	EXPECT_EQ(rig_busy(r), 3);
	for (i = 0; i < 24; i++)
		elder_miss(r, 0);
	EXPECT_EQ(r->ctx[0].state, FL_TX_READY);
	return r;
}

TEST("a block whose own pages leave each time goes out before others")
{
	struct rig_slot w;
	struct rig *r = elder_rig(&w);

	STEP("another one that misses a page steps aside, a new one is not begun");
	elder_miss(r, 1);
	EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	rig_post(r, &w, rig_wqe(&w, 8));
	EXPECT_EQ(rig_busy(r), 2);
	STEP("it is through: the other one begins again, and the new one");
	rig_end(r, 0, FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
	EXPECT_EQ(rig_busy(r), 3);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_OK);
}

TEST("others wait for a block of which nothing comes until its peer could answer")
{
	struct rig_slot w;
	struct rig *r = elder_rig(&w);

	elder_miss(r, 1);
	STEP("BUSY is an answer, but no news of its pages");
	order_put_off(r, 0, FL_ST_BUSY);
	r->now += 2 * RIG_FAULT_TIMEOUT - 1;
	rig_run(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	order_put_off(r, 0, FL_ST_BUSY);
	r->now++;
	rig_run(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("others wait for a block as long as the peer says that it lacks pages")
{
	struct rig_slot w;
	struct rig *r = elder_rig(&w);
	uint32_t i;

	elder_miss(r, 1);
	for (i = 0; i < 20; i++) {
		rig_fly(r, 0);
		rig_refuse(r, 0);
		rig_run(r);
		STEP("asked again after a time-out");
		r->now += RIG_FAULT_TIMEOUT;
		rig_run(r);
		EXPECT_EQ(r->ctx[0].state, FL_TX_READY);
		EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	}
	rig_end(r, 0, FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

/* No time-out is left: whoever looks next does so late. */
static void elder_late(struct rig *r)
{
	r->now += 3 * RIG_FAULT_TIMEOUT;
	rig_run(r);
}

/*
 * The pages of a block took longer than others waited for it, so that none ever had all
 * of them (test_swarm, seed 2000884).
 */
TEST("others wait for a block as long as its pages are brought in")
{
	struct rig_slot w;
	struct rig *r = elder_rig(&w);
	uint32_t i;

	elder_miss(r, 1);
	rig_fault(r, 0);
	for (i = 0; i < 100; i++) {
		elder_late(r);
		EXPECT_EQ(r->ctx[0].state, FL_TX_SRCFAULT);
		EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	}
	STEP("they are there, and the block is being read");
	r->ctx[0].state = FL_TX_READY;
	elder_late(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	STEP("it has been sent, and nothing is heard of it");
	order_put_off(r, 0, FL_ST_BUSY);
	elder_late(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("the checker sees an elder for which others would wait too long")
{
	struct rig_slot w;
	struct rig *r = elder_rig(&w);
	struct fw *fw = r->fw;

	EXPECT(!fw_check(fw));
	WRONG(r, fw->tx_elder_until_ns, r->now + 2 * RIG_FAULT_TIMEOUT + 1,
	      "others wait for a block longer than its peer is asked");
}

TEST("a block that was sent stays, since it may have landed")
{
	struct rig_slot w;
	struct rig *r = elder_rig(&w);

	rig_fly(r, 1);
	rig_run(r);
	r->now += RIG_TIMEOUT;
	rig_run(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
	elder_miss(r, 1);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("a block that is put aside ends with its queue pair, and the elder too")
{
	struct rig_slot w, v;
	struct rig *r = elder_rig(&w);

	rig_slot(r, &v, 2);
	elder_miss(r, 1);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w.qp), FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 0);
	rig_expect_cqe(r, &w, 0, FL_ST_KILLED);
	STEP("nobody waits for it any more");
	rig_post(r, &v, rig_wqe(&v, 8));
	EXPECT_EQ(rig_busy(r), 1);
	rig_drain(r);
	rig_expect_cqe(r, &v, 0, FL_ST_OK);
}

TEST("when the elder fails, what was put aside is flushed, each once")
{
	struct rig_slot w;
	struct rig *r = elder_rig(&w);

	rig_post(r, &w, rig_wqe(&w, 8));
	elder_miss(r, 1);
	rig_end(r, 0, FL_ST_LOCAL_FAULT);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 0);
	rig_expect_cqe(r, &w, 0, FL_ST_LOCAL_FAULT);
	rig_expect_cqe(r, &w, 1, FL_ST_FLUSHED);
}

TEST("a block that does not get out alone either lets others go between")
{
	struct rig_slot w;
	struct rig *r = elder_rig(&w);
	uint32_t i;

	elder_miss(r, 1);
	EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	for (i = 24; i < 64; i++)
		elder_miss(r, 0);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("the elder that is to begin anew does not wait for itself")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	r->cfg.refusals = 1000;
	rig_restart(r);
	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_post(r, &w, rig_wqe(&w, 8));
	for (i = 0; i < 24; i++)
		elder_miss(r, 1);
	STEP("its turn has not come; then it has");
	rig_fly(r, 1);
	rig_run(r);
	order_put_off(r, 1, FL_ST_WAIT);
	rig_end(r, 0, FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_OK);
}

/*
 * A request that must wait for another cannot be the elder, or the two wait for each other
 * (test_swarm, seed 900277).
 */
TEST("a request behind another one of its queue pair does not become the elder")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	r->cfg.refusals = 1000;
	rig_restart(r);
	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_post(r, &w, rig_wqe(&w, 8));
	for (i = 0; i < 30; i++)
		elder_miss(r, 1);
	elder_miss(r, 0);
	EXPECT_EQ(r->ctx[0].state, FL_TX_READY);
	STEP("when it is the first, it may");
	rig_end(r, 0, FL_ST_OK);
	rig_run(r);
	rig_post(r, &w, rig_wqe(&w, 8));
	EXPECT_EQ(rig_busy(r), 2);
	elder_miss(r, 1);
	elder_miss(r, 0);
	EXPECT_EQ(r->ctx[0].state, FL_TX_FREE);
}

/* A READ in context 0, and a WRITE of another queue pair in context 1. */
static struct rig *reading_rig(struct rig_slot *w, struct rig_slot *v)
{
	struct rig *r = rig_create(8);

	r->cfg.refusals = 1000;
	r->cfg.node = RIG_NODE;		/* the peer is on the same board */
	rig_restart(r);
	rig_slot(r, w, 1);
	rig_slot(r, v, 2);
	order_post(r, w, FL_OP_READ, 8, 0);
	rig_post(r, v, rig_wqe(v, 8));
	rig_fly(r, 0);
	rig_run(r);
	return r;
}

static void elder_waits(struct rig *r, uint32_t times)
{
	while (times--) {
		rig_note_ctx(r, FL_NOTE_TX_WAITING, 0);
		rig_run(r);
	}
}

/* The answer to the READ in context 0, which waits for a page. */
static const struct rig_rxc answer = {
	.state = FL_RX_FAULT, .op = WOP_READ_RESP, .ref = 0x00000100,
};

TEST("a READ whose peer says WAIT is not the elder; one that lacks pages here is")
{
	struct rig_slot w, v;
	struct rig *r = reading_rig(&w, &v);

	elder_waits(r, 30);
	elder_miss(r, 1);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
	STEP("another one's answer waits for a page");
	r->rxc[5] = answer;
	r->rxc[5].ref |= 2u << 24;
	elder_waits(r, 30);
	elder_miss(r, 1);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
	STEP("its own does");
	r->rxc[6] = answer;
	elder_waits(r, 24);
	elder_miss(r, 1);
	EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
}

TEST("a READ whose pages take long has not missed them more often")
{
	struct rig_slot w, v;
	struct rig *r = reading_rig(&w, &v);
	uint32_t i;

	r->rxc[6] = answer;
	elder_waits(r, 24);
	elder_miss(r, 1);
	for (i = 0; i < 100; i++) {
		r->now += RIG_FAULT_TIMEOUT;
		rig_run(r);
		EXPECT_EQ(r->ctx[0].state, FL_TX_READY);
		rig_fly(r, 0);
		STEP("asked again; its peer says WAIT");
		elder_waits(r, 1);
		EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	}
	STEP("nobody has to say it");
	elder_late(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	rig_fly(r, 0);
	elder_waits(r, 1);
	STEP("the pages are there, and nothing comes");
	r->rxc[6].state = FL_RX_FREE;
	elder_late(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
}

/* A READ of this board is in context 0, its answer in 2, another board's in 3. */
static struct rig *answering_rig(struct rig_slot *w, struct rig_slot *v)
{
	struct rig *r = reading_rig(w, v);
	struct rig_rxc x = READ_OF(v, 0);

	x.word = 0x00000100;
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	x.word = 0x05000100;
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	EXPECT_EQ(rig_busy(r), 4);
	return r;
}

TEST("the answer to an elder's READ on the same board is not put aside for it")
{
	struct rig_slot w, v;
	struct rig *r = answering_rig(&w, &v);

	r->rxc[6] = answer;
	elder_waits(r, 24);
	elder_miss(r, 2);
	EXPECT_EQ(r->ctx[2].state, FL_TX_READY);
	elder_miss(r, 3);
	EXPECT_EQ(r->ctx[3].state, FL_TX_FREE);
}

TEST("a READ on the same board is not put aside for its answer, the elder")
{
	struct rig_slot w, v;
	struct rig *r = answering_rig(&w, &v);
	uint32_t i;

	for (i = 0; i < 24; i++)
		elder_miss(r, 2);
	r->rxc[6] = answer;
	elder_waits(r, 1);
	EXPECT_EQ(r->ctx[0].state, FL_TX_FLYING);
	elder_miss(r, 1);
	EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	elder_miss(r, 3);
	EXPECT_EQ(r->ctx[3].state, FL_TX_FREE);
}

TEST("others wait for a READ as long as pages of its answer are brought in here")
{
	struct rig_slot w, v;
	struct rig *r = answering_rig(&w, &v);

	r->rxc[6] = answer;
	elder_waits(r, 24);
	elder_miss(r, 1);
	EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	r->rxc[6].state = FL_RX_FREE;
	rig_fault(r, 2);
	elder_late(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_FREE);
	STEP("asked again, and not a word; the answer is on its way");
	rig_fly(r, 0);
	r->ctx[2].state = FL_TX_FLYING;
	rig_run(r);
	elder_late(r);
	EXPECT_EQ(r->ctx[1].state, FL_TX_READY);
}
