// SPDX-License-Identifier: BSD-2-Clause
// fl_eth_out - frames from fl_afifo to a MAC, at its clock, without a gap in a frame.
`default_nettype none

module fl_eth_out #(
	parameter DEPTH_LOG2 = 11
) (
	input  wire		clk,
	input  wire		rst,

	// fl_afifo
	input  wire		r_there,
	input  wire [DEPTH_LOG2+2:0] r_bytes,
	output wire		r_busy,
	output wire		r_re,
	output reg  [DEPTH_LOG2-1:0] r_at,
	input  wire [63:0]	r_data,
	output wire		r_end,

	output wire [63:0]	m_axis_tdata,
	output reg  [7:0]	m_axis_tkeep,
	output reg		m_axis_tlast,
	output reg		m_axis_tvalid,
	input  wire		m_axis_tready
);
	wire [DEPTH_LOG2+2:0] last_byte = r_bytes - 1'b1;
	wire last = r_at == last_byte[DEPTH_LOG2+2:3];
	reg begun;

	assign r_re = (begun || r_there) && (!m_axis_tvalid || m_axis_tready);
	assign r_end = r_re && last;
	// The last word is in r_data, where nobody changes it.
	assign r_busy = begun;
	assign m_axis_tdata = r_data;

	always @(posedge clk) begin
		if (r_re || m_axis_tready)
			m_axis_tvalid <= r_re;
		if (r_re) begin
			begun <= !last;
			r_at <= last ? 0 : r_at + 1'b1;
			m_axis_tlast <= last;
			m_axis_tkeep <= last ? 8'hFF >> ~last_byte[2:0] : 8'hFF;
		end
		if (rst) begin
			begun <= 1'b0;
			r_at <= 0;
			m_axis_tvalid <= 1'b0;
		end
	end
endmodule

`default_nettype wire
