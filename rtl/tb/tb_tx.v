// SPDX-License-Identifier: BSD-2-Clause
// Packets out: every byte as emu/nic/wire.c makes it, from any lane of the read buffer, with
// stalls; what waits for TREADY does not change.
`default_nettype none

module tb_tx #(
	parameter BLOCK_LOG2 = 14
);
`include "wire_vectors.vh"
	reg clk = 0, rst = 1;
	always #5 clk = !clk;

	reg icrc = 0, start = 0, ready = 0;
	reg [16:0] src = 0;
	wire busy, moving, rb_re, valid, last;
	wire [BLOCK_LOG2-4:0] rb_raddr;
	wire [127:0] rb_rdata, data;
	wire [15:0] keep;
	wire [7:0] tid, tdest;

	fl_tx #(.BLOCK_LOG2(BLOCK_LOG2)) dut (
		.clk(clk), .rst(rst), .i_node(v_from[3:0]), .i_icrc(icrc), .o_moving(moving),
		.tp_start(start), .tp_busy(busy), .tp_answer(v_kind == ANSWER),
		.tp_to(v_to[3:0]), .tp_opcode(v_opcode), .tp_qp(v_qp), .tp_psn(v_psn),
		.tp_ctx(v_ctx), .tp_gen(v_gen), .tp_attempt(v_attempt), .tp_va(v_va),
		.tp_rkey(v_rkey), .tp_len(v_len), .tp_offset(v_offset), .tp_left(v_left),
		.tp_ref(v_ref), .tp_xfer(v_xfer), .tp_block(v_block), .tp_by(v_src), .tp_plen(v_plen[12:0]),
		.tp_code(v_code), .tp_map(v_map), .tp_src(src), .rb_re(rb_re),
		.rb_raddr(rb_raddr), .rb_rdata(rb_rdata), .m_axis_tdata(data),
		.m_axis_tkeep(keep), .m_axis_tlast(last), .m_axis_tid(tid),
		.m_axis_tdest(tdest), .m_axis_tvalid(valid), .m_axis_tready(ready)
	);
	fl_ram #(.WIDTH(128), .DEPTH((1 << BLOCK_LOG2) / 16 + 1), .ADDR(BLOCK_LOG2 - 3)) b (
		.clk(clk), .i_we(1'b0), .i_waddr({BLOCK_LOG2 - 3{1'b0}}), .i_wdata(128'b0),
		.i_re(rb_re), .i_raddr(rb_raddr), .o_rdata(rb_rdata)
	);

	integer seed = 3, errors = 0, packets = 0, i, got, stall, cycles = 0, begun, sent;
	reg ended;
	reg [127:0] w;
	reg [161:0] was;

	task fail;
		input [8*40-1:0] text;
		begin
			errors = errors + 1;
			$display("tb_tx: packet %0d, byte %0d: %0s", packets, got, text);
		end
	endtask

	always @(posedge clk) begin
		cycles <= cycles + 1;
		if (was[161] && was !== {valid, keep, data, last, tid, tdest})
			fail("changes before it is taken");
		was <= rst || ready ? 0 : {valid, keep, data, last, tid, tdest};
		if (valid && ready) begin
			if (tid != v_from || tdest != v_to)
				fail("from or to");
			for (i = 0; i < 16; i = i + 1)
				if (keep[i]) begin
					if (ended || data[8 * i +: 8] !== vec[v_frame + got])
						fail("another byte");
					got = got + 1;
				end else if (!last || keep[15:0] >> i != 0) begin
					fail("a hole");
				end
			if (last && got != v_flen)
				fail("length");
			ended = ended || last;
		end
		ready <= {$random(seed)} % 256 >= stall;
	end

	task send;
		integer at;
		begin
			src = {$random(seed)} % ((1 << BLOCK_LOG2) + 16 - v_plen);
			for (i = 0; i < v_plen; i = i + 1) begin
				at = src + i;
				w = b.mem[at / 16];
				w[8 * (at % 16) +: 8] = vec[v_frame + 60 + i];
				b.mem[at / 16] = w;
			end
			icrc = v_icrc;
			got = 0;
			ended = 0;
			@(posedge clk);
			#1 start = 1;
			@(posedge clk);
			#1 start = 0;
			if (!busy)
				fail("not busy");
			while (busy) begin
				@(posedge clk);
				#1;
			end
			if (!ended || moving)
				fail("is not done though not busy");
		end
	endtask

	initial begin
		v_at = 0;
		stall = 0;
		was = 0;
		got = 0;
		ended = 1;
		v_next;
		repeat (3) @(posedge clk);
		#1 rst = 0;
		while (v_kind != END) begin
			if (v_kind != BAD && !v_damaged) begin
				stall = {$random(seed)} % 3 * 100;
				send;
				packets = packets + 1;
			end
			v_next;
		end
		// How fast: cells of 4 KB with ICRC.
		v_at = 0;
		v_next;
		while (v_plen != 4096 || !v_icrc)
			v_next;
		stall = 0;
		begun = cycles;
		for (sent = 0; sent < 4; sent = sent + 1)
			send;
		$display("send: 4 cells of %0d bytes with ICRC in %0d cycles", v_plen, cycles - begun);
		if (packets < 80)
			fail("too few packets");
		if (errors == 0)
			$display("PASS tb_tx: %0d packets", packets);
		else
			$display("FAIL tb_tx: %0d errors", errors);
		$finish(0);
	end
endmodule

`default_nettype wire
