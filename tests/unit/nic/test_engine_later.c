// SPDX-License-Identifier: BSD-2-Clause
/*
 * "Not now": blocks whose turn has not come, blocks that find no receive
 * context, blocks that are being written when they come again, and blocks that
 * this card can never take. First what the receiver says, then what the sender
 * makes of it.
 */
#include "rig/engine_rx.h"

/* ---- the receiver ---- */

/* Every receive context holds the first cell of a block of node 4. */
static void take_all(struct bench *t)
{
	struct wire_block b = rx_bench_write;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		b.ctx = (uint8_t)i;
		bench_cell(t, 4, &b, 0, rx_bench_data);
	}
}

TEST("a WRITE whose turn has not come is refused with WAIT and forgotten")
{
	static const uint8_t codes[] = { FL_ST_WAIT, FL_ST_BUSY };
	struct wire_block again;
	struct wire_answer a;
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		t = bench_new(NULL);
		bench_cell(t, 3, &rx_bench_write, 0, rx_bench_data);
		rx_bench_judge(t, codes[i]);
		EXPECT_EQ(bench_rx_state(t, 0), FL_RX_FREE);
		a = rx_bench_newest(t, WOP_REFUSED, &rx_bench_write);
		EXPECT_EQ(a.code, codes[i]);
		EXPECT_EQ(a.map, 0);
		STEP("what is left of the attempt says nothing more");
		bench_block(t, 3, &rx_bench_write, rx_bench_data);
		EXPECT_EQ(t->frames, 1);
		EXPECT_EQ(bench_read(t, NIC_ENG_FLT_COUNT), 0);
		EXPECT(engine_idle(t->e));
		STEP("the next attempt is judged anew, and lands");
		again = rx_bench_attempt(100, 1);
		rx_bench_land(t, &again);
		rx_bench_newest(t, WOP_ACK, &again);
		EXPECT_MEM(TARGET(t), rx_bench_data, 5000);
	}
}

TEST("a READ request hears WAIT or BUSY, as the firmware says")
{
	struct bench *t = bench_new(NULL);
	struct wire_block r = rx_bench_write;

	r.opcode = WOP_READ_REQ;
	bench_cell(t, 3, &r, 0, NULL);
	rx_bench_judge(t, FL_ST_WAIT);
	rx_bench_newest(t, WOP_WAIT, &r);
	r.attempt = 1;
	bench_cell(t, 3, &r, 0, NULL);
	rx_bench_judge(t, FL_ST_BUSY);
	EXPECT_EQ(rx_bench_newest(t, WOP_REFUSED, &r).code, FL_ST_BUSY);
	r.attempt = 2;
	bench_cell(t, 3, &r, 0, NULL);
	rx_bench_judge(t, 0);
	EXPECT_EQ(t->frames, 2);
	EXPECT(engine_idle(t->e));
}

TEST("an attempt that finds no context hears BUSY, once, whatever it is")
{
	static const uint8_t ops[] = { WOP_WRITE, WOP_READ_REQ };
	struct wire_block b;
	struct wire_answer a;
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		t = bench_new(NULL);
		take_all(t);
		b = rx_bench_write;
		b.opcode = ops[i];
		if (i)
			bench_cell(t, 3, &b, 0, rx_bench_data);
		else
			bench_block(t, 3, &b, rx_bench_data);
		EXPECT_EQ(t->frames, 1);
		a = rx_bench_newest(t, WOP_REFUSED, &b);
		EXPECT_EQ(a.code, FL_ST_BUSY);
		EXPECT_EQ(a.map, 0);
		EXPECT_EQ(a.xfer, 3);
		EXPECT_EQ(a.block, 2);
		EXPECT_EQ(bench_stats(t).no_context, 1);
		STEP("another attempt: another answer");
		b.attempt++;
		bench_cell(t, 3, &b, 0, rx_bench_data);
		EXPECT_EQ(t->frames, 2);
		rx_bench_newest(t, WOP_REFUSED, &b);
	}
}

