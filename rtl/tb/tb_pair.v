// SPDX-License-Identifier: BSD-2-Clause
// Two cards on one chip, as the block design for two nodes has them: blocks go from one to the
// other, to itself, and back (READ); pages are missing at either end; packets get lost and come
// twice. What arrives is compared byte by byte.
`default_nettype none
`include "entries.vh"
`include "regs.vh"

module tb_pair;
	reg clk = 0, aresetn = 0;
	always #5 clk = !clk;

	wire [15:0] delay, drop, twice;
	wire [127:0] s0_tdata;
	wire [15:0] s0_tkeep;
	wire [7:0] s0_tid, s0_tdest;
	wire s0_tlast, s0_tvalid, s0_tready;
	wire [127:0] m0_tdata;
	wire [15:0] m0_tkeep;
	wire [7:0] m0_tid, m0_tdest;
	wire m0_tlast, m0_tvalid, m0_tready;
	wire [127:0] s1_tdata;
	wire [15:0] s1_tkeep;
	wire [7:0] s1_tid, s1_tdest;
	wire s1_tlast, s1_tvalid, s1_tready;
	wire [127:0] m1_tdata;
	wire [15:0] m1_tkeep;
	wire [7:0] m1_tid, m1_tdest;
	wire m1_tlast, m1_tvalid, m1_tready;

	zu_card #(.NODE(0)) a (
		.aclk(clk), .aresetn(aresetn), .link_delay(delay), .link_drop(drop),
		.link_twice(twice), .s_axis_tdata(m0_tdata), .s_axis_tkeep(m0_tkeep),
		.s_axis_tlast(m0_tlast), .s_axis_tid(m0_tid), .s_axis_tdest(m0_tdest),
		.s_axis_tvalid(m0_tvalid), .s_axis_tready(m0_tready),
		.m_axis_tdata(s0_tdata), .m_axis_tkeep(s0_tkeep), .m_axis_tlast(s0_tlast),
		.m_axis_tid(s0_tid), .m_axis_tdest(s0_tdest), .m_axis_tvalid(s0_tvalid),
		.m_axis_tready(s0_tready)
	);
	zu_card #(.NODE(1)) b (
		.aclk(clk), .aresetn(aresetn), .link_delay(), .link_drop(), .link_twice(),
		.s_axis_tdata(m1_tdata), .s_axis_tkeep(m1_tkeep), .s_axis_tlast(m1_tlast),
		.s_axis_tid(m1_tid), .s_axis_tdest(m1_tdest), .s_axis_tvalid(m1_tvalid),
		.s_axis_tready(m1_tready), .m_axis_tdata(s1_tdata),
		.m_axis_tkeep(s1_tkeep), .m_axis_tlast(s1_tlast), .m_axis_tid(s1_tid),
		.m_axis_tdest(s1_tdest), .m_axis_tvalid(s1_tvalid),
		.m_axis_tready(s1_tready)
	);
	fl_zu_net #(.PORTS(2)) net (
		.aclk(clk), .aresetn(aresetn), .link_delay(delay), .link_drop(drop),
		.link_twice(twice), .s0_axis_tdata(s0_tdata), .s0_axis_tkeep(s0_tkeep),
		.s0_axis_tlast(s0_tlast), .s0_axis_tid(s0_tid), .s0_axis_tdest(s0_tdest),
		.s0_axis_tvalid(s0_tvalid), .s0_axis_tready(s0_tready),
		.m0_axis_tdata(m0_tdata), .m0_axis_tkeep(m0_tkeep),
		.m0_axis_tlast(m0_tlast), .m0_axis_tid(m0_tid), .m0_axis_tdest(m0_tdest),
		.m0_axis_tvalid(m0_tvalid), .m0_axis_tready(m0_tready),
		.s1_axis_tdata(s1_tdata), .s1_axis_tkeep(s1_tkeep),
		.s1_axis_tlast(s1_tlast), .s1_axis_tid(s1_tid), .s1_axis_tdest(s1_tdest),
		.s1_axis_tvalid(s1_tvalid), .s1_axis_tready(s1_tready),
		.m1_axis_tdata(m1_tdata), .m1_axis_tkeep(m1_tkeep),
		.m1_axis_tlast(m1_tlast), .m1_axis_tid(m1_tid), .m1_axis_tdest(m1_tdest),
		.m1_axis_tvalid(m1_tvalid), .m1_axis_tready(m1_tready)
	);

	integer errors = 0, i, round, seed = 11, before, was;
	integer k;

	task check;
		input ok;
		input [8*60-1:0] text;
		if (!ok) begin
			$display("wrong: %0s at %0t", text, $time);
			errors = errors + 1;
		end
	endtask

	// Until a has this many more contexts done.
	task finish_as;
		input integer n;
		input [7:0] status;
		begin
			was = a.done;
			for (round = 0; round < 100000 && a.done < was + n; round = round + 1) begin
				a.serve;
				b.serve;
				if (round % 3000 == 2999)
					for (i = 0; i < 4; i = i + 1)
						a.expire(i);
			end
			check(a.done == was + n, "not all blocks were finished");
			check(a.status == status, "status");
		end
	endtask

	task finish;
		input integer n;
		finish_as(n, `FL_ST_OK);
	endtask

	task ends;
		input [7:0] status;
		finish_as(1, status);
	endtask

	task fill;
		for (k = 0; k < 1 << 18; k = k + 1) begin
			a.m.mem[k] = {$random(seed)} % 256;
			b.m.mem[k] = {$random(seed)} % 256;
		end
	endtask

	task same;			// n bytes of a at from are those of b at to
		input integer from, to, n;
		for (k = 0; k < n; k = k + 1)
			if (a.m.mem[from + k] !== b.m.mem[to + k]) begin
				$display("byte %0d: %h, not %h", k, b.m.mem[to + k],
					 a.m.mem[from + k]);
				errors = errors + 1;
				k = n;
			end
	endtask

	initial begin
		for (k = 0; k < 64; k = k + 1) begin
			a.m.page[k] = 0;
			b.m.page[k] = 0;
		end
		fill;
		repeat (4) @(posedge clk);
		aresetn = 1;
		repeat (4) @(posedge clk);
		a.start;
		b.start;
		a.drv_start;
		b.drv_start;

		a.go(0, `FL_OP_WRITE, 1, 0, 64'h1003, 64'h20009, 10000);
		finish(1);
		same('h1003, 'h20009, 10000);

		// four at once, each with pages missing, the source's and the destination's
		fill;
		for (k = 0; k < 64; k = k + 3) begin
			a.m.page[k] = 1;
			b.m.page[k] = 1;
		end
		a.m.stall = 30;
		b.m.stall = 30;
		a.m.order = 1;
		b.m.order = 2;
		for (i = 0; i < 4; i = i + 1)
			a.go(i, `FL_OP_WRITE, 1, i, 'h1000 + 'h5000 * i + i, 'h9000 + 'h6000 * i,
			     5000 - 100 * i);
		finish(4);
		for (i = 0; i < 4; i = i + 1)
			same('h1000 + 'h5000 * i + i, 'h9000 + 'h6000 * i, 5000 - 100 * i);
		check(a.faults >= 2 && b.faults >= 2, "pages were missing");

		// to itself; and of a stream that no port has, and beyond 2^49: bus errors,
		// and nothing reaches the memory
		a.go(0, `FL_OP_WRITE, 0, 3, 64'h1000, 64'h3F000, 256);
		finish(1);
		for (k = 0; k < 256; k = k + 1)
			check(a.m.mem['h1000 + k] === a.m.mem['h3F000 + k], "to itself");
		before = a.m.reads + a.m.writes;
		a.go(1, `FL_OP_WRITE, 1, 0, 64'h2_0000_0000_1000, 'h9000, 256);
		ends(`FL_ST_BUS_ERROR);
		a.go_stream(2, `FL_OP_WRITE, 1, 15'h240, 'h1000, 'h9000, 256);
		ends(`FL_ST_BUS_ERROR);
		check(before == a.m.reads + a.m.writes, "what the port cannot carry was sent");
		a.go(3, `FL_OP_WRITE, 1, 0, 'h1000, 64'h8000_0000_0000_9000, 256);
		before = b.m.writes;
		ends(`FL_ST_BUS_ERROR);
		check(before == b.m.writes, "what b's port cannot carry was sent");

		// packets get lost and come twice, late
		b.m.order = 1;
		fill;
		a.fw.write(`NIC_BOX_BASE + `NIC_BOX_LINK_DROP, 23);
		a.fw.write(`NIC_BOX_BASE + `NIC_BOX_LINK_TWICE, 11);
		a.fw.write(`NIC_BOX_BASE + `NIC_BOX_LINK_DELAY, 50);
		check(delay == 50 && drop == 23 && twice == 11, "the link is told");
		for (i = 0; i < 4; i = i + 1)
			a.go(i, `FL_OP_WRITE, 1, i, 'h1000 + 'h5000 * i + i, 'h9000 + 'h6000 * i,
			     1500 + 300 * i);
		finish(4);
		for (i = 0; i < 4; i = i + 1)
			same('h1000 + 'h5000 * i + i, 'h9000 + 'h6000 * i, 1500 + 300 * i);

		check(a.errors == 0 && b.errors == 0, "AxPROT, AxCACHE, AxLOCK");
		check(a.m.errors == 0 && b.m.errors == 0, "the memory complains");
		if (errors == 0)
			$display("PASS tb_pair: %0d blocks, %0d and %0d faults, %0d blocks came, %0d clocks",
				 a.done, a.faults, b.faults, b.opened, $time / 10);
		$finish(0);
	end

	initial begin
		#40000000;
		$display("wrong: no end");
		$finish(0);
	end
endmodule

`default_nettype wire
