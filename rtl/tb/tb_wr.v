// SPDX-License-Identifier: BSD-2-Clause
// The write channel: random blocks from random receive buffers over random pages. Afterwards
// the memory holds the block where pages were good, and is untouched everywhere else.
`default_nettype none

module tb_wr #(
	parameter BLOCK_LOG2 = 14,
	parameter BLOCKS = 120
);
	localparam MEM_LOG2 = 17;
	localparam [2:0] NEXT = 0, LANDED = 1, REFUSED = 2, BUSERR = 3, CANCELLED = 4,
		GOOD = LANDED, FAULTED = REFUSED;
	localparam [8*5-1:0] BENCH = "tb_wr";

	reg clk = 0, rst = 1;
	always #5 clk = !clk;

	reg go = 0, we_ack = 0, we_ok = 0, cancelled = 0;
	reg [4:0] index = 0;
	reg [14:0] stream = 0;
	reg [63:0] lva = 0;
	reg [16:0] len = 0;
	wire took, moving, we_valid, open, xb_re;
	wire [2:0] kind;
	wire [31:0] map;
	wire [63:0] burst_va, awaddr;
	wire [12:0] burst_len;
	wire [16:0] left;
	wire [14:0] awid;
	wire [7:0] awlen, awuser;
	wire [2:0] awsize;
	wire [1:0] awburst, bresp;
	wire awvalid, awready, wvalid, wready, wlast, bvalid, bready;
	wire [127:0] wdata, xb_rdata;
	wire [15:0] wstrb;
	wire [BLOCK_LOG2:0] xb_raddr;

	fl_wr #(.BLOCK_LOG2(BLOCK_LOG2)) dut (
		.clk(clk), .rst(rst), .i_go_wr(go), .o_took_wr(took), .o_moving(moving),
		.we_valid(we_valid), .we_kind(kind), .we_map(map), .we_ack(we_ack),
		.we_ok(we_ok), .wr_index(index), .wr_stream(stream), .wr_va(lva),
		.wr_len(len), .wr_cancelled(cancelled), .wr_open(open), .o_wr_va(burst_va),
		.o_wr_len(burst_len), .wr_left(left), .m_axi_awid(awid),
		.m_axi_awaddr(awaddr), .m_axi_awlen(awlen), .m_axi_awsize(awsize),
		.m_axi_awburst(awburst), .m_axi_awuser(awuser), .m_axi_awvalid(awvalid),
		.m_axi_awready(awready), .m_axi_wdata(wdata), .m_axi_wstrb(wstrb),
		.m_axi_wlast(wlast), .m_axi_wvalid(wvalid), .m_axi_wready(wready),
		.m_axi_bresp(bresp), .m_axi_bvalid(bvalid), .m_axi_bready(bready),
		.xb_re(xb_re), .xb_raddr(xb_raddr), .xb_rdata(xb_rdata)
	);
	fl_ram #(.WIDTH(128), .DEPTH(2 << BLOCK_LOG2), .ADDR(BLOCK_LOG2 + 1)) b (
		.clk(clk), .i_we(1'b0), .i_waddr({BLOCK_LOG2 + 1{1'b0}}), .i_wdata(128'b0),
		.i_re(xb_re), .i_raddr(xb_raddr), .o_rdata(xb_rdata)
	);
	axi_page_mem #(.MEM_LOG2(MEM_LOG2)) m (
		.clk(clk), .rst(rst), .araddr(64'b0), .arlen(8'b0), .arsize(3'b0),
		.arburst(2'b0), .arvalid(1'b0), .arready(), .rdata(), .rresp(), .rlast(),
		.rvalid(), .rready(1'b0), .awaddr(awaddr), .awlen(awlen), .awsize(awsize),
		.awburst(awburst), .awvalid(awvalid), .awready(awready), .wdata(wdata),
		.wstrb(wstrb), .wlast(wlast), .wvalid(wvalid), .wready(wready),
		.bresp(bresp), .bvalid(bvalid), .bready(bready)
	);

	integer seed = 11, writes_before;
	reg cancelling;
	reg [7:0] model [0:(1 << MEM_LOG2) - 1];
	reg [127:0] w;

	wire report = we_valid, unit = kind == NEXT, ack = we_ack;
	wire avalid = awvalid, aready = awready;
	wire [63:0] aaddr = awaddr;
	wire [14:0] aid = awid;
	wire [7:0] alen = awlen, auser = awuser, b_user = {3'b0, index};
	wire [14:0] b_stream = stream;
	wire [63:0] b_lva = lva;
	wire [16:0] b_len = len;
`include "tb_mem.vh"

	reg open_was;
	always @(posedge clk) begin
		open_was <= !rst && (awvalid && awready || open && !(bvalid && bready));
		if (!rst && open !== open_was)
			fail("wr_open");
	end

	function [7:0] byte_of_buffer;
		input integer n;
		reg [127:0] word;
		begin
			word = b.mem[{index, {BLOCK_LOG2 - 4{1'b0}}} + n / 16];
			byte_of_buffer = word[8 * (n % 16) +: 8];
		end
	endfunction

	// The first n bursts of the block.
	task model_write;
		input integer n;
		reg [63:0] at;
		integer k, p;
		begin
			p = -1;
			for (k = 0; k < len; k = k + 1) begin
				at = lva + k;
				if (k == 0 || at[11:0] == 0)
					p = p + 1;
				if (p < n && m.page[at[MEM_LOG2-1:12]] == 0)
					model[at[MEM_LOG2-1:0]] = byte_of_buffer(k);
			end
		end
	endtask

	task answer;
		input ok;
		begin
			repeat ({$random(seed)} % 3) @(posedge clk);
			#1 we_ack = 1;
			we_ok = ok;
			@(posedge clk);
			#1 we_ack = 0;
			we_ok = 0;
		end
	endtask

	task random_block;
		begin
			random_memory;
			cancelling = {$random(seed)} % 5 == 0;
			for (i = 0; i < (1 << BLOCK_LOG2) / 16; i = i + 1)
				b.mem[{index, {BLOCK_LOG2 - 4{1'b0}}} + i] =
					{$random(seed), $random(seed), $random(seed), $random(seed)};
			walk_outcome;
		end
	endtask

	always @(posedge clk)
		if (cancelling && !cancelled && dut.state != 0 && {$random(seed)} % 200 == 0)
			#2 cancelled = 1;

	task run_block;
		begin
			writes_before = m.writes;
			wait_report;
			if (kind != NEXT)
				fail("does not ask for a context");
			while ({$random(seed)} % 4 == 0) begin
				seen[NEXT] = seen[NEXT] + 1;
				answer(0);
				wait_report;
			end
			answer(1);
			wait_report;
			// No kill between a report and its answer: ctl does one thing at a time.
			cancelling = 0;
			if (cancelled) begin
				if (kind != CANCELLED)
					fail("a kill is not heard");
			end else if (kind != want) begin
				fail("another outcome");
			end else if (kind == REFUSED && map !== want_map) begin
				fail("another page map");
			end else if (m.writes - writes_before != bursts) begin
				fail("number of bursts");
			end
			seen[kind] = seen[kind] + 1;
			answer(1);
			cancelled = 0;
			model_write(m.writes - writes_before);
		end
	endtask

	task check_memory;
		integer n;
		begin
			n = 0;
			for (i = 0; i < 1 << MEM_LOG2; i = i + 1)
				if (m.mem[i] !== model[i])
					n = n + 1;
			if (n != 0)
				fail("the memory differs");
		end
	endtask

	initial begin
		for (i = 0; i < 1 << MEM_LOG2; i = i + 1) begin
			model[i] = $random(seed);
			m.mem[i] = model[i];
		end
		cancelling = 0;
		start_bench;
		for (block = 0; block < BLOCKS; block = block + 1) begin
			random_block;
			run_block;
			if (block % 10 == 0 || block == BLOCKS - 1)
				check_memory;
		end
		all_kinds_seen;
		// How fast: a whole block, nothing stalls.
		random_block;
		whole_block;
		cancelling = 0;
		wait_report;
		answer(1);
		begun = cycles;
		wait_report;
		$display("write: %0d bytes in %0d cycles", len, cycles - begun);
		if (cycles - begun > len / 16 * 11 / 10)
			fail("slow");
		errors = errors + m.errors;
		if (errors == 0)
			$display("PASS tb_wr: %0d blocks, %0d bursts, %0d refused, %0d bus errors, %0d kills",
				 BLOCKS, m.writes, seen[REFUSED], seen[BUSERR], seen[CANCELLED]);
		else
			$display("FAIL tb_wr: %0d errors", errors);
		$finish(0);
	end
endmodule

`default_nettype wire
