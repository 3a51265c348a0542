// SPDX-License-Identifier: BSD-2-Clause
// eth_card - for benches: a card with its way to Ethernet (zu_card, fl_zu_eth), and what
// software writes there (drv).
`default_nettype none

module eth_card #(
	parameter NODE = 0
) (
	input  wire		aclk,
	input  wire		aresetn,
	input  wire		tx_clk,
	input  wire		rx_clk,
	input  wire		mac_resetn,
	output wire [63:0]	tx_tdata,
	output wire [7:0]	tx_tkeep,
	output wire		tx_tlast,
	output wire		tx_tvalid,
	input  wire [63:0]	rx_tdata,
	input  wire [7:0]	rx_tkeep,
	input  wire		rx_tlast,
	input  wire		rx_tuser,
	input  wire		rx_tvalid
);
	wire [127:0] o_tdata, i_tdata;
	wire [15:0] o_tkeep, i_tkeep;
	wire [7:0] o_tid, o_tdest, i_tid, i_tdest;
	wire o_tlast, o_tvalid, o_tready, i_tlast, i_tvalid, i_tready;
	wire [16:0] awaddr, araddr;
	wire [31:0] wdata, rdata;
	wire [3:0] wstrb;
	wire [1:0] bresp, rresp;
	wire awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;

	zu_card #(.NODE(NODE)) card (
		.aclk(aclk), .aresetn(aresetn), .link_delay(), .link_drop(), .link_twice(),
		.s_axis_tdata(i_tdata), .s_axis_tkeep(i_tkeep), .s_axis_tlast(i_tlast),
		.s_axis_tid(i_tid), .s_axis_tdest(i_tdest), .s_axis_tvalid(i_tvalid),
		.s_axis_tready(i_tready), .m_axis_tdata(o_tdata), .m_axis_tkeep(o_tkeep),
		.m_axis_tlast(o_tlast), .m_axis_tid(o_tid), .m_axis_tdest(o_tdest),
		.m_axis_tvalid(o_tvalid), .m_axis_tready(o_tready)
	);
	axil_master drv (
		.clk(aclk), .awaddr(awaddr), .awvalid(awvalid), .awready(awready),
		.wdata(wdata), .wstrb(wstrb), .wvalid(wvalid), .wready(wready),
		.bresp(bresp), .bvalid(bvalid), .bready(bready), .araddr(araddr),
		.arvalid(arvalid), .arready(arready), .rdata(rdata), .rresp(rresp),
		.rvalid(rvalid), .rready(rready)
	);
	fl_zu_eth #(.NODE(NODE), .DEPTH_LOG2(10)) eth (
		.aclk(aclk), .aresetn(aresetn),
		.s_axil_awaddr(awaddr), .s_axil_awprot(3'b010), .s_axil_awvalid(awvalid),
		.s_axil_awready(awready), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
		.s_axil_wvalid(wvalid), .s_axil_wready(wready), .s_axil_bresp(bresp),
		.s_axil_bvalid(bvalid), .s_axil_bready(bready), .s_axil_araddr(araddr),
		.s_axil_arprot(3'b010), .s_axil_arvalid(arvalid), .s_axil_arready(arready),
		.s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid),
		.s_axil_rready(rready),
		.s_axis_tdata(o_tdata), .s_axis_tkeep(o_tkeep), .s_axis_tlast(o_tlast),
		.s_axis_tid(o_tid), .s_axis_tdest(o_tdest), .s_axis_tvalid(o_tvalid),
		.s_axis_tready(o_tready), .m_axis_tdata(i_tdata), .m_axis_tkeep(i_tkeep),
		.m_axis_tlast(i_tlast), .m_axis_tid(i_tid), .m_axis_tdest(i_tdest),
		.m_axis_tvalid(i_tvalid), .m_axis_tready(i_tready),
		.tx_clk(tx_clk), .tx_resetn(mac_resetn), .tx_axis_tdata(tx_tdata),
		.tx_axis_tkeep(tx_tkeep), .tx_axis_tlast(tx_tlast), .tx_axis_tuser(),
		.tx_axis_tvalid(tx_tvalid), .tx_axis_tready(1'b1),
		.rx_clk(rx_clk), .rx_resetn(mac_resetn), .rx_axis_tdata(rx_tdata),
		.rx_axis_tkeep(rx_tkeep), .rx_axis_tlast(rx_tlast), .rx_axis_tuser(rx_tuser),
		.rx_axis_tvalid(rx_tvalid)
	);

	// The same at both ends.
	task table_write;
		input integer n;
		input [31:0] ip;
		input [47:0] mac;
		begin
			drv.write(17'h100 + 16 * n, 32'd0);
			drv.write(17'h104 + 16 * n, {16'd0, mac[47:32]});
			drv.write(17'h108 + 16 * n, mac[31:0]);
			drv.write(17'h100 + 16 * n, ip);
		end
	endtask
endmodule

`default_nettype wire
