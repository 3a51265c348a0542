// SPDX-License-Identifier: BSD-2-Clause
/* READ over a reliable connection, both sides. */
#include "rig/rc.h"

static struct rig g;

static void unit_start(void)
{
	rig_start_filled(&g);
}

/* The peer reads `length` bytes at `at`. */
static void read_in(uint32_t psn, uint32_t at, uint32_t length)
{
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_READ_REQUEST, .psn = psn,
				       .va = RIG_BASE + at, .rkey = 0x100,
				       .length = length }, 0, 0);
}

static void write_in(uint8_t opcode, uint32_t psn, uint32_t length, uint32_t payload,
		     uint8_t fill)
{
	rig_in(&g, (struct rc_packet){ .opcode = opcode, .psn = psn,
				       .va = RIG_BASE + 8 * 4096, .rkey = 0x100,
				       .length = length, .ackreq = true }, payload, fill);
}

/* The next packets that left are the answer to that. */
static void answer_is(uint32_t psn, uint32_t at, uint32_t length)
{
	uint32_t done = 0, len;
	struct rc_packet p;

	do {
		len = length - done < 256 ? length - done : 256;
		p = rig_out(&g);
		EXPECT_EQ(p.psn, psn++);
		EXPECT_STR(wire_opcode_name(p.opcode),
			   length <= 256 ? "RC_READ_RESPONSE_ONLY" :
			   !done ? "RC_READ_RESPONSE_FIRST" :
			   done + len == length ? "RC_READ_RESPONSE_LAST" :
						  "RC_READ_RESPONSE_MIDDLE");
		EXPECT_EQ(p.payload_len, len);
		EXPECT_MEM(p.payload, g.io.mem + at + done, len);
		if (p.opcode != WOP_RC_READ_RESPONSE_MIDDLE)
			EXPECT_EQ(p.syndrome, RC_SYN_ACK);
		done += len;
	} while (done < length);
}

/* ---- responder ---- */

TEST("InfiniBand 9.4.4, 9.7.3: a READ is answered by packets with the PSNs from its own on")
{
	unit_start();
	read_in(20, 100, 600);
	answer_is(20, 100, 600);
	read_in(23, 4090, 10);
	answer_is(23, 4090, 10);
	read_in(24, 0, 0);
	answer_is(24, 0, 0);
	write_in(WOP_RC_WRITE_ONLY, 25, 1, 1, 1);
	rig_out_ack(&g, 25, RC_SYN_ACK);
	rig_silent(&g);
}

TEST("InfiniBand 9.7.4.1, rule 3: a READ that comes again, or the rest of it, is answered "
     "again")
{
	unit_start();
	read_in(20, 0, 700);
	g.io.out_next = g.io.outs;
	read_in(20, 0, 700);
	answer_is(20, 0, 700);
	read_in(21, 256, 444);
	answer_is(21, 256, 444);
	read_in(22, 512, 188);
	answer_is(22, 512, 188);
	STEP("what lies inside, but ends earlier, is a part of it, too");
	read_in(21, 256, 256);
	answer_is(21, 256, 256);
	rig_silent(&g);
}

TEST("rule 3: a duplicate that is not what is remembered is dropped in silence")
{
	unit_start();
	read_in(20, 0, 700);
	g.io.out_next = g.io.outs;
	read_in(20, 0, 701);		/* longer */
	read_in(20, 1, 699);		/* elsewhere */
	read_in(21, 0, 256);		/* not where that PSN was */
	read_in(19, 0, 256);		/* before it */
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_READ_REQUEST, .psn = 20,
				       .va = RIG_BASE, .rkey = 0x101, .length = 700 }, 0, 0);
	rig_silent(&g);
	EXPECT_EQ(g.io.events[EV_RC_DROP], 5);
	STEP("the next request is none the wiser");
	read_in(23, 0, 10);
	answer_is(23, 0, 10);
}

TEST("InfiniBand 9.7.4.1, rule 4: so many READs are remembered as the pair has places, "
     "the oldest is forgotten")
{
	unsigned int i;

	unit_start();
	for (i = 0; i < 5; i++)
		read_in(20 + i, i * 10, 10);
	g.io.out_next = g.io.outs;
	read_in(20, 0, 10);
	rig_silent(&g);
	for (i = 1; i < 5; i++) {
		read_in(20 + i, i * 10, 10);
		answer_is(20 + i, i * 10, 10);
	}
}

