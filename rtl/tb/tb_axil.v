// SPDX-License-Identifier: BSD-2-Clause
// The engine's AXI4-Lite slave with reads and writes at once: each is asked for once and
// answered once, in turn, with its own answer.
`default_nettype none

module tb_axil #(
	parameter ROUNDS = 100
);
	localparam [8*7-1:0] BENCH = "tb_axil";
	localparam PARTS = 0;

	reg clk = 0, rst = 1;
	always #5 clk = !clk;

	integer seed = 17;
	reg [16:0] awaddr = 0, araddr = 0;
	reg [31:0] wdata = 0, rq_rdata = 0;
	reg [3:0] wstrb = 0;
	reg awvalid = 0, wvalid = 0, bready = 0, arvalid = 0, rready = 0;
	reg rq_done = 0, rq_bad = 0;
	wire awready, wready, bvalid, arready, rvalid, rq_valid, rq_write, moving;
	wire [1:0] bresp, rresp;
	wire [31:0] rdata, rq_wdata;
	wire [16:0] rq_addr;
	wire [3:0] rq_strb = 4'hF;

	fl_axil dut (
		.clk(clk), .rst(rst), .o_moving(moving),
		.s_axil_awaddr(awaddr), .s_axil_awvalid(awvalid), .s_axil_awready(awready),
		.s_axil_wdata(wdata), .s_axil_wstrb(wstrb), .s_axil_wvalid(wvalid),
		.s_axil_wready(wready), .s_axil_bresp(bresp), .s_axil_bvalid(bvalid),
		.s_axil_bready(bready), .s_axil_araddr(araddr), .s_axil_arvalid(arvalid),
		.s_axil_arready(arready), .s_axil_rdata(rdata), .s_axil_rresp(rresp),
		.s_axil_rvalid(rvalid), .s_axil_rready(rready), .rq_valid(rq_valid),
		.rq_write(rq_write), .rq_addr(rq_addr), .rq_wdata(rq_wdata),
		.rq_done(rq_done), .rq_rdata(rq_rdata), .rq_bad(rq_bad)
	);
`include "axil_race.vh"

	reg moving_was = 1;
	reg [1:0] state_was;
	always @(posedge clk) begin
		moving_was <= moving || rst;
		state_was <= dut.state;
		if (!rst && !moving_was && dut.state !== state_was)
			fail("moves though it says that it does not");
	end

	initial
		run_rounds;
endmodule

`default_nettype wire
