// SPDX-License-Identifier: BSD-2-Clause
// What fl_wr never does, whatever memory and ctl do; see rd_props.vh.
	(* anyconst *) reg [3:0] PROP;
	(* anyconst *) reg [4:0] PAGE;	// any page of the block
	(* anyconst *) reg [3:0] LANE;	// any lane of a beat
	(* anyconst *) reg [BLOCK_LOG2-1:0] BYTE;	// any byte of the block
	(* anyconst *) reg [7:0] WHAT;	// and what it is
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
	reg [BLOCK_LOG2:0] va_was;	// where the block begins
	reg hit;			// page PAGE was refused
	reg [1:0] age;			// clocks since AWVALID rose, up to 3
	reg [AT-1:0] asked_for, asked_before;	// words of the receive buffer
	reg aw_was, w_was, go_was, ask_was;
	reg [86:0] aw;
	reg [144:0] w;
	wire rises = m_axi_awvalid && !burst;
	wire picked = we_ack && we_ok && state == NEXT;

	// What memory and ctl keep to; the block is as possible() of engine_rx.c lets it pass.
	always @* begin
		assume (begun || rst);
		if (we_ack)
			assume (we_valid);
		if (m_axi_bvalid)
			assume (burst && !aw_due && !w_due);
		// A block that is cancelled stays so until that was reported.
		if (stopped && state != NEXT && !we_valid)
			assume (wr_cancelled);
		// The receive buffer: its word asked for last, and in that the byte.
		if (asked_for == BYTE[BLOCK_LOG2-1:4])
			assume (xb_rdata[8 * BYTE[3:0] +: 8] == WHAT);
		if (picked)
			assume (wr_len != 0 && wr_len <= BLOCK);
	end

	always @(posedge clk) begin
		if (xb_re) begin
			asked_for <= xb_raddr[AT-1:0];
			asked_before <= asked_for;
		end
		age <= rises ? 1 : age == 3 ? 3 : age + 1'b1;
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
			hit <= hit || (m_axi_bresp == SLVERR && page_now == PAGE);
		end
		stopped <= stopped || wr_cancelled;
		if (picked) begin
			bad <= 0;
			lost <= 0;
			stopped <= 0;
			to_come <= wr_len;
			va_was <= wr_va[BLOCK_LOG2:0];
			hit <= 0;
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
	// Which page of the block the burst is at, and which beat of the block begins it: by its
	// address. Byte BYTE of the block goes to lane byte_lane of beat byte_beat.
	localparam [AT:0] ONE = 1, TWO = 2;
	wire [BLOCK_LOG2-12:0] pages = o_wr_va[BLOCK_LOG2:12] - va_was[BLOCK_LOG2:12];
	wire [4:0] page_now = pages;
	wire [BLOCK_LOG2-12:0] next_page = next_va[BLOCK_LOG2:12] - va_was[BLOCK_LOG2:12];
	wire [AT:0] beat_first = o_wr_va[BLOCK_LOG2:4] - va_was[BLOCK_LOG2:4];
	wire [AT:0] beat_next = next_va[BLOCK_LOG2:4] - va_was[BLOCK_LOG2:4];
	wire [AT:0] beat_now = beat_first + count[7:0];	// the one that is offered
	wire [AT:0] to_fetch = beat_now + m_axi_wvalid;
	wire [BLOCK_LOG2:0] byte_at = va_was[3:0] + {1'b0, BYTE};
	wire [AT:0] byte_beat = byte_at[BLOCK_LOG2:4];
	wire [3:0] byte_lane = byte_at[3:0];
	wire [13:0] lane_at = {1'b0, count, 4'b0} + LANE;
	wire in_strobe = lane_at >= o_wr_va[3:0] && lane_at < {10'b0, o_wr_va[3:0]} + o_wr_len;
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
		(!in_block || page == next_page) &&
		(!in_block || PAGE < page || !map[PAGE]) &&
		(!in_block || (state == BEGIN && stopped) ||
		 hit == (map[PAGE] || (in_burst && refused && page == PAGE))) &&
		(state != REPORT || failed || stopped || hit == map[PAGE]) &&
		// words of the buffer
		(!in_block || turn == va_was[3:0]) &&
		(!in_block || page != 0 || next_va[BLOCK_LOG2:0] == va_was) &&
		(state != BEGIN || stopped || word == beat_next[AT-1:0] - ONE[AT-1:0]) &&
		(state != FETCH || word == beat_first[AT-1:0] - !fetched) &&
		(state != MOVE || word == to_fetch[AT-1:0] + ONE[AT-1:0]) &&
		(!(state == ANSWER || state == FINISH) ||
		 word == beat_first[AT-1:0] + end_at[11:4] + TWO[AT-1:0]) &&
		(!(state == FETCH && fetched) || asked_for == beat_first[AT-1:0] - ONE[AT-1:0]) &&
		(state != MOVE || (asked_for == to_fetch[AT-1:0] &&
				   asked_before == to_fetch[AT-1:0] - ONE[AT-1:0])) &&
		(state != MOVE || asked_before != BYTE[BLOCK_LOG2-1:4] ||
		 before[8 * BYTE[3:0] +: 8] == WHAT) &&
		(!m_axi_wvalid || (m_axi_wstrb[LANE] == in_strobe &&
				   (beat_now != byte_beat ||
				    m_axi_wdata[8 * byte_lane +: 8] == WHAT))) &&
		(!(state == FETCH && fetched) || age == 1) &&
		(state != MOVE || age == 2 || (age == 3 && m_axi_wvalid)) &&
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
		// P10 a bit of the map is a page that was refused
		if (PROP == 10 && we_valid && we_kind == WE_REFUSED && !stopped)
			assert (we_map[PAGE] == hit);
		// P11 WSTRB is the bytes of the burst, on each of its beats
		if (PROP == 11 && m_axi_wvalid)
			assert (m_axi_wstrb[LANE] == in_strobe);
		// P12 and each of them is the block's byte of that address
		if (PROP == 12 && m_axi_wvalid && beat_now == byte_beat)
			assert (m_axi_wdata[8 * byte_lane +: 8] == WHAT);
		// P13 data do not wait for AWREADY: from the third clock on WVALID stands to the end
		if (PROP == 13 && burst && age == 3 && w_due)
			assert (m_axi_wvalid);
	end
