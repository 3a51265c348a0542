// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: packets, receive contexts and the peer table.

RECEIVE:
	if (!o_enabled)
		step <= PACKET_DONE;
	else if (pk_kind == PK_BAD)
		go_bad(pk_why);
	else if (pk_kind != PK_BLOCK)
		step <= TX_ANSWER;
	else if (!possible)
		go_bad(WIRE_LENGTH);
	else if (too_large) begin
		why <= WIRE_LENGTH;
		if (pk_whole || pk_opcode == `WOP_READ_REQ)
			go_answer_block(`WOP_NAK, `FL_ST_BLOCK_SIZE, 4'd1, RX_BAD);
		else
			step <= RX_BAD;
	end else begin
		if (pk_opcode != `WOP_READ_REQ)
			trace_cell;
		step <= RX_BLOCK;
	end
RX_BAD: begin
	trace_bad_packet;
	step <= PACKET_DONE;
end
RX_STALE: begin
	trace_stale;
	step <= PACKET_DONE;
end
PACKET_DONE: step <= IDLE;

// Serial number arithmetic: the half behind is old.
RX_BLOCK: begin
	xn <= p_rxc[pi][4:0];
	if (newer_gen)
		step <= p_rxc_none ? RX_OPEN : RX_NEWER_GEN;
	else if (pk_gen != p_gen[pi])
		step <= RX_STALE;
	else if (p_done[pi])
		step <= RX_AGAIN;
	else if (attempt_ahead[7])
		step <= RX_STALE;
	else if (attempt_ahead != 8'd0)
		step <= p_rxc_none ? RX_OPEN : RX_NEWER_ATTEMPT;
	else if (!p_rxc_none)
		step <= RX_COLLECT;
	else
		step <= p_over[pi] ? PACKET_DONE : RX_OPEN;
end
// The peer has given the older block up.
RX_NEWER_GEN:
	if (x_state[xi] == `FL_RX_WRITE) begin
		x_linked[xi] <= 1'b0;	// it comes to its end alone
		p_rxc[pi] <= 6'h20;
		step <= RX_OPEN;
	end else
		go_rx_move(`FL_RX_EV_RESTART, RX_OPEN);
// A newer attempt of what a context holds. While the firmware judges the older one it starts
// afresh. Otherwise the same bytes were sent again: they fill the holes, and the answer goes to
// the newest attempt.
RX_NEWER_ATTEMPT:
	// tag::engine-11[]
	if (x_state[xi] == `FL_RX_CHECK)
		go_rx_move(`FL_RX_EV_RESTART, RX_OPEN);
	else if (!same_block)
		go_bad(WIRE_HEADER);
	else begin
		p_attempt[pi] <= pk_attempt;
		x_attempt[xi] <= pk_attempt;
		step <= x_state[xi] == `FL_RX_FAULT ? RX_REFUSED_AGAIN : RX_COLLECT;
	end
	// end::engine-11[]
RX_REFUSED_AGAIN: go_answer_post(`WOP_REFUSED, 8'd0, 4'd1, PACKET_DONE);
// The last cell of a block came again while all of it is being written: its sender hears that it
// is being worked on. One that was given up may have to wait for the channel still; it hears that
// it may come again.
TELL_ALIVE:
	if (x_state[xi] != `FL_RX_WRITE || !pk_whole)
		step <= PACKET_DONE;
	else if (cancelled[xi])
		go_answer_post(`WOP_REFUSED, `FL_ST_BUSY, 4'd1, PACKET_DONE);
	else
		go_answer_post(`WOP_WAIT, 8'd0, 4'd1, PACKET_DONE);
// A block that is in memory came again: its ACK was lost, or is late.
RX_AGAIN:
	if (pk_opcode == `WOP_READ_REQ || !pk_whole)
		step <= PACKET_DONE;
	else begin
		trace_duplicate;
		go_answer_block(`WOP_ACK, 8'd0, 4'd2, PACKET_DONE);
	end
RX_COLLECT:
	if (!same_block)
		go_bad(WIRE_HEADER);
	else if (x_state[xi] != `FL_RX_CHECK && x_state[xi] != `FL_RX_COLLECT)
		step <= TELL_ALIVE;
	else begin
		st_ret <= RX_COLLECTED;
		step <= STORE_CELL;
	end
RX_COLLECTED:
	if (x_state[xi] == `FL_RX_COLLECT && x_full)
		go_rx_move(`FL_RX_EV_FULL, PACKET_DONE);
	else
		step <= PACKET_DONE;

