// SPDX-License-Identifier: BSD-2-Clause
/* What all files of the unit say: a record, and how a receive ends. */
#include "nic/transport/ud_internal.h"

#include "trace/event.h"

uint8_t ud_local_status(uint8_t seen)
{
	switch (seen) {
	case FL_ST_SEEN_KEY:
		return FL_ST_LOCAL_KEY;
	case FL_ST_SEEN_RIGHTS:
		return FL_ST_LOCAL_RIGHTS;
	default:
		return FL_ST_LOCAL_RANGE;
	}
}

uint64_t ud_note(struct ud *ud, unsigned int ev, uint32_t xfer, uint64_t cause,
		 const struct ud_pair *q, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct trace_at at = { .board = ud->cfg.node, .xfer = xfer, .cause = cause };

	return ud->env.emit(ud->env.ctx, ev, &at, q ? q->p.qpn : 0, a1, a2, a3);
}

void ud_drop(struct ud *ud, const struct ud_pair *q, const struct wire_frame *f,
	     const struct rc_packet *p, enum ud_drop_why why)
{
	ud->stats.dropped[why]++;
	ud_note(ud, EV_UD_DROP, f->xfer, f->cause, q, p ? p->psn : 0, f->len, why);
}
