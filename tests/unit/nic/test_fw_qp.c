// SPDX-License-Identifier: BSD-2-Clause
/* Queue pairs: doorbells, bad work requests, completion and event queues. */
#include "rig/fw.h"

static struct fl_wqe qp_spoil(const struct rig_slot *w, unsigned int how,
			      uint8_t *status)
{
	struct fl_wqe e = rig_wqe(w, 4096);

	*status = FL_ST_BAD_ENTRY;
	switch (how) {
	case 0:
	case 1:
	case 2:
		e.opcode = (const uint8_t[]){ 0, FL_OP_READ_RESP, 255 }[how];
		*status = FL_ST_BAD_OPCODE;
		break;
	case 3:
		e.flags = 0xFF;
		break;
	case 4:
		e.index++;
		break;
	case 5:
		e.imm = 1;
		break;
	case 6:
		e.compare = 1ull << 63;
		break;
	case 7:
		e.swap = 1;
		break;
	case 8:
		e.length = 0;
		*status = FL_ST_BAD_LENGTH;
		break;
	case 9:
		e.local_va = ~0ull - 4094;
		*status = FL_ST_BAD_LENGTH;
		break;
	case 10:
		e.remote_va = ~0ull - 4094;
		*status = FL_ST_BAD_LENGTH;
		break;
	case 11:
		e.lkey = 0;
		*status = FL_ST_LOCAL_KEY;
		break;
	case 12:
		e.lkey += 1;
		*status = FL_ST_LOCAL_KEY;
		break;
	case 13:
		e.lkey = ~0u;
		*status = FL_ST_LOCAL_KEY;
		break;
	case 14:
		e.local_va = RIG_VA + RIG_BYTES - 4095;
		*status = FL_ST_LOCAL_RANGE;
		break;
	case 15:
		e.local_va = RIG_VA - 1;
		*status = FL_ST_LOCAL_RANGE;
		break;
	case 16:
		e.length = RIG_BYTES + 1;
		*status = FL_ST_LOCAL_RANGE;
		break;
	}
	return e;
}

TEST("each kind of bad work request has its status, and what follows is flushed")
{
	struct rig *r = rig_create(8);
	unsigned int how;

	for (how = 0; how <= 16; how++) {
		struct rig_slot w;
		struct fl_wqe e;
		uint8_t status;

		STEP("bad request number %u", how);
		rig_restart(r);
		rig_slot(r, &w, 1);
		e = rig_wqe(&w, 100);
		rig_put(r, &w, &e);
		e = qp_spoil(&w, how, &status);
		rig_put(r, &w, &e);
		e = rig_wqe(&w, 100);
		e.flags = 0;
		rig_put(r, &w, &e);
		EXPECT_EQ(rig_ring(r, &w), 0);
		rig_run(r);
		EXPECT_EQ(r->traced[EV_FW_WQE_BAD], 2);
		STEP("the request before it is sent, and completes first");
		EXPECT_EQ(rig_busy(r), 1);
		rig_drain(r);
		rig_expect_cqe(r, &w, 0, FL_ST_OK);
		rig_expect_cqe(r, &w, 1, status);
		rig_expect_cqe(r, &w, 2, FL_ST_FLUSHED);
		rig_expect_event(r, FL_EV_QP_ERROR, w.qp, status);
		EXPECT(!rig_event(r));
		STEP("what is posted later is flushed too");
		rig_post(r, &w, rig_wqe(&w, 100));
		rig_expect_cqe(r, &w, 3, FL_ST_FLUSHED);
		EXPECT_EQ(rig_busy(r), 0);
		EXPECT(!rig_event(r));
		EXPECT(fw_idle(r->fw));
	}
}

