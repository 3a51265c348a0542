/* SPDX-License-Identifier: BSD-2-Clause */
/* counts.h - what is counted of two boards while something is measured. */
#ifndef FL_WORK_COUNTS_H
#define FL_WORK_COUNTS_H

#include <stdint.h>

#include "board/board.h"

struct host_kernel;
struct pair;
struct testbed_process;

/* Of both boards together, resident_peak and pinned_peak as well. */
struct work_counts {
	uint64_t faults, pages_in, pinned_peak, resident_peak, wire_bytes,
		payload_bytes, refused, resent, dropped, irqs[IRQ_LINES],
		cpu_irq_ns, cpu_work_ns, cpu_calls_ns, copied_bytes;
};

/* All that the hardware and the kernel of one board have counted is added: faults are not. */
void counts_add(struct work_counts *c, struct board *b, struct host_kernel *kernel,
		struct fabric *fabric);
/*
 * As it stands, without a board elsewhere; of faults those of the processes that are
 * asked, which takes a system call. ask[i] NULL: it has ended, or has missed nothing yet. 0
 * or negative errno.
 */
int counts_read(const struct pair *x, struct testbed_process *const ask[2],
		struct work_counts *c);
/* What has come since; peaks are of all the time. */
void counts_since(struct work_counts *c, const struct work_counts *start);
/* CPU time of all that the kernels did. */
uint64_t counts_kernel_ns(const struct work_counts *c);

#endif
