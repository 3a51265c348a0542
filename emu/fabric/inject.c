// SPDX-License-Identifier: BSD-2-Clause
/* inject.c - loss, damage, duplication and delay, from the sending port's random stream. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "fabric/fabric_internal.h"
#include "trace/trace.h"

#define PPM 1000000u

int fabric_inject(struct fabric *f, uint8_t a, uint8_t b,
		  const struct fabric_inject *i)
{
	unsigned int n;

	if (a >= WIRE_NODES || !f->port[a] || f->port[a]->link ||
	    (b != 0xff && b >= WIRE_NODES))
		return -ENOENT;
	if (i->loss_ppm > PPM || i->duplicate_ppm > PPM ||
	    i->damage_ppm > PPM || i->late_ppm > PPM)
		return -EINVAL;
	/* Rules are looked at by who sends, which the domain's holder does. */
	sim_enter(f->port[a]->domain);
	for (n = 0; n < WIRE_NODES; n++) {
		if (b != 0xff && b != n)
			continue;
		f->port[a]->rule[n] = (struct fabric_rule){ .inject = *i,
							    .on = true };
	}
	sim_leave(f->port[a]->domain);
	return 0;
}

static bool inject_hits(struct fabric_port *p, uint32_t ppm)
{
	return ppm && rng_below(&p->rng, PPM) < ppm;
}

static void inject_note(struct fabric_port *p, enum trace_event ev,
			struct wire_frame *f, uint64_t a2)
{
	struct trace_at at = fabric_at(p, f);

	f->cause = trace_emit(p->fabric->cfg.trace, ev, &at, wire_opcode(f),
			      f->to, a2, 0);
}

/* Threads mode: what is not late arrives at once, which is 0. */
static uint64_t inject_delay(struct fabric_port *p, uint64_t arrive_ns,
			     uint64_t more_ns)
{
	if (!arrive_ns)
		arrive_ns = sim_now(p->fabric->cfg.sim);
	return arrive_ns + more_ns;
}

static void inject_duplicate(struct fabric_port *p, struct fabric_slot *s,
			     uint64_t arrive_ns, uint64_t late_ns)
{
	struct fabric_slot *twin = fabric_slot_get(p);

	if (!twin)
		return;		/* no frame to spare: no twin */
	inject_note(p, EV_WIRE_TWICE, &s->frame, s->frame.len);
	memcpy(&twin->frame, &s->frame,
	       offsetof(struct wire_frame, bytes) + s->frame.len);
	p->stats.duplicated++;
	if (late_ns)
		arrive_ns = inject_delay(p, arrive_ns,
					 rng_below(&p->rng, late_ns));
	fabric_deliver(p, twin, arrive_ns);
}

void fabric_pass(struct fabric_port *p, struct fabric_slot *s,
		 uint64_t arrive_ns)
{
	struct fabric_rule *r = &p->rule[s->frame.to];
	const struct fabric_inject *i = &r->inject;
	struct wire_frame *f = &s->frame;
	uint64_t more_ns, bit;

	if (i->kind && i->kind != 1u + wire_opcode(f)) {
		fabric_deliver(p, s, arrive_ns);
		return;
	}
	if (r->dropped < i->drop_first || inject_hits(p, i->loss_ppm)) {
		if (r->dropped < i->drop_first)
			r->dropped++;
		inject_note(p, EV_WIRE_LOST, f, f->len);
		p->stats.lost++;
		fabric_slot_free(s);
		return;
	}
	if (inject_hits(p, i->duplicate_ppm))
		inject_duplicate(p, s, arrive_ns, i->late_ns);
	if (inject_hits(p, i->damage_ppm)) {
		wire_icrc_settle(f);	/* or nobody would notice */
		bit = rng_below(&p->rng, 8ull * f->len);
		f->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		inject_note(p, EV_WIRE_DAMAGED, f, bit);
		p->stats.damaged++;
	}
	if (inject_hits(p, i->late_ppm) && i->late_ns) {
		more_ns = 1 + rng_below(&p->rng, i->late_ns);
		inject_note(p, EV_WIRE_LATE, f, more_ns);
		p->stats.late++;
		arrive_ns = inject_delay(p, arrive_ns, more_ns);
	}
	fabric_deliver(p, s, arrive_ns);
}
