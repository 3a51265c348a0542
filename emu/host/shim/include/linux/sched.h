/* SPDX-License-Identifier: BSD-2-Clause */
/* sched.h */
#ifndef SHIM_LINUX_SCHED_H
#define SHIM_LINUX_SCHED_H

#include <linux/types.h>
#include <linux/uidgid.h>
#include <shim/rules.h>

struct mm_struct;
/* The process that called the driver; in a kernel thread one without memory. */
struct signal_struct {
	unsigned int flags;
};

struct task_struct {
	struct mm_struct *mm;
	struct signal_struct *signal;
	kuid_t uid;
};
struct task_struct *shim_current(void);
#define current shim_current()

/* Workers are threads that give way whenever they spend time. */
/* It may sleep, and tells that a piece of long work is done. */
void shim_resched(const char *where);
#define cond_resched() shim_resched(__func__)

#endif