TEST("the answer BUSY is caused by the event that says why")
{
	struct bench *t = bench_new(NULL);
	struct trace_record r[64];
	uint32_t n;

	take_all(t);
	bench_cell(t, 3, &rx_bench_write, 0, rx_bench_data);
	n = trace_snapshot(t->trace, r, 64);
	EXPECT_EQ(r[n - 1].event, EV_RX_NO_CONTEXT);
	EXPECT_EQ(t->frame[0].cause, r[n - 1].seq);
}

TEST("BUSY waits for room like any answer, and the newest attempt's leaves")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write;

	take_all(t);
	t->room = 0;
	bench_block(t, 3, &b, rx_bench_data);
	b.attempt = 1;
	bench_block(t, 3, &b, rx_bench_data);
	EXPECT_EQ(t->frames, 0);
	STEP("a context is free now: the third attempt lands");
	rx_bench_judge(t, FL_ST_REMOTE_ACCESS);
	b.attempt = 2;
	bench_block(t, 3, &b, rx_bench_data);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_CHECK);
	t->room = 100;
	engine_wire_room(t->e);
	STEP("what leaves late names the attempt before it, which is stale");
	EXPECT_EQ(t->frames, 2);
	EXPECT_EQ(bench_sent(t, 0, WOP_REFUSED).attempt, 1);
	EXPECT_EQ(bench_sent(t, 0, WOP_REFUSED).code, FL_ST_BUSY);
	EXPECT_EQ(bench_sent(t, 1, WOP_NAK).ctx, 0);
}

TEST("a block that is being written tells each newer attempt to wait")
{
	struct bench *t = bench_new(NULL);
	struct wire_block again = rx_bench_attempt(100, 1),
		third = rx_bench_attempt(100, 2);
	struct bench_note n;
	uint32_t at;

	bench_block(t, 3, &rx_bench_write, rx_bench_data);
	n = bench_note(t);
	rx_bench_verdict(t, n.index, n.serial, 0);
	engine_step(t->e, 1, 0);
	for (at = 0; at < 5000; at += 1024) {
		EXPECT_EQ(t->frames, 0);
		bench_cell(t, 3, &again, at, rx_bench_data);
	}
	EXPECT_EQ(t->frames, 1);
	rx_bench_newest(t, WOP_WAIT, &again);
	EXPECT_EQ(bench_stats(t).wait_sent, 1);
	STEP("its last cell comes first");
	bench_cell(t, 3, &third, 4096, rx_bench_data);
	EXPECT_EQ(t->frames, 2);
	rx_bench_newest(t, WOP_WAIT, &third);
	STEP("what belongs to an older attempt is stale");
	bench_cell(t, 3, &again, 4096, rx_bench_data);
	EXPECT_EQ(t->frames, 2);
	EXPECT_EQ(bench_stats(t).stale, 1);
	bench_run(t, 1);
	EXPECT_EQ(t->frames, 3);
	rx_bench_newest(t, WOP_ACK, &third);
	rx_bench_landed(t, n.index, n.serial);
}

TEST("WAIT that finds no room gives its place to the outcome")
{
	struct bench *t = bench_new(NULL);
	struct wire_block again = rx_bench_attempt(100, 1);

	bench_block(t, 3, &rx_bench_write, rx_bench_data);
	rx_bench_judge(t, 0);
	t->room = 0;
	bench_block(t, 3, &again, rx_bench_data);
	bench_run(t, 1);
	t->room = 100;
	engine_wire_room(t->e);
	EXPECT_EQ(t->frames, 1);
	rx_bench_newest(t, WOP_ACK, &again);
}

