// SPDX-License-Identifier: BSD-2-Clause
#include "tools/scenario/oracle_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* When to look for what is not needed any more. */
#define SWEEP_FIRST	256
#define SWEEP_BYTES	(64ull << 20)

void *oracle_need(void *p)
{
	if (p)
		return p;
	fprintf(stderr, "faultline: no memory for the model of all bytes\n");
	/* Other threads run: nothing of theirs is taken down. */
	_exit(1);
}

void *oracle_room(void *p, unsigned int n, unsigned int *room, size_t one)
{
	if (n < *room)
		return p;
	*room = *room ? 2 * *room : 4;
	return oracle_need(realloc(p, *room * one));
}

static void name_copy(char to[ORACLE_NAME], const char *name)
{
	snprintf(to, ORACLE_NAME, "%s", name ? name : "?");
}

void oracle_say(struct oracle *o, const char *fmt, ...)
{
	va_list ap;

	if (o->problem[0])
		return;
	va_start(ap, fmt);
	vsnprintf(o->problem, sizeof(o->problem), fmt, ap);
	va_end(ap);
}

const char *oracle_problem(const struct oracle *o)
{
	return o->problem[0] ? o->problem : NULL;
}

/* ---- life ---- */

struct oracle *oracle_create(void)
{
	struct oracle *o = calloc(1, sizeof(*o));

	if (o)
		o->sweep_at = SWEEP_FIRST;
	if (o)
		o->copied_max = SWEEP_BYTES;
	return o;
}

static void op_free(struct oracle *o, struct op *w)
{
	unsigned int i;

	for (i = 0; i < w->pieces; i++) {
		if (w->piece[i].data)
			o->copied -= w->piece[i].n;
		free(w->piece[i].data);
	}
	free(w->piece);
	free(w);
}

void oracle_destroy(struct oracle *o)
{
	unsigned int i, k;

	if (!o)
		return;
	for (i = 0; i < o->areas; i++) {
		for (k = 0; k < o->area[i].segs; k++)
			free(o->area[i].seg[k].op);
		free(o->area[i].seg);
		free(o->area[i].base);
	}
	for (i = 0; i < o->ops; i++)
		op_free(o, o->op[i]);
	for (i = 0; i < o->pairs; i++)
		oracle_mail_free(o->pair[i].mail);
	free(o->op);
	free(o->open);
	free(o->area);
	free(o->pair);
	free(o);
}

uint32_t oracle_area(struct oracle *o, const char *name, uint64_t bytes)
{
	struct area *a;

	o->area = oracle_room(o->area, o->areas, &o->area_room, sizeof(*a));
	a = &o->area[o->areas];
	*a = (struct area){ .n = bytes, .segs = 1, .room = 1 };
	name_copy(a->name, name);
	a->base = oracle_need(calloc(bytes + 1, 1));
	a->seg = oracle_need(calloc(1, sizeof(*a->seg)));
	a->seg->end = bytes;
	a->seg->base = BASE_KNOWN;
	a->seg->base_time = o->time;
	return o->areas++;
}

uint32_t oracle_pair(struct oracle *o, const char *name, enum oracle_order order)
{
	uint32_t n = o->pairs;
	struct pair *p;

	o->pair = oracle_room(o->pair, o->pairs, &o->pair_room, sizeof(*p));
	p = &o->pair[o->pairs];
	*p = (struct pair){ .kept = order };
	name_copy(p->name, name);
	o->pairs++;
	if (order == ORACLE_DATAGRAMS)
		oracle_mail_create(o, n);
	return n;
}

/* ---- writes that nothing refers to any more ---- */

static void oracle_mark(struct op *w)
{
	unsigned int i;

	if (w->marked)
		return;
	w->marked = true;
	for (i = 0; i < w->pieces; i++)
		if (w->piece[i].op)
			oracle_mark(w->piece[i].op);
}

