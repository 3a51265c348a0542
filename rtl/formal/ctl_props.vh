// SPDX-License-Identifier: BSD-2-Clause
// What fl_ctl never does, whatever the firmware, the driver, peers and the two channels do; see
// rd_props.vh. w is any transmit context, y any receive context. What a block carries decides
// nothing here, so prove leaves that out, and all parts of fl_ctl that have properties of their
// own: their outputs are free, but for what is assumed of them below; answer_props.vh and
// silent_props.vh prove that.
// The invariant is shown part by part: each bit of goals follows from all of them, sound.
// goals: 21
// with: fl_regs fl_queue fl_pick fl_answer fl_cells fl_silent
// cut: notes faults packets collected reclaim
// cut: t_lva t_rva t_rkey t_ref t_xfer t_block t_left t_stream t_qpn t_src
// cut: x_opcode x_node x_ctx x_attempt x_linked x_gen x_stream x_qpn x_len x_rkey x_ref x_src
// cut: x_xfer x_block x_va x_left x_map
// cut: p_valid p_done p_over p_attempt p_gen p_rxc write_fifo
	(* anyconst *) reg [3:0] PROP;	// which property is meant
	(* anyconst *) reg [3:0] w;
	(* anyconst *) reg [4:0] contexts;
	(* anyconst *) reg [5:0] rx_contexts;
	(* anyconst *) reg [3:0] cell_log2;

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	// What others keep to. A request stands until it is answered. rd asks for a context when
	// it has none, and for a cell or reports otherwise; a READ request is never reported.
	reg noting;			// what IDLE does by itself: a note that had to wait
	reg rq_was, pk_was, re_was, has;
	reg [3:0] holder;		// whom rd has
	reg [49:0] rq;
	reg [97:0] pk;
	reg [2:0] kind_was, we_kind_was;
	wire [49:0] rq_now = {rq_write, rq_addr, rq_wdata};
	wire [97:0] pk_now = {pk_kind, pk_from, pk_opcode, pk_ctx, pk_gen, pk_attempt, pk_code,
			      pk_ref, pk_plen[7:0]};
	wire reads = step != IDLE && step != RESET && served == EV_READ && !noting;
	always @* begin
		assume (begun || rst);
		assume (i_contexts == contexts && i_rx_contexts == rx_contexts);
		assume (i_cell_log2 == cell_log2);
		assume (contexts >= 4 && contexts <= 16 && rx_contexts >= 1 && rx_contexts <= 32);
		assume (pk_kind != 3);
		assume (!rq_was || (rq_valid && rq == rq_now));
		assume (!pk_was || (pk_valid && pk == pk_now));
		assume (!re_was || (re_valid && (kind_was == re_kind || !reads ||
							 (kind_was >= RE_FAULTED && re_kind >= RE_FAULTED))));
		assume (!re_valid || has == (re_kind != RE_PICK));
		if (reads && (re_kind == RE_FAULTED || re_kind == RE_BUSERR) && step == READ_STEP)
			assume (!rd_ask);
		assume (step != WRITE_STEP || (we_valid && we_kind == we_kind_was));
	end

	// fl_answer works when it is asked, sends no cell but that of the task, once, and says so.
	// fl_silent finds nobody that it may not.
	reg cell_left;			// the cell of this task
	wire cell_leaves = tp_start && !tp_answer;
	always @* begin
		assume (!(an_done || tp_start) || an_valid);
		assume (!cell_leaves ||
			(an_kind == AN_CELL && !cell_left && tp_to == t_node[ti] &&
			 tp_opcode == t_opcode[ti] && tp_ctx == {4'd0, tn} &&
			 tp_gen == t_gen[ti] && tp_attempt == t_attempt[ti] &&
			 tp_len == {15'd0, t_len[ti]} && tp_offset == {15'd0, rd_sent} &&
			 tp_plen == c_plen));
		assume (!(an_done && an_kind == AN_CELL) || (an_ok == cell_left && !tp_start));
		assume (!(si_done && si_found) || x_state[si_index] == `FL_RX_COLLECT);
	end
	always @(posedge clk)
		cell_left <= !rst && !an_done && (cell_left || cell_leaves);
	always @(posedge clk) begin
		rq_was <= rq_valid && !rq_done && !rst;
		rq <= rq_now;
		pk_was <= pk_valid && !pk_done && !rst;
		pk <= pk_now;
		re_was <= re_valid && !re_ack && !rst;
		kind_was <= re_kind;
		we_kind_was <= we_kind;
		if (step == IDLE)
			noting <= late_now;
		if (rst)
			has <= 0;
		else if (re_ack)
			has <= re_kind == RE_PICK ? re_ok : re_kind == RE_CELL && !(re_ok && re_last);
		if (re_ack && re_kind == RE_PICK)
			holder <= rd_index;
	end

	// Beside the module: what was seen of context w.
	reg acked;			// an ACK of this attempt has come
	reg whole;			// its last cell has left since it became READY
	reg called;			// the event under way is one that may move it
	reg [3:0] state_was;
	reg [7:0] attempt_was;
	reg [15:0] gen_was;
	wire [3:0] state = t_state[w];
	wire parked = state == `FL_TX_SRCFAULT || state == `FL_TX_DSTFAULT;
	wire of_w = pk_valid && o_enabled && pk_kind == 2 && pk_ctx == {4'd0, w} &&
		    pk_from == {4'd0, t_node[w]} && pk_gen == t_gen[w] &&
		    pk_attempt == t_attempt[w];
	wire [16:0] w_ctrl = 17'h1000 + {w, 7'd0};
	wire w_command = rq_valid && rq_write && rq_addr == w_ctrl;
	wire w_resume = rq_valid && rq_write && rq_addr == `NIC_ENG_READY && !rq_wdata[8] &&
			rq_wdata[7:0] == {4'd0, w} && rq_wdata[23:16] == t_serial[w];
	wire w_called = step != IDLE && !noting &&
		(state == `FL_TX_SRCFAULT ?
		 served == EV_REG && (w_resume || (w_command && rq_wdata[11])) :
		 (served == EV_REG && w_command && (rq_wdata[11] || rq_wdata[10])) ||
		 (served == EV_PACKET && of_w && (pk_opcode == `WOP_NAK || pk_opcode == `WOP_READY)));
	wire leaves = cell_leaves && tp_ctx == {4'd0, w};
	wire [16:0] to_here = tp_offset[16:0] + {4'd0, tp_plen};
	wire last_cell = leaves && (tp_opcode == `WOP_READ_REQ || to_here == tp_len[16:0]);
	reg [2:0] waits;		// events that went before rd, which waits

	always @(posedge clk) begin
		state_was <= state;
		attempt_was <= t_attempt[w];
		gen_was <= t_gen[w];
		if (of_w && pk_opcode == `WOP_ACK)
			acked <= 1;
		else if (state == `FL_TX_FREE || (attempt_was != t_attempt[w] ||
						  gen_was != t_gen[w]))
			acked <= 0;
		if (last_cell)
			whole <= 1;
		else if (parked || state == `FL_TX_FREE ||
			 (state == `FL_TX_READY && state_was != `FL_TX_READY))
			whole <= 0;
		if (!re_valid || reads)
			waits <= 0;
		else if (step == IDLE && !late_now && served_any && served_next != EV_READ)
			waits <= waits + 1'b1;
		called <= step != IDLE && (called || w_called);
		if (rst) begin
			waits <= 0;
			acked <= 0;
			whole <= 0;
			called <= 0;
		end
	end

	// Where the work stands.
	wire mine = ti == w;
	wire celling = step == SEND_CELL || step == LEAVE;
	wire moving = step == TX_MOVE || step == TX_DROP || step == TX_MOVED;
	wire leaving = ((moving && tm_ret == LEFT) || (step == NOTE_POST && nt_ret == LEFT) ||
			step == LEFT);
	wire ending = step == TX_DROP || step == TX_MOVED || step == WRITE_CANCEL;
	wire applying = step == TX_OUTCOME || step == TX_EARLY || step == TX_APPLY;
	wire answering = step == ANSWER_POST;
	wire rx_moves = step == RX_MOVE || step == RX_MOVED;
	wire rx_ends = step == RX_END || step == RX_ENDED || (rx_moves && rm_ret == RX_ENDED) ||
		       (step == NOTE_POST && nt_ret == RX_ENDED);
	wire stopping = step == WRITE_STOP;
	wire tm_open = moving || step == TX_DONE || step == WRITE_CANCEL ||
		       (stopping && ws_ret == TX_DONE) || (rx_moves && rm_ret == TX_DONE) ||
		       (step == NOTE_POST && nt_ret == TX_DONE);

	// Between the end of an answer to READ own and what becomes of that.
	wire owned = !requester[4] && (step == WRITE_OWN || step == RX_READY_OWN ||
		(rx_ends && (re_ret == WRITE_OWN || re_ret == RX_READY_OWN)) ||
		(answering && (an_ret == WRITE_OWN || an_ret == RX_READY_OWN)));

	// Which events lead to a state: a bit each for EV_*, the fifth is flush.
	function [4:0] events_of;
		input [6:0] s;
		case (s)
		IDLE: events_of = 5'b11111;
		ANSWER_FLUSH: events_of = 5'b10001;
		TX_MOVE, TX_DROP, TX_MOVED, TX_DONE, TX_APPLY, RX_MOVE, RX_MOVED, WRITE_CANCEL,
		WRITE_STOP, NOTE_POST:
			events_of = 5'b01111;
		TX_EARLY, RX_END, RX_ENDED, ANSWER_POST:
			events_of = 5'b00111;
		TX_OUTCOME: events_of = 5'b00101;
		FAULT_QUEUE, FAULT_PUSH: events_of = 5'b01100;
		READ_STEP, SEND_CELL, LEAVE, LEFT, READ_DONE: events_of = 5'b01000;
		WRITE_STEP, WRITE_OWN, WRITE_REFUSED, WRITE_WAITING, WRITE_DONE:
			events_of = 5'b00100;
		REG_READ, REG_WRITE, REG_REFUSE, REG_NONE, REG_DONE, TX_CONTROL, TX_READY,
		RX_VERDICT, RX_JUDGE, RX_READY, RX_READY_OWN, FAULT_POP, FAULT_READY:
			events_of = 5'b00001;
		default: events_of = 5'b00010;
		endcase
	endfunction
	wire [4:0] now = 5'd1 << served;
	wire tm_ok = tm_ret == REG_DONE || tm_ret == PACKET_DONE || tm_ret == READ_DONE ||
		     tm_ret == WRITE_DONE || tm_ret == LEFT || tm_ret == FAULT_QUEUE;
	wire rm_ok = rm_ret == RX_OPEN || rm_ret == PACKET_DONE || rm_ret == RX_ENDED ||
		     rm_ret == REG_DONE || rm_ret == FAULT_QUEUE || rm_ret == TX_DONE;
	wire re_ok_ret = re_ret == WRITE_DONE || re_ret == WRITE_OWN || re_ret == REG_DONE ||
			 re_ret == RX_READY_OWN || re_ret == RX_OWN_FREE || re_ret == RX_TAKE;
	wire ap_ok = ap_ret == PACKET_DONE || ap_ret == READ_DONE || ap_ret == WRITE_DONE ||
		     ap_ret == REG_DONE;
	wire an_back = an_ret == PACKET_DONE || an_ret == RX_STALE || an_ret == RX_BAD || an_ret == WRITE_WAITING ||
		     an_ret == WRITE_DONE || an_ret == WRITE_OWN || an_ret == REG_DONE ||
		     an_ret == RX_READY_OWN || an_ret == RX_OWN_FREE;
	wire nt_ok = noting ? nt_ret == IDLE :
		     nt_ret == REG_DONE || nt_ret == PACKET_DONE || nt_ret == READ_DONE ||
		     nt_ret == WRITE_DONE || nt_ret == LEFT || nt_ret == FAULT_QUEUE ||
		     nt_ret == RX_OPEN || nt_ret == RX_ENDED || nt_ret == TX_DONE;
	wire fl_back = served == 4 ? an_ret == IDLE : an_ret == REG_DONE;
	wire at_home = noting && step != IDLE ? step == NOTE_POST : (events_of(step) & now) != 0;
	wire sound_ret = served <= 4 && at_home &&
		(step == IDLE || noting || (served == EV_REG ? rq_was :
					    served != EV_PACKET || pk_was)) &&
		(step != ANSWER_FLUSH || fl_back) &&
		(!answering || (an_back && (events_of(an_ret) & now) != 0)) &&
		(!tm_open || (tm_ok && (events_of(tm_ret) & now) != 0 &&
			      (tm_ret != FAULT_QUEUE || (served == EV_READ && fq_ret == READ_DONE)))) &&
		(!rx_moves || (rm_ok && (events_of(rm_ret) & now) != 0 &&
			       (rm_ret != FAULT_QUEUE || (served == EV_WRITE && fq_ret == WRITE_REFUSED)))) &&
		(step != NOTE_POST || (nt_ok && (events_of(nt_ret) & now) != 0 &&
			(nt_ret != FAULT_QUEUE || fq_ret == (served == EV_READ ? READ_DONE : WRITE_REFUSED)))) &&
		(!(step == FAULT_QUEUE || step == FAULT_PUSH) ||
		 fq_ret == (served == EV_READ ? READ_DONE : WRITE_REFUSED)) &&
		(!rx_ends || (re_ok_ret && (events_of(re_ret) & now) != 0)) &&
		(!applying || (ap_ok && (events_of(ap_ret) & now) != 0)) &&
		(!stopping || ws_ret == TX_DONE || (ws_ret == REG_DONE && served == EV_REG)) &&
		(step != STORE_CELL || st_ret == RX_COLLECTED || st_ret == RX_OPENED);
	wire a_read = t_opcode[w] == `WOP_READ_REQ;
	wire open = state == `FL_TX_READY || state == `FL_TX_FLYING;

	function said;			// it is the outcome of a block that was sent
		input [3:0] ev;
		said = ev >= `FL_TX_EV_ACK && ev <= `FL_TX_EV_NAK;
	endfunction

	function outcome;		// that it fits context w
		input [3:0] ev;
		input [7:0] code;
		outcome = ev == `FL_TX_EV_ACK ? !a_read && acked :
			  ev == `FL_TX_EV_LANDED ? a_read :
			  ev == `FL_TX_EV_NAK ? code != `FL_ST_OK :
			  (ev == `FL_TX_EV_REFUSED || ev == `FL_TX_EV_PEER_READY) && !a_read;
	endfunction

	wire sound_step = step <= NOTE_POST && served <= 4 && (ready[w] == (state == `FL_TX_READY));
	wire sound_was = (state == state_was || ((step == TX_DROP || step == TX_MOVED) && mine)) &&
		((attempt_was == t_attempt[w] && gen_was == t_gen[w]) ||
		 (step == TX_MOVE && mine && (tm_event == `FL_TX_EV_GO ||
		  tm_event == `FL_TX_EV_PEER_READY || tm_event == `FL_TX_EV_EXPIRE)));
	wire sound_rd = (!rd_dropped || rd_busy) &&
		(!reads || step == READ_STEP ? rd_busy == has :
		 re_kind == RE_PICK ? step == READ_DONE && rd_busy == re_ok && (!re_ok || ti == rd_ctx) :
		 re_kind == RE_CELL ? rd_busy == !(re_ok && re_last) : !rd_busy) &&
		(!reads || re_was) && (!reads || step != READ_STEP || ti == rd_ctx) &&
		(!has || holder == rd_ctx) && (step != LEAVE || re_ok) &&
		(step != TX_MOVE || (said(tm_event) ? !mine || state != `FL_TX_READY :
				     tm_event >= `FL_TX_EV_SENT && tm_event <= `FL_TX_EV_BUS_ERROR ?
				     served == EV_READ && !rd_busy : served == EV_REG)) &&
		(step != TX_DROP || (rd_busy && rd_ctx == ti && served == EV_REG)) &&
		(!(rd_busy && !rd_dropped && rd_ctx == w) ||
		 state == `FL_TX_READY || (step == TX_DROP && mine)) &&
		(!celling || (!re_last && rd_busy && !rd_dropped && rd_ctx == ti && reads && re_kind == RE_CELL));
	wire sound_cell = (!cell_left || step == SEND_CELL) &&
		(!(cell_left && mine && c_last) || whole);
	wire sound_wait = waits == 0 || (served == 3 ? step == READ_STEP && waits <= 4 :
					 served == 4 ? waits <= 1 :
					 waits <= served + 2);
	wire sound_early = !t_early[w] ||
		(outcome(t_early_event[w], t_early_code[w]) &&
		 (state == `FL_TX_READY || state == `FL_TX_SRCFAULT || (leaving && mine && !parked) ||
		  (state == `FL_TX_DONE && (step == TX_DROP || step == TX_MOVED) && mine)));
	wire sound_apply = !(applying && mine) ||
		(outcome(ap_event, ap_code) &&
		 (step == TX_APPLY ? tx_next(state, ap_event) != state &&
				     state != `FL_TX_READY :
		  step == TX_EARLY ? state == `FL_TX_READY : open && a_read));
	wire sound_move = !(step == TX_MOVE && mine) ||
		(tx_next(state, tm_event) != state &&
		 (tm_event != `FL_TX_EV_ACK || !a_read && acked) &&
		 (tm_event != `FL_TX_EV_LANDED || a_read) &&
		 (!(tm_event == `FL_TX_EV_REFUSED || tm_event == `FL_TX_EV_PEER_READY ||
		    tm_event == `FL_TX_EV_FAULT || tm_event == `FL_TX_EV_BUS_ERROR) || !a_read) &&
		 (t_to != `FL_TX_DONE || (t_status[w] == `FL_ST_OK) ==
		  (tm_event == `FL_TX_EV_ACK || tm_event == `FL_TX_EV_LANDED)));
	wire sound_leave = (!(step == LEAVE && mine) || whole) &&
		(step != TX_MOVE || (tm_ret == LEFT) == (tm_event == `FL_TX_EV_SENT)) &&
		(!(step == TX_MOVE && mine && tm_event == `FL_TX_EV_SENT) || whole) &&
		(state != `FL_TX_FLYING || whole) &&
		(!(tm_open && !moving && mine) || (state == `FL_TX_DONE && tm_ret != LEFT)) &&
		(!(leaving && mine) || step == TX_MOVE || state == `FL_TX_FLYING) &&
		(!(applying && mine && state == `FL_TX_DSTFAULT) || called) &&
		(!(step == TX_MOVE && mine && parked) || called);
	wire sound_done = state != `FL_TX_DONE || t_status[w] != `FL_ST_OK ||
			  (whole && (a_read || acked));
	// A READ and the context that collects its answer know each other.
	reg linked;
	integer i;
	always @* begin
		linked = 1;
		for (i = 0; i < 32; i = i + 1) begin
			if (x_requester[i] == {1'b0, w} &&
			    !(t_rxc[w] == i && a_read && t_asked[w] &&
			      (open || (state == `FL_TX_DONE && ending && mine &&
					(step != WRITE_CANCEL || xi == i)))))
				linked = 0;
			if (free[i] && !x_requester[i][4])
				linked = 0;
		end
		for (i = 0; i < 16; i = i + 1) begin
			if (!t_rxc[i][5] && x_requester[t_rxc[i][4:0]] != i)
				linked = 0;
			if (t_early[i] && !said(t_early_event[i]))
				linked = 0;
		end
		if (applying && !said(ap_event))
			linked = 0;
	end
	// The same of any one of them: what has to be shown.
	(* anyconst *) reg [3:0] v;
	(* anyconst *) reg [4:0] y;
	wire [4:0] v_rxc = t_rxc[v][4:0];
	wire linked_own = x_requester[y] != {1'b0, w} ||
		(t_rxc[w] == {1'b0, y} && a_read && t_asked[w] &&
		 (open || (state == `FL_TX_DONE && ending && mine &&
			   (step != WRITE_CANCEL || xi == y))));
	wire linked_free = !free[y] || x_requester[y][4];
	wire linked_rxc = t_rxc[v][5] || x_requester[v_rxc] == {1'b0, v};
	wire linked_early = (!t_early[v] || said(t_early_event[v])) &&
			    (!applying || said(ap_event));
	wire taking = step == RX_TAKE || step == FILL || step == FILL_CLEAR || step == RX_OPENED ||
		      step == OPEN_ANSWER || (step == STORE_CELL && st_ret == RX_OPENED);
	wire ousting = rx_ends && (re_ret == RX_OWN_FREE || re_ret == RX_TAKE);
	wire freeing = ousting || (answering && an_ret == RX_OWN_FREE);
	wire finding = step == RX_RECLAIM || step == RX_TAKE_AWAY || step == RX_OWN_FREE ||
		       step == RX_OWN_TAKEN || freeing;
	wire sound_take =
		(step != WRITE_CANCEL || t_rxc[ti] == {1'b0, xi}) &&
		(!((step == WRITE_CANCEL || step == TX_DROP) && mine) || state == `FL_TX_DONE) &&
		(step != RX_OWN_TAKEN || (answer && t_rxc[ti] == {1'b0, xi})) &&
		(!(ousting && re_ret == RX_TAKE) || t_rxc[ti] == (step == RX_ENDED ? 6'h20 : {1'b0, xi})) &&
		(!(taking || finding) || !answer || !mine || (a_read && t_asked[w] && open)) &&
		(!taking || step == RX_TAKE || step == FILL || (x_requester[xi][4] && !free[xi])) &&
		(step != OPEN_ANSWER || answer) &&
		(step != FILL || free[xi]) &&
		(!(step == RX_TAKE || step == RX_OWN_FREE || step == RX_OWN_TAKEN) || free != 0) &&
		(step != RX_TAKE_AWAY || x_state[xi] == `FL_RX_COLLECT) &&
		(!(freeing && !ousting) || free[xi]) &&
		(!ousting || ((re_wop == 0 || re_ret == RX_OWN_FREE) &&
			      (step == RX_END ? x_state[xi] == `FL_RX_COLLECT &&
						re_event == `FL_RX_EV_RESTART :
			       step == RX_MOVE ? x_state[xi] == `FL_RX_COLLECT &&
						 rm_event == `FL_RX_EV_RESTART :
			       step == RX_MOVED ? x_state[xi] == `FL_RX_FREE :
			       step == RX_ENDED && free[xi]))) &&
		(!(taking && answer && mine) || t_rxc[w][5]) &&
		(!owned || requester[3:0] != w || (a_read && t_asked[w] && open));
	// Whom the request or the packet means.
	wire sound_whom =
		(step != REG_WRITE || (rq_write && (!g_ctx || ti == g_index[3:0]) &&
				       (!g_ready || ti == ready_index[3:0]))) &&
		(step != TX_CONTROL || (rq_write && rq_addr == 17'h1000 + {ti, 7'd0})) &&
		(!(step == FAULT_READY || step == TX_READY) ||
		 (rq_write && rq_addr == `NIC_ENG_READY && side == rq_wdata[8] &&
		  ti == ready_index[3:0])) &&
		(!((rx_ends && re_ret == RX_READY_OWN) || step == RX_READY_OWN ||
		   (answering && an_ret == RX_READY_OWN)) || ready_code != 0) &&
		(step != TX_READY || (!side && ready_index[7:4] == 0)) &&
		(!(step == RECEIVE || step == TX_ANSWER) || ti == pk_ctx[3:0]) &&
		(step != TX_ANSWER || (o_enabled && pk_kind == 2));
	// A receive context in FAULT. The peer table, which says whose a context is, is cut out:
	// a packet of a newer generation may find any.
	reg y_called;			// the event under way is one that may move y on
	reg [3:0] y_was;
	reg [7:0] y_serial_was;
	wire [3:0] y_state = x_state[y];
	wire at_y = xi == y;
	wire y_meant = step != IDLE && !noting &&
		((served == EV_REG && rq_valid && rq_write && rq_addr == `NIC_ENG_READY &&
		  rq_wdata[8] && rq_wdata[7:0] == {3'd0, y} && rq_wdata[23:16] == x_serial[y]) ||
		 (step == RX_NEWER_GEN && at_y));
	always @(posedge clk) begin
		y_was <= y_state;
		y_serial_was <= x_serial[y];
		y_called <= !rst && step != IDLE && (y_called || y_meant);
	end

	function still;			// this event does not move it on
		input [3:0] ev;
		still = rx_next(y_state, ev) == y_state;
	endfunction

	wire sound_still =
		(!cancelled[y] || y_state == `FL_RX_WRITE ||
		 (y_state == `FL_RX_FREE && step == RX_MOVED && at_y)) &&
		(!free[y] || y_state == `FL_RX_FREE) &&
		(y_was == y_state || (step == RX_MOVED && at_y)) &&
		(!(step == WRITE_STOP && at_y) || y_state == `FL_RX_WRITE) &&
		(!(step == RX_JUDGE && at_y) || y_state == `FL_RX_CHECK) &&
		(!(step == RX_MOVE && at_y) || still(rm_event) ||
		 (y_state == `FL_RX_FAULT ? y_called : y_state == `FL_RX_FREE ? !free[y] :
		  rm_event != `FL_RX_EV_FAULT || !cancelled[y])) &&
		(step != RX_END || (re_event > `FL_RX_EV_ACCEPT_FULL && re_event != `FL_RX_EV_FAULT)) &&
		(!(step == RX_END && at_y && y_state == `FL_RX_FAULT) || still(re_event) || y_called) &&
		(step != REG_WRITE || !g_ready || xi == ready_index[4:0]) &&
		(step != FAULT_READY || xi == ready_index[4:0]) &&
		(step != RX_READY || (rq_write && rq_addr == `NIC_ENG_READY && rq_wdata[8] &&
				      rq_wdata[7:0] == {3'd0, xi}));

	// Who is READY gets his turn: those between the one that was served last and w go before it.
	reg [4:0] passed;		// picks of others since w is READY
	wire picks = step == READ_STEP && re_kind == RE_PICK && o_enabled && ready_any;
	wire [3:0] before_w = w - rd_ctx - 4'd1;
	// READY of the driver, of this fault of w, and without an error.
	reg resuming;
	wire resumes = step == REG_WRITE && g_write_ok && g_ready && w_resume && ready_code == 0 &&
		       state == `FL_TX_SRCFAULT && {1'b0, w} < contexts;
	always @(posedge clk) begin
		passed <= rst || !ready[w] || (picks && ready_next == w) ? 5'd0 : passed + picks;
		resuming <= (resuming || resumes) && step != REG_DONE && !rst;
	end
	wire sound_turn = ready[w] ? passed + before_w <= 15 : passed == 0 || state_was == `FL_TX_READY;
	wire sound_resume = !resuming || (served == EV_REG && !noting &&
		(step == FAULT_READY || step == TX_READY ?
			mine && !side && state == `FL_TX_SRCFAULT && ready_code == 0 &&
			ready_index == {4'd0, w} && ready_serial == t_serial[w] && {1'b0, w} < contexts :
		 step == TX_MOVE ? mine && tm_event == `FL_TX_EV_RESOLVED && tm_ret == REG_DONE &&
				   state == `FL_TX_SRCFAULT :
		 step == TX_MOVED ? mine && tm_ret == REG_DONE && state == `FL_TX_READY :
		 step == REG_DONE && state == `FL_TX_READY));

	// What stands at fl_answer.
	reg an_asked;
	reg [250:0] asked_was;
	wire [250:0] asked_now = {an_kind, an_node, an_ctx, an_opcode, an_gen, an_attempt, an_code,
				  an_map, an_xfer, an_block, tn, rd_sent, c_plen, t_node[ti],
				  t_opcode[ti], t_gen[ti], t_attempt[ti], t_len[ti]};
	always @(posedge clk) begin
		an_asked <= an_valid && !an_done && !rst;
		asked_was <= asked_now;
	end

	// A reset goes through all contexts, several times.
	reg clean;
	always @* begin
		clean = ti == count[3:0] && xi == count[4:0] && !rd_busy && !rd_dropped && !has &&
			!cell_left && served == 0 && ready == 0 && waits == 0 && passed == 0 && !resuming;
		for (i = 0; i < 32; i = i + 1)
			if (count > i && !x_requester[i][4])
				clean = 0;
		for (i = 0; i < 16; i = i + 1)
			if (count > i && (t_early[i] || !t_rxc[i][5]))
				clean = 0;
		if (count > w && (state != `FL_TX_FREE || t_attempt[w] != 0))
			clean = 0;
		if (count > w + 1 && (state_was != state || attempt_was != t_attempt[w]))
			clean = 0;
		if (gen_was != t_gen[w])
			clean = 0;
		if (cancelled != 0 || (free[y] && y_state != `FL_RX_FREE) ||
		    (count > y && y_state != `FL_RX_FREE) || (count > y + 1 && y_was != y_state))
			clean = 0;
	end
	wire [16:0] parts = {sound_turn, sound_resume, sound_still, sound_ret, sound_step, sound_was, sound_rd, sound_cell,
			     sound_wait,
			     sound_early, sound_apply, sound_move, sound_leave, sound_done, linked,
			     sound_take, sound_whom};
	(* keep *) wire sound = step == RESET ? clean : &parts;
	(* keep *) wire [20:0] goals = step == RESET ? {clean, 20'hFFFFF} :
		{1'b1, linked_own, linked_free, linked_rxc, linked_early, parts[16:3], parts[1:0]};

	always @* if (begun) begin
		if (step != RESET) begin
		// P1 a refused block never completes before all of it left again
		if (PROP == 1 && state == `FL_TX_DONE && t_status[w] == `FL_ST_OK)
			assert (whole);
		// P2 only an ACK of this very attempt, from its node, completes a block that was sent
		if (PROP == 2 && state == `FL_TX_DONE && t_status[w] == `FL_ST_OK && !a_read)
			assert (acked);
		// P3 no cell leaves but of the block that was read, is READY, and is this attempt
		if (PROP == 3 && leaves)
			assert (state == `FL_TX_READY && has && holder == w && !rd_dropped &&
				tp_gen == t_gen[w] && tp_attempt == t_attempt[w] &&
				tp_to == t_node[w]);
		// P4 a parked block stands still until it is itself meant
		if (PROP == 4 && (state_was == `FL_TX_SRCFAULT || state_was == `FL_TX_DSTFAULT) &&
		    (state != state_was || attempt_was != t_attempt[w] || gen_was != t_gen[w]))
			assert (called);
		// P5 rd is given a block if one is READY, whoever else waits, and none otherwise
		if (PROP == 5 && re_ack && re_kind == RE_PICK)
			assert (re_ok ? rd_index != w || state == `FL_TX_READY :
				!o_enabled || state != `FL_TX_READY);
		// P6 rd waits for at most four other events
		if (PROP == 6)
			assert (waits <= 4);
		// P7 a receive context in FAULT stands still until its own READY or a newer generation
		if (PROP == 7 && y_was == `FL_RX_FAULT &&
		    (y_state != y_was || x_serial[y] != y_serial_was))
			assert (y_called);
		// P8 who is READY is passed over at most 15 times
		if (PROP == 8 && state == `FL_TX_READY)
			assert (passed <= 15);
		// P9 READY of a fault makes its block READY, whatever waits beside it
		if (PROP == 9 && rq_done && resuming)
			assert (state == `FL_TX_READY);
		// P10 what fl_answer is asked for stays until it is done
		if (PROP == 10 && an_asked)
			assert (an_valid && asked_was == asked_now);
		// P11 while the engine is off, no block that was given up ends
		if (PROP == 11 && step == WRITE_STEP && we_kind == WE_CANCELLED)
			assert (o_enabled);
		// P12 an answer waits for the end of a block only if that is being sent
		if (PROP == 12 && step == TX_EARLY && served == EV_PACKET)
			assert (rd_busy && !rd_dropped && rd_ctx == tn && rd_sent != 0);
		end
	end
