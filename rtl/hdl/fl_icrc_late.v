// SPDX-License-Identifier: BSD-2-Clause
// fl_icrc_late - the ICRC of a packet whose length is known at its end only.
//
// What comes before the body, the seed, holds the packet's length; so fl_icrc can take the seed
// first only where a packet is made. Here it comes last. A CRC is linear: that of seed and body
// is that of the body alone, begun with 0, plus that of the seed and as many zeros as the body
// has bytes. A byte of zero multiplies a CRC by x^8, so it is the seed's CRC times x^(8n). That
// power is kept up to date while the n bytes come; the product takes eight clocks.
`default_nettype none

module fl_icrc_late (
	input  wire		clk,
	input  wire		rst,
	input  wire		i_begin,	// a packet, before its body comes
	input  wire		i_word,		// the body, as in fl_icrc
	input  wire		i_byte,
	input  wire [127:0]	i_data,
	input  wire		i_end,		// all of it came; what follows stays until o_done
	input  wire [7:0]	i_from,
	input  wire [7:0]	i_to,
	input  wire [15:0]	i_flen,		// bytes of the packet, with its ICRC
	input  wire [95:0]	i_bth,
	output wire		o_done,		// a pulse: o_icrc is that of the packet
	output wire [31:0]	o_icrc
);
`include "fl_crc.vh"

	localparam [1:0] BODY = 2'd0,		// until i_end
		SEED = 2'd1,			// words of the seed
		TIMES = 2'd2,			// four terms of the product a clock
		DONE = 2'd3;

	reg [1:0] state;
	reg [2:0] number;		// of the word of the seed; of the terms
	reg [31:0] power;		// x^(8n)
	reg [31:0] body;		// CRC of the body
	reg [31:0] seed;		// CRC of the seed: terms of the product that are left
	reg [31:0] sum;			// of those that are in it
	reg [15:0] ip_len, udp_len;

	// Each bit of a CRC, 16 zeros later.
	function [1023:0] zeros;
		input [31:0] one;
		integer n;
		for (n = 0; n < 32; n = n + 1)
			zeros[32 * n +: 32] = crc_word(one << n, 128'b0);
	endfunction
	localparam [1023:0] ZEROS = zeros(32'd1);

	function [31:0] times_word;	// by x^128
		input [31:0] v;
		integer n;
		begin
			times_word = 0;
			for (n = 0; n < 32; n = n + 1)
				times_word = times_word ^ ({32{v[n]}} & ZEROS[32 * n +: 32]);
		end
	endfunction

	// Terms of seed times power; the highest power of x is bit 0.
	function [31:0] add_terms;
		input [31:0] from;
		input [3:0] terms;
		input [31:0] by;
		integer n;
		begin
			add_terms = from;
			for (n = 0; n < 4; n = n + 1)
				add_terms = {1'b0, add_terms[31:1]} ^ ({32{add_terms[0]}} & POLY) ^
					    ({32{terms[n]}} & by);
		end
	endfunction

	wire [31:0] icrc;
	fl_icrc i_crc (
		.clk(clk), .i_zero(i_begin), .i_seed(state == SEED && number != 3),
		.i_number(number[1:0]), .i_word(i_word), .i_byte(i_byte), .i_data(i_data),
		.i_from(i_from), .i_to(i_to), .i_ip_len(ip_len), .i_udp_len(udp_len),
		.i_bth(i_bth), .o_icrc(icrc)
	);

	always @(posedge clk) begin
		if (i_begin)
			power <= 32'h80000000;
		else if (i_word)
			power <= times_word(power);
		else if (i_byte)
			power <= crc_byte(power, 8'b0);
		case (state)
		BODY: begin
			number <= 0;
			body <= ~icrc;
			ip_len <= 16'd28 + i_flen;
			udp_len <= 16'd8 + i_flen;
			if (i_end)
				state <= SEED;
		end
		SEED: begin
			number <= number + 1'b1;
			seed <= ~icrc;
			sum <= 0;
			if (number == 3) begin
				number <= 0;
				state <= TIMES;
			end
		end
		TIMES: begin
			number <= number + 1'b1;
			seed <= {4'b0, seed[31:4]};
			sum <= add_terms(sum, seed[3:0], power);
			if (number == 7)
				state <= DONE;
		end
		default:
			state <= BODY;
		endcase
		if (rst)
			state <= BODY;
	end

	assign o_done = state == DONE;
	assign o_icrc = ~(body ^ sum);
endmodule

`default_nettype wire