TEST("InfiniBand 9.7.5.1, rule 7: a page that is missing half way: the NAK has the PSN of "
     "that packet")
{
	unit_start();
	g.io.present[1] = false;
	read_in(20, 4096 - 512, 900);	/* 20, 21 of page 0; 22, 23 of page 1 */
	rig_out_is(&g, WOP_RC_READ_RESPONSE_FIRST, 20);
	rig_out_is(&g, WOP_RC_READ_RESPONSE_MIDDLE, 21);
	rig_out_ack(&g, 22, RC_SYN_RNR | 12);
	EXPECT_EQ(g.miss.opcode, FL_OP_READ);
	EXPECT(!g.miss.write);
	EXPECT_EQ(g.miss.va, RIG_BASE + 4096);
	EXPECT_EQ(g.miss.len, 256);
	EXPECT_EQ(g.miss.left, 132);
	EXPECT_EQ(g.miss.psn, 22);
	STEP("that PSN is due now; what is behind it has to wait");
	write_in(WOP_RC_WRITE_ONLY, 24, 1, 1, 77);
	rig_silent(&g);
	EXPECT_NE(g.io.mem[8 * 4096], 77);
	STEP("all of it again: some is a duplicate, the rest is new");
	g.io.present[1] = true;
	read_in(21, 4096 - 256, 644);
	answer_is(21, 4096 - 256, 644);
	write_in(WOP_RC_WRITE_ONLY, 24, 1, 1, 77);
	rig_out_ack(&g, 24, RC_SYN_ACK);
	STEP("and the rest alone, which takes no second place");
	g.io.present[2] = false;
	read_in(25, 8192 - 256, 512);
	rig_out_is(&g, WOP_RC_READ_RESPONSE_FIRST, 25);
	rig_out_ack(&g, 26, RC_SYN_RNR | 12);
	g.io.present[2] = true;
	read_in(26, 8192, 256);
	answer_is(26, 8192, 256);
	read_in(25, 8192 - 256, 512);
	answer_is(25, 8192 - 256, 512);
}

TEST("[RXEDUP] a duplicate READ, and a duplicate of the packet that is last, leave a WRITE "
     "in progress alone")
{
	unit_start();
	read_in(20, 0, 600);		/* 20 to 22 */
	write_in(WOP_RC_WRITE_FIRST, 23, 600, 256, 1);
	g.io.out_next = g.io.outs;
	read_in(20, 0, 600);
	answer_is(20, 0, 600);
	write_in(WOP_RC_WRITE_FIRST, 23, 600, 256, 9);
	rig_out_ack(&g, 23, RC_SYN_ACK);
	write_in(WOP_RC_WRITE_MIDDLE, 24, 0, 256, 2);
	rig_out_ack(&g, 24, RC_SYN_ACK);
	write_in(WOP_RC_WRITE_LAST, 25, 0, 88, 3);
	rig_out_ack(&g, 25, RC_SYN_ACK);
	EXPECT_EQ(g.io.mem[8 * 4096], 1);
	EXPECT_EQ(g.io.mem[8 * 4096 + 256], 2);
	EXPECT_EQ(g.io.mem[8 * 4096 + 512], 3);
}

TEST("[RXEDUP] a duplicate WRITE before a READ is acknowledged with its own PSN, not the READ's")
{
	unsigned int i;

	unit_start();
	for (i = 20; i <= 30; i++)
		write_in(WOP_RC_WRITE_ONLY, i, 1, 1, 1);
	read_in(31, 0, 10);
	g.io.out_next = g.io.outs;
	write_in(WOP_RC_WRITE_ONLY, 30, 1, 1, 1);
	rig_out_ack(&g, 30, RC_SYN_ACK);
	STEP("behind the READ the newest is acknowledged");
	write_in(WOP_RC_WRITE_ONLY, 32, 1, 1, 1);
	write_in(WOP_RC_WRITE_ONLY, 33, 1, 1, 1);
	g.io.out_next = g.io.outs;
	write_in(WOP_RC_WRITE_ONLY, 32, 1, 1, 1);
	rig_out_ack(&g, 33, RC_SYN_ACK);
	write_in(WOP_RC_WRITE_ONLY, 25, 1, 1, 1);
	rig_out_ack(&g, 25, RC_SYN_ACK);
}

