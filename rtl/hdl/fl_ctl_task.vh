// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: calls of the states that work for others.

// The packet is not taken.
task go_bad;
	input [2:0] error;
	begin
		why <= error;
		step <= RX_BAD;
	end
endtask

task go_tx_move;
	input [3:0] ev;
	input [6:0] ret;
	begin
		tm_event <= ev;
		tm_ret <= ret;
		step <= TX_MOVE;
	end
endtask

task go_rx_move;
	input [3:0] ev;
	input [6:0] ret;
	begin
		rm_event <= ev;
		rm_ret <= ret;
		step <= RX_MOVE;
	end
endtask

// wop 0: no answer.
task go_rx_end;
	input [3:0] ev;
	input [7:0] wop;
	input [7:0] code;
	input [6:0] ret;
	begin
		re_event <= ev;
		re_wop <= wop;
		re_code <= code;
		re_ret <= ret;
		pi <= x_place[SW-1:0];
		step <= RX_END;
	end
endtask

// An answer about receive context xi; cause: see FL_TRC_ANS_SEND.
task go_answer_post;
	input [7:0] wop;
	input [7:0] code;
	input [3:0] cause;
	input [6:0] ret;
	begin
		an_node <= x_node[xi];
		an_opcode <= wop;
		an_ctx <= x_ctx[xi];
		an_gen <= x_gen[xi];
		an_attempt <= x_attempt[xi];
		an_code <= code;
		an_map <= wop == `WOP_REFUSED ? x_map[xi] : 32'd0;
		an_xfer <= x_xfer[xi];
		an_block <= x_block[xi];
		an_event <= cause;
		an_ret <= ret;
		step <= ANSWER_POST;
	end
endtask

// An answer about the packet.
task go_answer_block;
	input [7:0] wop;
	input [7:0] code;
	input [3:0] cause;
	input [6:0] ret;
	begin
		an_node <= pk_from[3:0];
		an_opcode <= wop;
		an_ctx <= pk_ctx[3:0];
		an_gen <= pk_gen;
		an_attempt <= pk_attempt;
		an_code <= code;
		an_map <= 32'd0;
		an_xfer <= pk_xfer;
		an_block <= pk_block;
		an_event <= cause;
		an_ret <= ret;
		step <= ANSWER_POST;
	end
endtask

task go_flush;
	input [6:0] ret;
	begin
		an_ret <= ret;
		step <= ANSWER_FLUSH;
	end
endtask

task go_note;
	input [7:0] kind;
	input [4:0] index;
	input [7:0] serial;
	input [6:0] ret;
	begin
		nt_kind <= kind;
		nt_index <= index;
		nt_serial <= serial;
		nt_ret <= ret;
		step <= NOTE_POST;
	end
endtask

// The outcome of a block whose context is FLYING or still READY: first is TX_OUTCOME, TX_EARLY
// or TX_APPLY.
task go_outcome;
	input [6:0] first;
	input [3:0] ev;
	input [7:0] code;
	input [6:0] ret;
	begin
		ap_event <= ev;
		ap_code <= code;
		ap_ret <= ret;
		step <= first;
	end
endtask

// Context ti, xi, peer pi as after power-on, but for what outlives a reset.
task reset_context;
	begin
		t_state[ti] <= `FL_TX_FREE;
		t_opcode[ti] <= 8'd0;
		t_attempt[ti] <= 8'd0;
		t_status[ti] <= 8'd0;
		t_rxc[ti] <= 6'h20;
		t_asked[ti] <= 1'b0;
		t_early[ti] <= 1'b0;
		t_node[ti] <= 4'd0;
		t_stream[ti] <= 15'd0;
		t_qpn[ti] <= 24'd0;
		t_len[ti] <= 17'd0;
		t_rkey[ti] <= 32'd0;
		t_ref[ti] <= 32'd0;
		t_xfer[ti] <= 32'd0;
		t_block[ti] <= 32'd0;
		t_src[ti] <= 32'd0;
		t_lva[ti] <= 64'd0;
		t_rva[ti] <= 64'd0;
		t_left[ti] <= 64'd0;
		x_state[xi] <= `FL_RX_FREE;
		x_opcode[xi] <= 8'd0;
		x_node[xi] <= 4'd0;
		x_ctx[xi] <= 4'd0;
		x_attempt[xi] <= 8'd0;
		x_requester[xi] <= 5'h10;
		x_linked[xi] <= 1'b0;
		x_gen[xi] <= 16'd0;
		x_qpn[xi] <= 24'd0;
		x_len[xi] <= 17'd0;
		x_rkey[xi] <= 32'd0;
		x_ref[xi] <= 32'd0;
		x_xfer[xi] <= 32'd0;
		x_block[xi] <= 32'd0;
		x_src[xi] <= 32'd0;
		x_va[xi] <= 64'd0;
		x_left[xi] <= 64'd0;
		p_rxc[pi] <= 6'h20;
	end
endtask
