/* SPDX-License-Identifier: BSD-2-Clause */
/* test_swarm_work.h - the threads of a swarm's processes. */
#ifndef TEST_SWARM_WORK_H
#define TEST_SWARM_WORK_H

#include "test_swarm.h"

#define SCRATCH_PAGES	16u
#define NAP_NS		20000u
#define POLL_NS		200000u
/* Longer than all patience of a sender together, and of a machine under load. */
#define NEVER_NS	5000000000ull
#define NEVER_WALL_NS	60000000000ull
#define IDLE_NS		200000u

static uint64_t below(struct thread *t, uint64_t n)
{
	return rng_below(&t->rng, n);
}

static uint64_t now_ns(struct swarm *s)
{
	return sim_now(world_sim(s->w));
}

static struct side *other(struct side *d)
{
	return &d->conn->side[!d->i];
}

static bool is_dying(const struct proc *p)
{
	return atomic_load(&p->dying);
}

/* ---- bytes ---- */

/* What the slot's bytes are now. 0, or -EFAULT: nobody can tell any more. */
static int look(struct slot *b, struct proc *owner, const uint8_t *mem,
		uint8_t *to)
{
	return mm_copy(owner->mm, (uintptr_t)mem + b->at, to, b->bytes, false);
}

static void verify(struct side *d, struct slot *b, bool mine, const char *when)
{
	struct side *at = mine ? d : other(d);
	struct swarm *s = d->proc->s;
	uint8_t *now = malloc(b->bytes);
	uint32_t i, n = 0, first = 0;
	int err = look(b, at->proc, at->mem, now);

	if (!err) {
		for (i = 0; i < b->bytes; i++)
			if (now[i] != b->model[i] && !n++)
				first = i;
		if (n)
			swarm_problem(s, "connection %d side %u, %s slot at %u:"
				      " %s %u of %u bytes differ, the first at "
				      "%u: 0x%02x instead of 0x%02x",
				      (int)(d->conn - s->conn), d->i,
				      mine ? "own" : "far", b->at, when, n,
				      b->bytes, first, now[first],
				      b->model[first]);
		atomic_fetch_add(&s->verified, 1);
	} else if (!is_dying(at->proc)) {
		swarm_problem(s, "a slot of %s cannot be read: %s",
			      at->proc->name, fl_strerror(err));
	}
	free(now);
}

/* After both sides are down: take what is there for true. */
static void look_up(struct side *d, struct slot *b, bool mine)
{
	struct side *at = mine ? d : other(d);

	if (b->limbo && look(b, at->proc, at->mem, b->model))
		return;
	b->limbo = b->busy = false;
}

/* ---- completions ---- */

static bool lossy(const struct swarm *s)
{
	return s->p.chaos[C_LOSS] || s->p.chaos[C_DAMAGE];
}

/* Can any request of an unbroken connection fail in this world? */
static bool failures(const struct swarm *s)
{
	const unsigned int *c = s->p.chaos;

	return lossy(s) || s->p.slow || s->p.mode == SIM_THREADS ||
	       c[C_PAGEOUT] || c[C_PROTECT] || c[C_UNMAP] || c[C_REVOKE] ||
	       c[C_BAD];
}

/* May this request end so? */
static bool may_end(struct side *d, const struct request *r, int status)
{
	struct swarm *s = d->proc->s;
	bool far_gone = is_dying(other(d)->proc) ||
			atomic_load(&d->conn->epoch) != d->epoch;
	bool taken_back = r->rkey != atomic_load(&other(d)->rkey);

	if (!status)
		return !r->wrong;
	if (d->failed)
		return status == FL_ST_FLUSHED;
	switch (status) {
	case FL_ST_NO_ANSWER:
		return far_gone || lossy(s) || s->p.slow ||
		       s->p.mode == SIM_THREADS;
	case FL_ST_REMOTE_QP:	/* broken by a failure of the other side's? */
		return far_gone || failures(s);
	case FL_ST_REMOTE_FAULT:
		return far_gone || r->odd || taken_back;
	case FL_ST_REMOTE_KEY:
		return far_gone || r->odd || r->wrong || taken_back;
	case FL_ST_LOCAL_KEY:
	case FL_ST_LOCAL_RANGE:
	case FL_ST_REMOTE_RANGE:
	case FL_ST_REMOTE_RIGHTS:
		return r->wrong;
	case FL_ST_LOCAL_FAULT:
		return r->odd || s->p.chaos[C_PROTECT];
	case FL_ST_REFUSED_TOO_OFTEN:
		return s->p.chaos[C_PAGEOUT] || s->p.frames;
	}
	return false;
}

