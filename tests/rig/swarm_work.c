// SPDX-License-Identifier: BSD-2-Clause
#include "rig/swarm_work.h"

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

static void fill_slot(struct side *d, struct slot *b)
{
	struct thread *t = &d->proc->thread[d->thread];
	struct swarm *s = d->proc->s;
	uint8_t *bytes = malloc(b->bytes);
	uint32_t i;

	for (i = 0; i < b->bytes; i++)
		bytes[i] = (uint8_t)rng_next(&t->rng);
	sim_spin_lock(&s->model);
	oracle_store(s->oracle, d->area, b->at, bytes, b->bytes);
	sim_spin_unlock(&s->model);
	swarm_store(d->mem + b->at, bytes, b->bytes);
	free(bytes);
}

static void open_side(struct side *d)
{
	struct swarm *s = d->proc->s;
	unsigned int i;

	d->mem = fl_alloc(d->proc->dev, d->bytes);
	if (!d->mem) {
		swarm_model_check(d, -errno, "allocate");
		return;
	}
	for (i = 0; i < s->p.slots; i++)
		fill_slot(d, &d->mine[i]);
	swarm_model_check(d, act_pick_region(d, 0), "register");
	swarm_model_check(d, act_pick_region(d, 1), "register");
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
		err = s->p.draw == DRAW_ROWS ?
			fl_set_row(p->dev, p->system, &p->row, FL_RESOLVE_BLOCK) :
			fl_set_policy(p->dev, p->system, FL_RESOLVE_BLOCK);
	if (!err)
		err = fl_set_resolve(p->dev, p->resolve, p->resolve_number);
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
static bool swarm_work_quiet(struct thread *t)
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
		flush.rkey =
			atomic_load(&swarm_model_other(d)->proc->scratch_key);
		w.remote = (uintptr_t)swarm_model_other(d)->proc->scratch;
		act_submit(d, &flush, &w);
	}
	return all;
}

static void swarm_work_watch(struct thread *t)
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

static void swarm_work_run(struct thread *t)
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
			swarm_model_serve(t, d);
		if (t->ops && n) {
			t->ops--;
			d = own_side(t, (unsigned int)draw_n(t, n));
			act_any(t, d);
			swarm_model_poll(t, draw_n(t, 8) ? 0 : POLL_NS);
			if (!draw_n(t, 8))
				verify_under_way(d);
			t->since_ns = now_ns(s);
			continue;
		}
		if (swarm_work_quiet(t) && counted) {
			counted = false;
			atomic_fetch_sub(&s->busy, 1);
			if (t->proc->guest)
				break;
		}
		if (counted)
			swarm_model_poll(t, POLL_NS);
		else
			sim_sleep(IDLE_NS);
		swarm_work_watch(t);
	}
	if (counted)
		atomic_fetch_sub(&s->busy, 1);
}

void thread_main(void *arg)
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
	swarm_work_run(t);
	/* Some go without a word; the kernel then closes what they had. */
	if (atomic_fetch_add(&t->proc->left, 1) + 1 == t->proc->threads &&
	    t->proc->dev && !atomic_load(&s->bad) && draw_n(t, 2)) {
		if (fl_close(t->proc->dev))
			swarm_problem(s, "%s cannot close", t->proc->name);
		t->proc->dev = NULL;
	}
	atomic_store(&t->ended, true);
}
