// SPDX-License-Identifier: BSD-2-Clause
/* Steps 8 and 9: cells of an attempt; what is old, and what is new. */
#include "labs/resend/tests/bench.h"

static void receive_cells(const struct block *b, const unsigned int *n,
			  unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		bench_cell(b, n[i]);
}

JUDGE(doubled, "a cell that comes twice is one cell")
{
	static const unsigned int order[] = { 4, 1, 1, 0, 4, 3, 1 };
	unsigned int rxc;

	bench_new();
	receive_cells(&a_write, order, 7);
	rxc = bench_judge(0);
	bench_rx(rxc, FL_RX_COLLECT);
	bench_cell(&a_write, 4);
	bench_rx(rxc, FL_RX_COLLECT);
	bench_cell(&a_write, 2);
	bench_rx(rxc, FL_RX_WRITE);
	bench_run(WRITES);
	bench_landed(&a_write);
	bench_sent_answer(&a_write, WOP_ACK, 0, 0);
	bench_sent_nothing();
}

JUDGE(beside, "the bytes beside a block stay as they were")
{
	bench_new();
	bench_land(&a_write);
	bench_landed(&a_write);
	bench_untouched(VA(40, 0), 500);
	bench_untouched(a_write.va + 5000, 1000);
}

JUDGE(next_block, "the cells of one block do not count for the next")
{
	struct block b = a_write;
	unsigned int rxc;

	bench_new();
	bench_land(&a_write);
	b.ctx = 7;
	b.seed = 9;
	b.va = VA(50, 0);
	bench_cell(&b, 0);
	bench_cell(&b, 0);
	rxc = bench_judge(0);
	bench_cell(&b, 1);
	bench_cell(&b, 2);
	bench_cell(&b, 3);
	bench_rx(rxc, FL_RX_COLLECT);
	bench_cell(&b, 4);
	bench_run(WRITES);
	bench_landed(&b);
}

JUDGE(large_block, "each of the sixteen cells of a large block is kept apart")
{
	struct block b = a_write;
	unsigned int i, rxc;

	bench_new();
	b.len = 16384;
	bench_cell(&b, 15);
	rxc = bench_judge(0);
	for (i = 0; i < 15; i++) {
		bench_rx(rxc, FL_RX_COLLECT);
		bench_cell(&b, i);
		if (i < 14)
			bench_cell(&b, i / 2);
	}
	bench_rx(rxc, FL_RX_WRITE);
	bench_run(WRITES);
	bench_landed(&b);
}

JUDGE(older_attempt, "an older attempt is stale")
{
	struct block old = a_write, b = bench_attempt(100, 2);
	unsigned int rxc;

	bench_new();
	bench_cell(&b, 0);
	old.seed = 5;
	bench_cell(&old, 1);
	bench_counts(STALE, 1);
	old.attempt = 1;
	bench_cell(&old, 1);
	bench_counts(STALE, 2);
	rxc = bench_judge(0);
	bench_block(&b);
	bench_rx(rxc, FL_RX_WRITE);
	bench_run(WRITES);
	bench_landed(&b);
	bench_sent_answer(&b, WOP_ACK, 0, 0);
}

JUDGE(older_block, "an older generation is stale, landed or not")
{
	struct block old = bench_attempt(99, 0);

	bench_new();
	bench_cell(&a_write, 0);
	bench_cell(&old, 1);
	old.attempt = 7;
	bench_cell(&old, 4);
	bench_counts(STALE, 2);
	bench_judge(FL_ST_REMOTE_ACCESS);
	bench_sent_answer(&a_write, WOP_NAK, FL_ST_REMOTE_ACCESS, 0);
	bench_cell(&old, 4);
	bench_counts(STALE, 3);
	bench_sent_nothing();
}

JUDGE(halves, "older and newer are halves of a circle")
{
	struct block b = bench_attempt(3, 1), old = bench_attempt(0xfffe, 5);

	bench_new();
	bench_cell(&b, 0);
	bench_cell(&old, 0);
	bench_counts(STALE, 1);
	old = bench_attempt(3, 200);
	judge_did("attempt 200 is 57 before 1");
	bench_cell(&old, 0);
	bench_counts(STALE, 2);
	bench_judge(FL_ST_REMOTE_ACCESS);
	bench_sent_answer(&b, WOP_NAK, FL_ST_REMOTE_ACCESS, 0);
	b = bench_attempt(3, 100);
	judge_did("attempt 100 is 99 after 1");
	bench_cell(&b, 0);
	bench_judge(FL_ST_REMOTE_ACCESS);
	bench_sent_answer(&b, WOP_NAK, FL_ST_REMOTE_ACCESS, 0);
	b = bench_attempt(0x7fff, 0);
	bench_cell(&b, 0);
	bench_judge(FL_ST_REMOTE_ACCESS);
	bench_sent_answer(&b, WOP_NAK, FL_ST_REMOTE_ACCESS, 0);
	b = bench_attempt(0xfffe, 0);
	bench_cell(&b, 0);
	bench_judge(FL_ST_REMOTE_ACCESS);
	judge_did("generation 0 follows on 65535");
	b = bench_attempt(0, 0);
	bench_cell(&b, 0);
	bench_judge(FL_ST_REMOTE_ACCESS);
	bench_counts(STALE, 2);
}

JUDGE(answered, "what comes of an attempt after its answer is ignored")
{
	struct block again = bench_attempt(100, 1);

	bench_new();
	bench_cell(&a_write, 0);
	bench_judge(FL_ST_REMOTE_ACCESS);
	bench_sent_answer(&a_write, WOP_NAK, FL_ST_REMOTE_ACCESS, 0);
	bench_block(&a_write);
	bench_rx(0, FL_RX_FREE);
	bench_counts(STALE, 0);
	bench_no_note();
	bench_sent_nothing();
	judge_did("a newer attempt is judged anew");
	bench_land(&again);
	bench_landed(&again);
	bench_sent_answer(&again, WOP_ACK, 0, 0);
}

JUDGE(first_ever, "the first packet of a context is new, whatever its number")
{
	struct block b = bench_attempt(0x8000, 200), old = bench_attempt(0x7fff, 0);

	bench_new();
	bench_land(&b);
	bench_sent_answer(&b, WOP_ACK, 0, 0);
	bench_landed(&b);
	judge_did("the same names of another node are another block");
	b.from = 4;
	b.gen = 7;
	b.seed = 8;
	bench_land(&b);
	bench_sent_answer(&b, WOP_ACK, 0, 0);
	bench_landed(&b);
	bench_cell(&old, 0);
	bench_counts(STALE, 1);
}

JUDGE(reset_between, "after a reset the rest of an attempt begins it anew")
{
	struct block old = bench_attempt(99, 0);
	struct subject_msg m = { .op = LAB_RESET };

	bench_new();
	bench_cell(&a_write, 0);
	judge_did("the engine is reset");
	judge_ask(&m);
	bench_land(&a_write);
	bench_landed(&a_write);
	bench_sent_answer(&a_write, WOP_ACK, 0, 0);
	judge_did("and what was old is old");
	bench_cell(&old, 0);
	bench_counts(STALE, 1);
}
