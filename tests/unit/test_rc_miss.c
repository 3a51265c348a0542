// SPDX-License-Identifier: BSD-2-Clause
/* Responder of a reliable connection: pages that are missing, and what is judged. */
#include "rc_responder.h"

TEST("a page that is missing under a WRITE: RNR NAK with the code that was judged, nothing "
     "lands behind it")
{
	unit_start();
	g.present[0] = false;
	g.verdict = (struct rc_judged){ .verdict = RC_RNR, .rnr_code = 7 };
	write_in(WOP_RC_WRITE_FIRST, 20, 600, 256, 1);
	rig_out_ack(&g, 20, RC_SYN_RNR | 7);
	EXPECT_EQ(g.miss.side, RC_RESPONDER);
	EXPECT(g.miss.write);
	EXPECT_EQ(g.miss.key, 0x100);
	EXPECT_EQ(g.miss.va, RIG_BASE);
	EXPECT_EQ(g.miss.len, 256);
	EXPECT_EQ(g.miss.left, 344);
	EXPECT_EQ(g.miss.opcode, FL_OP_WRITE);
	write_in(WOP_RC_WRITE_MIDDLE, 21, 0, 256, 2);
	write_in(WOP_RC_WRITE_LAST, 22, 0, 88, 3);
	rig_silent(&g);
	memory_is(0, 4096, 0);
	g.present[0] = true;
	write_in(WOP_RC_WRITE_FIRST, 20, 600, 256, 1);
	rig_out_ack(&g, 20, RC_SYN_ACK);
}

TEST("a packet over two pages, the second of them missing, comes again as a whole")
{
	struct rc_packet p = {
		.opcode = WOP_RC_WRITE_ONLY, .psn = 20, .va = RIG_BASE + 4000,
		.rkey = 0x100, .length = 200, .ackreq = true,
	};

	unit_start();
	g.present[1] = false;
	rig_in(&g, p, 200, 1);
	rig_out_ack(&g, 20, RC_SYN_RNR | 12);
	EXPECT_EQ(g.miss.va, RIG_BASE + 4096);
	EXPECT_EQ(g.miss.len, 104);
	g.present[1] = true;
	rig_in(&g, p, 200, 1);
	rig_out_ack(&g, 20, RC_SYN_ACK);
	memory_is(4000, 200, 1);
}

TEST("a page that is missing under a receive: RNR NAK, and the entry stays with the message")
{
	unit_start();
	rig_recv(&g, 2, 100);
	rig_recv(&g, 3, 100);
	g.present[2] = false;
	send_in(WOP_RC_SEND_ONLY, 20, 10, 1);
	rig_out_ack(&g, 20, RC_SYN_RNR | 12);
	EXPECT_EQ(g.miss.opcode, FL_OP_RECV);
	EXPECT_EQ(g.miss.key, 0x102);
	g.present[2] = true;
	send_in(WOP_RC_SEND_ONLY, 20, 10, 1);
	EXPECT_EQ(g.recv_next, 1);
	EXPECT_EQ(g.arrived[0].recv.index, 0);
	memory_is(2 * 4096, 10, 1);
}

TEST("verdict drop: silence, as if the packet had never been there")
{
	unit_start();
	g.present[0] = false;
	g.verdict.verdict = RC_DROP;
	write_only(20, 1);
	rig_silent(&g);
	g.present[0] = true;
	write_only(20, 1);
	rig_out_ack(&g, 20, RC_SYN_ACK);
}

TEST("verdict fail: the peer gets an operational error, and the pair ends")
{
	unit_start();
	g.present[0] = false;
	g.verdict.verdict = RC_FAIL;
	write_only(20, 1);
	rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.error, FL_ST_LOCAL_FAULT);
}

TEST("a page that cannot be had: the next packet that needs it gets an operational error")
{
	unit_start();
	g.present[0] = false;
	write_only(20, 1);
	rig_out_ack(&g, 20, RC_SYN_RNR | 12);
	rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
	rig_silent(&g);
	write_only(20, 1);
	rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.error, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(g.misses, 1);
	STEP("unless it is there after all");
	unit_start();
	g.present[0] = false;
	write_only(20, 1);
	rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
	g.present[0] = true;
	write_only(20, 1);
	g.present[0] = false;
	write_only(21, 1);
	g.out_next = 2;
	rig_out_ack(&g, 21, RC_SYN_RNR | 12);
}

