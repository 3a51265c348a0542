/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rc_testbed.h - two units back to back, over a wire that loses, doubles, delays and damages;
 * pages go missing and come back. What is posted, and what must come of it: rc_posts.h.
 */
#ifndef FL_RC_TESTBED_H
#define FL_RC_TESTBED_H

#include "rc_posts.h"

/* ---- the run ---- */

static void pair_open(unsigned int node, unsigned int k, uint32_t psn, unsigned int reads)
{
	struct rig *g = &w.side[node].g;
	struct fw_pair p = {
		.qpn = RIG_QPN + k + (node ? 0x1000 : 0),
		.peer_qp = RIG_QPN + k + (node ? 0 : 0x1000),
		.sq_psn = psn + node, .rq_psn = psn + !node, .mtu = (uint16_t)w.mtu,
		.node = (uint8_t)!node, .rnr_code = 1, .retries = 7, .rnr_tries = 7,
		.timeout = 6, .rd_atomic = (uint8_t)reads, .dest_rd_atomic = (uint8_t)reads,
		.sends = true,
	};

	EXPECT_EQ(g->t.open(g->t.ctx, (uint16_t)(RIG_QP + k), &p), FL_ST_OK);
}

static void testbed_end(void *unused)
{
	unsigned int i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		rig_close(&w.side[i].g);
		free(w.side[i].model);
	}
	free(w.flying);
	memset(&w, 0, sizeof(w));
}

static void testbed_draw(uint64_t seed)
{
	static const uint32_t mtus[] = { 256, 512, 1024, 2048, 4096 };
	static const uint32_t psns[] = { 0xFFFFF0, 0xFFFFFF, 0, 0x7FFFF0, 0x123456 };
	struct rc_config c = { .icrc = true };
	unsigned int i, k, reads;
	uint32_t n;

	rng_init(&w.rng, seed, "rc pair");
	w.mtu = mtus[draw_below(5)];
	w.most = draw_below(2) && w.mtu < 1000 ? 4 * w.mtu : 4000;
	w.lose = draw_below(3) * draw_below(20);
	w.twice = draw_below(3) * draw_below(20);
	w.damage = draw_below(3) * draw_below(10);
	w.delay_ns = draw_below(3) * draw_below(10000);
	w.away = draw_below(4) * 2;
	w.verdicts = draw_below(2);
	c.window = 4 + draw_below(60);
	c.rx_frames = 8 + draw_below(64);
	c.packet_ns = draw_below(300);
	c.quirks = draw_below(4) ? 0 : 1 + draw_below(7);
	for (i = 0; i < 2; i++) {
		rig_open(&w.side[i].g, (uint8_t)i, &c);
		w.side[i].g.sent = wire_sent;
		w.side[i].g.judge = page_judge;
		w.side[i].g.worked = work_over;
		w.side[i].g.give = recv_give;
		w.side[i].g.arrive = recv_check;
		w.side[i].g.quiet = true;
		w.side[i].g.burst_ns = draw_below(500);
		w.side[i].step_at[0] = w.side[i].step_at[1] = NEVER;
		w.side[i].model = malloc(RIG_BYTES);
		for (n = 0; n < RIG_BYTES; n++)
			w.side[i].g.mem[n] = (uint8_t)rng_next(&w.rng);
		memcpy(w.side[i].model, w.side[i].g.mem, RIG_BYTES);
	}
	for (k = 0; k < PAIRS; k++) {
		reads = 1 + draw_below(4);
		n = psns[draw_below(5)];
		pair_open(0, k, n, reads);
		pair_open(1, k, n, reads);
	}
	w.flying = malloc(FLIGHT * sizeof(*w.flying));
	STEP("seed %" PRIu64 ": mtu %u, window %u, frames %u, lose %u twice %u damage %u, "
	     "away %u, verdicts %u, quirks %u", seed, w.mtu, c.window, c.rx_frames, w.lose,
	     w.twice, w.damage, w.away, w.verdicts, c.quirks);
}

static void frames_arrive(void)
{
	unsigned int i;

	for (i = 0; i < w.flights; )
		if (w.flying[i].at <= w.now) {
			struct flying x = w.flying[i];

			w.flying[i] = w.flying[--w.flights];
			rc_receive(w.side[x.to].g.rc, &x.f, w.now);
		} else {
			i++;
		}
}

static void pages_return(void)
{
	unsigned int i;

	for (i = 0; i < w.returns; )
		if (w.returning[i].at <= w.now) {
			struct returning r = w.returning[i];
			struct rig *g = &w.side[r.node].g;

			w.returning[i] = w.returning[--w.returns];
			g->present[r.page] = true;
			if (r.resume)
				rc_resume(g->rc, r.qp, r.side, r.write, FL_ST_OK, w.now);
		} else {
			i++;
		}
}

