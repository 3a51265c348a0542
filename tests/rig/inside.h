/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside.h - a test that stands inside a board's kernel, where the driver is: it sees the
 * driver's objects, and calls it as Linux would, also in ways in which the small kernel
 * never does.
 */
#ifndef FL_RIG_INSIDE_H
#define FL_RIG_INSIDE_H

#include "host/shim/shim_internal.h"
#include "kernel-ref/fl_tables.h"
#include "rig/driver.h"

struct inside {
	struct shim *shim;
	struct fl_dev *dev;
	struct fl_ctx *ctx;	/* of the first slot; NULL: nobody has it */
	struct task_struct task;	/* whose file it is; or a kernel thread */
	struct shim_cpu before;
};

/* Until inside_leave() the calling thread is in the kernel of n, for the owner of slot 0. */
void inside_enter(struct inside *in, struct rig_node *n, enum shim_in where);

static inline void inside_leave(struct inside *in)
{
	shim_leave(&in->before);
}

#endif
