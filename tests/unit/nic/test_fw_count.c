// SPDX-License-Identifier: BSD-2-Clause
/* Event counters of the firmware: who may have them, name them, and hear of them. */
#include <errno.h>

#include "rig/fw_bench.h"

#define WORD(n)	(0x30000 + 64 * (n))

static struct fl_count word_at(const struct bench *b, unsigned int n)
{
	struct fl_count c;

	memcpy(&c, b->u->r->mem + WORD(n), sizeof(c));
	return c;
}

static uint32_t counter_make(struct bench *b, uint32_t slot, unsigned int n)
{
	memset(b->u->r->mem + WORD(n), 0xFF, 4);
	EXPECT_EQ(CMD(b->u->r, COUNTER_CREATE, .slot = slot, .a = WORD(n)), FL_ST_OK);
	return (uint32_t)b->u->r->result;
}

static uint8_t counter_rise(struct bench *b, uint32_t counter, bool rise)
{
	return b->u->fw.count(b->u->fw.ctx, (uint16_t)FW_QP_PLACE(b->p.s.qp),
			      (uint16_t)counter, rise, 0);
}

static int counter_arm(struct bench *b, uint32_t slot, uint32_t counter, uint32_t seen)
{
	return rig_write(b->u->r, NIC_DB_BASE(slot) + NIC_DB_COUNTER_ARM,
			 counter | seen << 16);
}

TEST("a counter begins at 0 and counts in memory")
{
	struct bench b = { 0 };
	uint32_t n, i;

	bench_make(&b);
	n = counter_make(&b, 1, 0);
	EXPECT_NE(n, 0);
	EXPECT_EQ(word_at(&b, 0).count, 0);
	for (i = 1; i < 10; i++) {
		EXPECT_EQ(counter_rise(&b, n, false), FL_ST_OK);
		EXPECT_EQ(counter_rise(&b, n, true), FL_ST_OK);
		EXPECT_EQ(word_at(&b, 0).count, i);
	}
}

TEST("who armed it hears of one rise, or at once of one that it has not seen")
{
	struct bench b = { 0 };
	uint32_t n;

	bench_make(&b);
	n = counter_make(&b, 1, 0);
	EXPECT_EQ(counter_rise(&b, n, true), FL_ST_OK);
	unit_run(b.u);
	EXPECT(!rig_event(b.u->r));
	STEP("armed with what it is: the next rise tells");
	EXPECT_EQ(counter_arm(&b, 1, n, 1), 0);
	unit_run(b.u);
	EXPECT(!rig_event(b.u->r));
	EXPECT_EQ(counter_rise(&b, n, true), FL_ST_OK);
	unit_run(b.u);
	rig_expect_event(b.u->r, FL_EV_COUNTER, n, 0);
	EXPECT_EQ(counter_rise(&b, n, true), FL_ST_OK);
	unit_run(b.u);
	EXPECT(!rig_event(b.u->r));
	STEP("armed with what it was: at once");
	EXPECT_EQ(counter_arm(&b, 1, n, 2), 0);
	unit_run(b.u);
	rig_expect_event(b.u->r, FL_EV_COUNTER, n, 0);
}

TEST("a process has its own counters, and no other's")
{
	struct bench b = { 0 };
	struct rig_slot other;
	uint32_t n;

	bench_make(&b);
	rig_slot(b.u->r, &other, 2);
	n = counter_make(&b, 2, 0);
	EXPECT_EQ(counter_rise(&b, n, true), FL_ST_SEEN_KEY);
	EXPECT_EQ(counter_rise(&b, 0, true), FL_ST_SEEN_KEY);
	EXPECT_EQ(counter_rise(&b, FW_COUNTERS + 1, true), FL_ST_SEEN_KEY);
	EXPECT_EQ(word_at(&b, 0).count, 0);
	EXPECT_EQ(counter_arm(&b, 1, n, 0), -EINVAL);
	EXPECT_EQ(CMD(b.u->r, COUNTER_DESTROY, .slot = 1, .object = n),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(b.u->r, COUNTER_DESTROY, .slot = 2, .object = n), FL_ST_OK);
	EXPECT_EQ(CMD(b.u->r, COUNTER_DESTROY, .slot = 2, .object = n),
		  FL_ST_NO_OBJECT);
	STEP("with the process its counters go");
	n = counter_make(&b, 2, 1);
	EXPECT_EQ(counter_arm(&b, 2, n, 9), 0);
	EXPECT_EQ(CMD(b.u->r, SLOT_CLOSE, .slot = 2), FL_ST_OK);
	EXPECT_EQ(counter_arm(&b, 2, n, 0), -EINVAL);
}

