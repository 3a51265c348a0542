/* SPDX-License-Identifier: BSD-2-Clause */
/* swarm_work.h - the life of a swarm's threads. */
#ifndef FL_RIG_SWARM_WORK_H
#define FL_RIG_SWARM_WORK_H

#include "rig/swarm_act.h"

void thread_main(void *arg);

#endif
