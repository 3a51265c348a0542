// SPDX-License-Identifier: BSD-2-Clause
/* Transmit contexts and the read channel. */
#include "rig/engine.h"

/* A WRITE of 5000 bytes from the middle of page 2 to node 3. */
static const struct bench_block a_write = {
	.ctx = 2, .op = FL_OP_WRITE, .node = 3, .qpn = 17, .len = 5000,
	.rkey = 0xBEEF, .ref = 0x00123403, .src = 0x81000007, .xfer = 4,
	.block = 6, .left = 70000,
	.lva = BENCH_BASE + 2 * ENGINE_PAGE + 100, .rva = 0x1000,
};

/* What the peer says about it. */
static struct wire_answer tx_says(unsigned int op, unsigned int gen,
				  unsigned int attempt)
{
	return (struct wire_answer){ .opcode = (uint8_t)op, .ctx = 2,
				     .gen = (uint16_t)gen,
				     .attempt = (uint8_t)attempt };
}

static void peer_says(struct bench *t, unsigned int op, unsigned int gen,
		      unsigned int attempt)
{
	struct wire_answer a = tx_says(op, gen, attempt);

	if (op == WOP_NAK)
		a.code = FL_ST_REMOTE_ACCESS;
	bench_answer(t, 3, &a);
}

static struct bench *tx_flying(const struct bench_block *b)
{
	struct bench *t = bench_new(NULL);

	bench_go(t, b);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, b->ctx), FL_TX_FLYING);
	bench_expect_note(t, FL_NOTE_TX_FLYING, b->ctx);
	return t;
}

TEST("a block leaves as cells that carry its bytes and its name")
{
	struct bench *t = tx_flying(&a_write);
	struct wire_block b;
	unsigned int i;

	EXPECT_EQ(t->frames, 5);
	for (i = 0; i < 5; i++) {
		b = bench_sent_block(t, i, WOP_WRITE);
		EXPECT_EQ(t->frame[i].from, 1);
		EXPECT_EQ(t->frame[i].to, 3);
		EXPECT_EQ(b.psn, i);
		EXPECT_EQ(b.offset, i * 1024);
		EXPECT_EQ(b.payload_len, i < 4 ? 1024 : 904);
		EXPECT_MEM(b.payload, t->mem + 2 * ENGINE_PAGE + 100 +
			   i * 1024, b.payload_len);
		EXPECT_EQ(wire_word(b.ctx, b.gen, b.attempt),
			  wire_word(2, 1, 0));
		EXPECT_EQ(b.dest_qp, 17);
		EXPECT_EQ(b.va, 0x1000);
		EXPECT_EQ(b.len, 5000);
		EXPECT_EQ(b.rkey, 0xBEEF);
		EXPECT_EQ(b.left, 70000);
		EXPECT_EQ(b.ref, 0x00123403);
		EXPECT_EQ(b.src, 0x81000007);
		EXPECT_EQ(b.xfer, 4);
		EXPECT_EQ(b.block, 6);
	}
	EXPECT_EQ(trace_count(t->trace, EV_TX_CELLS), 1);
	EXPECT_EQ(trace_count(t->trace, EV_TX_BURST), 2);
}

TEST("bursts never cross a page: 16 KB at an odd address are five")
{
	struct bench_block b = a_write;
	struct bench *t = bench_new(NULL);

	b.len = 16384;
	b.lva = bench_va(10, 4095);
	bench_go(t, &b);
	bench_run(t, 0);
	EXPECT_EQ(t->begun[0], 5);
	EXPECT_EQ(t->ended[0], 5);
	EXPECT_EQ(t->frames, 16);
}

