/* SPDX-License-Identifier: BSD-2-Clause */
/* os_internal.h - what linux.c and posix.c do for the files that both share. */
#ifndef FL_OS_INTERNAL_H
#define FL_OS_INTERNAL_H

#include <setjmp.h>
#include <signal.h>

#include "os/os.h"

/*
 * For copy.c: n bytes between memory of this program that is certain and memory
 * that may be absent. -EFAULT; -ENOSYS: do it another way.
 */
int os_copy_direct(void *certain, void *doubtful, size_t n, bool to_doubtful);

/*
 * Of common.c: does a yield of so long say that another thread ran for a short time, where a call to
 * the system takes call_ns?
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
 * The same: did a copy that may fault (os_copy_caught()) do it? A handler of the program that
 * interrupts one may fault, too.
 */
bool os_fault_is_copy(const void *ucontext);
struct os_copy_back {
	sigjmp_buf at;
	sigset_t mask;		/* once it has faulted: the one from before */
};
/* Of segv.c, for the copy: where this thread goes on when one faults; where it did so far. */
struct os_copy_back *os_copy_returns(struct os_copy_back *to);

/*
 * Is it whole pages of this host? Systems do not agree on what else would mean: some
 * round, and qemu-user says yes and does nothing (sources: host-tools). AS.
 */
bool os_whole_pages(const void *at, uint64_t bytes, uint64_t offset);

#endif
