// SPDX-License-Identifier: BSD-2-Clause
/*
 * Datagrams between two units, over a wire that loses, damages, doubles and holds back, while
 * pages of the receiver come and go and its driver is slow. The oracle is the list of what has
 * arrived: what is announced is in it, whole, behind what was announced before it, and as often
 * as it has arrived at most; and where the backup ring had room, nothing is missing.
 */
#include "rig/ud.h"

#include "sim/rng.h"
#include "sim/sim.h"

#define SEEDS	120
#define MESSAGES 200
#define NEVER	UINT64_MAX
#define BUFFER_PAGES 48		/* one receive each; those above are the sender's */

static struct rig from, to;

struct held {
	struct fl_backup d;
	uint64_t buffer, at;
	bool ready;		/* its receive is known */
};

static struct world {
	struct rng rng;
	uint64_t now;
	unsigned int lose, damage, twins, late, away;
	uint32_t sent, left;	/* messages, and those that are on the wire, or were */
	uint32_t size[MESSAGES];
	uint32_t arrived[2 * MESSAGES];	/* which message; it may be damaged */
	uint32_t arrivals, next;	/* next: the first that may be announced next */
	uint32_t announced;
	struct flight {
		uint64_t at;
		uint32_t message;
		struct wire_frame f;
	} flying[64];
	unsigned int flights;
	struct held held[256];
	unsigned int holds;
	uint64_t step_at[2][2];
	uint32_t buffers;	/* spare ones are numbered on */
	bool roomy;
} w;

static uint32_t draw_below(uint32_t n)
{
	return n ? (uint32_t)(rng_next(&w.rng) >> 33) % n : 0;
}

static uint8_t message_byte(uint32_t n, uint32_t i)
{
	return (uint8_t)(n * 37 + i * 11 + (n >> 8) + i / 255);
}

/* Behind all that arrive no later. */
static void wire_put(const struct wire_frame *f, uint32_t message)
{
	uint64_t at = w.now + 700 + (draw_below(100) < w.late ? draw_below(5000) : 0);
	unsigned int i = w.flights++;

	EXPECT(w.flights <= 64);
	for (; i && w.flying[i - 1].at > at; i--)
		w.flying[i] = w.flying[i - 1];
	w.flying[i] = (struct flight){ .at = at, .message = message, .f = *f };
	if (draw_below(100) < w.damage)
		w.flying[i].f.bytes[draw_below(f->len)] ^= (uint8_t)(1 + draw_below(255));
}

static void wire_sent(struct rig *g, const struct wire_frame *f)
{
	uint32_t message = w.left++;

	(void)g;
	if (draw_below(100) < w.lose)
		return;
	if (draw_below(100) < w.twins)
		wire_put(f, message);
	wire_put(f, message);
}

static void message_check(struct rig *g, const struct fw_recv *r, const struct fw_arrival *a)
{
	const uint8_t *p = r->segments ? rig_at(g, r->segment[0].va) : NULL;
	uint32_t n = a->imm, i;

	EXPECT_EQ(a->status, FL_ST_OK);
	EXPECT(n < w.sent);
	while (w.next < w.arrivals && w.arrived[w.next] != n)
		w.next++;
	EXPECT(w.next < w.arrivals);
	w.next++;
	EXPECT_EQ(a->length, w.size[n]);
	for (i = 0; i < a->length; i++)
		if (p[i] != message_byte(n, i))
			EXPECT_EQ(p[i], message_byte(n, i));
	w.announced++;
}

static void message_post(void)
{
	uint32_t n = w.sent++, i;
	struct fw_work x = {
		.opcode = FL_OP_SEND, .flags = FL_WQE_IMM, .imm = n, .segments = 1,
		.segment = { { RIG_BASE + (BUFFER_PAGES + n % 16) * 4096ull, 0, RIG_KEY } },
	};

	w.size[n] = x.length = x.segment[0].bytes = 1 + draw_below(1500);
	for (i = 0; i < x.length; i++)
		rig_at(&from, x.segment[0].va)[i] = message_byte(n, i);
	from.io.t.post(from.io.t.ctx, RIG_QP, n, &x);
}

