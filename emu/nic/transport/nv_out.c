// SPDX-License-Identifier: BSD-2-Clause
/* What all files of the unit ask of whatever is around it: a turn, and a record. */
#include "nic/transport/nv_internal.h"

#include "trace/event.h"

void nv_kick(struct nv *nv, unsigned int channel)
{
	if (nv->awake[channel])
		return;
	nv->awake[channel] = true;
	nv->env.kick(nv->env.ctx, channel);
}

void nv_pair_ready(struct nv *nv, struct nv_pair *q)
{
	nv->ready[q->place / 64] |= 1ull << q->place % 64;
	nv_kick(nv, 0);
}

uint64_t nv_note(struct nv *nv, unsigned int ev, uint32_t xfer, uint64_t cause,
		 const struct nv_pair *q, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct trace_at at = { .board = nv->cfg.node, .xfer = xfer, .cause = cause };

	return nv->env.emit(nv->env.ctx, ev, &at, q ? q->p.qpn : 0, a1, a2, a3);
}

void nv_drop(struct nv *nv, const struct nv_pair *q, const struct wire_frame *f,
	     uint32_t sequence, enum nv_drop_why why)
{
	nv->stats.dropped++;
	nv->stats.bad_packets += why == NV_DROP_BAD;
	nv_note(nv, EV_NV_DROP, f->xfer, f->cause, q, sequence, wire_opcode(f), why);
}
