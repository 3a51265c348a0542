// SPDX-License-Identifier: BSD-2-Clause
/* Values: can these bytes be, and what do they tell? */
#include <stdio.h>
#include <string.h>

#include "tools/scenario/oracle_internal.h"

/* Bytes that went round in circles while all was under way: let them pass. */
#define DEPTH 6

/* Of an absent page: kernel-ref/fl_tables_sink.c, and what the SMMU gives for nothing. */
static bool is_absent(uint8_t value)
{
	return value == 0xa6 || !value;
}

/* Byte `at` of w may have been `value`. */
static bool may_write(const struct op *w, uint64_t at, uint8_t value,
		      unsigned int depth)
{
	const struct piece *p;
	unsigned int i;

	if (w->never)
		return false;
	if (w->any || depth == DEPTH || (w->doubtful && is_absent(value)))
		return true;
	for (i = w->pieces; i--;) {
		p = &w->piece[i];
		if (at < p->at || at - p->at >= p->n)
			continue;
		if (p->data ? p->data[at - p->at] == value :
		    !p->op || may_write(p->op, p->op_at + (at - p->at), value,
					depth + 1))
			return true;
	}
	return false;
}

/* All of these bytes are what w wrote there, at one go; or nobody knows what that was. */
static bool wrote_all(const struct op *w, uint64_t at, const uint8_t *bytes,
		      uint64_t n)
{
	const struct piece *p;
	unsigned int i;

	for (i = 0; i < w->pieces; i++) {
		p = &w->piece[i];
		if (p->at <= at && at + n <= p->at + p->n &&
		    (p->data ? !memcmp(p->data + (at - p->at), bytes, n) : !p->op))
			return true;
	}
	return false;
}

/* That w is seen says something: it is under way, and others are before it. */
static bool look_tells(const struct oracle *o, const struct op *w)
{
	if (w->done || w->failed || w->pair == ORACLE_NOWHERE)
		return false;
	switch (o->pair[w->pair].kept) {
	case ORACLE_RELAXED:
	case ORACLE_FRAGMENTS:
		return w->fence;
	case ORACLE_DATAGRAMS:
	case ORACLE_RECEIVES:
		return false;
	case ORACLE_PACKETS:
	case ORACLE_POSTED:
		break;
	}
	return true;
}

static void look_learn(struct oracle *o, const struct op *w)
{
	struct pair *p = &o->pair[w->pair];
	bool writes = w->read || p->kept == ORACLE_PACKETS;	/* they alone are before it */
	uint64_t *seen = writes && !w->fence ? &p->seen_read : &p->seen;

	if (*seen < w->order)
		*seen = w->order;
}

/* How a byte may have come about, and what all ways have in common. */
struct ways {
	bool any;
	bool silent;		/* one of them tells nothing */
	const struct op *first;	/* of a queue pair, that must have been begun */
};

/* w NULL: in a way that tells nothing. */
static void ways_add(struct ways *y, const struct op *w)
{
	y->any = true;
	if (!w || (y->first && y->first->pair != w->pair))
		y->silent = true;
	else if (!y->first || w->order < y->first->order)
		y->first = w;
}

/* Also by way of w's source, when w has ended and its source has not. */
static void ways_of(const struct oracle *o, const struct op *w, uint64_t at,
		    uint8_t value, unsigned int depth, struct ways *y)
{
	const struct piece *p;
	unsigned int i;

	if (w->never)
		return;
	/* As a source, w may have been looked at before it was right. */
	if (w->any || depth == DEPTH ||
	    (w->doubtful && (depth || !w->done) && is_absent(value))) {
		ways_add(y, NULL);
		return;
	}
	if (look_tells(o, w)) {
		if (may_write(w, at, value, depth))
			ways_add(y, w);
		return;
	}
	for (i = w->pieces; i-- && !y->silent;) {
		p = &w->piece[i];
		if (at < p->at || at - p->at >= p->n)
			continue;
		if (p->op)
			ways_of(o, p->op, p->op_at + (at - p->at), value,
				depth + 1, y);
		else if (!p->data || p->data[at - p->at] == value)
			ways_add(y, NULL);
	}
}

