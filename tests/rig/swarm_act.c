// SPDX-License-Identifier: BSD-2-Clause
#include "rig/swarm_act.h"

static struct slot *act_pick(struct thread *t, struct slot *slot)
{
	/* Rather one of the first: more requests meet there. */
	return &slot[draw_n(t, 1 + draw_n(t, t->proc->s->p.slots))];
}

static uint32_t act_length(struct thread *t, uint32_t room)
{
	uint32_t n = 1 + (uint32_t)draw_n(t, room);

	switch (draw_n(t, 4)) {
	case 0:
		return 1 + (uint32_t)draw_n(t, n < 256 ? n : 256);
	case 1:
		return room;
	}
	return n;
}

/* What touches no slot is there for the order of completions alone. */
static void model_post(struct side *d, struct request *r)
{
	struct swarm *s = d->proc->s;
	bool read = r->opcode == FL_READ;
	struct oracle_work w = {
		.name = read ? "a READ" : "a WRITE", .pair = d->pair,
		.read = read, .from = ORACLE_NOWHERE, .to = ORACLE_NOWHERE,
		.bytes = r->bytes,
		.doubtful = s->p.draw == DRAW_SINKS,
	};
	uint32_t near = 0, far = 0;

	if (r->local) {
		near = r->local->at + r->local_off;
		far = r->remote->at + r->remote_off;
		w.from = read ? swarm_model_other(d)->area : d->area;
		w.to = read ? d->area : swarm_model_other(d)->area;
	}
	w.from_at = read ? far : near;
	w.to_at = read ? near : far;
	sim_spin_lock(&s->model);
	r->model = oracle_post(s->oracle, &w);
	sim_spin_unlock(&s->model);
}

void act_submit(struct side *d, struct request *r, struct fl_work *w)
{
	struct request *last;

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
	model_post(d, r);
	/* First into the model: another thread may not, but this one polls. */
	last = &d->ring[(d->first + d->count++) % DEPTH_MAX];
	*last = *r;
	swarm_model_check(d, fl_post(d->qp, w), "post");
}

static void post_plain(struct thread *t, struct side *d)
{
	struct side *o = swarm_model_other(d);
	struct slot *l = act_pick(t, d->mine), *r = act_pick(t, d->theirs);
	struct request q = { .local = l, .remote = r };
	struct fl_work w = { .lkey = fl_mr_key(d->mr[0]) };

	if (!atomic_load(&o->rkey))
		return;
	q.opcode = draw_n(t, 2) ? FL_WRITE : FL_READ;
	q.bytes = act_length(t, l->bytes);
	q.local_off = (uint32_t)draw_n(t, l->bytes - q.bytes + 1);
	q.remote_off = (uint32_t)draw_n(t, l->bytes - q.bytes + 1);
	q.rkey = atomic_load(&o->rkey);
	q.signaled = draw_n(t, 4) != 0;
	w.local = d->mem + l->at + q.local_off;
	w.remote = (uintptr_t)o->mem + r->at + q.remote_off;
	act_submit(d, &q, &w);
}

/* To memory whose bytes nobody compares, and that comes and goes. */
static void post_scratch(struct thread *t, struct side *d)
{
	struct proc *p = d->proc, *q = swarm_model_other(d)->proc;
	struct request r = { .odd = true, .signaled = draw_n(t, 2) };
	struct fl_work w = { .lkey = fl_mr_key(p->scratch_mr) };
	uint64_t room = SCRATCH_PAGES * PAGE, a, b;

	r.opcode = draw_n(t, 2) ? FL_WRITE : FL_READ;
	r.bytes = act_length(t, 2 * PAGE);
	r.rkey = atomic_load(&q->scratch_key);
	a = draw_n(t, room - r.bytes + 1);
	b = draw_n(t, room - r.bytes + 1);
	w.local = p->scratch + a;
	w.remote = (uintptr_t)q->scratch + b;
	act_submit(d, &r, &w);
}

