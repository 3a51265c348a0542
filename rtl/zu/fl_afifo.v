// SPDX-License-Identifier: BSD-2-Clause
// fl_afifo - whole frames from one clock to another.
//
// Only two numbers cross: how many frames were written, and how many were read. Each rises by
// one, so one bit of its Gray code changes, and whatever a synchroniser makes of that bit is
// the number before or the one after. Words and lengths are in memory before the number says
// that their frame is there, and stay until the other number says that it was read.
//
// A frame is written at any place of the room there is, in any order, and given up by writing
// from the beginning again: it is nobody's before w_end.
//
// A reset of one side is one of both. It crosses as question and answer (ask, ack). Both sides
// stand still (w_hold, r_hold) before a number becomes 0, as that may change many bits; a
// side takes part again only when it has seen the other one at 0. A reader in the middle
// of a frame (r_busy) ends it first: it is all there, and the writer waits. If a clock stands
// still the other side does too, until it runs again.
//
// Timing: fl_afifo.xdc.
`default_nettype none

module fl_afifo #(
	parameter DEPTH_LOG2 = 11	// words of 8 bytes
) (
	input  wire		w_clk,
	input  wire		w_rst,
	output reg		w_hold,		// nothing can be written
	output wire [DEPTH_LOG2:0] w_room,	// words, for one frame
	input  wire		w_we,
	input  wire [DEPTH_LOG2-1:0] w_at,	// word of the frame: below w_room
	input  wire [63:0]	w_data,
	input  wire		w_end,		// the frame is whole,
	input  wire [DEPTH_LOG2+2:0] w_bytes,	// and has as many bytes; not 0

	input  wire		r_clk,
	input  wire		r_rst,
	output reg		r_hold,
	output wire		r_there,	// a frame may be begun
	output wire [DEPTH_LOG2+2:0] r_bytes,	// of it
	input  wire		r_busy,		// it was begun, and r_end will come
	input  wire		r_re,
	input  wire [DEPTH_LOG2-1:0] r_at,
	output reg  [63:0]	r_data,		// a clock later; stays
	input  wire		r_end		// the frame is not needed any more
);
	localparam DEPTH = 1 << DEPTH_LOG2;
	localparam FRAMES_LOG2 = DEPTH_LOG2 - 3;	// the shortest of Ethernet has 8 words
	localparam FRAMES = 1 << FRAMES_LOG2;

	initial if (DEPTH_LOG2 < 6) begin
		$display("fl_afifo: DEPTH_LOG2 is at least 6");
		$finish(0);
	end

	function [FRAMES_LOG2:0] gray;
		input [FRAMES_LOG2:0] n;
		gray = n ^ {1'b0, n[FRAMES_LOG2:1]};
	endfunction

	function [FRAMES_LOG2:0] binary;
		input [FRAMES_LOG2:0] g;
		integer i;
		for (i = FRAMES_LOG2; i >= 0; i = i - 1)
			binary[i] = ^(g >> i);
	endfunction

	function [DEPTH_LOG2:0] words;
		input [DEPTH_LOG2+2:0] bytes;
		words = {1'b0, bytes[DEPTH_LOG2+2:3]} + {{DEPTH_LOG2{1'b0}}, bytes[2:0] != 0};
	endfunction

	reg [63:0] mem [0:DEPTH-1];
	reg [DEPTH_LOG2+2:0] bytes_of [0:FRAMES-1];

	// What crosses, and where it arrives.
	reg [FRAMES_LOG2:0] w_gray, r_gray;
	reg w_ask, w_ack, r_ask, r_ack;
	(* ASYNC_REG = "TRUE" *) reg [FRAMES_LOG2:0] w_gray_meta, w_gray_seen;
	(* ASYNC_REG = "TRUE" *) reg [FRAMES_LOG2:0] r_gray_meta, r_gray_seen;
	(* ASYNC_REG = "TRUE" *) reg [1:0] w_flag_meta, w_flag_seen;
	(* ASYNC_REG = "TRUE" *) reg [1:0] r_flag_meta, r_flag_seen;

	initial begin
		{w_ask, w_ack, r_ask, r_ack} = 4'b0000;
		{w_hold, r_hold, w_want, r_want} = 4'b1111;
		{w_gray, r_gray, w_flag_meta, w_flag_seen, r_flag_meta, r_flag_seen} = 0;
		{written, freed, start, tail, read, first} = 0;
	end

	// ---- the side that writes ----

	reg w_want;				// a reset has not yet reached the other side
	reg [FRAMES_LOG2:0] written, freed;	// frames
	reg [DEPTH_LOG2:0] start, tail;		// words: of this frame, of the oldest
	wire w_sees = w_flag_seen[0], w_acked = w_flag_seen[1];
	wire [FRAMES_LOG2:0] frames = written - freed;
	wire w_free = freed != binary(r_gray_seen);

	assign w_room = frames[FRAMES_LOG2] ? 0 : DEPTH[DEPTH_LOG2:0] - (start - tail);

	always @(posedge w_clk) begin
		r_gray_meta <= r_gray;
		r_gray_seen <= r_gray_meta;
		w_flag_meta <= {r_ack, r_ask};
		w_flag_seen <= w_flag_meta;

		w_want <= w_rst || (w_want && !(w_ask && w_acked));
		w_ask <= w_ask ? w_rst || !w_acked : w_want && !w_acked;
		w_hold <= w_rst || w_want || w_ask || w_sees;
		w_ack <= w_hold && w_sees;
	end

	always @(posedge w_clk)
		if (w_hold && (w_sees || (w_ask && w_acked))) begin
			w_gray <= 0;
			written <= 0;
			freed <= 0;
			start <= 0;
			tail <= 0;
		end else begin
			if (w_end && !w_hold) begin
				w_gray <= gray(written + 1'b1);
				written <= written + 1'b1;
				start <= start + words(w_bytes);
			end
			if (w_free && !w_hold) begin
				freed <= freed + 1'b1;
				tail <= tail + words(bytes_of[freed[FRAMES_LOG2-1:0]]);
			end
		end

	wire [DEPTH_LOG2-1:0] w_place = start[DEPTH_LOG2-1:0] + w_at;
	always @(posedge w_clk) begin
		if (w_we && !w_hold)
			mem[w_place] <= w_data;
		if (w_end && !w_hold)
			bytes_of[written[FRAMES_LOG2-1:0]] <= w_bytes;
	end

	// ---- the side that reads ----

	reg r_want;
	reg [FRAMES_LOG2:0] read;		// frames
	reg [DEPTH_LOG2-1:0] first;		// word of the oldest
	wire r_sees = r_flag_seen[0], r_acked = r_flag_seen[1];

	assign r_there = !r_hold && !r_sees && w_gray_seen != r_gray;
	assign r_bytes = bytes_of[read[FRAMES_LOG2-1:0]];

	always @(posedge r_clk) begin
		w_gray_meta <= w_gray;
		w_gray_seen <= w_gray_meta;
		r_flag_meta <= {w_ack, w_ask};
		r_flag_seen <= r_flag_meta;

		r_want <= r_rst || (r_want && !(r_ask && r_acked));
		r_ask <= r_ask ? r_rst || !r_acked : r_want && !r_acked;
		r_hold <= r_rst || r_want || r_ask || (r_sees && (r_hold || !r_busy));
		r_ack <= r_hold && r_sees;
	end

	wire [DEPTH_LOG2:0] r_words = words(r_bytes);
	always @(posedge r_clk)
		if (r_hold && (r_sees || (r_ask && r_acked))) begin
			r_gray <= 0;
			read <= 0;
			first <= 0;
		end else if (r_end && !r_hold) begin
			r_gray <= gray(read + 1'b1);
			read <= read + 1'b1;
			first <= first + r_words[DEPTH_LOG2-1:0];
		end

	wire [DEPTH_LOG2-1:0] r_place = first + r_at;
	always @(posedge r_clk)
		if (r_re)
			r_data <= mem[r_place];

	wire unused = &{1'b0, r_words[DEPTH_LOG2]};
endmodule

`default_nettype wire
