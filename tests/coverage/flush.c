// SPDX-License-Identifier: BSD-2-Clause
/*
 * gcov writes its counters when a program returns from main(). A test's child often ends by
 * _exit(), abort() or a signal that it raises, of which gcov knows nothing: the linker has
 * these here instead (--wrap), so that what a child did counts too.
 */
#include <stdlib.h>

void __gcov_dump(void);
void __gcov_reset(void);
_Noreturn void __real__exit(int status);
_Noreturn void __real_abort(void);
int __real_raise(int sig);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap_abort(void);
int __wrap_raise(int sig);

void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}

void __wrap_abort(void)
{
	__gcov_dump();
	__real_abort();
}

int __wrap_raise(int sig)
{
	int error;

	__gcov_dump();
	error = __real_raise(sig);
	/* It goes on: what has been written is not counted twice. */
	__gcov_reset();
	return error;
}
