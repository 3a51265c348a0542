// SPDX-License-Identifier: BSD-2-Clause
/*
 * NetVM's transport between two units, over a wire that loses, doubles, delays, reorders and
 * damages, while pages go and come: against plain arrays, to which the WRITEs of a pair are
 * done one after the other.
 */
#include "rig/nv.h"
#include "rig/wire_pair.h"

#define PAIRS	2
#define POSTS	200
#define SOURCE	0	/* pages 0 to 7 */
#define TARGET(k) (8 + 8 * (k))
#define TARGET_BYTES (8 * 4096u)

struct write {
	uint32_t to, from, len;		/* offsets in target and source */
	uint16_t counter;
};

struct side {
	struct rig g;
	uint8_t *model;
	struct write write[PAIRS][POSTS];	/* that the peer posts to here */
	unsigned int posted[PAIRS], done[PAIRS], seen[PAIRS][RIG_COUNTERS + 1];
};

struct returning {
	uint64_t at;
	uint32_t slot;		/* or NEVER: a source page */
	uint16_t qp;
	uint8_t node, page;
	bool source;
};

static struct {
	struct side side[2];
	struct returning returning[256];
	unsigned int returns;
	unsigned int away;
	uint64_t page_ns;
} w;

static struct side *side_of(struct rig *g)
{
	return g == &w.side[0].g ? &w.side[0] : &w.side[1];
}

static struct side *side_other(struct side *s)
{
	return s == &w.side[0] ? &w.side[1] : &w.side[0];
}

/* ---- pages and the driver ---- */

static struct returning *return_new(struct rig *g)
{
	struct returning *r = &w.returning[w.returns++];

	EXPECT(w.returns < 256);
	*r = (struct returning){ .at = wire.now + 100 + draw_below((uint32_t)w.page_ns),
				 .node = g->cfg.node };
	return r;
}

static void page_missed(struct rig *g, const struct nv_miss *m)
{
	struct returning *r;

	if (m->side != NV_SENDER)
		return;
	r = return_new(g);
	r->source = true;
	r->qp = m->qp;
	r->page = (uint8_t)((m->va - RIG_BASE) / 4096);
}

static void page_diverted(struct rig *g, uint32_t slot)
{
	return_new(g)->slot = slot;
}

static void pages_return(void)
{
	unsigned int i;

	for (i = 0; i < w.returns; ) {
		struct returning r = w.returning[i];
		struct rig *g = &w.side[r.node].g;

		if (r.at > wire.now) {
			i++;
			continue;
		}
		w.returning[i] = w.returning[--w.returns];
		if (r.source) {
			g->io.present[r.page] = true;
			nv_resume(g->nv, r.qp, FL_ST_OK, wire.now);
		} else {
			g->io.now = wire.now;
			rig_copy(g, r.slot, 0);
		}
	}
}

/* A page leaves, unless a burst is in it: the zap waits for that. */
static void page_leave(void)
{
	struct rig *g = &w.side[draw_below(2)].g;

	if (draw_below(100) < w.away && !g->io.open[0] && !g->io.open[1])
		g->io.present[draw_below(24)] = false;
}

/* ---- what must come of it ---- */

static bool write_has(const struct write *x, uint32_t at)
{
	return at >= x->to && at < x->to + x->len;
}

/* Does the byte come from this WRITE or a later one? */
static bool byte_is_of(struct side *s, unsigned int k, unsigned int n, uint32_t at)
{
	uint8_t is = s->g.io.mem[TARGET(k) * 4096 + at];
	const struct write *x;

	for (; n < s->posted[k]; n++) {
		x = &s->write[k][n];
		if (write_has(x, at) &&
		    side_other(s)->g.io.mem[SOURCE * 4096 + x->from + at - x->to] == is)
			return true;
	}
	return false;
}

/* The seen-th WRITE that names the counter, and all before it, are in their place. */
static void counter_rose(struct rig *g, uint16_t counter)
{
	struct side *s = side_of(g);
	unsigned int k = (counter - 1) / 2, n, left = ++s->seen[k][counter], i;
	const struct write *x;
	uint32_t at;

	for (n = 0; n < s->posted[k]; n++)
		if (s->write[k][n].counter == counter && !--left)
			break;
	EXPECT(n < s->posted[k]);
	for (i = n < 4 ? 0 : n - 4; i <= n; i++) {
		x = &s->write[k][i];
		for (at = x->to; at < x->to + x->len; at++)
			if (!byte_is_of(s, k, i, at))
				EXPECT_EQ(i, 0xBAD);
	}
}

static void write_over(struct rig *g, const struct rig_done *d)
{
	struct side *s = side_other(side_of(g));
	unsigned int k = d->qp - RIG_QP;

	EXPECT_EQ(d->status, FL_ST_OK);
	EXPECT_EQ(d->wr, s->done[k]);
	s->done[k]++;
}

