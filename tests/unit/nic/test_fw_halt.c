// SPDX-License-Identifier: BSD-2-Clause
/* A queue pair that halts behind FAULT_FAST, and is resumed (system abort). */
#include "rig/fw.h"

#define PEER_CTX	4u

static struct rig *halt_rig(struct rig_slot *w, uint32_t flags)
{
	struct rig *r = rig_create(8);

	rig_slot(r, w, 2);
	EXPECT_EQ(CMD(r, SLOT_ABORT, .slot = 2, .flags = flags), FL_ST_OK);
	return r;
}

static uint32_t halt_resume(struct rig *r, const struct rig_slot *w)
{
	return CMD(r, QP_RESUME, .slot = w->slot, .object = w->qp);
}

static bool is_asking(const struct rig *r, uint32_t n)
{
	return r->ctx[n].state != FL_TX_FREE &&
	       r->ctx[n].src & NIC_CTX_SRC_PAST;
}

/* The context that asks the peer, or contexts. */
static uint32_t halt_asking(const struct rig *r)
{
	uint32_t n;

	for (n = 0; n < r->contexts && !is_asking(r, n); n++)
		;
	return n;
}

static bool no_completion(struct rig *r, struct rig_slot *w)
{
	struct fl_cqe e;

	return !rig_poll(r, w, &e);
}

TEST("a request that its peer ended at once is told at once; what is behind it is flushed")
{
	struct rig_slot w;
	struct rig *r = halt_rig(&w, 0);

	rig_post(r, &w, rig_wqe(&w, 8));
	rig_fly(r, r->order[0]);
	rig_run(r);
	rig_end(r, r->order[0], FL_ST_FAULT_FAST);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_FAULT_FAST);
	EXPECT_EQ(r->traced[EV_FW_HALT], 1);
	EXPECT_EQ(rig_busy(r), 0);
	STEP("it is no error of the queue pair");
	EXPECT(!rig_event(r));
	STEP("what is posted now does not begin");
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_expect_cqe(r, &w, 1, FL_ST_FLUSHED);
	EXPECT_EQ(r->started, 1);
	EXPECT_EQ(halt_resume(r, &w), FL_ST_OK);
	EXPECT_EQ(r->traced[EV_FW_RESUME], 1);
	rig_post(r, &w, rig_wqe(&w, 8));
	EXPECT_EQ(r->started, 2);
	rig_end(r, r->order[1], FL_ST_OK);
	rig_run(r);
	rig_expect_cqe(r, &w, 2, FL_ST_OK);
	EXPECT(fw_idle(r->fw));
}

TEST("resume is refused for what has not halted, and what is not there")
{
	struct rig_slot w, v;
	struct rig *r = halt_rig(&w, 0);

	rig_slot(r, &v, 3);
	EXPECT_EQ(halt_resume(r, &w), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, QP_RESUME, .slot = 3, .object = w.qp),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, QP_RESUME, .slot = 2, .object = w.qp, .a = 1),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_ABORT, .slot = 2, .flags = 4), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_ABORT, .slot = 2, .a = 1), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_ABORT, .slot = 4, .flags = 1), FL_ST_NO_OBJECT);
	STEP("one that was never connected");
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 2, .a = 0x40000, .b = 8, .c = w.cq,
		      .d = w.pd), FL_ST_OK);
	EXPECT_EQ(CMD(r, QP_RESUME, .slot = 2, .object = r->result),
		  FL_ST_BAD_ARGUMENT);
	STEP("one that has failed for good");
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_end(r, r->order[0], FL_ST_REMOTE_ACCESS);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_REMOTE_ACCESS);
	EXPECT_EQ(halt_resume(r, &w), FL_ST_BAD_ARGUMENT);
}

