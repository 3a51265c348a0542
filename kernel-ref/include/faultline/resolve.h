/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* resolve.h - how much to bring in at a fault: the plans, as the library names them. */
#ifndef FL_RESOLVE_H
#define FL_RESOLVE_H

/* What one fault brings in; PAGE: the first missing page of the block. */
enum fl_resolve {
	FL_RESOLVE_PAGE, FL_RESOLVE_BLOCK, FL_RESOLVE_TRANSFER,
	FL_RESOLVE_AROUND,	/* the block, and pages on either side */
	/* The block, and what earlier faults let one expect. */
	FL_RESOLVE_DOUBLE, FL_RESOLVE_STRIDE, FL_RESOLVE_MAJORITY,
	FL_RESOLVE_HISTORY,
	FL_RESOLVE_OWN,		/* what came with the board */
};

#endif
