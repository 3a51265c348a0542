// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two engines side by side: another one that does the same as the C engine is
 * never noticed; one that differs, in whatever it does, is, and at once. The
 * other one is the C engine again, with one thing planted.
 */
#include <setjmp.h>

#include "rig/engine.h"

enum plant { NOTHING, DATA, BURST, FRAME, CAUSE, ARGUMENT, KICK, LINE, VALUE };

static enum plant plant;
static jmp_buf found;
static char said[1000];

/* The other engine: its environment is that of engine_both(), but for ... */
static struct engine_env below;
static engine_trace_emit *below_emit;

static void both_differs(const char *report)
{
	snprintf(said, sizeof(said), "%s", report);
	longjmp(found, 1);
}

static enum dma_status p_begin(void *ctx, struct dma_burst *b)
{
	b->va += plant == BURST;
	return below.burst_begin(ctx, b);
}

static enum dma_status p_end(void *ctx, struct dma_burst *b, void *buf)
{
	if (plant == DATA && b->write)
		((uint8_t *)buf)[b->len - 1] ^= 1;
	return below.burst_end(ctx, b, buf);
}

static uint64_t p_send(void *ctx, struct wire_frame *f)
{
	f->bytes[f->len - 1] ^= plant == FRAME;
	return below.frame_send(ctx, f);
}

static void p_irq(void *ctx, unsigned int line, bool level)
{
	if (plant != LINE)
		below.irq(ctx, line, level);
}

static void p_kick(void *ctx, unsigned int channel)
{
	if (plant != KICK)
		below.kick(ctx, channel);
}

static uint64_t p_emit(void *ctx, unsigned int ev, const struct trace_at *at,
		       uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct trace_at other = *at;

	other.cause += plant == CAUSE;
	return below.emit(ctx, ev, &other, a0, a1, a2, a3 + (plant == ARGUMENT));
}

static struct engine *both_create(const struct engine_config *cfg,
				  const struct engine_env *env,
				  engine_trace_emit *emit, int *error)
{
	struct engine_env mine = *env;
	struct engine_config c = *cfg;

	below = *env;
	below_emit = emit;
	mine.burst_begin = p_begin;
	mine.burst_end = p_end;
	mine.frame_send = p_send;
	mine.irq = p_irq;
	mine.kick = p_kick;
	mine.emit = p_emit;
	c.contexts -= plant == VALUE;
	return engine_create(&c, &mine, error);
}

static const struct engine_plugin again = { .create = both_create };

/* A bench with both engines; what is planted begins with the next call. */
static struct bench *both_engines(void)
{
	struct bench *t;
	struct engine_config c = bench_config;
	struct engine_env env = {
		.ctx = NULL, .burst_begin = bench_begin,
		.burst_end = bench_end, .frame_get = bench_frame_get,
		.frame_send = bench_frame_send, .irq = bench_irq,
		.kick = bench_kick,
	};
	int error;

	t = bench_new(NULL);
	engine_destroy(t->e);
	env.ctx = env.wire = t;
	c.trace = t->trace;
	t->e = engine_both(&c, &env, &again, NULL, both_differs, &error);
	EXPECT(t->e != NULL);
	EXPECT_EQ(below_emit == trace_emit, 1);
	bench_set(t, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	bench_run(t, 0);
	bench_run(t, 1);
	bench_drain_notes(t);
	return t;
}

/* A block out, a block in, and what a driver reads first. */
static void both_work(struct bench *t)
{
	static uint8_t data[2000];
	const struct bench_block out = {
		.ctx = 1, .op = FL_OP_WRITE, .node = 3, .qpn = 8, .len = 5000,
		.rkey = 1, .lva = bench_va(2, 100), .rva = bench_va(9, 0),
		.xfer = 4, .block = 5,
	};
	const struct wire_block in = {
		.opcode = WOP_WRITE, .dest_qp = 7, .ctx = 2, .gen = 9,
		.va = bench_va(5, 30), .rkey = 2, .len = sizeof(data),
		.xfer = 6, .block = 7,
	};
	struct bench_note n;

	bench_read(t, NIC_ENG_PARAM);
	bench_go(t, &out);
	bench_run(t, 0);
	bench_block(t, 3, &in, data);
	do
		n = bench_note(t);
	while (n.kind && n.kind != FL_NOTE_RX_OPEN);
	bench_set(t, NIC_RXC_BASE(n.index) + NIC_RXC_VERDICT,
		  n.serial << NIC_RXC_VERDICT_SERIAL_SHIFT |
		  BENCH_STREAM << NIC_RXC_VERDICT_STREAM_SHIFT);
	bench_run(t, 1);
	bench_stats(t);
	EXPECT(!engine_idle(t->e));
}

TEST("two engines that do the same are one to the board")
{
	struct bench *t;

	plant = NOTHING;
	if (setjmp(found)) {
		STEP("%s", said);
		EXPECT(!"a difference");
	}
	t = both_engines();
	both_work(t);
	EXPECT_EQ(bench_stats(t).blocks_landed, 1);
	EXPECT_EQ(bench_stats(t).blocks_sent, 1);
}

TEST("a link that leaves the ICRC for later gets it all the same: it is compared")
{
	struct bench *t;
	uint32_t i;

	plant = NOTHING;
	if (setjmp(found)) {
		STEP("%s", said);
		EXPECT(!"a difference");
	}
	t = both_engines();
	for (i = 0; i < BENCH_FRAMES; i++)
		t->frame[i].icrc_later = true;
	both_work(t);
	EXPECT_GE(t->frames, 6);
	for (i = 0; i < t->frames; i++)
		EXPECT(!t->frame[i].icrc_later && wire_icrc_good(&t->frame[i]));
}

TEST("whatever the other engine does otherwise is found and told")
{
	static char param[40];
	static const struct {
		enum plant plant;
		const char *text;
	} plants[] = {
		{ DATA, "other data is written" },
		{ BURST, "another burst" },
		{ FRAME, "of a frame: 0x" },
		{ CAUSE, "another event" },
		{ ARGUMENT, "another event" },
		{ KICK, "KICK is missing" },
		{ LINE, "LINE is missing" },
		{ VALUE, param },
	};
	static struct bench *t;
	static volatile unsigned int i;

	snprintf(param, sizeof(param), "register 0x%x is 0x", NIC_ENG_PARAM);
	for (i = 0; i < sizeof(plants) / sizeof(plants[0]); i++) {
		plant = plants[i].plant == VALUE ? VALUE : NOTHING;
		said[0] = 0;
		t = both_engines();
		plant = plants[i].plant;
		STEP("planted: %s", plants[i].text);
		if (!setjmp(found))
			both_work(t);
		EXPECT(said[0]);
		/* A call that is missing shows as the next one in its place. */
		if (plant == KICK || plant == LINE)
			EXPECT(strstr(said, "a call is missing") ||
			       strstr(said, "another call"));
		else
			EXPECT(strstr(said, plants[i].text));
	}
}

TEST("an engine that lacks a part of its environment is refused")
{
	struct engine_env env = { .ctx = NULL };
	int error = 0;

	EXPECT(!engine_both(&bench_config, &env, &again, NULL, both_differs,
			    &error));
	EXPECT_EQ(error, -EINVAL);
}

TEST("which engine: three words, and no other")
{
	EXPECT_EQ(engine_kind_parse("c"), ENGINE_C);
	EXPECT_EQ(engine_kind_parse("rtl"), ENGINE_RTL);
	EXPECT_EQ(engine_kind_parse("both"), ENGINE_BOTH);
	EXPECT_EQ(engine_kind_parse("verilog"), -1);
}
