// SPDX-License-Identifier: BSD-2-Clause
/* Areas: which writes each byte may come from. */
#include <stdlib.h>
#include <string.h>

#include "tools/scenario/oracle_internal.h"

/* ---- segments ---- */

static unsigned int segment_find(const struct area *a, uint64_t at)
{
	unsigned int low = 0, high = a->segs, mid;

	while (high - low > 1) {
		mid = (low + high) / 2;
		if (a->seg[mid].at <= at)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static void segment_split(struct area *a, uint64_t at)
{
	unsigned int i;
	struct segment *s, *t;

	if (!at || at >= a->n)
		return;
	i = segment_find(a, at);
	if (a->seg[i].at == at)
		return;
	a->seg = oracle_room(a->seg, a->segs, &a->room, sizeof(*a->seg));
	s = &a->seg[i];
	t = s + 1;
	memmove(t + 1, t, (a->segs++ - i - 1) * sizeof(*s));
	*t = *s;
	t->at = s->end = at;
	t->op = NULL;
	t->room = 0;
	for (t->ops = 0; t->ops < s->ops; t->ops++) {
		t->op = oracle_room(t->op, t->ops, &t->room, sizeof(*t->op));
		t->op[t->ops] = s->op[t->ops];
	}
}

unsigned int oracle_cut(struct area *a, uint64_t at, uint64_t end)
{
	segment_split(a, at);
	segment_split(a, end);
	return segment_find(a, at);
}

/* Without writes to choose from, when a base was written does not matter. */
static bool segment_mergeable(const struct segment *s, const struct segment *t)
{
	return s->base == t->base && !s->ops && !t->ops;
}

void oracle_merge(struct area *a, uint64_t at, uint64_t end)
{
	unsigned int i = segment_find(a, at), to, k;

	i -= i > 0;
	for (to = i, k = i + 1; k < a->segs && a->seg[k].at <= end; k++) {
		if (segment_mergeable(&a->seg[to], &a->seg[k])) {
			a->seg[to].end = a->seg[k].end;
			free(a->seg[k].op);
		} else {
			a->seg[++to] = a->seg[k];
		}
	}
	if (to + 1 == k)
		return;
	memmove(&a->seg[to + 1], &a->seg[k], (a->segs - k) * sizeof(*a->seg));
	a->segs -= k - to - 1;
}

void oracle_segment_drop(struct segment *s, unsigned int i)
{
	memmove(&s->op[i], &s->op[i + 1], (--s->ops - i) * sizeof(*s->op));
}

static void segment_add(struct segment *s, struct op *w)
{
	s->op = oracle_room(s->op, s->ops, &s->room, sizeof(*s->op));
	s->op[s->ops++] = w;
}

/* ---- writes ---- */

static void segment_settle(struct oracle *o, struct segment *s)
{
	unsigned int i, k;
	struct op *w;

	for (i = 0; i < s->ops; i++)
		if (s->op[i]->never)
			oracle_segment_drop(s, i--);
	for (i = 0; i < s->ops; i++) {
		w = s->op[i];
		if (!w->done)
			continue;
		if (s->base != BASE_NONE && s->base_time < w->post)
			s->base = BASE_NONE;
		for (k = 0; k < s->ops; k++) {
			if (!oracle_before(o, s->op[k], w))
				continue;
			oracle_segment_drop(s, k);
			if (k-- < i)
				i--;
		}
	}
}

/* One write is left, and what it wrote is known: plain bytes. */
static void segment_flatten(struct oracle *o, struct area *a,
			    struct segment *s)
{
	const struct piece *p, *only = NULL;
	const struct op *w = s->op[0];
	uint64_t at = s->at - w->to_at, end = s->end - w->to_at;
	unsigned int i;

	if (w->any || w->end == NOT_ENDED)
		return;
	for (i = 0; i < w->pieces; i++) {
		p = &w->piece[i];
		if (p->at >= end || p->at + p->n <= at)
			continue;
		if (only)
			return;
		only = p;
	}
	if (!only || !only->data || only->at > at || only->at + only->n < end)
		return;
	memcpy(a->base + s->at, only->data + (at - only->at), s->end - s->at);
	s->base = BASE_KNOWN;
	s->base_time = o->time;
	s->ops = 0;
}

void oracle_settle(struct oracle *o, struct op *w)
{
	struct area *a;
	unsigned int i;

	if (w->to == ORACLE_NOWHERE || !w->n)
		return;
	a = &o->area[w->to];
	/* Each segment is in the range as a whole: landing cut it there. */
	i = segment_find(a, w->to_at);
	for (; i < a->segs && a->seg[i].at < w->to_at + w->n; i++) {
		segment_settle(o, &a->seg[i]);
		if (a->seg[i].ops == 1 && a->seg[i].base == BASE_NONE &&
		    a->seg[i].op[0]->done)
			segment_flatten(o, a, &a->seg[i]);
	}
	oracle_merge(a, w->to_at, w->to_at + w->n);
}

void oracle_land(struct oracle *o, struct op *w)
{
	struct area *a;
	unsigned int i;

	if (w->to == ORACLE_NOWHERE || !w->n)
		return;
	a = &o->area[w->to];
	i = oracle_cut(a, w->to_at, w->to_at + w->n);
	for (; i < a->segs && a->seg[i].at < w->to_at + w->n; i++)
		segment_add(&a->seg[i], w);
	oracle_tell_sources(o, w->to, w->to_at, w->n, NULL, w);
}

void oracle_leave(struct oracle *o, struct op *w)
{
	struct area *a;
	unsigned int i, k;

	if (w->to == ORACLE_NOWHERE || !w->n)
		return;
	a = &o->area[w->to];
	i = segment_find(a, w->to_at);
	for (; i < a->segs && a->seg[i].at < w->to_at + w->n; i++)
		for (k = 0; k < a->seg[i].ops; k++)
			if (a->seg[i].op[k] == w)
				oracle_segment_drop(&a->seg[i], k--);
	/* Nothing is merged: something as old as w may land there yet. */
}

/* ---- sources ---- */

/* Something comes surely between v (NULL: the base) and w, which takes bytes. */
static bool is_hidden(const struct oracle *o, const struct segment *s,
		      const struct op *v, const struct op *w)
{
	const struct op *u;
	unsigned int i;

	for (i = 0; i < s->ops; i++) {
		u = s->op[i];
		if (u->never || u->failed || !oracle_before_source(o, u, w))
			continue;
		if (v ? v != u && oracle_before(o, v, u) :
			s->base_time < u->post)
			return true;
	}
	return false;
}

void oracle_sources(struct oracle *o, struct op *w)
{
	uint64_t end = w->from_at + w->n, at, from, n;
	const struct segment *s;
	const struct area *a;
	unsigned int i, k;

	if (w->from == ORACLE_NOWHERE || !w->n) {
		w->any = true;
		return;
	}
	a = &o->area[w->from];
	i = segment_find(a, w->from_at);
	for (; i < a->segs && a->seg[i].at < end; i++) {
		s = &a->seg[i];
		from = s->at > w->from_at ? s->at : w->from_at;
		n = (s->end < end ? s->end : end) - from;
		at = from - w->from_at;
		if (s->base != BASE_NONE && is_hidden(o, s, NULL, w))
			w->filtered = true;
		else if (s->base != BASE_NONE)
			oracle_piece(o, w, at, n, s->base == BASE_KNOWN ?
				     a->base + from : NULL, NULL, 0);
		for (k = 0; k < s->ops; k++) {
			if (is_hidden(o, s, s->op[k], w))
				w->filtered = true;
			else if (s->op[k] != w)
				oracle_piece(o, w, at, n, NULL, s->op[k],
					     from - s->op[k]->to_at);
		}
	}
}

void oracle_tell_sources(struct oracle *o, uint32_t area, uint64_t at,
			 uint64_t n, const uint8_t *data, struct op *op)
{
	uint64_t from, end;
	unsigned int i;
	struct op *w;

	for (i = 0; i < o->opens; i++) {
		w = o->open[i];
		if (w->from != area || w->done || w->never ||
		    w->from_at >= at + n || w->from_at + w->n <= at)
			continue;
		/* Most later ones are not begun before its bytes were taken. */
		if (op && oracle_after_source(o, op, w)) {
			w->filtered = true;
			continue;
		}
		from = w->from_at > at ? w->from_at : at;
		end = w->from_at + w->n < at + n ? w->from_at + w->n : at + n;
		oracle_piece(o, w, from - w->from_at, end - from,
			     data ? data + (from - at) : NULL, op,
			     op ? from - op->to_at : 0);
	}
}
