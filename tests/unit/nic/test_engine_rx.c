// SPDX-License-Identifier: BSD-2-Clause
/* Receive contexts: cells, verdicts, and the write channel. */
#include "rig/engine_rx.h"

TEST("a block is judged, collected, written and acknowledged")
{
	struct bench *t = bench_new(NULL);
	uint32_t r = NIC_RXC_BASE(0);

	bench_cell(t, 3, &rx_bench_write, 0, rx_bench_data);
	EXPECT(t->line[ENGINE_LINE_EVENT]);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_CHECK);
	EXPECT_EQ(bench_read(t, r + NIC_RXC_SRC), 3 | 8 << 8);
	EXPECT_EQ(bench_read(t, r + NIC_RXC_OP), WOP_WRITE);
	EXPECT_EQ(bench_read(t, r + NIC_RXC_VA), rx_bench_write.va & 0xFFFFFFFF);
	EXPECT_EQ(bench_read(t, r + NIC_RXC_LEN), 5000);
	EXPECT_EQ(bench_read(t, r + NIC_RXC_RKEY), 0xBEEF);
	EXPECT_EQ(bench_read(t, r + NIC_RXC_LEFT), 9000);
	EXPECT_EQ(bench_read(t, r + NIC_RXC_WORD), wire_word(6, 100, 0));
	EXPECT_EQ(bench_read(t, r + NIC_RXC_XFER), 3);
	EXPECT_EQ(bench_read(t, r + NIC_RXC_BLOCK), 2);
	EXPECT_EQ(bench_read(t, r + NIC_RXC_REF), rx_bench_write.ref);
	EXPECT_EQ(bench_read(t, r + NIC_RXC_FROM), rx_bench_write.src);
	bench_cell(t, 3, &rx_bench_write, 1024, rx_bench_data);
	rx_bench_judge(t, 0);
	EXPECT(!t->line[ENGINE_LINE_EVENT]);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_COLLECT);
	bench_cell(t, 3, &rx_bench_write, 2048, rx_bench_data);
	bench_cell(t, 3, &rx_bench_write, 3072, rx_bench_data);
	EXPECT_EQ(t->kicks[1], 0);
	bench_cell(t, 3, &rx_bench_write, 4096, rx_bench_data);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_WRITE);
	EXPECT_EQ(t->kicks[1], 1);
	EXPECT_EQ(t->frames, 0);
	bench_run(t, 1);
	EXPECT_MEM(TARGET(t), rx_bench_data, 5000);
	rx_bench_newest(t, WOP_ACK, &rx_bench_write);
	rx_bench_landed(t, 0, 1);
	EXPECT(engine_idle(t->e));
	EXPECT_EQ(bench_stats(t).blocks_landed, 1);
}

TEST("cells may come in any order and more than once")
{
	static const uint32_t order[] = { 4096, 1024, 1024, 0, 4096, 3072,
					  2048 };
	struct bench *t = bench_new(NULL);
	unsigned int i;

	for (i = 0; i < 7; i++)
		bench_cell(t, 3, &rx_bench_write, order[i], rx_bench_data);
	rx_bench_judge(t, 0);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_WRITE);
	bench_run(t, 1);
	EXPECT_MEM(TARGET(t), rx_bench_data, 5000);
	EXPECT_EQ(t->frames, 1);
}

TEST("bytes beside the block stay as they were")
{
	struct bench *t = bench_new(NULL);
	uint8_t *was = malloc(sizeof(t->mem));

	test_cleanup(free, was);
	memcpy(was, t->mem, sizeof(t->mem));
	rx_bench_land(t, &rx_bench_write);
	memcpy(was + (TARGET(t) - t->mem), rx_bench_data, 5000);
	EXPECT_MEM(t->mem, was, sizeof(t->mem));
}