TEST("InfiniBand 9.7.5.2: a READ without key, range or right is refused, at once and as a "
     "whole")
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		unit_start();
		if (i == 0)
			g.io.key[0].alive = false;
		else if (i == 1)
			g.io.key[0].bytes = 599;
		else
			g.io.key[0].rights = FL_ACC_REMOTE_WRITE;
		read_in(20, 0, 600);
		rig_out_ack(&g, 20, RC_SYN_NAK_ACCESS);
		rig_silent(&g);
		EXPECT_EQ(g.io.error, FL_ST_REMOTE_ACCESS);
	}
}

TEST("a READ of a pair that remembers none is an invalid request")
{
	struct fw_pair p = rig_pair();

	rig_open(&g, 0, &rig_config);
	test_cleanup(rig_close, &g);
	p.dest_rd_atomic = 0;
	g.io.t.open(g.io.t.ctx, RIG_QP, &p);
	read_in(20, 0, 10);
	rig_out_ack(&g, 20, RC_SYN_NAK_INVALID);
}

TEST("a key that ends half way through an answer ends the answer, and the pair")
{
	unit_start();
	g.io.no_room = true;
	read_in(20, 0, 600);
	g.io.no_room = false;
	g.io.t.stop_key(g.io.t.ctx, 0x100);
	g.io.key[0].alive = false;
	rc_wire_room(g.rc);
	rig_run(&g);
	rig_out_is(&g, WOP_RC_READ_RESPONSE_FIRST, 20);	/* was read before */
	rig_out_ack(&g, 21, RC_SYN_NAK_ACCESS);
	EXPECT_EQ(g.io.error, FL_ST_REMOTE_ACCESS);
}

TEST("requests behind a READ wait until its answer has gone; nothing is carried out behind "
     "a refused PSN")
{
	unit_start();
	g.io.no_room = true;
	read_in(20, 0, 600);
	write_in(WOP_RC_WRITE_ONLY, 23, 1, 1, 77);
	EXPECT_NE(g.io.mem[8 * 4096], 77);
	g.io.no_room = false;
	g.io.present[0] = false;
	rc_wire_room(g.rc);
	rig_run(&g);
	rig_out_is(&g, WOP_RC_READ_RESPONSE_FIRST, 20);	/* was read before */
	rig_out_ack(&g, 21, RC_SYN_RNR | 12);
	rig_silent(&g);
	EXPECT_NE(g.io.mem[8 * 4096], 77);
	g.io.present[0] = true;
	read_in(21, 256, 344);
	rig_out_is(&g, WOP_RC_READ_RESPONSE_FIRST, 21);
	rig_out_is(&g, WOP_RC_READ_RESPONSE_LAST, 22);
	write_in(WOP_RC_WRITE_ONLY, 23, 1, 1, 77);
	rig_out_ack(&g, 23, RC_SYN_ACK);
	EXPECT_EQ(g.io.mem[8 * 4096], 77);
}

/* ---- requester ---- */

static void post_read(uint32_t wr, unsigned int page, uint32_t length)
{
	struct fw_work w = rig_work(FL_OP_READ, page, length);

	rig_post(&g, wr, &w);
}

static void response_in(uint8_t opcode, uint32_t psn, uint32_t payload, uint8_t fill)
{
	rig_in(&g, (struct rc_packet){ .opcode = opcode, .psn = psn, .syndrome = RC_SYN_ACK },
	       payload, fill);
}

static void memory_is(uint32_t at, uint32_t n, uint8_t fill)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (g.io.mem[at + i] != fill)
			EXPECT_EQ(g.io.mem[at + i], fill);
}

static void request_is(uint32_t psn, uint32_t at, uint32_t length)
{
	struct rc_packet p = rig_out(&g);

	EXPECT_EQ(p.opcode, WOP_RC_READ_REQUEST);
	EXPECT_EQ(p.psn, psn);
	EXPECT_EQ(p.va, RIG_BASE + at);
	EXPECT_EQ(p.length, length);
	EXPECT_EQ(p.rkey, 0x100);
}

