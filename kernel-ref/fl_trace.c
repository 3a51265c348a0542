// SPDX-License-Identifier: GPL-2.0-only
/* The trace events, made once: whoever emits one needs this file and no other. */
#include <linux/module.h>

#include "fl_access.h"
#include "fl_dev.h"

#define CREATE_TRACE_POINTS
#include "fl_trace.h"
