// SPDX-License-Identifier: BSD-2-Clause
/* Responder of a reliable connection: SEND and WRITE in the order of PSNs. */
#include "rig/rc.h"

static struct rig g;

TEST("InfiniBand 9.7.4.1, rule 1: the PSN that is due is carried out and acknowledged")
{
	rig_start(&g);
	rig_write_in(&g, WOP_RC_WRITE_FIRST, 20, 600, 256, 1);
	rig_out_ack(&g, 20, RC_SYN_ACK);
	rig_write_in(&g, WOP_RC_WRITE_MIDDLE, 21, 0, 256, 2);
	rig_out_ack(&g, 21, RC_SYN_ACK);
	rig_write_in(&g, WOP_RC_WRITE_LAST, 22, 0, 88, 3);
	EXPECT_EQ(g.io.out[2].bytes[12], RC_SYN_ACK);
	EXPECT_EQ(rig_out(&g).msn, 1);
	rig_memory_is(&g, 0, 256, 1);
	rig_memory_is(&g, 256, 256, 2);
	rig_memory_is(&g, 512, 88, 3);
	rig_memory_is(&g, 600, 1000, 0);
	EXPECT(rc_idle(g.rc));
}

TEST("the firmware hears once of a peer that is there, of a pair that does not send yet")
{
	struct fw_pair p = rig_pair();
	unsigned int sends;

	for (sends = 0; sends < 2; sends++) {
		rig_open(&g, 0, &rig_config);
		test_cleanup(rig_close, &g);
		p.rq_psn = 20;
		p.sends = sends;
		g.io.t.open(g.io.t.ctx, RIG_QP, &p);
		rig_write_only(&g, 21, 1);	/* not the one that is due */
		EXPECT_EQ(g.heard, 0);
		rig_write_only(&g, 20, 1);
		EXPECT_EQ(g.heard, !sends);
		rig_write_only(&g, 21, 1);
		EXPECT_EQ(g.heard, !sends);
	}
}

TEST("InfiniBand 9.7.1: what is due wraps at 2^24, and so does what is behind it")
{
	struct fw_pair p = rig_pair();

	rig_open(&g, 0, &rig_config);
	test_cleanup(rig_close, &g);
	p.rq_psn = 0xFFFFFF;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_write_only(&g, 0xFFFFFF, 1);
	rig_write_only(&g, 0, 2);
	rig_out_ack(&g, 0xFFFFFF, RC_SYN_ACK);
	rig_out_ack(&g, 0, RC_SYN_ACK);
	rig_write_only(&g, 0xFFFFFF, 9);
	rig_out_ack(&g, 0, RC_SYN_ACK);
	rig_memory_is(&g, 0, 10, 2);
}

TEST("InfiniBand 9.7.5.2, rule 2: a PSN ahead is dropped, NAKed once, then there is silence")
{
	rig_start(&g);
	rig_write_only(&g, 22, 1);
	rig_out_ack(&g, 20, RC_SYN_NAK_SEQUENCE);
	rig_write_only(&g, 23, 1);
	rig_write_only(&g, 22, 1);
	rig_silent(&g);
	rig_memory_is(&g, 0, 10, 0);
	STEP("duplicates are answered meanwhile");
	rig_write_only(&g, 19, 1);
	rig_out_ack(&g, 19, RC_SYN_ACK);
	rig_write_only(&g, 20, 2);
	rig_out_ack(&g, 20, RC_SYN_ACK);
	STEP("once it has come, the next gap is NAKed again");
	rig_write_only(&g, 23, 1);
	rig_out_ack(&g, 21, RC_SYN_NAK_SEQUENCE);
	rig_memory_is(&g, 0, 10, 2);
}

TEST("InfiniBand 9.7.4.1, rule 3: a duplicate WRITE or SEND is acknowledged again, and "
     "not carried out")
{
	rig_start(&g);
	rig_write_only(&g, 20, 1);
	rig_write_only(&g, 21, 2);
	g.io.out_next = g.io.outs;
	rig_write_only(&g, 20, 9);
	rig_out_ack(&g, 21, RC_SYN_ACK);
	rig_memory_is(&g, 0, 10, 2);
	rig_recv(&g, 2, 100);
	rig_recv(&g, 3, 100);
	rig_send_in(&g, WOP_RC_SEND_ONLY, 22, 10, 5);
	rig_send_in(&g, WOP_RC_SEND_ONLY, 22, 10, 6);
	EXPECT_EQ(g.arrivals, 1);
	EXPECT_EQ(g.recv_next, 1);
	rig_memory_is(&g, 2 * 4096, 10, 5);
	EXPECT_EQ(g.io.events[EV_RC_DUPLICATE], 2);
}

