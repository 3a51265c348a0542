// SPDX-License-Identifier: BSD-2-Clause
// fl_icrc - the invariant CRC of a packet, as wire_icrc() of emu/nic/wire.c.
//
// Three words of seed stand for what the network puts before the packet (InfiniBand 7.8.1
// and annex A17): ones for the local route header, IPv4, UDP, and BTH with ones for the byte
// that carries congestion marks. Then comes the body, 16 bytes a cycle; what does not fill a
// word comes byte by byte, on lane 0. At most one of the four inputs i_zero, i_seed, i_word and
// i_byte is 1. The inputs come from registers, since the CRC fills a clock. CRC-32 with the
// polynomial 0x04C11DB7, least significant bit first.
`default_nettype none
`include "wire.vh"

module fl_icrc (
	input  wire		clk,
	input  wire		i_zero,		// begin with 0, not with the seed
	input  wire		i_seed,		// take word i_number of the seed
	input  wire [1:0]	i_number,	// 0 (which starts afresh) to 2
	input  wire		i_word,		// take all of i_data
	input  wire		i_byte,		// take lane 0 of i_data
	input  wire [127:0]	i_data,		// lane 0 is the first byte
	input  wire [7:0]	i_from,		// node numbers
	input  wire [7:0]	i_to,
	input  wire [15:0]	i_ip_len,	// bytes of the packet, with its ICRC, and 28
	input  wire [15:0]	i_udp_len,	// and 8
	input  wire [95:0]	i_bth,		// its first byte on top
	output wire [31:0]	o_icrc		// as in the packet: lane 0 first
);
`include "fl_crc.vh"

	reg [31:0] crc;

	wire [31:0] ip_from = 32'h0A000001 + {24'b0, i_from};
	wire [31:0] ip_to = 32'h0A000001 + {24'b0, i_to};
	wire [15:0] udp_from = 16'hC000 + {8'b0, i_from};
	wire [383:0] seed = {
		64'hFFFFFFFF_FFFFFFFF,
		16'h45FF, i_ip_len, 32'h00004000,		// version, type; do not fragment
		32'hFF11FFFF, ip_from, ip_to,		// time to live, UDP, checksum
		udp_from, 16'd4791, i_udp_len, 16'hFFFF,
		i_bth | {{(96 - `WIRE_BTH_RESERVED8_MSB - 1){1'b0}}, 8'hFF,
			 {`WIRE_BTH_RESERVED8_LSB{1'b0}}}
	};

	// First byte on top -> first byte on lane 0.
	function [127:0] lanes;
		input [127:0] v;
		integer i;
		for (i = 0; i < 16; i = i + 1)
			lanes[8 * i +: 8] = v[8 * (15 - i) +: 8];
	endfunction

	always @(posedge clk)
		if (i_zero)
			crc <= 0;
		else if (i_seed)
			case (i_number)
			2'd0: crc <= crc_word(32'hFFFFFFFF, lanes(seed[383:256]));
			2'd1: crc <= crc_word(crc, lanes(seed[255:128]));
			default: crc <= crc_word(crc, lanes(seed[127:0]));
			endcase
		else if (i_word)
			crc <= crc_word(crc, i_data);
		else if (i_byte)
			crc <= crc_byte(crc, i_data[7:0]);

	assign o_icrc = ~crc;
endmodule

`default_nettype wire
