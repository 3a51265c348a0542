// SPDX-License-Identifier: BSD-2-Clause
/* The scheduler: turns, shares, and the contexts that are kept back. */
#include "rig/fw.h"

/* Queue pairs of one slot, each with its own send queue. */
struct sender {
	struct rig_slot w;
	uint32_t sent;
};

static void sender_make(struct rig *r, struct sender *s,
			const struct rig_slot *w, uint32_t n, uint32_t bytes)
{
	s->w = *w;
	s->w.sq_pa = 0x10000 + 0x1000 * n;
	s->w.sq_size = 8;
	s->w.tail = 0;
	s->w.qp = rig_qp(r, w, s->w.sq_pa, 8);
	s->sent = 0;
	if (bytes) {
		struct fl_wqe e = rig_wqe(&s->w, bytes);

		e.xfer = n;
		rig_put(r, &s->w, &e);
	}
}

static uint32_t sched_held(const struct rig *r, uint32_t xfer)
{
	uint32_t i, n = 0;

	for (i = 0; i < r->contexts; i++)
		n += r->ctx[i].state != FL_TX_FREE && r->ctx[i].xfer == xfer &&
		     r->ctx[i].op != FL_OP_READ_RESP;
	return n;
}

/* End the oldest block of all, and let the next one go. */
static uint32_t sched_turn(struct rig *r, uint32_t n)
{
	rig_end(r, n, FL_ST_OK);
	rig_run(r);
	return r->ctx[r->order[(r->started - 1) % 16]].xfer;
}

TEST("queue pairs take turns: one is never more than a block ahead")
{
	struct rig *r = rig_create(8);
	struct sender s[2];
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	sender_make(r, &s[0], &w, 0, 1000 * RIG_BLOCK);
	sender_make(r, &s[1], &w, 1, 1000 * RIG_BLOCK);
	EXPECT_EQ(rig_ring(r, &s[0].w), 0);
	EXPECT_EQ(rig_ring(r, &s[1].w), 0);
	rig_run(r);
	EXPECT_EQ(r->started, 6);
	STEP("blocks end in the order in which they began");
	for (i = 0; i < 1500; i++) {
		s[sched_turn(r, r->order[(r->started - 6) % 16])].sent++;
		EXPECT_LE(s[0].sent - s[1].sent + 1, 2);
	}
	EXPECT_EQ(s[0].sent + s[1].sent, 1500);
}

TEST("queue pairs get equal shares when blocks end in any order")
{
	struct rig *r = rig_create(8);
	uint64_t seed = test_seed() + 3;
	uint32_t n, turns = 0;
	struct sender s[2];
	struct rig_slot w;

	rig_slot(r, &w, 1);
	sender_make(r, &s[0], &w, 0, 4000 * RIG_BLOCK);
	sender_make(r, &s[1], &w, 1, 4000 * RIG_BLOCK);
	EXPECT_EQ(rig_ring(r, &s[0].w), 0);
	EXPECT_EQ(rig_ring(r, &s[1].w), 0);
	rig_run(r);
	while (turns < 6000) {
		n = rig_random(&seed) % 8;
		if (r->ctx[n].state != FL_TX_READY)
			continue;
		s[sched_turn(r, n)].sent++;
		turns++;
	}
	EXPECT_GE(s[0].sent, 2850);
	EXPECT_GE(s[1].sent, 2850);
}

TEST("a small request does not wait for the end of a large one")
{
	struct rig *r = rig_create(8);
	struct sender s[2];
	struct rig_slot w;

	rig_slot(r, &w, 1);
	sender_make(r, &s[0], &w, 0, 1000 * RIG_BLOCK);
	sender_make(r, &s[1], &w, 1, 8);
	EXPECT_EQ(rig_ring(r, &s[0].w), 0);
	rig_run(r);
	EXPECT_EQ(sched_held(r, 0), 6);
	EXPECT_EQ(rig_ring(r, &s[1].w), 0);
	rig_run(r);
	EXPECT_EQ(sched_turn(r, r->order[0]), 1);
}

