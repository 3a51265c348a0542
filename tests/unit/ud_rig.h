/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_rig.h - a unit of datagrams on a bench: memory is an array whose pages come and go, the
 * firmware is a queue of receives and what completed, the wire is a list of frames that left,
 * the driver is the test. It knows no rule of the receive ring.
 */
#ifndef FL_UD_RIG_H
#define FL_UD_RIG_H

#include "faultline/regs.h"
#include "nic/fw.h"
#include "nic/transport/rc_wire.h"
#include "nic/transport/ud.h"
#include "trace/trace.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define RIG_BASE	0x10000000ull
#define RIG_PAGES	64
#define RIG_BYTES	(RIG_PAGES * 4096u)
#define RIG_KEY		0x105u
#define RIG_RING	0x1000u		/* physical: descriptors, then buffers */
#define RIG_BUFFERS	0x40000u
#define RIG_PHYSICAL	0x140000u
#define RIG_QP		5
#define RIG_QPN		0x123405u
#define RIG_PEER	0x777705u
#define RIG_QKEY	0xCAFE0001u
#define RIG_RECVS	4096
#define RIG_FRAMES	64

struct rig {
	struct ud *ud;
	struct fw_transport t;
	struct ud_config cfg;
	uint64_t now, alarm, burst_ns;
	uint8_t *mem, *physical;
	bool present[RIG_PAGES], fails, revoked;
	bool open[6];
	/* misses */
	uint8_t verdict;	/* RC_DROP, RC_DIVERT, RC_FAIL; what is sent parks unless FAIL */
	struct rc_miss miss;
	unsigned int misses;
	/* firmware */
	struct fw_recv *recv;	/* receive n at n % RIG_RECVS */
	uint32_t posted, done;
	uint8_t wrong;		/* of the receive `wrong_at` */
	uint32_t wrong_at;
	struct fw_arrival arrived;	/* the newest */
	struct fw_recv arrived_in;
	uint8_t worked;		/* status of the newest request that ended */
	unsigned int works, errors;
	uint8_t error;
	/* wire */
	bool no_room;
	struct wire_frame making, out[RIG_FRAMES];
	unsigned int outs, out_next;
	void (*sent)(struct rig *g, const struct wire_frame *f); /* or NULL: into out */
	void (*arrive)(struct rig *g, const struct fw_recv *r, const struct fw_arrival *a);
	/* driver */
	bool line;
	uint32_t slots, taken, given;
	bool awake[2], quiet;
	struct trace *trace;
	uint64_t events[EV_COUNT];
};

static inline uint8_t *rig_at(struct rig *g, uint64_t va)
{
	EXPECT(va >= RIG_BASE && va < RIG_BASE + RIG_BYTES);
	return g->mem + (va - RIG_BASE);
}

static inline uint8_t rig_reach(void *ctx, const struct fw_wanted *w, uint32_t *object)
{
	struct rig *g = ctx;

	if (w->key != RIG_KEY || g->revoked)
		return FL_ST_SEEN_KEY;
	if (w->va < RIG_BASE || w->va + w->bytes > RIG_BASE + RIG_BYTES)
		return FL_ST_SEEN_RANGE;
	*object = 0x77;
	return FL_ST_OK;
}

static inline enum dma_status rig_begin(void *ctx, struct dma_burst *b)
{
	struct rig *g = ctx;

	EXPECT(b->channel >= 4 && b->channel < 6 && !g->open[b->channel]);
	EXPECT(b->len && b->va % 4096 + b->len <= 4096);
	EXPECT_EQ(b->object, 0x77);
	b->delay_ns = g->burst_ns;
	b->event = 0;
	if (!g->present[(b->va - RIG_BASE) / 4096])
		return DMA_SLVERR;
	g->open[b->channel] = true;
	return DMA_OK;
}

static inline enum dma_status rig_end(void *ctx, struct dma_burst *b, void *buf)
{
	struct rig *g = ctx;

	EXPECT(g->open[b->channel]);
	g->open[b->channel] = false;
	if (g->fails)
		return DMA_DECERR;
	if (b->write)
		memcpy(rig_at(g, b->va), buf, b->len);
	else
		memcpy(buf, rig_at(g, b->va), b->len);
	return DMA_OK;
}

static inline struct rc_judged rig_miss(void *ctx, const struct rc_miss *m)
{
	struct rig *g = ctx;
	struct rc_judged j = { .verdict = g->verdict };

	g->miss = *m;
	g->misses++;
	if (m->side == RC_REQUESTER && g->verdict != RC_FAIL)
		j.verdict = RC_PARK;
	return j;
}