TEST("a page that is missing here ends the block at once, where the slot says so")
{
	struct rig_slot w, v;
	struct rig *r = halt_rig(&w, FL_ABORT_WRITE);

	rig_slot(r, &v, 3);
	rig_post(r, &v, rig_wqe(&v, 8));
	rig_fault(r, r->order[0]);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 1);
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_fault(r, r->order[1]);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 1);
	EXPECT_EQ(r->traced[EV_FW_ABORT], 1);
	rig_expect_cqe(r, &w, 0, FL_ST_FAULT_FAST);
	STEP("the driver was quicker: there is nothing to end");
	EXPECT_EQ(halt_resume(r, &w), FL_ST_OK);
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_note_ctx(r, FL_NOTE_TX_WAITING, r->order[2]);
	rig_fly(r, r->order[2]);
	rig_run(r);
	EXPECT_EQ(r->traced[EV_FW_ABORT], 1);
	rig_end(r, r->order[2], FL_ST_OK);
	rig_run(r);
	rig_expect_cqe(r, &w, 1, FL_ST_OK);
}

TEST("earlier requests go on, and end as they end; then the failure is told")
{
	struct rig_slot w;
	struct rig *r = halt_rig(&w, 0);
	uint32_t i;

	for (i = 0; i < 3; i++)
		rig_post(r, &w, rig_wqe(&w, 8));
	for (i = 0; i < 3; i++)
		rig_fly(r, r->order[i]);
	rig_run(r);
	rig_end(r, r->order[1], FL_ST_FAULT_FAST);
	rig_run(r);
	EXPECT(no_completion(r, &w));
	EXPECT_EQ(halt_asking(r), r->contexts);
	EXPECT_EQ(halt_resume(r, &w), FL_ST_BUSY);
	rig_end(r, r->order[0], FL_ST_OK);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	STEP("the third was on its way: the peer is asked before anything is told");
	EXPECT(no_completion(r, &w));
	i = halt_asking(r);
	EXPECT(i < r->contexts);
	EXPECT_EQ(r->ctx[i].op, FL_OP_READ);
	EXPECT_EQ(r->ctx[i].ref, 3u << 8);
	EXPECT_EQ(halt_resume(r, &w), FL_ST_BUSY);
	rig_fly(r, i);
	rig_run(r);
	rig_end(r, i, FL_ST_FLUSHED);
	rig_run(r);
	rig_expect_cqe(r, &w, 1, FL_ST_FAULT_FAST);
	rig_expect_cqe(r, &w, 2, FL_ST_FLUSHED);
	EXPECT_EQ(halt_resume(r, &w), FL_ST_OK);
	EXPECT(fw_idle(r->fw));
}

TEST("an earlier request that fails too is the one that failed")
{
	static const struct { uint8_t status, resumed; } how[] = {
		{ FL_ST_FAULT_FAST, FL_ST_OK },
		{ FL_ST_NO_ANSWER, FL_ST_BAD_ARGUMENT },
	};
	uint32_t i, k;

	for (k = 0; k < 2; k++) {
		struct rig_slot w;
		struct rig *r = halt_rig(&w, 0);

		for (i = 0; i < 3; i++)
			rig_post(r, &w, rig_wqe(&w, 8));
		for (i = 0; i < 3; i++)
			rig_fly(r, r->order[i]);
		rig_end(r, r->order[1], FL_ST_FAULT_FAST);
		rig_run(r);
		rig_end(r, r->order[0], how[k].status);
		rig_run(r);
		i = halt_asking(r);
		EXPECT_EQ(i < r->contexts, !k);
		if (!k) {
			rig_fly(r, i);
			rig_end(r, i, FL_ST_FLUSHED);
			rig_run(r);
		}
		rig_expect_cqe(r, &w, 0, how[k].status);
		rig_expect_cqe(r, &w, 1, FL_ST_FLUSHED);
		rig_expect_cqe(r, &w, 2, FL_ST_FLUSHED);
		EXPECT_EQ(halt_resume(r, &w), how[k].resumed);
	}
}

