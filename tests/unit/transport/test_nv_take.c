// SPDX-License-Identifier: BSD-2-Clause
/* NetVM's transport: the receiver's rules, one by one (npf-netvm: 5; nv.h). */
#include <errno.h>

#include "rig/nv.h"

static struct rig g;

static void unit_start(void)
{
	rig_start(&g);
}

/* A fragment of 100 bytes, the only one of its WRITE, into a page. */
static void write_in(uint32_t sequence, unsigned int page, uint8_t fill, uint16_t counter)
{
	struct nv_packet p = {
		.opcode = WOP_NV_WRITE, .sequence = sequence, .va = RIG_BASE + page * 4096ull,
		.key = 0x100, .len = 100, .counter = counter,
	};

	rig_in(&g, p, 100, fill);
}

static struct nv_packet is_answer(uint8_t opcode, uint32_t sequence, uint32_t base)
{
	struct nv_packet p = rig_out(&g);

	EXPECT_STR(wire_opcode_name(p.opcode), wire_opcode_name(opcode));
	EXPECT_EQ(p.sequence, sequence);
	EXPECT_EQ(p.base, base);
	return p;
}

static void page_is(unsigned int page, uint8_t fill)
{
	uint8_t want[100];

	memset(want, fill, sizeof(want));
	EXPECT_MEM(rig_at(&g, RIG_BASE + page * 4096ull), want, sizeof(want));
}

TEST("a fragment goes to the address that it names, in whatever order; counters rise in order")
{
	unit_start();
	write_in(2, 4, 30, 1);
	EXPECT(!is_answer(WOP_NV_ACK, 2, 0).redirected);
	page_is(4, 30);
	write_in(1, 3, 20, 2);
	is_answer(WOP_NV_ACK, 1, 0);
	EXPECT_EQ(g.counter[1] + g.counter[2], 0);
	write_in(0, 2, 10, 1);
	EXPECT_EQ(is_answer(WOP_NV_ACK, 0, 3).credits, 4);
	EXPECT_EQ(g.counter[1], 2);
	EXPECT_EQ(g.counter[2], 1);
	EXPECT_EQ(g.io.events[EV_NV_COUNT], 3);
	rig_silent(&g);
}

TEST("only the last fragment of a WRITE lets its counter rise")
{
	struct nv_packet p = { .opcode = WOP_NV_WRITE, .va = RIG_BASE + 8192, .key = 0x100,
			       .len = 200, .counter = 1 };

	unit_start();
	rig_in(&g, p, 100, 1);
	EXPECT_EQ(g.counter[1], 0);
	p.sequence = 1;
	p.va += 100;
	p.len = 100;
	rig_in(&g, p, 100, 1);
	EXPECT_EQ(g.counter[1], 1);
}

TEST("duplicates inside the window and below it change nothing, and are answered")
{
	unit_start();
	write_in(1, 3, 20, 0);
	is_answer(WOP_NV_ACK, 1, 0);
	memset(rig_at(&g, RIG_BASE + 3 * 4096), 99, 100);
	write_in(1, 3, 20, 0);
	is_answer(WOP_NV_ACK, 1, 0);
	write_in(0, 2, 10, 0);
	is_answer(WOP_NV_ACK, 0, 2);
	memset(rig_at(&g, RIG_BASE + 2 * 4096), 98, 100);
	write_in(0, 2, 10, 0);
	is_answer(WOP_NV_CREDIT, 2, 2);
	page_is(3, 99);
	page_is(2, 98);
	EXPECT_EQ(g.io.events[EV_NV_DUPLICATE], 2);
}

TEST("where the page is absent the data go into a slot, and the copy gives the credit back")
{
	struct nv_stats st;

	unit_start();
	g.io.present[2] = false;
	write_in(0, 2, 10, 1);
	EXPECT(is_answer(WOP_NV_ACK, 0, 0).redirected);
	EXPECT_EQ(g.io.events[EV_NV_DIVERT], 1);
	EXPECT_EQ(g.miss.va, RIG_BASE + 8192);
	EXPECT_EQ(g.counter[1], 0);
	rig_copy(&g, 0, 0);
	rig_run(&g);
	is_answer(WOP_NV_CREDIT, 0, 1);
	page_is(2, 10);
	EXPECT_EQ(g.counter[1], 1);
	EXPECT_EQ(g.io.events[EV_NV_RELEASE], 1);
	nv_stats(g.nv, &st);
	EXPECT_EQ(st.slots_used, 0);
	EXPECT_EQ(st.slots_peak, 1);
	EXPECT(nv_idle(g.nv));
}