static inline bool rig_diverts(void *ctx, uint16_t qp)
{
	(void)qp;
	return ((struct rig *)ctx)->verdict == RC_DIVERT;
}

static inline int rig_mem_read(void *ctx, uint64_t pa, void *buf, uint32_t len)
{
	if (pa + len > RIG_PHYSICAL)
		return -1;
	memcpy(buf, ((struct rig *)ctx)->physical + pa, len);
	return 0;
}

static inline int rig_mem_write(void *ctx, uint64_t pa, const void *buf, uint32_t len)
{
	if (pa + len > RIG_PHYSICAL)
		return -1;
	memcpy(((struct rig *)ctx)->physical + pa, buf, len);
	return 0;
}

static inline int rig_mem_publish(void *ctx, uint64_t pa, uint32_t value)
{
	return rig_mem_write(ctx, pa, &value, sizeof(value));
}

static inline void rig_line(void *ctx, bool level)
{
	struct rig *g = ctx;

	EXPECT_NE(g->line, level);
	g->line = level;
}

static inline void rig_alarm(void *ctx, uint64_t when_ns)
{
	((struct rig *)ctx)->alarm = when_ns;
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

static inline uint64_t rig_emit(void *ctx, unsigned int ev, const struct trace_at *at,
				uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct rig *g = ctx;

	if (!g->quiet)
		STEP("  %s %" PRIu64 " %" PRIu64 " %" PRIu64, trace_events[ev].name, a1, a2, a3);
	g->events[ev]++;
	return trace_emit(g->trace, (enum trace_event)ev, at, a0, a1, a2, a3);
}

static inline void rig_work_done(void *ctx, uint16_t qp, uint32_t wr, uint8_t status,
				 uint32_t resends, uint64_t cause)
{
	struct rig *g = ctx;

	(void)resends;
	(void)cause;
	EXPECT_EQ(wr, g->works);
	g->works++;
	g->worked = status;
	if (status != FL_ST_OK)
		g->t.close(g->t.ctx, qp);
}

static inline bool rig_recv_ahead(void *ctx, uint16_t qp, uint16_t ahead, struct fw_recv *r,
				  uint8_t *wrong)
{
	struct rig *g = ctx;

	(void)qp;
	if (ahead >= g->posted - g->done)
		return false;
	*r = g->recv[(g->done + ahead) % RIG_RECVS];
	*wrong = g->wrong && g->done + ahead == g->wrong_at ? g->wrong : FL_ST_OK;
	return true;
}

static inline void rig_recv_done(void *ctx, uint16_t qp, const struct fw_recv *r,
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

	ud_destroy(g->ud);
	if (g->trace)
		trace_destroy(g->trace);
	free(g->mem);
	free(g->physical);
	free(g->recv);
	memset(g, 0, sizeof(*g));
}

static inline void rig_buffer(struct rig *g, uint32_t slot, uint64_t buffer)
{
	struct fl_backup *d = (void *)(g->physical + RIG_RING);

	d[slot & (g->slots - 1)].buffer = buffer;
}

/* The driver starts the backup ring. */
static inline void rig_backup(struct rig *g, uint32_t slots, uint32_t bits)
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
	EXPECT_EQ(ud_backup_slots_set(g->ud, slots, g->now), 0);
}

/* What it was before ends. */
static inline void rig_open(struct rig *g, uint8_t node, const struct ud_config *cfg)
{
	struct ud_env env = {
		.ctx = g, .wire = g,
		.fw = {
			.ctx = g, .work_done = rig_work_done, .reach = rig_reach,
			.recv_ahead = rig_recv_ahead, .recv_done = rig_recv_done,
			.pair_error = rig_pair_error,
		},
		.burst_begin = rig_begin, .burst_end = rig_end, .miss = rig_miss,
		.diverts = rig_diverts, .mem_read = rig_mem_read,
		.mem_write = rig_mem_write, .mem_publish = rig_mem_publish,
		.line = rig_line, .alarm = rig_alarm, .frame_get = rig_frame_get,
		.frame_send = rig_frame_send, .kick = rig_kick, .emit = rig_emit,
	};
	unsigned int i;

	rig_close(g);
	g->trace = trace_create(&(struct trace_config){ .ring_records = 256 });
	g->mem = calloc(1, RIG_BYTES);
	g->physical = calloc(1, RIG_PHYSICAL);
	g->recv = calloc(RIG_RECVS, sizeof(*g->recv));
	for (i = 0; i < RIG_PAGES; i++)
		g->present[i] = true;
	g->verdict = RC_DIVERT;
	g->alarm = UINT64_MAX;
	g->cfg = *cfg;
	g->cfg.node = node;
	g->ud = ud_create(&g->cfg, &env);
	g->t = ud_transport(g->ud);
}