TEST("no other state says WAIT: what collects, what faulted, what was given up")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write;
	struct bench_note n;

	bench_block(t, 3, &b, rx_bench_data);
	STEP("in CHECK, all cells there");
	bench_cell(t, 3, &b, 4096, rx_bench_data);
	EXPECT_EQ(t->frames, 0);
	n = bench_note(t);
	rx_bench_verdict(t, n.index, n.serial, 0);
	STEP("in WRITE, but the verdict was taken back");
	engine_step(t->e, 1, 0);
	rx_bench_verdict(t, n.index, n.serial, FL_ST_KILLED);
	b.attempt = 1;
	bench_block(t, 3, &b, rx_bench_data);
	EXPECT_EQ(t->frames, 1);
	EXPECT_EQ(rx_bench_newest(t, WOP_REFUSED, &b).code, FL_ST_BUSY);
	bench_run(t, 1);
	EXPECT_EQ(t->frames, 1);
	STEP("in FAULT: refused with its map, code 0");
	b.attempt = 2;
	t->page[41] = PAGE_ABSENT;
	rx_bench_land(t, &b);
	b.attempt = 3;
	bench_block(t, 3, &b, rx_bench_data);
	EXPECT_EQ(t->frames, 3);
	EXPECT_EQ(rx_bench_newest(t, WOP_REFUSED, &b).code, 0);
	EXPECT_EQ(rx_bench_newest(t, WOP_REFUSED, &b).map, 2);
}

TEST("a block that was given up while its write is held hears BUSY, then its verdict")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write;
	struct bench_note n;
	unsigned int i;

	t->page[41] = PAGE_ABSENT;
	t->hold = true;
	rx_bench_land(t, &b);
	b.ctx = 7;
	bench_block(t, 3, &b, rx_bench_data);
	n = bench_note(t);
	rx_bench_verdict(t, n.index, n.serial, 0);
	bench_run(t, 1);
	EXPECT_EQ(bench_rx_state(t, n.index), FL_RX_WRITE);
	STEP("its region goes while it waits behind the held one");
	rx_bench_verdict(t, n.index, n.serial, FL_ST_KILLED);
	for (i = 0; i < 20; i++) {
		b.attempt++;
		bench_block(t, 3, &b, rx_bench_data);
		EXPECT_EQ(t->frames, i + 1);
		EXPECT_EQ(rx_bench_newest(t, WOP_REFUSED, &b).code, FL_ST_BUSY);
		EXPECT_EQ(rx_bench_newest(t, WOP_REFUSED, &b).map, 0);
	}
	STEP("the held one goes on; the next attempt is judged anew");
	t->page[41] = PAGE_THERE;
	engine_burst_resume(t->e, 1, false);
	bench_run(t, 1);
	rx_bench_landed(t, 0, 1);
	b.attempt++;
	bench_block(t, 3, &b, rx_bench_data);
	rx_bench_judge(t, FL_ST_REMOTE_ACCESS);
	EXPECT_EQ(rx_bench_newest(t, WOP_NAK, &b).code, FL_ST_REMOTE_ACCESS);
	EXPECT(!engine_check(t->e));
}

TEST("the firmware hears of each WRITE that landed, before the next one opens")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write;
	struct bench_note n;
	unsigned int i, serial = 0;

	for (i = 0; i < 300; i++) {
		b.gen++;
		bench_block(t, 3, &b, rx_bench_data);
		STEP("block %u: what happened in its context before comes first",
		     i);
		if (i)
			rx_bench_landed(t, 0, serial);
		n = bench_note(t);
		EXPECT_EQ(n.kind, FL_NOTE_RX_OPEN);
		EXPECT_EQ(n.index, 0);
		serial = n.serial;
		rx_bench_verdict(t, 0, serial, 0);
		EXPECT_EQ(bench_note(t).kind, 0);
		bench_run(t, 1);
	}
	STEP("an attempt that is put off or starts again hides no note");
	b.gen++;
	for (b.attempt = 0; b.attempt < 5; b.attempt++)
		bench_cell(t, 3, &b, 0, rx_bench_data);
	rx_bench_landed(t, 0, serial);
	rx_bench_judge(t, FL_ST_WAIT);
	EXPECT_EQ(bench_note(t).kind, 0);
	EXPECT(engine_idle(t->e));
}

