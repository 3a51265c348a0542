/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sigbus.h - shared memory that somebody else can make smaller, or that lies in a file
 * system which may be full: who touches here what is not there gets SIGBUS, and all
 * boards would end. A guarded range gets a page of zeros there instead, and *cut is
 * set, so that its owner is cut off.
 */
#ifndef FL_SERVE_SIGBUS_H
#define FL_SERVE_SIGBUS_H

#include <stdatomic.h>
#include <stdint.h>

/* The handler; counted: as many of end as of begin. 0 or -EBUSY (os_fault_add). */
int sigbus_begin(void);
void sigbus_end(void);
/* There is room for all clients of all listeners, and all guests. */
void sigbus_add(const void *mem, uint64_t bytes, atomic_bool *cut);
/* All ranges of this cut; the memory is not mapped any more. */
void sigbus_remove(atomic_bool *cut);

#endif
