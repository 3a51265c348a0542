// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queue pairs and their send queues: doorbells, copying and checking work
 * requests.
 *
 * Nothing that a process can write is trusted: an entry is copied once, and
 * only the copy is looked at. Requests go through a small ring in the order in
 * which they were posted; a bad one goes through it too, so that its completion
 * has its turn.
 */
#include "nic/fw_internal.h"

struct fw_qp *fw_qp_find(struct fw *fw, uint64_t n, uint32_t slot)
{
	uint32_t place = FW_QP_PLACE(n);
	struct fw_qp *q;

	if (place >= FW_QPS)
		return NULL;
	q = &fw->qp[place];
	if (q->state == FW_QP_FREE || q->slot != slot ||
	    fw_qp_number(q, place) != n)
		return NULL;
	return q;
}

/*
 * The packet unit for a queue pair with these flags, NULL if the block engine carries it.
 * True: this card has none that would.
 */
static bool qp_unit_missing(const struct fw *fw, uint32_t flags,
		    const struct fw_transport **unit)
{
	*unit = flags == FL_QP_RC ? fw->env.transport[FW_TRANSPORT_RC] :
		flags == FL_QP_UD ? fw->env.transport[FW_TRANSPORT_UD] :
		flags == FL_QP_NV ? fw->env.transport[FW_TRANSPORT_NV] : NULL;
	return flags && flags != FL_QP_RELAXED && !*unit;
}

uint8_t fw_qp_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n)
{
	uint32_t i, k = fw->qp_last;
	struct fw_cq *cq = fw_cq_find(fw, c->c, c->slot);
	struct fw_pd *pd = fw_pd_find(fw, c->d, c->slot);
	const struct fw_transport *unit;
	struct fw_qp *q;
	uint16_t uses;

	/* entries.def, QP_CREATE: a power of two, 2 to 32768 */
	if (c->b < 2 || c->b > 32768 || c->b & (c->b - 1))
		return FL_ST_BAD_ARGUMENT;
	if (c->a % 64 || c->a + sizeof(struct fl_wqe) * c->b - 1 < c->a)
		return FL_ST_BAD_ARGUMENT;
	if (!cq || !pd)
		return FL_ST_NO_OBJECT;
	if (cq->broken || qp_unit_missing(fw, c->flags, &unit))
		return FL_ST_BAD_ARGUMENT;
	for (i = 0; i < FW_QPS; i++) {
		k = (k + 1) % FW_QPS;
		if (fw->qp[k].state == FW_QP_FREE)
			break;
	}
	if (i == FW_QPS)
		return FL_ST_NO_ROOM;
	fw->qp_last = (uint16_t)k;
	q = &fw->qp[k];
	uses = q->uses;
	/* InfiniBand's numbers 0 and 1 are for management, and look so in a capture. */
	if (unit && k < 2 && !uses)
		uses = 1;
	*q = (struct fw_qp){ .wr = fw->wr[k] };
	q->uses = uses;
	q->relaxed = c->flags & FL_QP_RELAXED;
	q->datagrams = c->flags & FL_QP_UD;
	q->sq_pa = c->a;
	q->state = unit ? FW_QP_RESET : FW_QP_INIT;
	q->unit = unit;
	q->nv = c->flags == FL_QP_NV;
	q->recv_cq = FW_NONE;
	q->srq = FW_NO_SRQ;
	q->slot = (uint8_t)c->slot;
	q->size_log2 = (uint8_t)__builtin_ctz((uint32_t)c->b);
	q->cq = (uint16_t)c->c;
	q->pd = (uint16_t)c->d;
	cq->users++;
	pd->users++;
	*n = fw_qp_number(q, k);
	return FL_ST_OK;
}

uint8_t fw_qp_connect(struct fw *fw, const struct fl_fw_cmd *c)
{
	struct fw_qp *q = fw_qp_find(fw, c->object, c->slot);

	if (!q)
		return FL_ST_NO_OBJECT;
	/* wire.def, BTH.DEST_QP: 24 bits */
	if (c->a >= fw->cfg.nodes || c->b >> 24)
		return FL_ST_BAD_ARGUMENT;
	if (q->unit)
		return fw_modify_connect(fw, (uint16_t)FW_QP_PLACE(c->object),
					 (uint8_t)c->a, (uint32_t)c->b);
	if (q->state != FW_QP_INIT)
		return FL_ST_BUSY;
	q->peer_node = (uint8_t)c->a;
	q->peer_qp = (uint32_t)c->b;
	q->state = FW_QP_CONNECTED;
	fw_trace(fw, FW_TRACE_FW_CONNECT, (struct fw_at){ 0 }, c->object,
		 c->a, c->b, q->relaxed);
	return FL_ST_OK;
}

