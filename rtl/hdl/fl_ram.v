// SPDX-License-Identifier: BSD-2-Clause
// fl_ram - memory with one port for writing and one for reading.
//
// What is read appears a cycle after i_re and stays until the next i_re, so that a reader
// which has to wait need not remember it. Reading what is being written gives the old word.
// An address beyond DEPTH may be read (nobody looks at the result), never written.
`default_nettype none

module fl_ram #(
	parameter WIDTH = 128,
	parameter DEPTH = 1024,
	parameter ADDR = 10			// bits of an address
) (
	input  wire		clk,
	input  wire		i_we,
	input  wire [ADDR-1:0]	i_waddr,
	input  wire [WIDTH-1:0]	i_wdata,
	input  wire		i_re,
	input  wire [ADDR-1:0]	i_raddr,
	output reg  [WIDTH-1:0]	o_rdata
);
	reg [WIDTH-1:0] mem [0:DEPTH-1];

	initial if (DEPTH > (1 << ADDR)) begin
		$display("fl_ram: DEPTH does not fit in ADDR bits");
		$finish(0);
	end

	always @(posedge clk) begin
		if (i_we)
			mem[i_waddr] <= i_wdata;
		if (i_re)
			o_rdata <= mem[i_raddr];
	end
endmodule

`default_nettype wire
