// SPDX-License-Identifier: BSD-2-Clause
#include "rig/swarm_model.h"

/* ---- bytes ---- */

void swarm_store(uint8_t *to, const uint8_t *from, uint32_t n)
{
	volatile uint8_t *at = to;

	while (n--)
		*at++ = *from++;
}

static bool is_under_way(const struct oracle *o, uint32_t area, uint64_t at,
			 uint64_t bytes)
{
	uint64_t to, n;
	uint32_t where;
	unsigned int i;

	for (i = 0; oracle_open(o, i, &where, &to, &n); i++)
		if (where == area && to < at + bytes && to + n > at)
			return true;
	return false;
}

int swarm_model_look(struct side *at, uint64_t from, uint64_t bytes)
{
	struct swarm *s = at->proc->s;
	uint8_t *now = malloc(bytes);
	int err = -ENOMEM;

	sim_spin_lock(&s->model);
	if (s->p.mode == SIM_THREADS &&
	    is_under_way(s->oracle, at->area, from, bytes))
		err = -EAGAIN;
	else if (now)
		err = mm_look(at->proc->mm, (uintptr_t)at->mem + from, now,
			      bytes);
	if (!err)
		oracle_look(s->oracle, at->area, from, now, bytes);
	sim_spin_unlock(&s->model);
	free(now);
	return err;
}

void swarm_model_judge(struct side *d, const char *when)
{
	struct swarm *s = d->proc->s;
	const char *text;

	sim_spin_lock(&s->model);
	text = oracle_problem(s->oracle);
	sim_spin_unlock(&s->model);
	if (text)
		swarm_problem(s, "connection %d side %u %s: %s",
			      (int)(d->conn - s->conn), d->i, when, text);
}

static void swarm_model_verify(struct side *d, struct slot *b, bool mine,
			       const char *when)
{
	struct side *at = mine ? d : swarm_model_other(d);
	struct swarm *s = d->proc->s;
	int err = swarm_model_look(at, b->at, b->bytes);

	if (!err)
		atomic_fetch_add(&s->verified, 1);
	else if (err != -EAGAIN && !is_dying(at->proc))
		swarm_problem(s, "a slot of %s cannot be read: %s",
			      at->proc->name, fl_strerror(err));
	swarm_model_judge(d, when);
}

void verify_under_way(struct side *d)
{
	struct swarm *s = d->proc->s;
	unsigned int i, k;

	for (i = 0; i < 2 && s->p.mode == SIM_LOCKSTEP && d->phase == S_UP;
	     i++)
		for (k = 0; k < s->p.slots; k++) {
			swarm_model_verify(d, &d->mine[k], true, "under way");
			swarm_model_verify(d, &d->theirs[k], false,
					   "under way");
		}
}

/* ---- completions ---- */

static bool swarm_model_lossy(const struct swarm *s)
{
	return s->p.chaos[C_LOSS] || s->p.chaos[C_DAMAGE];
}

/* Can any request of an unbroken connection fail in this testbed? */
static bool swarm_model_failures(const struct swarm *s)
{
	const unsigned int *c = s->p.chaos;

	return swarm_model_lossy(s) || s->p.frames || s->p.stalls ||
	       s->p.silent || s->p.aborts ||
	       c[C_PAGEOUT] || c[C_PROTECT] || c[C_UNMAP] || c[C_REVOKE] ||
	       c[C_BAD];
}

