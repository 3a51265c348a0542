// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copying and checking work requests that the engine carries (those for a packet unit:
 * fw_work.c).
 *
 * Nothing that a process can write is trusted: an entry is copied once, and
 * only the copy is looked at. Requests go through a small ring in the order in
 * which they were posted; a bad one goes through it too, so that its completion
 * has its turn.
 */
#include "nic/fw_internal.h"

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
