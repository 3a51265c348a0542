/* SPDX-License-Identifier: BSD-2-Clause */
/* mutex.h */
#ifndef SHIM_LINUX_MUTEX_H
#define SHIM_LINUX_MUTEX_H

#include <shim/shim.h>

/* A sleeping lock; taking it where sleeping is not allowed is an assertion. */
struct mutex {
	struct sim_mutex m;
};

void mutex_init(struct mutex *m);
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);

#endif