/* May this request end so? */
static bool may_end(struct side *d, const struct request *r, int status)
{
	struct swarm *s = d->proc->s;
	bool far_gone = is_dying(swarm_model_other(d)->proc) ||
			atomic_load(&d->conn->epoch) != d->epoch;
	bool taken_back = r->rkey != atomic_load(&swarm_model_other(d)->rkey);

	if (!status)
		return !r->wrong;
	if (d->failed)
		return status == FL_ST_FLUSHED;
	/*
	 * Of packets the end that refuses a request is in error too, and who still waits for
	 * an answer then gets none.
	 */
	if (in_packets(s) && (status == FL_ST_FLUSHED || status == FL_ST_NO_ANSWER))
		return far_gone || swarm_model_failures(s);
	switch (status) {
	case FL_ST_FAULT_FAST:
		return s->p.aborts;
	case FL_ST_NO_ANSWER:	/* who lives says so, however slow */
		return far_gone || s->p.silent ||
		       (swarm_model_lossy(s) && s->p.mode != SIM_LOCKSTEP);
	case FL_ST_REMOTE_QP:	/* broken by a failure of the other side's? */
		return far_gone || swarm_model_failures(s);
	case FL_ST_REMOTE_FAULT:
		return far_gone || r->odd || taken_back;
	case FL_ST_REMOTE_ACCESS:
		return far_gone || r->odd || r->wrong || taken_back;
	case FL_ST_LOCAL_KEY:
	case FL_ST_LOCAL_RANGE:
		return r->wrong;
	case FL_ST_LOCAL_FAULT:
		return r->odd || s->p.chaos[C_PROTECT];
	case FL_ST_REFUSED_TOO_OFTEN:
		return s->p.chaos[C_PAGEOUT] || s->p.frames ||
		       s->p.stalls;
	}
	return false;
}

/* Surely not carried out as a whole: no answer can have been lost or overtaken. */
static enum oracle_end end_of(struct side *d, int status)
{
	const unsigned int *c = d->proc->s->p.chaos;

	switch (status) {
	case FL_ST_OK:
		return ORACLE_OK;
	case FL_ST_LOCAL_KEY: case FL_ST_LOCAL_RANGE:
		/* Its packets may have been there before. */
		if (in_packets(d->proc->s))
			return ORACLE_LOST;
		/* fall through */
	case FL_ST_REMOTE_ACCESS: case FL_ST_REMOTE_FAULT:
		return c[C_LOSS] || c[C_DAMAGE] || c[C_LATE] ||
		       c[C_DUPLICATE] ? ORACLE_LOST : ORACLE_REFUSED;
	}
	return ORACLE_LOST;
}

static void swarm_model_finish(struct side *d, struct request *r, int status)
{
	struct swarm *s = d->proc->s;
	bool write = r->opcode == FL_WRITE;

	if (!may_end(d, r, status))
		swarm_problem(s, "connection %d side %u: request %llu (%s, %u "
			      "bytes%s) ended with \"%s\"",
			      (int)(d->conn - s->conn), d->i,
			      (unsigned long long)r->id,
			      r->opcode == FL_WRITE ? "WRITE" : "READ",
			      r->bytes, r->wrong ? ", a wrong one" :
			      r->odd ? ", to scratch" : "",
			      fl_status_string(status));
	atomic_fetch_add(status ? &s->failed : &s->ok, 1);
	if (status)
		d->failed = true;
	sim_spin_lock(&s->model);
	oracle_complete(s->oracle, r->model, end_of(d, status));
	sim_spin_unlock(&s->model);
	if (r->local && !status)
		swarm_model_verify(d, write ? r->remote : r->local, !write,
				   write ? "after a WRITE" : "after a READ");
	else
		swarm_model_judge(d, "at a completion");
}

static struct side *side_of(struct thread *t, uint32_t qpn)
{
	struct swarm *s = t->proc->s;
	struct fl_address a;
	struct side *d;
	unsigned int i;

	for (i = 0; i < 2 * s->conns; i++) {
		d = &s->conn[i / 2].side[i % 2];
		if (d->proc == t->proc && d->thread == t->i && d->qp &&
		    !fl_qp_address(d->qp, &a) && a.qpn == qpn)
			return d;
	}
	return NULL;
}

/* Exactly once, and in order. */
static void swarm_model_take(struct thread *t, const struct fl_completion *c)
{
	struct side *d = side_of(t, c->qpn);
	struct swarm *s = t->proc->s;
	struct request r;

	t->since_ns = now_ns(s);
	while (d && d->count) {
		r = d->ring[d->first];
		d->first = (d->first + 1) % DEPTH_MAX;
		d->count--;
		if (r.id == c->wr_id) {
			if (!c->status && c->bytes != r.bytes)
				swarm_problem(s, "%u of %u bytes", c->bytes,
					      r.bytes);
			swarm_model_finish(d, &r, c->status);
			return;
		}
		if (r.signaled) {
			swarm_problem(s, "request %llu completed before %llu",
				      (unsigned long long)c->wr_id,
				      (unsigned long long)r.id);
			return;
		}
		swarm_model_finish(d, &r, 0);
	}
	swarm_problem(s, "%s: request %llu of queue pair %u is not in flight",
		      t->proc->name, (unsigned long long)c->wr_id, c->qpn);
}

