// SPDX-License-Identifier: BSD-2-Clause
/*
 * The receive ring of datagrams and the backup ring (NPF, ASPLOS 2017, section 5): a rule of
 * the paper's table each.
 */
#include "rig/ud.h"

static struct rig g;

static void page_expect(unsigned int page, uint8_t fill)
{
	uint8_t want[100];

	memset(want, fill, sizeof(want));
	EXPECT_MEM(g.io.mem + page * 4096, want, sizeof(want));
}

TEST("a datagram lands in the oldest receive, and is announced at once")
{
	struct ud_ring_state st;

	rig_start(&g);
	rig_recv(&g, 1, 2048);
	rig_recv(&g, 2, 2048);
	rig_comes(&g, 7);
	EXPECT_EQ(g.done, 1);
	EXPECT_EQ(g.arrived.length, 100);
	EXPECT_EQ(g.arrived.from_qp, RIG_PEER);
	EXPECT_EQ(g.arrived.from_node, 1);
	EXPECT_EQ(g.arrived.opcode, FL_OP_RECV);
	page_expect(1, 7);
	rig_in(&g, (struct rc_packet){ .opcode = WOP_UD_SEND_ONLY_IMM, .imm = 0xABCD,
				       .solicited = true }, 100, 8);
	EXPECT_EQ(g.done, 2);
	EXPECT_EQ(g.arrived.imm, 0xABCD);
	EXPECT_EQ(g.arrived.opcode, FL_OP_RECV_IMM);
	EXPECT(g.arrived.solicited);
	page_expect(2, 8);
	st = rig_ring_state(&g);
	EXPECT_EQ(st.head, 2);
	EXPECT_EQ(st.head_offset, 0);
	EXPECT(!g.line);
}

TEST("what has no page is diverted; head stays, and the ring's state is the paper's")
{
	struct ud_ring_state st;
	struct fl_backup *d;

	rig_start(&g);
	g.io.present[1] = false;
	rig_recv(&g, 1, 2048);
	rig_recv(&g, 2, 2048);
	rig_comes(&g, 7);
	EXPECT_EQ(g.done, 0);
	EXPECT(g.line);
	st = rig_ring_state(&g);
	EXPECT_EQ(st.head, 0);
	EXPECT_EQ(st.head_offset, 1);
	EXPECT_EQ(st.bitmap[0], 1);
	EXPECT_EQ(st.bm_index, 0);
	EXPECT_EQ(st.bm_size, 4);
	/* Behind it there is a page: there the datagram goes at once, and is not announced. */
	rig_comes(&g, 8);
	page_expect(2, 8);
	EXPECT_EQ(g.done, 0);
	EXPECT_EQ(rig_ring_state(&g).head_offset, 2);
	EXPECT_EQ(rig_ring_state(&g).bitmap[0], 1);
	d = rig_next(&g);
	EXPECT_EQ(d->kind, FL_BACKUP_PACKET);
	EXPECT_EQ(d->qp, RIG_QPN);
	EXPECT_EQ(d->slot, 3);
	EXPECT_EQ(d->index, 0);
	EXPECT_EQ(d->bit, 0);
	EXPECT_EQ(d->len, 100);
	EXPECT_EQ(d->posted, 1);
	EXPECT_EQ(d->va0, RIG_BASE + 4096);
	EXPECT_EQ(d->bytes0, 2048);
	EXPECT_EQ(d->key0, RIG_KEY);
	rig_give(&g);
	EXPECT(!g.line);
	rig_resolve(&g, d);
	EXPECT_EQ(g.done, 2);
	page_expect(1, 7);
	st = rig_ring_state(&g);
	EXPECT_EQ(st.head, 2);
	EXPECT_EQ(st.head_offset, 0);
	EXPECT_EQ(st.bitmap[0], 0);
	EXPECT_EQ(st.bm_index, 2);
	EXPECT_EQ(g.io.events[EV_UD_DIVERT], 1);
	EXPECT_EQ(g.io.events[EV_UD_RELEASE], 1);
}

