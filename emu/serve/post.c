// SPDX-License-Identifier: BSD-2-Clause
/*
 * post.c - what a process posts: doorbells, which become writes to its own page of
 * the card's registers, and what the library did, for the trace.
 */
#include "faultline/regs.h"
#include "serve/serve_internal.h"
#include "sim/sim.h"

/* An entry, copied once; what the process writes there later changes nothing. */
struct post {
	uint32_t kind, offset, value;
	struct trace_posted said;	/* what is for the trace */
};

static bool next_post(struct client *c, struct post *p)
{
	struct attach_post *e = &c->shared->post[c->post_tail % ATTACH_POSTS];
	volatile struct attach_post *v = e;
	struct trace_posted *said = &p->said;

	/* Acquire: pairs with the poster's release of seq. */
	if (atomic_load_explicit(&e->seq, memory_order_acquire) !=
	    c->post_tail + 1)
		return false;
	p->kind = v->kind;
	p->offset = v->offset;
	p->value = v->value;
	said->xfer = v->xfer;
	said->qp = v->arg[0];
	said->op = v->arg[1];
	said->va = v->arg[2];
	said->len = v->arg[3];
	said->took = v->took;
	said->took_status = v->took_status;
	said->took_xfer = v->took_xfer;
	said->took_qp = v->took_qp;
	said->took_bytes = v->took_bytes;
	c->post_tail++;
	/* Its line is in another CPU's caches: two ahead, it comes while one entry is served. */
	__builtin_prefetch(&c->shared->post[(c->post_tail + 1) % ATTACH_POSTS]);
	return true;
}

static uint64_t post_end(struct board *b, const struct post *p)
{
	return p->said.took ? board_end_event(b, p->said.took_xfer) : 0;
}

/* Returns its record of the doorbell, or of what stands for it. */
static uint64_t post_trace(struct client *c, struct post *p, uint16_t index)
{
	struct board *b = host_board(c->kernel);
	uint64_t cause;

	p->said.board = board_id(b);
	p->said.end = post_end(b, p);
	p->said.index = index;
	cause = trace_emit_posted(board_trace(b), &p->said);
	board_publish(b, p->said.xfer);
	return cause;
}

static void post_trace_completion(struct client *c, const struct post *p)
{
	struct board *b = host_board(c->kernel);
	const struct trace_posted *s = &p->said;
	struct trace_at at = { .board = board_id(b), .xfer = s->took_xfer,
			       .cause = post_end(b, p) };

	if (s->took)
		trace_emit(board_trace(b), EV_LIB_COMPLETE, &at, s->took_qp, s->took_status,
			   s->took_bytes, 0);
}

/*
 * Doorbells in a row for one register: the card is entered once for all of them. Nothing of
 * the process is looked at in between but what it posts.
 */
struct bells {
	uint32_t offset;
	unsigned int n;
	struct board_bell bell[POSTS_AT_ONCE];
};

static void bells_ring(struct client *c, struct bells *r)
{
	volatile uint8_t *page;

	if (!r->n)
		return;
	/* The mapping must not end meanwhile (syscall.c). */
	sim_spin_lock(&c->doorbell_lock);
	page = c->doorbell;
	/* What another program says is no reason for this one to end. */
	if (page)
		host_mmio_try_ring(c->process, page + r->offset, r->bell, r->n);
	sim_spin_unlock(&c->doorbell_lock);
	r->n = 0;
}

/*
 * A page of registers takes any value at any aligned place in it (the card judges
 * them); the rest of the card is out of reach.
 */
static void bells_add(struct client *c, struct bells *r, const struct post *p, uint64_t cause)
{
	if (p->offset % 4 || p->offset > NIC_DB_STRIDE - 4) {
		atomic_store(&c->cut, true);
		return;
	}
	if (p->offset != r->offset)
		bells_ring(c, r);
	r->offset = p->offset;
	r->bell[r->n++] = (struct board_bell){ p->value, cause };
}

static void post_do(struct client *c, struct bells *r, struct post *p)
{
	uint64_t cause;

	switch (p->kind) {
	case ATTACH_POST_DOORBELL:
		cause = post_trace(c, p, (uint16_t)((p->value >> NIC_DB_SQ_TAIL_SHIFT) - 1));
		bells_add(c, r, p, cause);
		break;
	case ATTACH_PUBLISH:
		/* A doorbell too, which lies in memory: it comes behind those before it. */
		bells_ring(c, r);
		post_trace(c, p, (uint16_t)p->value);
		break;
	case ATTACH_DOORBELL:
		post_trace_completion(c, p);
		bells_add(c, r, p, trace_last_software());
		break;
	case ATTACH_COMPLETE:
		post_trace_completion(c, p);
		break;
	default:
		atomic_store(&c->cut, true);
	}
}

unsigned int posts_take(struct client *c)
{
	struct bells bells;
	struct post p;
	unsigned int n = 0;

	if (!next_post(c, &p))
		return 0;
	bells.n = bells.offset = 0;
	sim_batch_begin(c->serve->cfg.sim);
	do
		post_do(c, &bells, &p);
	while (++n < POSTS_AT_ONCE && next_post(c, &p));
	/* Release: only now may the entries be written again. */
	atomic_store_explicit(&c->shared->post_tail, c->post_tail, memory_order_release);
	bells_ring(c, &bells);
	sim_batch_end(c->serve->cfg.sim);
	atomic_fetch_add_explicit(&c->serve->count.posts, n, memory_order_relaxed);
	return n;
}
