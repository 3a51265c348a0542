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

void fw_event_forget_qp(struct fw *fw, uint32_t n)
{
	fw_event_forget(fw, FL_EV_QP_ERROR, n);
	fw_event_forget(fw, FL_EV_LAST_RECV, n);
	fw_event_forget(fw, FL_EV_QP_HEARD, n);
	fw_event_forget(fw, FL_EV_SQ_DRAINED, n);
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
	if (!fw_reaches(fw, q->base, 16ull * size))
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

/* Of what is pending, the gravest first. */
static uint32_t event_kind(const struct fw *fw)
{
	static const uint8_t order[FW_EVENT_KINDS] = {
		FL_EV_QP_ERROR, FL_EV_CQ_OVERFLOW, FL_EV_LAST_RECV,
		FL_EV_SRQ_LIMIT, FL_EV_QP_HEARD, FL_EV_SQ_DRAINED, FL_EV_CQ,
		FL_EV_COUNTER,
	};
	uint32_t i = 0;

	while (!(fw->eq.kinds & 1u << (order[i] - 1)))
		i++;
	return order[i];
}

/* What an event of its type says of object n. Its cause. */
static uint64_t event_fill(const struct fw *fw, struct fl_eqe *e, uint32_t n)
{
	const struct fw_qp *q = &fw->qp[n];

	e->object = n;
	switch (e->type) {
	case FL_EV_QP_ERROR:
		e->data = q->error_status | (q->untold ? FL_ENDED_UNTOLD : 0u);
		/* fall through */
	case FL_EV_LAST_RECV:
	case FL_EV_QP_HEARD:
	case FL_EV_SQ_DRAINED:
		e->object = fw_qp_number(q, n);
		return q->cause;
	case FL_EV_SRQ_LIMIT:
		return fw->srq[n].cause;
	case FL_EV_COUNTER:
		e->object = n + 1;
		return fw->counter[n].cause;
	}
	return fw->cq[n].cause;
}

void fw_event_step(struct fw *fw)
{
	struct fl_eqe e = { .type = event_kind(fw) };
	struct fw_at at = { 0 };
	uint32_t n;

	n = fw_bits_next(&fw->eq.pending[e.type - 1], FW_BITS_MAX - 1);
	at.cause = event_fill(fw, &e, n);
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
