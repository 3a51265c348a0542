// SPDX-License-Identifier: BSD-2-Clause
/* Requester of a reliable connection: what it sends, and what answers do to it. */
#include "rig/rc.h"

static struct rig g;

TEST("InfiniBand 9.7.3, 9.4.3: a WRITE of three packets, its headers, bits and bytes")
{
	struct rc_packet p;

	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 600);
	p = rig_out(&g);
	EXPECT_EQ(p.opcode, WOP_RC_WRITE_FIRST);
	EXPECT_EQ(p.psn, 0x100);
	EXPECT_EQ(p.va, RIG_BASE);
	EXPECT_EQ(p.rkey, 0x100);
	EXPECT_EQ(p.length, 600);
	EXPECT_EQ(p.payload_len, 256);
	EXPECT_MEM(p.payload, g.io.mem, 256);
	p = rig_out(&g);
	EXPECT_EQ(p.opcode, WOP_RC_WRITE_MIDDLE);
	EXPECT_EQ(p.psn, 0x101);
	EXPECT(!p.ackreq);
	EXPECT_MEM(p.payload, g.io.mem + 256, 256);
	p = rig_out(&g);
	EXPECT_EQ(p.opcode, WOP_RC_WRITE_LAST);
	EXPECT_EQ(p.psn, 0x102);
	EXPECT_EQ(p.payload_len, 88);
	EXPECT(p.ackreq);
	EXPECT_MEM(p.payload, g.io.mem + 512, 88);
	rig_silent(&g);
	EXPECT_EQ(g.io.dones, 0);
	rig_in_ack(&g, 0x102, RC_SYN_ACK);
	rig_is_done(&g, 0, 0, FL_ST_OK);
	EXPECT_EQ(g.io.alarm, UINT64_MAX);
	EXPECT(rc_idle(g.rc));
}

TEST("InfiniBand 9.7.5.1.2: one acknowledgement ends all requests up to its PSN")
{
	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_work_post(&g, 1, FL_OP_SEND, 0, 300);
	rig_work_post(&g, 2, FL_OP_WRITE, 0, 0);
	rig_in_ack(&g, 0x102, RC_SYN_ACK);
	EXPECT_EQ(g.io.dones, 2);
	rig_is_done(&g, 0, 0, FL_ST_OK);
	rig_is_done(&g, 1, 1, FL_ST_OK);
	rig_in_ack(&g, 0x103, RC_SYN_ACK);
	rig_is_done(&g, 2, 2, FL_ST_OK);
	STEP("old ones, and such for what was never sent, change nothing");
	rig_in_ack(&g, 0x103, RC_SYN_ACK);
	rig_in_ack(&g, 0x104, RC_SYN_ACK);
	rig_in_ack(&g, 0x900103, RC_SYN_ACK);
	EXPECT_EQ(g.io.dones, 3);
}

TEST("InfiniBand 9.7.6: an acknowledgement behind a READ is an implied NAK")
{
	struct rc_packet p;

	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_work_post(&g, 1, FL_OP_READ, 1, 600);
	rig_work_post(&g, 2, FL_OP_WRITE, 2, 10);
	g.io.out_next = g.io.outs;
	rig_in_ack(&g, 0x104, RC_SYN_ACK);
	EXPECT_EQ(g.io.dones, 1);
	rig_is_done(&g, 0, 0, FL_ST_OK);
	p = rig_out(&g);
	EXPECT_EQ(p.opcode, WOP_RC_READ_REQUEST);
	EXPECT_EQ(p.psn, 0x101);
	EXPECT_EQ(p.length, 600);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x104);
	rig_silent(&g);
}

TEST("InfiniBand 9.7.5.1, 9.7.5.2: a sequence NAK acknowledges what is before, and the "
     "rest goes again")
{
	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_work_post(&g, 1, FL_OP_WRITE, 0, 600);
	g.io.out_next = g.io.outs;
	rig_in_ack(&g, 0x102, RC_SYN_NAK_SEQUENCE);
	EXPECT_EQ(g.io.dones, 1);
	rig_out_is(&g, WOP_RC_WRITE_MIDDLE, 0x102);
	rig_out_is(&g, WOP_RC_WRITE_LAST, 0x103);
	rig_silent(&g);
	rig_in_ack(&g, 0x103, RC_SYN_ACK);
	rig_is_done(&g, 1, 1, FL_ST_OK);
	EXPECT_EQ(g.io.done[1].resends, 2);
}

