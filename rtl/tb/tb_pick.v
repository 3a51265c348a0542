// SPDX-License-Identifier: BSD-2-Clause
// fl_pick against its definition, for every set and every last one of 6.
`default_nettype none

module tb_pick;
	reg [5:0] ready;
	reg [2:0] last;
	wire any;
	wire [2:0] index;
	integer set, from, k, want, errors;

	fl_pick #(.N(6), .W(3)) dut (.ready(ready), .last(last), .any(any), .index(index));

	initial begin
		errors = 0;
		for (set = 0; set < 64; set = set + 1)
			for (from = 0; from < 6; from = from + 1) begin
				ready = set;
				last = from;
				want = -1;
				for (k = 6; k >= 1; k = k - 1)
					if (set >> (from + k) % 6 & 1)
						want = (from + k) % 6;
				#1;
				if (any !== (set != 0) || (set != 0 && index !== want)) begin
					$display("ready %b last %0d: %b %0d, not %0d", ready, last, any, index,
						 want);
					errors = errors + 1;
				end
			end
		if (errors == 0)
			$display("PASS");
		$finish(0);
	end
endmodule

`default_nettype wire
