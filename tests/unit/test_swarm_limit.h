/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_swarm_limit.h - a random world that goes on for ever is ended by a signal. In
 * lockstep CPU time counts, so that a busy machine fails nobody (a world in which nothing
 * can run is found by the scheduler); in threads the clock, which gives it long enough.
 */
#ifndef TEST_SWARM_LIMIT_H
#define TEST_SWARM_LIMIT_H

#include <signal.h>
#include <sys/time.h>

#include "sim/sim.h"

#define LIMIT_CPU_S	240
#define LIMIT_WALL_S	1500

/* on_end hears of SIGABRT, and of the limit, which is any other signal. */
static inline void limit_begin(enum sim_mode mode, void (*on_end)(int sig))
{
	bool cpu = mode == SIM_LOCKSTEP;
	struct itimerval t = { .it_value.tv_sec = cpu ? LIMIT_CPU_S :
							LIMIT_WALL_S };

	signal(SIGABRT, on_end);
	signal(cpu ? SIGPROF : SIGALRM, on_end);
	setitimer(cpu ? ITIMER_PROF : ITIMER_REAL, &t, NULL);
}

static inline void limit_end(enum sim_mode mode)
{
	struct itimerval none = { 0 };

	setitimer(mode == SIM_LOCKSTEP ? ITIMER_PROF : ITIMER_REAL, &none, NULL);
	signal(SIGABRT, SIG_DFL);
}

#endif
