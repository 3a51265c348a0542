/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fw_trace.h - the trace's event numbers for the firmware.
 *
 * The same list as trace/trace.h, under other names: the firmware is
 * freestanding and cannot include a header that needs stdio.h.
 */
#ifndef FL_FW_TRACE_H
#define FL_FW_TRACE_H

enum fw_trace_event {
#define EVENT(name, unit, a0, a1, a2, a3, text) FW_TRACE_##name,
#include "trace/events.def"
	FW_TRACE_COUNT
};

#endif
