/* SPDX-License-Identifier: BSD-2-Clause */
/* tracepoint.h */
#ifndef SHIM_LINUX_TRACEPOINT_H
#define SHIM_LINUX_TRACEPOINT_H

#include <shim/trace.h>

/* A trace point is a call of the emulator's recorder (shim/trace.h). */
#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...) (__VA_ARGS__)
#define TRACE_EVENT(name, proto, args, ...)                                   \
	static inline void trace_##name(proto)                                \
	{                                                                     \
		shim_trace_##name args;                                       \
	}                                                                     \
	_Static_assert(1, "")

#endif
