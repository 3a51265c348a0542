// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generations as peers see them. A peer knows what it was sent itself, and no more: each
 * block must be newer than the one before it by less than half of all generations, however
 * many blocks of the same context others got in between.
 */
#include "rig/engine.h"

#define CTX	2
#define BASE	NIC_CTX_BASE(CTX)

static uint16_t gen_last[WIRE_NODES];
static bool gen_any[WIRE_NODES];

/* A WRITE of 8 bytes to node, to its end. */
static void gen_block(struct bench *t, unsigned int node, uint8_t *low)
{
	struct wire_frame f = { .from = (uint8_t)node, .to = 1 };
	struct wire_answer a = { .opcode = WOP_ACK, .ctx = CTX };
	struct wire_block b;

	bench_set(t, BASE + NIC_CTX_DST, node << NIC_CTX_DST_NODE_SHIFT);
	bench_set(t, BASE + NIC_CTX_CTRL,
		  NIC_CTX_CTRL_GO | FL_OP_WRITE << NIC_CTX_CTRL_OP_SHIFT);
	bench_run(t, 0);
	EXPECT_EQ(t->frames, 1);
	b = bench_sent_block(t, 0, WOP_WRITE);
	EXPECT_EQ(t->frame[0].to, node);
	/* The plain rule of a peer: newer, and not by half or more. */
	if (gen_any[node])
		EXPECT((uint16_t)(b.gen - gen_last[node] - 1) < 0x7fff);
	EXPECT_EQ((uint8_t)b.gen, (uint8_t)(*low + 1));
	*low = (uint8_t)b.gen;
	gen_last[node] = b.gen;
	gen_any[node] = true;
	a.gen = b.gen;
	wire_put_answer(&f, &a, true);
	engine_receive(t->e, &f, t->now_ns);
	EXPECT_EQ(bench_tx_state(t, CTX), FL_TX_DONE);
	bench_act(t, CTX, NIC_CTX_CTRL_RELEASE);
	bench_drain_notes(t);
	t->frames = 0;
}

TEST("whatever others got meanwhile, a peer sees its next generation as a new one")
{
	/* 65535: all generations but one; the halves; what one byte holds. */
	static const unsigned int others[] = { 1, 255, 256, 257, 32767, 65535 };
	struct bench *t = bench_new(NULL);
	unsigned int i, k;
	uint8_t low = 0;

	memset(gen_any, 0, sizeof(gen_any));
	bench_set(t, BASE + NIC_CTX_STREAM, BENCH_STREAM);
	bench_set64(t, BASE + NIC_CTX_LVA, BENCH_BASE);
	bench_set64(t, BASE + NIC_CTX_RVA, 0x1000);
	bench_set(t, BASE + NIC_CTX_LEN, 8);
	gen_block(t, 3, &low);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		STEP("%u blocks to another", others[i]);
		for (k = 0; k < others[i]; k++)
			gen_block(t, 4, &low);
		gen_block(t, 3, &low);
	}
	STEP("by turns, and a reset in between");
	for (i = 0; i < 2000; i++) {
		gen_block(t, 3 + i * 7 % 5, &low);
		if (i != 1000)
			continue;
		engine_reset(t->e);
		bench_set(t, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
		bench_set(t, BASE + NIC_CTX_STREAM, BENCH_STREAM);
		bench_set64(t, BASE + NIC_CTX_LVA, BENCH_BASE);
		bench_set64(t, BASE + NIC_CTX_RVA, 0x1000);
		bench_set(t, BASE + NIC_CTX_LEN, 8);
	}
}
