// SPDX-License-Identifier: BSD-2-Clause
/* Receive queues, of one queue pair or shared, and what their entries become. */
#include "rig/fw_bench.h"

static const struct fw_arrival message = {
	.opcode = FL_OP_RECV, .length = 77,
};

TEST("messages take receives in the order of posting, and complete with all they bring")
{
	static const uint8_t opcodes[] = { FL_OP_RECV, FL_OP_RECV_IMM,
					   FL_OP_RECV_WRITE_IMM };
	struct bench b = { 0 };
	struct fw_recv r;
	uint8_t wrong;
	uint16_t i;

	bench_make(&b);
	EXPECT(!unit_take(b.u, b.p.s.qp, &r, &wrong));
	for (i = 0; i < 16; i++)
		unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 100 + i));
	for (i = 0; i < 16; i++) {
		struct fw_arrival a = { .opcode = opcodes[i % 3],
					.length = 50 + i, .imm = 0xABC0 + i };
		struct fl_cqe e;

		EXPECT(unit_take(b.u, b.p.s.qp, &r, &wrong));
		EXPECT_EQ(wrong, FL_ST_OK);
		EXPECT_EQ(r.index, i);
		EXPECT_EQ(r.wr_id, 5000 + i);
		EXPECT_EQ(r.xfer, 90000 + i);
		EXPECT_EQ(r.length, 100 + i);
		EXPECT_EQ(r.srq, FW_NO_SRQ);
		EXPECT_EQ(r.segments, 1);
		EXPECT_EQ(r.segment[0].va, RIG_VA);
		EXPECT_EQ(r.segment[0].key, b.p.s.key);
		unit_expect_none(b.u, &b.p);
		unit_arrive(b.u, b.p.s.qp, &r, a);
		e = unit_cqe(b.u, &b.p);
		EXPECT_EQ(e.opcode, opcodes[i % 3]);
		EXPECT_EQ(e.index, i);
		EXPECT_EQ(e.wr_id, 5000 + i);
		EXPECT_EQ(e.xfer, 90000 + i);
		EXPECT_EQ(e.length, 50 + i);
		EXPECT_EQ(e.resends, 0xABC0 + i);
		EXPECT_EQ(e.status, FL_ST_OK);
	}
	EXPECT(!unit_take(b.u, b.p.s.qp, &r, &wrong));
	EXPECT(fw_idle(b.u->r->fw));
}

TEST("a receive has 0 to 3 segments")
{
	struct bench b = { 0 };
	struct fw_recv r;
	uint8_t wrong;
	uint32_t n, i;

	bench_make(&b);
	for (n = 0; n <= 3; n++) {
		struct fl_rqe e = unit_rqe(&b.p, 10);

		e.count = (uint8_t)n;
		if (!n)
			e.va0 = e.bytes0 = e.key0 = 0;
		if (n > 1) {
			e.va1 = RIG_VA + 100;
			e.bytes1 = 20;
			e.key1 = b.p.s.key;
		}
		if (n > 2) {
			e.va2 = RIG_VA + 200;
			e.bytes2 = 30;
			e.key2 = b.p.s.key;
		}
		unit_post_recv(b.u, &b.p, e);
		EXPECT(unit_take(b.u, b.p.s.qp, &r, &wrong));
		EXPECT_EQ(wrong, FL_ST_OK);
		EXPECT_EQ(r.segments, n);
		EXPECT_EQ(r.length, n * (n + 1) / 2 * 10);
		for (i = 0; i < n; i++)
			EXPECT_EQ(r.segment[i].va, RIG_VA + 100 * i);
		unit_arrive(b.u, b.p.s.qp, &r, message);
		UNIT_EXPECT_CQE(b.u, &b.p, (uint16_t)n, FL_OP_RECV, FL_ST_OK);
	}
}

TEST("one that was taken and not ended is the same one when it is asked for again")
{
	struct bench b = { 0 };
	struct fw_recv r, again;
	uint8_t wrong;

	bench_make(&b);
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 10));
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 20));
	EXPECT(unit_take(b.u, b.p.s.qp, &r, &wrong));
	/* What the process writes over it now changes nothing. */
	memset(b.u->r->mem + b.p.rq_pa, 0x5A, 64);
	EXPECT(unit_take(b.u, b.p.s.qp, &again, &wrong));
	EXPECT_EQ(wrong, FL_ST_OK);
	EXPECT_MEM(&again, &r, sizeof(r));
	unit_arrive(b.u, b.p.s.qp, &r, message);
	EXPECT(unit_take(b.u, b.p.s.qp, &r, &wrong));
	EXPECT_EQ(r.index, 1);
}