/* ---- the run ---- */

static void write_post(unsigned int node, unsigned int k)
{
	struct side *from = &w.side[node], *to = &w.side[!node];
	unsigned int n = to->posted[k], hot = draw_below(2);
	struct write *x = &to->write[k][n];
	struct fw_work f = { .opcode = FL_OP_WRITE, .rkey = 0x100, .xfer = n + 1 };

	if (n == POSTS || n - to->done[k] >= 8)
		return;
	*x = (struct write){ .len = draw_below(6000) };
	if (hot)	/* many on the same bytes */
		x->len = x->len % 300;
	x->to = draw_below((hot ? 500 : TARGET_BYTES) - (hot ? x->len : 6000));
	x->from = draw_below(TARGET_BYTES - 6000);
	x->counter = draw_below(2) ? (uint16_t)(1 + 2 * k + draw_below(2)) : 0;
	f.length = x->len;
	f.remote_va = RIG_BASE + TARGET(k) * 4096 + x->to;
	f.flags = (uint8_t)((x->counter ? FL_WQE_NOTIFY : 0) | (draw_below(10) ? 0 : FL_WQE_FENCE));
	f.imm = x->counter;
	f.segments = !!x->len;
	f.segment[0] = (struct fw_segment){ RIG_BASE + x->from, x->len, 0x101 };
	memcpy(to->model + TARGET(k) * 4096 + x->to, from->g.io.mem + x->from, x->len);
	to->posted[k]++;
	from->g.io.t.post(from->g.io.t.ctx, (uint16_t)(RIG_QP + k), n, &f);
}

static void pair_open(unsigned int node, unsigned int k, uint16_t mtu)
{
	struct rig *g = &w.side[node].g;
	struct fw_pair p = {
		.qpn = RIG_QPN + k + (node ? 0x1000 : 0),
		.peer_qp = RIG_QPN + k + (node ? 0 : 0x1000),
		.mtu = mtu, .node = (uint8_t)!node, .slot = (uint8_t)k, .retries = 7,
		.timeout = 4, .sends = true,
	};

	EXPECT_EQ(g->io.t.open(g->io.t.ctx, (uint16_t)(RIG_QP + k), &p), FL_ST_OK);
}

static void testbed_end(void *unused)
{
	unsigned int i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		rig_close(&w.side[i].g);
		free(w.side[i].model);
	}
	wire_end();
	memset(&w, 0, sizeof(w));
}

static void side_make(struct side *s, unsigned int node, const struct nv_config *c)
{
	rig_open(&s->g, (uint8_t)node, c);
	s->g.diverted = page_diverted;
	s->g.missed = page_missed;
	s->g.io.worked = write_over;
	s->g.counted = counter_rose;
	s->g.io.burst_ns = draw_below(500);
	s->model = wire_unit(node, &s->g.io);
}

/* clean: a wire that does nothing wrong, and a sender that keeps to its credits. */
static void testbed_draw(uint64_t seed, bool clean)
{
	static const uint16_t mtus[] = { 256, 512, 1024, 2048, 4096 };
	uint16_t mtu;
	struct nv_config c = { .icrc = true, .probe_ns = 50000 };
	unsigned int i, k;

	wire_draw(seed, "nv pair");
	mtu = mtus[draw_below(5)];
	wire.lose = clean ? 0 : draw_below(3) * draw_below(60);
	wire.twice = clean ? 0 : draw_below(3) * draw_below(60);
	wire.damage = clean ? 0 : draw_below(3) * draw_below(30);
	wire.least_ns = 100;
	wire.delay_ns = draw_below(3) * draw_below(10000);
	w.page_ns = 1 + draw_below(40000);
	w.away = draw_below(4) * 3;
	c.window = 4 + draw_below(NV_WINDOW_MAX - 4);
	c.credits = 1 + draw_below(16);
	c.slots = 4 + draw_below(40);
	c.rx_frames = clean ? 256 : 8 + draw_below(64);
	c.packet_ns = draw_below(300);
	c.greedy = !clean && !draw_below(5);
	if (clean)
		c.timeout_floor_ns = 1000000000;
	for (i = 0; i < 2; i++)
		side_make(&w.side[i], i, &c);
	for (k = 0; k < PAIRS; k++) {
		pair_open(0, k, mtu);
		pair_open(1, k, mtu);
	}
	STEP("seed %" PRIu64 ": mtu %u window %u credits %u slots %u lose %u twice %u away %u",
	     seed, mtu, c.window, c.credits, c.slots, wire.lose, wire.twice, w.away);
}

