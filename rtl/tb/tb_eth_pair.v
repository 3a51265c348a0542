// SPDX-License-Identifier: BSD-2-Clause
// Two cards with clocks of their own, as two boards have them, and Ethernet between them: a
// WRITE whose pages are missing at both ends, with the addresses that are there after reset, and
// with others; then over a wire that damages frames, with a MAC that says so and without; and
// with a MAC that is reset in the middle. What arrives is compared byte by byte.
`default_nettype none
`include "entries.vh"
`include "regs.vh"

module tb_eth_pair;
	reg clk_a = 0, clk_b = 0, clk_ab = 0, clk_ba = 0, aresetn = 0, mac_resetn = 0;
	always #67 clk_a = !clk_a;
	always #71 clk_b = !clk_b;
	always #64 clk_ab = !clk_ab;		// what a's MAC sends with, and b's receives
	always #63 clk_ba = !clk_ba;

	wire [63:0] ab_tdata, ba_tdata;
	wire [7:0] ab_tkeep, ba_tkeep;
	wire ab_tlast, ab_tvalid, ba_tlast, ba_tvalid;

	// Every n-th frame is damaged in its second word of payload; says says that it is.
	integer n = 0, frames = 0, word = 0, said = 0, unsaid = 0;
	reg says = 0;
	wire damage = n != 0 && frames % n == n - 1;
	always @(posedge clk_ab)
		if (ab_tvalid) begin
			word <= ab_tlast ? 0 : word + 1;
			if (ab_tlast)
				frames <= frames + 1;
			if (ab_tlast && damage) begin
				said = said + says;
				unsaid = unsaid + !says;
			end
		end

	eth_card #(.NODE(0)) a (
		.aclk(clk_a), .aresetn(aresetn), .tx_clk(clk_ab), .rx_clk(clk_ba),
		.mac_resetn(mac_resetn), .tx_tdata(ab_tdata), .tx_tkeep(ab_tkeep),
		.tx_tlast(ab_tlast), .tx_tvalid(ab_tvalid), .rx_tdata(ba_tdata),
		.rx_tkeep(ba_tkeep), .rx_tlast(ba_tlast), .rx_tuser(1'b0), .rx_tvalid(ba_tvalid)
	);
	eth_card #(.NODE(1)) b (
		.aclk(clk_b), .aresetn(aresetn), .tx_clk(clk_ba), .rx_clk(clk_ab),
		.mac_resetn(1'b1), .tx_tdata(ba_tdata), .tx_tkeep(ba_tkeep),
		.tx_tlast(ba_tlast), .tx_tvalid(ba_tvalid),
		.rx_tdata(ab_tdata ^ (damage && word == 7 ? 64'h10 : 64'h0)),
		.rx_tkeep(ab_tkeep), .rx_tlast(ab_tlast), .rx_tuser(damage && says && ab_tlast),
		.rx_tvalid(ab_tvalid)
	);

	integer errors = 0, i, k, round, seed = 11, was;

	task check;
		input ok;
		input [8*60-1:0] text;
		if (!ok) begin
			$display("wrong: %0s at %0t", text, $time);
			errors = errors + 1;
		end
	endtask

	// Random bytes, and every third page is missing.
	task fill;
		begin
			for (k = 0; k < 'hC000; k = k + 1) begin
				a.card.m.mem['h2000 + k] = {$random(seed)} % 256;
				b.card.m.mem['h14000 + k] = {$random(seed)} % 256;
			end
			for (k = 0; k < 64; k = k + 1) begin
				a.card.m.page[k] = k % 3 == 0;
				b.card.m.page[k] = k % 3 == 0;
			end
		end
	endtask

	task finish;
		input integer blocks;
		begin
			was = a.card.done;
			for (round = 0; round < 20000 && a.card.done < was + blocks; round = round + 1) begin
				a.card.serve;
				b.card.serve;
				if (round % 1000 == 999)
					for (i = 0; i < 4; i = i + 1)
						a.card.expire(i);
			end
			check(a.card.done == was + blocks, "not all blocks were finished");
			check(a.card.status == `FL_ST_OK, "status");
		end
	endtask

	// Blocks of a, one in each context, each over missing pages at both ends.
	task transfer;
		input integer blocks;
		begin
			fill;
			for (k = 0; k < blocks; k = k + 1)
				a.card.go(k, `FL_OP_WRITE, 1, k, 'h2F80 + 'h3000 * k + k,
					  'h14FC0 + 'h3000 * k, 400 + 111 * k);
			finish(blocks);
			for (k = 0; k < blocks; k = k + 1)
				for (i = 0; i < 400 + 111 * k; i = i + 1)
					if (a.card.m.mem['h2F80 + 'h3000 * k + k + i] !==
					    b.card.m.mem['h14FC0 + 'h3000 * k + i]) begin
						check(0, "a byte");
						i = 400 + 111 * k;
					end
		end
	endtask

	initial begin
		repeat (4) @(posedge clk_b);
		aresetn = 1;
		mac_resetn = 1;
		repeat (20) @(posedge clk_b);
		a.card.start;
		b.card.start;
		a.card.drv_start;
		b.card.drv_start;
		transfer(1);
		check(a.card.faults == 1 && b.card.faults == 1, "pages are missing at both ends");
		a.table_write(0, 32'hC0A80A01, 48'h00A0C9112233);
		a.table_write(1, 32'hC0A80AFE, 48'h00A0C9445566);
		b.table_write(0, 32'hC0A80A01, 48'h00A0C9112233);
		b.table_write(1, 32'hC0A80AFE, 48'h00A0C9445566);
		transfer(4);
		n = 4;
		says = 1;
		transfer(2);
		says = 0;
		transfer(2);
		n = 0;
		check(said >= 2 && unsaid >= 2, "frames were damaged");
		b.drv.read(17'h30);
		check(b.drv.data == said, "those that were said to be bad");
		for (k = 0; k < 2; k = k + 1)
			a.card.go(k, `FL_OP_WRITE, 1, k, 'h4000 + 'h1000 * k, 'h8000 + 'h1000 * k, 2000);
		repeat (400) @(posedge clk_a);
		mac_resetn = 0;
		#1000 mac_resetn = 1;
		finish(2);
		for (k = 0; k < 4000; k = k + 1)
			if (k % 4096 < 2000)
				check(a.card.m.mem['h4000 + k] === b.card.m.mem['h8000 + k], "after a reset");

		check(a.card.errors == 0 && b.card.errors == 0, "AxPROT, AxCACHE, AxLOCK");
		check(a.card.m.errors == 0 && b.card.m.errors == 0, "the memory complains");
		if (errors == 0)
			$display("PASS tb_eth_pair: %0d blocks, %0d and %0d faults, %0d and %0d frames damaged",
				 a.card.done, a.card.faults, b.card.faults, said, unsaid);
		$finish(0);
	end

	initial begin
		#60000000;
		$display("wrong: no end");
		$finish(0);
	end
endmodule

`default_nettype wire
