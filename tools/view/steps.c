// SPDX-License-Identifier: BSD-2-Clause
#include "tools/view/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/smmu_fsr.h"
#include "trace/trace.h"

struct post {
	uint8_t board;
	uint64_t qp;
	uint32_t xfer;
	size_t at;
};

struct making {
	const struct view_trace *t;
	struct steps *s;
	struct post *post;
	size_t posts;
};

/* ---- names ---- */

static int post_compare(const void *a, const void *b)
{
	const struct post *x = a, *y = b;

	if (x->board != y->board)
		return x->board < y->board ? -1 : 1;
	if (x->qp != y->qp)
		return x->qp < y->qp ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Queue pairs are numbered by the driver, and each posts in order. */
static uint32_t name_xfer(const struct making *m, uint32_t xfer)
{
	size_t i;

	for (i = 0; xfer && i < m->posts; i++)
		if (m->post[i].xfer == xfer)
			return (uint32_t)i + 1;
	return 0;
}

/*
 * By the address alone: a report does not name the process. Two that have memory at
 * the same address of their own do not happen in the small kernel, and on Linux
 * hardly: each process is laid out at random.
 */
static const struct step_region *find_region(const struct steps *s,
					     uint8_t board, uint64_t va,
					     size_t at)
{
	size_t i;

	for (i = 0; i < s->regions; i++)
		if (s->region[i].board == board && va >= s->region[i].start &&
		    va < s->region[i].end && at >= s->region[i].from &&
		    at < s->region[i].to)
			return &s->region[i];
	return NULL;
}

/* ---- regions and posts first, since the rest is told by them ---- */

static void add_region(struct steps *s, const struct trace_record *r,
		       size_t at, size_t n)
{
	struct step_region *g = &s->region[s->regions++];
	size_t i;

	*g = (struct step_region){ .board = r->board, .number = 1,
				   .key = r->arg[0], .from = at, .to = n };
	g->start = r->arg[1] & ~(uint64_t)(STEP_PAGE - 1);
	g->end = (r->arg[1] + r->arg[2] + STEP_PAGE - 1) &
		 ~(uint64_t)(STEP_PAGE - 1);
	for (i = 0; i + 1 < s->regions; i++)
		g->number += s->region[i].board == r->board;
}

static void end_region(struct steps *s, const struct trace_record *r,
		       size_t at)
{
	size_t i;

	for (i = 0; i < s->regions; i++)
		if (s->region[i].board == r->board &&
		    s->region[i].key == r->arg[0] && s->region[i].to > at)
			s->region[i].to = at;
}

/*
 * Where the driver reads requests before the card does, a process of a guest has no window
 * for its own events, and the first that is known of a request is that it was read.
 */
static bool names_xfer(const struct trace_record *r)
{
	return r->event == EV_LIB_POST || r->event == EV_DRV_SNOOP;
}

static void add_post(struct making *m, const struct trace_record *r, size_t at)
{
	size_t i;

	for (i = 0; i < m->posts; i++)
		if (m->post[i].xfer == r->xfer)
			return;
	m->post[m->posts++] = (struct post){ r->board, r->arg[0], r->xfer, at };
}

static int find_names(struct making *m)
{
	const struct trace_record *r = m->t->r;
	size_t i, n = m->t->n, regions = 0, posts = 0;

	for (i = 0; i < n; i++) {
		regions += r[i].event == EV_DRV_MR;
		posts += names_xfer(&r[i]);
	}
	m->s->region = calloc(regions + 1, sizeof(*m->s->region));
	m->post = calloc(posts + 1, sizeof(*m->post));
	if (!m->s->region || !m->post)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (r[i].event == EV_DRV_MR)
			add_region(m->s, &r[i], i, n);
		else if (r[i].event == EV_DRV_MR_GONE)
			end_region(m->s, &r[i], i);
		else if (names_xfer(&r[i]))
			add_post(m, &r[i], i);
	}
	qsort(m->post, m->posts, sizeof(*m->post), post_compare);
	return 0;
}

/* ---- steps ---- */

static void step_place(struct step *k, const struct steps *s, uint64_t va,
		       char text[32])
{
	const struct step_region *g = find_region(s, k->board, va, k->at);

	snprintf(text, 32, "outside");
	if (!g)
		return;
	k->region = g->number;
	k->page = (va - g->start) / STEP_PAGE;
	snprintf(text, 32, "r%u+0x%llx", g->number,
		 (unsigned long long)(va - g->start));
}

/* False: no step of the driver's work for a block. */
static bool step_tell(struct step *k, const struct steps *s,
		      const struct trace_record *r)
{
	const unsigned long long *a = (const unsigned long long *)r->arg;
	char at[32];

	switch (r->event) {
	case EV_DRV_IRQ_FAULT:
		step_place(k, s, r->arg[2], at);
		k->map = r->arg[3];
		snprintf(k->text, sizeof(k->text),
			 "IRQ_FAULT %s %s map=0x%llx",
			 r->arg[1] ? "dest" : "source", at, a[3]);
		return true;
	case EV_DRV_WORK:
		step_place(k, s, r->arg[2], at);
		snprintf(k->text, sizeof(k->text), "WORK %s %s len=%llu",
			 r->arg[1] ? "dest" : "source", at, a[3]);
		return true;
	case EV_DRV_RESOLVE:
		step_place(k, s, r->arg[0], at);
		k->pages = r->arg[1];
		k->write = r->arg[2];
		k->failed = r->arg[3];
		snprintf(k->text, sizeof(k->text),
			 "RESOLVE %s pages=%llu %s error=%d", at, a[1],
			 r->arg[2] ? "write" : "read", (int)r->arg[3]);
		return true;
	case EV_DRV_READY:
		k->failed = r->arg[2];
		snprintf(k->text, sizeof(k->text), "READY %s code=%llu",
			 r->arg[1] ? "dest" : "source", a[2]);
		return true;
	case EV_DRV_RESUME:
		step_place(k, s, r->arg[2], at);
		snprintf(k->text, sizeof(k->text), "RESUME %s %s", at,
			 r->arg[1] ? "terminate" : "retry");
		return true;
	case EV_DRV_INVALIDATE:
		step_place(k, s, r->arg[1], at);
		k->pages = r->arg[2];
		snprintf(k->text, sizeof(k->text), "INVALIDATE %s pages=%llu",
			 at, a[2]);
		return r->xfer;
	}
	return false;
}

