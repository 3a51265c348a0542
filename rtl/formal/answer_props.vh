// SPDX-License-Identifier: BSD-2-Clause
// fl_answer neither loses an answer nor sends what nobody asked for, whatever fl_ctl and the wire
// do and whenever a reset comes (see rd_props.vh). Of one peer with four contexts, since each place
// is looked at.
// sizes: NODES=1 CTX_LOG2=2
	(* anyconst *) reg [3:0] PROP;
	(* anyconst *) reg [SW-1:0] s;		// any place

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	// What fl_ctl keeps to: a task stands until it is done, and the engine is not turned on or
	// off meanwhile (ctl_props.vh, P10).
	reg asked, enabled_was;
	reg [238:0] task_was;
	wire [92:0] c_now = {c_to, c_opcode, c_ctx, c_gen, c_attempt, c_len[16:0], c_offset[16:0],
			     c_plen, 2'd0};
	wire [238:0] task_now = {an_kind, an_node, an_ctx, an_what, c_now};
	always @* begin
		assume (begun || rst);
		assume (an_kind != 2'd3 && an_node == 0 && an_ctx < 4);
		if (i_flush)
			assume (o_flush && state == IDLE && !an_valid);
		if (asked)
			assume (an_valid && task_now == task_was && i_enabled == enabled_was);
	end

	reg left;			// the packet of the task itself has begun
	reg owed;			// there was room again: nobody has asked since, nor will FLUSH
	reg sent_was, busy_was, waits_was, rst_was;
	reg [15:0] gen_was;
	reg [172:0] tp_was;
	wire [172:0] tp_now = {tp_answer, tp_to, tp_opcode, tp_ctx, tp_gen, tp_attempt, tp_len,
			       tp_offset, tp_plen, tp_code, tp_block, tp_qp[10:0]};
	wire own = tp_start && !o_waited;
	always @(posedge clk) begin
		asked <= an_valid && !an_done && !rst;
		enabled_was <= i_enabled;
		task_was <= task_now;
		left <= !rst && !an_done && (left || own);
		owed <= !rst && i_enabled && !i_flush && (i_room_again || (owed && !o_want));
		sent_was <= o_sends && !rst;
		busy_was <= (tp_start || (state == SENDING && tp_busy)) && !rst;
		tp_was <= tp_now;
		waits_was <= waiting[s] && !rst;
		gen_was <= answer[s][127:112];
	end

	// The queue holds each place in which an answer waits, once.
	reg kept;
	reg [SW:0] number;
	reg [SW-1:0] from_p, from_q;
	integer p, q;
	always @* begin
		kept = 1;
		number = 0;
		for (p = 0; p < SLOTS; p = p + 1) begin
			number = number + waiting[p];
			from_p = p - head;
			if (from_p < count && !waiting[fifo[p]])
				kept = 0;
			for (q = 0; q < p; q = q + 1) begin
				from_q = q - head;
				if (from_p < count && from_q < count && fifo[p] == fifo[q])
					kept = 0;
			end
		end
	end

	wire goes = state == ROOM || state == SEND || state == SENDING;
	wire fits_cell = !tp_answer && {tp_to, tp_opcode, tp_ctx, tp_gen, tp_attempt, tp_len[16:0],
					tp_offset[16:0], tp_plen, 2'd0} == c_now;
	wire fits_answer = tp_answer && tp_to == an_node && tp_ctx == {4'd0, an_ctx} &&
			   {tp_opcode, tp_gen, tp_attempt, tp_code, tp_map, tp_xfer, tp_block} ==
			   an_what;
	wire fits_waited = tp_answer && tp_to == 0 && tp_ctx == {6'd0, at} &&
			   {tp_opcode, tp_gen, tp_attempt, tp_code, tp_map, tp_xfer, tp_block} ==
			   answer[at];
	wire sound_kept = kept && number == count;
	wire sound_task = state <= DONE && (state == IDLE ? !left && !asked : asked) &&
		(state != COMPOSE || an_kind == AN_ANSWER || (an_kind == AN_CELL && count == 0)) &&
		(state != PUT || (an_kind == AN_ANSWER && at == place[SW-1:0] && fits_answer)) &&
		(state != NEXT || (count != 0 && at == fifo[head])) &&
		(!(goes && o_waited) || (count != 0 && at == fifo[head] && fits_waited)) &&
		(!(goes && !o_waited) || (count == 0 && (an_kind == AN_CELL ? fits_cell :
		  an_kind == AN_ANSWER && at == place[SW-1:0] && fits_answer)));
	wire sound_left = (state == IDLE || an_ok == (left && state == DONE)) &&
		(!left || (!o_waited && (state == DONE || state == SENDING))) &&
		(!(state == SENDING && !o_waited) || left) &&
		(!(state == DONE && an_kind == AN_ANSWER) || left || waiting[place[SW-1:0]]);
	wire sound_owed = !owed || again || state == FLUSH || state == NEXT || state == ROOM ||
			  (count == 0 && state != PUT);
	wire sound_sent = (state == SEND) == sent_was;
	(* keep *) wire sound = rst || (sound_kept && sound_task && sound_left && sound_owed &&
		sound_sent && (!waits_was || !waiting[s] || state == DONE ||
			       gen_was == answer[s][127:112]));

	wire [15:0] gen_step = answer[s][127:112] - gen_was;
	always @* if (begun && !rst) begin
		assert (sound);
		// P1 a packet begins only where there was room for it
		if (PROP == 1 && tp_start)
			assert (sent_was);
		// P2 a packet stays until it has left
		if (PROP == 2 && busy_was)
			assert (tp_now == tp_was);
		// P3 a cell leaves when no answer waits, of this task and once; an_ok says whether
		if (PROP == 3) begin
			if (tp_start && !tp_answer)
				assert (an_valid && an_kind == AN_CELL && count == 0 && !left &&
					fits_cell);
			if (an_done)
				assert (an_valid && (an_kind != AN_CELL || an_ok == left));
		end
		// P4 an answer leaves, or it waits
		if (PROP == 4 && an_done && an_kind == AN_ANSWER)
			assert (left || waiting[place[SW-1:0]]);
		// P5 those that wait leave in the order in which they began to, each as it waits
		if (PROP == 5 && tp_start && o_waited)
			assert (at == fifo[head] && waiting[at] && fits_waited);
		// P6 no place ever overflows the queue, and none that waits is missing in it
		if (PROP == 6)
			assert (kept && number == count && count <= SLOTS);
		// P7 what waits gives way to none of an older generation
		if (PROP == 7 && waits_was && waiting[s])
			assert (!gen_step[15]);
		// P8 room that comes again while an answer waits is not forgotten
		if (PROP == 8 && state == IDLE && owed && i_enabled && count != 0)
			assert (o_flush);
	end
