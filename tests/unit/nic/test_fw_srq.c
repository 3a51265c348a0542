// SPDX-License-Identifier: BSD-2-Clause
/* Receive queues that queue pairs share, and queues that are refused. */
#include "rig/fw_bench.h"

static const struct fw_arrival message = {
	.opcode = FL_OP_RECV, .length = 77,
};

static uint32_t make_srq(struct bench *b, uint32_t entries)
{
	EXPECT_EQ(CMD(b->u->r, SRQ_CREATE, .slot = 1, .a = UNIT_SRQ(1),
		      .b = entries, .c = b->p.s.pd), FL_ST_OK);
	return (uint32_t)b->u->r->result;
}

struct shared {
	struct bench b;
	struct unit_side one, two;
	uint32_t srq;
	uint16_t tail;
};

static void shared_make(struct shared *s, uint32_t entries)
{
	bench_make(&s->b);
	s->srq = make_srq(&s->b, entries);
	s->one = s->two = s->b.p;
	s->one.s.sq_pa = 0xA000;
	s->two.s.sq_pa = 0xC000;
	unit_qp(s->b.u, &s->one, s->srq + 1);
	unit_qp(s->b.u, &s->two, s->srq + 1);
	EXPECT_EQ(CMD(s->b.u->r, QP_CONNECT, .slot = 1, .object = s->one.s.qp,
		      .a = 2, .b = 3), FL_ST_OK);
	EXPECT_EQ(CMD(s->b.u->r, QP_CONNECT, .slot = 1, .object = s->two.s.qp,
		      .a = 2, .b = 4), FL_ST_OK);
	s->tail = 0;
}

static int ring_srq(struct shared *s)
{
	return rig_write(s->b.u->r, NIC_DB_BASE(1) + NIC_DB_SRQ,
			 s->srq | (uint32_t)s->tail << 16);
}

static void post_srq(struct shared *s, uint32_t entries)
{
	struct fl_rqe e = unit_rqe(&s->b.p, 64);

	e.index = s->tail;
	e.wr_id = 8000u + s->tail;
	memcpy(s->b.u->r->mem + UNIT_SRQ(1) + 64 * (s->tail % entries), &e, 64);
	s->tail++;
	EXPECT_EQ(ring_srq(s), 0);
	unit_run(s->b.u);
}

TEST("queue pairs that share a queue take its entries as their messages come")
{
	struct shared s = { 0 };
	struct fw_recv r1, r2;
	uint8_t wrong;
	struct fl_cqe e;

	shared_make(&s, 8);
	EXPECT(!unit_take(s.b.u, s.one.s.qp, &r1, &wrong));
	post_srq(&s, 8);
	post_srq(&s, 8);
	post_srq(&s, 8);
	EXPECT(unit_take(s.b.u, s.one.s.qp, &r1, &wrong));
	EXPECT(unit_take(s.b.u, s.two.s.qp, &r2, &wrong));
	EXPECT_EQ(r1.index, 0);
	EXPECT_EQ(r2.index, 1);
	EXPECT_EQ(r1.srq, s.srq);
	unit_arrive(s.b.u, s.two.s.qp, &r2, message);
	unit_arrive(s.b.u, s.one.s.qp, &r1, message);
	EXPECT(rig_poll(s.b.u->r, &s.one.s, &e));
	EXPECT_EQ(e.qpn, s.two.s.qp);
	EXPECT_EQ(e.index, 1);
	EXPECT_EQ(e.wr_id, 8001);
	EXPECT(rig_poll(s.b.u->r, &s.one.s, &e));
	EXPECT_EQ(e.qpn, s.one.s.qp);
	EXPECT_EQ(e.wr_id, 8000);
}

TEST("what is in a shared queue stays there when a connection ends")
{
	struct shared s = { 0 };
	struct fw_recv r;
	uint8_t wrong;
	struct fl_cqe e;

	shared_make(&s, 8);
	post_srq(&s, 8);
	post_srq(&s, 8);
	post_srq(&s, 8);
	EXPECT(unit_take(s.b.u, s.one.s.qp, &r, &wrong));
	s.b.u->fw.pair_error(s.b.u->fw.ctx,
			     (uint16_t)FW_QP_PLACE(s.one.s.qp),
			     FL_ST_REMOTE_INVALID, 0);
	unit_run(s.b.u);
	EXPECT(rig_poll(s.b.u->r, &s.one.s, &e));
	EXPECT_EQ(e.qpn, s.one.s.qp);
	EXPECT_EQ(e.status, FL_ST_FLUSHED);
	EXPECT_EQ(e.wr_id, 8000);
	EXPECT(!rig_poll(s.b.u->r, &s.one.s, &e));
	EXPECT(unit_take(s.b.u, s.two.s.qp, &r, &wrong));
	EXPECT_EQ(r.wr_id, 8001);
	EXPECT_EQ(CMD(s.b.u->r, QP_DESTROY, .slot = 1, .object = s.two.s.qp),
		  FL_ST_OK);
	EXPECT(fw_idle(s.b.u->r->fw));
}