// The first cell that came of an attempt.
RX_OPEN: begin
	p_valid[pi] <= 1'b1;
	p_gen[pi] <= pk_gen;
	p_attempt[pi] <= pk_attempt;
	p_done[pi] <= 1'b0;
	p_over[pi] <= 1'b1;		// unless a context is found
	tn <= pk_ref[27:24];
	step <= RX_VOUCH;
end
RX_VOUCH:
	if (answer && !vouched)
		go_answer_block(`WOP_NAK, `FL_ST_STALE, 4'd1, RX_STALE);
	else
		step <= free == 0 ? RX_RECLAIM : RX_OWN_FREE;
// Take a context from the sender that has been silent for longest. It may be silent only since its
// cells get lost, so it hears that it may come again.
RX_RECLAIM:
	if (si_done) begin
		xn <= si_index;
		step <= si_found ? RX_TAKE_AWAY : RX_NO_CONTEXT;
	end
RX_TAKE_AWAY: go_rx_end(`FL_RX_EV_RESTART, `WOP_REFUSED, `FL_ST_BUSY, RX_OWN_FREE);
// Two answers never come together at one context: the older request's gives way while it only
// collects; otherwise the newer one has to come again.
RX_OWN_FREE: begin
	xn <= t_rxc[ti][4:0];
	step <= answer && !t_rxc_none ? RX_OWN_TAKEN : RX_TAKE;
end
RX_OWN_TAKEN:
	if (x_state[xi] != `FL_RX_COLLECT || ref_ahead[7] || ref_ahead == 8'd0)
		step <= RX_NO_CONTEXT;
	else
		go_rx_end(`FL_RX_EV_RESTART, 8'd0, 8'd0, RX_TAKE);
RX_NO_CONTEXT: begin
	trace_packet(`FL_TRC_RX_NO_CONTEXT);
	go_answer_block(`WOP_REFUSED, `FL_ST_BUSY, 4'd2, PACKET_DONE);
end
RX_TAKE: begin
	xn <= free_next;
	pi <= pk_place[SW-1:0];
	step <= FILL;
end
FILL: begin
	free[xi] <= 1'b0;
	x_opcode[xi] <= pk_opcode;
	x_node[xi] <= pk_from[3:0];
	x_ctx[xi] <= pk_ctx[3:0];
	x_gen[xi] <= pk_gen;
	x_attempt[xi] <= pk_attempt;
	x_serial[xi] <= x_serial[xi] + 1'b1;
	x_stream[xi] <= 15'd0;
	x_qpn[xi] <= pk_qp;
	x_va[xi] <= pk_va;
	x_len[xi] <= pk_len[16:0];
	x_rkey[xi] <= pk_rkey;
	x_left[xi] <= pk_left;
	x_ref[xi] <= pk_ref;
	x_src[xi] <= pk_src;
	x_xfer[xi] <= pk_xfer;
	x_block[xi] <= pk_block;
	x_map[xi] <= 32'd0;
	x_linked[xi] <= 1'b1;
	p_over[pi] <= 1'b0;
	p_rxc[pi] <= {1'b0, xn};
	trace(`FL_TRC_FILL, {3'd0, xn});
	step <= FILL_CLEAR;
end
// No cell has come yet.
FILL_CLEAR: begin
	st_ret <= RX_OPENED;
	if (cl_done)
		step <= pk_opcode == `WOP_READ_REQ ? RX_OPENED : STORE_CELL;
end
RX_OPENED:
	if (answer)
		step <= OPEN_ANSWER;
	else
		go_rx_move(`FL_RX_EV_OPEN, PACKET_DONE);
// The answer of a READ: the requester's own context says where it goes, not the packet.
OPEN_ANSWER: begin
	x_requester[xi] <= {1'b0, tn};
	t_rxc[ti] <= {1'b0, xn};
	x_stream[xi] <= t_stream[ti];
	x_va[xi] <= t_lva[ti];
	x_left[xi] <= t_left[ti];
	go_rx_move(x_full ? `FL_RX_EV_ACCEPT_FULL : `FL_RX_EV_ACCEPT,
		   PACKET_DONE);
end

STORE_CELL:
	if (cl_done) begin
		if (cl_stored)
			trace(`FL_TRC_STORE, {3'd0, xn});
		step <= st_ret;
	end

// The only place where a receive context changes state.
RX_MOVE: begin
	trace_rx_state;
	x_state[xi] <= rx_next(x_state[xi], rm_event);
	pi <= x_place[SW-1:0];
	step <= RX_MOVED;
end
RX_MOVED: begin
	step <= rm_ret;
	case (x_state[xi])
	`FL_RX_FREE: begin		// rx_free(): nothing refers to the context any more
		if (x_linked[xi])
			p_rxc[pi] <= 6'h20;
		if (!x_requester_none)
			t_rxc[x_requester[xi][TW-1:0]] <= 6'h20;
		x_linked[xi] <= 1'b0;
		x_requester[xi] <= 5'h10;
		cancelled[xi] <= 1'b0;
		free[xi] <= 1'b1;
	end
	`FL_RX_CHECK: go_note(`FL_NOTE_RX_OPEN, xn, x_serial[xi], rm_ret);
	`FL_RX_WRITE: begin		// write_queue()
		write_fifo[write_head + write_count[XW-1:0]] <= xn;
		write_count <= write_count + 1'b1;
	end
	default: ;
	endcase
end
// The attempt ends here with an answer, or with none. What is left of it on the wire is ignored
// from now on.
RX_END: begin
	if (x_linked[xi]) begin
		p_over[pi] <= 1'b1;
		p_done[pi] <= re_wop == `WOP_ACK;
	end
	go_rx_move(re_event, RX_ENDED);
end
RX_ENDED:
	if (re_wop == 8'd0)
		step <= re_ret;
	else
		go_answer_post(re_wop, re_code, 4'd0, re_ret);

// The firmware's verdict. The peer may have started again before the firmware was done.
RX_VERDICT:
	if (x_serial[xi] != verdict_serial)
		step <= REG_DONE;
	else if (x_state[xi] == `FL_RX_CHECK)
		step <= RX_JUDGE;
	else if (verdict_code == 8'd0 || !x_requester_none)
		step <= REG_DONE;
	else if (x_state[xi] == `FL_RX_COLLECT)
		go_rx_end(`FL_RX_EV_RESTART, 8'd0, 8'd0, REG_DONE);
	else if (x_state[xi] == `FL_RX_WRITE) begin
		ws_ret <= REG_DONE;
		step <= WRITE_STOP;
	end else
		step <= REG_DONE;
RX_JUDGE:
	if (verdict_code == `FL_ST_WAIT && x_opcode[xi] == `WOP_READ_REQ)
		go_rx_end(`FL_RX_EV_DENY, `WOP_WAIT, 8'd0, REG_DONE);
	else if (verdict_code == `FL_ST_WAIT || verdict_code == `FL_ST_BUSY)
		go_rx_end(`FL_RX_EV_DENY, `WOP_REFUSED, verdict_code, REG_DONE);
	else if (verdict_code != 8'd0)
		go_rx_end(`FL_RX_EV_DENY, `WOP_NAK, verdict_code, REG_DONE);
	else if (x_opcode[xi] == `WOP_READ_REQ)
		// The firmware will send the data from a context of ours.
		go_rx_end(`FL_RX_EV_DENY, 8'd0, 8'd0, REG_DONE);
	else begin
		x_stream[xi] <= rq_wdata[`NIC_RXC_VERDICT_STREAM_MSB:`NIC_RXC_VERDICT_STREAM_LSB];
		go_rx_move(x_full ? `FL_RX_EV_ACCEPT_FULL : `FL_RX_EV_ACCEPT,
			   REG_DONE);
	end
// A page is missing here, whichever side the driver calls it: remote for the sender of the
// block, local for the READ that asked for it.
// tag::engine-10[]
RX_READY: begin
	requester <= x_requester[xi];
	if (x_state[xi] != `FL_RX_FAULT || x_serial[xi] != ready_serial)
		step <= REG_DONE;
	else if (ready_code == 8'd0)
		go_rx_end(`FL_RX_EV_RESOLVED, `WOP_READY, 8'd0, REG_DONE);
	else
		go_rx_end(`FL_RX_EV_GIVEN_UP, `WOP_NAK,
			  ready_code == `FL_ST_LOCAL_FAULT ? `FL_ST_REMOTE_FAULT : ready_code,
			  RX_READY_OWN);
end
// end::engine-10[]
RX_READY_OWN:
	if (requester[4])
		step <= REG_DONE;
	else begin
		trace(`FL_TRC_OWN_EVENT, {3'd0, xn});
		tn <= requester[3:0];
		go_outcome(TX_OUTCOME, `FL_TX_EV_NAK,
			   ready_code == `FL_ST_REMOTE_FAULT ? `FL_ST_LOCAL_FAULT : ready_code,
			   REG_DONE);
	end