TEST("the window of PSNs is bounded, and acknowledgements are asked for "
     "within a message")
{
	struct rc_packet p;
	unsigned int i, asked = 0;

	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 256 * 40);
	EXPECT_EQ(g.io.outs, 16);
	for (i = 0; i < 16; i++)
		asked += rig_out(&g).ackreq;
	EXPECT_GE(asked, 2);
	rig_in_ack(&g, 0x103, RC_SYN_ACK);
	EXPECT_EQ(g.io.outs, 20);
	for (i = 0; i < 4; i++)
		p = rig_out(&g);
	EXPECT(p.ackreq);
}

TEST("PSNs wrap at 2^24")
{
	struct fw_pair p = rig_pair();

	rig_open(&g, 0, &rig_config);
	test_cleanup(rig_close, &g);
	p.sq_psn = 0xFFFFFF;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 600);
	rig_out_is(&g, WOP_RC_WRITE_FIRST, 0xFFFFFF);
	rig_out_is(&g, WOP_RC_WRITE_MIDDLE, 0);
	rig_out_is(&g, WOP_RC_WRITE_LAST, 1);
	rig_in_ack(&g, 0xFFFFFF, RC_SYN_ACK);
	rig_in_ack(&g, 0, RC_SYN_NAK_SEQUENCE);
	rig_out_is(&g, WOP_RC_WRITE_MIDDLE, 0);
	rig_out_is(&g, WOP_RC_WRITE_LAST, 1);
	rig_in_ack(&g, 1, RC_SYN_ACK);
	rig_is_done(&g, 0, 0, FL_ST_OK);
}

TEST("InfiniBand 9.7.5.2: each fatal NAK ends the request with its status")
{
	static const uint8_t want[] = { FL_ST_REMOTE_INVALID, FL_ST_REMOTE_ACCESS,
					FL_ST_REMOTE_FAULT };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		rig_start_filled(&g);
		rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
		rig_work_post(&g, 1, FL_OP_WRITE, 0, 10);
		rig_work_post(&g, 2, FL_OP_WRITE, 0, 10);
		rig_in_ack(&g, 0x101, (uint8_t)(RC_SYN_NAK_INVALID + i));
		EXPECT_EQ(g.io.dones, 2);
		rig_is_done(&g, 0, 0, FL_ST_OK);
		rig_is_done(&g, 1, 1, want[i]);
		EXPECT_EQ(g.io.alarm, UINT64_MAX);
	}
}

TEST("who waits for an answer when a later request is refused was not refused itself")
{
	static const uint8_t first[] = { FL_OP_READ, FL_OP_FETCH_ADD };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		rig_start_filled(&g);
		rig_work_post(&g, 0, first[i], 0, 8);
		rig_work_post(&g, 1, FL_OP_WRITE, 0, 10);
		rig_in_ack(&g, 0x101, RC_SYN_NAK_ACCESS);
		EXPECT_EQ(g.io.dones, 1);
		rig_is_done(&g, 0, 0, FL_ST_NO_ANSWER);
	}
	STEP("a NAK in the place of its answer is its own");
	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_READ, 0, 600);
	rig_work_post(&g, 1, FL_OP_WRITE, 0, 10);
	rig_in_ack(&g, 0x102, RC_SYN_NAK_ACCESS);
	rig_is_done(&g, 0, 0, FL_ST_REMOTE_ACCESS);
}