TEST("what comes for a page with redirected data is redirected, too, though the page is there")
{
	unit_start();
	g.io.present[2] = false;
	write_in(0, 2, 10, 0);
	g.io.present[2] = true;
	write_in(1, 2, 11, 0);
	write_in(2, 3, 12, 0);
	page_is(3, 12);
	EXPECT_EQ(g.io.events[EV_NV_DIVERT], 2);
	/* The later one's slot may be copied only behind the earlier: the sender sees to that. */
	rig_copy(&g, 0, 0);
	rig_copy(&g, 1, 0);
	rig_run(&g);
	page_is(2, 11);
	write_in(3, 2, 13, 0);
	page_is(2, 13);
	EXPECT_EQ(g.io.events[EV_NV_DIVERT], 2);
}

TEST("a sender without credit finds no slot: what it sends is lost, and nothing else")
{
	unsigned int i;
	struct nv_stats st;

	unit_start();
	for (i = 0; i < 5; i++) {
		g.io.present[2 + i] = false;
		write_in(i, 2 + i, (uint8_t)i, 0);
	}
	nv_stats(g.nv, &st);
	EXPECT_EQ(st.overflows, 1);
	EXPECT_EQ(st.slots_used, 4);
	EXPECT_EQ(g.io.events[EV_NV_DROP], 1);
	rig_copy(&g, 2, 0);
	rig_run(&g);
	write_in(4, 6, 4, 0);
	nv_stats(g.nv, &st);
	EXPECT_EQ(st.overflows, 1);
}

TEST("credits that are given out are never more than the slots; who gets none cannot connect")
{
	struct fw_pair p = rig_pair();
	uint16_t qp;

	unit_start();	/* 4 of 8 */
	for (qp = 6; qp < 9; qp++) {	/* 2, 1, 1 */
		p.qpn = 0x123400u + qp;
		EXPECT_EQ(g.io.t.open(g.io.t.ctx, qp, &p), FL_ST_OK);
		rig_check(&g);
	}
	p.qpn = 0x123409;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, 9, &p), FL_ST_NO_ROOM);
	g.io.t.close(g.io.t.ctx, 7);
	rig_check(&g);
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, 9, &p), FL_ST_OK);
	rig_check(&g);
}

TEST("a refusal is heard when all before it are in their place, and ends the pair")
{
	struct nv_packet p = { .opcode = WOP_NV_WRITE, .sequence = 1, .va = RIG_BASE,
			       .key = 0x999, .len = 100 };

	unit_start();
	g.io.present[2] = false;
	write_in(0, 2, 10, 0);
	is_answer(WOP_NV_ACK, 0, 0);
	rig_in(&g, p, 100, 1);
	EXPECT_EQ(g.io.events[EV_NV_REFUSE], 1);
	rig_silent(&g);
	rig_in(&g, p, 100, 1);
	is_answer(WOP_NV_CREDIT, 0, 0);
	rig_copy(&g, 0, 0);
	rig_run(&g);
	EXPECT_EQ(is_answer(WOP_NV_ACK, 1, 1).code, FL_ST_REMOTE_ACCESS);
	EXPECT_EQ(g.io.error, FL_ST_REMOTE_ACCESS);
	write_in(2, 3, 1, 0);
	rig_silent(&g);
}

TEST("keys, rights, ranges and counters that the pair's process does not have are refused")
{
	struct nv_packet bad[] = {
		{ .va = RIG_BASE, .key = 0x999, .len = 8 },
		{ .va = RIG_BASE - 4096, .key = 0x100, .len = 8 },
		{ .va = RIG_BASE, .key = 0x101, .len = 8 },
		{ .va = RIG_BASE, .key = 0x100, .len = 8, .counter = 77 },
	};
	unsigned int i;

	for (i = 0; i < 4; i++) {
		unit_start();
		g.io.key[1].rights = FL_ACC_REMOTE_READ;
		bad[i].opcode = WOP_NV_WRITE;
		rig_in(&g, bad[i], 8, 0xEE);
		EXPECT_EQ(is_answer(WOP_NV_ACK, 0, 0).code, FL_ST_REMOTE_ACCESS);
		EXPECT_EQ(g.io.errors, 1);
		EXPECT_NE(g.io.mem[0], 0xEE);
		rig_close(&g);
	}
}