/* False: no write explains the byte. What it tells is noted. */
static bool byte_may_be(struct oracle *o, const struct area *a,
			const struct segment *s, uint64_t at, uint8_t value)
{
	struct ways y = { 0 };
	unsigned int i;

	if (s->base == BASE_ANY ||
	    (s->base == BASE_KNOWN && a->base[at] == value))
		return true;
	for (i = 0; i < s->ops && !y.silent; i++)
		ways_of(o, s->op[i], at - s->op[i]->to_at, value, 0, &y);
	if (y.any && !y.silent)
		look_learn(o, y.first);
	return y.any;
}

static void say_byte(struct oracle *o, const struct area *a,
		     const struct segment *s, uint64_t at, uint8_t value)
{
	char from[200] = "";
	unsigned int i;
	int n = 0;

	if (s->base == BASE_KNOWN)
		n = snprintf(from, sizeof(from), "0x%02x",
			     a->base[at]);
	for (i = 0; i < s->ops && i < 4; i++)
		n += snprintf(from + n, sizeof(from) - (size_t)n, "%swhat %s "
			      "brought", n ? "; or " : "", s->op[i]->name);
	oracle_say(o, "byte %llu of %s is 0x%02x, but in posting order it can "
		   "only be %s", (unsigned long long)at, a->name, value,
		   n ? from : "nothing at all");
}

static bool look_segment(struct oracle *o, const struct area *a,
			 const struct segment *s, const uint8_t *bytes)
{
	uint64_t n = s->end - s->at, i;
	unsigned int k;

	if (s->base == BASE_ANY || (s->base == BASE_KNOWN &&
				    !memcmp(a->base + s->at, bytes, n)))
		return true;
	for (k = 0; k < s->ops; k++)
		if (!s->op[k]->never && !look_tells(o, s->op[k]) &&
		    wrote_all(s->op[k], s->at - s->op[k]->to_at, bytes, n))
			return true;
	for (i = 0; i < n; i++) {
		if (byte_may_be(o, a, s, s->at + i, bytes[i]))
			continue;
		say_byte(o, a, s, s->at + i, bytes[i]);
		return false;
	}
	return true;
}

/* What was seen: all that is surely before it was carried out. */
static void look_apply(struct oracle *o)
{
	struct pair *p;
	struct op *w;
	unsigned int i;

	for (i = 0; i < o->opens; i++) {
		w = o->open[i];
		p = &o->pair[w->pair];
		if (w->failed || w->done)
			continue;
		if (w->order < p->seen ||
		    (!w->read && w->order < p->seen_read))
			oracle_done(o, w);
	}
}

/* From here on it is what was found, where nothing can write any more. */
static void look_keep(struct oracle *o, struct area *a, struct segment *s,
		      const uint8_t *bytes, bool closed)
{
	unsigned int i;

	for (i = 0; i < s->ops && !closed; i++)
		if (s->op[i]->end == NOT_ENDED)
			return;
	memcpy(a->base + s->at, bytes, s->end - s->at);
	s->base = BASE_KNOWN;
	s->base_time = o->time;
	s->ops = 0;
}

static bool look_at_bytes(struct oracle *o, uint32_t area, uint64_t at,
			  const uint8_t *bytes, uint64_t n, bool closed)
{
	struct area *a = &o->area[area];
	unsigned int i;
	bool good = true;

	if (at >= a->n || !n)
		return true;
	if (n > a->n - at)
		n = a->n - at;
	o->time++;
	i = oracle_cut(a, at, at + n);
	for (; i < a->segs && a->seg[i].at < at + n; i++) {
		good &= look_segment(o, a, &a->seg[i],
				     bytes + (a->seg[i].at - at));
		look_keep(o, a, &a->seg[i], bytes + (a->seg[i].at - at),
			  closed);
	}
	o->time++;
	oracle_merge(a, at, at + n);
	look_apply(o);
	return good;
}

bool oracle_look(struct oracle *o, uint32_t area, uint64_t at,
		 const uint8_t *bytes, uint64_t n)
{
	return look_at_bytes(o, area, at, bytes, n, false);
}

bool oracle_close(struct oracle *o, uint32_t area, uint64_t at,
		  const uint8_t *bytes, uint64_t n)
{
	return look_at_bytes(o, area, at, bytes, n, true);
}
