/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spill.h - full rings of threads, kept in a file until their text is written (private to
 * emu/trace).
 */
#ifndef FL_TRACE_SPILL_H
#define FL_TRACE_SPILL_H

#include <stdatomic.h>

#include "trace/merge.h"

struct trace_spill {
	int fd;
	uint32_t records;		/* of a ring */
	_Atomic uint64_t chunks;	/* claimed in the file */
	_Atomic uint64_t end;		/* from this one on none is there; UINT64_MAX */
	_Atomic uint64_t kept;		/* records of all that were written */
};

/*
 * Keep a ring, all of whose places were written. How many records are lost. After one that
 * cannot be kept none is: what is read later has no holes, which would ask a full disk for pages.
 */
uint64_t spill_ring(struct trace_spill *s, const struct trace_ring *r);
/* The text of all that was kept and of what the rings have. How many records are lost. */
uint64_t spill_write(struct trace_spill *s, const struct trace_ring *ring, uint32_t rings,
		     FILE *out);

#endif
