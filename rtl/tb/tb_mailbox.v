// SPDX-License-Identifier: BSD-2-Clause
// The mailbox: what software writes reaches the firmware in order, reads see the writes before
// them, nobody waits for a firmware that is dead, and no doorbell is answered with an error.
`default_nettype none
`include "regs.vh"

module tb_mailbox;
	reg clk = 0, rst = 1;
	always #5 clk = !clk;

	wire [16:0] d_awaddr, d_araddr, d_addr;
	wire [31:0] d_wdata, d_rdata, dq_wdata, dq_rdata;
	wire [3:0] d_wstrb, dq_wstrb;
	wire [1:0] d_bresp, d_rresp;
	wire d_awvalid, d_awready, d_wvalid, d_wready, d_bvalid, d_bready,
		d_arvalid, d_arready, d_rvalid, d_rready, d_valid, d_write, d_done, d_bad;
	wire [16:0] f_awaddr, f_araddr, f_addr;
	wire [31:0] f_wdata, f_rdata, fq_wdata, fq_rdata;
	wire [3:0] f_wstrb, fq_wstrb;
	wire [1:0] f_bresp, f_rresp;
	wire f_awvalid, f_awready, f_wvalid, f_wready, f_bvalid, f_bready,
		f_arvalid, f_arready, f_rvalid, f_rready, f_valid, f_write, f_done, f_bad;
	wire [16:0] e_awaddr, e_araddr, e_addr;
	wire [31:0] e_wdata, e_rdata, eq_wdata, eq_rdata;
	wire [3:0] e_wstrb, eq_wstrb;
	wire [1:0] e_bresp, e_rresp;
	wire e_awvalid, e_awready, e_wvalid, e_wready, e_bvalid, e_bready,
		e_arvalid, e_arready, e_rvalid, e_rready, e_valid, e_write, e_done, e_bad;
	reg irq_engine = 0;
	wire irq_event, irq_firmware;
	wire [15:0] delay, drop, twice;

	axil_master drv (
		.clk(clk), .awaddr(d_awaddr), .awvalid(d_awvalid), .awready(d_awready),
		.wdata(d_wdata), .wstrb(d_wstrb), .wvalid(d_wvalid), .wready(d_wready),
		.bresp(d_bresp), .bvalid(d_bvalid), .bready(d_bready), .araddr(d_araddr),
		.arvalid(d_arvalid), .arready(d_arready), .rdata(d_rdata), .rresp(d_rresp),
		.rvalid(d_rvalid), .rready(d_rready)
	);
	axil_master fw (
		.clk(clk), .awaddr(f_awaddr), .awvalid(f_awvalid), .awready(f_awready),
		.wdata(f_wdata), .wstrb(f_wstrb), .wvalid(f_wvalid), .wready(f_wready),
		.bresp(f_bresp), .bvalid(f_bvalid), .bready(f_bready), .araddr(f_araddr),
		.arvalid(f_arvalid), .arready(f_arready), .rdata(f_rdata), .rresp(f_rresp),
		.rvalid(f_rvalid), .rready(f_rready)
	);
	fl_port d_port (
		.clk(clk), .rst(rst), .s_axil_awaddr(d_awaddr), .s_axil_awvalid(d_awvalid),
		.s_axil_awready(d_awready), .s_axil_wdata(d_wdata), .s_axil_wstrb(d_wstrb),
		.s_axil_wvalid(d_wvalid), .s_axil_wready(d_wready), .s_axil_bresp(d_bresp),
		.s_axil_bvalid(d_bvalid), .s_axil_bready(d_bready),
		.s_axil_araddr(d_araddr), .s_axil_arvalid(d_arvalid),
		.s_axil_arready(d_arready), .s_axil_rdata(d_rdata), .s_axil_rresp(d_rresp),
		.s_axil_rvalid(d_rvalid), .s_axil_rready(d_rready), .rq_valid(d_valid),
		.rq_write(d_write), .rq_addr(d_addr), .rq_wdata(dq_wdata),
		.rq_wstrb(dq_wstrb), .rq_done(d_done), .rq_rdata(dq_rdata), .rq_bad(d_bad)
	);
	fl_port f_port (
		.clk(clk), .rst(rst), .s_axil_awaddr(f_awaddr), .s_axil_awvalid(f_awvalid),
		.s_axil_awready(f_awready), .s_axil_wdata(f_wdata), .s_axil_wstrb(f_wstrb),
		.s_axil_wvalid(f_wvalid), .s_axil_wready(f_wready), .s_axil_bresp(f_bresp),
		.s_axil_bvalid(f_bvalid), .s_axil_bready(f_bready),
		.s_axil_araddr(f_araddr), .s_axil_arvalid(f_arvalid),
		.s_axil_arready(f_arready), .s_axil_rdata(f_rdata), .s_axil_rresp(f_rresp),
		.s_axil_rvalid(f_rvalid), .s_axil_rready(f_rready), .rq_valid(f_valid),
		.rq_write(f_write), .rq_addr(f_addr), .rq_wdata(fq_wdata),
		.rq_wstrb(fq_wstrb), .rq_done(f_done), .rq_rdata(fq_rdata), .rq_bad(f_bad)
	);
	fl_port engine (
		.clk(clk), .rst(rst), .s_axil_awaddr(e_awaddr), .s_axil_awvalid(e_awvalid),
		.s_axil_awready(e_awready), .s_axil_wdata(e_wdata), .s_axil_wstrb(e_wstrb),
		.s_axil_wvalid(e_wvalid), .s_axil_wready(e_wready), .s_axil_bresp(e_bresp),
		.s_axil_bvalid(e_bvalid), .s_axil_bready(e_bready),
		.s_axil_araddr(e_araddr), .s_axil_arvalid(e_arvalid),
		.s_axil_arready(e_arready), .s_axil_rdata(e_rdata), .s_axil_rresp(e_rresp),
		.s_axil_rvalid(e_rvalid), .s_axil_rready(e_rready), .rq_valid(e_valid),
		.rq_write(e_write), .rq_addr(e_addr), .rq_wdata(eq_wdata),
		.rq_wstrb(eq_wstrb), .rq_done(e_done), .rq_rdata(eq_rdata), .rq_bad(e_bad)
	);
	fl_mailbox #(.DEPTH_LOG2(4), .PATIENCE(12)) dut (
		.clk(clk), .rst(rst), .d_valid(d_valid), .d_write(d_write),
		.d_addr(d_addr), .d_wdata(dq_wdata), .d_wstrb(dq_wstrb), .d_done(d_done),
		.d_rdata(dq_rdata), .d_bad(d_bad), .f_valid(f_valid), .f_write(f_write),
		.f_addr(f_addr), .f_wdata(fq_wdata), .f_wstrb(fq_wstrb), .f_done(f_done),
		.f_rdata(fq_rdata), .f_bad(f_bad), .m_axil_awaddr(e_awaddr),
		.m_axil_awvalid(e_awvalid), .m_axil_awready(e_awready),
		.m_axil_wdata(e_wdata), .m_axil_wstrb(e_wstrb), .m_axil_wvalid(e_wvalid),
		.m_axil_wready(e_wready), .m_axil_bresp(e_bresp), .m_axil_bvalid(e_bvalid),
		.m_axil_bready(e_bready), .m_axil_araddr(e_araddr),
		.m_axil_arvalid(e_arvalid), .m_axil_arready(e_arready),
		.m_axil_rdata(e_rdata), .m_axil_rresp(e_rresp), .m_axil_rvalid(e_rvalid),
		.m_axil_rready(e_rready), .i_irq_engine(irq_engine),
		.o_irq_event(irq_event), .o_irq_firmware(irq_firmware),
		.o_link_delay(delay), .o_link_drop(drop), .o_link_twice(twice)
	);

	// The engine's registers: memory, and the upper half of it refuses.
	reg [31:0] regs [0:2047];
	assign e_done = e_valid;
	assign e_bad = e_addr[12] || eq_wstrb != 4'hF && e_write;
	assign eq_rdata = regs[e_addr[12:2]];
	always @(posedge clk)
		if (e_valid && e_write && !e_bad)
			regs[e_addr[12:2]] <= eq_wdata;

	localparam [16:0] FW = `NIC_FW_BASE, BOX = `NIC_BOX_BASE, DB = `NIC_DB_BASE;
	integer errors = 0, i, seed = 3;
	integer sent, got;
	reg [48:0] log [0:4095];
	reg stop;

	task check;
		input ok;
		input [8*60-1:0] text;
		if (!ok) begin
			$display("wrong: %0s at %0t", text, $time);
			errors = errors + 1;
		end
	endtask

	// The oldest write is this one; take it.
	task expect_write;
		input [16:0] addr;
		input [31:0] value;
		begin
			fw.read(BOX + `NIC_BOX_ADDR);
			check(fw.data === {1'b1, 14'd0, addr}, "where the oldest write goes");
			fw.read(BOX + `NIC_BOX_DATA);
			check(fw.data === value, "what it says");
			fw.write(BOX + `NIC_BOX_DONE, 0);
			check(fw.resp == 0, "it was there");
		end
	endtask

	// A firmware that takes its time, and compares with what was sent.
	task play;
		begin
			stop = 0;
			while (!stop || irq_firmware) begin
				if (irq_firmware) begin
					fw.read(BOX + `NIC_BOX_ADDR);
					check(fw.data[31], "the line says that there is one");
					check(fw.data[16:0] === log[got][48:32], "order");
					fw.read(BOX + `NIC_BOX_DATA);
					check(fw.data === log[got][31:0], "order of what");
					if (log[got][48:32] == FW + `NIC_FW_CMD)
						fw.write(FW + `NIC_FW_CMD, fw.data);
					repeat ({$random(seed)} % 64) @(posedge clk);
					fw.write(BOX + `NIC_BOX_DONE, 0);
					got = got + 1;
				end else
					@(posedge clk);
			end
		end
	endtask

	task send;
		input [16:0] addr;
		input [31:0] value;
		begin
			log[sent] = {addr, value};
			sent = sent + 1;
			drv.write(addr, value);
			check(drv.resp == 0, "a write is taken");
		end
	endtask

	initial begin
		repeat (4) @(posedge clk);
		rst = 0;

		// before the firmware is there: zeros, and nothing waits
		drv.read(FW + `NIC_FW_ID);
		check(drv.data === 0 && drv.resp == 0, "FW reads as 0");
		drv.write(DB, 5);
		check(drv.resp == 0, "a doorbell is lost");
		check(!irq_firmware, "the queue is empty");
		fw.write(BOX + `NIC_BOX_DONE, 0);
		check(fw.resp == 2, "DONE of nothing is refused");
		fw.write(FW + `NIC_FW_ID, `NIC_FW_ID_RESET);
		fw.write(BOX + `NIC_BOX_OPEN, 1);
		fw.read(BOX + `NIC_BOX_OPEN);
		check(fw.data == 1, "OPEN");
		drv.read(FW + `NIC_FW_ID);
		check(drv.data === `NIC_FW_ID_RESET, "the firmware's name");

		// the engine's pages, from both sides at once
		fork
			for (i = 0; i < 20; i = i + 1)
				drv.write(8 * i, i);
			for (got = 0; got < 20; got = got + 1)
				fw.write(8 * got + 4, ~got);
		join
		for (i = 0; i < 20; i = i + 1) begin
			drv.read(8 * i + 4);
			check(drv.data === ~i && drv.resp == 0, "the firmware's word");
			fw.read(8 * i);
			check(fw.data === i, "the driver's word");
		end
		drv.read(17'h1000);
		check(drv.resp == 2, "what the engine refuses");
		drv.write(17'h1000, 0);
		check(drv.resp == 2, "what the engine refuses, a write");
		drv.write_bytes(17'h0, 0, 4'h1);
		check(drv.resp == 2, "part of a word");

		// where nothing is
		drv.read(BOX);
		check(drv.resp == 2, "BOX is not the driver's");
		drv.write(BOX, 0);
		check(drv.resp == 2, "BOX is not the driver's to write");
		drv.read(FW + 17'h80);
		check(drv.resp == 2, "beyond the registers");
		drv.write_bytes(FW, 0, 4'h3);
		check(drv.resp == 2, "part of a word of FW");
		fw.read(DB);
		check(fw.resp == 2, "doorbells from behind");
		fw.read(BOX + 17'h14);
		check(fw.resp == 2, "nothing behind DONE");
		fw.write(BOX + `NIC_BOX_ADDR, 0);
		check(fw.resp == 2, "read only");

		// a process in its page: never an error
		drv.read(DB + 17'h3000);
		check(drv.resp == 0 && drv.data === 0, "a doorbell is read");
		drv.write_bytes(DB, 1, 4'h2);
		check(drv.resp == 0 && !irq_firmware, "a part of a doorbell");
		drv.write(DB + 17'hFFFC, 77);
		check(drv.resp == 0, "the last word of the last page");
		repeat (4) @(posedge clk);
		check(irq_firmware, "the line");
		expect_write(DB + 17'hFFFC, 77);
		repeat (4) @(posedge clk);
		check(!irq_firmware, "no line");

		// the driver's line waits for what may bring it down, not for doorbells
		fw.write(BOX + `NIC_BOX_LINE, 1);
		check(irq_event, "up");
		drv.write(DB, 1);
		check(irq_event, "up, for all doorbells");
		drv.write(FW + `NIC_FW_EQ_CONS, 9);
		repeat (2) @(posedge clk);
		check(!irq_event, "down until it is known");
		expect_write(DB, 1);
		check(!irq_event, "still");
		expect_write(FW + `NIC_FW_EQ_CONS, 9);
		check(irq_event, "up again");
		fw.write(BOX + `NIC_BOX_LINE, 0);
		check(!irq_event, "down");

		// many writes and reads, more than fit
		sent = 0;
		got = 0;
		fork
			play;
			begin
				for (i = 0; i < 400; i = i + 1)
					case ({$random(seed)} % 4)
					0: begin
						send(FW + `NIC_FW_CMD, i);
						drv.read(FW + `NIC_FW_CMD);
						check(drv.data === i, "a read sees the write");
						check(got == sent, "and all before");
					end
					default:
						send(DB + 4096 * (i % 16), i);
					endcase
				stop = 1;
			end
		join
		check(got == sent, "all of them came");

		// link
		fw.write(BOX + `NIC_BOX_LINK_DELAY, 3);
		fw.write(BOX + `NIC_BOX_LINK_DROP, 4);
		fw.write(BOX + `NIC_BOX_LINK_TWICE, 5);
		check(delay == 3 && drop == 4 && twice == 5, "link");
		fw.read(BOX + `NIC_BOX_LINK_TWICE);
		check(fw.data == 5, "link, read back");
		irq_engine = 1;
		#1 check(irq_firmware, "the engine's events");
		irq_engine = 0;

		// a firmware that is dead: the seventeenth doorbell waits, and then never again
		for (i = 0; i < 16; i = i + 1) begin
			drv.write(DB, i);
			check(drv.clocks < 20, "no wait");
		end
		fw.read(BOX + `NIC_BOX_ADDR);
		check(fw.resp == 0 && fw.data[31], "the firmware's port does not wait");
		drv.write(DB, 16);
		check(drv.resp == 0 && drv.clocks > 4000, "it waited");
		drv.write(DB, 17);
		check(drv.clocks < 20, "nobody waits any more");
		drv.read(FW + `NIC_FW_ID);
		check(drv.data === 0, "FW reads as 0");
		fw.read(BOX + `NIC_BOX_OPEN);
		check(fw.data == 0 && !irq_firmware, "closed and empty");
		// it comes back
		fw.write(BOX + `NIC_BOX_OPEN, 1);
		drv.write(FW + `NIC_FW_CMD_GO, 1);
		drv.read(FW + `NIC_FW_CMD_STATUS);
		check(drv.clocks > 4000 && drv.data === 0, "a read does not wait for ever either");

		if (errors == 0)
			$display("PASS tb_mailbox: %0d writes in order", sent);
		$finish(0);
	end

	initial begin
		#5000000;
		$display("wrong: no end");
		$finish(0);
	end
endmodule

`default_nettype wire
