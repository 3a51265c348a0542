/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nv_rig.h - a unit of NetVM's transport on a bench: memory is an array whose pages come and
 * go, the firmware is a list of keys, counters and what completed, the wire is a list of
 * frames that left, the driver is whoever copies what lies in the system buffer. It knows no
 * rule of the protocol.
 */
#ifndef FL_NV_RIG_H
#define FL_NV_RIG_H

#include "nic/fw.h"
#include "nic/transport/nv.h"
#include "nic/transport/nv_wire.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define RIG_BASE	0x10000000ull
#define RIG_PAGES	32
#define RIG_BYTES	(RIG_PAGES * 4096u)
#define RIG_KEYS	4
#define RIG_FRAMES	600
#define RIG_DONE	64
#define RIG_COUNTERS	4

struct rig_key {
	uint32_t key;
	uint8_t rights;
	bool alive;
};

struct rig_done {
	uint16_t qp;
	uint32_t wr, resends;
	uint8_t status;
};

/* What lies in a slot of the system buffer, and where it belongs. */
struct rig_slot {
	bool full;
	uint8_t data[NV_SLOT_BYTES];
	uint32_t len;
	uint64_t va;
};

struct rig {
	struct nv *nv;
	struct fw_transport t;
	struct nv_config cfg;
	uint64_t now;
	uint8_t *mem;
	bool present[RIG_PAGES];
	struct rig_key key[RIG_KEYS];
	bool open[2];
	struct dma_burst burst[2];
	uint64_t burst_ns;
	bool fails;		/* memory answers with an error */
	enum nv_verdict sender, receiver;
	struct nv_miss miss;	/* the newest */
	unsigned int misses;
	struct rig_slot *slot;	/* NV_SLOTS_MAX */
	bool slot_fails;
	struct rig_done done[RIG_DONE];
	unsigned int dones;
	uint64_t counter[RIG_COUNTERS + 1];	/* from 1 on */
	uint8_t error;		/* of pair_error */
	unsigned int errors;
	bool no_room;
	struct wire_frame making;
	struct wire_frame *out;
	unsigned int outs, out_next;
	void (*sent)(struct rig *g, const struct wire_frame *f); /* or NULL: into out */
	void (*diverted)(struct rig *g, uint32_t slot);
	void (*missed)(struct rig *g, const struct nv_miss *m);
	void (*worked)(struct rig *g, const struct rig_done *d);
	void (*counted)(struct rig *g, uint16_t counter);
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

static inline uint8_t rig_count(void *ctx, uint16_t qp, uint16_t counter, bool rise,
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

static inline enum dma_status rig_begin(void *ctx, struct dma_burst *b)
{
	struct rig *g = ctx;

	EXPECT(!g->open[b->channel]);
	EXPECT(b->len && b->va % 4096 + b->len <= 4096);
	EXPECT(rig_key_find(g, b->object ^ 0x5A5A));
	b->delay_ns = g->burst_ns;
	b->event = 0;
	if (!g->present[(b->va - RIG_BASE) / 4096])
		return DMA_SLVERR;
	g->open[b->channel] = true;
	g->burst[b->channel] = *b;
	return DMA_OK;
}

static inline enum dma_status rig_end(void *ctx, struct dma_burst *b, void *buf)
{
	struct rig *g = ctx;

	EXPECT(g->open[b->channel]);
	EXPECT_EQ(g->burst[b->channel].va, b->va);
	g->open[b->channel] = false;
	if (g->fails)
		return DMA_DECERR;
	if (b->write)
		memcpy(rig_at(g, b->va), buf, b->len);
	else
		memcpy(buf, rig_at(g, b->va), b->len);
	return DMA_OK;
}

static inline enum nv_verdict rig_miss(void *ctx, const struct nv_miss *m)
{
	struct rig *g = ctx;

	g->miss = *m;
	g->misses++;
	if (g->missed)
		g->missed(g, m);
	return m->side == NV_SENDER ? g->sender : g->receiver;
}

static inline bool rig_slot_write(void *ctx, uint32_t slot, const void *buf, uint32_t len)
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

static inline void rig_redirected(void *ctx, const struct nv_miss *m, uint32_t slot)
{
	struct rig *g = ctx;

	EXPECT(g->slot[slot].full);
	EXPECT_EQ(g->slot[slot].len, m->len);
	g->slot[slot].va = m->va;
	if (g->diverted)
		g->diverted(g, slot);
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
		STEP("  %s %" PRIx64 " %" PRIx64 " %" PRIx64, trace_events[ev].name, a1, a2, a3);
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

static inline void rig_pair_error(void *ctx, uint16_t qp, uint8_t status, uint64_t cause)
{
	struct rig *g = ctx;

	(void)cause;
	g->error = status;
	g->errors++;
	g->t.close(g->t.ctx, qp);
}

/* ---- what a test does ---- */

static inline void rig_close(void *arg)
{
	struct rig *g = arg;

	nv_destroy(g->nv);
	if (g->trace)
		trace_destroy(g->trace);
	free(g->mem);
	free(g->slot);
	free(g->out);
	memset(g, 0, sizeof(*g));
}

/* What it was before ends. */
static inline void rig_open(struct rig *g, uint8_t node, const struct nv_config *cfg)
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
	unsigned int i;

	rig_close(g);
	g->trace = trace_create(&(struct trace_config){ .ring_records = 256 });
	g->mem = calloc(1, RIG_BYTES);
	g->slot = calloc(NV_SLOTS_MAX, sizeof(*g->slot));
	g->out = calloc(RIG_FRAMES, sizeof(*g->out));
	for (i = 0; i < RIG_PAGES; i++)
		g->present[i] = true;
	for (i = 0; i < RIG_KEYS; i++)
		g->key[i] = (struct rig_key){ 0x100 + i, 15, true };
	g->sender = NV_PARK;
	g->receiver = NV_REDIRECT;
	g->alarm = UINT64_MAX;
	g->cfg = *cfg;
	g->cfg.node = node;
	g->nv = nv_create(&g->cfg, &env);
	g->t = nv_transport(g->nv);
	EXPECT_EQ(nv_slots_set(g->nv, cfg->slots), 0);
}

/* The pair that tests use: place 5 here, its peer is 0x777705 on node 1. */
#define RIG_QP		5
#define RIG_QPN		0x123405u
#define RIG_PEER	0x777705u
static inline struct fw_pair rig_pair(void)
{
	return (struct fw_pair){
		.qpn = RIG_QPN, .peer_qp = RIG_PEER, .mtu = 256, .node = 1, .slot = 3,
		.retries = 3, .timeout = 10, .sends = true,
	};
}

static inline void rig_check(struct rig *g)
{
	if (nv_check(g->nv))
		EXPECT_STR(nv_check(g->nv), "all is well");
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
			ns = nv_step(g->nv, i, g->now);
			if (ns == UINT64_MAX)
				g->awake[i] = false;
			else
				g->now += ns;
			rig_check(g);
		}
	}
	rig_check(g);
}

