// SPDX-License-Identifier: BSD-2-Clause
// What fl_wr never does, whatever memory and ctl do; see rd_props.vh.
	(* anyconst *) reg [3:0] PROP;
	localparam [16:0] BLOCK = 1 << BLOCK_LOG2;

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	// Beside the module: what was written, and what became of it.
	reg bad, lost;			// an answer of this block was an error; was DECERR
	reg stopped;			// it was cancelled
	reg burst;			// AWVALID rose and the answer did not come
	reg aw_due, w_due;		// and AW, the last W were not taken
	reg [8:0] count;		// W taken of this burst
	reg [16:0] to_come;		// bytes of the block that no burst has brought
	reg aw_was, w_was, go_was, ask_was;
	reg [86:0] aw;
	reg [144:0] w;
	wire rises = m_axi_awvalid && !burst;
	wire picked = we_ack && we_ok && state == NEXT;

	// What memory and ctl keep to; the block is as possible() of engine_rx.c lets it pass.
	always @* begin
		assume (rst == !begun);
		if (we_ack)
			assume (we_valid);
		if (m_axi_bvalid)
			assume (burst && !aw_due && !w_due);
		// A block that is cancelled stays so until that was reported.
		if (stopped && state != NEXT && !we_valid)
			assume (wr_cancelled);
		if (picked)
			assume (wr_len != 0 && wr_len <= BLOCK);
	end

	always @(posedge clk) begin
		if (rises) begin
			burst <= 1;
			count <= 0;
		end
		aw_due <= (aw_due || rises) && !aw_taken;
		w_due <= (w_due || rises) && !(w_taken && m_axi_wlast);
		if (w_taken)
			count <= count + 1'b1;
		if (b_taken) begin
			burst <= 0;
			bad <= bad || m_axi_bresp[1];
			lost <= lost || m_axi_bresp == DECERR;
			to_come <= to_come - {4'b0, o_wr_len};
		end
		stopped <= stopped || wr_cancelled;
		if (picked) begin
			bad <= 0;
			lost <= 0;
			stopped <= 0;
			to_come <= wr_len;
		end
		if (rst) begin
			burst <= 0;
			aw_due <= 0;
			w_due <= 0;
		end
		aw_was <= m_axi_awvalid && !m_axi_awready && !rst;
		aw <= {m_axi_awid, m_axi_awaddr, m_axi_awlen};
		w_was <= m_axi_wvalid && !m_axi_wready && !rst;
		w <= {m_axi_wdata, m_axi_wstrb, m_axi_wlast};
		go_was <= i_go_wr;
		ask_was <= we_valid && !we_ack && !rst;
	end

	wire in_burst = state == FETCH || state == MOVE || state == ANSWER || state == FINISH;
	wire in_block = in_burst || state == BEGIN;
	wire [31:0] left = {15'b0, wr_left};
	wire fetching = state == FETCH && !fetched;	// the burst's first cycle
	(* keep *) wire sound =
		(!asked || state == NEXT) &&
		(!in_block || (wr_left != 0 &&
			       (page == 0 ? wr_left <= BLOCK :
				next_va[11:0] == 0 && left + 4096 * (page - 5'd1) < BLOCK))) &&
		(!in_burst || (o_wr_len != 0 && {4'b0, o_wr_len} <= wr_left &&
			       o_wr_va == next_va && o_wr_va[11:0] + o_wr_len <= 4096 &&
			       (last_burst || o_wr_va[11:0] + o_wr_len == 4096))) &&
		(state == FINISH ? to_come == wr_left - {4'b0, o_wr_len} :
		 !in_block || (state == BEGIN && stopped) || to_come == wr_left) &&
		(state != BEGIN || stopped || (!lost && bad == (map != 0))) &&
		(!in_burst || (lost == failed && bad == (map != 0 || refused || failed))) &&
		(state == FINISH || state == BEGIN || !in_block || (!lost && !failed && !refused)) &&
		(state != REPORT || stopped || (failed && lost) ||
		 (bad == (map != 0) && to_come == 0 && !failed)) &&
		// the burst's own bookkeeping
		(burst == (in_burst && !fetching && state != FINISH)) &&
		(m_axi_awvalid == (fetching || aw_due)) &&
		(!fetching || (!aw_due && !w_due && !wr_open)) &&
		(!aw_due || burst) && (!wr_open || (burst && !aw_due)) &&
		(w_due == (burst && !(state == ANSWER && !m_axi_wvalid))) &&
		(!m_axi_wvalid || state == MOVE || state == ANSWER) &&
		(!(state == FETCH && fetched) || (count == 0 && beats == end_at[11:4] && first)) &&
		(state != MOVE || (!count[8] && !(m_axi_wvalid && m_axi_wlast) &&
				   first == (beats == end_at[11:4]) &&
				   count + beats + m_axi_wvalid == {1'b0, end_at[11:4]})) &&
		(state != ANSWER || !m_axi_wvalid || (m_axi_wlast && count == {1'b0, end_at[11:4]}));

	always @* if (begun) begin
		assert (sound);
		// P1 a burst stays in a page
		if (PROP == 1 && m_axi_awvalid)
			assert ({1'b0, m_axi_awaddr[11:4]} + m_axi_awlen <= 255);
		// P2 what waits for AWREADY does not change
		if (PROP == 2 && aw_was)
			assert (m_axi_awvalid && aw == {m_axi_awid, m_axi_awaddr, m_axi_awlen});
		// P3 what waits for WREADY does not change
		if (PROP == 3 && w_was)
			assert (m_axi_wvalid && w == {m_axi_wdata, m_axi_wstrb, m_axi_wlast});
		// P4 WLAST is on the beat that AWLEN says
		if (PROP == 4 && m_axi_wvalid)
			assert (m_axi_wlast == (count == {1'b0, m_axi_awlen}));
		// P5 no data without a burst, and no second burst while one is open
		if (PROP == 5)
			assert (!(m_axi_wvalid && !w_due) && !(m_axi_awvalid && wr_open));
		// P6 nothing is begun without a go
		if (PROP == 6 && (rises || (asked && !ask_was)))
			assert (go_was);
		// P7 what landed was written to its end, and all of it was good
		if (PROP == 7 && we_valid && we_kind == WE_LANDED && !stopped)
			assert (!bad && to_come == 0);
		// P8 missing pages are reported with their map, after the whole block
		if (PROP == 8 && we_valid && we_kind == WE_REFUSED && !stopped)
			assert (map != 0 && bad && to_come == 0);
		// P9 after a bus error nothing more is written
		if (PROP == 9 && m_axi_awvalid)
			assert (!lost);
	end
