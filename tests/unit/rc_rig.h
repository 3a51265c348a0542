/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rc_rig.h - a unit of reliable connections on a bench: memory is an array whose pages come
 * and go, the firmware is a list of keys, receive entries and what completed, the wire is a
 * list of frames that left. It knows no rule of the protocol.
 */
#ifndef FL_RC_RIG_H
#define FL_RC_RIG_H

#include "nic/fw.h"
#include "nic/transport/rc.h"
#include "nic/transport/rc_wire.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define RIG_BASE	0x10000000ull
#define RIG_PAGES	64
#define RIG_BYTES	(RIG_PAGES * 4096u)
#define RIG_KEYS	4
#define RIG_RECVS	64
#define RIG_FRAMES	600
#define RIG_DONE	64

struct rig_key {
	uint32_t key;
	uint64_t va, bytes;
	uint8_t rights;
	bool alive;
};

struct rig_done {
	uint16_t qp;
	uint32_t wr, resends;
	uint8_t status;
};

struct rig_recv_done {
	struct fw_recv recv;
	struct fw_arrival arrival;
};

struct rig {
	struct rc *rc;
	struct fw_transport t;
	struct rc_config cfg;
	uint64_t now;
	uint8_t *mem;
	bool present[RIG_PAGES], read_only[RIG_PAGES];
	struct rig_key key[RIG_KEYS];
	/* bursts */
	bool open[2];
	struct dma_burst burst[2];
	uint64_t bursts, atomics;
	uint64_t burst_ns;
	bool fails;		/* memory answers with an error */
	/* misses */
	struct rc_judged verdict;
	struct rc_miss miss;	/* the newest */
	unsigned int misses;
	/* firmware */
	struct rig_done done[RIG_DONE];
	unsigned int dones;
	struct fw_recv recv[RIG_RECVS];
	unsigned int recv_next, recvs;
	uint8_t recv_wrong;
	struct rig_recv_done arrived[RIG_RECVS];
	unsigned int arrivals;
	uint8_t error;		/* of pair_error */
	unsigned int errors;
	unsigned int heard;
	/* wire */
	bool no_room;
	struct wire_frame making;
	struct wire_frame *out;
	unsigned int outs, out_next;
	uint64_t sent_ns;
	void (*sent)(struct rig *g, const struct wire_frame *f); /* or NULL: into out */
	struct rc_judged (*judge)(struct rig *g, const struct rc_miss *m);
	void (*worked)(struct rig *g, const struct rig_done *d);
	bool (*give)(struct rig *g, uint16_t qp, struct fw_recv *r);
	void (*arrive)(struct rig *g, uint16_t qp, const struct rig_recv_done *d);
	void (*ended)(struct rig *g, uint16_t qp);
	bool quiet;		/* events are not steps */
	bool awake[2];
	uint64_t alarm;
	struct trace *trace;
	uint64_t events[EV_COUNT];
};

static inline uint8_t *rig_at(struct rig *g, uint64_t va)
{
	EXPECT(va >= RIG_BASE && va < RIG_BASE + RIG_BYTES);
	return g->mem + (va - RIG_BASE);
}

static inline struct rig_key *rig_key_find(struct rig *g, uint32_t key)
{
	unsigned int i;

	for (i = 0; i < RIG_KEYS; i++)
		if (g->key[i].alive && g->key[i].key == key)
			return &g->key[i];
	return NULL;
}

/* ---- what the unit asks for ---- */

static inline uint8_t rig_reach(void *ctx, const struct fw_wanted *w, uint32_t *object)
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

static inline enum dma_status rig_begin(void *ctx, struct dma_burst *b)
{
	struct rig *g = ctx;
	struct rig_key *k = rig_key_find(g, b->object ^ 0x5A5A);
	unsigned int page = (unsigned int)((b->va - RIG_BASE) / 4096);

	EXPECT(!g->open[b->channel]);
	EXPECT(b->len && b->va % 4096 + b->len <= 4096);
	/* Nothing that reach() has not granted. */
	EXPECT(k && b->va >= k->va && b->va + b->len <= k->va + k->bytes);
	if (b->write)
		EXPECT(k->rights & (FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE |
				    FL_ACC_REMOTE_ATOMIC));
	b->delay_ns = g->burst_ns;
	b->event = 0;
	if (!g->present[page] || (b->write && g->read_only[page]))
		return DMA_SLVERR;
	g->open[b->channel] = true;
	g->burst[b->channel] = *b;
	return DMA_OK;
}