TEST("a queue pair alone may hold all but two contexts, with others about two less")
{
	static const uint32_t contexts[] = { 4, 5, 8, 16 };
	static const uint32_t shared[] = { 1, 1, 4, 12 };
	struct sender s[2];
	struct rig_slot w;
	uint32_t i, k;

	for (k = 0; k < 4; k++) {
		struct rig *r = rig_create(contexts[k]);

		STEP("%u contexts", contexts[k]);
		rig_slot(r, &w, 1);
		sender_make(r, &s[0], &w, 0, 1000 * RIG_BLOCK);
		sender_make(r, &s[1], &w, 1, RIG_BLOCK);
		EXPECT_EQ(rig_ring(r, &s[0].w), 0);
		rig_run(r);
		EXPECT_EQ(sched_held(r, 0), contexts[k] - 2);
		EXPECT_EQ(rig_ring(r, &s[1].w), 0);
		rig_run(r);
		STEP("it gives back what is too much as its blocks end");
		for (i = 0; i < 20; i++) {
			uint32_t n = 0;

			while (r->ctx[n].state == FL_TX_FREE ||
			       r->ctx[n].xfer != 0)
				n++;
			rig_end(r, n, FL_ST_OK);
			rig_run(r);
		}
		EXPECT_EQ(sched_held(r, 1), 1);
		EXPECT_EQ(sched_held(r, 0), shared[k]);
		STEP("alone again, it takes them again");
		for (i = 0; r->ctx[i].state == FL_TX_FREE ||
			    r->ctx[i].xfer != 1; i++)
			;
		rig_end(r, i, FL_ST_OK);
		rig_run(r);
		EXPECT_EQ(sched_held(r, 0), contexts[k] - 2);
	}
}

TEST("all queue pairs get their turn before one gets a second")
{
	struct rig *r = rig_create(16);
	uint32_t i, round, first, waiting = 0;
	static struct sender s[FW_QPS - 1];
	struct rig_slot w;

	rig_slot(r, &w, 1);
	for (i = 0; i < FW_QPS - 1; i++)
		sender_make(r, &s[i], &w, i, 3 * RIG_BLOCK);
	for (i = 0; i < FW_QPS - 1; i++)
		EXPECT_EQ(rig_ring(r, &s[i].w), 0);
	rig_run(r);
	first = r->started;
	EXPECT_EQ(first, 14);
	for (i = 0; i < first; i++)
		s[r->ctx[r->order[i]].xfer].sent++;
	for (i = 0; i < FW_QPS - 1; i++)
		waiting += !s[i].sent;
	EXPECT_GE(waiting, FW_QPS - 16);
	for (round = 1; round <= 3; round++) {
		STEP("round %u: each of them once", round);
		for (i = 0; i < waiting; i++) {
			uint32_t x =
				sched_turn(r, r->order[(r->started - 14) % 16]);

			/* Some of the first had not got all of theirs. */
			if (s[x].sent++ >= round)
				i--;
		}
		for (i = first; i < FW_QPS - 1; i++)
			EXPECT_EQ(s[i].sent, round);
	}
}

TEST("a queue pair that waits for a page holds no more than its share")
{
	struct rig *r = rig_create(16);
	struct rig_slot w;
	struct sender s;
	uint32_t i, n;

	rig_slot(r, &w, 1);
	sender_make(r, &s, &w, 0, 1000 * RIG_BLOCK);
	EXPECT_EQ(rig_ring(r, &s.w), 0);
	rig_run(r);
	EXPECT_EQ(sched_held(r, 0), 14);
	n = r->order[0];
	rig_fly(r, n);
	rig_refuse(r, n);
	rig_run(r);
	STEP("as the others end, no new ones start beyond the share of 2");
	for (i = 0; i < 16; i++) {
		if (i == n || r->ctx[i].state != FL_TX_READY)
			continue;
		rig_end(r, i, FL_ST_OK);
		rig_run(r);
	}
	EXPECT_EQ(sched_held(r, 0), 2);
	STEP("the page is there: it takes what it may");
	r->ctx[n].state = FL_TX_READY;
	rig_fly(r, n);
	rig_run(r);
	EXPECT_EQ(sched_held(r, 0), 14);
	STEP("the same for a page of its own");
	for (n = 0; r->ctx[n].state != FL_TX_READY; n++)
		;
	rig_fault(r, n);
	rig_run(r);
	for (i = 0; i < 16; i++) {
		if (i == n || (r->ctx[i].state != FL_TX_READY &&
			       r->ctx[i].state != FL_TX_FLYING))
			continue;
		rig_end(r, i, FL_ST_OK);
		rig_run(r);
	}
	EXPECT_EQ(sched_held(r, 0), 2);
}