/* InfiniBand 10.3.1.6: what had begun in SQD has ended. */
static void qp_look_drained(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];
	bool drained = q->state == FW_QP_SQD && q->wr_head == q->wr_tail;

	if (drained && !q->drained) {
		q->cause = 0;
		fw_event_raise(fw, FL_EV_SQ_DRAINED, n);
	}
	q->drained = drained;
}

bool fw_qp_rests(const struct fw *fw, const struct fw_qp *q, uint16_t n)
{
	uint32_t w = n / 32, in = fw->attention.word[w] | fw->active.word[w] |
				  fw->send.word[w] | fw->slot[q->slot].held.word[w];

	return q->state == FW_QP_CONNECTED && q->wr_head == q->wr_tail &&
	       q->head == q->tail && !q->doomed && !q->drained && !(in >> n % 32 & 1);
}

static void qp_sets(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];
	uint32_t held = q->wr_tail - q->wr_head;
	bool active = held || q->head != q->tail || fw_recv_due(q), due;

	qp_look_drained(fw, n);
	while (q->wr_issue != q->wr_tail) {
		const struct fw_wr *wr = fw_wr_at(q, q->wr_issue);

		if (!wr->status && wr->issued != wr->length)
			break;
		q->wr_issue++;
	}
	due = fw_request_due(q) || fw_recv_due(q) || q->doomed;
	if (fw_qp_may_fetch(q))
		due = true;
	/* Who is being destroyed is served by its command. */
	fw_bits_put(&fw->attention, n, due && q->state != FW_QP_DYING);
	if (active != fw_bits_has(&fw->active, n)) {
		fw_bits_put(&fw->active, n, active);
		fw->active_count += active ? 1 : -1u;
		/* A queue pair that is now alone may take more contexts. */
		if (!active && fw->active_count == 1)
			fw_qp_update(fw, (uint16_t)fw_bits_next(&fw->active,
								n));
	}
	fw_bits_put(&fw->slot[q->slot].held, n, false);
	fw_bits_put(&fw->send, n,
		    fw_halt_due(q) ||
			    (q->wr_issue != q->wr_tail &&
			     !fw_request_fenced(q) && fw_sched_may(fw, q)));
}

void fw_qp_update(struct fw *fw, uint16_t n)
{
	if (!fw_qp_rests(fw, &fw->qp[n], n))
		qp_sets(fw, n);
}

void fw_qp_error(struct fw *fw, uint16_t n, uint8_t status, uint64_t cause)
{
	struct fw_qp *q = &fw->qp[n];

	if (!fw_qp_lives(q))
		return;
	if (status == FL_ST_FAULT_FAST && !q->unit) {
		q->state = FW_QP_HALTED;
		return;
	}
	/* Nobody will resume it: what the peer still does is as with any error. */
	if (q->past == FW_PAST_DUE)
		q->past = FW_PAST_KNOWN;
	q->state = FW_QP_ERROR;
	q->error_status = status;
	q->cause = cause;
	fw_unit_close(fw, n);
	fw_event_raise(fw, FL_EV_QP_ERROR, n);
	fw_recv_last(fw, n);
}

void fw_qp_break(struct fw *fw, uint16_t n, uint8_t status, uint64_t cause)
{
	struct fw_qp *q = &fw->qp[n];

	if (fw_qp_lives(q))
		q->untold = true;
	fw_qp_error(fw, n, status, cause);
	if (q->wr_head != q->wr_tail)
		fw_request_fail(fw, n, q->wr_head, FL_ST_FLUSHED);
	fw_qp_update(fw, n);
}

struct fw_qp *fw_qp_named(struct fw *fw, uint32_t slot, uint32_t bell)
{
	uint32_t n = FW_QP_PLACE(bell), number;
	struct fw_qp *q;

