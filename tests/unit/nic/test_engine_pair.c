// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two engines, joined by a wire that loses, doubles and reorders packets, with
 * a small random firmware and driver on each side. What must hold: each block
 * ends exactly once; a good end means that every byte is in place; and after an
 * end nothing more reaches a READ's buffer, nor a WRITE's that went well.
 */
#include "rig/engine_pair.h"

static uint8_t *bytes_at(struct pair *p, unsigned int node, uint64_t va)
{
	return p->node[node].mem + (va - BENCH_BASE);
}

/* Nothing may have touched what a block left behind at its end. */
static void check_kept(struct node *n, unsigned int ctx)
{
	struct own_block *b = &n->own[ctx];
	uint64_t area = pair_area(b->read ? AREA_READ : AREA_PEER, ctx);

	if (!b->ended || b->active || !(b->good || b->read))
		return;
	EXPECT_MEM(bytes_at(n->pair, b->target, area), b->kept, AREA);
}

static void engine_pair_go(struct node *n, unsigned int ctx, uint8_t op,
			   uint64_t lva, uint64_t rva, uint32_t len,
			   uint32_t ref)
{
	uint32_t c = NIC_CTX_BASE(ctx);

	pair_set32(n, c + NIC_CTX_DST,
		   (1 - n->number) << NIC_CTX_DST_NODE_SHIFT |
				       7 << NIC_CTX_DST_QPN_SHIFT);
	pair_set32(n, c + NIC_CTX_STREAM, BENCH_STREAM);
	pair_set64(n, c + NIC_CTX_LVA, lva);
	pair_set64(n, c + NIC_CTX_RVA, rva);
	pair_set32(n, c + NIC_CTX_LEN, len);
	pair_set32(n, c + NIC_CTX_REF, ref);
	pair_set32(n, c + NIC_CTX_CTRL,
		   NIC_CTX_CTRL_GO | (uint32_t)op << NIC_CTX_CTRL_OP_SHIFT);
}

/* A new block of this node's own. */
static void engine_pair_post(struct node *n, unsigned int ctx)
{
	struct pair *p = n->pair;
	struct own_block *b = &n->own[ctx];
	uint64_t here, there;
	uint32_t i;

	check_kept(n, ctx);
	b->active = true;
	b->good = false;
	b->serial = ++p->serial;
	b->len = 1 + pair_below(p, pair_chance(p, 512) ? 16384 : 300);
	b->read = pair_chance(p, 400);
	p->reads += b->read;
	/* A READ takes what nobody changes. */
	here = pair_area(b->read ? AREA_READ : AREA_SRC, ctx);
	there = pair_area(b->read ? AREA_FIXED : AREA_PEER, ctx);
	b->lva = here + pair_below(p, AREA - b->len);
	b->rva = there + pair_below(p, AREA - b->len);
	b->target = b->read ? n->number : 1 - n->number;
	b->at = b->read ? b->lva : b->rva;
	if (!b->read)
		for (i = 0; i < b->len; i++)
			bytes_at(p, n->number, b->lva)[i] =
				(uint8_t)(b->serial * 31 + i * 7 + (i >> 8));
	n->posted++;
	engine_pair_go(n, ctx, b->read ? FL_OP_READ : FL_OP_WRITE, b->lva,
		       b->rva, b->len, 0);
}

static void own_done(struct node *n, unsigned int ctx)
{
	struct own_block *b = &n->own[ctx];
	uint32_t state = pair_get32(n, NIC_CTX_BASE(ctx) + NIC_CTX_STATE);
	uint64_t area = pair_area(b->read ? AREA_READ : AREA_PEER, ctx);
	uint64_t from = b->read ? b->rva : b->lva;
	unsigned int source = b->read ? 1 - n->number : n->number;

	EXPECT(b->active);
	EXPECT_EQ(state & NIC_CTX_STATE_STATE_MASK, FL_TX_DONE);
	b->active = false;
	b->ended++;
	n->ended++;
	b->good = !(state & NIC_CTX_STATE_STATUS_MASK);
	if (b->good) {
		n->good++;
		EXPECT_MEM(bytes_at(n->pair, b->target, b->at),
			   bytes_at(n->pair, source, from), b->len);
	}
	memcpy(b->kept, bytes_at(n->pair, b->target, area), AREA);
	pair_set32(n, NIC_CTX_BASE(ctx) + NIC_CTX_CTRL, NIC_CTX_CTRL_RELEASE);
}