TEST("InfiniBand 9.4.4: the answer lands packet by packet, and the READ is over with the last")
{
	unit_start();
	memset(g.io.mem, 0, 8192);
	post_read(0, 0, 600);
	request_is(0x100, 0, 600);
	response_in(WOP_RC_READ_RESPONSE_FIRST, 0x100, 256, 1);
	response_in(WOP_RC_READ_RESPONSE_MIDDLE, 0x101, 256, 2);
	EXPECT_EQ(g.io.dones, 0);
	response_in(WOP_RC_READ_RESPONSE_LAST, 0x102, 88, 3);
	EXPECT_EQ(g.io.dones, 1);
	memory_is(0, 256, 1);
	memory_is(256, 256, 2);
	memory_is(512, 88, 3);
	memory_is(600, 1000, 0);
	STEP("what comes late changes nothing");
	response_in(WOP_RC_READ_RESPONSE_LAST, 0x102, 88, 9);
	memory_is(512, 88, 3);
}

TEST("InfiniBand 9.7.5.1.2: a response acknowledges all that was posted before its READ")
{
	struct fw_work w = rig_work(FL_OP_WRITE, 2, 10);

	unit_start();
	rig_post(&g, 0, &w);
	post_read(1, 0, 10);
	response_in(WOP_RC_READ_RESPONSE_ONLY, 0x101, 10, 1);
	EXPECT_EQ(g.io.dones, 2);
	EXPECT_EQ(g.io.done[1].status, FL_ST_OK);
}

TEST("rule 3: a gap among responses is ignored; the time-out asks for the rest, from an "
     "MTU's border on")
{
	unit_start();
	post_read(0, 0, 900);
	g.io.out_next = g.io.outs;
	response_in(WOP_RC_READ_RESPONSE_FIRST, 0x100, 256, 1);
	response_in(WOP_RC_READ_RESPONSE_MIDDLE, 0x102, 256, 3);
	response_in(WOP_RC_READ_RESPONSE_LAST, 0x103, 132, 4);
	rig_silent(&g);
	EXPECT_EQ(g.io.dones, 0);
	rig_ring(&g);
	request_is(0x101, 256, 644);
	response_in(WOP_RC_READ_RESPONSE_FIRST, 0x101, 256, 2);
	response_in(WOP_RC_READ_RESPONSE_MIDDLE, 0x102, 256, 3);
	response_in(WOP_RC_READ_RESPONSE_LAST, 0x103, 132, 4);
	EXPECT_EQ(g.io.dones, 1);
	memory_is(0, 256, 1);
	memory_is(256, 256, 2);
	memory_is(768, 132, 4);
}

TEST("InfiniBand 9.7.6: the response to a later READ says that this one's was lost")
{
	unit_start();
	post_read(0, 0, 300);
	post_read(1, 1, 10);
	g.io.out_next = g.io.outs;
	response_in(WOP_RC_READ_RESPONSE_ONLY, 0x102, 10, 1);
	request_is(0x100, 0, 300);
	request_is(0x102, 4096, 10);
	EXPECT_EQ(g.io.dones, 0);
}

TEST("responses that do not fit are dropped: length, place, syndrome, an atomic's")
{
	unit_start();
	memset(g.io.mem, 0, 8192);
	post_read(0, 0, 600);
	response_in(WOP_RC_READ_RESPONSE_FIRST, 0x100, 255, 1);
	response_in(WOP_RC_READ_RESPONSE_ONLY, 0x100, 256, 1);
	response_in(WOP_RC_READ_RESPONSE_LAST, 0x100, 88, 1);
	response_in(WOP_RC_ATOMIC_ACKNOWLEDGE, 0x100, 0, 1);
	rig_in(&g, (struct rc_packet){ .opcode = WOP_RC_READ_RESPONSE_FIRST, .psn = 0x100,
				       .syndrome = RC_SYN_NAK_ACCESS }, 256, 1);
	memory_is(0, 600, 0);
	EXPECT_EQ(g.io.events[EV_RC_DROP], 5);
	EXPECT_EQ(g.io.dones, 0);
	response_in(WOP_RC_READ_RESPONSE_FIRST, 0x100, 256, 1);
	memory_is(0, 256, 1);
}

