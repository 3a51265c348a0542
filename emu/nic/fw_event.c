// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events for the driver: a queue in memory, and a level-triggered line that is
 * up while it is not empty. There is one pending bit for each kind and object,
 * so that a full queue loses nothing: what does not fit waits in its bit.
 */
#include "nic/fw_internal.h"

static void event_pend(struct fw *fw, uint32_t type, uint32_t object, bool on)
{
	struct fw_bits *pending = &fw->eq.pending[type - 1];
	uint32_t bit = 1u << (type - 1);

	fw_assert(type >= 1 && type <= FW_EVENT_KINDS);
	fw_bits_put(pending, object, on);
	if (pending->words)
		fw->eq.kinds |= bit;
	else
		fw->eq.kinds &= ~bit;
}

void fw_event_raise(struct fw *fw, uint32_t type, uint32_t object)
{
	event_pend(fw, type, object, true);
}

void fw_event_forget(struct fw *fw, uint32_t type, uint32_t object)
{
	event_pend(fw, type, object, false);
}

/* IRQ_STATUS; the bits of IRQ_ENABLE are in the same places. */
uint32_t fw_event_causes(const struct fw *fw)
{
	return (fw->eq.prod != fw->eq.cons ? NIC_FW_IRQ_STATUS_EVENT : 0) |
	       (fw->eq.faults ? NIC_FW_IRQ_STATUS_FAULT : 0);
}

void fw_event_line(struct fw *fw)
{
	struct fw_eq *q = &fw->eq;
	bool level = fw_event_causes(fw) & q->irq_enable;

	if (level == q->line)
		return;
	q->line = level;
	fw->env.irq(fw->env.ctx, FW_LINE_EVENT, level);
}

void fw_fault_line(struct fw *fw, bool level)
{
	fw->eq.faults = level;
	fw_event_line(fw);
}

/* EQ_SIZE: starts the queue, from its beginning; 0 stops it. */
int fw_event_start(struct fw *fw, uint32_t size)
{
	struct fw_eq *q = &fw->eq;

	/* regs.def, EQ_SIZE: a power of two, 16 to 4096 */
	if (size && (size < 16 || size > 4096 || size & (size - 1)))
		return -FW_EINVAL;
	if (size && q->base + 16ull * size - 1 < q->base)
		return -FW_EINVAL;
	q->pa = q->base;
	q->size = size;
	q->prod = 0;
	q->cons = 0;
	q->wraps = 0;
	fw_event_line(fw);
	fw->env.kick(fw->env.ctx);
	return 0;
}

int fw_event_consumed(struct fw *fw, uint32_t cons)
{
	struct fw_eq *q = &fw->eq;

	/* Nothing can be taken that was not written. */
	if (cons - q->cons > q->prod - q->cons)
		return -FW_EINVAL;
	q->cons = cons;
	fw_event_line(fw);
	fw->env.kick(fw->env.ctx);
	return 0;
}

/* Publish one event. Negative: the queue's memory failed. */
static int event_write(struct fw *fw, const struct fl_eqe *e)
{
	struct fw_eq *q = &fw->eq;
	uint64_t pa = q->pa + 16ull * (q->prod & (q->size - 1));

	if (fw->env.mem_write(fw->env.ctx, pa, e,
			      offsetof(struct fl_eqe, phase)))
		return -1;
	/* entries.def, fl_cqe.phase: 1 + the number of wraps, written last */
	if (fw->env.mem_publish(fw->env.ctx,
				pa + offsetof(struct fl_eqe, phase),
				1 + q->wraps))
		return -1;
	q->prod++;
	if (!(q->prod & (q->size - 1)))
		q->wraps++;
	return 0;
}

/* Of those that tell of no failure. */
static uint32_t event_next(const struct fw *fw)
{
	if (fw->eq.pending[FL_EV_SRQ_LIMIT - 1].words)
		return FL_EV_SRQ_LIMIT;
	return fw->eq.pending[FL_EV_CQ - 1].words ? FL_EV_CQ : FL_EV_COUNTER;
}

void fw_event_step(struct fw *fw)
{
	struct fl_eqe e = { .type = FL_EV_CQ_OVERFLOW };
	struct fw_at at = { 0 };
	uint32_t n;

	/* The gravest first. */
	if (fw->eq.pending[FL_EV_QP_ERROR - 1].words)
		e.type = FL_EV_QP_ERROR;
	else if (!fw->eq.pending[FL_EV_CQ_OVERFLOW - 1].words)
		e.type = event_next(fw);
	e.object = n = fw_bits_next(&fw->eq.pending[e.type - 1],
				    FW_BITS_MAX - 1);
	if (e.type == FL_EV_QP_ERROR) {
		e.object = fw_qp_number(&fw->qp[n], n);
		e.data = fw->qp[n].error_status;
		at.cause = fw->qp[n].cause;
	} else if (e.type == FL_EV_SRQ_LIMIT) {
		at.cause = fw->srq[n].cause;
	} else if (e.type == FL_EV_COUNTER) {
		e.object = n + 1;
		at.cause = fw->counter[n].cause;
	} else {
		at.cause = fw->cq[n].cause;
	}
	if (event_write(fw, &e)) {
		/* The bit stays; the driver may start a queue that works. */
		fw->eq.size = 0;
		fw->eq.cons = fw->eq.prod;
		fw_event_line(fw);
		return;
	}
	fw_event_forget(fw, e.type, n);
	fw->stats.events++;
	fw->costs[FW_COST_CQE]++;
	fw_trace(fw, FW_TRACE_FW_EVENT, at, e.type, e.object, 0, 0);
	fw_event_line(fw);
}