TEST("InfiniBand 10.8.3.3: a fence waits for READs and atomics, and for nothing else")
{
	struct fw_work w = rig_work(FL_OP_WRITE, 2, 10);

	w.flags |= FL_WQE_FENCE;
	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_post(&g, 1, &w);
	EXPECT_EQ(g.io.outs, 2);
	rig_work_post(&g, 2, FL_OP_READ, 1, 10);
	EXPECT_EQ(g.io.outs, 3);
	rig_post(&g, 3, &w);
	rig_work_post(&g, 4, FL_OP_WRITE, 0, 10);
	EXPECT_EQ(g.io.outs, 3);
	rig_in_ack(&g, 0x101, RC_SYN_ACK);
	EXPECT_EQ(g.io.outs, 3);
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_READ_RESPONSE_ONLY, .psn = 0x102,
				       .syndrome = RC_SYN_ACK }, 10, 7);
	EXPECT_EQ(g.io.outs, 5);
	EXPECT_EQ(g.io.dones, 3);
}

TEST("no more READs and atomics are on the way than the pair has places for")
{
	struct fw_pair p = rig_pair();

	rig_start_filled(&g);
	p.rd_atomic = 2;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 0, FL_OP_READ, 0, 10);
	rig_work_post(&g, 1, FL_OP_FETCH_ADD, 0, 8);
	rig_work_post(&g, 2, FL_OP_READ, 0, 10);
	EXPECT_EQ(g.io.outs, 2);
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_READ_RESPONSE_ONLY, .psn = 0x100,
				       .syndrome = RC_SYN_ACK }, 10, 7);
	EXPECT_EQ(g.io.outs, 3);
	STEP("none at all: such a request fails");
	p.rd_atomic = 0;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 3, FL_OP_READ, 0, 10);
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_ATOMIC_ACKNOWLEDGE, .psn = 0x101,
				       .syndrome = RC_SYN_ACK }, 0, 0);
	EXPECT_EQ(g.io.dones, 2);
}

TEST("scatter, inline data and immediate data: what leaves is what was listed")
{
	struct fw_work w = rig_work(FL_OP_SEND, 0, 300);
	struct rc_packet p;
	unsigned int i;

	rig_start_filled(&g);
	w.flags |= FL_WQE_IMM | FL_WQE_SOLICITED | FL_WQE_LIST;
	w.imm = 0xABCD1234;
	w.segments = 3;
	w.segment[0] = (struct fw_segment){ RIG_BASE + 4000, 200, 0x101 };
	w.segment[1] = (struct fw_segment){ RIG_BASE + 9000, 0, 0x101 };
	w.segment[2] = (struct fw_segment){ RIG_BASE + 8100, 100, 0x103 };
	rig_post(&g, 0, &w);
	p = rig_out(&g);
	EXPECT_EQ(p.opcode, WOP_RC_SEND_FIRST);
	EXPECT(!p.solicited);
	EXPECT_MEM(p.payload, g.io.mem + 4000, 200);
	EXPECT_MEM(p.payload + 200, g.io.mem + 8100, 56);
	p = rig_out(&g);
	EXPECT_EQ(p.opcode, WOP_RC_SEND_LAST_IMM);
	EXPECT(p.solicited);
	EXPECT_EQ(p.imm, 0xABCD1234);
	EXPECT_EQ(p.payload_len, 44);
	EXPECT_MEM(p.payload, g.io.mem + 8156, 44);
	EXPECT_EQ(g.io.bursts, 5);	/* 96 + 104 of the first, by a page's end; 36 + 20; 44 */
	w.flags = FL_WQE_INLINE;
	w.length = 100;
	w.segments = 0;
	for (i = 0; i < 100; i++)
		w.data[i] = (uint8_t)(200 - i);
	rig_post(&g, 1, &w);
	p = rig_out(&g);
	EXPECT_EQ(p.payload_len, 100);
	EXPECT_MEM(p.payload, w.data, 100);
	EXPECT_EQ(g.io.bursts, 5);
}

