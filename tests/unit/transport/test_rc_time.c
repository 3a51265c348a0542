// SPDX-License-Identifier: BSD-2-Clause
/* Timers of a reliable connection: acknowledgements that do not come, RNR waits. */
#include "rig/rc.h"

static struct rig g;

TEST("InfiniBand 9.7.6: one retry round at a time, unless time is over")
{
	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 600);
	g.io.out_next = g.io.outs;
	rig_in_ack(&g, 0x100, RC_SYN_NAK_SEQUENCE);
	g.io.out_next = g.io.outs;
	rig_in_ack(&g, 0x100, RC_SYN_NAK_SEQUENCE);
	rig_silent(&g);
	rig_ring(&g);
	rig_out_is(&g, WOP_RC_WRITE_FIRST, 0x100);
	STEP("progress ends the round");
	rig_in_ack(&g, 0x100, RC_SYN_ACK);
	g.io.out_next = g.io.outs;
	rig_in_ack(&g, 0x101, RC_SYN_NAK_SEQUENCE);
	rig_out_is(&g, WOP_RC_WRITE_MIDDLE, 0x101);
}

TEST("InfiniBand 9.7.6.1.3, 9.9.2: 4.096 us * 2^n, so many tries, then it is over")
{
	struct fw_pair p = rig_pair();
	uint64_t from;
	unsigned int i;

	rig_start_filled(&g);
	p.retries = 3;
	p.timeout = 8;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_in_ack(&g, 0, RC_SYN_ACK);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 1);
	rig_in_ack(&g, 0x100, RC_SYN_ACK);	/* progress: 3 from now on */
	rig_work_post(&g, 1, FL_OP_WRITE, 0, 1);
	rig_work_post(&g, 2, FL_OP_WRITE, 0, 1);
	for (i = 0; i < 3; i++) {
		from = g.io.sent_ns;
		g.io.out_next = g.io.outs;
		EXPECT_GE(g.io.alarm, from + 4096 * 256 - 100);
		EXPECT_LE(g.io.alarm, from + 4096 * 256 + 100);
		rig_ring(&g);
		rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x101);
		rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x102);
	}
	rig_ring(&g);
	EXPECT_EQ(g.io.dones, 2);
	rig_is_done(&g, 1, 1, FL_ST_NO_ANSWER);
	EXPECT_EQ(g.io.done[1].resends, 3);
	EXPECT_EQ(g.io.events[EV_RC_TIMEOUT], 4);
}

TEST("InfiniBand 9.7.6.1.3: a time-out of 0 never comes; a card's floor holds")
{
	struct fw_pair p = rig_pair();

	rig_start_filled(&g);
	p.timeout = 0;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 1);
	EXPECT_EQ(g.io.alarm, UINT64_MAX);
}

TEST("InfiniBand 9.7.5.2.8: an RNR NAK stops all, until its time is over, and no longer "
     "than that")
{
	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_work_post(&g, 1, FL_OP_WRITE, 0, 10);
	g.io.out_next = g.io.outs;
	rig_in_ack(&g, 0x100, RC_SYN_RNR | 12);
	EXPECT_EQ(g.io.alarm, g.io.now - 10 + 640000);
	rig_work_post(&g, 2, FL_OP_WRITE, 0, 10);
	STEP("others of the same round change nothing");
	rig_in_ack(&g, 0x100, RC_SYN_RNR | 20);
	rig_in_ack(&g, 0x100, RC_SYN_NAK_SEQUENCE);
	rig_silent(&g);
	rig_ring(&g);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x100);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x101);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x102);
	EXPECT_EQ(g.io.events[EV_RC_WAIT], 1);
}

TEST("a peer that says \"not ready\" is there: what later answers imply between two such NAKs "
     "does not use up the tries")
{
	unsigned int i;

	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_READ, 0, 10);
	rig_work_post(&g, 1, FL_OP_WRITE, 1, 10);
	for (i = 0; i < 50; i++) {
		rig_in_ack(&g, 0x101, RC_SYN_ACK);	/* the READ's answer was lost */
		rig_in_ack(&g, 0x100, RC_SYN_RNR | 1);
		rig_ring(&g);
	}
	EXPECT_EQ(g.io.dones, 0);
	STEP("without one they do");
	for (i = 0; i < 7; i++) {
		rig_in_ack(&g, 0x101, RC_SYN_ACK);
		EXPECT_EQ(g.io.dones, 0);
		rig_ring(&g);
	}
	rig_in_ack(&g, 0x101, RC_SYN_ACK);
	rig_is_done(&g, 0, 0, FL_ST_NO_ANSWER);
}

