// SPDX-License-Identifier: BSD-2-Clause
/* What every mode of the scheduler needs: whose thread this is, the mode, what has changed. */
#include "sim/sim_internal.h"
#include "sim/watch.h"

_Thread_local struct sim_thread *sim_self_thread;

enum sim_mode sim_mode(const struct sim *sim)
{
	return sim->cfg.mode;
}

void sim_note(struct sim *sim, struct sim_watch *w)
{
	if (w->noted)
		return;
	w->noted = true;
	w->next = sim->noted;
	sim->noted = w;
}
