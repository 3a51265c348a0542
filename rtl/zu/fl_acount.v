// SPDX-License-Identifier: BSD-2-Clause
// fl_acount - counts what happens at one clock, for another.
//
// In Gray code, as in fl_afifo: a number that is seen is one that was. It is not reset, since
// both sides would have to be: software takes differences. Timing: fl_acount.xdc.
`default_nettype none

module fl_acount #(
	parameter WIDTH = 16
) (
	input  wire		i_clk,
	input  wire		i_one,
	input  wire		o_clk,
	output reg [WIDTH-1:0]	o_count
);
	reg [WIDTH-1:0] count, gray;
	(* ASYNC_REG = "TRUE" *) reg [WIDTH-1:0] gray_meta, gray_seen;
	wire [WIDTH-1:0] next = count + 1'b1;
	integer i;

	initial begin
		count = 0;
		gray = 0;
	end

	always @(posedge i_clk)
		if (i_one) begin
			count <= next;
			gray <= next ^ {1'b0, next[WIDTH-1:1]};
		end

	always @(posedge o_clk) begin
		gray_meta <= gray;
		gray_seen <= gray_meta;
		for (i = 0; i < WIDTH; i = i + 1)
			o_count[i] <= ^(gray_seen >> i);
	end
endmodule

`default_nettype wire
