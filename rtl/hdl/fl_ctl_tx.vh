// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: transmit contexts, and the read channel that serves them.

// The only place where a transmit context changes state.
TX_MOVE: begin
	trace_tx_state;
	// tag::engine-1[]
	t_state[ti] <= t_to;
	ready[ti] <= t_to == `FL_TX_READY;
	tm_late <= 1'b0;
	step <= t_state[ti] == `FL_TX_READY && tm_event == `FL_TX_EV_KILL && rd_busy &&
		 rd_ctx == tn ? TX_DROP : TX_MOVED;
	// end::engine-1[]
end
TX_DROP: begin
	rd_dropped <= 1'b1;
	trace(`FL_TRC_RD_DROP, {4'd0, tn});
	step <= TX_MOVED;
end
TX_MOVED:
	case (t_state[ti])
	`FL_TX_FLYING: go_note(`FL_NOTE_TX_FLYING, {1'b0, tn}, t_gen[ti][7:0], tm_ret);
	`FL_TX_SRCFAULT: go_note(`FL_NOTE_TX_WAITING, {1'b0, tn}, t_gen[ti][7:0], tm_ret);
	`FL_TX_DSTFAULT: go_note(`FL_NOTE_TX_REFUSED, {1'b0, tn}, t_gen[ti][7:0], tm_ret);
	`FL_TX_DONE: begin
		t_early[ti] <= 1'b0;
		xn <= t_rxc[ti][4:0];
		step <= t_rxc_none ? TX_DONE : WRITE_CANCEL;
	end
	default: step <= tm_ret;
	endcase
// The note waits while the bus still has a burst of this READ's answer. (Looked at here, a cycle
// after WRITE_STOP: from then on the channel begins no other one.)
TX_DONE:
	if (tm_late && wr_begun) begin
		late <= 1'b1;
		late_index <= tn;
		late_serial <= t_gen[ti][7:0];
		step <= tm_ret;
	end else
		go_note(`FL_NOTE_TX_DONE, {1'b0, tn}, t_gen[ti][7:0], tm_ret);

TX_OUTCOME: step <= t_state[ti] == `FL_TX_READY ? TX_EARLY : TX_APPLY;
// READY after REFUSED takes its place; nothing takes the place of an end.
// tag::engine-6[]
TX_EARLY: begin
	if (!t_early[ti] || t_early_event[ti] == `FL_TX_EV_REFUSED) begin
		t_early[ti] <= 1'b1;
		t_early_event[ti] <= ap_event;
		t_early_code[ti] <= ap_code;
		trace_early;
	end
	step <= ap_ret;
end
// end::engine-6[]
// tag::engine-4[]
TX_APPLY: begin
	case (ap_event)
	`FL_TX_EV_ACK, `FL_TX_EV_LANDED: t_status[ti] <= `FL_ST_OK;
	`FL_TX_EV_NAK, `FL_TX_EV_REFUSED: t_status[ti] <= ap_code;	// REFUSED: why not now
	`FL_TX_EV_PEER_READY: t_attempt[ti] <= t_attempt[ti] + 1'b1;
	default: ;
	endcase
	go_tx_move(ap_event, ap_ret);
end
// end::engine-4[]

// A packet that answers.
TX_ANSWER:
	if (pk_opcode == `WOP_NAK && (pk_code == `FL_ST_OK || pk_code == `FL_ST_WAIT))
		go_bad(WIRE_HEADER);
	// tag::engine-5[]
	else if (pk_ctx >= {3'd0, i_contexts} || pk_from != {4'd0, t_node[ti]} ||
		 pk_gen != t_gen[ti] || pk_attempt != t_attempt[ti])
		step <= RX_STALE;
	else if (pk_opcode == `WOP_WAIT || later) begin
		if (t_state[ti] != `FL_TX_FLYING)
			step <= RX_STALE;
		else begin
			if (later)
				t_status[ti] <= pk_code;
			go_note(later ? `FL_NOTE_TX_REFUSED : `FL_NOTE_TX_WAITING, {1'b0, tn},
				t_gen[ti][7:0], PACKET_DONE);
		end
	end else if (!answers)
		step <= RX_STALE;
	else if (t_state[ti] == `FL_TX_READY && t_current && rd_sent != 17'd0)
		go_outcome(TX_EARLY, answer_event, pk_code, PACKET_DONE);
	else if (tx_next(t_state[ti], answer_event) != t_state[ti])
		go_outcome(TX_APPLY, answer_event, pk_code, PACKET_DONE);
	else
		step <= RX_STALE;
	// end::engine-5[]

// The firmware's CTRL. What the network may have overtaken changes nothing.
TX_CONTROL:
	case ({ctrl_go, ctrl_release, ctrl_expire, ctrl_kill})
	4'b1000:
		if (t_state[ti] != `FL_TX_FREE || go_opcode == 8'd0 || t_len[ti] == 17'd0 ||
			local_last < t_lva[ti] ||
			(go_opcode != `WOP_READ_RESP && remote_last < t_rva[ti]))
			step <= REG_REFUSE;
		else begin
			t_opcode[ti] <= go_opcode;
			// Peers know what they were sent, and not what others got meanwhile.
			t_gen[ti] <= gen_next;
			s_gen[si] <= gen_next;
			t_attempt[ti] <= 8'd0;
			t_status[ti] <= 8'd0;
			t_asked[ti] <= 1'b0;
			go_tx_move(`FL_TX_EV_GO, REG_DONE);
		end
	4'b0100:
		if (t_state[ti] != `FL_TX_DONE)
			step <= REG_REFUSE;
		else
			go_tx_move(`FL_TX_EV_RELEASE, REG_DONE);
	// tag::engine-8[]
	4'b0010:
		if (tx_next(t_state[ti], `FL_TX_EV_EXPIRE) == t_state[ti])
			step <= REG_DONE;
		else begin
			t_attempt[ti] <= t_attempt[ti] + 1'b1;
			go_tx_move(`FL_TX_EV_EXPIRE, REG_DONE);
		end
	4'b0001:
		if (ctrl_code == 8'd0)
			step <= REG_REFUSE;
		else if (tx_next(t_state[ti], `FL_TX_EV_KILL) == t_state[ti])
			step <= REG_DONE;
		else begin
			t_status[ti] <= ctrl_code;
			go_tx_move(`FL_TX_EV_KILL, REG_DONE);
		end
	// end::engine-8[]
	default: step <= REG_REFUSE;
	endcase
TX_READY:
	// tag::engine-3[]
	if (t_state[ti] != `FL_TX_SRCFAULT || t_serial[ti] != ready_serial)
		step <= REG_DONE;
	else begin
		if (ready_code != 8'd0)
			t_status[ti] <= `FL_ST_LOCAL_FAULT;
		go_tx_move(ready_code != 8'd0 ? `FL_TX_EV_GIVEN_UP : `FL_TX_EV_RESOLVED, REG_DONE);
	end
	// end::engine-3[]

// A report of the read channel.
READ_STEP: begin
	re_ok <= 1'b0;
	re_last <= 1'b0;
	step <= READ_DONE;
	case (re_kind)
	RE_PICK:
		if (o_enabled && ready_any) begin
			re_ok <= 1'b1;
			tn <= ready_next;
			rd_ctx <= ready_next;
			rd_busy <= 1'b1;
			rd_dropped <= 1'b0;
			rd_sent <= 17'd0;
		end
	RE_CELL:
		if (o_enabled && !rd_dropped)
			step <= SEND_CELL;
	// tag::engine-2[]
	RE_FAULTED: begin
		rd_busy <= 1'b0;
		rd_dropped <= 1'b0;
		side <= 1'b0;
		if (!rd_dropped) begin
			t_serial[ti] <= t_serial[ti] + 1'b1;
			fq_ret <= READ_DONE;
			go_tx_move(`FL_TX_EV_FAULT, FAULT_QUEUE);
		end
	end
	// end::engine-2[]
	RE_BUSERR: begin
		rd_busy <= 1'b0;
		rd_dropped <= 1'b0;
		if (!rd_dropped) begin
			t_status[ti] <= `FL_ST_BUS_ERROR;
			go_tx_move(`FL_TX_EV_BUS_ERROR, READ_DONE);
		end
	end
	default: begin			// given up
		rd_busy <= 1'b0;
		rd_dropped <= 1'b0;
	end
	endcase
end
// Answers that wait go first.
SEND_CELL: begin
	trace_sent;
	if (an_done) begin
		re_ok <= an_ok;
		if (an_ok)
			rd_sent <= rd_sent + {4'd0, c_plen};
		step <= an_ok && c_last ? LEAVE : READ_DONE;
	end
end
// The block has left. What the peer said meanwhile comes next.
LEAVE: begin
	rd_busy <= 1'b0;
	rd_sent <= 17'd0;
	re_last <= 1'b1;
	t_asked[ti] <= 1'b1;
	go_tx_move(`FL_TX_EV_SENT, LEFT);
end
LEFT:
	// tag::engine-7[]
	if (t_early[ti]) begin
		t_early[ti] <= 1'b0;
		trace(`FL_TRC_TX_LEAVE_EARLY, {4'd0, tn});
		go_outcome(TX_APPLY, t_early_event[ti], t_early_code[ti], READ_DONE);
	end else
		step <= READ_DONE;
	// end::engine-7[]
READ_DONE: step <= IDLE;
