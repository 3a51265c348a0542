/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * os_escape_table.h - for test_os_escape.c: all ways out of a wall. Each is a system
 * call with its arguments, or a function (rig/os_escape.h).
 */
#ifndef FL_RIG_OS_ESCAPE_TABLE_H
#define FL_RIG_OS_ESCAPE_TABLE_H

#include "rig/os_escape.h"

#define SUBJECT		1	/* a compiler may do it: start programs, ask for names */
#define ANYWHERE	2	/* not by a compiler either */
#define UNPROVEN	4	/* never without the wall: it would hurt this machine */

struct escape {
	const char *name;
	unsigned int where;
	long (*run)(void);	/* negative, and errno: it was refused */
	long call, arg[5];	/* if there is no function */
};

extern const struct escape escapes[];

#endif