static const struct nv_config rig_config = {
	.window = 16, .credits = 4, .slots = 8, .rx_frames = 32, .packet_ns = 10,
	.probe_ns = 1000000,
};

/* The pair that tests use, until the test's end; memory whose every byte tells its place. */
static inline void rig_start(struct rig *g)
{
	struct fw_pair p = rig_pair();
	unsigned int i;

	rig_open(g, 0, &rig_config);
	test_cleanup(rig_close, g);
	EXPECT_EQ(g->t.open(g->t.ctx, RIG_QP, &p), FL_ST_OK);
	for (i = 0; i < RIG_BYTES; i++)
		g->mem[i] = (uint8_t)(i * 31 + i / 256);
	rig_run(g);
}

/* Let time pass until the alarm rings; what was due is sent. */
static inline void rig_ring(struct rig *g)
{
	EXPECT_NE(g->alarm, UINT64_MAX);
	if (g->now < g->alarm)
		g->now = g->alarm;
	g->alarm = UINT64_MAX;
	nv_timer(g->nv, g->now);
	rig_run(g);
}

/* A packet comes from the peer. payload: bytes of value `fill`. */
static inline void rig_in(struct rig *g, struct nv_packet p, uint32_t payload, uint8_t fill)
{
	struct wire_frame f = { .from = 1, .to = g->cfg.node };

	p.dest_qp = p.dest_qp ? p.dest_qp : RIG_QPN;
	p.payload_len = payload;
	if (payload)
		memset(nv_payload(&f), fill, payload);
	nv_put(&f, &p, g->cfg.icrc);
	STEP("comes: %s sequence %u, %u bytes", wire_opcode_name(p.opcode), p.sequence, payload);
	nv_receive(g->nv, &f, g->now);
	rig_run(g);
}

/* The next packet that left. */
static inline struct nv_packet rig_out(struct rig *g)
{
	struct nv_packet p;

	EXPECT(g->out_next < g->outs);
	EXPECT_EQ(nv_get(&g->out[g->out_next++], g->cfg.icrc, &p), WIRE_OK);
	EXPECT_EQ(p.dest_qp, RIG_PEER);
	STEP("left: %s sequence %u, %u bytes", wire_opcode_name(p.opcode), p.sequence,
	     p.payload_len);
	return p;
}

static inline void rig_silent(struct rig *g)
{
	EXPECT_EQ(g->out_next, g->outs);
}

/* The driver copies what lies in a slot, or says that it cannot. */
static inline void rig_copy(struct rig *g, uint32_t slot, uint8_t code)
{
	struct rig_slot *s = &g->slot[slot];

	EXPECT(s->full);
	if (!code) {
		memcpy(rig_at(g, s->va), s->data, s->len);
		g->present[(s->va - RIG_BASE) / 4096] = true;
	}
	s->full = false;
	EXPECT_EQ(nv_copied(g->nv, slot, code, g->now), 0);
}

/* One segment, from the start of page `page` here to the same page there. */
static inline struct fw_work rig_work(unsigned int page, uint32_t length)
{
	uint64_t va = RIG_BASE + page * 4096ull;

	return (struct fw_work){
		.opcode = FL_OP_WRITE, .remote_va = va, .rkey = 0x100, .length = length,
		.flags = FL_WQE_SIGNALED, .segments = !!length,
		.segment = { { .va = va, .bytes = length, .key = 0x101 } },
	};
}

static inline void rig_post(struct rig *g, uint32_t wr, const struct fw_work *w)
{
	STEP("post %u: op %u, %u bytes", wr, w->opcode, w->length);
	g->t.post(g->t.ctx, RIG_QP, wr, w);
	rig_run(g);
}

static inline void rig_is_done(struct rig *g, unsigned int n, uint32_t wr, uint8_t status)
{
	EXPECT(n < g->dones);
	EXPECT_EQ(g->done[n].wr, wr);
	EXPECT_EQ(g->done[n].status, status);
}

#endif
