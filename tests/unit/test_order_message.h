/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_order_message.h - the receives of an order swarm: each message finds one, sooner or
 * later, and each message that has ended well has completed the one that is its.
 */
#ifndef TEST_ORDER_MESSAGE_H
#define TEST_ORDER_MESSAGE_H

#include "test_order_swarm.h"

#define MESSAGE_MOST	PAGE	/* bytes; no receive has less room */

static void place_post(struct swarm *s, struct pair *p, int side)
{
	struct testbed_process *owner = p->c->process[side];
	struct place *m = &s->place[s->places];
	struct testbed_work *k = &m->work;

	*m = (struct place){ .pair = p, .conn = p->c, .side = side,
			     .number = p->receives[side] };
	snprintf(m->name, sizeof(m->name), "place%u", s->places);
	k->name = m->name;
	k->conn = p->c;
	k->side = side;
	k->opcode = FL_RECV;
	k->receives = 1;
	k->local = orders_buffer(s, owner);
	k->bytes = MESSAGE_MOST;
	k->local_va = (uintptr_t)k->local->mem +
		      draw_n(s, k->local->bytes - MESSAGE_MOST + 1);
	k->lkey = k->local->key;
	orders_ok(s, testbed_receive(s->w, k), "receive");
	s->places++;
	p->receives[side]++;
}

/* Is there room for one more receive, at this side of the pair? */
static bool place_fits(const struct swarm *s, const struct pair *p, int side)
{
	return s->places < PLACES && p->receives[side] - p->ended[side] < DEPTH;
}

/* Nothing waits for a receive any more. */
static void places_fill(struct swarm *s)
{
	unsigned int i;
	struct pair *p;
	int side;

	for (i = 0; i < 2 * s->pairs && !is_over(s); i++) {
		p = &s->pair[i / 2];
		side = i % 2;
		while (p->c && p->receives[side] < p->messages[side] &&
		       place_fits(s, p, side) && !is_over(s))
			place_post(s, p, side);
	}
}

/* A message of this side is about to be posted: half of them find their receive there. */
static bool message_may_go(struct swarm *s, struct pair *p, int side)
{
	int to = !side;

	if (p->messages[to] - p->ended[to] >= DEPTH || !place_fits(s, p, to))
		return false;
	while (p->receives[to] <= p->messages[to] && draw_n(s, 2) &&
	       place_fits(s, p, to))
		place_post(s, p, to);
	/* There must be one left for it. */
	return s->places + PAIRS_MAX * 2 * DEPTH < PLACES;
}

/* In the order of posting, so that the n-th that ended well was the n-th. */
static void message_ended(struct pair *p, int side, bool well)
{
	p->ended[!side] += well;
}

static void places_check(struct swarm *s)
{
	unsigned int i;
	struct place *m;
	int err;

	for (i = 0; i < s->places && !is_over(s); i++) {
		m = &s->place[i];
		if (m->seen || m->pair->c != m->conn ||
		    m->number >= m->pair->ended[m->side])
			continue;
		m->seen = true;
		err = testbed_wait(s->w, &m->work, WAIT_NS, TESTBED_BOTH);
		if (err || m->work.status)
			orders_say(s, "the message in %s ended well, and its "
				   "receive with \"%s\"", m->name,
				   err ? fl_strerror(err) :
					 fl_status_string(m->work.status));
	}
}

#endif
