// SPDX-License-Identifier: BSD-2-Clause
// One card that hears itself through the link on the chip: the first thing to try on a board,
// and what a netlist of it has to do as well (rtl/zu/synth). A block with pages missing at both
// ends, one that nobody answers in time, and one beyond the port's addresses.
`default_nettype none
`include "entries.vh"
`include "regs.vh"

module tb_card;
`include "self.vh"

	integer errors = 0, k, round, was;

	task check;
		input ok;
		input [8*60-1:0] text;
		if (!ok) begin
			$display("wrong: %0s at %0t", text, $time);
			errors = errors + 1;
		end
	endtask

	task finish;
		input [7:0] status;
		begin
			was = a.done;
			for (round = 0; round < 10000 && a.done == was; round = round + 1) begin
				a.serve;
				if (round % 1000 == 999)
					a.expire(0);
			end
			check(a.done != was && a.status == status, "how the block ended");
		end
	endtask

	task same;
		input integer from, to, n;
		for (k = 0; k < n; k = k + 1)
			if (a.m.mem[from + k] !== a.m.mem[to + k]) begin
				check(0, "a byte is another");
				k = n;
			end
	endtask

	initial begin
		a.fill;
		repeat (4) @(posedge clk);
		aresetn = 1;
		repeat (4) @(posedge clk);
		a.start;
		a.drv_start;
		a.drv.read(`NIC_ENG_BASE + `NIC_ENG_ID);
		check(a.drv.data === `NIC_ENG_ID_RESET, "the card's name");
		a.drv.read(`NIC_FW_BASE + `NIC_FW_ID);
		check(a.drv.data === 0, "no firmware yet");
		a.fw.write(`NIC_FW_BASE + `NIC_FW_ID, `NIC_FW_ID_RESET);
		a.fw.write(`NIC_BOX_BASE + `NIC_BOX_OPEN, 1);
		a.drv.read(`NIC_FW_BASE + `NIC_FW_ID);
		check(a.drv.data === `NIC_FW_ID_RESET, "the firmware's name");

		// The port sees data before it takes an address: none may wait for the other.
		a.m.order = 1;
		a.m.page[2] = 1;
		a.m.page['h21] = 1;
		a.go(0, `FL_OP_WRITE, 0, 5, 'h1F83, 'h20FC9, 300);
		finish(`FL_ST_OK);
		same('h1F83, 'h20FC9, 300);
		check(a.faults == 2, "two pages were missing");

		a.m.order = 2;
		// Not 5: four cells and the ACK, and each time it were the ACK.
		a.fw.write(`NIC_BOX_BASE + `NIC_BOX_LINK_DROP, 6);
		a.go(0, `FL_OP_WRITE, 0, 0, 'h5000, 'h30000, 1000);
		finish(`FL_ST_OK);
		same('h5000, 'h30000, 1000);

		a.go(0, `FL_OP_WRITE, 0, 0, 64'h2_0000_0000_5000, 'h30000, 64);
		finish(`FL_ST_BUS_ERROR);
		// The same at the end where it is written: its data go nowhere, and the next block's arrive.
		a.m.order = 1;
		a.go(0, `FL_OP_WRITE, 0, 0, 'h5000, 64'h2_0000_0003_0000, 64);
		finish(`FL_ST_BUS_ERROR);
		a.m.order = 3;
		a.go(0, `FL_OP_WRITE, 0, 0, 'h6000, 'h30000, 64);
		finish(`FL_ST_OK);
		same('h6000, 'h30000, 64);

		check(a.errors == 0, "AxPROT, AxCACHE, AxLOCK");
		check(a.m.errors == 0, "the memory complains");
		if (errors == 0)
			$display("PASS tb_card: %0d blocks, %0d faults, %0d clocks", a.done,
				 a.faults, $time / 10);
		$finish(0);
	end

	initial begin
		#1000000;
		$display("wrong: no end");
		$finish(0);
	end
endmodule

`default_nettype wire
