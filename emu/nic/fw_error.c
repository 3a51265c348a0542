// SPDX-License-Identifier: BSD-2-Clause
/*
 * How a queue pair stops: in ERROR, or halted by a missing page (fw_halt.c). What its
 * requests then become is in fw_requester.c.
 */
#include "nic/fw_internal.h"

void fw_unit_close(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];
	uint32_t i;

	if (!q->open)
		return;
	q->open = false;
	q->unit->close(q->unit->ctx, n);
	for (i = q->wr_head; i != q->wr_tail; i++) {
		struct fw_wr *wr = fw_wr_at(q, i);

		if (wr->inflight && !wr->status)
			wr->status = FL_ST_FLUSHED;
		wr->inflight = 0;
	}
}

void fw_recv_last(struct fw *fw, uint16_t n)
{
	const struct fw_qp *q = &fw->qp[n];

	if (q->state == FW_QP_ERROR && q->srq != FW_NO_SRQ && !q->has_taken)
		fw_event_raise(fw, FL_EV_LAST_RECV, n);
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

void fw_halt(struct fw *fw, uint16_t n, uint32_t wr, bool late)
{
	struct fw_qp *q = &fw->qp[n];
	struct fw_wr *w = fw_wr_at(q, wr);
	struct fw_at at = { .xfer = w->xfer, .cause = w->cause };

	if (q->state == FW_QP_CONNECTED) {
		q->halt_wr = wr;
		w->cause = fw_trace(fw, FW_TRACE_FW_HALT, at,
				    fw_qp_number(q, n), w->index, 0, 0);
	} else if (wr - q->wr_head < q->halt_wr - q->wr_head) {
		q->halt_wr = wr;
	}
	if (late && q->past == FW_PAST_KNOWN)
		q->past = FW_PAST_DUE;
}
