/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_bench.h - one engine on a bench: a memory whose pages may be missing
 * or broken, a wire that is a list of frames, and register calls with the names
 * of regs.def. Time and transmission belong to the test.
 */
#ifndef FL_ENGINE_BENCH_H
#define FL_ENGINE_BENCH_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/entries.h"
#include "faultline/errata.h"
#include "faultline/fsm.h"
#include "faultline/regs.h"
#include "nic/wire.h"
#include "rtl/cosim/engine_plugin.h"
#include "trace/trace.h"
#include "harness.h"

#define BENCH_PAGES	256
#define BENCH_BASE	0x7f0000000000ull	/* VA of the first page */
#define BENCH_FRAMES	1100
#define BENCH_STREAM	5

enum bench_page { PAGE_THERE, PAGE_ABSENT, PAGE_BROKEN, PAGE_BREAKS_LATE };

struct bench {
	struct engine *e;
	struct trace *trace;
	uint64_t now_ns;
	uint8_t mem[BENCH_PAGES * ENGINE_PAGE];
	uint8_t page[BENCH_PAGES];	/* enum bench_page */
	bool hold;			/* hold the next burst that faults */
	uint64_t delay_ns;		/* of each burst */
	unsigned int begun[2], ended[2], open[2];
	struct dma_burst last[2];
	struct wire_frame frame[BENCH_FRAMES];
	unsigned int frames, room;
	bool line[2];
	unsigned int kicks[2];
};

static inline uint64_t bench_va(unsigned int page, unsigned int at)
{
	return BENCH_BASE + (uint64_t)page * ENGINE_PAGE + at;
}

static inline enum dma_status bench_begin(void *ctx, struct dma_burst *b)
{
	struct bench *t = ctx;
	uint64_t at = b->va - BENCH_BASE;
	unsigned int page = (unsigned int)(at / ENGINE_PAGE);

	t->begun[b->channel]++;
	EXPECT_EQ(t->open[b->channel], 0);
	EXPECT(b->len && b->va / ENGINE_PAGE ==
	       (b->va + b->len - 1) / ENGINE_PAGE);
	EXPECT_EQ(b->write, b->channel == 1);
	b->delay_ns = t->delay_ns;
	t->last[b->channel] = *b;
	if (b->stream != BENCH_STREAM || at >= sizeof(t->mem))
		return DMA_DECERR;
	if (t->page[page] == PAGE_BROKEN)
		return DMA_DECERR;
	if (t->page[page] == PAGE_ABSENT) {
		if (!t->hold)
			return DMA_SLVERR;
		t->hold = false;
		return DMA_STALLED;
	}
	b->pa = at;
	t->open[b->channel]++;
	return DMA_OK;
}

static inline enum dma_status bench_end(void *ctx, struct dma_burst *b,
					void *buf)
{
	struct bench *t = ctx;

	EXPECT_EQ(t->open[b->channel], 1);
	t->open[b->channel]--;
	t->ended[b->channel]++;
	if (t->page[b->pa / ENGINE_PAGE] == PAGE_BREAKS_LATE)
		return DMA_DECERR;
	if (b->write)
		memcpy(t->mem + b->pa, buf, b->len);
	else
		memcpy(buf, t->mem + b->pa, b->len);
	return DMA_OK;
}

static inline struct wire_frame *bench_frame_get(void *ctx)
{
	struct bench *t = ctx;

	if (!t->room || t->frames == BENCH_FRAMES)
		return NULL;
	return &t->frame[t->frames];
}

static inline uint64_t bench_frame_send(void *ctx, struct wire_frame *f)
{
	struct bench *t = ctx;

	EXPECT(f == &t->frame[t->frames]);
	t->frames++;
	t->room--;
	return 100;
}

static inline void bench_irq(void *ctx, unsigned int line, bool level)
{
	struct bench *t = ctx;

	EXPECT_NE(t->line[line], level);
	t->line[line] = level;
}

