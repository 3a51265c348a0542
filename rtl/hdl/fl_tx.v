// SPDX-License-Identifier: BSD-2-Clause
// fl_tx - packets out: a cell from the read buffer, or an answer, with its ICRC.
//
// wire_put_block() and wire_put_answer() of emu/nic/wire.c. A packet is BTH (12 bytes), a body
// (header and payload) and the ICRC (4). The body is taken in words of 16 bytes, so that a
// beat is the last 12 bytes of the word before and the first 4 of this one. The payload of a
// cell may begin on any lane of the read buffer: each word of it comes from two.
`default_nettype none
`include "wire.vh"

module fl_tx #(
	parameter BLOCK_LOG2 = 14
) (
	input  wire		clk,
	input  wire		rst,
	input  wire [3:0]	i_node,
	input  wire		i_icrc,		// 0: four zeros in its place
	output wire		o_moving,	// something changes without an input

	// what to send; looked at with tp_start only
	input  wire		tp_start,	// not while tp_busy
	output wire		tp_busy,	// until the last beat was taken
	input  wire		tp_answer,	// an answer, not a cell
	input  wire [3:0]	tp_to,
	input  wire [7:0]	tp_opcode,
	input  wire [23:0]	tp_qp,
	input  wire [23:0]	tp_psn,
	input  wire [7:0]	tp_ctx,
	input  wire [15:0]	tp_gen,
	input  wire [7:0]	tp_attempt,
	input  wire [63:0]	tp_va,
	input  wire [31:0]	tp_rkey,
	input  wire [31:0]	tp_len,
	input  wire [31:0]	tp_offset,
	input  wire [63:0]	tp_left,
	input  wire [31:0]	tp_ref,
	input  wire [31:0]	tp_xfer,
	input  wire [31:0]	tp_block,
	input  wire [31:0]	tp_by,		// who sends: CTX.SRC
	input  wire [12:0]	tp_plen,	// bytes of payload, 0 to 4096
	input  wire [7:0]	tp_code,
	input  wire [31:0]	tp_map,
	input  wire [16:0]	tp_src,		// byte of the read buffer: the payload's first

	// read buffer
	output wire		rb_re,
	output wire [BLOCK_LOG2-4:0] rb_raddr,
	input  wire [127:0]	rb_rdata,

	output reg  [127:0]	m_axis_tdata,
	output reg  [15:0]	m_axis_tkeep,
	output reg		m_axis_tlast,
	output wire [7:0]	m_axis_tid,	// who sends
	output wire [7:0]	m_axis_tdest,	// to whom
	output reg		m_axis_tvalid,
	input  wire		m_axis_tready
);
	localparam HDR = 8 * `WIRE_BLK_BYTES;	// the longer of the two headers
	localparam ANS = HDR - 8 * `WIRE_ANS_BYTES;	// bits of it that an answer leaves

	localparam [2:0] IDLE = 3'd0,
		SEED = 3'd1,			// seed of the ICRC; the first words of payload
		BODY = 3'd2,			// whole words
		REST = 3'd3,			// ICRC of a last word that is not whole
		LAST = 3'd4,			// what is left, and the ICRC: first beat
		OVER = 3'd5,			// and second beat, if they do not fit in one
		SETTLE = 3'd6;			// before LAST: the ICRC of what came last

	reg [2:0] state;
	reg [3:0] to;
	reg [95:0] bth;			// first byte on top, as wire.vh has it
	reg [HDR-1:0] header;
	reg [15:0] ip_len, udp_len;	// for the ICRC
	reg [8:0] whole;		// whole words of the body
	reg [3:0] rest;			// bytes after them
	reg [8:0] number;		// of the word of the body, or of the seed
	reg [3:0] done;			// REST: bytes that are in the ICRC
	reg [BLOCK_LOG2-4:0] at;	// next word of the read buffer; at - 1 is in rb_rdata
	reg [127:0] before;		// and at - 2 here
	reg [3:0] turn;			// lane of the read buffer where the payload begins
	reg [95:0] carry;		// bytes that still have to go
	reg [119:0] over;

	initial if (BLOCK_LOG2 < 12 || BLOCK_LOG2 > 16) begin
		$display("fl_tx: BLOCK_LOG2 is 12 to 16");
		$finish(0);
	end

	// First byte on top -> first byte on lane 0.
	function [127:0] lanes;
		input [127:0] v;
		integer i;
		for (i = 0; i < 16; i = i + 1)
			lanes[8 * i +: 8] = v[8 * (15 - i) +: 8];
	endfunction

	reg [95:0] bth_in;
	reg [HDR-1:0] header_in;
	reg [8*`WIRE_ANS_BYTES-1:0] answer_in;

	always @* begin
		bth_in = 0;
		bth_in[`WIRE_BTH_OPCODE_MSB:`WIRE_BTH_OPCODE_LSB] = tp_opcode;
		bth_in[`WIRE_BTH_MIGREQ_MSB] = 1;
		bth_in[`WIRE_BTH_PKEY_MSB:`WIRE_BTH_PKEY_LSB] = 16'hFFFF;
		bth_in[`WIRE_BTH_DEST_QP_MSB:`WIRE_BTH_DEST_QP_LSB] = tp_qp;
		if (!tp_answer)
			bth_in[`WIRE_BTH_PSN_MSB:`WIRE_BTH_PSN_LSB] = tp_psn;

		answer_in = 0;
		answer_in[`WIRE_ANS_CTX_MSB:`WIRE_ANS_CTX_LSB] = tp_ctx;
		answer_in[`WIRE_ANS_GEN_MSB:`WIRE_ANS_GEN_LSB] = tp_gen;
		answer_in[`WIRE_ANS_ATTEMPT_MSB:`WIRE_ANS_ATTEMPT_LSB] = tp_attempt;
		answer_in[`WIRE_ANS_CODE_MSB:`WIRE_ANS_CODE_LSB] = tp_code;
		answer_in[`WIRE_ANS_MAP_MSB:`WIRE_ANS_MAP_LSB] = tp_map;
		answer_in[`WIRE_ANS_XFER_MSB:`WIRE_ANS_XFER_LSB] = tp_xfer;
		answer_in[`WIRE_ANS_BLOCK_MSB:`WIRE_ANS_BLOCK_LSB] = tp_block;

		header_in = 0;
		header_in[`WIRE_BLK_CTX_MSB:`WIRE_BLK_CTX_LSB] = tp_ctx;
		header_in[`WIRE_BLK_GEN_MSB:`WIRE_BLK_GEN_LSB] = tp_gen;
		header_in[`WIRE_BLK_ATTEMPT_MSB:`WIRE_BLK_ATTEMPT_LSB] = tp_attempt;
		header_in[`WIRE_BLK_VA_MSB:`WIRE_BLK_VA_LSB] = tp_va;
		header_in[`WIRE_BLK_RKEY_MSB:`WIRE_BLK_RKEY_LSB] = tp_rkey;
		header_in[`WIRE_BLK_LEN_MSB:`WIRE_BLK_LEN_LSB] = tp_len;
		header_in[`WIRE_BLK_OFFSET_MSB:`WIRE_BLK_OFFSET_LSB] = tp_offset;
		header_in[`WIRE_BLK_LEFT_MSB:`WIRE_BLK_LEFT_LSB] = tp_left;
		header_in[`WIRE_BLK_REF_MSB:`WIRE_BLK_REF_LSB] = tp_ref;
		header_in[`WIRE_BLK_XFER_MSB:`WIRE_BLK_XFER_LSB] = tp_xfer;
		header_in[`WIRE_BLK_BLOCK_MSB:`WIRE_BLK_BLOCK_LSB] = tp_block;
		header_in[`WIRE_BLK_SRC_MSB:`WIRE_BLK_SRC_LSB] = tp_by;
		if (tp_answer)
			header_in = {answer_in, {ANS{1'b0}}};
	end
	wire [12:0] body = tp_answer ? `WIRE_ANS_BYTES : 13'd`WIRE_BLK_BYTES + tp_plen;

	// A word of the body, and what of the last word belongs to the packet.
	wire [255:0] pair = {rb_rdata, before};
	wire [127:0] word = number == 0 ? lanes(header[HDR-1 -: 128]) :
			    number == 1 ? lanes(header[HDR-129 -: 128]) :
			    number == 2 ? lanes(header[HDR-257 -: 128]) :
			    pair[8 * turn +: 128];
	wire [127:0] bth_lanes = lanes({bth, 32'b0});
	wire [127:0] rest_bytes = word & ~({128{1'b1}} << {rest, 3'b0});
	wire [31:0] icrc;
	wire [151:0] tail = {24'b0, rest_bytes} |
			    ({120'b0, i_icrc ? icrc : 32'b0} << {rest, 3'b0});

	wire can = !m_axis_tvalid || m_axis_tready;
	wire is_word = state == BODY && can;
	wire is_seed = state == SEED;
	// The choice and the turning of a word take one clock, its CRC the next.
	reg crc_word, crc_byte;
	reg [127:0] crc_data;

	always @(posedge clk) begin
		crc_word <= is_word;
		crc_byte <= state == REST;
		crc_data <= state == REST ? {120'b0, word[8 * done +: 8]} : word;
	end

	fl_icrc i_crc (
		.clk(clk), .i_zero(1'b0), .i_seed(is_seed), .i_number(number[1:0]),
		.i_word(crc_word), .i_byte(crc_byte), .i_data(crc_data),
		.i_from({4'b0, i_node}), .i_to({4'b0, to}), .i_ip_len(ip_len), .i_udp_len(udp_len),
		.i_bth(bth),
		.o_icrc(icrc)
	);

	always @(posedge clk) begin
		if (m_axis_tready)
			m_axis_tvalid <= 0;
		if (rb_re) begin
			before <= rb_rdata;
			at <= at + 1'b1;
		end
		case (state)
		IDLE:
			if (tp_start) begin
				to <= tp_to;
				bth <= bth_in;
				header <= header_in;
				ip_len <= 16'd28 + `WIRE_BTH_BYTES + `WIRE_ICRC_BYTES + {3'b0, body};
				udp_len <= 16'd8 + `WIRE_BTH_BYTES + `WIRE_ICRC_BYTES + {3'b0, body};
				whole <= body[12:4];
				rest <= body[3:0];
				at <= tp_src[BLOCK_LOG2:4];
				turn <= tp_src[3:0];
				number <= 0;
				state <= SEED;
			end
		SEED: begin
			number <= number + 1'b1;
			carry <= bth_lanes[95:0];
			if (number == 2) begin
				number <= 0;
				state <= BODY;
			end
		end
		BODY:
			if (can) begin
				m_axis_tdata <= {word[31:0], carry};
				m_axis_tkeep <= 16'hFFFF;
				m_axis_tlast <= 0;
				m_axis_tvalid <= 1;
				carry <= word[127:32];
				number <= number + 1'b1;
				done <= 0;
				if (number + 1'b1 == whole)
					state <= !i_icrc ? LAST : rest != 0 ? REST : SETTLE;
			end
		REST: begin
			done <= done + 1'b1;
			if (done + 1'b1 == rest)
				state <= SETTLE;
		end
		SETTLE:
			state <= LAST;
		LAST:
			if (can) begin
				m_axis_tdata <= {tail[31:0], carry};
				m_axis_tkeep <= 16'hFFFF;
				m_axis_tlast <= rest == 0;
				m_axis_tvalid <= 1;
				over <= tail[151:32];
				state <= rest == 0 ? IDLE : OVER;
			end
		OVER:
			if (can) begin
				m_axis_tdata <= {8'b0, over};
				m_axis_tkeep <= ~(16'hFFFF << rest);
				m_axis_tlast <= 1;
				m_axis_tvalid <= 1;
				state <= IDLE;
			end
		default:
			state <= IDLE;
		endcase
		if (rst) begin
			state <= IDLE;
			m_axis_tvalid <= 0;
		end
	end

	// Two words before the first that is sent, then one with each that is.
	assign rb_re = (state == SEED && number != 2) || (is_word && number >= 3);
	assign rb_raddr = at;
	assign tp_busy = state != IDLE || m_axis_tvalid;
	assign o_moving = tp_start || state == SEED || state == REST || state == SETTLE ||
			  (state != IDLE && can) || (m_axis_tvalid && m_axis_tready);
	assign m_axis_tid = {4'b0, i_node};
	assign m_axis_tdest = {4'b0, to};

	wire unused = &{1'b0, bth_lanes[127:96], tp_src};
endmodule

`default_nettype wire
