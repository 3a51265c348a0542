// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: its states. A subroutine goes on where its *_ret says.

// fl_ctl.v
localparam [6:0] RESET = 0;              // reset: clears one context and one peer a cycle
localparam [6:0] IDLE = 1;               // waits for an event and chooses one

// fl_ctl_regs.vh
localparam [6:0] REG_READ = 2;           // takes the value of a register
localparam [6:0] REG_WRITE = 3;          // looks at a write and carries it out, or goes on with it
localparam [6:0] REG_REFUSE = 4;         // a write that is refused: an event
localparam [6:0] REG_NONE = 5;           // answers: nothing is there, or it was refused
localparam [6:0] REG_DONE = 6;           // answers: done

// fl_ctl_tx.vh
localparam [6:0] TX_MOVE = 7;            // subroutine: ti goes on by tm_event
localparam [6:0] TX_DROP = 8;            // it was killed while the read channel has it
localparam [6:0] TX_MOVED = 9;           // what follows from its new state
localparam [6:0] TX_DONE = 10;           // it has ended: tells the firmware, at once or later
localparam [6:0] TX_OUTCOME = 11;        // subroutine: ap_event for ti, FLYING or still READY
localparam [6:0] TX_EARLY = 12;          // subroutine: ap_event waits until ti is SENT
localparam [6:0] TX_APPLY = 13;          // subroutine: ap_event is carried out
localparam [6:0] TX_ANSWER = 14;         // a packet that answers a block of ours
localparam [6:0] TX_CONTROL = 15;        // a write to CTX.CTRL
localparam [6:0] TX_READY = 16;          // READY for a transmit context
localparam [6:0] READ_STEP = 17;         // a report of the read channel
localparam [6:0] SEND_CELL = 18;         // composes a cell, when no answer waits
localparam [6:0] CELL_SENT = 19;         // it has left, or there was no room
localparam [6:0] LEAVE = 20;             // the whole block has left
localparam [6:0] LEFT = 21;              // carries out what the peer has said meanwhile
localparam [6:0] READ_DONE = 22;         // answers the read channel

// fl_ctl_rx.vh
localparam [6:0] RECEIVE = 23;           // a packet: what is it, is it possible?
localparam [6:0] RX_BAD = 24;            // it is not taken, for the reason in why
localparam [6:0] RX_STALE = 25;          // it is too late
localparam [6:0] PACKET_DONE = 26;       // is done with the packet
localparam [6:0] RX_BLOCK = 27;          // a cell or a READ request: what does the peer table say?
localparam [6:0] RX_NEWER_GEN = 28;      // a newer block of this peer context: the older one ends
localparam [6:0] RX_NEWER_ATTEMPT = 29;  // a newer attempt of the same block
localparam [6:0] RX_REFUSED_AGAIN = 30;  // its pages are still missing: says so again
localparam [6:0] TELL_ALIVE = 31;        // it is here whole: says that it is being worked on, or was given up
localparam [6:0] RX_AGAIN = 32;          // it is in memory already
localparam [6:0] RX_COLLECT = 33;        // one more cell
localparam [6:0] RX_COLLECTED = 34;      // was that the last one?
localparam [6:0] RX_OPEN = 35;           // first cell of an attempt, for the peer table
localparam [6:0] RX_VOUCH = 36;          // a READ answer that nobody asked for is refused
localparam [6:0] RX_RECLAIM = 37;        // none is free: looks for a silent sender
localparam [6:0] RX_TAKE_AWAY = 38;      // its context is taken
localparam [6:0] RX_OWN_FREE = 39;       // a READ answer: does an older one hold the READ?
localparam [6:0] RX_OWN_TAKEN = 40;      // it gives way, or the newer one does
localparam [6:0] RX_NO_CONTEXT = 41;     // no context: the packet is dropped
localparam [6:0] RX_TAKE = 42;           // chooses the context
localparam [6:0] FILL = 43;              // fills it
localparam [6:0] FILL_CLEAR = 44;        // no cell has come yet: clears 64 a cycle
localparam [6:0] RX_OPENED = 45;         // its first state
localparam [6:0] OPEN_ANSWER = 46;       // a READ answer: our own context says where it goes
localparam [6:0] STORE_CELL = 47;        // subroutine: stores the cell unless it has come before
localparam [6:0] STORE_COPY = 48;        // the receiver copies the payload
localparam [6:0] RX_MOVE = 49;           // subroutine: xi goes on by rm_event
localparam [6:0] RX_MOVED = 50;          // what follows from its new state
localparam [6:0] RX_END = 51;            // subroutine: the attempt ends, answer re_wop
localparam [6:0] RX_ENDED = 52;          // sends the answer
localparam [6:0] RX_VERDICT = 53;        // a write to RXC.VERDICT
localparam [6:0] RX_JUDGE = 54;          // of a context in CHECK
localparam [6:0] RX_READY = 55;          // READY for a receive context
localparam [6:0] RX_READY_OWN = 56;      // the READ whose answer it was is over, too

// fl_ctl_write.vh
localparam [6:0] WRITE_CANCEL = 57;      // ti is over: so is its answer xi
localparam [6:0] WRITE_STOP = 58;        // subroutine: write no more of xi
localparam [6:0] WRITE_STEP = 59;        // a report of the write channel
localparam [6:0] WRITE_OWN = 60;         // the block was a READ's answer: what becomes of the READ
localparam [6:0] WRITE_REFUSED = 61;     // tells the peer which pages are missing
localparam [6:0] WRITE_WAITING = 62;     // and the firmware, if it was a READ's answer
localparam [6:0] WRITE_DONE = 63;        // answers the write channel

// fl_ctl_answer.vh
localparam [6:0] ANSWER_FLUSH = 64;      // subroutine: answers that wait leave while there is room
localparam [6:0] FLUSH_NEXT = 65;        // composes the oldest
localparam [6:0] FLUSH_SENT = 66;        // it has left, or there was no room
localparam [6:0] ANSWER_TRY = 67;        // after ANSWER_FLUSH: composes the answer an_*
localparam [6:0] ANSWER_TRIED = 68;      // it has left, or it waits
localparam [6:0] TRY_SEND = 69;          // subroutine: is there room for the packet tp_*?
localparam [6:0] SEND = 70;              // starts it
localparam [6:0] SENDING = 71;           // until it has left

// fl_ctl_fault.vh
localparam [6:0] FAULT_QUEUE = 72;       // subroutine: a fault of side, context ti or xi
localparam [6:0] FAULT_PUSH = 73;        // stores it
localparam [6:0] FAULT_POP = 74;         // drops the head
localparam [6:0] FAULT_READY = 75;       // a write to READY
localparam [6:0] NOTE_POST = 76;         // subroutine: the note nt_*
