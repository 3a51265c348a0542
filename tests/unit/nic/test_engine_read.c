// SPDX-License-Identifier: BSD-2-Clause
/* READ: the request at the responder, its answer at the requester. */
#include "rig/engine_rx.h"

TEST("READ waits for room on the wire")
{
	const struct bench_block r = { .ctx = 2, .op = FL_OP_READ, .node = 3,
				       .len = 5000, .lva = BENCH_BASE };
	struct bench *t = bench_new(NULL);

	t->room = 0;
	bench_go(t, &r);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_READY);
	t->room = 1;
	engine_wire_room(t->e);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
}

TEST("a READ request is handed to the firmware and forgotten")
{
	struct bench *t = bench_new(NULL);
	struct wire_block r = rx_bench_write, again;

	r.opcode = WOP_READ_REQ;
	bench_cell(t, 3, &r, 0, NULL);
	bench_cell(t, 3, &r, 0, NULL);
	EXPECT_EQ(bench_read(t, NIC_RXC_BASE(0) + NIC_RXC_OP), WOP_READ_REQ);
	rx_bench_judge(t, 0);
	EXPECT_EQ(bench_note(t).kind, 0);
	EXPECT_EQ(t->frames, 0);
	EXPECT(engine_idle(t->e));
	STEP("doubled on the way: nothing; asked again: the firmware judges");
	bench_cell(t, 3, &r, 0, NULL);
	EXPECT(engine_idle(t->e));
	again = r;
	again.attempt = 1;
	bench_cell(t, 3, &again, 0, NULL);
	rx_bench_judge(t, FL_ST_WAIT);
	rx_bench_newest(t, WOP_WAIT, &again);
	again.attempt = 2;
	bench_cell(t, 3, &again, 0, NULL);
	rx_bench_judge(t, FL_ST_REMOTE_ACCESS);
	rx_bench_newest(t, WOP_NAK, &again);
}

/* A READ by context 2 of 5000 bytes from node 3 into the target. */
static struct bench *read_begin(struct wire_block *answer)
{
	struct bench *t = bench_new(NULL);
	const struct bench_block r = {
		.ctx = 2, .op = FL_OP_READ, .node = 3, .qpn = 17,
		.len = 5000, .lva = rx_bench_write.va, .rva = 0x7000, .left = 123,
	};

	bench_go(t, &r);
	bench_run(t, 0);
	bench_drain_notes(t);
	*answer = rx_bench_write;
	answer->opcode = WOP_READ_RESP;
	answer->va = 0;
	answer->rkey = 0;
	answer->ref = wire_word(2, 1, 0);
	return t;
}

TEST("a READ's answer goes where the request said, and ends the READ")
{
	struct wire_block b;
	struct bench *t = read_begin(&b);

	b.va = 0x666000;	/* not believed */
	bench_block(t, 3, &b, rx_bench_data);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_WRITE);
	bench_run(t, 1);
	EXPECT_MEM(TARGET(t), rx_bench_data, 5000);
	rx_bench_newest(t, WOP_ACK, &b);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_OK);
	bench_expect_note(t, FL_NOTE_TX_DONE, 2);
	STEP("one cell is enough when it is all");
	bench_block(t, 3, &b, rx_bench_data);
	rx_bench_newest(t, WOP_ACK, &b);
}

TEST("a READ's answer of one cell is written at once")
{
	struct bench *t = bench_new(NULL);
	const struct bench_block r = { .ctx = 0, .op = FL_OP_READ, .node = 3,
				       .len = 7, .lva = rx_bench_write.va };
	struct wire_block b = { .opcode = WOP_READ_RESP, .len = 7,
				.ref = wire_word(0, 1, 0) };

	bench_go(t, &r);
	bench_run(t, 0);
	bench_block(t, 3, &b, rx_bench_data);
	bench_run(t, 1);
	EXPECT_MEM(TARGET(t), rx_bench_data, 7);
	EXPECT_EQ(bench_tx_state(t, 0), FL_TX_DONE);
}

TEST("an answer that no READ vouches for is refused once for each attempt")
{
	struct wire_block b, good;
	struct bench *t = read_begin(&good);
	unsigned int i;

	for (i = 0; i < 7; i++) {
		b = good;
		b.ctx = (uint8_t)i;
		b.ref = i == 0 ? wire_word(2, 2, 0) :	/* generation */
			i == 1 ? wire_word(3, 1, 0) :	/* context */
			i == 2 ? wire_word(99, 1, 0) : good.ref;
		b.len -= i == 3;
		STEP("case %u", i);
		if (i == 4)
			bench_kill(t, 2);
		if (i == 5)
			bench_act(t, 2, NIC_CTX_CTRL_RELEASE);
		bench_block(t, i == 6 ? 4 : 3, &b, rx_bench_data);
		EXPECT_EQ(t->frames, 2 + i);
		EXPECT_EQ(bench_sent(t, 1 + i, WOP_NAK).code, FL_ST_STALE);
	}
	bench_run(t, 1);
	EXPECT(memcmp(TARGET(t), rx_bench_data, 16) != 0);
}