static void bad_recv(struct bench *b, struct fl_rqe *e, uint32_t k)
{
	e->count = 2;
	e->va1 = RIG_VA;
	e->bytes1 = 8;
	e->key1 = b->p.s.key;
	if (k == 0)
		e->index++;
	if (k == 1)
		e->flags = 1;
	if (k == 2)
		e->count = 4;
	if (k == 3)
		e->count = 1;	/* with a second segment */
	if (k == 4)
		e->va2 = 1;
	if (k == 5)
		e->bytes2 = 1;
	if (k == 6)
		e->key2 = 1;
	if (k == 7)
		e->bytes0 = 0;
	if (k == 8)
		e->va1 = ~0ull - 3;
	if (k == 9)
		e->bytes0 = 1u << 31;
	if (k == 10)
		e->key0 ^= 1u << 12;
	if (k == 11)
		e->va1 = RIG_VA + RIG_BYTES - 7;
	if (k == 12)
		e->key1 = b->key;
}

TEST("a malformed receive is taken, completes with its own status, and ends the connection")
{
	static const uint8_t status[] = {
		FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY,
		FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY,
		FL_ST_BAD_ENTRY, FL_ST_BAD_LENGTH, FL_ST_BAD_LENGTH,
		FL_ST_BAD_LENGTH, FL_ST_LOCAL_KEY, FL_ST_LOCAL_RANGE,
		FL_ST_LOCAL_RIGHTS, FL_ST_BUS_ERROR,
	};
	struct bench b = { 0 };
	uint32_t k, says;

	/* A unit may say how the receive ended, or only that the pair has. */
	for (k = 0; k < 2 * sizeof(status); k++) {
		uint8_t wrong, want = status[k / 2];
		struct fl_rqe e;
		struct fw_recv r;

		STEP("entry %u", k);
		bench_make(&b);
		says = k % 2;
		e = unit_rqe(&b.p, 10);
		bad_recv(&b, &e, k / 2);
		if (want == FL_ST_BUS_ERROR) {
			b.u->r->bad_from = b.p.rq_pa;
			b.u->r->bad_to = b.p.rq_pa + 1;
			unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 10));
		}
		if (want != FL_ST_BUS_ERROR)
			unit_post_recv(b.u, &b.p, e);
		unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 20));
		EXPECT(unit_take(b.u, b.p.s.qp, &r, &wrong));
		EXPECT_EQ(wrong, want);
		if (says)
			unit_arrive(b.u, b.p.s.qp, &r, (struct fw_arrival){
				    .opcode = FL_OP_RECV, .status = wrong });
		b.u->fw.pair_error(b.u->fw.ctx,
				   (uint16_t)FW_QP_PLACE(b.p.s.qp), wrong, 0);
		unit_run(b.u);
		UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_RECV, want);
		UNIT_EXPECT_CQE(b.u, &b.p, 1, FL_OP_RECV, FL_ST_FLUSHED);
		unit_expect_none(b.u, &b.p);
		EXPECT_EQ(bench_qp(&b)->closes, 1);
		EXPECT(fw_idle(b.u->r->fw));
	}
}

TEST("a message that is too long ends its receive with LENGTH")
{
	struct bench b = { 0 };
	struct fw_recv r;
	struct fl_cqe e;
	uint8_t wrong;

	bench_make(&b);
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 10));
	EXPECT(unit_take(b.u, b.p.s.qp, &r, &wrong));
	unit_arrive(b.u, b.p.s.qp, &r, (struct fw_arrival){
		    .opcode = FL_OP_RECV, .status = FL_ST_LENGTH,
		    .length = 11 });
	e = unit_cqe(b.u, &b.p);
	EXPECT_EQ(e.status, FL_ST_LENGTH);
	EXPECT_EQ(e.length, 0);
}

TEST("a connection that ends in the middle of a message flushes its receive first, once")
{
	struct bench b = { 0 };
	struct fw_recv r;
	uint8_t wrong;
	uint16_t i;

	bench_make(&b);
	for (i = 0; i < 5; i++)
		unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 10));
	EXPECT(unit_take(b.u, b.p.s.qp, &r, &wrong));
	unit_arrive(b.u, b.p.s.qp, &r, message);
	EXPECT(unit_take(b.u, b.p.s.qp, &r, &wrong));
	rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 10));
	unit_end(b.u, b.p.s.qp, FL_ST_NO_ANSWER);
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_RECV, FL_ST_OK);
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_WRITE, FL_ST_NO_ANSWER);
	for (i = 1; i < 5; i++) {
		struct fl_cqe e = unit_cqe(b.u, &b.p);

		EXPECT_EQ(e.index, i);
		EXPECT_EQ(e.wr_id, 5000 + i);
		EXPECT_EQ(e.status, FL_ST_FLUSHED);
	}
	unit_expect_none(b.u, &b.p);
	EXPECT(fw_idle(b.u->r->fw));
}