TEST("InfiniBand 9.7.5.2.8, rule 5: without a receive a SEND is RNR NAKed with its PSN, and "
     "all behind it dropped")
{
	rig_start(&g);
	rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 10, 5);
	rig_out_ack(&g, 20, RC_SYN_RNR | 12);
	STEP("what was on the way behind it is not NAKed, and does not land");
	rig_write_only(&g, 21, 1);
	rig_write_only(&g, 22, 1);
	rig_silent(&g);
	rig_memory_is(&g, 0, 10, 0);
	rig_recv(&g, 2, 100);
	rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 10, 5);
	rig_out_ack(&g, 20, RC_SYN_ACK);
	EXPECT_EQ(g.arrivals, 1);
	rig_write_only(&g, 21, 1);
	rig_out_ack(&g, 21, RC_SYN_ACK);
	STEP("a WRITE with immediate data needs one, too, and does not land without it");
	rig_write_in(&g, WOP_RC_WRITE_ONLY_IMM, 22, 10, 10, 7);
	rig_out_ack(&g, 22, RC_SYN_RNR | 12);
	rig_memory_is(&g, 0, 10, 1);
	rig_recv(&g, 3, 100);
	rig_write_in(&g, WOP_RC_WRITE_ONLY_IMM, 22, 10, 10, 7);
	rig_out_ack(&g, 22, RC_SYN_ACK);
	rig_memory_is(&g, 0, 10, 7);
	rig_memory_is(&g, 3 * 4096, 100, 0);
	EXPECT_EQ(g.arrivals, 2);
	EXPECT_EQ(g.arrived[1].arrival.opcode, FL_OP_RECV_WRITE_IMM);
	EXPECT_EQ(g.arrived[1].arrival.imm, 0x11223344);
	EXPECT_EQ(g.arrived[1].arrival.length, 10);
	EXPECT_EQ(g.arrived[1].recv.index, 1);
}

TEST("InfiniBand 9.4.1, 9.7.3: SENDs of one and of several packets, with immediate data and "
     "of no bytes")
{
	struct fw_arrival *a;

	rig_start(&g);
	rig_recv(&g, 2, 700);
	rig_recv(&g, 3, 700);
	rig_recv(&g, 4, 0);
	rig_send_in(&g, WOP_RC_SEND_FIRST, 20, 256, 1);
	rig_send_in(&g, WOP_RC_SEND_MIDDLE, 21, 256, 2);
	EXPECT_EQ(g.arrivals, 0);
	rig_send_in(&g, WOP_RC_SEND_LAST, 22, 3, 3);
	a = &g.arrived[0].arrival;
	EXPECT_EQ(g.arrivals, 1);
	EXPECT_EQ(a->length, 515);
	EXPECT_EQ(a->status, FL_ST_OK);
	EXPECT_EQ(a->opcode, FL_OP_RECV);
	EXPECT(a->solicited);
	rig_memory_is(&g, 2 * 4096, 256, 1);
	rig_memory_is(&g, 2 * 4096 + 256, 256, 2);
	rig_memory_is(&g, 2 * 4096 + 512, 3, 3);
	rig_memory_is(&g, 2 * 4096 + 515, 100, 0);
	rig_send_in(&g, WOP_RC_SEND_ONLY_IMM, 23, 9, 4);
	EXPECT_EQ(g.arrived[1].arrival.opcode, FL_OP_RECV_IMM);
	EXPECT_EQ(g.arrived[1].arrival.imm, 0x55667788);
	rig_send_in(&g, WOP_RC_SEND_ONLY, 24, 0, 0);
	EXPECT_EQ(g.arrivals, 3);
	EXPECT_EQ(g.arrived[2].arrival.length, 0);
	EXPECT_EQ(g.io.outs, 5);
	EXPECT_EQ(g.io.out[4].bytes[15], 3);	/* MSN */
}

TEST("a receive is scattered over its segments")
{
	struct fw_recv r = {
		.length = 120, .segments = 3,
		.segment = { { RIG_BASE + 4096 - 10, 20, 0x102 },
			     { RIG_BASE + 20000, 50, 0x103 },
			     { RIG_BASE + 30000, 50, 0x101 } },
	};

	rig_start(&g);
	g.recv[0] = r;
	g.recvs = 1;
	rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 110, 8);
	EXPECT_EQ(g.io.bursts, 4);
	rig_memory_is(&g, 4096 - 10, 20, 8);
	rig_memory_is(&g, 20000, 50, 8);
	rig_memory_is(&g, 30000, 40, 8);
	rig_memory_is(&g, 30040, 10, 0);
}

