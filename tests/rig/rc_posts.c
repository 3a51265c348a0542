// SPDX-License-Identifier: BSD-2-Clause
#include "rig/rc_posts.h"

struct rc_bed bed;

static unsigned int node_of(const struct rig *g)
{
	return g == &bed.side[1].g;
}

/* ---- pages ---- */

static void page_back(unsigned int node, unsigned int page,
		      const struct rc_miss *m)
{
	struct returning *r = &bed.returning[bed.returns++];

	EXPECT(bed.returns < RETURNS);
	*r = (struct returning){ .at = wire.now + 1000 + draw_below(60000), .node = node,
				 .page = page };
	if (!m)
		return;
	r->resume = true;
	r->qp = m->qp;
	r->side = m->side;
	r->write = m->write;
}

struct rc_judged page_judge(struct rig *g, const struct rc_miss *m)
{
	static const uint8_t own[] = { RC_PARK, RC_PARK, RC_SLEEP };
	static const uint8_t into[] = { RC_REWIND, RC_REWIND, RC_DROP, RC_SLEEP };
	static const uint8_t peer[] = { RC_RNR, RC_RNR, RC_RNR, RC_DROP, RC_SLEEP };
	struct rc_judged j = { .rnr_code = (uint8_t)(1 + draw_below(4)) };
	unsigned int page = (unsigned int)((m->va - RIG_BASE) / 4096);

	EXPECT(!g->io.present[page]);
	EXPECT(m->len && m->len <= bed.mtu);
	EXPECT_EQ(m->side == RC_REQUESTER, !!m->work);
	if (m->side == RC_RESPONDER)
		j.verdict = bed.verdicts ? peer[draw_below(sizeof(peer))] : RC_RNR;
	else if (m->write)
		j.verdict = bed.verdicts ? into[draw_below(sizeof(into))] : RC_REWIND;
	else
		j.verdict = bed.verdicts ? own[draw_below(sizeof(own))] : RC_PARK;
	page_back(node_of(g), page, m);
	return j;
}

void page_away(void)
{
	unsigned int node = draw_below(2), page = draw_below(RIG_PAGES);

	if (bed.side[node].g.io.present[page] && bed.returns + 80 < RETURNS) {
		bed.side[node].g.io.present[page] = false;
		page_back(node, page, NULL);
	}
}

/* ---- what completes ---- */

static unsigned int pair_of(uint16_t qp)
{
	return qp - RIG_QP;
}

void work_over(struct rig *g, const struct rig_done *d)
{
	struct side *s = &bed.side[node_of(g)];
	unsigned int k = pair_of(d->qp);
	struct posted *p = &s->posted[k][d->wr % OUTSTANDING];

	if (d->status)
		STEP("node %u pair %u request %u: status %u", node_of(g), k, d->wr, d->status);
	EXPECT(!bed.ended[k]);
	EXPECT_EQ(d->status, FL_ST_OK);
	EXPECT_EQ(d->wr, s->oldest[k]);		/* in posting order, once */
	s->oldest[k]++;
	EXPECT_MEM(g->io.mem + p->into, p->want, p->bytes);
	p->over = true;
}

bool recv_give(struct rig *g, uint16_t qp, struct fw_recv *r)
{
	struct side *s = &bed.side[node_of(g)];
	unsigned int k = pair_of(qp), n = s->taken[k];
	uint64_t page = RIG_BASE + (RECEIVE(k) + n % 4) * 4096ull;

	if (n == s->offered[k])
		return false;
	s->taken[k]++;
	*r = (struct fw_recv){
		.wr_id = n, .index = (uint16_t)n, .length = 4096, .segments = 3,
		.segment = { { page, 1000, 0x102 }, { page + 1000, 7, 0x102 },
			     { page + 1007, 4096 - 1007, 0x102 } },
	};
	return true;
}