TEST("resolved in another order, they are announced in that of their arrival")
{
	struct fl_backup d[3];
	unsigned int i;

	rig_start(&g);
	for (i = 0; i < 3; i++) {
		g.io.present[1 + i] = false;
		rig_recv(&g, 1 + i, 2048);
	}
	for (i = 0; i < 3; i++)
		rig_comes(&g, (uint8_t)(1 + i));
	for (i = 0; i < 3; i++)
		d[i] = *rig_next(&g);
	rig_give(&g);
	rig_resolve(&g, &d[2]);
	EXPECT_EQ(g.done, 0);
	EXPECT_EQ(rig_ring_state(&g).bitmap[0], 3);
	rig_resolve(&g, &d[0]);
	EXPECT_EQ(g.done, 1);
	EXPECT_EQ(rig_ring_state(&g).head, 1);
	EXPECT_EQ(rig_ring_state(&g).head_offset, 2);
	EXPECT_EQ(rig_ring_state(&g).bm_index, 1);
	rig_resolve(&g, &d[1]);
	EXPECT_EQ(g.done, 3);
	for (i = 0; i < 3; i++)
		page_expect(1 + i, (uint8_t)(1 + i));
}

TEST("where the next datagram goes does not change when earlier ones are resolved meanwhile")
{
	struct wire_frame f = { .from = 1 };
	struct rc_packet p = {
		.opcode = WOP_UD_SEND_ONLY, .dest_qp = RIG_QPN, .qkey = RIG_QKEY,
		.src_qp = RIG_PEER, .payload_len = 100,
	};
	struct fl_backup d;

	rig_start(&g);
	g.io.present[1] = false;
	rig_recv(&g, 1, 2048);
	rig_recv(&g, 2, 2048);
	rig_comes(&g, 7);
	d = *rig_next(&g);
	rig_give(&g);
	memset(rc_payload(&f, p.opcode), 9, 100);
	rc_put(&f, &p, false);
	ud_receive(g.ud, &f, g.io.now);
	/* Its burst is open. */
	EXPECT_NE(ud_step(g.ud, 1, g.io.now), UINT64_MAX);
	EXPECT(g.io.open[5]);
	EXPECT_EQ(rig_ring_state(&g).head + rig_ring_state(&g).head_offset, 1);
	rig_resolve(&g, &d);
	EXPECT_EQ(g.done, 2);
	page_expect(1, 7);
	page_expect(2, 9);
	EXPECT_EQ(rig_ring_state(&g).head, 2);
}

TEST("bm_size bounds what is held of one queue pair, and the bitmap goes round")
{
	struct fl_backup d;
	unsigned int i;

	rig_start(&g);
	g.io.present[1] = false;
	for (i = 0; i < 40; i++)
		rig_recv(&g, 1, 2048);
	for (i = 0; i < 4; i++)
		rig_comes(&g, (uint8_t)i);
	EXPECT_EQ(rig_ring_state(&g).bitmap[0], 15);
	rig_comes(&g, 99);
	EXPECT_EQ(rig_drops(&g, UD_DROP_BITS), 1);
	EXPECT_EQ(rig_ring_state(&g).head_offset, 4);
	for (i = 0; i < 30; i++) {
		d = *rig_next(&g);
		EXPECT_EQ(d.bit, i % 4);
		EXPECT_EQ(d.index, i);
		rig_give(&g);
		rig_resolve(&g, &d);
		EXPECT_EQ(g.done, i + 1);
		EXPECT_EQ(rig_ring_state(&g).bm_index, (i + 1) % 4);
		rig_comes(&g, 1);
	}
}

TEST("a queue pair may be given fewer than the ring's own bound, and no more")
{
	unsigned int i;

	rig_start_bits(&g, 2);
	g.io.present[1] = false;
	for (i = 0; i < 3; i++)
		rig_recv(&g, 1, 2048);
	for (i = 0; i < 3; i++)
		rig_comes(&g, (uint8_t)i);
	EXPECT_EQ(rig_ring_state(&g).bm_size, 2);
	EXPECT_EQ(rig_ring_state(&g).bitmap[0], 3);
	EXPECT_EQ(rig_drops(&g, UD_DROP_BITS), 1);
	rig_start_bits(&g, 9);
	EXPECT_EQ(rig_ring_state(&g).bm_size, 4);
}

TEST("with an earlier one diverted, more than bm_size may be stored where pages are")
{
	struct fl_backup d;
	unsigned int i;

	rig_start(&g);
	g.io.present[1] = false;
	rig_recv(&g, 1, 2048);
	for (i = 0; i < 10; i++)
		rig_recv(&g, 2 + i, 2048);
	for (i = 0; i < 11; i++)
		rig_comes(&g, (uint8_t)i);
	EXPECT_EQ(rig_ring_state(&g).head_offset, 11);
	EXPECT_EQ(rig_ring_state(&g).bitmap[0], 1);
	d = *rig_next(&g);
	rig_give(&g);
	rig_resolve(&g, &d);
	EXPECT_EQ(g.done, 11);
	for (i = 0; i < 11; i++)
		page_expect(1 + i, (uint8_t)i);
}

