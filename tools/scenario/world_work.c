// SPDX-License-Identifier: BSD-2-Clause
/* Connections, work requests and their completions, with the ledger of both. */
#include "tools/scenario/world_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Every post gets a number of its own, the wr_id. */
int world_work_number(struct world *w, struct world_work *work)
{
	uint64_t room = w->work_room ? 2 * w->work_room : 64;
	struct world_work **more;

	if (w->works == w->work_room) {
		more = realloc(w->work, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->work = more;
		w->work_room = room;
	}
	w->work[w->works++] = work;
	return 0;
}

struct world_work *world_work_at(struct world *w, uint64_t number)
{
	return number && number <= w->works ? w->work[number - 1] : NULL;
}

/* ---- connections ---- */

static int make_pair(struct world_connection *c, int side, unsigned int depth,
		     unsigned int pd, struct fl_address *address)
{
	struct order o = { .kind = ORDER_PAIR, .id = c->number[side],
			   .domain = pd, .depth = depth,
			   .what = c->relaxed };
	struct order_answer r;
	int err = world_order(c->process[side], &o, &r, NULL);

	*address = r.address;
	c->qpn[side] = r.address.qpn;
	return err;
}

static int join(struct world_connection *c, int side,
		const struct fl_address *peer)
{
	struct order o = { .kind = ORDER_CONNECT, .id = c->number[side],
			   .address = *peer };
	struct order_answer r;

	return world_order(c->process[side], &o, &r, NULL);
}

int world_connect(struct world_process *p, struct world_process *q,
		  const char *name, unsigned int depth, unsigned int pd,
		  bool relaxed, struct world_connection **out)
{
	struct world *w = p->world;
	struct world_connection *c = &w->conn[w->conns];
	struct fl_address address[2];
	int err;

	if (w->conns == WORLD_CONNS)
		return -ENOSPC;
	if (!p->open || !q->open || pd >= ORDER_DOMAINS)
		return pd >= ORDER_DOMAINS ? -EINVAL : -ENODEV;
	memset(c, 0, sizeof(*c));
	c->name = name;
	c->relaxed = relaxed;
	c->process[0] = p;
	c->process[1] = q;
	c->pair[0] = oracle_pair(w->oracle, name, relaxed);
	c->pair[1] = oracle_pair(w->oracle, name, relaxed);
	c->number[0] = 2 * w->conns;
	c->number[1] = 2 * w->conns + 1;
	err = make_pair(c, 0, depth, pd, &address[0]);
	if (!err)
		err = make_pair(c, 1, depth, pd, &address[1]);
	if (!err)
		err = join(c, 0, &address[1]);
	if (!err)
		err = join(c, 1, &address[0]);
	if (err)
		return err;
	w->conns++;
	*out = c;
	return 0;
}

/* ---- posting ---- */

static int post(struct world_process *p, struct world_work *k, uint64_t number)
{
	struct order o = {
		.kind = ORDER_POST,
		.id = k->conn->number[k->side],
		.work = {
			.wr_id = number,
			.opcode = k->opcode,
			.local = (void *)(uintptr_t)k->local_va,
			.lkey = k->lkey,
			.remote = k->remote_va,
			.rkey = k->rkey,
			.bytes = k->bytes,
			.fence = k->fence,
		},
	};
	struct order_answer r;
	int err = world_order(p, &o, &r, NULL);

	k->post_ns = r.now_ns;
	return err;
}

/* Both ends present, as far as the addresses lie in the buffers at all. */
static int prefault(struct world_work *k)
{
	struct world_buffer *b[2] = { k->local, k->remote };
	uint64_t va[2] = { k->local_va, k->remote_va }, start;
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		start = (uint64_t)(uintptr_t)b[i]->mem;
		if (!b[i]->registered || va[i] < start ||
		    va[i] - start + k->bytes > b[i]->bytes)
			continue;
		err = world_prefetch(b[i], va[i] - start, k->bytes,
				     (k->opcode == FL_WRITE) == (i == 1));
	}
	return err;
}

int world_post(struct world *w, struct world_work *k)
{
	struct world_process *p = k->conn->process[k->side];
	int err = 0;

	k->posted = k->done = false;
	k->status = 0;
	k->done_bytes = k->resends = 0;
	k->done_ns = 0;
	k->error = 0;
	if (p->gone)
		return -ESRCH;
	if (p->policy == WORLD_PREFAULT)
		err = prefault(k);
	if (!err)
		err = world_work_number(w, k);
	if (err)
		return err;
	k->number = w->works;
	world_model_post(k);
	k->order = k->conn->posts[k->side];
	err = post(p, k, k->number);
	k->error = err;
	if (!err) {
		k->posted = true;
		k->conn->posts[k->side]++;
	} else if (!p->gone) {
		oracle_complete(w->oracle, k->model, ORACLE_UNPOSTED);
	}
	return err;
}

/* ---- completions ---- */

/* DESIGN 9 rule 2: exactly once, in order on its queue pair. */
static void take(void *arg, const struct fl_completion *c, uint64_t now_ns)
{
	struct world_process *p = arg;
	struct world *w = p->world;
	struct world_work *k = world_work_at(w, c->wr_id);
	struct world_connection *conn;

	if (!k || k->conn->process[k->side] != p || !k->posted || k->done) {
		world_note_problem(w, 2,
			"process %s took a completion (wr_id %llu) that %s",
			p->name, (unsigned long long)c->wr_id,
			k && k->done ? "had come before" : "nobody waits for");
		return;
	}
	conn = k->conn;
	if (c->qpn != conn->qpn[k->side])
		world_note_problem(w, 2,
			"work request %s completed on queue pair %u instead "
			"of %u",
			k->name, c->qpn, conn->qpn[k->side]);
	if (k->order != conn->ends[k->side])
		world_note_problem(w, 2,
			"work request %s completed out of order on %s",
			k->name, conn->name);
	conn->ends[k->side] = k->order + 1;
	k->done = true;
	k->done_ns = now_ns;
	k->status = c->status;
	k->done_bytes = c->bytes;
	k->resends = c->resends;
	if (!c->status && c->bytes != k->bytes)
		world_note_problem(w, 2,
			"work request %s is complete with %u of %u bytes",
			k->name, c->bytes, k->bytes);
	world_model_complete(w, k);
}

int world_wait(struct world *w, struct world_work *k, uint64_t timeout_ns,
	       enum world_wait how)
{
	struct world_process *p = k->conn ? k->conn->process[k->side] : NULL;
	struct order o = { .kind = ORDER_WAIT, .what = how,
			   .work = { .wr_id = k->number },
			   .end_ns = sim_now(w->sim) + timeout_ns };
	struct order_sink sink = { .completion = take, .arg = p };
	struct order_answer r;

	if (k->done)
		return 0;
	if (!k->posted)
		return k->error ? k->error : -ENOENT;
	return world_order(p, &o, &r, &sink);
}