int step_block_compare(const struct step *a, const struct step *b)
{
	if (a->xfer != b->xfer)
		return a->xfer < b->xfer ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->board < b->board ? -1 : a->board > b->board;
}

static int step_compare(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	int c = step_block_compare(x, y);

	return c ? c : x->at < y->at ? -1 : x->at > y->at;
}

/* ---- pages ---- */

static int page_compare(const void *a, const void *b)
{
	const struct step_page *x = a, *y = b;

	if (x->board != y->board)
		return x->board < y->board ? -1 : 1;
	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return x->page < y->page ? -1 : x->page > y->page;
}

/* Sorted, each once. */
static void merge_pages(struct step_page *p, size_t *n)
{
	size_t i, k = 0;

	qsort(p, *n, sizeof(*p), page_compare);
	for (i = 0; i < *n; i++) {
		if (k && !page_compare(&p[k - 1], &p[i]))
			p[k - 1].kind |= p[i].kind;
		else
			p[k++] = p[i];
	}
	*n = k;
}

/* The pages of each region that the range has a part of. */
static void tell_range(struct steps *s, const struct trace_record *r, size_t at)
{
	uint64_t start = r->arg[1], end = start + r->arg[2] * STEP_PAGE, va;
	const struct step_region *g;
	size_t i;

	for (i = 0; i < s->regions; i++) {
		g = &s->region[i];
		if (g->board != r->board || at < g->from || at >= g->to)
			continue;
		for (va = start > g->start ? start : g->start;
		     va < end && va < g->end; va += STEP_PAGE)
			s->told[s->tolds++] = (struct step_page){
				g->board, g->number,
				(va - g->start) / STEP_PAGE, 0
			};
	}
}

static void tell_bank(struct steps *s, const struct trace_record *r, size_t at)
{
	const struct step_region *g = find_region(s, r->board, r->arg[2], at);
	struct step_page p = { .board = r->board,
			       .kind = r->arg[1] & SMMU_FSR_KINDS };

	if (g) {
		p.region = g->number;
		p.page = (r->arg[2] - g->start) / STEP_PAGE;
	}
	s->bank[s->banks++] = p;
}

/* How many pages the notifier tells of in all, at most. */
static size_t count_told(const struct making *m)
{
	const struct trace_record *r = m->t->r;
	size_t i, k, n = 0;
	uint64_t pages;

	for (i = 0; i < m->t->n; i++) {
		if (r[i].event != EV_DRV_INVALIDATE || r[i].xfer)
			continue;
		for (k = 0; k < m->s->regions; k++) {
			pages = (m->s->region[k].end - m->s->region[k].start) /
				STEP_PAGE;
			n += r[i].arg[2] < pages ? r[i].arg[2] : pages;
		}
	}
	return n;
}

static int steps_build(struct making *m)
{
	const struct trace_record *r = m->t->r;
	struct steps *s = m->s;
	size_t i, n = m->t->n;
	struct step *k;
	int err = find_names(m);

	if (err)
		return err;
	s->step = calloc(n + 1, sizeof(*s->step));
	s->bank = calloc(n + 1, sizeof(*s->bank));
	s->told = calloc(count_told(m) + 1, sizeof(*s->told));
	if (!s->step || !s->bank || !s->told)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		k = &s->step[s->n];
		memset(k, 0, sizeof(*k));
		k->xfer = name_xfer(m, r[i].xfer);
		k->block = r[i].block;
		k->board = r[i].board;
		k->event = r[i].event;
		k->at = i;
		s->n += step_tell(k, s, &r[i]);
		if (r[i].event == EV_DRV_INVALIDATE && !r[i].xfer)
			tell_range(s, &r[i], i);
		else if (r[i].event == EV_DRV_IRQ_SMMU)
			tell_bank(s, &r[i], i);
	}
	qsort(s->step, s->n, sizeof(*s->step), step_compare);
	merge_pages(s->told, &s->tolds);
	merge_pages(s->bank, &s->banks);
	return 0;
}

int steps_make(struct steps *s, const struct view_trace *t)
{
	struct making m = { .t = t, .s = s };
	int err;

	memset(s, 0, sizeof(*s));
	if (t->lost)
		return -EOVERFLOW;
	err = steps_build(&m);
	free(m.post);
	if (err)
		steps_free(s);
	return err;
}

void steps_free(struct steps *s)
{
	free(s->step);
	free(s->region);
	free(s->told);
	free(s->bank);
	memset(s, 0, sizeof(*s));
}
