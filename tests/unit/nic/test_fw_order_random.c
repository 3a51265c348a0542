// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order under random traffic, judged by an oracle that knows nothing of the
 * firmware: a list of requests in posting order.
 *
 * Responder: a sender's blocks arrive in any order, are put off, come again,
 * with hostile blocks of other queue pairs between them. Requester: a peer that
 * answers in every way, while requests fail and queue pairs go.
 */
#include "rig/fw_order.h"

#define REQUESTS	40
#define BLOCKS_MAX	4
#define IN_FLIGHT	12
#define RXCS		32
#define SENDER_CTXS	14

/* ---- the responder ---- */

enum part_is { PART_NONE, PART_COMING, PART_AT, PART_ACCEPTED, PART_LANDED };

struct part {
	enum part_is is;
	uint32_t rxc, attempt, word, behind, verdicts;
};

struct sender {
	struct rig *r;
	struct rig_slot w;
	uint64_t seed;
	uint32_t op[REQUESTS], blocks[REQUESTS], head;
	uint32_t issue;			/* parts given to contexts so far */
	uint32_t gen[SENDER_CTXS];
	uint32_t busy_ctx, busy_rxc;	/* masks */
	struct part part[REQUESTS][BLOCKS_MAX];
};

static uint32_t order_random_roll(struct sender *s, uint32_t n)
{
	return rig_random(&s->seed) % n;
}

static bool order_random_over(const struct sender *s, uint32_t q)
{
	uint32_t b;

	for (b = 0; b < s->blocks[q]; b++)
		if (s->part[q][b].is != PART_LANDED)
			return false;
	return true;
}

/* THE promise: nothing is carried out before all that was posted before. */
static void expect_turn(const struct sender *s, uint32_t q)
{
	uint32_t i;

	for (i = 0; i < q; i++)
		EXPECT(order_random_over(s, i));
}

static uint32_t free_rxc(struct sender *s)
{
	uint32_t n = order_random_roll(s, RXCS), i;

	for (i = 0; i < RXCS; i++, n = (n + 1) % RXCS)
		if (!(s->busy_rxc >> n & 1))
			return n;
	return RXCS;
}

static void new_requests(struct sender *s)
{
	uint32_t i;

	memset(s->part, 0, sizeof(s->part));
	s->head = s->issue = s->busy_ctx = s->busy_rxc = 0;
	/* Another queue pair for the sender's, which counts from the start again. */
	EXPECT_EQ(CMD(s->r, QP_DESTROY, .slot = 1, .object = s->w.qp), FL_ST_OK);
	s->w.qp = rig_qp(s->r, &s->w, s->w.sq_pa, 64);
	for (i = 0; i < REQUESTS; i++) {
		s->op[i] = order_random_roll(s, 3) ? WOP_WRITE : WOP_READ_REQ;
		s->blocks[i] = 1 + order_random_roll(s, BLOCKS_MAX);
	}
}

/* A context of the sender begins a block, or begins it anew. */
static void order_random_begin(struct sender *s, uint32_t q, struct part *p,
			       uint32_t ctx)
{
	s->gen[ctx] = (s->gen[ctx] + 1) & 0xFFFF;
	p->word = ctx << 24 | s->gen[ctx] << 8;
	p->behind = q - s->head;
	p->attempt = 0;
	p->is = PART_COMING;
}

static void order_random_landed(struct sender *s, struct part *p)
{
	p->is = PART_LANDED;
	s->busy_ctx &= ~(1u << (p->word >> 24));
	s->busy_rxc &= ~(1u << p->rxc);
}

/* Is this context of the firmware's sending what that block asked for? */
static bool order_random_answers(const struct sender *s, uint32_t q, uint32_t b, uint32_t ctx)
{
	const struct part *p = &s->part[q][b];

	return s->op[q] == WOP_READ_REQ && p->is != PART_NONE &&
	       p->is != PART_LANDED && p->word == s->r->ctx[ctx].ref >> 8 << 8;
}

/* What has been judged since: verdicts on blocks, READs that began. */
static void order_random_look(struct sender *s)
{
	struct rig *r = s->r;
	uint32_t q, b, i;

	for (q = s->head; q < REQUESTS; q++)
		for (b = 0; b < s->blocks[q]; b++) {
			struct part *p = &s->part[q][b];
			uint32_t code;

			if (p->is != PART_AT ||
			    r->rxc[p->rxc].verdicts == p->verdicts)
				continue;
			code = r->rxc[p->rxc].verdict & 0xFF;
			if (code == FL_ST_OK && s->op[q] == WOP_WRITE) {
				expect_turn(s, q);
				p->is = PART_ACCEPTED;
				continue;
			}
			s->busy_rxc &= ~(1u << p->rxc);
			p->is = PART_COMING;
			p->attempt++;
			if (code == FL_ST_WAIT && s->op[q] == WOP_WRITE &&
			    q == s->head)
				order_random_begin(s, q, p, p->word >> 24);
			EXPECT(code == FL_ST_OK || code == FL_ST_WAIT ||
			       code == FL_ST_BUSY);
		}
	for (i = 0; i < r->contexts; i++) {
		if (r->ctx[i].state == FL_TX_FREE)
			continue;
		for (q = 0; q < REQUESTS; q++)
			for (b = 0; b < s->blocks[q]; b++)
				if (order_random_answers(s, q, b, i))
					expect_turn(s, q);
	}
	while (s->head < REQUESTS && order_random_over(s, s->head))
		s->head++;
}

