/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.h - lockstep: what has changed since the checker looked. */
#ifndef FL_SIM_WATCH_H
#define FL_SIM_WATCH_H

#include <stdbool.h>

struct sim;
struct sim_domain;

/*
 * Lockstep: what the checker has to look at again, so that an event costs what has
 * changed in it, and not what there is. A change notes its watch; noting
 * it again before the checker has looked is nothing. Not for threads mode.
 */
struct sim_watch {
	struct sim_watch *next;
	bool noted;
};
void sim_note(struct sim *sim, struct sim_watch *w);
/* Calls fn for each that is noted; what fn notes is for the next time. */
void sim_each_noted(struct sim *sim,
		    void (*fn)(void *arg, struct sim_watch *w), void *arg);
/* Noted whenever hardware of the domain runs or software enters it. */
void sim_domain_watch(struct sim_domain *d, struct sim_watch *w);

#endif
