/* SPDX-License-Identifier: BSD-2-Clause */
/* swarm_act.h - what a thread of a swarm may do next. */
#ifndef FL_RIG_SWARM_ACT_H
#define FL_RIG_SWARM_ACT_H

#include "host/mm.h"
#include "sim/sim.h"
#include "rig/swarm_model.h"

void act_submit(struct side *d, struct request *r, struct fl_work *w);
int act_pick_region(struct side *d, unsigned int i);
void act_any(struct thread *t, struct side *d);

#endif
