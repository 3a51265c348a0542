// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "faultline.h"
#include "sys.h"

/* Of a thread and no object: its table, and why its last fl_open failed. */
static _Thread_local const struct fl_sys *table;
static _Thread_local char open_error[320];

void fl_sys_set(const struct fl_sys *sys)
{
	table = sys;
}

const struct fl_sys *fl_sys_get(void)
{
	return table ? table : &fl_sys_linux;
}

const struct fl_sys *fl_sys_for(const char *name)
{
	if (!table && name && !strncmp(name, "emu:", 4))
		return &fl_sys_attach;
	return fl_sys_get();
}

void fl_open_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(open_error, sizeof(open_error), fmt, ap);
	va_end(ap);
}

const char *fl_open_error(void)
{
	return open_error;
}