static void land(struct side *d, struct request *r)
{
	bool write = r->opcode == FL_WRITE;
	struct slot *to = write ? r->remote : r->local;

	if (write)
		memcpy(r->remote->model + r->remote_off,
		       r->local->model + r->local_off, r->bytes);
	else
		memcpy(r->local->model + r->local_off,
		       r->remote->model + r->remote_off, r->bytes);
	verify(d, to, !write, write ? "after a WRITE" : "after a READ");
	r->local->busy = r->remote->busy = false;
}

static void finish(struct side *d, struct request *r, int status)
{
	struct swarm *s = d->proc->s;

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
	if (!r->local)
		return;
	if (!status) {
		land(d, r);
		return;
	}
	/* The source is what it was; the target may be anything for now. */
	if (r->opcode == FL_WRITE)
		r->remote->limbo = true, r->local->busy = false;
	else
		r->local->limbo = true, r->remote->busy = false;
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
static void take(struct thread *t, const struct fl_completion *c)
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
			finish(d, &r, c->status);
			return;
		}
		if (r.signaled) {
			swarm_problem(s, "request %llu completed before %llu",
				      (unsigned long long)c->wr_id,
				      (unsigned long long)r.id);
			return;
		}
		finish(d, &r, 0);
	}
	swarm_problem(s, "%s: request %llu of queue pair %u is not in flight",
		      t->proc->name, (unsigned long long)c->wr_id, c->qpn);
}

static void poll(struct thread *t, uint64_t wait_ns)
{
	struct fl_completion c[4];
	int i, n;

	n = wait_ns ? fl_wait(t->cq, c, 4, wait_ns) : fl_poll(t->cq, c, 4);
	if (n < 0 && n != -ETIMEDOUT)
		swarm_problem(t->proc->s, "%s: polling: %s", t->proc->name,
			      fl_strerror(n));
	for (i = 0; i < n; i++)
		take(t, &c[i]);
}

/* ---- epochs ---- */

static void check(struct side *d, int err, const char *what)
{
	if (err < 0)
		swarm_problem(d->proc->s, "%s, connection %d side %u: %s: %s",
			      d->proc->name, (int)(d->conn - d->proc->s->conn),
			      d->i, what, fl_strerror(err));
}

static void take_down(struct side *d)
{
	struct request *r;

	if (d->qp)
		check(d, fl_destroy_qp(d->qp), "destroy");
	d->qp = NULL;
	for (; d->count; d->count--, d->first = (d->first + 1) % DEPTH_MAX) {
		r = &d->ring[d->first];
		if (!r->local)
			continue;
		if (r->opcode == FL_WRITE)
			r->remote->limbo = true, r->local->busy = false;
		else
			r->local->limbo = true, r->remote->busy = false;
	}
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

	for (i = 0; i < s->p.slots; i++) {
		look_up(d, &d->mine[i], true);
		look_up(d, &d->theirs[i], false);
	}
	err = fl_create_qp(d->proc->pd, t->cq, s->p.depth, &d->qp);
	check(d, err, "create");
	if (err)
		return;
	fl_qp_address(d->qp, &d->address);
	atomic_store(&d->published, d->epoch);
	d->phase = S_INIT;
}

