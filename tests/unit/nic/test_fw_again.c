// SPDX-License-Identifier: BSD-2-Clause
/*
 * A request that is like the last one of its queue pair: when the firmware may remember that
 * one, and when it must not. tests/unit/board/test_resident_way.c has what boards make of it.
 */
#include "nic/fw_internal.h"
#include "rig/fw.h"

static struct rig *again;
static struct rig_slot slot;
static bool no_memory;
static uint64_t hidden_pa;	/* memory there is none of */

static void *again_mem(void *ctx, uint64_t pa, uint64_t len)
{
	struct rig *r = ctx;

	if (no_memory || pa + len > RIG_MEM || pa == hidden_pa)
		return NULL;
	return r->mem + pa;
}

static struct fw_qp *again_qp(void)
{
	return &again->fw->qp[FW_QP_PLACE(slot.qp)];
}

static struct fw_cq *again_cq(void)
{
	return &again->fw->cq[again_qp()->cq];
}

static bool again_find(struct fw_again *a)
{
	return fw_again_find(again->fw, FW_QP_PLACE(slot.qp), a);
}

/* One WRITE has gone, and nothing is left of it. */
static void again_begin(struct fw_again *a)
{
	struct rig *r = rig_create(4);

	again = r;
	no_memory = false;
	hidden_pa = ~0ull;
	rig_slot(r, &slot, 0);
	rig_post(r, &slot, rig_wqe(&slot, 100));
	rig_drain(r);
	rig_expect_cqe(r, &slot, 0, FL_ST_OK);
	r->fw->env.mem = again_mem;
	again_qp()->past = FW_PAST_KNOWN;
	EXPECT(again_find(a));
	EXPECT_EQ(a->qpn, slot.qp);
	EXPECT_EQ(a->lkey, slot.key);
	EXPECT((uint8_t *)a->sq == r->mem + slot.sq_pa);
	EXPECT((uint8_t *)a->cqe == r->mem + slot.cq_pa);
}

/* With another value it may not be remembered, and with its own it may again. */
#define NOT(field, value) do {						\
	__typeof__(field) was_ = (field);				\
									\
	STEP("%s is %s", #field, #value);				\
	(field) = (value);						\
	EXPECT(!again_find(&a));					\
	(field) = was_;							\
	EXPECT(again_find(&a));						\
} while (0)

TEST("what else there is about a queue pair, its request or its completions: not remembered")
{
	struct fw_again a;
	struct fw_qp *q;
	struct fw_wr *wr;

	again_begin(&a);
	q = again_qp();
	wr = fw_wr_at(q, q->wr_tail - 1);
	NOT(again->fw->env.mem, NULL);
	NOT(q->state, FW_QP_ERROR);
	NOT(q->tail, q->tail + 1);
	NOT(q->wr_head, q->wr_head - 1);
	NOT(q->doomed, true);
	NOT(q->unit, (const struct fw_transport *)q);
	NOT(q->flushing, true);
	NOT(q->reads, 1);
	NOT(q->past, FW_PAST_KNOWN + 1);
	NOT(wr->status, FL_ST_LOCAL_FAULT);
	NOT(wr->mr, FW_NONE);
	NOT(again->fw->mr[wr->mr].used, false);
	NOT(again_cq()->broken, true);
	NOT(again_cq()->armed, true);
	NOT(again_cq()->armed_solicited, true);
	NOT(no_memory, true);
	NOT(hidden_pa, slot.sq_pa);
	NOT(hidden_pa, slot.cq_pa);
}

/* ---- the next request ---- */

static struct fw_landing landing_of(struct fw_again *a)
{
	struct fw_order *o = &a->qp->order;

	/* The peer of this bench is the queue pair itself. */
	o->known = true;
	o->next = a->qp->wr_tail;
	return (struct fw_landing){ .qp = a->qp, .mr = a->mr, .key = slot.key };
}

static struct fl_wqe *next_entry(struct fw_again *a)
{
	struct fl_wqe *e = (struct fl_wqe *)(uintptr_t)&a->sq[a->qp->head & a->sq_mask];

	*e = rig_wqe(&slot, 200);
	e->index = a->qp->head;
	e->rkey = slot.key;
	e->remote_va = e->local_va;
	return e;
}

static bool next_goes(struct fw_again *a, const struct fw_landing *l)
{
	struct fl_wqe w;

	return fw_again_next(a, l, (uint16_t)(a->qp->head + 1), &w);
}

