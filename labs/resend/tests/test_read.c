// SPDX-License-Identifier: BSD-2-Clause
/* Steps 13 and 14: answers of READs, and senders that fell silent. */
#include "labs/resend/tests/bench.h"

/* A READ of 5000 bytes into the buffer of context 2 has been asked for. */
static struct block read_asked(void)
{
	struct block data = { .from = 3, .op = WOP_READ_RESP, .ctx = 9,
			      .gen = 55, .va = 0x1000, .len = 5000, .seed = 3,
			      .ref = wire_word(2, 1, 0) };

	bench_new();
	bench_go(2, FL_OP_READ, 5000);
	bench_run(SENDS);
	bench_tx(2, FL_TX_FLYING, 0);
	bench_take();
	bench_note(FL_NOTE_TX_FLYING);
	return data;
}

/* It comes, and there is no READ for it. */
static void read_unasked(struct block data, const char *what)
{
	judge_did("%s", what);
	bench_cell(&data, 0);
	bench_sent_answer(&data, WOP_NAK, FL_ST_STALE, 0);
	bench_sent_nothing();
}

/* It comes, into the buffer of context 2. */
static void read_lands(struct block data)
{
	bench_block(&data);
	bench_run(WRITES);
	bench_sent_answer(&data, WOP_ACK, 0, 0);
	data.va = bench_source(2);
	bench_landed(&data);
}

JUDGE(of_this_node, "data of a READ comes from the node that was asked")
{
	struct block data = read_asked(), other = data;

	other.from = 4;
	other.seed = 7;
	read_unasked(other, "another node sends what node 3 was asked for");
	bench_counts(STALE, 1);
	read_lands(data);
	bench_ended(2, FL_ST_OK);
}

JUDGE(of_this_read, "and names this READ: context, generation, length")
{
	struct block data = read_asked(), other = data;

	other.ctx = 13;
	other.ref = wire_word(2, 2, 0);
	read_unasked(other, "of another generation");
	other.ctx = 14;
	other.ref = wire_word(2, 257, 0);
	read_unasked(other, "one that differs in the upper byte");
	other = data;
	other.ctx++;
	other.len = 4000;
	read_unasked(other, "of another length");
	other = data;
	other.ctx += 2;
	other.ref = wire_word(3, 0, 0);
	read_unasked(other, "for a context that asks for nothing");
	other.ctx = 15;
	other.ref = wire_word(9, 1, 0);
	read_unasked(other, "for a context that is not there");
	read_lands(data);
	bench_ended(2, FL_ST_OK);
}

