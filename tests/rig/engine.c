// SPDX-License-Identifier: BSD-2-Clause
#include "rig/engine.h"

enum dma_status bench_begin(void *ctx, struct dma_burst *b)
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

enum dma_status bench_end(void *ctx, struct dma_burst *b, void *buf)
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

struct wire_frame *bench_frame_get(void *ctx)
{
	struct bench *t = ctx;

	if (!t->room || t->frames == BENCH_FRAMES)
		return NULL;
	return &t->frame[t->frames];
}

uint64_t bench_frame_send(void *ctx, struct wire_frame *f)
{
	struct bench *t = ctx;

	EXPECT(f == &t->frame[t->frames]);
	t->frames++;
	t->room--;
	return 100;
}

void bench_irq(void *ctx, unsigned int line, bool level)
{
	struct bench *t = ctx;

	EXPECT_NE(t->line[line], level);
	t->line[line] = level;
}

void bench_kick(void *ctx, unsigned int channel)
{
	struct bench *t = ctx;

	t->kicks[channel]++;
}

static void bench_free(void *arg)
{
	struct bench *t = arg;

	engine_destroy(t->e);
	if (t->trace)
		trace_destroy(t->trace);
	free(t);
}

uint64_t bench_read(struct bench *t, uint32_t off)
{
	uint64_t value = 0;

	EXPECT_EQ(engine_reg_read(t->e, off, 4, &value), 0);
	return value;
}

unsigned int bench_run(struct bench *t, unsigned int channel)
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

const struct engine_config bench_config = {
	.node = 1, .contexts = 8, .rx_contexts = 8, .block_log2 = 14,
	.cell_bytes = 1024, .icrc = true,
};

struct engine *bench_engine(const struct engine_config *cfg,
			    const struct engine_env *env, int *error)
{
	const char *name = getenv("FAULTLINE_ENGINE");
	int kind = engine_kind_parse(name ? name : "c");

	EXPECT(kind >= 0);
	return engine_maker((enum engine_kind)kind)(cfg, env, error);
}

struct bench *bench_new(const struct engine_config *cfg)
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

void bench_go(struct bench *t, const struct bench_block *b)
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

void bench_kill(struct bench *t, unsigned int ctx)
{
	STEP("context %u: KILL", ctx);
	bench_act(t, ctx, NIC_CTX_CTRL_KILL |
			  FL_ST_KILLED << NIC_CTX_CTRL_CODE_SHIFT);
}

unsigned int bench_tx_state(struct bench *t, unsigned int ctx)
{
	return bench_read(t, NIC_CTX_BASE(ctx) + NIC_CTX_STATE) &
	       NIC_CTX_STATE_STATE_MASK;
}

unsigned int bench_tx_attempt(struct bench *t, unsigned int ctx)
{
	return (bench_read(t, NIC_CTX_BASE(ctx) + NIC_CTX_STATE) &
		NIC_CTX_STATE_ATTEMPT_MASK) >> NIC_CTX_STATE_ATTEMPT_SHIFT;
}

unsigned int bench_tx_status(struct bench *t, unsigned int ctx)
{
	return (bench_read(t, NIC_CTX_BASE(ctx) + NIC_CTX_STATE) &
		NIC_CTX_STATE_STATUS_MASK) >> NIC_CTX_STATE_STATUS_SHIFT;
}

unsigned int bench_rx_state(struct bench *t, unsigned int rxc)
{
	return bench_read(t, NIC_RXC_BASE(rxc) + NIC_RXC_STATE) &
	       NIC_RXC_STATE_STATE_MASK;
}

struct bench_note bench_note(struct bench *t)
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

void bench_expect_note(struct bench *t, unsigned int kind, unsigned int index)
{
	struct bench_note n = bench_note(t);

	EXPECT_EQ(n.kind, kind);
	EXPECT_EQ(n.index, index);
}

void bench_drain_notes(struct bench *t)
{
	while (bench_note(t).kind)
		;
}

void bench_ready(struct bench *t, unsigned int side, unsigned int index,
		 unsigned int serial, unsigned int code)
{
	STEP("READY side %u, context %u, serial %u, code %u", side, index,
	     serial, code);
	bench_set(t, NIC_ENG_READY,
		  fl_errata_ready(index << NIC_ENG_READY_INDEX_SHIFT |
				  side << NIC_ENG_READY_SIDE_SHIFT |
				  code << NIC_ENG_READY_CODE_SHIFT |
				  serial << NIC_ENG_READY_SERIAL_SHIFT));
}

unsigned int bench_pop_fault(struct bench *t, unsigned int side,
			     unsigned int index)
{
	uint32_t v = (uint32_t)bench_read(t, NIC_ENG_FLT_REF);

	EXPECT(v & NIC_ENG_FLT_REF_VALID);
	EXPECT_EQ(v >> NIC_ENG_FLT_REF_SIDE_SHIFT & 1, side);
	EXPECT_EQ(v >> NIC_ENG_FLT_REF_INDEX_SHIFT & 0xFF, index);
	bench_set(t, NIC_ENG_FLT_POP, fl_errata_pop());
	return v >> NIC_ENG_FLT_REF_SERIAL_SHIFT & 0xFF;
}

struct engine_stats bench_stats(struct bench *t)
{
	struct engine_stats st;

	engine_stats(t->e, &st);
	return st;
}

void bench_answer(struct bench *t, unsigned int from,
		  const struct wire_answer *a)
{
	struct wire_frame f = { .from = (uint8_t)from, .to = 1 };

	STEP("node %u answers %s: context %u, generation %u, attempt %u", from,
	     wire_opcode_name(a->opcode), a->ctx, a->gen, a->attempt);
	wire_put_answer(&f, a, true);
	engine_receive(t->e, &f, t->now_ns);
}

void bench_cell(struct bench *t, unsigned int from, const struct wire_block *b,
		uint32_t offset, const uint8_t *block)
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

void bench_block(struct bench *t, unsigned int from, const struct wire_block *b,
		 const uint8_t *data)
{
	uint32_t at;

	STEP("node %u sends %s: context %u, generation %u, attempt %u, "
	     "%u bytes", from, wire_opcode_name(b->opcode), b->ctx, b->gen,
	     b->attempt, b->len);
	for (at = 0; at < b->len; at += 1024)
		bench_cell(t, from, b, at, data);
}

struct wire_answer bench_sent(struct bench *t, unsigned int i,
			      unsigned int opcode)
{
	struct wire_answer a = { 0 };

	EXPECT(i < t->frames);
	EXPECT_STR(wire_opcode_name(wire_opcode(&t->frame[i])),
		   wire_opcode_name((uint8_t)opcode));
	EXPECT_EQ(wire_get_answer(&t->frame[i], true, &a), WIRE_OK);
	return a;
}

struct wire_block bench_sent_block(struct bench *t, unsigned int i,
				   unsigned int opcode)
{
	struct wire_block b = { 0 };

	EXPECT(i < t->frames);
	EXPECT_STR(wire_opcode_name(wire_opcode(&t->frame[i])),
		   wire_opcode_name((uint8_t)opcode));
	EXPECT_EQ(wire_get_block(&t->frame[i], true, &b), WIRE_OK);
	return b;
}
