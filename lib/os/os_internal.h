/* SPDX-License-Identifier: BSD-2-Clause */
/* os_internal.h - what linux.c and posix.c do for the files that both share. */
#ifndef FL_OS_INTERNAL_H
#define FL_OS_INTERNAL_H

#include "os/os.h"

/* For copy.c: os_copy_from() in one call. -ENOSYS: do it another way. */
int os_copy_direct(void *to, const void *from, size_t n);

/*
 * Of common.c: does a yield of so long say that another thread ran for a short time, where
 * a call to the system takes call_ns?
 */
bool os_yield_was_shared(uint64_t call_ns, uint64_t yield_ns);

/*
 * For common.c: a file that never had a name. -ENOTSUP: make one with a name, and
 * take that away.
 */
int os_file_nameless(const char *dir);

/* For segv.c. AS. Of a signal's context: 1 write, 0 read, -1 not said. */
int os_fault_is_write(const void *ucontext);

/*
 * A copy that may fault, and whether such a copy did it: a handler of the program that interrupts
 * one may fault, too. -ENOTSUP: this system layer cannot tell.
 */
int os_copy_watched(void *to, const void *from, size_t n);
bool os_fault_is_copy(const void *ucontext);	/* AS */

/*
 * Is it whole pages of this host? Systems do not agree on what else would mean: some
 * round, and qemu-user says yes and does nothing (sources: host-tools). AS.
 */
bool os_whole_pages(const void *at, uint64_t bytes, uint64_t offset);

#endif
