/* SPDX-License-Identifier: BSD-2-Clause */
/* What a seed draws: how many of what, how much goes wrong, and values of the profile. */
#ifndef FL_RIG_SWARM_PLAN_H
#define FL_RIG_SWARM_PLAN_H

#include "rig/swarm.h"

struct plan make_plan(uint64_t seed, enum sim_mode mode);
const char *random_set(struct rng *r, const struct plan *p, int i,
		       char text[64]);
void show_plan(const struct plan *p);

#endif
