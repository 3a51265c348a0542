// SPDX-License-Identifier: BSD-2-Clause
/* Responder of a reliable connection: pages that are missing, and what is judged. */
#include "rig/rc.h"

static struct rig g;

TEST("a page that is missing under a WRITE: RNR NAK with the code that was judged, nothing "
     "lands behind it")
{
	rig_start(&g);
	g.io.present[0] = false;
	g.verdict = (struct rc_judged){ .verdict = RC_RNR, .rnr_code = 7 };
	rig_write_in(&g, WOP_RC_WRITE_FIRST, 20, 600, 256, 1);
	rig_out_ack(&g, 20, RC_SYN_RNR | 7);
	EXPECT_EQ(g.miss.side, RC_RESPONDER);
	EXPECT(g.miss.write);
	EXPECT_EQ(g.miss.key, 0x100);
	EXPECT_EQ(g.miss.va, RIG_BASE);
	EXPECT_EQ(g.miss.len, 256);
	EXPECT_EQ(g.miss.left, 344);
	EXPECT_EQ(g.miss.opcode, FL_OP_WRITE);
	rig_write_in(&g, WOP_RC_WRITE_MIDDLE, 21, 0, 256, 2);
	rig_write_in(&g, WOP_RC_WRITE_LAST, 22, 0, 88, 3);
	rig_silent(&g);
	rig_memory_is(&g, 0, 4096, 0);
	g.io.present[0] = true;
	rig_write_in(&g, WOP_RC_WRITE_FIRST, 20, 600, 256, 1);
	rig_out_ack(&g, 20, RC_SYN_ACK);
}

TEST("a packet over two pages, the second of them missing, comes again as a whole")
{
	struct rc_packet p = {
		.opcode = WOP_RC_WRITE_ONLY, .psn = 20, .va = RIG_BASE + 4000,
		.rkey = 0x100, .length = 200, .ackreq = true,
	};

	rig_start(&g);
	g.io.present[1] = false;
	rig_in(&g, p, 200, 1);
	rig_out_ack(&g, 20, RC_SYN_RNR | 12);
	EXPECT_EQ(g.miss.va, RIG_BASE + 4096);
	EXPECT_EQ(g.miss.len, 104);
	g.io.present[1] = true;
	rig_in(&g, p, 200, 1);
	rig_out_ack(&g, 20, RC_SYN_ACK);
	rig_memory_is(&g, 4000, 200, 1);
}

TEST("a page that is missing under a receive: RNR NAK, and the entry stays with the message")
{
	rig_start(&g);
	rig_recv(&g, 2, 100);
	rig_recv(&g, 3, 100);
	g.io.present[2] = false;
	rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 10, 1);
	rig_out_ack(&g, 20, RC_SYN_RNR | 12);
	EXPECT_EQ(g.miss.opcode, FL_OP_RECV);
	EXPECT_EQ(g.miss.key, 0x102);
	g.io.present[2] = true;
	rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 10, 1);
	EXPECT_EQ(g.recv_next, 1);
	EXPECT_EQ(g.arrived[0].recv.index, 0);
	rig_memory_is(&g, 2 * 4096, 10, 1);
}

TEST("of a receive in several segments only bytes of the segment are said to be missing")
{
	rig_start(&g);
	g.recv[0] = (struct fw_recv){
		.length = 230, .segments = 2,
		.segment = { { RIG_BASE + 3 * 4096 - 30, 30, 0x102 },
			     { RIG_BASE + 20000, 200, 0x103 } },
	};
	g.recvs = 1;
	g.io.present[2] = false;
	rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 110, 1);
	EXPECT_EQ(g.miss.va, RIG_BASE + 3 * 4096 - 30);
	EXPECT_EQ(g.miss.len, 30);
	EXPECT_EQ(g.miss.left, 0);
}

TEST("verdict drop: silence, as if the packet had never been there")
{
	rig_start(&g);
	g.io.present[0] = false;
	g.verdict.verdict = RC_DROP;
	rig_write_only(&g, 20, 1);
	rig_silent(&g);
	g.io.present[0] = true;
	rig_write_only(&g, 20, 1);
	rig_out_ack(&g, 20, RC_SYN_ACK);
}

TEST("verdict fail: the peer gets an operational error, and the pair ends")
{
	rig_start(&g);
	g.io.present[0] = false;
	g.verdict.verdict = RC_FAIL;
	rig_write_only(&g, 20, 1);
	rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.io.error, FL_ST_LOCAL_FAULT);
}

TEST("a page that cannot be had: the next packet that needs it gets an operational error")
{
	rig_start(&g);
	g.io.present[0] = false;
	rig_write_only(&g, 20, 1);
	rig_out_ack(&g, 20, RC_SYN_RNR | 12);
	rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
	rig_silent(&g);
	rig_write_only(&g, 20, 1);
	rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.io.error, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(g.io.misses, 1);
	STEP("unless it is there after all");
	rig_start(&g);
	g.io.present[0] = false;
	rig_write_only(&g, 20, 1);
	rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
	g.io.present[0] = true;
	rig_write_only(&g, 20, 1);
	g.io.present[0] = false;
	rig_write_only(&g, 21, 1);
	g.io.out_next = 2;
	rig_out_ack(&g, 21, RC_SYN_RNR | 12);
}

