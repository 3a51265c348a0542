// SPDX-License-Identifier: BSD-2-Clause
// The read channel against a model in a few lines: random blocks over random pages, stalls
// on every handshake, kills, denied cells, and a gate that opens for one unit at a time.
`default_nettype none

module tb_rd #(
	parameter BLOCK_LOG2 = 14,
	parameter BLOCKS = 120
);
	localparam MEM_LOG2 = 18;
	localparam [2:0] PICK = 0, CELL = 1, FAULTED = 2, BUSERR = 3, DROPPED = 4,
		GOOD = CELL;
	localparam [8*5-1:0] BENCH = "tb_rd";

	reg clk = 0, rst = 1;
	always #5 clk = !clk;

	reg go = 0, re_ack = 0, re_ok = 0, re_last = 0, ask = 0, dropped = 0;
	reg [3:0] index = 0;
	reg [14:0] stream = 0;
	reg [63:0] lva = 0;
	reg [16:0] len = 0;
	wire took, moving, re_valid, open, rb_we;
	wire [2:0] kind;
	wire [31:0] map;
	wire [63:0] burst_va, araddr;
	wire [12:0] burst_len;
	wire [16:0] left;
	wire [14:0] arid;
	wire [7:0] arlen, aruser;
	wire [2:0] arsize;
	wire [1:0] arburst, rresp;
	wire arvalid, arready, rvalid, rready, rlast;
	wire [127:0] rdata, wdata;
	wire [BLOCK_LOG2-4:0] waddr;

	fl_rd #(.BLOCK_LOG2(BLOCK_LOG2)) dut (
		.clk(clk), .rst(rst), .i_go_rd(go), .o_took_rd(took), .o_moving(moving),
		.re_valid(re_valid), .re_kind(kind), .re_map(map), .re_ack(re_ack),
		.re_ok(re_ok), .re_last(re_last), .rd_index(index), .rd_stream(stream),
		.rd_lva(lva), .rd_len(len), .rd_ask(ask), .rd_dropped(dropped),
		.rd_open(open), .o_rd_va(burst_va), .o_rd_len(burst_len), .rd_left(left),
		.m_axi_arid(arid), .m_axi_araddr(araddr), .m_axi_arlen(arlen),
		.m_axi_arsize(arsize), .m_axi_arburst(arburst), .m_axi_aruser(aruser),
		.m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_rdata(rdata),
		.m_axi_rresp(rresp), .m_axi_rlast(rlast), .m_axi_rvalid(rvalid),
		.m_axi_rready(rready), .rb_we(rb_we), .rb_waddr(waddr), .rb_wdata(wdata)
	);
	axi_page_mem #(.MEM_LOG2(MEM_LOG2)) m (
		.clk(clk), .rst(rst), .araddr(araddr), .arlen(arlen), .arsize(arsize),
		.arburst(arburst), .arvalid(arvalid), .arready(arready), .rdata(rdata),
		.rresp(rresp), .rlast(rlast), .rvalid(rvalid), .rready(rready),
		.awaddr(64'b0), .awlen(8'b0), .awsize(3'b0), .awburst(2'b0), .awvalid(1'b0),
		.awready(), .wdata(128'b0), .wstrb(16'b0), .wlast(1'b0), .wvalid(1'b0),
		.wready(), .bresp(), .bvalid(), .bready(1'b0)
	);

	integer seed = 7, cells, denied, reads_before, rare;
	reg dropping;			// a kill may come
	reg answering;			// but none between a question and its answer
	reg [127:0] buffer [0:(1 << BLOCK_LOG2) / 16];

	wire report = re_valid, unit = kind == CELL || kind == PICK, ack = re_ack;
	wire avalid = arvalid, aready = arready;
	wire [63:0] aaddr = araddr;
	wire [14:0] aid = arid;
	wire [7:0] alen = arlen, auser = aruser, user = {4'b0, index};
`include "tb_mem.vh"

	always @(posedge clk)
		if (rb_we) begin
			if (waddr > (1 << BLOCK_LOG2) / 16)
				fail("write beyond the read buffer");
			buffer[waddr] <= wdata;
		end

	task expect_outcome;
		begin
			walk_outcome;
			if (ask) begin
				want = CELL;
				bursts = 0;
			end
		end
	endtask

	task answer;
		input ok, last;
		begin
			repeat ({$random(seed)} % 3) @(posedge clk);
			// A kill is forgotten when it is heard, which is before the answer.
			#1 dropped = 0;
			@(posedge clk);
			#1 re_ack = 1;
			re_ok = ok;
			re_last = last;
			@(posedge clk);
			#1 re_ack = 0;
			re_ok = 0;
			re_last = 0;
		end
	endtask

	task check_buffer;
		reg [127:0] w;
		integer at;
		begin
			for (i = 0; i < len; i = i + 1) begin
				at = lva[3:0] + i;
				w = buffer[at / 16];
				if (w[8 * (at % 16) +: 8] !== m.mem[(lva + i) & ((1 << MEM_LOG2) - 1)])
					fail("a byte of the read buffer");
			end
		end
	endtask

	task random_block;
		begin
			random_memory;
			ask = {$random(seed)} % 10 == 0;
			dropping = {$random(seed)} % 4 == 0;
			rare = {$random(seed)} % 2 != 0 ? 20 : 200;
			expect_outcome;
		end
	endtask

	// A kill some time after the block was begun, but none beside a report: whether that
	// tells of it nobody could say.
	always @(posedge clk)
		if (dropping && !dropped && !answering && dut.state != 0 && {$random(seed)} % rare == 0)
			#2 dropped = !report && !answering;

	task run_block;
		begin
			reads_before = m.reads;
			wait_report;
			if (kind != PICK)
				fail("does not ask for a context");
			while ({$random(seed)} % 4 == 0) begin
				seen[PICK] = seen[PICK] + 1;
				answer(0, 0);
				wait_report;
			end
			answer(1, 0);
			cells = 1 + {$random(seed)} % 4;
			wait_report;
			while (kind == CELL && cells > 0) begin
				if (!ask)
					check_buffer;
				denied = {$random(seed)} % 3 == 0;
				if (want != CELL)
					fail("a cell of a block that is not good");
				seen[CELL] = seen[CELL] + 1;
				// No kill between the question and its answer: ctl does one thing.
				answering = 1;
				if (denied)
					answer(0, 0);
				else begin
					cells = cells - 1;
					answer(1, cells == 0);
				end
				answering = 0;
				#3 if (cells > 0) begin
					repeat ({$random(seed)} % 20) @(posedge clk);
					#3 wait_report;
				end
			end
			answering = 1;
			if (cells > 0) begin
				if (dropped) begin
					if (kind != DROPPED)
						fail("a kill is not heard");
				end else if (kind != want) begin
					fail("another outcome");
				end else if (kind == FAULTED && map !== want_map) begin
					fail("another page map");
				end
				dropping = 0;
				if (kind != DROPPED && m.reads - reads_before != bursts)
					fail("number of bursts");
				seen[kind] = seen[kind] + 1;
				answer(1, 0);
			end else if (m.reads - reads_before != bursts) begin
				fail("number of bursts");
			end
			dropping = 0;
			answering = 0;
			dropped = 0;
		end
	endtask

	initial begin
		for (i = 0; i < 1 << MEM_LOG2; i = i + 1)
			m.mem[i] = $random(seed);
		dropping = 0;
		answering = 0;
		start_bench;
		for (block = 0; block < BLOCKS; block = block + 1) begin
			random_block;
			run_block;
		end
		all_kinds_seen;
		// How fast: a whole block, nothing stalls.
		random_block;
		whole_block;
		ask = 0;
		dropping = 0;
		wait_report;
		answer(1, 0);
		begun = cycles;
		wait_report;
		$display("read: %0d bytes in %0d cycles", len, cycles - begun);
		if (cycles - begun > len / 16 * 11 / 10)
			fail("slow");
		errors = errors + m.errors;
		if (errors == 0)
			$display("PASS tb_rd: %0d blocks, %0d bursts, %0d faults, %0d bus errors, %0d kills",
				 BLOCKS, m.reads, seen[FAULTED], seen[BUSERR], seen[DROPPED]);
		else
			$display("FAIL tb_rd: %0d errors", errors);
		$finish(0);
	end
endmodule

`default_nettype wire