TEST("a backup ring that is full loses what would go there, until the driver gives buffers")
{
	struct fl_backup d;
	unsigned int i;

	rig_start(&g);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	EXPECT_EQ(ud_backup_slots_set(g.ud, 0, 0), 0);
	rig_backup(&g, 4, 8);
	g.io.t.open(g.io.t.ctx, RIG_QP, &(struct fw_pair){ .qpn = RIG_QPN, .mtu = 2048,
						     .qkey = RIG_QKEY });
	g.io.present[1] = false;
	for (i = 0; i < 5; i++)
		rig_recv(&g, 1, 2048);
	/* The fourth descriptor is not for packets. */
	for (i = 0; i < 4; i++)
		rig_comes(&g, (uint8_t)i);
	EXPECT_EQ(rig_drops(&g, UD_DROP_BACKUP), 1);
	d = *rig_next(&g);
	/* Taken, and without a buffer: there is no room yet. */
	EXPECT_EQ(ud_backup_cons_set(g.ud, 1, 0), 0);
	rig_comes(&g, 4);
	EXPECT_EQ(rig_drops(&g, UD_DROP_BACKUP), 2);
	EXPECT(g.line);
	EXPECT_EQ(ud_backup_given_set(g.ud, 5, 0), 0);
	rig_comes(&g, 5);
	EXPECT_EQ(rig_drops(&g, UD_DROP_BACKUP), 2);
	EXPECT_EQ(d.index, 0);
	EXPECT_EQ(rig_next(&g)->index, 1);
	EXPECT_EQ(rig_next(&g)->index, 2);
	EXPECT_EQ(rig_next(&g)->index, 3);
}

TEST("packets that wait for receives leave room for the word that one has been posted")
{
	unsigned int i;

	rig_start(&g);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	EXPECT_EQ(ud_backup_slots_set(g.ud, 0, 0), 0);
	rig_backup(&g, 4, 8);
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &(struct fw_pair){
			.qpn = RIG_QPN, .mtu = 2048, .qkey = RIG_QKEY }), FL_ST_OK);
	for (i = 0; i < 5; i++)
		rig_comes(&g, (uint8_t)i);
	EXPECT_EQ(rig_drops(&g, UD_DROP_BACKUP), 2);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(rig_next(&g)->kind, FL_BACKUP_PACKET);
	STEP("the driver has taken them, and has no page to give");
	rig_recv(&g, 1, 2048);
	EXPECT_EQ(rig_next(&g)->kind, FL_BACKUP_RECEIVE);
}

TEST("what comes before its receive waits in the backup ring, and the driver hears of the receive")
{
	struct fl_backup d, e;

	rig_start(&g);
	rig_comes(&g, 5);
	d = *rig_next(&g);
	EXPECT_EQ(d.kind, FL_BACKUP_PACKET);
	EXPECT_EQ(d.posted, 0);
	EXPECT_EQ(d.segments, 0);
	rig_give(&g);
	EXPECT(!g.line);
	EXPECT(ud_idle(g.ud));
	/* It cannot have been copied yet. */
	EXPECT_EQ(ud_backup_resolved(g.ud, rig_word(&d, 0), 0), -22);
	rig_recv(&g, 3, 2048);
	EXPECT(g.line);
	EXPECT(!ud_idle(g.ud));
	e = *rig_next(&g);
	EXPECT_EQ(e.kind, FL_BACKUP_RECEIVE);
	EXPECT_EQ(e.status, FL_ST_OK);
	EXPECT_EQ(e.index, 0);
	EXPECT_EQ(e.bit, 0);
	EXPECT_EQ(e.va0, RIG_BASE + 3 * 4096);
	rig_give(&g);
	rig_copy(&g, &e, d.buffer);
	EXPECT_EQ(ud_backup_resolved(g.ud, rig_word(&e, 0), 0), 0);
	EXPECT_EQ(g.done, 1);
	page_expect(3, 5);
}