TEST("a page of one's own that is missing parks the send queue; others, and answers, go on")
{
	struct fw_pair p = rig_pair();
	struct fw_work w = rig_work(FL_OP_WRITE, 5, 10);

	rig_start_filled(&g);
	g.verdict.verdict = RC_PARK;
	g.io.present[3] = false;
	p.qpn = 0x123406;
	g.io.t.open(g.io.t.ctx, 6, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_work_post(&g, 1, FL_OP_WRITE, 3, 600);
	EXPECT_EQ(g.io.outs, 1);
	EXPECT_EQ(g.io.misses, 1);
	EXPECT_EQ(g.miss.side, RC_REQUESTER);
	EXPECT(!g.miss.write);
	EXPECT_EQ(g.miss.va, RIG_BASE + 3 * 4096);
	EXPECT_EQ(g.miss.len, 256);
	EXPECT_EQ(g.miss.left, 344);
	EXPECT_EQ(g.miss.wr, 1);
	EXPECT(g.miss.work && g.miss.work->length == 600);
	g.io.t.post(g.io.t.ctx, 6, 9, &w);
	rig_run(&g);
	EXPECT_EQ(g.io.outs, 2);
	STEP("no time-out meanwhile");
	EXPECT_NE(g.io.alarm, UINT64_MAX);	/* of the other pair */
	rig_in_ack(&g, 0x100, RC_SYN_ACK);
	EXPECT_EQ(g.io.dones, 1);
	rig_resume(&g, RC_REQUESTER, true, FL_ST_OK);	/* not what it waits for */
	EXPECT_EQ(g.io.outs, 2);
	g.io.present[3] = true;
	rig_resume(&g, RC_REQUESTER, false, FL_ST_OK);
	EXPECT_EQ(g.io.outs, 5);
}

TEST("of a packet from several segments only bytes of the segment are said to be missing")
{
	struct fw_work w = rig_work(FL_OP_WRITE, 0, 900);

	rig_start_filled(&g);
	g.verdict.verdict = RC_PARK;
	g.io.present[2] = false;
	w.flags |= FL_WQE_LIST;
	w.segments = 3;
	w.segment[0] = (struct fw_segment){ RIG_BASE + 100, 50, 0x101 };
	w.segment[1] = (struct fw_segment){ RIG_BASE + 3 * 4096 - 20, 20, 0x101 };
	w.segment[2] = (struct fw_segment){ RIG_BASE + 2 * 4096, 830, 0x103 };
	rig_post(&g, 0, &w);
	EXPECT_EQ(g.miss.va, RIG_BASE + 3 * 4096 - 20);
	EXPECT_EQ(g.miss.len, 20);
	EXPECT_EQ(g.miss.left, 0);
	STEP("the last one is longer than the packet");
	w.segment[1].va = RIG_BASE + 4096;
	rig_close(&g);
	rig_start_filled(&g);
	g.verdict.verdict = RC_PARK;
	g.io.present[2] = false;
	rig_post(&g, 0, &w);
	EXPECT_EQ(g.miss.va, RIG_BASE + 2 * 4096);
	EXPECT_EQ(g.miss.len, 256 - 70);
	EXPECT_EQ(g.miss.left, 900 - 256);
}

TEST("a page that never comes ends its request, after all that were before it")
{
	rig_start_filled(&g);
	g.verdict.verdict = RC_PARK;
	g.io.present[3] = false;
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_work_post(&g, 1, FL_OP_WRITE, 3, 600);
	rig_work_post(&g, 2, FL_OP_WRITE, 0, 10);
	rig_resume(&g, RC_REQUESTER, false, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(g.io.dones, 0);
	rig_in_ack(&g, 0x100, RC_SYN_ACK);
	EXPECT_EQ(g.io.dones, 2);
	rig_is_done(&g, 0, 0, FL_ST_OK);
	rig_is_done(&g, 1, 1, FL_ST_LOCAL_FAULT);
	STEP("a lost answer to what was before it is asked for again");
	rig_start_filled(&g);
	g.verdict.verdict = RC_PARK;
	g.io.present[3] = false;
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_work_post(&g, 1, FL_OP_WRITE, 3, 600);
	EXPECT_EQ(g.io.outs, 1);
	rig_resume(&g, RC_REQUESTER, false, FL_ST_LOCAL_FAULT);
	EXPECT_NE(g.io.alarm, UINT64_MAX);
	rig_ring(&g);
	EXPECT_EQ(g.io.outs, 2);
	rig_in_ack(&g, 0x100, RC_SYN_ACK);
	EXPECT_EQ(g.io.dones, 2);
	rig_is_done(&g, 0, 0, FL_ST_OK);
	rig_is_done(&g, 1, 1, FL_ST_LOCAL_FAULT);
	STEP("and so does a verdict that says so at once, a key, memory that fails");
	rig_start_filled(&g);
	g.verdict.verdict = RC_FAIL;
	g.io.present[3] = false;
	rig_work_post(&g, 0, FL_OP_WRITE, 3, 600);
	rig_is_done(&g, 0, 0, FL_ST_LOCAL_FAULT);
	rig_start_filled(&g);
	g.io.key[1].alive = false;
	rig_work_post(&g, 0, FL_OP_WRITE, 3, 600);
	rig_is_done(&g, 0, 0, FL_ST_LOCAL_KEY);
	rig_start_filled(&g);
	g.io.fails = true;
	rig_work_post(&g, 0, FL_OP_WRITE, 3, 600);
	rig_is_done(&g, 0, 0, FL_ST_BUS_ERROR);
}

TEST("a page that never comes ends its own request, although the queue went back meanwhile")
{
	rig_start_filled(&g);
	g.verdict.verdict = RC_PARK;
	g.io.present[3] = false;
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_work_post(&g, 1, FL_OP_WRITE, 0, 10);
	rig_work_post(&g, 2, FL_OP_WRITE, 3, 600);
	rig_in_ack(&g, 0x100, RC_SYN_NAK_SEQUENCE);
	rig_resume(&g, RC_REQUESTER, false, FL_ST_LOCAL_FAULT);
	rig_in_ack(&g, 0x101, RC_SYN_ACK);
	EXPECT_EQ(g.io.dones, 3);
	rig_is_done(&g, 1, 1, FL_ST_OK);
	rig_is_done(&g, 2, 2, FL_ST_LOCAL_FAULT);
}

TEST("work that the unit does not know, or that does not fit, ends when its turn comes")
{
	struct fw_work w = rig_work(FL_OP_READ_RESP, 0, 10);

	rig_start_filled(&g);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	rig_post(&g, 1, &w);
	EXPECT_EQ(g.io.dones, 0);
	rig_in_ack(&g, 0x100, RC_SYN_ACK);
	rig_is_done(&g, 1, 1, FL_ST_BAD_OPCODE);
	rig_start_filled(&g);
	w = rig_work(FL_OP_WRITE, 0, FW_INLINE_MAX + 1);
	w.flags |= FL_WQE_INLINE;
	rig_post(&g, 0, &w);
	rig_is_done(&g, 0, 0, FL_ST_BAD_LENGTH);
	rig_start_filled(&g);
	w = rig_work(FL_OP_READ, 0, 256u * (1u << 22) + 1);
	rig_post(&g, 0, &w);
	rig_is_done(&g, 0, 0, FL_ST_BAD_LENGTH);
}

TEST("asleep on its own page the sending channel stops for all, until it is there")
{
	struct fw_pair p = rig_pair();
	struct fw_work w = rig_work(FL_OP_WRITE, 5, 10);

	rig_start_filled(&g);
	g.verdict.verdict = RC_SLEEP;
	g.io.present[3] = false;
	p.qpn = 0x123406;
	g.io.t.open(g.io.t.ctx, 6, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 3, 10);
	g.io.t.post(g.io.t.ctx, 6, 9, &w);
	rig_run(&g);
	EXPECT_EQ(g.io.outs, 0);
	g.io.present[3] = true;
	rig_resume(&g, RC_REQUESTER, false, FL_ST_OK);
	EXPECT_EQ(g.io.outs, 2);
}

TEST("no room on the wire: the packet waits, and goes when there is")
{
	rig_start_filled(&g);
	g.io.no_room = true;
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 300);
	EXPECT_EQ(g.io.outs, 0);
	g.io.no_room = false;
	rc_wire_room(g.rc);
	rig_run(&g);
	EXPECT_EQ(g.io.outs, 2);
}

TEST("a pair that does not send yet answers only; its PSN counts when it first may send")
{
	struct fw_pair p = rig_pair();

	rig_open(&g, 0, &rig_config);
	test_cleanup(rig_close, &g);
	p.sends = false;
	p.sq_psn = 0;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 10);
	EXPECT_EQ(g.io.outs, 0);
	p.sends = true;
	p.sq_psn = 0x4242;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_run(&g);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x4242);
	p.sq_psn = 0x1111;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	rig_work_post(&g, 1, FL_OP_WRITE, 0, 10);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x4243);
}