TEST("a step takes as long as the burst or the wire says")
{
	struct bench *t = bench_new(NULL);

	t->delay_ns = 777;
	bench_go(t, &a_write);
	EXPECT_EQ(t->kicks[0], 1);
	EXPECT_EQ(engine_step(t->e, 0, 0), 777);
	EXPECT_EQ(bench_read(t, NIC_ENG_RD_STATUS), NIC_ENG_RD_STATUS_BUSY |
		  2 << NIC_ENG_RD_STATUS_INDEX_SHIFT);
	EXPECT_EQ(bench_read(t, NIC_ENG_RD_LEFT), 5000);
	EXPECT_EQ(engine_step(t->e, 0, 777), 0);
	EXPECT_EQ(bench_read(t, NIC_ENG_RD_STATUS), 0);
	EXPECT_EQ(engine_step(t->e, 0, 777), 777);
	EXPECT_EQ(bench_read(t, NIC_ENG_RD_LEFT), 5000 - 3996);
	EXPECT_EQ(bench_read(t, NIC_ENG_RD_VA), bench_va(3, 0) & 0xFFFFFFFF);
	EXPECT_EQ(bench_read(t, NIC_ENG_RD_XFER_LEFT), 70000);
	EXPECT_EQ(engine_step(t->e, 0, 1554), 0);
	EXPECT_EQ(engine_step(t->e, 0, 1554), 100);
	EXPECT_EQ(t->frames, 1);
}

TEST("ACK of this attempt ends the block well")
{
	struct bench *t = tx_flying(&a_write);

	peer_says(t, WOP_ACK, 1, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_OK);
	bench_expect_note(t, FL_NOTE_TX_DONE, 2);
	bench_act(t, 2, NIC_CTX_CTRL_RELEASE);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FREE);
	EXPECT(engine_idle(t->e));
}

TEST("a missing source page is reported with its map and nothing is sent")
{
	struct bench *t = bench_new(NULL);
	struct bench_block b = a_write;
	unsigned int serial, bit;

	b.len = 16384;
	t->page[3] = t->page[6] = PAGE_ABSENT;
	bench_go(t, &b);
	bench_set(t, NIC_ENG_IRQ_ENABLE, NIC_ENG_IRQ_ENABLE_FAULT);
	bench_run(t, 0);
	EXPECT_EQ(t->frames, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_SRCFAULT);
	bench_expect_note(t, FL_NOTE_TX_WAITING, 2);
	EXPECT(t->line[ENGINE_LINE_FAULT]);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_COUNT), 1);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_MAP), 1 << 1 | 1 << 4);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_STREAM), BENCH_STREAM);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_VA), b.lva & 0xFFFFFFFF);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_VA + 4), b.lva >> 32);
	EXPECT_EQ(fl_errata_len((uint32_t)bench_read(t, NIC_ENG_FLT_LEN)), 16384);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_LEFT), 70000);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_XFER), 4);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_BLOCK), 6);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_REF) & NIC_ENG_FLT_REF_WRITE, 0);
	serial = bench_pop_fault(t, 0, 2);
	EXPECT(!t->line[ENGINE_LINE_FAULT]);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_REF), 0);
	STEP("a serial number with another bit, whichever, changes nothing");
	for (bit = 0; bit < 8; bit++)
		bench_ready(t, 0, 2, serial ^ 1u << bit, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_SRCFAULT);
	t->page[3] = t->page[6] = PAGE_THERE;
	bench_ready(t, 0, 2, serial, 0);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
	EXPECT_EQ(bench_tx_attempt(t, 2), 0);
	EXPECT_EQ(t->frames, 16);
	STEP("READY that comes twice changes nothing");
	bench_ready(t, 0, 2, serial, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
}

TEST("the driver gives up: the block ends with LOCAL_FAULT")
{
	struct bench *t = bench_new(NULL);

	t->page[2] = PAGE_ABSENT;
	bench_go(t, &a_write);
	bench_run(t, 0);
	bench_ready(t, 0, 2, bench_pop_fault(t, 0, 2), FL_ST_LOCAL_FAULT);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_LOCAL_FAULT);
}