TEST("a READ's answer is taken though the timer has just run out")
{
	struct wire_block b;
	struct bench *t = read_begin(&b);

	bench_act(t, 2, NIC_CTX_CTRL_EXPIRE);
	bench_block(t, 3, &b, rx_bench_data);
	bench_run(t, 1);
	rx_bench_newest(t, WOP_ACK, &b);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_READY);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_OK);
}

TEST("nothing reaches a READ's buffer after the READ was killed")
{
	struct wire_block b;
	uint8_t then[5000];
	struct bench *t;
	unsigned int steps, n;

	for (steps = 0; steps < 8; steps++) {
		t = read_begin(&b);
		STEP("killed after %u steps", steps);
		if (steps)
			bench_block(t, 3, &b, rx_bench_data);
		else
			bench_cell(t, 3, &b, 0, rx_bench_data);	/* COLLECT */
		for (n = 1; n < steps; n++)
			engine_step(t->e, 1, 0);
		if (bench_tx_state(t, 2) == FL_TX_DONE)
			break;
		bench_kill(t, 2);
		EXPECT_EQ(t->open[1], 0);
		memcpy(then, TARGET(t), 5000);
		bench_block(t, 3, &b, rx_bench_data);
		bench_run(t, 1);
		EXPECT_MEM(TARGET(t), then, 5000);
		EXPECT_EQ(rx_bench_newest(t, WOP_NAK, &b).code, FL_ST_STALE);
		if (steps)	/* in WRITE, its last cell again: later */
			EXPECT_EQ(bench_sent(t, 1, WOP_REFUSED).code,
				  FL_ST_BUSY);
		EXPECT_EQ(t->frames, 2 + (steps > 0));
		EXPECT_EQ(bench_tx_status(t, 2), FL_ST_KILLED);
	}
	EXPECT(steps >= 4);
}

TEST("of two answers to one READ the older one gives way, or the newer waits")
{
	struct wire_block b, second;
	struct bench *t = read_begin(&b);

	second = b;
	second.ctx = 9;
	bench_cell(t, 3, &b, 0, rx_bench_data);
	STEP("an answer to the same request: the first one goes on");
	bench_cell(t, 3, &second, 0, rx_bench_data);
	EXPECT_EQ(bench_stats(t).no_context, 1);
	STEP("an answer to a later request: it takes over");
	second.attempt = 1;
	second.ref++;
	bench_block(t, 3, &second, rx_bench_data);
	bench_cell(t, 3, &b, 1024, rx_bench_data);
	bench_run(t, 1);
	rx_bench_newest(t, WOP_ACK, &second);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
	EXPECT_EQ(bench_stats(t).blocks_landed, 1);
}

TEST("a missing page of a READ's buffer parks the answer and tells the READ")
{
	struct wire_block b, again;
	struct bench *t = read_begin(&b);

	t->page[40] = PAGE_ABSENT;
	bench_block(t, 3, &b, rx_bench_data);
	bench_run(t, 1);
	EXPECT_EQ(rx_bench_newest(t, WOP_REFUSED, &b).map, 1);
	bench_expect_note(t, FL_NOTE_TX_WAITING, 2);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_LEFT), 123);
	t->page[40] = PAGE_THERE;
	bench_ready(t, 1, 0, bench_pop_fault(t, 1, 0), 0);
	rx_bench_newest(t, WOP_READY, &b);
	again = b;
	again.attempt = 1;
	bench_block(t, 3, &again, rx_bench_data);
	bench_run(t, 1);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_OK);
	EXPECT_MEM(TARGET(t), rx_bench_data, 5000);
}

TEST("a READ whose buffer cannot be had ends with a local fault")
{
	static const uint8_t codes[] = { FL_ST_LOCAL_FAULT,
					 FL_ST_REMOTE_FAULT };
	struct wire_block b;
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		STEP("the driver calls it status %u", codes[i]);
		t = read_begin(&b);
		t->page[40] = PAGE_ABSENT;
		bench_block(t, 3, &b, rx_bench_data);
		bench_run(t, 1);
		bench_ready(t, 1, 0, bench_pop_fault(t, 1, 0), codes[i]);
		EXPECT_EQ(rx_bench_newest(t, WOP_NAK, &b).code,
			  FL_ST_REMOTE_FAULT);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
		EXPECT_EQ(bench_tx_status(t, 2), FL_ST_LOCAL_FAULT);
	}
}

TEST("a READ whose buffer is broken ends with a bus error")
{
	struct wire_block b;
	struct bench *t = read_begin(&b);

	t->page[40] = PAGE_BROKEN;
	bench_block(t, 3, &b, rx_bench_data);
	bench_run(t, 1);
	rx_bench_newest(t, WOP_NAK, &b);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_BUS_ERROR);
}
