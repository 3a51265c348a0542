// SPDX-License-Identifier: BSD-2-Clause
// Inside tb_ctl: what is done to fl_ctl. Contexts are free again after each task.

task registers;
	begin
		read(`NIC_ENG_ID, `NIC_ENG_ID_RESET);
		read(`NIC_ENG_PARAM, 32'h010C0204);
		read(`NIC_ENG_CTRL, 1);
		refused(`NIC_ENG_CTRL, 2);
		refused(`NIC_ENG_ID, 0);
		refused(32'h0FFC, 0);
		read_bad(32'h0FFC);
		read_bad(`NIC_FW_BASE);
		read_bad(`NIC_ENG_ID + 2);
		read_bad(tx(4, `NIC_CTX_STATE));
		read_bad(rx(2, `NIC_RXC_STATE));
		read_bad(tx(0, 12'h044));	// behind the last register
		read_bad(rx(0, 12'h03C));
		refused(tx(4, `NIC_CTX_LEN), 1);
		fill(0);
		read(tx(0, `NIC_CTX_LVA), 32'h34567890);
		read(tx(0, `NIC_CTX_LVA) + 4, 32'h12);
		read(tx(0, `NIC_CTX_DST), 32'h7705);
		read(tx(0, `NIC_CTX_CTRL), 0);
		read(tx(0, `NIC_CTX_REF), 32'h00ABCD02);
		read(tx(0, `NIC_CTX_SRC), 32'h85000077);
		refused(tx(0, `NIC_CTX_STREAM), 32'h8000);
		refused(tx(0, `NIC_CTX_LEN), 4097);
		refused(tx(0, `NIC_CTX_LEN), 0);
		refused(tx(0, `NIC_CTX_DST), 16);
		refused(tx(0, `NIC_CTX_GEN), 1);
		refused(tx(0, `NIC_CTX_CTRL), 32'h300);	// two at once
		refused(tx(0, `NIC_CTX_CTRL), 32'h104);	// no such operation
		refused(tx(0, `NIC_CTX_CTRL), 32'h200);	// not DONE
		refused(tx(1, `NIC_CTX_CTRL), 32'h101);	// no length
		write(tx(0, `NIC_CTX_RVA), 32'hFFFFFF00);
		write(tx(0, `NIC_CTX_RVA) + 4, 32'hFFFFFFFF);
		refused(tx(0, `NIC_CTX_CTRL), 32'h101);	// beyond the last address
		write(tx(0, `NIC_CTX_RVA) + 4, 0);
		refused(rx(0, `NIC_RXC_VERDICT), 32'h80000000);
		read(`NIC_ENG_RD_STATUS, 0);
		rd_open = 1;
		read(`NIC_ENG_RD_STATUS, 32'h203);	// of the burst, not of the block
		read(`NIC_ENG_RD_VA, 32'h5000);
		read(`NIC_ENG_RD_LEFT, 70);
		rd_open = 0;
		wr_open = 1;
		read(`NIC_ENG_WR_VA, 32'h6000);
		wr_open = 0;
		refused(`NIC_ENG_READY, 32'h004);	// no such context
		refused(`NIC_ENG_READY, 32'h102);
	end
endtask

// A block of two cells leaves and is acknowledged.
task sending;
	begin
		reading(PICK);
		check(!ok, "nothing to pick");
		go(0, `FL_OP_WRITE);
		refused(tx(0, `NIC_CTX_LEN), 1);
		fill(2);
		go(2, `FL_OP_WRITE);
		reading(PICK);
		check(ok && rd_index == 0 && !rd_ask, "context 0 is next");
		check(ah_valid && ah_index == 2 && ah_lva == rd_lva && ah_len == rd_len &&
		      ah_stream == rd_stream && rd_ready == 16'h5, "and 2 after it");
		room = 0;
		reading(CELL);
		check(!ok, "no room");
		room = 1;
		reading(CELL);
		check(ok && !last && tp_plen == 1024 && tp_src == 0 && tp_len == 2000,
		      "first cell");
		check(tp_ref == 32'h00ABCD02 && tp_by == 32'h85000077,
		      "its place, and who sends it");
		expect(`FL_TRC_TX_CELLS, 0, 0);
		reading(CELL);
		check(ok && last && tp_plen == 976 && tp_src == 1024 && tp_psn == 1, "second cell");
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		check(irq_event, "a note raises the line");
		note(`FL_NOTE_TX_FLYING, 0, 1);
		check(!irq_event, "no note, no line");
		answer(`WOP_ACK, 0, 1, 1, 0);	// another attempt
		expect(`FL_TRC_RX_STALE, 0, 0);
		write(tx(0, `NIC_CTX_CTRL), 32'h400);
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_EXPIRE, `FL_TX_READY);
		reading(PICK);
		check(ok && rd_index == 2, "context 2 before 0 again");
		check(ah_valid && ah_index == 0, "and 0 after it");
		reading(BUSERR);
		expect_tx(2, `FL_TX_READY, `FL_TX_EV_BUS_ERROR, `FL_TX_DONE);
		read(tx(2, `NIC_CTX_STATE), {8'd0, `FL_ST_BUS_ERROR, 16'd5});
		free_again(2);
		note(`FL_NOTE_TX_DONE, 2, 1);
		reading(PICK);
		check(!ah_valid && rd_ready == 16'h1, "nobody else");
		reading(CELL);
		expect(`FL_TRC_TX_CELLS, 0, 0);
		reading(CELL);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		answer(`WOP_ACK, 0, 1, 0, 0);
		expect(`FL_TRC_RX_STALE, 0, 0);
		answer(`WOP_ACK, 0, 2, 1, 0);	// another generation
		expect(`FL_TRC_RX_STALE, 0, 0);
		answer(`WOP_ACK, 0, 1, 1, 0);
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_ACK, `FL_TX_DONE);
		note(`FL_NOTE_TX_FLYING, 0, 1);
		note(`FL_NOTE_TX_DONE, 0, 1);
		read(tx(0, `NIC_CTX_STATE), 32'h105);
		write(tx(0, `NIC_CTX_CTRL), 32'h400);	// too late: nothing
		kill(0);
		free_again(0);
	end
endtask

// READY for a transmit context, while the read channel asks for one until it gets that.
task ready_beside;
	input [31:0] value;
	integer k;
	begin
		rq_valid = 1;
		rq_write = 1;
		rq_addr = `NIC_ENG_READY;
		rq_wdata = value;
		re_valid = 1;
		re_kind = PICK;
		@(negedge clk);
		while (!rq_done)
			@(negedge clk);
		check(!rq_bad, "READY was refused");
		@(negedge clk);
		rq_valid = 0;
		ok = 0;
		for (k = 0; k < 100 && !ok; k = k + 1) begin
			@(negedge clk);
			ok = re_ack && re_ok;
		end
		@(negedge clk);
		re_valid = 0;
		quiet;
	end
endtask

// Pages of the source are missing; the queue keeps one fault of each context and the head.
task faults;
	begin
		go(0, `FL_OP_WRITE);
		reading(PICK);
		re_map = 1;
		reading(FAULTED);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_FAULT, `FL_TX_SRCFAULT);
		expect(`FL_TRC_ENG_FAULT, 0, 0);
		note(`FL_NOTE_TX_WAITING, 0, 2);
		check(!irq_fault, "not enabled");
		write(`NIC_ENG_IRQ_ENABLE, 1);
		check(irq_fault, "a fault");
		read(`NIC_ENG_IRQ_STATUS, 1);
		read(`NIC_ENG_FLT_REF, 32'h80010000);
		read(`NIC_ENG_FLT_STREAM, 32'h2A5);
		read(`NIC_ENG_FLT_VA, 32'h34567890);
		read(`NIC_ENG_FLT_VA + 4, 32'h12);
		read(`NIC_ENG_FLT_LEN, 2000);
		read(`NIC_ENG_FLT_MAP, 1);
		read(`NIC_ENG_FLT_XFER, 3);
		write(`NIC_ENG_READY, 32'h020000);	// not this one
		expect(`FL_TRC_READY_REG, 0, 0);
		write(`NIC_ENG_READY, {8'd0, dut.t_serial[0], 16'd0});
		expect(`FL_TRC_READY_REG, 0, 0);
		expect_tx(0, `FL_TX_SRCFAULT, `FL_TX_EV_RESOLVED, `FL_TX_READY);
		reading(PICK);
		check(ok, "a fault in the queue stops nobody");
		reading(FAULTED);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_FAULT, `FL_TX_SRCFAULT);
		expect(`FL_TRC_ENG_FAULT, 0, 0);
		ready_beside({8'd0, dut.t_serial[0], 16'd0});
		expect(`FL_TRC_READY_REG, 0, 0);
		expect_tx(0, `FL_TX_SRCFAULT, `FL_TX_EV_RESOLVED, `FL_TX_READY);
		check(ok, "a fault in the queue stops nobody");
		reading(FAULTED);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_FAULT, `FL_TX_SRCFAULT);
		expect(`FL_TRC_ENG_FAULT, 0, 0);
		read(`NIC_ENG_FLT_COUNT, 2);
		write(`NIC_ENG_FLT_POP, 0);
		read(`NIC_ENG_FLT_REF, 32'h80030000);
		write(`NIC_ENG_FLT_POP, 0);
		check(!irq_fault, "no fault left");
		write(`NIC_ENG_FLT_POP, 0);
		read(`NIC_ENG_FLT_COUNT, 0);
		read(`NIC_ENG_FLT_REF, 0);
		write(`NIC_ENG_READY, 32'h030200);	// code 1: given up
		expect(`FL_TRC_READY_REG, 0, 0);
		expect_tx(0, `FL_TX_SRCFAULT, `FL_TX_EV_GIVEN_UP, `FL_TX_DONE);
		read(tx(0, `NIC_CTX_STATE), {8'd0, `FL_ST_LOCAL_FAULT, 16'd5});
		free_again(0);
		note(`FL_NOTE_TX_WAITING, 0, 2);
		note(`FL_NOTE_TX_DONE, 0, 2);
	end
endtask

// Answers that come before the last cell has left.
task early;
	begin
		go(0, `FL_OP_WRITE);
		reading(PICK);
		answer(`WOP_NAK, 0, 3, 0, `FL_ST_REMOTE_ACCESS);	// nothing has left yet
		expect(`FL_TRC_RX_STALE, 0, 0);
		reading(CELL);
		expect(`FL_TRC_TX_CELLS, 0, 0);
		go(2, `FL_OP_WRITE);
		answer(`WOP_ACK, 2, 2, 0, 0);	// nothing of this one has left
		expect(`FL_TRC_RX_STALE, 2, 0);
		kill(2);
		expect_tx(2, `FL_TX_READY, `FL_TX_EV_KILL, `FL_TX_DONE);
		note(`FL_NOTE_TX_DONE, 2, 2);
		free_again(2);
		answer(`WOP_REFUSED, 0, 3, 0, 0);
		expect(`FL_TRC_TX_EARLY, 0, 0);
		answer(`WOP_READY, 0, 3, 0, 0);	// takes its place
		expect(`FL_TRC_TX_EARLY, 0, 0);
		answer(`WOP_REFUSED, 0, 3, 0, 0);	// does not
		reading(CELL);
		check(ok && last, "the last cell");
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		expect(`FL_TRC_TX_LEAVE_EARLY, 0, 0);
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_PEER_READY, `FL_TX_READY);
		read(tx(0, `NIC_CTX_STATE), 32'h101);
		reading(PICK);
		reading(CELL);
		expect(`FL_TRC_TX_CELLS, 0, 0);
		reading(CELL);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		answer(`WOP_REFUSED, 0, 3, 1, 0);
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_REFUSED, `FL_TX_DSTFAULT);
		answer(`WOP_WAIT, 0, 3, 1, 0);	// it does not fly
		expect(`FL_TRC_RX_STALE, 0, 0);
		answer(`WOP_ACK, 0, 3, 1, 0);	// it has been refused
		expect(`FL_TRC_RX_STALE, 0, 0);
		answer(`WOP_NAK, 0, 3, 1, `FL_ST_OK);	// no reason
		expect(`FL_TRC_RX_BAD_PACKET, 0, 0);
		answer(`WOP_NAK, 0, 3, 1, `FL_ST_REMOTE_ACCESS);
		expect_tx(0, `FL_TX_DSTFAULT, `FL_TX_EV_NAK, `FL_TX_DONE);
		read(tx(0, `NIC_CTX_STATE), {8'd0, `FL_ST_REMOTE_ACCESS, 16'h105});
		note(`FL_NOTE_TX_FLYING, 0, 3);
		note(`FL_NOTE_TX_REFUSED, 0, 3);
		note(`FL_NOTE_TX_DONE, 0, 3);
		note(0, 0, 0);
		free_again(0);
	end
endtask

// An ACK that is 32 attempts late.
task attempts;
	integer k;
	begin
		fill(3);
		go(3, `FL_OP_WRITE);
		for (k = 0; k <= 32; k = k + 1) begin
			reading(PICK);
			reading(CELL);
			expect(`FL_TRC_TX_CELLS, 3, 0);
			reading(CELL);
			expect_tx(3, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
			if (k != 32) begin
				write(tx(3, `NIC_CTX_CTRL), 32'h400);
				expect_tx(3, `FL_TX_FLYING, `FL_TX_EV_EXPIRE, `FL_TX_READY);
			end
		end
		answer(`WOP_ACK, 3, 2, 0, 0);
		expect(`FL_TRC_RX_STALE, 3, 0);
		answer(`WOP_ACK, 3, 2, 32, 0);
		expect_tx(3, `FL_TX_FLYING, `FL_TX_EV_ACK, `FL_TX_DONE);
		note(`FL_NOTE_TX_FLYING, 3, 2);
		note(`FL_NOTE_TX_DONE, 3, 2);
		free_again(3);
	end
endtask

// The peer cannot take a block now, or works on it already.
task not_now;
	begin
		go(0, `FL_OP_WRITE);
		reading(PICK);
		reading(CELL);
		expect(`FL_TRC_TX_CELLS, 0, 0);
		answer(`WOP_REFUSED, 0, 10, 0, `FL_ST_BUSY);	// before the last cell has left
		expect(`FL_TRC_TX_EARLY, 0, 0);
		reading(CELL);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		expect(`FL_TRC_TX_LEAVE_EARLY, 0, 0);
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_REFUSED, `FL_TX_DSTFAULT);
		read(tx(0, `NIC_CTX_STATE), {8'd0, `FL_ST_BUSY, 16'h004});
		note(`FL_NOTE_TX_FLYING, 0, 10);
		note(`FL_NOTE_TX_REFUSED, 0, 10);
		write(tx(0, `NIC_CTX_CTRL), 32'h400);
		expect_tx(0, `FL_TX_DSTFAULT, `FL_TX_EV_EXPIRE, `FL_TX_READY);
		reading(PICK);
		reading(CELL);
		expect(`FL_TRC_TX_CELLS, 0, 0);
		reading(CELL);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		note(`FL_NOTE_TX_FLYING, 0, 10);
		answer(`WOP_WAIT, 0, 10, 0, 0);	// of the attempt before
		expect(`FL_TRC_RX_STALE, 0, 0);
		answer(`WOP_WAIT, 0, 10, 1, 0);
		note(`FL_NOTE_TX_WAITING, 0, 10);
		note(0, 0, 0);
		answer(`WOP_REFUSED, 0, 10, 1, 0);	// and then a page is missing
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_REFUSED, `FL_TX_DSTFAULT);
		read(tx(0, `NIC_CTX_STATE), 32'h104);
		answer(`WOP_READY, 0, 10, 1, 0);
		expect_tx(0, `FL_TX_DSTFAULT, `FL_TX_EV_PEER_READY, `FL_TX_READY);
		kill(0);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_KILL, `FL_TX_DONE);
		note(`FL_NOTE_TX_REFUSED, 0, 10);
		note(`FL_NOTE_TX_DONE, 0, 10);
		free_again(0);
		// A READ that is put off flies on.
		go(0, `FL_OP_READ);
		reading(PICK);
		reading(CELL);
		check(tp_ref == 32'h00ABCD02 && tp_by == 32'h85000077,
		      "a READ request says so, too");
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		note(`FL_NOTE_TX_FLYING, 0, 11);
		answer(`WOP_REFUSED, 0, 11, 0, 0);	// a READ has no pages there
		expect(`FL_TRC_RX_STALE, 0, 0);
		answer(`WOP_REFUSED, 0, 11, 0, `FL_ST_WAIT);
		read(tx(0, `NIC_CTX_STATE), {8'd0, `FL_ST_WAIT, 16'h002});
		note(`FL_NOTE_TX_REFUSED, 0, 11);
		kill(0);
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_KILL, `FL_TX_DONE);
		note(`FL_NOTE_TX_DONE, 0, 11);
		free_again(0);
	end
endtask

// A block is killed while the read channel has it.
task killing;
	begin
		go(0, `FL_OP_WRITE);
		reading(PICK);
		refused(tx(0, `NIC_CTX_CTRL), 32'h800);	// no status
		kill(0);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_KILL, `FL_TX_DONE);
		expect(`FL_TRC_RD_DROP, 0, 0);
		check(rd_dropped, "the read channel must drop it");
		read(tx(0, `NIC_CTX_STATE), {8'd0, `FL_ST_KILLED, 16'd5});
		note(`FL_NOTE_TX_DONE, 0, 4);
		reading(CELL);
		check(!ok, "nothing more of it leaves");
		reading(FAULTED);	// which nobody cares for any more
		check(!rd_dropped, "dropped");
		free_again(0);
		go(0, `FL_OP_WRITE);
		reading(PICK);
		kill(0);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_KILL, `FL_TX_DONE);
		expect(`FL_TRC_RD_DROP, 0, 0);
		reading(DROPPED);
		check(!rd_dropped, "dropped");
		free_again(0);
		note(`FL_NOTE_TX_DONE, 0, 5);
	end
endtask

// Two notes of one kind: neither takes the other's place.
task noting;
	begin
		fill(1);
		fill(3);
		go(1, `FL_OP_WRITE);
		go(3, `FL_OP_WRITE);
		kill(1);
		expect_tx(1, `FL_TX_READY, `FL_TX_EV_KILL, `FL_TX_DONE);
		kill(3);
		expect_tx(3, `FL_TX_READY, `FL_TX_EV_KILL, `FL_TX_DONE);
		note(`FL_NOTE_TX_DONE, 1, 1);
		note(`FL_NOTE_TX_DONE, 3, 1);
		free_again(1);
		free_again(3);
	end
endtask

task landed;
	input [7:0] slot;
	input [7:0] ctx;
	input [7:0] attempt;
	begin
		writing(NEXT, 1);
		check(wr_index == slot && wr_len == 2000, "what NEXT hands out");
		writing(LANDED, 1);
		expect_rx(slot, `FL_RX_WRITE, `FL_RX_EV_LANDED, `FL_RX_FREE);
		expect(`FL_TRC_ANS_SEND, ctx, {`WOP_ACK, attempt});
		check(irq_event, "the firmware hears of it");
	end
endtask

task opened;
	input [7:0] slot;
	begin
		expect(`FL_TRC_FILL, slot, 0);
		expect(`FL_TRC_STORE, slot, 0);
		expect_rx(slot, `FL_RX_FREE, `FL_RX_EV_OPEN, `FL_RX_CHECK);
	end
endtask

// Blocks come in: collected, judged, written; packets of the past.
task receiving;
	begin
		stores = 0;
		writing(NEXT, 0);
		block_cell(5, 7, 10, 0, 1);
		opened(0);
		read(rx(0, `NIC_RXC_SRC), 32'h7705);
		read(rx(0, `NIC_RXC_WORD), 32'h07000A00);
		note(`FL_NOTE_RX_OPEN, 0, 1);
		block_cell(5, 7, 10, 0, 1);	// doubled
		write(rx(0, `NIC_RXC_VERDICT), 32'h0200);	// another serial number
		write(rx(0, `NIC_RXC_VERDICT), 32'h7_0100);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_ACCEPT, `FL_RX_COLLECT);
		check(stores == 1, "one payload was copied");
		block_cell(5, 7, 10, 0, 0);
		expect(`FL_TRC_STORE, 0, 0);
		expect_rx(0, `FL_RX_COLLECT, `FL_RX_EV_FULL, `FL_RX_WRITE);
		check(stores == 2, "and the other one");
		landed(0, 7, 0);
		check(wr_stream == 7, "the stream of the verdict");
		check(tp_to == 5 && tp_gen == 10 && tp_opcode == `WOP_ACK, "the ACK");
		note(`FL_NOTE_RX_LANDED, 0, 1);
		block_cell(5, 7, 10, 0, 0);	// not its last cell: no second ACK
		block_cell(5, 7, 10, 1, 1);
		expect(`FL_TRC_RX_DUPLICATE, 7, 0);
		expect(`FL_TRC_ANS_SEND, 7, {`WOP_ACK, 8'd1});
		block_cell(5, 7, 9, 0, 0);
		expect(`FL_TRC_RX_STALE, 7, 0);
		// A newer attempt in CHECK starts afresh, an older one is stale.
		block_cell(5, 7, 11, 0, 0);
		opened(0);
		block_cell(5, 7, 11, 1, 0);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_RESTART, `FL_RX_FREE);
		opened(0);
		block_cell(5, 7, 11, 0, 0);
		expect(`FL_TRC_RX_STALE, 7, 0);
		note(`FL_NOTE_RX_OPEN, 0, 3);
		// A newer generation while it is written: it comes to its end alone.
		block_cell(5, 7, 11, 1, 1);
		expect(`FL_TRC_STORE, 0, 0);
		write(rx(0, `NIC_RXC_VERDICT), 32'h0300);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_ACCEPT_FULL, `FL_RX_WRITE);
		// A newer attempt hears at its last cell that the block is being written.
		block_cell(5, 7, 11, 2, 0);
		block_cell(5, 7, 11, 2, 1);
		expect(`FL_TRC_ANS_SEND, 7, {`WOP_WAIT, 8'd2});
		block_cell(5, 7, 11, 3, 1);
		expect(`FL_TRC_ANS_SEND, 7, {`WOP_WAIT, 8'd3});
		pk_src = 1;
		block_cell(5, 7, 11, 4, 1);	// another queue pair's
		expect(`FL_TRC_RX_BAD_PACKET, 0, 0);
		pk_src = 0;
		block_cell(5, 7, 12, 0, 0);
		opened(1);
		landed(0, 7, 3);
		block_cell(5, 7, 12, 0, 1);
		expect(`FL_TRC_STORE, 1, 0);
		note(`FL_NOTE_RX_OPEN, 1, 1);
		note(`FL_NOTE_RX_LANDED, 0, 3);
		write(rx(1, `NIC_RXC_VERDICT), {16'd0, 8'd1, `FL_ST_REMOTE_ACCESS});
		expect_rx(1, `FL_RX_CHECK, `FL_RX_EV_DENY, `FL_RX_FREE);
		expect(`FL_TRC_ANS_SEND, 7, {`WOP_NAK, 8'd0});
		check(tp_code == `FL_ST_REMOTE_ACCESS, "its code");
		block_cell(5, 7, 12, 0, 1);	// this attempt is over
	end
endtask

// Pages of the destination are missing.
task refusing;
	begin
		block_cell(5, 3, 1, 0, 0);
		opened(0);
		block_cell(5, 3, 1, 0, 1);
		expect(`FL_TRC_STORE, 0, 0);
		note(`FL_NOTE_RX_OPEN, 0, 4);
		write(rx(0, `NIC_RXC_VERDICT), 32'h1_0400);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_ACCEPT_FULL, `FL_RX_WRITE);
		writing(NEXT, 1);
		we_map = 1;
		writing(REFUSED, 1);
		expect_rx(0, `FL_RX_WRITE, `FL_RX_EV_FAULT, `FL_RX_FAULT);
		expect(`FL_TRC_ENG_FAULT, 0, 0);
		expect(`FL_TRC_ANS_SEND, 3, {`WOP_REFUSED, 8'd0});
		check(tp_map == 1, "the map");
		read(`NIC_ENG_FLT_REF, 32'h80040300);
		read(`NIC_ENG_FLT_STREAM, 1);
		write(`NIC_ENG_FLT_POP, 0);
		block_cell(5, 3, 1, 1, 0);	// sent again: says so again
		expect(`FL_TRC_ANS_SEND, 3, {`WOP_REFUSED, 8'd1});
		pk_rkey = 1;
		block_cell(5, 3, 1, 2, 0);	// another story
		expect(`FL_TRC_RX_BAD_PACKET, 0, 0);
		pk_rkey = 0;
		write(`NIC_ENG_READY, 32'h030100);	// not this one
		expect(`FL_TRC_READY_REG, 0, 0);
		write(`NIC_ENG_READY, 32'h040100);
		expect(`FL_TRC_READY_REG, 0, 0);
		expect_rx(0, `FL_RX_FAULT, `FL_RX_EV_RESOLVED, `FL_RX_FREE);
		expect(`FL_TRC_ANS_SEND, 3, {`WOP_READY, 8'd1});
		block_cell(5, 3, 1, 1, 1);	// over
		block_cell(5, 3, 1, 2, 0);
		opened(0);
		note(`FL_NOTE_RX_OPEN, 0, 5);
		write(rx(0, `NIC_RXC_VERDICT), 32'h0500);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_ACCEPT, `FL_RX_COLLECT);
		// The verdict is taken back, then that of a block that is being written.
		write(rx(0, `NIC_RXC_VERDICT), 32'h0501);
		expect_rx(0, `FL_RX_COLLECT, `FL_RX_EV_RESTART, `FL_RX_FREE);
		block_cell(5, 3, 1, 3, 0);
		opened(0);
		note(`FL_NOTE_RX_OPEN, 0, 6);
		write(rx(0, `NIC_RXC_VERDICT), 32'h0600);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_ACCEPT, `FL_RX_COLLECT);
		// A newer attempt fills the hole; what is there already is not stored again.
		stores = 0;
		block_cell(5, 3, 1, 4, 0);
		read(rx(0, `NIC_RXC_WORD), 32'h03000104);
		pk_rkey = 1;
		block_cell(5, 3, 1, 5, 1);	// another story
		expect(`FL_TRC_RX_BAD_PACKET, 0, 0);
		pk_rkey = 0;
		block_cell(5, 3, 1, 3, 1);	// too late
		expect(`FL_TRC_RX_STALE, 3, 0);
		block_cell(5, 3, 1, 4, 1);
		expect(`FL_TRC_STORE, 0, 0);
		expect_rx(0, `FL_RX_COLLECT, `FL_RX_EV_FULL, `FL_RX_WRITE);
		check(stores == 1, "the cell that lacked was copied, once");
		writing(NEXT, 1);
		write(rx(0, `NIC_RXC_VERDICT), 32'h0601);
		expect(`FL_TRC_WR_STOP, 0, 0);
		check(wr_cancelled, "the write channel must stop");
		block_cell(5, 3, 1, 5, 0);
		// nobody works on it: no WAIT, but it may come again
		block_cell(5, 3, 1, 5, 1);
		expect(`FL_TRC_ANS_SEND, 3, {`WOP_REFUSED, 8'd5});
		check(tp_code == `FL_ST_BUSY && tp_map == 0, "it may come again");
		writing(LANDED, 1);	// it came too late
		expect_rx(0, `FL_RX_WRITE, `FL_RX_EV_RESTART, `FL_RX_FREE);
		check(!wr_cancelled, "stopped");
	end
endtask

// Answers wait for room: one for each peer context, the newest, in order.
task waiting;
	begin
		only_cells = 0;
		room = 0;
		block_cell(5, 3, 2, 0, 0);
		opened(0);
		note(`FL_NOTE_RX_OPEN, 0, 7);
		write(rx(0, `NIC_RXC_VERDICT), 32'h0708);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_DENY, `FL_RX_FREE);
		expect(`FL_TRC_ANS_WAIT, 3, {`WOP_NAK, 8'd0});
		room = 1;
		room_again = 1;
		@(negedge clk);
		room_again = 0;
		quiet;
		expect(`FL_TRC_ANS_SEND, 3, {`WOP_NAK, 8'd0});
		room = 0;
		block_cell(5, 7, 10, 2, 1);	// of the past, and unknown: stale
		expect(`FL_TRC_RX_STALE, 7, 0);
		block_cell(5, 3, 3, 0, 0);
		opened(0);
		note(`FL_NOTE_RX_OPEN, 0, 8);
		write(rx(0, `NIC_RXC_VERDICT), 32'h0808);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_DENY, `FL_RX_FREE);
		expect(`FL_TRC_ANS_WAIT, 3, {`WOP_NAK, 8'd0});
		block_cell(5, 4, 1, 0, 0);
		opened(0);
		note(`FL_NOTE_RX_OPEN, 0, 9);
		write(rx(0, `NIC_RXC_VERDICT), 32'h0909);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_DENY, `FL_RX_FREE);
		expect(`FL_TRC_ANS_WAIT, 4, {`WOP_NAK, 8'd0});
		block_cell(5, 3, 3, 1, 0);
		opened(0);
		note(`FL_NOTE_RX_OPEN, 0, 10);
		write(rx(0, `NIC_RXC_VERDICT), 32'h0A08);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_DENY, `FL_RX_FREE);
		expect(`FL_TRC_ANS_WAIT, 3, {`WOP_NAK, 8'd1});
		// An answer about an older block does not take the place of a newer one's.
		block_cell(5, 6, 1, 0, 0);
		opened(0);
		block_cell(5, 6, 1, 0, 1);
		expect(`FL_TRC_STORE, 0, 0);
		note(`FL_NOTE_RX_OPEN, 0, 11);
		write(rx(0, `NIC_RXC_VERDICT), 32'h0B00);
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_ACCEPT_FULL, `FL_RX_WRITE);
		block_cell(5, 6, 2, 0, 0);
		opened(1);
		note(`FL_NOTE_RX_OPEN, 1, dut.x_serial[1]);
		write(rx(1, `NIC_RXC_VERDICT), {16'd0, dut.x_serial[1], 8'd8});
		expect_rx(1, `FL_RX_CHECK, `FL_RX_EV_DENY, `FL_RX_FREE);
		expect(`FL_TRC_ANS_WAIT, 6, {`WOP_NAK, 8'd0});
		writing(NEXT, 1);
		writing(LANDED, 1);
		expect_rx(0, `FL_RX_WRITE, `FL_RX_EV_LANDED, `FL_RX_FREE);
		note(`FL_NOTE_RX_LANDED, 0, dut.x_serial[0]);
		// A cell gives way to them.
		go(0, `FL_OP_WRITE);
		reading(PICK);
		only_cells = 1;
		room = 1;
		reading(CELL);
		check(!ok, "answers go first");
		only_cells = 0;
		packets = 0;
		reading(CELL);
		check(ok && packets == 4, "three answers and the cell");
		expect(`FL_TRC_ANS_SEND, 3, {`WOP_NAK, 8'd1});
		expect(`FL_TRC_ANS_SEND, 4, {`WOP_NAK, 8'd0});
		expect(`FL_TRC_ANS_SEND, 6, {`WOP_NAK, 8'd0});
		expect(`FL_TRC_TX_CELLS, 0, 0);
		// Off: packets are dropped, nothing leaves; on again: what waits leaves.
		write(`NIC_ENG_CTRL, 0);
		reading(CELL);
		check(!ok, "off");
		kill(0);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_KILL, `FL_TX_DONE);
		expect(`FL_TRC_RD_DROP, 0, 0);
		reading(DROPPED);
		free_again(0);
		note(`FL_NOTE_TX_DONE, 0, 6);
		pk_gen = 20;
		packet;
		reading(PICK);
		check(!ok, "off");
		write(`NIC_ENG_CTRL, 1);
	end
endtask

task read_answer;
	input [7:0] ctx;
	input [15:0] gen;
	input [31:0] ref;
	begin
		pk_ref = ref;
		pk_kind = BLOCK;
		pk_opcode = `WOP_READ_RESP;
		pk_from = 5;
		pk_ctx = ctx;
		pk_gen = gen;
		pk_attempt = 0;
		pk_len = 2000;
		pk_offset = 0;
		pk_plen = 1024;
		packet;
		expect(`FL_TRC_CELL, 0, 0);
	end
endtask

task read_answer_rest;
	begin
		pk_offset = 1024;
		pk_plen = 976;
		packet;
		expect(`FL_TRC_CELL, 0, 0);
	end
endtask

// A READ: its request, its answer, and what ends it.
task asking;
	begin
		go(0, `FL_OP_READ);
		read_answer(9, 1, 32'h00000700);	// not asked yet
		expect(`FL_TRC_ANS_SEND, 9, {`WOP_NAK, 8'd0});
		expect(`FL_TRC_RX_STALE, 9, 0);
		reading(PICK);
		check(ok && rd_ask, "there is nothing to read");
		reading(CELL);
		check(ok && last && tp_plen == 0 && tp_opcode == `WOP_READ_REQ, "the request");
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		answer(`WOP_WAIT, 0, 7, 0, 0);
		note(`FL_NOTE_TX_FLYING, 0, 7);
		note(`FL_NOTE_TX_WAITING, 0, 7);
		read_answer(9, 2, 32'h00000700);
		expect(`FL_TRC_FILL, 0, 0);
		expect(`FL_TRC_STORE, 0, 0);
		expect_rx(0, `FL_RX_FREE, `FL_RX_EV_ACCEPT, `FL_RX_COLLECT);
		read(rx(0, `NIC_RXC_VA), 32'h34567890);
		read_answer(8, 2, 32'h00000700);	// the same once more: too late
		expect(`FL_TRC_RX_NO_CONTEXT, 8, 0);
		expect(`FL_TRC_ANS_SEND, 8, {`WOP_REFUSED, 8'd0});
		// The answer to the request's second attempt takes its place.
		write(tx(0, `NIC_CTX_CTRL), 32'h400);
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_EXPIRE, `FL_TX_READY);
		read_answer(8, 3, 32'h00000701);
		expect_rx(0, `FL_RX_COLLECT, `FL_RX_EV_RESTART, `FL_RX_FREE);
		expect(`FL_TRC_FILL, 0, 0);
		expect(`FL_TRC_STORE, 0, 0);
		expect_rx(0, `FL_RX_FREE, `FL_RX_EV_ACCEPT, `FL_RX_COLLECT);
		read_answer_rest;
		expect(`FL_TRC_STORE, 0, 0);
		expect_rx(0, `FL_RX_COLLECT, `FL_RX_EV_FULL, `FL_RX_WRITE);
		writing(NEXT, 1);
		check(wr_va == 64'h1234567890 && wr_stream == 15'h2A5, "where the request says");
		writing(LANDED, 1);
		expect_rx(0, `FL_RX_WRITE, `FL_RX_EV_LANDED, `FL_RX_FREE);
		expect(`FL_TRC_ANS_SEND, 8, {`WOP_ACK, 8'd0});
		expect(`FL_TRC_OWN_EVENT, 0, 0);
		expect(`FL_TRC_TX_EARLY, 0, 0);	// the second request has not left yet
		reading(PICK);
		reading(CELL);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		expect(`FL_TRC_TX_LEAVE_EARLY, 0, 0);
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_LANDED, `FL_TX_DONE);
		note(`FL_NOTE_TX_FLYING, 0, 7);
		note(`FL_NOTE_TX_DONE, 0, 7);
		free_again(0);
		read_killed;
		read_failed;
	end
endtask

// A READ is killed while its answer is being written: the note waits for the burst, even for one
// that begins in the same moment.
task read_killed;
	begin
		go(0, `FL_OP_READ);
		reading(PICK);
		reading(CELL);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		note(`FL_NOTE_TX_FLYING, 0, 8);
		read_answer(9, 4, 32'h00000800);
		expect(`FL_TRC_FILL, 0, 0);
		expect(`FL_TRC_STORE, 0, 0);
		expect_rx(0, `FL_RX_FREE, `FL_RX_EV_ACCEPT, `FL_RX_COLLECT);
		read_answer_rest;
		expect(`FL_TRC_STORE, 0, 0);
		expect_rx(0, `FL_RX_COLLECT, `FL_RX_EV_FULL, `FL_RX_WRITE);
		writing(NEXT, 1);
		race = 1;
		kill(0);
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_KILL, `FL_TX_DONE);
		expect(`FL_TRC_WR_STOP, 0, 0);
		note(0, 0, 0);
		check(wr_cancelled, "the write channel must stop");
		race = 0;
		wr_open = 1;
		note(0, 0, 0);
		wr_begun = 0;
		wr_open = 0;
		quiet;
		note(`FL_NOTE_TX_DONE, 0, 8);
		free_again(0);
		write(`NIC_ENG_CTRL, 0);
		we_valid = 1;
		we_kind = CANCELLED;
		repeat (20) begin
			@(negedge clk);
			check(!we_ack, "off, and a block ends");
		end
		we_valid = 0;
		write(`NIC_ENG_CTRL, 1);
		writing(CANCELLED, 1);
		expect_rx(0, `FL_RX_WRITE, `FL_RX_EV_RESTART, `FL_RX_FREE);
		expect(`FL_TRC_ANS_SEND, 9, {`WOP_NAK, 8'd0});
		check(tp_code == `FL_ST_STALE, "nobody waits for it");
	end
endtask

// A page of a READ's buffer is missing and cannot be had.
task read_failed;
	begin
		go(0, `FL_OP_READ);
		reading(PICK);
		reading(CELL);
		expect_tx(0, `FL_TX_READY, `FL_TX_EV_SENT, `FL_TX_FLYING);
		note(`FL_NOTE_TX_FLYING, 0, 9);
		read_answer(9, 5, 32'h00000900);
		expect(`FL_TRC_FILL, 0, 0);
		expect(`FL_TRC_STORE, 0, 0);
		expect_rx(0, `FL_RX_FREE, `FL_RX_EV_ACCEPT, `FL_RX_COLLECT);
		read_answer_rest;
		expect(`FL_TRC_STORE, 0, 0);
		expect_rx(0, `FL_RX_COLLECT, `FL_RX_EV_FULL, `FL_RX_WRITE);
		writing(NEXT, 1);
		writing(REFUSED, 1);
		expect_rx(0, `FL_RX_WRITE, `FL_RX_EV_FAULT, `FL_RX_FAULT);
		expect(`FL_TRC_ENG_FAULT, 0, 0);
		expect(`FL_TRC_ANS_SEND, 9, {`WOP_REFUSED, 8'd0});
		note(`FL_NOTE_TX_WAITING, 0, 9);
		write(`NIC_ENG_FLT_POP, 0);
		write(`NIC_ENG_READY, {8'd0, dut.x_serial[0], 7'd12, 9'h100});
		expect(`FL_TRC_READY_REG, 0, 0);
		expect_rx(0, `FL_RX_FAULT, `FL_RX_EV_GIVEN_UP, `FL_RX_FREE);
		expect(`FL_TRC_ANS_SEND, 9, {`WOP_NAK, 8'd0});
		check(tp_code == `FL_ST_REMOTE_FAULT, "remote for the peer");
		expect(`FL_TRC_OWN_EVENT, 0, 0);
		expect_tx(0, `FL_TX_FLYING, `FL_TX_EV_NAK, `FL_TX_DONE);
		read(tx(0, `NIC_CTX_STATE), {8'd0, `FL_ST_LOCAL_FAULT, 16'd5});
		free_again(0);
		note(`FL_NOTE_TX_DONE, 0, 9);
		pk_ref = 0;
	end
endtask

// No context is free: the sender that has been silent for longest gives way.
task reclaiming;
	integer k;
	begin
		for (k = 0; k < 2; k = k + 1) begin
			block_cell(6, k, 1, 0, 0);
			opened(k);
			note(`FL_NOTE_RX_OPEN, k, dut.x_serial[k]);
			write(rx(k, `NIC_RXC_VERDICT), {16'd0, dut.x_serial[k], 8'd0});
			expect_rx(k, `FL_RX_CHECK, `FL_RX_EV_ACCEPT, `FL_RX_COLLECT);
		end
		for (k = 1; k < 4; k = k + 1) begin
			block_cell(6, 15, k, 0, 0);
			expect(`FL_TRC_RX_NO_CONTEXT, 15, 0);
			expect(`FL_TRC_ANS_SEND, 15, {`WOP_REFUSED, 8'd0});
			check(tp_code == `FL_ST_BUSY && tp_gen == k, "it may come again");
		end
		block_cell(6, 0, 1, 0, 0);	// nothing new, but not silent either
		block_cell(6, 15, 4, 0, 0);
		expect_rx(1, `FL_RX_COLLECT, `FL_RX_EV_RESTART, `FL_RX_FREE);
		expect(`FL_TRC_ANS_SEND, 1, {`WOP_REFUSED, 8'd0});
		check(tp_code == `FL_ST_BUSY && tp_gen == 1 && tp_map == 0,
		      "its sender may come again");
		opened(1);
		block_cell(6, 15, 4, 0, 1);
		expect(`FL_TRC_STORE, 1, 0);
		write(rx(1, `NIC_RXC_VERDICT), {16'd0, dut.x_serial[1], 8'd7});
		expect_rx(1, `FL_RX_CHECK, `FL_RX_EV_DENY, `FL_RX_FREE);
		expect(`FL_TRC_ANS_SEND, 15, {`WOP_NAK, 8'd0});
		note(`FL_NOTE_RX_OPEN, 1, dut.x_serial[1]);
		write(rx(0, `NIC_RXC_VERDICT), {16'd0, dut.x_serial[0], 8'd7});
		expect_rx(0, `FL_RX_COLLECT, `FL_RX_EV_RESTART, `FL_RX_FREE);
		block_cell(6, 9, 16'h9000, 0, 0);	// of a peer context that is new here
		opened(0);
		note(`FL_NOTE_RX_OPEN, 0, dut.x_serial[0]);
		write(rx(0, `NIC_RXC_VERDICT), {16'd0, dut.x_serial[0], 8'd7});
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_DENY, `FL_RX_FREE);
		expect(`FL_TRC_ANS_SEND, 9, {`WOP_NAK, 8'd0});
	end
endtask

// No context is free, and no room for saying so: the newest attempt's answer waits. Each context
// that has landed keeps its note.
task too_busy;
	integer k;
	begin
		for (k = 0; k < 2; k = k + 1) begin
			block_cell(6, 10 + k, 1, 0, 0);
			opened(k);
			note(`FL_NOTE_RX_OPEN, k, dut.x_serial[k]);
			block_cell(6, 10 + k, 1, 0, 1);
			expect(`FL_TRC_STORE, k, 0);
			write(rx(k, `NIC_RXC_VERDICT), {16'd0, dut.x_serial[k], 8'd0});
			expect_rx(k, `FL_RX_CHECK, `FL_RX_EV_ACCEPT_FULL, `FL_RX_WRITE);
		end
		room = 0;
		block_cell(6, 12, 1, 0, 0);
		expect(`FL_TRC_RX_NO_CONTEXT, 12, 0);
		expect(`FL_TRC_ANS_WAIT, 12, {`WOP_REFUSED, 8'd0});
		block_cell(6, 12, 1, 0, 1);	// this attempt is over
		block_cell(6, 12, 1, 1, 1);
		expect(`FL_TRC_RX_NO_CONTEXT, 12, 0);
		expect(`FL_TRC_ANS_WAIT, 12, {`WOP_REFUSED, 8'd1});
		// WAIT gives its place to ACK.
		block_cell(6, 11, 1, 1, 1);
		expect(`FL_TRC_ANS_WAIT, 11, {`WOP_WAIT, 8'd1});
		for (k = 0; k < 2; k = k + 1) begin
			writing(NEXT, 1);
			writing(LANDED, 1);
			expect_rx(k, `FL_RX_WRITE, `FL_RX_EV_LANDED, `FL_RX_FREE);
			expect(`FL_TRC_ANS_WAIT, 10 + k, {`WOP_ACK, k[7:0]});
		end
		room = 1;
		room_again = 1;
		@(negedge clk);
		room_again = 0;
		quiet;
		expect(`FL_TRC_ANS_SEND, 12, {`WOP_REFUSED, 8'd1});
		expect(`FL_TRC_ANS_SEND, 11, {`WOP_ACK, 8'd1});
		expect(`FL_TRC_ANS_SEND, 10, {`WOP_ACK, 8'd0});
		// The context opens again before the firmware has looked: it hears of both, in
		// order.
		block_cell(6, 10, 2, 0, 0);
		opened(0);
		note(`FL_NOTE_RX_LANDED, 0, dut.x_serial[0] - 8'd1);
		note(`FL_NOTE_RX_LANDED, 1, dut.x_serial[1]);
		note(`FL_NOTE_RX_OPEN, 0, dut.x_serial[0]);
		write(rx(0, `NIC_RXC_VERDICT), {16'd0, dut.x_serial[0], 8'd7});
		expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_DENY, `FL_RX_FREE);
		expect(`FL_TRC_ANS_SEND, 10, {`WOP_NAK, 8'd0});
		// Its turn has not come; then no room for it: it may come again.
		pk_src = 32'h81000003;
		for (k = 1; k < 3; k = k + 1) begin
			block_cell(6, 10, 2, k, 0);
			opened(0);
			read(rx(0, `NIC_RXC_FROM), 32'h81000003);
			note(`FL_NOTE_RX_OPEN, 0, dut.x_serial[0]);
			write(rx(0, `NIC_RXC_VERDICT), {16'd0, dut.x_serial[0],
							k == 1 ? `FL_ST_WAIT : `FL_ST_BUSY});
			expect_rx(0, `FL_RX_CHECK, `FL_RX_EV_DENY, `FL_RX_FREE);
			expect(`FL_TRC_ANS_SEND, 10, {`WOP_REFUSED, k[7:0]});
			check(tp_code == (k == 1 ? `FL_ST_WAIT : `FL_ST_BUSY) && tp_map == 0,
			      "why not now");
			block_cell(6, 10, 2, k, 1);	// this attempt is over
		end
		pk_src = 0;
		note(0, 0, 0);
	end
endtask

task bad_block;
	begin
		packet;
		expect(`FL_TRC_RX_BAD_PACKET, 0, 0);
		pk_ctx = 1;
		pk_len = 2000;
		pk_offset = 0;
		pk_plen = 1024;
		pk_va = 0;
	end
endtask

task bad_packets;
	begin
		pk_kind = BAD;
		pk_why = 2;
		packet;
		expect(`FL_TRC_RX_BAD_PACKET, 0, 0);
		pk_kind = BLOCK;
		pk_opcode = `WOP_WRITE;
		pk_gen = 30;
		pk_ctx = 16;
		bad_block;
		pk_len = 0;
		bad_block;
		pk_len = 65537;
		bad_block;
		// Possible on another card: refused for good at the last cell, or the request.
		pk_len = 4097;
		bad_block;
		pk_len = 4097;
		pk_offset = 4096;
		pk_plen = 1;
		packet;
		expect(`FL_TRC_ANS_SEND, 1, {`WOP_NAK, pk_attempt});
		check(tp_code == `FL_ST_BLOCK_SIZE && tp_gen == 30, "too large for this card");
		expect(`FL_TRC_RX_BAD_PACKET, 0, 0);
		pk_opcode = `WOP_READ_REQ;
		pk_len = 65536;
		pk_offset = 0;
		pk_plen = 0;
		packet;
		expect(`FL_TRC_ANS_SEND, 1, {`WOP_NAK, pk_attempt});
		expect(`FL_TRC_RX_BAD_PACKET, 0, 0);
		pk_opcode = `WOP_WRITE;
		pk_len = 2000;
		pk_plen = 1024;
		pk_va = 64'hFFFFFFFFFFFFF900;
		bad_block;
		pk_offset = 512;
		bad_block;
		pk_offset = 2048;
		bad_block;
		pk_plen = 1023;
		bad_block;
		pk_opcode = `WOP_READ_REQ;
		pk_offset = 1024;
		bad_block;
	end
endtask

// A reset forgets what is under way, not what packets of before it are told apart by.
task resetting;
	begin
		go(0, `FL_OP_WRITE);
		block_cell(6, 2, 1, 0, 0);
		opened(0);
		settled("before the reset");
		start;
		check(!irq_event, "no note");
		read(tx(0, `NIC_CTX_STATE), 0);
		read(tx(0, `NIC_CTX_LEN), 0);
		read(tx(0, `NIC_CTX_GEN), 12);
		read(rx(0, `NIC_RXC_STATE), 0);
		block_cell(6, 2, 0, 0, 0);
		expect(`FL_TRC_RX_STALE, 2, 0);
		block_cell(6, 2, 1, 0, 0);	// its first cell had come: over
		opened(0);
	end
endtask
