// SPDX-License-Identifier: BSD-2-Clause
#include "rig/rc.h"

/* ---- what the unit asks for ---- */

static uint8_t rig_reach(void *ctx, const struct fw_wanted *w, uint32_t *object)
{
	struct rig *g = ctx;
	struct rig_key *k = rig_key_find(g, w->key);

	if (!k)
		return FL_ST_SEEN_KEY;
	if (w->right & ~k->rights)
		return FL_ST_SEEN_RIGHTS;
	if (w->bytes && (w->va < k->va || w->bytes > k->bytes ||
			 w->va - k->va > k->bytes - w->bytes))
		return FL_ST_SEEN_RANGE;
	*object = w->key ^ 0x5A5A;
	return FL_ST_OK;
}

static enum dma_status rig_begin(void *ctx, struct dma_burst *b)
{
	struct rig *g = ctx;
	struct rig_key *k = rig_key_find(g, b->object ^ 0x5A5A);

	/* Nothing that reach() has not granted. */
	EXPECT(k && b->va >= k->va && b->va + b->len <= k->va + k->bytes);
	if (b->write)
		EXPECT(k->rights & (FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE |
				    FL_ACC_REMOTE_ATOMIC));
	return packets_burst_begin(&g->io, b);
}

static enum dma_status rig_end(void *ctx, struct dma_burst *b, void *buf)
{
	struct rig *g = ctx;

	EXPECT(rig_key_find(g, b->object ^ 0x5A5A));
	return packets_burst_end(&g->io, b, buf);
}

static enum dma_status rig_atomic(void *ctx, struct dma_burst *b, bool compare,
				  uint64_t expected, uint64_t operand,
				  uint64_t *old)
{
	struct rig *g = ctx;
	uint64_t now, next;

	EXPECT(b->write && b->len == 8 && !(b->va % 8));
	if (rig_end(g, b, NULL) != DMA_OK)
		return DMA_DECERR;
	memcpy(&now, rig_at(g, b->va), 8);
	next = compare ? (now == expected ? operand : now) : now + operand;
	memcpy(rig_at(g, b->va), &next, 8);
	*old = now;
	g->atomics++;
	return DMA_OK;
}

static struct rc_judged rig_miss(void *ctx, const struct rc_miss *m)
{
	struct rig *g = ctx;

	g->miss = *m;
	g->io.misses++;
	return g->judge ? g->judge(g, m) : g->verdict;
}

static bool rig_recv_take(void *ctx, uint16_t qp, struct fw_recv *r,
			  uint8_t *wrong)
{
	struct rig *g = ctx;

	*wrong = FL_ST_OK;
	if (g->give)
		return g->give(g, qp, r);
	if (g->recv_next == g->recvs)
		return false;
	*r = g->recv[g->recv_next++ % RIG_RECVS];
	*wrong = g->recv_wrong;
	return true;
}

void rig_recv_done(void *ctx, uint16_t qp, const struct fw_recv *r,
		   const struct fw_arrival *a)
{
	struct rig *g = ctx;

	g->arrived[g->arrivals % RIG_RECVS] = (struct rig_recv_done){ *r, *a };
	if (g->arrive)
		g->arrive(g, qp, &g->arrived[g->arrivals % RIG_RECVS]);
	g->arrivals++;
}

static void rig_heard(void *ctx, uint16_t qp, uint64_t cause)
{
	struct rig *g = ctx;

	(void)qp, (void)cause;
	g->heard++;
}

/* ---- what a test does ---- */

static uint64_t rig_unit_step(struct rig *g, unsigned int channel, uint64_t now_ns)
{
	return rc_step(g->rc, channel, now_ns);
}

static const char *rig_unit_check(struct rig *g)
{
	return rc_check(g->rc);
}

static void rig_unit_timer(struct rig *g, uint64_t now_ns)
{
	rc_timer(g->rc, now_ns);
}

static void rig_unit_receive(struct rig *g, const struct wire_frame *f, uint64_t now_ns)
{
	rc_receive(g->rc, f, now_ns);
}

static const struct rig_unit rig_unit = { rig_unit_step, rig_unit_check, rig_unit_timer,
					 rig_unit_receive };

void rig_close(void *arg)
{
	struct rig *g = arg;

	rc_destroy(g->rc);
	packets_close(&g->io);
	memset(g, 0, sizeof(*g));
}

void rig_open(struct rig *g, uint8_t node, const struct rc_config *cfg)
{
	struct rc_env env = {
		.ctx = g, .wire = g,
		.fw = {
			.ctx = g, .work_done = rig_work_done, .reach = rig_reach,
			.recv_take = rig_recv_take, .recv_done = rig_recv_done,
			.pair_error = rig_pair_error, .heard = rig_heard,
		},
		.burst_begin = rig_begin, .burst_end = rig_end, .burst_atomic = rig_atomic,
		.miss = rig_miss, .frame_get = rig_frame_get, .frame_send = rig_frame_send,
		.kick = rig_kick, .alarm = rig_alarm, .emit = rig_emit,
	};

	rig_close(g);
	packets_open(&g->io, &rig_unit);
	g->verdict = (struct rc_judged){ .verdict = RC_RNR, .rnr_code = 12 };
	g->cfg = *cfg;
	g->cfg.node = node;
	g->rc = rc_create(&g->cfg, &env);
	g->io.t = rc_transport(g->rc);
}

