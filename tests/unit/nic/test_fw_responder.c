// SPDX-License-Identifier: BSD-2-Clause
/*
 * The responder: verdicts on what comes in, READ jobs, failures told to the
 * peer.
 */
#include "rig/fw.h"

static struct rig_rxc responder_incoming(const struct rig_slot *w, uint32_t op)
{
	return (struct rig_rxc){
		.src = RIG_NODE | w->qp << 8, .op = op, .va = RIG_VA + 100,
		.len = 4096, .rkey = w->key, .left = 1000, .xfer = 7,
		.block = 2, .word = 4u << 24 | 0x1234u << 8 | 1,
		.from = RIG_PEER_QP,
	};
}

/* The same block asked for again: a later attempt. */
static uint32_t ask_again(struct rig *r, struct rig_rxc *x)
{
	x->word = (x->word & ~0xFFu) | ((x->word + 1) & 0xFF);
	return rig_open(r, 1, x);
}

TEST("a WRITE that is allowed is accepted with the stream of its slot")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 2);
	x = responder_incoming(&w, WOP_WRITE);
	EXPECT_EQ(rig_open(r, 5, &x), FL_ST_OK);
	EXPECT_EQ(r->rxc[5].verdict >> NIC_RXC_VERDICT_STREAM_SHIFT, 0x202);
	EXPECT_EQ(r->started, 0);
	EXPECT_EQ(r->traced[EV_FW_CHECK], 1);
	STEP("again, at once: it is judged again");
	EXPECT_EQ(rig_open(r, 6, &x), FL_ST_OK);
}

static uint32_t responder_judge(struct rig *r, struct rig_rxc x)
{
	return rig_open(r, 31, &x);
}

#define JUDGE(r, w, op, ...) ({						\
	struct rig_rxc x_ = responder_incoming(w, op);				\
	__VA_ARGS__;							\
	responder_judge(r, x_);							\
})

/* The peer hears one thing, the trace another: which check it was. */
#define REFUSED(r, w, op, seen_, told, ...) do {				\
	EXPECT_EQ(JUDGE(r, w, op, __VA_ARGS__), FL_ST_##told);			\
	EXPECT_EQ((r)->seen, FL_ST_##seen_);					\
} while (0)

static void responder_refusals(struct rig *r, uint32_t op)
{
	struct rig_slot w, v;
	uint32_t pd, key, none, qp;
	struct fw_stats st;

	rig_restart(r);
	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	EXPECT_EQ(CMD(r, PD_CREATE, .slot = 1), FL_ST_OK);
	pd = (uint32_t)r->result;
	key = rig_mr(r, 1, pd, RIG_VA, RIG_BYTES, 7);
	none = rig_mr(r, 1, w.pd, RIG_VA, RIG_BYTES, op == WOP_WRITE ?
		      FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_READ :
		      FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = 0x20000, .b = 2, .c = w.cq,
		      .d = w.pd), FL_ST_OK);
	qp = (uint32_t)r->result;

	STEP("who asks, and of whom");
	REFUSED(r, &w, op, SEEN_STRANGER, REMOTE_QP, x_.src = 4 | w.qp << 8);
	REFUSED(r, &w, op, SEEN_STRANGER, REMOTE_QP, x_.src = 200 | w.qp << 8);
	REFUSED(r, &w, op, SEEN_STRANGER, REMOTE_QP, x_.from++);
	REFUSED(r, &w, op, SEEN_STRANGER, REMOTE_QP, x_.from = w.qp);
	REFUSED(r, &w, op, SEEN_STRANGER, REMOTE_QP,
		x_.from ^= NIC_CTX_SRC_RELAXED, x_.from--);
	REFUSED(r, &w, op, SEEN_NO_QP, REMOTE_QP, x_.src = RIG_NODE | 99 << 8);
	REFUSED(r, &w, op, SEEN_NO_QP, REMOTE_QP,
		x_.src = RIG_NODE | 0xFFFFFFu << 8);
	REFUSED(r, &w, op, SEEN_NO_QP, REMOTE_QP, x_.src = RIG_NODE | qp << 8);
	STEP("keys: none, an old one, another domain's, another slot's");
	REFUSED(r, &w, op, SEEN_KEY, REMOTE_ACCESS, x_.rkey = 0);
	REFUSED(r, &w, op, SEEN_KEY, REMOTE_ACCESS, x_.rkey ^= 1);
	REFUSED(r, &w, op, SEEN_KEY, REMOTE_ACCESS, x_.rkey = ~0u);
	REFUSED(r, &w, op, SEEN_KEY, REMOTE_ACCESS, x_.rkey = key);
	REFUSED(r, &w, op, SEEN_KEY, REMOTE_ACCESS, x_.rkey = v.key);
	STEP("ranges: before, beyond, round the end, a rest that is beyond");
	REFUSED(r, &w, op, SEEN_RANGE, REMOTE_ACCESS, x_.va = RIG_VA - 1);
	REFUSED(r, &w, op, SEEN_RANGE, REMOTE_ACCESS, x_.left = 0,
		x_.va = RIG_VA + RIG_BYTES - 4095);
	REFUSED(r, &w, op, SEEN_RANGE, REMOTE_ACCESS, x_.va = ~0ull - 10);
	REFUSED(r, &w, op, SEEN_RANGE, REMOTE_ACCESS, x_.left = RIG_BYTES);
	REFUSED(r, &w, op, SEEN_RANGE, REMOTE_ACCESS, x_.left = ~0ull);
	REFUSED(r, &w, op, SEEN_RANGE, REMOTE_ACCESS,
		x_.va = RIG_VA + RIG_BYTES - 4096, x_.left = 1);
	STEP("lengths and rights");
	REFUSED(r, &w, op, BAD_LENGTH, BAD_LENGTH, x_.len = 0);
	REFUSED(r, &w, op, BAD_LENGTH, BAD_LENGTH, x_.len = RIG_BLOCK + 1);
	REFUSED(r, &w, op, SEEN_RIGHTS, REMOTE_ACCESS, x_.rkey = none);
	REFUSED(r, &w, WOP_ACK, BAD_OPCODE, BAD_OPCODE, x_.block = 1);
	STEP("the very end of the region is allowed");
	EXPECT_EQ(JUDGE(r, &w, op, x_.va = RIG_VA + RIG_BYTES - 4096,
			x_.left = 0), FL_ST_OK);
	STEP("a region that is gone, a queue pair in error");
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key), FL_ST_OK);
	REFUSED(r, &w, op, SEEN_KEY, REMOTE_ACCESS, x_.block = 1);
	v.tail = 1000;
	EXPECT_EQ(rig_ring(r, &v), 0);
	REFUSED(r, &v, op, SEEN_NO_QP, REMOTE_QP, x_.block = 1);
	STEP("each was counted under its reason");
	fw_stats(r->fw, &st);
	EXPECT_EQ(st.refused_key, 6);
	EXPECT_EQ(st.refused_range, 6);
	EXPECT_EQ(st.refused_rights, 1);
	EXPECT_EQ(st.refused_qp, 9);
	EXPECT_EQ(st.rx_refused, 6 + 6 + 1 + 9 + 3);
}

