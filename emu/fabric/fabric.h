/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric.h - the network between boards: links with rate and delay, and what
 * can go wrong on them. Files: fabric.c (ports, routes, delivery), inject.c
 * (loss, damage, duplication, reorder, delay).
 */
#ifndef FL_FABRIC_H
#define FL_FABRIC_H

#include "nic/wire.h"
#include "sim/sim.h"

struct fabric;
struct fabric_port;

struct fabric_config {
	struct sim *sim;
	struct trace *trace;
	const struct timing_profile *timing;
	uint32_t frames; /* pool; 0: 4096 */
};

struct fabric *fabric_create(const struct fabric_config *cfg);
void fabric_destroy(struct fabric *f);

/*
 * Attach node; receive is called with each frame that arrives (by the receiving
 * domain's actor), room when frames can be had again. NULL with -EEXIST,
 * -EINVAL, -ENOMEM in *error.
 */
struct fabric_port *
fabric_attach(struct fabric *f, struct sim_domain *d, uint8_t node,
	      void (*receive)(void *arg, const struct wire_frame *fr,
			      uint64_t now_ns),
	      void (*room)(void *arg), void *arg, int *error);

/*
 * A link in both directions. 0, -EEXIST, -ENOENT. Frames take the shortest way
 * (fewest links).
 */
int fabric_link(struct fabric *f, uint8_t a, uint8_t b);

struct wire_frame *fabric_frame_get(struct fabric_port *p);
/* The same, but only when at least half of the port's frames are not in use. */
struct wire_frame *fabric_frame_spare(struct fabric_port *p);
/*
 * receive wants to keep the frame that it was called with. False: the port that sent
 * it has few left. fabric_frame_put gives it back, or one that was not sent.
 */
bool fabric_frame_keep(struct fabric_port *p, const struct wire_frame *fr);
void fabric_frame_put(const struct wire_frame *fr);
/* ns until the port takes the next frame (lockstep). Takes the frame over. */
uint64_t fabric_frame_send(struct fabric_port *p, struct wire_frame *fr);

/*
 * Injection on everything that node a sends towards b (0xff: any). Rates in
 * parts per million.
 */
struct fabric_inject {
	uint32_t loss_ppm, duplicate_ppm, damage_ppm, late_ppm;
	uint64_t late_ns;    /* how much later at most (reorders) */
	uint32_t drop_first; /* lose the first n packets of kind opcode (0: any)
			      */
	uint8_t opcode;	     /* 0: all packets */
};
int fabric_inject(struct fabric *f, uint8_t a, uint8_t b,
		  const struct fabric_inject *i);

struct fabric_stats {
	uint64_t frames,
		bytes; /* bytes as the profile counts them: with overhead */
	uint64_t lost, duplicated, damaged, late;
};
void fabric_stats(struct fabric *f, uint8_t node,
		  struct fabric_stats *st); /* sent by node */

/*
 * May frames be damaged? (then the ICRC is made and checked) Threads mode: only
 * if asked.
 */
bool fabric_icrc(const struct fabric *f);
/* Before the first board: cards ask when they are made. */
void fabric_icrc_set(struct fabric *f, bool on);
/* No frame on the way. */
bool fabric_idle(struct fabric *f);

#endif