/* One step towards being connected. */
static void serve(struct thread *t, struct side *d)
{
	struct side *o = other(d);

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
		check(d, fl_connect(d->qp, &o->address), "connect");
		d->phase = S_CONNECTED;
		atomic_store(&d->up, d->epoch);
	} else if (d->phase == S_CONNECTED &&
		   atomic_load(&o->up) == d->epoch) {
		d->phase = S_UP;
	} else if (d->phase == S_UP && d->failed && !d->count) {
		atomic_compare_exchange_strong(&d->conn->epoch,
					       &(unsigned int){ d->epoch },
					       d->epoch + 1);
	}
}

/* ---- what a thread does ---- */

static struct slot *pick(struct thread *t, struct slot *slot)
{
	unsigned int i = (unsigned int)below(t, t->proc->s->p.slots);

	return slot[i].busy || slot[i].limbo ? NULL : &slot[i];
}

static uint32_t length(struct thread *t, uint32_t room)
{
	uint32_t n = 1 + (uint32_t)below(t, room);

	switch (below(t, 4)) {
	case 0:
		return 1 + (uint32_t)below(t, n < 256 ? n : 256);
	case 1:
		return room;
	}
	return n;
}

static void submit(struct side *d, struct request *r, struct fl_work *w)
{
	struct request *last;
	int err;

	r->id = ((uint64_t)(d->conn - d->proc->s->conn) << 40) +
		((uint64_t)d->i << 32) + d->posted++;
	w->wr_id = r->id;
	/* A queue full of unsignaled requests would never say a word. */
	if (d->count + 1 == d->proc->s->p.depth)
		r->signaled = true;
	w->opcode = r->opcode;
	w->bytes = r->bytes;
	w->rkey = r->rkey;
	w->unsignaled = !r->signaled;
	/* First into the model: another thread may not, but this one polls. */
	last = &d->ring[(d->first + d->count++) % DEPTH_MAX];
	*last = *r;
	err = fl_post(d->qp, w);
	check(d, err, "post");
	if (r->local)
		r->local->busy = r->remote->busy = true;
}

static void post_plain(struct thread *t, struct side *d)
{
	struct side *o = other(d);
	struct slot *l = pick(t, d->mine), *r = pick(t, d->theirs);
	struct request q = { .local = l, .remote = r };
	struct fl_work w = { .lkey = fl_mr_key(d->mr[0]) };

	if (!l || !r || (atomic_load(&o->rkey) == 0))
		return;
	q.opcode = below(t, 2) ? FL_WRITE : FL_READ;
	q.bytes = length(t, l->bytes);
	q.local_off = (uint32_t)below(t, l->bytes - q.bytes + 1);
	q.remote_off = (uint32_t)below(t, l->bytes - q.bytes + 1);
	q.rkey = atomic_load(&o->rkey);
	q.signaled = below(t, 4) != 0;
	w.local = d->mem + l->at + q.local_off;
	w.remote = (uintptr_t)o->mem + r->at + q.remote_off;
	submit(d, &q, &w);
}

/* To memory whose bytes nobody compares, and that comes and goes. */
static void post_scratch(struct thread *t, struct side *d)
{
	struct proc *p = d->proc, *q = other(d)->proc;
	struct request r = { .odd = true, .signaled = below(t, 2) };
	struct fl_work w = { .lkey = fl_mr_key(p->scratch_mr) };
	uint64_t room = SCRATCH_PAGES * PAGE, a, b;

	r.opcode = below(t, 2) ? FL_WRITE : FL_READ;
	r.bytes = length(t, 2 * PAGE);
	r.rkey = atomic_load(&q->scratch_key);
	a = below(t, room - r.bytes + 1);
	b = below(t, room - r.bytes + 1);
	w.local = p->scratch + a;
	w.remote = (uintptr_t)q->scratch + b;
	submit(d, &r, &w);
}