TEST("a peer that does not answer, or has gone, leaves a queue pair that cannot be resumed")
{
	static const uint8_t ends[] = { FL_ST_REMOTE_QP, FL_ST_STALE, FL_ST_OK,
					FL_ST_FAULT_FAST, 0xFF };
	uint32_t i, k, n;

	for (k = 0; k < sizeof(ends); k++) {
		struct rig_slot w;
		struct rig *r = halt_rig(&w, 0);

		rig_post(r, &w, rig_wqe(&w, 2 * RIG_BLOCK));
		rig_fly(r, r->order[0]);
		rig_fly(r, r->order[1]);
		rig_end(r, r->order[0], FL_ST_FAULT_FAST);
		rig_run(r);
		n = halt_asking(r);
		EXPECT(n < r->contexts);
		rig_fly(r, n);
		rig_run(r);
		for (i = 0; ends[k] == 0xFF && i <= r->cfg.tries; i++) {
			r->now += RIG_TIMEOUT;
			rig_run(r);
			if (r->ctx[n].state == FL_TX_READY)
				rig_fly(r, n);
			rig_run(r);
		}
		if (ends[k] != 0xFF)
			rig_end(r, n, ends[k]);
		rig_run(r);
		rig_expect_cqe(r, &w, 0, FL_ST_FAULT_FAST);
		rig_expect_event(r, FL_EV_QP_ERROR, w.qp,
				 ends[k] == FL_ST_REMOTE_QP ? FL_ST_REMOTE_QP :
							      FL_ST_NO_ANSWER);
		EXPECT_EQ(halt_resume(r, &w), FL_ST_BAD_ARGUMENT);
		rig_post(r, &w, rig_wqe(&w, 8));
		rig_expect_cqe(r, &w, 1, FL_ST_FLUSHED);
		EXPECT(fw_idle(r->fw));
	}
}

TEST("a block that was sent before, and then lacks a page here, may come late too")
{
	struct rig_slot w;
	struct rig *r = halt_rig(&w, FL_ABORT_WRITE);
	uint32_t n;

	rig_post(r, &w, rig_wqe(&w, 8));
	n = r->order[0];
	rig_fly(r, n);
	rig_run(r);
	rig_refuse(r, n);
	rig_run(r);
	r->ctx[n].state = FL_TX_READY;
	r->ctx[n].attempt++;
	rig_fault(r, n);
	rig_run(r);
	EXPECT(no_completion(r, &w));
	n = halt_asking(r);
	EXPECT(n < r->contexts);
	rig_end(r, n, FL_ST_FLUSHED);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_FAULT_FAST);
}

TEST("a queue pair that has halted is destroyed, and its slot closed, at any moment")
{
	uint32_t k;

	for (k = 0; k < 6; k++) {
		struct rig_slot w;
		struct rig *r = halt_rig(&w, 0);
		struct fl_cqe e;
		uint32_t n;

		rig_post(r, &w, rig_wqe(&w, 3 * RIG_BLOCK));
		rig_fly(r, r->order[0]);
		rig_fly(r, r->order[1]);
		rig_end(r, r->order[1], FL_ST_FAULT_FAST);
		rig_run(r);
		n = halt_asking(r);
		EXPECT(n < r->contexts);
		if (k % 3)
			rig_fly(r, n);
		if (k % 3 == 2)
			rig_end(r, n, FL_ST_FLUSHED);
		if (k < 3)
			EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 2, .object = w.qp),
				  FL_ST_OK);
		else
			EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 2), FL_ST_OK);
		rig_run(r);
		EXPECT(fw_idle(r->fw));
		EXPECT_EQ(rig_busy(r), 0);
		/* A command comes before notes: the failure is not known yet. */
		if (k < 3)
			EXPECT(rig_poll(r, &w, &e));
		EXPECT(no_completion(r, &w));
		EXPECT_EQ(halt_resume(r, &w), FL_ST_NO_OBJECT);
	}
}

/* ---- the responder ---- */

static struct rig_rxc halt_incoming(const struct rig_slot *w, uint32_t op,
				    uint32_t ctx, uint32_t number)
{
	return (struct rig_rxc){
		.state = FL_RX_CHECK,
		.src = RIG_NODE | w->qp << 8, .op = op, .va = RIG_VA + 100,
		.len = 4096, .rkey = w->key, .xfer = 7, .block = 1,
		.word = ctx << 24 | 1u << 8, .ref = number << 8,
		.from = RIG_PEER_QP,
	};
}

