// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event counters: control beside data. A WRITE names a counter of the receiver's process,
 * which rises when every byte of the WRITE, and of all before it on the pair, is in its final
 * place: the window calls here in the order of the sequence numbers. The counters themselves
 * are the firmware's (fw_count.c), in memory of the process.
 */
#include "nic/transport/nv_internal.h"
#include "trace/event.h"

uint8_t nv_count_check(struct nv *nv, struct nv_pair *q, uint16_t counter)
{
	if (!counter)
		return FL_ST_OK;
	return nv->env.fw.count(nv->env.fw.ctx, q->place, counter, false, 0);
}

void nv_count_rise(struct nv *nv, struct nv_pair *q, uint32_t sequence,
		   const struct nv_arrived *a)
{
	uint64_t cause;

	if (!a->counter || !a->last)
		return;
	nv->stats.counted++;
	cause = nv_note(nv, EV_NV_COUNT, a->xfer, a->cause, q, a->counter, sequence, 0);
	/* It may have ended since it was checked; then nobody waits for it. */
	nv->env.fw.count(nv->env.fw.ctx, q->place, a->counter, true, cause);
}
