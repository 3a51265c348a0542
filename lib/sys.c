// SPDX-License-Identifier: BSD-2-Clause
#include "sys.h"

/* The one variable of the library that is not in an object. */
static _Thread_local const struct fl_sys *table;

void fl_sys_set(const struct fl_sys *sys)
{
	table = sys;
}

const struct fl_sys *fl_sys_get(void)
{
	return table ? table : &fl_sys_linux;
}
