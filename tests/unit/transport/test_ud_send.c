// SPDX-License-Identifier: BSD-2-Clause
/* Datagrams on their way out, and what their source may lack. */
#include "rig/ud.h"

static struct rig g;

static struct fw_work work_make(unsigned int page, uint32_t bytes)
{
	return (struct fw_work){
		.opcode = FL_OP_SEND, .length = bytes, .segments = bytes != 0,
		.flags = FL_WQE_SIGNALED,
		.segment = { { RIG_BASE + page * 4096ull, bytes, RIG_KEY } },
	};
}

static void work_post(uint32_t wr, struct fw_work w)
{
	g.io.t.post(g.io.t.ctx, RIG_QP, wr, &w);
	rig_run(&g);
}

static struct rc_packet packet_take(void)
{
	struct rc_packet p;

	EXPECT(g.io.out_next < g.io.outs);
	EXPECT_EQ(g.io.out[g.io.out_next].to, 1);
	EXPECT_EQ(rc_get(&g.io.out[g.io.out_next++], false, &p), WIRE_OK);
	return p;
}

static void bench_start(void)
{
	unsigned int i;

	rig_start(&g);
	for (i = 0; i < RIG_BYTES; i++)
		g.io.mem[i] = (uint8_t)(i * 31 + i / 256);
}

TEST("a SEND is one packet with the peer's number and the key, and over when it has left")
{
	struct rc_packet p;
	struct fw_work w;

	bench_start();
	work_post(0, work_make(1, 1500));
	p = packet_take();
	EXPECT_EQ(p.opcode, 0x64);	/* InfiniBand table 38 */
	EXPECT_EQ(p.dest_qp, RIG_PEER);
	EXPECT_EQ(p.src_qp, RIG_QPN);
	EXPECT_EQ(p.qkey, RIG_QKEY);
	EXPECT_EQ(p.psn, 0xFFFFFF);
	EXPECT_EQ(p.payload_len, 1500);
	EXPECT_MEM(p.payload, g.io.mem + 4096, 1500);
	EXPECT_EQ(g.io.dones, 1);
	EXPECT_EQ(rig_status(&g), FL_ST_OK);
	w = work_make(1, 0);
	w.flags |= FL_WQE_IMM | FL_WQE_SOLICITED;
	w.imm = 0x11223344;
	work_post(1, w);
	p = packet_take();
	EXPECT_EQ(p.opcode, 0x65);
	EXPECT_EQ(p.psn, 0);		/* 24 bits */
	EXPECT_EQ(p.imm, 0x11223344);
	EXPECT(p.solicited);
	EXPECT_EQ(p.payload_len, 0);
	EXPECT_EQ(g.io.dones, 2);
}

TEST("a request that says to whom it goes goes there, with its own key, and others do not")
{
	struct fw_work w = work_make(1, 10);
	struct rc_packet p;

	bench_start();
	w.flags |= FL_WQE_TO;
	w.remote_va = 0xABCDEF00 | 5;
	w.rkey = 0x12345678;
	work_post(0, w);
	EXPECT_EQ(g.io.out[0].to, 5);
	EXPECT_EQ(rc_get(&g.io.out[g.io.out_next++], false, &p), WIRE_OK);
	EXPECT_EQ(p.dest_qp, 0xABCDEF);
	EXPECT_EQ(p.qkey, 0x12345678);
	EXPECT_EQ(p.src_qp, RIG_QPN);
	work_post(1, work_make(1, 10));
	p = packet_take();
	EXPECT_EQ(p.dest_qp, RIG_PEER);
	EXPECT_EQ(p.qkey, RIG_QKEY);
	EXPECT_EQ(p.psn, 0);
}

