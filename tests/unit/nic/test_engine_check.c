// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the engine's check says when its tables contradict each other: each sentence is said of
 * the one thing that is wrong, and of nothing else. And engines that cannot be.
 */
#include "nic/engine_internal.h"
#include "rig/engine.h"

/* One field has another value, and then its own again. */
#define WRONG(t, field, value, sentence) do {				\
	__typeof__(field) was_ = (field);				\
									\
	(field) = (value);						\
	EXPECT_STR(engine_check((t)->e), sentence);			\
	(field) = was_;							\
	EXPECT(!engine_check((t)->e));					\
} while (0)

static struct bench *check_begin(struct c_engine **e)
{
	struct bench *t = calloc(1, sizeof(*t));
	struct engine_env env = {
		.ctx = t, .burst_begin = bench_begin, .burst_end = bench_end,
		.frame_get = bench_frame_get, .frame_send = bench_frame_send,
		.irq = bench_irq, .kick = bench_kick,
	};
	int error;

	t->e = engine_create(&bench_config, &env, &error);
	EXPECT(t->e);
	EXPECT(engine_is_c(t->e));
	*e = c_engine(t->e);
	EXPECT(!engine_check(t->e));
	return t;
}

static void check_end(struct bench *t)
{
	engine_destroy(t->e);
	free(t);
}

TEST("the check names what is wrong with a transmit context")
{
	struct c_engine *e;
	struct bench *t = check_begin(&e);
	struct tx_ctx *tx = &e->tx[1];

	WRONG(t, e->tx_ready, 2, "the ready mask differs from a transmit context's state");
	WRONG(t, tx->state, FL_TX_READY,
	      "the ready mask differs from a transmit context's state");
	WRONG(t, tx->early, 1, "an early answer waits for a context that is not READY");
	WRONG(t, tx->rxc, 0, "a READ names a receive context that is not its own");
	e->rx[0].requester = 1;
	EXPECT_STR(engine_check(t->e), "a READ's answer that its READ does not know");
	tx->rxc = 0;
	EXPECT_STR(engine_check(t->e), "a READ's answer is taken though the READ is over");
	tx->state = FL_TX_FLYING;
	EXPECT(!engine_check(t->e));
	tx->state = FL_TX_READY;
	e->tx_ready = 2;
	EXPECT(!engine_check(t->e));
	tx->early = 1;
	EXPECT(!engine_check(t->e));
	check_end(t);
}

TEST("the check names what is wrong with a receive context")
{
	struct c_engine *e;
	struct bench *t = check_begin(&e);
	struct rx_ctx *rx = &e->rx[2];
	struct peer *p = &e->peer[3][5];

	WRONG(t, e->rx_free, e->rx_free & ~4u,
	      "the free mask differs from a receive context's state");
	WRONG(t, rx->state, FL_RX_COLLECT,
	      "the free mask differs from a receive context's state");
	rx->state = FL_RX_COLLECT;
	e->rx_free &= ~4u;
	EXPECT(!engine_check(t->e));
	rx->node = 3;
	rx->ctx = 5;
	WRONG(t, rx->linked, true, "the peer table does not name a linked context");
	rx->linked = true;
	p->rxc = 2;
	EXPECT(!engine_check(t->e));
	WRONG(t, p->done, true, "a context collects an attempt that is over");
	WRONG(t, p->over, true, "a context collects an attempt that is over");
	WRONG(t, rx->state, FL_RX_WRITE, "the contexts in WRITE are not those in the queue");
	rx->state = FL_RX_WRITE;
	e->write_count = 1;
	EXPECT(!engine_check(t->e));
	WRONG(t, rx->cells_left, 1, "a block is written before all of it came");
	e->write_count = 0;
	e->ch[CH_WRITE].ctx = 2;
	EXPECT(!engine_check(t->e));
	WRONG(t, e->write_count, 1, "the contexts in WRITE are not those in the queue");
	check_end(t);
}