TEST("counters that make no sense, or are too many, are refused")
{
	struct bench b = { 0 };
	uint32_t i;

	bench_make(&b);
	EXPECT_EQ(CMD(b.u->r, COUNTER_CREATE, .slot = 1, .a = WORD(0) + 4),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(b.u->r, COUNTER_CREATE, .slot = 1, .a = WORD(0), .b = 1),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(b.u->r, COUNTER_CREATE, .slot = 1, .a = 1ull << 60),
		  FL_ST_BUS_ERROR);
	for (i = 0; i < FW_COUNTERS; i++)
		counter_make(&b, 1, 0);
	EXPECT_EQ(CMD(b.u->r, COUNTER_CREATE, .slot = 1, .a = WORD(0)),
		  FL_ST_NO_ROOM);
	STEP("a card without the transport has none");
	b.u->r->fragments = NULL;
	rig_restart(b.u->r);
	EXPECT_EQ(CMD(b.u->r, SLOT_OPEN, .slot = 1, .a = 5), FL_ST_OK);
	EXPECT_EQ(CMD(b.u->r, COUNTER_CREATE, .slot = 1, .a = WORD(0)),
		  FL_ST_BAD_ARGUMENT);
}

/* A WRITE on a queue pair of fragments. */
static struct fl_wqe nv_wqe(const struct unit_side *p)
{
	return (struct fl_wqe){
		.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED, .index = p->s.tail,
		.length = 8, .local_va = RIG_VA, .lkey = p->s.key, .remote_va = 0x5000,
		.rkey = 77, .wr_id = 1,
	};
}

static void nv_make(struct bench *b, struct unit_side *p)
{
	bench_make(b);
	*p = b->p;
	p->s.sq_pa = 0xA000;
	p->s.tail = 0;
	EXPECT_EQ(CMD(b->u->r, QP_CREATE, .slot = 1, .a = p->s.sq_pa,
		      .b = p->s.sq_size, .c = p->s.cq, .d = p->s.pd,
		      .flags = FL_QP_NV), FL_ST_OK);
	p->s.qp = (uint32_t)b->u->r->result;
	EXPECT_EQ(CMD(b->u->r, RQ_ATTACH, .slot = 1, .object = p->s.qp, .c = p->s.cq),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(b->u->r, QP_CONNECT, .slot = 1, .object = p->s.qp, .a = 2, .b = 9),
		  FL_ST_OK);
}

static uint8_t nv_post(struct bench *b, struct unit_side *p, struct fl_wqe e)
{
	struct fl_cqe c;

	memcpy(b->u->r->mem + p->s.sq_pa + 64 * (p->s.tail % p->s.sq_size), &e, 64);
	p->s.tail++;
	EXPECT_EQ(rig_ring(b->u->r, &p->s), 0);
	unit_run(b->u);
	if (!rig_poll(b->u->r, &p->s, &c))
		return FL_ST_OK;
	return c.status;
}

TEST("queue pairs of fragments write, and their WRITEs may name a counter; all else is refused")
{
	struct bench b = { 0 };
	struct unit_side p;
	struct fl_wqe e;
	unsigned int i;
	static const struct {
		uint8_t opcode, flags;
		uint32_t imm;
		uint8_t status;
	} list[] = {
		{ FL_OP_READ, 0, 0, FL_ST_BAD_OPCODE },
		{ FL_OP_SEND, 0, 0, FL_ST_BAD_OPCODE },
		{ FL_OP_FETCH_ADD, 0, 0, FL_ST_BAD_OPCODE },
		{ FL_OP_WRITE, FL_WQE_IMM, 1, FL_ST_BAD_ENTRY },
		{ FL_OP_WRITE, FL_WQE_SOLICITED, 0, FL_ST_BAD_ENTRY },
		{ FL_OP_WRITE, FL_WQE_NOTIFY, 0, FL_ST_BAD_ENTRY },
		{ FL_OP_WRITE, FL_WQE_NOTIFY, 65536, FL_ST_BAD_ENTRY },
		{ FL_OP_WRITE, 0, 5, FL_ST_BAD_ENTRY },
	};

	nv_make(&b, &p);
	e = nv_wqe(&p);
	e.flags |= FL_WQE_NOTIFY | FL_WQE_FENCE;
	e.imm = 65535;
	EXPECT_EQ(nv_post(&b, &p, e), FL_ST_OK);
	EXPECT_EQ(b.u->work[0].imm, 65535);
	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		nv_make(&b, &p);
		e = nv_wqe(&p);
		e.opcode = list[i].opcode;
		e.flags |= list[i].flags;
		e.imm = list[i].imm;
		EXPECT_EQ(nv_post(&b, &p, e), list[i].status);
	}
	STEP("a reliable connection names no counter");
	bench_make(&b);
	e = nv_wqe(&b.p);
	e.flags |= FL_WQE_NOTIFY;
	e.imm = 1;
	EXPECT_EQ(nv_post(&b, &b.p, e), FL_ST_BAD_ENTRY);
}
