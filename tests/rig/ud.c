// SPDX-License-Identifier: BSD-2-Clause
#include "rig/ud.h"

#define RIG_PHYSICAL	0x140000u
#define RIG_RECVS	4096

static uint8_t rig_reach(void *ctx, const struct fw_wanted *w, uint32_t *object)
{
	struct rig *g = ctx;

	if (w->key != RIG_KEY || g->revoked)
		return FL_ST_SEEN_KEY;
	if (w->va < RIG_BASE || w->va + w->bytes > RIG_BASE + RIG_BYTES)
		return FL_ST_SEEN_RANGE;
	*object = 0x77;
	return FL_ST_OK;
}

static enum dma_status rig_begin(void *ctx, struct dma_burst *b)
{
	EXPECT(b->channel >= 4);
	EXPECT_EQ(b->object, 0x77);
	return packets_burst_begin(ctx, b);
}

static enum dma_status rig_end(void *ctx, struct dma_burst *b, void *buf)
{
	return packets_burst_end(ctx, b, buf);
}

static struct rc_judged rig_miss(void *ctx, const struct rc_miss *m)
{
	struct rig *g = ctx;
	struct rc_judged j = { .verdict = g->verdict };

	g->miss = *m;
	g->io.misses++;
	if (m->side == RC_REQUESTER && g->verdict != RC_FAIL)
		j.verdict = RC_PARK;
	return j;
}

static bool rig_diverts(void *ctx, uint16_t qp)
{
	(void)qp;
	return ((struct rig *)ctx)->verdict == RC_DIVERT;
}

static int rig_mem_read(void *ctx, uint64_t pa, void *buf, uint32_t len)
{
	if (pa + len > RIG_PHYSICAL)
		return -1;
	memcpy(buf, ((struct rig *)ctx)->physical + pa, len);
	return 0;
}

static int rig_mem_write(void *ctx, uint64_t pa, const void *buf, uint32_t len)
{
	if (pa + len > RIG_PHYSICAL)
		return -1;
	memcpy(((struct rig *)ctx)->physical + pa, buf, len);
	return 0;
}

static int rig_mem_publish(void *ctx, uint64_t pa, uint32_t value)
{
	return rig_mem_write(ctx, pa, &value, sizeof(value));
}

static void rig_line(void *ctx, bool level, uint64_t cause)
{
	struct rig *g = ctx;

	EXPECT_NE(g->line, level);
	g->line = level;
	g->line_cause = cause;
}

/* In order. */
static void rig_next_done(void *ctx, uint16_t qp, uint32_t wr, uint8_t status, uint32_t resends,
			  uint64_t cause)
{
	EXPECT_EQ(wr, ((struct rig *)ctx)->io.dones);
	rig_work_done(ctx, qp, wr, status, resends, cause);
}

static bool rig_recv_ahead(void *ctx, uint16_t qp, uint16_t ahead,
			   struct fw_recv *r, uint8_t *wrong)
{
	struct rig *g = ctx;

	(void)qp;
	if (ahead >= g->posted - g->done)
		return false;
	*r = g->recv[(g->done + ahead) % RIG_RECVS];
	*wrong = g->wrong && g->done + ahead == g->wrong_at ? g->wrong : FL_ST_OK;
	return true;
}

static void rig_recv_done(void *ctx, uint16_t qp, const struct fw_recv *r,
			  const struct fw_arrival *a)
{
	struct rig *g = ctx;

	(void)qp;
	/* The oldest, and in order. */
	EXPECT_NE(g->done, g->posted);
	EXPECT_EQ(r->index, (uint16_t)g->done);
	EXPECT_EQ(r->wr_id, g->recv[g->done % RIG_RECVS].wr_id);
	g->done++;
	g->arrived = *a;
	g->arrived_in = *r;
	if (g->arrive)
		g->arrive(g, r, a);
}

/* ---- what a test does ---- */

static uint64_t rig_unit_step(struct rig *g, unsigned int channel, uint64_t now_ns)
{
	return ud_step(g->ud, channel, now_ns);
}

static const char *rig_unit_check(struct rig *g)
{
	return ud_check(g->ud);
}

static const struct rig_unit rig_unit = { rig_unit_step, rig_unit_check, NULL, NULL };

void rig_close(void *arg)
{
	struct rig *g = arg;

	ud_destroy(g->ud);
	packets_close(&g->io);
	free(g->physical);
	free(g->recv);
	memset(g, 0, sizeof(*g));
}

static void rig_buffer(struct rig *g, uint32_t slot, uint64_t buffer)
{
	struct fl_backup *d = (void *)(g->physical + RIG_RING);

	d[slot & (g->slots - 1)].buffer = buffer;
}

void rig_backup(struct rig *g, uint32_t slots, uint32_t bits)
{
	uint32_t i;

	g->slots = slots;
	g->taken = 0;
	g->given = slots;
	memset(g->physical + RIG_RING, 0, slots * sizeof(struct fl_backup));
	for (i = 0; i < slots; i++)
		rig_buffer(g, i, RIG_BUFFERS + 4096ull * i);
	EXPECT_EQ(ud_backup_base_set(g->ud, RIG_RING), 0);
	EXPECT_EQ(ud_backup_bits_set(g->ud, bits), 0);
	EXPECT_EQ(ud_backup_slots_set(g->ud, slots, g->io.now), 0);
}