static inline enum dma_status rig_close_burst(struct rig *g, struct dma_burst *b)
{
	EXPECT(g->open[b->channel]);
	EXPECT_EQ(g->burst[b->channel].va, b->va);
	EXPECT(rig_key_find(g, b->object ^ 0x5A5A));
	g->open[b->channel] = false;
	g->bursts++;
	return g->fails ? DMA_DECERR : DMA_OK;
}

static inline enum dma_status rig_end(void *ctx, struct dma_burst *b, void *buf)
{
	struct rig *g = ctx;

	if (rig_close_burst(g, b) != DMA_OK)
		return DMA_DECERR;
	if (b->write)
		memcpy(rig_at(g, b->va), buf, b->len);
	else
		memcpy(buf, rig_at(g, b->va), b->len);
	return DMA_OK;
}

static inline enum dma_status rig_atomic(void *ctx, struct dma_burst *b, bool compare,
					 uint64_t expected, uint64_t operand, uint64_t *old)
{
	struct rig *g = ctx;
	uint64_t now, next;

	EXPECT(b->write && b->len == 8 && !(b->va % 8));
	if (rig_close_burst(g, b) != DMA_OK)
		return DMA_DECERR;
	memcpy(&now, rig_at(g, b->va), 8);
	next = compare ? (now == expected ? operand : now) : now + operand;
	memcpy(rig_at(g, b->va), &next, 8);
	*old = now;
	g->atomics++;
	return DMA_OK;
}

static inline struct rc_judged rig_miss(void *ctx, const struct rc_miss *m)
{
	struct rig *g = ctx;

	g->miss = *m;
	g->misses++;
	return g->judge ? g->judge(g, m) : g->verdict;
}

static inline struct wire_frame *rig_frame_get(void *ctx)
{
	struct rig *g = ctx;

	return g->no_room ? NULL : &g->making;
}

static inline uint64_t rig_frame_send(void *ctx, struct wire_frame *f)
{
	struct rig *g = ctx;

	if (g->sent) {
		g->sent(g, f);
		return 1;
	}
	EXPECT(g->outs < RIG_FRAMES);
	g->out[g->outs++] = *f;
	g->sent_ns = g->now;
	return 1;
}

static inline void rig_kick(void *ctx, unsigned int channel)
{
	struct rig *g = ctx;

	EXPECT(!g->awake[channel]);
	g->awake[channel] = true;
}

static inline void rig_alarm(void *ctx, uint64_t when_ns)
{
	((struct rig *)ctx)->alarm = when_ns;
}

static inline uint64_t rig_emit(void *ctx, unsigned int ev, const struct trace_at *at,
				uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct rig *g = ctx;

	if (!g->quiet)
		STEP("  %s psn 0x%" PRIx64 " %" PRIx64 " %" PRIx64, trace_events[ev].name, a1, a2,
		     a3);
	g->events[ev]++;
	return trace_emit(g->trace, (enum trace_event)ev, at, a0, a1, a2, a3);
}

static inline void rig_work_done(void *ctx, uint16_t qp, uint32_t wr, uint8_t status,
				 uint32_t resends, uint64_t cause)
{
	struct rig *g = ctx;

	(void)cause;
	g->done[g->dones % RIG_DONE] = (struct rig_done){ qp, wr, resends, status };
	if (g->worked)
		g->worked(g, &g->done[g->dones % RIG_DONE]);
	g->dones++;
	if (status != FL_ST_OK)
		g->t.close(g->t.ctx, qp);
}

static inline bool rig_recv_take(void *ctx, uint16_t qp, struct fw_recv *r, uint8_t *wrong)
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

