// SPDX-License-Identifier: BSD-2-Clause
// fl_guard - what the chip's port cannot carry does not reach it: bus error (DECERR) instead.
//
// The port has 49 bits of address and 6 bits of ID, the engine 64 bits and a whole stream ID.
// Cut off, an address would become another one, and a stream another process's. So an access
// above 2^49, or of a stream that is not one of the port's 64, is answered here. The engine
// has one burst under way in each direction; that is all that is kept in mind.
`default_nettype none

module fl_guard #(
	parameter [14:0] STREAM_BASE = 15'h200	// first stream of the port, a multiple of 64
) (
	input  wire		clk,
	input  wire		rst,

	// the engine
	input  wire [14:0]	s_axi_arid,
	input  wire [63:0]	s_axi_araddr,
	input  wire		s_axi_arvalid,
	input  wire [7:0]	s_axi_arlen,
	output wire		s_axi_arready,
	output wire [1:0]	s_axi_rresp,
	output wire		s_axi_rlast,
	output wire		s_axi_rvalid,
	input  wire		s_axi_rready,
	input  wire [14:0]	s_axi_awid,
	input  wire [63:0]	s_axi_awaddr,
	input  wire		s_axi_awvalid,
	output wire		s_axi_awready,
	input  wire		s_axi_wlast,
	input  wire		s_axi_wvalid,
	output wire		s_axi_wready,
	output wire [1:0]	s_axi_bresp,
	output wire		s_axi_bvalid,
	input  wire		s_axi_bready,

	// the port; what is not here goes straight to it
	output wire		m_axi_arvalid,
	input  wire		m_axi_arready,
	input  wire [1:0]	m_axi_rresp,
	input  wire		m_axi_rlast,
	input  wire		m_axi_rvalid,
	output wire		m_axi_rready,
	output wire		m_axi_awvalid,
	input  wire		m_axi_awready,
	output wire		m_axi_wvalid,
	input  wire		m_axi_wready,
	input  wire [1:0]	m_axi_bresp,
	input  wire		m_axi_bvalid,
	output wire		m_axi_bready
);
	localparam [1:0] DECERR = 2'd3;

	wire read_bad = |s_axi_araddr[63:49] || s_axi_arid[14:6] != STREAM_BASE[14:6];
	wire write_bad = |s_axi_awaddr[63:49] || s_axi_awid[14:6] != STREAM_BASE[14:6];

	initial if (|STREAM_BASE[5:0]) begin
		$display("fl_guard: STREAM_BASE is a multiple of 64");
		$finish(0);
	end

	// ---- reads ----

	reg r_here;			// a burst is answered here
	reg [7:0] beats;		// with so many more, and one

	assign m_axi_arvalid = s_axi_arvalid && !read_bad && !r_here;
	assign s_axi_arready = read_bad ? !r_here : m_axi_arready && !r_here;
	assign s_axi_rvalid = r_here || m_axi_rvalid;
	assign s_axi_rresp = r_here ? DECERR : m_axi_rresp;
	assign s_axi_rlast = r_here ? beats == 8'd0 : m_axi_rlast;
	assign m_axi_rready = s_axi_rready && !r_here;

	always @(posedge clk)
		if (rst)
			r_here <= 1'b0;
		else if (!r_here) begin
			r_here <= s_axi_arvalid && read_bad;
			beats <= s_axi_arlen;
		end else if (s_axi_rready) begin
			r_here <= beats != 8'd0;
			beats <= beats - 8'd1;
		end

	// ---- writes ----

	// Data go to the port as soon as they are offered and do not wait for AWREADY (A3.3.1: the
	// port may wait for them). Whether they may is known: AWVALID comes no later than WVALID, so
	// the address stands until AWREADY, and after that state tells.
	localparam [1:0] ADDR = 2'd0,	// no burst, or its address was not taken
		DATA = 2'd1,		// its data go to the port
		SINK = 2'd2,		// its data go nowhere
		RESP = 2'd3;		// and this is the answer

	reg [1:0] state;
	reg ahead;			// ADDR: all its data were taken before its address

	wire passes = state == DATA || (state == ADDR && s_axi_awvalid && !write_bad && !ahead);
	wire aw_taken = s_axi_awvalid && s_axi_awready;
	wire last_taken = s_axi_wvalid && s_axi_wready && s_axi_wlast;

	assign m_axi_awvalid = s_axi_awvalid && !write_bad && state == ADDR;
	assign s_axi_awready = state == ADDR && (write_bad || m_axi_awready);
	assign m_axi_wvalid = s_axi_wvalid && passes;
	assign s_axi_wready = state == SINK || (passes && m_axi_wready);
	assign s_axi_bvalid = state == RESP || m_axi_bvalid;
	assign s_axi_bresp = state == RESP ? DECERR : m_axi_bresp;
	assign m_axi_bready = s_axi_bready && state != RESP;

	always @(posedge clk)
		if (rst) begin
			state <= ADDR;
			ahead <= 1'b0;
		end else case (state)
		ADDR: begin
			ahead <= (ahead || last_taken) && !aw_taken;
			if (aw_taken)
				state <= write_bad ? SINK : ahead || last_taken ? ADDR : DATA;
		end
		DATA:
			if (last_taken)
				state <= ADDR;
		SINK:
			if (last_taken)
				state <= RESP;
		RESP:
			if (s_axi_bready)
				state <= ADDR;
		endcase

	wire unused = &{1'b0, s_axi_araddr[48:0], s_axi_awaddr[48:0], s_axi_arid[5:0],
			s_axi_awid[5:0]};
endmodule

`default_nettype wire
