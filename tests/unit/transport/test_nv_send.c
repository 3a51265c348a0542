// SPDX-License-Identifier: BSD-2-Clause
/* NetVM's transport: the sender's rules, one by one (npf-netvm: 5; nv.h). */
#include "rig/nv.h"

static struct rig g;

static void unit_start(void)
{
	rig_start(&g);
}

static void work_post(uint32_t wr, unsigned int page, uint32_t length)
{
	struct fw_work w = rig_work(page, length);

	rig_post(&g, wr, &w);
}

static void answer_in(uint8_t opcode, uint32_t sequence, uint32_t base, bool redirected)
{
	rig_in(&g, (struct nv_packet){ .opcode = opcode, .sequence = sequence, .base = base,
				       .credits = 4, .redirected = redirected }, 0, 0);
}

static void is_fragment(uint32_t sequence, uint64_t va, uint32_t bytes)
{
	struct nv_packet p = rig_out(&g);

	EXPECT_STR(wire_opcode_name(p.opcode), "NV_WRITE");
	EXPECT_EQ(p.sequence, sequence);
	EXPECT_EQ(p.va, va);
	EXPECT_EQ(p.payload_len, bytes);
	EXPECT_MEM(p.payload, rig_at(&g, va), bytes);
}

TEST("a WRITE is cut into fragments of the MTU, each with its own address, and no credit is passed")
{
	unit_start();
	work_post(0, 2, 1000);
	/* One credit is known of before anything was heard. */
	is_fragment(0, RIG_BASE + 8192, 256);
	rig_silent(&g);
	EXPECT_EQ(g.io.events[EV_NV_CREDIT_WAIT], 1);
	answer_in(WOP_NV_ACK, 0, 1, false);
	is_fragment(1, RIG_BASE + 8192 + 256, 256);
	is_fragment(2, RIG_BASE + 8192 + 512, 256);
	is_fragment(3, RIG_BASE + 8192 + 768, 232);
	rig_silent(&g);
	answer_in(WOP_NV_ACK, 3, 1, false);
	answer_in(WOP_NV_ACK, 1, 2, false);
	EXPECT_EQ(g.io.dones, 0);
	answer_in(WOP_NV_ACK, 2, 4, false);
	rig_is_done(&g, 0, 0, FL_ST_OK);
	EXPECT_EQ(g.io.done[0].resends, 0);
	EXPECT(nv_idle(g.nv));
}

TEST("a fragment ends where a page of the receiver does")
{
	struct fw_work w;

	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	w = rig_work(1, 300);
	w.remote_va = RIG_BASE + 8192 - 100;
	rig_post(&g, 0, &w);
	EXPECT_EQ(rig_out(&g).payload_len, 100);
	EXPECT_EQ(rig_out(&g).payload_len, 200);
	rig_silent(&g);
}

TEST("data in the system buffer hold their credit until the receiver says that they are in place")
{
	unsigned int i;

	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	work_post(0, 2, 2000);
	for (i = 0; i < 4; i++)
		is_fragment(i, RIG_BASE + 8192 + i * 256, 256);
	rig_silent(&g);
	answer_in(WOP_NV_ACK, 0, 0, true);
	answer_in(WOP_NV_ACK, 1, 0, true);
	rig_silent(&g);
	/* The one in the middle comes first. */
	answer_in(WOP_NV_CREDIT, 1, 0, false);
	is_fragment(4, RIG_BASE + 8192 + 1024, 256);
	rig_silent(&g);
	EXPECT_EQ(g.io.dones, 0);
	answer_in(WOP_NV_CREDIT, 0, 2, false);
	is_fragment(5, RIG_BASE + 8192 + 1280, 256);
	rig_silent(&g);
}

TEST("a sender that pays no heed to credits sends all that its window holds")
{
	struct fw_pair p = rig_pair();
	struct nv_config cfg = rig_config;

	cfg.greedy = true;
	rig_open(&g, 0, &cfg);
	test_cleanup(rig_close, &g);
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	work_post(0, 2, 8000);
	EXPECT_EQ(g.io.outs, 16);
}

TEST("WRITEs complete in the order in which they were posted")
{
	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	work_post(0, 2, 100);
	work_post(1, 3, 100);
	answer_in(WOP_NV_ACK, 1, 0, false);
	EXPECT_EQ(g.io.dones, 0);
	answer_in(WOP_NV_ACK, 0, 2, false);
	rig_is_done(&g, 0, 0, FL_ST_OK);
	rig_is_done(&g, 1, 1, FL_ST_OK);
}

TEST("a fragment that would overwrite an earlier one waits until that is in its place")
{
	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	work_post(0, 2, 100);
	work_post(1, 2, 50);
	is_fragment(0, RIG_BASE + 8192, 100);
	rig_silent(&g);
	EXPECT_EQ(g.io.events[EV_NV_ORDER_WAIT], 1);
	answer_in(WOP_NV_ACK, 0, 0, true);
	rig_silent(&g);
	answer_in(WOP_NV_CREDIT, 0, 1, false);
	is_fragment(1, RIG_BASE + 8192, 50);
}