static void tx_done(struct node *n, unsigned int ctx, unsigned int serial)
{
	/* Of an earlier generation, which a KILL has ended already. */
	if ((pair_get32(n, NIC_CTX_BASE(ctx) + NIC_CTX_GEN) & 0xFF) != serial)
		return;
	if (ctx < OWN) {
		own_done(n, ctx);
		return;
	}
	EXPECT(n->job[ctx - OWN].active);
	n->job[ctx - OWN].active = false;
	pair_set32(n, NIC_CTX_BASE(ctx) + NIC_CTX_CTRL, NIC_CTX_CTRL_RELEASE);
}

/* A READ request: take a job, or say that one is running. */
static unsigned int read_job(struct node *n, unsigned int rxc)
{
	uint32_t r = NIC_RXC_BASE(rxc), word = pair_get32(n, r + NIC_RXC_WORD);
	unsigned int i, free = JOBS;

	for (i = 0; i < JOBS; i++) {
		if (!n->job[i].active)
			free = i;
		else if (n->job[i].ctx == word >> 24 &&
			 n->job[i].gen == (uint16_t)(word >> 8))
			return FL_ST_WAIT;
	}
	if (free == JOBS)
		return pair_chance(n->pair, 900) ? FL_ST_WAIT : FL_ST_NO_ROOM;
	n->job[free] = (struct job){ true, (uint8_t)(1 - n->number),
				     (uint8_t)(word >> 24),
				     (uint16_t)(word >> 8) };
	engine_pair_go(n, OWN + free, FL_OP_READ_RESP,
		       pair_get64(n, r + NIC_RXC_VA), 0,
		       pair_get32(n, r + NIC_RXC_LEN), word);
	return 0;
}

static void rx_open(struct node *n, unsigned int rxc, unsigned int serial)
{
	uint32_t r = NIC_RXC_BASE(rxc);
	unsigned int code = 0;

	if ((pair_get32(n, r + NIC_RXC_STATE) & NIC_RXC_STATE_STATE_MASK) !=
	    FL_RX_CHECK)
		return;
	if (pair_trouble(n->pair, 8))
		code = FL_ST_REMOTE_ACCESS;
	else if (pair_chance(n->pair, 100))
		code = pair_chance(n->pair, 512) ? FL_ST_WAIT : FL_ST_BUSY;
	else if (pair_get32(n, r + NIC_RXC_OP) == WOP_READ_REQ)
		code = read_job(n, rxc);
	if (pair_trouble(n->pair, 4))	/* a wrong serial changes nothing */
		pair_set32(n, r + NIC_RXC_VERDICT,
			   (serial + 1) % 256 << NIC_RXC_VERDICT_SERIAL_SHIFT |
			   FL_ST_REMOTE_ACCESS);
	code |= serial << NIC_RXC_VERDICT_SERIAL_SHIFT |
		(uint32_t)BENCH_STREAM << NIC_RXC_VERDICT_STREAM_SHIFT;
	if (pair_chance(n->pair, 512))
		pair_set_later(n, r + NIC_RXC_VERDICT, code);
	else
		pair_set32(n, r + NIC_RXC_VERDICT, code);
}