TEST("the last byte of a region and of the address space may be used")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct fl_wqe e;

	rig_slot(r, &w, 1);
	e = rig_wqe(&w, 1);
	e.local_va = RIG_VA + RIG_BYTES - 1;
	e.remote_va = ~0ull;
	rig_post(r, &w, e);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("a key of another slot or another domain does not open a region")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;
	struct fl_wqe e;
	uint32_t key;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	e = rig_wqe(&w, 100);
	e.lkey = v.key;
	rig_post(r, &w, e);
	rig_expect_cqe(r, &w, 0, FL_ST_LOCAL_KEY);
	EXPECT_EQ(CMD(r, PD_CREATE, .slot = 2), FL_ST_OK);
	key = rig_mr(r, 2, (uint32_t)r->result, RIG_VA, RIG_BYTES, 7);
	e = rig_wqe(&v, 100);
	e.lkey = key;
	rig_post(r, &v, e);
	rig_expect_cqe(r, &v, 0, FL_ST_LOCAL_KEY);
}

TEST("a READ into a region that the NIC may not write is refused")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct fl_wqe e;
	uint32_t key;

	rig_slot(r, &w, 1);
	key = rig_mr(r, 1, w.pd, RIG_VA, 4096,
		     FL_ACC_REMOTE_READ | FL_ACC_REMOTE_WRITE);
	e = rig_wqe(&w, 100);
	e.lkey = key;
	STEP("writing from it needs no right");
	rig_post(r, &w, e);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	e = rig_wqe(&w, 100);
	e.lkey = key;
	e.opcode = FL_OP_READ;
	rig_post(r, &w, e);
	rig_expect_cqe(r, &w, 1, FL_ST_LOCAL_RIGHTS);
}

TEST("a queue pair without a peer says so")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = w.sq_pa, .b = w.sq_size,
		      .c = w.cq, .d = w.pd), FL_ST_OK);
	w.qp = (uint32_t)r->result;
	rig_post(r, &w, rig_wqe(&w, 100));
	rig_expect_cqe(r, &w, 0, FL_ST_NOT_CONNECTED);
	rig_expect_event(r, FL_EV_QP_ERROR, w.qp, FL_ST_NOT_CONNECTED);
}

TEST("a queue whose memory fails gives a bus error, then flushes")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct fl_wqe e;

	rig_slot(r, &w, 1);
	r->bad_from = w.sq_pa + 64;
	r->bad_to = w.sq_pa + 128;
	e = rig_wqe(&w, 8);
	rig_put(r, &w, &e);
	rig_put(r, &w, &e);
	e.index = 2;
	rig_put(r, &w, &e);
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_BUS_ERROR);
	rig_expect_cqe(r, &w, 2, FL_ST_FLUSHED);
}

TEST("an entry is copied once; what the process writes later changes nothing")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	r->reads = 0;
	rig_post(r, &w, rig_wqe(&w, 100000));
	memset(r->mem + w.sq_pa, 0xFF, 64);
	EXPECT_EQ(r->reads, 1);
	for (i = 0; i < 7; i++) {
		EXPECT_EQ(r->ctx[r->order[i]].lva, RIG_VA + i * RIG_BLOCK);
		rig_end(r, r->order[i], FL_ST_OK);
		rig_run(r);
	}
	EXPECT_EQ(r->reads, 1);
	EXPECT_EQ(rig_busy(r), 0);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("a doorbell page rings only the bells of its own slot")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;
	uint32_t page = NIC_DB_BASE(2);

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	EXPECT_EQ(rig_write(r, page + NIC_DB_SQ, w.qp | 1 << 16), -22);
	EXPECT_EQ(rig_write(r, page + NIC_DB_CQ_ARM, w.cq), -22);
	EXPECT_EQ(rig_write(r, page + NIC_DB_CQ_CONS, w.cq), -22);
	EXPECT_EQ(rig_write(r, page + NIC_DB_SQ, 200 | 1 << 16), -22);
	EXPECT_EQ(rig_write(r, page + NIC_DB_SQ, 0xFFFF | 1 << 16), -22);
	EXPECT_EQ(rig_write(r, page + NIC_DB_CQ_ARM, 0xFFFF), -22);
	rig_run(r);
	EXPECT(fw_idle(r->fw));
	EXPECT_EQ(r->traced[EV_ENG_BAD_REG], 6);
}

