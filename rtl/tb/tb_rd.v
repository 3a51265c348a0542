// SPDX-License-Identifier: BSD-2-Clause
// The read channel against a model in a few lines: random blocks over random pages, stalls
// on every handshake, kills, denied cells, and a gate that opens for one unit at a time. While
// the cells of one block leave, the next one is often shown: it comes next, or another one does,
// or its context was not READY for a moment and its bytes have changed since.
`default_nettype none

module tb_rd #(
	parameter BLOCK_LOG2 = 14,
	parameter BLOCKS = 240
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
	reg ahead = 0, shown = 0;	// i_ahead; the next block is shown
	reg [3:0] n_index = 0;
	reg [14:0] n_stream = 0;
	reg [63:0] n_lva = 0;
	reg [16:0] n_len = 0;
	reg [15:0] ready = 16'hFFFF;
	wire [3:0] of;
	wire fills, sends;
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
		.i_ahead(ahead), .ah_valid(shown), .ah_index(n_index), .ah_stream(n_stream),
		.ah_lva(n_lva), .ah_len(n_len), .rd_ready(ready), .o_rd_index(of),
		.rb_fills(fills), .rb_sends(sends),
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

	integer seed = 7, cells, denied, reads_before, rare, last, kept = 0, again = 0, other = 0;
	reg dropping;			// a kill may come
	reg answering;			// but none between a question and its answer
	reg [127:0] buffer [0:2 * ((1 << BLOCK_LOG2) / 16) + 1];
	reg first;			// no cell was asked for yet
	reg next;			// the block that was shown comes next
	reg spoilt;			// and its context was not READY for a moment
	reg [63:0] s_lva;
	reg [16:0] s_len;
	reg [14:0] s_stream;
	reg [3:0] s_index;

	wire report = re_valid, unit = kind == CELL || kind == PICK, ack = re_ack;
	wire avalid = arvalid, aready = arready;
	wire [63:0] aaddr = araddr;
	wire [14:0] aid = arid;
	wire [7:0] alen = arlen, auser = aruser;
	wire [7:0] b_user = {4'b0, dut.ahead ? n_index : index};
	wire [14:0] b_stream = dut.ahead ? n_stream : stream;
	wire [63:0] b_lva = dut.ahead ? n_lva : lva;
	wire [16:0] b_len = dut.ahead ? n_len : len;
`include "tb_mem.vh"

	always @(posedge clk)
		if (rb_we) begin
			if (waddr > (1 << BLOCK_LOG2) / 16)
				fail("write beyond the read buffer");
			buffer[{waddr, fills}] <= wdata;
			if (dut.state == 2 && fills == sends && !ask)
				fail("writes where cells are");
		end

	reg moved;
	reg [2:0] walk_was;
	always @(posedge clk) begin
		moved <= moving;
		walk_was <= dut.walk;
		if (!rst && moved === 0 && dut.walk !== walk_was)
			fail("a burst moves though it says that it does not");
		if (open && of !== b_user[3:0])
			fail("context of a burst that is open");
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
				w = buffer[at / 16 * 2 + sends];
				if (w[8 * (at % 16) +: 8] !== m.mem[(lva + i) & ((1 << MEM_LOG2) - 1)])
					fail("a byte of the read buffer");
			end
		end
	endtask

	task random_block;
		begin
			if (!next) begin
				random_memory;
				ask = {$random(seed)} % 10 == 0;
				reads_before = m.reads;
			end
			ahead = {$random(seed)} % 8 != 0;
			dropping = {$random(seed)} % 4 == 0;
			rare = {$random(seed)} % 2 != 0 ? 20 : 200;
			expect_outcome;
			other = other + (shown && !next);
			kept = kept + next;
		end
	endtask

	// The next block, on the same pages.
	task show;
		begin
			s_lva = lva;
			s_len = len;
			s_stream = stream;
			s_index = index;
			random_place;
			n_lva = lva;
			n_len = len;
			n_stream = stream;
			n_index = index;
			lva = s_lva;
			len = s_len;
			stream = s_stream;
			index = s_index;
			if (n_index != index) begin
				shown = 1;
				spoilt = 0;
				reads_before = m.reads;
			end
		end
	endtask

	// Its context is not READY for a moment, and then carries the same bytes no longer.
	task spoil;
		begin
			shown = 0;
			spoilt = 1;
			ready[n_index] = 0;
			@(posedge clk);
			#1 ready[n_index] = 1;
			while (dut.in_burst) begin
				@(posedge clk);
				#1;
			end
			for (i = 0; i < n_len; i = i + 1)
				m.mem[(n_lva + i) & ((1 << MEM_LOG2) - 1)] = $random(seed);
		end
	endtask

	// Whose turn it is, when rd asks: the one that was shown, or another.
	task choose;
		begin
			next = (shown || spoilt) && {$random(seed)} % 4 != 0;
			if (next) begin
				lva = n_lva;
				len = n_len;
				stream = n_stream;
				index = n_index;
				ask = 0;
				again = again + spoilt;
				if (spoilt)
					reads_before = m.reads;
			end
			random_block;
			if (!next && index == n_index)
				index = index + 1'b1;
			shown = 0;
			spoilt = 0;
			next = 0;
			first = 1;
		end
	endtask

	// A kill some time after the block was begun, but none beside a report: whether that
	// tells of it nobody could say.
	always @(posedge clk)
		if (dropping && !dropped && !answering && dut.state != 0 && {$random(seed)} % rare == 0)
			#2 dropped = !report && !answering;

	task run_block;
		begin
			wait_report;
			if (kind != PICK)
				fail("does not ask for a context");
			while ({$random(seed)} % 4 == 0) begin
				seen[PICK] = seen[PICK] + 1;
				shown = 0;
				answer(0, 0);
				wait_report;
			end
			choose;
			answer(1, 0);
			cells = 1 + {$random(seed)} % 4;
			wait_report;
			while (kind == CELL && cells > 0) begin
				if (!ask)
					check_buffer;
				denied = {$random(seed)} % 3 == 0;
				if (want != CELL)
					fail("a cell of a block that is not good");
				if (first && m.reads - reads_before != bursts)
					fail("number of bursts");
				if (first && {$random(seed)} % 4 != 0)
					show;
				first = 0;
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
				if (first && kind != DROPPED && m.reads - reads_before != bursts)
					fail("number of bursts");
				seen[kind] = seen[kind] + 1;
				answer(1, 0);
			end
			dropping = 0;
			answering = 0;
			dropped = 0;
			if (shown && {$random(seed)} % 4 == 0)
				spoil;
		end
	endtask

	initial begin
		for (i = 0; i < 1 << MEM_LOG2; i = i + 1)
			m.mem[i] = $random(seed);
		dropping = 0;
		answering = 0;
		next = 0;
		spoilt = 0;
		start_bench;
		for (block = 0; block < BLOCKS; block = block + 1) begin
			run_block;
		end
		all_kinds_seen;
		if (kept == 0 || again == 0 || other == 0)
			fail("no block that was shown came, or was spoilt, or gave way");
		// How fast: a whole block, nothing stalls.
		wait_report;
		random_block;
		whole_block;
		index = n_index + 1'b1;
		ask = 0;
		dropping = 0;
		answer(1, 0);
		begun = cycles;
		wait_report;
		$display("read: %0d bytes in %0d cycles", len, cycles - begun);
		if (cycles - begun > len / 16 * 11 / 10)
			fail("slow");
		errors = errors + m.errors;
		if (errors == 0)
			$display("PASS tb_rd: %0d blocks, %0d shown before, %0d again, %0d bursts, %0d faults, %0d bus errors, %0d kills",
				 BLOCKS, kept, again, m.reads, seen[FAULTED], seen[BUSERR], seen[DROPPED]);
		else
			$display("FAIL tb_rd: %0d errors", errors);
		$finish(0);
	end
endmodule

`default_nettype wire