TEST("impossible packets are dropped and counted")
{
	static const struct {
		const char *what;
		struct wire_block b;
		uint32_t payload;
	} bad[] = {
		{ "length 0", { .len = 0 }, 1024 },
		{ "longer than any block", { .len = 65537 }, 1024 },
		{ "an offset beside the cells", { .len = 5000, .offset = 512 },
		  1024 },
		{ "an offset behind the end", { .len = 1024, .psn = 1,
		  .offset = 1024 }, 1024 },
		{ "a number that is not the offset's", { .len = 5000,
		  .psn = 1 }, 1024 },
		{ "a cell that is too short", { .len = 5000 }, 1023 },
		{ "a cell that is too long", { .len = 5000 }, 1025 },
		{ "a last cell that is too long", { .len = 5000, .psn = 4,
		  .offset = 4096 }, 1024 },
		{ "a range that wraps", { .len = 5000, .va = -4999ull }, 1024 },
		{ "a context that cannot be", { .len = 5000, .ctx = 16 },
		  1024 },
	};
	struct bench *t = bench_new(NULL);
	struct wire_frame f = { .from = 3, .to = 1 };
	struct wire_block b;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("%s", bad[i].what);
		b = bad[i].b;
		b.opcode = WOP_WRITE;
		b.payload_len = bad[i].payload;
		wire_put_block(&f, &b, true);
		engine_receive(t->e, &f, 0);
		EXPECT_EQ(trace_count(t->trace, EV_RX_BAD_PACKET), i + 1);
	}
	STEP("the last byte of the address space is a good place");
	b = rx_bench_write;
	b.va = -5000ull;
	bench_cell(t, 3, &b, 0, rx_bench_data);
	EXPECT_EQ(bench_stats(t).bad_packets, i);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_CHECK);
	STEP("damaged, for another node, from nowhere, of unknown kind");
	f.bytes[30] ^= 1;
	engine_receive(t->e, &f, 0);
	f.to = 2;
	engine_receive(t->e, &f, 0);
	f.to = 1;
	f.from = WIRE_NODES;
	engine_receive(t->e, &f, 0);
	f.from = 3;
	f.bytes[0] = 0x55;
	engine_receive(t->e, &f, 0);
	f.len = 3;
	engine_receive(t->e, &f, 0);
	EXPECT_EQ(bench_stats(t).bad_packets, i + 5);
	EXPECT_EQ(t->frames, 0);
}

TEST("a cell that tells another story than the first one is dropped")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b;
	unsigned int i;

	bench_cell(t, 3, &rx_bench_write, 0, rx_bench_data);
	for (i = 0; i < 7; i++) {
		b = rx_bench_write;
		b.va += i == 0;
		b.len += i == 1;
		b.rkey += i == 2;
		b.left += i == 3;
		b.dest_qp += i == 4;
		b.ref += i == 5;
		b.src += i == 6;
		bench_cell(t, 3, &b, 1024, rx_bench_data);
		EXPECT_EQ(bench_stats(t).bad_packets, i + 1);
	}
	bench_block(t, 3, &rx_bench_write, rx_bench_data);
	rx_bench_judge(t, 0);
	bench_run(t, 1);
	EXPECT_MEM(TARGET(t), rx_bench_data, 5000);
}

TEST("a refused block gets one NAK; the rest of the attempt is ignored")
{
	struct bench *t = bench_new(NULL);
	struct wire_block again = rx_bench_attempt(100, 1);

	bench_cell(t, 3, &rx_bench_write, 0, rx_bench_data);
	rx_bench_judge(t, FL_ST_REMOTE_ACCESS);
	EXPECT_EQ(rx_bench_newest(t, WOP_NAK, &rx_bench_write).code,
		  FL_ST_REMOTE_ACCESS);
	bench_block(t, 3, &rx_bench_write, rx_bench_data);
	EXPECT_EQ(t->frames, 1);
	EXPECT_EQ(bench_stats(t).stale, 0);
	EXPECT(engine_idle(t->e));
	STEP("a newer attempt is judged anew");
	rx_bench_land(t, &again);
	rx_bench_newest(t, WOP_ACK, &again);
}