static void wire_arrive(void)
{
	unsigned int i;

	for (i = 0; i < w.flights && w.flying[i].at <= w.now; i++) {
		w.arrived[w.arrivals++] = w.flying[i].message;
		ud_receive(to.ud, &w.flying[i].f, w.now);
	}
	memmove(w.flying, w.flying + i, (w.flights - i) * sizeof(w.flying[0]));
	w.flights -= i;
}

static struct held *held_find(const struct fl_backup *d)
{
	unsigned int i;

	for (i = 0; i < w.holds; i++)
		if (w.held[i].d.bit == d->bit)
			return &w.held[i];
	return NULL;
}

/* The top half: takes all, and gives buffers if it has any. */
static void driver_irq(void)
{
	struct fl_backup *ring = (void *)(to.physical + RIG_RING), *d;
	struct held *h;

	for (;;) {
		d = &ring[to.taken & (to.slots - 1)];
		if (d->phase != 1 + to.taken / to.slots)
			break;
		rig_next(&to);
		if (d->kind == FL_BACKUP_PACKET) {
			/* The ring and these have all buffers that there are. */
			EXPECT(!held_find(d) && w.holds + to.slots < 256);
			h = &w.held[w.holds++];
			*h = (struct held){ *d, d->buffer, w.now + draw_below(5000), d->posted };
			d->buffer = RIG_BUFFERS + 4096ull * (w.buffers++ % 256);
		} else {
			EXPECT_EQ(d->kind, FL_BACKUP_RECEIVE);
			h = held_find(d);
			EXPECT(h && !h->ready);
			h->d = *d;
			h->ready = true;
		}
	}
	EXPECT_EQ(ud_backup_cons_set(to.ud, to.taken, w.now), 0);
}

static void driver_give(void)
{
	to.given = to.taken + to.slots;
	EXPECT_EQ(ud_backup_given_set(to.ud, to.given, w.now), 0);
}

static void driver_work(void)
{
	unsigned int i;

	for (i = 0; i < w.holds; ) {
		struct held h = w.held[i];

		if (!h.ready || h.at > w.now) {
			i++;
			continue;
		}
		w.held[i] = w.held[--w.holds];
		/* Its page comes, for who comes next. */
		to.io.present[(h.d.va0 - RIG_BASE) / 4096] = true;
		rig_copy(&to, &h.d, h.buffer);
		EXPECT_EQ(ud_backup_resolved(to.ud, rig_word(&h.d, 0), w.now), 0);
	}
}

static void units_step(void)
{
	struct rig *side[2] = { &from, &to };
	unsigned int i, ch;
	uint64_t ns;

	for (i = 0; i < 2; i++)
		for (ch = 0; ch < 2; ch++) {
			side[i]->io.now = w.now;
			if (!side[i]->io.awake[ch] || w.step_at[i][ch] > w.now)
				continue;
			ns = ud_step(side[i]->ud, ch, w.now);
			side[i]->io.awake[ch] = ns != NEVER;
			w.step_at[i][ch] = ns == NEVER ? 0 : w.now + ns;
		}
}

static void world_step(bool posting)
{
	if (posting && w.sent < MESSAGES && from.io.dones + 8 > w.sent && draw_below(4) == 0)
		message_post();
	if (draw_below(100) < w.away)
		to.io.present[draw_below(BUFFER_PAGES)] = false;
	/* A receive each page, so that none is overwritten before it was looked at. */
	if (to.posted - to.done < (w.roomy ? 32 : 12) && draw_below(w.roomy ? 2 : 3) == 0) {
		to.io.quiet = true;
		rig_recv(&to, to.posted % BUFFER_PAGES, 2048);
	}
	wire_arrive();
	units_step();
	if (to.line && (w.roomy || draw_below(8) == 0))
		driver_irq();
	if (w.roomy || draw_below(8) == 0)
		driver_give();
	driver_work();
	w.now += 20 + draw_below(200);
	if (ud_check(to.ud))
		EXPECT_STR(ud_check(to.ud), "all is well");
}

