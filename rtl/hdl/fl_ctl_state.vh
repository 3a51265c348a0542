// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: its states. A subroutine goes on where its *_ret says.

// fl_ctl.v
localparam [6:0] RESET = 0;		// reset: clears one context and one peer a cycle
localparam [6:0] IDLE = 1;		// waits for an event and chooses one

// fl_ctl_regs.vh
localparam [6:0] REG_READ = 2;		// takes the value of a register
localparam [6:0] REG_WRITE = 3;		// looks at a write and carries it out, or goes on with it
localparam [6:0] REG_REFUSE = 4;	// a write that is refused: an event
localparam [6:0] REG_NONE = 5;		// answers: nothing is there, or it was refused
localparam [6:0] REG_DONE = 6;		// answers: done

// fl_ctl_tx.vh
localparam [6:0] TX_MOVE = 7;		// subroutine: ti goes on by tm_event
localparam [6:0] TX_DROP = 8;		// it was killed while the read channel has it
localparam [6:0] TX_MOVED = 9;		// what follows from its new state
localparam [6:0] TX_DONE = 10;		// it has ended: tells the firmware, at once or later
localparam [6:0] TX_OUTCOME = 11;	// subroutine: ap_event for ti, FLYING or still READY
localparam [6:0] TX_EARLY = 12;		// subroutine: ap_event waits until ti is SENT
localparam [6:0] TX_APPLY = 13;		// subroutine: ap_event is carried out
localparam [6:0] TX_ANSWER = 14;	// a packet that answers a block of ours
localparam [6:0] TX_CONTROL = 15;	// a write to CTX.CTRL
localparam [6:0] TX_READY = 16;		// READY for a transmit context
localparam [6:0] READ_STEP = 17;	// a report of the read channel
localparam [6:0] SEND_CELL = 18;		// fl_answer sends a cell, when no answer waits
localparam [6:0] LEAVE = 19;		// the whole block has left
localparam [6:0] LEFT = 20;		// carries out what the peer has said meanwhile
localparam [6:0] READ_DONE = 21;	// answers the read channel

// fl_ctl_rx.vh
localparam [6:0] RECEIVE = 22;		// a packet: what is it, is it possible?
localparam [6:0] RX_BAD = 23;		// it is not taken, for the reason in why
localparam [6:0] RX_STALE = 24;		// it is too late
localparam [6:0] PACKET_DONE = 25;	// is done with the packet
localparam [6:0] RX_BLOCK = 26;		// a cell or a READ request: what does the peer table say?
localparam [6:0] RX_NEWER_GEN = 27;	// a newer block of this peer context: the older one ends
localparam [6:0] RX_NEWER_ATTEMPT = 28;	// a newer attempt of the same block
localparam [6:0] RX_REFUSED_AGAIN = 29;	// its pages are still missing: says so again
// it is here whole: says that it is being worked on, or was given up
localparam [6:0] TELL_ALIVE = 30;
localparam [6:0] RX_AGAIN = 31;		// it is in memory already
localparam [6:0] RX_COLLECT = 32;	// one more cell
localparam [6:0] RX_COLLECTED = 33;	// was that the last one?
localparam [6:0] RX_OPEN = 34;		// first cell of an attempt, for the peer table
localparam [6:0] RX_VOUCH = 35;		// a READ answer that nobody asked for is refused
localparam [6:0] RX_RECLAIM = 36;	// none is free: fl_silent looks for a silent sender
localparam [6:0] RX_TAKE_AWAY = 37;	// its context is taken
localparam [6:0] RX_OWN_FREE = 38;	// a READ answer: does an older one hold the READ?
localparam [6:0] RX_OWN_TAKEN = 39;	// it gives way, or the newer one does
localparam [6:0] RX_NO_CONTEXT = 40;	// no context: the packet is dropped
localparam [6:0] RX_TAKE = 41;		// chooses the context
localparam [6:0] FILL = 42;		// fills it
localparam [6:0] FILL_CLEAR = 43;	// no cell has come yet: fl_cells clears them
localparam [6:0] RX_OPENED = 44;	// its first state
localparam [6:0] OPEN_ANSWER = 45;	// a READ answer: our own context says where it goes
// subroutine: fl_cells stores the cell unless it has come before
localparam [6:0] STORE_CELL = 46;
localparam [6:0] RX_MOVE = 47;		// subroutine: xi goes on by rm_event
localparam [6:0] RX_MOVED = 48;		// what follows from its new state
localparam [6:0] RX_END = 49;		// subroutine: the attempt ends, answer re_wop
localparam [6:0] RX_ENDED = 50;		// sends the answer
localparam [6:0] RX_VERDICT = 51;	// a write to RXC.VERDICT
localparam [6:0] RX_JUDGE = 52;		// of a context in CHECK
localparam [6:0] RX_READY = 53;		// READY for a receive context
localparam [6:0] RX_READY_OWN = 54;	// the READ whose answer it was is over, too

// fl_ctl_write.vh
localparam [6:0] WRITE_CANCEL = 55;	// ti is over: so is its answer xi
localparam [6:0] WRITE_STOP = 56;	// subroutine: write no more of xi
localparam [6:0] WRITE_STEP = 57;	// a report of the write channel
localparam [6:0] WRITE_OWN = 58;	// the block was a READ's answer: what becomes of the READ
localparam [6:0] WRITE_REFUSED = 59;	// tells the peer which pages are missing
localparam [6:0] WRITE_WAITING = 60;	// and the firmware, if it was a READ's answer
localparam [6:0] WRITE_DONE = 61;	// answers the write channel

// fl_ctl_answer.vh
// subroutine: fl_answer sends answers that wait while there is room
localparam [6:0] ANSWER_FLUSH = 62;
// subroutine: fl_answer sends the answer an_*, or lets it wait
localparam [6:0] ANSWER_POST = 63;

// fl_ctl_fault.vh
localparam [6:0] FAULT_QUEUE = 64;	// subroutine: a fault of side, context ti or xi
localparam [6:0] FAULT_PUSH = 65;	// stores it
localparam [6:0] FAULT_POP = 66;	// drops the head
localparam [6:0] FAULT_READY = 67;	// a write to READY
localparam [6:0] NOTE_POST = 68;	// subroutine: the note nt_*
