// SPDX-License-Identifier: BSD-2-Clause
// What the benches of the AXI4-Lite slaves share: a master whose five channels run side by side,
// each at its own random pace, so that reads meet writes, and addresses and data of writes come in
// any order; resets in the middle; and who answers behind the slave. The n-th write and the n-th
// read are functions of n, so that every observer knows by itself what has to come. The bench has
// these before it:
//
//	BENCH;  PARTS: parts of a word are passed on, otherwise refused;  ROUNDS
//	clk, rst, seed
//	aw*, w*, b*, ar*, r*: the slave's channels;  rq_*: its questions;  rq_strb: with strobes

	localparam AHEAD = 3;		// accesses that are under way at most, of each kind
	localparam [1:0] OKAY = 2'd0, SLVERR = 2'd2;

	integer errors = 0, resets = 0, round, i;
	integer meets = 0, writes = 0, reads = 0, refused = 0;
	integer aw_n, w_n, ar_n;	// offered, since the reset
	integer aw_t, w_t, ar_t;	// taken
	integer b_n, r_n;		// answered
	integer asked_w, asked_r;	// answered by who stands behind
	integer over_w, over_r;		// of the other kind, taken while one of this kind waited
	integer waits;			// clocks without anything while something is under way
	integer pace_aw, pace_w, pace_b, pace_ar, pace_r, pace_rq;
	reg issue;			// the master begins new accesses

	task fail;
		input [8*50-1:0] text;
		begin
			errors = errors + 1;
			if (errors < 20)
				$display("%0s: %0s at %0t", BENCH, text, $time);
		end
	endtask

	function roll;
		input integer pace;	// of 256
		roll = {$random(seed)} % 256 < pace;
	endfunction

	function [31:0] mix;
		input integer n;
		input integer salt;
		reg [31:0] x;
		begin
			x = (n + 1 + resets * 9973) * 32'h9E3779B1 + salt * 32'h85EBCA77;
			x = (x ^ x >> 15) * 32'h2C1B3C6D;
			mix = x ^ x >> 13;
		end
	endfunction

	function [16:0] waddr_of;
		input integer n;
		waddr_of = mix(n, 1);
	endfunction
	function [31:0] wdata_of;
		input integer n;
		wdata_of = mix(n, 2);
	endfunction
	function [3:0] wstrb_of;
		input integer n;
		wstrb_of = mix(n, 3) & 64 ? mix(n, 3) : 4'hF;
	endfunction
	function [16:0] raddr_of;
		input integer n;
		raddr_of = mix(n, 4);
	endfunction
	function [31:0] rdata_of;
		input integer n;
		rdata_of = mix(n, 5);
	endfunction
	function wbad_of;
		input integer n;
		wbad_of = (mix(n, 6) & 7) == 0;
	endfunction
	function rbad_of;
		input integer n;
		rbad_of = (mix(n, 7) & 7) == 0;
	endfunction
	// Answered by the slave itself.
	function stays;
		input integer n;
		stays = !PARTS && wstrb_of(n) != 4'hF;
	endfunction

	task skip_stays;		// up to a write that is passed on
		while (asked_w < w_n && stays(asked_w))
			asked_w = asked_w + 1;
	endtask

	// The master: what is offered stays until it is taken.
	always @(posedge clk)
		if (rst) begin
			{awvalid, wvalid, arvalid, bready, rready} <= 0;
			{aw_n, w_n, ar_n} = 0;
		end else begin
			if (!awvalid || awready) begin
				awvalid <= 0;
				if (issue && aw_n < b_n + AHEAD && roll(pace_aw)) begin
					awvalid <= 1;
					awaddr <= waddr_of(aw_n);
					aw_n = aw_n + 1;
				end
			end
			if (!wvalid || wready) begin
				wvalid <= 0;
				if ((issue ? w_n < b_n + AHEAD : w_n < aw_n) && roll(pace_w)) begin
					wvalid <= 1;
					wdata <= wdata_of(w_n);
					wstrb <= wstrb_of(w_n);
					w_n = w_n + 1;
				end
			end
			// Who has sent data sends the address, too.
			if (!issue && aw_n < w_n && (!awvalid || awready)) begin
				awvalid <= 1;
				awaddr <= waddr_of(aw_n);
				aw_n = aw_n + 1;
			end
			if (!arvalid || arready) begin
				arvalid <= 0;
				if (issue && ar_n < r_n + AHEAD && roll(pace_ar)) begin
					arvalid <= 1;
					araddr <= raddr_of(ar_n);
					ar_n = ar_n + 1;
				end
			end
			bready <= roll(pace_b);
			rready <= roll(pace_r);
		end

	// Who stands behind the slave.
	always @(posedge clk)
		if (rst) begin
			rq_done <= 0;
			{asked_w, asked_r} = 0;
		end else begin
			skip_stays;
			if (rq_valid && rq_write &&
			    {rq_addr, rq_wdata} !== {rq_waddr_of(asked_w), wdata_of(asked_w)})
				fail("another write is asked for");
			if (rq_valid && rq_write && PARTS && rq_strb !== wstrb_of(asked_w))
				fail("a write is asked for with other strobes");
			if (rq_valid && rq_write && asked_w >= (aw_t < w_t ? aw_t : w_t))
				fail("a write is asked for that nobody made");
			if (rq_valid && !rq_write && rq_addr !== rq_waddr_of_read(asked_r))
				fail("another read is asked for");
			if (rq_valid && !rq_write && asked_r >= ar_t)
				fail("a read is asked for that nobody made");
			if (rq_valid && rq_done) begin
				rq_done <= 0;
				if (rq_write)
					asked_w = asked_w + 1;
				else
					asked_r = asked_r + 1;
			end else if (rq_valid && roll(pace_rq)) begin
				rq_done <= 1;
				rq_rdata <= rq_write ? 32'hDEADDEAD : rdata_of(asked_r);
				rq_bad <= rq_write ? wbad_of(asked_w) : rbad_of(asked_r);
			end
			skip_stays;
		end

	// Strobes say which bytes, where they are passed on: then the address is a word's.
	function [16:0] rq_waddr_of;
		input integer n;
		rq_waddr_of = waddr_of(n) & (PARTS ? ~17'd3 : ~17'd0);
	endfunction
	function [16:0] rq_waddr_of_read;
		input integer n;
		rq_waddr_of_read = raddr_of(n) & (PARTS ? ~17'd3 : ~17'd0);
	endfunction

	// What is taken and answered, and what has waited for how long.
	reg [2:0] b_was;
	reg [34:0] r_was;
	wire write_here = awvalid && wvalid;
	wire takes_write = awvalid && awready && wvalid && wready;
	wire takes_read = arvalid && arready;
	always @(posedge clk)
		if (rst) begin
			{aw_t, w_t, ar_t, b_n, r_n, over_w, over_r, waits} = 0;
			{b_was, r_was} <= 0;
		end else begin
			if ((^{awready, wready, arready, bvalid, rvalid, rq_valid}) === 1'bx)
				fail("a handshake is unknown");
			if (b_was[2] && b_was !== {bvalid, bresp})
				fail("B changes before it is taken");
			if (r_was[34] && r_was !== {rvalid, rresp, rdata})
				fail("R changes before it is taken");
			b_was <= bready ? 3'd0 : {bvalid, bresp};
			r_was <= rready ? 35'd0 : {rvalid, rresp, rdata};
			if (awvalid && awready)
				aw_t = aw_t + 1;
			if (wvalid && wready)
				w_t = w_t + 1;
			if (takes_read)
				ar_t = ar_t + 1;
			meets = meets + (write_here && arvalid);
			over_w = takes_write ? 0 : over_w + (write_here && takes_read);
			over_r = takes_read ? 0 : over_r + (arvalid && takes_write);
			if (over_w > 1 || over_r > 1)
				fail("who waits is passed over twice");
			if (bvalid && b_n >= (aw_t < w_t ? aw_t : w_t))
				fail("an answer to no write");
			if (bvalid && bresp !== (stays(b_n) || wbad_of(b_n) ? SLVERR : OKAY))
				fail("a write's answer");
			if (bvalid && !stays(b_n) && b_n >= asked_w)
				fail("a write is answered before it is carried out");
			if (rvalid && r_n >= ar_t)
				fail("an answer to no read");
			if (rvalid && (rresp !== (rbad_of(r_n) ? SLVERR : OKAY) ||
				       rdata !== (rbad_of(r_n) ? 32'd0 : rdata_of(r_n))))
				fail("a read's answer");
			waits = waits + 1;
			if (bvalid && bready) begin
				refused = refused + stays(b_n);
				b_n = b_n + 1;
				writes = writes + 1;
				waits = 0;
			end
			if (rvalid && rready) begin
				r_n = r_n + 1;
				reads = reads + 1;
				waits = 0;
			end
			if (aw_n == b_n && w_n == b_n && ar_n == r_n)
				waits = 0;
			if (waits == 1000)
				fail("an access is never answered");
		end

	task paces;			// 256: at once
		begin
			pace_aw = 256 - 100 * ({$random(seed)} % 3);
			pace_w = 256 - 100 * ({$random(seed)} % 3);
			pace_b = 256 - 100 * ({$random(seed)} % 3);
			pace_ar = 256 - 100 * ({$random(seed)} % 3);
			pace_r = 256 - 100 * ({$random(seed)} % 3);
			pace_rq = 256 - 100 * ({$random(seed)} % 3);
		end
	endtask

	task run_rounds;
		begin
			issue = 1;
			paces;
			repeat (3) @(posedge clk);
			#1 rst = 0;
			for (round = 0; round < ROUNDS; round = round + 1) begin
				paces;
				issue = 1;
				repeat (20 + {$random(seed)} % 400) @(posedge clk);
				if (round % 4 == 3) begin
					// A reset wherever it comes: nothing of before is left.
					#1 rst = 1;
					resets = resets + 1;
					repeat (1 + {$random(seed)} % 3) @(posedge clk);
					#1 rst = 0;
				end else begin
					issue = 0;
					repeat (200) @(posedge clk);
					if (aw_n != b_n || w_n != b_n || ar_n != r_n)
						fail("not all accesses were answered");
				end
			end
			if (meets < 20 * ROUNDS || writes < 10 * ROUNDS || reads < 10 * ROUNDS)
				fail("nothing competes");
			if (errors == 0)
				$display("PASS %0s: %0d writes, %0d reads, met in %0d clocks, %0d refused, %0d resets",
					 BENCH, writes, reads, meets, refused, resets);
			else
				$display("FAIL %0s: %0d errors", BENCH, errors);
			$finish(0);
		end
	endtask
