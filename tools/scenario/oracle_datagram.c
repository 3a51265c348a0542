// SPDX-License-Identifier: BSD-2-Clause
/*
 * Datagrams: which of those that were posted a receive may have taken, by what its completion
 * says and by the order. Where several look alike the earliest counts, which leaves the others
 * the most freedom; and memory may then hold the bytes of any of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/scenario/oracle_internal.h"

/* Of more lost datagrams nobody asks which bytes they may have left. */
#define LOST_MOST	32

void oracle_mail_create(struct oracle *o, uint32_t pair)
{
	struct mail *m = oracle_need(calloc(1, sizeof(*m)));
	char name[ORACLE_NAME];

	/* One more moves them all. */
	memcpy(name, o->pair[pair].name, sizeof(name));
	m->receives = oracle_pair(o, name, ORACLE_RECEIVES);
	m->late = o->late;
	m->twice = o->twice;
	o->pair[pair].mail = m;
}

void oracle_mail_free(struct mail *m)
{
	if (m)
		free(m->letter);
	free(m);
}

struct op *oracle_mail_op(const struct mail *m, unsigned int i)
{
	return i < m->letters - m->next ? m->letter[m->next + i].op : NULL;
}

void oracle_mail_post(struct oracle *o, struct op *w, const struct oracle_work *r)
{
	struct mail *m = o->pair[r->pair].mail;

	m->letter = oracle_room(m->letter, m->letters, &m->room, sizeof(*m->letter));
	m->letter[m->letters++] = (struct letter){
		.op = w, .number = w->number, .bytes = (uint32_t)r->bytes, .imm = r->imm,
		.with_imm = r->with_imm, .batch = m->batch,
	};
}

void oracle_mail_unpost(struct mail *m)
{
	m->letters--;
}

void oracle_mail_fail(struct oracle *o, const struct op *w)
{
	struct mail *m = o->pair[w->pair].mail;
	unsigned int i;

	for (i = 0; i < m->letters && m->letter[i].number != w->number; i++)
		;
	if (i == m->letters)
		return;
	m->letter[i].never = true;
	/* A twin of one that looks the same may have taken its place. */
	if (m->letter[i].taken && ++o->twins > o->twice)
		oracle_say(o, "%s failed on %s, and a receive had taken it before", w->name,
			   o->pair[w->pair].name);
}

/* ---- what the wire does to the order ---- */

static bool letter_is_loose(const struct oracle *o, const struct mail *m,
			    const struct letter *t)
{
	return t->loose ||
	       (t->batch == m->batch && (o->late != m->late || o->twice != m->twice));
}

void oracle_wire(struct oracle *o, uint64_t late, uint64_t twice)
{
	o->late = late;
	o->twice = twice;
}

/* Has everything of the queue left, or failed? */
static bool mail_is_out(const struct oracle *o, uint32_t pair)
{
	unsigned int i;

	for (i = 0; i < o->opens; i++)
		if (o->open[i]->pair == pair && !o->open[i]->failed)
			return false;
	return true;
}

void oracle_quiet(struct oracle *o)
{
	unsigned int i, k;
	struct mail *m;

	for (i = 0; i < o->pairs; i++) {
		m = o->pair[i].mail;
		if (!m || !mail_is_out(o, i))
			continue;
		for (k = m->next; k < m->letters; k++)
			m->letter[k].loose = letter_is_loose(o, m, &m->letter[k]);
		m->batch++;
		m->late = o->late;
		m->twice = o->twice;
	}
}

/* ---- receives ---- */

uint64_t oracle_receive(struct oracle *o, const struct oracle_work *r)
{
	struct oracle_work w = *r;

	w.pair = o->pair[r->pair].mail->receives;
	w.from = ORACLE_NOWHERE;
	return oracle_post(o, &w);
}

/* The queue of requests whose datagrams these receives take. */
static uint32_t mail_sender(const struct oracle *o, uint32_t receives)
{
	uint32_t i;

	for (i = 0; !o->pair[i].mail || o->pair[i].mail->receives != receives; i++)
		;
	return i;
}

static bool letter_says(const struct letter *t, const struct oracle_arrival *a)
{
	return !t->never && t->bytes == a->bytes && t->with_imm == a->with_imm &&
	       t->imm == a->imm;
}

/* Letters that it can have been, from m->next on: the first, the first untaken, the last. */
struct found {
	unsigned int first, untaken, last;
};

static bool letter_find(const struct mail *m, const struct oracle_arrival *a, struct found *f)
{
	unsigned int i;

	*f = (struct found){ m->letters, m->letters, m->letters };
	for (i = m->next; i < m->letters; i++) {
		if (!letter_says(&m->letter[i], a))
			continue;
		if (f->first == m->letters)
			f->first = i;
		if (f->untaken == m->letters && !m->letter[i].taken)
			f->untaken = i;
		f->last = i;
	}
	return f->first != m->letters;
}

