// SPDX-License-Identifier: BSD-2-Clause
// zu_card - for benches: fl_zu_top with memory behind it, and what driver and firmware would do.
//
// serve() is one round of both: it takes an event of the engine, judges a block that came
// (accepted, always), releases a context that is done; and pages in what a fault names.
`default_nettype none
`include "regs.vh"
`include "fsm.vh"
`include "entries.vh"

module zu_card #(
	parameter NODE = 0,
	parameter NTX = 4,
	parameter NRXC = 4,
	parameter CELL_LOG2 = 8
) (
	input  wire		aclk,
	input  wire		aresetn,
	output wire [15:0]	link_delay,
	output wire [15:0]	link_drop,
	output wire [15:0]	link_twice,
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
	localparam MEM_LOG2 = 18;
	localparam [14:0] STREAM = 15'h200;

	wire irq_fault, irq_event, irq_firmware;
	wire [16:0] d_awaddr, d_araddr;
	wire [31:0] d_wdata, d_rdata;
	wire [3:0] d_wstrb;
	wire [1:0] d_bresp, d_rresp;
	wire d_awvalid, d_awready, d_wvalid, d_wready, d_bvalid, d_bready,
		d_arvalid, d_arready, d_rvalid, d_rready;
	wire [16:0] f_awaddr, f_araddr;
	wire [31:0] f_wdata, f_rdata;
	wire [3:0] f_wstrb;
	wire [1:0] f_bresp, f_rresp;
	wire f_awvalid, f_awready, f_wvalid, f_wready, f_bvalid, f_bready,
		f_arvalid, f_arready, f_rvalid, f_rready;
	wire [5:0] arid, awid;
	wire [48:0] araddr, awaddr;
	wire [7:0] arlen, awlen;
	wire [2:0] arsize, awsize, arprot, awprot;
	wire [1:0] arburst, awburst, rresp, bresp;
	wire [3:0] arcache, awcache;
	wire arlock, awlock, arvalid, arready, rlast, rvalid, rready, awvalid, awready, wlast,
		wvalid, wready, bvalid, bready;
	wire [127:0] rdata, wdata;
	wire [15:0] wstrb;

	axil_master drv (
		.clk(aclk), .awaddr(d_awaddr), .awvalid(d_awvalid), .awready(d_awready),
		.wdata(d_wdata), .wstrb(d_wstrb), .wvalid(d_wvalid), .wready(d_wready),
		.bresp(d_bresp), .bvalid(d_bvalid), .bready(d_bready), .araddr(d_araddr),
		.arvalid(d_arvalid), .arready(d_arready), .rdata(d_rdata), .rresp(d_rresp),
		.rvalid(d_rvalid), .rready(d_rready)
	);
	axil_master fw (
		.clk(aclk), .awaddr(f_awaddr), .awvalid(f_awvalid), .awready(f_awready),
		.wdata(f_wdata), .wstrb(f_wstrb), .wvalid(f_wvalid), .wready(f_wready),
		.bresp(f_bresp), .bvalid(f_bvalid), .bready(f_bready), .araddr(f_araddr),
		.arvalid(f_arvalid), .arready(f_arready), .rdata(f_rdata), .rresp(f_rresp),
		.rvalid(f_rvalid), .rready(f_rready)
	);
	axi_page_mem #(.MEM_LOG2(MEM_LOG2)) m (
		.clk(aclk), .rst(!aresetn),
		.araddr({15'd0, araddr}), .arlen(arlen), .arsize(arsize),
		.arburst(arburst), .arvalid(arvalid), .arready(arready), .rdata(rdata),
		.rresp(rresp), .rlast(rlast), .rvalid(rvalid), .rready(rready),
		.awaddr({15'd0, awaddr}), .awlen(awlen), .awsize(awsize),
		.awburst(awburst), .awvalid(awvalid), .awready(awready), .wdata(wdata),
		.wstrb(wstrb), .wlast(wlast), .wvalid(wvalid), .wready(wready),
		.bresp(bresp), .bvalid(bvalid), .bready(bready)
	);
	fl_zu_top #(
		.NODE(NODE), .NTX(NTX), .NRXC(NRXC), .CELL_LOG2(CELL_LOG2), .PATIENCE(12)
	) top (
		.aclk(aclk), .aresetn(aresetn),
		.irq_fault(irq_fault), .irq_event(irq_event), .irq_firmware(irq_firmware),
		.link_delay(link_delay), .link_drop(link_drop), .link_twice(link_twice),
		.s_axil_awaddr(d_awaddr), .s_axil_awvalid(d_awvalid),
		.s_axil_awready(d_awready), .s_axil_wdata(d_wdata), .s_axil_wstrb(d_wstrb),
		.s_axil_wvalid(d_wvalid), .s_axil_wready(d_wready), .s_axil_bresp(d_bresp),
		.s_axil_bvalid(d_bvalid), .s_axil_bready(d_bready),
		.s_axil_araddr(d_araddr), .s_axil_arvalid(d_arvalid),
		.s_axil_arready(d_arready), .s_axil_rdata(d_rdata), .s_axil_rresp(d_rresp),
		.s_axil_rvalid(d_rvalid), .s_axil_rready(d_rready), .s_axil_awprot(3'b010),
		.s_axil_arprot(3'b010), .s_axil_fw_awaddr(f_awaddr),
		.s_axil_fw_awvalid(f_awvalid), .s_axil_fw_awready(f_awready),
		.s_axil_fw_wdata(f_wdata), .s_axil_fw_wstrb(f_wstrb),
		.s_axil_fw_wvalid(f_wvalid), .s_axil_fw_wready(f_wready),
		.s_axil_fw_bresp(f_bresp), .s_axil_fw_bvalid(f_bvalid),
		.s_axil_fw_bready(f_bready), .s_axil_fw_araddr(f_araddr),
		.s_axil_fw_arvalid(f_arvalid), .s_axil_fw_arready(f_arready),
		.s_axil_fw_rdata(f_rdata), .s_axil_fw_rresp(f_rresp),
		.s_axil_fw_rvalid(f_rvalid), .s_axil_fw_rready(f_rready),
		.s_axil_fw_awprot(3'b010), .s_axil_fw_arprot(3'b010),
		.m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_arsize(arsize),
		.m_axi_arburst(arburst), .m_axi_arvalid(arvalid), .m_axi_arready(arready),
		.m_axi_rdata(rdata), .m_axi_rresp(rresp), .m_axi_rlast(rlast),
		.m_axi_rvalid(rvalid), .m_axi_rready(rready), .m_axi_awaddr(awaddr),
		.m_axi_awlen(awlen), .m_axi_awsize(awsize), .m_axi_awburst(awburst),
		.m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_wdata(wdata),
		.m_axi_wstrb(wstrb), .m_axi_wlast(wlast), .m_axi_wvalid(wvalid),
		.m_axi_wready(wready), .m_axi_bresp(bresp), .m_axi_bvalid(bvalid),
		.m_axi_bready(bready), .m_axi_arid(arid), .m_axi_arlock(arlock),
		.m_axi_arcache(arcache), .m_axi_arprot(arprot), .m_axi_awid(awid),
		.m_axi_awlock(awlock), .m_axi_awcache(awcache), .m_axi_awprot(awprot),
		.m_axi_arqos(), .m_axi_awqos(), .m_axi_rid(rid), .m_axi_bid(bid),
		.s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep),
		.s_axis_tlast(s_axis_tlast), .s_axis_tid(s_axis_tid),
		.s_axis_tdest(s_axis_tdest), .s_axis_tvalid(s_axis_tvalid),
		.s_axis_tready(s_axis_tready), .m_axis_tdata(m_axis_tdata),
		.m_axis_tkeep(m_axis_tkeep), .m_axis_tlast(m_axis_tlast),
		.m_axis_tid(m_axis_tid), .m_axis_tdest(m_axis_tdest),
		.m_axis_tvalid(m_axis_tvalid), .m_axis_tready(m_axis_tready)
	);

	// The chip gives answers the ID of their question; and what the wrapper promises.
	reg [5:0] rid, bid;
	integer errors;
	initial errors = 0;
	always @(posedge aclk) begin
		if (arvalid && arready)
			rid <= arid;
		if (awvalid && awready)
			bid <= awid;
		if (arvalid && (arprot !== 3'b010 || arcache !== 4'hF || arlock !== 1'b0))
			errors = errors + 1;
		if (awvalid && (awprot !== 3'b010 || awcache !== 4'hF || awlock !== 1'b0))
			errors = errors + 1;
	end

	// ---- what software does ----

	integer done, faults, opened, i;
	reg [7:0] status;		// of the last context that was done
	reg [31:0] ref;
	reg [63:0] va;
	reg [31:0] map;

	initial begin
		done = 0;
		faults = 0;
		opened = 0;
		status = 0;
	end

	// Every page is there, and a byte tells where it is.
	task fill;
		begin
			for (i = 0; i < 1 << (MEM_LOG2 - 12); i = i + 1)
				m.page[i] = 0;
			for (i = 0; i < 1 << MEM_LOG2; i = i + 1)
				m.mem[i] = i * 13 + i / 256;
		end
	endtask

	task start;
		fw.write(`NIC_ENG_BASE + `NIC_ENG_CTRL, 32'd1 << `NIC_ENG_CTRL_ENABLE_LSB);
	endtask

	task drv_start;
		drv.write(`NIC_ENG_BASE + `NIC_ENG_IRQ_ENABLE,
			  32'd1 << `NIC_ENG_IRQ_ENABLE_FAULT_LSB);
	endtask

	// A block of a WRITE (op) to a node.
	task go;
		input [3:0] ctx;
		input [3:0] op;
		input [7:0] node;
		input [5:0] id;		// stream within the port
		input [63:0] lva, rva;
		input [31:0] len;
		go_stream(ctx, op, node, STREAM + id, lva, rva, len);
	endtask

	task go_stream;
		input [3:0] ctx;
		input [3:0] op;
		input [7:0] node;
		input [14:0] stream;
		input [63:0] lva, rva;
		input [31:0] len;
		reg [16:0] base;
		begin
			base = `NIC_CTX_BASE + `NIC_CTX_STRIDE * ctx;
			fw.write(base + `NIC_CTX_DST, {24'd5, node});
			fw.write(base + `NIC_CTX_STREAM, stream);
			fw.write64(base + `NIC_CTX_LVA, lva);
			fw.write64(base + `NIC_CTX_RVA, rva);
			fw.write(base + `NIC_CTX_LEN, len);
			fw.write(base + `NIC_CTX_CTRL,
				 32'd1 << `NIC_CTX_CTRL_GO_LSB | op);
			if (fw.resp != 0) begin
				$display("GO was refused");
				errors = errors + 1;
			end
		end
	endtask

	// The timer of a context: sent, and no answer came.
	task expire;
		input [3:0] ctx;
		reg [16:0] base;
		begin
			base = `NIC_CTX_BASE + `NIC_CTX_STRIDE * ctx;
			fw.read(base + `NIC_CTX_STATE);
			if (fw.data[3:0] == `FL_TX_FLYING || fw.data[3:0] == `FL_TX_DSTFAULT)
				fw.write(base + `NIC_CTX_CTRL,
					 32'd1 << `NIC_CTX_CTRL_EXPIRE_LSB);
		end
	endtask

	task event_of;
		input [7:0] kind;
		input [7:0] index;
		input [7:0] serial;
		case (kind)
		`FL_NOTE_RX_OPEN: begin
			opened = opened + 1;
			fw.write(`NIC_RXC_BASE + `NIC_RXC_STRIDE * index + `NIC_RXC_VERDICT,
				 {1'b0, STREAM, serial, 8'd0});
		end
		`FL_NOTE_TX_DONE: begin
			fw.read(`NIC_CTX_BASE + `NIC_CTX_STRIDE * index + `NIC_CTX_STATE);
			status = fw.data[`NIC_CTX_STATE_STATUS_MSB:`NIC_CTX_STATE_STATUS_LSB];
			fw.write(`NIC_CTX_BASE + `NIC_CTX_STRIDE * index + `NIC_CTX_CTRL,
				 32'd1 << `NIC_CTX_CTRL_RELEASE_LSB);
			done = done + 1;
		end
		default: ;
		endcase
	endtask

	task fault;
		begin
			drv.read(`NIC_ENG_BASE + `NIC_ENG_FLT_REF);
			ref = drv.data;
			drv.read(`NIC_ENG_BASE + `NIC_ENG_FLT_VA);
			va[31:0] = drv.data;
			drv.read(`NIC_ENG_BASE + `NIC_ENG_FLT_VA + 4);
			va[63:32] = drv.data;
			drv.read(`NIC_ENG_BASE + `NIC_ENG_FLT_MAP);
			map = drv.data;
			drv.write(`NIC_ENG_BASE + `NIC_ENG_FLT_POP, 32'd0);
			for (i = 0; i < 32; i = i + 1)
				if (map[i])
					m.page[va[MEM_LOG2-1:12] + i] = 0;
			drv.write(`NIC_ENG_BASE + `NIC_ENG_READY, ref & 32'h00FF01FF);
			faults = faults + 1;
		end
	endtask

	task serve;
		begin
			if (irq_firmware) begin
				fw.read(`NIC_ENG_BASE + `NIC_ENG_EVT_POP);
				if (fw.data[`NIC_ENG_EVT_POP_VALID_LSB])
					event_of(fw.data[7:0], fw.data[15:8], fw.data[23:16]);
			end
			if (irq_fault)
				fault;
			@(posedge aclk);
		end
	endtask
endmodule

`default_nettype wire
