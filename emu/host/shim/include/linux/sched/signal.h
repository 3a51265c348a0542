/* SPDX-License-Identifier: BSD-2-Clause */
/* sched/signal.h */
#ifndef SHIM_LINUX_SCHED_SIGNAL_H
#define SHIM_LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>
#include <sys/resource.h>

/* Nobody is killed here, and nobody has limits. */
static inline bool fatal_signal_pending(struct task_struct *t)
{
	return false;
}

static inline unsigned long rlimit(unsigned int which)
{
	return ~0ul;
}

#endif
