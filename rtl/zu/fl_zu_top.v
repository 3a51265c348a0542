// SPDX-License-Identifier: BSD-2-Clause
// fl_zu_top - the card on a Zynq UltraScale+: the engine with the chip's ports around it.
//
// Module reference for a block design (common.tcl). Wired as book/board.adoc says:
//
//	s_axil		M_AXI_HPM0_FPD: registers, for the driver and its processes
//	s_axil_fw	M_AXI_HPM0_LPD: the same for the R5 with the firmware, and its mailbox
//	m_axi		S_AXI_HPC<PORT>_FPD, with nothing in between
//	m_axis, s_axis	the network; or fl_link, and the card hears itself
//	irq_fault, irq_event, irq_firmware
//			pl_ps_irq0[2:0]; the first two the driver's, the third the R5's
//
// The SMMU sees the stream STREAM_BASE + AXI ID (UG1085, "Master IDs List": translation buffer
// 0, master 1000 for HPC0 and 1001 for HPC1, six bits of AXI ID). AxPROT is 010: a secure access
// would go past the non-secure streams. AxCACHE is 1111: the CPUs' caches are looked into.
`default_nettype none

module fl_zu_top #(
	parameter NTX = 16,		// transmit contexts, 4 to 16
	parameter NRXC = 32,		// receive contexts, 1 to 32: a block of block RAM each
	parameter BLOCK_LOG2 = 14,	// block in bytes, 12 to 16
	parameter NODES = 16,		// of the fabric
	parameter NODE = 0,		// this one
	parameter CELL_LOG2 = 10,	// payload of a packet, 6 to 12
	parameter ICRC = 1,		// make it and check it
	parameter PORT = 0,		// S_AXI_HPC0_FPD or S_AXI_HPC1_FPD
	parameter PATIENCE = 22		// log2 of clocks to wait for the firmware
) (
	(* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 aclk CLK" *)
	(* X_INTERFACE_PARAMETER =
		"ASSOCIATED_BUSIF s_axil:s_axil_fw:m_axi:s_axis:m_axis, ASSOCIATED_RESET aresetn" *)
	input  wire		aclk,
	(* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 aresetn RST" *)
	(* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
	input  wire		aresetn,

	(* X_INTERFACE_INFO = "xilinx.com:signal:interrupt:1.0 irq_fault INTERRUPT" *)
	(* X_INTERFACE_PARAMETER = "SENSITIVITY LEVEL_HIGH" *)
	output wire		irq_fault,
	(* X_INTERFACE_INFO = "xilinx.com:signal:interrupt:1.0 irq_event INTERRUPT" *)
	(* X_INTERFACE_PARAMETER = "SENSITIVITY LEVEL_HIGH" *)
	output wire		irq_event,
	(* X_INTERFACE_INFO = "xilinx.com:signal:interrupt:1.0 irq_firmware INTERRUPT" *)
	(* X_INTERFACE_PARAMETER = "SENSITIVITY LEVEL_HIGH" *)
	output wire		irq_firmware,

	// for fl_link
	output wire [15:0]	link_delay,
	output wire [15:0]	link_drop,
	output wire [15:0]	link_twice,

	(* X_INTERFACE_PARAMETER = "PROTOCOL AXI4LITE, ADDR_WIDTH 17, DATA_WIDTH 32" *)
	input  wire [16:0]	s_axil_awaddr,
	input  wire [2:0]	s_axil_awprot,
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
	input  wire [2:0]	s_axil_arprot,
	input  wire		s_axil_arvalid,
	output wire		s_axil_arready,
	output wire [31:0]	s_axil_rdata,
	output wire [1:0]	s_axil_rresp,
	output wire		s_axil_rvalid,
	input  wire		s_axil_rready,

	(* X_INTERFACE_PARAMETER = "PROTOCOL AXI4LITE, ADDR_WIDTH 17, DATA_WIDTH 32" *)
	input  wire [16:0]	s_axil_fw_awaddr,
	input  wire [2:0]	s_axil_fw_awprot,
	input  wire		s_axil_fw_awvalid,
	output wire		s_axil_fw_awready,
	input  wire [31:0]	s_axil_fw_wdata,
	input  wire [3:0]	s_axil_fw_wstrb,
	input  wire		s_axil_fw_wvalid,
	output wire		s_axil_fw_wready,
	output wire [1:0]	s_axil_fw_bresp,
	output wire		s_axil_fw_bvalid,
	input  wire		s_axil_fw_bready,
	input  wire [16:0]	s_axil_fw_araddr,
	input  wire [2:0]	s_axil_fw_arprot,
	input  wire		s_axil_fw_arvalid,
	output wire		s_axil_fw_arready,
	output wire [31:0]	s_axil_fw_rdata,
	output wire [1:0]	s_axil_fw_rresp,
	output wire		s_axil_fw_rvalid,
	input  wire		s_axil_fw_rready,

	(* X_INTERFACE_PARAMETER = "PROTOCOL AXI4, ADDR_WIDTH 49, DATA_WIDTH 128, ID_WIDTH 6" *)
	output wire [5:0]	m_axi_arid,
	output wire [48:0]	m_axi_araddr,
	output wire [7:0]	m_axi_arlen,
	output wire [2:0]	m_axi_arsize,
	output wire [1:0]	m_axi_arburst,
	output wire		m_axi_arlock,
	output wire [3:0]	m_axi_arcache,
	output wire [2:0]	m_axi_arprot,
	output wire [3:0]	m_axi_arqos,
	output wire		m_axi_arvalid,
	input  wire		m_axi_arready,
	input  wire [5:0]	m_axi_rid,
	input  wire [127:0]	m_axi_rdata,
	input  wire [1:0]	m_axi_rresp,
	input  wire		m_axi_rlast,
	input  wire		m_axi_rvalid,
	output wire		m_axi_rready,
	output wire [5:0]	m_axi_awid,
	output wire [48:0]	m_axi_awaddr,
	output wire [7:0]	m_axi_awlen,
	output wire [2:0]	m_axi_awsize,
	output wire [1:0]	m_axi_awburst,
	output wire		m_axi_awlock,
	output wire [3:0]	m_axi_awcache,
	output wire [2:0]	m_axi_awprot,
	output wire [3:0]	m_axi_awqos,
	output wire		m_axi_awvalid,
	input  wire		m_axi_awready,
	output wire [127:0]	m_axi_wdata,
	output wire [15:0]	m_axi_wstrb,
	output wire		m_axi_wlast,
	output wire		m_axi_wvalid,
	input  wire		m_axi_wready,
	input  wire [5:0]	m_axi_bid,
	input  wire [1:0]	m_axi_bresp,
	input  wire		m_axi_bvalid,
	output wire		m_axi_bready,

	input  wire [127:0]	s_axis_tdata,
	input  wire [15:0]	s_axis_tkeep,
	input  wire		s_axis_tlast,
	input  wire [7:0]	s_axis_tid,
	input  wire [7:0]	s_axis_tdest,
	input  wire		s_axis_tvalid,
	output wire		s_axis_tready,
	output wire [127:0]	m_axis_tdata,
	output wire [15:0]	m_axis_tkeep,
	output wire		m_axis_tlast,
	output wire [7:0]	m_axis_tid,
	output wire [7:0]	m_axis_tdest,
	output wire		m_axis_tvalid,
	input  wire		m_axis_tready
);
	localparam [14:0] STREAM_BASE = 15'h200 + 15'h40 * PORT[14:0];
	// BTH, block header, payload, ICRC, in beats
	localparam LARGEST = (12 + 48 + (1 << CELL_LOG2) + 4 + 15) / 16;

	initial if (PORT > 1 || NODE >= NODES || CELL_LOG2 < 6 || CELL_LOG2 > 12 ||
		    CELL_LOG2 > BLOCK_LOG2 || ICRC > 1) begin
		$display("fl_zu_top: PORT 0, 1; NODE below NODES; CELL_LOG2 6 to 12; ICRC 0, 1");
		$finish(0);
	end

	reg rst;
	always @(posedge aclk)
		rst <= !aresetn;

	// ---- registers ----

	wire d_valid, d_write, d_done, d_bad, f_valid, f_write, f_done, f_bad;
	wire [16:0] d_addr, f_addr;
	wire [31:0] d_wdata, d_rdata, f_wdata, f_rdata;
	wire [3:0] d_wstrb, f_wstrb;

	fl_port driver (
		.clk(aclk), .rst(rst),
		.s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid),
		.s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
		.s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid),
		.s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
		.s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready),
		.s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid),
		.s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata),
		.s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
		.s_axil_rready(s_axil_rready),
		.rq_valid(d_valid), .rq_write(d_write), .rq_addr(d_addr),
		.rq_wdata(d_wdata), .rq_wstrb(d_wstrb), .rq_done(d_done),
		.rq_rdata(d_rdata), .rq_bad(d_bad)
	);

	fl_port firmware (
		.clk(aclk), .rst(rst),
		.s_axil_awaddr(s_axil_fw_awaddr), .s_axil_awvalid(s_axil_fw_awvalid),
		.s_axil_awready(s_axil_fw_awready), .s_axil_wdata(s_axil_fw_wdata),
		.s_axil_wstrb(s_axil_fw_wstrb), .s_axil_wvalid(s_axil_fw_wvalid),
		.s_axil_wready(s_axil_fw_wready), .s_axil_bresp(s_axil_fw_bresp),
		.s_axil_bvalid(s_axil_fw_bvalid), .s_axil_bready(s_axil_fw_bready),
		.s_axil_araddr(s_axil_fw_araddr), .s_axil_arvalid(s_axil_fw_arvalid),
		.s_axil_arready(s_axil_fw_arready), .s_axil_rdata(s_axil_fw_rdata),
		.s_axil_rresp(s_axil_fw_rresp), .s_axil_rvalid(s_axil_fw_rvalid),
		.s_axil_rready(s_axil_fw_rready),
		.rq_valid(f_valid), .rq_write(f_write), .rq_addr(f_addr),
		.rq_wdata(f_wdata), .rq_wstrb(f_wstrb), .rq_done(f_done),
		.rq_rdata(f_rdata), .rq_bad(f_bad)
	);

	wire [16:0] e_l_awaddr, e_l_araddr;
	wire [31:0] e_l_wdata, e_l_rdata;
	wire [3:0] e_l_wstrb;
	wire [1:0] e_l_bresp, e_l_rresp;
	wire e_l_awvalid, e_l_awready, e_l_wvalid, e_l_wready, e_l_bvalid, e_l_bready,
		e_l_arvalid, e_l_arready, e_l_rvalid, e_l_rready;
	wire irq_engine;

	fl_mailbox #(.PATIENCE(PATIENCE)) box (
		.clk(aclk), .rst(rst),
		.d_valid(d_valid), .d_write(d_write), .d_addr(d_addr), .d_wdata(d_wdata),
		.d_wstrb(d_wstrb), .d_done(d_done), .d_rdata(d_rdata), .d_bad(d_bad),
		.f_valid(f_valid), .f_write(f_write), .f_addr(f_addr), .f_wdata(f_wdata),
		.f_wstrb(f_wstrb), .f_done(f_done), .f_rdata(f_rdata), .f_bad(f_bad),
		.m_axil_awaddr(e_l_awaddr), .m_axil_awvalid(e_l_awvalid),
		.m_axil_awready(e_l_awready), .m_axil_wdata(e_l_wdata),
		.m_axil_wstrb(e_l_wstrb), .m_axil_wvalid(e_l_wvalid),
		.m_axil_wready(e_l_wready), .m_axil_bresp(e_l_bresp),
		.m_axil_bvalid(e_l_bvalid), .m_axil_bready(e_l_bready),
		.m_axil_araddr(e_l_araddr), .m_axil_arvalid(e_l_arvalid),
		.m_axil_arready(e_l_arready), .m_axil_rdata(e_l_rdata),
		.m_axil_rresp(e_l_rresp), .m_axil_rvalid(e_l_rvalid),
		.m_axil_rready(e_l_rready), .i_irq_engine(irq_engine),
		.o_irq_event(irq_event), .o_irq_firmware(irq_firmware),
		.o_link_delay(link_delay), .o_link_drop(link_drop),
		.o_link_twice(link_twice)
	);

	// ---- memory ----

	wire [14:0] e_arid, e_awid;
	wire [63:0] e_araddr, e_awaddr;
	wire e_arvalid, e_arready, e_rvalid, e_rready, e_rlast, e_awvalid, e_awready,
		e_wvalid, e_wready, e_bvalid, e_bready;
	wire [1:0] e_rresp, e_bresp;

	assign m_axi_arid = e_arid[5:0];
	assign m_axi_awid = e_awid[5:0];
	assign m_axi_araddr = e_araddr[48:0];
	assign m_axi_awaddr = e_awaddr[48:0];
	assign m_axi_arlock = 1'b0;
	assign m_axi_awlock = 1'b0;
	assign m_axi_arcache = 4'b1111;
	assign m_axi_awcache = 4'b1111;
	assign m_axi_arprot = 3'b010;
	assign m_axi_awprot = 3'b010;
	assign m_axi_arqos = 4'd0;
	assign m_axi_awqos = 4'd0;

	fl_guard #(.STREAM_BASE(STREAM_BASE)) guard (
		.clk(aclk), .rst(rst),
		.s_axi_arid(e_arid), .s_axi_araddr(e_araddr), .s_axi_arvalid(e_arvalid),
		.s_axi_arlen(m_axi_arlen), .s_axi_arready(e_arready),
		.s_axi_rresp(e_rresp), .s_axi_rlast(e_rlast), .s_axi_rvalid(e_rvalid),
		.s_axi_rready(e_rready), .s_axi_awid(e_awid), .s_axi_awaddr(e_awaddr),
		.s_axi_awvalid(e_awvalid), .s_axi_awready(e_awready),
		.s_axi_wlast(m_axi_wlast), .s_axi_wvalid(e_wvalid),
		.s_axi_wready(e_wready), .s_axi_bresp(e_bresp), .s_axi_bvalid(e_bvalid),
		.s_axi_bready(e_bready), .m_axi_arvalid(m_axi_arvalid),
		.m_axi_arready(m_axi_arready), .m_axi_rresp(m_axi_rresp),
		.m_axi_rlast(m_axi_rlast), .m_axi_rvalid(m_axi_rvalid),
		.m_axi_rready(m_axi_rready), .m_axi_awvalid(m_axi_awvalid),
		.m_axi_awready(m_axi_awready), .m_axi_wvalid(m_axi_wvalid),
		.m_axi_wready(m_axi_wready), .m_axi_bresp(m_axi_bresp),
		.m_axi_bvalid(m_axi_bvalid), .m_axi_bready(m_axi_bready)
	);

	// ---- the engine, and what it sends ----

	wire room;
	wire [127:0] t_tdata;
	wire [15:0] t_tkeep;
	wire [7:0] t_tid, t_tdest;
	wire t_tlast, t_tvalid, t_tready;

	fl_txfifo #(.LARGEST(LARGEST)) txfifo (
		.clk(aclk), .rst(rst), .o_room(room),
		.s_axis_tdata(t_tdata), .s_axis_tkeep(t_tkeep), .s_axis_tlast(t_tlast),
		.s_axis_tid(t_tid), .s_axis_tdest(t_tdest), .s_axis_tvalid(t_tvalid),
		.s_axis_tready(t_tready),
		.m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep),
		.m_axis_tlast(m_axis_tlast), .m_axis_tid(m_axis_tid),
		.m_axis_tdest(m_axis_tdest), .m_axis_tvalid(m_axis_tvalid),
		.m_axis_tready(m_axis_tready)
	);

	// Not connected: what only a simulation looks at.
	/* verilator lint_off PINCONNECTEMPTY */
	fl_engine #(
		.NTX(NTX), .NRXC(NRXC), .BLOCK_LOG2(BLOCK_LOG2), .NODES(NODES)
	) engine (
		.clk(aclk), .rst(rst),
		.i_node(NODE[3:0]), .i_contexts(NTX[4:0]), .i_rx_contexts(NRXC[5:0]),
		.i_block_log2(BLOCK_LOG2[4:0]), .i_cell_log2(CELL_LOG2[3:0]),
		.i_icrc(ICRC[0]), .i_go_rd(1'b1), .o_took_rd(), .i_go_wr(1'b1), .i_ahead(1'b1),
		.o_took_wr(), .o_quiet(), .o_want(), .i_room(room), .i_room_again(1'b1),
		.i_rd_stalled(1'b0), .i_wr_stalled(1'b0), .o_irq_fault(irq_fault),
		.o_irq_event(irq_engine), .s_axil_awaddr(e_l_awaddr),
		.s_axil_awvalid(e_l_awvalid), .s_axil_awready(e_l_awready),
		.s_axil_wdata(e_l_wdata), .s_axil_wstrb(e_l_wstrb),
		.s_axil_wvalid(e_l_wvalid), .s_axil_wready(e_l_wready),
		.s_axil_bresp(e_l_bresp), .s_axil_bvalid(e_l_bvalid),
		.s_axil_bready(e_l_bready), .s_axil_araddr(e_l_araddr),
		.s_axil_arvalid(e_l_arvalid), .s_axil_arready(e_l_arready),
		.s_axil_rdata(e_l_rdata), .s_axil_rresp(e_l_rresp),
		.s_axil_rvalid(e_l_rvalid), .s_axil_rready(e_l_rready),
		.m_axi_arid(e_arid), .m_axi_araddr(e_araddr), .m_axi_arlen(m_axi_arlen),
		.m_axi_arsize(m_axi_arsize), .m_axi_arburst(m_axi_arburst),
		.m_axi_aruser(), .m_axi_arvalid(e_arvalid), .m_axi_arready(e_arready),
		.m_axi_awid(e_awid), .m_axi_awaddr(e_awaddr), .m_axi_awlen(m_axi_awlen),
		.m_axi_awsize(m_axi_awsize), .m_axi_awburst(m_axi_awburst),
		.m_axi_awuser(), .m_axi_awvalid(e_awvalid), .m_axi_awready(e_awready),
		.m_axi_rdata(m_axi_rdata), .m_axi_rresp(e_rresp), .m_axi_rlast(e_rlast),
		.m_axi_rvalid(e_rvalid), .m_axi_rready(e_rready),
		.m_axi_wdata(m_axi_wdata), .m_axi_wstrb(m_axi_wstrb),
		.m_axi_wlast(m_axi_wlast), .m_axi_wvalid(e_wvalid),
		.m_axi_wready(e_wready), .m_axi_bresp(e_bresp), .m_axi_bvalid(e_bvalid),
		.m_axi_bready(e_bready),
		.o_rd_va(), .o_rd_len(), .o_wr_va(), .o_wr_len(),
		.s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep),
		.s_axis_tlast(s_axis_tlast), .s_axis_tid(s_axis_tid),
		.s_axis_tdest(s_axis_tdest), .s_axis_tvalid(s_axis_tvalid),
		.s_axis_tready(s_axis_tready), .m_axis_tdata(t_tdata),
		.m_axis_tkeep(t_tkeep), .m_axis_tlast(t_tlast), .m_axis_tid(t_tid),
		.m_axis_tdest(t_tdest), .m_axis_tvalid(t_tvalid), .m_axis_tready(t_tready),
		.trc_valid(), .trc_code(), .trc_index(), .trc_from(), .trc_event(),
		.trc_to(), .trc_node(), .trc_gen(), .trc_attempt(), .trc_xfer(),
		.trc_block(), .trc_a(), .trc_b()
	);

	/* verilator lint_on PINCONNECTEMPTY */
	wire unused = &{1'b0, s_axil_awprot, s_axil_arprot, s_axil_fw_awprot,
			s_axil_fw_arprot, m_axi_rid, m_axi_bid};
endmodule

`default_nettype wire