TEST("a doorbell that is more than the queue ahead puts the queue pair into error")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 100));
	STEP("64 entries may be ahead, 65 may not");
	w.tail = 1 + 64 + 1;
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 0);
	rig_expect_cqe(r, &w, 0, FL_ST_FLUSHED);
	rig_expect_event(r, FL_EV_QP_ERROR, w.qp,
			 FL_ST_BAD_ENTRY | FL_ENDED_UNTOLD);
	w.tail = 2;
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	rig_expect_cqe(r, &w, 1, FL_ST_FLUSHED);
	EXPECT(!rig_event(r));
}

TEST("a doorbell that comes late changes nothing")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct fl_wqe e;

	rig_slot(r, &w, 1);
	e = rig_wqe(&w, 100);
	rig_put(r, &w, &e);
	e = rig_wqe(&w, 100);
	rig_put(r, &w, &e);
	EXPECT_EQ(rig_ring(r, &w), 0);
	w.tail = 1;
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 2);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_OK);
}

TEST("a queue goes on when its count wraps at 65536, and the completion queue too")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	for (i = 0; i < 66000; i++) {
		struct fl_wqe e = rig_wqe(&w, 8);

		rig_post(r, &w, e);
		rig_end(r, r->order[(r->started - 1) % 16], FL_ST_OK);
		rig_run(r);
		rig_expect_cqe(r, &w, (uint16_t)i, FL_ST_OK);
	}
	EXPECT(fw_idle(r->fw));
}

TEST("a full completion queue is not overwritten: it breaks and its senders stop")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;
	uint8_t before[64];
	uint32_t i;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	EXPECT_EQ(CMD(r, CQ_CREATE, .slot = 1, .a = 0x20000, .b = 2), FL_ST_OK);
	w.cq = (uint32_t)r->result;
	w.cq_pa = 0x20000;
	w.cq_size = 2;
	w.qp = rig_qp(r, &w, w.sq_pa, w.sq_size);
	for (i = 0; i < 40; i++) {
		struct fl_wqe e = rig_wqe(&w, 8);

		rig_put(r, &w, &e);
	}
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	rig_end(r, r->order[0], FL_ST_OK);
	rig_end(r, r->order[1], FL_ST_OK);
	rig_run(r);
	memcpy(before, r->mem + w.cq_pa, sizeof(before));
	rig_end(r, r->order[2], FL_ST_OK);
	rig_run(r);
	EXPECT_MEM(r->mem + w.cq_pa, before, sizeof(before));
	EXPECT_EQ(rig_busy(r), 0);
	rig_expect_event(r, FL_EV_QP_ERROR, w.qp,
			 FL_ST_NO_ROOM | FL_ENDED_UNTOLD);
	rig_expect_event(r, FL_EV_CQ_OVERFLOW, w.cq, 0);
	STEP("room that is made now comes too late");
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_OK);
	rig_post(r, &w, rig_wqe(&w, 8));
	EXPECT_MEM(r->mem + w.cq_pa, before, sizeof(before));
	EXPECT(fw_idle(r->fw));
	STEP("a broken queue takes no queue pair, and says so to who arms it");
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = w.sq_pa, .b = 2, .c = w.cq,
		      .d = w.pd), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(rig_write(r, NIC_DB_BASE(1) + NIC_DB_CQ_ARM,
			    w.cq | 2u << 16), 0);
	rig_run(r);
	rig_expect_event(r, FL_EV_CQ_OVERFLOW, w.cq, 0);
	STEP("others are not touched, and all can be destroyed");
	rig_post(r, &v, rig_wqe(&v, 8));
	rig_drain(r);
	rig_expect_cqe(r, &v, 0, FL_ST_OK);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w.qp), FL_ST_OK);
	EXPECT_EQ(CMD(r, CQ_DESTROY, .slot = 1, .object = w.cq), FL_ST_OK);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key), FL_ST_OK);
}

