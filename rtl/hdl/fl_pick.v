// SPDX-License-Identifier: BSD-2-Clause
// fl_pick - round robin: the first that is ready after the last one that was served, as pick() in
// emu/nic/engine_tx.c. Combinational. A laboratory on scheduling replaces this file.
`default_nettype none

module fl_pick #(
	parameter N = 16,		// how many take part
	parameter W = 4			// bits of a number
) (
	input  wire [N-1:0]	ready,
	input  wire [W-1:0]	last,	// who was served last
	output wire		any,
	output reg  [W-1:0]	index	// whom to serve now; meaningless unless any
);

	reg later;			// somebody after the last one is ready
	integer i;

	assign any = |ready;

	always @* begin
		index = {W{1'b0}};
		later = 1'b0;
		// Downwards, so that the lowest number wins.
		for (i = N - 1; i >= 0; i = i - 1)
			if (ready[i] && i[W-1:0] > last) begin
				index = i[W-1:0];
				later = 1'b1;
			end
		if (!later)
			for (i = N - 1; i >= 0; i = i - 1)
				if (ready[i])
					index = i[W-1:0];
	end

	initial
		if (N < 2 || N > 1 << W) begin
			$display("fl_pick: W bits must hold the numbers of 2 or more");
			$finish(0);
		end

endmodule

`default_nettype wire