TEST("a WRITE that is not allowed is refused, and only the trace says why")
{
	responder_refusals(rig_create(8), WOP_WRITE);
}

TEST("a READ that is not allowed is refused likewise, and starts nothing")
{
	struct rig *r = rig_create(8);

	responder_refusals(r, WOP_READ_REQ);
	EXPECT_EQ(r->started, 1);	/* the one at the very end */
}

TEST("a READ that is allowed becomes a block that answers it")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;
	struct rig_ctx *c;

	rig_slot(r, &w, 1);
	x = responder_incoming(&w, WOP_READ_REQ);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	EXPECT_EQ(r->started, 1);
	c = &r->ctx[r->order[0]];
	EXPECT_EQ(c->op, FL_OP_READ_RESP);
	EXPECT_EQ(c->dst, RIG_NODE | RIG_PEER_QP << 8);
	EXPECT_EQ(c->stream, 0x201);
	EXPECT_EQ(c->lva, x.va);
	EXPECT_EQ(c->len, x.len);
	EXPECT_EQ(c->left, x.left);
	EXPECT_EQ(c->ref, x.word);
	EXPECT_EQ(c->xfer, 7);
	EXPECT_EQ(c->block, 2);
	STEP("asked again meanwhile: the peer is to wait");
	EXPECT_EQ(ask_again(r, &x), FL_ST_WAIT);
	EXPECT_EQ(r->started, 1);
	STEP("region and queue pair serve the job, and are not held by it");
	rig_drain(r);
	EXPECT(fw_idle(r->fw));
	STEP("asked again afterwards, since the answer may be lost: again");
	EXPECT_EQ(ask_again(r, &x), FL_ST_OK);
	EXPECT_EQ(r->started, 2);
	rig_drain(r);
	EXPECT(fw_idle(r->fw));
}