/* What must fail, whatever else happens. */
static void post_wrong(struct thread *t, struct side *d)
{
	struct proc *p = d->proc, *q = other(d)->proc;
	struct request r = { .wrong = true, .opcode = FL_WRITE, .bytes = 64 };
	struct fl_work w = { .lkey = fl_mr_key(p->scratch_mr),
			     .local = p->scratch };

	r.signaled = below(t, 2);
	r.rkey = atomic_load(&q->scratch_key);
	w.remote = (uintptr_t)q->scratch;
	switch (below(t, 5)) {
	case 0:
		r.rkey ^= 0x3f;
		break;
	case 1:
		w.remote += SCRATCH_PAGES * PAGE - 63;
		break;
	case 2:
		w.lkey ^= 0x15;
		break;
	case 3:
		w.local = p->scratch + SCRATCH_PAGES * PAGE - 1;
		break;
	case 4:		/* longer than the region: refused at its first block */
		r.bytes = SCRATCH_PAGES * PAGE + 1;
		r.opcode = FL_READ;
		break;
	}
	submit(d, &r, &w);
}

static void act_post(struct thread *t, struct side *d)
{
	struct swarm *s = t->proc->s;

	if (d->phase != S_UP || d->failed || d->count == s->p.depth ||
	    is_dying(other(d)->proc))
		return;
	if (s->p.chaos[C_BAD] && !below(t, 40))
		post_wrong(t, d);
	else if (s->p.chaos[C_UNMAP] + s->p.chaos[C_PROTECT] && !below(t, 6))
		post_scratch(t, d);
	else
		post_plain(t, d);
}

/* Some pages of one side's buffer. */
static uint8_t *pages(struct thread *t, struct side *d, uint64_t *len)
{
	uint64_t all = d->bytes / PAGE, at = below(t, all);
	uint64_t n = 1 + below(t, below(t, 3) ? 3 : all);

	*len = (n > all - at ? all - at : n) * PAGE;
	return d->mem + at * PAGE;
}

/* Full memory is no error of these calls: others hold what there is. */
static void tolerate(struct side *d, int err, const char *what)
{
	if (err != -ENOMEM && err != -ENOSPC && err != -EBUSY)
		check(d, err, what);
}

static void act_pageout(struct thread *t, struct side *d)
{
	uint64_t len;
	uint8_t *at = pages(t, d, &len);

	tolerate(d, fl_advise(t->proc->dev, at, len, FL_PAGEOUT), "page out");
}

static void act_prefetch(struct thread *t, struct side *d)
{
	unsigned int i = (unsigned int)below(t, 2);
	struct slot *b = &d->mine[0];
	uint64_t half = d->bytes / 2, len = 1 + below(t, half);

	(void)b;
	if (d->mr[i])
		tolerate(d, fl_prefetch(d->mr[i], d->mem + i * half +
					below(t, half - len + 1), len,
					(int)below(t, 2)), "prefetch");
}

/* The CPU writes new bytes where nothing is in flight, or reads. */
static void act_touch(struct thread *t, struct side *d)
{
	struct slot *b = pick(t, d->mine);
	uint32_t i, at, n;

	if (!b)
		return;
	n = length(t, b->bytes);
	at = (uint32_t)below(t, b->bytes - n + 1);
	if (below(t, 2)) {
		for (i = at; i < at + n; i++)
			b->model[i] = (uint8_t)rng_next(&t->rng);
		memcpy(d->mem + b->at + at, b->model + at, n);
	} else if (memcmp(d->mem + b->at + at, b->model + at, n)) {
		verify(d, b, true, "touched by the CPU");
		swarm_problem(t->proc->s, "the CPU sees other bytes than the "
			      "kernel");
	}
}

