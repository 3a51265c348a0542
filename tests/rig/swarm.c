// SPDX-License-Identifier: BSD-2-Clause
#include "rig/swarm.h"

__attribute__((format(printf, 2, 3))) void swarm_problem(struct swarm *s,
	      const char *fmt, ...)
{
	va_list ap;

	sim_spin_lock(&s->lock);
	if (!s->problem[0]) {
		va_start(ap, fmt);
		vsnprintf(s->problem, sizeof(s->problem), fmt, ap);
		va_end(ap);
	}
	sim_spin_unlock(&s->lock);
	atomic_store(&s->bad, true);
}