static void world_begin(uint64_t seed, bool roomy)
{
	struct ud_config c = {
		.icrc = true, .rx_frames = roomy ? 2 * MESSAGES : 64, .packet_ns = 10,
	};
	struct fw_pair p = {
		.qpn = RIG_PEER, .peer_qp = RIG_QPN, .mtu = 2048, .qkey = RIG_QKEY,
		.node = 1, .sends = true,
	};

	memset(&w, 0, sizeof(w));
	rng_init(&w.rng, seed, "ud pair");
	w.roomy = roomy;
	w.lose = roomy ? 0 : draw_below(3) * draw_below(20);
	w.damage = roomy ? 0 : draw_below(3) * draw_below(10);
	w.away = draw_below(3) * draw_below(30);
	w.twins = draw_below(2) * draw_below(30);
	w.late = draw_below(2) * draw_below(40);
	w.buffers = 0;
	rig_open(&from, 0, &c);
	rig_open(&to, 1, &c);
	from.io.quiet = to.io.quiet = true;
	from.io.sent = wire_sent;
	to.arrive = message_check;
	from.io.burst_ns = draw_below(300);
	to.io.burst_ns = draw_below(300);
	to.verdict = roomy || draw_below(3) ? RC_DIVERT : RC_DROP;
	rig_backup(&to, roomy ? 128 : 2u << draw_below(4), roomy ? 256 : 1 + draw_below(12));
	w.buffers = to.slots;
	EXPECT_EQ(from.io.t.open(from.io.t.ctx, RIG_QP, &p), FL_ST_OK);
	p.qpn = RIG_QPN;
	p.peer_qp = RIG_PEER;
	p.node = 0;
	EXPECT_EQ(to.io.t.open(to.io.t.ctx, RIG_QP, &p), FL_ST_OK);
}

static void world_end(void *unused)
{
	(void)unused;
	rig_close(&from);
	rig_close(&to);
}

static void world_run(uint64_t seed, bool roomy)
{
	unsigned int i;

	world_begin(seed, roomy);
	for (i = 0; w.sent < MESSAGES || from.io.dones < MESSAGES; i++) {
		EXPECT(i < 1000000);
		world_step(true);
	}
	w.away = 0;
	for (i = 0; i < 3000; i++)
		world_step(false);
}

TEST("what is announced was sent, whole, in order and once, whatever is lost")
{
	struct ud_stats st;
	uint64_t seed, diverted = 0, lost = 0, i;

	test_cleanup(world_end, NULL);
	for (seed = 0; seed < SEEDS; seed++) {
		STEP("seed %" PRIu64, test_seed() * 100000 + seed);
		world_run(test_seed() * 100000 + seed, false);
		ud_stats(to.ud, &st);
		diverted += st.diverted;
		for (i = UD_DROP_LENGTH; i < UD_DROP_WHYS; i++) {
			st.received -= st.dropped[i];
			lost += st.dropped[i];
		}
		EXPECT_EQ(to.io.errors, 0);
		EXPECT_EQ(st.held, 0);
		EXPECT_EQ(w.holds, 0);
		/* What was taken is announced, or it was counted as lost. */
		EXPECT_EQ(w.announced, st.received);
		world_end(NULL);
	}
	EXPECT_GE(diverted, 1000);
	EXPECT_GE(lost, 1000);
}

TEST("with a backup ring that has room nothing is lost")
{
	struct ud_stats st;
	uint64_t seed, diverted = 0;

	test_cleanup(world_end, NULL);
	for (seed = 0; seed < SEEDS; seed++) {
		STEP("seed %" PRIu64, test_seed() * 100000 + seed);
		world_run(test_seed() * 100000 + seed, true);
		ud_stats(to.ud, &st);
		diverted += st.diverted;
		EXPECT_EQ(w.announced, w.arrivals);
		EXPECT_EQ(st.received, w.arrivals);
		EXPECT_GE(w.arrivals, MESSAGES);
		EXPECT_EQ(st.diverted, st.resolved);
		world_end(NULL);
	}
	EXPECT_GE(diverted, 5000);
}