TEST("a verdict with another serial number or in another state is nothing")
{
	struct bench *t = bench_new(NULL);
	struct bench_note n;
	unsigned int bit;

	bench_block(t, 3, &rx_bench_write, rx_bench_data);
	n = bench_note(t);
	for (bit = 0; bit < 8; bit++)
		rx_bench_verdict(t, n.index, n.serial ^ 1u << bit, FL_ST_REMOTE_ACCESS);
	EXPECT_EQ(bench_rx_state(t, n.index), FL_RX_CHECK);
	rx_bench_verdict(t, n.index, n.serial, 0);
	EXPECT_EQ(bench_rx_state(t, n.index), FL_RX_WRITE);
	for (bit = 0; bit < 8; bit++)
		rx_bench_verdict(t, n.index, n.serial ^ 1u << bit, FL_ST_REMOTE_ACCESS);
	bench_run(t, 1);
	rx_bench_newest(t, WOP_ACK, &rx_bench_write);
	rx_bench_verdict(t, n.index, n.serial, FL_ST_REMOTE_ACCESS);
	EXPECT_EQ(t->frames, 1);
}

TEST("a missing page is refused with the map, announced, and lands at last")
{
	struct bench *t = bench_new(NULL);
	struct wire_block again = rx_bench_attempt(100, 1);
	unsigned int rxc;

	t->page[41] = PAGE_ABSENT;
	rxc = rx_bench_land(t, &rx_bench_write);
	EXPECT_EQ(bench_rx_state(t, rxc), FL_RX_FAULT);
	EXPECT_EQ(rx_bench_newest(t, WOP_REFUSED, &rx_bench_write).map, 2);
	EXPECT(bench_read(t, NIC_ENG_FLT_REF) & NIC_ENG_FLT_REF_WRITE);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_MAP), 2);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_VA), rx_bench_write.va & 0xFFFFFFFF);
	EXPECT_EQ(fl_errata_len((uint32_t)bench_read(t, NIC_ENG_FLT_LEN)), 5000);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_LEFT), 9000);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_STREAM), BENCH_STREAM);
	STEP("what was there landed, what was not did not");
	EXPECT_MEM(TARGET(t), rx_bench_data, 3596);
	EXPECT(memcmp(TARGET(t) + 3596, rx_bench_data + 3596, 1404) != 0);
	t->page[41] = PAGE_THERE;
	bench_ready(t, 1, rxc, bench_pop_fault(t, 1, rxc), 0);
	EXPECT_EQ(t->frames, 2);
	rx_bench_newest(t, WOP_READY, &rx_bench_write);
	rx_bench_land(t, &again);
	EXPECT_MEM(TARGET(t), rx_bench_data, 5000);
	rx_bench_newest(t, WOP_ACK, &again);
}

TEST("the driver gives up: the sender hears of a remote fault")
{
	struct bench *t = bench_new(NULL);
	unsigned int rxc, serial, bit;

	t->page[40] = PAGE_ABSENT;
	rxc = rx_bench_land(t, &rx_bench_write);
	serial = bench_pop_fault(t, 1, rxc);
	for (bit = 0; bit < 8; bit++)
		bench_ready(t, 1, rxc, serial ^ 1u << bit, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(bench_rx_state(t, rxc), FL_RX_FAULT);
	bench_ready(t, 1, rxc, serial, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(rx_bench_newest(t, WOP_NAK, &rx_bench_write).code,
		  FL_ST_REMOTE_FAULT);
	bench_block(t, 3, &rx_bench_write, rx_bench_data);
	EXPECT_EQ(t->frames, 2);
	EXPECT(engine_idle(t->e));
}

TEST("a memory error is told to the sender, at begin or end of the burst")
{
	static const enum bench_page how[] = { PAGE_BROKEN, PAGE_BREAKS_LATE };
	struct bench *t;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		t = bench_new(NULL);
		t->page[41] = how[i];
		rx_bench_land(t, &rx_bench_write);
		EXPECT_EQ(rx_bench_newest(t, WOP_NAK, &rx_bench_write).code,
			  FL_ST_BUS_ERROR);
		EXPECT_EQ(t->open[1], 0);
		EXPECT(engine_idle(t->e));
	}
}

TEST("without a free context an attempt is put off, and the next one tried")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		b.ctx = (uint8_t)i;
		bench_cell(t, 4, &b, 0, rx_bench_data);
	}
	bench_block(t, 3, &rx_bench_write, rx_bench_data);
	EXPECT_EQ(trace_count(t->trace, EV_RX_NO_CONTEXT), 1);
	EXPECT_EQ(t->frames, 1);
	EXPECT_EQ(rx_bench_newest(t, WOP_REFUSED, &rx_bench_write).code, FL_ST_BUSY);
	rx_bench_judge(t, FL_ST_REMOTE_ACCESS);
	STEP("the attempt that was put off is not taken up");
	bench_cell(t, 3, &rx_bench_write, 4096, rx_bench_data);
	EXPECT_EQ(t->frames, 2);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_FREE);
	b = rx_bench_attempt(100, 1);
	bench_block(t, 3, &b, rx_bench_data);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_CHECK);
}

