// SPDX-License-Identifier: BSD-2-Clause
// The write channel: random blocks from random receive buffers over random pages. Afterwards
// the memory holds the block where pages were good, and is untouched everywhere else.
`default_nettype none

module tb_wr #(
	parameter BLOCK_LOG2 = 14,
	parameter BLOCKS = 120
);
	localparam MEM_LOG2 = 17;
	localparam [2:0] NEXT = 0, LANDED = 1, REFUSED = 2, BUSERR = 3, CANCELLED = 4;

	reg clk = 0, rst = 1;
	always #5 clk = !clk;

	reg go = 0, we_ack = 0, we_ok = 0, cancelled = 0;
	reg [4:0] index = 0;
	reg [14:0] stream = 0;
	reg [63:0] va = 0;
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
		.we_ok(we_ok), .wr_index(index), .wr_stream(stream), .wr_va(va),
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

	integer seed = 11, errors = 0, block, i, cycles = 0, begun;
	integer seen [0:4];		// how often each report came
	integer writes_before, bursts;
	reg [31:0] want_map;
	reg [2:0] want;
	reg [63:0] top;			// bits above the memory's
	reg one_by_one, cancelling;
	reg [7:0] model [0:(1 << MEM_LOG2) - 1];
	reg [127:0] w;

	task fail;
		input [8*40-1:0] text;
		begin
			errors = errors + 1;
			$display("tb_wr: block %0d: %0s", block, text);
		end
	endtask

	reg go_was, aw_was, ask_was, moving_was, open_was;
	reg [2:0] state_was;
	always @(posedge clk) begin
		cycles <= cycles + 1;
		if (awvalid && awready) begin
			if (awid !== stream || awuser !== {3'b0, index})
				fail("stream or context of a burst");
			if (awaddr[63:MEM_LOG2] !== top[63:MEM_LOG2])
				fail("upper bits of an address");
			if (awaddr !== {burst_va[63:4], 4'b0} || burst_va + left != va + len)
				fail("address of a burst");
			if (burst_va[3:0] + burst_len > 16 * (awlen + 1) ||
			    burst_va[3:0] + burst_len <= 16 * awlen || burst_len > left)
				fail("length of a burst");
		end
		open_was <= !rst && (awvalid && awready || open && !(bvalid && bready));
		if (!rst && open !== open_was)
			fail("wr_open");
		go_was <= go;
		aw_was <= awvalid;
		ask_was <= we_valid;
		moving_was <= moving;
		state_was <= dut.state;
		if (!rst && !go_was &&
		    ((awvalid && !aw_was) || (we_valid && !ask_was && kind == NEXT)))
			fail("a unit of work without a go");
		if (!rst && moving_was === 0 && dut.state !== state_was)
			fail("moves though it says that it does not");
		if (took && !(awvalid && awready) && !we_ack)
			fail("took nothing");
		go <= one_by_one ? (took ? 1'b0 : go || {$random(seed)} % 8 == 0) : 1'b1;
	end

	// What walk_step() would say; the model's memory gets what lands.
	task expect_outcome;
		reg [63:0] at;
		integer n, p;
		begin
			want = LANDED;
			want_map = 0;
			bursts = 0;
			p = 0;
			at = va;
			n = len;
			while (n > 0 && want != BUSERR) begin
				bursts = bursts + 1;
				case (m.page[at[MEM_LOG2-1:12]])
				1, 3: want_map[p] = 1;
				2, 4: want = BUSERR;
				default: ;
				endcase
				n = n - (4096 - at[11:0]);
				at = {at[63:12] + 1'b1, 12'b0};
				p = p + 1;
			end
			if (want == LANDED && want_map != 0)
				want = REFUSED;
		end
	endtask

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
				at = va + k;
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

	task wait_report;
		integer n;
		begin
			n = 0;
			while (!we_valid) begin
				@(posedge clk);
				#1 n = n + 1;
				if (n > 100000) begin
					fail("no report");
					$finish;
				end
			end
		end
	endtask

	task random_block;
		integer r;
		begin
			r = {$random(seed)} % 4;
			len = r == 0 ? 1 + {$random(seed)} % 64 :
			      r == 1 ? 1 << BLOCK_LOG2 : 1 + {$random(seed)} % (1 << BLOCK_LOG2);
			va = {$random(seed), $random(seed)};
			va[MEM_LOG2-1:0] = {$random(seed)} % ((1 << MEM_LOG2) - len + 1);
			if ({$random(seed)} % 4 == 0)
				va[11:0] = 0;
			top = va;
			stream = $random(seed);
			index = $random(seed);
			for (i = 0; i < 1 << (MEM_LOG2 - 12); i = i + 1)
				m.page[i] = {$random(seed)} % 3 != 0 ? 0 :
					    {$random(seed)} % 12 == 0 ? 2 : 1;
			if ({$random(seed)} % 3 == 0)
				for (i = 0; i < 1 << (MEM_LOG2 - 12); i = i + 1)
					m.page[i] = 0;
			m.stall = {$random(seed)} % 3 * 100;
			one_by_one = $random(seed);
			cancelling = {$random(seed)} % 5 == 0;
			for (i = 0; i < (1 << BLOCK_LOG2) / 16; i = i + 1)
				b.mem[{index, {BLOCK_LOG2 - 4{1'b0}}} + i] =
					{$random(seed), $random(seed), $random(seed), $random(seed)};
			expect_outcome;
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
		for (i = 0; i < 5; i = i + 1)
			seen[i] = 0;
		for (i = 0; i < 1 << MEM_LOG2; i = i + 1) begin
			model[i] = $random(seed);
			m.mem[i] = model[i];
		end
		cancelling = 0;
		one_by_one = 0;
		repeat (3) @(posedge clk);
		#1 rst = 0;
		for (block = 0; block < BLOCKS; block = block + 1) begin
			random_block;
			run_block;
			if (block % 10 == 0 || block == BLOCKS - 1)
				check_memory;
		end
		for (i = 0; i < 5; i = i + 1)
			if (seen[i] == 0)
				fail("a kind of report never came");
		// How fast: a whole block, nothing stalls.
		random_block;
		va[MEM_LOG2-1:0] = 0;
		top = va;
		len = 1 << BLOCK_LOG2;
		cancelling = 0;
		one_by_one = 0;
		m.stall = 0;
		for (i = 0; i < 1 << (MEM_LOG2 - 12); i = i + 1)
			m.page[i] = 0;
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
		$finish;
	end
endmodule

`default_nettype wire