TEST("a refusal that comes when its packet has gone is none of those behind it")
{
	rig_start(&g);
	g.io.present[0] = false;
	rig_write_only(&g, 20, 1);
	rig_out_ack(&g, 20, RC_SYN_RNR | 12);
	STEP("the page is there before the answer is");
	g.io.present[0] = true;
	rig_write_only(&g, 20, 1);
	rig_out_ack(&g, 20, RC_SYN_ACK | 31);
	rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
	g.io.present[0] = false;
	rig_write_only(&g, 21, 2);
	rig_out_ack(&g, 21, RC_SYN_RNR | 12);
	EXPECT_EQ(g.io.error, FL_ST_OK);
	STEP("it is missed in its own right, and refused");
	rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
	rig_write_only(&g, 21, 2);
	rig_out_ack(&g, 21, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.io.error, FL_ST_LOCAL_FAULT);
}

TEST("a refusal of something else wakes what sleeps, which looks again")
{
	rig_start(&g);
	g.io.present[0] = false;
	g.verdict.verdict = RC_SLEEP;
	rig_write_only(&g, 20, 1);
	rig_silent(&g);
	EXPECT_EQ(g.io.misses, 1);
	g.miss.psn = 19;
	rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
	rig_silent(&g);
	EXPECT_EQ(g.io.misses, 2);
	EXPECT_EQ(g.miss.psn, 20);
	rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
	rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.io.error, FL_ST_LOCAL_FAULT);
}

TEST("a page of a receive that cannot be had: the receive ends with the reason")
{
	unsigned int fails;

	for (fails = 0; fails < 2; fails++) {
		rig_start(&g);
		rig_recv(&g, 3, 100);
		g.io.present[3] = false;
		g.verdict.verdict = fails ? RC_FAIL : RC_RNR;
		rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 100, 1);
		if (!fails) {
			rig_out_ack(&g, 20, RC_SYN_RNR | 12);
			EXPECT_EQ(g.arrivals, 0);
			rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
			rig_send_in(&g, WOP_RC_SEND_ONLY, 20, 100, 1);
		}
		rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
		EXPECT_EQ(g.io.error, FL_ST_LOCAL_FAULT);
		EXPECT_EQ(g.arrivals, 1);
		EXPECT_EQ(g.arrived[0].arrival.status, FL_ST_LOCAL_FAULT);
	}
}

TEST("verdict sleep: the receive channel waits, frames queue up and overflow, then all go on")
{
	unsigned int i;

	rig_start(&g);
	g.io.present[0] = false;
	g.verdict.verdict = RC_SLEEP;
	for (i = 0; i < 50; i++)
		rig_write_only(&g, 20 + i, (uint8_t)(i + 1));
	rig_silent(&g);
	EXPECT_EQ(g.io.misses, 1);
	g.io.present[0] = true;
	rig_resume(&g, RC_RESPONDER, true, FL_ST_OK);
	rig_memory_is(&g, 0, 10, 32);	/* so many frames there are */
	EXPECT_GE(g.io.outs, 1);
	STEP("and a page that never comes is an operational error");
	rig_start(&g);
	g.io.present[0] = false;
	g.verdict.verdict = RC_SLEEP;
	rig_write_only(&g, 20, 1);
	rig_resume(&g, RC_RESPONDER, true, FL_ST_LOCAL_FAULT);
	rig_out_ack(&g, 20, RC_SYN_NAK_OPERATION);
	EXPECT_EQ(g.io.error, FL_ST_LOCAL_FAULT);
}

TEST("what sleeps wakes when its pair is closed")
{
	struct fw_pair p = rig_pair();

	rig_start(&g);
	p.qpn = 0x123406;
	g.io.t.open(g.io.t.ctx, 6, &p);
	g.io.present[0] = false;
	g.verdict.verdict = RC_SLEEP;
	rig_write_only(&g, 20, 1);
	g.io.present[0] = true;
	g.io.t.close(g.io.t.ctx, RIG_QP);
	rig_run(&g);
	rig_memory_is(&g, 0, 10, 0);
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_WRITE_ONLY, .psn = 20, .va = RIG_BASE,
				       .rkey = 0x100, .length = 10, .ackreq = true,
				       .dest_qp = 0x123406 }, 10, 4);
	rig_memory_is(&g, 0, 10, 4);
	EXPECT_EQ(g.io.outs, 1);
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
	rc_receive(g.rc, &f, g.io.now);
}

TEST("what came for a connection that was closed does not land in the next one")
{
	struct fw_pair p = rig_pair();

	rig_start(&g);
	write_waits(20);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_run(&g);
	rig_memory_is(&g, 0, 10, 0);
	rig_write_only(&g, 20, 3);
	rig_memory_is(&g, 0, 10, 3);
}

TEST("a reset forgets frames that no channel has looked at, and has room for as many again")
{
	struct fw_pair p = rig_pair();
	unsigned int i;

	rig_start(&g);
	for (i = 0; i < 40; i++)
		write_waits(20 + i);
	rc_reset(g.rc);
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_run(&g);
	rig_memory_is(&g, 0, 10, 0);
	for (i = 0; i < 32; i++)
		write_waits(20 + i);
	rig_run(&g);
	EXPECT_EQ(g.io.events[EV_RC_DROP], 8);	/* before the reset: no room */
	rig_memory_is(&g, 0, 10, 7);
}

TEST("between a fatal NAK that waits for the wire and the end of the pair nothing lands")
{
	rig_start(&g);
	g.io.no_room = true;
	rig_write_in(&g, WOP_RC_WRITE_LAST, 20, 0, 10, 1);
	rig_write_only(&g, 20, 2);
	rig_write_only(&g, 21, 2);
	rig_memory_is(&g, 0, 10, 0);
	g.io.no_room = false;
	rc_wire_room(g.rc);
	rig_run(&g);
	rig_out_ack(&g, 20, RC_SYN_NAK_INVALID);
	rig_silent(&g);
	rig_memory_is(&g, 0, 10, 0);
	EXPECT_EQ(g.io.error, FL_ST_REMOTE_INVALID);
	EXPECT_EQ(g.io.errors, 1);
}
