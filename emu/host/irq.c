// SPDX-License-Identifier: BSD-2-Clause
/*
 * irq.c - interrupts. The lines are levels: hardware tells every change, one
 * thread of the kernel runs the handlers, and runs a line's handler again as
 * long as the line is high, as an interrupt controller would. Where time is real, the
 * thread that has run the hardware is interrupted itself, if it may be (sim_defer()).
 */
#include <stdio.h>

#include "host/internal.h"
#include "sim/sim.h"

/* So many runs without the line going down once: nobody serves the cause. */
#define STORM_RUNS 100000u
/* Then the thread that was interrupted goes on, and the kernel's own takes over. */
#define RUNS_AT_ONCE 100u

static void irq_now(void *arg);

static void irq_wake(void *arg)
{
	struct host_kernel *k = arg;

	sim_unpark(k->irq_thread, k->timing->v[T_IRQ]);
}

/*
 * From hardware, under the device lock: must not block. What the thread that
 * happens to run the hardware is about has nothing to do with it.
 */
static void irq_line_changed(void *arg, enum irq_line line, bool level)
{
	struct host_kernel *k = arg;
	/* Software lowers it; or this thread has just told that it is high (tell_line()). */
	struct trace_at at = { .board = k->id,
			       .cause = level ? trace_last() : trace_last_software() };
	unsigned int bit = 1u << line;

	if (level) {
		at.cause = trace_emit(k->trace, EV_IRQ_RAISE, &at, line, 0, 0,
				      0);
		/* What follows releases it. */
		atomic_store_explicit(&k->irq_event[line], at.cause, memory_order_relaxed);
		atomic_fetch_or(&k->irq_level, bit);
		if (!sim_defer(SIM_DEFER_IRQ, irq_now, k) && !sim_offer(&k->irq_offer))
			irq_wake(k);
	} else {
		atomic_fetch_and(&k->irq_level, ~bit);
		trace_emit(k->trace, EV_IRQ_LOWER, &at, line, 0, 0, 0);
	}
}

static bool is_high(struct host_kernel *k, enum irq_line line)
{
	return atomic_load(&k->irq_level) >> line & 1;
}

/* Linux's "nobody cared": better a dead line that is reported than a hang. */
static void irq_storm(struct host_kernel *k, enum irq_line line)
{
	fprintf(stderr,
		"faultline: kernel panic on board %s: interrupt line %d is "
		"still high after %u runs of its handler; it is masked now\n",
		board_name(k->board), line, STORM_RUNS);
	k->irq[line].masked = true;
	atomic_store(&k->irq_panic, true);
	kernel_note(k);
	host_event(k, EV_SIM_VIOLATION, 3, 0, 0, 0);
}

/* Run the handler of a line that is high once; true: look again. */
static bool irq_serve(struct host_kernel *k, enum irq_line line,
		      unsigned int *runs)
{
	struct host_irq *irq = &k->irq[line];
	struct trace_last before;
	atomic_ullong *account;
	bool ran = false;
	uint64_t cause;

	sim_mutex_lock(&k->irq_lock);
	if (is_high(k, line) && irq->fn && !irq->masked) {
		cause = atomic_load(&k->irq_event[line]);
		*host_trace_at() = (struct trace_at){ .cause = cause };
		before = trace_last_save();
		trace_last_restore((struct trace_last){ cause, cause });
		account = sim_charge(&k->count.cpu_irq);
		irq->fn(irq->arg);
		sim_charge(account);
		trace_last_restore(before);
		host_count(&k->count.irqs[line], 1);
		ran = true;
		*runs = is_high(k, line) ? *runs + 1 : 0;
		if (*runs == STORM_RUNS)
			irq_storm(k, line);
	}
	sim_mutex_unlock(&k->irq_lock);
	return ran;
}

/* Handlers of all lines that are high, once; true: look again. */
static bool irq_serve_all(struct host_kernel *k, unsigned int runs[IRQ_LINES])
{
	bool again = false;
	int line;

	for (line = 0; line < IRQ_LINES; line++)
		if (is_high(k, line) && irq_serve(k, line, &runs[line]))
			again |= is_high(k, line);
	return again;
}

/* The interrupt comes to the CPU that has just run the board. */
static void irq_now(void *arg)
{
	struct trace_at saved = *host_trace_at();
	unsigned int runs[IRQ_LINES] = { 0 }, n;
	struct host_kernel *k = arg;
	bool again = true;

	for (n = 0; again && n < RUNS_AT_ONCE; n++)
		again = irq_serve_all(k, runs);
	*host_trace_at() = saved;
	if (again)
		sim_unpark(k->irq_thread, 0);
}

bool host_irq_pending(struct host_kernel *k)
{
	bool pending = false;
	int line;

	/* Not while a handler runs. */
	sim_mutex_lock(&k->irq_lock);
	for (line = 0; line < IRQ_LINES; line++)
		pending |= is_high(k, line) && k->irq[line].fn && !k->irq[line].masked;
	sim_mutex_unlock(&k->irq_lock);
	return pending;
}

static void irq_main(void *arg)
{
	unsigned int runs[IRQ_LINES] = { 0 };
	struct host_kernel *k = arg;

	while (!sim_stopping()) {
		if (irq_serve_all(k, runs))
			/* Out of the interrupt and in again: time passes. */
			sim_sleep(k->timing->v[T_IRQ] + 1);
		else
			/* Not if one rose meanwhile, also one that was looked at. */
			sim_park();
	}
}

int host_irq_start(struct host_kernel *k)
{
	int line;

	sim_mutex_init(&k->irq_lock);
	k->irq_thread = sim_thread_start_on(board_domain(k->board), "irq", true,
					    irq_main, k);
	if (!k->irq_thread)
		return -ENOMEM;
	k->irq_offer = (struct sim_offer){ irq_now, irq_wake, k };
	board_irq_handler(k->board, irq_line_changed, k);
	/* A board that ran before this kernel may have one high already. */
	for (line = 0; line < IRQ_LINES; line++)
		if (board_irq_level(k->board, (enum irq_line)line))
			atomic_fetch_or(&k->irq_level, 1u << line);
	return 0;
}

/* After sim_stop: the thread has ended; the scheduler frees it. */
void host_irq_stop(struct host_kernel *k)
{
	board_irq_handler(k->board, NULL, NULL);
}

int host_request_irq(struct host_kernel *k, enum irq_line line,
		     void (*fn)(void *arg), void *arg)
{
	int err = 0;

	if ((unsigned int)line >= IRQ_LINES || !fn)
		return -EINVAL;
	sim_mutex_lock(&k->irq_lock);
	if (k->irq[line].fn)
		err = -EBUSY;
	else
		k->irq[line] = (struct host_irq){ .fn = fn, .arg = arg };
	sim_mutex_unlock(&k->irq_lock);
	/* It may be high already. */
	if (!err)
		sim_unpark(k->irq_thread, k->timing->v[T_IRQ]);
	return err;
}

/* When this returns the handler does not run and will not. */
void host_free_irq(struct host_kernel *k, enum irq_line line)
{
	if ((unsigned int)line >= IRQ_LINES)
		return;
	sim_mutex_lock(&k->irq_lock);
	k->irq[line] = (struct host_irq){ 0 };
	sim_mutex_unlock(&k->irq_lock);
}