TEST("a waiting queue pair leaves the others at full speed")
{
	struct rig *r = rig_create(8);
	struct sender s[2];
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	sender_make(r, &s[0], &w, 0, 1000 * RIG_BLOCK);
	sender_make(r, &s[1], &w, 1, 1000 * RIG_BLOCK);
	EXPECT_EQ(rig_ring(r, &s[0].w), 0);
	rig_run(r);
	for (i = 0; i < 2; i++)
		rig_fault(r, r->order[i]);
	rig_run(r);
	EXPECT_EQ(rig_ring(r, &s[1].w), 0);
	for (i = 2; i < 6; i++)
		rig_end(r, r->order[i], FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(sched_held(r, 0), 2);
	EXPECT_EQ(sched_held(r, 1), 4);
}

/* All queue pairs of a process want all that they can get. */
static void sched_crowd(struct rig *r, struct sender *s, unsigned int n,
			const struct rig_slot *w)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		sender_make(r, &s[i], w, 0, 1000 * RIG_BLOCK);
		EXPECT_EQ(rig_ring(r, &s[i].w), 0);
	}
	rig_run(r);
}

TEST("a process leaves contexts to others, however many of its queue pairs wait")
{
	struct rig *r = rig_create(16);
	struct rig_slot w, v;
	struct sender s[16], other;
	uint32_t i;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	sched_crowd(r, s, 16, &w);
	EXPECT_EQ(sched_held(r, 0), 12);
	for (i = 0; i < 12; i++)
		rig_fault(r, r->order[i]);
	rig_run(r);
	EXPECT_EQ(sched_held(r, 0), 12);
	STEP("another process comes");
	sender_make(r, &other, &v, 1, 1000 * RIG_BLOCK);
	EXPECT_EQ(rig_ring(r, &other.w), 0);
	rig_run(r);
	EXPECT_EQ(sched_held(r, 1), 2);
	STEP("as the blocks of the first one end, it keeps half of what it may have");
	for (i = 0; i < 8; i++) {
		rig_end(r, r->order[i], FL_ST_OK);
		rig_run(r);
	}
	EXPECT_EQ(sched_held(r, 0), 6);
	EXPECT_EQ(sched_held(r, 1), 8);
	STEP("its pages are there: it takes its turns again");
	for (i = 8; i < 12; i++)
		rig_end(r, r->order[i], FL_ST_OK);
	rig_run(r);
	for (i = 0; i < 16; i++) {
		rig_end(r, r->order[(r->started - 14) % 16], FL_ST_OK);
		rig_run(r);
	}
	EXPECT_EQ(sched_held(r, 0) + sched_held(r, 1), 14);
	EXPECT_GE(sched_held(r, 0), 7);
}

TEST("what a process was refused for the sake of others it gets when they leave")
{
	struct rig *r = rig_create(16);
	struct rig_slot w, v;
	struct sender s[4];

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	sched_crowd(r, s, 4, &w);
	EXPECT_EQ(sched_held(r, 0), 12);
	EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 2), FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(sched_held(r, 0), 14);
}

static struct rig_rxc sched_ask(const struct rig_slot *w, uint32_t n)
{
	return (struct rig_rxc){
		.src = RIG_NODE | w->qp << 8, .op = WOP_READ_REQ, .va = RIG_VA,
		.len = 100, .rkey = w->key, .word = n << 24,
		.from = RIG_PEER_QP,
	};
}

static uint32_t sched_answers(const struct rig *r)
{
	uint32_t i, n = 0;

	for (i = 0; i < r->contexts; i++)
		n += r->ctx[i].state != FL_TX_FREE &&
		     r->ctx[i].op == FL_OP_READ_RESP;
	return n;
}