void recv_check(struct rig *g, uint16_t qp, const struct rig_recv_done *d)
{
	struct side *s = &bed.side[node_of(g)], *from = &bed.side[!node_of(g)];
	unsigned int k = pair_of(qp), n = s->arrived[k]++;
	struct sent *want = &from->sent[k][n % OUTSTANDING];
	uint32_t at = (RECEIVE(k) + n % 4) * 4096;

	EXPECT(n < from->sends[k]);
	EXPECT_EQ(d->recv.index, (uint16_t)n);
	EXPECT_EQ(d->arrival.status, FL_ST_OK);
	EXPECT_EQ(d->arrival.length, want->bytes);
	EXPECT_EQ(d->arrival.opcode, want->write ? FL_OP_RECV_WRITE_IMM :
		  want->has_imm ? FL_OP_RECV_IMM : FL_OP_RECV);
	if (want->has_imm)
		EXPECT_EQ(d->arrival.imm, want->imm);
	if (!want->write)
		memcpy(s->model + at, want->data, want->bytes);
	EXPECT_MEM(g->io.mem + at, s->model + at, 4096);
}

/* ---- what is posted ---- */

/* Up to three segments that hold `bytes`, from `at` on, one behind the other with gaps. */
static void work_scatter(struct fw_work *f, uint32_t at, uint32_t bytes,
			 uint8_t *gather, const uint8_t *mem, uint32_t key)
{
	uint32_t part, got = 0;
	unsigned int i;

	f->segments = (uint8_t)(1 + draw_below(3));
	for (i = 0; i < f->segments; i++) {
		part = i + 1 == f->segments ? bytes - got : draw_below(bytes - got + 1);
		f->segment[i] = (struct fw_segment){ RIG_BASE + at, part, key };
		if (gather)
			memcpy(gather + got, mem + at, part);
		got += part;
		at += part + draw_below(9);
	}
}

static void post_read(struct side *s, struct side *peer, unsigned int k,
		      struct posted *p, uint32_t place)
{
	uint32_t into = INTO(k) * 4096 + place * 4096, bytes = draw_below(bed.most + 1);
	uint32_t remote = TARGET(k) * 4096 + draw_below(12 * 4096 - bytes - CELLS);

	p->work.opcode = FL_OP_READ;
	p->work.remote_va = RIG_BASE + remote;
	p->work.length = bytes;
	p->work.segments = 2;
	p->work.segment[0] = (struct fw_segment){ RIG_BASE + into, draw_below(bytes + 1), 0x101 };
	p->work.segment[1] = (struct fw_segment){
		RIG_BASE + into + p->work.segment[0].bytes,
		bytes - p->work.segment[0].bytes, 0x102,
	};
	p->remote = remote;
	p->remote_bytes = bytes;
	memcpy(s->model + into, peer->model + remote, bytes);
	p->into = into;
	p->bytes = bytes;
	memcpy(p->want, s->model + into, bytes);
}

static void post_atomic(struct side *s, struct side *peer, unsigned int k,
			struct posted *p, uint32_t place)
{
	bool shared = draw_below(3) == 0, compare = !shared && draw_below(2);
	uint32_t cell = shared ? TARGET(1) * 4096 - CELLS :
			TARGET(k) * 4096 + 12 * 4096 - CELLS + 8 + 8 * draw_below(6);
	uint32_t into = INTO(k) * 4096 + place * 4096 + 4080;
	uint64_t now, next;

	memcpy(&now, peer->model + cell, 8);
	p->work.opcode = compare ? FL_OP_CMP_SWAP : FL_OP_FETCH_ADD;
	p->work.remote_va = RIG_BASE + cell;
	p->work.length = 8;
	p->work.compare = draw_below(2) ? now : now + 1;
	p->work.swap = draw_below(1000000);
	next = !compare ? now + p->work.swap : p->work.compare == now ? p->work.swap : now;
	memcpy(peer->model + cell, &next, 8);
	p->work.segments = 1;
	p->work.segment[0] = (struct fw_segment){ RIG_BASE + into, 8, 0x101 };
	p->into = into;
	if (shared) {		/* both pairs add to it, in any order */
		s->added += p->work.swap;
		memcpy(s->model + into, s->g.io.mem + into, 8);
		return;
	}
	memcpy(s->model + into, &now, 8);
	p->bytes = 8;
	memcpy(p->want, &now, 8);
}

