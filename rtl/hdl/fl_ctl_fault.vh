// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: what software is told, and READY, what the driver answers.

// fault_queue_tx(), fault_queue_rx()
FAULT_QUEUE: begin
    if (side) begin
        trace_rx(`FL_TRC_ENG_FAULT);
        trc_a <= x_va[xi];
        trc_b <= x_map[xi];
    end else begin
        trace_tx(`FL_TRC_ENG_FAULT);
        trc_a <= t_lva[ti];
        trc_b <= re_map;
    end
    trc_from <= {3'd0, side};
    step <= FAULT_PUSH;
end
FAULT_PUSH:
    if (fq_done)
        step <= fq_ret;
FAULT_POP: step <= REG_DONE;

FAULT_READY:
    if (ready_index >= (side ? {2'd0, i_rx_contexts} : {3'd0, i_contexts}))
        step <= REG_REFUSE;
    else begin
        if (side)
            trace_rx(`FL_TRC_READY_REG);
        else
            trace_tx(`FL_TRC_READY_REG);
        trc_from <= {3'd0, side};
        trc_a <= {56'd0, ready_code};
        step <= side ? RX_READY : TX_READY;
    end

NOTE_POST:
    if (nq_done)
        step <= nt_ret;
