// SPDX-License-Identifier: BSD-2-Clause
/*
 * What comes again, and what comes instead: duplicates, packets of the past, newer
 * attempts and newer blocks of the same context.
 */
#include "engine_rx_bench.h"

TEST("a block that has landed is acknowledged again at its last cell only")
{
	struct bench *t = bench_new(NULL);
	struct wire_block again = rx_bench_attempt(100, 3);

	rx_bench_land(t, &a_write);
	memset(TARGET(t), 0xAA, 5000);
	bench_block(t, 3, &again, data);
	EXPECT_EQ(t->frames, 2);
	rx_bench_newest(t, WOP_ACK, &again);
	EXPECT_EQ(trace_count(t->trace, EV_RX_DUPLICATE), 1);
	bench_block(t, 3, &a_write, data);
	rx_bench_newest(t, WOP_ACK, &a_write);
	STEP("and nothing of it reaches memory");
	bench_run(t, 1);
	EXPECT_EQ(TARGET(t)[0], 0xAA);
	EXPECT_EQ(bench_note(t).kind, 0);
}

TEST("older attempts and generations are stale, modulo their width")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_attempt(3, 1),
		old = rx_bench_attempt(3, 0);

	bench_cell(t, 3, &b, 0, data);
	bench_cell(t, 3, &old, 0, data);
	EXPECT_EQ(bench_stats(t).stale, 1);
	old = rx_bench_attempt(0xFFFE, 5);
	bench_cell(t, 3, &old, 0, data);
	EXPECT_EQ(bench_stats(t).stale, 2);
	old = rx_bench_attempt(3, 200);	/* 57 before 1 */
	bench_cell(t, 3, &old, 0, data);
	EXPECT_EQ(bench_stats(t).stale, 3);
	EXPECT_EQ(trace_count(t->trace, EV_RX_STALE), 3);
	STEP("attempt 100 is newer than 1, generation 0x8000 newer than 3");
	b = rx_bench_attempt(3, 100);
	bench_cell(t, 3, &b, 0, data);
	b = rx_bench_attempt(0x8000, 0);
	bench_cell(t, 3, &b, 0, data);
	EXPECT_EQ(bench_stats(t).stale, 3);
	b = rx_bench_attempt(0x8001, 0);
	STEP("the same names of another node are another block");
	bench_cell(t, 4, &old, 0, data);
	EXPECT_EQ(bench_stats(t).stale, 3);
}

TEST("a newer attempt starts afresh while the older one is judged")
{
	struct bench *t = bench_new(NULL);
	struct wire_block again = rx_bench_attempt(100, 1);
	struct bench_note old;

	bench_cell(t, 3, &a_write, 0, data + 1);
	bench_cell(t, 3, &a_write, 1024, data + 1);
	old = bench_note(t);
	bench_cell(t, 3, &again, 0, data);
	STEP("the verdict on the older one is void");
	rx_bench_verdict(t, old.index, old.serial, FL_ST_REMOTE_ACCESS);
	EXPECT_EQ(t->frames, 0);
	rx_bench_judge(t, 0);
	bench_cell(t, 3, &again, 4096, data);
	bench_cell(t, 3, &again, 2048, data);
	bench_cell(t, 3, &again, 3072, data);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_COLLECT);
	bench_cell(t, 3, &again, 1024, data);
	bench_run(t, 1);
	rx_bench_newest(t, WOP_ACK, &again);
	EXPECT_MEM(TARGET(t), data, 5000);
}

/*
 * Of 64 cells almost every attempt loses one when 3 % of the packets are lost. Who
 * began anew each time would never have them all.
 */
TEST("each attempt fills holes of the ones before")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = a_write;
	unsigned int cell;

	bench_cell(t, 3, &b, 0, data);
	rx_bench_judge(t, 0);
	for (cell = 1; cell < 5; cell++) {
		EXPECT_EQ(bench_rx_state(t, 0), FL_RX_COLLECT);
		b = rx_bench_attempt(100, (uint8_t)cell);
		bench_cell(t, 3, &b, cell * 1024, data);
		bench_cell(t, 3, &b, 0, data + 8);	/* there already */
	}
	STEP("no new verdict was asked for, and the newest attempt has the answer");
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_WRITE);
	EXPECT_EQ(bench_note(t).kind, 0);
	bench_run(t, 1);
	EXPECT_EQ(t->frames, 1);
	rx_bench_newest(t, WOP_ACK, &b);
	EXPECT_MEM(TARGET(t), data, 5000);
}