void swarm_model_poll(struct thread *t, uint64_t wait_ns)
{
	struct fl_completion c[4];
	int i, n;

	n = wait_ns ? fl_wait(t->cq, c, 4, wait_ns) : fl_poll(t->cq, c, 4);
	if (n < 0 && n != -ETIMEDOUT)
		swarm_problem(t->proc->s, "%s: polling: %s", t->proc->name,
			      fl_strerror(n));
	for (i = 0; i < n; i++)
		swarm_model_take(t, &c[i]);
}

/* ---- epochs ---- */

void swarm_model_check(struct side *d, int err, const char *what)
{
	if (err < 0)
		swarm_problem(d->proc->s, "%s, connection %d side %u: %s: %s",
			      d->proc->name, (int)(d->conn - d->proc->s->conn),
			      d->i, what, fl_strerror(err));
}

static void take_down(struct side *d)
{
	struct swarm *s = d->proc->s;

	if (d->qp)
		swarm_model_check(d, fl_destroy_qp(d->qp), "destroy");
	d->qp = NULL;
	d->count = 0;
	sim_spin_lock(&s->model);
	oracle_pair_end(s->oracle, d->pair);
	sim_spin_unlock(&s->model);
	d->failed = false;
	d->epoch = atomic_load(&d->conn->epoch);
	d->phase = S_DOWN;
	atomic_store(&d->down, d->epoch);
}

static void both_down(struct thread *t, struct side *d)
{
	struct swarm *s = d->proc->s;
	unsigned int i;
	int err;

	/* Whatever was under way can write no more. */
	sim_spin_lock(&s->model);
	oracle_pair_rest(s->oracle, d->pair);
	d->pair = oracle_pair(s->oracle, d->proc->name, swarm_order(s));
	sim_spin_unlock(&s->model);
	for (i = 0; i < s->p.slots; i++) {
		swarm_model_verify(d, &d->mine[i], true, "when both were down");
		swarm_model_verify(d, &d->theirs[i], false,
				   "when both were down");
	}
	err = fl_create_qp(d->proc->pd, t->cq, s->p.depth, &d->qp);
	swarm_model_check(d, err, "create");
	if (err)
		return;
	fl_qp_address(d->qp, &d->address);
	atomic_store(&d->published, d->epoch);
	d->phase = S_INIT;
}

/* After a failure of which nothing is left: the same queue pair, or a new one. */
static void side_go_on(struct side *d)
{
	struct swarm *s = d->proc->s;

	if (s->p.aborts && !fl_resume(d->qp)) {
		sim_spin_lock(&s->model);
		oracle_pair_rest(s->oracle, d->pair);
		sim_spin_unlock(&s->model);
		d->failed = false;
		atomic_fetch_add(&s->resumed, 1);
		return;
	}
	atomic_compare_exchange_strong(&d->conn->epoch,
				       &(unsigned int){ d->epoch },
				       d->epoch + 1);
}

void swarm_model_serve(struct thread *t, struct side *d)
{
	struct side *o = swarm_model_other(d);

	if (d->phase == S_CLOSED || atomic_load(&d->proc->s->bad))
		return;
	if (is_dying(o->proc)) {
		/* Requests end by themselves; wait until they have. */
		if (!d->count || d->phase != S_UP) {
			take_down(d);
			d->phase = S_CLOSED;
		}
		return;
	}
	if (d->epoch != atomic_load(&d->conn->epoch)) {
		take_down(d);
		return;
	}
	if (d->phase == S_DOWN && atomic_load(&o->down) == d->epoch) {
		both_down(t, d);
	} else if (d->phase == S_INIT &&
		   atomic_load(&o->published) == d->epoch) {
		swarm_model_check(d, fl_connect(d->qp, &o->address), "connect");
		d->phase = S_CONNECTED;
		atomic_store(&d->up, d->epoch);
	} else if (d->phase == S_CONNECTED &&
		   atomic_load(&o->up) == d->epoch) {
		d->phase = S_UP;
	} else if (d->phase == S_UP && d->failed && !d->count) {
		side_go_on(d);
	}
}