static void engine_pair_firmware(struct node *n)
{
	uint32_t v = pair_get32(n, NIC_ENG_EVT_POP);
	unsigned int index = v >> NIC_ENG_EVT_POP_INDEX_SHIFT & 0xFF;
	unsigned int serial = v >> NIC_ENG_EVT_POP_SERIAL_SHIFT & 0xFF;
	unsigned int i = pair_below(n->pair, OWN + JOBS);
	uint32_t c = NIC_CTX_BASE(i), state;

	if (v & NIC_ENG_EVT_POP_VALID) {
		if ((v & NIC_ENG_EVT_POP_KIND_MASK) == FL_NOTE_TX_DONE)
			tx_done(n, index, serial);
		if ((v & NIC_ENG_EVT_POP_KIND_MASK) == FL_NOTE_RX_OPEN)
			rx_open(n, index, serial);
		n->landed += (v & NIC_ENG_EVT_POP_KIND_MASK) ==
			     FL_NOTE_RX_LANDED;
		return;
	}
	state = pair_get32(n, c + NIC_CTX_STATE) & NIC_CTX_STATE_STATE_MASK;
	if ((state == FL_TX_FLYING || state == FL_TX_DSTFAULT) &&
	    pair_chance(n->pair, n->pair->draining ? 64 : 8))
		pair_set32(n, c + NIC_CTX_CTRL, NIC_CTX_CTRL_EXPIRE);
	else if (pair_trouble(n->pair, state == FL_TX_DSTFAULT ||
				       state == FL_TX_SRCFAULT ? 2 : 16))
		pair_set32(n, c + NIC_CTX_CTRL, NIC_CTX_CTRL_KILL |
			   FL_ST_KILLED << NIC_CTX_CTRL_CODE_SHIFT);
	else if (i < OWN && !n->own[i].active && !n->pair->draining)
		engine_pair_post(n, i);
}

/* The driver: make the pages present, or not, and answer, some time. */
static void engine_pair_driver(struct node *n)
{
	uint32_t ref = pair_get32(n, NIC_ENG_FLT_REF), map, code = 0;
	uint64_t first;
	unsigned int i;

	if (!(ref & NIC_ENG_FLT_REF_VALID))
		return;
	first = (pair_get64(n, NIC_ENG_FLT_VA) - BENCH_BASE) / ENGINE_PAGE;
	map = pair_get32(n, NIC_ENG_FLT_MAP);
	EXPECT(map != 0);
	for (i = 0; i < 17; i++)
		if (map >> i & 1)
			n->page[first + i] = PAGE_THERE;
	pair_set32(n, NIC_ENG_FLT_POP, fl_errata_pop());
	ref &= NIC_ENG_FLT_REF_INDEX_MASK | NIC_ENG_FLT_REF_SIDE |
	       NIC_ENG_FLT_REF_SERIAL_MASK;
	if (pair_trouble(n->pair, 2))
		code = FL_ST_LOCAL_FAULT << NIC_ENG_READY_CODE_SHIFT;
	ref = (ref & ~(uint32_t)NIC_ENG_READY_CODE_MASK) | code;
	ref = fl_errata_ready(ref);
	pair_set_later(n, NIC_ENG_READY, ref);
	if (pair_trouble(n->pair, 1))
		pair_set_later(n, NIC_ENG_READY, ref);	/* said twice */
}

/* Deliver one packet: mostly an old one, sometimes any. */
static void engine_pair_deliver(struct pair *p)
{
	unsigned int i;
	struct wire_frame f;

	if (!p->wires)
		return;
	i = pair_trouble(p, 1) || pair_chance(p, 200) ?
		pair_below(p, p->wires) : 0;
	f = p->wire[i];
	p->wires--;
	memmove(&p->wire[i], &p->wire[i + 1],
		(p->wires - i) * sizeof(p->wire[0]));
	engine_receive(p->node[f.to].e, &f, p->now_ns);
}

static void engine_pair_channel(struct node *n, unsigned int ch)
{
	if (n->held[ch] && pair_chance(n->pair, 300)) {
		bool terminate = pair_chance(n->pair, 300);

		n->held[ch] = false;
		n->page[(pair_get64(n, ch ? NIC_ENG_WR_VA : NIC_ENG_RD_VA) -
			 BENCH_BASE) / ENGINE_PAGE] = PAGE_THERE;
		engine_burst_resume(n->e, ch, terminate);
	}
	if (n->awake[ch] &&
	    engine_step(n->e, ch, n->pair->now_ns) == ENGINE_IDLE)
		n->awake[ch] = false;
}

