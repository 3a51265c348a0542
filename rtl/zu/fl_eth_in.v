// SPDX-License-Identifier: BSD-2-Clause
// fl_eth_in - frames from a MAC, at its clock, to fl_afifo.
//
// A MAC does not wait. A frame for which there is no room, one that is too long or too short
// for Ethernet, and one of which the MAC says at its end that it is bad are lost, whole.
`default_nettype none

module fl_eth_in #(
	parameter DEPTH_LOG2 = 11,
	parameter LARGEST = 4206	// bytes of a frame, without its check sequence
) (
	input  wire		clk,
	input  wire		rst,

	input  wire [63:0]	s_axis_tdata,
	input  wire [7:0]	s_axis_tkeep,	// whole, but for the last beat
	input  wire		s_axis_tlast,
	input  wire		s_axis_tuser,	// with tlast: bad
	input  wire		s_axis_tvalid,

	// fl_afifo
	input  wire		w_hold,
	input  wire [DEPTH_LOG2:0] w_room,
	output wire		w_we,
	output reg  [DEPTH_LOG2-1:0] w_at,
	output wire [63:0]	w_data,
	output wire		w_end,
	output wire [DEPTH_LOG2+2:0] w_bytes,

	output wire		o_bad,		// pulses: one of a bad frame,
	output wire		o_long,		// of one that is too long
	output wire		o_full		// and of one for which there was no room
);
	localparam [DEPTH_LOG2+2:0] MAX = LARGEST[DEPTH_LOG2+2:0], MIN = 60;

	reg skip;			// the rest of this frame

	function [3:0] count;
		input [7:0] keep;
		integer i;
		begin
			count = 0;
			for (i = 0; i < 8; i = i + 1)
				count = count + {3'b0, keep[i]};
		end
	endfunction

	initial if (LARGEST + 8 > 8 << DEPTH_LOG2) begin
		$display("fl_eth_in: the largest frame does not fit");
		$finish(0);
	end

	wire take = s_axis_tvalid && !skip && !w_hold;
	wire bad = s_axis_tlast && (s_axis_tuser || w_bytes < MIN);

	assign w_bytes = {w_at, 3'b0} + {{DEPTH_LOG2-1{1'b0}}, count(s_axis_tkeep)};
	assign o_long = take && w_bytes > MAX;
	assign o_full = take && w_bytes <= MAX && w_room <= {1'b0, w_at};
	assign w_we = take && !o_long && !o_full;
	assign o_bad = w_we && bad;
	assign w_end = w_we && s_axis_tlast && !bad;
	assign w_data = s_axis_tdata;

	always @(posedge clk) begin
		if (s_axis_tvalid) begin
			skip <= !s_axis_tlast && (skip || !w_we);
			w_at <= s_axis_tlast || !w_we ? 0 : w_at + 1'b1;
		end else if (w_hold && w_at != 0) begin
			skip <= 1'b1;
			w_at <= 0;
		end
		if (rst) begin
			skip <= 1'b0;
			w_at <= 0;
		end
	end
endmodule

`default_nettype wire
