// SPDX-License-Identifier: BSD-2-Clause
// The guard of the chip's port, between a master and a port that take their time on each channel:
// bursts that the port can carry pass unchanged, the others are answered here, beat for beat, and
// nothing of them is seen behind. Reads and writes run at once; resets come in the middle.
// The n-th burst is a function of n, so that each observer knows by itself what has to come.
`default_nettype none

module tb_guard #(
	parameter ROUNDS = 60
);
	localparam [1:0] DECERR = 2'd3;
	localparam [14:0] BASE = 15'h240;

	reg clk = 0, rst = 1;
	always #5 clk = !clk;

	reg [14:0] arid = 0, awid = 0;
	reg [63:0] araddr = 0, awaddr = 0;
	reg [7:0] arlen = 0;
	reg arvalid = 0, rready = 0, awvalid = 0, wlast = 0, wvalid = 0, bready = 0;
	wire arready, rlast, rvalid, awready, wready, bvalid;
	wire [1:0] rresp, bresp;
	reg m_arready = 0, m_rlast = 0, m_rvalid = 0, m_awready = 0, m_wready = 0, m_bvalid = 0;
	reg [1:0] m_rresp = 0, m_bresp = 0;
	wire m_arvalid, m_rready, m_awvalid, m_wvalid, m_bready;

	fl_guard #(.STREAM_BASE(BASE)) dut (
		.clk(clk), .rst(rst), .s_axi_arid(arid), .s_axi_araddr(araddr),
		.s_axi_arvalid(arvalid), .s_axi_arlen(arlen), .s_axi_arready(arready),
		.s_axi_rresp(rresp), .s_axi_rlast(rlast), .s_axi_rvalid(rvalid),
		.s_axi_rready(rready), .s_axi_awid(awid), .s_axi_awaddr(awaddr),
		.s_axi_awvalid(awvalid), .s_axi_awready(awready), .s_axi_wlast(wlast),
		.s_axi_wvalid(wvalid), .s_axi_wready(wready), .s_axi_bresp(bresp),
		.s_axi_bvalid(bvalid), .s_axi_bready(bready), .m_axi_arvalid(m_arvalid),
		.m_axi_arready(m_arready), .m_axi_rresp(m_rresp), .m_axi_rlast(m_rlast),
		.m_axi_rvalid(m_rvalid), .m_axi_rready(m_rready),
		.m_axi_awvalid(m_awvalid), .m_axi_awready(m_awready),
		.m_axi_wvalid(m_wvalid), .m_axi_wready(m_wready), .m_axi_bresp(m_bresp),
		.m_axi_bvalid(m_bvalid), .m_axi_bready(m_bready)
	);

	integer errors = 0, seed = 23, round, i, resets = 0;
	integer reads = 0, writes = 0, refused = 0, both = 0;
	integer pace_a, pace_d, pace_ready, pace_p, pace_pd, pace_b;
	reg issue;
	reg [1:0] order;		// in which the port takes AW and W: axi_page_mem.v

	task fail;
		input [8*50-1:0] text;
		begin
			errors = errors + 1;
			if (errors < 20)
				$display("tb_guard: %0s at %0t", text, $time);
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

	// Burst n of a direction (0 reads, 1 writes): one in four of a stream that is not the
	// port's, by one bit; one in four beyond its addresses, by one bit.
	function [14:0] id_of;
		input integer dir, n;
		id_of = (BASE | mix(n, dir) & 63) ^
			(mix(n, dir + 2) % 4 == 0 ? 15'd64 << mix(n, dir + 4) % 9 : 15'd0);
	endfunction
	function [63:0] addr_of;
		input integer dir, n;
		addr_of = {15'd0, mix(n, dir + 6) & 17'h1FFFF, mix(n, dir + 8)} |
			  (mix(n, dir + 10) % 4 == 0 ? 64'd1 << 49 + mix(n, dir + 12) % 15 : 64'd0);
	endfunction
	function [7:0] len_of;
		input integer dir, n;
		len_of = mix(n, dir + 14) % 8 == 0 ? mix(n, dir + 16) : mix(n, dir + 16) & 7;
	endfunction
	function bad_of;
		input integer dir, n;
		bad_of = mix(n, dir + 2) % 4 == 0 || mix(n, dir + 10) % 4 == 0;
	endfunction
	function [1:0] resp_of;
		input integer dir, n, beat;
		resp_of = mix(n * 256 + beat, dir + 18) % 4 == 0 ? 2 + mix(n, beat) % 2 : 0;
	endfunction

	// ---- reads: the engine's side, one burst at a time ----

	integer r_n, r_beat, r_waits;	// the burst under way, or next
	reg r_offered, r_open;
	always @(posedge clk)
		if (rst) begin
			{arvalid, rready, r_offered, r_open} <= 0;
			{r_n, r_beat} <= 0;
			r_waits = 0;
		end else begin
			rready <= roll(pace_ready);
			if (issue && !r_offered && !r_open && !(rvalid && rready) && roll(pace_a)) begin
				r_offered <= 1;
				arvalid <= 1;
				arid <= id_of(0, r_n);
				araddr <= addr_of(0, r_n);
				arlen <= len_of(0, r_n);
			end
			if (arvalid && arready) begin
				arvalid <= 0;
				r_offered <= 0;
				r_open <= 1;
				r_beat <= 0;
			end
			if (rvalid && rready) begin
				r_beat <= r_beat + 1;
				if (rlast) begin
					r_open <= 0;
					r_n <= r_n + 1;
					reads = reads + 1;
					refused = refused + bad_of(0, r_n);
				end
			end
			r_waits = r_offered || r_open ? r_waits + 1 : 0;
			if (rvalid && rready)
				r_waits = 0;
			if (r_waits == 1000)
				fail("a read is never answered");
		end

	// ---- and the port's, which knows what it may be asked ----

	integer p_r, p_beat;
	reg p_reading;
	reg [7:0] p_len;
	always @(posedge clk)
		if (rst) begin
			{m_arready, m_rvalid, p_reading} <= 0;
			p_beat = 0;
		end else begin
			m_arready <= !p_reading && !(m_arvalid && m_arready) && roll(pace_p);
			if (m_arvalid && m_arready) begin
				p_reading <= 1;
				p_len <= arlen;
				p_r = r_n;
				p_beat = 0;
			end
			if (m_rvalid && m_rready) begin
				m_rvalid <= 0;
				if (m_rlast)
					p_reading <= 0;
			end
			if (p_reading && !(m_rvalid && m_rready && m_rlast) &&
			    (!m_rvalid || m_rready) && roll(pace_pd)) begin
				m_rvalid <= 1;
				m_rresp <= resp_of(0, p_r, p_beat);
				m_rlast <= p_beat == p_len;
				p_beat = p_beat + 1;
			end
		end

	reg [3:0] r_was;
	reg ar_was;
	always @(posedge clk)
		if (rst) begin
			r_was <= 0;
			ar_was <= 0;
		end else begin
			if ((^{arready, rvalid, m_arvalid, m_rready}) === 1'bx)
				fail("a handshake of a read is unknown");
			if (ar_was && !m_arvalid)
				fail("ARVALID falls before ARREADY");
			ar_was <= m_arvalid && !m_arready;
			if (m_arvalid && (!arvalid || bad_of(0, r_n)))
				fail("a read reaches the port that must not");
			if (arvalid && !bad_of(0, r_n) &&
			    (arready !== m_arready || m_arvalid !== 1'b1))
				fail("a read is taken on one side alone");
			if (r_was[3] && r_was !== {rvalid, rlast, rresp})
				fail("R changes before it is taken");
			r_was <= rready ? 4'd0 : {rvalid, rlast, rresp};
			if (rvalid && !r_open)
				fail("data of no read");
			if (rvalid && (rlast !== (r_beat == arlen) ||
				       rresp !== (bad_of(0, r_n) ? DECERR : resp_of(0, r_n, r_beat))))
				fail("another beat");
			if (m_rvalid && m_rready && !(rvalid && rready))
				fail("a beat is lost");
		end

	// ---- writes: the address not after the data, as fl_wr has them ----

	integer w_n, w_beat, w_waits;
	reg w_open, aw_done, w_done, w_ahead;	// w_ahead: data may be offered
	reg [7:0] awlen = 0;
	always @(posedge clk)
		if (rst) begin
			{awvalid, wvalid, bready, w_open, aw_done, w_done, w_ahead} <= 0;
			w_n <= 0;
			{w_beat, w_waits} = 0;
		end else begin
			bready <= roll(pace_b);
			if (issue && !w_open && roll(pace_a)) begin
				w_open <= 1;
				awvalid <= 1;
				awid <= id_of(1, w_n);
				awaddr <= addr_of(1, w_n);
				awlen <= len_of(1, w_n);
				{aw_done, w_done} <= 0;
				w_beat = 0;
				w_ahead <= roll(128);
			end
			if (w_open && roll(64))
				w_ahead <= 1;
			if (awvalid && awready) begin
				awvalid <= 0;
				aw_done <= 1;
			end
			if (wvalid && wready) begin
				wvalid <= 0;
				if (wlast)
					w_done <= 1;
			end
			if (w_open && (w_ahead || aw_done) && w_beat <= awlen && (!wvalid || wready) &&
			    roll(pace_d)) begin
				wvalid <= 1;
				wlast <= w_beat == awlen;
				w_beat = w_beat + 1;
			end
			if (bvalid && bready) begin
				w_open <= 0;
				writes = writes + 1;
				refused = refused + bad_of(1, w_n);
				w_n <= w_n + 1;
			end
			w_waits = w_open && !(bvalid && bready) && !(wvalid && wready) ? w_waits + 1 : 0;
			if (w_waits == 1000)
				fail("a write is never answered");
		end

	integer p_w;			// W taken of this burst
	reg p_aw, p_all;		// AW was; the last W was
	always @(posedge clk)
		if (rst) begin
			{m_awready, m_wready, m_bvalid, p_aw, p_all} <= 0;
			p_w = 0;
		end else begin
			m_awready <= !p_aw && !(m_awvalid && m_awready) && roll(pace_p) &&
				     (order != 1 || m_wvalid) && (order != 2 || p_all);
			m_wready <= !p_all && !(m_wvalid && m_wready && wlast) && roll(pace_pd) &&
				    (order == 0 || order == 2 || p_aw);
			if (m_awvalid && m_awready)
				p_aw <= 1;
			if (m_wvalid && m_wready) begin
				p_w = p_w + 1;
				if (wlast)
					p_all <= 1;
			end
			if (p_aw && p_all && !m_bvalid && roll(pace_pd)) begin
				if (p_w != awlen + 1)
					fail("the port got another number of beats");
				m_bvalid <= 1;
				m_bresp <= resp_of(1, w_n, 0);
			end
			if (m_bvalid && m_bready) begin
				m_bvalid <= 0;
				{p_aw, p_all} <= 0;
				p_w = 0;
			end
		end

	reg [2:0] b_was;
	reg aw_was, mw_was;
	always @(posedge clk)
		if (rst) begin
			b_was <= 0;
			{aw_was, mw_was} <= 0;
		end else begin
			if ((^{awready, wready, bvalid, m_awvalid, m_wvalid, m_bready}) === 1'bx)
				fail("a handshake of a write is unknown");
			if (aw_was && !m_awvalid)
				fail("AWVALID falls before AWREADY");
			aw_was <= m_awvalid && !m_awready;
			if (mw_was && !m_wvalid)
				fail("WVALID falls before WREADY");
			mw_was <= m_wvalid && !m_wready;
			if (m_awvalid && (!awvalid || bad_of(1, w_n)))
				fail("a write reaches the port that must not");
			if (m_wvalid && (!wvalid || bad_of(1, w_n)))
				fail("data reach the port that must not");
			if (!bad_of(1, w_n) && (m_awvalid && m_awready) !== (awvalid && awready))
				fail("an address is taken on one side alone");
			if (!bad_of(1, w_n) && (m_wvalid && m_wready) !== (wvalid && wready))
				fail("a beat is taken on one side alone");
			if (b_was[2] && b_was !== {bvalid, bresp})
				fail("B changes before it is taken");
			b_was <= bready ? 3'd0 : {bvalid, bresp};
			if (bvalid && !(aw_done && w_done))
				fail("an answer to no write");
			if (bvalid && bresp !== (bad_of(1, w_n) ? DECERR : resp_of(1, w_n, 0)))
				fail("another answer to a write");
			both = both + (r_open && w_open);
		end

	task paces;			// 256: at once
		begin
			pace_a = 256 - 100 * ({$random(seed)} % 3);
			pace_d = 256 - 100 * ({$random(seed)} % 3);
			pace_ready = 256 - 100 * ({$random(seed)} % 3);
			pace_p = 256 - 100 * ({$random(seed)} % 3);
			pace_pd = 256 - 100 * ({$random(seed)} % 3);
			pace_b = 256 - 100 * ({$random(seed)} % 3);
			order = $random(seed);
		end
	endtask

	initial begin
		issue = 1;
		paces;
		repeat (3) @(posedge clk);
		#1 rst = 0;
		for (round = 0; round < ROUNDS; round = round + 1) begin
			paces;
			issue = 1;
			repeat (20 + {$random(seed)} % 1000) @(posedge clk);
			if (round % 4 == 3) begin
				// A reset wherever it comes, of the port as well.
				#1 rst = 1;
				resets = resets + 1;
				repeat (1 + {$random(seed)} % 3) @(posedge clk);
				#1 rst = 0;
			end else if (round % 4 == 1) begin
				issue = 0;
				for (i = 0; i < 8000 && (r_offered || r_open || w_open); i = i + 1)
					@(posedge clk);
				if (r_offered || r_open || w_open || arvalid || awvalid)
					fail("not all bursts were answered");
			end
		end
		if (refused < 2 * ROUNDS || reads < 4 * ROUNDS || writes < 4 * ROUNDS || both < 100 * ROUNDS)
			fail("too little happened");
		if (errors == 0)
			$display("PASS tb_guard: %0d reads, %0d writes, %0d refused, %0d resets", reads,
				 writes, refused, resets);
		else
			$display("FAIL tb_guard: %0d errors", errors);
		$finish(0);
	end
endmodule

`default_nettype wire
