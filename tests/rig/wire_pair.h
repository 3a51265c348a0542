/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_pair.h - two units of one transport (rig/packets.h) back to back, over a wire that
 * loses, doubles, delays, reorders and damages: who steps next, and when, until nothing is to
 * be done. What is posted, which pages come and go and what must come of it are the test's.
 */
#ifndef FL_RIG_WIRE_PAIR_H
#define FL_RIG_WIRE_PAIR_H

#include "rig/packets.h"
#include "sim/rng.h"

#define NEVER	UINT64_MAX

struct wire_flight {
	uint64_t at;
	unsigned int to;
	struct wire_frame f;
};

struct wire_pair {
	struct rng rng;		/* of all that the test draws */
	struct packets *unit[2];
	uint64_t now, step_at[2][2];
	struct wire_flight *flying;
	unsigned int flights;
	unsigned int lose, twice, damage;	/* per 1000 */
	uint64_t least_ns, delay_ns;	/* of a frame: and up to so much more */
};
extern struct wire_pair wire;

void wire_draw(uint64_t seed, const char *name);
uint32_t draw_below(uint32_t n);
bool draw_chance(unsigned int per_1000);

/* This unit is node 0 or 1: its frames fly, its memory is random. A copy of that memory. */
uint8_t *wire_unit(unsigned int node, struct packets *io);
/* The wire ends; the units are whoever's opened them. */
void wire_end(void);

/* Frames whose time has come arrive; units whose time has come ring and step. */
void wire_arrive(void);
void wire_step(void);
/* When that will have something to do; NEVER. */
uint64_t wire_soonest(void);
/* No frame flies, and no unit is awake. */
bool wire_rests(void);

#endif
