// SPDX-License-Identifier: BSD-2-Clause
// fl_eth_shift - what other headers before a packet do to its ICRC.
//
// The engine's ICRC covers addresses that are made of node numbers (wire_network() of
// emu/nic/wire.c). With others on the wire it has to be another. A CRC is linear: the
// difference of two packets' CRCs depends on the difference of the packets alone, which is
// here a few bytes in front, and zeros behind. So nobody needs to see the payload; and a
// packet that was damaged stays one, by the same bits.
//
// The difference comes in words of 8 bytes, then as many zeros as bytes are between it and the
// ICRC, in words and single bytes. Both may come in any order after the words that differ.
`default_nettype none

module fl_eth_shift (
	input  wire		clk,
	input  wire		i_begin,	// with a word: the first
	input  wire		i_word,
	input  wire [63:0]	i_data,		// of a word: lane 0 first
	input  wire		i_byte,		// a zero
	output reg  [31:0]	o_change	// of the ICRC, as it stands in the packet
);
	function [31:0] step;
		input [31:0] from;
		input [7:0] data;
		integer i;
		begin
			step = from ^ {24'b0, data};
			for (i = 0; i < 8; i = i + 1)
				step = {1'b0, step[31:1]} ^ ({32{step[0]}} & 32'hEDB88320);
		end
	endfunction

	function [31:0] steps;
		input [31:0] from;
		input [63:0] data;
		integer i;
		begin
			steps = from;
			for (i = 0; i < 8; i = i + 1)
				steps = step(steps, data[8 * i +: 8]);
		end
	endfunction

	always @(posedge clk)
		if (i_word)
			o_change <= steps(i_begin ? 32'd0 : o_change, i_data);
		else if (i_byte)
			o_change <= step(o_change, 8'd0);
endmodule

`default_nettype wire
