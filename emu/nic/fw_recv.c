// SPDX-License-Identifier: BSD-2-Clause
/*
 * Receive queues, of one queue pair or shared by several.
 *
 * A message takes the oldest entry when it begins, and its completion is written when it
 * ends. Between the two the firmware keeps the copy: what the process writes over the entry
 * changes nothing, and if the connection ends the receive is flushed, once. Of datagrams
 * several receives can have their packets before the oldest is over: there the unit keeps the
 * copies, and the firmware the order.
 */
#include "nic/fw_internal.h"

#define MESSAGE_MAX	(1u << 31)	/* bytes; InfiniBand 9.7.2 */

static bool rq_makes_sense(uint64_t pa, uint64_t entries)
{
	/* entries.def, QP_CREATE: a power of two, 2 to 32768 */
	return entries >= 2 && entries <= 32768 && !(entries & (entries - 1)) &&
	       !(pa % 64) && pa + sizeof(struct fl_rqe) * entries - 1 >= pa;
}

static struct fw_rq rq_make(uint64_t pa, uint64_t entries)
{
	return (struct fw_rq){
		.pa = pa,
		.size_log2 = (uint8_t)__builtin_ctz((uint32_t)entries),
	};
}

static struct fw_srq *srq_find(struct fw *fw, uint64_t n, uint32_t slot)
{
	if (n >= FW_SRQS || !fw->srq[n].used || fw->srq[n].slot != slot)
		return NULL;
	return &fw->srq[n];
}

uint8_t fw_rq_attach(struct fw *fw, const struct fl_fw_cmd *c)
{
	struct fw_qp *q = fw_qp_find(fw, c->object, c->slot);
	struct fw_cq *cq = fw_cq_find(fw, c->c, c->slot);
	struct fw_srq *srq = c->d ? srq_find(fw, c->d - 1, c->slot) : NULL;

	if (!q || !cq || (c->d && !srq))
		return FL_ST_NO_OBJECT;
	if (!q->unit || q->nv || q->state != FW_QP_RESET || cq->broken)
		return FL_ST_BAD_ARGUMENT;
	/* The ring of datagrams has one owner: its entries are announced in order. */
	if (q->datagrams && srq)
		return FL_ST_BAD_ARGUMENT;
	if (c->b ? c->d || !rq_makes_sense(c->a, c->b) : c->a != 0)
		return FL_ST_BAD_ARGUMENT;
	if (!fw_reaches(fw, c->a, sizeof(struct fl_rqe) * c->b))
		return FL_ST_BUS_ERROR;
	/* One domain is asked for each entry's keys. */
	if (srq && srq->pd != q->pd)
		return FL_ST_BAD_ARGUMENT;
	if (q->recv_cq != FW_NONE)
		return FL_ST_BUSY;
	q->recv_cq = (uint16_t)c->c;
	cq->users++;
	if (c->b)
		q->rq = rq_make(c->a, c->b);
	if (srq) {
		q->srq = (uint16_t)(c->d - 1);
		srq->users++;
	}
	return FL_ST_OK;
}

void fw_recv_detach(struct fw *fw, struct fw_qp *q)
{
	if (q->recv_cq != FW_NONE)
		fw->cq[q->recv_cq].users--;
	if (q->srq != FW_NO_SRQ)
		fw->srq[q->srq].users--;
	q->recv_cq = FW_NONE;
	q->srq = FW_NO_SRQ;
	q->rq = (struct fw_rq){ 0 };
}

uint8_t fw_srq_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n)
{
	struct fw_pd *pd = fw_pd_find(fw, c->c, c->slot);
	uint32_t k = fw->srq_last, i;

	if (!rq_makes_sense(c->a, c->b))
		return FL_ST_BAD_ARGUMENT;
	if (!fw_reaches(fw, c->a, sizeof(struct fl_rqe) * c->b))
		return FL_ST_BUS_ERROR;
	if (!pd)
		return FL_ST_NO_OBJECT;
	for (i = 0; i < FW_SRQS; i++) {
		k = (k + 1) % FW_SRQS;
		if (!fw->srq[k].used)
			break;
	}
	if (i == FW_SRQS)
		return FL_ST_NO_ROOM;
	fw->srq_last = (uint16_t)k;
	fw->srq[k] = (struct fw_srq){
		.rq = rq_make(c->a, c->b), .slot = (uint8_t)c->slot,
		.pd = (uint16_t)c->c, .used = true,
	};
	pd->users++;
	fw->srqs++;
	*n = k;
	return FL_ST_OK;
}

static void srq_free(struct fw *fw, uint32_t n)
{
	struct fw_srq *s = &fw->srq[n];

	fw_assert(!s->users && fw->pd[s->pd].users);
	fw->pd[s->pd].users--;
	s->used = false;
	fw->srqs--;
	fw_event_forget(fw, FL_EV_SRQ_LIMIT, n);
}