static bool behind_read(const struct sender *s, uint32_t q)
{
	uint32_t i;

	for (i = s->head; s->op[q] == WOP_WRITE && i < q; i++)
		if (s->op[i] == WOP_READ_REQ)
			return true;
	return false;
}

/* Blocks get contexts in posting order. */
static void order_random_issue(struct sender *s)
{
	uint32_t q = 0, b, n = s->issue, c;

	while (q < REQUESTS && n >= s->blocks[q])
		n -= s->blocks[q++];
	b = n;
	if (q >= REQUESTS || q >= s->head + IN_FLIGHT || behind_read(s, q))
		return;
	for (c = 0; c < SENDER_CTXS && s->busy_ctx >> c & 1; c++)
		;
	if (c == SENDER_CTXS)
		return;
	s->busy_ctx |= 1u << c;
	s->issue++;
	order_random_begin(s, q, &s->part[q][b], c);
}

/* Some block of the window goes out, or comes again. */
static void order_random_send(struct sender *s)
{
	uint32_t q = s->head +
		order_random_roll(s, IN_FLIGHT), b, n = free_rxc(s);
	struct rig_rxc x;
	struct part *p;

	order_random_issue(s);
	if (q >= REQUESTS || n == RXCS)
		return;
	b = order_random_roll(s, s->blocks[q]);
	p = &s->part[q][b];
	if (p->is != PART_COMING)
		return;
	/* A READ that is now the oldest says so, sooner or later. */
	if (s->op[q] == WOP_READ_REQ && q == s->head && p->behind &&
	    !order_random_roll(s, 4))
		order_random_begin(s, q, p, p->word >> 24);
	x = order_block(&s->w, s->op[q], (struct order_part){
		.number = (0xFFFFF0 + q) & 0xFFFFFF, .behind = p->behind,
		.block = b + 1, .of = s->blocks[q] });
	x.word = p->word | (p->attempt & 0xFF);
	p->rxc = n;
	p->verdicts = s->r->rxc[n].verdicts;
	p->is = PART_AT;
	s->busy_rxc |= 1u << n;
	rig_offer(s->r, n, &x);
}

/* Something that was accepted lands, or a READ's answer arrives. */
static void order_random_land(struct sender *s)
{
	uint32_t q = s->head + order_random_roll(s, IN_FLIGHT), b, i;
	struct rig *r = s->r;

	if (q >= REQUESTS)
		return;
	b = order_random_roll(s, s->blocks[q]);
	if (s->op[q] == WOP_WRITE && s->part[q][b].is == PART_ACCEPTED) {
		order_random_landed(s, &s->part[q][b]);
		order_land(r, s->part[q][b].rxc);
		return;
	}
	i = order_random_roll(s, r->contexts);
	if (r->ctx[i].state != FL_TX_READY)
		return;
	for (q = s->head; q < REQUESTS; q++)
		for (b = 0; b < s->blocks[q]; b++)
			if (order_random_answers(s, q, b, i)) {
				order_random_landed(s, &s->part[q][b]);
				/* The answer's own end may be lost for good. */
				rig_end(r, i,
					order_random_roll(s, 4) ? FL_ST_OK :
					FL_ST_NO_ANSWER);
				rig_run(r);
				return;
			}
	rig_end(r, i, FL_ST_STALE);
	rig_run(r);
}

/* Any words at all, from whoever is connected to another queue pair. */
static void order_random_hostile(struct sender *s,
				 const struct rig_slot *other)
{
	struct rig_rxc x = order_block(other,
				       WOP_WRITE + order_random_roll(s, 2),
				       (struct order_part){ .number = 0 });
	uint32_t n = free_rxc(s);

	if (n == RXCS)
		return;
	x.ref = order_random_roll(s, 2) ? rig_random(&s->seed) :
		order_random_roll(s, 4) << 8;
	if (order_random_roll(s, 2))
		x.from = rig_random(&s->seed);
	if (!order_random_roll(s, 8))
		x.src = RIG_NODE | s->w.qp << 8 | order_random_roll(s, 2) << 24;
	/* Its node is another one, or it would be our sender's context. */
	x.from ^= x.src >> 8 == s->w.qp;
	x.word = order_random_roll(s, 16) << 24 | order_random_roll(s, 65536) <<
		8 | order_random_roll(s, 2);
	x.src = (x.src & ~0xFFu) | (x.src >> 8 == other->qp ? 5 : RIG_NODE);
	rig_offer(s->r, n, &x);
}

TEST("no block is carried out before all earlier requests, whatever others send")
{
	struct rig *r = rig_create(8);
	struct sender s = { .r = r, .seed = test_seed() + 31 };
	struct rig_slot other;
	uint32_t round, i;

	rig_slot(r, &s.w, 1);
	rig_slot(r, &other, 2);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 2, .a = 0x20000, .b = 2,
		      .c = other.cq, .d = other.pd), FL_ST_OK);
	other.qp = (uint32_t)r->result;
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 2, .object = other.qp, .a = 5,
		      .b = RIG_PEER_QP), FL_ST_OK);
	for (round = 0; round < 60; round++) {
		STEP("round %u", round);
		new_requests(&s);
		for (i = 0; s.head < REQUESTS && i < 200000; i++) {
			uint32_t what = order_random_roll(&s, 16);

			if (what < 7)
				order_random_send(&s);
			else if (what < 13)
				order_random_land(&s);
			else if (what < 14)
				order_random_hostile(&s, &other);
			else
				r->now += order_random_roll(&s, 100);
			rig_run(r);
			order_random_look(&s);
		}
		EXPECT_EQ(s.head, REQUESTS);
	}
}
