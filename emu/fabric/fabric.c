// SPDX-License-Identifier: BSD-2-Clause
/*
 * fabric.c - ports, routes and delivery.
 *
 * A port owns a pool of frames. A frame that is sent goes into the receiver's
 * queue, ordered by arrival; the receiver's actor hands it to the engine and gives it
 * back to its owner. What was given back last is taken first, so that its bytes are
 * still in the cache. Giving back is a push to a list that the owner only takes whole, so
 * neither side needs a lock.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric_internal.h"
#include "os/os.h"
#include "sim/timing.h"
#include "trace/trace.h"

#define FRAMES_DEFAULT 1024
#define FRAMES_AT_ONCE 64	/* threads mode: taken in by one step */

struct fabric *fabric_create(const struct fabric_config *cfg)
{
	struct fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->cfg = *cfg;
	if (!f->cfg.frames)
		f->cfg.frames = FRAMES_DEFAULT;
	f->timed = sim_mode(cfg->sim) == SIM_LOCKSTEP;
	return f;
}

void fabric_destroy(struct fabric *f)
{
	struct fabric_link *l;
	int i;

	if (!f)
		return;
	while ((l = f->links) != NULL) {
		f->links = l->next;
		l->destroy(l);
	}
	for (i = 0; i < WIRE_NODES; i++) {
		if (f->port[i])
			fabric_port_ends(f->port[i]);
		free(f->port[i]);
	}
	free(f);
}

bool fabric_idle(struct fabric *f)
{
	struct fabric_link *l;
	int i;

	for (i = 0; i < WIRE_NODES; i++)
		if (f->port[i] && atomic_load(&f->port[i]->given) !=
				  atomic_load(&f->port[i]->taken))
			return false;
	for (l = f->links; l; l = l->next)
		if (!l->idle(l))
			return false;
	return true;
}

/* ---- receiving ---- */

/* At most `most` frames that are here by now, the first of them first. */
static struct fabric_slot *take_arrived(struct fabric_port *p, uint64_t now_ns,
					unsigned int most, uint64_t *next_ns,
					uint64_t *next_tie)
{
	struct fabric_slot *first, *s, *last = NULL;

	sim_spin_lock(&p->lock);
	first = p->first;
	for (s = first; s && s->arrive_ns <= now_ns && most; s = s->next) {
		last = s;
		most--;
	}
	if (last) {
		last->next = NULL;
		p->first = s;
		if (s)
			s->prev = NULL;
		else
			p->last = NULL;
	}
	*next_ns = s ? s->arrive_ns : SIM_IDLE;
	*next_tie = s ? s->tie : 0;
	sim_spin_unlock(&p->lock);
	return last ? first : NULL;
}

struct trace_at fabric_at(const struct fabric_port *p,
			  const struct wire_frame *f)
{
	return (struct trace_at){ .board = p->node, .xfer = f->xfer,
				  .block = f->block, .attempt = f->attempt,
				  .cause = f->cause };
}

/* A packet leaves a port, or comes to it. */
static void fabric_tap(struct fabric_port *p, struct wire_frame *f, bool leaves)
{
	struct fabric *fabric = p->fabric;

	if (!fabric->cfg.tap)
		return;
	wire_icrc_settle(f);
	fabric->cfg.tap(fabric->cfg.capture, p->node, leaves, f, sim_now(fabric->cfg.sim));
}

static void slot_receive(struct fabric_port *p, struct fabric_slot *s,
			 uint64_t now_ns)
{
	struct trace_at at = fabric_at(p, &s->frame);

	if (p->link) {
		p->link->send(p, &s->frame);
		return;
	}
	fabric_tap(p, &s->frame, false);
	s->frame.cause = trace_emit(p->fabric->cfg.trace, EV_WIRE_RECV, &at,
				    wire_opcode(&s->frame), s->frame.from,
				    s->frame.len, s->frame.offset);
	p->receive(p->arg, &s->frame, now_ns);
}

/* Take in a list of frames; those of one sender go back together. */
static void slot_receive_all(struct fabric_port *p, struct fabric_slot *s,
			     uint64_t now_ns)
{
	struct fabric_slot *first, *last = NULL, *next;
	uint32_t n;

	for (first = NULL, n = 0; s; s = next) {
		next = s->next;
		p->borrowed = false;
		slot_receive(p, s, now_ns);
		if (p->borrowed)
			continue;
		if (first && first->owner != s->owner) {
			fabric_slots_free(first, last, n);
			first = NULL;
		}
		if (first)
			last->next = s;
		else
			first = s, n = 0;
		last = s;
		n++;
	}
	if (first)
		fabric_slots_free(first, last, n);
}

