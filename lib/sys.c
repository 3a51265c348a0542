// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "faultline.h"
#include "sys.h"

/* Of a thread and no object: its table, and why its last fl_open failed. */
static _Thread_local struct {
	const struct fl_sys *table;
	char open_error[320];
} here;

void *fl_sys_local(size_t *bytes)
{
	*bytes = sizeof(here);
	return &here;
}

void fl_sys_set(const struct fl_sys *sys)
{
	here.table = sys;
}

const struct fl_sys *fl_sys_get(void)
{
	return fl_sys_for(NULL);
}

const struct fl_sys *fl_sys_for(const char *name)
{
	const struct fl_way *w = fl_ways;

	if (here.table)
		return here.table;
	while (w->sys && strncmp(name ? name : "", w->prefix, strlen(w->prefix)))
		w++;
	return w->sys;
}

void fl_open_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(here.open_error, sizeof(here.open_error), fmt, ap);
	va_end(ap);
}

const char *fl_open_error(void)
{
	return here.open_error;
}