TEST("responses into a page that is missing are dropped until it is there, then asked for "
     "from there on")
{
	struct fw_work w = rig_work(FL_OP_WRITE, 2, 10);

	unit_start();
	memset(g.io.mem, 0, 8192);
	g.verdict.verdict = RC_REWIND;
	w = rig_work(FL_OP_READ, 0, 900);
	w.segment[0].va = RIG_BASE + 4096 - 300;
	rig_post(&g, 0, &w);
	w = rig_work(FL_OP_WRITE, 2, 10);
	rig_post(&g, 1, &w);
	g.io.present[1] = false;
	g.io.out_next = g.io.outs;
	response_in(WOP_RC_READ_RESPONSE_FIRST, 0x100, 256, 1);
	EXPECT_EQ(g.io.misses, 0);
	response_in(WOP_RC_READ_RESPONSE_MIDDLE, 0x101, 256, 2);
	EXPECT_EQ(g.io.misses, 1);
	EXPECT_EQ(g.miss.side, RC_REQUESTER);
	EXPECT(g.miss.write);
	EXPECT_EQ(g.miss.va, RIG_BASE + 4096);
	EXPECT_EQ(g.miss.len, 212);
	EXPECT_EQ(g.miss.left, 900 - 512);
	EXPECT_EQ(g.miss.psn, 0x101);
	response_in(WOP_RC_READ_RESPONSE_MIDDLE, 0x102, 256, 3);
	response_in(WOP_RC_READ_RESPONSE_LAST, 0x103, 132, 4);
	EXPECT_EQ(g.io.misses, 1);
	STEP("no time-out, and no retry for an acknowledgement behind it");
	EXPECT_EQ(g.io.alarm, UINT64_MAX);
	rig_in_ack(&g, 0x104, RC_SYN_ACK);
	rig_silent(&g);
	g.io.present[1] = true;
	rig_resume(&g, RC_REQUESTER, true, FL_ST_OK);
	request_is(0x101, 256, 644);
	rig_out_is(&g, WOP_RC_WRITE_ONLY, 0x104);
	EXPECT_EQ(g.io.events[EV_RC_REWIND], 1);
	response_in(WOP_RC_READ_RESPONSE_FIRST, 0x101, 256, 2);
	response_in(WOP_RC_READ_RESPONSE_MIDDLE, 0x102, 256, 3);
	response_in(WOP_RC_READ_RESPONSE_LAST, 0x103, 132, 4);
	memory_is(4096 - 300, 256, 1);
	memory_is(4096 - 44, 256, 2);
	memory_is(4096 - 300 + 768, 132, 4);
	EXPECT_EQ(g.io.dones, 1);
}

TEST("of a response into several segments only bytes of the segment are said to be missing")
{
	struct fw_work w = rig_work(FL_OP_READ, 0, 900);

	unit_start();
	g.verdict.verdict = RC_REWIND;
	g.io.present[1] = false;
	w.flags |= FL_WQE_LIST;
	w.segments = 3;
	w.segment[0].bytes = 100;
	w.segment[1] = (struct fw_segment){ RIG_BASE + 8192 - 30, 30, 0x101 };
	w.segment[2] = (struct fw_segment){ RIG_BASE + 200, 770, 0x101 };
	rig_post(&g, 0, &w);
	response_in(WOP_RC_READ_RESPONSE_FIRST, 0x100, 256, 1);
	EXPECT_EQ(g.miss.va, RIG_BASE + 8192 - 30);
	EXPECT_EQ(g.miss.len, 30);
	EXPECT_EQ(g.miss.left, 0);
}