TEST("a READ that failed here is told to the peer when it asks again")
{
	static const struct { uint32_t here, there; } status[] = {
		{ FL_ST_LOCAL_FAULT, FL_ST_REMOTE_FAULT },
		{ FL_ST_REMOTE_FAULT, FL_ST_LOCAL_FAULT },
		{ FL_ST_BUS_ERROR, FL_ST_BUS_ERROR },
		{ FL_ST_REFUSED_TOO_OFTEN, FL_ST_REFUSED_TOO_OFTEN },
		{ FL_ST_WAIT, FL_ST_REMOTE_FAULT },
		{ FL_ST_STALE, FL_ST_OK },
		{ FL_ST_NO_ANSWER, FL_ST_OK },
	};
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;
	size_t i;

	rig_slot(r, &w, 1);
	x = responder_incoming(&w, WOP_READ_REQ);
	for (i = 0; i < sizeof(status) / sizeof(status[0]); i++) {
		STEP("status %u", status[i].here);
		x.word += 1u << 8;
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
		rig_end(r, r->order[(r->started - 1) % 16], status[i].here);
		rig_run(r);
		EXPECT(fw_idle(r->fw));
		EXPECT_EQ(ask_again(r, &x), status[i].there);
		EXPECT_EQ(ask_again(r, &x), status[i].there ?
			  status[i].there : FL_ST_WAIT);
		rig_drain(r);
	}
}

TEST("a status that was kept is forgotten with a newer block and with time")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	x = responder_incoming(&w, WOP_READ_REQ);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	rig_end(r, r->order[0], FL_ST_LOCAL_FAULT);
	rig_run(r);
	EXPECT_EQ(ask_again(r, &x), FL_ST_REMOTE_FAULT);
	x.word += 1u << 8;
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	rig_end(r, r->order[1], FL_ST_LOCAL_FAULT);
	rig_run(r);
	r->now += 5 * RIG_FAULT_TIMEOUT - 1;
	EXPECT_EQ(ask_again(r, &x), FL_ST_REMOTE_FAULT);
	r->now += 1;
	EXPECT_EQ(ask_again(r, &x), FL_ST_OK);
}

TEST("a status is kept as long as a peer's longer patience lasts")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;

	r->cfg.timeout_ns = 10 * RIG_FAULT_TIMEOUT;
	rig_restart(r);
	rig_slot(r, &w, 1);
	x = responder_incoming(&w, WOP_READ_REQ);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	rig_end(r, r->order[0], FL_ST_LOCAL_FAULT);
	rig_run(r);
	r->now += 50 * RIG_FAULT_TIMEOUT - 1;
	EXPECT_EQ(ask_again(r, &x), FL_ST_REMOTE_FAULT);
	r->now += 1;
	EXPECT_EQ(ask_again(r, &x), FL_ST_OK);
}

TEST("a newer block of the same peer context takes the place of the older")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x, old;

	rig_slot(r, &w, 1);
	x = responder_incoming(&w, WOP_READ_REQ);
	x.word = 4u << 24 | 0xFFFFu << 8;
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	rig_fly(r, r->order[0]);
	rig_run(r);
	old = x;
	x.word = 4u << 24;	/* the generation wraps */
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	EXPECT_EQ(rig_busy(r), 1);
	EXPECT_EQ(r->ctx[r->order[1]].ref, x.word);
	STEP("a straggler of the older one changes nothing");
	EXPECT_EQ(rig_open(r, 0, &old), FL_ST_STALE);
	EXPECT_EQ(ask_again(r, &x), FL_ST_WAIT);
	STEP("another context of the peer is another block");
	x.word = 5u << 24;
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	STEP("a context that no peer has");
	x.word = 16u << 24;
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_BAD_ENTRY);
	rig_drain(r);
	EXPECT(fw_idle(r->fw));
}

TEST("when the table of READs is full the peer is told to wait, and gets its turn")
{
	struct rig *r = rig_create(4);
	uint32_t node, i, asked = 0;
	struct rig_slot w;
	struct rig_rxc x;

	rig_slot(r, &w, 1);
	x = responder_incoming(&w, WOP_READ_REQ);
	for (node = 4; node < 10; node++) {
		EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = 0x20000, .b = 2,
			      .c = w.cq, .d = w.pd), FL_ST_OK);
		i = (uint32_t)r->result;
		EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 1, .object = i,
			      .a = node, .b = RIG_PEER_QP), FL_ST_OK);
		x.src = node | i << 8;
		for (i = 0; i < 16; i++) {
			x.word = i << 24;
			EXPECT_EQ(rig_open(r, 0, &x), ++asked <= FW_READ_JOBS ?
				  FL_ST_OK : FL_ST_WAIT);
		}
	}
	rig_end(r, r->order[0], FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	rig_drain(r);
	EXPECT_EQ(r->started, FW_READ_JOBS + 1);
	EXPECT(fw_idle(r->fw));
}