TEST("with a fence a WRITE begins when all before it are in their place")
{
	struct fw_work w = rig_work(3, 100);

	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	work_post(0, 2, 100);
	w.flags |= FL_WQE_FENCE;
	rig_post(&g, 1, &w);
	is_fragment(0, RIG_BASE + 8192, 100);
	rig_silent(&g);
	answer_in(WOP_NV_ACK, 0, 1, false);
	is_fragment(1, RIG_BASE + 3 * 4096, 100);
}

TEST("a source page that is missing parks the queue; when it has come all goes on")
{
	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	g.io.present[2] = false;
	work_post(0, 2, 100);
	rig_silent(&g);
	EXPECT_EQ(g.io.misses, 1);
	EXPECT_EQ(g.miss.side, NV_SENDER);
	EXPECT_EQ(g.miss.va, RIG_BASE + 8192);
	work_post(1, 3, 100);
	rig_silent(&g);
	g.io.present[2] = true;
	nv_resume(g.nv, RIG_QP, FL_ST_OK, g.io.now);
	rig_run(&g);
	is_fragment(0, RIG_BASE + 8192, 100);
	is_fragment(1, RIG_BASE + 3 * 4096, 100);
}

TEST("of a fragment from several segments only bytes of the segment are said to be missing")
{
	struct fw_work w = rig_work(4, 700);

	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	g.io.present[2] = false;
	w.segments = 3;
	w.segment[0].bytes = 10;
	w.segment[1] = (struct fw_segment){ RIG_BASE + 3 * 4096 - 20, 20, 0x102 };
	w.segment[2] = (struct fw_segment){ RIG_BASE, 670, 0x101 };
	rig_post(&g, 0, &w);
	EXPECT_EQ(g.io.misses, 1);
	EXPECT_EQ(g.miss.va, RIG_BASE + 3 * 4096 - 20);
	EXPECT_EQ(g.miss.len, 20);
	EXPECT_EQ(g.miss.left, 0);
}

TEST("a source page that never comes ends the WRITE, after those before it")
{
	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	work_post(0, 3, 100);
	g.io.present[2] = false;
	work_post(1, 2, 100);
	nv_resume(g.nv, RIG_QP, FL_ST_LOCAL_FAULT, g.io.now);
	rig_run(&g);
	EXPECT_EQ(g.io.dones, 0);
	answer_in(WOP_NV_ACK, 0, 1, false);
	rig_is_done(&g, 0, 0, FL_ST_OK);
	rig_is_done(&g, 1, 1, FL_ST_LOCAL_FAULT);
	EXPECT(g.io.events[EV_NV_ERROR]);
}

TEST("READ, SEND and atomics are refused with BAD_OPCODE")
{
	static const uint8_t ops[] = { FL_OP_READ, FL_OP_SEND, FL_OP_FETCH_ADD, FL_OP_CMP_SWAP };
	struct fw_work w = rig_work(2, 8);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		unit_start();
		w.opcode = ops[i];
		rig_post(&g, 0, &w);
		rig_is_done(&g, 0, 0, FL_ST_BAD_OPCODE);
		EXPECT_EQ(g.io.outs, 0);
		rig_close(&g);
	}
}

TEST("inline data, several segments, and a WRITE without bytes")
{
	struct fw_work w = rig_work(2, 0);
	struct nv_packet p;

	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	rig_post(&g, 0, &w);
	is_fragment(0, RIG_BASE + 8192, 0);
	w = rig_work(2, 5);
	w.segments = 0;
	w.flags |= FL_WQE_INLINE;
	memcpy(w.data, "hallo", 5);
	rig_post(&g, 1, &w);
	p = rig_out(&g);
	EXPECT_MEM(p.payload, "hallo", 5);
	w = rig_work(4, 30);
	w.segments = 2;
	w.segment[0].bytes = 10;
	w.segment[1] = (struct fw_segment){ RIG_BASE + 100, 20, 0x102 };
	rig_post(&g, 2, &w);
	p = rig_out(&g);
	EXPECT_MEM(p.payload, rig_at(&g, RIG_BASE + 4 * 4096), 10);
	EXPECT_MEM(p.payload + 10, rig_at(&g, RIG_BASE + 100), 20);
}

TEST("of a fragment nothing is heard: it goes again; after so many tries NO_ANSWER")
{
	unsigned int i;

	unit_start();
	work_post(0, 2, 100);
	is_fragment(0, RIG_BASE + 8192, 100);
	for (i = 0; i < 3; i++) {
		rig_ring(&g);
		is_fragment(0, RIG_BASE + 8192, 100);
	}
	rig_ring(&g);
	rig_is_done(&g, 0, 0, FL_ST_NO_ANSWER);
	EXPECT_EQ(g.io.done[0].resends, 3);
	EXPECT_EQ(g.io.events[EV_NV_TIMEOUT], 4);
}

