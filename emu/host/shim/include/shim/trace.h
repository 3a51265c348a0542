/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.h - from the driver's trace points to the emulator's events. */
#ifndef SHIM_SHIM_TRACE_H
#define SHIM_SHIM_TRACE_H

#include <shim/shim.h>

#include "trace/event.h"

/*
 * Record an event of the driver. Its cause is what this thread recorded before,
 * or what queued its work; first: it begins something new, and has none.
 */
void shim_trace(enum trace_event ev, bool first, u32 xfer, u32 block, u64 a0,
		u64 a1, u64 a2, u64 a3);

/*
 * The trace points of kernel-ref/fl_trace.h, by name. Here a card has a kernel of
 * its own, and the thread knows which.
 */
#include <shim/trace_points.h>

#endif
