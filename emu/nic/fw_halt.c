// SPDX-License-Identifier: BSD-2-Clause
/*
 * A queue pair that halts (system abort): a request met a missing page and ended with
 * FAULT_FAST. What was posted behind it is flushed, as in InfiniBand's state "send queue
 * error", and so is what is posted later, until the program resumes it. So nothing
 * overtakes the request that failed. The peer is served meanwhile.
 *
 * When the program hears of the failure, nothing of what failed may land any more: it may
 * write to the same place by another way. A block that the peer itself refused is over
 * there, but others of the request, and of those behind it, were killed here and may be on
 * their way. Then the peer is asked first. The question is a READ of nothing (CTX.SRC.PAST)
 * that carries the number of the next request. The peer judges everything older as over
 * from then on, takes back what it had accepted of it, and says so in its NAK. A peer that
 * does not answer leaves the queue pair in ERROR: it cannot be resumed.
 */
#include "nic/fw_internal.h"

/* No region lies there, and no table of a process leads there. */
#define NOWHERE	(~0xFFFull)

void fw_halt_ask(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];
	const struct fw_wr *wr = fw_wr_at(q, q->halt_wr);
	struct fw_block b = {
		.op = FL_OP_READ, .len = 1, .lva = NOWHERE, .rva = NOWHERE,
		.node = q->peer_node, .qpn = q->peer_qp,
		.stream = fw->slot[q->slot].stream,
		/* Nothing that is copied from now on is sent before the end. */
		.ref = (q->wr_tail & 0xFFFFFF) << 8,
		.src = fw_request_src(q, n) | NIC_CTX_SRC_PAST,
		.at = { .xfer = wr->xfer, .cause = wr->cause },
	};
	struct fw_ctx *c;

	q->past = FW_PAST_ASKED;
	c = fw_ctx_start(fw, FW_CTX_PAST, n, &b);
	c->wr = q->halt_wr;
	fw_qp_update(fw, n);
}

void fw_halt_answer(struct fw *fw, const struct fw_ctx *c, uint8_t status)
{
	struct fw_qp *q = &fw->qp[c->qp];

	q->past = FW_PAST_KNOWN;
	if (status != FL_ST_FLUSHED)
		fw_qp_error(fw, c->qp, status && status < FL_ST_FAULT_FAST ?
			    status : FL_ST_NO_ANSWER, c->cause);
	fw_request_complete(fw, c->qp);
	fw_qp_update(fw, c->qp);
}

uint8_t fw_qp_resume(struct fw *fw, const struct fl_fw_cmd *c)
{
	struct fw_qp *q = fw_qp_find(fw, c->object, c->slot);

	if (!q)
		return FL_ST_NO_OBJECT;
	if (q->state != FW_QP_HALTED)
		return FL_ST_BAD_ARGUMENT;
	/* What was posted before it was known belongs to the failure. */
	if (q->wr_head != q->wr_tail || q->head != q->tail)
		return FL_ST_BUSY;
	fw_assert(!q->inflight && q->past == FW_PAST_KNOWN);
	q->state = FW_QP_CONNECTED;
	q->flushing = false;
	fw_trace(fw, FW_TRACE_FW_RESUME, (struct fw_at){ 0 }, c->object, 0, 0,
		 0);
	return FL_ST_OK;
}
