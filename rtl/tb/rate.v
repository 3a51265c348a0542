// SPDX-License-Identifier: BSD-2-Clause
// rate - how fast two cards are on one chip: clocks for 64 KB that are resident at both ends, in
// four blocks of 16 KB, from the first GO to the last DONE. Memory answers at once, packets carry
// 1 KB, and firmware judges a block as soon as it is told of it. make rtl-rate runs it.
`default_nettype none
`include "entries.vh"
`include "regs.vh"

module rate;
	localparam BLOCKS = 4, LENGTH = 16384, MHZ = 150, MOST = 8000;	// clocks

	reg clk = 0, aresetn = 0;
	always #5 clk = !clk;

	wire [255:0] s_tdata, m_tdata;
	wire [31:0] s_tkeep, m_tkeep;
	wire [15:0] s_tid, s_tdest, m_tid, m_tdest;
	wire [1:0] s_tlast, s_tvalid, s_tready, m_tlast, m_tvalid, m_tready;
	zu_card #(.NODE(0), .CELL_LOG2(10)) a (
		.aclk(clk), .aresetn(aresetn), .link_delay(), .link_drop(), .link_twice(),
		.s_axis_tdata(m_tdata[127:0]), .s_axis_tkeep(m_tkeep[15:0]),
		.s_axis_tlast(m_tlast[0]), .s_axis_tid(m_tid[7:0]),
		.s_axis_tdest(m_tdest[7:0]), .s_axis_tvalid(m_tvalid[0]),
		.s_axis_tready(m_tready[0]), .m_axis_tdata(s_tdata[127:0]),
		.m_axis_tkeep(s_tkeep[15:0]), .m_axis_tlast(s_tlast[0]),
		.m_axis_tid(s_tid[7:0]), .m_axis_tdest(s_tdest[7:0]),
		.m_axis_tvalid(s_tvalid[0]), .m_axis_tready(s_tready[0])
	);
	zu_card #(.NODE(1), .CELL_LOG2(10)) b (
		.aclk(clk), .aresetn(aresetn), .link_delay(), .link_drop(), .link_twice(),
		.s_axis_tdata(m_tdata[255:128]), .s_axis_tkeep(m_tkeep[31:16]),
		.s_axis_tlast(m_tlast[1]), .s_axis_tid(m_tid[15:8]),
		.s_axis_tdest(m_tdest[15:8]), .s_axis_tvalid(m_tvalid[1]),
		.s_axis_tready(m_tready[1]), .m_axis_tdata(s_tdata[255:128]),
		.m_axis_tkeep(s_tkeep[31:16]), .m_axis_tlast(s_tlast[1]),
		.m_axis_tid(s_tid[15:8]), .m_axis_tdest(s_tdest[15:8]),
		.m_axis_tvalid(s_tvalid[1]), .m_axis_tready(s_tready[1])
	);
	fl_cross #(.PORTS(2)) net (
		.clk(clk), .rst(!aresetn), .s_axis_tdata(s_tdata), .s_axis_tkeep(s_tkeep),
		.s_axis_tlast(s_tlast), .s_axis_tid(s_tid), .s_axis_tdest(s_tdest),
		.s_axis_tvalid(s_tvalid), .s_axis_tready(s_tready), .m_axis_tdata(m_tdata),
		.m_axis_tkeep(m_tkeep), .m_axis_tlast(m_tlast), .m_axis_tid(m_tid),
		.m_axis_tdest(m_tdest), .m_axis_tvalid(m_tvalid), .m_axis_tready(m_tready)
	);

	integer clocks = 0, wire_beats = 0, begun, beats, k, wrong = 0;
	reg [16:0] base;
	always @(posedge clk) begin
		clocks = clocks + 1;
		wire_beats = wire_beats + ((s_tvalid[0] && s_tready[0]) === 1'b1);
	end

	// The firmware of b, beside that of a.
	initial begin
		wait (aresetn);
		repeat (4) @(posedge clk);
		b.start;
		forever
			b.serve;
	end

	initial begin
		a.fill;
		b.fill;
		for (k = 0; k < 1 << 18; k = k + 1)
			b.m.mem[k] = 0;
		repeat (4) @(posedge clk);
		aresetn = 1;
		repeat (4) @(posedge clk);
		a.start;
		for (k = 0; k < BLOCKS; k = k + 1) begin
			base = `NIC_CTX_BASE + `NIC_CTX_STRIDE * k;
			a.fw.write(base + `NIC_CTX_DST, 32'd5 << 8 | 1);
			a.fw.write(base + `NIC_CTX_STREAM, a.STREAM);
			a.fw.write64(base + `NIC_CTX_LVA, 'h4000 * (k + 1));
			a.fw.write64(base + `NIC_CTX_RVA, 'h4000 * (k + 9));
			a.fw.write(base + `NIC_CTX_LEN, LENGTH);
		end
		begun = clocks;
		beats = wire_beats;
		for (k = 0; k < BLOCKS; k = k + 1)
			a.fw.write(`NIC_CTX_BASE + `NIC_CTX_STRIDE * k + `NIC_CTX_CTRL,
				   32'd1 << `NIC_CTX_CTRL_GO_LSB | `FL_OP_WRITE);
		while (a.done < BLOCKS && clocks < begun + 100000)
			a.serve;
		begun = clocks - begun;
		beats = wire_beats - beats;
		for (k = 0; k < BLOCKS * LENGTH; k = k + 1)
			if (b.m.mem['h24000 + k] !== a.m.mem['h4000 + k])
				wrong = wrong + 1;
		if (begun > MOST)
			$display("FAIL rate: %0d clocks, more than %0d", begun, MOST);
		else if (a.done == BLOCKS && wrong == 0 && a.faults + b.faults == 0 && a.status == `FL_ST_OK)
			$display("PASS rate: %0d bytes in %0d clocks, %0.2f Gb/s at %0d MHz; the wire is busy in %0d %%",
				 BLOCKS * LENGTH, begun, 8.0 * BLOCKS * LENGTH * MHZ / begun / 1000,
				 MHZ, 100 * beats / begun);
		else
			$display("FAIL rate: %0d blocks, %0d bytes wrong", a.done, wrong);
		$finish(0);
	end
endmodule

`default_nettype wire
