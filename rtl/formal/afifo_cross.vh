// SPDX-License-Identifier: BSD-2-Clause
// What is proved of fl_afifo (formal/cross), whatever its two clocks do: a step of clk is one of
// w_clk, of r_clk, of both or of none (w_tick, r_tick). Each bit that crosses may be seen a step
// late, by itself (any): what a synchroniser does when the bit changes at its clock's edge.
// Resets come at any time. A writer ends a frame when there is a place, a reader begins one
// that is there, and ends it at some time; neither must.
	reg [FRAMES_LOG2:0] w_gray_was, r_gray_was;
	reg [1:0] w_flags_was, r_flags_was;
	reg begun;
	initial {w_gray_was, r_gray_was, w_flags_was, r_flags_was, begun} = 0;

	wire begins = r_there && any[0];
	wire r_end = (begun || begins) && any[1];
	wire r_busy = begun;
	wire w_end = any[2] && !frames[FRAMES_LOG2];

	always @(posedge clk) begin
		w_gray_was <= w_gray;
		r_gray_was <= r_gray;
		w_flags_was <= {w_ack, w_ask};
		r_flags_was <= {r_ack, r_ask};
		if (r_tick)
			begun <= !r_rst && (begun || begins) && !r_end;
	end

	wire [FRAMES_LOG2:0] there = written - read;
	wire [FRAMES_LOG2:0] w_change = w_gray ^ w_gray_was, r_change = r_gray ^ r_gray_was;
	assign wrong = {
		// not true, so that it shows that frames get through: no other one is begun
		begun && there == 2 && read == 3,
		// P4 a frame that was begun is there until its end, or until the writer stands still
		begun && !w_hold && (there == 0 || there > FRAMES),
		// P3 of the frames read one bit changes at a time, while the writer looks
		(r_change & (r_change - 1'b1)) != 0 && !w_hold,
		// P2 of the frames written one bit changes at a time, while the reader looks
		(w_change & (w_change - 1'b1)) != 0 && !r_hold,
		// P1 the writer never takes the place of a frame that was not read
		!w_hold && !r_hold && (there > frames || frames > FRAMES),
		// P0 the reader never sees a frame that is not there
		r_there && written == read
	};
