// SPDX-License-Identifier: BSD-2-Clause
/* Steps 1 to 4: whose turn it is, the driver's READY, answers to what was sent. */
#include "labs/resend/tests/bench.h"

/* A WRITE of 5000 bytes on context 2 has left. */
static void send_flying(void)
{
	bench_new();
	bench_go(2, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_sent_block(2, 1, 0, 5000);
	bench_note(FL_NOTE_TX_FLYING);
}

JUDGE(turns, "READY contexts take turns, from the one after the last")
{
	bench_new();
	bench_go(3, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_go(0, FL_OP_WRITE, 64);
	bench_go(7, FL_OP_WRITE, 64);
	bench_go(5, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_sent_block(3, 1, 0, 64);
	bench_sent_block(5, 1, 0, 64);
	bench_sent_block(7, 1, 0, 64);
	bench_sent_block(0, 1, 0, 64);
}

JUDGE(turn_wraps, "after the highest context comes the lowest, with 16 too")
{
	bench_sized(16, 8);
	bench_go(14, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_go(1, FL_OP_WRITE, 64);
	bench_go(9, FL_OP_WRITE, 64);
	bench_go(15, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_sent_block(14, 1, 0, 64);
	bench_sent_block(15, 1, 0, 64);
	bench_sent_block(1, 1, 0, 64);
	bench_sent_block(9, 1, 0, 64);
	bench_sent_nothing();
}

/* Page 2 * ctx of a WRITE on context 2 is missing. */
static unsigned int source_fault(void)
{
	bench_new();
	bench_page(5, true);
	bench_go(2, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_tx(2, FL_TX_SRCFAULT, 0);
	bench_sent_nothing();
	bench_note(FL_NOTE_TX_WAITING);
	return bench_pop(TX, 2);
}

JUDGE(source_ready, "a block whose source page came is sent, whole")
{
	unsigned int serial = source_fault();

	bench_page(5, false);
	bench_ready(TX, 2, serial, 0);
	bench_tx(2, FL_TX_READY, 0);
	bench_run(SENDS);
	bench_sent_block(2, 1, 0, 5000);
	bench_sent_nothing();
}

JUDGE(source_turn, "a block that had its turn, and faulted, waits for the next")
{
	unsigned int serial = source_fault();

	bench_page(5, false);
	bench_go(5, FL_OP_WRITE, 64);
	bench_ready(TX, 2, serial, 0);
	bench_run(SENDS);
	bench_sent_block(5, 1, 0, 64);
	bench_sent_block(2, 1, 0, 5000);
}

JUDGE(source_given_up, "the driver gives up: LOCAL_FAULT, whatever it says")
{
	bench_ready(TX, 2, source_fault(), FL_ST_LOCAL_FAULT);
	bench_ended(2, FL_ST_LOCAL_FAULT);
	bench_ready(TX, 2, source_fault(), FL_ST_REMOTE_FAULT);
	bench_ended(2, FL_ST_LOCAL_FAULT);
	bench_sent_nothing();
}

JUDGE(source_serial, "READY counts for the fault that it names, once")
{
	unsigned int serial = source_fault();

	bench_ready(TX, 2, serial + 1, 0);
	bench_tx(2, FL_TX_SRCFAULT, 0);
	bench_ready(TX, 2, serial, 0);
	bench_run(SENDS);
	judge_did("the page is still missing: a new fault");
	bench_ready(TX, 2, serial, 0);
	bench_tx(2, FL_TX_SRCFAULT, 0);
	bench_page(5, false);
	serial = bench_pop(TX, 2);
	bench_ready(TX, 2, serial, 0);
	bench_run(SENDS);
	bench_ready(TX, 2, serial, FL_ST_LOCAL_FAULT);
	bench_tx(2, FL_TX_FLYING, 0);
}

/* Page 41 of a_write is missing. */
static unsigned int dest_fault(unsigned int *rxc)
{
	bench_new();
	bench_page(41, true);
	*rxc = bench_land(&a_write);
	bench_rx(*rxc, FL_RX_FAULT);
	bench_sent_answer(&a_write, WOP_REFUSED, 0, 2);
	return bench_pop(RX, *rxc);
}

JUDGE(dest_ready, "the peer of a refused block hears READY, once")
{
	unsigned int rxc, serial = dest_fault(&rxc);

	bench_ready(RX, rxc, serial + 1, 0);
	bench_rx(rxc, FL_RX_FAULT);
	bench_sent_nothing();
	bench_ready(RX, rxc, serial, 0);
	bench_rx(rxc, FL_RX_FREE);
	bench_sent_answer(&a_write, WOP_READY, 0, 0);
	bench_ready(RX, rxc, serial, 0);
	bench_sent_nothing();
}

JUDGE(dest_given_up, "the driver gives up: NAK, and the fault is remote there")
{
	unsigned int rxc, serial = dest_fault(&rxc);

	bench_ready(RX, rxc, serial, FL_ST_LOCAL_FAULT);
	bench_sent_answer(&a_write, WOP_NAK, FL_ST_REMOTE_FAULT, 0);
	bench_rx(rxc, FL_RX_FREE);
	serial = dest_fault(&rxc);
	bench_ready(RX, rxc, serial, FL_ST_KILLED);
	bench_sent_answer(&a_write, WOP_NAK, FL_ST_KILLED, 0);
}

JUDGE(other_node, "only the node that was sent to can answer")
{
	send_flying();
	bench_says(4, WOP_ACK, 2, 1, 0);
	bench_tx(2, FL_TX_FLYING, 0);
	bench_says(3, WOP_ACK, 3, 1, 0);
	bench_says(3, WOP_ACK, 200, 1, 0);
	bench_counts(STALE, 3);
	bench_says(3, WOP_ACK, 2, 1, 0);
	bench_tx(2, FL_TX_DONE, 0);
}

JUDGE(other_generation, "an answer to another block of the context is stale")
{
	send_flying();
	bench_says(3, WOP_ACK, 2, 0, 0);
	bench_says(3, WOP_ACK, 2, 2, 0);
	bench_says(3, WOP_ACK, 2, 257, 0);
	bench_counts(STALE, 3);
	bench_says(3, WOP_ACK, 2, 1, 0);
	bench_act(2, NIC_CTX_CTRL_RELEASE, 0);
	bench_go(2, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_says(3, WOP_ACK, 2, 1, 0);
	bench_tx(2, FL_TX_FLYING, 0);
	bench_says(3, WOP_ACK, 2, 2, 0);
	bench_tx(2, FL_TX_DONE, 0);
}

JUDGE(other_attempt, "an answer to another attempt is stale")
{
	send_flying();
	bench_says(3, WOP_ACK, 2, 1, 1);
	bench_says(3, WOP_ACK, 2, 1, 255);
	bench_tx(2, FL_TX_FLYING, 0);
	bench_counts(STALE, 2);
	bench_says(3, WOP_ACK, 2, 1, 0);
	bench_tx(2, FL_TX_DONE, 0);
}

JUDGE(nak_status, "NAK ends a block with the status that it carries")
{
	send_flying();
	bench_nak(3, 2, 1, 0, FL_ST_REMOTE_ACCESS);
	bench_ended(2, FL_ST_REMOTE_ACCESS);
	bench_counts(REFUSED, 0);
	bench_note(FL_NOTE_TX_DONE);
	send_flying();
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_nak(3, 2, 1, 0, FL_ST_REMOTE_FAULT);
	bench_ended(2, FL_ST_REMOTE_FAULT);
	send_flying();
	judge_did("an answer with a code that means nothing there");
	{
		struct subject_msg m = { .op = LAB_ANSWER,
			.arg = { 3, WOP_ACK, 2, 1, 0, FL_ST_KILLED } };

		judge_ask(&m);
	}
	bench_ended(2, FL_ST_OK);
}

JUDGE(refused, "REFUSED parks a block, and is counted")
{
	send_flying();
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_tx(2, FL_TX_DSTFAULT, 0);
	bench_counts(REFUSED, 1);
	bench_note(FL_NOTE_TX_REFUSED);
	bench_run(SENDS);
	while (bench_take())
		;
	judge_did("nothing more leaves before the timer or READY");
	bench_run(SENDS);
	bench_sent_nothing();
	bench_expire(2);
	bench_run(SENDS);
	bench_refused(3, 2, 1, 1, FL_ST_BUSY);
	bench_stands(2, FL_TX_DSTFAULT, FL_ST_BUSY);
	bench_expire(2);
	bench_run(SENDS);
	judge_did("the code of now is kept, not one of before");
	bench_says(3, WOP_REFUSED, 2, 1, 2);
	bench_stands(2, FL_TX_DSTFAULT, FL_ST_OK);
}

JUDGE(sent_again, "READY has it sent again, as the next attempt")
{
	send_flying();
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_says(3, WOP_READY, 2, 1, 0);
	bench_tx(2, FL_TX_READY, 1);
	bench_run(SENDS);
	bench_sent_block(2, 1, 1, 5000);
	bench_counts(RESENT, 1);
	bench_says(3, WOP_ACK, 2, 1, 1);
	bench_ended(2, FL_ST_OK);
}

JUDGE(overtaken, "READY that overtakes REFUSED counts as well")
{
	send_flying();
	bench_says(3, WOP_READY, 2, 1, 0);
	bench_tx(2, FL_TX_READY, 1);
	bench_counts(REFUSED, 0);
	bench_run(SENDS);
	bench_sent_block(2, 1, 1, 5000);
}

JUDGE(old_answers, "what was said of attempt 0 changes nothing later")
{
	static const unsigned int op[] = { WOP_ACK, WOP_REFUSED, WOP_READY };
	unsigned int i;

	send_flying();
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_says(3, WOP_READY, 2, 1, 0);
	bench_run(SENDS);
	for (i = 0; i < 3; i++) {
		bench_says(3, op[i], 2, 1, 0);
		bench_tx(2, FL_TX_FLYING, 1);
	}
	bench_nak(3, 2, 1, 0, FL_ST_REMOTE_ACCESS);
	bench_tx(2, FL_TX_FLYING, 1);
	bench_counts(STALE, 4);
}