TEST("InfiniBand 9.7.5.2, rule 6: a key, a range, a right that is not there is NAKed, and "
     "ends the pair")
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		rig_start(&g);
		if (i == 0)
			g.io.key[0].alive = false;
		else if (i == 1)
			g.io.key[0].bytes = 599;
		else
			g.io.key[0].rights = FL_ACC_REMOTE_READ | FL_ACC_LOCAL_WRITE;
		rig_write_in(&g, WOP_RC_WRITE_FIRST, 20, 600, 256, 1);
		rig_out_ack(&g, 20, RC_SYN_NAK_ACCESS);
		rig_memory_is(&g, 0, 600, 0);
		EXPECT_EQ(g.io.error, FL_ST_REMOTE_ACCESS);
		rig_write_only(&g, 20, 1);
		rig_silent(&g);
		rig_memory_is(&g, 0, 600, 0);
	}
}

TEST("InfiniBand 9.7.4.1.2: what the pair does not serve is an invalid request, whatever its key")
{
	static const struct { uint8_t opcode, right; } op[] = {
		{ WOP_RC_WRITE_ONLY, FL_ACC_REMOTE_WRITE },
		{ WOP_RC_READ_REQUEST, FL_ACC_REMOTE_READ },
		{ WOP_RC_FETCH_ADD, FL_ACC_REMOTE_ATOMIC },
		{ WOP_RC_CMP_SWAP, FL_ACC_REMOTE_ATOMIC },
	};
	struct rc_packet p = {
		.psn = 20, .va = RIG_BASE, .rkey = 0x100, .length = 8, .ackreq = true,
	};
	struct fw_pair pair = rig_pair();
	unsigned int i;

	for (i = 0; i < 4; i++) {
		STEP("denied: opcode %u", op[i].opcode);
		rig_start(&g);
		pair.denied = op[i].right;
		EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &pair), FL_ST_OK);
		p.opcode = op[i].opcode;
		rig_in(&g, p, i ? 0 : 8, 1);
		rig_out_ack(&g, 20, RC_SYN_NAK_INVALID);
		rig_memory_is(&g, 0, 8, 0);
		EXPECT_EQ(g.io.error, FL_ST_REMOTE_INVALID);
		rig_close(&g);
		STEP("the other rights denied");
		rig_start(&g);
		pair.denied = 14 & ~op[i].right;
		EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &pair), FL_ST_OK);
		rig_in(&g, p, i ? 0 : 8, 1);
		EXPECT_EQ(g.io.error, FL_ST_OK);
		rig_close(&g);
	}
	rig_start(&g);
	pair.denied = 14;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &pair), FL_ST_OK);
	rig_recv(&g, 2, 100);
	rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 10, 1);
	rig_out_ack(&g, 20, RC_SYN_ACK);
}

TEST("a key that ends in the middle of a message refuses the rest of it")
{
	rig_start(&g);
	rig_write_in(&g, WOP_RC_WRITE_FIRST, 20, 600, 256, 1);
	rig_out_ack(&g, 20, RC_SYN_ACK);
	g.io.t.stop_key(g.io.t.ctx, 0x100);
	g.io.key[0].alive = false;
	rig_write_in(&g, WOP_RC_WRITE_MIDDLE, 21, 0, 256, 2);
	rig_out_ack(&g, 21, RC_SYN_NAK_ACCESS);
	rig_memory_is(&g, 256, 256, 0);
}

TEST("no bytes need no key (InfiniBand 9.7.4.1)")
{
	rig_start(&g);
	g.io.key[0].alive = false;
	rig_write_in(&g, WOP_RC_WRITE_ONLY, 20, 0, 0, 0);
	rig_out_ack(&g, 20, RC_SYN_ACK);
}

/* What may stand at the PSN that is due, and what must not. */
struct step {
	uint8_t opcode;
	uint32_t length, payload;
};

static void is_invalid(const struct step *s, unsigned int n)
{
	unsigned int i;

	rig_start(&g);
	rig_recv(&g, 2, 4096);
	for (i = 0; i < n; i++) {
		g.io.out_next = g.io.outs;
		rig_write_in(&g, s[i].opcode, 20 + i, s[i].length, s[i].payload, 1);
	}
	rig_out_ack(&g, 19 + n, RC_SYN_NAK_INVALID);
	EXPECT_EQ(g.io.error, FL_ST_REMOTE_INVALID);
}

