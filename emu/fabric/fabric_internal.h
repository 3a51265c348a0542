/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_internal.h - what the files of emu/fabric share. */
#ifndef FL_FABRIC_INTERNAL_H
#define FL_FABRIC_INTERNAL_H

#include "fabric/fabric.h"
#include "trace/trace.h"

/* A frame and its place: in its owner's free list, or on the way to a port. */
struct fabric_slot {
	struct wire_frame frame;	/* first: the engine sees only this */
	struct fabric_port *owner;
	struct fabric_slot *next, *prev;
	uint64_t arrive_ns;
};

struct fabric_rule {
	struct fabric_inject inject;
	uint32_t dropped;		/* of inject.drop_first */
	bool on;
};

struct fabric_port {
	struct fabric *fabric;
	struct sim_domain *domain;
	uint8_t node;
	void (*receive)(void *arg, const struct wire_frame *f, uint64_t now_ns);
	void (*room)(void *arg);
	void *arg;
	/* sending: the domain's own */
	uint64_t busy_until_ns;
	struct rng rng;
	struct fabric_rule rule[WIRE_NODES];
	struct fabric_stats stats;
	struct fabric_slot *slots;
	struct fabric_slot *warm, *free; /* given back last; the others */
	_Atomic uint64_t taken;		/* frames, ever */
	/* shared with receivers */
	_Atomic uint64_t given;		/* back, ever */
	_Atomic(struct fabric_slot *) back;
	atomic_bool starved;		/* the engine was told: no frame */
	/* receiving: filled by senders, under lock; ordered by arrival */
	struct sim_spin lock;
	struct fabric_slot *first, *last;
	bool kept;			/* what it just receives is kept */
	struct sim_actor arrive, have_room;
};

struct fabric {
	struct fabric_config cfg;
	struct fabric_port *port[WIRE_NODES];
	bool link[WIRE_NODES][WIRE_NODES];
	uint8_t hops[WIRE_NODES][WIRE_NODES];
	bool icrc;
	bool timed;
};

/* fabric.c: to the peer's queue, to arrive at arrive_ns */
void fabric_deliver(struct fabric_port *from, struct fabric_slot *s,
		    uint64_t arrive_ns);
void fabric_slot_free(struct fabric_slot *s);
/* n of one owner, from first to last. */
void fabric_slots_free(struct fabric_slot *first, struct fabric_slot *last,
		       uint32_t n);
struct fabric_slot *fabric_slot_get(struct fabric_port *p);

/* For the trace: a frame at a port. */
struct trace_at fabric_at(const struct fabric_port *p,
			  const struct wire_frame *f);

/* inject.c: what goes wrong; takes the slot over, delivers what is left of it */
void fabric_pass(struct fabric_port *p, struct fabric_slot *s,
		 uint64_t arrive_ns);

#endif
