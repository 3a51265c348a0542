// SPDX-License-Identifier: BSD-2-Clause
// What the benches of the read and the write channel share: random blocks over random pages
// of the memory m, the gate that opens for one unit at a time, what each burst has to be,
// and what burst_step() would say of the whole. The bench has these before it:
//
//	BENCH, MEM_LOG2, BLOCK_LOG2; GOOD, FAULTED, BUSERR: kinds of report
//	clk, rst, go, stream, lva, len: the block;  seed
//	b_stream, b_lva, b_len, b_user: that of the next burst
//	report, kind: what the channel says;  unit: it is one that needs a go;  took, moving
//	burst_va, burst_len, left: where it is;  a*: its address channel

	integer errors = 0, block, i, cycles = 0, begun;
	integer seen [0:4];		// how often each report came
	integer bursts;
	reg [31:0] want_map;
	reg [2:0] want;
	reg one_by_one;

	task fail;
		input [8*40-1:0] text;
		begin
			errors = errors + 1;
			$display("%0s: block %0d: %0s", BENCH, block, text);
		end
	endtask

	// What is asked of the memory belongs to the block.
	always @(posedge clk) begin
		cycles <= cycles + 1;
		if (avalid && aready) begin
			if (aid !== b_stream || auser !== b_user)
				fail("stream or context of a burst");
			if (aaddr[63:MEM_LOG2] !== b_lva[63:MEM_LOG2])
				fail("upper bits of an address");
			if (aaddr !== {burst_va[63:4], 4'b0} || burst_va + left != b_lva + b_len)
				fail("address of a burst");
			if (burst_va[3:0] + burst_len > 16 * (alen + 1) ||
			    burst_va[3:0] + burst_len <= 16 * alen || burst_len > left)
				fail("length of a burst");
			if (burst_len != left && ((burst_va + burst_len) & 4095) != 0)
				fail("a burst ends inside a page");
		end
	end

	// The gate: open all the time, or for one unit, then shut for a while.
	reg go_was, addr_was, report_was, moving_was;
	reg [2:0] state_was;
	always @(posedge clk) begin
		go_was <= go;
		addr_was <= avalid;
		report_was <= report;
		moving_was <= moving;
		state_was <= dut.state;
		if (!rst && !go_was &&
		    ((avalid && !addr_was) || (report && !report_was && unit)))
			fail("a unit of work without a go");
		if (!rst && moving_was === 0 && dut.state !== state_was)
			fail("moves though it says that it does not");
		if (took && !(avalid && aready) && !ack)
			fail("took nothing");
		go <= one_by_one ? (took ? 1'b0 : go || {$random(seed)} % 8 == 0) : 1'b1;
	end

	// What burst_step() would say.
	task walk_outcome;
		reg [63:0] at;
		integer n, p;
		begin
			want = GOOD;
			want_map = 0;
			bursts = 0;
			p = 0;
			at = lva;
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
			if (want == GOOD && want_map != 0)
				want = FAULTED;
		end
	endtask

	task wait_report;
		integer n;
		begin
			n = 0;
			while (!report) begin
				@(posedge clk);
				#1 n = n + 1;
				if (n > 100000) begin
					fail("no report");
					$finish(0);
				end
			end
		end
	endtask

	task good_pages;
		for (i = 0; i < 1 << (MEM_LOG2 - 12); i = i + 1)
			m.page[i] = 0;
	endtask

	task random_place;
		integer r;
		begin
			r = {$random(seed)} % 4;
			len = r == 0 ? 1 + {$random(seed)} % 64 :
			      r == 1 ? 1 << BLOCK_LOG2 : 1 + {$random(seed)} % (1 << BLOCK_LOG2);
			lva = {$random(seed), $random(seed)};
			lva[MEM_LOG2-1:0] = {$random(seed)} % ((1 << MEM_LOG2) - len + 1);
			if ({$random(seed)} % 4 == 0)
				lva[11:0] = 0;
			stream = $random(seed);
			index = $random(seed);
		end
	endtask

	task random_memory;
		begin
			random_place;
			for (i = 0; i < 1 << (MEM_LOG2 - 12); i = i + 1)
				m.page[i] = {$random(seed)} % 3 != 0 ? 0 :
					    {$random(seed)} % 12 == 0 ? 2 + 2 * ({$random(seed)} % 2) :
					    1 + 2 * ({$random(seed)} % 2);
			if ({$random(seed)} % 3 == 0)
				good_pages;
			m.stall = {$random(seed)} % 3 * 100;
			m.order = $random(seed);
			one_by_one = $random(seed);
		end
	endtask

	// A block of full length in which nothing stalls, for its speed.
	task whole_block;
		begin
			lva[MEM_LOG2-1:0] = 0;
			len = 1 << BLOCK_LOG2;
			one_by_one = 0;
			m.stall = 0;
			m.order = 0;
			good_pages;
		end
	endtask

	task start_bench;
		begin
			for (i = 0; i < 5; i = i + 1)
				seen[i] = 0;
			one_by_one = 0;
			repeat (3) @(posedge clk);
			#1 rst = 0;
		end
	endtask

	task all_kinds_seen;
		for (i = 0; i < 5; i = i + 1)
			if (seen[i] == 0)
				fail("a kind of report never came");
	endtask
