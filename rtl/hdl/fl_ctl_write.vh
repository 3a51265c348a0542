// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: the write channel, and who stops it.

// A READ that is over owns its buffer no longer: what still collects is dropped, what is being
// written stops. xn is its answer.
WRITE_CANCEL: begin
	x_requester[xi] <= 5'h10;
	t_rxc[ti] <= 6'h20;
	ws_ret <= TX_DONE;
	case (x_state[xi])
	`FL_RX_COLLECT: go_rx_move(`FL_RX_EV_RESTART, TX_DONE);
	`FL_RX_WRITE: step <= WRITE_STOP;
	default: step <= TX_DONE;	// FAULT: the driver is at it; READY ends it
	endcase
end
WRITE_STOP: begin
	cancelled[xi] <= 1'b1;
	tm_late <= wr_busy && wr_ctx == xn;
	trace(`FL_TRC_WR_STOP, {3'd0, xn});
	step <= ws_ret;
end

// A report of the write channel.
WRITE_STEP: begin
	we_ok <= 1'b1;
	side <= 1'b1;
	requester <= x_requester[xi];
	if (we_kind == WE_NEXT) begin
		we_ok <= o_enabled && write_count != 0;
		step <= WRITE_DONE;
		if (o_enabled && write_count != 0) begin
			xn <= write_fifo[write_head];
			wr_ctx <= write_fifo[write_head];
			wr_busy <= 1'b1;
			write_head <= write_head + 1'b1;
			write_count <= write_count - 1'b1;
		end
	end else begin
		wr_busy <= 1'b0;
		// Who sends a WRITE again is judged again; a READ's answer is not.
		if (cancelled[xi])
			go_rx_end(`FL_RX_EV_RESTART, x_opcode[xi] == `WOP_READ_RESP ? `WOP_NAK :
				  8'd0,
				  `FL_ST_STALE, WRITE_DONE);
		else
			case (we_kind)
			WE_LANDED: go_rx_end(`FL_RX_EV_LANDED, `WOP_ACK, 8'd0, WRITE_OWN);
			// tag::engine-9[]
			WE_REFUSED: begin
				x_map[xi] <= we_map;
				fq_ret <= WRITE_REFUSED;
				go_rx_move(`FL_RX_EV_FAULT, FAULT_QUEUE);
			end
			// end::engine-9[]
			WE_BUSERR:
				go_rx_end(`FL_RX_EV_BUS_ERROR, `WOP_NAK, `FL_ST_BUS_ERROR,
					  WRITE_OWN);
			default: step <= WRITE_DONE;
			endcase
	end
end
// The READ whose answer it was; of a WRITE that has landed, the firmware hears.
WRITE_OWN:
	if (requester[4] && we_kind == WE_LANDED)
		go_note(`FL_NOTE_RX_LANDED, xn, x_serial[xi], WRITE_DONE);
	else if (requester[4])
		step <= WRITE_DONE;
	else begin
		trace(`FL_TRC_OWN_EVENT, {3'd0, xn});
		tn <= requester[3:0];
		if (we_kind == WE_LANDED)
			go_outcome(TX_OUTCOME, `FL_TX_EV_LANDED, 8'd0, WRITE_DONE);
		else
			go_outcome(TX_OUTCOME, `FL_TX_EV_NAK, `FL_ST_BUS_ERROR, WRITE_DONE);
	end
WRITE_REFUSED: begin
	tn <= requester[3:0];
	go_answer_post(`WOP_REFUSED, 8'd0, 4'd0, WRITE_WAITING);
end
WRITE_WAITING:
	if (requester[4])
		step <= WRITE_DONE;
	else
		go_note(`FL_NOTE_TX_WAITING, {1'b0, tn}, t_gen[ti][7:0], WRITE_DONE);
WRITE_DONE: step <= IDLE;