static inline void rig_recv_done(void *ctx, uint16_t qp, const struct fw_recv *r,
				 const struct fw_arrival *a)
{
	struct rig *g = ctx;

	g->arrived[g->arrivals % RIG_RECVS] = (struct rig_recv_done){ *r, *a };
	if (g->arrive)
		g->arrive(g, qp, &g->arrived[g->arrivals % RIG_RECVS]);
	g->arrivals++;
}

static inline void rig_pair_error(void *ctx, uint16_t qp, uint8_t status, uint64_t cause)
{
	struct rig *g = ctx;

	(void)cause;
	g->error = status;
	g->errors++;
	if (g->ended)
		g->ended(g, qp);
	g->t.close(g->t.ctx, qp);
}

static inline void rig_heard(void *ctx, uint16_t qp, uint64_t cause)
{
	struct rig *g = ctx;

	(void)qp, (void)cause;
	g->heard++;
}

/* ---- what a test does ---- */

static inline void rig_close(void *arg)
{
	struct rig *g = arg;

	rc_destroy(g->rc);
	if (g->trace)
		trace_destroy(g->trace);
	free(g->mem);
	free(g->out);
	memset(g, 0, sizeof(*g));
}

/* What it was before ends. */
static inline void rig_open(struct rig *g, uint8_t node, const struct rc_config *cfg)
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
	unsigned int i;

	rig_close(g);
	g->trace = trace_create(&(struct trace_config){ .ring_records = 256 });
	g->mem = calloc(1, RIG_BYTES);
	g->out = calloc(RIG_FRAMES, sizeof(*g->out));
	for (i = 0; i < RIG_PAGES; i++)
		g->present[i] = true;
	for (i = 0; i < RIG_KEYS; i++)
		g->key[i] = (struct rig_key){ 0x100 + i, RIG_BASE, RIG_BYTES, 15, true };
	g->verdict = (struct rc_judged){ .verdict = RC_RNR, .rnr_code = 12 };
	g->alarm = UINT64_MAX;
	g->cfg = *cfg;
	g->cfg.node = node;
	g->rc = rc_create(&g->cfg, &env);
	g->t = rc_transport(g->rc);
}

static const struct rc_config rig_config = {
	.icrc = false, .window = 16, .rx_frames = 32, .packet_ns = 10,
};

/* Both sides of the pair that tests use: place 5 here, its peer is 0x777705 on node 1. */
#define RIG_QP		5
#define RIG_QPN		0x123405u
#define RIG_PEER	0x777705u
static inline struct fw_pair rig_pair(void)
{
	return (struct fw_pair){
		.qpn = RIG_QPN, .peer_qp = RIG_PEER, .sq_psn = 0x100, .rq_psn = 20,
		.mtu = 256, .node = 1, .rnr_code = 12, .retries = 7, .rnr_tries = 7,
		.timeout = 14, .rd_atomic = 4, .dest_rd_atomic = 4, .sends = true,
	};
}

/* Steps until nothing is to be done before the next alarm. */
static inline void rig_run(struct rig *g)
{
	unsigned int i, steps = 0;
	uint64_t ns;

	while (g->awake[0] || g->awake[1]) {
		EXPECT(steps++ < 100000);
		for (i = 0; i < 2; i++) {
			if (!g->awake[i])
				continue;
			ns = rc_step(g->rc, i, g->now);
			if (ns == UINT64_MAX)
				g->awake[i] = false;
			else
				g->now += ns;
		}
	}
	if (rc_check(g->rc))
		EXPECT_STR(rc_check(g->rc), "all is well");
}

