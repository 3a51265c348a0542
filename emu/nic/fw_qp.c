// SPDX-License-Identifier: BSD-2-Clause
/* Queue pairs: made, connected, stepped, destroyed. */
#include "nic/fw_internal.h"

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
	if (!fw_reaches(fw, c->a, sizeof(struct fl_wqe) * c->b))
		return FL_ST_BUS_ERROR;
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
