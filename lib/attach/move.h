/* SPDX-License-Identifier: BSD-2-Clause */
/* move.h - runs of pages that move into the board's memory or out of it in one step. */
#ifndef FL_ATTACH_MOVE_H
#define FL_ATTACH_MOVE_H

#include "attach/internal.h"

struct attach_run {
	uintptr_t va;
	unsigned int n;		/* at most ATTACH_BATCH, whole granules */
	int prot;		/* FL_PROT_* that the program had */
	bool keep;		/* never absent */
	bool anonymous;		/* of no file, and may be absent: zeros if untouched */
};

static inline uint64_t attach_run_bytes(const struct attach_run *r)
{
	return r->n * (uint64_t)ATTACH_PAGE;
}

/* All of these in the service thread. 0, or why the run is where it was. */
int attach_move_in(struct attach *a, const struct attach_run *r);
/* The same: what the board cannot bring stays where it is, and its own. */
int attach_move_out(struct attach *a, const struct attach_run *r);
/* A run on the stack of who forks: private meanwhile, and back. */
void attach_stack_out(struct attach *a, const struct attach_run *r);
void attach_stack_back(struct attach *a, const struct attach_run *r);

#endif