TEST("a receive that is too short for what waits is announced with LENGTH")
{
	struct fl_backup e;

	rig_start(&g);
	rig_comes(&g, 5);
	rig_next(&g);
	rig_give(&g);
	rig_recv(&g, 3, 64);
	e = *rig_next(&g);
	EXPECT_EQ(e.status, FL_ST_LENGTH);
	EXPECT_EQ(ud_backup_resolved(g.ud, rig_word(&e, e.status), 0), 0);
	EXPECT_EQ(g.done, 1);
	EXPECT_EQ(g.arrived.status, FL_ST_LENGTH);
}

TEST("in row dropring what has no page, or no receive, is lost")
{
	rig_start(&g);
	g.verdict = RC_DROP;
	rig_comes(&g, 5);
	EXPECT_EQ(rig_drops(&g, UD_DROP_NO_RECEIVE), 1);
	g.io.present[3] = false;
	rig_recv(&g, 3, 2048);
	rig_comes(&g, 6);
	EXPECT_EQ(rig_drops(&g, UD_DROP_MISSING), 1);
	EXPECT_EQ(g.miss.va, RIG_BASE + 3 * 4096);
	EXPECT_EQ(g.miss.side, RC_RESPONDER);
	EXPECT(g.miss.write);
	g.io.present[3] = true;
	rig_comes(&g, 7);
	EXPECT_EQ(g.done, 1);
	page_expect(3, 7);
	EXPECT_EQ(rig_ring_state(&g).head_offset, 0);
	EXPECT_EQ(g.taken, 0);
}

TEST("malformed, for nobody, without the key, or too long: lost, and nothing else changes")
{
	struct wire_frame f = { .from = 1, .len = 20 };
	unsigned int i;

	rig_start(&g);
	rig_recv(&g, 1, 64);
	f.bytes[0] = WOP_UD_SEND_ONLY;
	ud_receive(g.ud, &f, 0);
	EXPECT_EQ(rig_drops(&g, UD_DROP_BAD), 1);
	rig_in(&g, (struct rc_packet){ .dest_qp = RIG_QPN + 0x100 }, 10, 1);
	rig_in(&g, (struct rc_packet){ .dest_qp = RIG_QPN + 1 }, 10, 1);
	EXPECT_EQ(rig_drops(&g, UD_DROP_NO_PAIR), 2);
	rig_in(&g, (struct rc_packet){ .qkey = RIG_QKEY + 1 }, 10, 1);
	EXPECT_EQ(rig_drops(&g, UD_DROP_QKEY), 1);
	rig_in(&g, (struct rc_packet){ .psn = 1 }, 65, 1);
	EXPECT_EQ(rig_drops(&g, UD_DROP_LENGTH), 1);
	EXPECT_EQ(g.done, 0);
	rig_in(&g, (struct rc_packet){ .psn = 1 }, 64, 1);
	EXPECT_EQ(g.done, 1);
	/* More than may wait to be taken. */
	f = (struct wire_frame){ .from = 1 };
	rc_put(&f, &(struct rc_packet){ .opcode = WOP_UD_SEND_ONLY, .dest_qp = RIG_QPN,
					.qkey = RIG_QKEY }, false);
	for (i = 0; i < 33; i++)
		ud_receive(g.ud, &f, 0);
	EXPECT_EQ(rig_drops(&g, UD_DROP_FULL), 1);
	rig_run(&g);
	EXPECT_EQ(g.io.errors, 0);
}

TEST("when its queue pair ends, the driver hears that what it holds is over, and answers in vain")
{
	struct fw_pair p = rig_pair();
	struct fl_backup d;

	rig_start(&g);
	g.io.present[1] = false;
	rig_recv(&g, 1, 2048);
	rig_comes(&g, 7);
	d = *rig_next(&g);
	rig_give(&g);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	EXPECT_EQ(rig_next(&g)->kind, FL_BACKUP_OVER);
	rig_give(&g);
	EXPECT_EQ(ud_backup_resolved(g.ud, rig_word(&d, 0), 0), 0);
	EXPECT_EQ(g.done, 0);
	/* The same place opens anew, and the same bit is set. */
	g.posted = g.done = 0;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_recv(&g, 1, 2048);
	rig_comes(&g, 8);
	EXPECT_EQ(ud_backup_resolved(g.ud, rig_word(&d, 0), 0), 0);
	EXPECT_EQ(g.done, 0);
	d = *rig_next(&g);
	rig_give(&g);
	rig_resolve(&g, &d);
	EXPECT_EQ(g.done, 1);
	page_expect(1, 8);
}

