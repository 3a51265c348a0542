// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a peer hears of pages that are missing here, where the row of the process
 * (system.def) wants something else than the engine does by itself: nothing (drop), or of
 * a READ at once that it has failed (abort).
 *
 * The engine has no answer for a READ that it has taken over. So one that may have to fail
 * at once is not taken over yet: it stays in CHECK until all of the block has been read, or
 * a page of it is missing. Where too many wait so, or the NAK is lost, the peer hears of it
 * when it asks again.
 */
#include "nic/fw_internal.h"

void fw_peer_hears(struct fw *fw, uint8_t node, uint8_t ctx, uint16_t qp,
		   bool is_write)
{
	const struct fw_slot *s = &fw->slot[fw->qp[qp].slot];

	fw->peer[node][ctx & (FW_CTXS - 1)].silent =
		s->silent & (is_write ? FL_SILENT_WRITE : FL_SILENT_READ);
}

bool fw_is_silent(const struct fw *fw, uint8_t node, uint8_t ctx)
{
	return fw->peer[node][ctx & (FW_CTXS - 1)].silent;
}

bool fw_job_hold(struct fw *fw, uint32_t n, uint32_t rxc, uint8_t serial)
{
	struct fw_job *j = &fw->job[n];

	if (!(fw->slot[fw->qp[j->qp].slot].abort & FL_ABORT_READ) ||
	    fw_order_now(fw, j->qp, &j->turn) == FW_TURN_LATER ||
	    !fw_rx_may_hold(fw))
		return false;
	j->held = true;
	j->rxc = (uint8_t)rxc;
	j->serial = serial;
	fw->jobs_held++;
	return true;
}

void fw_job_let_go(struct fw *fw, uint32_t n)
{
	fw->jobs_held -= fw->job[n].held;
	fw->job[n].held = false;
}

void fw_job_tell(struct fw *fw, uint32_t n, uint8_t code)
{
	const struct fw_job *j = &fw->job[n];

	if (!j->held)
		return;
	fw_write32(fw, NIC_RXC_BASE(j->rxc) + NIC_RXC_VERDICT,
		   (uint32_t)code << NIC_RXC_VERDICT_CODE_SHIFT |
			   (uint32_t)j->serial << NIC_RXC_VERDICT_SERIAL_SHIFT);
	fw_job_let_go(fw, n);
}