static void act_protect(struct thread *t, struct side *d)
{
	static const int rights[] = { 0, FL_PROT_READ,
				      FL_PROT_READ | FL_PROT_WRITE };
	uint64_t at = below(t, SCRATCH_PAGES);
	uint64_t n = 1 + below(t, SCRATCH_PAGES - at);
	struct proc *p = t->proc;

	/* Pages without write access still are a good source. */
	if (below(t, 2) && p->threads == 1) {
		check(d, fl_protect(p->dev, d->mem, d->bytes / 2 & -PAGE,
				    FL_PROT_READ), "protect");
		sim_sleep(1 + below(t, NAP_NS));
		check(d, fl_protect(p->dev, d->mem, d->bytes,
				    FL_PROT_READ | FL_PROT_WRITE), "protect");
		return;
	}
	tolerate(d, fl_protect(p->dev, p->scratch + at * PAGE, n * PAGE,
			       rights[below(t, 3)]), "protect scratch");
}

static void act_unmap(struct thread *t, struct side *d)
{
	uint64_t at = below(t, SCRATCH_PAGES), pages_n = 1 + below(t, 8);
	uint8_t *mem;

	if (below(t, 2)) {
		tolerate(d, fl_advise(t->proc->dev, t->proc->scratch +
				      at * PAGE, (SCRATCH_PAGES - at) * PAGE,
				      FL_DONTNEED), "drop scratch");
		return;
	}
	mem = fl_alloc(t->proc->dev, pages_n * PAGE);
	if (!mem)
		return;
	memset(mem, (int)pages_n, pages_n * PAGE);
	if (mem[pages_n * PAGE - 1] != (uint8_t)pages_n)
		swarm_problem(t->proc->s, "new memory forgets");
	check(d, fl_free(t->proc->dev, mem, pages_n * PAGE), "unmap");
}

static int region(struct side *d, unsigned int i)
{
	uint64_t half = d->bytes / 2;
	unsigned int access = i ? FL_REMOTE_WRITE | FL_REMOTE_READ :
				  FL_LOCAL_WRITE;
	int err = -EDQUOT;

	if (d->pinned)
		err = fl_reg_mr(d->proc->pd, d->mem + i * half, half,
				access | FL_PINNED, &d->mr[i]);
	if (err)
		err = fl_reg_mr(d->proc->pd, d->mem + i * half, half, access,
				&d->mr[i]);
	if (!err && i)
		atomic_store(&d->rkey, fl_mr_key(d->mr[i]));
	return err;
}

/*
 * Take the peer's key back while it is used: when the call has returned, the
 * card has let go, and the bytes stay as they are.
 */
static void act_revoke(struct thread *t, struct side *d)
{
	uint64_t half = d->bytes / 2;
	uint8_t *before, *after;
	int err;

	atomic_store(&d->rkey, 0);
	err = fl_dereg_mr(d->mr[1]);
	check(d, err, "take a region back");
	if (err)
		return;
	d->mr[1] = NULL;
	before = malloc(half);
	after = malloc(half);
	if (!mm_copy(d->proc->mm, (uintptr_t)d->mem + half, before, half,
		     false)) {
		sim_sleep(1 + below(t, 20 * NAP_NS));
		if (mm_copy(d->proc->mm, (uintptr_t)d->mem + half, after, half,
			    false) || memcmp(before, after, half))
			swarm_problem(t->proc->s, "connection %d side %u: the "
				      "card wrote to a region that was taken "
				      "back",
				      (int)(d->conn - t->proc->s->conn), d->i);
	}
	free(before);
	free(after);
	atomic_fetch_add(&t->proc->s->revokes, 1);
	check(d, region(d, 1), "give a region again");
}

static void act_reset(struct side *d)
{
	if (d->phase != S_UP)
		return;
	atomic_fetch_add(&d->proc->s->resets, 1);
	atomic_compare_exchange_strong(&d->conn->epoch,
				       &(unsigned int){ d->epoch },
				       d->epoch + 1);
}

static void act_kill(struct thread *t)
{
	struct swarm *s = t->proc->s;

	if (atomic_fetch_add(&s->kills, 1) < s->p.procs / 2)
		atomic_store(&t->proc->dying, true);
}