#define NEXT_NOT(field, value) do {					\
	__typeof__(field) was_ = (field);				\
									\
	STEP("%s is %s", #field, #value);				\
	(field) = (value);						\
	EXPECT(!next_goes(&a, &l));					\
	(field) = was_;							\
	EXPECT(next_goes(&a, &l));					\
} while (0)

TEST("a request that is not like the last one goes the long way")
{
	struct fw_landing l;
	struct fw_again a;
	struct fw_order *o;
	struct fl_wqe *e, w;

	again_begin(&a);
	l = landing_of(&a);
	e = next_entry(&a);
	o = &a.qp->order;
	EXPECT(next_goes(&a, &l));
	STEP("its entry: as little trusted as any");
	NEXT_NOT(e->opcode, FL_OP_READ);
	NEXT_NOT(e->flags, FL_WQE_SIGNALED | FL_WQE_FENCE);
	NEXT_NOT(e->flags, 0);
	NEXT_NOT(e->index, (uint16_t)(a.qp->head + 1));
	NEXT_NOT(e->imm, 1);
	NEXT_NOT(e->compare, 1);
	NEXT_NOT(e->swap, 1);
	NEXT_NOT(e->lkey, slot.key + 1);
	NEXT_NOT(e->length, 0);
	NEXT_NOT(e->length, RIG_BYTES + 1);
	NEXT_NOT(e->local_va, RIG_VA - 1);
	NEXT_NOT(e->rkey, slot.key + 1);
	NEXT_NOT(e->remote_va, RIG_VA + RIG_BYTES - 1);
	STEP("what has happened to queue pair and queues meanwhile");
	NEXT_NOT(a.qp->state, FW_QP_ERROR);
	NEXT_NOT(a.cq->broken, true);
	NEXT_NOT(a.cq->cons, a.cq->prod - (a.cq_mask + 1));
	STEP("a doorbell that rings for nothing, or for more than there can be");
	EXPECT(!fw_again_next(&a, &l, a.qp->head, &w));
	EXPECT(!fw_again_next(&a, &l, (uint16_t)(a.qp->head + a.sq_mask + 2), &w));
	STEP("where it lands it is not its turn");
	NEXT_NOT(o->cut, true);
	NEXT_NOT(o->known, false);
	NEXT_NOT(o->landed, 1);
	NEXT_NOT(o->blocks, 1);
	NEXT_NOT(o->next, o->next + 1);
	STEP("without order it is always its turn, but for a peer that has cut it off");
	a.qp->relaxed = true;
	o->known = false;
	EXPECT(next_goes(&a, &l));
	o->cut = true;
	EXPECT(!next_goes(&a, &l));
}

TEST("a request that went so leaves behind what any request leaves")
{
	struct fw_landing l;
	struct fw_again a;
	struct fl_wqe w;
	struct fl_cqe c;
	uint32_t next;

	again_begin(&a);
	l = landing_of(&a);
	l.peer = &again->fw->peer[0][0];
	next_entry(&a)->wr_id = 77;
	next = a.qp->order.next;
	EXPECT(fw_again_next(&a, &l, (uint16_t)(a.qp->head + 1), &w));
	fw_again_landed(again->fw, &l, false, 1, 5);
	EXPECT_EQ(a.qp->order.next, next + 1);
	EXPECT_EQ(l.peer->write_gen, 5);
	fw_again_landed(again->fw, &l, true, 1, 6);
	EXPECT_EQ(a.qp->order.next, next + 1);
	EXPECT_EQ(l.peer->write_gen, 6);
	STEP("its completion, and no other");
	EXPECT(fw_again_done(again->fw, &a, &w, 1, 0, (uint16_t)(a.qp->head + 1)));
	EXPECT(rig_poll(again, &slot, &c));
	EXPECT_EQ(c.wr_id, 77);
	EXPECT_EQ(c.length, 200);
	EXPECT_EQ(c.status, FL_ST_OK);
	EXPECT_EQ(c.opcode, FL_OP_WRITE);
	EXPECT(!rig_poll(again, &slot, &c));
	STEP("more is posted than this one");
	next_entry(&a);
	EXPECT(fw_again_next(&a, &l, (uint16_t)(a.qp->head + 2), &w));
	EXPECT(!fw_again_done(again->fw, &a, &w, 1, 0, (uint16_t)(a.qp->head + 2)));
}