TEST("a connection that ends says when it has done with the shared queue, once")
{
	struct shared s = { 0 };
	struct fw_recv r;
	uint8_t wrong;
	struct fl_cqe e;

	shared_make(&s, 8);
	post_srq(&s, 8);
	STEP("with a receive in its hands: behind that one's completion");
	EXPECT(unit_take(s.b.u, s.one.s.qp, &r, &wrong));
	EXPECT_EQ(unit_to(s.b.u, &s.one.s, FL_STATE_ERROR), FL_ST_OK);
	unit_run(s.b.u);
	EXPECT(rig_poll(s.b.u->r, &s.one.s, &e));
	EXPECT_EQ(e.status, FL_ST_FLUSHED);
	rig_expect_event(s.b.u->r, FL_EV_LAST_RECV, s.one.s.qp, 0);
	EXPECT_EQ(unit_to(s.b.u, &s.one.s, FL_STATE_ERROR), FL_ST_OK);
	EXPECT(!rig_event(s.b.u->r));
	STEP("with none, and by itself: behind the event that says why it ended");
	s.b.u->fw.pair_error(s.b.u->fw.ctx, (uint16_t)FW_QP_PLACE(s.two.s.qp),
			     FL_ST_REMOTE_ACCESS, 0);
	unit_run(s.b.u);
	rig_expect_event(s.b.u->r, FL_EV_QP_ERROR, s.two.s.qp,
			 FL_ST_REMOTE_ACCESS | FL_ENDED_UNTOLD);
	rig_expect_event(s.b.u->r, FL_EV_LAST_RECV, s.two.s.qp, 0);
	EXPECT(!rig_event(s.b.u->r));
	STEP("one that is reset before says nothing; nor does one with a queue of its own");
	EXPECT_EQ(unit_to(s.b.u, &s.one.s, FL_STATE_RESET), FL_ST_OK);
	EXPECT_EQ(unit_to(s.b.u, &s.b.p.s, FL_STATE_ERROR), FL_ST_OK);
	unit_run(s.b.u);
	EXPECT(!rig_event(s.b.u->r));
}

TEST("a shared queue in use is not destroyed, and its domain neither")
{
	struct shared s = { 0 };

	shared_make(&s, 8);
	EXPECT_EQ(CMD(s.b.u->r, SRQ_DESTROY, .slot = 1, .object = s.srq),
		  FL_ST_BUSY);
	EXPECT_EQ(CMD(s.b.u->r, QP_DESTROY, .slot = 1, .object = s.one.s.qp),
		  FL_ST_OK);
	EXPECT_EQ(CMD(s.b.u->r, SRQ_DESTROY, .slot = 1, .object = s.srq),
		  FL_ST_BUSY);
	EXPECT_EQ(CMD(s.b.u->r, QP_DESTROY, .slot = 1, .object = s.two.s.qp),
		  FL_ST_OK);
	EXPECT_EQ(CMD(s.b.u->r, SRQ_DESTROY, .slot = 2, .object = s.srq),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(s.b.u->r, SRQ_DESTROY, .slot = 1, .object = s.srq),
		  FL_ST_OK);
	EXPECT_EQ(CMD(s.b.u->r, SRQ_DESTROY, .slot = 1, .object = s.srq),
		  FL_ST_NO_OBJECT);
	STEP("a process that ends takes all with it");
	shared_make(&s, 8);
	EXPECT_EQ(CMD(s.b.u->r, SLOT_CLOSE, .slot = 1), FL_ST_OK);
	EXPECT(fw_idle(s.b.u->r->fw));
	EXPECT(!s.b.u->r->fw->srqs);
}

TEST("the limit tells once, when fewer are left")
{
	struct shared s = { 0 };
	struct fw_recv r;
	uint8_t wrong;
	uint32_t i;

	shared_make(&s, 8);
	for (i = 0; i < 4; i++)
		post_srq(&s, 8);
	EXPECT_EQ(CMD(s.b.u->r, SRQ_LIMIT, .slot = 1, .object = s.srq, .a = 9),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(s.b.u->r, SRQ_LIMIT, .slot = 1, .object = 63, .a = 1),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(s.b.u->r, SRQ_LIMIT, .slot = 1, .object = s.srq, .a = 3),
		  FL_ST_OK);
	for (i = 0; i < 4; i++) {
		EXPECT(!rig_event(s.b.u->r));
		EXPECT(unit_take(s.b.u, s.one.s.qp, &r, &wrong));
		unit_arrive(s.b.u, s.one.s.qp, &r, message);
		if (i == 1)
			rig_expect_event(s.b.u->r, FL_EV_SRQ_LIMIT, s.srq, 0);
	}
	EXPECT(!rig_event(s.b.u->r));
	STEP("one that is passed already tells at once");
	EXPECT_EQ(CMD(s.b.u->r, SRQ_LIMIT, .slot = 1, .object = s.srq, .a = 1),
		  FL_ST_OK);
	rig_expect_event(s.b.u->r, FL_EV_SRQ_LIMIT, s.srq, 0);
}

