// SPDX-License-Identifier: BSD-2-Clause
// What fl_rd never does, whatever memory and ctl do. prove puts this before the module's end,
// where all inputs are free; PROP says which property is meant. sound is the invariant that
// carries them: it is asserted with each of them.
	(* anyconst *) reg [3:0] PROP;
	localparam [16:0] BLOCK = 1 << BLOCK_LOG2;

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	// Beside the module: what came, and what was promised.
	reg bad;			// an answer of this block was an error
	reg asks;			// the block is a request
	reg killed;			// it was dropped
	reg [16:0] to_come;		// bytes of it that no burst has brought
	reg [14:0] stream_was;
	reg [7:0] beat;			// of the burst under way
	reg ar_was, go_was, ask_was;
	reg [86:0] ar;
	reg [2:0] kind_was;
	wire picked = re_ack && re_ok && state == PICK;

	// What memory and ctl keep to; the block is as tx_go() lets it pass.
	always @* begin
		assume (rst == !begun);
		if (re_ack)
			assume (re_valid);
		if (state == MOVE)
			assume (m_axi_rlast == (beat == m_axi_arlen));
		if (picked)
			assume (rd_len != 0 && rd_len <= BLOCK);
	end

	always @(posedge clk) begin
		if (ar_taken)
			beat <= 0;
		else if (r_taken)
			beat <= beat + 1'b1;
		if (r_taken && m_axi_rresp[1])
			bad <= 1;
		if (r_taken && m_axi_rlast)
			to_come <= to_come - {4'b0, o_rd_len};
		killed <= killed || rd_dropped;
		if (picked) begin
			bad <= 0;
			killed <= 0;
			asks <= rd_ask;
			to_come <= rd_len;
			stream_was <= rd_stream;
		end
		ar_was <= m_axi_arvalid && !m_axi_arready && !rst;
		ar <= {m_axi_arid, m_axi_araddr, m_axi_arlen};
		go_was <= i_go_rd;
		ask_was <= re_valid && !re_ack && !rst;
		kind_was <= re_kind;
	end

	wire in_burst = state == OPEN || state == MOVE || state == FINISH;
	wire in_block = in_burst || state == BEGIN;
	wire [31:0] left = {15'b0, rd_left};
	(* keep *) wire sound = state <= CELL &&
		(!asked || state == PICK || state == CELL) &&
		(!in_block || (rd_left != 0 && !asks && stream == stream_was &&
			       (page == 0 ? rd_left <= BLOCK :
				next_va[11:0] == 0 && left + 4096 * (page - 5'd1) < BLOCK))) &&
		(!in_burst || (o_rd_len != 0 && {4'b0, o_rd_len} <= rd_left &&
			       o_rd_va == next_va && o_rd_va[11:0] + o_rd_len <= 4096 &&
			       (last_burst || o_rd_va[11:0] + o_rd_len == 4096))) &&
		(state == FINISH ? to_come == rd_left - {4'b0, o_rd_len} :
		 !in_block || to_come == rd_left) &&
		(state != BEGIN || bad == (map != 0)) &&
		(!in_burst || bad == (map != 0 || refused || failed)) &&
		(state != REPORT || killed || failed || (map != 0 && bad)) &&
		(state != CELL || (!bad && (asks || to_come == 0)));

	always @* if (begun) begin
		assert (sound);
		// P1 a burst stays in a page
		if (PROP == 1 && m_axi_arvalid)
			assert ({1'b0, m_axi_araddr[11:4]} + m_axi_arlen <= 255);
		// P2 what waits for ARREADY does not change
		if (PROP == 2 && ar_was)
			assert (m_axi_arvalid && ar == {m_axi_arid, m_axi_araddr, m_axi_arlen});
		// P3 a block with a refused byte is never sent
		if (PROP == 3 && re_valid && re_kind == RE_CELL)
			assert (!bad);
		// P4 nor one that was not read to its end
		if (PROP == 4 && re_valid && re_kind == RE_CELL && !asks)
			assert (to_come == 0);
		// P5 missing pages are reported with their map
		if (PROP == 5 && re_valid && re_kind == RE_FAULTED && !killed)
			assert (map != 0 && bad);
		// P6 nothing is begun without a go
		if (PROP == 6 && ((m_axi_arvalid && !ar_was) || (asked && !ask_was)))
			assert (go_was);
		// P7 a burst goes to the block's own stream
		if (PROP == 7 && m_axi_arvalid)
			assert (m_axi_arid == stream_was);
		// P8 the bytes of a burst are those of its beats
		if (PROP == 8 && m_axi_arvalid)
			assert (o_rd_va[63:4] == m_axi_araddr[63:4] &&
				o_rd_va[3:0] + o_rd_len > 16 * {5'b0, m_axi_arlen} &&
				o_rd_va[3:0] + o_rd_len <= 16 * {5'b0, m_axi_arlen} + 16);
		// P9 a question stands until it is answered, or a kill takes its place
		if (PROP == 9 && ask_was)
			assert (re_valid && (re_kind == kind_was || rd_dropped || killed));
	end
