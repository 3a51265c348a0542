// SPDX-License-Identifier: BSD-2-Clause
// fl_regs - decode of the register window (regs.def, pages ENG, CTX, RXC), as engine_regs.c does:
// which word exists, what it reads as, which bits of it may be written. Combinational. What a
// write does stands in fl_ctl_regs.vh. A 64-bit register is two words, the lower one first.
`default_nettype none
`include "regs.vh"
`include "fsm.vh"
`include "device.vh"

module fl_regs (
	// the access
	input  wire [16:0]	addr,	// of a word; from the start of the NIC window
	input  wire [31:0]	wdata,
	output wire		eng,	// which page
	output wire		ctx,
	output wire		rxc,
	output wire [4:0]	index,	// context, on the pages CTX and RXC
	output wire [11:0]	offset,	// in the page, or in the context
	output reg		exists,	// there is a register
	output wire		write_ok,	// it may be written, and every bit that is 1 exists
	output reg  [31:0]	rdata,

	// what was built, and switches
	input  wire [4:0]	i_contexts,
	input  wire [5:0]	i_rx_contexts,
	input  wire [4:0]	i_block_log2,
	input  wire		enabled,
	input  wire		irq_enable,

	// head of the fault queue
	input  wire [6:0]	fq_count,
	input  wire		fq_side,
	input  wire [4:0]	fq_index,
	input  wire [7:0]	fq_serial,
	input  wire [14:0]	fq_stream,
	input  wire [63:0]	fq_va,
	input  wire [16:0]	fq_len,
	input  wire [31:0]	fq_map,
	input  wire [63:0]	fq_left,
	input  wire [31:0]	fq_xfer,
	input  wire [31:0]	fq_block,

	// head of the notes
	input  wire		nq_valid,
	input  wire [7:0]	nq_kind,
	input  wire [4:0]	nq_index,
	input  wire [7:0]	nq_serial,

	// bursts under way
	input  wire		rd_open,
	input  wire		rd_stalled,
	input  wire [3:0]	rd_ctx,
	input  wire [63:0]	rd_va,
	input  wire [16:0]	rd_left,
	input  wire		wr_open,
	input  wire		wr_stalled,
	input  wire [4:0]	wr_ctx,
	input  wire [63:0]	wr_va,
	input  wire [16:0]	wr_left,

	// the transmit context: index, or (page ENG) the one of the read channel
	input  wire [3:0]	t_state,
	input  wire [7:0]	t_attempt,
	input  wire [7:0]	t_status,
	input  wire [3:0]	t_node,
	input  wire [23:0]	t_qpn,
	input  wire [14:0]	t_stream,
	input  wire [63:0]	t_lva,
	input  wire [63:0]	t_rva,
	input  wire [16:0]	t_len,
	input  wire [31:0]	t_rkey,
	input  wire [63:0]	t_left,
	input  wire [31:0]	t_ref,
	input  wire [31:0]	t_src,
	input  wire [31:0]	t_xfer,
	input  wire [31:0]	t_block,
	input  wire [15:0]	t_gen,

	// the receive context: index, or (page ENG) the one of the write channel
	input  wire [3:0]	x_state,
	input  wire [7:0]	x_attempt,
	input  wire [3:0]	x_node,
	input  wire [3:0]	x_ctx,
	input  wire [15:0]	x_gen,
	input  wire [23:0]	x_qpn,
	input  wire [7:0]	x_opcode,
	input  wire [63:0]	x_va,
	input  wire [16:0]	x_len,
	input  wire [31:0]	x_rkey,
	input  wire [63:0]	x_left,
	input  wire [31:0]	x_xfer,
	input  wire [31:0]	x_block,
	input  wire [31:0]	x_ref,
	input  wire [31:0]	x_src
);

	reg [31:0] mask;		// bits that may be written; 0: read-only

	wire [31:0] page = {15'd0, addr[16:11], 11'd0};	// 2 KB: CTX and RXC fill one each
	wire inside = {15'd0, addr} < `NIC_FW_BASE && addr[1:0] == 2'd0;
	wire [31:0] now_rd = {31'd0, rd_open} << `NIC_ENG_RD_STATUS_BUSY_LSB |
			     {31'd0, rd_stalled} << `NIC_ENG_RD_STATUS_STALLED_LSB |
			     {28'd0, rd_ctx} << `NIC_ENG_RD_STATUS_INDEX_LSB;
	wire [31:0] now_wr = {31'd0, wr_open} << `NIC_ENG_WR_STATUS_BUSY_LSB |
			     {31'd0, wr_stalled} << `NIC_ENG_WR_STATUS_STALLED_LSB |
			     {27'd0, wr_ctx} << `NIC_ENG_WR_STATUS_INDEX_LSB;

	assign ctx = inside && page == `NIC_CTX_BASE && {1'b0, addr[10:7]} < i_contexts;
	assign rxc = inside && page == `NIC_RXC_BASE && {1'b0, addr[10:6]} < i_rx_contexts;
	assign eng = inside && {15'd0, addr} < `NIC_CTX_BASE;
	assign index = ctx ? {1'b0, addr[10:7]} : addr[10:6];
	assign offset = eng ? addr[11:0] : ctx ? {5'd0, addr[6:0]} : {6'd0, addr[5:0]};
	assign write_ok = exists && mask != 32'd0 && (wdata & ~mask) == 32'd0;

	// The bits of one field.
	function [31:0] bits;
		input integer msb;
		input integer lsb;
		bits = (32'hFFFFFFFF >> (31 - msb)) & (32'hFFFFFFFF << lsb);
	endfunction

	// Zeros while there is no fault, and while there is no burst.
	function [31:0] when;
		input there;
		input [31:0] value;
		when = there ? value : 32'd0;
	endfunction

	wire fault = fq_count != 7'd0;

	always @* begin
		exists = 1'b1;
		mask = 32'd0;
		rdata = 32'd0;
		if (eng)
			case (offset)
			`NIC_ENG_ID: rdata = `NIC_ENG_ID_RESET;
			`NIC_ENG_PARAM:
				rdata = {27'd0, i_contexts} << `NIC_ENG_PARAM_NCTX_LSB |
					{26'd0, i_rx_contexts} << `NIC_ENG_PARAM_NRXC_LSB |
					{27'd0, i_block_log2} << `NIC_ENG_PARAM_BLOCK_LOG2_LSB |
					32'd1 << `NIC_ENG_PARAM_VERSION_LSB;
			`NIC_ENG_CTRL: begin
				mask = bits(`NIC_ENG_CTRL_ENABLE_MSB, `NIC_ENG_CTRL_ENABLE_LSB);
				rdata = {31'd0, enabled} << `NIC_ENG_CTRL_ENABLE_LSB;
			end
			`NIC_ENG_IRQ_STATUS:
				rdata = {31'd0, fault} << `NIC_ENG_IRQ_STATUS_FAULT_LSB;
			`NIC_ENG_IRQ_ENABLE: begin
				mask = bits(`NIC_ENG_IRQ_ENABLE_FAULT_MSB,
					    `NIC_ENG_IRQ_ENABLE_FAULT_LSB);
				rdata = {31'd0, irq_enable} << `NIC_ENG_IRQ_ENABLE_FAULT_LSB;
			end
			`NIC_ENG_FLT_COUNT: rdata = {25'd0, fq_count};
			`NIC_ENG_FLT_REF:
				rdata = when(fault,
					{27'd0, fq_index} << `NIC_ENG_FLT_REF_INDEX_LSB |
					{31'd0, fq_side} << `NIC_ENG_FLT_REF_SIDE_LSB |
					{31'd0, fq_side} << `NIC_ENG_FLT_REF_WRITE_LSB |
					{24'd0, fq_serial} << `NIC_ENG_FLT_REF_SERIAL_LSB |
					32'd1 << `NIC_ENG_FLT_REF_VALID_LSB);
			`NIC_ENG_FLT_STREAM: rdata = when(fault, {17'd0, fq_stream});
			`NIC_ENG_FLT_VA: rdata = when(fault, fq_va[31:0]);
			`NIC_ENG_FLT_VA + 12'd4: rdata = when(fault, fq_va[63:32]);
			`NIC_ENG_FLT_LEN: rdata = when(fault,
						       {15'd0, fq_len} - {31'd0, `DEV_ERR_LEN});
			`NIC_ENG_FLT_MAP: rdata = when(fault, fq_map);
			`NIC_ENG_FLT_LEFT: rdata = when(fault, fq_left[31:0]);
			`NIC_ENG_FLT_LEFT + 12'd4: rdata = when(fault, fq_left[63:32]);
			`NIC_ENG_FLT_XFER: rdata = when(fault, fq_xfer);
			`NIC_ENG_FLT_BLOCK: rdata = when(fault, fq_block);
			`NIC_ENG_FLT_POP: mask = 32'hFFFFFFFF;
			`NIC_ENG_READY:
				mask = bits(`NIC_ENG_READY_INDEX_MSB, `NIC_ENG_READY_INDEX_LSB) |
				       bits(`NIC_ENG_READY_SIDE_MSB, `NIC_ENG_READY_SIDE_LSB) |
				       bits(`NIC_ENG_READY_CODE_MSB, `NIC_ENG_READY_CODE_LSB) |
				       bits(`NIC_ENG_READY_SERIAL_MSB, `NIC_ENG_READY_SERIAL_LSB);
			`NIC_ENG_RD_STATUS: rdata = when(rd_open, now_rd);
			`NIC_ENG_RD_VA: rdata = when(rd_open, rd_va[31:0]);
			`NIC_ENG_RD_VA + 12'd4: rdata = when(rd_open, rd_va[63:32]);
			`NIC_ENG_RD_LEFT: rdata = when(rd_open, {15'd0, rd_left});
			`NIC_ENG_RD_XFER_LEFT: rdata = when(rd_open, t_left[31:0]);
			`NIC_ENG_RD_XFER_LEFT + 12'd4: rdata = when(rd_open, t_left[63:32]);
			`NIC_ENG_WR_STATUS: rdata = when(wr_open, now_wr);
			`NIC_ENG_WR_VA: rdata = when(wr_open, wr_va[31:0]);
			`NIC_ENG_WR_VA + 12'd4: rdata = when(wr_open, wr_va[63:32]);
			`NIC_ENG_WR_LEFT: rdata = when(wr_open, {15'd0, wr_left});
			`NIC_ENG_WR_XFER_LEFT: rdata = when(wr_open, x_left[31:0]);
			`NIC_ENG_WR_XFER_LEFT + 12'd4: rdata = when(wr_open, x_left[63:32]);
			`NIC_ENG_EVT_POP:
				rdata = when(nq_valid,
					{24'd0, nq_kind} << `NIC_ENG_EVT_POP_KIND_LSB |
					{27'd0, nq_index} << `NIC_ENG_EVT_POP_INDEX_LSB |
					{24'd0, nq_serial} << `NIC_ENG_EVT_POP_SERIAL_LSB |
					32'd1 << `NIC_ENG_EVT_POP_VALID_LSB);
			default: exists = 1'b0;
			endcase
		else if (ctx)
			case (offset)
			`NIC_CTX_CTRL:
				mask = bits(`NIC_CTX_CTRL_OP_MSB, `NIC_CTX_CTRL_OP_LSB) |
				       bits(`NIC_CTX_CTRL_GO_MSB, `NIC_CTX_CTRL_GO_LSB) |
				       bits(`NIC_CTX_CTRL_RELEASE_MSB, `NIC_CTX_CTRL_RELEASE_LSB) |
				       bits(`NIC_CTX_CTRL_EXPIRE_MSB, `NIC_CTX_CTRL_EXPIRE_LSB) |
				       bits(`NIC_CTX_CTRL_KILL_MSB, `NIC_CTX_CTRL_KILL_LSB) |
				       bits(`NIC_CTX_CTRL_CODE_MSB, `NIC_CTX_CTRL_CODE_LSB);
			`NIC_CTX_STATE:
				rdata = {28'd0, t_state} << `NIC_CTX_STATE_STATE_LSB |
					{24'd0, t_attempt} << `NIC_CTX_STATE_ATTEMPT_LSB |
					{24'd0, t_status} << `NIC_CTX_STATE_STATUS_LSB;
			`NIC_CTX_DST: begin
				mask = bits(`NIC_CTX_DST_NODE_MSB, `NIC_CTX_DST_NODE_LSB) |
				       bits(`NIC_CTX_DST_QPN_MSB, `NIC_CTX_DST_QPN_LSB);
				rdata = {28'd0, t_node} << `NIC_CTX_DST_NODE_LSB |
					{8'd0, t_qpn} << `NIC_CTX_DST_QPN_LSB;
			end
			`NIC_CTX_STREAM: begin
				mask = 32'h7FFF;
				rdata = {17'd0, t_stream};
			end
			`NIC_CTX_GEN: rdata = {16'd0, t_gen};
			default: begin
				mask = 32'hFFFFFFFF;
				case (offset)
				`NIC_CTX_LVA: rdata = t_lva[31:0];
				`NIC_CTX_LVA + 12'd4: rdata = t_lva[63:32];
				`NIC_CTX_RVA: rdata = t_rva[31:0];
				`NIC_CTX_RVA + 12'd4: rdata = t_rva[63:32];
				`NIC_CTX_LEN: rdata = {15'd0, t_len};
				`NIC_CTX_RKEY: rdata = t_rkey;
				`NIC_CTX_LEFT: rdata = t_left[31:0];
				`NIC_CTX_LEFT + 12'd4: rdata = t_left[63:32];
				`NIC_CTX_REF: rdata = t_ref;
				`NIC_CTX_XFER: rdata = t_xfer;
				`NIC_CTX_BLOCK: rdata = t_block;
				`NIC_CTX_SRC: rdata = t_src;
				default: exists = 1'b0;
				endcase
			end
			endcase
		else if (rxc)
			case (offset)
			`NIC_RXC_VERDICT:
				mask = bits(`NIC_RXC_VERDICT_CODE_MSB, `NIC_RXC_VERDICT_CODE_LSB) |
				       bits(`NIC_RXC_VERDICT_SERIAL_MSB,
					    `NIC_RXC_VERDICT_SERIAL_LSB) |
				       bits(`NIC_RXC_VERDICT_STREAM_MSB,
					    `NIC_RXC_VERDICT_STREAM_LSB);
			`NIC_RXC_STATE:
				rdata = {28'd0, x_state} << `NIC_RXC_STATE_STATE_LSB |
					{24'd0, x_attempt} << `NIC_RXC_STATE_ATTEMPT_LSB;
			`NIC_RXC_SRC:
				rdata = {28'd0, x_node} << `NIC_RXC_SRC_NODE_LSB |
					{8'd0, x_qpn} << `NIC_RXC_SRC_QPN_LSB;
			`NIC_RXC_OP: rdata = {24'd0, x_opcode};
			`NIC_RXC_VA: rdata = x_va[31:0];
			`NIC_RXC_VA + 12'd4: rdata = x_va[63:32];
			`NIC_RXC_LEN: rdata = {15'd0, x_len};
			`NIC_RXC_RKEY: rdata = x_rkey;
			`NIC_RXC_LEFT: rdata = x_left[31:0];
			`NIC_RXC_LEFT + 12'd4: rdata = x_left[63:32];
			`NIC_RXC_WORD: rdata = {4'd0, x_ctx, x_gen, x_attempt};
			`NIC_RXC_XFER: rdata = x_xfer;
			`NIC_RXC_BLOCK: rdata = x_block;
			`NIC_RXC_REF: rdata = x_ref;
			`NIC_RXC_FROM: rdata = x_src;
			default: exists = 1'b0;
			endcase
		else
			exists = 1'b0;
	end

endmodule

`default_nettype wire
