// SPDX-License-Identifier: BSD-2-Clause
// Inside a bench: one card, a, that hears itself through the link on the chip.
	reg clk = 0, aresetn = 0;
	always #5 clk = !clk;

	wire [15:0] delay, drop, twice;
	wire [127:0] s_tdata;
	wire [15:0] s_tkeep;
	wire [7:0] s_tid, s_tdest;
	wire s_tlast, s_tvalid, s_tready;
	wire [127:0] m_tdata;
	wire [15:0] m_tkeep;
	wire [7:0] m_tid, m_tdest;
	wire m_tlast, m_tvalid, m_tready;
	zu_card #(.NODE(0)) a (
		.aclk(clk), .aresetn(aresetn), .link_delay(delay), .link_drop(drop),
		.link_twice(twice), .s_axis_tdata(m_tdata), .s_axis_tkeep(m_tkeep),
		.s_axis_tlast(m_tlast), .s_axis_tid(m_tid), .s_axis_tdest(m_tdest),
		.s_axis_tvalid(m_tvalid), .s_axis_tready(m_tready), .m_axis_tdata(s_tdata),
		.m_axis_tkeep(s_tkeep), .m_axis_tlast(s_tlast), .m_axis_tid(s_tid),
		.m_axis_tdest(s_tdest), .m_axis_tvalid(s_tvalid), .m_axis_tready(s_tready)
	);
	fl_zu_net #(.PORTS(1)) net (
		.aclk(clk), .aresetn(aresetn), .link_delay(delay), .link_drop(drop),
		.link_twice(twice), .s0_axis_tdata(s_tdata), .s0_axis_tkeep(s_tkeep),
		.s0_axis_tlast(s_tlast), .s0_axis_tid(s_tid), .s0_axis_tdest(s_tdest),
		.s0_axis_tvalid(s_tvalid), .s0_axis_tready(s_tready),
		.m0_axis_tdata(m_tdata), .m0_axis_tkeep(m_tkeep), .m0_axis_tlast(m_tlast),
		.m0_axis_tid(m_tid), .m0_axis_tdest(m_tdest), .m0_axis_tvalid(m_tvalid),
		.m0_axis_tready(m_tready), .s1_axis_tdata(128'd0), .s1_axis_tkeep(16'd0),
		.s1_axis_tlast(1'b0), .s1_axis_tid(8'd0), .s1_axis_tdest(8'd0),
		.s1_axis_tvalid(1'b0), .s1_axis_tready(), .m1_axis_tdata(),
		.m1_axis_tkeep(), .m1_axis_tlast(), .m1_axis_tid(), .m1_axis_tdest(),
		.m1_axis_tvalid(), .m1_axis_tready(1'b0)
	);
