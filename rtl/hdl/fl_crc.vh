// SPDX-License-Identifier: BSD-2-Clause
// The CRC of a packet, inside a module: CRC-32 with the polynomial 0x04C11DB7, least significant
// bit first. It has come to `from`; what is it behind one byte, and behind 16 of them?
localparam [31:0] POLY = 32'hEDB88320;

function [31:0] crc_byte;
	input [31:0] from;
	input [7:0] data;
	integer i;
	begin
		crc_byte = from ^ {24'b0, data};
		for (i = 0; i < 8; i = i + 1)
			crc_byte = {1'b0, crc_byte[31:1]} ^ ({32{crc_byte[0]}} & POLY);
	end
endfunction

function [31:0] crc_word;
	input [31:0] from;
	input [127:0] data;		// lane 0 is the first byte
	integer i;
	begin
		crc_word = from;
		for (i = 0; i < 16; i = i + 1)
			crc_word = crc_byte(crc_word, data[8 * i +: 8]);
	end
endfunction
