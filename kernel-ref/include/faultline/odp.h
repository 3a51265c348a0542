/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * odp.h - how a request's segments lie in the entries that continue it (entries.def,
 * OP SEGMENTS), and what a report of a missing page is about (struct fl_fault_rec).
 */
#ifndef FAULTLINE_ODP_H
#define FAULTLINE_ODP_H

#include "faultline/types.h"

struct fl_odp_wire_segment {
	__u64 va;
	__u32 bytes, key;
};

#define FL_ODP_FIRST		16u	/* byte of an entry where they begin */
#define FL_ODP_PER_ENTRY	3u
#define FL_ODP_SEGMENTS		12u	/* of a request at most */

#endif