TEST("a faulted block does not hold up the others")
{
	struct bench *t = bench_new(NULL);
	struct bench_block b = a_write;

	t->page[2] = PAGE_ABSENT;
	bench_go(t, &a_write);
	b.ctx = 5;
	b.lva = bench_va(20, 0);
	bench_go(t, &b);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_SRCFAULT);
	EXPECT_EQ(bench_tx_state(t, 5), FL_TX_FLYING);
}

TEST("READY contexts take turns")
{
	static const uint8_t order[] = { 3, 5, 7, 0 };
	struct bench *t = bench_new(NULL);
	struct bench_block b = a_write;
	unsigned int i;

	b.len = 64;
	b.ctx = 3;
	bench_go(t, &b);
	bench_run(t, 0);
	for (i = 4; i-- > 1;) {	/* in another order than they are served */
		b.ctx = order[i];
		bench_go(t, &b);
	}
	bench_run(t, 0);
	EXPECT_EQ(t->frames, 4);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(bench_sent_block(t, i, WOP_WRITE).ctx, order[i]);
}

TEST("a memory error ends the block, at the burst's begin or at its end")
{
	static const enum bench_page how[] = { PAGE_BROKEN, PAGE_BREAKS_LATE };
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		t = bench_new(NULL);
		t->page[3] = how[i];
		bench_go(t, &a_write);
		bench_run(t, 0);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
		EXPECT_EQ(bench_tx_status(t, 2), FL_ST_BUS_ERROR);
		EXPECT_EQ(t->frames, 0);
		EXPECT_EQ(t->open[0], 0);
	}
}

TEST("REFUSED parks the block and READY sends it again with attempt 1")
{
	struct bench *t = tx_flying(&a_write);

	peer_says(t, WOP_REFUSED, 1, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DSTFAULT);
	bench_expect_note(t, FL_NOTE_TX_REFUSED, 2);
	peer_says(t, WOP_READY, 1, 0);
	bench_run(t, 0);
	EXPECT_EQ(t->frames, 10);
	EXPECT_EQ(bench_sent_block(t, 5, WOP_WRITE).attempt, 1);
	STEP("answers to attempt 0 change nothing now");
	peer_says(t, WOP_ACK, 1, 0);
	peer_says(t, WOP_REFUSED, 1, 0);
	peer_says(t, WOP_READY, 1, 0);
	peer_says(t, WOP_NAK, 1, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
	EXPECT_EQ(trace_count(t->trace, EV_RX_STALE), 4);
	peer_says(t, WOP_ACK, 1, 1);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_OK);
	EXPECT_EQ(bench_stats(t).blocks_resent, 1);
}

TEST("READY that overtakes REFUSED sends the block again")
{
	struct bench *t = tx_flying(&a_write);

	peer_says(t, WOP_READY, 1, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_READY);
	EXPECT_EQ(bench_tx_attempt(t, 2), 1);
	peer_says(t, WOP_REFUSED, 1, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_READY);
}

TEST("answers of another node, generation, context or state are stale")
{
	struct bench *t = tx_flying(&a_write);
	struct wire_answer a = tx_says(WOP_ACK, 1, 0);

	bench_answer(t, 4, &a);
	peer_says(t, WOP_ACK, 2, 0);
	peer_says(t, WOP_ACK, 0, 0);
	peer_says(t, WOP_WAIT, 1, 1);
	a.ctx = 3;
	bench_answer(t, 3, &a);
	a.ctx = 200;
	bench_answer(t, 3, &a);
	EXPECT_EQ(bench_stats(t).stale, 6);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
	peer_says(t, WOP_ACK, 1, 0);
	STEP("it is DONE: nothing more can happen to it");
	peer_says(t, WOP_NAK, 1, 0);
	EXPECT_EQ(bench_stats(t).stale, 7);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_OK);
}

TEST("NAK ends the block with its status, and one without status is bad")
{
	struct bench *t = tx_flying(&a_write);
	struct wire_answer a = tx_says(WOP_NAK, 1, 0);

	bench_answer(t, 3, &a);
	EXPECT_EQ(bench_stats(t).bad_packets, 1);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
	peer_says(t, WOP_NAK, 1, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_REMOTE_ACCESS);
}

