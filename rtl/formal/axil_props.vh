// SPDX-License-Identifier: BSD-2-Clause
// What fl_axil never does, whatever its master and ctl do, with resets at any time; see
// rd_props.vh.
	(* anyconst *) reg [3:0] PROP;

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	wire aw_taken = s_axil_awvalid && s_axil_awready;
	wire w_taken = s_axil_wvalid && s_axil_wready;
	wire ar_taken = s_axil_arvalid && s_axil_arready;
	wire b_taken = s_axil_bvalid && s_axil_bready;
	wire r_taken = s_axil_rvalid && s_axil_rready;

	// Beside the module: what was taken and not answered, and what ctl said to it.
	reg w_due, r_due;
	reg [16:0] addr;
	reg [31:0] data;
	reg part, said, said_bad;
	reg [31:0] said_data;
	reg b_was, r_was;
	reg [1:0] b;
	reg [33:0] r;
	reg passed_w, passed_r;		// one waits that another kind was once preferred to
	wire w_waits = s_axil_awvalid && s_axil_wvalid && !aw_taken;
	wire r_waits = s_axil_arvalid && !ar_taken;
	reg w_waited, r_waited;

	// What master and ctl keep to.
	always @* begin
		assume (begun || rst);
		if (rq_done)
			assume (rq_valid);
		if (w_waited && !rst)
			assume (s_axil_awvalid && s_axil_wvalid);
		if (r_waited && !rst)
			assume (s_axil_arvalid);
	end

	always @(posedge clk) begin
		if (aw_taken) begin
			addr <= s_axil_awaddr;
			data <= s_axil_wdata;
			part <= s_axil_wstrb != 4'hF;
		end
		if (ar_taken) begin
			addr <= s_axil_araddr;
			part <= 0;
		end
		if (aw_taken || ar_taken)
			said <= 0;
		if (rq_done) begin
			said <= 1;
			said_bad <= rq_bad;
			said_data <= rq_rdata;
		end
		w_due <= (w_due && !b_taken) || aw_taken;
		r_due <= (r_due && !r_taken) || ar_taken;
		b_was <= s_axil_bvalid && !s_axil_bready && !rst;
		b <= s_axil_bresp;
		r_was <= s_axil_rvalid && !s_axil_rready && !rst;
		r <= {s_axil_rresp, s_axil_rdata};
		w_waited <= w_waits && !rst;
		r_waited <= r_waits && !rst;
		passed_w <= w_waits && (passed_w || ar_taken) && !rst;
		passed_r <= r_waits && (passed_r || aw_taken) && !rst;
		if (rst) begin
			w_due <= 0;
			r_due <= 0;
		end
	end

	(* keep *) wire sound = state <= ANSWER && !(w_due && r_due) &&
		(state == IDLE) == !(w_due || r_due) &&
		(state == IDLE || rq_write == w_due) &&
		(state != ASK || (!said && !part && rq_addr == addr &&
				  (!rq_write || rq_wdata == data))) &&
		(state != ANSWER || (said != part && bad == (part || said_bad))) &&
		(state != ANSWER || rq_write ||
		 s_axil_rdata == (said_bad ? 32'd0 : said_data)) &&
		(!passed_w || (!write_last && w_waited)) &&
		(!passed_r || (write_last && r_waited)) &&
		(!w_due || write_last) && (!r_due || !write_last);

	always @* if (begun) begin
		assert (sound);
		// P1 address and data of a write are taken together
		if (PROP == 1)
			assert (aw_taken == w_taken);
		// P2 one access is taken at a time, and none beside one that was not answered
		if (PROP == 2)
			assert (!(aw_taken && ar_taken) && (!(aw_taken || ar_taken) || !(w_due || r_due)));
		// P3 no answer without a request, and one to each
		if (PROP == 3)
			assert ((!s_axil_bvalid || w_due) && (!s_axil_rvalid || r_due));
		// P4 what was taken is asked for, or its answer waits: none is lost
		if (PROP == 4)
			assert ((!w_due || (rq_valid && rq_write) || s_axil_bvalid) &&
				(!r_due || (rq_valid && !rq_write) || s_axil_rvalid));
		// P5 an answer that waits for BREADY or RREADY does not change
		if (PROP == 5 && b_was)
			assert (s_axil_bvalid && s_axil_bresp == b);
		if (PROP == 5 && r_was)
			assert (s_axil_rvalid && {s_axil_rresp, s_axil_rdata} == r);
		// P6 ctl is asked for what was taken, once, and for no part of a word
		if (PROP == 6 && rq_valid)
			assert (!said && !part && rq_addr == addr && rq_write == w_due &&
				(!rq_write || rq_wdata == data));
		// P7 the answer is ctl's, or a refusal of a part of a word
		if (PROP == 7 && s_axil_bvalid)
			assert (s_axil_bresp == (part || said_bad ? SLVERR : OKAY) && said != part);
		if (PROP == 7 && s_axil_rvalid)
			assert (said && s_axil_rresp == (said_bad ? SLVERR : OKAY) &&
				(said_bad || s_axil_rdata == said_data));
		// P8 where nothing is under way, what is offered is taken
		if (PROP == 8 && !(w_due || r_due))
			assert (!(s_axil_arvalid || (s_axil_awvalid && s_axil_wvalid)) ||
				aw_taken || ar_taken);
		// P9 who waits is passed over once at most
		if (PROP == 9 && !rst)
			assert (!(passed_w && ar_taken) && !(passed_r && aw_taken));
		// P10 it moves whenever its state can change
		if (PROP == 10 && (aw_taken || ar_taken || rq_valid || b_taken || r_taken))
			assert (o_moving);
	end