static bool testbed_step(void)
{
	uint64_t at = wire_soonest();
	unsigned int i;

	for (i = 0; i < w.returns; i++)
		at = w.returning[i].at < at ? w.returning[i].at : at;
	if (at == NEVER)
		return false;
	wire.now = at > wire.now ? at : wire.now;
	page_leave();
	pages_return();
	wire_arrive();
	wire_step();
	for (i = 0; i < 2; i++)
		rig_check(&w.side[i].g);
	return true;
}

static void testbed_run(uint64_t seed, bool clean)
{
	unsigned int i, k, n, steps;

	testbed_draw(seed, clean);
	for (n = 0; n < 300; n++) {
		write_post(draw_below(2), draw_below(PAIRS));
		for (steps = draw_below(30); steps--; )
			testbed_step();
	}
	for (steps = 0; testbed_step(); steps++)
		EXPECT(steps < 3000000);
	for (i = 0; i < 2; i++) {
		struct side *s = &w.side[i];

		EXPECT(nv_idle(s->g.nv));
		EXPECT_MEM(s->g.io.mem, s->model, RIG_BYTES);
		for (k = 0; k < PAIRS; k++)
			EXPECT_EQ(s->done[k], s->posted[k]);
	}
}

TEST("whatever the wire and the pages do, all is as if it had been done in order, once")
{
	struct nv_stats st, sum = { 0 };
	uint64_t seed;
	unsigned int i;

	test_cleanup(testbed_end, NULL);
	for (seed = 0; seed < 60; seed++) {
		testbed_run(test_seed() * 100000 + seed, false);
		for (i = 0; i < 2; i++) {
			nv_stats(w.side[i].g.nv, &st);
			sum.resent += st.resent;
			sum.redirected += st.redirected;
			sum.credit_waits += st.credit_waits;
			sum.order_waits += st.order_waits;
			sum.timeouts += st.timeouts;
			sum.probes += st.probes;
			sum.duplicates += st.duplicates;
			sum.overflows += st.overflows;
			sum.counted += st.counted;
			sum.bad_packets += st.bad_packets;
		}
		testbed_end(NULL);
	}
	EXPECT_GE(sum.resent, 400);
	EXPECT_GE(sum.redirected, 400);
	EXPECT_GE(sum.credit_waits, 400);
	EXPECT_GE(sum.order_waits, 200);
	EXPECT_GE(sum.timeouts, 120);
	EXPECT_GE(sum.probes, 8);
	EXPECT_GE(sum.duplicates, 400);
	EXPECT_GE(sum.overflows, 8);
	EXPECT_GE(sum.counted, 2000);
	EXPECT_GE(sum.bad_packets, 20);
}

TEST("on a wire that loses nothing no fragment is sent twice, however long pages take")
{
	struct nv_stats st;
	uint64_t seed;
	unsigned int i;

	test_cleanup(testbed_end, NULL);
	for (seed = 0; seed < 20; seed++) {
		testbed_run(test_seed() * 100000 + seed, true);
		for (i = 0; i < 2; i++) {
			nv_stats(w.side[i].g.nv, &st);
			EXPECT_EQ(st.resent, 0);
			EXPECT_EQ(st.duplicates, 0);
			EXPECT_EQ(st.overflows, 0);
			EXPECT_EQ(st.dropped, 0);
		}
		testbed_end(NULL);
	}
}

TEST("a pair that is closed in the middle of it all moves not a byte more; the other goes on")
{
	static uint8_t kept[2][TARGET_BYTES];
	uint64_t seed;
	unsigned int i, n;

	test_cleanup(testbed_end, NULL);
	for (seed = 0; seed < 15; seed++) {
		testbed_draw(test_seed() * 100000 + seed, false);
		for (n = 0; n < 40; n++)
			write_post(draw_below(2), draw_below(PAIRS));
		for (n = draw_below(300); n--; )
			testbed_step();
		for (i = 0; i < 2; i++)
			w.side[i].g.io.t.close(w.side[i].g.io.t.ctx, RIG_QP + 1);
		/* What the driver copies is not the card's doing. */
		for (n = 0; n < w.returns; n++)
			if (!w.returning[n].source)
				w.side[w.returning[n].node].g.slot[w.returning[n].slot].len *=
					w.side[w.returning[n].node].g
						.slot[w.returning[n].slot].va <
					RIG_BASE + TARGET(1) * 4096;
		for (i = 0; i < 2; i++)
			memcpy(kept[i], w.side[i].g.io.mem + TARGET(1) * 4096, TARGET_BYTES);
		while (testbed_step())
			;
		for (i = 0; i < 2; i++) {
			EXPECT_MEM(w.side[i].g.io.mem + TARGET(1) * 4096, kept[i], TARGET_BYTES);
			EXPECT_MEM(w.side[i].g.io.mem + TARGET(0) * 4096,
				   w.side[i].model + TARGET(0) * 4096, TARGET_BYTES);
			EXPECT(nv_idle(w.side[i].g.nv));
		}
		testbed_end(NULL);
	}
}