	if (n >= FW_QPS)
		return NULL;
	q = &fw->qp[n];
	/* A doorbell has room for the low bits of the number. */
	number = fw_qp_number(q, n);
	if (((number ^ bell) & NIC_DB_SQ_QPN_MASK) ||
	    !fw_qp_find(fw, number, slot) || q->state == FW_QP_DYING ||
	    q->state == FW_QP_RESET)
		return NULL;
	return q;
}

int fw_qp_doorbell(struct fw *fw, uint32_t slot, uint32_t bell, uint16_t tail)
{
	struct fw_qp *q = fw_qp_named(fw, slot, bell);
	uint32_t n = FW_QP_PLACE(bell);
	uint16_t ahead, known;
	uint64_t cause;

	if (!q)
		return -FW_EINVAL;
	ahead = (uint16_t)(tail - q->head);
	known = (uint16_t)(q->tail - q->head);
	if (ahead > 1u << q->size_log2) {
		/* More than the queue holds: its owner has lost count. */
		fw->stats.bad_wqes++;
		cause = fw_trace(fw, FW_TRACE_FW_WQE_BAD, (struct fw_at){ 0 },
				 fw_qp_number(q, n), FL_ST_BAD_ENTRY, tail, 0);
		fw_qp_break(fw, (uint16_t)n, FL_ST_BAD_ENTRY, cause);
	} else if (ahead > known) {
		q->tail = tail;
		fw_resident_serve(fw, (uint16_t)n);
		/* All of it is done already? */
		if (fw->env.at_once && !fw_due(fw, 0))
			return 0;
	}
	fw->env.kick(fw->env.ctx);
	return 0;
}

/* Check one entry. The order of the checks decides which error is reported; wr gets the region. */
static uint8_t wqe_check(struct fw *fw, const struct fw_qp *q,
			 const struct fl_wqe *w, struct fw_wr *wr)
{
	uint64_t last = w->length - 1ull;
	struct fw_range r = {
		.key = w->lkey, .slot = q->slot, .pd = q->pd,
		.va = w->local_va, .bytes = w->length,
	};
	uint8_t status;

	if (w->opcode != FL_OP_WRITE && w->opcode != FL_OP_READ)
		return FL_ST_BAD_OPCODE;
	if (w->flags & ~(FL_WQE_SIGNALED | FL_WQE_FENCE) || w->index != wr->index ||
	    w->imm || w->compare || w->swap)
		return FL_ST_BAD_ENTRY;
	if (q->state == FW_QP_INIT)
		return FL_ST_NOT_CONNECTED;
	if (!w->length || w->local_va + last < w->local_va ||
	    w->remote_va + last < w->remote_va)
		return FL_ST_BAD_LENGTH;
	if (w->opcode == FL_OP_READ)
		r.right = FL_ACC_LOCAL_WRITE;
	status = fw_mr_local_status(fw_mr_check(fw, &r, &wr->mr));
	if (status)
		return status;
	fw->mr[wr->mr].active++;
	return FL_ST_OK;
}

void fw_qp_fetch_tell(struct fw *fw, uint16_t n, struct fw_wr *wr)
{
	wr->cause = fw_trace(fw, FW_TRACE_FW_WQE, (struct fw_at){ .xfer = wr->xfer },
			     fw_qp_number(&fw->qp[n], n), wr->opcode, wr->lva,
			     wr->length);
}

/* Copy the next entry into the ring. */
bool fw_qp_fetch_untold(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];
	struct fw_wr *wr = fw_wr_at(q, q->wr_tail);
	uint32_t place = q->head & ((1u << q->size_log2) - 1);
	uint64_t pa = q->sq_pa + sizeof(struct fl_wqe) * (uint64_t)place;
	struct fl_wqe w;
	int error;

	error = fw->env.mem_read(fw->env.ctx, pa, &w, sizeof(w));
	if (error)
		w = (struct fl_wqe){ 0 };
	*wr = (struct fw_wr){
		.wr_id = w.wr_id, .lva = w.local_va, .rva = w.remote_va,
		.length = w.length, .rkey = w.rkey, .xfer = w.xfer,
		.index = q->head, .mr = FW_NONE, .opcode = w.opcode,
		.flags = w.flags,
	};
	q->head++;
	q->wr_tail++;
	fw->costs[FW_COST_WQE]++;
	fw->stats.wqes++;
	if (q->state == FW_QP_DYING)
		wr->status = FL_ST_KILLED;
	else if (q->state == FW_QP_ERROR || q->state == FW_QP_HALTED)
		wr->status = FL_ST_FLUSHED;
	else if (error)
		wr->status = FL_ST_BUS_ERROR;
	else
		wr->status = wqe_check(fw, q, &w, wr);
	if (!wr->status)
		return false;
	wr->cause = fw_trace(fw, FW_TRACE_FW_WQE_BAD, (struct fw_at){ .xfer = w.xfer },
			     fw_qp_number(q, n), wr->status, wr->index, 0);
	if (q->state != FW_QP_INIT && q->state != FW_QP_CONNECTED)
		return true;
	fw->stats.bad_wqes++;
	fw_request_fail(fw, n, q->wr_tail - 1, wr->status);
	return true;
}

