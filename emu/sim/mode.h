/* SPDX-License-Identifier: BSD-2-Clause */
/* mode.h - the two ways to run one code (sim.h). */
#ifndef FL_SIM_MODE_H
#define FL_SIM_MODE_H

enum sim_mode { SIM_LOCKSTEP, SIM_THREADS };

/* Threads mode: who runs a board's hardware. */
enum sim_drive {
	SIM_INLINE,    /* the thread that posts, polls or writes a register; a
			  helper thread when none does */
	SIM_DEDICATED, /* threads of their own, spinning: one a CPU but one */
};

#endif