TEST("a context whose sender fell silent is taken when others need it")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write;
	struct wire_answer a;
	unsigned int i, gone = 0;

	for (i = 0; i < 8; i++) {
		b.ctx = (uint8_t)i;
		bench_cell(t, 4, &b, 0, rx_bench_data);
		rx_bench_judge(t, 0);
	}
	b = rx_bench_write;
	for (i = 0; i < 6 && bench_rx_state(t, 0) == FL_RX_COLLECT; i++) {
		b.attempt = (uint8_t)i;
		bench_cell(t, 3, &b, 0, rx_bench_data);
		gone += trace_count(t->trace, EV_RX_NO_CONTEXT) == i + 1;
	}
	EXPECT_EQ(gone, 3);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_CHECK);
	EXPECT_EQ(bench_read(t, NIC_RXC_BASE(0) + NIC_RXC_SRC) & 0xFF, 3);
	STEP("whose context it was hears once that it may come again");
	EXPECT_EQ(t->frames, 4);
	a = bench_sent(t, 3, WOP_REFUSED);
	EXPECT_EQ(t->frame[3].to, 4);
	EXPECT_EQ(wire_word(a.ctx, a.gen, a.attempt), wire_word(0, 100, 0));
	EXPECT_EQ(a.code, FL_ST_BUSY);
	EXPECT_EQ(a.map, 0);
	b.ctx = b.attempt = 0;
	bench_cell(t, 4, &b, 4096, rx_bench_data);
	EXPECT_EQ(t->frames, 4);
	STEP("it comes again, and another silent one gives way");
	b.attempt = 1;
	bench_cell(t, 4, &b, 0, rx_bench_data);
	EXPECT_EQ(bench_rx_state(t, 1), FL_RX_CHECK);
	EXPECT_EQ(t->frames, 5);
	EXPECT_EQ(bench_sent(t, 4, WOP_REFUSED).ctx, 1);
}

TEST("a sender that repeats what is there already is not silent")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write, more = rx_bench_write;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		b.ctx = (uint8_t)i;
		bench_cell(t, 4, &b, 0, rx_bench_data);
		rx_bench_judge(t, 0);
	}
	b.ctx = 0;
	for (i = 0; i < 6; i++) {
		b.attempt = (uint8_t)(i + 1);
		bench_cell(t, 4, &b, 0, rx_bench_data);
		more.attempt = (uint8_t)i;
		bench_cell(t, 3, &more, 0, rx_bench_data);
	}
	STEP("another one's context was taken");
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_COLLECT);
	EXPECT_EQ(bench_rx_state(t, 1), FL_RX_CHECK);
	EXPECT_EQ(bench_read(t, NIC_RXC_BASE(1) + NIC_RXC_SRC) & 0xFF, 3);
}

