// SPDX-License-Identifier: BSD-2-Clause
/*
 * NetVM's transport against a peer that sends whatever it likes: nothing lands where no key
 * leads, no more lies in the system buffer than the peer has credits for, and counters rise only
 * for what is in its place.
 */
#include "rig/nv.h"

#include "sim/rng.h"
#include "sim/sim.h"

static struct rig g;
static struct rng rng;

static uint32_t draw_below(uint32_t n)
{
	return (uint32_t)(rng_next(&rng) % n);
}

/* Something that might be good, but for one thing or two. */
static struct nv_packet draw_packet(uint32_t around)
{
	static const uint8_t ops[] = { WOP_NV_WRITE, WOP_NV_WRITE, WOP_NV_WRITE, WOP_NV_ACK,
				       WOP_NV_CREDIT };
	struct nv_packet p = {
		.opcode = ops[draw_below(5)], .sequence = around + draw_below(20) - 6,
		.va = RIG_BASE + draw_below(RIG_BYTES), .key = 0x100 + draw_below(3),
		.base = around + draw_below(12) - 4, .credits = (uint16_t)draw_below(70),
		.counter = (uint16_t)draw_below(RIG_COUNTERS + 1),
		.redirected = draw_below(2), .ask = !draw_below(6),
	};

	p.len = draw_below(300);
	p.code = draw_below(60) ? 0 : (uint8_t)draw_below(256);
	if (!draw_below(40))
		p.va = rng_next(&rng);
	if (!draw_below(40))
		p.key = (uint32_t)rng_next(&rng);
	if (!draw_below(20))
		p.sequence = (uint32_t)rng_next(&rng);
	if (!draw_below(40))
		p.counter = (uint16_t)rng_next(&rng);
	return p;
}

static void packet_throw(struct nv_packet p)
{
	struct wire_frame f = { .from = draw_below(30) ? 1 : 3, .to = 0 };
	uint32_t payload = p.opcode == WOP_NV_WRITE ?
				   draw_below(3) ? p.len : draw_below(300) : 0;

	p.dest_qp = draw_below(40) ? RIG_QPN : (uint32_t)rng_next(&rng) & 0xFFFFFF;
	p.payload_len = payload;
	memset(nv_payload(&f), 0x5A, payload);
	nv_put(&f, &p, false);
	if (!draw_below(30))
		f.bytes[draw_below(f.len)] ^= (uint8_t)(1u << draw_below(8));
	if (!draw_below(60))
		f.len = draw_below(f.len + 1);
	nv_receive(g.nv, &f, g.io.now);
	rig_run(&g);
}

/* The driver is slow, and now and then it fails. */
static void slots_serve(void)
{
	uint32_t i;

	for (i = 0; i < nv_slots(g.nv); i++)
		if (g.slot[i].full && !draw_below(4))
			rig_copy(&g, i, draw_below(40) ? 0 : FL_ST_LOCAL_FAULT);
	rig_run(&g);
}

static void hostile_run(uint64_t seed)
{
	struct fw_pair p = rig_pair();
	struct nv_stats st;
	unsigned int i;

	rng_init(&rng, seed, "nv hostile");
	rig_open(&g, 0, &rig_config);
	g.io.quiet = true;
	g.io.key[2].rights = FL_ACC_REMOTE_READ;
	/* Nothing leads here. */
	g.io.key[3].alive = false;
	EXPECT_EQ(g.io.t.open(g.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	for (i = 0; i < 400 && !g.io.errors; i++) {
		struct fw_work w = rig_work(draw_below(RIG_PAGES - 1), draw_below(2000));

		if (!(i % 40) && g.io.dones == i / 40)
			g.io.t.post(g.io.t.ctx, RIG_QP, i / 40, &w);
		if (!draw_below(3))
			g.io.present[draw_below(RIG_PAGES)] = false;
		packet_throw(draw_packet(i / 30));
		g.io.outs = g.io.out_next = 0;
		if (g.io.dones && g.io.done[(g.io.dones - 1) % RIG_DONE].status)
			break;
		slots_serve();
		nv_stats(g.nv, &st);
		EXPECT_LE(st.slots_used, rig_config.credits);
	}
	rig_close(&g);
}

TEST("whatever a peer sends, what must hold does")
{
	uint64_t seed;

	test_cleanup(rig_close, &g);
	for (seed = 0; seed < 300; seed++)
		hostile_run(test_seed() * 1000 + seed);
}