static void act(struct thread *t, struct side *d)
{
	const unsigned int *chaos = t->proc->s->p.chaos;
	unsigned int sum = 0, i, hit;

	for (i = C_PAGEOUT; i < C_COUNT; i++)
		sum += chaos[i];
	hit = (unsigned int)below(t, 60 + sum);
	for (i = C_PAGEOUT; i < C_COUNT && hit >= chaos[i]; i++)
		hit -= chaos[i];
	switch (i) {
	case C_PAGEOUT:
		act_pageout(t, d);
		break;
	case C_PROTECT:
		act_protect(t, d);
		break;
	case C_UNMAP:
		act_unmap(t, d);
		break;
	case C_TOUCH:
		act_touch(t, d);
		break;
	case C_PREFETCH:
		act_prefetch(t, d);
		break;
	case C_REVOKE:
		act_revoke(t, d);
		break;
	case C_RESET:
		act_reset(d);
		break;
	case C_KILL:
		if (!below(t, 20))
			act_kill(t);
		break;
	default:
		act_post(t, d);
	}
}

/* ---- the life of a thread ---- */

static struct side *own_side(struct thread *t, unsigned int n)
{
	struct swarm *s = t->proc->s;
	unsigned int i;
	struct side *d;

	for (i = 0; i < 2 * s->conns; i++) {
		d = &s->conn[i / 2].side[i % 2];
		if (d->proc == t->proc && d->thread == t->i && !n--)
			return d;
	}
	return NULL;
}

static void open_side(struct side *d)
{
	struct swarm *s = d->proc->s;
	uint8_t *far = d->mem = fl_alloc(d->proc->dev, d->bytes);
	unsigned int i;

	if (!far) {
		check(d, -errno, "allocate");
		return;
	}
	for (i = 0; i < s->p.slots; i++)
		memcpy(d->mem + d->mine[i].at, d->mine[i].model,
		       d->mine[i].bytes);
	check(d, region(d, 0), "register");
	check(d, region(d, 1), "register");
	d->phase = S_NEW;
}

static void open_proc(struct proc *p)
{
	struct swarm *s = p->s;
	char name[32];
	int err;

	snprintf(name, sizeof(name), "emu:%s", board_name(p->board->board));
	err = fl_open(name, &p->dev);
	if (!err)
		err = fl_set_policy(p->dev, p->policy, p->touch);
	if (!err)
		err = fl_alloc_pd(p->dev, &p->pd);
	if (!err)
		p->scratch = fl_alloc(p->dev, SCRATCH_PAGES * PAGE);
	if (!err)
		err = p->scratch ? fl_reg_mr(p->pd, p->scratch,
					     SCRATCH_PAGES * PAGE,
					     FL_LOCAL_WRITE | FL_REMOTE_WRITE |
					     FL_REMOTE_READ, &p->scratch_mr) :
				   -errno;
	if (err) {
		swarm_problem(s, "%s cannot open: %s", p->name,
			      fl_strerror(err));
		return;
	}
	atomic_store(&p->scratch_key, fl_mr_key(p->scratch_mr));
	atomic_store(&p->open, true);
}

static void set_up(struct thread *t)
{
	struct swarm *s = t->proc->s;
	struct side *d;
	unsigned int i;
	int err;

	if (!t->i)
		open_proc(t->proc);
	while (!atomic_load(&t->proc->open) && !atomic_load(&s->bad))
		sim_sleep(NAP_NS);
	if (atomic_load(&s->bad))
		return;
	err = fl_create_cq(t->proc->dev, CONNS_MAX * DEPTH_MAX * 2, &t->cq);
	if (err)
		swarm_problem(s, "no completion queue: %s", fl_strerror(err));
	for (i = 0; !err && (d = own_side(t, i)); i++)
		open_side(d);
}