TEST("each of many contexts has a note of its own when they land together")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write;
	unsigned int i, seen = 0;
	struct bench_note n;

	for (i = 0; i < 8; i++) {
		b.ctx = (uint8_t)i;
		bench_block(t, 3, &b, rx_bench_data);
		rx_bench_judge(t, 0);
	}
	bench_run(t, 1);
	EXPECT(t->line[ENGINE_LINE_EVENT]);
	for (i = 0; i < 8; i++) {
		n = bench_note(t);
		EXPECT_EQ(n.kind, FL_NOTE_RX_LANDED);
		seen |= 1u << n.index;
	}
	EXPECT_EQ(seen, 0xFF);
	EXPECT(!t->line[ENGINE_LINE_EVENT]);
}

TEST("what did not land, or is a READ's answer, leaves no such note")
{
	const struct bench_block r = { .ctx = 2, .op = FL_OP_READ, .node = 3,
				       .len = 5000, .lva = rx_bench_write.va };
	struct wire_block b = rx_bench_write;
	struct bench *t = bench_new(NULL);

	t->page[41] = PAGE_BROKEN;
	rx_bench_land(t, &b);
	rx_bench_newest(t, WOP_NAK, &b);
	t->page[41] = PAGE_ABSENT;
	b.gen++;
	rx_bench_land(t, &b);
	rx_bench_newest(t, WOP_REFUSED, &b);
	t->page[41] = PAGE_THERE;
	bench_go(t, &r);
	bench_run(t, 0);
	bench_drain_notes(t);
	b.opcode = WOP_READ_RESP;
	b.ctx = 1;
	b.ref = wire_word(2, 1, 0);
	bench_block(t, 3, &b, rx_bench_data);
	bench_run(t, 1);
	EXPECT_MEM(TARGET(t), rx_bench_data, 5000);
	bench_expect_note(t, FL_NOTE_TX_DONE, 2);
	EXPECT_EQ(bench_note(t).kind, 0);
}

TEST("a block larger than this card's is refused for good, once an attempt")
{
	struct engine_config cfg = bench_config;
	struct wire_block b = rx_bench_write, other = rx_bench_write;
	struct bench *t;

	cfg.block_log2 = 12;
	t = bench_new(&cfg);
	b.len = 4097;
	bench_block(t, 3, &b, rx_bench_data);
	EXPECT_EQ(t->frames, 1);
	EXPECT_EQ(rx_bench_newest(t, WOP_NAK, &b).code, FL_ST_BLOCK_SIZE);
	EXPECT_EQ(bench_stats(t).bad_packets, 5);
	STEP("nothing of it is kept, and nobody is asked");
	EXPECT_EQ(bench_stats(t).cells_received, 0);
	EXPECT_EQ(bench_note(t).kind, 0);
	EXPECT(engine_idle(t->e));
	STEP("a READ request has one packet, which is answered");
	b.opcode = WOP_READ_REQ;
	b.attempt = 1;
	bench_cell(t, 3, &b, 0, NULL);
	EXPECT_EQ(rx_bench_newest(t, WOP_NAK, &b).code, FL_ST_BLOCK_SIZE);
	STEP("64 KB is possible on some board; more is not, and is dropped");
	b.len = 65536;
	bench_cell(t, 3, &b, 0, NULL);
	EXPECT_EQ(t->frames, 3);
	b.len = 65537;
	bench_cell(t, 3, &b, 0, NULL);
	EXPECT_EQ(t->frames, 3);
	STEP("the largest block of this card lands");
	other.gen++;
	other.len = 4096;
	rx_bench_land(t, &other);
	rx_bench_newest(t, WOP_ACK, &other);
}

/* ---- the sender ---- */

static const struct bench_block my_write = {
	.ctx = 2, .op = FL_OP_WRITE, .node = 3, .qpn = 17, .len = 5000,
	.rkey = 0xBEEF, .lva = BENCH_BASE + 2 * ENGINE_PAGE, .rva = 0x1000,
};

