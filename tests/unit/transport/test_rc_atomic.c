// SPDX-License-Identifier: BSD-2-Clause
/* Atomics over a reliable connection, both sides. */
#include "rig/rc.h"

static struct rig g;

static void unit_start(void)
{
	rig_start(&g);
}

static uint64_t word_at(uint32_t at)
{
	uint64_t v;

	memcpy(&v, g.io.mem + at, 8);
	return v;
}

static void add_in(uint32_t psn, uint32_t at, uint64_t add)
{
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_FETCH_ADD, .psn = psn,
				       .va = RIG_BASE + at, .rkey = 0x100, .swap = add }, 0, 0);
}

static void swap_in(uint32_t psn, uint32_t at, uint64_t compare, uint64_t swap)
{
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_CMP_SWAP, .psn = psn,
				       .va = RIG_BASE + at, .rkey = 0x100,
				       .compare = compare, .swap = swap }, 0, 0);
}

static void answer_is(uint32_t psn, uint64_t original)
{
	struct rc_packet p = rig_out(&g);

	EXPECT_STR(wire_opcode_name(p.opcode), "RC_ATOMIC_ACKNOWLEDGE");
	EXPECT_EQ(p.psn, psn);
	EXPECT_EQ(p.syndrome, RC_SYN_ACK);
	EXPECT_EQ(p.original, original);
}

TEST("InfiniBand 9.4.5: FETCH_ADD and CMP_SWAP answer with what was there before")
{
	unit_start();
	add_in(20, 64, 5);
	answer_is(20, 0);
	add_in(21, 64, UINT64_MAX);
	answer_is(21, 5);
	EXPECT_EQ(word_at(64), 4);
	swap_in(22, 64, 3, 100);
	answer_is(22, 4);
	EXPECT_EQ(word_at(64), 4);
	swap_in(23, 64, 4, 0x1122334455667788);
	answer_is(23, 4);
	EXPECT_EQ(word_at(64), 0x1122334455667788);
	EXPECT_EQ(g.io.out[3].bytes[15], 4);	/* MSN */
}

TEST("InfiniBand 9.7.4.1, rule 3: a duplicate atomic gets the result that was kept, and "
     "is not executed")
{
	unsigned int i;

	unit_start();
	add_in(20, 64, 5);
	add_in(21, 64, 7);
	g.io.out_next = g.io.outs;
	for (i = 0; i < 3; i++) {
		add_in(20, 64, 5);
		answer_is(20, 0);
		add_in(21, 64, 7);
		answer_is(21, 5);
	}
	EXPECT_EQ(word_at(64), 12);
	EXPECT_EQ(g.atomics, 2);
	STEP("one that asks for something else is dropped");
	swap_in(20, 64, 0, 9);
	add_in(20, 72, 5);
	rig_silent(&g);
	EXPECT_EQ(g.atomics, 2);
}

TEST("InfiniBand 9.7.4.1, rule 4: so many results are kept as the pair has places; older "
     "ones are dropped")
{
	unsigned int i;

	unit_start();
	for (i = 0; i < 5; i++)
		add_in(20 + i, 64, 1);
	g.io.out_next = g.io.outs;
	add_in(20, 64, 1);
	rig_silent(&g);
	for (i = 1; i < 5; i++) {
		add_in(20 + i, 64, 1);
		answer_is(20 + i, i);
	}
	STEP("READs take places, too");
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_READ_REQUEST, .psn = 25,
				       .va = RIG_BASE, .rkey = 0x100, .length = 1 }, 0, 0);
	g.io.out_next = g.io.outs;
	add_in(21, 64, 1);
	rig_silent(&g);
	add_in(22, 64, 1);
	answer_is(22, 2);
	EXPECT_EQ(word_at(64), 5);
}