const struct rc_config rig_config = {
	.icrc = false, .window = 16, .rx_frames = 32, .packet_ns = 10,
};

struct fw_pair rig_pair(void)
{
	return (struct fw_pair){
		.qpn = RIG_QPN, .peer_qp = RIG_PEER, .sq_psn = 0x100, .rq_psn = 20,
		.mtu = 256, .node = 1, .rnr_code = 12, .retries = 7, .rnr_tries = 7,
		.timeout = 14, .rd_atomic = 4, .dest_rd_atomic = 4, .sends = true,
	};
}

void rig_start(struct rig *g)
{
	struct fw_pair p = rig_pair();

	rig_open(g, 0, &rig_config);
	test_cleanup(rig_close, g);
	EXPECT_EQ(g->io.t.open(g->io.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_run(g);
}

void rig_start_filled(struct rig *g)
{
	rig_start(g);
	rig_fill(g);
}

void rig_in(struct rig *g, struct rc_packet p, uint32_t payload, uint8_t fill)
{
	struct wire_frame f = { .from = 1, .to = g->cfg.node };

	p.dest_qp = p.dest_qp ? p.dest_qp : RIG_QPN;
	p.payload_len = payload;
	memset(rc_payload(&f, p.opcode), fill, payload);
	rc_put(&f, &p, g->cfg.icrc);
	STEP("comes: %s psn %u, %u bytes", wire_opcode_name(p.opcode), p.psn, payload);
	rc_receive(g->rc, &f, g->io.now);
	rig_run(g);
}

struct rc_packet rig_out(struct rig *g)
{
	struct rc_packet p;

	EXPECT_EQ(rc_get(rig_out_frame(g), g->cfg.icrc, &p), WIRE_OK);
	EXPECT_EQ(p.dest_qp, RIG_PEER);
	STEP("left: %s psn %u, %u bytes", wire_opcode_name(p.opcode), p.psn, p.payload_len);
	return p;
}

void rig_out_ack(struct rig *g, uint32_t psn, uint8_t syndrome)
{
	struct rc_packet p = rig_out(g);

	EXPECT_STR(wire_opcode_name(p.opcode), "RC_ACKNOWLEDGE");
	EXPECT_EQ(p.psn, psn);
	EXPECT_EQ(p.syndrome, syndrome);
}

void rig_out_is(struct rig *g, uint8_t opcode, uint32_t psn)
{
	struct rc_packet p = rig_out(g);

	EXPECT_STR(wire_opcode_name(p.opcode), wire_opcode_name(opcode));
	EXPECT_EQ(p.psn, psn);
}

void rig_in_ack(struct rig *g, uint32_t psn, uint8_t syndrome)
{
	struct rc_packet p = {
		.opcode = WOP_RC_ACKNOWLEDGE, .psn = psn, .syndrome = syndrome,
	};

	rig_in(g, p, 0, 0);
}

struct fw_work rig_work(uint8_t opcode, unsigned int page, uint32_t length)
{
	uint64_t va = RIG_BASE + page * 4096ull;

	return (struct fw_work){
		.opcode = opcode, .remote_va = va, .rkey = 0x100, .length = length,
		.flags = FL_WQE_SIGNALED, .segments = 1,
		.segment = { { .va = va, .bytes = length, .key = 0x101 } },
	};
}

void rig_recv(struct rig *g, unsigned int page, uint32_t length)
{
	g->recv[g->recvs % RIG_RECVS] = (struct fw_recv){
		.wr_id = g->recvs, .length = length, .index = (uint16_t)g->recvs,
		.srq = FW_NO_SRQ, .segments = 1,
		.segment = { { RIG_BASE + page * 4096ull, length, 0x102 } },
	};
	g->recvs++;
}

void rig_resume(struct rig *g, enum rc_side side, bool write, uint8_t code)
{
	rc_resume(g->rc, RIG_QP, side, write, code, g->miss.psn, g->io.now);
	rig_run(g);
}

void rig_work_post(struct rig *g, uint32_t wr, uint8_t opcode, unsigned int page, uint32_t length)
{
	struct fw_work w = rig_work(opcode, page, length);

	rig_post(g, wr, &w);
}

void rig_write_in(struct rig *g, uint8_t opcode, uint32_t psn, uint32_t length, uint32_t payload,
		  uint8_t fill)
{
	struct rc_packet p = {
		.opcode = opcode, .psn = psn, .va = RIG_BASE, .rkey = 0x100,
		.length = length, .ackreq = true, .imm = 0x11223344,
	};

	rig_in(g, p, payload, fill);
}

void rig_send_in(struct rig *g, uint8_t opcode, uint32_t psn, uint32_t payload, uint8_t fill)
{
	rig_in(g, (struct rc_packet){ .opcode = opcode, .psn = psn, .ackreq = true,
				      .imm = 0x55667788, .solicited = true }, payload, fill);
}

void rig_memory_is(struct rig *g, uint32_t at, uint32_t n, uint8_t fill)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (g->io.mem[at + i] != fill)
			EXPECT_EQ(g->io.mem[at + i], fill);
}