TEST("the word that a queue pair has ended comes before anything of the next one")
{
	struct fw_pair p = rig_pair();
	unsigned int i;

	rig_start(&g);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	EXPECT_EQ(ud_backup_slots_set(g.ud, 0, 0), 0);
	rig_backup(&g, 2, 4);
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_comes(&g, 0);
	g.io.present[1] = false;
	/* The word that its receive is there takes the last descriptor. */
	rig_recv(&g, 1, 2048);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_comes(&g, 9);
	EXPECT_EQ(rig_drops(&g, UD_DROP_BACKUP), 1);
	rig_next(&g);
	rig_next(&g);
	rig_give(&g);
	EXPECT_EQ(rig_next(&g)->kind, FL_BACKUP_OVER);
	for (i = 0; i < 2; i++)
		rig_give(&g);
	rig_comes(&g, 10);
	EXPECT_EQ(rig_next(&g)->kind, FL_BACKUP_PACKET);
}

TEST("a malformed receive, a lost key or memory that fails ends the queue pair")
{
	rig_start(&g);
	rig_recv(&g, 1, 2048);
	g.wrong = FL_ST_BAD_ENTRY;
	rig_comes(&g, 1);
	EXPECT_EQ(g.io.error, FL_ST_BAD_ENTRY);

	rig_start(&g);
	rig_comes(&g, 1);
	g.wrong = FL_ST_LOCAL_KEY;
	rig_recv(&g, 1, 2048);
	EXPECT_EQ(g.io.error, FL_ST_LOCAL_KEY);

	rig_start(&g);
	rig_recv(&g, 1, 2048);
	g.revoked = true;
	rig_comes(&g, 1);
	EXPECT_EQ(g.io.error, FL_ST_LOCAL_KEY);

	rig_start(&g);
	rig_recv(&g, 1, 2048);
	g.io.fails = true;
	rig_comes(&g, 1);
	EXPECT_EQ(g.io.error, FL_ST_BUS_ERROR);

	rig_start(&g);
	rig_recv(&g, 1, 2048);
	g.io.present[1] = false;
	g.verdict = RC_FAIL;
	rig_comes(&g, 1);
	EXPECT_EQ(g.io.error, FL_ST_LOCAL_FAULT);
}

TEST("registers: nonsense is refused, and the line comes after the trigger")
{
	struct ud_config late = rig_config;
	struct fw_pair p = rig_pair();
	uint64_t diverted;

	rig_start(&g);
	EXPECT_EQ(ud_backup_base_set(g.ud, 0x2000), -22);	/* it runs */
	EXPECT_EQ(ud_backup_slots_set(g.ud, 8, 0), -22);
	EXPECT_EQ(ud_backup_cons_set(g.ud, 1, 0), -22);
	EXPECT_EQ(ud_backup_given_set(g.ud, 9, 0), -22);
	EXPECT_EQ(ud_backup_bits_set(g.ud, 257), -22);
	EXPECT_EQ(ud_backup_resolved(g.ud, 1u << 31, 0), -22);
	EXPECT_EQ(ud_backup_slots_set(g.ud, 0, 0), 0);
	EXPECT_EQ(ud_backup_slots_set(g.ud, 12, 0), -22);
	EXPECT_EQ(ud_backup_slots_set(g.ud, 8192, 0), -22);
	EXPECT_EQ(ud_backup_base_set(g.ud, 0x2010), -22);
	EXPECT_EQ(ud_backup_base(g.ud), RIG_RING);
	EXPECT_EQ(ud_backup_bits(g.ud), 4);
	EXPECT_EQ(ud_backup_slots(g.ud), 0);

	late.trigger_ns = 5000;
	rig_open(&g, 0, &late);
	rig_backup(&g, 8, 4);
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_comes(&g, 1);
	diverted = trace_last();
	EXPECT_EQ(g.io.events[EV_UD_DIVERT], 1);
	rig_comes(&g, 2);
	EXPECT_EQ(g.io.events[EV_UD_DIVERT], 2);
	EXPECT(!g.line);
	EXPECT_NE(g.io.alarm, UINT64_MAX);
	ud_timer(g.ud, g.io.alarm);
	EXPECT(g.line);
	STEP("it is the doing of the first packet that went there");
	EXPECT_EQ(g.line_cause, diverted);
	EXPECT_EQ(ud_backup_cons(g.ud), 0);
	EXPECT_EQ(ud_backup_given(g.ud), 8);
	ud_reset(g.ud);
	EXPECT(!g.line);
	EXPECT_EQ(rig_ring_state(&g).head_offset, 0);
}