TEST("a page that is missing: RNR NAK before the atomic is executed, and then it is, once")
{
	unit_start();
	g.io.present[0] = false;
	add_in(20, 64, 5);
	rig_out_ack(&g, 20, RC_SYN_RNR | 12);
	EXPECT_EQ(g.miss.opcode, FL_OP_FETCH_ADD);
	EXPECT_EQ(g.miss.len, 8);
	EXPECT_EQ(g.atomics, 0);
	g.io.present[0] = true;
	add_in(20, 64, 5);
	answer_is(20, 0);
	EXPECT_EQ(word_at(64), 5);
}

TEST("InfiniBand 9.7.5.2: no right, no place, an address that is not aligned")
{
	unit_start();
	g.io.key[0].rights = FL_ACC_REMOTE_WRITE | FL_ACC_REMOTE_READ;
	add_in(20, 64, 5);
	rig_out_ack(&g, 20, RC_SYN_NAK_ACCESS);
	unit_start();
	g.io.key[0].bytes = 71;
	add_in(20, 64, 5);
	rig_out_ack(&g, 20, RC_SYN_NAK_ACCESS);
	unit_start();
	add_in(20, 65, 5);
	rig_out_ack(&g, 20, RC_SYN_NAK_INVALID);
	EXPECT_EQ(g.atomics, 0);
}

TEST("the result of one's own atomic lands in memory as a number of this machine")
{
	struct fw_work w = rig_work(FL_OP_CMP_SWAP, 0, 8);
	struct rc_packet p;

	unit_start();
	w.compare = 3;
	w.swap = 4;
	rig_post(&g, 7, &w);
	p = rig_out(&g);
	EXPECT_EQ(p.opcode, WOP_RC_CMP_SWAP);
	EXPECT_EQ(p.psn, 0x100);
	EXPECT_EQ(p.compare, 3);
	EXPECT_EQ(p.swap, 4);
	EXPECT_EQ(p.va, RIG_BASE);
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_ATOMIC_ACKNOWLEDGE, .psn = 0x100,
				       .syndrome = RC_SYN_ACK,
				       .original = 0x0102030405060708 }, 0, 0);
	EXPECT_EQ(g.io.done[0].wr, 7);
	EXPECT_EQ(g.io.done[0].status, FL_ST_OK);
	EXPECT_EQ(word_at(0), 0x0102030405060708);
}

TEST("a result whose page is missing is dropped, and asked for again: the peer has kept it")
{
	struct fw_work w = rig_work(FL_OP_FETCH_ADD, 0, 8);
	struct rc_packet a = {
		.opcode = WOP_RC_ATOMIC_ACKNOWLEDGE, .psn = 0x100, .syndrome = RC_SYN_ACK,
		.original = 42,
	};

	unit_start();
	g.io.present[0] = false;
	g.verdict.verdict = RC_REWIND;
	rig_post(&g, 0, &w);
	g.io.out_next = g.io.outs;
	rig_in(&g, a, 0, 0);
	EXPECT_EQ(g.io.dones, 0);
	g.io.present[0] = true;
	rig_resume(&g, RC_REQUESTER, true, FL_ST_OK);
	rig_out_is(&g, WOP_RC_FETCH_ADD, 0x100);
	rig_in(&g, a, 0, 0);
	EXPECT_EQ(g.io.done[0].status, FL_ST_OK);
	EXPECT_EQ(word_at(0), 42);
}

TEST("close() while an atomic is under way: it is executed before close() returns, or never")
{
	struct wire_frame f = { .from = 1 };
	struct rc_packet p = {
		.opcode = WOP_RC_FETCH_ADD, .psn = 20, .va = RIG_BASE + 64, .rkey = 0x100,
		.swap = 5, .dest_qp = RIG_QPN,
	};
	uint64_t then;

	unit_start();
	g.io.burst_ns = 1000;
	rc_put(&f, &p, false);
	rc_receive(g.rc, &f, 0);
	rc_step(g.rc, 1, 0);
	EXPECT(g.io.open[1]);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	EXPECT(!g.io.open[1]);
	then = word_at(64);
	rig_run(&g);
	EXPECT_EQ(word_at(64), then);
	rig_silent(&g);
}
