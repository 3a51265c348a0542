// SPDX-License-Identifier: BSD-2-Clause
/* What all files of the unit ask of whatever is around it: a turn, a record, a verdict. */
#include "nic/transport/rc_internal.h"

#include "trace/event.h"

void rc_kick(struct rc *rc, unsigned int channel)
{
	if (rc->awake[channel])
		return;
	rc->awake[channel] = true;
	rc->env.kick(rc->env.ctx, channel);
}

void rc_pair_ready(struct rc *rc, struct rc_pair *q)
{
	rc->ready[q->place / 64] |= 1ull << q->place % 64;
	rc_kick(rc, 0);
}

uint64_t rc_note(struct rc *rc, unsigned int ev, uint32_t xfer, uint64_t cause,
		 const struct rc_pair *q, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct trace_at at = { .board = rc->cfg.node, .xfer = xfer, .cause = cause };

	return rc->env.emit(rc->env.ctx, ev, &at, q ? q->p.qpn : 0, a1, a2, a3);
}

void rc_drop(struct rc *rc, const struct rc_pair *q, const struct wire_frame *f,
	     const struct rc_packet *p, enum rc_drop_why why)
{
	rc->stats.dropped++;
	if (why == RC_DROP_BAD)
		rc->stats.bad_packets++;
	else if (why == RC_DROP_FULL)
		rc->stats.overflows++;
	rc_note(rc, EV_RC_DROP, f->xfer, f->cause, q, p ? p->psn : 0,
		p ? p->opcode : wire_opcode(f), why);
}

struct rc_judged rc_ask(struct rc *rc, const struct rc_mover *m, struct rc_miss *miss)
{
	miss->key = m->key;
	miss->object = m->object;
	miss->va = m->va;
	/* Behind the end of its segment lies what is no part of the request. */
	miss->len = m->left < m->rest ? m->left : m->rest;
	if (m->segment && miss->left > m->rest - miss->len)
		miss->left = m->rest - miss->len;
	miss->xfer = m->xfer;
	rc->stats.misses++;
	miss->cause = rc_note(rc, EV_RC_MISS, m->xfer, m->burst.event ? m->burst.event : m->cause,
			      m->qp, miss->side, miss->va, miss->psn);
	return rc->env.miss(rc->env.ctx, miss);
}

void rc_sleep(struct rc *rc, const struct rc_mover *m, const struct rc_miss *miss)
{
	rc->sleep[m->channel] = (struct rc_asleep){
		.asleep = true, .qp = m->qp->place, .side = (uint8_t)miss->side,
		.write = m->write, .psn = miss->psn,
	};
}
