// SPDX-License-Identifier: BSD-2-Clause
/* Connections, work requests and their completions, with the ledger of both. */
#include "tools/scenario/world_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define POLL_NS		100000	/* poll this long, then sleep */
#define POLL_BATCH	16

/* Every post gets a number of its own, the wr_id. */
int world_work_number(struct world *w, struct world_work *work)
{
	struct world_work **more;

	if (w->works == w->work_room) {
		w->work_room = w->work_room ? 2 * w->work_room : 64;
		more = realloc(w->work, w->work_room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->work = more;
	}
	w->work[w->works++] = work;
	return 0;
}

struct world_work *world_work_at(struct world *w, uint64_t number)
{
	return number && number <= w->works ? w->work[number - 1] : NULL;
}

/* ---- connections ---- */

struct pair {
	struct world_connection *c;
	int side;
	unsigned int depth, pd;
	struct fl_address address;
};

static int do_create(struct world_process *p, void *arg)
{
	struct pair *x = arg;
	int err = 0;

	if (!p->pd[x->pd])
		err = fl_alloc_pd(p->dev, &p->pd[x->pd]);
	if (!err)
		err = fl_create_qp(p->pd[x->pd], p->cq, x->depth,
				   &x->c->qp[x->side]);
	if (!err)
		err = fl_qp_address(x->c->qp[x->side], &x->address);
	if (!err)
		x->c->qpn[x->side] = x->address.qpn;
	return err;
}

static int do_connect(struct world_process *p, void *arg)
{
	struct pair *x = arg;

	(void)p;
	return fl_connect(x->c->qp[x->side], &x->address);
}

int world_connect(struct world_process *p, struct world_process *q,
		  const char *name, unsigned int depth, unsigned int pd,
		  struct world_connection **out)
{
	struct world *w = p->world;
	struct world_connection *c = &w->conn[w->conns];
	struct pair a = { .c = c, .side = 0, .depth = depth, .pd = pd };
	struct pair b = { .c = c, .side = 1, .depth = depth, .pd = pd };
	struct fl_address address;
	int err;

	if (w->conns == WORLD_CONNS)
		return -ENOSPC;
	if (!p->dev || !q->dev || pd >= 4)
		return pd >= 4 ? -EINVAL : -ENODEV;
	memset(c, 0, sizeof(*c));
	c->name = name;
	c->process[0] = p;
	c->process[1] = q;
	err = world_in(p, do_create, &a);
	if (!err)
		err = world_in(q, do_create, &b);
	if (err)
		return err;
	address = a.address;
	a.address = b.address;
	b.address = address;
	err = world_in(p, do_connect, &a);
	if (!err)
		err = world_in(q, do_connect, &b);
	if (err)
		return err;
	w->conns++;
	*out = c;
	return 0;
}

/* ---- posting ---- */

struct post {
	struct world_work *work;
	uint64_t number;
};

static int do_post(struct world_process *p, void *arg)
{
	struct post *x = arg;
	struct world_work *k = x->work;
	struct fl_work fw = {
		.wr_id = x->number,
		.opcode = k->opcode,
		.local = (void *)(uintptr_t)k->local_va,
		.lkey = k->lkey,
		.remote = k->remote_va,
		.rkey = k->rkey,
		.bytes = k->bytes,
	};

	k->post_ns = sim_now(p->world->sim);
	return fl_post(k->conn->qp[k->side], &fw);
}

/* Both ends present, as far as the addresses lie in the buffers at all. */
static int prefault(struct world_work *k)
{
	struct world_buffer *b[2] = { k->local, k->remote };
	uint64_t va[2] = { k->local_va, k->remote_va }, start;
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		start = (uint64_t)(uintptr_t)b[i]->mem;
		if (!b[i]->mr || va[i] < start ||
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
	struct post x = { .work = k };
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
	x.number = w->works;
	k->changes[0] = k->local->changes;
	/* The transfer itself changes where the data goes. */
	if (k->opcode == FL_WRITE)
		k->changes[1] = ++k->remote->changes;
	else
		k->changes[1] = k->remote->changes;
	if (k->opcode == FL_READ)
		k->changes[0] = ++k->local->changes;
	k->order = k->conn->posts[k->side];
	err = world_in(p, do_post, &x);
	k->error = err;
	if (!err) {
		k->posted = true;
		k->conn->posts[k->side]++;
	}
	return err;
}

/* ---- completions ---- */

/* DESIGN 9 rule 2: exactly once, in order on its queue pair. */
static void take(struct world *w, struct world_process *p,
		 const struct fl_completion *c)
{
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
	k->done_ns = sim_now(w->sim);
	k->status = c->status;
	k->done_bytes = c->bytes;
	k->resends = c->resends;
	if (!c->status)
		world_verify(w, k);
}

struct waiting {
	struct world_work *work;
	uint64_t end_ns;
	enum world_wait how;
};

static int do_wait(struct world_process *p, void *arg)
{
	struct waiting *x = arg;
	struct fl_completion c[POLL_BATCH];
	uint64_t now = sim_now(p->world->sim), poll_end = now + POLL_NS;
	int i, n;

	while (!x->work->done) {
		now = sim_now(p->world->sim);
		if (now >= x->end_ns)
			return -ETIMEDOUT;
		if (x->how == WORLD_POLLING ||
		    (x->how == WORLD_BOTH && now < poll_end))
			n = fl_poll(p->cq, c, POLL_BATCH);
		else
			n = fl_wait(p->cq, c, POLL_BATCH, x->end_ns - now);
		for (i = 0; i < n; i++)
			take(p->world, p, &c[i]);
		if (n < 0)
			return n;
	}
	return 0;
}

int world_wait(struct world *w, struct world_work *k, uint64_t timeout_ns,
	       enum world_wait how)
{
	struct waiting x = { .work = k,
			     .end_ns = sim_now(w->sim) + timeout_ns,
			     .how = how };

	if (k->done)
		return 0;
	if (!k->posted)
		return k->error ? k->error : -ENOENT;
	return world_in(k->conn->process[k->side], do_wait, &x);
}
