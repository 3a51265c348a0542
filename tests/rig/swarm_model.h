/* SPDX-License-Identifier: BSD-2-Clause */
/* swarm_model.h - what a swarm's bytes and completions must be. */
#ifndef FL_RIG_SWARM_MODEL_H
#define FL_RIG_SWARM_MODEL_H

#include "host/mm.h"
#include "sim/sim.h"
#include "rig/swarm.h"

#define SCRATCH_PAGES	16u
#define NAP_NS		20000u
#define POLL_NS		200000u
/* Longer than all patience of a sender together, and of a machine under load. */
#define NEVER_NS	5000000000ull
#define NEVER_WALL_NS	60000000000ull
#define IDLE_NS		200000u

static inline uint64_t draw_n(struct thread *t, uint64_t n)
{
	return rng_below(&t->rng, n);
}

static inline uint64_t now_ns(struct swarm *s)
{
	return sim_now(testbed_sim(s->w));
}

static inline struct side *swarm_model_other(struct side *d)
{
	return &d->conn->side[!d->i];
}

static inline bool is_dying(const struct proc *p)
{
	return atomic_load(&p->dying);
}

/* ---- bytes ---- */

/*
 * A program's stores, from the first byte to the last. In which order memcpy()
 * comes to the pages hangs on where malloc() put the source, and with it hangs
 * the trace.
 */
void swarm_store(uint8_t *to, const uint8_t *from, uint32_t n);

/*
 * Bytes of a buffer, as they are now, without side effects. In threads not while they
 * may change; 0, or an error of mm_look().
 */
int swarm_model_look(struct side *at, uint64_t from, uint64_t bytes);

/* What the oracle has found, if anything. */
void swarm_model_judge(struct side *d, const char *when);

/* All at one moment: what the first look teaches, the second one uses. */
void verify_under_way(struct side *d);

/* ---- completions ---- */

static inline bool in_packets(const struct swarm *s)
{
	return s->p.draw == DRAW_PACKETS;
}

static inline enum oracle_order swarm_order(const struct swarm *s)
{
	return in_packets(s) ? ORACLE_PACKETS : ORACLE_POSTED;
}

void swarm_model_poll(struct thread *t, uint64_t wait_ns);

/* ---- epochs ---- */

void swarm_model_check(struct side *d, int err, const char *what);

/* One step towards being connected. */
void swarm_model_serve(struct thread *t, struct side *d);

#endif
