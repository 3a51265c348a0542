// SPDX-License-Identifier: BSD-2-Clause
// fl_queue against a list, with random pushes and pops: both kinds, filled to the last key.
`default_nettype none

module tb_queue;
	reg clk, rst, push0, push1, pop;
	reg [9:0] entry;		// 4 bits of key
	wire done0, done1;
	wire [9:0] head0, head1;
	wire [5:0] count0, count1;	// 32 places
	integer errors, step, seed, most;

	fl_queue #(.WIDTH(10), .KEY(4), .LOG2(5), .KEEP(0)) any_place (
		.clk(clk), .rst(rst), .push(push0), .entry(entry), .done(done0), .pop(pop && count0 != 0),
		.head(head0), .count(count0));
	fl_queue #(.WIDTH(10), .KEY(4), .LOG2(5), .KEEP(1)) not_the_head (
		.clk(clk), .rst(rst), .push(push1), .entry(entry), .done(done1), .pop(pop && count1 != 0),
		.head(head1), .count(count1));

	// The lists: list[0..31] of the first queue, list[32..63] of the second one.
	reg [9:0] list [0:63];
	integer n [0:1];

	task remove;
		input integer which;
		input integer at;
		integer k;
		begin
			for (k = at; k + 1 < n[which]; k = k + 1)
				list[32 * which + k] = list[32 * which + k + 1];
			n[which] = n[which] - 1;
		end
	endtask

	task append;
		input integer which;
		integer k, old;
		begin
			old = -1;
			for (k = which; k < n[which]; k = k + 1)
				if (list[32 * which + k] >> 6 == entry >> 6)
					old = k;
			if (old >= 0)
				remove(which, old);
			list[32 * which + n[which]] = entry;
			n[which] = n[which] + 1;
		end
	endtask

	task check;
		begin
			if (count0 !== n[0] || count1 !== n[1] || (n[0] != 0 && head0 !== list[0]) ||
				(n[1] != 0 && head1 !== list[32])) begin
				$display("step %0d: %0d %h, not %0d %h; %0d %h, not %0d %h", step, count0, head0,
					 n[0], list[0], count1, head1, n[1], list[32]);
				errors = errors + 1;
			end
		end
	endtask

	always #5 clk = !clk;

	initial begin
		{clk, push0, push1, pop} = 0;
		rst = 1;
		errors = 0;
		most = 0;
		seed = 7;
		n[0] = 0;
		n[1] = 0;
		entry = 0;
		repeat (3) @(negedge clk);
		rst = 0;
		for (step = 0; step < 20000 && errors < 5; step = step + 1) begin
			// Long stretches in which the queues fill up, and such in which they drain.
			if ($random(seed) % 8 < (step / 200 % 2 ? 5 : -2)) begin
				pop = 1;
				@(negedge clk);
				pop = 0;
				if (n[0] != 0)
					remove(0, 0);
				if (n[1] != 0)
					remove(1, 0);
			end else begin
				entry = $random(seed);
				append(0);
				append(1);
				push_both;
			end
			check;
			if (count1 > most)
				most = count1;
		end
		if (most != 17) begin
			$display("the second queue never held every key and an old head: %0d", most);
			errors = errors + 1;
		end
		if (errors == 0)
			$display("PASS");
		$finish(0);
	end

	// Each queue says for itself when it is done: they walk over different lengths.
	reg was0, was1;
	task push_both;
		begin
			{push0, push1} = 2'b11;
			while (push0 || push1) begin
				was0 = done0;
				was1 = done1;
				@(negedge clk);
				push0 = push0 && !was0;
				push1 = push1 && !was1;
			end
		end
	endtask
endmodule

`default_nettype wire
