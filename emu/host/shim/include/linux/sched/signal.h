/* SPDX-License-Identifier: BSD-2-Clause */
/* sched/signal.h */
#ifndef SHIM_LINUX_SCHED_SIGNAL_H
#define SHIM_LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>
#include <sys/resource.h>

/* fatal_signal_pending() tells all of it. */
#define SIGNAL_GROUP_EXIT 4u

/* Only a process that lives elsewhere can be killed. */
bool fatal_signal_pending(struct task_struct *t);

/* Of a plain user's process; RLIMIT_MEMLOCK is all that there is. */
unsigned long rlimit(unsigned int which);

#endif
