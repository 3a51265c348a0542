// SPDX-License-Identifier: BSD-2-Clause
// fl_eth_tx - packets of the card become frames: Ethernet II, IPv4 and UDP in front (RoCEv2).
//
// The packet goes straight to the frame's place in fl_afifo. When all of it is there, and its
// length known, its ICRC becomes the one for these addresses (fl_eth_shift), then come the
// headers, and then the frame is whole. What cannot be one is lost whole.
`default_nettype none

module fl_eth_tx #(
	parameter DEPTH_LOG2 = 11,
	parameter LARGEST = 4164	// bytes of a packet, BTH to ICRC
) (
	input  wire		clk,
	input  wire		rst,

	input  wire [127:0]	s_axis_tdata,
	input  wire [15:0]	s_axis_tkeep,	// whole, but for the last beat
	input  wire		s_axis_tlast,
	input  wire [7:0]	s_axis_tid,
	input  wire [7:0]	s_axis_tdest,
	input  wire		s_axis_tvalid,
	output wire		s_axis_tready,

	// addresses of two nodes
	output reg  [7:0]	o_from,
	output reg  [7:0]	o_to,
	input  wire		i_known,	// both are
	input  wire [31:0]	i_from_ip,
	input  wire [31:0]	i_to_ip,
	input  wire [47:0]	i_from_mac,
	input  wire [47:0]	i_to_mac,

	// fl_afifo
	input  wire		w_hold,
	input  wire [DEPTH_LOG2:0] w_room,
	output wire		w_we,
	output reg  [DEPTH_LOG2-1:0] w_at,
	output reg  [63:0]	w_data,
	output wire		w_end,
	output wire [DEPTH_LOG2+2:0] w_bytes,

	output wire		o_sent,		// pulses: a frame more,
	output wire		o_lost		// a packet that becomes none
);
	localparam [15:0] HEADERS = 16'd42, FRAME_MIN = 16'd60, ICRC = 16'd4;
	localparam [15:0] PACKET_MIN = 16'd16;	// BTH and ICRC
	localparam [15:0] PACKET_MAX = LARGEST[15:0];
	localparam [31:0] IP_BASE = 32'h0A000001;	// node 0, for the engine's ICRC

	localparam [3:0] IDLE = 4'd0,
		LOOK = 4'd1,		// the addresses come
		ZEROS = 4'd2,		// behind the addresses: UDP header
		BODY = 4'd3,		// words of the packet
		TAIL = 4'd4,		// two bytes that did not fit
		SHIFT = 4'd5,		// zeros, until the ICRC
		PATCH0 = 4'd6,		// the last two words once more
		PATCH1 = 4'd7,
		SUM = 4'd8,		// of the IP header
		HEAD = 4'd9,		// its words, and those around it
		WHOLE = 4'd10,
		LOSE = 4'd11,		// the rest of a packet
		LOST = 4'd12;

	initial if (LARGEST < 16 || LARGEST + 42 > 8 << DEPTH_LOG2) begin
		$display("fl_eth_tx: the largest packet does not fit");
		$finish(0);
	end

	reg [3:0] state;
	reg upper;			// half of the beat
	reg [15:0] carry;
	reg [15:0] len;			// bytes of the packet so far
	reg [15:0] shifted;		// of them that are in the change of the ICRC
	reg [3:0] n_last;		// bytes of the last word
	reg [63:0] before, last;	// the last two words that were written
	reg [DEPTH_LOG2-1:0] at, end_at;	// next word; the last one of the frame
	reg [2:0] head;
	reg [31:0] from_ip, to_ip;
	reg [47:0] from_mac, to_mac;
	reg [19:0] sum;
	reg [15:0] check;

	function [3:0] count;
		input [7:0] keep;
		integer i;
		begin
			count = 0;
			for (i = 0; i < 8; i = i + 1)
				count = count + {3'b0, keep[i]};
		end
	endfunction

	// First byte on top -> first byte on lane 0.
	function [63:0] lanes;
		input [63:0] v;
		integer i;
		for (i = 0; i < 8; i = i + 1)
			lanes[8 * i +: 8] = v[8 * (7 - i) +: 8];
	endfunction

	// ---- the packet ----

	wire [7:0] keep = upper ? s_axis_tkeep[15:8] : s_axis_tkeep[7:0];
	wire [63:0] half = upper ? s_axis_tdata[127:64] : s_axis_tdata[63:0];
	wire [3:0] n = count(keep);
	wire [63:0] kept = half & ~({64{1'b1}} << {n, 3'b0});
	wire over = upper || !s_axis_tkeep[8];	// no more of this beat
	wire room = w_room > {1'b0, at};
	wire long = len + {12'b0, n} > PACKET_MAX;
	wire step = state == BODY && s_axis_tvalid && room && !long;
	wire end_of = s_axis_tlast && over;

	assign s_axis_tready = state == LOSE || (step && over);

	// ---- the ICRC ----

	wire shift_word = len >= shifted + 16'd8 + ICRC;
	wire shift_byte = len > shifted + ICRC;
	wire in_body = step || state == SHIFT;
	wire [31:0] change;
	fl_eth_shift shift (
		.clk(clk), .i_begin(state == LOOK),
		.i_word(state == LOOK || state == ZEROS || (in_body && shift_word)),
		.i_data(state == LOOK ? lanes({i_from_ip ^ (IP_BASE + {24'b0, o_from}),
					       i_to_ip ^ (IP_BASE + {24'b0, o_to})}) : 64'd0),
		.i_byte(state == SHIFT && !shift_word && shift_byte), .o_change(change)
	);
	// Where it lies in the last two words of the frame: byte 38 + len of all.
	wire [15:0] icrc_at = HEADERS - ICRC + len -
			      {{13-DEPTH_LOG2{1'b0}}, end_at - 1'b1, 3'b0};
	wire [127:0] patched = {last, before} ^ ({96'd0, change} << {icrc_at[3:0], 3'b0});

	// ---- the headers ----

	wire [15:0] ip_len = 16'd28 + len;
	wire [15:0] udp_len = 16'd8 + len;
	wire [15:0] bytes = len + HEADERS < FRAME_MIN ? FRAME_MIN : len + HEADERS;

	always @* begin
		w_at = at;
		w_data = {kept[47:0], carry};
		case (state)
		TAIL: w_data = {48'd0, carry};
		PATCH0: begin
			w_at = end_at - 1'b1;
			w_data = patched[63:0];
		end
		PATCH1: begin
			w_at = end_at;
			w_data = patched[127:64];
		end
		HEAD: begin
			w_at = {{DEPTH_LOG2-3{1'b0}}, head};
			case (head)
			3'd0: w_data = lanes({to_mac, from_mac[47:32]});
			3'd1: w_data = lanes({from_mac[31:0], 16'h0800, 16'h4500});
			3'd2: w_data = lanes({ip_len, 16'd0, 16'h4000, 8'd64, 8'd17});
			3'd3: w_data = lanes({check, from_ip, to_ip[31:16]});
			default: w_data = lanes({to_ip[15:0], 16'hC000 + {8'b0, o_from},
						 16'd4791, udp_len});
			endcase
		end
		default: ;
		endcase
	end

	assign w_we = step || (state == TAIL && n_last > 6 && room) || state == PATCH0 ||
		      state == PATCH1 || state == HEAD;
	assign w_end = state == WHOLE && !w_hold;
	assign w_bytes = bytes[DEPTH_LOG2+2:0];
	assign o_sent = w_end;
	assign o_lost = state == LOST;

	always @(posedge clk) begin
		if (in_body && shift_word)
			shifted <= shifted + 16'd8;
		else if (state == SHIFT && shift_byte)
			shifted <= shifted + 16'd1;
		case (state)
		IDLE: begin
			o_from <= s_axis_tid;
			o_to <= s_axis_tdest;
			upper <= 1'b0;
			carry <= 16'd0;		// sum of UDP: none
			len <= 16'd0;
			shifted <= 16'd0;
			at <= 5;
			head <= 3'd0;
			if (s_axis_tvalid)
				state <= LOOK;
		end
		LOOK: begin
			{from_ip, to_ip, from_mac, to_mac} <=
				{i_from_ip, i_to_ip, i_from_mac, i_to_mac};
			state <= i_known ? ZEROS : LOSE;
		end
		ZEROS: state <= BODY;
		BODY:
			if (s_axis_tvalid && long)
				state <= LOSE;
			else if (step) begin
				carry <= kept[63:48];
				{last, before} <= {w_data, last};
				at <= at + 1'b1;
				len <= len + {12'b0, n};
				n_last <= n;
				upper <= !over;
				if (end_of)
					state <= TAIL;
			end
		TAIL:
			if (n_last > 6 && !room)
				state <= TAIL;
			else begin
				if (n_last > 6) begin
					{last, before} <= {w_data, last};
					end_at <= at;
				end else
					end_at <= at - 1'b1;
				state <= len < PACKET_MIN ? LOST : SHIFT;
			end
		SHIFT:
			if (!shift_word && !shift_byte)
				state <= PATCH0;
		PATCH0: state <= PATCH1;
		PATCH1: begin
			sum <= 20'h04500 + 20'h04000 + 20'h04011 + {4'b0, ip_len} +
			       {4'b0, from_ip[31:16]} + {4'b0, from_ip[15:0]} +
			       {4'b0, to_ip[31:16]} + {4'b0, to_ip[15:0]};
			state <= SUM;
		end
		SUM: begin
			// The carries of a carry: none, as the sum is below 8 * FFFF.
			check <= ~(sum[15:0] + {12'b0, sum[19:16]} +
				   {15'b0, {1'b0, sum[15:0]} + {13'b0, sum[19:16]} > 17'h0FFFF});
			state <= HEAD;
		end
		HEAD: begin
			head <= head + 1'b1;
			if (head == 3'd4)
				state <= WHOLE;
		end
		LOSE:
			if (s_axis_tvalid && s_axis_tlast)
				state <= LOST;
		default: state <= IDLE;		// WHOLE, LOST
		endcase
		// No link: what was taken of a packet is lost, and so is the rest.
		if (w_hold && (state == LOOK || state == ZEROS || state == BODY))
			state <= end_of && step ? LOST : LOSE;
		else if (w_hold && state != IDLE && state != LOSE && state != LOST)
			state <= LOST;
		if (rst)
			state <= IDLE;
	end

	wire unused = &{1'b0, icrc_at[15:4], bytes[15:DEPTH_LOG2+2]};
endmodule

`default_nettype wire
