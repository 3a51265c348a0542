// SPDX-License-Identifier: BSD-2-Clause
/*
 * The resident step, as the firmware sees it: blocks of a WRITE that lack nothing and meet
 * nothing on their way, which the card may therefore bring to the peer in one go
 * (fw_env.resident). What comes before and after, copying requests, checking them,
 * completions, is as always; and so is all that any other block needs.
 *
 * It is for the oldest request of a queue pair only, when nothing of the queue pair is under
 * way. So the order of its requests is that of the blocks.
 */
#include "nic/fw_internal.h"

/* At a doorbell, before others have their turn: bytes, and requests. */
#define SERVE_BYTES	(1u << 20)
#define SERVE_REQUESTS	FW_QP_WRS

static bool resident_may(const struct fw *fw, const struct fw_qp *q)
{
	const struct fw_wr *wr = &q->wr[q->wr_head % FW_QP_WRS];

	return fw->env.resident && q->wr_issue == q->wr_head &&
	       q->wr_head != q->wr_tail && !q->unit && !q->inflight &&
	       q->state == FW_QP_CONNECTED && wr->opcode == FL_OP_WRITE &&
	       !wr->status && !wr->inflight && !wr->tried && fw->free && !fw->tx_elder;
}

static uint32_t blocks_of(const struct fw *fw, uint32_t bytes)
{
	return (bytes + fw->block_bytes - 1) >> fw->block_log2;
}

/*
 * Of the oldest request, and its completion; the caller calls fw_qp_update(). begins: it is
 * not in the trace yet. Bytes that went; 0: nothing has changed.
 */
static uint32_t resident_go(struct fw *fw, uint16_t n, bool begins)
{
	struct fw_qp *q = &fw->qp[n];
	struct fw_wr *wr = fw_wr_at(q, q->wr_head);
	struct fw_resident r = {
		.lva = wr->lva + wr->issued, .rva = wr->rva + wr->issued,
		.cause = wr->cause, .len = wr->length - wr->issued,
		.rkey = wr->rkey, .qpn = q->peer_qp,
		.ref = fw_request_ref(q, q->wr_head),
		.src = fw_request_src(q, n), .xfer = wr->xfer,
		.block = wr->blocks + 1,
		.bytes = wr->length, .index = wr->index, .begins = begins,
		.stream = fw->slot[q->slot].stream, .node = q->peer_node,
		.ctx = (uint8_t)__builtin_ctz(fw->free),
	};
	uint32_t bytes = fw->env.resident(fw->env.ctx, &r), blocks;

	wr->tried = r.missing;
	if (!bytes)
		return 0;
	fw_assert(bytes == r.len ||
		  (bytes < r.len && !(bytes & (fw->block_bytes - 1))));
	blocks = blocks_of(fw, bytes);
	wr->issued += bytes;
	wr->blocks += blocks;
	fw->stats.blocks += blocks;
	/* Its completion tells of both. */
	fw->untold = true;
	fw_request_complete(fw, n);
	if (fw->untold)
		wr->cause = fw_resident_tell(fw, false);
	return bytes;
}

bool fw_resident_issue(struct fw *fw, uint16_t n)
{
	struct fw_wr *wr = fw_wr_at(&fw->qp[n], fw->qp[n].wr_issue);

	if (!resident_may(fw, &fw->qp[n]) || !resident_go(fw, n, false)) {
		wr->tried = false;
		return false;
	}
	fw_qp_update(fw, n);
	return true;
}

void fw_resident_serve(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];
	uint32_t bytes = SERVE_BYTES, most = SERVE_REQUESTS, went = 1;
	bool begins;

	if (!fw->env.at_once || q->unit || q->wr_head != q->wr_tail ||
	    fw->cq[q->cq].broken)
		most = 0;
	while (most-- && went && went < bytes && q->state == FW_QP_CONNECTED) {
		bytes -= went;
		begins = q->wr_head == q->wr_tail;
		if (begins && !fw_qp_may_fetch(q))
			break;
		/* A bad request: then its completion's turn comes as ever. */
		if (begins && fw_qp_fetch_untold(fw, n))
			break;
		went = resident_may(fw, q) ? resident_go(fw, n, begins) : 0;
		if (!went && begins)
			fw_qp_fetch_tell(fw, n, fw_wr_at(q, q->wr_head));
	}
	fw_qp_update(fw, n);
}

/* ---- where it lands ---- */

bool fw_landing_find(struct fw *fw, uint8_t node, const struct fw_resident *r,
		     struct fw_landing *l)
{
	uint16_t qp = (uint16_t)FW_QP_PLACE(r->qpn), mr;
	struct fw_qp *q = &fw->qp[qp];
	const struct fw_range range = {
		.key = r->rkey, .slot = q->slot, .pd = q->pd,
		.right = FL_ACC_REMOTE_WRITE,
	};

	if (fw_qp_number(q, qp) != r->qpn || q->peer_node != node ||
	    q->peer_qp != (r->src & NIC_CTX_SRC_QPN_MASK) || q->unit ||
	    fw->rx_held || fw->rx_elder.there ||
	    fw_mr_check_rights(fw, &range, &mr) != FW_MR_OK)
		return false;
	*l = (struct fw_landing){
		.qp = q, .mr = &fw->mr[mr], .peer = &fw->peer[node][r->ctx & (FW_CTXS - 1)],
		.key = r->rkey, .place = qp, .stream = fw->slot[q->slot].stream,
	};
	return true;
}

static struct fw_turn turn_of(const struct fw_resident *r)
{
	return (struct fw_turn){ .number = r->ref >> 8, .behind = (uint8_t)r->ref,
				 .relaxed = r->src & NIC_CTX_SRC_RELAXED };
}

bool fw_landing_may(const struct fw *fw, const struct fw_landing *l,
		    const struct fw_resident *r)
{
	const struct fw_turn t = turn_of(r);

	return fw_qp_hears(l->qp) && fw_mr_has(l->mr, r->rva, r->len) &&
	       fw_order_would(fw, l->place, &t) == FW_TURN_NOW;
}

void fw_landing_done(struct fw *fw, const struct fw_landing *l, const struct fw_resident *r,
		     uint32_t block, uint32_t bytes, uint16_t gen)
{
	uint32_t blocks = blocks_of(fw, bytes);
	struct fw_turn t = turn_of(r);

	/* The last of these. */
	t.block = block + blocks - 1;
	t.last = ((r->len - 1) >> fw->block_log2) + r->block == t.block;
	fw_order_judge(fw, l->place, &t);
	fw_order_landed(fw, l->place, &t, blocks);
	l->peer->silent = fw->slot[l->qp->slot].silent & FL_SILENT_WRITE;
	l->peer->write_gen = gen;
	l->peer->accepted = 0;
	fw->stats.rx_checks += blocks;
}