TEST("answers wait for room; a newer one takes the place of an older one")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write;
	unsigned int i;

	t->room = 0;
	t->page[41] = PAGE_ABSENT;
	rx_bench_land(t, &rx_bench_write);
	EXPECT(!engine_idle(t->e));
	bench_ready(t, 1, 0, bench_pop_fault(t, 1, 0), 0);
	for (i = 0; i < 16; i++) {
		b.ctx = (uint8_t)i;
		bench_cell(t, 5, &b, 0, rx_bench_data);
		rx_bench_judge(t, FL_ST_REMOTE_ACCESS);
	}
	EXPECT_EQ(t->frames, 0);
	t->room = 5;
	engine_wire_room(t->e);
	EXPECT_EQ(t->frames, 5);
	bench_sent(t, 0, WOP_READY);
	for (i = 1; i < 5; i++)
		EXPECT_EQ(bench_sent(t, i, WOP_NAK).ctx, i - 1);
	t->room = 100;
	engine_wire_room(t->e);
	EXPECT_EQ(t->frames, 17);
	EXPECT(engine_idle(t->e));
}

TEST("a held write stops the channel; terminated, it is a fault")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write;

	t->page[41] = PAGE_ABSENT;
	t->hold = true;
	rx_bench_land(t, &rx_bench_write);
	EXPECT_EQ(bench_read(t, NIC_ENG_WR_STATUS),
		  NIC_ENG_WR_STATUS_BUSY | NIC_ENG_WR_STATUS_STALLED);
	EXPECT_EQ(bench_read(t, NIC_ENG_WR_VA),
		  bench_va(41, 0) & 0xFFFFFFFF);
	EXPECT_EQ(bench_read(t, NIC_ENG_WR_LEFT), 5000 - 3596);
	EXPECT_EQ(bench_read(t, NIC_ENG_WR_XFER_LEFT), 9000);
	b.ctx = 1;
	b.va = bench_va(80, 0);
	rx_bench_land(t, &b);
	EXPECT_EQ(t->frames, 0);
	engine_burst_resume(t->e, 1, true);
	bench_run(t, 1);
	EXPECT_EQ(t->frames, 2);
	EXPECT_EQ(bench_sent(t, 0, WOP_REFUSED).map, 2);
	bench_sent(t, 1, WOP_ACK);
}

TEST("a held write that is resumed goes on where it was")
{
	struct bench *t = bench_new(NULL);

	t->page[41] = PAGE_ABSENT;
	t->hold = true;
	rx_bench_land(t, &rx_bench_write);
	t->page[41] = PAGE_THERE;
	engine_burst_resume(t->e, 1, false);
	bench_run(t, 1);
	rx_bench_newest(t, WOP_ACK, &rx_bench_write);
	EXPECT_MEM(TARGET(t), rx_bench_data, 5000);
	EXPECT_EQ(t->begun[1], 3);
}

TEST("the head of the fault queue stays until it is popped")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_write;
	unsigned int i;

	t->page[41] = PAGE_ABSENT;
	for (i = 0; i < 5; i++) {
		b.gen++;
		rx_bench_land(t, &b);
	}
	STEP("one context faulted five times: head and newest are kept");
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_COUNT), 2);
	bench_ready(t, 1, 0, bench_pop_fault(t, 1, 0), 0);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_FAULT);
	bench_ready(t, 1, 0, bench_pop_fault(t, 1, 0), 0);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_FREE);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_COUNT), 0);
}

TEST("after a reset what had landed is still known")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_attempt(101, 0);

	rx_bench_land(t, &rx_bench_write);
	b.ctx = 7;
	bench_block(t, 3, &b, rx_bench_data);
	rx_bench_judge(t, 0);
	engine_step(t->e, 1, 0);	/* a burst is open */
	engine_reset(t->e);
	EXPECT_EQ(t->open[1], 0);
	EXPECT(engine_idle(t->e));
	bench_set(t, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	memset(TARGET(t), 0xAA, 5000);
	bench_block(t, 3, &rx_bench_write, rx_bench_data);
	rx_bench_newest(t, WOP_ACK, &rx_bench_write);
	EXPECT_EQ(TARGET(t)[0], 0xAA);
	rx_bench_land(t, &b);
	rx_bench_newest(t, WOP_ACK, &b);
}