JUDGE(of_a_read, "a WRITE takes no data, nor does what is over or not sent")
{
	struct block data = read_asked();

	bench_new();
	bench_go(2, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_sent_block(2, 1, 0, 5000);
	read_unasked(data, "the context has a WRITE under way");
	bench_new();
	bench_go(2, FL_OP_READ, 5000);
	read_unasked(data, "the READ is READY, and was never asked for");
	data = read_asked();
	bench_nak(3, 2, 1, 0, FL_ST_REMOTE_ACCESS);
	read_unasked(data, "the READ is DONE");
	bench_ended(2, FL_ST_REMOTE_ACCESS);
	bench_untouched(bench_source(2), 5000);
}

JUDGE(asked_again, "data that comes when its READ is to be sent again lands")
{
	struct block data = read_asked();

	bench_expire(2);
	bench_tx(2, FL_TX_READY, 1);
	read_lands(data);
	bench_tx(2, FL_TX_READY, 1);
	bench_run(SENDS);
	bench_ended(2, FL_ST_OK);
}

JUDGE(any_attempt, "any attempt of the READ may have asked for it")
{
	struct block data = read_asked();

	bench_expire(2);
	bench_run(SENDS);
	bench_tx(2, FL_TX_FLYING, 1);
	bench_take();
	read_lands(data);
	bench_ended(2, FL_ST_OK);
}

/* Each has its own READ: the answer goes to that one. */
static void two_of_own(void)
{
	struct block data = read_asked(), other = data;
	unsigned int serial;

	judge_did("another READ waits for a page, too; the first is given up");
	bench_go(5, FL_OP_READ, 5000);
	bench_run(SENDS);
	bench_take();
	other.ctx = 10;
	other.ref = wire_word(5, 1, 0);
	bench_page(4, true);
	bench_page(10, true);
	bench_block(&data);
	bench_run(WRITES);
	bench_block(&other);
	bench_run(WRITES);
	bench_sent_answer(&data, WOP_REFUSED, 0, 1);
	bench_sent_answer(&other, WOP_REFUSED, 0, 1);
	serial = bench_pop(RX, 0);
	bench_pop(RX, 1);
	bench_ready(RX, 0, serial, FL_ST_LOCAL_FAULT);
	bench_sent_answer(&data, WOP_NAK, FL_ST_REMOTE_FAULT, 0);
	bench_ended(2, FL_ST_LOCAL_FAULT);
	bench_tx(5, FL_TX_FLYING, 0);
}

JUDGE(own_page, "a page of its own buffer: the READ goes on, or hears of a local fault")
{
	static const unsigned int code[] = { FL_ST_LOCAL_FAULT,
					     FL_ST_REMOTE_FAULT };
	struct block data = read_asked();
	unsigned int i;

	bench_page(4, true);
	bench_block(&data);
	bench_run(WRITES);
	bench_sent_answer(&data, WOP_REFUSED, 0, 1);
	bench_page(4, false);
	bench_ready(RX, 0, bench_pop(RX, 0), 0);
	bench_sent_answer(&data, WOP_READY, 0, 0);
	bench_tx(2, FL_TX_FLYING, 0);
	data.attempt++;
	read_lands(data);
	bench_ended(2, FL_ST_OK);
	for (i = 0; i < 2; i++) {
		data = read_asked();
		bench_page(4, true);
		bench_block(&data);
		bench_run(WRITES);
		bench_sent_answer(&data, WOP_REFUSED, 0, 1);
		bench_ready(RX, 0, bench_pop(RX, 0), code[i]);
		bench_sent_answer(&data, WOP_NAK, FL_ST_REMOTE_FAULT, 0);
		bench_ended(2, FL_ST_LOCAL_FAULT);
	}
	two_of_own();
}

/* All eight contexts collect what node 4 began; one more cell of `late`. */
static struct block read_full(unsigned int late)
{
	struct block b = a_write;
	unsigned int i;

	bench_new();
	b.from = 4;
	for (i = 0; i < 8; i++) {
		b.ctx = i;
		bench_cell(&b, 0);
		bench_judge(0);
	}
	b.ctx = late;
	return b;
}

JUDGE(silent, "who fell silent loses his context at the fourth packet that needs one")
{
	struct block gone = read_full(0), b = a_write;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		b.attempt = i;
		bench_rx(0, FL_RX_COLLECT);
		bench_counts(NO_CONTEXT, i);
		bench_cell(&b, 0);
	}
	bench_counts(NO_CONTEXT, 3);
	bench_rx(0, FL_RX_CHECK);
	for (i = 0; i < 3; i++) {
		b.attempt = i;
		bench_sent_answer(&b, WOP_REFUSED, FL_ST_BUSY, 0);
	}
	bench_sent_answer(&gone, WOP_REFUSED, FL_ST_BUSY, 0);
	b.attempt = i;
	bench_judge(FL_ST_REMOTE_ACCESS);
	bench_sent_answer(&b, WOP_NAK, FL_ST_REMOTE_ACCESS, 0);
}

JUDGE(longest_silent, "it is the one that was silent for longest")
{
	struct block alive = read_full(0), b = a_write;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		b.attempt = i;
		bench_cell(&b, 0);
	}
	alive.ctx = 0;
	bench_cell(&alive, 1);
	alive.ctx = 1;
	bench_cell(&alive, 1);
	for (; i < 4; i++) {
		b.attempt = i;
		bench_cell(&b, 0);
	}
	bench_rx(0, FL_RX_COLLECT);
	bench_rx(1, FL_RX_COLLECT);
	bench_rx(2, FL_RX_CHECK);
	judge_did("eight that the firmware keeps waiting");
	bench_new();
	for (i = 0; i < 8; i++) {
		alive.ctx = i;
		bench_cell(&alive, 0);
	}
	b.attempt = 0;
	bench_cell(&b, 0);
	alive.ctx = 0;
	bench_cell(&alive, 1);
	for (i = 1; i < 6; i++) {
		b.attempt = i;
		bench_cell(&b, 0);
	}
	for (i = 0; i < 8; i++)
		bench_judge(0);
	b.attempt++;
	bench_cell(&b, 0);
	bench_rx(0, FL_RX_COLLECT);
	bench_rx(1, FL_RX_CHECK);
}

JUDGE(not_silent, "whose cells come keeps his context, and so does who is judged")
{
	struct block alive, b = a_write;
	unsigned int i, n;

	alive = read_full(0);
	for (i = 0; i < 3; i++) {
		for (n = 0; n < 8; n++) {
			alive.ctx = n;
			bench_cell(&alive, 1 + i);
		}
		b.attempt = 2 * i;
		bench_cell(&b, 0);
		b.attempt = 2 * i + 1;
		bench_cell(&b, 0);
	}
	bench_counts(NO_CONTEXT, 6);
	judge_did("eight that wait for the firmware");
	bench_new();
	alive.from = 4;
	for (n = 0; n < 8; n++) {
		alive.ctx = n;
		bench_cell(&alive, 0);
	}
	for (i = 0; i < 6; i++) {
		b.attempt = i;
		bench_cell(&b, 0);
	}
	bench_counts(NO_CONTEXT, 6);
	bench_rx(0, FL_RX_CHECK);
	judge_did("and one whose sender fell silent");
	bench_judge(0);
	b.attempt++;
	bench_cell(&b, 0);
	bench_rx(0, FL_RX_CHECK);
	bench_counts(NO_CONTEXT, 6);
}
