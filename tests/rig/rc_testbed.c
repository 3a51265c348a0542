// SPDX-License-Identifier: BSD-2-Clause
#include "rig/rc_testbed.h"

/* ---- the run ---- */

static void pair_open(unsigned int node, unsigned int k, uint32_t psn,
		      unsigned int reads)
{
	struct rig *g = &bed.side[node].g;
	struct fw_pair p = {
		.qpn = RIG_QPN + k + (node ? 0x1000 : 0),
		.peer_qp = RIG_QPN + k + (node ? 0 : 0x1000),
		.sq_psn = psn + node, .rq_psn = psn + !node, .mtu = (uint16_t)bed.mtu,
		.node = (uint8_t)!node, .rnr_code = 1, .retries = 7, .rnr_tries = 7,
		.timeout = 6, .rd_atomic = (uint8_t)reads, .dest_rd_atomic = (uint8_t)reads,
		.sends = true,
	};

	EXPECT_EQ(g->io.t.open(g->io.t.ctx, (uint16_t)(RIG_QP + k), &p), FL_ST_OK);
}

void testbed_end(void *unused)
{
	unsigned int i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		rig_close(&bed.side[i].g);
		free(bed.side[i].model);
	}
	wire_end();
	memset(&bed, 0, sizeof(bed));
}

void testbed_draw(uint64_t seed)
{
	static const uint32_t mtus[] = { 256, 512, 1024, 2048, 4096 };
	static const uint32_t psns[] = { 0xFFFFF0, 0xFFFFFF, 0, 0x7FFFF0, 0x123456 };
	struct rc_config c = { .icrc = true };
	unsigned int i, k, reads;
	uint32_t n;

	wire_draw(seed, "rc pair");
	bed.mtu = mtus[draw_below(5)];
	bed.most = draw_below(2) && bed.mtu < 1000 ? 4 * bed.mtu : 4000;
	wire.lose = draw_below(3) * draw_below(20);
	wire.twice = draw_below(3) * draw_below(20);
	wire.damage = draw_below(3) * draw_below(10);
	wire.least_ns = 200;
	wire.delay_ns = draw_below(3) * draw_below(10000);
	bed.away = draw_below(4) * 2;
	bed.verdicts = draw_below(2);
	c.window = 4 + draw_below(60);
	c.rx_frames = 8 + draw_below(64);
	c.packet_ns = draw_below(300);
	c.quirks = draw_below(4) ? 0 : 1 + draw_below(7);
	for (i = 0; i < 2; i++) {
		rig_open(&bed.side[i].g, (uint8_t)i, &c);
		bed.side[i].g.judge = page_judge;
		bed.side[i].g.io.worked = work_over;
		bed.side[i].g.give = recv_give;
		bed.side[i].g.arrive = recv_check;
		bed.side[i].g.io.burst_ns = draw_below(500);
		bed.side[i].model = wire_unit(i, &bed.side[i].g.io);
	}
	for (k = 0; k < PAIRS; k++) {
		reads = 1 + draw_below(4);
		n = psns[draw_below(5)];
		pair_open(0, k, n, reads);
		pair_open(1, k, n, reads);
	}
	STEP("seed %" PRIu64 ": mtu %u, window %u, frames %u, lose %u twice %u damage %u, "
	     "away %u, verdicts %u, quirks %u", seed, bed.mtu, c.window, c.rx_frames, wire.lose,
	     wire.twice, wire.damage, bed.away, bed.verdicts, c.quirks);
}

static void pages_return(void)
{
	unsigned int i;

	for (i = 0; i < bed.returns; )
		if (bed.returning[i].at <= wire.now) {
			struct returning r = bed.returning[i];
			struct rig *g = &bed.side[r.node].g;

			bed.returning[i] = bed.returning[--bed.returns];
			g->io.present[r.page] = true;
			if (r.resume)
				rc_resume(g->rc, r.qp, r.side, r.write, FL_ST_OK, 0,
					  wire.now);
		} else {
			i++;
		}
}

static uint64_t testbed_soonest(void)
{
	uint64_t at = wire_soonest();
	unsigned int i;

	for (i = 0; i < bed.returns; i++)
		at = bed.returning[i].at < at ? bed.returning[i].at : at;
	return at;
}

static void receives_offer(void)
{
	unsigned int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < PAIRS; k++) {
			struct side *s = &bed.side[i];

			if (s->offered[k] - s->arrived[k] < 4 && (draw_chance(50) || !bed.to_post))
				s->offered[k]++;
		}
}

void testbed_step(void)
{
	uint64_t at;

	if (bed.to_post && draw_chance(120))
		post_one();
	if (bed.to_post && draw_chance(bed.away))
		page_away();
	receives_offer();
	wire_arrive();
	pages_return();
	wire_step();
	at = testbed_soonest();
	if (at == NEVER)
		at = wire.now + 1000;
	wire.now = at > wire.now ? at : wire.now;
	bed.side[0].g.io.now = bed.side[1].g.io.now = wire.now;
	if (!(bed.steps++ % 64))
		EXPECT(!rc_check(bed.side[0].g.rc) && !rc_check(bed.side[1].g.rc));
}

static bool testbed_is_done(void)
{
	return !bed.to_post && wire_rests() && rc_idle(bed.side[0].g.rc) &&
	       rc_idle(bed.side[1].g.rc);
}

void testbed_compare(void)
{
	uint32_t shared = TARGET(1) * 4096 - CELLS;
	unsigned int i, k;

	for (i = 0; i < 2; i++) {
		struct side *s = &bed.side[i];

		/* A closed pair may have added to it any number of times. */
		if (bed.ended[1])
			memcpy(s->model + shared, s->g.io.mem + shared, 8);
		for (k = 0; k < PAIRS; k++) {
			if (bed.ended[k])
				continue;
			EXPECT_EQ(s->oldest[k], s->next[k]);
			EXPECT_EQ(s->sends[k], bed.side[!i].arrived[k]);
			EXPECT_EQ(s->g.io.errors, 0);
			/* Not INTO: the results of adding to the shared cell have no order. */
			EXPECT_MEM(s->g.io.mem + TARGET(k) * 4096, s->model + TARGET(k) * 4096,
				   12 * 4096);
			EXPECT_MEM(s->g.io.mem + RECEIVE(k) * 4096,
				   s->model + RECEIVE(k) * 4096, 4 * 4096);
			EXPECT_MEM(s->g.io.mem + SOURCE(k) * 4096, s->model + SOURCE(k) * 4096,
				   8 * 4096);
		}
		EXPECT_EQ(s->g.io.alarm, UINT64_MAX);
	}
}

void testbed_post(void)
{
	while (bed.to_post) {
		testbed_step();
		EXPECT(bed.steps < 3000000);
	}
}

void testbed_drain(void)
{
	uint64_t limit = bed.steps + 400000;

	STEP("all is posted; the wire is clean now");
	wire.lose = wire.twice = wire.damage = 0;
	while (!testbed_is_done()) {
		testbed_step();
		EXPECT(bed.steps < limit);
	}
}

void testbed_run(uint64_t seed, uint32_t posts)
{
	testbed_draw(seed);
	bed.to_post = posts;
	testbed_post();
	testbed_drain();
	testbed_compare();
}
