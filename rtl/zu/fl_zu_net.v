// SPDX-License-Identifier: BSD-2-Clause
// fl_zu_net - a network on the chip, of one node or two, for a board that has no other.
//
// Module reference for a block design (common.tcl). A node reaches itself too: so that one card
// can be tried alone. What the wires do wrong, page BOX of node 0 says (fl_link).
`default_nettype none

module fl_zu_net #(
	parameter PORTS = 2		// nodes 0 to PORTS - 1
) (
	(* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 aclk CLK" *)
	(* X_INTERFACE_PARAMETER =
		"ASSOCIATED_BUSIF s0_axis:m0_axis:s1_axis:m1_axis, ASSOCIATED_RESET aresetn" *)
	input  wire		aclk,
	(* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 aresetn RST" *)
	(* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
	input  wire		aresetn,

	input  wire [15:0]	link_delay,
	input  wire [15:0]	link_drop,
	input  wire [15:0]	link_twice,

	input  wire [127:0]	s0_axis_tdata,
	input  wire [15:0]	s0_axis_tkeep,
	input  wire		s0_axis_tlast,
	input  wire [7:0]	s0_axis_tid,
	input  wire [7:0]	s0_axis_tdest,
	input  wire		s0_axis_tvalid,
	output wire		s0_axis_tready,
	output wire [127:0]	m0_axis_tdata,
	output wire [15:0]	m0_axis_tkeep,
	output wire		m0_axis_tlast,
	output wire [7:0]	m0_axis_tid,
	output wire [7:0]	m0_axis_tdest,
	output wire		m0_axis_tvalid,
	input  wire		m0_axis_tready,
	input  wire [127:0]	s1_axis_tdata,
	input  wire [15:0]	s1_axis_tkeep,
	input  wire		s1_axis_tlast,
	input  wire [7:0]	s1_axis_tid,
	input  wire [7:0]	s1_axis_tdest,
	input  wire		s1_axis_tvalid,
	output wire		s1_axis_tready,
	output wire [127:0]	m1_axis_tdata,
	output wire [15:0]	m1_axis_tkeep,
	output wire		m1_axis_tlast,
	output wire [7:0]	m1_axis_tid,
	output wire [7:0]	m1_axis_tdest,
	output wire		m1_axis_tvalid,
	input  wire		m1_axis_tready
);
	initial if (PORTS < 1 || PORTS > 2) begin
		$display("fl_zu_net: PORTS is 1 or 2");
		$finish(0);
	end

	reg rst;
	always @(posedge aclk)
		rst <= !aresetn;

	wire [255:0] tdata;
	wire [31:0] tkeep;
	wire [15:0] tid, tdest;
	wire [1:0] tlast, tvalid, tready;

	fl_cross #(.PORTS(PORTS)) cross_bar (
		.clk(aclk), .rst(rst),
		.s_axis_tdata({s1_axis_tdata, s0_axis_tdata}),
		.s_axis_tkeep({s1_axis_tkeep, s0_axis_tkeep}),
		.s_axis_tlast({s1_axis_tlast, s0_axis_tlast}),
		.s_axis_tid({s1_axis_tid, s0_axis_tid}),
		.s_axis_tdest({s1_axis_tdest, s0_axis_tdest}),
		.s_axis_tvalid({s1_axis_tvalid, s0_axis_tvalid}),
		.s_axis_tready({s1_axis_tready, s0_axis_tready}),
		.m_axis_tdata(tdata),
		.m_axis_tkeep(tkeep),
		.m_axis_tlast(tlast),
		.m_axis_tid(tid),
		.m_axis_tdest(tdest),
		.m_axis_tvalid(tvalid),
		.m_axis_tready(tready)
	);

	fl_link link0 (
		.clk(aclk), .rst(rst),
		.i_delay(link_delay), .i_drop(link_drop), .i_twice(link_twice),
		.s_axis_tdata(tdata[127:0]),
		.s_axis_tkeep(tkeep[15:0]),
		.s_axis_tlast(tlast[0]),
		.s_axis_tid(tid[7:0]),
		.s_axis_tdest(tdest[7:0]),
		.s_axis_tvalid(tvalid[0]),
		.s_axis_tready(tready[0]),
		.m_axis_tdata(m0_axis_tdata),
		.m_axis_tkeep(m0_axis_tkeep),
		.m_axis_tlast(m0_axis_tlast),
		.m_axis_tid(m0_axis_tid),
		.m_axis_tdest(m0_axis_tdest),
		.m_axis_tvalid(m0_axis_tvalid),
		.m_axis_tready(m0_axis_tready)
	);

	fl_link link1 (
		.clk(aclk), .rst(rst),
		.i_delay(link_delay), .i_drop(link_drop), .i_twice(link_twice),
		.s_axis_tdata(tdata[255:128]),
		.s_axis_tkeep(tkeep[31:16]),
		.s_axis_tlast(tlast[1]),
		.s_axis_tid(tid[15:8]),
		.s_axis_tdest(tdest[15:8]),
		.s_axis_tvalid(tvalid[1]),
		.s_axis_tready(tready[1]),
		.m_axis_tdata(m1_axis_tdata),
		.m_axis_tkeep(m1_axis_tkeep),
		.m_axis_tlast(m1_axis_tlast),
		.m_axis_tid(m1_axis_tid),
		.m_axis_tdest(m1_axis_tdest),
		.m_axis_tvalid(m1_axis_tvalid),
		.m_axis_tready(m1_axis_tready)
	);
endmodule

`default_nettype wire