TEST("a page of a receive that cannot be had: the receive ends with the reason")
{
	unsigned int fails;

	for (fails = 0; fails < 2; fails++) {
		unit_start();
		rig_recv(&g, 3, 100);
		g.present[3] = false;
		g.verdict.verdict = fails ? RC_FAIL : RC_RNR;
		send_in(WOP_RC_SEND_ONLY, 20, 100, 1);
		if (!fails) {
			rig_out_ack(&g, 20, RC_SYN_RNR | 12);
			EXPECT_EQ(g.arrivals, 0);
			rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
			send_in(WOP_RC_SEND_ONLY, 20, 100, 1);
		}
		rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
		EXPECT_EQ(g.error, FL_ST_LOCAL_FAULT);
		EXPECT_EQ(g.arrivals, 1);
		EXPECT_EQ(g.arrived[0].arrival.status, FL_ST_LOCAL_FAULT);
	}
}

TEST("verdict sleep: the receive channel waits, frames queue up and overflow, then all go on")
{
	unsigned int i;

	unit_start();
	g.present[0] = false;
	g.verdict.verdict = RC_SLEEP;
	for (i = 0; i < 50; i++)
		write_only(20 + i, (uint8_t)(i + 1));
	rig_silent(&g);
	EXPECT_EQ(g.misses, 1);
	g.present[0] = true;
	rig_resume(&g, RC_RESPONDER, true, FL_ST_OK);
	memory_is(0, 10, 32);	/* so many frames there are */
	EXPECT_GE(g.outs, 1);
	STEP("and a page that never comes is an operational error");
	unit_start();
	g.present[0] = false;
	g.verdict.verdict = RC_SLEEP;
	write_only(20, 1);
	rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
	rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.error, FL_ST_LOCAL_FAULT);
}

TEST("what sleeps wakes when its pair is closed")
{
	struct fw_pair p = rig_pair();

	unit_start();
	p.qpn = 0x123406;
	g.t.open(g.t.ctx, 6, &p);
	g.present[0] = false;
	g.verdict.verdict = RC_SLEEP;
	write_only(20, 1);
	g.present[0] = true;
	g.t.close(g.t.ctx, RIG_QP);
	rig_run(&g);
	memory_is(0, 10, 0);
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_WRITE_ONLY, .psn = 20, .va = RIG_BASE,
				       .rkey = 0x100, .length = 10, .ackreq = true,
				       .dest_qp = 0x123406 }, 10, 4);
	memory_is(0, 10, 4);
	EXPECT_EQ(g.outs, 1);
}

/* A WRITE of 10 bytes that came, and that no channel has looked at yet. */
static void write_waits(uint32_t psn)
{
	struct rc_packet p = {
		.opcode = WOP_RC_WRITE_ONLY, .psn = psn, .va = RIG_BASE, .rkey = 0x100,
		.length = 10, .payload_len = 10, .dest_qp = RIG_QPN,
	};
	struct wire_frame f = { .from = 1 };

	memset(rc_payload(&f, p.opcode), 7, 10);
	rc_put(&f, &p, false);
	rc_receive(g.rc, &f, g.now);
}

TEST("what came for a connection that was closed does not land in the next one")
{
	struct fw_pair p = rig_pair();

	unit_start();
	write_waits(20);
	g.t.close(g.t.ctx, RIG_QP);
	EXPECT_EQ(g.t.open(g.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_run(&g);
	memory_is(0, 10, 0);
	write_only(20, 3);
	memory_is(0, 10, 3);
}

TEST("a reset forgets frames that no channel has looked at, and has room for as many again")
{
	struct fw_pair p = rig_pair();
	unsigned int i;

	unit_start();
	for (i = 0; i < 40; i++)
		write_waits(20 + i);
	rc_reset(g.rc);
	EXPECT_EQ(g.t.open(g.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_run(&g);
	memory_is(0, 10, 0);
	for (i = 0; i < 32; i++)
		write_waits(20 + i);
	rig_run(&g);
	EXPECT_EQ(g.events[EV_RC_DROP], 8);	/* before the reset: no room */
	memory_is(0, 10, 7);
}

TEST("between a fatal NAK that waits for the wire and the end of the pair nothing lands")
{
	unit_start();
	g.no_room = true;
	write_in(WOP_RC_WRITE_LAST, 20, 0, 10, 1);
	write_only(20, 2);
	write_only(21, 2);
	memory_is(0, 10, 0);
	g.no_room = false;
	rc_wire_room(g.rc);
	rig_run(&g);
	rig_out_ack(&g, 20, RC_SYN_NAK_INVALID);
	rig_silent(&g);
	memory_is(0, 10, 0);
	EXPECT_EQ(g.error, FL_ST_REMOTE_INVALID);
	EXPECT_EQ(g.errors, 1);
}