TEST("a completion queue whose memory fails breaks in the same way")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	r->bad_from = w.cq_pa + 28;	/* only the phase */
	r->bad_to = w.cq_pa + 32;
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_drain(r);
	rig_expect_event(r, FL_EV_QP_ERROR, w.qp,
			 FL_ST_NO_ROOM | FL_ENDED_UNTOLD);
	rig_expect_event(r, FL_EV_CQ_OVERFLOW, w.cq, 0);
}

TEST("more completions than were written cannot be taken")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_EQ(rig_write(r, NIC_DB_BASE(1) + NIC_DB_CQ_CONS,
			    w.cq | 1u << 16), -22);
	EXPECT_EQ(rig_write(r, NIC_DB_BASE(1) + NIC_DB_CQ_ARM,
			    w.cq | 0xFFFFu << 16), -22);
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_drain(r);
	EXPECT_EQ(rig_write(r, NIC_DB_BASE(1) + NIC_DB_CQ_CONS,
			    w.cq | 2u << 16), -22);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("an armed completion queue gives one event, at once if one is unseen")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t arm = NIC_DB_BASE(1) + NIC_DB_CQ_ARM;
	struct fl_cqe e;

	rig_slot(r, &w, 1);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, 1), 0);
	EXPECT_EQ(rig_write(r, arm, w.cq), 0);
	rig_run(r);
	EXPECT(!rig_event(r));
	EXPECT(!r->line);
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_drain(r);
	EXPECT(r->line);
	EXPECT_EQ(rig_reg(r, NIC_FW_IRQ_STATUS, 4), 1);
	rig_expect_event(r, FL_EV_CQ, w.cq, 0);
	EXPECT(!rig_event(r));
	EXPECT(!r->line);
	EXPECT(rig_poll(r, &w, &e));
	STEP("one of two was taken: arming tells of the other");
	EXPECT_EQ(rig_write(r, arm, w.cq | 1u << 16), 0);
	rig_run(r);
	rig_expect_event(r, FL_EV_CQ, w.cq, 0);
	EXPECT(rig_poll(r, &w, &e));
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_drain(r);
	EXPECT(!rig_event(r));
}

TEST("a full event queue loses nothing, and the line follows the queue")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t cq[40], i, seen[FW_CQS] = { 0 };

	rig_slot(r, &w, 1);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, 1), 0);
	for (i = 0; i < 40; i++) {
		EXPECT_EQ(CMD(r, CQ_CREATE, .slot = 1, .a = 0x20000 + 64 * i,
			      .b = 2), FL_ST_OK);
		cq[i] = w.cq = (uint32_t)r->result;
		w.qp = rig_qp(r, &w, w.sq_pa, w.sq_size);
		EXPECT_EQ(rig_write(r, NIC_DB_BASE(1) + NIC_DB_CQ_ARM, w.cq),
			  0);
		w.tail = 0;
		rig_post(r, &w, rig_wqe(&w, 8));
	}
	rig_drain(r);
	EXPECT(r->line);
	for (i = 0; i < 40; i++) {
		EXPECT(rig_event(r));
		EXPECT_EQ(r->eqe.type, FL_EV_CQ);
		EXPECT_EQ(seen[r->eqe.object]++, 0);
		rig_run(r);
	}
	for (i = 0; i < 40; i++)
		EXPECT_EQ(seen[cq[i]], 1);
	EXPECT(!rig_event(r));
	EXPECT(!r->line);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, 0), 0);
}

TEST("an event queue that was stopped or failed keeps its events for the next one")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t size = NIC_FW_BASE + NIC_FW_EQ_SIZE;

	rig_slot(r, &w, 1);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, 1), 0);
	r->bad_from = RIG_EQ;
	r->bad_to = RIG_EQ + 16;
	w.tail = 100;
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	EXPECT_EQ(rig_reg(r, NIC_FW_EQ_SIZE, 4), 0);
	EXPECT(!r->line);
	EXPECT(fw_idle(r->fw));
	r->bad_to = 0;
	EXPECT_EQ(rig_write(r, size, 0), 0);
	rig_run(r);
	EXPECT(!rig_event(r));
	EXPECT_EQ(rig_write(r, size, RIG_EQ_SIZE), 0);
	rig_run(r);
	EXPECT(r->line);
	rig_expect_event(r, FL_EV_QP_ERROR, w.qp,
			 FL_ST_BAD_ENTRY | FL_ENDED_UNTOLD);
}