TEST("a READ that waits for a context is refused when its region goes")
{
	struct rig *r = rig_create(4);
	struct rig_slot w;
	struct rig_rxc x;
	uint32_t i;

	rig_slot(r, &w, 1);
	x = responder_incoming(&w, WOP_READ_REQ);
	for (i = 0; i < 3; i++) {
		x.word = i << 24;
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	}
	EXPECT_EQ(r->started, 2);
	STEP("remote use does not keep the region busy");
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key), FL_ST_OK);
	STEP("what has begun ends, what has not begun does not begin");
	rig_drain(r);
	EXPECT_EQ(r->started, 2);
	EXPECT(fw_idle(r->fw));
	EXPECT_EQ(ask_again(r, &x), FL_ST_REMOTE_ACCESS);
}

TEST("the READs of a queue pair end with it")
{
	struct rig *r = rig_create(4);
	struct rig_slot w;
	struct rig_rxc x;
	uint32_t i;

	rig_slot(r, &w, 1);
	x = responder_incoming(&w, WOP_READ_REQ);
	for (i = 0; i < 4; i++) {
		x.word = i << 24;
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	}
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w.qp), FL_ST_OK);
	EXPECT_EQ(rig_busy(r), 0);
	EXPECT(fw_idle(r->fw));
	EXPECT_EQ(ask_again(r, &x), FL_ST_REMOTE_QP);
	EXPECT_EQ(r->alarm, FW_NEVER);
}

TEST("a READ whose peer never answers is given up, and may be asked for again")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;
	uint32_t i, n;

	rig_slot(r, &w, 1);
	x = responder_incoming(&w, WOP_READ_REQ);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	n = r->order[0];
	for (i = 0; i < 4; i++) {
		rig_fly(r, n);
		rig_run(r);
		r->now += RIG_TIMEOUT;
		rig_run(r);
	}
	EXPECT_EQ(rig_busy(r), 0);
	EXPECT(fw_idle(r->fw));
	EXPECT_EQ(ask_again(r, &x), FL_ST_OK);
}

TEST("a note of a receive context that does not exist changes nothing")
{
	struct rig *r = rig_create(8);

	rig_note(r, FL_NOTE_RX_OPEN, 32, 0);
	rig_note(r, FL_NOTE_RX_OPEN, 255, 0);
	rig_run(r);
	EXPECT(fw_idle(r->fw));
}

TEST("random packets of random peers never crash and never reach what is not theirs")
{
	struct rig *r = rig_create(6);
	uint64_t seed = test_seed() + 9;
	struct rig_slot w[2];
	uint32_t i, accepted = 0, held = 0;

	rig_slot(r, &w[0], 0);
	rig_slot(r, &w[1], 1);
	for (i = 0; i < 100000; i++) {
		const struct rig_slot *o = &w[rig_random(&seed) % 2];
		struct rig_rxc x = responder_incoming(o, WOP_WRITE +
						      rig_random(&seed) % 2);
		uint32_t *word = (uint32_t *)&x;
		uint32_t n = rig_random(&seed) % 6, status;

		x.word = rig_random(&seed) % 18 << 24 |
			 rig_random(&seed) % 4 << 8;
		if (rig_random(&seed) % 2)
			word[rig_random(&seed) % (sizeof(x) / 4 - 2)] =
				rig_random(&seed);
		status = rig_offer(r, rig_random(&seed) % 32, &x);
		held += status == RIG_HELD;
		if (!status) {
			accepted++;
			EXPECT_EQ(x.from & NIC_CTX_SRC_QPN_MASK, RIG_PEER_QP);
			EXPECT_EQ(x.rkey, o->key);
			EXPECT_EQ(x.src, RIG_NODE | o->qp << 8);
			EXPECT(x.va >= RIG_VA && x.len <= RIG_BLOCK);
			EXPECT_LE(x.va + x.len + x.left, RIG_VA + RIG_BYTES);
		}
		if (r->ctx[n].state == FL_TX_READY)
			rig_end(r, n, rig_random(&seed) % 3 ? 0 :
				rig_random(&seed) % 256);
		r->now += rig_random(&seed) % 100;
		rig_run(r);
	}
	rig_drain(r);
	EXPECT(fw_idle(r->fw));
	EXPECT_GE(accepted, 10000);
	EXPECT_LE(accepted, 90000);
	EXPECT_GE(held, 100);
}