static uint64_t arrive_step(void *arg, uint64_t now_ns)
{
	struct fabric_port *p = arg;
	struct fabric *f = p->fabric;
	struct fabric_slot *s;
	uint64_t next_ns, next_tie;

	s = take_arrived(p, now_ns, f->timed ? 1 : FRAMES_AT_ONCE, &next_ns,
			 &next_tie);
	slot_receive_all(p, s, now_ns);
	if (s && f->timed)
		return f->cfg.timing->v[T_ENG_PACKET];
	if (next_ns <= now_ns)
		return 0;
	if (next_ns == SIM_IDLE)
		return SIM_IDLE;
	if (f->timed)
		sim_alarm_tied(&p->arrive, next_ns, next_tie);
	else
		sim_alarm(&p->arrive, next_ns);
	return SIM_IDLE;
}

static uint64_t room_step(void *arg, uint64_t now_ns)
{
	struct fabric_port *p = arg;

	(void)now_ns;
	if (p->room)
		p->room(p->arg);
	return SIM_IDLE;
}

/* ---- frames ---- */

struct fabric_slot *fabric_slot_get(struct fabric_port *p)
{
	struct fabric_slot **from = &p->warm, *s;

	if (!p->warm && atomic_load_explicit(&p->back, memory_order_relaxed))
		p->warm = atomic_exchange(&p->back, NULL);
	if (!p->warm)
		from = &p->free;
	/* Memory is touched when it is needed. */
	if (!*from && p->fresh < p->fabric->cfg.frames) {
		p->slots[p->fresh].owner = p;
		p->free = &p->slots[p->fresh++];
	}
	if (!*from) {
		atomic_store(&p->starved, true);
		/* One may have come back before its receiver saw that. */
		p->free = atomic_exchange(&p->back, NULL);
		if (!p->free)
			return NULL;
		atomic_store(&p->starved, false);
	}
	s = *from;
	*from = s->next;
	/* One writer: a plain add would do, but fabric_idle() looks. */
	atomic_store_explicit(&p->taken, atomic_load_explicit(&p->taken,
			      memory_order_relaxed) + 1, memory_order_relaxed);
	s->frame.from = p->node;
	s->frame.cause = 0;
	s->frame.icrc_later = true;
	return s;
}

struct wire_frame *fabric_frame_get(void *port)
{
	struct fabric_slot *s = fabric_slot_get(port);

	return s ? &s->frame : NULL;
}

/* Relaxed: what it was a moment ago will do. */
static bool port_has_plenty(const struct fabric_port *p)
{
	return atomic_load_explicit(&p->taken, memory_order_relaxed) -
	       atomic_load_explicit(&p->given, memory_order_relaxed) <
	       p->fabric->cfg.frames / 2;
}

struct wire_frame *fabric_frame_spare(void *port)
{
	return port_has_plenty(port) ? fabric_frame_get(port) : NULL;
}

bool fabric_frame_borrow(void *port, const struct wire_frame *fr)
{
	struct fabric_port *p = port;

	p->borrowed = port_has_plenty(((const struct fabric_slot *)fr)->owner);
	return p->borrowed;
}

void fabric_frames_put(void *port, struct wire_frame *const *fr, unsigned int n)
{
	struct fabric_slot *first = (struct fabric_slot *)fr[0], *s = first;
	unsigned int i;

	(void)port;
	for (i = 1; i < n; i++) {
		s->next = (struct fabric_slot *)fr[i];
		s = s->next;
		assert(s->owner == first->owner);
	}
	fabric_slots_free(first, s, n);
}

void fabric_slot_free(struct fabric_slot *s)
{
	fabric_slots_free(s, s, 1);
}

void fabric_slots_free(struct fabric_slot *first, struct fabric_slot *last,
		       uint32_t n)
{
	struct fabric_port *owner = first->owner;
	struct fabric_slot *top = atomic_load_explicit(&owner->back,
						       memory_order_relaxed);

	atomic_fetch_add(&owner->given, n);
	do
		last->next = top;
	while (!atomic_compare_exchange_weak(&owner->back, &top, first));
	/* seq_cst: pairs with the second look in fabric_slot_get(). */
	if (atomic_load(&owner->starved) &&
	    atomic_exchange(&owner->starved, false))
		sim_kick_remote(&owner->have_room);
}

