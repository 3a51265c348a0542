// SPDX-License-Identifier: BSD-2-Clause
#include "rig/page_lane.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "faultline/device.h"
#include "faultline/entries.h"
#include "harness.h"
#include "sim/sim.h"

struct page_stage *stage;

void stage_make(void)
{
	void *mem = stage;

	if (!mem)
		mem = mmap(NULL, sizeof(*stage), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(mem != MAP_FAILED);
	stage = mem;
	memset(stage, 0, sizeof(*stage));
}

void stage_in(unsigned int side, rpc_run fn, void *arg)
{
	stage->side = side;
	EXPECT_EQ(testbed_in(stage->p[side], fn, arg), 0);
}

/* ---- queue pairs ---- */

static int end_open(struct rpc_app *a, void *arg)
{
	struct end *e = arg;
	int err = fl_create_qp(a->pd[0], stage->cq[stage->side], DEPTH, &e->qp);

	return err ? err : fl_qp_address(e->qp, &e->at);
}

static int end_close(struct rpc_app *a, void *arg)
{
	struct end *e = arg;

	(void)a;
	return fl_destroy_qp(e->qp);
}

static int end_join(struct rpc_app *a, void *arg)
{
	struct lane *l = arg;

	(void)a;
	return fl_connect(l->end[stage->side].qp, &l->end[!stage->side].at);
}

static void lane_join(struct lane *l)
{
	unsigned int first = (unsigned int)page_draw(2);

	stage_in(first, end_join, l);
	stage_in(!first, end_join, l);
	l->number = stage->numbers++;
	l->failed = l->alone = false;
	l->flying = 0;
}

/* ---- completions ---- */

static const char *deed_name(const struct deed *d)
{
	return d->read ? "READ" : "WRITE";
}

static void deed_check(const struct slot *s, const struct fl_completion *c, bool reason)
{
	const struct deed *d = &stage->m.deed[s->deed];
	const uint8_t *bytes = stage->mem[0] + (s - stage->slot) * SLOT;
	uint32_t wrong;

	if (c->status) {
		/* A page that is missing ends a request at once. */
		reason |= c->status == FL_ST_FAULT_FAST && stage->system == FL_SYSTEM_ABORT;
		/*
		 * Of packets: who has refused a later request hears no more of an earlier
		 * one whose answer has to be sent again (InfiniBand 9.9.3).
		 */
		if (c->status == FL_ST_NO_ANSWER)
			reason |= model_pair_refusable(&stage->m, d->pair);
		test_expect(reason || model_refusable(&stage->m, d), __FILE__, __LINE__,
			    "%s %u of lane %u failed without a reason: %s", deed_name(d), s->deed,
			    d->pair, fl_status_string(c->status));
		return;
	}
	test_expect(model_allowed(&stage->m, d), __FILE__, __LINE__,
		    "%s %u of lane %u went well, and was never allowed", deed_name(d), s->deed,
		    d->pair);
	if (!d->read)
		return;
	wrong = model_wrong(&stage->m, d, d->at, d->bytes, bytes);
	test_expect(wrong == d->bytes, __FILE__, __LINE__,
		    "READ %u of lane %u brought to byte %u what cannot have been there", s->deed,
		    d->pair, d->at + wrong);
}

static void deed_take(const struct fl_completion *c)
{
	struct slot *s = &stage->slot[c->wr_id % SLOTS];
	struct lane *l = s->lane;
	bool reason;

	EXPECT(s->busy);
	EXPECT_EQ(s->deed, c->wr_id / SLOTS);
	EXPECT_EQ(l->end[0].at.qpn, c->qpn);
	EXPECT(c->status || !l->failed);
	reason = l->failed || l->alone;
	l->failed |= c->status != 0;
	l->flying--;
	stage->ok += !c->status;
	stage->failed += c->status != 0;
	model_end(&stage->m, s->deed, !c->status);
	deed_check(s, c, reason);
	/* What failed may still be on the wire, with the bytes that it has from here. */
	s->busy = c->status;
}

static int deeds_poll(struct rpc_app *a, void *arg)
{
	struct fl_completion c[4];
	int i, n;

	(void)a;
	(void)arg;
	n = stage->wait_ns ? fl_wait(stage->cq[0], c, 4, stage->wait_ns) :
			     fl_poll(stage->cq[0], c, 4);
	if (n == -ETIMEDOUT)
		n = 0;
	for (i = 0; i < n; i++)
		deed_take(&c[i]);
	return n < 0 ? n : 0;
}

void deeds_collect(uint64_t wait_ns)
{
	stage->wait_ns = wait_ns;
	stage_in(0, deeds_poll, NULL);
}

/* ---- requests ---- */

static struct slot *slot_free(void)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		if (!stage->slot[i].busy)
			return &stage->slot[i];
	return NULL;
}