static void oracle_sweep(struct oracle *o)
{
	unsigned int i, k, n, left = 0;
	struct op *w;

	for (i = 0; i < o->opens; i++)
		oracle_mark(o->open[i]);
	for (i = 0; i < o->areas; i++)
		for (k = 0; k < o->area[i].segs; k++)
			for (n = 0; n < o->area[i].seg[k].ops; n++)
				oracle_mark(o->area[i].seg[k].op[n]);
	for (i = 0; i < o->pairs; i++)
		for (k = 0; o->pair[i].mail &&
			    (w = oracle_mail_op(o->pair[i].mail, k)) != NULL; k++)
			oracle_mark(w);
	for (i = 0; i < o->ops; i++) {
		if (!o->op[i]->marked) {
			op_free(o, o->op[i]);
			continue;
		}
		o->op[i]->marked = false;
		o->op[left++] = o->op[i];
	}
	o->ops = left;
	o->sweep_at = 2 * left > SWEEP_FIRST ? 2 * left : SWEEP_FIRST;
	o->copied_max = 2 * o->copied > SWEEP_BYTES ? 2 * o->copied :
						      SWEEP_BYTES;
}

struct op *oracle_op_new(struct oracle *o, const char *name)
{
	struct op *w;

	if (o->ops >= o->sweep_at || o->copied >= o->copied_max)
		oracle_sweep(o);
	w = oracle_need(calloc(1, sizeof(*w)));
	name_copy(w->name, name);
	w->pair = w->from = w->to = ORACLE_NOWHERE;
	w->end = NOT_ENDED;
	o->op = oracle_room(o->op, o->ops, &o->op_room, sizeof(w));
	o->op[o->ops++] = w;
	return w;
}

void oracle_piece(struct oracle *o, struct op *w, uint64_t at, uint64_t n,
		  const uint8_t *data, struct op *op, uint64_t op_at)
{
	struct piece *p;

	w->piece = oracle_room(w->piece, w->pieces, &w->room, sizeof(*p));
	p = &w->piece[w->pieces++];
	*p = (struct piece){ .at = at, .n = n, .op = op, .op_at = op_at };
	if (!data)
		return;
	p->data = oracle_need(malloc(n));
	o->copied += n;
	memcpy(p->data, data, n);
}

/* ---- order ---- */

static bool same_order(const struct oracle *o, const struct op *v,
		       const struct op *w)
{
	if (v->pair != w->pair || v->pair == ORACLE_NOWHERE || v->order >= w->order)
		return false;
	switch (o->pair[v->pair].kept) {
	case ORACLE_RELAXED:
		return w->fence;
	case ORACLE_PACKETS:
		return !v->read || w->read || w->fence;
	case ORACLE_DATAGRAMS:
	case ORACLE_RECEIVES:
		return false;
	case ORACLE_FRAGMENTS:
	case ORACLE_POSTED:
		break;
	}
	return true;
}

bool oracle_before(const struct oracle *o, const struct op *v,
		   const struct op *w)
{
	return v->end < w->post || same_order(o, v, w);
}

/* Has v written, when w takes its bytes: a READ at the peer, a WRITE here? */
static bool source_order(const struct oracle *o, const struct op *v,
			 const struct op *w)
{
	if (!same_order(o, v, w))
		return false;
	if (o->pair[v->pair].kept == ORACLE_PACKETS)
		return w->read ? !v->read : v->read && w->fence;
	if (o->pair[v->pair].kept == ORACLE_FRAGMENTS)
		return w->fence;
	return w->read || v->read || w->fence;
}

bool oracle_before_source(const struct oracle *o, const struct op *v,
			  const struct op *w)
{
	return (v->done && v->end < w->post) || source_order(o, v, w);
}

bool oracle_after_source(const struct oracle *o, const struct op *v, const struct op *w)
{
	if (v == w || !same_order(o, w, v))
		return false;
	/* A fragment that was lost takes its bytes anew, when later ones may have landed. */
	return o->pair[w->pair].kept != ORACLE_FRAGMENTS || v->fence;
}

/* ---- requests ---- */

static uint64_t oracle_clip(const struct oracle *o, uint32_t area, uint64_t at,
			    uint64_t n)
{
	uint64_t all = area == ORACLE_NOWHERE ? UINT64_MAX : o->area[area].n;

	return at >= all ? 0 : n < all - at ? n : all - at;
}

