// SPDX-License-Identifier: BSD-2-Clause
// waves - beside tb_card, whose first block faults at both ends: puts what is worth looking at
// under short names, all of the card under its own, and ends when that block has ended.
`default_nettype none

module waves;
	wire		clk = tb_card.clk;
	// contexts: one sends the block, one receives it
	wire [3:0]	tx0 = tb_card.a.top.engine.u_ctl.t_state[0];
	wire [7:0]	tx0_attempt = tb_card.a.top.engine.u_ctl.t_attempt[0];
	wire [3:0]	rx0 = tb_card.a.top.engine.u_ctl.x_state[0];
	wire [3:0]	rx1 = tb_card.a.top.engine.u_ctl.x_state[1];
	// who works
	wire [6:0]	ctl = tb_card.a.top.engine.u_ctl.step;
	wire [1:0]	rd = tb_card.a.top.engine.u_rd.state;
	wire [2:0]	walk = tb_card.a.top.engine.u_rd.walk;
	wire [2:0]	wr = tb_card.a.top.engine.u_wr.state;
	// memory
	wire		arvalid = tb_card.a.arvalid, rvalid = tb_card.a.rvalid;
	wire		awvalid = tb_card.a.awvalid, wvalid = tb_card.a.wvalid;
	wire		bvalid = tb_card.a.bvalid;
	wire [48:0]	araddr = tb_card.a.araddr, awaddr = tb_card.a.awaddr;
	wire [1:0]	rresp = tb_card.a.rresp, bresp = tb_card.a.bresp;
	// lines and packets
	wire		irq_fault = tb_card.a.irq_fault, irq_firmware = tb_card.a.irq_firmware;
	wire		packet_out = tb_card.s_tvalid, packet_in = tb_card.m_tvalid;

	initial begin
		$dumpfile("fault.vcd");
		$dumpvars(1, waves);
		$dumpvars(0, tb_card.a.top);
	end

	always @(tb_card.a.done)
		if (tb_card.a.done == 1) begin
			#300 $display("waves: %0d faults, %0d clocks", tb_card.a.faults, $time / 10);
			$finish(0);
		end
endmodule

`default_nettype wire