void fw_qp_fetch(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];

	if (q->unit)
		fw_work_fetch(fw, n);
	else if (!fw_qp_fetch_untold(fw, n))
		fw_qp_fetch_tell(fw, n, fw_wr_at(q, q->wr_tail - 1));
}

void fw_qp_step(struct fw *fw)
{
	uint16_t n = (uint16_t)fw_bits_next(&fw->attention,
					    fw->attention_last);
	struct fw_qp *q = &fw->qp[n];

	fw->attention_last = n;
	if (q->doomed) {
		q->doomed = false;
		fw_qp_break(fw, n, FL_ST_NO_ROOM, q->cause);
	}
	/* Nobody will hear of what is left in the queue. */
	if (fw->cq[q->cq].broken)
		q->head = q->tail;
	if (fw_qp_may_fetch(q))
		fw_qp_fetch(fw, n);
	fw_request_complete(fw, n);
	if (fw_recv_due(q))
		fw_recv_flush(fw, n);
	fw_qp_update(fw, n);
}

static void qp_free(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];

	fw_assert(!q->inflight && !q->job_inflight);
	fw_assert(fw->cq[q->cq].users && fw->pd[q->pd].users);
	fw->cq[q->cq].users--;
	fw->pd[q->pd].users--;
	fw_recv_detach(fw, q);
	q->doomed = q->stuck = false;
	q->wr_head = q->wr_issue = q->wr_tail;
	q->head = q->tail;
	fw_qp_update(fw, n);
	fw_event_forget_qp(fw, n);
	q->state = FW_QP_FREE;
	q->uses++;
}

/* Let go of all that works for the queue pair. Its requests stay, killed. */
static void qp_kill(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];
	uint32_t i;

	q->state = FW_QP_DYING;
	q->past = FW_PAST_KNOWN;
	for (i = 0; i < fw->contexts; i++)
		if ((fw->ctx[i].owner == FW_CTX_REQUEST ||
		     fw->ctx[i].owner == FW_CTX_PAST) && fw->ctx[i].qp == n)
			fw_ctx_abandon(fw, &fw->ctx[i]);
	fw_rx_stop_qp(fw, n);
	for (i = q->wr_head; i != q->wr_tail; i++) {
		struct fw_wr *wr = fw_wr_at(q, i);

		wr->inflight = 0;
		if (!wr->status)
			wr->status = FL_ST_KILLED;
	}
	q->stuck = false;
	fw_unit_close(fw, n);
	fw_recv_forget(q);
}

uint8_t fw_qp_destroy(struct fw *fw, const struct fl_fw_cmd *c)
{
	if (!fw_qp_find(fw, c->object, c->slot))
		return FL_ST_NO_OBJECT;
	fw->cmd.dying = (uint16_t)FW_QP_PLACE(c->object);
	qp_kill(fw, fw->cmd.dying);
	return FL_ST_OK;
}

bool fw_qp_destroy_step(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];

	fw_request_complete(fw, n);
	if (q->head != q->tail && !fw->cq[q->cq].broken) {
		fw_qp_fetch(fw, n);
		fw_qp_update(fw, n);
		return false;
	}
	qp_free(fw, n);
	return true;
}

void fw_qp_close_slot(struct fw *fw, uint32_t slot)
{
	uint32_t n;

	for (n = 0; n < FW_QPS; n++) {
		if (fw->qp[n].state == FW_QP_FREE || fw->qp[n].slot != slot)
			continue;
		qp_kill(fw, (uint16_t)n);
		qp_free(fw, (uint16_t)n);
	}
}