/* What must fail, whatever else happens. */
static void post_wrong(struct thread *t, struct side *d)
{
	struct proc *p = d->proc, *q = swarm_model_other(d)->proc;
	struct request r = { .wrong = true, .opcode = FL_WRITE, .bytes = 64 };
	struct fl_work w = { .lkey = fl_mr_key(p->scratch_mr),
			     .local = p->scratch };

	r.signaled = draw_n(t, 2);
	r.rkey = atomic_load(&q->scratch_key);
	w.remote = (uintptr_t)q->scratch;
	switch (draw_n(t, 5)) {
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
	act_submit(d, &r, &w);
}

static void act_post(struct thread *t, struct side *d)
{
	struct swarm *s = t->proc->s;

	if (d->phase != S_UP || d->failed || d->count == s->p.depth ||
	    is_dying(swarm_model_other(d)->proc))
		return;
	if (s->p.chaos[C_BAD] && !draw_n(t, 40))
		post_wrong(t, d);
	else if (s->p.chaos[C_UNMAP] + s->p.chaos[C_PROTECT] && !draw_n(t, 6))
		post_scratch(t, d);
	else
		post_plain(t, d);
}

/* Some pages of one side's buffer. */
static uint8_t *act_pages(struct thread *t, struct side *d, uint64_t *len)
{
	uint64_t all = d->bytes / PAGE, at = draw_n(t, all);
	uint64_t n = 1 + draw_n(t, draw_n(t, 3) ? 3 : all);

	*len = (n > all - at ? all - at : n) * PAGE;
	return d->mem + at * PAGE;
}

/* Full memory is no error of these calls: others hold what there is. */
static void act_tolerate(struct side *d, int err, const char *what)
{
	if (err != -ENOMEM && err != -ENOSPC)
		swarm_model_check(d, err, what);
}

static void act_pageout(struct thread *t, struct side *d)
{
	uint64_t len;
	uint8_t *at = act_pages(t, d, &len);

	act_tolerate(d, fl_advise(t->proc->dev, at, len, FL_PAGEOUT),
		     "page out");
}

static void act_prefetch(struct thread *t, struct side *d)
{
	unsigned int i = (unsigned int)draw_n(t, 2);
	uint64_t half = d->bytes / 2, len = 1 + draw_n(t, half);

	if (d->mr[i])
		act_tolerate(d, fl_prefetch(d->mr[i], d->mem + i * half +
					    draw_n(t, half - len + 1), len,
					    (int)draw_n(t, 2)), "prefetch");
}

/* The CPU writes new bytes, or reads what there is. */
static void act_touch(struct thread *t, struct side *d)
{
	struct slot *b = act_pick(t, d->mine);
	struct swarm *s = t->proc->s;
	uint32_t n = act_length(t, b->bytes), i;
	uint64_t at = b->at + draw_n(t, b->bytes - n + 1);
	uint8_t *bytes = malloc(n);
	bool write = draw_n(t, 2);

	for (i = 0; write && i < n; i++)
		bytes[i] = (uint8_t)rng_next(&t->rng);
	if (!write)
		swarm_store(bytes, d->mem + at, n);
	sim_spin_lock(&s->model);
	if (write)
		oracle_store(s->oracle, d->area, at, bytes, n);
	else
		oracle_look(s->oracle, d->area, at, bytes, n);
	sim_spin_unlock(&s->model);
	if (write)
		swarm_store(d->mem + at, bytes, n);
	free(bytes);
	swarm_model_judge(d, "read by the CPU");
}

static void act_protect(struct thread *t, struct side *d)
{
	static const int rights[] = { 0, FL_PROT_READ,
				      FL_PROT_READ | FL_PROT_WRITE };
	uint64_t at = draw_n(t, SCRATCH_PAGES);
	uint64_t n = 1 + draw_n(t, SCRATCH_PAGES - at);
	struct proc *p = t->proc;

	/* Pages without write access still are a good source. */
	if (draw_n(t, 2) && p->threads == 1) {
		swarm_model_check(d,
				  fl_protect(p->dev, d->mem,
					     d->bytes / 2 & -PAGE,
					     FL_PROT_READ), "protect");
		sim_sleep(1 + draw_n(t, NAP_NS));
		swarm_model_check(d, fl_protect(p->dev, d->mem, d->bytes,
						FL_PROT_READ | FL_PROT_WRITE),
				  "protect");
		return;
	}
	act_tolerate(d, fl_protect(p->dev, p->scratch + at * PAGE, n * PAGE,
				   rights[draw_n(t, 3)]), "protect scratch");
}

static void act_unmap(struct thread *t, struct side *d)
{
	uint64_t at = draw_n(t, SCRATCH_PAGES), pages_n = 1 + draw_n(t, 8);
	uint8_t *mem;

	if (draw_n(t, 2)) {
		act_tolerate(d, fl_advise(t->proc->dev, t->proc->scratch +
					  at * PAGE, (SCRATCH_PAGES - at) *
					  PAGE, FL_DONTNEED), "drop scratch");
		return;
	}
	mem = fl_alloc(t->proc->dev, pages_n * PAGE);
	if (!mem)
		return;
	memset(mem, (int)pages_n, pages_n * PAGE);
	if (mem[pages_n * PAGE - 1] != (uint8_t)pages_n)
		swarm_problem(t->proc->s, "new memory forgets");
	swarm_model_check(d, fl_free(t->proc->dev, mem, pages_n * PAGE),
			  "unmap");
}

int act_pick_region(struct side *d, unsigned int i)
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
	if (!err)	/* a library that would keep the key */
		err = fl_unmapped(d->proc->dev, d->mem + half, half);
	swarm_model_check(d, err, "take a region back");
	if (err)
		return;
	d->mr[1] = NULL;
	before = malloc(half);
	after = malloc(half);
	if (!mm_copy(d->proc->mm, (uintptr_t)d->mem + half, before, half,
		     false)) {
		sim_sleep(1 + draw_n(t, 20 * NAP_NS));
		if (!mm_copy(d->proc->mm, (uintptr_t)d->mem + half, after,
			     half, false) && memcmp(before, after, half))
			swarm_problem(t->proc->s, "connection %d side %u: the "
				      "card wrote to a region that was taken "
				      "back",
				      (int)(d->conn - t->proc->s->conn), d->i);
	}
	free(before);
	free(after);
	atomic_fetch_add(&t->proc->s->revokes, 1);
	swarm_model_check(d, act_pick_region(d, 1), "give a region again");
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

void act_any(struct thread *t, struct side *d)
{
	const unsigned int *chaos = t->proc->s->p.chaos;
	unsigned int sum = 0, i, hit;

	for (i = C_PAGEOUT; i < C_COUNT; i++)
		sum += chaos[i];
	hit = (unsigned int)draw_n(t, 60 + sum);
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
		if (!draw_n(t, 20))
			act_kill(t);
		break;
	default:
		act_post(t, d);
	}
}
