// SPDX-License-Identifier: BSD-2-Clause
// What fl_rd never does, whatever memory and ctl do. prove puts this before the module's end,
// where all inputs are free and a reset may come in any cycle; PROP says which property is meant.
// sound is the invariant that carries them.
	(* anyconst *) reg [3:0] PROP;
	(* anyconst *) reg [4:0] PAGE;	// any page of the block
	localparam [16:0] BLOCK = 1 << BLOCK_LOG2;

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	// Beside the module: what came, and what was promised. Of the block whose bursts are read:
	reg bad;			// an answer of this block was an error
	reg [16:0] to_come;		// bytes of it that no burst has brought
	reg [3:0] index_was;
	reg [14:0] stream_was;
	reg [BLOCK_LOG2:0] va_was;	// where the block begins
	reg [16:0] len_was;
	reg since;			// its context has been READY all the time
	reg hit;			// a beat of page PAGE was refused
	reg [7:0] beat;			// of the burst under way
	// Of the block that ctl named:
	reg [14:0] stream_named;
	reg [BLOCK_LOG2:0] va_named;
	reg [16:0] len_named;
	reg asks;			// it is a request
	reg killed;			// it was dropped
	reg cell_bad;			// as above, when it was said to be read whole
	reg [16:0] cell_to_come;
	reg ar_was, go_was, ask_was;
	reg [86:0] ar;
	reg [2:0] kind_was;

	// What memory and ctl keep to; the block is as tx_go() lets it pass.
	always @* begin
		assume (begun || rst);
		if (re_ack)
			assume (re_valid);
		if (walk == MOVE && m_axi_rvalid)
			assume (m_axi_rlast == (beat == m_axi_arlen));
		if (picked)
			assume (rd_len != 0 && rd_len <= BLOCK);
		if (ah_valid)
			assume (ah_len != 0 && ah_len <= BLOCK);
		// Who is READY carries the same block.
		if (picked && ahead && since && rd_index == index_was && rd_ready[rd_index])
			assume (!rd_ask && rd_len == len_was && rd_stream == stream_was &&
				rd_lva[BLOCK_LOG2:0] == va_was);
	end

	always @(posedge clk) begin
		if (ar_taken)
			beat <= 0;
		else if (r_taken)
			beat <= beat + 1'b1;
		if (r_taken && m_axi_rresp[1])
			bad <= 1;
		if (r_taken && m_axi_rresp == SLVERR && page_now == PAGE)
			hit <= 1;
		if (r_taken && m_axi_rlast)
			to_come <= to_come - {4'b0, o_rd_len};
		since <= since && rd_ready[index_was];
		if (start || start_ahead) begin
			bad <= 0;
			to_come <= start ? rd_len : ah_len;
			index_was <= start ? rd_index : ah_index;
			stream_was <= start ? rd_stream : ah_stream;
			va_was <= start ? rd_lva[BLOCK_LOG2:0] : ah_lva[BLOCK_LOG2:0];
			len_was <= start ? rd_len : ah_len;
			since <= 1;
			hit <= 0;
		end
		killed <= killed || rd_dropped;
		if (picked) begin
			killed <= 0;
			asks <= rd_ask;
			stream_named <= rd_stream;
			va_named <= rd_lva[BLOCK_LOG2:0];
			len_named <= rd_len;
		end
		if (state == READ && walk == OVER) begin
			cell_bad <= bad;
			cell_to_come <= to_come;
		end
		ar_was <= m_axi_arvalid && !m_axi_arready && !rst;
		ar <= {m_axi_arid, m_axi_araddr, m_axi_arlen};
		go_was <= i_go_rd;
		ask_was <= re_valid && !re_ack && !rst;
		kind_was <= re_kind;
	end

	wire in_block = in_burst || walk == BEGIN;
	// Which page of the block, and which word of the buffer, the burst is at: by its address.
	localparam [BLOCK_LOG2-4:0] ONE = 1;
	wire [BLOCK_LOG2-12:0] pages = o_rd_va[BLOCK_LOG2:12] - va_was[BLOCK_LOG2:12];
	wire [4:0] page_now = pages;
	wire [BLOCK_LOG2-12:0] next_page = next_va[BLOCK_LOG2:12] - va_was[BLOCK_LOG2:12];
	wire [BLOCK_LOG2-4:0] word_now = o_rd_va[BLOCK_LOG2:4] - va_was[BLOCK_LOG2:4] + beat;
	wire [31:0] left = {15'b0, rd_left};
	(* keep *) wire sound = walk <= OVER &&
		(!asked || state == PICK || state == CELL) &&
		(!asked || state != PICK || !in_burst) &&
		(state == READ ? !ahead && walk != REST && !asks : ahead == (walk != REST)) &&
		(!ahead || fills != rb_sends) &&
		(!ahead || (index == index_was && (spoilt || since))) &&
		(state != READ || (stream_was == stream_named && va_was == va_named &&
				   len_was == len_named)) &&
		(!in_block || (rd_left != 0 && stream == stream_was &&
			       (page == 0 ? rd_left <= BLOCK :
				next_va[11:0] == 0 && left + 4096 * (page - 5'd1) < BLOCK))) &&
		(!in_burst || (o_rd_len != 0 && {4'b0, o_rd_len} <= rd_left &&
			       o_rd_va == next_va && o_rd_va[11:0] + o_rd_len <= 4096 &&
			       (last_burst || o_rd_va[11:0] + o_rd_len == 4096))) &&
		(walk == FINISH ? to_come == rd_left - {4'b0, o_rd_len} :
		 !in_block || to_come == rd_left) &&
		(!in_block || page == next_page) &&
		(walk != BEGIN || at == next_va[BLOCK_LOG2:4] - va_was[BLOCK_LOG2:4]) &&
		(walk != MOVE || beat <= m_axi_arlen) &&
		(walk != OPEN || at + beat == word_now) && (walk != MOVE || at == word_now) &&
		(walk != FINISH || last_burst ||
		 at == next_va[BLOCK_LOG2:4] - va_was[BLOCK_LOG2:4] + end_at[11:4] + ONE) &&
		(!in_block || hit == (map[PAGE] || (in_burst && refused && page == PAGE))) &&
		(!in_burst || page != PAGE || !map[PAGE]) &&
		(!in_block || PAGE < page || !map[PAGE]) &&
		(walk != BEGIN || bad == (map != 0)) &&
		(!in_burst || bad == (map != 0 || refused || failed)) &&
		(walk != OVER || (failed ? bad : hit == map[PAGE] && bad == (map != 0) &&
						 to_come == 0)) &&
		(state != REPORT || killed ||
		 (walk == REST && (failed || (map != 0 && bad && hit == map[PAGE])))) &&
		(state != CELL || asks || (!cell_bad && cell_to_come == 0));

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
			assert (asks || !cell_bad);
		// P4 nor one that was not read to its end
		if (PROP == 4 && re_valid && re_kind == RE_CELL && !asks)
			assert (cell_to_come == 0);
		// P5 missing pages are reported with their map
		if (PROP == 5 && re_valid && re_kind == RE_FAULTED && !killed)
			assert (map != 0 && bad);
		// P6 nothing is begun without a go
		if (PROP == 6 && ((m_axi_arvalid && !ar_was) || (asked && !ask_was)))
			assert (go_was);
		// P7 a burst goes to the block's own stream
		if (PROP == 7 && m_axi_arvalid)
			assert (m_axi_arid == (state == READ ? stream_named : stream_was));
		// P8 the bytes of a burst are those of its beats
		if (PROP == 8 && m_axi_arvalid)
			assert (o_rd_va[63:4] == m_axi_araddr[63:4] &&
				o_rd_va[3:0] + o_rd_len > 16 * {5'b0, m_axi_arlen} &&
				o_rd_va[3:0] + o_rd_len <= 16 * {5'b0, m_axi_arlen} + 16);
		// P9 a question stands until it is answered, or a kill takes its place
		if (PROP == 9 && ask_was)
			assert (re_valid && (re_kind == kind_was || rd_dropped || killed));
		// P10 a bit of the map is a page of which a beat was refused, whichever beat it was
		if (PROP == 10 && re_valid && re_kind == RE_FAULTED && !killed)
			assert (re_map[PAGE] == hit);
		// P11 a beat is stored in the word of its address
		if (PROP == 11 && rb_we)
			assert (rb_waddr == word_now && rb_wdata == m_axi_rdata);
		// P12 what was read ahead is a block's if ctl names it and it was READY all the time
		if (PROP == 12 && picked && !rd_ask && !start)
			assert (rd_index == index_was && since && rd_ready[rd_index]);
		// P13 no beat is stored where cells leave
		if (PROP == 13 && rb_we && state == CELL)
			assert (rb_fills != rb_sends);
	end
