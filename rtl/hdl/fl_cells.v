// SPDX-License-Identifier: BSD-2-Clause
// fl_cells - which cells of its block each receive context has, and how many it still lacks.
//
// A cell that came before (doubled on the way, or sent again) counts once and is not copied again.
//
//	IDLE -> CLEAR -> IDLE		CLEAR: the map of index is cleared, 64 cells a cycle
//	IDLE -> IDLE			STORE of a cell that is here
//	IDLE -> COPY -> IDLE		STORE of one that is not: the receiver copies its payload
`default_nettype none

module fl_cells #(
	parameter NRXC = 32,		// receive contexts, 1 to 32
	parameter BLOCK_LOG2 = 14	// largest block, 12 to 16; a cell has 64 bytes at least
) (
	input  wire		clk,
	input  wire		rst,

	input  wire [4:0]	index,		// the context; stays while there is a task
	output wire		o_full,		// it lacks none

	// a task: level until cl_done, and all that says what it is stays
	input  wire		cl_valid,
	input  wire		cl_clear,	// CLEAR, or STORE
	input  wire [10:0]	cl_cells,	// CLEAR: so many will come
	input  wire [9:0]	cl_cell,	// STORE: this one, below what CLEAR was told
	input  wire		cl_empty,	// STORE: it has no payload
	output wire		cl_done,
	output wire		cl_stored,	// with cl_done: a cell that was lacking

	// the receiver's copy: level until st_done
	output wire		st_req,
	input  wire		st_done
);
	localparam HW = BLOCK_LOG2 - 12;	// 64 cells of 64 bytes are one word of the map
	localparam XW = NRXC > 16 ? 5 : NRXC > 8 ? 4 : NRXC > 4 ? 3 : NRXC > 2 ? 2 : 1;
	localparam [3:0] TOP = 4'hF >> (4 - HW);

	localparam [1:0] IDLE = 2'd0, CLEAR = 2'd1, COPY = 2'd2;

	reg [1:0] state;
	reg [3:0] word;			// CLEAR: of the map
	reg [63:0] have [0:(1 << (XW + HW)) - 1];
	reg [10:0] lacks [0:(1 << XW) - 1];

	wire [XW-1:0] xi = index[XW-1:0];
	wire [8:0] first = {4'd0, index} << HW;
	wire [8:0] wide = first + {5'd0, state == CLEAR ? word : cl_cell[9:6]};
	wire [HW+XW-1:0] at = wide[HW+XW-1:0];
	wire [63:0] mark = 64'd1 << cl_cell[5:0];
	wire here = (have[at] & mark) != 64'd0;
	wire copied = state == COPY && (st_done || cl_empty);
	wire unused = &{1'b0, index, wide};

	initial if (NRXC < 1 || NRXC > 32 || BLOCK_LOG2 < 12 || BLOCK_LOG2 > 16) begin
		$display("fl_cells: NRXC is 1 to 32, BLOCK_LOG2 12 to 16");
		$finish(0);
	end

	assign o_full = lacks[xi] == 11'd0;
	assign st_req = state == COPY && !cl_empty;
	assign cl_stored = copied;
	assign cl_done = copied || (state == CLEAR && word == TOP) ||
			 (state == IDLE && cl_valid && !cl_clear && here);

	always @(posedge clk)
		if (rst)
			state <= IDLE;
		else
			case (state)
			IDLE: begin
				word <= 4'd0;
				if (cl_valid && cl_clear) begin
					lacks[xi] <= cl_cells;
					state <= CLEAR;
				end else if (cl_valid && !here) begin
					have[at] <= have[at] | mark;
					state <= COPY;
				end
			end
			CLEAR: begin
				have[at] <= 64'd0;
				word <= word + 1'b1;
				if (word == TOP)
					state <= IDLE;
			end
			default:
				if (copied) begin
					lacks[xi] <= lacks[xi] - 1'b1;
					state <= IDLE;
				end
			endcase
endmodule

`default_nettype wire
