// SPDX-License-Identifier: BSD-2-Clause
// fl_zu_eth - a card's way to Ethernet: between its streams and those of a 10 Gb/s MAC.
//
// Module reference for a block design, in place of fl_zu_net. RoCEv2: packets travel in UDP, to
// port 4791 (InfiniBand, annex A17). There are three clocks, and none needs to know another:
//
//	aclk	s_axis -> fl_eth_tx -> [fl_afifo] -> fl_eth_out -> tx_axis	tx_clk
//	aclk	m_axis <- fl_eth_rx <- [fl_afifo] <- fl_eth_in <- rx_axis	rx_clk
//
// The MAC makes and checks the frame check sequence; it may not want to wait within a frame
// (none does here), and cannot be made to wait. Its frames may be as long as the largest
// packet and 42 bytes: with CELL_LOG2 of 10 an ordinary MTU will do.
//
// Registers (s_axil, words; book/board.adoc): who has which addresses, and what became of frames.
// The table is not reset. As it is in the bitstream node n has 10.0.0.1 + n and the MAC
// 02:00:00:00:00:n, as in the emulator's captures.
`default_nettype none

module fl_zu_eth #(
	parameter NODE = 0,		// 0 to 15
	parameter DEPTH_LOG2 = 11,	// each way: words of 8 bytes
	parameter LARGEST = 4164	// bytes of a packet, BTH to ICRC
) (
	(* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 aclk CLK" *)
	(* X_INTERFACE_PARAMETER =
		"ASSOCIATED_BUSIF s_axil:s_axis:m_axis, ASSOCIATED_RESET aresetn" *)
	input  wire		aclk,
	(* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 aresetn RST" *)
	(* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
	input  wire		aresetn,

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

	// the card: fl_zu_top's m_axis and s_axis
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
	input  wire		m_axis_tready,

	// the MAC: each way with its clock, and a reset at that clock
	(* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 tx_clk CLK" *)
	(* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF tx_axis, ASSOCIATED_RESET tx_resetn" *)
	input  wire		tx_clk,
	(* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 tx_resetn RST" *)
	(* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
	input  wire		tx_resetn,
	output wire [63:0]	tx_axis_tdata,
	output wire [7:0]	tx_axis_tkeep,
	output wire		tx_axis_tlast,
	output wire		tx_axis_tuser,		// a bad frame: none is
	output wire		tx_axis_tvalid,
	input  wire		tx_axis_tready,
	(* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 rx_clk CLK" *)
	(* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF rx_axis, ASSOCIATED_RESET rx_resetn" *)
	input  wire		rx_clk,
	(* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 rx_resetn RST" *)
	(* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
	input  wire		rx_resetn,
	input  wire [63:0]	rx_axis_tdata,
	input  wire [7:0]	rx_axis_tkeep,
	input  wire		rx_axis_tlast,
	input  wire		rx_axis_tuser,		// with tlast: bad
	input  wire		rx_axis_tvalid
);
	localparam COUNTERS = 11;
	localparam [31:0] MAGIC = 32'h54454C46;		// the letters FLET

	initial if (NODE < 0 || NODE > 15 || DEPTH_LOG2 < 6 || DEPTH_LOG2 > 12) begin
		$display("fl_zu_eth: NODE is 0 to 15, DEPTH_LOG2 6 to 12");
		$finish(0);
	end

	integer i, n;
	reg rst, tx_rst, rx_rst;
	initial {rst, tx_rst, rx_rst} = 3'b111;		// each side begins with one
	always @(posedge aclk)
		rst <= !aresetn;
	always @(posedge tx_clk)
		tx_rst <= !tx_resetn;
	always @(posedge rx_clk)
		rx_rst <= !rx_resetn;

	// ---- registers ----

	wire q_valid, q_write;
	wire [16:0] q_addr;
	wire [31:0] q_wdata;
	wire [3:0] q_wstrb;
	reg [31:0] q_rdata;
	reg q_bad;

	fl_port port (
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
		.rq_valid(q_valid), .rq_write(q_write), .rq_addr(q_addr),
		.rq_wdata(q_wdata), .rq_wstrb(q_wstrb), .rq_done(q_valid),
		.rq_rdata(q_rdata), .rq_bad(q_bad)
	);

	// 0x000 MAGIC; 0x010 on: counters; 0x100 + 16 * n: IP, MAC 47..32, MAC 31..0 of node n
	reg [31:0] ip [0:15];		// 0: no such node
	reg [15:0] mac_high [0:15];
	reg [31:0] mac_low [0:15];
	wire [32*COUNTERS-1:0] counts;
	wire counter = q_addr >= 17'h10 && q_addr < 17'h10 + 4 * COUNTERS;
	wire [3:0] which = q_addr[5:2] - 4'd4;
	wire entry = q_addr[16:8] == 9'd1 && q_addr[3:2] != 2'd3;
	wire [3:0] of = q_addr[7:4];

	reg [31:0] count [0:7];		// what happens at aclk

	initial
		for (n = 0; n < 16; n = n + 1) begin
			ip[n] = 32'h0A000001 + n;
			mac_high[n] = 16'h0200;
			mac_low[n] = n;
			count[n % 8] = 0;
		end

	wire [31:0] of_ip = ip[of], of_low = mac_low[of];
	wire [15:0] of_high = mac_high[of];

	always @* begin
		q_bad = q_write ? !entry || q_wstrb != 4'hF : !entry && !counter && q_addr != 0;
		q_rdata = MAGIC;
		if (counter)
			q_rdata = counts[32 * which +: 32];
		else if (entry)
			q_rdata = q_addr[3:2] == 2'd0 ? of_ip :
				  q_addr[3:2] == 2'd1 ? {16'd0, of_high} : of_low;
	end

	always @(posedge aclk)
		if (q_valid && q_write && !q_bad)
			case (q_addr[3:2])
			2'd0: ip[of] <= q_wdata;
			2'd1: mac_high[of] <= q_wdata[15:0];
			default: mac_low[of] <= q_wdata;
			endcase

	// ---- out ----

	wire [7:0] from, to;
	wire t_hold, t_we, t_end, t_there, t_busy, t_re, t_done, sent, lost;
	wire [DEPTH_LOG2:0] t_room;
	wire [DEPTH_LOG2-1:0] t_wat, t_rat;
	wire [DEPTH_LOG2+2:0] t_wbytes, t_rbytes;
	wire [63:0] t_wdata, t_rdata;

	fl_eth_tx #(.DEPTH_LOG2(DEPTH_LOG2), .LARGEST(LARGEST)) tx (
		.clk(aclk), .rst(rst),
		.s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep),
		.s_axis_tlast(s_axis_tlast), .s_axis_tid(s_axis_tid),
		.s_axis_tdest(s_axis_tdest), .s_axis_tvalid(s_axis_tvalid),
		.s_axis_tready(s_axis_tready),
		.o_from(from), .o_to(to),
		.i_known(from < 8'd16 && to < 8'd16 && ip[from[3:0]] != 0 && ip[to[3:0]] != 0),
		.i_from_ip(ip[from[3:0]]), .i_to_ip(ip[to[3:0]]),
		.i_from_mac({mac_high[from[3:0]], mac_low[from[3:0]]}),
		.i_to_mac({mac_high[to[3:0]], mac_low[to[3:0]]}),
		.w_hold(t_hold), .w_room(t_room), .w_we(t_we), .w_at(t_wat),
		.w_data(t_wdata), .w_end(t_end), .w_bytes(t_wbytes),
		.o_sent(sent), .o_lost(lost)
	);
	/* verilator lint_off PINCONNECTEMPTY */
	fl_afifo #(.DEPTH_LOG2(DEPTH_LOG2)) tx_fifo (
		.w_clk(aclk), .w_rst(rst), .w_hold(t_hold), .w_room(t_room),
		.w_we(t_we), .w_at(t_wat), .w_data(t_wdata), .w_end(t_end),
		.w_bytes(t_wbytes),
		.r_clk(tx_clk), .r_rst(tx_rst), .r_hold(), .r_there(t_there),
		.r_bytes(t_rbytes), .r_busy(t_busy), .r_re(t_re), .r_at(t_rat),
		.r_data(t_rdata), .r_end(t_done)
	);
	fl_eth_out #(.DEPTH_LOG2(DEPTH_LOG2)) out (
		.clk(tx_clk), .rst(tx_rst),
		.r_there(t_there), .r_bytes(t_rbytes), .r_busy(t_busy), .r_re(t_re),
		.r_at(t_rat), .r_data(t_rdata), .r_end(t_done),
		.m_axis_tdata(tx_axis_tdata), .m_axis_tkeep(tx_axis_tkeep),
		.m_axis_tlast(tx_axis_tlast), .m_axis_tvalid(tx_axis_tvalid),
		.m_axis_tready(tx_axis_tready)
	);
	assign tx_axis_tuser = 1'b0;

	// ---- in ----

	wire r_hold, r_we, r_end, r_there, r_busy, r_re, r_done, bad, long, full;
	wire [DEPTH_LOG2:0] r_room;
	wire [DEPTH_LOG2-1:0] r_wat, r_rat;
	wire [DEPTH_LOG2+2:0] r_wbytes, r_rbytes;
	wire [63:0] r_wdata, r_rdata;
	wire [31:0] sender;
	wire came, other, header, sum, length, unknown;

	// No two nodes have one address.
	wire [15:0] is;
	genvar g;
	generate
		for (g = 0; g < 16; g = g + 1) begin : node
			assign is[g] = ip[g] == sender && sender != 0;
		end
	endgenerate
	wire [3:0] sender_node = {|is[15:8], |(is & 16'hF0F0), |(is & 16'hCCCC), |(is & 16'hAAAA)};

	fl_eth_in #(.DEPTH_LOG2(DEPTH_LOG2), .LARGEST(LARGEST + 42)) in (
		.clk(rx_clk), .rst(rx_rst),
		.s_axis_tdata(rx_axis_tdata), .s_axis_tkeep(rx_axis_tkeep),
		.s_axis_tlast(rx_axis_tlast), .s_axis_tuser(rx_axis_tuser),
		.s_axis_tvalid(rx_axis_tvalid),
		.w_hold(r_hold), .w_room(r_room), .w_we(r_we), .w_at(r_wat),
		.w_data(r_wdata), .w_end(r_end), .w_bytes(r_wbytes),
		.o_bad(bad), .o_long(long), .o_full(full)
	);
	fl_afifo #(.DEPTH_LOG2(DEPTH_LOG2)) rx_fifo (
		.w_clk(rx_clk), .w_rst(rx_rst), .w_hold(r_hold), .w_room(r_room),
		.w_we(r_we), .w_at(r_wat), .w_data(r_wdata), .w_end(r_end),
		.w_bytes(r_wbytes),
		.r_clk(aclk), .r_rst(rst), .r_hold(), .r_there(r_there),
		.r_bytes(r_rbytes), .r_busy(r_busy), .r_re(r_re), .r_at(r_rat),
		.r_data(r_rdata), .r_end(r_done)
	);
	/* verilator lint_on PINCONNECTEMPTY */
	fl_eth_rx #(.DEPTH_LOG2(DEPTH_LOG2), .LARGEST(LARGEST), .NODE(NODE)) rx (
		.clk(aclk), .rst(rst),
		.r_there(r_there), .r_bytes(r_rbytes), .r_busy(r_busy), .r_re(r_re),
		.r_at(r_rat), .r_data(r_rdata), .r_end(r_done),
		.i_ip(ip[NODE]), .i_mac({mac_high[NODE], mac_low[NODE]}),
		.o_ip(sender), .i_known(is != 0), .i_node(sender_node),
		.m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep),
		.m_axis_tlast(m_axis_tlast), .m_axis_tid(m_axis_tid),
		.m_axis_tdest(m_axis_tdest), .m_axis_tvalid(m_axis_tvalid),
		.m_axis_tready(m_axis_tready),
		.o_came(came), .o_other(other), .o_header(header), .o_sum(sum),
		.o_length(length), .o_unknown(unknown)
	);

	// ---- counters ----

	wire [7:0] here = {unknown, length, sum, header, other, came, lost, sent};
	always @(posedge aclk)
		for (i = 0; i < 8; i = i + 1)
			if (here[i])
				count[i] <= count[i] + 1'b1;

	wire [47:0] there;
	fl_acount count_bad (.i_clk(rx_clk), .i_one(bad), .o_clk(aclk), .o_count(there[15:0]));
	fl_acount count_long (.i_clk(rx_clk), .i_one(long), .o_clk(aclk), .o_count(there[31:16]));
	fl_acount count_full (.i_clk(rx_clk), .i_one(full), .o_clk(aclk), .o_count(there[47:32]));

	assign counts = {16'd0, there[47:32], 16'd0, there[31:16], 16'd0, there[15:0],
			 count[7], count[6], count[5], count[4], count[3], count[2], count[1],
			 count[0]};

	wire unused = &{1'b0, s_axil_awprot, s_axil_arprot};
endmodule

`default_nettype wire