TEST("of data in the system buffer the sender only asks: nothing is sent twice for a page")
{
	struct nv_packet p;

	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	work_post(0, 2, 100);
	is_fragment(0, RIG_BASE + 8192, 100);
	answer_in(WOP_NV_ACK, 0, 0, true);
	rig_ring(&g);
	p = rig_out(&g);
	EXPECT_STR(wire_opcode_name(p.opcode), "NV_CREDIT");
	EXPECT(p.ask);
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	rig_silent(&g);
	EXPECT_EQ(g.io.dones, 0);
	rig_ring(&g);
	EXPECT(rig_out(&g).ask);
	answer_in(WOP_NV_CREDIT, 1, 1, false);
	rig_is_done(&g, 0, 0, FL_ST_OK);
	EXPECT_EQ(g.io.alarm, UINT64_MAX);
}

TEST("a refusal ends the oldest WRITE with its status; what a peer may not say is its mistake")
{
	struct nv_packet p = { .opcode = WOP_NV_ACK, .sequence = 1, .base = 1, .credits = 4 };

	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	work_post(0, 2, 100);
	work_post(1, 3, 100);
	p.code = FL_ST_REMOTE_ACCESS;
	rig_in(&g, p, 0, 0);
	rig_is_done(&g, 0, 0, FL_ST_OK);
	rig_is_done(&g, 1, 1, FL_ST_REMOTE_ACCESS);
	rig_close(&g);
	unit_start();
	work_post(0, 2, 100);
	p.sequence = p.base = 0;
	p.code = FL_ST_LOCAL_KEY;
	rig_in(&g, p, 0, 0);
	rig_is_done(&g, 0, 0, FL_ST_REMOTE_INVALID);
}

TEST("answers that make no sense, or are about the past, change nothing")
{
	unit_start();
	answer_in(WOP_NV_CREDIT, 0, 0, false);
	work_post(0, 2, 100);
	answer_in(WOP_NV_ACK, 7, 0, false);
	answer_in(WOP_NV_ACK, 0, 7, false);
	answer_in(WOP_NV_ACK, 0xFFFFFFFF, 0xFFFFFFF0, true);
	EXPECT_EQ(g.io.dones, 0);
	answer_in(WOP_NV_ACK, 0, 1, false);
	answer_in(WOP_NV_ACK, 0, 1, true);
	answer_in(WOP_NV_ACK, 0, 0, true);
	EXPECT_EQ(g.io.dones, 1);
	EXPECT_EQ(g.io.alarm, UINT64_MAX);
}

TEST("a local key that is gone ends the WRITE; closing in the middle moves nothing more")
{
	unit_start();
	g.io.key[1].alive = false;
	work_post(0, 2, 100);
	rig_is_done(&g, 0, 0, FL_ST_LOCAL_KEY);
	rig_close(&g);
	unit_start();
	g.io.fails = true;
	work_post(0, 2, 100);
	rig_is_done(&g, 0, 0, FL_ST_BUS_ERROR);
	rig_close(&g);
	unit_start();
	work_post(0, 2, 100);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	rig_run(&g);
	answer_in(WOP_NV_ACK, 0, 1, false);
	EXPECT_EQ(g.io.dones, 0);
	EXPECT_EQ(g.io.alarm, UINT64_MAX);
	EXPECT(nv_idle(g.nv));
}

TEST("a key that is gone when a fragment goes again: what is before it goes on in its own time")
{
	struct fw_work second = rig_work(3, 100);

	unit_start();
	work_post(0, 1, 100);
	is_fragment(0, RIG_BASE + 4096, 100);
	answer_in(WOP_NV_ACK, 0, 1, false);
	second.segment[0].key = 0x102;
	work_post(1, 2, 100);
	is_fragment(1, RIG_BASE + 8192, 100);
	rig_post(&g, 2, &second);
	is_fragment(2, RIG_BASE + 12288, 100);
	g.io.key[2].alive = false;
	rig_ring(&g);
	is_fragment(1, RIG_BASE + 8192, 100);
	STEP("the second was sent a moment later, and cannot go again");
	rig_ring(&g);
	EXPECT_EQ(g.io.dones, 1);
	EXPECT_GE(g.io.alarm, g.io.now + 1);
	rig_silent(&g);
	STEP("the first has come, and so the failure of the second is reported");
	answer_in(WOP_NV_ACK, 1, 2, false);
	rig_is_done(&g, 1, 1, FL_ST_OK);
	rig_is_done(&g, 2, 2, FL_ST_LOCAL_KEY);
}

TEST("where the wire has no room the fragment waits for it")
{
	unit_start();
	g.io.no_room = true;
	work_post(0, 2, 100);
	rig_silent(&g);
	g.io.no_room = false;
	nv_wire_room(g.nv);
	rig_run(&g);
	is_fragment(0, RIG_BASE + 8192, 100);
}