TEST("doorbells beyond the queue end the pair; those of others are refused")
{
	struct bench b = { 0 };
	struct unit_side two;

	bench_make(&b);
	b.p.rq_tail = 16;
	EXPECT_EQ(unit_ring_recv(b.u, &b.p), 0);
	unit_run(b.u);
	EXPECT(bench_qp(&b)->open);
	b.p.rq_tail = 17;
	EXPECT_EQ(unit_ring_recv(b.u, &b.p), 0);
	unit_run(b.u);
	EXPECT(!bench_qp(&b)->open);
	rig_expect_event(b.u->r, FL_EV_QP_ERROR, b.p.s.qp,
			 FL_ST_BAD_ENTRY | FL_ENDED_UNTOLD);
	STEP("a doorbell that goes back changes nothing");
	bench_make(&b);
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 10));
	unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 10));
	b.p.rq_tail = 1;
	EXPECT_EQ(unit_ring_recv(b.u, &b.p), 0);
	EXPECT_EQ(b.u->r->fw->qp[FW_QP_PLACE(b.p.s.qp)].rq.tail, 2);
	STEP("another process; a queue pair of the engine; numbers that are none");
	unit_side(b.u, &two, 2);
	two.s.slot = 1;
	EXPECT_EQ(unit_ring_recv(b.u, &two), -22);
	rig_slot(b.u->r, &two.s, 3);
	EXPECT_EQ(unit_ring_recv(b.u, &two), -22);
	EXPECT_EQ(rig_write(b.u->r, NIC_DB_BASE(1) + NIC_DB_RQ, 0xFFFF), -22);
	EXPECT_EQ(rig_write(b.u->r, NIC_DB_BASE(1) + NIC_DB_SRQ, 0), -22);
	EXPECT_EQ(rig_write(b.u->r, NIC_DB_BASE(1) + NIC_DB_SRQ, 0xFFFF), -22);
}

TEST("a queue pair without receives has none, and its completions of them nowhere to go")
{
	struct bench b = { 0 };
	struct fw_recv r;
	uint8_t wrong;
	uint32_t qp;

	bench_make(&b);
	EXPECT_EQ(CMD(b.u->r, QP_CREATE, .slot = 1, .a = 0x9000, .b = 4,
		      .c = b.p.s.cq, .d = b.p.s.pd, .flags = FL_QP_RC),
		  FL_ST_OK);
	qp = (uint32_t)b.u->r->result;
	EXPECT_EQ(CMD(b.u->r, QP_CONNECT, .slot = 1, .object = qp, .a = 2,
		      .b = 3), FL_ST_OK);
	EXPECT(!unit_take(b.u, qp, &r, &wrong));
	EXPECT_EQ(rig_write(b.u->r, NIC_DB_BASE(1) + NIC_DB_RQ,
			    (qp & NIC_DB_RQ_QPN_MASK) | 1u << 16), -22);
	EXPECT_EQ(CMD(b.u->r, QP_DESTROY, .slot = 1, .object = qp), FL_ST_OK);
}

/* ---- solicited completions ---- */

static int bench_arm(struct bench *b, uint32_t reg)
{
	return rig_write(b->u->r, NIC_DB_BASE(1) + reg,
			 b->p.s.cq | b->p.s.cons << 16);
}

static void bench_receive(struct bench *b, bool solicited, uint8_t status)
{
	struct fw_recv r;
	uint8_t wrong;

	unit_post_recv(b->u, &b->p, unit_rqe(&b->p, 100));
	EXPECT(unit_take(b->u, b->p.s.qp, &r, &wrong));
	unit_arrive(b->u, b->p.s.qp, &r, (struct fw_arrival){
		    .opcode = FL_OP_RECV, .length = 1, .status = status,
		    .solicited = solicited });
}