/* From now on none comes that lies before `first`, or, if order is loose, before its batch. */
static void mail_pass(struct oracle *o, struct mail *m, unsigned int first)
{
	unsigned int next = first + 1;

	if (letter_is_loose(o, m, &m->letter[first]))
		for (next = first; next > m->next &&
				   m->letter[next - 1].batch == m->letter[first].batch;
		     next--)
			;
	for (; m->next < next; m->next++)
		m->letter[m->next].op = NULL;
}

/* What longer ones may have left behind the bytes of this one. */
static void land_rest(struct oracle *o, const struct mail *m, const struct op *r,
		      uint64_t n, unsigned int end)
{
	unsigned int i, lost = 0;
	struct letter *t;
	struct op *rest;

	if (n >= r->n)
		return;
	rest = oracle_op_new(o, r->name);
	rest->post = r->post;
	rest->to = r->to;
	rest->to_at = r->to_at + n;
	rest->n = r->n - n;
	for (i = m->next; i < end; i++) {
		t = &m->letter[i];
		if (t->bytes <= n || t->never || (t->taken && !letter_is_loose(o, m, t)))
			continue;
		if (++lost > LOST_MOST)
			rest->any = true;
		else
			oracle_piece(o, rest, 0, t->bytes - n, NULL, t->op, n);
	}
	if (lost)
		oracle_land(o, rest);
	rest->end = ++o->time;
}

/* The bytes of one of these. */
static void land_letter(struct oracle *o, const struct mail *m, const struct op *r,
			const struct oracle_arrival *a, const struct found *f)
{
	struct op *w = oracle_op_new(o, r->name);
	unsigned int i;

	w->post = r->post;
	w->to = r->to;
	w->to_at = r->to_at;
	w->n = a->bytes < r->n ? a->bytes : r->n;
	for (i = f->first; i <= f->last; i++)
		if (letter_says(&m->letter[i], a))
			oracle_piece(o, w, 0, w->n, NULL, m->letter[i].op, 0);
	oracle_land(o, w);
	oracle_done(o, w);
}

/* NULL: it is not one that was posted, or not the oldest. */
static struct op *receive_end(struct oracle *o, uint64_t number)
{
	struct op *r = oracle_find_open(o, number);
	struct pair *p;

	if (!r || r->failed) {
		oracle_say(o, "a receive is complete (%s) that was not posted",
			   r ? r->name : "unknown");
		return NULL;
	}
	p = &o->pair[r->pair];
	if (r->order != p->completed)
		oracle_say(o, "%s completed out of order on %s", r->name, p->name);
	p->completed = r->order + 1;
	o->time++;
	return r;
}

static void mail_say(struct oracle *o, const struct op *r, const struct oracle_arrival *a,
		     const char *what)
{
	char imm[40] = "no immediate data";

	if (a->with_imm)
		snprintf(imm, sizeof(imm), "immediate data %u", a->imm);
	oracle_say(o, "%s on %s is complete with %u bytes and %s: %s", r->name,
		   o->pair[r->pair].name, a->bytes, imm, what);
}

/* r, which is complete and writes no more, has one of them. */
static void receive_match(struct oracle *o, const struct op *r, const struct oracle_arrival *a)
{
	struct mail *m = o->pair[mail_sender(o, r->pair)].mail;
	struct found f;

	if (!letter_find(m, a, &f)) {
		mail_say(o, r, a, "no such datagram was sent, or a later one came before it");
		return;
	}
	if (f.untaken < m->letters)
		m->letter[f.untaken].taken = true;
	else if (++o->twins > o->twice)
		mail_say(o, r, a, "another receive had taken that before");
	land_rest(o, m, r, a->bytes, letter_is_loose(o, m, &m->letter[f.last]) ?
		  m->letters : f.last);
	land_letter(o, m, r, a, &f);
	mail_pass(o, m, f.first);
}

void oracle_arrived(struct oracle *o, uint64_t number, const struct oracle_arrival *a)
{
	struct op *r = receive_end(o, number);

	if (!r)
		return;
	r->end = o->time;
	oracle_leave(o, r);
	receive_match(o, r, a);
	/* Nothing refers to it any more, perhaps. */
	oracle_close_op(o, r);
}

void oracle_too_long(struct oracle *o, uint64_t number)
{
	struct op *r = oracle_find_open(o, number);
	const struct mail *m;
	unsigned int i;

	if (!r)
		return;
	m = o->pair[mail_sender(o, r->pair)].mail;
	for (i = m->next; i < m->letters; i++)
		if (!m->letter[i].never && m->letter[i].bytes > r->n)
			return;
	oracle_say(o, "%s on %s failed since its datagram was longer, and none was", r->name,
		   o->pair[r->pair].name);
}

void oracle_receives_end(struct oracle *o, uint32_t pair)
{
	if (o->pair[pair].mail)
		oracle_pair_end(o, o->pair[pair].mail->receives);
}
