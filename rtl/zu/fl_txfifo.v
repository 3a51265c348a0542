// SPDX-License-Identifier: BSD-2-Clause
// fl_txfifo - packets wait here, whole, for the wire.
//
// The engine begins a packet only when o_room says that all of it will be taken, so the wire
// can never stop it halfway. And a packet leaves only when all of it is here, so that a MAC
// which must not be kept waiting gets a beat in every clock.
`default_nettype none

module fl_txfifo #(
	parameter DEPTH_LOG2 = 9,		// beats
	parameter LARGEST = 260			// beats of the largest packet: 4160 bytes
) (
	input  wire		clk,
	input  wire		rst,
	output wire		o_room,		// for the largest packet

	input  wire [127:0]	s_axis_tdata,
	input  wire [15:0]	s_axis_tkeep,	// whole, but for the last beat
	input  wire		s_axis_tlast,
	input  wire [7:0]	s_axis_tid,
	input  wire [7:0]	s_axis_tdest,
	input  wire		s_axis_tvalid,
	output wire		s_axis_tready,

	output wire [127:0]	m_axis_tdata,
	output wire [15:0]	m_axis_tkeep,
	output wire		m_axis_tlast,
	output wire [7:0]	m_axis_tid,
	output wire [7:0]	m_axis_tdest,
	output reg		m_axis_tvalid,
	input  wire		m_axis_tready
);
	localparam DEPTH = 1 << DEPTH_LOG2;
	localparam WIDTH = 128 + 16 + 1 + 8 + 8;

	reg [DEPTH_LOG2:0] head;	// next beat to be written
	reg [DEPTH_LOG2:0] whole;	// beats before this one are of whole packets
	reg [DEPTH_LOG2:0] tail;	// next beat to be read
	wire [DEPTH_LOG2:0] used = head - tail;

	wire take = s_axis_tvalid && s_axis_tready;
	wire read = whole != tail && (!m_axis_tvalid || m_axis_tready);

	initial if (LARGEST > DEPTH || LARGEST < 1) begin
		$display("fl_txfifo: the largest packet does not fit");
		$finish(0);
	end

	assign o_room = used <= DEPTH[DEPTH_LOG2:0] - LARGEST[DEPTH_LOG2:0];
	assign s_axis_tready = !used[DEPTH_LOG2];

	fl_ram #(.WIDTH(WIDTH), .DEPTH(DEPTH), .ADDR(DEPTH_LOG2)) ram (
		.clk(clk),
		.i_we(take),
		.i_waddr(head[DEPTH_LOG2-1:0]),
		.i_wdata({s_axis_tdata, s_axis_tkeep, s_axis_tlast, s_axis_tid, s_axis_tdest}),
		.i_re(read),
		.i_raddr(tail[DEPTH_LOG2-1:0]),
		.o_rdata({m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tid, m_axis_tdest})
	);

	always @(posedge clk)
		if (rst) begin
			head <= 0;
			whole <= 0;
			tail <= 0;
			m_axis_tvalid <= 1'b0;
		end else begin
			if (take)
				head <= head + 1'b1;
			if (take && s_axis_tlast)
				whole <= head + 1'b1;
			if (read)
				tail <= tail + 1'b1;
			m_axis_tvalid <= read || (m_axis_tvalid && !m_axis_tready);
		end
endmodule

`default_nettype wire
