// SPDX-License-Identifier: BSD-2-Clause
// The trace port of fl_ctl: what one record says. For simulation and for a logic analyser on a
// board; the engine does not need it. The order is that of trace_emit(), kicks and answers in
// emu/nic/engine*.c, and xfer, block and attempt are those that the C engine gives.
// A field that is not named is 0. "tx", "rx": the number of a context.
`ifndef FL_TRACE
`define FL_TRACE

// Events of the trace itself.
// index tx, from, event, to (fsm.def)
`define FL_TRC_TX_STATE                         5'd1
// index rx, from, event, to
`define FL_TRC_RX_STATE                         5'd2
// index tx, a bytes of the block, b cells: the first cell leaves next
`define FL_TRC_TX_CELLS                         5'd3
// index, from side (0 tx, 1 rx), a address, b page map
`define FL_TRC_ENG_FAULT                        5'd4
// index, from side, a code; what it causes follows
`define FL_TRC_READY_REG                        5'd5
// a offset in the window, b value: a write that was refused
`define FL_TRC_BAD_REG                          5'd6
// node, index context of that node, gen, attempt
`define FL_TRC_RX_STALE                         5'd7
// node, index context of that node, gen; its ACK follows
`define FL_TRC_RX_DUPLICATE                     5'd8
// node, index context of that node
`define FL_TRC_RX_NO_CONTEXT                    5'd9
// a why (enum wire_error), b bytes of the frame
`define FL_TRC_RX_BAD_PACKET                    5'd10

// What lets a reader follow causes and count.
// a bytes of payload: a cell that is possible (cells_received, payload_received)
`define FL_TRC_CELL                             5'd11
// index rx: taken for the packet; no event of it is known yet
`define FL_TRC_FILL                             5'd12
// index rx: the packet is now what happened last to it
`define FL_TRC_STORE                            5'd13
// index tx, event, a code: an outcome waits for SENT; see OWN_EVENT for its cause
`define FL_TRC_TX_EARLY                         5'd14
// index tx: the outcome that waited is carried out next, with the cause it came with
`define FL_TRC_TX_LEAVE_EARLY                   5'd15
// index rx: it causes the TX_STATE or TX_EARLY that comes next
`define FL_TRC_OWN_EVENT                        5'd16
// node, index context of that node, a opcode: the packet that begins now is this answer.
// from 0: a fresh one, caused by event; from 1: it had waited, its cause is that of its ANS_WAIT.
// event 0: what happened last to receive context b; 1: the packet; 2: the RX_DUPLICATE or RX_NO_CONTEXT before it
`define FL_TRC_ANS_SEND                         5'd17
// the same fields (from 0): no room, the answer waits in the place of this peer context
`define FL_TRC_ANS_WAIT                         5'd18
// index tx: killed while the read channel has it (a kick)
`define FL_TRC_RD_DROP                          5'd19
// index rx: write no more of it; if its burst is open, it is closed now
`define FL_TRC_WR_STOP                          5'd20
// index the event that is carried out next (EV_* of fl_ctl.v; 7: the note that waited for a
// burst's end), event what its channel reports (RE_*, WE_*), node the events that waited, a bit
// each: what comes until the next SERVED is what it does
`define FL_TRC_SERVED                           5'd21

`endif