TEST("a cell of an older attempt fills no hole, nor does another story")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_attempt(100, 1),
		odd = rx_bench_attempt(100, 2);

	bench_cell(t, 3, &a_write, 0, data);
	rx_bench_judge(t, 0);
	bench_cell(t, 3, &b, 1024, data);
	bench_cell(t, 3, &a_write, 2048, data + 1);
	EXPECT_EQ(bench_stats(t).stale, 1);
	odd.va += 8;
	bench_cell(t, 3, &odd, 2048, data + 1);
	EXPECT_EQ(bench_stats(t).bad_packets, 1);
	bench_cell(t, 3, &b, 2048, data);
	bench_cell(t, 3, &b, 3072, data);
	bench_cell(t, 3, &b, 4096, data);
	bench_run(t, 1);
	rx_bench_newest(t, WOP_ACK, &b);
	EXPECT_MEM(TARGET(t), data, 5000);
}

TEST("a newer attempt of a block that is being written gets its answer")
{
	struct bench *t = bench_new(NULL);
	struct wire_block again = rx_bench_attempt(100, 1), odd;

	bench_block(t, 3, &a_write, data);
	rx_bench_judge(t, 0);
	engine_step(t->e, 1, 0);
	bench_cell(t, 3, &again, 0, data);
	odd = rx_bench_attempt(100, 2);
	odd.va += 8;
	bench_cell(t, 3, &odd, 0, data);
	EXPECT_EQ(bench_stats(t).bad_packets, 1);
	bench_run(t, 1);
	EXPECT_EQ(t->frames, 1);
	rx_bench_newest(t, WOP_ACK, &again);
	expect_landed(t, 0, 1);
	EXPECT_EQ(bench_note(t).kind, 0);
}

TEST("a newer attempt of a faulted block is refused once, without new fault")
{
	struct bench *t = bench_new(NULL);
	struct wire_block again = rx_bench_attempt(100, 1);
	unsigned int rxc;

	t->page[41] = PAGE_ABSENT;
	rxc = rx_bench_land(t, &a_write);
	bench_block(t, 3, &again, data);
	EXPECT_EQ(t->frames, 2);
	EXPECT_EQ(rx_bench_newest(t, WOP_REFUSED, &again).map, 2);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_COUNT), 1);
	bench_block(t, 3, &a_write, data);
	EXPECT_EQ(t->frames, 2);
	bench_ready(t, 1, rxc, bench_pop_fault(t, 1, rxc), 0);
	rx_bench_newest(t, WOP_READY, &again);
}

TEST("a newer generation ends an older block, in each state")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_attempt(101, 0);
	unsigned int rxc;

	bench_cell(t, 3, &a_write, 0, data);
	bench_cell(t, 3, &b, 0, data);	/* CHECK */
	rx_bench_judge(t, 0);
	b.gen++;
	bench_cell(t, 3, &b, 0, data);	/* COLLECT */
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_CHECK);
	t->page[41] = PAGE_ABSENT;
	rxc = rx_bench_land(t, &b);
	b.gen++;
	bench_cell(t, 3, &b, 0, data);	/* FAULT */
	EXPECT_EQ(bench_rx_state(t, rxc), FL_RX_CHECK);
	STEP("READY for the fault that is over changes nothing");
	bench_ready(t, 1, rxc, bench_pop_fault(t, 1, rxc), 0);
	EXPECT_EQ(bench_rx_state(t, rxc), FL_RX_CHECK);
	EXPECT_EQ(t->frames, 1);
}

TEST("a newer generation waits behind an older block that is being written")
{
	struct bench *t = bench_new(NULL);
	struct wire_block b = rx_bench_attempt(101, 0);

	bench_block(t, 3, &a_write, data + 1000);
	rx_bench_judge(t, 0);
	engine_step(t->e, 1, 0);
	bench_block(t, 3, &b, data);
	rx_bench_judge(t, 0);
	bench_run(t, 1);
	EXPECT_MEM(TARGET(t), data, 5000);
	EXPECT_EQ(t->frames, 2);
	rx_bench_newest(t, WOP_ACK, &b);
	STEP("the older one is stale, not a landed duplicate");
	bench_cell(t, 3, &a_write, 4096, data);
	EXPECT_EQ(bench_stats(t).stale, 1);
	STEP("and the firmware hears of both");
	expect_landed(t, 0, 1);
	expect_landed(t, 1, 1);
	EXPECT(engine_idle(t->e));
}