TEST("attributes that make no sense are refused")
{
	struct fw_pair p;

	rig_open(&g, 0, &rig_config);
	test_cleanup(rig_close, &g);
	p = rig_pair();
	p.mtu = 300;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_BAD_ARGUMENT);
	p = rig_pair();
	p.mtu = 8192;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_BAD_ARGUMENT);
	p = rig_pair();
	p.dest_rd_atomic = 17;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_BAD_ARGUMENT);
	p = rig_pair();
	p.rnr_code = 32;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_BAD_ARGUMENT);
	p = rig_pair();
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, 256, &p), FL_ST_BAD_ARGUMENT);
}

TEST("after close() not a byte moves, nothing completes and no timer runs")
{
	uint64_t bursts;

	rig_start_filled(&g);
	g.io.burst_ns = 100;
	rig_work_post(&g, 0, FL_OP_WRITE, 0, 600);
	g.io.t.post(g.io.t.ctx, RIG_QP, 1, &(struct fw_work){ .opcode = FL_OP_WRITE, .length = 600,
		 .segments = 1, .segment = { { RIG_BASE, 600, 0x101 } } });
	rc_step(g.rc, 0, g.io.now);	/* a burst is open */
	EXPECT(g.io.open[0]);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	EXPECT(!g.io.open[0]);
	bursts = g.io.bursts;
	rig_run(&g);
	rig_in_ack(&g, 0x102, RC_SYN_ACK);
	EXPECT_EQ(g.io.bursts, bursts);
	EXPECT_EQ(g.io.dones, 0);
	EXPECT_EQ(g.io.alarm, UINT64_MAX);
	EXPECT(rc_idle(g.rc));
}