uint64_t oracle_post(struct oracle *o, const struct oracle_work *r)
{
	struct op *w = oracle_op_new(o, r->name);

	w->number = ++o->numbers;
	w->post = ++o->time;
	w->pair = r->pair;
	w->order = o->pair[r->pair].orders++;
	w->read = r->read;
	w->fence = r->fence;
	w->doubtful = r->doubtful;
	w->from = r->from;
	w->to = r->to;
	w->from_at = r->from_at;
	w->to_at = r->to_at;
	w->n = oracle_clip(o, r->to, r->to_at, r->bytes);
	/* Where its bytes lead beyond an area it must fail. */
	w->n = oracle_clip(o, r->from, r->from_at, w->n);
	oracle_sources(o, w);
	o->open = oracle_room(o->open, o->opens, &o->open_room, sizeof(w));
	o->open[o->opens++] = w;
	oracle_land(o, w);
	if (o->pair[r->pair].mail)
		oracle_mail_post(o, w, r);
	return w->number;
}

void oracle_close_op(struct oracle *o, struct op *w)
{
	unsigned int i;

	for (i = 0; i < o->opens && o->open[i] != w; i++)
		;
	if (i == o->opens)
		return;
	memmove(&o->open[i], &o->open[i + 1],
		(--o->opens - i) * sizeof(*o->open));
}

static void op_never(struct oracle *o, struct op *w)
{
	w->never = true;
	w->end = o->time;
	oracle_settle(o, w);
}

void oracle_done(struct oracle *o, struct op *w)
{
	if (w->done || w->never)
		return;
	w->done = true;
	w->end = ++o->time;
	oracle_settle(o, w);
}

/* No request behind one that was not carried out is carried out. */
static void oracle_refuse(struct oracle *o, const struct op *w)
{
	unsigned int i;
	bool may_pass = o->pair[w->pair].kept == ORACLE_FRAGMENTS;
	struct op *v;

	for (i = 0; i < o->opens; i++) {
		v = o->open[i];
		/* What finds its place in any order may have found it before the refusal. */
		if (may_pass && !v->fence)
			continue;
		/* A READ may fail at its own side when all was read. */
		if (same_order(o, w, v) && !(w->read && v->read) && !v->never)
			op_never(o, v);
	}
}

static void oracle_fail(struct oracle *o, struct op *w, enum oracle_end end)
{
	w->failed = true;
	if (end == ORACLE_REFUSED && w->done)
		oracle_say(o, "%s was refused, but what was posted behind it "
			   "on %s had been seen before", w->name,
			   o->pair[w->pair].name);
	if (w->filtered)
		w->any = true;
	if (end == ORACLE_REFUSED)
		oracle_refuse(o, w);
	if (end == ORACLE_UNPOSTED)
		op_never(o, w);
}

struct op *oracle_find_open(struct oracle *o, uint64_t number)
{
	unsigned int i;

	for (i = 0; i < o->opens; i++)
		if (o->open[i]->number == number)
			return o->open[i];
	return NULL;
}

void oracle_target(struct oracle *o, uint64_t number, uint32_t to, uint64_t at,
		   uint64_t n)
{
	struct op *w = oracle_find_open(o, number);

	/* What has failed before it found a place never does. */
	if (!w || w->failed)
		return;
	w->to = to;
	w->to_at = at;
	n = oracle_clip(o, to, at, n);
	if (n < w->n)
		w->n = n;
	oracle_land(o, w);
}

void oracle_complete(struct oracle *o, uint64_t number, enum oracle_end end)
{
	struct op *w = oracle_find_open(o, number);
	struct pair *p;

	if (!w || w->failed) {
		oracle_say(o, "a request completed (%s) that was not in "
			   "flight", w ? w->name : "unknown");
		return;
	}
	p = &o->pair[w->pair];
	if (end == ORACLE_UNPOSTED) {
		p->orders--;	/* it was the last one */
		if (p->mail)
			oracle_mail_unpost(p->mail);
	} else if (w->order != p->completed++) {
		oracle_say(o, "%s completed out of order on %s", w->name,
			   p->name);
		p->completed = w->order + 1;
	}
	o->time++;
	if (end == ORACLE_OK && w->never)
		oracle_say(o, "%s succeeded on %s behind a request that was "
			   "refused", w->name, p->name);
	if (end == ORACLE_OK)
		oracle_done(o, w);
	else
		oracle_fail(o, w, end);
	if (p->mail && end != ORACLE_OK && end != ORACLE_UNPOSTED)
		oracle_mail_fail(o, w);
	if (end == ORACLE_OK || w->never || w->done)
		oracle_close_op(o, w);
}