static void units_step(void)
{
	unsigned int i, ch;
	uint64_t ns;

	for (i = 0; i < 2; i++) {
		struct side *s = &w.side[i];

		s->g.now = w.now;
		if (s->g.alarm <= w.now) {
			s->g.alarm = NEVER;
			rc_timer(s->g.rc, w.now);
		}
		for (ch = 0; ch < 2; ch++) {
			if (s->g.awake[ch] && s->step_at[ch] == NEVER)
				s->step_at[ch] = w.now;
			if (s->step_at[ch] > w.now)
				continue;
			ns = rc_step(s->g.rc, ch, w.now);
			s->g.awake[ch] = ns != UINT64_MAX;
			s->step_at[ch] = ns == UINT64_MAX ? NEVER : w.now + ns;
		}
	}
}

static uint64_t testbed_soonest(void)
{
	uint64_t at = NEVER;
	unsigned int i, ch;

	for (i = 0; i < w.flights; i++)
		at = w.flying[i].at < at ? w.flying[i].at : at;
	for (i = 0; i < w.returns; i++)
		at = w.returning[i].at < at ? w.returning[i].at : at;
	for (i = 0; i < 2; i++) {
		struct side *s = &w.side[i];

		at = s->g.alarm < at ? s->g.alarm : at;
		for (ch = 0; ch < 2; ch++) {
			if (s->g.awake[ch] && s->step_at[ch] == NEVER)
				return w.now;
			at = s->step_at[ch] < at ? s->step_at[ch] : at;
		}
	}
	return at;
}

static void receives_offer(void)
{
	unsigned int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < PAIRS; k++) {
			struct side *s = &w.side[i];

			if (s->offered[k] - s->arrived[k] < 4 && (draw_chance(50) || !w.to_post))
				s->offered[k]++;
		}
}

static void testbed_step(void)
{
	uint64_t at;

	if (w.to_post && draw_chance(120))
		post_one();
	if (w.to_post && draw_chance(w.away))
		page_away();
	receives_offer();
	frames_arrive();
	pages_return();
	units_step();
	at = testbed_soonest();
	if (at == NEVER)
		at = w.now + 1000;
	w.now = at > w.now ? at : w.now;
	w.side[0].g.now = w.side[1].g.now = w.now;
	if (!(w.steps++ % 64))
		EXPECT(!rc_check(w.side[0].g.rc) && !rc_check(w.side[1].g.rc));
}

static bool testbed_is_done(void)
{
	return !w.to_post && !w.flights && rc_idle(w.side[0].g.rc) &&
	       rc_idle(w.side[1].g.rc) && !w.side[0].g.awake[0] && !w.side[0].g.awake[1] &&
	       !w.side[1].g.awake[0] && !w.side[1].g.awake[1];
}

/* The cell that both pairs add to is in pair 0's target. */
static void testbed_compare(void)
{
	uint32_t shared = TARGET(1) * 4096 - CELLS;
	unsigned int i, k;

	for (i = 0; i < 2; i++) {
		struct side *s = &w.side[i];

		/* A closed pair may have added to it any number of times. */
		if (w.ended[1])
			memcpy(s->model + shared, s->g.mem + shared, 8);
		for (k = 0; k < PAIRS; k++) {
			if (w.ended[k])
				continue;
			EXPECT_EQ(s->oldest[k], s->next[k]);
			EXPECT_EQ(s->sends[k], w.side[!i].arrived[k]);
			EXPECT_EQ(s->g.errors, 0);
			/* Not INTO: the results of adding to the shared cell have no order. */
			EXPECT_MEM(s->g.mem + TARGET(k) * 4096, s->model + TARGET(k) * 4096,
				   12 * 4096);
			EXPECT_MEM(s->g.mem + RECEIVE(k) * 4096,
				   s->model + RECEIVE(k) * 4096, 4 * 4096);
			EXPECT_MEM(s->g.mem + SOURCE(k) * 4096, s->model + SOURCE(k) * 4096,
				   8 * 4096);
		}
		EXPECT_EQ(s->g.alarm, UINT64_MAX);
	}
}

/* Until all is posted. */
static inline void testbed_post(void)
{
	while (w.to_post) {
		testbed_step();
		EXPECT(w.steps < 3000000);
	}
}

static inline void testbed_drain(void)
{
	uint64_t limit = w.steps + 400000;

	STEP("all is posted; the wire is clean now");
	w.lose = w.twice = w.damage = 0;
	while (!testbed_is_done()) {
		testbed_step();
		EXPECT(w.steps < limit);
	}
}

static inline void testbed_run(uint64_t seed, uint32_t posts)
{
	testbed_draw(seed);
	w.to_post = posts;
	testbed_post();
	testbed_drain();
	testbed_compare();
}

#endif
