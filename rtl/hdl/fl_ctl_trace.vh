// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: the records of its trace port (fl_trace.vh). Nothing else sets trc_*, and nothing
// that the engine does depends on them: where the port is not connected, all of this vanishes.

// A record; what else it holds is set after this, in the tasks below.
task trace;
	input [4:0] code;
	input [7:0] index;
	begin
		trc_valid <= 1'b1;
		trc_code <= code;
		trc_index <= index;
		trc_from <= 4'd0;
		trc_event <= 4'd0;
		trc_to <= 4'd0;
		trc_node <= 8'd0;
		trc_gen <= 16'd0;
		trc_attempt <= 8'd0;
		trc_xfer <= 32'd0;
		trc_block <= 32'd0;
		trc_a <= 64'd0;
		trc_b <= 32'd0;
	end
endtask

// Which event comes next, of those that wait.
task trace_served;
	input [2:0] ev;
	begin
		trace(`FL_TRC_SERVED, {5'd0, ev});
		trc_event <= ev == EV_READ ? {1'b0, re_kind} : ev == EV_WRITE ? {1'b0, we_kind} :
			4'd0;
		trc_node <= {3'd0, waiting};
	end
endtask

// About transmit context ti: tx_at().
task trace_tx;
	input [4:0] code;
	begin
		trace(code, {4'd0, tn});
		trc_xfer <= t_xfer[ti];
		trc_block <= t_block[ti];
		trc_attempt <= t_attempt[ti];
	end
endtask

// About receive context xi: rx_at().
task trace_rx;
	input [4:0] code;
	begin
		trace(code, {3'd0, xn});
		trc_xfer <= x_xfer[xi];
		trc_block <= x_block[xi];
		trc_attempt <= x_attempt[xi];
	end
endtask

// About the packet: packet_at() and what it is about.
task trace_packet;
	input [4:0] code;
	begin
		trace(code, pk_ctx);
		trc_node <= pk_from;
		trc_xfer <= pk_xfer;
		trc_block <= pk_block;
		trc_attempt <= pk_attempt;
	end
endtask

task trace_tx_state;
	begin
		trace_tx(`FL_TRC_TX_STATE);
		trc_from <= t_state[ti];
		trc_event <= tm_event;
		trc_to <= t_to;
	end
endtask

task trace_rx_state;
	begin
		trace_rx(`FL_TRC_RX_STATE);
		trc_from <= x_state[xi];
		trc_event <= rm_event;
		trc_to <= rx_next(x_state[xi], rm_event);
	end
endtask

task trace_early;
	begin
		trace_tx(`FL_TRC_TX_EARLY);
		trc_event <= ap_event;
		trc_a <= {56'd0, ap_code};
	end
endtask

task trace_cell;
	begin
		trace(`FL_TRC_CELL, 8'd0);
		trc_a <= {51'd0, pk_plen};
	end
endtask

task trace_bad_packet;
	begin
		trace(`FL_TRC_RX_BAD_PACKET, 8'd0);
		trc_a <= {61'd0, why};
		trc_b <= {16'd0, pk_flen};
	end
endtask

task trace_stale;
	begin
		trace(`FL_TRC_RX_STALE, pk_ctx);
		trc_node <= pk_from;
		trc_gen <= pk_gen;
		trc_attempt <= pk_attempt;
	end
endtask

task trace_duplicate;
	begin
		trace_packet(`FL_TRC_RX_DUPLICATE);
		trc_gen <= pk_gen;
	end
endtask

task trace_bad_reg;
	begin
		trace(`FL_TRC_BAD_REG, 8'd0);
		trc_a <= {47'd0, rq_addr};
		trc_b <= rq_wdata;
	end
endtask

// About the context that side says.
task trace_side;
	input [4:0] code;
	begin
		if (side)
			trace_rx(code);
		else
			trace_tx(code);
		trc_from <= {3'd0, side};
	end
endtask

task trace_fault;
	begin
		trace_side(`FL_TRC_ENG_FAULT);
		trc_a <= side ? x_va[xi] : t_lva[ti];
		trc_b <= side ? x_map[xi] : re_map;
	end
endtask

task trace_ready;
	begin
		trace_side(`FL_TRC_READY_REG);
		trc_a <= {56'd0, ready_code};
	end
endtask

// The answer in tp_*: it leaves or waits.
task trace_answer;
	input [4:0] code;
	begin
		trace(code, {4'd0, tp_ctx[3:0]});
		trc_from <= {3'd0, an_waited};
		trc_event <= an_waited ? 4'd0 : an_event;
		trc_node <= {4'd0, tp_to};
		trc_gen <= tp_gen;
		trc_attempt <= tp_attempt;
		trc_xfer <= tp_xfer;
		trc_block <= tp_block;
		trc_a <= {56'd0, tp_opcode};
		trc_b <= an_waited ? 32'd0 : {27'd0, xn};
	end
endtask

// What fl_answer decides now.
task trace_sent;
	if (an_waits)
		trace_answer(`FL_TRC_ANS_WAIT);
	else if (an_sends && tp_answer)
		trace_answer(`FL_TRC_ANS_SEND);
	else if (an_sends && !rd_ask && rd_sent == 17'd0) begin
		trace_tx(`FL_TRC_TX_CELLS);
		trc_a <= {47'd0, t_len[ti]};
		trc_b <= {15'd0, t_cells};
	end
endtask