static inline void bench_kick(void *ctx, unsigned int channel)
{
	struct bench *t = ctx;

	t->kicks[channel]++;
}

static inline void bench_free(void *arg)
{
	struct bench *t = arg;

	engine_destroy(t->e);
	if (t->trace)
		trace_destroy(t->trace);
	free(t);
}

static inline uint64_t bench_read(struct bench *t, uint32_t off)
{
	uint64_t value = 0;

	EXPECT_EQ(engine_reg_read(t->e, off, 4, &value), 0);
	return value;
}

static inline int bench_write(struct bench *t, uint32_t off, uint64_t value)
{
	return engine_reg_write(t->e, off, 4, value);
}

static inline void bench_set(struct bench *t, uint32_t off, uint64_t value)
{
	EXPECT_EQ(engine_reg_write(t->e, off, 4, value), 0);
}

static inline void bench_set64(struct bench *t, uint32_t off, uint64_t value)
{
	EXPECT_EQ(engine_reg_write(t->e, off, 8, value), 0);
}

/* Step a channel until it sleeps; returns how many steps did something. */
static inline unsigned int bench_run(struct bench *t, unsigned int channel)
{
	unsigned int n = 0;
	uint64_t ns;

	while ((ns = engine_step(t->e, channel, t->now_ns)) != ENGINE_IDLE) {
		t->now_ns += ns;
		EXPECT(++n < 100000);
		EXPECT_STR(engine_check(t->e) ? engine_check(t->e) : "sound",
			   "sound");
	}
	return n;
}

static const struct engine_config bench_config = {
	.node = 1, .contexts = 8, .rx_contexts = 8, .block_log2 = 14,
	.cell_bytes = 1024, .icrc = true,
};

/* FAULTLINE_ENGINE=c|rtl|both: the same tests on another engine. */
static inline struct engine *bench_engine(const struct engine_config *cfg,
					  const struct engine_env *env,
					  int *error)
{
	const char *name = getenv("FAULTLINE_ENGINE");
	int kind = engine_kind_parse(name ? name : "c");

	EXPECT(kind >= 0);
	return engine_maker((enum engine_kind)kind)(cfg, env, error);
}