uint8_t fw_srq_destroy(struct fw *fw, const struct fl_fw_cmd *c)
{
	struct fw_srq *s = srq_find(fw, c->object, c->slot);

	if (!s)
		return FL_ST_NO_OBJECT;
	if (s->users)
		return FL_ST_BUSY;
	srq_free(fw, c->object);
	return FL_ST_OK;
}

/* After the queue pairs of the slot are gone. */
void fw_srq_close_slot(struct fw *fw, uint32_t slot)
{
	uint32_t i;

	for (i = 0; i < FW_SRQS; i++)
		if (fw->srq[i].used && fw->srq[i].slot == slot)
			srq_free(fw, i);
}

/* InfiniBand 11.5.2.5: armed, the limit tells once. */
static void srq_look(struct fw *fw, uint16_t n)
{
	struct fw_srq *s = &fw->srq[n];

	if ((uint16_t)(s->rq.tail - s->rq.head) >= s->limit)
		return;
	s->limit = 0;
	fw_event_raise(fw, FL_EV_SRQ_LIMIT, n);
}

uint8_t fw_srq_limit(struct fw *fw, const struct fl_fw_cmd *c)
{
	struct fw_srq *s = srq_find(fw, c->object, c->slot);

	if (!s)
		return FL_ST_NO_OBJECT;
	if (c->a > 1u << s->rq.size_log2)
		return FL_ST_BAD_ARGUMENT;
	s->limit = (uint16_t)c->a;
	srq_look(fw, (uint16_t)c->object);
	return FL_ST_OK;
}

/* Is this as many as can have been posted? */
static bool rq_tail_makes_sense(const struct fw_rq *rq, uint16_t tail)
{
	return (uint16_t)(tail - rq->head) <= 1u << rq->size_log2;
}

static void rq_tail_set(struct fw_rq *rq, uint16_t tail)
{
	if ((uint16_t)(tail - rq->head) > (uint16_t)(rq->tail - rq->head))
		rq->tail = tail;
}

int fw_rq_doorbell(struct fw *fw, uint32_t slot, uint32_t bell, uint16_t tail)
{
	struct fw_qp *q = fw_qp_named(fw, slot, bell);
	uint16_t n = (uint16_t)FW_QP_PLACE(bell);
	uint64_t cause;

	if (!q || !q->rq.size_log2)
		return -FW_EINVAL;
	if (rq_tail_makes_sense(&q->rq, tail)) {
		rq_tail_set(&q->rq, tail);
		fw_qp_update(fw, n);
		if (q->open && q->unit->posted)
			q->unit->posted(q->unit->ctx, n);
	} else {
		/* Its owner has lost count. */
		fw->stats.bad_wqes++;
		cause = fw_trace(fw, FW_TRACE_FW_WQE_BAD, (struct fw_at){ 0 },
				 fw_qp_number(q, n), FL_ST_BAD_ENTRY, tail, 0);
		fw_qp_break(fw, n, FL_ST_BAD_ENTRY, cause);
	}
	fw->env.kick(fw->env.ctx);
	return 0;
}

int fw_srq_doorbell(struct fw *fw, uint32_t slot, uint32_t n, uint16_t tail)
{
	struct fw_srq *s = srq_find(fw, n, slot);

	/* Too much is no reason to end queue pairs that have done nothing wrong. */
	if (!s || !rq_tail_makes_sense(&s->rq, tail))
		return -FW_EINVAL;
	rq_tail_set(&s->rq, tail);
	return 0;
}

static uint8_t rqe_check(const struct fw *fw, const struct fw_qp *q,
			 const struct fl_rqe *e, struct fw_recv *r)
{
	const struct fw_segment s[FW_RECV_SEGMENTS] = {
		{ e->va0, e->bytes0, e->key0 }, { e->va1, e->bytes1, e->key1 },
		{ e->va2, e->bytes2, e->key2 },
	};
	uint64_t sum = 0;
	uint8_t status;
	uint32_t i;

	if (e->index != r->index || e->flags || e->count > FW_RECV_SEGMENTS)
		return FL_ST_BAD_ENTRY;
	for (i = e->count; i < FW_RECV_SEGMENTS; i++)
		if (s[i].va || s[i].bytes || s[i].key)
			return FL_ST_BAD_ENTRY;
	for (i = 0; i < e->count; i++) {
		if (!s[i].bytes || s[i].va + (s[i].bytes - 1) < s[i].va)
			return FL_ST_BAD_LENGTH;
		sum += s[i].bytes;
	}
	if (sum > MESSAGE_MAX)
		return FL_ST_BAD_LENGTH;
	for (i = 0; i < e->count; i++) {
		struct fw_range range = {
			.key = s[i].key, .slot = q->slot, .pd = q->pd,
			.va = s[i].va, .bytes = s[i].bytes,
			.right = FL_ACC_LOCAL_WRITE,
		};

		status = fw_mr_local_status(fw_mr_check(fw, &range, NULL));
		if (status)
			return status;
		r->segment[i] = s[i];
	}
	r->segments = e->count;
	r->length = (uint32_t)sum;
	return FL_ST_OK;
}

