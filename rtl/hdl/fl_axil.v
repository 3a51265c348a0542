// SPDX-License-Identifier: BSD-2-Clause
// fl_axil - registers over AXI4-Lite: one access at a time, reads and writes in turn.
//
// Software's accesses are whole words: a write of a part of one is answered with SLVERR and
// goes no further.
`default_nettype none

module fl_axil (
	input  wire		clk,
	input  wire		rst,
	output wire		o_moving,	// something changes without an input

	input  wire [16:0]	s_axil_awaddr,
	input  wire		s_axil_awvalid,
	output wire		s_axil_awready,
	input  wire [31:0]	s_axil_wdata,
	input  wire [3:0]	s_axil_wstrb,
	input  wire		s_axil_wvalid,
	output wire		s_axil_wready,
	output wire [1:0]	s_axil_bresp,
	output wire		s_axil_bvalid,
	input  wire		s_axil_bready,
	input  wire [16:0]	s_axil_araddr,
	input  wire		s_axil_arvalid,
	output wire		s_axil_arready,
	output reg  [31:0]	s_axil_rdata,
	output wire [1:0]	s_axil_rresp,
	output wire		s_axil_rvalid,
	input  wire		s_axil_rready,

	// to ctl: level until rq_done
	output wire		rq_valid,
	output reg		rq_write,
	output reg  [16:0]	rq_addr,
	output reg  [31:0]	rq_wdata,
	input  wire		rq_done,
	input  wire [31:0]	rq_rdata,
	input  wire		rq_bad
);
	localparam [1:0] IDLE = 2'd0,		// takes the next access
		ASK = 2'd1,			// ctl is at it
		ANSWER = 2'd2;			// until the answer is taken

	localparam [1:0] OKAY = 2'd0, SLVERR = 2'd2;

	reg [1:0] state;
	reg bad;
	reg write_last;			// the other kind's turn

	// Address and data of a write are taken together.
	wire write_here = s_axil_awvalid && s_axil_wvalid;
	wire take_write = state == IDLE && write_here && !(s_axil_arvalid && write_last);
	wire take_read = state == IDLE && s_axil_arvalid && !take_write;
	wire taken = rq_write ? s_axil_bready : s_axil_rready;

	always @(posedge clk) begin
		case (state)
		IDLE: begin
			rq_write <= take_write;
			rq_addr <= take_write ? s_axil_awaddr : s_axil_araddr;
			rq_wdata <= s_axil_wdata;
			bad <= take_write && s_axil_wstrb != 4'hF;
			if (take_write || take_read) begin
				write_last <= take_write;
				state <= take_write && s_axil_wstrb != 4'hF ? ANSWER : ASK;
			end
		end
		ASK:
			if (rq_done) begin
				s_axil_rdata <= rq_bad ? 32'd0 : rq_rdata;
				bad <= rq_bad;
				state <= ANSWER;
			end
		default:
			if (taken)
				state <= IDLE;
		endcase
		if (rst) begin
			state <= IDLE;
			write_last <= 0;
		end
	end

	assign s_axil_awready = take_write;
	assign s_axil_wready = take_write;
	assign s_axil_arready = take_read;
	assign s_axil_bvalid = state == ANSWER && rq_write;
	assign s_axil_rvalid = state == ANSWER && !rq_write;
	assign s_axil_bresp = bad ? SLVERR : OKAY;
	assign s_axil_rresp = bad ? SLVERR : OKAY;
	assign rq_valid = state == ASK;
	assign o_moving = take_write || take_read || state == ASK || (state == ANSWER && taken);
endmodule

`default_nettype wire
