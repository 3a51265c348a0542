// SPDX-License-Identifier: BSD-2-Clause
/* cpu.c - what the calling thread is in the kernel; trace, log, what is refused. */
#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/device.h>
#include <linux/platform_device.h>

#include "shim_internal.h"
#include <shim/trace.h>

#include "sim/timing.h"

/* A thread's own state, as registers are a CPU's; no board shares it. */
_Thread_local struct shim_cpu shim_this_cpu;

struct shim_cpu shim_enter(struct shim *shim, struct task_struct *task,
			   enum shim_in in)
{
	struct shim_cpu before = shim_this_cpu;

	shim_this_cpu.shim = shim;
	shim_this_cpu.task = task;
	before.mark = shim_call_begin(&shim->rules, in);
	return before;
}

void shim_leave(const struct shim_cpu *before)
{
	shim_call_end(&before->mark);
	shim_this_cpu = *before;
}

struct task_struct *shim_current(void)
{
	static const struct task_struct kernel_thread = { .mm = NULL };

	return shim_this_cpu.task ? shim_this_cpu.task :
				    (struct task_struct *)&kernel_thread;
}

/* So long does the board run at a time while somebody outside waits. */
#define TURN_NS 10000

struct inside {
	void (*fn)(void *arg);
	void *arg;
	bool done;
};

static void inside_main(void *arg)
{
	struct inside *in = arg;

	in->fn(in->arg);
	__atomic_store_n(&in->done, true, __ATOMIC_RELEASE);
}

void shim_inside(struct shim *shim, void (*fn)(void *arg), void *arg)
{
	struct inside in = { fn, arg, false };
	uint64_t turn_ns = TURN_NS, before_ns;
	struct sim *sim = shim->sim;
	struct sim_thread *t;
	enum sim_result r;

	if (!shim_outside()) {
		fn(arg);
		return;
	}
	t = sim_thread_start_on(board_domain(shim->board), "driver", false, inside_main,
				&in);
	assert(t);
	while (!__atomic_load_n(&in.done, __ATOMIC_ACQUIRE)) {
		before_ns = sim_now(sim);
		r = sim_run(sim, turn_ns, 0);
		assert(r != SIM_DEADLOCK);
		/* Time stands still when nothing is due within a turn. */
		turn_ns = sim_now(sim) == before_ns ? 2 * turn_ns : TURN_NS;
	}
	sim_thread_join(t);
}

/* A caller outside the emulator has no software thread that could sleep to advance time. */
void shim_turn(void)
{
	struct shim *shim = shim_cpu()->shim;

	assert(shim);
	if (sim_mode(shim->sim) == SIM_LOCKSTEP) {
		sim_let_pass(shim->sim, TURN_NS);
	} else {
		board_pump(shim->board);
		sim_yield();
	}
}

/* ---- trace ---- */

/*
 * What the driver computes takes no time here, but for this, which is the whole price of
 * its system: reading a request, and finding out which of its pages are there.
 */
static void shim_spend_snoop(struct shim *shim, enum trace_event ev, u64 pages)
{
	if (ev == EV_DRV_SNOOP)
		sim_spend(shim->timing->v[pages ? T_SNOOP_MISS : T_SNOOP_HIT]);
}

void shim_trace(enum trace_event ev, bool first, u32 xfer, u32 block, u64 a0,
		u64 a1, u64 a2, u64 a3)
{
	struct trace_at at = { .xfer = xfer, .block = block };
	struct trace_at *kernel = host_trace_at();
	struct shim_cpu *self = shim_cpu();

	assert(self->shim);
	shim_spend_snoop(self->shim, ev, a2);
	at.board = self->shim->id;
	at.cause = first ? self->irq : self->cause;
	/* One run of the worker reads many requests; each is there because it was posted. */
	if (ev == EV_DRV_SNOOP)
		at.cause = board_publish_event(self->shim->board, xfer);
	self->cause = trace_emit(self->shim->trace, ev, &at, a0, a1, a2, a3);
	/* What the kernel now does for this thread is a consequence. */
	kernel->xfer = xfer;
	kernel->block = block;
	kernel->cause = self->cause;
}

/* ---- log ---- */

void shim_log(const struct device *dev, const char *fmt, ...)
{
	va_list ap;

	if (!getenv("FAULTLINE_KLOG"))
		return;
	if (dev && dev->shim)
		fprintf(stderr, "[%llu] %s %s: ",
			(unsigned long long)sim_now(dev->shim->sim),
			board_name(dev->shim->board), dev->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

/* ---- what is refused ---- */

static atomic_uint refuse;

unsigned int host_inject_driver_error(unsigned int n)
{
	return atomic_exchange(&refuse, n);
}

bool shim_refused(void)
{
	unsigned int left = atomic_load(&refuse);

	while (left && !atomic_compare_exchange_weak(&refuse, &left, left - 1))
		;
	return left == 1;
}
