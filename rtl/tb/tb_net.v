// SPDX-License-Identifier: BSD-2-Clause
// What is between the engine and the wire, fl_txfifo and fl_link in a row: packets of all
// lengths come out as they went in, whole, without a gap from the fifo, in order, late as they
// should be; every n-th is missing or doubled. A packet that is too long for the link is lost.
`default_nettype none

module tb_net;
	localparam LARGEST = 20;

	reg clk = 0, rst = 1;
	always #5 clk = !clk;

	reg [127:0] tdata = 0;
	reg [15:0] tkeep = 0;
	reg [7:0] tid = 0, tdest = 0;
	reg tlast = 0, tvalid = 0;
	wire tready, room;
	reg [15:0] delay = 0, drop = 0, twice = 0;
	wire [127:0] f_tdata;
	wire [15:0] f_tkeep;
	wire [7:0] f_tid, f_tdest;
	wire f_tlast, f_tvalid;
	wire f_tready;
	wire [127:0] o_tdata;
	wire [15:0] o_tkeep;
	wire [7:0] o_tid, o_tdest;
	wire o_tlast, o_tvalid;
	reg o_tready = 0;

	fl_txfifo #(.DEPTH_LOG2(5), .LARGEST(LARGEST)) fifo (
		.clk(clk), .rst(rst), .o_room(room), .s_axis_tdata(tdata),
		.s_axis_tkeep(tkeep), .s_axis_tlast(tlast), .s_axis_tid(tid),
		.s_axis_tdest(tdest), .s_axis_tvalid(tvalid), .s_axis_tready(tready),
		.m_axis_tdata(f_tdata), .m_axis_tkeep(f_tkeep), .m_axis_tlast(f_tlast),
		.m_axis_tid(f_tid), .m_axis_tdest(f_tdest), .m_axis_tvalid(f_tvalid),
		.m_axis_tready(f_tready)
	);
	fl_link #(.DEPTH_LOG2(6), .LARGEST(LARGEST - 1)) link (
		.clk(clk), .rst(rst), .i_delay(delay), .i_drop(drop), .i_twice(twice),
		.s_axis_tdata(f_tdata), .s_axis_tkeep(f_tkeep), .s_axis_tlast(f_tlast),
		.s_axis_tid(f_tid), .s_axis_tdest(f_tdest), .s_axis_tvalid(f_tvalid),
		.s_axis_tready(f_tready), .m_axis_tdata(o_tdata), .m_axis_tkeep(o_tkeep),
		.m_axis_tlast(o_tlast), .m_axis_tid(o_tid), .m_axis_tdest(o_tdest),
		.m_axis_tvalid(o_tvalid), .m_axis_tready(o_tready)
	);

	integer errors = 0, seed = 5, now = 0, i;
	integer sent, came, beats, left, stall;
	integer born [0:1023];		// when the last beat of a packet entered the link

	task check;
		input ok;
		input [8*60-1:0] text;
		if (!ok) begin
			$display("wrong: %0s at %0t", text, $time);
			errors = errors + 1;
		end
	endtask

	// Everything about a packet follows from its number.
	function integer length;
		input integer n;
		length = n / 64 % 3 == 2 ? 1 :		// more of them than the link has places
			 n % 29 == 28 ? LARGEST : 1 + n * 7 % (LARGEST - 1);
	endfunction
	function [160:0] beat;
		input integer n;
		input integer k;
		beat = {{32'd0 + n, 32'd0 + k, 32'd0 + n * k, 32'hFA17},
			k == length(n) - 1 ? 16'hFFFF >> n % 16 : 16'hFFFF,
			k == length(n) - 1, 8'd0 + n[3:0], 8'd0 + n[7:4]};
	endfunction

	// The engine: asks for room at the beginning of a packet, and only there.
	task packet;
		input integer n;
		integer k;
		begin
			@(negedge clk);
			while (!room || {$random(seed)} % 256 < stall)
				@(negedge clk);
			for (k = 0; k < length(n); k = k + 1) begin
				{tdata, tkeep, tlast, tid, tdest} = beat(n, k);
				tvalid = 1;
				#1 check(tready, "room was promised");
				@(negedge clk);
				tvalid = 0;
				while ({$random(seed)} % 256 < stall)
					@(negedge clk);
			end
		end
	endtask

	// What the link should let out, in order.
	integer model [0:4095];		// number of the packet
	integer expected, in_link, f_beat, since_drop, since_twice;
	task entered;
		input integer n;
		begin
			born[n % 1024] = now;
			since_drop = since_drop + 1;
			if (length(n) == LARGEST || (drop != 0 && since_drop >= drop))
				since_drop = 0;
			else begin
				since_twice = since_twice + 1;
				model[expected % 4096] = n;
				expected = expected + 1;
				if (twice != 0 && since_twice >= twice) begin
					model[expected % 4096] = n;
					expected = expected + 1;
					since_twice = 0;
				end
			end
		end
	endtask

	always @(posedge clk) begin
		now = now + 1;
		if (!rst) begin
			// between fifo and link
			if (f_beat > 0)
				check(f_tvalid, "a gap in a packet");
			if (f_tvalid && f_tready) begin
				check({f_tdata, f_tkeep, f_tlast, f_tid, f_tdest} ===
				      beat(in_link, f_beat), "the fifo's beat");
				f_beat = f_beat + 1;
				if (f_tlast) begin
					entered(in_link);
					in_link = in_link + 1;
					f_beat = 0;
				end
			end
			// out
			if (o_tvalid && o_tready) begin
				i = model[came % 4096];
				check(came < expected, "a packet from nowhere");
				check({o_tdata, o_tkeep, o_tlast, o_tid, o_tdest} ===
				      beat(i, beats), "the link's beat");
				if (beats == 0)
					check(now - born[i % 1024] > delay, "too early");
				beats = beats + 1;
				if (o_tlast) begin
					came = came + 1;
					beats = 0;
				end
			end
		end
		o_tready <= {$random(seed)} % 256 >= stall;
	end

	task run;
		input integer n;
		input integer s;
		begin
			stall = s;
			for (left = n; left > 0; left = left - 1) begin
				packet(sent);
				sent = sent + 1;
			end
			repeat (400 + delay + 40 * (stall > 0 ? 20 : 1)) @(posedge clk);
			check(in_link == sent, "all went through the fifo");
			check(came == expected, "all came out");
		end
	endtask

	initial begin
		sent = 0;
		came = 0;
		beats = 0;
		in_link = 0;
		f_beat = 0;
		expected = 0;
		since_drop = 0;
		since_twice = 0;
		stall = 0;
		repeat (4) @(posedge clk);
		rst <= 0;
		@(posedge clk);
		run(60, 0);
		run(200, 100);
		delay = 300;
		run(100, 20);
		delay = 0;
		drop = 3;
		run(100, 60);
		check(came < 430, "some are missing");
		drop = 7;
		twice = 2;
		delay = 5;
		run(200, 100);
		drop = 1;
		run(20, 0);
		if (errors == 0)
			$display("PASS tb_net: %0d packets in, %0d out", sent, came);
		$finish(0);
	end

	initial begin
		#5000000;
		$display("wrong: no end");
		$finish(0);
	end
endmodule

`default_nettype wire
