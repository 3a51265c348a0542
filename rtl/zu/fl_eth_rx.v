// SPDX-License-Identifier: BSD-2-Clause
// fl_eth_rx - frames become packets of the card: what is in front is checked and taken off.
//
// A frame is in fl_afifo, whole, before it is looked at, and nothing of it leaves before all of
// its headers are right. The table gives its sender, by the IP address. The ICRC becomes the
// one that the engine expects of that node, whatever addresses, port and identification the
// packet had (fl_eth_shift); whether it is right is the engine's business. A sum of UDP is not
// looked at, since the ICRC covers more.
`default_nettype none

module fl_eth_rx #(
	parameter DEPTH_LOG2 = 11,
	parameter LARGEST = 4164,	// bytes of a packet, BTH to ICRC
	parameter NODE = 0
) (
	input  wire		clk,
	input  wire		rst,

	// fl_afifo
	input  wire		r_there,
	input  wire [DEPTH_LOG2+2:0] r_bytes,
	output wire		r_busy,
	output wire		r_re,
	output reg  [DEPTH_LOG2-1:0] r_at,
	input  wire [63:0]	r_data,
	output wire		r_end,

	// this node, and who has an address
	input  wire [31:0]	i_ip,
	input  wire [47:0]	i_mac,
	output wire [31:0]	o_ip,
	input  wire		i_known,
	input  wire [3:0]	i_node,

	output reg  [127:0]	m_axis_tdata,
	output reg  [15:0]	m_axis_tkeep,
	output reg		m_axis_tlast,
	output reg  [7:0]	m_axis_tid,
	output wire [7:0]	m_axis_tdest,
	output reg		m_axis_tvalid,
	input  wire		m_axis_tready,

	output wire		o_came,		// pulses: a packet more; or none, since
	output wire		o_other,	// it is for somebody else, or something else
	output wire		o_header,	// IPv4 with options, or a fragment
	output wire		o_sum,		// the IP header is damaged
	output wire		o_length,	// the lengths do not fit together
	output wire		o_unknown	// nobody has this address
);
	localparam [15:0] PACKET_MIN = 16'd16, PACKET_MAX = LARGEST[15:0];
	localparam [31:0] IP_BASE = 32'h0A000001;	// node 0, for the engine's ICRC

	localparam [2:0] IDLE = 3'd0,
		HEAD = 3'd1,		// six words: headers, first bytes of the packet
		ADD = 3'd2,		// sum of the IP header; who sent it?
		JUDGE = 3'd3,
		SHIFT = 3'd4,		// bytes of zeros, so that words are left
		BODY = 3'd5;		// words of the packet

	initial if (NODE < 0 || NODE > 15 || LARGEST < 16) begin
		$display("fl_eth_rx: NODE is 0 to 15");
		$finish(0);
	end

	reg [2:0] state;
	reg [2:0] head;
	reg [335:0] h;			// 42 bytes, the first on top
	reg [47:0] carry;		// of the word before
	reg [15:0] sum;
	reg known;
	reg [3:0] node;
	reg [2:0] single;		// zeros that are no word
	reg [12:0] number;		// word of the packet
	reg [63:0] low;

	// First byte on lane 0 -> first byte on top, and back.
	function [63:0] lanes;
		input [63:0] v;
		integer i;
		for (i = 0; i < 8; i = i + 1)
			lanes[8 * i +: 8] = v[8 * (7 - i) +: 8];
	endfunction

	// ---- headers ----

	wire [47:0] mac = h[335:288];
	wire [15:0] type = h[239:224];
	wire [15:0] ip_len = h[207:192], ip_id = h[191:176], ip_flags = h[175:160];
	wire [7:0] protocol = h[151:144];
	wire [31:0] ip_from = h[127:96], ip_to = h[95:64];
	wire [15:0] port_from = h[63:48], port = h[47:32], udp_len = h[31:16];
	wire [15:0] len = udp_len - 16'd8;	// of the packet
	wire [15:0] frame = {{13-DEPTH_LOG2{1'b0}}, r_bytes};
	wire unused = &{1'b0, h[287:240], h[215:208], h[159:152], h[143:128], h[15:0]};

	assign o_ip = ip_from;

	function [15:0] add;		// RFC 791: with the carry
		input [15:0] a, b;
		reg [16:0] s;
		begin
			s = {1'b0, a} + {1'b0, b};
			add = s[15:0] + {15'd0, s[16]};
		end
	endfunction

	wire other = mac != i_mac || type != 16'h0800 || h[223:220] != 4'd4 || ip_to != i_ip ||
		     protocol != 8'd17;
	wire header = h[219:216] != 4'd5 || (ip_flags & 16'h3FFF) != 0;
	wire length = ip_len < 16'd28 + PACKET_MIN || ip_len > 16'd28 + PACKET_MAX ||
		      ip_len + 16'd14 > frame || udp_len != ip_len - 16'd20;
	wire judge = state == JUDGE;

	// In this order, the first counts. A port is one only in a header that is right.
	assign o_other = judge && (other || (!header && sum == 16'hFFFF && port != 16'd4791));
	assign o_header = judge && !other && header;
	assign o_sum = judge && !other && !header && sum != 16'hFFFF;
	wire good = judge && !o_other && !o_header && !o_sum;
	assign o_length = good && length;
	assign o_unknown = good && !length && !known;
	assign o_came = good && !length && known;

	// ---- the ICRC ----

	// Before the packet, of what the ICRC covers: identification and flags, two bytes that it
	// does not cover, sum; addresses; port.
	reg [63:0] differs;
	always @*
		case (head)
		3'd0: differs = {ip_id, ip_flags ^ 16'h4000, 32'd0};
		3'd1: differs = {ip_from ^ (IP_BASE + {28'd0, node}),
				 ip_to ^ (IP_BASE + NODE[31:0])};
		default: differs = {port_from ^ (16'hC000 + {12'd0, node}), 48'd0};
		endcase

	wire step = state == BODY && (!m_axis_tvalid || m_axis_tready);
	wire seed = state == SHIFT && head != 3'd3;
	wire single_zero = state == SHIFT && head == 3'd3 && single != 0;
	wire [31:0] change;
	wire [15:0] to_icrc = len - 16'd4;
	wire [12:0] icrc_at = to_icrc[15:3];
	fl_eth_shift shift (
		.clk(clk), .i_begin(head == 3'd0), .i_word(seed || (step && number < icrc_at)),
		.i_data(seed ? lanes(differs) : 64'd0), .i_byte(single_zero),
		.o_change(change)
	);
	wire [127:0] patch = {96'd0, change} << {to_icrc[2:0], 3'b0};

	// ---- the packet ----

	wire [15:0] last_byte = len - 16'd1;
	wire last = number == last_byte[15:3];
	wire [63:0] word = {r_data[15:0], carry} ^
			   (number == icrc_at ? patch[63:0] :
			    number == icrc_at + 1'b1 ? patch[127:64] : 64'd0);

	assign r_busy = state != IDLE;
	assign r_re = (state == IDLE && r_there) || (state == HEAD && head != 3'd5) || step ||
		      (state == SHIFT && head == 3'd0);
	assign r_end = (judge && !o_came) || (step && last);
	assign m_axis_tdest = NODE[7:0];

	always @(posedge clk) begin
		if (m_axis_tready)
			m_axis_tvalid <= 1'b0;
		if (r_re)
			r_at <= r_at + 1'b1;
		case (state)
		IDLE: begin
			head <= 3'd0;
			if (r_there)
				state <= HEAD;
		end
		HEAD: begin
			head <= head + 1'b1;
			carry <= r_data[63:16];
			h <= head == 3'd5 ? {h[319:0], r_data[7:0], r_data[15:8]} :
			     {h[271:0], lanes(r_data)};
			if (head == 3'd5) begin
				head <= 3'd0;
				state <= ADD;
			end
		end
		ADD: begin
			sum <= add(add(add(add(h[223:208], h[207:192]), add(h[191:176], h[175:160])),
				       add(add(h[159:144], h[143:128]), add(h[127:112], h[111:96]))),
				   add(h[95:80], h[79:64]));
			known <= i_known;
			node <= i_node;
			state <= JUDGE;
		end
		JUDGE: begin
			number <= 0;
			single <= to_icrc[2:0];
			state <= o_came ? SHIFT : IDLE;
		end
		SHIFT:
			if (head != 3'd3)
				head <= head + 1'b1;
			else if (single != 0)
				single <= single - 1'b1;
			else
				state <= BODY;
		BODY:
			if (step) begin
				carry <= r_data[63:16];
				number <= number + 1'b1;
				if (!number[0])
					low <= word;
				m_axis_tvalid <= number[0] || last;
				m_axis_tdata <= number[0] ? {word, low} : {64'd0, word};
				m_axis_tkeep <= last ? 16'hFFFF >> ~last_byte[3:0] : 16'hFFFF;
				m_axis_tlast <= last;
				m_axis_tid <= {4'd0, node};
				if (last)
					state <= IDLE;
			end
		default: state <= IDLE;
		endcase
		if (r_end)
			r_at <= 0;
		if (rst) begin
			r_at <= 0;
			m_axis_tvalid <= 1'b0;
			state <= IDLE;
		end
	end
endmodule

`default_nettype wire
