/* SPDX-License-Identifier: BSD-2-Clause */
/* mutex.h */
#ifndef SHIM_LINUX_MUTEX_H
#define SHIM_LINUX_MUTEX_H

#include <shim/rules.h>
#include <shim/shim.h>

#include "sim/sync.h"

/* A sleeping lock. */
struct mutex {
	struct sim_mutex m;
	struct shim_lock rules;
};

void shim_mutex_init(struct mutex *m, const char *name);
void shim_mutex_lock(struct mutex *m, const char *where);
void shim_mutex_unlock(struct mutex *m, const char *where);

#define mutex_init(m) shim_mutex_init(m, #m)
#define mutex_lock(m) shim_mutex_lock(m, __func__)
#define mutex_unlock(m) shim_mutex_unlock(m, __func__)

#endif
