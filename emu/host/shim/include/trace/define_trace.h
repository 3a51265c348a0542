/* SPDX-License-Identifier: BSD-2-Clause */
/* define_trace.h */
#ifndef SHIM_TRACE_DEFINE_TRACE_H
#define SHIM_TRACE_DEFINE_TRACE_H

/* Nothing is left to define (linux/tracepoint.h). */

#endif