TEST("who waits for solicited completions sleeps through the others")
{
	struct bench b = { 0 };
	struct fl_cqe e;

	bench_make(&b);
	EXPECT_EQ(bench_arm(&b, NIC_DB_CQ_ARM_SOLICITED), 0);
	bench_receive(&b, false, FL_ST_OK);
	bench_receive(&b, false, FL_ST_OK);
	EXPECT(!rig_event(b.u->r));
	bench_receive(&b, true, FL_ST_OK);
	rig_expect_event(b.u->r, FL_EV_CQ, b.p.s.cq, 0);
	bench_receive(&b, true, FL_ST_OK);
	EXPECT(!rig_event(b.u->r));
	STEP("armed again with one of them not taken: at once");
	EXPECT_EQ(bench_arm(&b, NIC_DB_CQ_ARM_SOLICITED), 0);
	unit_run(b.u);
	rig_expect_event(b.u->r, FL_EV_CQ, b.p.s.cq, 0);
	while (rig_poll(b.u->r, &b.p.s, &e))
		;
	STEP("one that is not, not taken: it is not woken");
	bench_receive(&b, false, FL_ST_OK);
	EXPECT_EQ(bench_arm(&b, NIC_DB_CQ_ARM_SOLICITED), 0);
	unit_run(b.u);
	EXPECT(!rig_event(b.u->r));
	STEP("an error wakes in any case");
	bench_receive(&b, false, FL_ST_LENGTH);
	rig_expect_event(b.u->r, FL_EV_CQ, b.p.s.cq, 0);
	while (rig_poll(b.u->r, &b.p.s, &e))
		;
	STEP("armed for any, it stays armed for any");
	EXPECT_EQ(bench_arm(&b, NIC_DB_CQ_ARM), 0);
	EXPECT_EQ(bench_arm(&b, NIC_DB_CQ_ARM_SOLICITED), 0);
	bench_receive(&b, false, FL_ST_OK);
	rig_expect_event(b.u->r, FL_EV_CQ, b.p.s.cq, 0);
	STEP("a queue of another process, and too much taken");
	EXPECT_EQ(rig_write(b.u->r, NIC_DB_BASE(2) + NIC_DB_CQ_ARM_SOLICITED,
			    b.p.s.cq), -22);
	b.p.s.cons += 2;
	EXPECT_EQ(bench_arm(&b, NIC_DB_CQ_ARM_SOLICITED), -22);
}

TEST("sends and receives at random: each completes once, in the order of its queue")
{
	uint64_t seed = test_seed() + 31;
	struct bench b = { 0 };
	uint32_t round, sends = 0, receives = 0, errors = 0, i;

	for (round = 0; round < 40; round++) {
		uint16_t sent = 0, received = 0;
		bool failed = false, failed_send = false;
		struct fw_recv r;
		struct fl_cqe e;
		uint8_t wrong;

		bench_make(&b);
		for (i = 0; i < 400; i++) {
			uint32_t what = rig_random(&seed) % 100;

			if (what < 30 && (uint16_t)(b.p.s.tail - sent) < 64)
				rig_post(b.u->r, &b.p.s, rig_wqe(&b.p.s, 9));
			else if (what < 60 &&
				 (uint16_t)(b.p.rq_tail - received) < 16)
				unit_post_recv(b.u, &b.p, unit_rqe(&b.p, 9));
			else if (what < 75 && bench_qp(&b)->open &&
				 bench_qp(&b)->begun != bench_qp(&b)->next)
				unit_end(b.u, b.p.s.qp, FL_ST_OK);
			else if (what < 90 && bench_qp(&b)->open &&
				 unit_take(b.u, b.p.s.qp, &r, &wrong) &&
				 what < 88)
				unit_arrive(b.u, b.p.s.qp, &r, message);
			else if (what == 99 && bench_qp(&b)->open && i > 200) {
				failed = true;
				failed_send = bench_qp(&b)->begun !=
					      bench_qp(&b)->next;
				if (failed_send)
					unit_end(b.u, b.p.s.qp,
						 FL_ST_NO_ANSWER);
				else
					EXPECT_EQ(unit_to(b.u, &b.p.s,
						  FL_STATE_ERROR), FL_ST_OK);
				unit_run(b.u);
			}
			while (rig_poll(b.u->r, &b.p.s, &e)) {
				bool recv = e.opcode == FL_OP_RECV;

				EXPECT_EQ(e.index, recv ? received : sent);
				EXPECT_EQ(e.wr_id, recv ? 5000u + received :
							  1000u + sent);
				EXPECT(!e.status || failed);
				errors += e.status != FL_ST_OK;
				if (recv)
					received++;
				else
					sent++;
				sends += !recv;
				receives += recv;
			}
		}
		if (!failed)
			continue;
		EXPECT_EQ(sent, b.p.s.tail);
		EXPECT_EQ(received, b.p.rq_tail);
		EXPECT(fw_idle(b.u->r->fw));
	}
	EXPECT(sends > 1000 && receives > 1000 && errors > 100);
}
