// SPDX-License-Identifier: BSD-2-Clause
// fl_ctl - the owner of all contexts: it carries out one event at a time (a register access, a
// packet, a report of the read or the write channel), wholly, as the calls of the C engine do.
// The states bear the names of the C functions whose job they do, and stand in files as those:
//
//	fl_ctl.v		engine.c	what there is; reset; which event is next
//	fl_ctl_regs.vh		engine_regs.c	writes to registers
//	fl_ctl_tx.vh		engine_tx.c	transmit contexts, the read channel
//	fl_ctl_rx.vh		engine_rx.c	receive contexts, the peer table; engine_verdict.c
//	fl_ctl_write.vh		engine_write.c	the write channel
//	fl_ctl_answer.vh	engine_answer.c	what goes to fl_answer
//	fl_ctl_fault.vh		engine_fault.c	fault queue, READY, notes
//
// A state that works for several others goes on where its *_ret says; go_*() call it. What is a
// task of its own another module does; a state waits for its end: fl_answer (answers, cells),
// fl_cells (what has come of a block), fl_silent (whose context is taken away), fl_queue (notes,
// faults). fl_regs and fl_pick are combinational.
// Contexts and peers are arrays with one index each: tn and xn are the numbers of those that are
// being served, ti, xi and pi their places. Records of the trace are made in fl_ctl_trace.vh alone.
// rst is engine_reset(): generations, serial numbers and what is known of peers stay.
`default_nettype none
`include "regs.vh"
`include "fsm.vh"
`include "wire.vh"
`include "entries.vh"
`include "device.vh"
`include "fl_trace.vh"

module fl_ctl #(
	parameter NTX = 16,		// most transmit contexts, 4 to 16
	parameter NRXC = 32,		// most receive contexts, 1 to 32
	parameter BLOCK_LOG2 = 14,	// largest block, 12 to 16
	parameter NODES = 16		// peers, a power of two, 1 to 16
) (
	input  wire		clk,
	input  wire		rst,

	// straps: constant on a board
	input  wire [4:0]	i_contexts,	// 4 to NTX
	input  wire [5:0]	i_rx_contexts,	// 1 to NRXC
	input  wire [4:0]	i_block_log2,	// 12 to BLOCK_LOG2
	input  wire [3:0]	i_cell_log2,	// 6 to 12

	// state for others
	output reg		o_enabled,
	output wire		o_idle,	// nothing is being done and nothing can be done now
	output wire		o_irq_fault,
	output wire		o_irq_event,

	// registers: level until rq_done
	input  wire		rq_valid,
	input  wire		rq_write,
	input  wire [16:0]	rq_addr,
	input  wire [31:0]	rq_wdata,
	output wire		rq_done,
	output reg  [31:0]	rq_rdata,
	output wire		rq_bad,

	// packets in: level until pk_done
	input  wire		pk_valid,
	input  wire [1:0]	pk_kind,	// 0 bad, 1 block, 2 answer
	input  wire [2:0]	pk_why,
	input  wire [15:0]	pk_flen,
	input  wire [7:0]	pk_from,
	input  wire [7:0]	pk_opcode,
	input  wire [23:0]	pk_qp,
	input  wire [23:0]	pk_psn,
	input  wire [7:0]	pk_ctx,
	input  wire [15:0]	pk_gen,
	input  wire [7:0]	pk_attempt,
	input  wire [63:0]	pk_va,
	input  wire [31:0]	pk_rkey,
	input  wire [31:0]	pk_len,
	input  wire [31:0]	pk_offset,
	input  wire [63:0]	pk_left,
	input  wire [31:0]	pk_ref,
	input  wire [31:0]	pk_xfer,
	input  wire [31:0]	pk_block,
	input  wire [31:0]	pk_src,
	input  wire [12:0]	pk_plen,
	input  wire [7:0]	pk_code,
	input  wire [31:0]	pk_map,
	output wire		pk_done,
	output wire		st_req,	// copy the payload to this receive buffer
	output wire [4:0]	st_slot,
	input  wire		st_done,

	// packets out
	output wire		o_want,
	input  wire		i_room,
	input  wire		i_room_again,
	output wire		tp_start,
	output wire		tp_answer,
	output wire [3:0]	tp_to,
	output wire [7:0]	tp_opcode,
	output wire [23:0]	tp_qp,
	output wire [23:0]	tp_psn,
	output wire [7:0]	tp_ctx,
	output wire [15:0]	tp_gen,
	output wire [7:0]	tp_attempt,
	output wire [63:0]	tp_va,
	output wire [31:0]	tp_rkey,
	output wire [31:0]	tp_len,
	output wire [31:0]	tp_offset,
	output wire [63:0]	tp_left,
	output wire [31:0]	tp_ref,
	output wire [31:0]	tp_xfer,
	output wire [31:0]	tp_block,
	output wire [31:0]	tp_by,
	output wire [12:0]	tp_plen,
	output wire [7:0]	tp_code,
	output wire [31:0]	tp_map,
	output wire [16:0]	tp_src,
	input  wire		tp_busy,

	// read channel: level until re_ack
	input  wire		re_valid,
	input  wire [2:0]	re_kind,
	input  wire [31:0]	re_map,
	output wire		re_ack,
	output reg		re_ok,
	output reg		re_last,
	output wire [3:0]	rd_index,
	output wire [14:0]	rd_stream,
	output wire [63:0]	rd_lva,
	output wire [16:0]	rd_len,
	output wire		rd_ask,
	output reg		rd_dropped,
	output wire		ah_valid,	// whose turn is next, beside the one that it has
	output wire [3:0]	ah_index,
	output wire [14:0]	ah_stream,
	output wire [63:0]	ah_lva,
	output wire [16:0]	ah_len,
	output wire [15:0]	rd_ready,
	input  wire		rd_open,
	input  wire [3:0]	rd_of,	// the burst is of this context
	input  wire [63:0]	rd_va,
	input  wire [16:0]	rd_left,
	input  wire		i_rd_stalled,

	// write channel: level until we_ack
	input  wire		we_valid,
	input  wire [2:0]	we_kind,
	input  wire [31:0]	we_map,
	output wire		we_ack,
	output reg		we_ok,
	output wire [4:0]	wr_index,
	output wire [14:0]	wr_stream,
	output wire [63:0]	wr_va,
	output wire [16:0]	wr_len,
	output wire		wr_cancelled,
	input  wire		wr_open,
	// open, or AWVALID is up: nobody can stop it any more
	input  wire		wr_begun,
	input  wire [63:0]	wr_bva,
	input  wire [16:0]	wr_left,
	input  wire		i_wr_stalled,

	// trace, see fl_trace.vh
	output reg		trc_valid,
	output reg  [4:0]	trc_code,
	output reg  [7:0]	trc_index,
	output reg  [3:0]	trc_from,
	output reg  [3:0]	trc_event,
	output reg  [3:0]	trc_to,
	output reg  [7:0]	trc_node,
	output reg  [15:0]	trc_gen,
	output reg  [7:0]	trc_attempt,
	output reg  [31:0]	trc_xfer,
	output reg  [31:0]	trc_block,
	output reg  [63:0]	trc_a,
	output reg  [31:0]	trc_b
);

	localparam [1:0] PK_BAD = 0, PK_BLOCK = 1;
	localparam [2:0] RE_PICK = 0, RE_CELL = 1, RE_FAULTED = 2, RE_BUSERR = 3;
	localparam [2:0] WE_NEXT = 0, WE_LANDED = 1, WE_REFUSED = 2, WE_BUSERR = 3,
		WE_CANCELLED = 4;
	localparam [1:0] AN_FLUSH = 0, AN_ANSWER = 1, AN_CELL = 2;
	localparam [2:0] WIRE_HEADER = 4, WIRE_LENGTH = 5;	// enum wire_error
	localparam SW = NODES == 1 ? 4 : NODES == 2 ? 5 : NODES == 4 ? 6 : NODES == 8 ? 7 : 8;
	localparam SLOTS = 16 * NODES;	// contexts of all peers
	localparam TW = NTX > 8 ? 4 : NTX > 4 ? 3 : 2;
	localparam XW = NRXC > 16 ? 5 : NRXC > 8 ? 4 : NRXC > 4 ? 3 : NRXC > 2 ? 2 : 1;
	localparam T_ROWS = 1 << TW, X_ROWS = 1 << XW;	// rows of their arrays

	`include "fl_ctl_state.vh"

	// Transmit contexts: struct tx_ctx. An array's index is always ti, but for t_rxc.
	reg [3:0] tn;
	wire [TW-1:0] ti = tn[TW-1:0];
	reg [3:0] t_state [0:T_ROWS-1];
	reg [7:0] t_opcode [0:T_ROWS-1];
	reg [7:0] t_attempt [0:T_ROWS-1];
	reg [7:0] t_status [0:T_ROWS-1];
	reg [7:0] t_serial [0:T_ROWS-1];	// fault_serial
	reg [5:0] t_rxc [0:T_ROWS-1];		// READ: holds the answer; bit 5: none does
	reg t_asked [0:T_ROWS-1];
	reg t_early [0:T_ROWS-1];
	reg [3:0] t_early_event [0:T_ROWS-1];
	reg [7:0] t_early_code [0:T_ROWS-1];
	reg [15:0] t_gen [0:T_ROWS-1];
	// the last that a peer was sent, by its node and our context
	reg [15:0] s_gen [0:SLOTS-1];
	wire [7:0] s_place = {t_node[ti], tn};
	wire [SW-1:0] si = s_place[SW-1:0];
	wire [7:0] gen_past = t_gen[ti][7:0] - s_gen[si][7:0];
	wire [15:0] gen_next = s_gen[si] + 16'd1 + {8'd0, gen_past};
	reg [3:0] t_node [0:T_ROWS-1];
	reg [14:0] t_stream [0:T_ROWS-1];
	reg [23:0] t_qpn [0:T_ROWS-1];
	reg [16:0] t_len [0:T_ROWS-1];
	reg [31:0] t_rkey [0:T_ROWS-1];
	reg [31:0] t_ref [0:T_ROWS-1];
	reg [31:0] t_xfer [0:T_ROWS-1];
	reg [31:0] t_block [0:T_ROWS-1];
	reg [31:0] t_src [0:T_ROWS-1];
	reg [63:0] t_lva [0:T_ROWS-1];
	reg [63:0] t_rva [0:T_ROWS-1];
	reg [63:0] t_left [0:T_ROWS-1];
	reg [T_ROWS-1:0] ready;		// bit per context in READY

	// Receive contexts: struct rx_ctx. The index is always xi.
	reg [4:0] xn;
	wire [XW-1:0] xi = xn[XW-1:0];
	reg [3:0] x_state [0:X_ROWS-1];
	reg [7:0] x_opcode [0:X_ROWS-1];
	reg [3:0] x_node [0:X_ROWS-1];
	reg [3:0] x_ctx [0:X_ROWS-1];
	reg [7:0] x_attempt [0:X_ROWS-1];
	reg [7:0] x_serial [0:X_ROWS-1];
	reg [4:0] x_requester [0:X_ROWS-1];	// READ answer: its request; bit 4: none
	reg x_linked [0:X_ROWS-1];
	reg [15:0] x_gen [0:X_ROWS-1];
	reg [14:0] x_stream [0:X_ROWS-1];
	reg [23:0] x_qpn [0:X_ROWS-1];
	reg [16:0] x_len [0:X_ROWS-1];
	reg [31:0] x_rkey [0:X_ROWS-1];
	reg [31:0] x_ref [0:X_ROWS-1];
	reg [31:0] x_xfer [0:X_ROWS-1];
	reg [31:0] x_block [0:X_ROWS-1];
	reg [31:0] x_src [0:X_ROWS-1];
	reg [63:0] x_va [0:X_ROWS-1];
	reg [63:0] x_left [0:X_ROWS-1];
	reg [31:0] x_map [0:X_ROWS-1];
	reg [X_ROWS-1:0] cancelled;		// bit per context: write no more of it
	reg [X_ROWS-1:0] free;		// bit per context in FREE

	wire [31:0] block_bytes = 32'd1 << i_block_log2;
	wire [31:0] cell_bytes = 32'd1 << i_cell_log2;

	// What is known of each context of each peer: struct peer. The index is always pi.
	reg [SW-1:0] pi;
	reg p_valid [0:SLOTS-1];
	reg p_done [0:SLOTS-1];
	reg p_over [0:SLOTS-1];
	reg [7:0] p_attempt [0:SLOTS-1];
	reg [15:0] p_gen [0:SLOTS-1];
	reg [5:0] p_rxc [0:SLOTS-1];	// collects this attempt; bit 5: none does

	// The channels: struct channel, without the bursts.
	reg rd_busy;			// it has a context
	reg [3:0] rd_ctx;		// and that is the one, or was the last one
	reg [16:0] rd_sent;		// bytes of it that have left
	reg wr_busy;
	reg [4:0] wr_ctx;
	reg [4:0] write_fifo [0:X_ROWS-1];	// contexts in WRITE, oldest first
	reg [XW-1:0] write_head;
	reg [XW:0] write_count;

	// Registers of the states that work for others; see the states.
	reg [6:0] step, tm_ret, rm_ret, re_ret, nt_ret, an_ret, ap_ret, ws_ret, st_ret, fq_ret;
	reg [3:0] tm_event, rm_event, ap_event, re_event;
	reg tm_late;			// the write channel has the answer of this READ
	reg [7:0] ap_code, re_wop, re_code;
	reg [4:0] requester;		// as x_requester, kept beyond the end of the context
	reg late;			// a note that waits for the end of a burst
	reg [3:0] late_index;
	reg [7:0] late_serial;
	reg [7:0] nt_kind;
	reg [4:0] nt_index;
	reg [7:0] nt_serial;
	reg side;			// of a fault
	reg [2:0] why;			// enum wire_error
	reg [7:0] an_opcode, an_attempt, an_code;
	reg [3:0] an_node, an_ctx, an_event;
	reg [15:0] an_gen;
	reg [31:0] an_map, an_xfer, an_block;
	reg [7:0] count;		// reset: contexts that were cleared
	reg irq_enable;
	integer n;

	`include "fsm_next.vh"
	// The register window.
	wire g_eng, g_ctx, g_rxc, g_exists, g_write_ok;
	wire [4:0] g_index;
	wire [11:0] g_offset;
	wire [31:0] g_rdata;
	wire [6:0] fq_count;
	wire [7:0] nq_count;
	wire nq_done, fq_done;
	wire [20:0] nq_head;
	wire [269:0] fq_head;

	fl_regs regs (
		.addr(rq_addr), .wdata(rq_wdata), .eng(g_eng), .ctx(g_ctx), .rxc(g_rxc),
		.index(g_index), .offset(g_offset), .exists(g_exists), .write_ok(g_write_ok),
		.rdata(g_rdata), .i_contexts(i_contexts), .i_rx_contexts(i_rx_contexts),
		.i_block_log2(i_block_log2), .enabled(o_enabled), .irq_enable(irq_enable),
		.fq_count(fq_count), .fq_side(fq_head[269]), .fq_index(fq_head[268:264]),
		.fq_serial(fq_head[263:256]), .fq_stream(fq_head[255:241]),
		.fq_va(fq_head[240:177]),
		.fq_len(fq_head[176:160]), .fq_map(fq_head[159:128]), .fq_left(fq_head[127:64]),
		.fq_xfer(fq_head[63:32]), .fq_block(fq_head[31:0]),
		.nq_valid(nq_count != 8'd0), .nq_kind(nq_head[20:13]), .nq_index(nq_head[12:8]),
		.nq_serial(nq_head[7:0]),
		.rd_open(rd_open), .rd_stalled(i_rd_stalled), .rd_ctx(rd_of), .rd_va(rd_va),
		.rd_left(rd_left), .wr_open(wr_open), .wr_stalled(i_wr_stalled), .wr_ctx(wr_ctx),
		.wr_va(wr_bva), .wr_left(wr_left),
		.t_state(t_state[ti]), .t_attempt(t_attempt[ti]), .t_status(t_status[ti]),
		.t_node(t_node[ti]), .t_qpn(t_qpn[ti]), .t_stream(t_stream[ti]), .t_lva(t_lva[ti]),
		.t_rva(t_rva[ti]), .t_len(t_len[ti]), .t_rkey(t_rkey[ti]), .t_left(t_left[ti]),
		.t_ref(t_ref[ti]), .t_src(t_src[ti]), .t_xfer(t_xfer[ti]), .t_block(t_block[ti]),
		.t_gen(t_gen[ti]),
		.x_state(x_state[xi]), .x_attempt(x_attempt[xi]), .x_node(x_node[xi]),
		.x_ctx(x_ctx[xi]), .x_gen(x_gen[xi]), .x_qpn(x_qpn[xi]), .x_opcode(x_opcode[xi]),
		.x_va(x_va[xi]), .x_len(x_len[xi]), .x_rkey(x_rkey[xi]), .x_left(x_left[xi]),
		.x_xfer(x_xfer[xi]), .x_block(x_block[xi]), .x_ref(x_ref[xi]), .x_src(x_src[xi])
	);

	fl_queue #(.WIDTH(21), .KEY(13), .LOG2(7), .KEEP(0)) notes (
		.clk(clk), .rst(rst), .push(step == NOTE_POST),
		.entry({nt_kind, nt_index, nt_serial}),
		.done(nq_done),
		.pop(step == REG_READ && g_eng && g_offset == `NIC_ENG_EVT_POP && nq_count != 8'd0),
		.head(nq_head), .count(nq_count)
	);

	// side, index, serial, stream, va, len, map, left, xfer, block
	fl_queue #(.WIDTH(270), .KEY(6), .LOG2(6), .KEEP(1)) faults (
		.clk(clk), .rst(rst), .push(step == FAULT_PUSH),
		.entry(side ? {1'b1, xn, x_serial[xi], x_stream[xi], x_va[xi], x_len[xi], x_map[xi],
			   x_left[xi], x_xfer[xi], x_block[xi]} :
			  {2'b00, tn, t_serial[ti], t_stream[ti], t_lva[ti], t_len[ti], re_map,
			   t_left[ti], t_xfer[ti], t_block[ti]}),
		.done(fq_done),
		.pop(step == FAULT_POP && fq_count != 7'd0), .head(fq_head), .count(fq_count)
	);

	// Whom the read channel serves next.
	wire ready_any;
	wire [3:0] ready_next;
	wire [TW-1:0] ah = ready_next[TW-1:0];

	fl_pick #(.N(T_ROWS), .W(4)) sched (
		.ready(ready), .last(rd_ctx), .any(ready_any), .index(ready_next)
	);

	// Answers and cells.
	wire an_valid = step == ANSWER_FLUSH || step == ANSWER_POST || step == SEND_CELL;
	wire [1:0] an_kind = step == SEND_CELL ? AN_CELL : step == ANSWER_POST ? AN_ANSWER :
			     AN_FLUSH;
	wire an_done, an_ok, an_sends, an_waits, an_waited, flush_now, flush_taken;
	wire [12:0] c_plen;

	fl_answer #(.NODES(NODES)) packets (
		.clk(clk), .rst(rst), .i_enabled(o_enabled), .an_valid(an_valid),
		.an_kind(an_kind), .an_done(an_done), .an_ok(an_ok), .o_flush(flush_now),
		.i_flush(flush_taken),
		.an_node(an_node), .an_ctx(an_ctx),
		.an_what({an_opcode, an_gen, an_attempt, an_code, an_map, an_xfer, an_block}),
		.c_to(t_node[ti]), .c_opcode(t_opcode[ti]), .c_qp(t_qpn[ti]),
		.c_psn({7'd0, rd_sent >> i_cell_log2}), .c_ctx({4'd0, tn}), .c_gen(t_gen[ti]),
		.c_attempt(t_attempt[ti]), .c_va(t_rva[ti]),
		.c_rkey(t_opcode[ti] == `WOP_READ_RESP ? 32'd0 : t_rkey[ti]),
		.c_len({15'd0, t_len[ti]}), .c_offset({15'd0, rd_sent}), .c_left(t_left[ti]),
		.c_ref(t_ref[ti]), .c_xfer(t_xfer[ti]), .c_block(t_block[ti]),
		.c_by(t_src[ti]), .c_plen(c_plen),
		.c_src({13'd0, t_lva[ti][3:0]} + rd_sent),
		.o_want(o_want), .i_room(i_room), .i_room_again(i_room_again),
		.tp_start(tp_start), .tp_answer(tp_answer), .tp_to(tp_to),
		.tp_opcode(tp_opcode), .tp_qp(tp_qp), .tp_psn(tp_psn), .tp_ctx(tp_ctx),
		.tp_gen(tp_gen), .tp_attempt(tp_attempt), .tp_va(tp_va), .tp_rkey(tp_rkey),
		.tp_len(tp_len), .tp_offset(tp_offset), .tp_left(tp_left), .tp_ref(tp_ref),
		.tp_xfer(tp_xfer), .tp_block(tp_block), .tp_by(tp_by), .tp_plen(tp_plen),
		.tp_code(tp_code), .tp_map(tp_map), .tp_src(tp_src), .tp_busy(tp_busy),
		.o_sends(an_sends), .o_waits(an_waits), .o_waited(an_waited)
	);

	// What has come of the block of a receive context.
	wire cl_done, cl_stored, x_full;

	fl_cells #(.NRXC(NRXC), .BLOCK_LOG2(BLOCK_LOG2)) collected (
		.clk(clk), .rst(rst), .index(xn), .o_full(x_full),
		.cl_valid(step == FILL_CLEAR || step == STORE_CELL),
		.cl_clear(step == FILL_CLEAR),
		.cl_cells(pk_opcode == `WOP_READ_REQ ? 11'd0 : cells[10:0]),
		.cl_cell(pk_cell[9:0]), .cl_empty(pk_plen == 13'd0), .cl_done(cl_done),
		.cl_stored(cl_stored), .st_req(st_req), .st_done(st_done)
	);

	// Whose context is taken away when none is free.
	wire si_done, si_found;
	wire [4:0] si_index, si_look;

	fl_silent #(.NRXC(NRXC)) reclaim (
		.clk(clk), .rst(rst), .i_rx_contexts(i_rx_contexts),
		.heard(step == FILL || step == STORE_CELL), .index(xn),
		.si_valid(step == RX_RECLAIM), .si_done(si_done), .si_found(si_found),
		.si_index(si_index), .si_look(si_look),
		.si_may(x_state[si_look[XW-1:0]] == `FL_RX_COLLECT)
	);

	`include "fl_ctl_look.vh"

	// Which event is carried out next: each in turn, so that nobody starves.
	localparam [2:0] EV_REG = 0, EV_PACKET = 1, EV_WRITE = 2, EV_READ = 3, EV_LATE = 7;
	reg [2:0] served;
	wire served_any;
	wire [2:0] served_next;
	wire late_now = late && !wr_begun;
	wire write_now = we_valid && (o_enabled || we_kind != WE_CANCELLED);
	wire [4:0] waiting = {flush_now, re_valid, write_now, pk_valid, rq_valid};

	fl_pick #(.N(5), .W(3)) events (
		.ready(waiting), .last(served),
		.any(served_any), .index(served_next)
	);

	`include "fl_ctl_trace.vh"
	`include "fl_ctl_task.vh"

	assign flush_taken = step == IDLE && !late_now && served_any && served_next == 3'd4;
	assign o_idle = step == IDLE && !served_any && !late_now && !trc_valid;
	assign o_irq_fault = irq_enable && fq_count != 7'd0;
	assign o_irq_event = nq_count != 8'd0;
	assign rq_done = step == REG_DONE || step == REG_NONE;
	assign rq_bad = step == REG_NONE;
	assign pk_done = step == PACKET_DONE;
	assign re_ack = step == READ_DONE;
	assign we_ack = step == WRITE_DONE;
	assign st_slot = xn;
	assign rd_index = tn;
	assign rd_stream = t_stream[ti];
	assign rd_lva = t_lva[ti];
	assign rd_len = t_len[ti];
	assign rd_ask = t_opcode[ti] == `WOP_READ_REQ;
	assign ah_valid = ready_any && ready_next != rd_ctx && t_opcode[ah] != `WOP_READ_REQ;
	assign ah_index = ready_next;
	assign ah_stream = t_stream[ah];
	assign ah_lva = t_lva[ah];
	assign ah_len = t_len[ah];
	assign rd_ready = {{16 - T_ROWS{1'b0}}, ready};
	assign wr_index = xn;
	assign wr_stream = x_stream[xi];
	assign wr_va = x_va[xi];
	assign wr_len = x_len[xi];
	assign wr_cancelled = wr_busy && cancelled[wr_ctx[XW-1:0]];

	always @(posedge clk)
		if (rst) begin
			step <= RESET;
			count <= 0;
			o_enabled <= 1'b0;
			irq_enable <= 1'b0;
			ready <= 0;
			free <= 0;
			cancelled <= 0;
			rd_busy <= 1'b0;
			rd_dropped <= 1'b0;
			rd_sent <= 17'd0;
			wr_busy <= 1'b0;
			write_head <= 0;
			write_count <= 0;
			late <= 1'b0;
			trc_valid <= 1'b0;
			served <= 3'd0;
			tn <= 4'd0;
			xn <= 5'd0;
			pi <= 0;
		end else begin
			trc_valid <= 1'b0;
			case (step)
			RESET: begin
				reset_context;
				tn <= tn + 1'b1;
				xn <= xn + 1'b1;
				pi <= pi + 1'b1;
				rd_ctx <= i_contexts[3:0] - 4'd1;
				count <= count + 1'b1;
				free[xi] <= {{6 - XW{1'b0}}, xi} < i_rx_contexts;
				if (&count)
					step <= IDLE;
			end
			IDLE: begin
				pi <= pk_place[SW-1:0];
				if (late_now) begin
					trace_served(EV_LATE);
					late <= 1'b0;
					go_note(`FL_NOTE_TX_DONE, {1'b0, late_index}, late_serial,
						IDLE);
				end else if (served_any) begin
					trace_served(served_next);
					served <= served_next;
					case (served_next)
					EV_REG: begin
						tn <= g_ctx ? g_index[3:0] : g_ready ?
							ready_index[3:0] : rd_of;
						xn <= g_rxc ? g_index : g_ready ?
							ready_index[4:0] : wr_ctx;
						step <= rq_write ? REG_WRITE : REG_READ;
					end
					EV_PACKET: begin
						tn <= pk_ctx[3:0];
						step <= RECEIVE;
					end
					EV_WRITE: begin
						xn <= wr_ctx;
						step <= WRITE_STEP;
					end
					EV_READ: begin
						tn <= rd_ctx;
						step <= READ_STEP;
					end
					default: go_flush(IDLE);
					endcase
				end
			end
			`include "fl_ctl_regs.vh"
			`include "fl_ctl_tx.vh"
			`include "fl_ctl_rx.vh"
			`include "fl_ctl_write.vh"
			`include "fl_ctl_answer.vh"
			`include "fl_ctl_fault.vh"
			default: step <= IDLE;
			endcase
		end

	// What outlives a reset.
	initial begin
		for (n = 0; n < T_ROWS; n = n + 1) begin
			t_gen[n] = 16'd0;
			t_serial[n] = 8'd0;
		end
		for (n = 0; n < X_ROWS; n = n + 1)
			x_serial[n] = 8'd0;
		for (n = 0; n < SLOTS; n = n + 1) begin
			p_valid[n] = 1'b0;
			p_done[n] = 1'b0;
			p_over[n] = 1'b0;
			p_attempt[n] = 8'd0;
			p_gen[n] = 16'd0;
			s_gen[n] = 16'd0;
		end
		if (NTX < 4 || NTX > 16 || NRXC < 1 || NRXC > 32 || BLOCK_LOG2 < 12 ||
			BLOCK_LOG2 > 16 || 1 << (SW - 4) != NODES) begin
			$display("fl_ctl: NTX 4-16, NRXC 1-32, BLOCK_LOG2 12-16, NODES 1-16");
			$finish(0);
		end
	end

endmodule

`default_nettype wire