/* Copy entry `index`, which there is. Its status. */
static uint8_t rqe_copy(struct fw *fw, const struct fw_qp *q,
			const struct fw_rq *rq, uint16_t index, struct fw_recv *r)
{
	uint32_t place = index & ((1u << rq->size_log2) - 1);
	struct fl_rqe e = { 0 };
	int error;

	error = fw->env.mem_read(fw->env.ctx, rq->pa + sizeof(e) * (uint64_t)place,
				 &e, sizeof(e));
	if (error)
		e = (struct fl_rqe){ 0 };
	*r = (struct fw_recv){
		.wr_id = e.wr_id, .xfer = e.xfer, .index = index,
		.srq = q->srq,
	};
	fw->costs[FW_COST_WQE]++;
	return error ? FL_ST_BUS_ERROR : rqe_check(fw, q, &e, r);
}

static uint8_t rqe_fetch(struct fw *fw, const struct fw_qp *q,
			 struct fw_rq *rq, struct fw_recv *r)
{
	return rqe_copy(fw, q, rq, rq->head++, r);
}

bool fw_recv_take(struct fw *fw, uint16_t n, struct fw_recv *r, uint8_t *wrong)
{
	struct fw_qp *q = &fw->qp[n];
	struct fw_rq *rq = q->srq == FW_NO_SRQ ? &q->rq : &fw->srq[q->srq].rq;
	struct fw_recv *t = &q->taken;
	struct fw_at at;
	uint64_t seq;

	fw_assert(q->open);
	if (!q->has_taken) {
		if (rq->head == rq->tail)
			return false;
		q->taken_wrong = rqe_fetch(fw, q, rq, t);
		q->has_taken = true;
		at = (struct fw_at){ .xfer = t->xfer };
		seq = fw_trace(fw, FW_TRACE_FW_RECV, at, fw_qp_number(q, n),
			       t->index, t->length, q->taken_wrong);
		if (q->srq != FW_NO_SRQ) {
			fw->srq[q->srq].cause = seq;
			srq_look(fw, q->srq);
		}
		fw->env.kick(fw->env.ctx);
	}
	*r = *t;
	*wrong = q->taken_wrong;
	return true;
}

bool fw_recv_ahead(struct fw *fw, uint16_t n, uint16_t ahead, struct fw_recv *r,
		   uint8_t *wrong)
{
	struct fw_qp *q = &fw->qp[n];
	uint16_t posted = (uint16_t)(q->rq.tail - q->rq.head);

	fw_assert(q->open && q->datagrams);
	if (ahead >= posted)
		return false;
	*wrong = rqe_copy(fw, q, &q->rq, (uint16_t)(q->rq.head + ahead), r);
	fw->env.kick(fw->env.ctx);
	return true;
}

void fw_recv_oldest(struct fw *fw, uint16_t n, const struct fw_recv *r, uint8_t wrong)
{
	struct fw_qp *q = &fw->qp[n];
	struct fw_at at = { .xfer = r->xfer };

	fw_assert(!q->has_taken && r->index == q->rq.head && q->rq.head != q->rq.tail);
	q->rq.head++;
	q->taken = *r;
	q->taken_wrong = wrong;
	q->has_taken = true;
	fw_trace(fw, FW_TRACE_FW_RECV, at, fw_qp_number(q, n), r->index, r->length, wrong);
}

static void recv_complete(struct fw *fw, uint16_t n, const struct fw_arrival *a)
{
	struct fw_qp *q = &fw->qp[n];
	const struct fw_recv *t = &q->taken;
	struct fl_cqe e = {
		.wr_id = t->wr_id, .qpn = fw_qp_number(q, n),
		.length = a->status ? 0 : a->length, .status = a->status,
		.opcode = a->opcode, .index = t->index,
		.xfer = q->datagrams ? a->from_qp | (uint32_t)a->from_node << 24 : t->xfer,
		.resends = a->imm,
	};

	struct fw_at at = { .xfer = t->xfer, .cause = a->cause };

	q->has_taken = false;
	fw_cq_push(fw, q->recv_cq, &e, at, a->solicited);
}

void fw_recv_done(struct fw *fw, uint16_t n, const struct fw_arrival *a)
{
	/* A message cannot have gone where the entry leads to nothing. */
	fw_assert(!fw->qp[n].taken_wrong || a->status);
	recv_complete(fw, n, a);
}

void fw_recv_flush(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];
	struct fw_arrival a = {
		.status = FL_ST_FLUSHED, .opcode = FL_OP_RECV,
		.cause = q->cause,
	};

	if (q->has_taken)
		/* What was wrong with it may have been what ended the connection. */
		a.status = q->taken_wrong ? q->taken_wrong : FL_ST_FLUSHED;
	else
		rqe_fetch(fw, q, &q->rq, &q->taken);
	if (fw->cq[q->recv_cq].broken)
		fw_recv_forget(q);
	else
		recv_complete(fw, n, &a);
	fw_recv_last(fw, n);
}

void fw_recv_forget(struct fw_qp *q)
{
	q->has_taken = false;
	q->rq.head = q->rq.tail;
}
