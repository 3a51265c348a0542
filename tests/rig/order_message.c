// SPDX-License-Identifier: BSD-2-Clause
#include "rig/order_message.h"

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

void places_fill(struct swarm *s)
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

bool message_may_go(struct swarm *s, struct pair *p, int side)
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

void places_check(struct swarm *s)
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