TEST("segments and pages are gathered; inline data is not read from memory")
{
	struct fw_work w = { .opcode = FL_OP_SEND, .length = 300, .segments = 3 };
	struct rc_packet p;

	bench_start();
	w.segment[0] = (struct fw_segment){ RIG_BASE + 4096 - 50, 100, RIG_KEY };
	w.segment[1] = (struct fw_segment){ RIG_BASE + 7 * 4096, 1, RIG_KEY };
	w.segment[2] = (struct fw_segment){ RIG_BASE + 9000, 199, RIG_KEY };
	work_post(0, w);
	p = packet_take();
	EXPECT_MEM(p.payload, g.io.mem + 4096 - 50, 100);
	EXPECT_MEM(p.payload + 100, g.io.mem + 7 * 4096, 1);
	EXPECT_MEM(p.payload + 101, g.io.mem + 9000, 199);
	w = (struct fw_work){ .opcode = FL_OP_SEND, .length = 5, .flags = FL_WQE_INLINE };
	memcpy(w.data, "hello", 5);
	g.revoked = true;
	work_post(1, w);
	p = packet_take();
	EXPECT_MEM(p.payload, "hello", 5);
}

TEST("a source page that is missing parks the send queue, and no other, until it comes")
{
	struct fw_pair other = rig_pair();
	struct rc_packet p;
	struct fw_work w = work_make(2, 64);

	bench_start();
	other.qpn = RIG_QPN + 1;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP + 1, &other), FL_ST_OK);
	g.io.present[1] = false;
	work_post(0, work_make(1, 200));
	work_post(1, work_make(2, 100));
	EXPECT_EQ(g.io.outs, 0);
	EXPECT_EQ(g.io.misses, 1);
	EXPECT_EQ(g.miss.va, RIG_BASE + 4096);
	EXPECT_EQ(g.miss.len, 200);
	EXPECT_EQ(g.miss.side, RC_REQUESTER);
	EXPECT_EQ(g.miss.work->length, 200);
	/* The bench counts requests of one queue pair only. */
	g.io.dones = 7;
	g.io.t.post(g.io.t.ctx, RIG_QP + 1, 7, &w);
	rig_run(&g);
	p = packet_take();
	EXPECT_EQ(p.src_qp, RIG_QPN + 1);
	g.io.dones = 0;
	g.io.present[1] = true;
	ud_resume(g.ud, RIG_QP, FL_ST_OK, g.io.now);
	rig_run(&g);
	p = packet_take();
	EXPECT_EQ(p.payload_len, 200);
	p = packet_take();
	EXPECT_EQ(p.payload_len, 100);
	EXPECT_EQ(g.io.dones, 2);
	EXPECT_EQ(g.io.misses, 1);
}

TEST("a page that never comes, a lost key, and memory that fails, end the request")
{
	bench_start();
	g.io.present[1] = false;
	work_post(0, work_make(1, 200));
	ud_resume(g.ud, RIG_QP, FL_ST_LOCAL_FAULT, g.io.now);
	EXPECT_EQ(rig_status(&g), FL_ST_LOCAL_FAULT);
	EXPECT_EQ(g.io.dones, 1);

	bench_start();
	g.verdict = RC_FAIL;
	g.io.present[1] = false;
	work_post(0, work_make(1, 200));
	EXPECT_EQ(rig_status(&g), FL_ST_LOCAL_FAULT);

	bench_start();
	g.revoked = true;
	work_post(0, work_make(1, 200));
	EXPECT_EQ(rig_status(&g), FL_ST_LOCAL_KEY);

	bench_start();
	g.io.fails = true;
	work_post(0, work_make(1, 200));
	EXPECT_EQ(rig_status(&g), FL_ST_BUS_ERROR);
	EXPECT_EQ(g.io.outs, 0);
}

TEST("without room on the wire the packet waits; closed meanwhile, it is not sent")
{
	bench_start();
	g.io.no_room = true;
	work_post(0, work_make(1, 200));
	EXPECT_EQ(g.io.outs, 0);
	g.io.no_room = false;
	ud_wire_room(g.ud);
	rig_run(&g);
	EXPECT_EQ(g.io.outs, 1);
	g.io.no_room = true;
	work_post(1, work_make(1, 200));
	g.io.t.close(g.io.t.ctx, RIG_QP);
	g.io.no_room = false;
	ud_wire_room(g.ud);
	rig_run(&g);
	EXPECT_EQ(g.io.outs, 1);
	EXPECT(ud_idle(g.ud));
}

TEST("an MTU that is none is refused")
{
	struct fw_pair p = rig_pair();

	bench_start();
	p.mtu = 1500;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_BAD_ARGUMENT);
	p.mtu = 128;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_BAD_ARGUMENT);
}