static void peer_says(struct bench *t, unsigned int op, unsigned int attempt,
		      unsigned int code)
{
	const struct wire_answer a = {
		.opcode = (uint8_t)op, .ctx = 2, .gen = 1,
		.attempt = (uint8_t)attempt, .code = (uint8_t)code,
	};

	STEP("code %u", code);
	bench_answer(t, 3, &a);
}

static struct bench *later_sending(unsigned int op)
{
	struct bench *t = bench_new(NULL);
	struct bench_block b = my_write;

	b.op = op;
	bench_go(t, &b);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
	bench_drain_notes(t);
	return t;
}

TEST("REFUSED keeps its code in STATUS, and the next REFUSED its own")
{
	static const uint8_t codes[] = { FL_ST_WAIT, FL_ST_BUSY, 0 };
	struct bench *t = later_sending(FL_OP_WRITE);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		peer_says(t, WOP_REFUSED, i, codes[i]);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DSTFAULT);
		EXPECT_EQ(bench_tx_status(t, 2), codes[i]);
		bench_expect_note(t, FL_NOTE_TX_REFUSED, 2);
		EXPECT_EQ(bench_stats(t).blocks_refused, i + 1);
		bench_act(t, 2, NIC_CTX_CTRL_EXPIRE);
		bench_run(t, 0);
		EXPECT_EQ(bench_tx_attempt(t, 2), i + 1);
		bench_expect_note(t, FL_NOTE_TX_FLYING, 2);
	}
	peer_says(t, WOP_ACK, 3, 0);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_OK);
}

TEST("an early BUSY is kept until the last cell has left, with its code")
{
	static const uint8_t codes[] = { FL_ST_WAIT, FL_ST_BUSY };
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		t = bench_new(NULL);
		t->room = 2;
		bench_go(t, &my_write);
		bench_run(t, 0);
		peer_says(t, WOP_REFUSED, 0, codes[i]);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_READY);
		EXPECT_EQ(bench_tx_status(t, 2), 0);
		t->room = 100;
		engine_wire_room(t->e);
		bench_run(t, 0);
		EXPECT_EQ(t->frames, 5);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DSTFAULT);
		EXPECT_EQ(bench_tx_status(t, 2), codes[i]);
		bench_expect_note(t, FL_NOTE_TX_FLYING, 2);
		bench_expect_note(t, FL_NOTE_TX_REFUSED, 2);
		STEP("it goes out once for EXPIRE, and not before");
		EXPECT_EQ(bench_run(t, 0), 0);
		bench_act(t, 2, NIC_CTX_CTRL_EXPIRE);
		bench_run(t, 0);
		EXPECT_EQ(t->frames, 10);
		EXPECT_EQ(bench_sent_block(t, 9, WOP_WRITE).attempt, 1);
	}
}

TEST("WAIT changes no state of a block that flies, and says so to the firmware")
{
	static const unsigned int ops[] = { FL_OP_WRITE, FL_OP_READ,
					    FL_OP_READ_RESP };
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		t = later_sending(ops[i]);
		STEP("operation %u", ops[i]);
		peer_says(t, WOP_WAIT, 0, 0);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
		EXPECT_EQ(bench_tx_attempt(t, 2), 0);
		bench_expect_note(t, FL_NOTE_TX_WAITING, 2);
		EXPECT_EQ(bench_note(t).kind, 0);
		EXPECT_EQ(bench_stats(t).stale, 0);
		STEP("of an older attempt, of a block that is not sent: stale");
		bench_act(t, 2, NIC_CTX_CTRL_EXPIRE);
		peer_says(t, WOP_WAIT, 0, 0);
		peer_says(t, WOP_WAIT, 1, 0);
		EXPECT_EQ(bench_stats(t).stale, 2);
	}
	STEP("of a block that was refused, and of one that is over: stale");
	t = later_sending(FL_OP_WRITE);
	peer_says(t, WOP_REFUSED, 0, FL_ST_BUSY);
	peer_says(t, WOP_WAIT, 0, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DSTFAULT);
	peer_says(t, WOP_NAK, 0, FL_ST_REMOTE_ACCESS);
	peer_says(t, WOP_WAIT, 0, 0);
	EXPECT_EQ(bench_stats(t).stale, 2);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_REMOTE_ACCESS);
}

