// SPDX-License-Identifier: BSD-2-Clause
// fl_engine - the block engine: transmit and receive contexts over one data path.
//
// What emu/nic/engine.h says in C: registers through AXI4-Lite, memory through one AXI4 master
// whose refusals (SLVERR) become page faults of one block and of no other, packets through two
// AXI-Streams. This file ties the parts together and decides nothing:
//
//	fl_axil -> fl_ctl	registers; ctl owns all contexts, one event at a time
//	fl_rd -> [read buffers] -> fl_tx	a block out: read whole, then sent cell by cell
//	fl_rx -> [receive buffers] -> fl_wr	a block in: collected whole, then written
`default_nettype none

module fl_engine #(
	parameter NTX = 16,		// transmit contexts, 4 to 16
	parameter NRXC = 32,		// receive contexts, 1 to 32
	parameter BLOCK_LOG2 = 14,	// largest block, 12 to 16
	parameter NODES = 16		// of the fabric: a power of two, 1 to 16
) (
	input  wire		clk,
	input  wire		rst,		// synchronous; what peers know of this card stays

	// straps: constant on a board
	input  wire [3:0]	i_node,		// this card on the fabric
	input  wire [4:0]	i_contexts,	// 4 to NTX
	input  wire [5:0]	i_rx_contexts,	// 1 to NRXC
	input  wire [4:0]	i_block_log2,	// 12 to BLOCK_LOG2
	input  wire [3:0]	i_cell_log2,	// 6 to 12
	input  wire		i_icrc,		// make it and check it

	// one unit of work at a time (1 on a board), and whether anything still moves
	input  wire		i_go_rd,
	output wire		o_took_rd,
	input  wire		i_go_wr,
	output wire		o_took_wr,
	input  wire		i_ahead,	// read the next block while one is sent (1 on a board)
	output wire		o_quiet,	// nothing changes until an input does

	// room on the wire for the largest packet
	output wire		o_want,		// a packet is about to begin:
	input  wire		i_room,		// the whole of it will be taken
	input  wire		i_room_again,	// what found no room may ask again

	// the SMMU holds the burst (0 where that cannot be known); shown in registers only
	input  wire		i_rd_stalled,
	input  wire		i_wr_stalled,

	// interrupt lines, level
	output wire		o_irq_fault,	// to the driver
	output wire		o_irq_event,	// to the firmware

	// registers (regs.def)
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
	output wire [31:0]	s_axil_rdata,
	output wire [1:0]	s_axil_rresp,
	output wire		s_axil_rvalid,
	input  wire		s_axil_rready,

	// memory: id is the stream, user the context
	output wire [14:0]	m_axi_arid,
	output wire [63:0]	m_axi_araddr,
	output wire [7:0]	m_axi_arlen,
	output wire [2:0]	m_axi_arsize,
	output wire [1:0]	m_axi_arburst,
	output wire [7:0]	m_axi_aruser,
	output wire		m_axi_arvalid,
	input  wire		m_axi_arready,
	input  wire [127:0]	m_axi_rdata,
	input  wire [1:0]	m_axi_rresp,
	input  wire		m_axi_rlast,
	input  wire		m_axi_rvalid,
	output wire		m_axi_rready,
	output wire [14:0]	m_axi_awid,
	output wire [63:0]	m_axi_awaddr,
	output wire [7:0]	m_axi_awlen,
	output wire [2:0]	m_axi_awsize,
	output wire [1:0]	m_axi_awburst,
	output wire [7:0]	m_axi_awuser,
	output wire		m_axi_awvalid,
	input  wire		m_axi_awready,
	output wire [127:0]	m_axi_wdata,
	output wire [15:0]	m_axi_wstrb,
	output wire		m_axi_wlast,
	output wire		m_axi_wvalid,
	input  wire		m_axi_wready,
	input  wire [1:0]	m_axi_bresp,
	input  wire		m_axi_bvalid,
	output wire		m_axi_bready,

	// the burst under way, in bytes
	output wire [63:0]	o_rd_va,
	output wire [12:0]	o_rd_len,
	output wire [63:0]	o_wr_va,
	output wire [12:0]	o_wr_len,

	// packets in; id: who sends, dest: to whom
	input  wire [127:0]	s_axis_tdata,
	input  wire [15:0]	s_axis_tkeep,
	input  wire		s_axis_tlast,
	input  wire [7:0]	s_axis_tid,
	input  wire [7:0]	s_axis_tdest,
	input  wire		s_axis_tvalid,
	output wire		s_axis_tready,

	// packets out
	output wire [127:0]	m_axis_tdata,
	output wire [15:0]	m_axis_tkeep,
	output wire		m_axis_tlast,
	output wire [7:0]	m_axis_tid,
	output wire [7:0]	m_axis_tdest,
	output wire		m_axis_tvalid,
	input  wire		m_axis_tready,

	// trace, see fl_trace.vh; not connected on a board
	output wire		trc_valid,
	output wire [4:0]	trc_code,
	output wire [7:0]	trc_index,
	output wire [3:0]	trc_from,
	output wire [3:0]	trc_event,
	output wire [3:0]	trc_to,
	output wire [7:0]	trc_node,
	output wire [15:0]	trc_gen,
	output wire [7:0]	trc_attempt,
	output wire [31:0]	trc_xfer,
	output wire [31:0]	trc_block,
	output wire [63:0]	trc_a,
	output wire [31:0]	trc_b
);
	initial if (NTX < 4 || NTX > 16 || NRXC < 1 || NRXC > 32 || BLOCK_LOG2 < 12 ||
		    BLOCK_LOG2 > 16 || NODES < 1 || NODES > 16) begin
		$display("fl_engine: NTX is 4 to 16, NRXC 1 to 32, BLOCK_LOG2 12 to 16");
		$finish(0);
	end

	localparam RB_WORDS = 2 * ((1 << BLOCK_LOG2) / 16 + 1);	// two blocks that begin anywhere
	localparam XB_WORDS = NRXC * ((1 << BLOCK_LOG2) / 16);
	localparam XB_ADDR = BLOCK_LOG2 - 4 + (NRXC > 16 ? 5 : NRXC > 8 ? 4 : NRXC > 4 ? 3 :
					       NRXC > 2 ? 2 : NRXC > 1 ? 1 : 0);

	wire re_valid, rd_open, rb_we, we_valid, wr_open, xb_re, tp_busy, rb_re,
		pk_valid, st_done, xb_we, rq_valid, rq_write, rq_done, rq_bad, pk_done,
		st_req, tp_start, tp_answer, re_ack, re_ok, re_last, rd_ask, rd_dropped,
		we_ack, we_ok, wr_cancelled, enabled, ctl_idle, axil_moving, rd_moving,
		wr_moving, tx_moving, rx_moving;
	wire [2:0] re_kind, we_kind, pk_why;
	wire [31:0] re_map, we_map, pk_rkey, pk_len, pk_offset, pk_ref, pk_xfer,
		pk_block, pk_map, rq_wdata, rq_rdata, tp_rkey, tp_len, tp_offset, tp_ref,
		tp_xfer, tp_block, tp_by, pk_src, tp_map;
	wire [16:0] rd_left, wr_left, rq_addr, tp_src, rd_len, ah_len, wr_len;
	wire [BLOCK_LOG2-4:0] rb_waddr, rb_raddr;
	wire [127:0] rb_wdata, xb_wdata, rb_rdata, xb_rdata;
	wire [BLOCK_LOG2:0] xb_raddr, xb_waddr;
	wire [1:0] pk_kind;
	wire [15:0] pk_flen, pk_gen, tp_gen;
	wire [7:0] pk_from, pk_opcode, pk_ctx, pk_attempt, pk_code, tp_opcode, tp_ctx,
		tp_attempt, tp_code;
	wire [23:0] pk_qp, pk_psn, tp_qp, tp_psn;
	wire [63:0] pk_va, pk_left, tp_va, tp_left, rd_lva, ah_lva, wr_va;
	wire [12:0] pk_plen, tp_plen;
	wire [4:0] st_slot, wr_index;
	wire [3:0] tp_to, rd_index, rd_of, ah_index;
	wire [14:0] rd_stream, wr_stream, ah_stream;
	wire [15:0] rd_ready;
	wire ah_valid, rb_fills, rb_sends;

	assign o_quiet = ctl_idle && !axil_moving && !rd_moving && !wr_moving && !tx_moving &&
			 !rx_moving;

	fl_axil u_axil (
		.clk(clk), .rst(rst), .o_moving(axil_moving),
		.s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid),
		.s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
		.s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid),
		.s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
		.s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready),
		.s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid),
		.s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata),
		.s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
		.s_axil_rready(s_axil_rready), .rq_valid(rq_valid), .rq_write(rq_write),
		.rq_addr(rq_addr), .rq_wdata(rq_wdata), .rq_done(rq_done),
		.rq_rdata(rq_rdata), .rq_bad(rq_bad)
	);

	fl_ctl #(.NTX(NTX), .NRXC(NRXC), .BLOCK_LOG2(BLOCK_LOG2), .NODES(NODES)) u_ctl (
		.clk(clk), .rst(rst), .i_contexts(i_contexts),
		.i_rx_contexts(i_rx_contexts), .i_block_log2(i_block_log2),
		.i_cell_log2(i_cell_log2), .o_enabled(enabled), .o_idle(ctl_idle),
		.o_irq_fault(o_irq_fault), .o_irq_event(o_irq_event), .rq_valid(rq_valid),
		.rq_write(rq_write), .rq_addr(rq_addr), .rq_wdata(rq_wdata),
		.rq_done(rq_done), .rq_rdata(rq_rdata), .rq_bad(rq_bad),
		.pk_valid(pk_valid), .pk_kind(pk_kind), .pk_why(pk_why), .pk_flen(pk_flen),
		.pk_from(pk_from), .pk_opcode(pk_opcode), .pk_qp(pk_qp), .pk_psn(pk_psn),
		.pk_ctx(pk_ctx), .pk_gen(pk_gen), .pk_attempt(pk_attempt), .pk_va(pk_va),
		.pk_rkey(pk_rkey), .pk_len(pk_len), .pk_offset(pk_offset),
		.pk_left(pk_left), .pk_ref(pk_ref), .pk_xfer(pk_xfer), .pk_block(pk_block),
		.pk_src(pk_src),
		.pk_plen(pk_plen), .pk_code(pk_code), .pk_map(pk_map), .pk_done(pk_done),
		.st_req(st_req), .st_slot(st_slot), .st_done(st_done), .o_want(o_want),
		.i_room(i_room), .i_room_again(i_room_again), .tp_start(tp_start),
		.tp_answer(tp_answer), .tp_to(tp_to), .tp_opcode(tp_opcode), .tp_qp(tp_qp),
		.tp_psn(tp_psn), .tp_ctx(tp_ctx), .tp_gen(tp_gen), .tp_attempt(tp_attempt),
		.tp_va(tp_va), .tp_rkey(tp_rkey), .tp_len(tp_len), .tp_offset(tp_offset),
		.tp_left(tp_left), .tp_ref(tp_ref), .tp_xfer(tp_xfer), .tp_block(tp_block),
		.tp_by(tp_by),
		.tp_plen(tp_plen), .tp_code(tp_code), .tp_map(tp_map), .tp_src(tp_src),
		.tp_busy(tp_busy), .re_valid(re_valid), .re_kind(re_kind), .re_map(re_map),
		.re_ack(re_ack), .re_ok(re_ok), .re_last(re_last), .rd_index(rd_index),
		.rd_stream(rd_stream), .rd_lva(rd_lva), .rd_len(rd_len), .rd_ask(rd_ask),
		.rd_dropped(rd_dropped), .ah_valid(ah_valid), .ah_index(ah_index),
		.ah_stream(ah_stream), .ah_lva(ah_lva), .ah_len(ah_len), .rd_ready(rd_ready),
		.rd_open(rd_open), .rd_of(rd_of), .rd_va(o_rd_va),
		.rd_left(rd_left), .i_rd_stalled(i_rd_stalled), .we_valid(we_valid),
		.we_kind(we_kind), .we_map(we_map), .we_ack(we_ack), .we_ok(we_ok),
		.wr_index(wr_index), .wr_stream(wr_stream), .wr_va(wr_va), .wr_len(wr_len),
		.wr_cancelled(wr_cancelled), .wr_open(wr_open),
		.wr_begun(wr_open || m_axi_awvalid), .wr_bva(o_wr_va),
		.wr_left(wr_left), .i_wr_stalled(i_wr_stalled), .trc_valid(trc_valid),
		.trc_code(trc_code), .trc_index(trc_index), .trc_from(trc_from),
		.trc_event(trc_event), .trc_to(trc_to), .trc_node(trc_node),
		.trc_gen(trc_gen), .trc_attempt(trc_attempt), .trc_xfer(trc_xfer),
		.trc_block(trc_block), .trc_a(trc_a), .trc_b(trc_b)
	);

	fl_rd #(.BLOCK_LOG2(BLOCK_LOG2)) u_rd (
		.clk(clk), .rst(rst), .i_go_rd(i_go_rd && enabled), .o_took_rd(o_took_rd),
		.o_moving(rd_moving), .i_ahead(i_ahead), .re_valid(re_valid), .re_kind(re_kind),
		.re_map(re_map), .re_ack(re_ack), .re_ok(re_ok), .re_last(re_last),
		.rd_index(rd_index), .rd_stream(rd_stream), .rd_lva(rd_lva),
		.rd_len(rd_len), .rd_ask(rd_ask), .rd_dropped(rd_dropped),
		.ah_valid(ah_valid), .ah_index(ah_index), .ah_stream(ah_stream), .ah_lva(ah_lva),
		.ah_len(ah_len), .rd_ready(rd_ready),
		.rd_open(rd_open), .o_rd_index(rd_of), .o_rd_va(o_rd_va), .o_rd_len(o_rd_len),
		.rd_left(rd_left), .m_axi_arid(m_axi_arid), .m_axi_araddr(m_axi_araddr),
		.m_axi_arlen(m_axi_arlen), .m_axi_arsize(m_axi_arsize),
		.m_axi_arburst(m_axi_arburst), .m_axi_aruser(m_axi_aruser),
		.m_axi_arvalid(m_axi_arvalid), .m_axi_arready(m_axi_arready),
		.m_axi_rdata(m_axi_rdata), .m_axi_rresp(m_axi_rresp),
		.m_axi_rlast(m_axi_rlast), .m_axi_rvalid(m_axi_rvalid),
		.m_axi_rready(m_axi_rready), .rb_we(rb_we), .rb_fills(rb_fills),
		.rb_waddr(rb_waddr), .rb_wdata(rb_wdata), .rb_sends(rb_sends)
	);

	fl_wr #(.BLOCK_LOG2(BLOCK_LOG2)) u_wr (
		.clk(clk), .rst(rst), .i_go_wr(i_go_wr && enabled), .o_took_wr(o_took_wr),
		.o_moving(wr_moving), .we_valid(we_valid), .we_kind(we_kind),
		.we_map(we_map), .we_ack(we_ack), .we_ok(we_ok), .wr_index(wr_index),
		.wr_stream(wr_stream), .wr_va(wr_va), .wr_len(wr_len),
		.wr_cancelled(wr_cancelled), .wr_open(wr_open), .o_wr_va(o_wr_va),
		.o_wr_len(o_wr_len), .wr_left(wr_left), .m_axi_awid(m_axi_awid),
		.m_axi_awaddr(m_axi_awaddr), .m_axi_awlen(m_axi_awlen),
		.m_axi_awsize(m_axi_awsize), .m_axi_awburst(m_axi_awburst),
		.m_axi_awuser(m_axi_awuser), .m_axi_awvalid(m_axi_awvalid),
		.m_axi_awready(m_axi_awready), .m_axi_wdata(m_axi_wdata),
		.m_axi_wstrb(m_axi_wstrb), .m_axi_wlast(m_axi_wlast),
		.m_axi_wvalid(m_axi_wvalid), .m_axi_wready(m_axi_wready),
		.m_axi_bresp(m_axi_bresp), .m_axi_bvalid(m_axi_bvalid),
		.m_axi_bready(m_axi_bready), .xb_re(xb_re), .xb_raddr(xb_raddr),
		.xb_rdata(xb_rdata)
	);

	fl_tx #(.BLOCK_LOG2(BLOCK_LOG2)) u_tx (
		.clk(clk), .rst(rst), .i_node(i_node), .i_icrc(i_icrc),
		.o_moving(tx_moving), .tp_start(tp_start), .tp_busy(tp_busy),
		.tp_answer(tp_answer), .tp_to(tp_to), .tp_opcode(tp_opcode), .tp_qp(tp_qp),
		.tp_psn(tp_psn), .tp_ctx(tp_ctx), .tp_gen(tp_gen), .tp_attempt(tp_attempt),
		.tp_va(tp_va), .tp_rkey(tp_rkey), .tp_len(tp_len), .tp_offset(tp_offset),
		.tp_left(tp_left), .tp_ref(tp_ref), .tp_xfer(tp_xfer), .tp_block(tp_block),
		.tp_by(tp_by),
		.tp_plen(tp_plen), .tp_code(tp_code), .tp_map(tp_map), .tp_src(tp_src),
		.rb_re(rb_re), .rb_raddr(rb_raddr), .rb_rdata(rb_rdata),
		.m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep),
		.m_axis_tlast(m_axis_tlast), .m_axis_tid(m_axis_tid),
		.m_axis_tdest(m_axis_tdest), .m_axis_tvalid(m_axis_tvalid),
		.m_axis_tready(m_axis_tready)
	);

	fl_rx #(.BLOCK_LOG2(BLOCK_LOG2), .NODES(NODES)) u_rx (
		.clk(clk), .rst(rst), .i_node(i_node), .i_icrc(i_icrc),
		.o_moving(rx_moving), .s_axis_tdata(s_axis_tdata),
		.s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast),
		.s_axis_tid(s_axis_tid), .s_axis_tdest(s_axis_tdest),
		.s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
		.pk_valid(pk_valid), .pk_done(pk_done), .pk_kind(pk_kind), .pk_why(pk_why),
		.pk_flen(pk_flen), .pk_from(pk_from), .pk_opcode(pk_opcode), .pk_qp(pk_qp),
		.pk_psn(pk_psn), .pk_ctx(pk_ctx), .pk_gen(pk_gen), .pk_attempt(pk_attempt),
		.pk_va(pk_va), .pk_rkey(pk_rkey), .pk_len(pk_len), .pk_offset(pk_offset),
		.pk_left(pk_left), .pk_ref(pk_ref), .pk_xfer(pk_xfer), .pk_block(pk_block),
		.pk_src(pk_src),
		.pk_plen(pk_plen), .pk_code(pk_code), .pk_map(pk_map), .st_req(st_req),
		.st_slot(st_slot), .st_done(st_done), .xb_we(xb_we), .xb_waddr(xb_waddr),
		.xb_wdata(xb_wdata)
	);

	// a block that leaves and the one behind it, word by word
	fl_ram #(.WIDTH(128), .DEPTH(RB_WORDS), .ADDR(BLOCK_LOG2 - 2)) u_read_buffers (
		.clk(clk), .i_we(rb_we), .i_waddr({rb_waddr, rb_fills}), .i_wdata(rb_wdata),
		.i_re(rb_re), .i_raddr({rb_raddr, rb_sends}), .o_rdata(rb_rdata)
	);

	// one block for each receive context
	fl_ram #(.WIDTH(128), .DEPTH(XB_WORDS), .ADDR(XB_ADDR)) u_receive_buffers (
		.clk(clk), .i_we(xb_we), .i_waddr(xb_waddr[XB_ADDR-1:0]), .i_wdata(xb_wdata),
		.i_re(xb_re), .i_raddr(xb_raddr[XB_ADDR-1:0]), .o_rdata(xb_rdata)
	);

	wire unused = &{1'b0, xb_waddr, xb_raddr};
endmodule

`default_nettype wire