TEST("a page for responses that never comes, and other ends of a READ")
{
	unit_start();
	g.verdict.verdict = RC_REWIND;
	g.io.present[0] = false;
	post_read(0, 0, 10);
	response_in(WOP_RC_READ_RESPONSE_ONLY, 0x100, 10, 1);
	rig_resume(&g, RC_REQUESTER, true, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(g.io.done[0].status, FL_ST_LOCAL_FAULT);
	unit_start();
	g.verdict.verdict = RC_FAIL;
	g.io.present[0] = false;
	post_read(0, 0, 10);
	response_in(WOP_RC_READ_RESPONSE_ONLY, 0x100, 10, 1);
	EXPECT_EQ(g.io.done[0].status, FL_ST_LOCAL_FAULT);
	unit_start();
	g.io.key[1].rights = FL_ACC_REMOTE_WRITE;
	post_read(0, 0, 10);
	response_in(WOP_RC_READ_RESPONSE_ONLY, 0x100, 10, 1);
	EXPECT_EQ(g.io.done[0].status, FL_ST_LOCAL_RIGHTS);
	unit_start();
	g.verdict.verdict = RC_DROP;
	g.io.present[0] = false;
	post_read(0, 0, 10);
	g.io.out_next = g.io.outs;
	response_in(WOP_RC_READ_RESPONSE_ONLY, 0x100, 10, 1);
	rig_silent(&g);
	g.io.present[0] = true;
	rig_ring(&g);
	request_is(0x100, 0, 10);
	STEP("asleep: the channel waits, and the same packet lands");
	unit_start();
	g.verdict.verdict = RC_SLEEP;
	g.io.present[0] = false;
	post_read(0, 0, 10);
	response_in(WOP_RC_READ_RESPONSE_ONLY, 0x100, 10, 1);
	EXPECT_EQ(g.io.dones, 0);
	g.io.present[0] = true;
	rig_resume(&g, RC_REQUESTER, true, FL_ST_OK);
	EXPECT_EQ(g.io.done[0].status, FL_ST_OK);
	memory_is(0, 10, 1);
}

TEST("a READ that is refused half way is asked for from that PSN on, when the wait is over")
{
	unit_start();
	post_read(0, 0, 600);
	g.io.out_next = g.io.outs;
	response_in(WOP_RC_READ_RESPONSE_FIRST, 0x100, 256, 1);
	rig_in_ack(&g, 0x101, RC_SYN_RNR | 3);
	rig_silent(&g);
	rig_ring(&g);
	request_is(0x101, 256, 344);
}

TEST("a READ of no bytes is one packet there, one back, and over")
{
	unit_start();
	post_read(0, 0, 0);
	request_is(0x100, 0, 0);
	response_in(WOP_RC_READ_RESPONSE_ONLY, 0x100, 0, 1);
	EXPECT_EQ(g.io.done[0].status, FL_ST_OK);
}

TEST("the rest of a READ that was refused half way takes no place of another one")
{
	unsigned int i;

	unit_start();
	for (i = 0; i < 3; i++)
		read_in(20 + i, i * 10, 10);
	g.io.present[1] = false;
	read_in(23, 4096 - 256, 512);
	g.io.present[1] = true;
	read_in(24, 4096, 256);
	g.io.out_next = g.io.outs;
	for (i = 0; i < 3; i++) {
		read_in(20 + i, i * 10, 10);
		answer_is(20 + i, i * 10, 10);
	}
}

TEST("an acknowledgement that waits is not replaced by one for an older PSN")
{
	unit_start();
	write_in(WOP_RC_WRITE_ONLY, 20, 1, 1, 1);
	read_in(21, 0, 10);
	g.io.out_next = g.io.outs;
	g.io.no_room = true;
	write_in(WOP_RC_WRITE_ONLY, 22, 1, 1, 1);
	write_in(WOP_RC_WRITE_ONLY, 20, 1, 1, 1);
	g.io.no_room = false;
	rc_wire_room(g.rc);
	rig_run(&g);
	rig_out_ack(&g, 22, RC_SYN_ACK);
	rig_silent(&g);
}

TEST("the message sequence number counts a READ once, however often it is read "
     "(InfiniBand 9.7.5.2)")
{
	unit_start();
	read_in(20, 0, 600);
	read_in(20, 0, 600);
	g.io.out_next = g.io.outs;
	write_in(WOP_RC_WRITE_ONLY, 23, 1, 1, 1);
	EXPECT_EQ(rig_out(&g).msn, 2);
}

TEST("responses to a READ and own requests take turns")
{
	struct fw_work w = rig_work(FL_OP_WRITE, 2, 2560);
	unsigned int i, own = 0;

	unit_start();
	g.io.no_room = true;
	rig_post(&g, 0, &w);
	read_in(20, 0, 2560);
	g.io.no_room = false;
	rc_wire_room(g.rc);
	rig_run(&g);
	for (i = 0; i < 10; i++)
		own += rig_out(&g).opcode <= WOP_RC_WRITE_LAST;
	EXPECT_GE(own, 4);
	EXPECT_LE(own, 6);
}