void oracle_pair_end(struct oracle *o, uint32_t pair)
{
	unsigned int i;

	for (i = 0; i < o->opens; i++) {
		if (o->open[i]->pair != pair || o->open[i]->failed)
			continue;
		oracle_fail(o, o->open[i], ORACLE_LOST);
	}
	o->pair[pair].completed = o->pair[pair].orders;
}

static void oracle_end_rest(struct oracle *o, bool all, uint32_t pair)
{
	unsigned int i, left = 0;

	o->time++;
	for (i = 0; i < o->opens; i++) {
		if (!o->open[i]->failed || (!all && o->open[i]->pair != pair))
			o->open[left++] = o->open[i];
		else if (o->open[i]->end == NOT_ENDED)
			o->open[i]->end = o->time;
	}
	o->opens = left;
}

void oracle_pair_rest(struct oracle *o, uint32_t pair)
{
	oracle_end_rest(o, false, pair);
}

void oracle_rest(struct oracle *o)
{
	oracle_end_rest(o, true, 0);
}

/* ---- stores ---- */

static void oracle_store_bytes(struct oracle *o, uint32_t area, uint64_t at,
			       const uint8_t *bytes, uint64_t n, enum base base)
{
	struct area *a = &o->area[area];
	uint64_t end = at + n;
	struct segment *s;
	unsigned int i, k;

	o->time++;
	i = oracle_cut(a, at, end);
	for (; i < a->segs && a->seg[i].at < end; i++) {
		s = &a->seg[i];
		for (k = 0; k < s->ops; k++)
			if (s->op[k]->end != NOT_ENDED)
				oracle_segment_drop(s, k--);
		s->base = base;
		s->base_time = o->time;
	}
	if (base == BASE_KNOWN && bytes)
		memcpy(a->base + at, bytes, n);
	else if (base == BASE_KNOWN)
		memset(a->base + at, 0, n);
	oracle_tell_sources(o, area, at, n, base == BASE_KNOWN ?
			    a->base + at : NULL, NULL);
	oracle_merge(a, at, end);
	o->time++;
}

void oracle_store(struct oracle *o, uint32_t area, uint64_t at,
		  const uint8_t *bytes, uint64_t n)
{
	n = oracle_clip(o, area, at, n);
	if (n)
		oracle_store_bytes(o, area, at, bytes, n, BASE_KNOWN);
}

void oracle_forget(struct oracle *o, uint32_t area, uint64_t at, uint64_t n)
{
	n = oracle_clip(o, area, at, n);
	if (n)
		oracle_store_bytes(o, area, at, NULL, n, BASE_ANY);
}

/* What is loaded may be older than what lands just before the store. */
static void touch_one(struct oracle *o, uint32_t area, uint64_t at,
		      uint64_t n)
{
	struct op *w = oracle_op_new(o, "touch");

	w->post = ++o->time;
	w->from = w->to = area;
	w->from_at = w->to_at = at;
	w->n = n;
	oracle_sources(o, w);
	oracle_land(o, w);
	oracle_done(o, w);
}

static bool segment_is_open(const struct segment *s)
{
	unsigned int i;

	for (i = 0; i < s->ops; i++)
		if (s->op[i]->end == NOT_ENDED)
			return true;
	return false;
}

void oracle_touch(struct oracle *o, uint32_t area, uint64_t at, uint64_t n)
{
	uint64_t end = at + oracle_clip(o, area, at, n), next;
	unsigned int i;

	for (; at < end; at = next) {
		i = oracle_cut(&o->area[area], at, end);
		next = o->area[area].seg[i].end;
		if (segment_is_open(&o->area[area].seg[i]))
			touch_one(o, area, at, next - at);
	}
	oracle_merge(&o->area[area], 0, o->area[area].n);
}

bool oracle_open(const struct oracle *o, unsigned int i, uint32_t *area,
		 uint64_t *at, uint64_t *n)
{
	if (i >= o->opens)
		return false;
	*area = o->open[i]->to;
	*at = o->open[i]->to_at;
	*n = *area == ORACLE_NOWHERE ? 0 : o->open[i]->n;
	return true;
}