static struct rig_rxc halt_past(const struct rig_slot *w, uint32_t number,
				uint32_t flags)
{
	struct rig_rxc x = halt_incoming(w, WOP_READ_REQ, 7, number);

	x.len = 1;
	x.rkey = 0;
	x.from |= NIC_CTX_SRC_PAST | flags;
	return x;
}

TEST("what a peer says is past lands no more: neither what was accepted nor what comes")
{
	uint32_t flags[] = { 0, NIC_CTX_SRC_RELAXED }, k;

	for (k = 0; k < 2; k++) {
		struct rig_slot w;
		struct rig *r = halt_rig(&w, 0);
		struct rig_rxc x = halt_incoming(&w, WOP_WRITE, 1, 5);
		struct rig_rxc y = halt_past(&w, 6, flags[k]);
		uint32_t before;

		x.from |= flags[k];
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
		r->rxc[0].state = FL_RX_COLLECT;
		before = r->rxc[0].verdicts;
		EXPECT_EQ(rig_open(r, 1, &y), FL_ST_FLUSHED);
		EXPECT_EQ(r->traced[EV_FW_PAST], 1);
		EXPECT_EQ(r->rxc[0].verdicts, before + 1);
		EXPECT_EQ(r->rxc[0].verdict & NIC_RXC_VERDICT_CODE_MASK,
			  FL_ST_KILLED);
		STEP("another block of it comes late");
		x.word = 2u << 24;
		EXPECT_EQ(rig_open(r, 2, &x), FL_ST_REMOTE_QP);
		EXPECT_EQ(r->seen, FL_ST_SEEN_OVER);
		STEP("the answer was lost, and the peer asks again");
		y.word++;
		EXPECT_EQ(rig_open(r, 3, &y), FL_ST_FLUSHED);
		STEP("what it posts then comes in, and an old word moves nothing back");
		x = halt_incoming(&w, WOP_WRITE, 3, 6);
		x.from |= flags[k];
		EXPECT_EQ(rig_open(r, 4, &x), FL_ST_OK);
		y = halt_past(&w, 2, flags[k]);
		r->rxc[4].state = FL_RX_WRITE;
		before = r->rxc[4].verdicts;
		EXPECT_EQ(rig_open(r, 5, &y), FL_ST_FLUSHED);
		EXPECT_EQ(r->rxc[4].verdicts, before);
	}
}

TEST("a stranger ends nothing, and a WRITE is no such word")
{
	struct rig_slot w;
	struct rig *r = halt_rig(&w, 0);
	struct rig_rxc x = halt_incoming(&w, WOP_WRITE, 1, 5);
	struct rig_rxc y = halt_past(&w, 6, 0);

	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	y.from++;
	EXPECT_EQ(rig_open(r, 1, &y), FL_ST_REMOTE_QP);
	y = halt_past(&w, 6, 0);
	y.src++;
	EXPECT_EQ(rig_open(r, 1, &y), FL_ST_REMOTE_QP);
	y = halt_past(&w, 6, 0);
	y.op = WOP_WRITE;
	EXPECT_EQ(rig_open(r, 1, &y), FL_ST_BAD_OPCODE);
	x.word = 2u << 24;
	EXPECT_EQ(rig_open(r, 2, &x), FL_ST_OK);
	EXPECT_EQ(r->traced[EV_FW_PAST], 0);
}

TEST("numbers of a queue pair without order go round, and none is taken for one that is past")
{
	struct rig_slot w;
	struct rig *r = halt_rig(&w, 0);
	struct rig_rxc x, y = halt_past(&w, 6, NIC_CTX_SRC_RELAXED);
	uint32_t number, i;

	EXPECT_EQ(rig_open(r, 0, &y), FL_ST_FLUSHED);
	for (i = 0; i < 40; i++) {
		number = (6 + i * 0x100000) & 0xFFFFFF;
		x = halt_incoming(&w, WOP_WRITE, 1, number);
		x.from |= NIC_CTX_SRC_RELAXED;
		x.word += i << 8;
		EXPECT_EQ(rig_open(r, 1, &x), FL_ST_OK);
	}
}