TEST("InfiniBand 9.7.4.1, 9.7.5.2, rule 6: opcodes out of sequence, and wrong lengths, "
     "are invalid requests")
{
	static const struct step bad[][2] = {
		{ { WOP_RC_WRITE_MIDDLE, 0, 256 } },
		{ { WOP_RC_WRITE_LAST, 0, 10 } },
		{ { WOP_RC_SEND_MIDDLE, 0, 256 } },
		{ { WOP_RC_SEND_LAST, 0, 10 } },
		{ { WOP_RC_WRITE_FIRST, 600, 255 } },
		{ { WOP_RC_WRITE_FIRST, 256, 256 } },
		{ { WOP_RC_WRITE_FIRST, 600, 0 } },
		{ { WOP_RC_WRITE_ONLY, 10, 9 } },
		{ { WOP_RC_WRITE_ONLY, 10, 11 } },
		{ { WOP_RC_WRITE_ONLY, 257, 257 } },
		{ { WOP_RC_SEND_FIRST, 0, 100 } },
		{ { WOP_RC_SEND_ONLY, 0, 300 } },
		{ { WOP_RC_FETCH_ADD, 0, 0 } },	/* of an address that is not aligned: below */
	};
	static const struct step second[][2] = {
		{ { WOP_RC_WRITE_FIRST, 600, 256 }, { WOP_RC_WRITE_FIRST, 600, 256 } },
		{ { WOP_RC_WRITE_FIRST, 600, 256 }, { WOP_RC_SEND_ONLY, 0, 10 } },
		{ { WOP_RC_WRITE_FIRST, 600, 256 }, { WOP_RC_SEND_LAST, 0, 10 } },
		{ { WOP_RC_WRITE_FIRST, 600, 256 }, { WOP_RC_WRITE_LAST, 0, 10 } },
		{ { WOP_RC_WRITE_FIRST, 266, 256 }, { WOP_RC_WRITE_MIDDLE, 0, 256 } },
		{ { WOP_RC_WRITE_FIRST, 512, 256 }, { WOP_RC_WRITE_MIDDLE, 0, 256 } },
		{ { WOP_RC_WRITE_FIRST, 256 + 257, 256 }, { WOP_RC_WRITE_LAST, 0, 257 } },
		{ { WOP_RC_SEND_FIRST, 0, 256 }, { WOP_RC_SEND_LAST, 0, 0 } },
		{ { WOP_RC_SEND_FIRST, 0, 256 }, { WOP_RC_WRITE_ONLY, 10, 10 } },
		{ { WOP_RC_SEND_FIRST, 0, 256 }, { WOP_RC_READ_REQUEST, 10, 0 } },
		{ { WOP_RC_SEND_FIRST, 0, 256 }, { WOP_RC_FETCH_ADD, 0, 0 } },
	};
	unsigned int i;

	for (i = 0; i + 1 < sizeof(bad) / sizeof(bad[0]); i++)
		is_invalid(bad[i], 1);
	for (i = 0; i < sizeof(second) / sizeof(second[0]); i++)
		is_invalid(second[i], 2);
	rig_start(&g);
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_FETCH_ADD, .psn = 20,
				       .va = RIG_BASE + 4, .rkey = 0x100 }, 0, 0);
	rig_out_ack(&g, 20, RC_SYN_NAK_INVALID);
}

TEST("InfiniBand 9.7.5.2: a SEND longer than its receive is invalid; the receive "
     "completes with LENGTH")
{
	rig_start(&g);
	rig_recv(&g, 2, 300);
	rig_send_in(&g, WOP_RC_SEND_FIRST, 20, 256, 1);
	rig_send_in(&g, WOP_RC_SEND_LAST, 21, 45, 1);
	g.io.out_next = 1;
	rig_out_ack(&g, 21, RC_SYN_NAK_INVALID);
	EXPECT_EQ(g.io.error, FL_ST_LENGTH);
	EXPECT_EQ(g.arrivals, 1);
	EXPECT_EQ(g.arrived[0].arrival.status, FL_ST_LENGTH);
	rig_memory_is(&g, 2 * 4096 + 256, 100, 0);
}

TEST("InfiniBand 9.7.5.2, rule 6: a malformed receive entry, or memory that fails, is an "
     "operational error")
{
	rig_start(&g);
	rig_recv(&g, 2, 300);
	g.recv_wrong = FL_ST_BAD_ENTRY;
	rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 10, 1);
	rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.io.error, FL_ST_BAD_ENTRY);
	EXPECT_EQ(g.arrived[0].arrival.status, FL_ST_BAD_ENTRY);

	rig_start(&g);
	rig_recv(&g, 2, 300);
	g.io.key[2].alive = false;
	rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 10, 1);
	rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.io.error, FL_ST_LOCAL_KEY);
	EXPECT_EQ(g.arrived[0].arrival.status, FL_ST_LOCAL_KEY);

	rig_start(&g);
	g.io.fails = true;
	rig_write_only(&g, 20, 1);
	rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.io.error, FL_ST_BUS_ERROR);
}

