// SPDX-License-Identifier: BSD-2-Clause
/* A verdict that is taken back: the block goes, and nothing more is written. */
#include "rig/engine_rx.h"

TEST("a block that lacks cells goes when the firmware gives it up")
{
	struct bench *t = bench_new(NULL);
	struct bench_note n;

	bench_cell(t, 3, &rx_bench_write, 0, rx_bench_data);
	n = bench_note(t);
	rx_bench_verdict(t, n.index, n.serial, 0);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_COLLECT);
	STEP("another serial changes nothing");
	rx_bench_verdict(t, n.index, (n.serial + 1) % 256, FL_ST_NO_ANSWER);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_COLLECT);
	STEP("the right one frees the context, and nothing is sent");
	rx_bench_verdict(t, n.index, n.serial, FL_ST_NO_ANSWER);
	EXPECT_EQ(bench_rx_state(t, 0), FL_RX_FREE);
	EXPECT_EQ(t->frames, 0);
	EXPECT(engine_idle(t->e));
}

TEST("when a verdict is taken back not a byte more is written")
{
	struct bench *t = bench_new(NULL);
	struct wire_block again = rx_bench_attempt(100, 1);
	struct bench_note n;
	unsigned int burst;

	for (burst = 0; burst < 4; burst++) {
		STEP("after %u steps of the write channel", burst);
		memset(TARGET(t), 0, 5000);
		again.gen++;
		bench_block(t, 3, &again, rx_bench_data);
		n = bench_note(t);
		rx_bench_verdict(t, n.index, n.serial, 0);
		if (burst > 0)
			engine_step(t->e, 1, 0);	/* first burst open */
		if (burst > 1)
			engine_step(t->e, 1, 0);	/* first one written */
		if (burst > 2)
			engine_step(t->e, 1, 0);	/* second one open */
		rx_bench_verdict(t, n.index, n.serial, FL_ST_KILLED);
		EXPECT_EQ(t->open[1], 0);
		memset(TARGET(t), 0xEE, 5000);
		bench_run(t, 1);
		EXPECT_EQ(TARGET(t)[0], 0xEE);
		EXPECT_EQ(TARGET(t)[4999], 0xEE);
		EXPECT_EQ(bench_rx_state(t, n.index), FL_RX_FREE);
		EXPECT_EQ(t->frames, 0);
		EXPECT(engine_idle(t->e));
		EXPECT(!engine_check(t->e));
	}
	STEP("the next attempt is judged anew");
	again.attempt++;
	rx_bench_land(t, &again);
	rx_bench_newest(t, WOP_ACK, &again);
}
