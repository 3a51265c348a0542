/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim.h - the Linux API that the reference driver uses, on the small kernel.
 *
 * include/linux and include/asm hold what the driver includes, just as much as
 * it uses; the files here implement it on emu/host and emu/sim. The driver's
 * sources do not know.
 */
#ifndef SHIM_SHIM_SHIM_H
#define SHIM_SHIM_SHIM_H

#include <linux/types.h>

#include "host/host.h"

struct shim;
struct task_struct;

/*
 * What the calling thread is doing in the kernel, as the CPU and the task would
 * say it on Linux. Every way into the driver (file, interrupt, worker,
 * notifier, probe) sets it and puts back what was there.
 */
struct shim_cpu {
	struct shim *shim;		/* which kernel; NULL: in none */
	struct task_struct *task;	/* NULL: a kernel thread */
	unsigned int atomic;		/* > 0: must not sleep */
	unsigned int mmap_locks;	/* > 0: may look at mappings */
	u64 cause;			/* trace: what this thread did last */
	u64 irq;			/* trace: the line went up; 0: no handler */
};
struct shim_cpu *shim_cpu(void);
struct shim_cpu shim_enter(struct shim *shim, struct task_struct *task,
			   bool atomic);
void shim_leave(const struct shim_cpu *before);

/* Asserts that sleeping is allowed here (Linux: CONFIG_DEBUG_ATOMIC_SLEEP). */
void shim_might_sleep(void);

#endif