/* Few places, so that they meet; or across both pages. */
static void deed_draw(struct deed *d)
{
	static const uint32_t some[] = { 8, 64, 700, HOST_PAGE };
	uint32_t room;

	/* NetVM's transport has WRITEs alone. */
	d->read = !page_draw(3) && stage->system != FL_SYSTEM_NETVM;
	d->bytes = page_draw(3) ? some[page_draw(4)] : 1 + (uint32_t)page_draw(MODEL_BYTES);
	room = MODEL_BYTES - d->bytes;
	d->at = (uint32_t)(page_draw(2) ? page_draw(4) * (HOST_PAGE / 2) : page_draw(MODEL_BYTES));
	if (d->at > room)
		d->at = room;
}

int deed_post(struct rpc_app *a, void *arg)
{
	struct lane *l = arg;
	struct slot *s = slot_free();
	struct deed d = { .pair = l->number, .key = stage->m.step[stage->m.now].key[1] };
	uint8_t *bytes;
	uint32_t i;

	(void)a;
	if (!s || l->flying == DEPTH || l->failed)
		return 0;
	deed_draw(&d);
	bytes = stage->mem[0] + (s - stage->slot) * SLOT;
	*s = (struct slot){ .busy = true, .lane = l, .deed = model_post(&stage->m, &d) };
	for (i = 0; i < d.bytes; i++)
		bytes[i] = d.read ? 0 : model_byte(s->deed, d.at + i);
	l->flying++;
	return fl_post(l->end[0].qp, &(struct fl_work){
		.wr_id = (uint64_t)s->deed * SLOTS + (uint64_t)(s - stage->slot),
		.opcode = d.read ? FL_READ : FL_WRITE,
		.local = bytes, .lkey = fl_mr_key(stage->mr[0]),
		.remote = (uintptr_t)stage->mem[1] + d.at, .rkey = d.key, .bytes = d.bytes,
	});
}

/* ---- a new connection in the old one's place ---- */

static void lane_close(struct lane *l, unsigned int side)
{
	l->alone = true;
	stage_in(side, end_close, &l->end[side]);
}

static void lane_open(struct lane *l, unsigned int side)
{
	/* Its low bits are its place. */
	uint32_t old = l->end[side].at.qpn;

	stage_in(side, end_open, &l->end[side]);
	EXPECT(l->end[side].at.qpn != old);
	stage->again += l->end[side].at.qpn % DEV_QPS == old % DEV_QPS;
}

/* Neither end is there: what had failed, or had not ended, never comes. */
static void lane_settle(struct lane *l)
{
	unsigned int i;

	model_settle(&stage->m, l->number);
	for (i = 0; i < SLOTS; i++)
		if (stage->slot[i].busy && stage->slot[i].lane == l)
			stage->slot[i].busy = false;
}

void lane_pause(void)
{
	if (page_draw(2))
		sim_sleep(1 + page_draw(page_draw(3) ? 5000 : 200000));
	if (page_draw(2))
		deeds_collect(0);
}

void lane_renew(struct lane *l)
{
	unsigned int first = (unsigned int)page_draw(2);
	bool early = page_draw(2);

	lane_close(l, first);
	/* Its place is another's before the rest of the old connection knows. */
	if (early && first)
		lane_open(l, first);
	lane_pause();
	lane_close(l, !first);
	lane_settle(l);
	lane_open(l, !first);
	if (!(early && first))
		lane_open(l, first);
	lane_join(l);
	stage->renewed++;
}

void lane_start(struct lane *l)
{
	unsigned int side;

	for (side = 0; side < 2; side++)
		stage_in(side, end_open, &l->end[side]);
	lane_join(l);
}