/* The peer's memory must not change under a READ that may have to be read again. */
static bool post_needs_fence(struct side *s, unsigned int k, uint32_t at,
			     uint32_t bytes)
{
	uint32_t n;

	for (n = s->oldest[k]; n != s->next[k]; n++) {
		struct posted *p = &s->posted[k][n % OUTSTANDING];

		if (p->work.opcode == FL_OP_READ && at < p->remote + p->remote_bytes &&
		    p->remote < at + bytes)
			return true;
	}
	return false;
}

static void post_write(struct side *s, struct side *peer, unsigned int k,
		       struct posted *p)
{
	uint32_t bytes = draw_below(8) ? draw_below(bed.most + 1) : 0, i;
	uint32_t at = TARGET(k) * 4096 + draw_below(12 * 4096 - bytes - CELLS);
	uint8_t data[8192];

	p->work.opcode = FL_OP_WRITE;
	p->work.remote_va = RIG_BASE + at;
	p->work.length = bytes;
	if (bytes <= FW_INLINE_MAX && draw_below(2)) {
		p->work.flags |= FL_WQE_INLINE;
		for (i = 0; i < bytes; i++)
			p->work.data[i] = data[i] = (uint8_t)rng_next(&wire.rng);
	} else {
		work_scatter(&p->work, SOURCE(k) * 4096 + draw_below(4 * 4096), bytes, data,
			     s->g.io.mem, 0x103);
	}
	if (post_needs_fence(s, k, at, bytes) || !draw_below(8))
		p->work.flags |= FL_WQE_FENCE;
	memcpy(peer->model + at, data, bytes);
	if (draw_below(4) || s->sends[k] - peer->arrived[k] >= OUTSTANDING - 1)
		return;
	p->work.flags |= FL_WQE_IMM;
	p->work.imm = (uint32_t)rng_next(&wire.rng);
	s->sent[k][s->sends[k]++ % OUTSTANDING] = (struct sent){
		.bytes = bytes, .imm = p->work.imm, .has_imm = true, .write = true,
	};
}

static void post_send(struct side *s, unsigned int k, struct posted *p)
{
	uint32_t bytes = draw_below(bed.most < 4096 ? bed.most + 1 : 4097);
	struct sent *x = &s->sent[k][s->sends[k]++ % OUTSTANDING];

	*x = (struct sent){ .bytes = bytes, .has_imm = draw_below(2),
			    .imm = (uint32_t)rng_next(&wire.rng) };
	p->work.opcode = FL_OP_SEND;
	p->work.length = bytes;
	p->work.imm = x->imm;
	p->work.flags |= x->has_imm ? FL_WQE_IMM : 0;
	work_scatter(&p->work, SOURCE(k) * 4096 + draw_below(4 * 4096), bytes, x->data, s->g.io.mem,
		     0x103);
}

void post_one(void)
{
	unsigned int node = draw_below(2), k = draw_below(PAIRS);
	struct side *s = &bed.side[node], *peer = &bed.side[!node];
	uint32_t n = s->next[k];
	struct posted *p = &s->posted[k][n % OUTSTANDING];

	if (n - s->oldest[k] == OUTSTANDING || bed.ended[k])
		return;
	memset(p, 0, sizeof(*p));
	p->work.flags = FL_WQE_SIGNALED;
	p->work.rkey = 0x100;
	switch (draw_below(6)) {
	case 0:
		if (s->sends[k] - peer->arrived[k] < OUTSTANDING - 1) {
			post_send(s, k, p);
			break;
		}
		/* fallthrough */
	case 1:
		post_read(s, peer, k, p, n % OUTSTANDING);
		break;
	case 2:
		post_atomic(s, peer, k, p, n % OUTSTANDING);
		break;
	default:
		post_write(s, peer, k, p);
		break;
	}
	s->next[k]++;
	bed.to_post--;
	s->g.io.t.post(s->g.io.t.ctx, (uint16_t)(RIG_QP + k), n, &p->work);
}