TEST("acknowledgements that wait become one")
{
	rig_start(&g);
	g.io.no_room = true;
	rig_write_only(&g, 20, 1);
	rig_write_only(&g, 21, 2);
	rig_write_only(&g, 22, 3);
	g.io.no_room = false;
	rc_wire_room(g.rc);
	rig_run(&g);
	rig_out_ack(&g, 22, RC_SYN_ACK);
	rig_silent(&g);
}

TEST("with no room for answers the rest of a pair's requests wait, and none is lost")
{
	unsigned int i;

	rig_start(&g);
	g.io.no_room = true;
	for (i = 0; i < 24; i++) {
		if (i & 1)
			rig_write_only(&g, 20 + i, (uint8_t)(i + 1));
		else
			rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_FETCH_ADD, .psn = 20 + i,
						       .va = RIG_BASE + 64, .rkey = 0x100,
						       .swap = 1 }, 0, 0);
	}
	g.io.no_room = false;
	rc_wire_room(g.rc);
	rig_run(&g);
	EXPECT_EQ(g.io.outs, 24);
	EXPECT_EQ(g.io.mem[64], 12);
	rig_memory_is(&g, 0, 10, 24);
}

TEST("packets for no pair, of a stranger, damaged or malformed are dropped, with an event each")
{
	struct wire_frame f = { .from = 1 };
	struct rc_config c = rig_config;
	struct fw_pair pair = rig_pair();
	struct rc_packet p = {
		.opcode = WOP_RC_WRITE_ONLY, .psn = 20, .va = RIG_BASE, .rkey = 0x100,
		.length = 10, .dest_qp = RIG_QPN, .payload_len = 10,
	};
	struct rc_stats st;

	c.icrc = true;
	rig_open(&g, 0, &c);
	test_cleanup(rig_close, &g);
	g.io.t.open(g.io.t.ctx, RIG_QP, &pair);
	memset(rc_payload(&f, p.opcode), 1, 10);
	p.dest_qp = 0x999905;
	rc_put(&f, &p, true);
	rc_receive(g.rc, &f, 0);
	p.dest_qp = 0x123406;
	rc_put(&f, &p, true);
	rc_receive(g.rc, &f, 0);
	p.dest_qp = RIG_QPN;
	f.from = 2;
	rc_put(&f, &p, true);
	rc_receive(g.rc, &f, 0);
	f.from = 1;
	rc_put(&f, &p, true);
	f.bytes[30] ^= 1;
	rc_receive(g.rc, &f, 0);
	f.len = 3;
	rc_receive(g.rc, &f, 0);
	p.opcode = WOP_UD_SEND_ONLY;
	rc_put(&f, &p, true);
	rc_receive(g.rc, &f, 0);
	rig_run(&g);
	rig_silent(&g);
	rig_memory_is(&g, 0, 10, 0);
	EXPECT_EQ(g.io.events[EV_RC_DROP], 6);
	rc_stats(g.rc, &st);
	EXPECT_EQ(st.bad_packets, 3);
	EXPECT_EQ(st.dropped, 6);
}

TEST("a reset forgets all pairs, and frames that came")
{
	rig_start(&g);
	g.io.no_room = true;
	rig_write_only(&g, 20, 1);
	rc_reset(g.rc);
	g.io.no_room = false;
	rc_wire_room(g.rc);
	rig_run(&g);
	EXPECT_EQ(g.io.outs, 0);
	EXPECT(rc_idle(g.rc));
	rig_write_only(&g, 21, 2);
	rig_memory_is(&g, 0, 10, 1);
}

TEST("only a packet that asks for it is acknowledged (InfiniBand 9.7.5.1)")
{
	struct rc_packet p = {
		.opcode = WOP_RC_WRITE_ONLY, .psn = 20, .va = RIG_BASE, .rkey = 0x100,
		.length = 10,
	};

	rig_start(&g);
	rig_in(&g, p, 10, 1);
	rig_memory_is(&g, 0, 10, 1);
	rig_silent(&g);
	rig_write_only(&g, 21, 2);
	rig_out_ack(&g, 21, RC_SYN_ACK);
	rig_silent(&g);
}