/* All that is in flight has ended, and is signaled. */
static bool quiet(struct thread *t)
{
	struct request flush = { .odd = true, .opcode = FL_WRITE, .bytes = 1,
				 .signaled = true };
	struct side *d;
	struct fl_work w;
	bool all = true;
	unsigned int i;

	for (i = 0; (d = own_side(t, i)); i++) {
		all &= !d->count;
		if (!d->count || d->phase != S_UP || d->failed ||
		    d->count == t->proc->s->p.depth)
			continue;
		if (d->ring[(d->first + d->count - 1) % DEPTH_MAX].signaled)
			continue;
		/* Only a signaled one tells of those before it. */
		w = (struct fl_work){ .lkey = fl_mr_key(t->proc->scratch_mr),
				      .local = t->proc->scratch };
		flush.rkey = atomic_load(&other(d)->proc->scratch_key);
		w.remote = (uintptr_t)other(d)->proc->scratch;
		submit(d, &flush, &w);
	}
	return all;
}

static void watch(struct thread *t)
{
	struct swarm *s = t->proc->s;
	uint64_t limit = s->p.mode == SIM_LOCKSTEP ? NEVER_NS : NEVER_WALL_NS;
	struct side *d;
	unsigned int i;

	if (now_ns(s) - t->since_ns < limit)
		return;
	for (i = 0; (d = own_side(t, i)); i++)
		if (d->count)
			swarm_problem(s, "connection %d side %u: %u requests "
				      "never ended, the first is %llu (phase "
				      "%d, epoch %u of %u, %s)",
				      (int)(d->conn - s->conn), d->i, d->count,
				      (unsigned long long)
				      d->ring[d->first].id, d->phase,
				      d->epoch, atomic_load(&d->conn->epoch),
				      d->failed ? "failed" : "good");
}

static void work(struct thread *t)
{
	struct swarm *s = t->proc->s;
	bool counted = true;
	struct side *d;
	unsigned int i, n = 0;

	while (own_side(t, n))
		n++;
	t->since_ns = now_ns(s);
	while (!is_dying(t->proc) && !atomic_load(&s->bad) &&
	       atomic_load(&s->stage) != END) {
		for (i = 0; (d = own_side(t, i)); i++)
			serve(t, d);
		if (t->ops && n) {
			t->ops--;
			act(t, own_side(t, (unsigned int)below(t, n)));
			poll(t, below(t, 8) ? 0 : POLL_NS);
			t->since_ns = now_ns(s);
			continue;
		}
		if (quiet(t) && counted) {
			counted = false;
			atomic_fetch_sub(&s->busy, 1);
			if (t->proc->guest)
				break;
		}
		if (counted)
			poll(t, POLL_NS);
		else
			sim_sleep(IDLE_NS);
		watch(t);
	}
	if (counted)
		atomic_fetch_sub(&s->busy, 1);
}

static void last_look(struct thread *t)
{
	struct swarm *s = t->proc->s;
	struct side *d;
	unsigned int i, k;

	for (i = 0; (d = own_side(t, i)) && !atomic_load(&s->bad); i++)
		for (k = 0; k < s->p.slots; k++) {
			if (!d->mine[k].busy && !d->mine[k].limbo)
				verify(d, &d->mine[k], true, "at the end");
			if (!d->theirs[k].busy && !d->theirs[k].limbo &&
			    !is_dying(other(d)->proc))
				verify(d, &d->theirs[k], false, "at the end");
		}
}

static void thread_main(void *arg)
{
	struct thread *t = arg;
	struct swarm *s = t->proc->s;

	set_up(t);
	if (!t->proc->guest)
		atomic_fetch_add(&s->started, 1);
	/* Buffers of the other side must be there. */
	while (!t->proc->guest && atomic_load(&s->started) < s->crew &&
	       !atomic_load(&s->bad))
		sim_sleep(NAP_NS);
	work(t);
	if (!is_dying(t->proc))
		last_look(t);
	/* Some go without a word; the kernel then closes what they had. */
	if (atomic_fetch_add(&t->proc->left, 1) + 1 == t->proc->threads &&
	    t->proc->dev && !atomic_load(&s->bad) && below(t, 2)) {
		if (fl_close(t->proc->dev))
			swarm_problem(s, "%s cannot close", t->proc->name);
		t->proc->dev = NULL;
	}
	atomic_store(&t->ended, true);
}

#endif
