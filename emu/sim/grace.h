/* SPDX-License-Identifier: BSD-2-Clause */
/* grace.h - grace periods: accesses of a device are read-side sections. */
#ifndef FL_GRACE_H
#define FL_GRACE_H

#include <stdbool.h>

struct sim;

#define SIM_CHANNELS 12
struct sim_grace;
struct sim_grace *sim_grace_create(struct sim *sim);
void sim_grace_destroy(struct sim_grace *g);
/*
 * A channel (0 to 7) of the board begins and ends an access. Lockstep:
 * counters; threads: QSBR of liburcu. Threads: to end it the actor in whose step it
 * began needs nobody else, so that no turn (sim_turns) ends within an access.
 */
void sim_grace_enter(struct sim_grace *g, unsigned int channel);
void sim_grace_exit(struct sim_grace *g, unsigned int channel);
/* Remember the accesses that are under way. */
void sim_grace_start(struct sim_grace *g);
/*
 * Have all of those ended? Threads mode: waits for them (synchronize_rcu) and
 * returns true.
 */
bool sim_grace_done(struct sim_grace *g);

#endif
