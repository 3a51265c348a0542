// SPDX-License-Identifier: BSD-2-Clause
/* Steps 10 to 12: what comes again, and what comes instead. */
#include "labs/resend/tests/bench.h"

JUDGE(restart_check, "a newer attempt begins anew; the old verdict is void")
{
	struct block again = bench_attempt(100, 1);
	unsigned int serial, rxc;

	bench_new();
	bench_cell(&a_write, 0);
	bench_cell(&a_write, 1);
	rxc = bench_open(&serial);
	again.seed = 2;
	bench_cell(&again, 0);
	bench_verdict(rxc, serial, FL_ST_REMOTE_ACCESS);
	bench_sent_nothing();
	rxc = bench_judge(0);
	judge_did("cell 1 of the older attempt is none of this one");
	bench_cell(&again, 2);
	bench_cell(&again, 3);
	bench_cell(&again, 4);
	bench_rx(rxc, FL_RX_COLLECT);
	bench_cell(&again, 1);
	bench_run(WRITES);
	bench_landed(&again);
	bench_sent_answer(&again, WOP_ACK, 0, 0);
}

JUDGE(fills_holes, "once it is accepted, each attempt fills the holes of those before")
{
	struct block again = bench_attempt(100, 1);
	struct block third = bench_attempt(100, 2);
	unsigned int rxc, n;

	bench_new();
	bench_cell(&a_write, 0);
	rxc = bench_judge(0);
	bench_cell(&a_write, 2);
	bench_cell(&again, 1);
	bench_cell(&again, 0);
	judge_did("cell 4 of the older attempt comes too late");
	bench_cell(&a_write, 4);
	bench_counts(STALE, 1);
	bench_rx(rxc, FL_RX_COLLECT);
	judge_did("cell 3 was lost twice");
	bench_cell(&again, 4);
	bench_rx(rxc, FL_RX_COLLECT);
	bench_sent_nothing();
	for (n = 4; n-- > 0;)
		bench_cell(&third, n);
	bench_no_note();
	bench_run(WRITES);
	bench_landed(&a_write);
	bench_sent_answer(&third, WOP_ACK, 0, 0);
	bench_sent_nothing();
}

JUDGE(while_written, "while it is written, the newest attempt gets the answer")
{
	struct block again = bench_attempt(100, 1);
	struct block third = bench_attempt(100, 2);

	bench_new();
	bench_block(&a_write);
	bench_judge(0);
	bench_steps(WRITES, 1);
	bench_block(&again);
	bench_no_note();
	judge_did("the last cell is told that the block is being written");
	bench_sent_answer(&again, WOP_WAIT, 0, 0);
	bench_sent_nothing();
	judge_did("so is a last cell that comes first");
	bench_cell(&third, 4);
	bench_sent_answer(&third, WOP_WAIT, 0, 0);
	bench_cell(&third, 0);
	bench_sent_nothing();
	bench_run(WRITES);
	bench_sent_answer(&third, WOP_ACK, 0, 0);
	bench_sent_nothing();
	bench_landed(&a_write);
}

JUDGE(other_story, "an attempt that tells another story is a bad packet")
{
	struct block odd = bench_attempt(100, 1);
	unsigned int rxc, n;

	bench_new();
	for (n = 0; n < 4; n++)
		bench_cell(&a_write, n);
	rxc = bench_judge(0);
	judge_did("the next attempt has another length, and fills no hole");
	odd.len -= 8;
	bench_cell(&odd, 4);
	bench_counts(BAD, 1);
	bench_rx(rxc, FL_RX_COLLECT);
	bench_cell(&a_write, 4);
	bench_steps(WRITES, 1);
	odd = bench_attempt(100, 2);
	judge_did("one that comes while it is written goes to an address 8 higher");
	odd.va += 8;
	bench_cell(&odd, 0);
	bench_counts(BAD, 2);
	odd = bench_attempt(100, 3);
	judge_did("and one after that has another key");
	odd.rkey++;
	bench_cell(&odd, 0);
	bench_counts(BAD, 3);
	bench_run(WRITES);
	judge_did("the answer names the attempt that was good");
	bench_sent_answer(&a_write, WOP_ACK, 0, 0);
}

