/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_internal.h - what the files of emu/fabric share. */
#ifndef FL_FABRIC_INTERNAL_H
#define FL_FABRIC_INTERNAL_H

#include "fabric/fabric.h"
#include "nic/wire.h"
#include "sim/rng.h"
#include "sim/sim.h"
#include "sim/sync.h"
#include "trace/event.h"

/* A frame and its place: in its owner's free list, or on the way to a port. */
struct fabric_slot {
	struct wire_frame frame;	/* first: the engine sees only this */
	struct fabric_port *owner;
	struct fabric_slot *next, *prev;
	uint64_t arrive_ns;
	uint64_t tie;			/* timed: among frames that arrive then */
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
	bool (*drops)(void *arg, const struct wire_frame *f);	/* or NULL */
	void *arg;
	/* sending: the domain's own */
	uint64_t busy_until_ns;
	struct rng rng;
	struct fabric_rule rule[WIRE_NODES];
	struct fabric_stats stats;
	struct fabric_slot *slots;
	uint32_t fresh;			/* slots from here on were never used */
	struct fabric_slot *warm, *free; /* given back last; the others */
	_Atomic uint64_t taken;		/* frames, ever */
	/* shared with receivers */
	_Atomic uint64_t given;		/* back, ever */
	_Atomic(struct fabric_slot *) back;
	atomic_bool starved;		/* the engine was told: no frame */
	/* receiving: filled by senders, under lock; ordered by arrival */
	struct sim_spin lock;
	struct fabric_slot *first, *last;
	bool borrowed;			/* what it just receives is kept */
	struct sim_actor arrive, have_room;
	/*
	 * Not NULL: the node lives in another process. Nobody is attached here;
	 * what arrives in the queue leaves through the link.
	 */
	struct fabric_link *link;
};

/* A way to the boards of another process (udp.c); of what it is, the fabric knows this. */
struct fabric_link {
	struct fabric_link *next;
	/*
	 * Make of a frame of this process one of the link to p, before anything goes wrong
	 * with it. False: the peer would take it for something else, it must not leave.
	 */
	bool (*wrap)(struct fabric_port *p, struct wire_frame *f);
	/* Send it; the caller keeps the frame. */
	void (*send)(struct fabric_port *p, const struct wire_frame *f);
	bool (*idle)(const struct fabric_link *l);
	/* Ends its threads, closes, frees. */
	void (*destroy)(struct fabric_link *l);
};

struct fabric {
	struct fabric_config cfg;
	struct fabric_port *port[WIRE_NODES];
	bool link[WIRE_NODES][WIRE_NODES];
	uint8_t hops[WIRE_NODES][WIRE_NODES];
	bool timed;
	struct fabric_link *links;
};

/* fabric.c: to the peer's queue, to arrive at arrive_ns */
void fabric_deliver(struct fabric_port *from, struct fabric_slot *s,
		    uint64_t arrive_ns);
void fabric_slot_free(struct fabric_slot *s);
/* n of one owner, from first to last. */
void fabric_slots_free(struct fabric_slot *first, struct fabric_slot *last,
		       uint32_t n);
struct fabric_slot *fabric_slot_get(struct fabric_port *p);
/* Halves of a port, in its domain: its queue; frames of its own (0, -ENOMEM). */
void fabric_port_receives(struct fabric_port *p);
int fabric_port_sends(struct fabric_port *p);
void fabric_port_ends(struct fabric_port *p);	/* its memory; p itself is the caller's */

/* For the trace: a frame at a port. */
struct trace_at fabric_at(const struct fabric_port *p,
			  const struct wire_frame *f);

/* inject.c: what a rule says goes wrong; takes the slot, delivers what is left of it */
void fabric_pass(struct fabric_port *p, struct fabric_slot *s,
		 uint64_t arrive_ns);

/* udp_tag.c: what only two processes need to tell each other */

#define UDP_CTXS	256	/* that a block word can name */
#define UDP_RETIRED	8

/* Of one context of one node behind the link. */
struct udp_gen {
	uint16_t newest;	/* generation that was handed in */
	uint16_t add;		/* to those of the packets */
	bool heard;
	bool fresh;		/* of the peer that runs now none has come */
};

struct udp_tag {
	uint16_t own, peer;	/* instances; peer 0: not known */
	uint16_t retired[UDP_RETIRED];	/* peers that ran before */
	unsigned int retirements;
	struct udp_gen gen[FABRIC_UDP_NODES][UDP_CTXS];
};

enum udp_verdict { UDP_TAKE, UDP_TAKE_NEW, UDP_HELLO, UDP_OLD };

void udp_tag_init(struct udp_tag *t);
/* Whose packet is it? UDP_TAKE_NEW: of a peer that has just been learned of. */
enum udp_verdict udp_tag_judge(struct udp_tag *t, const struct wire_frame *f);
/* The node numbers that a frame carries. */
void udp_tag_nodes(struct wire_frame *f);
/*
 * Back to what a frame is inside a process, with the fields beside it. Its from and to
 * are known. WIRE_OK, or why it can be no frame.
 */
enum wire_error udp_tag_off(struct udp_tag *t, struct wire_frame *f);
/*
 * False: it answers a peer that is gone, or its opcode is one of InfiniBand's own, which has
 * no room for the tags.
 */
bool udp_tag_on(struct udp_tag *t, struct wire_frame *f);
/* A greeting, to a peer that is known by this instance (0: not known). */
void udp_tag_hello(const struct udp_tag *t, struct wire_frame *f, uint16_t to);
uint16_t udp_tag_sender(const struct wire_frame *f);

#endif
