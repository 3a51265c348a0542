// SPDX-License-Identifier: BSD-2-Clause
// fl_cross - a switch of two ports for packets: each goes to the node that tdest names.
//
// An output takes whole packets, from its two inputs in turn. A packet to a node that is not
// there gets lost.
`default_nettype none

module fl_cross #(
	parameter PORTS = 2		// 1: port 1 is not there
) (
	input  wire		clk,
	input  wire		rst,

	// two ports side by side: port 1 in the upper half
	input  wire [255:0]	s_axis_tdata,
	input  wire [31:0]	s_axis_tkeep,
	input  wire [1:0]	s_axis_tlast,
	input  wire [15:0]	s_axis_tid,
	input  wire [15:0]	s_axis_tdest,
	input  wire [1:0]	s_axis_tvalid,
	output wire [1:0]	s_axis_tready,

	output wire [255:0]	m_axis_tdata,
	output wire [31:0]	m_axis_tkeep,
	output wire [1:0]	m_axis_tlast,
	output wire [15:0]	m_axis_tid,
	output wire [15:0]	m_axis_tdest,
	output wire [1:0]	m_axis_tvalid,
	input  wire [1:0]	m_axis_tready
);
	reg [1:0] busy;			// per output: in the middle of a packet
	reg [1:0] from;			// which input it takes, or took last

	// Per input: where its packet goes.
	wire [1:0] nowhere = {s_axis_tdest[15:8] >= PORTS[7:0], s_axis_tdest[7:0] >= PORTS[7:0]};
	wire [1:0] to = {s_axis_tdest[8], s_axis_tdest[0]};
	// Per output: who wants it.
	wire [1:0] want0 = s_axis_tvalid & ~nowhere & ~to;
	wire [1:0] want1 = s_axis_tvalid & ~nowhere & to;
	// The other input than last time, if it wants; in the middle of a packet the same.
	wire pick0 = busy[0] ? from[0] : want0[!from[0]] ? !from[0] : from[0];
	wire pick1 = busy[1] ? from[1] : want1[!from[1]] ? !from[1] : from[1];

	assign m_axis_tdata = {pick1 ? s_axis_tdata[255:128] : s_axis_tdata[127:0],
			       pick0 ? s_axis_tdata[255:128] : s_axis_tdata[127:0]};
	assign m_axis_tkeep = {pick1 ? s_axis_tkeep[31:16] : s_axis_tkeep[15:0],
			       pick0 ? s_axis_tkeep[31:16] : s_axis_tkeep[15:0]};
	assign m_axis_tlast = {s_axis_tlast[pick1], s_axis_tlast[pick0]};
	assign m_axis_tid = {pick1 ? s_axis_tid[15:8] : s_axis_tid[7:0],
			     pick0 ? s_axis_tid[15:8] : s_axis_tid[7:0]};
	assign m_axis_tdest = {8'd1, 8'd0};
	assign m_axis_tvalid = {want1[pick1], want0[pick0]};

	wire [1:0] moves = m_axis_tvalid & m_axis_tready;
	assign s_axis_tready[0] = nowhere[0] || (moves[0] && !pick0) || (moves[1] && !pick1);
	assign s_axis_tready[1] = nowhere[1] || (moves[0] && pick0) || (moves[1] && pick1);

	// What was offered stays: the choice stands as soon as it is seen.
	always @(posedge clk)
		if (rst) begin
			busy <= 2'b00;
			from <= 2'b00;
		end else begin
			busy <= (busy | m_axis_tvalid) & ~(moves & m_axis_tlast);
			from <= {pick1, pick0};
		end
endmodule

`default_nettype wire