JUDGE(refused_again, "a newer attempt of a refused block is refused at once")
{
	struct block again = bench_attempt(100, 1);
	unsigned int rxc, serial;

	bench_new();
	bench_page(41, true);
	rxc = bench_land(&a_write);
	bench_sent_answer(&a_write, WOP_REFUSED, 0, 2);
	bench_block(&again);
	bench_sent_answer(&again, WOP_REFUSED, 0, 2);
	bench_sent_nothing();
	bench_no_note();
	bench_rx(rxc, FL_RX_FAULT);
	judge_did("and it is the same fault");
	bench_faults(1);
	bench_block(&a_write);
	bench_counts(STALE, 6);
	serial = bench_pop(RX, rxc);
	bench_page(41, false);
	bench_ready(RX, rxc, serial, 0);
	bench_sent_answer(&again, WOP_READY, 0, 0);
	bench_sent_nothing();
}

JUDGE(new_in_check, "a newer block ends one that is judged or collected")
{
	struct block b = bench_attempt(101, 0);
	unsigned int rxc, serial;

	bench_new();
	bench_cell(&a_write, 0);
	rxc = bench_open(&serial);
	bench_cell(&b, 0);
	bench_verdict(rxc, serial, FL_ST_REMOTE_ACCESS);
	bench_sent_nothing();
	bench_judge(0);
	b.gen++;
	b.seed = 6;
	b.va = VA(50, 0);
	bench_land(&b);
	bench_sent_answer(&b, WOP_ACK, 0, 0);
	bench_landed(&b);
	bench_untouched(VA(40, 0), 8192);
}

JUDGE(new_in_fault, "and one that faulted; READY for it says nothing then")
{
	struct block b = bench_attempt(101, 0);
	unsigned int rxc, serial;

	bench_new();
	bench_page(41, true);
	rxc = bench_land(&a_write);
	bench_sent_answer(&a_write, WOP_REFUSED, 0, 2);
	b.va = VA(50, 0);
	bench_cell(&b, 0);
	serial = bench_pop(RX, rxc);
	bench_ready(RX, rxc, serial, 0);
	bench_sent_nothing();
	bench_land(&b);
	bench_sent_answer(&b, WOP_ACK, 0, 0);
	bench_landed(&b);
}

JUDGE(new_while_written, "one that is being written comes to its end alone")
{
	struct block old = a_write, b = bench_attempt(101, 0);

	bench_new();
	old.seed = 4;
	bench_block(&old);
	bench_judge(0);
	bench_steps(WRITES, 1);
	bench_block(&b);
	bench_judge(0);
	bench_run(WRITES);
	bench_landed(&b);
	bench_sent_answer(&old, WOP_ACK, 0, 0);
	bench_sent_answer(&b, WOP_ACK, 0, 0);
	judge_did("the older one is stale now, and no duplicate");
	bench_cell(&old, 4);
	bench_counts(STALE, 1);
	bench_counts(DUPLICATES, 0);
	judge_did("the newer one is known to have landed");
	bench_cell(&b, 4);
	bench_sent_answer(&b, WOP_ACK, 0, 0);
}

JUDGE(landed_again, "what has landed is acknowledged again by its last cell")
{
	struct block again = bench_attempt(100, 3);

	bench_new();
	bench_land(&a_write);
	bench_sent_answer(&a_write, WOP_ACK, 0, 0);
	again.seed = 7;
	bench_block(&again);
	bench_sent_answer(&again, WOP_ACK, 0, 0);
	bench_sent_nothing();
	bench_counts(DUPLICATES, 1);
	bench_no_note();
	bench_run(WRITES);
	judge_did("nothing of it reaches memory");
	bench_landed(&a_write);
}

JUDGE(older_again, "an older attempt of it too, and each as often as it comes")
{
	struct block first = bench_attempt(100, 4), short_one = a_write;

	bench_new();
	bench_land(&first);
	bench_sent_answer(&first, WOP_ACK, 0, 0);
	bench_cell(&a_write, 4);
	bench_sent_answer(&a_write, WOP_ACK, 0, 0);
	bench_cell(&a_write, 4);
	bench_sent_answer(&a_write, WOP_ACK, 0, 0);
	bench_counts(DUPLICATES, 2);
	bench_counts(STALE, 0);
	judge_did("a block of one cell");
	short_one.ctx = 1;
	short_one.len = 700;
	bench_block(&short_one);
	bench_judge(0);
	bench_run(WRITES);
	bench_sent_answer(&short_one, WOP_ACK, 0, 0);
	short_one.attempt = 1;
	bench_cell(&short_one, 0);
	bench_sent_answer(&short_one, WOP_ACK, 0, 0);
}
