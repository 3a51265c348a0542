// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whatever comes over the wire, a unit of reliable connections stays in one piece, and
 * touches no byte that it may not touch.
 */
#include "rig/rc.h"
#include "sim/rng.h"
#include "sim/sim.h"

#define SEEDS	60
#define ROUNDS	4000
#define PAIRS	3

static struct rig g;
static struct rng rng;
static uint32_t psn_near;
static uint32_t wr[PAIRS], over[PAIRS];	/* requests posted, and ended */
static bool is_open[PAIRS];

static uint32_t draw_below(uint32_t n)
{
	return (uint32_t)rng_below(&rng, n);
}

/* Keys lead to pages 8 to 15, 24 and 32; every other byte must stay as it is. */
static bool byte_is_open(uint32_t at)
{
	unsigned int page = at / 4096;

	return (page >= 8 && page < 16) || page == 24 || page == 32;
}

static void keys_make(void)
{
	g.io.key[0] = (struct rig_key){ 0x100, RIG_BASE + 8 * 4096, 8 * 4096, 15, true };
	g.io.key[1] = (struct rig_key){ 0x101, RIG_BASE + 24 * 4096, 4096, 1, true };
	g.io.key[2] = (struct rig_key){ 0x102, RIG_BASE + 32 * 4096, 4096, 3, true };
	g.io.key[3] = (struct rig_key){ 0x103, RIG_BASE, RIG_BYTES, FL_ACC_REMOTE_READ, true };
}

static struct rc_judged verdict_draw(struct rig *r, const struct rc_miss *m)
{
	(void)r;
	(void)m;
	return (struct rc_judged){ .verdict = (uint8_t)draw_below(RC_FAIL + 1),
				   .rnr_code = (uint8_t)draw_below(32) };
}

static void work_over(struct rig *r, const struct rig_done *d)
{
	unsigned int k = d->qp - RIG_QP;

	(void)r;
	EXPECT_EQ(d->wr, over[k]);	/* in order, once */
	EXPECT(is_open[k]);
	over[k] = d->status == FL_ST_OK ? d->wr + 1 : wr[k];
	is_open[k] = d->status == FL_ST_OK;
}

static void pair_ended(struct rig *r, uint16_t qp)
{
	(void)r;
	EXPECT(is_open[qp - RIG_QP]);
	is_open[qp - RIG_QP] = false;
	over[qp - RIG_QP] = wr[qp - RIG_QP];
}

static bool recv_give(struct rig *r, uint16_t qp, struct fw_recv *recv)
{
	(void)r;
	(void)qp;
	*recv = (struct fw_recv){
		.length = 300, .segments = 2,
		.segment = { { RIG_BASE + 32 * 4096 + 4000, 96, 0x102 },
			     { RIG_BASE + 32 * 4096, 204, 0x102 } },
	};
	return draw_below(4);
}

static void pair_open(unsigned int k)
{
	struct fw_pair p = rig_pair();

	p.qpn = RIG_QPN + k;
	p.sq_psn = p.rq_psn = psn_near;
	p.rnr_tries = (uint8_t)draw_below(8);
	is_open[k] = true;
	g.io.t.open(g.io.t.ctx, (uint16_t)(RIG_QP + k), &p);
}

static void work_draw(unsigned int k, uint32_t number)
{
	static const uint8_t ops[] = { FL_OP_SEND, FL_OP_WRITE, FL_OP_READ, FL_OP_FETCH_ADD,
				       FL_OP_CMP_SWAP, FL_OP_RECV };
	struct fw_work w = rig_work(ops[draw_below(sizeof(ops))], 24, draw_below(1500));

	w.flags = (uint8_t)rng_next(&rng) & ~FL_WQE_INLINE;
	w.segment[0].bytes = draw_below(1000);
	w.segment[0].key = 0x100 + draw_below(4);
	g.io.t.post(g.io.t.ctx, (uint16_t)(RIG_QP + k), number, &w);
}

/* A packet that might be one of a conversation. */
static struct rc_packet packet_draw(void)
{
	struct rc_packet p = {
		.opcode = (uint8_t)draw_below(0x15), .dest_qp = RIG_QPN + draw_below(PAIRS),
		.psn = (psn_near + draw_below(60) - 8) & 0xFFFFFF, .ackreq = draw_below(2),
		.va = RIG_BASE + draw_below(RIG_BYTES), .rkey = 0x100 + draw_below(5),
		.length = draw_below(1200), .syndrome = (uint8_t)rng_next(&rng),
		.swap = rng_next(&rng), .compare = rng_next(&rng),
	};

