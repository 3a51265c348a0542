// SPDX-License-Identifier: BSD-2-Clause
// fl_port - an AXI4-Lite slave that asks for one access at a time.
//
// Reads and writes take turns. Unlike the engine's own (fl_axil) it passes on the byte strobes:
// what becomes of part of a word depends on the page.
`default_nettype none

module fl_port (
	input  wire		clk,
	input  wire		rst,

	input  wire [16:0]	s_axil_awaddr,
	input  wire		s_axil_awvalid,
	output wire		s_axil_awready,
	input  wire [31:0]	s_axil_wdata,
	input  wire [3:0]	s_axil_wstrb,
	input  wire		s_axil_wvalid,
	output wire		s_axil_wready,
	output wire [1:0]	s_axil_bresp,
	output reg		s_axil_bvalid,
	input  wire		s_axil_bready,
	input  wire [16:0]	s_axil_araddr,
	input  wire		s_axil_arvalid,
	output wire		s_axil_arready,
	output reg  [31:0]	s_axil_rdata,
	output wire [1:0]	s_axil_rresp,
	output reg		s_axil_rvalid,
	input  wire		s_axil_rready,

	output reg		rq_valid,	// until rq_done
	output reg		rq_write,
	output reg  [16:0]	rq_addr,	// of the word
	output reg  [31:0]	rq_wdata,
	output reg  [3:0]	rq_wstrb,
	input  wire		rq_done,	// pulse
	input  wire [31:0]	rq_rdata,
	input  wire		rq_bad		// answer SLVERR
);
	reg read_first;			// whose turn it is, when both ask
	reg bad;
	wire idle = !rq_valid && !s_axil_bvalid && !s_axil_rvalid;
	wire write = s_axil_awvalid && s_axil_wvalid && !(s_axil_arvalid && read_first);
	wire read = s_axil_arvalid && !write;

	assign s_axil_awready = idle && write;
	assign s_axil_wready = idle && write;
	assign s_axil_arready = idle && read;
	assign s_axil_bresp = {bad, 1'b0};
	assign s_axil_rresp = {bad, 1'b0};

	always @(posedge clk)
		if (rst) begin
			rq_valid <= 1'b0;
			s_axil_bvalid <= 1'b0;
			s_axil_rvalid <= 1'b0;
			read_first <= 1'b0;
		end else if (idle) begin
			rq_valid <= read || write;
			rq_write <= write;
			rq_addr <= {write ? s_axil_awaddr[16:2] : s_axil_araddr[16:2], 2'b00};
			rq_wdata <= s_axil_wdata;
			rq_wstrb <= s_axil_wstrb;
			if (read || write)
				read_first <= write;
		end else if (rq_valid && rq_done) begin
			rq_valid <= 1'b0;
			s_axil_bvalid <= rq_write;
			s_axil_rvalid <= !rq_write;
			s_axil_rdata <= rq_bad ? 32'd0 : rq_rdata;
			bad <= rq_bad;
		end else begin
			s_axil_bvalid <= s_axil_bvalid && !s_axil_bready;
			s_axil_rvalid <= s_axil_rvalid && !s_axil_rready;
		end

	// Addresses of bytes are the strobes' business.
	wire unused = &{1'b0, s_axil_awaddr[1:0], s_axil_araddr[1:0]};
endmodule

`default_nettype wire
