// SPDX-License-Identifier: BSD-2-Clause
// fl_ctl alone: this bench is its registers' bus, its receiver, its sender and both of its
// channels. Each step says which records the trace must hold next, and nothing else may come.
`default_nettype none
`include "regs.vh"
`include "fsm.vh"
`include "wire.vh"
`include "entries.vh"
`include "fl_trace.vh"

module tb_ctl;
	localparam [2:0] PICK = 0, CELL = 1, FAULTED = 2, BUSERR = 3, DROPPED = 4;
	localparam [2:0] NEXT = 0, LANDED = 1, REFUSED = 2, WBUSERR = 3, CANCELLED = 4;
	localparam [1:0] BAD = 0, BLOCK = 1, ANSWER = 2;

	reg clk, rst, room, only_cells, room_again;
	wire enabled, idle, irq_fault, irq_event, want;
	reg rq_valid, rq_write;
	reg [16:0] rq_addr;
	reg [31:0] rq_wdata;
	wire rq_done, rq_bad;
	wire [31:0] rq_rdata;
	reg pk_valid;
	reg [1:0] pk_kind;
	reg [2:0] pk_why;
	reg [7:0] pk_from, pk_opcode, pk_ctx, pk_attempt, pk_code;
	reg [15:0] pk_gen;
	reg [63:0] pk_va, pk_left;
	reg [31:0] pk_len, pk_offset, pk_ref, pk_rkey, pk_src;
	reg [12:0] pk_plen;
	wire pk_done, st_req;
	wire [4:0] st_slot;
	reg st_done;
	wire tp_start, tp_answer;
	wire [3:0] tp_to;
	wire [7:0] tp_opcode, tp_ctx, tp_attempt, tp_code;
	wire [15:0] tp_gen;
	wire [23:0] tp_qp, tp_psn;
	wire [63:0] tp_va, tp_left;
	wire [31:0] tp_rkey, tp_len, tp_offset, tp_ref, tp_xfer, tp_block, tp_by, tp_map;
	wire [12:0] tp_plen;
	wire [16:0] tp_src;
	reg [2:0] busy;
	reg re_valid, we_valid, rd_open, wr_open, wr_begun, race;
	reg [2:0] re_kind, we_kind;
	reg [31:0] re_map, we_map;
	wire re_ack, re_ok, re_last, rd_ask, rd_dropped, we_ack, we_ok, wr_cancelled;
	wire [3:0] rd_index, ah_index;
	wire ah_valid;
	wire [14:0] ah_stream;
	wire [63:0] ah_lva;
	wire [16:0] ah_len;
	wire [15:0] rd_ready;
	wire [14:0] rd_stream, wr_stream;
	wire [63:0] rd_lva, wr_va;
	wire [16:0] rd_len, wr_len;
	wire [4:0] wr_index;
	wire trc_valid;
	wire [4:0] trc_code;
	wire [7:0] trc_index, trc_node, trc_attempt;
	wire [3:0] trc_from, trc_event, trc_to;
	wire [15:0] trc_gen;
	wire [31:0] trc_xfer, trc_block, trc_b;
	wire [63:0] trc_a;

	fl_ctl #(.BLOCK_LOG2(12)) dut (
		.clk(clk), .rst(rst), .i_contexts(5'd4), .i_rx_contexts(6'd2), .i_block_log2(5'd12),
		.i_cell_log2(4'd10), .o_enabled(enabled), .o_idle(idle), .o_irq_fault(irq_fault),
		.o_irq_event(irq_event), .rq_valid(rq_valid), .rq_write(rq_write),
		.rq_addr(rq_addr),
		.rq_wdata(rq_wdata), .rq_done(rq_done), .rq_rdata(rq_rdata), .rq_bad(rq_bad),
		.pk_valid(pk_valid), .pk_kind(pk_kind), .pk_why(pk_why), .pk_flen(16'd1088),
		.pk_from(pk_from), .pk_opcode(pk_opcode), .pk_qp(24'h77),
		.pk_psn({13'd0, pk_offset[20:10]}), .pk_ctx(pk_ctx), .pk_gen(pk_gen),
		.pk_attempt(pk_attempt), .pk_va(pk_va), .pk_rkey(pk_rkey), .pk_len(pk_len),
		.pk_offset(pk_offset), .pk_left(pk_left), .pk_ref(pk_ref), .pk_xfer(32'd9),
		.pk_block(32'd8), .pk_src(pk_src), .pk_plen(pk_plen), .pk_code(pk_code),
		.pk_map(32'd0),
		.pk_done(pk_done), .st_req(st_req), .st_slot(st_slot), .st_done(st_done),
		.o_want(want), .i_room(room && !(only_cells && tp_answer)),
		.i_room_again(room_again),
		.tp_start(tp_start),
		.tp_answer(tp_answer), .tp_to(tp_to), .tp_opcode(tp_opcode), .tp_qp(tp_qp),
		.tp_psn(tp_psn), .tp_ctx(tp_ctx), .tp_gen(tp_gen), .tp_attempt(tp_attempt),
		.tp_va(tp_va), .tp_rkey(tp_rkey), .tp_len(tp_len), .tp_offset(tp_offset),
		.tp_left(tp_left), .tp_ref(tp_ref), .tp_xfer(tp_xfer), .tp_block(tp_block),
		.tp_by(tp_by),
		.tp_plen(tp_plen), .tp_code(tp_code), .tp_map(tp_map), .tp_src(tp_src),
		.tp_busy(busy != 3'd0), .re_valid(re_valid), .re_kind(re_kind), .re_map(re_map),
		.re_ack(re_ack), .re_ok(re_ok), .re_last(re_last), .rd_index(rd_index),
		.rd_stream(rd_stream), .rd_lva(rd_lva), .rd_len(rd_len), .rd_ask(rd_ask),
		.rd_dropped(rd_dropped), .ah_valid(ah_valid), .ah_index(ah_index),
		.ah_stream(ah_stream),
		.ah_lva(ah_lva), .ah_len(ah_len), .rd_ready(rd_ready),
		.rd_open(rd_open), .rd_of(4'd2), .rd_va(64'h5000), .rd_left(17'd70),
		.i_rd_stalled(1'b1), .we_valid(we_valid), .we_kind(we_kind), .we_map(we_map),
		.we_ack(we_ack), .we_ok(we_ok), .wr_index(wr_index), .wr_stream(wr_stream),
		.wr_va(wr_va), .wr_len(wr_len), .wr_cancelled(wr_cancelled), .wr_open(wr_open),
		.wr_begun(wr_begun),
		.wr_bva(64'h6000), .wr_left(17'd80), .i_wr_stalled(1'b0), .trc_valid(trc_valid),
		.trc_code(trc_code), .trc_index(trc_index), .trc_from(trc_from),
		.trc_event(trc_event),
		.trc_to(trc_to), .trc_node(trc_node), .trc_gen(trc_gen), .trc_attempt(trc_attempt),
		.trc_xfer(trc_xfer), .trc_block(trc_block), .trc_a(trc_a), .trc_b(trc_b)
	);

	always #5 clk = !clk;

	// The records that came, and how many of them were expected: code, index, then three more.
	reg [31:0] log [0:1023];
	integer came, seen, errors, stores, packets;

	always @(posedge clk) begin
		if (trc_valid && trc_code != `FL_TRC_SERVED) begin
			log[came] = trc_code == `FL_TRC_TX_STATE || trc_code == `FL_TRC_RX_STATE ?
				    {3'd0, trc_code, trc_index, 4'd0, trc_from, trc_event, trc_to} :
				    trc_code == `FL_TRC_ANS_SEND || trc_code == `FL_TRC_ANS_WAIT ?
				    {3'd0, trc_code, trc_index, trc_a[7:0], trc_attempt} :
				    {3'd0, trc_code, trc_index, 16'd0};
			came = came + 1;
		end
		// The sender takes three cycles, the receiver's copy two.
		busy <= tp_start ? 3'd3 : busy != 3'd0 ? busy - 3'd1 : 3'd0;
		packets = packets + (tp_start ? 1 : 0);
		st_done <= st_req && !st_done;
		stores = stores + (st_done ? 1 : 0);
		// A burst that begins in the last cycle in which it may.
		if (race && dut.step == dut.WRITE_STOP)
			wr_begun <= 1;
	end

	task fail;
		input [639:0] text;
		begin
			$display("%0t: %0s", $time, text);
			errors = errors + 1;
		end
	endtask

	task check;
		input good;
		input [639:0] text;
		if (good !== 1'b1)
			fail(text);
	endtask

	// The next record, whole.
	task expect;
		input [4:0] code;
		input [7:0] index;
		input [15:0] more;
		begin
			if (seen >= came) begin
				$display("%0t: no record; %0d %0d %h was expected", $time, code,
					 index, more);
				errors = errors + 1;
			end else begin
				if (log[seen] !== {3'd0, code, index, more}) begin
					$display("%0t: record %h instead of %0d %0d %h", $time,
						 log[seen], code,
						 index, more);
					errors = errors + 1;
				end
				seen = seen + 1;
			end
		end
	endtask

	task expect_tx;
		input [7:0] index;
		input [3:0] from;
		input [3:0] cause;
		input [3:0] to;
		expect(`FL_TRC_TX_STATE, index, {4'd0, from, cause, to});
	endtask

	task expect_rx;
		input [7:0] index;
		input [3:0] from;
		input [3:0] cause;
		input [3:0] to;
		expect(`FL_TRC_RX_STATE, index, {4'd0, from, cause, to});
	endtask

	// Until nothing is left to do; then every record must have been expected.
	task quiet;
		begin
			@(negedge clk);
			while (!idle)
				@(negedge clk);
		end
	endtask

	task settled;
		input [639:0] where;
		begin
			if (seen != came) begin
				$display("%0t: %0s: record %h was not expected", $time, where,
					 log[seen]);
				errors = errors + 1;
				seen = came;
			end
		end
	endtask

	task write;
		input [31:0] addr;
		input [31:0] value;
		begin
			rq_valid = 1;
			rq_write = 1;
			rq_addr = addr[16:0];
			rq_wdata = value;
			@(negedge clk);
			while (!rq_done)
				@(negedge clk);
			if (rq_bad) begin
				$display("%0t: write %h to %h was refused", $time, value, addr);
				errors = errors + 1;
			end
			@(negedge clk);
			rq_valid = 0;
			quiet;
		end
	endtask

	task refused;
		input [31:0] addr;
		input [31:0] value;
		begin
			rq_valid = 1;
			rq_write = 1;
			rq_addr = addr[16:0];
			rq_wdata = value;
			@(negedge clk);
			while (!rq_done)
				@(negedge clk);
			if (!rq_bad) begin
				$display("%0t: write %h to %h was not refused", $time, value, addr);
				errors = errors + 1;
			end
			@(negedge clk);
			rq_valid = 0;
			quiet;
			expect(`FL_TRC_BAD_REG, 8'd0, 16'd0);
		end
	endtask

	task read;
		input [31:0] addr;
		input [31:0] value;
		begin
			rq_valid = 1;
			rq_write = 0;
			rq_addr = addr[16:0];
			@(negedge clk);
			while (!rq_done)
				@(negedge clk);
			if (rq_bad || rq_rdata !== value) begin
				$display("%0t: %h reads %h %b, not %h", $time, addr, rq_rdata,
					 rq_bad, value);
				errors = errors + 1;
			end
			@(negedge clk);
			rq_valid = 0;
			quiet;
		end
	endtask

	task read_bad;
		input [31:0] addr;
		begin
			rq_valid = 1;
			rq_write = 0;
			rq_addr = addr[16:0];
			@(negedge clk);
			while (!rq_done)
				@(negedge clk);
			check(rq_bad, "a read where nothing is");
			@(negedge clk);
			rq_valid = 0;
			quiet;
		end
	endtask

	// The oldest note: 0 for none.
	task note;
		input [7:0] kind;
		input [7:0] index;
		input [7:0] serial;
		read(`NIC_ENG_EVT_POP, kind == 0 ? 32'd0 : {8'h80, serial, index, kind});
	endtask

	task packet;
		begin
			pk_valid = 1;
			@(negedge clk);
			while (!pk_done)
				@(negedge clk);
			@(negedge clk);
			pk_valid = 0;
			quiet;
		end
	endtask

	// A cell of 1024 bytes of a WRITE of 2000 bytes, or the rest.
	task block_cell;
		input [7:0] from;
		input [7:0] ctx;
		input [15:0] gen;
		input [7:0] attempt;
		input second;
		begin
			pk_kind = BLOCK;
			pk_opcode = `WOP_WRITE;
			pk_from = from;
			pk_ctx = ctx;
			pk_gen = gen;
			pk_attempt = attempt;
			pk_len = 2000;
			pk_offset = second ? 1024 : 0;
			pk_plen = second ? 976 : 1024;
			packet;
			expect(`FL_TRC_CELL, 8'd0, 16'd0);
		end
	endtask

	task answer;
		input [7:0] opcode;
		input [7:0] ctx;
		input [15:0] gen;
		input [7:0] attempt;
		input [7:0] code;
		begin
			pk_kind = ANSWER;
			pk_opcode = opcode;
			pk_from = 5;
			pk_ctx = ctx;
			pk_gen = gen;
			pk_attempt = attempt;
			pk_code = code;
			packet;
		end
	endtask

	// A report of the read channel; what ctl said.
	reg ok, last;
	task reading;
		input [2:0] kind;
		begin
			re_valid = 1;
			re_kind = kind;
			@(negedge clk);
			while (!re_ack)
				@(negedge clk);
			ok = re_ok;
			last = re_last;
			if (kind == PICK && re_ok) begin
				check(rd_lva === 64'h1234567890 && rd_len === 17'd2000 &&
				      rd_stream === 15'h2A5, "what PICK hands out");
			end
			@(negedge clk);
			re_valid = 0;
			quiet;
		end
	endtask

	task writing;
		input [2:0] kind;
		input good;
		begin
			we_valid = 1;
			we_kind = kind;
			@(negedge clk);
			while (!we_ack)
				@(negedge clk);
			check(we_ok === good, "we_ok");
			@(negedge clk);
			we_valid = 0;
			quiet;
		end
	endtask

	// The address of a register of a context.
	function [31:0] tx;
		input [31:0] index;
		input [11:0] offset;
		tx = `NIC_CTX_BASE + index * `NIC_CTX_STRIDE + {20'd0, offset};
	endfunction

	function [31:0] rx;
		input [31:0] index;
		input [11:0] offset;
		rx = `NIC_RXC_BASE + index * `NIC_RXC_STRIDE + {20'd0, offset};
	endfunction

	task fill;
		input [31:0] i;
		begin
			write(tx(i, `NIC_CTX_DST), 32'h0000_7705);
			write(tx(i, `NIC_CTX_STREAM), 32'h2A5);
			write(tx(i, `NIC_CTX_LVA), 32'h34567890);
			write(tx(i, `NIC_CTX_LVA) + 4, 32'h12);
			write(tx(i, `NIC_CTX_LEN), 2000);
			write(tx(i, `NIC_CTX_XFER), 3);
			write(tx(i, `NIC_CTX_REF), 32'h00ABCD02);
			write(tx(i, `NIC_CTX_SRC), 32'h85000077);
		end
	endtask

	task go;
		input [31:0] i;
		input [31:0] op;
		begin
			write(tx(i, `NIC_CTX_CTRL), op | 32'h100);
			expect_tx(i, `FL_TX_FREE, `FL_TX_EV_GO, `FL_TX_READY);
		end
	endtask

	task kill;
		input [31:0] i;
		write(tx(i, `NIC_CTX_CTRL), 32'h11_0800);
	endtask

	task free_again;
		input [31:0] i;
		begin
			write(tx(i, `NIC_CTX_CTRL), 32'h200);
			expect_tx(i, `FL_TX_DONE, `FL_TX_EV_RELEASE, `FL_TX_FREE);
		end
	endtask

	task start;
		begin
			{rq_valid, pk_valid, re_valid, we_valid, room_again} = 0;
			{rd_open, wr_open, wr_begun, race} = 0;
			{re_map, we_map, pk_va, pk_left, pk_ref, pk_rkey, pk_why, pk_code,
			 pk_src} = 0;
			room = 1;
			only_cells = 0;
			rst = 1;
			repeat (2) @(negedge clk);
			rst = 0;
			quiet;
			write(`NIC_ENG_CTRL, 1);
		end
	endtask

	`include "tb_ctl_steps.vh"

	initial begin
		clk = 0;
		{came, seen, errors, stores, packets} = 0;
		busy = 0;
		st_done = 0;
		start;
		registers;
		settled("registers");
		sending;
		settled("sending");
		faults;
		settled("faults");
		early;
		settled("early");
		killing;
		settled("killing");
		noting;
		settled("noting");
		attempts;
		settled("attempts");
		receiving;
		settled("receiving");
		refusing;
		settled("refusing");
		waiting;
		settled("waiting");
		asking;
		settled("asking");
		reclaiming;
		settled("reclaiming");
		not_now;
		settled("not now");
		too_busy;
		settled("too busy");
		bad_packets;
		settled("bad packets");
		resetting;
		settled("resetting");
		if (errors == 0)
			$display("PASS");
		$finish(0);
	end

	initial begin
		#2000000;
		fail("no end");
		$finish(0);
	end
endmodule

`default_nettype wire
