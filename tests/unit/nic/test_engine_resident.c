// SPDX-License-Identifier: BSD-2-Clause
/*
 * May a block go by the resident step? Only between two engines in C that are on, idle in that
 * context, and cut blocks and cells alike: each of these is taken away by itself.
 */
#include "nic/engine_internal.h"
#include "rig/engine.h"

struct resident {
	struct bench *from, *to;
	struct c_engine *a, *b;
};

static void resident_make(struct resident *t)
{
	struct engine_config peer = bench_config;

	peer.node = 2;
	t->from = bench_new(NULL);
	t->to = bench_new(&peer);
	t->a = c_engine(t->from->e);
	t->b = c_engine(t->to->e);
	EXPECT(engine_resident_may(t->from->e, t->to->e, 0));
}

/* One field has another value for a while; then the step may be taken again. */
#define NOT_WITH(t, field, value)					\
	do {								\
		__typeof__(field) was_ = (field);			\
		STEP("%s is %s", #field, #value);			\
		(field) = (value);					\
		EXPECT(!engine_resident_may((t)->from->e, (t)->to->e, 0)); \
		(field) = was_;						\
		EXPECT(engine_resident_may((t)->from->e, (t)->to->e, 0)); \
	} while (0)

TEST("the resident step needs two engines that are on and have nothing of that context")
{
	struct resident t;
	struct peer *p;

	if (!engine_is_c(bench_new(NULL)->e))
		return;		/* FAULTLINE_ENGINE */
	resident_make(&t);
	p = &t.b->peer[t.a->cfg.node][0];
	EXPECT(!engine_resident_may(t.from->e, t.from->e, 0));
	NOT_WITH(&t, t.a->enabled, false);
	NOT_WITH(&t, t.b->enabled, false);
	NOT_WITH(&t, t.b->rx_free, 0);
	NOT_WITH(&t, p->rxc, 0);
	NOT_WITH(&t, p->waiting, true);
	NOT_WITH(&t, t.a->answer_count, 1);
	NOT_WITH(&t, t.b->answer_count, 1);
	NOT_WITH(&t, t.a->tx[0].state, FL_TX_FLYING);
	NOT_WITH(&t, t.a->block_bytes, 8192);
	NOT_WITH(&t, t.b->cfg.cell_bytes, 512);
	STEP("another context is not asked about");
	t.a->tx[1].state = FL_TX_FLYING;
	EXPECT(engine_resident_may(t.from->e, t.to->e, 0));
	EXPECT(!engine_resident_may(t.from->e, t.to->e, 1));
	t.a->tx[1].state = FL_TX_FREE;
}

TEST("what has gone by the resident step is counted as if it had been sent")
{
	struct resident t;
	struct engine_went w = { .ctx = 3, .bytes = 3 * 16384 + 100 };
	struct engine_stats from, to;

	if (!engine_is_c(bench_new(NULL)->e))
		return;
	resident_make(&t);
	engine_resident_went(t.from->e, t.to->e, &w);
	EXPECT_EQ(w.blocks, 4);
	EXPECT_EQ(w.cells, 3 * 16 + 1);
	from = bench_stats(t.from);
	to = bench_stats(t.to);
	EXPECT_EQ(from.blocks_sent, 4);
	EXPECT_EQ(from.payload_sent, w.bytes);
	EXPECT_EQ(to.blocks_landed, 4);
	EXPECT_EQ(to.cells_received, w.cells);
	EXPECT_EQ(to.payload_received, w.bytes);
	STEP("the peer has seen the newest generation, and a copy of it is no block");
	EXPECT_EQ(t.b->peer[1][3].gen, t.a->tx[3].gen);
	EXPECT(t.b->peer[1][3].over);
	EXPECT_STR(engine_check(t.from->e) ? engine_check(t.from->e) : "sound", "sound");
	EXPECT_STR(engine_check(t.to->e) ? engine_check(t.to->e) : "sound", "sound");
}