TEST("READ answers find a context however many requests wait for pages")
{
	struct rig *r = rig_create(4);
	struct sender s[8];
	struct rig_slot w;
	struct rig_rxc x;
	uint32_t i;

	rig_slot(r, &w, 1);
	for (i = 0; i < 8; i++) {
		struct fl_wqe e;

		sender_make(r, &s[i], &w, i, 0);
		e = rig_wqe(&s[i].w, 100 * RIG_BLOCK);
		e.opcode = i & 1 ? FL_OP_READ : FL_OP_WRITE;
		rig_put(r, &s[i].w, &e);
		EXPECT_EQ(rig_ring(r, &s[i].w), 0);
	}
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 2);
	for (i = 0; i < 2; i++)
		rig_fly(r, r->order[i]);
	rig_run(r);
	for (i = 0; i < 2; i++) {
		x = sched_ask(&w, i);
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
		EXPECT_EQ(sched_answers(r), i + 1);
	}
	x = sched_ask(&w, 2);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	EXPECT_EQ(rig_busy(r), 4);
	rig_end(r, r->order[3], FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(sched_answers(r), 2);
}

TEST("requests find a context however many READ answers wait for pages")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;
	struct rig_rxc x;
	uint32_t i;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	for (i = 0; i < 16; i++) {
		x = sched_ask(&w, i);
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	}
	EXPECT_EQ(sched_answers(r), 4);
	rig_post(r, &v, rig_wqe(&v, 8));
	EXPECT_EQ(rig_busy(r), 5);
	STEP("answers of a queue pair that waits are held to its share");
	rig_fault(r, r->order[0]);
	rig_run(r);
	for (i = 1; i < 4; i++) {
		rig_end(r, r->order[i], FL_ST_OK);
		rig_run(r);
	}
	EXPECT_EQ(sched_answers(r), 2);
	STEP("and the answers of another queue pair pass");
	x = sched_ask(&v, 0);
	x.src = 5 | v.qp << 8;
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_REMOTE_QP);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 2, .a = 0x10000, .b = 2, .c = v.cq,
		      .d = v.pd), FL_ST_OK);
	i = (uint32_t)r->result;
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 2, .object = i, .a = 5,
		      .b = RIG_PEER_QP), FL_ST_OK);
	x.src = 5 | i << 8;
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	EXPECT_EQ(sched_answers(r), 3);
}

TEST("who was alone when it asked for more gets no more than with others about")
{
	struct rig *r = rig_create(8);
	struct sender s[2];
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	for (i = 0; i < 4; i++) {
		struct rig_rxc x = sched_ask(&w, i);

		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	}
	sender_make(r, &s[0], &w, 0, 1000 * RIG_BLOCK);
	sender_make(r, &s[1], &w, 1, 8);
	s[0].w.tail = 1;
	EXPECT_EQ(rig_ring(r, &s[0].w), 0);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 8);
	EXPECT_EQ(rig_ring(r, &s[1].w), 0);
	rig_run(r);
	for (i = 0; i < 3; i++)
		rig_end(r, r->order[i], FL_ST_OK);
	rig_run(r);
	EXPECT_EQ(sched_answers(r), 1);
	EXPECT_EQ(rig_busy(r), 6);
	EXPECT_EQ(r->started, 9);
}

TEST("requests and READ answers take turns")
{
	uint32_t i, node, peers[4], given[2] = { 0 };
	struct rig *r = rig_create(16);
	struct sender s[2];
	struct rig_slot w;

	rig_slot(r, &w, 1);
	for (i = 0; i < 2; i++) {
		sender_make(r, &s[i], &w, i, 1000 * RIG_BLOCK);
		EXPECT_EQ(rig_ring(r, &s[i].w), 0);
	}
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 14);
	STEP("three peers ask for 16 blocks each");
	for (node = 4; node < 7; node++) {
		EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = 0x20000, .b = 2,
			      .c = w.cq, .d = w.pd), FL_ST_OK);
		peers[node - 4] = (uint32_t)r->result;
		EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 1,
			      .object = peers[node - 4], .a = node,
			      .b = RIG_PEER_QP), FL_ST_OK);
		for (i = 0; i < 16; i++) {
			struct rig_rxc x = sched_ask(&w, i);

			x.src = node | peers[node - 4] << 8;
			EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
		}
	}
	EXPECT_EQ(rig_busy(r), 16);
	for (i = 0; i < 80; i++) {
		uint32_t n = r->order[r->started % 16];

		rig_end(r, n, FL_ST_OK);
		rig_run(r);
		n = r->order[(r->started - 1) % 16];
		given[r->ctx[n].op == FL_OP_READ_RESP]++;
		EXPECT_LE(given[0] - given[1] + 1, 2);
	}
	EXPECT_EQ(given[0], 40);
	EXPECT_EQ(given[1], 40);
}
