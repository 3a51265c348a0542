// SPDX-License-Identifier: BSD-2-Clause
#include "rig/engine_rx.h"

const struct wire_block rx_bench_write = {
	.opcode = WOP_WRITE, .dest_qp = 8, .ctx = 6, .gen = 100,
	.va = BENCH_BASE + 40 * ENGINE_PAGE + 500, .rkey = 0xBEEF,
	.len = 5000, .left = 9000, .ref = 0x00000502, .src = 0x81000011,
	.xfer = 3, .block = 2,
};

uint8_t rx_bench_data[16384];

static __attribute__((constructor)) void rx_bench_fill(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(rx_bench_data); i++)
		rx_bench_data[i] = (uint8_t)(i * 37 + i / 256 + 1);
}

struct wire_block rx_bench_attempt(unsigned int gen, unsigned int n)
{
	struct wire_block b = rx_bench_write;

	b.gen = (uint16_t)gen;
	b.attempt = (uint8_t)n;
	return b;
}

void rx_bench_verdict(struct bench *t, unsigned int rxc, unsigned int serial,
		      unsigned int code)
{
	STEP("verdict %u on context %u, serial %u", code, rxc, serial);
	bench_set(t, NIC_RXC_BASE(rxc) + NIC_RXC_VERDICT,
		  code << NIC_RXC_VERDICT_CODE_SHIFT |
		  serial << NIC_RXC_VERDICT_SERIAL_SHIFT |
		  (uint32_t)BENCH_STREAM << NIC_RXC_VERDICT_STREAM_SHIFT);
}

unsigned int rx_bench_judge(struct bench *t, unsigned int code)
{
	struct bench_note n = bench_note(t);

	EXPECT_EQ(n.kind, FL_NOTE_RX_OPEN);
	rx_bench_verdict(t, n.index, n.serial, code);
	return n.index;
}

void rx_bench_landed(struct bench *t, unsigned int rxc, unsigned int serial)
{
	struct bench_note n = bench_note(t);

	EXPECT_EQ(n.kind, FL_NOTE_RX_LANDED);
	EXPECT_EQ(n.index, rxc);
	EXPECT_EQ(n.serial, serial);
}

unsigned int rx_bench_land(struct bench *t, const struct wire_block *b)
{
	uint64_t before = bench_stats(t).blocks_landed;
	struct bench_note n;

	bench_block(t, 3, b, rx_bench_data);
	n = bench_note(t);
	EXPECT_EQ(n.kind, FL_NOTE_RX_OPEN);
	rx_bench_verdict(t, n.index, n.serial, 0);
	bench_run(t, 1);
	if (bench_stats(t).blocks_landed > before)
		rx_bench_landed(t, n.index, n.serial);
	else
		EXPECT_EQ(bench_note(t).kind, 0);
	return n.index;
}

struct wire_answer rx_bench_newest(struct bench *t, unsigned int op,
				   const struct wire_block *b)
{
	struct wire_answer a = bench_sent(t, t->frames - 1, op);

	EXPECT_EQ(t->frame[t->frames - 1].to, 3);
	EXPECT_EQ(wire_word(a.ctx, a.gen, a.attempt),
		  wire_word(b->ctx, b->gen, b->attempt));
	return a;
}
