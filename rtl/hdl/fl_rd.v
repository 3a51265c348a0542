// SPDX-License-Identifier: BSD-2-Clause
// fl_rd - the read channel: a block from memory into a read buffer, burst by burst.
//
// pick() and read_burst() of emu/nic/engine_tx.c with the walk of engine_burst.c. A burst ends
// at the latest at a 4 KB border, so that it meets one page, hence at most one fault. After a
// refusal the rest of the block is tried all the same: one report then names every page that
// is missing. Cells are asked for only when every burst was good.
//
// There are two read buffers. While the cells of one block leave, the one whose turn is next is
// read ahead. That decides nothing: ctl is asked for the next block as if nothing had been read,
// and what was read ahead is that block's only if ctl names its context, and that was READY all
// the time. Otherwise it is read again. Pages that were missing are told when it is the block's turn.
//
// The block stands in its buffer as it stands in memory: the byte of address va is on
// lane va[3:0]; word 0 holds the block's first byte.
`default_nettype none

module fl_rd #(
	parameter BLOCK_LOG2 = 14
) (
	input  wire		clk,
	input  wire		rst,

	// one unit of work: a burst begun, a cell asked for, a PICK that found nothing
	input  wire		i_go_rd,
	output wire		o_took_rd,
	output wire		o_moving,	// something changes without an input
	input  wire		i_ahead,	// read ahead

	// what happened, to ctl
	output wire		re_valid,	// until re_ack
	output wire [2:0]	re_kind,	// RE_*, below; look at it with re_ack
	output wire [31:0]	re_map,		// FAULTED: pages that are missing
	input  wire		re_ack,
	input  wire		re_ok,		// PICK: found; CELL: sent
	input  wire		re_last,	// CELL: it was the block's last
	// PICK: the context that was found
	input  wire [3:0]	rd_index,
	input  wire [14:0]	rd_stream,
	input  wire [63:0]	rd_lva,
	input  wire [16:0]	rd_len,		// bytes, not 0
	input  wire		rd_ask,		// READ request: there is nothing to read
	input  wire		rd_dropped,	// the context was killed meanwhile
	// whose turn would be next: to be read ahead
	input  wire		ah_valid,
	input  wire [3:0]	ah_index,
	input  wire [14:0]	ah_stream,
	input  wire [63:0]	ah_lva,
	input  wire [16:0]	ah_len,
	input  wire [15:0]	rd_ready,	// contexts in READY

	// the burst under way, or the last one
	output reg		rd_open,	// accepted, its last beat did not come yet
	output wire [3:0]	o_rd_index,	// of this context
	output reg  [63:0]	o_rd_va,
	output reg  [12:0]	o_rd_len,
	output reg  [16:0]	rd_left,	// bytes of the block from this burst on

	output wire [14:0]	m_axi_arid,	// stream
	output wire [63:0]	m_axi_araddr,
	output wire [7:0]	m_axi_arlen,
	output wire [2:0]	m_axi_arsize,
	output wire [1:0]	m_axi_arburst,
	output wire [7:0]	m_axi_aruser,	// context
	output wire		m_axi_arvalid,
	input  wire		m_axi_arready,
	input  wire [127:0]	m_axi_rdata,
	input  wire [1:0]	m_axi_rresp,
	input  wire		m_axi_rlast,
	input  wire		m_axi_rvalid,
	output wire		m_axi_rready,

	// read buffers
	output wire		rb_we,
	output wire		rb_fills,	// into this one
	output wire [BLOCK_LOG2-4:0] rb_waddr,
	output wire [127:0]	rb_wdata,
	output reg		rb_sends	// cells are in this one
);
	// re_kind
	localparam [2:0] RE_PICK = 3'd0,	// any context to serve?
		RE_CELL = 3'd1,			// send the next cell
		RE_FAULTED = 3'd2,		// pages are missing
		RE_BUSERR = 3'd3,		// nobody at this address
		RE_DROPPED = 3'd4;		// gave up a context that was killed

	localparam [1:0] SLVERR = 2'd2, DECERR = 2'd3;

	localparam [1:0] PICK = 2'd0,		// no block; asks for one
		READ = 2'd1,			// it is being read
		CELL = 2'd2,			// it was read whole; asks for its cells
		REPORT = 2'd3;			// it has ended without being sent

	// Bursts: of the block, or ahead of it.
	localparam [2:0] REST = 3'd0,		// none to read
		BEGIN = 3'd1,			// the next burst waits for its go
		OPEN = 3'd2,			// ARVALID is up
		MOVE = 3'd3,			// beats come
		FINISH = 3'd4,			// the burst has ended
		OVER = 3'd5;			// so has the last one

	reg [1:0] state;
	reg [2:0] walk;
	reg asked;			// PICK, CELL: the question stands until it is answered
	reg ahead;			// what is being read, or was, is nobody's block yet
	reg spoilt;			// and its context was not READY all the time
	reg fills;			// which read buffer
	reg [3:0] index;
	reg [14:0] stream;
	reg [63:0] next_va;		// where the next burst begins
	reg [4:0] page;			// and which of the block's pages that is
	reg [31:0] map;
	reg refused, failed;		// an answer in this burst was SLVERR, DECERR
	reg [BLOCK_LOG2-4:0] at;	// word of the read buffer

	initial if (BLOCK_LOG2 < 12 || BLOCK_LOG2 > 16) begin
		$display("fl_rd: BLOCK_LOG2 is 12 to 16");
		$finish(0);
	end

	// The burst that begins at next_va.
	wire [12:0] room = 13'd4096 - {1'b0, next_va[11:0]};
	wire [12:0] burst_len = rd_left < {4'b0, room} ? rd_left[12:0] : room;

	wire [31:0] map_now = map | ({31'b0, refused} << page);
	wire last_burst = rd_left == {4'b0, o_rd_len};
	wire ar_taken = m_axi_arvalid && m_axi_arready;
	wire r_taken = m_axi_rvalid && m_axi_rready;
	wire in_burst = walk == OPEN || walk == MOVE || walk == FINISH;
	wire may_ask = ((state == PICK && !in_burst) || state == CELL) && !asked && i_go_rd;
	wire stale = ahead && (spoilt || !rd_ready[index]);
	wire may_begin = walk == BEGIN && (state == READ || (state == CELL && !stale)) && i_go_rd;
	wire give_up = state == READ && rd_dropped && (may_begin || walk == FINISH);
	// ctl names a block: it was read ahead, or is to be read now. Or one may be read ahead.
	wire picked = state == PICK && re_ack && re_ok;
	wire known = picked && ahead && !stale && rd_index == index;
	wire forget = stale && !in_burst;	// once no burst is under way
	wire start = picked && !rd_ask && !known;
	wire start_ahead = state == CELL && walk == REST && !rd_dropped && ah_valid && i_ahead &&
			   i_go_rd;

	always @(posedge clk) begin
		case (state)
		PICK: begin
			if (may_ask)
				asked <= 1;
			if (re_ack) begin
				asked <= 0;
				ahead <= 0;
				if (!known)
					walk <= REST;
				if (re_ok)
					state <= rd_ask ? CELL : READ;
			end
		end
		READ:
			if (walk == OVER) begin
				walk <= REST;
				rb_sends <= fills;
				state <= rd_dropped || failed || map != 0 ? REPORT : CELL;
			end
		CELL: begin
			if (may_ask)
				asked <= 1;
			if (re_ack) begin
				asked <= 0;
				if (re_ok && re_last)
					state <= PICK;
			end else if (rd_dropped && (asked || i_go_rd)) begin
				asked <= 0;
				state <= REPORT;
			end
		end
		default:	// REPORT
			if (re_ack)
				state <= PICK;
		endcase

		if (stale)
			spoilt <= 1;
		if (forget) begin
			ahead <= 0;
			walk <= REST;
		end
		case (walk)
		BEGIN:
			if (may_begin) begin
				o_rd_va <= next_va;
				o_rd_len <= burst_len;
				refused <= 0;
				failed <= 0;
				walk <= OPEN;
			end
		OPEN:
			if (ar_taken) begin
				rd_open <= 1;
				walk <= MOVE;
			end
		MOVE:
			if (r_taken) begin
				at <= at + 1'b1;
				if (m_axi_rresp == SLVERR)
					refused <= 1;
				if (m_axi_rresp == DECERR)
					failed <= 1;
				if (m_axi_rlast) begin
					rd_open <= 0;
					walk <= FINISH;
				end
			end
		FINISH:
			if (failed) begin
				walk <= OVER;
			end else begin
				map <= map_now;
				next_va <= next_va + {51'b0, o_rd_len};
				rd_left <= rd_left - {4'b0, o_rd_len};
				page <= page + 1'b1;
				walk <= last_burst ? OVER : BEGIN;
			end
		default:	// REST, OVER
			;
		endcase
		if (give_up) begin
			walk <= REST;
			state <= REPORT;
		end
		if (start || start_ahead) begin
			ahead <= start_ahead;
			spoilt <= 0;
			fills <= start_ahead ? !rb_sends : fills;
			index <= start_ahead ? ah_index : rd_index;
			stream <= start_ahead ? ah_stream : rd_stream;
			next_va <= start_ahead ? ah_lva : rd_lva;
			rd_left <= start_ahead ? ah_len : rd_len;
			map <= 0;
			failed <= 0;
			page <= 0;
			at <= 0;
			walk <= BEGIN;
		end
		if (rst) begin
			state <= PICK;
			walk <= REST;
			asked <= 0;
			ahead <= 0;
			fills <= 0;
			rb_sends <= 0;
			rd_open <= 0;
			rd_left <= 0;
			o_rd_va <= 0;
			o_rd_len <= 0;
		end
	end

	// A kill that comes while a report waits takes its place.
	assign re_valid = asked || state == REPORT;
	assign re_kind = state == PICK ? RE_PICK :
			 rd_dropped ? RE_DROPPED :
			 state == CELL ? RE_CELL :
			 failed ? RE_BUSERR : RE_FAULTED;
	assign re_map = map;
	assign o_took_rd = ar_taken || (re_ack && state == PICK && !re_ok) ||
			   (re_ack && state == CELL);
	assign o_moving = re_valid || walk == FINISH || may_ask || may_begin || start_ahead ||
			  forget || ar_taken || r_taken || (state == READ && walk == OVER);
	assign o_rd_index = index;

	assign m_axi_arid = stream;
	assign m_axi_araddr = {o_rd_va[63:4], 4'b0};
	wire [12:0] end_at = {9'b0, o_rd_va[3:0]} + o_rd_len - 1'b1;
	assign m_axi_arlen = end_at[11:4];
	assign m_axi_arsize = 3'd4;
	assign m_axi_arburst = 2'd1;
	assign m_axi_aruser = {4'b0, index};
	assign m_axi_arvalid = walk == OPEN;
	assign m_axi_rready = walk == MOVE;

	assign rb_we = r_taken;
	assign rb_fills = fills;
	assign rb_waddr = at;
	assign rb_wdata = m_axi_rdata;

	wire unused = &{1'b0, end_at[12], end_at[3:0]};
endmodule

`default_nettype wire