static void off_and_on(struct node *n)
{
	pair_set32(n, NIC_ENG_CTRL, 0);
	engine_pair_channel(n, 0);
	engine_pair_channel(n, 1);
	pair_set32(n, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
}

static void pair_step(struct pair *p)
{
	struct node *n = &p->node[pair_below(p, 2)];

	p->now_ns += 10;
	switch (pair_below(p, 10)) {
	case 0 ... 2:
		engine_pair_channel(n, 0);
		break;
	case 3 ... 4:
		engine_pair_channel(n, 1);
		break;
	case 5 ... 6:
		engine_pair_deliver(p);
		break;
	case 7:
		engine_pair_firmware(n);
		break;
	case 8:
		engine_pair_driver(n);
		if (pair_chance(p, p->haste))
			pair_do_later(n);
		break;
	case 9:
		if (n->starved) {
			n->starved = false;
			engine_wire_room(n->e);
		}
		check_kept(n, pair_below(p, OWN));
		if (pair_trouble(p, 256))
			off_and_on(n);
		break;
	}
	EXPECT_STR(engine_check(n->e) ? engine_check(n->e) : "sound", "sound");
}

static void pair_free(void *arg)
{
	struct pair *p = arg;
	unsigned int i, k;

	for (i = 0; i < 2; i++) {
		engine_destroy(p->node[i].e);
		free(p->node[i].mem);
		for (k = 0; k < OWN; k++)
			free(p->node[i].own[k].kept);
	}
	trace_destroy(p->trace);
	free(p);
}

static struct pair *pair_new(unsigned int chaos, uint64_t seed)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct trace_config tc = { .ring_records = 1024 };
	struct engine_env env = {
		.burst_begin = pair_begin, .burst_end = pair_end,
		.frame_get = pair_frame_get, .frame_send = pair_frame_send,
		.irq = pair_irq, .kick = pair_kick,
	};
	unsigned int i, k;
	int error = 0;

	EXPECT(p != NULL);
	test_cleanup(pair_free, p);
	p->trace = trace_create(&tc);
	p->random = 0x9E3779B97F4A7C15ull * (2 * seed + 1);
	p->chaos = chaos;
	p->haste = 400;
	for (i = 0; i < 2; i++) {
		struct node *n = &p->node[i];
		struct engine_config c = {
			.node = (uint8_t)i, .contexts = OWN + JOBS,
			.rx_contexts = RXCS, .block_log2 = 14,
			.cell_bytes = 1024, .icrc = false,
			.trace = p->trace, .board = (uint8_t)i,
		};

		n->pair = p;
		n->number = i;
		n->mem = malloc(BENCH_PAGES * ENGINE_PAGE);
		for (k = 0; k < BENCH_PAGES * ENGINE_PAGE; k++)
			n->mem[k] = (uint8_t)pair_random(p);
		for (k = 0; k < OWN; k++)
			n->own[k].kept = calloc(1, AREA);
		env.ctx = env.wire = n;
		n->e = bench_engine(&c, &env, &error);
		EXPECT_EQ(error, 0);
		pair_set32(n, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	}
	return p;
}

/* Blocks of a node that are under way: its own and its jobs. */
static unsigned int engine_pair_busy(const struct node *n)
{
	unsigned int i, k = 0;

	for (i = 0; i < OWN; i++)
		k += n->own[i].active;
	for (i = 0; i < JOBS; i++)
		k += n->job[i].active;
	return k;
}

static void pair_run(struct pair *p, uint64_t blocks)
{
	struct node *a = &p->node[0], *b = &p->node[1];
	uint64_t steps = 0;

	STEP("%" PRIu64 " blocks, trouble %u in 1024", blocks, p->chaos);
	while (a->ended + b->ended < blocks) {
		pair_step(p);
		EXPECT(++steps < blocks * 4000);
	}
	STEP("nothing goes wrong any more: what is under way must end");
	p->draining = true;
	for (steps = 0; engine_pair_busy(a) || engine_pair_busy(b) || p->wires;
	     steps++) {
		pair_step(p);
		EXPECT(steps < 4000000);
	}
	EXPECT_EQ(a->posted, a->ended);
	EXPECT_EQ(b->posted, b->ended);
}

TEST("on a good wire every block ends well")
{
	struct pair *p = pair_new(0, test_seed());
	struct engine_stats st;
	uint64_t landed = 0, steps;
	unsigned int i;

	pair_run(p, 4000);
	STEP("what its sender no longer waits for ends, too: answers of software may be late");
	for (steps = 0; !engine_idle(p->node[0].e) || !engine_idle(p->node[1].e); steps++) {
		pair_step(p);
		EXPECT(steps < 4000000);
	}
	STEP("the firmware hears of each WRITE that landed, once");
	for (i = 0; i < 2; i++) {
		engine_stats(p->node[i].e, &st);
		landed += st.blocks_landed;
		EXPECT(st.blocks_refused > 50);
		EXPECT(st.wait_sent > 0);
	}
	EXPECT_EQ(p->node[0].landed + p->node[1].landed, landed - p->reads);
	EXPECT_EQ(p->node[0].good + p->node[1].good,
		  p->node[0].ended + p->node[1].ended);
	EXPECT(p->reads > 500);
	EXPECT_EQ(p->lost, 0);
}

static void engine_pair_add(uint64_t *sum, const uint64_t *x, unsigned int n)
{
	while (n--)
		sum[n] += x[n];
}

#define COUNT_TX(f, ev) tx[FL_TX_##f][FL_TX_EV_##ev]
#define COUNT_RX(f, ev) rx[FL_RX_##f][FL_RX_EV_##ev]

static bool engine_pair_all_rows(uint64_t (*tx)[14], uint64_t (*rx)[11])
{
	bool all = true;

#define ARC(m, from, event, to, text)	all = all && COUNT_##m(from, event) > 0;
#include "faultline/fsm.def"
	return all;
}

/* A row may be so rare that four wires never take it; then others follow. */
TEST("blocks end once and rightly over a wire that loses, doubles, reorders")
{
	static const unsigned int chaos[] = { 8, 30, 80, 200 };
	static const unsigned int haste[] = { 800, 20, 400, 40 };
	uint64_t tx[6][14] = { 0 }, rx[5][11] = { 0 };
	uint64_t good = 0, ended = 0;
	struct engine_stats st;
	unsigned int i, k;
	struct pair *p;

	for (i = 0; i < 4 || (i < 64 && !engine_pair_all_rows(tx, rx)); i++) {
		p = pair_new(chaos[i % 4], test_seed() * 64 + i);
		p->haste = haste[i % 4];
		pair_run(p, 5000);
		for (k = 0; k < 2; k++) {
			engine_stats(p->node[k].e, &st);
			engine_pair_add(tx[0], st.tx_arcs[0], 6 * 14);
			engine_pair_add(rx[0], st.rx_arcs[0], 5 * 11);
			good += p->node[k].good;
			ended += p->node[k].ended;
			EXPECT(st.stale > 0);
			EXPECT(st.duplicates > 0);
			EXPECT_EQ(st.bad_packets, 0);
			EXPECT_EQ(st.bad_registers, 0);
		}
		EXPECT(p->lost > 100 && p->doubled > 100);
	}
	STEP("%" PRIu64 " of %" PRIu64 " blocks ended well", good, ended);
	EXPECT(good > 10000);
	EXPECT(ended - good > 100);
#define ARC(m, from, event, to, text)					\
	STEP(#m " " #from " " #event ": %" PRIu64, COUNT_##m(from, event)); \
	EXPECT(COUNT_##m(from, event) > 0);
#include "faultline/fsm.def"
}

TEST("the same seed gives the same run, another seed another")
{
	struct engine_stats st[3];
	struct pair *p;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		p = pair_new(50, i < 2 ? 7 : 8);
		pair_run(p, 500);
		engine_stats(p->node[0].e, &st[i]);
	}
	EXPECT_MEM(&st[0], &st[1], sizeof(st[0]));
	EXPECT(memcmp(&st[0], &st[2], sizeof(st[0])) != 0);
}
