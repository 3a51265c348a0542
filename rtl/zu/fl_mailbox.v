// SPDX-License-Identifier: BSD-2-Clause
// fl_mailbox - the card's window, shared by the driver, its processes and the firmware.
//
// Two ports: one for the driver and the processes, one for the processor that runs the
// firmware. The engine's pages are the same at both. The firmware has no registers in
// hardware: what software writes to the pages FW and DB waits in a queue, in order, until the
// firmware has carried it out (emu/nic/fw_regs.c), and page FW reads as the firmware left it.
// So that a read sees the writes before it, it waits until those to FW have been carried out.
//
// Why two ports: when the queue is full a doorbell waits, and with it all that comes after it
// on the way, but never the firmware, which empties the queue. If that takes longer than
// 2^PATIENCE clocks the firmware is taken for dead: OPEN falls, and nobody waits any more.
//
// A process may write its doorbell page. Nothing that it does there is answered with an error:
// for a write that would stop the system. What makes no sense is lost, or the firmware refuses
// it.
`default_nettype none
`include "regs.vh"

module fl_mailbox #(
	parameter DEPTH_LOG2 = 9,	// writes that wait
	parameter PATIENCE = 22		// log2 of clocks
) (
	input  wire		clk,
	input  wire		rst,

	// the driver and its processes (fl_port)
	input  wire		d_valid,
	input  wire		d_write,
	input  wire [16:0]	d_addr,
	input  wire [31:0]	d_wdata,
	input  wire [3:0]	d_wstrb,
	output wire		d_done,
	output reg  [31:0]	d_rdata,
	output wire		d_bad,

	// the firmware
	input  wire		f_valid,
	input  wire		f_write,
	input  wire [16:0]	f_addr,
	input  wire [31:0]	f_wdata,
	input  wire [3:0]	f_wstrb,
	output wire		f_done,
	output reg  [31:0]	f_rdata,
	output wire		f_bad,

	// the engine's registers
	output wire [16:0]	m_axil_awaddr,
	output reg		m_axil_awvalid,
	input  wire		m_axil_awready,
	output wire [31:0]	m_axil_wdata,
	output wire [3:0]	m_axil_wstrb,
	output reg		m_axil_wvalid,
	input  wire		m_axil_wready,
	input  wire [1:0]	m_axil_bresp,
	input  wire		m_axil_bvalid,
	output wire		m_axil_bready,
	output wire [16:0]	m_axil_araddr,
	output reg		m_axil_arvalid,
	input  wire		m_axil_arready,
	input  wire [31:0]	m_axil_rdata,
	input  wire [1:0]	m_axil_rresp,
	input  wire		m_axil_rvalid,
	output wire		m_axil_rready,

	input  wire		i_irq_engine,	// the engine has events for the firmware
	output wire		o_irq_event,	// the firmware has events for the driver
	output wire		o_irq_firmware,	// there is work for the firmware

	// link on the chip
	output reg  [15:0]	o_link_delay,
	output reg  [15:0]	o_link_drop,
	output reg  [15:0]	o_link_twice
);
	localparam DEPTH = 1 << DEPTH_LOG2;
	localparam WORDS_LOG2 = 5;	// page FW: its registers, CMD at the end
	localparam [31:0] FW = `NIC_FW_BASE, BOX = `NIC_BOX_BASE, DB = `NIC_DB_BASE;

	initial if (PATIENCE < 4 || PATIENCE > 31 ||
		    `NIC_FW_CMD + 4 * `NIC_FW_CMD_COUNT != 4 << WORDS_LOG2) begin
		$display("fl_mailbox: PATIENCE is 4 to 31; page FW has 32 words");
		$finish(0);
	end

	// Which page; of FW only what has registers.
	wire d_engine = d_addr < FW[16:0];
	wire d_fw = d_addr[16:12] == FW[16:12];
	wire d_fw_word = d_fw && d_addr[11:WORDS_LOG2+2] == 0;
	wire d_bell = d_addr >= DB[16:0];
	wire f_engine = f_addr < FW[16:0];
	wire f_fw_word = f_addr[16:WORDS_LOG2+2] == FW[16:WORDS_LOG2+2];
	wire f_box = f_addr[16:12] == BOX[16:12];
	wire d_whole = d_wstrb == 4'hF;
	wire f_whole = f_wstrb == 4'hF;

	// ---- the engine: one access at a time, the ports in turn ----

	localparam [1:0] IDLE = 2'd0,	// no access
		SEND = 2'd1,		// the engine has not taken all of it
		WAIT = 2'd2;		// its answer is awaited

	reg [1:0] state;
	reg f_turn;			// the firmware's, when both ask
	reg f_owner;			// it is the firmware's access
	wire d_ask = d_valid && d_engine;
	wire f_ask = f_valid && f_engine;
	wire choose_f = f_ask && (f_turn || !d_ask);
	wire choose_write = choose_f ? f_write : d_write;
	wire answer = state == WAIT && (m_axil_bvalid || m_axil_rvalid);
	wire answer_bad = m_axil_bvalid ? m_axil_bresp[1] : m_axil_rresp[1];

	assign m_axil_awaddr = f_owner ? f_addr : d_addr;
	assign m_axil_araddr = m_axil_awaddr;
	assign m_axil_wdata = f_owner ? f_wdata : d_wdata;
	assign m_axil_wstrb = f_owner ? f_wstrb : d_wstrb;
	assign m_axil_bready = state == WAIT;
	assign m_axil_rready = state == WAIT;

	always @(posedge clk)
		if (rst) begin
			state <= IDLE;
			f_turn <= 1'b0;
			m_axil_awvalid <= 1'b0;
			m_axil_wvalid <= 1'b0;
			m_axil_arvalid <= 1'b0;
		end else case (state)
		IDLE:
			if (d_ask || f_ask) begin
				state <= SEND;
				f_owner <= choose_f;
				f_turn <= !choose_f;
				m_axil_awvalid <= choose_write;
				m_axil_wvalid <= choose_write;
				m_axil_arvalid <= !choose_write;
			end
		SEND: begin
			m_axil_awvalid <= m_axil_awvalid && !m_axil_awready;
			m_axil_wvalid <= m_axil_wvalid && !m_axil_wready;
			m_axil_arvalid <= m_axil_arvalid && !m_axil_arready;
			if ((!m_axil_awvalid || m_axil_awready) &&
			    (!m_axil_wvalid || m_axil_wready) &&
			    (!m_axil_arvalid || m_axil_arready))
				state <= WAIT;
		end
		default:
			if (answer)
				state <= IDLE;
		endcase

	// ---- the queue of writes for the firmware ----

	reg open;			// the firmware is there
	reg [DEPTH_LOG2:0] head, tail;	// next write to come, oldest one
	reg [DEPTH_LOG2:0] mails;	// those of page FW
	reg oldest;			// the oldest one can be read
	wire [DEPTH_LOG2:0] used = head - tail;
	wire full = used[DEPTH_LOG2];
	wire [16:0] o_addr;
	wire [31:0] o_data;

	wire push_fits = d_valid && d_write && d_whole && (d_fw || d_bell) && open;
	wire push = push_fits && !full;
	wire pop = f_valid && f_write && f_whole && f_box &&
		   f_addr[11:0] == `NIC_BOX_DONE && oldest;
	wire pop_mail = pop && !o_addr[16];

	fl_ram #(.WIDTH(49), .DEPTH(DEPTH), .ADDR(DEPTH_LOG2)) queue (
		.clk(clk),
		.i_we(push),
		.i_waddr(head[DEPTH_LOG2-1:0]),
		.i_wdata({d_addr, d_wdata}),
		.i_re(1'b1),
		.i_raddr(tail[DEPTH_LOG2-1:0]),
		.o_rdata({o_addr, o_data})
	);

	// Who waits for the firmware, and how long.
	wire read_mail = d_valid && !d_write && d_fw_word && open;
	wire waits = (push_fits && full) || (read_mail && mails != 0);
	reg [PATIENCE:0] waited;

	wire box_write = f_valid && f_write && f_whole && f_box;

	always @(posedge clk)
		if (rst) begin
			open <= 1'b0;
			waited <= 0;
		end else begin
			waited <= waits ? waited + 1'b1 : 0;
			if (waited[PATIENCE])
				open <= 1'b0;
			else if (box_write && f_addr[11:0] == `NIC_BOX_OPEN)
				open <= f_wdata[`NIC_BOX_OPEN_OPEN_LSB];
		end

	always @(posedge clk)
		if (rst || !open) begin
			head <= 0;
			tail <= 0;
			mails <= 0;
			oldest <= 1'b0;
		end else begin
			if (push)
				head <= head + 1'b1;
			if (pop)
				tail <= tail + 1'b1;
			if ((push && d_fw) != pop_mail)
				mails <= pop_mail ? mails - 1'b1 : mails + 1'b1;
			oldest <= used != 0 && !pop;
		end

	// ---- page FW as the driver reads it; lines; link ----

	reg [31:0] words [0:(1<<WORDS_LOG2)-1];
	wire [31:0] d_word = words[d_addr[WORDS_LOG2+1:2]];
	wire [31:0] f_word = words[f_addr[WORDS_LOG2+1:2]];
	reg line;

	always @(posedge clk)
		if (f_valid && f_write && f_whole && f_fw_word)
			words[f_addr[WORDS_LOG2+1:2]] <= f_wdata;

	always @(posedge clk)
		if (rst) begin
			line <= 1'b0;
			o_link_delay <= 16'd0;
			o_link_drop <= 16'd0;
			o_link_twice <= 16'd0;
		end else if (box_write)
			case (f_addr[11:0])
			`NIC_BOX_LINE: line <= f_wdata[`NIC_BOX_LINE_LEVEL_LSB];
			`NIC_BOX_LINK_DELAY: o_link_delay <= f_wdata[15:0];
			`NIC_BOX_LINK_DROP: o_link_drop <= f_wdata[15:0];
			`NIC_BOX_LINK_TWICE: o_link_twice <= f_wdata[15:0];
			default: ;
			endcase

	assign o_irq_event = line && open && mails == 0;
	assign o_irq_firmware = i_irq_engine || oldest;

	// ---- answers ----

	reg box_there, box_writable;

	always @* begin
		box_there = 1'b1;
		box_writable = 1'b1;
		f_rdata = 32'd0;
		case (f_addr[11:0])
		`NIC_BOX_OPEN: f_rdata[`NIC_BOX_OPEN_OPEN_LSB] = open;
		`NIC_BOX_LINE: f_rdata[`NIC_BOX_LINE_LEVEL_LSB] = line;
		`NIC_BOX_ADDR: begin
			f_rdata[`NIC_BOX_ADDR_OFFSET_MSB:`NIC_BOX_ADDR_OFFSET_LSB] = o_addr;
			f_rdata[`NIC_BOX_ADDR_VALID_LSB] = oldest;
			box_writable = 1'b0;
		end
		`NIC_BOX_DATA: begin
			f_rdata = o_data;
			box_writable = 1'b0;
		end
		`NIC_BOX_DONE: begin
			box_there = f_write;
			box_writable = oldest;
		end
		`NIC_BOX_LINK_DELAY: f_rdata[15:0] = o_link_delay;
		`NIC_BOX_LINK_DROP: f_rdata[15:0] = o_link_drop;
		`NIC_BOX_LINK_TWICE: f_rdata[15:0] = o_link_twice;
		default: box_there = 1'b0;
		endcase
		if (f_engine)
			f_rdata = m_axil_rdata;
		else if (f_fw_word)
			f_rdata = f_word;

		d_rdata = 32'd0;
		if (d_engine)
			d_rdata = m_axil_rdata;
		else if (d_fw_word && open)
			d_rdata = d_word;
	end

	wire f_there = f_fw_word || (f_box && box_there && (!f_write || box_writable));
	assign f_done = f_engine ? answer && f_owner : f_valid;
	assign f_bad = f_engine ? answer_bad : !f_there || (f_write && !f_whole);

	wire d_there = d_bell || (d_write ? d_fw && d_whole : d_fw_word);
	assign d_done = d_engine ? answer && !f_owner : d_valid && !waits;
	assign d_bad = d_engine ? answer_bad : !d_there;

	wire unused = &{1'b0, m_axil_bresp[0], m_axil_rresp[0]};
endmodule

`default_nettype wire