TEST("the line is up only while it is enabled")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	w.tail = 100;
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	EXPECT(!r->line);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, 1), 0);
	EXPECT(r->line);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, 0), 0);
	EXPECT(!r->line);
	EXPECT_EQ(rig_reg(r, NIC_FW_IRQ_STATUS, 4), 1);
}

/* Of small numbers, and of queue pairs that were made last. */
static void hostile_doorbell(struct rig *r, uint64_t *seed, uint32_t newest)
{
	static const uint32_t reg[] = { NIC_DB_SQ, NIC_DB_CQ_ARM,
					NIC_DB_CQ_CONS };
	uint32_t object = rig_random(seed) % 2 ? rig_random(seed) % 20 :
			  (newest + rig_random(seed) % 4) & 0xFFFF;
	uint32_t value = rig_random(seed) % 4 ? rig_random(seed) % 80 :
			 rig_random(seed);

	rig_write(r, NIC_DB_BASE(rig_random(seed) % 4) +
		  reg[rig_random(seed) % 3], object | value << 16);
}

static void hostile_engine(struct rig *r, uint64_t *seed)
{
	uint32_t n = rig_random(seed) % r->contexts;
	struct rig_ctx *c = &r->ctx[n];

	if (c->state == FL_TX_READY && rig_random(seed) % 2)
		rig_fly(r, n);
	else if (c->state != FL_TX_FREE && c->state != FL_TX_DONE)
		rig_end(r, n, rig_random(seed) % 8 ? 0 :
			rig_random(seed) % 256);
	/* A note of nothing in particular; for serials that are not current. */
	if (rig_random(seed) % 8 == 0 && r->evt_in - r->evt_out < 1000)
		rig_note(r, rig_random(seed) % 7, rig_random(seed) % 40,
			 r->ctx[n].gen + 1 + rig_random(seed) % 255);
}

TEST("random entries, doorbells and notes never crash nor break a bound")
{
	struct rig *r = rig_create(6);
	uint64_t seed = test_seed() + 1;
	struct rig_slot w[3];
	uint32_t i, k;

	for (k = 0; k < 3; k++) {
		rig_slot(r, &w[k], k);
		for (i = 0; i < 3; i++)
			rig_qp(r, &w[k], w[k].sq_pa, 64);
	}
	for (i = 0; i < 100000; i++) {
		uint8_t *entry;

		k = rig_random(&seed) % 3;
		entry = r->mem + w[k].sq_pa + 64 * (rig_random(&seed) % 64);
		if (rig_random(&seed) % 2) {
			struct fl_wqe e = rig_wqe(&w[k], 1 + rig_random(&seed) %
						  60000);

			e.index = (uint16_t)(entry - r->mem - w[k].sq_pa) / 64;
			memcpy(entry, &e, sizeof(e));
		}
		if (rig_random(&seed) % 8 == 0)
			entry[rig_random(&seed) % 64] =
				(uint8_t)rig_random(&seed);
		hostile_doorbell(r, &seed, w[k].qp);
		hostile_engine(r, &seed);
		r->now += rig_random(&seed) % 500;
		rig_run(r);
		if (i % 500 == 499) {
			EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = k), FL_ST_OK);
			rig_slot(r, &w[k], k);
			rig_qp(r, &w[k], w[k].sq_pa, 64);
		}
	}
	for (k = 0; k < 3; k++)
		EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = k), FL_ST_OK);
	rig_run(r);
	EXPECT(fw_idle(r->fw));
	EXPECT_GE(r->traced[EV_FW_COMPLETE], 1000);
	EXPECT_GE(r->traced[EV_FW_WQE_BAD], 1000);
}
