// SPDX-License-Identifier: BSD-2-Clause
/* Boards that cannot be, ports that are taken, and links that lead nowhere. */
#include <errno.h>

#include "board/board_internal.h"
#include "nic/engine_internal.h"
#include "nic/wire.h"
#include "rig/board.h"

struct parts {
	struct timing_profile timing;
	struct trace *trace;
	struct sim *sim;
	struct fabric *fabric;
};

static void parts_make(struct parts *p)
{
	struct trace_config tc = { .ring_records = 256 };
	struct sim_config sc = { .mode = SIM_LOCKSTEP, .seed = test_seed() };
	struct fabric_config fc = { .timing = &p->timing };

	timing_defaults(&p->timing);
	sc.trace = fc.trace = p->trace = trace_create(&tc);
	fc.sim = p->sim = sim_create(&sc);
	p->fabric = fabric_create(&fc);
	EXPECT(p->trace && p->sim && p->fabric);
}

static void parts_end(struct parts *p)
{
	sim_stop(p->sim);
	fabric_destroy(p->fabric);
	sim_destroy(p->sim);
	trace_destroy(p->trace);
	timing_free(&p->timing);
}

static struct board *board_try(struct parts *p, struct board_config c, int want)
{
	struct board *b;
	int error = 77;

	c.name = "b";
	c.sim = p->sim;
	c.fabric = p->fabric;
	c.trace = p->trace;
	c.timing = &p->timing;
	STEP("node %u, blocks of %u bytes, %u contexts", c.id, c.block_bytes, c.contexts);
	b = board_create(&c, &error);
	EXPECT_EQ(error, want);
	EXPECT_EQ(!b, !!want);
	return b;
}

TEST("a board that cannot be is refused, and leaves nothing but its place on the fabric")
{
	struct parts p;
	struct board *b;

	parts_make(&p);
	EXPECT(!board_try(&p, (struct board_config){ .id = WIRE_NODES }, -EINVAL));
	EXPECT(!board_try(&p, (struct board_config){ .id = 255 }, -EINVAL));
	EXPECT(!board_try(&p, (struct board_config){ .id = 0, .block_bytes = 10000 },
			  -EINVAL));
	EXPECT(!board_try(&p, (struct board_config){ .id = 1, .block_bytes = 1u << 31 | 1 },
			  -EINVAL));
	STEP("a packet does not fit into a block");
	EXPECT(!board_try(&p, (struct board_config){ .id = 2, .block_bytes = 512 },
			  -EINVAL));
	EXPECT(!board_try(&p, (struct board_config){ .id = 3, .contexts = 200 }, -EINVAL));
	STEP("one that can be; and another in its place");
	b = board_try(&p, (struct board_config){ .id = 4 }, 0);
	EXPECT(!board_try(&p, (struct board_config){ .id = 4 }, -EEXIST));
	board_destroy(b);
	board_destroy(NULL);
	parts_end(&p);
}

static struct engine_config other_saw;

/* An engine that is not the one in C, as far as the board can tell. */
static struct engine *other_create(const struct engine_config *cfg, const struct engine_env *env,
				   int *error)
{
	other_saw = *cfg;
	return engine_create(cfg, env, error);
}

TEST("a packet is no longer than a block, and another engine has fewer nodes")
{
	struct parts p;
	struct board *b;

	parts_make(&p);
	p.timing.v[T_LINK_CELL] = 8192;
	EXPECT(!board_try(&p, (struct board_config){ .id = 0, .block_bytes = 4096 }, -EINVAL));
	p.timing.v[T_LINK_CELL] = 4096;
	b = board_try(&p, (struct board_config){ .id = 1, .block_bytes = 4096 }, 0);
	board_destroy(b);
	STEP("as many nodes as the engine in Verilog has");
	EXPECT(!board_try(&p, (struct board_config){ .id = ENGINE_RTL_NODES,
						     .engine = other_create }, -EINVAL));
	b = board_try(&p, (struct board_config){ .id = ENGINE_RTL_NODES - 1,
						 .engine = other_create }, 0);
	EXPECT_EQ(other_saw.nodes, ENGINE_RTL_NODES);
	board_destroy(b);
	b = board_try(&p, (struct board_config){ .id = ENGINE_RTL_NODES + 1 }, 0);
	board_destroy(b);
	parts_end(&p);
}

TEST("a board says which part of it is wrong, and which has work left")
{
	struct c_engine *e;
	struct parts p;
	struct board *b;

	parts_make(&p);
	b = board_try(&p, (struct board_config){ .id = 0 }, 0);
	e = c_engine(b->engine);
	EXPECT(!board_check(b));
	EXPECT(!board_busy(b));
	e->tx_ready = 1;
	EXPECT_STR(board_check(b), "the ready mask differs from a transmit context's state");
	e->tx_ready = 0;
	EXPECT(!board_check(b));
	e->notes = 1;
	EXPECT_STR(board_busy(b), "engine");
	e->notes = 0;
	b->psdma.busy = true;
	EXPECT_STR(board_busy(b), "psdma");
	b->psdma.busy = false;
	EXPECT(!board_busy(b));
	board_destroy(b);
	parts_end(&p);
}

TEST("a link has two ends, which are two ports, and is there once")
{
	struct parts p;
	struct board *a, *b;
	struct fabric_stats st = { .frames = 9 };

	parts_make(&p);
	a = board_try(&p, (struct board_config){ .id = 0 }, 0);
	b = board_try(&p, (struct board_config){ .id = 1 }, 0);
	EXPECT_EQ(fabric_link(p.fabric, 0, 0), -ENOENT);
	EXPECT_EQ(fabric_link(p.fabric, 0, 2), -ENOENT);
	EXPECT_EQ(fabric_link(p.fabric, 2, 1), -ENOENT);
	EXPECT_EQ(fabric_link(p.fabric, 0, WIRE_NODES), -ENOENT);
	EXPECT_EQ(fabric_link(p.fabric, 255, 1), -ENOENT);
	EXPECT_EQ(fabric_link(p.fabric, 0, 1), 0);
	EXPECT_EQ(fabric_link(p.fabric, 1, 0), -EEXIST);
	STEP("nobody has sent anything, and where there is no port nobody will");
	fabric_stats(p.fabric, 0, &st);
	EXPECT_EQ(st.frames, 0);
	st.frames = 9;
	fabric_stats(p.fabric, 7, &st);
	EXPECT_EQ(st.frames, 0);
	st.frames = 9;
	fabric_stats(p.fabric, 200, &st);
	EXPECT_EQ(st.frames, 0);
	EXPECT(fabric_idle(p.fabric));
	board_destroy(a);
	board_destroy(b);
	parts_end(&p);
}
