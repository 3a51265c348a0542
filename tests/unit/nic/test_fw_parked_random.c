// SPDX-License-Identifier: BSD-2-Clause
/*
 * The requester's side of the order under a peer that answers in every way, while
 * requests fail and queue pairs go. The oracle is a list of the requests that
 * were posted: what each block must say of itself, what must have ended before
 * it, and that each request completes once, in order, well only when all of it
 * arrived.
 */
#include "nic/fw_internal.h"
#include "rig/fw_order.h"

#define QPS		3
#define POSTED_MAX	64

struct posted {
	uint32_t op, flags, blocks, xfer;
	uint32_t sent;		/* blocks that were seen at a context */
	uint32_t good;		/* blocks that ended well */
};

struct pair {
	struct rig_slot w;	/* its own completion queue */
	bool relaxed, dead;
	uint32_t count, done;	/* posted, completed */
	struct posted q[POSTED_MAX];
};

struct play {
	struct rig *r;
	uint64_t seed;
	uint32_t xfer;
	uint32_t completed, failed, again;
	struct pair pair[QPS];
};

static uint32_t parked_random_roll(struct play *p, uint32_t n)
{
	return rig_random(&p->seed) % n;
}

static struct posted *posted_find(struct play *p, uint32_t xfer,
				  struct pair **pair, uint32_t *index)
{
	uint32_t i, k;

	for (i = 0; i < QPS; i++)
		for (k = 0; k < p->pair[i].count; k++)
			if (p->pair[i].q[k].xfer == xfer) {
				*pair = &p->pair[i];
				*index = k;
				return &p->pair[i].q[k];
			}
	EXPECT(!"a block of a request that nobody posted");
	return NULL;
}

/* Had it ended when the block went out? All of it was seen to arrive. */
static bool parked_random_ended(const struct posted *q)
{
	return q->good == q->blocks;
}

/* A context was started: may it be, and does it tell the truth? */
static void judge_go(void *arg, uint32_t n)
{
	struct play *p = arg;
	const struct rig_ctx *c = &p->r->ctx[n];
	struct posted *q;
	struct pair *pair;
	uint32_t i, k, oldest;

	q = posted_find(p, c->xfer, &pair, &k);
	EXPECT_EQ(c->op, q->op);
	EXPECT_EQ(c->ref >> 8, k);
	oldest = k - (c->ref & 0xFF);
	EXPECT_LE(pair->done, oldest);
	for (i = 0; i < oldest; i++)
		EXPECT(parked_random_ended(&pair->q[i]));
	EXPECT_EQ(c->src, pair->w.qp | (pair->relaxed ? NIC_CTX_SRC_RELAXED : 0));
	if (q->sent >= q->blocks)
		p->again++;
	if (c->block <= q->sent)
		return;		/* it has been judged, and comes anew */
	EXPECT_EQ(c->block, q->sent + 1);
	q->sent++;
	for (i = 0; i < k; i++)
		if (q->flags & FL_WQE_FENCE ||
		    (!pair->relaxed && q->op == FL_OP_WRITE &&
		     pair->q[i].op == FL_OP_READ))
			EXPECT(parked_random_ended(&pair->q[i]));
}

static void take_completions(struct play *p, struct pair *pair)
{
	struct fl_cqe e;

	while (rig_poll(p->r, &pair->w, &e)) {
		struct posted *q = &pair->q[pair->done];

		EXPECT_LE(pair->done + 1, pair->count);
		EXPECT_EQ(e.xfer, q->xfer);
		EXPECT_EQ(!e.status, parked_random_ended(q) && !pair->dead);
		pair->dead |= e.status != 0;
		p->failed += e.status != 0;
		p->completed++;
		pair->done++;
	}
}

/* Let the firmware work, and judge what it did. */
static void parked_random_run(struct play *p)
{
	uint32_t i;

	rig_run(p->r);
	for (i = 0; i < QPS; i++)
		take_completions(p, &p->pair[i]);
}

static void pair_make(struct play *p, struct pair *pair)
{
	struct rig *r = p->r;
	uint32_t qp = pair->w.qp;

	/* The number is given out again when all others were. */
	do {
		EXPECT_EQ(CMD(r, QP_CREATE, .slot = pair->w.slot,
			      .a = pair->w.sq_pa, .b = pair->w.sq_size,
			      .c = pair->w.cq, .d = pair->w.pd,
			      .flags = pair->relaxed), FL_ST_OK);
		pair->w.qp = (uint32_t)r->result;
		if ((pair->w.qp ^ qp) & 0xFF)
			EXPECT_EQ(CMD(r, QP_DESTROY, .slot = pair->w.slot,
				      .object = pair->w.qp), FL_ST_OK);
	} while ((pair->w.qp ^ qp) & 0xFF);
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = pair->w.slot,
		      .object = pair->w.qp, .a = RIG_NODE, .b = RIG_PEER_QP), FL_ST_OK);
	pair->count = pair->done = 0;
	pair->w.tail = 0;
	pair->dead = false;
}

static void parked_random_post(struct play *p, struct pair *pair)
{
	struct posted *q = &pair->q[pair->count];
	struct fl_wqe e;

	if (pair->count == POSTED_MAX || pair->count - pair->done == 48)
		return;
	*q = (struct posted){
		.op = parked_random_roll(p, 3) ? FL_OP_WRITE : FL_OP_READ,
		.flags = parked_random_roll(p, 8) ? 0 : FL_WQE_FENCE,
		.blocks = 1 + parked_random_roll(p, 3), .xfer = ++p->xfer,
	};
	pair->count++;
	e = rig_wqe(&pair->w,
		    q->blocks * RIG_BLOCK - parked_random_roll(p, RIG_BLOCK));
	e.opcode = (uint8_t)q->op;
	e.flags |= (uint8_t)q->flags;
	e.xfer = q->xfer;
	rig_put(p->r, &pair->w, &e);
	EXPECT_EQ(rig_ring(p->r, &pair->w), 0);
}

