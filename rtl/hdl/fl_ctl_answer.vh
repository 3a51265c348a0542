// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: what fl_answer does for others; SEND_CELL is in fl_ctl_tx.vh.

ANSWER_FLUSH, ANSWER_POST: begin
	trace_sent;
	if (an_done)
		step <= an_ret;
end