TEST("a queue pair that has halted serves its peer, in order")
{
	struct rig_slot w;
	struct rig *r = halt_rig(&w, 0);
	struct rig_rxc x = halt_incoming(&w, WOP_WRITE, 1, 0);

	rig_post(r, &w, rig_wqe(&w, 8));
	rig_fly(r, r->order[0]);
	rig_end(r, r->order[0], FL_ST_FAULT_FAST);
	rig_run(r);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	x = halt_incoming(&w, WOP_READ_REQ, 2, 1);
	x.ref |= 1;
	EXPECT_EQ(rig_open(r, 1, &x), FL_ST_OK);
	x = halt_incoming(&w, WOP_WRITE, 3, 2);
	x.ref |= 2;
	EXPECT_EQ(rig_offer(r, 2, &x), RIG_HELD);
	EXPECT_EQ(halt_resume(r, &w), FL_ST_OK);
}

TEST("a READ that lacks a page is refused at once; one that lacks none is taken over")
{
	struct rig_slot w;
	struct rig *r = halt_rig(&w, FL_ABORT_READ);
	struct rig_rxc x = halt_incoming(&w, WOP_READ_REQ, PEER_CTX, 0);

	EXPECT_EQ(rig_offer(r, 0, &x), RIG_HELD);
	EXPECT_EQ(rig_busy(r), 1);
	rig_fault(r, r->order[0]);
	rig_run(r);
	EXPECT_EQ(r->rxc[0].verdicts, 1);
	EXPECT_EQ(r->rxc[0].verdict & NIC_RXC_VERDICT_CODE_MASK,
		  FL_ST_FAULT_FAST);
	EXPECT_EQ(rig_busy(r), 0);
	STEP("the NAK was lost: the next attempt hears the same");
	x.word++;
	EXPECT_EQ(rig_open(r, 1, &x), FL_ST_FAULT_FAST);
	STEP("the peer's next READ");
	x = halt_incoming(&w, WOP_READ_REQ, PEER_CTX, 1);
	x.word += 1u << 8;
	EXPECT_EQ(rig_offer(r, 2, &x), RIG_HELD);
	rig_fly(r, r->order[1]);
	rig_run(r);
	EXPECT_EQ(r->rxc[2].verdicts, 1);
	EXPECT_EQ(r->rxc[2].verdict & NIC_RXC_VERDICT_CODE_MASK, FL_ST_OK);
	rig_end(r, r->order[1], FL_ST_OK);
	rig_run(r);
	EXPECT(fw_idle(r->fw));
}

TEST("READs that are held leave half of the receive contexts, and end with their queue pair")
{
	struct rig_slot w;
	struct rig *r = halt_rig(&w, FL_ABORT_READ);
	struct rig_rxc x;
	uint32_t i, held = 0, told = 0;

	for (i = 0; i < 16; i++) {
		x = halt_incoming(&w, WOP_READ_REQ, i, 0);
		x.from |= NIC_CTX_SRC_RELAXED;
		held += rig_offer(r, i, &x) == RIG_HELD;
	}
	EXPECT_EQ(held, 16);
	for (; i < 32; i++) {
		x = halt_incoming(&w, WOP_READ_REQ, i - 16, 0);
		x.from |= NIC_CTX_SRC_RELAXED;
		x.word += 1u << 8;
		held += rig_offer(r, i, &x) == RIG_HELD;
	}
	STEP("a newer READ of a peer's context takes the place of the older one");
	EXPECT_EQ(held, 32);
	for (i = 0; i < 16; i++)
		told += r->rxc[i].verdicts;
	EXPECT_EQ(told, 16);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 2, .object = w.qp), FL_ST_OK);
	rig_run(r);
	for (i = 0, told = 0; i < 32; i++)
		told += r->rxc[i].verdicts;
	EXPECT_EQ(told, 32);
	EXPECT(fw_idle(r->fw));
}