TEST("the timer sends a flying or refused block again, and no other")
{
	struct bench *t = tx_flying(&a_write);

	bench_act(t, 2, NIC_CTX_CTRL_EXPIRE);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_READY);
	bench_act(t, 2, NIC_CTX_CTRL_EXPIRE);
	EXPECT_EQ(bench_tx_attempt(t, 2), 1);
	bench_run(t, 0);
	peer_says(t, WOP_REFUSED, 1, 1);
	bench_act(t, 2, NIC_CTX_CTRL_EXPIRE);
	EXPECT_EQ(bench_tx_attempt(t, 2), 2);
	bench_run(t, 0);
	peer_says(t, WOP_ACK, 1, 2);
	STEP("too late: the ACK was first");
	bench_act(t, 2, NIC_CTX_CTRL_EXPIRE);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
}

TEST("KILL ends the block in every state and changes nothing after its end")
{
	static const unsigned int at[] = { FL_TX_READY, FL_TX_FLYING,
					   FL_TX_SRCFAULT, FL_TX_DSTFAULT };
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		t = bench_new(NULL);
		t->page[2] = at[i] == FL_TX_SRCFAULT ? PAGE_ABSENT : PAGE_THERE;
		bench_go(t, &a_write);
		if (at[i] != FL_TX_READY)
			bench_run(t, 0);
		if (at[i] == FL_TX_DSTFAULT)
			peer_says(t, WOP_REFUSED, 1, 0);
		EXPECT_EQ(bench_tx_state(t, 2), at[i]);
		bench_kill(t, 2);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
		EXPECT_EQ(bench_tx_status(t, 2), FL_ST_KILLED);
		bench_act(t, 2, NIC_CTX_CTRL_KILL |
			  FL_ST_NO_ANSWER << NIC_CTX_CTRL_CODE_SHIFT);
		EXPECT_EQ(bench_tx_status(t, 2), FL_ST_KILLED);
		bench_act(t, 2, NIC_CTX_CTRL_RELEASE);
		bench_kill(t, 2);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FREE);
	}
}

TEST("a block that is killed at any step leaves no burst open and no trace")
{
	struct bench_block b = a_write;
	unsigned int steps, n;
	struct bench *t;

	for (steps = 1; steps < 10; steps++) {
		t = bench_new(NULL);
		bench_go(t, &a_write);
		for (n = 0; n < steps; n++)
			engine_step(t->e, 0, 0);
		bench_kill(t, 2);
		bench_act(t, 2, NIC_CTX_CTRL_RELEASE);
		n = t->frames;
		STEP("killed after %u steps, %u cells sent", steps, n);
		bench_go(t, &b);	/* the same context at once */
		bench_run(t, 0);
		EXPECT_EQ(t->open[0], 0);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
		EXPECT_EQ(t->frames, n + 5);
		EXPECT_EQ(bench_sent_block(t, n, WOP_WRITE).gen, 2);
	}
}

TEST("a held burst stops the channel until it is resumed")
{
	struct bench *t = bench_new(NULL);
	struct bench_block b = a_write;

	t->page[3] = PAGE_ABSENT;
	t->hold = true;
	bench_go(t, &a_write);
	b.ctx = 0;
	b.lva = bench_va(20, 0);
	bench_run(t, 0);
	bench_go(t, &b);
	bench_run(t, 0);
	EXPECT_EQ(t->frames, 0);
	EXPECT_EQ(bench_read(t, NIC_ENG_RD_STATUS), NIC_ENG_RD_STATUS_BUSY |
		  NIC_ENG_RD_STATUS_STALLED |
		  2 << NIC_ENG_RD_STATUS_INDEX_SHIFT);
	EXPECT_EQ(bench_read(t, NIC_ENG_RD_VA + 4), bench_va(3, 0) >> 32);
	t->page[3] = PAGE_THERE;
	engine_burst_resume(t->e, 0, false);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
	EXPECT_EQ(bench_tx_state(t, 0), FL_TX_FLYING);
	EXPECT_EQ(t->frames, 10);
}

