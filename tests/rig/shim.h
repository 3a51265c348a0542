/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim.h - functions that break a rule of the emulator's Linux API, each run in
 * a program of its own, and what is said then.
 */
#ifndef FL_RIG_SHIM_H
#define FL_RIG_SHIM_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/iopoll.h>
#include <linux/kref.h>
#include <linux/memcontrol.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "host/shim/shim_internal.h"
#include "rig/driver.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A driver's things, all of them right when a case begins. */
struct thing {
	struct shim *shim;
	struct mm_struct *mm;
	struct task_struct task;
	struct mutex one, two;
	spinlock_t spin, other;
	struct workqueue_struct *wq;
	struct work_struct work;
	struct kref ref;
	struct list_head list, item;
	wait_queue_head_t wait;
	unsigned long flags, va;
	struct page *page[1];
};
extern struct thing thing;

struct rule_case {
	const char *name, *rule, *words;
	void (*breaks)(void);
	struct rule_case *next;
};

void rule_case_add(struct rule_case *c);

/* A function of a driver that breaks a rule; words: what the message must have. */
#define BREAKS(fn, which, text)                                               \
	static void fn(void);                                                 \
	__attribute__((constructor)) static void add_##fn(void)               \
	{                                                                     \
		static struct rule_case c = { #fn, which, text, fn, NULL };   \
									      \
		rule_case_add(&c);                                            \
	}                                                                     \
	static void fn(void)

/* Takes lock one, as a work does. */
void thing_takes_one(struct work_struct *work);
void thing_make(struct rig *r);
void thing_init(void);
void rule_cases_run(struct rig *r);

#endif
