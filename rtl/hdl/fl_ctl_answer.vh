// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: answers to peers. One that finds no room on the wire waits in its peer's place,
// at most one for each context of a peer: a newer one takes its place, which says all that the
// older one said. So nothing can overflow.

ANSWER_FLUSH: begin
    pi <= answer_fifo[answer_head];
    step <= answer_count == 0 ? fl_ret : FLUSH_NEXT;
end
FLUSH_NEXT: begin
    put_answer(pi_place[7:4], pi_place[3:0], p_answer[pi]);
    ts_waited <= 1'b1;
    ts_ret <= FLUSH_SENT;
    step <= TRY_SEND;
end
FLUSH_SENT:
    if (!ts_ok)
        step <= fl_ret;
    else begin
        p_waiting[pi] <= 1'b0;
        answer_head <= answer_head + 1'b1;
        answer_count <= answer_count - 1'b1;
        step <= ANSWER_FLUSH;
    end

// post(): those that wait have just been tried.
ANSWER_TRY: begin
    put_answer(an_node, an_ctx,
               {an_opcode, an_gen, an_attempt, an_code, an_map, an_xfer, an_block});
    ts_waited <= 1'b0;
    ts_ok <= 1'b0;
    ts_ret <= ANSWER_TRIED;
    pi <= an_place[SW-1:0];
    step <= answer_count == 0 ? TRY_SEND : ANSWER_TRIED;
end
ANSWER_TRIED: begin
    step <= an_ret;
    if (!ts_ok && !(p_waiting[pi] && an_ahead[15])) begin
        p_answer[pi] <= {an_opcode, an_gen, an_attempt, an_code, an_map, an_xfer, an_block};
        p_waiting[pi] <= 1'b1;
        trace_answer(`FL_TRC_ANS_WAIT);
        if (!p_waiting[pi]) begin
            answer_fifo[answer_head + answer_count[SW-1:0]] <= pi;
            answer_count <= answer_count + 1'b1;
        end
    end
end

// The packet in tp_*, if the wire takes the whole of it now.
TRY_SEND: begin
    ts_ok <= o_enabled && i_room;
    step <= ts_ret;
    if (o_enabled && i_room) begin
        if (tp_answer)
            trace_answer(`FL_TRC_ANS_SEND);
        else if (!rd_ask && rd_sent == 17'd0) begin
            trace_tx(`FL_TRC_TX_CELLS);
            trc_a <= {47'd0, t_len[ti]};
            trc_b <= {15'd0, t_cells};
        end
        step <= SEND;
    end
end
SEND: step <= SENDING;
SENDING:
    if (!tp_busy)
        step <= ts_ret;