TEST("[RNRFIX] the acknowledgement timer does not cut an RNR wait short; with the quirk it does")
{
	struct rc_config cut = rig_config;
	struct fw_pair p = rig_pair();
	uint64_t begin;

	rig_start_filled(&g);
	p.timeout = 8;		/* 1.05 ms */
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	g.io.out_next = g.io.outs;
	begin = g.io.now;
	rig_in_ack(&g, 0x100, RC_SYN_RNR | 20);	/* 10.24 ms */
	rig_ring(&g);
	EXPECT_GE(g.io.now, begin + 10240000);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x100);
	EXPECT_EQ(g.io.events[EV_RC_TIMEOUT], 0);

	cut.quirks = RC_QUIRK_CUT;
	rig_open(&g, 0, &cut);
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	g.io.out_next = g.io.outs;
	begin = g.io.now;
	rig_in_ack(&g, 0x100, RC_SYN_RNR | 20);
	rig_ring(&g);
	EXPECT_LE(g.io.now, begin + 2000000);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x100);
	EXPECT_EQ(g.io.events[EV_RC_TIMEOUT], 1);
}

TEST("InfiniBand 9.9.2: tries of an RNR wait run out, are there again after progress, "
     "and 7 is no limit")
{
	struct fw_pair p = rig_pair();
	unsigned int i;

	rig_start_filled(&g);
	p.rnr_tries = 2;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 1);
	rig_in_ack(&g, 0x100, RC_SYN_ACK);
	rig_work_post(&g, 1, FL_OP_WRITE, 0, 300);
	rig_in_ack(&g, 0x101, RC_SYN_RNR | 1);
	rig_ring(&g);
	rig_in_ack(&g, 0x101, RC_SYN_RNR | 1);
	rig_ring(&g);
	rig_in_ack(&g, 0x102, RC_SYN_RNR | 1);	/* the first packet has landed */
	rig_ring(&g);
	rig_in_ack(&g, 0x102, RC_SYN_RNR | 1);
	rig_ring(&g);
	EXPECT_EQ(g.io.dones, 1);
	rig_in_ack(&g, 0x102, RC_SYN_RNR | 1);
	rig_is_done(&g, 1, 1, FL_ST_RNR_TRIES);

	rig_open(&g, 0, &rig_config);
	p.rnr_tries = 7;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 1);
	for (i = 0; i < 50; i++) {
		rig_in_ack(&g, 0x100, RC_SYN_RNR | 1);
		rig_ring(&g);
	}
	EXPECT_EQ(g.io.dones, 0);
	rig_in_ack(&g, 0x100, RC_SYN_ACK);
	rig_is_done(&g, 0, 0, FL_ST_OK);
}

TEST("InfiniBand 9.7.5.2.8, table 45: the 32 waits")
{
	static const unsigned int us10[32] = {
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
		512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576,
		32768, 49152,
	};
	unsigned int i;

	for (i = 0; i < 32; i++)
		EXPECT_EQ(rc_rnr_ns(i), us10[i] * 10000ull);
}

static uint64_t wait_with(uint64_t floor, uint64_t tick, unsigned int quirks, uint8_t code)
{
	struct rc_config c = rig_config;
	struct fw_pair p = rig_pair();
	uint64_t begin;

	c.rnr_floor_ns = floor;
	c.rnr_tick_ns = tick;
	c.quirks = quirks;
	rig_open(&g, 0, &c);
	test_cleanup(rig_close, &g);
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 1);
	begin = g.io.now;
	rig_in_ack(&g, 0x100, RC_SYN_RNR | code);
	return g.io.alarm - begin;
}

TEST("an RNR wait has a card's floor, tick and mistake")
{
	EXPECT_EQ(wait_with(0, 0, 0, 25), 61440000);
	EXPECT_EQ(wait_with(0, 0, RC_QUIRK_CODE25, 25), 61410000);
	EXPECT_EQ(wait_with(1500000, 0, 0, 7), 1500000);
	EXPECT_EQ(wait_with(0, 4000000, 0, 1), 4000000);
	EXPECT_EQ(wait_with(0, 4000000, 0, 18), 8000000);
}

TEST("quirk damming: behind an RNR wait only what was refused goes again, the rest after a "
     "time-out")
{
	struct rc_config c = rig_config;
	struct fw_pair p = rig_pair();
	uint64_t begin;

	c.quirks = RC_QUIRK_DAMMING;
	rig_open(&g, 0, &c);
	test_cleanup(rig_close, &g);
	p.timeout = 17;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_in_ack(&g, 0x100, RC_SYN_RNR | 12);
	g.io.out_next = g.io.outs;
	rig_work_post(&g, 1, FL_OP_WRITE, 0, 10);
	rig_ring(&g);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x100);
	rig_silent(&g);
	rig_in_ack(&g, 0x100, RC_SYN_ACK);
	rig_silent(&g);
	begin = g.io.now;
	rig_ring(&g);
	EXPECT_GE(g.io.now - begin, 536000000);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x101);
	rig_in_ack(&g, 0x101, RC_SYN_ACK);
	EXPECT_EQ(g.io.dones, 2);
	/* Nothing was behind it: what is posted later finds no dam. */
	rig_work_post(&g, 2, FL_OP_WRITE, 0, 10);
	rig_in_ack(&g, 0x102, RC_SYN_RNR | 12);
	g.io.out_next = g.io.outs;
	rig_ring(&g);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x102);
	rig_in_ack(&g, 0x102, RC_SYN_ACK);
	begin = g.io.now;
	rig_work_post(&g, 3, FL_OP_WRITE, 0, 10);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x103);
	EXPECT_LE(g.io.now - begin, 1000);
}

