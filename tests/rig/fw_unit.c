// SPDX-License-Identifier: BSD-2-Clause
#include "rig/fw_unit.h"

static uint8_t unit_open(void *arg, uint16_t qp, const struct fw_pair *p)
{
	struct unit *u = arg;
	struct unit_qp *q = &u->qp[qp];

	if (u->open_status)
		return u->open_status;
	if (!q->open) {
		q->next = q->begun = 0;
		q->open = true;
	}
	q->opens++;
	q->pair = *p;
	return FL_ST_OK;
}

static void unit_close(void *arg, uint16_t qp)
{
	struct unit *u = arg;

	if (!u->qp[qp].open)
		u->misuse = "closed what was not open";
	u->qp[qp].open = false;
	u->qp[qp].closes++;
}

static void unit_post(void *arg, uint16_t qp, uint32_t wr,
		      const struct fw_work *w)
{
	struct unit *u = arg;
	struct unit_qp *q = &u->qp[qp];

	if (!q->open || !q->pair.sends)
		u->misuse = "posted to what is not ready to send";
	if (wr != q->next)
		u->misuse = "posted out of order";
	if (q->next - q->begun >= FW_QP_WRS)
		u->misuse = "posted too much";
	q->next = wr + 1;
	q->posts++;
	u->work[wr % UNIT_POSTS] = *w;
	if (u->at_once) {
		q->begun++;
		u->fw.work_done(u->fw.ctx, qp, wr, FL_ST_OK, 0, w->cause);
	}
}

static void unit_stop_key(void *arg, uint32_t key)
{
	((struct unit *)arg)->stopped = key;
}

static void unit_row(void *arg, uint32_t slot, uint32_t row, uint64_t quirks,
		     uint64_t bits)
{
	struct unit *u = ((struct rig *)arg)->unit;

	(void)slot;
	u->row = row;
	u->quirks = quirks;
	u->bits = bits;
}

struct unit *unit_rig(void)
{
	struct unit *u = calloc(1, sizeof(*u));
	struct rig *r = rig_create(8);

	test_cleanup(free, u);
	u->r = r;
	u->ops = (struct fw_transport){
		.ctx = u, .open = unit_open, .close = unit_close, .post = unit_post,
		.stop_key = unit_stop_key,
	};
	u->fw = fw_unit(r->fw_mem);
	r->unit = u;
	r->transport = r->fragments = &u->ops;
	r->slot_row = unit_row;
	rig_restart(r);
	return u;
}

void unit_restart(struct unit *u)
{
	struct unit old = *u;

	*u = (struct unit){ .r = old.r, .ops = old.ops, .fw = old.fw };
	rig_restart(u->r);
}

void unit_run(struct unit *u)
{
	rig_run(u->r);
	if (u->misuse)
		STEP("%s", u->misuse);
	EXPECT(!u->misuse);
}

void unit_end(struct unit *u, uint32_t qp, uint8_t status)
{
	struct unit_qp *q = &u->qp[FW_QP_PLACE(qp)];
	uint32_t wr = q->begun++;

	EXPECT(q->open);
	EXPECT_NE(wr, q->next);
	u->fw.work_done(u->fw.ctx, (uint16_t)FW_QP_PLACE(qp), wr, status, 3,
			u->work[wr % UNIT_POSTS].cause);
	unit_run(u);
}

/* ---- a process with one such queue pair ---- */

uint32_t unit_modify(struct unit *u, uint32_t slot, uint32_t qp, uint32_t flags,
		     uint64_t a, uint64_t b, uint64_t c)
{
	uint32_t status = CMD(u->r, QP_MODIFY, .slot = slot, .object = qp,
			      .flags = flags, .a = a, .b = b, .c = c);

	EXPECT(!u->misuse);
	return status;
}

#define UNIT_RTR_C (0x123456ull << 32)

