// SPDX-License-Identifier: BSD-2-Clause
/*
 * The firmware's verdict on what a receive context holds: accepted, refused for
 * good, to come again later, or taken back.
 */
#include "nic/engine_internal.h"

int rx_verdict(struct c_engine *e, unsigned int i, uint32_t value)
{
	uint8_t code = (uint8_t)((value & NIC_RXC_VERDICT_CODE_MASK) >>
				 NIC_RXC_VERDICT_CODE_SHIFT);
	uint8_t serial = (uint8_t)((value & NIC_RXC_VERDICT_SERIAL_MASK) >>
				   NIC_RXC_VERDICT_SERIAL_SHIFT);
	struct rx_ctx *r = &e->rx[i];

	/* The peer may have started again before the firmware was done. */
	if (r->serial != serial)
		return 0;
	/* Taken back: the block is given up, or nobody may write there now. */
	if (code && r->requester == NONE) {
		if (r->state == FL_RX_COLLECT)
			rx_end(e, r, FL_RX_EV_RESTART, 0, 0, e->reg_cause);
		else if (r->state == FL_RX_WRITE)
			write_stop(e, r);
	}
	if (r->state != FL_RX_CHECK)
		return 0;
	if (code == FL_ST_WAIT && r->opcode == WOP_READ_REQ) {
		rx_end(e, r, FL_RX_EV_DENY, WOP_WAIT, 0, e->reg_cause);
	} else if (code == FL_ST_WAIT || code == FL_ST_BUSY) {
		rx_end(e, r, FL_RX_EV_DENY, WOP_REFUSED, code, e->reg_cause);
	} else if (code) {
		rx_end(e, r, FL_RX_EV_DENY, WOP_NAK, code, e->reg_cause);
	} else if (r->opcode == WOP_READ_REQ) {
		/* The firmware will send the data from a context of ours. */
		rx_end(e, r, FL_RX_EV_DENY, 0, 0, e->reg_cause);
	} else {
		r->stream = (value & NIC_RXC_VERDICT_STREAM_MASK) >>
			    NIC_RXC_VERDICT_STREAM_SHIFT;
		rx_move(e, r, r->cells_left ? FL_RX_EV_ACCEPT :
					      FL_RX_EV_ACCEPT_FULL,
			e->reg_cause);
	}
	return 0;
}