TEST("a doorbell beyond a shared queue is refused, and hurts nobody")
{
	struct shared s = { 0 };
	struct fw_recv r;
	uint8_t wrong;

	shared_make(&s, 8);
	s.tail = 9;
	EXPECT_EQ(ring_srq(&s), -22);
	EXPECT(!unit_take(s.b.u, s.one.s.qp, &r, &wrong));
	EXPECT(s.b.u->qp[FW_QP_PLACE(s.one.s.qp)].open);
	s.tail = 0;
	post_srq(&s, 8);
	EXPECT(unit_take(s.b.u, s.one.s.qp, &r, &wrong));
}

TEST("queues that make no sense, or are another's, are not attached")
{
	static const struct { uint64_t a, b; } bad[] = {
		{ 0x8000, 1 }, { 0x8000, 3 }, { 0x8000, 65536 },
		{ 0x8020, 4 }, { ~63ull, 4 }, { 0x8000, 0 },
	};
	struct rig_slot other;
	struct bench b = { 0 };
	uint32_t qp, srq, cq, foreign, pd;
	struct rig *r;
	size_t i;

	bench_make(&b);
	r = b.u->r;
	cq = b.p.s.cq;
	rig_slot(r, &other, 2);
	EXPECT_EQ(CMD(r, SRQ_CREATE, .slot = 2, .a = 0x8000, .b = 4,
		      .c = other.pd), FL_ST_OK);
	foreign = (uint32_t)r->result;
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = 0x9000, .b = 4, .c = cq,
		      .d = b.p.s.pd, .flags = FL_QP_RC), FL_ST_OK);
	qp = (uint32_t)r->result;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("queue %zu", i);
		EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 1, .object = qp, .c = cq,
			      .a = bad[i].a, .b = bad[i].b),
			  FL_ST_BAD_ARGUMENT);
		EXPECT_EQ(CMD(r, SRQ_CREATE, .slot = 1, .c = b.p.s.pd,
			      .a = bad[i].a, .b = bad[i].b),
			  FL_ST_BAD_ARGUMENT);
	}
	STEP("of another process, or nobody's");
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 1, .object = qp, .c = other.cq,
		      .a = 0x8000, .b = 4), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 1, .object = qp, .c = 999,
		      .a = 0x8000, .b = 4), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 1, .object = qp, .c = cq,
		      .d = 1 + foreign), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 1, .object = qp, .c = cq,
		      .d = ~0ull), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 2, .object = qp, .c = other.cq),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, SRQ_CREATE, .slot = 1, .a = 0x8000, .b = 4,
		      .c = other.pd), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, SRQ_LIMIT, .slot = 1, .object = foreign, .a = 1),
		  FL_ST_NO_OBJECT);
	STEP("a queue pair of the engine; a shared queue of another domain");
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 2, .object = other.qp,
		      .c = other.cq, .a = 0x8000, .b = 4), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, PD_CREATE, .slot = 1), FL_ST_OK);
	pd = (uint32_t)r->result;
	EXPECT_EQ(CMD(r, SRQ_CREATE, .slot = 1, .a = 0x8000, .b = 4, .c = pd),
		  FL_ST_OK);
	srq = (uint32_t)r->result;
	EXPECT_EQ(CMD(r, PD_DESTROY, .slot = 1, .object = pd), FL_ST_BUSY);
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 1, .object = qp, .c = cq,
		      .d = 1 + srq), FL_ST_BAD_ARGUMENT);
	srq = make_srq(&b, 8);
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 1, .object = qp, .c = cq,
		      .a = 0x8000, .b = 4, .d = 1 + srq), FL_ST_BAD_ARGUMENT);
	STEP("twice; and when it is no longer in RESET");
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 1, .object = qp, .c = cq,
		      .d = 1 + srq), FL_ST_OK);
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 1, .object = qp, .c = cq,
		      .d = 1 + srq), FL_ST_BUSY);
	EXPECT_EQ(CMD(r, RQ_ATTACH, .slot = 1, .object = b.p.s.qp, .c = cq),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, CQ_DESTROY, .slot = 1, .object = cq), FL_ST_BUSY);
}

TEST("a card has 64 shared receive queues, and numbers go round")
{
	struct bench b = { 0 };
	uint32_t i;

	bench_make(&b);
	for (i = 0; i < FW_SRQS; i++) {
		EXPECT_EQ(CMD(b.u->r, SRQ_CREATE, .slot = 1, .a = 0x8000,
			      .b = 4, .c = b.p.s.pd), FL_ST_OK);
		EXPECT_EQ(b.u->r->result, i);
	}
	EXPECT_EQ(CMD(b.u->r, SRQ_CREATE, .slot = 1, .a = 0x8000, .b = 4,
		      .c = b.p.s.pd), FL_ST_NO_ROOM);
	EXPECT_EQ(CMD(b.u->r, SRQ_DESTROY, .slot = 1, .object = 7), FL_ST_OK);
	EXPECT_EQ(CMD(b.u->r, SRQ_CREATE, .slot = 1, .a = 0x8000, .b = 4,
		      .c = b.p.s.pd), FL_ST_OK);
	EXPECT_EQ(b.u->r->result, 7);
}