/* ---- at random ---- */

/* What a program may rely on, in plain numbers: it sees completions and nothing else. */
struct model {
	uint32_t posted, completed;
	bool halted;	/* it has seen FAULT_FAST and not resumed */
};

static void halt_take(struct rig *r, struct rig_slot *w, struct model *m)
{
	struct fl_cqe e;

	while (rig_poll(r, w, &e)) {
		EXPECT_EQ(e.index, (uint16_t)m->completed++);
		EXPECT(m->completed <= m->posted);
		if (m->halted)
			EXPECT_EQ(e.status, FL_ST_FLUSHED);
		else
			EXPECT(e.status == FL_ST_OK ||
			       e.status == FL_ST_FAULT_FAST);
		m->halted |= e.status == FL_ST_FAULT_FAST;
	}
}

static void halt_move(struct rig *r, uint64_t *seed)
{
	uint32_t n = rig_random(seed) % r->contexts, dice = rig_random(seed) % 8;
	struct rig_ctx *c = &r->ctx[n];
	bool asks = is_asking(r, n);

	if (c->state == FL_TX_READY && !asks && dice == 0 && c->op == FL_OP_WRITE)
		rig_fault(r, n);
	else if (c->state == FL_TX_READY)
		rig_fly(r, n);
	else if (c->state == FL_TX_FLYING && asks)
		rig_end(r, n, FL_ST_FLUSHED);
	else if (c->state == FL_TX_FLYING)
		rig_end(r, n, dice ? FL_ST_OK : FL_ST_FAULT_FAST);
}

static void halt_post(struct rig *r, struct rig_slot *w, struct model *m,
		      uint64_t *seed)
{
	struct fl_wqe e = rig_wqe(w, 1 + rig_random(seed) % (3 * RIG_BLOCK));

	if (m->posted - m->completed == w->sq_size)
		return;
	if (!(rig_random(seed) % 3))
		e.opcode = FL_OP_READ;
	rig_post(r, w, e);
	m->posted++;
}

/* True: it went on. What the program can know is what it has seen. */
static bool halt_try(struct rig *r, struct rig_slot *w, struct model *m)
{
	uint32_t code = halt_resume(r, w);

	halt_take(r, w, m);
	if (code == FL_ST_BUSY)
		return false;
	EXPECT_EQ(code, m->halted ? FL_ST_OK : FL_ST_BAD_ARGUMENT);
	if (code == FL_ST_OK)
		EXPECT_EQ(m->posted, m->completed);
	m->halted = false;
	return code == FL_ST_OK;
}

TEST("random failures and resumes: success never follows a failure that was not resumed")
{
	uint64_t seed = 0x1234567 + test_seed();
	uint32_t round, i, dice, resumed = 0;
	struct rig *r = rig_create(8);

	for (round = 0; round < 60; round++) {
		struct model m = { 0 };
		struct rig_slot w;

		rig_restart(r);
		rig_slot(r, &w, 2);
		EXPECT_EQ(CMD(r, SLOT_ABORT, .slot = 2,
			      .flags = FL_ABORT_WRITE), FL_ST_OK);
		for (i = 0; i < 400; i++) {
			dice = rig_random(&seed) % 8;
			if (dice < 2) {
				halt_post(r, &w, &m, &seed);
			} else if (dice == 2) {
				halt_take(r, &w, &m);
			} else if (dice == 3) {
				resumed += halt_try(r, &w, &m);
			} else {
				halt_move(r, &seed);
				rig_run(r);
			}
		}
		while (rig_busy(r)) {
			halt_move(r, &seed);
			rig_run(r);
		}
		halt_take(r, &w, &m);
		EXPECT_EQ(m.posted, m.completed);
		EXPECT(fw_idle(r->fw));
	}
	EXPECT_GE(resumed, 100);
}
