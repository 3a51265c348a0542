// SPDX-License-Identifier: BSD-2-Clause
#include "tools/work/plan_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "tools/scenario/words.h"
#include "tools/work/pair.h"

#define WAIT_NS	10000000000ull
#define ACCESS	(FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ)

struct plan_state {
	const struct plan_run *p;
	struct plan_result *r;
	struct pair pair;
	struct testbed_buffer *src, *dst;
	struct testbed_connection *conn;
	struct pattern_access access[PATTERN_ACCESSES];
	unsigned int n;
	struct testbed_work work[PATTERN_ACCESSES];
};

static int plan_set_up(struct plan_state *s, struct testbed *w)
{
	const struct testbed_config *c = &s->p->cfg;
	const struct testbed_joining join = { .depth = 256 };
	struct testbed_board_config board[2] = { { 0 },
						 { .frames = s->p->frames } };
	struct pair_plan plan[2] = { { FL_RESOLVE_BLOCK, 0 },
				     { c->resolve, c->resolve_number } };
	int err = pair_make(&s->pair, w, board, plan);

	if (!err)
		err = testbed_buffer_add(s->pair.p, "src", PATTERN_MOST, NULL,
					 &s->src);
	if (!err)
		err = testbed_buffer_fill(s->src, TESTBED_RANDOM, c->seed);
	if (!err)
		err = testbed_buffer_add(s->pair.q, "dst", PATTERN_BYTES, NULL,
					 &s->dst);
	if (!err)
		err = testbed_region_add(s->src, 0, 0, ACCESS, 0);
	if (!err)
		err = testbed_region_add(s->dst, 0, 0, ACCESS, 0);
	if (!err)
		err = testbed_connect(s->pair.p, s->pair.q, "c", &join, &s->conn);
	return err;
}

static int plan_post(struct plan_state *s, unsigned int i)
{
	const struct pattern_access *a = &s->access[i];
	struct testbed_work *k = &s->work[i];

	k->name = "w";
	k->opcode = a->read ? FL_READ : FL_WRITE;
	k->conn = s->conn;
	k->local = s->src;
	k->remote = s->dst;
	k->local_va = (uint64_t)(uintptr_t)s->src->mem;
	k->remote_va = (uint64_t)(uintptr_t)s->dst->mem + a->at;
	k->lkey = s->src->key;
	k->rkey = s->dst->key;
	k->bytes = a->bytes;
	return testbed_post(s->pair.w, k);
}

static int plan_wait(struct plan_state *s, unsigned int i)
{
	int err = testbed_wait(s->pair.w, &s->work[i], WAIT_NS, TESTBED_POLLING);

	return err ? err : s->work[i].status ? -EIO : 0;
}

static int plan_transfer(struct plan_state *s)
{
	unsigned int i, done = 0;
	int err = 0;

	for (i = 0; i < s->n && !err; i++) {
		err = plan_post(s, i);
		if (!err && i + 1 >= s->p->depth)
			err = plan_wait(s, done++);
	}
	while (!err && done < s->n)
		err = plan_wait(s, done++);
	if (!err)
		s->r->time_ns = s->work[s->n - 1].done_ns - s->work[0].post_ns;
	return err;
}

static int plan_count(struct plan_state *s)
{
	struct fl_fault_counters c;
	struct host_stats h;
	int err = testbed_counters(s->pair.q, &c);

	host_stats(s->pair.b->kernel, &h);
	s->r->faults = c.faults;
	s->r->pages_in = h.pages_brought;
	s->r->unused = host_pages_unused(s->pair.b->kernel);
	s->r->evictions = h.evictions;
	return err;
}

static void plan_script(struct testbed *w, void *arg)
{
	struct plan_state *s = arg;
	int err = plan_set_up(s, w);

	if (!err)
		err = plan_transfer(s);
	if (!err)
		err = plan_count(s);
	if (err)
		snprintf(s->r->problem, sizeof(s->r->problem), "%s %s",
			 word_errno_name(err), testbed_why(w));
}

int plan_run(const struct plan_run *p, struct plan_result *r)
{
	struct plan_state *s = calloc(1, sizeof(*s));
	int err;

	memset(r, 0, sizeof(*r));
	if (!s) {
		snprintf(r->problem, sizeof(r->problem), "no memory");
		return 1;
	}
	s->p = p;
	s->r = r;
	s->n = pattern_make(p->pattern, p->cfg.seed, s->access);
	err = pair_run(&p->cfg, plan_script, s, r->problem, sizeof(r->problem));
	if (err == -EDEADLK)
		return 1;	/* threads that can never end still use s */
	free(s);
	return err || r->problem[0];
}
