/* SPDX-License-Identifier: BSD-2-Clause */
/* counts.h - what a kernel counts; host_stats() hands it out. */
#ifndef FL_HOST_COUNTS_H
#define FL_HOST_COUNTS_H

#include <stdatomic.h>

#include "host/host.h"

struct host_counts {
	atomic_ullong faults_minor, faults_major, faults_failed, page_ins,
		evictions, swap_ins, swap_outs, ages, pins, invalidations,
		cpu_faults, brought, unused, copied, irqs[IRQ_LINES],
		cpu_irq, cpu_work, cpu_calls,	/* sim_charge() */
		pinned, pinned_peak;	/* frames with a pin, and the most at a time */
};

/* The most that there ever was: now may be the most. */
static inline void host_peak(atomic_ullong *peak, unsigned long long now)
{
	unsigned long long most = atomic_load_explicit(peak,
						       memory_order_relaxed);

	while (now > most && !atomic_compare_exchange_weak(peak, &most, now))
		;
}

#endif
