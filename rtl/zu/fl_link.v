// SPDX-License-Identifier: BSD-2-Clause
// fl_link - a wire on the chip, one way: packets come late, get lost, or come twice.
//
// So one board can be a whole network, and what a network does wrong can be had when it is
// wanted. A packet leaves when it is all here and i_delay clocks have passed since; the order
// stays. Losses and doubles are counted, not drawn, so that a run can be repeated.
`default_nettype none

module fl_link #(
	parameter DEPTH_LOG2 = 10,		// beats that are on the way
	parameter LARGEST = 260			// beats of the largest packet; longer ones get lost
) (
	input  wire		clk,
	input  wire		rst,
	input  wire [15:0]	i_delay,	// clocks
	input  wire [15:0]	i_drop,		// every n-th packet gets lost; 0: none
	input  wire [15:0]	i_twice,	// every n-th of those that are left comes twice

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
	output reg		m_axis_tvalid,
	input  wire		m_axis_tready
);
	localparam DEPTH = 1 << DEPTH_LOG2;
	localparam WIDTH = 128 + 16 + 1 + 8 + 8;
	localparam PACKETS_LOG2 = 4;		// packets that are on the way

	initial if (LARGEST > DEPTH || LARGEST < 1) begin
		$display("fl_link: the largest packet does not fit");
		$finish(0);
	end

	// A 32-bit clock: what waits for half of it (10 s at 200 MHz) may wait once more.
	reg [31:0] now;

	// ---- in ----

	reg [DEPTH_LOG2:0] head;		// next beat to be written
	reg [DEPTH_LOG2:0] start;		// first beat of the packet that comes
	reg too_long;				// it is
	reg [15:0] to_drop, to_twice;		// packets since the last that got lost, came twice
	reg [PACKETS_LOG2:0] packets_in, packets_out;

	// end of a packet, when it may leave, how often
	reg [DEPTH_LOG2+33:0] packet [0:(1<<PACKETS_LOG2)-1];
	wire [PACKETS_LOG2:0] packets = packets_in - packets_out;

	reg [DEPTH_LOG2:0] tail;		// first beat of the oldest packet
	wire [DEPTH_LOG2:0] used = head - tail;
	wire [DEPTH_LOG2:0] length = head - start;

	assign s_axis_tready = too_long || (!used[DEPTH_LOG2] && !packets[PACKETS_LOG2]);
	wire take = s_axis_tvalid && s_axis_tready;
	wire longer = too_long || length == LARGEST[DEPTH_LOG2:0];
	wire ends = take && s_axis_tlast;
	wire drop = longer || (i_drop != 0 && to_drop + 16'd1 >= i_drop);
	wire twice = i_twice != 0 && to_twice + 16'd1 >= i_twice;

	always @(posedge clk)
		if (rst) begin
			now <= 32'd0;
			head <= 0;
			start <= 0;
			too_long <= 1'b0;
			to_drop <= 16'd0;
			to_twice <= 16'd0;
			packets_in <= 0;
		end else begin
			now <= now + 32'd1;
			if (ends) begin
				too_long <= 1'b0;
				to_drop <= drop ? 16'd0 : to_drop + 16'd1;
			end else if (take)
				too_long <= longer;
			if (ends && drop)
				head <= start;
			else if (take && !longer)
				head <= head + 1'b1;
			if (ends && !drop) begin
				start <= head + 1'b1;
				to_twice <= twice ? 16'd0 : to_twice + 16'd1;
				packet[packets_in[PACKETS_LOG2-1:0]] <=
					{twice, now + {16'd0, i_delay}, head + 1'b1};
				packets_in <= packets_in + 1'b1;
			end
		end

	// ---- out ----

	wire [DEPTH_LOG2:0] stop;		// of the oldest packet
	wire [31:0] due;
	wire again;
	assign {again, due, stop} = packet[packets_out[PACKETS_LOG2-1:0]];
	wire early = now - due >= 32'h80000000;

	reg leaving;				// the oldest packet leaves
	reg second;				// for the second time
	reg [DEPTH_LOG2:0] at;			// its next beat to be read
	wire read = leaving && (!m_axis_tvalid || m_axis_tready);
	wire over = read && at + 1'b1 == stop;

	fl_ram #(.WIDTH(WIDTH), .DEPTH(DEPTH), .ADDR(DEPTH_LOG2)) ram (
		.clk(clk),
		.i_we(take && !longer),
		.i_waddr(head[DEPTH_LOG2-1:0]),
		.i_wdata({s_axis_tdata, s_axis_tkeep, s_axis_tlast, s_axis_tid, s_axis_tdest}),
		.i_re(read),
		.i_raddr(at[DEPTH_LOG2-1:0]),
		.o_rdata({m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tid, m_axis_tdest})
	);

	always @(posedge clk)
		if (rst) begin
			packets_out <= 0;
			tail <= 0;
			leaving <= 1'b0;
			second <= 1'b0;
			at <= 0;
			m_axis_tvalid <= 1'b0;
		end else begin
			m_axis_tvalid <= read || (m_axis_tvalid && !m_axis_tready);
			if (!leaving)
				leaving <= packets != 0 && !early;
			else if (over && again && !second) begin
				second <= 1'b1;
				at <= tail;
			end else if (over) begin
				leaving <= 1'b0;
				second <= 1'b0;
				at <= stop;
				tail <= stop;
				packets_out <= packets_out + 1'b1;
			end else if (read)
				at <= at + 1'b1;
		end
endmodule

`default_nettype wire
