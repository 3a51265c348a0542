// SPDX-License-Identifier: BSD-2-Clause
// axil_master - for benches: software's side of an AXI4-Lite port, by tasks.
`default_nettype none

module axil_master (
	input  wire		clk,
	output reg  [16:0]	awaddr,
	output reg		awvalid,
	input  wire		awready,
	output reg  [31:0]	wdata,
	output reg  [3:0]	wstrb,
	output reg		wvalid,
	input  wire		wready,
	input  wire [1:0]	bresp,
	input  wire		bvalid,
	output reg		bready,
	output reg  [16:0]	araddr,
	output reg		arvalid,
	input  wire		arready,
	input  wire [31:0]	rdata,
	input  wire [1:0]	rresp,
	input  wire		rvalid,
	output reg		rready
);
	reg [31:0] data;		// of the last read
	reg [1:0] resp;			// of the last access
	reg aw, w;
	integer clocks;			// that it took

	initial begin
		awvalid = 0;
		wvalid = 0;
		bready = 0;
		arvalid = 0;
		rready = 0;
		awaddr = 0;
		araddr = 0;
		wdata = 0;
		wstrb = 0;
		resp = 0;
		data = 0;
	end

	task write_bytes;
		input [16:0] addr;
		input [31:0] value;
		input [3:0] strb;
		begin
			@(negedge clk);
			clocks = 0;
			awaddr = addr;
			wdata = value;
			wstrb = strb;
			awvalid = 1;
			wvalid = 1;
			while (awvalid || wvalid) begin
				@(posedge clk);
				aw = awready;
				w = wready;
				clocks = clocks + 1;
				@(negedge clk);
				awvalid = awvalid && !aw;
				wvalid = wvalid && !w;
			end
			bready = 1;
			@(posedge clk);
			while (!bvalid) begin
				clocks = clocks + 1;
				@(posedge clk);
			end
			resp = bresp;
			@(negedge clk);
			bready = 0;
		end
	endtask

	task write;
		input [16:0] addr;
		input [31:0] value;
		write_bytes(addr, value, 4'hF);
	endtask

	task write64;
		input [16:0] addr;
		input [63:0] value;
		begin
			write(addr, value[31:0]);
			write(addr + 4, value[63:32]);
		end
	endtask

	task read;
		input [16:0] addr;
		begin
			@(negedge clk);
			clocks = 0;
			araddr = addr;
			arvalid = 1;
			@(posedge clk);
			while (!arready)
				@(posedge clk);
			@(negedge clk);
			arvalid = 0;
			rready = 1;
			@(posedge clk);
			while (!rvalid) begin
				clocks = clocks + 1;
				@(posedge clk);
			end
			data = rdata;
			resp = rresp;
			@(negedge clk);
			rready = 0;
		end
	endtask
endmodule

`default_nettype wire
