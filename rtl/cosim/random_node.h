/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random_node.h - the nodes of a random run: what surrounds an engine, and the software
 * that writes its registers.
 *
 *	random.c	what happens, one call after the other; the rounds
 *	random_node.c	memory, wire and lines of a node; its firmware and its driver
 *	random_wrap.c	how counters come near their wrap; blocks with all their cells
 */
#ifndef FL_RTL_RANDOM_NODE_H
#define FL_RTL_RANDOM_NODE_H

#include "faultline/entries.h"
#include "faultline/errata.h"
#include "faultline/fsm.h"
#include "faultline/regs.h"
#include "nic/engine.h"
#include "nic/wire.h"
#include "rtl/cosim/random_draw.h"
#include "rtl/cosim/random_reached.h"
#include "trace/cause.h"
#include "trace/event.h"

#define NODES		2
#define QUEUE		64
#define OLD		64

struct node {
	struct engine *e;
	struct engine_cause cause;
	struct wire_frame frame;	/* that frame_get() hands out */
	struct wire_frame queue[QUEUE];	/* on the way here */
	unsigned int queued;
	bool held[2], awake[2];
	bool event, fault;		/* there are notes, faults */
	uint8_t block_log2;		/* its largest block */
	uint32_t ready[OLD];		/* READY as it was written */
	bool dry;			/* no room on the wire from here */
	uint16_t gen[NODES][ENGINE_CTX_MAX];	/* that was sent last */
};

/* What memory and wire do: at random; nothing bad; every page is missing. */
enum weather { WILD, CALM, ABSENT };

struct world {
	uint32_t longest;		/* block */
	uint64_t now_ns, seq, calls, done, cycles, refused;
	bool alone, in_packet;
	enum weather weather;
	struct engine_config cfg;
	struct node node[NODES];
	struct wire_frame old[OLD];
};
extern struct world w;

/* The environment of the node's engine, but for ctx and wire. */
extern const struct engine_env node_env;

uint32_t node_read(struct node *n, uint32_t off);
void node_write(struct node *n, uint32_t off, unsigned int size, uint64_t v);
/* Fill in transmit context i and let it go, if it is FREE; ref: of the request that is answered. */
void node_go(struct node *n, unsigned int i, unsigned int op, unsigned int to,
	     uint32_t len, uint32_t ref);
uint32_t some_length(const struct node *n);
/* The firmware: the next note, or a timer. The driver: the next fault. */
void node_notes(struct node *n);
void node_driver(struct node *n);
void node_control(struct node *n);
void node_start(struct node *n);
/* Registers without sense. */
void node_chaos(struct node *n);
/* The engine: a step of a channel; the oldest packet on the way here. */
void node_step(struct node *n, unsigned int channel);
void node_deliver(struct node *n);
void node_receive(struct node *n, const struct wire_frame *f);

/* Generations of some contexts of the first node: near the ends of 16, 15 and 8 bits. */
void wrap_generations(void);
/* And while those pass the end, answers about them wait for room. */
void wrap_answers(void);
/* One block is sent again and again, until its attempts are near the end of 8 bits. */
void wrap_attempts(struct node *n, unsigned int i);
/* One block faults until the number of its faults begins again. */
void wrap_faults(struct node *n, unsigned int i);
/* A READ's attempts begin again, and answers to both sides of that come together. */
void wrap_reads(struct node *n, unsigned int i);
/* The largest block, in the smallest cells, twice, and nothing gets in its way. */
void whole_block(struct node *n, unsigned int i);

#endif
