// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queue pairs by number, and the sets that say what each wants: attention, a context, or
 * nothing. Whoever changes a queue pair calls fw_qp_update(); the steps look at the sets.
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

/*
 * A WRITE behind a READ waits for its end: so it can send what the READ brought,
 * and the READ cannot see it, however often it is asked for.
 */
bool fw_request_fenced(const struct fw_qp *q)
{
	const struct fw_wr *wr = &q->wr[q->wr_issue % FW_QP_WRS];

	if (wr->issued)
		return false;
	if (wr->flags & FL_WQE_FENCE)
		return q->wr_issue != q->wr_head;
	return !q->relaxed && wr->opcode == FL_OP_WRITE && q->reads;
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
	/* A queue pair that is being destroyed is served by its command. */
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
