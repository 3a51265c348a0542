// SPDX-License-Identifier: BSD-2-Clause
/*
 * The requester: blocks of work requests, and their completions.
 *
 * Blocks of one queue pair may be in flight together and end in any order;
 * completions are written in posting order, each once. When a block fails, what
 * belongs to its request and to later ones is killed; earlier requests go on.
 */
#include "nic/fw_internal.h"

void fw_request_issue(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];
	struct fw_wr *wr = fw_wr_at(q, q->wr_issue);
	uint32_t rest = wr->length - wr->issued;
	struct fw_block b = {
		.op = wr->opcode,
		.node = q->peer_node, .qpn = q->peer_qp,
		.stream = fw->slot[q->slot].stream,
		.lva = wr->lva + wr->issued, .rva = wr->rva + wr->issued,
		.rkey = wr->rkey,
		.ref = fw_request_ref(q, q->wr_issue),
		.src = fw_request_src(q, n),
		.at = { wr->xfer, wr->blocks + 1, wr->cause },
	};
	struct fw_ctx *c;

	fw_assert(q->wr_issue != q->wr_tail && rest && !wr->status);
	if (fw_resident_issue(fw, n))
		return;
	b.len = rest < fw->block_bytes ? rest : fw->block_bytes;
	b.left = rest - b.len;
	c = fw_ctx_start(fw, FW_CTX_REQUEST, n, &b);
	c->wr = q->wr_issue;
	c->behind = (uint8_t)b.ref;
	wr->issued += b.len;
	if (wr->opcode == FL_OP_READ && wr->issued == wr->length)
		q->reads++;
	wr->blocks++;
	wr->inflight++;
	fw_qp_update(fw, n);
}

/* Only the statuses that a completion can have; a peer may send any number. */
static uint8_t known_status(uint8_t status)
{
	return status <= FL_ST_FAULT_FAST ? status : FL_ST_NO_ANSWER;
}

/* Its bytes may come to the peer still, late. */
static bool may_come_late(const struct fw_ctx *c)
{
	return c->op == FL_OP_WRITE && c->killed && (c->sent || c->resent);
}

void fw_request_block_done(struct fw *fw, const struct fw_ctx *c,
			   uint8_t status)
{
	struct fw_qp *q = &fw->qp[c->qp];
	struct fw_wr *wr = fw_wr_at(q, c->wr);

	fw_assert(c->wr - q->wr_head < q->wr_tail - q->wr_head);
	fw_assert(wr->inflight);
	wr->inflight--;
	if (wr->opcode == FL_OP_READ && !wr->inflight &&
	    wr->issued == wr->length)
		q->reads--;
	wr->cause = c->cause;
	if (c->resent)
		wr->resends++;
	if (status && !wr->status)
		fw_request_fail(fw, c->qp, c->wr, known_status(status));
	if (q->state == FW_QP_HALTED && may_come_late(c))
		fw_halt(fw, c->qp, c->wr, true);
	fw_request_complete(fw, c->qp);
	fw_ctx_unpark(fw, c->qp);
	fw_qp_update(fw, c->qp);
}

void fw_request_fail(struct fw *fw, uint16_t n, uint32_t wr, uint8_t status)
{
	struct fw_qp *q = &fw->qp[n];
	uint32_t i, later = q->wr_tail - wr;
	bool late = false;

	if (status == FL_ST_FAULT_FAST && q->state != FW_QP_ERROR)
		fw_halt(fw, n, wr, false);
	for (i = wr; i != q->wr_tail; i++) {
		struct fw_wr *w = fw_wr_at(q, i);

		if (!w->status)
			w->status = i == wr ? status : FL_ST_FLUSHED;
	}
	fw_qp_error(fw, n, status, fw_wr_at(q, wr)->cause);
	for (i = 0; i < fw->contexts; i++) {
		struct fw_ctx *c = &fw->ctx[i];

		if (c->owner != FW_CTX_REQUEST || c->qp != n ||
		    c->wr - wr >= later)
			continue;
		late |= c->op == FL_OP_WRITE;
		fw_ctx_kill(fw, c, FL_ST_FLUSHED);
	}
	if (late && q->state == FW_QP_HALTED)
		fw_halt(fw, n, wr, true);
	fw_qp_update(fw, n);
}

static void request_complete_one(struct fw *fw, struct fw_qp *q, uint16_t n)
{
	struct fw_wr *wr = fw_wr_at(q, q->wr_head);
	struct fl_cqe e = {
		.wr_id = wr->wr_id, .qpn = fw_qp_number(q, n),
		.status = wr->status,
		.opcode = wr->opcode, .index = wr->index, .xfer = wr->xfer,
		.resends = wr->resends,
	};
	struct fw_at at = { .xfer = wr->xfer, .cause = wr->cause };
	bool wanted = wr->flags & FL_WQE_SIGNALED;

	if (wr->mr != FW_NONE) {
		fw_assert(fw->mr[wr->mr].active);
		fw->mr[wr->mr].active--;
	}
	if (q->wr_issue == q->wr_head)
		q->wr_issue++;
	q->wr_head++;
	/* Only the first failure has a cause of its own. */
	if (q->flushing && e.status != FL_ST_KILLED)
		e.status = FL_ST_FLUSHED;
	if (e.status) {
		q->flushing = true;
		wanted = true;
	} else {
		e.length = wr->length;
	}
	if (wanted)
		fw_cq_push(fw, q->cq, &e, at, false);
	else if (fw->untold)
		fw_resident_tell(fw, false);
}

void fw_request_complete(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];

	while (fw_request_due(q)) {
		/* It was bad when it was copied: its turn has come only now. */
		if (q->stuck && fw_wr_at(q, q->wr_head)->status) {
			q->stuck = false;
			fw_request_fail(fw, n, q->wr_head,
					fw_wr_at(q, q->wr_head)->status);
		}
		request_complete_one(fw, q, n);
	}
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
