/* SPDX-License-Identifier: BSD-2-Clause */
/* fw_bench.h - a firmware with a packet unit, one queue pair, a region only to be read. */
#ifndef FL_RIG_FW_BENCH_H
#define FL_RIG_FW_BENCH_H

#include "rig/fw_unit.h"

struct bench {
	struct unit *u;
	struct unit_side p;
	uint32_t key;		/* of a region that the card may not write */
};

void bench_make(struct bench *b);

static inline struct unit_qp *bench_qp(struct bench *b)
{
	return &b->u->qp[FW_QP_PLACE(b->p.s.qp)];
}

void bench_ring(struct bench *b);

#endif
