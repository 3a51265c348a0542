// SPDX-License-Identifier: BSD-2-Clause
// The whole engine: turned off in the middle of a block it ends the burst that is open, begins no
// other one, and goes on with the next one when it is turned on.
`default_nettype none
`include "regs.vh"
`include "entries.vh"

module tb_off;
	reg clk, rst;
	reg [16:0] awaddr, araddr;
	reg [31:0] wdata;
	reg awvalid, wvalid, arvalid, rvalid, rlast;
	wire awready, wready, arready, bvalid, s_rvalid, m_arvalid, m_rready;
	wire [1:0] bresp, rresp;
	wire [31:0] rdata;
	wire [63:0] m_araddr;
	wire [7:0] m_arlen;
	integer bursts, errors, n;

	fl_engine #(.NTX(4), .NRXC(1), .BLOCK_LOG2(14)) dut (
		.clk(clk), .rst(rst), .i_node(4'd0), .i_contexts(5'd4), .i_rx_contexts(6'd1),
		.i_block_log2(5'd14), .i_cell_log2(4'd12), .i_icrc(1'b1), .i_go_rd(1'b1),
		.o_took_rd(),
		.i_go_wr(1'b1), .o_took_wr(), .i_ahead(1'b1), .o_quiet(), .o_want(),
		.i_room(1'b1), .i_room_again(1'b1),
		.i_rd_stalled(1'b0), .i_wr_stalled(1'b0), .o_irq_fault(), .o_irq_event(),
		.s_axil_awaddr(awaddr), .s_axil_awvalid(awvalid), .s_axil_awready(awready),
		.s_axil_wdata(wdata), .s_axil_wstrb(4'hF), .s_axil_wvalid(wvalid),
		.s_axil_wready(wready), .s_axil_bresp(bresp), .s_axil_bvalid(bvalid),
		.s_axil_bready(1'b1), .s_axil_araddr(araddr), .s_axil_arvalid(arvalid),
		.s_axil_arready(arready), .s_axil_rdata(rdata), .s_axil_rresp(rresp),
		.s_axil_rvalid(s_rvalid), .s_axil_rready(1'b1), .m_axi_arid(),
		.m_axi_araddr(m_araddr),
		.m_axi_arlen(m_arlen), .m_axi_arsize(), .m_axi_arburst(), .m_axi_aruser(),
		.m_axi_arvalid(m_arvalid), .m_axi_arready(1'b1), .m_axi_rdata(128'd0),
		.m_axi_rresp(2'd0), .m_axi_rlast(rlast), .m_axi_rvalid(rvalid),
		.m_axi_rready(m_rready), .m_axi_awid(), .m_axi_awaddr(), .m_axi_awlen(),
		.m_axi_awsize(), .m_axi_awburst(), .m_axi_awuser(), .m_axi_awvalid(),
		.m_axi_awready(1'b1), .m_axi_wdata(), .m_axi_wstrb(), .m_axi_wlast(),
		.m_axi_wvalid(),
		.m_axi_wready(1'b1), .m_axi_bresp(2'd0), .m_axi_bvalid(1'b0), .m_axi_bready(),
		.o_rd_va(), .o_rd_len(), .o_wr_va(), .o_wr_len(), .s_axis_tdata(128'd0),
		.s_axis_tkeep(16'd0), .s_axis_tlast(1'b0), .s_axis_tid(8'd0), .s_axis_tdest(8'd0),
		.s_axis_tvalid(1'b0), .s_axis_tready(), .m_axis_tdata(), .m_axis_tkeep(),
		.m_axis_tlast(), .m_axis_tid(), .m_axis_tdest(), .m_axis_tvalid(),
		.m_axis_tready(1'b1),
		.trc_valid(), .trc_code(), .trc_index(), .trc_from(), .trc_event(), .trc_to(),
		.trc_node(), .trc_gen(), .trc_attempt(), .trc_xfer(), .trc_block(), .trc_a(),
		.trc_b());

	always #5 clk = !clk;

	always @(posedge clk)
		if (m_arvalid)
			bursts = bursts + 1;

	task write;
		input [31:0] addr;
		input [31:0] value;
		begin
			awaddr = addr[16:0];
			wdata = value;
			{awvalid, wvalid} = 2'b11;
			while (awvalid || wvalid) begin
				#1;
				n = {awready, wready};
				@(negedge clk);
				awvalid = awvalid && !(n & 2);
				wvalid = wvalid && !(n & 1);
			end
			while (!bvalid)
				@(negedge clk);
			if (bresp != 2'd0) begin
				$display("write %h to %h was refused", value, addr);
				errors = errors + 1;
			end
			@(negedge clk);
		end
	endtask

	// The beats of a page.
	task page;
		begin
			rvalid = 1;
			for (n = 0; n < 256; n = n + 1) begin
				rlast = n == 255;
				@(negedge clk);
			end
			rvalid = 0;
		end
	endtask

	task check;
		input integer want;
		begin
			repeat (100) @(negedge clk);
			if (bursts !== want) begin
				$display("%0t: %0d bursts, not %0d", $time, bursts, want);
				errors = errors + 1;
			end
		end
	endtask

	initial begin
		{clk, awvalid, wvalid, arvalid, rvalid, rlast} = 0;
		{awaddr, araddr, wdata} = 0;
		{bursts, errors} = 0;
		rst = 1;
		repeat (4) @(negedge clk);
		bursts = 0;
		rst = 0;
		write(`NIC_ENG_CTRL, 1);
		write(`NIC_CTX_BASE + `NIC_CTX_LVA, 32'h10000);
		write(`NIC_CTX_BASE + `NIC_CTX_LEN, 3 * 4096);
		write(`NIC_CTX_BASE + `NIC_CTX_CTRL, {24'h1, `FL_OP_WRITE});
		check(1);
		write(`NIC_ENG_CTRL, 0);
		page;
		check(1);
		write(`NIC_ENG_CTRL, 1);
		check(2);
		page;
		check(3);
		if (errors == 0)
			$display("PASS");
		$finish(0);
	end
endmodule

`default_nettype wire
