// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: what software is told, and READY, what the driver answers.

// fault_queue_tx(), fault_queue_rx()
FAULT_QUEUE: begin
	trace_fault;
	step <= FAULT_PUSH;
end
FAULT_PUSH:
	if (fq_done)
		step <= fq_ret;
FAULT_POP: step <= REG_DONE;

FAULT_READY:
	if (ready_index >= (side ? {2'd0, i_rx_contexts} : {3'd0, i_contexts}))
		step <= REG_REFUSE;
	else begin
		trace_ready;
		step <= side ? RX_READY : TX_READY;
	end

NOTE_POST:
	if (nq_done)
		step <= nt_ret;