void rig_open(struct rig *g, uint8_t node, const struct ud_config *cfg)
{
	struct ud_env env = {
		.ctx = g, .wire = g,
		.fw = {
			.ctx = g, .work_done = rig_next_done, .reach = rig_reach,
			.recv_ahead = rig_recv_ahead, .recv_done = rig_recv_done,
			.pair_error = rig_pair_error,
		},
		.burst_begin = rig_begin, .burst_end = rig_end, .miss = rig_miss,
		.diverts = rig_diverts, .mem_read = rig_mem_read,
		.mem_write = rig_mem_write, .mem_publish = rig_mem_publish,
		.line = rig_line, .alarm = rig_alarm, .frame_get = rig_frame_get,
		.frame_send = rig_frame_send, .kick = rig_kick, .emit = rig_emit,
	};

	rig_close(g);
	packets_open(&g->io, &rig_unit);
	g->physical = calloc(1, RIG_PHYSICAL);
	g->recv = calloc(RIG_RECVS, sizeof(*g->recv));
	g->verdict = RC_DIVERT;
	g->cfg = *cfg;
	g->cfg.node = node;
	g->ud = ud_create(&g->cfg, &env);
	g->io.t = ud_transport(g->ud);
}

const struct ud_config rig_config = { .rx_frames = 32, .packet_ns = 10 };

struct fw_pair rig_pair(void)
{
	return (struct fw_pair){
		.qpn = RIG_QPN, .peer_qp = RIG_PEER, .sq_psn = 0xFFFFFF, .mtu = 2048,
		.qkey = RIG_QKEY, .node = 1, .slot = 3, .sends = true,
	};
}

void rig_start_bits(struct rig *g, uint16_t bits)
{
	struct fw_pair p = rig_pair();

	p.bits = bits;
	rig_open(g, 0, &rig_config);
	test_cleanup(rig_close, g);
	rig_backup(g, 8, 4);
	EXPECT_EQ(g->io.t.open(g->io.t.ctx, RIG_QP, &p), FL_ST_OK);
}

void rig_recv(struct rig *g, unsigned int page, uint32_t bytes)
{
	g->recv[g->posted % RIG_RECVS] = (struct fw_recv){
		.wr_id = 1000 + g->posted, .length = bytes, .index = (uint16_t)g->posted,
		.xfer = g->posted, .srq = FW_NO_SRQ, .segments = bytes != 0,
		.segment = { { RIG_BASE + page * 4096ull, bytes, RIG_KEY } },
	};
	STEP("receive %u: page %u, %u bytes", g->posted, page, bytes);
	g->posted++;
	if (g->io.t.posted)
		g->io.t.posted(g->io.t.ctx, RIG_QP);
}

void rig_in(struct rig *g, struct rc_packet p, uint32_t bytes, uint8_t fill)
{
	struct wire_frame f = { .from = 1, .to = g->cfg.node };

	p.opcode = p.opcode ? p.opcode : WOP_UD_SEND_ONLY;
	p.dest_qp = p.dest_qp ? p.dest_qp : RIG_QPN;
	p.qkey = p.qkey ? p.qkey : RIG_QKEY;
	p.src_qp = RIG_PEER;
	p.payload_len = bytes;
	memset(rc_payload(&f, p.opcode), fill, bytes);
	rc_put(&f, &p, g->cfg.icrc);
	STEP("comes: psn %u, %u bytes of %u", p.psn, bytes, fill);
	ud_receive(g->ud, &f, g->io.now);
	rig_run(g);
}

struct fl_backup *rig_next(struct rig *g)
{
	struct fl_backup *d = (void *)(g->physical + RIG_RING);

	d += g->taken & (g->slots - 1);
	EXPECT_EQ(d->phase, 1 + g->taken / g->slots);
	g->taken++;
	return d;
}

void rig_give(struct rig *g)
{
	EXPECT_EQ(ud_backup_cons_set(g->ud, g->taken, g->io.now), 0);
	g->given = g->taken + g->slots;
	EXPECT_EQ(ud_backup_given_set(g->ud, g->given, g->io.now), 0);
	rig_run(g);
}

uint32_t rig_word(const struct fl_backup *d, uint8_t code)
{
	return FW_QP_PLACE(d->qp) << NIC_XP_RESOLVED_RING_SHIFT |
	       (uint32_t)d->bit << NIC_XP_RESOLVED_BIT_SHIFT |
	       (uint32_t)d->serial << NIC_XP_RESOLVED_SERIAL_SHIFT |
	       (uint32_t)code << NIC_XP_RESOLVED_CODE_SHIFT;
}

void rig_copy(struct rig *g, const struct fl_backup *d, uint64_t buffer)
{
	EXPECT_LE(d->len, d->bytes0);
	memcpy(rig_at(g, d->va0), g->physical + buffer, d->len);
}

void rig_resolve(struct rig *g, const struct fl_backup *d)
{
	STEP("resolved: receive %u, bit %u", d->index, d->bit);
	rig_copy(g, d, d->buffer);
	EXPECT_EQ(ud_backup_resolved(g->ud, rig_word(d, 0), g->io.now), 0);
	rig_run(g);
}

struct ud_ring_state rig_ring_state(const struct rig *g)
{
	struct ud_ring_state st;

	ud_ring_state(g->ud, RIG_QP, &st);
	return st;
}

uint64_t rig_drops(const struct rig *g, enum ud_drop_why why)
{
	struct ud_stats st;

	ud_stats(g->ud, &st);
	return st.dropped[why];
}
