// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames by reference: bursts that are cells are read straight into frames, and
 * frames that came are kept until they are written. Whatever lies how, the bytes
 * are the same as with copies, and every frame is given back.
 */
#include "rig/engine.h"

#define CELL	2048u
#define SPARES	64u

static struct wire_frame spare[SPARES];
static bool taken[SPARES];
static unsigned int kept, most_kept, straight;

static bool is_spare(const struct wire_frame *f)
{
	return f >= spare && f < spare + SPARES;
}

static struct wire_frame *frame_spare(void *ctx)
{
	unsigned int i;

	(void)ctx;
	for (i = 0; i < SPARES; i++)
		if (!taken[i]) {
			taken[i] = true;
			memset(&spare[i], 0, sizeof(spare[i]));
			return &spare[i];
		}
	return NULL;
}

static bool frame_borrow(void *ctx, const struct wire_frame *f)
{
	(void)ctx;
	(void)f;
	kept++;
	most_kept = kept > most_kept ? kept : most_kept;
	return true;
}

static void frame_put(const struct wire_frame *f)
{
	if (is_spare(f)) {
		EXPECT(taken[f - spare]);
		taken[f - spare] = false;
	} else {
		EXPECT_GE(kept, 1);
		kept--;
	}
}

static void frames_put(void *ctx, struct wire_frame *const *f, unsigned int n)
{
	(void)ctx;
	EXPECT_GE(n, 1);
	while (n--)
		frame_put(f[n]);
}

static uint64_t frame_send(void *ctx, struct wire_frame *f)
{
	struct bench *t = ctx;

	if (is_spare(f)) {
		straight++;
		memcpy(&t->frame[t->frames], f, sizeof(*f));
		frame_put(f);
	}
	t->frames++;
	return 0;
}

static unsigned int spares_out(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < SPARES; i++)
		n += taken[i];
	return n;
}

/* A bench whose engine may use frames by reference. */
static struct bench *by_reference(unsigned int node)
{
	struct engine_config c = bench_config;
	struct bench *t = bench_new(NULL);
	struct engine_env env = {
		.ctx = t, .wire = t, .burst_begin = bench_begin, .burst_end = bench_end,
		.frame_get = bench_frame_get, .frame_send = frame_send,
		.irq = bench_irq, .kick = bench_kick,
		.frame_spare = frame_spare, .frame_borrow = frame_borrow,
		.frames_put = frames_put,
	};
	int error = 0;

	engine_destroy(t->e);
	memset(t->line, 0, sizeof(t->line));
	c.node = (uint8_t)node;
	c.cell_bytes = CELL;
	c.trace = t->trace;
	t->e = engine_create(&c, &env, &error);
	EXPECT_EQ(error, 0);
	bench_set(t, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	bench_run(t, 0);
	bench_run(t, 1);
	return t;
}

/* One WRITE from node 1 to node 3. */
static void frames_carry(struct bench *s, struct bench *d, unsigned int from,
			 unsigned int to, unsigned int len)
{
	const struct bench_block b = {
		.ctx = 2, .op = FL_OP_WRITE, .node = 3, .qpn = 8, .len = len,
		.rkey = 1, .lva = BENCH_BASE + from, .rva = BENCH_BASE + to,
	};
	struct wire_answer a;
	struct bench_note n;
	unsigned int i;

	STEP("%u bytes from %u to %u", len, from, to);
	s->frames = d->frames = 0;
	bench_go(s, &b);
	bench_run(s, 0);
	bench_drain_notes(s);
	EXPECT_EQ(s->frames, (len + CELL - 1) / CELL);
	EXPECT_EQ(spares_out(), 0);
	memset(d->mem + to, 0x5A, len);
	for (i = 0; i < s->frames; i++)
		engine_receive(d->e, &s->frame[i], 0);
	n = bench_note(d);
	bench_set(d, NIC_RXC_BASE(n.index) + NIC_RXC_VERDICT,
		  n.serial << NIC_RXC_VERDICT_SERIAL_SHIFT |
		  (uint32_t)BENCH_STREAM << NIC_RXC_VERDICT_STREAM_SHIFT);
	bench_run(d, 1);
	EXPECT_EQ(kept, 0);
	EXPECT_MEM(d->mem + to, s->mem + from, len);
	bench_expect_note(d, FL_NOTE_RX_LANDED, n.index);
	EXPECT(engine_idle(d->e));
	a = bench_sent(d, d->frames - 1, WOP_ACK);
	bench_answer(s, 3, &a);
	bench_drain_notes(s);
	bench_act(s, 2, NIC_CTX_CTRL_RELEASE);
	EXPECT(engine_idle(s->e));
}

TEST("frames by reference carry the same bytes, whatever lies how")
{
	static const unsigned int lens[] = { 1, 2047, 2048, 2049, 2992, 4096,
					     4097, 5000, 8191, 16384 };
	static const unsigned int ats[] = { 0, 1, 100, 2047, 2048, 2100, 4095 };
	struct bench *s = by_reference(1), *d = by_reference(3);
	unsigned int i, j, k, n = sizeof(ats) / sizeof(*ats);

	straight = most_kept = 0;
	for (i = 0; i < sizeof(lens) / sizeof(*lens); i++)
		for (j = 0; j < n; j++)
			for (k = 0; k < n; k++)
				frames_carry(s, d, 8 * ENGINE_PAGE + ats[j],
					     100 * ENGINE_PAGE + ats[k],
					     lens[i]);
	STEP("and not by copying all of them");
	EXPECT_GE(straight, 100);
	EXPECT_GE(most_kept, 8);
}

TEST("a block that is dropped gives its frames back")
{
	struct bench *s = by_reference(1);
	const struct bench_block b = {
		.ctx = 2, .op = FL_OP_WRITE, .node = 3, .qpn = 8,
		.len = 2 * CELL, .rkey = 1,
		.lva = BENCH_BASE + 2 * ENGINE_PAGE + CELL, .rva = BENCH_BASE,
	};

	s->page[3] = PAGE_ABSENT;
	bench_go(s, &b);
	bench_run(s, 0);
	EXPECT_EQ(bench_tx_state(s, 2), FL_TX_SRCFAULT);
	EXPECT_EQ(spares_out(), 0);
	EXPECT_EQ(s->frames, 0);
}