TEST("a held burst that is terminated is a fault")
{
	struct bench *t = bench_new(NULL);

	t->page[3] = PAGE_ABSENT;
	t->hold = true;
	bench_go(t, &a_write);
	bench_run(t, 0);
	engine_burst_resume(t->e, 0, true);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_SRCFAULT);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_MAP), 2);
	STEP("nothing is held now: resume does nothing");
	engine_burst_resume(t->e, 0, false);
	EXPECT_EQ(engine_step(t->e, 0, 0), ENGINE_IDLE);
}

TEST("a held block that is killed frees the channel when it is resumed")
{
	struct bench *t = bench_new(NULL);
	struct bench_block b = a_write;

	t->page[2] = PAGE_ABSENT;
	t->hold = true;
	bench_go(t, &a_write);
	b.ctx = 1;
	b.lva = bench_va(20, 0);
	bench_go(t, &b);
	engine_step(t->e, 0, 0);	/* context 1 is served first */
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 1), FL_TX_FLYING);
	bench_kill(t, 2);
	EXPECT_EQ(engine_step(t->e, 0, 0), ENGINE_IDLE);
	engine_burst_resume(t->e, 0, false);
	bench_run(t, 0);
	EXPECT_EQ(bench_read(t, NIC_ENG_RD_STATUS), 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_DONE);
	EXPECT_EQ(t->frames, 5);
}

TEST("no room on the wire: the block waits, in the middle of its cells too")
{
	struct bench *t = bench_new(NULL);
	unsigned int kicks;

	t->room = 2;
	bench_go(t, &a_write);
	bench_run(t, 0);
	EXPECT_EQ(t->frames, 2);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_READY);
	kicks = t->kicks[0];
	t->room = 100;
	engine_wire_room(t->e);
	EXPECT_EQ(t->kicks[0], kicks + 1);
	bench_run(t, 0);
	EXPECT_EQ(t->frames, 5);
	EXPECT_EQ(bench_sent_block(t, 2, WOP_WRITE).offset, 2048);
}

TEST("an answer that comes before the last cell has left waits for it")
{
	static const struct {
		unsigned int op, state;
	} early[] = {
		{ WOP_ACK, FL_TX_DONE }, { WOP_NAK, FL_TX_DONE },
		{ WOP_REFUSED, FL_TX_DSTFAULT }, { WOP_READY, FL_TX_READY },
	};
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		t = bench_new(NULL);
		t->room = 2;
		bench_go(t, &a_write);
		bench_run(t, 0);
		peer_says(t, WOP_REFUSED, 1, 0);
		peer_says(t, early[i].op, 1, 0);
		EXPECT_EQ(bench_tx_state(t, 2), FL_TX_READY);
		EXPECT_EQ(bench_stats(t).stale, 0);
		t->room = 3;
		engine_wire_room(t->e);
		while (engine_step(t->e, 0, 0) != ENGINE_IDLE)
			if (!t->room)
				break;
		EXPECT_EQ(bench_tx_state(t, 2), early[i].state);
		EXPECT_EQ(bench_tx_attempt(t, 2), early[i].op == WOP_READY);
	}
}

TEST("an answer to an attempt of which nothing has left is stale")
{
	struct bench *t = bench_new(NULL);

	bench_go(t, &a_write);
	peer_says(t, WOP_ACK, 1, 0);
	engine_step(t->e, 0, 0);
	peer_says(t, WOP_ACK, 1, 0);
	EXPECT_EQ(bench_stats(t).stale, 2);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
}

