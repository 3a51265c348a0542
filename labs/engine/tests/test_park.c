// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a parked context is: it waits, and the data path serves the others. The
 * tests of answers, timers and attempts are those of the lab "resend".
 */
#include "labs/resend/tests/bench.h"

JUDGE(sends, "a block that nothing stops is read, leaves and flies")
{
	bench_new();
	bench_go(2, FL_OP_WRITE, 5000);
	bench_tx(2, FL_TX_READY, 0);
	bench_run(SENDS);
	bench_tx(2, FL_TX_FLYING, 0);
	bench_sent_block(2, 1, 0, 5000);
	bench_sent_nothing();
	judge_equal("the context of the note", bench_note(FL_NOTE_TX_FLYING), 2);
	bench_no_note();
}

JUDGE(source_parks, "a block whose source is missing parks, and is told of once")
{
	bench_new();
	bench_page(5, true);
	bench_go(2, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_tx(2, FL_TX_SRCFAULT, 0);
	judge_did("nothing of it left, not even what was there");
	bench_sent_nothing();
	judge_equal("the context of the note", bench_note(FL_NOTE_TX_WAITING), 2);
	bench_no_note();
	bench_pop(TX, 2);
	bench_page(5, false);
	bench_run(SENDS);
	bench_tx(2, FL_TX_SRCFAULT, 0);
	bench_sent_nothing();
	bench_faults(0);
}

JUDGE(others_go_on, "while one is parked the others are served")
{
	bench_new();
	bench_page(5, true);
	bench_go(2, FL_OP_WRITE, 5000);
	bench_go(5, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_sent_block(5, 1, 0, 5000);
	bench_tx(5, FL_TX_FLYING, 0);
	bench_go(1, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_sent_block(1, 1, 0, 64);
	bench_tx(2, FL_TX_SRCFAULT, 0);
	bench_faults(1);
}

JUDGE(four_parked, "four wait at once, and go on in another order")
{
	static const unsigned int order[] = { 3, 1 };
	unsigned int i, serial[4];

	bench_new();
	for (i = 0; i < 4; i++) {
		bench_page(2 * i, true);
		bench_go(i, FL_OP_WRITE, 3000);
		bench_run(SENDS);
	}
	bench_go(4, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_sent_block(4, 1, 0, 64);
	bench_faults(4);
	for (i = 0; i < 4; i++)
		serial[i] = bench_pop(TX, i);
	for (i = 0; i < 2; i++) {
		bench_page(2 * order[i], false);
		bench_ready(TX, order[i], serial[order[i]], 0);
	}
	bench_run(SENDS);
	bench_sent_block(1, 1, 0, 3000);
	bench_sent_block(3, 1, 0, 3000);
	bench_sent_nothing();
	bench_tx(0, FL_TX_SRCFAULT, 0);
	bench_tx(2, FL_TX_SRCFAULT, 0);
}

JUDGE(ready_late, "READY of the driver that comes again changes nothing")
{
	unsigned int serial;

	bench_new();
	bench_page(4, true);
	bench_go(2, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_note(FL_NOTE_TX_WAITING);
	serial = bench_pop(TX, 2);
	bench_page(4, false);
	bench_ready(TX, 2, serial, 0);
	bench_run(SENDS);
	bench_note(FL_NOTE_TX_FLYING);
	bench_ready(TX, 2, serial, FL_ST_LOCAL_FAULT);
	bench_no_note();
	bench_kill(2);
	bench_ready(TX, 2, serial, FL_ST_LOCAL_FAULT);
	bench_ended(2, FL_ST_KILLED);
}

JUDGE(says_wait, "WAIT changes nothing of a block that flies; a READ that is put off flies on")
{
	bench_new();
	bench_go(2, FL_OP_READ, 5000);
	bench_run(SENDS);
	bench_note(FL_NOTE_TX_FLYING);
	bench_says(3, WOP_WAIT, 2, 1, 0);
	judge_equal("the context of the note", bench_note(FL_NOTE_TX_WAITING), 2);
	bench_tx(2, FL_TX_FLYING, 0);
	bench_says(3, WOP_WAIT, 2, 1, 1);
	bench_counts(STALE, 1);
	bench_go(5, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_note(FL_NOTE_TX_FLYING);
	bench_says(3, WOP_WAIT, 5, 1, 0);
	judge_equal("the context of the note", bench_note(FL_NOTE_TX_WAITING), 5);
	bench_says(3, WOP_REFUSED, 5, 1, 0);
	bench_note(FL_NOTE_TX_REFUSED);
	bench_says(3, WOP_WAIT, 5, 1, 0);
	bench_counts(STALE, 2);
	judge_did("the READ has no pages there, and may be put off");
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_counts(STALE, 3);
	bench_refused(3, 2, 1, 0, FL_ST_BUSY);
	judge_equal("the context of the note", bench_note(FL_NOTE_TX_REFUSED), 2);
	bench_stands(2, FL_TX_FLYING, FL_ST_BUSY);
	bench_counts(STALE, 3);
	bench_no_note();
}

JUDGE(kill_other, "a kill takes the read channel from nobody else")
{
	bench_new();
	bench_room(2);
	bench_go(2, FL_OP_WRITE, 5000);
	bench_go(5, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_tx(2, FL_TX_READY, 0);
	bench_kill(5);
	bench_ended(5, FL_ST_KILLED);
	bench_room(1000);
	bench_run(SENDS);
	bench_sent_block(2, 1, 0, 5000);
	bench_sent_nothing();
	bench_tx(2, FL_TX_FLYING, 0);
}

/* Page 41 of a_write is missing; it has been refused. */
static unsigned int park_write(void)
{
	unsigned int rxc;

	bench_new();
	bench_page(41, true);
	rxc = bench_land(&a_write);
	bench_rx(rxc, FL_RX_FAULT);
	bench_sent_answer(&a_write, WOP_REFUSED, 0, 2);
	return rxc;
}

JUDGE(dest_parks, "a block without its destination parks, and its sender is told")
{
	unsigned int rxc = park_write();

	bench_sent_nothing();
	bench_no_note();
	bench_pop(RX, rxc);
	bench_faults(0);
	bench_page(41, false);
	bench_run(WRITES);
	bench_rx(rxc, FL_RX_FAULT);
	bench_sent_nothing();
	bench_untouched(VA(41, 0), 1404);
}

JUDGE(others_land, "while one is parked the others land")
{
	struct block b = a_write;
	unsigned int rxc = park_write();

	b.from = 4;
	b.va = VA(50, 0);
	b.seed = 9;
	bench_land(&b);
	bench_sent_answer(&b, WOP_ACK, 0, 0);
	bench_landed(&b);
	bench_rx(rxc, FL_RX_FAULT);
	bench_faults(1);
	judge_did("a source that is missing then is told of as one");
	bench_page(5, true);
	bench_go(2, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_pop(RX, rxc);
	bench_pop(TX, 2);
}
