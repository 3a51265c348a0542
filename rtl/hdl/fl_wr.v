// SPDX-License-Identifier: BSD-2-Clause
// fl_wr - the write channel: a block from a receive buffer to memory, burst by burst.
//
// write_step() of emu/nic/engine_write.c with the walk of engine_burst.c. Bursts end at 4 KB
// borders and go on after a refusal, as in fl_rd. Data does not wait for the address to be
// taken, as AXI demands.
//
// In the receive buffer byte i of the block is on lane i[3:0]; in memory it is on lane
// (va + i)[3:0]: a beat is made of two words of the buffer, turned by va[3:0] lanes.
`default_nettype none

module fl_wr #(
	parameter BLOCK_LOG2 = 14
) (
	input  wire		clk,
	input  wire		rst,

	// one unit of work: a burst begun, a cancelled block given up, a NEXT that found nothing
	input  wire		i_go_wr,
	output wire		o_took_wr,
	output wire		o_moving,	// something changes without an input

	// what happened, to ctl
	output wire		we_valid,	// until we_ack
	output wire [2:0]	we_kind,	// WE_*, below; look at it with we_ack
	output wire [31:0]	we_map,		// REFUSED: pages that are missing
	input  wire		we_ack,
	input  wire		we_ok,		// NEXT: found
	// NEXT: the context that was found
	input  wire [4:0]	wr_index,
	input  wire [14:0]	wr_stream,
	input  wire [63:0]	wr_va,
	input  wire [16:0]	wr_len,		// bytes, not 0
	input  wire		wr_cancelled,	// write no more of it

	// the burst under way, or the last one
	output reg		wr_open,	// accepted, its answer did not come yet
	output reg  [63:0]	o_wr_va,
	output reg  [12:0]	o_wr_len,
	output reg  [16:0]	wr_left,	// bytes of the block from this burst on

	output wire [14:0]	m_axi_awid,	// stream
	output wire [63:0]	m_axi_awaddr,
	output wire [7:0]	m_axi_awlen,
	output wire [2:0]	m_axi_awsize,
	output wire [1:0]	m_axi_awburst,
	output wire [7:0]	m_axi_awuser,	// context
	output reg		m_axi_awvalid,
	input  wire		m_axi_awready,
	output reg  [127:0]	m_axi_wdata,
	output reg  [15:0]	m_axi_wstrb,
	output reg		m_axi_wlast,
	output reg		m_axi_wvalid,
	input  wire		m_axi_wready,
	input  wire [1:0]	m_axi_bresp,
	input  wire		m_axi_bvalid,
	output wire		m_axi_bready,

	// receive buffers: {context, word of the block}
	output wire		xb_re,
	output wire [BLOCK_LOG2:0] xb_raddr,
	input  wire [127:0]	xb_rdata
);
	// we_kind
	localparam [2:0] WE_NEXT = 3'd0,	// any block to write?
		WE_LANDED = 3'd1,		// all of it is in memory
		WE_REFUSED = 3'd2,		// pages are missing
		WE_BUSERR = 3'd3,		// nobody at this address
		WE_CANCELLED = 3'd4;		// gave up a block as ctl wished

	localparam [1:0] SLVERR = 2'd2, DECERR = 2'd3;

	localparam [2:0] NEXT = 3'd0,		// no context; asks for one
		BEGIN = 3'd1,			// the next burst waits for its go
		FETCH = 3'd2,			// AWVALID is up; the two words of the first beat
		MOVE = 3'd3,			// beats go
		ANSWER = 3'd4,			// all beats made; waits for the answer
		FINISH = 3'd5,			// the burst has ended
		REPORT = 3'd6,			// the block has ended
		CANCEL = 3'd7;			// it is given up

	localparam AT = BLOCK_LOG2 - 4;		// bits of a word's number in a buffer

	reg [2:0] state;
	reg asked;			// NEXT: the question stands until it is answered
	reg [4:0] index;
	reg [14:0] stream;
	reg [3:0] turn;			// va[3:0] of the block
	reg [63:0] next_va;		// where the next burst begins
	reg [4:0] page;			// and which of the block's pages that is
	reg [31:0] map;
	reg refused, failed;		// the answer of this burst was SLVERR, DECERR
	reg fetched;			// FETCH: the first of the two words was asked for
	reg [AT-1:0] word;		// next to be asked for; word - 1 is in xb_rdata
	reg [127:0] before;		// and word - 2 here
	reg [7:0] beats;		// that come after this one
	reg first;			// this one is the burst's first

	initial if (BLOCK_LOG2 < 12 || BLOCK_LOG2 > 16) begin
		$display("fl_wr: BLOCK_LOG2 is 12 to 16");
		$finish(0);
	end

	// The burst that begins at next_va.
	wire [12:0] room = 13'd4096 - {1'b0, next_va[11:0]};
	wire [12:0] burst_len = wr_left < {4'b0, room} ? wr_left[12:0] : room;
	wire [12:0] end_at = {9'b0, o_wr_va[3:0]} + o_wr_len - 1'b1;

	wire [31:0] map_now = map | ({31'b0, refused} << page);
	wire last_burst = wr_left == {4'b0, o_wr_len};
	wire aw_taken = m_axi_awvalid && m_axi_awready;
	wire w_taken = m_axi_wvalid && m_axi_wready;
	wire b_taken = m_axi_bvalid && m_axi_bready;
	wire may_ask = state == NEXT && !asked && i_go_wr;
	wire make = state == MOVE && (!m_axi_wvalid || m_axi_wready);

	// Lane l of a beat is lane l - turn of its word of the buffer, or of the one before.
	wire [255:0] pair = {xb_rdata, before};
	wire [127:0] beat = pair[8 * (16 - {28'b0, turn}) +: 128];
	wire [15:0] from_first = first ? 16'hFFFF << o_wr_va[3:0] : 16'hFFFF;
	wire [15:0] to_last = beats == 0 ? 16'hFFFF >> (4'd15 - end_at[3:0]) : 16'hFFFF;

	always @(posedge clk) begin
		if (aw_taken) begin
			m_axi_awvalid <= 0;
			wr_open <= 1;
		end
		if (b_taken)
			wr_open <= 0;
		if (w_taken)
			m_axi_wvalid <= 0;
		if (xb_re) begin
			before <= xb_rdata;
			word <= word + 1'b1;
		end
		case (state)
		NEXT: begin
			if (may_ask)
				asked <= 1;
			if (we_ack) begin
				asked <= 0;
				index <= wr_index;
				stream <= wr_stream;
				turn <= wr_va[3:0];
				map <= 0;
				page <= 0;
				word <= {AT{1'b1}};	// the one before word 0
				if (we_ok) begin
					next_va <= wr_va;
					wr_left <= wr_len;
					state <= BEGIN;
				end
			end
		end
		BEGIN:
			if (i_go_wr) begin
				if (wr_cancelled) begin
					state <= CANCEL;
				end else begin
					o_wr_va <= next_va;
					o_wr_len <= burst_len;
					refused <= 0;
					failed <= 0;
					fetched <= 0;
					m_axi_awvalid <= 1;
					state <= FETCH;
				end
			end
		FETCH: begin
			fetched <= 1;
			beats <= end_at[11:4];
			first <= 1;
			if (fetched)
				state <= MOVE;
		end
		MOVE:
			if (make) begin
				m_axi_wdata <= beat;
				m_axi_wstrb <= from_first & to_last;
				m_axi_wlast <= beats == 0;
				m_axi_wvalid <= 1;
				first <= 0;
				beats <= beats - 1'b1;
				if (beats == 0)
					state <= ANSWER;
			end
		ANSWER:
			if (b_taken) begin
				refused <= m_axi_bresp == SLVERR;
				failed <= m_axi_bresp == DECERR;
				state <= FINISH;
			end
		FINISH:
			if (wr_cancelled || failed) begin
				state <= wr_cancelled ? BEGIN : REPORT;
			end else begin
				map <= map_now;
				next_va <= next_va + {51'b0, o_wr_len};
				wr_left <= wr_left - {4'b0, o_wr_len};
				page <= page + 1'b1;
				// Two words were fetched beyond the last beat's.
				word <= word - {{(AT - 2){1'b0}}, 2'd2};
				state <= last_burst ? REPORT : BEGIN;
			end
		default:	// REPORT, CANCEL
			if (we_ack)
				state <= NEXT;
		endcase
		if (rst) begin
			state <= NEXT;
			asked <= 0;
			wr_open <= 0;
			wr_left <= 0;
			o_wr_va <= 0;
			o_wr_len <= 0;
			m_axi_awvalid <= 0;
			m_axi_wvalid <= 0;
		end
	end

	// Whoever cancels while a report waits is heard, too.
	assign we_valid = asked || state == REPORT || state == CANCEL;
	assign we_kind = state == NEXT ? WE_NEXT :
			 wr_cancelled ? WE_CANCELLED :
			 failed ? WE_BUSERR :
			 map != 0 ? WE_REFUSED : WE_LANDED;
	assign we_map = map;
	assign o_took_wr = aw_taken || (we_ack && state == NEXT && !we_ok) ||
			   (we_ack && state == CANCEL);
	assign o_moving = we_valid || state == FETCH || state == FINISH || may_ask || make ||
			  aw_taken || w_taken || b_taken || (state == BEGIN && i_go_wr);

	assign m_axi_awid = stream;
	assign m_axi_awaddr = {o_wr_va[63:4], 4'b0};
	assign m_axi_awlen = end_at[11:4];
	assign m_axi_awsize = 3'd4;
	assign m_axi_awburst = 2'd1;
	assign m_axi_awuser = {3'b0, index};
	assign m_axi_bready = state == ANSWER && !m_axi_awvalid && !m_axi_wvalid;

	assign xb_re = state == FETCH || make;
	assign xb_raddr = {index, word};

	wire unused = &{1'b0, end_at[12]};
endmodule

`default_nettype wire
