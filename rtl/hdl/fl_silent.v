// SPDX-License-Identifier: BSD-2-Clause
// fl_silent - which sender has been silent for longest, when a packet finds no receive context: as
// reclaim() of emu/nic/engine_rx.c. Time is counted in packets that found none. Who has been
// silent for less than PATIENCE of them is not looked for.
//
//	IDLE -> LOOK -> IDLE		one context a cycle; of two alike, the lower number
//
// The count of packets outlives a reset.
`default_nettype none

module fl_silent #(
	parameter NRXC = 32		// receive contexts, 1 to 32
) (
	input  wire		clk,
	input  wire		rst,
	input  wire [5:0]	i_rx_contexts,	// 1 to NRXC

	input  wire		heard,		// something came for this context
	input  wire [4:0]	index,

	// a packet finds no context: level until si_done
	input  wire		si_valid,
	output wire		si_done,
	output reg		si_found,	// with si_done: this one may be taken away
	output reg  [4:0]	si_index,

	output wire [4:0]	si_look,	// may this one be taken away at all?
	input  wire		si_may
);
	localparam XW = NRXC > 16 ? 5 : NRXC > 8 ? 4 : NRXC > 4 ? 3 : NRXC > 2 ? 2 : 1;
	localparam [31:0] PATIENCE = 32'd4;

	reg looks;			// IDLE, LOOK
	reg [5:0] at;
	reg [31:0] none;		// packets that found none
	reg [31:0] since [0:(1 << XW) - 1];	// how many those were when it was heard last
	reg [31:0] longest;

	wire [31:0] silent = none - since[at[XW-1:0]];
	wire unused = &{1'b0, index};

	initial begin
		none = 32'd0;
		if (NRXC < 1 || NRXC > 32) begin
			$display("fl_silent: NRXC is 1 to 32");
			$finish(0);
		end
	end

	assign si_look = at[4:0];
	assign si_done = looks && si_valid && at == i_rx_contexts;

	always @(posedge clk) begin
		if (heard)
			since[index[XW-1:0]] <= none;
		looks <= si_valid && !si_done && !rst;
		if (!looks || !si_valid || si_done || rst) begin
			at <= 6'd0;
			si_found <= 1'b0;
			longest <= PATIENCE - 32'd1;
			if (si_valid && !looks && !rst)
				none <= none + 1'b1;
		end else begin
			at <= at + 1'b1;
			if (si_may && silent > longest) begin
				si_found <= 1'b1;
				si_index <= at[4:0];
				longest <= silent;
			end
		end
	end
endmodule

`default_nettype wire
