// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completion queues: the firmware writes, the process reads and says how far it
 * got. A full queue is never overwritten: it breaks, and its queue pairs stop.
 */
#include "nic/fw_internal.h"

struct fw_cq *fw_cq_find(struct fw *fw, uint64_t n, uint32_t slot)
{
	if (n >= FW_CQS || !fw->cq[n].used || fw->cq[n].slot != slot)
		return NULL;
	return &fw->cq[n];
}

uint8_t fw_cq_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n)
{
	uint32_t q = fw->cq_last, i;

	/* entries.def, CQ_CREATE: a power of two, 2 to 32768 */
	if (c->b < 2 || c->b > 32768 || c->b & (c->b - 1))
		return FL_ST_BAD_ARGUMENT;
	if (c->a % 64 || c->a + sizeof(struct fl_cqe) * c->b - 1 < c->a)
		return FL_ST_BAD_ARGUMENT;
	if (!fw_reaches(fw, c->a, sizeof(struct fl_cqe) * c->b))
		return FL_ST_BUS_ERROR;
	for (i = 0; i < FW_CQS; i++) {
		q = (q + 1) % FW_CQS;
		if (!fw->cq[q].used)
			break;
	}
	if (i == FW_CQS)
		return FL_ST_NO_ROOM;
	fw->cq_last = (uint16_t)q;
	fw->cq[q] = (struct fw_cq){
		.pa = c->a,
		.size_log2 = (uint8_t)__builtin_ctz((uint32_t)c->b),
		.slot = (uint8_t)c->slot,
		.used = true,
	};
	*n = q;
	return FL_ST_OK;
}

static void cq_free(struct fw *fw, uint32_t n)
{
	fw->cq[n].used = false;
	fw_event_forget(fw, FL_EV_CQ, n);
	fw_event_forget(fw, FL_EV_CQ_OVERFLOW, n);
}

uint8_t fw_cq_destroy(struct fw *fw, const struct fl_fw_cmd *c)
{
	struct fw_cq *q = fw_cq_find(fw, c->object, c->slot);

	if (!q)
		return FL_ST_NO_OBJECT;
	if (q->users)
		return FL_ST_BUSY;
	cq_free(fw, c->object);
	return FL_ST_OK;
}

/* After the queue pairs of the slot are gone. */
void fw_cq_close_slot(struct fw *fw, uint32_t slot)
{
	uint32_t i;

	for (i = 0; i < FW_CQS; i++)
		if (fw->cq[i].used && fw->cq[i].slot == slot)
			cq_free(fw, i);
}

/*
 * No completion can be delivered any more: the driver hears of it, senders
 * stop.
 */
static void cq_break(struct fw *fw, uint16_t n)
{
	struct fw_cq *q = &fw->cq[n];
	uint32_t i;

	q->broken = true;
	q->armed = q->armed_solicited = false;
	fw_event_raise(fw, FL_EV_CQ_OVERFLOW, n);
	for (i = 0; i < FW_QPS; i++) {
		struct fw_qp *qp = &fw->qp[i];

		if (qp->state == FW_QP_FREE || (qp->cq != n && qp->recv_cq != n))
			continue;
		/* Its unit may be in the middle of what led here. */
		if (qp->unit) {
			qp->doomed = true;
			fw_qp_update(fw, (uint16_t)i);
		} else {
			fw_qp_break(fw, (uint16_t)i, FL_ST_NO_ROOM, q->cause);
		}
	}
}

static int cq_write(struct fw *fw, const struct fw_cq *q, struct fl_cqe *e)
{
	uint32_t place = (uint32_t)q->prod & ((1u << q->size_log2) - 1);
	uint64_t pa = q->pa + sizeof(*e) * (uint64_t)place;

	/* entries.def, fl_cqe.phase: 1 + the number of wraps, written last */
	e->phase = 1 + (uint32_t)(q->prod >> q->size_log2);
	if (fw->env.mem_write(fw->env.ctx, pa, e,
			      offsetof(struct fl_cqe, phase)))
		return -1;
	return fw->env.mem_publish(fw->env.ctx,
				   pa + offsetof(struct fl_cqe, phase),
				   e->phase);
}

void fw_cq_push(struct fw *fw, uint16_t n, struct fl_cqe *e, struct fw_at at,
		bool solicited)
{
	struct fw_cq *q = &fw->cq[n];

	if (q->broken)
		return;
	if (q->prod - q->cons == 1ull << q->size_log2 || cq_write(fw, q, e)) {
		if (fw->untold)
			fw_resident_tell(fw, false);
		cq_break(fw, n);
		return;
	}
	q->prod++;
	fw->costs[FW_COST_CQE]++;
	fw->stats.completions++;
	if (e->status)
		fw->stats.errors++;
	q->cause = fw->untold ? fw_resident_tell(fw, true) :
		   fw_trace(fw, FW_TRACE_FW_COMPLETE, at, e->qpn, e->status, e->length,
			    e->index);
	solicited |= e->status != FL_ST_OK;
	if (solicited)
		q->solicited = q->prod;
	if (q->armed || (q->armed_solicited && solicited)) {
		q->armed = q->armed_solicited = false;
		fw_event_raise(fw, FL_EV_CQ, n);
	}
}

int fw_cq_consumed(struct fw *fw, uint32_t slot, uint32_t n, uint16_t cons)
{
	struct fw_cq *q = fw_cq_find(fw, n, slot);
	uint16_t more;

	if (!q)
		return -FW_EINVAL;
	/* Nothing can be taken that was not written. */
	more = (uint16_t)(cons - (uint16_t)q->cons);
	if (more > q->prod - q->cons)
		return -FW_EINVAL;
	q->cons += more;
	return 0;
}

int fw_cq_arm(struct fw *fw, uint32_t slot, uint32_t n, uint16_t cons)
{
	struct fw_cq *q = fw_cq_find(fw, n, slot);

	if (!q || fw_cq_consumed(fw, slot, n, cons))
		return -FW_EINVAL;
	if (q->prod == q->cons && !q->broken) {
		q->armed = true;
		return 0;
	}
	/*
	 * There is one already that the process has not seen, or there will
	 * never be one: who is about to sleep has to hear of it.
	 */
	fw_event_raise(fw, q->broken ? FL_EV_CQ_OVERFLOW : FL_EV_CQ, n);
	fw->env.kick(fw->env.ctx);
	return 0;
}

int fw_cq_arm_solicited(struct fw *fw, uint32_t slot, uint32_t n, uint16_t cons)
{
	struct fw_cq *q = fw_cq_find(fw, n, slot);

	if (!q || fw_cq_consumed(fw, slot, n, cons))
		return -FW_EINVAL;
	/* InfiniBand 11.4.2.2: a queue that is armed for any completion stays so. */
	if (q->solicited <= q->cons && !q->broken) {
		q->armed_solicited = true;
		return 0;
	}
	fw_event_raise(fw, q->broken ? FL_EV_CQ_OVERFLOW : FL_EV_CQ, n);
	fw->env.kick(fw->env.ctx);
	return 0;
}