/* ---- sending ---- */

/*
 * Frames that arrive at one time: those of one sender in the order in which they were sent,
 * whole senders in an order that does not depend on who sent first.
 */
static bool slot_is_before(const struct fabric_slot *s, const struct fabric_slot *other)
{
	return s->arrive_ns != other->arrive_ns ? s->arrive_ns < other->arrive_ns :
	       s->tie < other->tie;
}

static bool port_queue(struct fabric_port *p, struct fabric_slot *s)
{
	struct fabric_slot *after;
	bool first;

	sim_spin_lock(&p->lock);
	for (after = p->last; after && slot_is_before(s, after); after = after->prev)
		;
	s->prev = after;
	s->next = after ? after->next : p->first;
	if (s->next)
		s->next->prev = s;
	else
		p->last = s;
	if (after)
		after->next = s;
	else
		p->first = s;
	first = p->first == s;
	sim_spin_unlock(&p->lock);
	return first;
}

void fabric_deliver(struct fabric_port *from, struct fabric_slot *s,
		    uint64_t arrive_ns)
{
	struct fabric *f = from->fabric;
	struct fabric_port *p = f->port[s->frame.to];
	bool first;

	s->arrive_ns = arrive_ns;
	s->tie = f->timed ? rng_hash(sim_seed(f->cfg.sim), arrive_ns, from->node) : 0;
	first = port_queue(p, s);
	/* Threads mode: only the receiver's own step may set its alarm. */
	if (!f->timed)
		sim_kick_remote(&p->arrive);
	else if (first)
		sim_alarm_tied(&p->arrive, arrive_ns, s->tie);
}

/* Onto the wire, through what goes wrong there if anything does. */
static void port_put(struct fabric_port *p, struct fabric_slot *s,
		     uint64_t arrive_ns)
{
	if (p->rule[s->frame.to].on)
		fabric_pass(p, s, arrive_ns);
	else
		fabric_deliver(p, s, arrive_ns);
}

uint64_t fabric_frame_send(void *port, struct wire_frame *fr)
{
	struct fabric_slot *s = (struct fabric_slot *)fr;
	struct fabric_port *p = port;
	struct fabric *f = p->fabric;
	const uint64_t *t = f->cfg.timing->v;
	struct trace_at at = fabric_at(p, fr);
	uint64_t now_ns = 0, bytes, arrive_ns = 0;
	struct fabric_port *to = f->port[fr->to];
	uint8_t hops = f->hops[p->node][fr->to];

	if (p->drops && !wire_is_block(wire_opcode(fr)) &&
	    p->drops(p->arg, fr)) {
		fabric_slot_free(s);
		return 0;
	}
	/* Headers are part of what the profile adds to each packet. */
	bytes = wire_payload_bytes(fr) + t[T_LINK_OVERHEAD];
	fabric_tap(p, fr, true);
	p->stats.frames++;
	p->stats.bytes += bytes;
	fr->cause = trace_emit(f->cfg.trace, EV_WIRE_SEND, &at,
			       wire_opcode(fr), fr->to, fr->len, fr->offset);
	/* One hop from every port of this process: no route to look up. */
	if (to && to->link ? !to->link->wrap(to, fr) : !hops) {
		p->stats.lost++;	/* no way: the timer will tell */
		fabric_slot_free(s);
		return 0;
	}
	if (!f->timed) {
		port_put(p, s, 0);
		return 0;
	}
	now_ns = sim_now(f->cfg.sim);
	if (p->busy_until_ns < now_ns)
		p->busy_until_ns = now_ns;
	p->busy_until_ns += timing_transfer_ns(bytes, t[T_LINK_MBPS]);
	arrive_ns = p->busy_until_ns + t[T_LINK_DELAY] +
		    (hops - 1) * t[T_LINK_HOP];
	port_put(p, s, arrive_ns);
	return p->busy_until_ns - now_ns;
}

/* ---- what need not be sent ---- */

bool fabric_is_clear(const struct fabric_port *p, uint8_t node)
{
	return !p->rule[node].on;
}

