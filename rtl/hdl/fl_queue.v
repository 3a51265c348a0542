// SPDX-License-Identifier: BSD-2-Clause
// fl_queue - a queue in which a newer entry replaces an older one of the same key: the older one
// leaves its place and the newer one comes to the end, as note_post() and push() do in
// emu/nic/engine_fault.c. So a ring with a place for every key cannot overflow.
//
// A push walks through the queue once, one entry a cycle: as soon as the older entry is found,
// each later one moves up by one place.
`default_nettype none

module fl_queue #(
	parameter WIDTH = 16,		// bits of an entry
	parameter KEY = 8,		// so many of them, from the top, are the key
	parameter LOG2 = 7,		// places, a power of two
	parameter KEEP = 0		// 1: the head is never replaced, somebody may be reading it
) (
	input  wire		clk,
	input  wire		rst,
	input  wire		push,	// level until done
	input  wire [WIDTH-1:0]	entry,
	output wire		done,	// in the cycle in which the entry is stored
	input  wire		pop,	// pulse; not during a push, not when empty
	output wire [WIDTH-1:0]	head,	// meaningless when empty
	output reg  [LOG2:0]	count
);

	reg [WIDTH-1:0] ring [0:(1 << LOG2) - 1];
	reg [LOG2-1:0] first;		// place of the head
	reg walking;			// a push is under way
	reg found;			// it has met the older entry
	reg [LOG2:0] at;		// and is at this entry

	wire [LOG2-1:0] place = first + at[LOG2-1:0];
	wire [LOG2-1:0] before = place - 1'b1;
	wire [WIDTH-1:0] here = ring[place];
	wire match = here[WIDTH-1 -: KEY] == entry[WIDTH-1 -: KEY];

	assign head = ring[first];
	assign done = walking && at == count;

	always @(posedge clk) begin
		if (rst) begin
			first <= {LOG2{1'b0}};
			count <= {LOG2 + 1{1'b0}};
			walking <= 1'b0;
			found <= 1'b0;
			at <= {LOG2 + 1{1'b0}};
		end else if (!walking) begin
			walking <= push;
			found <= 1'b0;
			at <= {{LOG2{1'b0}}, KEEP != 0 && count != {LOG2 + 1{1'b0}}};
			if (pop) begin
				first <= first + 1'b1;
				count <= count - 1'b1;
			end
		end else begin
			if (done) begin
				walking <= 1'b0;
				count <= found ? count : count + 1'b1;
			end else begin
				at <= at + 1'b1;
				found <= found || match;
			end
			if (done || found)
				ring[found ? before : place] <= done ? entry : here;
		end
	end

	initial
		if (WIDTH < KEY || KEY < 1 || KEEP > 1 || LOG2 < 1) begin
			$display("fl_queue: WIDTH >= KEY >= 1, LOG2 >= 1, KEEP 0 or 1");
			$finish(0);
		end

endmodule

`default_nettype wire