TEST("a copy that failed ends the pair at both ends")
{
	unit_start();
	g.io.present[2] = false;
	write_in(0, 2, 10, 1);
	is_answer(WOP_NV_ACK, 0, 0);
	rig_copy(&g, 0, FL_ST_LOCAL_FAULT);
	rig_run(&g);
	EXPECT_EQ(is_answer(WOP_NV_ACK, 0, 0).code, FL_ST_REMOTE_FAULT);
	EXPECT_EQ(g.io.error, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(g.counter[1], 0);
}

TEST("with other verdicts a missing page is silence, or the end of the pair")
{
	unit_start();
	g.receiver = NV_SILENCE;
	g.io.present[2] = false;
	write_in(0, 2, 10, 0);
	rig_silent(&g);
	g.io.present[2] = true;
	write_in(0, 2, 10, 0);
	is_answer(WOP_NV_ACK, 0, 1);
	g.receiver = NV_FAIL;
	g.io.present[3] = false;
	write_in(1, 3, 10, 0);
	EXPECT_EQ(is_answer(WOP_NV_ACK, 1, 1).code, FL_ST_REMOTE_FAULT);
}

TEST("a pair ends while its data are in the system buffer: the slots stay with the driver")
{
	struct nv_stats st;

	unit_start();
	g.io.present[2] = false;
	write_in(0, 2, 10, 0);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	rig_check(&g);
	EXPECT(!nv_idle(g.nv));
	EXPECT_EQ(nv_copied(g.nv, 0, 0, g.io.now), 0);
	nv_stats(g.nv, &st);
	EXPECT_EQ(st.slots_used, 0);
	/* Late and wrong answers. */
	EXPECT_EQ(nv_copied(g.nv, 0, 0, g.io.now), 0);
	EXPECT_EQ(nv_copied(g.nv, 8, 0, g.io.now), -EINVAL);
	EXPECT(nv_idle(g.nv));
}

TEST("packets that are malformed, strange or too many are dropped")
{
	struct nv_packet p = { .opcode = WOP_NV_WRITE, .va = RIG_BASE + 4000, .key = 0x100,
			       .len = 200 };
	struct wire_frame f = { .from = 2 };

	unit_start();
	rig_in(&g, p, 200, 1);	/* across a page */
	p.va = RIG_BASE;
	rig_in(&g, p, 0, 1);	/* no payload, and yet a length */
	p.len = 50;
	rig_in(&g, p, 100, 1);	/* more than there is */
	p.len = 100;
	p.sequence = NV_WINDOW_MAX;
	rig_in(&g, p, 100, 1);
	p.sequence = 0;
	p.dest_qp = 0x55505;
	rig_in(&g, p, 100, 1);
	p.dest_qp = RIG_QPN;
	nv_put(&f, &p, false);
	nv_receive(g.nv, &f, 0);
	f.from = 1;
	f.len = 20;
	nv_receive(g.nv, &f, 0);
	rig_run(&g);
	EXPECT_EQ(g.io.events[EV_NV_DROP], 7);
	rig_silent(&g);
	EXPECT_NE(g.io.mem[0], 1);
}

TEST("memory that fails, and a system buffer that fails")
{
	unit_start();
	g.slot_fails = true;
	g.io.present[2] = false;
	write_in(0, 2, 10, 0);
	rig_silent(&g);
	g.io.present[2] = true;
	g.io.fails = true;
	write_in(0, 2, 10, 0);
	EXPECT_EQ(is_answer(WOP_NV_ACK, 0, 0).code, FL_ST_REMOTE_FAULT);
	EXPECT_EQ(g.io.error, FL_ST_BUS_ERROR);
}

TEST("the system buffer has as many slots as the driver says, if nobody has credits for more")
{
	struct fw_pair p = rig_pair();

	unit_start();
	EXPECT_EQ(nv_slots_set(g.nv, 3), -EINVAL);
	EXPECT_EQ(nv_slots_set(g.nv, NV_SLOTS_MAX + 1), -EINVAL);
	g.io.t.close(g.io.t.ctx, RIG_QP);
	EXPECT_EQ(nv_slots_set(g.nv, 0), 0);
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_NO_ROOM);
	EXPECT_EQ(nv_slots_set(g.nv, 1), 0);
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	p.mtu = 100;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_BAD_ARGUMENT);
}
