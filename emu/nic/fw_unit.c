// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a packet unit asks of the firmware (transport.h), and how the firmware takes a queue
 * pair from it.
 *
 * These calls come at any time, not only in a step: what they cost the firmware, the next
 * step pays.
 */
#include "nic/fw_internal.h"

static void unit_work_done(void *ctx, uint16_t qp, uint32_t wr, uint8_t status,
			   uint32_t resends, uint64_t cause)
{
	struct fw *fw = ctx;
	struct fw_qp *q = &fw->qp[qp];
	struct fw_wr *w = fw_wr_at(q, wr);

	fw_assert(q->open && wr - q->wr_head < q->wr_tail - q->wr_head);
	fw_assert(w->inflight);
	w->inflight = 0;
	w->resends = resends;
	w->cause = cause;
	if (status)
		fw_request_fail(fw, qp, wr, status);
	fw_request_complete(fw, qp);
	fw_qp_update(fw, qp);
	fw->env.kick(fw->env.ctx);
}

/* What a peer tried, and was not allowed, is counted as with blocks. */
static void count_refused(struct fw_stats *st, uint8_t seen)
{
	st->rx_checks++;
	st->rx_refused += seen != FL_ST_OK;
	st->refused_key += seen == FL_ST_SEEN_KEY;
	st->refused_range += seen == FL_ST_SEEN_RANGE;
	st->refused_rights += seen == FL_ST_SEEN_RIGHTS;
}

static uint8_t unit_reach(void *ctx, const struct fw_wanted *w,
			  uint32_t *object)
{
	struct fw *fw = ctx;
	const struct fw_qp *q = &fw->qp[w->qp];
	struct fw_range r = {
		.key = w->key, .slot = q->slot, .pd = q->pd,
		.right = w->right, .va = w->va, .bytes = w->bytes,
	};
	uint16_t mr = 0;
	uint8_t status;

	fw_assert(q->open);
	status = fw_mr_seen_status(w->bytes ? fw_mr_check(fw, &r, &mr) :
					      fw_mr_check_rights(fw, &r, &mr));
	*object = mr;
	if (w->right & ~FL_ACC_LOCAL_WRITE)
		count_refused(&fw->stats, status);
	return status;
}

static bool unit_recv_take(void *ctx, uint16_t qp, struct fw_recv *r,
			   uint8_t *wrong)
{
	return fw_recv_take(ctx, qp, r, wrong);
}

static bool unit_recv_ahead(void *ctx, uint16_t qp, uint16_t ahead,
			    struct fw_recv *r, uint8_t *wrong)
{
	return fw_recv_ahead(ctx, qp, ahead, r, wrong);
}

static void unit_recv_done(void *ctx, uint16_t qp, const struct fw_recv *r,
			   const struct fw_arrival *a)
{
	struct fw *fw = ctx;
	const struct fw_qp *q = &fw->qp[qp];

	fw_assert(q->open);
	if (q->datagrams)
		fw_recv_oldest(fw, qp, r, a->status);
	fw_assert(q->has_taken && r->index == q->taken.index);
	fw_recv_done(fw, qp, a);
	fw->env.kick(fw->env.ctx);
}

static uint8_t unit_count(void *ctx, uint16_t qp, uint16_t counter, bool rise,
			  uint64_t cause)
{
	struct fw *fw = ctx;

	return fw_counter_rise(fw, fw->qp[qp].slot, counter, rise, cause);
}

static void unit_pair_error(void *ctx, uint16_t qp, uint8_t status,
			    uint64_t cause)
{
	struct fw *fw = ctx;

	fw_assert(fw->qp[qp].open && status);
	fw_qp_break(fw, qp, status, cause);
	fw->env.kick(fw->env.ctx);
}

static void unit_heard(void *ctx, uint16_t qp, uint64_t cause)
{
	struct fw *fw = ctx;
	struct fw_qp *q = &fw->qp[qp];

	fw_assert(q->open);
	if (q->state != FW_QP_RTR)
		return;
	q->cause = cause;
	fw_event_raise(fw, FL_EV_QP_HEARD, qp);
	fw->env.kick(fw->env.ctx);
}

struct fw_unit_ops fw_unit(void *mem)
{
	return (struct fw_unit_ops){
		.ctx = mem, .work_done = unit_work_done, .reach = unit_reach,
		.recv_take = unit_recv_take, .recv_ahead = unit_recv_ahead,
		.recv_done = unit_recv_done, .count = unit_count,
		.pair_error = unit_pair_error, .heard = unit_heard,
	};
}