TEST("after stop_key() not a byte moves through the key, and the request fails")
{
	rig_start_filled(&g);
	g.io.burst_ns = 100;
	g.io.t.post(g.io.t.ctx, RIG_QP, 0, &(struct fw_work){ .opcode = FL_OP_WRITE, .length = 600,
		 .segments = 1, .segment = { { RIG_BASE, 600, 0x101 } } });
	rc_step(g.rc, 0, g.io.now);
	EXPECT(g.io.open[0]);
	g.io.t.stop_key(g.io.t.ctx, 0x101);
	EXPECT(!g.io.open[0]);
	g.io.key[1].alive = false;
	rig_run(&g);	/* a burst with that key would be seen by the rig */
	rig_is_done(&g, 0, 0, FL_ST_LOCAL_KEY);
}

TEST("a key that ends between two bursts of a packet: the second burst does not begin")
{
	struct fw_work w = rig_work(FL_OP_WRITE, 0, 200);

	rig_start_filled(&g);
	g.io.burst_ns = 100;
	w.segment[0].va += 4000;
	g.io.t.post(g.io.t.ctx, RIG_QP, 0, &w);
	rc_step(g.rc, 0, g.io.now);
	EXPECT(g.io.open[0]);
	g.io.t.stop_key(g.io.t.ctx, 0x101);
	EXPECT(!g.io.open[0]);
	EXPECT_EQ(g.io.bursts, 1);
	g.io.key[1].alive = false;
	rig_run(&g);
	EXPECT_EQ(g.io.bursts, 1);
	rig_is_done(&g, 0, 0, FL_ST_LOCAL_KEY);
}
