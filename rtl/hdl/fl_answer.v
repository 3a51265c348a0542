// SPDX-License-Identifier: BSD-2-Clause
// fl_answer - packets out: answers to peers and cells, and where answers wait. As
// emu/nic/engine_answer.c does it.
//
// An answer that finds no room on the wire waits in its peer's place, at most one for each context
// of a peer: a newer one takes its place, which says all that the older one said. So nothing can
// overflow. Whatever the task is, those that wait are tried first, in their order:
//
//	IDLE -> FLUSH -> NEXT -> ROOM -> SEND -> SENDING -> FLUSH one that waits leaves
//	FLUSH, ROOM -> DONE                                       FLUSH: none is left, or no room
//	FLUSH, ROOM -> COMPOSE -> ROOM -> SEND -> SENDING -> DONE what was asked for leaves
//	COMPOSE, ROOM -> PUT -> DONE                              others wait, or no room: it waits
//	ROOM -> DONE                                              no room: the cell does not leave
//	DONE -> IDLE
`default_nettype none

module fl_answer #(
	parameter NODES = 16,		// peers, a power of two, 1 to 16
	parameter CTX_LOG2 = 4		// contexts that a peer may have, 1 to 4 bits
) (
	input  wire		clk,
	input  wire		rst,
	input  wire		i_enabled,	// the engine is on: packets may leave

	// a task: level until an_done, and all that says what it is stays
	input  wire		an_valid,
	input  wire [1:0]	an_kind,	// AN_*, below
	output wire		an_done,
	output reg		an_ok,		// CELL: it has left; look at it with an_done
	output wire		o_flush,	// answers wait, and there was room again
	input  wire		i_flush,	// its turn has come: FLUSH is the next task

	// ANSWER: to whom, and opcode, gen, attempt, code, map, xfer, block
	input  wire [3:0]	an_node,
	input  wire [3:0]	an_ctx,
	input  wire [135:0]	an_what,

	// CELL
	input  wire [3:0]	c_to,
	input  wire [7:0]	c_opcode,
	input  wire [23:0]	c_qp,
	input  wire [23:0]	c_psn,
	input  wire [7:0]	c_ctx,
	input  wire [15:0]	c_gen,
	input  wire [7:0]	c_attempt,
	input  wire [63:0]	c_va,
	input  wire [31:0]	c_rkey,
	input  wire [31:0]	c_len,
	input  wire [31:0]	c_offset,
	input  wire [63:0]	c_left,
	input  wire [31:0]	c_ref,
	input  wire [31:0]	c_xfer,
	input  wire [31:0]	c_block,
	input  wire [31:0]	c_by,
	input  wire [12:0]	c_plen,
	input  wire [16:0]	c_src,

	// room on the wire for a whole packet: asked for in one cycle
	output wire		o_want,
	input  wire		i_room,
	input  wire		i_room_again,

	// the packet: stays from tp_start until tp_busy has fallen
	output wire		tp_start,
	output reg		tp_answer,
	output reg  [3:0]	tp_to,
	output reg  [7:0]	tp_opcode,
	output reg  [23:0]	tp_qp,
	output reg  [23:0]	tp_psn,
	output reg  [7:0]	tp_ctx,
	output reg  [15:0]	tp_gen,
	output reg  [7:0]	tp_attempt,
	output reg  [63:0]	tp_va,
	output reg  [31:0]	tp_rkey,
	output reg  [31:0]	tp_len,
	output reg  [31:0]	tp_offset,
	output reg  [63:0]	tp_left,
	output reg  [31:0]	tp_ref,
	output reg  [31:0]	tp_xfer,
	output reg  [31:0]	tp_block,
	output reg  [31:0]	tp_by,
	output reg  [12:0]	tp_plen,
	output reg  [7:0]	tp_code,
	output reg  [31:0]	tp_map,
	output reg  [16:0]	tp_src,
	input  wire		tp_busy,

	// for the trace: what is decided in this cycle
	output wire		o_sends,	// the packet tp_* leaves
	output wire		o_waits,	// the answer tp_* waits from now on
	output reg		o_waited	// tp_* is one that had to wait
);
	localparam SW = CTX_LOG2 + (NODES == 1 ? 0 : NODES == 2 ? 1 : NODES == 4 ? 2 :
				    NODES == 8 ? 3 : 4);
	localparam SLOTS = 1 << SW;		// contexts of all peers
	localparam [7:0] CTX = (8'd1 << CTX_LOG2) - 8'd1;

	// an_kind
	localparam [1:0] AN_FLUSH = 2'd0,	// send those that wait
		AN_ANSWER = 2'd1,		// send an answer, or let it wait
		AN_CELL = 2'd2;			// send a cell, or say that there was no room

	localparam [3:0] IDLE = 4'd0,		// no task
		FLUSH = 4'd1,			// does an answer wait?
		NEXT = 4'd2,			// composes the oldest of those
		COMPOSE = 4'd3,			// composes what the task says
		ROOM = 4'd4,			// is there room for the packet?
		SEND = 4'd5,			// it begins
		SENDING = 4'd6,			// until it has left
		PUT = 4'd7,			// the answer is put to wait
		DONE = 4'd8;

	reg [3:0] state;
	reg again;			// the wire had room again since i_flush
	reg [SLOTS-1:0] waiting;	// an answer waits in this place
	reg [135:0] answer [0:SLOTS-1];	// and this one
	reg [SW-1:0] fifo [0:SLOTS-1];	// places in which one waits, oldest first
	reg [SW-1:0] head;
	reg [SW:0] count;
	reg [SW-1:0] at;		// place of the answer in tp_*

	wire [7:0] place = ({4'd0, an_node} << CTX_LOG2) | ({4'd0, an_ctx} & CTX);
	wire [8:0] at_place = {{9 - SW{1'b0}}, at};
	wire [8:0] at_node = at_place >> CTX_LOG2;
	wire [3:0] at_ctx = at_place[3:0] & CTX[3:0];
	wire [SW-1:0] tail = head + count[SW-1:0];
	wire [15:0] gen_ahead = an_what[127:112] - answer[at][127:112];
	wire newest = !waiting[at] || !gen_ahead[15];
	wire unused = &{1'b0, place, at_place, at_node, gen_ahead};

	initial if (1 << (SW - CTX_LOG2) != NODES || CTX_LOG2 < 1 || CTX_LOG2 > 4) begin
		$display("fl_answer: NODES is a power of two, 1 to 16, CTX_LOG2 1 to 4");
		$finish(0);
	end

	// The answer {opcode, gen, attempt, code, map, xfer, block} is the next packet.
	task put_answer;
		input [3:0] node;
		input [3:0] ctx;
		input [135:0] what;
		begin
			tp_answer <= 1'b1;
			tp_to <= node;
			tp_opcode <= what[135:128];
			tp_qp <= 24'd0;
			tp_psn <= 24'd0;
			tp_ctx <= {4'd0, ctx};
			tp_gen <= what[127:112];
			tp_attempt <= what[111:104];
			tp_code <= what[103:96];
			tp_map <= what[95:64];
			tp_xfer <= what[63:32];
			tp_block <= what[31:0];
			tp_plen <= 13'd0;
			tp_offset <= 32'd0;
		end
	endtask

	task put_cell;
		begin
			tp_answer <= 1'b0;
			tp_to <= c_to;
			tp_opcode <= c_opcode;
			tp_qp <= c_qp;
			tp_psn <= c_psn;
			tp_ctx <= c_ctx;
			tp_gen <= c_gen;
			tp_attempt <= c_attempt;
			tp_va <= c_va;
			tp_rkey <= c_rkey;
			tp_len <= c_len;
			tp_offset <= c_offset;
			tp_left <= c_left;
			tp_ref <= c_ref;
			tp_xfer <= c_xfer;
			tp_block <= c_block;
			tp_by <= c_by;
			tp_plen <= c_plen;
			tp_code <= 8'd0;
			tp_map <= 32'd0;
			tp_src <= c_src;
		end
	endtask

	assign an_done = state == DONE;
	assign o_flush = (again || i_room_again) && i_enabled && count != 0;
	assign o_want = state == ROOM && i_enabled;
	assign o_sends = o_want && i_room;
	assign o_waits = state == PUT && newest;
	assign tp_start = state == SEND;

	always @(posedge clk)
		if (rst) begin
			state <= IDLE;
			again <= 1'b0;
			waiting <= {SLOTS{1'b0}};
			head <= 0;
			count <= 0;
			an_ok <= 1'b0;
		end else begin
			if (i_flush || (state == IDLE && !an_valid && !o_flush))
				again <= 1'b0;
			else if (i_room_again)
				again <= 1'b1;
			case (state)
			IDLE: begin
				an_ok <= 1'b0;
				if (an_valid)
					state <= FLUSH;
			end
			FLUSH: begin
				at <= fifo[head];
				if (count != 0)
					state <= NEXT;
				else
					state <= an_kind == AN_FLUSH ? DONE : COMPOSE;
			end
			NEXT: begin
				put_answer(at_node[3:0], at_ctx, answer[at]);
				o_waited <= 1'b1;
				state <= ROOM;
			end
			COMPOSE: begin
				o_waited <= 1'b0;
				if (an_kind == AN_CELL)
					put_cell;
				else
					put_answer(an_node, an_ctx, an_what);
				at <= place[SW-1:0];
				state <= count == 0 ? ROOM : PUT;
			end
			ROOM:
				if (o_sends)
					state <= SEND;
				else if (an_kind != AN_ANSWER)
					state <= DONE;
				else
					state <= o_waited ? COMPOSE : PUT;
			SEND: state <= SENDING;
			SENDING:
				if (!tp_busy && o_waited) begin
					waiting[at] <= 1'b0;
					head <= head + 1'b1;
					count <= count - 1'b1;
					state <= FLUSH;
				end else if (!tp_busy) begin
					an_ok <= 1'b1;
					state <= DONE;
				end
			PUT: begin
				if (newest) begin
					answer[at] <= an_what;
					waiting[at] <= 1'b1;
				end
				if (!waiting[at]) begin
					fifo[tail] <= at;
					count <= count + 1'b1;
				end
				state <= DONE;
			end
			default: state <= IDLE;
			endcase
		end
endmodule

`default_nettype wire