TEST("READY ends each kind of refusal, and overtakes each of them")
{
	static const uint8_t codes[] = { 0, FL_ST_WAIT, FL_ST_BUSY };
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		t = later_sending(FL_OP_WRITE);
		peer_says(t, WOP_REFUSED, 0, codes[i]);
		peer_says(t, WOP_READY, 0, 0);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_READY);
		EXPECT_EQ(bench_tx_attempt(t, 2), 1);
		STEP("and what comes late for the older attempt is stale");
		peer_says(t, WOP_REFUSED, 0, codes[i]);
		EXPECT_EQ(bench_stats(t).stale, 1);
		bench_run(t, 0);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
	}
}

TEST("a READ that is told to come again flies on, and what it asked for lands")
{
	static const uint8_t codes[] = { FL_ST_WAIT, FL_ST_BUSY };
	struct wire_block b = rx_bench_write;
	struct bench *t;
	unsigned int i;

	b.opcode = WOP_READ_RESP;
	b.ref = wire_word(2, 1, 0);
	for (i = 0; i < 2; i++) {
		t = later_sending(FL_OP_READ);
		bench_act(t, 2, NIC_CTX_CTRL_EXPIRE);
		bench_run(t, 0);
		bench_expect_note(t, FL_NOTE_TX_FLYING, 2);
		peer_says(t, WOP_REFUSED, 1, codes[i]);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
		EXPECT_EQ(bench_tx_status(t, 2), codes[i]);
		bench_expect_note(t, FL_NOTE_TX_REFUSED, 2);
		EXPECT_EQ(bench_stats(t).blocks_refused, 0);
		STEP("the answer to attempt 0 comes after all");
		bench_block(t, 3, &b, rx_bench_data);
		bench_run(t, 1);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
		EXPECT_EQ(bench_tx_status(t, 2), FL_ST_OK);
		EXPECT_MEM(t->mem + 2 * ENGINE_PAGE, rx_bench_data, 5000);
		bench_expect_note(t, FL_NOTE_TX_DONE, 2);
		peer_says(t, WOP_REFUSED, 1, FL_ST_BUSY);
		EXPECT_EQ(bench_tx_status(t, 2), FL_ST_OK);
	}
	STEP("REFUSED without a code means pages, and a READ has none there");
	t = later_sending(FL_OP_READ);
	peer_says(t, WOP_REFUSED, 0, 0);
	EXPECT_EQ(bench_stats(t).stale, 1);
	EXPECT_EQ(bench_note(t).kind, 0);
	STEP("nor does an older attempt's refusal count, nor an unasked one");
	bench_act(t, 2, NIC_CTX_CTRL_EXPIRE);
	peer_says(t, WOP_REFUSED, 0, FL_ST_BUSY);
	peer_says(t, WOP_REFUSED, 1, FL_ST_BUSY);
	EXPECT_EQ(bench_stats(t).stale, 3);
	EXPECT_EQ(bench_tx_status(t, 2), 0);
}

TEST("a block of another size than the peer's ends with BLOCK_SIZE")
{
	static const unsigned int ops[] = { FL_OP_WRITE, FL_OP_READ };
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		t = later_sending(ops[i]);
		peer_says(t, WOP_NAK, 0, FL_ST_BLOCK_SIZE);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
		EXPECT_EQ(bench_tx_status(t, 2), FL_ST_BLOCK_SIZE);
		bench_expect_note(t, FL_NOTE_TX_DONE, 2);
	}
}
