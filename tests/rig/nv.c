// SPDX-License-Identifier: BSD-2-Clause
#include "rig/nv.h"


/* ---- what the unit asks for ---- */

static uint8_t rig_reach(void *ctx, const struct fw_wanted *w, uint32_t *object)
{
	struct rig_key *k = rig_key_find(ctx, w->key);

	if (!k)
		return FL_ST_SEEN_KEY;
	if (w->right & ~k->rights)
		return FL_ST_SEEN_RIGHTS;
	if (w->va < RIG_BASE || w->bytes > RIG_BYTES || w->va - RIG_BASE > RIG_BYTES - w->bytes)
		return FL_ST_SEEN_RANGE;
	*object = w->key ^ 0x5A5A;
	return FL_ST_OK;
}

static uint8_t rig_count(void *ctx, uint16_t qp, uint16_t counter, bool rise,
			 uint64_t cause)
{
	struct rig *g = ctx;

	(void)qp;
	(void)cause;
	if (!counter || counter > RIG_COUNTERS)
		return FL_ST_SEEN_KEY;
	g->counter[counter] += rise;
	if (rise && g->counted)
		g->counted(g, counter);
	return FL_ST_OK;
}

static enum dma_status rig_begin(void *ctx, struct dma_burst *b)
{
	EXPECT(rig_key_find(ctx, b->object ^ 0x5A5A));
	return packets_burst_begin(ctx, b);
}

static enum dma_status rig_end(void *ctx, struct dma_burst *b, void *buf)
{
	return packets_burst_end(ctx, b, buf);
}

static enum nv_verdict rig_miss(void *ctx, const struct nv_miss *m)
{
	struct rig *g = ctx;

	g->miss = *m;
	g->io.misses++;
	if (g->missed)
		g->missed(g, m);
	return m->side == NV_SENDER ? g->sender : g->receiver;
}

static bool rig_slot_write(void *ctx, uint32_t slot, const void *buf,
			   uint32_t len)
{
	struct rig *g = ctx;
	struct rig_slot *s = &g->slot[slot];

	EXPECT(slot < nv_slots(g->nv) && !s->full && len <= NV_SLOT_BYTES);
	if (g->slot_fails)
		return false;
	s->full = true;
	s->len = len;
	memcpy(s->data, buf, len);
	return true;
}

static void rig_redirected(void *ctx, const struct nv_miss *m, uint32_t slot)
{
	struct rig *g = ctx;

	EXPECT(g->slot[slot].full);
	EXPECT_EQ(g->slot[slot].len, m->len);
	g->slot[slot].va = m->va;
	if (g->diverted)
		g->diverted(g, slot);
}

/* ---- what a test does ---- */

static uint64_t rig_unit_step(struct rig *g, unsigned int channel, uint64_t now_ns)
{
	return nv_step(g->nv, channel, now_ns);
}

static const char *rig_unit_check(struct rig *g)
{
	return nv_check(g->nv);
}

static void rig_unit_timer(struct rig *g, uint64_t now_ns)
{
	nv_timer(g->nv, now_ns);
}

static void rig_unit_receive(struct rig *g, const struct wire_frame *f, uint64_t now_ns)
{
	nv_receive(g->nv, f, now_ns);
}

static const struct rig_unit rig_unit = { rig_unit_step, rig_unit_check, rig_unit_timer,
					 rig_unit_receive };

void rig_close(void *arg)
{
	struct rig *g = arg;

	nv_destroy(g->nv);
	packets_close(&g->io);
	free(g->slot);
	memset(g, 0, sizeof(*g));
}

void rig_open(struct rig *g, uint8_t node, const struct nv_config *cfg)
{
	struct nv_env env = {
		.ctx = g, .wire = g,
		.fw = {
			.ctx = g, .work_done = rig_work_done, .reach = rig_reach,
			.count = rig_count, .pair_error = rig_pair_error,
		},
		.burst_begin = rig_begin, .burst_end = rig_end, .miss = rig_miss,
		.slot_write = rig_slot_write, .redirected = rig_redirected,
		.frame_get = rig_frame_get, .frame_send = rig_frame_send,
		.kick = rig_kick, .alarm = rig_alarm, .emit = rig_emit,
	};

	rig_close(g);
	packets_open(&g->io, &rig_unit);
	g->slot = calloc(NV_SLOTS_MAX, sizeof(*g->slot));
	g->sender = NV_PARK;
	g->receiver = NV_REDIRECT;
	g->cfg = *cfg;
	g->cfg.node = node;
	g->nv = nv_create(&g->cfg, &env);
	g->io.t = nv_transport(g->nv);
	EXPECT_EQ(nv_slots_set(g->nv, cfg->slots), 0);
}

struct fw_pair rig_pair(void)
{
	return (struct fw_pair){
		.qpn = RIG_QPN, .peer_qp = RIG_PEER, .mtu = 256, .node = 1, .slot = 3,
		.retries = 3, .timeout = 10, .sends = true,
	};
}

const struct nv_config rig_config = {
	.window = 16, .credits = 4, .slots = 8, .rx_frames = 32, .packet_ns = 10,
	.probe_ns = 1000000,
};

void rig_start(struct rig *g)
{
	struct fw_pair p = rig_pair();
	unsigned int i;

	rig_open(g, 0, &rig_config);
	test_cleanup(rig_close, g);
	EXPECT_EQ(g->io.t.open(g->io.t.ctx, RIG_QP, &p), FL_ST_OK);
	for (i = 0; i < RIG_BYTES; i++)
		g->io.mem[i] = (uint8_t)(i * 31 + i / 256);
	rig_run(g);
}

void rig_in(struct rig *g, struct nv_packet p, uint32_t payload, uint8_t fill)
{
	struct wire_frame f = { .from = 1, .to = g->cfg.node };

	p.dest_qp = p.dest_qp ? p.dest_qp : RIG_QPN;
	p.payload_len = payload;
	if (payload)
		memset(nv_payload(&f), fill, payload);
	nv_put(&f, &p, g->cfg.icrc);
	STEP("comes: %s sequence %u, %u bytes", wire_opcode_name(p.opcode), p.sequence, payload);
	nv_receive(g->nv, &f, g->io.now);
	rig_run(g);
}

struct nv_packet rig_out(struct rig *g)
{
	struct nv_packet p;

	EXPECT(g->io.out_next < g->io.outs);
	EXPECT_EQ(nv_get(&g->io.out[g->io.out_next++], g->cfg.icrc, &p), WIRE_OK);
	EXPECT_EQ(p.dest_qp, RIG_PEER);
	STEP("left: %s sequence %u, %u bytes", wire_opcode_name(p.opcode), p.sequence,
	     p.payload_len);
	return p;
}

void rig_copy(struct rig *g, uint32_t slot, uint8_t code)
{
	struct rig_slot *s = &g->slot[slot];

	EXPECT(s->full);
	if (!code) {
		memcpy(rig_at(g, s->va), s->data, s->len);
		g->io.present[(s->va - RIG_BASE) / 4096] = true;
	}
	s->full = false;
	EXPECT_EQ(nv_copied(g->nv, slot, code, g->io.now), 0);
}

struct fw_work rig_work(unsigned int page, uint32_t length)
{
	uint64_t va = RIG_BASE + page * 4096ull;

	return (struct fw_work){
		.opcode = FL_OP_WRITE, .remote_va = va, .rkey = 0x100, .length = length,
		.flags = FL_WQE_SIGNALED, .segments = !!length,
		.segment = { { .va = va, .bytes = length, .key = 0x101 } },
	};
}