/* The pair that tests use, until the test's end. */
static inline void rig_start(struct rig *g)
{
	struct fw_pair p = rig_pair();

	rig_open(g, 0, &rig_config);
	test_cleanup(rig_close, g);
	EXPECT_EQ(g->t.open(g->t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_run(g);
}

/* The same, with memory whose every byte tells where it was. */
static inline void rig_start_filled(struct rig *g)
{
	unsigned int i;

	rig_start(g);
	for (i = 0; i < RIG_BYTES; i++)
		g->mem[i] = (uint8_t)(i * 31 + i / 256);
}

/* Let time pass until the alarm rings; what was due is sent. */
static inline void rig_ring(struct rig *g)
{
	EXPECT_NE(g->alarm, UINT64_MAX);
	if (g->now < g->alarm)
		g->now = g->alarm;
	g->alarm = UINT64_MAX;
	rc_timer(g->rc, g->now);
	rig_run(g);
}

/* A packet comes from the peer. payload: bytes of value `fill`. */
static inline void rig_in(struct rig *g, struct rc_packet p, uint32_t payload, uint8_t fill)
{
	struct wire_frame f = { .from = 1, .to = g->cfg.node };

	p.dest_qp = p.dest_qp ? p.dest_qp : RIG_QPN;
	p.payload_len = payload;
	memset(rc_payload(&f, p.opcode), fill, payload);
	rc_put(&f, &p, g->cfg.icrc);
	STEP("comes: %s psn %u, %u bytes", wire_opcode_name(p.opcode), p.psn, payload);
	rc_receive(g->rc, &f, g->now);
	rig_run(g);
}

/* The next packet that left. */
static inline struct rc_packet rig_out(struct rig *g)
{
	struct rc_packet p;

	EXPECT(g->out_next < g->outs);
	EXPECT_EQ(rc_get(&g->out[g->out_next++], g->cfg.icrc, &p), WIRE_OK);
	EXPECT_EQ(p.dest_qp, RIG_PEER);
	STEP("left: %s psn %u, %u bytes", wire_opcode_name(p.opcode), p.psn, p.payload_len);
	return p;
}

static inline void rig_silent(struct rig *g)
{
	EXPECT_EQ(g->out_next, g->outs);
}

/* The next packet that left is an acknowledgement with that. */
static inline void rig_out_ack(struct rig *g, uint32_t psn, uint8_t syndrome)
{
	struct rc_packet p = rig_out(g);

	EXPECT_STR(wire_opcode_name(p.opcode), "RC_ACKNOWLEDGE");
	EXPECT_EQ(p.psn, psn);
	EXPECT_EQ(p.syndrome, syndrome);
}

static inline void rig_out_is(struct rig *g, uint8_t opcode, uint32_t psn)
{
	struct rc_packet p = rig_out(g);

	EXPECT_STR(wire_opcode_name(p.opcode), wire_opcode_name(opcode));
	EXPECT_EQ(p.psn, psn);
}

static inline void rig_in_ack(struct rig *g, uint32_t psn, uint8_t syndrome)
{
	struct rc_packet p = {
		.opcode = WOP_RC_ACKNOWLEDGE, .psn = psn, .syndrome = syndrome,
	};

	rig_in(g, p, 0, 0);
}

/* One segment, from the start of page `page` here to the same page there. */
static inline struct fw_work rig_work(uint8_t opcode, unsigned int page, uint32_t length)
{
	uint64_t va = RIG_BASE + page * 4096ull;

	return (struct fw_work){
		.opcode = opcode, .remote_va = va, .rkey = 0x100, .length = length,
		.flags = FL_WQE_SIGNALED, .segments = 1,
		.segment = { { .va = va, .bytes = length, .key = 0x101 } },
	};
}

static inline void rig_post(struct rig *g, uint32_t wr, const struct fw_work *w)
{
	STEP("post %u: op %u, %u bytes", wr, w->opcode, w->length);
	g->t.post(g->t.ctx, RIG_QP, wr, w);
	rig_run(g);
}

static inline void rig_recv(struct rig *g, unsigned int page, uint32_t length)
{
	g->recv[g->recvs % RIG_RECVS] = (struct fw_recv){
		.wr_id = g->recvs, .length = length, .index = (uint16_t)g->recvs,
		.srq = FW_NO_SRQ, .segments = 1,
		.segment = { { RIG_BASE + page * 4096ull, length, 0x102 } },
	};
	g->recvs++;
}

static inline void rig_resume(struct rig *g, enum rc_side side, bool write, uint8_t code)
{
	rc_resume(g->rc, RIG_QP, side, write, code, g->now);
	rig_run(g);
}

#endif