/* A running engine, freed when the test ends. */
static inline struct bench *bench_new(const struct engine_config *cfg)
{
	struct bench *t = calloc(1, sizeof(*t));
	struct engine_config c = cfg ? *cfg : bench_config;
	struct trace_config tc = { .ring_records = 4096 };
	struct engine_env env = {
		.ctx = t, .wire = t, .burst_begin = bench_begin, .burst_end = bench_end,
		.frame_get = bench_frame_get, .frame_send = bench_frame_send,
		.irq = bench_irq, .kick = bench_kick,
	};
	unsigned int i;
	int error = 0;

	EXPECT(t != NULL);
	test_cleanup(bench_free, t);
	t->room = UINT32_MAX;
	t->trace = c.trace = trace_create(&tc);
	EXPECT(t->trace != NULL);
	t->e = bench_engine(&c, &env, &error);
	EXPECT_EQ(error, 0);
	for (i = 0; i < sizeof(t->mem); i++)
		t->mem[i] = (uint8_t)(i * 2654435761u >> 13);
	bench_set(t, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	bench_run(t, 0);
	bench_run(t, 1);
	t->kicks[0] = t->kicks[1] = 0;
	return t;
}

struct bench_block {
	unsigned int ctx, op, node, qpn, len, rkey, ref, src, xfer, block;
	uint64_t lva, rva, left;
};

/* What the firmware does for a block. */
static inline void bench_go(struct bench *t, const struct bench_block *b)
{
	uint32_t c = NIC_CTX_BASE(b->ctx);

	STEP("context %u: GO, operation %u, %u bytes", b->ctx, b->op, b->len);
	bench_set(t, c + NIC_CTX_DST, b->node << NIC_CTX_DST_NODE_SHIFT |
				      b->qpn << NIC_CTX_DST_QPN_SHIFT);
	bench_set(t, c + NIC_CTX_STREAM, BENCH_STREAM);
	bench_set64(t, c + NIC_CTX_LVA, b->lva);
	bench_set64(t, c + NIC_CTX_RVA, b->rva);
	bench_set(t, c + NIC_CTX_LEN, b->len);
	bench_set(t, c + NIC_CTX_RKEY, b->rkey);
	bench_set64(t, c + NIC_CTX_LEFT, b->left);
	bench_set(t, c + NIC_CTX_REF, b->ref);
	bench_set(t, c + NIC_CTX_SRC, b->src);
	bench_set(t, c + NIC_CTX_XFER, b->xfer);
	bench_set(t, c + NIC_CTX_BLOCK, b->block);
	bench_set(t, c + NIC_CTX_CTRL,
		  NIC_CTX_CTRL_GO | b->op << NIC_CTX_CTRL_OP_SHIFT);
}

static inline void bench_act(struct bench *t, unsigned int ctx, uint32_t act)
{
	bench_set(t, NIC_CTX_BASE(ctx) + NIC_CTX_CTRL, act);
}

static inline void bench_kill(struct bench *t, unsigned int ctx)
{
	STEP("context %u: KILL", ctx);
	bench_act(t, ctx, NIC_CTX_CTRL_KILL |
			  FL_ST_KILLED << NIC_CTX_CTRL_CODE_SHIFT);
}

static inline unsigned int bench_tx_state(struct bench *t, unsigned int ctx)
{
	return bench_read(t, NIC_CTX_BASE(ctx) + NIC_CTX_STATE) &
	       NIC_CTX_STATE_STATE_MASK;
}

static inline unsigned int bench_tx_attempt(struct bench *t, unsigned int ctx)
{
	return (bench_read(t, NIC_CTX_BASE(ctx) + NIC_CTX_STATE) &
		NIC_CTX_STATE_ATTEMPT_MASK) >> NIC_CTX_STATE_ATTEMPT_SHIFT;
}

static inline unsigned int bench_tx_status(struct bench *t, unsigned int ctx)
{
	return (bench_read(t, NIC_CTX_BASE(ctx) + NIC_CTX_STATE) &
		NIC_CTX_STATE_STATUS_MASK) >> NIC_CTX_STATE_STATUS_SHIFT;
}

static inline unsigned int bench_rx_state(struct bench *t, unsigned int rxc)
{
	return bench_read(t, NIC_RXC_BASE(rxc) + NIC_RXC_STATE) &
	       NIC_RXC_STATE_STATE_MASK;
}

/* Take the oldest note; kind 0: there is none. */
struct bench_note {
	unsigned int kind, index, serial;
};

static inline struct bench_note bench_note(struct bench *t)
{
	uint32_t v = (uint32_t)bench_read(t, NIC_ENG_EVT_POP);
	struct bench_note n = { 0, 0, 0 };

	if (!(v & NIC_ENG_EVT_POP_VALID)) {
		EXPECT_EQ(v, 0);
		return n;
	}
	n.kind = v >> NIC_ENG_EVT_POP_KIND_SHIFT & 0xFF;
	n.index = v >> NIC_ENG_EVT_POP_INDEX_SHIFT & 0xFF;
	n.serial = v >> NIC_ENG_EVT_POP_SERIAL_SHIFT & 0xFF;
	return n;
}

static inline void bench_expect_note(struct bench *t, unsigned int kind,
				     unsigned int index)
{
	struct bench_note n = bench_note(t);

	EXPECT_EQ(n.kind, kind);
	EXPECT_EQ(n.index, index);
}

static inline void bench_drain_notes(struct bench *t)
{
	while (bench_note(t).kind)
		;
}

static inline void bench_ready(struct bench *t, unsigned int side,
			       unsigned int index, unsigned int serial,
			       unsigned int code)
{
	STEP("READY side %u, context %u, serial %u, code %u", side, index,
	     serial, code);
	bench_set(t, NIC_ENG_READY,
		  fl_errata_ready(index << NIC_ENG_READY_INDEX_SHIFT |
				  side << NIC_ENG_READY_SIDE_SHIFT |
				  code << NIC_ENG_READY_CODE_SHIFT |
				  serial << NIC_ENG_READY_SERIAL_SHIFT));
}

/* The serial number of the head of the fault queue; pops it. */
static inline unsigned int bench_pop_fault(struct bench *t, unsigned int side,
					   unsigned int index)
{
	uint32_t v = (uint32_t)bench_read(t, NIC_ENG_FLT_REF);

	EXPECT(v & NIC_ENG_FLT_REF_VALID);
	EXPECT_EQ(v >> NIC_ENG_FLT_REF_SIDE_SHIFT & 1, side);
	EXPECT_EQ(v >> NIC_ENG_FLT_REF_INDEX_SHIFT & 0xFF, index);
	bench_set(t, NIC_ENG_FLT_POP, fl_errata_pop());
	return v >> NIC_ENG_FLT_REF_SERIAL_SHIFT & 0xFF;
}

static inline struct engine_stats bench_stats(struct bench *t)
{
	struct engine_stats st;

	engine_stats(t->e, &st);
	return st;
}

/* Hand a frame to the engine as if it came from a node. */
static inline void bench_answer(struct bench *t, unsigned int from,
				const struct wire_answer *a)
{
	struct wire_frame f = { .from = (uint8_t)from, .to = 1 };

	STEP("node %u answers %s: context %u, generation %u, attempt %u", from,
	     wire_opcode_name(a->opcode), a->ctx, a->gen, a->attempt);
	wire_put_answer(&f, a, true);
	engine_receive(t->e, &f, t->now_ns);
}

static inline void bench_cell(struct bench *t, unsigned int from,
			      const struct wire_block *b, uint32_t offset,
			      const uint8_t *block)
{
	struct wire_frame f = { .from = (uint8_t)from, .to = 1 };
	struct wire_block c = *b;

	c.offset = offset;
	c.psn = offset / 1024;
	c.payload_len = b->len - offset < 1024 ? b->len - offset : 1024;
	if (b->opcode == WOP_READ_REQ)
		c.payload_len = 0;
	else
		memcpy(wire_payload(&f), block + offset, c.payload_len);
	wire_put_block(&f, &c, true);
	engine_receive(t->e, &f, t->now_ns);
	EXPECT_STR(engine_check(t->e) ? engine_check(t->e) : "sound", "sound");
}

/* All cells of a block, in order. */
static inline void bench_block(struct bench *t, unsigned int from,
			       const struct wire_block *b, const uint8_t *data)
{
	uint32_t at;

	STEP("node %u sends %s: context %u, generation %u, attempt %u, "
	     "%u bytes", from, wire_opcode_name(b->opcode), b->ctx, b->gen,
	     b->attempt, b->len);
	for (at = 0; at < b->len; at += 1024)
		bench_cell(t, from, b, at, data);
}

/* The i-th frame that the engine sent, decoded. */
static inline struct wire_answer bench_sent(struct bench *t, unsigned int i,
					    unsigned int opcode)
{
	struct wire_answer a = { 0 };

	EXPECT(i < t->frames);
	EXPECT_STR(wire_opcode_name(wire_opcode(&t->frame[i])),
		   wire_opcode_name((uint8_t)opcode));
	EXPECT_EQ(wire_get_answer(&t->frame[i], true, &a), WIRE_OK);
	return a;
}

static inline struct wire_block bench_sent_block(struct bench *t,
						 unsigned int i,
						 unsigned int opcode)
{
	struct wire_block b = { 0 };

	EXPECT(i < t->frames);
	EXPECT_STR(wire_opcode_name(wire_opcode(&t->frame[i])),
		   wire_opcode_name((uint8_t)opcode));
	EXPECT_EQ(wire_get_block(&t->frame[i], true, &b), WIRE_OK);
	return b;
}

#endif
