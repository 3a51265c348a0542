// SPDX-License-Identifier: BSD-2-Clause
// What fl_guard never does, whatever the engine and the port do, with resets at any time; see
// rd_props.vh.
	(* anyconst *) reg [3:0] PROP;

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	// What the port cannot carry: 64 streams from STREAM_BASE on, and 49 bits of address.
	wire r_alien = s_axi_arid < STREAM_BASE || s_axi_arid - STREAM_BASE > 63 ||
		s_axi_araddr >= 64'h2_0000_0000_0000;
	wire w_alien = s_axi_awid < STREAM_BASE || s_axi_awid - STREAM_BASE > 63 ||
		s_axi_awaddr >= 64'h2_0000_0000_0000;
	wire ar_taken = s_axi_arvalid && s_axi_arready;
	wire r_taken = s_axi_rvalid && s_axi_rready;
	wire w_taken = s_axi_wvalid && s_axi_wready;
	wire b_taken = s_axi_bvalid && s_axi_bready;
	wire m_ar = m_axi_arvalid && m_axi_arready;
	wire m_r = m_axi_rvalid && m_axi_rready;
	wire m_aw = m_axi_awvalid && m_axi_awready;
	wire m_w = m_axi_wvalid && m_axi_wready;
	wire m_b = m_axi_bvalid && m_axi_bready;

	// Beside the module: the burst of each direction.
	reg r_due, r_bad;		// AR was taken and not the last R; the port cannot carry it
	reg [7:0] r_left;		// beats that have to come, and one
	reg w_on, w_bad;		// AWVALID rose and B was not taken
	reg aw_due, w_due;		// its AW, its last W were not taken
	wire w_rises = s_axi_awvalid && !w_on;
	wire w_is_bad = w_rises ? w_alien : w_bad;
	wire aw_is_due = w_rises || aw_due, w_is_due = w_rises || w_due;
	// What waited for its READY.
	reg ar_was, mr_was, aw_was, w_was, mb_was;
	reg mar_was, r_was, maw_was, mw_was, b_was;
	reg [86:0] ar;
	reg [78:0] aw;
	reg [2:0] r, mr;
	reg [1:0] b, mb;
	reg last;

	// What engine and port keep to.
	always @* begin
		assume (begun || rst);
		if (rst)		// as AXI demands
			assume (!s_axi_arvalid && !s_axi_awvalid && !s_axi_wvalid &&
				!m_axi_rvalid && !m_axi_bvalid);
		// one burst a direction, and what is offered stays
		assume (!(s_axi_arvalid && r_due));
		if (ar_was && !rst)
			assume (s_axi_arvalid && ar == {s_axi_arid, s_axi_araddr, s_axi_arlen});
		assume (!(s_axi_awvalid && w_on && !aw_due));
		if (aw_was && !rst)
			assume (s_axi_awvalid && aw == {s_axi_awid, s_axi_awaddr});
		// data with the address or later, and up to the last
		if (s_axi_wvalid)
			assume (w_is_due);
		if (w_was && !rst)
			assume (s_axi_wvalid && s_axi_wlast == last);
		// the port answers what it was asked
		if (m_axi_rvalid)
			assume (r_due && !r_bad && m_axi_rlast == (r_left == 0));
		if (mr_was && !rst)
			assume (m_axi_rvalid && {m_axi_rlast, m_axi_rresp} == mr);
		if (m_axi_bvalid)
			assume (w_on && !w_bad && !aw_due && !w_due);
		if (mb_was && !rst)
			assume (m_axi_bvalid && m_axi_bresp == mb);
	end

	always @(posedge clk) begin
		if (ar_taken) begin
			r_due <= 1;
			r_bad <= r_alien;
			r_left <= s_axi_arlen;
		end else if (r_taken) begin
			r_due <= r_left != 0;
			r_left <= r_left - 1'b1;
		end
		if (w_rises)
			w_bad <= w_alien;
		w_on <= (w_on || w_rises) && !b_taken;
		aw_due <= aw_is_due && !aw_taken;
		w_due <= w_is_due && !(w_taken && s_axi_wlast);
		ar_was <= s_axi_arvalid && !s_axi_arready && !rst;
		ar <= {s_axi_arid, s_axi_araddr, s_axi_arlen};
		aw_was <= s_axi_awvalid && !s_axi_awready && !rst;
		aw <= {s_axi_awid, s_axi_awaddr};
		w_was <= s_axi_wvalid && !s_axi_wready && !rst;
		last <= s_axi_wlast;
		mr_was <= m_axi_rvalid && !m_axi_rready && !rst;
		mr <= {m_axi_rlast, m_axi_rresp};
		mb_was <= m_axi_bvalid && !m_axi_bready && !rst;
		mb <= m_axi_bresp;
		mar_was <= m_axi_arvalid && !m_axi_arready && !rst;
		maw_was <= m_axi_awvalid && !m_axi_awready && !rst;
		mw_was <= m_axi_wvalid && !m_axi_wready && !rst;
		r_was <= s_axi_rvalid && !s_axi_rready && !rst;
		r <= {s_axi_rlast, s_axi_rresp};
		b_was <= s_axi_bvalid && !s_axi_bready && !rst;
		b <= s_axi_bresp;
		if (rst) begin
			r_due <= 0;
			w_on <= 0;
			aw_due <= 0;
			w_due <= 0;
		end
	end

	(* keep *) wire sound = r_here == (r_due && r_bad) && (!r_here || beats == r_left) &&
		(!(aw_due || w_due) || w_on) && (!aw_due || (aw_was && (rst || w_bad == w_alien))) &&
		(state == ADDR ? !w_on || (aw_due ? !w_bad && w_due != ahead : !w_bad && !w_due) :
		 state == DATA ? w_on && !w_bad && !aw_due && w_due :
		 state == SINK ? w_on && w_bad && !aw_due && w_due :
		 w_on && w_bad && !aw_due && !w_due) &&
		(!ahead || (state == ADDR && aw_due && !w_due));

	always @* if (begun) begin
		assert (sound);
		// P1 what the port cannot carry never reaches it
		if (PROP == 1)
			assert ((!m_axi_arvalid || !r_alien) && (!m_axi_awvalid || !w_alien) &&
				(!m_axi_wvalid || !w_is_bad));
		// P2 all else is taken on both sides at once
		if (PROP == 2 && !rst)
			assert (m_ar == (ar_taken && !r_alien) && m_aw == (aw_taken && !w_alien) &&
				m_w == (w_taken && !w_is_bad));
		// P3 what waits for the port's READY stays
		if (PROP == 3 && !rst)
			assert ((!mar_was || m_axi_arvalid) && (!maw_was || m_axi_awvalid) &&
				(!mw_was || m_axi_wvalid));
		// P4 no answer without a request: RVALID in a read, BVALID after all of a write
		if (PROP == 4)
			assert ((!s_axi_rvalid || r_due) &&
				(!s_axi_bvalid || (w_on && !aw_due && !w_due)));
		// P5 an answer that waits for its READY does not change
		if (PROP == 5 && r_was && !rst)
			assert (s_axi_rvalid && {s_axi_rlast, s_axi_rresp} == r);
		if (PROP == 5 && b_was && !rst)
			assert (s_axi_bvalid && s_axi_bresp == b);
		// P6 what is refused has a bus error on each beat, and as many beats as it wished
		if (PROP == 6 && s_axi_rvalid && r_bad)
			assert (s_axi_rresp == DECERR && s_axi_rlast == (r_left == 0));
		if (PROP == 6 && s_axi_bvalid && w_bad)
			assert (s_axi_bresp == DECERR);
		// P7 the port's answers come as they are, and none is lost
		if (PROP == 7)
			assert (m_r == (r_taken && !r_bad) && m_b == (b_taken && !w_bad) &&
				(!(s_axi_rvalid && !r_bad) ||
				 {s_axi_rlast, s_axi_rresp} == {m_axi_rlast, m_axi_rresp}) &&
				(!(s_axi_bvalid && !w_bad) || s_axi_bresp == m_axi_bresp));
		// P8 data do not wait for the address to be taken, nor for anything but WREADY
		if (PROP == 8 && s_axi_wvalid && !w_is_bad)
			assert (m_axi_wvalid);
		// P9 what is refused waits for nobody but the engine
		if (PROP == 9)
			assert ((!(s_axi_arvalid && r_alien) || ar_taken) && (!(r_due && r_bad) || s_axi_rvalid) &&
				(!(s_axi_awvalid && w_alien) || aw_taken) &&
				(!(s_axi_wvalid && w_on && w_bad && !aw_due) || w_taken) &&
				(!(w_on && w_bad && !aw_due && !w_due) || s_axi_bvalid));
	end