void *fabric_neighbour(const struct fabric_port *p, uint8_t node,
		       void (*receive)(void *arg, const struct wire_frame *fr,
				       uint64_t now_ns))
{
	const struct fabric *f = p->fabric;
	const struct fabric_port *to = f->port[node];

	if (f->timed || f->cfg.tap || !to || to->link ||
	    to->receive != receive || !f->hops[p->node][node] ||
	    !fabric_is_clear(p, node))
		return NULL;
	return to->arg;
}

void fabric_passed(struct fabric_port *p, uint8_t node, uint32_t frames,
		   uint32_t bytes, uint32_t answers)
{
	struct fabric_port *to = p->fabric->port[node];
	uint64_t overhead = p->fabric->cfg.timing->v[T_LINK_OVERHEAD];

	p->stats.frames += frames;
	p->stats.bytes += bytes + frames * overhead;
	to->stats.frames += answers;
	to->stats.bytes += answers * overhead;
}

/* ---- building ---- */

void fabric_port_receives(struct fabric_port *p)
{
	sim_actor_init(p->domain, &p->arrive, "wire", arrive_step, p);
}

int fabric_port_sends(struct fabric_port *p)
{
	p->slots = os_room(p->fabric->cfg.frames, sizeof(*p->slots));
	if (!p->slots)
		return -ENOMEM;
	sim_actor_init(p->domain, &p->have_room, "wire room", room_step, p);
	return 0;
}

void fabric_port_ends(struct fabric_port *p)
{
	if (p->slots)
		os_room_end(p->slots, p->fabric->cfg.frames, sizeof(*p->slots));
}

struct fabric_port *fabric_attach(struct fabric *f, struct sim_domain *d,
				  uint8_t node,
				  void (*receive)(void *arg,
						  const struct wire_frame *fr,
						  uint64_t now_ns),
				  void (*room)(void *arg), void *arg,
				  int *error)
{
	struct fabric_port *p;
	char stream[16] = "port 00";

	*error = node >= WIRE_NODES ? -EINVAL : f->port[node] ? -EEXIST : 0;
	if (*error)
		return NULL;
	p = calloc(1, sizeof(*p));
	*error = -ENOMEM;
	if (!p)
		return NULL;
	p->fabric = f;
	p->domain = d;
	p->node = node;
	p->receive = receive;
	p->room = room;
	p->arg = arg;
	stream[5] = (char)('0' + node / 10);
	stream[6] = (char)('0' + node % 10);
	rng_init(&p->rng, sim_seed(f->cfg.sim), stream);
	fabric_port_receives(p);
	if (fabric_port_sends(p)) {
		free(p);
		return NULL;
	}
	f->port[node] = p;
	f->hops[node][node] = 1;	/* a board may send to itself */
	*error = 0;
	return p;
}

void fabric_filter(struct fabric_port *p,
		   bool (*drops)(void *arg, const struct wire_frame *fr))
{
	p->drops = drops;
}

#define NO_WAY	(4 * WIRE_NODES)

static unsigned int hops_between(const struct fabric *f, unsigned int a,
				 unsigned int b)
{
	if (a == b)
		return 0;
	return f->hops[a][b] ? f->hops[a][b] : NO_WAY;
}

/* There is a link from a to b: ways that lead over it may be shorter. */
static void routes_over(struct fabric *f, unsigned int a, unsigned int b)
{
	unsigned int from, to, via;

	for (from = 0; from < WIRE_NODES; from++)
		for (to = 0; to < WIRE_NODES; to++) {
			via = hops_between(f, from, a) + 1 +
			      hops_between(f, b, to);
			if (from != to && via < hops_between(f, from, to))
				f->hops[from][to] = (uint8_t)via;
		}
}

int fabric_link(struct fabric *f, uint8_t a, uint8_t b)
{
	if (a >= WIRE_NODES || b >= WIRE_NODES || a == b || !f->port[a] ||
	    !f->port[b] || f->port[a]->link || f->port[b]->link)
		return -ENOENT;
	if (f->link[a][b])
		return -EEXIST;
	f->link[a][b] = f->link[b][a] = true;
	routes_over(f, a, b);
	routes_over(f, b, a);
	return 0;
}

void fabric_stats(struct fabric *f, uint8_t node, struct fabric_stats *st)
{
	memset(st, 0, sizeof(*st));
	if (node < WIRE_NODES && f->port[node])
		*st = f->port[node]->stats;
}
