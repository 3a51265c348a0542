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

#include <shim/rules.h>

struct host_file;
struct host_kernel;
struct host_mm;
struct host_process;

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
	u64 cause;			/* trace: what this thread did last */
	u64 irq;			/* trace: the line went up; 0: no handler */
	struct shim_mark mark;		/* rules.h: what was before */
};
extern _Thread_local struct shim_cpu shim_this_cpu;

static inline struct shim_cpu *shim_cpu(void)
{
	return &shim_this_cpu;
}

struct shim_cpu shim_enter(struct shim *shim, struct task_struct *task,
			   enum shim_in in);
void shim_leave(const struct shim_cpu *before);

/* A call that may sleep; one that may meet a page of the caller's, too. */
#define SHIM_SLEEPS(fn, ...) (shim_sleeps(#fn "()", __func__), fn(__VA_ARGS__))
void shim_faults(const char *call, const char *where);
#define SHIM_FAULTS(fn, ...) (shim_faults(#fn "()", __func__), fn(__VA_ARGS__))

#endif