TEST("READ sends one request without reading memory, and only NAK answers it")
{
	struct bench_block r = a_write;
	struct wire_block b;
	struct bench *t;

	r.op = FL_OP_READ;
	t = tx_flying(&r);
	EXPECT_EQ(t->begun[0], 0);
	EXPECT_EQ(t->frames, 1);
	b = bench_sent_block(t, 0, WOP_READ_REQ);
	EXPECT_EQ(b.payload_len, 0);
	EXPECT_EQ(b.va, r.rva);
	EXPECT_EQ(b.len, 5000);
	EXPECT_EQ(b.rkey, 0xBEEF);
	EXPECT_EQ(b.ref, r.ref);
	EXPECT_EQ(b.src, r.src);
	STEP("no data came: ACK, REFUSED and READY are not believed");
	peer_says(t, WOP_ACK, 1, 0);
	peer_says(t, WOP_REFUSED, 1, 0);
	peer_says(t, WOP_READY, 1, 0);
	EXPECT_EQ(bench_stats(t).stale, 3);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
	peer_says(t, WOP_WAIT, 1, 0);
	bench_expect_note(t, FL_NOTE_TX_WAITING, 2);
	peer_says(t, WOP_NAK, 1, 0);
	EXPECT_EQ(bench_tx_status(t, 2), FL_ST_REMOTE_ACCESS);
}

TEST("the answer of a READ carries the request's word and no key")
{
	struct bench_block r = a_write;
	struct wire_block b;
	struct bench *t;

	r.op = FL_OP_READ_RESP;
	r.ref = wire_word(9, 0x1234, 7);
	t = tx_flying(&r);
	b = bench_sent_block(t, 4, WOP_READ_RESP);
	EXPECT_EQ(b.ref, r.ref);
	EXPECT_EQ(b.src, r.src);
	EXPECT_EQ(b.rkey, 0);
	EXPECT_EQ(b.offset, 4096);
}

TEST("a turned-off engine rests, but for the end of a burst, and goes on")
{
	struct bench *t = bench_new(NULL);

	bench_go(t, &a_write);
	engine_step(t->e, 0, 0);
	bench_set(t, NIC_ENG_CTRL, 0);
	bench_run(t, 0);
	EXPECT_EQ(t->open[0], 0);
	EXPECT_EQ(t->begun[0], 1);
	EXPECT_EQ(t->frames, 0);
	bench_set(t, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	EXPECT(t->kicks[0] >= 2);
	bench_run(t, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
	STEP("packets are dropped while it is off");
	bench_set(t, NIC_ENG_CTRL, 0);
	peer_says(t, WOP_ACK, 1, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
}

TEST("after a reset the generation goes on, so that old answers stay old")
{
	struct bench *t = tx_flying(&a_write);

	engine_step(t->e, 0, 0);
	engine_reset(t->e);
	EXPECT(engine_idle(t->e));
	bench_set(t, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	bench_go(t, &a_write);
	bench_run(t, 0);
	EXPECT_EQ(bench_read(t, NIC_CTX_BASE(2) + NIC_CTX_GEN), 2);
	peer_says(t, WOP_ACK, 1, 0);
	EXPECT_EQ(bench_tx_state(t, 2), FL_TX_FLYING);
	EXPECT_EQ(bench_stats(t).stale, 1);
}

TEST("each event of a block names the one before it as its cause")
{
	struct trace_record r[64];
	struct bench *t = tx_flying(&a_write);
	uint32_t i, n;

	peer_says(t, WOP_ACK, 1, 0);
	n = trace_snapshot(t->trace, r, 64);
	EXPECT_EQ(n, 6);	/* GO, two bursts, cells, SENT, ACK */
	for (i = 1; i < 5; i++)
		EXPECT_EQ(r[i].cause, r[i - 1].seq);
	for (i = 0; i < n; i++) {
		EXPECT_EQ(r[i].xfer, 4);
		EXPECT_EQ(r[i].block, 6);
	}
	EXPECT_EQ(t->frame[0].cause, r[3].seq);
}
