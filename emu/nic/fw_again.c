// SPDX-License-Identifier: BSD-2-Clause
/*
 * The resident step, once more: a request that is like the last one of its queue pair, which
 * left nothing behind. What that one was asked, and what cannot have changed since, is not
 * asked again; nor does a request that is over at once need a place among those that are
 * under way. The request itself is as little trusted as any other.
 */
#include "nic/fw_internal.h"

#define NUMBER_MASK	0xFFFFFFu	/* CTX.REF */

bool fw_again_find(struct fw *fw, uint32_t place, struct fw_again *a)
{
	struct fw_qp *q = &fw->qp[place];
	struct fw_cq *cq = &fw->cq[q->cq];
	const struct fw_wr *wr = fw_wr_at(q, q->wr_tail - 1);
	uint32_t sq_size = 1u << q->size_log2, cq_size = 1u << cq->size_log2;

	if (!fw->env.mem || !fw_qp_rests(fw, q, (uint16_t)place) || q->unit || q->flushing ||
	    q->reads || q->past != FW_PAST_KNOWN || wr->status || wr->mr == FW_NONE ||
	    cq->broken || cq->armed || cq->armed_solicited || fw_due(fw, 0))
		return false;
	*a = (struct fw_again){
		.qp = q, .cq = cq, .mr = &fw->mr[wr->mr],
		.sq = fw->env.mem(fw->env.ctx, q->sq_pa, sq_size * sizeof(*a->sq)),
		.cqe = fw->env.mem(fw->env.ctx, cq->pa, cq_size * sizeof(*a->cqe)),
		.lkey = fw_mr_key(fw, wr->mr), .qpn = fw_qp_number(q, place),
		.cq_mask = cq_size - 1, .sq_mask = (uint16_t)(sq_size - 1),
		.stream = fw->slot[q->slot].stream,
	};
	return a->sq && a->cqe && a->mr->used;
}

/* Once: whoever posted it may write there at any time. */
static void wqe_copy(struct fl_wqe *w, const struct fl_wqe *from)
{
	__builtin_memcpy(w, from, sizeof(*w));
	/* So that none of it is read there again. */
	__asm__ volatile("" : : : "memory");
}

/* Its local half: as in wqe_check(), but what else it could ask for goes the long way. */
static bool wqe_is_like(const struct fw_again *a, const struct fl_wqe *w)
{
	return w->opcode == FL_OP_WRITE && w->flags == FL_WQE_SIGNALED &&
	       w->index == a->qp->head && !w->imm && !(w->compare | w->swap) &&
	       w->lkey == a->lkey && w->length && fw_mr_has(a->mr, w->local_va, w->length);
}

/* Is it the turn of the request with that number, and of no other? */
static bool turn_is_plain(const struct fw_order *o, bool relaxed, uint32_t number)
{
	if (o->cut)
		return false;
	return relaxed || (o->known && !(o->landed | o->blocks) &&
			   !((o->next ^ number) & NUMBER_MASK));
}

bool fw_again_next(const struct fw_again *a, const struct fw_landing *l, uint16_t tail,
		   struct fl_wqe *w)
{
	const struct fw_qp *q = a->qp;
	const struct fw_cq *cq = a->cq;

	/* Others that share a completion queue may have broken it. */
	if ((uint16_t)(tail - q->head - 1) > a->sq_mask || q->state != FW_QP_CONNECTED ||
	    cq->broken || cq->prod - cq->cons > a->cq_mask)
		return false;
	wqe_copy(w, &a->sq[q->head & a->sq_mask]);
	/* If another CPU posts, the next one comes from its caches meanwhile. */
	__builtin_prefetch(&a->sq[(q->head + 1) & a->sq_mask]);
	return wqe_is_like(a, w) && w->rkey == l->key && fw_qp_hears(l->qp) &&
	       fw_mr_has(l->mr, w->remote_va, w->length) &&
	       turn_is_plain(&l->qp->order, q->relaxed, q->wr_tail);
}

void fw_again_landed(struct fw *fw, const struct fw_landing *l, bool relaxed, uint32_t blocks,
		     uint16_t gen)
{
	if (!relaxed)
		l->qp->order.next++;
	/* Requests of other processes may have used the context in between. */
	l->peer->silent = fw->slot[l->qp->slot].silent & FL_SILENT_WRITE;
	l->peer->write_gen = gen;
	fw->stats.rx_checks += blocks;
}

bool fw_again_done(struct fw *fw, const struct fw_again *a, const struct fl_wqe *w,
		   uint32_t blocks, uint64_t event, uint16_t tail)
{
	struct fw_qp *q = a->qp;
	struct fw_cq *cq = a->cq;
	struct fl_cqe *e = &a->cqe[cq->prod & a->cq_mask];

	e->wr_id = w->wr_id;
	e->length = w->length;
	e->qpn = a->qpn;
	e->status = FL_ST_OK;
	e->opcode = FL_OP_WRITE;
	e->index = w->index;
	e->xfer = w->xfer;
	e->resends = 0;
	/* As in cq_write(). Release: pairs with the library's acquire load of the phase. */
	__atomic_store_n(&e->phase, 1 + (uint32_t)(cq->prod >> cq->size_log2),
			 __ATOMIC_RELEASE);
	cq->prod++;
	cq->cause = event;
	q->tail = ++q->head;
	q->wr_tail++;
	q->wr_head = q->wr_issue = q->wr_tail;
	fw->stats.wqes++;
	fw->stats.blocks += blocks;
	fw->stats.completions++;
	return q->head == tail;
}
