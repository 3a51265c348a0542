// SPDX-License-Identifier: BSD-2-Clause
// The way to Ethernet (fl_zu_eth), against eth_vectors.c: each packet becomes the frame that
// it should, without a gap; each frame the packet that it should, or none and a count. With
// clocks of many ratios, stalls, two tables of addresses; then with a MAC that is too fast and
// with resets of each side in the middle, when packets get lost, but never a part of one, and
// after which all is as before.
`default_nettype none

module tb_eth;
	localparam BYTES = 1 << 19;
	localparam [7:0] OUT = 0, IN = 1, END = 255;
	localparam [7:0] CAME = 2, VERDICTS = 10;	// as in eth_vectors.c; UNKNOWN is 7
	localparam NODE = 5, HEADERS = 10;
	localparam SENT = 0, LOST = 1, FULL = 10;	// counters

	reg [7:0] vec [0:BYTES-1];
	initial $readmemh("eth.hex", vec);

	reg aclk = 0, tx_clk = 0, rx_clk = 0, aresetn = 0, tx_resetn = 0, rx_resetn = 0;
	integer half_a = 67, half_t = 64, half_r = 64, jitter = 1, clocks_seed = 9;
	reg stop_t = 0;
	always #(half_a + {$random(clocks_seed)} % jitter) aclk = !aclk;
	always begin
		wait (!stop_t);
		#(half_t + {$random(clocks_seed)} % jitter) tx_clk = !tx_clk;
	end
	always #(half_r + {$random(clocks_seed)} % jitter) rx_clk = !rx_clk;

	wire [16:0] awaddr, araddr;
	wire [31:0] wdata, rdata;
	wire [3:0] wstrb;
	wire [1:0] bresp, rresp;
	wire awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
	axil_master drv (
		.clk(aclk), .awaddr(awaddr), .awvalid(awvalid), .awready(awready),
		.wdata(wdata), .wstrb(wstrb), .wvalid(wvalid), .wready(wready),
		.bresp(bresp), .bvalid(bvalid), .bready(bready), .araddr(araddr),
		.arvalid(arvalid), .arready(arready), .rdata(rdata), .rresp(rresp),
		.rvalid(rvalid), .rready(rready)
	);

	reg [127:0] s_tdata = 0;
	reg [15:0] s_tkeep = 0;
	reg [7:0] s_tid = 0, s_tdest = 0;
	reg s_tlast = 0, s_tvalid = 0, m_tready = 0, t_tready = 0;
	wire s_tready, m_tlast, m_tvalid, t_tlast, t_tuser, t_tvalid;
	wire [127:0] m_tdata;
	wire [15:0] m_tkeep;
	wire [7:0] m_tid, m_tdest, t_tkeep;
	wire [63:0] t_tdata;
	reg [63:0] r_tdata = 0;
	reg [7:0] r_tkeep = 0;
	reg r_tlast = 0, r_tuser = 0, r_tvalid = 0;

	fl_zu_eth #(.NODE(NODE), .DEPTH_LOG2(10)) dut (
		.aclk(aclk), .aresetn(aresetn),
		.s_axil_awaddr(awaddr), .s_axil_awprot(3'b010), .s_axil_awvalid(awvalid),
		.s_axil_awready(awready), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
		.s_axil_wvalid(wvalid), .s_axil_wready(wready), .s_axil_bresp(bresp),
		.s_axil_bvalid(bvalid), .s_axil_bready(bready), .s_axil_araddr(araddr),
		.s_axil_arprot(3'b010), .s_axil_arvalid(arvalid), .s_axil_arready(arready),
		.s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid),
		.s_axil_rready(rready),
		.s_axis_tdata(s_tdata), .s_axis_tkeep(s_tkeep), .s_axis_tlast(s_tlast),
		.s_axis_tid(s_tid), .s_axis_tdest(s_tdest), .s_axis_tvalid(s_tvalid),
		.s_axis_tready(s_tready), .m_axis_tdata(m_tdata), .m_axis_tkeep(m_tkeep),
		.m_axis_tlast(m_tlast), .m_axis_tid(m_tid), .m_axis_tdest(m_tdest),
		.m_axis_tvalid(m_tvalid), .m_axis_tready(m_tready),
		.tx_clk(tx_clk), .tx_resetn(tx_resetn), .tx_axis_tdata(t_tdata),
		.tx_axis_tkeep(t_tkeep), .tx_axis_tlast(t_tlast), .tx_axis_tuser(t_tuser),
		.tx_axis_tvalid(t_tvalid), .tx_axis_tready(t_tready),
		.rx_clk(rx_clk), .rx_resetn(rx_resetn), .rx_axis_tdata(r_tdata),
		.rx_axis_tkeep(r_tkeep), .rx_axis_tlast(r_tlast), .rx_axis_tuser(r_tuser),
		.rx_axis_tvalid(r_tvalid)
	);

	integer errors = 0, seed = 3, i;
	integer table_now = 0, stall = 0;
	reg strict = 1, polite = 1;	// nothing may get lost; the MAC waits for room
	integer frames = 0, packets = 0;	// that came out, in all
	integer dump;

	task check;
		input ok;
		input [8*60-1:0] text;
		if (!ok) begin
			$display("tb_eth: wrong: %0s at %0t", text, $time);
			errors = errors + 1;
			if (errors > 20)
				$finish(0);
		end
	endtask

	function integer packet_len;
		input integer at;
		packet_len = {vec[at + 6], vec[at + 7]};
	endfunction
	function integer frame_len;
		input integer at;
		frame_len = {vec[at + 8], vec[at + 9]};
	endfunction
	function integer after;
		input integer at;
		after = at + HEADERS + packet_len(at) + frame_len(at);
	endfunction
	function is_of;			// a record of this way and table
		input integer at;
		input [7:0] way;
		is_of = vec[at] == way && vec[at + 2] == table_now;
	endfunction

	// One bit of a number that crosses changes at a time, while the other side looks.
	reg [7:0] was_tw = 0, was_tr = 0, was_rw = 0, was_rr = 0;
	task one_bit;
		input [7:0] before, now;
		input looks;
		if (looks && ((before ^ now) & ((before ^ now) - 8'd1)) != 0)
			check(0, "two bits cross at a time");
	endtask
	always @(dut.tx_fifo.w_gray) begin
		one_bit(was_tw, dut.tx_fifo.w_gray, !dut.tx_fifo.r_hold);
		was_tw = dut.tx_fifo.w_gray;
	end
	always @(dut.tx_fifo.r_gray) begin
		one_bit(was_tr, dut.tx_fifo.r_gray, !dut.tx_fifo.w_hold);
		was_tr = dut.tx_fifo.r_gray;
	end
	always @(dut.rx_fifo.w_gray) begin
		one_bit(was_rw, dut.rx_fifo.w_gray, !dut.rx_fifo.r_hold);
		was_rw = dut.rx_fifo.w_gray;
	end
	always @(dut.rx_fifo.r_gray) begin
		one_bit(was_rr, dut.rx_fifo.r_gray, !dut.rx_fifo.w_hold);
		was_rr = dut.rx_fifo.r_gray;
	end

	// ---- packets in, from the engine ----

	integer s_at = 0, s_b, s_n;
	reg s_run = 0, stop = 0;

	always begin
		@(posedge aclk);
		#1;
		if (s_run && (stop || vec[s_at] == END))
			s_run = 0;
		else if (s_run && !is_of(s_at, OUT))
			s_at = after(s_at);
		else if (s_run) begin
			s_tid = vec[s_at + 3];
			s_tdest = vec[s_at + 4];
			s_b = 0;
			while (aresetn && s_b < packet_len(s_at)) begin
				while ({$random(seed)} % 256 < stall && aresetn) begin
					@(posedge aclk);
					#1;
				end
				for (s_n = 0; s_n < 16; s_n = s_n + 1) begin
					s_tkeep[s_n] = s_b + s_n < packet_len(s_at);
					s_tdata[8 * s_n +: 8] = s_tkeep[s_n] ?
						vec[s_at + HEADERS + s_b + s_n] : 8'hEE;
				end
				s_tlast = s_b + 16 >= packet_len(s_at);
				s_tvalid = aresetn;
				s_b = s_b + 16;
				#1;
				while (!s_tready && aresetn) begin
					@(posedge aclk);
					#1;
				end
				@(posedge aclk);
				#1 s_tvalid = 0;
			end
			s_at = after(s_at);
		end
	end

	// ---- frames in, from the MAC ----

	integer r_at = 0, r_b, r_n;
	reg r_run = 0;

	always begin
		@(posedge rx_clk);
		#1;
		if (r_run && (stop || vec[r_at] == END))
			r_run = 0;
		else if (r_run && !is_of(r_at, IN))
			r_at = after(r_at);
		else if (r_run && !(polite && dut.rx_fifo.w_room < 540)) begin
			r_b = 0;
			while (rx_resetn && r_b < frame_len(r_at)) begin
				while ({$random(seed)} % 256 < stall && rx_resetn) begin
					@(posedge rx_clk);
					#1;
				end
				for (r_n = 0; r_n < 8; r_n = r_n + 1) begin
					r_tkeep[r_n] = r_b + r_n < frame_len(r_at);
					r_tdata[8 * r_n +: 8] = r_tkeep[r_n] ?
						vec[r_at + HEADERS + packet_len(r_at) + r_b + r_n] :
						8'hDD;
				end
				r_tlast = r_b + 8 >= frame_len(r_at);
				r_tuser = r_tlast && vec[r_at + 5] != 0;
				r_tvalid = rx_resetn;
				r_b = r_b + 8;
				@(posedge rx_clk);
				#1 r_tvalid = 0;
			end
			r_at = after(r_at);
		end
	end

	// ---- frames out ----

	reg [7:0] f_bytes [0:5007];
	integer f_len = 0, f_at = 0, f_i, f_next;
	reg f_same;

	task frame_came;
		begin
			f_same = 0;
			while (!f_same && vec[f_at] != END) begin
				f_next = after(f_at);
				if (is_of(f_at, OUT)) begin
					f_same = f_len == frame_len(f_at);
					for (f_i = 0; f_same && f_i < f_len; f_i = f_i + 1)
						f_same = f_bytes[f_i] ===
							 vec[f_next - f_len + f_i];
					check(f_same || !strict, "a frame");
					if (strict && !f_same)
						f_next = BYTES - 1;
				end
				f_at = f_next;
			end
			check(f_same, "a frame that nobody sent");
			$fwrite(dump, "000000");
			for (f_i = 0; f_i < f_len; f_i = f_i + 1)
				$fwrite(dump, " %h", f_bytes[f_i]);
			$fwrite(dump, "\n");
			frames = frames + 1;
		end
	endtask

	reg [73:0] t_was = 0;
	always @(posedge tx_clk) begin
		if (t_was[73] && tx_resetn && t_was !== {t_tvalid, t_tlast, t_tkeep, t_tdata})
			check(0, "a frame changes before it is taken");
		t_was <= t_tready || !tx_resetn ? 74'd0 : {t_tvalid, t_tlast, t_tkeep, t_tdata};
		if (!t_tvalid && f_len != 0 && tx_resetn)
			check(0, "a gap in a frame");
		if (t_tvalid && t_tready && tx_resetn) begin
			if (t_tuser !== 0)
				check(0, "a bad frame");
			for (f_i = 0; f_i < 8; f_i = f_i + 1)
				if (t_tkeep[f_i]) begin
					f_bytes[f_len] = t_tdata[8 * f_i +: 8];
					f_len = f_len + 1;
				end else
					check(t_tlast && t_tkeep >> f_i == 0, "a hole");
			if (t_tlast) begin
				frame_came;
				f_len = 0;
			end
		end
		if (!tx_resetn)
			f_len = 0;
		t_tready <= {$random(seed)} % 256 >= stall;
	end

	// ---- packets out ----

	reg [7:0] p_bytes [0:5007];
	integer p_len = 0, p_at = 0, p_i;
	reg p_same;
	integer p_next;

	task packet_came;
		begin
			p_same = 0;
			while (!p_same && vec[p_at] != END) begin
				p_next = after(p_at);
				if (is_of(p_at, IN) && vec[p_at + 1] == CAME) begin
					p_same = p_len == packet_len(p_at) &&
						 m_tid == vec[p_at + 3];
					for (p_i = 0; p_same && p_i < p_len; p_i = p_i + 1)
						p_same = p_bytes[p_i] ===
							 vec[p_at + HEADERS + p_i];
					check(p_same || !strict, "a packet");
					if (strict && !p_same)
						p_next = BYTES - 1;
				end
				p_at = p_next;
			end
			check(p_same, "a packet that nobody sent");
			check(m_tdest == NODE, "to whom");
			packets = packets + 1;
		end
	endtask

	reg [161:0] m_was = 0;
	always @(posedge aclk) begin
		if (m_was[161] && aresetn &&
		    m_was !== {m_tvalid, m_tlast, m_tkeep, m_tid, m_tdest, m_tdata})
			check(0, "a packet changes before it is taken");
		m_was <= m_tready || !aresetn ? 162'd0 :
			 {m_tvalid, m_tlast, m_tkeep, m_tid, m_tdest, m_tdata};
		if (m_tvalid && m_tready && aresetn) begin
			for (p_i = 0; p_i < 16; p_i = p_i + 1)
				if (m_tkeep[p_i]) begin
					p_bytes[p_len] = m_tdata[8 * p_i +: 8];
					p_len = p_len + 1;
				end else
					check(m_tlast && m_tkeep >> p_i == 0, "a hole");
			if (m_tlast) begin
				packet_came;
				p_len = 0;
			end
		end
		if (!aresetn)
			p_len = 0;
		m_tready <= {$random(seed)} % 256 >= stall;
	end

	// ---- runs ----

	integer was [0:10], is [0:10], want [0:10];

	task counters;
		for (i = 0; i <= 10; i = i + 1) begin
			drv.read(17'h10 + 4 * i);
			check(drv.resp == 0, "a counter is there");
			was[i] = is[i];
			is[i] = drv.data;
		end
	endtask

	// Until nothing moves any more.
	task drain;
		begin
			while (s_run || r_run || dut.tx.state != 0 || t_tvalid || m_tvalid ||
			       dut.tx_fifo.w_hold || dut.rx_fifo.w_hold ||
			       dut.tx_fifo.w_room != 1024 || dut.rx_fifo.w_room != 1024)
				@(posedge aclk);
			#(20 * (half_a + half_t + half_r));
		end
	endtask

	task begin_run;
		begin
			counters;
			s_at = 0;
			r_at = 0;
			f_at = 0;
			p_at = 0;
			s_run = 1;
			r_run = 1;
		end
	endtask

	// Nothing gets lost but what should be.
	task run;
		input integer a, t, r, j, s;
		begin
			{strict, polite} = 2'b11;
			{half_a, half_t, half_r, jitter, stall} = {a, t, r, j, s};
			begin_run;
			drain;
			counters;
			for (i = 0; i <= 10; i = i + 1)
				want[i] = 0;
			i = 0;
			while (vec[i] != END) begin
				if (is_of(i, OUT))
					want[SENT] = want[SENT] + 1;
				else if (is_of(i, IN))
					want[vec[i + 1]] = want[vec[i + 1]] + 1;
				i = after(i);
			end
			for (i = 0; i <= 10; i = i + 1)
				if (is[i] - was[i] != want[i]) begin
					$display("tb_eth: counter %0d: %0d, not %0d", i, is[i] - was[i],
						 want[i]);
					errors = errors + 1;
				end
		end
	endtask

	// Its second halves of words differ from those after reset.
	task table_write;
		input integer n;
		begin
			drv.write(17'h104 + 16 * n, (32'h00A0 + 512 * n) & 32'hFFFF);
			drv.write(17'h108 + 16 * n, 32'hC9123456 * (n + 1));
			drv.write(17'h100 + 16 * n, n == 9 ? 0 : 32'hC0A8FE00 - 977 * n);
			check(drv.resp == 0, "the table is written");
		end
	endtask

	integer k, lost_before;
	initial begin
		dump = $fopen("eth.frames");
		for (k = 0; k <= 10; k = k + 1)
			is[k] = 0;
		repeat (10) @(posedge aclk);
		aresetn = 1;
		tx_resetn = 1;
		rx_resetn = 1;
		repeat (10) @(posedge aclk);
		drv.read(17'h0);
		check(drv.data == "TELF" && drv.resp == 0, "who it is");
		drv.read(17'h3C);
		check(drv.resp == 2, "a counter that is not there");
		drv.write(17'h10, 0);
		check(drv.resp == 2, "a counter is written");
		#5000;
		run(67, 64, 64, 1, 0);
		run(67, 64, 64, 3, 100);
		for (k = 0; k < 16; k = k + 1)
			table_write(k);
		table_now = 1;
		drv.read(17'h100 + 16 * 3);
		check(drv.data == 32'hC0A8FE00 - 977 * 3, "the table is read");
		run(10, 37, 19, 1, 60);
		run(67, 20, 20, 1, 0);
		run(67, 671, 70, 20, 0);
		// The MAC does not wait, and the engine does.
		{strict, polite} = 2'b00;
		{half_a, half_t, half_r, jitter, stall} = {32'd67, 32'd64, 32'd20, 32'd5, 32'd0};
		begin_run;
		drain;
		counters;
		check(is[FULL] - was[FULL] > 10, "frames for which there is no room");
		check(is[CAME] - was[CAME] > 20, "frames in spite of that");
		$display("tb_eth: a MAC that is too fast: %0d frames came, %0d found no room",
			 is[CAME] - was[CAME], is[FULL] - was[FULL]);
		// Resets.
		for (k = 0; k < 8; k = k + 1) begin
			polite = 1;
			strict = 0;
			half_a = 20 + {$random(seed)} % 100;
			half_t = 20 + {$random(seed)} % 100;
			half_r = 20 + {$random(seed)} % 100;
			stall = {$random(seed)} % 2 * 100;
			begin_run;
			repeat (4) begin
				#({$random(seed)} % 200000);
				i = 1 + {$random(seed)} % 7;
				if (i[0])
					aresetn = 0;
				if (i[1])
					tx_resetn = 0;
				if (i[2])
					rx_resetn = 0;
				#(400 + {$random(seed)} % 3000);
				aresetn = 1;
				#({$random(seed)} % 1000);
				tx_resetn = 1;
				#({$random(seed)} % 1000);
				rx_resetn = 1;
			end
			stop = 1;
			drain;
			stop = 0;
		end
		run(67, 64, 64, 1, 20);
		// No clock: the card is reset, and what it sends is lost until there is one.
		stop_t = 1;
		aresetn = 0;
		#2000 aresetn = 1;
		#2000 strict = 0;
		counters;
		begin_run;
		while (s_run)
			@(posedge aclk);
		counters;
		check(is[LOST] - was[LOST] == 80 && is[SENT] == was[SENT], "lost without a clock");
		stop_t = 0;
		drain;
		run(67, 64, 64, 1, 0);
		if (errors == 0)
			$display("PASS tb_eth: %0d frames, %0d packets", frames, packets);
		else
			$display("FAIL tb_eth: %0d errors", errors);
		$finish(0);
	end

	initial begin
		#400000000;
		$display("tb_eth: wrong: no end");
		$finish(0);
	end
endmodule

`default_nettype wire
