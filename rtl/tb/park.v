// SPDX-License-Identifier: BSD-2-Clause
// park - what parking is good for: clock cycles per packet, when some blocks find a page of
// their source missing and the driver takes SERVICE cycles for it. make rtl-park has Verilator
// run it; in Icarus (rtl/tb/run park) 1000 packets a row take minutes.
//
// One card keeps four contexts busy; a block is one packet of 1 KB. Blocking is the same engine,
// whose read channel stands still from a fault until that block is READY again, as a DMA with a
// wait state in its data path does. Each fault is served by itself: the driver works at all of
// them at once.
`default_nettype none
`include "entries.vh"
`include "fsm.vh"
`include "regs.vh"

module park;
	localparam CONTEXTS = 4, LENGTH = 1024, SERVICE = 3000;

	`include "self.vh"
	defparam a.CELL_LOG2 = 10;

	integer errors = 0, blocks = 1000, clocks = 0, rate, fill, begun, ended, left, beside, i, n;
	reg blocking;

	// What waits for the driver.
	wire [CONTEXTS-1:0] parked;
	genvar g;
	generate
		for (g = 0; g < CONTEXTS; g = g + 1)
			assign parked[g] = a.top.engine.u_ctl.t_state[g] == `FL_TX_SRCFAULT;
	endgenerate
	wire stop = blocking && parked != 0;
	always @(stop)
		if (stop)
			force a.top.engine.u_rd.may_ask = 0;
		else
			release a.top.engine.u_rd.may_ask;

	always @(posedge clk) begin
		clocks = clocks + 1;
		if (a.top.engine.tp_start && !a.top.engine.tp_answer) begin
			left = left + 1;
			if (parked != 0)
				beside = beside + 1;
		end
	end

	// The firmware: the next block of this context, every so many with its page missing.
	task next;
		input [3:0] ctx;
		if (begun < blocks) begin
			begun = begun + 1;
			fill = fill + rate;
			if (fill >= 100) begin
				fill = fill - 100;
				a.m.page[1 + ctx] = 1;
			end
			a.fw.write(`NIC_CTX_BASE + `NIC_CTX_STRIDE * ctx + `NIC_CTX_CTRL,
				   32'd1 << `NIC_CTX_CTRL_GO_LSB | `FL_OP_WRITE);
		end
	endtask

	task firmware;
		begin
			a.fw.read(`NIC_ENG_BASE + `NIC_ENG_EVT_POP);
			n = a.fw.data[15:8];
			if (a.fw.data[`NIC_ENG_EVT_POP_VALID_LSB])
				case (a.fw.data[7:0])
				`FL_NOTE_RX_OPEN:
					a.fw.write(`NIC_RXC_BASE + `NIC_RXC_STRIDE * n +
						   `NIC_RXC_VERDICT, {1'b0, a.STREAM, a.fw.data[23:16], 8'd0});
				`FL_NOTE_TX_DONE: begin
					a.fw.write(`NIC_CTX_BASE + `NIC_CTX_STRIDE * n +
						   `NIC_CTX_CTRL, 32'd1 << `NIC_CTX_CTRL_RELEASE_LSB);
					ended = ended + 1;
					next(n);
				end
				default: ;
				endcase
		end
	endtask

	// The driver.
	reg [CONTEXTS-1:0] served = 0;
	integer due [0:CONTEXTS-1];
	reg [31:0] told [0:CONTEXTS-1];
	integer d;
	initial forever begin
		@(posedge clk);
		if (a.irq_fault) begin
			a.drv.read(`NIC_ENG_BASE + `NIC_ENG_FLT_REF);
			d = a.drv.data[1:0];
			told[d] = a.drv.data & 32'h00FF01FF;
			due[d] = clocks + SERVICE;
			served[d] = 1;
			a.drv.write(`NIC_ENG_BASE + `NIC_ENG_FLT_POP, 0);
		end
		for (d = 0; d < CONTEXTS; d = d + 1)
			if (served[d] && clocks >= due[d]) begin
				served[d] = 0;
				a.m.page[1 + d] = 0;
				a.drv.write(`NIC_ENG_BASE + `NIC_ENG_READY, told[d]);
			end
	end

	real per [0:1];			// cycles per packet, parked and blocking
	integer share;
	task measure;
		input integer percent;
		begin
			rate = percent;
			for (i = 0; i < 2; i = i + 1) begin
				blocking = i;
				{begun, ended, left, beside} = 0;
				fill = 50;
				clocks = 0;
				for (n = 0; n < CONTEXTS; n = n + 1)
					next(n);
				while (ended < blocks && clocks < 5000 * blocks)
					if (a.irq_firmware)
						firmware;
					else
						@(posedge clk);
				if (left != blocks || ended != blocks) begin
					$display("wrong: %0d packets, %0d blocks", left, ended);
					errors = errors + 1;
				end
				per[i] = 1.0 * clocks / blocks;
				if (i == 0)
					share = 100 * beside / left;
			end
			$display("| %0d %% | %.1f | %.1f | %0d %% |", percent, per[0], per[1], share);
			if (percent > 0 && per[1] <= per[0]) begin
				$display("wrong: blocking is as good");
				errors = errors + 1;
			end
		end
	endtask

	initial begin
		blocking = 0;
		rate = 0;
		if ($value$plusargs("blocks=%d", blocks)) ;
		a.fill;
		repeat (4) @(posedge clk);
		aresetn = 1;
		repeat (4) @(posedge clk);
		a.start;
		a.drv_start;
		// All but GO stays in a context.
		for (n = 0; n < CONTEXTS; n = n + 1) begin
			a.fw.write(`NIC_CTX_BASE + `NIC_CTX_STRIDE * n + `NIC_CTX_DST, 32'd5 << 8);
			a.fw.write(`NIC_CTX_BASE + `NIC_CTX_STRIDE * n + `NIC_CTX_STREAM, a.STREAM);
			a.fw.write64(`NIC_CTX_BASE + `NIC_CTX_STRIDE * n + `NIC_CTX_LVA, (n + 1) << 12);
			a.fw.write64(`NIC_CTX_BASE + `NIC_CTX_STRIDE * n + `NIC_CTX_RVA, (n + 33) << 12);
			a.fw.write(`NIC_CTX_BASE + `NIC_CTX_STRIDE * n + `NIC_CTX_LEN, LENGTH);
		end
		$display("| faults | parked | blocking | left while a block was parked |");
		$display("| --- | --- | --- | --- |");
		measure(0);
		measure(2);
		measure(15);
		if (errors == 0)
			$display("PASS park: cycles per packet of %0d bytes, %0d packets a row, %0d cycles a fault",
				 LENGTH, blocks, SERVICE);
		$finish(0);
	end
endmodule

`default_nettype wire