static const struct ud_config rig_config = { .rx_frames = 32, .packet_ns = 10 };

static inline struct fw_pair rig_pair(void)
{
	return (struct fw_pair){
		.qpn = RIG_QPN, .peer_qp = RIG_PEER, .sq_psn = 0xFFFFFF, .mtu = 2048,
		.qkey = RIG_QKEY, .node = 1, .slot = 3, .sends = true,
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
			ns = ud_step(g->ud, i, g->now);
			if (ns == UINT64_MAX)
				g->awake[i] = false;
			else
				g->now += ns;
		}
	}
	if (ud_check(g->ud))
		EXPECT_STR(ud_check(g->ud), "all is well");
}

/*
 * A backup ring of 8 with 4 bits, and the pair that tests use, until the test's end. bits: of
 * the pair; 0: as the ring has them.
 */
static inline void rig_start_bits(struct rig *g, uint16_t bits)
{
	struct fw_pair p = rig_pair();

	p.bits = bits;
	rig_open(g, 0, &rig_config);
	test_cleanup(rig_close, g);
	rig_backup(g, 8, 4);
	EXPECT_EQ(g->t.open(g->t.ctx, RIG_QP, &p), FL_ST_OK);
}

static inline void rig_start(struct rig *g)
{
	rig_start_bits(g, 0);
}

/* A receive of one segment, at the start of a page. */
static inline void rig_recv(struct rig *g, unsigned int page, uint32_t bytes)
{
	g->recv[g->posted % RIG_RECVS] = (struct fw_recv){
		.wr_id = 1000 + g->posted, .length = bytes, .index = (uint16_t)g->posted,
		.xfer = g->posted, .srq = FW_NO_SRQ, .segments = bytes != 0,
		.segment = { { RIG_BASE + page * 4096ull, bytes, RIG_KEY } },
	};
	STEP("receive %u: page %u, %u bytes", g->posted, page, bytes);
	g->posted++;
	if (g->t.posted)
		g->t.posted(g->t.ctx, RIG_QP);
}

/* A datagram comes, every byte of which is `fill`. */
static inline void rig_in(struct rig *g, struct rc_packet p, uint32_t bytes, uint8_t fill)
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
	ud_receive(g->ud, &f, g->now);
	rig_run(g);
}

static inline void rig_comes(struct rig *g, uint8_t fill)
{
	rig_in(g, (struct rc_packet){ .psn = fill }, 100, fill);
}

/* The driver's next descriptor, which the card has written. */
static inline struct fl_backup *rig_next(struct rig *g)
{
	struct fl_backup *d = (void *)(g->physical + RIG_RING);

	d += g->taken & (g->slots - 1);
	EXPECT_EQ(d->phase, 1 + g->taken / g->slots);
	g->taken++;
	return d;
}

/* It has been taken, and its descriptor has a buffer again. */
static inline void rig_give(struct rig *g)
{
	EXPECT_EQ(ud_backup_cons_set(g->ud, g->taken, g->now), 0);
	g->given = g->taken + g->slots;
	EXPECT_EQ(ud_backup_given_set(g->ud, g->given, g->now), 0);
	rig_run(g);
}

static inline uint32_t rig_word(const struct fl_backup *d, uint8_t code)
{
	return FW_QP_PLACE(d->qp) << NIC_XP_RESOLVED_RING_SHIFT |
	       (uint32_t)d->bit << NIC_XP_RESOLVED_BIT_SHIFT |
	       (uint32_t)d->serial << NIC_XP_RESOLVED_SERIAL_SHIFT |
	       (uint32_t)code << NIC_XP_RESOLVED_CODE_SHIFT;
}

/* The driver copies, as the descriptor says. */
static inline void rig_copy(struct rig *g, const struct fl_backup *d, uint64_t buffer)
{
	EXPECT_LE(d->len, d->bytes0);
	memcpy(rig_at(g, d->va0), g->physical + buffer, d->len);
}

static inline void rig_resolve(struct rig *g, const struct fl_backup *d)
{
	STEP("resolved: receive %u, bit %u", d->index, d->bit);
	rig_copy(g, d, d->buffer);
	EXPECT_EQ(ud_backup_resolved(g->ud, rig_word(d, 0), g->now), 0);
	rig_run(g);
}

static inline struct ud_ring_state rig_ring(const struct rig *g)
{
	struct ud_ring_state st;

	ud_ring_state(g->ud, RIG_QP, &st);
	return st;
}

static inline uint64_t rig_drops(const struct rig *g, enum ud_drop_why why)
{
	struct ud_stats st;

	ud_stats(g->ud, &st);
	return st.dropped[why];
}

#endif