/* The block has ended well at the peer. */
static void parked_random_good(struct play *p, uint32_t n)
{
	struct posted *q;
	struct pair *pair;
	uint32_t k;

	q = posted_find(p, p->r->ctx[n].xfer, &pair, &k);
	q->good++;
	rig_end(p->r, n, FL_ST_OK);
}

static void put_off(struct play *p, uint32_t n)
{
	struct rig_ctx *c = &p->r->ctx[n];

	c->status = parked_random_roll(p, 2) ? FL_ST_WAIT : FL_ST_BUSY;
	if (c->op != FL_OP_READ)
		c->state = FL_TX_DSTFAULT;
	rig_note_ctx(p->r, FL_NOTE_TX_REFUSED, n);
}

/* Something happens to a context. */
static void parked_random_answer(struct play *p, uint32_t n)
{
	struct rig *r = p->r;
	struct rig_ctx *c = &r->ctx[n];
	uint32_t what = parked_random_roll(p, 256);

	switch (c->state) {
	case FL_TX_READY:
		if (what < 16)
			rig_fault(r, n);
		else
			rig_fly(r, n);
		return;
	case FL_TX_SRCFAULT:
		c->state = FL_TX_READY;
		return;
	case FL_TX_FLYING:
		if (what < 90)
			parked_random_good(p, n);
		else if (what < 180)
			put_off(p, n);
		else if (what < 200)
			rig_note_ctx(r, FL_NOTE_TX_WAITING, n);
		else if (what < 201)
			rig_end(r, n, FL_ST_REMOTE_FAULT);
		return;
	case FL_TX_DSTFAULT:
		if (what > 64)
			return;
		c->state = FL_TX_READY;
		c->attempt++;
		return;
	}
}

static void parked_random_act(struct play *p)
{
	struct pair *pair = &p->pair[parked_random_roll(p, QPS)];
	uint32_t what = parked_random_roll(p, 400), i;

	if (what < 60) {
		parked_random_post(p, pair);
	} else if (what < 360) {
		/* Several things may be on their way to the firmware. */
		for (i = 0; i <= what % 3; i++)
			parked_random_answer(p,
					     parked_random_roll(p,
								p->r->contexts));
	} else if (what < 399) {
		p->r->now += parked_random_roll(p,
						what % 4 ? 150 : RIG_TIMEOUT);
	} else if (!parked_random_roll(p, 4)) {
		pair->dead = true;
		EXPECT_EQ(CMD(p->r, QP_DESTROY, .slot = pair->w.slot,
			      .object = pair->w.qp), FL_ST_OK);
		take_completions(p, pair);
		EXPECT_EQ(pair->done, pair->count);
		pair_make(p, pair);
	}
	parked_random_run(p);
}

/* Whatever it was, it comes to its end when the peer answers. */
static void parked_random_settle(struct play *p)
{
	struct rig *r = p->r;
	uint32_t i, k;

	for (i = 0; i < 5000 && !fw_idle(r->fw); i++) {
		for (k = 0; k < r->contexts; k++) {
			if (r->ctx[k].state == FL_TX_FLYING)
				parked_random_good(p, k);
			else if (r->ctx[k].state == FL_TX_READY)
				rig_fly(r, k);
			else if (r->ctx[k].state == FL_TX_SRCFAULT)
				r->ctx[k].state = FL_TX_READY;
		}
		parked_random_run(p);
		/* Only what waits for its time is left: it comes. */
		if (!rig_busy(r))
			continue;
		for (k = 0; k < r->contexts; k++)
			if (r->ctx[k].state != FL_TX_FREE &&
			    r->ctx[k].state != FL_TX_DSTFAULT)
				break;
		if (k == r->contexts) {
			EXPECT_NE(r->alarm, FW_NEVER);
			if (r->alarm > r->now)
				r->now = r->alarm;
			parked_random_run(p);
		}
	}
	EXPECT(fw_idle(r->fw));
	for (i = 0; i < QPS; i++) {
		EXPECT_EQ(p->pair[i].done, p->pair[i].count);
		if (p->pair[i].dead || p->pair[i].count == POSTED_MAX) {
			EXPECT_EQ(CMD(r, QP_DESTROY, .slot = p->pair[i].w.slot,
				      .object = p->pair[i].w.qp), FL_ST_OK);
			pair_make(p, &p->pair[i]);
		}
	}
}

TEST("requests keep their order and complete once, whatever the peer answers")
{
	struct rig *r = rig_create(8);
	struct play p = { .r = r, .seed = test_seed() + 4711 };
	uint32_t i, k;

	r->cfg.refusals = 1000;
	rig_restart(r);
	r->on_go = judge_go;
	r->on_go_arg = &p;
	for (i = 0; i < QPS; i++) {
		rig_slot(r, &p.pair[i].w, i);
		EXPECT_EQ(CMD(r, QP_DESTROY, .slot = i,
			      .object = p.pair[i].w.qp), FL_ST_OK);
		p.pair[i].relaxed = i == 2;
		pair_make(&p, &p.pair[i]);
	}
	for (i = 0; i < 60; i++) {
		STEP("round %u", i);
		for (k = 0; k < 600; k++)
			parked_random_act(&p);
		parked_random_settle(&p);
	}
	EXPECT_GE(p.completed, 2000);
	EXPECT_GE(p.failed, 20);
	EXPECT_GE(p.again, 100);
}