TEST("an engine is idle when nothing of it is under way")
{
	struct c_engine *e;
	struct bench *t = check_begin(&e);

	EXPECT(engine_idle(t->e));
	e->ch[CH_READ].ctx = 0;
	EXPECT(!engine_idle(t->e));
	e->ch[CH_READ].ctx = NONE;
	e->ch[CH_WRITE].ctx = 0;
	EXPECT(!engine_idle(t->e));
	e->ch[CH_WRITE].ctx = NONE;
	e->notes = 1;
	EXPECT(!engine_idle(t->e));
	e->notes = 0;
	e->answer_count = 1;
	EXPECT(!engine_idle(t->e));
	e->answer_count = 0;
	e->tx[3].state = FL_TX_DONE;
	EXPECT(!engine_idle(t->e));
	e->tx[3].state = FL_TX_FREE;
	e->rx_free &= ~1u;
	EXPECT(!engine_idle(t->e));
	e->rx_free |= 1u;
	EXPECT(engine_idle(t->e));
	check_end(t);
}

/* ---- engines that cannot be ---- */

static int config_error(struct engine_config c)
{
	struct bench t = { 0 };
	const struct engine_env env = {
		.ctx = &t, .burst_begin = bench_begin, .burst_end = bench_end,
		.frame_get = bench_frame_get, .frame_send = bench_frame_send,
		.irq = bench_irq, .kick = bench_kick,
	};
	int error = 1;
	struct engine *e = engine_create(&c, &env, &error);

	EXPECT_EQ(!e, error != 0);
	if (e)
		engine_destroy(e);
	return error;
}

#define CONFIG(field, value, want) do {					\
	struct engine_config c_ = bench_config;				\
									\
	c_.field = (value);						\
	EXPECT_EQ(config_error(c_), want);				\
} while (0)

TEST("an engine with more, or less, than its registers can say is refused")
{
	CONFIG(node, 0, 0);
	CONFIG(node, WIRE_NODES, -EINVAL);
	CONFIG(nodes, WIRE_NODES + 1, -EINVAL);
	CONFIG(nodes, bench_config.node, -EINVAL);
	CONFIG(nodes, bench_config.node + 1, 0);
	CONFIG(contexts, 3, -EINVAL);
	CONFIG(contexts, 4, 0);
	CONFIG(contexts, ENGINE_CTX_MAX + 1, -EINVAL);
	CONFIG(rx_contexts, 0, -EINVAL);
	CONFIG(rx_contexts, ENGINE_RXC_MAX + 1, -EINVAL);
	CONFIG(block_log2, 11, -EINVAL);
	CONFIG(block_log2, 17, -EINVAL);
	CONFIG(cell_bytes, CELL_BYTES_MIN / 2, -EINVAL);
	CONFIG(cell_bytes, CELL_BYTES_MIN + 1, -EINVAL);
	CONFIG(cell_bytes, 2 * WIRE_PAYLOAD_MAX, -EINVAL);
}

#define WITHOUT(call) do {						\
	struct engine_env e_ = env;					\
									\
	e_.call = NULL;							\
	EXPECT(!engine_create(&bench_config, &e_, &error));		\
	EXPECT_EQ(error, -EINVAL);					\
} while (0)

TEST("an engine without memory, wire, lines or channels is refused")
{
	struct bench *t = calloc(1, sizeof(*t));
	const struct engine_env env = {
		.ctx = t, .burst_begin = bench_begin, .burst_end = bench_end,
		.frame_get = bench_frame_get, .frame_send = bench_frame_send,
		.irq = bench_irq, .kick = bench_kick,
	};
	int error;

	WITHOUT(burst_begin);
	WITHOUT(burst_end);
	WITHOUT(frame_get);
	WITHOUT(frame_send);
	WITHOUT(irq);
	WITHOUT(kick);
	free(t);
}
