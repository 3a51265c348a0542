// SPDX-License-Identifier: BSD-2-Clause
// axi_page_mem - for benches: memory behind a page table, an AXI4 slave of 128 bits.
//
// A page answers OK, SLVERR (the SMMU refuses) or DECERR (nobody there), on all beats of a burst
// or on a single one. Nothing of a bad page is written. Every handshake stalls with the
// probability stall / 256. What a master must not do is counted in errors: a burst across a
// page, a payload that changes or a VALID that falls before its READY, a wrong size or WLAST.
//
// In which order it takes an address and the data of a write, order says: a master may not wait
// for AWREADY before it offers WVALID (A3.3.1), so a slave may take them in any.
//
// Benches set page[], stall and order and look at mem[] by name. Bits above MEM_LOG2 of an address
// are not looked at here.
`default_nettype none

module axi_page_mem #(
	parameter MEM_LOG2 = 18
) (
	input  wire		clk,
	input  wire		rst,
	input  wire [63:0]	araddr,
	input  wire [7:0]	arlen,
	input  wire [2:0]	arsize,
	input  wire [1:0]	arburst,
	input  wire		arvalid,
	output reg		arready,
	output reg  [127:0]	rdata,
	output reg  [1:0]	rresp,
	output reg		rlast,
	output reg		rvalid,
	input  wire		rready,
	input  wire [63:0]	awaddr,
	input  wire [7:0]	awlen,
	input  wire [2:0]	awsize,
	input  wire [1:0]	awburst,
	input  wire		awvalid,
	output reg		awready,
	input  wire [127:0]	wdata,
	input  wire [15:0]	wstrb,
	input  wire		wlast,
	input  wire		wvalid,
	output reg		wready,
	output reg  [1:0]	bresp,
	output reg		bvalid,
	input  wire		bready
);
	// page[]
	localparam [2:0] OK = 0,
		SLV = 1,		// SLVERR
		DEC = 2,		// DECERR
		SLV_ONE = 3,		// SLVERR on the first beat only (a write: as SLV)
		DEC_ONE = 4;		// SLVERR on the first beat, DECERR on the second if any
	localparam [1:0] OKAY = 2'd0, SLVERR = 2'd2, DECERR = 2'd3;

	reg [7:0] mem [0:(1 << MEM_LOG2) - 1];
	reg [2:0] page [0:(1 << (MEM_LOG2 - 12)) - 1];
	reg [8:0] stall;
	// order
	localparam [1:0] EITHER = 0,	// AW and W are taken when they come
		SEES_DATA = 1,		// AWREADY waits for WVALID, and WREADY for the address
		DATA_FIRST = 2,		// AW is taken when all W were
		ADDRESS_FIRST = 3;	// W are taken when AW was
	reg [1:0] order;
	integer seed, errors;
	integer reads, writes;		// bursts

	initial begin
		stall = 0;
		order = EITHER;
		seed = 1;
		errors = 0;
		reads = 0;
		writes = 0;
	end

	function go;
		input unused;
		go = {$random(seed)} % 256 >= stall && !unused;
	endfunction

	task wrong;
		input [8*40-1:0] text;
		begin
			$display("axi_page_mem: %0s at %0t", text, $time);
			errors = errors + 1;
		end
	endtask

	task check_burst;
		input [63:0] addr;
		input [7:0] len;
		input [2:0] size;
		input [1:0] burst;
		begin
			if (addr[3:0] != 0 || size != 4 || burst != 1)
				wrong("not a burst of 16-byte words");
			if (addr[11:4] + {1'b0, len} > 255)
				wrong("a burst crosses a page");
		end
	endtask

	// Every VALID with its payload, as it was if its READY did not come; 0: it did.
	reg [80:0] ar_was, aw_was;
	reg [145:0] w_was;
	always @(posedge clk) begin
		if (ar_was[80] && ar_was !== {arvalid, arlen, araddr, arsize, arburst, 3'b0})
			wrong("AR changes");
		if (aw_was[80] && aw_was !== {awvalid, awlen, awaddr, awsize, awburst, 3'b0})
			wrong("AW changes");
		if (w_was[145] && w_was !== {wvalid, wlast, wstrb, wdata})
			wrong("W changes");
		ar_was <= arready || rst ? 0 :
			  {arvalid, arlen, araddr, arsize, arburst, 3'b0};
		aw_was <= awready || rst ? 0 :
			  {awvalid, awlen, awaddr, awsize, awburst, 3'b0};
		w_was <= wready || rst ? 0 : {wvalid, wlast, wstrb, wdata};
		if ((^{arvalid, awvalid, wvalid, rready, bready}) === 1'bx && !rst)
			wrong("a handshake is unknown");
	end

	// Reads: one burst at a time.
	reg reading;
	reg [MEM_LOG2-1:0] raddr;
	reg [7:0] rleft;
	reg rfirst, rsecond;
	wire [2:0] rpage = page[raddr[MEM_LOG2-1:12]];
	integer i, j;

	always @(posedge clk) begin
		arready <= !reading && !(arvalid && arready) && go(0);
		if (arvalid && arready) begin
			check_burst(araddr, arlen, arsize, arburst);
			reads = reads + 1;
			reading <= 1;
			raddr <= araddr[MEM_LOG2-1:0];
			rleft <= arlen;
			rfirst <= 1;
			rsecond <= 0;
		end
		if (rvalid && rready) begin
			rvalid <= 0;
			if (rlast)
				reading <= 0;
		end
		if (reading && !(rvalid && rready && rlast) && (!rvalid || rready) && go(0)) begin
			rvalid <= 1;
			rlast <= rleft == 0;
			for (i = 0; i < 16; i = i + 1)
				rdata[8 * i +: 8] <= mem[raddr + i];
			rresp <= rpage == SLV || (rpage == SLV_ONE && rfirst) ? SLVERR :
				 rpage == DEC ? DECERR :
				 rpage == DEC_ONE && rsecond ? DECERR :
				 rpage == DEC_ONE && rfirst ? (rleft == 0 ? DECERR : SLVERR) :
				 OKAY;
			rfirst <= 0;
			rsecond <= rfirst;
			raddr <= raddr + 16;
			rleft <= rleft - 1;
		end
		if (rst) begin
			reading <= 0;
			rvalid <= 0;
			arready <= 0;
		end
	end

	// Writes.
	reg have_aw, have_w;		// taken; all of them
	reg [MEM_LOG2-1:0] waddr;
	reg [7:0] wlen;
	reg [8:0] beats;
	reg [127:0] wbuf [0:255];
	reg [15:0] wmask [0:255];
	wire [2:0] wpage = page[waddr[MEM_LOG2-1:12]];

	always @(posedge clk) begin
		awready <= !have_aw && !(awvalid && awready) && go(0) &&
			   (order != SEES_DATA || wvalid) && (order != DATA_FIRST || have_w);
		wready <= !have_w && !(wvalid && wready && wlast) && go(0) &&
			  (order == EITHER || order == DATA_FIRST || have_aw);
		if (awvalid && awready) begin
			check_burst(awaddr, awlen, awsize, awburst);
			writes = writes + 1;
			have_aw <= 1;
			waddr <= awaddr[MEM_LOG2-1:0];
			wlen <= awlen;
		end
		if (wvalid && wready) begin
			wbuf[beats[7:0]] <= wdata;
			wmask[beats[7:0]] <= wstrb;
			beats <= beats + 1;
			have_w <= wlast;
		end
		if (have_aw && have_w && !bvalid && go(0)) begin
			if (beats != {1'b0, wlen} + 1)
				wrong("WLAST is not where AWLEN says");
			bvalid <= 1;
			bresp <= wpage == OK ? OKAY :
				 wpage == SLV || wpage == SLV_ONE ? SLVERR : DECERR;
			for (j = 0; j < 16 * beats; j = j + 1)
				if (wpage == OK && wmask[j / 16][j % 16])
					mem[waddr + j] = wbuf[j / 16][8 * (j % 16) +: 8];
		end
		if (bvalid && bready) begin
			bvalid <= 0;
			have_aw <= 0;
			have_w <= 0;
			beats <= 0;
		end
		if (rst) begin
			have_aw <= 0;
			have_w <= 0;
			beats <= 0;
			bvalid <= 0;
			awready <= 0;
			wready <= 0;
		end
	end
endmodule

`default_nettype wire
