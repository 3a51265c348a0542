// SPDX-License-Identifier: BSD-2-Clause
// fl_rx - packets in: from the stream to a checked header record and a payload.
//
// wire_get_block() and wire_get_answer() of emu/nic/wire.c, with the check of the route from
// engine_receive(). There are two packet buffers: one fills, and its ICRC is made as the beats
// come (fl_icrc_late), while the other is shown to ctl and, when ctl says so, copied to a receive
// buffer.
`default_nettype none
`include "wire.vh"

module fl_rx #(
	parameter BLOCK_LOG2 = 14,
	parameter NODES = 16
) (
	input  wire		clk,
	input  wire		rst,
	input  wire [3:0]	i_node,
	input  wire		i_icrc,		// 0: not checked
	output wire		o_moving,	// something changes without an input

	// All lanes but those of the last beat are full.
	input  wire [127:0]	s_axis_tdata,
	input  wire [15:0]	s_axis_tkeep,
	input  wire		s_axis_tlast,
	input  wire [7:0]	s_axis_tid,	// who sends
	input  wire [7:0]	s_axis_tdest,	// to whom
	input  wire		s_axis_tvalid,
	output wire		s_axis_tready,

	// the packet that came; stays until pk_done
	output wire		pk_valid,
	input  wire		pk_done,
	output wire [1:0]	pk_kind,	// 0 bad, 1 block, 2 answer
	output wire [2:0]	pk_why,		// bad: enum wire_error
	output wire [15:0]	pk_flen,	// all of it; at most 65535 is counted
	output wire [7:0]	pk_from,
	output wire [7:0]	pk_opcode,
	output wire [23:0]	pk_qp,
	output wire [23:0]	pk_psn,
	output wire [7:0]	pk_ctx,
	output wire [15:0]	pk_gen,
	output wire [7:0]	pk_attempt,
	output wire [63:0]	pk_va,
	output wire [31:0]	pk_rkey,
	output wire [31:0]	pk_len,
	output wire [31:0]	pk_offset,
	output wire [63:0]	pk_left,
	output wire [31:0]	pk_ref,
	output wire [31:0]	pk_xfer,
	output wire [31:0]	pk_block,
	output wire [31:0]	pk_src,
	output wire [12:0]	pk_plen,
	output wire [7:0]	pk_code,
	output wire [31:0]	pk_map,
	// put its payload into this receive buffer, at pk_offset, once
	input  wire		st_req,		// until st_done
	input  wire [4:0]	st_slot,
	output reg		st_done,

	// receive buffers: {context, word of the block}
	output wire		xb_we,
	output wire [BLOCK_LOG2:0] xb_waddr,
	output wire [127:0]	xb_wdata
);
	// enum wire_error
	localparam [2:0] WIRE_OK = 3'd0, WIRE_SHORT = 3'd1, WIRE_CRC = 3'd2,
		WIRE_OPCODE = 3'd3, WIRE_HEADER = 3'd4, WIRE_LENGTH = 3'd5;
	// emu/nic/wire.h
	localparam [15:0] FRAME_MAX = 16'd4164, PAYLOAD_MAX = 16'd4096;
	localparam [15:0] FRAME_MIN = `WIRE_BTH_BYTES + `WIRE_ICRC_BYTES;
	localparam [15:0] BLK_MIN = FRAME_MIN + `WIRE_BLK_BYTES;
	localparam [15:0] ANS_MIN = FRAME_MIN + `WIRE_ANS_BYTES;
	localparam [8:0] WORDS = 9'd261;	// of a packet buffer: FRAME_MAX, rounded up
	localparam HDR = 8 * `WIRE_BLK_BYTES;
	localparam ANS = HDR - 8 * `WIRE_ANS_BYTES;

	// the side that fills
	localparam [1:0] FILL = 2'd0,		// beats come
		REST = 2'd1,			// ICRC of a last word that is not whole
		MAKE = 2'd2;			// the ICRC is made and compared

	reg [1:0] fill;
	reg filling;			// which buffer
	reg [8:0] beat;
	reg [15:0] bytes;		// of the packet before this beat; in the end, of all of it
	reg [95:0] fill_bth;
	reg [31:0] carry;		// what the last beat had behind its first 12 bytes
	reg [159:0] rest;		// the last word and the ICRC behind it
	reg [3:0] left;			// bytes of it that are not in the ICRC
	reg [15:0] flen_of [0:1];
	reg [7:0] from_of [0:1], to_of [0:1];
	reg damaged_of [0:1];
	// the buffers
	reg [1:0] full;
	// the side that empties
	localparam [2:0] IDLE = 3'd0,		// no packet
		BTH = 3'd1,			// its first beat is there
		HEADER = 3'd2,			// words of the header
		SHOW = 3'd3,			// ctl looks at it
		STORE = 3'd4,			// the two beats of the first word of payload
		COPY = 3'd5,			// words of payload go to the receive buffer
		STORED = 3'd6;			// ctl looks at it, after the copy

	reg [2:0] state;
	reg empties;			// which buffer
	reg [15:0] flen;
	reg [7:0] from, to;
	reg damaged;			// its ICRC is wrong
	reg [8:0] at;			// next beat to be read; at - 1 is in rdata
	reg [31:0] before;		// and here what at - 2 had behind its first 12 bytes
	reg [95:0] bth;
	reg [HDR-1:0] header;
	reg [1:0] number;		// of the word of the header; STORE: of the beat
	reg [8:0] words;		// COPY: that are left
	reg [BLOCK_LOG2-5:0] word_at;	// and where this one goes

	initial if (BLOCK_LOG2 < 12 || BLOCK_LOG2 > 16 || NODES < 1 || NODES > 16) begin
		$display("fl_rx: BLOCK_LOG2 is 12 to 16, NODES 1 to 16");
		$finish(0);
	end

	// First byte on lane 0 -> first byte on top.
	function [127:0] on_top;
		input [127:0] v;
		integer i;
		for (i = 0; i < 16; i = i + 1)
			on_top[8 * i +: 8] = v[8 * (15 - i) +: 8];
	endfunction

	function [4:0] count;
		input [15:0] keep;
		integer i;
		begin
			count = 0;
			for (i = 0; i < 16; i = i + 1)
				count = count + {4'b0, keep[i]};
		end
	endfunction

	// Fill: what is too long is counted and not kept.
	wire s_taken = s_axis_tvalid && s_axis_tready;
	wire [4:0] bytes_of_beat = count(s_axis_tkeep);
	wire [16:0] bytes_now = {1'b0, bytes} + {12'b0, bytes_of_beat};
	wire [127:0] s_on_top = on_top(s_axis_tdata);
	wire with_crc = i_icrc && bytes >= FRAME_MIN && bytes <= FRAME_MAX;
	wire is_byte = fill == REST && with_crc && left != 0;
	wire made;			// the ICRC is
	wire [31:0] icrc;
	wire filled = (fill == REST && !with_crc) || (fill == MAKE && made);

	assign s_axis_tready = fill == FILL && !full[filling];

	always @(posedge clk) begin
		case (fill)
		FILL:
			if (s_taken) begin
				bytes <= bytes_now[16] ? 16'hFFFF : bytes_now[15:0];
				if (beat != WORDS)
					beat <= beat + 1'b1;
				if (beat == 0)
					fill_bth <= s_on_top[127:32];
				carry <= s_axis_tdata[127:96];
				rest <= s_axis_tkeep[15] ? {128'b0, s_axis_tdata[127:96]} :
							   {s_axis_tdata, carry};
				left <= bytes_of_beat[3:0];
				if (s_axis_tlast) begin
					from_of[filling] <= s_axis_tid;
					to_of[filling] <= s_axis_tdest;
					fill <= REST;
				end
			end
		REST:
			if (is_byte) begin
				rest <= {8'b0, rest[159:8]};
				left <= left - 1'b1;
			end else begin
				fill <= MAKE;
			end
		default:	// MAKE
			;
		endcase
		if (filled) begin
			flen_of[filling] <= bytes;
			damaged_of[filling] <= with_crc && rest[31:0] != icrc;
			filling <= !filling;
			bytes <= 0;
			beat <= 0;
			fill <= FILL;
		end
		if (rst) begin
			filling <= 0;
			bytes <= 0;
			beat <= 0;
			fill <= FILL;
		end
	end

	// A word of the body lies in two beats. Its choice takes one clock, its CRC the next.
	reg crc_word, crc_byte;
	reg [127:0] crc_data;

	always @(posedge clk) begin
		crc_word <= s_taken && beat != 0 && s_axis_tkeep[15];
		crc_byte <= is_byte;
		crc_data <= is_byte ? {120'b0, rest[7:0]} : {s_axis_tdata[95:0], carry};
	end

	fl_icrc_late i_crc (
		.clk(clk), .rst(rst), .i_begin(s_taken && beat == 0), .i_word(crc_word),
		.i_byte(crc_byte), .i_data(crc_data), .i_end(fill == MAKE),
		.i_from(from_of[filling]), .i_to(to_of[filling]), .i_flen(bytes),
		.i_bth(fill_bth), .o_done(made), .o_icrc(icrc)
	);

	wire re;
	wire [127:0] rdata;
	fl_ram #(.WIDTH(128), .DEPTH(1024), .ADDR(10)) i_packets (
		.clk(clk),
		.i_we(s_taken && beat != WORDS), .i_waddr({filling, beat}), .i_wdata(s_axis_tdata),
		.i_re(re), .i_raddr({empties, at}), .o_rdata(rdata)
	);

	wire [127:0] beat_on_top = on_top(rdata);
	wire [127:0] word = {rdata[95:0], before};

	always @(posedge clk) begin
		st_done <= 0;
		if (re)
			at <= at + 1'b1;
		if (filled)
			full[filling] <= 1;
		case (state)
		IDLE:
			if (full[empties]) begin
				flen <= flen_of[empties];
				from <= from_of[empties];
				to <= to_of[empties];
				damaged <= damaged_of[empties];
				number <= 0;
				state <= BTH;
			end
		BTH: begin
			bth <= beat_on_top[127:32];
			before <= rdata[127:96];
			state <= HEADER;
		end
		HEADER: begin
			before <= rdata[127:96];
			number <= number + 1'b1;
			header <= {header[HDR-129:0], on_top(word)};
			if (number == 2)
				state <= SHOW;
		end
		SHOW: begin
			at <= 9'd3;
			number <= 0;
			words <= pk_plen[12:4] + {8'b0, pk_plen[3:0] != 0};
			word_at <= pk_offset[BLOCK_LOG2-1:4];
			if (st_req)
				state <= STORE;
		end
		STORE: begin
			before <= rdata[127:96];
			number <= number + 1'b1;
			if (number == 1)
				state <= COPY;
		end
		COPY: begin
			before <= rdata[127:96];
			words <= words - 1'b1;
			word_at <= word_at + 1'b1;
			if (words == 1) begin
				st_done <= 1;
				state <= STORED;
			end
		end
		default:	// STORED
			;
		endcase
		if (pk_valid && pk_done) begin
			full[empties] <= 0;
			empties <= !empties;
			at <= 0;
			state <= IDLE;
		end
		if (rst) begin
			full <= 0;
			empties <= 0;
			at <= 0;
			st_done <= 0;
			state <= IDLE;
		end
	end

	wire strange = {24'b0, from} >= NODES || to != {4'b0, i_node};

	// The order of the checks is that of wire.c.
	wire [7:0] opcode = bth[`WIRE_BTH_OPCODE_MSB:`WIRE_BTH_OPCODE_LSB];
	wire is_block = opcode == `WOP_WRITE || opcode == `WOP_READ_REQ ||
			opcode == `WOP_READ_RESP;
	wire is_answer = opcode == `WOP_ACK || opcode == `WOP_REFUSED ||
			 opcode == `WOP_READY || opcode == `WOP_NAK || opcode == `WOP_WAIT;
	wire [15:0] plen = flen - BLK_MIN;
	// RESERVED8 may have changed on the way: not looked at.
	wire bth_wrong = bth[`WIRE_BTH_SE_MSB] || !bth[`WIRE_BTH_MIGREQ_MSB] ||
			 bth[`WIRE_BTH_PAD_MSB:`WIRE_BTH_PAD_LSB] != 0 ||
			 bth[`WIRE_BTH_TVER_MSB:`WIRE_BTH_TVER_LSB] != 0 ||
			 bth[`WIRE_BTH_PKEY_MSB:`WIRE_BTH_PKEY_LSB] != 16'hFFFF ||
			 bth[`WIRE_BTH_ACKREQ_MSB] ||
			 bth[`WIRE_BTH_RESERVED7_MSB:`WIRE_BTH_RESERVED7_LSB] != 0;
	wire [HDR-ANS-1:0] answer = header[HDR-1:ANS];

	wire [2:0] why_block =
		plen > PAYLOAD_MAX ? WIRE_LENGTH :
		(opcode == `WOP_READ_REQ) != (plen == 0) ? WIRE_LENGTH : WIRE_OK;
	wire [2:0] why_answer =
		flen != ANS_MIN ? WIRE_LENGTH :
		answer[`WIRE_ANS_RESERVED_MSB:`WIRE_ANS_RESERVED_LSB] != 0 ? WIRE_HEADER : WIRE_OK;

	assign pk_why =
		strange ? WIRE_HEADER :
		flen < FRAME_MIN ? WIRE_SHORT :
		flen > FRAME_MAX ? WIRE_LENGTH :
		damaged ? WIRE_CRC :
		!is_block && !is_answer ? WIRE_OPCODE :
		flen < (is_block ? BLK_MIN : ANS_MIN) ? WIRE_SHORT :
		bth_wrong ? WIRE_HEADER :
		is_block ? why_block : why_answer;
	assign pk_valid = state == SHOW || state == STORE || state == COPY || state == STORED;
	assign pk_kind = pk_why != WIRE_OK ? 2'd0 : is_block ? 2'd1 : 2'd2;
	assign pk_flen = flen;
	assign pk_from = from;
	assign pk_opcode = opcode;
	assign pk_qp = bth[`WIRE_BTH_DEST_QP_MSB:`WIRE_BTH_DEST_QP_LSB];
	assign pk_psn = bth[`WIRE_BTH_PSN_MSB:`WIRE_BTH_PSN_LSB];
	// These three stand at the same place in both headers.
	assign pk_ctx = header[`WIRE_BLK_CTX_MSB:`WIRE_BLK_CTX_LSB];
	assign pk_gen = header[`WIRE_BLK_GEN_MSB:`WIRE_BLK_GEN_LSB];
	assign pk_attempt = header[`WIRE_BLK_ATTEMPT_MSB:`WIRE_BLK_ATTEMPT_LSB];
	assign pk_va = header[`WIRE_BLK_VA_MSB:`WIRE_BLK_VA_LSB];
	assign pk_rkey = header[`WIRE_BLK_RKEY_MSB:`WIRE_BLK_RKEY_LSB];
	assign pk_len = header[`WIRE_BLK_LEN_MSB:`WIRE_BLK_LEN_LSB];
	assign pk_offset = header[`WIRE_BLK_OFFSET_MSB:`WIRE_BLK_OFFSET_LSB];
	assign pk_left = header[`WIRE_BLK_LEFT_MSB:`WIRE_BLK_LEFT_LSB];
	assign pk_ref = header[`WIRE_BLK_REF_MSB:`WIRE_BLK_REF_LSB];
	assign pk_xfer = is_block ? header[`WIRE_BLK_XFER_MSB:`WIRE_BLK_XFER_LSB] :
				    answer[`WIRE_ANS_XFER_MSB:`WIRE_ANS_XFER_LSB];
	assign pk_block = is_block ? header[`WIRE_BLK_BLOCK_MSB:`WIRE_BLK_BLOCK_LSB] :
				     answer[`WIRE_ANS_BLOCK_MSB:`WIRE_ANS_BLOCK_LSB];
	assign pk_src = header[`WIRE_BLK_SRC_MSB:`WIRE_BLK_SRC_LSB];
	assign pk_plen = plen[12:0];
	assign pk_code = answer[`WIRE_ANS_CODE_MSB:`WIRE_ANS_CODE_LSB];
	assign pk_map = answer[`WIRE_ANS_MAP_MSB:`WIRE_ANS_MAP_LSB];

	assign re = (state == IDLE && full[empties]) || state == BTH || state == HEADER ||
		    state == STORE || state == COPY;
	assign xb_we = state == COPY;
	assign xb_waddr = {st_slot, word_at};
	assign xb_wdata = word;
	assign o_moving = s_taken || pk_valid || state != IDLE || full[empties] || fill != FILL;

	wire unused = &{1'b0, s_on_top[31:0], beat_on_top[31:0], bth, answer};
endmodule

`default_nettype wire