	if (!draw_below(3))
		p.va = rng_next(&rng);
	if (!draw_below(3))
		p.va &= ~7ull;
	if (!draw_below(8))
		p.length = (uint32_t)rng_next(&rng);
	if (draw_below(2))
		p.syndrome = draw_below(2) ? RC_SYN_ACK : RC_SYN_RNR | 1;
	if (rc_payload_rule(p.opcode) == RC_PAYLOAD_NONE)
		return p;
	p.payload_len = rc_payload_rule(p.opcode) == RC_PAYLOAD_FULL && draw_below(8) ?
			256 : draw_below(300);
	if (draw_below(2) && p.opcode == WOP_RC_WRITE_ONLY)
		p.length = p.payload_len;
	return p;
}

static void frame_in(void)
{
	struct wire_frame f = { .from = 1 };
	struct rc_packet p = packet_draw();
	uint32_t i, n;

	for (i = 0; i < p.payload_len; i++)
		rc_payload(&f, p.opcode)[i] = (uint8_t)rng_next(&rng);
	rc_put(&f, &p, false);
	if (!draw_below(4))
		for (n = draw_below(5); n--; )
			f.bytes[draw_below(f.len)] = (uint8_t)rng_next(&rng);
	if (!draw_below(20))
		f.len = draw_below(WIRE_FRAME_MAX + 10);
	rc_receive(g.rc, &f, g.io.now);
}

static void channel_step(void)
{
	unsigned int ch = draw_below(2);
	uint64_t ns;

	if (!g.io.awake[ch])
		return;
	ns = rc_step(g.rc, ch, g.io.now);
	g.io.awake[ch] = ns != UINT64_MAX;
	g.io.now += ns < 1000 ? ns : 0;
}

static void event_draw(void)
{
	unsigned int k = draw_below(PAIRS);

	switch (draw_below(24)) {
	case 0:
		g.io.no_room = !g.io.no_room;
		if (!g.io.no_room)
			rc_wire_room(g.rc);
		break;
	case 1:
		g.io.present[8 + draw_below(30)] = draw_below(2);
		break;
	case 2:
		rc_resume(g.rc, (uint16_t)(RIG_QP + k), draw_below(2), draw_below(2),
			  draw_below(6) ? FL_ST_OK : FL_ST_LOCAL_FAULT, draw_below(64),
			  g.io.now);
		break;
	case 3:
		if (draw_below(20))
			break;
		g.io.t.close(g.io.t.ctx, (uint16_t)(RIG_QP + k));
		over[k] = wr[k];
		is_open[k] = false;
		break;
	case 4:
		pair_open(k);
		break;
	case 5:
		g.io.now += draw_below(2) ? 1000 : 100000000;
		if (g.io.alarm <= g.io.now) {
			g.io.alarm = UINT64_MAX;
			rc_timer(g.rc, g.io.now);
		}
		break;
	case 6:
		if (is_open[k] && wr[k] - over[k] < 30) {
			wr[k]++;	/* it may be over before post() returns */
			work_draw(k, wr[k] - 1);
		}
		break;
	default:
		channel_step();
		break;
	}
}

TEST("bytes at random, packets out of place and changed ones: no crash, and no byte outside "
     "what was granted")
{
	static uint8_t before[RIG_BYTES];
	uint32_t at;
	unsigned int seed, i, moved = 0;

	test_cleanup(rig_close, &g);
	for (seed = 0; seed < SEEDS; seed++) {
		rng_init(&rng, test_seed() * 1000 + seed, "rc hostile");
		psn_near = draw_below(2) ? 0xFFFFFA : draw_below(1 << 24);
		rig_open(&g, 0, &rig_config);
		g.io.quiet = true;
		g.judge = verdict_draw;
		g.give = recv_give;
		keys_make();
		memset(wr, 0, sizeof(wr));
		memset(over, 0, sizeof(over));
		g.io.worked = work_over;
		g.io.ended = pair_ended;
		memcpy(before, g.io.mem, RIG_BYTES);
		for (i = 0; i < PAIRS; i++)
			pair_open(i);
		for (i = 0; i < ROUNDS; i++) {
			if (!draw_below(3))
				frame_in();
			event_draw();
			g.io.outs = 0;
			if (i % 16 == 0 && rc_check(g.rc))
				EXPECT_STR(rc_check(g.rc), "all is well");
		}
		for (at = 0; at < RIG_BYTES; at++) {
			moved += g.io.mem[at] != before[at];
			if (!byte_is_open(at) && g.io.mem[at] != before[at])
				EXPECT_EQ(at, UINT32_MAX);
		}
		rig_close(&g);
	}
	EXPECT_GE(moved, 1000);
}
