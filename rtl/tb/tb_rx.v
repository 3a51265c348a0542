// SPDX-License-Identifier: BSD-2-Clause
// Packets in: each record, verdict and payload as emu/nic/wire.c gives them, for packets that
// are good, cut, too long, damaged, or make no sense; back to back, with stalls on both sides.
`default_nettype none

module tb_rx #(
	parameter BLOCK_LOG2 = 14
);
`include "wire_vectors.vh"
	reg clk = 0, rst = 1;
	always #5 clk = !clk;

	reg icrc = 0;
	reg [127:0] data = 0;
	reg [15:0] keep = 0;
	reg last = 0, valid = 0, done = 0, st_req = 0;
	reg [7:0] tid = 0, tdest = 0;
	reg [4:0] slot = 0;
	wire ready, moving, pk_valid, st_done, xb_we;
	wire [1:0] kind;
	wire [2:0] why;
	wire [15:0] flen, gen;
	wire [7:0] from, opcode, ctx, attempt, code;
	wire [23:0] qp, psn;
	wire [63:0] va, left;
	wire [31:0] rkey, len, offset, ref, xfer, block, src, map;
	wire [12:0] plen;
	wire [BLOCK_LOG2:0] xb_waddr;
	wire [127:0] xb_wdata;

	fl_rx #(.BLOCK_LOG2(BLOCK_LOG2)) dut (
		.clk(clk), .rst(rst), .i_node(4'd5), .i_icrc(icrc), .o_moving(moving),
		.s_axis_tdata(data), .s_axis_tkeep(keep), .s_axis_tlast(last), .s_axis_tid(tid),
		.s_axis_tdest(tdest), .s_axis_tvalid(valid), .s_axis_tready(ready),
		.pk_valid(pk_valid), .pk_done(done), .pk_kind(kind), .pk_why(why),
		.pk_flen(flen), .pk_from(from), .pk_opcode(opcode), .pk_qp(qp), .pk_psn(psn),
		.pk_ctx(ctx), .pk_gen(gen), .pk_attempt(attempt), .pk_va(va), .pk_rkey(rkey),
		.pk_len(len), .pk_offset(offset), .pk_left(left), .pk_ref(ref), .pk_xfer(xfer),
		.pk_block(block), .pk_src(src), .pk_plen(plen), .pk_code(code), .pk_map(map), .st_req(st_req),
		.st_slot(slot), .st_done(st_done), .xb_we(xb_we), .xb_waddr(xb_waddr),
		.xb_wdata(xb_wdata)
	);
	reg [127:0] buffer [0:(2 << BLOCK_LOG2) - 1];

	integer seed = 5, errors = 0, packets = 0, i, stall, cycles = 0, begun, writes;
	integer bad [0:5];
	integer stored = 0;
	reg fast;

	task fail;
		input [8*40-1:0] text;
		begin
			errors = errors + 1;
			$display("tb_rx: packet %0d: %0s", packets, text);
		end
	endtask

	always @(posedge clk) begin
		cycles <= cycles + 1;
		if (xb_we) begin
			buffer[xb_waddr] <= xb_wdata;
			writes = writes + 1;
		end
	end

	// What goes in: packets of one kind of ICRC, in order. s_at: as v_at.
	integer s_at, s_flen, s_frame, s_repeat, b, n;
	reg s_run;

	task feed;
		begin
			b = 0;
			while (b < s_flen) begin
				while ({$random(seed)} % 256 < stall) begin
					@(posedge clk);
					#1;
				end
				valid = 1;
				for (n = 0; n < 16; n = n + 1) begin
					keep[n] = b + n < s_flen;
					data[8 * n +: 8] = keep[n] ? vec[s_frame + b + n] : 8'hEE;
				end
				last = b + 16 >= s_flen;
				b = b + 16;
				while (!ready) begin
					@(posedge clk);
					#1;
				end
				@(posedge clk);
				#1 valid = 0;
			end
		end
	endtask

	initial begin
		s_run = 0;
		s_at = 0;
		s_repeat = 0;
	end
	always begin
		@(posedge clk);
		#1;
		while (s_run && vec[s_at] != END) begin
			s_flen = {vec[s_at + 68], vec[s_at + 69]};
			s_frame = s_at + 70;
			tid = vec[s_at + 4];
			tdest = vec[s_at + 5];
			if (vec[s_at + 2] == icrc && s_flen != 0)
				feed;
			if (s_repeat > 1)
				s_repeat = s_repeat - 1;
			else if (s_repeat == 1)
				s_run = 0;
			else
				s_at = s_frame + s_flen;
		end
	end

	task check_record;
		begin
			if (kind !== v_kind || why !== v_why || flen !== v_flen || from !== v_from)
				fail("verdict");
			if (v_kind == BLOCK &&
			    {opcode, qp, psn, ctx, gen, attempt, va, rkey, len, offset, left} !==
			    {v_opcode, v_qp, v_psn, v_ctx, v_gen, v_attempt, v_va, v_rkey, v_len,
			     v_offset, v_left})
				fail("a field of a block");
			if (v_kind == BLOCK &&
			    {ref, xfer, block, src, plen} !==
			    {v_ref, v_xfer, v_block, v_src, v_plen[12:0]})
				fail("a field of a block");
			if (v_kind == ANSWER &&
			    {opcode, qp, ctx, gen, attempt, code, map, xfer, block} !==
			    {v_opcode, v_qp, v_ctx, v_gen, v_attempt, v_code, v_map, v_xfer,
			     v_block})
				fail("a field of an answer");
		end
	endtask

	task store;
		reg [127:0] w;
		begin
			slot = $random(seed);
			writes = 0;
			st_req = 1;
			while (!st_done) begin
				@(posedge clk);
				#1;
			end
			st_req = 0;
			if (writes != (v_plen + 15) / 16)
				fail("number of words stored");
			for (i = 0; i < v_plen; i = i + 1) begin
				w = buffer[{slot, {BLOCK_LOG2 - 4{1'b0}}} + (v_offset + i) / 16];
				if (w[8 * (i % 16) +: 8] !== vec[v_frame + 60 + i])
					fail("a byte of the payload");
			end
			stored = stored + 1;
		end
	endtask

	// As ctl: takes packets one after the other.
	task take;
		begin
			while (!pk_valid) begin
				@(posedge clk);
				#1;
			end
			if (!moving)
				fail("says that all is quiet");
			if (!fast)
				repeat ({$random(seed)} % 20) @(posedge clk);
			#1;
			check_record;
			if (v_kind == BLOCK && v_plen != 0 && v_offset % 64 == 0 &&
			    v_offset + v_plen <= 4096 && (fast || {$random(seed)} % 8 != 0))
				store;
			done = 1;
			@(posedge clk);
			#1 done = 0;
			packets = packets + 1;
		end
	endtask

	task run;
		input with_icrc;
		begin
			icrc = with_icrc;
			s_at = 0;
			v_at = 0;
			s_run = 1;
			v_next;
			while (v_kind != END) begin
				if (packets % 16 == 0)
					stall = {$random(seed)} % 3 * 100;
				if (v_icrc == icrc && v_flen != 0) begin
					bad[v_why] = bad[v_why] + 1;
					take;
				end
				v_next;
			end
			s_run = 0;
			repeat (5) @(posedge clk);
			#1;
			if (moving || pk_valid)
				fail("a packet that nobody sent");
		end
	endtask

	// 16 KB in cells of 4 KB, nobody stalls.
	task measure;
		input with_icrc;
		begin
			icrc = with_icrc;
			v_at = 0;
			v_next;
			while (v_kind != END && (v_plen != 4096 || v_icrc != icrc ||
						 v_kind != BLOCK || v_flen != 4160)) begin
				i = v_at;
				v_next;
			end
			if (v_kind == END) begin
				fail("no whole cell to measure");
				s_repeat = 0;
			end else begin
				s_at = i;
				s_repeat = 4;
				s_run = 1;
				begun = cycles;
				repeat (4) take;
			end
			$display("receive and store: 4 cells of 4096 bytes, ICRC %0d, in %0d cycles",
				 icrc, cycles - begun);
			s_run = 0;
			s_repeat = 0;
		end
	endtask

	initial begin
		for (i = 0; i < 6; i = i + 1)
			bad[i] = 0;
		stall = 0;
		fast = 0;
		repeat (3) @(posedge clk);
		#1 rst = 0;
		run(1);
		run(0);
		stall = 0;
		fast = 1;
		measure(1);
		measure(0);
		for (i = 0; i < 6; i = i + 1)
			if (bad[i] == 0)
				fail("a verdict never came");
		if (errors == 0)
			$display("PASS tb_rx: %0d packets, %0d stored; short %0d, damaged %0d, opcode %0d, header %0d, length %0d",
				 packets, stored, bad[1], bad[2], bad[3], bad[4], bad[5]);
		else
			$display("FAIL tb_rx: %0d errors", errors);
		$finish(0);
	end
endmodule

`default_nettype wire