uint32_t unit_to(struct unit *u, const struct rig_slot *s, uint32_t state)
{
	if (state == FL_STATE_RTR)
		return unit_modify(u, s->slot, s->qp, UNIT_RTR_FLAGS,
				   UNIT_RTR_A, UNIT_RTR_B, UNIT_RTR_C);
	return unit_modify(u, s->slot, s->qp, FL_MOD_STATE, state, 0, 0);
}

void unit_qp(struct unit *u, struct unit_side *p, uint32_t srq)
{
	struct rig_slot *s = &p->s;

	EXPECT_EQ(CMD(u->r, QP_CREATE, .slot = s->slot, .a = s->sq_pa,
		      .b = s->sq_size, .c = s->cq, .d = s->pd,
		      .flags = FL_QP_RC), FL_ST_OK);
	s->qp = (uint32_t)u->r->result;
	EXPECT_EQ(CMD(u->r, RQ_ATTACH, .slot = s->slot, .object = s->qp,
		      .a = srq ? 0 : p->rq_pa, .b = srq ? 0 : p->rq_size,
		      .c = s->cq, .d = srq), FL_ST_OK);
}

void unit_side(struct unit *u, struct unit_side *p, uint32_t slot)
{
	rig_slot(u->r, &p->s, slot);
	p->s.sq_pa = UNIT_SQ(slot);
	p->s.tail = 0;
	p->rq_pa = UNIT_RQ(slot);
	p->rq_size = 16;
	p->rq_tail = 0;
	unit_qp(u, p, 0);
	EXPECT_EQ(unit_to(u, &p->s, FL_STATE_INIT), FL_ST_OK);
	EXPECT_EQ(unit_to(u, &p->s, FL_STATE_RTR), FL_ST_OK);
	EXPECT_EQ(unit_modify(u, slot, p->s.qp, UNIT_RTS_FLAGS, UNIT_RTS_A, 0,
			      UNIT_RTS_C), FL_ST_OK);
}

struct fl_rqe unit_rqe(const struct unit_side *p, uint32_t bytes)
{
	return (struct fl_rqe){
		.wr_id = 5000u + p->rq_tail, .index = p->rq_tail, .count = 1,
		.xfer = 90000u + p->rq_tail, .va0 = RIG_VA, .bytes0 = bytes,
		.key0 = p->s.key,
	};
}

static void unit_put_recv(struct unit *u, struct unit_side *p,
			  const struct fl_rqe *e)
{
	memcpy(u->r->mem + p->rq_pa + 64 * (p->rq_tail % p->rq_size), e, 64);
	p->rq_tail++;
}

int unit_ring_recv(struct unit *u, const struct unit_side *p)
{
	return rig_write(u->r, NIC_DB_BASE(p->s.slot) + NIC_DB_RQ,
			 (p->s.qp & NIC_DB_RQ_QPN_MASK) |
			 (uint32_t)p->rq_tail << NIC_DB_RQ_TAIL_SHIFT);
}

void unit_post_recv(struct unit *u, struct unit_side *p, struct fl_rqe e)
{
	unit_put_recv(u, p, &e);
	EXPECT_EQ(unit_ring_recv(u, p), 0);
	unit_run(u);
}

bool unit_take(struct unit *u, uint32_t qp, struct fw_recv *r, uint8_t *wrong)
{
	bool took = u->fw.recv_take(u->fw.ctx, (uint16_t)FW_QP_PLACE(qp), r,
				    wrong);

	unit_run(u);
	return took;
}

void unit_arrive(struct unit *u, uint32_t qp, const struct fw_recv *r,
		 struct fw_arrival a)
{
	u->fw.recv_done(u->fw.ctx, (uint16_t)FW_QP_PLACE(qp), r, &a);
	unit_run(u);
}

struct fl_cqe unit_cqe(struct unit *u, struct unit_side *p)
{
	struct fl_cqe e = { 0 };

	EXPECT(rig_poll(u->r, &p->s, &e));
	EXPECT_EQ(e.qpn, p->s.qp);
	return e;
}

void unit_expect_none(struct unit *u, struct unit_side *p)
{
	struct fl_cqe e;

	EXPECT(!rig_poll(u->r, &p->s, &e));
}
